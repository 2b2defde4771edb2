/* stress_stop.c - systems start and stop, again and again, while foreign threads send and spawn.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Part 1: one system after another in this process. Threads never cease to send to pids of the present, the last and
 * older systems; others are actors that wait for messages, and get NULL when a system ends. Each system has actors in
 * every kind of wait when its first one ends, or stops all. Checked: every run returns its own reason, every message was read or is
 * a dead letter, every actor has ended.
 *
 * Part 2: a spawn that comes too late starts a system of its own, which stays; so each race between a stop and spawning
 * threads is a child process. Checked: a spawn succeeds, or says that the system has ended; and the child ends.
 *
 * Part 3: actors that each spawn the next and end, while another counts how many live. Checked: it never counts too few,
 * as a stop would believe then that nobody is left.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "help.h"
#include "runtime/actor.h"

enum { SENDERS = 3, WAITERS = 2, SPAWNERS = 3, TABLE = 32, ROUNDS = 1500, CHILDREN = 60, HOPS = 3000000 };

WEFT_MESSAGE(
    WORK, struct work {
        weft_pid to;
        char     filler[24];
    });
WEFT_SIGNAL(NEVER);

static _Atomic uint64_t table[TABLE]; /* pids, of now or of the past; relaxed */
static _Atomic uint64_t waiter[WAITERS];
static atomic_bool      stop;
static atomic_ulong     sent, got, nulls, spawned, too_late, wrong; /* relaxed, all */
static uint64_t         random_of_main = 2463534242;

static void count(atomic_ulong *n) { atomic_fetch_add_explicit(n, 1, memory_order_relaxed); }

static void complain(const char *what, int a, int b)
{
    count(&wrong);
    fprintf(stderr, "stress_stop: %s (%d, %d)\n", what, a, b);
}

static void send_to(weft_pid to)
{
    count(&sent); /* before: the system may end while it gives way in the send */
    int error = weft_send(to, WORK, .to = to);

    if (error && error != WEFT_EGONE)
        complain("not sent", error, 0);
}

static weft_pid anybody(uint64_t *random)
{
    uint64_t r = draw(random);

    return (weft_pid){r % 4 ? atomic_load_explicit(&table[r / 4 % TABLE], memory_order_relaxed)
                            : atomic_load_explicit(&waiter[r / 4 % WAITERS], memory_order_relaxed)};
}

static void read_it(const weft_msg *m)
{
    if (!weft_same(weft_get(m, WORK)->to, weft_self()))
        complain("for another", 0, 0);
    count(&got);
}

/* ---- Actors in every kind of wait -------------------------------------------------------------------------------- */

static void on_work(void *state, weft_msg *m)
{
    if (m)
        read_it(m);
    send_to(anybody(state));
    weft_react_within(weft_us(50), on_work, state, WORK);
}

static void reacts(void *random) { weft_react(on_work, random, WORK, NEVER); }

static void receives(void *random)
{
    for (;;) {
        read_it(weft_receive(WORK));
        send_to(anybody(random));
    }
}

static void receives_within(void *random)
{
    for (weft_msg *m;;) {
        if ((m = weft_receive_within(weft_us(20), WORK)))
            read_it(m);
        send_to(anybody(random));
    }
}

static void sleeps(void *random)
{
    for (;;) {
        weft_sleep(weft_us((int64_t)(draw(random) % 100)));
        send_to(anybody(random));
    }
}

static void yields(void *random)
{
    for (;;) {
        weft_yield();
        send_to(anybody(random));
    }
}

static void lets_others(void *random)
{
    (void)random;
    weft_receive(NEVER);
}

static weft_fn *const kinds[] = {reacts, receives, receives_within, sleeps, yields, lets_others};

static void first(void *reason)
{
    uint64_t random = draw(&random_of_main);
    unsigned n = (unsigned)(draw(&random) % TABLE);

    for (unsigned i = 0; i < n; i++) {
        uint64_t seed = draw(&random);
        weft_pid p = weft_spawn(kinds[draw(&random) % 6], &seed, .copy_bytes = sizeof seed,
                                .stack_bytes = i % 8 ? 0 : 200000);
        atomic_store_explicit(&table[draw(&random) % TABLE], p.id, memory_order_relaxed);
    }
    switch (draw(&random) % 5) {
    case 0:
        break;
    case 3: /* an orderly stop, which may be short of time */
        weft_stop((int)(intptr_t)reason, weft_us((int64_t)(draw(&random) % 2000)));
        weft_receive(NEVER);
        break;
    case 4:
        weft_stop((int)(intptr_t)reason, weft_sec(10));
        break;
    case 1:
        weft_yield();
        break;
    case 2:
        weft_sleep(weft_us((int64_t)(draw(&random) % 200)));
        break;
    }
    weft_end((int)(intptr_t)reason);
}

/* ---- Threads ------------------------------------------------------------------------------------------------------- */

static void *sends(void *arg)
{
    uint64_t random = 7919 * ((uintptr_t)arg + 1);

    while (!stop) {
        for (int i = 0; i < 20; i++)
            send_to(anybody(&random));
        sched_yield();
    }
    return NULL;
}

static void *waits(void *arg)
{
    waiter[(uintptr_t)arg] = weft_self().id;
    while (!stop) {
        weft_msg *m = weft_receive_within(weft_ms(1), WORK);
        if (m)
            read_it(m);
        else
            count(&nulls), sched_yield();
    }
    return NULL;
}

static void start_and_stop(unsigned long rounds)
{
    pthread_t thread[SENDERS + WAITERS];

    for (uintptr_t i = 0; i < SENDERS + WAITERS; i++)
        pthread_create(&thread[i], NULL, i < SENDERS ? sends : waits,
                       (void *)(i < SENDERS ? i : i - SENDERS));
    for (unsigned long i = 1; i <= rounds; i++) {
        int reason = weft_run(first, (void *)i, .workers = 1 + (int)(i % 3));
        if (reason != (int)i)
            complain("another reason", reason, (int)i);
    }
    stop = true;
    for (int i = 0; i < SENDERS + WAITERS; i++)
        pthread_join(thread[i], NULL);
    weft_counts now = counted();
    if (now.spawned != now.ended)
        complain("not all have ended", (int)now.spawned, (int)now.ended);
    if (now.dead_letters + got != sent)
        complain("messages lost", (int)sent, (int)(now.dead_letters + got));
}

/* ---- Spawning while it stops ----------------------------------------------------------------------------------------- */

enum { AHEAD = 100 };

static atomic_int   spawners_ready;
static atomic_ulong begun;

static void begins(void *unused)
{
    (void)unused;
    if (atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed) % 4 == 0)
        weft_receive(NEVER);
}

static void *spawns(void *unused)
{
    spawners_ready++;
    while (!stop) {
        if (spawned > begun + AHEAD) {
            sched_yield(); /* or those that wait would become more and more */
            continue;
        }
        if (!weft_is_nobody(weft_spawn(begins, NULL)))
            count(&spawned);
        else if (weft_spawn_error() == WEFT_EENDED)
            count(&too_late);
        else
            complain("not spawned", weft_spawn_error(), 0);
    }
    return unused;
}

static void ends_while_they_spawn(void *unused)
{
    pthread_t *thread = unused;

    for (int i = 0; i < SPAWNERS; i++)
        pthread_create(&thread[i], NULL, spawns, NULL);
    while (spawners_ready < SPAWNERS || begun < AHEAD)
        weft_yield();
}

static void race(void)
{
    pthread_t thread[SPAWNERS];

    alarm(60);
    int reason = weft_run(ends_while_they_spawn, thread, .workers = 2);
    stop = true;
    for (int i = 0; i < SPAWNERS; i++)
        pthread_join(thread[i], NULL);
    _exit(reason == 0 && spawned > 0 && !wrong ? 0 : 1);
}

/* ---- Counting those who move ------------------------------------------------------------------------------------------ */

static atomic_bool  chain_is_over; /* seq_cst: set before the last of them ends */
static atomic_ulong looks;

static void hop(void *left)
{
    if (left)
        weft_spawn(hop, (char *)left - 1);
    else
        chain_is_over = true;
}

/* It never gives way, so the chain is taken to another worker. */
static void counts_them(void *hops)
{
    weft_spawn(hop, hops);
    while (!chain_is_over) {
        uint64_t n = weft__rest_living();
        if (n < 2 && !chain_is_over)
            complain("somebody was not counted", (int)n, 2);
        count(&looks);
    }
}

int main(void)
{
    unsigned long rounds = scaled(ROUNDS), children = scaled(CHILDREN), lost = 0;

    for (unsigned long i = 0; i < children; i++)
        lost += in_child(race) != 0;
    start_and_stop(rounds);
    weft_run(counts_them, (char *)NULL + scaled(HOPS), .workers = 2);
    bool good = !wrong && !lost && got > 0 && nulls > 0;
    printf("stress_stop: %s: %lu systems, %lu messages, %lu read, %lu waits for nothing; %lu races with "
           "spawns, %lu lost; "
           "%lu looks at who lives; %lu wrong\n",
           good ? "ok" : "FAILED", rounds, (unsigned long)sent, (unsigned long)got, (unsigned long)nulls,
           children, lost, (unsigned long)looks, (unsigned long)wrong);
    return good ? 0 : 1;
}
