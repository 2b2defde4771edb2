/* test_wait.c - what ends an actor that was running when it came.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <stdatomic.h>

#include "help.h"

WEFT_SIGNAL(JOB);
WEFT_SIGNAL(NEVER);

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
