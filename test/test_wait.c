/* test_wait.c - what ends an actor that was running when it came.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <weft/bound.h>
#include <weft/case.h>

#include "help.h"

WEFT_SIGNAL(JOB);
WEFT_SIGNAL(NEVER);
WEFT_SIGNAL(ASK);
WEFT_SIGNAL(ANSWER);

static atomic_bool runs, goes_on, over;

static void run_until_told(void)
{
    runs = true;
    while (!goes_on)
        ;
}

static void receives_what_never_comes(void *unused)
{
    (void)unused;
    run_until_told();
    weft_receive(NEVER);
}

static void receives_anything(void *unused)
{
    (void)unused;
    run_until_told();
    note("received %s;", weft_name(weft_receive(WEFT_ANY)));
}

static void takes_its_job_and_yields(void *unused)
{
    (void)unused;
    run_until_told();
    weft_receive(JOB);
    while (!over)
        weft_yield();
}

static weft_pid running(weft_fn *fn)
{
    weft_pid who = weft_spawn(fn, NULL);

    weft_monitor(who);
    while (!runs)
        weft_yield();
    return who;
}

static void await_its_end(void)
{
    goes_on = true;
    note("ended with %d", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
}

static void kill_one(void *fn)
{
    weft_kill(running((weft_fn *)fn));
    await_its_end();
}

static void end_one_that_has_a_job(void *fn)
{
    weft_pid who = running((weft_fn *)fn);

    weft_send(who, JOB);
    weft_exit(who, 5);
    await_its_end();
}

static void run(weft_fn *first, weft_fn *victim)
{
    forget_notes();
    runs = goes_on = over = false;
    cr_assert_eq(weft_run(first, (void *)victim, .workers = 2), 0);
    over = true;
}

Test(wait, a_kill_that_comes_while_it_runs_ends_it_at_its_next_receive, .timeout = 20)
{
    run(kill_one, receives_what_never_comes);
    cr_expect_str_eq(noted(), "ended with -9");
}

Test(wait, a_kill_is_no_message, .timeout = 20)
{
    run(kill_one, receives_anything);
    cr_expect_str_eq(noted(), "ended with -9");
}

Test(wait, an_exit_behind_a_message_that_it_received_ends_it_at_its_next_yield, .timeout = 20)
{
    run(end_one_that_has_a_job, takes_its_job_and_yields);
    cr_expect_str_eq(noted(), "ended with 5");
}

/* ---- what was sent before an exit ----------------------------------------------------------------------- */

static weft_pid server;

/* Its asker waits for something else first. */
static void answers_and_ends_it(void *arg)
{
    weft_msg *m = weft_receive(ASK);
    weft_pid  asker = weft_sender(m);

    (void)arg;
    weft_send(asker, JOB);
    weft_reply(m, ANSWER);
    weft_exit(asker, 5);
}

static void awaits(void *arg)
{
    (void)arg;
    note("%s ", weft_name(weft_ask(WEFT_FOREVER, server, ASK)));
    weft_receive(NEVER);
}

static void note_it(void *state, weft_msg *m)
{
    (void)state;
    note("%s ", weft_name(m));
}

static void gets_it_by_a_handler(void *arg)
{
    (void)arg;
    weft_then(weft_request(server, ASK), WEFT_FOREVER, note_it, NULL);
    weft_react(note_it, NULL, NEVER);
}

static void gets_it_by_a_handler_alone(void *arg)
{
    (void)arg;
    weft_then(weft_request(server, ASK), WEFT_FOREVER, note_it, NULL);
}

static void gets_it_by_a_case(void *arg)
{
    weft_pending     asked = weft_request(server, ASK);
    const weft_case  list[] = {WEFT_ON_RESPONSE(ANSWER, NULL, asked)};
    const weft_cases cases = WEFT_CASES(list, NULL);

    (void)arg;
    note("%s ", weft_name(weft_receive_case(WEFT_FOREVER, &cases)));
    weft_receive(NEVER);
}

static void ends_each(void *bound)
{
    static weft_fn *const askers[] = {awaits, gets_it_by_a_handler, gets_it_by_a_handler_alone,
                                      gets_it_by_a_case};

    for (size_t i = 0; i < sizeof askers / sizeof *askers; i++) {
        weft_ref ref;
        server = weft_spawn(answers_and_ends_it, NULL);
        weft_spawn(askers[i], NULL, .bound = bound, .monitor = &ref);
        note("%d, ", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
    }
}

static const char each_end[] = "ANSWER 5, ANSWER 5, ANSWER 0, ANSWER 5, ";

Test(wait, a_response_that_was_sent_before_an_exit_comes_before_it, .timeout = 20)
{
    cr_assert_eq(weft_run(ends_each, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), each_end);
}

Test(wait, a_response_to_a_bounded_mailbox_comes_before_an_exit_too, .timeout = 20)
{
    static weft_bound bound = {.messages = 9};

    cr_assert_eq(weft_run(ends_each, &bound, .seed = 1), 0);
    cr_expect_str_eq(noted(), each_end);
}

/* More than a turn's. */
enum { MANY = 10000 };

static int count;

static void counts(void *state, weft_msg *m)
{
    (void)m;
    count++;
    weft_react(counts, state, JOB);
}

static void reacts(void *arg) { weft_react(counts, arg, JOB); }

static void sends_many_and_exits(void *arg)
{
    weft_ref ref;
    weft_pid who = weft_spawn(reacts, NULL, .monitor = &ref);

    (void)arg;
    for (int i = 0; i < MANY; i++)
        weft_send(who, JOB);
    weft_exit(who, 5);
    note("%d", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
}

Test(wait, an_exit_comes_after_all_messages_however_many_turns_they_take, .timeout = 20)
{
    cr_assert_eq(weft_run(sends_many_and_exits, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "5");
    cr_expect_eq(count, MANY, "%d", count);
}

static void counts_it(void *state, weft_msg *m)
{
    (void)state;
    (void)m;
    count++;
}

static void asks_many(void *arg)
{
    (void)arg;
    for (int i = 0; i < MANY; i++)
        weft_then(weft_request(server, ASK), WEFT_FOREVER, counts_it, NULL);
    weft_react(note_it, NULL, NEVER);
}

static void answers_many_and_exits(void *arg)
{
    static weft_msg *kept[MANY];

    (void)arg;
    for (int i = 0; i < MANY; i++)
        kept[i] = weft_keep(weft_receive(ASK));
    weft_pid asker = weft_sender(kept[0]);
    for (int i = 0; i < MANY; i++) {
        weft_reply(kept[i], ANSWER);
        weft_drop(kept[i]);
    }
    weft_exit(asker, 5);
}

static void ends_one_with_many_answers(void *arg)
{
    weft_ref ref;

    (void)arg;
    server = weft_spawn(answers_many_and_exits, NULL);
    weft_spawn(asks_many, NULL, .monitor = &ref);
    note("%d", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
}

Test(wait, an_exit_comes_after_the_handlers_of_all_responses_before_it, .timeout = 20)
{
    cr_assert_eq(weft_run(ends_one_with_many_answers, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "5");
    cr_expect_eq(count, MANY, "%d", count);
}

/* ---- a kill and responses --------------------------------------------------------------------------------- */

static weft_pid killer;
static int      count_then;

static void answers(void *unused)
{
    (void)unused;
    for (;;)
        weft_reply(weft_receive(ASK), ANSWER);
}

static void kills_who_says_so(void *unused)
{
    (void)unused;
    weft_pid who = weft_sender(weft_receive(JOB));
    count_then = count;
    weft_kill(who);
}

static void counts_and_is_killed(void *state, weft_msg *m)
{
    (void)state;
    (void)m;
    if (count++ == 0)
        weft_send(killer, JOB);
}

static void asks_many_and_is_killed(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2 * MANY; i++)
        weft_then(weft_request(server, ASK), WEFT_FOREVER, counts_and_is_killed, NULL);
    weft_react(note_it, NULL, NEVER);
}

static void kills_one_with_many_answers(void *unused)
{
    weft_ref ref;

    (void)unused;
    server = weft_spawn(answers, NULL);
    killer = weft_spawn(kills_who_says_so, NULL);
    weft_spawn(asks_many_and_is_killed, NULL, .monitor = &ref);
    note("%d", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
}

/* One may be under way, and put off to the next turn. */
Test(wait, a_kill_comes_before_the_handlers_of_responses_that_are_there, .timeout = 20)
{
    cr_assert_eq(weft_run(kills_one_with_many_answers, NULL, .workers = 1), 0);
    cr_expect_str_eq(noted(), "-9");
    cr_expect_leq(count, count_then + 1, "%d, at the kill %d", count, count_then);
}

/* The response is in its hands when it is killed. */
static void awaits_what_has_come(void *unused)
{
    weft_pending asked = weft_request(server, ASK);

    (void)unused;
    weft_receive(JOB);
    run_until_told();
    note("%s ", weft_name(weft_await(asked, WEFT_FOREVER)));
}

static void kills_one_that_was_answered(void *unused)
{
    (void)unused;
    server = weft_self();
    weft_pid  who = weft_spawn(awaits_what_has_come, NULL);
    weft_msg *m = weft_receive(ASK);
    weft_monitor(who);
    weft_send(who, JOB);
    weft_reply(m, ANSWER);
    while (!runs)
        weft_yield();
    weft_kill(who);
    await_its_end();
}

Test(wait, a_kill_that_comes_while_it_runs_ends_it_at_its_next_await, .timeout = 20)
{
    cr_assert_eq(weft_run(kills_one_that_was_answered, NULL, .workers = 2), 0);
    cr_expect_str_eq(noted(), "ended with -9");
}

/* ---- what may end it is looked for once ---------------------------------------------------------------------- */

enum { HEAP = 200000 };

WEFT_SIGNAL(ALARM);

/* After each message it is told something urgent, and gives way with all others before it. To look through them each
 * time would be 20,000,000,000 looks, and take longer than this test may. */
static void works_through_a_heap(void *unused)
{
    weft_pid self = weft_self();

    (void)unused;
    for (int i = 0; i < HEAP; i++)
        weft_send(self, JOB);
    for (int i = 0; i < HEAP; i++) {
        weft_receive(JOB);
        weft_send_urgent(self, ALARM);
        weft_yield();
        weft_receive(ALARM);
    }
    weft_trap(true);
    weft_exit(self, 3);
    weft_trap(false);
    weft_yield(); /* it is found, all the same */
    note("lived");
}

static void watches_it(void *unused)
{
    weft_ref ref;

    (void)unused;
    weft_spawn(works_through_a_heap, NULL, .monitor = &ref);
    note("%d", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
}

Test(wait, what_may_end_it_is_looked_for_once_however_much_waits, .timeout = 20)
{
    cr_assert_eq(weft_run(watches_it, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "3");
}

/* It traps: what is told stays in its place, behind all messages. */
static void is_told_of_many_exits(void *unused)
{
    weft_pid self = weft_self();

    (void)unused;
    weft_trap(true);
    for (int i = 0; i < HEAP; i++)
        weft_send(self, JOB);
    for (int i = 0; i < HEAP / 4; i++) {
        weft_exit(self, 3);
        weft_yield();
    }
    weft_trap(false);
    weft_yield();
    note("lived");
}

static void watches_one_behind_a_gate(void *unused)
{
    static weft_bound bound = {.messages = 2 * HEAP};
    weft_ref          ref;

    (void)unused;
    weft_spawn(is_told_of_many_exits, NULL, .bound = &bound, .monitor = &ref);
    note("%d", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
}

Test(wait, what_may_end_it_is_looked_for_once_behind_a_gate_too, .timeout = 20)
{
    cr_assert_eq(weft_run(watches_one_behind_a_gate, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "3");
}

/* So many signals behind so many messages, and one that makes it look. */
static void gives_way_once(void *unused)
{
    (void)unused;
    weft_trap(true);
    run_until_told();
    weft_yield();
    weft_end(4);
}

static void sets_many_monitors(void *unused)
{
    static weft_bound bound = {.messages = HEAP};
    weft_pid          who = weft_spawn(gives_way_once, NULL, .bound = &bound);

    (void)unused;
    while (!runs)
        weft_yield();
    for (int i = 0; i < HEAP / 2; i++)
        weft_send(who, JOB);
    for (int i = 0; i < HEAP / 2; i++)
        weft_monitor(who);
    weft_exit(who, 5);
    goes_on = true;
    for (int i = 0; i < HEAP / 2; i++)
        count += weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason == 4;
}

Test(wait, many_signals_behind_a_gate_are_heeded_in_one_look, .timeout = 20)
{
    cr_assert_eq(weft_run(sets_many_monitors, NULL, .workers = 2), 0);
    cr_expect_eq(count, HEAP / 2, "%d", count);
}
