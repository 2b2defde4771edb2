/* worker.c - see worker.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "sched/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "sched/clock.h"
#include "sched/timers.h"

static pthread_mutex_t    lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t     bell;
static pthread_once_t     bell_made = PTHREAD_ONCE_INIT;
static struct weft__queue shared; /* under lock */
static bool               asleep; /* under lock: the worker waits for the bell */
/* relaxed: says that a look is worth the lock; the sleeper looks under the lock. */
static atomic_bool any_shared;
/* relaxed: read once a turn; the sleeper reads it under the lock that the stop holds. */
static atomic_bool stopping;

static void make_bell(void)
{
    pthread_condattr_t how;

    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&bell, &how);
    pthread_condattr_destroy(&how);
}

void weft__worker_share(struct weft__task *t)
{
    pthread_mutex_lock(&lock);
    weft__queue_push(&shared, t);
    atomic_store_explicit(&any_shared, true, memory_order_relaxed);
    if (asleep)
        pthread_cond_signal(&bell);
    pthread_mutex_unlock(&lock);
}

void weft__worker_stop(void)
{
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&stopping, true, memory_order_relaxed);
    if (asleep)
        pthread_cond_signal(&bell);
    pthread_mutex_unlock(&lock);
}

void weft__worker_reset(struct weft__worker *w, uint64_t seed)
{
    pthread_once(&bell_made, make_bell);
    pthread_mutex_lock(&lock);
    shared.first = NULL;
    atomic_store_explicit(&any_shared, false, memory_order_relaxed);
    atomic_store_explicit(&stopping, false, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    *w = (struct weft__worker){.random = seed};
}

/* xorshift: not good randomness, but the same on every machine. */
static uint64_t draw(struct weft__worker *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}

/* In a replayed run any ready task may come next. */
static void shuffle(struct weft__worker *w)
{
    for (uint64_t n = draw(w) % 8; n > 0 && w->ready.first; n--)
        weft__queue_push(&w->ready, weft__queue_pop(&w->ready));
}

static struct weft__task *from_spawned(struct weft__worker *w)
{
    struct weft__task *t = w->spawned;

    if (t)
        w->spawned = t->next;
    return t;
}

/* All that other threads queued becomes ready here. */
static void take_shared(struct weft__worker *w)
{
    if (!atomic_load_explicit(&any_shared, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    for (struct weft__task *t; (t = weft__queue_pop(&shared));)
        weft__queue_push(&w->ready, t);
    atomic_store_explicit(&any_shared, false, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

static void poll_timers(void)
{
    int64_t first = weft__timers_earliest();

    if (first == WEFT__NEVER)
        return;
    int64_t now = weft__clock_now();
    if (first <= now)
        weft__timers_poll(now);
}

/* Nothing is ready: waits for another thread, a timer, or the end. */
static void rest(struct weft__worker *w)
{
    int64_t until = weft__timers_earliest();

    pthread_mutex_lock(&lock);
    if (!shared.first && !atomic_load_explicit(&stopping, memory_order_relaxed)) {
        struct timespec at = {until / 1000000000, until % 1000000000};
        asleep = true;
        w->sleeps++;
        if (until == WEFT__NEVER)
            pthread_cond_wait(&bell, &lock);
        else if (weft__clock_is_virtual())
            weft__clock_jump(until);
        else
            pthread_cond_timedwait(&bell, &lock, &at);
        asleep = false;
    }
    pthread_mutex_unlock(&lock);
}

static bool idle(const struct weft__worker *w) { return !w->slot && !w->ready.first && !w->spawned; }

/* The turn is over: what others queued gets in, and the task in the slot goes behind the ready ones. */
static void end_turn(struct weft__worker *w)
{
    struct weft__task *t = w->slot;

    take_shared(w);
    poll_timers();
    w->slot = NULL;
    if (t)
        weft__worker_yielded(w, t);
    if (w->random)
        shuffle(w);
    else
        w->budget = WEFT__TURN_MESSAGES;
}

static struct weft__task *ready_here(struct weft__worker *w)
{
    struct weft__task *t = weft__worker_slot(w);

    if (t)
        return t;
    if (w->budget <= 0 || ++w->turns % WEFT__GLOBAL_EVERY == 0)
        end_turn(w);
    else
        w->budget = WEFT__TURN_MESSAGES;
    t = weft__queue_pop(&w->ready);
    return t ? t : from_spawned(w);
}

struct weft__task *weft__worker_next(struct weft__worker *w)
{
    while (!atomic_load_explicit(&stopping, memory_order_relaxed)) {
        struct weft__task *t = ready_here(w);
        if (t)
            return t;
        end_turn(w);
        if (idle(w))
            rest(w);
    }
    return NULL;
}

bool weft__worker_has_others(struct weft__worker *w)
{
    return !idle(w) || atomic_load_explicit(&any_shared, memory_order_relaxed) ||
           atomic_load_explicit(&stopping, memory_order_relaxed) || weft__timers_earliest() != WEFT__NEVER;
}

void weft__worker_yielded(struct weft__worker *w, struct weft__task *t)
{
    struct weft__task *fresh = from_spawned(w);

    if (w->slot) {
        weft__queue_push(&w->ready, w->slot);
        w->slot = NULL;
    }
    if (fresh)
        weft__queue_push(&w->ready, fresh);
    weft__queue_push(&w->ready, t);
}

struct weft__task *weft__worker_left(struct weft__worker *w)
{
    struct weft__task *t = w->slot;

    w->slot = NULL;
    take_shared(w);
    if (t || (t = weft__queue_pop(&w->ready)))
        return t;
    return from_spawned(w);
}
