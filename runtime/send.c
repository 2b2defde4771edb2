/* send.c - from weft_send to the receiver's mailbox.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "runtime/fast.h"

static __attribute__((noinline)) int refused(struct weft__lane *l, struct weft_msg *m)
{
    weft__message_dead(l, m);
    return WEFT_EGONE;
}

/* m is gone afterwards, whatever happens. A fiber whose turn is over gives way; a handler never does, and a thread
 * has no turn. */
static inline __attribute__((always_inline)) int send(struct weft__lane *l, weft_pid to, struct weft_msg *m)
{
    struct weft__actor *a = weft__actor_at(to), *self = l->self;
    int                 error = 0;

    m->to = to.id;
    m->from = self ? weft__actor_pid(self) : 0;
    switch (WEFT__LIKELY(a && weft__actor_pid(a) == to.id)
                ? weft__inbox_push(&a->box, &a->in, m, weft__actor_generation(to.id))
                : WEFT__REFUSED) {
    case WEFT__MUST_WAKE:
        weft__fast_wake(l, a);
        break;
    case WEFT__QUEUED:
        break;
    case WEFT__REFUSED:
        error = refused(l, m);
        break;
    }
    if (WEFT__LIKELY(l->worker) && WEFT__RARE(--l->worker->budget <= 0) && !(self->unusual & WEFT__HANDLER))
        weft__loop_yield(l, self);
    return error;
}

/* The first send of a thread or of a type, a large body, an empty magazine, a mistake. */
static __attribute__((noinline)) int send_slowly(weft_pid to, weft_type *type, const void *body)
{
    struct weft__lane *l = weft__lane_need();
    int                error = WEFT_EMEMORY;

    if (!type || (!body && type->bytes))
        return WEFT_EINVALID;
    struct weft_msg *m = l ? weft__message_new(l, type, body, &error) : NULL;
    return m ? send(l, to, m) : error;
}

int weft_send_body(weft_pid to, weft_type *type, const void *body)
{
    struct weft__lane *l = weft__lane();
    struct weft_msg   *m = WEFT__LIKELY(l && type && body) ? weft__fast_message(l, type, body) : NULL;

    return WEFT__LIKELY(m) ? send(l, to, m) : send_slowly(to, type, body);
}

int weft_reply_body(const weft_msg *m, weft_type *type, const void *body)
{
    return m ? weft_send_body(weft_sender(m), type, body) : WEFT_EINVALID;
}

int weft_pass(weft_pid to, weft_msg *m)
{
    struct weft__lane *l = weft__lane_need();

    if (!m)
        return WEFT_EINVALID;
    weft_keep(m);
    m->flags &= (uint16_t)~WEFT__MSG_KEPT;
    return send(l, to, m);
}
