/* crew.h - private to weft. All workers together: who has work to spare, who sleeps, who watches, when to stop.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the shared queue, which a lock guards, and the sleep of workers.
 * Knows not: what a task is: neither messages nor stacks.
 *
 * A task that is made ready stays on the worker that made it so. A worker that runs dry says so in `wanted`; the
 * others read that word where they queue, and where a task of theirs ends, and whoever has some to spare puts half of
 * them into the shared queue. Nothing is ever stolen from a worker that moves.
 *
 *   I1  A worker goes to sleep under the lock, having seen there that the shared queue is empty; whoever puts
 *       something in holds the lock too, and wakes a sleeper unless one worker is searching, which looks again
 *       under the lock before it sleeps. So no wake-up is lost.
 *   I2  While a worker runs and another sleeps, one of the sleepers only naps (the keeper): it fires timers that are
 *       due, and takes the queues of a worker that has stood still since the last nap (worker.h).
 *   I3  When all sleep, so does the keeper, until the first timer. Then UNWATCHED is up, and the first worker that
 *       queues something wakes it to watch.
 *   I4  If it is to be noticed that a system rests for good, the keeper asks when all sleep, with the lock open. Whoever
 *       is told what was found looks under the lock whether anybody was roused since (weft__crew_at_rest). So it was
 *       found while no worker ran. The last to fall asleep wakes the keeper for that.
 */
#ifndef WEFT__CREW_H
#define WEFT__CREW_H

#include "sched/worker.h"

enum {
    WEFT__HUNGRY = 1,   /* a worker is idle, and the shared queue is empty */
    WEFT__UNWATCHED = 2 /* all others sleep soundly */
};
/* relaxed: a hint where it is read; written under the lock. */
extern WEFT__HIDDEN _Atomic unsigned weft__crew_wanted;

void weft__crew_queued(struct weft__worker *w); /* something was queued while somebody wanted to know */

/* ---- the worker's own thread ------------------------------------------------------------ */

static inline unsigned weft__crew_wants(void)
{
    return atomic_load_explicit(&weft__crew_wanted, memory_order_relaxed);
}

/* The running task made another ready. */
static inline void weft__crew_ready(struct weft__worker *w, struct weft__task *t)
{
    if (WEFT__LIKELY(weft__worker_push(w, t)) ? WEFT__RARE(weft__crew_wants() & WEFT__UNWATCHED)
                                              : weft__crew_wants())
        weft__crew_queued(w);
}

/* The same, if nothing but the slot is needed. False: nothing was done. */
static inline bool weft__crew_ready_fast(struct weft__worker *w, struct weft__task *t)
{
    return WEFT__LIKELY(!(weft__crew_wants() & WEFT__UNWATCHED)) && weft__worker_push_fast(w, t);
}

/* The running task made a new one. */
static inline void weft__crew_spawned(struct weft__worker *w, struct weft__task *t)
{
    weft__worker_push_spawned(w, t);
    if (WEFT__RARE(weft__crew_wants()))
        weft__crew_queued(w);
}

/* The next task; sleeps while there is none. NULL: the worker is to stop. */
struct weft__task *weft__crew_next(struct weft__worker *w);
/* Whether anything else than the running task could run here now. */
bool weft__crew_has_others(const struct weft__worker *w);
/* Nothing is queued here, or for whoever comes. */
bool weft__crew_is_dry(const struct weft__worker *w);

/* ---- any thread --------------------------------------------------------------------------- */

/* Makes a task ready from outside. */
void weft__crew_share(struct weft__task *t);
/* A thread that is no worker has set a timer: whoever sleeps until an earlier one is woken. */
void weft__crew_timed(void);
/* weft__crew_next returns NULL from now on, everywhere. */
void weft__crew_stop(void);

/* What the crew does when all of it has nothing to do: called with the time, in a worker's thread, before it sleeps;
 * returns when to be called again, or WEFT__NEVER. Not in virtual time. Set before the first start. */
extern int64_t (*weft__crew_when_idle)(int64_t now);

/* When all of it has nothing to do: whether nothing ever will be. PERHAPS: something is in the way that goes without a
 * sound, so that it is asked again. Any of the workers' threads, without the lock; NULL: nobody wants to know. */
enum weft__rest { WEFT__RESTS_NOT, WEFT__RESTS_PERHAPS, WEFT__RESTS };
extern enum weft__rest (*weft__crew_asks)(void);
extern void (*weft__crew_rests)(void); /* it was found so; as above */
/* Something that was in the way of rest, and not of a kind that is asked about again, is gone. Any thread. */
void weft__crew_ask(void);
/* Whether all have slept since the keeper asked, and it is so; that is asked under the lock. */
bool weft__crew_at_rest(bool (*so)(void));

/* ---- while no worker runs ----------------------------------------------------------------- */

/* There will be n workers; a seed makes it one that replays. */
void                 weft__crew_reset(unsigned n, uint64_t seed);
struct weft__worker *weft__crew_worker(unsigned i);
/* That worker did not come back. What is queued there is shared, as far as that can be. */
void weft__crew_abandon(unsigned i);
/* Takes whatever is queued anywhere, one at a time; NULL: nothing. */
struct weft__task *weft__crew_left(void);

#endif
