/* threads.c - see threads.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "bench/threads.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY_FIRST = 8, STACK_BYTES = 64 * 1024 };

void box_open(struct box *b)
{
    *b = (struct box){.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};
}

void box_close(struct box *b) { free(b->letters); }

static void grow(struct box *b)
{
    size_t         capacity = b->capacity ? 2 * b->capacity : CAPACITY_FIRST;
    struct letter *letters = malloc(capacity * sizeof *letters);

    if (!letters)
        bench_fail("no memory for a mailbox of %zu letters", capacity);
    for (size_t i = 0; i < b->count; i++)
        letters[i] = b->letters[(b->first + i) % b->capacity];
    free(b->letters);
    b->letters = letters;
    b->first = 0;
    b->capacity = capacity;
}

/* Capacities are powers of two. */
void box_put(struct box *b, struct letter l)
{
    pthread_mutex_lock(&b->lock);
    if (b->count == b->capacity)
        grow(b);
    b->letters[(b->first + b->count++) & (b->capacity - 1)] = l;
    pthread_mutex_unlock(&b->lock);
    pthread_cond_signal(&b->filled);
}

struct letter box_take(struct box *b)
{
    pthread_mutex_lock(&b->lock);
    while (b->count == 0)
        pthread_cond_wait(&b->filled, &b->lock);
    struct letter l = b->letters[b->first];
    b->first = (b->first + 1) & (b->capacity - 1);
    b->count--;
    pthread_mutex_unlock(&b->lock);
    return l;
}

void threads_check(const char *workload, uint64_t threads)
{
    if (threads > THREADS_MAX)
        bench_fail("%s: %llu threads at once are too many; %d at most", workload, (unsigned long long)threads,
                   THREADS_MAX);
}

pthread_t thread_start(void *(*run)(void *arg), void *arg)
{
    pthread_attr_t attributes;
    pthread_t      thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int error = pthread_create(&thread, &attributes, run, arg);
    pthread_attr_destroy(&attributes);
    if (error)
        bench_fail("cannot start a thread: %s", strerror(error));
    return thread;
}

void thread_join(pthread_t thread) { pthread_join(thread, NULL); }
