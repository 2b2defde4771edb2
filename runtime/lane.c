/* lane.c - what each thread has of its own: free cells, free stacks, counters, and who runs there.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A lane is made when its thread first meets weft and given back when the thread ends; a lane that was given back
 * serves the next thread that comes, so lanes are never freed and their counters never lost. They are listed, so
 * that counters can be added up, and threads that wait can be told of the end.
 */
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "runtime/actor.h"

static struct weft__lane    nowhere; /* of threads that have none: nobody runs there; never written */
__thread struct weft__lane *weft__lane_here = &nowhere;

static pthread_mutex_t    lock = PTHREAD_MUTEX_INITIALIZER;
static struct weft__lane *lanes;      /* under lock: all there ever were */
static struct weft__lane *idle_lanes; /* under lock: without a thread */
static uint64_t           lane_count; /* under lock */
static pthread_key_t      at_thread_end;
static pthread_once_t     key_made = PTHREAD_ONCE_INIT;

#if !defined(__x86_64__) && !defined(__aarch64__)
struct weft__lane *__attribute__((noinline)) weft__lane_ask(void)
{
    __asm__ volatile(""); /* or the compiler sees that it is pure, and keeps its result over a switch */
    return weft__lane_here;
}
#endif

static void thread_ends(void *unused)
{
    (void)unused;
    weft__lane_leave();
}

static void make_key(void) { pthread_key_create(&at_thread_end, thread_ends); }

static struct weft__lane *new_lane(void)
{
    struct weft__lane *l = weft__memory_get(sizeof *l);

    if (!l)
        return NULL;
    memset(l, 0, sizeof *l);
    l->next_lane = lanes;
    l->next_ref = (uint64_t)1 << 63 | ++lane_count << 40; /* 2^40 monitors of 2^23 threads at once */
    lanes = l;
    return l;
}

struct weft__lane *__attribute__((noinline)) weft__lane_need(void)
{
    if (weft__lane_here != &nowhere)
        return weft__lane_here;
    pthread_once(&key_made, make_key);
    pthread_mutex_lock(&lock);
    struct weft__lane *l = idle_lanes;
    if (l)
        idle_lanes = l->next_idle;
    else
        l = new_lane();
    if (l)
        l->is_used = true;
    pthread_mutex_unlock(&lock);
    if (l) {
        weft__lane_here = l;
        pthread_setspecific(at_thread_end, l);
    }
    return l;
}

void __attribute__((noinline)) weft__lane_leave(void)
{
    struct weft__lane *l = weft__lane_here;

    if (l == &nowhere)
        return;
    l->deferring = NULL;        /* a deferred function may have ended its thread */
    if (l->guarding && l->self) /* and so may a guard */
        weft__match_forget(l);
    for (struct weft__actor *self;;) {
        if (l->self)
            weft__ending_run(l, l->self);
        pthread_mutex_lock(&lock); /* weft__thread_release_all looks at it */
        self = l->self;
        l->self = NULL;
        l->worker = l->sender = NULL;
        pthread_mutex_unlock(&lock);
        if (!self)
            break;
        weft__thread_end(l,
                         self); /* a thread's actor ends with it; a destroy function may make it one again */
    }
    l->destroying = 0;
    l->guarding = false;
    weft__cells_flush(&l->messages, &weft__messages);
    weft__cells_flush(&l->actors, &weft__actors);
    weft__stack_flush(&l->stacks);
    weft__actor_forget_extras(l);
    weft__lane_here = &nowhere;
    pthread_setspecific(at_thread_end, NULL);
    pthread_mutex_lock(&lock);
    l->is_used = l->serves = false;
    l->next_idle = idle_lanes;
    idle_lanes = l;
    pthread_mutex_unlock(&lock);
}

void weft__lane_serves(struct weft__lane *l)
{
    pthread_mutex_lock(&lock);
    l->serves = true;
    pthread_mutex_unlock(&lock);
}

void weft__lane_lock(void) { pthread_mutex_lock(&lock); }

void weft__lane_unlock(void) { pthread_mutex_unlock(&lock); }

struct weft__lane *weft__lane_each(struct weft__lane *before) { return before ? before->next_lane : lanes; }
