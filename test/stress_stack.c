/* stress_stack.c - stacks wander between threads through the pool, and stay one owner's.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Each thread takes stacks in waves, signs both ends, passes half of them to whoever looks next, checks the
 * signatures of what it holds and puts it back. Waves are large enough that caches spill, batches cool and are taken
 * again. After a put a thread still writes to that stack, as one does on its way off. What must not happen:
 *   - two owners of one stack: ThreadSanitizer sees the plain writes race, or a signature is wrong;
 *   - pages taken from a stack in use: a signature is gone;
 *   - a stack lost or twice in the pool: the count at the end is wrong.
 */
#include "fibers/stack.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, WAVES = 600, WAVE = 900, CLASSES = 3 };

/* What is on its way from one thread to another. */
static pthread_mutex_t     lock = PTHREAD_MUTEX_INITIALIZER;
static struct weft__stack *passing;

static atomic_ulong wrong, passed; /* relaxed: read after the joins */

static void count(atomic_ulong *n) { atomic_fetch_add_explicit(n, 1, memory_order_relaxed); }

static void sign(struct weft__stack *s, uintptr_t by)
{
    memcpy(s->top - 64, &by, sizeof by);
    memcpy(s->low, &by, sizeof by);
    s->tsan = (void *)by; /* nobody else uses it here: the signature to compare with */
}

static void check(const struct weft__stack *s)
{
    uintptr_t by = (uintptr_t)s->tsan;

    if (!by || memcmp(s->top - 64, &by, sizeof by) != 0 || memcmp(s->low, &by, sizeof by) != 0)
        count(&wrong);
}

static void pass_on(struct weft__stack *s)
{
    pthread_mutex_lock(&lock);
    s->next = passing;
    passing = s;
    pthread_mutex_unlock(&lock);
    count(&passed);
}

static struct weft__stack *passed_to_me(void)
{
    pthread_mutex_lock(&lock);
    struct weft__stack *s = passing;
    if (s)
        passing = s->next;
    pthread_mutex_unlock(&lock);
    return s;
}

static void put(struct weft__stack_cache *cache, struct weft__stack *s)
{
    check(s);
    s->tsan = NULL;
    weft__stack_put(cache, s);
    memset(s->top - 64, 0xee, 64); /* still on it, until the next put */
}

static void wave(struct weft__stack_cache *cache, uintptr_t me, unsigned size_class, unsigned much)
{
    struct weft__stack *mine = NULL, *s;

    for (unsigned i = 0; i < much; i++) {
        if (!(s = weft__stack_get(cache, size_class)) || s->tsan) {
            count(&wrong);
            continue;
        }
        sign(s, me + i);
        if (i % 2) {
            pass_on(s);
        } else {
            s->next = mine;
            mine = s;
        }
    }
    while ((s = mine)) {
        mine = s->next;
        put(cache, s);
        if ((s = passed_to_me()))
            put(cache, s);
    }
}

static void *wander(void *arg)
{
    struct weft__stack_cache cache = {0};
    uintptr_t                me = (uintptr_t)arg << 32;

    for (unsigned i = 0; i < WAVES; i++) {
        wave(&cache, me, i % CLASSES, 1 + (i * 7919 + (unsigned)(me >> 32) * 104729) % WAVE);
        if (i % 8 == 7)
            weft__stack_flush(&cache);
        if (i % 4 == 3)
            weft__stack_cool(INT64_MAX); /* as if much time had passed since all were given back */
    }
    weft__stack_flush(&cache);
    return NULL;
}

/* Free stacks of one class: those that come before a new one is carved. */
static unsigned long take_class(struct weft__stack_cache *cache, unsigned size_class)
{
    struct weft__stack *s;
    size_t              all = weft__stack_count();
    unsigned long       got = 0;

    for (; (s = weft__stack_get(cache, size_class)) && weft__stack_count() == all; got++) {
        if (s->tsan)
            count(&wrong); /* twice */
        s->tsan = s;
    }
    return got;
}

static unsigned long take_all(void)
{
    struct weft__stack_cache cache = {0};
    struct weft__stack      *s;
    unsigned long            got = 0;

    while ((s = passed_to_me()))
        put(&cache, s);
    weft__stack_flush(&cache);
    for (unsigned c = 0; c < CLASSES; c++)
        got += take_class(&cache, c);
    return got;
}

int main(void)
{
    pthread_t thread[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, wander, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);

    size_t        all = weft__stack_count();
    unsigned long got = take_all();
    bool          good = !wrong && got == all && passed > 1000;

    printf("stress_stack: %s: %zu stacks (%s), %lu passed on, %lu found again, %lu wrong\n",
           good ? "ok" : "FAILED", all, weft__guard_name(), (unsigned long)passed, got, (unsigned long)wrong);
    return good ? 0 : 1;
}
