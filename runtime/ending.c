/* ending.c - what an actor does when it ends: its reason, what goes along with that, and its deferred functions.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Deferred functions run first, while the actor is still there for all others; then loop.c drops its frames, and
 * actor.c gives back what it had and tells who is to hear of it. They are called as guards are: whoever calls expects them
 * back. So the end of one is a jump to there.
 */
#define _GNU_SOURCE /* gettid */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/fast.h"

struct weft__deferred {
    struct weft__deferred *next;
    weft_fn               *fn;
    void                  *arg;
};
_Static_assert(sizeof(struct weft__deferred) <= sizeof(struct weft_msg), "it lies in a cell");

int weft__ending_defer(struct weft__lane *l, struct weft__actor *a, weft_fn *fn, void *arg)
{
    struct weft__extra    *x = weft__actor_extra(a);
    struct weft__deferred *d = x ? weft__cells_get(&l->messages, &weft__messages) : NULL;

    if (!d)
        return WEFT_EMEMORY;
    *d = (struct weft__deferred){x->defers, fn, arg};
    x->defers = d;
    return 0;
}

int weft_defer(weft_fn *fn, void *arg)
{
    struct weft__lane *l = weft__lane();

    weft__send_check(l);
    if (!fn)
        return WEFT_EINVALID;
    if (!l->self)
        l = weft__thread_actor();
    return l ? weft__ending_defer(l, l->self, fn, arg) : WEFT_EMEMORY;
}

static struct weft__deferred take(struct weft__lane *l, struct weft__deferred **at)
{
    struct weft__deferred *d = *at, copy = *d;

    *at = d->next;
    weft__cells_put(&l->messages, &weft__messages, d);
    return copy;
}

int weft_undefer(weft_fn *fn, void *arg)
{
    struct weft__lane *l = weft__lane();

    if (!l->self || !l->self->extra)
        return WEFT_EGONE;
    struct weft__deferred **at = &l->self->extra->defers;
    while (*at && ((*at)->fn != fn || (*at)->arg != arg))
        at = &(*at)->next;
    if (!*at)
        return WEFT_EGONE;
    take(l, at);
    return 0;
}

/* A function of its own: nothing that setjmp may spoil lies in its frame. One may end another actor that never began, so
 * it may be called in the middle of one. */
static __attribute__((noinline)) void call(struct weft__lane *l, weft_fn *fn, void *arg)
{
    void   *outer = l->deferring;
    jmp_buf here;

    l->deferring = &here;
    if (!setjmp(here))
        fn(arg);
    l->deferring = outer;
}

/* Who runs here; under the lanes' lock where the thread is no worker (lane.c). */
static void set_self(struct weft__lane *l, struct weft__actor *a)
{
    weft__lane_lock();
    l->self = a;
    weft__lane_unlock();
}

void weft__ending_run(struct weft__lane *l, struct weft__actor *a)
{
    struct weft__actor  *self = l->self;
    struct weft__worker *sender = l->sender;

    if (!weft__ending_has_functions(a))
        return;
    if (self != a)
        set_self(l, a);
    l->sender = NULL; /* plain sends ask no more: it must not give way */
    a->unusual |= WEFT__CALLED;
    while (a->extra->defers) {
        struct weft__deferred d = take(l, &a->extra->defers);
        call(l, d.fn, d.arg);
    }
    a->unusual &= ~(uint32_t)WEFT__CALLED;
    l->sender = sender;
    if (self != a)
        set_self(l, self);
}

/* ---- the end ------------------------------------------------------------------------------------------------ */

/* Of the calling actor, or thread. */
static _Noreturn void end(struct weft__lane *l, int reason)
{
    if (l->deferring)
        longjmp(*(jmp_buf *)l->deferring, 1);
    if (l->guarding)
        weft__match_forget(l);
    if (l->worker && l->self)
        weft__loop_end(l, l->self, reason);
    if (l->self && l->self->extra)
        l->self->extra->reason = reason;
    if (getpid() != gettid())
        pthread_exit(NULL);
    if (l->self) /* of other threads that is for weft__lane_leave */
        weft__ending_run(l, l->self);
    exit(reason ? EXIT_FAILURE : EXIT_SUCCESS);
}

WEFT__NORETURN weft_end(int reason)
{
    struct weft__lane *l = weft__lane();

    if (l->destroying)
        weft__misuse(WEFT_EINVALID, "weft_end in a destroy function");
    end(l, reason);
}

WEFT__NORETURN weft_end_with_body(int reason, weft_type *type, const void *body)
{
    struct weft__lane  *l = weft__lane();
    struct weft__extra *x = l->self && !l->deferring ? weft__actor_extra(l->self) : NULL;
    bool                whole = type && (body || !type->bytes);
    struct weft_msg    *m = x && whole ? weft__message_of(l, type, body) : NULL;

    if (!x && whole && !l->destroying)
        weft__message_unsent(type, body);
    if (m && !weft__message_is_sharable(m)) {
        weft__message_drop(l, m, 0);
        m = NULL;
    }
    if (m) {
        m->from = weft__actor_pid(l->self);
        m->tag = type->tag;
        x->why = m;
    }
    weft_end(reason);
}

const weft_msg *weft_carried(const weft_msg *m)
{
    struct weft_msg **carried = m ? weft__message_carried((weft_msg *)m) : NULL;

    return carried ? *carried : NULL;
}

_Noreturn void weft__ending_obey(struct weft__lane *l, struct weft__actor *a, int reason,
                                 struct weft_msg *carried)
{
    if (carried && weft__actor_extra(a))
        a->extra->why = carried;
    else if (carried)
        weft__message_free(l, carried);
    if (a->unusual & WEFT__THREAD && getpid() == gettid())
        fprintf(stderr, "weft: the main thread is ended, and the process with it: %s (%d)\n",
                weft_strerror(reason), reason);
    end(l, reason);
}
