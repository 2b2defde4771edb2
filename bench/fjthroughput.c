/* fjthroughput K N - one actor sends N messages to each of K counters in turn; measures start to all counted.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "bench/bench.h"
#include "bench/threads.h"

#include <stdlib.h>

WEFT_SIGNAL(INCR);
WEFT_SIGNAL(COUNTED);

static struct bench *bench;

/* ---- Actors ------------------------------------------------------------------------------------------ */

struct counter {
    weft_pid boss;
    uint64_t missing;
};

static void fiber_counter(void *arg)
{
    struct counter *c = arg;

    for (; c->missing; c->missing--)
        weft_receive(INCR);
    weft_send(c->boss, COUNTED);
}

static void on_incr(void *arg, weft_msg *m)
{
    struct counter *c = arg;

    (void)m;
    if (--c->missing)
        weft_react(on_incr, c, INCR);
    else
        weft_send(c->boss, COUNTED);
}

static void react_counter(void *counter) { weft_react(on_incr, counter, INCR); }

static void send_all(const weft_pid *counters)
{
    for (uint64_t round = 0; round < bench->arg[1]; round++) {
        for (uint64_t i = 0; i < bench->arg[0]; i++)
            weft_send(counters[i], INCR);
        tally_up(&bench->done);
    }
}

static void first(void *unused)
{
    uint64_t       count = bench->arg[0];
    weft_pid      *counters = bench_alloc(count, sizeof *counters);
    struct counter c = {weft_self(), bench->arg[1]};

    (void)unused;
    for (uint64_t i = 0; i < count; i++)
        counters[i] = spawned(
            weft_spawn(bench->mode == FIBER ? fiber_counter : react_counter, &c, .copy_bytes = sizeof c));
    progress_watch(&bench->done, bench->arg[1]);
    bench_start(bench);
    send_all(counters);
    for (uint64_t i = 0; i < count; i++)
        weft_receive(COUNTED);
    bench_stop(bench, count * bench->arg[1]);
    free(counters);
}

static void as_actors(struct bench *b)
{
    bench = b;
    bench_actors(b, first);
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

struct seat {
    struct box box;
    pthread_t  thread;
};

static void *counter_thread(void *arg)
{
    struct seat *seat = arg;

    for (uint64_t i = 0; i < bench->arg[1]; i++)
        box_take(&seat->box);
    return NULL;
}

static void as_threads(struct bench *b)
{
    uint64_t count = b->arg[0];

    threads_check("fjthroughput", count);
    struct seat *seats = bench_alloc(count, sizeof *seats);
    bench = b;
    for (uint64_t i = 0; i < count; i++) {
        box_open(&seats[i].box);
        seats[i].thread = thread_start(counter_thread, &seats[i]);
    }
    progress_watch(&b->done, b->arg[1]);
    bench_start(b);
    for (uint64_t round = 0; round < b->arg[1]; round++, tally_up(&b->done))
        for (uint64_t i = 0; i < count; i++)
            box_put(&seats[i].box, (struct letter){0});
    for (uint64_t i = 0; i < count; i++)
        thread_join(seats[i].thread);
    bench_stop(b, count * b->arg[1]);
    for (uint64_t i = 0; i < count; i++)
        box_close(&seats[i].box);
    free(seats);
}

const struct workload workload_fjthroughput = {
    .name = "fjthroughput",
    .args = "K N",
    .unit = "messages",
    .what = "one actor sends N messages to each of K counters in turn",
    .run = {as_actors, as_actors, as_threads},
};
