/* message.c - making, reading, sharing and dropping messages.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <string.h>
#include <weft/letters.h>

#include "base/memory.h"
#include "runtime/fast.h"

static void fill(void *to, const void *body, size_t bytes)
{
    if (body)
        memcpy(to, body, bytes);
    else
        memset(to, 0, bytes);
}

static int large_body(struct weft_msg *m, size_t bytes, const void *body)
{
    if (bytes > WEFT__BODY_MAX)
        return WEFT_ESIZE;
    m->large = weft__memory_get(sizeof *m->large + bytes);
    if (!m->large)
        return WEFT_EMEMORY;
    m->large->bytes = bytes;
    atomic_init(&m->large->shares, 1);
    m->flags = WEFT__MSG_LARGE;
    fill(m->large + 1, body, bytes);
    return 0;
}

/* A send takes what the body owns, also one that fails. */
void weft__message_unsent(const weft_type *type, const void *body)
{
    if (type->destroy && body)
        weft__types_call(type->destroy, (void *)body);
}

/* What weft__fast_message does not do. */
struct weft_msg *weft__message_new(struct weft__lane *l, weft_type *type, const void *body, int *error)
{
    unsigned         id = weft__types_id(type);
    bool             any = id == WEFT__TYPE_ANY; /* that is no message */
    struct weft_msg *m = id && !any ? weft__cells_get(&l->messages, &weft__messages) : NULL;

    *error = m ? 0 : any ? WEFT_EINVALID : WEFT_EMEMORY;
    if (m) {
        m->type = id;
        m->flags = 0;
        if (type->bytes > WEFT__SMALL_BODY)
            *error = large_body(m, type->bytes, body);
        else if (type->bytes)
            fill(m->small, body, type->bytes);
    }
    if (!*error)
        return m;
    if (m)
        weft__cells_put(&l->messages, &weft__messages, m);
    weft__message_unsent(type, body);
    return NULL;
}

struct weft_msg *weft__message_of(struct weft__lane *l, weft_type *type, const void *body)
{
    int error;

    return weft__message_new(l, type, body, &error);
}

size_t weft__message_bytes(const struct weft_msg *m)
{
    return m->flags & WEFT__MSG_LARGE ? m->large->bytes : weft__types_of(m->type)->bytes;
}

/* ---- the end of a message ----------------------------------------------------------------------------- */

/* True: this message was the last to have it. */
static bool let_go(struct weft__body *body)
{
    return atomic_fetch_sub_explicit(&body->shares, 1, memory_order_acq_rel) == 1; /* see message.h */
}

static void destroy_body(struct weft_msg *m) { weft__types_destroy(m->type, weft__message_body(m)); }

struct weft_msg **weft__message_carried(struct weft_msg *m)
{
    bool may = m->type == WEFT__TYPE_DOWN || m->type == WEFT__TYPE_EXIT || m->type == WEFT__TYPE_SIGNAL;

    return may && m->flags & WEFT__MSG_LARGE ? &((struct weft__carrier *)(m->large + 1))->carried : NULL;
}

/* m has it no more. */
static void leave_body(struct weft__lane *l, struct weft_msg *m)
{
    struct weft_msg **carried = weft__message_carried(m);

    if (!let_go(m->large))
        return;
    if (carried && *carried)
        weft__message_free(l, *carried);
    weft__memory_put(m->large);
}

static void free_body(struct weft__lane *l, struct weft_msg *m)
{
    if (m->flags & WEFT__MSG_LARGE)
        leave_body(l, m);
    m->flags &= ~(uint64_t)WEFT__MSG_LARGE;
}

/* A dead letter takes along the message that it is about, unless that was kept or given away. */
static void end_letter(struct weft__lane *l, struct weft_msg *m)
{
    struct weft_dead_letter *letter = weft__message_body(m);

    m->flags &= ~(uint64_t)WEFT__MSG_LETTER;
    if (letter->message)
        weft__message_drop(l, letter->message, WEFT_EDROPPED);
}

/* The request becomes its own answer: that needs no memory. */
static void fail(struct weft__lane *l, struct weft_msg *m, int why)
{
    weft_pid asker = {m->from};

    uint64_t number = weft__message_request(m);

    m->from = 0;
    m->type = WEFT__TYPE_FAILED;
    m->flags = 0;
    weft__message_address(m, WEFT__TYPE_RESPONSE, number);
    memcpy(m->small, &why, sizeof why);
    weft__send_quietly(l, asker, m);
}

/* The memory only: its body was read, handed over, or destroyed. */
static void give_back(struct weft__lane *l, struct weft_msg *m, int why)
{
    if (m->flags & WEFT__MSG_FIXED)
        return;
    if (m->flags & WEFT__MSG_LETTER)
        end_letter(l, m);
    free_body(l, m);
    if (m->flags & WEFT__MSG_OPEN) {
        fail(l, m, why);
        return;
    }
    m->type = WEFT__MSG_FREE;
    weft__cells_put(&l->messages, &weft__messages, m);
}

void weft__message_end(struct weft__lane *l, struct weft_msg *m, int why) { give_back(l, m, why); }

void weft__message_free(struct weft__lane *l, struct weft_msg *m) { give_back(l, m, WEFT_EDROPPED); }

void weft__message_drop(struct weft__lane *l, struct weft_msg *m, int why)
{
    destroy_body(m);
    give_back(weft__lane_need() ? weft__lane() : l, m,
              why); /* who destroys may have made this thread an actor */
}

void weft__message_dead(struct weft__lane *l, struct weft_msg *m, int why)
{
    bool counts = !(m->flags & WEFT__MSG_TIME);

    if (m->type == WEFT__TYPE_BELL)
        return; /* its gate's */
    if (m->type == WEFT__TYPE_SIGNAL) {
        weft__bonds_refuse(l, m, WEFT_EGONE, NULL);
        return;
    }
    if (m->type == WEFT__TYPE_RESPONSE)
        weft__request_name(m);
    if (counts) {
        weft__lane_count(&l->dead_letters);
        if (WEFT__RARE(weft__letters_send(l, m, why)))
            return;
    }
    weft__message_drop(l, m, why == WEFT_EFULL ? why : WEFT_EGONE);
}

/* ---- messages that the user owns ---------------------------------------------------------------------- */

void weft__message_hold(struct weft__actor *a, struct weft_msg *m)
{
    struct weft__extra *x = a ? weft__actor_extra(a) : NULL;

    m->flags |= WEFT__MSG_KEPT;
    if (!x)
        return; /* a thread that is no actor, or no memory: nobody looks after it */
    m->flags |= WEFT__MSG_LISTED;
    m->next = x->held;
    m->held_by = &x->held;
    if (m->next)
        m->next->held_by = &m->next;
    x->held = m;
}

void weft__message_unhold(struct weft_msg *m)
{
    if (m->flags & WEFT__MSG_LISTED) {
        *m->held_by = m->next;
        if (m->next)
            m->next->held_by = m->held_by;
    }
    m->flags &= ~(uint64_t)(WEFT__MSG_KEPT | WEFT__MSG_LISTED);
}

/* Whoever had it has it no more. */
void weft__message_claim(struct weft__lane *l, struct weft_msg *m)
{
    weft__message_must_live(m);
    struct weft__actor *a = l->self;

    if (a && a->current == m)
        a->current = NULL;
    else if (a && a->extra && a->extra->answer == m)
        a->extra->answer = NULL;
    if (m->flags & WEFT__MSG_ENCLOSED) {
        ((struct weft_dead_letter *)weft__message_body(m->next))->message = NULL;
        m->flags &= ~(uint64_t)WEFT__MSG_ENCLOSED;
    }
    weft__message_unhold(m);
}

/* ---- reading ------------------------------------------------------------------------------------------ */

int weft_tag(const weft_msg *m) { return m ? m->tag : WEFT_TIMEOUT; }

const char *weft_name(const weft_msg *m)
{
    if (!m)
        return "WEFT_TIMEOUT";
    weft__message_must_live(m);
    return weft__types_of(m->type)->name;
}

weft_pid weft_sender(const weft_msg *m)
{
    if (!m)
        return WEFT_NOBODY;
    weft__message_must_live(m);
    return (weft_pid){m->from};
}

bool weft_is_type(const weft_msg *m, weft_type *type)
{
    /* relaxed: only compared. */
    return m && (m->type == __atomic_load_n(&type->id, __ATOMIC_RELAXED) || m->type == weft__types_id(type));
}

static __attribute__((noinline)) void *body_of_another(weft_msg *m, weft_type *type)
{
    if (m && m->type == weft__types_id(type))
        return weft__message_body(m);
    if (!m)
        weft__misuse(WEFT_ETYPE, "the body of %s was asked for, but the time was over: no message",
                     type->name);
    weft__message_must_live(m);
    weft__misuse(WEFT_ETYPE, "the body of %s was asked for, but the message is %s", type->name, weft_name(m));
}

static inline void *body_of(weft_msg *m, weft_type *type)
{
    /* relaxed: only compared. 0, a type that this file has not used before, is the number of no message. */
    if (WEFT__RARE(!m || m->type != __atomic_load_n(&type->id, __ATOMIC_RELAXED)))
        return body_of_another(m, type);
    return weft__message_body(m);
}

const void *weft_body(const weft_msg *m, weft_type *type) { return body_of((weft_msg *)m, type); }

/* Others have the body too: this one gets its own. Who is the last of them by now need not. False: no memory. */
static bool unshare(struct weft_msg *m)
{
    struct weft__body *mine, *shared = m->large;

    /* acquire: pairs with let_go; what the others read they have read. */
    if (atomic_load_explicit(&shared->shares, memory_order_acquire) == 1)
        return true;
    mine = weft__memory_get(sizeof *mine + shared->bytes);
    if (!mine)
        return false;
    memcpy(mine + 1, shared + 1, shared->bytes);
    mine->bytes = shared->bytes;
    atomic_init(&mine->shares, 1);
    leave_body(weft__lane(), m);
    m->large = mine;
    if (weft__message_carried(m))
        *weft__message_carried(m) = NULL; /* that has one owner */
    return true;
}

void *weft_body_edit(weft_msg *m, weft_type *type)
{
    void *body = body_of(m, type);

    if (!(m->flags & WEFT__MSG_LARGE))
        return body;
    return unshare(m) ? m->large + 1 : NULL;
}

/* ---- owning ------------------------------------------------------------------------------------------- */

weft_msg *weft_make_body(weft_type *type, const void *body)
{
    struct weft__lane *l = weft__lane_need();
    weft_msg          *m = l && type && (body || !type->bytes) ? weft__message_of(l, type, body) : NULL;

    if (!m)
        return NULL;
    m->from = 0;
    m->tag = type->tag;
    weft__message_hold(l->self, m);
    return m;
}

weft_msg *weft_keep(weft_msg *m)
{
    if (!m)
        return NULL;
    weft__message_must_live(m);
    if (!(m->flags & (WEFT__MSG_KEPT | WEFT__MSG_FIXED))) {
        struct weft__lane *l = weft__lane();
        weft__message_claim(l, m);
        weft__message_hold(l->self, m);
    }
    return m;
}

struct weft_msg *weft__message_copy(struct weft__lane *l, const struct weft_msg *m)
{
    struct weft_msg *copy = weft__cells_get(&l->messages, &weft__messages);

    if (!copy)
        return NULL;
    copy->type = m->type;
    copy->tag = m->tag;
    copy->from = m->from;
    copy->flags = m->flags & WEFT__MSG_LARGE;
    memcpy(copy->small, m->small, sizeof m->small); /* or the address of the shared body */
    if (copy->flags)
        atomic_fetch_add_explicit(&m->large->shares, 1, memory_order_relaxed); /* see message.h */
    return copy;
}

bool weft__message_is_sharable(const struct weft_msg *m)
{
    return !weft__types_owns(m->type) && !(m->flags & WEFT__MSG_LETTER);
}

weft_msg *weft_share(weft_msg *m)
{
    if (!m)
        return NULL;
    weft__message_must_live(m);
    struct weft__lane *l = weft__lane_need();
    weft_msg          *copy = l && weft__message_is_sharable(m) ? weft__message_copy(l, m) : NULL;
    if (copy)
        weft__message_hold(l->self, copy);
    return copy;
}

void weft_drop(weft_msg *m)
{
    if (!m)
        return;
    weft__message_must_live(m);
    struct weft__lane *l = weft__lane_need();
    if (!l) { /* a thread that has no memory for its first steps loses a cell */
        destroy_body(m);
        return;
    }
    weft__message_claim(l, m);
    weft__message_drop(l, m, WEFT_EDROPPED);
}
