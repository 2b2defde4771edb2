/* test_look.c - what weft/inspect.h promises of weft_list and weft_look.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/bound.h>
#include <weft/case.h>

#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(look, .fini = nothing_leaks, .timeout = 60);

WEFT_MESSAGE(A, int);
WEFT_MESSAGE(B, int);
WEFT_SIGNAL(GO);
WEFT_SIGNAL(STOP);
WEFT_SIGNAL(A_TYPE_WITH_A_NAME_THAT_IS_RATHER_LONG);

static void run(weft_fn *first) { cr_assert_eq(weft_run(first, NULL, .workers = 1), 0); }

static weft_view seen(weft_pid who)
{
    weft_view v = {0};

    if (weft_look(who, &v, sizeof v) < 0)
        note("gone ");
    return v;
}

/* When it waits. */
static weft_view seen_waiting(weft_pid who)
{
    weft_view v;

    while (!(v = seen(who)).known && *v.state)
        weft_yield();
    return v;
}

static void note_wait(weft_pid who)
{
    weft_view v = seen_waiting(who);

    note("%s[%s] ", v.state, v.waits_for);
}

static void until_gone(weft_pid who)
{
    while (weft_look(who, NULL, 0) == 0)
        weft_yield();
}

static void stop(weft_pid who)
{
    weft_send_urgent(who, STOP);
    until_gone(who);
}

static void noted_is(const char *what)
{
    cr_expect_str_eq(noted(), what);
    forget_notes();
}

/* ---- What an actor waits for ----------------------------------------------------------------------------------- */

static void waits_for_one(void *arg)
{
    (void)arg;
    weft_receive(STOP);
}

static void waits_for_several(void *arg)
{
    (void)arg;
    weft_receive(A, B, STOP);
}

static void waits_for_many(void *arg)
{
    weft_type *types[40];

    (void)arg;
    for (unsigned i = 0; i < 40; i++)
        types[i] = i < 39 ? &weft_type_A_TYPE_WITH_A_NAME_THAT_IS_RATHER_LONG : &weft_type_STOP;
    weft_receive_types(WEFT_FOREVER, types, 40);
}

static void waits_for_anything(void *arg)
{
    (void)arg;
    weft_receive(WEFT_ANY);
}

static void looks_at_receivers(void *arg)
{
    weft_fn *fns[] = {waits_for_one, waits_for_several, waits_for_many, waits_for_anything};

    (void)arg;
    for (size_t i = 0; i < sizeof fns / sizeof *fns; i++) {
        weft_pid who = weft_spawn(fns[i], NULL);
        note_wait(who);
        stop(who);
    }
}

Test(look, tells_which_types_an_actor_receives)
{
    run(looks_at_receivers);
    noted_is("receives[STOP] receives[A, B, STOP] "
             "receives[A_TYPE_WITH_A_NAME_THAT_IS_RATHER_LONG, ...] receives[WEFT_ANY] ");
}

static bool is_one(const weft_msg *m, const void *with)
{
    (void)with;
    return *weft_get(m, A) == 1;
}

static const weft_case  on_stop[] = {WEFT_ON(STOP, NULL), WEFT_ON(B, NULL)};
static const weft_cases always = WEFT_CASES(on_stop, NULL);
static const weft_case  on_more[] = {WEFT_ON_IF(A, NULL, is_one, NULL), WEFT_ON(A, NULL), WEFT_ON(GO, NULL)};
static const weft_cases some = WEFT_CASES(on_more, &always);

static void waits_for_cases(void *arg)
{
    (void)arg;
    weft_receive_case(WEFT_FOREVER, &some);
}

static void reacts_to_cases(void *arg)
{
    (void)arg;
    weft_react_case(&some, NULL);
}

static void becomes(void *arg)
{
    (void)arg;
    weft_become(&always, NULL);
}

static void looks_at_cases(void *arg)
{
    weft_pid w = weft_spawn(waits_for_cases, NULL), r = weft_spawn(reacts_to_cases, NULL),
             b = weft_spawn(becomes, NULL);

    (void)arg;
    note_wait(w);
    note_wait(r);
    note_wait(b);
    stop(w);
    stop(r);
}

Test(look, tells_the_types_of_cases_each_once)
{
    run(looks_at_cases);
    noted_is("receives[A, GO, STOP, B] reacts[A, GO, STOP, B] reacts[STOP, B] ");
}

static void handle(void *state, weft_msg *m)
{
    (void)state;
    (void)m;
}

static void reacts_to_one(void *arg)
{
    (void)arg;
    weft_react(handle, NULL, STOP);
}

static void reacts_to_several(void *arg)
{
    (void)arg;
    weft_react_within(weft_ms(100000), handle, NULL, A, STOP);
}

static void sleeps(void *arg)
{
    (void)arg;
    weft_sleep(weft_ms(100000));
}

static void never_answers(void *arg)
{
    (void)arg;
    weft_receive(STOP);
}

static weft_pid deaf;

static void asks(void *arg)
{
    (void)arg;
    weft_ask(WEFT_FOREVER, deaf, A, 1);
}

static void asks_and_reacts(void *arg)
{
    (void)arg;
    weft_then(weft_request(deaf, A, 1), WEFT_FOREVER, handle, NULL);
    weft_react(handle, NULL, STOP);
}

static void asks_and_leaves_it(void *arg)
{
    (void)arg;
    weft_then(weft_request(deaf, A, 1), WEFT_FOREVER, handle, NULL);
}

static void looks_at_the_rest(void *arg)
{
    weft_fn *fns[] = {reacts_to_one, reacts_to_several, sleeps, asks, asks_and_reacts, asks_and_leaves_it};

    (void)arg;
    deaf = weft_spawn(never_answers, NULL, .name = "deaf");
    for (size_t i = 0; i < sizeof fns / sizeof *fns; i++)
        note_wait(weft_spawn(fns[i], NULL));
}

Test(look, tells_who_reacts_sleeps_and_awaits)
{
    run(looks_at_the_rest);
    noted_is("reacts[STOP] reacts[A, STOP] sleeps[] awaits[a response of \"deaf\"] "
             "reacts[STOP, a response] reacts[a response] ");
}

static weft_pid nameless;

static void awaits_nameless(void *arg)
{
    (void)arg;
    weft_ask(WEFT_FOREVER, nameless, A, 1);
}

static void asks_two_and_awaits_one(void *arg)
{
    weft_pending one = weft_request(nameless, A, 1), other = weft_request(nameless, A, 2);

    (void)arg;
    weft_await(one, WEFT_FOREVER);
    weft_await(other, WEFT_FOREVER);
}

static void looks_at_who_awaits(void *arg)
{
    char text[64];

    (void)arg;
    nameless = weft_spawn(never_answers, NULL);
    snprintf(text, sizeof text, "a response of %llx", (unsigned long long)nameless.id);
    weft_view v = seen_waiting(weft_spawn(awaits_nameless, NULL));
    note("%d %d ", strcmp(v.waits_for, text) == 0, weft_same(v.waits_at, nameless));
    v = seen_waiting(weft_spawn(asks_two_and_awaits_one, NULL));
    note("%s %d", v.waits_for, weft_is_nobody(v.waits_at));
}

Test(look, tells_whom_one_has_asked_that_awaits_if_it_is_only_one)
{
    run(looks_at_who_awaits);
    noted_is("1 1 a response 1");
}

/* ---- Waiting for room ------------------------------------------------------------------------------------------ */

static void knocks(void *full)
{
    weft_send_within(WEFT_FOREVER, *(weft_pid *)full, A, 1);
    weft_receive(STOP);
}

static void looks_at_who_knocks(void *arg)
{
    weft_pid full = weft_spawn(waits_for_one, NULL, .bound = &(weft_bound){.messages = 2}, .name = "full"),
             other = weft_spawn(waits_for_one, NULL, .bound = &(weft_bound){.messages = 1});
    char text[64];

    (void)arg;
    weft_send(full, A, 1);
    weft_send(full, A, 1);
    weft_send(other, A, 1);
    note_wait(weft_spawn(knocks, &full));
    weft_pid  last = weft_spawn(knocks, &other);
    weft_view v = seen_waiting(last);
    snprintf(text, sizeof text, "room at %llx", (unsigned long long)other.id);
    if (strcmp(v.waits_for, text) != 0 || strcmp(v.state, "knocks") != 0)
        note("%s[%s] ", v.state, v.waits_for);
    note("%zu %zu", seen_waiting(full).mailbox, seen_waiting(other).mailbox);
}

Test(look, tells_who_waits_for_room_and_where)
{
    run(looks_at_who_knocks);
    noted_is("knocks[room at \"full\"] 2 1");
}

/* ---- Who it is ------------------------------------------------------------------------------------------------- */

static void note_who(weft_pid who)
{
    weft_view v = seen(who);

    note("%s:%s:%s:%d ", v.name, v.function, v.state, v.known);
}

static void looks_at_names(void *arg)
{
    (void)arg;
    note_who(weft_self());
    weft_pid plain = weft_spawn(waits_for_one, NULL),
             named = weft_spawn(waits_for_one, NULL, .name = "given"),
             bounded = weft_spawn(waits_for_one, NULL, .bound = &(weft_bound){.messages = 1});
    note_who(plain); /* not one of them has begun */
    note_who(named);
    note_who(bounded);
    weft_register("later", plain);
    weft_register("again", plain);
    note_who(plain);
    forget_notes();
    note_who(weft_self());
    seen_waiting(plain);
    seen_waiting(named);
    seen_waiting(bounded);
    note_who(plain);
    note_who(named);
    note_who(bounded);
}

Test(look, tells_names_and_functions_of_those_that_wait)
{
    run(looks_at_names);
    noted_is(":looks_at_names:runs:0 again:waits_for_one:receives:1 given:waits_for_one:receives:1 "
             ":waits_for_one:receives:1 ");
}

static void looks_at_new_ones(void *arg)
{
    (void)arg;
    note_who(weft_spawn(waits_for_one, NULL));
    note_who(weft_spawn(waits_for_one, NULL, .name = "given"));
    note_who(weft_spawn(reacts_to_one, NULL, .bound = &(weft_bound){.messages = 1}));
    weft_view v = seen(weft_self());
    note("%s %lld %zu %zu %zu", v.waits_for, (long long)v.waiting.ns, v.mailbox, v.stack_used, v.stack_bytes);
}

Test(look, tells_little_of_those_that_run_or_are_ready)
{
    run(looks_at_new_ones);
    noted_is(":waits_for_one:ready:0 given:waits_for_one:ready:0 :reacts_to_one:ready:0  0 0 0 0");
}

static void looks_at_a_long_name(void *arg)
{
    char name[200];

    (void)arg;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    weft_view v = seen_waiting(weft_spawn(waits_for_one, NULL, .name = name));
    note("%zu", strlen(v.name));
}

Test(look, cuts_a_long_name)
{
    run(looks_at_a_long_name);
    noted_is("63");
}

static void looks_at_the_dead(void *arg)
{
    weft_pid who = weft_spawn(waits_for_one, NULL);

    (void)arg;
    stop(who);
    weft_view v = {.mailbox = 7};
    note("%d ", weft_look(who, &v, sizeof v));
    weft_pid next = weft_spawn(waits_for_one, NULL); /* in the same place */
    note("%d ", weft_look(who, &v, sizeof v));
    note("%d %d ", weft_look(WEFT_NOBODY, &v, sizeof v), weft_look((weft_pid){UINT64_MAX}, &v, sizeof v));
    note("%zu ", v.mailbox);
    note("%d", weft_look(next, &v, sizeof v));
}

Test(look, finds_nobody_who_has_ended_or_never_was)
{
    char expected[64];

    run(looks_at_the_dead);
    snprintf(expected, sizeof expected, "%1$d %1$d %1$d %1$d 7 0", WEFT_EGONE);
    noted_is(expected);
}

static void looks_with_little_room(void *arg)
{
    weft_pid  who = weft_spawn(waits_for_one, NULL);
    weft_view v;

    (void)arg;
    seen_waiting(who);
    memset(&v, 'x', sizeof v);
    note("%d ", weft_look(who, &v, offsetof(weft_view, name)));
    note("%d %c %c", weft_same(v.who, who), v.name[0], v.state[0]);
}

Test(look, fills_no_more_than_there_is_room)
{
    run(looks_with_little_room);
    noted_is("0 1 x x");
}

/* ---- Numbers --------------------------------------------------------------------------------------------------- */

static void looks_at_mailboxes(void *arg)
{
    weft_pid fiber = weft_spawn(waits_for_one, NULL), handler = weft_spawn(reacts_to_one, NULL);

    (void)arg;
    for (int i = 0; i < 1000; i++) {
        weft_send(fiber, A, i);
        weft_send(handler, B, i);
        if (i == 0 || i == 6 || i == 999)
            note("%zu %zu ", seen_waiting(fiber).mailbox, seen_waiting(handler).mailbox);
    }
}

Test(look, counts_the_messages_in_a_mailbox)
{
    run(looks_at_mailboxes);
    noted_is("1 1 7 7 1000 1000 ");
}

static void looks_at_time(void *arg)
{
    weft_pid  forever = weft_spawn(waits_for_one, NULL), timed = weft_spawn(reacts_to_several, NULL);
    weft_view f = seen_waiting(forever), t = seen_waiting(timed);

    (void)arg;
    weft_sleep(weft_ms(5000));
    weft_view g = seen(forever), u = seen(timed);
    note("%d %d ", g.waiting.ns - f.waiting.ns >= weft_ms(5000).ns,
         u.waiting.ns - t.waiting.ns >= weft_ms(5000).ns);
    note("%d %d ", f.left.ns == INT64_MAX, g.left.ns == INT64_MAX);
    note("%d %d ", t.left.ns > weft_ms(94000).ns, u.left.ns <= weft_ms(95000).ns);
    for (int i = 0; i < 100; i++)
        seen(forever); /* no look begins its wait anew */
    note("%d", seen(forever).waiting.ns >= g.waiting.ns);
}

Test(look, tells_how_long_an_actor_waits_already_and_still)
{
    cr_assert_eq(weft_run(looks_at_time, NULL, .seed = 1), 0); /* its clock is virtual */
    noted_is("1 1 1 1 1 1 1");
}

static void has_bonds(void *arg)
{
    const weft_pid *others = arg;

    weft_link(others[0]);
    weft_link(others[1]);
    weft_monitor(others[1]);
    weft_monitor(others[2]);
    weft_monitor(others[2]);
    weft_receive(STOP);
}

static void looks_at_bonds(void *arg)
{
    weft_pid others[3];

    (void)arg;
    for (int i = 0; i < 3; i++)
        others[i] = weft_spawn(waits_for_one, NULL);
    weft_pid  who = weft_spawn(has_bonds, others);
    weft_view v = seen_waiting(who), w = seen_waiting(others[1]), x = seen_waiting(others[2]);
    note("%zu %zu, %zu %zu, %zu %zu", v.links, v.monitors, w.links, w.monitors, x.links, x.monitors);
}

Test(look, counts_links_and_monitors)
{
    run(looks_at_bonds);
    noted_is("2 3, 1 0, 0 0");
}

enum { DEEP = 30000 };
#ifdef __SANITIZE_ADDRESS__
enum { FOR_MEMSET = 6000 }; /* the sanitizer's */
#else
enum { FOR_MEMSET = 2000 };
#endif

static __attribute__((noinline)) void uses_all(void)
{
    void *low, *high;
    char  here;

    weft_stack_bounds(&low, &high);
    size_t room = (size_t)(&here - (char *)low) - FOR_MEMSET;
    memset(opaque(__builtin_alloca(room)), 1, room);
}

static void has_used_all(void *arg)
{
    (void)arg;
    uses_all();
    weft_receive(STOP);
}

static void looks_at_a_full_stack(void *arg)
{
    weft_view full = seen_waiting(weft_spawn(has_used_all, NULL));

    (void)arg;
    note("%d", full.stack_used == full.stack_bytes);
}

Test(look, tells_of_a_stack_that_was_used_to_the_end_that_it_was)
{
    run(looks_at_a_full_stack);
    noted_is("1");
}

static __attribute__((noinline)) void goes_deep(void)
{
    char room[DEEP];

    memset(opaque(room), 1, sizeof room);
    opaque(room);
}

static void has_been_deep(void *arg)
{
    (void)arg;
    goes_deep();
    weft_receive(STOP);
}

static void looks_at_stacks(void *arg)
{
    weft_view r = seen_waiting(weft_spawn(reacts_to_one, NULL)),
              d = seen_waiting(weft_spawn(has_been_deep, NULL, .stack_bytes = 100000));

    (void)arg;
    note("%zu %zu %d %d %d", r.stack_used, r.stack_bytes, d.stack_used >= DEEP, d.stack_used <= d.stack_bytes,
         d.stack_bytes >= 100000);
}

Test(look, tells_how_much_of_its_stack_an_actor_used)
{
    run(looks_at_stacks);
    noted_is("0 0 1 1 1");
}

/* ---- Threads --------------------------------------------------------------------------------------------------- */

static _Atomic uint64_t thread_pid;

static void *waits_as_thread(void *arg)
{
    thread_pid = weft_self().id;
    note("%s ", weft_receive_within(weft_ms(50), A) ? "something" : "nothing");
    weft_msg *m = weft_receive(A, STOP);
    note("%d ", weft_tag(m) == STOP);
    return arg;
}

/* All the time until it has ended. */
static void looks_at_a_thread(void *arg)
{
    bool      timed = false, forever = false, wrong = false;
    pthread_t thread;

    (void)arg;
    pthread_create(&thread, NULL, waits_as_thread, NULL);
    while (!thread_pid)
        weft_yield();
    for (weft_view v; weft_look((weft_pid){thread_pid}, &v, sizeof v) == 0;) {
        wrong = wrong || strcmp(v.function, "thread") != 0 || (v.known && strcmp(v.state, "receives") != 0);
        timed = timed || (strcmp(v.waits_for, "A") == 0 && v.left.ns <= weft_ms(50).ns);
        if (v.known && strcmp(v.waits_for, "A, STOP") == 0 && v.left.ns == INT64_MAX && !forever) {
            forever = true;
            weft_send((weft_pid){thread_pid}, STOP);
        }
    }
    pthread_join(thread, NULL);
    note("%d %d %d", timed, forever, wrong);
}

Test(look, leaves_threads_their_messages_and_times)
{
    run(looks_at_a_thread);
    noted_is("nothing 1 1 1 0");
}

/* ---- Whoever looks --------------------------------------------------------------------------------------------- */

static atomic_bool looked;
static weft_pid    looked_at;

static void *looks_from_a_thread(void *arg) /* which is no actor, and becomes none */
{
    note_who(looked_at);
    looked = true;
    return arg;
}

static void lets_a_thread_look(void *arg)
{
    pthread_t thread;

    (void)arg;
    looked_at = weft_spawn(waits_for_one, NULL);
    seen_waiting(looked_at);
    pthread_create(&thread, NULL, looks_from_a_thread, NULL);
    pthread_join(thread, NULL);
    stop(looked_at);
}

Test(look, can_be_taken_by_any_thread)
{
    run(lets_a_thread_look);
    noted_is(":waits_for_one:receives:1 ");
    cr_expect_eq(counted().spawned, 2);
}

static void *looks_all_the_time(void *arg)
{
    while (!looked)
        weft_look(looked_at, NULL, 0);
    return arg;
}

enum { MANY = 20000 };

static void adds(void *sum)
{
    for (int i = 0; i < MANY; i++)
        *(long *)sum += *weft_get(weft_receive(A), A);
}

static void sends_to_who_is_looked_at(void *arg)
{
    long      sum = 0;
    pthread_t thread;

    (void)arg;
    looked_at = weft_spawn(adds, &sum);
    pthread_create(&thread, NULL, looks_all_the_time, NULL);
    for (int i = 0; i < MANY; i++) {
        weft_send(looked_at, A, i);
        if (i % 3 == 0)
            weft_yield();
    }
    until_gone(looked_at);
    looked = true;
    pthread_join(thread, NULL);
    note("%d", sum == (long)MANY * (MANY - 1) / 2);
}

Test(look, loses_no_message_of_who_is_looked_at)
{
    run(sends_to_who_is_looked_at);
    noted_is("1");
}

/* ---- Lists ----------------------------------------------------------------------------------------------------- */

enum { CROWD = 1000 };

static bool is_in(const weft_pid *list, size_t n, weft_pid who)
{
    unsigned found = 0;

    for (size_t i = 0; i < n; i++)
        found += weft_same(list[i], who);
    return found == 1;
}

static void lists(void *arg)
{
    static weft_pid all[CROWD], list[CROWD + 10];
    size_t          found = 0;

    (void)arg;
    for (unsigned i = 0; i < CROWD; i++)
        all[i] = i % 2 ? weft_spawn(waits_for_one, NULL)
                       : weft_spawn(waits_for_one, NULL, .bound = &(weft_bound){.messages = 1});
    note("%zu ", weft_list(list, CROWD + 10));
    for (unsigned i = 0; i < CROWD; i++)
        found += is_in(list, CROWD + 1, all[i]);
    note("%zu %d ", found, is_in(list, CROWD + 1, weft_self()));
    for (unsigned i = 0; i < CROWD / 2; i++)
        stop(all[i]);
    note("%zu ", weft_list(NULL, 0));
    list[3] = WEFT_NOBODY;
    note("%zu %d", weft_list(list, 3), weft_is_nobody(list[3]));
}

Test(look, lists_all_actors_there_are)
{
    run(lists);
    noted_is("1001 1000 1 501 501 1");
    cr_expect_eq(weft_list(NULL, 0), 0);
}
