/* sbe M - spawn, block, wake, end, one after another; measures M rounds.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * The child says READY just before it waits, so that it does wait, on any number of workers, before it is woken.
 */
#include "bench/bench.h"
#include "bench/threads.h"

WEFT_SIGNAL(READY);
WEFT_SIGNAL(GO);

static struct bench *bench;

/* ---- Actors ------------------------------------------------------------------------------------------ */

static void fiber_child(void *boss)
{
    weft_send(*(weft_pid *)boss, READY);
    weft_receive(GO);
}

static void on_go(void *unused, weft_msg *m)
{
    (void)unused;
    (void)m;
}

static void react_child(void *boss)
{
    weft_send(*(weft_pid *)boss, READY);
    weft_react(on_go, NULL, GO);
}

static void first(void *unused)
{
    weft_fn *child = bench->mode == FIBER ? fiber_child : react_child;
    weft_pid self = weft_self();

    (void)unused;
    progress_watch(&bench->done, bench->arg[0]);
    bench_start(bench);
    for (uint64_t i = 0; i < bench->arg[0]; i++) {
        weft_pid who = spawned(weft_spawn(child, &self, .copy_bytes = sizeof self));
        weft_receive(READY);
        weft_send(who, GO);
        tally_up(&bench->done);
    }
    bench_stop(bench, bench->arg[0]);
}

static void as_actors(struct bench *b)
{
    bench = b;
    bench_actors(b, first);
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

static struct box to_child, to_main;

static void *child_thread(void *unused)
{
    box_put(&to_main, (struct letter){0});
    box_take(&to_child);
    return unused;
}

static void as_threads(struct bench *b)
{
    box_open(&to_child);
    box_open(&to_main);
    progress_watch(&b->done, b->arg[0]);
    bench_start(b);
    for (uint64_t i = 0; i < b->arg[0]; i++, tally_up(&b->done)) {
        pthread_t child = thread_start(child_thread, NULL);
        box_take(&to_main);
        box_put(&to_child, (struct letter){0});
        thread_join(child);
    }
    bench_stop(b, b->arg[0]);
    box_close(&to_child);
    box_close(&to_main);
}

const struct workload workload_sbe = {
    .name = "sbe",
    .args = "M",
    .unit = "rounds",
    .what = "spawn, block, wake, end, one after another, M times",
    .run = {as_actors, as_actors, as_threads},
};
