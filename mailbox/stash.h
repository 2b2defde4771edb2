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
 * are in the way is dealt into more. Piles where every message of a type fits are looked at first: what they give is
 * the limit for those where each has to be tested. Where there is no memory for piles everything stays as it is, only
 * slower.
 *
 *   I1  Each list is in mailbox order: urgent ones first, then by arrival.
 *   I2  With piles, `order` grows along each of them, and is smaller for what is before in the mailbox, in any pile.
 *   I3  The word is 0 exactly when nothing is stashed: who finds 0 need not look.
 *   I4  Of a list without piles, `order` of the last is how many there are.
 */
#ifndef WEFT__STASH_H
#define WEFT__STASH_H

#include <stdbool.h>

#include "mailbox/message.h"

struct weft__stash {
    uintptr_t word; /* 0; the last of one list, whose next is the first; or piles, with bit 0 set */
};

/* What is searched for. Types are a set of bits, each at its number modulo the most piles: a search looks where they
 * may be, and nowhere else, however many they are. */
struct weft__sought {
    bool     any;   /* any type may fit; else only */
    bool     all;   /* whatever has one of the types fits */
    bool     mixed; /* if neither: of some types all fit, which are in `sure`, too */
    uint64_t types[WEFT__STASH_PILES_MAX / 64], sure[WEFT__STASH_PILES_MAX / 64];
    bool (*fits)(void *with, struct weft_msg *m);
    void *with;
};
static inline void weft__stash_seek(uint64_t *set, uint32_t type)
{
    set[type % WEFT__STASH_PILES_MAX / 64] |= (uint64_t)1 << type % 64;
}

static inline bool weft__stash_is_empty(const struct weft__stash *s) { return !s->word; }
void               weft__stash_add(struct weft__stash *s, struct weft_msg *m);
/* The same for n that are linked, none of them urgent, from `first` to `last`. */
void weft__stash_add_run(struct weft__stash *s, struct weft_msg *first, struct weft_msg *last, size_t n);
/* Takes the first that fits, or NULL. Adds the number of messages passed to *passed. */
struct weft_msg *weft__stash_take(struct weft__stash *s, const struct weft__sought *sought, uint64_t *passed);
size_t           weft__stash_count(const struct weft__stash *s);
/* Takes all, linked by next, in no order. */
struct weft_msg *weft__stash_clear(struct weft__stash *s);

#endif
