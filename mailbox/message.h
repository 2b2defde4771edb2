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
    uint32_t         type; /* the type's number */
    int32_t          tag;  /* the receiver's label, set when it matched */
    union {                /* aligned for anything */
        unsigned char      small[WEFT__SMALL_BODY];
        struct weft__body *large;
    };
    uint32_t request; /* room for requests */
    uint32_t flags;
};

enum {
    WEFT__MSG_LARGE = 1, /* the body is a block of its own */
    WEFT__MSG_KEPT = 2   /* the user owns it: the next receive does not end it */
};

/* The type of what is not a message any more: no type has this number, so whoever still uses it is told so. */
#define WEFT__MSG_FREE UINT32_MAX

/* A body that does not fit. 16 bytes of header keep what follows aligned for anything. */
struct weft__body {
    size_t bytes;
    size_t unused;
};

_Static_assert(sizeof(struct weft_msg) == WEFT__LINE_BYTES, "a message is one cache line");
_Static_assert(offsetof(struct weft_msg, small) % 16 == 0, "a small body is aligned for any type");
_Static_assert(sizeof(struct weft__body) == 16, "a large body is aligned for any type");

static inline void *weft__message_body(struct weft_msg *m)
{
    return WEFT__RARE(m->flags & WEFT__MSG_LARGE) ? (void *)(m->large + 1) : m->small;
}

#endif
