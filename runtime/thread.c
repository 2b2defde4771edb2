/* thread.c - a thread of the program's own that became an actor: it waits on a futex, on its own stack.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * The mailbox is the same. It publishes PARKED itself, since nobody else will run on its stack; whoever moves PARKED
 * away sets bit 0 of `woken`, and only then does the thread touch what it shares with that sender.
 */
#include <errno.h>
#include <time.h>

#include "base/futex.h"
#include "runtime/actor.h"
#include "sched/clock.h"

enum { MESSAGE = 1, ENDED = 2 };

struct weft__lane *weft__thread_actor(void)
{
    struct weft__lane *l = weft__lane_need();

    if (!l || l->worker) /* a worker between two actors, where something is destroyed */
        return NULL;
    weft__lane_lock(); /* a system that is taken down looks at all actors */
    struct weft__actor *a = weft__actor_new(l, NULL, NULL, WEFT__THREAD);
    weft__lane_unlock();
    if (!a)
        return NULL;
    if (!weft__actor_extra(a)) {
        weft__thread_end(l, a);
        return NULL;
    }
    weft__lane_lock(); /* weft__thread_release_all looks at it */
    l->self = a;
    weft__lane_unlock();
    weft__crew_ask(); /* rest.c I3 */
    return l;
}

void weft__thread_end(struct weft__lane *l, struct weft__actor *a)
{
    weft__lane_lock();
    a->phase = WEFT__FREE;
    weft__lane_unlock();
    a->reason = a->extra ? a->extra->reason : 0;
    weft__actor_end(l, a);
    weft__crew_ask(); /* rest.c I3 */
}

void weft__thread_sleep(weft_span time)
{
    int64_t         until = weft__clock_real_after(time.ns);
    struct timespec at = {until / 1000000000, until % 1000000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

void weft__thread_wake(struct weft__actor *a)
{
    _Atomic uint32_t *woken = &a->extra->woken;

    /* release: the thread sees the message that lies in `in`. After this the block may be gone: the wake-up then
     * wakes nobody, or somebody who looks and sleeps again. */
    atomic_fetch_or_explicit(woken, MESSAGE, memory_order_release);
    weft__futex_wake(woken);
}

void weft__thread_release_all(void)
{
    weft__lane_lock();
    for (struct weft__lane *l = NULL; (l = weft__lane_each(l));)
        if (l->self && !l->worker) {
            /* relaxed: it carries no data, and the futex compares the word itself. */
            atomic_fetch_add_explicit(&l->self->extra->woken, ENDED, memory_order_relaxed);
            weft__futex_wake(&l->self->extra->woken);
        }
    weft__lane_unlock();
}

/* A response comes in any case, also from another thread after the end of a system; a message may not. One that sleeps
 * waits for none. */
static bool minds_the_end(const struct weft__actor *a)
{
    return a->type && (a->type_count != 1 || a->type != &weft__request_type);
}

/* Parked, until woken, or the time is over, or the system has ended. True: woken. */
static bool sleep_parked(struct weft__actor *a, int64_t until, uint32_t ended)
{
    for (;;) {
        /* acquire: pairs with weft__thread_wake. */
        uint32_t now = atomic_load_explicit(&a->extra->woken, memory_order_acquire);
        if (now & MESSAGE)
            return true;
        if ((now != ended && minds_the_end(a)) ||
            (until != WEFT__NEVER && weft__clock_real_after(0) >= until)) {
            if (weft__inbox_unpark(&a->box, a->parked))
                return false;
            until = WEFT__NEVER; /* a sender was first, and is about to wake us */
            ended = now;
        }
        weft__futex_wait(&a->extra->woken, now, until);
    }
}

struct weft_msg *weft__thread_park(struct weft__lane *l, struct weft__actor *a, weft_span time)
{
    int64_t until = weft__clock_real_after(time.ns);
    bool    awake = true;

    a->since = weft__clock_real_after(
        0); /* for look.c, as the deadline; relaxed: it reads it when we are parked */
    atomic_store_explicit(&a->extra->deadline, until, memory_order_relaxed);

    for (;;) {
        a->current = weft__wait_again(l, a);
        if (a->current || !awake)
            return a->current;
        /* relaxed: only this thread clears it, and nobody sets it while the mailbox is not parked. */
        uint32_t ended = atomic_fetch_and_explicit(&a->extra->woken, ~(uint32_t)MESSAGE,
                                                   memory_order_relaxed);
        if (ended >= ENDED && minds_the_end(a) && !weft__system_runs())
            return NULL; /* one has ended since this thread became an actor, and there is no other */
        atomic_store_explicit(&a->extra->heard, ended & ~(uint32_t)MESSAGE, memory_order_relaxed);
        a->parked += WEFT__INBOX_NEXT_WAIT;       /* each park has its own word: rest.c knows it by that */
        if (weft__inbox_park(&a->box, a->parked)) /* release = R: with all that rest.c reads of it */
            awake = sleep_parked(a, until, ended & ~(uint32_t)MESSAGE);
    }
}
