/* probe.h - what the machine itself takes for the things that actors are made of. Nanoseconds each, measured now.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Knows not: actors. A cost that cannot be had here (an older kernel, a library that is not linked) is -1.
 */
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

#include <stdint.h>

/* On one word in the cache that nobody else uses, each waiting for the one before. */
double probe_xchg(void);
double probe_cas(void);

/* From one context to another, both on this thread. */
double probe_ucontext(void);
double probe_fcontext(void); /* -1: there is no Boost.Context here */
double probe_weft(void);     /* by weft_switch_method() */

/* A stack is a guard and at least one page that is touched. */
struct stack_cost {
    double touch_ns;
    double guard_ns;       /* in one call for 64 stacks, where the kernel does that: as Weft does it */
    double guard_alone_ns; /* in a call each */
};
struct stack_cost probe_stack(uint64_t stacks);

/* A thread that sleeps in a futex is woken. */
struct wake_cost {
    double caller_ns;  /* until the waker goes on */
    double latency_ns; /* until the woken one runs */
};
struct wake_cost probe_wake(void);

#endif
