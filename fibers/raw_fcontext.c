/* raw_fcontext.c - raw.h on Boost.Context's assembly, without its C++.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      nothing.
 * Knows not: registers: Boost does. On arm64 it does not keep the rounding mode.
 *
 * fcontext tells the side that arrives which context was left, and `struct hop` tells it where to note that.
 */
#include "fibers/raw.h"

#include <stddef.h>
#include <stdlib.h>

/* Boost's interface, as <boost/context/detail/fcontext.hpp> has it for C++. */
struct transfer {
    void *left;
    void *data;
};
extern struct transfer jump_fcontext(void *to, void *data);
extern void           *make_fcontext(void *top, size_t size, void (*entry)(struct transfer));

const char weft__raw_name[] = "fcontext";

/* What a context points to: it lies on the stack that was left, or at the top of a fresh one. */
struct place {
    void *fctx;
    void (*entry)(void); /* fresh only */
};

struct hop {
    struct place *left;
    struct place *to;
};

static struct place *land(struct transfer t)
{
    struct hop *hop = t.data;

    hop->left->fctx = t.left;
    return hop->to;
}

static void begin(struct transfer t)
{
    land(t)->entry();
    abort();
}

void *weft__raw_fresh(char *low, char *top, void (*entry)(void))
{
    struct place *p = (struct place *)(void *)(top - sizeof *p);

    p->entry = entry;
    p->fctx = make_fcontext(p, (size_t)((char *)p - low), begin);
    return p;
}

void weft__raw_jump(void **save, void *to)
{
    struct place here, *there = to;
    struct hop   hop = {&here, there};

    *save = &here;
    land(jump_fcontext(there->fctx, &hop));
}
