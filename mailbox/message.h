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

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

/* A message belongs to one party at a time: its sender until it is pushed, the mailbox's reader from the take on.
 * So no field is atomic. */
struct weft_msg {
    struct weft_msg *next;
    uint64_t         to;   /* the pid it was meant for: a later owner of the slot drops it */
    uint64_t         from; /* 0: a thread that is no actor */
    uint32_t type;    /* the type's number; never one that a reader lists, for what readers must not see */
    int32_t  tag;     /* the receiver's label, set when it matched */
    uint32_t request; /* room for requests */
    uint16_t bytes;   /* of a small body */
    uint16_t flags;
    union {
        unsigned char      small[WEFT__SMALL_BODY];
        struct weft__body *large;
    };
};

enum {
    WEFT__MSG_LARGE = 1, /* the body is a block of its own */
    WEFT__MSG_KEPT = 2,  /* the user owns it: the next receive does not end it */
    WEFT__MSG_FREE = 4   /* it is not a message any more; whoever still uses it is told so */
};

/* A body that does not fit. 16 bytes of header keep what follows aligned for anything. */
struct weft__body {
    size_t bytes;
    size_t unused;
};

_Static_assert(sizeof(struct weft_msg) == WEFT__LINE_BYTES, "a message is one cache line");
_Static_assert(sizeof(struct weft__body) == 16, "a large body is aligned for any type");

/* Where a small body lies: one of exactly 16 bytes may want 16-byte alignment, no other size can. */
static inline void *weft__message_small(struct weft_msg *m, size_t bytes)
{
    return m->small + (bytes == 16 ? 8 : 0);
}

static inline void *weft__message_body(struct weft_msg *m)
{
    return m->flags & WEFT__MSG_LARGE ? (void *)(m->large + 1) : weft__message_small(m, m->bytes);
}

static inline size_t weft__message_bytes(const struct weft_msg *m)
{
    return m->flags & WEFT__MSG_LARGE ? m->large->bytes : m->bytes;
}

#endif
