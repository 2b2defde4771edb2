/* test_link.c - what part 9 of weft.h promises of links: who ends with whom, and who hears of it.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * docs/faults.md has the rules, and names the test that holds each.
 */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <weft/case.h>

#include "base/memory.h"
#include "puppet.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(link, .fini = nothing_leaks, .timeout = 60);

WEFT_MESSAGE(A, int);
WEFT_SIGNAL(GO);

static weft_pid puppets[3];

/* Two that are linked, by the first; the second is a fiber. */
static void make_pair(void)
{
    puppets[0] = puppet(form);
    puppets[1] = puppet(FIBER);
    if (order(puppets[0], weft_link, puppets[1]))
        note("not linked ");
}

static int link_and_trap(weft_pid with)
{
    weft_trap(true);
    return weft_link(with);
}

/* ---- what a link is ------------------------------------------------------------------------------------- */

/* Either of two ends, of a link that either has made. */
static void ends_one_of_two(void *arg)
{
    (void)arg;
    for (int maker = 0; maker < 2; maker++)
        for (int victim = 0; victim < 2; victim++) {
            weft_pid p[2] = {puppet(form), puppet(FIBER)};
            weft_ref refs[2] = {weft_monitor(p[0]), weft_monitor(p[1])};
            order(p[maker], weft_link, p[!maker]);
            ends(p[victim], 7);
            note("%d %d, ", reason_of(refs[0]), reason_of(refs[1]));
        }
}

Test(link, goes_both_ways_whoever_made_it) { in_each_form(ends_one_of_two, "7 7, 7 7, 7 7, 7 7, "); }

static void links_again_and_again(void *arg)
{
    (void)arg;
    make_pair();
    order(puppets[0], weft_link, puppets[1]);
    order(puppets[1], weft_link, puppets[0]);
    order(puppets[0], weft_unlink, puppets[1]);
    ends(puppets[1], 3);
    note("%d", lives(puppets[0]));
}

Test(link, made_twice_is_one_link) { in_each_form(links_again_and_again, "1"); }

static void links_both_at_once(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++) {
        weft_pid a = puppet(i ? FIBER : form), b = puppet(FIBER);
        weft_ref ref = weft_monitor(a);
        order_later(a, weft_link, b);
        order_later(b, weft_link, a);
        if (i % 2) {
            order(a, nothing, b);
            order(b, weft_unlink, a);
            order_later(a, weft_link, b);
        }
        order(a, nothing, b);
        order(b, nothing, a);
        ends(b, 5);
        if (reason_of(ref) != 5)
            note("not linked ");
    }
}

Test(link, made_by_both_at_once_is_one_link) { in_each_form(links_both_at_once, ""); }

static void links_to_itself(void *arg)
{
    (void)arg;
    weft_pid p = puppet(form);
    weft_ref ref = weft_monitor(p);
    note("%d ", order(p, link_and_trap, p));
    note("%d ", order(p, weft_unlink, p));
    ends(p, 3);
    note("%d", reason_of(ref));
}

Test(link, to_oneself_is_nothing) { in_each_form(links_to_itself, "0 0 3"); }

static void unlinks_a_stranger(void *arg)
{
    (void)arg;
    weft_pid p = puppet(form);
    note("%d ", order(p, weft_unlink, weft_self()));
    note("%d ", order(p, weft_unlink, WEFT_NOBODY));
    note("%d", lives(p));
}

Test(link, that_is_not_there_can_be_broken) { in_each_form(unlinks_a_stranger, "0 0 1"); }

static weft_pid of_the_dead(void)
{
    weft_pid gone = puppet(FIBER);
    weft_ref ref = weft_monitor(gone);

    ends(gone, 4);
    reason_of(ref);
    return gone;
}

static void links_to_the_dead(void *arg)
{
    weft_pid gone = of_the_dead(), p = puppet(form), q = puppet(form), r = puppet(form);
    weft_ref ref = weft_monitor(p);

    (void)arg;
    order_later(p, weft_link, gone);
    note("%d ", reason_of(ref));
    int error = order(q, link_and_trap, gone);
    note("%d ", lives(q));
    error += order(r, link_and_trap, WEFT_NOBODY);
    note("%d %d", lives(r), error);
}

Test(link, to_one_that_has_ended_breaks_at_once_with_gone)
{
    in_each_form(links_to_the_dead, "-1 exit -1 1 exit -1 1 0");
}

/* The link is asked for, and only then the other ends, before it has looked. */
static int links_and_ends_it(weft_pid other)
{
    ends(other, 6);
    return weft_link(other);
}

static void links_to_one_that_ends(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20; i++) {
        weft_pid a = puppet(form == THREAD && i > 2 ? FIBER : form), b = puppet(FIBER);
        weft_ref ref = weft_monitor(a);
        order_later(a, links_and_ends_it, b);
        int reason = reason_of(ref);
        if (reason != 6 && reason != WEFT_EGONE)
            note("%d ", reason);
    }
}

Test(link, to_one_that_is_about_to_end_is_not_lost) { in_each_form(links_to_one_that_ends, ""); }

/* ---- what an end does --------------------------------------------------------------------------------------- */

static void ends_normally(void *arg)
{
    (void)arg;
    for (int victim = 0; victim < 2; victim++) {
        make_pair();
        weft_ref ref = weft_monitor(puppets[victim]);
        ends(puppets[victim], 0);
        note("%d ", reason_of(ref));
        note("%d ", lives(puppets[!victim]));
    }
}

Test(link, to_one_that_ends_normally_ends_nobody) { in_each_form(ends_normally, "0 1 0 1 "); }

static void ends_beside_one_that_traps(void *arg)
{
    static const int reasons[] = {0, 7, WEFT_ETYPE};

    (void)arg;
    for (int i = 0; i < 3; i++) {
        make_pair();
        order(puppets[0], traps, WEFT_NOBODY);
        weft_ref ref = weft_monitor(puppets[1]);
        ends(puppets[1], reasons[i]);
        reason_of(ref);
        note("%d, ", lives(puppets[0]));
    }
}

Test(link, of_one_that_traps_brings_a_message_also_for_0)
{
    in_each_form(ends_beside_one_that_traps, "exit 0 1, exit 7 1, exit -7 1, ");
}

static int reads_the_exit(weft_pid other)
{
    ends(other, 8);
    weft_msg                 *m = weft_receive(WEFT_EXIT);
    const struct weft_exited *e = weft_get(m, WEFT_EXIT);
    note("%d %d %d %d ", weft_same(e->who, other), e->reason, e->linked, weft_is_nobody(weft_sender(m)));
    note("%d ", weft_carried(m) == NULL);
    return 0;
}

static void ends_and_is_read_of(void *arg)
{
    (void)arg;
    make_pair();
    order(puppets[0], traps, WEFT_NOBODY);
    order(puppets[0], reads_the_exit, puppets[1]);
}

Test(link, tells_who_ended_and_that_it_was_linked) { in_each_form(ends_and_is_read_of, "1 8 1 1 1 "); }

static void ends_a_row(void *arg)
{
    weft_ref refs[3];

    (void)arg;
    make_pair();
    puppets[2] = puppet(form == THREAD ? FIBER : form);
    order(puppets[1], weft_link, puppets[2]);
    for (int i = 0; i < 3; i++)
        refs[i] = weft_monitor(puppets[i]);
    ends(puppets[0], 9);
    for (int i = 0; i < 3; i++)
        note("%d ", reason_of(refs[i]));
}

Test(link, hands_the_reason_on_to_the_next) { in_each_form(ends_a_row, "9 9 9 "); }

static void kills_one_of_two(void *arg)
{
    (void)arg;
    make_pair();
    weft_ref refs[2] = {weft_monitor(puppets[0]), weft_monitor(puppets[1])};
    order(puppets[1], traps, WEFT_NOBODY);
    weft_kill(puppets[1]);
    note("%d %d, ", reason_of(refs[0]), reason_of(refs[1]));
    make_pair();
    order(puppets[0], traps, WEFT_NOBODY);
    weft_ref ref = weft_monitor(puppets[1]);
    weft_kill(puppets[1]);
    reason_of(ref);
    note("%d", lives(puppets[0]));
}

Test(link, to_one_that_is_killed_can_be_trapped) { in_each_form(kills_one_of_two, "-9 -9, exit -9 1"); }

/* A link is used up by an end: who links again does so to one that is gone. */
static int links_again(weft_pid gone)
{
    int error = weft_link(gone);

    note("%d ", weft_get(weft_receive(WEFT_EXIT), WEFT_EXIT)->reason);
    return error;
}

static void ends_and_is_linked_again(void *arg)
{
    (void)arg;
    make_pair();
    order(puppets[0], traps, WEFT_NOBODY);
    order(puppets[0], reads_the_exit, puppets[1]);
    order(puppets[0], links_again, puppets[1]);
    note("%d", lives(puppets[0]));
}

Test(link, is_gone_when_it_has_told) { in_each_form(ends_and_is_linked_again, "1 8 1 1 1 -1 1"); }

/* ---- unlinking ---------------------------------------------------------------------------------------------- */

static void unlinks_one_of_two(void *arg)
{
    (void)arg;
    for (int i = 0; i < 4; i++) {
        make_pair();
        order(puppets[0], i / 2 ? traps : nothing, WEFT_NOBODY);
        order(puppets[i % 2], weft_unlink, puppets[!(i % 2)]);
        weft_ref ref = weft_monitor(puppets[1]);
        ends(puppets[1], 3);
        reason_of(ref);
        note("%d ", lives(puppets[0]));
    }
}

Test(link, that_was_broken_by_either_tells_nothing) { in_each_form(unlinks_one_of_two, "1 1 1 1 "); }

/* What the other did before it was unlinked has come, but was not looked at. */
static int unlinks_late(weft_pid other)
{
    uint64_t ended = counted().ended;

    ends(other, 3);
    wait_for_ends(ended + 1);
    int error = weft_unlink(other);
    note("%d ", weft_receive_within(weft_ms(0), WEFT_EXIT) == NULL);
    return error;
}

static void unlinks_the_dead(void *arg)
{
    (void)arg;
    make_pair();
    order(puppets[0], traps, WEFT_NOBODY);
    note("%d ", order(puppets[0], unlinks_late, puppets[1]));
    note("%d", lives(puppets[0]));
}

Test(link, that_was_broken_late_tells_nothing_still) { in_each_form(unlinks_the_dead, "1 0 1"); }

static bool sees_and_leaves(const weft_msg *m, const void *seen)
{
    (void)m;
    *(bool *)seen = true;
    return false;
}

static int unlinks_too_late(weft_pid other)
{
    bool             seen = false;
    const weft_case  list[] = {WEFT_ON_IF(WEFT_EXIT, NULL, sees_and_leaves, &seen)};
    const weft_cases cases = WEFT_CASES(list, NULL);

    ends(other, 3);
    while (!seen)
        weft_receive_case(weft_ms(1), &cases);
    int error = weft_unlink(other);
    note("%d ", weft_receive_within(weft_ms(0), WEFT_EXIT) != NULL);
    return error;
}

static void unlinks_after_the_exit(void *arg)
{
    (void)arg;
    make_pair();
    order(puppets[0], traps, WEFT_NOBODY);
    note("%d", order(puppets[0], unlinks_too_late, puppets[1]));
}

Test(link, that_was_broken_after_the_exit_came_leaves_it) { in_each_form(unlinks_after_the_exit, "1 0"); }

static void links_and_unlinks(void *arg)
{
    (void)arg;
    for (int maker = 0; maker < 2; maker++) {
        weft_pid p[2] = {puppet(form), puppet(FIBER)};
        weft_ref refs[2] = {weft_monitor(p[0]), weft_monitor(p[1])};
        for (int i = 0; i < 5; i++) {
            order_later(p[maker], weft_link, p[!maker]);
            order_later(p[maker], weft_unlink, p[!maker]);
        }
        order(p[maker], weft_link, p[!maker]);
        ends(p[!maker], 2);
        note("%d %d ", reason_of(refs[0]), reason_of(refs[1]));
    }
}

Test(link, that_was_broken_can_be_made_again) { in_each_form(links_and_unlinks, "2 2 2 2 "); }

/* ---- order ---------------------------------------------------------------------------------------------------- */

static void sends_and_ends(void *arg)
{
    weft_pid to = *(weft_pid *)arg;

    weft_receive(GO);
    weft_send(to, A, 1);
    weft_send(to, A, 2);
    weft_end(3);
}

/* All of it is there before the first is looked at. */
static weft_pid linked_sender(void)
{
    uint64_t ended = counted().ended;
    weft_pid self = weft_self(),
             p = weft_spawn(sends_and_ends, &self, .copy_bytes = sizeof self, .link = true);

    weft_send(p, GO);
    wait_for_ends(ended + 1);
    return p;
}

static int traps_and_receives(weft_pid unused)
{
    (void)unused;
    weft_trap(true);
    linked_sender();
    for (int i = 0; i < 3; i++)
        note("%s ", weft_name(weft_receive(A, WEFT_EXIT)));
    return 0;
}

static int does_not_trap_and_receives(weft_pid unused)
{
    weft_pid self = weft_self(),
             p = weft_spawn(sends_and_ends, &self, .copy_bytes = sizeof self, .link = true);

    (void)unused;
    weft_send(p, GO);
    for (int i = 0; i < 3; i++) /* it is ended in the third */
        note("%d ", *weft_get(weft_receive(A), A));
    return 0;
}

static void orders_both(void *arg)
{
    weft_pid p = puppet(form), q = puppet(form);
    weft_ref ref = weft_monitor(q);

    (void)arg;
    order(p, traps_and_receives, WEFT_NOBODY);
    order_later(q, does_not_trap_and_receives, WEFT_NOBODY);
    note("%d", reason_of(ref));
}

Test(link, tells_of_an_end_after_all_that_was_sent_before)
{
    in_each_form(orders_both, "A A WEFT_EXIT 1 2 3");
}

/* ---- from the start --------------------------------------------------------------------------------------------- */

static void ends_at_once(void *arg)
{
    (void)arg;
    weft_end(3);
}

static int spawns_many_linked(weft_pid unused)
{
    (void)unused;
    weft_trap(true);
    for (int i = 0; i < 500; i++) {
        weft_pid                  p = weft_spawn(ends_at_once, NULL, .link = true);
        const struct weft_exited *e = weft_get(weft_receive(WEFT_EXIT), WEFT_EXIT);
        if (!weft_same(e->who, p) || e->reason != 3)
            note("%d ", e->reason);
    }
    note("%d ", weft_receive_within(weft_ms(0), WEFT_EXIT) == NULL);
    return 0;
}

static int spawns_one_linked(weft_pid unused)
{
    (void)unused;
    weft_spawn(ends_at_once, NULL, .link = true);
    weft_receive(GO);
    return 0;
}

static void spawns_linked(void *arg)
{
    weft_pid p = puppet(form), q = puppet(form);
    weft_ref ref = weft_monitor(q);

    (void)arg;
    order(p, spawns_many_linked, WEFT_NOBODY);
    order_later(q, spawns_one_linked, WEFT_NOBODY);
    note("%d", reason_of(ref));
}

Test(link, of_spawn_is_there_when_the_child_ends_at_once) { in_each_form(spawns_linked, "1 3"); }

/* The child is of that form. */
static void spawns_and_ends(void *boss)
{
    weft_pid p = puppet_with(form == THREAD ? FIBER : form, &(weft_options){.link = true});

    weft_send(*(weft_pid *)boss, A, 0);
    order(p, nothing, p);
    weft_receive(GO);
    weft_end(5);
}

static void parent_ends(void *arg)
{
    weft_pid self = weft_self(), parent = weft_spawn(spawns_and_ends, &self, .copy_bytes = sizeof self);

    (void)arg;
    weft_receive(A);
    uint64_t ended = counted().ended;
    weft_send(parent, GO);
    wait_for_ends(ended + 2);
    note("both");
}

Test(link, of_spawn_ends_the_child_with_its_parent) { in_each_form(parent_ends, "both"); }

static int spawns_in_vain(weft_pid unused)
{
    (void)unused;
    weft_trap(true);
    weft_pid p = weft_spawn(ends_at_once, NULL, .name = "taken", .link = true);
    note("%d %d ", weft_is_nobody(p), weft_spawn_error() == WEFT_EUSED);
    note("%d", weft_receive_within(weft_ms(0), WEFT_EXIT) == NULL);
    return 0;
}

static void spawns_what_can_not_be(void *arg)
{
    (void)arg;
    weft_register("taken", weft_self());
    order(puppet(form), spawns_in_vain, WEFT_NOBODY);
}

Test(link, of_a_spawn_that_fails_tells_nothing) { in_each_form(spawns_what_can_not_be, "1 1 1"); }

/* A message that was sent later to one who has ended: it is destroyed where no actor runs. */
static void spawns_from_nowhere(void *body)
{
    weft_ref ref;
    weft_pid p = weft_spawn(ends_at_once, NULL, .link = true, .monitor = &ref);

    note("%d %s", weft_is_nobody(p), weft_spawn_error() == WEFT_EINVALID ? "invalid" : "?");
    weft_send(*(weft_pid *)body, GO);
}
WEFT_MESSAGE_OWNING(THING, spawns_from_nowhere, weft_pid);

static void sends_a_thing_later(void *arg)
{
    weft_pid p = puppet(FIBER);

    (void)arg;
    weft_monitor(p);
    ends(p, 0);
    weft_receive(WEFT_DOWN);
    weft_send_after(weft_ms(1), p, THING, weft_self().id);
    weft_receive(GO);
}

Test(link, of_spawn_needs_a_caller)
{
    cr_expect_eq(weft_run(sends_a_thing_later, NULL, .workers = 1), 0);
    cr_expect_str_eq(noted(), "1 invalid");
    cr_expect_eq(counted().spawned, counted().ended);
}

/* ---- many --------------------------------------------------------------------------------------------------------- */

enum { MANY = 10000 };

static weft_pid boss;

static void member(void *arg)
{
    uintptr_t left = (uintptr_t)arg;

    if (left)
        weft_spawn(member, (void *)(left - 1), .link = true);
    else
        weft_send(boss, GO);
    weft_receive(A);
}

static void member_on_any(void *state, weft_msg *m) { (void)state, (void)m; }

static void light_member(void *arg)
{
    uintptr_t left = (uintptr_t)arg;

    if (left)
        weft_spawn(light_member, (void *)(left - 1), .link = true);
    else
        weft_send(boss, GO);
    weft_react(member_on_any, NULL, A);
}

static void chain_dies(void *arg)
{
    uint64_t before = counted().ended;

    (void)arg;
    boss = weft_self();
    weft_pid first = weft_spawn(member, (void *)(uintptr_t)(MANY - 1));
    weft_receive(GO);
    weft_exit(first, 3);
    wait_for_ends(before + MANY);
    first = weft_spawn(light_member, (void *)(uintptr_t)(MANY - 1));
    weft_receive(GO);
    weft_kill(first);
    wait_for_ends(before + 2 * MANY);
    note("all");
}

Test(link, of_a_chain_of_ten_thousand_ends_them_all)
{
    cr_expect_eq(weft_run(chain_dies, NULL, .workers = 1), 0);
    cr_expect_eq(weft_run(chain_dies, NULL, .workers = 4), 0);
    cr_expect_str_eq(noted(), "allall");
}

/* All are linked to the caller, which ends, and they with it. */
static void hub(void *arg)
{
    (void)arg;
    for (int i = 0; i < MANY; i++)
        if (i % 2)
            weft_spawn(light_member, NULL, .link = true);
        else
            weft_link(weft_spawn(light_member, NULL));
    weft_end(7);
}

static void hub_ends(void *arg)
{
    uint64_t before = counted().ended;

    (void)arg;
    boss = weft_self();
    weft_spawn(hub, NULL);
    wait_for_ends(before + MANY + 1);
    note("all");
}

Test(link, of_one_to_ten_thousand_ends_them_all)
{
    cr_expect_eq(weft_run(hub_ends, NULL, .workers = 1), 0);
    cr_expect_eq(weft_run(hub_ends, NULL, .workers = 4), 0);
    cr_expect_str_eq(noted(), "allall");
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static int links_a_thousand_times(weft_pid other)
{
    for (int i = 0; i < 1000; i++) {
        weft_link(other);
        weft_unlink(other);
    }
    return 0;
}

static void links_a_million_times(void *arg)
{
    weft_pid p[2] = {puppet(FIBER), puppet(FIBER)};
    size_t   before = 0;

    (void)arg;
    for (int i = 0; i < 1000; i++) {
        order(p[i % 2], links_a_thousand_times, p[!(i % 2)]);
        lives(p[!(i % 2)]);
        lives(p[i % 2]);
        if (i == 20)
            before = resident();
    }
    if (resident() > before + (2 << 20))
        note("%zu bytes more ", resident() - before);
    ends(p[0], 3);
    note("%d ", lives(p[1]));
}

Test(link, made_and_broken_a_million_times_takes_no_memory)
{
    cr_expect_eq(weft_run(links_a_million_times, NULL, .workers = 1), 0);
    cr_expect_eq(weft_run(links_a_million_times, NULL, .workers = 3), 0);
    cr_expect_str_eq(noted(), "1 1 ");
}

/* Without memory for all that it needs there is no link, and nothing of one; then with one cell more, until there is. */
static int links_without_memory(weft_pid other)
{
    int error = WEFT_EMEMORY, left = -1;

    keep_for_the_next();
    while (error == WEFT_EMEMORY && left < 5) {
        memory_is_gone(++left);
        error = weft_link(other);
        memory_is_back();
    }
    note("%d %d ", error, left == 2 || left == 3); /* who has the smaller pid needs one less */
    return error;
}

static int unlinks_without_memory(weft_pid other)
{
    memory_is_gone(0);
    int error = weft_unlink(other);
    memory_is_back();
    return error;
}

static int links_with_cells(int cells, weft_pid other)
{
    memory_is_gone(cells);
    int error = weft_link(other);
    memory_is_back();
    return error;
}

static int fails_to_link(weft_pid other) { return links_with_cells(1, other); }

/* There is nothing for what the other may need. */
static int fails_to_link_by_cells_alone(weft_pid other) { return links_with_cells(9, other); }

static void links_with_little_memory(void *arg)
{
    (void)arg;
    for (int maker = 0; maker < 2; maker++) {
        weft_pid p[2] = {puppet(FIBER), puppet(FIBER)};
        weft_ref ref = weft_monitor(p[0]);
        if (!maker) /* later some will be kept */
            note("%d ", order(p[0], fails_to_link_by_cells_alone, p[1]));
        note("%d ", order(p[maker], fails_to_link, p[!maker]));
        note("%d ", order(p[maker], links_without_memory, p[!maker]));
        note("%d ", order(p[maker], unlinks_without_memory, p[!maker]));
        ends(p[1], 4);
        note("%d, ", reason_of(ref));
        p[0] = puppet(FIBER), p[1] = puppet(FIBER);
        order(p[maker], fails_to_link, p[!maker]);
        ends(p[1], 4);
        note("%d, ", lives(p[0]));
    }
}

Test(link, without_memory_is_none_and_no_half_of_one)
{
    cr_expect_eq(weft_run(links_with_little_memory, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "-4 -4 0 1 0 -4 4, 1, -4 0 1 0 -4 4, 1, ");
}

/* It has nothing but its control block. */
static void fresh(void *arg)
{
    (void)arg;
    weft_receive(GO);
}

/* How many allocations there were while the other took it in. */
static int links_and_counts(weft_pid other)
{
    weft_trap(true);
    note("%d ", weft_link(other));
    weft__memory_fail(1);
    weft_yield();
    int made = (int)weft__memory_fail(0);
    weft_exit(other, 3);
    note("%d ", weft_get(weft_receive(WEFT_EXIT), WEFT_EXIT)->reason);
    return made;
}

static void link_to_fresh_ones(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) { /* one of them has the smaller pid */
        weft_pid before = weft_spawn(fresh, NULL), maker = puppet(FIBER), behind = weft_spawn(fresh, NULL);
        weft_yield(); /* they wait now */
        note("%d ", order(maker, links_and_counts, i ? before : behind));
        weft_send(i ? behind : before, GO);
        ends(maker, 0);
    }
}

Test(link, needs_no_memory_on_the_other_side)
{
    cr_expect_eq(weft_run(link_to_fresh_ones, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "0 3 0 0 3 0 ");
}

static void spawns_without_memory(void *arg)
{
    int      failures = 0;
    weft_pid p = WEFT_NOBODY;
    weft_ref ref;

    (void)arg;
    weft_trap(true);
    for (int left = -1; left < 9 && weft_is_nobody(p); left++) {
        memory_is_gone(left);
        /* the first is for what an actor with bonds has more than others; from then on that is kept for the next */
        weft__memory_fail(left == 0 ? 2 : 1);
        p = weft_spawn(fresh, NULL, .link = true, .monitor = &ref);
        int error = weft_spawn_error();
        memory_is_back();
        failures += weft_is_nobody(p) && error == WEFT_EMEMORY;
    }
    note("%d ", failures >= 4 && failures < 10);
    uint64_t ended = counted().ended;
    weft_exit(p, 3);
    wait_for_ends(ended + 1);
    note("%d ", weft_get(weft_receive(WEFT_EXIT), WEFT_EXIT)->reason);
    note("%d ", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
    note("%d", weft_receive_within(weft_ms(1), WEFT_EXIT, WEFT_DOWN) == NULL);
}

Test(link, of_spawn_without_memory_leaves_no_child)
{
    cr_expect_eq(weft_run(spawns_without_memory, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "1 3 3 1");
    cr_expect_eq(counted().spawned, counted().ended);
}
