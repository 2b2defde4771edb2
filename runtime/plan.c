/* plan.c - what an actor does when its code has returned and nothing is arranged: its steps, then its behaviours.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Two stacks. Steps are what and_then and loop leave for later: a function has run out when it returns with nothing
 * arranged, and then the top step goes on. Behaviours are sets of cases that serve messages when there is no step left.
 */
#include <string.h>
#include <weft/case.h>

#include "base/memory.h"
#include "runtime/fast.h"

struct step {
    weft_fn *fn;
    bool (*test)(void *state); /* it is a loop, as long as this says so */
    void *state;
    bool  loops;
};

struct behaviour {
    const weft_cases *cases;
    void             *state;
};

struct stack {
    void    *items;
    unsigned used, room;
};

struct weft__plan {
    struct stack steps, behaviours;
    weft_fn     *first; /* arranged: called when the present code returns, */
    struct step  then;  /* with this on top of the steps, if it has a function */
    void        *state;
};

/* ---- stacks of anything ------------------------------------------------------------------------------- */

static bool push(struct stack *s, const void *item, size_t bytes)
{
    if (s->used == s->room) {
        unsigned room = s->room ? s->room * 2 : 4;
        void    *items = weft__memory_get(room * bytes);
        if (!items)
            return false;
        if (s->items)
            memcpy(items, s->items, s->used * bytes);
        weft__memory_put(s->items);
        s->items = items;
        s->room = room;
    }
    memcpy((char *)s->items + s->used++ * bytes, item, bytes);
    return true;
}

static struct weft__plan *plan_of(struct weft__actor *a)
{
    struct weft__extra *x = weft__actor_extra(a);

    if (x && !x->plan && (x->plan = weft__memory_get(sizeof *x->plan)))
        memset(x->plan, 0, sizeof *x->plan);
    if (!x || !x->plan)
        weft__misuse(WEFT_EMEMORY, "no memory for what it will do next");
    return x->plan;
}

void weft__plan_end(struct weft__actor *a)
{
    struct weft__plan *p = a->extra->plan;

    weft__memory_put(p->steps.items);
    weft__memory_put(p->behaviours.items);
    weft__memory_put(p);
}

/* ---- steps -------------------------------------------------------------------------------------------- */

static struct step *top_step(struct weft__plan *p)
{
    return p->steps.used ? (struct step *)p->steps.items + p->steps.used - 1 : NULL;
}

/* Called as a handler: the function that was arranged, or the next of the steps. A test is the actor's own code, too: it
 * may wait, and end the actor. */
static void call(void *actor, weft_msg *m)
{
    struct weft__actor *a = actor;
    struct weft__plan  *p = a->extra->plan;
    weft_fn            *fn = p->first;
    struct step        *s = fn ? NULL : top_step(p);

    (void)m;
    if (fn) {
        p->first = NULL;
        fn(p->state);
        return;
    }
    struct step now = *s;
    if (!now.loops) {
        p->steps.used--;
        now.fn(now.state);
    } else if (!now.test || now.test(now.state)) {
        now.fn(now.state);
    } else {
        p->steps.used--; /* on top still: what the test arranges comes after it */
    }
}

bool weft__plan_is_due(const struct weft__actor *a) { return a->run == call; }

static enum weft__next go(struct weft__actor *a)
{
    a->run = call;
    a->state = a;
    return WEFT__STEPS;
}

static enum weft__next follow(struct weft__actor *a, struct weft__plan *p)
{
    a->unusual &= ~(uint32_t)WEFT__FOLLOWS;
    if (p->then.fn && !push(&p->steps, &p->then, sizeof p->then))
        weft__misuse(WEFT_EMEMORY, "no memory for what it will do next");
    return go(a);
}

static enum weft__next wait_by(struct weft__actor *a, const weft_cases *cases, void *state)
{
    a->cases = cases;
    a->type_count = 0;
    a->state = state;
    a->run = NULL;
    return WEFT__WAITS;
}

enum weft__next weft__plan_next(struct weft__actor *a)
{
    struct weft__plan *p = a->extra ? a->extra->plan : NULL;

    if (a->unusual & WEFT__FOLLOWS)
        return follow(a, p);
    if (p)
        p->first = NULL;      /* a later arrangement took its place */
    if (p && p->steps.used) { /* what handlers of responses do belongs to the step before */
        if (a->unusual & WEFT__THENS)
            return wait_by(a, NULL, NULL);
        return go(a);
    }
    if (p && p->behaviours.used) {
        struct behaviour *top = (struct behaviour *)p->behaviours.items + p->behaviours.used - 1;
        return wait_by(a, top->cases, top->state);
    }
    return a->unusual & WEFT__THENS ? wait_by(a, NULL, NULL) : WEFT__ENDS;
}

/* `first`, if any, is called when the present code has returned; `then` is on top of the steps by then. */
static void arrange(const char *what, weft_fn *first, struct step then)
{
    struct weft__lane *l = weft__lane();

    weft__react_check(l, what, then.state);
    if (!then.fn || (!first && !then.loops))
        weft__misuse(WEFT_EINVALID, "%s needs functions", what);
    struct weft__plan *p = plan_of(l->self);
    l->self->extra->resumes = false;
    p->first = first;
    p->state = then.state;
    p->then = then;
    l->self->unusual &= ~(uint32_t)(WEFT__ARRANGED | WEFT__REACT_TIMED |
                                    WEFT__CASES); /* the last arrangement counts */
    l->self->unusual |= WEFT__FOLLOWS | WEFT__PLANNED;
}

void weft_and_then(weft_fn *first, weft_fn *next, void *state)
{
    arrange("weft_and_then", first, (struct step){next, NULL, state, false});
}

void weft_loop(weft_fn *body, void *state)
{
    arrange("weft_loop", NULL, (struct step){body, NULL, state, true});
}

void weft_loop_while(bool (*test)(void *state), weft_fn *body, void *state)
{
    arrange("weft_loop_while", NULL, (struct step){test ? body : NULL, test, state, true});
}

/* ---- behaviours --------------------------------------------------------------------------------------- */

static void become(const char *what, const weft_cases *cases, void *state, bool keep)
{
    struct weft__lane *l = weft__lane();
    struct behaviour   b = {cases, state};

    weft__react_check(l, what, cases);
    weft__react_check(l, what, state);
    weft__match_check(what, cases);
    struct weft__plan *p = plan_of(l->self);
    l->self->extra->resumes = false;
    if (!keep && p->behaviours.used)
        p->behaviours.used--;
    if (!push(&p->behaviours, &b, sizeof b))
        weft__misuse(WEFT_EMEMORY, "no memory for a behaviour");
    l->self->unusual |= WEFT__PLANNED;
}

void weft_become(const weft_cases *cases, void *state) { become("weft_become", cases, state, false); }

void weft_become_keep(const weft_cases *cases, void *state)
{
    become("weft_become_keep", cases, state, true);
}

int weft_unbecome(void)
{
    struct weft__lane  *l = weft__lane();
    struct weft__actor *a = l->self;

    if (a && a->unusual & WEFT__CALLED)
        weft__misuse(WEFT_EINVALID, "weft_unbecome in a guard, a destroy or a deferred function");
    if (!a || !a->extra || !a->extra->plan || !a->extra->plan->behaviours.used)
        return WEFT_EINVALID;
    a->extra->resumes = false;
    a->extra->plan->behaviours.used--;
    return 0;
}
