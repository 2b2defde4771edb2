/* test_failure.c - bad luck: memory, address space and threads run out, at any moment.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A scenario that touches everything is run in a child, with its first allocation failing; in another, with its
 * second; and so on until there is no allocation left to fail. Each time it must end by itself, with errors that
 * weft.h documents, with nothing leaked, and the same scenario must then succeed in the same process.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(failure, .fini = nothing_leaks, .timeout = 120);

WEFT_MESSAGE(A, int);
WEFT_MESSAGE(
    LARGE, struct large { char at[1000]; });
WEFT_SIGNAL(GO);
WEFT_SIGNAL(STOP);
WEFT_SIGNAL(DONE);

/* ---- What may happen ------------------------------------------------------------------------------------- */

static atomic_int failed; /* steps that gave an error that is documented */
static atomic_int wrong;  /* others */

static void step(int error)
{
    if (error == WEFT_EMEMORY || error == WEFT_ESTACK || error == WEFT_ESYSTEM || error == WEFT_EGONE)
        failed++;
    else if (error)
        wrong++;
}

static weft_pid step_spawn(weft_pid made)
{
    if (weft_is_nobody(made)) {
        int error = weft_spawn_error();
        step(error);
        wrong += error == 0 || error == WEFT_EGONE;
    }
    return made;
}

static void step_pointer(const void *p) { step(p ? 0 : WEFT_EMEMORY); }

/* ---- A scenario --------------------------------------------------------------------------------------------- */

static void on_timeout(void *state, weft_msg *m)
{
    weft_send(*(weft_pid *)state, DONE);
    if (m)
        weft_react_within(weft_ms(1), on_timeout, state, A, GO, STOP);
}

static void reactor(void *boss)
{
    step_pointer(weft_alloc(5000));
    weft_react(on_timeout, boss, A, GO);
    weft_react_within(weft_ms(5), on_timeout, boss, A, GO, STOP, LARGE);
}

static void waits(void *arg)
{
    (void)arg;
    weft_receive(GO);
}

static void receiver(void *boss)
{
    weft_msg *m = weft_receive_within(weft_ms(5), LARGE, A);

    step_pointer(m);
    weft_sleep(weft_ms(1));
    m = m ? weft_keep(m) : NULL;
    step_pointer(weft_receive_within(weft_ms(5), GO));
    if (m)
        step(weft_pass(*(weft_pid *)boss, m));
}

static void many_messages(weft_pid to)
{
    for (int i = 0; i < 1000; i++)
        step(weft_send(to, A, i));
}

static void first(void *arg)
{
    static const struct large body;
    weft_pid                  me = weft_self();

    (void)arg;
    weft_pid r = step_spawn(
        weft_spawn(receiver, &me, .name = "receiver", .copy_bytes = sizeof me, .stack_bytes = 200000));
    weft_pid s = step_spawn(weft_spawn(reactor, &me, .name = "reactor", .copy_bytes = sizeof me));
    for (int i = 0; i < 300; i++)
        step_spawn(weft_spawn(waits, NULL)); /* more than a magazine */
    step(weft_send_body(r, &weft_type_LARGE, &body));
    step(weft_send(s, GO));
    step(weft_send(r, GO));
    weft_drop(weft_make(LARGE));
    step_pointer(weft_receive_within(weft_ms(100), LARGE));
    many_messages(me);
    step_pointer(weft_receive_within(weft_ms(100), DONE));
}

static void *in_a_thread(void *unused)
{
    weft_pid me = weft_self();

    if (weft_is_nobody(me))
        return step(WEFT_EMEMORY), unused;
    step(weft_send(me, LARGE));
    step_pointer(weft_receive_within(weft_ms(0), LARGE));
    return unused;
}

/* True: all went well. */
static bool scenario(void)
{
    pthread_t thread;

    failed = wrong = 0;
    step(weft_run(first, NULL, .seed = 1));
    pthread_create(&thread, NULL, in_a_thread, NULL);
    pthread_join(thread, NULL);
    weft_counts now = counted();
    if (now.spawned != now.ended)
        note("%d spawned, %d ended; ", (int)now.spawned, (int)now.ended);
    if (wrong)
        note("%d undocumented errors; ", wrong);
    return failed == 0;
}

/* ---- Failing each allocation in turn ------------------------------------------------------------------------- */

static long which;

enum { SURVIVED = 10, NOTHING_FAILED, COMPLAINS };

static void fail_one(void)
{
    listen_to_stderr();
    weft__memory_fail(which);
    bool well = scenario();
    bool reached = weft__memory_fail(0) >= which;
    if (!reached && !well)
        note("%d steps failed for no reason; ", failed);
    if (!scenario())
        note("%d steps failed afterwards; ", failed);
    if (leaks())
        note("it leaks; ");
    const char *said = what_was_said();
    if (*noted()) {
        fprintf(stderr, "with allocation %ld failing: %s\n%s", which, noted(), said);
        _exit(COMPLAINS);
    }
    _exit(reached ? SURVIVED : NOTHING_FAILED);
}

Test(failure, of_any_allocation_is_survived)
{
    int status, bad = 0;

    for (which = 1; which < 10000; which++) {
        status = in_child(fail_one);
        if (WIFEXITED(status) && WEXITSTATUS(status) == NOTHING_FAILED)
            break;
        bool good = WIFEXITED(status) && WEXITSTATUS(status) == SURVIVED;
        cr_expect(good, "allocation %ld: wait status %x", which, status);
        bad += !good;
        cr_assert_lt(bad, 10, "and so on");
    }
    cr_expect_gt(which, 20, "there are more allocations than that");
}

/* ---- What a body owns ------------------------------------------------------------------------------------------ */

static atomic_int destroyed;

struct thing {
    void *memory;
    char  more[100];
};
static void destroy_thing(void *body)
{
    destroyed++;
    free(((struct thing *)body)->memory);
}
WEFT_MESSAGE_OWNING(THING, destroy_thing, struct thing);

Test(failure, of_a_send_destroys_what_the_body_owns)
{
    weft_pid me = weft_self();

    weft_send(me, THING, .memory = malloc(8)); /* so that only the body is missing memory */
    weft_drop(weft_receive(THING));
    cr_assert_eq(destroyed, 1);
    weft__memory_fail(1);
    int error = weft_send(me, THING, .memory = malloc(8));
    weft__memory_fail(0);
    cr_expect_eq(error, WEFT_EMEMORY);
    cr_expect_eq(destroyed, 2, "nothing leaked, even if the result is ignored");
}

Test(failure, of_make_gives_null)
{
    weft_drop(weft_make(LARGE));
    weft__memory_fail(1);
    weft_msg *m = weft_make(LARGE);
    weft__memory_fail(0);
    cr_expect_null(m);
}

/* ---- Stacks, address space, threads ------------------------------------------------------------------------------ */

static void does_nothing(void *arg) { (void)arg; }

Test(failure, of_the_address_space_does_not_start_a_system)
{
    struct rlimit before = leave_room(1 << 20); /* less than a thread's stack */
    int           error = weft_run(does_nothing, NULL);
    setrlimit(RLIMIT_AS, &before);

    cr_expect(error == WEFT_ESYSTEM || error == WEFT_EMEMORY, "%d", error);
    cr_expect_eq(weft_run(does_nothing, NULL), 0, "and later it does");
    cr_expect_eq(counted().spawned, counted().ended);
}

enum { MOST = 3000 };

/* Each asks for 64 MiB of address space. */
static void spawns_until_there_is_no_room(void *arg)
{
    static weft_pid made[MOST];
    int             n = 0;
    struct rlimit   before = leave_room((size_t)2 << 30);

    (void)arg;
    while (n < MOST && !weft_is_nobody(made[n] = weft_spawn(waits, NULL, .stack_bytes = 60 << 20)))
        n++;
    int error = weft_spawn_error();
    setrlimit(RLIMIT_AS, &before);
    note("%s %s", n > 1 && n < MOST ? "some" : "none or all",
         error == WEFT_ESTACK || error == WEFT_EMEMORY ? "refused" : "?");
    for (int i = 0; i < n; i++)
        if (weft_send(made[i], GO) != 0)
            note(" lost");
    for (int i = 0; i < n; i++)
        while (weft_send(made[i], GO) == 0)
            weft_yield();
    note(weft_is_nobody(weft_spawn(waits, NULL, .stack_bytes = 60 << 20)) ? " none again" : " again");
}

Test(failure, of_a_stack_is_an_error_at_spawn_and_leaves_the_others)
{
    cr_assert_eq(weft_run(spawns_until_there_is_no_room, NULL), 0);
    cr_expect_str_eq(noted(), "some refused again");
    cr_expect_eq(counted().spawned, counted().ended);
}
