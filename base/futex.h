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

/* ThreadSanitizer puts a handler of the program's off until its thread is in a call that it knows; a futex is none. So
 * under it a wait always has an end, however far, which lets a signal interrupt it, and such a call after it. */
#define WEFT__FUTEX_HIDES_SIGNALS 0
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef WEFT__FUTEX_HIDES_SIGNALS
#define WEFT__FUTEX_HIDES_SIGNALS 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#undef WEFT__FUTEX_HIDES_SIGNALS
#define WEFT__FUTEX_HIDES_SIGNALS 1
#endif

/* Sleeps while *word is `value`, not beyond `until` (CLOCK_MONOTONIC; INT64_MAX: for ever). May return early. */
static inline void weft__futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t until)
{
    struct timespec at = {until / 1000000000, until % 1000000000};
    int             ends = until != INT64_MAX || WEFT__FUTEX_HIDES_SIGNALS;

    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, ends ? &at : NULL, NULL,
            FUTEX_BITSET_MATCH_ANY);
    if (WEFT__FUTEX_HIDES_SIGNALS)
        usleep(0);
}

/* Wakes one who sleeps there. */
static inline void weft__futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
