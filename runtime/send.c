/* send.c - from weft_send to the receiver's mailbox.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "runtime/actor.h"

/* m is gone afterwards, whatever happens. */
static int post(struct weft__lane *l, weft_pid to, struct weft_msg *m)
{
    struct weft__actor *a = weft__actor_at(to);

    m->to = to.id;
    switch (WEFT__LIKELY(a && weft__actor_pid(a) == to.id)
                ? weft__inbox_push(&a->box, &a->in, m, weft__actor_generation(to.id))
                : WEFT__REFUSED) {
    case WEFT__MUST_WAKE:
        weft__loop_wake(l, a);
        return 0;
    case WEFT__QUEUED:
        return 0;
    case WEFT__REFUSED:
        break;
    }
    weft__message_dead(l, m);
    return WEFT_EGONE;
}

/* A fiber whose turn is over gives way; a handler never does, and a thread has no turn. */
static void count_send(struct weft__lane *l)
{
    if (l->worker && --l->worker->budget <= 0 && l->self && !(l->self->unusual & WEFT__HANDLER))
        weft__loop_yield(l, l->self);
}

static int send_from(struct weft__lane *l, uint64_t from, weft_pid to, weft_type *type, const void *body)
{
    int              error;
    struct weft_msg *m = weft__message_new(l, type, body, &error);

    if (WEFT__RARE(!m))
        return error;
    m->from = from;
    error = post(l, to, m);
    count_send(l);
    return error;
}

int weft_send_body(weft_pid to, weft_type *type, const void *body)
{
    struct weft__lane *l = weft__lane();

    if (WEFT__RARE(!l) && !(l = weft__lane_need()))
        return WEFT_EMEMORY;
    if (WEFT__RARE(!type || (!body && type->bytes)))
        return WEFT_EINVALID;
    return send_from(l, l->self ? weft__actor_pid(l->self) : 0, to, type, body);
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
    m->from = l->self ? weft__actor_pid(l->self) : 0;
    int error = post(l, to, m);
    count_send(l);
    return error;
}
