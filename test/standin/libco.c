/* libco.c - a stand-in for libco, on ucontext, for the tests.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      which cothread each thread runs. With -DSTANDIN_ONE_THREAD it has one for the whole process,
 *            as a libco without LIBCO_MP has, and weft must refuse it.
 */
#include <libco.h>
#include <stdlib.h>
#include <ucontext.h>

#if defined(STANDIN_ONE_THREAD)
#define EACH_THREAD
#else
#define EACH_THREAD _Thread_local
#endif

static EACH_THREAD ucontext_t  native;
static EACH_THREAD ucontext_t *running;

/* Not inlined: after a switch the thread may be another one. */
__attribute__((noinline)) cothread_t co_active(void)
{
    if (!running)
        running = &native;
    return running;
}

__attribute__((noinline)) static void now_running(ucontext_t *u) { running = u; }

/* As libco does: its record lies at the low end of the memory. */
cothread_t co_derive(void *memory, unsigned int size, void (*entry)(void))
{
    ucontext_t *u = memory;

    if (getcontext(u) != 0)
        abort();
    u->uc_link = NULL;
    u->uc_stack.ss_sp = u + 1;
    u->uc_stack.ss_size = size - sizeof *u;
    makecontext(u, entry, 0);
    return u;
}

void co_switch(cothread_t to)
{
    ucontext_t *from = co_active();

    now_running(to);
    if (swapcontext(from, to) != 0)
        abort();
}
