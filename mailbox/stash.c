/* stash.c - see stash.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "mailbox/stash.h"

#include <string.h>

#include "base/memory.h"

struct piles {
    uint64_t next_urgent, next_plain; /* the next orders; plain ones start in the middle of all numbers */
    unsigned mask;
    size_t   messages;
    struct weft_msg *last[]; /* of each pile, or NULL; behind them those of urgent ones, as many */
};

/* A place in a list: the message and the one before. */
struct place {
    struct weft_msg **last, *before, *m;
};

static struct piles *piles_of(const struct weft__stash *s)
{
    return s->word & 1 ? (struct piles *)(s->word - 1) : NULL;
}

static bool is_urgent(const struct weft_msg *m) { return m->flags & WEFT__MSG_URGENT; }

/* Behind one of the list. */
static void insert(struct weft_msg **last, struct weft_msg *behind, struct weft_msg *m)
{
    m->next = behind->next;
    behind->next = m;
    if (behind == *last)
        *last = m;
}

static void append(struct weft_msg **last, struct weft_msg *m)
{
    if (*last) {
        insert(last, *last, m);
    } else {
        m->next = m;
        *last = m;
    }
}

/* Behind those that are urgent, if there are few. False: there are many. */
static bool append_urgent(struct weft_msg **last, struct weft_msg *m, size_t few)
{
    struct weft_msg *behind = *last;

    if (!behind || is_urgent(behind)) {
        append(last, m);
        return true;
    }
    for (size_t n = 0; is_urgent(behind->next); n++) {
        if (n == few)
            return false;
        behind = behind->next;
    }
    m->next = behind->next; /* the last stays the last: it is not urgent */
    behind->next = m;
    return true;
}

static void take_out(struct place at)
{
    at.before->next = at.m->next;
    if (at.m == *at.last)
        *at.last = at.m == at.before ? NULL : at.before;
}

/* The first that fits and comes before `limit`; m is NULL if there is none. */
static struct place search(struct weft_msg **last, const struct weft__sought *sought, uint64_t limit,
                           uint64_t *passed)
{
    struct place at = {last, *last, NULL};

    if (!*last)
        return at;
    for (struct weft_msg *m = at.before->next;; m = m->next) {
        if (limit != UINT64_MAX && m->order >= limit)
            return at;
        if (sought->fits(sought->with, m)) {
            at.m = m;
            return at;
        }
        ++*passed;
        at.before = m;
        if (m == *last)
            return at;
    }
}

/* ---- piles -------------------------------------------------------------------------------------------- */

static struct weft_msg **pile_of(struct piles *p, const struct weft_msg *m)
{
    return &p->last[(m->type & p->mask) + (is_urgent(m) ? p->mask + 1 : 0)];
}

static void give_order(struct piles *p, struct weft_msg *m)
{
    m->order = is_urgent(m) ? p->next_urgent++ : p->next_plain++;
}

/* All of a circular list, in its order; with new orders, if they have none yet. */
static void deal(struct piles *p, struct weft_msg *last, bool number)
{
    if (!last)
        return;
    struct weft_msg *m = last->next;
    last->next = NULL;
    while (m) {
        struct weft_msg *next = m->next;
        if (number) {
            give_order(p, m);
            p->messages++;
        }
        append(pile_of(p, m), m);
        m = next;
    }
}

static struct piles *new_piles(unsigned count)
{
    size_t        bytes = sizeof(struct piles) + 2 * count * sizeof(struct weft_msg *);
    struct piles *p = weft__memory_get(bytes);

    if (!p)
        return NULL;
    memset(p, 0, bytes);
    p->mask = count - 1;
    p->next_plain = (uint64_t)1 << 63;
    return p;
}

/* One list becomes piles, if there is memory. */
static void make_piles(struct weft__stash *s)
{
    struct piles *p = new_piles(WEFT__STASH_PILES);

    if (!p)
        return;
    deal(p, (struct weft_msg *)s->word, true);
    s->word = (uintptr_t)p | 1;
}

/* Four times as many piles: what shared one may not any more. Each old pile is in order, and feeds new ones alone. */
static void more_piles(struct weft__stash *s)
{
    struct piles *old = piles_of(s), *p = NULL;

    if (old->mask + 1 < WEFT__STASH_PILES_MAX)
        p = new_piles((old->mask + 1) * 4);
    if (!p)
        return;
    p->next_urgent = old->next_urgent;
    p->next_plain = old->next_plain;
    p->messages = old->messages;
    for (unsigned i = 0; i < 2 * (old->mask + 1); i++)
        deal(p, old->last[i], false);
    weft__memory_put(old);
    s->word = (uintptr_t)p | 1;
}

/* The set's piles: the bits of numbers that share a pile are one. */
static void fold(uint64_t *to, const uint64_t *set, const struct piles *p)
{
    unsigned count = p->mask + 1;

    memcpy(to, set, WEFT__STASH_PILES_MAX / 8);
    for (unsigned n = WEFT__STASH_PILES_MAX / 2; n >= count; n /= 2)
        if (n >= 64)
            for (unsigned i = 0; i < n / 64; i++)
                to[i] |= to[i + n / 64];
        else
            to[0] |= to[0] >> n;
    if (count < 64)
        to[0] &= ((uint64_t)1 << count) - 1;
}

/* What is being done: the first that fits, in the piles from `urgent` on. */
struct hunt {
    struct piles              *piles;
    const struct weft__sought *sought;
    struct place               best;
    unsigned                   urgent, searched;
    uint64_t                  *passed;
};

static void search_pile(struct hunt *h, unsigned pile)
{
    struct place at = search(&h->piles->last[h->urgent + pile], h->sought,
                             h->best.m ? h->best.m->order : UINT64_MAX, h->passed);

    h->searched++;
    if (at.m)
        h->best = at;
}

static void search_piles(struct hunt *h, const uint64_t *set)
{
    for (unsigned i = 0; i <= h->piles->mask / 64; i++)
        for (uint64_t bits = set[i]; bits; bits &= bits - 1)
            search_pile(h, i * 64 + (unsigned)__builtin_ctzll(bits));
}

static void search_all(struct hunt *h)
{
    for (unsigned i = 0; i <= h->piles->mask; i++)
        search_pile(h, i);
}

static struct weft_msg *take_from_piles(struct weft__stash *s, const struct weft__sought *sought,
                                        uint64_t *passed)
{
    struct piles *p = piles_of(s);
    struct hunt   h = {p, sought, {NULL, NULL, NULL}, p->mask + 1, 0, passed};
    uint64_t      before = *passed, sure[WEFT__STASH_PILES_MAX / 64], types[WEFT__STASH_PILES_MAX / 64];

    if (sought->mixed)
        fold(sure, sought->sure, p);
    if (!sought->any)
        fold(types, sought->types, p);
    for (unsigned i = 0; sought->mixed && i <= p->mask / 64; i++)
        types[i] &= ~sure[i]; /* nothing is tested twice */
    for (;; h.urgent = 0) {
        h.searched = 0;
        if (sought->mixed)
            search_piles(&h, sure);
        if (sought->any)
            search_all(&h);
        else
            search_piles(&h, types);
        if (h.best.m || !h.urgent)
            break;
    }
    if (h.best.m) {
        take_out(h.best);
        if (--p->messages == 0) {
            weft__memory_put(p);
            s->word = 0;
            return h.best.m;
        }
    }
    if (sought->all && *passed - before > WEFT__STASH_FEW * (uint64_t)h.searched)
        more_piles(s);
    return h.best.m;
}

/* ---- either way --------------------------------------------------------------------------------------- */

/* False: it is better put into piles. */
static bool add_to_list(struct weft__stash *s, struct weft_msg *m, size_t few)
{
    struct weft_msg *last = (struct weft_msg *)s->word;
    uint64_t         count = last ? last->order : 0;
    bool             added = true;

    if (is_urgent(m))
        added = append_urgent(&last, m, few);
    else
        append(&last, m);
    last->order = count + added;
    s->word = (uintptr_t)last;
    return added;
}

void weft__stash_add(struct weft__stash *s, struct weft_msg *m)
{
    if (!piles_of(s)) {
        if (add_to_list(s, m, WEFT__STASH_FEW))
            return;
        make_piles(s);
    }
    struct piles *p = piles_of(s);
    if (!p) {
        add_to_list(s, m, SIZE_MAX); /* a long way, but no memory */
        return;
    }
    give_order(p, m);
    p->messages++;
    append(pile_of(p, m), m);
}

void weft__stash_add_run(struct weft__stash *s, struct weft_msg *first, struct weft_msg *last, size_t n)
{
    struct weft_msg *before = (struct weft_msg *)s->word, *end = last->next;

    if (!piles_of(s)) {
        last->next = before ? before->next : first;
        if (before)
            before->next = first;
        last->order = (before ? before->order : 0) + n;
        s->word = (uintptr_t)last;
        return;
    }
    while (first != end) {
        struct weft_msg *m = first;
        first = m->next;
        weft__stash_add(s, m);
    }
}

struct weft_msg *weft__stash_take(struct weft__stash *s, const struct weft__sought *sought, uint64_t *passed)
{
    uint64_t before = *passed;

    if (!s->word)
        return NULL;
    if (piles_of(s))
        return take_from_piles(s, sought, passed);
    struct weft_msg *last = (struct weft_msg *)s->word;
    uint64_t         count = last->order;
    struct place     at = search(&last, sought, UINT64_MAX, passed);
    if (at.m)
        take_out(at);
    if (at.m && last)
        last->order = count - 1;
    s->word = (uintptr_t)last;
    if (*passed - before > WEFT__STASH_FEW)
        make_piles(s);
    return at.m;
}

size_t weft__stash_count(const struct weft__stash *s)
{
    const struct piles *p = piles_of(s);

    return p ? p->messages : s->word ? ((const struct weft_msg *)s->word)->order : 0;
}

struct weft_msg *weft__stash_clear(struct weft__stash *s)
{
    struct piles    *p = piles_of(s);
    struct weft_msg *all = NULL, *one = (struct weft_msg *)s->word;

    for (unsigned i = 0; i < (p ? 2 * (p->mask + 1) : 1); i++) {
        struct weft_msg *last = p ? p->last[i] : one;
        if (last) {
            struct weft_msg *first = last->next;
            last->next = all;
            all = first;
        }
    }
    if (p)
        weft__memory_put(p);
    s->word = 0;
    return all;
}
