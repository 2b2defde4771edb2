/* fanin P M - P producers send M messages each to one receiver; measures start to last received.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "bench/bench.h"
#include "bench/threads.h"

#include <stdlib.h>

WEFT_SIGNAL(ITEM);

static struct bench *bench;

static uint64_t all(void) { return bench->arg[0] * bench->arg[1]; }

/* One more has come. False: it was the last. */
static bool received(void)
{
    tally_up(&bench->done);
    return atomic_load_explicit(&bench->done, memory_order_relaxed) < all();
}

/* ---- Actors ------------------------------------------------------------------------------------------ */

static void producer(void *receiver)
{
    weft_pid to = *(weft_pid *)receiver;

    for (uint64_t i = 0; i < bench->arg[1]; i++)
        weft_send(to, ITEM);
}

static void spawn_producers(void)
{
    weft_pid self = weft_self();

    progress_watch(&bench->done, all());
    bench_start(bench);
    for (uint64_t i = 0; i < bench->arg[0]; i++)
        spawned(weft_spawn(producer, &self, .copy_bytes = sizeof self));
}

static void fiber_receiver(void *unused)
{
    (void)unused;
    spawn_producers();
    do
        weft_receive(ITEM);
    while (received());
    bench_stop(bench, all());
}

static void on_item(void *unused, weft_msg *m)
{
    (void)m;
    if (received())
        weft_react(on_item, unused, ITEM);
    else
        bench_stop(bench, all());
}

static void react_receiver(void *unused)
{
    spawn_producers();
    weft_react(on_item, unused, ITEM);
}

static void as_actors(struct bench *b)
{
    bench = b;
    bench_actors(b, b->mode == FIBER ? fiber_receiver : react_receiver);
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

static struct box to_main;

static void *producer_thread(void *unused)
{
    for (uint64_t i = 0; i < bench->arg[1]; i++)
        box_put(&to_main, (struct letter){0});
    return unused;
}

static void as_threads(struct bench *b)
{
    threads_check("fanin", b->arg[0]);
    pthread_t *producers = bench_alloc(b->arg[0], sizeof *producers);
    bench = b;
    box_open(&to_main);
    progress_watch(&b->done, all());
    bench_start(b);
    for (uint64_t i = 0; i < b->arg[0]; i++)
        producers[i] = thread_start(producer_thread, NULL);
    do
        box_take(&to_main);
    while (received());
    bench_stop(b, all());
    for (uint64_t i = 0; i < b->arg[0]; i++)
        thread_join(producers[i]);
    box_close(&to_main);
    free(producers);
}

const struct workload workload_fanin = {
    .name = "fanin",
    .args = "P M",
    .unit = "messages",
    .what = "P producers send M messages each to one receiver",
    .run = {as_actors, as_actors, as_threads},
};
