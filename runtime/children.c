/* children.c - the children of a supervisor: in order, by pid, by id, and those that wait by when they are due.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A child is found by the pid that it has, or had last, until it is removed. Those that wait alone are in a pairing heap,
 * which needs no memory: a restart that could not even be waited for would be lost.
 */
#include "runtime/children.h"

#include <string.h>

#include "base/memory.h"

enum { FIRST_ROOM = 8 };

/* ---- rings ---------------------------------------------------------------------------------------------- */

static void ring_make(struct weft__ring *r) { r->next = r->before = r; }

static void ring_add(struct weft__ring *ring, struct weft__ring *r)
{
    r->next = ring;
    r->before = ring->before;
    ring->before->next = r;
    ring->before = r;
}

static void ring_remove(struct weft__ring *r)
{
    r->next->before = r->before;
    r->before->next = r->next;
    ring_make(r);
}

/* ---- chains --------------------------------------------------------------------------------------------- */

static struct weft__child **pid_chain(const struct weft__children *t, weft_pid who)
{
    return &t->by_pid[(who.id * 0x9E3779B97F4A7C15u) >> 32 & (t->chains - 1)];
}

static struct weft__child **id_chain(const struct weft__children *t, const char *id) /* FNV-1a */
{
    uint64_t h = 14695981039346656037u;

    for (; *id; id++)
        h = (h ^ (unsigned char)*id) * 1099511628211u;
    return &t->by_id[(h ^ h >> 32) & (t->chains - 1)];
}

static void link_pid(struct weft__children *t, struct weft__child *c)
{
    if (!c->who.id)
        return;
    struct weft__child **at = pid_chain(t, c->who);
    c->next_pid = *at;
    *at = c;
}

static void link_id(struct weft__children *t, struct weft__child *c)
{
    if (!c->what->id)
        return;
    struct weft__child **at = id_chain(t, c->what->id);
    c->next_id = *at;
    *at = c;
}

static void unlink_pid(struct weft__children *t, struct weft__child *c)
{
    if (!c->who.id)
        return;
    struct weft__child **at = pid_chain(t, c->who);
    while (*at != c)
        at = &(*at)->next_pid;
    *at = c->next_pid;
}

static void unlink_id(struct weft__children *t, struct weft__child *c)
{
    if (!c->what->id)
        return;
    struct weft__child **at = id_chain(t, c->what->id);
    while (*at != c)
        at = &(*at)->next_id;
    *at = c->next_id;
}

/* Twice as many; without memory they get longer instead. False: there are none at all. */
static bool grow(struct weft__children *t)
{
    size_t               more = t->chains ? t->chains * 2 : FIRST_ROOM;
    struct weft__child **chains = weft__memory_get(2 * more * sizeof(struct weft__child *));

    if (!chains)
        return t->chains;
    memset(chains, 0, 2 * more * sizeof *chains);
    weft__memory_put(t->by_pid);
    t->by_pid = chains;
    t->by_id = chains + more;
    t->chains = more;
    for (struct weft__child *c = weft__children_first(t); c; c = weft__children_next(t, c)) {
        link_pid(t, c);
        link_id(t, c);
    }
    return true;
}

/* ---- the heap ------------------------------------------------------------------------------------------- */

static struct weft__child *meld(struct weft__child *a, struct weft__child *b)
{
    if (!a || !b)
        return a ? a : b;
    if (b->due < a->due) {
        struct weft__child *later = a;
        a = b;
        b = later;
    }
    b->before = a;
    b->beside = a->below;
    if (b->beside)
        b->beside->before = b;
    a->below = b;
    return a;
}

/* Those beside each other become one: by twos, and these from the last to the first. */
static struct weft__child *meld_all(struct weft__child *list)
{
    struct weft__child *pairs = NULL, *all = NULL;

    while (list) {
        struct weft__child *a = list, *b = a->beside;
        list = b ? b->beside : NULL;
        a->beside = NULL;
        if (b)
            b->beside = NULL;
        a = meld(a, b);
        a->beside = pairs;
        pairs = a;
    }
    while (pairs) {
        struct weft__child *next = pairs->beside;
        pairs->beside = NULL;
        all = meld(all, pairs);
        pairs = next;
    }
    return all;
}

static void unheap(struct weft__children *t, struct weft__child *c)
{
    struct weft__child *rest = meld_all(c->below);

    if (c == t->first_due) {
        t->first_due = rest;
    } else {
        *(c->before->below == c ? &c->before->below : &c->before->beside) = c->beside;
        if (c->beside)
            c->beside->before = c->before;
        t->first_due = meld(t->first_due, rest);
    }
    c->below = c->beside = c->before = NULL;
    c->heaped = false;
}

/* ---- children ------------------------------------------------------------------------------------------- */

void weft__children_make(struct weft__children *t)
{
    *t = (struct weft__children){0};
    ring_make(&t->order);
    ring_make(&t->news);
}

void weft__children_free(struct weft__children *t)
{
    for (struct weft__child *c; (c = weft__children_first(t));)
        weft__children_remove(t, c);
    weft__memory_put(t->by_pid);
    weft__children_make(t);
}

struct weft__child *weft__children_add(struct weft__children *t, struct weft__spec *spec,
                                       const weft_child *what)
{
    struct weft__child *c = t->count < t->chains || grow(t) ? weft__memory_get(sizeof *c) : NULL;

    if (!c)
        return NULL;
    *c = (struct weft__child){.spec = spec, .what = what};
    ring_add(&t->order, &c->order);
    ring_make(&c->news);
    link_pid(t, c);
    link_id(t, c);
    t->count++;
    return c;
}

void weft__children_remove(struct weft__children *t, struct weft__child *c)
{
    weft__children_set(t, c, WEFT__CHILD_STOPPED);
    unlink_pid(t, c);
    unlink_id(t, c);
    ring_remove(&c->order);
    t->count--;
    weft__spec_put(c->spec);
    weft__memory_put(c);
}

struct weft__child *weft__children_of_id(const struct weft__children *t, const char *id)
{
    struct weft__child *c = t->chains ? *id_chain(t, id) : NULL;

    while (c && strcmp(c->what->id, id) != 0)
        c = c->next_id;
    return c;
}

struct weft__child *weft__children_of_pid(const struct weft__children *t, weft_pid who)
{
    struct weft__child *c = t->chains && who.id ? *pid_chain(t, who) : NULL;

    while (c && !weft_same(c->who, who))
        c = c->next_pid;
    return c;
}

void weft__children_set(struct weft__children *t, struct weft__child *c, enum weft__child_state state)
{
    t->running -= c->state == WEFT__CHILD_RUNS;
    t->running += state == WEFT__CHILD_RUNS;
    if (c->heaped)
        unheap(t, c);
    if (c->state == WEFT__CHILD_ENDED)
        ring_remove(&c->news);
    if (state == WEFT__CHILD_ENDED)
        ring_add(&t->news, &c->news);
    c->state = (uint8_t)state;
}

void weft__children_runs(struct weft__children *t, struct weft__child *c, weft_pid who)
{
    unlink_pid(t, c);
    c->who = who;
    link_pid(t, c);
    c->told = 0;
    weft__children_set(t, c, WEFT__CHILD_RUNS);
}

void weft__children_wait(struct weft__children *t, struct weft__child *c, int64_t due)
{
    weft__children_set(t, c, WEFT__CHILD_WAITS);
    c->due = due;
    c->heaped = true;
    t->first_due = meld(t->first_due, c);
}
