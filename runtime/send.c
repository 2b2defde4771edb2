/* send.c - from weft_send to the receiver's mailbox.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "runtime/fast.h"

/* m is gone afterwards, whatever happens. A fiber whose turn is over gives way; a handler never does, and a thread
 * has no turn. */
__attribute__((noinline)) int weft__send_end(struct weft__lane *l, int error)
{
    if (l->worker && l->worker->budget <= 0 && weft__fast_may_yield(l))
        weft__loop_give_way(l, l->self);
    return error;
}

static bool is_bounded(weft_pid to)
{
    return to.id & WEFT__KIND_BOUNDED && weft__actor_exists((weft_pid){to.id & ~WEFT__KIND_BOUNDED});
}

/* Another kind of mailbox, or nobody's. */
static int refused_quietly(struct weft__lane *l, struct weft_msg *m)
{
    weft_pid to = {m->to};

    if (is_bounded(to))
        return weft__bound_send(l, to, m);
    weft__message_dead(l, m, WEFT_EGONE);
    return WEFT_EGONE;
}

static __attribute__((noinline)) int refused(struct weft__lane *l, struct weft_msg *m)
{
    int error = refused_quietly(l, m);

    l = weft__lane();
    if (l->worker)
        l->worker->budget--;
    return weft__send_end(l, error);
}

static __attribute__((noinline)) int wake_and_end(struct weft__lane *l, struct weft__actor *a)
{
    weft__loop_wake(l, a);
    return weft__send_end(l, 0);
}

/* The usual receiver waits, and is put into the slot of the sender's worker. Everything else is called, last, so that
 * this needs no frame. */
static inline __attribute__((always_inline)) int post_here(struct weft__lane *l, struct weft__worker *w,
                                                           weft_pid to, struct weft_msg *m)
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
        return how == WEFT__MUST_WAKE ? wake_and_end(l, a) : weft__send_end(l, 0);
    if (how == WEFT__MUST_WAKE &&
        (!w || WEFT__RARE(a->unusual & WEFT__THREAD) || WEFT__RARE(!weft__crew_ready_fast(w, &a->task))))
        return wake_and_end(l, a);
    return 0;
}

/* Once for all who are not the plain ways. */
static __attribute__((noinline)) int post(struct weft__lane *l, struct weft__worker *w, weft_pid to,
                                          struct weft_msg *m)
{
    return post_here(l, w, to, m);
}

int weft__send(struct weft__lane *l, weft_pid to, struct weft_msg *m)
{
    return post_here(l, l->worker, to, m);
}

int weft__send_directly(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    enum weft__push how = weft__inbox_push(&a->box, &a->in, m, weft__actor_generation(m->to));

    if (how == WEFT__MUST_WAKE)
        weft__loop_wake(l, a);
    return how == WEFT__REFUSED ? WEFT_EGONE : 0;
}

int weft__send_quietly(struct weft__lane *l, weft_pid to, struct weft_msg *m)
{
    m->to = to.id;
    if (!weft__actor_exists(to))
        return refused_quietly(l, m);
    struct weft__actor *a = weft__actor_block(to);
    if (weft__actor_pid(a) != to.id || weft__send_directly(l, a, m) < 0) {
        weft__message_dead(l, m, WEFT_EGONE);
        return WEFT_EGONE;
    }
    return 0;
}

int weft__send_put(struct weft__lane *l, weft_pid to, struct weft_msg *m, struct weft_msg **dropped)
{
    m->to = to.id;
    if (is_bounded(to))
        return weft__bound_put(l, to, m, dropped);
    struct weft__actor *a = weft__actor_exists(to) ? weft__actor_block(to) : NULL;
    return a && weft__actor_pid(a) == to.id ? weft__send_directly(l, a, m) : WEFT_EGONE;
}

static uint64_t self_of(const struct weft__lane *l) { return l->self ? weft__actor_pid(l->self) : 0; }

/* From any thread. */
static int send(struct weft__lane *l, weft_pid to, struct weft_msg *m)
{
    m->from = self_of(l);
    return post(l, l->worker, to, m);
}

/* A message with a body of the user's, from any thread. NULL, and *error: what the body owned is destroyed. */
static struct weft_msg *message(struct weft__lane **l, weft_type *type, const void *body, int *error)
{
    *l = weft__lane_need();
    if (*l)
        weft__send_check(*l);
    *error = WEFT_EINVALID;
    if (!type || !type->name || (!body && type->bytes))
        return NULL;
    *error = WEFT_EMEMORY;
    if (*l)
        return weft__message_new(*l, type, body, error);
    weft__message_unsent(type, body);
    return NULL;
}

/* From a thread, or the first of a type, a large body, an empty magazine, a mistake. */
static __attribute__((noinline)) int send_slowly(weft_pid to, weft_type *type, const void *body)
{
    struct weft__lane *l;
    int                error;
    struct weft_msg   *m = message(&l, type, body, &error);

    return m ? send(l, to, m) : error;
}

int weft_send_body(weft_pid to, weft_type *type, const void *body)
{
    struct weft__lane *l = weft__lane();

    if (WEFT__RARE(!l->sender) || WEFT__RARE(!type) || WEFT__RARE(!body))
        return send_slowly(to, type, body);
    struct weft_msg *m = weft__fast_message(l, type, body);
    if (WEFT__RARE(!m))
        return send_slowly(to, type, body);
    m->from = weft__actor_pid(l->self);
    return post_here(l, l->sender, to, m);
}

int weft_send_as_body(weft_pid from, weft_pid to, weft_type *type, const void *body)
{
    struct weft__lane *l;
    int                error;
    struct weft_msg   *m = message(&l, type, body, &error);

    if (!m)
        return error;
    m->from = from.id;
    return post(l, l->worker, to, m);
}

size_t weft_send_many_body(const weft_pid *to, size_t n, weft_type *type, const void *body)
{
    struct weft__lane *l;
    int                error;
    size_t             sent = 0;
    struct weft_msg   *m = message(&l, type, body, &error);

    if (!m)
        return 0;
    m->from = self_of(l);
    m->tag = 0;
    if (l->self)
        weft__message_hold(l->self, m); /* the actor may end while it gives way */
    for (size_t i = 0; to && i < n && weft__message_is_sharable(m); i++) {
        struct weft_msg *copy = weft__message_copy(l, m);
        if (copy && weft__send(l, to[i], copy) == 0)
            sent++;
        l = weft__lane(); /* it may have given way */
    }
    weft__message_unhold(m);
    weft__message_drop(l, m, 0);
    return sent;
}

/* ---- urgent: marked in `to`, until it is taken ---------------------------------------------------------- */

int weft_send_urgent_body(weft_pid to, weft_type *type, const void *body)
{
    struct weft__lane *l;
    int                error;
    struct weft_msg   *m = message(&l, type, body, &error);

    if (!m)
        return error;
    m->from = self_of(l);
    m->flags |= WEFT__MSG_URGENT;
    m->to = to.id | WEFT__INBOX_URGENT;
    struct weft__actor *a = weft__actor_exists(to) ? weft__actor_block(to) : NULL;
    if (!a || weft__actor_pid(a) != to.id || weft__send_directly(l, a, m) < 0) {
        m->to = to.id;
        return refused(l, m);
    }
    /* release = U (wait.c): the push comes before; an exchange, so that it holds for all who tell. Where it was taken
     * already, this costs its reader, or the slot's next, one look more. */
    atomic_exchange_explicit(&a->urgent, 1, memory_order_release);
    if (l->worker)
        l->worker->budget--;
    return weft__send_end(l, 0);
}

/* ---- replies, and messages that are moved --------------------------------------------------------------- */

/* Where a reply goes, and as what. */
struct way {
    weft_pid to;
    uint64_t number; /* of the request; 0: it is none */
    bool     open;   /* which was not answered yet */
};

static inline struct way way_back(const weft_msg *m)
{
    weft__message_must_live(m);
    return (struct way){{m->from}, weft__message_request(m), m->flags & WEFT__MSG_OPEN};
}

/* The receiver's own message, in all but the name. */
static inline void close_request(const weft_msg *m) { ((weft_msg *)m)->flags &= ~(uint64_t)WEFT__MSG_OPEN; }

/* To an open request. */
static inline int respond(struct weft__lane *l, struct way way, struct weft_msg *m)
{
    m->from = self_of(l);
    weft__message_address(m, WEFT__TYPE_RESPONSE, way.number);
    return post(l, l->worker, way.to, m);
}

static int reply(struct weft__lane *l, struct way way, struct weft_msg *m)
{
    if (way.open)
        return respond(l, way, m);
    m->from = self_of(l);
    if (!way.number)
        return post(l, l->worker, way.to, m);
    m->to = way.to.id; /* it was answered before */
    weft__message_dead(l, m, WEFT_EGONE);
    return weft__send_end(weft__lane(), WEFT_EGONE);
}

/* Not plainly to an open request, nor to who sent something else. */
static __attribute__((noinline)) int reply_slowly(const weft_msg *to, weft_type *type, const void *body)
{
    struct weft__lane *l;
    int                error = WEFT_EINVALID;

    if (!to && type)
        weft__message_unsent(type, body);
    if (!to)
        return error;
    struct way       way = way_back(to);
    struct weft_msg *m = message(&l, type, body, &error);
    if (!m)
        return error;
    close_request(to);
    return reply(l, way, m);
}

int weft_reply_body(const weft_msg *m, weft_type *type, const void *body)
{
    struct weft__lane *l = weft__lane();

    if (WEFT__RARE(!m) || WEFT__RARE(!type) || WEFT__RARE(!body) || WEFT__RARE(!l->sender))
        return reply_slowly(m, type, body);
    struct way way = way_back(m);
    if (!way.number)
        return weft_send_body(way.to, type, body);
    struct weft_msg *answer = WEFT__LIKELY(way.open) ? weft__fast_message(l, type, body) : NULL;
    if (WEFT__RARE(!answer))
        return reply_slowly(m, type, body);
    close_request(m);
    answer->from = weft__actor_pid(l->self);
    weft__message_address(answer, WEFT__TYPE_RESPONSE, way.number);
    return post_here(l, l->sender, way.to, answer);
}

/* m, whoever had it, is the runtime's. NULL: there is no m, or no memory. */
static struct weft__lane *claim(weft_msg *m, int *error)
{
    struct weft__lane *l = weft__lane_need();

    *error = m ? WEFT_EMEMORY : WEFT_EINVALID;
    if (!m)
        return NULL;
    if (!l || m->flags & WEFT__MSG_FIXED) {
        weft_drop(m);
        return NULL;
    }
    weft__send_check(l);
    weft__message_claim(l, m);
    m->flags &= ~(uint64_t)WEFT__MSG_URGENT;
    return l;
}

int weft__send_claim(struct weft__lane **l, weft_msg *m)
{
    int error;

    *l = claim(m, &error);
    if (!*l)
        return error;
    weft__request_abandon(*l, m);                /* it tells who sent it */
    if (WEFT__RARE(m->flags & WEFT__MSG_OPEN)) { /* no memory for that: m itself is the answer */
        weft__message_drop(*l, m, WEFT_EDROPPED);
        return WEFT_EMEMORY;
    }
    m->from = self_of(*l);
    return 0;
}

int weft_pass(weft_pid to, weft_msg *m)
{
    struct weft__lane *l;
    int                error = weft__send_claim(&l, m);

    return error ? error : post(l, l->worker, to, m);
}

int weft_forward(weft_pid to, weft_msg *m)
{
    int                error;
    struct weft__lane *l = claim(m, &error);

    return l ? post(l, l->worker, to, m) : error;
}

int weft_reply_pass(const weft_msg *to, weft_msg *m)
{
    struct weft__lane *l;
    struct way         way = {0};
    int                error;

    if (to)
        way = way_back(to);
    if (to == m && m)
        m->flags &= WEFT__MSG_FLAGS &
                    ~(uint64_t)WEFT__MSG_OPEN; /* it is no request any more, but the answer */
    error = weft__send_claim(&l, m);
    if (error)
        return error;
    if (!to) {
        weft__message_drop(l, m, WEFT_EDROPPED);
        return WEFT_EINVALID;
    }
    if (to != m)
        close_request(to);
    return reply(l, way, m);
}
