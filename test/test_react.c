/* test_react.c - what part 6 of weft.h promises: waiting without a stack.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(react, .fini = nothing_leaks, .timeout = 60);

WEFT_MESSAGE(A, int);
WEFT_MESSAGE(B, int);
WEFT_SIGNAL(GO);
WEFT_SIGNAL(STOP);
WEFT_SIGNAL(DONE);

static weft_pid me;

static void run(weft_fn *first) { cr_assert_eq(weft_run(first, NULL), 0); }
static void run_in_virtual_time(weft_fn *first) { cr_assert_eq(weft_run(first, NULL, .seed = 11), 0); }

/* ---- Handlers ------------------------------------------------------------------------------------------ */

static void notes_it(void *state, weft_msg *m)
{
    note("%s%d %s", weft_name(m), *weft_get(m, A), (const char *)state);
}

static void reacts_once(void *arg)
{
    static char state[] = "state";

    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), A, 2);
    weft_react(notes_it, state, A);
    note("arranged ");
}

Test(react, calls_the_handler_with_state_and_message_when_the_function_has_returned)
{
    run(reacts_once);
    cr_expect_str_eq(noted(), "arranged A1 state");
}

Test(react, once_ends_the_actor_when_nothing_is_arranged_again)
{
    weft_counts before = counted();
    run(reacts_once);
    cr_expect_eq(counted().dead_letters - before.dead_letters, 1, "the second message");
    cr_expect_eq(counted().ended - before.ended, 1);
}

static void counts_down(void *state, weft_msg *m)
{
    int *left = state;

    note("%d ", *weft_get(m, A));
    if (--*left)
        weft_react(counts_down, left, A);
}

static void reacts_again(void *arg)
{
    int *left = weft_alloc(sizeof *left);

    (void)arg;
    *left = 3;
    for (int i = 1; i <= 4; i++)
        weft_send(weft_self(), A, i);
    weft_react(counts_down, left, A);
}

Test(react, may_be_arranged_again_by_the_handler)
{
    run(reacts_again);
    cr_expect_str_eq(noted(), "1 2 3 ");
}

static void never_runs(void *state, weft_msg *m)
{
    (void)state, (void)m;
    note("never ");
}

static void runs(void *state, weft_msg *m)
{
    (void)state;
    note("%s ", weft_name(m));
}

static void arranges_twice(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), B, 2);
    weft_react_within(weft_ms(1), never_runs, NULL, A, GO);
    weft_react(runs, NULL, B);
}

Test(react, counts_as_last_arranged)
{
    run_in_virtual_time(arranges_twice);
    cr_expect_str_eq(noted(), "B ");
}

static void sends_later(void *arg)
{
    (void)arg;
    weft_sleep(weft_ms(10));
    weft_send(me, B, 1);
}

static void takes_its_time_back(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(sends_later, NULL);
    weft_react_within(weft_ms(1), never_runs, NULL, B);
    weft_react(runs, NULL, B);
}

Test(react, counts_as_last_arranged_without_a_time_too)
{
    run_in_virtual_time(takes_its_time_back);
    cr_expect_str_eq(noted(), "B ");
}

static void arranges_a_list_then_one(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), STOP);
    weft_react(never_runs, NULL, A);
    weft_react(runs, NULL, GO, STOP);
}

Test(react, counts_as_last_arranged_with_a_list_too)
{
    run(arranges_a_list_then_one);
    cr_expect_str_eq(noted(), "STOP ");
}

static void waits_after_arranging(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), B, 2);
    weft_send(weft_self(), GO);
    weft_send(weft_self(), STOP);
    weft_react(runs, NULL, B, STOP);
    note("%s ", weft_name(weft_receive(GO)));
    note("%s ", weft_name(weft_receive_within(weft_ms(0), STOP, A)));
    weft_sleep(weft_ms(5));
    weft_yield();
}

Test(react, stays_arranged_over_a_wait)
{
    run_in_virtual_time(waits_after_arranging);
    cr_expect_str_eq(noted(), "GO A B ");
}

static void sums(void *state, weft_msg *m)
{
    int *sum = state;

    if (weft_is(m, STOP)) {
        note("%d", *sum);
        return;
    }
    *sum += weft_is(m, A) ? *weft_get(m, A) : *weft_get(m, B);
    weft_react(sums, sum, A, B, STOP);
}

static void state_from_alloc(void *arg)
{
    (void)arg;
    weft_react(sums, weft_alloc(sizeof(int)), A, B, STOP);
    for (int i = 1; i <= 4; i++)
        i % 2 ? weft_send(weft_self(), A, i) : weft_send(weft_self(), B, i * 10);
    weft_send(weft_self(), STOP);
}

Test(react, keeps_its_state_in_memory_of_the_actor)
{
    run(state_from_alloc);
    cr_expect_str_eq(noted(), "64");
}

static void skips(void *state, weft_msg *m)
{
    (void)state;
    note("%s ", weft_name(m));
    for (int i = 0; i < 3; i++)
        note("%s ", weft_name(weft_receive(WEFT_ANY)));
}

static void reacts_to_the_last(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), B, 2);
    weft_send(weft_self(), STOP);
    weft_send(weft_self(), GO);
    weft_react(skips, NULL, GO);
}

Test(react, leaves_what_it_skips_in_order)
{
    run(reacts_to_the_last);
    cr_expect_str_eq(noted(), "GO A B STOP ");
}

WEFT_SIGNAL(T0);
WEFT_SIGNAL(T1);
WEFT_SIGNAL(T2);
WEFT_SIGNAL(T3);
WEFT_SIGNAL(T4);
WEFT_SIGNAL(T5);
WEFT_SIGNAL(T6);
WEFT_SIGNAL(T7);
WEFT_SIGNAL(T8);
WEFT_SIGNAL(T9);
WEFT_SIGNAL(T10);
WEFT_SIGNAL(T11);
WEFT_SIGNAL(T12);
WEFT_SIGNAL(T13);
WEFT_SIGNAL(T14);
WEFT_SIGNAL(T15);

static void one_of_sixteen(void *state, weft_msg *m)
{
    int *left = state;

    note("%s ", weft_name(m));
    switch (weft_tag(m)) {
    case T15:
        note("last ");
        break;
    case T0:
        note("first ");
        break;
    }
    if (--*left)
        weft_react(one_of_sixteen, left, T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14,
                   T15);
}

static void reacts_to_sixteen(void *arg)
{
    int *left = weft_alloc(sizeof *left);

    (void)arg;
    *left = 3;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), T15);
    weft_send(weft_self(), T7);
    weft_send(weft_self(), T0);
    weft_react(one_of_sixteen, left, T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15);
}

Test(react, lists_up_to_sixteen_types)
{
    run(reacts_to_sixteen);
    cr_expect_str_eq(noted(), "T15 last T7 T0 first ");
}

static void keeps_the_message(void *state, weft_msg *m)
{
    weft_msg **kept = state;

    if (weft_is(m, A)) {
        *kept = weft_keep(m);
        weft_react(keeps_the_message, kept, A, GO);
        return;
    }
    note("%d", *weft_get(*kept, A));
    weft_drop(*kept);
}

static void reacts_and_keeps(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 7);
    weft_send(weft_self(), GO);
    weft_react(keeps_the_message, weft_alloc(sizeof(weft_msg *)), A, GO);
}

Test(react, may_keep_its_message)
{
    run(reacts_and_keeps);
    cr_expect_str_eq(noted(), "7");
}

static void replies(void *state, weft_msg *m)
{
    weft_reply(m, B, *weft_get(m, A) + 1);
    weft_react(replies, state, A);
}

static void echo(void *arg)
{
    (void)arg;
    weft_react(replies, NULL, A);
}

static void asks(void *arg)
{
    (void)arg;
    weft_pid e = weft_spawn(echo, NULL);
    for (int i = 0; i < 3; i++) {
        weft_send(e, A, i);
        weft_msg *m = weft_receive(B);
        note("%d%s ", *weft_get(m, B), weft_same(weft_sender(m), e) ? "" : "!");
    }
}

Test(react, answers_as_the_actor_that_it_is)
{
    run(asks);
    cr_expect_str_eq(noted(), "1 2 3 ");
}

static void ends_inside(void *state, weft_msg *m)
{
    (void)state, (void)m;
    weft_react(never_runs, NULL, A);
    weft_end(5);
}

static void ends_in_the_handler(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), A, 2);
    weft_react(ends_inside, NULL, A);
}

Test(react, may_end_the_actor_from_inside_the_handler)
{
    cr_expect_eq(weft_run(ends_in_the_handler, NULL), 5);
    cr_expect_str_eq(noted(), "");
}

/* ---- Time ----------------------------------------------------------------------------------------------- */

static void on_time(void *state, weft_msg *m)
{
    (void)state;
    note("%s %s", m ? "message" : "null", weft_name(m));
}

static void reacts_within(void *arg)
{
    (void)arg;
    weft_send(weft_self(), B, 1);
    weft_react_within(weft_sec(3600), on_time, NULL, A, GO);
}

Test(react, calls_the_handler_with_null_when_the_time_is_over)
{
    run_in_virtual_time(reacts_within);
    cr_expect_str_eq(noted(), "null WEFT_TIMEOUT");
}

static void sends_after(void *ms)
{
    weft_sleep(weft_ms((intptr_t)ms));
    weft_send(me, A, (int)(intptr_t)ms);
}

/* Rounds: a message in time, with a timer left; then no time; then a time that is over. */
static void round_by_round(void *state, weft_msg *m)
{
    int *round = state;

    note("%s%d ", weft_name(m), m ? *weft_get(m, A) : 0);
    switch (++*round) {
    case 1:
        weft_spawn(sends_after, (void *)50);
        weft_react(round_by_round, round, A);
        break;
    case 2:
        weft_spawn(sends_after, (void *)30);
        weft_react_within(weft_ms(20), round_by_round, round, A);
        break;
    case 3:
        weft_react_within(weft_ms(20), round_by_round, round, A);
        break;
    }
}

static void reacts_in_rounds(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(sends_after, (void *)10);
    weft_react_within(weft_ms(20), round_by_round, weft_alloc(sizeof(int)), A);
}

Test(react, is_not_disturbed_by_the_timer_of_an_earlier_one)
{
    run_in_virtual_time(reacts_in_rounds);
    cr_expect_str_eq(noted(), "A10 A50 WEFT_TIMEOUT0 A30 ");
}

static void polls(void *state, weft_msg *m)
{
    int *round = state;

    note("%s ", weft_name(m));
    if (++*round == 1)
        weft_react_within(weft_ms(0), polls, round, A);
}

static void reacts_at_once(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_react_within(weft_ms(0), polls, weft_alloc(sizeof(int)), A);
}

Test(react, with_time_0_takes_what_is_there)
{
    run_in_virtual_time(reacts_at_once);
    cr_expect_str_eq(noted(), "A WEFT_TIMEOUT ");
}

static void starts_a_timer_and_waits(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_react_within(weft_ms(20), on_time, NULL, A);
    weft_spawn(sends_after, (void *)110);
    weft_sleep(weft_ms(100)); /* the time counts from when the function returns */
}

Test(react, counts_its_time_from_when_it_takes_effect)
{
    run_in_virtual_time(starts_a_timer_and_waits);
    cr_expect_str_eq(noted(), "message A");
}

/* ---- Stacks ---------------------------------------------------------------------------------------------- */

static void receives_in_the_middle(void *state, weft_msg *m)
{
    int  local = *weft_get(m, A);
    int *sum = state;

    *sum += local + *weft_get(weft_receive(B), B);
    note("%d %d ", local, *sum);
    if (local < 3)
        weft_react(receives_in_the_middle, sum, A);
}

static void converses(void *arg)
{
    (void)arg;
    weft_react(receives_in_the_middle, weft_alloc(sizeof(int)), A);
}

static void talks_to_one(void *arg)
{
    (void)arg;
    weft_pid c = weft_spawn(converses, NULL);
    for (int i = 1; i <= 3; i++) {
        weft_send(c, A, i);
        weft_yield();
        weft_send(c, B, i * 10);
    }
    while (weft_send(c, GO) == 0)
        weft_yield();
}

Test(react, lets_the_handler_receive_in_the_middle)
{
    run(talks_to_one);
    cr_expect_str_eq(noted(), "1 11 2 33 3 66 ");
}

enum { MANY = 2000 };

static atomic_int ready;

static void is_done(void *state, weft_msg *m) { (void)state, (void)m; }

static void blocks_then_reacts(void *arg)
{
    (void)arg;
    weft_receive(A);
    weft_react(is_done, NULL, GO);
    ready++;
}

static void one_after_another(void *arg)
{
    (void)arg;
    for (int i = 0; i < MANY; i++) {
        weft_pid p = weft_spawn(blocks_then_reacts, NULL);
        while (ready < i) /* the one before reacts: its stack may be used again */
            weft_yield();
        weft_send(p, A, 1);
    }
    while (ready < MANY)
        weft_yield();
    note("%d react", ready);
}

Test(react, gives_the_stack_back_of_a_fiber_that_waited)
{
    uint64_t before = counted().stacks;
    run(one_after_another);
    cr_expect_str_eq(noted(), "2000 react");
    cr_expect_lt(counted().stacks - before, MANY / 4, "%d new stacks", (int)(counted().stacks - before));
}

enum { CROWD = 100000 };

static atomic_int reacted;

static void counts_itself(void *state, weft_msg *m)
{
    reacted += weft_is(m, GO) && *(int *)state == 1;
    weft_send(me, DONE);
}

static void member(void *arg)
{
    int *state = weft_alloc(sizeof *state);

    (void)arg;
    *state = 1;
    weft_react(counts_itself, state, GO);
}

static void a_crowd(void *arg)
{
    weft_pid *who = malloc(CROWD * sizeof *who);

    (void)arg;
    me = weft_self();
    for (int i = 0; i < CROWD; i++)
        who[i] = weft_spawn(member, NULL);
    for (int i = 0; i < CROWD; i++)
        weft_send(who[i], GO);
    for (int i = 0; i < CROWD; i++)
        weft_receive(DONE);
    free(who);
}

Test(react, is_what_a_hundred_thousand_actors_do_with_few_stacks)
{
    uint64_t before = counted().stacks;
    run(a_crowd);
    cr_expect_eq(reacted, CROWD);
    cr_expect_lt(counted().stacks - before, 1000, "%d new stacks", (int)(counted().stacks - before));
}

static size_t room(void)
{
    void *low, *high;

    return weft_stack_bounds(&low, &high) ? (size_t)((char *)high - (char *)low) : 0;
}

static unsigned __attribute__((noinline)) dig(unsigned depth)
{
    volatile char page[1024];

    page[0] = (char)depth;
    return depth ? dig(depth - 1) + (unsigned char)page[0] % 2 : 0;
}

static void digs(void *state, weft_msg *m)
{
    (void)state;
    note("%s %s ", weft_name(m), room() >= 1 << 20 ? "roomy" : "cramped");
    dig(800);
    if (weft_is(m, A))
        weft_react(digs, NULL, B);
}

static void wants_room(void *arg)
{
    (void)arg;
    note("%s ", room() >= 1 << 20 ? "roomy" : "cramped");
    weft_react(digs, NULL, A);
}

static void waits(void *arg)
{
    (void)arg;
    weft_receive(GO);
}

/* One that waits keeps the stack that lies at hand: no large one is left there by chance. */
static void others_wait(void)
{
    for (int i = 0; i < 4; i++) {
        weft_spawn(waits, NULL);
        weft_yield();
        weft_yield();
    }
}

static void one_with_room(void *arg)
{
    (void)arg;
    weft_pid p = weft_spawn(wants_room, NULL, .stack_bytes = 1 << 20);
    weft_yield();
    others_wait();
    weft_send(p, A, 1);
    weft_yield();
    others_wait();
    weft_send(p, B, 1);
    while (weft_send(p, GO) == 0)
        weft_yield();
}

Test(react, has_the_stack_that_the_actor_asked_for)
{
    run(one_with_room);
    cr_expect_str_eq(noted(), "roomy A roomy B roomy ");
}

/* ---- Turns ------------------------------------------------------------------------------------------------ */

static atomic_bool in_handler;
static atomic_int  intrusions;

static void watches(void *arg)
{
    (void)arg;
    for (weft_msg *m; m = weft_receive(A, STOP), weft_is(m, A);)
        intrusions += in_handler;
    weft_send(me, DONE);
}

static void sends_many(void *state, weft_msg *m)
{
    (void)m;
    in_handler = true;
    for (int i = 0; i < 20000; i++)
        weft_send(*(weft_pid *)state, A, i);
    in_handler = false;
    weft_send(*(weft_pid *)state, STOP);
    weft_react(is_done, NULL, DONE);
}

static void floods(void *arg)
{
    weft_pid *watcher = weft_alloc(sizeof *watcher);

    (void)arg;
    me = weft_self();
    *watcher = weft_spawn(watches, NULL);
    weft_send(me, GO);
    weft_react(sends_many, watcher, GO);
}

Test(react, never_gives_way_in_a_send_of_the_handler)
{
    cr_assert_eq(weft_run(floods, NULL, .workers = 1), 0);
    cr_expect_eq(intrusions, 0);
}
