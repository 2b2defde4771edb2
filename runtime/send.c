/* send.c - from weft_send to the receiver's mailbox.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "runtime/fast.h"

/* m is gone afterwards, whatever happens. A fiber whose turn is over gives way; a handler never does, and a thread
 * has no turn. */
static __attribute__((noinline)) int end_send(struct weft__lane *l, int error)
{
    if (l->worker && l->worker->budget <= 0 && weft__fast_may_yield(l))
        weft__loop_yield(l, l->self);
    return error;
}

static __attribute__((noinline)) int refused(struct weft__lane *l, struct weft_msg *m)
{
    weft__message_dead(l, m);
    return end_send(weft__lane(), WEFT_EGONE);
}

static __attribute__((noinline)) int wake_and_end(struct weft__lane *l, struct weft__actor *a)
{
    weft__loop_wake(l, a);
    return end_send(l, 0);
}

/* The usual receiver waits, and is put into the slot of the sender's worker. Everything else is called, last, so that
 * this needs no frame. */
static inline int post(struct weft__lane *l, struct weft__worker *w, weft_pid to, struct weft_msg *m)
{
    m->to = to.id;
    if (WEFT__RARE(!weft__actor_exists(to)))
        return refused(l, m);
    struct weft__actor *a = weft__actor_block(to);
    if (WEFT__RARE(weft__actor_pid(a) != to.id))
        return refused(l, m);
    enum weft__push how = weft__inbox_push(&a->box, &a->in, m, weft__actor_generation(to.id));
    if (WEFT__RARE(how == WEFT__REFUSED))
        return refused(l, m);
    if (w && WEFT__RARE((w->budget -= how == WEFT__QUEUED ? WEFT__BACKLOG_COST : 1) <= 0))
        return how == WEFT__MUST_WAKE ? wake_and_end(l, a) : end_send(l, 0);
    if (how == WEFT__MUST_WAKE &&
        (!w || WEFT__RARE(a->unusual & WEFT__THREAD) || WEFT__RARE(!weft__crew_ready_fast(w, &a->task))))
        return wake_and_end(l, a);
    return 0;
}

/* From any thread. */
static int send(struct weft__lane *l, weft_pid to, struct weft_msg *m)
{
    m->from = l->self ? weft__actor_pid(l->self) : 0;
    return post(l, l->worker, to, m);
}

/* From a thread, or the first of a type, a large body, an empty magazine, a mistake. */
static __attribute__((noinline)) int send_slowly(weft_pid to, weft_type *type, const void *body)
{
    struct weft__lane *l = weft__lane_need();
    int                error;

    if (!type || !type->name || (!body && type->bytes))
        return WEFT_EINVALID;
    if (!l) {
        weft__message_unsent(type, body);
        return WEFT_EMEMORY;
    }
    struct weft_msg *m = weft__message_new(l, type, body, &error);
    return m ? send(l, to, m) : error;
}

int weft_send_body(weft_pid to, weft_type *type, const void *body)
{
    struct weft__lane *l = weft__lane();

    if (WEFT__RARE(!l->worker) || WEFT__RARE(!type) || WEFT__RARE(!body))
        return send_slowly(to, type, body);
    struct weft_msg *m = weft__fast_message(l, type, body);
    if (WEFT__RARE(!m))
        return send_slowly(to, type, body);
    m->from = weft__actor_pid(l->self);
    return post(l, l->worker, to, m);
}

int weft_reply_body(const weft_msg *m, weft_type *type, const void *body)
{
    if (m)
        return weft_send_body(weft_sender(m), type, body);
    if (type)
        weft__message_unsent(type, body);
    return WEFT_EINVALID;
}

int weft_pass(weft_pid to, weft_msg *m)
{
    struct weft__lane *l = weft__lane_need();

    if (!m)
        return WEFT_EINVALID;
    if (!l) {
        weft_drop(m);
        return WEFT_EMEMORY;
    }
    weft_keep(m);
    m->flags &= ~(uint32_t)WEFT__MSG_KEPT;
    return send(l, to, m);
}
