/* react.c - waiting without a stack: what is arranged here, loop.c carries out when the actor's code returns.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <string.h>
#include <weft/case.h>

#include "base/memory.h"
#include "runtime/fast.h"

/* The caller's list is gone when its block ends: several types are copied, into a buffer that is used again. */
static int copy_types(struct weft__actor *a, weft_type *const *types, size_t n)
{
    struct weft__extra *x = weft__actor_extra(a);

    if (!x)
        return WEFT_EMEMORY;
    if (x->list_room < n) {
        weft_type **list = weft__memory_get(n * sizeof *list);
        if (!list)
            return WEFT_EMEMORY;
        weft__memory_put(x->list);
        x->list = list;
        x->list_room = n;
    }
    memcpy(x->list, types, n * sizeof *types);
    a->types = x->list;
    return 0;
}

static bool on_stack(struct weft__lane *l, struct weft__actor *a, const void *state)
{
    const struct weft__stack *s = a->stack ? a->stack : l->spare;

    return (const char *)state >= s->low && (const char *)state < s->top;
}

/* Stacks are aligned to their size: what differs from here in low bits only is on this one, or in its guard. */
static inline bool near_here(const struct weft__lane *l, const void *state)
{
    return ((uintptr_t)state ^ (uintptr_t)weft__fast_stack_pointer()) < l->stack_bytes;
}

void weft__react_check(struct weft__lane *l, const char *call, const void *state)
{
    if (!l->self || l->self->unusual & WEFT__THREAD)
        weft__misuse(WEFT_EINVALID, "%s works in spawned actors only; a thread uses weft_receive", call);
    if (l->self->unusual & WEFT__CALLED)
        weft__misuse(WEFT_EINVALID, "%s in a guard, a destroy or a deferred function", call);
    if (on_stack(l, l->self, state))
        weft__misuse(WEFT_EINVALID, "%s: what it is given lies on the stack, which goes back; see weft_alloc",
                     call);
}

/* Counted from when it takes effect. */
static void set_time(struct weft__actor *a, weft_span time)
{
    a->unusual &= ~(uint32_t)(WEFT__REACT_TIMED | WEFT__FOLLOWS | WEFT__CASES);
    if (a->extra)
        a->extra->resumes = false; /* a new wait, whatever it is for */
    if (time.ns == INT64_MAX)
        return;
    if (!weft__actor_extra(a))
        weft__misuse(WEFT_EMEMORY, "no memory for a timer");
    a->extra->react_time = time.ns > 0 ? time.ns : 0;
    a->unusual |= WEFT__REACT_TIMED;
}

static void arrange(struct weft__actor *a, weft_handler *run, void *state, size_t n)
{
    a->type_count = (uint8_t)n;
    a->run = run;
    a->state = state;
    a->unusual |= WEFT__ARRANGED;
}

/* Several types, a time, a mistake. */
static void react_slowly(weft_span time, weft_handler *run, void *state, weft_type *const *types, size_t n)
{
    struct weft__lane  *l = weft__lane();
    struct weft__actor *a = l->self;

    weft__react_check(l, "weft_react", state);
    if (!run || !types || n == 0 || n > UINT8_MAX)
        weft__misuse(WEFT_EINVALID, "weft_react needs a handler and at least one type");
    for (size_t i = 0; i < n; i++)
        if (!types[i])
            weft__misuse(WEFT_EINVALID, "weft_react: a type is missing");
    if (n == 1)
        a->type = types[0];
    else if (copy_types(a, types, n) < 0)
        weft__misuse(WEFT_EMEMORY, "no memory for a list of types");
    set_time(a, time);
    arrange(a, run, state, n);
}

/* A function of its own, so that weft_react_type has no frame. */
static __attribute__((noinline)) void react_type_slowly(weft_handler *run, void *state, weft_type *type)
{
    react_slowly(WEFT_FOREVER, run, state, type ? &type : NULL, 1);
}

void weft_react_type(weft_handler *run, void *state, weft_type *type)
{
    struct weft__lane  *l = weft__lane();
    struct weft__actor *a = l->self;

    if (WEFT__RARE(!a) ||
        WEFT__RARE(a->unusual & (WEFT__THREAD | WEFT__CALLED | WEFT__REACT_TIMED | WEFT__SIZED |
                                 WEFT__FOLLOWS | WEFT__CASES)) ||
        WEFT__RARE(!run) || WEFT__RARE(!type) || WEFT__RARE(near_here(l, state))) {
        react_type_slowly(run, state, type);
        return;
    }
    a->type = type;
    arrange(a, run, state, 1);
}

void weft_react_types(weft_span time, weft_handler *run, void *state, weft_type *const *types, size_t n)
{
    react_slowly(time, run, state, types, n);
}

static void end(void *state, weft_msg *m)
{
    (void)state;
    (void)m;
}

void weft_react_case_within(weft_span time, weft_handler *late, const weft_cases *cases, void *state)
{
    struct weft__lane *l = weft__lane();

    weft__react_check(l, "weft_react_case", state);
    weft__react_check(l, "weft_react_case", cases);
    weft__match_check("weft_react_case", cases);
    l->self->cases = cases;
    set_time(l->self, time);
    l->self->unusual |= WEFT__CASES;
    arrange(l->self, late ? late : end, state, 0); /* the case that matches puts its own handler there */
}

void weft_react_case(const weft_cases *cases, void *state)
{
    weft_react_case_within(WEFT_FOREVER, NULL, cases, state);
}
