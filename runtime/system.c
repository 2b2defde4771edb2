/* system.c - starting and ending: the worker's thread, the first actor, and what is left when it ends.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * One system a process at a time. `lock` guards its state, and a thread that is no worker holds it while it makes an
 * actor, so none is made in a system that is being taken down.
 *
 * Taking down happens when the worker's thread has ended. Each actor that is left is parked, or queued, or in the
 * hands of a foreign sender that took it from PARKED and is about to queue it. So: what is queued is ended; what is
 * parked is taken from PARKED, as a sender would, and ended; the rest will be in the shared queue in a moment.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "fibers/switch.h"
#include "runtime/actor.h"
#include "sched/clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  has_ended = PTHREAD_COND_INITIALIZER;
static enum { NONE, RUNNING, ENDING } state; /* under lock */
static int                 result;           /* under lock: the first actor's reason */
static pthread_t           thread;
static struct weft__worker worker;
static unsigned            stack_class;

/* The worker's thread: enters the loop on a spare stack, and comes back here when it is told to stop. */
static void *work(void *started)
{
    struct weft__lane  *l = weft__lane_need();
    struct weft__stack *s = l ? weft__stack_get(&l->stacks, stack_class) : NULL;

    pthread_mutex_lock(&lock);
    *(int *)started = !l ? WEFT_EMEMORY : !s ? WEFT_ESTACK : 0;
    pthread_cond_broadcast(&has_ended);
    pthread_mutex_unlock(&lock);
    if (!s)
        return NULL;
    weft__lane_lock(); /* weft__thread_release_all looks at it */
    l->worker = &worker;
    weft__lane_unlock();
    l->spare = s;
    l->stack_class = stack_class;
    weft__switch_away(&l->home, weft__switch_fresh(s, weft__loop), NULL, NULL, NULL);
    weft__stack_put(&l->stacks, l->spare);
    l->spare = NULL;
    weft__lane_leave();
    return NULL;
}

static int start_thread(void)
{
    sigset_t all, before;
    int      started = 1; /* the thread says what it found */

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are for the program's own threads */
    int error = pthread_create(&thread, NULL, work, &started);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return WEFT_ESYSTEM;
    while (started == 1)
        pthread_cond_wait(&has_ended, &lock);
    if (started)
        pthread_join(thread, NULL);
    return started;
}

static uint64_t chosen_seed(const weft_config *how)
{
    const char *text = getenv("WEFT_SEED");

    return how->seed ? how->seed : text ? strtoull(text, NULL, 0) : 0;
}

/* Under the lock. */
static int start(const weft_config *how)
{
    uint64_t seed = chosen_seed(how);
    int class = how->stack_bytes ? weft__stack_class(how->stack_bytes)
                                 : weft__stack_class(WEFT__STACK_DEFAULT - 8192);

    if (state != NONE)
        return WEFT_EBUSY;
    if (class < 0)
        return WEFT_EINVALID;
    stack_class = (unsigned)class;
    weft__worker_reset(&worker, seed);
    weft__clock_virtual(seed != 0);
    int error = start_thread();
    if (!error)
        state = RUNNING;
    return error;
}

int weft__system_hold(void)
{
    int error = 0;

    pthread_mutex_lock(&lock);
    if (state == NONE)
        error = start(&(weft_config){0});
    else if (state == ENDING)
        error = WEFT_EENDED;
    if (error)
        pthread_mutex_unlock(&lock);
    return error;
}

void weft__system_release(void) { pthread_mutex_unlock(&lock); }

void weft__system_ended(int reason)
{
    weft__worker_stop();
    pthread_mutex_lock(&lock);
    result = reason;
    state = ENDING;
    pthread_cond_broadcast(&has_ended);
    pthread_mutex_unlock(&lock);
}

static void end_left_over(struct weft__lane *l, struct weft__actor *a)
{
    if (a->stack)
        weft__stack_put(&l->stacks, a->stack);
    a->stack = NULL;
    weft__actor_end(l, a);
}

static void end_queued(struct weft__lane *l)
{
    for (struct weft__task *t; (t = weft__worker_left(&worker));)
        end_left_over(l, (struct weft__actor *)t);
}

static void end_parked(struct weft__lane *l, struct weft__actor *a)
{
    while (a->phase != WEFT__FREE && !(a->unusual & WEFT__THREAD)) {
        if (weft__inbox_unpark(&a->box, a->parked)) {
            end_left_over(l, a);
            return;
        }
        end_queued(l); /* or a sender has it, and will queue it */
        sched_yield();
    }
}

static void take_down(struct weft__lane *l)
{
    size_t slots = weft__actor_slots();

    end_queued(l);
    for (size_t i = 0; i < slots; i++)
        end_parked(l, weft__actor_at((weft_pid){i}));
    weft__thread_release_all();
    weft__timers_end();
    weft__clock_virtual(false);
}

static int run(weft_fn *first, void *arg, const weft_config *how, struct weft__lane *l)
{
    int error = start(how);

    if (error)
        return error;
    struct weft__actor *a = weft__actor_new(l, first, arg);
    if (a) {
        a->unusual = WEFT__FIRST;
        weft__worker_share(&a->task);
    } else {
        weft__worker_stop();
        state = ENDING;
        result = WEFT_EMEMORY;
    }
    while (state != ENDING)
        pthread_cond_wait(&has_ended, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    take_down(l);
    pthread_mutex_lock(&lock);
    state = NONE;
    return result;
}

int weft_run_with(weft_fn *first, void *arg, const weft_config *how, size_t size)
{
    weft_config        whole = {0};
    struct weft__lane *l = weft__lane_need();

    if (!l)
        return WEFT_EMEMORY;
    if (!first)
        return WEFT_EINVALID;
    if (l->worker)
        return WEFT_EBUSY;
    if (how)
        memcpy(&whole, how, size < sizeof whole ? size : sizeof whole);
    pthread_mutex_lock(&lock);
    int reason = run(first, arg, &whole, l);
    pthread_mutex_unlock(&lock);
    return reason;
}
