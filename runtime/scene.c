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
static struct weft__stack *stack_of(const struct weft__lane *l, uintptr_t address)
{
    struct weft__stack *all[] = {l->self->stack, l->spare, l->rescue};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && is_in(all[i], address))
            return all[i];
    return NULL;
}

void weft__scene_look(struct weft__fault *f)
{
    uintptr_t address = (uintptr_t)f->info->si_addr, sp = weft__machine_sp(f->context);
    bool      memory = weft__fault_is_raised(f->info) && (f->signal == SIGSEGV || f->signal == SIGBUS);

    f->stack = memory && f->lane->worker ? stack_of(f->lane, address) : NULL;
    f->overflow = f->stack && is_in_guard(f->stack, address);
    if (!f->overflow && f->lane->worker)
        f->stack = stack_of(f->lane, sp);
}

/* ---- Who had called whom ---------------------------------------------------------------------------------- */

static void set_blocked(int how)
{
    sigset_t faults;

    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigaddset(&faults, SIGBUS);
    pthread_sigmask(how, &faults, NULL);
}

/* What looks like a frame may be none: then the handler is called again, and goes on here. */
void weft__scene_walk(struct weft__fault *f)
{
    sigjmp_buf here;

    f->frames.pc = weft__machine_pc(f->context);
    f->frames.sp = weft__machine_sp(f->context);
    f->frames.low = f->stack ? (uintptr_t)f->stack->low : 0;
    f->frames.high = f->stack ? (uintptr_t)f->stack->low + weft__stack_bytes(f->stack) : UINTPTR_MAX;
    f->frames.function = f->actor->unusual & WEFT__THREAD ? 0 : (uintptr_t)weft__bound_fn(f->actor);
    f->frames.last = (uintptr_t)weft__loop;
    set_blocked(SIG_UNBLOCK);
    if (sigsetjmp(here, 1) == 0) {
        f->lane->walking = &here;
        weft__frames_walk(&f->frames);
    }
    f->lane->walking = NULL;
    set_blocked(SIG_BLOCK);
}
