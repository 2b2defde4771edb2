/* faults M - M times: a child is spawned and monitored, fails at once, and its parent is told; measures first to last.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Then the same with a link, where the parent traps: extra.linked_s.
 */
#include "bench/bench.h"
#include "bench/threads.h"

enum { REASON = 7 };

static struct bench *bench;
static weft_pid      child;
static weft_ref      monitor;
static bool          linked; /* in the second half */

static uint64_t told(void) { return atomic_load_explicit(&bench->done, memory_order_relaxed); }

static void begin_half(void)
{
    /* relaxed: see tally_up. */
    atomic_store_explicit(&bench->done, 0, memory_order_relaxed);
    progress_watch(&bench->done, bench->arg[0]);
}

static void begin(void)
{
    weft_trap(true);
    begin_half();
    bench_start(bench);
}

/* True: it was the first half. */
static bool end_half(void)
{
    static double start;

    if (linked) {
        bench_extra_number(bench, NULL, "linked_s", bench_clock() - start);
        progress_end();
        return false;
    }
    bench_stop(bench, bench->arg[0]);
    linked = true;
    begin_half();
    start = bench_clock();
    return true;
}

static void fails(void *unused)
{
    (void)unused;
    weft_end(REASON);
}

static void start_child(void)
{
    child = spawned(linked ? weft_spawn(fails, NULL, .link = true)
                           : weft_spawn(fails, NULL, .monitor = &monitor));
}

static void check_down(const struct weft_down *d)
{
    if (!weft_same(d->who, child) || d->ref.id != monitor.id || d->reason != REASON)
        bench_fail("told of the end of another, with %d", d->reason);
}

static void check_exit(const struct weft_exited *e)
{
    if (!weft_same(e->who, child) || !e->linked || e->reason != REASON)
        bench_fail("told of another's exit, with %d", e->reason);
}

static void check(const weft_msg *m)
{
    if (linked)
        check_exit(weft_get(m, WEFT_EXIT));
    else
        check_down(weft_get(m, WEFT_DOWN));
    tally_up(&bench->done);
}

/* ---- Actors ------------------------------------------------------------------------------------------ */

static void fiber_half(void)
{
    while (told() < bench->arg[0]) {
        start_child();
        check(linked ? weft_receive(WEFT_EXIT) : weft_receive(WEFT_DOWN));
    }
}

static void fiber_parent(void *unused)
{
    (void)unused;
    begin();
    do
        fiber_half();
    while (end_half());
}

static void go_on(void);

static void on_end(void *unused, weft_msg *m)
{
    (void)unused;
    check(m);
    if (told() < bench->arg[0] || end_half())
        go_on();
}

static void go_on(void)
{
    start_child();
    if (linked)
        weft_react(on_end, NULL, WEFT_EXIT);
    else
        weft_react(on_end, NULL, WEFT_DOWN);
}

static void react_parent(void *unused)
{
    (void)unused;
    begin();
    go_on();
}

static void as_actors(struct bench *b)
{
    bench = b;
    linked = false;
    bench_actors(b, b->mode == FIBER ? fiber_parent : react_parent);
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

static void *failing_thread(void *reason)
{
    *(int *)reason = REASON;
    return NULL;
}

static void as_threads(struct bench *b)
{
    bench = b;
    begin_half();
    bench_start(b);
    while (told() < b->arg[0]) {
        int reason = 0;
        thread_join(thread_start(failing_thread, &reason));
        if (reason != REASON)
            bench_fail("a thread ended with %d", reason);
        tally_up(&b->done);
    }
    bench_stop(b, b->arg[0]);
}

const struct workload workload_faults = {
    .name = "faults",
    .args = "M",
    .unit = "failures",
    .what = "M children fail, one after another, and their parent is told: monitored, then linked",
    .run = {as_actors, as_actors, as_threads},
};
