/* match.c - whether a message is what an actor waits for.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A wait is for types, or for cases, or for no message (a sleep). The plain test, by types, is weft__fast_next;
 * everything else is here. Guards and projections are the user's code, run on whatever stack is at hand, with nothing
 * of the actor's moved: a message is tested where it lies and taken out afterwards.
 */
#include <string.h>
#include <weft/case.h>

#include "base/memory.h"
#include "runtime/fast.h"

enum { TYPES = 16 }; /* that a search is narrowed to; for more, all that was skipped is tested */

static void nothing(void *state, weft_msg *m)
{
    (void)state;
    (void)m;
}

/* ---- cases -------------------------------------------------------------------------------------------- */

static const weft_case *next_case(const weft_cases **set, size_t *i)
{
    while (*set && *i == (*set)->count) {
        *set = (*set)->or_else;
        *i = 0;
    }
    return *set ? &(*set)->list[(*i)++] : NULL;
}

static bool type_fits(const weft_case *c, const struct weft_msg *m)
{
    unsigned id = weft__types_id(c->type);

    return id == m->type || id == WEFT__TYPE_ANY;
}

static bool field_fits(const weft_case *c, struct weft_msg *m)
{
    size_t size = weft__types_of(m->type)->bytes;

    return c->at <= size && c->bytes <= size - c->at &&
           memcmp((char *)weft__message_body(m) + c->at, c->with, c->bytes) == 0;
}

/* Converts into a block that the caller gives back; small ones into `room`. NULL: it does not fit, or no memory. */
static void *projected(const weft_case *c, struct weft_msg *m, void *room)
{
    void *value = c->as->bytes <= WEFT__SMALL_BODY ? room : weft__memory_get(c->as->bytes);

    if (!value)
        return NULL;
    memset(value, 0, c->as->bytes);
    if (c->project(m, c->with, value))
        return value;
    if (value != room)
        weft__memory_put(value);
    return NULL;
}

static bool projects(const weft_case *c, struct weft_msg *m)
{
    _Alignas(16) unsigned char room[WEFT__SMALL_BODY];
    void                      *value = projected(c, m, room);

    if (value && value != room)
        weft__memory_put(value);
    return value;
}

static bool asks_fit(struct weft__lane *l, const weft_case *c, struct weft_msg *m)
{
    bool fits = true;

    l->guarding = true;
    if (c->when)
        fits = c->when(m, c->with);
    if (fits && c->project)
        fits = projects(c, m);
    l->guarding = false;
    return fits;
}

static bool case_fits(struct weft__lane *l, const weft_case *c, struct weft_msg *m)
{
    if (c->of.id || !type_fits(c, m) || (c->from.id && c->from.id != m->from))
        return false;
    if (c->bytes && !field_fits(c, m))
        return false;
    return !(c->when || c->project) || asks_fit(l, c, m);
}

static const weft_case *fitting_case(struct weft__lane *l, const weft_cases *set, struct weft_msg *m)
{
    const weft_case *c;

    for (size_t i = 0; (c = next_case(&set, &i));)
        if (case_fits(l, c, m))
            return c;
    return NULL;
}

/* ---- types -------------------------------------------------------------------------------------------- */

static weft_type *fitting_type(struct weft__actor *a, const struct weft_msg *m)
{
    weft_type *const *list = a->type_count == 1 ? &a->type : a->types;
    weft_type        *any = NULL;

    for (unsigned i = 0; i < a->type_count; i++) {
        unsigned id = weft__types_id(list[i]);
        if (id == m->type)
            return list[i];
        if (id == WEFT__TYPE_ANY)
            any = list[i]; /* unless a later one names it */
    }
    return any;
}

/* ---- either ------------------------------------------------------------------------------------------- */

bool weft__match_fits(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    return a->type_count ? fitting_type(a, m) != NULL : a->cases && fitting_case(l, a->cases, m);
}

/* The message becomes one of the type `as`. What it owned is destroyed. */
static struct weft_msg *convert(struct weft__lane *l, const weft_case *c, struct weft_msg *m)
{
    _Alignas(16) unsigned char room[WEFT__SMALL_BODY];

    l->guarding = true;
    void *value = projected(c, m, room);
    l->guarding = false;
    struct weft_msg *other = value ? weft__message_of(l, c->as, value) : NULL;
    if (value && value != room)
        weft__memory_put(value);
    if (!other) {
        weft__message_dead(l, m, WEFT_EMEMORY);
        return NULL;
    }
    other->from = m->from;
    other->to = m->to;
    other->flags |= m->flags & ~(uint64_t)WEFT__MSG_LARGE;
    m->flags &= ~(uint64_t)WEFT__MSG_OPEN; /* the request is the other's now */
    weft__message_drop(l, m, 0);
    return other;
}

static struct weft_msg *accept_case(struct weft__lane *l, struct weft__actor *a, const weft_case *c,
                                    struct weft_msg *m)
{
    if (c->project)
        m = convert(l, c, m);
    if (!m)
        return NULL;
    m->tag = c->project ? c->as->tag : c->type->tag;
    if (a->phase == WEFT__REACTING)
        a->run = c->run ? c->run : nothing;
    return m;
}

struct weft_msg *weft__match_accept(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    if (!a->type_count)
        return accept_case(l, a, fitting_case(l, a->cases, m), m);
    m->tag = fitting_type(a, m)->tag;
    return m;
}

/* ---- what was skipped --------------------------------------------------------------------------------- */

struct seeker {
    struct weft__lane  *l;
    struct weft__actor *a;
};

static bool fits(void *with, struct weft_msg *m)
{
    struct seeker *s = with;

    return weft__match_fits(s->l, s->a, m);
}

/* Adds a type. False: any may fit, or there are too many. */
static bool narrow(struct weft__sought *sought, uint32_t *types, weft_type *type)
{
    unsigned id = weft__types_id(type);

    if (id == WEFT__TYPE_ANY || sought->count == TYPES)
        return false;
    types[sought->count++] = id;
    return true;
}

static bool narrow_to_cases(struct weft__sought *sought, uint32_t *types, const weft_cases *set)
{
    const weft_case *c;

    for (size_t i = 0; (c = next_case(&set, &i));) {
        if (c->when || c->project || c->bytes || c->from.id)
            sought->all = false;
        if (!c->of.id && !narrow(sought, types, c->type))
            return false;
    }
    return true;
}

static bool narrow_to_types(struct weft__sought *sought, uint32_t *types, const struct weft__actor *a)
{
    weft_type *const *list = a->type_count == 1 ? &a->type : a->types;

    for (unsigned i = 0; i < a->type_count; i++)
        if (!narrow(sought, types, list[i]))
            return false;
    return true;
}

struct weft_msg *weft__match_seek(struct weft__lane *l, struct weft__actor *a, struct weft__stash *stash)
{
    uint32_t            types[TYPES];
    struct seeker       who = {l, a};
    struct weft__sought sought = {types, 0, true, fits, &who};
    uint64_t            passed = 0;
    bool                narrowed = a->type_count ? narrow_to_types(&sought, types, a)
                                                 : narrow_to_cases(&sought, types, a->cases);

    if (narrowed && !sought.count)
        return NULL; /* it waits for no message */
    if (!narrowed)
        sought.count = sought.all = 0;
    struct weft_msg *m = weft__stash_take(stash, &sought, &passed);
    if (passed && a->extra)
        a->extra->skipped += passed;
    return m;
}

struct weft_msg *weft__match_stash(struct weft__lane *l, struct weft__actor *a)
{
    struct weft_msg *m = weft__match_seek(l, a, &a->stash);

    return m ? weft__match_accept(l, a, m) : NULL;
}

static bool response_fits(const weft_case *c, const struct weft_msg *m)
{
    unsigned id = weft__types_id(c->type);

    return id == weft__message_answer_type(m) || id == WEFT__TYPE_ANY;
}

struct weft_msg *weft__match_response(struct weft__actor *a)
{
    const weft_cases *set = a->type_count ? NULL : a->cases;
    const weft_case  *c;

    for (size_t i = 0; (c = next_case(&set, &i));) {
        const struct weft_msg *there = c->of.id ? weft__request_peek(a, c->of.id) : NULL;
        if (there && response_fits(c, there)) {
            struct weft_msg *m = weft__request_take(a, c->of.id);
            m->tag = c->type->tag;
            if (a->phase == WEFT__REACTING)
                a->run = c->run ? c->run : nothing;
            return m;
        }
    }
    return NULL;
}
