/* test_supervisor.c - what weft/supervisor.h promises: the rules of Erlang/OTP, one a test.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A rule is run as the first actor of a system with a seed, so that time is virtual: to sleep there is to wait until
 * everybody else waits. Children note "+a" when they start and "-a" when they end, however they do.
 */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/supervisor.h>

#include "base/memory.h"
#include "help.h"
#include "runtime/children.h"
#include "runtime/parts.h"
#include "sched/clock.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(supervisor, .fini = nothing_leaks, .timeout = 120);

WEFT_MESSAGE(CRASH, int);
WEFT_MESSAGE(NUMBER, int);
WEFT_SIGNAL(GO);
WEFT_SIGNAL(JUNK);

/* ---- Children ------------------------------------------------------------------------------------------- */

static bool quiet; /* the rule has run; what ends with the system says nothing */

static void says_goodbye(void *name)
{
    if (!quiet)
        note("-%s ", (const char *)name);
}

static void greets(void *name)
{
    note("+%s ", (const char *)name);
    weft_defer(says_goodbye, name);
}

/* Ends when it is told to, with that reason. */
static void worker(void *name)
{
    greets(name);
    weft_end(*weft_get(weft_receive(CRASH), CRASH));
}

/* Takes a second to stop when it is told to. */
static void slow(void *name)
{
    greets(name);
    weft_trap(true);
    weft_receive(WEFT_EXIT);
    note("%s:tidies ", (const char *)name);
    weft_sleep(weft_sec(1));
}

/* Says nothing before it ends. */
static void silent(void *name)
{
    weft_defer(says_goodbye, name);
    weft_trap(true);
    weft_receive(WEFT_EXIT);
}

/* Does not stop when it is told to. */
static void stubborn(void *name)
{
    greets(name);
    weft_trap(true);
    weft_receive(CRASH);
}

static void ends_at_once(void *name)
{
    note("+%s ", (const char *)name);
    weft_end(3);
}

static weft_child kid(const char *name)
{
    return (weft_child){.id = name, .fn = worker, .arg = (void *)name};
}

static weft_child with(weft_child child, enum weft_restart restart)
{
    child.restart = restart;
    return child;
}

static weft_child by(weft_child child, weft_fn *fn, weft_span shutdown)
{
    child.fn = fn;
    child.shutdown = shutdown;
    return child;
}

static weft_child called(weft_child child, const char *name)
{
    child.options.name = name;
    return child;
}

/* ---- What a rule does ------------------------------------------------------------------------------------ */

static void rest(void) { weft_sleep(weft_us(1)); }

#define CHILDREN(...)                              \
    .children = (const weft_child[]){__VA_ARGS__}, \
    .count = sizeof((const weft_child[]){__VA_ARGS__}) / sizeof(weft_child)

/* As it says, but that it does not give up; and everybody has begun. */
static weft_pid supervise(const weft_supervisor *given)
{
    weft_supervisor how = *given;

    if (!how.max_restarts)
        how.max_restarts = 1000;
    weft_pid s = weft_supervise(&how);
    if (weft_is_nobody(s))
        note("error %d ", weft_spawn_error());
    rest();
    return s;
}
#define SUPERVISE(...) supervise(&(weft_supervisor){__VA_ARGS__})

static weft_child_view view_of(weft_pid s, const char *id)
{
    weft_child_view views[20];
    long            n = weft_children(s, views, 20);

    for (long i = 0; i < n; i++)
        if (strcmp(views[i].id, id) == 0)
            return views[i];
    return (weft_child_view){.restarts = 999};
}

static weft_pid who(weft_pid s, const char *id) { return view_of(s, id).who; }

static void crash(weft_pid s, const char *id, int reason)
{
    note("%s! ", id);
    weft_send(who(s, id), CRASH, reason);
    rest();
}

/* The children as they are: a (runs), a~ (waits for its restart), a. (does not run). */
static void note_children(weft_pid s)
{
    weft_child_view views[20];
    long            n = weft_children(s, views, 20);

    note("(");
    for (long i = 0; i < n; i++)
        note("%s%s%s", i ? " " : "", views[i].id,
             views[i].restarting            ? "~"
             : weft_is_nobody(views[i].who) ? "."
                                            : "");
    note(") ");
}

/* Ends it, and notes its reason. */
static void end(weft_pid s)
{
    weft_monitor(s);
    weft_exit(s, WEFT_ESTOP);
    note("= %d", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
}

static void note_end(weft_pid s)
{
    weft_monitor(s);
    weft_msg *m = weft_receive_within(weft_us(1), WEFT_DOWN);
    note("= %d", m ? weft_get(m, WEFT_DOWN)->reason : 99);
}

static int64_t started_at;

static void start_clock(void) { started_at = weft__clock_now(); }

/* In tenths of a second, since then. */
static void note_time(void) { note("[%d] ", (int)((weft__clock_now() - started_at) / 100000000)); }

static void run_rule(void *rule)
{
    ((void (*)(void))rule)();
    quiet = true;
}

/* Who was started runs in any order: neighbours that begin are sorted. */
static char *in_order(const char *notes)
{
    char *sorted = strdup(notes);

    for (size_t i = 0; sorted[i]; i++)
        for (char *s = sorted; *s == '+' || (s = strstr(s, " +")); s++) {
            s += *s == ' ';
            if (s[0] == '+' && s[2] == ' ' && s[3] == '+' && s[1] > s[4]) {
                char first = s[1];
                s[1] = s[4];
                s[4] = first;
            }
        }
    return sorted;
}

static void run(void (*rule)(void), const char *want)
{
    weft_counts before = counted();

    cr_assert_eq(weft_run(run_rule, (void *)rule, .seed = 7), 0);
    char *sorted = in_order(noted());
    cr_expect_str_eq(sorted, want);
    free(sorted);
    cr_expect_eq(counted().spawned - before.spawned, counted().ended - before.ended);
    cr_expect_eq(weft__supervisor_roots(NULL, 0), 0);
}

#define RULE(sentence, want)                            \
    static void sentence(void);                         \
    Test(supervisor, sentence) { run(sentence, want); } \
    static void sentence(void)

/* ---- Starting -------------------------------------------------------------------------------------------- */

RULE(starts_its_children_in_order_and_stops_them_in_reverse, "+a +b +c -c -b -a = -16")
{
    end(SUPERVISE(CHILDREN(kid("a"), kid("b"), kid("c"))));
}

RULE(is_there_when_all_its_children_are, "+a +b (a b) 0 ")
{
    weft_child two[] = {kid("a"), kid("b")};
    weft_pid   s = weft_supervise(&(weft_supervisor){.children = two, .count = 2});

    note_children(s);
    note("%d ", weft_spawn_error());
    rest();
}

RULE(needs_no_children, "() = -16")
{
    weft_pid s = SUPERVISE(.name = "idle");

    note_children(s);
    end(s);
}

RULE(that_can_not_start_a_child_stops_those_before_it_in_reverse, "-b -a error -5 1")
{
    weft_register("taken", weft_self());
    SUPERVISE(CHILDREN(by(kid("a"), silent, weft_sec(9)), by(kid("b"), silent, weft_sec(9)),
                       called(kid("c"), "taken"), kid("d")));
    note("%d", weft_is_nobody(weft_whereis("d")));
}

RULE(that_can_not_start_does_not_end_who_it_is_linked_to, "error -5 lives")
{
    weft_register("taken", weft_self());
    SUPERVISE(.link = true, CHILDREN(called(kid("a"), "taken")));
    rest();
    note("lives");
}

RULE(that_can_not_start_tells_a_caller_that_traps_by_the_result_alone, "error -5 nothing")
{
    weft_trap(true);
    weft_register("taken", weft_self());
    SUPERVISE(.link = true, CHILDREN(called(kid("a"), "taken")));
    note(weft_receive_within(weft_ms(1), WEFT_EXIT) ? "an exit" : "nothing");
}

RULE(in_a_tree_has_its_children_before_the_next_sibling_starts, "+a +b +x +y -b -y -x -a = -16")
{
    weft_child      inner[] = {kid("x"), kid("y")};
    weft_supervisor in = {.children = inner, .count = 2};

    end(SUPERVISE(CHILDREN(kid("a"), {.id = "in", .supervisor = &in}, kid("b"))));
}

RULE(in_a_tree_that_can_not_start_fails_its_parent, "-a error -5 ")
{
    weft_child      inner[] = {called(kid("x"), "taken")};
    weft_supervisor in = {.children = inner, .count = 1};

    weft_register("taken", weft_self());
    SUPERVISE(CHILDREN(by(kid("a"), silent, weft_sec(9)), {.id = "in", .supervisor = &in}));
}

RULE(with_many_children_has_each_id_once, "0 -8 0 -8 -4 0 ")
{
    enum { MANY = 1000 };
    static char       ids[MANY][8];
    static weft_child many[MANY];

    for (int i = 0; i < MANY; i++) {
        snprintf(ids[i], sizeof ids[i], "c%d", i * 7919 % MANY);
        many[i] = (weft_child){.id = ids[i], .fn = silent, .arg = "a"};
    }
    for (int count = 32; count <= MANY; count += MANY - 32) {
        weft_supervisor how = {.children = many, .count = (size_t)count};
        note("%d ", weft__spec_check(&how));
        many[count - 1].id = many[3].id;
        note("%d ", weft__spec_check(&how));
        many[count - 1].id = NULL;
    }
    many[7].id = NULL; /* some may have none */
    weft_supervisor how = {.children = many, .count = MANY};
    weft__memory_fail(1);
    note("%d ", weft__spec_check(&how));
    weft__memory_fail(0);
    note("%d ", weft__spec_check(&how));
}

RULE(is_found_by_its_name, "1 0 ")
{
    weft_pid s = SUPERVISE(.name = "boss");

    note("%d ", weft_same(s, weft_whereis("boss")));
    weft_exit(s, WEFT_ESTOP);
    rest();
    note("%d ", weft_same(s, weft_whereis("boss")));
}

RULE(whose_name_is_taken_does_not_start, "error -5 ")
{
    weft_register("boss", weft_self());
    SUPERVISE(.name = "boss", CHILDREN(kid("a")));
}

RULE(that_makes_no_sense_is_refused, "-8 -8 -8 -8 -8 -8 -8 -8 -8 -8 ")
{
    weft_supervisor itself = {.count = 1};
    weft_child      child = {.supervisor = &itself}, two[] = {kid("a"), kid("a")}, none[1] = {{0}};
    weft_child      both[] = {{.fn = worker, .supervisor = &(weft_supervisor){0}}};
    weft_child      odd[] = {with(kid("a"), (enum weft_restart)7)};
    weft_child      copies[] = {{.fn = worker, .options.copy_bytes = 4}};
    itself.children = &child;
    weft_supervisor bad[] = {itself,
                             {.children = two, .count = 2},
                             {.children = none, .count = 1},
                             {.children = both, .count = 1},
                             {.children = odd, .count = 1},
                             {.children = copies, .count = 1},
                             {.strategy = (enum weft_strategy)9},
                             {.strategy = WEFT_SIMPLE_DYNAMIC},
                             {.count = 1},
                             {.max_restarts = -2}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        note("%d ", weft_is_nobody(weft_supervise(&bad[i])) ? weft_spawn_error() : 0);
}

/* Its argument is a copy, which it spoils. */
static void spoils(void *text)
{
    note("%s ", (char *)text);
    strcpy(text, "no");
    weft_end(*weft_get(weft_receive(CRASH), CRASH));
}

RULE(copies_its_specification_and_gives_a_fresh_copy_at_each_start, "hi x! hi x! hi ")
{
    char        id[] = "x", text[] = "hi";
    weft_child *child = malloc(sizeof *child);

    *child = (weft_child){.id = id, .fn = spoils, .arg = text, .options.copy_bytes = sizeof text};
    weft_pid s = SUPERVISE(.children = child, .count = 1);
    free(child);
    id[0] = 'y';
    strcpy(text, "??");
    crash(s, "x", 1);
    crash(s, "x", 1);
}

/* ---- Which children are started again -------------------------------------------------------------------- */

static void fails_with_all(enum weft_restart restart)
{
    static const int reasons[] = {0, WEFT_ESTOP, 5, WEFT_EKILLED};

    for (int i = 0; i < 4; i++) {
        weft_pid s = SUPERVISE(CHILDREN(with(kid("a"), restart)));
        crash(s, "a", reasons[i]);
        note_children(s);
    }
    note("|");
}

RULE(starts_a_permanent_child_again_however_it_ended,
     "+a a! -a +a (a) +a a! -a +a (a) +a a! -a +a (a) +a a! -a +a (a) |")
{
    fails_with_all(WEFT_PERMANENT);
}

RULE(starts_a_transient_child_again_unless_it_ended_normally_or_was_told_to_stop,
     "+a a! -a (a.) +a a! -a (a.) +a a! -a +a (a) +a a! -a +a (a) |")
{
    fails_with_all(WEFT_TRANSIENT);
}

RULE(never_starts_a_temporary_child_again_and_forgets_it, "+a a! -a () +a a! -a () +a a! -a () +a a! -a () |")
{
    fails_with_all(WEFT_TEMPORARY);
}

RULE(starts_a_child_again_that_was_killed, "+a -a +a ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a")));

    weft_kill(who(s, "a"));
    rest();
}

RULE(counts_how_often_a_child_was_started_again, "+a 0 a! -a +a 1 a! -a +a 2 ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a")));

    note("%u ", view_of(s, "a").restarts);
    for (int i = 0; i < 2; i++) {
        crash(s, "a", 1);
        note("%u ", view_of(s, "a").restarts);
    }
}

/* ---- Which others are --------------------------------------------------------------------------------------- */

RULE(one_for_one_starts_only_that_child_again, "+a +b +c b! -b +b (a b c) ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a"), kid("b"), kid("c")));

    crash(s, "b", 1);
    note_children(s);
}

RULE(one_for_all_stops_the_others_in_reverse_and_starts_all_in_order,
     "+a +b +c +d b! -b -d -c -a +a +b +c +d (a b c d) ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_ONE_FOR_ALL, CHILDREN(kid("a"), kid("b"), kid("c"), kid("d")));

    crash(s, "b", 1);
    note_children(s);
}

RULE(rest_for_one_stops_those_after_it_in_reverse_and_starts_them_in_order,
     "+a +b +c +d b! -b -d -c +b +c +d (a b c d) ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_REST_FOR_ONE, CHILDREN(kid("a"), kid("b"), kid("c"), kid("d")));

    crash(s, "b", 1);
    note_children(s);
}

RULE(rest_for_one_leaves_all_alone_when_the_last_fails, "+a +b b! -b +b ")
{
    crash(SUPERVISE(.strategy = WEFT_REST_FOR_ONE, CHILDREN(kid("a"), kid("b"))), "b", 1);
}

RULE(a_temporary_child_that_is_stopped_with_others_is_forgotten, "+a +b +c a! -a -c -b +a +c (a c) ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_ONE_FOR_ALL,
                           CHILDREN(kid("a"), with(kid("b"), WEFT_TEMPORARY), kid("c")));

    crash(s, "a", 1);
    note_children(s);
}

RULE(a_temporary_child_that_fails_takes_no_others_with_it, "+a +b +c b! -b (a c) ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_ONE_FOR_ALL,
                           CHILDREN(kid("a"), with(kid("b"), WEFT_TEMPORARY), kid("c")));

    crash(s, "b", 1);
    note_children(s);
}

RULE(a_transient_child_that_ends_normally_takes_no_others_with_it, "+a +b b! -b (a b.) ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_ONE_FOR_ALL, CHILDREN(kid("a"), with(kid("b"), WEFT_TRANSIENT)));

    crash(s, "b", 0);
    note_children(s);
}

RULE(a_transient_child_that_ended_normally_starts_with_the_others, "+a +b b! -b a! -a +a +b (a b) ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_ONE_FOR_ALL, CHILDREN(kid("a"), with(kid("b"), WEFT_TRANSIENT)));

    crash(s, "b", 0);
    crash(s, "a", 1);
    note_children(s);
}

RULE(a_child_that_was_stopped_by_a_call_starts_with_the_others, "+a +b -b a! -a +a +b (a b) ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_ONE_FOR_ALL, CHILDREN(kid("a"), kid("b")));

    weft_stop_child(s, "b", WEFT_NOBODY);
    crash(s, "a", 1);
    note_children(s);
}

RULE(two_that_fail_at_once_are_one_restart_of_all, "(a b c) 1 1 ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_ONE_FOR_ALL, .max_restarts = 1,
                           CHILDREN(kid("a"), kid("b"), kid("c")));
    weft_pid a = who(s, "a"), c = who(s, "c");

    weft_send(a, CRASH, 1);
    weft_send(c, CRASH, 1);
    rest();
    forget_notes();
    note_children(s);
    note("%u %u ", view_of(s, "a").restarts, view_of(s, "b").restarts);
}

/* ---- How often --------------------------------------------------------------------------------------------- */

RULE(that_restarts_too_often_stops_all_in_reverse_and_ends_with_estop,
     "+a +b +c b! -b +b b! -b +b b! -b -c -a = -1")
{
    weft_pid s = SUPERVISE(.max_restarts = 2, CHILDREN(kid("a"), kid("b"), kid("c")));

    for (int i = 0; i < 3; i++)
        crash(s, "b", 1);
    note_end(s);
}

RULE(that_gives_up_ends_with_estop, "+a a! -a -16")
{
    weft_trap(true);
    weft_pid s = SUPERVISE(.max_restarts = -1, .link = true, CHILDREN(kid("a")));
    crash(s, "a", 1);
    note("%d", weft_get(weft_receive(WEFT_EXIT), WEFT_EXIT)->reason);
}

static void note_what_came_along(void)
{
    weft_msg                  *m = weft_receive(WEFT_EXIT, WEFT_DOWN);
    const weft_msg            *along = weft_carried(m);
    const struct weft_gave_up *g = along && weft_is(along, WEFT_GAVE_UP) ? weft_get(along, WEFT_GAVE_UP)
                                                                         : NULL;

    if (g)
        note("%s %d %u %d ", g->id, g->reason, g->restarts,
             weft_is(m, WEFT_DOWN) && weft_same(g->supervisor, weft_get(m, WEFT_DOWN)->who));
    else
        note("nothing ");
}

RULE(that_gives_up_says_which_child_it_was_and_why, "+a +b a! -a +a b! -b +b b! -b -a b 3 2 1 ")
{
    weft_pid s = SUPERVISE(.max_restarts = 2, CHILDREN(kid("a"), kid("b")));

    weft_monitor(s);
    crash(s, "a", 4);
    crash(s, "b", 5);
    crash(s, "b", 3);
    note_what_came_along();
}

RULE(that_gives_up_tells_it_by_a_link_too, "+a a! -a a 1 0 0 ")
{
    weft_trap(true);
    crash(SUPERVISE(.link = true, .max_restarts = -1, CHILDREN(kid("a"))), "a", 1);
    note_what_came_along();
}

RULE(that_can_not_start_a_child_again_gives_up_for_that_reason, "+a a! -a a -5 3 1 ")
{
    weft_pid s = SUPERVISE(.max_restarts = 3, CHILDREN(called(kid("a"), "mine")));

    weft_monitor(s);
    weft_unregister("mine");
    weft_register("mine", weft_self());
    crash(s, "a", 1);
    note_what_came_along();
}

RULE(that_is_stopped_has_nothing_to_say, "+a -a nothing ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a")));

    weft_monitor(s);
    weft_exit(s, WEFT_ESTOP);
    note_what_came_along();
}

RULE(that_gives_up_without_memory_ends_all_the_same, "+a a! -a +a a! -a 1 nothing ")
{
    weft_pid s = SUPERVISE(.max_restarts = 1, CHILDREN(kid("a")));

    crash(s, "a", 1);
    weft_pid a = who(s, "a");
    weft_monitor(s);
    note("a! ");
    weft__memory_fail(1);
    weft_send(a, CRASH, 1);
    rest();
    note("%ld ", weft__memory_fail(0));
    note_what_came_along();
}

static void two_give_up(void)
{
    static const char *const long_name =
        "a child with a name that has sixty-four bytes or some more, and is cut";
    weft_child one = by(kid(long_name), ends_at_once, weft_ms(0)), two = {.fn = ends_at_once};

    note_end(
        SUPERVISE(.name = "boss", .max_restarts = 1, .period = weft_ms(1500), .children = &one, .count = 1));
    two.arg = "b";
    weft_pid s = SUPERVISE(.max_restarts = 2, .children = &two, .count = 1);
    note_end(s);
}

Test(supervisor, that_gives_up_writes_a_line)
{
    listen_to_stderr();
    cr_expect_eq(weft_run(run_rule, (void *)two_give_up, .seed = 7), 0);
    const char *said = what_was_said(), *second = strchr(said, '\n');
    const char *want =
        "weft: supervisor \"boss\" gives up: child \"a child with a name that has sixty-four bytes or "
        "some more, and\" ended with 3 (a reason of the program's own), 1 restart within 1500 ms\n";
    cr_expect_eq(strncmp(said, want, strlen(want)), 0, "%s", said);
    cr_assert_not_null(second);
    cr_expect(strstr(second, " ended with 3 (a reason of the program's own), 2 restarts within 5 s\n"), "%s",
              said);
    cr_expect_eq(lines(said), 2);
}

RULE(tells_for_what_reason_a_child_ended_last, "+a +b a! -a +a 3 0 b! -b +b 3 4 ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a"), kid("b")));

    crash(s, "a", 3);
    note("%d %d ", view_of(s, "a").reason, view_of(s, "b").reason);
    crash(s, "b", 4);
    note("%d %d ", view_of(s, "a").reason, view_of(s, "b").reason);
}

RULE(without_a_word_restarts_once_within_five_seconds, "+a a! -a +a a! -a +a a! -a = -1")
{
    weft_child a = kid("a");
    weft_pid   s = weft_supervise(&(weft_supervisor){.children = &a, .count = 1});

    rest();
    crash(s, "a", 1);
    weft_sleep(weft_ms(5001));
    crash(s, "a", 1);
    weft_sleep(weft_ms(4990));
    crash(s, "a", 1);
    note_end(s);
}

RULE(does_not_count_restarts_before_the_period,
     "+a a! -a +a a! -a +a a! -a +a a! -a +a a! -a +a a! -a +a (a) ")
{
    weft_pid s = SUPERVISE(.max_restarts = 2, .period = weft_sec(1), CHILDREN(kid("a")));

    for (int i = 0; i < 6; i++) {
        crash(s, "a", 1);
        weft_sleep(weft_ms(501));
    }
    note_children(s);
}

RULE(counts_a_restart_of_all_as_one, "+a +b a! -a -b +a +b b! -b -a +a +b a! -a -b = -1")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_ONE_FOR_ALL, .max_restarts = 2, CHILDREN(kid("a"), kid("b")));

    crash(s, "a", 1);
    crash(s, "b", 1);
    crash(s, "a", 1);
    note_end(s);
}

RULE(counts_the_restarts_of_all_its_children, "+a +b a! -a +a b! -b -a = -1")
{
    weft_pid s = SUPERVISE(.max_restarts = 1, CHILDREN(kid("a"), kid("b")));

    crash(s, "a", 1);
    crash(s, "b", 1);
    note_end(s);
}

RULE(gives_up_on_a_child_that_ends_at_once, "+a +a +a = -1")
{
    weft_pid s = SUPERVISE(.max_restarts = 2, CHILDREN({.id = "a", .fn = ends_at_once, .arg = "a"}));

    note_end(s);
}

static const weft_child      x_alone[] = {{.id = "x", .fn = worker, .arg = "x"}};
static const weft_supervisor gives_up = {
    .name = "inner", .max_restarts = -1, .children = x_alone, .count = 1};

RULE(that_gave_up_is_started_again_by_its_own_if_it_is_permanent, "+b +x x! -x +x (in b) 1")
{
    weft_pid s = SUPERVISE(CHILDREN({.id = "in", .supervisor = &gives_up}, kid("b")));

    crash(weft_whereis("inner"), "x", 1);
    note_children(s);
    note("%u", view_of(s, "in").restarts);
}

RULE(that_gave_up_is_not_started_again_if_it_is_transient, "+b +x x! -x (in. b) ")
{
    weft_pid s = SUPERVISE(
        CHILDREN({.id = "in", .supervisor = &gives_up, .restart = WEFT_TRANSIENT}, kid("b")));

    crash(weft_whereis("inner"), "x", 1);
    note_children(s);
}

RULE(passes_a_failure_that_lasts_up_the_tree, "+x x! -x +x x! -x = -1")
{
    weft_pid s = SUPERVISE(.max_restarts = 1, CHILDREN({.id = "in", .supervisor = &gives_up}));

    crash(weft_whereis("inner"), "x", 1);
    crash(weft_whereis("inner"), "x", 1);
    note_end(s);
}

/* ---- Stopping ------------------------------------------------------------------------------------------------ */

RULE(waits_for_a_child_to_stop_before_it_stops_the_next, "+a +b b:tidies -b -a [10] = -16")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a"), by(kid("b"), slow, weft_sec(2))));

    start_clock();
    weft_monitor(s);
    weft_exit(s, WEFT_ESTOP);
    int reason = weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason;
    note_time();
    note("= %d", reason);
}

static void stops_in(weft_child child)
{
    weft_pid s = SUPERVISE(CHILDREN(child));
    weft_pid c = who(s, child.id);

    weft_monitor(c);
    start_clock();
    weft_exit(s, WEFT_ESTOP);
    int reason = weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason;
    note_time();
    note("%d ", reason);
}

RULE(tells_a_child_to_stop_by_estop, "+a -a [0] -16 ") { stops_in(kid("a")); }

RULE(kills_a_child_that_does_not_stop_in_its_time, "+a -a [20] -9 ")
{
    stops_in(by(kid("a"), stubborn, weft_sec(2)));
}

RULE(gives_a_child_five_seconds_if_nothing_is_said, "+a -a [50] -9 ")
{
    stops_in(by(kid("a"), stubborn, weft_sec(0)));
}

RULE(kills_a_child_at_once_if_its_time_is_negative, "+a -a [0] -9 ")
{
    stops_in(by(kid("a"), slow, weft_ns(-1)));
}

/* Takes an hour to stop. */
static void takes_an_hour(void *name)
{
    greets(name);
    weft_trap(true);
    weft_receive(WEFT_EXIT);
    weft_sleep(weft_sec(3600));
}

RULE(waits_for_ever_if_its_time_is_for_ever, "+a -a [36000] 0 ")
{
    stops_in(by(kid("a"), takes_an_hour, WEFT_FOREVER));
}

RULE(gives_a_supervisor_all_the_time_it_needs, "+a -a [36000] = -16")
{
    weft_child      hour[] = {by(kid("a"), takes_an_hour, WEFT_FOREVER)};
    weft_supervisor in = {.children = hour, .count = 1};
    weft_pid        s = SUPERVISE(CHILDREN({.id = "in", .supervisor = &in}));

    start_clock();
    weft_monitor(s);
    weft_exit(s, WEFT_ESTOP);
    int reason = weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason;
    note_time();
    note("= %d", reason);
}

RULE(kills_a_supervisor_and_so_its_children_if_its_time_is_over, "+a -a = -9")
{
    weft_child      child[] = {by(kid("a"), worker, WEFT_FOREVER)};
    weft_supervisor in = {.name = "inner", .children = child, .count = 1};
    weft_pid        s = SUPERVISE(CHILDREN({.id = "in", .supervisor = &in, .shutdown = weft_ns(-1)}));
    weft_pid        inner = weft_whereis("inner");

    weft_monitor(inner);
    weft_exit(s, WEFT_ESTOP);
    rest();
    note("= %d", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
}

static void breaks_its_link(void *name)
{
    greets(name);
    weft_unlink(weft_whereis("boss"));
    weft_end(*weft_get(weft_receive(CRASH), CRASH));
}

RULE(stops_a_child_that_has_broken_its_link, "+a -a = -16")
{
    end(SUPERVISE(.name = "boss", CHILDREN(by(kid("a"), breaks_its_link, weft_sec(0)))));
}

RULE(does_not_wait_for_a_child_that_broke_its_link_and_ended, "+a a! -a (a) [0] = -16")
{
    weft_pid s = SUPERVISE(.name = "boss", CHILDREN(by(kid("a"), breaks_its_link, WEFT_FOREVER)));

    crash(s, "a", 1);
    note_children(s);
    start_clock();
    note_time();
    end(s);
}

RULE(stops_while_a_child_fails, "+a +b b:tidies -a -b = -16")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a"), by(kid("b"), slow, weft_sec(9))));
    weft_pid a = who(s, "a");

    weft_monitor(s);
    weft_exit(s, WEFT_ESTOP);
    rest();
    weft_send(a, CRASH, 1);
    note("= %d", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
}

/* ---- Who ends a supervisor ------------------------------------------------------------------------------------ */

/* Has a supervisor, linked to it, and ends with that reason. */
static void parent(void *reason)
{
    SUPERVISE(.name = "boss", .link = true, CHILDREN(kid("a"), kid("b")));
    weft_send_name("test", GO);
    weft_receive(GO);
    weft_end(*(int *)reason);
}

static void ends_with_its_parent(int reason)
{
    weft_register("test", weft_self());
    weft_pid p = weft_spawn(parent, &reason, .copy_bytes = sizeof reason);
    weft_receive(GO);
    weft_monitor(weft_whereis("boss"));
    weft_send(p, GO);
    note("= %d ", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
}

RULE(that_is_linked_ends_with_its_parent_and_its_reason, "+a +b -b -a = 5 +a +b -b -a = 0 ")
{
    ends_with_its_parent(5);
    ends_with_its_parent(0);
}

RULE(that_is_linked_obeys_its_parent_whatever_the_reason, "+a -a = 7")
{
    weft_trap(true);
    weft_pid s = SUPERVISE(.link = true, CHILDREN(kid("a")));
    weft_exit(s, 7);
    note("= %d", weft_get(weft_receive(WEFT_EXIT), WEFT_EXIT)->reason);
}

static void raises_one(void *unused)
{
    (void)unused;
    SUPERVISE(.name = "boss", CHILDREN(kid("a")));
    weft_end(5);
}

RULE(that_is_not_linked_outlives_who_started_it, "+a (a) ")
{
    weft_ref ref;

    weft_spawn(raises_one, NULL, .monitor = &ref);
    weft_receive(WEFT_DOWN);
    rest();
    note_children(weft_whereis("boss"));
}

RULE(ignores_what_strangers_tell_it_but_estop, "+a (a) -a = -16")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a")));

    weft_exit(s, 5);
    weft_exit(s, 0);
    rest();
    note_children(s);
    end(s);
}

static void links_and_ends(void *boss)
{
    weft_link(*(weft_pid *)boss);
    weft_end(6);
}

RULE(ignores_the_end_of_strangers_that_link_to_it, "+a (a) ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a")));

    weft_spawn(links_and_ends, &s, .copy_bytes = sizeof s);
    rest();
    note_children(s);
}

static void cries_wolf(void *name)
{
    greets(name);
    weft_exit(weft_whereis("boss"), 5);
    weft_receive(GO);
}

RULE(does_not_take_for_an_end_what_a_child_only_says, "+a (a) ")
{
    note_children(SUPERVISE(.name = "boss", CHILDREN(by(kid("a"), cries_wolf, weft_sec(0)))));
}

RULE(drops_messages_that_make_no_sense, "+a (a) -1 ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a")));

    for (int i = 0; i < 100; i++)
        weft_send(s, JUNK);
    weft_send_urgent(s, JUNK);
    note_children(s);
    note("%d ", *weft_get(weft_ask(WEFT_FOREVER, s, JUNK), WEFT_FAILED) == WEFT_EDROPPED ? -1 : 0);
}

RULE(that_is_killed_takes_its_children_with_it_down_the_tree, "+x -x ")
{
    weft_child      inner[] = {kid("x")};
    weft_supervisor in = {.children = inner, .count = 1};
    weft_pid        s = SUPERVISE(CHILDREN({.id = "in", .supervisor = &in}));

    weft_kill(s);
    rest();
}

RULE(that_is_killed_while_it_stops_a_child_leaves_nothing, "+a a:tidies -a ")
{
    weft_pid s = SUPERVISE(CHILDREN(by(kid("a"), slow, weft_sec(9))));

    weft_exit(s, WEFT_ESTOP);
    rest();
    weft_kill(s);
    weft_sleep(weft_sec(2));
}

/* ---- Restarts that fail ----------------------------------------------------------------------------------------- */

RULE(tries_again_what_could_not_be_started_and_counts_that, "+a a! -a = -1")
{
    weft_pid s = SUPERVISE(.max_restarts = 3, .backoff = weft_ms(1), CHILDREN(called(kid("a"), "a")));

    note("a! ");
    weft_send(who(s, "a"), CRASH, 1);
    while (weft_register("a", weft_self()))
        weft_yield();
    weft_sleep(weft_sec(1));
    note_end(s);
}

RULE(starts_what_could_not_be_started_as_soon_as_it_can, "+a -a (a~) +a (a) ")
{
    weft_pid s = SUPERVISE(.backoff = weft_ms(10), .backoff_max = weft_ms(10),
                           CHILDREN(called(kid("a"), "a")));

    weft_send(who(s, "a"), CRASH, 1);
    while (weft_register("a", weft_self()))
        weft_yield();
    weft_sleep(weft_ms(55));
    note_children(s);
    weft_unregister("a");
    weft_sleep(weft_ms(11));
    note_children(s);
}

RULE(one_for_all_that_can_not_start_one_stops_all_and_tries_again,
     "+a +b +c b! -b -c -a +a -a +a -a +a +b +c (a b c) ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_ONE_FOR_ALL, .backoff = weft_ms(10), .backoff_max = weft_ms(10),
                           CHILDREN(kid("a"), called(kid("b"), "b"), kid("c")));

    note("b! ");
    weft_send(who(s, "b"), CRASH, 1);
    while (weft_register("b", weft_self()))
        weft_yield();
    weft_sleep(weft_ms(25));
    weft_unregister("b");
    weft_sleep(weft_ms(11));
    note_children(s);
}

RULE(rest_for_one_that_can_not_start_one_goes_on_from_there,
     "+a +b +c a! -a -c -b +a (a b~ c~) +b +c (a b c) ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_REST_FOR_ONE, .backoff = weft_ms(10), .backoff_max = weft_ms(10),
                           CHILDREN(kid("a"), called(kid("b"), "b"), kid("c")));

    note("a! ");
    weft_send(who(s, "a"), CRASH, 1);
    while (weft_register("b", weft_self()))
        weft_yield();
    weft_sleep(weft_ms(25));
    note_children(s);
    weft_unregister("b");
    weft_sleep(weft_ms(11));
    note_children(s);
}

/* ---- What can be asked of one ----------------------------------------------------------------------------------- */

static weft_pid add(weft_pid s, weft_child child) { return weft_start_child(s, &child); }

RULE(adds_a_child_behind_all_others, "+a +b 1 (a b) -b -a = -16")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a")));
    weft_pid b = add(s, kid("b"));

    note("%d ", weft_same(b, who(s, "b")) && !weft_is_nobody(b));
    rest();
    note_children(s);
    end(s);
}

RULE(treats_a_child_that_was_added_as_any_other, "+a +b b! -b +b a! -a -b +a +b ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_REST_FOR_ONE, CHILDREN(kid("a")));

    add(s, kid("b"));
    rest();
    crash(s, "b", 1);
    crash(s, "a", 1);
}

RULE(adds_no_child_with_an_id_that_is_used, "+a error -5 -a error -5 (a.) ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a")));

    add(s, kid("a"));
    note("error %d ", weft_spawn_error());
    weft_stop_child(s, "a", WEFT_NOBODY);
    add(s, kid("a"));
    note("error %d ", weft_spawn_error());
    note_children(s);
}

RULE(forgets_a_child_that_could_not_be_added, "error -5 error -8 error -8 () ")
{
    weft_pid s = SUPERVISE(.name = "boss");

    add(s, called(kid("a"), "boss"));
    note("error %d ", weft_spawn_error());
    add(s, (weft_child){.id = "a"});
    note("error %d ", weft_spawn_error());
    weft_start_child(s, NULL);
    note("error %d ", weft_spawn_error());
    note_children(s);
}

RULE(adds_a_supervisor_when_its_children_are_there, "+x 1 (a) ")
{
    weft_supervisor in = {.name = "inner", .children = x_alone, .count = 1};
    weft_pid        s = SUPERVISE(0), inner = add(s, (weft_child){.id = "a", .supervisor = &in});

    rest();
    note("%d ", weft_same(inner, weft_whereis("inner")));
    note_children(s);
}

RULE(stops_a_child_and_keeps_its_specification, "+a +b -a 0 (a. b) 0 ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a"), kid("b")));

    note("%d ", weft_stop_child(s, "a", WEFT_NOBODY));
    rest();
    note_children(s);
    note("%d ", weft_stop_child(s, "a", WEFT_NOBODY)); /* and once more */
}

RULE(stops_a_child_by_its_pid, "+a +b -b 0 (a b.) -1 -1 ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a"), kid("b")));

    note("%d ", weft_stop_child(s, NULL, who(s, "b")));
    note_children(s);
    note("%d %d ", weft_stop_child(s, NULL, weft_self()), weft_stop_child(s, "c", WEFT_NOBODY));
}

RULE(stops_a_child_by_its_rules, "+a +b a:tidies -a [10] -b [30] ")
{
    weft_pid s = SUPERVISE(CHILDREN(by(kid("a"), slow, weft_sec(2)), by(kid("b"), stubborn, weft_sec(2))));

    start_clock();
    weft_stop_child(s, "a", WEFT_NOBODY);
    note_time();
    weft_stop_child(s, "b", WEFT_NOBODY);
    note_time();
}

RULE(does_not_count_a_stop_as_a_restart, "+a -a +a a! -a +a (a) ")
{
    weft_pid s = SUPERVISE(.max_restarts = 1, CHILDREN(kid("a")));

    weft_stop_child(s, "a", WEFT_NOBODY);
    weft_restart_child(s, "a");
    rest();
    crash(s, "a", 1);
    note_children(s);
}

RULE(forgets_a_temporary_child_that_is_stopped, "+a -a 0 () -1 ")
{
    weft_pid s = SUPERVISE(CHILDREN(with(kid("a"), WEFT_TEMPORARY)));

    note("%d ", weft_stop_child(s, "a", WEFT_NOBODY));
    note_children(s);
    note("%d ", weft_stop_child(s, "a", WEFT_NOBODY));
}

RULE(stops_a_child_without_touching_its_group, "+a +b +c -a (a. b c) ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_ONE_FOR_ALL, CHILDREN(kid("a"), kid("b"), kid("c")));

    weft_stop_child(s, "a", WEFT_NOBODY);
    note_children(s);
}

static void asks_to_be_stopped(void *name)
{
    greets(name);
    weft_stop_child(weft_whereis("boss"), NULL, weft_self());
    note("never ");
}

RULE(stops_a_child_that_asks_for_it_itself, "+a -a (a.) ")
{
    weft_pid s = SUPERVISE(.name = "boss", CHILDREN(by(kid("a"), asks_to_be_stopped, weft_sec(0))));

    note_children(s);
}

RULE(starts_a_stopped_child_again_at_its_place, "+a +b -a +a 1 (a b) ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a"), kid("b")));

    weft_stop_child(s, "a", WEFT_NOBODY);
    weft_pid a = weft_restart_child(s, "a");
    rest();
    note("%d ", !weft_is_nobody(a) && weft_same(a, who(s, "a")));
    note_children(s);
}

RULE(starts_no_child_again_that_runs_or_that_it_has_not, "+a -5 -1 -8 -a -5 (a.) ")
{
    weft_pid s = SUPERVISE(CHILDREN(called(kid("a"), "a")));

    weft_restart_child(s, "a");
    note("%d ", weft_spawn_error());
    weft_restart_child(s, "b");
    note("%d ", weft_spawn_error());
    weft_restart_child(s, NULL);
    note("%d ", weft_spawn_error());
    weft_stop_child(s, "a", WEFT_NOBODY);
    weft_register("a", weft_self()); /* its name */
    weft_restart_child(s, "a");
    note("%d ", weft_spawn_error());
    note_children(s);
}

RULE(deletes_a_child_that_does_not_run, "+a +b -5 -1 -8 -a 0 (b) +a 1 (b a) ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a"), kid("b")));

    note("%d %d ", weft_delete_child(s, "a"), weft_delete_child(s, "c"));
    note("%d ", weft_delete_child(s, NULL));
    weft_stop_child(s, "a", WEFT_NOBODY);
    note("%d ", weft_delete_child(s, "a"));
    note_children(s);
    weft_pid a = add(s, kid("a")); /* its id is free */
    rest();
    note("%d ", !weft_is_nobody(a));
    note_children(s);
}

RULE(tells_of_its_children_in_order_as_far_as_there_is_room, "3 a 0 1 0 3 3 in 1 0 1 2 0 ")
{
    weft_supervisor in = {0};
    weft_pid        s = SUPERVISE(CHILDREN(with(kid("a"), WEFT_TRANSIENT),
                                           {.fn = stubborn, .arg = "?", .restart = WEFT_TEMPORARY},
                                           {.id = "in", .supervisor = &in}));
    weft_child_view v[4] = {0};

    forget_notes();
    note("%ld ", weft_children(s, v, 1));
    note("%s %d %d %d ", v[0].id, v[0].supervisor, (int)v[0].restart, !weft_is_nobody(v[1].who));
    note("%ld %ld ", weft_children(s, v, 4), weft_children(s, NULL, 0));
    note("%s %d %d ", v[2].id, v[2].supervisor, (int)v[2].restart);
    note("%d %d %s", !weft_is_nobody(v[1].who), (int)v[1].restart, v[1].id[0] ? "?" : "0 ");
}

RULE(cuts_an_id_that_is_too_long_to_be_told, "63 0 ")
{
    char id[100];

    memset(id, 'x', sizeof id - 1);
    id[99] = 0;
    weft_child      child = {.id = id, .fn = stubborn, .arg = "a"};
    weft_child_view view;
    weft_pid        s = supervise(&(weft_supervisor){.children = &child, .count = 1});
    quiet = true;
    forget_notes();
    weft_children(s, &view, 1);
    note("%zu %d ", strlen(view.id), weft_stop_child(s, id, WEFT_NOBODY));
}

RULE(counts_its_children, "-b 4 2 1 3 ")
{
    weft_supervisor   in = {0};
    weft_child_counts c;
    weft_pid          s = SUPERVISE(CHILDREN(kid("a"), kid("b"), {.id = "in", .supervisor = &in},
                                             {.id = "t", .fn = ends_at_once, .arg = "t"}),
                                    .max_restarts = 1000000, .backoff = weft_sec(100));

    forget_notes();
    weft_stop_child(s, "b", WEFT_NOBODY);
    weft_count_children(s, &c);
    note("%zu %zu %zu %zu ", c.specs, c.active, c.supervisors, c.workers);
}

static void note_calls(weft_pid s)
{
    weft_child_counts counts;

    note("%d ", weft_is_nobody(weft_start_child(s, NULL)) ? weft_spawn_error() : 0);
    note("%d %d ", weft_stop_child(s, "a", WEFT_NOBODY), weft_delete_child(s, "a"));
    note("%d ", weft_is_nobody(weft_restart_child(s, "a")) ? weft_spawn_error() : 0);
    note("%ld %d ", weft_children(s, NULL, 0), weft_count_children(s, &counts));
}

RULE(that_has_ended_can_not_be_asked, "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 ")
{
    weft_pid s = SUPERVISE(0);

    weft_exit(s, WEFT_ESTOP);
    rest();
    note_calls(s);
    note_calls(WEFT_NOBODY);
}

RULE(is_no_other_actor, "-8 -8 -8 -8 -8 -8 ")
{
    note_calls(weft_spawn(stubborn, "a"));
    quiet = true;
    forget_notes();
    note_calls(weft_self());
}

static void asks(void *boss)
{
    weft_child_counts counts;

    note("asks ");
    note("%d ", weft_count_children(*(weft_pid *)boss, &counts));
}

RULE(that_ends_fails_those_that_ask_it, "+a a:tidies asks -a -1 ")
{
    weft_pid s = SUPERVISE(CHILDREN(by(kid("a"), slow, weft_sec(9))));

    weft_exit(s, WEFT_ESTOP);
    rest();
    weft_spawn(asks, &s, .copy_bytes = sizeof s);
    weft_sleep(weft_sec(2));
}

static void asks_to_stop_a(void *boss)
{
    weft_stop_child(*(weft_pid *)boss, "a", WEFT_NOBODY);
    note("never ");
}

RULE(does_what_was_asked_by_one_that_has_ended_since, "+a a:tidies -a (a.) ")
{
    weft_pid s = SUPERVISE(CHILDREN(by(kid("a"), slow, weft_sec(9))));
    weft_pid asker = weft_spawn(asks_to_stop_a, &s, .copy_bytes = sizeof s);

    rest();
    weft_kill(asker);
    weft_sleep(weft_sec(2));
    note_children(s);
}

RULE(answers_without_ending_what_its_caller_has_received, "+a 41 42 ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a")));

    weft_send(weft_self(), NUMBER, 41);
    weft_msg    *m = weft_receive(NUMBER);
    weft_pending p = weft_request(weft_self(), NUMBER, 0);
    weft_msg    *r = weft_keep(m);
    weft_msg    *q = weft_keep(weft_receive(NUMBER));
    weft_reply(q, NUMBER, 42);
    weft_msg *answer = weft_await(p, WEFT_FOREVER);
    weft_children(s, NULL, 0);
    note("%d %d ", *weft_get(r, NUMBER), *weft_get(answer, NUMBER));
    weft_drop(r);
    weft_drop(q);
}

Test(supervisor, is_started_and_asked_by_threads_too)
{
    weft_child two[] = {kid("a"), kid("b")};
    weft_pid   s = weft_supervise(&(weft_supervisor){.children = two, .count = 2});

    quiet = true;
    cr_expect_eq(weft_children(s, NULL, 0), 2);
    cr_expect_eq(weft_stop_child(s, "a", WEFT_NOBODY), 0);
    cr_expect_eq(weft_delete_child(s, "a"), 0);
    cr_expect_eq(weft_children(s, NULL, 0), 1);
    weft_monitor(s);
    weft_exit(s, WEFT_ESTOP);
    cr_expect_eq(weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason, WEFT_ESTOP);
}

/* ---- Simple dynamic ------------------------------------------------------------------------------------------------ */

static weft_pid pool(enum weft_restart restart, weft_fn *fn, weft_span shutdown)
{
    weft_child pattern = {.id = "w", .fn = fn, .arg = "w", .restart = restart, .shutdown = shutdown};

    return SUPERVISE(.strategy = WEFT_SIMPLE_DYNAMIC, .children = &pattern, .count = 1);
}

static weft_pid add_named(weft_pid s, const char *name)
{
    weft_pid who = weft_start_child(s, &(weft_child){.arg = (void *)name});

    rest();
    return who;
}

RULE(simple_dynamic_begins_without_children, "0 +w 1 +x 2 ")
{
    weft_pid s = pool(WEFT_PERMANENT, worker, weft_sec(0));

    note("%ld ", weft_children(s, NULL, 0));
    weft_start_child(s, NULL);
    rest();
    note("%ld ", weft_children(s, NULL, 0));
    weft_start_child(s, &(weft_child){.arg = "x"});
    rest();
    note("%ld ", weft_children(s, NULL, 0));
}

RULE(simple_dynamic_starts_each_again_with_its_own_argument, "+w +x +y -x +x -w +w 3 ")
{
    weft_pid s = pool(WEFT_PERMANENT, worker, weft_sec(0));
    weft_pid w = weft_start_child(s, NULL);
    rest();
    weft_pid x = add_named(s, "x");

    add_named(s, "y");
    weft_send(x, CRASH, 1);
    rest();
    weft_send(w, CRASH, 1);
    rest();
    note("%ld ", weft_children(s, NULL, 0));
}

RULE(simple_dynamic_copies_the_argument_of_each, "one two one ")
{
    char       text[8] = "one";
    weft_child pattern = {.fn = spoils, .options.copy_bytes = sizeof text};
    weft_pid   s = SUPERVISE(.strategy = WEFT_SIMPLE_DYNAMIC, .children = &pattern, .count = 1);
    weft_child own = {.arg = text, .options.copy_bytes = sizeof text};
    weft_pid   one = weft_start_child(s, &own);

    rest();
    strcpy(text, "two");
    weft_start_child(s, &own);
    rest();
    strcpy(text, "bad");
    weft_send(one, CRASH, 1);
    rest();
}

RULE(simple_dynamic_forgets_who_ended_for_good, "+w +x -w -x 0 ")
{
    weft_pid s = pool(WEFT_TRANSIENT, worker, weft_sec(0));
    weft_pid w = add_named(s, "w"), x = add_named(s, "x");

    weft_send(w, CRASH, 0);
    rest();
    weft_send(x, CRASH, WEFT_ESTOP);
    rest();
    note("%ld ", weft_children(s, NULL, 0));
}

RULE(simple_dynamic_gives_temporary_children_their_arguments_too, "+x -x 0 ")
{
    weft_pid s = pool(WEFT_TEMPORARY, worker, weft_sec(0));

    weft_send(add_named(s, "x"), CRASH, 1);
    rest();
    note("%ld ", weft_children(s, NULL, 0));
}

RULE(simple_dynamic_stops_all_at_once, "10 3")
{
    weft_pid s = pool(WEFT_PERMANENT, slow, weft_sec(2));

    for (int i = 0; i < 3; i++)
        add_named(s, "w");
    forget_notes();
    weft_counts before = counted();
    quiet = true;
    start_clock();
    weft_monitor(s);
    weft_exit(s, WEFT_ESTOP);
    weft_receive(WEFT_DOWN);
    forget_notes();
    note("%d ", (int)((weft__clock_now() - started_at) / 100000000));
    note("%d", (int)(counted().ended - before.ended) - 1);
}

RULE(simple_dynamic_kills_those_that_do_not_stop_in_time, "+a -a [20] ")
{
    weft_pid s = pool(WEFT_PERMANENT, stubborn, weft_sec(2));

    add_named(s, "a");
    start_clock();
    weft_monitor(s);
    weft_exit(s, WEFT_ESTOP);
    weft_receive(WEFT_DOWN);
    note_time();
}

RULE(simple_dynamic_knows_its_children_by_pid_alone, "+w -w 0 -1 -8 -8 -8 -8 0 ")
{
    weft_pid s = pool(WEFT_PERMANENT, worker, weft_sec(0));
    weft_pid w = add_named(s, "w");

    note("%d ", weft_stop_child(s, NULL, w));
    note("%d ", weft_stop_child(s, NULL, w));
    note("%d %d ", weft_stop_child(s, "w", WEFT_NOBODY), weft_delete_child(s, "w"));
    weft_restart_child(s, "w");
    note("%d ", weft_spawn_error());
    weft_start_child(s, &(weft_child){.fn = worker});
    note("%d ", weft_spawn_error());
    note("%ld ", weft_children(s, NULL, 0));
}

RULE(simple_dynamic_counts_one_specification, "+w +x 1 2 0 2")
{
    weft_child_counts c;
    weft_pid          s = pool(WEFT_PERMANENT, worker, weft_sec(0));

    add_named(s, "w");
    add_named(s, "x");
    weft_count_children(s, &c);
    note("%zu %zu %zu %zu", c.specs, c.active, c.supervisors, c.workers);
}

RULE(simple_dynamic_gives_up_as_any_other, "+w -w +w -w = -1")
{
    weft_child      pattern = kid("w");
    weft_pid        s = SUPERVISE(.strategy = WEFT_SIMPLE_DYNAMIC, .max_restarts = 1, .children = &pattern,
                                  .count = 1);
    weft_pid        w = add_named(s, "w");
    weft_child_view v;

    weft_send(w, CRASH, 1);
    rest();
    weft_children(s, &v, 1);
    weft_send(v.who, CRASH, 1);
    rest();
    note_end(s);
}

RULE(simple_dynamic_may_have_supervisors, "+x +x 2 1 -x -x ")
{
    weft_supervisor   in = {.children = x_alone, .count = 1};
    weft_child        pattern = {.supervisor = &in};
    weft_pid          s = SUPERVISE(.strategy = WEFT_SIMPLE_DYNAMIC, .children = &pattern, .count = 1);
    weft_child_counts c;

    weft_start_child(s, NULL);
    weft_start_child(s, NULL);
    rest();
    weft_count_children(s, &c);
    note("%zu %zu ", c.supervisors, c.specs);
    weft_exit(s, WEFT_ESTOP);
    rest();
}

static void waits_for_crash(void *unused)
{
    (void)unused;
    weft_end(*weft_get(weft_receive(CRASH), CRASH));
}

RULE(simple_dynamic_has_many_children, "20000 20000 10000 = -16")
{
    enum { MANY = 20000 };
    static weft_pid   all[MANY];
    weft_child        pattern = {.fn = waits_for_crash};
    weft_child_counts c;
    weft_pid s = SUPERVISE(.strategy = WEFT_SIMPLE_DYNAMIC, .max_restarts = MANY, .children = &pattern,
                           .count = 1);

    for (int i = 0; i < MANY; i++)
        all[i] = weft_start_child(s, NULL);
    note("%ld ", weft_children(s, NULL, 0));
    for (int i = 0; i < MANY; i += 2)
        weft_send(all[i], CRASH, i + 1);
    rest();
    note("%ld ", weft_children(s, NULL, 0));
    for (int i = 1; i < MANY; i += 2)
        weft_stop_child(s, NULL, all[i]);
    weft_count_children(s, &c);
    note("%zu ", c.active);
    end(s);
}

/* ---- Back-off --------------------------------------------------------------------------------------------------- */

RULE(waits_before_a_restart_if_it_is_told_to, "+a a! -a (a~) (a~) +a (a) ")
{
    weft_pid s = SUPERVISE(.backoff = weft_ms(100), CHILDREN(kid("a")));

    crash(s, "a", 1);
    note_children(s);
    weft_sleep(weft_ms(99));
    note_children(s);
    weft_sleep(weft_ms(1));
    note_children(s);
}

static void notes_when(void *unused)
{
    (void)unused;
    note("%d ", (int)((weft__clock_now() - started_at) / 1000000));
    weft_end(1);
}

RULE(waits_twice_as_long_each_time_up_to_the_most, "0 100 300 700 1200 1700 2200 ")
{
    start_clock();
    SUPERVISE(.backoff = weft_ms(100), .backoff_max = weft_ms(500), CHILDREN({.fn = notes_when}));
    weft_sleep(weft_ms(2300));
}

RULE(waits_a_minute_at_most_if_nothing_is_said, "1 ")
{
    start_clock();
    weft_pid s = SUPERVISE(.backoff = weft_sec(1), CHILDREN({.id = "a", .fn = notes_when}));
    weft_sleep(weft_sec(63 + 60 * 10));
    forget_notes();
    note("%d ", view_of(s, "a").restarts == 6 + 10);
}

RULE(waits_as_little_as_at_first_when_a_child_ran_for_a_period, "+a a! -a (a~) +a a! -a (a~) +a a! -a +a ")
{
    weft_pid s = SUPERVISE(.backoff = weft_ms(100), .period = weft_sec(1), CHILDREN(kid("a")));

    crash(s, "a", 1);
    note_children(s);
    weft_sleep(weft_ms(100));
    crash(s, "a", 1);
    weft_sleep(weft_ms(150));
    note_children(s);
    weft_sleep(weft_ms(1060));
    crash(s, "a", 1);
    weft_sleep(weft_ms(100));
}

RULE(lets_each_child_wait_by_itself, "+a +b a! -a b! -b (a~ b~) +a (a b~) +b ")
{
    weft_pid s = SUPERVISE(.backoff = weft_ms(100), CHILDREN(kid("a"), kid("b")));

    crash(s, "a", 1);
    weft_sleep(weft_ms(50));
    crash(s, "b", 1);
    note_children(s);
    weft_sleep(weft_ms(60));
    note_children(s);
    weft_sleep(weft_ms(60));
}

RULE(one_for_all_stops_the_others_before_it_waits, "+a +b +c b! -b -c -a (a~ b~ c~) +a +b +c (a b c) ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_ONE_FOR_ALL, .backoff = weft_ms(100),
                           CHILDREN(kid("a"), kid("b"), kid("c")));

    crash(s, "b", 1);
    note_children(s);
    weft_sleep(weft_ms(100));
    note_children(s);
}

RULE(forgets_a_restart_when_the_child_is_stopped_meanwhile, "+a a! -a 0 (a.) (a.) +a ")
{
    weft_pid s = SUPERVISE(.backoff = weft_ms(100), CHILDREN(kid("a")));

    crash(s, "a", 1);
    note("%d ", weft_stop_child(s, "a", WEFT_NOBODY));
    note_children(s);
    weft_sleep(weft_ms(200));
    note_children(s);
    weft_restart_child(s, "a");
    rest();
}

RULE(leaves_out_of_a_restart_of_all_who_is_stopped_meanwhile,
     "+a +b +c a! -a -c -b (a~ b. c~) +a +c (a b. c) ")
{
    weft_pid s = SUPERVISE(.strategy = WEFT_ONE_FOR_ALL, .backoff = weft_ms(100),
                           CHILDREN(kid("a"), kid("b"), kid("c")));

    crash(s, "a", 1);
    weft_stop_child(s, "b", WEFT_NOBODY);
    note_children(s);
    weft_sleep(weft_ms(100));
    note_children(s);
}

RULE(neither_restarts_nor_deletes_a_child_that_waits, "+a a! -a -5 -5 ")
{
    weft_pid s = SUPERVISE(.backoff = weft_ms(100), CHILDREN(kid("a")));

    crash(s, "a", 1);
    weft_restart_child(s, "a");
    note("%d ", weft_spawn_error());
    note("%d ", weft_delete_child(s, "a"));
}

RULE(starts_a_child_by_a_call_while_another_waits, "+a a! -a +b (a~ b) +a ")
{
    weft_pid s = SUPERVISE(.backoff = weft_ms(100), CHILDREN(kid("a")));

    crash(s, "a", 1);
    add(s, kid("b"));
    rest();
    note_children(s);
    weft_sleep(weft_ms(100));
}

RULE(stops_at_once_while_a_child_waits, "+a +b a! -a -b [0] = -16")
{
    weft_pid s = SUPERVISE(.backoff = weft_sec(100), CHILDREN(kid("a"), kid("b")));

    crash(s, "a", 1);
    start_clock();
    weft_monitor(s);
    weft_exit(s, WEFT_ESTOP);
    int reason = weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason;
    note_time();
    note("= %d", reason);
}

RULE(stops_a_dynamic_child_that_waits_by_the_pid_it_had, "+w -w 1 0 0 ")
{
    weft_child pattern = kid("w");
    weft_pid   s = SUPERVISE(.strategy = WEFT_SIMPLE_DYNAMIC, .backoff = weft_ms(100), .children = &pattern,
                             .count = 1);
    weft_pid   w = add_named(s, "w");
    weft_child_view v;

    weft_send(w, CRASH, 1);
    rest();
    weft_children(s, &v, 1);
    note("%d ", v.restarting && weft_is_nobody(v.who));
    note("%d ", weft_stop_child(s, NULL, w));
    note("%ld ", weft_children(s, NULL, 0));
    weft_sleep(weft_ms(200));
}

/* ---- All of them --------------------------------------------------------------------------------------------------- */

RULE(is_a_root_unless_a_supervisor_started_it, "2 1 1 | 1 1 | 0 ")
{
    weft_supervisor in = {.name = "inner"};
    weft_pid        s = SUPERVISE(CHILDREN({.id = "in", .supervisor = &in})), t = SUPERVISE(0), roots[3];

    note("%zu ", weft__supervisor_roots(roots, 3));
    note("%d %d | ", weft_same(roots[0], t), weft_same(roots[1], s));
    weft_exit(t, WEFT_ESTOP);
    rest();
    note("%zu ", weft__supervisor_roots(roots, 3));
    note("%d | ", weft_same(roots[0], s));
    weft_kill(s);
    rest();
    note("%zu ", weft__supervisor_roots(roots, 3));
}

static void note_function(weft_pid who)
{
    weft_view view;

    weft_look(who, &view, sizeof view);
    note("%s %s", view.name, view.function);
}

RULE(is_shown_by_its_name_and_as_a_supervisor, "boss supervisor")
{
    note_function(SUPERVISE(.name = "boss"));
}

static void asks_in_a_handler(void *s, weft_msg *m)
{
    weft_child_counts counts;
    weft_pid          mine = SUPERVISE(CHILDREN(kid("b")));

    (void)m;
    note("%d ", weft_count_children(*(weft_pid *)s, &counts));
    note_children(mine);
}

static void reacts(void *s) { weft_react(asks_in_a_handler, s, GO); }

RULE(is_started_and_asked_in_handlers, "+a +b 0 (b) ")
{
    weft_pid s = SUPERVISE(CHILDREN(kid("a")));
    weft_pid r = weft_spawn(reacts, &s, .copy_bytes = sizeof s);

    weft_send(r, GO);
    weft_sleep(weft_ms(1));
}

/* ---- Bad luck ---------------------------------------------------------------------------------------------------------- */

enum { SURVIVED = 10, NOTHING_FAILED, COMPLAINS };

static long which;
static int  failed, wrong;

static void step(int error)
{
    failed += error != 0;
    wrong += error && error != WEFT_EMEMORY && error != WEFT_ESTACK && error != WEFT_EGONE &&
             error != WEFT_EUSED;
}

static weft_pid made(weft_pid who)
{
    if (weft_is_nobody(who))
        step(weft_spawn_error());
    return who;
}

static void crash_all(weft_pid s)
{
    weft_child_view views[9];
    long            n = weft_children(s, views, 9);

    step(n < 0 ? (int)n : 0);
    for (long i = 0; i < n; i++)
        if (!views[i].supervisor)
            weft_send(views[i].who, CRASH, 1);
    weft_sleep(weft_ms(20));
}

/* Everything that a supervisor does. */
static void scenario(void)
{
    weft_supervisor   in = {.children = x_alone, .count = 1, .backoff = weft_ms(1), .max_restarts = 100};
    weft_child        three[] = {kid("a"), {.id = "in", .supervisor = &in}, by(kid("b"), slow, weft_sec(2))};
    weft_child        pattern = {.fn = waits_for_crash, .arg = &failed, .options.copy_bytes = sizeof failed};
    weft_child_counts counts;
    weft_pid          s = made(weft_supervise(&(weft_supervisor){
                 .name = "boss", .strategy = WEFT_ONE_FOR_ALL, .children = three, .count = 3, .max_restarts = 100}));
    weft_pid          d = made(weft_supervise(&(weft_supervisor){
                 .strategy = WEFT_SIMPLE_DYNAMIC, .children = &pattern, .count = 1, .max_restarts = 100}));

    for (int i = 0; i < 5; i++)
        made(weft_start_child(d, NULL));
    made(weft_start_child(d, &(weft_child){.arg = &wrong, .options.copy_bytes = sizeof wrong}));
    crash_all(d);
    crash_all(s);
    made(weft_start_child(s, &(weft_child){.id = "c", .fn = waits_for_crash}));
    step(weft_stop_child(s, "c", WEFT_NOBODY));
    made(weft_restart_child(s, "c"));
    step(weft_stop_child(s, "c", WEFT_NOBODY));
    step(weft_delete_child(s, "c"));
    step(weft_count_children(s, &counts));
    weft_exit(s, WEFT_ESTOP);
    weft_exit(d, WEFT_ESTOP);
    weft_sleep(weft_sec(20));
}

static bool goes_well(void)
{
    failed = wrong = 0;
    quiet = false;
    weft_run(run_rule, (void *)scenario, .seed = 3);
    return !failed;
}

static void fail_one(void)
{
    listen_to_stderr();
    weft__memory_fail(which);
    bool well = goes_well();
    bool reached = weft__memory_fail(0) >= which;
    forget_notes();
    if (wrong || (!well && !reached))
        note("%d steps failed, %d of them strangely; ", failed, wrong);
    if (!goes_well())
        note("%d steps failed afterwards; ", failed);
    if (counted().spawned != counted().ended || weft__supervisor_roots(NULL, 0))
        note("somebody is left; ");
    const char *said = what_was_said();
    if (leaks() || strstr(noted(), "; ")) {
        fprintf(stderr, "with allocation %ld failing: %s\n%s", which, noted(), said);
        _exit(COMPLAINS);
    }
    _exit(reached ? SURVIVED : NOTHING_FAILED);
}

Test(supervisor, survives_that_any_allocation_fails)
{
    int bad = 0;

    for (which = 1; which < 10000; which++) {
        int status = in_child(fail_one);
        if (WIFEXITED(status) && WEXITSTATUS(status) == NOTHING_FAILED)
            break;
        bool good = WIFEXITED(status) && WEXITSTATUS(status) == SURVIVED;
        cr_expect(good, "allocation %ld: wait status %x", which, status);
        bad += !good;
        cr_assert_lt(bad, 10, "and so on");
    }
    cr_expect_gt(which, 40, "there are more allocations than that");
}

static bool no_memory;
static int  asleep;

static void *get(size_t bytes, void *unused)
{
    (void)unused;
    return no_memory ? NULL : malloc(bytes);
}

static void put(void *block, void *unused)
{
    (void)unused;
    free(block);
}

static void sleeps(void *arg)
{
    (void)arg;
    asleep++;
    weft_sleep(weft_sec(3600));
}

/* So that it is waited for. */
static void yields_first(void *name)
{
    weft_defer(says_goodbye, name);
    weft_trap(true);
    weft_receive(WEFT_EXIT);
    for (int i = 0; i < 10; i++)
        weft_yield();
}

/* With so many timers already. */
static void is_stopped_without_memory(void *many)
{
    weft_child child = by(kid("a"), yields_first, weft_sec(9));
    weft_pid   s = weft_supervise(&(weft_supervisor){.children = &child, .count = 1});

    asleep = 0;
    for (int i = 0; i < *(int *)many; i++)
        weft_spawn(sleeps, NULL);
    while (asleep < *(int *)many)
        weft_yield();
    weft_monitor(s);
    weft_exit(s, WEFT_ESTOP);
    no_memory = true;
    int reason = weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason;
    no_memory = false;
    note("%d ", reason);
}

Test(supervisor, takes_no_memory_to_wait_for_a_child_that_stops)
{
    cr_assert_eq(weft_use_allocator(&(weft_allocator){get, put, NULL}), 0);
    for (int many = 1; many < 140; many++) { /* for some of them there is no room for one more */
        forget_notes();
        cr_expect_eq(weft_run(is_stopped_without_memory, &many, .seed = 1), 0);
        cr_expect_str_eq(noted(), "-a -16 ", "%d", many);
    }
}
