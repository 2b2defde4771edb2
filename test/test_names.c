/* test_names.c - what part 9 of weft.h promises of names: one owner at most, until it ends.
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

#include "base/memory.h"
#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(names, .fini = nothing_leaks, .timeout = 60);

WEFT_MESSAGE(A, int);
WEFT_MESSAGE(B, int);
WEFT_SIGNAL(GO);
WEFT_SIGNAL(STOP);
WEFT_SIGNAL(DONE);

static void run(weft_fn *first) { cr_assert_eq(weft_run(first, NULL), 0); }

/* "0", or the name of what is wrong. */
static const char *said(int error)
{
    switch (error) {
    case 0:
        return "0";
    case WEFT_EGONE:
        return "gone";
    case WEFT_EUSED:
        return "used";
    case WEFT_EINVALID:
        return "invalid";
    case WEFT_EMEMORY:
        return "memory";
    default:
        return "?";
    }
}

static bool is_free(const char *name) { return weft_is_nobody(weft_whereis(name)); }
static bool has(weft_pid who, const char *name) { return weft_same(weft_whereis(name), who); }

static void lives(void *arg)
{
    (void)arg;
    weft_receive(STOP);
}

static void until_free(const char *name)
{
    while (!is_free(name))
        weft_yield();
}

static void until_gone(weft_pid who)
{
    while (weft_send(who, GO) == 0)
        weft_yield();
}

static void stop(weft_pid who)
{
    weft_send(who, STOP);
    until_gone(who);
}

/* ---- Register, look up, unregister ----------------------------------------------------------- */

static void registers(void *arg)
{
    weft_pid other = weft_spawn(lives, NULL);

    (void)arg;
    note("%s ", is_free("one") ? "free" : "taken");
    note("%s ", said(weft_register("one", weft_self())));
    note("%s ", said(weft_register("other", other)));
    note("%s ", has(weft_self(), "one") && has(other, "other") ? "found" : "lost");
}

Test(names, belong_to_whom_they_were_registered_for)
{
    run(registers);
    cr_expect_str_eq(noted(), "free 0 0 found ");
}

static void unregisters(void *arg)
{
    (void)arg;
    weft_register("one", weft_self());
    note("%s ", said(weft_unregister("one")));
    note("%s ", is_free("one") ? "free" : "taken");
    note("%s ", said(weft_unregister("one")));
}

Test(names, are_free_once_they_are_unregistered)
{
    run(unregisters);
    cr_expect_str_eq(noted(), "0 free gone ");
}

static void registers_several(void *arg)
{
    weft_pid me = weft_self();

    (void)arg;
    weft_register("one", me);
    weft_register("two", me);
    weft_register("three", me);
    note("%d ", has(me, "one") && has(me, "two") && has(me, "three"));
    weft_unregister("two");
    note("%d ", has(me, "one") && is_free("two") && has(me, "three"));
}

Test(names, may_be_several_of_one_actor)
{
    run(registers_several);
    cr_expect_str_eq(noted(), "1 1 ");
}

static void registers_twice(void *arg)
{
    weft_pid other = weft_spawn(lives, NULL);

    (void)arg;
    weft_register("one", weft_self());
    note("%s ", said(weft_register("one", other)));
    note("%s ", said(weft_register("one", weft_self())));
    note("%s ", has(weft_self(), "one") ? "still" : "lost");
    stop(other);
    note("%s ", has(weft_self(), "one") ? "still" : "lost");
}

Test(names, that_are_taken_stay_with_whom_they_belong_to)
{
    run(registers_twice);
    cr_expect_str_eq(noted(), "used used still still ");
}

static void registers_alike(void *arg)
{
    static const char *const alike[] = {"name", "Name", "name ", "nam", " name", "n\xc3\xa4me", "\x01", "%s"};
    weft_pid                 who[8];

    (void)arg;
    for (int i = 0; i < 8; i++)
        note("%s", said(weft_register(alike[i], who[i] = weft_spawn(lives, NULL))));
    for (int i = 0; i < 8; i++)
        note("%d", has(who[i], alike[i]));
}

Test(names, are_told_apart_byte_by_byte)
{
    run(registers_alike);
    cr_expect_str_eq(noted(), "0000000011111111");
}

static void registers_from_a_buffer(void *arg)
{
    char     text[] = "first", other[] = "other";
    weft_pid p = weft_spawn(lives, NULL, .name = other);

    (void)arg;
    weft_register(text, weft_self());
    memcpy(text, "wrong", 5);
    memcpy(other, "wrong", 5);
    note("%d%d%d", has(weft_self(), "first"), has(p, "other"), is_free("wrong"));
}

Test(names, are_copied)
{
    run(registers_from_a_buffer);
    cr_expect_str_eq(noted(), "111");
}

/* ---- Wrong names ----------------------------------------------------------------------------- */

static char long_name[300];

static const char *of_length(size_t n)
{
    memset(long_name, 'x', n);
    long_name[n] = 0;
    return long_name;
}

static void uses_wrong_names(void *arg)
{
    weft_pid me = weft_self();

    (void)arg;
    for (int i = 0; i < 3; i++) {
        const char *name = i == 0 ? NULL : i == 1 ? "" : of_length(256);
        note("%s ", said(weft_register(name, me)));
        note("%s ", said(weft_unregister(name)));
        note("%s ", is_free(name) ? "free" : "taken");
        note("%s ", said(weft_send_name(name, A, 1)));
    }
    note("%s ", weft_receive_within(weft_ms(0), A) ? "sent" : "nothing");
}

Test(names, that_are_none_or_too_long_are_refused)
{
    run(uses_wrong_names);
    cr_expect_str_eq(noted(), "invalid invalid free invalid invalid invalid free invalid "
                              "invalid invalid free invalid nothing ");
}

static void uses_the_longest_name(void *arg)
{
    weft_pid me = weft_self();

    (void)arg;
    note("%s ", said(weft_register(of_length(255), me)));
    note("%s ", has(me, of_length(255)) && is_free(of_length(254)) ? "found" : "lost");
    note("%s ", said(weft_send_name(of_length(255), A, 1)));
    note("%s ", weft_name(weft_receive(A)));
    note("%s ", said(weft_unregister(of_length(255))));
}

Test(names, may_be_255_bytes_long)
{
    run(uses_the_longest_name);
    cr_expect_str_eq(noted(), "0 found 0 A 0 ");
}

static void registers_nobody(void *arg)
{
    weft_pid dead = weft_spawn(lives, NULL), never = {dead.id + ((uint64_t)1 << 62)};

    (void)arg;
    stop(dead);
    note("%s ", said(weft_register("one", dead)));
    note("%s ", said(weft_register("one", WEFT_NOBODY)));
    note("%s ", said(weft_register("one", never)));
    note("%s ", said(weft_register("one", (weft_pid){UINT64_MAX})));
    note("%s ", is_free("one") ? "free" : "taken");
    note("%s ", said(weft_register("one", weft_self())));
}

Test(names, cannot_be_registered_for_those_who_are_not_there)
{
    run(registers_nobody);
    cr_expect_str_eq(noted(), "gone gone gone gone free 0 ");
}

static void uses_unknown_names(void *arg)
{
    (void)arg;
    note("%s ", is_free("one") ? "nobody" : "somebody");
    note("%s ", said(weft_unregister("one")));
    note("%s ", said(weft_send_name("one", A, 1)));
}

Test(names, that_nobody_has_lead_nowhere)
{
    run(uses_unknown_names);
    cr_expect_str_eq(noted(), "nobody gone gone ");
}

/* ---- Sending --------------------------------------------------------------------------------- */

static void tells(void *arg)
{
    (void)arg;
    for (;;) {
        weft_msg *m = weft_receive(A);
        weft_reply(m, B, *weft_get(m, A) + 1);
    }
}

static void sends_by_name(void *arg)
{
    weft_pid p = weft_spawn(tells, NULL);

    (void)arg;
    weft_register("teller", p);
    note("%s ", said(weft_send_name("teller", A, 1)));
    weft_msg *m = weft_receive(B);
    note("%d %d", *weft_get(m, B), weft_same(weft_sender(m), p));
}

Test(names, can_be_sent_to_and_answer_the_sender)
{
    run(sends_by_name);
    cr_expect_str_eq(noted(), "0 2 1");
}

static void sends_to_both(void *arg)
{
    (void)arg;
    weft_register("me", weft_self());
    for (int i = 0; i < 10; i++)
        i % 2 ? weft_send_name("me", A, i) : weft_send(weft_self(), A, i);
    for (int i = 0; i < 10; i++)
        note("%d", *weft_get(weft_receive(A), A));
}

Test(names, get_messages_in_the_order_in_which_one_sender_sent_them)
{
    run(sends_to_both);
    cr_expect_str_eq(noted(), "0123456789");
}

static void says_its_number(void *number)
{
    weft_reply(weft_receive(A), B, *(int *)number);
    weft_receive(STOP);
}

static void moves_a_name(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 3; i++) {
        weft_pid p = weft_spawn(says_its_number, &i, .copy_bytes = sizeof i);
        note("%s", said(weft_register("server", p)));
        weft_send_name("server", A, 0);
        note("%d ", *weft_get(weft_receive(B), B));
        if (i == 2)
            stop(p); /* the name goes with it */
        else
            weft_unregister("server");
        until_free("server");
    }
}

Test(names, may_be_used_again_by_another_when_they_are_free)
{
    run(moves_a_name);
    cr_expect_str_eq(noted(), "01 02 03 ");
}

static atomic_int destroyed;

struct thing {
    void *memory;
};
static void destroy_thing(void *body)
{
    destroyed++;
    free(((struct thing *)body)->memory);
}
WEFT_MESSAGE_OWNING(THING, destroy_thing, struct thing);

static void note_send(const char *name)
{
    int error = weft_send_name(name, THING, malloc(8));

    note("%s%d ", said(error), destroyed);
}

static void sends_what_owns(void *arg)
{
    (void)arg;
    note_send("nobody");
    note_send("");
    note_send(of_length(256));
    weft_register("me", weft_self());
    note_send("me");
    weft_drop(weft_receive(THING));
    note("%d ", destroyed);
}

Test(names, that_cannot_be_sent_to_destroy_what_the_body_owns_once)
{
    run(sends_what_owns);
    cr_expect_str_eq(noted(), "gone1 invalid2 invalid3 03 4 ");
}

/* ---- Spawning with a name -------------------------------------------------------------------- */

static void spawns_with_a_name(void *arg)
{
    weft_pid p = weft_spawn(lives, NULL, .name = "child");

    (void)arg;
    note("%d ", has(p, "child"));
    weft_register("nickname", p);
    note("%s ", said(weft_unregister("child")));
    note("%d%d ", is_free("child"), has(p, "nickname"));
    stop(p);
    until_free("nickname");
}

Test(names, are_registered_by_spawn)
{
    run(spawns_with_a_name);
    cr_expect_str_eq(noted(), "1 0 11 ");
}

static void never_runs(void *arg)
{
    (void)arg;
    note("never ");
}

static void spawns_with_a_taken_name(void *arg)
{
    int      number = 1;
    weft_pid p = weft_spawn(lives, NULL, .name = "child");
    weft_pid q = weft_spawn(never_runs, &number, .name = "child", .copy_bytes = sizeof number,
                            .stack_bytes = 200000);

    (void)arg;
    note("%s %s ", weft_is_nobody(q) ? "nobody" : "somebody", said(weft_spawn_error()));
    note("%d ", has(p, "child"));
    weft_register("me", weft_self());
    note("%d ", weft_is_nobody(weft_spawn(never_runs, NULL, .name = "me")));
    stop(p);
    until_free("child");
    note("%d ", has(weft_self(), "me"));
    note("%d ", has(weft_spawn(lives, NULL, .name = "child"), "child"));
}

Test(names, that_are_taken_let_a_spawn_fail_and_leave_nothing)
{
    run(spawns_with_a_taken_name);
    cr_expect_str_eq(noted(), "nobody used 1 1 1 1 ");
    cr_expect_eq(counted().spawned, counted().ended);
}

static void spawns_with_a_long_name(void *arg)
{
    (void)arg;
    note("%s ", weft_is_nobody(weft_spawn(never_runs, NULL, .name = of_length(256))) ? "nobody" : "?");
    note("%s ", said(weft_spawn_error()));
    note("%d ", has(weft_spawn(lives, NULL, .name = of_length(255)), of_length(255)));
}

Test(names, that_are_too_long_let_a_spawn_fail)
{
    run(spawns_with_a_long_name);
    cr_expect_str_eq(noted(), "nobody invalid 1 ");
    cr_expect_eq(counted().spawned, counted().ended);
}

/* ---- The end of the owner -------------------------------------------------------------------- */

static void ends_with_a_reason(void *arg)
{
    lives(arg);
    weft_end(3);
}

static void on_stop(void *state, weft_msg *m) { (void)state, (void)m; }

static void reacts(void *arg)
{
    (void)arg;
    weft_react(on_stop, NULL, STOP);
}

static void breaks_a_rule(void *arg)
{
    (void)arg;
    note("%d", *weft_get(weft_receive(STOP), A));
}

static void ends_all_ways(void *arg)
{
    weft_fn *const way[] = {lives, ends_with_a_reason, reacts, breaks_a_rule};

    (void)arg;
    for (int i = 0; i < 4; i++) {
        weft_pid p = weft_spawn(way[i], NULL, .name = "own");
        weft_register("second", p);
        weft_register("third", p);
        weft_yield();
        note("%d%d%d ", has(p, "own"), has(p, "second"), has(p, "third"));
        stop(p);
        until_free("own");
        until_free("second");
        until_free("third");
    }
}

Test(names, are_free_when_the_owner_has_ended_in_whatever_way)
{
    listen_to_stderr();
    run(ends_all_ways);
    cr_expect_eq(lines(what_was_said()), 1, "one of them broke a rule");
    cr_expect_str_eq(noted(), "111 111 111 111 ");
}

static void *is_somebody(void *unused)
{
    note("%s%s ", said(weft_register("thread", weft_self())), said(weft_register("again", weft_self())));
    note("%d ", has(weft_self(), "thread"));
    return unused;
}

Test(names, of_a_thread_are_free_when_it_has_ended)
{
    pthread_t thread;

    pthread_create(&thread, NULL, is_somebody, NULL);
    pthread_join(thread, NULL);
    cr_expect_str_eq(noted(), "00 1 ");
    cr_expect(is_free("thread"));
    cr_expect(is_free("again"));
    cr_expect_eq(weft_register("thread", weft_self()), 0);
    cr_expect_eq(weft_unregister("thread"), 0);
}

static void has_names_at_the_end(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++) {
        char name[20];
        snprintf(name, sizeof name, "name %d", i);
        note("%s", said(weft_register(name, i % 2 ? weft_self() : weft_spawn(lives, NULL))));
    }
}

static void finds_no_names(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++) {
        char name[20];
        snprintf(name, sizeof name, "name %d", i);
        if (!is_free(name))
            note("%d ", i);
    }
}

Test(names, of_a_system_that_has_ended_are_free_in_the_next)
{
    run(has_names_at_the_end);
    cr_expect_eq(strspn(noted(), "0"), 100);
    forget_notes();
    finds_no_names(NULL);
    cr_expect_str_eq(noted(), "");
    run(finds_no_names);
    cr_expect_str_eq(noted(), "");
    run(has_names_at_the_end);
    cr_expect_eq(strspn(noted(), "0"), 100);
}

static void finds_the_thread(void *arg)
{
    (void)arg;
    note("%s ", said(weft_send_name("thread", A, 1)));
}

Test(names, of_a_thread_outlive_a_system)
{
    cr_assert_eq(weft_register("thread", weft_self()), 0);
    run(finds_the_thread);
    run(finds_the_thread);
    cr_expect_str_eq(noted(), "0 0 ");
    cr_expect(has(weft_self(), "thread"));
    weft_unregister("thread");
}

/* ---- Who may --------------------------------------------------------------------------------- */

static weft_pid me;

static void *is_nobody(void *unused)
{
    note("%s ", said(weft_register("one", me)));
    note("%d ", has(me, "one"));
    note("%s ", said(weft_send_name("one", A, 1)));
    note("%s ", said(weft_unregister("two")));
    return unused;
}

Test(names, may_be_used_by_threads_that_are_no_actors)
{
    pthread_t   thread;
    weft_counts before;

    me = weft_self();
    before = counted();
    weft_register("two", me);
    pthread_create(&thread, NULL, is_nobody, NULL);
    pthread_join(thread, NULL);
    cr_expect_str_eq(noted(), "0 1 0 0 ");
    cr_expect(weft_is_nobody(weft_sender(weft_receive(A))));
    cr_expect(is_free("two"));
    cr_expect_eq(counted().spawned, before.spawned);
    weft_unregister("one");
}

static void uses_names_in_a_handler(void *state, weft_msg *m)
{
    (void)state, (void)m;
    note("%s", said(weft_register("handler", weft_self())));
    note("%s", said(weft_send_name("handler", A, 1)));
    note("%d", has(weft_self(), "handler"));
    note("%s ", said(weft_unregister("handler")));
}

static void reacts_with_names(void *arg)
{
    (void)arg;
    weft_send(weft_self(), GO);
    weft_react(uses_names_in_a_handler, NULL, GO);
}

Test(names, may_be_used_in_a_handler)
{
    run(reacts_with_names);
    cr_expect_str_eq(noted(), "0010 ");
}

static weft_pid keeper;

/* While its receiver ends, or a send fails: no lock of Weft's may be held then. */
static void destroy_by_names(void *body)
{
    (void)body;
    note("%d", has(keeper, "keeper"));
    note("%s", said(weft_send_name("keeper", A, 1)));
    note("%s", said(weft_register("second", keeper)));
    note("%s", said(weft_unregister("second")));
    weft_pid p = weft_spawn(lives, NULL, .name = "third");
    note("%d ", has(p, "third"));
    weft_unregister("third");
}
WEFT_MESSAGE_OWNING(CURIOUS, destroy_by_names, int);

static void destroys_by_names(void *arg)
{
    (void)arg;
    keeper = weft_self();
    weft_register("keeper", keeper);
    weft_send_name("nobody", CURIOUS, 1);
    weft_pid p = weft_spawn(lives, NULL, .name = "mortal");
    weft_send_name("mortal", CURIOUS, 2);
    stop(p);
    note("%d", weft_receive(A) && weft_receive(A));
}

Test(names, may_be_used_while_a_body_is_destroyed)
{
    cr_assert_eq(weft_run(destroys_by_names, NULL, .workers = 1), 0);
    cr_expect_str_eq(noted(), "10001 10001 1");
}

/* ---- Many ------------------------------------------------------------------------------------ */

enum { MANY = 10000, OWNERS = 100 };

static const char *nth(int i)
{
    static char name[30];

    snprintf(name, sizeof name, "the name number %d", i);
    return name;
}

static void has_many_names(void *arg)
{
    static weft_pid owner[OWNERS];
    int             registered = 0, found = 0, unregistered = 0, left = 0, again = 0;

    (void)arg;
    for (int i = 0; i < OWNERS; i++)
        owner[i] = weft_spawn(lives, NULL);
    for (int i = 0; i < MANY; i++)
        registered += weft_register(nth(i), owner[i % OWNERS]) == 0;
    for (int i = 0; i < MANY; i++)
        found += has(owner[i % OWNERS], nth(i));
    for (int i = 0; i < MANY; i += 3)
        unregistered += weft_unregister(nth(i)) == 0;
    for (int i = 0; i < MANY; i++)
        left += i % 3 ? has(owner[i % OWNERS], nth(i)) : is_free(nth(i));
    note("%d %d %d %d ", registered, found, unregistered, left);
    for (int i = 0; i < OWNERS; i += 2)
        stop(owner[i]);
    for (int i = 0; i < MANY; i += 2)
        until_free(nth(i));
    for (int i = 0; i < MANY; i++)
        again += weft_register(nth(i), weft_self()) == 0;
    note("%d", again);
}

Test(names, may_be_ten_thousand)
{
    char want[60];
    int  kept = 0;

    run(has_many_names);
    for (int i = 0; i < MANY; i++)
        kept += i % 2 && i % 3; /* not unregistered, and the owner lives */
    snprintf(want, sizeof want, "%d %d %d %d %d", MANY, MANY, (MANY + 2) / 3, MANY, MANY - kept);
    cr_expect_str_eq(noted(), want);
}

/* What an actor has, in the order in which it lets go. */
static void lets_go_of(void *order)
{
    enum { NAMES = 101 };
    static bool has_it[NAMES];
    int         at[NAMES], wrong = 0;

    for (int i = 0; i < NAMES; i++) {
        wrong += weft_register(nth(i), weft_self()) != 0;
        has_it[i] = true;
        switch (*(char *)order) {
        case 'f': /* the first first */
            at[i] = i;
            break;
        case 'l': /* the last first */
            at[i] = NAMES - 1 - i;
            break;
        case 'm': /* from the middle */
            at[i] = NAMES / 2 + (i % 2 ? (i + 1) / 2 : -i / 2);
            break;
        default: /* from all over */
            at[i] = i * 37 % NAMES;
        }
    }
    for (int i = 0; i < NAMES - 20; i++) {
        wrong += weft_unregister(nth(at[i])) != 0 || weft_unregister(nth(at[i])) != WEFT_EGONE;
        has_it[at[i]] = false;
        for (int k = 0; k < NAMES; k++)
            wrong += has_it[k] ? !has(weft_self(), nth(k)) : !is_free(nth(k));
    }
    for (int i = 0; i < 5; i++) /* some again */
        wrong += weft_register(nth(at[i]), weft_self()) != 0;
    note("%c%d ", *(char *)order, wrong);
    weft_receive(STOP);
}

static void has_one_who_lets_go(void *arg)
{
    (void)arg;
    for (const char *order = "flmo"; *order; order++) {
        weft_pid p = weft_spawn(lets_go_of, (void *)order);
        int      left = 0;
        stop(p);
        for (int i = 0; i < 200; i++)
            left += !is_free(nth(i));
        note("%d ", left);
    }
}

Test(names, of_one_actor_are_let_go_of_in_any_order_and_the_rest_with_it)
{
    run(has_one_who_lets_go);
    cr_expect_str_eq(noted(), "f0 0 l0 0 m0 0 o0 0 ");
}

static void has_all_names(void *arg)
{
    int wrong = 0;

    (void)arg;
    for (int i = 0; i < MANY; i++)
        wrong += weft_register(nth(i), weft_self()) != 0;
    for (int i = 0; i < MANY; i += 2) /* from one end */
        wrong += weft_unregister(nth(i)) != 0;
    for (int i = MANY - 1; i > MANY / 2; i -= 2) /* from the other */
        wrong += weft_unregister(nth(i)) != 0;
    for (int i = 0; i < MANY; i++)
        wrong += i % 2 && i <= MANY / 2 ? !has(weft_self(), nth(i)) : !is_free(nth(i));
    note("%d", wrong);
}

Test(names, may_be_ten_thousand_of_one_actor)
{
    int left = 0;

    run(has_all_names);
    cr_expect_str_eq(noted(), "0");
    weft_self();
    for (int i = 0; i < MANY; i++)
        left += !is_free(nth(i));
    cr_expect_eq(left, 0);
}

enum { ROUNDS = 20000 };

static void comes_and_goes(void *arg)
{
    int wrong = 0;

    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        wrong += weft_register(nth(i), weft_self()) != 0;
        wrong += weft_unregister(nth(i)) != 0;
    }
    note("%d", wrong);
}

Test(names, may_come_and_go_without_end)
{
    run(comes_and_goes);
    cr_expect_str_eq(noted(), "0");
}

/* ---- Bad luck -------------------------------------------------------------------------------- */

static void registers_without_memory(void *arg)
{
    int failed = 0;

    (void)arg;
    for (int i = 0; i < 200; i++) { /* so many that what holds them would grow */
        int error = WEFT_EMEMORY;
        for (long which = 1; error == WEFT_EMEMORY; which++) {
            weft__memory_fail(which);
            error = weft_register(nth(i), weft_self());
            long made = weft__memory_fail(0);
            if (error == WEFT_EMEMORY && made >= which && is_free(nth(i)))
                failed++;
            else if (error || !has(weft_self(), nth(i)))
                note("%s %d ", said(error), i);
        }
    }
    note("%s", failed >= 64 ? "many failed, and then did not" : "few failed");
}

Test(names, for_which_there_is_no_memory_stay_free)
{
    cr_assert_eq(weft_run(registers_without_memory, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "many failed, and then did not");
}

static void spawns_without_memory(void *arg)
{
    (void)arg;
    for (long which = 1;; which++) {
        weft__memory_fail(which);
        weft_pid p = weft_spawn(lives, NULL, .name = "child");
        long     made = weft__memory_fail(0);
        if (made < which) {
            note("%d", has(p, "child"));
            return;
        }
        if (!weft_is_nobody(p) || weft_spawn_error() != WEFT_EMEMORY || !is_free("child"))
            note("! ");
    }
}

Test(names, for_which_there_is_no_memory_let_a_spawn_fail)
{
    cr_assert_eq(weft_run(spawns_without_memory, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "1");
    cr_expect_eq(counted().spawned, counted().ended);
}

/* ---- Memory ------------------------------------------------------------------------------------------------ */

static atomic_long blocks;

static void *get_block(size_t bytes, void *with)
{
    (void)with;
    blocks++;
    return malloc(bytes);
}

static void put_block(void *block, void *with)
{
    (void)with;
    blocks--;
    free(block);
}

static void ends_with_its_name(void *arg) { (void)arg; }

static void name_many(int round)
{
    weft_counts before = counted();

    for (int i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d of %d", i, round);
        weft_spawn(ends_with_its_name, NULL, .name = name);
    }
    while (counted().ended - before.ended < 1000)
        weft_yield();
}

static void names_many(void *arg)
{
    (void)arg;
    name_many(0);
    long before = blocks;
    for (int round = 1; round < 5; round++)
        name_many(round);
    note("%s", blocks - before < 500 ? "as before" : "more and more"); /* nobody looked for one of them */
}

Test(names, of_those_who_have_ended_take_no_memory)
{
    cr_assert_eq(weft_use_allocator(&(weft_allocator){get_block, put_block, NULL}), 0);
    cr_assert_eq(weft_run(names_many, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "as before");
}
