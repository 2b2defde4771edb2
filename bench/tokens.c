/* tokens.c - see tokens.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "bench/tokens.h"

#include <stdlib.h>

weft_pid tokens_boss;

void tokens_expect(struct bench *b)
{
    if (b->arg[2] < b->arg[1])
        bench_fail("M must be at least K: each token makes a hop");
    tokens_boss = weft_self();
}

uint64_t tokens_left(const struct bench *b, uint64_t k)
{
    uint64_t tokens = b->arg[1], hops = b->arg[2];

    return hops / tokens + (k < hops % tokens);
}

uint64_t tokens_place(const struct bench *b, uint64_t k)
{
    return (uint64_t)((unsigned __int128)k * b->arg[0] / b->arg[1]);
}

static void await_ends(uint64_t tokens)
{
    bool *ended = bench_alloc(tokens, sizeof *ended);

    for (uint64_t i = 0; i < tokens; i++) {
        uint64_t k = *weft_get(weft_receive(ENDED), ENDED);
        if (k >= tokens || ended[k])
            bench_fail("token %llu ended twice, or never was", (unsigned long long)k);
        ended[k] = true;
    }
    free(ended);
}

static void check_hops(const struct bench *b, weft_pid place)
{
    uint64_t sum = 0;

    weft_send(place, TOKEN, .left = 0);
    for (uint64_t i = 0; i < b->arg[0]; i++)
        sum += *weft_get(weft_receive(HOPS), HOPS);
    if (sum != b->arg[2])
        bench_fail("%llu hops were made, not %llu", (unsigned long long)sum, (unsigned long long)b->arg[2]);
    if (weft_receive_within(weft_ms(0), ENDED))
        bench_fail("more tokens ended than had begun");
}

void tokens_run(struct bench *b, const weft_pid *places)
{
    uint64_t tokens = b->arg[1];

    bench_start(b);
    for (uint64_t k = 0; k < tokens; k++)
        weft_send(places[tokens_place(b, k)], TOKEN, .left = tokens_left(b, k), .number = k);
    await_ends(tokens);
    bench_stop(b, b->arg[2]);
    check_hops(b, places[0]);
}
