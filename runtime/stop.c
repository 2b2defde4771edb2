/* stop.c - the orderly end of a system: who is told, in which order, and how long it may take.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * An actor of Weft's own does it, so that it takes its turn among the others, and in virtual time by that: a stop replays
 * as all else does. It tells the supervisors that have none above them, and waits until they have stopped what is below;
 * then all others; and when the time is over it kills. Between two looks it sleeps, for nobody counts ends as they happen.
 * When it ends, because nobody is left or because somebody has killed it, the system does; if it never gets a turn, the
 * conductor goes on without it (system.c).
 *
 * Whom it has told it remembers by slot, so that those who are made meanwhile are told too, and nobody twice. Threads of
 * the program's are not its to end.
 */
#include <string.h>

#include "runtime/actor.h"
#include "sched/clock.h"

/* Between two looks: so much, and a part of what it has waited. So a long wait costs few looks, and a short one is short. */
enum { NAP_NS = 20000, PART = 8, FEW = 32 };

/* What it is given. */
struct order {
    int64_t time;
    bool    has_begun;
};

struct stop {
    weft_pid  self;
    int64_t   until;
    int64_t   stood; /* how long virtual time has stood still */
    size_t    slots;
    uint64_t *told; /* the pid that a slot had when it was told */
    size_t    room;
    weft_pid *roots; /* room for those that there are; as long as they are few, that is here: */
    weft_pid  few[FEW];
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

/* Without memory only some are told, and the others when those have ended. */
static size_t list_roots(struct stop *s)
{
    size_t    n = weft__supervisor_roots(s->roots, s->room);
    weft_pid *more = n > s->room ? weft_alloc(2 * n * sizeof *more) : NULL;

    if (!more)
        return n;
    s->roots = more;
    s->room = 2 * n;
    return weft__supervisor_roots(s->roots, s->room);
}

static bool supervisors_are_left(struct stop *s)
{
    size_t n = list_roots(s);

    make_room(s);
    for (size_t i = 0; i < n && i < s->room; i++)
        tell(s, s->roots[i], tell_to_stop);
    return n;
}

/* Who is spawned and ends while this looks may be missed in every slot. So nobody is left only if all the others have
 * ended, too. */
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
    return n || weft__rest_living() > 1;
}

static bool others_are_left(struct stop *s) { return some_are_left(s, tell_to_stop); }

static bool any_are_left(struct stop *s) { return some_are_left(s, tell_to_die); }

/* ---- waiting for them -------------------------------------------------------------------------------------- */

static int64_t time_now(const struct stop *s) { return weft__clock_now() + s->stood; }

static int64_t later(const struct stop *s, int64_t span)
{
    int64_t now = time_now(s);

    return span < WEFT__NEVER - now ? now + span : WEFT__NEVER;
}

/* While somebody is ready virtual time stands still, so a turn of them all counts as so much. While nobody is, it sleeps
 * until the next timer at most: who wakes by that may never wait again. */
static void nap_in_virtual_time(struct stop *s, int64_t nap)
{
    for (; nap > 0 && !weft__crew_is_dry(weft__lane()->worker); nap -= NAP_NS) {
        s->stood += NAP_NS;
        weft_yield();
    }
    int64_t next = weft__timers_earliest() - weft__clock_now();
    if (nap > 0)
        weft_sleep(weft_ns(next < nap ? next : nap));
}

/* Until none is, or the time is over. */
static void wait_while(bool (*left)(struct stop *s), struct stop *s, int64_t until)
{
    int64_t began = time_now(s);

    for (bool first = true; left(s); first = false) {
        int64_t now = time_now(s), nap = NAP_NS + (now - began) / PART;
        if (now >= until)
            return;
        if (nap > until - now)
            nap = until - now;
        if (first)
            weft_yield();
        else if (weft__clock_is_virtual())
            nap_in_virtual_time(s, nap);
        else
            weft_sleep(weft_ns(nap));
    }
}

static void stop(void *order)
{
    struct order *o = order;
    struct stop   s = {.self = weft_self(), .roots = s.few, .room = FEW};

    o->has_begun = true;
    weft_trap(true);
    s.until = later(&s, o->time);
    wait_while(supervisors_are_left, &s, s.until);
    wait_while(others_are_left, &s, s.until);
    forget(&s);
    wait_while(any_are_left, &s, later(&s, WEFT__GRACE_NS));
}

/* However it ends. What never began has no system to end: somebody takes it down, or it was only made. */
static void end_system(void *order)
{
    if (((struct order *)order)->has_begun)
        weft__system_stopped();
}

/* All that it needs memory for it has from its beginning, but for what makes it faster. */
struct weft__actor *weft__stop_actor(struct weft__lane *l, int64_t time)
{
    struct weft__actor *a = weft__actor_new(l, stop, NULL, 0);

    if (a && (a->state = weft__actor_own(l, a, sizeof(struct order))) && !weft__wait_reserve(a) &&
        !weft__ending_defer(l, a, end_system, a->state)) {
        *(struct order *)a->state = (struct order){.time = time};
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
