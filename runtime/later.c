/* later.c - messages that are sent at a time, or every so often, and can be called back.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Each is a record with a timer, at a place in a table. A ref is that place and the record's number, which no other
 * record ever has. A message is put into its mailbox under the timers' lock, so those that are due go in order; what is
 * to be destroyed or reported on the way is so by `finish`, without a lock: that may run the user's code.
 *
 *   I1  A record is the timers' while its timer is set; then it is the one's who took it from there: weft__timers_unset
 *       said true, or `fire` was its last. So it is cancelled or it was sent, never both, never neither.
 *   I2  The table and the free places are under `lock`. Order of locks: this, then the timers'.
 */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "runtime/actor.h"
#include "sched/clock.h"

enum { PERIOD_MIN_NS = 1000, PLACE_BITS = 28, FIRST_ROOM = 64 };

struct later {
    struct weft__timer timer;
    uint64_t           id;     /* number and place */
    int64_t            period; /* 0: once */
    weft_pid           to;
    struct weft_msg   *message; /* NULL: it was sent */
    struct later      *next;    /* while it waits for `finish` */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct later  **table; /* under lock, as all below; NULL: a free place */
static uint32_t        room, free_count;
static uint32_t       *free_places;
static uint64_t        numbers;

/* ---- the table ---------------------------------------------------------------------------------------- */

static bool grow(void)
{
    uint32_t       more = room ? room * 2 : FIRST_ROOM;
    struct later **larger = more <= 1u << PLACE_BITS ? weft__memory_get(more * sizeof *larger) : NULL;
    uint32_t      *places = larger ? weft__memory_get(more * sizeof *places) : NULL;

    if (!places) {
        weft__memory_put(larger);
        return false;
    }
    memset(larger, 0, more * sizeof *larger);
    if (room)
        memcpy(larger, table, room * sizeof *table);
    for (uint32_t i = more; i > room; i--)
        places[free_count++] = i - 1;
    weft__memory_put(table);
    weft__memory_put(free_places);
    table = larger;
    free_places = places;
    room = more;
    return true;
}

static bool enter(struct later *t)
{
    if (!free_count && !grow())
        return false;
    uint32_t place = free_places[--free_count];
    table[place] = t;
    t->id = ++numbers << PLACE_BITS | place;
    return true;
}

static void leave(struct later *t)
{
    uint32_t place = t->id & ((1u << PLACE_BITS) - 1);

    table[place] = NULL;
    free_places[free_count++] = place;
}

static struct later *find(weft_ref ref)
{
    uint64_t      place = ref.id & ((1u << PLACE_BITS) - 1);
    struct later *t = place < room ? table[place] : NULL;

    return t && t->id == ref.id ? t : NULL;
}

/* ---- when it is time ------------------------------------------------------------------------------------ */

static void doom(struct weft__lane *l, struct weft_msg *m, int why)
{
    m->tag = why;
    m->next = l->doomed;
    l->doomed = m;
}

/* What can not be sent is buried by `finish`. */
static bool deliver(struct weft__lane *l, struct later *t, struct weft_msg *m)
{
    struct weft_msg *dropped = NULL;
    int              why = weft__send_put(l, t->to, m, &dropped);

    while (dropped) {
        struct weft_msg *next = dropped->next;
        doom(l, dropped, WEFT_EFULL);
        dropped = next;
    }
    if (why)
        doom(l, m, why);
    return why != WEFT_EGONE;
}

static int64_t done(struct weft__lane *l, struct later *t)
{
    t->next = l->fired;
    l->fired = t;
    return WEFT__NEVER;
}

static int64_t later_than(int64_t time, int64_t period)
{
    return period < WEFT__NEVER - time ? time + period : WEFT__NEVER;
}

/* Under the timers' lock. */
static int64_t fire(struct weft__timer *timer, int64_t now)
{
    struct later      *t = (struct later *)timer;
    struct weft__lane *l = weft__lane();
    struct weft_msg   *m = t->period ? weft__message_copy(l, t->message) : t->message;

    if (!t->period)
        t->message = NULL;
    if (m && !deliver(l, t, m))
        return done(l, t);
    if (!t->period)
        return done(l, t);
    int64_t next = later_than(timer->when, t->period); /* without memory for this one, too */
    if (next <= now)
        next = later_than(now, t->period);
    return next == WEFT__NEVER ? done(l, t) : next;
}

static void end(struct weft__lane *l, struct later *t)
{
    if (t->message)
        weft__message_drop(l, t->message, WEFT_EDROPPED);
    weft__memory_put(t);
}

static void bury(struct weft_msg *m, int why)
{
    struct weft__lane *l = weft__lane();

    if (why == WEFT_EFULL) /* nobody hears of it by a result, so it is one in any case */
        weft__lane_count(&l->full_drops);
    if (why == WEFT_EGONE || why == WEFT_EFULL)
        weft__message_dead(l, m, why);
    else
        weft__message_drop(l, m, why);
}

/* In the thread that polled, without a lock. */
static void finish(void)
{
    struct weft__lane *l = weft__lane();
    struct later      *fired = l->fired;
    struct weft_msg   *doomed = l->doomed;

    l->fired = NULL;
    l->doomed = NULL;
    l->sender = NULL; /* nobody runs here: who sends in a destroy function does not take the plain way */
    while (fired) {
        struct later *t = fired;
        fired = t->next;
        pthread_mutex_lock(&lock);
        leave(t);
        pthread_mutex_unlock(&lock);
        end(l, t);
    }
    while (doomed) {
        struct weft_msg *m = doomed;
        doomed = m->next;
        bury(m, m->tag);
    }
    l->sender = l->worker;
}

/* ---- setting and cancelling ----------------------------------------------------------------------------- */

void weft__later_prepare(void) { weft__timers_fired = finish; }

/* {0}: no memory, and m is still the caller's. */
static weft_ref schedule(int64_t delay, int64_t period, weft_pid to, struct weft_msg *m)
{
    struct later *t = weft__memory_get(sizeof *t);
    int64_t       when = weft__clock_after(delay);
    weft_ref      ref = {0};

    if (!t)
        return ref;
    *t = (struct later){.timer.fire = fire, .period = period, .to = to, .message = m};
    m->to = to.id;
    pthread_mutex_lock(&lock);
    if (enter(t)) {
        ref.id = t->id; /* it may fire at once */
        if (weft__timers_set(&t->timer, when) < 0) {
            leave(t);
            ref.id = 0;
        }
    }
    pthread_mutex_unlock(&lock);
    if (!ref.id)
        weft__memory_put(t);
    else if (weft__timers_earliest() >= when)
        weft__crew_timed(); /* whoever sleeps must hear of it, as we may be busy */
    return ref;
}

weft_ref weft__later_send(struct weft__lane *l, int64_t delay, int64_t period, weft_pid to,
                          struct weft_msg *m)
{
    weft_ref ref = schedule(delay, period, to, m);

    if (!ref.id)
        weft__message_drop(l, m, WEFT_EMEMORY);
    return ref;
}

int weft_cancel(weft_ref timer)
{
    pthread_mutex_lock(&lock);
    struct later *t = find(timer);
    bool          was_set = t && weft__timers_unset(&t->timer);
    if (was_set)
        leave(t);
    pthread_mutex_unlock(&lock);
    if (!was_set)
        return WEFT_EGONE;
    struct weft__lane *l = weft__lane_need();
    if (l)
        end(l, t);
    return 0;
}

/* The next record that is left from that place on, taken out; NULL: there is none. */
static struct later *next_left(uint32_t *place)
{
    struct later *t = NULL;

    pthread_mutex_lock(&lock);
    while (!t && *place < room)
        t = table[(*place)++];
    if (t) {
        weft__timers_unset(&t->timer);
        leave(t);
    }
    pthread_mutex_unlock(&lock);
    return t;
}

void weft__later_end_all(struct weft__lane *l)
{
    uint32_t place = 0; /* nothing new is set any more */

    for (struct later *t; (t = next_left(&place));)
        end(l, t);
    pthread_mutex_lock(&lock);
    weft__memory_put(table);
    weft__memory_put(free_places);
    table = NULL;
    free_places = NULL;
    room = free_count = 0;
    pthread_mutex_unlock(&lock);
}

/* ---- what the user calls ---------------------------------------------------------------------------------- */

static bool may_be_sent(weft_type *type, const void *body, int64_t period)
{
    if (!type || !type->name || (!body && type->bytes) || period < 0)
        return false;
    if (!period)
        return true;
    unsigned id = weft__types_id(type); /* what a body owns, one message can have */
    return id && !weft__types_owns(id);
}

/* A thread that is no worker: while a system runs, which hears of it. */
static weft_ref schedule_from_outside(int64_t delay, int64_t period, weft_pid to, struct weft_msg *m)
{
    if (weft__system_hold())
        return (weft_ref){0};
    weft_ref ref = schedule(delay, period, to, m);
    weft__system_release();
    return ref;
}

static weft_ref set(int64_t delay, int64_t period, weft_pid to, weft_type *type, const void *body)
{
    struct weft__lane *l = weft__lane_need();
    weft_ref           ref = {0};

    if (l)
        weft__send_check(l);
    if (!l || !may_be_sent(type, body, period)) {
        if (type)
            weft__message_unsent(type, body);
        return ref;
    }
    struct weft_msg *m = weft__message_of(l, type, body);
    if (!m)
        return ref;
    m->from = l->self ? weft__actor_pid(l->self) : 0;
    ref = l->worker ? schedule(delay, period, to, m) : schedule_from_outside(delay, period, to, m);
    if (!ref.id)
        weft__message_drop(l, m, WEFT_EMEMORY);
    return ref;
}

weft_ref weft_send_after_body(weft_span delay, weft_pid to, weft_type *type, const void *body)
{
    return set(delay.ns, 0, to, type, body);
}

weft_ref weft_send_every_body(weft_span period, weft_pid to, weft_type *type, const void *body)
{
    int64_t ns = period.ns > 0 && period.ns < PERIOD_MIN_NS ? PERIOD_MIN_NS : period.ns;

    return set(ns, ns > 0 ? ns : -1, to, type, body);
}
