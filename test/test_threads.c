/* test_threads.c - what weft.h promises to threads that Weft did not start.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/case.h>

#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(threads, .fini = nothing_leaks, .timeout = 60);

WEFT_MESSAGE(A, int);
WEFT_MESSAGE(B, int);
WEFT_MESSAGE(
    WHO, struct who { weft_pid pid; });
WEFT_SIGNAL(GO);

static weft_pid  me;
static pthread_t thread;
static sem_t     step; /* from one thread to another */

static void start(void *(*run)(void *)) { cr_assert_eq(pthread_create(&thread, NULL, run, NULL), 0); }
static void join(void) { cr_assert_eq(pthread_join(thread, NULL), 0); }

static void echo(void *arg)
{
    (void)arg;
    for (;;) {
        weft_msg *m = weft_receive(A);
        weft_reply(m, B, *weft_get(m, A) + 1);
    }
}

static int ask(weft_pid whom, int n)
{
    weft_send(whom, A, n);
    return *weft_get(weft_receive(B), B);
}

/* ---- Becoming an actor ---------------------------------------------------------------------------------- */

Test(threads, are_actors_once_they_ask_who_they_are)
{
    weft_pid self = weft_self();

    cr_expect_not(weft_is_nobody(self));
    cr_expect(weft_same(self, weft_self()));
    cr_expect_eq(counted().spawned, 1);
}

Test(threads, are_actors_once_they_spawn_so_that_they_can_be_answered)
{
    weft_pid e = weft_spawn(echo, NULL);

    for (int i = 0; i < 100; i++)
        cr_expect_eq(ask(e, i), i + 1);
}

Test(threads, are_actors_once_they_receive)
{
    cr_expect_null(weft_receive_within(weft_ms(0), A));
    cr_expect_eq(counted().spawned, 1);
}

static void *only_sends(void *unused)
{
    weft_send(me, A, 1);
    weft_pass(me, weft_make(A, 2));
    return unused;
}

Test(threads, that_only_send_are_nobody)
{
    me = weft_self();
    start(only_sends);
    for (int i = 1; i <= 2; i++) {
        weft_msg *m = weft_receive(A);
        cr_expect_eq(*weft_get(m, A), i);
        cr_expect(weft_is_nobody(weft_sender(m)));
        cr_expect_eq(weft_reply(m, B, 1), WEFT_EGONE);
    }
    join();
    cr_expect_eq(counted().spawned, 1, "only this one");
}

static void *asks_much(void *echo_pid)
{
    intptr_t wrong = 0;

    weft_self(); /* or the first question would have no sender */
    for (int i = 0; i < 2000; i++)
        wrong += ask(*(weft_pid *)echo_pid, i) != i + 1;
    return (void *)wrong;
}

Test(threads, may_be_actors_many_at_once)
{
    pthread_t many[16];
    weft_pid  e = weft_spawn(echo, NULL);
    void     *wrong;

    for (int i = 0; i < 16; i++)
        pthread_create(&many[i], NULL, asks_much, &e);
    for (int i = 0; i < 16; i++) {
        pthread_join(many[i], &wrong);
        cr_expect_null(wrong);
    }
}

static void *answers(void *unused)
{
    weft_msg *m = weft_receive(WHO);
    weft_pid  boss = weft_get(m, WHO)->pid;

    for (int i = 0; i < 1000; i++)
        weft_send(boss, B, *weft_get(weft_receive(A), A) + 1);
    return unused;
}

static void *tells_its_pid(void *unused)
{
    weft_send(me, WHO, weft_self());
    return answers(unused);
}

Test(threads, talk_to_each_other)
{
    me = weft_self();
    start(tells_its_pid);
    weft_pid other = weft_get(weft_receive(WHO), WHO)->pid;
    weft_send(other, WHO, me);
    for (int i = 0; i < 1000; i++)
        cr_expect_eq(ask(other, i), i + 1);
    join();
}

Test(threads, receive_selectively_and_in_order)
{
    me = weft_self();
    for (int i = 0; i < 3; i++) {
        weft_send(me, A, i);
        weft_send(me, B, i);
    }
    for (int i = 0; i < 3; i++)
        cr_expect_eq(*weft_get(weft_receive(B), B), i);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(*weft_get(weft_receive(WEFT_ANY), A), i);
}

/* ---- Time ------------------------------------------------------------------------------------------------- */

Test(threads, poll_with_time_0)
{
    cr_expect_null(weft_receive_within(weft_ms(0), A));
    weft_send(weft_self(), B, 1);
    cr_expect_null(weft_receive_within(weft_ms(0), A));
    cr_expect_not_null(weft_receive_within(weft_ms(0), B));
}

Test(threads, receive_null_when_the_time_is_over)
{
    weft_send(weft_self(), B, 1);
    cr_expect_null(weft_receive_within(weft_us(100), A));
    cr_expect_null(weft_receive_within(weft_us(100), A, GO));
    cr_expect_not_null(weft_receive_within(weft_us(100), B));
}

Test(threads, receive_in_time_what_comes_in_time)
{
    me = weft_self();
    start(only_sends);
    cr_expect_not_null(weft_receive_within(weft_sec(3600), A));
    cr_expect_not_null(weft_receive_within(weft_ns(INT64_MAX - 1), A));
    join();
}

Test(threads, keep_their_message_while_they_sleep_and_yield)
{
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), A, 2);
    weft_msg *m = weft_receive(A);
    weft_sleep(weft_us(100));
    weft_yield();
    cr_expect_eq(*weft_get(m, A), 1);
    cr_expect_eq(*weft_get(weft_receive(A), A), 2);
}

/* ---- Ending ------------------------------------------------------------------------------------------------ */

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

static void *becomes_an_actor(void *unused)
{
    me = weft_self();
    weft_alloc(1000);
    weft_send(me, THING, malloc(8));
    return unused;
}

Test(threads, end_as_actors_when_they_end)
{
    start(becomes_an_actor);
    join();
    cr_expect_eq(weft_send(me, GO), WEFT_EGONE);
    cr_expect_eq(counted().ended, 1);
    cr_expect_eq(counted().dead_letters, 2);
    cr_expect_eq(destroyed, 1, "what it left unread");
}

static void *ends_itself(void *unused)
{
    me = weft_self();
    weft_end(3);
    note("not reached");
    return unused;
}

Test(threads, end_by_weft_end)
{
    start(ends_itself);
    join();
    cr_expect_str_eq(noted(), "");
    cr_expect_eq(weft_send(me, GO), WEFT_EGONE);
}

static void at_exit(void) { _exit(33); }

static void ends_the_main_thread(void)
{
    atexit(at_exit);
    weft_self();
    weft_end(0);
}

Test(threads, end_the_process_by_exit_if_main)
{
    int status = in_child(ends_the_main_thread);

    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 33, "%x", status);
}

Test(threads, never_have_the_pid_of_another)
{
    weft_pid before = WEFT_NOBODY;

    for (int i = 0; i < 200; i++) {
        start(becomes_an_actor);
        join();
        cr_expect_not(weft_same(me, before));
        before = me;
    }
    cr_expect_eq(counted().ended, 200);
}

static bool ends_its_thread(const weft_msg *m, const void *with)
{
    (void)m, (void)with;
    weft_end(0);
}

static void *guards_and_ends(void *unused)
{
    const weft_case  list[] = {WEFT_ON_IF(A, NULL, ends_its_thread, NULL)};
    const weft_cases set = WEFT_CASES(list, NULL);

    weft_send(weft_self(), A, 1);
    weft_receive_case(WEFT_FOREVER, &set);
    note("went on ");
    return unused;
}

static void *does_what_a_guard_must_not(void *unused)
{
    weft_send(weft_self(), A, 1); /* in the place of the thread before */
    note("%d ", *weft_get(weft_receive(A), A));
    weft_sleep(weft_us(1));
    weft_yield();
    return unused;
}

Test(threads, may_be_ended_by_a_guard_and_leave_the_next_alone)
{
    for (int i = 0; i < 10; i++) {
        start(guards_and_ends);
        join();
        start(does_what_a_guard_must_not);
        join();
    }
    cr_expect_str_eq(noted(), "1 1 1 1 1 1 1 1 1 1 ");
    cr_expect_eq(counted().ended, 20);
}

/* ---- And the system ------------------------------------------------------------------------------------------ */

static weft_pid first_actor;

static void waits_for_go(void *arg)
{
    (void)arg;
    first_actor = weft_self();
    sem_post(&step);
    weft_receive(GO);
}

static void *ends_the_system_and_receives(void *unused)
{
    sem_wait(&step);
    weft_self();
    weft_send(first_actor, GO);
    weft_msg *m = weft_receive(A);
    note("%s", m ? "message" : "null");
    return unused;
}

Test(threads, receive_null_when_the_system_ends)
{
    for (int i = 0; i < 100; i++) {
        sem_init(&step, 0, 0);
        start(ends_the_system_and_receives);
        cr_assert_eq(weft_run(waits_for_go, NULL), 0);
        join();
        cr_assert_str_eq(noted(), "null", "round %d", i);
        forget_notes();
    }
}

static sem_t has_ended;

static void *receives_afterwards(void *unused)
{
    sem_wait(&step);
    weft_self();
    weft_send(first_actor, GO);
    sem_wait(&has_ended);
    weft_msg *m = weft_receive(A);
    note("%s", m ? "message" : "null");
    return unused;
}

Test(threads, receive_null_when_the_system_has_ended)
{
    sem_init(&step, 0, 0);
    sem_init(&has_ended, 0, 0);
    start(receives_afterwards);
    cr_assert_eq(weft_run(waits_for_go, NULL), 0);
    sem_post(&has_ended);
    join();
    cr_expect_str_eq(noted(), "null");
}

static void sends_to_main(void *arg)
{
    (void)arg;
    weft_send(me, A, 5);
}

Test(threads, receive_what_was_sent_before_the_system_ended)
{
    me = weft_self();
    cr_assert_eq(weft_run(sends_to_main, NULL), 0);
    weft_msg *m = weft_receive_within(weft_ms(0), A);
    cr_assert_not_null(m);
    cr_expect_eq(*weft_get(m, A), 5);
}

static atomic_int sending;

static void *sends_until_gone(void *unused)
{
    sending++;
    while (weft_send(first_actor, A, 1) == 0)
        ;
    return unused;
}

static void ends_under_fire(void *arg)
{
    (void)arg;
    first_actor = weft_self();
    sem_post(&step);
    while (sending < 100)
        weft_receive(A);
    for (int i = 0; i < 1000; i++)
        weft_receive(A);
}

static void *runs(void *result)
{
    *(int *)result = weft_run(ends_under_fire, NULL);
    return NULL;
}

Test(threads, may_send_a_hundred_at_once_while_the_system_stops)
{
    pthread_t many[100];
    int       result = -1;

    for (int round = 0; round < 5; round++) {
        sending = 0;
        sem_init(&step, 0, 0);
        pthread_create(&thread, NULL, runs, &result);
        sem_wait(&step);
        for (int i = 0; i < 100; i++)
            pthread_create(&many[i], NULL, sends_until_gone, NULL);
        for (int i = 0; i < 100; i++)
            pthread_join(many[i], NULL);
        join();
        cr_expect_eq(result, 0);
    }
    cr_expect_eq(counted().spawned, 5);
    cr_expect_eq(counted().ended, 5);
    cr_expect_geq(counted().dead_letters, 500);
}

static void does_nothing(void *arg) { (void)arg; }

static atomic_int not_documented;

static void *spawns_until_gone(void *unused)
{
    sending++;
    while (weft_send(first_actor, A, 1) == 0)
        if (weft_is_nobody(weft_spawn(does_nothing, NULL)))
            not_documented += weft_spawn_error() != WEFT_EENDED;
    return unused;
}

Test(threads, may_spawn_while_the_system_stops)
{
    pthread_t many[100];
    int       result = -1;

    sem_init(&step, 0, 0);
    pthread_create(&thread, NULL, runs, &result);
    sem_wait(&step);
    for (int i = 0; i < 100; i++)
        pthread_create(&many[i], NULL, i % 10 ? sends_until_gone : spawns_until_gone, NULL);
    for (int i = 0; i < 100; i++)
        pthread_join(many[i], NULL);
    join();
    cr_expect_eq(result, 0);
    cr_expect_eq(not_documented, 0);
}

static weft_pid asked_of;

static void *asks_another_thread(void *unused)
{
    weft_self();
    note("%s ", weft_name(weft_ask(WEFT_FOREVER, asked_of, A, 1)));
    note("%s ", weft_name(weft_ask(weft_sec(3600), asked_of, A, 2)));
    return unused;
}

static void ends_at_once(void *arg) { (void)arg; }

Test(threads, await_a_response_over_the_end_of_a_system)
{
    asked_of = weft_self();
    for (int i = 0; i < 20; i++) {
        start(asks_another_thread);
        for (int k = 0; k < 2; k++) {
            weft_msg *m;
            while (!(m = weft_receive_within(weft_sec(10), A))) /* or the end of the last system */
                ;
            for (int n = 0; n < 5; n++)
                cr_assert_eq(weft_run(ends_at_once, NULL, .workers = 1), 0);
            weft_reply(m, B, 1);
        }
        join();
        cr_assert_str_eq(noted(), "B B ", "round %d: %s", i, noted());
        forget_notes();
    }
}
