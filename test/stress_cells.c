/* stress_cells.c - cells wander between threads through the depot, and stay one owner's.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Each thread takes cells in waves larger than its magazines, signs them, passes some to whoever looks next and puts
 * the rest back; now and then it flushes, as a thread does that ends. What must not happen:
 *   - two owners of one cell: ThreadSanitizer sees the plain writes race, or a signature is wrong;
 *   - a cell lost, or twice in the depot: the count at the end is wrong.
 */
#include "base/cells.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "help.h"

enum { THREADS = 4, WAVES = 25000, WAVE = 3 * WEFT__MAGAZINE, ROOM = 1 << 16 };

struct thing {
    struct weft__cell cell;
    struct thing     *next;      /* while it is on its way */
    uintptr_t         signed_by; /* 0: free */
};

static struct thing *memory;
static size_t        carved; /* under the depot's lock */

static char *carve(size_t bytes)
{
    size_t n = bytes / sizeof(struct thing);

    if (carved + n > ROOM)
        return NULL;
    carved += n;
    return (char *)(memory + carved - n);
}

static struct weft__depot depot = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .cell_bytes = sizeof(struct thing), .carve = carve};

/* What is on its way from one thread to another. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thing   *passing;

static atomic_ulong wrong, passed; /* relaxed: read after the joins */

static void count(atomic_ulong *n) { atomic_fetch_add_explicit(n, 1, memory_order_relaxed); }

static void pass_on(struct thing *t)
{
    pthread_mutex_lock(&lock);
    t->next = passing;
    passing = t;
    pthread_mutex_unlock(&lock);
    count(&passed);
}

static struct thing *passed_to_me(void)
{
    pthread_mutex_lock(&lock);
    struct thing *t = passing;
    if (t)
        passing = t->next;
    pthread_mutex_unlock(&lock);
    return t;
}

static struct thing *get(struct weft__cells *c, uintptr_t by)
{
    struct thing *t = weft__cells_get(c, &depot);

    if (!t || t->signed_by) {
        count(&wrong);
        return NULL;
    }
    t->signed_by = by;
    return t;
}

static void put(struct weft__cells *c, struct thing *t, uintptr_t by)
{
    if (by ? t->signed_by != by : !t->signed_by)
        count(&wrong);
    t->signed_by = 0;
    weft__cells_put(c, &depot, t);
}

static void wave(struct weft__cells *c, uintptr_t me, unsigned much)
{
    struct thing *mine[WAVE], *t;
    unsigned      n = 0;

    for (unsigned i = 0; i < much; i++) {
        if (!(t = get(c, me)))
            continue;
        if (i % 4 == 0)
            pass_on(t);
        else
            mine[n++] = t;
    }
    while (n > 0) {
        put(c, mine[--n], me);
        if (n % 2 == 0 && (t = passed_to_me()))
            put(c, t, 0);
    }
}

static void *wander(void *arg)
{
    struct weft__cells c = {0};
    uint64_t           random = 88172645463325252u * (uintptr_t)arg;

    for (unsigned long i = scaled(WAVES); i > 0; i--) {
        wave(&c, (uintptr_t)arg, 1 + (unsigned)(draw(&random) % WAVE));
        if (draw(&random) % 8 == 0)
            weft__cells_flush(&c, &depot);
    }
    weft__cells_flush(&c, &depot);
    return NULL;
}

/* How many are free: each is found once. */
static size_t take_all(void)
{
    struct weft__cells c = {0};
    struct thing      *t;
    size_t             all = carved, got = 0;

    while ((t = passed_to_me()))
        put(&c, t, 0);
    weft__cells_flush(&c, &depot);
    while (carved == all && (t = weft__cells_get(&c, &depot)) && carved == all) {
        if (t->signed_by)
            count(&wrong); /* twice */
        t->signed_by = 1;
        got++;
    }
    return got + depot.loose_count; /* what is less than a magazine waits for more */
}

int main(void)
{
    pthread_t thread[THREADS];

    memory = calloc(ROOM, sizeof *memory);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, wander, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);

    size_t all = carved, got = take_all();
    bool   good = !wrong && got == all && passed > 0;

    printf("stress_cells: %s: %zu cells, %lu passed on, %zu found again, %lu wrong\n", good ? "ok" : "FAILED",
           all, (unsigned long)passed, got, (unsigned long)wrong);
    return good ? 0 : 1;
}
