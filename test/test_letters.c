/* test_letters.c - what weft/letters.h promises: messages that nobody will read, for who wants them.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * One worker, or virtual time: so it is known when a message has died.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/bound.h>
#include <weft/case.h>
#include <weft/letters.h>

#include "base/memory.h"
#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(letters, .fini = nothing_leaks, .timeout = 60);

WEFT_MESSAGE(A, int);
WEFT_MESSAGE(B, int);
WEFT_MESSAGE(
    LARGE, struct large { char at[5000]; });
WEFT_MESSAGE(NUMBER, long);
WEFT_MESSAGE(
    NUMBERS, struct numbers {
        uint64_t at[3];
        int      why;
    });
WEFT_SIGNAL(GO);
WEFT_SIGNAL(STOP);
WEFT_SIGNAL(DONE);

static weft_pid me;
static weft_pid gone; /* somebody who has ended */

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

static void until_stopped(void *arg)
{
    (void)arg;
    weft_receive(STOP);
}

static void until_gone(weft_pid who)
{
    while (!weft_is_nobody(who) && weft_send(who, GO) == 0)
        weft_yield();
}

/* Ends it, and returns when it has ended. Nobody subscribes meanwhile. */
static void stop(weft_pid who)
{
    weft_send(who, STOP);
    until_gone(who);
}

/* Every test has somebody who has ended. */
static void run(weft_fn *first) { cr_assert_eq(weft_run(first, NULL, .seed = 1), 0); }

static void prepare(void)
{
    me = weft_self();
    gone = weft_spawn(until_stopped, NULL);
    stop(gone);
}

static const char *why(int reason)
{
    return reason == WEFT_EGONE   ? "gone"
           : reason == WEFT_EFULL ? "full"
           : reason == WEFT_ETIME ? "late"
                                  : "?";
}

static const struct weft_dead_letter *next_letter(void)
{
    return weft_get(weft_receive(WEFT_DEAD_LETTER), WEFT_DEAD_LETTER);
}

static const char *who_is(weft_pid who)
{
    return weft_is_nobody(who)    ? "nobody"
           : weft_same(who, me)   ? "me"
           : weft_same(who, gone) ? "gone"
                                  : "other";
}

static void note_letter(const struct weft_dead_letter *letter)
{
    note("%s", weft_name(letter->message));
    if (weft_is(letter->message, A))
        note("%d", *weft_get(letter->message, A));
    if (weft_is(letter->message, B))
        note("%d", *weft_get(letter->message, B));
    note(" from %s to %s: %s; ", who_is(weft_sender(letter->message)), who_is(letter->to), why(letter->why));
}

/* What is there now. */
static void note_letters(void)
{
    for (weft_msg *m; (m = weft_receive_within(weft_ms(0), WEFT_DEAD_LETTER));)
        note_letter(weft_get(m, WEFT_DEAD_LETTER));
}

/* ---- What dies, and why ---------------------------------------------------------------------- */

static void sends_to_the_dead(void *arg)
{
    (void)arg;
    prepare();
    note("%d ", weft_dead_letters(true));
    note("%d ", weft_send(gone, A, 7) == WEFT_EGONE);
    weft_send(gone, GO);
    weft_pass(gone, weft_make(B, 8));
    weft_send_urgent(gone, B, 9);
    note_letters();
}

Test(letters, tell_of_messages_to_those_who_have_ended)
{
    run(sends_to_the_dead);
    cr_expect_str_eq(noted(), "0 1 A7 from me to gone: gone; GO from me to gone: gone; "
                              "B8 from me to gone: gone; B9 from me to gone: gone; ");
}

static void reads_nothing(void *arg)
{
    (void)arg;
    weft_receive(STOP);
}

static void sends_to_one_who_ends(void *arg)
{
    (void)arg;
    prepare();
    weft_pid p = weft_spawn(reads_nothing, NULL);
    weft_dead_letters(true);
    for (int i = 1; i <= 3; i++)
        weft_send(p, A, i);
    weft_send(p, STOP);
    weft_send(p, A, 4);
    for (int i = 1; i <= 4; i++) {
        const struct weft_dead_letter *letter = next_letter();
        note("%d%s%d ", *weft_get(letter->message, A), why(letter->why), weft_same(letter->to, p));
    }
    note_letters();
}

Test(letters, tell_of_all_that_was_unread_at_an_end_in_order)
{
    run(sends_to_one_who_ends);
    cr_expect_str_eq(noted(), "1gone1 2gone1 3gone1 4gone1 ");
}

static void answers_late(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(A);
    weft_sleep(weft_ms(10));
    weft_reply(m, B, *weft_get(m, A) + 1);
}

static void asks_in_vain(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    weft_pid p = weft_spawn(answers_late, NULL);
    note("%s ", weft_ask(weft_ms(5), p, A, 1) ? "answered" : "in vain");
    const struct weft_dead_letter *letter = next_letter();
    note("%d ", weft_same(weft_sender(letter->message), p));
    note("%s%d to %s: %s", weft_name(letter->message), *weft_get(letter->message, B), who_is(letter->to),
         why(letter->why));
}

Test(letters, tell_of_responses_that_came_too_late)
{
    run(asks_in_vain);
    cr_expect_str_eq(noted(), "in vain 1 B2 to me: late");
}

static void fills(enum weft_full full)
{
    weft_pid p = weft_spawn(reads_nothing, NULL, .bound = &(weft_bound){.messages = 2, .full = full});

    for (int i = 1; i <= 4; i++)
        note("%s", weft_send(p, A, i) ? "!" : "");
    for (weft_msg *m; (m = weft_receive_within(weft_ms(1), WEFT_DEAD_LETTER));) {
        const struct weft_dead_letter *letter = weft_get(m, WEFT_DEAD_LETTER);
        note("%d%s%d%s ", *weft_get(letter->message, A), why(letter->why), weft_same(letter->to, p),
             who_is(weft_sender(letter->message)));
    }
}

static void drops_newest(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    fills(WEFT_FULL_DROP_NEWEST);
}

Test(letters, tell_of_the_newest_that_a_full_mailbox_dropped)
{
    run(drops_newest);
    cr_expect_str_eq(noted(), "3full1me 4full1me ");
}

static void drops_oldest(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    fills(WEFT_FULL_DROP_OLDEST);
}

Test(letters, tell_of_the_oldest_that_a_full_mailbox_dropped)
{
    run(drops_oldest);
    cr_expect_str_eq(noted(), "1full1me 2full1me ");
}

static void fails_when_full(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    fills(WEFT_FULL_FAIL);
}

Test(letters, do_not_tell_of_what_the_sender_was_told_by_the_error_of_a_full_mailbox)
{
    run(fails_when_full);
    cr_expect_str_eq(noted(), "!!");
}

static void sends_later(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    weft_send_after(weft_ms(1), gone, A, 3);
    note_letter(next_letter());
}

Test(letters, tell_of_what_was_sent_later)
{
    run(sends_later);
    cr_expect_str_eq(noted(), "A3 from me to gone: gone; ");
}

static void asks_the_dead(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    weft_msg *m = weft_ask(weft_sec(1), gone, A, 1);
    note("%s%d ", weft_name(m), weft_is(m, WEFT_FAILED) && *weft_get(m, WEFT_FAILED) == WEFT_EGONE);
    m = weft_keep(weft_receive(WEFT_DEAD_LETTER));
    note_letter(weft_get(m, WEFT_DEAD_LETTER));
    weft_drop(m);
}

Test(letters, tell_of_requests_that_have_failed_all_the_same)
{
    run(asks_the_dead);
    cr_expect_str_eq(noted(), "WEFT_FAILED1 A1 from me to gone: gone; ");
}

static void *sends_as_nobody(void *unused)
{
    weft_send(gone, A, 5);
    return unused;
}

Test(letters, may_be_for_a_thread_and_of_messages_that_nobody_sent)
{
    pthread_t thread;

    me = weft_self();
    gone = weft_spawn(until_stopped, NULL);
    stop(gone);
    cr_expect_eq(weft_dead_letters(true), 0);
    pthread_create(&thread, NULL, sends_as_nobody, NULL);
    const struct weft_dead_letter *letter;
    do
        letter = next_letter();
    while (!weft_is(letter->message, A)); /* of what it ended with, some may come late */
    note_letter(letter);
    pthread_join(thread, NULL);
    cr_expect_str_eq(noted(), "A5 from nobody to gone: gone; ");
    cr_expect_eq(weft_dead_letters(false), 0);
}

static void counts_letters(void *arg)
{
    (void)arg;
    prepare();
    weft_counts before = counted();
    weft_send(gone, A, 1);
    weft_dead_letters(true);
    weft_send(gone, A, 2);
    note_letters();
    note("%d", (int)(counted().dead_letters - before.dead_letters));
}

Test(letters, are_counted_once_each_with_a_subscriber_or_without)
{
    run(counts_letters);
    cr_expect_str_eq(noted(), "A2 from me to gone: gone; 2");
}

/* ---- Subscribers ----------------------------------------------------------------------------- */

static void comes_and_goes(void *arg)
{
    (void)arg;
    prepare();
    note("%d ", weft_dead_letters(false)); /* it is none */
    weft_dead_letters(true);
    note("%d ", weft_dead_letters(true)); /* it is one already */
    weft_send(gone, A, 1);
    note_letters();
    weft_send(gone, A, 2);
    note("%d ", weft_dead_letters(false));
    weft_send(gone, A, 3);
    note_letters(); /* of the second: it died before */
    weft_dead_letters(true);
    weft_send(gone, A, 4);
    note_letters();
}

Test(letters, come_from_when_one_subscribes_until_one_does_not)
{
    run(comes_and_goes);
    cr_expect_str_eq(noted(), "0 0 A1 from me to gone: gone; 0 A2 from me to gone: gone; "
                              "A4 from me to gone: gone; ");
}

/* Counts its letters, until it is stopped. */
static atomic_int  got[3];
static const void *body_of[3];
static weft_pid    reader[3];

static void reads_letters(void *number)
{
    int n = *(int *)number;

    weft_dead_letters(true);
    weft_send(me, DONE);
    for (weft_msg *m; m = weft_receive(WEFT_DEAD_LETTER, STOP), weft_is(m, WEFT_DEAD_LETTER);) {
        const struct weft_dead_letter *letter = weft_get(m, WEFT_DEAD_LETTER);
        got[n]++;
        if (weft_is(letter->message, LARGE))
            body_of[n] = weft_get(letter->message, LARGE);
    }
}

static void spawn_readers(void)
{
    for (int i = 0; i < 3; i++) {
        reader[i] = weft_spawn(reads_letters, &i, .copy_bytes = sizeof i);
        weft_receive(DONE); /* so the first has subscribed first */
    }
}

static void note_got(void)
{
    weft_sleep(weft_ms(1)); /* all others wait before time goes on */
    note("%d%d%d ", got[0], got[1], got[2]);
}

static void has_several(void *arg)
{
    static const struct large body = {"large"};

    (void)arg;
    prepare();
    spawn_readers();
    weft_send(gone, A, 1);
    note_got();
    weft_send_body(gone, &weft_type_LARGE, &body);
    note_got();
    note("%s ", body_of[0] && body_of[0] == body_of[1] && body_of[1] == body_of[2] ? "shared" : "copied");
}

Test(letters, come_to_each_of_several_subscribers_who_share_the_body)
{
    run(has_several);
    cr_expect_str_eq(noted(), "111 222 shared ");
}

static void loses_subscribers(void *arg)
{
    (void)arg;
    prepare();
    spawn_readers();
    weft_send(reader[1], STOP);
    weft_sleep(weft_ms(1));
    weft_send(gone, A, 1);
    note_got();
    weft_send(reader[0], STOP);
    weft_sleep(weft_ms(1));
    weft_send(gone, THING, malloc(8));
    note_got();
    weft_send(reader[2], STOP);
    weft_sleep(weft_ms(1));
    weft_send(gone, THING, malloc(8));
    note_got();
    note("%d", destroyed);
}

Test(letters, do_not_come_to_those_who_have_ended)
{
    run(loses_subscribers);
    cr_expect_str_eq(noted(), "101 102 102 2");
}

static void sends_what_owns(void *arg)
{
    (void)arg;
    prepare();
    spawn_readers();
    for (int i = 0; i < 5; i++)
        weft_send(gone, THING, malloc(8));
    note_got();
    note("%d ", destroyed); /* its next receive ended the last one's letter */
    weft_send(gone, A, 1);
    note_got();
    note("%d ", destroyed);
}

Test(letters, of_a_body_that_owns_something_go_to_the_first_subscriber)
{
    run(sends_what_owns);
    cr_expect_str_eq(noted(), "500 5 611 5 ");
}

/* ---- What one may do with the message -------------------------------------------------------- */

static void keeps(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    weft_send(gone, A, 1);
    weft_msg *kept = weft_keep(next_letter()->message);
    weft_send(gone, A, 2);
    note("%d ", *weft_get(next_letter()->message, A));
    note("%d%s ", *weft_get(kept, A), who_is(weft_sender(kept)));
    weft_drop(kept);
    weft_send(gone, LARGE, "much");
    kept = weft_keep(next_letter()->message);
    weft_receive_within(weft_ms(0), A);
    note("%s ", weft_get(kept, LARGE)->at);
    weft_edit(kept, LARGE)->at[0] = 'M';
    note("%s ", weft_get(kept, LARGE)->at);
    weft_send(gone, A, 3); /* the last is never dropped: it ends with the actor */
    weft_keep(next_letter()->message);
}

Test(letters, let_one_keep_the_message)
{
    run(keeps);
    cr_expect_str_eq(noted(), "2 1me much Much ");
}

static void reads_one(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(A);
    note("%d%s ", *weft_get(m, A), who_is(weft_sender(m)));
}

static void sends_one_to_the_dead(void *arg)
{
    (void)arg;
    weft_send(gone, A, 1);
    note("%d ", *weft_get(weft_receive(B), B));
}

static void passes_on(void *arg)
{
    weft_pid p = (prepare(), weft_spawn(reads_one, NULL)), q = weft_spawn(reads_one, NULL);

    (void)arg;
    weft_dead_letters(true);
    weft_spawn(sends_one_to_the_dead, NULL);
    weft_msg *m = next_letter()->message;
    note("%d ", weft_reply(m, B, 4)); /* to who has sent it */
    note("%d ", weft_forward(p, m));
    weft_sleep(weft_ms(1));
    weft_spawn(sends_one_to_the_dead, NULL);
    note("%d ", weft_pass(q, next_letter()->message));
    weft_sleep(weft_ms(1));
}

Test(letters, let_one_reply_to_the_message_and_pass_it_on)
{
    run(passes_on);
    /* the second that sent one waits for an answer, and ends with the system */
    char first[40];
    snprintf(first, sizeof first, "0 0 ");
    cr_expect_eq(strncmp(noted(), first, 4), 0, "%s", noted());
    cr_expect_not_null(strstr(noted(), "1other "), "forwarded: %s", noted());
    cr_expect_not_null(strstr(noted(), "4 "), "answered: %s", noted());
    cr_expect_not_null(strstr(noted(), "1me "), "passed: %s", noted());
}

static void passes_to_the_dead_again(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    weft_send(gone, THING, malloc(8));
    for (int i = 0; i < 5; i++)
        note("%d", weft_pass(gone, next_letter()->message) == WEFT_EGONE);
    note(" %d", destroyed);
    note_letters();
    note("%d", destroyed);
}

Test(letters, come_again_if_the_message_dies_again)
{
    run(passes_to_the_dead_again);
    cr_expect_str_eq(noted(), "11111 0THING from me to gone: gone; 1");
}

static void by_handler(void *state, weft_msg *m)
{
    int *left = state;

    note_letter(weft_get(m, WEFT_DEAD_LETTER));
    if (--*left)
        weft_react(by_handler, left, WEFT_DEAD_LETTER);
}

static void reacts(void *arg)
{
    int *left = weft_alloc(sizeof *left);

    (void)arg;
    prepare();
    *left = 2;
    weft_dead_letters(true);
    weft_send(gone, A, 1);
    weft_send(gone, GO);
    weft_react(by_handler, left, WEFT_DEAD_LETTER);
}

Test(letters, may_be_reacted_to)
{
    run(reacts);
    cr_expect_str_eq(noted(), "A1 from me to gone: gone; GO from me to gone: gone; ");
}

/* ---- What the body owns is destroyed once, on every way -------------------------------------- */

static void reads_and_forgets(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    weft_send(gone, THING, malloc(8));
    next_letter();
    note("%d ", destroyed);
    weft_receive_within(weft_ms(0), GO); /* the letter goes, and the message with it */
    note("%d ", destroyed);
}

Test(letters, destroy_the_body_with_the_letter)
{
    run(reads_and_forgets);
    cr_expect_str_eq(noted(), "0 1 ");
}

static void keeps_what_owns(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    weft_send(gone, THING, malloc(8));
    weft_msg *kept = weft_keep(next_letter()->message);
    weft_receive_within(weft_ms(0), GO);
    note("%d ", destroyed);
    weft_drop(kept);
    note("%d ", destroyed);
    weft_send(gone, THING, malloc(8));
    weft_drop(next_letter()->message); /* before its letter goes */
    note("%d ", destroyed);
    weft_receive_within(weft_ms(0), GO);
    note("%d ", destroyed);
    weft_send(gone, THING, malloc(8));
    weft_drop(weft_receive(WEFT_DEAD_LETTER));
    note("%d ", destroyed);
    weft_send(gone, THING, malloc(8));
    weft_keep(next_letter()->message); /* until the end */
}

Test(letters, destroy_the_body_once_if_it_was_kept_or_dropped)
{
    run(keeps_what_owns);
    cr_expect_str_eq(noted(), "0 1 2 2 3 ");
    cr_expect_eq(destroyed, 4);
}

static void reads_thing(void *arg)
{
    (void)arg;
    weft_drop(weft_receive(THING));
    weft_send(me, DONE);
}

static void passes_what_owns(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    weft_send(gone, THING, malloc(8));
    weft_pass(weft_spawn(reads_thing, NULL), next_letter()->message);
    weft_receive(DONE);
    note("%d ", destroyed);
    weft_send(gone, THING, malloc(8));
    weft_msg *letter = weft_receive(WEFT_DEAD_LETTER);
    weft_pass(weft_spawn(reads_letters, &(int){0}, .copy_bytes = sizeof(int)), weft_keep(letter));
    weft_receive(DONE);
    weft_sleep(weft_ms(1));
    note("%d %d ", got[0], destroyed);
}

Test(letters, destroy_the_body_once_if_message_or_letter_was_passed_on)
{
    run(passes_what_owns);
    cr_expect_str_eq(noted(), "1 1 2 ");
    cr_expect_eq(destroyed, 2);
}

static void keeps_the_letter(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    weft_send(gone, THING, malloc(8));
    weft_msg *letter = weft_keep(weft_receive(WEFT_DEAD_LETTER));
    weft_receive_within(weft_ms(0), GO);
    note("%s %d ", weft_name(weft_get(letter, WEFT_DEAD_LETTER)->message), destroyed);
    weft_drop(letter);
    note("%d ", destroyed);
}

Test(letters, that_are_kept_keep_the_message)
{
    run(keeps_the_letter);
    cr_expect_str_eq(noted(), "THING 0 1 ");
}

/* ---- Letters that die ------------------------------------------------------------------------ */

static void subscribes_and_ends(void *arg)
{
    (void)arg;
    weft_dead_letters(true);
    weft_send(me, DONE);
    weft_receive(STOP);
}

static void letters_die(void *arg)
{
    (void)arg;
    prepare();
    weft_pid p = weft_spawn(subscribes_and_ends, NULL);
    weft_receive(DONE);
    weft_dead_letters(true); /* the second */
    weft_counts before = counted();
    weft_send(gone, THING, malloc(8));
    weft_send(gone, A, 1);
    note("%d ", (int)(counted().dead_letters - before.dead_letters));
    weft_send(p, STOP);
    weft_sleep(weft_ms(1));
    note("%d %d ", (int)(counted().dead_letters - before.dead_letters), destroyed);
    note_letters();
    note("%d", (int)(counted().dead_letters - before.dead_letters));
}

Test(letters, that_die_themselves_are_counted_and_dropped)
{
    run(letters_die);
    cr_expect_str_eq(noted(), "2 4 1 A1 from me to gone: gone; 4");
}

static void has_little_room(void *arg)
{
    (void)arg;
    weft_dead_letters(true);
    weft_send(me, DONE);
    weft_receive(STOP);
    for (weft_msg *m; (m = weft_receive_within(weft_ms(0), WEFT_DEAD_LETTER));)
        got[0]++;
}

static void overflows(enum weft_full full)
{
    weft_pid p = weft_spawn(has_little_room, NULL, .bound = &(weft_bound){.messages = 3, .full = full});

    weft_receive(DONE);
    for (int i = 0; i < 20; i++)
        weft_send(gone, THING, malloc(8));
    weft_sleep(weft_ms(1));
    weft_send_within(weft_ms(0), p, STOP); /* if there is no room: another way in */
    weft_send_urgent(p, STOP);
    weft_pass_full(p, weft_make(STOP), WEFT_FULL_DROP_OLDEST);
    weft_sleep(weft_ms(1));
    note("%s %d ", got[0] >= 1 && got[0] <= 3 ? "some" : "none", destroyed);
    got[0] = 0;
}

static void letters_find_no_room(void *arg)
{
    (void)arg;
    prepare();
    overflows(WEFT_FULL_FAIL);
    overflows(WEFT_FULL_DROP_NEWEST);
    overflows(WEFT_FULL_DROP_OLDEST);
}

Test(letters, that_find_no_room_are_dropped_without_end_or_loop)
{
    run(letters_find_no_room);
    cr_expect_str_eq(noted(), "some 20 some 40 some 60 ");
}

static void ends_with_letters(void *arg)
{
    (void)arg;
    prepare();
    spawn_readers();
    weft_dead_letters(true);
    for (int i = 0; i < 10; i++) {
        weft_send(gone, THING, malloc(8));
        weft_send(gone, A, i);
        weft_send(weft_self(), THING, malloc(8)); /* dies while the system ends */
    }
}

Test(letters, that_are_unread_when_the_system_ends_are_dropped)
{
    run(ends_with_letters);
    cr_expect_eq(destroyed, 20);
    cr_expect_eq(counted().spawned, counted().ended);
}

static void many_end_with_much(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    for (int i = 0; i < 100; i++) {
        weft_pid p = weft_spawn(reads_letters, &(int){0}, .copy_bytes = sizeof(int));
        weft_send(p, THING, malloc(8));
        weft_send(p, A, i);
    }
    weft_yield();
}

Test(letters, are_no_matter_when_all_subscribers_end_with_the_system)
{
    cr_assert_eq(weft_run(many_end_with_much, NULL), 0);
    cr_expect_eq(destroyed, 100);
    cr_expect_eq(counted().spawned, counted().ended);
}

static void finds_no_subscriber(void *arg)
{
    (void)arg;
    prepare();
    weft_send(gone, THING, malloc(8));
    note("%d ", destroyed);
}

Test(letters, of_the_next_system_have_no_subscribers_of_the_last)
{
    run(sends_to_the_dead);
    forget_notes();
    run(finds_no_subscriber);
    cr_expect_str_eq(noted(), "1 ");
}

/* One that reacts is in the middle of what it skipped, its turn is over, and the system ends: a thread hears of it. */
static int      turns;
static weft_pid victim;
static sem_t    subscribed;

static void *hears_of_the_end(void *unused)
{
    int wrong = 0;

    weft_dead_letters(true);
    sem_post(&subscribed);
    for (weft_msg *m; (m = weft_receive(WEFT_DEAD_LETTER));)
        wrong += !weft_same(weft_get(m, WEFT_DEAD_LETTER)->to, victim);
    if (wrong)
        note("%d after %d ", wrong, turns);
    return unused;
}

static void reacts_to_a(void *state, weft_msg *m)
{
    (void)m;
    weft_react(reacts_to_a, state, A);
}

static void reacts_to_go(void *arg)
{
    (void)arg;
    weft_react(reacts_to_a, NULL, GO);
}

static void ends_in_time(void *arg)
{
    (void)arg;
    victim = weft_spawn(reacts_to_go, NULL);
    for (int i = 0; i < 40; i++)
        weft_send(victim, B, i);
    for (int i = 0; i < 4; i++)
        weft_send(victim, A, i);
    for (int i = 0; i < 3; i++)
        weft_yield();
    weft_send(victim, GO);
    for (int i = 0; i < turns; i++)
        weft_yield();
}

Test(letters, of_what_was_put_off_when_the_system_ended_tell_whom_it_was_for)
{
    pthread_t thread;

    sem_init(&subscribed, 0, 0);
    for (turns = 0; turns < 12; turns++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            pthread_create(&thread, NULL, hears_of_the_end, NULL);
            sem_wait(&subscribed);
            cr_assert_eq(weft_run(ends_in_time, NULL, .seed = seed), 0);
            pthread_join(thread, NULL);
        }
    cr_expect_str_eq(noted(), "");
}

/* ---- While a body is destroyed --------------------------------------------------------------- */

static void destroy_and_send(void *body)
{
    int *left = body;

    if (--*left > 0)
        weft_send(gone, A, *left); /* one more dead letter */
}
WEFT_MESSAGE_OWNING(CURIOUS, destroy_and_send, int);

static void destroys_and_sends(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    weft_send(gone, CURIOUS, 3);
    note_letter(next_letter());
    weft_receive_within(weft_ms(0), GO);
    note_letter(next_letter());
    note_letters();
}

Test(letters, may_cause_others_while_a_body_is_destroyed)
{
    run(destroys_and_sends);
    cr_expect_str_eq(noted(), "CURIOUS from me to gone: gone; A2 from me to gone: gone; ");
}

static bool to_number(const weft_msg *m, const void *with, void *value)
{
    const struct weft_dead_letter *letter = weft_get(m, WEFT_DEAD_LETTER);

    (void)with;
    if (!weft_is(letter->message, THING))
        return false;
    *(long *)value = letter->why;
    return true;
}

static const weft_case  number_list[] = {WEFT_ON_AS(WEFT_DEAD_LETTER, NULL, to_number, NULL, NUMBER)};
static const weft_cases numbers = WEFT_CASES(number_list, NULL);

static void converts_letters(void *arg)
{
    (void)arg;
    prepare();
    weft_dead_letters(true);
    weft_send(gone, THING, malloc(8));
    weft_send(gone, A, 1);
    weft_send(gone, THING, malloc(8));
    for (int i = 0; i < 2; i++) {
        weft_msg *m = weft_receive_case(weft_ms(0), &numbers);
        note("%s%s %d ", weft_name(m), why((int)*weft_get(m, NUMBER)), destroyed);
    }
    note_letters();
}

Test(letters, may_be_converted_and_the_message_is_destroyed_then)
{
    run(converts_letters);
    cr_expect_str_eq(noted(), "NUMBERgone 1 NUMBERgone 2 A1 from me to gone: gone; ");
    cr_expect_eq(destroyed, 2);
}

static bool to_many_numbers(const weft_msg *m, const void *with, void *value)
{
    struct numbers *n = value;

    (void)with;
    for (int i = 0; i < 3; i++)
        n->at[i] = 0x1234567 * (uint64_t)(i + 1);
    n->why = weft_get(m, WEFT_DEAD_LETTER)->why;
    return true;
}

static const weft_case many_list[] = {WEFT_ON_AS(WEFT_DEAD_LETTER, NULL, to_many_numbers, NULL, NUMBERS)};

static void converts_to_what_is_no_letter(void *arg)
{
    const weft_cases set = WEFT_CASES(many_list, NULL);

    (void)arg;
    prepare();
    weft_dead_letters(true);
    for (int i = 1; i <= 3; i++)
        weft_send(gone, A, i);
    weft_msg *m = weft_receive_case(weft_ms(0), &set);
    note("%s%d ", weft_name(m), weft_get(m, NUMBERS)->why);
    m = weft_keep(weft_receive_case(weft_ms(0), &set)); /* ends the first */
    note("%s%d ", weft_name(m), weft_get(m, NUMBERS)->why);
    weft_drop(m);
    m = weft_receive_case(weft_ms(0), &set);
    note("%d", weft_pass(gone, m)); /* dies itself */
}

Test(letters, that_were_converted_are_no_letters_when_they_end)
{
    run(converts_to_what_is_no_letter);
    cr_expect_str_eq(noted(), "NUMBERS-1 NUMBERS-1 -1");
    cr_expect_eq(counted().spawned, counted().ended);
}

/* ---- Bad luck -------------------------------------------------------------------------------- */

static void subscribes_without_memory(void *arg)
{
    int error = WEFT_EMEMORY, failed = 0;

    (void)arg;
    prepare();
    for (long which = 1; error; which++) {
        weft__memory_fail(which);
        error = weft_dead_letters(true);
        long made = weft__memory_fail(0);
        if (error != (made >= which ? WEFT_EMEMORY : 0))
            note("%d ", error);
        failed += error != 0;
        weft_send(gone, A, (int)which);
        int n = 0;
        while (weft_receive_within(weft_ms(0), WEFT_DEAD_LETTER))
            n++;
        if (n != (error == 0))
            note("%d letters ", n);
    }
    note("%s", failed ? "failed, and then not" : "never failed");
}

Test(letters, cannot_be_subscribed_to_without_memory)
{
    run(subscribes_without_memory);
    cr_expect_str_eq(noted(), "failed, and then not");
}

static void loses_letters(void *arg)
{
    int sent = 0, read = 0;

    (void)arg;
    prepare();
    weft_dead_letters(true);
    for (long which = 1; read == 0; which++) {
        weft__memory_fail(which);
        weft_send(gone, THING, malloc(8));
        sent++;
        bool failed = weft__memory_fail(0) >= which;
        while (weft_receive_within(weft_ms(0), WEFT_DEAD_LETTER))
            read++;
        if (!failed && read == 0)
            break;
    }
    weft_receive_within(weft_ms(0), GO);
    if (destroyed != sent)
        note("%d destroyed of %d", destroyed, sent);
    note("%s", read == 0 ? "none" : read < sent ? "some" : "all");
}

Test(letters, for_which_there_is_no_memory_destroy_the_body_too)
{
    run(loses_letters);
    cr_expect_str_eq(noted(), "some");
}
