/* message.c - making, reading and dropping messages.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <string.h>

#include "base/memory.h"
#include "runtime/fast.h"

static int large_body(struct weft_msg *m, size_t bytes, const void *body)
{
    if (bytes > WEFT__BODY_MAX)
        return WEFT_ESIZE;
    m->large = weft__memory_get(sizeof *m->large + bytes);
    if (!m->large)
        return WEFT_EMEMORY;
    m->large->bytes = bytes;
    m->flags = WEFT__MSG_LARGE;
    memcpy(m->large + 1, body, bytes);
    return 0;
}

/* A send takes what the body owns, also one that fails. */
void weft__message_unsent(const weft_type *type, const void *body)
{
    if (!type->destroy || !body)
        return;
    struct weft__lane *l = weft__lane_need();
    if (l)
        l->destroying++;
    type->destroy((void *)body);
    if (l)
        l->destroying--;
}

/* What weft__fast_message does not do. */
struct weft_msg *weft__message_new(struct weft__lane *l, weft_type *type, const void *body, int *error)
{
    unsigned         id = weft__types_id(type);
    struct weft_msg *m = id ? weft__cells_get(&l->messages, &weft__messages) : NULL;

    *error = m ? 0 : WEFT_EMEMORY;
    if (m) {
        m->type = id;
        m->request = 0;
        m->flags = 0;
        if (type->bytes > WEFT__SMALL_BODY)
            *error = large_body(m, type->bytes, body);
        else if (type->bytes)
            memcpy(m->small, body, type->bytes);
    }
    if (!*error)
        return m;
    if (m)
        weft__cells_put(&l->messages, &weft__messages, m);
    weft__message_unsent(type, body);
    return NULL;
}

/* The memory only: its body was read, or handed over. */
static void give_back(struct weft__lane *l, struct weft_msg *m)
{
    if (m->flags & WEFT__MSG_LARGE)
        weft__memory_put(m->large);
    m->type = WEFT__MSG_FREE;
    weft__cells_put(&l->messages, &weft__messages, m);
}

static void destroy_body(struct weft_msg *m) { weft__types_destroy(m->type, weft__message_body(m)); }

void weft__message_free(struct weft__lane *l, struct weft_msg *m) { give_back(l, m); }

void weft__message_dead(struct weft__lane *l, struct weft_msg *m)
{
    weft__lane_count(&l->dead_letters);
    destroy_body(m);
    give_back(weft__lane(), m);
}

static void must_live(const weft_msg *m)
{
    if (WEFT__RARE(m->type == WEFT__MSG_FREE))
        weft__misuse(WEFT_EINVALID, "a message was used after the next receive; weft_keep it");
}

int weft_tag(const weft_msg *m) { return m ? m->tag : WEFT_TIMEOUT; }

const char *weft_name(const weft_msg *m)
{
    if (!m)
        return "WEFT_TIMEOUT";
    must_live(m);
    return weft__types_of(m->type)->name;
}

weft_pid weft_sender(const weft_msg *m)
{
    if (!m)
        return WEFT_NOBODY;
    must_live(m);
    return (weft_pid){m->from};
}

bool weft_is_type(const weft_msg *m, weft_type *type) { return m && m->type == weft__types_id(type); }

static __attribute__((noinline)) void *body_of_another(weft_msg *m, weft_type *type)
{
    if (m && m->type == weft__types_id(type))
        return weft__message_body(m);
    if (!m)
        weft__misuse(WEFT_ETYPE, "the body of %s was asked for, but the time was over: no message",
                     type->name);
    must_live(m);
    weft__misuse(WEFT_ETYPE, "the body of %s was asked for, but the message is %s", type->name, weft_name(m));
}

static inline void *body_of(weft_msg *m, weft_type *type)
{
    /* relaxed: only compared. 0, a type that this file has not used before, is the number of no message. */
    if (WEFT__RARE(!m || m->type != __atomic_load_n(&type->id, __ATOMIC_RELAXED)))
        return body_of_another(m, type);
    return weft__message_body(m);
}

void *weft_body_edit(weft_msg *m, weft_type *type) { return body_of(m, type); }

const void *weft_body(const weft_msg *m, weft_type *type) { return body_of((weft_msg *)m, type); }

weft_msg *weft_make_body(weft_type *type, const void *body)
{
    struct weft__lane *l = weft__lane_need();
    int                error;
    weft_msg *m = l && type && (body || !type->bytes) ? weft__message_new(l, type, body, &error) : NULL;

    if (!m)
        return NULL;
    m->to = m->from = 0;
    m->tag = type->tag;
    m->flags |= WEFT__MSG_KEPT;
    return m;
}

weft_msg *weft_keep(weft_msg *m)
{
    if (!m)
        return NULL;
    must_live(m);
    if (!(m->flags & WEFT__MSG_KEPT)) {
        struct weft__lane *l = weft__lane();
        m->flags |= WEFT__MSG_KEPT;
        if (l->self && l->self->current == m)
            l->self->current = NULL;
    }
    return m;
}

void weft_drop(weft_msg *m)
{
    if (!m)
        return;
    must_live(m);
    struct weft__lane *l = weft__lane_need();
    if (l && l->self && l->self->current == m)
        l->self->current = NULL;
    destroy_body(m);
    if (l) /* a thread that has no memory for its first steps loses a cell */
        give_back(weft__lane(), m);
}
