/* test_timers.c - what sched/timers.h promises.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "sched/timers.h"

#include <criterion/criterion.h>

#include "base/memory.h"
#include "help.h"
#include "sched/clock.h"

TestSuite(timers, .timeout = 20);

enum { MANY = 5000 };

struct timed {
    struct weft__timer timer;
    int                number;
    int                fired;
    int64_t            at, again;
};

static struct timed all[MANY];
static int64_t      last;
static int          out_of_order;

static int64_t fire(struct weft__timer *t, int64_t now)
{
    struct timed *me = (struct timed *)t;

    out_of_order += t->when < last;
    last = t->when;
    me->fired++;
    me->at = now;
    note("%d ", me->number);
    int64_t again = me->again;
    me->again = WEFT__NEVER;
    return again;
}

static struct timed *set(int number, int64_t when)
{
    all[number].timer.fire = fire;
    all[number].number = number;
    if (!all[number].again)
        all[number].again = WEFT__NEVER;
    cr_assert_eq(weft__timers_set(&all[number].timer, when), 0);
    return &all[number];
}

Test(timers, have_nothing_to_do_at_first)
{
    cr_expect_eq(weft__timers_earliest(), WEFT__NEVER);
    weft__timers_poll(1000);
    cr_expect_eq(weft__timers_earliest(), WEFT__NEVER);
}

Test(timers, tell_the_earliest)
{
    set(1, 300);
    cr_expect_eq(weft__timers_earliest(), 300);
    set(2, 100);
    cr_expect_eq(weft__timers_earliest(), 100);
    set(3, 200);
    cr_expect_eq(weft__timers_earliest(), 100);
    weft__timers_unset(&all[2].timer);
    cr_expect_eq(weft__timers_earliest(), 200);
}

Test(timers, fire_what_is_due_and_only_that)
{
    set(1, 100);
    set(2, 200);
    set(3, 300);
    weft__timers_poll(99);
    cr_expect_str_eq(noted(), "");
    weft__timers_poll(200);
    cr_expect_str_eq(noted(), "1 2 ");
    cr_expect_eq(all[2].at, 200);
    cr_expect_eq(weft__timers_earliest(), 300);
}

Test(timers, fire_once)
{
    set(1, 100);
    weft__timers_poll(100);
    weft__timers_poll(1000);
    cr_expect_str_eq(noted(), "1 ");
    cr_expect_eq(all[1].timer.place, 0);
}

Test(timers, of_one_time_fire_in_the_order_set)
{
    for (int i = 1; i <= 9; i++)
        set(i, 100);
    weft__timers_poll(100);
    cr_expect_str_eq(noted(), "1 2 3 4 5 6 7 8 9 ");
}

Test(timers, may_be_moved)
{
    set(1, 100);
    set(2, 200);
    set(1, 300);
    set(2, 150);
    weft__timers_poll(200);
    cr_expect_str_eq(noted(), "2 ");
    weft__timers_poll(300);
    cr_expect_str_eq(noted(), "2 1 ");
}

Test(timers, may_be_unset)
{
    set(1, 100);
    set(2, 100);
    weft__timers_unset(&all[1].timer);
    weft__timers_unset(&all[1].timer);
    weft__timers_poll(100);
    cr_expect_str_eq(noted(), "2 ");
    weft__timers_unset(&all[2].timer);
}

Test(timers, may_ask_to_be_called_again)
{
    set(1, 100)->again = 250;
    set(2, 200);
    weft__timers_poll(200);
    cr_expect_str_eq(noted(), "1 2 ");
    cr_expect_eq(weft__timers_earliest(), 250);
    weft__timers_poll(250);
    cr_expect_str_eq(noted(), "1 2 1 ");
}

Test(timers, that_ask_for_a_time_that_is_due_fire_in_the_same_poll)
{
    set(1, 100)->again = 150;
    set(2, 120);
    weft__timers_poll(200);
    cr_expect_str_eq(noted(), "1 2 1 ");
    cr_expect_eq(weft__timers_earliest(), WEFT__NEVER);
}

Test(timers, stay_in_order_whatever_is_set_moved_and_unset)
{
    uint64_t state = 2463534242;
    int      fired = 0, expected = 0;

    for (int i = 0; i < MANY; i++)
        set(i, (int64_t)(draw(&state) % 10000));
    for (int i = 0; i < MANY; i++) {
        int n = (int)(draw(&state) % MANY);
        if (draw(&state) % 3 == 0)
            weft__timers_unset(&all[n].timer);
        else
            set(n, (int64_t)(draw(&state) % 10000));
    }
    for (int i = 0; i < MANY; i++)
        expected += all[i].timer.place != 0;
    for (int64_t now = 0; now <= 10000; now += 10) {
        cr_assert_geq(weft__timers_earliest(), now - 9);
        weft__timers_poll(now);
    }
    for (int i = 0; i < MANY; i++)
        fired += all[i].fired;
    cr_expect_eq(fired, expected);
    cr_expect_gt(expected, MANY / 2);
    cr_expect_eq(out_of_order, 0);
    cr_expect_eq(weft__timers_earliest(), WEFT__NEVER);
}

Test(timers, are_as_they_were_when_there_is_no_memory_for_one_more)
{
    weft__memory_fail(1);
    int error = weft__timers_set(&all[1].timer, 100);
    weft__memory_fail(0);
    cr_expect_eq(error, -1);
    cr_expect_eq(all[1].timer.place, 0);
    cr_expect_eq(weft__timers_earliest(), WEFT__NEVER);
}

Test(timers, keep_those_set_when_there_is_no_memory_for_more)
{
    int n = 0;

    set(n++, 50);
    for (weft__memory_fail(1); n < MANY && weft__timers_set(&all[n].timer, 100) == 0; n++)
        all[n].timer.fire = fire, all[n].again = WEFT__NEVER, all[n].number = n;
    weft__memory_fail(0);
    cr_assert_lt(n, MANY);
    cr_expect_eq(weft__timers_set(&all[0].timer, 60), 0, "to move one takes no memory");
    weft__timers_poll(100);
    for (int i = 0; i < n; i++)
        cr_expect_eq(all[i].fired, 1);
    cr_expect_eq(all[n].fired, 0);
}

Test(timers, may_end_and_be_used_again)
{
    set(1, 100);
    weft__timers_poll(100);
    weft__timers_end();
    set(2, 200);
    weft__timers_poll(200);
    cr_expect_str_eq(noted(), "1 2 ");
    weft__timers_end();
}

Test(timers, are_set_no_more_after_the_end)
{
    set(1, 100);
    weft__timers_end();
    cr_expect_not(weft__timers_unset(&all[1].timer));
    set(1, 200);
    set(2, 300);
    weft__timers_poll(300);
    cr_expect_str_eq(noted(), "1 2 ");
    weft__timers_end();
}

/* As many as there is room for without memory. */
static int fill(int from)
{
    int n = from;

    for (weft__memory_fail(1); n < MANY && weft__timers_set(&all[n].timer, 1000) == 0; n++)
        all[n].timer.fire = fire, all[n].again = WEFT__NEVER;
    weft__memory_fail(0);
    cr_assert_lt(n, MANY);
    return n;
}

static int set_without_memory(int number, int64_t when)
{
    weft__memory_fail(1);
    int error = weft__timers_set(&all[number].timer, when);
    weft__memory_fail(0);
    return error;
}

Test(timers, that_have_a_place_need_no_memory)
{
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(weft__timers_reserve(&all[i].timer), 0);
        all[i].timer.fire = fire;
        all[i].again = WEFT__NEVER;
    }
    set_without_memory(0, 10); /* it is set meanwhile, and then its place is its own still */
    fill(3);
    weft__timers_poll(10);
    fill(3);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(set_without_memory(i, 100), 0);
    weft__timers_poll(100);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(set_without_memory(i, 200), 0);
}

Test(timers, that_are_dropped_give_their_place_back)
{
    cr_assert_eq(weft__timers_reserve(&all[0].timer), 0);
    cr_assert_eq(weft__timers_reserve(&all[1].timer), 0);
    set_without_memory(1, 10);
    int first = fill(2);
    weft__timers_drop(&all[0].timer);
    cr_expect_eq(fill(first), first + 1);
    weft__timers_drop(&all[1].timer);
    cr_expect_eq(fill(first + 1), first + 2);
    weft__timers_poll(10);
    cr_expect_eq(all[1].fired, 0);
}

Test(timers, that_have_a_place_may_come_back_after_the_end)
{
    cr_assert_eq(weft__timers_reserve(&all[0].timer), 0);
    cr_assert_eq(weft__timers_reserve(&all[1].timer), 0);
    cr_assert_eq(set_without_memory(1, 10), 0);
    weft__timers_end();
    cr_expect_eq(set_without_memory(0, 10), -1); /* the heap is gone, with all places */
    set(0, 100);
    set(1, 100);
    weft__timers_poll(100);
    cr_expect_eq(all[0].fired + all[1].fired, 2);
    weft__timers_end();
}
