/* progress.c - a bar on a terminal, drawn by a thread that looks at a tally now and then.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the last line of the terminal, and the only thread that a run has besides what it measures.
 * Knows not: what is counted.
 */
#include "bench/bench.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 40, LOOK_MS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  over = PTHREAD_COND_INITIALIZER;
static pthread_t       drawer;
static const tally    *watched; /* under lock; NULL: no bar */
static uint64_t        all;     /* under lock */
static const char     *name;    /* NULL: no bar is wanted. Set before a run starts */

void progress_wanted(const char *label) { name = isatty(STDERR_FILENO) ? label : NULL; }

void progress_draw(const char *label, double part)
{
    int full = (int)((part > 1 ? 1 : part) * BAR_WIDTH);

    fprintf(stderr, "\r\033[K[");
    for (int i = 0; i < BAR_WIDTH; i++)
        fputc(i < full ? '#' : ' ', stderr);
    fprintf(stderr, "] %3d %%  %s", full * 100 / BAR_WIDTH, label);
    fflush(stderr);
}

/* Under the lock: false when the bar is to go. */
static bool wait_a_little(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&over, &lock, &until);
    return watched;
}

static void *draw(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (wait_a_little())
        progress_draw(name, (double)atomic_load_explicit(watched, memory_order_relaxed) / (double)all);
    pthread_mutex_unlock(&lock);
    fputs("\r\033[K", stderr);
    return NULL;
}

void progress_watch(const tally *done, uint64_t total)
{
    if (!name)
        return;
    pthread_mutex_lock(&lock);
    if (!watched && pthread_create(&drawer, NULL, draw, NULL) == 0) {
        watched = done;
        all = total ? total : 1;
    }
    pthread_mutex_unlock(&lock);
}

void progress_end(void)
{
    pthread_mutex_lock(&lock);
    bool drawn = watched;
    watched = NULL;
    pthread_cond_signal(&over);
    pthread_mutex_unlock(&lock);
    if (drawn)
        pthread_join(drawer, NULL);
}
