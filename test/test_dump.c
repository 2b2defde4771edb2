/* test_dump.c - what weft/inspect.h promises of weft_dump.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/bound.h>

#include "base/memory.h"
#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(dump, .fini = nothing_leaks, .timeout = 60);

WEFT_MESSAGE(A, int);
WEFT_SIGNAL(STOP);

static char *text;

static void run(weft_fn *first)
{
    cr_assert_eq(weft_run(first, NULL, .workers = 1), 0);
    free(text);
    text = NULL;
}

static void dump(void)
{
    size_t size;

    free(text);
    FILE *to = open_memstream(&text, &size);
    weft_dump(to);
    fclose(to);
}

static bool says(const char *part) { return strstr(text, part) != NULL; }

/* The line with that in it, its gaps made one blank each. */
static const char *line_of(const char *part)
{
    static char line[300];
    const char *at = strstr(text, part);
    size_t      n = 0;

    if (!at)
        return "(none)";
    while (at > text && at[-1] != '\n')
        at--;
    for (; *at && *at != '\n' && n + 1 < sizeof line; at++)
        if (*at != ' ' || (n && line[n - 1] != ' '))
            line[n++] = *at;
    line[n] = 0;
    return line;
}

static bool begins(const char *line, const char *how) { return strncmp(line, how, strlen(how)) == 0; }

static void let_all_wait(void)
{
    weft_sleep(weft_ms(1)); /* one worker: all others have had their turn, in virtual time or not */
    while (weft_yield(), dump(), says(" ready "))
        ;
}

static void session(void *arg)
{
    (void)arg;
    weft_receive(A, STOP);
}

static void on_stop(void *state, weft_msg *m)
{
    (void)state;
    (void)m;
}

static void handler(void *arg)
{
    (void)arg;
    weft_react(on_stop, NULL, STOP);
}

/* ---- Groups ---------------------------------------------------------------------------------------------------- */

static void dumps_a_crowd(void *arg)
{
    (void)arg;
    for (int i = 0; i < 500; i++)
        weft_spawn(session, NULL);
    for (int i = 0; i < 70; i++)
        weft_spawn(handler, NULL);
    let_all_wait();
    note("%d %d %d", lines(text), begins(line_of(" session "), "500 - session receives A, STOP "),
         begins(line_of(" handler "), "70 - handler reacts STOP "));
    note(" %d", begins(text, "weft: 571 actors on 1 worker: 1 run, 0 ready, 570 wait\n"));
}

Test(dump, has_one_line_for_all_that_are_alike)
{
    run(dumps_a_crowd);
    cr_expect_str_eq(noted(), "5 1 1 1");
}

static void waits_for_stop(void *arg)
{
    (void)arg;
    weft_receive(STOP);
}

static void either(void *other)
{
    if (other)
        weft_receive(A);
    else
        weft_receive(STOP);
}

static void dumps_what_differs(void *arg)
{
    (void)arg;
    for (uintptr_t i = 0; i < 10; i++)
        weft_spawn(either, (void *)(i % 2));
    weft_spawn(waits_for_stop, NULL);
    let_all_wait();
    note("%d ",
         begins(line_of(" either "), "5 - either receives STOP ")); /* the first began before the others */
    note("%d %d", begins(line_of(" A "), "5 - either receives A "), says(" waits_for_stop "));
}

Test(dump, has_two_for_those_that_wait_for_different_things)
{
    run(dumps_what_differs);
    cr_expect_str_eq(noted(), "1 1 1");
}

static void dumps_names(void *arg)
{
    char name[32];

    (void)arg;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "room %d of %d", i * i, 7 * i);
        weft_spawn(session, NULL, .name = name);
    }
    weft_spawn(session, NULL, .name = "lobby 7");
    let_all_wait();
    note("%d %d", begins(line_of("room"), "20 - \"room # of #\" session receives "),
         says("  \"lobby 7\" session "));
}

Test(dump, takes_names_for_alike_where_only_numbers_differ)
{
    run(dumps_names);
    cr_expect_str_eq(noted(), "1 1");
}

static weft_pid shop[4];

static void never_answers(void *arg)
{
    (void)arg;
    weft_receive(A);
}

static void asks_a_shop(void *arg) { weft_ask(WEFT_FOREVER, *(weft_pid *)arg, STOP); }

/* Two with names that differ by a number, two without one. */
static void dumps_who_awaits(void *arg)
{
    static const char *const name[4] = {"shop 1", "shop 22", NULL, NULL};

    (void)arg;
    for (int i = 0; i < 4; i++)
        shop[i] = weft_spawn(never_answers, NULL, .name = name[i]);
    for (int i = 0; i < 4; i++)
        weft_spawn(asks_a_shop, &shop[i]);
    let_all_wait();
    note("%d %d", begins(line_of("response of"), "2 - asks_a_shop awaits a response of \"shop #\" "),
         begins(line_of("a response  "), "2 - asks_a_shop awaits a response "));
}

Test(dump, has_one_line_for_those_that_await_such_as_are_alike)
{
    run(dumps_who_awaits);
    cr_expect_str_eq(noted(), "1 1");
}

static void dumps_a_wild_name(void *arg)
{
    (void)arg;
    weft_spawn(session, NULL, .name = "a\nb\x1b[2J\x7f");
    let_all_wait();
    note("%d %d", lines(text), says(" \"a?b?[2J?\" session "));
}

Test(dump, shows_names_in_a_way_that_moves_no_cursor)
{
    run(dumps_a_wild_name);
    cr_expect_str_eq(noted(), "4 1");
}

static void dumps_ranges(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        weft_pid h = weft_spawn(handler, NULL);
        for (int j = 0; j < 4 * i; j++)
            weft_send(h, A, j);
    }
    let_all_wait();
    note("%d", strstr(line_of(" handler "), " 0..8") != NULL);
    weft_spawn(waits_for_stop, NULL);
    weft_spawn(waits_for_stop, NULL);
    let_all_wait();
    weft_sleep(weft_ms(90000)); /* virtual */
    dump();
    note(" %d", strstr(line_of(" waits_for_stop "), " 1.5 min 0 ") != NULL);
}

Test(dump, tells_the_least_and_the_most_of_a_group)
{
    cr_assert_eq(weft_run(dumps_ranges, NULL, .seed = 3), 0);
    cr_expect_str_eq(noted(), "1 1");
    free(text);
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

/* Whether `part` begins where the head of the table says. */
static bool is_below(const char *head, const char *part)
{
    const char *first = strchr(text, '\n') + 1, *column = strstr(first, head), *at = strstr(text, part);

    if (!column || !at)
        return false;
    const char *line = at;
    while (line > text && line[-1] != '\n')
        line--;
    return at - line == column - first;
}

static void dumps_columns(void *arg)
{
    char pid[32];

    (void)arg;
    weft_pid who = weft_spawn(session, NULL, .name = "a somewhat longer name");
    weft_spawn(handler, NULL);
    weft_spawn(handler, NULL);
    let_all_wait();
    snprintf(pid, sizeof pid, " %llx ", (unsigned long long)who.id);
    note("%d %d %d ", is_below("actor", "\"a somewhat"), is_below("state", "receives"),
         is_below("waits for", "A, STOP"));
    note("%d %d %d", says(pid), says("links"), says("time left"));
}

Test(dump, is_a_table_without_columns_that_would_be_empty)
{
    run(dumps_columns);
    cr_expect_str_eq(noted(), "1 1 1 1 0 0");
}

Test(dump, says_so_if_there_is_nobody)
{
    dump();
    cr_expect_str_eq(text, "weft: 0 actors on 0 workers: 0 run, 0 ready, 0 wait\n");
    free(text);
}

Test(dump, has_threads_in_it)
{
    weft_self();
    dump();
    cr_expect(begins(line_of("thread"), "1 "), "%s", text);
    cr_expect(strstr(line_of("thread"), " thread runs") != NULL, "%s", text);
    free(text);
}

/* ---- Without memory -------------------------------------------------------------------------------------------- */

static void dumps_without_memory(void *arg)
{
    bool right = true;

    (void)arg;
    for (int i = 0; i < 10; i++)
        weft_spawn(session, NULL);
    weft_spawn(handler, NULL);
    let_all_wait();
    weft__memory_fail(LONG_MAX);
    dump();
    long made = weft__memory_fail(0);
    for (long n = 1; n <= made; n++) {
        size_t size;
        char  *part;
        FILE  *to = open_memstream(&part, &size);
        weft__memory_fail(n);
        weft_dump(to);
        weft__memory_fail(0);
        fclose(to);
        right = right && begins(part, "weft: 12 actors on 1 worker: ") &&
                strstr(part, "more: there is no memory");
        free(part);
    }
    note("%d %d", right, made > 2);
}

Test(dump, tells_less_without_memory)
{
    run(dumps_without_memory);
    cr_expect_str_eq(noted(), "1 1");
}

/* ---- Many ------------------------------------------------------------------------------------------------------ */

enum { MANY = 100000 };

static void dumps_many(void *arg)
{
    (void)arg;
    for (int i = 0; i < MANY; i++)
        weft_spawn(handler, NULL);
    let_all_wait();
    note("%s", begins(line_of(" handler "), "100000 - handler reacts STOP ") ? "all" : text);
}

Test(dump, is_short_however_many_there_are)
{
    run(dumps_many);
    cr_expect_str_eq(noted(), "all");
}
