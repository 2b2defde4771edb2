/* stress_supervisor.c - many supervisors, whose children crash at random while others add and stop some.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Pools start dynamic children, which end by themselves, with any reason, or kill each other's brothers; a tree above them
 * restarts whole pools that have given up. Threads ask them all the while. When the roots are told to stop, everybody who
 * was ever started must have ended, and every child must be one that its supervisor knew.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/supervisor.h>

#include "help.h"

enum { POOLS = 6, ROUNDS = 4, ASKERS = 3, STARTS = 400 };

static atomic_long  begun, ended, failed; /* relaxed: counters, read when all is over */
static atomic_ulong seeds = 88172645463325252ul;

static uint64_t new_seed(void)
{
    return atomic_fetch_add_explicit(&seeds, 0x9E3779B97F4A7C15u, memory_order_relaxed) | 1;
}

static void says_end(void *unused)
{
    (void)unused;
    atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed);
}

WEFT_SIGNAL(NEVER);

/* Lives a little, then ends somehow. */
static void child(void *unused)
{
    uint64_t seed = new_seed();

    (void)unused;
    weft_defer(says_end, NULL); /* before it counts: a kill may come at the next wait */
    atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
    for (unsigned i = draw(&seed) % 4; i; i--)
        weft_yield();
    switch (draw(&seed) % 6) {
    case 0:
        return;
    case 1:
        weft_end(1);
    case 2:
        weft_end(WEFT_ESTOP);
    case 3:
        weft_trap(true);
        weft_receive_within(weft_us(draw(&seed) % 300), WEFT_EXIT);
        weft_end(2);
    case 4:
        weft_kill(weft_self());
    }
    weft_receive(NEVER);
}

static const char *const names[POOLS] = {"p0", "p1", "p2", "p3", "p4", "p5"};

static const weft_child pattern = {.fn = child, .restart = WEFT_TRANSIENT, .shutdown = {200000}};
static const weft_child four[] = {{.id = "a", .fn = child},
                                  {.id = "b", .fn = child, .restart = WEFT_TRANSIENT},
                                  {.id = "c", .fn = child, .restart = WEFT_TEMPORARY},
                                  {.id = "d", .fn = child, .shutdown = {-1}}};

/* Pools that are dynamic, for one, for all, for the rest; some with a delay. All give up now and then. */
static weft_pid start_tree(void)
{
    weft_supervisor pools[POOLS];
    weft_child      tree[POOLS];

    for (int i = 0; i < POOLS; i++) {
        bool dynamic = i % 2 == 0;
        pools[i] = (weft_supervisor){.name = names[i],
                                     .strategy = dynamic ? WEFT_SIMPLE_DYNAMIC : (enum weft_strategy)(i / 2),
                                     .max_restarts = 50,
                                     .period = weft_ms(100),
                                     .backoff = weft_us(i >= 4 ? 100 : 0),
                                     .children = dynamic ? &pattern : four,
                                     .count = dynamic ? 1 : 4};
        tree[i] = (weft_child){.supervisor = &pools[i]};
    }
    return weft_supervise(&(weft_supervisor){.max_restarts = 1000000, .children = tree, .count = POOLS});
}

static void ask_once(weft_pid pool, uint64_t *seed)
{
    weft_child_view   views[8];
    weft_child_counts counts;
    long              n;

    switch (draw(seed) % 4) {
    case 0:
        n = weft_children(pool, views, 8);
        if (n > 0)
            weft_stop_child(pool, NULL, views[draw(seed) % (n < 8 ? (unsigned long)n : 8)].who);
        break;
    case 1:
        if (weft_count_children(pool, &counts) == 0 && counts.active > counts.workers)
            atomic_fetch_add_explicit(&failed, 1, memory_order_relaxed);
        break;
    case 2:
        weft_restart_child(pool, "b");
        break;
    case 3:
        n = weft_children(pool, views, 8);
        if (n > 0)
            weft_kill(views[draw(seed) % (n < 8 ? (unsigned long)n : 8)].who);
        break;
    }
    weft_start_child(pool, NULL);
}

static void *asks(void *unused)
{
    uint64_t      seed = new_seed();
    unsigned long times = scaled(STARTS);

    for (unsigned long i = 0; i < times; i++)
        ask_once(weft_whereis(names[draw(&seed) % POOLS]), &seed);
    return unused;
}

static void asker(void *boss)
{
    asks(NULL);
    weft_send(*(weft_pid *)boss, NEVER);
}

static void round_of(void)
{
    pthread_t thread;
    weft_pid  me = weft_self(), root = start_tree();

    if (weft_is_nobody(root)) {
        fprintf(stderr, "the tree did not start: %s\n", weft_strerror(weft_spawn_error()));
        exit(1);
    }
    for (int i = 0; i < ASKERS; i++)
        weft_spawn(asker, &me, .copy_bytes = sizeof me);
    pthread_create(&thread, NULL, asks, NULL);
    for (int i = 0; i < ASKERS; i++)
        weft_receive(NEVER);
    pthread_join(thread, NULL);
    weft_monitor(root);
    weft_exit(root, WEFT_ESTOP);
    if (weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason != WEFT_ESTOP)
        atomic_fetch_add_explicit(&failed, 1, memory_order_relaxed);
}

static void first(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        round_of();
    /* A pool that is killed, as one that would not stop, is gone before its children are. */
    for (int i = 0; i < 10000 && atomic_load(&begun) != atomic_load(&ended); i++)
        weft_sleep(weft_ms(1));
}

int main(void)
{
    int reason = weft_run(first, NULL, .workers = 4);

    weft_counts c = counted();
    printf("%ld children; %lu spawned, %lu ended\n", atomic_load(&begun), (unsigned long)c.spawned,
           (unsigned long)c.ended);
    return reason || atomic_load(&failed) || atomic_load(&begun) != atomic_load(&ended) ||
           c.spawned - c.ended > 1; /* the main thread may be an actor */
}
