/* switch M - two fibers yield to each other; measures M switches.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Always on one worker: on two, each fiber would yield to nobody. What is measured is a weft_yield: the switch and the
 * scheduler's part. Beside it, in switch_ns, the bare switches of the back ends that this program can reach.
 */
#include "bench/bench.h"
#include "bench/probe.h"

#include <string.h>
#include <weft/inspect.h>

WEFT_SIGNAL(DONE);

static struct bench *bench;

static void yielder(void *boss)
{
    for (uint64_t i = 0; i < bench->arg[0] / 2; i++) {
        weft_yield();
        tally_up(&bench->done);
    }
    weft_send(*(weft_pid *)boss, DONE);
}

static void first(void *unused)
{
    weft_pid self = weft_self();

    (void)unused;
    progress_watch(&bench->done, bench->arg[0]);
    bench_start(bench);
    for (int i = 0; i < 2; i++)
        spawned(weft_spawn(yielder, &self, .copy_bytes = sizeof self));
    for (int i = 0; i < 2; i++)
        weft_receive(DONE);
    bench_stop(bench, bench->arg[0] / 2 * 2);
}

static void yields(struct bench *b)
{
    if (b->arg[0] < 2)
        bench_fail("switch: M is at least 2, one switch there and one back");
    bench = b;
    b->workers = 1;
    bench_actors(b, first);
}

void switch_compare(struct bench *b, double yield_ns)
{
    const char *ours = weft_switch_method();
    double      ucontext = probe_ucontext(), fcontext = probe_fcontext();

    bench_extra_number(b, "switch_ns", "ucontext", ucontext);
    if (fcontext >= 0)
        bench_extra_number(b, "switch_ns", "fcontext", fcontext);
    if (strcmp(ours, "ucontext") != 0 && strcmp(ours, "fcontext") != 0) {
        bench_extra_number(b, "switch_ns", ours, yield_ns);
        bench_extra_text(b, "switched_by_yield", ours); /* not a bare switch: the library exports none */
    }
}

double switch_by_yield(uint64_t switches)
{
    static struct bench b; /* actors refer to it */

    b = (struct bench){.mode = FIBER, .arg = {switches}};
    yields(&b);
    return b.seconds * 1e9 / (double)b.ops;
}

static void run(struct bench *b)
{
    yields(b);
    switch_compare(b, b->seconds * 1e9 / (double)b->ops);
}

const struct workload workload_switch = {
    .name = "switch",
    .args = "M",
    .unit = "switches",
    .what = "two fibers yield to each other, on one worker",
    .run = {[FIBER] = run},
};
