/* down.c - taking down: what is left of a system when it has ended, and who is left behind.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Taking down happens when the workers' threads have ended. Each actor that is left is parked, or queued, or in the
 * hands of a foreign sender that took it from PARKED and is about to queue it. So: what is queued is ended; what is
 * parked is taken from PARKED, as a sender would, and ended; the rest will be in the shared queue in a moment.
 *
 * After a stop some workers may not have come back. What was queued there was taken from them (weft__crew_abandon). Then
 * whatever can be had is ended, and nothing is waited for: an actor that runs, or that one of those has in its hands, is
 * left behind, as it is.
 */
#include <sched.h>
#include <stdio.h>

#include "runtime/actor.h"
#include "sched/clock.h"

static void end_left_over(struct weft__lane *l, struct weft__actor *a)
{
    weft__ending_run(l, a);
    if (a->stack)
        weft__stack_put(&l->stacks, a->stack);
    a->stack = NULL;
    a->reason = WEFT_EENDED;
    weft__actor_end(l, a);
}

static void end_queued(struct weft__lane *l)
{
    for (struct weft__task *t; (t = weft__crew_left());)
        end_left_over(l, (struct weft__actor *)t);
}

/* Under the lanes' lock, because threads become actors, and end, at any time. Those have no function. */
static bool is_ours(const struct weft__actor *a)
{
    weft__lane_lock();
    bool ours = atomic_load_explicit(&a->fn, memory_order_relaxed) && a->phase != WEFT__FREE;
    weft__lane_unlock();
    return ours;
}

static void end_parked(struct weft__lane *l, struct weft__actor *a)
{
    while (is_ours(a)) {
        if (weft__inbox_unpark(&a->box, a->parked)) {
            end_left_over(l, a);
            return;
        }
        end_queued(l); /* or a sender has it, and will queue it */
        sched_yield();
    }
}

/* ---- with workers left behind ----------------------------------------------------------------------------- */

/* Only the mailbox is looked at: the rest of it may be in use. */
static void end_if_parked(struct weft__lane *l, struct weft__actor *a)
{
    /* relaxed: it is only compared, until the exchange holds. */
    uint64_t word = atomic_load_explicit(&a->box.word, memory_order_relaxed);

    weft__lane_lock();
    bool ours = weft__inbox_is_parked(word, weft__actor_generation(weft__actor_pid(a))) &&
                atomic_load_explicit(&a->fn, memory_order_relaxed);
    weft__lane_unlock();
    if (ours && weft__inbox_unpark(&a->box, word))
        end_left_over(l, a);
}

static void name(weft_pid who)
{
    weft_view view;

    if (weft_look(who, &view, sizeof view))
        return;
    fprintf(stderr, "weft: left behind, as it does not come back: %s%s%s%s\n", view.function,
            *view.name ? " \"" : "", view.name, *view.name ? "\"" : "");
}

static void name_all(size_t slots)
{
    enum { LINES = 16 };
    size_t n = 0;

    for (size_t i = 0; i < slots; i++) {
        weft_pid who = weft__stop_spawned(i);
        if (who.id && n++ < LINES)
            name(who);
    }
    if (n > LINES)
        fprintf(stderr, "weft: left behind: %zu more\n", n - LINES);
}

static void take_what_can_be_had(struct weft__lane *l, size_t slots)
{
    end_queued(l);
    for (size_t i = 0; i < slots; i++)
        end_if_parked(l, weft__actor_block((weft_pid){i}));
    end_queued(l);
    name_all(slots);
}

void weft__down(struct weft__lane *l, bool all)
{
    size_t slots = atomic_load_explicit(&weft__actor_count, memory_order_relaxed);

    end_queued(l);
    for (size_t i = 0; all && i < slots; i++)
        end_parked(l, weft__actor_block((weft_pid){i}));
    if (!all)
        take_what_can_be_had(l, slots);
    weft__later_end_all(l);
    weft__thread_release_all();
    weft__timers_end();
    weft__clock_virtual(false);
}
