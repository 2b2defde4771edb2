/* test_worker.c - the order in which a worker's own queues give; stress_worker.c has the thieves that come uninvited.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "sched/worker.h"

#include <criterion/criterion.h>
#include <string.h>

static struct weft__worker w;
static struct weft__task   tasks[1024];

static void fresh(void)
{
    weft__worker_prepare();
    weft__worker_reset(&w, 0);
    weft__worker_end_turn(&w); /* a turn begins */
}

TestSuite(worker, .init = fresh, .timeout = 10);

/* ---- Tasks are letters ------------------------------------------------------------------------------- */

static struct weft__task *task(char c) { return &tasks[(unsigned char)c]; }
static char               name(struct weft__task *t) { return t ? (char)(t - tasks) : '.'; }

static void push(const char *names)
{
    for (; *names; names++)
        weft__worker_push(&w, task(*names));
}

static void spawn(const char *names)
{
    for (; *names; names++)
        weft__worker_push_spawned(&w, task(*names));
}

static const char *listed(struct weft__queue list)
{
    static char text[64];
    size_t      n = 0;

    for (struct weft__task *t = list.first; t && n + 1 < sizeof text; t = t->next)
        text[n++] = name(t);
    text[n] = 0;
    return text;
}

/* All that it gives, in one turn. */
static const char *taken(void)
{
    struct weft__queue list = {NULL, NULL};

    for (struct weft__task *t; (t = weft__worker_take(&w));)
        weft__queue_push(&list, t);
    return listed(list);
}

/* ---- Order ------------------------------------------------------------------------------------------- */

Test(worker, has_nothing_at_first)
{
    cr_expect(weft__worker_is_empty(&w));
    cr_expect_null(weft__worker_take(&w));
    cr_expect_null(weft__worker_slot(&w));
}

Test(worker, runs_the_one_that_was_made_ready_first_and_then_the_others_in_order)
{
    push("abcd");
    cr_expect_str_eq(taken(), "abcd");
}

Test(worker, tells_whether_a_task_came_to_the_slot)
{
    cr_expect(weft__worker_push(&w, task('a')));
    cr_expect_not(weft__worker_push(&w, task('b')));
    cr_expect_eq(weft__worker_slot(&w), task('a'));
    cr_expect(weft__worker_push(&w, task('c')));
    cr_expect_str_eq(taken(), "cb");
}

Test(worker, runs_ready_tasks_before_new_ones_and_the_newest_of_those_first)
{
    spawn("123");
    push("ab");
    cr_expect_str_eq(taken(), "ab321");
}

Test(worker, is_empty_when_all_was_taken)
{
    spawn("1");
    push("ab");
    cr_expect_not(weft__worker_is_empty(&w));
    taken();
    cr_expect(weft__worker_is_empty(&w));
}

Test(worker, puts_a_list_behind_the_ready_ones)
{
    struct weft__queue list = {NULL, NULL};

    push("abc");
    weft__queue_push(&list, task('x'));
    weft__queue_push(&list, task('y'));
    weft__worker_append(&w, &list, 2);
    cr_expect_null(list.first);
    cr_expect_str_eq(taken(), "abcxy");
}

Test(worker, gives_nothing_from_the_slot_when_the_turn_is_over)
{
    push("ab");
    w.budget = 0;
    cr_expect_null(weft__worker_slot(&w));
    cr_expect_null(weft__worker_slot_fast(&w));
    cr_expect_eq(weft__worker_take(&w), task('b'), "the ready ones are due");
    weft__worker_end_turn(&w);
    cr_expect_gt(w.budget, 0);
    cr_expect_str_eq(taken(), "a");
}

Test(worker, puts_the_slot_behind_the_ready_ones_at_the_end_of_a_turn)
{
    push("abc");
    weft__worker_end_turn(&w);
    cr_expect_str_eq(taken(), "bca");
}

/* Two that wake each other for ever must not starve those that are new. */
Test(worker, lets_the_oldest_new_task_in_when_a_turn_ends)
{
    spawn("12");
    push("a");
    weft__worker_end_turn(&w);
    cr_expect_str_eq(taken(), "1a2");
}

/* A chain of new ones that make each other must not starve one that is older. */
Test(worker, lets_the_oldest_new_task_in_also_with_an_empty_slot)
{
    spawn("123");
    weft__worker_end_turn(&w);
    cr_expect_str_eq(taken(), "132");
}

Test(worker, puts_one_that_yields_behind_all_that_is_ready_and_one_that_is_new)
{
    spawn("12");
    push("ab");
    weft__worker_yielded(&w, task('y'));
    cr_expect_str_eq(taken(), "ba1y2");
}

/* ---- The quick ways ---------------------------------------------------------------------------------- */

Test(worker, takes_quickly_only_into_a_free_slot)
{
    cr_expect(weft__worker_push_fast(&w, task('a')));
    cr_expect_not(weft__worker_push_fast(&w, task('b')));
    cr_expect_str_eq(taken(), "a");
}

Test(worker, gives_quickly_only_from_the_slot)
{
    push("ab");
    cr_expect_eq(weft__worker_slot_fast(&w), task('a'));
    cr_expect_null(weft__worker_slot_fast(&w));
    cr_expect_str_eq(taken(), "b");
}

Test(worker, does_nothing_quickly_while_a_thief_is_here)
{
    push("a");
    atomic_store(&w.claimed, true);
    cr_expect_null(weft__worker_slot_fast(&w));
    cr_expect_not(weft__worker_push_fast(&w, task('b')));
    cr_expect_not(atomic_load(&w.inside));
    atomic_store(&w.claimed, false);
    cr_expect_str_eq(taken(), "a");
}

/* ---- Splitting --------------------------------------------------------------------------------------- */

static const char *split(void)
{
    struct weft__queue list = {NULL, NULL};
    unsigned           n = weft__worker_split(&w, &list);

    cr_expect_eq(n, strlen(listed(list)));
    return listed(list);
}

Test(worker, gives_away_the_oldest_half_of_its_ready_ones_and_keeps_its_slot)
{
    push("sabcde");
    cr_expect_str_eq(split(), "ab");
    cr_expect_str_eq(taken(), "scde");
}

Test(worker, gives_away_the_oldest_half_of_its_new_ones_if_none_is_ready)
{
    spawn("1234");
    cr_expect_str_eq(split(), "21", "the newest of them first");
    cr_expect_str_eq(taken(), "43");
}

Test(worker, gives_nothing_away_if_it_has_one)
{
    push("sa");
    spawn("1");
    cr_expect_str_eq(split(), "");
    cr_expect_str_eq(taken(), "sa1");
}

static unsigned spawn_many(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        weft__worker_push_spawned(&w, &tasks[i]);
    return n;
}

static unsigned length(struct weft__queue list)
{
    unsigned n = 0;

    for (struct weft__task *t = list.first; t; t = t->next) {
        if (!t->next)
            cr_expect_eq(t, list.last);
        n++;
    }
    return n;
}

Test(worker, gives_away_the_newest_of_very_many)
{
    struct weft__queue list = {NULL, NULL};
    unsigned           all = spawn_many(4 * WEFT__OFFER_MAX);

    cr_expect_eq(weft__worker_split(&w, &list), (unsigned)WEFT__OFFER_MAX);
    cr_expect_eq(length(list), (unsigned)WEFT__OFFER_MAX);
    cr_expect_eq(list.first, &tasks[all - 1]);
    cr_expect_eq(weft__worker_take(&w), &tasks[all - 1 - WEFT__OFFER_MAX]);
}

/* ---- Robbing ----------------------------------------------------------------------------------------- */

/* Where the kernel has no membarrier, there is nothing to test. */
static bool rob(struct weft__queue *list)
{
    static struct weft__worker probe;
    struct weft__queue         unused;

    weft__worker_reset(&probe, 0);
    weft__worker_push(&probe, &tasks[0]);
    return weft__worker_rob(&probe, &unused) == 1 && (weft__worker_rob(&w, list), true);
}

Test(worker, loses_all_to_a_robber_in_the_order_it_would_have_run_them)
{
    struct weft__queue list = {NULL, NULL};

    spawn("12");
    push("abc");
    if (!rob(&list))
        return;
    cr_expect_str_eq(listed(list), "abc21");
    cr_expect(weft__worker_is_empty(&w));
    cr_expect_null(weft__worker_take(&w));
}

Test(worker, goes_on_after_it_was_robbed)
{
    struct weft__queue list = {NULL, NULL};

    push("ab");
    rob(&list);
    taken();
    push("cd");
    spawn("1");
    cr_expect_str_eq(taken(), "cd1");
    rob(&list);
    cr_expect_str_eq(listed(list), "", "nothing was there");
}

/* ---- Replay ------------------------------------------------------------------------------------------ */

static void note_order(char *order, uint64_t seed)
{
    weft__worker_reset(&w, seed);
    push("abcdefgh");
    for (int i = 0; i < 8; i++) {
        weft__worker_end_turn(&w);
        order[i] = name(weft__worker_take(&w));
    }
    order[8] = 0;
}

Test(worker, with_a_seed_has_an_order_of_its_own_and_the_same_each_time)
{
    char plain[9], first[9], again[9];
    int  different = 0;

    note_order(plain, 1);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        note_order(first, seed);
        note_order(again, seed);
        cr_expect_str_eq(first, again);
        for (const char *c = "abcdefgh"; *c; c++)
            cr_expect_not_null(strchr(first, *c), "%c is missing in %s", *c, first);
        different += strcmp(first, plain) != 0;
    }
    cr_expect_geq(different, 10, "%d of 19", different);
}

Test(worker, with_a_seed_ends_every_turn_at_once)
{
    weft__worker_reset(&w, 7);
    push("a");
    cr_expect_null(weft__worker_slot(&w));
    weft__worker_end_turn(&w);
    cr_expect_null(weft__worker_slot(&w), "nor is there a new budget");
    cr_expect_str_eq(taken(), "a");
}
