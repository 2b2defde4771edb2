/* test_behaviour.c - what part 8 of weft.h promises, and the sequences of part 7: what an actor
 * does when its code has returned.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <weft/case.h>

#include "base/memory.h"
#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(behaviour, .fini = nothing_leaks, .timeout = 60);
TestSuite(sequence, .fini = nothing_leaks, .timeout = 60);

WEFT_MESSAGE(A, int);
WEFT_MESSAGE(B, int);
WEFT_MESSAGE(C, int);
WEFT_SIGNAL(GO);
WEFT_SIGNAL(STOP);
WEFT_SIGNAL(DONE);

static weft_pid me;

static void run(weft_fn *first) { cr_assert_eq(weft_run(first, NULL), 0); }
static void run_in_virtual_time(weft_fn *first) { cr_assert_eq(weft_run(first, NULL, .seed = 5), 0); }

/* Runs it; one line must have been said, with both texts in it. */
static int reason_of(weft_fn *first, const char *one, const char *other)
{
    listen_to_stderr();
    int         reason = weft_run(first, NULL, .workers = 1);
    const char *said = what_was_said();

    cr_expect_eq(lines(said), 1, "%s", said);
    cr_expect(strncmp(said, "weft: ", 6) == 0 && strstr(said, one) && strstr(said, other), "%s", said);
    cr_expect_str_eq(noted(), "");
    cr_expect_eq(counted().spawned, counted().ended);
    return reason;
}

static bool aborts(void (*run_it)(void))
{
    listen_to_stderr();
    int         status = in_child(run_it);
    const char *said = what_was_said();

    cr_expect_eq(lines(said), 1, "%s", said);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* ---- Handlers and sets that many tests use --------------------------------------------------- */

static int value(const weft_msg *m)
{
    return weft_is(m, A) ? *weft_get(m, A) : weft_is(m, B) ? *weft_get(m, B) : *weft_get(m, C);
}

/* The state is a text, or NULL. */
static void notes(void *state, weft_msg *m)
{
    note("%s%s%d ", state ? (const char *)state : "", weft_name(m), value(m));
}

static void leaves(void *state, weft_msg *m)
{
    (void)state;
    note("%s:%d ", weft_name(m), weft_unbecome());
}

static void never(void *state, weft_msg *m)
{
    (void)state, (void)m;
    note("never ");
}

static const weft_case  on_a[] = {WEFT_ON(A, notes), WEFT_ON(STOP, leaves)};
static const weft_cases only_a = WEFT_CASES(on_a, NULL);
static const weft_case  on_b[] = {WEFT_ON(B, notes), WEFT_ON(STOP, leaves)};
static const weft_cases only_b = WEFT_CASES(on_b, NULL);
static const weft_case  on_c[] = {WEFT_ON(C, notes), WEFT_ON(STOP, leaves)};
static const weft_cases only_c = WEFT_CASES(on_c, NULL);

static void abc(int n)
{
    weft_send(weft_self(), A, n);
    weft_send(weft_self(), B, n);
    weft_send(weft_self(), C, n);
}

/* ---- Behaviours ------------------------------------------------------------------------------ */

static void serves(void *arg)
{
    static char state[] = "s";

    (void)arg;
    for (int i = 1; i <= 3; i++)
        weft_send(weft_self(), A, i);
    weft_send(weft_self(), STOP);
    weft_become(&only_a, state);
    note("returns ");
}

Test(behaviour, serves_one_message_after_another_when_the_function_has_returned)
{
    run(serves);
    cr_expect_str_eq(noted(), "returns sA1 sA2 sA3 STOP:0 ");
}

Test(behaviour, ends_the_actor_normally_when_the_last_is_taken_away)
{
    weft_counts before = counted();
    cr_expect_eq(weft_run(serves, NULL), 0);
    cr_expect_eq(counted().ended - before.ended, 1);
    cr_expect_eq(counted().dead_letters, before.dead_letters);
}

static void unbecomes_nothing(void *arg)
{
    (void)arg;
    note("%d ", weft_unbecome());
    weft_become(&only_a, NULL);
    note("%d ", weft_unbecome());
    note("%d ", weft_unbecome());
    weft_send(weft_self(), A, 1);
}

Test(behaviour, that_is_not_there_cannot_be_taken_away)
{
    char want[40];

    run(unbecomes_nothing);
    snprintf(want, sizeof want, "%d 0 %d ", WEFT_EINVALID, WEFT_EINVALID);
    cr_expect_str_eq(noted(), want);
}

static void replaces(void *arg)
{
    (void)arg;
    abc(1);
    weft_send(weft_self(), STOP);
    weft_become(&only_a, NULL);
    weft_become(&only_b, NULL);
    weft_become(&only_c, NULL);
}

Test(behaviour, is_discarded_by_the_next_become)
{
    run(replaces);
    cr_expect_str_eq(noted(), "C1 STOP:0 ", "and there is none below");
}

static void piles_up(void *arg)
{
    (void)arg;
    weft_become_keep(&only_a, NULL);
    weft_become_keep(&only_b, NULL);
    weft_become_keep(&only_c, NULL);
    for (int i = 1; i <= 3; i++) {
        abc(i);
        weft_send(weft_self(), STOP);
    }
}

Test(behaviour, is_kept_below_by_become_keep)
{
    run(piles_up);
    cr_expect_str_eq(noted(), "C1 STOP:0 B1 B2 STOP:0 A1 A2 A3 STOP:0 ");
}

static void replaces_the_top(void *arg)
{
    (void)arg;
    weft_become_keep(&only_a, NULL);
    weft_become_keep(&only_b, NULL);
    weft_become(&only_c, NULL);
    abc(1);
    weft_send(weft_self(), STOP);
    weft_send(weft_self(), STOP);
}

Test(behaviour, below_the_top_stays_when_the_top_is_replaced)
{
    run(replaces_the_top);
    cr_expect_str_eq(noted(), "C1 STOP:0 A1 STOP:0 ");
}

static void uses_one_set_twice(void *arg)
{
    static char low[] = "low-", high[] = "high-";

    (void)arg;
    weft_become(&only_a, low);
    weft_become_keep(&only_a, high);
    for (int i = 1; i <= 2; i++) {
        weft_send(weft_self(), A, i);
        weft_send(weft_self(), STOP);
    }
}

Test(behaviour, has_a_state_of_its_own_also_with_the_same_cases)
{
    run(uses_one_set_twice);
    cr_expect_str_eq(noted(), "high-A1 STOP:0 low-A2 STOP:0 ");
}

/* ---- A state is a table ---------------------------------------------------------------------- */

enum { ROOM = 2 };

struct pile {
    int used, at[ROOM];
};

WEFT_MESSAGE(PUSH, int);
WEFT_SIGNAL(POP);
WEFT_MESSAGE(OK, int);
WEFT_SIGNAL(FAILURE);

static weft_handler push, pop, refuse;

static const weft_case  on_empty[] = {WEFT_ON(PUSH, push), WEFT_ON(POP, refuse)};
static const weft_case  on_some[] = {WEFT_ON(PUSH, push), WEFT_ON(POP, pop)};
static const weft_case  on_full[] = {WEFT_ON(PUSH, NULL), WEFT_ON(POP, pop)};
static const weft_cases is_empty = WEFT_CASES(on_empty, NULL);
static const weft_cases is_some = WEFT_CASES(on_some, NULL);
static const weft_cases is_full = WEFT_CASES(on_full, NULL);

static void push(void *state, weft_msg *m)
{
    struct pile *p = state;

    p->at[p->used++] = *weft_get(m, PUSH);
    weft_become(p->used == ROOM ? &is_full : &is_some, p);
}

static void pop(void *state, weft_msg *m)
{
    struct pile *p = state;

    weft_reply(m, OK, p->at[--p->used]);
    weft_become(p->used == 0 ? &is_empty : &is_some, p);
}

static void refuse(void *state, weft_msg *m)
{
    (void)state;
    weft_reply(m, FAILURE);
}

static void pile(void *arg)
{
    (void)arg;
    weft_become(&is_empty, weft_alloc(sizeof(struct pile)));
}

static void pops(weft_pid p)
{
    weft_msg *m = weft_ask(WEFT_FOREVER, p, POP);

    if (weft_is(m, OK))
        note("%d ", *weft_get(m, OK));
    else
        note("%s ", weft_name(m));
}

static void uses_a_pile(void *arg)
{
    weft_pid p = weft_spawn(pile, NULL);

    (void)arg;
    pops(p);
    for (int i = 1; i <= ROOM + 1; i++)
        weft_send(p, PUSH, i); /* the last finds no room, and is lost */
    for (int i = 0; i < ROOM + 1; i++)
        pops(p);
    weft_send(p, PUSH, 9);
    pops(p);
}

Test(behaviour, makes_an_actor_a_table_of_states)
{
    run(uses_a_pile);
    cr_expect_str_eq(noted(), "FAILURE 2 1 FAILURE 9 ");
}

/* ---- What is not matched --------------------------------------------------------------------- */

static weft_handler to_b, to_a;

static const weft_case  at_a[] = {WEFT_ON(A, to_b), WEFT_ON(STOP, leaves)};
static const weft_cases waits_for_a = WEFT_CASES(at_a, NULL);
static const weft_case  at_b[] = {WEFT_ON(B, to_a)};
static const weft_cases waits_for_b = WEFT_CASES(at_b, NULL);

static void to_b(void *state, weft_msg *m)
{
    notes(NULL, m);
    weft_become(&waits_for_b, state);
}

static void to_a(void *state, weft_msg *m)
{
    notes(NULL, m);
    weft_become(&waits_for_a, state);
}

static void alternates(void *arg)
{
    (void)arg;
    weft_become(&waits_for_a, NULL);
    weft_send(weft_self(), B, 1);
    weft_send(weft_self(), B, 2);
    weft_send(weft_self(), A, 3);
    weft_send(weft_self(), A, 4);
    weft_send(weft_self(), STOP);
    weft_send(weft_self(), A, 5);
    weft_send(weft_self(), B, 6);
}

Test(behaviour, leaves_what_it_does_not_match_to_the_next_in_order)
{
    weft_counts before = counted();
    run(alternates);
    cr_expect_str_eq(noted(), "A3 B1 A4 B2 STOP:0 ");
    cr_expect_eq(counted().dead_letters - before.dead_letters, 2, "the last two");
}

enum { SKIPPED = 3000 };

static int in_order;

static void counts(void *state, weft_msg *m)
{
    (void)state;
    in_order += value(m) == in_order;
}

static const weft_case  count_all[] = {WEFT_ON(A, counts), WEFT_ON(B, counts), WEFT_ON(STOP, leaves)};
static const weft_cases counts_all = WEFT_CASES(count_all, NULL);

static void skips_many(void *arg)
{
    (void)arg;
    weft_become(&counts_all, NULL);
    weft_become_keep(&only_c, NULL);
    for (int i = 0; i < SKIPPED; i++)
        i % 2 ? weft_send(weft_self(), A, i) : weft_send(weft_self(), B, i);
    weft_send(weft_self(), C, 1);
    weft_send(weft_self(), STOP);
    weft_send(weft_self(), STOP);
}

Test(behaviour, below_is_offered_all_that_the_one_above_has_skipped_in_order)
{
    run(skips_many);
    cr_expect_str_eq(noted(), "C1 STOP:0 STOP:0 ");
    cr_expect_eq(in_order, SKIPPED);
}

static void feeds_slowly(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 3; i++) {
        weft_send(me, B, i);
        weft_sleep(weft_ms(1));
    }
    for (int i = 1; i <= 3; i++) {
        weft_send(me, A, i);
        weft_sleep(weft_ms(1));
    }
    weft_send(me, STOP);
}

static void is_fed(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(feeds_slowly, NULL);
    weft_become(&waits_for_a, NULL);
}

Test(behaviour, is_offered_what_came_one_by_one_while_the_one_before_waited)
{
    run_in_virtual_time(is_fed);
    cr_expect_str_eq(noted(), "A1 B1 A2 B2 A3 B3 STOP:0 ");
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void by_or_else(void *state, weft_msg *m)
{
    (void)state;
    note("else-%s%d ", weft_name(m), value(m));
}

static const weft_case  on_rest[] = {WEFT_ON(A, never), WEFT_ON(B, by_or_else), WEFT_ON(C, by_or_else)};
static const weft_cases rest = WEFT_CASES(on_rest, NULL);
static const weft_cases a_or_rest = WEFT_CASES(on_a, &rest);

static void serves_by_or_else(void *arg)
{
    (void)arg;
    weft_become(&a_or_rest, NULL);
    abc(1);
    abc(2);
    weft_send(weft_self(), STOP);
}

Test(behaviour, tries_the_cases_of_or_else_after_its_own)
{
    run(serves_by_or_else);
    cr_expect_str_eq(noted(), "A1 else-B1 else-C1 A2 else-B2 else-C2 STOP:0 ");
}

static int limit;

static bool is_small(const weft_msg *m, const void *with) { return *weft_get(m, A) <= *(const int *)with; }

static void raises(void *state, weft_msg *m)
{
    (void)state;
    note("raise ");
    limit = value(m);
}

static const weft_case  on_small[] = {WEFT_ON_IF(A, notes, is_small, &limit), WEFT_ON(B, raises),
                                      WEFT_ON(STOP, leaves)};
static const weft_cases small_only = WEFT_CASES(on_small, NULL);

static void serves_by_guard(void *arg)
{
    (void)arg;
    limit = 2;
    weft_become(&small_only, NULL);
    for (int i = 4; i > 0; i--)
        weft_send(weft_self(), A, i);
    weft_send(weft_self(), B, 3);
    weft_send(weft_self(), B, 4);
    weft_send(weft_self(), STOP);
}

Test(behaviour, asks_its_guards_anew_for_each_message_that_it_serves)
{
    run(serves_by_guard);
    cr_expect_str_eq(noted(), "A2 A1 raise A3 raise A4 STOP:0 ");
}

static void any(void *state, weft_msg *m)
{
    int *left = state;

    note("%s ", weft_name(m));
    if (--*left == 0)
        weft_unbecome();
}

static const weft_case  on_any[] = {WEFT_ON(WEFT_ANY, any)};
static const weft_cases takes_any = WEFT_CASES(on_any, NULL);

static void serves_any(void *arg)
{
    int *left = weft_alloc(sizeof *left);

    (void)arg;
    *left = 4;
    abc(1);
    weft_send(weft_self(), GO);
    weft_become(&takes_any, left);
}

Test(behaviour, of_any_takes_all_in_order)
{
    run(serves_any);
    cr_expect_str_eq(noted(), "A B C GO ");
}

static atomic_int destroyed;

struct thing {
    void *memory;
};
static void destroy_thing(void *body)
{
    destroyed++;
    free(((struct thing *)body)->memory);
}
WEFT_MESSAGE_OWNING(THING, destroy_thing, struct thing);

static const weft_case  on_thing[] = {WEFT_ON(A, NULL), WEFT_ON(THING, NULL), WEFT_ON(STOP, leaves)};
static const weft_cases discards = WEFT_CASES(on_thing, NULL);

static void discards_some(void *arg)
{
    (void)arg;
    weft_become(&only_b, NULL);
    weft_become_keep(&discards, NULL);
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), B, 2);
    weft_send(weft_self(), A, 3);
    weft_send(weft_self(), STOP);
    weft_send(weft_self(), STOP);
}

Test(behaviour, without_a_handler_takes_the_message_and_serves_on)
{
    weft_counts before = counted();
    run(discards_some);
    cr_expect_str_eq(noted(), "STOP:0 B2 STOP:0 ");
    cr_expect_eq(counted().dead_letters, before.dead_letters, "they were taken");
}

static void discards_what_owns(void *arg)
{
    (void)arg;
    weft_become(&discards, NULL);
    weft_send(weft_self(), THING, malloc(8));
    weft_send(weft_self(), THING, malloc(8));
    weft_send(weft_self(), STOP);
}

Test(behaviour, without_a_handler_destroys_what_nobody_saw)
{
    run(discards_what_owns);
    cr_expect_str_eq(noted(), "STOP:0 ");
    cr_expect_eq(destroyed, 2);
}

/* ---- Inside a handler ------------------------------------------------------------------------ */

static void reads_after_the_change(void *state, weft_msg *m)
{
    (void)state;
    weft_unbecome();
    weft_become(&only_b, NULL);
    weft_become_keep(&only_c, NULL);
    weft_unbecome();
    notes(NULL, m);
}

static const weft_case  on_change[] = {WEFT_ON(A, reads_after_the_change)};
static const weft_cases changes = WEFT_CASES(on_change, NULL);

static void changes_and_reads(void *arg)
{
    (void)arg;
    weft_become(&changes, NULL);
    abc(7);
    weft_send(weft_self(), STOP);
}

Test(behaviour, may_be_changed_by_a_handler_whose_message_lives_on)
{
    run(changes_and_reads);
    cr_expect_str_eq(noted(), "A7 B7 STOP:0 ");
}

static void leaves_twice(void *state, weft_msg *m)
{
    (void)state, (void)m;
    note("%d%d ", weft_unbecome(), weft_unbecome());
}

static const weft_case  on_go[] = {WEFT_ON(GO, leaves_twice)};
static const weft_cases goes = WEFT_CASES(on_go, NULL);

static void unbecomes_twice(void *arg)
{
    (void)arg;
    weft_become(&only_a, NULL);
    weft_become_keep(&only_b, NULL);
    weft_become_keep(&goes, NULL);
    weft_send(weft_self(), GO);
    abc(1);
    weft_send(weft_self(), STOP);
}

Test(behaviour, may_be_taken_away_twice_in_a_handler)
{
    run(unbecomes_twice);
    cr_expect_str_eq(noted(), "00 A1 STOP:0 ");
}

static void reacts_once(void *state, weft_msg *m)
{
    notes(NULL, m);
    weft_react(notes, state, B);
}

static const weft_case  on_reacting[] = {WEFT_ON(A, reacts_once), WEFT_ON(STOP, leaves)};
static const weft_cases reacting = WEFT_CASES(on_reacting, NULL);

static void reacts_in_between(void *arg)
{
    static char state[] = "reacted-";

    (void)arg;
    weft_become(&reacting, state);
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), A, 2);
    weft_send(weft_self(), B, 3);
    weft_send(weft_self(), B, 4);
    weft_send(weft_self(), STOP);
}

Test(behaviour, waits_while_a_reaction_that_its_handler_arranged_goes_first)
{
    run(reacts_in_between);
    cr_expect_str_eq(noted(), "A1 reacted-B3 A2 reacted-B4 STOP:0 ");
}

static void becomes_and_reacts(void *arg)
{
    (void)arg;
    weft_become(&only_a, NULL);
    weft_react(notes, NULL, B);
    abc(1);
    weft_send(weft_self(), B, 2);
    weft_send(weft_self(), STOP);
}

Test(behaviour, begins_after_the_reaction_that_the_function_arranged)
{
    run(becomes_and_reacts);
    cr_expect_str_eq(noted(), "B1 A1 STOP:0 ");
}

static void reacts_and_becomes(void *arg)
{
    (void)arg;
    weft_react(notes, NULL, B);
    weft_become(&only_a, NULL);
    abc(1);
    weft_send(weft_self(), B, 2);
    weft_send(weft_self(), STOP);
}

Test(behaviour, is_no_arrangement_that_undoes_one)
{
    run(reacts_and_becomes);
    cr_expect_str_eq(noted(), "B1 A1 STOP:0 ");
}

static void is_late(void *state, weft_msg *m)
{
    (void)state;
    note("%s ", weft_name(m));
    if (!m)
        weft_send(weft_self(), STOP);
}

static void reacts_in_time(void *state, weft_msg *m)
{
    notes(NULL, m);
    weft_react_within(weft_ms(20), is_late, state, B);
}

static const weft_case  on_timed[] = {WEFT_ON(A, reacts_in_time), WEFT_ON(STOP, leaves)};
static const weft_cases timed = WEFT_CASES(on_timed, NULL);

static void sends_b_and_waits(void *arg)
{
    (void)arg;
    weft_sleep(weft_ms(10));
    weft_send(me, B, 1);
    weft_sleep(weft_ms(100)); /* the timer of the first reaction passes, and disturbs nothing */
    weft_send(me, A, 2);
}

static void reacts_with_a_time(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(sends_b_and_waits, NULL);
    weft_send(me, A, 1);
    weft_become(&timed, NULL);
}

Test(behaviour, waits_while_a_reaction_with_a_time_goes_first)
{
    run_in_virtual_time(reacts_with_a_time);
    cr_expect_str_eq(noted(), "A1 B A2 WEFT_TIMEOUT STOP:0 ");
}

static void converses(void *state, weft_msg *m)
{
    int *sum = state, local = value(m);

    *sum += local + value(weft_receive(B));
    note("%d ", *sum);
}

static const weft_case  on_talk[] = {WEFT_ON(A, converses), WEFT_ON(STOP, leaves)};
static const weft_cases talk = WEFT_CASES(on_talk, NULL);

static void talks(void *arg)
{
    (void)arg;
    weft_become(&talk, weft_alloc(sizeof(int)));
}

static void talks_to_one(void *arg)
{
    weft_pid t = weft_spawn(talks, NULL);

    (void)arg;
    for (int i = 1; i <= 3; i++) {
        weft_send(t, A, i);
        weft_yield();
        weft_send(t, C, 0);
        weft_send(t, B, i * 10);
    }
    weft_send(t, STOP);
    while (weft_send(t, GO) == 0)
        weft_yield();
}

Test(behaviour, lets_its_handler_receive_in_the_middle)
{
    run(talks_to_one);
    cr_expect_str_eq(noted(), "11 33 66 STOP:0 ");
}

static void becomes_before_a_wait(void *arg)
{
    (void)arg;
    weft_become(&only_a, NULL);
    abc(1);
    note("got-%s ", weft_name(weft_receive(B)));
    note("got-%s ", weft_name(weft_receive(A)));
    weft_send(weft_self(), A, 2);
    weft_send(weft_self(), STOP);
    weft_sleep(weft_ms(1));
}

Test(behaviour, begins_only_when_the_function_has_returned_however_often_that_waits)
{
    run_in_virtual_time(becomes_before_a_wait);
    cr_expect_str_eq(noted(), "got-B got-A A2 STOP:0 ");
}

static void keeps_it(void *state, weft_msg *m)
{
    weft_msg **kept = state;

    if (*kept) {
        note("%d ", value(*kept));
        weft_drop(*kept);
    }
    *kept = weft_keep(m);
}

static const weft_case  on_keep[] = {WEFT_ON(A, keeps_it), WEFT_ON(STOP, leaves)};
static const weft_cases keeping = WEFT_CASES(on_keep, NULL);

static void keeps_messages(void *arg)
{
    (void)arg;
    weft_become(&keeping, weft_alloc(sizeof(weft_msg *)));
    for (int i = 1; i <= 3; i++)
        weft_send(weft_self(), A, i);
    weft_send(weft_self(), STOP);
}

Test(behaviour, lets_its_handler_keep_the_message)
{
    run(keeps_messages);
    cr_expect_str_eq(noted(), "1 2 STOP:0 ");
}

static void ends(void *state, weft_msg *m)
{
    (void)state;
    weft_become_keep(&only_a, NULL);
    weft_end(value(m));
}

static const weft_case  on_end[] = {WEFT_ON(A, ends)};
static const weft_cases ending = WEFT_CASES(on_end, NULL);

static void ends_while_it_serves(void *arg)
{
    (void)arg;
    weft_become(&ending, NULL);
    weft_send(weft_self(), A, 5);
    weft_send(weft_self(), A, 6);
}

Test(behaviour, lets_its_handler_end_the_actor)
{
    cr_expect_eq(weft_run(ends_while_it_serves, NULL), 5);
    cr_expect_str_eq(noted(), "");
}

static void answers_a(void *state, weft_msg *m)
{
    (void)state;
    weft_reply(m, B, value(m) + 1);
}

static const weft_case  on_question[] = {WEFT_ON(A, answers_a)};
static const weft_cases answering = WEFT_CASES(on_question, NULL);

static void answers(void *arg)
{
    (void)arg;
    weft_become(&answering, NULL);
}

static void on_answer(void *state, weft_msg *m)
{
    (void)state;
    note("answer-%d ", value(m));
    weft_unbecome();
}

static const weft_case  on_b_only[] = {WEFT_ON(B, notes)};
static const weft_cases b_only = WEFT_CASES(on_b_only, NULL);

static void serves_what_then_changes(void *arg)
{
    weft_pid who = weft_spawn(answers, NULL);

    (void)arg;
    weft_become(&only_c, NULL);
    weft_become_keep(&b_only, NULL);
    weft_then(weft_request(who, A, 1), WEFT_FOREVER, on_answer, NULL);
    weft_send(weft_self(), C, 2);
    weft_send(weft_self(), B, 3);
    weft_send(weft_self(), STOP);
}

Test(behaviour, may_be_changed_by_the_handler_of_a_response)
{
    run_in_virtual_time(serves_what_then_changes);
    cr_expect_str_eq(noted(), "B3 answer-2 C2 STOP:0 ");
}

static void answers_slowly(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(A);
    weft_sleep(weft_ms(10));
    weft_reply(m, B, value(m) + 1);
}

static void asks_and_leaves(void *arg)
{
    weft_pid who = weft_spawn(answers_slowly, NULL);

    (void)arg;
    weft_become(&only_c, NULL);
    weft_then(weft_request(who, A, 1), WEFT_FOREVER, notes, NULL);
    weft_send(weft_self(), STOP);
}

Test(behaviour, that_was_the_last_does_not_end_an_actor_whose_request_has_a_handler)
{
    run_in_virtual_time(asks_and_leaves);
    cr_expect_str_eq(noted(), "STOP:0 B2 ");
}

/* ---- Many ------------------------------------------------------------------------------------ */

enum { DEEP = 10000 };

static int depths[DEEP + 1], expected_depth = DEEP, wrong_depths;

static void goes_up(void *state, weft_msg *m)
{
    (void)m;
    wrong_depths += *(int *)state != expected_depth--;
    weft_unbecome();
}

static const weft_case  on_depth[] = {WEFT_ON(GO, goes_up)};
static const weft_cases at_depth = WEFT_CASES(on_depth, NULL);

static void goes_deep(void *arg)
{
    (void)arg;
    for (int i = 1; i <= DEEP; i++) {
        depths[i] = i;
        weft_become_keep(&at_depth, &depths[i]);
        weft_send(weft_self(), GO);
    }
    weft_send(weft_self(), GO); /* one too many */
}

Test(behaviour, may_lie_ten_thousand_deep)
{
    weft_counts before = counted();
    run(goes_deep);
    cr_expect_eq(expected_depth, 0);
    cr_expect_eq(wrong_depths, 0);
    cr_expect_eq(counted().dead_letters - before.dead_letters, 1);
}

static atomic_int left_to_do;

static void does_one(void *state, weft_msg *m)
{
    (void)state, (void)m;
    if (--left_to_do == 0)
        weft_send(me, DONE);
}

static const weft_case  on_work[] = {WEFT_ON(GO, does_one), WEFT_ON(STOP, leaves)};
static const weft_cases working = WEFT_CASES(on_work, NULL);

static void works(void *arg)
{
    (void)arg;
    weft_become(&working, NULL);
}

enum { CROWD = 20000, ROUNDS = 3 };

static void has_a_crowd(void *arg)
{
    weft_pid *who = malloc(CROWD * sizeof *who);

    (void)arg;
    me = weft_self();
    left_to_do = CROWD * ROUNDS;
    for (int i = 0; i < CROWD; i++)
        who[i] = weft_spawn(works, NULL);
    for (int i = 0; i < CROWD * ROUNDS; i++)
        weft_send(who[i % CROWD], GO);
    weft_receive(DONE);
    free(who);
}

Test(behaviour, needs_no_stack_while_it_waits)
{
    uint64_t before = counted().stacks;
    run(has_a_crowd);
    cr_expect_eq(left_to_do, 0);
    cr_expect_lt(counted().stacks - before, 1000, "%d new stacks", (int)(counted().stacks - before));
}

static atomic_bool had_a_turn;

static void has_a_turn(void *arg)
{
    (void)arg;
    had_a_turn = true;
}

static void feeds_itself(void *state, weft_msg *m)
{
    (void)state, (void)m;
    if (had_a_turn)
        weft_unbecome();
    else
        weft_send(weft_self(), GO);
}

static const weft_case  on_itself[] = {WEFT_ON(GO, feeds_itself)};
static const weft_cases itself = WEFT_CASES(on_itself, NULL);

static void serves_for_ever(void *arg)
{
    (void)arg;
    weft_spawn(has_a_turn, NULL);
    weft_become(&itself, NULL);
    weft_send(weft_self(), GO);
}

Test(behaviour, that_always_has_a_message_starves_nobody)
{
    cr_expect_eq(weft_run(serves_for_ever, NULL, .workers = 1), 0, "or it hangs");
}

static void never_stops(void *arg)
{
    (void)arg;
    weft_become(&only_a, NULL);
    for (int i = 0; i < 100; i++)
        weft_become_keep(&only_b, NULL);
}

static void ends_before_others(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++)
        weft_send(weft_spawn(never_stops, NULL), C, 1);
    weft_yield();
}

Test(behaviour, ends_with_the_system)
{
    weft_counts before = counted();
    run(ends_before_others);
    cr_expect_eq(counted().spawned, counted().ended);
    cr_expect_eq(counted().dead_letters - before.dead_letters, 10);
}

/* ---- Misuse and bad luck --------------------------------------------------------------------- */

static void lends_cases(void *arg)
{
    weft_cases here = only_a;

    (void)arg;
    weft_become(opaque(&here), NULL);
    note("arranged");
}

static void lends_state(void *arg)
{
    int here = 0;

    (void)arg;
    weft_become(&only_a, opaque(&here));
    note("arranged");
}

static void lends_cases_above(void *arg)
{
    weft_cases here = only_a;

    (void)arg;
    weft_become(&only_a, NULL);
    weft_become_keep(opaque(&here), NULL);
    note("arranged");
}

static void lends_state_above(void *arg)
{
    int here = 0;

    (void)arg;
    weft_sleep(weft_us(1));
    weft_become_keep(&only_a, opaque(&here));
    note("arranged");
}

Test(behaviour, with_cases_on_the_stack_is_misuse)
{
    cr_expect_eq(reason_of(lends_cases, "weft_become", "stack"), WEFT_EINVALID);
    cr_expect_eq(reason_of(lends_cases_above, "weft_become_keep", "stack"), WEFT_EINVALID);
}

Test(behaviour, with_state_on_the_stack_is_misuse)
{
    cr_expect_eq(reason_of(lends_state, "weft_become", "stack"), WEFT_EINVALID);
    cr_expect_eq(reason_of(lends_state_above, "weft_become_keep", "stack"), WEFT_EINVALID);
}

static void becomes_nothing(void *arg)
{
    (void)arg;
    weft_become(NULL, NULL);
    note("arranged");
}

Test(behaviour, without_cases_is_misuse)
{
    cr_expect_eq(reason_of(becomes_nothing, "weft_become", "cases"), WEFT_EINVALID);
}

static void becomes_in_a_thread(void) { weft_become(&only_a, NULL); }

static void becomes_in_a_thread_that_is_an_actor(void)
{
    weft_self();
    weft_become_keep(&only_a, NULL);
}

Test(behaviour, of_a_thread_is_misuse)
{
    cr_expect(aborts(becomes_in_a_thread));
    cr_expect(aborts(becomes_in_a_thread_that_is_an_actor));
    cr_expect_eq(weft_unbecome(), WEFT_EINVALID, "a thread has none");
}

/* Runs it again and again, each time with the next allocation of `step` failing, until all succeed: it must end with
 * WEFT_EMEMORY and one line. Returns how many allocations there were. */
static long     which, made_by_step;
static weft_fn *step;

static void fails_at(void *arg)
{
    weft_yield();
    weft__memory_fail(which);
    step(arg);
    made_by_step = weft__memory_fail(0);
}

static long fail_each(weft_fn *what)
{
    step = what;
    for (which = 1; which < 100; which++) {
        made_by_step = -1;
        listen_to_stderr();
        int         reason = weft_run(fails_at, NULL, .seed = 1);
        const char *said = what_was_said();
        weft__memory_fail(0);
        if (made_by_step >= 0 && made_by_step < which) {
            cr_expect_eq(reason, 0);
            break;
        }
        cr_expect_eq(reason, WEFT_EMEMORY, "allocation %ld: %d", which, reason);
        cr_expect(lines(said) == 1 && strstr(said, "memory"), "%s", said);
    }
    cr_expect_eq(counted().spawned, counted().ended);
    return which - 1;
}

static void piles_up_behaviours(void *arg)
{
    (void)arg;
    weft_become(&only_a, NULL);
    for (int i = 0; i < 100; i++)
        weft_become_keep(&only_b, NULL);
    for (int i = 0; i < 101; i++)
        weft_unbecome();
}

Test(behaviour, for_which_there_is_no_memory_ends_the_actor)
{
    cr_expect_gt(fail_each(piles_up_behaviours), 2, "there are more allocations than that");
}

/* ---- Sequences: and_then --------------------------------------------------------------------- */

static void one(void *state) { note("1%s ", state ? (const char *)state : ""); }
static void two(void *state) { note("2%s ", state ? (const char *)state : ""); }
static void three(void *state) { note("3%s ", state ? (const char *)state : ""); }
static void not_this(void *state)
{
    (void)state;
    note("never ");
}

static void one_then_two(void *arg)
{
    static char state[] = "s";

    (void)arg;
    weft_and_then(one, two, state);
    note("arranged ");
}

Test(sequence, calls_the_one_and_then_the_other_when_the_function_has_returned)
{
    run(one_then_two);
    cr_expect_str_eq(noted(), "arranged 1s 2s ");
}

static void reacts_more(void *state, weft_msg *m)
{
    notes(NULL, m);
    weft_react(notes, state, B);
}

static void reacts_to_a(void *state) { weft_react(reacts_more, state, A); }

static void reacts_then_two(void *arg)
{
    (void)arg;
    weft_and_then(reacts_to_a, two, NULL);
    weft_send(weft_self(), B, 1);
    weft_send(weft_self(), A, 2);
}

Test(sequence, goes_on_when_all_that_the_first_arranged_has_returned)
{
    run(reacts_then_two);
    cr_expect_str_eq(noted(), "A2 B1 2 ");
}

static void receives_b(void *state)
{
    (void)state;
    note("%s ", weft_name(weft_receive(B)));
}

static void receives_then_receives(void *arg)
{
    (void)arg;
    note("%s ", weft_name(weft_receive_within(weft_ms(1), B)));
    weft_and_then(receives_b, receives_b, NULL);
    abc(1);
    abc(2);
}

Test(sequence, is_made_of_functions_that_may_wait)
{
    run_in_virtual_time(receives_then_receives);
    cr_expect_str_eq(noted(), "WEFT_TIMEOUT B B ");
}

static void nests_first(void *state) { weft_and_then(one, two, state); }

static void nested_then_three(void *arg)
{
    (void)arg;
    weft_and_then(nests_first, three, NULL);
}

Test(sequence, may_be_the_first_part_of_another)
{
    run(nested_then_three);
    cr_expect_str_eq(noted(), "1 2 3 ");
}

static void nests_second(void *state) { weft_and_then(two, three, state); }

static void one_then_nested(void *arg)
{
    (void)arg;
    weft_and_then(one, nests_second, NULL);
}

Test(sequence, may_be_the_second_part_of_another)
{
    run(one_then_nested);
    cr_expect_str_eq(noted(), "1 2 3 ");
}

static void three_threes(void *state) { weft_and_then(nests_first, nests_second, state); }

static void both_nested(void *arg)
{
    (void)arg;
    weft_and_then(three_threes, three_threes, NULL);
}

Test(sequence, may_be_both_parts_of_another)
{
    run(both_nested);
    cr_expect_str_eq(noted(), "1 2 2 3 1 2 2 3 ");
}

static int going_down, coming_up;

static void comes_up(void *state)
{
    (void)state;
    coming_up++;
}

static void goes_down(void *state)
{
    if (++going_down < DEEP)
        weft_and_then(goes_down, comes_up, state);
}

Test(sequence, may_be_nested_ten_thousand_deep_in_the_first_part)
{
    run(goes_down);
    cr_expect_eq(going_down, DEEP);
    cr_expect_eq(coming_up, DEEP - 1);
}

static void goes_on(void *state)
{
    coming_up++;
    if (++going_down < DEEP * 10)
        weft_and_then(comes_up, goes_on, state);
}

Test(sequence, may_go_on_and_on_in_the_second_part)
{
    run(goes_on);
    cr_expect_eq(going_down, DEEP * 10);
    cr_expect_eq(coming_up, DEEP * 20 - 1);
}

static void arranges_from_a_handler(void *state, weft_msg *m)
{
    notes(NULL, m);
    weft_and_then(one, two, state);
}

static const weft_case  on_sequence[] = {WEFT_ON(A, arranges_from_a_handler), WEFT_ON(STOP, leaves)};
static const weft_cases sequences = WEFT_CASES(on_sequence, NULL);

static void serves_by_sequences(void *arg)
{
    (void)arg;
    weft_become(&sequences, NULL);
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), A, 2);
    weft_send(weft_self(), STOP);
}

Test(sequence, that_a_behaviours_handler_arranged_goes_before_the_next_message)
{
    run(serves_by_sequences);
    cr_expect_str_eq(noted(), "A1 1 2 A2 1 2 STOP:0 ");
}

static void becomes_in_a_step(void *state)
{
    one(NULL);
    weft_become(&only_a, state);
}

static void step_becomes(void *arg)
{
    (void)arg;
    weft_and_then(becomes_in_a_step, two, NULL);
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), STOP);
}

Test(sequence, goes_before_the_behaviour_that_it_sets)
{
    run(step_becomes);
    cr_expect_str_eq(noted(), "1 2 A1 STOP:0 ");
}

static void ends_with_4(void *state)
{
    (void)state;
    weft_end(4);
}

static void ends_in_the_first(void *arg)
{
    (void)arg;
    weft_become(&only_a, NULL);
    weft_and_then(ends_with_4, not_this, NULL);
}

Test(sequence, is_over_when_the_first_part_ends_the_actor)
{
    cr_expect_eq(weft_run(ends_in_the_first, NULL), 4);
    cr_expect_str_eq(noted(), "");
}

/* ---- The last arrangement counts ------------------------------------------------------------- */

static void sequence_then_react(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_and_then(not_this, not_this, NULL);
    weft_react(notes, NULL, A);
}

static void sequence_then_react_to_many(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_loop(not_this, NULL);
    weft_react_within(weft_ms(1), notes, NULL, A, B);
}

static void sequence_then_react_case(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_and_then(not_this, not_this, NULL);
    weft_react_case(&only_a, NULL);
}

Test(sequence, is_undone_by_a_later_react)
{
    run(sequence_then_react);
    cr_expect_str_eq(noted(), "A1 ");
    run_in_virtual_time(sequence_then_react_to_many);
    cr_expect_str_eq(noted(), "A1 A1 ");
    run(sequence_then_react_case);
    cr_expect_str_eq(noted(), "A1 A1 A1 ");
}

static void react_then_sequence(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_react(never, NULL, A);
    weft_and_then(one, two, NULL);
}

static void timed_react_then_sequence(void *arg)
{
    (void)arg;
    weft_react_within(weft_ms(1), never, NULL, A, B);
    weft_and_then(one, receives_b, NULL);
    weft_sleep(weft_ms(5));
    weft_send(weft_self(), B, 1);
}

Test(sequence, undoes_an_earlier_react)
{
    run(react_then_sequence);
    cr_expect_str_eq(noted(), "1 2 ");
    run_in_virtual_time(timed_react_then_sequence);
    cr_expect_str_eq(noted(), "1 2 1 B ");
}

static bool no(void *state)
{
    (void)state;
    return false;
}

static void sequence_then_sequence(void *arg)
{
    (void)arg;
    weft_loop(not_this, NULL);
    weft_and_then(not_this, not_this, NULL);
    weft_loop_while(no, not_this, NULL);
    weft_and_then(one, two, NULL);
}

static void sequence_then_loop(void *arg)
{
    (void)arg;
    weft_and_then(not_this, not_this, NULL);
    weft_loop_while(no, not_this, NULL);
}

Test(sequence, undoes_an_earlier_sequence)
{
    run(sequence_then_sequence);
    cr_expect_str_eq(noted(), "1 2 ");
    run(sequence_then_loop);
    cr_expect_str_eq(noted(), "1 2 ");
}

static void first_undoes_only_its_own(void *state)
{
    weft_and_then(not_this, not_this, state);
    weft_react(notes, state, A);
}

static void outer_stays(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_and_then(first_undoes_only_its_own, three, NULL);
}

Test(sequence, that_waits_for_its_second_part_is_not_undone_by_what_the_first_arranges)
{
    run(outer_stays);
    cr_expect_str_eq(noted(), "A1 3 ");
}

/* ---- Loops ----------------------------------------------------------------------------------- */

static void counts_rounds(void *state)
{
    int *round = state;

    note("%d ", ++*round);
    if (*round == 3)
        weft_end(7);
}

static void loops(void *arg)
{
    (void)arg;
    weft_loop(counts_rounds, weft_alloc(sizeof(int)));
    note("arranged ");
}

Test(sequence, in_a_loop_calls_the_body_until_the_actor_ends)
{
    cr_expect_eq(weft_run(loops, NULL), 7);
    cr_expect_str_eq(noted(), "arranged 1 2 3 ");
}

static bool is_under_three(void *state)
{
    note("%d? ", *(int *)state);
    return *(int *)state < 3;
}

static void adds_one(void *state) { note("%d ", ++*(int *)state); }

static void loops_while(void *arg)
{
    (void)arg;
    weft_loop_while(is_under_three, adds_one, weft_alloc(sizeof(int)));
}

Test(sequence, in_a_loop_asks_the_test_before_each_round)
{
    run(loops_while);
    cr_expect_str_eq(noted(), "0? 1 1? 2 2? 3 3? ");
}

static void loops_never(void *state) { weft_loop_while(no, not_this, state); }

static void loops_never_then(void *arg)
{
    (void)arg;
    weft_and_then(loops_never, two, NULL);
}

Test(sequence, in_a_loop_calls_nothing_if_the_test_says_no_at_first)
{
    run(loops_never);
    cr_expect_str_eq(noted(), "");
    run(loops_never_then);
    cr_expect_str_eq(noted(), "2 ", "and what comes after goes on");
}

static void loops_to_three(void *state) { weft_loop_while(is_under_three, adds_one, state); }

static void loop_then_two(void *arg)
{
    (void)arg;
    weft_and_then(loops_to_three, adds_one, weft_alloc(sizeof(int)));
}

Test(sequence, goes_on_when_its_first_part_has_looped_out)
{
    run(loop_then_two);
    cr_expect_str_eq(noted(), "0? 1 1? 2 2? 3 3? 4 ");
}

struct table {
    int row, column;
};

static bool more_columns(void *state) { return ((struct table *)state)->column < 3; }
static bool more_rows(void *state) { return ((struct table *)state)->row < 2; }

static void writes_cell(void *state)
{
    struct table *t = state;

    note("%d%d ", t->row, t->column++);
}

static void writes_columns(void *state) { weft_loop_while(more_columns, writes_cell, state); }

static void ends_row(void *state)
{
    struct table *t = state;

    t->row++;
    t->column = 0;
    note("/ ");
}

static void writes_row(void *state) { weft_and_then(writes_columns, ends_row, state); }

static void writes_table(void *arg)
{
    (void)arg;
    weft_loop_while(more_rows, writes_row, weft_alloc(sizeof(struct table)));
}

Test(sequence, may_be_a_loop_in_a_sequence_in_a_loop)
{
    run(writes_table);
    cr_expect_str_eq(noted(), "00 01 02 / 10 11 12 / ");
}

static void on_round(void *state, weft_msg *m)
{
    int *sum = state, local = value(m);

    *sum += local * value(weft_receive(B));
    note("%d ", *sum);
}

static void reacts_each_round(void *state) { weft_react(on_round, state, A); }
static bool is_under_sixty(void *state) { return *(int *)state < 60; }

static void loops_by_reacting(void *arg)
{
    (void)arg;
    weft_loop_while(is_under_sixty, reacts_each_round, weft_alloc(sizeof(int)));
}

static void feeds_the_loop(void *arg)
{
    weft_pid p = weft_spawn(loops_by_reacting, NULL);

    (void)arg;
    for (int i = 1; i <= 4; i++) {
        weft_send(p, A, i);
        weft_yield();
        weft_send(p, B, 10);
        weft_yield();
    }
    while (weft_send(p, GO) == 0)
        weft_yield();
}

Test(sequence, in_a_loop_may_react_and_receive_in_the_middle)
{
    run(feeds_the_loop);
    cr_expect_str_eq(noted(), "10 30 60 ");
}

static void ticks(void *state, weft_msg *m)
{
    note("%s ", weft_name(m));
    ++*(int *)state;
}

static void waits_a_second(void *state) { weft_react_within(weft_sec(1), ticks, state, A, B); }

static void ticks_in_a_loop(void *arg)
{
    (void)arg;
    weft_loop_while(is_under_three, waits_a_second, weft_alloc(sizeof(int)));
    weft_send(weft_self(), B, 1);
}

Test(sequence, in_a_loop_may_wait_for_a_time)
{
    run_in_virtual_time(ticks_in_a_loop);
    cr_expect_str_eq(noted(), "0? B 1? WEFT_TIMEOUT 2? WEFT_TIMEOUT 3? ");
}

static void reacts_by_case(void *state)
{
    static const weft_case  on_stop[] = {WEFT_ON(STOP, leaves)};
    static const weft_cases stop = WEFT_CASES(on_stop, &rest);
    static const weft_case  on_first[] = {WEFT_ON(A, notes)};
    static const weft_cases first = WEFT_CASES(on_first, &stop);

    if (++*(int *)state > 4)
        weft_end(0);
    weft_react_case(&first, NULL);
}

static void loops_by_case(void *arg)
{
    (void)arg;
    weft_loop(reacts_by_case, weft_alloc(sizeof(int)));
    weft_send(weft_self(), GO);
    abc(1);
    weft_send(weft_self(), STOP);
}

Test(sequence, in_a_loop_may_react_by_cases_and_or_else)
{
    char want[60];

    run(loops_by_case);
    snprintf(want, sizeof want, "A1 else-B1 else-C1 STOP:%d ", WEFT_EINVALID);
    cr_expect_str_eq(noted(), want);
}

static bool ends_in_the_test(void *state)
{
    if (*(int *)state == 2)
        weft_end(6);
    return true;
}

static void loops_until_the_test_ends(void *arg)
{
    (void)arg;
    weft_loop_while(ends_in_the_test, adds_one, weft_alloc(sizeof(int)));
}

Test(sequence, in_a_loop_may_be_ended_by_the_test)
{
    cr_expect_eq(weft_run(loops_until_the_test_ends, NULL), 6);
    cr_expect_str_eq(noted(), "1 2 ");
    cr_expect_eq(counted().spawned, counted().ended);
}

static bool receives_in_the_test(void *state)
{
    (void)state;
    weft_sleep(weft_us(1));
    return weft_is(weft_receive(A, STOP), A);
}

static void loops_by_a_test_that_waits(void *arg)
{
    (void)arg;
    weft_loop_while(receives_in_the_test, adds_one, weft_alloc(sizeof(int)));
}

static void many_loop_by_a_test_that_waits(void *arg)
{
    weft_pid who[20];

    (void)arg;
    for (int i = 0; i < 20; i++)
        who[i] = weft_spawn(loops_by_a_test_that_waits, NULL);
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < 20; i++) {
            weft_send(who[i], A, n);
            weft_yield();
        }
    for (int i = 0; i < 20; i++)
        weft_send(who[i], STOP);
    for (int i = 0; i < 20; i++)
        while (weft_send(who[i], GO) == 0)
            weft_yield();
}

Test(sequence, in_a_loop_may_have_a_test_that_waits)
{
    cr_expect_eq(weft_run(many_loop_by_a_test_that_waits, NULL, .workers = 2), 0);
    cr_expect_eq(strlen(noted()), 20 * 2 * 2, "%s", noted());
    cr_expect_eq(counted().spawned, counted().ended);
}

enum { EMPTY_ROUNDS = 1000000 };

static atomic_long turns, rounds;
static atomic_bool loop_is_over;

static bool has_rounds_left(void *state)
{
    (void)state;
    return rounds < EMPTY_ROUNDS;
}

static void does_nothing(void *state)
{
    (void)state;
    rounds++;
}

static void takes_turns(void *arg)
{
    (void)arg;
    while (!loop_is_over) {
        turns++;
        weft_yield();
    }
    weft_send(me, DONE);
}

static void loop_ends(void *state)
{
    (void)state;
    loop_is_over = true;
    weft_receive(DONE);
}

static void loops_a_million_times(void *state) { weft_loop_while(has_rounds_left, does_nothing, state); }

static void loops_beside_another(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(takes_turns, NULL);
    weft_and_then(loops_a_million_times, loop_ends, NULL);
}

Test(sequence, of_a_million_empty_rounds_needs_no_stack_and_starves_nobody)
{
    cr_expect_eq(weft_run(loops_beside_another, NULL, .workers = 1), 0);
    cr_expect_eq(rounds, EMPTY_ROUNDS);
    cr_expect_gt(turns, 100, "the other had %ld turns", turns);
}

static bool nobody_had_a_turn(void *state)
{
    (void)state;
    return !had_a_turn;
}

static void tests_for_ever(void *state) { weft_loop_while(no, not_this, state); }

static void loops_over_loops(void *arg)
{
    (void)arg;
    weft_spawn(has_a_turn, NULL);
    weft_loop_while(nobody_had_a_turn, tests_for_ever, NULL);
}

Test(sequence, of_loops_that_never_begin_starves_nobody)
{
    cr_expect_eq(weft_run(loops_over_loops, NULL, .workers = 1), 0, "or it hangs");
}

static void ends_before_the_loop(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++)
        weft_spawn(loops_by_reacting, NULL);
    weft_yield();
}

Test(sequence, ends_with_the_system)
{
    run(ends_before_the_loop);
    cr_expect_eq(counted().spawned, counted().ended);
}

/* ---- Misuse and bad luck --------------------------------------------------------------------- */

static void lends_to_and_then(void *arg)
{
    int here = 0;

    (void)arg;
    weft_and_then(one, two, opaque(&here));
    note("arranged");
}

static void lends_to_loop(void *arg)
{
    int here = 0;

    (void)arg;
    weft_loop(one, opaque(&here));
    note("arranged");
}

static void lends_to_loop_while(void *arg)
{
    int here = 0;

    (void)arg;
    weft_loop_while(no, one, opaque(&here));
    note("arranged");
}

Test(sequence, with_state_on_the_stack_is_misuse)
{
    cr_expect_eq(reason_of(lends_to_and_then, "weft_and_then", "stack"), WEFT_EINVALID);
    cr_expect_eq(reason_of(lends_to_loop, "weft_loop", "stack"), WEFT_EINVALID);
    cr_expect_eq(reason_of(lends_to_loop_while, "weft_loop_while", "stack"), WEFT_EINVALID);
}

static void then_nothing(void *arg)
{
    (void)arg;
    weft_and_then(one, NULL, NULL);
    note("arranged");
}

static void nothing_then(void *arg)
{
    (void)arg;
    weft_and_then(NULL, one, NULL);
    note("arranged");
}

static void loops_nothing(void *arg)
{
    (void)arg;
    weft_loop(NULL, NULL);
    note("arranged");
}

static void loops_without_a_test(void *arg)
{
    (void)arg;
    weft_loop_while(NULL, one, NULL);
    note("arranged");
}

static void loops_without_a_body(void *arg)
{
    (void)arg;
    weft_loop_while(no, NULL, NULL);
    note("arranged");
}

Test(sequence, without_functions_is_misuse)
{
    cr_expect_eq(reason_of(then_nothing, "weft_and_then", "function"), WEFT_EINVALID);
    cr_expect_eq(reason_of(nothing_then, "weft_and_then", "function"), WEFT_EINVALID);
    cr_expect_eq(reason_of(loops_nothing, "weft_loop", "function"), WEFT_EINVALID);
    cr_expect_eq(reason_of(loops_without_a_test, "weft_loop_while", "function"), WEFT_EINVALID);
    cr_expect_eq(reason_of(loops_without_a_body, "weft_loop_while", "function"), WEFT_EINVALID);
}

static void and_then_in_a_thread(void) { weft_and_then(one, two, NULL); }
static void loop_in_a_thread(void) { weft_loop(one, NULL); }

static void loop_while_in_a_thread(void)
{
    weft_self();
    weft_loop_while(no, one, NULL);
}

Test(sequence, of_a_thread_is_misuse)
{
    cr_expect(aborts(and_then_in_a_thread));
    cr_expect(aborts(loop_in_a_thread));
    cr_expect(aborts(loop_while_in_a_thread));
}

static int down;

static void nothing_more(void *state) { (void)state; }

/* The steps of the actor that has the allocations fail: its last tells how many there were. */
static void tells(void *state)
{
    (void)state;
    made_by_step = weft__memory_fail(0);
}

static void goes_down_a_little(void *state)
{
    if (--down > 0)
        weft_and_then(goes_down_a_little, nothing_more, state);
}

static void steps_down(void *state)
{
    down = 40;
    weft_and_then(goes_down_a_little, tells, state);
}

/* As fails_at, but the work is done when the function has returned. */
static void fails_later(void *arg)
{
    weft_yield();
    weft__memory_fail(which);
    step(arg);
}

Test(sequence, for_which_there_is_no_memory_ends_the_actor)
{
    for (which = 1; which < 100; which++) {
        step = steps_down;
        made_by_step = -1;
        listen_to_stderr();
        int         reason = weft_run(fails_later, NULL, .seed = 1);
        const char *said = what_was_said();
        weft__memory_fail(0);
        if (made_by_step >= 0 && made_by_step < which) {
            cr_expect_eq(reason, 0);
            break;
        }
        cr_expect_eq(reason, WEFT_EMEMORY, "allocation %ld: %d", which, reason);
        cr_expect(lines(said) == 1 && strstr(said, "memory"), "%s", said);
    }
    cr_expect_gt(which, 3, "there are more allocations than that");
    cr_expect_eq(counted().spawned, counted().ended);
}
