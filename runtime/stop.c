/* stop.c - the orderly end of a system: who is told, in which order, and how long it may take.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * An actor of Weft's own does it, so that it takes its turn among the others, and in virtual time by that: a stop replays
 * as all else does. It tells the supervisors that have none above them, and waits until they have stopped what is below;
 * then all others; and when the time is over it kills. Between two looks it sleeps, for nobody counts ends as they happen.
 * If it never gets a turn, or is killed, the conductor goes on without it (system.c).
 *
 * Whom it has told it remembers by slot, so that those who are made meanwhile are told too, and nobody twice. Threads of
 * the program's are not its to end.
 */
#include <string.h>

#include "runtime/actor.h"
#include "sched/clock.h"

/* Between two looks: so much, and a part of what it has waited. So a long wait costs few looks, and a short one is short. */
enum { NAP_NS = 20000, PART = 8 };

struct stop {
    weft_pid  self;
    int64_t   until;
    size_t    slots;
    uint64_t *told; /* the pid that a slot had when it was told */
};

weft_pid weft__stop_spawned(size_t slot)
{
    struct weft__actor *a = weft__actor_block((weft_pid){slot});

    weft__lane_lock(); /* a thread becomes an actor under it, so its pid never lies beside another's function */
    weft_pid who = weft__look_into(slot);
    bool     spawned = atomic_load_explicit(&a->fn, memory_order_relaxed);
    weft__lane_unlock();
    return spawned ? who : WEFT_NOBODY;
}

/* What it had is given back with the actor. Without memory some are told twice. */
static void make_room(struct stop *s)
{
    size_t    slots = weft__look_slots();
    uint64_t *told = slots > s->slots ? weft_alloc(2 * slots * sizeof *told) : NULL;

    if (!told)
        return;
    if (s->slots)
        memcpy(told, s->told, s->slots * sizeof *told);
    s->told = told;
    s->slots = 2 * slots;
}

static void forget(struct stop *s)
{
    if (s->slots)
        memset(s->told, 0, s->slots * sizeof *s->told);
}

static void tell(struct stop *s, weft_pid who, int (*how)(weft_pid who))
{
    size_t slot = weft__actor_slot((weft_pid){who.id & ~WEFT__KIND_BOUNDED});

    if (slot < s->slots && s->told[slot] == who.id)
        return;
    if (how(who) != WEFT_EMEMORY && slot < s->slots)
        s->told[slot] = who.id;
}

static int tell_to_stop(weft_pid who) { return weft_exit(who, WEFT_ESTOP); }

static int tell_to_die(weft_pid who) { return weft_kill(who); }

/* ---- who is left, and was told ---------------------------------------------------------------------------- */

static bool supervisors_are_left(struct stop *s)
{
    enum { AT_ONCE = 32 };
    weft_pid roots[AT_ONCE];
    size_t   n = weft__supervisor_roots(roots, AT_ONCE);

    make_room(s);
    for (size_t i = 0; i < n && i < AT_ONCE; i++)
        tell(s, roots[i], tell_to_stop);
    return n;
}

static bool some_are_left(struct stop *s, int (*how)(weft_pid who))
{
    size_t slots = weft__look_slots(), n = 0;

    make_room(s);
    for (size_t i = 0; i < slots; i++) {
        weft_pid who = weft__stop_spawned(i);
        if (!who.id || weft_same(who, s->self))
            continue;
        tell(s, who, how);
        n++;
    }
    return n;
}

static bool others_are_left(struct stop *s) { return some_are_left(s, tell_to_stop); }

static bool any_are_left(struct stop *s) { return some_are_left(s, tell_to_die); }

/* Until none is, or the time is over. */
static void wait_while(bool (*left)(struct stop *s), struct stop *s, int64_t until)
{
    int64_t began = weft__clock_now();

    for (bool first = true; left(s); first = false) {
        int64_t now = weft__clock_now(), nap = NAP_NS + (now - began) / PART;
        if (now >= until)
            return;
        if (first)
            weft_yield();
        else
            weft_sleep(weft_ns(nap < until - now ? nap : until - now));
    }
}

static void stop(void *time)
{
    struct stop s = {.self = weft_self(), .until = weft__clock_after(*(int64_t *)time)};

    weft_trap(true);
    wait_while(supervisors_are_left, &s, s.until);
    wait_while(others_are_left, &s, s.until);
    forget(&s);
    wait_while(any_are_left, &s, weft__clock_after(WEFT__GRACE_NS));
    weft__system_stopped();
}

struct weft__actor *weft__stop_actor(struct weft__lane *l, int64_t time)
{
    struct weft__actor *a = weft__actor_new(l, stop, NULL, 0);

    if (a && weft__actor_extra(a) && (a->state = weft__actor_own(l, a, sizeof time))) {
        *(int64_t *)a->state = time;
        return a;
    }
    if (a)
        weft__actor_end(l, a);
    return NULL;
}

int weft_stop(int reason, weft_span time)
{
    struct weft__lane *l = weft__lane_need();

    if (!l)
        return WEFT_EMEMORY;
    weft__send_check(l);
    return weft__system_stop(l, reason, time.ns > 0 ? time.ns : 0);
}
