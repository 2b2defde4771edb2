/* test_later.c - what part 9 of weft.h promises of time: messages that are sent later, and can be
 * called back.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Nearly all have a seed: then time is virtual, and a wait of an hour is a comparison of two numbers.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(later, .fini = nothing_leaks, .timeout = 60);

WEFT_MESSAGE(A, int);
WEFT_MESSAGE(B, int);
WEFT_MESSAGE(
    MARK, struct mark { weft_ref timer; });
WEFT_SIGNAL(GO);
WEFT_SIGNAL(STOP);
WEFT_SIGNAL(DONE);

static weft_pid me;

static void run(weft_fn *first) { cr_assert_eq(weft_run(first, NULL, .seed = 1), 0); }

/* What is there now. */
static void note_all(void)
{
    for (weft_msg *m; (m = weft_receive_within(weft_ms(0), A));)
        note("%d ", *weft_get(m, A));
}

static unsigned count_all(void)
{
    unsigned n = 0;

    while (weft_receive_within(weft_ms(0), A))
        n++;
    return n;
}

static const char *answer(int error) { return error == 0 ? "0" : error == WEFT_EGONE ? "gone" : "?"; }

static void until_stopped(void *arg)
{
    (void)arg;
    weft_receive(STOP);
}

static void until_gone(weft_pid who)
{
    while (weft_send(who, GO) == 0)
        weft_yield();
}

static atomic_int destroyed;

struct thing {
    void *memory;
    char  more[40];
};
static void destroy_thing(void *body)
{
    destroyed++;
    free(((struct thing *)body)->memory);
}
WEFT_MESSAGE_OWNING(THING, destroy_thing, struct thing);

/* ---- Once ------------------------------------------------------------------------------------ */

static void sends_after(void *arg)
{
    (void)arg;
    weft_ref r = weft_send_after(weft_ms(10), weft_self(), A, 7);
    note("%d ", r.id != 0);
    note("%s ", weft_receive_within(weft_us(9999), A) ? "early" : "not yet");
    note("%d ", *weft_get(weft_receive_within(weft_us(2), A), A));
    note("%s ", weft_receive_within(weft_sec(1000), A) ? "again" : "once");
}

Test(later, comes_when_the_delay_is_over_and_once)
{
    run(sends_after);
    cr_expect_str_eq(noted(), "1 not yet 7 once ");
}

static void sends_without_delay(void *arg)
{
    (void)arg;
    weft_send_after(weft_ms(0), weft_self(), A, 1);
    note("%d ", *weft_get(weft_receive(A), A));
    weft_send_after(weft_ns(-5), weft_self(), A, 2);
    note("%d ", *weft_get(weft_receive(A), A));
}

Test(later, may_be_now)
{
    run(sends_without_delay);
    cr_expect_str_eq(noted(), "1 2 ");
}

static void sends_in_any_order(void *arg)
{
    (void)arg;
    for (int i = 0; i < 12; i++)
        weft_send_after(weft_ms(i * 7 % 12 + 1), weft_self(), A, i * 7 % 12);
    weft_sleep(weft_ms(20));
    note_all();
}

Test(later, comes_in_the_order_of_times)
{
    run(sends_in_any_order);
    cr_expect_str_eq(noted(), "0 1 2 3 4 5 6 7 8 9 10 11 ");
}

static void sends_at_equal_times(void *arg)
{
    (void)arg;
    for (int i = 0; i < 8; i++) {
        weft_send_after(weft_ms(2), weft_self(), A, i + 10);
        weft_send_after(weft_ms(1), weft_self(), A, i);
    }
    weft_sleep(weft_ms(1));
    for (int i = 0; i < 8; i++)
        weft_send_after(weft_ms(1), weft_self(), A, i + 20); /* due when the tens are */
    weft_sleep(weft_ms(5));
    note_all();
}

Test(later, comes_in_the_order_of_the_calls_when_the_times_are_equal)
{
    run(sends_at_equal_times);
    cr_expect_str_eq(noted(), "0 1 2 3 4 5 6 7 10 11 12 13 14 15 16 17 20 21 22 23 24 25 26 27 ");
}

static void sends_at_the_end_of_time(void *arg)
{
    weft_ref far = weft_send_after(weft_ns(INT64_MAX - 1), weft_self(), A, 1);

    (void)arg;
    note("%s ", weft_receive_within(weft_sec(1000000), A) ? "early" : "not yet");
    note("%s ", answer(weft_cancel(far)));
}

Test(later, may_be_so_late_that_it_never_comes)
{
    run(sends_at_the_end_of_time);
    cr_expect_str_eq(noted(), "not yet 0 ");
}

static void answers(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(A);
    weft_reply(m, B, *weft_get(m, A) + 1);
}

static void sends_and_is_answered(void *arg)
{
    weft_pid p = weft_spawn(answers, NULL);

    (void)arg;
    weft_send_after(weft_ms(1), p, A, 1);
    weft_msg *m = weft_receive(B);
    note("%d %d", *weft_get(m, B), weft_same(weft_sender(m), p));
}

Test(later, comes_from_whom_has_called)
{
    run(sends_and_is_answered);
    cr_expect_str_eq(noted(), "2 1");
}

static void sets_in_a_handler(void *state, weft_msg *m)
{
    (void)state;
    if (weft_is(m, GO)) {
        weft_send_after(weft_ms(3), weft_self(), A, 4);
        weft_react(sets_in_a_handler, NULL, A);
    } else {
        note("%d %d", *weft_get(m, A), weft_same(weft_sender(m), weft_self()));
    }
}

static void reacts(void *arg)
{
    (void)arg;
    weft_send_after(weft_ms(3), weft_self(), GO);
    weft_react(sets_in_a_handler, NULL, GO);
}

Test(later, comes_to_handlers_and_from_them)
{
    run(reacts);
    cr_expect_str_eq(noted(), "4 1");
}

static void sets_and_ends(void *arg)
{
    (void)arg;
    weft_send_after(weft_ms(10), me, A, 1);
    weft_send_every(weft_ms(4), me, B, 2);
}

static void is_outlived(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_pid p = weft_spawn(sets_and_ends, NULL);
    until_gone(p);
    weft_msg *m = weft_receive(A);
    note("%d %d ", *weft_get(m, A), weft_same(weft_sender(m), p));
    note("%s ", answer(weft_reply(m, B, 3)));
    weft_sleep(weft_ms(7)); /* 17 by now: at 4, 8, 12, 16 */
    int n = 0;
    while (weft_receive_within(weft_ms(0), B))
        n++;
    note("%d ", n);
}

Test(later, comes_also_when_who_has_called_has_ended)
{
    run(is_outlived);
    cr_expect_str_eq(noted(), "1 1 gone 4 ");
}

/* ---- Cancelled ------------------------------------------------------------------------------- */

static void cancels(void *arg)
{
    weft_ref one = weft_send_after(weft_ms(10), weft_self(), A, 1);
    weft_ref two = weft_send_after(weft_ms(10), weft_self(), A, 2);
    weft_ref three = weft_send_after(weft_ms(10), weft_self(), A, 3);

    (void)arg;
    note("%s ", answer(weft_cancel(two)));
    weft_sleep(weft_ms(9));
    note("%s ", answer(weft_cancel(three)));
    weft_sleep(weft_ms(9));
    note_all();
    note("%s", answer(weft_cancel(one)));
}

Test(later, does_not_come_if_it_was_cancelled_before)
{
    run(cancels);
    cr_expect_str_eq(noted(), "0 0 1 gone");
}

static void cancels_too_late(void *arg)
{
    weft_ref r = weft_send_after(weft_ms(10), weft_self(), A, 1);

    (void)arg;
    weft_sleep(weft_ms(10));
    weft_sleep(weft_ms(1));
    note("%s ", answer(weft_cancel(r)));
    note_all(); /* it lay there unread, and stays */
    note("%s ", answer(weft_cancel(r)));
}

Test(later, cannot_be_cancelled_once_it_was_sent)
{
    run(cancels_too_late);
    cr_expect_str_eq(noted(), "gone 1 gone ");
}

static void cancels_twice(void *arg)
{
    weft_ref once = weft_send_after(weft_ms(10), weft_self(), A, 1);
    weft_ref often = weft_send_every(weft_ms(10), weft_self(), A, 1);

    (void)arg;
    note("%s %s ", answer(weft_cancel(once)), answer(weft_cancel(often)));
    note("%s %s ", answer(weft_cancel(once)), answer(weft_cancel(often)));
    weft_ref next = weft_send_after(weft_ms(10), weft_self(), A, 2);
    note("%s %s ", answer(weft_cancel(once)), answer(weft_cancel(often))); /* its place is used again */
    note("%d ", *weft_get(weft_receive(A), A));
    note("%s", answer(weft_cancel(next)));
}

Test(later, cannot_be_cancelled_twice)
{
    run(cancels_twice);
    cr_expect_str_eq(noted(), "0 0 gone gone gone gone 2 gone");
}

static void cancels_what_there_is_not(void *arg)
{
    (void)arg;
    note("%s", answer(weft_cancel((weft_ref){0})));
    note(" %s", answer(weft_cancel((weft_ref){1})));
    weft_ref r = weft_send_after(weft_ms(10), weft_self(), A, 1);
    note(" %s", answer(weft_cancel((weft_ref){0})));
    for (int bit = 0; bit < 64; bit++)
        if (weft_cancel((weft_ref){r.id ^ (uint64_t)1 << bit}) != WEFT_EGONE)
            note(" %d", bit);
    note(" %s", answer(weft_cancel((weft_ref){UINT64_MAX})));
    note(" %s", answer(weft_cancel(r)));
}

Test(later, that_was_never_made_cannot_be_cancelled)
{
    cr_expect_eq(weft_cancel((weft_ref){0}), WEFT_EGONE);
    run(cancels_what_there_is_not);
    cr_expect_str_eq(noted(), "gone gone gone gone 0");
}

static void cancels_for_another(void *arg)
{
    weft_msg *m = weft_receive(MARK);

    (void)arg;
    weft_reply(m, B, weft_cancel(weft_get(m, MARK)->timer));
}

static void is_cancelled_by_another(void *arg)
{
    weft_pid p = weft_spawn(cancels_for_another, NULL);

    (void)arg;
    weft_ref r = weft_send_after(weft_ms(10), weft_self(), A, 1);
    weft_send(p, MARK, .timer = r);
    note("%d ", *weft_get(weft_receive(B), B));
    note("%s ", weft_receive_within(weft_ms(20), A) ? "came" : "nothing");
    note("%s ", answer(weft_cancel(r)));
}

Test(later, may_be_cancelled_by_others)
{
    run(is_cancelled_by_another);
    cr_expect_str_eq(noted(), "0 nothing gone ");
}

/* ---- Again and again ------------------------------------------------------------------------- */

static void sends_every(void *arg)
{
    weft_ref r = weft_send_every(weft_ms(10), weft_self(), A, 5);

    (void)arg;
    note("%s ", weft_receive_within(weft_us(9999), A) ? "early" : "not yet");
    for (int i = 0; i < 3; i++) {
        weft_msg *m = weft_receive_within(weft_ms(10), A);
        note("%d%d ", *weft_get(m, A), weft_same(weft_sender(m), weft_self()));
        note("%s ", weft_receive_within(weft_us(9990), A) ? "early" : "not yet");
    }
    note("%s ", answer(weft_cancel(r)));
    note("%s ", weft_receive_within(weft_sec(1000), A) ? "again" : "no more");
    note("%s ", answer(weft_cancel(r)));
}

Test(later, may_come_every_so_often_until_it_is_cancelled)
{
    run(sends_every);
    cr_expect_str_eq(noted(), "not yet 51 not yet 51 not yet 51 not yet 0 no more gone ");
}

static void is_slow(void *arg)
{
    weft_ref r = weft_send_every(weft_ms(10), weft_self(), A, 5);

    (void)arg;
    weft_sleep(weft_ms(1005));
    note("%u ", count_all());
    note("%s ", answer(weft_cancel(r)));
    weft_sleep(weft_ms(1005));
    note("%u ", count_all());
}

Test(later, comes_every_so_often_also_when_nobody_reads)
{
    run(is_slow);
    cr_expect_str_eq(noted(), "100 0 0 ");
}

static void sends_very_often(void *arg)
{
    weft_ref r = weft_send_every(weft_ns(1), weft_self(), A, 1);

    (void)arg;
    note("%d ", r.id != 0);
    weft_sleep(weft_us(100));
    weft_cancel(r);
    unsigned n = count_all();
    if (n < 1 || n > 100)
        note("%u times ", n);
}

Test(later, comes_a_microsecond_apart_at_least)
{
    run(sends_very_often);
    cr_expect_str_eq(noted(), "1 ");
}

static void comes_hardly_again(void *arg)
{
    (void)arg;
    weft_send_every(weft_ns(INT64_MAX / 3 * 2), weft_self(), A, 1);
    note("%d ", *weft_get(weft_receive(A), A));
    note("%s", weft_receive_within(weft_sec(1000), A) ? "again" : "once");
}

Test(later, may_come_every_so_often_that_the_next_time_is_never)
{
    run(comes_hardly_again);
    cr_expect_str_eq(noted(), "1 once");
}

static void sends_at_no_period(void *arg)
{
    (void)arg;
    note("%d", weft_send_every(weft_ms(0), weft_self(), A, 1).id != 0);
    note("%d", weft_send_every(weft_ms(-1), weft_self(), A, 1).id != 0);
    note("%d", weft_send_every(weft_ns(INT64_MIN), weft_self(), A, 1).id != 0);
    note("%s", weft_receive_within(weft_sec(10), A) ? "came" : "nothing");
}

Test(later, needs_a_period_to_come_again)
{
    run(sends_at_no_period);
    cr_expect_str_eq(noted(), "000nothing");
}

static void takes_three(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++)
        weft_receive(A);
}

static void sends_every_to_a_mortal(void *arg)
{
    weft_pid    p = weft_spawn(takes_three, NULL);
    weft_ref    r = weft_send_every(weft_ms(1), p, A, 1);
    weft_counts before = counted();

    (void)arg;
    weft_sleep(weft_sec(1));
    note("%s ", counted().dead_letters - before.dead_letters <= 1 ? "at most one" : "many");
    note("%s ", answer(weft_cancel(r)));
    r = weft_send_every(weft_ms(1), p, A, 1); /* who has ended before */
    weft_sleep(weft_sec(1));
    note("%s ", counted().dead_letters - before.dead_letters <= 2 ? "at most one more" : "many");
    note("%s ", answer(weft_cancel(r)));
}

Test(later, stops_by_itself_when_the_receiver_has_ended)
{
    run(sends_every_to_a_mortal);
    cr_expect_str_eq(noted(), "at most one gone at most one more gone ");
}

static void many_to_a_mortal(void *arg)
{
    weft_pid    p = weft_spawn(takes_three, NULL);
    weft_counts before = counted();

    (void)arg;
    for (int i = 1; i <= 100; i++)
        weft_send_after(weft_ms(i), p, A, i);
    weft_sleep(weft_ms(200));
    note("%d", (int)(counted().dead_letters - before.dead_letters));
}

Test(later, is_a_dead_letter_if_the_receiver_has_ended)
{
    run(many_to_a_mortal);
    cr_expect_str_eq(noted(), "97");
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

WEFT_MESSAGE(
    LARGE, struct large { unsigned char at[1 << 20]; });

static bool is_whole(const struct large *body, unsigned char salt)
{
    size_t i = 0;

    while (i < sizeof body->at && body->at[i] == (unsigned char)(i * 37 + salt))
        i++;
    return i == sizeof body->at;
}

static struct large *fill(unsigned char salt)
{
    struct large *body = malloc(sizeof *body);

    for (size_t i = 0; i < sizeof body->at; i++)
        body->at[i] = (unsigned char)(i * 37 + salt);
    return body;
}

static void sends_much(void *arg)
{
    struct large *one = fill(1), *two = fill(2);

    (void)arg;
    weft_send_after_body(weft_ms(5), weft_self(), &weft_type_LARGE, one);
    weft_ref r = weft_send_every_body(weft_ms(2), weft_self(), &weft_type_LARGE, two);
    memset(one, 0, sizeof *one);
    free(one);
    free(two);
    for (int i = 0; i < 4; i++) {
        weft_msg *m = weft_receive(LARGE);
        note("%d ", is_whole(weft_get(m, LARGE), 1) ? 1 : is_whole(weft_get(m, LARGE), 2) ? 2 : 0);
        weft_edit(m, LARGE)->at[i]++; /* nobody else sees that */
    }
    weft_cancel(r);
    r = weft_send_after_body(weft_ms(5), weft_self(), &weft_type_LARGE, one = fill(3));
    free(one);
    note("%s", answer(weft_cancel(r)));
}

Test(later, brings_a_large_body_whole)
{
    run(sends_much);
    cr_expect_str_eq(noted(), "2 2 1 2 0");
}

static void owns_and_reads(void *arg)
{
    (void)arg;
    weft_send_after(weft_ms(1), weft_self(), THING, .memory = malloc(8));
    weft_msg *m = weft_receive(THING);
    note("%d ", destroyed);
    weft_drop(m);
    note("%d ", destroyed);
}

Test(later, hands_what_the_body_owns_to_the_receiver)
{
    run(owns_and_reads);
    cr_expect_str_eq(noted(), "0 1 ");
}

static void owns_and_cancels(void *arg)
{
    weft_ref r = weft_send_after(weft_ms(1), weft_self(), THING, .memory = malloc(8));

    (void)arg;
    int error = weft_cancel(r);
    note("%s %d ", answer(error), destroyed);
    error = weft_cancel(r);
    note("%s %d ", answer(error), destroyed);
    weft_sleep(weft_ms(10));
}

Test(later, destroys_what_the_body_owns_once_if_it_is_cancelled)
{
    run(owns_and_cancels);
    cr_expect_str_eq(noted(), "0 1 gone 1 ");
    cr_expect_eq(destroyed, 1);
}

static void owns_for_the_dead(void *arg)
{
    weft_pid p = weft_spawn(until_stopped, NULL);
    weft_ref r = weft_send_after(weft_ms(1), p, THING, .memory = malloc(8));

    (void)arg;
    weft_send(p, STOP);
    until_gone(p);
    note("%d ", destroyed);
    weft_sleep(weft_ms(10));
    int error = weft_cancel(r);
    note("%d %s ", destroyed, answer(error));
    weft_send_after(weft_ms(1), p, THING, .memory = malloc(8));
    weft_sleep(weft_ms(10));
    note("%d ", destroyed);
    weft_send_after(weft_ms(1), WEFT_NOBODY, THING, .memory = malloc(8));
    weft_sleep(weft_ms(10));
    note("%d ", destroyed);
}

Test(later, destroys_what_the_body_owns_once_if_the_receiver_is_gone)
{
    run(owns_for_the_dead);
    cr_expect_str_eq(noted(), "0 1 gone 2 3 ");
}

static void owns_at_the_end(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 10; i++)
        weft_send_after(weft_ms(i), weft_self(), THING, .memory = malloc(8));
    weft_sleep(weft_us(5500)); /* five are unread, five not sent */
}

Test(later, destroys_what_the_body_owns_once_if_the_system_ends)
{
    run(owns_at_the_end);
    cr_expect_eq(destroyed, 10);
}

static void owns_every(void *arg)
{
    weft_ref r = weft_send_every(weft_ms(1), weft_self(), THING, .memory = malloc(8));

    (void)arg;
    note("%d %d ", r.id != 0, destroyed);
    note("%s", weft_receive_within(weft_sec(1), THING) ? "came" : "nothing");
    r = weft_send_every(weft_ms(0), weft_self(), THING, .memory = malloc(8));
    note(" %d %d", r.id != 0, destroyed);
}

Test(later, does_not_come_again_if_its_body_owns_something)
{
    run(owns_every);
    cr_expect_str_eq(noted(), "0 1 nothing 0 2");
}

static void sends_nonsense(void *arg)
{
    static weft_type huge = {.name = "huge", .bytes = ((size_t)1 << 30) + 1};
    static weft_type nameless = {.bytes = 4};
    int              body = 1;

    (void)arg;
    note("%d", weft_send_after_body(weft_ms(1), weft_self(), NULL, NULL).id != 0);
    note("%d", weft_send_every_body(weft_ms(1), weft_self(), NULL, &body).id != 0);
    note("%d", weft_send_after_body(weft_ms(1), weft_self(), &weft_type_A, NULL).id != 0);
    note("%d", weft_send_after_body(weft_ms(1), weft_self(), &huge, &body).id != 0);
    note("%d", weft_send_after_body(weft_ms(1), weft_self(), &nameless, &body).id != 0);
    note("%s", weft_receive_within(weft_sec(1), WEFT_ANY) ? "came" : "nothing");
}

Test(later, needs_a_type_and_a_body)
{
    run(sends_nonsense);
    cr_expect_str_eq(noted(), "00000nothing");
}

/* While a body is destroyed no lock of Weft's may be held. */
static void destroy_by_timers(void *body)
{
    (void)body;
    weft_ref r = weft_send_after(weft_ms(1), me, A, 1);
    weft_ref s = weft_send_every(weft_ms(1), me, A, 2);
    note("%d%s ", r.id != 0, answer(weft_cancel(s)));
}
WEFT_MESSAGE_OWNING(CURIOUS, destroy_by_timers, int);

static void destroys_by_timers(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_cancel(weft_send_after(weft_ms(1), me, CURIOUS, 1));
    weft_send_after(weft_ms(1), WEFT_NOBODY, CURIOUS, 2);
    weft_send_every(weft_ms(1), me, CURIOUS, 3);
    weft_sleep(weft_ms(5));
    note_all();
}

Test(later, may_be_used_while_a_body_is_destroyed)
{
    run(destroys_by_timers);
    cr_expect_str_eq(noted(), "10 10 10 1 1 1 ");
}

static void says_so(void *arg)
{
    (void)arg;
    weft_send(me, A, 40);
}

/* Nobody runs when that is called. */
static void destroy_and_tell(void *body)
{
    int n = *(int *)body;

    weft_send(me, A, n);
    weft_send_urgent(me, A, n + 10);
    weft_send_many(&me, 1, A, n + 20);
    weft_pass(me, weft_make(A, n + 30));
    weft_spawn(says_so, NULL);
}
WEFT_MESSAGE_OWNING(TOLD, destroy_and_tell, int);

static void hears_of_the_dead(void *arg)
{
    int       sum = 0, nobodys = 0;
    weft_msg *m;

    (void)arg;
    me = weft_self();
    weft_send(me, A, 0); /* the type is known */
    weft_receive(A);
    weft_pid p = weft_spawn(until_stopped, NULL);
    weft_send(p, STOP);
    until_gone(p);
    for (int i = 1; i <= 3; i++)
        weft_send_after(weft_ms(i), p, TOLD, i);
    for (int i = 0; i < 15 && (m = weft_receive_within(weft_sec(1), A)); i++) {
        sum += *weft_get(m, A);
        nobodys += weft_is_nobody(weft_sender(m));
    }
    note("%d in all, %d of nobody", sum, nobodys);
}

Test(later, to_the_dead_destroys_a_body_that_may_send_and_spawn)
{
    run(hears_of_the_dead);
    cr_expect_str_eq(noted(), "324 in all, 12 of nobody");
    cr_expect_eq(counted().spawned, counted().ended);
}

static void destroy_and_wonder(void *body)
{
    (void)body;
    note("%s ", weft_is_nobody(weft_self()) ? "nobody" : "somebody");
}
WEFT_MESSAGE_OWNING(WONDER, destroy_and_wonder, int);

static void wonders_for_the_dead(void *arg)
{
    (void)arg;
    weft_pid p = weft_spawn(until_stopped, NULL);
    weft_send(p, STOP);
    until_gone(p);
    for (int i = 1; i <= 3; i++)
        weft_send_after(weft_ms(i), p, WONDER, i);
    weft_sleep(weft_ms(10));
}

Test(later, to_the_dead_destroys_a_body_that_asks_who_it_is)
{
    run(wonders_for_the_dead);
    cr_expect_str_eq(noted(), "nobody nobody nobody ");
    cr_expect_eq(counted().spawned, 2, "no worker became an actor");
    cr_expect_eq(counted().ended, 2);
}

/* ---- Threads, in real time ------------------------------------------------------------------- */

static void *sets_as_nobody(void *unused)
{
    weft_ref r = weft_send_after(weft_ms(1), me, A, 1);
    weft_ref s = weft_send_every(weft_ms(1), me, B, 2);
    weft_ref late = weft_send_after(weft_sec(3600), me, A, 3);

    note("%d%d ", r.id != 0, s.id != 0);
    note("%s ", answer(weft_cancel(late)));
    weft_send(me, MARK, .timer = s);
    return unused;
}

Test(later, may_be_set_by_a_thread_that_is_no_actor)
{
    pthread_t thread;

    me = weft_self();
    pthread_create(&thread, NULL, sets_as_nobody, NULL);
    weft_msg *m = weft_receive(A);
    cr_expect_eq(*weft_get(m, A), 1);
    cr_expect(weft_is_nobody(weft_sender(m)));
    for (int i = 0; i < 3; i++) {
        m = weft_receive(B);
        cr_expect_eq(*weft_get(m, B), 2);
        cr_expect(weft_is_nobody(weft_sender(m)));
    }
    weft_ref every = weft_get(weft_receive(MARK), MARK)->timer;
    pthread_join(thread, NULL);
    cr_expect_eq(weft_cancel(every), 0);
    cr_expect_eq(weft_cancel(every), WEFT_EGONE);
    cr_expect_str_eq(noted(), "11 0 ");
    cr_expect_eq(counted().spawned, 1, "only this one");
}

Test(later, comes_from_the_thread_that_is_an_actor)
{
    me = weft_self();
    weft_send_after(weft_us(10), me, A, 1);
    weft_msg *m = weft_receive(A);
    cr_expect(weft_same(weft_sender(m), me));
    weft_ref r = weft_send_after(weft_sec(3600), me, A, 2);
    cr_expect_eq(weft_cancel(r), 0);
    cr_expect_eq(weft_cancel(r), WEFT_EGONE);
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void is_not_early(void *arg)
{
    int early = 0;

    (void)arg;
    for (int i = 0; i < 200; i++) {
        int64_t wait = i * 7919 % 200000, begun = now_ns();
        weft_send_after(weft_ns(wait), weft_self(), A, i);
        weft_receive(A);
        early += now_ns() - begun < wait;
    }
    note("%d", early);
}

Test(later, is_never_sooner_by_the_real_clock)
{
    cr_assert_eq(weft_run(is_not_early, NULL), 0);
    cr_expect_str_eq(noted(), "0");
}

static atomic_int got;

static void counts_what_comes(void *arg)
{
    (void)arg;
    for (;;) {
        weft_receive(A);
        got++;
    }
}

/* It never rests, so it is the other worker, asleep, that must hear of the timer. */
static void sets_and_is_busy(void *arg)
{
    weft_pid to = *(weft_pid *)arg;

    for (;;) {
        weft_msg *m = weft_receive(B);
        int       i = *weft_get(m, B);
        weft_send_after(weft_us(100), to, A, i);
        while (got < i)
            ;
        weft_reply(m, DONE);
    }
}

Test(later, set_by_who_is_busy_is_sent_by_another_worker)
{
    setenv("WEFT_WORKERS", "2", 1);
    weft_pid reader = weft_spawn(counts_what_comes, NULL);
    weft_pid busy = weft_spawn(sets_and_is_busy, &reader, .copy_bytes = sizeof reader);
    for (int i = 1; i <= 20; i++) {
        usleep((useconds_t)i * 1000); /* that all sleep nothing tells; if they do not, it is no matter */
        weft_send(busy, B, i);
        weft_receive(DONE);
    }
    cr_expect_eq(got, 20);
}

/* ---- Many ------------------------------------------------------------------------------------ */

enum { MANY = 100000 };

static weft_ref timer[MANY];
static char     came[MANY];

/* Due at a time of its own each, in an order that looks like none. */
static int due(int i) { return (int)((uint64_t)i * 7919 % MANY); }

static void sets_many(void *arg)
{
    int cancelled = 0, missing = 0, twice = 0, unwanted = 0, disorder = 0, last = -1;

    (void)arg;
    for (int i = 0; i < MANY; i++)
        timer[i] = weft_send_after(weft_us(due(i) + 1), weft_self(), A, i);
    for (int i = 1; i < MANY; i += 2)
        cancelled += weft_cancel(timer[i]) == 0;
    for (weft_msg *m; (m = weft_receive_within(weft_sec(1), A));) {
        int i = *weft_get(m, A);
        disorder += due(i) <= last;
        last = due(i);
        twice += came[i]++;
    }
    for (int i = 0; i < MANY; i++) {
        missing += i % 2 == 0 && !came[i];
        unwanted += i % 2 && came[i];
        disorder += weft_cancel(timer[i]) != WEFT_EGONE;
    }
    note("%d cancelled, %d missing, %d twice, %d unwanted, %d in disorder", cancelled, missing, twice,
         unwanted, disorder);
}

Test(later, may_be_a_hundred_thousand_of_which_half_are_cancelled)
{
    run(sets_many);
    cr_expect_str_eq(noted(), "50000 cancelled, 0 missing, 0 twice, 0 unwanted, 0 in disorder");
}

static void sets_and_cancels_without_end(void *arg)
{
    int wrong = 0;

    (void)arg;
    for (int i = 0; i < MANY; i++)
        wrong += weft_cancel(weft_send_after(weft_sec(i + 1), weft_self(), A, i)) != 0;
    note("%d", wrong);
}

Test(later, may_be_set_and_cancelled_without_end)
{
    run(sets_and_cancels_without_end);
    cr_expect_str_eq(noted(), "0");
}

/* ---- The end of the system ------------------------------------------------------------------- */

static weft_ref old[3];

static void leaves_timers(void *arg)
{
    (void)arg;
    old[0] = weft_send_after(weft_ms(1), me, A, 1);
    old[1] = weft_send_every(weft_ms(1), me, A, 2);
    old[2] = weft_send_after(weft_ms(1), weft_self(), A, 3);
}

static void finds_no_timers(void *arg)
{
    weft_ref mine = weft_send_after(weft_ms(1), weft_self(), B, 1);

    (void)arg;
    for (int i = 0; i < 3; i++)
        note("%s%d ", answer(weft_cancel(old[i])), mine.id == old[i].id);
    weft_sleep(weft_sec(3600));
    note("%s%s", weft_receive_within(weft_ms(0), A) ? "came" : "nothing",
         weft_receive_within(weft_ms(0), B) ? " but its own" : "");
}

Test(later, of_a_system_that_has_ended_does_nothing_in_the_next)
{
    me = weft_self();
    run(leaves_timers);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(weft_cancel(old[i]), WEFT_EGONE);
    run(finds_no_timers);
    cr_expect_str_eq(noted(), "gone0 gone0 gone0 nothing but its own");
    cr_expect_null(weft_receive_within(weft_ms(0), A), "this thread got none either");
}

static void ends_at_once(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++) {
        weft_send_after(weft_sec(3600), weft_self(), A, i);
        weft_send_every(weft_sec(3600), weft_self(), A, i);
    }
}

Test(later, does_not_keep_a_system_from_its_end)
{
    cr_assert_eq(weft_run(ends_at_once, NULL), 0);
    cr_assert_eq(weft_run(ends_at_once, NULL), 0);
}

enum { RING = 4 };
static weft_ref   ring[RING];
static atomic_int of_ring_cancelled, of_ring_destroyed;

static void cancel_ring(void)
{
    for (int i = 0; i < RING; i++)
        of_ring_cancelled += weft_cancel(ring[i]) == 0;
}

/* The second of them cancels all: also itself, and the first, which are no more. */
static void destroy_and_cancel(void *body)
{
    (void)body;
    if (++of_ring_destroyed == 2)
        cancel_ring();
}
WEFT_MESSAGE_OWNING(
    CANCELS, destroy_and_cancel, struct cancels { char more[100]; });

static void leaves_what_cancels(void *arg)
{
    (void)arg;
    for (int i = 0; i < RING; i++)
        ring[i] = weft_send_after(weft_sec(1000), weft_self(), CANCELS, .more = "");
}

Test(later, may_be_cancelled_by_what_is_destroyed_at_the_end)
{
    run(leaves_what_cancels);
    cr_expect_eq(of_ring_cancelled, RING - 2, "%d", (int)of_ring_cancelled);
    cr_expect_eq(of_ring_destroyed, RING);
}

static sem_t may_cancel, has_cancelled;

/* The second of them lets the thread cancel all, and waits until it has. */
static void destroy_and_let_cancel(void *body)
{
    (void)body;
    if (++of_ring_destroyed == 2) {
        sem_post(&may_cancel);
        sem_wait(&has_cancelled);
    }
}
WEFT_MESSAGE_OWNING(
    LETS_CANCEL, destroy_and_let_cancel, struct lets_cancel { char more[100]; });

static void *cancels_at_the_end(void *unused)
{
    sem_wait(&may_cancel);
    cancel_ring();
    sem_post(&has_cancelled);
    return unused;
}

static void leaves_what_is_cancelled(void *arg)
{
    (void)arg;
    for (int i = 0; i < RING; i++)
        ring[i] = weft_send_after(weft_sec(1000), weft_self(), LETS_CANCEL, .more = "");
}

Test(later, may_be_cancelled_by_a_thread_while_the_system_ends)
{
    pthread_t thread;

    sem_init(&may_cancel, 0, 0);
    sem_init(&has_cancelled, 0, 0);
    pthread_create(&thread, NULL, cancels_at_the_end, NULL);
    run(leaves_what_is_cancelled);
    pthread_join(thread, NULL);
    cr_expect_eq(of_ring_cancelled, RING - 2, "%d", (int)of_ring_cancelled);
    cr_expect_eq(of_ring_destroyed, RING);
    for (int i = 0; i < RING; i++)
        cr_expect_eq(weft_cancel(ring[i]), WEFT_EGONE);
}

/* ---- Bad luck -------------------------------------------------------------------------------- */

static void sets_without_memory(void *arg)
{
    int failed = 0, made_by_malloc = 0;

    (void)arg;
    for (int i = 0; i < 200; i++) { /* so many that what holds them must grow */
        weft_ref r = {0};
        for (long which = 1; !r.id; which++) {
            weft__memory_fail(which);
            r = i % 2 ? weft_send_after(weft_ms(1), weft_self(), THING, .memory = malloc(8))
                      : weft_send_every(weft_ms(1), weft_self(), A, i);
            long made = weft__memory_fail(0);
            made_by_malloc += i % 2;
            if (!r.id && made < which)
                note("for no reason ");
            failed += !r.id;
        }
    }
    if (destroyed != made_by_malloc - 100)
        note("%d destroyed of %d ", destroyed, made_by_malloc);
    note("%s", failed > 100 ? "many failed" : "few failed");
}

Test(later, for_which_there_is_no_memory_gives_none_and_destroys)
{
    run(sets_without_memory);
    cr_expect_str_eq(noted(), "many failed");
    cr_expect_geq(destroyed, 200, "and the rest when the system ended");
}

static void does_nothing(void *arg) { (void)arg; }

static int  spawned_by_destroying;
static void destroy_and_spawn(void *body)
{
    (void)body;
    spawned_by_destroying += !weft_is_nobody(weft_spawn(does_nothing, NULL));
}
WEFT_MESSAGE_OWNING(
    SPAWNS, destroy_and_spawn, struct spawns { char more[100]; });

/* No lock is held when what could not be sent is destroyed. */
Test(later, for_which_a_thread_has_no_memory_destroys_a_body_that_may_spawn)
{
    int      failed = 0;
    weft_ref r = {0};

    me = weft_self();
    weft_drop(weft_make(SPAWNS, .more = "")); /* the type is known, and a system runs */
    for (long which = 1; !r.id; which++) {
        weft__memory_fail(which);
        r = weft_send_after(weft_sec(3600), me, SPAWNS, .more = "");
        weft__memory_fail(0);
        failed += !r.id;
    }
    cr_expect_geq(failed, 2, "%d: the body, and the timer", failed);
    cr_expect_eq(spawned_by_destroying, failed + 1);
    cr_expect_eq(weft_cancel(r), 0);
}
