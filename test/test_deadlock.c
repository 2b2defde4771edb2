/* test_deadlock.c - when every actor waits, and nothing can wake any of them: found, and never without reason.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A test process of Criterion's may have threads that nobody knows, which is a reason of its own. So what should be found
 * is looked for in a child, which begins with one thread.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/bound.h>
#include <weft/signal.h>

#include "help.h"

TestSuite(deadlock, .timeout = 60);

WEFT_SIGNAL(GO);
WEFT_SIGNAL(NEVER);
WEFT_MESSAGE(
    WHO, struct who { weft_pid pid; });

static void check(bool condition, int line)
{
    if (!condition)
        _exit(line % 255 + 1);
}
#define CHECK(condition) check(condition, __LINE__)

static void expect_well(void (*run)(void))
{
    int status = in_child(run);

    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x: line %d or so", (unsigned)status,
              WEXITSTATUS(status) - 1);
}

static void waits(void *arg)
{
    (void)arg;
    weft_receive(NEVER);
}

static void ends(void *arg) { (void)arg; }

/* ---- What is found ------------------------------------------------------------------------------------------ */

static void waits_for_the_other(void *arg)
{
    (void)arg;
    weft_pid other = weft_get(weft_receive(WHO), WHO)->pid;
    weft_receive(GO);
    weft_send(other, GO);
}

static void makes_two_wait(void *arg)
{
    weft_pid a = weft_spawn(waits_for_the_other, NULL), b = weft_spawn(waits_for_the_other, NULL);

    (void)arg;
    weft_send(a, WHO, b);
    weft_send(b, WHO, a);
    weft_await(weft_request(a, NEVER), WEFT_FOREVER);
}

static void asks_in_a_circle(void *arg)
{
    (void)arg;
    weft_pid next = weft_get(weft_receive(WHO), WHO)->pid;
    weft_ask(WEFT_FOREVER, next, GO);
}

static void makes_a_circle(void *arg)
{
    enum { MANY = 5 };
    weft_pid p[MANY];

    (void)arg;
    for (int i = 0; i < MANY; i++)
        p[i] = weft_spawn(asks_in_a_circle, NULL);
    for (int i = 0; i < MANY; i++)
        weft_send(p[i], WHO, p[(i + 1) % MANY]);
    weft_receive(NEVER);
}

static void makes_one_knock(void *arg)
{
    weft_bound bound = {.messages = 1};
    weft_pid   full = weft_spawn(waits, NULL, .bound = &bound);

    (void)arg;
    weft_send_within(WEFT_FOREVER, full, GO);
    weft_send_within(WEFT_FOREVER, full, GO);
}

static void on_never(void *state, weft_msg *m)
{
    (void)state;
    (void)m;
}

static void reacts(void *arg)
{
    (void)arg;
    weft_react(on_never, NULL, NEVER);
}

static void makes_some_react(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++)
        weft_spawn(reacts, NULL);
    reacts(NULL);
}

/* Its time is not over when its message comes, and nothing is left of it. */
static void had_a_time(void *arg)
{
    (void)arg;
    weft_send(weft_self(), GO);
    weft_send_after(weft_ms(1), weft_self(), GO);
    weft_receive_within(weft_sec(3600), GO);
    weft_receive_within(weft_sec(3600), GO);
    weft_receive(NEVER);
}

static void sleeps_first(void *arg)
{
    (void)arg;
    weft_sleep(weft_ms(3));
    weft_receive(NEVER);
}

static void repeats_to_one_that_ends(void *arg)
{
    (void)arg;
    weft_send_every(weft_ms(1), weft_spawn(ends, NULL), GO);
    weft_receive(NEVER);
}

static weft_fn *const deadlocks[] = {makes_two_wait, makes_a_circle,          makes_one_knock,
                                     waits,          makes_some_react,        had_a_time,
                                     sleeps_first,   repeats_to_one_that_ends};
enum { KINDS = sizeof deadlocks / sizeof *deadlocks };

static void runs_all_kinds(void)
{
    listen_to_stderr();
    for (int i = 0; i < KINDS; i++)
        for (int workers = 1; workers <= 4; workers++)
            CHECK(weft_run(deadlocks[i], NULL, .deadlock = true, .workers = workers) == WEFT_EDEADLOCK);
    what_was_said();
    CHECK(counted().spawned == counted().ended);
}

Test(deadlock, of_every_kind_is_found) { expect_well(runs_all_kinds); }

static void runs_all_kinds_with_a_seed(void)
{
    listen_to_stderr();
    for (int i = 0; i < KINDS; i++)
        for (uint64_t seed = 1; seed <= 5; seed++)
            CHECK(weft_run(deadlocks[i], NULL, .deadlock = true, .seed = seed) == WEFT_EDEADLOCK);
    what_was_said();
}

Test(deadlock, is_found_in_virtual_time) { expect_well(runs_all_kinds_with_a_seed); }

static void runs_with_the_environment(void)
{
    listen_to_stderr();
    setenv("WEFT_DEADLOCK", "1", 1);
    CHECK(weft_run(waits, NULL) == WEFT_EDEADLOCK);
    what_was_said();
}

Test(deadlock, is_looked_for_as_the_environment_says) { expect_well(runs_with_the_environment); }

/* The thread that calls these is an actor of a system that was started by need. */
static void receives_in_a_system_by_need(void)
{
    listen_to_stderr();
    setenv("WEFT_DEADLOCK", "1", 1);
    weft_pid other = weft_spawn(waits, NULL);
    CHECK(weft_receive(NEVER) == NULL);
    CHECK(weft_send(other, GO) == WEFT_EGONE);
    const char *said = what_was_said();
    CHECK(strncmp(said, "weft: every actor waits, and nothing can wake any of them\n", 58) == 0);
    CHECK(strstr(said, "thread"));
}

static void awaits_in_a_system_by_need(void)
{
    listen_to_stderr();
    setenv("WEFT_DEADLOCK", "1", 1);
    CHECK(weft_is(weft_ask(WEFT_FOREVER, weft_spawn(waits, NULL), GO), WEFT_FAILED));
    CHECK(strstr(what_was_said(), "awaits"));
}

Test(deadlock, is_found_in_a_system_that_was_started_by_need)
{
    expect_well(receives_in_a_system_by_need);
    expect_well(awaits_in_a_system_by_need);
}

static void reads_what_is_said(void)
{
    listen_to_stderr();
    CHECK(weft_run(makes_a_circle, NULL, .deadlock = true) == WEFT_EDEADLOCK);
    const char *said = what_was_said();
    CHECK(strncmp(said, "weft: every actor waits, and nothing can wake any of them\n", 58) == 0);
    CHECK(strstr(said, "asks_in_a_circle"));
    CHECK(strstr(said, "a response"));
    CHECK(strstr(said, "makes_a_circle"));
    CHECK(strstr(said, "NEVER"));
}

Test(deadlock, is_told_with_all_who_wait) { expect_well(reads_what_is_said); }

static atomic_int cleared;

static void clears(void *arg)
{
    (void)arg;
    cleared++;
}

static void defers_and_waits(void *arg)
{
    (void)arg;
    weft_defer(clears, NULL);
    weft_receive(NEVER);
}

static void leaves_two(void *arg)
{
    (void)arg;
    weft_spawn(defers_and_waits, NULL);
    weft_spawn(defers_and_waits, NULL);
    weft_end(4);
}

static void ends_all(void)
{
    listen_to_stderr();
    CHECK(weft_run(leaves_two, NULL, .deadlock = true, .wait_all = true) == WEFT_EDEADLOCK);
    CHECK(cleared == 2);
    CHECK(weft_run(leaves_two, NULL, .deadlock = true) == 4);
    CHECK(weft_run(ends, NULL, .deadlock = true, .wait_all = true) == 0);
    what_was_said();
}

Test(deadlock, ends_all_actors_as_any_end_does) { expect_well(ends_all); }

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

static weft_pid waiting;

static void *waits_too(void *to)
{
    *(weft_pid *)to = weft_self();
    weft_receive(GO);
    return weft_receive(NEVER);
}

static void waits_with_threads(void)
{
    pthread_t thread[3];
    weft_pid  is[3] = {0};

    listen_to_stderr();
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread[i], NULL, waits_too, &is[i]);
        while (!__atomic_load_n(&is[i].id, __ATOMIC_ACQUIRE))
            sched_yield();
    }
    for (int i = 0; i < 3; i++)
        weft_send(is[i], GO);
    CHECK(weft_run(waits, NULL, .deadlock = true) == WEFT_EDEADLOCK);
    what_was_said();
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL); /* it has ended, so they wait no longer */
}

Test(deadlock, may_be_one_of_threads_that_are_actors) { expect_well(waits_with_threads); }

static atomic_bool may_end;

static void *knows_nothing(void *unused)
{
    while (!may_end)
        sched_yield();
    return unused;
}

static void is_let_go(void *arg)
{
    (void)arg;
    weft_sleep(weft_ms(5));
    may_end = true;
    weft_receive(NEVER);
}

static void waits_for_a_thread_to_end(void)
{
    pthread_t thread;

    listen_to_stderr();
    pthread_create(&thread, NULL, knows_nothing, NULL);
    CHECK(weft_run(is_let_go, NULL, .deadlock = true) == WEFT_EDEADLOCK);
    what_was_said();
    pthread_join(thread, NULL);
}

Test(deadlock, is_found_when_the_last_thread_has_ended) { expect_well(waits_for_a_thread_to_end); }

static void *asks_for_a_while(void *waits_then)
{
    weft_pid to;

    weft_signals(SIGUSR1, true);
    while (!(to.id = __atomic_load_n(&waiting.id, __ATOMIC_ACQUIRE)))
        sched_yield();
    weft_send(to, GO);
    usleep(20000); /* in which all rest, and nobody can say that it is for good */
    if (waits_then) {
        weft_signals(SIGUSR1, false);
        weft_receive(NEVER);
    }
    return NULL;
}

static void waits_after_all(void *arg)
{
    (void)arg;
    __atomic_store_n(&waiting.id, weft_self().id, __ATOMIC_RELEASE);
    weft_receive(GO);
    weft_receive(NEVER);
}

static void waits_with_one_that_asked(void)
{
    pthread_t thread;

    listen_to_stderr();
    for (int i = 0; i < 2; i++) {
        waiting.id = 0;
        pthread_create(&thread, NULL, asks_for_a_while, i ? "waits" : NULL);
        CHECK(weft_run(waits_after_all, NULL, .deadlock = true) == WEFT_EDEADLOCK);
        pthread_join(thread, NULL);
    }
    what_was_said();
}

Test(deadlock, is_found_when_the_last_thread_asks_for_no_signal_any_more)
{
    expect_well(waits_with_one_that_asked);
}

static void *runs_alone(void *main)
{
    pthread_join(*(pthread_t *)main, NULL);
    listen_to_stderr();
    int result = weft_run(waits, NULL, .deadlock = true);
    what_was_said();
    _exit(result == WEFT_EDEADLOCK ? 0 : 1);
}

static void ends_its_main_thread(void)
{
    static pthread_t self, thread;

    self = pthread_self();
    pthread_create(&thread, NULL, runs_alone, &self);
    pthread_exit(NULL);
}

Test(deadlock, is_found_when_the_main_thread_has_ended) { expect_well(ends_its_main_thread); }

/* ---- What is none ------------------------------------------------------------------------------------------------ */

static void says_who_waits(void *arg)
{
    (void)arg;
    __atomic_store_n(&waiting.id, weft_self().id, __ATOMIC_RELEASE);
    weft_receive(GO);
}

/* It has never called Weft before. */
static void *writes_late(void *unused)
{
    weft_pid to;

    while (!(to.id = __atomic_load_n(&waiting.id, __ATOMIC_ACQUIRE)))
        sched_yield();
    usleep(20000); /* in which nothing happens: what would be said too soon is said now */
    weft_send(to, GO);
    return unused;
}

static void is_written_to_by_a_stranger(void)
{
    pthread_t thread;

    for (int i = 0; i < 5; i++) {
        waiting.id = 0;
        pthread_create(&thread, NULL, writes_late, NULL);
        CHECK(weft_run(says_who_waits, NULL, .deadlock = true) == 0);
        pthread_join(thread, NULL);
    }
}

Test(deadlock, is_none_while_a_thread_could_write) { expect_well(is_written_to_by_a_stranger); }

static void *writes_when_its_time_is_over(void *unused)
{
    weft_pid to;

    while (!(to.id = __atomic_load_n(&waiting.id, __ATOMIC_ACQUIRE)))
        sched_yield();
    weft_receive_within(weft_ms(20), NEVER);
    weft_send(to, GO);
    return unused;
}

static void is_written_to_by_one_with_a_time(void)
{
    pthread_t thread;

    for (int i = 0; i < 5; i++) {
        waiting.id = 0;
        pthread_create(&thread, NULL, writes_when_its_time_is_over, NULL);
        CHECK(weft_run(says_who_waits, NULL, .deadlock = true) == 0);
        pthread_join(thread, NULL);
    }
}

Test(deadlock, is_none_while_the_time_of_a_thread_runs) { expect_well(is_written_to_by_one_with_a_time); }

static void sends_itself_one(void *arg)
{
    (void)arg;
    weft_send_after(weft_ms(20), weft_self(), GO);
    weft_receive(GO);
    weft_sleep(weft_ms(5));
    weft_receive_within(weft_ms(5), GO);
}

static void has_timers(void)
{
    CHECK(weft_run(sends_itself_one, NULL, .deadlock = true) == 0);
    CHECK(weft_run(sends_itself_one, NULL, .deadlock = true, .seed = 8) == 0);
}

Test(deadlock, is_none_while_a_timer_runs) { expect_well(has_timers); }

static void blocks_and_writes(void *to)
{
    usleep(20000); /* it waits, but not in Weft */
    weft_send(*(weft_pid *)to, GO);
}

static void lets_one_block(void *arg)
{
    weft_pid self = weft_self();

    (void)arg;
    weft_spawn(blocks_and_writes, &self, .copy_bytes = sizeof self);
    weft_receive(GO);
}

static void has_one_that_blocks(void)
{
    CHECK(weft_run(lets_one_block, NULL, .deadlock = true, .workers = 3) == 0);
}

Test(deadlock, is_none_while_an_actor_blocks_its_thread) { expect_well(has_one_that_blocks); }

static void *stops(void *unused)
{
    while (!__atomic_load_n(&waiting.id, __ATOMIC_ACQUIRE))
        sched_yield();
    weft_stop(3, weft_sec(20));
    return unused;
}

static void is_stopped_instead(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, stops, NULL);
    CHECK(weft_run(says_who_waits, NULL, .deadlock = true) == 3);
    pthread_join(thread, NULL);
}

Test(deadlock, is_none_while_a_thread_may_stop_all) { expect_well(is_stopped_instead); }
