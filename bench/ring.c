/* ring N K M - N actors in a ring, K tokens evenly spaced, M hops in all; measures first token to last hop.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "bench/bench.h"
#include "bench/threads.h"
#include "bench/tokens.h"

#include <stdlib.h>

/* To the first actor, when the last is there: closes the ring. */
struct tie {
    weft_pid last;
};
WEFT_MESSAGE(TIE, struct tie);

static struct bench    *bench;
static struct gathering here;

/* ---- Actors ------------------------------------------------------------------------------------------ */

static void fiber_stop(void *stop)
{
    gather_arrive(&here);
    while (tokens_hop(stop, weft_get(weft_receive(TOKEN), TOKEN)))
        ;
}

static void on_token(void *stop, weft_msg *m)
{
    if (tokens_hop(stop, weft_get(m, TOKEN)))
        weft_react(on_token, stop, TOKEN);
}

static void react_stop(void *stop)
{
    gather_arrive(&here);
    weft_react(on_token, stop, TOKEN);
}

static weft_fn *const stops[] = {[FIBER] = fiber_stop, [REACT] = react_stop};

static void first_stop(void *arg)
{
    struct stop *at = arg;

    at->next = weft_get(weft_receive(TIE), TIE)->last;
    progress_watch(&at->hops, bench->arg[2] / bench->arg[0]);
    stops[bench->mode](at);
}

/* Each knows the one spawned before it; when all are there, the first gets to know the last. */
static void spawn_ring(weft_pid *places)
{
    struct stop at = {0};

    gather_open(&here);
    for (uint64_t i = 0; i < bench->arg[0]; i++) {
        places[i] = spawned(weft_spawn(i ? stops[bench->mode] : first_stop, &at, .copy_bytes = sizeof at));
        at.next = places[i];
    }
    weft_send(places[0], TIE, .last = at.next);
    gather_await(&here, bench->arg[0]);
}

static void first(void *unused)
{
    uint64_t  actors = bench->arg[0];
    weft_pid *places = bench_alloc(actors, sizeof *places);
    double    memory = bench_memory(), start = bench_clock();

    (void)unused;
    tokens_expect(bench);
    spawn_ring(places);
    bench_extra_number(bench, NULL, "setup_s", bench_clock() - start);
    bench_extra_number(bench, NULL, "bytes_per_actor", (bench_memory() - memory) / (double)actors);
    tokens_run(bench, places);
    free(places);
}

static void as_actors(struct bench *b)
{
    bench = b;
    bench_actors(b, first);
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

struct seat {
    struct box   box;
    struct seat *next;
    tally        hops;
    pthread_t    thread;
};

static struct box to_main; /* a token that has ended: its number */

static void *sit(void *arg)
{
    struct seat *seat = arg;

    gather_arrive(&here);
    for (;;) {
        struct letter token = box_take(&seat->box); /* value: hops left; what: its number */
        if (token.value == 0)
            return NULL;
        tally_up(&seat->hops);
        token.value--;
        box_put(token.value ? &seat->next->box : &to_main, token);
    }
}

static struct seat *start_ring(uint64_t count)
{
    struct seat *seats = bench_alloc(count, sizeof *seats);

    for (uint64_t i = 0; i < count; i++) {
        box_open(&seats[i].box);
        seats[i].next = &seats[(i + 1) % count];
    }
    for (uint64_t i = 0; i < count; i++)
        seats[i].thread = thread_start(sit, &seats[i]);
    gather_await_threads(&here, count);
    return seats;
}

static void pass_tokens(struct bench *b, struct seat *seats)
{
    uint64_t tokens = b->arg[1];
    bool    *ended = bench_alloc(tokens, sizeof *ended);

    bench_start(b);
    for (uint64_t k = 0; k < tokens; k++)
        box_put(&seats[tokens_place(b, k)].box, (struct letter){.what = k, .value = tokens_left(b, k)});
    for (uint64_t i = 0; i < tokens; i++) {
        uint64_t k = box_take(&to_main).what;
        if (ended[k])
            bench_fail("token %llu ended twice", (unsigned long long)k);
        ended[k] = true;
    }
    bench_stop(b, b->arg[2]);
    free(ended);
}

static void end_ring(struct bench *b, struct seat *seats)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < b->arg[0]; i++)
        box_put(&seats[i].box, (struct letter){.value = 0});
    for (uint64_t i = 0; i < b->arg[0]; i++) {
        thread_join(seats[i].thread);
        sum += seats[i].hops;
    }
    for (uint64_t i = 0; i < b->arg[0]; i++)
        box_close(&seats[i].box);
    if (sum != b->arg[2])
        bench_fail("%llu hops were made, not %llu", (unsigned long long)sum, (unsigned long long)b->arg[2]);
    free(seats);
}

void ring_as_threads(struct bench *b)
{
    threads_check("ring", b->arg[0]);
    if (b->arg[2] < b->arg[1])
        bench_fail("M must be at least K: each token makes a hop");
    box_open(&to_main);
    double       memory = bench_memory(), start = bench_clock();
    struct seat *seats = start_ring(b->arg[0]);
    bench_extra_number(b, NULL, "setup_s", bench_clock() - start);
    bench_extra_number(b, NULL, "bytes_per_actor", (bench_memory() - memory) / (double)b->arg[0]);
    progress_watch(&seats[0].hops, b->arg[2] / b->arg[0]);
    pass_tokens(b, seats);
    end_ring(b, seats);
    box_close(&to_main);
}

const struct workload workload_ring = {
    .name = "ring",
    .args = "N K M",
    .unit = "hops",
    .what = "N actors in a ring, K tokens evenly spaced, M hops in all",
    .run = {as_actors, as_actors, ring_as_threads},
};
