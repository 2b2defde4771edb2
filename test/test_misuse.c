/* test_misuse.c - breaking a rule ends the actor with the error as its reason, and one line on stderr that names it.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/case.h>

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

static weft_type **a_list;

static void receives_a_list_with_a_hole(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_receive_types(weft_ms(0), a_list, 2);
    note("received");
}

static void waits_for_a_list_with_a_hole(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_receive_types(WEFT_FOREVER, a_list, 2);
    note("received");
}

static void receives_no_type(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_receive_type(NULL);
    note("received");
}

static void reacts_to_a_list_with_a_hole(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_react_types(WEFT_FOREVER, never_runs, NULL, a_list, 2);
    note("arranged");
}

static void reacts_to_no_type(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_react_type(never_runs, NULL, NULL);
    note("arranged");
}

static int reason_with(weft_type **list, weft_fn *first, const char *call)
{
    a_list = list;
    return reason_of(first, call, "type");
}

Test(misuse, of_a_list_that_lacks_a_type_makes_no_sense)
{
    static weft_type *behind[] = {NULL, &weft_type_A}, *before[] = {&weft_type_A, NULL};

    cr_expect_eq(reason_with(behind, receives_a_list_with_a_hole, "weft_receive"), WEFT_EINVALID);
    cr_expect_eq(reason_with(before, receives_a_list_with_a_hole, "weft_receive"), WEFT_EINVALID);
    cr_expect_eq(reason_with(behind, waits_for_a_list_with_a_hole, "weft_receive"), WEFT_EINVALID);
    cr_expect_eq(reason_with(before, waits_for_a_list_with_a_hole, "weft_receive"), WEFT_EINVALID);
    cr_expect_eq(reason_with(behind, reacts_to_a_list_with_a_hole, "weft_react"), WEFT_EINVALID);
    cr_expect_eq(reason_with(before, reacts_to_a_list_with_a_hole, "weft_react"), WEFT_EINVALID);
    cr_expect_eq(reason_of(receives_no_type, "weft_receive", "type"), WEFT_EINVALID);
    cr_expect_eq(reason_of(reacts_to_no_type, "weft_react", "type"), WEFT_EINVALID);
}

/* ---- Cases ---------------------------------------------------------------------------------------------- */

static const weft_cases *wrong;

static void receives_by_it(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_receive_case(weft_ms(0), wrong);
    note("received");
}

static void reacts_by_it(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_react_case(wrong, NULL);
    note("arranged");
}

static void reacts_by_it_in_time(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_react_case_within(weft_ms(0), never_runs, wrong, NULL);
    note("arranged");
}

static void becomes_it(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_become(wrong, NULL);
    note("became");
}

static void becomes_it_above(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_become_keep(wrong, NULL);
    note("became");
}

static void makes_no_sense(const weft_cases *set, const char *text)
{
    wrong = set;
    cr_expect_eq(reason_of(receives_by_it, "weft_receive_case", text), WEFT_EINVALID);
    cr_expect_eq(reason_of(reacts_by_it, "weft_react_case", text), WEFT_EINVALID);
    cr_expect_eq(reason_of(reacts_by_it_in_time, "weft_react_case", text), WEFT_EINVALID);
    cr_expect_eq(reason_of(becomes_it, "weft_become", text), WEFT_EINVALID);
    cr_expect_eq(reason_of(becomes_it_above, "weft_become", text), WEFT_EINVALID);
}

Test(misuse, of_a_case_without_a_type_makes_no_sense)
{
    static const weft_case  list[] = {WEFT_ON(B, never_runs), {.run = never_runs}};
    static const weft_cases set = WEFT_CASES(list, NULL);

    makes_no_sense(&set, "no type");
}

static bool projects(const weft_msg *m, const void *with, void *value)
{
    (void)m, (void)with, (void)value;
    return true;
}

Test(misuse, of_a_case_that_converts_to_nothing_makes_no_sense)
{
    static const weft_case  list[] = {{.type = &weft_type_A, .run = never_runs, .project = projects}};
    static const weft_cases set = WEFT_CASES(list, NULL);

    makes_no_sense(&set, "A converts to no type");
}

Test(misuse, of_a_case_that_compares_a_field_with_nothing_makes_no_sense)
{
    static const weft_case  list[] = {{.type = &weft_type_A, .run = never_runs, .bytes = sizeof(int)}};
    static const weft_cases inner = WEFT_CASES(list, NULL);
    static const weft_case  outer[] = {WEFT_ON(B, never_runs)};
    static const weft_cases set = WEFT_CASES(outer, &inner);

    makes_no_sense(&inner, "A compares a field with nothing");
    makes_no_sense(&set, "A compares a field with nothing");
}

Test(misuse, of_a_set_without_its_list_makes_no_sense)
{
    static const weft_cases set = {NULL, 2, NULL};

    makes_no_sense(&set, "list");
}

Test(misuse, of_sets_that_go_in_a_circle_makes_no_sense)
{
    static const weft_case list[] = {WEFT_ON(B, never_runs)};
    static weft_cases      one = WEFT_CASES(list, &one), two = WEFT_CASES(list, NULL),
                      three = WEFT_CASES(list, &two);

    two.or_else = &three;
    makes_no_sense(&one, "circle");
    makes_no_sense(&three, "circle");
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

/* ---- In destroy functions ------------------------------------------------------------------------------- */

static void (*in_destroy)(void);

static void destroy_and_do_it(void *body)
{
    (void)body;
    in_destroy();
    note("went on ");
}
WEFT_MESSAGE_OWNING(OWNER, destroy_and_do_it, int);

static void does_nothing(void *state) { (void)state; }
static bool is_never(void *state) { return !state; }

static const weft_case  b_list[] = {WEFT_ON(B, never_runs)};
static const weft_cases b_set = WEFT_CASES(b_list, NULL);

static void reacts(void) { weft_react(never_runs, NULL, A); }
static void reacts_in_time(void) { weft_react_within(weft_ms(1), never_runs, NULL, A, B); }
static void reacts_by_cases(void) { weft_react_case(&b_set, NULL); }
static void thens(void) { weft_then(weft_request(weft_self(), B, 1), WEFT_FOREVER, never_runs, NULL); }
static void becomes(void) { weft_become(&b_set, NULL); }
static void becomes_above(void) { weft_become_keep(&b_set, NULL); }
static void goes_on_then(void) { weft_and_then(does_nothing, does_nothing, NULL); }
static void loops(void) { weft_loop(does_nothing, NULL); }
static void loops_while(void) { weft_loop_while(is_never, does_nothing, NULL); }

/* If it is not refused it may wait for ever. */
enum { PATIENCE = 10 };

static void drops_the_owner(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), B, 1);
    weft_drop(weft_make(OWNER, 1));
}

static void sends_the_owner_to_nobody(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), B, 1);
    weft_send(WEFT_NOBODY, OWNER, 1);
}

static void handles_b(void *state, weft_msg *m)
{
    (void)state, (void)m;
    weft_drop(weft_make(OWNER, 1));
}

static void drops_the_owner_in_a_handler(void *arg)
{
    (void)arg;
    weft_send(weft_self(), A, 1);
    weft_send(weft_self(), B, 1);
    weft_react(handles_b, NULL, B);
}

/* Nobody runs when it is destroyed. */
static void sends_the_owner_too_late(void *arg)
{
    weft_pid p = weft_spawn(does_nothing, NULL);

    (void)arg;
    while (weft_send(p, GO) == 0)
        weft_yield();
    weft_send_after(weft_ms(1), p, OWNER, 1);
    weft_sleep(weft_ms(2));
}

static weft_fn *destroys;

static void runs_it(void)
{
    alarm(PATIENCE);
    weft_run(destroys, NULL, .seed = 1);
}

/* There it ends the process, as who destroys must come back. */
static void refused_while_destroying(void (*what)(void), const char *call)
{
    static weft_fn *const where[] = {drops_the_owner, sends_the_owner_to_nobody, drops_the_owner_in_a_handler,
                                     sends_the_owner_too_late};

    in_destroy = what;
    for (int i = 0; i < 4; i++) {
        destroys = where[i];
        listen_to_stderr();
        int         status = in_child(runs_it);
        const char *said = what_was_said();
        cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%s, place %d", call, i);
        cr_expect_eq(lines(said), 1, "%s", said);
        cr_expect(strstr(said, call), "%s", said);
    }
}

Test(misuse, of_react_in_a_destroy_function_aborts)
{
    refused_while_destroying(reacts, "weft_react");
    refused_while_destroying(reacts_in_time, "weft_react");
    refused_while_destroying(reacts_by_cases, "weft_react_case");
    refused_while_destroying(thens, "weft_then");
}

Test(misuse, of_become_in_a_destroy_function_aborts)
{
    refused_while_destroying(becomes, "weft_become");
    refused_while_destroying(becomes_above, "weft_become");
}

Test(misuse, of_sequences_in_a_destroy_function_aborts)
{
    refused_while_destroying(goes_on_then, "weft_and_then");
    refused_while_destroying(loops, "weft_loop");
    refused_while_destroying(loops_while, "weft_loop");
}

/* ---- The line ------------------------------------------------------------------------------------------- */

static size_t little = 5000;

static __attribute__((noinline)) void breaks_a_rule_on_a_full_stack(void *arg)
{
    void *low, *high;
    char  here;

    weft_stack_bounds(&low, &high);
    opaque(__builtin_alloca((size_t)(&here - (char *)low) - little));
    receives_no_types(arg);
}

Test(misuse, needs_little_of_the_stack_to_say_so)
{
#ifdef __SANITIZE_ADDRESS__
    little *= 4;
#endif
    if (strcmp(weft_switch_method(), "libco") == 0)
        little += 8192; /* it has a record at the low end */
    cr_expect_eq(reason_of(breaks_a_rule_on_a_full_stack, "weft_receive", ""), WEFT_EINVALID);
}

static void spawns_one_with_a_wild_name(void *arg)
{
    weft_ref m;

    (void)arg;
    weft_spawn(receives_no_types, NULL, .name = "a\nweft: \x1b[2Jb", .monitor = &m);
    weft_receive(WEFT_DOWN);
}

Test(misuse, says_names_as_one_line_that_moves_no_cursor)
{
    cr_expect_eq(reason_of(spawns_one_with_a_wild_name, "actor \"a?weft: ?[2Jb\": ", ""), 0);
}
