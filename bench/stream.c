/* pingpong M - one message in flight, M round trips; measures first ping to last pong.
 * stream W M - the same with W messages in flight.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "bench/bench.h"
#include "bench/threads.h"

WEFT_SIGNAL(PING);
WEFT_SIGNAL(PONG);

/* The side that begins. Pongs are counted in bench->done. */
static struct {
    struct bench *bench;
    uint64_t      window, trips, sent;
    weft_pid      other;
} pinger;

static uint64_t pongs(void) { return atomic_load_explicit(&pinger.bench->done, memory_order_relaxed); }

static void begin(void)
{
    if (pinger.window > pinger.trips)
        pinger.window = pinger.trips;
    progress_watch(&pinger.bench->done, pinger.trips);
    bench_start(pinger.bench);
}

static void end(void) { bench_stop(pinger.bench, 2 * pinger.trips); }

/* ---- Actors ------------------------------------------------------------------------------------------ */

static void ping(void)
{
    pinger.sent++;
    weft_send(pinger.other, PING);
}

static void serve(weft_fn *ponger)
{
    pinger.other = spawned(weft_spawn(ponger, NULL, .name = "ponger"));
    begin();
    while (pinger.sent < pinger.window)
        ping();
}

/* One pong: the next ping, if there is one. False: that was the last. */
static bool returned(void)
{
    tally_up(&pinger.bench->done);
    if (pinger.sent < pinger.trips)
        ping();
    return pongs() < pinger.trips;
}

static void fiber_ponger(void *unused)
{
    (void)unused;
    for (;;)
        weft_reply(weft_receive(PING), PONG);
}

static void fiber_pinger(void *unused)
{
    (void)unused;
    serve(fiber_ponger);
    do
        weft_receive(PONG);
    while (returned());
    end();
}

static void on_ping(void *unused, weft_msg *m)
{
    weft_reply(m, PONG);
    weft_react(on_ping, unused, PING);
}

static void react_ponger(void *unused) { weft_react(on_ping, unused, PING); }

static void on_pong(void *unused, weft_msg *m)
{
    (void)m;
    if (returned())
        weft_react(on_pong, unused, PONG);
    else
        end();
}

static void react_pinger(void *unused)
{
    serve(react_ponger);
    weft_react(on_pong, unused, PONG);
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

static struct box to_ponger, to_pinger;

static void *ponger_thread(void *unused)
{
    (void)unused;
    for (uint64_t i = 0; i < pinger.trips; i++) {
        box_take(&to_ponger);
        box_put(&to_pinger, (struct letter){0});
    }
    return NULL;
}

static void as_threads(void)
{
    box_open(&to_ponger);
    box_open(&to_pinger);
    begin();
    pthread_t other = thread_start(ponger_thread, NULL);
    for (; pinger.sent < pinger.window; pinger.sent++)
        box_put(&to_ponger, (struct letter){0});
    for (; pongs() < pinger.trips; tally_up(&pinger.bench->done)) {
        box_take(&to_pinger);
        if (pinger.sent < pinger.trips) {
            pinger.sent++;
            box_put(&to_ponger, (struct letter){0});
        }
    }
    end();
    thread_join(other);
    box_close(&to_ponger);
    box_close(&to_pinger);
}

/* ---- The two workloads ------------------------------------------------------------------------------- */

static void run(struct bench *b, uint64_t window, uint64_t trips)
{
    pinger.bench = b;
    pinger.window = window;
    pinger.trips = trips;
    if (b->mode == THREAD)
        as_threads();
    else
        bench_actors(b, b->mode == FIBER ? fiber_pinger : react_pinger);
}

static void pingpong(struct bench *b) { run(b, 1, b->arg[0]); }
static void stream(struct bench *b) { run(b, b->arg[0], b->arg[1]); }

const struct workload workload_pingpong = {
    .name = "pingpong",
    .args = "M",
    .unit = "messages",
    .what = "one message in flight, M round trips",
    .run = {pingpong, pingpong, pingpong},
};

const struct workload workload_stream = {
    .name = "stream",
    .args = "W M",
    .unit = "messages",
    .what = "ping-pong with W messages in flight, M round trips",
    .run = {stream, stream, stream},
};
