/* tokens.h - tokens that go round: sent off evenly spaced, counted, checked. For ring and queuering.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A token has `left` hops to go. Who gets it makes one of them and passes it on; the last hop ends it, and ENDED
 * tells the first actor. Afterwards a token with none left goes round once: who gets it tells the hops it made,
 * passes it on and ends.
 */
#ifndef BENCH_TOKENS_H
#define BENCH_TOKENS_H

#include "bench/bench.h"

struct token {
    uint64_t left, number;
};
WEFT_MESSAGE(TOKEN, struct token);
WEFT_MESSAGE(ENDED, uint64_t); /* the token's number */
WEFT_MESSAGE(HOPS, uint64_t);  /* made by the sender */

/* One stop of the ring: where its tokens go next, and the hops it made. */
struct stop {
    weft_pid next;
    tally    hops;
};

extern weft_pid tokens_boss; /* the first actor; set by tokens_expect */

/* What a stop does with a token; false: it has told its hops and shall end. */
static inline bool tokens_hop(struct stop *at, const struct token *t)
{
    if (t->left == 0) {
        weft_send(tokens_boss, HOPS, atomic_load_explicit(&at->hops, memory_order_relaxed));
        weft_send(at->next, TOKEN, .left = 0);
        return false;
    }
    tally_up(&at->hops);
    if (t->left == 1)
        weft_send(tokens_boss, ENDED, t->number);
    else
        weft_send(at->next, TOKEN, .left = t->left - 1, .number = t->number);
    return true;
}

/* The first actor's part, for N places, K tokens and M hops (the run's arguments), of which places[i] takes TOKENs.
 * Fails loudly if a token ends twice or a hop is missing. WAITS. Before the stops are spawned: tokens_expect. */
void tokens_expect(struct bench *b);
void tokens_run(struct bench *b, const weft_pid *places);

/* ring in mode thread; queuering is the same there. */
void ring_as_threads(struct bench *b);

/* The hops of the k-th token, and at which of the N places it starts. */
uint64_t tokens_left(const struct bench *b, uint64_t k);
uint64_t tokens_place(const struct bench *b, uint64_t k);

#endif
