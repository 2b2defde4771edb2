/* worker.h - private to weft. What a worker does next.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the queues of ready tasks, and when the worker sleeps.
 * Knows not: what a task is: neither messages nor stacks.
 *
 * There is one worker. Its own queues are touched by its thread only; other threads use the shared queue, which a
 * lock guards. In this order it looks for work:
 *
 *      slot       the task that the running one made ready first: it is warm, and runs next
 *      ready      tasks that were made ready, in that order
 *      spawned    new tasks, the newest first: a tree of them is walked depth first, in little memory
 *      shared     tasks made ready by other threads; now and then it comes first
 *
 * A turn has a budget of messages (WEFT__TURN_MESSAGES) that is handed on from slot to slot, so that two tasks that
 * wake each other for ever cannot starve the rest: when it is used up the slot's task goes behind the ready ones.
 */
#ifndef WEFT__WORKER_H
#define WEFT__WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "sched/task.h"

struct weft__worker {
    struct weft__task *slot;
    struct weft__queue ready;
    struct weft__task *spawned;
    int                budget; /* messages left in this turn */
    unsigned           turns;
    uint64_t           random; /* not 0: every turn is over at once, and the next is drawn from it */
    uint64_t           sleeps;
};

/* The worker's own thread only. */
static inline void weft__worker_ready(struct weft__worker *w, struct weft__task *t)
{
    if (WEFT__LIKELY(!w->slot))
        w->slot = t;
    else
        weft__queue_push(&w->ready, t);
}

static inline void weft__worker_spawned(struct weft__worker *w, struct weft__task *t)
{
    t->next = w->spawned;
    w->spawned = t;
}

/* The task in the slot, if the turn is not over; else NULL, and weft__worker_next knows more. */
static inline struct weft__task *weft__worker_slot(struct weft__worker *w)
{
    if (WEFT__RARE(w->budget <= 0))
        return NULL;
    struct weft__task *t = w->slot;
    w->slot = NULL;
    return t;
}

/* Whether anything else than the running task could run here now. */
bool weft__worker_has_others(struct weft__worker *w);
/* Puts the running task behind all that is ready, and lets one new task in before it. */
void weft__worker_yielded(struct weft__worker *w, struct weft__task *t);
/* The next task; sleeps while there is none. NULL: the worker is to stop. */
struct weft__task *weft__worker_next(struct weft__worker *w);

/* Any thread: makes a task ready from outside the worker. */
void weft__worker_share(struct weft__task *t);
/* Any thread: weft__worker_next returns NULL from now on; until weft__worker_reset. */
void weft__worker_stop(void);
/* While no worker runs: takes whatever is queued anywhere, one at a time; NULL: nothing. */
struct weft__task *weft__worker_left(struct weft__worker *w);
/* While no worker runs: makes it ready to start. */
void weft__worker_reset(struct weft__worker *w, uint64_t seed);

#endif
