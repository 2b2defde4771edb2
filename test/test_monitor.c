/* test_monitor.c - what part 9 of weft.h promises of monitors: who hears of whose end, without being touched by it.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * docs/faults.md has the rules, and names the test that holds each.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <weft/bound.h>
#include <weft/case.h>

#include "base/memory.h"
#include "puppet.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(monitor, .fini = nothing_leaks, .timeout = 60);

WEFT_MESSAGE(A, int);
WEFT_SIGNAL(LAST);
WEFT_SIGNAL(GO);

static const struct weft_down *next_down(void) { return weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN); }
static bool                    no_down(void) { return weft_receive_within(weft_ms(0), WEFT_DOWN) == NULL; }

/* Until all that others have sent is in the caller's mailbox, who must have answered. */
static bool none_comes_from(weft_pid who) { return lives(who) && no_down(); }

/* ---- what a monitor is -------------------------------------------------------------------------------------- */

static int reads_the_down(weft_pid other)
{
    weft_ref ref = weft_monitor(other);

    ends(other, 8);
    weft_msg               *m = weft_receive(WEFT_DOWN);
    const struct weft_down *d = weft_get(m, WEFT_DOWN);
    note("%d %d %d ", weft_same(d->who, other), d->ref.id == ref.id, d->reason);
    note("%d %d ", weft_is_nobody(weft_sender(m)), weft_carried(m) == NULL);
    return 0;
}

static void is_watched(void *arg)
{
    (void)arg;
    order(puppet(form), reads_the_down, puppet(FIBER));
    order(puppet(FIBER), reads_the_down, puppet(form));
}

Test(monitor, tells_who_ended_and_why) { in_each_form(is_watched, "1 1 8 1 1 1 1 8 1 1 "); }

static void ends_for_each_reason(void *arg)
{
    static const int reasons[] = {0, 1, 1000, WEFT_ETYPE};

    (void)arg;
    for (int i = 0; i < 4; i++) {
        weft_pid p = puppet(form);
        weft_monitor(p);
        ends(p, reasons[i]);
        note("%d ", next_down()->reason);
    }
    weft_pid p = puppet(form);
    weft_monitor(p);
    weft_kill(p);
    note("%d ", next_down()->reason);
    note("%d", no_down());
}

Test(monitor, tells_of_each_end_once_also_for_0) { in_each_form(ends_for_each_reason, "0 1 1000 -7 -9 1"); }

static void watcher_lives(void *arg)
{
    weft_pid a = puppet(form), b = puppet(FIBER);

    (void)arg;
    order(a, monitors, b);
    order(b, monitors, a);
    ends(b, 3);
    weft_monitor(b);
    next_down();
    note("%d", lives(a));
}

Test(monitor, does_not_end_the_watcher) { in_each_form(watcher_lives, "down 3 1"); }

static void watched_lives(void *arg)
{
    weft_pid a = puppet(FIBER), b = puppet(form);

    (void)arg;
    order(a, monitors, b);
    order(b, traps, a);
    weft_monitor(a);
    ends(a, 3);
    next_down();
    note("%d", lives(b));
}

Test(monitor, tells_the_watched_nothing) { in_each_form(watched_lives, "1"); }

static void watches_three_times(void *arg)
{
    weft_pid p = puppet(form);
    weft_ref refs[3];
    int      seen = 0;

    (void)arg;
    for (int i = 0; i < 3; i++)
        refs[i] = weft_monitor(p);
    note("%d ", refs[0].id != refs[1].id && refs[1].id != refs[2].id && refs[0].id != refs[2].id);
    note("%d ", weft_demonitor(refs[1]));
    ends(p, 3);
    for (int i = 0; i < 2; i++) {
        weft_ref ref = next_down()->ref;
        seen |= ref.id == refs[0].id ? 1 : ref.id == refs[1].id ? 2 : 4;
    }
    note("%d %d", seen, no_down());
}

Test(monitor, is_one_of_its_own_each_time) { in_each_form(watches_three_times, "1 0 5 1"); }

static int monitors_and_reads(weft_pid who)
{
    weft_ref                ref = weft_monitor(who);
    const struct weft_down *d = next_down();

    note("%d %d %d ", d->reason, weft_same(d->who, who), d->ref.id == ref.id);
    return 0;
}

static void watches_the_dead(void *arg)
{
    weft_pid gone = puppet(FIBER), p = puppet(form);

    (void)arg;
    weft_monitor(gone);
    ends(gone, 3);
    next_down();
    order(p, monitors_and_reads, gone);
    order(p, monitors_and_reads, WEFT_NOBODY);
    note("%d", lives(p));
}

Test(monitor, of_one_that_has_ended_tells_at_once_with_gone)
{
    in_each_form(watches_the_dead, "-1 1 1 -1 1 1 1");
}

static int watches_one_that_ends(weft_pid other)
{
    ends(other, 6);
    weft_monitor(other);
    int reason = next_down()->reason;
    if (reason != 6 && reason != WEFT_EGONE)
        note("%d ", reason);
    return 0;
}

static void watches_those_that_end(void *arg)
{
    weft_pid p = puppet(form);

    (void)arg;
    for (int i = 0; i < 100; i++)
        order(p, watches_one_that_ends, puppet(FIBER));
    note("%d", lives(p));
}

Test(monitor, of_one_that_is_about_to_end_is_not_lost) { in_each_form(watches_those_that_end, "1"); }

static void watches_itself(void *arg)
{
    (void)arg;
    weft_pid p = puppet(form);
    weft_ref ref = weft_monitor(p);
    note("%d ", order(p, monitors, p));
    ends(p, 3);
    note("%d", reason_of(ref));
}

Test(monitor, of_oneself_tells_nobody) { in_each_form(watches_itself, "0 3"); }

/* ---- taking it back ------------------------------------------------------------------------------------------- */

static int takes_back(weft_pid other)
{
    weft_ref ref = weft_monitor(other);

    note("%d ", weft_demonitor(ref));
    note("%d ", weft_demonitor(ref));
    ref = weft_monitor(other);
    note("%d ", weft_demonitor_keep(ref));
    note("%d ", weft_demonitor_keep(ref));
    return 0;
}

static void is_not_watched_any_more(void *arg)
{
    weft_pid p = puppet(form), q = puppet(FIBER);

    (void)arg;
    order(p, takes_back, q);
    weft_monitor(q);
    ends(q, 3);
    next_down();
    note("%d", lives(p));
}

Test(monitor, taken_back_tells_nothing) { in_each_form(is_not_watched_any_more, "0 -1 0 -1 1"); }

/* It has ended, and that was not looked at yet. */
static int takes_back_late(weft_pid other)
{
    weft_ref ref = weft_monitor(other);
    uint64_t ended = counted().ended;

    ends(other, 3);
    wait_for_ends(ended + 1);
    int error = weft_demonitor_keep(ref);
    note("%d ", no_down());
    return error;
}

static void takes_back_from_the_dead(void *arg)
{
    weft_pid p = puppet(form);

    (void)arg;
    note("%d ", order(p, takes_back_late, puppet(FIBER)));
    note("%d", lives(p));
}

Test(monitor, taken_back_late_tells_nothing_still) { in_each_form(takes_back_from_the_dead, "1 0 1"); }

static bool sees_and_leaves(const weft_msg *m, const void *seen)
{
    (void)m;
    *(bool *)seen = true;
    return false;
}

/* It has come, and lies in the mailbox. */
static weft_ref has_come(weft_pid other)
{
    bool             seen = false;
    const weft_case  list[] = {WEFT_ON_IF(WEFT_DOWN, NULL, sees_and_leaves, &seen)};
    const weft_cases cases = WEFT_CASES(list, NULL);
    weft_ref         ref = weft_monitor(other);

    ends(other, 3);
    while (!seen)
        weft_receive_case(weft_ms(1), &cases);
    return ref;
}

static int takes_back_and_flushes(weft_pid other)
{
    int error = weft_demonitor(has_come(other));

    note("%d ", no_down());
    return error;
}

static int takes_back_and_keeps(weft_pid other)
{
    int error = weft_demonitor_keep(has_come(other));

    note("%d ", !no_down());
    return error;
}

/* The one that is meant, not another's. */
static int flushes_one_of_many(weft_pid other)
{
    weft_ref first = has_come(other), second = weft_monitor(other), third = weft_monitor(other);

    weft_receive_within(weft_ms(1), GO); /* all have come */
    int error = weft_demonitor(second);
    note("%d ", next_down()->ref.id == first.id);
    note("%d ", next_down()->ref.id == third.id);
    note("%d ", no_down());
    return error;
}

static void flushes_and_keeps(void *arg)
{
    weft_pid p = puppet(form);

    (void)arg;
    note("%d ", order(p, takes_back_and_flushes, puppet(FIBER)));
    note("%d ", order(p, takes_back_and_keeps, puppet(FIBER)));
    note("%d", order(p, flushes_one_of_many, puppet(FIBER)));
}

Test(monitor, taken_back_after_it_told_takes_the_message_or_leaves_it)
{
    in_each_form(flushes_and_keeps, "1 -1 1 -1 1 1 1 -1");
}

static weft_ref others;

static int takes_back_others(weft_pid unused)
{
    (void)unused;
    return weft_demonitor(others) + weft_demonitor_keep(others) + weft_demonitor((weft_ref){0});
}

static void is_taken_back_by_others(void *arg)
{
    weft_pid watched = puppet(form), stranger = puppet(form);

    (void)arg;
    others = weft_monitor(watched);
    note("%d ", order(stranger, takes_back_others, watched));
    note("%d ", order(watched, takes_back_others, watched));
    ends(watched, 3);
    note("%d", reason_of(others));
}

Test(monitor, is_taken_back_by_who_set_it_only) { in_each_form(is_taken_back_by_others, "-3 -3 3"); }

static int takes_back_a_timer(weft_pid unused)
{
    weft_ref timer = weft_send_after(weft_sec(1000), unused, GO);

    return weft_demonitor(timer) + weft_cancel(timer);
}

static void takes_back_something_else(void *arg)
{
    weft_pid p = puppet(form);

    (void)arg;
    note("%d", order(p, takes_back_a_timer, p));
}

Test(monitor, is_no_timer) { in_each_form(takes_back_something_else, "-1"); }

/* ---- order ---------------------------------------------------------------------------------------------------- */

static void sends_and_ends(void *arg)
{
    weft_pid to = *(weft_pid *)arg;

    weft_receive(GO);
    weft_send(to, A, 1);
    weft_send(to, A, 2);
}

static int watches_a_sender(weft_pid self)
{
    weft_pid p = weft_spawn(sends_and_ends, &self, .copy_bytes = sizeof self);

    weft_monitor(p);
    weft_send(p, GO);
    for (int i = 0; i < 3; i++)
        note("%s ", weft_name(weft_receive(A, WEFT_DOWN)));
    return 0;
}

static void watches_in_order(void *arg)
{
    weft_pid p = puppet(form);

    (void)arg;
    order(p, watches_a_sender, p);
}

Test(monitor, tells_of_an_end_after_all_that_was_sent_before)
{
    in_each_form(watches_in_order, "A A WEFT_DOWN ");
}

static weft_pid told;

static void sends_its_last(void *unused)
{
    (void)unused;
    weft_send(told, LAST);
}

WEFT_MESSAGE_OWNING(HELD, sends_its_last, int);

static void just_ends(void *unused)
{
    (void)unused;
    weft_end(1);
}

/* The message is destroyed when it ends; the signal was in the mailbox before it. */
static void watches_what_sends_at_its_end(void *unused)
{
    (void)unused;
    told = weft_self();
    weft_pid who = weft_spawn(just_ends, NULL);
    weft_monitor(who);
    weft_send(who, HELD, 1);
    note("%s ", weft_name(weft_receive(WEFT_DOWN, LAST)));
    note("%s", weft_name(weft_receive(WEFT_DOWN, LAST)));
}

Test(monitor, that_was_not_read_tells_of_an_end_after_what_is_sent_by_what_it_destroys)
{
    cr_assert_eq(weft_run(watches_what_sends_at_its_end, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "LAST WEFT_DOWN");
}

static int name_is_free(weft_pid who)
{
    weft_monitor(who);
    ends(who, 3);
    next_down();
    note("%d", weft_is_nobody(weft_whereis("somebody")));
    return weft_register("somebody", weft_self());
}

static void has_a_name(void *arg)
{
    weft_pid p = puppet(form), named = puppet(form);

    (void)arg;
    weft_register("somebody", named);
    note(" %d ", order(p, name_is_free, named));
}

Test(monitor, tells_of_an_end_after_the_names_are_free) { in_each_form(has_a_name, "1 0 "); }

/* ---- from the start --------------------------------------------------------------------------------------------- */

static void ends_at_once(void *arg)
{
    (void)arg;
    weft_end(3);
}

static int spawns_many_monitored(weft_pid unused)
{
    (void)unused;
    for (int i = 0; i < 500; i++) {
        weft_ref                ref;
        weft_pid                p = weft_spawn(ends_at_once, NULL, .monitor = &ref);
        const struct weft_down *d = next_down();
        if (!weft_same(d->who, p) || d->reason != 3 || d->ref.id != ref.id)
            note("%d ", d->reason);
    }
    weft_ref ref;
    weft_spawn(ends_at_once, NULL, .monitor = &ref);
    note("%d ", weft_demonitor(ref) == 0 || no_down());
    note("%d ", no_down());
    return 0;
}

static void spawns_monitored(void *arg)
{
    (void)arg;
    order(puppet(form), spawns_many_monitored, WEFT_NOBODY);
}

Test(monitor, of_spawn_is_there_when_the_child_ends_at_once) { in_each_form(spawns_monitored, "1 1 "); }

static int spawns_in_vain(weft_pid unused)
{
    weft_ref ref = {7};

    (void)unused;
    note("%d ", weft_is_nobody(weft_spawn(ends_at_once, NULL, .name = "taken", .monitor = &ref)));
    note("%d", no_down());
    return 0;
}

static void spawns_what_can_not_be(void *arg)
{
    (void)arg;
    weft_register("taken", weft_self());
    order(puppet(form), spawns_in_vain, WEFT_NOBODY);
}

Test(monitor, of_a_spawn_that_fails_tells_nothing) { in_each_form(spawns_what_can_not_be, "1 1"); }

/* ---- bounded mailboxes -------------------------------------------------------------------------------------------- */

static void full_and_watching(void *boss)
{
    weft_pid other = *(weft_pid *)boss;

    weft_trap(true);
    weft_link(other);
    weft_monitor(other);
    weft_send(weft_self(), A, 1);
    note("%d ", weft_send(weft_self(), A, 2)); /* it is full */
    ends(other, 3);
    note("%d ", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
    note("%d ", weft_get(weft_receive(WEFT_EXIT), WEFT_EXIT)->reason);
    note("%d", *weft_get(weft_receive(A), A));
}

static void watches_with_a_full_mailbox(void *arg)
{
    weft_pid p = puppet(FIBER);

    (void)arg;
    weft_ref ref;
    weft_spawn(full_and_watching, &p, .copy_bytes = sizeof p, .bound = &(weft_bound){.messages = 1},
               .monitor = &ref);
    reason_of(ref);
}

Test(monitor, and_link_tell_also_a_full_mailbox)
{
    cr_expect_eq(weft_run(watches_with_a_full_mailbox, NULL), 0);
    cr_expect_str_eq(noted(), "-3 3 3 1");
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

static int monitors_a_thousand_times(weft_pid other)
{
    weft_ref refs[100];

    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < 100; j++)
            refs[j] = weft_monitor(other);
        for (int j = 0; j < 100; j++)
            weft_demonitor(refs[j]);
    }
    return 0;
}

static void monitors_a_million_times(void *arg)
{
    weft_pid p = puppet(FIBER), q = puppet(FIBER);
    size_t   before = 0;

    (void)arg;
    for (int i = 0; i < 1000; i++) {
        order(p, monitors_a_thousand_times, q);
        lives(q);
        if (i == 20)
            before = resident();
    }
    if (resident() > before + (2 << 20))
        note("%zu bytes more ", resident() - before);
    note("%d ", lives(p));
}

Test(monitor, set_and_taken_back_a_million_times_takes_no_memory)
{
    cr_expect_eq(weft_run(monitors_a_million_times, NULL, .workers = 1), 0);
    cr_expect_eq(weft_run(monitors_a_million_times, NULL, .workers = 3), 0);
    cr_expect_str_eq(noted(), "1 1 ");
}

static void watches_and_ends(void *arg)
{
    weft_pid other = *(weft_pid *)arg;

    for (int i = 0; i < 1000; i++)
        weft_monitor(other);
}

/* What the watched keeps for a watcher goes with the watcher. */
static void watchers_end(void *arg)
{
    weft_pid p = puppet(FIBER);
    size_t   before = 0;

    (void)arg;
    for (int i = 0; i < 500; i++) {
        weft_ref ref;
        weft_spawn(watches_and_ends, &p, .copy_bytes = sizeof p, .monitor = &ref);
        reason_of(ref);
        lives(p);
        if (i == 20)
            before = resident();
    }
    if (resident() > before + (2 << 20))
        note("%zu bytes more ", resident() - before);
    note("%d ", lives(p));
}

Test(monitor, ends_with_the_watcher)
{
    cr_expect_eq(weft_run(watchers_end, NULL, .workers = 1), 0);
    cr_expect_eq(weft_run(watchers_end, NULL, .workers = 3), 0);
    cr_expect_str_eq(noted(), "1 1 ");
}

static int monitors_without_memory(weft_pid other)
{
    weft_ref ref = {0};

    memory_is_gone(9); /* but nothing for what the other may need */
    note("%d ", weft_monitor(other).id != 0);
    memory_is_back();
    keep_for_the_next();
    for (int left = 0; left < 5 && !ref.id; left++) {
        memory_is_gone(left);
        ref = weft_monitor(other);
        memory_is_back();
        note("%d ", ref.id != 0);
    }
    ends(other, 3);
    note("%d ", next_down()->ref.id == ref.id);
    return 0;
}

/* It has no bonds yet, and no memory for any. */
static void fails_to_monitor(void *other)
{
    weft__memory_fail(1);
    weft_ref ref = weft_monitor(*(weft_pid *)other);
    weft__memory_fail(0);
    note("%d ", ref.id != 0);
}

static void watches_with_little_memory(void *arg)
{
    weft_pid p = puppet(FIBER), q = puppet(FIBER);
    uint64_t ended = counted().ended;

    (void)arg;
    weft_spawn(fails_to_monitor, &p);
    wait_for_ends(ended + 1);
    order(p, monitors_without_memory, q);
    note("%d", none_comes_from(p));
}

Test(monitor, without_memory_is_none)
{
    cr_expect_eq(weft_run(watches_with_little_memory, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "0 0 0 0 1 1 1");
}

static void fresh(void *arg)
{
    (void)arg;
    weft_receive(GO);
}

static void watches_a_fresh_one(void *arg)
{
    weft_pid p = weft_spawn(fresh, NULL);

    (void)arg;
    weft_yield();             /* it waits now, and has nothing but its control block */
    weft_drop(weft_make(GO)); /* its type is known then */
    weft_monitor(p);
    weft__memory_fail(1);
    weft_send(p, GO);
    note("%d ", next_down()->reason);
    note("%ld", weft__memory_fail(0));
}

Test(monitor, needs_no_memory_on_the_other_side)
{
    cr_expect_eq(weft_run(watches_a_fresh_one, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "0 0");
}
