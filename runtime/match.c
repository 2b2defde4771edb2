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

static void nothing(void *state, weft_msg *m)
{
    (void)state;
    weft_drop(m); /* nobody reads it */
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

/* What it is converted to waits in the lane until the message is accepted. */
static bool convert(struct weft__lane *l, const weft_case *c, struct weft_msg *m)
{
    struct weft_msg *other = weft__message_of(l, c->as, NULL);

    if (!other)
        return false;
    other->next = l->converted;
    l->converted = other; /* before the user's code runs, which may not come back */
    if (c->project(m, c->with, weft__message_body(other)))
        return true;
    l->converted = other->next;
    weft__message_free(l, other);
    return false;
}

static void guard(struct weft__lane *l, struct weft__actor *a, bool on)
{
    l->guarding = on;
    l->sender = on ? NULL : l->worker;
    if (on)
        a->unusual |= WEFT__CALLED; /* so that no plain path is taken */
    else
        a->unusual &= ~(uint32_t)WEFT__CALLED;
}

static bool asks_fit(struct weft__lane *l, const weft_case *c, struct weft_msg *m)
{
    struct weft__actor *a = l->self;
    bool                fits = true;

    guard(l, a, true);
    if (c->when)
        fits = c->when(m, c->with);
    if (fits && c->project)
        fits = convert(l, c, m);
    guard(l, a, false);
    return fits;
}

static void drop_all(struct weft__lane *l, struct weft_msg *list)
{
    while (list) {
        struct weft_msg *m = list;
        list = m->next;
        weft__message_drop(l, m, 0);
    }
}

void weft__match_forget(struct weft__lane *l)
{
    struct weft_msg *list = l->converted;

    guard(l, l->self, false);
    if (l->self->unusual & WEFT__BOUNDED)
        weft__bound_let_go(l->self);
    l->converted = NULL;
    drop_all(l, list); /* a body that is not filled yet is zero, and destroyed as such */
}

static bool all_fits(struct weft__lane *l, const weft_case *c, struct weft_msg *m)
{
    if (!type_fits(c, m) || (c->from.id && c->from.id != m->from))
        return false;
    if (c->bytes && !field_fits(c, m))
        return false;
    return !(c->when || c->project) || asks_fit(l, c, m);
}

static bool case_fits(struct weft__lane *l, const weft_case *c, struct weft_msg *m)
{
    return !c->of.id && all_fits(l, c, m);
}

static const weft_case *fitting_case(struct weft__lane *l, const weft_cases *set, struct weft_msg *m)
{
    const weft_case *c;

    for (size_t i = 0; (c = next_case(&set, &i));)
        if (case_fits(l, c, m))
            return l->fitting = c; /* each is asked once: so it is kept until the message is accepted */
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

/* The message becomes what it was converted to. What it owned is destroyed. */
static struct weft_msg *exchange(struct weft__lane *l, struct weft_msg *m, struct weft_msg *other)
{
    other->from = m->from;
    other->to = m->to;
    other->flags |= m->flags & (WEFT__MSG_OPEN | WEFT__MSG_URGENT);
    other->flags |= weft__message_request(m) << WEFT__MSG_NUMBER_SHIFT;
    m->flags &= ~(uint64_t)WEFT__MSG_OPEN; /* the request is the other's now */
    weft__message_drop(l, m, 0);
    return other;
}

static struct weft_msg *accept_case(struct weft__lane *l, struct weft__actor *a, const weft_case *c,
                                    struct weft_msg *m)
{
    struct weft_msg *converted = l->converted;

    l->converted = NULL;
    if (c->project) {
        struct weft_msg *first = converted;
        converted = first->next;
        m = exchange(l, m, first);
    }
    if (WEFT__RARE(converted))
        drop_all(weft__lane(), converted); /* of messages that one before them in the mailbox forestalled */
    m->tag = c->project ? c->as->tag : c->type->tag;
    if (a->phase == WEFT__REACTING)
        a->run = c->run ? c->run : nothing;
    return m;
}

struct weft_msg *weft__match_accept(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    if (!a->type_count)
        return accept_case(l, a, l->fitting, m);
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

static void seek_type(struct weft__sought *sought, weft_type *type, bool sure)
{
    unsigned id = weft__types_id(type);

    if (id == WEFT__TYPE_ANY)
        sought->any = true;
    weft__stash_seek(sought->types, id);
    if (!sure)
        return;
    weft__stash_seek(sought->sure, id);
    sought->mixed = true;
}

/* False: it waits for no message. */
static bool seek_cases(struct weft__sought *sought, const weft_cases *set)
{
    const weft_case *c;
    bool             some = false;

    sought->all = true;
    sought->mixed = false;
    for (size_t i = 0; (c = next_case(&set, &i));) {
        bool sure = !(c->when || c->project || c->bytes || c->from.id);
        if (c->of.id)
            continue;
        some = true;
        sought->all &= sure;
        seek_type(sought, c->type, sure);
    }
    sought->all &= !sought->any;
    sought->mixed &= !sought->all && !sought->any;
    return some;
}

static void seek_types(struct weft__sought *sought, const struct weft__actor *a)
{
    weft_type *const *list = a->type_count == 1 ? &a->type : a->types;

    for (unsigned i = 0; i < a->type_count; i++)
        seek_type(sought, list[i], true);
    sought->all = !sought->any;
    sought->mixed = false;
}

struct weft_msg *weft__match_seek(struct weft__lane *l, struct weft__actor *a, struct weft__stash *stash)
{
    struct seeker       who = {l, a};
    struct weft__sought sought = {.fits = fits, .with = &who};
    uint64_t            passed = 0;

    if (a->type_count)
        seek_types(&sought, a);
    else if (!seek_cases(&sought, a->cases))
        return NULL;
    struct weft_msg *m = weft__stash_take(stash, &sought, &passed);
    if (passed && a->extra)
        a->extra->skipped += passed;
    return m;
}

/* A wait for the one type that nothing there has need not look; that is known after the first such wait, as what is
 * skipped by it is not of that type either (wait.c). */
struct weft_msg *weft__match_stash(struct weft__lane *l, struct weft__actor *a)
{
    uint32_t         id = a->type_count == 1 ? weft__types_id(a->type) : 0;
    bool             none = id && a->extra && a->extra->none == id;
    struct weft_msg *m = none ? NULL : weft__match_seek(l, a, &a->stash);

    if (!m && id > WEFT__TYPE_ANY && a->extra)
        a->extra->none = id;
    return m ? weft__match_accept(l, a, m) : NULL;
}

/* ---- responses ---------------------------------------------------------------------------------------- */

struct weft_msg *weft__match_response(struct weft__lane *l, struct weft__actor *a, uint64_t number)
{
    const weft_cases *set = a->type_count ? NULL : a->cases;
    const weft_case  *c;

    for (size_t i = 0; (c = next_case(&set, &i));) {
        if (!c->of.id || (number && c->of.id != number))
            continue;
        struct weft_msg *there = weft__request_peek(a, c->of.id);
        if (there && all_fits(l, c, there))
            return accept_case(l, a, c, weft__request_take(a, c->of.id));
    }
    return NULL;
}

/* ---- mistakes ----------------------------------------------------------------------------------------- */

void weft__match_check(const char *call, const weft_cases *cases)
{
    enum { SETS_MAX = 10000 };
    unsigned sets = 0;

    if (!cases)
        weft__misuse(WEFT_EINVALID, "%s needs cases", call);
    for (const weft_cases *set = cases; set; set = set->or_else) {
        if (set->count && !set->list)
            weft__misuse(WEFT_EINVALID, "%s: a set of cases has no list", call);
        for (size_t i = 0; i < set->count; i++) {
            const weft_case *c = &set->list[i];
            if (!c->type || !c->type->name)
                weft__misuse(WEFT_EINVALID, "%s: a case has no type; any is WEFT_ANY", call);
            if (c->project && (!c->as || !c->as->name))
                weft__misuse(WEFT_EINVALID, "%s: a case of %s converts to no type", call, c->type->name);
            if (c->bytes && !c->with)
                weft__misuse(WEFT_EINVALID, "%s: a case of %s compares a field with nothing", call,
                             c->type->name);
        }
        if (++sets == SETS_MAX)
            weft__misuse(WEFT_EINVALID, "%s: or_else goes in a circle", call);
    }
}
