/* test_fairness.c - on one worker, nobody keeps the others waiting for ever, whatever way it has to go on.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Each culprit goes on for ever. An actor that was made before it gets its turn all the same, and ends the system. A
 * test that fails hangs, until its time is over.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

TestSuite(fairness, .timeout = 30);

WEFT_SIGNAL(X);
WEFT_SIGNAL(SKIPPED);
WEFT_SIGNAL(DONE);
WEFT_SIGNAL(FIRED);

static weft_pid boss;

static void bystander(void *unused)
{
    (void)unused;
    weft_send(boss, DONE);
}

static void with_culprit(void *culprit)
{
    boss = weft_self();
    weft_spawn(bystander, NULL);
    weft_spawn(*(weft_fn **)culprit, NULL);
    weft_receive(DONE);
    weft_spawn(bystander, NULL); /* and when the culprit runs already */
    weft_receive(DONE);
    weft_sleep(weft_ms(1)); /* and a timer */
}

static void end_beside(weft_fn *culprit) { cr_expect_eq(weft_run(with_culprit, &culprit, .workers = 1), 0); }

static void on_nothing(void *unused, weft_msg *m)
{
    (void)m;
    weft_react_within(weft_ms(0), on_nothing, unused, X);
}
static void polling_closure(void *unused) { on_nothing(unused, NULL); }
Test(fairness, of_a_closure_that_polls) { end_beside(polling_closure); }

static void on_first(void *unused, weft_msg *m)
{
    for ((void)unused, (void)m;;) {
        weft_send(weft_self(), X);
        weft_receive(X);
    }
}
static void receiving_handler(void *unused)
{
    weft_send(weft_self(), X);
    weft_react(on_first, unused, X);
}
Test(fairness, of_a_handler_that_receives) { end_beside(receiving_handler); }

static void on_x(void *unused, weft_msg *m)
{
    (void)m;
    weft_send(weft_self(), X);
    weft_react(on_x, unused, X);
}
static void sending_closure(void *unused) { on_x(unused, NULL); }
Test(fairness, of_a_closure_that_sends_to_itself) { end_beside(sending_closure); }

static void chain(void *unused) { weft_spawn(chain, unused); }
Test(fairness, of_a_chain_of_new_actors) { end_beside(chain); }

static void timed_receiver(void *unused)
{
    for ((void)unused;;) {
        weft_send(weft_self(), X);
        weft_receive_within(weft_sec(100), X);
    }
}
Test(fairness, of_a_receiver_with_a_time) { end_beside(timed_receiver); }

static void skipping_receiver(void *unused)
{
    weft_send(weft_self(), SKIPPED);
    for ((void)unused;;) {
        weft_send(weft_self(), X);
        weft_receive(X);
    }
}
Test(fairness, of_a_receiver_that_skips) { end_beside(skipping_receiver); }

static void poller(void *unused)
{
    (void)unused;
    while (!weft_receive_within(weft_ms(0), X))
        ;
}
Test(fairness, of_a_poller) { end_beside(poller); }

static void yielder(void *unused)
{
    for ((void)unused;;)
        weft_yield();
}
Test(fairness, of_one_that_yields) { end_beside(yielder); }

/* ---- What is not lost on the way ------------------------------------------------------------------------------------ */

static void on_time(void *unused, weft_msg *m)
{
    (void)unused;
    (void)m;
    weft_send(boss, FIRED);
}
static void plain_timed(void *unused) { weft_react_within(weft_ms(20), on_time, unused, X); }
static void on_go(void *unused, weft_msg *m)
{
    (void)m;
    weft_react(on_go, unused, X);
}
static void sized(void *unused) { weft_react(on_go, unused, X); }

static void between_sizes(void *unused)
{
    weft_pid large = weft_spawn(sized, unused, .stack_bytes = 256 * 1024);

    boss = weft_self();
    for (int i = 0; i < 20; i++) {
        weft_spawn(plain_timed, unused);
        weft_sleep(weft_ms(5));
        weft_send(large, X); /* leaves a stack of its own size for the next one */
        note("%s", weft_receive_within(weft_sec(1), FIRED) ? "+" : "-");
    }
}
Test(fairness, of_time_after_a_stack_of_another_size)
{
    cr_expect_eq(weft_run(between_sizes, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "++++++++++++++++++++");
}

static void tell(void *body)
{
    (void)body;
    weft_send(boss, DONE);
}
WEFT_MESSAGE_OWNING(
    OWNED, tell, struct owned { int n; });

static void heir(void *unused)
{
    (void)unused;
    weft_receive(X);
}

enum { LETTERS = 5000 }; /* more than a turn: each is destroyed by a send, while its actor ends */

static void destroys_by_sending(void *unused)
{
    boss = weft_self();
    for (int round = 0; round < 40; round++) {
        weft_pid victim = weft_spawn(heir, unused);
        for (int i = 0; i < LETTERS; i++)
            weft_send(victim, OWNED, .n = i);
        weft_send(victim, X);
        for (int i = 0; i < LETTERS; i++)
            weft_receive(DONE);
    }
}
Test(fairness, does_not_leave_an_end_half_way)
{
    for (int workers = 1; workers <= 3; workers++)
        cr_expect_eq(weft_run(destroys_by_sending, NULL, .workers = workers), 0);
    weft_counts now = counted();
    cr_expect_leq(now.stacks, 4 * 64, "%lu stacks: some were not given back", (unsigned long)now.stacks);
}

Test(fairness, of_nonsense_in_the_environment)
{
    setenv("WEFT_WORKERS", "many", 1);
    listen_to_stderr();
    boss = weft_self();
    weft_spawn(bystander, NULL);
    weft_receive(DONE);
    const char *said = what_was_said();
    cr_expect(strstr(said, "WEFT_WORKERS=many") != NULL, "%s", said);
    cr_expect_eq(lines(said), 1, "%s", said);
}
