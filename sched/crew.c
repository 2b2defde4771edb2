/* crew.c - see crew.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#define _GNU_SOURCE
#include "sched/crew.h"

#include <sched.h>

#include "base/futex.h"
#include "sched/clock.h"
#include "sched/timers.h"

static struct weft__worker workers[WEFT__WORKERS_MAX] = {
    [0 ... WEFT__WORKERS_MAX - 1] = {.claim = PTHREAD_MUTEX_INITIALIZER}};
static unsigned worker_count;
static bool     may_spin; /* there is a CPU for each worker */

static pthread_mutex_t      lock = PTHREAD_MUTEX_INITIALIZER;
static struct weft__queue   shared;       /* under lock */
static unsigned             idle;         /* under lock: workers that sleep */
static unsigned             roused;       /* under lock: how often one of them got up */
static unsigned             asked_at;     /* under lock: how often when the keeper asked last (crew.h I4) */
static struct weft__worker *sleepers;     /* under lock: those that sleep soundly, the last first */
static struct weft__worker *keeper;       /* under lock: the sleeper that has the clock, or NULL */
static bool                 keeper_naps;  /* under lock: it looks around now and then */
static bool                 keeper_asks;  /* under lock: it asks whether all rest for good */
static int64_t              keeper_wakes; /* under lock: when it will, by itself */
static bool                 searching;    /* under lock: one worker looks for work, awake */
static _Atomic unsigned     shared_count; /* written under lock; relaxed reads: worth the lock? */
static atomic_bool stopping; /* written under lock; relaxed: read once a turn, and by sleepers under lock */
_Atomic unsigned   weft__crew_wanted;
int64_t (*weft__crew_when_idle)(int64_t now);
enum weft__rest (*weft__crew_asks)(void);
void (*weft__crew_rests)(void);

/* Under the lock, whenever one of these may have changed. */
static void tell_wanted(void)
{
    bool     starving = idle || searching;
    unsigned wanted = (starving && !shared.first ? WEFT__HUNGRY : 0) |
                      (keeper && !keeper_naps && worker_count > 1 ? WEFT__UNWATCHED : 0);

    if (wanted != atomic_load_explicit(&weft__crew_wanted, memory_order_relaxed))
        atomic_store_explicit(&weft__crew_wanted, wanted, memory_order_relaxed);
}

static void ring(struct weft__worker *w)
{
    /* relaxed: the sleeper takes the lock before it looks at anything. */
    atomic_store_explicit(&w->bell, 1, memory_order_relaxed);
    weft__futex_wake(&w->bell);
}

/* Under the lock: one that sleeps soundly is to be rung when the lock is open. NULL: none does. */
static struct weft__worker *pop_sleeper(void)
{
    struct weft__worker *w = sleepers;

    if (w) {
        sleepers = w->next;
        w->asleep = false;
        idle--;
        roused++;
    }
    return w;
}

/* Under the lock: who is to be rung, because there is work. The keeper is asked last: it has the clock. */
static struct weft__worker *rouse(void)
{
    struct weft__worker *w = searching ? NULL : pop_sleeper();

    return w || searching ? w : keeper; /* it looks, and finds */
}

static void put_shared(struct weft__queue *list, unsigned n)
{
    pthread_mutex_lock(&lock);
    weft__queue_append(&shared, list);
    weft__worker_add(&shared_count, n);
    struct weft__worker *w = rouse();
    tell_wanted();
    pthread_mutex_unlock(&lock);
    if (w)
        ring(w);
}

void weft__crew_share(struct weft__task *t)
{
    struct weft__queue one = {t, t};

    t->next = NULL;
    put_shared(&one, 1);
}

static void offer(struct weft__worker *w)
{
    struct weft__queue list;
    unsigned           queued = atomic_load_explicit(&w->ready_count, memory_order_relaxed) +
                      atomic_load_explicit(&w->spawned_count, memory_order_relaxed);
    unsigned n = queued >= WEFT__OFFER_MIN ? weft__worker_split(w, &list) : 0;

    if (n)
        put_shared(&list, n);
}

static void wake_the_keeper(void)
{
    pthread_mutex_lock(&lock);
    struct weft__worker *w = keeper_naps ? NULL : keeper;
    keeper_naps = true; /* as soon as it is awake */
    tell_wanted();
    pthread_mutex_unlock(&lock);
    if (w)
        ring(w);
}

void weft__crew_queued(struct weft__worker *w)
{
    unsigned wanted = weft__crew_wants();

    if (wanted & WEFT__UNWATCHED)
        wake_the_keeper();
    if (wanted & WEFT__HUNGRY)
        offer(w);
}

/* The keeper reads the first deadline under the lock before it sleeps: it saw this one, or is seen here. */
void weft__crew_timed(void)
{
    pthread_mutex_lock(&lock);
    struct weft__worker *w = keeper && weft__timers_earliest() < keeper_wakes ? keeper : NULL;
    pthread_mutex_unlock(&lock);
    if (w)
        ring(w);
}

/* If it asks just now, it will find its bell rung, and ask again. */
void weft__crew_ask(void)
{
    pthread_mutex_lock(&lock);
    struct weft__worker *w = keeper_asks ? keeper : NULL;
    pthread_mutex_unlock(&lock);
    if (w)
        ring(w);
}

void weft__crew_stop(void)
{
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&stopping, true, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; i < worker_count; i++)
        ring(&workers[i]);
}

/* Under the lock: whether the keeper, sound asleep, must look after worker w, which has just got n tasks: one of several
 * waits for the first, and a timer that was set meanwhile for whoever looks. */
static bool must_watch(const struct weft__worker *w, unsigned n)
{
    bool several = n > 1 || (n && !weft__worker_is_empty(w));

    return keeper && !keeper_naps && worker_count > 1 && (several || weft__timers_earliest() < keeper_wakes);
}

/* A share of what lies in the shared queue. False: there was nothing. */
static bool take_shared(struct weft__worker *w)
{
    struct weft__queue list = {NULL, NULL};
    unsigned           n = 0;

    if (!atomic_load_explicit(&shared_count, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&lock);
    unsigned count = atomic_load_explicit(&shared_count, memory_order_relaxed);
    unsigned fair = count / worker_count + 1;
    while (n < fair && n < WEFT__OFFER_MAX && shared.first) {
        weft__queue_push(&list, weft__queue_pop(&shared));
        n++;
    }
    weft__worker_add(&shared_count, -n);
    struct weft__worker *other = shared.first ? rouse() : NULL;
    if (!other && must_watch(w, n))
        other = keeper;
    tell_wanted();
    pthread_mutex_unlock(&lock);
    if (other)
        ring(other);
    if (n)
        weft__worker_append(w, &list, n);
    return n;
}

static void poll_timers(void)
{
    int64_t first = weft__timers_earliest();

    if (first == WEFT__NEVER)
        return;
    int64_t now = weft__clock_now();
    if (first <= now)
        weft__timers_poll(now);
}

static bool must_stop(void) { return atomic_load_explicit(&stopping, memory_order_relaxed); }

/* ---- searching: awake, for a moment -------------------------------------------------------- */

static bool begin_search(void)
{
    pthread_mutex_lock(&lock);
    bool first = !searching;
    searching = true;
    tell_wanted();
    pthread_mutex_unlock(&lock);
    return first;
}

static void end_search(void)
{
    pthread_mutex_lock(&lock);
    searching = false;
    tell_wanted();
    pthread_mutex_unlock(&lock);
}

/* Waits a little for what others offer, so that they need not wake anybody. */
static void search(void)
{
    if (!may_spin || !begin_search())
        return;
    for (int64_t end = weft__clock_now() + WEFT__SPIN_NS; weft__clock_now() < end;)
        for (int i = 0; i < 32; i++) {
            if (atomic_load_explicit(&shared_count, memory_order_relaxed) || must_stop())
                goto found;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#elif defined(__aarch64__)
            __asm__ volatile("yield");
#endif
        }
found:
    end_search();
}

/* ---- sleeping -------------------------------------------------------------------------------- */

/* In one task for longer than a turn of plain messages takes, with others waiting behind it. */
static bool is_stuck(struct weft__worker *w, int64_t now)
{
    unsigned turns = atomic_load_explicit(&w->turns, memory_order_relaxed);

    if (turns != w->seen_turns || weft__worker_is_empty(w)) {
        w->seen_turns = turns;
        w->seen_at = now;
    }
    return now - w->seen_at >= WEFT__STUCK_NS;
}

static bool rob_the_stuck(struct weft__worker *w)
{
    int64_t now = weft__clock_now();
    bool    found = false;

    for (unsigned i = 0; i < worker_count; i++) {
        struct weft__queue list;
        unsigned           n = 0;
        if (&workers[i] != w && is_stuck(&workers[i], now))
            n = weft__worker_rob(&workers[i], &list);
        if (n)
            weft__worker_append(w, &list, n);
        found |= n > 0;
    }
    return found;
}

/* Under the lock: until when the keeper sleeps; grows from nap to nap. */
static int64_t keeper_until(int64_t *nap, int64_t chores)
{
    int64_t until = weft__timers_earliest();

    keeper_naps = idle < worker_count;
    if (!keeper_naps) {
        *nap = WEFT__NAP_MIN_NS;
        return chores < until ? chores : until;
    }
    int64_t end = weft__clock_now() + *nap;
    *nap = *nap * 2 < WEFT__NAP_MAX_NS ? *nap * 2 : WEFT__NAP_MAX_NS;
    return end < until ? end : until;
}

/* Sleeps with the lock open. */
static void sleep_until(struct weft__worker *w, int64_t until)
{
    tell_wanted();
    pthread_mutex_unlock(&lock);
    weft__futex_wait(&w->bell, 0, until);
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&w->bell, 0, memory_order_relaxed);
}

/* When all rest. Returns when to look again; 0: as soon as all do. */
static int64_t do_chores(bool all_idle)
{
    if (!all_idle)
        return 0;
    if (!weft__crew_when_idle || weft__clock_is_virtual())
        return WEFT__NEVER;
    return weft__crew_when_idle(weft__clock_now());
}

/* Under the lock. */
static bool all_rest(void) { return idle == worker_count && !shared.first; }

/* Asks, with the lock open, whether it is for good. */
static enum weft__rest ask(bool all_idle)
{
    return all_idle && weft__crew_asks ? weft__crew_asks() : WEFT__RESTS_NOT;
}

/* Under the lock: what the keeper was told. Returns when to ask again. */
static int64_t heed(enum weft__rest found, int64_t *pause)
{
    if (found == WEFT__RESTS) {
        pthread_mutex_unlock(&lock);
        weft__crew_rests();
        pthread_mutex_lock(&lock);
    }
    if (found != WEFT__RESTS_PERHAPS) {
        *pause = WEFT__ASK_MIN_NS;
        return WEFT__NEVER;
    }
    int64_t when = weft__clock_real_after(*pause);
    *pause = *pause * 2 < WEFT__ASK_MAX_NS ? *pause * 2 : WEFT__ASK_MAX_NS;
    return when;
}

bool weft__crew_at_rest(bool (*so)(void))
{
    pthread_mutex_lock(&lock);
    bool is_so = all_rest() && roused == asked_at && so();
    pthread_mutex_unlock(&lock);
    return is_so;
}

/* Under the lock: has the clock, and looks around from time to time, until there is something to do. */
static void keep(struct weft__worker *w)
{
    int64_t nap = WEFT__NAP_MIN_NS, pause = WEFT__ASK_MIN_NS, chores = 0;

    keeper = w;
    keeper_asks = weft__crew_asks;
    while (!shared.first && !must_stop()) {
        keeper_wakes = keeper_until(&nap, chores);
        sleep_until(w, keeper_wakes);
        bool all_idle = idle == worker_count;
        asked_at = roused;
        pthread_mutex_unlock(&lock);
        poll_timers();
        chores = do_chores(all_idle);
        enum weft__rest rests = ask(all_idle);
        bool            found = rob_the_stuck(w) || !weft__worker_is_empty(w) ||
                     (weft__clock_is_virtual() && weft__timers_earliest() != WEFT__NEVER);
        pthread_mutex_lock(&lock);
        if (found)
            break;
        int64_t again = heed(rests, &pause);
        chores = again < chores ? again : chores;
    }
    keeper = NULL;
    keeper_naps = false;
}

/* Under the lock: sleeps until it is rung. */
static void sleep_soundly(struct weft__worker *w)
{
    w->asleep = true;
    w->next = sleepers;
    sleepers = w;
    while (w->asleep && !must_stop())
        sleep_until(w, WEFT__NEVER);
}

static void rest(struct weft__worker *w)
{
    struct weft__worker *successor = NULL;

    pthread_mutex_lock(&lock);
    if (!shared.first && !must_stop()) {
        idle++;
        if (keeper) {
            if (weft__timers_earliest() < keeper_wakes || (weft__crew_asks && all_rest()))
                ring(keeper); /* a timer was set since it fell asleep; or it is to ask */
            sleep_soundly(w); /* who roused it counted it */
        } else {
            keep(w);
            idle--;
            roused++;
            successor = pop_sleeper();
        }
    }
    tell_wanted();
    pthread_mutex_unlock(&lock);
    if (successor)
        ring(successor);
}

/* One worker that replays: time stands still while it works. */
static void rest_in_virtual_time(struct weft__worker *w)
{
    if (weft__timers_earliest() == WEFT__NEVER)
        rest(w);
    else
        weft__clock_jump(weft__timers_earliest());
}

static void find_work(struct weft__worker *w)
{
    poll_timers();
    if (take_shared(w) || !weft__worker_is_empty(w))
        return;
    search();
    if (take_shared(w))
        return;
    if (weft__clock_is_virtual())
        rest_in_virtual_time(w);
    else
        rest(w);
    w->tick = weft__clock_now();
}

/* ---- what is next ---------------------------------------------------------------------------- */

static void begin_turn(struct weft__worker *w)
{
    unsigned turns = atomic_load_explicit(&w->turns, memory_order_relaxed) + 1;

    atomic_store_explicit(&w->turns, turns, memory_order_relaxed);
    w->budget--; /* whoever it is for */
    if (w->budget <= 0 || turns % WEFT__GLOBAL_EVERY == 0) {
        take_shared(w);
        poll_timers();
        w->tick = weft__clock_now();
    }
    if (w->budget <= 0)
        weft__worker_end_turn(w);
}

struct weft__task *weft__crew_next(struct weft__worker *w)
{
    while (!must_stop()) {
        begin_turn(w);
        struct weft__task *t = weft__worker_take(w);
        if (t) {
            if (WEFT__RARE(weft__crew_wants() & WEFT__HUNGRY))
                offer(w);
            return t;
        }
        find_work(w);
    }
    return NULL;
}

bool weft__crew_is_dry(const struct weft__worker *w)
{
    return weft__worker_is_empty(w) && !atomic_load_explicit(&shared_count, memory_order_relaxed);
}

bool weft__crew_has_others(const struct weft__worker *w)
{
    return !weft__crew_is_dry(w) || must_stop() || weft__timers_earliest() != WEFT__NEVER;
}

/* ---- start and end ---------------------------------------------------------------------------- */

void weft__crew_reset(unsigned n, uint64_t seed)
{
    static bool prepared; /* one system at a time */

    if (!prepared)
        weft__worker_prepare();
    prepared = true;
    worker_count = seed ? 1 : n;
    cpu_set_t cpus;
    may_spin = worker_count > 1 && sched_getaffinity(0, sizeof cpus, &cpus) == 0 &&
               (unsigned)CPU_COUNT(&cpus) >= worker_count;
    for (unsigned i = 0; i < worker_count; i++)
        weft__worker_reset(&workers[i], seed);
    pthread_mutex_lock(&lock);
    shared.first = NULL;
    sleepers = keeper = NULL;
    keeper_naps = searching = false;
    idle = 0;
    atomic_store_explicit(&shared_count, 0, memory_order_relaxed);
    atomic_store_explicit(&stopping, false, memory_order_relaxed);
    tell_wanted();
    pthread_mutex_unlock(&lock);
}

struct weft__worker *weft__crew_worker(unsigned i) { return &workers[i]; }

void weft__crew_abandon(unsigned i)
{
    struct weft__queue list;
    unsigned           n = weft__worker_rob(&workers[i], &list);

    workers[i].is_abandoned = true;
    if (n)
        put_shared(&list, n);
}

struct weft__task *weft__crew_left(void)
{
    struct weft__task *t;

    pthread_mutex_lock(&lock);
    t = weft__queue_pop(&shared);
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; !t && i < worker_count; i++) {
        if (workers[i].is_abandoned)
            continue;
        weft__worker_end_turn(&workers[i]);
        workers[i].budget = 1;
        t = weft__worker_take(&workers[i]);
    }
    return t;
}
