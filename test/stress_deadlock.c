/* stress_deadlock.c - systems that may come to rest: each that does is told so, and none that does not.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Part 1: one token goes round for a number of hops. Who has it is the only one who can move, and hands it on: by a
 * message, by one that is sent later, after a sleep, to a thread that is an actor, or to a thread that is made for it, has
 * never called Weft, and takes its time. Between two hops all workers may well sleep. At the end it is dropped, and nothing
 * can move any more; or the first actor gets it. Checked: a run in which it was dropped says WEFT_EDEADLOCK, another what
 * its first actor said, and all hops were made.
 *
 * Part 2: trees of actors in runs that wait for all, while threads become actors and end. Checked: no run is over before
 * the last leaf, and each is.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "help.h"

enum { ROUNDS = 600, TREES = 600, HOPS = 40, ACTORS = 6, WAITERS = 2, REASON = 7, DEPTH = 5, WIDTH = 3 };

WEFT_MESSAGE(
    TOKEN, struct token { unsigned left; });
WEFT_SIGNAL(NEVER);

static weft_pid         actors[ACTORS], first_actor; /* of this run: written before the token is there */
static bool             drops;
static _Atomic uint64_t waiter[WAITERS];
static atomic_bool      stop;
static atomic_ulong     hops, leaves, wrong; /* relaxed would do */

static void complain(const char *what, int a, int b)
{
    wrong++;
    printf("stress_deadlock: %s (%d, %d)\n", what, a, b);
}

/* ---- The token ---------------------------------------------------------------------------------------------- */

struct errand {
    weft_pid to;
    unsigned left, delay;
};

static void *runs_an_errand(void *arg)
{
    struct errand e = *(struct errand *)arg;

    free(arg);
    usleep(e.delay);
    weft_send(e.to, TOKEN, e.left);
    return NULL;
}

static void send_a_stranger(weft_pid to, unsigned left, unsigned delay)
{
    struct errand *e = malloc(sizeof *e);
    pthread_t      thread;

    *e = (struct errand){to, left, delay};
    if (pthread_create(&thread, NULL, runs_an_errand, e)) {
        complain("no thread", 0, 0);
        abort();
    }
    pthread_detach(thread);
}

static void hand_on(uint64_t *random, unsigned left)
{
    weft_pid to = actors[draw(random) % ACTORS];

    hops++;
    if (!left) {
        if (!drops)
            weft_send(first_actor, TOKEN, 0);
        return;
    }
    switch (draw(random) % 8) {
    case 0:
    case 1:
        weft_send((weft_pid){waiter[draw(random) % WAITERS]}, TOKEN, left - 1);
        break;
    case 2:
        send_a_stranger(to, left - 1, (unsigned)(draw(random) % 100));
        break;
    case 3:
        weft_send_after(weft_us((int64_t)(draw(random) % 200)), to, TOKEN, left - 1);
        break;
    case 4:
        weft_sleep(weft_us((int64_t)(draw(random) % 50)));
        weft_send(to, TOKEN, left - 1);
        break;
    default:
        weft_send(to, TOKEN, left - 1);
    }
}

static void hops_on(void *seed)
{
    uint64_t random = *(uint64_t *)seed;

    for (;;) { /* now and then with a time, of which something may be left */
        weft_msg *m = draw(&random) % 4 ? NULL : weft_receive_within(weft_us(30), TOKEN, NEVER);
        if (!m)
            m = weft_receive(TOKEN, NEVER);
        hand_on(&random, weft_get(m, TOKEN)->left);
    }
}

static void first(void *seed)
{
    uint64_t random = *(uint64_t *)seed;

    first_actor = weft_self();
    for (int i = 0; i < ACTORS; i++) {
        uint64_t its = draw(&random);
        actors[i] = weft_spawn(hops_on, &its, .copy_bytes = sizeof its);
    }
    weft_send(actors[0], TOKEN, HOPS);
    weft_receive(TOKEN);
    weft_end(REASON);
}

static void *waits(void *slot)
{
    uint64_t random = 88172645463325252 + (uintptr_t)slot;

    waiter[(uintptr_t)slot] = weft_self().id;
    while (!stop) {
        weft_msg *m = weft_receive(TOKEN, NEVER);
        if (m && weft_is(m, NEVER))
            break;
        if (m)
            hand_on(&random, weft_get(m, TOKEN)->left);
        else
            sched_yield(); /* no system: the next one comes */
    }
    return NULL;
}

static void rest(unsigned long rounds)
{
    pthread_t thread[WAITERS];
    uint64_t  random = 2463534242;

    for (uintptr_t i = 0; i < WAITERS; i++) {
        pthread_create(&thread[i], NULL, waits, (void *)i);
        while (!waiter[i])
            sched_yield();
    }
    for (unsigned long i = 0; i < rounds; i++) {
        uint64_t seed = draw(&random);
        drops = draw(&random) % 2;
        hops = 0;
        int result = weft_run(first, &seed, .workers = 1 + (int)(i % 3), .deadlock = true);
        if (result != (drops ? WEFT_EDEADLOCK : REASON))
            complain("another end", result, drops);
        if (hops != HOPS + 1)
            complain("lost on the way", (int)hops, result);
    }
    stop = true;
    for (int i = 0; i < WAITERS; i++)
        weft_send((weft_pid){waiter[i]}, NEVER);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(thread[i], NULL);
}

/* ---- Trees ------------------------------------------------------------------------------------------------------ */

struct branch {
    unsigned depth;
    uint64_t random;
};

static void grows(void *arg)
{
    struct branch b = *(struct branch *)arg;

    if (draw(&b.random) % 16 == 0)
        weft_sleep(weft_us((int64_t)(draw(&b.random) % 50)));
    if (!b.depth)
        leaves++;
    for (int i = 0; b.depth && i < WIDTH; i++) {
        struct branch child = {b.depth - 1, draw(&b.random)};
        weft_spawn(grows, &child, .copy_bytes = sizeof child);
    }
}

static void *is_an_actor_for_a_moment(void *unused)
{
    weft_self();
    return unused;
}

static void *makes_threads(void *unused)
{
    while (!stop) {
        pthread_t thread;
        if (!pthread_create(&thread, NULL, is_an_actor_for_a_moment, NULL))
            pthread_join(thread, NULL);
    }
    return unused;
}

static void grow(unsigned long trees)
{
    pthread_t     thread;
    unsigned long all = 1;

    stop = false;
    pthread_create(&thread, NULL, makes_threads, NULL);
    for (int i = 0; i < DEPTH; i++)
        all *= WIDTH;
    for (unsigned long i = 1; i <= trees; i++) {
        struct branch b = {DEPTH, i};
        leaves = 0;
        int result = weft_run(grows, &b, .workers = 1 + (int)(i % 3), .wait_all = true);
        if (result || leaves != all)
            complain("over too soon", result, (int)leaves);
    }
    stop = true;
    pthread_join(thread, NULL);
}

int main(void)
{
    unsigned long rounds = scaled(ROUNDS), trees = scaled(TREES);

    listen_to_stderr(); /* each deadlock says so */
    rest(rounds);
    what_was_said();
    grow(trees);
    printf("stress_deadlock: %s: %lu systems, %lu trees, %lu wrong\n", wrong ? "FAILED" : "ok", rounds, trees,
           (unsigned long)wrong);
    return wrong != 0;
}
