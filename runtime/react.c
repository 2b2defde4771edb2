/* react.c - waiting without a stack: what is arranged here, loop.c carries out when the actor's code returns.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <string.h>

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

static void arrange(struct weft__actor *a, weft_handler *run, void *state, size_t n)
{
    a->type_count = (uint16_t)n;
    a->run = run;
    a->state = state;
    a->unusual |= WEFT__ARRANGED;
}

/* Several types, a time, a mistake. */
static void react_slowly(weft_span time, weft_handler *run, void *state, weft_type *const *types, size_t n)
{
    struct weft__lane  *l = weft__lane();
    struct weft__actor *a = l->self;

    if (!a || a->unusual & WEFT__THREAD)
        weft__misuse(WEFT_EINVALID, "weft_react works in spawned actors only; a thread uses weft_receive");
    if (!run || !types || n == 0 || n > UINT16_MAX)
        weft__misuse(WEFT_EINVALID, "weft_react needs a handler and at least one type");
    if (on_stack(l, a, state))
        weft__misuse(WEFT_EINVALID,
                     "weft_react: the state lies on the stack, which goes back; see weft_alloc");
    if (time.ns != INT64_MAX && !weft__actor_extra(a))
        weft__misuse(WEFT_EMEMORY, "no memory for a timer");
    if (n == 1)
        a->type = types[0];
    else if (copy_types(a, types, n) < 0)
        weft__misuse(WEFT_EMEMORY, "no memory for a list of types");
    a->unusual &= (uint8_t)~WEFT__REACT_TIMED;
    if (time.ns != INT64_MAX) {
        a->extra->react_time = time;
        a->unusual |= WEFT__REACT_TIMED;
    }
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

    if (WEFT__RARE(!a) || WEFT__RARE(a->unusual & (WEFT__THREAD | WEFT__REACT_TIMED | WEFT__SIZED)) ||
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
