/* fast.h - private to weft. The plain path of the hot operations, inlined; whatever is rare is called.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A hop is a send, a receive and a switch. These few functions are all of it but the two exchanges in inbox.h and
 * the plain queue in worker.h. Each does the usual case, and leaves everything untouched if it is another.
 */
#ifndef WEFT__FAST_H
#define WEFT__FAST_H

#include <string.h>

#include "runtime/actor.h"

static inline void *weft__fast_stack_pointer(void)
{
#if defined(__x86_64__)
    void *sp;
    __asm__("movq %%rsp, %0" : "=r"(sp));
    return sp;
#else
    return __builtin_frame_address(0);
#endif
}

/* The first n bytes, at most WEFT__SMALL_BODY, without a call. */
static inline void weft__fast_copy(unsigned char *to, const unsigned char *from, size_t n)
{
    if (WEFT__LIKELY(n >= 8)) {
        if (n > 8) { /* the last eight may overlap the first */
            if (n > 16)
                memcpy(to + 8, from + 8, 8);
            memcpy(to + n - 8, from + n - 8, 8);
        }
        memcpy(to, from, 8);
    } else if (n >= 4) {
        memcpy(to + n - 4, from + n - 4, 4);
        memcpy(to, from, 4);
    } else if (n) {
        to[0] = from[0];
        to[n / 2] = from[n / 2];
        to[n - 1] = from[n - 1];
    }
}

/* A message with a small body, of a type that was used before. NULL: ask weft__message_new. */
static inline struct weft_msg *weft__fast_message(struct weft__lane *l, weft_type *type, const void *body)
{
    /* acquire: as in weft__types_id. */
    unsigned         id = __atomic_load_n(&type->id, __ATOMIC_ACQUIRE);
    struct weft_msg *m = (struct weft_msg *)l->messages.loaded;
    size_t           bytes = type->bytes;

    if (WEFT__RARE(!id) || WEFT__RARE(!m) || WEFT__RARE(bytes > WEFT__SMALL_BODY))
        return NULL;
    l->messages.loaded = l->messages.loaded->next; /* weft__cells_get, without its call */
    l->messages.count--;
    m->type = id;
    m->flags = 0;
    weft__fast_copy(m->small, body, bytes);
    return m;
}

/* Whether the next two can do it. */
static inline bool weft__fast_can_end(const struct weft__lane *l, const struct weft_msg *m)
{
    return !m || (WEFT__LIKELY(!(m->flags & WEFT__MSG_UNUSUAL)) &&
                  WEFT__LIKELY(l->messages.count < WEFT__MAGAZINE + WEFT__MAGAZINE_SLACK - 1));
}

/* Only the memory goes back. */
static inline void weft__fast_free(struct weft__lane *l, struct weft_msg *m)
{
    struct weft__cell *cell = (struct weft__cell *)m;

    m->type = WEFT__MSG_FREE;
    cell->next = l->messages.loaded; /* weft__cells_put, without its call */
    l->messages.loaded = cell;
    l->messages.count++;
}

/* What it received last was read, or handed over. */
static inline void weft__fast_end_current(struct weft__lane *l, struct weft__actor *a)
{
    struct weft_msg *m = a->current;

    if (!m)
        return;
    a->current = NULL;
    weft__fast_free(l, m);
}

/* The next of the messages it has, if it waits for its type by name. NULL: ask weft__wait_again. */
static inline struct weft_msg *weft__fast_next(struct weft__actor *a)
{
    struct weft_msg *m = a->in;
    weft_type       *match = NULL;

    if (!m)
        return NULL;
    /* relaxed: the id is only compared. */
    if (WEFT__LIKELY(a->type_count == 1)) {
        if (WEFT__LIKELY(__atomic_load_n(&a->type->id, __ATOMIC_RELAXED) == m->type))
            match = a->type;
    } else {
        for (unsigned i = 0; !match && i < a->type_count; i++)
            if (__atomic_load_n(&a->types[i]->id, __ATOMIC_RELAXED) == m->type)
                match = a->types[i];
    }
    if (WEFT__RARE(!match))
        return NULL;
    m->tag = match->tag;
    a->in = m->next;
    return m;
}

/* relaxed: what is urgent is found in the mailbox; the rest is the owner's. */
static inline uint32_t weft__fast_at_once(const struct weft__actor *a)
{
    return __atomic_load_n(&a->at_once, __ATOMIC_RELAXED);
}

static inline bool weft__fast_is_urgent(const struct weft__actor *a)
{
    return weft__fast_at_once(a) & WEFT__IS_URGENT;
}

/* Whether nothing came since the last look; relaxed: it needs nothing, and what came is taken in order. */
static inline bool weft__fast_is_empty(struct weft__actor *a)
{
    return !a->in && atomic_load_explicit(&a->box.word, memory_order_relaxed) == WEFT__INBOX_EMPTY;
}

/* Its time, if it has one, is over. */
static inline bool weft__fast_over(struct weft__actor *a)
{
    return WEFT__RARE(a->unusual & WEFT__TIMED) && weft__wait_is_over(a);
}

/* A fiber gives way when its turn is over; a handler, a guard, and whoever destroys what a message owned, never do. */
static inline bool weft__fast_may_yield(const struct weft__lane *l)
{
    return l->self && !(l->self->unusual & (WEFT__HANDLER | WEFT__CALLED));
}

/* It goes on, with a message or with none because the time is over. A wait that is TIMED: weft__wait_done first. */
static inline void weft__fast_deliver(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    a->phase = WEFT__RUNNING;
    a->current = m;
    l->self = a;
    l->worker->budget--;
}

#endif
