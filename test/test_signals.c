/* test_signals.c - what weft/signal.h promises: signals of the process as messages; and the dump for SIGQUIT.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * When something must not be told, another signal is sent after it, and has to be the next that is told.
 */
#define _GNU_SOURCE /* gettid */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/bound.h>
#include <weft/signal.h>

#include "base/memory.h"
#include "help.h"
#include "runtime/actor.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(signals, .fini = nothing_leaks, .timeout = 60);

WEFT_SIGNAL(READY);
WEFT_SIGNAL(STOP);
WEFT_MESSAGE(TOLD, int);
WEFT_MESSAGE(FILLER, int);

static weft_pid            boss;
static volatile atomic_int handled; /* signals that the program's own handler saw */

static void own_handler(int signal)
{
    (void)signal;
    handled++;
}

static void other_handler(int signal) { (void)signal; }

static void handle(int signal, void (*how)(int))
{
    struct sigaction action = {.sa_handler = how, .sa_flags = SA_NODEFER};

    sigaction(signal, &action, NULL);
}

static void (*handler_of(int signal))(int)
{
    struct sigaction now;

    sigaction(signal, NULL, &now);
    return now.sa_handler;
}

static void raise_here(int signal) { kill(getpid(), signal); }

static int next_told(void) { return *weft_get(weft_receive(WEFT_SIGNALLED), WEFT_SIGNALLED); }

/* ---- Being told ----------------------------------------------------------------------------------------- */

static void is_told(void *arg)
{
    static const int some[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGCHLD, SIGWINCH, SIGALRM, SIGPIPE};

    (void)arg;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        if (weft_signals(some[i], true))
            note("refused %d ", some[i]);
        raise_here(some[i]);
        if (next_told() != some[i])
            note("not %d ", some[i]);
    }
}

Test(signals, who_asks_is_told_by_a_message)
{
    cr_assert_eq(weft_run(is_told, NULL, .workers = 2), 0);
    cr_assert_str_eq(noted(), "");
}

Test(signals, virtual_time_does_not_keep_them_out)
{
    cr_assert_eq(weft_run(is_told, NULL, .seed = 7), 0);
    cr_assert_str_eq(noted(), "");
}

static void is_told_in_real_time(void *arg)
{
    (void)arg;
    weft_signals(SIGRTMIN, true);
    weft_signals(SIGRTMIN + 3, true);
    raise_here(SIGRTMIN + 3);
    note("%d ", next_told() - SIGRTMIN);
    raise_here(SIGRTMIN);
    note("%d", next_told() - SIGRTMIN);
}

Test(signals, there_are_real_time_signals_too)
{
    cr_assert_eq(weft_run(is_told_in_real_time, NULL), 0);
    cr_assert_str_eq(noted(), "3 0");
}

static void asks_and_tells(void *arg)
{
    (void)arg;
    weft_signals(SIGUSR1, true);
    weft_send(boss, READY);
    weft_send(boss, TOLD, next_told());
    weft_receive(STOP);
}

static void several(void *arg)
{
    enum { SEVERAL = 5 };
    int sum = 0;

    (void)arg;
    boss = weft_self();
    for (int i = 0; i < SEVERAL; i++)
        weft_spawn(asks_and_tells, NULL);
    for (int i = 0; i < SEVERAL; i++)
        weft_receive(READY);
    raise_here(SIGUSR1);
    for (int i = 0; i < SEVERAL; i++)
        sum += *weft_get(weft_receive(TOLD), TOLD) == SIGUSR1;
    weft_end(sum);
}

Test(signals, all_who_ask_for_one_are_told) { cr_assert_eq(weft_run(several, NULL, .workers = 3), 5); }

static void on_signal(void *state, weft_msg *m)
{
    int *n = state;

    note("%d ", *weft_get(m, WEFT_SIGNALLED) == SIGUSR1);
    if (++*n == 3)
        return;
    weft_react(on_signal, n, WEFT_SIGNALLED);
    raise_here(SIGUSR1);
}

static void reacts(void *arg)
{
    (void)arg;
    weft_signals(SIGUSR1, true);
    weft_react(on_signal, weft_alloc(sizeof(int)), WEFT_SIGNALLED);
    raise_here(SIGUSR1);
}

Test(signals, who_reacts_is_told)
{
    cr_assert_eq(weft_run(reacts, NULL), 0);
    cr_assert_str_eq(noted(), "1 1 1 ");
}

static void asks_twice(void *arg)
{
    (void)arg;
    note("%d ", weft_signals(SIGUSR1, true) + weft_signals(SIGUSR1, true) + weft_signals(SIGUSR2, true));
    raise_here(SIGUSR1);
    note("%d ", next_told() == SIGUSR1);
    raise_here(SIGUSR2);
    note("%d ", next_told() == SIGUSR2);
    weft_signals(SIGUSR1, false); /* once is enough, too */
    note("%d", handler_of(SIGUSR1) == SIG_DFL);
}

Test(signals, asking_twice_is_asking_once)
{
    cr_assert_eq(weft_run(asks_twice, NULL), 0);
    cr_assert_str_eq(noted(), "0 1 1 1");
}

static void is_bounded(void *arg)
{
    (void)arg;
    weft_signals(SIGTERM, true);
    weft_send(boss, READY);
    weft_receive(STOP);
    note("%d", next_told() == SIGTERM);
}

static void fills(void *arg)
{
    weft_bound bound = {.messages = 2, .full = WEFT_FULL_FAIL};
    weft_ref   ref;
    (void)arg;
    boss = weft_self();
    weft_pid who = weft_spawn(is_bounded, NULL, .bound = &bound, .monitor = &ref);
    weft_receive(READY);
    weft_signals(SIGUSR1, true);
    weft_send(who, FILLER, 1);
    weft_send(who, STOP);
    note("%d ", weft_send(who, FILLER, 2) == WEFT_EFULL);
    raise_here(SIGTERM);
    raise_here(SIGUSR1);
    next_told();
    weft_receive(WEFT_DOWN);
}

Test(signals, a_full_mailbox_does_not_keep_them_out)
{
    cr_assert_eq(weft_run(fills, NULL), 0);
    cr_assert_str_eq(noted(), "1 1");
}

/* ---- Before and after ----------------------------------------------------------------------------------- */

static void only_one(void *arg)
{
    (void)arg;
    handle(SIGUSR2, own_handler);
    weft_signals(SIGUSR1, true);
    raise_here(SIGUSR2);
    while (handled < 1)
        weft_yield();
    raise_here(SIGUSR1);
    note("%d", next_told() == SIGUSR1);
}

Test(signals, what_nobody_asks_for_goes_on_as_it_was)
{
    cr_assert_eq(weft_run(only_one, NULL), 0);
    cr_assert_eq(handled, 1);
    cr_assert_str_eq(noted(), "1");
}

static void asks_and_takes_back(void *arg)
{
    (void)arg;
    weft_signals(SIGUSR1, true);
    weft_signals(SIGHUP, true);
    weft_signals(SIGUSR2, true);
    note("%d ", weft_signals(SIGUSR1, false) + weft_signals(SIGUSR2, false));
    raise_here(SIGUSR1);
    while (handled < 1)
        weft_yield();
    note("%d %d ", handler_of(SIGUSR1) == own_handler, handler_of(SIGUSR2) == SIG_IGN);
    raise_here(SIGHUP);
    note("%d", next_told() == SIGHUP);
}

Test(signals, who_does_not_want_them_any_more_is_not_told_and_the_handler_is_as_before)
{
    handle(SIGUSR1, own_handler);
    handle(SIGUSR2, SIG_IGN);
    cr_assert_eq(weft_run(asks_and_takes_back, NULL), 0);
    cr_assert_eq(handled, 1);
    cr_assert_str_eq(noted(), "0 1 1 1");
}

static void is_replaced(void *arg)
{
    (void)arg;
    weft_signals(SIGUSR1, true);
    handle(SIGUSR1, other_handler);
    weft_signals(SIGUSR1, false);
    note("%d", handler_of(SIGUSR1) == other_handler);
}

Test(signals, a_handler_that_was_set_meanwhile_stays)
{
    handle(SIGUSR1, own_handler);
    cr_assert_eq(weft_run(is_replaced, NULL), 0);
    cr_assert_str_eq(noted(), "1");
}

/* ---- Asking when somebody does already ------------------------------------------------------------------- */

static void asks_too(void *unused)
{
    (void)unused;
    note("%d ", weft_signals(SIGUSR1, true));
    raise_here(SIGUSR1);
    note("%d ", next_told() == SIGUSR1);
}

static void sets_a_handler_between_two_askers(void *unused)
{
    weft_ref ref;

    (void)unused;
    weft_signals(SIGUSR1, true);
    handle(SIGUSR1, own_handler);
    weft_spawn(asks_too, NULL, .monitor = &ref);
    weft_receive(WEFT_DOWN);
    note("%d", next_told() == SIGUSR1);
}

Test(signals, who_asks_second_is_told_also_if_another_handler_was_set_meanwhile)
{
    cr_assert_eq(weft_run(sets_a_handler_between_two_askers, NULL), 0);
    cr_expect_str_eq(noted(), "0 1 1");
    cr_expect_eq(handled, 0);
}

/* ---- While a system is stopped ---------------------------------------------------------------------------- */

/* It cleans up when all others have ended, and a second signal comes. */
static void saves(void *asker)
{
    weft_trap(true);
    weft_monitor(*(weft_pid *)asker);
    weft_receive(WEFT_DOWN);
    weft_receive(WEFT_EXIT);
    raise_here(SIGTERM);
    note("saved %d", handler_of(SIGTERM) != own_handler);
}

static void is_told_and_stops(void *unused)
{
    weft_pid self = weft_self();

    (void)unused;
    weft_signals(SIGTERM, true);
    weft_spawn(saves, &self, .copy_bytes = sizeof self);
    raise_here(SIGTERM);
    next_told();
    weft_stop(0, WEFT_FOREVER);
    weft_receive(STOP);
}

Test(signals, those_that_were_asked_for_disturb_no_stop_when_the_asker_has_ended)
{
    handle(SIGTERM, own_handler);
    cr_assert_eq(weft_run(is_told_and_stops, NULL), 0);
    cr_expect_str_eq(noted(), "saved 1");
    cr_expect_eq(handled, 0);
    cr_expect(handler_of(SIGTERM) == own_handler);
}

static void asks_and_ends(void *signal)
{
    weft_signals(*(int *)signal, true);
    weft_signals(SIGUSR2, true);
}

static void watches(void *arg)
{
    weft_ref ref;
    int      signal = SIGUSR1;

    (void)arg;
    weft_signals(SIGUSR2, true);
    weft_spawn(asks_and_ends, &signal, .copy_bytes = sizeof signal, .monitor = &ref);
    weft_receive(WEFT_DOWN);
    note("%d %d ", handler_of(SIGUSR1) == SIG_DFL, handler_of(SIGUSR2) != SIG_DFL);
    raise_here(SIGUSR2);
    note("%d", next_told() == SIGUSR2);
}

Test(signals, the_end_of_an_actor_takes_its_wishes_back)
{
    cr_assert_eq(weft_run(watches, NULL), 0);
    cr_assert_str_eq(noted(), "1 1 1");
}

static void asks_for_ever(void *arg)
{
    (void)arg;
    weft_signals(SIGUSR1, true);
    weft_send(boss, READY);
    weft_receive(STOP);
}

static void leaves_one(void *arg)
{
    (void)arg;
    boss = weft_self();
    weft_spawn(asks_for_ever, NULL);
    weft_receive(READY);
    weft_signals(SIGINT, true);
    note("%d", weft__signals_wanted());
}

Test(signals, after_a_run_all_is_as_it_was_and_there_can_be_another)
{
    handle(SIGUSR1, own_handler);
    for (int i = 1; i <= 3; i++) {
        cr_assert_eq(weft_run(leaves_one, NULL, .workers = 2), 0);
        cr_assert_not(weft__signals_wanted());
        cr_assert_eq(handler_of(SIGINT), SIG_DFL);
        raise_here(SIGUSR1);
        cr_assert_eq(handled, i);
    }
    cr_assert_str_eq(noted(), "111");
}

Test(signals, not_all_of_them_can_be_asked_for)
{
    static const int none[] = {-1,      0,      SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE,
                               SIGTRAP, SIGSYS, SIGABRT, 32,      33,      65,     1 << 30};

    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        cr_expect_eq(weft_signals(none[i], true), WEFT_EINVALID, "%d", none[i]);
        cr_expect_eq(weft_signals(none[i], false), WEFT_EINVALID, "%d", none[i]);
    }
    cr_expect_eq(weft_signals(SIGUSR1, false), 0, "nobody wanted it");
}

/* Every allocation fails in its turn. */
Test(signals, without_memory_nothing_changes)
{
    int error = WEFT_EMEMORY;

    for (long n = 1; error; n++) {
        weft__memory_fail(n);
        error = weft_signals(SIGUSR1, true);
        weft__memory_fail(0);
        cr_assert(error == 0 || error == WEFT_EMEMORY);
        cr_assert_eq(handler_of(SIGUSR1) == SIG_DFL, error != 0);
        cr_assert_eq(weft__signals_wanted(), error == 0);
    }
    raise_here(SIGUSR1);
    cr_assert_eq(next_told(), SIGUSR1);
}

/* ---- Threads -------------------------------------------------------------------------------------------- */

Test(signals, a_thread_is_told_although_no_system_runs)
{
    cr_assert_eq(weft_signals(SIGINT, true), 0);
    for (int i = 0; i < 3; i++) {
        raise_here(SIGINT);
        cr_assert_eq(next_told(), SIGINT);
    }
    cr_assert_eq(weft_signals(SIGINT, false), 0);
    cr_assert_eq(handler_of(SIGINT), SIG_DFL);
}

static void nothing(void *arg) { (void)arg; }

Test(signals, the_wish_of_a_thread_outlives_a_run)
{
    cr_assert_eq(weft_signals(SIGINT, true), 0);
    cr_assert_eq(weft_run(nothing, NULL), 0);
    cr_assert_neq(handler_of(SIGINT), SIG_DFL);
    cr_assert_eq(weft_signals(SIGINT, false), 0);
    cr_assert_eq(weft_run(nothing, NULL), 0);
    cr_assert_eq(handler_of(SIGINT), SIG_DFL);
}

static void *asks_in_a_thread(void *arg)
{
    weft_signals(SIGUSR1, true);
    return arg;
}

Test(signals, the_end_of_a_thread_takes_its_wishes_back)
{
    pthread_t thread;

    pthread_create(&thread, NULL, asks_in_a_thread, NULL);
    pthread_join(thread, NULL);
    cr_assert_eq(handler_of(SIGUSR1), SIG_DFL);
}

static int        ends_of_pipe[2];
static atomic_int reader;

static void *reads(void *arg)
{
    char byte = 0;

    reader = gettid();
    ssize_t n = read(ends_of_pipe[0], &byte, 1);
    note("%zd%c", n, byte);
    return arg;
}

static bool sleeps(int thread)
{
    char  path[64], state = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    if (!(f = fopen(path, "r")))
        return false;
    bool read = fscanf(f, "%*d (%*[^)]) %c", &state) == 1;
    fclose(f);
    return read && state == 'S';
}

Test(signals, a_call_that_blocks_is_not_disturbed)
{
    pthread_t thread;

    cr_assert_eq(pipe(ends_of_pipe), 0);
    cr_assert_eq(weft_signals(SIGUSR1, true), 0);
    pthread_create(&thread, NULL, reads, NULL);
    while (!reader || !sleeps(reader))
        weft_yield();
    for (int i = 0; i < 5; i++) {
        pthread_kill(thread, SIGUSR1);
        cr_assert_eq(next_told(), SIGUSR1);
    }
    cr_assert_eq(write(ends_of_pipe[1], "x", 1), 1);
    pthread_join(thread, NULL);
    cr_assert_str_eq(noted(), "1x");
}

/* ---- A child -------------------------------------------------------------------------------------------- */

static void in_the_child(void)
{
    raise_here(SIGUSR1); /* the program's own handler */
    if (handled == 1 && handler_of(SIGUSR1) == own_handler)
        raise_here(SIGTERM);
}

Test(signals, in_a_forked_child_they_do_what_they_did_before)
{
    handle(SIGUSR1, own_handler);
    weft_signals(SIGTERM, true);
    weft_signals(SIGUSR1, true);
    weft_signals(SIGUSR2, true);
    int status = in_child(in_the_child);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "%x", (unsigned)status);
    raise_here(SIGUSR2);
    cr_assert_eq(next_told(), SIGUSR2, "the parent hears nothing of it");
    cr_assert_eq(handled, 0);
}

static struct sigaction ours;

static void handler_that_passes_on(int signal)
{
    handled++;
    if (handled < 10)
        ours.sa_handler(signal);
}

static void asks_beside(void *unused)
{
    (void)unused;
    weft_signals(SIGUSR1, true);
}

/* Its handler calls Weft's, whose place that has taken again for the second who asked. */
Test(signals, in_a_forked_child_a_handler_that_passes_them_on_is_called_once)
{
    struct sigaction theirs = {.sa_handler = handler_that_passes_on};

    weft_signals(SIGUSR1, true);
    sigaction(SIGUSR1, &theirs, &ours);
    weft_monitor(weft_spawn(asks_beside, NULL));
    weft_receive(WEFT_DOWN);
    int status = in_child(in_the_child);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1, "%x", (unsigned)status);
}

/* ---- SIGQUIT -------------------------------------------------------------------------------------------- */

static const char *what_is_said(void)
{
    static char text[4096];
    ssize_t     n = pread(STDERR_FILENO, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = 0;
    return text;
}

static void quits(void *arg)
{
    (void)arg;
    boss = weft_self();
    weft_spawn(asks_for_ever, NULL, .name = "prudence");
    weft_receive(READY);
    raise_here(SIGQUIT);
    while (!strstr(what_is_said(), "prudence"))
        weft_yield();
}

static void told_and_dumped(void *arg)
{
    weft_signals(SIGQUIT, true);
    quits(arg);
    note("%d ", next_told() == SIGQUIT);
    weft_signals(SIGQUIT, false);
    raise_here(SIGQUIT); /* still no more than a dump */
}

Test(signals, a_quit_writes_a_dump_where_it_is_wanted)
{
    listen_to_stderr();
    int result = weft_run(quits, NULL, .workers = 2, .dump_on_quit = true);
    cr_assert(strstr(what_was_said(), "prudence"));
    cr_assert_eq(result, 0);
    cr_assert_eq(handler_of(SIGQUIT), SIG_DFL, "and afterwards it ends the process again");
}

Test(signals, who_has_asked_for_quit_is_told_as_well)
{
    listen_to_stderr();
    int result = weft_run(told_and_dumped, NULL, .dump_on_quit = true);
    what_was_said();
    cr_assert_eq(result, 0);
    cr_assert_str_eq(noted(), "1 ");
}

static void quits_unheard(void *arg)
{
    (void)arg;
    raise_here(SIGQUIT);
    weft_sleep(weft_ms(50)); /* the dump has begun; else the test finds nothing */
}

Test(signals, a_dump_that_nobody_reads_does_not_hold_up_the_end)
{
    listen_to_stderr();
    clog_stderr();
    int result = weft_run(quits_unheard, NULL, .workers = 2, .dump_on_quit = true);
    what_was_said();
    cr_expect_eq(result, 0);
}

static void is_told_beside_a_dump(void *arg)
{
    weft_signals(SIGUSR1, true);
    quits_unheard(arg);
    raise_here(SIGUSR1);
    note("%d", next_told() == SIGUSR1);
}

Test(signals, a_dump_that_nobody_reads_does_not_hold_up_other_signals)
{
    listen_to_stderr();
    clog_stderr();
    int result = weft_run(is_told_beside_a_dump, NULL, .workers = 2, .dump_on_quit = true);
    what_was_said();
    cr_expect_eq(result, 0);
    cr_expect_str_eq(noted(), "1");
}

Test(signals, the_environment_can_want_the_dump)
{
    setenv("WEFT_DUMP_ON_QUIT", "1", 1);
    listen_to_stderr();
    int result = weft_run(quits, NULL);
    cr_assert(strstr(what_was_said(), "prudence"));
    cr_assert_eq(result, 0);
}

static void looks_at_quit(void *arg)
{
    (void)arg;
    note("%d", handler_of(SIGQUIT) == SIG_DFL);
}

Test(signals, without_such_a_wish_a_quit_is_left_alone)
{
    setenv("WEFT_DUMP_ON_QUIT", "0", 1);
    cr_assert_eq(weft_run(looks_at_quit, NULL), 0);
    cr_assert_str_eq(noted(), "1");
}
