/* threads.h - for mode thread: mailboxes of a mutex and a condition, as one writes them without Weft.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#ifndef BENCH_THREADS_H
#define BENCH_THREADS_H

#include <pthread.h>

#include "bench/bench.h"

struct letter {
    struct box *from;
    uint64_t    what, value; /* the workload's */
};

/* First in, first out, as long as need be: a ring buffer that grows. All under the lock. */
struct box {
    pthread_mutex_t lock;
    pthread_cond_t  filled;
    struct letter  *letters;
    size_t          first, count, capacity;
};

void          box_open(struct box *b);
void          box_close(struct box *b);
void          box_put(struct box *b, struct letter l); /* never blocks for long */
struct letter box_take(struct box *b);                 /* blocks until there is one */

/* More threads than this at once are refused at the start, not somewhere in the middle. */
enum { THREADS_MAX = 10000 };
void threads_check(const char *workload, uint64_t threads);

/* With a stack of 64 KiB, as a fiber has. */
pthread_t thread_start(void *(*run)(void *arg), void *arg);
void      thread_join(pthread_t thread);

#endif
