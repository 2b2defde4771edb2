/* raw_ucontext.c - raw.h on <ucontext.h>: slow, as it asks the kernel for the signal mask, but anywhere.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      nothing.
 * Knows not: registers: the C library does.
 *
 * A context is a ucontext_t (about 1 KiB) on the stack that was left, or at the top of a fresh one. The signal
 * mask goes with the stack, not with the thread: threads that share stacks should have the same.
 */
#include "fibers/raw.h"

#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

const char weft__raw_name[] = "ucontext";

void *weft__raw_fresh(char *low, char *top, void (*entry)(void))
{
    uintptr_t   room = ((uintptr_t)top - sizeof(ucontext_t)) & ~(uintptr_t)63;
    ucontext_t *u = (ucontext_t *)room;

    if (getcontext(u) != 0)
        abort();
    u->uc_link = NULL;
    u->uc_stack.ss_sp = low;
    u->uc_stack.ss_size = room - (uintptr_t)low;
    makecontext(u, entry, 0);
    return u;
}

void weft__raw_jump(void **save, void *to)
{
    ucontext_t here;

    *save = &here;
    if (swapcontext(&here, to) != 0)
        abort();
}
