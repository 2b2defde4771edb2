/* test_request.c - what parts 4, 6 and 7 of weft.h promise of conversations: sender, reply,
 * forward, requests.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Time is virtual, unless a thread takes part: it stands still while anybody can run, so "at once"
 * can be told.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <weft/bound.h>
#include <weft/case.h>

#include "base/memory.h"
#include "help.h"
#include "sched/clock.h"

/* Who does not use a handle is warned by the compiler. */
#define ask_and_forget(...)                          \
    do {                                             \
        weft_pending p_ = weft_request(__VA_ARGS__); \
        (void)p_;                                    \
    } while (0)

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(request, .fini = nothing_leaks, .timeout = 60);

WEFT_MESSAGE(ASK, int);
WEFT_MESSAGE(ANSWER, int);
WEFT_MESSAGE(PLAIN, int);
WEFT_MESSAGE(
    LARGE, struct large {
        int  n;
        char more[1000];
    });
WEFT_SIGNAL(GO);
WEFT_SIGNAL(STOP);

static atomic_int destroyed[8];

struct thing {
    int   at;
    void *memory;
};
static void destroy_thing(void *body)
{
    struct thing *t = body;

    destroyed[t->at]++;
    free(t->memory);
}
WEFT_MESSAGE_OWNING(THING, destroy_thing, struct thing);

static weft_pid me, other;

static void run(weft_fn *first) { cr_assert_eq(weft_run(first, NULL, .seed = 1), 0); }

/* What a conversation gave. */
static void tell(weft_msg *m)
{
    switch (weft_tag(m)) {
    case WEFT_TIMEOUT:
        note("null ");
        break;
    case ANSWER:
        note("%d ", *weft_get(m, ANSWER));
        break;
    case WEFT_FAILED:
        switch (*weft_get(m, WEFT_FAILED)) {
        case WEFT_EGONE:
            note("gone ");
            break;
        case WEFT_EDROPPED:
            note("dropped ");
            break;
        case WEFT_EMEMORY:
            note("memory ");
            break;
        default:
            note("failed with %d ", *weft_get(m, WEFT_FAILED));
        }
        break;
    default:
        note("%s? ", weft_name(m));
    }
}

static int64_t now_ms(void) { return weft__clock_now() / 1000000; }

/* ---- Whom to ask ----------------------------------------------------------------------------- */

static void echo(void *arg)
{
    (void)arg;
    for (;;) {
        weft_msg *m = weft_receive(ASK);
        weft_reply(m, ANSWER, *weft_get(m, ASK) + 1);
    }
}

/* Answers after as many milliseconds as it is asked for. */
static void answers_slowly(void *arg)
{
    (void)arg;
    for (;;) {
        weft_msg *m = weft_receive(ASK);
        weft_sleep(weft_ms(*weft_get(m, ASK)));
        weft_reply(m, ANSWER, *weft_get(m, ASK));
    }
}

static void never_answers(void *arg)
{
    (void)arg;
    weft_receive(STOP);
}

static void ends_at_once(void *arg) { (void)arg; }

static weft_pid a_dead_one(void)
{
    weft_pid dead = weft_spawn(ends_at_once, NULL);

    while (weft_send(dead, GO) == 0)
        weft_yield();
    return dead;
}

/* ---- Senders, replies, forwards -------------------------------------------------------------- */

static void answers_who_asked_me(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(PLAIN, ASK);
    note("%s ", weft_same(weft_sender(m), me) ? "mine" : "another's");
    weft_reply(m, ANSWER, 10 * (weft_is(m, ASK) ? *weft_get(m, ASK) : *weft_get(m, PLAIN)));
}

static void forwards(void *to)
{
    int error = weft_forward(*(weft_pid *)to, weft_receive(PLAIN, ASK));

    if (error)
        note("%d ", error);
}

static weft_pid relay_to(weft_pid to) { return weft_spawn(forwards, &to, .copy_bytes = sizeof to); }

static void sends_by_a_relay(void *arg)
{
    (void)arg;
    me = weft_self();
    other = weft_spawn(answers_who_asked_me, NULL);
    weft_send(relay_to(other), PLAIN, 4);
    weft_msg *m = weft_receive(ANSWER);
    note("%d %s", *weft_get(m, ANSWER), weft_same(weft_sender(m), other) ? "other" : "?");
}

Test(request, forwarded_as_a_plain_message_keeps_its_sender)
{
    run(sends_by_a_relay);
    cr_expect_str_eq(noted(), "mine 40 other");
}

static void asks_by_two_relays(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_pid  last = weft_spawn(answers_who_asked_me, NULL);
    weft_msg *m = weft_ask(weft_sec(1), relay_to(relay_to(last)), ASK, 5);
    tell(m);
    note("%s", weft_same(weft_sender(m), last) ? "last" : "?");
}

Test(request, forwarded_keeps_its_sender_and_its_handle)
{
    run(asks_by_two_relays);
    cr_expect_str_eq(noted(), "mine 50 last");
}

static void asks_by_a_relay_to_the_dead(void *arg)
{
    (void)arg;
    tell(weft_ask(weft_ns(1), relay_to(a_dead_one()), ASK, 5));
}

Test(request, forwarded_to_the_dead_fails_at_once)
{
    run(asks_by_a_relay_to_the_dead);
    cr_expect_str_eq(noted(), "-1 gone ");
}

static void sends_on_behalf(void *arg)
{
    (void)arg;
    weft_pid e = weft_spawn(answers_who_asked_me, NULL);
    note("%d ", weft_send_as(me, e, PLAIN, 6));
    weft_receive(STOP);
}

static void is_answered_for_another(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_spawn(sends_on_behalf, NULL);
    tell(weft_receive(ANSWER));
}

Test(request, sent_as_another_is_answered_to_that_one)
{
    run(is_answered_for_another);
    cr_expect_str_eq(noted(), "0 mine 60 ");
}

static void replies_to_nobody(void *arg)
{
    (void)arg;
    weft_send_as(WEFT_NOBODY, weft_self(), PLAIN, 1);
    weft_msg *m = weft_receive(PLAIN);
    note("%s ", weft_is_nobody(weft_sender(m)) ? "nobody" : "somebody");
    weft_counts before = counted();
    note("%d ", weft_reply(m, ANSWER, 1));
    note("%d ", weft_reply(m, THING, 1, malloc(8)));
    note("%d ", weft_reply_pass(m, weft_make(THING, 2, malloc(8))));
    note("%d letters", (int)(counted().dead_letters - before.dead_letters));
}

Test(request, without_a_sender_is_answered_with_an_error_and_destroys_the_reply)
{
    run(replies_to_nobody);
    cr_expect_str_eq(noted(), "nobody -1 -1 -1 3 letters");
    cr_expect_eq(destroyed[1], 1);
    cr_expect_eq(destroyed[2], 1);
}

static void replies_to_no_message(void *arg)
{
    (void)arg;
    note("%d ", weft_reply(NULL, THING, 1, malloc(8)));
    note("%d ", weft_reply_pass(NULL, weft_make(THING, 2, malloc(8))));
}

Test(request, that_is_no_message_makes_no_sense_to_answer_and_destroys_the_reply)
{
    run(replies_to_no_message);
    cr_expect_str_eq(noted(), "-8 -8 ");
    cr_expect_eq(destroyed[1], 1);
    cr_expect_eq(destroyed[2], 1);
}

static void replies_often(void *arg)
{
    (void)arg;
    weft_msg   *m = weft_receive(ASK);
    weft_counts before = counted();
    note("%d ", weft_reply(m, ANSWER, 1));
    note("%d ", weft_reply(m, ANSWER, 2));
    note("%d ", weft_reply(m, THING, 1, malloc(8)));
    note("%d ", weft_reply_pass(m, weft_make(THING, 2, malloc(8))));
    note("%d letters ", (int)(counted().dead_letters - before.dead_letters));
    weft_reply(weft_receive(ASK), ANSWER, 3);
}

static void gets_one_reply(void *arg)
{
    (void)arg;
    weft_pid p = weft_spawn(replies_often, NULL);
    tell(weft_ask(weft_sec(1), p, ASK, 0));
    tell(weft_ask(weft_sec(1), p, ASK, 0));
    tell(weft_receive_within(weft_ms(0), WEFT_ANY));
}

Test(request, is_answered_once_and_a_second_reply_is_a_dead_letter)
{
    run(gets_one_reply);
    cr_expect_str_eq(noted(), "0 -1 -1 -1 3 letters 1 3 null ");
    cr_expect_eq(destroyed[1], 1);
    cr_expect_eq(destroyed[2], 1);
}

static void replies_twice_plainly(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(PLAIN);
    weft_reply(m, ANSWER, 1);
    weft_reply(m, ANSWER, 2);
}

static void gets_two_replies(void *arg)
{
    (void)arg;
    weft_send(weft_spawn(replies_twice_plainly, NULL), PLAIN, 0);
    tell(weft_receive(ANSWER));
    tell(weft_receive(ANSWER));
}

Test(request, differs_from_a_plain_message_which_may_be_answered_twice)
{
    run(gets_two_replies);
    cr_expect_str_eq(noted(), "1 2 ");
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static void asks(void *arg)
{
    (void)arg;
    weft_pid  e = weft_spawn(echo, NULL);
    weft_msg *m = weft_ask(WEFT_FOREVER, e, ASK, 1);
    tell(m);
    note("%s ", weft_same(weft_sender(m), e) && weft_is(m, ANSWER) ? "echo's" : "?");
    weft_pending p = weft_request(e, ASK, 2);
    note("%s ", p.id ? "open" : "none");
    tell(weft_await(p, weft_sec(1)));
}

Test(request, gives_a_handle_and_the_response)
{
    run(asks);
    cr_expect_str_eq(noted(), "2 echo's open 3 ");
}

static void answers_signals(void *arg)
{
    (void)arg;
    weft_reply(weft_receive(GO), STOP);
}

static void asks_without_a_body(void *arg)
{
    (void)arg;
    weft_msg *m = weft_ask(WEFT_FOREVER, weft_spawn(answers_signals, NULL), GO);
    note("%s %s", weft_name(m), weft_tag(m) == STOP ? "STOP" : "?");
}

Test(request, and_response_may_be_signals)
{
    run(asks_without_a_body);
    cr_expect_str_eq(noted(), "STOP STOP");
}

static void asks_out_of_order(void *arg)
{
    (void)arg;
    weft_pid     e = weft_spawn(echo, NULL);
    weft_pending p[5];
    for (int i = 0; i < 5; i++)
        p[i] = weft_request(e, ASK, 10 * i);
    tell(weft_await(p[3], weft_sec(1)));
    tell(weft_await(p[0], weft_sec(1)));
    p[0] = weft_request(e, ASK, 50);
    tell(weft_await(p[4], weft_sec(1)));
    tell(weft_await(p[0], weft_sec(1)));
    tell(weft_await(p[2], weft_ms(0)));
    tell(weft_await(p[1], weft_sec(1)));
}

Test(request, may_be_awaited_out_of_order)
{
    run(asks_out_of_order);
    cr_expect_str_eq(noted(), "31 1 41 51 21 11 ");
}

static void asks_slow_ones(void *arg)
{
    (void)arg;
    weft_pending first = weft_request(weft_spawn(answers_slowly, NULL), ASK, 30);
    weft_pending second = weft_request(weft_spawn(answers_slowly, NULL), ASK, 10);
    tell(weft_await(first, WEFT_FOREVER));
    note("at %d, ", (int)now_ms());
    tell(weft_await(second, weft_ms(0)));
}

Test(request, awaited_waits_on_when_the_response_to_another_comes)
{
    run(asks_slow_ones);
    cr_expect_str_eq(noted(), "30 at 30, 10 ");
}

enum { MANY = 10000 };

static void asks_much_at_once(void *arg)
{
    static weft_pending p[MANY];
    weft_pid            e = weft_spawn(echo, NULL);
    int                 right = 0;

    (void)arg;
    for (int i = 0; i < MANY; i++)
        p[i] = weft_request(e, ASK, i);
    for (int i = 0; i < MANY; i++) {
        int       which = (int)((i * 7919L) % MANY); /* each once: 7919 is prime */
        weft_msg *m = weft_await(p[which], WEFT_FOREVER);
        right += weft_is(m, ANSWER) && *weft_get(m, ANSWER) == which + 1;
    }
    note("%d right", right);
}

Test(request, may_be_open_ten_thousand_times_at_once)
{
    run(asks_much_at_once);
    cr_expect_str_eq(noted(), "10000 right");
}

static void mixes_plain_and_answer(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(ASK);
    weft_send(weft_sender(m), ANSWER, 1);
    weft_reply(m, ANSWER, 2);
    weft_send(weft_sender(m), ANSWER, 3);
}

static void receives_before_it_awaits(void *arg)
{
    (void)arg;
    weft_pending p = weft_request(weft_spawn(mixes_plain_and_answer, NULL), ASK, 0);
    for (int i = 0; i < 2; i++)
        note("%d ", *weft_get(weft_receive(WEFT_ANY), ANSWER));
    tell(weft_receive_within(weft_ms(0), WEFT_ANY));
    tell(weft_receive_within(weft_ms(5), ANSWER, WEFT_ANY, WEFT_FAILED));
    tell(weft_await(p, weft_ms(0)));
    tell(weft_receive_within(weft_ms(0), WEFT_ANY));
}

Test(request, is_answered_where_receive_never_sees_it)
{
    run(receives_before_it_awaits);
    cr_expect_str_eq(noted(), "1 3 null null 2 null ");
}

static void awaits_before_it_receives(void *arg)
{
    (void)arg;
    weft_pid     p = weft_spawn(mixes_plain_and_answer, NULL);
    weft_pending r = weft_request(p, ASK, 0);
    tell(weft_await(r, WEFT_FOREVER));
    tell(weft_receive(ANSWER));
    tell(weft_receive(ANSWER));
}

Test(request, is_answered_by_the_response_only_not_by_a_message_like_it)
{
    run(awaits_before_it_receives);
    cr_expect_str_eq(noted(), "2 1 3 ");
}

static void asks_with_a_long_mailbox(void *arg)
{
    (void)arg;
    weft_pid e = weft_spawn(echo, NULL);
    int      right = 0;
    for (int i = 0; i < 1000; i++)
        weft_send(weft_self(), PLAIN, i);
    for (int i = 0; i < 10; i++)
        tell(weft_ask(weft_sec(1), e, ASK, i));
    for (int i = 0; i < 1000; i++)
        right += *weft_get(weft_receive(PLAIN), PLAIN) == i;
    note("%d in order", right);
}

Test(request, leaves_what_waits_in_the_mailbox_as_it_is)
{
    run(asks_with_a_long_mailbox);
    cr_expect_str_eq(noted(), "1 2 3 4 5 6 7 8 9 10 1000 in order");
}

static void asks_by_urgent_and_bounded(void *arg)
{
    (void)arg;
    weft_send(weft_self(), PLAIN, 1); /* it is full */
    weft_pid e = weft_spawn(echo, NULL);
    tell(weft_ask(weft_sec(1), e, ASK, 1));
    weft_pending p = weft_request(e, ASK, 2), q = weft_request(e, ASK, 3);
    tell(weft_await(q, weft_sec(1)));
    tell(weft_await(p, weft_sec(1)));
    note("%d", weft_send(weft_self(), PLAIN, 2));
    weft_send(me, STOP);
}

static void spawns_a_bounded_asker(void *arg)
{
    static const weft_bound one = {.messages = 1, .full = WEFT_FULL_FAIL};

    (void)arg;
    me = weft_self();
    weft_spawn(asks_by_urgent_and_bounded, NULL, .bound = &one);
    weft_receive(STOP);
}

Test(request, is_answered_to_a_full_mailbox_too)
{
    run(spawns_a_bounded_asker);
    cr_expect_str_eq(noted(), "2 4 3 -3");
}

static void asks_itself(void *arg)
{
    (void)arg;
    weft_pending p = weft_request(weft_self(), ASK, 1);
    weft_reply(weft_receive(ASK), ANSWER, 2);
    tell(weft_await(p, weft_ms(0)));
}

Test(request, may_go_to_the_asker_itself)
{
    run(asks_itself);
    cr_expect_str_eq(noted(), "2 ");
}

/* ---- Time ------------------------------------------------------------------------------------ */

static void asks_with_no_time(void *arg)
{
    (void)arg;
    weft_pid e = weft_spawn(answers_slowly, NULL);
    tell(weft_ask(weft_ms(0), e, ASK, 1));
    weft_pending p = weft_request(e, ASK, 2);
    tell(weft_receive_within(weft_ms(100), WEFT_ANY));
    tell(weft_await(p, weft_ms(0)));
    note("at %d", (int)now_ms());
}

Test(request, awaited_with_time_0_gives_what_is_there)
{
    run(asks_with_no_time);
    cr_expect_str_eq(noted(), "null null 2 at 100");
}

static void asks_in_time(void *arg)
{
    (void)arg;
    tell(weft_ask(weft_ms(20), weft_spawn(answers_slowly, NULL), ASK, 19));
    note("at %d", (int)now_ms());
}

Test(request, awaited_in_time_gives_the_response_when_it_comes)
{
    run(asks_in_time);
    cr_expect_str_eq(noted(), "19 at 19");
}

static void asks_too_shortly(void *arg)
{
    (void)arg;
    weft_pid e = weft_spawn(answers_slowly, NULL);
    tell(weft_ask(weft_ms(20), e, ASK, 21));
    note("at %d, ", (int)now_ms());
    weft_counts before = counted();
    tell(weft_ask(weft_ms(20), e, ASK, 2));
    tell(weft_receive_within(weft_ms(100), WEFT_ANY));
    weft_counts after = counted();
    note("%d late, %d letters", (int)(after.late_responses - before.late_responses),
         (int)(after.dead_letters - before.dead_letters));
}

Test(request, awaited_too_shortly_gives_null_and_the_late_response_is_dropped_and_counted)
{
    run(asks_too_shortly);
    cr_expect_str_eq(noted(), "null at 20, 2 null 1 late, 1 letters");
}

static void answers_with_things(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(ASK);
    weft_sleep(weft_ms(10));
    weft_reply(m, THING, 1, malloc(8));
    m = weft_receive(ASK);
    weft_sleep(weft_ms(10));
    weft_reply_pass(m, weft_make(THING, 2, malloc(8)));
}

static void is_late_for_things(void *arg)
{
    (void)arg;
    weft_pid p = weft_spawn(answers_with_things, NULL);
    tell(weft_ask(weft_ms(1), p, ASK, 0));
    tell(weft_ask(weft_ms(12), p, ASK, 0));
    weft_sleep(weft_ms(100));
    tell(weft_receive_within(weft_ms(0), WEFT_ANY));
}

Test(request, answered_too_late_destroys_what_the_response_owns_once)
{
    run(is_late_for_things);
    cr_expect_str_eq(noted(), "null null null ");
    cr_expect_eq(destroyed[1], 1);
    cr_expect_eq(destroyed[2], 1);
}

/* Another request's response comes while it waits: the time goes on from where it was. */
static void is_interrupted(void *arg)
{
    (void)arg;
    weft_pending slow = weft_request(weft_spawn(answers_slowly, NULL), ASK, 30);
    weft_pending quick = weft_request(weft_spawn(answers_slowly, NULL), ASK, 15);
    tell(weft_await(slow, weft_ms(20)));
    note("at %d, ", (int)now_ms());
    tell(weft_await(quick, weft_ms(0)));
}

Test(request, awaited_in_vain_takes_no_longer_for_the_response_to_another)
{
    run(is_interrupted);
    cr_expect_str_eq(noted(), "null at 20, 15 ");
}

/* ---- What can not be answered ---------------------------------------------------------------- */

static weft_fn *responder;

static void asks_the_responder(void *arg)
{
    (void)arg;
    weft_pid p = weft_spawn(responder, NULL);
    tell(weft_ask(weft_sec(10), p, ASK, 1));
    note("at %d", (int)now_ms());
}

static void asked(weft_fn *whom, const char *expected)
{
    responder = whom;
    run(asks_the_responder);
    cr_expect_str_eq(noted(), expected);
}

Test(request, fails_when_its_receiver_ends_and_has_not_read_it) { asked(ends_at_once, "gone at 0"); }

static void skips_and_ends(void *arg)
{
    (void)arg;
    weft_receive_within(weft_ms(0), GO);
}

Test(request, fails_when_its_receiver_ends_and_has_skipped_it) { asked(skips_and_ends, "gone at 0"); }

static void reads_and_returns(void *arg)
{
    (void)arg;
    weft_receive(ASK);
}

Test(request, fails_when_its_receiver_returns_and_has_read_it) { asked(reads_and_returns, "gone at 0"); }

static void reads_and_ends(void *arg)
{
    (void)arg;
    weft_receive(ASK);
    weft_end(3);
}

Test(request, fails_when_its_receiver_ends_by_weft_end) { asked(reads_and_ends, "gone at 0"); }

static void keeps_and_returns(void *arg)
{
    (void)arg;
    weft_keep(weft_receive(ASK));
}

Test(request, fails_when_its_receiver_returns_and_has_kept_it) { asked(keeps_and_returns, "gone at 0"); }

static void keeps_and_ends(void *arg)
{
    (void)arg;
    weft_keep(weft_receive(ASK));
    weft_receive_within(weft_ms(0), GO);
    weft_end(0);
}

Test(request, fails_when_its_receiver_ends_by_weft_end_and_has_kept_it)
{
    asked(keeps_and_ends, "gone at 0");
}

static void drops(void *arg)
{
    (void)arg;
    weft_drop(weft_receive(ASK));
    weft_receive(STOP);
}

Test(request, fails_when_it_is_dropped) { asked(drops, "dropped at 0"); }

static void keeps_and_drops(void *arg)
{
    (void)arg;
    weft_msg *m = weft_keep(weft_receive(ASK));
    weft_sleep(weft_ms(5));
    weft_drop(m);
    weft_receive(STOP);
}

Test(request, fails_when_it_is_kept_and_dropped_later) { asked(keeps_and_drops, "dropped at 5"); }

static void receives_the_next(void *arg)
{
    (void)arg;
    weft_receive(ASK);
    weft_receive(STOP);
}

Test(request, fails_when_the_next_receive_ends_it) { asked(receives_the_next, "dropped at 0"); }

static void polls_the_next(void *arg)
{
    (void)arg;
    weft_receive(ASK);
    weft_sleep(weft_ms(5)); /* ends the life of none */
    weft_receive_within(weft_ms(0), STOP, GO);
    weft_sleep(weft_ms(5));
}

Test(request, fails_when_the_next_poll_ends_it) { asked(polls_the_next, "dropped at 5"); }

static void never_runs(void *state, weft_msg *m)
{
    (void)state, (void)m;
    note("never ");
}

static void reacts_and_forgets(void *state, weft_msg *m)
{
    (void)state, (void)m;
    weft_react(never_runs, NULL, STOP);
}

static void reacts(void *arg)
{
    (void)arg;
    weft_react(reacts_and_forgets, NULL, ASK);
}

Test(request, fails_when_its_handler_returns) { asked(reacts, "dropped at 0"); }

static void nothing(void *state, weft_msg *m) { (void)state, (void)m; }

static void becomes_forgetful(void *arg)
{
    static const weft_case  list[] = {WEFT_ON(ASK, nothing)};
    static const weft_cases forgetful = WEFT_CASES(list, NULL);

    (void)arg;
    weft_become(&forgetful, NULL);
}

Test(request, fails_when_the_handler_of_a_behaviour_returns) { asked(becomes_forgetful, "dropped at 0"); }

static void keeps_it_in_a_handler(void *state, weft_msg *m)
{
    (void)state;
    weft_keep(m);
    weft_react_within(weft_ms(5), nothing, NULL, STOP);
}

static void reacts_and_keeps(void *arg)
{
    (void)arg;
    weft_react(keeps_it_in_a_handler, NULL, ASK);
}

Test(request, fails_when_the_actor_ends_whose_handler_kept_it) { asked(reacts_and_keeps, "gone at 5"); }

static void forwards_to_one_that_ends(void *arg)
{
    (void)arg;
    weft_forward(weft_spawn(reads_and_ends, NULL), weft_receive(ASK));
    weft_receive(STOP);
}

Test(request, fails_when_the_one_ends_to_whom_it_was_forwarded)
{
    asked(forwards_to_one_that_ends, "gone at 0");
}

static void asks_the_dead_and_nobody(void *arg)
{
    (void)arg;
    weft_pid     dead = a_dead_one();
    weft_counts  before = counted();
    weft_pending p = weft_request(dead, ASK, 1);
    note("%s ", p.id ? "open" : "none");
    tell(weft_await(p, weft_ms(0)));
    tell(weft_ask(weft_ms(0), WEFT_NOBODY, ASK, 1));
    tell(weft_ask(weft_ms(0), (weft_pid){UINT64_MAX / 3}, ASK, 1));
    tell(weft_ask(weft_ms(0), dead, THING, 1, malloc(8)));
    note("%d letters", (int)(counted().dead_letters - before.dead_letters));
}

Test(request, to_the_dead_or_to_nobody_has_failed_when_it_returns)
{
    run(asks_the_dead_and_nobody);
    cr_expect_str_eq(noted(), "open gone gone gone gone 4 letters");
    cr_expect_eq(destroyed[1], 1);
}

static void asks_one_that_will_end(void *arg)
{
    (void)arg;
    weft_pid     p = weft_spawn(skips_and_ends, NULL);
    weft_pending all[100];
    int          gone = 0;
    for (int i = 0; i < 100; i++)
        all[i] = weft_request(p, ASK, i);
    for (int i = 0; i < 100; i++) {
        weft_msg *m = weft_await(all[i], weft_sec(1));
        gone += weft_is(m, WEFT_FAILED) && *weft_get(m, WEFT_FAILED) == WEFT_EGONE;
    }
    note("%d gone at %d", gone, (int)now_ms());
}

Test(request, fails_with_every_other_when_their_receiver_ends)
{
    run(asks_one_that_will_end);
    cr_expect_str_eq(noted(), "100 gone at 0");
}

static void gets_thing_and_ends(void *arg)
{
    (void)arg;
    weft_receive_within(weft_ms(0), GO);
}

static void asks_with_a_thing(void *arg)
{
    (void)arg;
    tell(weft_ask(weft_sec(1), weft_spawn(gets_thing_and_ends, NULL), THING, 1, malloc(8)));
}

Test(request, that_fails_unread_destroys_what_it_owns_once)
{
    run(asks_with_a_thing);
    cr_expect_str_eq(noted(), "gone ");
    cr_expect_eq(destroyed[1], 1);
}

static void hears_of_it(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(ASK);
    note("%s ", weft_same(weft_sender(m), other) ? "the passer's" : "?");
    weft_reply(m, ANSWER, 7);
}

static void passes_it_on(void *arg)
{
    (void)arg;
    other = weft_self();
    weft_pass(weft_spawn(hears_of_it, NULL), weft_receive(ASK));
    note("passer: %d ", *weft_get(weft_receive(ANSWER), ANSWER));
    weft_send(me, STOP);
}

static void asks_a_passer(void *arg)
{
    (void)arg;
    me = weft_self();
    tell(weft_ask(weft_sec(1), weft_spawn(passes_it_on, NULL), ASK, 1));
    weft_receive(STOP);
    tell(weft_receive_within(weft_ms(0), WEFT_ANY));
}

Test(request, that_is_passed_is_abandoned_and_goes_on_as_a_message_of_the_passer)
{
    run(asks_a_passer);
    const char *all = noted(), *dropped = strstr(all, "dropped ");
    cr_assert_not_null(dropped, "%s", all);
    cr_expect_not_null(strstr(all, "the passer's passer: 7 "), "%s", all);
    cr_expect_null(strstr(all, "?"), "%s", all);
}

static void shares_it(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(LARGE), *also = weft_share(m);
    note("%d ", weft_reply(also, PLAIN, weft_get(also, LARGE)->n));
    weft_drop(also);
    note("%d ", weft_reply(m, ANSWER, weft_get(m, LARGE)->n));
    note("%d ", weft_reply(m, ANSWER, 9));
}

static void asks_a_sharer(void *arg)
{
    (void)arg;
    tell(weft_ask(weft_sec(1), weft_spawn(shares_it, NULL), LARGE, .n = 5));
    note("plain %d", *weft_get(weft_receive(PLAIN), PLAIN));
}

Test(request, that_is_shared_stays_the_only_request)
{
    run(asks_a_sharer);
    cr_expect_str_eq(noted(), "0 0 -1 5 plain 5");
}

static sem_t step;

static void *reads_in_a_thread(void *unused)
{
    other = weft_self();
    sem_post(&step);
    weft_receive(ASK);
    return unused;
}

Test(request, fails_when_the_thread_ends_that_read_it)
{
    pthread_t thread;

    sem_init(&step, 0, 0);
    cr_assert_eq(pthread_create(&thread, NULL, reads_in_a_thread, NULL), 0);
    sem_wait(&step);
    tell(weft_ask(WEFT_FOREVER, other, ASK, 1));
    pthread_join(thread, NULL);
    tell(weft_ask(WEFT_FOREVER, other, ASK, 1));
    cr_expect_str_eq(noted(), "gone gone ");
}

/* ---- The response as a message --------------------------------------------------------------- */

static void asks_while_it_reads(void *arg)
{
    (void)arg;
    weft_pid e = weft_spawn(echo, NULL);
    weft_send(weft_self(), PLAIN, 7);
    weft_msg *m = weft_receive(PLAIN);
    for (int i = 0; i < 100; i++)
        if (*weft_get(weft_ask(weft_sec(1), e, ASK, i), ANSWER) != i + 1 || *weft_get(m, PLAIN) != 7)
            note("%d ", i);
    weft_ask(weft_ms(0), weft_spawn(never_answers, NULL), ASK, 1);
    note("%s %d %s", weft_name(m), *weft_get(m, PLAIN),
         weft_same(weft_sender(m), weft_self()) ? "mine" : "?");
}

Test(request, leaves_the_message_that_was_received_before)
{
    run(asks_while_it_reads);
    cr_expect_str_eq(noted(), "PLAIN 7 mine");
}

static void asks_and_replies(void *arg)
{
    (void)arg;
    weft_pid e = weft_spawn(echo, NULL);
    for (;;) {
        weft_msg *m = weft_receive(ASK);
        weft_msg *inner = weft_ask(weft_sec(1), e, ASK, *weft_get(m, ASK) * 2);
        weft_reply(m, ANSWER, *weft_get(inner, ANSWER) * 10);
    }
}

static void asks_a_chain(void *arg)
{
    (void)arg;
    weft_pid p = weft_spawn(asks_and_replies, NULL);
    for (int i = 1; i <= 3; i++)
        tell(weft_ask(weft_sec(1), p, ASK, i));
}

Test(request, may_be_answered_after_asking_another)
{
    run(asks_a_chain);
    cr_expect_str_eq(noted(), "30 50 70 ");
}

static void reads_its_response_later(void *arg)
{
    (void)arg;
    weft_pid     e = weft_spawn(echo, NULL);
    weft_msg    *m = weft_ask(weft_sec(1), e, ASK, 1);
    weft_pending p = weft_request(e, ASK, 5);
    for (int i = 0; i < 200; i++)
        weft_send(weft_self(), PLAIN, i); /* other messages are made meanwhile */
    weft_yield();
    weft_sleep(weft_ms(5));
    tell(m);
    weft_msg *kept = weft_keep(m);
    tell(weft_await(p, weft_sec(1)));
    weft_receive(PLAIN);
    tell(kept);
    weft_drop(kept);
    weft_drop(weft_ask(weft_sec(1), e, ASK, 6)); /* yours to drop */
    tell(weft_ask(weft_sec(1), e, ASK, 7));
}

Test(request, is_answered_by_a_message_to_read_until_the_next_await_or_to_keep)
{
    run(reads_its_response_later);
    cr_expect_str_eq(noted(), "2 6 2 8 ");
}

static const void *moved_from;

static void moves_its_answer(void *arg)
{
    (void)arg;
    weft_msg *request = weft_keep(weft_receive(ASK));
    weft_msg *m = weft_make(LARGE, .n = 3);
    moved_from = weft_edit(m, LARGE);
    note("%d ", weft_reply_pass(request, m));
    note("%d ", weft_reply_pass(request, weft_make(LARGE, .n = 4)));
    weft_drop(request);
    weft_reply_pass(weft_receive(ASK), weft_make(THING, 1, malloc(8)));
    /* As a server does that answers with what comes to it. */
    request = weft_keep(weft_receive(ASK));
    weft_reply_pass(request, weft_receive(PLAIN));
    weft_drop(request);
    weft_receive(STOP);
}

static void gets_what_was_moved(void *arg)
{
    (void)arg;
    weft_pid    p = weft_spawn(moves_its_answer, NULL);
    weft_msg   *m = weft_ask(weft_sec(1), p, ASK, 1);
    const void *at = weft_get(m, LARGE);
    note("%d %s %s ", weft_get(m, LARGE)->n, at == moved_from ? "moved" : "copied",
         weft_same(weft_sender(m), p) ? "its" : "?");
    free(weft_get(weft_ask(weft_sec(1), p, ASK, 2), THING)->memory); /* received: ours */
    weft_pending last = weft_request(p, ASK, 3);
    weft_send(p, PLAIN, 8);
    note("%d", *weft_get(weft_await(last, weft_sec(1)), PLAIN));
}

Test(request, may_be_answered_by_a_message_that_is_moved)
{
    run(gets_what_was_moved);
    cr_expect_str_eq(noted(), "0 -1 3 moved its 8");
    cr_expect_eq(destroyed[1], 0);
}

static void gets_a_thing(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(THING);
    note("thing %d ", weft_get(m, THING)->at);
    free(weft_get(m, THING)->memory);
    weft_reply(m, ANSWER, 1);
}

static void passes_its_response_on(void *arg)
{
    (void)arg;
    weft_pid p = weft_spawn(moves_its_answer, NULL);
    weft_ask(weft_sec(1), p, ASK, 1);
    note("%d ", weft_pass(weft_spawn(gets_a_thing, NULL), weft_ask(weft_sec(1), p, ASK, 2)));
    tell(weft_receive(ANSWER));
}

Test(request, is_answered_by_a_message_that_may_be_passed_on)
{
    run(passes_its_response_on);
    cr_expect_str_eq(noted(), "0 -1 0 thing 1 1 ");
    cr_expect_eq(destroyed[1], 0);
}

static int turns;

static void moves_it_back(void *arg)
{
    (void)arg;
    while (turns < 10) {
        weft_msg *m = weft_receive(LARGE, ASK, STOP);
        if (weft_is(m, STOP))
            break;
        turns++;
        if (weft_reply_pass(m, m))
            note("error ");
    }
}

static void asks_for_the_same(void *arg)
{
    weft_pid p = weft_spawn(moves_it_back, NULL);

    (void)arg;
    weft_msg *m = weft_ask(weft_sec(1), p, LARGE, .n = 7);
    note("%s%d %d ", weft_name(m), weft_get(m, LARGE)->n, weft_same(weft_sender(m), p));
    m = weft_ask(weft_sec(1), p, ASK, 8);
    note("%s%d %d ", weft_name(m), *weft_get(m, ASK), weft_same(weft_sender(m), p));
    weft_send(p, ASK, 9);
    m = weft_receive(ASK);
    note("%s%d %d ", weft_name(m), *weft_get(m, ASK), weft_same(weft_sender(m), p));
    weft_send(p, STOP);
}

Test(request, may_be_moved_to_be_its_own_response)
{
    run(asks_for_the_same);
    cr_expect_str_eq(noted(), "LARGE7 1 ASK8 1 ASK9 1 ");
    cr_expect_eq(turns, 3);
}

/* ---- Misuse ---------------------------------------------------------------------------------- */

/* Runs it; one line must have been said that names the call. */
static int reason_of(weft_fn *first, const char *call)
{
    listen_to_stderr();
    int         reason = weft_run(first, NULL, .seed = 1);
    const char *said = what_was_said();

    cr_expect_eq(lines(said), 1, "%s", said);
    cr_expect(strncmp(said, "weft: ", 6) == 0 && strstr(said, call), "%s", said);
    cr_expect_str_eq(noted(), "");
    cr_expect_eq(counted().spawned, counted().ended);
    return reason;
}

static void awaits_the_unknown(void *arg)
{
    (void)arg;
    weft_await((weft_pending){12345}, weft_ms(0));
    note("awaited");
}

Test(request, unknown_makes_no_sense_to_await)
{
    cr_expect_eq(reason_of(awaits_the_unknown, "weft_await"), WEFT_EINVALID);
}

static void awaits_twice(void *arg)
{
    (void)arg;
    weft_pending p = weft_request(weft_spawn(echo, NULL), ASK, 1);
    weft_await(p, weft_sec(1));
    weft_await(p, weft_sec(1));
    note("twice");
}

Test(request, makes_no_sense_to_await_twice)
{
    cr_expect_eq(reason_of(awaits_twice, "weft_await"), WEFT_EINVALID);
}

static void awaits_after_the_time_was_over(void *arg)
{
    (void)arg;
    weft_pending p = weft_request(weft_spawn(answers_slowly, NULL), ASK, 10);
    weft_await(p, weft_ms(1));
    weft_sleep(weft_ms(20));
    weft_await(p, weft_ms(0));
    note("again");
}

Test(request, is_closed_when_its_time_is_over)
{
    cr_expect_eq(reason_of(awaits_after_the_time_was_over, "weft_await"), WEFT_EINVALID);
}

static weft_pending others;

static void awaits_anothers(void *arg)
{
    (void)arg;
    weft_await(others, weft_sec(1));
    note("awaited");
}

static void lends_its_handle(void *arg)
{
    (void)arg;
    others = weft_request(weft_spawn(echo, NULL), ASK, 1);
    weft_pid thief = weft_spawn(awaits_anothers, NULL, .name = "thief");
    while (weft_send(thief, GO) == 0)
        weft_yield();
    weft_end(*weft_get(weft_await(others, weft_sec(1)), ANSWER));
}

Test(request, of_another_actor_makes_no_sense_to_await)
{
    cr_expect_eq(reason_of(lends_its_handle, "thief"), 2, "and the asker gets its response");
}

static void awaits_what_has_a_handler(void *arg)
{
    (void)arg;
    weft_pending p = weft_request(weft_spawn(echo, NULL), ASK, 1);
    weft_then(p, weft_sec(1), never_runs, NULL);
    weft_await(p, weft_sec(1));
    note("awaited");
}

Test(request, with_a_handler_makes_no_sense_to_await)
{
    cr_expect_eq(reason_of(awaits_what_has_a_handler, "weft_await"), WEFT_EINVALID);
}

static void handles_twice(void *arg)
{
    (void)arg;
    weft_pending p = weft_request(weft_spawn(echo, NULL), ASK, 1);
    weft_then(p, weft_sec(1), never_runs, NULL);
    weft_then(p, weft_sec(1), never_runs, NULL);
    note("twice");
}

Test(request, has_one_handler) { cr_expect_eq(reason_of(handles_twice, "weft_then"), WEFT_EINVALID); }

static void lends_its_frame(void *arg)
{
    int state = 0;

    (void)arg;
    weft_then(weft_request(weft_spawn(echo, NULL), ASK, 1), weft_sec(1), never_runs, opaque(&state));
    note("arranged");
}

Test(request, has_a_handler_whose_state_is_not_on_the_stack)
{
    cr_expect_eq(reason_of(lends_its_frame, "weft_then"), WEFT_EINVALID);
}

static void awaits_twice_in_a_thread(void) { awaits_twice(NULL); }

static void awaits_before_it_is_an_actor(void) { awaits_the_unknown(NULL); }

static void handles_in_a_thread(void)
{
    weft_then(weft_request(weft_self(), ASK, 1), weft_sec(1), never_runs, NULL);
}

static bool aborts(void (*misuses)(void))
{
    listen_to_stderr();
    int         status = in_child(misuses);
    const char *said = what_was_said();

    cr_expect_eq(lines(said), 1, "%s", said);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

Test(request, misused_in_a_thread_aborts)
{
    cr_expect(aborts(awaits_twice_in_a_thread));
    cr_expect(aborts(awaits_before_it_is_an_actor));
    cr_expect(aborts(handles_in_a_thread));
}

/* ---- Handlers of responses ------------------------------------------------------------------- */

static void says(void *state, weft_msg *m)
{
    note("%s", (const char *)state);
    tell(m);
}

static char x[] = "x:", y[] = "y:", z[] = "z:";

static void handles_a_response(void *arg)
{
    (void)arg;
    weft_then(weft_request(weft_spawn(replies_often, NULL), ASK, 1), WEFT_FOREVER, says, x);
    note("returns ");
}

Test(request, with_a_handler_calls_it_once_and_does_not_wait)
{
    run(handles_a_response);
    cr_expect_str_eq(noted(), "returns 0 -1 -1 -1 3 letters x:1 ");
}

static void handles_several(void *arg)
{
    (void)arg;
    weft_then(weft_request(weft_spawn(answers_slowly, NULL), ASK, 30), weft_ms(100), says, x);
    weft_then(weft_request(weft_spawn(answers_slowly, NULL), ASK, 10), weft_ms(100), says, y);
    weft_then(weft_request(weft_spawn(answers_slowly, NULL), ASK, 20), WEFT_FOREVER, says, z);
}

Test(request, may_have_its_handler_beside_others_called_as_responses_come)
{
    run(handles_several);
    cr_expect_str_eq(noted(), "y:10 z:20 x:30 ");
}

static int handled;

static void counts(void *state, weft_msg *m)
{
    int *expected = state;

    handled += weft_is(m, ANSWER) && *weft_get(m, ANSWER) == *expected + 1;
}

static void handles_a_thousand(void *arg)
{
    static int number[1000];
    weft_pid   e = weft_spawn(echo, NULL);

    (void)arg;
    for (int i = 0; i < 1000; i++) {
        number[i] = i;
        weft_then(weft_request(e, ASK, i), i % 2 ? weft_sec(1) : WEFT_FOREVER, counts, &number[i]);
    }
}

Test(request, may_have_a_handler_a_thousand_times_at_once)
{
    run(handles_a_thousand);
    cr_expect_eq(handled, 1000);
}

static void on_late_and_go(void *state, weft_msg *m)
{
    (void)state;
    note("%s at %d ", weft_name(m), (int)now_ms());
}

static void handles_too_late(void *arg)
{
    (void)arg;
    weft_then(weft_request(weft_spawn(answers_slowly, NULL), ASK, 21), weft_ms(20), says, x);
    weft_then(weft_request(weft_spawn(answers_slowly, NULL), ASK, 19), weft_ms(20), says, y);
    weft_react_within(weft_ms(50), on_late_and_go, NULL, GO, WEFT_ANY);
}

Test(request, with_a_handler_calls_it_with_null_when_its_time_is_over)
{
    uint64_t late = counted().late_responses;
    run(handles_too_late);
    cr_expect_str_eq(noted(), "y:19 x:null WEFT_TIMEOUT at 50 ");
    cr_expect_eq(counted().late_responses - late, 1);
}

static void handles_with_no_time(void *arg)
{
    (void)arg;
    weft_pid     e = weft_spawn(answers_slowly, NULL);
    weft_pending there = weft_request(e, ASK, 1);
    tell(weft_receive_within(weft_ms(10), WEFT_ANY));
    weft_then(there, weft_ms(0), says, x);
    weft_then(weft_request(e, ASK, 5), weft_ms(0), says, y);
    weft_then(weft_request(e, ASK, 5), WEFT_FOREVER, says, z);
}

Test(request, with_a_handler_and_time_0_calls_it_with_what_is_there)
{
    run(handles_with_no_time);
    cr_expect_str_eq(noted(), "null x:1 y:null z:5 ");
}

static void handles_what_has_come(void *arg)
{
    (void)arg;
    weft_pid     e = weft_spawn(echo, NULL);
    weft_pending first = weft_request(e, ASK, 1), second = weft_request(e, ASK, 2);
    tell(weft_await(second, weft_sec(1))); /* so the first has come, too */
    weft_then(first, WEFT_FOREVER, says, x);
    note("returns ");
}

Test(request, with_a_handler_may_have_been_answered_before)
{
    run(handles_what_has_come);
    cr_expect_str_eq(noted(), "3 returns x:2 ");
}

static void handles_failures(void *arg)
{
    (void)arg;
    weft_then(weft_request(weft_spawn(skips_and_ends, NULL), ASK, 1), weft_sec(1), says, x);
    weft_then(weft_request(weft_spawn(drops, NULL), ASK, 1), WEFT_FOREVER, says, y);
    weft_then(weft_request(a_dead_one(), ASK, 1), weft_sec(1), says, z);
}

Test(request, with_a_handler_calls_it_when_it_fails)
{
    run(handles_failures);
    cr_expect_not_null(strstr(noted(), "x:gone "), "%s", noted());
    cr_expect_not_null(strstr(noted(), "y:dropped "), "%s", noted());
    cr_expect_not_null(strstr(noted(), "z:gone "), "%s", noted());
    cr_expect_eq(strlen(noted()), strlen("x:gone y:dropped z:gone "), "%s", noted());
}

static void says_and_sees_the_time(void *state, weft_msg *m)
{
    says(state, m);
    note("at %d ", (int)now_ms());
}

static void handles_while_it_sleeps(void *arg)
{
    (void)arg;
    weft_then(weft_request(weft_spawn(echo, NULL), ASK, 1), weft_ms(10), says_and_sees_the_time, x);
    weft_sleep(weft_ms(50));
    weft_send(weft_self(), GO);
    weft_receive(GO);
    note("returns ");
}

Test(request, with_a_handler_calls_it_between_others_never_in_their_middle)
{
    run(handles_while_it_sleeps);
    cr_expect_str_eq(noted(), "returns x:2 at 50 ");
}

static void serves(void *state, weft_msg *m)
{
    if (weft_is(m, STOP)) {
        note("stop ");
        return;
    }
    note("PLAIN%d ", *weft_get(m, PLAIN));
    weft_then(weft_request(other, ASK, *weft_get(m, PLAIN)), weft_sec(1), says, x);
    weft_react(serves, state, PLAIN, STOP);
}

static void reacts_and_handles(void *arg)
{
    (void)arg;
    weft_react(serves, NULL, PLAIN, STOP);
}

static void talks_to_a_reactor(void *arg)
{
    (void)arg;
    other = weft_spawn(answers_slowly, NULL);
    weft_pid r = weft_spawn(reacts_and_handles, NULL);
    weft_send(r, PLAIN, 10); /* answered at 10 */
    weft_sleep(weft_ms(5));
    weft_send(r, PLAIN, 20); /* at 30 */
    weft_sleep(weft_ms(15));
    weft_send(r, PLAIN, 30); /* at 60 */
    weft_sleep(weft_ms(20));
    weft_send(r, STOP);
    while (weft_send(r, GO) == 0)
        weft_sleep(weft_us(1700)); /* never when somebody answers */
    note("ended at %d", (int)now_ms());
}

Test(request, with_a_handler_runs_it_between_reactions_and_before_the_end)
{
    run(talks_to_a_reactor);
    cr_expect_str_eq(noted(), "PLAIN10 PLAIN20 x:10 PLAIN30 x:20 stop x:30 ended at 60");
}

enum { PATIENCE = 100000 };

static bool has_come;

static void comes(void *state, weft_msg *m)
{
    (void)state;
    has_come = true;
    tell(m);
}

static void keeps_itself_busy(void *state, weft_msg *m)
{
    int *rounds = state;

    (void)m;
    weft_send(weft_self(), GO); /* there is always one more */
    if (has_come)
        return;
    if (++*rounds < PATIENCE)
        weft_react(keeps_itself_busy, rounds, GO);
    else
        note("starved ");
}

static void is_busy(void *arg)
{
    int *rounds = weft_alloc(sizeof *rounds);

    (void)arg;
    weft_then(weft_request(weft_spawn(echo, NULL), ASK, 1), WEFT_FOREVER, comes, NULL);
    weft_send(weft_self(), GO);
    weft_react(keeps_itself_busy, rounds, GO);
}

static void watches_a_busy_one(void *arg)
{
    (void)arg;
    me = weft_spawn(is_busy, NULL);
    while (weft_send(me, STOP) == 0)
        weft_yield();
}

Test(request, with_a_handler_calls_it_however_many_messages_wait)
{
    run(watches_a_busy_one);
    cr_expect_str_eq(noted(), "2 ");
}

static void keeps_its_time(void *arg)
{
    (void)arg;
    weft_then(weft_request(weft_spawn(answers_slowly, NULL), ASK, 10), weft_ms(20), says, x);
    weft_then(weft_request(weft_spawn(answers_slowly, NULL), ASK, 30), weft_ms(20), says, y);
    weft_react_within(weft_ms(40), on_late_and_go, NULL, GO);
}

Test(request, with_a_handler_leaves_what_is_arranged_and_its_time)
{
    run(keeps_its_time);
    cr_expect_str_eq(noted(), "x:10 y:null WEFT_TIMEOUT at 40 ");
}

static void asks_by_behaviour(void *state, weft_msg *m)
{
    (void)state;
    note("PLAIN%d ", *weft_get(m, PLAIN));
    weft_then(weft_request(other, ASK, *weft_get(m, PLAIN)), weft_sec(1), says, x);
}

static void leaves_its_behaviour(void *state, weft_msg *m)
{
    (void)state, (void)m;
    note("stop %d ", weft_unbecome());
}

static void becomes_and_handles(void *arg)
{
    static const weft_case  list[] = {WEFT_ON(PLAIN, asks_by_behaviour), WEFT_ON(STOP, leaves_its_behaviour)};
    static const weft_cases set = WEFT_CASES(list, NULL);

    (void)arg;
    weft_become(&set, NULL);
}

static void talks_to_a_behaviour(void *arg)
{
    (void)arg;
    other = weft_spawn(answers_slowly, NULL);
    weft_pid r = weft_spawn(becomes_and_handles, NULL);
    weft_send(r, PLAIN, 10); /* answered at 10 */
    weft_sleep(weft_ms(15));
    weft_send(r, PLAIN, 20); /* at 35 */
    weft_sleep(weft_ms(5));
    weft_send(r, STOP);
    while (weft_send(r, GO) == 0)
        weft_sleep(weft_us(1700));
    note("ended at %d", (int)now_ms());
}

Test(request, with_a_handler_runs_it_beside_a_behaviour_and_before_the_end)
{
    run(talks_to_a_behaviour);
    cr_expect_str_eq(noted(), "PLAIN10 x:10 PLAIN20 stop 0 x:20 ended at 35");
}

static void asks_on(void *state, weft_msg *m)
{
    int *left = state;

    tell(m);
    if (--*left)
        weft_then(weft_request(other, ASK, *weft_get(m, ANSWER)), weft_sec(1), asks_on, left);
}

static void begins_a_chain(void *arg)
{
    int *left = weft_alloc(sizeof *left);

    (void)arg;
    *left = 4;
    other = weft_spawn(echo, NULL);
    weft_then(weft_request(other, ASK, 1), weft_sec(1), asks_on, left);
}

Test(request, with_a_handler_may_be_made_by_such_a_handler)
{
    run(begins_a_chain);
    cr_expect_str_eq(noted(), "2 3 4 5 ");
}

static void waits_in_its_middle(void *state, weft_msg *m)
{
    note("%s%d ", (const char *)state, *weft_get(m, ANSWER));
    weft_send(weft_self(), PLAIN, 1);
    weft_receive(PLAIN);
    tell(weft_ask(weft_sec(1), other, ASK, 10));
    weft_sleep(weft_ms(5));
    weft_react_within(weft_ms(10), on_late_and_go, NULL, GO);
}

static void handles_by_waiting(void *arg)
{
    (void)arg;
    other = weft_spawn(echo, NULL);
    weft_then(weft_request(other, ASK, 1), weft_sec(1), waits_in_its_middle, x);
}

Test(request, with_a_handler_may_wait_and_react_in_it)
{
    run(handles_by_waiting);
    cr_expect_str_eq(noted(), "x:2 11 WEFT_TIMEOUT at 15 ");
}

static void asks_and_reacts_on(void *state, weft_msg *m)
{
    int *left = state;

    tell(weft_ask(weft_sec(1), other, ASK, *weft_get(m, PLAIN)));
    note("of %d ", *weft_get(m, PLAIN));
    if (--*left)
        weft_react(asks_and_reacts_on, left, PLAIN);
}

static void asks_inside_reactions(void *arg)
{
    int *left = weft_alloc(sizeof *left);

    (void)arg;
    *left = 3;
    other = weft_spawn(answers_slowly, NULL);
    for (int i = 1; i <= 3; i++)
        weft_send(weft_self(), PLAIN, i);
    weft_react(asks_and_reacts_on, left, PLAIN);
}

Test(request, may_be_awaited_inside_a_reaction_whose_message_lives_on)
{
    run(asks_inside_reactions);
    cr_expect_str_eq(noted(), "1 of 1 2 of 2 3 of 3 ");
}

/* ---- Threads --------------------------------------------------------------------------------- */

Test(request, may_be_made_and_awaited_by_a_thread)
{
    weft_pending p[100];
    weft_pid     e = weft_spawn(echo, NULL);

    tell(weft_ask(WEFT_FOREVER, e, ASK, 1));
    for (int i = 0; i < 100; i++)
        p[i] = weft_request(e, ASK, i);
    for (int i = 99; i >= 0; i--)
        cr_expect_eq(*weft_get(weft_await(p[i], weft_sec(3600)), ANSWER), i + 1);
    cr_expect_str_eq(noted(), "2 ");
}

static void *asks_first_of_all(void *unused)
{
    tell(weft_ask(WEFT_FOREVER, other, ASK, 1)); /* it was no actor until now */
    return unused;
}

Test(request, makes_a_thread_an_actor_so_that_it_can_be_answered)
{
    pthread_t thread;

    other = weft_spawn(echo, NULL);
    cr_assert_eq(pthread_create(&thread, NULL, asks_first_of_all, NULL), 0);
    pthread_join(thread, NULL);
    cr_expect_str_eq(noted(), "2 ");
}

static void answers_when_told(void *arg)
{
    (void)arg;
    weft_msg *m = weft_keep(weft_receive(ASK));
    weft_pid  asker = weft_sender(m);
    weft_receive(GO);
    weft_reply(m, ANSWER, 1);
    weft_drop(m);
    weft_send(asker, PLAIN, 2);
    weft_receive(STOP);
}

Test(request, of_a_thread_whose_time_is_over_is_answered_too_late)
{
    weft_pid p = weft_spawn(answers_when_told, NULL);
    uint64_t late = counted().late_responses;

    tell(weft_ask(weft_us(100), p, ASK, 1));
    weft_send(p, GO);
    note("%s", weft_name(weft_receive(WEFT_ANY)));
    cr_expect_str_eq(noted(), "null PLAIN");
    cr_expect_eq(counted().late_responses - late, 1);
}

Test(request, of_a_thread_fails_when_its_receiver_ends)
{
    tell(weft_ask(WEFT_FOREVER, weft_spawn(skips_and_ends, NULL), ASK, 1));
    tell(weft_ask(WEFT_FOREVER, weft_spawn(drops, NULL), ASK, 1));
    tell(weft_ask(WEFT_FOREVER, WEFT_NOBODY, ASK, 1));
    cr_expect_str_eq(noted(), "gone dropped gone ");
}

static void reads_and_ends_the_system(void *arg)
{
    (void)arg;
    other = weft_self();
    sem_post(&step);
    weft_receive(ASK);
    weft_end(0);
}

static void *asks_the_first_actor(void *unused)
{
    sem_wait(&step);
    tell(weft_ask(WEFT_FOREVER, other, ASK, 1));
    return unused;
}

Test(request, of_a_thread_fails_when_the_system_ends)
{
    pthread_t thread;

    sem_init(&step, 0, 0);
    cr_assert_eq(pthread_create(&thread, NULL, asks_the_first_actor, NULL), 0);
    cr_assert_eq(weft_run(reads_and_ends_the_system, NULL), 0);
    pthread_join(thread, NULL);
    cr_expect_str_eq(noted(), "gone ");
}

/* ---- The end of the asker -------------------------------------------------------------------- */

static void answers_with_one_thing(void *arg)
{
    (void)arg;
    weft_reply(weft_receive(ASK), THING, 1, malloc(8));
    weft_send(me, GO);
}

static void ends_with_open_requests(void *arg)
{
    (void)arg;
    ask_and_forget(weft_spawn(answers_with_one_thing, NULL), ASK, 1); /* it has come: */
    weft_receive(GO);
    ask_and_forget(weft_spawn(answers_slowly, NULL), ASK, 50); /* it comes when the asker is gone */
    ask_and_forget(weft_spawn(never_answers, NULL), THING, 2, malloc(8));
    weft_then(weft_request(weft_spawn(never_answers, NULL), ASK, 1), weft_sec(1), never_runs, NULL);
    weft_then(weft_request(weft_spawn(never_answers, NULL), ASK, 1), WEFT_FOREVER, never_runs, NULL);
    ask_and_forget(WEFT_NOBODY, ASK, 1); /* it has failed already */
    weft_end(0);
}

static void *opens_and_ends(void *unused)
{
    weft_self();
    for (int i = 0; i < 10; i++)
        ask_and_forget(other, ASK, i);
    return unused;
}

static void outlives_the_asker(void *arg)
{
    (void)arg;
    me = weft_spawn(ends_with_open_requests, NULL);
    while (weft_send(me, STOP) == 0)
        weft_sleep(weft_ms(1));
    weft_sleep(weft_ms(100));
    note("over");
}

Test(request, may_be_open_when_the_asker_ends)
{
    weft_counts before = counted();
    run(outlives_the_asker);
    cr_expect_str_eq(noted(), "over");
    cr_expect_eq(destroyed[1], 1, "the response that was not awaited");
    cr_expect_eq(destroyed[2], 1, "the request that was not read");
    cr_expect_eq(counted().spawned - before.spawned, counted().ended - before.ended);
}

Test(request, may_be_open_when_the_thread_ends_that_asked)
{
    pthread_t thread;

    other = weft_spawn(echo, NULL);
    cr_assert_eq(pthread_create(&thread, NULL, opens_and_ends, NULL), 0);
    pthread_join(thread, NULL);
    tell(weft_ask(WEFT_FOREVER, other, ASK, 10)); /* it goes on answering */
    cr_expect_str_eq(noted(), "11 ");
}

/* ---- The end of the system ------------------------------------------------------------------- */

static weft_span how_long;

static void answers_with_a_thing_later(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(ASK);
    weft_sleep(weft_ms(10));
    weft_reply(m, THING, 1, malloc(8));
}

static void awaits_one_of_two(void *arg)
{
    weft_pending one = weft_request(weft_spawn(never_answers, NULL), ASK, 1);

    (void)arg;
    ask_and_forget(weft_spawn(answers_with_a_thing_later, NULL), ASK, 2);
    weft_await(one, how_long);
    note("never ");
}

static void ends_after_the_other_response(void *arg)
{
    (void)arg;
    weft_spawn(awaits_one_of_two, NULL);
    weft_sleep(weft_ms(50));
}

Test(request, awaited_when_the_system_ends_ends_the_response_to_another_once)
{
    const weft_span times[] = {WEFT_FOREVER, weft_sec(100)};

    for (int i = 0; i < 2; i++) {
        how_long = times[i];
        run(ends_after_the_other_response);
        cr_expect_str_eq(noted(), "");
        cr_expect_eq(destroyed[1], i + 1, "%d", destroyed[1]);
    }
    cr_expect_eq(counted().spawned, counted().ended);
}

/* In its end an actor destroys what it has: what that asks and makes is ended, too. */
static void destroy_and_ask(void *body)
{
    (void)body;
    destroyed[5]++;
    for (int i = 0; i < 8; i++) {
        weft_keep(weft_make(THING, 3, malloc(8)));
        ask_and_forget(other, THING, 4, malloc(8));
    }
}
WEFT_MESSAGE_OWNING(CURIOUS, destroy_and_ask, int);

static void answers_curiously(void *arg)
{
    (void)arg;
    for (;;) {
        weft_reply(weft_receive(ASK), CURIOUS, 1);
        weft_send(me, GO);
    }
}

static void ends_curiously(void *arg)
{
    weft_pid p = weft_spawn(answers_curiously, NULL);

    (void)arg;
    me = weft_self();
    for (int i = 0; i < 2; i++) {
        ask_and_forget(p, ASK, i); /* never awaited */
        weft_receive(GO);
    }
    weft_keep(weft_make(CURIOUS, 3)); /* its own */
    weft_keep(weft_await(weft_request(p, ASK, 4), WEFT_FOREVER));
    weft_send(me, CURIOUS, 5); /* skipped */
    weft_receive_within(weft_ms(0), PLAIN);
    weft_send(me, CURIOUS, 6); /* not looked at */
    note("ends ");
}

static void outlives_the_curious(void *arg)
{
    (void)arg;
    other = weft_spawn(never_answers, NULL);
    weft_pid p = weft_spawn(ends_curiously, NULL);
    while (weft_send(p, STOP) == 0)
        weft_sleep(weft_ms(1));
    note("%d %d %d", destroyed[5], destroyed[3], destroyed[4]);
}

Test(request, may_be_made_by_what_is_destroyed_when_an_actor_ends)
{
    run(outlives_the_curious);
    cr_expect_str_eq(noted(), "ends 6 48 0"); /* the other has not read them */
    cr_expect_eq(destroyed[4], 48, "%d", destroyed[4]);
    cr_expect_eq(counted().spawned, counted().ended);
}

/* What an actor is handling while it waits in the middle, when the system ends. */
enum waits { AWAITS, AWAITS_IN_TIME, AWAITS_AFTER_KEEPING, SLEEPS, WAITS };
static enum waits in_the_middle;
static weft_pid   not_answering;

static void waits_in_the_middle(void)
{
    weft_send(me, GO); /* it goes on until it waits, or is as good as waiting */
    switch (in_the_middle) {
    case AWAITS:
    case AWAITS_AFTER_KEEPING:
        weft_ask(WEFT_FOREVER, not_answering, ASK, 1);
        break;
    case AWAITS_IN_TIME:
        weft_ask(weft_sec(3600), not_answering, ASK, 1);
        break;
    default:
        weft_sleep(in_the_middle == SLEEPS ? weft_sec(3600) : WEFT_FOREVER);
    }
    note("went on ");
}

static void handles_and_waits(void *arg)
{
    (void)arg;
    tell(weft_ask(weft_ms(1), not_answering, ASK, 1)); /* it has asked before */
    weft_send(me, GO);
    weft_msg *m = weft_receive(ASK);
    if (in_the_middle == AWAITS_AFTER_KEEPING)
        weft_keep(m);
    waits_in_the_middle();
}

static void ends_in_the_middle(void *arg)
{
    (void)arg;
    me = weft_self();
    not_answering = weft_spawn(never_answers, NULL);
    other = weft_spawn(handles_and_waits, NULL);
    weft_receive(GO);
    sem_post(&step); /* to the thread that asks */
    weft_receive(GO);
}

static void *asks_who_waits(void *unused)
{
    sem_wait(&step);
    tell(weft_ask(WEFT_FOREVER, other, ASK, 1));
    return unused;
}

Test(request, of_a_thread_fails_when_the_system_ends_while_it_is_handled)
{
    pthread_t thread;

    sem_init(&step, 0, 0);
    for (in_the_middle = AWAITS; in_the_middle < WAITS; in_the_middle++) {
        cr_assert_eq(pthread_create(&thread, NULL, asks_who_waits, NULL), 0);
        cr_assert_eq(weft_run(ends_in_the_middle, NULL, .workers = 1), 0);
        pthread_join(thread, NULL);
        cr_expect_str_eq(noted(), "null gone ", "%d: %s", in_the_middle, noted());
        forget_notes();
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static long which;

static void asks_without_memory(void *arg)
{
    (void)arg;
    weft__memory_fail(which);
    weft_pending p = weft_request(other, THING, 1, malloc(8));
    long         made = weft__memory_fail(0);
    if (made >= which && p.id)
        note("%ld: a handle, ", which);
    if (made < which && !p.id)
        note("%ld: none, ", which);
    if (!p.id) {
        note("none ");
        tell(weft_await(p, WEFT_FOREVER));
        weft_msg *again = weft_await((weft_pending){0}, weft_ms(0));
        tell(weft_keep(again)); /* nobody's: nothing happens to it */
        weft_drop(again);
        tell(again);
    } else {
        weft_end(1); /* there was enough: the last of them */
    }
    weft_send(me, GO);
}

static void finds_each_allocation(void *arg)
{
    (void)arg;
    me = weft_self();
    other = weft_spawn(never_answers, NULL);
    ask_and_forget(other, THING, 0, malloc(8)); /* so that type and cells are there */
    for (which = 1; which < 10; which++) {
        weft_pid p = weft_spawn(asks_without_memory, NULL);
        while (weft_send(p, STOP) == 0)
            weft_yield();
        if (!weft_receive_within(weft_ms(0), GO))
            break;
    }
    note("enough at %ld", which);
}

Test(request, without_memory_has_no_handle_and_fails)
{
    run(finds_each_allocation);
    cr_expect_str_eq(noted(), "none memory memory memory none memory memory memory enough at 3",
                     "the actor's own part, and its table: %s", noted());
    cr_expect_eq(destroyed[0], 1);
    cr_expect_eq(destroyed[1], 3, "%d: what a request owns is taken in any case", destroyed[1]);
}

static void asks_with_a_body_without_memory(void *arg)
{
    (void)arg;
    weft_pid e = weft_spawn(echo, NULL);
    tell(weft_ask(weft_sec(1), e, ASK, 1)); /* it has its table */
    weft__memory_fail(1);
    weft_pending p = weft_request(e, LARGE, .n = 1);
    weft__memory_fail(0);
    note("%s ", p.id ? "open" : "none");
    tell(weft_await(p, WEFT_FOREVER));
    tell(weft_ask(weft_sec(1), e, ASK, 2));
}

Test(request, without_memory_for_its_body_fails_and_others_do_not)
{
    run(asks_with_a_body_without_memory);
    cr_expect_str_eq(noted(), "2 none memory 3 ");
}

static void replies_without_memory(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(ASK);
    weft_drop(weft_make(LARGE, .n = 1)); /* the type is known */
    weft__memory_fail(1);
    int error = weft_reply(m, LARGE, .n = 2);
    weft__memory_fail(0);
    note("%d %d ", error, weft_reply(m, ANSWER, 3));
}

static void asks_one_without_memory(void *arg)
{
    (void)arg;
    tell(weft_ask(weft_sec(1), weft_spawn(replies_without_memory, NULL), ASK, 1));
}

Test(request, that_could_not_be_answered_for_memory_is_still_open)
{
    run(asks_one_without_memory);
    cr_expect_str_eq(noted(), "-4 0 3 ");
}

static void answers_one_later(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(PLAIN);
    weft_sleep(weft_ms(100));
    weft_reply(m, ANSWER, 1);
}

static void answers_another(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive_within(weft_sec(1), ASK);
    note("%s ", weft_name(m));
    if (m)
        weft_reply(m, ANSWER, 666);
}

/* There is no message to tell the asker that its request was abandoned. */
static void passes_without_memory(void *arg)
{
    weft_pending mine = weft_request(*(weft_pid *)arg, PLAIN, 1);
    weft_msg    *m = weft_keep(weft_receive(ASK));

    weft__memory_fail(1);
    while (weft_make(ASK, 1))
        ;
    weft__memory_fail(1);
    int error = weft_pass(other, m);
    weft__memory_fail(0);
    note("%d ", error);
    tell(weft_await(mine, weft_sec(1)));
    weft_send(me, GO);
}

static void asks_who_passes_without_memory(void *arg)
{
    (void)arg;
    me = weft_self();
    other = weft_spawn(answers_another, NULL);
    weft_pid p = weft_spawn(answers_one_later, NULL);
    tell(weft_ask(weft_sec(10), weft_spawn(passes_without_memory, &p, .copy_bytes = sizeof p), ASK, 1));
    weft_receive(GO);
    weft_sleep(weft_sec(2));
}

Test(request, that_cannot_be_abandoned_for_memory_is_not_passed_and_fails)
{
    run(asks_who_passes_without_memory);
    cr_expect_str_eq(noted(), "-4 dropped 1 WEFT_TIMEOUT ");
}

static long blocks; /* of the heap, that are in use */

static void *get(size_t bytes, void *with)
{
    void *block = malloc(bytes);

    (void)with;
    if (block)
        __atomic_add_fetch(&blocks, 1, __ATOMIC_SEQ_CST);
    return block;
}

static void put(void *block, void *with)
{
    (void)with;
    __atomic_sub_fetch(&blocks, 1, __ATOMIC_SEQ_CST);
    free(block);
}

static void handles_much(void *arg)
{
    (void)arg;
    tell(weft_ask(weft_ms(1), not_answering, ASK, 1));
    weft_receive(LARGE);
    waits_in_the_middle();
}

static void ends_handling_much(void *arg)
{
    (void)arg;
    me = weft_self();
    not_answering = weft_spawn(never_answers, NULL);
    for (int i = 0; i < 40; i++) {
        in_the_middle = i % WAITS;
        weft_send(weft_spawn(handles_much, NULL), LARGE, .n = i);
        weft_receive(GO);
        weft_sleep(weft_ms(1));
    }
}

Test(request, awaited_when_the_system_ends_leaves_no_memory_behind)
{
    long before = 0;

    cr_assert_eq(weft_use_allocator(&(weft_allocator){get, put, NULL}), 0);
    for (int i = 0; i < 5; i++) {
        run(ends_handling_much);
        if (i == 1) /* the process has what it keeps */
            before = blocks;
    }
    cr_expect_eq(blocks, before, "%ld more", blocks - before);
}
