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

void switch_compare(struct bench *b)
{
    const char *ours = weft_switch_method();
    double      fcontext = probe_fcontext();

    if (strcmp(ours, "ucontext") != 0)
        bench_extra_number(b, "switch_ns", "ucontext", probe_ucontext());
    if (strcmp(ours, "fcontext") != 0 && fcontext >= 0)
        bench_extra_number(b, "switch_ns", "fcontext", fcontext);
    bench_extra_number(b, "switch_ns", ours, probe_weft());
}

static void run(struct bench *b)
{
    yields(b);
    switch_compare(b);
}

const struct workload workload_switch = {
    .name = "switch",
    .args = "M",
    .unit = "switches",
    .what = "two fibers yield to each other, on one worker",
    .run = {[FIBER] = run},
};
