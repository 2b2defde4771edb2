/* test_stop.c - the orderly end of a system: weft_stop, and runs that wait for all.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/bound.h>
#include <weft/supervisor.h>

#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(stop, .fini = nothing_leaks, .timeout = 30);
TestSuite(wait_all, .fini = nothing_leaks, .timeout = 30);

WEFT_SIGNAL(GO);
WEFT_SIGNAL(NEVER);
WEFT_MESSAGE(
    WHO, struct who { weft_pid pid; });

static const weft_span long_time = {INT64_C(20000000000)};

static void waits(void *arg)
{
    (void)arg;
    weft_receive(NEVER);
}

static void notes(void *what) { note("%s", (const char *)what); }

/* Ready to be stopped: it has deferred what tells so, and says that to `boss`. */
static void waits_and_tells(void *boss)
{
    weft_defer(notes, "x");
    weft_send(*(weft_pid *)boss, GO);
    weft_receive(NEVER);
}

static weft_pid start(weft_fn *fn)
{
    weft_pid self = weft_self(), p = weft_spawn(fn, &self, .copy_bytes = sizeof self);

    weft_receive(GO);
    return p;
}

/* ---- Who is ended, and how -------------------------------------------------------------------------------- */

static int told = 1;

static void stops_with_7(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++)
        start(waits_and_tells);
    told = weft_stop(7, long_time);
    weft_receive(NEVER);
}

Test(stop, ends_all_and_gives_its_own_reason)
{
    cr_expect_eq(weft_run(stops_with_7, NULL), 7);
    cr_expect_str_eq(noted(), "xxx");
    cr_expect_eq(told, 0);
}

Test(stop, is_the_same_in_virtual_time)
{
    cr_expect_eq(weft_run(stops_with_7, NULL, .seed = 5), 7);
    cr_expect_str_eq(noted(), "xxx");
    cr_expect_eq(told, 0);
}

static void watches(void *boss)
{
    weft_trap(true);
    weft_monitor(start(waits_and_tells));
    weft_send(*(weft_pid *)boss, GO);
    for (int i = 0; i < 2; i++) {
        weft_msg *m = weft_receive(WEFT_EXIT, WEFT_DOWN);
        if (weft_is(m, WEFT_EXIT))
            note(" exit %d %d", weft_get(m, WEFT_EXIT)->reason, weft_get(m, WEFT_EXIT)->linked);
        else
            note(" down %d", weft_get(m, WEFT_DOWN)->reason);
    }
    weft_sleep(weft_ms(20));
    note(" done");
}

static void stops_a_watcher(void *arg)
{
    (void)arg;
    start(watches);
    weft_stop(0, long_time);
}

static void expect_watched(void)
{
    char text[64];

    snprintf(text, sizeof text, " exit %d 0", WEFT_ESTOP);
    cr_expect(strstr(noted(), text), "%s", noted());
    snprintf(text, sizeof text, " down %d", WEFT_ESTOP);
    cr_expect(strstr(noted(), text), "%s", noted());
    cr_expect(strstr(noted(), " done"), "%s", noted());
}

Test(stop, lets_those_that_trap_finish)
{
    cr_expect_eq(weft_run(stops_a_watcher, NULL), 0);
    expect_watched();
}

Test(stop, lets_those_that_trap_finish_in_virtual_time)
{
    cr_expect_eq(weft_run(stops_a_watcher, NULL, .seed = 3), 0);
    expect_watched();
}

static void will_not(void *boss)
{
    weft_trap(true);
    weft_defer(notes, "killed");
    weft_send(*(weft_pid *)boss, GO);
    for (;;)
        weft_receive(WEFT_ANY);
}

static void stops_one_that_will_not(void *arg)
{
    start(will_not);
    weft_stop(2, *(weft_span *)arg);
    weft_receive(NEVER);
}

Test(stop, kills_who_is_left_when_the_time_is_over)
{
    weft_span soon = weft_ms(5);

    cr_expect_eq(weft_run(stops_one_that_will_not, &soon), 2);
    cr_expect_str_eq(noted(), "killed");
}

Test(stop, kills_at_once_without_a_time)
{
    weft_span none = weft_ms(-1);

    cr_expect_eq(weft_run(stops_one_that_will_not, &none), 2);
    cr_expect_str_eq(noted(), "killed");
}

Test(stop, takes_no_real_time_with_a_seed)
{
    weft_span year = weft_sec(365 * 24 * 3600);

    cr_expect_eq(weft_run(stops_one_that_will_not, &year, .seed = 9), 2);
    cr_expect_str_eq(noted(), "killed");
}

static void is_late(void *what)
{
    weft_defer(notes, what);
    weft_receive(NEVER);
}

static void spawns_one_more(void *what) { weft_spawn(is_late, what); }

static void leaves_another(void *boss)
{
    weft_defer(spawns_one_more, "late");
    weft_send(*(weft_pid *)boss, GO);
    weft_receive(NEVER);
}

static void stops_one_that_leaves_another(void *arg)
{
    (void)arg;
    start(leaves_another);
    start(will_not); /* so that it takes its time */
    weft_stop(0, weft_ms(50));
    weft_receive(NEVER);
}

Test(stop, ends_those_that_are_made_meanwhile)
{
    cr_expect_eq(weft_run(stops_one_that_leaves_another, NULL, .seed = 1), 0);
    cr_expect(strstr(noted(), "late"), "%s", noted());
    cr_expect(strstr(noted(), "killed"), "%s", noted());
}

static void goes_on_for_a_while(void *boss)
{
    weft_trap(true);
    weft_send(*(weft_pid *)boss, GO);
    weft_receive(WEFT_EXIT);
    for (int i = 0; i < 5; i++) {
        weft_sleep(weft_ms(2));
        note("%d", i);
    }
}

static void stops_and_returns(void *arg)
{
    (void)arg;
    start(goes_on_for_a_while);
    weft_stop(4, long_time);
}

Test(stop, is_not_over_when_the_first_actor_ends)
{
    cr_expect_eq(weft_run(stops_and_returns, NULL), 4);
    cr_expect_str_eq(noted(), "01234");
}

static void bounded_waits(void *arg)
{
    weft_send(*(weft_pid *)arg, GO);
    weft_receive(NEVER);
}

static void stops_thousands(void *arg)
{
    weft_pid   self = weft_self();
    weft_bound bound = {.messages = 2};

    (void)arg;
    for (int i = 0; i < 3000; i++)
        weft_spawn(bounded_waits, &self, .copy_bytes = sizeof self, .bound = i % 3 ? NULL : &bound);
    for (int i = 0; i < 3000; i++)
        weft_receive(GO);
    weft_stop(0, long_time);
    weft_receive(NEVER);
}

Test(stop, ends_any_number)
{
    cr_expect_eq(weft_run(stops_thousands, NULL), 0);
    cr_expect_eq(counted().spawned, counted().ended);
}

static void stops_twice(void *arg)
{
    (void)arg;
    note("%d", weft_stop(1, long_time));
    note("%d", weft_stop(2, weft_ms(0)));
    weft_receive(NEVER);
}

Test(stop, is_told_once)
{
    cr_expect_eq(weft_run(stops_twice, NULL), 1);
    cr_expect_str_eq(noted(), "00");
}

static void react_to_exit(void *state, weft_msg *m)
{
    (void)state;
    note("%d", weft_get(m, WEFT_EXIT)->reason == WEFT_ESTOP);
}

static void reacts_to_exit(void *boss)
{
    weft_trap(true);
    weft_send(*(weft_pid *)boss, GO);
    weft_react(react_to_exit, NULL, WEFT_EXIT);
}

static void stops_a_closure(void *arg)
{
    (void)arg;
    start(reacts_to_exit);
    weft_stop(0, long_time);
    weft_receive(NEVER);
}

Test(stop, is_a_message_for_those_that_react)
{
    cr_expect_eq(weft_run(stops_a_closure, NULL), 0);
    cr_expect_str_eq(noted(), "1");
}

static void is_tried_in_a_deferred_function(void *arg)
{
    (void)arg;
    note("%d", weft_stop(6, long_time));
}

static void ends_and_stops(void *arg)
{
    (void)arg;
    weft_defer(is_tried_in_a_deferred_function, NULL);
}

static void spawns_one_that_ends_and_stops(void *arg)
{
    (void)arg;
    weft_spawn(ends_and_stops, NULL);
    weft_receive(NEVER);
}

Test(stop, may_be_called_by_a_deferred_function)
{
    cr_expect_eq(weft_run(spawns_one_that_ends_and_stops, NULL), 6);
    cr_expect_str_eq(noted(), "0");
}

static void leaves_it_to_the_end(void *arg)
{
    (void)arg;
    weft_defer(is_tried_in_a_deferred_function, NULL);
    weft_receive(NEVER);
}

static void ends_before_others(void *arg)
{
    (void)arg;
    weft_spawn(leaves_it_to_the_end, NULL);
    weft_yield();
    weft_yield();
}

Test(stop, is_too_late_while_a_system_is_taken_down)
{
    char text[16];

    cr_expect_eq(weft_run(ends_before_others, NULL, .workers = 1), 0);
    snprintf(text, sizeof text, "%d", WEFT_EGONE);
    cr_expect_str_eq(noted(), text);
}

Test(stop, needs_a_system)
{
    cr_expect_eq(weft_stop(0, long_time), WEFT_EGONE);
    cr_expect_eq(weft_run(stops_with_7, NULL), 7);
    cr_expect_eq(weft_stop(0, long_time), WEFT_EGONE);
    cr_expect_eq(weft_run(stops_with_7, NULL), 7);
}

/* ---- Supervisors first -------------------------------------------------------------------------------------- */

static void tells_if_it_is_told(void *arg)
{
    (void)arg;
    weft_trap(true);
    weft_receive(WEFT_EXIT);
    note("told ");
}

static void ignores_all(void *arg)
{
    (void)arg;
    weft_trap(true);
    weft_receive(NEVER);
}

static void supervises(int n, weft_fn *fn)
{
    weft_child child = {.fn = fn, .shutdown = WEFT_FOREVER};

    for (int i = 0; i < n; i++)
        weft_supervise(&(weft_supervisor){.children = &child, .count = 1});
    weft_yield(); /* they trap */
}

static void stops_many_supervisors(void *arg)
{
    (void)arg;
    supervises(2, tells_if_it_is_told); /* who began last is told first */
    supervises(100, ignores_all);
    supervises(1, tells_if_it_is_told);
    weft_stop(0, weft_sec(1));
    weft_receive(NEVER);
}

Test(stop, tells_all_supervisors_also_behind_those_that_do_not_stop)
{
    cr_expect_eq(weft_run(stops_many_supervisors, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "told told told ");
}

/* ---- What is in its way --------------------------------------------------------------------------------------- */

static atomic_bool no_memory;

static void *get(size_t bytes, void *with)
{
    (void)with;
    return no_memory ? NULL : malloc(bytes);
}

static void put(void *block, void *with)
{
    (void)with;
    free(block);
}

static int asleep, finished;

static void finishes(void *arg)
{
    (void)arg;
    weft_trap(true);
    asleep++;
    weft_sleep(weft_sec(3));
    finished++;
}

/* As many timers as there are actors. */
static void stops_without_memory(void *many)
{
    for (int i = 0; i < *(int *)many; i++)
        weft_spawn(finishes, NULL);
    while (asleep < *(int *)many)
        weft_yield();
    weft_stop(7, WEFT_FOREVER);
    no_memory = true;
}

Test(stop, takes_no_memory_when_it_has_begun)
{
    cr_assert_eq(weft_use_allocator(&(weft_allocator){get, put, NULL}), 0);
    for (int many = 1; many < 140; many++) { /* for some of them there is no room for one more */
        asleep = finished = 0;
        cr_expect_eq(weft_run(stops_without_memory, &many, .seed = 1), 7);
        no_memory = false;
        cr_expect_eq(finished, many);
    }
}

/* Who is none of those stops the system. */
static void kill_who_stops(weft_pid known)
{
    weft_pid all[3], self = weft_self();
    size_t   n = weft_list(all, 3);

    for (size_t i = 0; i < n && i < 3; i++)
        if (!weft_same(all[i], known) && !weft_same(all[i], self))
            note("%d ", weft_kill(all[i]));
}

static void kills_who_stops(void *arg)
{
    weft_pid p = start(will_not);

    (void)arg;
    weft_trap(true);
    weft_stop(7, WEFT_FOREVER);
    kill_who_stops(p);
}

Test(stop, is_over_when_who_does_it_is_killed)
{
    cr_expect_eq(weft_run(kills_who_stops, NULL, .seed = 1), 7);
    cr_expect_str_eq(noted(), "0 killed");
    cr_expect_eq(weft_run(kills_who_stops, NULL), 7);
    cr_expect_str_eq(noted(), "0 killed0 killed");
}

/* While a system is taken down there are no new actors. */
static void notes_whether_it_is_late(void *arg)
{
    (void)arg;
    note(weft_is_nobody(weft_spawn(waits, NULL)) ? "late " : "in time ");
}

static weft_span sleeps_before;

static void only_yields(void *boss)
{
    weft_trap(true);
    weft_defer(notes_whether_it_is_late, NULL);
    weft_send(*(weft_pid *)boss, GO);
    weft_sleep(sleeps_before);
    for (;;)
        weft_yield();
}

static void stops_one_that_only_yields(void *arg)
{
    (void)arg;
    start(only_yields);
    weft_stop(7, weft_sec(5));
    weft_receive(NEVER);
}

Test(stop, has_an_end_in_virtual_time_while_somebody_is_ready)
{
    cr_expect_eq(weft_run(stops_one_that_only_yields, NULL, .seed = 1), 7);
    sleeps_before = weft_ms(1); /* while who stops the system sleeps, too */
    cr_expect_eq(weft_run(stops_one_that_only_yields, NULL, .seed = 1), 7);
    cr_expect_str_eq(noted(), "in time in time ");
}

/* ---- From threads ------------------------------------------------------------------------------------------- */

static void *stops_as_a_thread(void *unused)
{
    int error = weft_stop(3, long_time);

    note(" %d", error); /* after all that was deferred */
    return unused;
}

static void starts_a_thread_that_stops(void *thread)
{
    for (int i = 0; i < 3; i++)
        start(waits_and_tells);
    pthread_create(thread, NULL, stops_as_a_thread, NULL);
    weft_receive(NEVER);
}

Test(stop, is_awaited_by_a_thread)
{
    pthread_t thread;

    cr_expect_eq(weft_run(starts_a_thread_that_stops, &thread), 3);
    pthread_join(thread, NULL);
    cr_expect_str_eq(noted(), "xxx 0");
}

static void starts_threads_that_stop(void *arg)
{
    pthread_t *thread = arg;

    for (int i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, stops_as_a_thread, NULL);
    weft_receive(NEVER);
}

Test(stop, is_awaited_by_many_threads_together)
{
    pthread_t thread[8];

    cr_expect_eq(weft_run(starts_threads_that_stop, thread), 3);
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
    for (const char *c = noted(); *c; c++) /* joined, or too late */
        cr_expect(strchr(" 0-1", *c), "%s", noted());
}

static void *waits_as_a_thread(void *boss)
{
    weft_self(); /* before that can end: who becomes an actor later waits for whoever comes then */
    weft_send(*(weft_pid *)boss, GO);
    note("%d", weft_receive(NEVER) == NULL);
    return NULL;
}

static void stops_beside_a_thread(void *thread)
{
    weft_pid self = weft_self();

    pthread_create(thread, NULL, waits_as_a_thread, &self);
    weft_receive(GO);
    weft_stop(0, long_time);
    weft_receive(NEVER);
}

Test(stop, ends_no_threads_but_their_waits)
{
    pthread_t thread;

    cr_expect_eq(weft_run(stops_beside_a_thread, &thread), 0);
    pthread_join(thread, NULL);
    cr_expect_str_eq(noted(), "1");
}

static atomic_bool stop_began;

static void *spawns_late(void *unused)
{
    while (!stop_began)
        sched_yield();
    while (!weft_is_nobody(weft_spawn(waits, NULL)))
        sched_yield();
    note("%d", weft_spawn_error() == WEFT_EENDED);
    return unused;
}

static void lets_a_thread_try(void *arg)
{
    pthread_t *thread = arg;

    weft_trap(true);
    pthread_create(thread, NULL, spawns_late, NULL);
    weft_stop(0, long_time);
    stop_began = true;
    pthread_join(*thread, NULL);
}

Test(stop, lets_no_thread_spawn)
{
    pthread_t thread;

    cr_expect_eq(weft_run(lets_a_thread_try, &thread, .workers = 2), 0);
    cr_expect_str_eq(noted(), "1");
}

/* ---- Systems that nobody has run ----------------------------------------------------------------------------- */

static void stops_as_asked(void *boss)
{
    if (boss)
        weft_send(*(weft_pid *)boss, GO);
    note("%d", weft_stop(1, long_time));
    weft_receive(NEVER);
}

Test(stop, ends_a_system_that_was_started_by_need)
{
    for (int i = 0; i < 3; i++) {
        start(waits_and_tells);
        start(waits_and_tells);
        cr_expect_eq(weft_stop(1, long_time), 0);
        cr_expect_eq(weft_stop(1, long_time), WEFT_EGONE);
    }
    cr_expect_str_eq(noted(), "xxxxxx");
    cr_expect_eq(counted().spawned, counted().ended + 1);
    cr_expect_eq(weft_run(stops_with_7, NULL), 7);
}

Test(stop, ends_such_a_system_from_an_actor)
{
    for (int i = 0; i < 3; i++) {
        start(waits_and_tells);
        start(stops_as_asked);
        cr_expect_null(weft_receive(NEVER));
        weft_stop(1, long_time); /* it may still be on the way: then until it is there */
    }
    cr_expect_eq(strlen(noted()), 6, "%s", noted());
}

/* ---- Those that do not come back ------------------------------------------------------------------------------ */

static atomic_bool may_go_on;
static atomic_int  came_back;

static void never_comes_back(void *boss)
{
    weft_send(*(weft_pid *)boss, GO);
    while (!may_go_on)
        sched_yield();
    came_back++;
    weft_receive(NEVER);
}

static void stops_one_that_is_stuck(void *workers)
{
    for (intptr_t i = 1; i < (intptr_t)workers; i++)
        start(never_comes_back);
    start(waits_and_tells);
    weft_stop(0, weft_ms(5));
    weft_receive(NEVER);
}

static void check(bool condition, int line)
{
    if (condition)
        return;
    note("line %d", line);
    _exit(line % 255 + 1);
}
#define CHECK(condition) check(condition, __LINE__)

static void is_stuck_and_comes_back(void)
{
    listen_to_stderr();
    int         result = weft_run(stops_one_that_is_stuck, (void *)3, .workers = 3);
    const char *said = what_was_said();
    CHECK(result == WEFT_ESTUCK);
    CHECK(strstr(said, "never_comes_back"));
    CHECK(lines(said) == 2);
    CHECK(strcmp(noted(), "x") == 0);
    CHECK(weft_run(waits, NULL) == WEFT_EBUSY);
    CHECK(weft_stop(0, long_time) == WEFT_ESTUCK);
    CHECK(weft_is_nobody(weft_spawn(waits, NULL)));
    CHECK(weft_spawn_error() == WEFT_EENDED);
    may_go_on = true;
    while (came_back < 2)
        sched_yield();
}

Test(stop, leaves_behind_those_that_do_not_come_back)
{
    int status = in_child(is_stuck_and_comes_back);

    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", (unsigned)status);
}

static void stops_and_never_comes_back(void *arg)
{
    (void)arg;
    start(waits_and_tells);
    weft_stop(0, weft_ms(5));
    weft_spawn(waits, NULL, .name = "behind");
    for (;;)
        sched_yield();
}

static void has_one_worker(void)
{
    listen_to_stderr();
    int result = weft_run(stops_and_never_comes_back, NULL, .workers = 1);
    CHECK(result == WEFT_ESTUCK);
    CHECK(strstr(what_was_said(), "stops_and_never_comes_back"));
    CHECK(strcmp(noted(), "x") == 0);
}

Test(stop, relies_on_no_worker)
{
    int status = in_child(has_one_worker);

    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", (unsigned)status);
}

static void waits_for_one_that_is_stuck(void)
{
    start(never_comes_back);
    listen_to_stderr();
    int result = weft_stop(0, weft_ms(5));
    what_was_said();
    CHECK(result == WEFT_ESTUCK);
    CHECK(weft_run(waits, NULL) == WEFT_EBUSY);
}

Test(stop, tells_a_thread_of_those_too)
{
    int status = in_child(waits_for_one_that_is_stuck);

    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", (unsigned)status);
}

/* ---- Waiting for all -------------------------------------------------------------------------------------------- */

static void notes_in_a_while(void *what)
{
    weft_sleep(weft_ms(2));
    note("%s", (char *)what);
}

static void spawns_and_goes(void *reason)
{
    for (int i = 0; i < 3; i++)
        weft_spawn(notes_in_a_while, "a");
    weft_end((int)(intptr_t)reason);
}

Test(wait_all, ends_with_the_last_and_gives_the_reason_of_the_first)
{
    for (int i = 0; i < 20; i++)
        cr_expect_eq(weft_run(spawns_and_goes, (void *)5, .wait_all = true), 5);
    cr_expect_str_eq(noted(), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
}

Test(wait_all, is_the_same_in_virtual_time)
{
    cr_expect_eq(weft_run(spawns_and_goes, (void *)5, .wait_all = true, .seed = 3), 5);
    cr_expect_str_eq(noted(), "aaa");
}

Test(wait_all, is_the_same_on_one_worker)
{
    cr_expect_eq(weft_run(spawns_and_goes, (void *)5, .wait_all = true, .workers = 1), 5);
    cr_expect_str_eq(noted(), "aaa");
}

static void goes(void *arg) { (void)arg; }

static void spawns_none(void *arg) { (void)arg; }

Test(wait_all, ends_when_the_first_was_the_last)
{
    cr_expect_eq(weft_run(spawns_none, NULL, .wait_all = true), 0);
}

static void chain(void *left)
{
    if (left)
        weft_spawn(chain, (char *)left - 1);
    else
        note("end");
}

Test(wait_all, waits_for_the_children_of_children)
{
    cr_expect_eq(weft_run(chain, (char *)NULL + 20000, .wait_all = true), 0);
    cr_expect_str_eq(noted(), "end");
}

static void sends_to_itself_late(void *arg)
{
    (void)arg;
    weft_send_after(weft_sec(3600), weft_self(), GO);
    weft_spawn(goes, NULL);
}

Test(wait_all, waits_for_no_timer)
{
    cr_expect_eq(weft_run(sends_to_itself_late, NULL, .wait_all = true), 0);
}

static void *sends_go(void *to)
{
    weft_self(); /* a thread that is an actor does not count */
    weft_send(*(weft_pid *)to, GO);
    return NULL;
}

static weft_pid awaited;

static void waits_for_go(void *arg)
{
    (void)arg;
    weft_receive(GO);
    note("went");
}

static void leaves_one_to_a_thread(void *thread)
{
    awaited = weft_spawn(waits_for_go, NULL);
    pthread_create(thread, NULL, sends_go, &awaited);
}

Test(wait_all, waits_for_one_that_a_thread_writes_to)
{
    pthread_t thread;

    cr_expect_eq(weft_run(leaves_one_to_a_thread, &thread, .wait_all = true), 0);
    pthread_join(thread, NULL);
    cr_expect_str_eq(noted(), "went");
}

static void leaves_one_that_stops(void *arg)
{
    (void)arg;
    weft_spawn(stops_as_asked, NULL);
    weft_spawn(waits, NULL);
    weft_end(9);
}

Test(wait_all, is_ended_by_a_stop_with_its_reason)
{
    cr_expect_eq(weft_run(leaves_one_that_stops, NULL, .wait_all = true), 1);
}

Test(wait_all, does_not_concern_the_next_run)
{
    cr_expect_eq(weft_run(spawns_none, NULL, .wait_all = true), 0);
    cr_expect_eq(weft_run(ends_before_others, NULL, .workers = 1), 0);
}
