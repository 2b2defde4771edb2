/* system.c - starting and ending: the workers' threads, the first actor, and what is left when it ends.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * One system a process at a time. `lock` guards its state, and a thread that is no worker holds it while it makes an
 * actor, so none is made in a system that is being taken down.
 *
 * Taking down happens when the workers' threads have ended. Each actor that is left is parked, or queued, or in the
 * hands of a foreign sender that took it from PARKED and is about to queue it. So: what is queued is ended; what is
 * parked is taken from PARKED, as a sender would, and ended; the rest will be in the shared queue in a moment.
 */
#define _GNU_SOURCE /* CPU_COUNT, pthread_setname_np */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fibers/switch.h"
#include "runtime/actor.h"
#include "runtime/fault.h"
#include "sched/clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  has_ended = PTHREAD_COND_INITIALIZER;
static enum { NONE, STARTING, RUNNING, ENDING } state; /* under lock */
static int       result;                               /* under lock: the first actor's reason */
static unsigned  stack_class;
static unsigned  thread_count; /* under lock: workers that run */
static pthread_t threads[WEFT__WORKERS_MAX];

struct start {
    unsigned i;
    int      found; /* under lock: 1 until the thread says what it found, 0 or an error */
};

static void name_thread(unsigned i)
{
    char name[16];

    snprintf(name, sizeof name, "weft-%u", i);
    pthread_setname_np(pthread_self(), name);
}

/* What a worker's thread needs: 0, or there is none of it. */
static int equip(struct weft__lane *l, struct weft__fault_stack *handlers)
{
    if (!l)
        return WEFT_EMEMORY;
    l->spare = weft__stack_get(&l->stacks, stack_class);
    if (!l->spare)
        return WEFT_ESTACK;
    int error = weft__fault_enter(l, handlers, stack_class);
    if (error) {
        weft__stack_put(&l->stacks, l->spare);
        l->spare = NULL;
    }
    return error;
}

/* A worker's thread: enters the loop on a spare stack, and comes back here when it is told to stop. */
static void *work(void *arg)
{
    struct start            *start = arg;
    struct weft__worker     *worker = weft__crew_worker(start->i);
    struct weft__lane       *l = weft__lane_need();
    struct weft__fault_stack handlers;
    int                      error = equip(l, &handlers);

    name_thread(start->i);
    pthread_mutex_lock(&lock);
    start->found = error;
    pthread_cond_broadcast(&has_ended);
    pthread_mutex_unlock(&lock);
    if (error)
        return NULL;
    weft__lane_lock(); /* weft__thread_release_all looks at it */
    l->worker = l->sender = worker;
    l->exceptions = weft__exceptions_here(&l->no_exceptions);
    weft__lane_unlock();
    l->stack_class = stack_class;
    l->stack_bytes = (size_t)WEFT__STACK_SMALLEST << stack_class;
    weft__switch_away(&l->home, weft__switch_fresh(l->spare, weft__loop), NULL, NULL, NULL);
    weft__stack_put(&l->stacks, l->spare);
    l->spare = NULL;
    weft__fault_leave(l, &handlers);
    weft__lane_leave();
    return NULL;
}

static int start_thread(unsigned i)
{
    struct start start = {i, 1};

    if (pthread_create(&threads[i], NULL, work, &start))
        return WEFT_ESYSTEM;
    while (start.found == 1)
        pthread_cond_wait(&has_ended, &lock);
    if (start.found)
        pthread_join(threads[i], NULL);
    return start.found;
}

static void join_threads(void)
{
    while (thread_count)
        pthread_join(threads[--thread_count], NULL);
}

/* All of them, or none. */
static int start_threads(unsigned n)
{
    sigset_t before;
    int      error = 0;

    weft__signals_block(&before); /* signals are for the program's own threads */
    for (thread_count = 0; !error && thread_count < n; thread_count += !error)
        error = start_thread(thread_count);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        weft__crew_stop();
        join_threads();
    }
    return error;
}

static unsigned cpus_allowed(void)
{
    cpu_set_t cpus;
    int       n = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;

    return n < 1 ? 1 : n > WEFT__WORKERS_MAX ? WEFT__WORKERS_MAX : (unsigned)n;
}

/* A number of the environment; `otherwise`, and a line on stderr, if it is not one from `least` to `most`. */
static uint64_t from_environment(const char *name, uint64_t least, uint64_t most, uint64_t otherwise)
{
    const char *text = getenv(name);
    char       *end;

    if (!text || !*text)
        return otherwise;
    errno = 0;
    uint64_t n = strtoull(text, &end, 0);
    if (!*end && !errno && *text != '-' && n >= least && n <= most)
        return n;
    fprintf(stderr, "weft: %s=%s is not a number from %llu to %llu, and is ignored\n", name, text,
            (unsigned long long)least, (unsigned long long)most);
    return otherwise;
}

/* How many workers: as asked for, or WEFT_WORKERS, or one for each CPU that is allowed. 0: that makes no sense. */
static unsigned chosen_workers(const weft_config *how)
{
    if (how->workers)
        return how->workers < 1 || how->workers > WEFT__WORKERS_MAX ? 0 : (unsigned)how->workers;
    return (unsigned)from_environment("WEFT_WORKERS", 1, WEFT__WORKERS_MAX, cpus_allowed());
}

static uint64_t chosen_seed(const weft_config *how)
{
    return how->seed ? how->seed : from_environment("WEFT_SEED", 0, UINT64_MAX, 0);
}

static bool dumps_on_quit(const weft_config *how)
{
    return how->dump_on_quit || from_environment("WEFT_DUMP_ON_QUIT", 0, 1, 0);
}

/* Under the lock. */
static int start(const weft_config *how)
{
    uint64_t seed = chosen_seed(how);
    unsigned workers = seed ? 1 : chosen_workers(how);
    int class = how->stack_bytes ? weft__stack_class(how->stack_bytes)
                                 : weft__stack_class(WEFT__STACK_DEFAULT - 8192);

    if (state != NONE)
        return WEFT_EBUSY;
    if (class < 0 || workers == 0 || (unsigned)how->overflow > WEFT_OVERFLOW_ISOLATE)
        return WEFT_EINVALID;
    stack_class = (unsigned)class;
    weft__crew_when_idle = weft__stack_cool;
    weft__later_prepare();
    weft__crew_reset(workers, seed);
    weft__clock_virtual(seed != 0);
    weft__fault_begin(how->overflow);
    state = STARTING; /* start_threads lets go of the lock */
    int error = start_threads(workers);
    if (!error && dumps_on_quit(how) && (error = weft__signals_dump())) {
        weft__crew_stop();
        join_threads();
    }
    if (error)
        weft__fault_end();
    state = error ? NONE : RUNNING;
    pthread_cond_broadcast(&has_ended);
    return error;
}

int weft__system_hold(void)
{
    int error = 0;

    pthread_mutex_lock(&lock);
    while (state == STARTING)
        pthread_cond_wait(&has_ended, &lock);
    if (state == NONE)
        error = start(&(weft_config){0});
    else if (state == ENDING)
        error = WEFT_EENDED;
    if (error)
        pthread_mutex_unlock(&lock);
    return error;
}

void weft__system_release(void) { pthread_mutex_unlock(&lock); }

bool weft__system_runs(void)
{
    pthread_mutex_lock(&lock);
    bool runs = state == STARTING || state == RUNNING;
    pthread_mutex_unlock(&lock);
    return runs;
}

unsigned weft__system_workers(void)
{
    pthread_mutex_lock(&lock);
    unsigned n = state == RUNNING ? thread_count : 0; /* who ends one counts them down without the lock */
    pthread_mutex_unlock(&lock);
    return n;
}

void weft__system_ended(int reason)
{
    weft__crew_stop();
    pthread_mutex_lock(&lock);
    result = reason;
    state = ENDING;
    pthread_cond_broadcast(&has_ended);
    pthread_mutex_unlock(&lock);
}

static void end_left_over(struct weft__lane *l, struct weft__actor *a)
{
    weft__ending_run(l, a);
    if (a->stack)
        weft__stack_put(&l->stacks, a->stack);
    a->stack = NULL;
    a->reason = WEFT_EENDED;
    weft__actor_end(l, a);
}

static void end_queued(struct weft__lane *l)
{
    for (struct weft__task *t; (t = weft__crew_left());)
        end_left_over(l, (struct weft__actor *)t);
}

/* Under the lanes' lock, because threads become actors, and end, at any time. Those have no function. */
static bool is_ours(const struct weft__actor *a)
{
    weft__lane_lock();
    bool ours = atomic_load_explicit(&a->fn, memory_order_relaxed) && a->phase != WEFT__FREE;
    weft__lane_unlock();
    return ours;
}

static void end_parked(struct weft__lane *l, struct weft__actor *a)
{
    while (is_ours(a)) {
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
    size_t slots = atomic_load_explicit(&weft__actor_count, memory_order_relaxed);

    end_queued(l);
    for (size_t i = 0; i < slots; i++)
        end_parked(l, weft__actor_block((weft_pid){i}));
    weft__later_end_all(l);
    weft__thread_release_all();
    weft__timers_end();
    weft__clock_virtual(false);
}

static int run(weft_fn *first, void *arg, const weft_config *how, struct weft__lane *l)
{
    int error = start(how);

    if (error)
        return error;
    struct weft__actor *a = weft__actor_new(l, first, arg, WEFT__FIRST);
    if (a) {
        weft__crew_share(&a->task);
    } else {
        weft__crew_stop();
        state = ENDING;
        result = WEFT_EMEMORY;
    }
    while (state != ENDING)
        pthread_cond_wait(&has_ended, &lock);
    pthread_mutex_unlock(&lock);
    join_threads();
    take_down(l);
    weft__actor_forget_extras(l); /* of those that this thread took down */
    weft__signals_end();
    pthread_mutex_lock(&lock);
    weft__fault_end();
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
