/* worker.h - private to weft. One worker's own queues, and how another thread takes them from one that is stuck.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the tasks that are ready on one worker, and its turn.
 * Knows not: other workers, sleeping (crew.h), what a task is.
 *
 *      slot       the task that the running one made ready first: it is warm, and runs next
 *      ready      tasks that were made ready, in that order
 *      spawned    new tasks, the newest first: a tree of them is walked depth first, in little memory
 *
 * A turn has a budget of messages (WEFT__TURN_MESSAGES) that is handed on from slot to slot, so that two tasks that
 * wake each other for ever cannot starve the rest: when it is used up the slot's task goes behind the ready ones.
 *
 * The owner works on its queues with plain loads and stores. A worker that hears that another is idle offers what it
 * can spare (crew.c), so nobody needs to reach into its queues, but for one case: it is stuck in a long task. Then a
 * thief claims them. The pair below is a lock that costs its owner nothing but a store on either side:
 *
 *      owner   inside = 1;     then reads `claimed`     (compiler barrier only)
 *      thief   claimed = 1;    membarrier;              then reads `inside`
 *
 *   I1  The membarrier runs a full fence in every thread of the process. So the owner's store is before it, and the
 *       thief sees it; or the owner's load is after it, and sees the claim. Never neither.
 *   I2  Queues are touched by the owner while `inside`, or by the thief while `claimed` and not `inside`.
 *   I3  One thief at a time: it holds `claim`. An owner that meets a claim steps out and waits for that lock.
 */
#ifndef WEFT__WORKER_H
#define WEFT__WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "sched/task.h"

struct weft__worker {
    /* The owner writes; a thief may look without a claim, so they are atomic, relaxed: hints. */
    _Alignas(WEFT__LINE_BYTES) _Atomic(struct weft__task *) slot;
    _Atomic unsigned ready_count, spawned_count;
    _Atomic unsigned turns; /* one that stands still, with something queued, is stuck */
    atomic_bool      inside, claimed;
    /* The owner, or a thief that has claimed. */
    struct weft__queue ready;
    struct weft__task *spawned;
    /* The owner only. */
    int      budget; /* messages left in this turn */
    int64_t  tick;   /* when this turn began: the time, read seldom enough to cost nothing */
    uint64_t random; /* not 0: every turn is over at once, and the next is drawn from it */

    pthread_mutex_t claim;
    /* crew.c */
    _Atomic uint32_t     bell;
    bool                 asleep;       /* under the crew's lock, as `next` */
    bool                 is_abandoned; /* it never came back, and only a thief may touch it */
    struct weft__worker *next;
    unsigned             seen_turns; /* by the one who watches, and since when */
    int64_t              seen_at;
};

void weft__worker_step_out(
    struct weft__worker *w); /* a thief is here: waits until it has gone; then inside */

static inline void weft__worker_enter(struct weft__worker *w)
{
    atomic_store_explicit(&w->inside, true, memory_order_relaxed); /* I1 orders it, not the processor */
    atomic_signal_fence(memory_order_seq_cst);                     /* the compiler keeps the order */
    /* acquire: if a thief was here, its changes are seen. */
    if (WEFT__RARE(atomic_load_explicit(&w->claimed, memory_order_acquire)))
        weft__worker_step_out(w);
}

static inline void weft__worker_leave(struct weft__worker *w)
{
    atomic_store_explicit(&w->inside, false, memory_order_release); /* the thief sees what was done inside */
}

/* A counter that one thread writes at a time and others may look at. */
static inline void weft__worker_add(_Atomic unsigned *count, unsigned n)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n, memory_order_relaxed);
}

/* ---- the owner ------------------------------------------------------------------------ */

/* Into the slot, if it is free and no thief is here. False: nothing was done. */
static inline bool weft__worker_push_fast(struct weft__worker *w, struct weft__task *t)
{
    bool done = false;

    atomic_store_explicit(&w->inside, true,
                          memory_order_relaxed); /* as weft__worker_enter, without its call */
    atomic_signal_fence(memory_order_seq_cst);
    if (WEFT__LIKELY(!atomic_load_explicit(&w->claimed, memory_order_acquire)) &&
        WEFT__LIKELY(!atomic_load_explicit(&w->slot, memory_order_relaxed))) {
        atomic_store_explicit(&w->slot, t, memory_order_relaxed);
        done = true;
    }
    weft__worker_leave(w);
    return done;
}

/* Into the slot: true. It was taken, and the task is the last of the ready ones: false. */
static inline bool weft__worker_push(struct weft__worker *w, struct weft__task *t)
{
    bool to_slot;

    weft__worker_enter(w);
    to_slot = !atomic_load_explicit(&w->slot, memory_order_relaxed);
    if (WEFT__LIKELY(to_slot)) {
        atomic_store_explicit(&w->slot, t, memory_order_relaxed);
    } else {
        weft__queue_push(&w->ready, t);
        weft__worker_add(&w->ready_count, 1);
    }
    weft__worker_leave(w);
    return to_slot;
}

static inline void weft__worker_push_spawned(struct weft__worker *w, struct weft__task *t)
{
    weft__worker_enter(w);
    t->next = w->spawned;
    w->spawned = t;
    weft__worker_add(&w->spawned_count, 1);
    weft__worker_leave(w);
}

/* The task in the slot, if the turn is not over and no thief is here. */
static inline struct weft__task *weft__worker_slot_fast(struct weft__worker *w)
{
    struct weft__task *t = NULL;

    if (WEFT__RARE(w->budget <= 0))
        return NULL;
    atomic_store_explicit(&w->inside, true, memory_order_relaxed); /* as above */
    atomic_signal_fence(memory_order_seq_cst);
    if (WEFT__LIKELY(!atomic_load_explicit(&w->claimed, memory_order_acquire))) {
        t = atomic_load_explicit(&w->slot, memory_order_relaxed);
        atomic_store_explicit(&w->slot, NULL, memory_order_relaxed);
    }
    weft__worker_leave(w);
    return t;
}

/* The task in the slot, if the turn is not over. */
static inline struct weft__task *weft__worker_slot(struct weft__worker *w)
{
    struct weft__task *t;

    if (WEFT__RARE(w->budget <= 0))
        return NULL;
    weft__worker_enter(w);
    t = atomic_load_explicit(&w->slot, memory_order_relaxed);
    atomic_store_explicit(&w->slot, NULL, memory_order_relaxed);
    weft__worker_leave(w);
    return t;
}

/* The next task here, or NULL. */
struct weft__task *weft__worker_take(struct weft__worker *w);
/* A list of tasks goes behind the ready ones. */
void weft__worker_append(struct weft__worker *w, struct weft__queue *list, unsigned n);
/* Puts the running task behind all that is ready, and lets a new task in before it, or many if there are. */
void weft__worker_yielded(struct weft__worker *w, struct weft__task *t);
/* The turn is over: a new task, or many if there are, and the slot's go behind the ready ones; a new budget begins. */
void weft__worker_end_turn(struct weft__worker *w);
/* A new budget. In a replay there is none: each turn is over at once. */
static inline void weft__worker_renew(struct weft__worker *w)
{
    w->budget = w->random ? 0 : WEFT__TURN_MESSAGES;
}
/* Half of what is queued goes to *list, at most WEFT__OFFER_MAX; returns how many. The slot stays. */
unsigned weft__worker_split(struct weft__worker *w, struct weft__queue *list);

/* ---- anybody -------------------------------------------------------------------------- */

/* A hint. */
static inline bool weft__worker_is_empty(const struct weft__worker *w)
{
    return !atomic_load_explicit(&w->slot, memory_order_relaxed) &&
           !atomic_load_explicit(&w->ready_count, memory_order_relaxed) &&
           !atomic_load_explicit(&w->spawned_count, memory_order_relaxed);
}

/* Claims all that is queued on a worker, which may be running: its own end comes last. Returns how many; 0 where the
 * kernel has no membarrier. The caller is another thread. */
unsigned weft__worker_rob(struct weft__worker *w, struct weft__queue *list);
/* Before the first worker of the process starts: asks the kernel for membarrier. */
void weft__worker_prepare(void);
/* While nobody works with it; but who rang last may still be ringing, so the bell stays as it is. Its `claim` is made
 * by who makes the worker. */
void weft__worker_reset(struct weft__worker *w, uint64_t seed);

#endif
