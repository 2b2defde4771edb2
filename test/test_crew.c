/* test_crew.c - what a crew of workers promises, seen from one thread at a time; stress_crew.c has the races.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "sched/crew.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "sched/clock.h"
#include "sched/timers.h"

TestSuite(crew, .timeout = 20);

enum { TASKS = 64 };

static struct weft__task tasks[TASKS];

static struct weft__worker *crew_of(unsigned n)
{
    weft__crew_reset(n, 0);
    return weft__crew_worker(0);
}

static long number(struct weft__task *t) { return t ? t - tasks : -1; }

/* ---- One worker -------------------------------------------------------------------------------------- */

Test(crew, gives_what_was_shared_in_that_order)
{
    struct weft__worker *w = crew_of(1);

    for (int i = 0; i < 8; i++)
        weft__crew_share(&tasks[i]);
    for (int i = 0; i < 8; i++)
        cr_expect_eq(number(weft__crew_next(w)), i);
}

Test(crew, gives_ready_tasks_before_shared_ones)
{
    struct weft__worker *w = crew_of(1);

    weft__worker_end_turn(w); /* else its first turn begins with a look at what is shared */
    weft__crew_share(&tasks[0]);
    weft__crew_ready(w, &tasks[1]);
    weft__crew_spawned(w, &tasks[2]);
    cr_expect_eq(number(weft__crew_next(w)), 1);
    cr_expect_eq(number(weft__crew_next(w)), 2);
    cr_expect_eq(number(weft__crew_next(w)), 0);
}

/* A task that is always ready again must not keep the shared ones waiting for ever. */
Test(crew, comes_to_shared_tasks_though_its_own_never_end)
{
    struct weft__worker *w = crew_of(1);
    int                  turns = 0;

    weft__crew_ready(w, &tasks[1]);
    weft__crew_next(w);
    weft__crew_share(&tasks[0]);
    do
        weft__crew_ready(w, &tasks[1]);
    while (weft__crew_next(w) != &tasks[0] && ++turns < 10 * WEFT__TURN_MESSAGES);
    cr_expect_leq(turns, WEFT__TURN_MESSAGES + 1);
}

Test(crew, knows_whether_there_are_others)
{
    struct weft__worker *w = crew_of(1);

    cr_expect_not(weft__crew_has_others(w));
    weft__crew_share(&tasks[0]);
    cr_expect(weft__crew_has_others(w));
    weft__crew_next(w);
    cr_expect_not(weft__crew_has_others(w));
    weft__crew_ready(w, &tasks[0]);
    cr_expect(weft__crew_has_others(w));
    weft__crew_next(w);
    weft__crew_stop();
    cr_expect(weft__crew_has_others(w), "a stop is a reason to give way");
}

Test(crew, gives_nothing_after_a_stop_whatever_is_queued)
{
    struct weft__worker *w = crew_of(2);

    weft__crew_ready(w, &tasks[0]);
    weft__crew_share(&tasks[1]);
    weft__crew_stop();
    cr_expect_null(weft__crew_next(w));
    cr_expect_null(weft__crew_next(weft__crew_worker(1)));
}

Test(crew, leaves_after_a_stop_all_that_was_queued_anywhere)
{
    bool left[8] = {false};

    crew_of(3);
    for (int i = 0; i < 3; i++) {
        weft__crew_ready(weft__crew_worker((unsigned)i), &tasks[i]);
        weft__crew_spawned(weft__crew_worker((unsigned)i), &tasks[3 + i]);
    }
    weft__crew_share(&tasks[6]);
    weft__crew_share(&tasks[7]);
    weft__crew_stop();
    for (struct weft__task *t; (t = weft__crew_left());) {
        cr_assert_lt(number(t), 8);
        cr_expect_not(left[number(t)], "%ld twice", number(t));
        left[number(t)] = true;
    }
    for (int i = 0; i < 8; i++)
        cr_expect(left[i], "%d is missing", i);
}

Test(crew, begins_anew_after_a_reset)
{
    struct weft__worker *w = crew_of(2);

    weft__crew_ready(w, &tasks[0]);
    weft__crew_share(&tasks[1]);
    weft__crew_stop();
    w = crew_of(1);
    cr_expect_null(weft__crew_left());
    weft__crew_share(&tasks[2]);
    cr_expect_eq(number(weft__crew_next(w)), 2);
}

/* ---- Timers ------------------------------------------------------------------------------------------ */

static int64_t make_ready(struct weft__timer *t, int64_t now)
{
    (void)t;
    (void)now;
    weft__crew_ready(weft__crew_worker(0), &tasks[5]);
    return WEFT__NEVER;
}

Test(crew, sleeps_until_a_timer_makes_something_ready)
{
    struct weft__worker *w = crew_of(1);
    struct weft__timer   timer = {.fire = make_ready};
    int64_t              when = weft__clock_after(2000000);

    weft__timers_set(&timer, when);
    cr_expect_eq(number(weft__crew_next(w)), 5);
    cr_expect_geq(weft__clock_now(), when);
}

Test(crew, with_a_seed_jumps_to_the_timer)
{
    struct weft__timer timer = {.fire = make_ready};

    weft__crew_reset(4, 11);
    weft__clock_virtual(true);
    weft__timers_set(&timer, (int64_t)3600 * 1000000000);
    cr_expect_eq(number(weft__crew_next(weft__crew_worker(0))), 5);
    cr_expect_eq(weft__clock_now(), (int64_t)3600 * 1000000000);
    weft__clock_virtual(false);
}

/* ---- Replay ------------------------------------------------------------------------------------------ */

static void note_order(char *order, uint64_t seed)
{
    weft__crew_reset(4, seed);
    struct weft__worker *w = weft__crew_worker(0);
    for (int i = 0; i < 4; i++)
        weft__crew_share(&tasks[i]);
    for (int i = 4; i < 8; i++)
        weft__crew_ready(w, &tasks[i]);
    for (int i = 0; i < 8; i++)
        order[i] = (char)('a' + number(weft__crew_next(w)));
    order[8] = 0;
}

Test(crew, with_a_seed_has_the_same_order_each_time)
{
    char first[9], again[9], one[9];
    int  different = 0;

    note_order(one, 1);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        note_order(first, seed);
        note_order(again, seed);
        cr_expect_str_eq(first, again);
        different += strcmp(first, one) != 0;
    }
    cr_expect_geq(different, 10, "%d of 19", different);
}

/* ---- Two workers ------------------------------------------------------------------------------------- */

static atomic_int ran, behind;

static void *other_worker(void *w)
{
    struct weft__task *t;

    while ((t = weft__crew_next(w))) {
        atomic_fetch_add(&ran, 1);
        atomic_fetch_sub(&behind, 1);
    }
    return NULL;
}

static bool can_rob(void)
{
    static struct weft__worker probe;
    static struct weft__task   its; /* the others may be queued elsewhere */
    struct weft__queue         list;

    weft__worker_reset(&probe, 0);
    weft__worker_push(&probe, &its);
    return weft__worker_rob(&probe, &list) == 1;
}

/* This thread is a worker in a long task: what it makes ready is run all the same. */
static void stay_long(int n)
{
    struct weft__worker *w = crew_of(2);
    pthread_t            other;

    pthread_create(&other, NULL, other_worker, weft__crew_worker(1));
    while (!(weft__crew_wants() & WEFT__HUNGRY))
        sched_yield();
    atomic_store(&behind, n);
    for (int i = 0; i < n; i++)
        weft__crew_ready(w, &tasks[i]);
    while (can_rob() && atomic_load(&behind))
        sched_yield();
    weft__crew_stop();
    pthread_join(other, NULL);
}

Test(crew, takes_what_lies_behind_a_long_task)
{
    stay_long(1);
    cr_expect_eq(atomic_load(&ran), can_rob() ? 1 : 0);
}

Test(crew, takes_many_that_lie_behind_a_long_task)
{
    stay_long(TASKS);
    cr_expect(!can_rob() || atomic_load(&ran) == TASKS);
}

Test(crew, wakes_one_that_sleeps_for_what_is_shared)
{
    pthread_t other;

    crew_of(1);
    for (int round = 0; round < 50; round++) {
        crew_of(1);
        pthread_create(&other, NULL, other_worker, weft__crew_worker(0));
        while (!(weft__crew_wants() & WEFT__HUNGRY))
            sched_yield();
        atomic_store(&behind, 1);
        weft__crew_share(&tasks[0]);
        while (atomic_load(&behind))
            sched_yield();
        weft__crew_stop();
        pthread_join(other, NULL);
    }
    cr_expect_eq(atomic_load(&ran), 50);
}
