/* fault.h - private to weft. Fatal signals, and stacks that ran over: in which actor, and what is done about it.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the handlers while a system runs, and the stacks that they run on in workers' threads.
 * Knows not: what the program did.
 */
#ifndef WEFT__FAULT_H
#define WEFT__FAULT_H

#include <signal.h>
#include <ucontext.h> /* with _GNU_SOURCE */

#include "runtime/actor.h"
#include "runtime/frames.h"

/* One signal, while it is handled. */
struct weft__fault {
    const char         *name; /* of the signal */
    int                 signal;
    siginfo_t          *info;
    ucontext_t         *context;
    struct weft__lane  *lane;
    struct weft__actor *actor; /* NULL: none ran, but a worker's thread, or a destroy function */
    struct weft__stack *stack; /* that it came on; NULL: a thread's own */
    bool                overflow;
    bool                stepped; /* an overflow, and what ran over had stepped over the guard */
    bool                stray;   /* no overflow, but the address is in the guard of its stack */
    struct weft__frames frames;  /* when they have been walked */
};

/* ---- scene.c: in a handler --------------------------------------------------------------- */

/* Who ran; NULL: nobody. */
struct weft__actor *weft__scene_actor(const struct weft__lane *l, const ucontext_t *u);
/* On which stack, and whether that overflowed; and, after the first report, the frames. */
void weft__scene_look(struct weft__fault *f);
void weft__scene_walk(struct weft__fault *f);

/* ---- report.c: on stderr, in a handler --------------------------------------------------- */

/* What happened to whom; and, after the walk, where. */
void weft__report_what(const struct weft__fault *f);
void weft__report_where(const struct weft__fault *f);
/* What comes of an overflow, where more than one thing could. */
void weft__report_end(const struct weft__fault *f, bool alone);

/* ---- fault.c ------------------------------------------------------------------------------ */

bool weft__fault_is_raised(const siginfo_t *info); /* by an instruction */
/* That instruction meant an address, which is known. */
bool weft__fault_has_address(const struct weft__fault *f);
/* Weft had called what the actor was in. */
bool weft__fault_is_called(const struct weft__fault *f);

/* A worker's thread's own. */
struct weft__fault_stack {
    void   *memory;
    size_t  bytes;
    stack_t before;
};

/* Around a system's life. What had handled signals before does so again afterwards, unless somebody else does. */
void weft__fault_begin(enum weft_overflow policy);
void weft__fault_end(void);
/* Around a worker thread's. 0, or WEFT_EMEMORY, WEFT_ESTACK: nothing is changed. */
int  weft__fault_enter(struct weft__lane *l, struct weft__fault_stack *s, unsigned stack_class);
void weft__fault_leave(struct weft__lane *l, struct weft__fault_stack *s);

#endif
