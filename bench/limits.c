/* limits - what the machine takes for an atomic operation, a switch, a page, a guard, a wake-up; now.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * xchg_ns is the unit A, in which other figures can be told from one machine to another.
 */
#include "bench/bench.h"
#include "bench/probe.h"

enum { STACKS = 8192 };

static void run(struct bench *b)
{
    bench_start(b);
    bench_extra_number(b, NULL, "xchg_ns", probe_xchg());
    bench_extra_number(b, NULL, "cas_ns", probe_cas());
    switch_compare(b);
    struct stack_cost stack = probe_stack(STACKS);
    bench_extra_number(b, NULL, "touch_ns", stack.touch_ns);
    bench_extra_number(b, NULL, "guard_ns", stack.guard_ns);
    bench_extra_number(b, NULL, "guard_alone_ns", stack.guard_alone_ns);
    struct wake_cost wake = probe_wake();
    bench_extra_number(b, NULL, "wake_ns", wake.caller_ns);
    bench_extra_number(b, NULL, "wake_latency_ns", wake.latency_ns);
    bench_stop(b, 1);
}

const struct workload workload_limits = {
    .name = "limits",
    .args = "",
    .what = "what the machine itself takes for an atomic operation, a switch, a page, a wake-up",
    .run = {[FIBER] = run},
};
