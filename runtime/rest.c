/* rest.c - whether a system rests for good: no actor lives any more, or none will ever move again.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Asked by the crew when all workers sleep (crew.h I4), so that nobody who runs pays for it. An actor that waits can be
 * woken by another, by a timer, by a signal of the process, or by a thread of the program's. Such a thread may do anything,
 * also if it has never called Weft, unless it waits itself, as an actor, without a limit. So threads are the hard part:
 *
 *      look       every thread with a lane waits: its mailbox is PARKED, by this very wait
 *      count      the process has no other threads: the kernel tells their number
 *      timers     none is set that would wake anybody; no actor waits for signals
 *      look       every such thread waits still, by the same wait
 *
 *   I1  Each park of a thread has a word of its own (thread.c). So who is seen twice with the same word slept in
 *       between; and at the count, which lies in between, all threads did, those that nobody knows were not there, and
 *       the workers slept (the crew looks at that before and after). From that moment on nothing can have changed, and
 *       what is seen of timers after it is true.
 *   I2  A thread that is about to end is seen too long rather than too short. It makes no noise when it is gone, and so
 *       the crew asks again, from time to time, if only threads were in the way; only then.
 *   I3  A thread rouses nobody when it waits for signals no longer, nor when it becomes an actor or ceases to be one,
 *       which looks for a moment as if one more lived. So it has the crew ask again.
 *
 * The conductor waits in weft_run. What else Weft has of threads does nothing unasked, and says so in its lane.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fibers/notes.h"
#include "runtime/actor.h"
#include "sched/clock.h"
#include "sched/crew.h"

static unsigned                 worker_count; /* these five are written while no worker runs */
static const struct weft__lane *conductor;
static bool                     minds_empty, minds_deadlocks;
static bool                     found_dead;
static atomic_bool              watches; /* relaxed: to be told late is to ask once more */

/* ---- how many there are ------------------------------------------------------------------------------------ */

/* Ends are counted before spawns. So whoever ends in between is counted still, and whoever it had spawned, too: only when
 * nobody is left the two agree. */
uint64_t weft__rest_living(void)
{
    uint64_t spawned = 0, ended = 0, are_threads = 0;

    weft__lane_lock();
    for (struct weft__lane *l = NULL; (l = weft__lane_each(l));)
        ended += atomic_load_explicit(&l->ended, memory_order_acquire); /* = E (actor.c) */
    for (struct weft__lane *l = NULL; (l = weft__lane_each(l));) {
        /* relaxed: of those who have ended, see E; what threads count they count under the lock. */
        spawned += atomic_load_explicit(&l->spawned, memory_order_relaxed);
        are_threads += !l->worker && l->self; /* a worker writes its own without a lock */
    }
    weft__lane_unlock();
    return spawned - ended - are_threads;
}

bool weft__rest_nobody_lives(void) { return weft__rest_living() == 0; }

/* ---- threads of the program's ------------------------------------------------------------------------------ */

/* Under the lanes' lock: it waits, and only another can wake it. */
static bool waits(const struct weft__lane *l, uint64_t *word)
{
    const struct weft__actor *a = l->self;

    if (!a)
        return false;
    /* acquire = R (thread.c): sees what it left before it parked. */
    *word = atomic_load_explicit(&a->box.word, memory_order_acquire);
    return weft__inbox_is_parked(*word, weft__actor_generation(weft__actor_pid(a))) &&
           atomic_load_explicit(&a->extra->deadline, memory_order_relaxed) == WEFT__NEVER &&
           atomic_load_explicit(&a->extra->woken, memory_order_relaxed) ==
               atomic_load_explicit(&a->extra->heard, memory_order_relaxed);
}

/* All that are there wait. `again`: by the same wait as when they were looked at last. -1: they do not. Else how many
 * there are that are no workers. */
static long count_waiting(bool again)
{
    long n = 0;

    weft__lane_lock();
    for (struct weft__lane *l = NULL; n >= 0 && (l = weft__lane_each(l));) {
        uint64_t word = 0;
        if (!l->is_used || l->worker)
            continue;
        n++;
        if (l == conductor || l->serves)
            continue;
        if (!waits(l, &word) || (again && (l->seen != l->self || l->seen_word != word)))
            n = -1;
        l->seen = l->self;
        l->seen_word = word;
    }
    weft__lane_unlock();
    return n;
}

/* The main thread may end before the others. It is counted still, as the process has its number. */
static bool main_has_ended(void)
{
    char    text[512];
    int     file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? 0 : read(file, text, sizeof text - 1);

    if (file >= 0)
        close(file);
    text[n > 0 ? n : 0] = 0;
    const char *name = strrchr(text, ')'); /* its end: a name may have such, too */
    return name && strncmp(name, ") Z", 3) == 0;
}

/* Of the process; -1: nobody knows. */
static long count_threads(void)
{
    struct stat s; /* a directory's links: itself, its parent's, and one for each thread */

    if (stat("/proc/self/task", &s))
        return -1;
    return (long)s.st_nlink - 2 - WEFT__NOTES_THREADS - main_has_ended();
}

static bool others_are_there(void)
{
    long n = count_waiting(false);

    return n < 0 || count_threads() != n + (long)worker_count;
}

/* ---- what the crew asks ------------------------------------------------------------------------------------- */

static enum weft__rest look(void)
{
    found_dead = false;
    if (!atomic_load_explicit(&watches, memory_order_relaxed))
        return WEFT__RESTS_NOT;
    if (minds_empty && weft__rest_nobody_lives())
        return WEFT__RESTS;
    if (!minds_deadlocks)
        return minds_empty ? WEFT__RESTS_PERHAPS : WEFT__RESTS_NOT;
    if (weft__signals_wanted())
        return WEFT__RESTS_NOT;
    if (others_are_there())
        return WEFT__RESTS_PERHAPS;
    if (weft__timers_any(weft__wait_timer_counts))
        return WEFT__RESTS_NOT;
    found_dead = count_waiting(true) >= 0;
    return found_dead ? WEFT__RESTS : WEFT__RESTS_PERHAPS;
}

static void tell(void) { weft__system_rests(found_dead); }

void weft__rest_watch(unsigned workers, const struct weft__lane *runs, bool wait_all, bool deadlock)
{
    worker_count = workers;
    conductor = runs;
    minds_empty = wait_all;
    minds_deadlocks = deadlock;
    found_dead = false;
    weft__crew_asks = wait_all || deadlock ? look : NULL;
    weft__crew_rests = tell;
    atomic_store_explicit(&watches, true, memory_order_relaxed);
}

void weft__rest_unwatch(void) { atomic_store_explicit(&watches, false, memory_order_relaxed); }
