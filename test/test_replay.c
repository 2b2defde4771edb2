/* test_replay.c - a seed gives virtual time, and the same run each time.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(replay, .fini = nothing_leaks, .timeout = 30);

WEFT_MESSAGE(TOKEN, int);
WEFT_SIGNAL(GO);
WEFT_SIGNAL(DONE);

enum { ACTORS = 8, HOPS = 6 };

static weft_pid first, who[ACTORS];

/* Some of everything whose order a scheduler may choose: each step is noted by the number of the actor. */
static void on_token(void *state, weft_msg *m)
{
    int me = *(int *)state, left = *weft_get(m, TOKEN);

    note("%c", 'a' + me);
    if (left == 0) {
        weft_send(first, DONE);
    } else {
        weft_send(who[(me + left) % ACTORS], TOKEN, left - 1);
        if (left % 2)
            weft_receive_within(weft_us(me * 3), GO);
    }
    weft_react(on_token, state, TOKEN);
}

static void reactor(void *number) { weft_react(on_token, number, TOKEN); }

static void receiver(void *number)
{
    for (;;) {
        weft_msg *m = weft_receive(TOKEN);
        int       me = *(int *)number, left = *weft_get(m, TOKEN);
        note("%c", 'A' + me);
        weft_yield();
        if (left == 0)
            weft_send(first, DONE);
        else
            weft_send(who[(me + left) % ACTORS], TOKEN, left - 1);
    }
}

static void mixed(void *arg)
{
    (void)arg;
    first = weft_self();
    for (int i = 0; i < ACTORS; i++)
        who[i] = weft_spawn(i % 2 ? reactor : receiver, &i, .copy_bytes = sizeof i);
    for (int i = 0; i < ACTORS; i++)
        weft_send(who[i], TOKEN, HOPS);
    for (int i = 0; i < ACTORS; i++)
        weft_receive(DONE);
}

static char *trace_of(uint64_t seed)
{
    forget_notes();
    cr_assert_eq(weft_run(mixed, NULL, .seed = seed), 0);
    cr_assert_eq(strlen(noted()), ACTORS * (HOPS + 1), "%s", noted());
    return strdup(noted());
}

Test(replay, of_a_seed_gives_the_same_trace)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        char *one = trace_of(seed), *two = trace_of(seed);
        cr_expect_str_eq(one, two, "seed %d", (int)seed);
        free(one);
        free(two);
    }
}

Test(replay, of_a_seed_gives_the_same_trace_with_any_number_of_workers)
{
    char *one = trace_of(9);

    forget_notes();
    cr_assert_eq(weft_run(mixed, NULL, .seed = 9, .workers = 4), 0);
    cr_expect_str_eq(noted(), one);
    free(one);
}

Test(replay, of_a_seed_from_the_environment_is_the_same)
{
    char *one = trace_of(77);

    setenv("WEFT_SEED", "77", 1);
    forget_notes();
    cr_assert_eq(weft_run(mixed, NULL), 0);
    cr_expect_str_eq(noted(), one);
    free(one);
}

Test(replay, of_different_seeds_gives_different_traces)
{
    char *traces[20];
    int   different = 0;

    for (int i = 0; i < 20; i++)
        traces[i] = trace_of((uint64_t)i + 1);
    for (int i = 1; i < 20; i++)
        different += strcmp(traces[i], traces[0]) != 0;
    cr_expect_geq(different, 10, "%d of 19", different);
    for (int i = 0; i < 20; i++)
        free(traces[i]);
}

Test(replay, after_another_run_is_not_changed_by_it)
{
    char *one = trace_of(5);

    free(trace_of(6));
    cr_assert_eq(weft_run(mixed, NULL), 0);
    char *again = trace_of(5);
    cr_expect_str_eq(one, again);
    free(one);
    free(again);
}

static void sleeps_for_ages(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++)
        weft_sleep(weft_sec(24 * 3600));
    note("%s", weft_receive_within(weft_sec(365 * 24 * 3600), GO) ? "?" : "three years");
}

/* That it ends within the test's timeout is the point. */
Test(replay, has_time_that_jumps)
{
    cr_assert_eq(weft_run(sleeps_for_ages, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "three years");
}

static void ticks(void *arg)
{
    int period = *(int *)arg;

    for (int t = period; t <= 12; t += period) {
        weft_sleep(weft_sec(period));
        note("%d@%d ", period, t);
    }
    weft_send(first, DONE);
}

static void three_clocks(void *arg)
{
    int period[] = {6, 4, 12};

    (void)arg;
    first = weft_self();
    for (int i = 0; i < 3; i++)
        weft_spawn(ticks, &period[i], .copy_bytes = sizeof(int));
    for (int i = 0; i < 3; i++)
        weft_receive(DONE);
}

Test(replay, has_time_that_passes_in_order)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        forget_notes();
        cr_assert_eq(weft_run(three_clocks, NULL, .seed = seed), 0);
        cr_expect(strncmp(noted(), "4@4 6@6 4@8 ", 12) == 0, "%s", noted());
        cr_expect_eq(strlen(noted()), 28, "%s", noted());
    }
}

static void wakes_after_a_moment(void *arg)
{
    (void)arg;
    weft_sleep(weft_ns(1));
    note("moment ");
    weft_send(first, DONE);
}

static void is_busy(void *arg)
{
    (void)arg;
    first = weft_self();
    weft_spawn(wakes_after_a_moment, NULL);
    for (int i = 0; i < 20000; i++) {
        weft_send(first, GO);
        weft_receive(GO);
        weft_yield();
    }
    note("busy ");
    weft_receive(DONE);
}

Test(replay, has_time_that_stands_still_while_somebody_can_run)
{
    cr_assert_eq(weft_run(is_busy, NULL, .seed = 4), 0);
    cr_expect_str_eq(noted(), "busy moment ");
}
