/* test_system.c - what parts 3 and 7 of weft.h promise: actors, and the system that they live in.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(actor, .fini = nothing_leaks, .timeout = 20);
TestSuite(system, .fini = nothing_leaks, .timeout = 20);

WEFT_MESSAGE(A, int);
WEFT_SIGNAL(GO);
WEFT_SIGNAL(DONE);

static weft_pid me;

static void run(weft_fn *first) { cr_assert_eq(weft_run(first, NULL), 0); }
static void does_nothing(void *arg) { (void)arg; }
static void waits(void *arg)
{
    (void)arg;
    weft_receive(GO);
}

/* Until nobody is there any more. */
static void wait_for_the_end_of(weft_pid who)
{
    while (weft_send(who, DONE) == 0)
        weft_yield();
}

/* ---- Options ---------------------------------------------------------------------------------------------- */

static size_t room(void)
{
    void *low, *high;

    return weft_stack_bounds(&low, &high) ? (size_t)((char *)high - (char *)low) : 0;
}

static void reads_its_copy(void *arg)
{
    const int *copy = arg;

    weft_receive(GO);
    note("%d %d ", copy[0], copy[1]);
}

static void spawns_with_a_copy(void *arg)
{
    int      numbers[2] = {1, 2};
    weft_pid p = weft_spawn(reads_its_copy, numbers, .copy_bytes = sizeof numbers);

    (void)arg;
    weft_yield();
    numbers[0] = numbers[1] = 0;
    weft_send(p, GO);
    wait_for_the_end_of(p);
}

Test(actor, has_its_own_copy_of_the_argument_when_asked)
{
    run(spawns_with_a_copy);
    cr_expect_str_eq(noted(), "1 2 ");
}

static void notes_its_argument(void *arg) { note("%d ", *(int *)arg); }

static void spawns_with_a_pointer(void *arg)
{
    static int shared = 1;
    weft_pid   p = weft_spawn(notes_its_argument, &shared);

    (void)arg;
    wait_for_the_end_of(p);
    note("%d", weft_is_nobody(p));
}

Test(actor, gets_the_argument_itself_when_not)
{
    run(spawns_with_a_pointer);
    cr_expect_str_eq(noted(), "1 0");
}

static unsigned __attribute__((noinline)) dig(size_t bytes)
{
    volatile char page[1024];

    page[0] = (char)bytes;
    return bytes > 1024 ? dig(bytes - 1024) + (unsigned char)page[0] : 1;
}

static void digs_deep(void *arg)
{
    (void)arg;
    note("%d ", room() >= 16 << 20);
    note("%d ", dig(12 << 20) > 0);
    note("%d ", weft_stack_used() >= 12 << 20);
    weft_receive(GO);
    note("%d ", dig(12 << 20) > 0);
}

static void spawns_a_digger(void *arg)
{
    (void)arg;
    weft_pid p = weft_spawn(digs_deep, NULL, .stack_bytes = 16 << 20);
    weft_send(p, GO);
    wait_for_the_end_of(p);
}

Test(actor, has_at_least_the_stack_that_it_asked_for)
{
    run(spawns_a_digger);
    cr_expect_str_eq(noted(), "1 1 1 1 ");
}

static void notes_its_room(void *arg) { note("%d ", room() >= (size_t)arg); }

static void spawns_with_all_sizes(void *arg)
{
    size_t sizes[] = {1, 4096, 20000, 65536, 65537, 1 << 20, 100 << 20};

    (void)arg;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        wait_for_the_end_of(weft_spawn(notes_its_room, (void *)sizes[i], .stack_bytes = sizes[i]));
}

Test(actor, may_ask_for_a_stack_of_any_size)
{
    run(spawns_with_all_sizes);
    cr_expect_str_eq(noted(), "1 1 1 1 1 1 1 ");
}

/* ---- Errors ------------------------------------------------------------------------------------------------ */

static void note_failure(weft_pid made)
{
    if (weft_is_nobody(made))
        note("%d ", weft_spawn_error());
    else
        note("made ");
}

static void spawns_nothing(void *arg)
{
    (void)arg;
    note_failure(weft_spawn(NULL, NULL));
    note_failure(weft_spawn(waits, NULL, .copy_bytes = 8));
    note_failure(weft_spawn(waits, NULL, .stack_bytes = SIZE_MAX));
    note_failure(weft_spawn(waits, NULL, .stack_bytes = (size_t)1 << 40));
    if (weft_is_nobody(weft_spawn(waits, &me, .copy_bytes = SIZE_MAX)))
        note("%s",
             weft_spawn_error() == WEFT_EINVALID || weft_spawn_error() == WEFT_EMEMORY ? "too much" : "?");
}

Test(actor, is_not_made_from_arguments_that_make_no_sense)
{
    run(spawns_nothing);
    cr_expect_str_eq(noted(), "-8 -8 -8 -8 too much");
}

Test(actor, that_was_not_made_leaves_nothing_behind)
{
    uint64_t dead = counted().dead_letters;

    run(spawns_nothing);
    cr_expect_eq(counted().spawned, counted().ended);
    cr_expect_eq(counted().dead_letters, dead);
}

Test(actor, is_not_made_by_a_thread_either_from_arguments_that_make_no_sense)
{
    spawns_nothing(NULL);
    cr_expect_str_eq(noted(), "-8 -8 -8 -8 too much");
}

/* ---- Identity ---------------------------------------------------------------------------------------------- */

enum { LIVES = 50000 };

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const weft_pid *)a)->id, y = ((const weft_pid *)b)->id;

    return x < y ? -1 : x > y;
}

static void many_lives(void *arg)
{
    weft_pid *all = malloc(LIVES * sizeof *all);
    int       again = 0, gone = 0;

    (void)arg;
    for (int i = 0; i < LIVES; i++) {
        all[i] = weft_spawn(does_nothing, NULL);
        if (i % 100 == 0) /* so that slots are used again */
            wait_for_the_end_of(all[i]);
    }
    for (int i = 0; i < LIVES; i++)
        wait_for_the_end_of(all[i]);
    for (int i = 0; i < LIVES; i++)
        gone += weft_send(all[i], GO) == WEFT_EGONE;
    qsort(all, LIVES, sizeof *all, by_id);
    for (int i = 1; i < LIVES; i++)
        again += weft_same(all[i], all[i - 1]);
    note("%d gone %d again", gone, again);
    free(all);
}

Test(actor, never_has_the_pid_of_another)
{
    run(many_lives);
    cr_expect_str_eq(noted(), "50000 gone 0 again");
    cr_expect_geq(counted().dead_letters, LIVES);
}

static atomic_int reached;

static void counts_what_it_gets(void *arg)
{
    (void)arg;
    weft_receive(GO);
    reached++;
}

/* 0 is no promise: a late message may lie in the mailbox of the slot's new owner for a while. */
static void is_sent_to_by_old_friends(void *arg)
{
    weft_pid old[1000], young;

    (void)arg;
    for (int i = 0; i < 1000; i++)
        old[i] = weft_spawn(does_nothing, NULL);
    for (int i = 0; i < 1000; i++)
        wait_for_the_end_of(old[i]);
    for (int i = 0; i < 1000; i++)
        young = weft_spawn(counts_what_it_gets, NULL); /* where the old ones lived */
    for (int round = 0; round < 3; round++) {          /* not yet started, or waiting */
        for (int i = 0; i < 1000; i++)
            weft_send(old[i], GO);
        weft_sleep(weft_ms(1));
    }
    weft_send(young, GO);
    wait_for_the_end_of(young);
}

Test(actor, never_gets_what_was_meant_for_one_before_it)
{
    uint64_t before = counted().dead_letters;

    cr_assert_eq(weft_run(is_sent_to_by_old_friends, NULL, .seed = 3), 0);
    cr_expect_eq(reached, 1);
    cr_expect_geq(counted().dead_letters - before, 3000);
}

static void sends_to_invented_pids(void *arg)
{
    uint64_t state = 88172645463325252u;

    (void)arg;
    me = weft_self();
    for (int i = 0; i < 64; i++)
        if (!weft_same(me, (weft_pid){(uint64_t)1 << i}))
            weft_send((weft_pid){(uint64_t)1 << i}, GO);
    for (int i = 0; i < 10000; i++) {
        weft_pid p = {draw(&state)};
        if (!weft_same(p, me))
            weft_send(p, GO);
    }
    weft_send((weft_pid){UINT64_MAX}, GO);
    note("%d", weft_receive_within(weft_ms(0), WEFT_ANY) != NULL);
}

Test(actor, is_not_reached_by_pids_that_nobody_was_given)
{
    uint64_t before = counted().dead_letters;

    run(sends_to_invented_pids);
    cr_expect_str_eq(noted(), "0");
    cr_expect_geq(counted().dead_letters - before, 64 - 1 + 10000 - 1 + 1);
}

Test(actor, is_not_reached_before_there_was_any)
{
    cr_expect_eq(weft_send((weft_pid){1u << 28}, GO), WEFT_EGONE);
    cr_expect_eq(weft_send(WEFT_NOBODY, GO), WEFT_EGONE);
    cr_expect_eq(counted().dead_letters, 2);
}

/* ---- Memory ------------------------------------------------------------------------------------------------- */

static void allocates(void *arg)
{
    unsigned char *p[8];
    int            dirty = 0, odd = 0;

    (void)arg;
    for (int i = 0; i < 8; i++) {
        p[i] = weft_alloc(1000);
        for (int k = 0; k < 1000; k++)
            dirty += p[i][k];
        memset(p[i], 0xff, 1000);
        odd += (uintptr_t)p[i] % _Alignof(max_align_t) != 0;
    }
    note("%d dirty %d odd %d", dirty, odd, weft_alloc(SIZE_MAX) == NULL);
}

static void twice(weft_fn *fn)
{
    for (int i = 0; i < 2; i++)
        wait_for_the_end_of(weft_spawn(fn, NULL));
}
static void allocates_twice(void *arg)
{
    (void)arg;
    twice(allocates);
}

Test(actor, has_zeroed_memory_of_its_own)
{
    run(allocates_twice);
    cr_expect_str_eq(noted(), "0 dirty 0 odd 10 dirty 0 odd 1");
}

/* ---- Turns and ends ------------------------------------------------------------------------------------------- */

static void yields_thrice(void *arg)
{
    weft_send(me, DONE);
    weft_receive(GO);
    for (int i = 0; i < 3; i++) {
        note("%s", (const char *)arg);
        weft_yield();
    }
    weft_send(me, DONE);
}

static void lets_three_take_turns(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_pid a = weft_spawn(yields_thrice, "a"), b = weft_spawn(yields_thrice, "b"),
             c = weft_spawn(yields_thrice, "c");
    for (int i = 0; i < 3; i++)
        weft_receive(DONE); /* they wait for it */
    weft_send(a, GO);
    weft_send(b, GO);
    weft_send(c, GO);
    for (int i = 0; i < 3; i++)
        weft_receive(DONE);
}

Test(actor, that_yields_lets_all_others_that_are_ready_have_a_turn)
{
    cr_assert_eq(weft_run(lets_three_take_turns, NULL, .workers = 1), 0);
    const char *n = noted();
    cr_assert_eq(strlen(n), 9, "%s", n);
    for (int i = 0; i + 2 < 9; i++)
        cr_expect(n[i] != n[i + 1] && n[i + 1] != n[i + 2] && n[i] != n[i + 2], "%s", n);
}

static void notes_a_letter(void *arg) { note("%s", (const char *)arg); }

static void yields_to_the_new(void *arg)
{
    (void)arg;
    weft_spawn(notes_a_letter, "a");
    weft_spawn(notes_a_letter, "b");
    weft_spawn(notes_a_letter, "c");
    for (int i = 0; i < 3; i++)
        weft_yield(); /* one new one in, each time */
    note(".");
}

Test(actor, that_yields_lets_new_ones_have_a_turn)
{
    cr_assert_eq(weft_run(yields_to_the_new, NULL, .workers = 1), 0);
    cr_expect_eq(strlen(noted()), 4, "%s", noted());
    cr_expect_eq(noted()[3], '.', "%s", noted());
}

static void yields_with_mail(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), A, 2);
    weft_msg *m = weft_receive(A);
    weft_spawn(does_nothing, NULL);
    weft_yield();
    note("%d ", *weft_get(m, A));
    note("%d ", *weft_get(weft_receive_within(weft_ms(0), A), A));
}

Test(actor, that_yields_takes_no_message_and_ends_none)
{
    run(yields_with_mail);
    cr_expect_str_eq(noted(), "1 2 ");
}

static atomic_bool heard;

static void hears(void *arg)
{
    (void)arg;
    weft_receive(GO);
    heard = true;
}

static void only_sends(void *arg)
{
    weft_pid p = weft_spawn(hears, NULL);

    (void)arg;
    for (int i = 0; i < 1000000 && !heard; i++)
        weft_send(i % 2 ? p : WEFT_NOBODY, GO);
}

Test(actor, that_only_sends_gives_way_when_its_turn_is_over)
{
    cr_assert_eq(weft_run(only_sends, NULL, .workers = 1), 0);
    cr_expect(heard);
}

static void only_receives_its_own(void *arg)
{
    (void)arg;
    weft_send(weft_spawn(hears, NULL), GO);
    for (int i = 0; i < 1000000 && !heard; i++) {
        weft_send(weft_self(), GO);
        weft_receive(GO);
    }
}

Test(actor, that_always_has_mail_gives_way_when_its_turn_is_over)
{
    cr_assert_eq(weft_run(only_receives_its_own, NULL, .workers = 1), 0);
    cr_expect(heard);
}

static void plays(void *arg)
{
    weft_pid *other = arg;

    for (;;) {
        weft_receive(A);
        weft_send(*other, A, 1);
    }
}

static void two_play_for_ever(void *arg)
{
    static weft_pid one, two;

    (void)arg;
    one = weft_spawn(plays, &two);
    two = weft_spawn(plays, &one);
    weft_send(one, A, 1);
    weft_send(weft_spawn(hears, NULL), GO);
    while (!heard)
        weft_yield();
}

Test(actor, is_not_starved_by_two_that_wake_each_other_for_ever)
{
    cr_assert_eq(weft_run(two_play_for_ever, NULL, .workers = 1), 0);
    cr_expect(heard);
}

static void __attribute__((noinline)) end_inside(int depth)
{
    volatile char frame[100] = {0};

    if (depth > 0)
        end_inside(depth - 1);
    else if (depth == 0)
        weft_end(42);
    note("%d", frame[0]);
}

static void ends_inside(void *arg)
{
    (void)arg;
    end_inside(5);
}

static void ends_inside_after_a_wait(void *arg)
{
    (void)arg;
    weft_send(weft_self(), GO);
    weft_receive(GO);
    weft_yield();
    end_inside(5);
}

Test(actor, may_end_from_the_middle_of_a_nested_call)
{
    cr_expect_eq(weft_run(ends_inside, NULL), 42);
    cr_expect_eq(weft_run(ends_inside_after_a_wait, NULL), 42);
    cr_expect_str_eq(noted(), "");
}

static void blocks_and_ends_inside(void *arg)
{
    (void)arg;
    weft_receive(GO);
    end_inside(3);
}

static void thousand_end_inside(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++) {
        weft_pid p = weft_spawn(i % 2 ? blocks_and_ends_inside : ends_inside, NULL);
        weft_send(p, GO);
        wait_for_the_end_of(p);
    }
}

Test(actor, that_ends_in_a_nested_call_gives_its_stack_back)
{
    uint64_t before = counted().stacks;

    run(thousand_end_inside);
    cr_expect_lt(counted().stacks - before, 200);
    cr_expect_eq(counted().spawned, counted().ended);
}

/* ---- The system ------------------------------------------------------------------------------------------------ */

static void ends_with(void *reason) { weft_end((int)(intptr_t)reason); }

Test(system, returns_the_reason_of_its_first_actor)
{
    cr_expect_eq(weft_run(does_nothing, NULL), 0);
    cr_expect_eq(weft_run(ends_with, (void *)7), 7);
    cr_expect_eq(weft_run(ends_with, (void *)(intptr_t)WEFT_ETIME), WEFT_ETIME);
}

static void is_no_matter(void *arg)
{
    (void)arg;
    wait_for_the_end_of(weft_spawn(ends_with, (void *)9));
}

Test(system, does_not_return_the_reason_of_others) { cr_expect_eq(weft_run(is_no_matter, NULL), 0); }

static void ignore(void *state, weft_msg *m) { (void)state, (void)m; }
static void reacts(void *arg)
{
    (void)arg;
    weft_react(ignore, NULL, GO, DONE);
}
static void reacts_within(void *arg)
{
    (void)arg;
    weft_react_within(weft_sec(3600), ignore, NULL, GO);
}
static void sleeps(void *arg)
{
    (void)arg;
    weft_alloc(100);
    weft_sleep(weft_sec(3600));
}
static void never_rests(void *arg)
{
    for (;;) {
        weft_send(*(weft_pid *)arg, A, 1);
        weft_yield();
    }
}

static void leaves_all_kinds_behind(void *arg)
{
    (void)arg;
    for (int i = 0; i < 50; i++) {
        weft_pid p = weft_spawn(waits, NULL, .name = "waits");
        weft_send(p, A, i);
        weft_spawn(reacts, NULL, .stack_bytes = 1 << 20);
        weft_spawn(reacts_within, NULL);
        weft_spawn(sleeps, NULL);
        weft_spawn(never_rests, &p, .copy_bytes = sizeof p);
        weft_yield();
    }
    for (int i = 0; i < 50; i++)
        weft_spawn(does_nothing, NULL); /* most have not even started */
}

Test(system, ends_all_others_with_its_first_actor)
{
    uint64_t before = counted().spawned;

    run(leaves_all_kinds_behind);
    cr_expect_eq(counted().spawned - before, 301);
    cr_expect_eq(counted().ended, counted().spawned);
}

Test(system, ends_all_others_in_virtual_time_too)
{
    cr_assert_eq(weft_run(leaves_all_kinds_behind, NULL, .seed = 5), 0);
    cr_expect_eq(counted().ended, counted().spawned);
}

static weft_pid last_seen;

static void spawns_one(void *arg)
{
    (void)arg;
    weft_send(last_seen, GO);
    note("%s", weft_receive_within(weft_ms(0), GO) ? "old " : ".");
    last_seen = weft_spawn(waits, NULL);
}

Test(system, may_be_followed_by_another)
{
    for (int i = 0; i < 50; i++)
        run(spawns_one);
    cr_expect_eq(counted().ended, 100);
    cr_expect_eq(counted().dead_letters, 50);
    cr_expect_str_eq(noted(), "..................................................");
}

static void runs_another(void *arg)
{
    (void)arg;
    note("%d ", weft_run(does_nothing, NULL));
}

static void *runs_another_in_a_thread(void *unused)
{
    runs_another(NULL);
    return unused;
}

static void has_a_rival(void *arg)
{
    pthread_t rival;

    (void)arg;
    runs_another(NULL);
    pthread_create(&rival, NULL, runs_another_in_a_thread, NULL);
    pthread_join(rival, NULL);
    weft_yield();
    note("goes on");
}

Test(system, is_the_only_one)
{
    run(has_a_rival);
    cr_expect_str_eq(noted(), "-11 -11 goes on");
}

static void *runs_for_a_while(void *result)
{
    *(int *)result = weft_run(ends_with, (void *)1);
    return NULL;
}

Test(system, is_one_of_many_that_try_at_once)
{
    pthread_t thread[8];
    int       result[8], good = 0, busy = 0;

    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 8; i++)
            pthread_create(&thread[i], NULL, runs_for_a_while, &result[i]);
        for (int i = 0; i < 8; i++) {
            pthread_join(thread[i], NULL);
            good += result[i] == 1;
            busy += result[i] == WEFT_EBUSY;
        }
    }
    cr_expect_eq(good + busy, 400, "%d %d", good, busy);
    cr_expect_geq(good, 50);
}

Test(system, does_not_start_without_a_function)
{
    cr_expect_eq(weft_run(NULL, NULL), WEFT_EINVALID);
    run(does_nothing);
}

Test(system, does_not_start_with_an_absurd_stack_size)
{
    cr_expect_eq(weft_run(does_nothing, NULL, .stack_bytes = SIZE_MAX), WEFT_EINVALID);
    run(does_nothing);
}

static void notes_that_it_has(void *bytes) { note("%d", room() >= (size_t)bytes); }

Test(system, gives_its_actors_stacks_of_the_configured_size)
{
    weft_run(notes_that_it_has, (void *)(200 << 10), .stack_bytes = 256 << 10);
    cr_expect_str_eq(noted(), "1");
}

static void asks_after_the_end(void *unused)
{
    (void)unused;
    last_seen = weft_spawn(waits, NULL);
    me = weft_self();
}

Test(system, that_has_ended_answers_calls_with_errors)
{
    uint64_t before = counted().dead_letters;

    run(asks_after_the_end);
    cr_expect_eq(weft_send(me, GO), WEFT_EGONE);
    cr_expect_eq(weft_send(last_seen, A, 1), WEFT_EGONE);
    cr_expect_eq(weft_pass(last_seen, weft_make(A, 1)), WEFT_EGONE);
    cr_expect_eq(counted().dead_letters - before, 3);
    weft_yield();
}

static void answers(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(A);
    weft_reply(m, A, *weft_get(m, A) + 1);
}

static int ask_one(int n)
{
    weft_send(weft_spawn(answers, NULL), A, n);
    return *weft_get(weft_receive(A), A);
}

Test(system, starts_by_itself)
{
    cr_expect_eq(ask_one(1), 2);
    cr_expect_eq(weft_run(does_nothing, NULL), WEFT_EBUSY, "and stays");
    cr_expect_eq(ask_one(2), 3);
}

Test(system, starts_by_itself_after_another_has_ended)
{
    run(does_nothing);
    cr_expect_eq(ask_one(1), 2);
}

static void sleeps_a_year(void *arg)
{
    (void)arg;
    weft_sleep(weft_sec(365 * 24 * 3600));
    note("a year");
}

Test(system, has_virtual_time_when_the_environment_gives_a_seed)
{
    setenv("WEFT_SEED", "3", 1);
    run(sleeps_a_year);
    cr_expect_str_eq(noted(), "a year");
}

Test(system, runs_with_as_many_workers_as_are_asked_for)
{
    for (int n = 1; n <= 8; n *= 2) {
        cr_expect_eq(weft_run(leaves_all_kinds_behind, NULL, .workers = n), 0);
        cr_expect_eq(counted().ended, counted().spawned);
    }
    setenv("WEFT_WORKERS", "3", 1);
    cr_expect_eq(weft_run(leaves_all_kinds_behind, NULL), 0);
}

/* What a program that was compiled with an older, shorter struct passes. */
Test(system, takes_options_of_an_older_program)
{
    struct {
        int workers;
    } old = {1};
    struct {
        const char *name;
    } old_options = {"old"};

    cr_expect_eq(weft_run_with(does_nothing, NULL, (const weft_config *)&old, sizeof old), 0);
    cr_expect_not(weft_is_nobody(
        weft_spawn_with(does_nothing, NULL, (const weft_options *)&old_options, sizeof old_options)));
}

Test(system, fills_counts_of_an_older_program)
{
    uint64_t few[2] = {7, 7};

    run(does_nothing);
    weft_count((weft_counts *)few, sizeof(uint64_t));
    cr_expect_eq(few[0], 1);
    cr_expect_eq(few[1], 7);
}

Test(system, tells_its_methods)
{
    const char *guard = weft_guard_method(), *how = weft_switch_method();

    cr_expect(!strcmp(guard, "install") || !strcmp(guard, "mprotect") || !strcmp(guard, "canary"), "%s",
              guard);
    cr_expect(!strcmp(how, "own") || !strcmp(how, "fcontext") || !strcmp(how, "ucontext") ||
                  !strcmp(how, "libco"),
              "%s", how);
}

static void notes_its_stack(void *arg)
{
    char *here = __builtin_frame_address(0), *low, *high;

    (void)arg;
    note("%d ", weft_stack_bounds((void **)&low, (void **)&high) && low < here && here < high);
    note("%d", weft_stack_used() > 0);
}

Test(system, tells_an_actor_about_its_stack)
{
    run(notes_its_stack);
    cr_expect_str_eq(noted(), "1 1");
}

Test(system, tells_a_thread_of_ones_own_that_it_has_no_stack)
{
    void *low, *high;

    weft_self();
    cr_expect_not(weft_stack_bounds(&low, &high));
    cr_expect_eq(weft_stack_used(), 0);
}

/* ---- Allocators -------------------------------------------------------------------------------------------------- */

static atomic_long gets, puts_, wrong;

static void *counting_get(size_t bytes, void *with)
{
    wrong += with != &gets;
    gets++;
    return malloc(bytes);
}

static void counting_put(void *block, void *with)
{
    wrong += with != &gets || !block;
    puts_++;
    free(block);
}

static const weft_allocator counting = {counting_get, counting_put, &gets};

WEFT_MESSAGE(
    LARGE, struct large { char at[100]; });

static void uses_the_heap(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++) {
        weft_alloc(1000);
        weft_send(weft_self(), LARGE, {1});
        weft_receive_within(weft_ms(1), LARGE);
    }
}

Test(system, takes_its_memory_from_where_it_is_told)
{
    cr_assert_eq(weft_use_allocator(&counting), 0);
    run(uses_the_heap);
    long first = gets - puts_;
    cr_expect_geq(gets, 20);
    run(uses_the_heap);
    cr_expect_leq(gets - puts_, first, "the second run keeps no more than the first");
    cr_expect_eq(wrong, 0);
}

static void on_large(void *state, weft_msg *m)
{
    int *left = state;

    if (m)
        weft_sleep(weft_ms(1));
    if (--*left)
        weft_react_within(weft_ms(1), on_large, state, LARGE, GO);
}

static void reacts_to_large(void *left) { weft_react(on_large, left, LARGE, GO); }

/* Every way in which a message may come to its end. */
static void ends_messages(void *arg)
{
    weft_pid me_now = weft_self(), other = weft_spawn(reacts_to_large, &(int){5}, .copy_bytes = sizeof(int));
    weft_pid never = weft_spawn(waits, NULL, .name = "never");

    (void)arg;
    for (int i = 0; i < 8; i++) {
        weft_send(me_now, LARGE, {1});
        weft_send(other, LARGE, {1});
        weft_send(never, LARGE, {1});
    }
    weft_receive(LARGE);
    weft_sleep(weft_ms(1));
    weft_receive(LARGE);
    weft_yield();
    weft_msg *kept = weft_keep(weft_receive(LARGE));
    weft_receive_within(weft_ms(100), GO);
    weft_drop(kept);
    weft_drop(weft_receive(LARGE));
    weft_pass(other, weft_receive(LARGE));
    weft_pass(WEFT_NOBODY, weft_receive(LARGE));
    weft_receive(LARGE); /* and one is not read */
}

Test(system, gives_back_all_that_messages_took)
{
    cr_assert_eq(weft_use_allocator(&counting), 0);
    cr_assert_eq(weft_run(ends_messages, NULL, .seed = 1), 0);
    long first = gets - puts_;
    for (int i = 0; i < 10; i++)
        cr_assert_eq(weft_run(ends_messages, NULL, .seed = 2), 0);
    cr_expect_eq(gets - puts_, first);
}

Test(system, does_not_change_its_allocator_once_it_has_used_one)
{
    run(does_nothing);
    cr_expect_eq(weft_use_allocator(&counting), WEFT_EBUSY);
}

Test(system, takes_no_allocator_that_lacks_a_function)
{
    cr_expect_eq(weft_use_allocator(NULL), WEFT_EINVALID);
    cr_expect_eq(weft_use_allocator(&(weft_allocator){counting_get, NULL, NULL}), WEFT_EINVALID);
    cr_expect_eq(weft_use_allocator(&(weft_allocator){NULL, counting_put, NULL}), WEFT_EINVALID);
    cr_expect_eq(weft_use_allocator(&counting), 0);
}
