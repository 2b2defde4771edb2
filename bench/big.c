/* big N P - each of N actors sends P pings to random others and awaits each pong; measures start to all done.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * While it awaits its pong, and after its last, an actor answers the pings of others.
 */
#include "bench/bench.h"
#include "bench/threads.h"

#include <stdlib.h>

WEFT_SIGNAL(START);
WEFT_SIGNAL(PING);
WEFT_SIGNAL(PONG);
WEFT_SIGNAL(DONE);

static struct bench *bench;
static weft_pid     *all; /* complete before the first START */
static weft_pid      boss;

/* Which of the others is next: a step of xorshift64 each. */
static uint64_t another(uint64_t *random, uint64_t self)
{
    uint64_t count = bench->arg[0];

    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (self + 1 + *random % (count - 1)) % count;
}

/* Before the first step: never 0, as xorshift would stay there. */
static uint64_t first_random(uint64_t self) { return (self + 1) * UINT64_C(0x9e3779b97f4a7c15); }

static void set_up(struct bench *b)
{
    if (b->arg[0] < 2)
        bench_fail("big: N is at least 2, or there are no others");
    bench = b;
}

/* ---- Actors ------------------------------------------------------------------------------------------ */

struct player {
    uint64_t self, random;
    tally    pongs;
};

static void ping(struct player *p) { weft_send(all[another(&p->random, p->self)], PING); }

static void begin(struct player *p)
{
    if (p->self == 0)
        progress_watch(&p->pongs, bench->arg[1]);
    ping(p);
}

/* A ping is answered; a pong is followed by the next ping, the last one by DONE. */
static void play(struct player *p, weft_msg *m)
{
    if (weft_is(m, PING)) {
        weft_reply(m, PONG);
        return;
    }
    tally_up(&p->pongs);
    if (atomic_load_explicit(&p->pongs, memory_order_relaxed) < bench->arg[1])
        ping(p);
    else
        weft_send(boss, DONE);
}

static void fiber_player(void *p)
{
    weft_receive(START);
    begin(p);
    for (;;)
        play(p, weft_receive(PING, PONG));
}

static void on_message(void *p, weft_msg *m)
{
    play(p, m);
    weft_react(on_message, p, PING, PONG);
}

static void on_start(void *p, weft_msg *m)
{
    (void)m;
    begin(p);
    weft_react(on_message, p, PING, PONG);
}

static void react_player(void *p) { weft_react(on_start, p, START); }

static void first(void *unused)
{
    uint64_t count = bench->arg[0];

    (void)unused;
    boss = weft_self();
    for (uint64_t i = 0; i < count; i++) {
        struct player p = {.self = i, .random = first_random(i)};
        all[i] = spawned(
            weft_spawn(bench->mode == FIBER ? fiber_player : react_player, &p, .copy_bytes = sizeof p));
    }
    bench_start(bench);
    for (uint64_t i = 0; i < count; i++)
        weft_send(all[i], START);
    for (uint64_t i = 0; i < count; i++)
        weft_receive(DONE);
    bench_stop(bench, 2 * count * bench->arg[1]);
}

static void as_actors(struct bench *b)
{
    set_up(b);
    all = bench_alloc(b->arg[0], sizeof *all);
    bench_actors(b, first);
    free(all);
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

enum { LETTER_PING, LETTER_PONG, LETTER_STOP };

struct seat {
    struct box box;
    uint64_t   random;
    tally      pongs;
    pthread_t  thread;
};

static struct seat *seats;
static struct box   to_main;

static void ping_seat(struct seat *from)
{
    struct seat *to = &seats[another(&from->random, (uint64_t)(from - seats))];

    box_put(&to->box, (struct letter){.from = &from->box, .what = LETTER_PING});
}

static void pong_came(struct seat *seat)
{
    tally_up(&seat->pongs);
    if (seat->pongs < bench->arg[1])
        ping_seat(seat);
    else
        box_put(&to_main, (struct letter){0});
}

static void *player_thread(void *arg)
{
    struct seat *seat = arg;

    ping_seat(seat);
    for (;;) {
        struct letter l = box_take(&seat->box);
        if (l.what == LETTER_STOP)
            return NULL;
        if (l.what == LETTER_PING)
            box_put(l.from, (struct letter){.what = LETTER_PONG});
        else
            pong_came(seat);
    }
}

static void end_threads(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        box_put(&seats[i].box, (struct letter){.what = LETTER_STOP});
    for (uint64_t i = 0; i < count; i++)
        thread_join(seats[i].thread);
    for (uint64_t i = 0; i < count; i++)
        box_close(&seats[i].box);
    box_close(&to_main);
}

static void as_threads(struct bench *b)
{
    uint64_t count = b->arg[0];

    set_up(b);
    threads_check("big", count);
    seats = bench_alloc(count, sizeof *seats);
    box_open(&to_main);
    for (uint64_t i = 0; i < count; i++) {
        box_open(&seats[i].box);
        seats[i].random = first_random(i);
    }
    progress_watch(&seats[0].pongs, b->arg[1]);
    bench_start(b);
    for (uint64_t i = 0; i < count; i++)
        seats[i].thread = thread_start(player_thread, &seats[i]);
    for (uint64_t i = 0; i < count; i++)
        box_take(&to_main);
    bench_stop(b, 2 * count * b->arg[1]);
    end_threads(count);
    free(seats);
}

const struct workload workload_big = {
    .name = "big",
    .args = "N P",
    .unit = "messages",
    .what = "each of N actors sends P pings to random others, awaits each pong",
    .run = {as_actors, as_actors, as_threads},
};
