/* message.h - private to weft. One message, one cache line.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the layout of a message and where its body lies.
 * Knows not: types (only their number), actors (only their pids).
 */
#ifndef WEFT__MESSAGE_H
#define WEFT__MESSAGE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

/* A message belongs to one party at a time: its sender until it is pushed, the mailbox's reader from the take on.
 * So no field is atomic. */
struct weft_msg {
    struct weft_msg *next;
    union {
        uint64_t          to;      /* the pid it was meant for: a later owner of the slot drops it */
        uint64_t          order;   /* while it is skipped: stash.h */
        struct weft_msg **held_by; /* while the user owns it, in its actor's list: what points to it */
    };
    uint64_t from; /* 0: a thread that is no actor */
    uint32_t type; /* the type's number */
    int32_t  tag;  /* the receiver's label, set when it matched */
    union {        /* aligned for anything */
        unsigned char      small[WEFT__SMALL_BODY];
        struct weft__body *large;
    };
    /* WEFT__MSG_...; above them the real type of a response on its way; above that the number of a request, or 0 */
    uint64_t flags;
};

enum {
    WEFT__MSG_LARGE = 1,      /* the body is a block of its own */
    WEFT__MSG_KEPT = 2,       /* the user owns it: the next receive does not end it */
    WEFT__MSG_LISTED = 4,     /* and it is in its actor's list of such */
    WEFT__MSG_OPEN = 8,       /* a request that was not answered yet */
    WEFT__MSG_URGENT = 16,    /* it is seen before what is not */
    WEFT__MSG_LETTER = 32,    /* a dead letter, which holds another message */
    WEFT__MSG_TIME = 64,      /* in place of a response: its time is over */
    WEFT__MSG_FIXED = 128,    /* it is nobody's, and never given back */
    WEFT__MSG_ENCLOSED = 256, /* it lies in a dead letter: that is `next` */
    WEFT__MSG_FLAGS = 511,
    WEFT__MSG_TYPE_SHIFT = 9,
    WEFT__MSG_NUMBER_SHIFT = 25,
    WEFT__MSG_NUMBER_BITS = 39,
    /* What the end of a message has to look at. */
    WEFT__MSG_UNUSUAL = WEFT__MSG_LARGE | WEFT__MSG_OPEN | WEFT__MSG_LETTER | WEFT__MSG_FIXED
};

/* The number of the request that it is, or answers. */
static inline uint64_t weft__message_request(const struct weft_msg *m)
{
    return m->flags >> WEFT__MSG_NUMBER_SHIFT;
}
/* A response goes on its way under one type that all have, and arrives with its own. */
static inline void weft__message_address(struct weft_msg *m, uint32_t type, uint64_t number)
{
    m->flags = (m->flags & WEFT__MSG_FLAGS) | (uint64_t)m->type << WEFT__MSG_TYPE_SHIFT |
               number << WEFT__MSG_NUMBER_SHIFT;
    m->type = type;
}
static inline uint32_t weft__message_answer_type(const struct weft_msg *m)
{
    return m->flags >> WEFT__MSG_TYPE_SHIFT & (WEFT__TYPES_MAX - 1);
}
static inline void weft__message_arrive(struct weft_msg *m)
{
    m->type = weft__message_answer_type(m);
    m->flags &= WEFT__MSG_FLAGS;
}

/* The type of what is not a message any more: no type has this number, so whoever still uses it is told so. */
#define WEFT__MSG_FREE UINT32_MAX

/* A body that does not fit. 16 bytes of header keep what follows aligned for anything. */
struct weft__body {
    size_t bytes;
    /* Messages that have it. relaxed to add: who adds has one; release and acquire to take away: the last one frees
     * what the others have read. */
    _Atomic size_t shares;
};

_Static_assert(sizeof(struct weft_msg) == WEFT__LINE_BYTES, "a message is one cache line");
_Static_assert(offsetof(struct weft_msg, small) % 16 == 0, "a small body is aligned for any type");
_Static_assert(sizeof(struct weft__body) == 16, "a large body is aligned for any type");

static inline void *weft__message_body(struct weft_msg *m)
{
    return WEFT__RARE(m->flags & WEFT__MSG_LARGE) ? (void *)(m->large + 1) : m->small;
}

#endif
