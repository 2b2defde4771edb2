/* heap.c - under gcc's AddressSanitizer: nobody is in the middle of malloc when the process forks.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Criterion forks a process for each test, beside a thread of its own that allocates. The sanitizer's allocator has
 * locks and, in the versions we meet, does nothing about fork: a child that is made while the other thread holds one
 * waits for ever in its first malloc. The C library's own allocator does take care; so do we, by one lock around all.
 * In every other build this file is empty.
 */
#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define SHOWN __attribute__((visibility("default"))) /* to Criterion's library, which must find ours first */

void *__interceptor_malloc(size_t bytes);
void *__interceptor_calloc(size_t count, size_t bytes);
void *__interceptor_realloc(void *old, size_t bytes);
void  __interceptor_free(void *p);

static pthread_mutex_t heap = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* a report of an error may allocate */
static bool            ready; /* before: the loader allocates, in the only thread, and cannot lock yet */

static void hold(void)
{
    if (ready)
        pthread_mutex_lock(&heap);
}

static void let_go(void)
{
    if (ready)
        pthread_mutex_unlock(&heap);
}

/* The owner of the lock is the parent's thread, which a child has not: it cannot be unlocked there. */
static void renew(void) { heap = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; }

__attribute__((constructor)) static void begin(void)
{
    pthread_atfork(hold, let_go, renew);
    ready = true;
}

SHOWN void *malloc(size_t bytes)
{
    hold();
    void *p = __interceptor_malloc(bytes);
    let_go();
    return p;
}

SHOWN void *calloc(size_t count, size_t bytes)
{
    hold();
    void *p = __interceptor_calloc(count, bytes);
    let_go();
    return p;
}

SHOWN void *realloc(void *old, size_t bytes)
{
    hold();
    void *p = __interceptor_realloc(old, bytes);
    let_go();
    return p;
}

SHOWN void free(void *p)
{
    hold();
    __interceptor_free(p);
    let_go();
}
#else
typedef int nothing_to_do; /* a file of C must have something in it */
#endif
