/* worker.c - see worker.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "sched/worker.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool can_claim; /* written before the first worker starts */

static long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

void weft__worker_prepare(void) { can_claim = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0; }

void weft__worker_reset(struct weft__worker *w, uint64_t seed)
{
    atomic_store_explicit(&w->slot, NULL, memory_order_relaxed);
    atomic_store_explicit(&w->ready_count, 0, memory_order_relaxed);
    atomic_store_explicit(&w->spawned_count, 0, memory_order_relaxed);
    atomic_store_explicit(&w->turns, 0, memory_order_relaxed);
    w->ready.first = w->spawned = NULL;
    w->budget = 0;
    w->random = seed;
    w->asleep = w->is_abandoned = false;
    w->seen_turns = 0;
    w->seen_at = 0;
}

void weft__worker_step_out(struct weft__worker *w)
{
    do {
        weft__worker_leave(w);
        pthread_mutex_lock(&w->claim);
        pthread_mutex_unlock(&w->claim);
        atomic_store_explicit(&w->inside, true, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
    } while (atomic_load_explicit(&w->claimed, memory_order_acquire)); /* as in weft__worker_enter */
}

static struct weft__task *pop_ready(struct weft__worker *w)
{
    struct weft__task *t = weft__queue_pop(&w->ready);

    if (t)
        weft__worker_add(&w->ready_count, -1u);
    return t;
}

static struct weft__task *pop_spawned(struct weft__worker *w)
{
    struct weft__task *t = w->spawned;

    if (t) {
        w->spawned = t->next;
        weft__worker_add(&w->spawned_count, -1u);
    }
    return t;
}

static void push_ready(struct weft__worker *w, struct weft__task *t)
{
    weft__queue_push(&w->ready, t);
    weft__worker_add(&w->ready_count, 1);
}

static struct weft__task *empty_slot(struct weft__worker *w)
{
    struct weft__task *t = atomic_load_explicit(&w->slot, memory_order_relaxed);

    if (t)
        atomic_store_explicit(&w->slot, NULL, memory_order_relaxed);
    return t;
}

struct weft__task *weft__worker_take(struct weft__worker *w)
{
    struct weft__task *t = weft__worker_slot(w);

    if (t)
        return t;
    weft__worker_enter(w);
    t = pop_ready(w);
    if (!t)
        t = pop_spawned(w);
    weft__worker_leave(w);
    return t;
}

void weft__worker_append(struct weft__worker *w, struct weft__queue *list, unsigned n)
{
    weft__worker_enter(w);
    weft__queue_append(&w->ready, list);
    weft__worker_add(&w->ready_count, n);
    weft__worker_leave(w);
}

static struct weft__task *pop_oldest(struct weft__worker *w)
{
    struct weft__task **last = &w->spawned;

    if (!*last)
        return NULL;
    while ((*last)->next)
        last = &(*last)->next;
    struct weft__task *t = *last;
    *last = NULL;
    weft__worker_add(&w->spawned_count, -1u);
    return t;
}

/* The oldest, or if there are many, all: so that none waits for ever behind newer ones. */
static void let_spawned_in(struct weft__worker *w)
{
    bool many = atomic_load_explicit(&w->spawned_count, memory_order_relaxed) > WEFT__SPAWNED_MANY;

    for (struct weft__task *t = many ? pop_spawned(w) : pop_oldest(w); t; t = many ? pop_spawned(w) : NULL)
        push_ready(w, t);
}

void weft__worker_yielded(struct weft__worker *w, struct weft__task *t)
{
    weft__worker_enter(w);
    struct weft__task *slot = empty_slot(w);
    if (slot)
        push_ready(w, slot);
    let_spawned_in(w);
    push_ready(w, t);
    weft__worker_leave(w);
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
    if (!w->ready.first || w->ready.first == w->ready.last)
        return; /* no choice; how often an idle worker looks must not matter */
    for (uint64_t n = draw(w) % 8; n > 0 && w->ready.first; n--)
        weft__queue_push(&w->ready, weft__queue_pop(&w->ready));
}

void weft__worker_end_turn(struct weft__worker *w)
{
    weft__worker_enter(w);
    struct weft__task *t = empty_slot(w);
    let_spawned_in(w);
    if (t)
        push_ready(w, t);
    if (w->random)
        shuffle(w);
    weft__worker_renew(w);
    weft__worker_leave(w);
}

/* The first n of a list that has more. */
static void cut(struct weft__queue *from, struct weft__queue *list, unsigned n)
{
    struct weft__task *last = from->first;

    for (unsigned i = 1; i < n; i++)
        last = last->next;
    *list = (struct weft__queue){from->first, last};
    from->first = last->next;
    last->next = NULL;
}

static unsigned half(unsigned count) { return count / 2 < WEFT__OFFER_MAX ? count / 2 : WEFT__OFFER_MAX; }

/* Of few, the oldest: they have the most still to come. Of many, the newest: the way to the oldest is long. */
static unsigned split_spawned(struct weft__worker *w, struct weft__queue *list)
{
    unsigned           count = atomic_load_explicit(&w->spawned_count, memory_order_relaxed), n = half(count);
    struct weft__queue all = {w->spawned, NULL};

    if (n == 0)
        return 0;
    if (count > 2 * n) {
        cut(&all, list, n);
        w->spawned = all.first;
    } else {
        cut(&all, list, count - n);
        struct weft__task *kept = list->first;
        *list = (struct weft__queue){all.first, NULL};
        for (list->last = list->first; list->last->next;)
            list->last = list->last->next;
        w->spawned = kept;
    }
    weft__worker_add(&w->spawned_count, -n);
    return n;
}

unsigned weft__worker_split(struct weft__worker *w, struct weft__queue *list)
{
    weft__worker_enter(w);
    unsigned n = half(atomic_load_explicit(&w->ready_count, memory_order_relaxed));
    if (n > 0) {
        cut(&w->ready, list, n);
        weft__worker_add(&w->ready_count, -n);
    } else {
        n = split_spawned(w, list);
    }
    weft__worker_leave(w);
    return n;
}

static unsigned take_all(struct weft__worker *w, struct weft__queue *list)
{
    unsigned n = 0;

    *list = (struct weft__queue){NULL, NULL};
    for (struct weft__task *t; (t = empty_slot(w)) || (t = pop_ready(w)) || (t = pop_spawned(w)); n++)
        weft__queue_push(list, t);
    return n;
}

unsigned weft__worker_rob(struct weft__worker *w, struct weft__queue *list)
{
    unsigned n = 0;

    if (!can_claim)
        return 0;
    pthread_mutex_lock(&w->claim);
    atomic_store_explicit(&w->claimed, true, memory_order_relaxed); /* I1 orders it */
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) {
        /* acquire: what the owner did inside is seen. It is never inside for long. */
        while (atomic_load_explicit(&w->inside, memory_order_acquire))
            sched_yield();
        n = take_all(w, list);
    }
    /* release: the owner sees what is left. */
    atomic_store_explicit(&w->claimed, false, memory_order_release);
    pthread_mutex_unlock(&w->claim);
    return n;
}
