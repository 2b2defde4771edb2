/* test_receive.c - what part 5 of weft.h promises, and the messages of parts 2 and 4 that it gives.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Tests of time have a seed: then time is virtual, and a wait of an hour is a comparison of two numbers.
 */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(receive, .fini = nothing_leaks, .timeout = 20);

WEFT_MESSAGE(A, int);
WEFT_MESSAGE(B, int);
WEFT_MESSAGE(C, int);
WEFT_MESSAGE(WHO, uint64_t);
WEFT_SIGNAL(GO);
WEFT_SIGNAL(DONE);

static weft_pid me; /* the first actor of the test */

static void run(weft_fn *first) { cr_assert_eq(weft_run(first, NULL), 0); }
static void run_in_virtual_time(weft_fn *first) { cr_assert_eq(weft_run(first, NULL, .seed = 7), 0); }

static int value(const weft_msg *m)
{
    return weft_is(m, A) ? *weft_get(m, A) : weft_is(m, B) ? *weft_get(m, B) : *weft_get(m, C);
}
static void note_message(const weft_msg *m) { note("%s%d ", weft_name(m), value(m)); }

/* ---- Which message ------------------------------------------------------------------------------------ */

static void takes_any(void *arg)
{
    (void)arg;
    weft_send(weft_self(), B, 1);
    weft_send(weft_self(), A, 2);
    weft_send(weft_self(), C, 3);
    for (int i = 0; i < 3; i++)
        note_message(weft_receive(WEFT_ANY));
}

Test(receive, of_any_takes_all_in_order)
{
    run(takes_any);
    cr_expect_str_eq(noted(), "B1 A2 C3 ");
}

static void tells_the_tag(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        weft_send(weft_self(), A, 1);
        weft_send(weft_self(), B, 2);
    }
    for (int i = 0; i < 4; i++) {
        weft_msg *m = i < 2 ? weft_receive(WEFT_ANY, B) : weft_receive(B, WEFT_ANY);
        switch (weft_tag(m)) {
        case WEFT_ANY:
            note("any %s ", weft_name(m));
            break;
        case B:
            note("b %d ", *weft_get(m, B));
            break;
        }
    }
}

Test(receive, of_any_and_a_type_labels_that_type_with_its_own_tag)
{
    run(tells_the_tag);
    cr_expect_str_eq(noted(), "any A b 2 any A b 2 ");
}

static void takes_two_of_three(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), B, 2);
    weft_send(weft_self(), C, 3);
    note_message(weft_receive(C, B));
    note_message(weft_receive(C, B));
    note_message(weft_receive(WEFT_ANY));
}

Test(receive, of_a_set_takes_the_first_in_mailbox_order_not_in_list_order)
{
    run(takes_two_of_three);
    cr_expect_str_eq(noted(), "B2 C3 A1 ");
}

static void skips(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 6; i++)
        i % 3 ? weft_send(weft_self(), A, i) : weft_send(weft_self(), B, i);
    note_message(weft_receive(B));
    weft_send(weft_self(), A, 7);
    note_message(weft_receive(B));
    for (int i = 0; i < 5; i++)
        note_message(weft_receive(WEFT_ANY));
}

Test(receive, leaves_what_it_skips_in_order)
{
    run(skips);
    cr_expect_str_eq(noted(), "B3 B6 A1 A2 A4 A5 A7 ");
}

static void takes_from_the_middle(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 9; i++)
        i % 3 == 1   ? weft_send(weft_self(), A, i)
        : i % 3 == 2 ? weft_send(weft_self(), B, i)
                     : weft_send(weft_self(), C, i);
    weft_receive_within(weft_ms(0), GO); /* all of them are skipped once */
    note_message(weft_receive(C));
    note_message(weft_receive(B));
    note_message(weft_receive(C));
    note_message(weft_receive(C)); /* the last of the skipped */
    weft_send(weft_self(), C, 10);
    for (int i = 0; i < 6; i++)
        note_message(weft_receive(WEFT_ANY));
}

Test(receive, takes_first_middle_and_last_of_what_was_skipped)
{
    run(takes_from_the_middle);
    cr_expect_str_eq(noted(), "C3 B2 C6 C9 A1 A4 B5 A7 B8 C10 ");
}

static void sends_b_after_many_a(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++)
        weft_send(me, A, i);
    weft_send(me, B, 100);
}

static void waits_past_what_arrives(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(sends_b_after_many_a, NULL);
    note_message(weft_receive(B));
    for (int i = 0; i < 100; i++)
        if (value(weft_receive(A)) != i)
            note("out of order at %d", i);
}

Test(receive, waits_on_while_others_arrive)
{
    run(waits_past_what_arrives);
    cr_expect_str_eq(noted(), "B100 ");
}

static int answer_deep_inside(int depth)
{
    return depth ? answer_deep_inside(depth - 1) + 1 : value(weft_receive(B));
}

static void nests(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), A, 2);
    weft_send(weft_self(), B, 10);
    weft_receive(A);
    note("%d ", answer_deep_inside(5));
    note_message(weft_receive(A));
}

Test(receive, may_be_nested_in_a_conversation)
{
    run(nests);
    cr_expect_str_eq(noted(), "15 A2 ");
}

static void lists_sixteen(void *arg)
{
    (void)arg;
    weft_send(weft_self(), DONE);
    weft_msg *m = weft_receive(A, B, C, WHO, GO, A, B, C, WHO, GO, A, B, C, WHO, GO, DONE);
    note("%s", weft_name(m));
}

Test(receive, lists_up_to_sixteen_types)
{
    run(lists_sixteen);
    cr_expect_str_eq(noted(), "DONE");
}

/* ---- Order -------------------------------------------------------------------------------------------- */

enum { SENDERS = 20, EACH = 2000 };

static void sends_in_order(void *arg)
{
    for (int i = 0; i < EACH; i++)
        weft_send(me, A, (int)(intptr_t)arg * EACH + i);
}

static void checks_order(void *arg)
{
    int next[SENDERS] = {0};

    (void)arg;
    me = weft_self();
    for (intptr_t s = 0; s < SENDERS; s++)
        weft_spawn(sends_in_order, (void *)s);
    for (int i = 0; i < SENDERS * EACH; i++) {
        int v = value(weft_receive(A));
        if (v % EACH != next[v / EACH]++)
            note("%d ", v);
    }
    note("all");
}

Test(receive, keeps_the_order_of_each_sender)
{
    run(checks_order);
    cr_expect_str_eq(noted(), "all");
}

/* ---- Time --------------------------------------------------------------------------------------------- */

static void waits_an_hour(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive_within(weft_sec(3600), A);
    note("%s %d %s", m ? "message" : "null", weft_tag(m), weft_name(m));
}

Test(receive, gives_null_when_the_time_is_over)
{
    run_in_virtual_time(waits_an_hour);
    cr_expect_str_eq(noted(), "null 0 WEFT_TIMEOUT");
    cr_expect_eq(WEFT_TIMEOUT, 0);
}

static void polls(void *arg)
{
    (void)arg;
    note(weft_receive_within(weft_ms(0), A) ? "some " : "none ");
    weft_send(weft_self(), B, 1);
    weft_send(weft_self(), A, 2);
    note_message(weft_receive_within(weft_ms(0), A));
    note(weft_receive_within(weft_ns(0), A) ? "some " : "none ");
    note_message(weft_receive_within(weft_ms(0), WEFT_ANY));
}

Test(receive, with_time_0_takes_what_is_there)
{
    run(polls);
    cr_expect_str_eq(noted(), "none A2 none B1 ");
}

static void polls_in_the_past(void *arg)
{
    (void)arg;
    note(weft_receive_within(weft_ms(-5), A) ? "some " : "none ");
    note(weft_receive_within(weft_ns(INT64_MIN), A) ? "some " : "none ");
    weft_send(weft_self(), A, 1);
    note_message(weft_receive_within(weft_ms(-5), A));
}

Test(receive, with_a_negative_time_polls_too)
{
    run(polls_in_the_past);
    cr_expect_str_eq(noted(), "none none A1 ");
}

static void sends_after(void *ms)
{
    weft_sleep(weft_ms((intptr_t)ms));
    weft_send(me, A, (int)(intptr_t)ms);
}

static void is_answered_in_time(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(sends_after, (void *)10);
    note_message(weft_receive_within(weft_ms(11), A));
    weft_spawn(sends_after, (void *)10);
    note(weft_receive_within(weft_ms(9), A) ? "early " : "late ");
    note_message(weft_receive(A));
}

Test(receive, gives_the_message_that_comes_before_the_time_is_over)
{
    run_in_virtual_time(is_answered_in_time);
    cr_expect_str_eq(noted(), "A10 late A10 ");
}

static void is_sent_others(void *arg)
{
    (void)arg;
    me = weft_self();
    for (intptr_t ms = 10; ms <= 50; ms += 10)
        weft_spawn(sends_after, (void *)ms);
    note(weft_receive_within(weft_ms(35), B) ? "b " : "null ");
    for (weft_msg *m; (m = weft_receive_within(weft_ms(0), A));)
        note_message(m);
}

Test(receive, is_not_kept_longer_by_messages_that_it_skips)
{
    run_in_virtual_time(is_sent_others);
    cr_expect_str_eq(noted(), "null A10 A20 A30 ");
}

static void waits_again_and_again(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(sends_after, (void *)10);
    note_message(weft_receive_within(weft_ms(20), A)); /* its timer is left at 20 */
    weft_spawn(sends_after, (void *)50);
    note_message(weft_receive(A)); /* at 60: passes 20 without a time of its own */
    weft_spawn(sends_after, (void *)10);
    note_message(weft_receive_within(weft_ms(100), A)); /* timer left at 160 */
    weft_spawn(sends_after, (void *)200);
    note(weft_receive_within(weft_ms(150), A) ? "disturbed " : "over ");
    note_message(weft_receive_within(weft_ms(100), A));
}

Test(receive, is_not_disturbed_by_the_timer_of_an_earlier_wait)
{
    run_in_virtual_time(waits_again_and_again);
    cr_expect_str_eq(noted(), "A10 A50 A10 over A200 ");
}

static void waits_longer_then_shorter(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_send(me, A, 0);
    weft_receive_within(weft_sec(1000), A);
    weft_spawn(sends_after, (void *)50);
    note(weft_receive_within(weft_ms(20), A) ? "late " : "over ");
    note_message(weft_receive_within(weft_ms(100), A));
}

Test(receive, may_have_a_shorter_time_than_the_wait_before)
{
    run_in_virtual_time(waits_longer_then_shorter);
    cr_expect_str_eq(noted(), "over A50 ");
}

static void notes_after(void *ms)
{
    weft_sleep(weft_ms((intptr_t)ms));
    note("%d ", (int)(intptr_t)ms);
    weft_send(me, DONE);
}

static void many_deadlines(void *arg)
{
    (void)arg;
    me = weft_self();
    for (intptr_t i = 0; i < 12; i++)
        weft_spawn(notes_after, (void *)(i * 7 % 12 + 1));
    for (int i = 0; i < 12; i++)
        weft_receive(DONE);
}

Test(receive, ends_waits_in_the_order_of_their_deadlines)
{
    run_in_virtual_time(many_deadlines);
    cr_expect_str_eq(noted(), "1 2 3 4 5 6 7 8 9 10 11 12 ");
}

static void waits_almost_for_ever(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(sends_after, (void *)10);
    note_message(weft_receive_within(weft_ns(INT64_MAX - 1), A));
    weft_spawn(sends_after, (void *)10);
    note_message(weft_receive_within(WEFT_FOREVER, A));
}

Test(receive, with_the_longest_times_does_not_overflow)
{
    run_in_virtual_time(waits_almost_for_ever);
    cr_expect_str_eq(noted(), "A10 A10 ");
}

/* ---- Sleep -------------------------------------------------------------------------------------------- */

static void sleeps_with_a_message(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_send(me, A, 1);
    weft_msg *m = weft_receive(A);
    weft_spawn(sends_after, (void *)10);
    weft_sleep(weft_ms(100));
    note_message(m);
    note_message(weft_receive_within(weft_ms(0), A));
}

Test(receive, is_neither_ended_nor_done_by_sleep)
{
    run_in_virtual_time(sleeps_with_a_message);
    cr_expect_str_eq(noted(), "A1 A10 ");
}

static void sleeps_on(void *arg)
{
    (void)arg;
    me = weft_self();
    for (intptr_t ms = 10; ms <= 30; ms += 10)
        weft_spawn(sends_after, (void *)ms);
    weft_spawn(notes_after, (void *)90);
    weft_sleep(weft_ms(100));
    note("100 ");
}

Test(receive, does_not_cut_a_sleep_short_when_messages_come)
{
    run_in_virtual_time(sleeps_on);
    cr_expect_str_eq(noted(), "90 100 ");
}

static void sleeps_on_its_mail(void *arg)
{
    (void)arg;
    me = weft_self();
    for (int i = 1; i <= 3; i++)
        weft_send(me, A, i);
    weft_receive(A);
    weft_spawn(sends_after, (void *)10);
    weft_spawn(sends_after, (void *)20);
    weft_sleep(weft_ms(100));
    for (weft_msg *m; (m = weft_receive_within(weft_ms(0), A));)
        note_message(m);
}

Test(receive, loses_nothing_that_lay_there_when_more_came_during_a_sleep)
{
    run_in_virtual_time(sleeps_on_its_mail);
    cr_expect_str_eq(noted(), "A2 A3 A10 A20 ");
}

static void sleeps_no_time(void *arg)
{
    (void)arg;
    weft_sleep(weft_ms(0));
    weft_sleep(weft_ms(-1));
    note("awake");
}

Test(receive, is_not_needed_to_wake_from_a_sleep_of_no_time)
{
    run_in_virtual_time(sleeps_no_time);
    cr_expect_str_eq(noted(), "awake");
}

/* ---- Bodies ------------------------------------------------------------------------------------------- */

WEFT_MESSAGE(ONE, unsigned char);
WEFT_MESSAGE(TWO, uint16_t);
WEFT_MESSAGE(FOUR, uint32_t);
WEFT_MESSAGE(EIGHT, uint64_t);
WEFT_MESSAGE(
    TWELVE, struct twelve { unsigned char at[12]; });
WEFT_MESSAGE(
    SIXTEEN, struct sixteen { _Alignas(16) unsigned char at[16]; });
WEFT_MESSAGE(
    TWENTY_FOUR, struct twenty_four { uint64_t at[3]; });
WEFT_MESSAGE(
    TWENTY_FIVE, struct twenty_five { unsigned char at[25]; });
WEFT_MESSAGE(
    THIRTY_TWO, struct thirty_two { _Alignas(16) unsigned char at[32]; });
WEFT_MESSAGE(
    MEBI, struct mebi { unsigned char at[1 << 20]; });

static unsigned char pattern(size_t i) { return (unsigned char)(i * 37 + 11); }

/* Sends a body of this type's size to itself; notes its size if it is the same, and aligned to `align`. */
static void there_and_back(weft_type *type, size_t align)
{
    unsigned char *body = malloc(type->bytes + 1);
    size_t         same = 0;

    for (size_t i = 0; i < type->bytes; i++)
        body[i] = pattern(i);
    int error = weft_send_body(weft_self(), type, body);
    memset(body, 0, type->bytes); /* it was copied */
    free(body);
    weft_msg            *m = weft_receive_types(WEFT_FOREVER, &type, 1);
    const unsigned char *got = weft_body(m, type);
    while (same < type->bytes && got[same] == pattern(same))
        same++;
    if (!error && same == type->bytes && (uintptr_t)got % align == 0)
        note("%zu ", same);
    else
        note("%s: error %d, %zu of %zu bytes, at %p ", type->name, error, same, type->bytes,
             (const void *)got);
}

static void bodies_of_all_sizes(void *arg)
{
    (void)arg;
    there_and_back(&weft_type_GO, 1);
    there_and_back(&weft_type_ONE, 1);
    there_and_back(&weft_type_TWO, 2);
    there_and_back(&weft_type_FOUR, 4);
    there_and_back(&weft_type_EIGHT, 8);
    there_and_back(&weft_type_TWELVE, 4);
    there_and_back(&weft_type_SIXTEEN, 16);
    there_and_back(&weft_type_TWENTY_FOUR, 8);
    there_and_back(&weft_type_TWENTY_FIVE, 1);
    there_and_back(&weft_type_THIRTY_TWO, 16);
    there_and_back(&weft_type_MEBI, 16);
}

Test(receive, gives_bodies_of_every_size_whole_and_aligned)
{
    run(bodies_of_all_sizes);
    cr_expect_str_eq(noted(), "0 1 2 4 8 12 16 24 25 32 1048576 ");
}

WEFT_MESSAGE(
    POINT, struct point { int x, y, z; });

static void leaves_fields_out(void *arg)
{
    (void)arg;
    weft_send(weft_self(), POINT, .y = 2);
    const struct point *p = weft_get(weft_receive(POINT), POINT);
    note("%d %d %d ", p->x, p->y, p->z);
    weft_send(weft_self(), A);
    note("%d", *weft_get(weft_receive(A), A));
}

Test(receive, gives_0_for_fields_that_were_left_out)
{
    run(leaves_fields_out);
    cr_expect_str_eq(noted(), "0 2 0 0");
}

/* ---- Messages that one owns ---------------------------------------------------------------------------- */

static void keeps(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 3; i++)
        weft_send(weft_self(), A, i);
    weft_msg *first = weft_receive(A), *same = weft_keep(first);
    note(first == same ? "same " : "other ");
    weft_receive(A);
    weft_receive(A);
    note_message(first);
    weft_drop(first);
}

Test(receive, does_not_end_what_is_kept)
{
    run(keeps);
    cr_expect_str_eq(noted(), "same A1 ");
}

static void makes_and_edits(void *arg)
{
    (void)arg;
    weft_msg *m = weft_make(POINT, .x = 1, .y = 2);
    weft_edit(m, POINT)->y = 20;
    note("%d ", weft_tag(m) == POINT && weft_is(m, POINT));
    note("%d ", weft_pass(weft_self(), m));
    const struct point *p = weft_get(weft_receive(POINT), POINT);
    note("%d %d", p->x, p->y);
}

Test(receive, gives_what_was_made_edited_and_passed)
{
    run(makes_and_edits);
    cr_expect_str_eq(noted(), "1 0 1 20");
}

static void doubles_and_passes_on(void *to)
{
    weft_msg *m = weft_receive(A);
    *weft_edit(m, A) *= 2;
    weft_pass(*(weft_pid *)to, m);
    note(weft_receive_within(weft_ms(0), WEFT_ANY) ? "again " : "gone ");
    weft_send(*(weft_pid *)to, DONE);
}

static void gets_it_passed(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_pid other = weft_spawn(doubles_and_passes_on, &me);
    weft_send(other, A, 21);
    note_message(weft_receive(A));
    weft_receive(DONE);
}

Test(receive, gives_what_another_received_and_passed_on)
{
    cr_assert_eq(weft_run(gets_it_passed, NULL, .workers = 1), 0);
    cr_expect(strstr(noted(), "A42 "), "%s", noted());
    cr_expect(strstr(noted(), "gone "), "%s", noted());
}

static void edits_large(void *arg)
{
    (void)arg;
    static struct mebi body = {{1}};
    weft_send_body(weft_self(), &weft_type_MEBI, &body);
    weft_msg *m = weft_receive(MEBI);
    weft_edit(m, MEBI)->at[0] = 2;
    note("%d %d", body.at[0], weft_get(m, MEBI)->at[0]);
}

Test(receive, gives_a_body_that_nobody_else_sees_changing)
{
    run(edits_large);
    cr_expect_str_eq(noted(), "1 2");
}

/* ---- Bodies that own something -------------------------------------------------------------------------- */

static atomic_int destroyed[8];

struct thing {
    int   n;
    void *memory;
};
static void destroy_thing(void *body)
{
    struct thing *t = body;
    destroyed[t->n]++;
    free(t->memory);
}
WEFT_MESSAGE_OWNING(THING, destroy_thing, struct thing);

static int send_thing(weft_pid to, int n) { return weft_send(to, THING, n, malloc(16)); }

static void receives_a_thing(void *arg)
{
    (void)arg;
    send_thing(weft_self(), 1);
    free(weft_get(weft_receive(THING), THING)->memory);
    weft_receive_within(weft_ms(0), THING);
}

Test(receive, hands_over_what_a_body_owns)
{
    run(receives_a_thing);
    cr_expect_eq(destroyed[1], 0);
}

static void receives_a_thing_and_returns(void *arg)
{
    (void)arg;
    send_thing(weft_self(), 1);
    free(weft_get(weft_receive(THING), THING)->memory);
}

Test(receive, hands_over_what_a_body_owns_also_as_the_last_act)
{
    run(receives_a_thing_and_returns);
    cr_expect_eq(destroyed[1], 0);
}

static void drops_things(void *arg)
{
    (void)arg;
    send_thing(weft_self(), 1);
    weft_drop(weft_receive(THING));
    note("%d ", destroyed[1]);
    weft_drop(weft_make(THING, 2, malloc(16)));
    note("%d ", destroyed[2]);
    send_thing(weft_self(), 3);
    weft_msg *m = weft_keep(weft_receive(THING));
    weft_receive_within(weft_ms(0), THING);
    weft_drop(m);
    note("%d ", destroyed[3]);
    weft_drop(NULL);
}

Test(receive, may_be_followed_by_a_drop_that_destroys_once)
{
    run(drops_things);
    cr_expect_str_eq(noted(), "1 1 1 ");
    cr_expect_eq(destroyed[1] + destroyed[2] + destroyed[3], 3);
}

static void ends_at_once(void *arg) { (void)arg; }

static void sends_to_the_dead(void *arg)
{
    (void)arg;
    weft_pid dead = weft_spawn(ends_at_once, NULL);
    while (weft_send(dead, GO) == 0)
        weft_yield();
    note("%d ", send_thing(dead, 1));
    note("%d ", weft_pass(dead, weft_make(THING, 2, malloc(16))));
    note("%d ", send_thing(WEFT_NOBODY, 3));
}

Test(receive, by_the_dead_destroys_once)
{
    run(sends_to_the_dead);
    cr_expect_str_eq(noted(), "-1 -1 -1 ");
    for (int i = 1; i <= 3; i++)
        cr_expect_eq(destroyed[i], 1, "%d: %d times", i, destroyed[i]);
}

static void leaves_unread(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    send_thing(weft_self(), 1);
    send_thing(weft_self(), 2);
    weft_receive_within(weft_ms(0), GO); /* skipped once: 1 and 2 */
    send_thing(weft_self(), 3);
    weft_receive(A);
}

static void waits_for_ever(void *arg)
{
    (void)arg;
    weft_receive(GO);
}

static void leaves_unread_in_others(void *arg)
{
    (void)arg;
    leaves_unread(NULL);
    weft_pid waiting = weft_spawn(waits_for_ever, NULL);
    weft_yield();
    send_thing(waiting, 4); /* seen and skipped, perhaps */
    weft_yield();
    send_thing(waiting, 5);
}

Test(receive, by_nobody_before_the_end_destroys_once)
{
    uint64_t before = counted().dead_letters;
    run(leaves_unread_in_others);
    for (int i = 1; i <= 5; i++)
        cr_expect_eq(destroyed[i], 1, "%d: %d times", i, destroyed[i]);
    cr_expect_eq(counted().dead_letters - before, 5);
}

/* ---- Senders and replies --------------------------------------------------------------------------------- */

static void replies(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(A);
    note("%d ", weft_same(weft_sender(m), me));
    weft_reply(m, B, *weft_get(m, A) + 1);
}

static void asks(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_pid other = weft_spawn(replies, NULL);
    weft_send(other, A, 1);
    weft_msg *m = weft_receive(B);
    note("%d B%d", weft_same(weft_sender(m), other), *weft_get(m, B));
}

Test(receive, tells_the_sender_so_that_it_can_be_answered)
{
    run(asks);
    cr_expect_str_eq(noted(), "1 1 B2");
}

static void asks_and_dies(void *arg)
{
    (void)arg;
    weft_send(me, A, 1);
}

static void answers_the_dead(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_pid  other = weft_spawn(asks_and_dies, NULL);
    weft_msg *m = weft_keep(weft_receive(A));
    while (weft_send(other, GO) == 0)
        weft_yield();
    note("%d ", weft_reply(m, B, 1));
    weft_drop(m);
    m = weft_make(A, 1);
    note("%d", weft_reply(m, B, 1));
    weft_drop(m);
}

Test(receive, of_a_message_from_the_dead_or_from_nobody_is_answered_with_an_error)
{
    run(answers_the_dead);
    cr_expect_str_eq(noted(), "-1 -1");
}
