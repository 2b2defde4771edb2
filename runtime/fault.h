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

#include "runtime/actor.h"

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
