/* test_match.c - what weft/case.h promises, and what weft.h does of messages that are urgent.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Nearly all run with a seed: one worker, and time that jumps when all wait. So it is known what
 * happens when.
 */
#include <weft/case.h>

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <weft/atom.h>

#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(match, .fini = nothing_leaks, .timeout = 20);

static int  texts_freed;
static void free_text(void *body)
{
    free(*(char **)body);
    texts_freed++;
}

struct pair {
    int kind, value;
};
struct wide {
    int at[20];
};
struct text {
    char *text;
};
struct command {
    int       n;
    weft_atom what;
};

WEFT_MESSAGE(A, int);
WEFT_MESSAGE(B, int);
WEFT_MESSAGE(C, int);
WEFT_MESSAGE(PAIR, struct pair);
WEFT_MESSAGE(WIDE, struct wide);
WEFT_MESSAGE(COMMAND, struct command);
WEFT_MESSAGE(NUMBER, long);
WEFT_MESSAGE_OWNING(TEXT, free_text, struct text);
WEFT_SIGNAL(GO);
WEFT_SIGNAL(DONE);
WEFT_SIGNAL(NEVER_SENT);

WEFT_ATOM(add, 'a', 'd', 'd');

static weft_pid me, other;

static void run(weft_fn *first) { cr_assert_eq(weft_run(first, NULL, .seed = 1), 0); }

static int value(const weft_msg *m)
{
    if (weft_is(m, PAIR))
        return weft_get(m, PAIR)->value;
    if (weft_is(m, WIDE))
        return weft_get(m, WIDE)->at[0];
    if (weft_is(m, NUMBER))
        return (int)*weft_get(m, NUMBER);
    return weft_is(m, A) ? *weft_get(m, A) : weft_is(m, B) ? *weft_get(m, B) : *weft_get(m, C);
}

static void note_message(const weft_msg *m)
{
    if (!m || weft_is(m, GO) || weft_is(m, DONE))
        note("%s ", weft_name(m));
    else
        note("%s%d ", weft_name(m), value(m));
}

/* What is left, in order. */
static void note_rest(void)
{
    note("| ");
    for (weft_msg *m; (m = weft_receive_within(weft_ms(0), WEFT_ANY));)
        note_message(m);
}

static void send_abcs(void) /* A1 B2 C3 A4 B5 C6 */
{
    for (int i = 1; i <= 6; i += 3) {
        weft_send(weft_self(), A, i);
        weft_send(weft_self(), B, i + 1);
        weft_send(weft_self(), C, i + 2);
    }
}

static weft_msg *poll_for(const weft_cases *set) { return weft_receive_case(weft_ms(0), set); }

static bool is_even(const weft_msg *m, const void *with)
{
    (void)with;
    return value(m) % 2 == 0;
}

static bool is_at_least(const weft_msg *m, const void *with) { return value(m) >= *(const int *)with; }

static int  asked;
static bool is_value(const weft_msg *m, const void *with)
{
    asked++;
    return value(m) == *(const int *)with;
}

static bool never(const weft_msg *m, const void *with)
{
    (void)m, (void)with;
    asked++;
    return false;
}

static const int         two = 2, five = 5, six = 6, seven = 7;
static const weft_case   only_go[] = {WEFT_ON(GO, NULL)};
static const weft_cases  go = WEFT_CASES(only_go, NULL);
static const weft_cases *stored;

/* ---- Types ----------------------------------------------------------------------------------- */

static void takes_one_type(void *arg)
{
    const weft_case  list[] = {WEFT_ON(B, NULL)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    send_abcs();
    note_message(poll_for(&set));
    note_message(poll_for(&set));
    note_message(poll_for(&set));
    note_rest();
}

Test(match, by_a_type_takes_those_in_order_and_leaves_the_others_in_order)
{
    run(takes_one_type);
    cr_expect_str_eq(noted(), "B2 B5 WEFT_TIMEOUT | A1 C3 A4 C6 ");
}

static void takes_two_types(void *arg)
{
    const weft_case  list[] = {WEFT_ON(C, NULL), WEFT_ON(B, NULL)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    send_abcs();
    for (int i = 0; i < 3; i++)
        note_message(poll_for(&set));
    note_rest();
}

Test(match, takes_the_first_in_mailbox_order_not_in_the_order_of_cases)
{
    run(takes_two_types);
    cr_expect_str_eq(noted(), "B2 C3 B5 | A1 A4 C6 ");
}

static weft_type many[40];
static weft_case twenty_list[20]; /* every second of them */

static void make_many_types(void)
{
    static char names[40][8];

    for (int i = 0; i < 40; i++) {
        memcpy(names[i], "many__", 7);
        names[i][4] = (char)('a' + i / 10);
        names[i][5] = (char)('0' + i % 10);
        many[i] = (weft_type){.name = names[i], .bytes = sizeof i, .tag = 5000 + i};
        if (i % 2)
            twenty_list[i / 2] = (weft_case){.type = &many[i]};
    }
}

/* So that what is there was skipped before, and is sorted, if it is much. */
static void skip_all(void)
{
    for (int i = 0; i < 3; i++) /* two types: of one, that none is there is known by the second time */
        weft_receive_within(weft_ms(0), DONE, NEVER_SENT);
}

static void takes_many_types(void *arg)
{
    weft_cases set = WEFT_CASES(twenty_list, NULL);
    int        wrong = 0;

    (void)arg;
    make_many_types();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 40; i++)
            weft_send_body(weft_self(), &many[i], &i);
        if (round)
            skip_all();
        for (int i = 1; i < 40; i += 2)
            wrong += weft_tag(poll_for(&set)) != 5000 + i;
        note("%d %s ", wrong, weft_name(poll_for(&set)));
        for (int i = 0; i < 40; i += 2)
            wrong += !weft_is_type(weft_receive_within(weft_ms(0), WEFT_ANY), &many[i]);
    }
    note("%d", wrong);
}

Test(match, by_twenty_types_takes_those_in_order)
{
    run(takes_many_types);
    cr_expect_str_eq(noted(), "0 WEFT_TIMEOUT 0 WEFT_TIMEOUT 0");
}

static void tells_what_the_tags_are(const weft_cases *set)
{
    send_abcs();
    for (weft_msg *m; (m = poll_for(set));)
        note("%s%s ", weft_tag(m) == WEFT_ANY ? "any:" : weft_tag(m) == B ? "b:" : "?:", weft_name(m));
}

static void takes_any_last(void *arg)
{
    const weft_case  list[] = {WEFT_ON(B, NULL), WEFT_ON(WEFT_ANY, NULL)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    tells_what_the_tags_are(&set);
}

Test(match, of_any_is_for_what_the_cases_before_it_do_not_match)
{
    run(takes_any_last);
    cr_expect_str_eq(noted(), "any:A b:B any:C any:A b:B any:C ");
}

static void takes_any_first(void *arg)
{
    const weft_case  list[] = {WEFT_ON(WEFT_ANY, NULL), WEFT_ON(B, NULL)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    tells_what_the_tags_are(&set);
}

Test(match, of_any_as_the_first_case_counts_for_all)
{
    run(takes_any_first);
    cr_expect_str_eq(noted(), "any:A any:B any:C any:A any:B any:C ");
}

static void notes_the_tag(void *state, weft_msg *m)
{
    note("%s ", weft_tag(m) == WEFT_ANY ? "any" : weft_name(m));
    if (!weft_is(m, GO))
        weft_react(notes_the_tag, state, WEFT_ANY, B, GO);
}

static void reacts_to_any_and_b(void *arg)
{
    send_abcs();
    weft_send(weft_self(), GO);
    weft_react(notes_the_tag, arg, WEFT_ANY, B, GO);
}

Test(match, of_any_in_a_list_of_types_is_for_what_no_other_of_the_list_matches)
{
    run(reacts_to_any_and_b);
    cr_expect_str_eq(noted(), "any B any any B any GO ");
}

static void receives_any_and_b_of_what_was_skipped(void *arg)
{
    (void)arg;
    send_abcs();
    skip_all();
    for (weft_msg *m; (m = weft_receive_within(weft_ms(0), WEFT_ANY, B));)
        note("%s ", weft_tag(m) == WEFT_ANY ? "any" : weft_name(m));
}

Test(match, of_any_in_a_list_of_types_is_the_same_for_what_was_skipped)
{
    run(receives_any_and_b_of_what_was_skipped);
    cr_expect_str_eq(noted(), "any B any any B any ");
}

static void takes_any_of_what_was_skipped(void *arg)
{
    const weft_case  list[] = {WEFT_ON(B, NULL), WEFT_ON(WEFT_ANY, NULL)};
    const weft_cases set = WEFT_CASES(list, NULL);
    int              wrong = 0;

    (void)arg;
    for (int i = 0; i < 60; i++)
        i % 3   ? weft_send(weft_self(), A, i)
        : i % 2 ? weft_send(weft_self(), B, i)
                : weft_send(weft_self(), C, i);
    skip_all();
    for (int i = 0; i < 60; i++) {
        weft_msg *m = poll_for(&set);
        wrong += !m || value(m) != i || (weft_tag(m) == B) != weft_is(m, B);
    }
    note("%d %s", wrong, weft_name(poll_for(&set)));
}

Test(match, of_any_takes_all_that_was_skipped_in_order)
{
    run(takes_any_of_what_was_skipped);
    cr_expect_str_eq(noted(), "0 WEFT_TIMEOUT");
}

static void takes_any_by_guard(void *arg)
{
    const weft_case  list[] = {WEFT_ON_IF(WEFT_ANY, NULL, is_even, NULL)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    send_abcs();
    for (int i = 0; i < 4; i++)
        note_message(poll_for(&set));
    note_rest();
}

Test(match, of_any_with_a_guard_takes_what_the_guard_says)
{
    run(takes_any_by_guard);
    cr_expect_str_eq(noted(), "B2 A4 C6 WEFT_TIMEOUT | A1 C3 B5 ");
}

static void waits_for_nothing(void *arg)
{
    const weft_cases set = {only_go, 0, NULL}, after = {NULL, 0, &go};

    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), GO);
    note_message(weft_receive_case(weft_ms(5), &set));
    note_message(poll_for(&after));
    note_rest();
}

Test(match, by_no_case_takes_no_message)
{
    run(waits_for_nothing);
    cr_expect_str_eq(noted(), "WEFT_TIMEOUT GO | A1 ");
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void send_pairs(void)
{
    weft_send(weft_self(), PAIR, .kind = 1, .value = 2);
    weft_send(weft_self(), PAIR, .kind = 2, .value = 1);
    weft_send(weft_self(), B, 2);
    weft_send(weft_self(), PAIR, .kind = 2, .value = 2);
}

static void takes_by_the_first_field(void *arg)
{
    const weft_case  list[] = {WEFT_ON_FIELD(PAIR, NULL, kind, &two)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    send_pairs();
    for (int i = 0; i < 3; i++)
        note_message(poll_for(&set));
    note_rest();
}

Test(match, by_a_field_takes_what_has_that_value_there)
{
    run(takes_by_the_first_field);
    cr_expect_str_eq(noted(), "PAIR1 PAIR2 WEFT_TIMEOUT | PAIR2 B2 ");
}

static void takes_by_the_second_field(void *arg)
{
    const weft_case  list[] = {WEFT_ON_FIELD(PAIR, NULL, value, &two)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    send_pairs();
    for (int i = 0; i < 3; i++)
        note("%d ", (int)weft_is(poll_for(&set), PAIR));
    note_rest();
}

Test(match, by_a_field_looks_at_that_field_alone)
{
    run(takes_by_the_second_field);
    cr_expect_str_eq(noted(), "1 1 0 | PAIR1 B2 ");
}

static void takes_by_a_far_field(void *arg)
{
    const weft_case  list[] = {WEFT_ON_FIELD(WIDE, NULL, at[19], &two)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    weft_send(weft_self(), WIDE, .at = {2, 1});
    weft_send(weft_self(), WIDE, .at = {3, [19] = 2});
    note_message(poll_for(&set));
    note_message(poll_for(&set));
    note_rest();
}

Test(match, by_a_field_of_a_large_body_takes_what_has_that_value_there)
{
    run(takes_by_a_far_field);
    cr_expect_str_eq(noted(), "WIDE3 WEFT_TIMEOUT | WIDE2 ");
}

static void takes_by_an_atom(void *arg)
{
    static const weft_atom wanted = add;
    const weft_case        list[] = {WEFT_ON_FIELD(COMMAND, NULL, what, &wanted)};
    const weft_cases       set = WEFT_CASES(list, NULL);

    (void)arg;
    weft_send(weft_self(), COMMAND, .n = 1, .what = WEFT_ATOM_OF('a', 'd'));
    weft_send(weft_self(), COMMAND, .n = 2, .what = weft_atom_from("add"));
    note("%d ", weft_get(poll_for(&set), COMMAND)->n);
    note("%s", weft_name(poll_for(&set)));
}

Test(match, by_an_atom_takes_what_has_that_word)
{
    run(takes_by_an_atom);
    cr_expect_str_eq(noted(), "2 WEFT_TIMEOUT");
}

static void takes_by_value(void *arg)
{
    const weft_case  list[] = {WEFT_ON_VALUE(A, NULL, &five), WEFT_ON_VALUE(B, NULL, &two)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    for (int i = 0; i < 7; i++) {
        weft_send(weft_self(), A, i);
        weft_send(weft_self(), B, i);
    }
    for (int i = 0; i < 3; i++)
        note_message(poll_for(&set));
}

Test(match, by_the_whole_value_takes_what_is_equal)
{
    run(takes_by_value);
    cr_expect_str_eq(noted(), "B2 A5 WEFT_TIMEOUT ");
}

static void takes_by_a_field_of_any(void *arg)
{
    const weft_case list[] = {
        {.type = &weft_type_WEFT_ANY, .with = &two, .at = offsetof(struct pair, value), .bytes = sizeof two}};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    for (int i = 0; i < 2; i++) { /* what lies behind a short body is not part of it */
        weft_send(weft_self(), PAIR, .kind = 2, .value = 2);
        weft_receive(PAIR);
    }
    weft_send(weft_self(), GO);
    weft_send(weft_self(), A, 2);
    weft_send(weft_self(), PAIR, .kind = 7, .value = 2);
    weft_send(weft_self(), WIDE, .at = {8, 2});
    for (int i = 0; i < 3; i++)
        note_message(poll_for(&set));
    note_rest();
}

Test(match, by_a_field_does_not_take_a_body_that_is_too_short_for_it)
{
    run(takes_by_a_field_of_any);
    cr_expect_str_eq(noted(), "PAIR2 WIDE8 WEFT_TIMEOUT | GO A2 ");
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static void takes_by_guard(void *arg)
{
    int              limit = 4;
    const weft_case  list[] = {WEFT_ON_IF(A, NULL, is_at_least, &limit)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    for (int i = 1; i <= 6; i++)
        weft_send(weft_self(), A, i);
    note_message(poll_for(&set));
    limit = 2;
    note_message(poll_for(&set));
    limit = 6;
    note_message(poll_for(&set));
    note_message(poll_for(&set));
    note_rest();
}

Test(match, by_a_guard_sees_the_receivers_variables_as_they_are_now)
{
    run(takes_by_guard);
    cr_expect_str_eq(noted(), "A4 A2 A6 WEFT_TIMEOUT | A1 A3 A5 ");
}

/* What the second receive skips was skipped by the first already, for another reason. */
static void takes_by_guard_what_was_skipped(void *arg)
{
    int              limit = 40;
    const weft_case  list[] = {WEFT_ON_IF(A, NULL, is_at_least, &limit)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    for (int i = 0; i < 50; i++)
        i % 2 ? weft_send(weft_self(), A, i) : weft_send(weft_self(), B, i);
    weft_send(weft_self(), GO);
    note_message(weft_receive(GO));
    note_message(poll_for(&set));
    limit = 0;
    note_message(poll_for(&set));
    note_message(weft_receive(B));
    limit = 44;
    note_message(poll_for(&set));
    note_message(weft_receive(WEFT_ANY));
    note_message(weft_receive(WEFT_ANY));
}

Test(match, by_a_guard_looks_at_what_an_earlier_receive_skipped)
{
    run(takes_by_guard_what_was_skipped);
    cr_expect_str_eq(noted(), "GO A41 A1 B0 A45 B2 A3 ");
}

static void asks_a_guard_of_what_is_there(void *arg)
{
    const weft_case  list[] = {WEFT_ON_IF(A, NULL, is_value, &seven)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    for (int i = 0; i < 5; i++) {
        weft_send(weft_self(), A, i);
        weft_send(weft_self(), B, i);
    }
    note_message(poll_for(&set));
    note("%d ", asked);
    note_message(poll_for(&set)); /* another wait */
    note("%d ", asked);
}

Test(match, asks_a_guard_once_a_wait_of_each_message_of_its_type)
{
    run(asks_a_guard_of_what_is_there);
    cr_expect_str_eq(noted(), "WEFT_TIMEOUT 5 WEFT_TIMEOUT 10 ");
}

static void sends_one_by_one(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 7; i++) {
        weft_send(me, A, i);
        weft_sleep(weft_ms(1));
    }
}

static void asks_a_guard_of_what_comes(void *arg)
{
    const weft_case  list[] = {WEFT_ON_IF(A, NULL, is_value, &seven)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    me = weft_self();
    weft_spawn(sends_one_by_one, NULL);
    note_message(weft_receive_case(WEFT_FOREVER, &set));
    note("%d", asked);
}

Test(match, asks_a_guard_once_of_each_message_however_often_the_wait_is_woken)
{
    run(asks_a_guard_of_what_comes);
    cr_expect_str_eq(noted(), "A7 7");
}

static void asks_a_guard_of_what_fits(void *arg)
{
    const weft_case  list[] = {WEFT_ON_IF(A, NULL, is_value, &seven)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    weft_send(weft_self(), A, 7);
    note_message(poll_for(&set));
    note("%d ", asked);
    weft_send(weft_self(), A, 7);
    weft_receive_within(weft_ms(0), B); /* it is skipped */
    note_message(poll_for(&set));
    note("%d", asked);
}

Test(match, asks_a_guard_once_of_the_message_that_it_takes)
{
    run(asks_a_guard_of_what_fits);
    cr_expect_str_eq(noted(), "A7 1 A7 2");
}

/* Two cases of one type, after so many were skipped that they are sorted. */
static void asks_two_guards_of_what_was_skipped(void *arg)
{
    const weft_case  list[] = {WEFT_ON_IF(A, NULL, never, NULL), WEFT_ON_IF(A, NULL, never, NULL)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    for (int i = 0; i < 100; i++)
        weft_send(weft_self(), A, i);
    skip_all();
    note_message(poll_for(&set));
    note("%d", asked);
}

Test(match, asks_each_of_two_guards_of_a_type_once_of_each_message)
{
    run(asks_two_guards_of_what_was_skipped);
    cr_expect_str_eq(noted(), "WEFT_TIMEOUT 200");
}

static void asks_no_guard_in_vain(void *arg)
{
    const weft_case  list[] = {WEFT_ON(A, NULL), WEFT_ON_IF(WEFT_ANY, NULL, never, NULL)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    weft_send(weft_self(), A, 1);
    note_message(poll_for(&set));
    note("%d", asked);
}

Test(match, asks_no_guard_of_what_an_earlier_case_takes)
{
    run(asks_no_guard_in_vain);
    cr_expect_str_eq(noted(), "A1 0");
}

/* ---- Senders --------------------------------------------------------------------------------- */

static void sends_a_number(void *number) { weft_send(me, A, *(int *)number); }

static void takes_by_sender(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_pid one = weft_spawn(sends_a_number, &(int){1}, .copy_bytes = sizeof(int));
    weft_pid two_ = weft_spawn(sends_a_number, &(int){2}, .copy_bytes = sizeof(int));
    weft_send(me, A, 3);
    weft_sleep(weft_ms(1)); /* all is sent */
    const weft_case  list[] = {WEFT_ON_FROM(A, NULL, two_), WEFT_ON_FROM(A, NULL, me),
                               WEFT_ON_FROM(B, NULL, one)};
    const weft_cases set = WEFT_CASES(list, NULL);
    const weft_case  whoever[] = {WEFT_ON_FROM(A, NULL, WEFT_NOBODY)};
    const weft_cases anybody = WEFT_CASES(whoever, NULL);
    int              sum = 0;
    for (weft_msg *m; (m = poll_for(&set));)
        sum += value(m) * 10;
    note("%d ", sum);
    note_message(poll_for(&anybody));
}

Test(match, by_sender_takes_what_that_one_sent_and_by_nobody_what_anybody_did)
{
    run(takes_by_sender);
    cr_expect_str_eq(noted(), "50 A1 ");
}

static void takes_by_sender_and_guard(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_pid one = weft_spawn(sends_a_number, &(int){1}, .copy_bytes = sizeof(int));
    weft_pid two_ = weft_spawn(sends_a_number, &(int){2}, .copy_bytes = sizeof(int));
    weft_sleep(weft_ms(1));
    const weft_case wrong[] = {{.type = &weft_type_A, .from = one, .when = is_even}};
    const weft_case right[] = {{.type = &weft_type_A, .from = two_, .when = is_even}};
    note_message(poll_for(&(weft_cases)WEFT_CASES(wrong, NULL)));
    note_message(poll_for(&(weft_cases)WEFT_CASES(right, NULL)));
    note_rest();
}

Test(match, takes_a_message_only_if_all_that_is_given_does)
{
    run(takes_by_sender_and_guard);
    cr_expect_str_eq(noted(), "WEFT_TIMEOUT A2 | A1 ");
}

/* ---- Responses ------------------------------------------------------------------------------- */

static void answers_with_b(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(A);
    weft_reply(m, B, *weft_get(m, A) * 10);
}

static void takes_a_response(void *arg)
{
    (void)arg;
    weft_pending     one = weft_request(weft_spawn(answers_with_b, NULL), A, 1);
    weft_pending     two_ = weft_request(weft_spawn(answers_with_b, NULL), A, 2);
    const weft_case  list[] = {WEFT_ON(C, NULL), WEFT_ON_RESPONSE(B, NULL, two_)};
    const weft_cases set = WEFT_CASES(list, NULL);

    weft_send(weft_self(), B, 3);
    note_message(weft_receive_case(WEFT_FOREVER, &set));
    note_message(poll_for(&set));
    weft_send(weft_self(), C, 4);
    note_message(weft_receive_case(WEFT_FOREVER, &set));
    note_message(weft_await(one, WEFT_FOREVER));
    note_rest();
}

Test(match, by_request_takes_its_response_and_no_message)
{
    run(takes_a_response);
    cr_expect_str_eq(noted(), "B20 WEFT_TIMEOUT C4 B10 | B3 ");
}

static void takes_no_response(void *arg)
{
    const weft_case  list[] = {WEFT_ON(B, NULL), WEFT_ON(WEFT_ANY, NULL)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    weft_pending request = weft_request(weft_spawn(answers_with_b, NULL), A, 1);
    note_message(weft_receive_case(weft_ms(1), &set));
    note_message(weft_await(request, weft_ms(0)));
}

Test(match, by_type_or_any_takes_no_response)
{
    run(takes_no_response);
    cr_expect_str_eq(noted(), "WEFT_TIMEOUT B10 ");
}

static void takes_a_response_of_another_type(void *arg)
{
    (void)arg;
    weft_pending     request = weft_request(weft_spawn(answers_with_b, NULL), A, 1);
    const weft_case  list[] = {WEFT_ON_RESPONSE(C, NULL, request)};
    const weft_case  any_list[] = {WEFT_ON_RESPONSE(WEFT_ANY, NULL, request)};
    const weft_cases set = WEFT_CASES(list, NULL), any = WEFT_CASES(any_list, &set);

    note_message(weft_receive_case(weft_ms(1), &set));
    weft_msg *m = poll_for(&any);
    note_message(m);
    note("%d", weft_tag(m) == WEFT_ANY);
}

Test(match, by_request_takes_the_response_only_if_it_has_the_type_of_the_case)
{
    run(takes_a_response_of_another_type);
    cr_expect_str_eq(noted(), "WEFT_TIMEOUT B10 1");
}

static void ends_without_an_answer(void *arg)
{
    (void)arg;
    weft_receive(A);
}

static void takes_a_failure(void *arg)
{
    (void)arg;
    weft_pending     request = weft_request(weft_spawn(ends_without_an_answer, NULL), A, 1);
    const weft_case  list[] = {WEFT_ON_RESPONSE(B, NULL, request),
                               WEFT_ON_RESPONSE(WEFT_FAILED, NULL, request)};
    const weft_cases set = WEFT_CASES(list, NULL);
    weft_msg        *m = weft_receive_case(weft_sec(1), &set);

    note("%s ", weft_name(m));
    note("%d ", *weft_get(m, WEFT_FAILED) == WEFT_EDROPPED || *weft_get(m, WEFT_FAILED) == WEFT_EGONE);
    note("%d", weft_tag(m) == WEFT_FAILED);
}

Test(match, by_request_takes_the_failure_of_it_by_a_case_of_its_own)
{
    run(takes_a_failure);
    cr_expect_str_eq(noted(), "WEFT_FAILED 1 1");
}

static weft_case response_list[2];

static void on_response(void *state, weft_msg *m)
{
    note("%s ", (const char *)state);
    note_message(m);
}

static void reacts_to_a_response(void *arg)
{
    static const weft_cases set = WEFT_CASES(response_list, NULL);

    (void)arg;
    weft_pending request = weft_request(weft_spawn(answers_with_b, NULL), A, 1);
    response_list[0] = (weft_case)WEFT_ON(C, on_response);
    response_list[1] = (weft_case)WEFT_ON_RESPONSE(B, on_response, request);
    weft_send(weft_self(), B, 3);
    weft_react_case(&set, "state");
}

Test(match, by_request_in_react_runs_the_handler_of_the_case)
{
    run(reacts_to_a_response);
    cr_expect_str_eq(noted(), "state B10 ");
}

/* The response B10 to a request, by a case of it with that much more. */
static void takes_it_by(weft_case c)
{
    weft_cases set = {&c, 1, NULL};

    c.of = weft_request(other, A, 1);
    weft_msg *m = weft_receive_case(weft_ms(10), &set);
    note_message(m);
    if (!m)
        note_message(weft_await(c.of, weft_ms(0))); /* it is there still */
}

static void answers_each_with_b(void *arg)
{
    (void)arg;
    for (;;) {
        weft_msg *m = weft_receive(A);
        weft_reply(m, B, *weft_get(m, A) * 10);
    }
}

static const int ten = 10;

static void takes_responses_by_more(void *arg)
{
    (void)arg;
    other = weft_spawn(answers_each_with_b, NULL);
    takes_it_by((weft_case){.type = &weft_type_B, .when = is_value, .with = &ten});
    takes_it_by((weft_case){.type = &weft_type_B, .when = is_value, .with = &five});
    note("| ");
    takes_it_by((weft_case){.type = &weft_type_B, .from = other});
    takes_it_by((weft_case){.type = &weft_type_B, .from = weft_self()});
    note("| ");
    takes_it_by((weft_case){.type = &weft_type_B, .with = &ten, .bytes = sizeof ten});
    takes_it_by((weft_case){.type = &weft_type_B, .with = &five, .bytes = sizeof five});
    note("| ");
    takes_it_by((weft_case){.type = &weft_type_WEFT_ANY, .when = is_value, .with = &ten, .from = other});
    takes_it_by((weft_case){.type = &weft_type_WEFT_ANY, .when = is_value, .with = &five, .from = other});
}

Test(match, by_request_takes_the_response_only_if_all_that_is_given_does)
{
    run(takes_responses_by_more);
    cr_expect_str_eq(noted(), "B10 WEFT_TIMEOUT B10 | B10 WEFT_TIMEOUT B10 | B10 WEFT_TIMEOUT B10 | "
                              "B10 WEFT_TIMEOUT B10 ");
}

static bool to_twice(const weft_msg *m, const void *with, void *number)
{
    (void)with;
    *(long *)number = 2L * value(m);
    return value(m) > 10;
}

static weft_cases of_a_response;
static weft_case  becoming_list[1];

static void has_late_one(void *state, weft_msg *m)
{
    (void)state;
    note_message(m);
    if (!m)
        note_message(weft_await(becoming_list[0].of, weft_ms(0)));
}

static void reacts_to_what_a_response_becomes(void *arg)
{
    becoming_list[0].of = weft_request(other, A, *(int *)arg);
    weft_react_case_within(weft_ms(10), has_late_one, &of_a_response, NULL);
}

static void converts_responses(void *arg)
{
    static const int one = 1, three = 3;

    (void)arg;
    other = weft_spawn(answers_each_with_b, NULL);
    becoming_list[0] = (weft_case){
        .type = &weft_type_B, .run = has_late_one, .project = to_twice, .as = &weft_type_NUMBER};
    of_a_response = (weft_cases)WEFT_CASES(becoming_list, NULL);
    takes_it_by(becoming_list[0]);
    becoming_list[0].of = weft_request(other, A, 2);
    weft_msg *m = weft_receive_case(weft_ms(10), &of_a_response);
    note_message(m);
    note("%d %d ", weft_tag(m) == NUMBER, weft_same(weft_sender(m), other));
    weft_spawn(reacts_to_what_a_response_becomes, (void *)&one);
    weft_sleep(weft_ms(20));
    weft_spawn(reacts_to_what_a_response_becomes, (void *)&three);
    weft_sleep(weft_ms(20));
}

Test(match, by_request_as_another_type_converts_the_response)
{
    run(converts_responses);
    cr_expect_str_eq(noted(), "WEFT_TIMEOUT B10 NUMBER40 1 1 WEFT_TIMEOUT B10 NUMBER60 ");
}

static void answers_at_its_time(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(A);
    weft_sleep(weft_ms(*weft_get(m, A)));
    weft_reply(m, B, *weft_get(m, A) * 10);
}

static void asks_a_guard_of_responses(void *arg)
{
    weft_pending two_[2];
    weft_case    list[3] = {WEFT_ON(GO, NULL)};

    (void)arg;
    me = weft_self();
    for (int i = 0; i < 2; i++) {
        two_[i] = weft_request(weft_spawn(answers_at_its_time, NULL), A, 2 * i + 1);
        list[i + 1] = (weft_case){.type = &weft_type_B, .when = never, .of = two_[i]};
    }
    weft_cases set = WEFT_CASES(list, NULL);
    for (int i = 0; i < 6; i++) /* it is woken by each, and skips it */
        weft_send_after(weft_ms(i), me, A, i);
    note_message(weft_receive_case(weft_ms(10), &set));
    note("%d ", asked);
    note_message(weft_receive_case(weft_ms(10), &set)); /* another wait */
    note("%d ", asked);
    weft_send(me, GO);
    note_message(weft_receive_case(weft_ms(10), &set));
    note("%d ", asked);
    for (int i = 0; i < 2; i++)
        note_message(weft_await(two_[i], weft_ms(0)));
}

Test(match, by_request_asks_a_guard_once_a_wait_of_each_response)
{
    run(asks_a_guard_of_responses);
    cr_expect_str_eq(noted(), "WEFT_TIMEOUT 2 WEFT_TIMEOUT 4 GO 6 B10 B30 ");
}

/* ---- Projections ----------------------------------------------------------------------------- */

static int  projected;
static bool to_number(const weft_msg *m, const void *with, void *number)
{
    char *end;

    (void)with;
    projected++;
    *(long *)number = strtol(weft_get(m, TEXT)->text, &end, 10);
    return !*end;
}

static bool to_wide(const weft_msg *m, const void *with, void *wide)
{
    struct wide *w = wide;

    for (int i = 0; i < 20; i++)
        if (w->at[i])
            note("not zeroed ");
    w->at[0] = value(m);
    w->at[19] = *(const int *)with;
    return value(m) != 13;
}

static bool to_pair(const weft_msg *m, const void *with, void *pair)
{
    struct pair *p = pair;

    (void)with;
    if (p->kind || p->value)
        note("not zeroed ");
    p->value = weft_get(m, WIDE)->at[0];
    return p->value > 10;
}

static void             nothing(void *state, weft_msg *m);
static const weft_case  number_list[] = {WEFT_ON_AS(TEXT, nothing, to_number, NULL, NUMBER)};
static const weft_cases numbers = WEFT_CASES(number_list, NULL);

static void nothing(void *state, weft_msg *m)
{
    (void)state;
    note_message(m);
}

static int send_text(weft_pid to, const char *text) { return weft_send(to, TEXT, strdup(text)); }

static void converts(void *arg)
{
    (void)arg;
    send_text(weft_self(), "twelve");
    send_text(weft_self(), "12");
    weft_msg *m = poll_for(&numbers);
    note_message(m);
    note("%d %d %d ", weft_tag(m) == NUMBER, (int)weft_is(m, TEXT), texts_freed);
    note_message(poll_for(&numbers));
    note("%d ", texts_freed);
    m = weft_receive(TEXT);
    note("%s ", weft_get(m, TEXT)->text);
    weft_drop(m);
}

Test(match, as_another_type_gives_a_message_of_that_type_and_destroys_the_first_once)
{
    run(converts);
    cr_expect_str_eq(noted(), "NUMBER12 1 0 1 WEFT_TIMEOUT 1 twelve ");
    cr_expect_eq(texts_freed, 2);
}

static void converts_late(void *arg)
{
    (void)arg;
    weft_sleep(weft_ms(1));
    send_text(me, "eleven");
    send_text(me, "11");
}

static void waits_to_convert(void *arg)
{
    (void)arg;
    me = weft_self();
    other = weft_spawn(converts_late, NULL);
    weft_msg *m = weft_receive_case(WEFT_FOREVER, &numbers);
    note_message(m);
    note("%d", (int)weft_same(weft_sender(m), other));
}

Test(match, as_another_type_keeps_the_sender)
{
    run(waits_to_convert);
    cr_expect_str_eq(noted(), "NUMBER11 1");
    cr_expect_eq(texts_freed, 2, "and nothing is left behind");
}

static void converts_once(void *arg)
{
    (void)arg;
    send_text(weft_self(), "one");
    send_text(weft_self(), "1");
    note_message(poll_for(&numbers));
    note("%d", projected);
}

Test(match, as_another_type_converts_each_message_once)
{
    run(converts_once);
    cr_expect_str_eq(noted(), "NUMBER1 2");
}

static void converts_small_and_large(void *arg)
{
    const weft_case  list[] = {WEFT_ON_AS(A, NULL, to_wide, &seven, WIDE),
                               WEFT_ON_AS(WIDE, NULL, to_pair, NULL, PAIR)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    weft_send(weft_self(), WIDE, .at = {10});
    weft_send(weft_self(), A, 13);
    weft_send(weft_self(), WIDE, .at = {11});
    weft_send(weft_self(), A, 12);
    note_message(poll_for(&set));
    weft_msg *m = poll_for(&set);
    note_message(m);
    note("%d ", weft_get(m, WIDE)->at[19]);
    note_message(poll_for(&set));
    note_rest();
}

Test(match, as_another_type_converts_small_to_large_and_large_to_small)
{
    run(converts_small_and_large);
    cr_expect_str_eq(noted(), "PAIR11 WIDE12 7 WEFT_TIMEOUT | WIDE10 A13 ");
}

static void serves_numbers(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive_case(WEFT_FOREVER, &numbers);
    weft_reply(m, A, (int)*weft_get(m, NUMBER) + 1);
    weft_receive_case(WEFT_FOREVER, &numbers); /* and ends, with no answer */
}

static void asks_a_converter(void *arg)
{
    (void)arg;
    other = weft_spawn(serves_numbers, NULL);
    note_message(weft_ask(weft_sec(1), other, TEXT, strdup("41")));
    weft_msg *m = weft_ask(weft_sec(1), other, TEXT, strdup("42"));
    note("%s %d", weft_name(m), texts_freed);
}

Test(match, as_another_type_keeps_the_request_to_be_answered_or_to_fail)
{
    run(asks_a_converter);
    cr_expect_str_eq(noted(), "A42 WEFT_FAILED 2");
}

static void hands_on_numbers(void *arg)
{
    (void)arg;
    weft_forward(other, weft_receive_case(WEFT_FOREVER, &numbers));
}

static void answers_numbers(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(NUMBER);
    weft_reply(m, B, (int)*weft_get(m, NUMBER));
}

static void asks_one_who_hands_on(void *arg)
{
    (void)arg;
    other = weft_spawn(answers_numbers, NULL);
    note_message(weft_ask(weft_sec(1), weft_spawn(hands_on_numbers, NULL), TEXT, strdup("9")));
}

Test(match, as_another_type_can_be_forwarded_with_its_request)
{
    run(asks_one_who_hands_on);
    cr_expect_str_eq(noted(), "B9 ");
}

static void answers_and_stays(void *state, weft_msg *m)
{
    note_message(m);
    weft_reply(m, A, (int)*weft_get(m, NUMBER) * 2);
    weft_react_case(state, state);
}

static void reacts_to_numbers(void *arg)
{
    static const weft_case  list[] = {WEFT_ON_AS(TEXT, answers_and_stays, to_number, NULL, NUMBER)};
    static const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    weft_react_case(&set, (void *)&set);
}

static void asks_a_reactor(void *arg)
{
    (void)arg;
    other = weft_spawn(reacts_to_numbers, NULL);
    note_message(weft_ask(weft_sec(1), other, TEXT, strdup("5")));
    note_message(weft_ask(weft_ms(1), other, TEXT, strdup("five")));
    note_message(weft_ask(weft_sec(1), other, TEXT, strdup("6")));
}

Test(match, as_another_type_in_react_gives_the_handler_the_converted_one)
{
    run(asks_a_reactor);
    cr_expect_str_eq(noted(), "NUMBER5 A10 WEFT_TIMEOUT NUMBER6 A12 ");
    cr_expect_eq(texts_freed, 3);
}

/* ---- Which case ------------------------------------------------------------------------------ */

static void notes_first(void *state, weft_msg *m)
{
    (void)state;
    note("first:");
    note_message(m);
}
static void notes_second(void *state, weft_msg *m)
{
    (void)state;
    note("second:");
    note_message(m);
}
static void notes_third(void *state, weft_msg *m)
{
    (void)state;
    note("third:");
    note_message(m);
}
static void notes_fourth(void *state, weft_msg *m)
{
    (void)state;
    note("fourth:");
    note_message(m);
}

static const weft_case  third_list[] = {WEFT_ON(GO, notes_third), WEFT_ON(WEFT_ANY, notes_fourth)};
static const weft_cases third_set = WEFT_CASES(third_list, NULL);
static const weft_case second_list[] = {WEFT_ON_IF(A, notes_second, is_even, NULL), WEFT_ON(B, notes_second)};
static const weft_cases second_set = WEFT_CASES(second_list, &third_set);
static const weft_case  first_list[] = {WEFT_ON_VALUE(A, notes_first, &six),
                                        WEFT_ON_VALUE(B, notes_first, &five)};
static const weft_cases first_set = WEFT_CASES(first_list, &second_set);

static void send_to_chain(void)
{
    for (int i = 4; i <= 6; i++) {
        weft_send(weft_self(), A, i);
        weft_send(weft_self(), B, i);
    }
    weft_send(weft_self(), GO);
    weft_send(weft_self(), C, 1);
}

static void waits_in_chain(void *left)
{
    --*(int *)left;
    weft_react_case(&first_set, left);
}

static bool some_are_left(void *left) { return *(int *)left > 0; }

static void reacts_by_a_chain(void *arg)
{
    int *left = weft_alloc(sizeof *left);

    (void)arg;
    *left = 8;
    send_to_chain();
    weft_loop_while(some_are_left, waits_in_chain, left);
}

static const char by_chain[] =
    "second:A4 second:B4 fourth:A5 first:B5 first:A6 second:B6 third:GO fourth:C1 ";

Test(match, of_three_sets_joined_asks_the_first_then_the_second_then_the_third)
{
    run(reacts_by_a_chain);
    cr_expect_str_eq(noted(), by_chain);
}

static void receives_by_a_chain(void *arg)
{
    (void)arg;
    send_to_chain();
    for (weft_msg *m; (m = poll_for(&first_set));) {
        switch (weft_tag(m)) {
        case A:
            note("a");
            break;
        case B:
            note("b");
            break;
        case GO:
            note("go");
            break;
        case WEFT_ANY:
            note("any");
            break;
        }
        note(":");
        note_message(m);
    }
}

Test(match, of_three_sets_joined_labels_the_message_by_the_case_that_counts)
{
    run(receives_by_a_chain);
    cr_expect_str_eq(noted(), "a:A4 b:B4 any:A5 b:B5 a:A6 b:B6 go:GO any:C1 ");
}

static void becomes_a_chain(void *arg)
{
    (void)arg;
    me = weft_self();
    send_to_chain();
    weft_become(&first_set, NULL);
}

static void spawns_a_chain(void *arg)
{
    (void)arg;
    weft_spawn(becomes_a_chain, NULL);
    weft_sleep(weft_ms(1));
}

Test(match, by_a_set_is_the_same_in_become_as_in_react)
{
    run(spawns_a_chain);
    cr_expect_str_eq(noted(), by_chain);
}

static void takes_even(void *state, weft_msg *m);

static const weft_case  even_list[] = {WEFT_ON_IF(A, takes_even, is_even, NULL), WEFT_ON(GO, takes_even)};
static const weft_cases even = WEFT_CASES(even_list, NULL);

static void takes_even(void *state, weft_msg *m)
{
    note_message(m);
    if (weft_is(m, GO)) {
        weft_send(weft_self(), A, 8);
        weft_become(stored, state);
    } else if (value(m) == 8) {
        weft_unbecome();
        weft_send(weft_self(), A, 10);
        note_message(weft_receive_case(WEFT_FOREVER, stored)); /* in a handler */
        note_rest();
    }
}

static void uses_one_set_everywhere(void *arg)
{
    (void)arg;
    stored = &even;
    for (int i = 1; i <= 4; i++)
        weft_send(weft_self(), A, i);
    note_message(weft_receive_case(WEFT_FOREVER, stored));
    note("receive ");
    weft_react_case(stored, NULL);
    weft_become(stored, NULL);
    weft_send(weft_self(), GO);
}

Test(match, by_one_stored_set_serves_receive_react_and_become)
{
    run(uses_one_set_everywhere);
    cr_expect_str_eq(noted(), "A2 receive A4 GO A8 A10 | A1 A3 ");
}

static void notes_which_counts(void *arg)
{
    static const weft_case  list[] = {WEFT_ON_IF(A, notes_first, is_even, NULL), WEFT_ON(A, notes_second),
                                      WEFT_ON_VALUE(A, notes_third, &five)};
    static const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    for (int i = 4; i <= 6; i++)
        weft_send(weft_self(), A, i);
    weft_become(&set, NULL);
}

static void spawns_which_counts(void *arg)
{
    (void)arg;
    weft_spawn(notes_which_counts, NULL);
    weft_sleep(weft_ms(1));
}

Test(match, by_several_cases_of_one_message_is_by_the_first_of_them)
{
    run(spawns_which_counts);
    cr_expect_str_eq(noted(), "first:A4 second:A5 first:A6 ");
}

static void takes_without_a_handler(void *arg)
{
    static const weft_case  list[] = {WEFT_ON(A, NULL), WEFT_ON(B, nothing)};
    static const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), B, 2);
    weft_send(weft_self(), A, 3);
    weft_send(weft_self(), B, 4);
    weft_become(&set, NULL);
}

static void spawns_one_without_a_handler(void *arg)
{
    (void)arg;
    weft_spawn(takes_without_a_handler, NULL);
    weft_sleep(weft_ms(1));
}

Test(match, by_a_case_without_a_handler_takes_the_message_and_that_is_all)
{
    run(spawns_one_without_a_handler);
    cr_expect_str_eq(noted(), "B2 B4 ");
}

/* ---- Time ------------------------------------------------------------------------------------ */

static const weft_case  late_list[] = {WEFT_ON_IF(A, nothing, is_even, NULL)};
static const weft_cases late_set = WEFT_CASES(late_list, NULL);

static void polls(void *arg)
{
    (void)arg;
    note_message(poll_for(&late_set));
    weft_send(weft_self(), A, 1);
    note_message(poll_for(&late_set));
    weft_send(weft_self(), A, 2);
    note_message(poll_for(&late_set));
    note_message(poll_for(&late_set));
}

Test(match, within_no_time_takes_what_is_there_or_returns)
{
    run(polls);
    cr_expect_str_eq(noted(), "WEFT_TIMEOUT WEFT_TIMEOUT A2 WEFT_TIMEOUT ");
}

/* Something odd every 3 ms until 9 ms, and something even after the time given. */
static void sends_even_after(void *ms)
{
    for (int t = 3; t <= 9; t += 3) {
        weft_sleep(weft_ms(3));
        weft_send(me, A, t / 3 * 2 - 1);
    }
    weft_sleep(weft_ms(*(int *)ms - 9));
    weft_send(me, A, 2);
}

static void waits_ten(int sent_after)
{
    me = weft_self();
    weft_spawn(sends_even_after, &sent_after, .copy_bytes = sizeof sent_after);
    note_message(weft_receive_case(weft_ms(10), &late_set));
    note_message(weft_receive_case(weft_ms(10), &late_set));
    note_rest();
}

static void waits_long_enough(void *arg)
{
    (void)arg;
    waits_ten(9);
}

Test(match, in_time_takes_the_message)
{
    run(waits_long_enough);
    cr_expect_str_eq(noted(), "A2 WEFT_TIMEOUT | A1 A3 A5 ");
}

static void waits_too_short(void *arg)
{
    (void)arg;
    waits_ten(12);
}

Test(match, too_late_is_no_message_whatever_else_comes_and_the_next_wait_takes_it)
{
    run(waits_too_short);
    cr_expect_str_eq(noted(), "WEFT_TIMEOUT A2 | A1 A3 A5 ");
}

static void on_late(void *state, weft_msg *m)
{
    note("late %d %s ", *(int *)state, weft_name(m));
    note_rest();
}

static void reacts_within(int ms, int sent_after)
{
    int *state = weft_alloc(sizeof *state);

    me = weft_self();
    *state = 7;
    if (sent_after)
        weft_spawn(sends_even_after, &sent_after, .copy_bytes = sizeof sent_after);
    weft_react_case_within(weft_ms(ms), on_late, &late_set, state);
}

static void reacts_in_no_time(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    reacts_within(0, 0);
}

Test(match, within_no_time_in_react_is_late_if_nothing_matches)
{
    run(reacts_in_no_time);
    cr_expect_str_eq(noted(), "late 7 WEFT_TIMEOUT | A1 ");
}

static void reacts_in_no_time_to_what_is_there(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), A, 2);
    reacts_within(0, 0);
}

Test(match, within_no_time_in_react_takes_what_is_there)
{
    run(reacts_in_no_time_to_what_is_there);
    cr_expect_str_eq(noted(), "A2 ");
}

static void reacts_in_time(void *arg)
{
    (void)arg;
    reacts_within(10, 9);
}

Test(match, in_time_in_react_runs_the_handler_of_the_case)
{
    run(reacts_in_time);
    cr_expect_str_eq(noted(), "A2 ");
}

static void reacts_too_late(void *arg)
{
    (void)arg;
    reacts_within(10, 12);
}

Test(match, too_late_in_react_runs_the_other_handler_with_no_message)
{
    run(reacts_too_late);
    cr_expect_str_eq(noted(), "late 7 WEFT_TIMEOUT | A1 A3 A5 ");
}

static void goes_on_after_late(void *state, weft_msg *m)
{
    note_message(m);
    weft_react_case(&late_set, state);
}

static void reacts_again_after_late(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(sends_even_after, &(int){12}, .copy_bytes = sizeof(int));
    weft_react_case_within(weft_ms(10), goes_on_after_late, &late_set, NULL);
}

Test(match, too_late_in_react_is_in_time_for_the_next)
{
    run(reacts_again_after_late);
    cr_expect_str_eq(noted(), "WEFT_TIMEOUT A2 ");
}

/* ---- How often it is asked --------------------------------------------------------------------- */

enum { MUCH = 100 };

static void send_much(void)
{
    for (int i = 0; i < MUCH; i++)
        weft_send(weft_self(), A, 0);
}

/* All that is there is skipped when they come, one by one; then what fits. */
static void sends_urgently_one_by_one(void *arg)
{
    (void)arg;
    for (int i = 1; i <= MUCH; i++) {
        weft_sleep(weft_ms(1));
        weft_send_urgent(me, B, i);
    }
    weft_sleep(weft_ms(1));
    weft_send(me, A, 7);
}

static const weft_case  only_seven[] = {WEFT_ON_IF(A, NULL, is_value, &seven)};
static const weft_cases seven_set = WEFT_CASES(only_seven, NULL);

static void asks_a_guard_while_urgent_ones_come(void *arg)
{
    (void)arg;
    me = weft_self();
    send_much();
    weft_spawn(sends_urgently_one_by_one, NULL);
    note_message(weft_receive_case(WEFT_FOREVER, &seven_set));
    note("%d ", asked);
}

Test(match, asks_a_guard_once_of_each_message_whatever_urgent_ones_come)
{
    run(asks_a_guard_while_urgent_ones_come);
    cr_expect_str_eq(noted(), "A7 101 ");
}

static void notes_how_often(void *state, weft_msg *m)
{
    (void)state;
    note_message(m);
    note("%d ", asked);
}

static void notes_how_often_and_leaves(void *state, weft_msg *m)
{
    notes_how_often(state, m);
    weft_unbecome();
}

static const weft_case  react_list[] = {WEFT_ON_IF(A, notes_how_often, is_value, &seven)};
static const weft_cases react_set = WEFT_CASES(react_list, NULL);
static const weft_case  become_list[] = {WEFT_ON_IF(A, notes_how_often_and_leaves, is_value, &seven)};
static const weft_cases become_set = WEFT_CASES(become_list, NULL);

static void reacts_by_a_guard_while_urgent_ones_come(void *arg)
{
    (void)arg;
    me = weft_self();
    send_much();
    weft_spawn(sends_urgently_one_by_one, NULL);
    weft_react_case(&react_set, NULL);
}

static void serves_by_a_guard_while_urgent_ones_come(void *arg)
{
    (void)arg;
    me = weft_self();
    send_much();
    weft_spawn(sends_urgently_one_by_one, NULL);
    weft_become(&become_set, NULL);
}

Test(match, in_react_asks_a_guard_once_of_each_message_whatever_urgent_ones_come)
{
    run(reacts_by_a_guard_while_urgent_ones_come);
    run(serves_by_a_guard_while_urgent_ones_come);
    cr_expect_str_eq(noted(), "A7 101 A7 202 ");
}

static int  answered;
static void answers_a_question(void *arg)
{
    (void)arg;
    for (;;)
        weft_reply(weft_receive(GO), DONE);
}

/* One request after another has a handler; then comes what fits. */
static void has_an_answer(void *state, weft_msg *m)
{
    (void)m;
    if (++answered % MUCH == 0)
        weft_send(weft_self(), A, 7);
    else
        weft_then(weft_request(other, GO), WEFT_FOREVER, has_an_answer, state);
}

static void begin_to_ask(void)
{
    other = weft_spawn(answers_a_question, NULL);
    send_much();
    weft_then(weft_request(other, GO), WEFT_FOREVER, has_an_answer, NULL);
}

static void reacts_by_a_guard_while_responses_come(void *arg)
{
    (void)arg;
    begin_to_ask();
    weft_react_case(&react_set, NULL);
}

static void serves_by_a_guard_while_responses_come(void *arg)
{
    (void)arg;
    begin_to_ask();
    weft_become(&become_set, NULL);
}

Test(match, in_react_asks_a_guard_once_of_each_message_however_many_responses_are_handled)
{
    run(reacts_by_a_guard_while_responses_come);
    cr_expect_str_eq(noted(), "A7 101 ");
    cr_expect_eq(answered, MUCH);
}

Test(match, in_a_behaviour_asks_a_guard_once_of_each_message_however_many_responses_are_handled)
{
    run(serves_by_a_guard_while_responses_come);
    cr_expect_str_eq(noted(), "A7 101 ");
    cr_expect_eq(answered, MUCH);
}

/* A handler that arranges the same anew begins a new wait, in which the guard may say something else. */
static int  now_fits = 5;
static void has_an_answer_and_reacts(void *state, weft_msg *m);

static const weft_case  fits_list[] = {WEFT_ON_IF(A, notes_how_often, is_value, &now_fits)};
static const weft_cases fits_set = WEFT_CASES(fits_list, NULL);

static void has_an_answer_and_reacts(void *state, weft_msg *m)
{
    (void)m;
    now_fits = 0; /* and nothing new comes */
    weft_react_case(&fits_set, state);
}

static void reacts_anew_while_a_response_comes(void *arg)
{
    (void)arg;
    other = weft_spawn(answers_a_question, NULL);
    send_much();
    weft_then(weft_request(other, GO), WEFT_FOREVER, has_an_answer_and_reacts, NULL);
    weft_react_case(&fits_set, NULL);
}

Test(match, in_react_asks_a_guard_again_if_the_handler_of_a_response_reacts_anew)
{
    run(reacts_anew_while_a_response_comes);
    cr_expect_str_eq(noted(), "A0 101 ");
}

/* One that waits in the middle skips what comes meanwhile. */
static int  way;
static void has_an_answer_and_waits(void *state, weft_msg *m)
{
    (void)state, (void)m;
    weft_send(weft_self(), A, 7);
    weft_send(weft_self(), B, 1);
    switch (way) {
    case 0:
        weft_receive(B);
        break;
    case 1:
        weft_sleep(weft_ms(1));
        break;
    default:
        weft_ask(WEFT_FOREVER, other, GO);
    }
}

static void reacts_while_a_handler_waits(void *arg)
{
    (void)arg;
    other = weft_spawn(answers_a_question, NULL);
    send_much();
    weft_then(weft_request(other, GO), WEFT_FOREVER, has_an_answer_and_waits, NULL);
    weft_react_case(&react_set, NULL);
}

Test(match, in_react_sees_what_came_while_the_handler_of_a_response_waited)
{
    for (way = 0; way < 3; way++)
        run(reacts_while_a_handler_waits);
    cr_expect_str_eq(noted(), "A7 201 A7 402 A7 603 ");
}

/* So many types, and so many messages of others before them: what is left of them is tested a few times, not by each
 * receive. */
static void takes_many_types_from_behind(void *arg)
{
    enum { TYPES = 100, OTHERS = 2000, RECEIVES = 1000 };
    static weft_type types[TYPES];
    static weft_case list[TYPES];
    static char      names[TYPES][20];
    static const int counts[] = {1, 16, 17, TYPES};

    (void)arg;
    for (int i = 0; i < TYPES; i++) {
        snprintf(names[i], sizeof names[i], "type%d", i);
        types[i] = (weft_type){.name = names[i], .bytes = sizeof i, .tag = 6000 + i};
        list[i] = (weft_case){.type = &types[i]};
    }
    for (int round = 0; round < 4; round++) {
        weft_cases set = {list, (size_t)counts[round], NULL};
        uint64_t   before = weft_skipped();
        int        wrong = 0;
        for (int i = 0; i < OTHERS; i++)
            weft_send(weft_self(), GO);
        for (int i = 0; i < RECEIVES; i++) {
            int which = i % counts[round];
            weft_send_body(weft_self(), &types[which], &i);
            wrong += weft_tag(weft_receive_case(WEFT_FOREVER, &set)) != 6000 + which;
        }
        before = weft_skipped() - before;
        note("%d %s ", wrong,
             before >= OTHERS && before <= 4 * OTHERS + 4 * RECEIVES ? "few" : "many were tested");
        for (int i = 0; i < OTHERS; i++)
            weft_receive(GO);
    }
}

Test(match, by_many_types_tests_what_it_skips_a_few_times_however_often_it_receives)
{
    run(takes_many_types_from_behind);
    cr_expect_str_eq(noted(), "0 few 0 few 0 few 0 few ");
}

static void asks_no_guard_of_what_comes_later(void *arg)
{
    const weft_case  list[] = {WEFT_ON_IF(A, NULL, never, NULL), WEFT_ON(B, NULL)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    for (int i = 0; i < 5; i++)
        weft_send(weft_self(), B, i);
    send_much();
    weft_send(weft_self(), B, 5);
    skip_all();
    for (int i = 0; i < 5; i++)
        note_message(poll_for(&set));
    note("%d ", asked);
    note_message(poll_for(&set)); /* behind all */
    note("%d", asked);
}

Test(match, asks_no_guard_of_what_lies_behind_the_first_that_fits_in_any_case)
{
    run(asks_no_guard_of_what_comes_later);
    cr_expect_str_eq(noted(), "B0 B1 B2 B3 B4 0 B5 100");
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void sends_to_a_thread(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 4; i++)
        weft_send(me, A, i);
    send_text(me, "x");
    send_text(me, "77");
    weft_send_urgent(me, B, 5);
    weft_send_urgent(me, B, 6);
    weft_send(me, GO);
}

Test(match, works_in_a_thread_as_in_an_actor)
{
    int             limit = 3;
    const weft_case list[] = {WEFT_ON_IF(A, NULL, is_at_least, &limit)};

    me = weft_self();
    cr_expect_null(poll_for(&late_set));
    weft_spawn(sends_to_a_thread, NULL);
    note_message(weft_receive_case(WEFT_FOREVER, &go));
    note_message(weft_receive_case(WEFT_FOREVER, &(weft_cases)WEFT_CASES(list, NULL)));
    note_message(weft_receive_case(WEFT_FOREVER, &late_set));
    note_message(weft_receive_case(WEFT_FOREVER, &numbers));
    weft_drop(weft_receive(TEXT));
    note_rest();
    cr_expect_str_eq(noted(), "GO A3 A2 NUMBER77 | B5 B6 A1 A4 ");
    cr_expect_eq(texts_freed, 2);
}

Test(match, in_a_thread_sees_urgent_messages_first)
{
    const weft_case  list[] = {WEFT_ON(A, NULL), WEFT_ON(B, NULL)};
    const weft_cases set = WEFT_CASES(list, NULL);

    me = weft_self();
    for (int i = 1; i <= 3; i++)
        weft_send(me, A, i);
    weft_send_urgent(me, B, 4);
    weft_send_urgent(me, A, 5);
    note_message(weft_receive(A));
    note_message(weft_receive(A, B));
    note_message(weft_receive(A));
    weft_send_urgent(me, A, 6);
    note_message(poll_for(&set));
    note_rest();
    cr_expect_str_eq(noted(), "A5 B4 A1 A6 | A2 A3 ");
}

/* ---- Urgent ---------------------------------------------------------------------------------- */

static void send_some_urgent(weft_pid to) /* B3 B5 A1 A2 A4 */
{
    weft_send(to, A, 1);
    weft_send(to, A, 2);
    weft_send_urgent(to, B, 3);
    weft_send(to, A, 4);
    weft_send_urgent(to, B, 5);
}

static void receives_urgent(void *arg)
{
    (void)arg;
    send_some_urgent(weft_self());
    for (int i = 0; i < 5; i++)
        note_message(weft_receive(A, B));
}

Test(match, sees_urgent_messages_first_and_in_the_order_sent)
{
    run(receives_urgent);
    cr_expect_str_eq(noted(), "B3 B5 A1 A2 A4 ");
}

static void receives_urgent_by_case(void *arg)
{
    const weft_case  list[] = {WEFT_ON(A, NULL), WEFT_ON_IF(B, NULL, is_at_least, &five)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    send_some_urgent(weft_self());
    for (int i = 0; i < 2; i++)
        note_message(poll_for(&set));
    note_rest();
}

Test(match, by_cases_sees_urgent_messages_first_and_keeps_those_it_skips_first)
{
    run(receives_urgent_by_case);
    cr_expect_str_eq(noted(), "B5 A1 | B3 A2 A4 ");
}

static void sends_some_urgent_to_me(void *arg)
{
    (void)arg;
    send_some_urgent(me);
}

static void waits_for_urgent(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(sends_some_urgent_to_me, NULL);
    for (int i = 0; i < 5; i++)
        note_message(weft_receive(A, B));
}

Test(match, of_a_receiver_that_waits_sees_urgent_messages_first)
{
    run(waits_for_urgent);
    cr_expect_str_eq(noted(), "B3 B5 A1 A2 A4 ");
}

static void waits_for_one_type(void *arg)
{
    (void)arg;
    weft_send(other, GO);
    note_message(weft_receive(A));
    note_message(weft_receive(A));
    note_rest();
    weft_send(other, DONE);
}

static void waits_for_one_case(void *arg)
{
    static const weft_case  list[] = {WEFT_ON(A, NULL)};
    static const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    weft_send(other, GO);
    note_message(weft_receive_case(WEFT_FOREVER, &set));
    note_message(weft_receive_case(WEFT_FOREVER, &set));
    note_rest();
    weft_send(other, DONE);
}

static void on_a_then_urgent(void *state, weft_msg *m)
{
    note_message(m);
    if (++*(int *)state == 2) {
        note_rest();
        weft_send(other, DONE);
    } else {
        weft_react(on_a_then_urgent, state, A);
    }
}

static void reacts_to_one_type(void *arg)
{
    (void)arg;
    weft_send(other, GO);
    weft_react(on_a_then_urgent, weft_alloc(sizeof(int)), A);
}

/* The receiver waits for what the first plain message is; the urgent one is sent before it gets to run. */
static void sends_urgent_to_who_waits(weft_fn *who)
{
    other = weft_self();
    weft_pid to = weft_spawn(who, NULL);
    weft_receive(GO);
    weft_sleep(weft_ms(1)); /* it waits */
    weft_send(to, A, 1);
    weft_send(to, B, 2);
    weft_send_urgent(to, A, 3);
    weft_receive(DONE);
}

static void sends_urgent_to_a_receiver(void *arg)
{
    (void)arg;
    sends_urgent_to_who_waits(waits_for_one_type);
}
static void sends_urgent_to_a_matcher(void *arg)
{
    (void)arg;
    sends_urgent_to_who_waits(waits_for_one_case);
}
static void sends_urgent_to_a_reactor(void *arg)
{
    (void)arg;
    sends_urgent_to_who_waits(reacts_to_one_type);
}

Test(match, of_a_receive_that_was_woken_by_another_sees_an_urgent_message_first)
{
    run(sends_urgent_to_a_receiver);
    cr_expect_str_eq(noted(), "A3 A1 | B2 ");
}

Test(match, of_cases_that_were_woken_by_another_sees_an_urgent_message_first)
{
    run(sends_urgent_to_a_matcher);
    cr_expect_str_eq(noted(), "A3 A1 | B2 ");
}

Test(match, of_a_reaction_that_was_woken_by_another_sees_an_urgent_message_first)
{
    run(sends_urgent_to_a_reactor);
    cr_expect_str_eq(noted(), "A3 A1 | B2 ");
}

/* The same in real time, where actors hand the worker to each other. It may be taken from the sender
 * between its two sends, on a machine that is busy; but not always. */
enum { ROUNDS = 200 };
static int urgent_first;

static void receives_in_rounds(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        weft_send(other, GO);
        urgent_first += value(weft_receive(A)) == 3;
        weft_receive(A);
    }
    weft_send(other, DONE);
}

static void on_round(void *state, weft_msg *m)
{
    int *taken = state;

    if (++*taken % 2)
        urgent_first += value(m) == 3;
    else
        *taken < 2 * ROUNDS ? weft_send(other, GO) : weft_send(other, DONE);
    if (*taken < 2 * ROUNDS)
        weft_react(on_round, state, A);
}

static void reacts_in_rounds(void *arg)
{
    (void)arg;
    weft_send(other, GO);
    weft_react(on_round, weft_alloc(sizeof(int)), A);
}

static void sends_in_rounds(void *who)
{
    other = weft_self();
    weft_pid to = weft_spawn(*(weft_fn **)who, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        weft_receive(GO);
        weft_send(to, A, 1);
        weft_send_urgent(to, A, 3);
    }
    weft_receive(DONE);
}

Test(match, of_a_receive_that_is_resumed_by_its_sender_sees_an_urgent_message_first)
{
    weft_fn *who = receives_in_rounds;

    cr_assert_eq(weft_run(sends_in_rounds, &who, .workers = 1), 0);
    cr_expect_gt(urgent_first, ROUNDS / 2);
}

Test(match, of_a_reaction_that_is_called_after_its_sender_sees_an_urgent_message_first)
{
    weft_fn *who = reacts_in_rounds;

    cr_assert_eq(weft_run(sends_in_rounds, &who, .workers = 1), 0);
    cr_expect_gt(urgent_first, ROUNDS / 2);
}

static void takes_a_batch(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 4; i++)
        weft_send(weft_self(), A, i);
    note_message(weft_receive(A)); /* and has the others in its hands */
    weft_send_urgent(weft_self(), A, 9);
    weft_send_urgent(weft_self(), A, 8);
    note_message(weft_receive(A));
    note_message(weft_receive(A));
    note_message(weft_receive(A));
    weft_send(weft_self(), A, 5);
    weft_send_urgent(weft_self(), B, 7);
    note_rest();
}

Test(match, sees_an_urgent_message_before_a_batch_that_was_taken)
{
    run(takes_a_batch);
    cr_expect_str_eq(noted(), "A1 A9 A8 A2 | B7 A3 A4 A5 ");
}

static void on_batch(void *state, weft_msg *m)
{
    note_message(m);
    if (value(m) == 1) {
        weft_send_urgent(weft_self(), A, 9);
        weft_send_urgent(weft_self(), A, 8);
    }
    if (value(m) != 4)
        weft_react(on_batch, state, A);
}

static void reacts_to_a_batch(void *arg)
{
    for (int i = 1; i <= 4; i++)
        weft_send(weft_self(), A, i);
    weft_react(on_batch, arg, A);
}

Test(match, in_react_sees_an_urgent_message_before_a_batch_that_was_taken)
{
    run(reacts_to_a_batch);
    cr_expect_str_eq(noted(), "A1 A9 A8 A2 A3 A4 ");
}

static void serves_batch(void *state, weft_msg *m)
{
    (void)state;
    note_message(m);
    if (value(m) == 1)
        weft_send_urgent(weft_self(), A, 9);
    if (value(m) == 3)
        weft_unbecome();
}

static void becomes_for_a_batch(void *arg)
{
    static const weft_case  list[] = {WEFT_ON(A, serves_batch)};
    static const weft_cases set = WEFT_CASES(list, NULL);

    for (int i = 1; i <= 3; i++)
        weft_send(weft_self(), A, i);
    weft_become(&set, arg);
}

Test(match, in_a_behaviour_sees_an_urgent_message_before_a_batch_that_was_taken)
{
    run(becomes_for_a_batch);
    cr_expect_str_eq(noted(), "A1 A9 A2 A3 ");
}

static void keeps_the_rest_of_a_batch(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 50; i++)
        weft_send(weft_self(), A, i);
    int wrong = value(weft_receive(A)) != 1;
    for (int i = 2; i <= 50; i++) {
        weft_send(weft_self(), A, 49 + i);
        weft_send_urgent(weft_self(), A, -i);
        wrong += value(weft_receive(A)) != -i;
        wrong += value(weft_receive(A)) != i;
    }
    for (int i = 51; i <= 99; i++)
        wrong += value(weft_receive(A)) != i;
    note("%d", wrong);
    note_rest();
}

Test(match, of_many_batches_with_urgent_messages_between_keeps_the_order)
{
    run(keeps_the_rest_of_a_batch);
    cr_expect_str_eq(noted(), "0| ");
}

static void skips_urgent(void *arg)
{
    (void)arg;
    send_some_urgent(weft_self());
    weft_send(weft_self(), GO);
    weft_receive(GO);
    weft_send_urgent(weft_self(), C, 6);
    weft_send(weft_self(), C, 7);
    note_message(weft_receive(A));
    note_rest();
}

Test(match, leaves_urgent_messages_that_were_skipped_before_the_others)
{
    run(skips_urgent);
    cr_expect_str_eq(noted(), "A1 | B3 B5 C6 A2 A4 C7 ");
}

/* ---- Priority by nested receive -------------------------------------------------------------- */

static weft_msg *receive_by_priority(void)
{
    weft_msg *m = weft_receive_within(weft_ms(0), B);

    return m ? m : weft_receive_within(weft_ms(0), WEFT_ANY);
}

static void receives_by_priority(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 3; i++) {
        weft_send(weft_self(), A, i);
        weft_send(weft_self(), B, i);
    }
    for (weft_msg *m; (m = receive_by_priority());) {
        if (weft_is(m, A) && value(m) == 1)
            weft_send(weft_self(), B, 4);
        note_message(m);
    }
}

Test(match, nested_gives_priority)
{
    run(receives_by_priority);
    cr_expect_str_eq(noted(), "B1 B2 B3 A1 B4 A2 A3 ");
}

static void receives_in_the_middle(void *arg)
{
    int              limit = 5;
    const weft_case  outer_list[] = {WEFT_ON_IF(A, NULL, is_at_least, &limit)};
    const weft_case  inner_list[] = {WEFT_ON_IF(B, NULL, is_even, NULL)};
    const weft_cases outer = WEFT_CASES(outer_list, NULL), inner = WEFT_CASES(inner_list, NULL);

    (void)arg;
    for (int i = 1; i <= 7; i++) {
        weft_send(weft_self(), A, i);
        weft_send(weft_self(), B, i);
    }
    for (weft_msg *m; (m = poll_for(&outer));) {
        note_message(m);
        note_message(poll_for(&inner));
        limit--;
    }
    note_rest();
}

Test(match, nested_takes_each_from_what_the_other_skipped)
{
    run(receives_in_the_middle);
    cr_expect_str_eq(noted(), "A5 B2 A4 B4 A3 B6 A2 WEFT_TIMEOUT A1 WEFT_TIMEOUT A6 WEFT_TIMEOUT A7 "
                              "WEFT_TIMEOUT | B1 B3 B5 B7 ");
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void tells_names(void *arg)
{
    const weft_case  list[] = {WEFT_ON_AS(TEXT, NULL, to_number, NULL, NUMBER), WEFT_ON(WEFT_ANY, NULL)};
    const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    send_text(weft_self(), "1");
    weft_send(weft_self(), GO);
    weft_send(weft_self(), WIDE, .at = {1});
    for (int i = 0; i < 4; i++)
        note("%s ", weft_name(poll_for(&set)));
}

Test(match, by_any_or_as_another_type_tells_the_name_of_what_was_given)
{
    run(tells_names);
    cr_expect_str_eq(noted(), "NUMBER GO WIDE WEFT_TIMEOUT ");
}

/* ---- Misuse ---------------------------------------------------------------------------------- */

/* Runs it; one line must have been said, with both words in it. */
static int reason_of(weft_fn *first, const char *one, const char *word)
{
    listen_to_stderr();
    int         reason = weft_run(first, NULL, .seed = 1);
    const char *said = what_was_said();

    cr_expect_eq(lines(said), 1, "%s", said);
    cr_expect(strncmp(said, "weft: ", 6) == 0 && strstr(said, one) && strstr(said, word), "%s", said);
    cr_expect_str_eq(noted(), "");
    cr_expect_eq(counted().spawned, counted().ended);
    return reason;
}

static void gets_what_it_was(void *arg)
{
    (void)arg;
    send_text(weft_self(), "12");
    note("%s", weft_get(weft_receive_case(WEFT_FOREVER, &numbers), TEXT)->text);
}

Test(match, as_another_type_has_no_body_of_the_first)
{
    cr_expect_eq(reason_of(gets_what_it_was, "TEXT", "NUMBER"), WEFT_ETYPE);
}

static void gets_another_type_of_any(void *arg)
{
    const weft_case list[] = {WEFT_ON(WEFT_ANY, NULL)};

    (void)arg;
    weft_send(weft_self(), PAIR, .value = 1);
    note("%d", *weft_get(poll_for(&(weft_cases)WEFT_CASES(list, NULL)), A));
}

Test(match, by_any_has_no_body_but_its_own)
{
    cr_expect_eq(reason_of(gets_another_type_of_any, " A ", "PAIR"), WEFT_ETYPE);
}

static void gets_another_response(void *arg)
{
    (void)arg;
    note("%d", *weft_get(weft_ask(weft_sec(1), weft_spawn(answers_with_b, NULL), A, 1), C));
}

Test(match, of_a_response_has_no_body_but_its_own)
{
    cr_expect_eq(reason_of(gets_another_response, " C ", "B"), WEFT_ETYPE);
}

static bool reads_another_type(const weft_msg *m, const void *with)
{
    (void)with;
    return *weft_get(m, B) == 1;
}

static void guards_with_another_type(void *arg)
{
    const weft_case list[] = {WEFT_ON_IF(A, NULL, reads_another_type, NULL)};

    (void)arg;
    weft_send(weft_self(), A, 1);
    poll_for(&(weft_cases)WEFT_CASES(list, NULL));
    note("received");
}

Test(match, by_a_guard_that_reads_another_type_is_a_type_error)
{
    cr_expect_eq(reason_of(guards_with_another_type, " B ", "A"), WEFT_ETYPE);
}

static void receives_no_cases(void *arg)
{
    (void)arg;
    poll_for(NULL);
    note("received");
}

Test(match, by_no_set_makes_no_sense)
{
    cr_expect_eq(reason_of(receives_no_cases, "weft_receive_case", "cases"), WEFT_EINVALID);
}

static void reacts_to_no_cases(void *arg)
{
    (void)arg;
    weft_react_case(NULL, NULL);
    note("arranged");
}

Test(match, by_no_set_in_react_makes_no_sense)
{
    cr_expect_eq(reason_of(reacts_to_no_cases, "weft_react_case", "cases"), WEFT_EINVALID);
}

static void reacts_to_cases_on_its_stack(void *arg)
{
    weft_cases set = go;

    (void)arg;
    weft_react_case(opaque(&set), NULL);
    note("arranged");
}

Test(match, by_a_set_on_the_stack_in_react_makes_no_sense)
{
    cr_expect_eq(reason_of(reacts_to_cases_on_its_stack, "weft_react_case", "stack"), WEFT_EINVALID);
}

static void reacts_with_state_on_its_stack(void *arg)
{
    int state = 0;

    (void)arg;
    weft_react_case_within(weft_ms(1), on_late, &go, opaque(&state));
    note("arranged");
}

Test(match, with_state_on_the_stack_in_react_makes_no_sense)
{
    cr_expect_eq(reason_of(reacts_with_state_on_its_stack, "weft_react_case", "stack"), WEFT_EINVALID);
}

/* What a guard must not do, and where it is asked. */
static void (*in_guard)(void);

static bool does_it(const weft_msg *m, const void *with)
{
    (void)m, (void)with;
    in_guard();
    note("went on ");
    return true;
}

static const weft_case  bad_list[] = {WEFT_ON_IF(A, nothing, does_it, NULL)};
static const weft_cases bad = WEFT_CASES(bad_list, NULL);

static void asked_at_once(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_receive_case(WEFT_FOREVER, &bad);
}

static void asked_of_what_was_skipped(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_receive_within(weft_ms(0), B);
    weft_receive_case(WEFT_FOREVER, &bad);
}

static void sends_to_the_guard(void *arg)
{
    (void)arg;
    weft_sleep(weft_ms(1));
    weft_send(me, A, 1);
}

static void asked_when_woken(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(sends_to_the_guard, NULL);
    weft_receive_case(WEFT_FOREVER, &bad);
}

static void asked_in_react(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(sends_to_the_guard, NULL);
    weft_react_case(&bad, NULL);
}

static void receives_one(void) { weft_receive(B); }
static void receives_some(void) { weft_receive(B, C); }
static void receives_in_time(void) { weft_receive_within(weft_ms(1), B); }
static void polls_in_guard(void) { weft_receive_within(weft_ms(0), B); }
static void receives_case(void) { weft_receive_case(WEFT_FOREVER, &go); }
static void sleeps(void) { weft_sleep(weft_ms(1)); }
static void yields(void) { weft_yield(); }
static void asks(void) { weft_ask(weft_ms(1), weft_self(), B, 1); }
static void sends(void) { weft_send(weft_self(), B, 1); }
static void sends_urgently(void) { weft_send_urgent(weft_self(), B, 1); }
static void sends_later(void) { weft_send_after(weft_ms(1), weft_self(), B, 1); }
static void passes(void) { weft_pass(weft_self(), weft_make(B, 1)); }

static void refused_in_guards(void (*what)(void), const char *name)
{
    static weft_fn *const where[] = {asked_at_once, asked_of_what_was_skipped, asked_when_woken,
                                     asked_in_react};

    in_guard = what;
    for (int i = 0; i < 4; i++)
        cr_expect_eq(reason_of(where[i], name, "guard"), WEFT_EINVALID, "in place %d", i);
}

Test(match, by_a_guard_that_receives_a_type_makes_no_sense)
{
    refused_in_guards(receives_one, "weft_receive");
}
Test(match, by_a_guard_that_receives_several_types_makes_no_sense)
{
    refused_in_guards(receives_some, "weft_receive");
}
Test(match, by_a_guard_that_receives_in_time_makes_no_sense)
{
    refused_in_guards(receives_in_time, "weft_receive");
}
Test(match, by_a_guard_that_polls_makes_no_sense) { refused_in_guards(polls_in_guard, "weft_receive"); }
Test(match, by_a_guard_that_receives_by_cases_makes_no_sense)
{
    refused_in_guards(receives_case, "weft_receive_case");
}
Test(match, by_a_guard_that_sleeps_makes_no_sense) { refused_in_guards(sleeps, "weft_sleep"); }
Test(match, by_a_guard_that_yields_makes_no_sense) { refused_in_guards(yields, "weft_yield"); }
Test(match, by_a_guard_that_asks_makes_no_sense) { refused_in_guards(asks, "sends"); }
Test(match, by_a_guard_that_sends_makes_no_sense)
{
    refused_in_guards(sends, "sends");
    refused_in_guards(sends_urgently, "sends");
    refused_in_guards(sends_later, "sends");
    refused_in_guards(passes, "sends");
}

static void arranges(void) { weft_react(nothing, NULL, B); }
static void arranges_in_time(void) { weft_react_within(weft_ms(1), nothing, NULL, B, C); }
static void arranges_cases(void) { weft_react_case(&go, NULL); }
static void becomes(void) { weft_become(&go, NULL); }
static void becomes_and_keeps(void) { weft_become_keep(&go, NULL); }
static void step(void *state) { (void)state; }
static bool is_over(void *state) { return !state; }
static void goes_on_then(void) { weft_and_then(step, step, NULL); }
static void loops(void) { weft_loop(step, NULL); }
static void thens(void) { weft_then((weft_pending){1}, WEFT_FOREVER, nothing, NULL); }
static void loops_while(void) { weft_loop_while(is_over, step, NULL); }

Test(match, by_a_guard_that_reacts_makes_no_sense)
{
    refused_in_guards(arranges, "weft_react");
    refused_in_guards(arranges_in_time, "weft_react");
    refused_in_guards(arranges_cases, "weft_react_case");
    refused_in_guards(thens, "weft_then");
}
Test(match, by_a_guard_that_becomes_something_makes_no_sense)
{
    refused_in_guards(becomes, "weft_become");
    refused_in_guards(becomes_and_keeps, "weft_become");
}
Test(match, by_a_guard_that_arranges_a_sequence_makes_no_sense)
{
    refused_in_guards(goes_on_then, "weft_and_then");
    refused_in_guards(loops, "weft_loop");
    refused_in_guards(loops_while, "weft_loop");
}

static bool waits_to_project(const weft_msg *m, const void *with, void *value)
{
    (void)m, (void)with, (void)value;
    weft_sleep(weft_ms(1));
    note("went on ");
    return true;
}

static void projects_and_waits(void *arg)
{
    const weft_case list[] = {WEFT_ON_AS(A, NULL, waits_to_project, NULL, WIDE)};

    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_receive_case(WEFT_FOREVER, &(weft_cases)WEFT_CASES(list, NULL));
}

Test(match, by_a_projection_that_waits_makes_no_sense)
{
    cr_expect_eq(reason_of(projects_and_waits, "weft_sleep", "guard"), WEFT_EINVALID);
}

static bool ends_it(const weft_msg *m, const void *with)
{
    (void)m, (void)with;
    in_guard = sleeps;
    sleeps();
    return true;
}

static const weft_case  ending_list[] = {WEFT_ON_IF(A, nothing, ends_it, NULL)};
static const weft_cases ending = WEFT_CASES(ending_list, NULL);

static void culprit_receives(void *arg)
{
    (void)arg;
    weft_receive_case(WEFT_FOREVER, &ending);
}
static void culprit_reacts(void *arg)
{
    (void)arg;
    weft_react_case(&ending, NULL);
}

static void outlives_culprits(void *arg)
{
    weft_pid culprit[20], good = weft_spawn(answers_with_b, NULL);

    (void)arg;
    for (int i = 0; i < 20; i++)
        culprit[i] = i % 2 ? weft_spawn(culprit_receives, NULL) : weft_spawn(culprit_reacts, NULL);
    weft_sleep(weft_ms(1));
    for (int i = 0; i < 20; i++)
        weft_send(culprit[i], A, i);
    weft_sleep(weft_ms(1));
    for (int i = 0; i < 20; i++)
        note("%d", weft_send(culprit[i], A, i) == WEFT_EGONE);
    note(" ");
    note_message(weft_ask(weft_sec(1), good, A, 4));
}

Test(match, by_a_guard_that_waits_ends_its_actor_alone)
{
    listen_to_stderr();
    int         reason = weft_run(outlives_culprits, NULL, .seed = 1);
    const char *said = what_was_said();

    cr_expect_eq(reason, 0);
    cr_expect_eq(lines(said), 20, "%s", said);
    cr_expect_str_eq(noted(), "11111111111111111111 B40 ");
    cr_expect_eq(counted().spawned, counted().ended);
}

static void guards_and_waits_in_a_thread(void)
{
    in_guard = sleeps;
    weft_send(weft_self(), A, 1);
    weft_receive_case(WEFT_FOREVER, &bad);
}

static void receives_in_a_guard_of_a_thread(void)
{
    in_guard = receives_one;
    weft_send(weft_self(), A, 1);
    weft_receive_case(WEFT_FOREVER, &bad);
}

static void reacts_by_cases_in_a_thread(void)
{
    weft_self();
    weft_react_case(&go, NULL);
}

static void receives_no_cases_in_a_thread(void) { poll_for(NULL); }

static bool aborts(void (*what)(void))
{
    listen_to_stderr();
    int         status = in_child(what);
    const char *said = what_was_said();

    cr_expect_eq(lines(said), 1, "%s", said);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

Test(match, misused_in_a_thread_aborts)
{
    cr_expect(aborts(receives_no_cases_in_a_thread));
    cr_expect(aborts(reacts_by_cases_in_a_thread));
}

Test(match, by_a_guard_that_waits_in_a_thread_aborts)
{
    cr_expect(aborts(receives_in_a_guard_of_a_thread));
    cr_expect(aborts(guards_and_waits_in_a_thread));
}
