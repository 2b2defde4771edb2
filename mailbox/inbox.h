/* inbox.h - private to weft. Many senders, one reader, no locks: the word where send and sleep meet.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the order of messages, and the one truth on "is the reader parked" and "is it closed".
 * Knows not: actors, fibers, workers. A push that must wake somebody only says so; the caller does the waking.
 *
 * `word` is the only thing that threads share. Its states, and who moves it:
 *
 *      EMPTY 0 --push--> newest message --push--> newer message     any thread
 *      EMPTY   --park--> PARKED(generation, wait)                   the reader, once off its stack (a thread: on it)
 *      PARKED  --push, or the wait's timer--> EMPTY                 who moves it owns the reader until it is queued
 *      PARKED  --look--> EMPTY --> the same PARKED                  who looks owns it so long (look.c), or queues it
 *      list    --take--> EMPTY                                      the reader
 *      any     --close-> CLOSED                                     the reader; final for this generation
 *
 *   I1  PARKED is published only when `in` is empty, the reader's registers are saved and nobody is on its stack.
 *   I2  Whoever moves PARKED to EMPTY owns the reader, and alone may write `in`, until it has queued or parked it.
 *   I3  Else only the reader touches `in`.
 *   I4  Each PARKED is left exactly once: by one push (which puts its message straight into `in`), timer, or look.
 *   I5  A message reachable from `word` is fully written (pair A).
 *   I6  What the reader wrote before it parked is seen by the one who wakes it (pair B).
 *   I7  A push compares `word` but never follows it, and take empties it whole: a recycled address is harmless.
 *   I8  A message in `in` was meant for the present generation: PARKED tells it at push, take drops the others.
 */
#ifndef WEFT__INBOX_H
#define WEFT__INBOX_H

#include <stdatomic.h>
#include <stdbool.h>

#include "mailbox/message.h"

#define WEFT__INBOX_EMPTY ((uint64_t)0)
#define WEFT__INBOX_CLOSED ((uint64_t)2) /* messages are aligned: no address looks like this, or is odd */

/* In a message's `to`, while it is on its way: it is sorted out when it is taken. No pid has this bit. */
#define WEFT__INBOX_URGENT ((uint64_t)1 << 63)

struct weft__inbox {
    _Atomic uint64_t word; /* any thread */
};

enum weft__push { WEFT__QUEUED, WEFT__MUST_WAKE, WEFT__REFUSED };

/* PARKED: the generation in 28 bits above bit 0, the number of the wait above that. A wait of the same actor that
 * lies 2^35 waits back has the same word; then a timer may wake it too early, which it notices. */
static inline uint64_t weft__inbox_parked(uint32_t generation) { return (uint64_t)generation << 1 | 1; }
#define WEFT__INBOX_NEXT_WAIT ((uint64_t)1 << (WEFT__GENERATION_BITS + 1))

static inline bool weft__inbox_is_parked(uint64_t word, uint32_t generation)
{
    return (word ^ weft__inbox_parked(generation)) << (63 - WEFT__GENERATION_BITS) == 0;
}

/* Any thread. MUST_WAKE: the reader was parked, m is in *in, and the caller now owns the reader and must queue it.
 * REFUSED: closed, or parked by another generation; m is still the caller's. */
static inline enum weft__push weft__inbox_push(struct weft__inbox *box, struct weft_msg **in,
                                               struct weft_msg *m, uint32_t generation)
{
    /* relaxed: the word is compared, never followed, until an exchange holds. */
    uint64_t word = atomic_load_explicit(&box->word, memory_order_relaxed);

    for (;;) {
        if (WEFT__LIKELY(word & 1)) {
            if (!weft__inbox_is_parked(word, generation))
                return WEFT__REFUSED;
            /* acquire = B: sees all that the reader left when it parked. */
            if (WEFT__LIKELY(atomic_compare_exchange_strong_explicit(
                    &box->word, &word, WEFT__INBOX_EMPTY, memory_order_acquire, memory_order_relaxed))) {
                m->next = NULL;
                *in = m;
                return WEFT__MUST_WAKE;
            }
        } else if (word == WEFT__INBOX_CLOSED) {
            return WEFT__REFUSED;
        } else {
            m->next = (struct weft_msg *)word;
            /* release = A: publishes *m. */
            if (atomic_compare_exchange_weak_explicit(&box->word, &word, (uint64_t)m, memory_order_release,
                                                      memory_order_relaxed))
                return WEFT__QUEUED;
        }
    }
}

/* Reader only: all that was pushed, oldest first, or NULL. What is urgent, or not meant for `to` but for the slot's
 * last owner, is added to *others. */
static inline struct weft_msg *weft__inbox_take(struct weft__inbox *box, uint64_t to,
                                                struct weft_msg **others)
{
    /* relaxed: 0 needs nothing, anything else is taken by the exchange. */
    if (atomic_load_explicit(&box->word, memory_order_relaxed) == WEFT__INBOX_EMPTY)
        return NULL;
    /* acquire = A: sees every message of the list; a push continues the release sequence of the one before. */
    uint64_t         word = atomic_exchange_explicit(&box->word, WEFT__INBOX_EMPTY, memory_order_acquire);
    struct weft_msg *newest = (struct weft_msg *)word, *oldest = NULL;

    while (newest) {
        struct weft_msg *before = newest->next, **list = WEFT__LIKELY(newest->to == to) ? &oldest : others;
        newest->next = *list;
        *list = newest;
        newest = before;
    }
    return oldest;
}

/* The reader's owner only, off its stack (I1). False: a message came first, and the reader is still the caller's. */
static inline bool weft__inbox_park(struct weft__inbox *box, uint64_t parked)
{
    uint64_t empty = WEFT__INBOX_EMPTY;

    /* release = B. */
    return atomic_compare_exchange_strong_explicit(&box->word, &empty, parked, memory_order_release,
                                                   memory_order_relaxed);
}

/* A timer, or who looks, with the word of the wait. True: the reader is the caller's, and must be queued, or parked. */
static inline bool weft__inbox_unpark(struct weft__inbox *box, uint64_t parked)
{
    /* acquire = B. */
    return atomic_compare_exchange_strong_explicit(&box->word, &parked, WEFT__INBOX_EMPTY,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Reader only, while it is not parked: closes, and returns what was pushed, newest first. */
static inline struct weft_msg *weft__inbox_close(struct weft__inbox *box)
{
    /* acquire = A. release: what the reader did is seen by whoever opens the slot again. seq_cst: what the reader looks
     * at afterwards, others wrote before they looked at the word, or see it closed (names.c). */
    return (struct weft_msg *)atomic_exchange_explicit(&box->word, WEFT__INBOX_CLOSED, memory_order_seq_cst);
}

/* The new owner of a closed slot, before its pid is known to anybody but late senders to the last owner. */
static inline void weft__inbox_open(struct weft__inbox *box)
{
    /* release: a late sender that pushes here meets a whole control block. */
    atomic_store_explicit(&box->word, WEFT__INBOX_EMPTY, memory_order_release);
}

#endif
