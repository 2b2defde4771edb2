/* scene.c - where a fatal signal came: on which stack, whether that ran over, who had called whom.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * All of it in the signal's handler (fault.c).
 */
#define _GNU_SOURCE /* ucontext.h: REG_RIP */
#include <setjmp.h>

#include "fibers/guard.h"
#include "fibers/switch.h"
#include "runtime/fault.h"
#include "runtime/machine.h"

/* ---- On which stack --------------------------------------------------------------------------------------- */

static bool is_in(const struct weft__stack *s, uintptr_t address)
{
    uintptr_t low = (uintptr_t)s->low - weft__guard_bytes();

    return address - low < weft__stack_bytes(s);
}

static bool is_in_guard(const struct weft__stack *s, uintptr_t address)
{
    return (uintptr_t)s->low - address - 1 < weft__guard_bytes();
}

/* The stack that an address is in or just below. A worker runs on the actor's own, or the loop's, or the one for
 * rescue. */
static struct weft__stack *stack_of(const struct weft__fault *f, uintptr_t address)
{
    struct weft__stack *all[] = {f->actor ? f->actor->stack : NULL, f->lane->spare, f->lane->rescue};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && is_in(all[i], address))
            return all[i];
    return NULL;
}

/* What runs over has its stack pointer near the guard, or in it. Below, frames may already lie on what is another's stack;
 * and well above, an address was wrong. */
static void look_at_guard(struct weft__fault *f, struct weft__stack *s, uintptr_t sp)
{
    uintptr_t low = (uintptr_t)s->low;

    f->stepped = !f->stack && sp < low;
    f->overflow = f->stepped || (f->stack == s && sp < low + weft__guard_bytes());
    f->stray = !f->overflow;
    if (f->overflow)
        f->stack = s;
}

void weft__scene_look(struct weft__fault *f)
{
    uintptr_t           address = (uintptr_t)f->info->si_addr, sp = weft__machine_sp(f->context);
    struct weft__stack *met = NULL;

    if (!f->lane->worker)
        return;
    f->stack = stack_of(f, sp);
    if (weft__fault_has_address(f))
        met = stack_of(f, address);
    if (met && is_in_guard(met, address))
        look_at_guard(f, met, sp);
}

/* ---- Who ran ----------------------------------------------------------------------------------------------- */

/* Whose sp is what the switch was given to write to. NULL: nobody's. */
static struct weft__actor *who_parks(const ucontext_t *u)
{
    uintptr_t all = (uintptr_t)atomic_load_explicit(&weft__actor_range, memory_order_relaxed);
    size_t    count = atomic_load_explicit(&weft__actor_count, memory_order_acquire);
    uintptr_t at = weft__machine_argument(u) - offsetof(struct weft__actor, sp) - all;

    if (at % sizeof(struct weft__actor) || at / sizeof(struct weft__actor) >= count)
        return NULL;
    return (struct weft__actor *)all + at / sizeof(struct weft__actor);
}

/* While one that parks saves its registers, the next is `self` already (loop.c), but the stack is still its own, and may
 * run over. */
struct weft__actor *weft__scene_actor(const struct weft__lane *l, const ucontext_t *u)
{
    if (!l->worker || weft__frames_function(weft__machine_pc(u)) != (uintptr_t)weft__switch_park)
        return l->self;
    struct weft__actor *a = who_parks(u);
    return a && a->stack && is_in(a->stack, weft__machine_sp(u)) ? a : l->self;
}

/* ---- Who had called whom ---------------------------------------------------------------------------------- */

static void unblock(sigset_t *before)
{
    sigset_t faults;

    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigaddset(&faults, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &faults, before);
}

static void begin_frames(struct weft__fault *f)
{
    struct weft__frames *frames = &f->frames;

    frames->pc = weft__machine_pc(f->context);
    frames->sp = weft__machine_sp(f->context);
    frames->low = !f->stack ? 0 : f->stepped ? frames->sp : (uintptr_t)f->stack->low;
    frames->high = f->stack ? (uintptr_t)f->stack->low + weft__stack_bytes(f->stack) : UINTPTR_MAX;
    if (f->actor && !(f->actor->unusual & WEFT__THREAD))
        frames->function = (uintptr_t)weft__bound_fn(f->actor);
    frames->last = (uintptr_t)weft__loop;
    frames->is_wild = weft__fault_has_address(f) && (uintptr_t)f->info->si_addr == frames->pc;
    frames->wild = frames->pc;
}

/* A call of what is no function: the unwinder knows nothing of that, but who called is one step away, if it was a call. */
static void leave_wild(struct weft__fault *f)
{
    struct weft__module m;

    if (!weft__machine_return(f->context, f->frames.low, f->frames.high))
        return;
    if (!weft__symbols_module(weft__machine_pc(f->context), &m)) {
        weft__machine_put(f->context, f->frames.pc, f->frames.sp);
        return;
    }
    f->frames.pc = weft__machine_pc(f->context);
    f->frames.sp = weft__machine_sp(f->context);
}

/* What looks like a frame may be none: then the handler is called again, and goes on here. */
void weft__scene_walk(struct weft__fault *f)
{
    uintptr_t  pc = weft__machine_pc(f->context), sp = weft__machine_sp(f->context);
    sigjmp_buf here;
    sigset_t   before;

    begin_frames(f);
    unblock(&before);
    if (sigsetjmp(here, 1) == 0) {
        f->lane->walking = &here;
        if (f->frames.is_wild)
            leave_wild(f);
        weft__frames_walk(&f->frames);
    }
    f->lane->walking = NULL;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    weft__machine_put(f->context, pc, sp); /* the unwinder begins there */
}
