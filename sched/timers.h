/* timers.h - private to weft. What is to happen at a time.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the order of deadlines: a 4-ary heap behind one lock.
 * Knows not: what a deadline is for; it calls fire().
 */
#ifndef WEFT__TIMERS_H
#define WEFT__TIMERS_H

#include <stdbool.h>
#include <stdint.h>

/* Embedded in what waits. Zero is not set. Fields are under the lock of the heap. */
struct weft__timer {
    int64_t  when;
    uint64_t seq;       /* among equal times: the first set fires first, so that runs can be replayed */
    uint32_t place;     /* in the heap, from 1; 0: not set */
    bool     has_place; /* to set it takes no memory */
    /* Called under the lock by whoever polls. Returns the time to be called again at, or WEFT__NEVER. */
    int64_t (*fire)(struct weft__timer *t, int64_t now);
};

/* Called without the lock, by whoever polled and found something due: for what fire() had to leave undone. Set before the
 * first start; or NULL. */
extern void (*weft__timers_fired)(void);

/* Sets it, or moves it. -1: no memory for one more; then it is as it was. */
int weft__timers_set(struct weft__timer *t, int64_t when);
/* True: it was set, and will not be called. */
bool weft__timers_unset(struct weft__timer *t);
/* From now on setting it takes no memory, until it is dropped. -1: no memory for that. */
int weft__timers_reserve(struct weft__timer *t);
/* It is neither set nor has a place any more. */
void weft__timers_drop(struct weft__timer *t);

/* The earliest deadline, or WEFT__NEVER. Any thread; a later one may be set right after. */
int64_t weft__timers_earliest(void);
/* Whether one is set that counts, which is asked under the lock. */
bool weft__timers_any(bool (*counts)(const struct weft__timer *t));
/* Fires what is due. */
void weft__timers_poll(int64_t now);
/* Gives the heap's memory back; nothing is set any more. */
void weft__timers_end(void);

#endif
