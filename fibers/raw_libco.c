/* raw_libco.c - raw.h on libco, where somebody has installed it: libco.h and -lco.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the check that this libco is fit for threads.
 * Knows not: registers: libco does. On some CPUs it does not keep the rounding mode.
 *
 * A context is a cothread. libco keeps its own record at the LOW end of the stack, which so costs a page more.
 */
#include "fibers/raw.h"

#include <libco.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

const char weft__raw_name[] = "libco";

static void *active(void *result)
{
    *(cothread_t *)result = co_active();
    return NULL;
}

/* Without LIBCO_MP libco is built with one "active" cothread for the whole process, and two workers would
 * save their registers into the same record. Better to know before main(). */
__attribute__((constructor)) static void check_threads(void)
{
    cothread_t mine = co_active(), other = mine;
    pthread_t  thread;

    if (pthread_create(&thread, NULL, active, &other) != 0 || pthread_join(thread, NULL) != 0) {
        fputs("weft: libco: cannot start a thread to check whether this libco knows threads\n", stderr);
        abort();
    }
    if (mine == other) {
        fputs("weft: this libco is not thread-aware; build it with LIBCO_MP, or weft with another SWITCH=\n",
              stderr);
        abort();
    }
}

/* An actor's end may begin anew on the stack that it is on. Then there are two for a moment: who leaves, and who begins;
 * libco saves the one while it goes on with the other, so they must not share a record. */
void *weft__raw_fresh(char *low, char *top, void (*entry)(void))
{
    enum { RECORD = 4096 }; /* room for one */

    if (low == co_active())
        low += RECORD;
    return co_derive(low, (unsigned)(top - low), entry);
}

void weft__raw_jump(void **save, void *to)
{
    *save = co_active();
    co_switch(to);
}
