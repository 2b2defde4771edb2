/* futex.h - private to weft. Sleeping on a word until somebody rings.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#ifndef WEFT__FUTEX_H
#define WEFT__FUTEX_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word is `value`, not beyond `until` (CLOCK_MONOTONIC; INT64_MAX: for ever). May return early. */
static inline void weft__futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t until)
{
    struct timespec at = {until / 1000000000, until % 1000000000};

    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, until == INT64_MAX ? NULL : &at, NULL,
            FUTEX_BITSET_MATCH_ANY);
}

/* Wakes one who sleeps there. */
static inline void weft__futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
