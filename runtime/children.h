/* children.h - private to weft. What a supervisor knows: what it was told to do, its children, its past.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      copies of specifications, the table of children, the rules of Erlang/OTP as questions and answers.
 * Knows not: actors. Who starts them, stops them and hears of their end is supervisor.c.
 */
#ifndef WEFT__CHILDREN_H
#define WEFT__CHILDREN_H

#include <stdatomic.h>
#include <weft/supervisor.h>

/* ---- spec.c ----------------------------------------------------------------------------- */

/* A specification and, behind it in one block, all that it points to. Never changed: whoever has it shares it. */
struct weft__spec {
    atomic_uint     users;
    weft_supervisor how;
};

/* 0; or WEFT_EINVALID, it makes no sense; or WEFT_EMEMORY, to find out. A child alone: as one of a supervisor that is not simple dynamic. */
int weft__spec_check(const weft_supervisor *how);
int weft__spec_check_child(const weft_child *child);
/* NULL: no memory. Of a child: how.children[0]. */
struct weft__spec *weft__spec_copy(const weft_supervisor *how);
struct weft__spec *weft__spec_copy_child(const weft_child *child);
struct weft__spec *weft__spec_share(struct weft__spec *spec);
void               weft__spec_put(struct weft__spec *spec); /* NULL is fine */

/* ---- children.c ------------------------------------------------------------------------- */

struct weft__ring {
    struct weft__ring *next, *before;
};

enum weft__child_state {
    WEFT__CHILD_STOPPED, /* or never started */
    WEFT__CHILD_RUNS,
    WEFT__CHILD_ENDED, /* among the news: it has ended, and that was not thought about yet */
    WEFT__CHILD_WAITS  /* for its restart */
};

/* How long the last delay was, and when it was over. */
struct weft__delay {
    int64_t span, over;
};

struct weft__child {
    struct weft__ring   order, news;
    struct weft__child *next_pid, *next_id;      /* in their chains */
    struct weft__child *below, *beside, *before; /* in the heap, if it waits alone */
    int64_t             due;                     /* there */
    weft_pid            who;                     /* or who it was last */
    struct weft__spec  *spec;
    const weft_child   *what; /* in spec */
    struct weft__delay  delay;
    uint32_t            restarts;
    int                 reason; /* of its last end */
    uint8_t             state;
    uint8_t             told; /* while it is stopped: a bit for each thing that it was told (supervisor.c) */
    bool                heaped;
};

struct weft__children {
    struct weft__ring    order, news; /* as they were started; as they ended */
    struct weft__child **by_pid, **by_id;
    size_t               chains, count, running;
    struct weft__child  *first_due; /* the heap of those that wait */
};

void weft__children_make(struct weft__children *t);
void weft__children_free(struct weft__children *t);
/* Behind all others, stopped; it takes `spec`. NULL: no memory, and `spec` is still the caller's. */
struct weft__child *weft__children_add(struct weft__children *t, struct weft__spec *spec,
                                       const weft_child *what);
void                weft__children_remove(struct weft__children *t, struct weft__child *c);
struct weft__child *weft__children_of_id(const struct weft__children *t, const char *id);
struct weft__child *weft__children_of_pid(const struct weft__children *t, weft_pid who);
/* It runs, as `who`. */
void weft__children_runs(struct weft__children *t, struct weft__child *c, weft_pid who);
/* Another state than that; for WAITS see the next, too. */
void weft__children_set(struct weft__children *t, struct weft__child *c, enum weft__child_state state);
/* It waits alone, until then. */
void weft__children_wait(struct weft__children *t, struct weft__child *c, int64_t due);

/* In order; NULL: there is none, or no more. */
static inline struct weft__child *weft__children_at(const struct weft__children *t, struct weft__ring *r)
{
    return r == &t->order ? NULL : (struct weft__child *)((char *)r - offsetof(struct weft__child, order));
}
static inline struct weft__child *weft__children_first(const struct weft__children *t)
{
    return weft__children_at(t, t->order.next);
}
static inline struct weft__child *weft__children_last(const struct weft__children *t)
{
    return weft__children_at(t, t->order.before);
}
static inline struct weft__child *weft__children_next(const struct weft__children *t, struct weft__child *c)
{
    return weft__children_at(t, c->order.next);
}
static inline struct weft__child *weft__children_before(const struct weft__children *t, struct weft__child *c)
{
    return weft__children_at(t, c->order.before);
}
/* The one that ended first; NULL: nothing is new. */
static inline struct weft__child *weft__children_news(const struct weft__children *t)
{
    struct weft__ring *r = t->news.next;

    return r == &t->news ? NULL : (struct weft__child *)((char *)r - offsetof(struct weft__child, news));
}

/* ---- rules.c ---------------------------------------------------------------------------- */

/* The restarts that count, oldest first, in a ring. */
struct weft__past {
    int64_t *at;
    size_t   room, first, count;
};

/* A child that has ended so is started again. */
bool weft__rules_restarts(enum weft_restart restart, int reason);
/* Its specification goes when it has ended for good. */
bool weft__rules_forgets(const weft_supervisor *how, const weft_child *what);
/* When one that fails takes others with it. */
static inline bool weft__rules_is_group(const weft_supervisor *how)
{
    return how->strategy == WEFT_ONE_FOR_ALL || how->strategy == WEFT_REST_FOR_ONE;
}
/* How long it may take to stop; less than 0: it is killed at once. */
int64_t weft__rules_shutdown(const weft_child *what);
/* One more restart. True: those are too many; or there is no memory to count them. */
bool weft__rules_too_often(const weft_supervisor *how, struct weft__past *past, int64_t now);
/* In which restarts count. */
int64_t weft__rules_period(const weft_supervisor *how);
/* How long to wait before the next restart. */
int64_t weft__rules_delay(const weft_supervisor *how, struct weft__delay *delay, int64_t now);

#endif
