/* test_defer.c - what part 9 of weft.h promises of deferred functions: they run when an actor ends, however it does.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "puppet.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(defer, .fini = nothing_leaks, .timeout = 20);

WEFT_MESSAGE(A, int);
WEFT_SIGNAL(GO);

static void notes(void *arg) { note("%s ", (char *)arg); }

static int defers_two(weft_pid unused)
{
    (void)unused;
    return weft_defer(notes, "first") | weft_defer(notes, "second");
}

/* ---- when they run ---------------------------------------------------------------------------------------- */

enum how { RETURNS, ENDS, IS_EXITED, IS_KILLED, IS_LINKED, MISUSES, WAYS };

static int reads_nothing(weft_pid unused)
{
    (void)unused;
    weft_get(NULL, A);
    return 0;
}

static int ends_now(weft_pid unused)
{
    (void)unused;
    weft_end(3);
}

static void end_in_a_way(weft_pid p, enum how how)
{
    weft_pid other;

    switch (how) {
    case RETURNS:
        ends(p, 0);
        break;
    case ENDS:
        order_later(p, ends_now, p);
        break;
    case IS_EXITED:
        weft_exit(p, 3);
        break;
    case IS_KILLED:
        weft_kill(p);
        break;
    case IS_LINKED:
        other = puppet(FIBER);
        order(other, weft_link, p);
        ends(other, 3);
        break;
    default:
        order_later(p, reads_nothing, p);
    }
}

static void ends_in_each_way(void *arg)
{
    static const int reasons[WAYS] = {0, 3, 3, WEFT_EKILLED, 3, WEFT_ETYPE};

    (void)arg;
    for (enum how how = RETURNS; how < WAYS; how++) {
        if (how == MISUSES && form == THREAD) {
            note("second first . "); /* that would abort */
            break;
        }
        weft_pid p = puppet(form);
        weft_ref ref = weft_monitor(p);
        order(p, defers_two, p);
        end_in_a_way(p, how);
        int reason = reason_of(ref);
        note("%s ", reason == reasons[how] ? "." : weft_strerror(reason));
    }
}

Test(defer, runs_the_last_first_at_each_kind_of_end)
{
    listen_to_stderr();
    in_each_form(ends_in_each_way,
                 "second first . second first . second first . second first . second first . "
                 "second first . ");
    what_was_said();
}

static void forgets(void *arg)
{
    (void)arg;
    weft_defer(notes, "never");
    weft_undefer(notes, "never");
}

static void only_defers(void *arg)
{
    (void)arg;
    weft_defer(notes, "at the end");
    note("before ");
}

static void runs_one(weft_fn *fn)
{
    weft_ref ref;

    weft_spawn(fn, NULL, .monitor = &ref);
    note("%d ", reason_of(ref));
}

static void ends_without_a_wait(void *arg)
{
    (void)arg;
    runs_one(forgets);
    runs_one(only_defers);
}

Test(defer, runs_when_the_function_returns)
{
    cr_expect_eq(weft_run(ends_without_a_wait, NULL), 0);
    cr_expect_str_eq(noted(), "0 before at the end 0 ");
}

/* ---- forgetting --------------------------------------------------------------------------------------------- */

static int undefers(weft_pid unused)
{
    static char a[] = "a", b[] = "b";

    (void)unused;
    note("%d ", weft_undefer(notes, a));
    weft_defer(notes, a);
    weft_defer(notes, b);
    weft_defer(notes, a);
    note("%d ", weft_undefer(notes, a)); /* the last such */
    note("%d ", weft_undefer(free, b));
    return 0;
}

static void forgets_one(void *arg)
{
    (void)arg;
    weft_pid p = puppet(form);
    weft_ref ref = weft_monitor(p);
    order(p, undefers, p);
    ends(p, 3);
    reason_of(ref);
}

Test(defer, undone_forgets_the_last_such) { in_each_form(forgets_one, "-1 0 -1 b a "); }

/* ---- what they may do ----------------------------------------------------------------------------------------- */

static void defers_more(void *arg)
{
    note("more ");
    weft_defer(notes, arg);
}

static void ends_inside(void *arg)
{
    note("%s ", (char *)arg);
    weft_end(77);
    note("never ");
}

static void ends_inside_with(void *arg)
{
    note("%s ", (char *)arg);
    weft_end_with(77, A, 1);
}

static void exits_itself(void *arg)
{
    (void)arg;
    weft_exit(weft_self(), 78);
    note("never ");
}

static void kills_itself(void *arg)
{
    (void)arg;
    weft_kill(weft_self());
    note("never ");
}

static int defers_strange_ones(weft_pid unused)
{
    (void)unused;
    weft_defer(notes, "last");
    weft_defer(defers_more, "inner");
    weft_defer(ends_inside, "end");
    weft_defer(ends_inside_with, "with");
    weft_defer(exits_itself, NULL);
    weft_defer(kills_itself, NULL);
    return 0;
}

static void does_strange_things(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        weft_pid p = puppet(form);
        weft_ref ref = weft_monitor(p);
        order(p, defers_strange_ones, p);
        if (i == 2)
            weft_kill(p);
        else
            ends(p, i ? 3 : 0);
        note("%d, ", reason_of(ref));
    }
}

Test(defer, that_ends_ends_only_itself_and_may_defer_more)
{
    in_each_form(does_strange_things, "with end more inner last 0, with end more inner last 3, "
                                      "with end more inner last -9, ");
}

static weft_pid told;

static void sends(void *arg)
{
    (void)arg;
    weft_send(told, GO);
}

static void says_who_it_is(void *arg)
{
    weft_pid self = weft_self();

    weft_send(told, A, arg == NULL);
    weft_send(self, GO); /* it is still there, and will not read it */
    note("%d ", weft_same(weft_whereis("somebody"), self));
    note("%d ", !weft_is_nobody(weft_spawn(sends, NULL)));
    weft_yield(); /* it does not */
}

static int defers_a_talker(weft_pid self)
{
    weft_register("somebody", self);
    return weft_defer(says_who_it_is, NULL);
}

static void still_talks(void *arg)
{
    weft_pid p = puppet(form);

    (void)arg;
    told = weft_self();
    weft_ref ref = weft_monitor(p);
    order(p, defers_a_talker, p);
    weft_exit(p, 3);
    weft_msg *m = weft_receive(A, WEFT_DOWN);
    bool      first = weft_is(m, A), from = weft_same(weft_sender(m), p);
    weft_receive(GO);
    reason_of(ref);
    if (!first || !from || !weft_is_nobody(weft_whereis("somebody")))
        note("wrong ");
}

Test(defer, may_send_spawn_and_look_who_it_is) { in_each_form(still_talks, "1 1 "); }

/* A wait in it is a mistake, which ends the function with one line; the next runs. */
static void receives(void *arg)
{
    (void)arg;
    weft_receive(GO);
    note("never ");
}
static void sleeps(void *arg)
{
    (void)arg;
    weft_sleep(weft_ms(1));
    note("never ");
}
static void asks(void *arg)
{
    weft_ask(weft_ms(1), *(weft_pid *)arg, GO);
    note("never ");
}
static void on_go(void *state, weft_msg *m) { (void)state, (void)m; }
static void reacts(void *arg)
{
    weft_react(on_go, arg, GO);
    note("never ");
}

static weft_fn *waiting; /* what the present test defers */

static int defers_a_wait(weft_pid self)
{
    static weft_pid someone;

    someone = self;
    weft_defer(notes, "next");
    return weft_defer(waiting, &someone);
}

static void waits_inside(void *arg)
{
    (void)arg;
    weft_pid p = puppet(form);
    weft_ref ref = weft_monitor(p);
    order(p, defers_a_wait, p);
    ends(p, 3);
    note("%d", reason_of(ref));
}

static void check_refused(weft_fn *wait, const char *message)
{
    waiting = wait;
    listen_to_stderr();
    in_each_form(waits_inside, "next 3");
    const char *said = what_was_said();
    cr_expect(strstr(said, message), "%s", said);
    cr_expect_eq(lines(said), 2 * FORMS, "%s", said);
}

Test(defer, refuses_to_receive)
{
    check_refused(receives, "weft_receive in a guard, a destroy or a deferred function");
}
Test(defer, refuses_to_sleep)
{
    check_refused(sleeps, "weft_sleep in a guard, a destroy or a deferred function");
}
Test(defer, refuses_to_ask) { check_refused(asks, "a deferred function"); }
Test(defer, refuses_to_react) { check_refused(reacts, "a deferred function"); }

/* ---- the end of the system ------------------------------------------------------------------------------------- */

static void takes_leave(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        weft_pid p[4] = {puppet(FIBER), puppet(REACTS), puppet(BECOMES), puppet(BOUNDED)};
        for (int k = 0; k < 4; k++)
            order(p[k], defers_two, p[k]);
    }
}

Test(defer, runs_when_the_system_ends)
{
    cr_expect_eq(weft_run(takes_leave, NULL, .workers = 2), 0);
    unsigned found = 0;
    for (const char *at = noted(); (at = strstr(at, "second first ")); at++)
        found++;
    cr_expect_eq(found, 8, "%s", noted());
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void *defers_and_returns(void *arg)
{
    weft_defer(notes, "first");
    weft_defer(notes, "second");
    return arg;
}

Test(defer, runs_at_the_end_of_a_thread)
{
    pthread_t thread;

    pthread_create(&thread, NULL, defers_and_returns, NULL);
    pthread_join(thread, NULL);
    cr_expect_str_eq(noted(), "second first ");
}

static void says(void *arg) { (void)!write(STDERR_FILENO, arg, strlen(arg)); }

static void main_ends(void)
{
    weft_defer(says, "first ");
    weft_defer(says, "second ");
    weft_end(0);
}

Test(defer, runs_when_the_main_thread_ends_itself)
{
    listen_to_stderr();
    int         status = in_child(main_ends);
    const char *said = what_was_said();

    cr_expect_eq(status, 0);
    cr_expect_eq(strncmp(said, "second first ", 13), 0, "%s", said);
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

static void fails_to_defer(void *arg)
{
    (void)arg;
    weft__memory_fail(1);
    int error = weft_defer(notes, "never");
    weft__memory_fail(0);
    note("%d ", error);
    weft_defer(notes, "last");
    memory_is_gone(0);
    error = weft_defer(notes, "never");
    memory_is_back();
    note("%d ", error);
}

Test(defer, without_memory_says_so)
{
    cr_expect_eq(weft_run(fails_to_defer, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "-4 -4 last ");
}

static int  count;
static void counts(void *arg) { count += *(int *)arg; }

static void defers_many(void *arg)
{
    static int one = 1;

    (void)arg;
    for (int i = 0; i < 100000; i++)
        weft_defer(counts, &one);
    for (int i = 0; i < 50000; i++)
        weft_undefer(counts, &one);
}

static void defers_many_times(void *arg)
{
    size_t before = 0;

    (void)arg;
    for (int i = 0; i < 20; i++) {
        runs_one(defers_many);
        forget_notes();
        if (i == 5)
            before = resident();
    }
    note("%d %d", count, resident() < before + (2 << 20));
}

Test(defer, of_a_hundred_thousand_gives_all_memory_back)
{
    cr_expect_eq(weft_run(defers_many_times, NULL), 0);
    cr_expect_str_eq(noted(), "1000000 1");
}

/* ---- destroy functions --------------------------------------------------------------------------------------------- */

static void defers_at_the_end(void *body)
{
    (void)body;
    note("destroyed ");
    weft_defer(notes, "late");
}
WEFT_MESSAGE_OWNING(THING, defers_at_the_end, int);

static void dies_with_a_thing(void *arg)
{
    (void)arg;
    weft_defer(notes, "first");
    weft_send(weft_self(), THING, 1);
}

static void leaves_things(void *arg)
{
    (void)arg;
    runs_one(dies_with_a_thing);
}

Test(defer, in_a_destroy_function_at_the_end_runs_too)
{
    cr_expect_eq(weft_run(leaves_things, NULL), 0);
    cr_expect_str_eq(noted(), "first destroyed late 0 ");
}

static void ends_in_destroy(void *body)
{
    (void)body;
    weft_end(1);
}
WEFT_MESSAGE_OWNING(BOMB, ends_in_destroy, int);

static void drops_a_bomb(void *arg)
{
    (void)arg;
    weft_drop(weft_make(BOMB, 1));
}

static void defers_a_bomb(void *arg)
{
    (void)arg;
    weft_defer(drops_a_bomb, NULL);
}

static void run_bomb(void) { weft_run(defers_a_bomb, NULL); }

Test(defer, that_destroys_what_ends_aborts_with_one_line)
{
    listen_to_stderr();
    int         status = in_child(run_bomb);
    const char *said = what_was_said();

    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%x", status);
    cr_expect(strstr(said, "weft_end in a destroy function"), "%s", said);
    cr_expect_eq(lines(said), 1);
}
