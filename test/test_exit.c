/* test_exit.c - what part 9 of weft.h promises of reasons, of ending others, and of those who trap that.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * docs/faults.md has the rules, and names the test that holds each.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <weft/bound.h>
#include <weft/case.h>

#include "base/memory.h"
#include "puppet.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(exit, .fini = nothing_leaks, .timeout = 30);

WEFT_MESSAGE(A, int);
WEFT_MESSAGE(
    LARGE, struct large { char text[100]; });
WEFT_SIGNAL(GO);
WEFT_SIGNAL(STOP);

static int reason_after(weft_pid p, void (*what)(weft_pid p))
{
    weft_ref ref = weft_monitor(p);

    what(p);
    return reason_of(ref);
}

/* ---- reasons ------------------------------------------------------------------------------------------------- */

static void ends_with(void *arg) { weft_end((int)(intptr_t)arg); }

static void checks_reasons(void *arg)
{
    static const int reasons[] = {0, 1, INT32_MAX, -1, WEFT_EKILLED, -1000, INT32_MIN};

    (void)arg;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        weft_ref ref;
        weft_spawn(ends_with, (void *)(intptr_t)reasons[i], .monitor = &ref);
        int reason = reason_of(ref);
        if (reason != reasons[i])
            note("%d ", reason);
    }
    weft_end(12);
}

Test(exit, has_any_reason_and_run_returns_the_first_actors)
{
    cr_expect_eq(weft_run(checks_reasons, NULL), 12);
    cr_expect_str_eq(noted(), "");
}

/* ---- by others ------------------------------------------------------------------------------------------------ */

static void exit_3(weft_pid p) { weft_exit(p, 3); }
static void exit_0_then_4(weft_pid p)
{
    weft_exit(p, 0);
    note("%d ", lives(p));
    weft_exit(p, 4);
}
static void exit_killed(weft_pid p) { weft_exit(p, WEFT_EKILLED); }
static void kill_it(weft_pid p) { weft_kill(p); }

static void is_ended(void *arg)
{
    (void)arg;
    note("%d ", reason_after(puppet(form), exit_3));
    note("%d ", reason_after(puppet(form), exit_0_then_4));
    note("%d ", reason_after(puppet(form), exit_killed));
    note("%d ", reason_after(puppet(form), kill_it));
}

Test(exit, ends_another_but_with_0_does_not) { in_each_form(is_ended, "3 1 4 -9 -9 "); }

static void is_ended_and_traps(void *arg)
{
    weft_pid p = puppet(form);

    (void)arg;
    order(p, traps, p);
    int error = weft_exit(p, 3) | weft_exit(p, 0) | weft_exit(p, WEFT_EKILLED);
    note("%d ", lives(p));
    note("%d ", error);
    note("%d ", order(p, traps_no_more, p));
    note("%d ", order(p, traps_no_more, p));
    note("%d ", reason_after(p, exit_3));
}

Test(exit, comes_as_a_message_to_one_that_traps)
{
    in_each_form(is_ended_and_traps, "exit 3 exit 0 exit -9 1 0 1 0 3 ");
}

static int reads_the_exit(weft_pid from)
{
    weft_msg                 *m = weft_receive(WEFT_EXIT);
    const struct weft_exited *e = weft_get(m, WEFT_EXIT);

    note("%d %d %d %d", weft_same(e->who, from), e->reason, e->linked, weft_carried(m) == NULL);
    return 0;
}

static void is_ended_and_reads(void *arg)
{
    weft_pid p = puppet(form);

    (void)arg;
    order(p, traps, p);
    weft_exit(p, 5);
    order_later(p, reads_the_exit, weft_self()); /* the puppet has read the first by then */
    weft_exit(p, 6);
    lives(p);
}

Test(exit, as_a_message_says_by_whom_and_that_it_was_no_link)
{
    in_each_form(is_ended_and_reads, "exit 5 1 6 0 1");
}

static void kills_one_that_traps(void *arg)
{
    weft_pid p = puppet(form);

    (void)arg;
    order(p, traps, p);
    note("%d ", reason_after(p, kill_it));
}

Test(exit, by_kill_can_not_be_trapped) { in_each_form(kills_one_that_traps, "-9 "); }

static void exits_the_dead(void *arg)
{
    weft_pid p = puppet(form);

    (void)arg;
    reason_after(p, kill_it);
    note("%d %d ", weft_exit(p, 3), weft_kill(p));
    note("%d %d ", weft_exit(WEFT_NOBODY, 3), weft_kill(WEFT_NOBODY));
    note("%d %d", weft_exit((weft_pid){1234567}, 3), weft_kill((weft_pid){1234567}));
}

Test(exit, of_one_that_has_ended_says_so) { in_each_form(exits_the_dead, "-1 -1 -1 -1 -1 -1"); }

static void *exits_from_outside(void *p)
{
    weft_exit(*(weft_pid *)p, 6);
    return NULL;
}

static void is_ended_from_outside(void *arg)
{
    pthread_t thread;
    weft_pid  p = puppet(form);
    weft_ref  ref = weft_monitor(p);

    (void)arg;
    uint64_t spawned = counted().spawned;
    pthread_create(&thread, NULL, exits_from_outside, &p);
    pthread_join(thread, NULL);
    note("%d %d", reason_of(ref), (int)(counted().spawned - spawned));
}

Test(exit, may_be_told_by_a_thread_that_is_no_actor) { in_each_form(is_ended_from_outside, "6 0"); }

/* ---- of oneself -------------------------------------------------------------------------------------------------- */

static int exits_itself(weft_pid self) { return weft_exit(self, 3); }
static int exits_itself_with_0(weft_pid self) { return weft_exit(self, 0); }
static int kills_itself(weft_pid self) { return weft_kill(self); }

static int reason_after_order(int (*what)(weft_pid self), bool trapping)
{
    weft_pid p = puppet(form);
    weft_ref ref = weft_monitor(p);

    order(p, trapping ? traps : nothing, p);
    if (trapping && what != kills_itself) {
        order(p, what, p);
        note("(%d) ", lives(p));
        ends(p, 9);
    } else {
        order_later(p, what, p);
    }
    return reason_of(ref);
}

static void exit_themselves(void *arg)
{
    (void)arg;
    note("%d ", reason_after_order(exits_itself, false));
    note("%d ", reason_after_order(exits_itself_with_0, false));
    note("%d, ", reason_after_order(kills_itself, false));
    note("%d ", reason_after_order(exits_itself, true));
    note("%d ", reason_after_order(exits_itself_with_0, true));
    note("%d", reason_after_order(kills_itself, true));
}

Test(exit, of_oneself_ends_at_once_also_with_0_unless_one_traps)
{
    in_each_form(exit_themselves, "3 0 -9, exit 3 (1) 9 exit 0 (1) 9 -9");
}

/* ---- when ---------------------------------------------------------------------------------------------------------- */

static void gets_three_and_more(void *boss)
{
    weft_send(*(weft_pid *)boss, GO);
    weft_receive(STOP);
    for (int i = 0; i < 4; i++)
        note("%d ", *weft_get(weft_receive(A), A));
}

static void sends_and_exits(void *arg)
{
    weft_pid self = weft_self();

    (void)arg;
    for (int how = 0; how < 2; how++) {
        weft_ref ref;
        weft_pid p = weft_spawn(gets_three_and_more, &self, .copy_bytes = sizeof self, .monitor = &ref,
                                .bound = how ? &(weft_bound){.messages = 10} : NULL);
        weft_receive(GO);
        for (int i = 1; i <= 3; i++)
            weft_send(p, A, i);
        weft_send(p, STOP);
        weft_exit(p, 5);
        weft_send(p, A, 4);
        note("%d, ", reason_of(ref));
    }
}

Test(exit, comes_after_what_was_sent_before)
{
    cr_expect_eq(weft_run(sends_and_exits, NULL, .workers = 1), 0);
    cr_expect_eq(weft_run(sends_and_exits, NULL, .workers = 4), 0);
    cr_expect_str_eq(noted(), "1 2 3 5, 1 2 3 5, 1 2 3 5, 1 2 3 5, ");
}

/* There is always something to receive, of somebody who sends faster than it is read. */
static void reads_for_ever(void *arg)
{
    (void)arg;
    for (;;)
        weft_receive(A);
}

static void floods(void *to)
{
    for (;;) {
        weft_send(*(weft_pid *)to, A, 1);
        weft_receive_within(weft_ms(0), STOP); /* so that it can be ended */
    }
}

static void ends_one_that_is_flooded(void *arg)
{
    (void)arg;
    for (int how = 0; how < 2; how++) {
        weft_ref ref;
        weft_pid p = weft_spawn(reads_for_ever, NULL, .monitor = &ref,
                                .bound = how ? &(weft_bound){.messages = 10} : NULL);
        weft_pid q = weft_spawn(floods, &p, .copy_bytes = sizeof p);
        weft_sleep(weft_ms(2));
        weft_exit(p, 5);
        note("%d ", reason_of(ref));
        ref = weft_monitor(q);
        weft_exit(q, 5);
        reason_of(ref);
    }
}

Test(exit, ends_one_that_always_has_more_to_read)
{
    cr_expect_eq(weft_run(ends_one_that_is_flooded, NULL, .workers = 1), 0);
    cr_expect_eq(weft_run(ends_one_that_is_flooded, NULL, .workers = 3), 0);
    cr_expect_str_eq(noted(), "5 5 5 5 ");
}

/* It has messages that it waits for, and is killed while it runs: it reads none. */
static atomic_int step;

static void spins_and_receives(void *arg)
{
    (void)arg;
    weft_trap(true);
    step = 1;
    while (step != 2)
        sched_yield();
    weft_receive_within(weft_ms(0), STOP); /* any wait will do */
    note("lives ");
}

static void spins_and_sleeps(void *arg)
{
    (void)arg;
    weft_trap(true);
    step = 1;
    while (step != 2)
        sched_yield();
    weft_sleep(weft_ms(1));
    note("lives ");
}

static void spins_and_asks(void *arg)
{
    (void)arg;
    weft_trap(true);
    step = 1;
    while (step != 2)
        sched_yield();
    weft_ask(weft_ms(1), *(weft_pid *)arg, GO);
    note("lives ");
}

static void spins_and_yields(void *arg)
{
    (void)arg;
    weft_trap(true);
    step = 1;
    while (step != 2)
        sched_yield();
    weft_yield();
    note("lives ");
}

static void on_any(void *state, weft_msg *m)
{
    (void)state, (void)m;
    note("lives ");
}

static void spins_and_reacts(void *arg)
{
    (void)arg;
    weft_trap(true);
    step = 1;
    while (step != 2)
        sched_yield();
    weft_react(on_any, NULL, WEFT_ANY);
}

static void kills_one_that_runs(void *arg)
{
    static weft_fn *const all[] = {spins_and_receives, spins_and_sleeps, spins_and_asks, spins_and_yields,
                                   spins_and_reacts};
    weft_pid              self = weft_self();

    (void)arg;
    for (int i = 0; i < 10; i++) {
        weft_ref ref;
        step = 0;
        weft_pid p = weft_spawn(all[i % 5], &self, .copy_bytes = sizeof self, .monitor = &ref,
                                .bound = i < 5 ? NULL : &(weft_bound){.messages = 10});
        while (step != 1)
            weft_yield();
        weft_send(p, STOP);
        weft_send_urgent(p, STOP);
        weft_kill(p);
        weft_send_urgent(p, STOP);
        step = 2;
        note("%d ", reason_of(ref));
    }
}

Test(exit, by_kill_ends_one_that_runs_at_its_next_wait_whatever_is_in_its_mailbox)
{
    cr_expect_eq(weft_run(kills_one_that_runs, NULL, .workers = 3), 0);
    cr_expect_str_eq(noted(), "-9 -9 -9 -9 -9 -9 -9 -9 -9 -9 ");
}

/* ---- at every wait there is ---------------------------------------------------------------------------------------- */

static weft_pid full; /* a bounded mailbox with no room */
static weft_pid deaf; /* one that answers nothing */

static void receives(void *arg)
{
    (void)arg;
    weft_receive(GO);
}
static void receives_two(void *arg)
{
    (void)arg;
    weft_receive(GO, STOP);
}
static void receives_within(void *arg)
{
    (void)arg;
    weft_receive_within(weft_sec(1000), GO);
}
static void receives_case(void *arg)
{
    const weft_case  list[] = {WEFT_ON(GO, NULL)};
    const weft_cases cases = WEFT_CASES(list, NULL);

    (void)arg;
    weft_receive_case(WEFT_FOREVER, &cases);
}
static void sleeps(void *arg)
{
    (void)arg;
    weft_sleep(weft_sec(1000));
}
static void asks(void *arg)
{
    (void)arg;
    weft_ask(weft_sec(1000), deaf, GO);
}
static void asks_for_ever(void *arg)
{
    (void)arg;
    weft_ask(WEFT_FOREVER, deaf, GO);
}
static void waits_for_room(void *arg)
{
    (void)arg;
    weft_send_within(weft_sec(1000), full, A, 1);
}
static void on_go(void *state, weft_msg *m) { (void)state, (void)m; }
static void reacts(void *arg) { weft_react(on_go, arg, GO); }
static void reacts_within(void *arg) { weft_react_within(weft_sec(1000), on_go, arg, GO); }
static void reacts_to_two(void *arg) { weft_react(on_go, arg, GO, STOP); }
static void waits_for_an_answer(void *arg) { weft_then(weft_request(deaf, GO), weft_sec(1000), on_go, arg); }
static const weft_case  go[] = {WEFT_ON(GO, on_go)};
static const weft_cases on_go_only = WEFT_CASES(go, NULL);
static void             becomes(void *arg) { weft_become(&on_go_only, arg); }
static void             loops(void *arg) { weft_loop(reacts, arg); }
static void             receives_inside(void *state, weft_msg *m)
{
    (void)state, (void)m;
    weft_receive(STOP);
}
static void receives_in_a_handler(void *arg)
{
    weft_react(receives_inside, arg, GO);
    weft_send(weft_self(), GO);
}

static weft_fn *const waits[] = {receives, receives_two,  receives_within,      receives_case,
                                 sleeps,   asks,          asks_for_ever,        waits_for_room,
                                 reacts,   reacts_within, reacts_to_two,        waits_for_an_answer,
                                 becomes,  loops,         receives_in_a_handler};
enum { WAITS = sizeof waits / sizeof *waits, FOR_THREADS = 8 };

static void on_nothing(void *arg)
{
    (void)arg;
    weft_receive(A); /* which is not sent */
}

static void make_others(void)
{
    deaf = weft_spawn(on_nothing, NULL);
    full = weft_spawn(receives, NULL, .bound = &(weft_bound){.messages = 1});
    weft_send(full, A, 1);
}

static void end_others(void)
{
    weft_ref refs[] = {weft_monitor(deaf), weft_monitor(full)};

    weft_kill(deaf);
    weft_kill(full);
    reason_of(refs[0]);
    reason_of(refs[1]);
}

static void deferred(void *arg)
{
    (void)arg;
    note("d");
}

static void ends_each_wait(void *kill)
{
    make_others();
    for (int i = 0; i < 2 * WAITS; i++) {
        weft_ref ref;
        weft_pid p = weft_spawn(waits[i / 2], NULL, .monitor = &ref);
        for (int k = 0; k < 3 && i % 2; k++)
            weft_yield(); /* it waits already; or not yet */
        if (*(bool *)kill)
            weft_kill(p);
        else
            weft_exit(p, 3);
        int reason = reason_of(ref);
        if (reason != (*(bool *)kill ? WEFT_EKILLED : 3))
            note("%d: %d ", i / 2, reason);
    }
    end_others();
}

Test(exit, ends_at_every_wait_there_is)
{
    for (int kill = 0; kill < 2; kill++) {
        bool by_kill = kill;
        cr_expect_eq(weft_run(ends_each_wait, &by_kill, .workers = 1), 0);
        cr_expect_eq(weft_run(ends_each_wait, &by_kill, .workers = 4), 0);
    }
    cr_expect_str_eq(noted(), "");
    cr_expect_eq(counted().spawned, counted().ended);
}

/* The same in threads. */
static _Atomic uint64_t thread_pid;

static void *waits_in_a_thread(void *wait)
{
    weft_defer(deferred, NULL);
    atomic_store(&thread_pid, weft_self().id);
    (*(weft_fn **)wait)(NULL);
    note("returned ");
    return NULL;
}

static void ends_each_wait_of_threads(void *arg)
{
    (void)arg;
    make_others();
    for (int i = 0; i < 2 * FOR_THREADS; i++) {
        weft_fn  *wait = waits[i / 2];
        pthread_t thread;
        thread_pid = 0;
        pthread_create(&thread, NULL, waits_in_a_thread, &wait);
        while (!thread_pid)
            weft_yield();
        weft_pid p = {thread_pid};
        weft_ref ref = weft_monitor(p);
        if (i % 2)
            weft_kill(p);
        else
            weft_exit(p, 3);
        note("%d ", reason_of(ref));
        pthread_join(thread, NULL);
    }
    end_others();
}

Test(exit, ends_at_every_wait_of_a_thread)
{
    cr_expect_eq(weft_run(ends_each_wait_of_threads, NULL), 0);
    cr_expect_str_eq(noted(), "d3 d-9 d3 d-9 d3 d-9 d3 d-9 d3 d-9 d3 d-9 d3 d-9 d3 d-9 ");
}

static void yields(void *arg)
{
    (void)arg;
    for (;;)
        weft_yield();
}

static void sends_for_ever(void *arg)
{
    for (;;)
        weft_send(*(weft_pid *)arg, GO);
}

static void ends_those_that_run(void *arg)
{
    weft_pid gone = weft_spawn(yields, NULL);
    weft_ref refs[2];

    (void)arg;
    refs[0] = weft_monitor(gone);
    weft_exit(gone, 3);
    note("%d ", reason_of(refs[0]));
    weft_pid p = weft_spawn(sends_for_ever, &gone, .copy_bytes = sizeof gone, .monitor = &refs[1]);
    weft_yield();
    weft_exit(p, 4);
    note("%d ", reason_of(refs[1]));
}

Test(exit, ends_one_that_only_yields_or_sends)
{
    cr_expect_eq(weft_run(ends_those_that_run, NULL, .workers = 1), 0);
    cr_expect_eq(weft_run(ends_those_that_run, NULL, .workers = 2), 0);
    cr_expect_str_eq(noted(), "3 4 3 4 ");
}

static void main_is_ended(void)
{
    weft_exit(weft_self(), 0);
    exit(9);
}

static void ends_the_main_thread(void *main_thread) { weft_kill(*(weft_pid *)main_thread); }

static void main_is_killed(void)
{
    weft_pid self = weft_self();

    weft_spawn(ends_the_main_thread, &self, .copy_bytes = sizeof self);
    weft_receive(GO);
    exit(9);
}

Test(exit, of_the_main_thread_ends_the_process)
{
    cr_expect_eq(in_child(main_is_ended), 0);
    listen_to_stderr();
    int         status = in_child(main_is_killed);
    const char *said = what_was_said();
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "%x", status);
    cr_expect(strstr(said, "the main thread is ended"), "%s", said);
}

/* ---- what goes along ------------------------------------------------------------------------------------------------- */

static int ends_with_small(weft_pid unused)
{
    (void)unused;
    weft_end_with(4, A, 44);
}

static int ends_with_large(weft_pid unused)
{
    (void)unused;
    weft_end_with(5, LARGE, .text = "why not");
}

static void read_small(const weft_msg *m)
{
    const weft_msg *c = weft_carried(m);

    note("%d ", c && weft_is(c, A) && weft_tag(c) == A ? *weft_get(c, A) : -1);
}

static int watch_and_link(weft_pid other)
{
    weft_trap(true);
    weft_link(other);
    weft_monitor(other);
    order_later(other, ends_with_small, other);
    for (int i = 0; i < 2; i++) {
        weft_msg *m = weft_receive(WEFT_DOWN, WEFT_EXIT);
        read_small(m);
        note("%d ", weft_same(weft_sender(weft_carried(m)), other));
    }
    return 0;
}

static void ends_with_a_message(void *arg)
{
    weft_pid p = puppet(form), q = puppet(FIBER), r = puppet(form);

    (void)arg;
    weft_monitor(q);
    order(p, watch_and_link, q);
    read_small(weft_receive(WEFT_DOWN));
    weft_ref ref = weft_monitor(r);
    order_later(r, ends_with_large, r);
    weft_msg *m = weft_receive(WEFT_DOWN);
    note("%s %d", weft_get(weft_carried(m), LARGE)->text, weft_get(m, WEFT_DOWN)->ref.id == ref.id);
}

Test(exit, with_a_message_brings_it_to_each_who_is_told)
{
    in_each_form(ends_with_a_message, "44 1 44 1 44 why not 1");
}

static void ends_at_once_with_a_message(void *unused)
{
    (void)unused;
    weft_end_with(6, A, 66);
}

/* It has not been called yet: one worker, which the caller has. */
static void watches_and_links_before_it_begins(void *arg)
{
    (void)arg;
    weft_trap(true);
    weft_monitor(weft_spawn(ends_at_once_with_a_message, NULL));
    read_small(weft_receive(WEFT_DOWN));
    weft_link(weft_spawn(ends_at_once_with_a_message, NULL));
    read_small(weft_receive(WEFT_EXIT));
}

Test(exit, with_a_message_brings_it_to_who_watches_or_links_at_the_last_moment)
{
    cr_assert_eq(weft_run(watches_and_links_before_it_begins, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "66 66 ");
}

/* Who is ended by a link ends with what came along. */
static void hands_on_the_message(void *arg)
{
    weft_pid p = puppet(FIBER), q = puppet(form), r = puppet(form == THREAD ? FIBER : form);

    (void)arg;
    order(q, weft_link, p);
    order(r, weft_link, q);
    weft_monitor(r);
    order_later(p, ends_with_small, p);
    read_small(weft_receive(WEFT_DOWN));
}

Test(exit, with_a_message_hands_it_on_by_links) { in_each_form(hands_on_the_message, "44 "); }

static void keeps_shares_and_edits(void *arg)
{
    weft_pid p = puppet(FIBER);

    (void)arg;
    weft_monitor(p);
    order_later(p, ends_with_large, p);
    weft_msg *m = weft_keep(weft_receive(WEFT_DOWN)), *twin = weft_share(m);
    weft_msg *third = twin ? weft_share(m) : NULL;
    if (twin) {
        weft_edit(twin, WEFT_DOWN)->reason = 1;
        note("%d ", weft_get(m, WEFT_DOWN)->reason);
        weft_drop(m);
        weft_drop(third);
        const weft_msg *c = weft_carried(twin); /* what is written to is a copy, and that has none */
        note("%s ", c ? weft_get(c, LARGE)->text : "none");
        weft_pass(weft_self(), twin);
        weft_receive(WEFT_DOWN);
    }
    weft_receive_within(weft_ms(0), GO);
}

Test(exit, with_a_message_can_be_shared_and_written_to)
{
    cr_expect_eq(weft_run(keeps_shares_and_edits, NULL), 0);
    cr_expect_str_eq(noted(), "5 none ");
}

static atomic_int destroyed;
static void       destroy_it(void *body)
{
    free(*(void **)body);
    destroyed++;
}
WEFT_MESSAGE_OWNING(
    OWNER, destroy_it, struct owner { void *memory; });

static void ends_with_owner(void *arg)
{
    (void)arg;
    weft_end_with(6, OWNER, .memory = malloc(10));
}

static void defers_owner(void *arg)
{
    (void)arg;
    weft_defer(ends_with_owner, NULL);
    weft_end(7);
}

static void ends_with_what_is_owned(void *arg)
{
    weft_ref ref;

    (void)arg;
    weft_spawn(ends_with_owner, NULL, .monitor = &ref);
    weft_msg *m = weft_receive(WEFT_DOWN);
    note("%d %d ", weft_get(m, WEFT_DOWN)->reason, weft_carried(m) == NULL);
    weft_spawn(defers_owner, NULL, .monitor = &ref);
    m = weft_receive(WEFT_DOWN);
    note("%d %d ", weft_get(m, WEFT_DOWN)->reason, weft_carried(m) == NULL);
}

Test(exit, with_a_body_that_owns_something_destroys_it)
{
    cr_expect_eq(weft_run(ends_with_what_is_owned, NULL), 0);
    cr_expect_str_eq(noted(), "6 1 7 1 ");
    cr_expect_eq(destroyed, 2);
}

static void *ends_owning_in_a_thread(void *arg)
{
    ends_with_owner(arg);
    return NULL;
}

Test(exit, with_a_message_of_a_thread_that_is_no_actor_destroys_it)
{
    pthread_t thread;

    pthread_create(&thread, NULL, ends_owning_in_a_thread, NULL);
    pthread_join(thread, NULL);
    cr_expect_eq(destroyed, 1);
}

static void carries_nothing(void *arg)
{
    weft_msg *m = weft_make(A, 1);

    (void)arg;
    note("%d %d", weft_carried(NULL) == NULL, weft_carried(m) == NULL);
    weft_drop(m);
}

Test(exit, without_a_message_carries_nothing)
{
    cr_expect_eq(weft_run(carries_nothing, NULL), 0);
    cr_expect_str_eq(noted(), "1 1");
}

/* ---- what it had ------------------------------------------------------------------------------------------------------ */

static void on_nothing_deferred(void *arg) { (void)arg; }

static weft_pid rich_ones_boss;

static int takes_a_lot(weft_pid self)
{
    weft_alloc(100);
    weft_alloc(10000);
    (void)!weft_make(OWNER, .memory = malloc(1));
    weft_send(self, OWNER, .memory = malloc(1));
    weft_send_every(weft_ms(1), self, GO);
    weft_register("one", self);
    weft_register("two", self);
    for (int i = 0; i < 10; i++) {
        (void)!weft_request(deaf, GO).id;
        weft_defer(on_nothing_deferred, NULL);
        weft_monitor(deaf);
    }
    weft_link(deaf);
    weft_unlink(deaf);
    weft_send(rich_ones_boss, STOP);
    weft_receive(STOP);
    return 0;
}

static void kills_the_rich(void *arg)
{
    size_t before = 0;

    (void)arg;
    rich_ones_boss = weft_self();
    make_others();
    for (int i = 0; i < 300; i++) {
        weft_pid p = puppet(form == THREAD ? FIBER : form);
        order_later(p, takes_a_lot, p);
        weft_receive(STOP);
        if (reason_after(p, kill_it) != WEFT_EKILLED || weft_whereis("one").id || weft_whereis("two").id)
            note("wrong ");
        if (i == 200)
            before = resident();
    }
    if (resident() > before + (1 << 20))
        note("%zu bytes more", resident() - before);
    end_others();
}

Test(exit, gives_back_all_that_it_had)
{
    enum { RUNS = 10, EACH = 300 };

    in_each_form(kills_the_rich, "");
    cr_expect_eq(destroyed, 2 * RUNS * EACH, "%d", destroyed);
}

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

static void exits_without_memory(void *arg)
{
    weft_pid p = puppet(FIBER);

    (void)arg;
    lives(p);
    memory_is_gone(0);
    int error = weft_exit(p, 3);
    memory_is_back();
    memory_is_gone(0);
    int killed = weft_kill(p);
    memory_is_back();
    note("%d %d %d ", error, killed, lives(p));
    note("%d", reason_after(p, kill_it));
}

Test(exit, without_memory_says_so_and_ends_nobody)
{
    cr_expect_eq(weft_run(exits_without_memory, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "-4 -4 1 -9");
}

/* The message that goes along needs memory; the end does not. */
static void ends_with_little(void *arg)
{
    weft__memory_fail((long)(intptr_t)arg);
    weft_end_with(5, LARGE, .text = "why");
}

static void ends_without_memory(void *arg)
{
    (void)arg;
    for (long n = 1; n <= 4; n++) {
        weft_ref ref;
        weft_spawn(ends_with_little, (void *)n, .monitor = &ref);
        weft_msg *m = weft_receive(WEFT_DOWN);
        weft__memory_fail(0);
        const weft_msg *c = weft_carried(m);
        note("%d %s, ", weft_get(m, WEFT_DOWN)->reason, c ? weft_get(c, LARGE)->text : "-");
    }
}

Test(exit, with_a_message_and_without_memory_ends_all_the_same)
{
    cr_expect_eq(weft_run(ends_without_memory, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "5 -, 5 -, 5 why, 5 why, ");
}
