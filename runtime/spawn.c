/* spawn.c - making actors, and what one may ask of itself.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <string.h>

#include "base/memory.h"
#include "runtime/fast.h"

static int give_name(struct weft__actor *a, const char *name)
{
    struct weft__extra *x = weft__actor_extra(a);
    size_t              size = strlen(name) + 1;

    if (!x || !(x->name = weft__memory_get(size)))
        return WEFT_EMEMORY;
    memcpy(x->name, name, size);
    return weft_register(name, (weft_pid){weft__actor_pid(a)});
}

static int give_stack(struct weft__lane *l, struct weft__actor *a, size_t bytes)
{
    int                 size_class = weft__stack_class(bytes);
    struct weft__extra *x = size_class < 0 ? NULL : weft__actor_extra(a);

    if (size_class < 0)
        return WEFT_EINVALID;
    if (!x)
        return WEFT_EMEMORY;
    x->stack_class = (unsigned)size_class;
    a->unusual |= WEFT__SIZED;
    a->stack = weft__stack_get(&l->stacks, (unsigned)size_class);
    return a->stack ? 0 : WEFT_ESTACK;
}

static int give_copy(struct weft__lane *l, struct weft__actor *a, size_t bytes)
{
    void *copy = weft__actor_own(l, a, bytes);

    if (!copy)
        return WEFT_EMEMORY;
    a->state = memcpy(copy, a->state, bytes);
    return 0;
}

static void unmake(struct weft__lane *l, struct weft__actor *a, int error)
{
    if (a->stack)
        weft__stack_put(&l->stacks, a->stack);
    a->stack = NULL;
    a->reason = error;
    weft__actor_end(l, a);
    l->spawn_error = error;
}

/* False: nothing is left of it. */
static __attribute__((noinline)) bool equip(struct weft__lane *l, struct weft__actor *a,
                                            const weft_options *how)
{
    int error = 0;

    if (how->copy_bytes)
        error = give_copy(l, a, how->copy_bytes);
    if (!error && how->stack_bytes)
        error = give_stack(l, a, how->stack_bytes);
    if (!error && how->bound)
        error = weft__bound_give(a, how->bound);
    if (!error && how->name) /* others may find it from now on */
        error = give_name(a, how->name);
    if (!error && (how->link || how->monitor)) /* last: that would tell the caller */
        error = weft__bonds_give(l, l->self, a, how->link, how->monitor);
    if (error)
        unmake(l, a, error);
    return !error;
}

static weft_pid make(struct weft__lane *l, weft_fn *fn, void *arg, const weft_options *how)
{
    bool                no_stack = l->worker && WEFT__RARE(weft__stack_short(l->stack_class));
    struct weft__actor *a = no_stack ? NULL : weft__actor_new(l, fn, arg, 0);

    if (WEFT__RARE(!a)) {
        l->spawn_error = no_stack ? WEFT_ESTACK : WEFT_EMEMORY;
        return WEFT_NOBODY;
    }
    if (how && !equip(l, a, how))
        return WEFT_NOBODY;
    weft_pid pid = {weft__actor_pid(a)};
    if (!l->worker) {
        weft__crew_share(&a->task);
        return pid;
    }
    weft__crew_spawned(l->worker, &a->task);
    if (--l->worker->budget <= 0 && weft__fast_may_yield(l))
        weft__loop_give_way(l, l->self);
    return pid;
}

/* A thread's, a caller compiled with another version of the options, a mistake. */
static __attribute__((noinline)) weft_pid spawn_slowly(weft_fn *fn, void *arg, const weft_options *how,
                                                       size_t size)
{
    struct weft__lane *l = weft__lane_need();
    weft_options       whole = {0};
    weft_pid           pid = WEFT_NOBODY;

    if (!l)
        return pid;
    if (how) /* it may know fewer fields, or more */
        memcpy(&whole, how, size < sizeof whole ? size : sizeof whole);
    l->spawn_error = WEFT_EINVALID;
    if (!fn || (whole.copy_bytes && !arg))
        return pid;
    if (l->worker)
        return make(l, fn, arg, &whole);
    l->spawn_error = l->self || weft__thread_actor() ? weft__system_hold() : WEFT_EMEMORY;
    if (l->spawn_error)
        return pid;
    pid = make(l, fn, arg, &whole);
    weft__system_release();
    return pid;
}

weft_pid weft_spawn_with(weft_fn *fn, void *arg, const weft_options *how, size_t size)
{
    struct weft__lane *l = weft__lane();

    if (WEFT__RARE(!l->worker) || WEFT__RARE(!fn))
        return spawn_slowly(fn, arg, how, size);
    if (how && (WEFT__RARE(size != sizeof *how) || WEFT__RARE(how->copy_bytes && !arg)))
        return spawn_slowly(fn, arg, how, size);
    return make(l, fn, arg, how);
}

int weft_spawn_error(void)
{
    struct weft__lane *l = weft__lane();

    return l->spawn_error;
}

weft_pid weft_self(void)
{
    struct weft__lane *l = weft__lane();

    if (!l->self)
        l = weft__thread_actor();
    return l ? (weft_pid){weft__actor_pid(l->self)} : WEFT_NOBODY;
}

void *weft_alloc(size_t bytes)
{
    struct weft__lane *l = weft__lane();

    if (!l->self)
        l = weft__thread_actor();
    return l ? weft__actor_own(l, l->self, bytes) : NULL;
}

void weft_yield(void)
{
    struct weft__lane *l = weft__lane();

    if (l->guarding)
        weft__misuse(WEFT_EINVALID, "weft_yield in a guard");
    if (l->worker && l->self && !(l->self->unusual & WEFT__CALLED))
        weft__loop_give_way(l, l->self);
    else if (!l->worker && l->self && !(l->self->unusual & WEFT__CALLED))
        weft__loop_heed(l, l->self);
}
