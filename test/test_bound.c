/* test_bound.c - what weft/bound.h promises: mailboxes that can be full.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Time is virtual, unless a thread takes part. A bounded actor is held up by a request of its own:
 * the response finds it however full its mailbox is, so its mailbox can be filled before it looks.
 */
#include <criterion/criterion.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/bound.h>
#include <weft/case.h>
#include <weft/letters.h>

#include "base/memory.h"
#include "help.h"
#include "sched/clock.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(bound, .fini = nothing_leaks, .timeout = 120);

WEFT_MESSAGE(A, int);
WEFT_MESSAGE(B, int);
WEFT_MESSAGE(
    ONE, struct one { char at[1]; });
WEFT_MESSAGE(
    FOUR, struct four { char at[4]; });
WEFT_MESSAGE(
    FIVE, struct five { char at[5]; });
WEFT_MESSAGE(
    SIX, struct six { char at[6]; });
WEFT_MESSAGE(
    EIGHT, struct eight { char at[8]; });
WEFT_MESSAGE(
    LARGE, struct large {
        int  n;
        char at[96];
    });
WEFT_SIGNAL(GO);
WEFT_SIGNAL(STOP);
WEFT_SIGNAL(DONE);
WEFT_SIGNAL(MAY_I);
WEFT_SIGNAL(YES);

static atomic_int destroyed[16], owned; /* by number; how many there are */

struct thing {
    int   at;
    void *memory;
};
static void destroy_thing(void *body)
{
    struct thing *t = body;

    destroyed[t->at]++;
    owned--;
    free(t->memory);
}
WEFT_MESSAGE_OWNING(THING, destroy_thing, struct thing);

static struct thing thing(int at)
{
    owned++;
    return (struct thing){at, malloc(8)};
}

static int send_thing(weft_pid to, int at)
{
    struct thing t = thing(at);

    return weft_send_body(to, &weft_type_THING, &t);
}

static int send_thing_within(weft_span time, weft_pid to, int at)
{
    struct thing t = thing(at);

    return weft_send_within_body(time, to, &weft_type_THING, &t);
}

static void run(weft_fn *first) { cr_assert_eq(weft_run(first, NULL, .seed = 1), 0); }

static const char *word(int error)
{
    switch (error) {
    case 0:
        return "ok";
    case WEFT_EFULL:
        return "full";
    case WEFT_ETIME:
        return "late";
    case WEFT_EGONE:
        return "gone";
    case WEFT_ECYCLE:
        return "cycle";
    case WEFT_ESIZE:
        return "size";
    case WEFT_EINVALID:
        return "invalid";
    case WEFT_EMEMORY:
        return "memory";
    default:
        return "?";
    }
}

static void said(int error) { note("%s ", word(error)); }

/* What was noted, without what ends in `end`: of two that are ready at once either may be first. */
static const char *noted_but(const char *end)
{
    static char rest[2048];
    char       *all = strdup(noted()), *more = all;

    rest[0] = 0;
    for (char *w; (w = strsep(&more, " "));) {
        size_t n = strlen(w), tail = strlen(end);
        if (*w && (n < tail || strcmp(w + n - tail, end) != 0))
            strcat(strcat(rest, w), " ");
    }
    free(all);
    return rest;
}

static int times_noted(const char *what)
{
    int n = 0;

    for (const char *at = noted(); (at = strstr(at, what)); at++)
        n++;
    return n;
}

static void note_message(const weft_msg *m)
{
    if (!m)
        note("none ");
    else if (weft_is(m, A))
        note("A%d ", *weft_get(m, A));
    else if (weft_is(m, B))
        note("B%d ", *weft_get(m, B));
    else if (weft_is(m, WEFT_FAILED))
        note("failed:%s ", word(*weft_get(m, WEFT_FAILED)));
    else if (weft_is(m, THING)) {
        note("T%d ", weft_get(m, THING)->at);
        free(weft_get(m, THING)->memory);
        owned--;
    } else
        note("%s ", weft_name(m));
}

/* ---- The receiver that is held up --------------------------------------------------------------- */

static weft_pid  boss, r;
static weft_msg *hold;

static void wait_for_leave(void) { weft_ask(WEFT_FOREVER, boss, MAY_I); }

static void drain(void)
{
    for (weft_msg *m; (m = weft_receive_within(weft_ms(0), WEFT_ANY));)
        note_message(m);
}

/* Takes all that is there, in order, and ends. */
static void drains(void *arg)
{
    (void)arg;
    wait_for_leave();
    note("| ");
    drain();
    weft_send(boss, DONE);
}

/* A bounded actor, which has not looked yet. */
static void begin(weft_fn *fn, weft_bound bound)
{
    boss = weft_self();
    r = weft_spawn(fn, NULL, .bound = &bound);
    hold = weft_keep(weft_receive(MAY_I));
}

static void give_leave(void)
{
    weft_reply(hold, YES);
    weft_drop(hold);
}

static void let_go(void)
{
    give_leave();
    weft_receive(DONE);
}

/* ---- What is counted ----------------------------------------------------------------------------- */

static void fills_by_messages(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 3});
    for (int i = 1; i <= 5; i++)
        said(weft_send(r, A, i));
    let_go();
}

Test(bound, by_messages_lets_so_many_wait)
{
    run(fills_by_messages);
    cr_expect_str_eq(noted(), "ok ok ok full full | A1 A2 A3 ");
}

static void fills_by_bytes(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.bytes = 10});
    said(weft_send(r, SIX));
    said(weft_send(r, FIVE));
    said(weft_send(r, FOUR));
    said(weft_send(r, ONE));
    said(weft_send(r, GO)); /* weighs nothing */
    let_go();
}

Test(bound, by_bytes_lets_so_much_wait)
{
    run(fills_by_bytes);
    cr_expect_str_eq(noted(), "ok full ok full ok | SIX FOUR GO ");
}

static void fills_by_large_bodies(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.bytes = 250});
    for (int i = 0; i < 3; i++)
        said(weft_send(r, LARGE, .n = i));
    let_go();
}

Test(bound, by_bytes_counts_large_bodies_too)
{
    run(fills_by_large_bodies);
    cr_expect_str_eq(noted(), "ok ok full | LARGE LARGE ");
}

static void fills_by_both(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 2, .bytes = 10});
    said(weft_send(r, SIX));
    said(weft_send(r, FIVE)); /* too much */
    said(weft_send(r, ONE));
    said(weft_send(r, ONE)); /* too many */
    let_go();
}

Test(bound, by_both_keeps_both)
{
    run(fills_by_both);
    cr_expect_str_eq(noted(), "ok full ok full | SIX ONE ");
}

static void tries(weft_bound bound)
{
    weft_pid made = weft_spawn(drains, NULL, .bound = &bound);

    note("%s:%s ", weft_is_nobody(made) ? "nobody" : "made", word(weft_spawn_error()));
}

static void spawns_nonsense(void *arg)
{
    (void)arg;
    tries((weft_bound){.messages = 0});
    tries((weft_bound){.messages = 1, .full = (enum weft_full)3});
    tries((weft_bound){.bytes = 1, .full = (enum weft_full) - 1});
}

Test(bound, that_makes_no_sense_is_refused_at_spawn)
{
    run(spawns_nonsense);
    cr_expect_str_eq(noted(), "nobody:invalid nobody:invalid nobody:invalid ");
    cr_expect_eq(counted().spawned, counted().ended);
}

static void changes_the_bound(void *arg)
{
    weft_bound bound = {.messages = 1};

    (void)arg;
    boss = weft_self();
    r = weft_spawn(drains, NULL, .bound = &bound);
    bound = (weft_bound){.messages = 9, .full = WEFT_FULL_DROP_NEWEST};
    hold = weft_keep(weft_receive(MAY_I));
    said(weft_send(r, A, 1));
    said(weft_send(r, A, 2));
    let_go();
}

Test(bound, is_copied)
{
    run(changes_the_bound);
    cr_expect_str_eq(noted(), "ok full | A1 ");
}

static void takes_one_and_waits(void *arg)
{
    (void)arg;
    wait_for_leave();
    weft_msg *m = weft_receive(A);
    weft_ask(WEFT_FOREVER, boss, MAY_I);
    note_message(m); /* it is still there, but not in the mailbox */
    drain();
    weft_send(boss, DONE);
}

static void sends_to_one_that_has_received(void *arg)
{
    (void)arg;
    begin(takes_one_and_waits, (weft_bound){.messages = 1});
    said(weft_send(r, A, 1));
    said(weft_send(r, A, 2));
    give_leave();
    hold = weft_keep(weft_receive(MAY_I));
    said(weft_send(r, A, 3));
    said(weft_send(r, A, 4));
    let_go();
}

Test(bound, counts_no_more_what_was_received)
{
    run(sends_to_one_that_has_received);
    cr_expect_str_eq(noted(), "ok full ok full A1 A3 ");
}

static void skips_and_waits(void *arg)
{
    (void)arg;
    wait_for_leave();
    note_message(weft_receive(B));
    weft_ask(WEFT_FOREVER, boss, MAY_I);
    drain();
    weft_send(boss, DONE);
}

static void sends_to_one_that_has_skipped(void *arg)
{
    (void)arg;
    begin(skips_and_waits, (weft_bound){.messages = 3});
    for (int i = 1; i <= 2; i++)
        said(weft_send(r, A, i));
    said(weft_send(r, B, 3));
    give_leave();
    hold = weft_keep(weft_receive(MAY_I));
    said(weft_send(r, A, 4));
    said(weft_send(r, A, 5));
    let_go();
}

Test(bound, counts_what_was_skipped)
{
    run(sends_to_one_that_has_skipped);
    cr_expect_str_eq(noted(), "ok ok ok B3 ok full A1 A2 A4 ");
}

/* ---- What a full mailbox does -------------------------------------------------------------------- */

static void fails(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 2, .full = WEFT_FULL_FAIL});
    for (int i = 1; i <= 3; i++)
        said(send_thing(r, i));
    note("%d ", destroyed[3]);
    let_go();
}

Test(bound, that_fails_destroys_what_the_body_owns)
{
    weft_counts before = counted();
    run(fails);
    cr_expect_str_eq(noted(), "ok ok full 1 | T1 T2 ");
    cr_expect_eq(owned, 0);
    cr_expect_eq(counted().dead_letters - before.dead_letters, 0, "the sender knows");
    cr_expect_eq(counted().full_drops - before.full_drops, 0);
}

static void drops_oldest(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 3, .full = WEFT_FULL_DROP_OLDEST});
    for (int i = 1; i <= 5; i++)
        said(send_thing(r, i));
    note("%d%d%d%d%d ", destroyed[1], destroyed[2], destroyed[3], destroyed[4], destroyed[5]);
    let_go();
}

Test(bound, that_drops_the_oldest_makes_room)
{
    weft_counts before = counted();
    run(drops_oldest);
    cr_expect_str_eq(noted(), "ok ok ok ok ok 11000 | T3 T4 T5 ");
    cr_expect_eq(owned, 0);
    cr_expect_eq(counted().dead_letters - before.dead_letters, 2);
    cr_expect_eq(counted().full_drops - before.full_drops, 2);
}

static void drops_oldest_but_urgent(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 2, .full = WEFT_FULL_DROP_OLDEST});
    weft_send_urgent(r, A, 1);
    for (int i = 2; i <= 4; i++)
        weft_send(r, A, i);
    weft_send_urgent(r, A, 5);
    weft_send_urgent(r, A, 6); /* nothing else is left to drop but the first */
    let_go();
}

Test(bound, that_drops_the_oldest_drops_what_is_urgent_last)
{
    run(drops_oldest_but_urgent);
    cr_expect_str_eq(noted(), "| A5 A6 ");
    cr_expect_eq(counted().full_drops, 4);
}

static void waits_for_b(void *arg)
{
    (void)arg;
    wait_for_leave();
    note_message(weft_receive(B));
    drain();
    weft_send(boss, DONE);
}

static void drops_oldest_of_the_skipped(void *arg)
{
    (void)arg;
    begin(waits_for_b, (weft_bound){.messages = 4, .full = WEFT_FULL_DROP_OLDEST});
    for (int i = 1; i <= 3; i++)
        said(weft_send(r, A, i));
    give_leave();
    weft_sleep(weft_ms(1)); /* it waits now, and has skipped them */
    for (int i = 4; i <= 6; i++)
        said(weft_send(r, A, i));
    said(weft_send(r, B, 7));
    weft_receive(DONE);
}

Test(bound, that_drops_the_oldest_begins_with_what_was_skipped)
{
    weft_counts before = counted();
    run(drops_oldest_of_the_skipped);
    cr_expect_str_eq(noted_but("ok"), "B7 A4 A5 A6 ");
    cr_expect_eq(times_noted("ok"), 7);
    cr_expect_eq(counted().full_drops - before.full_drops, 3);
}

static void drops_many_of_the_skipped(void *arg)
{
    (void)arg;
    begin(waits_for_b, (weft_bound){.messages = 100, .full = WEFT_FULL_DROP_OLDEST});
    for (int i = 0; i < 100; i++)
        weft_send(r, A, i);
    give_leave();
    weft_sleep(weft_ms(1));
    for (int i = 100; i < 196; i++) { /* of many types, each of which has a pile of its own */
        if (i % 2)
            weft_send(r, ONE);
        else
            weft_send(r, A, i);
        if (i % 16 == 0)
            weft_sleep(weft_ms(1));
    }
    weft_send(r, B, 1);
    weft_receive(DONE);
}

Test(bound, that_drops_the_oldest_of_many_types_keeps_the_order)
{
    char expected[1024] = "B1 A97 A98 A99 ", *end = expected + strlen(expected);

    run(drops_many_of_the_skipped);
    for (int i = 100; i < 196; i++)
        end += i % 2 ? sprintf(end, "ONE ") : sprintf(end, "A%d ", i);
    cr_expect_str_eq(noted(), expected);
}

static void drops_several_for_one(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.bytes = 10, .full = WEFT_FULL_DROP_OLDEST});
    said(weft_send(r, FOUR));
    said(weft_send(r, ONE));
    said(weft_send(r, FIVE)); /* 10 */
    said(weft_send(r, FOUR)); /* the first FOUR goes, and no more */
    note("%d ", (int)counted().full_drops);
    said(weft_send(r, EIGHT)); /* ONE and FIVE, and that FOUR */
    note("%d ", (int)counted().full_drops);
    said(weft_send(r, ONE)); /* there is room */
    note("%d ", (int)counted().full_drops);
    let_go();
}

Test(bound, that_drops_the_oldest_drops_as_many_as_it_must)
{
    run(drops_several_for_one);
    cr_expect_str_eq(noted(), "ok ok ok ok 1 ok 4 ok 4 | EIGHT ONE ");
}

static void drops_newest(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 2, .full = WEFT_FULL_DROP_NEWEST});
    for (int i = 1; i <= 4; i++)
        said(send_thing(r, i));
    note("%d%d%d%d ", destroyed[1], destroyed[2], destroyed[3], destroyed[4]);
    let_go();
}

Test(bound, that_drops_the_newest_says_nothing_to_its_sender)
{
    weft_counts before = counted();
    run(drops_newest);
    cr_expect_str_eq(noted(), "ok ok ok ok 0011 | T1 T2 ");
    cr_expect_eq(owned, 0);
    cr_expect_eq(counted().dead_letters - before.dead_letters, 2);
    cr_expect_eq(counted().full_drops - before.full_drops, 2);
}

static void sends_too_much(void *arg)
{
    (void)arg;
    for (int full = WEFT_FULL_FAIL; full <= WEFT_FULL_DROP_NEWEST; full++) {
        begin(drains, (weft_bound){.bytes = sizeof(struct thing) - 1, .full = (enum weft_full)full});
        said(weft_send(r, SIX));
        said(send_thing(r, full));
        said(send_thing_within(weft_sec(1), r, full));
        let_go();
    }
}

Test(bound, by_bytes_refuses_what_is_larger_alone)
{
    weft_counts before = counted();
    run(sends_too_much);
    cr_expect_str_eq(noted(), "ok size size | SIX ok size size | SIX ok size size | SIX ");
    cr_expect(destroyed[0] == 2 && destroyed[1] == 2 && destroyed[2] == 2);
    cr_expect_eq(counted().dead_letters - before.dead_letters, 0);
}

/* ---- Dead letters --------------------------------------------------------------------------------- */

static void note_letter(const weft_msg *m)
{
    const struct weft_dead_letter *letter = weft_get(m, WEFT_DEAD_LETTER);

    note("[%s ", word(letter->why));
    note("%s ", weft_same(letter->to, r) ? "r" : "?");
    if (weft_is(letter->message, A))
        note("A%d] ", *weft_get(letter->message, A));
    else
        note("%s] ", weft_name(letter->message));
}

static void note_letters(void)
{
    for (weft_msg *m; (m = weft_receive_within(weft_ms(0), WEFT_DEAD_LETTER));)
        note_letter(m);
}

static void reads_letters(void *arg)
{
    (void)arg;
    weft_dead_letters(true);
    begin(drains, (weft_bound){.messages = 2, .full = WEFT_FULL_DROP_OLDEST});
    for (int i = 1; i <= 4; i++)
        weft_send(r, A, i);
    weft_pass_full(r, weft_make(A, 5), WEFT_FULL_DROP_NEWEST);
    weft_pass_full(r, weft_make(A, 6), WEFT_FULL_FAIL); /* no letter */
    note_letters();
    let_go();
}

Test(bound, makes_dead_letters_of_what_it_drops)
{
    run(reads_letters);
    cr_expect_str_eq(noted(), "[full r A1] [full r A2] [full r A5] | A3 A4 ");
}

static void subscribes_with_a_bound(void *arg)
{
    (void)arg;
    weft_dead_letters(true);
    wait_for_leave();
    weft_dead_letters(false);
    for (weft_msg *m; (m = weft_receive_within(weft_ms(0), WEFT_DEAD_LETTER));)
        note("%d ", weft_get(weft_get(m, WEFT_DEAD_LETTER)->message, THING)->at);
    weft_send(boss, DONE);
}

static void writes_letters(enum weft_full full)
{
    begin(subscribes_with_a_bound, (weft_bound){.messages = 2, .full = full});
    for (int i = 1; i <= 4; i++)
        send_thing(WEFT_NOBODY, i);
    let_go();
}

static void fills_a_subscriber_that_fails(void *arg)
{
    (void)arg;
    writes_letters(WEFT_FULL_FAIL);
}

static void fills_a_subscriber_that_drops_oldest(void *arg)
{
    (void)arg;
    writes_letters(WEFT_FULL_DROP_OLDEST);
}

static void fills_a_subscriber_that_drops_newest(void *arg)
{
    (void)arg;
    writes_letters(WEFT_FULL_DROP_NEWEST);
}

static bool each_is_destroyed_once(void)
{
    return destroyed[1] == 1 && destroyed[2] == 1 && destroyed[3] == 1 && destroyed[4] == 1 && owned == 0;
}

Test(bound, of_a_subscriber_that_fails_keeps_the_first_letters)
{
    run(fills_a_subscriber_that_fails);
    cr_expect_str_eq(noted(), "1 2 ");
    cr_expect(each_is_destroyed_once());
}

Test(bound, of_a_subscriber_that_drops_the_oldest_keeps_the_last_letters)
{
    run(fills_a_subscriber_that_drops_oldest);
    cr_expect_str_eq(noted(), "3 4 ");
    cr_expect(each_is_destroyed_once());
    cr_expect_eq(counted().dead_letters, 6, "two letters have died themselves");
    cr_expect_eq(counted().full_drops, 2);
}

Test(bound, of_a_subscriber_that_drops_the_newest_keeps_the_first_letters)
{
    run(fills_a_subscriber_that_drops_newest);
    cr_expect_str_eq(noted(), "1 2 ");
    cr_expect(each_is_destroyed_once());
    cr_expect_eq(counted().full_drops, 2);
}

/* ---- As without a bound ----------------------------------------------------------------------------- */

static int asked[64];

static bool is_even(const weft_msg *m, const void *with)
{
    (void)with;
    asked[*weft_get(m, A)]++;
    return *weft_get(m, A) % 2 == 0;
}

static bool times_ten(const weft_msg *m, const void *with, void *value)
{
    (void)with;
    *(int *)value = *weft_get(m, A) * 10;
    return *weft_get(m, A) % 3 == 0;
}

static void notes_it(void *state, weft_msg *m)
{
    (void)state;
    note_message(m);
}

static void stops_serving(void *state, weft_msg *m)
{
    (void)state, (void)m;
    weft_unbecome();
    note(weft_skipped() > 0 ? "skipped " : "asked nobody "); /* an await need not look at a gate */
    drain();
    weft_send(boss, DONE);
}

static const weft_case  on_even[] = {WEFT_ON_IF(A, notes_it, is_even, NULL)};
static const weft_cases even = WEFT_CASES(on_even, NULL);
static const weft_case  on_third[] = {WEFT_ON_AS(A, notes_it, times_ten, NULL, B)};
static const weft_cases third = WEFT_CASES(on_third, NULL);
static const int        seven = 7;
static const weft_case  on_seven[] = {WEFT_ON_VALUE(A, notes_it, &seven), WEFT_ON(B, notes_it)};
static const weft_cases sevens = WEFT_CASES(on_seven, NULL);
static const weft_case  on_stop[] = {WEFT_ON(STOP, stops_serving)};
static const weft_cases stops = WEFT_CASES(on_stop, &sevens);

static void serves(void *state, weft_msg *m)
{
    note_message(m);
    weft_become(&stops, state);
}

static void reacts_again(void *state, weft_msg *m)
{
    note_message(m);
    weft_react_within(weft_sec(1), serves, state, GO, ONE);
}

static void reacts_to_cases(void *state, weft_msg *m)
{
    note_message(m);
    weft_react(reacts_again, state, WEFT_ANY);
}

static void receives_in_all_ways(void *arg)
{
    (void)arg;
    wait_for_leave();
    note_message(weft_receive(B));
    for (int i = 0; i < 3; i++)
        note_message(weft_receive_case(weft_sec(1), &even));
    note_message(weft_receive_within(weft_ms(0), GO));
    for (int i = 0; i < 2; i++)
        note_message(weft_receive_case(weft_sec(1), &third));
    note_message(weft_receive(FOUR, GO));
    weft_sleep(weft_ms(3));
    note_message(weft_receive(WEFT_ANY));
    weft_react(reacts_to_cases, NULL, LARGE, EIGHT);
}

static const weft_bound *kind;

static void sends_in_all_ways(void *arg)
{
    (void)arg;
    boss = weft_self();
    r = weft_spawn(receives_in_all_ways, NULL, .bound = kind);
    hold = weft_keep(weft_receive(MAY_I));
    for (int i = 1; i <= 5; i++)
        weft_send(r, A, i);
    give_leave();
    for (int i = 6; i <= 25; i++) {
        weft_sleep(weft_ms(1));
        weft_send(r, A, i);
        if (i % 5 == 0)
            weft_send(r, B, i);
        if (i % 7 == 0)
            weft_send_urgent(r, GO);
    }
    weft_send(r, LARGE, .n = 1);
    weft_sleep(weft_ms(1));
    for (int i = 0; i < 20; i++)
        weft_send(r, A, 7);
    weft_send_urgent(r, B, 99);
    weft_send(r, ONE);
    weft_sleep(weft_ms(1));
    weft_send(r, STOP);
    weft_receive(DONE);
}

/* The whole story, and how often each number was asked for. */
static char *story(const weft_bound *how)
{
    forget_notes();
    memset(asked, 0, sizeof asked);
    kind = how;
    run(sends_in_all_ways);
    for (int i = 0; i < 30; i++)
        note("%d", asked[i]);
    return strdup(noted());
}

Test(bound, that_is_not_reached_changes_nothing)
{
    weft_bound by_messages = {.messages = 1000}, by_bytes = {.bytes = 100000};
    char      *without = story(NULL), *with = story(&by_messages), *with_bytes = story(&by_bytes);

    cr_expect_str_eq(with, without);
    cr_expect_str_eq(with_bytes, without);
    cr_expect(strstr(without, "B10") && strstr(without, "ONE") && strstr(without, "skipped"), "%s", without);
    free(without);
    free(with);
    free(with_bytes);
}

static bool is_nine(const weft_msg *m, const void *with)
{
    (void)with;
    asked[*weft_get(m, A)]++;
    return *weft_get(m, A) == 9;
}

static const weft_case  on_nine[] = {WEFT_ON_IF(A, notes_it, is_nine, NULL)};
static const weft_cases nine = WEFT_CASES(on_nine, NULL);

static void receives_nine(void *arg)
{
    (void)arg;
    wait_for_leave();
    note_message(weft_receive_case(WEFT_FOREVER, &nine));
    weft_send(boss, DONE);
}

static void reacts_to_nine(void *arg)
{
    (void)arg;
    wait_for_leave();
    weft_react_case(&nine, NULL);
}

static void sends_one_by_one(weft_fn *fn)
{
    begin(fn, (weft_bound){.messages = 10});
    for (int i = 0; i < 3; i++)
        weft_send(r, A, i);
    give_leave();
    for (int i = 3; i <= 9; i++) {
        weft_sleep(weft_ms(1));
        if (i % 3 == 0)
            weft_send_urgent(r, A, i);
        else
            weft_send(r, A, i);
    }
    while (weft_send(r, GO) != WEFT_EGONE)
        weft_sleep(weft_ms(1));
}

static void sends_to_a_receive(void *arg)
{
    (void)arg;
    sends_one_by_one(receives_nine);
}

static void sends_to_a_reaction(void *arg)
{
    (void)arg;
    sends_one_by_one(reacts_to_nine);
}

static bool each_was_asked_once(void)
{
    for (int i = 0; i < 9; i++)
        if (asked[i] != 1)
            return false;
    return true;
}

Test(bound, has_each_message_tested_once_by_a_receive)
{
    run(sends_to_a_receive);
    cr_expect_str_eq(noted(), "A9 ");
    cr_expect(each_was_asked_once());
}

Test(bound, has_each_message_tested_once_by_a_reaction)
{
    run(sends_to_a_reaction);
    cr_expect_str_eq(noted(), "A9 ");
    cr_expect(each_was_asked_once());
}

static void sends_urgent_before_the_look(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 4});
    weft_send(r, A, 1);
    weft_send(r, A, 2);
    said(weft_send_urgent(r, A, 3));
    said(weft_send_urgent(r, A, 4));
    said(weft_send_urgent(r, A, 5));
    let_go();
}

Test(bound, shows_what_is_urgent_first)
{
    run(sends_urgent_before_the_look);
    cr_expect_str_eq(noted(), "ok ok full | A3 A4 A1 A2 ");
}

static void sends_urgent_after_the_look(void *arg)
{
    (void)arg;
    begin(waits_for_b, (weft_bound){.messages = 9});
    weft_send(r, A, 1);
    weft_send_urgent(r, A, 2);
    give_leave();
    weft_sleep(weft_ms(1));
    weft_send(r, A, 3);
    weft_send(r, B, 4);
    weft_send_urgent(r, A, 5);
    weft_send_urgent(r, B, 6);
    weft_receive(DONE);
}

Test(bound, shows_what_is_urgent_before_what_was_skipped)
{
    run(sends_urgent_after_the_look);
    cr_expect_str_eq(noted(), "B6 A2 A5 A1 A3 B4 ");
}

/* ---- Requests ----------------------------------------------------------------------------------------- */

static void asks_the_full(void *arg)
{
    (void)arg;
    for (int full = WEFT_FULL_FAIL; full <= WEFT_FULL_DROP_NEWEST; full++) {
        begin(drains, (weft_bound){.messages = 1, .full = (enum weft_full)full});
        weft_send(r, A, 0);
        weft_pending pending = weft_request(r, A, 1);
        if (full == WEFT_FULL_DROP_OLDEST)
            weft_send(r, A, 2); /* the request made room, and makes room */
        note_message(weft_await(pending, weft_ms(0)));
        let_go();
    }
}

Test(bound, fails_the_requests_that_it_refuses_or_drops)
{
    run(asks_the_full);
    cr_expect_str_eq(noted(), "failed:full | A0 failed:full | A2 failed:full | A0 ");
}

static void forwards_to_the_full(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 1});
    weft_send(r, A, 0);
    weft_pending pending = weft_request(boss, A, 1);
    said(weft_forward(r, weft_receive(A)));
    note_message(weft_await(pending, weft_ms(0)));
    let_go();
}

Test(bound, fails_the_requests_that_are_forwarded_to_it)
{
    run(forwards_to_the_full);
    cr_expect_str_eq(noted(), "full failed:full | A0 ");
}

static void is_asked(void *arg)
{
    (void)arg;
    wait_for_leave();
    weft_reply(weft_receive(A), B, 5);
    weft_reply(weft_receive(A), B, 6);
    weft_send(boss, DONE);
}

static void asks_the_bounded(void *arg)
{
    (void)arg;
    begin(is_asked, (weft_bound){.messages = 2});
    weft_pending one = weft_request(r, A, 1), two = weft_request(r, A, 2), three = weft_request(r, A, 3);
    let_go();
    note_message(weft_await(two, weft_ms(0)));
    note_message(weft_await(one, weft_ms(0)));
    note_message(weft_await(three, weft_ms(0)));
}

Test(bound, holds_requests_as_it_holds_messages)
{
    run(asks_the_bounded);
    cr_expect_str_eq(noted(), "B6 B5 failed:full ");
}

static void on_response(void *state, weft_msg *m)
{
    (void)state;
    note_message(m);
    drain();
    weft_send(boss, DONE);
}

static void asks_and_reacts(void *arg)
{
    (void)arg;
    weft_then(weft_request(boss, MAY_I), WEFT_FOREVER, on_response, NULL);
}

static void answers_the_full(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 1});
    said(weft_send(r, A, 1));
    said(weft_send(r, A, 2));
    let_go();
    note("; ");
    begin(asks_and_reacts, (weft_bound){.messages = 1});
    said(weft_send(r, A, 1));
    said(weft_send(r, A, 2));
    said(weft_reply(hold, YES));
    weft_drop(hold);
    weft_receive(DONE);
}

Test(bound, never_refuses_a_response)
{
    run(answers_the_full);
    cr_expect_str_eq(noted(), "ok full | A1 ; ok full ok YES A1 ");
}

static void on_late(void *state, weft_msg *m)
{
    (void)state;
    note(m ? "answered " : "late ");
    drain();
    weft_send(boss, DONE);
}

static void asks_in_vain(void *arg)
{
    (void)arg;
    weft_then(weft_request(boss, MAY_I), weft_ms(5), on_late, NULL);
}

static void lets_the_full_wait(void *arg)
{
    (void)arg;
    begin(asks_in_vain, (weft_bound){.messages = 1});
    weft_send(r, A, 1);
    weft_receive(DONE);
    weft_drop(hold);
}

Test(bound, does_not_keep_the_time_of_a_request_away)
{
    run(lets_the_full_wait);
    cr_expect_str_eq(noted(), "late A1 ");
}

/* ---- The sender's choice ------------------------------------------------------------------------------- */

static void overrides(void *arg)
{
    (void)arg;
    for (int full = WEFT_FULL_FAIL; full <= WEFT_FULL_DROP_NEWEST; full++) {
        begin(drains, (weft_bound){.messages = 2, .full = (enum weft_full)full});
        said(weft_pass_full(r, weft_make(A, 1), WEFT_FULL_FAIL));
        said(weft_pass_full(r, weft_make(A, 2), WEFT_FULL_DROP_NEWEST));
        said(weft_pass_full(r, weft_make(A, 3), WEFT_FULL_FAIL));
        said(weft_pass_full(r, weft_make(A, 4), WEFT_FULL_DROP_OLDEST));
        said(weft_pass_full(r, weft_make(A, 5), WEFT_FULL_DROP_NEWEST));
        let_go();
    }
}

Test(bound, may_be_met_by_a_choice_of_the_senders)
{
    const char *each = "ok ok full ok ok | A2 A4 ";
    char        all[100];

    snprintf(all, sizeof all, "%s%s%s", each, each, each);
    run(overrides);
    cr_expect_str_eq(noted(), all);
    cr_expect_eq(counted().full_drops, 6);
}

static void chooses_nonsense(void *arg)
{
    struct thing t = thing(1);

    (void)arg;
    begin(drains, (weft_bound){.messages = 2});
    said(weft_pass_full(r, weft_make_body(&weft_type_THING, &t), (enum weft_full)7));
    said(weft_pass_full(r, NULL, WEFT_FULL_FAIL));
    said(weft_pass_within(weft_ms(1), r, NULL));
    said(weft_send_within_body(weft_ms(1), r, NULL, NULL));
    said(weft_send_within_body(weft_ms(1), r, &weft_type_A, NULL));
    let_go();
    said(weft_pass_full(r, weft_make(A, 1), WEFT_FULL_DROP_OLDEST));
    said(weft_pass_within(weft_ms(1), r, weft_make(A, 1)));
    said(weft_pass_within(weft_ms(1), WEFT_NOBODY, weft_make(A, 1)));
}

Test(bound, refuses_choices_that_make_no_sense)
{
    run(chooses_nonsense);
    cr_expect_str_eq(noted(), "invalid invalid invalid invalid invalid | gone gone gone ");
    cr_expect_eq(destroyed[1], 1);
    cr_expect_eq(counted().dead_letters, 3, "to who is gone");
}

static void passes_to_the_unbounded(void *arg)
{
    weft_pid me = weft_self();

    (void)arg;
    for (int i = 0; i < 1000; i++) {
        weft_pass_full(me, weft_make(A, i), WEFT_FULL_DROP_OLDEST);
        weft_pass_within(weft_ms(0), me, weft_make(A, i));
        if (weft_send_within(weft_ms(0), me, A, i))
            note("refused ");
    }
    for (int i = 0; i < 3000; i++)
        if (*weft_get(weft_receive(A), A) != i / 3)
            note("out of order ");
    note_message(weft_receive_within(weft_ms(0), A));
}

Test(bound, that_is_not_there_is_never_reached)
{
    run(passes_to_the_unbounded);
    cr_expect_str_eq(noted(), "none ");
}

static void floods(weft_pid to, bool waits)
{
    for (int i = 0; i < 100000 && !atomic_load(&owned); i++) {
        if (waits)
            weft_pass_within(weft_ms(1), to, weft_make(A, i));
        else
            weft_pass_full(to, weft_make(A, i), WEFT_FULL_DROP_OLDEST);
    }
    note(owned ? "gave way " : "never gave way ");
}

static void counts_as_owned(void *arg)
{
    (void)arg;
    weft_receive(A);
    owned = 1;
}

static void floods_by_choice(void *arg)
{
    (void)arg;
    floods(weft_spawn(counts_as_owned, NULL, .bound = &(weft_bound){.messages = 10}), false);
}

static void floods_with_a_time(void *arg)
{
    (void)arg;
    floods(weft_spawn(counts_as_owned, NULL, .bound = &(weft_bound){.messages = 1000000}), true);
}

Test(bound, gives_way_to_others_at_the_end_of_a_turn_by_choice)
{
    run(floods_by_choice);
    cr_expect_str_eq(noted(), "gave way ");
}

Test(bound, gives_way_to_others_at_the_end_of_a_turn_where_there_is_room)
{
    run(floods_with_a_time);
    cr_expect_str_eq(noted(), "gave way ");
}

/* ---- Waiting for room -------------------------------------------------------------------------------- */

static void waits_nowhere(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 2});
    int64_t before = weft__clock_now();
    said(weft_send_within(weft_sec(1), r, A, 1));
    said(weft_pass_within(weft_ms(0), r, weft_make(A, 2)));
    said(send_thing_within(weft_ms(0), r, 1));
    said(send_thing_within(weft_ms(-5), r, 1));
    note("%d %d ", destroyed[1], (int)(weft__clock_now() - before));
    let_go();
}

Test(bound, is_no_wait_where_there_is_room_or_no_time)
{
    run(waits_nowhere);
    cr_expect_str_eq(noted(), "ok ok late late 2 0 | A1 A2 ");
}

static void waits_in_vain(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 1});
    weft_send(r, A, 1);
    int64_t before = weft__clock_now();
    said(send_thing_within(weft_ms(5), r, 1));
    int64_t waited = weft__clock_now() - before;
    note("%d %s ", destroyed[1], waited >= 5000000 && waited < 6000000 ? "5 ms" : "?");
    let_go();
}

Test(bound, is_waited_for_no_longer_than_the_time)
{
    weft_counts before = counted();
    run(waits_in_vain);
    cr_expect_str_eq(noted(), "late 1 5 ms | A1 ");
    cr_expect_eq(owned, 0);
    cr_expect_eq(counted().dead_letters - before.dead_letters, 0);
}

/* Sends A `number` after so many ms, in a way of its own; waits for room. */
static void sends_as_a_fiber(void *arg)
{
    int number = *(int *)arg;

    weft_sleep(weft_ms(number));
    note("(%d) ", number);
    int error = weft_send_within(WEFT_FOREVER, r, A, number);
    note("%d:%s ", number, word(error));
    weft_send(boss, YES);
}

static void on_time(void *state, weft_msg *m)
{
    int number = *(int *)state;

    (void)m;
    note("(%d) ", number);
    int error = weft_pass_within(weft_sec(10), r, weft_make(A, number));
    note("%d:%s ", number, word(error));
    weft_send(boss, YES);
}

static void sends_as_a_handler(void *arg) { weft_react_within(weft_ms(*(int *)arg), on_time, arg, STOP); }

static void spawn_senders(int n)
{
    for (int i = 1; i <= n; i++)
        weft_spawn(i % 2 ? sends_as_a_fiber : sends_as_a_handler, &i, .copy_bytes = sizeof i);
}

static void drains_slowly(void *arg)
{
    (void)arg;
    wait_for_leave();
    for (weft_msg *m; (m = weft_receive_within(weft_ms(20), A));) {
        note_message(m);
        weft_sleep(weft_ms(1));
    }
    weft_send(boss, DONE);
}

static void serves_in_order(void *arg)
{
    (void)arg;
    begin(drains_slowly, (weft_bound){.messages = 2});
    weft_send(r, A, 8);
    weft_send(r, A, 9);
    spawn_senders(5);
    weft_sleep(weft_ms(10));
    give_leave();
    for (int i = 0; i < 5; i++)
        weft_receive(YES);
    weft_receive(DONE);
}

Test(bound, is_waited_for_first_come_first_served)
{
    run(serves_in_order);
    cr_expect_str_eq(noted(), "(1) (2) (3) (4) (5) A8 1:ok A9 2:ok A1 3:ok A2 4:ok A3 5:ok A4 A5 ");
}

static void lets_several_in_at_once(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.bytes = 12});
    weft_send(r, EIGHT);
    weft_send(r, FOUR);
    spawn_senders(5); /* of four bytes each */
    weft_sleep(weft_ms(10));
    let_go();
    for (int i = 0; i < 5; i++)
        weft_receive(YES);
}

Test(bound, lets_in_as_many_as_there_is_room_for)
{
    run(lets_several_in_at_once);
    cr_expect_str_eq(noted_but(":ok"), "(1) (2) (3) (4) (5) | EIGHT FOUR A1 A2 A3 A4 A5 ");
    cr_expect_eq(times_noted(":ok"), 5);
}

static void one_leaves_the_queue(void *arg)
{
    int which = *(int *)arg;

    weft_sleep(weft_ms(which));
    int error = weft_send_within(which == 2 ? weft_ms(3) : WEFT_FOREVER, r, A, which);
    note("%d:%s ", which, word(error));
    weft_send(boss, YES);
}

static void loses_one_in_the_queue(void *arg)
{
    (void)arg;
    begin(drains_slowly, (weft_bound){.messages = 1});
    weft_send(r, A, 9);
    for (int i = 1; i <= 3; i++)
        weft_spawn(one_leaves_the_queue, &i, .copy_bytes = sizeof i);
    weft_sleep(weft_ms(10));
    give_leave();
    for (int i = 0; i < 3; i++)
        weft_receive(YES);
    weft_receive(DONE);
}

Test(bound, is_waited_for_by_the_others_when_one_goes_away)
{
    run(loses_one_in_the_queue);
    cr_expect_str_eq(noted(), "2:late A9 1:ok A1 3:ok A3 ");
}

static void the_last_leaves(void *arg)
{
    int which = *(int *)arg;

    weft_sleep(weft_ms(which));
    int error = weft_send_within(which == 2 ? weft_ms(1) : WEFT_FOREVER, r, A, which);
    note("%d:%s ", which, word(error));
    weft_send(boss, YES);
}

static void loses_the_last_in_the_queue(void *arg)
{
    static const int when[] = {1, 2, 5};

    (void)arg;
    begin(drains_slowly, (weft_bound){.messages = 1});
    weft_send(r, A, 9);
    for (int i = 0; i < 3; i++) /* the second has gone when the third comes */
        weft_spawn(the_last_leaves, (void *)&when[i], .copy_bytes = sizeof(int));
    weft_sleep(weft_ms(10));
    give_leave();
    for (int i = 0; i < 3; i++)
        weft_receive(YES);
    weft_receive(DONE);
}

Test(bound, is_waited_for_by_who_comes_after_the_last_has_gone_away)
{
    run(loses_the_last_in_the_queue);
    cr_expect_str_eq(noted(), "2:late A9 1:ok A1 5:ok A5 ");
}

static void sends_eight(void *arg)
{
    (void)arg;
    said(weft_send_within(WEFT_FOREVER, r, EIGHT));
    weft_send(boss, YES);
}

static void tries_to_overtake(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.bytes = 10});
    said(weft_send(r, FIVE));
    weft_spawn(sends_eight, NULL);
    weft_sleep(weft_ms(1));
    said(weft_send(r, ONE)); /* there is room, but who waits comes first */
    said(weft_send(r, GO));
    let_go();
    weft_receive(YES);
}

Test(bound, that_is_waited_for_lets_nobody_overtake)
{
    run(tries_to_overtake);
    cr_expect_str_eq(noted(), "ok full full | FIVE EIGHT ok ");
}

static void goes_away_soon(void *arg)
{
    (void)arg;
    said(weft_send_within(weft_ms(5), r, EIGHT));
}

static void sends_one(void *arg)
{
    (void)arg;
    weft_sleep(weft_ms(1));
    int64_t before = weft__clock_now();
    said(weft_send_within(weft_ms(100), r, ONE));
    note(weft__clock_now() - before < 10000000 ? "soon " : "too late ");
    weft_send(boss, YES);
}

static void makes_room_by_going_away(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.bytes = 10});
    weft_send(r, FIVE);
    weft_spawn(goes_away_soon, NULL);
    weft_spawn(sends_one, NULL);
    weft_receive(YES);
    let_go();
}

Test(bound, has_room_for_the_next_when_the_first_who_waits_goes_away)
{
    run(makes_room_by_going_away);
    cr_expect_str_eq(noted(), "late ok soon | FIVE ONE ");
}

static void makes_room_by_dropping(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.bytes = 10});
    weft_send(r, SIX);
    weft_send(r, FOUR);
    weft_spawn(sends_one, NULL);
    weft_sleep(weft_ms(5));
    said(weft_pass_full(r, weft_make(FIVE), WEFT_FULL_DROP_OLDEST)); /* 9 of 10 */
    weft_receive(YES);
    let_go();
}

Test(bound, has_room_for_who_waits_when_more_was_dropped_than_came)
{
    run(makes_room_by_dropping);
    cr_expect_str_eq(noted(), "ok ok soon | FOUR FIVE ONE ");
}

static void waits_for_one(void *arg)
{
    (void)arg;
    wait_for_leave();
    note_message(weft_receive_within(weft_sec(1), ONE));
    drain();
    weft_send(boss, DONE);
}

static void lets_in_what_is_waited_for(void *arg)
{
    (void)arg;
    begin(waits_for_one, (weft_bound){.bytes = 10});
    weft_send(r, FIVE);
    weft_spawn(goes_away_soon, NULL);
    weft_spawn(sends_one, NULL);
    weft_sleep(weft_ms(2));
    give_leave(); /* it skips FIVE, and waits for what waits for room */
    weft_receive(DONE);
    weft_receive(YES);
}

Test(bound, wakes_its_actor_when_the_first_who_waits_goes_away)
{
    run(lets_in_what_is_waited_for);
    cr_expect(strstr(noted(), "late ") && strstr(noted(), "soon "), "%s", noted());
    cr_expect_lt(strstr(noted(), "ONE"), strstr(noted(), "FIVE"), "%s", noted());
    cr_expect_eq(times_noted("ok"), 1);
}

static void ends_without_looking(void *arg)
{
    (void)arg;
    wait_for_leave();
}

static void waits_for_one_that_ends(void *arg)
{
    (void)arg;
    begin(ends_without_looking, (weft_bound){.messages = 1});
    weft_send(r, A, 1);
    struct thing t = thing(1);
    weft_msg    *m = weft_make_body(&weft_type_THING, &t);
    give_leave(); /* it goes on when this one waits */
    said(weft_pass_within(weft_sec(1), r, m));
    note("%d ", destroyed[1]);
}

Test(bound, is_waited_for_no_longer_than_its_actor_lives)
{
    weft_counts before = counted();
    run(waits_for_one_that_ends);
    cr_expect_str_eq(noted(), "gone 1 ");
    cr_expect_eq(counted().dead_letters - before.dead_letters, 2, "what waited, in and outside");
    cr_expect_eq(counted().full_drops - before.full_drops, 0);
}

static void reads_the_letter_of_one_that_ends(void *arg)
{
    (void)arg;
    weft_dead_letters(true);
    begin(ends_without_looking, (weft_bound){.messages = 1});
    weft_send(r, A, 1);
    give_leave();
    said(weft_send_within(weft_sec(1), r, A, 2));
    weft_sleep(weft_ms(1));
    note_letters();
}

Test(bound, makes_dead_letters_of_what_waited_outside_when_its_actor_ends)
{
    run(reads_the_letter_of_one_that_ends);
    cr_expect(strcmp(noted(), "gone [gone r A1] [gone r A2] ") == 0 ||
                  strcmp(noted(), "gone [gone r A2] [gone r A1] ") == 0,
              "%s", noted());
}

static void answers_itself_before(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 1});
    weft_send(r, A, 1);
    weft_send(boss, LARGE, .n = 7);
    weft_pending pending = weft_request(boss, B, 1);
    weft_reply(weft_receive(B), A, 6);
    weft_msg *m = weft_receive(LARGE), *response = weft_await(pending, weft_ms(0));
    said(weft_send_within(weft_ms(1), r, A, 2));
    give_leave();
    said(weft_send_within(weft_sec(1), r, A, 3));
    note("%d ", weft_get(m, LARGE)->n);
    note_message(response);
    weft_receive(DONE);
}

Test(bound, is_waited_for_while_what_was_received_lives_on)
{
    run(answers_itself_before);
    cr_expect_str_eq(noted(), "late | A1 A3 ok 7 A6 ");
}

static void gets_mail_while_it_waits(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 1});
    weft_send(r, A, 1);
    for (int i = 0; i < 3; i++)
        weft_send_after(weft_ms(i + 1), boss, B, i);
    weft_pending pending = weft_request(boss, FOUR); /* answered later, by itself */
    said(weft_send_within(weft_ms(10), r, A, 2));
    weft_reply(weft_receive(FOUR), B, 9);
    for (int i = 0; i < 3; i++)
        note_message(weft_receive(B));
    note_message(weft_await(pending, weft_ms(0)));
    let_go();
}

Test(bound, is_waited_for_while_messages_come)
{
    run(gets_mail_while_it_waits);
    cr_expect_str_eq(noted(), "late B0 B1 B2 B9 | A1 ");
}

/* ---- Circles ------------------------------------------------------------------------------------------- */

enum { MOST = 50 };

static weft_pid   ring[MOST];
static int        ring_size, results[MOST];
static atomic_int got;

/* Its mailbox is full. It sends to the next, and only then reads. */
static void member(void *arg)
{
    int i = *(int *)arg;

    weft_ask(WEFT_FOREVER, boss, MAY_I);
    results[i] = weft_send_within(WEFT_FOREVER, ring[(i + 1) % ring_size], B, i);
    weft_receive(A);
    got += weft_receive_within(weft_sec(1), B) != NULL;
    weft_send(boss, DONE);
}

static void goes_round(void *arg)
{
    weft_msg *held[MOST];

    (void)arg;
    boss = weft_self();
    for (int i = 0; i < ring_size; i++) {
        char name[24];
        snprintf(name, sizeof name, "member %d", i);
        ring[i] = weft_spawn(member, &i, .copy_bytes = sizeof i, .name = name,
                             .bound = &(weft_bound){.messages = 1});
        weft_send(ring[i], A, i);
    }
    for (int i = 0; i < ring_size; i++)
        held[i] = weft_keep(weft_receive(MAY_I));
    for (int i = 0; i < ring_size; i++) {
        weft_reply(held[i], YES);
        weft_drop(held[i]);
    }
    for (int i = 0; i < ring_size; i++)
        weft_receive(DONE);
}

/* One is refused, one line names all, and the others go on. */
static void check_circle(int size, uint64_t seed)
{
    int refused = 0, sent = 0;

    ring_size = size;
    got = 0;
    listen_to_stderr();
    int         reason = weft_run(goes_round, NULL, .seed = seed);
    const char *text = what_was_said();

    cr_expect_eq(reason, 0);
    for (int i = 0; i < size; i++) {
        char name[32];
        snprintf(name, sizeof name, "\"member %d\"", i);
        cr_expect(strstr(text, name), "%s: %s", name, text);
        refused += results[i] == WEFT_ECYCLE;
        sent += results[i] == 0;
    }
    cr_expect_eq(lines(text), 1, "%s", text);
    cr_expect_eq(refused, 1);
    cr_expect_eq(sent, size - 1);
    cr_expect_eq(got, size - 1);
}

Test(bound, of_its_own_is_not_waited_for) { check_circle(1, 1); }

Test(bound, of_two_that_would_wait_for_each_other_refuses_one)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        check_circle(2, seed);
}

Test(bound, of_three_that_would_wait_in_a_circle_refuses_one)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        check_circle(3, seed);
}

Test(bound, of_fifty_that_would_wait_in_a_circle_refuses_one)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        check_circle(MOST, seed);
}

static void is_refused(void *arg)
{
    (void)arg;
    weft_bound bound = {.messages = 1};
    boss = weft_self();
    ring_size = 1;
    ring[0] = weft_spawn(member, &(int){0}, .copy_bytes = sizeof(int), .bound = &bound);
    weft_send(ring[0], A, 0);
    weft_msg *m = weft_receive(MAY_I);
    weft_reply(m, YES);
    weft_receive(DONE);
}

Test(bound, that_is_refused_in_a_circle_names_who_has_no_name)
{
    listen_to_stderr();
    run(is_refused);
    const char *text = what_was_said();
    cr_expect_eq(lines(text), 1);
    cr_expect(strncmp(text, "weft: ", 6) == 0 && strstr(text, "actor"), "%s", text);
    cr_expect_eq(results[0], WEFT_ECYCLE);
}

static void destroys_in_a_circle(void *arg)
{
    (void)arg;
    wait_for_leave();
    said(send_thing_within(WEFT_FOREVER, r, 1));
    said(send_thing_within(weft_ms(0), r, 2));
    note("%d%d ", destroyed[1], destroyed[2]);
    drain();
    said(send_thing_within(WEFT_FOREVER, r, 3));
    drain();
    weft_send(boss, DONE);
}

static void sends_to_itself(void *arg)
{
    (void)arg;
    begin(destroys_in_a_circle, (weft_bound){.messages = 1});
    weft_send(r, A, 1);
    let_go();
}

Test(bound, that_is_refused_in_a_circle_destroys_what_the_body_owns)
{
    listen_to_stderr();
    run(sends_to_itself);
    cr_expect_eq(lines(what_was_said()), 1, "with no time it is only late");
    cr_expect_str_eq(noted(), "cycle late 11 A1 ok T3 ");
}

/* 0 waits for 1, 1 for 2, ... and the last only reads. */
static void link_of_a_chain(void *arg)
{
    int i = *(int *)arg;

    weft_ask(WEFT_FOREVER, boss, MAY_I);
    if (i + 1 < ring_size)
        results[i] = weft_send_within(WEFT_FOREVER, ring[i + 1], B, i);
    else
        weft_sleep(weft_ms(10));
    weft_receive(A);
    if (i > 0)
        got += *weft_get(weft_receive(B), B) == i - 1;
    weft_send(boss, DONE);
}

static void makes_a_chain(void *arg)
{
    (void)arg;
    boss = weft_self();
    for (int i = 0; i < ring_size; i++) {
        ring[i] = weft_spawn(link_of_a_chain, &i, .copy_bytes = sizeof i,
                             .bound = &(weft_bound){.messages = 1});
        weft_send(ring[i], A, i);
    }
    for (int i = 0; i < ring_size; i++) {
        weft_msg *m = weft_receive(MAY_I);
        weft_reply(m, YES);
    }
    for (int i = 0; i < ring_size; i++)
        weft_receive(DONE);
}

Test(bound, of_a_chain_that_is_no_circle_is_waited_for)
{
    ring_size = 10;
    listen_to_stderr();
    run(makes_a_chain);
    cr_expect_str_eq(what_was_said(), "");
    cr_expect_eq(got, 9);
    for (int i = 0; i < 9; i++)
        cr_expect_eq(results[i], 0);
}

/* It waits for `r` and gives up, or gets through. Then `r` waits for it. */
static weft_pid  former;
static weft_span patience;

static void waits_first(void *arg)
{
    (void)arg;
    weft_ask(WEFT_FOREVER, boss, MAY_I);
    said(weft_send_within(patience, r, B, 1));
    weft_send(boss, YES);
    weft_sleep(weft_ms(50));
    drain();
    weft_send(boss, DONE);
}

static void waits_second(void *arg)
{
    (void)arg;
    wait_for_leave();
    if (patience.ns > 1000000000)
        drain();
    weft_ask(WEFT_FOREVER, boss, MAY_I);
    said(weft_send_within(weft_sec(1), former, B, 2));
    drain();
    weft_send(boss, DONE);
}

static void waits_both_ways(void *arg)
{
    (void)arg;
    begin(waits_second, (weft_bound){.messages = 1});
    former = weft_spawn(waits_first, NULL, .bound = &(weft_bound){.messages = 1});
    weft_send(r, A, 1);
    weft_send(former, A, 2);
    weft_reply(weft_receive(MAY_I), YES);
    weft_sleep(weft_ms(1)); /* now it waits */
    if (patience.ns > 1000000000)
        give_leave();
    weft_receive(YES);
    if (patience.ns < 1000000000)
        give_leave();
    weft_reply(weft_receive(MAY_I), YES);
    weft_receive(DONE);
    weft_receive(DONE);
}

Test(bound, of_one_that_has_given_up_waiting_is_waited_for)
{
    patience = weft_ms(5);
    listen_to_stderr();
    run(waits_both_ways);
    cr_expect_str_eq(what_was_said(), "");
    cr_expect_str_eq(noted(), "late A2 B2 ok A1 ");
}

Test(bound, of_one_that_was_let_in_is_waited_for)
{
    patience = weft_sec(5);
    listen_to_stderr();
    run(waits_both_ways);
    cr_expect_str_eq(what_was_said(), "");
    cr_expect_str_eq(noted_but("ok"), "A1 B1 A2 B2 ");
    cr_expect_eq(times_noted("ok"), 2);
}

static void waits_and_is_left(void *arg)
{
    (void)arg;
    said(weft_send_within(weft_sec(1), r, A, 2));
    weft_send(boss, YES);
    weft_sleep(weft_ms(10));
    drain();
    weft_send(boss, DONE);
}

static void waits_for_the_former(void *arg)
{
    (void)arg;
    wait_for_leave();
    said(weft_send_within(weft_sec(1), former, B, 3));
    drain();
    weft_send(boss, DONE);
}

/* The receiver ends, and another gets what it had. */
static void waits_for_who_has_the_place_now(void *arg)
{
    (void)arg;
    begin(ends_without_looking, (weft_bound){.messages = 1});
    weft_send(r, A, 1);
    former = weft_spawn(waits_and_is_left, NULL, .bound = &(weft_bound){.messages = 1});
    weft_send(former, A, 9);
    weft_sleep(weft_ms(1));
    give_leave();
    weft_receive(YES);
    begin(waits_for_the_former, (weft_bound){.messages = 1});
    weft_send(r, A, 4);
    give_leave();
    weft_receive(DONE);
    weft_receive(DONE);
}

Test(bound, of_one_that_waited_for_the_dead_is_waited_for)
{
    listen_to_stderr();
    run(waits_for_who_has_the_place_now);
    cr_expect_str_eq(what_was_said(), "");
    cr_expect_str_eq(noted(), "gone A9 B3 ok A4 ");
}

/* ---- Ends ------------------------------------------------------------------------------------------------ */

static void comes_and_goes(void *arg)
{
    (void)arg;
    weft_receive(GO);
}

static void spawns_many(void *arg)
{
    (void)arg;
    static weft_pid many[1000];

    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 1000; i++) {
            many[i] = weft_spawn(comes_and_goes, NULL, .bound = &(weft_bound){.messages = 2});
            weft_send(many[i], A, i);
        }
        for (int i = 0; i < 1000; i++)
            weft_send(many[i], GO);
        for (int i = 0; i < 1000; i++)
            while (weft_send(many[i], B, i) != WEFT_EGONE)
                weft_yield();
    }
}

Test(bound, of_many_that_come_and_go_needs_no_more_memory)
{
    run(spawns_many);
    size_t before = mallinfo2().uordblks;
    run(spawns_many);
    cr_expect_leq(mallinfo2().uordblks, before + 65536);
    cr_expect_eq(counted().spawned, counted().ended);
    cr_expect_eq(counted().spawned, 20002);
}

static void remembers_the_dead(void *arg)
{
    weft_pid dead[20];

    (void)arg;
    for (int i = 0; i < 20; i++) {
        begin(drains, (weft_bound){.messages = 1});
        dead[i] = r;
        for (int before = 0; before < i; before++) {
            int a = weft_send(dead[before], A, 1), b = weft_send_within(weft_sec(1), dead[before], A, 1),
                c = weft_pass_full(dead[before], weft_make(A, 1), WEFT_FULL_DROP_OLDEST);
            if (a != WEFT_EGONE || b != WEFT_EGONE || c != WEFT_EGONE)
                note("%d %d %d at %d of %d ", a, b, c, before, i);
        }
        let_go();
    }
    forget_notes();
    note("%d ", weft_same(dead[0], dead[1]));
}

Test(bound, of_the_dead_is_not_taken_for_that_of_the_living)
{
    run(remembers_the_dead);
    cr_expect_str_eq(noted(), "0 ");
    cr_expect_eq(counted().dead_letters, 20 * 19 / 2 * 3);
}

/* Its mailbox is full, and stays so. */
static void never_looks(void *arg)
{
    (void)arg;
    wait_for_leave();
    weft_sleep(WEFT_FOREVER);
}

static void waits_for_ever(void *arg)
{
    (void)arg;
    weft_send(boss, YES);
    weft_receive(GO); /* r is there */
    send_thing_within(WEFT_FOREVER, r, 1);
    note("never ");
}

static void ends_with_senders_waiting(void *arg)
{
    weft_bound bound = {.messages = 1};

    weft_bound *theirs = arg ? &bound : NULL;
    boss = weft_self();
    weft_pid early = weft_spawn(waits_for_ever, NULL, .bound = theirs); /* its slot is before r's */
    r = weft_spawn(never_looks, NULL, .bound = &bound);
    hold = weft_keep(weft_receive(MAY_I));
    weft_send(r, A, 1);
    weft_send(early, GO);
    weft_send(weft_spawn(waits_for_ever, NULL, .bound = theirs), GO);
    weft_receive(YES);
    weft_receive(YES);
    weft_sleep(weft_ms(1));
}

Test(bound, is_waited_for_until_the_system_ends)
{
    cr_assert_eq(weft_run(ends_with_senders_waiting, NULL, .seed = 1), 0);
    cr_expect_eq(weft_run(ends_with_senders_waiting, "bounded", .seed = 1), 0);
    cr_expect_str_eq(noted(), "");
    cr_expect_eq(owned, 0);
    cr_expect_eq(destroyed[1], 4);
    cr_expect_eq(counted().spawned, counted().ended);
}

Test(bound, is_waited_for_until_the_system_ends_and_each_message_counts_once)
{
    weft_counts before = counted();
    cr_assert_eq(weft_run(ends_with_senders_waiting, NULL, .seed = 1), 0);
    cr_expect_eq(counted().dead_letters - before.dead_letters, 4,
                 "one in the mailbox, two outside, and that request of r");
}

/* ---- Threads ------------------------------------------------------------------------------------------------ */

static sem_t go_thread;
static int   thread_result;

static void *sends_as_a_thread(void *arg)
{
    (void)arg;
    sem_wait(&go_thread);
    thread_result = weft_send_within(WEFT_FOREVER, r, EIGHT);
    return NULL;
}

/* What weighs nothing has room until somebody waits. */
static void until_somebody_waits(void)
{
    while (weft_send(r, GO) == 0)
        weft_sleep(weft_us(100));
}

static void drains_all_but_go(void *arg)
{
    (void)arg;
    wait_for_leave();
    note_message(weft_receive(FIVE));
    note_message(weft_receive(EIGHT));
    weft_send(boss, DONE);
}

static void serves_a_thread(void *arg)
{
    (void)arg;
    begin(drains_all_but_go, (weft_bound){.bytes = 10});
    weft_send(r, FIVE);
    sem_post(&go_thread);
    until_somebody_waits();
    let_go();
}

Test(bound, is_waited_for_by_threads)
{
    pthread_t thread;

    sem_init(&go_thread, 0, 0);
    pthread_create(&thread, NULL, sends_as_a_thread, NULL);
    cr_expect_eq(weft_run(serves_a_thread, NULL), 0);
    pthread_join(thread, NULL);
    cr_expect_eq(thread_result, 0);
    cr_expect_str_eq(noted(), "FIVE EIGHT ");
}

static void leaves_a_thread_waiting(void *arg)
{
    (void)arg;
    begin(never_looks, (weft_bound){.bytes = 10});
    weft_send(r, FIVE);
    sem_post(&go_thread);
    until_somebody_waits();
}

Test(bound, is_waited_for_by_threads_until_the_system_ends)
{
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        sem_init(&go_thread, 0, 0);
        pthread_create(&thread, NULL, sends_as_a_thread, NULL);
        cr_expect_eq(weft_run(leaves_a_thread_waiting, NULL), 0);
        pthread_join(thread, NULL);
        cr_expect_eq(thread_result, WEFT_EGONE);
    }
}

static void *is_late_as_a_thread(void *arg)
{
    (void)arg;
    sem_wait(&go_thread);
    said(weft_send(r, A, 1)); /* it is no actor */
    said(send_thing(r, 1));
    said(send_thing_within(weft_ms(0), r, 2));
    said(send_thing_within(weft_ms(1), r, 3));
    note("%d%d%d ", destroyed[1], destroyed[2], destroyed[3]);
    weft_send(boss, YES);
    return NULL;
}

static void lets_a_thread_be_late(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 1});
    sem_post(&go_thread);
    weft_receive(YES);
    let_go();
}

Test(bound, is_waited_for_by_threads_no_longer_than_the_time)
{
    pthread_t thread;

    sem_init(&go_thread, 0, 0);
    pthread_create(&thread, NULL, is_late_as_a_thread, NULL);
    cr_expect_eq(weft_run(lets_a_thread_be_late, NULL), 0);
    pthread_join(thread, NULL);
    cr_expect_str_eq(noted(), "ok full late late 111 | A1 ");
}

/* ---- Other ways to send --------------------------------------------------------------------------------- */

static void sends_later(void *arg)
{
    (void)arg;
    for (int full = WEFT_FULL_FAIL; full <= WEFT_FULL_DROP_NEWEST; full++) {
        begin(drains, (weft_bound){.messages = 2, .full = (enum weft_full)full});
        for (int i = 1; i <= 4; i++) {
            struct thing t = thing(i);
            weft_send_after_body(weft_ms(i), r, &weft_type_THING, &t);
        }
        weft_sleep(weft_ms(5));
        let_go();
    }
}

Test(bound, is_kept_by_what_is_sent_later)
{
    run(sends_later);
    cr_expect_str_eq(noted(), "| T1 T2 | T3 T4 | T1 T2 ");
    cr_expect_eq(owned, 0);
    cr_expect_eq(destroyed[1] + destroyed[2] + destroyed[3] + destroyed[4], 6);
    cr_expect_eq(counted().full_drops, 6, "nobody else hears of them");
    cr_expect_eq(counted().dead_letters, 6);
}

static void sends_every_ms(void *arg)
{
    (void)arg;
    for (int full = WEFT_FULL_FAIL; full <= WEFT_FULL_DROP_NEWEST; full++) {
        begin(drains_slowly, (weft_bound){.messages = 2, .full = (enum weft_full)full});
        weft_ref every = weft_send_every(weft_ms(1), r, A, full);
        weft_sleep(weft_us(5500)); /* five, and three of them too many */
        give_leave();
        weft_sleep(weft_us(50));
        note("%d ", weft_cancel(every)); /* it goes on all the same */
        weft_receive(DONE);
    }
    note("%d ", (int)counted().full_drops);
}

Test(bound, is_kept_by_what_is_sent_every_so_often)
{
    run(sends_every_ms);
    cr_expect_str_eq(noted(), "A0 0 A0 A1 0 A1 A2 0 A2 9 ");
}

static void sends_to_many(void *arg)
{
    weft_pid to[3];

    (void)arg;
    begin(drains, (weft_bound){.messages = 1});
    to[0] = to[2] = r;
    to[1] = weft_self();
    note("%d ", (int)weft_send_many(to, 3, LARGE, .n = 1));
    note_message(weft_receive(LARGE));
    said(weft_send_as(WEFT_NOBODY, r, A, 1));
    let_go();
}

Test(bound, is_kept_by_what_is_sent_to_many)
{
    run(sends_to_many);
    cr_expect_str_eq(noted(), "2 LARGE full | LARGE ");
}

static void sends_by_name(void *arg)
{
    (void)arg;
    boss = weft_self();
    r = weft_spawn(drains, NULL, .name = "bounded", .bound = &(weft_bound){.messages = 1});
    hold = weft_keep(weft_receive(MAY_I));
    note("%d ", weft_same(weft_whereis("bounded"), r));
    said(weft_register("second", r));
    said(weft_send_name("bounded", A, 1));
    said(weft_send_name("second", A, 2));
    weft_pid other = weft_spawn(drains, NULL, .name = "bounded", .bound = &(weft_bound){.messages = 1});
    note("%s %d ", weft_is_nobody(other) ? "nobody" : "two", weft_spawn_error() == WEFT_EUSED);
    let_go();
    while (weft_send(r, GO) != WEFT_EGONE)
        weft_yield();
    note("%d ", weft_is_nobody(weft_whereis("bounded")) && weft_is_nobody(weft_whereis("second")));
    said(weft_send_name("bounded", A, 1));
    said(weft_register("bounded", r));
}

Test(bound, is_kept_by_what_is_sent_by_name)
{
    run(sends_by_name);
    cr_expect_str_eq(noted(), "1 ok ok full nobody 1 | A1 1 gone gone ");
    cr_expect_eq(counted().spawned, counted().ended);
}

static weft_type huge = {"HUGE", ((size_t)1 << 30) + 1, 4711, 0, NULL};

static void sends_the_huge(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 1});
    said(weft_send_body(r, &huge, "")); /* the size alone decides */
    said(weft_send_within_body(weft_sec(1), r, &huge, ""));
    let_go();
}

Test(bound, does_not_change_the_largest_size)
{
    run(sends_the_huge);
    cr_expect_str_eq(noted(), "size size | ");
}

/* ---- Misuse ------------------------------------------------------------------------------------------------ */

static bool waits_for_room(const weft_msg *m, const void *with)
{
    (void)m, (void)with;
    weft_send_within(weft_sec(1), boss, A, 1);
    note("never ");
    return true;
}

static bool sends_to_the_bounded(const weft_msg *m, const void *with)
{
    (void)m, (void)with;
    weft_send(r, A, 1);
    note("never ");
    return true;
}

static void receives_by(weft_guard *guard)
{
    const weft_case  list[] = {WEFT_ON_IF(THING, NULL, guard, NULL)};
    const weft_cases cases = WEFT_CASES(list, NULL);

    wait_for_leave();
    weft_receive_case(WEFT_FOREVER, &cases);
    note("never ");
}

static void receives_by_waiting(void *arg)
{
    (void)arg;
    receives_by(waits_for_room);
}

static void receives_by_sending(void *arg)
{
    (void)arg;
    receives_by(sends_to_the_bounded);
}

static void ends_in_a_guard(weft_fn *fn, bool early)
{
    begin(fn, (weft_bound){.messages = 3});
    if (early)
        send_thing(r, 1);
    give_leave();
    weft_sleep(weft_ms(1));
    if (!early)
        send_thing(r, 1); /* it is asked by the loop */
    send_thing(r, 2);
    weft_sleep(weft_ms(1));
    said(send_thing(r, 3));
}

static void guards_by_waiting(void *arg)
{
    (void)arg;
    ends_in_a_guard(receives_by_waiting, true);
}

static void guards_by_waiting_late(void *arg)
{
    (void)arg;
    ends_in_a_guard(receives_by_waiting, false);
}

static void guards_by_sending(void *arg)
{
    (void)arg;
    ends_in_a_guard(receives_by_sending, true);
}

/* One line, and all that it held is destroyed. */
static void check_misuse(weft_fn *first)
{
    listen_to_stderr();
    run(first);
    const char *text = what_was_said();
    cr_expect_eq(lines(text), 1, "%s", text);
    cr_expect(strncmp(text, "weft: ", 6) == 0, "%s", text);
    cr_expect_str_eq(noted(), "gone ");
    cr_expect_eq(owned, 0, "%d are left", owned);
    cr_expect(destroyed[1] == 1 && destroyed[2] == 1 && destroyed[3] == 1);
    cr_expect_eq(counted().dead_letters, 3);
    cr_expect_eq(counted().spawned, counted().ended);
}

Test(bound, is_not_waited_for_in_a_guard) { check_misuse(guards_by_waiting); }

Test(bound, is_not_waited_for_in_a_guard_that_a_message_wakes) { check_misuse(guards_by_waiting_late); }

Test(bound, is_not_sent_to_in_a_guard) { check_misuse(guards_by_sending); }

static void waits_in_destroy(void *body)
{
    (void)body;
    weft_send_within(weft_sec(1), boss, A, 1);
}
WEFT_MESSAGE_OWNING(BAD, waits_in_destroy, int);

static void destroys_badly(void *arg)
{
    (void)arg;
    boss = weft_self();
    weft_drop(weft_make(BAD, 1));
}

static void run_destroys_badly(void) { weft_run(destroys_badly, NULL, .seed = 1); }

Test(bound, is_not_waited_for_in_a_destroy_function)
{
    listen_to_stderr();
    int         status = in_child(run_destroys_badly);
    const char *text = what_was_said();
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    cr_expect(strstr(text, "destroy"), "%s", text);
}

static void passes_in_destroy(void *body)
{
    note("%d:", *(int *)body);
    said(weft_pass_full(r, weft_make(A, *(int *)body), WEFT_FULL_DROP_NEWEST));
}
WEFT_MESSAGE_OWNING(GOOD, passes_in_destroy, int);

static void destroys_well(void *arg)
{
    (void)arg;
    begin(drains, (weft_bound){.messages = 1, .full = WEFT_FULL_DROP_OLDEST});
    weft_send(r, GOOD, 1);
    weft_send(r, GOOD, 2); /* the first goes, and sends */
    weft_drop(weft_make(GOOD, 3));
    weft_send(r, B, 4);
    let_go();
}

Test(bound, may_be_sent_to_in_a_destroy_function)
{
    run(destroys_well);
    cr_expect_str_eq(noted(), "1:ok 3:ok 2:ok | B4 ");
}

/* ---- No memory ---------------------------------------------------------------------------------------------- */

static long which;

/* Whoever waits when there is no memory for it may be ended; then nothing of it must be left. */
static void waits_without_memory(void *arg)
{
    (void)arg;
    wait_for_leave();
    weft__memory_fail(which);
    int error = send_thing_within(weft_ms(5), r, 1);
    weft__memory_fail(0);
    if (error != WEFT_ETIME && error != WEFT_EMEMORY)
        said(error);
}

static void reads_at_last(void *arg)
{
    (void)arg;
    weft_sleep(weft_ms(10));
    weft_receive(A);
    note_message(weft_receive_within(weft_sec(1), B));
    weft_send(boss, DONE);
}

static weft_pid next_one;

static void waits_for_the_next(void *arg)
{
    (void)arg;
    wait_for_leave();
    said(weft_send_within(weft_sec(1), next_one, B, 1));
    weft_receive(A);
    weft_send(boss, DONE);
}

static void ends_one_that_waits(void *arg)
{
    weft_bound bound = {.messages = 1};

    (void)arg;
    begin(waits_for_the_next, bound);
    weft_msg *hold_r = hold;
    weft_send(r, A, 0);
    weft_pid s = weft_spawn(waits_without_memory, NULL, .bound = &bound);
    hold = weft_keep(weft_receive(MAY_I));
    give_leave();
    while (weft_send(s, GO) != WEFT_EGONE)
        weft_sleep(weft_ms(1));
    weft__memory_fail(0); /* if it was ended */
    next_one = weft_spawn(reads_at_last, NULL, .bound = &bound);
    weft_send(next_one, A, 1);
    hold = hold_r;
    give_leave();
    weft_receive(DONE);
    weft_receive(DONE);
}

Test(bound, that_is_waited_for_without_memory_leaves_nothing_behind)
{
    listen_to_stderr();
    for (which = 1; which <= 12; which++) {
        forget_notes();
        cr_assert_eq(weft_run(ends_one_that_waits, NULL, .seed = 1), 0);
        bool good = strcmp(noted(), "ok B1 ") == 0 || strcmp(noted(), "B1 ok ") == 0;
        cr_expect(good, "allocation %ld: %s", which, noted());
        cr_expect_eq(owned, 0, "allocation %ld: %d left", which, owned);
    }
    what_was_said();
}

static bool makes_large(const weft_msg *m, const void *with, void *value)
{
    (void)with;
    ((struct large *)value)->n = *weft_get(m, A);
    return true;
}

static const weft_case  on_a[] = {WEFT_ON_AS(A, NULL, makes_large, NULL, LARGE), WEFT_ON(STOP, NULL)};
static const weft_cases larges = WEFT_CASES(on_a, NULL);

static void converts_without_memory(void *arg)
{
    (void)arg;
    wait_for_leave();
    weft__memory_fail(which);
    weft_msg *m = weft_receive_case(WEFT_FOREVER, &larges);
    weft__memory_fail(0);
    note(weft_is(m, LARGE) ? "large " : "lost ");
    weft_send(boss, DONE);
}

static void sends_two_to_convert(void *arg)
{
    (void)arg;
    begin(converts_without_memory, (weft_bound){.messages = 9});
    weft_send(r, A, 1);
    weft_send(r, A, 2);
    weft_send_after(weft_sec(1), r, STOP);
    let_go();
}

static void sends_two_to_convert_late(void *arg)
{
    (void)arg;
    begin(converts_without_memory, (weft_bound){.messages = 9});
    weft_send_after(weft_sec(1), r, STOP);
    give_leave();
    weft_sleep(weft_ms(1));
    weft_send(r, A, 1);
    weft_send(r, A, 2);
    weft_receive(DONE);
}

Test(bound, shows_the_next_message_when_one_could_not_be_converted)
{
    for (which = 1; which <= 6; which++) {
        forget_notes();
        run(sends_two_to_convert);
        run(sends_two_to_convert_late);
        cr_expect_str_eq(noted(), "large large ", "allocation %ld: %s", which, noted());
    }
}

/* All that can be done with bounds; errors that are documented are counted. */
static atomic_int failures, wrong;

static void step(int error)
{
    if (error == WEFT_EMEMORY || error == WEFT_ESTACK || error == WEFT_ESYSTEM)
        failures++;
    else if (error && error != WEFT_EGONE && error != WEFT_EFULL && error != WEFT_ETIME &&
             error != WEFT_ECYCLE)
        wrong++;
}

static void takes_things(void)
{
    for (weft_msg *m; (m = weft_receive_within(weft_ms(0), THING, LARGE));)
        if (weft_is(m, THING)) {
            free(weft_get(m, THING)->memory);
            owned--;
        }
}

static void does_all(void *arg)
{
    weft_pid to = *(weft_pid *)arg;

    for (int i = 0; i < 3; i++) {
        step(send_thing(weft_self(), i));
        step(weft_send(weft_self(), LARGE, .n = i));
    }
    step(send_thing_within(weft_ms(3), to, 5));
    struct thing t = thing(6);
    weft_msg    *m = weft_make_body(&weft_type_THING, &t);
    if (m)
        step(weft_pass_full(to, m, WEFT_FULL_DROP_OLDEST));
    t = thing(7);
    weft_send_after_body(weft_ms(1), to, &weft_type_THING, &t);
    step(send_thing_within(weft_ms(5), weft_self(), 8));
    weft_sleep(weft_ms(2));
    takes_things();
    step(send_thing_within(weft_ms(5), to, 9));
    weft_send(boss, DONE);
}

static weft_pid bounded(weft_pid to, const char *name)
{
    weft_pid made = weft_spawn(does_all, &to, .copy_bytes = sizeof to, .name = name,
                               .bound = &(weft_bound){.messages = 4, .bytes = 300});

    if (weft_is_nobody(made))
        step(weft_spawn_error());
    return made;
}

static void all_bounds(void *arg)
{
    (void)arg;
    boss = weft_self();
    step(weft_dead_letters(true));
    weft_pid one = bounded(boss, "one"), two = bounded(one, "two"), three = bounded(two, NULL);
    for (int i = 0; i < 3; i++)
        step(send_thing(three, 10));
    for (int i = 0; i < 3; i++)
        if (!weft_receive_within(weft_ms(50), DONE))
            step(WEFT_EMEMORY);
    takes_things();
}

enum { SURVIVED = 10, NOTHING_FAILED, COMPLAINS };

static void check_all_bounds(const char *when)
{
    failures = wrong = 0;
    step(weft_run(all_bounds, NULL, .seed = 1));
    if (owned)
        note("%d things are left %s; ", owned, when);
    if (wrong)
        note("%d undocumented errors %s; ", wrong, when);
    if (counted().spawned != counted().ended)
        note("not all have ended %s; ", when);
    owned = 0;
}

static void fail_one(void)
{
    listen_to_stderr();
    weft__memory_fail(which);
    check_all_bounds("then");
    bool reached = weft__memory_fail(0) >= which;
    if (!reached && failures)
        note("%d steps failed for no reason; ", failures);
    check_all_bounds("afterwards");
    if (failures)
        note("%d steps failed afterwards; ", failures);
    if (leaks())
        note("it leaks; ");
    const char *text = what_was_said();
    if (*noted()) {
        fprintf(stderr, "with allocation %ld failing: %s\n%s", which, noted(), text);
        _exit(COMPLAINS);
    }
    _exit(reached ? SURVIVED : NOTHING_FAILED);
}

Test(bound, survives_the_failure_of_any_allocation)
{
    int bad = 0;

    for (which = 1; which < 10000; which++) {
        int status = in_child(fail_one);
        if (WIFEXITED(status) && WEXITSTATUS(status) == NOTHING_FAILED)
            break;
        bool good = WIFEXITED(status) && WEXITSTATUS(status) == SURVIVED;
        cr_expect(good, "allocation %ld: wait status %x", which, status);
        bad += !good;
        cr_assert_lt(bad, 10, "and so on");
    }
    cr_expect_gt(which, 20, "there are more allocations than that");
}
