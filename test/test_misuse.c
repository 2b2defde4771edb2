/* test_misuse.c - breaking a rule ends the actor with the error as its reason, and one line on stderr that names it.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(misuse, .fini = nothing_leaks, .timeout = 20);

WEFT_MESSAGE(A, int);
WEFT_MESSAGE(B, int);
WEFT_SIGNAL(GO);

/* Runs it; one line must have been said, with both texts in it. */
static int reason_of(weft_fn *first, const char *one, const char *other)
{
    listen_to_stderr();
    int         reason = weft_run(first, NULL);
    const char *said = what_was_said();

    cr_expect_eq(lines(said), 1, "%s", said);
    cr_expect(strncmp(said, "weft: ", 6) == 0 && strstr(said, one) && strstr(said, other), "%s", said);
    cr_expect_str_eq(noted(), "");
    cr_expect_eq(counted().spawned, counted().ended);
    return reason;
}

static void never_runs(void *state, weft_msg *m)
{
    (void)state, (void)m;
    note("never ");
}

/* ---- Bodies ------------------------------------------------------------------------------------------- */

static void gets_another_type(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    note("%d", *weft_get(weft_receive(A), B));
}

Test(misuse, of_the_body_of_another_type_is_a_type_error)
{
    cr_expect_eq(reason_of(gets_another_type, "B", "A"), WEFT_ETYPE);
}

static void edits_another_type(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    *weft_edit(weft_receive(A), B) = 1;
    note("wrote");
}

Test(misuse, of_the_body_of_another_type_for_writing_is_a_type_error)
{
    cr_expect_eq(reason_of(edits_another_type, "B", "A"), WEFT_ETYPE);
}

static void gets_from_nothing(void *arg)
{
    (void)arg;
    note("%d", *weft_get(weft_receive_within(weft_ms(0), A), A));
}

Test(misuse, of_the_body_of_no_message_is_a_type_error)
{
    cr_expect_eq(reason_of(gets_from_nothing, "A", "time"), WEFT_ETYPE);
}

static void uses_an_old_message(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_msg *m = weft_receive(A);
    weft_receive_within(weft_ms(0), A);
    note("%d", *weft_get(m, A));
}

Test(misuse, of_a_message_after_the_next_receive_ends_the_actor)
{
    cr_expect_lt(reason_of(uses_an_old_message, "weft_keep", ""), 0);
}

static void uses_a_dropped_message(void *arg)
{
    (void)arg;
    weft_msg *m = weft_make(A, 1);
    weft_drop(m);
    note("%s", weft_name(m));
}

Test(misuse, of_a_message_after_its_drop_ends_the_actor)
{
    cr_expect_lt(reason_of(uses_a_dropped_message, "", ""), 0);
}

static void drops_twice(void *arg)
{
    (void)arg;
    weft_msg *m = weft_make(A, 1);
    weft_drop(m);
    weft_drop(m);
    note("twice");
}

Test(misuse, of_a_message_by_dropping_it_twice_ends_the_actor)
{
    cr_expect_lt(reason_of(drops_twice, "", ""), 0);
}

static void uses_what_was_not_kept(void *state, weft_msg *m)
{
    weft_msg **old = state;

    if (weft_is(m, A)) {
        *old = m;
        weft_react(uses_what_was_not_kept, old, GO);
    } else {
        note("%d", *weft_get(*old, A));
    }
}

static void forgets_to_keep(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), GO);
    weft_react(uses_what_was_not_kept, weft_alloc(sizeof(weft_msg *)), A);
}

Test(misuse, of_a_message_after_its_handler_has_returned_ends_the_actor)
{
    cr_expect_lt(reason_of(forgets_to_keep, "weft_keep", ""), 0);
}

/* ---- Waits ---------------------------------------------------------------------------------------------- */

static void receives_no_types(void *arg)
{
    (void)arg;
    weft_receive_types(WEFT_FOREVER, (weft_type *const[]){NULL}, 0);
    note("received");
}

Test(misuse, of_receive_without_types_makes_no_sense)
{
    cr_expect_eq(reason_of(receives_no_types, "weft_receive", "type"), WEFT_EINVALID);
}

static void receives_a_null_list(void *arg)
{
    (void)arg;
    weft_receive_types(weft_ms(0), NULL, 3);
    note("received");
}

Test(misuse, of_receive_without_a_list_makes_no_sense)
{
    cr_expect_eq(reason_of(receives_a_null_list, "weft_receive", "type"), WEFT_EINVALID);
}

static void reacts_to_no_types(void *arg)
{
    (void)arg;
    weft_react_types(WEFT_FOREVER, never_runs, NULL, (weft_type *const[]){NULL}, 0);
    note("arranged");
}

Test(misuse, of_react_without_types_makes_no_sense)
{
    cr_expect_eq(reason_of(reacts_to_no_types, "weft_react", "type"), WEFT_EINVALID);
}

static void reacts_with_nothing(void *arg)
{
    (void)arg;
    weft_react(NULL, NULL, A);
    note("arranged");
}

Test(misuse, of_react_without_a_handler_makes_no_sense)
{
    cr_expect_eq(reason_of(reacts_with_nothing, "weft_react", "handler"), WEFT_EINVALID);
}

static void lends_its_frame(void *arg)
{
    int state = 0;

    (void)arg;
    weft_react(never_runs, opaque(&state), A);
    note("arranged");
}

Test(misuse, of_the_stack_for_state_makes_no_sense)
{
    cr_expect_eq(reason_of(lends_its_frame, "weft_react", "stack"), WEFT_EINVALID);
}

static void lends_its_frame_after_a_wait(void *arg)
{
    weft_sleep(weft_us(1));
    lends_its_frame(arg);
}

Test(misuse, of_a_stack_that_has_waited_for_state_makes_no_sense)
{
    cr_expect_eq(reason_of(lends_its_frame_after_a_wait, "weft_react", "stack"), WEFT_EINVALID);
}

static void lends_the_frame_of_a_handler(void *state, weft_msg *m)
{
    (void)m;
    lends_its_frame(state);
}

static void reacts_and_lends(void *arg)
{
    (void)arg;
    weft_send(weft_self(), GO);
    weft_react(lends_the_frame_of_a_handler, NULL, GO);
}

Test(misuse, of_a_handlers_stack_for_state_makes_no_sense)
{
    cr_expect_eq(reason_of(reacts_and_lends, "weft_react", "stack"), WEFT_EINVALID);
}

/* ---- Who did it ------------------------------------------------------------------------------------------ */

static void spawns_a_culprit(void *arg)
{
    char     name[] = "culprit";
    weft_pid p = weft_spawn(gets_another_type, NULL, .name = name);

    (void)arg;
    memset(name, 'x', sizeof name - 1);
    while (weft_send(p, GO) == 0)
        weft_yield();
}

Test(misuse, names_the_actor_and_spares_the_others)
{
    cr_expect_eq(reason_of(spawns_a_culprit, "culprit", "B"), 0);
}

static void in_a_thread(void)
{
    weft_send(weft_self(), A, 1);
    note("%d", *weft_get(weft_receive(A), B));
}

static void reacts_in_a_thread(void)
{
    weft_self();
    weft_react(never_runs, NULL, A);
}

static void drops_twice_in_a_thread(void) { drops_twice(NULL); }

static bool aborts(void (*run)(void))
{
    listen_to_stderr();
    int         status = in_child(run);
    const char *said = what_was_said();

    cr_expect_eq(lines(said), 1, "%s", said);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

Test(misuse, in_a_thread_of_the_programs_aborts)
{
    cr_expect(aborts(in_a_thread));
    cr_expect(aborts(reacts_in_a_thread));
    cr_expect(aborts(drops_twice_in_a_thread));
}
