/* timers.c - see timers.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "sched/timers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "sched/clock.h"

void (*weft__timers_fired)(void);

static pthread_mutex_t      lock = PTHREAD_MUTEX_INITIALIZER;
static struct weft__timer **heap; /* under lock, 1-based; each is not later than its four children */
static uint32_t             used, room;
static uint32_t             kept; /* under lock: places of timers that have one for good, and are not set */
static uint64_t             sets;
/* relaxed: a hint of when to look; whoever acts on it takes the lock. */
static atomic_int_fast64_t earliest = WEFT__NEVER;

static bool before(const struct weft__timer *a, const struct weft__timer *b)
{
    return a->when != b->when ? a->when < b->when : a->seq < b->seq;
}

static void put(struct weft__timer *t, uint32_t place)
{
    heap[place] = t;
    t->place = place;
}

static uint32_t parent(uint32_t place) { return (place + 2) / 4; }

static void rise(struct weft__timer *t, uint32_t place)
{
    while (place > 1 && before(t, heap[parent(place)])) {
        put(heap[parent(place)], place);
        place = parent(place);
    }
    put(t, place);
}

static void sink(struct weft__timer *t, uint32_t place)
{
    for (;;) {
        uint32_t first = 4 * place - 2, best = 0;
        for (uint32_t c = first; c < first + 4 && c <= used; c++)
            if (before(heap[c], best ? heap[best] : t))
                best = c;
        if (!best)
            break;
        put(heap[best], place);
        place = best;
    }
    put(t, place);
}

static void tell_earliest(void)
{
    atomic_store_explicit(&earliest, used ? heap[1]->when : WEFT__NEVER, memory_order_relaxed);
}

static void take_out(struct weft__timer *t)
{
    struct weft__timer *last = heap[used--];
    uint32_t            place = t->place;

    t->place = 0;
    kept += t->has_place;
    if (last == t)
        return;
    rise(last, place);
    sink(last, last->place);
}

/* For one more, and all that is kept. */
static bool grow(void)
{
    uint32_t more = room ? room : 64;

    if (used + kept + 1 < room)
        return true;
    while (more <= used + kept + 1)
        more *= 2;
    struct weft__timer **larger = weft__memory_get(more * sizeof *larger);
    if (!larger)
        return false;
    if (heap) {
        memcpy(larger, heap, room * sizeof *heap);
        weft__memory_put(heap);
    }
    heap = larger;
    room = more;
    return true;
}

static int set(struct weft__timer *t, int64_t when)
{
    if (t->place)
        take_out(t);
    kept -= t->has_place;
    if (!grow()) { /* it was not set, and has no place */
        kept += t->has_place;
        return -1;
    }
    t->when = when;
    t->seq = sets++;
    used++;
    rise(t, used);
    return 0;
}

int weft__timers_set(struct weft__timer *t, int64_t when)
{
    pthread_mutex_lock(&lock);
    int result = set(t, when);
    tell_earliest();
    pthread_mutex_unlock(&lock);
    return result;
}

bool weft__timers_unset(struct weft__timer *t)
{
    pthread_mutex_lock(&lock);
    bool was_set = t->place;
    if (was_set)
        take_out(t);
    tell_earliest();
    pthread_mutex_unlock(&lock);
    return was_set;
}

int weft__timers_reserve(struct weft__timer *t)
{
    pthread_mutex_lock(&lock);
    bool has_room = grow();
    t->has_place = has_room;
    kept += has_room;
    pthread_mutex_unlock(&lock);
    return has_room ? 0 : -1;
}

void weft__timers_drop(struct weft__timer *t)
{
    pthread_mutex_lock(&lock);
    if (t->place)
        take_out(t);
    kept -= t->has_place;
    t->has_place = false;
    tell_earliest();
    pthread_mutex_unlock(&lock);
}

int64_t weft__timers_earliest(void) { return atomic_load_explicit(&earliest, memory_order_relaxed); }

bool weft__timers_any(bool (*counts)(const struct weft__timer *t))
{
    bool any = false;

    pthread_mutex_lock(&lock);
    for (uint32_t i = 1; !any && i <= used; i++)
        any = counts(heap[i]);
    pthread_mutex_unlock(&lock);
    return any;
}

void weft__timers_poll(int64_t now)
{
    pthread_mutex_lock(&lock);
    bool due = used && heap[1]->when <= now;
    while (used && heap[1]->when <= now) {
        struct weft__timer *t = heap[1];
        take_out(t);
        int64_t again = t->fire(t, now);
        if (again != WEFT__NEVER)
            set(t, again); /* there is room: it was just taken out */
    }
    tell_earliest();
    pthread_mutex_unlock(&lock);
    if (due && weft__timers_fired)
        weft__timers_fired();
}

void weft__timers_end(void)
{
    pthread_mutex_lock(&lock);
    while (used) /* whose owners may be left behind, and come back */
        take_out(heap[used]);
    weft__memory_put(heap);
    heap = NULL;
    room = 0;
    tell_earliest();
    pthread_mutex_unlock(&lock);
}
