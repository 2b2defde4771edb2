/* system.c - starting and ending: the workers' threads, the first actor, and who sees a system to its end.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * One system a process at a time. `lock` guards its state, and a thread that is no worker holds it while it makes an
 * actor, so none is made in a system that is being taken down.
 *
 * One thread conducts: it sleeps until the system is at its end, waits for the workers, and takes down what is left. It is
 * the one that called weft_run; for a system that was started by need it is who stops it, or a thread made for that.
 * What it sleeps on is a futex, because it may have to look at the clock: a stop does not rely on any worker.
 *
 *   RUNNING -> ENDING    the first actor has ended, or the last, or a stop is over, or nothing can move any more
 *   ENDING  -> NONE      the conductor has taken all down
 *   ENDING  -> STUCK     after a stop some workers did not come back; there will be no other system
 */
#define _GNU_SOURCE /* pthread_setname_np */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/futex.h"
#include "fibers/switch.h"
#include "runtime/actor.h"
#include "runtime/fault.h"
#include "sched/clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  has_ended = PTHREAD_COND_INITIALIZER;
static enum { NONE, STARTING, RUNNING, ENDING, STUCK } state; /* under lock, as all below */
static int              result;                               /* what weft_run returns */
static bool             waits_for_all;                        /* it does not end with its first actor */
static bool             is_conducted;                         /* there is a thread that sees it to its end */
static bool             is_dead;    /* every actor waits, and nothing can wake any of them */
static bool             is_stopped; /* by weft_stop: */
static int64_t          stop_until; /* when the conductor waits no longer; real time */
static uint64_t         systems_ended;
static _Atomic uint32_t news; /* a futex: the conductor's */
static unsigned         stack_class;
static unsigned         thread_count; /* workers that were started */
static pthread_t        threads[WEFT__WORKERS_MAX];
static bool             has_left[WEFT__WORKERS_MAX]; /* those that have come back */

/* Under the lock: something has changed. */
static void tell(void)
{
    /* relaxed: the conductor looks at everything under the lock. */
    atomic_fetch_add_explicit(&news, 1, memory_order_relaxed);
    weft__futex_wake(&news);
    pthread_cond_broadcast(&has_ended);
}

/* The conductor, under the lock, which is open meanwhile: until there is news, or it is time. */
static void await_news(int64_t until)
{
    uint32_t seen = atomic_load_explicit(&news, memory_order_relaxed); /* who tells has the lock */

    pthread_mutex_unlock(&lock);
    weft__futex_wait(&news, seen, until);
    pthread_mutex_lock(&lock);
}

/* ---- the workers' threads ------------------------------------------------------------------------------- */

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
    unsigned                 i = start->i;
    struct weft__worker     *worker = weft__crew_worker(i);
    struct weft__lane       *l = weft__lane_need();
    struct weft__fault_stack handlers;
    int                      error = equip(l, &handlers);

    name_thread(i);
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
    pthread_mutex_lock(&lock);
    has_left[i] = true;
    tell();
    pthread_mutex_unlock(&lock);
    return NULL;
}

static int start_thread(unsigned i)
{
    struct start start = {i, 1};

    has_left[i] = false;
    if (pthread_create(&threads[i], NULL, work, &start))
        return WEFT_ESYSTEM;
    while (start.found == 1)
        pthread_cond_wait(&has_ended, &lock);
    if (start.found)
        pthread_join(threads[i], NULL);
    return start.found;
}

/* Under the lock, which is open meanwhile: until they have left, or it is time. */
static void await_threads(int64_t until)
{
    for (unsigned i = 0; i < thread_count;) {
        if (has_left[i])
            i++;
        else if (weft__clock_real_after(0) >= until)
            return;
        else
            await_news(until);
    }
}

static bool is_back(unsigned i)
{
    pthread_mutex_lock(&lock);
    bool back = has_left[i];
    pthread_mutex_unlock(&lock);
    return back;
}

/* Not under the lock: what the program does at a thread's end may need it. False: some were left behind. */
static bool join_threads(void)
{
    bool all = true;

    while (thread_count) {
        unsigned i = --thread_count;
        if (is_back(i)) {
            pthread_join(threads[i], NULL);
        } else {
            pthread_detach(threads[i]);
            weft__crew_abandon(i);
            all = false;
        }
    }
    return all;
}

/* Under the lock, which is open meanwhile: all that run, before there is anything to run. */
static void take_threads_back(void)
{
    weft__crew_stop();
    await_threads(WEFT__NEVER);
    pthread_mutex_unlock(&lock);
    join_threads();
    pthread_mutex_lock(&lock);
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
    if (error)
        take_threads_back();
    return error;
}

/* ---- while it runs -------------------------------------------------------------------------------------- */

/* Under the lock. `conductor` is the lane of who called weft_run, or NULL. */
static int start(const weft_config *how, struct weft__lane *conductor)
{
    uint64_t seed = weft__settings_seed(how);
    unsigned workers = seed ? 1 : weft__settings_workers(how);
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
    weft__rest_watch(workers, conductor, how->wait_all, weft__settings_deadlocks(how));
    weft__clock_virtual(seed != 0);
    weft__fault_begin(how->overflow);
    waits_for_all = how->wait_all;
    is_conducted = conductor;
    is_dead = is_stopped = false;
    result = 0;
    state = STARTING; /* start_threads lets go of the lock */
    int error = start_threads(workers);
    if (!error && weft__settings_dumps(how) && (error = weft__signals_dump()))
        take_threads_back();
    if (error)
        weft__fault_end();
    state = error ? NONE : RUNNING;
    tell();
    return error;
}

int weft__system_hold(void)
{
    int error = 0;

    pthread_mutex_lock(&lock);
    while (state == STARTING)
        pthread_cond_wait(&has_ended, &lock);
    if (state == NONE)
        error = start(&(weft_config){0}, NULL);
    else if (state != RUNNING || is_stopped)
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

/* Under the lock. */
static void end(void)
{
    state = ENDING;
    weft__crew_stop();
    tell();
}

void weft__system_ended(int reason)
{
    pthread_mutex_lock(&lock);
    if (state == RUNNING && !is_stopped) {
        result = reason;
        if (!waits_for_all)
            end();
    }
    pthread_mutex_unlock(&lock);
}

void weft__system_stopped(void)
{
    pthread_mutex_lock(&lock);
    if (state == RUNNING)
        end();
    pthread_mutex_unlock(&lock);
}

static int start_conductor(void);

static bool yes(void) { return true; }

/* Whoever conducts now sleeps, and under the lock nobody makes an actor but an actor. So if no worker has moved since it
 * was found, it is true, and stays so. */
void weft__system_rests(bool dead)
{
    pthread_mutex_lock(&lock);
    if (state == RUNNING && !is_stopped) {
        bool found = weft__crew_at_rest(dead ? yes : weft__rest_nobody_lives);
        is_dead = is_dead || (dead && found);
        if (is_dead && !is_conducted) /* it was started by need; without a thread nobody is told */
            is_dead = is_conducted = start_conductor() == 0;
        if (!dead && found)
            end();
        tell();
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the conductor -------------------------------------------------------------------------------------- */

/* Under the lock, which is open meanwhile; all workers sleep. */
static void report_dead(void)
{
    pthread_mutex_unlock(&lock);
    fprintf(stderr, "weft: %s\n", weft_strerror(WEFT_EDEADLOCK));
    weft_dump(stderr);
    pthread_mutex_lock(&lock);
    if (state == RUNNING && !is_stopped) {
        result = WEFT_EDEADLOCK;
        end();
    }
}

/* Under the lock, which is open meanwhile: sees the system to its end. */
static void conduct(struct weft__lane *l)
{
    while (state == RUNNING) {
        if (is_dead && !is_stopped)
            report_dead();
        else if (is_stopped && weft__clock_real_after(0) >= stop_until)
            end(); /* what stops it did not get on, either */
        else
            await_news(is_stopped ? stop_until : WEFT__NEVER);
    }
    await_threads(is_stopped ? weft__clock_real_after(WEFT__GRACE_NS) : WEFT__NEVER);
    pthread_mutex_unlock(&lock);
    bool all = join_threads();
    weft__down(l, all);
    weft__actor_forget_extras(l); /* of those that this thread took down */
    weft__signals_end();
    pthread_mutex_lock(&lock);
    if (all)
        weft__fault_end();
    else
        result = WEFT_ESTUCK;
    state = all ? NONE : STUCK;
    systems_ended++;
    tell();
}

static void *conduct_elsewhere(void *unused)
{
    struct weft__lane *l = weft__lane_need();

    pthread_setname_np(pthread_self(), "weft-stop");
    pthread_mutex_lock(&lock);
    while (!l) { /* it must be done */
        await_news(weft__clock_real_after(WEFT__GRACE_NS));
        l = weft__lane_need();
    }
    conduct(l);
    pthread_mutex_unlock(&lock);
    return unused;
}

/* 0 or an error. */
static int start_conductor(void)
{
    pthread_t thread;
    sigset_t  before;

    weft__signals_block(&before);
    int refused = pthread_create(&thread, NULL, conduct_elsewhere, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (refused)
        return WEFT_ESYSTEM;
    pthread_detach(thread);
    return 0;
}

/* Under the lock. `here`: if nobody conducts yet, the caller will. */
static int begin_stop(struct weft__lane *l, int reason, int64_t time, bool here)
{
    struct weft__actor *a = weft__stop_actor(l, time);
    int                 error = !a ? WEFT_EMEMORY : is_conducted || here ? 0 : start_conductor();

    if (error) {
        if (a)
            weft__actor_end(l, a);
        return error;
    }
    int64_t patience = time < WEFT__NEVER - 2 * WEFT__GRACE_NS ? time + 2 * WEFT__GRACE_NS : WEFT__NEVER;
    is_stopped = true;
    stop_until = weft__clock_real_after(patience);
    result = reason;
    weft__rest_unwatch();
    weft__signals_hold();
    weft__crew_share(&a->task);
    tell();
    return 0;
}

/* A thread of the program's, under the lock: until it has ended. */
static int await_stop(struct weft__lane *l)
{
    uint64_t before = systems_ended;

    if (!is_conducted) {
        is_conducted = true;
        conduct(l);
    }
    while (systems_ended == before)
        pthread_cond_wait(&has_ended, &lock);
    return state == STUCK ? WEFT_ESTUCK : 0;
}

int weft__system_stop(struct weft__lane *l, int reason, int64_t time)
{
    bool waits = !l->worker && !weft__lane_calls(l);
    int  error = WEFT_EGONE;

    pthread_mutex_lock(&lock);
    while (state == STARTING)
        pthread_cond_wait(&has_ended, &lock);
    if (state == RUNNING) {
        error = is_stopped ? 0 : begin_stop(l, reason, time, waits);
        if (!error && waits)
            error = await_stop(l);
        else
            is_conducted = is_conducted || !error;
    } else if (state == ENDING && waits) {
        await_stop(l);
    } else if (state == STUCK) {
        error = WEFT_ESTUCK;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static int run(weft_fn *first, void *arg, const weft_config *how, struct weft__lane *l)
{
    int error = start(how, l);

    if (error)
        return error;
    struct weft__actor *a = weft__actor_new(l, first, arg, WEFT__FIRST);
    if (a) {
        weft__crew_share(&a->task);
    } else {
        result = WEFT_EMEMORY;
        end();
    }
    conduct(l);
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
