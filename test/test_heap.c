/* test_heap.c - what the other tests stand on: a fork beside a thread that allocates.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "help.h"

enum { FORKS = 50, SOME = 64 };

static atomic_bool stop; /* relaxed: it only ends a loop */

static void allocate(void)
{
    void *p[SOME];

    for (int i = 0; i < SOME; i++)
        p[i] = opaque(malloc(16 + (size_t)i * 40));
    for (int i = 0; i < SOME; i++)
        free(p[i]);
}

static void *churn(void *unused)
{
    (void)unused;
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        allocate();
    return NULL;
}

static void child(void)
{
    alarm(10); /* it would wait for ever */
    allocate();
}

Test(heap, a_fork_beside_a_thread_that_allocates_can_allocate, .timeout = 60)
{
    pthread_t thread;
    int       status = 0;

    cr_assert_eq(pthread_create(&thread, NULL, churn, NULL), 0);
    for (int i = 0; i < FORKS && status == 0; i++)
        status = in_child(child);
    atomic_store_explicit(&stop, true, memory_order_relaxed);
    pthread_join(thread, NULL);
    cr_expect_eq(status, 0, "a child ended with %d", status);
}
