/* stash.h - private to weft. Messages that a reader has skipped, found again by type in constant time.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      what was skipped, in mailbox order, urgent ones first.
 * Knows not: why a message fits; it asks. One reader, no threads.
 *
 * A few messages are one circular list. When a search has passed more than WEFT__STASH_FEW they are dealt into
 * piles by their type's number, each in order, and each message gets a number that tells the order between piles. A
 * search for types then looks at their piles only, where the first of a pile usually fits; a pile in which many others
 * are in the way is dealt into more. Where there is no memory for piles everything stays as it is, only slower.
 *
 *   I1  Each list is in mailbox order: urgent ones first, then by arrival.
 *   I2  With piles, `order` grows along each of them, and is smaller for what is before in the mailbox, in any pile.
 *   I3  The word is 0 exactly when nothing is stashed: who finds 0 need not look.
 */
#ifndef WEFT__STASH_H
#define WEFT__STASH_H

#include <stdbool.h>

#include "mailbox/message.h"

struct weft__stash {
    uintptr_t word; /* 0; the last of one list, whose next is the first; or piles, with bit 0 set */
};

/* What is searched for. */
struct weft__sought {
    const uint32_t *types; /* fits only these, */
    unsigned        count; /* so many; 0: any may fit */
    bool            all;   /* and fits all of them */
    bool (*fits)(void *with, struct weft_msg *m);
    void *with;
};

static inline bool weft__stash_is_empty(const struct weft__stash *s) { return !s->word; }
void               weft__stash_add(struct weft__stash *s, struct weft_msg *m);
/* The same for several that are linked, none of them urgent, from `first` to `last`. */
void weft__stash_add_run(struct weft__stash *s, struct weft_msg *first, struct weft_msg *last);
/* Takes the first that fits, or NULL. Adds the number of messages passed to *passed. */
struct weft_msg *weft__stash_take(struct weft__stash *s, const struct weft__sought *sought, uint64_t *passed);
/* Takes all, linked by next, in no order. */
struct weft_msg *weft__stash_clear(struct weft__stash *s);

#endif
