/* fjcreate N - creates N actors; each waits once, gets one message and ends on it; measures start to all ended.
 * fjpark N   - the same, but all of them wait at once before the first message; cold, then again warm.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "bench/bench.h"
#include "bench/probe.h"
#include "bench/threads.h"

#include <stdlib.h>

WEFT_SIGNAL(GO);

static struct bench    *bench;
static struct gathering here;

/* ---- Actors that wait once --------------------------------------------------------------------------- */

static void on_go(void *unused, weft_msg *m)
{
    (void)unused;
    (void)m;
}

static void fiber_waits(void *unused)
{
    (void)unused;
    weft_receive(GO);
}

static void react_waits(void *unused) { weft_react(on_go, unused, GO); }

static weft_fn *const waits[] = {[FIBER] = fiber_waits, [REACT] = react_waits};

static void await_ended(uint64_t count)
{
    while (bench_ended() < count)
        weft_yield();
}

static void create(void *unused)
{
    uint64_t before = bench_ended(), count = bench->arg[0];

    (void)unused;
    progress_watch(&bench->done, count);
    bench_start(bench);
    for (uint64_t i = 0; i < count; i++) {
        weft_send(spawned(weft_spawn(waits[bench->mode], NULL)), GO);
        tally_up(&bench->done);
    }
    await_ended(before + count);
    bench_stop(bench, count);
}

/* ---- All wait at once -------------------------------------------------------------------------------- */

static void parks(void *unused)
{
    gather_arrive(&here);
    waits[bench->mode](unused);
}

static void park_all(weft_pid *pids, uint64_t count)
{
    uint64_t before = bench_ended();

    gather_open(&here);
    for (uint64_t i = 0; i < count; i++)
        pids[i] = spawned(weft_spawn(parks, NULL));
    gather_await(&here, count);
    for (uint64_t i = 0; i < count; i++)
        weft_send(pids[i], GO);
    await_ended(before + count);
}

static void park_twice(void *unused)
{
    uint64_t  count = bench->arg[0];
    weft_pid *pids = bench_alloc(count, sizeof *pids);

    (void)unused;
    progress_watch(&here.here, count);
    bench_start(bench);
    park_all(pids, count);
    bench_stop(bench, count);
    double start = bench_clock();
    park_all(pids, count);
    bench_extra_number(bench, NULL, "warm_s", bench_clock() - start);
    free(pids);
}

/* Before the cold round: what the kernel alone takes for a page and a guard each. */
static void probe_stacks(struct bench *b)
{
    struct stack_cost cost = probe_stack(b->arg[0]);

    bench_extra_number(b, NULL, "touch_ns", cost.touch_ns);
    bench_extra_number(b, NULL, "guard_ns", cost.guard_ns);
}

static void create_actors(struct bench *b)
{
    bench = b;
    bench_actors(b, create);
}

static void park_actors(struct bench *b)
{
    bench = b;
    if (b->mode == FIBER)
        probe_stacks(b);
    bench_actors(b, park_twice);
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

struct child {
    struct box box;
    pthread_t  thread;
};

static void *waits_as_thread(void *arg)
{
    struct child *c = arg;

    gather_arrive(&here);
    box_take(&c->box);
    return NULL;
}

static void start_child(struct child *c)
{
    box_open(&c->box);
    c->thread = thread_start(waits_as_thread, c);
}

static void wake_child(struct child *c) { box_put(&c->box, (struct letter){0}); }

static void end_children(struct child *children, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        thread_join(children[i].thread);
        box_close(&children[i].box);
    }
}

static void create_threads(struct bench *b)
{
    uint64_t count = b->arg[0];

    threads_check("fjcreate", count);
    struct child *children = bench_alloc(count, sizeof *children);
    progress_watch(&here.here, count);
    bench_start(b);
    for (uint64_t i = 0; i < count; i++) {
        start_child(&children[i]);
        wake_child(&children[i]);
    }
    end_children(children, count);
    bench_stop(b, count);
    free(children);
}

static void park_all_threads(struct child *children, uint64_t count)
{
    gather_open(&here);
    for (uint64_t i = 0; i < count; i++)
        start_child(&children[i]);
    gather_await_threads(&here, count);
    for (uint64_t i = 0; i < count; i++)
        wake_child(&children[i]);
    end_children(children, count);
}

static void park_threads(struct bench *b)
{
    uint64_t count = b->arg[0];

    threads_check("fjpark", count);
    struct child *children = bench_alloc(count, sizeof *children);
    progress_watch(&here.here, count);
    bench_start(b);
    park_all_threads(children, count);
    bench_stop(b, count);
    double start = bench_clock();
    park_all_threads(children, count);
    bench_extra_number(b, NULL, "warm_s", bench_clock() - start);
    free(children);
}

const struct workload workload_fjcreate = {
    .name = "fjcreate",
    .args = "N",
    .unit = "actors",
    .what = "creates N actors; each gets one message and ends on it",
    .run = {create_actors, create_actors, create_threads},
};

const struct workload workload_fjpark = {
    .name = "fjpark",
    .args = "N",
    .unit = "actors",
    .what = "N actors that all wait at once, then get one message each; cold, then warm",
    .run = {park_actors, park_actors, park_threads},
};
