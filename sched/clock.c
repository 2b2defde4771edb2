/* clock.c - see clock.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "sched/clock.h"

#include <stdatomic.h>
#include <time.h>

/* relaxed, both: set while no worker runs, moved by the only worker; other threads just read a time. */
static atomic_bool         is_virtual;
static atomic_int_fast64_t virtual_now;

static int64_t real_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t weft__clock_now(void)
{
    return weft__clock_is_virtual() ? atomic_load_explicit(&virtual_now, memory_order_relaxed) : real_now();
}

static int64_t after(int64_t now, int64_t span)
{
    if (span <= 0)
        return now;
    return span >= WEFT__NEVER - now ? WEFT__NEVER : now + span;
}

int64_t weft__clock_after(int64_t span) { return after(weft__clock_now(), span); }

int64_t weft__clock_real_after(int64_t span) { return after(real_now(), span); }

void weft__clock_virtual(bool on)
{
    atomic_store_explicit(&virtual_now, 0, memory_order_relaxed);
    atomic_store_explicit(&is_virtual, on, memory_order_relaxed);
}

bool weft__clock_is_virtual(void) { return atomic_load_explicit(&is_virtual, memory_order_relaxed); }

void weft__clock_jump(int64_t to)
{
    if (to > atomic_load_explicit(&virtual_now, memory_order_relaxed))
        atomic_store_explicit(&virtual_now, to, memory_order_relaxed);
}
