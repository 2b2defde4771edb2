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

/* A message with a small body, of a type that was used before. NULL: ask weft__message_new. */
static inline struct weft_msg *weft__fast_message(struct weft__lane *l, weft_type *type, const void *body)
{
    /* acquire: as in weft__types_id. */
    unsigned         id = __atomic_load_n(&type->id, __ATOMIC_ACQUIRE);
    struct weft_msg *m = (struct weft_msg *)l->messages.loaded;
    size_t           bytes = type->bytes;

    if (WEFT__RARE(!id || !m || bytes > WEFT__SMALL_BODY))
        return NULL;
    weft__cells_get(&l->messages, &weft__messages);
    m->type = id;
    m->request = 0;
    m->bytes = (uint16_t)bytes;
    m->flags = 0;
    if (bytes == 8) /* the usual sizes without a call */
        memcpy(m->small, body, 8);
    else if (bytes == 4)
        memcpy(m->small, body, 4);
    else if (bytes)
        memcpy(weft__message_small(m, bytes), body, bytes);
    return m;
}

/* Its body was read, or handed over: only the memory goes back. */
static inline void weft__fast_free(struct weft__lane *l, struct weft_msg *m)
{
    if (WEFT__RARE(m->flags & WEFT__MSG_LARGE)) {
        weft__message_free(l, m);
        return;
    }
    m->flags = WEFT__MSG_FREE;
    m->type = 0; /* so that one look is enough for whoever asks for its body */
    weft__cells_put(&l->messages, &weft__messages, m);
}

static inline void weft__fast_end_current(struct weft__lane *l, struct weft__actor *a)
{
    struct weft_msg *m = a->current;

    if (m) {
        a->current = NULL;
        weft__fast_free(l, m);
    }
}

/* The next message for an actor that waits, if it is the one it was woken with and of the one type it waits for;
 * else by weft__wait_again. NULL: there is none for it. */
static inline struct weft_msg *weft__fast_next(struct weft__lane *l, struct weft__actor *a)
{
    struct weft_msg *m = a->in;

    /* relaxed, twice: the id is only compared; an empty word needs nothing, and any other is taken in order. */
    if (WEFT__LIKELY(m)) {
        if (WEFT__LIKELY(a->type_count == 1 && __atomic_load_n(&a->type->id, __ATOMIC_RELAXED) == m->type)) {
            m->tag = a->type->tag;
            a->in = m->next;
            return m;
        }
    } else if (atomic_load_explicit(&a->box.word, memory_order_relaxed) == WEFT__INBOX_EMPTY) {
        return NULL;
    }
    return weft__wait_again(l, a);
}

/* Its time, if it has one, is over. */
static inline bool weft__fast_over(struct weft__actor *a)
{
    return WEFT__RARE(a->unusual & WEFT__TIMED) && weft__wait_is_over(a);
}

/* Somebody took it from PARKED and owns it: it is queued where that thread runs. */
static inline void weft__fast_wake(struct weft__lane *l, struct weft__actor *a)
{
    if (WEFT__LIKELY(l->worker && !(a->unusual & WEFT__THREAD)))
        weft__crew_ready(l->worker, &a->task);
    else
        weft__loop_wake(l, a);
}

/* It goes on, with a message or with none because the time is over. */
static inline void weft__fast_deliver(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    if (WEFT__RARE(a->unusual & WEFT__TIMED))
        weft__wait_done(a);
    a->phase = WEFT__RUNNING;
    a->current = m;
    l->self = a;
    l->worker->budget--;
}

#endif
