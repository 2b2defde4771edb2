/* stress_worker.c - an owner uses its queues without a fence while thieves rob them.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * The owner pushes, takes and splits with all that worker.h has; two thieves rob it as often as they can and hand what
 * they got back through a list. What must not happen:
 *   - a task that is twice somewhere: it is marked as queued when it is taken or robbed, and only then;
 *   - a task that is lost: the owner waits for all of them to come back, round by round;
 *   - owner and thief at the queues together: ThreadSanitizer sees their plain fields race, and natively a queue breaks.
 * The owner is quick and thieves are rare, so rounds are short and a thief begins where the owner is busiest.
 */
#define _GNU_SOURCE
#include "sched/worker.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "help.h"

enum { TASKS = 12, THIEVES = 2, ROUNDS = 100000, STEPS = 1000, LIMIT_S = 120 };

struct thing {
    struct weft__task task;
    atomic_bool       queued; /* relaxed: counted, not followed */
};

static struct weft__worker owner;
static struct thing        things[TASKS];
static struct thing       *mine[TASKS]; /* the owner's: not queued */
static unsigned            mine_count;

static pthread_mutex_t    lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t     came_back = PTHREAD_COND_INITIALIZER;
static struct weft__queue back; /* under lock: robbed, on the way back */

static atomic_bool  stop;
static atomic_ulong robberies, robbed; /* relaxed: read after the joins */

static _Noreturn void fail(const char *what)
{
    printf("stress_worker: FAILED: %s (after %lu robberies of %lu tasks)\n", what,
           atomic_load_explicit(&robberies, memory_order_relaxed),
           atomic_load_explicit(&robbed, memory_order_relaxed));
    fflush(stdout);
    _exit(1);
}

/* ---- Tasks ------------------------------------------------------------------------------------------- */

static struct weft__task *marked(struct thing *t)
{
    if (atomic_exchange_explicit(&t->queued, true, memory_order_relaxed))
        fail("a task was queued twice");
    return &t->task;
}

static struct thing *unmarked(struct weft__task *t)
{
    struct thing *thing = (struct thing *)t;

    if (thing < things || thing >= things + TASKS)
        fail("a queue holds what is no task");
    if (!atomic_exchange_explicit(&thing->queued, false, memory_order_relaxed))
        fail("a task was taken twice");
    return thing;
}

static void keep(struct weft__task *t)
{
    if (!t)
        return;
    struct thing *thing = unmarked(t);
    if (mine_count == TASKS)
        fail("there are more tasks than there were");
    mine[mine_count++] = thing;
}

static struct weft__task *give(void) { return marked(mine[--mine_count]); }

static unsigned keep_all(struct weft__queue *list)
{
    unsigned n = 0;

    for (struct weft__task *t; (t = weft__queue_pop(list)); n++)
        keep(t);
    return n;
}

static void take_back(void)
{
    struct weft__queue list = {NULL, NULL};

    pthread_mutex_lock(&lock);
    weft__queue_append(&list, &back);
    pthread_mutex_unlock(&lock);
    keep_all(&list);
}

/* ---- The owner --------------------------------------------------------------------------------------- */

static void append_two(void)
{
    struct weft__queue list = {NULL, NULL};

    weft__queue_push(&list, give());
    weft__queue_push(&list, give());
    weft__worker_append(&owner, &list, 2);
}

static void split(void)
{
    struct weft__queue list = {NULL, NULL};
    unsigned           n = weft__worker_split(&owner, &list);

    if (n != keep_all(&list))
        fail("a split said another number than it gave");
}

static void push_fast(void)
{
    struct weft__task *t = give();

    if (!weft__worker_push_fast(&owner, t))
        keep(t);
}

/* What a hop does: nothing here ever waits for a thief, so this meets one in the middle. */
static void hop(void)
{
    if (mine_count)
        push_fast();
    keep(weft__worker_slot_fast(&owner));
}

static void step(uint64_t *random)
{
    uint64_t what = draw(random) % 16;

    if (mine_count >= 2 && what == 0)
        append_two();
    else if (mine_count && what < 4)
        weft__worker_push(&owner, give());
    else if (mine_count && what < 6)
        push_fast();
    else if (mine_count && what < 8)
        weft__worker_push_spawned(&owner, give());
    else if (mine_count && what == 8)
        weft__worker_yielded(&owner, give());
    else if (what == 9)
        split();
    else if (what == 10)
        weft__worker_end_turn(&owner);
    else if (what < 13)
        keep(weft__worker_slot_fast(&owner));
    else
        keep(weft__worker_take(&owner));
}

/* Nothing is queued: what is missing was robbed, and is on its way. */
static void wait_for_thieves(void)
{
    pthread_mutex_lock(&lock);
    while (!back.first)
        pthread_cond_wait(&came_back, &lock);
    pthread_mutex_unlock(&lock);
    take_back();
}

/* Everything is found again: here, or with a thief, who hands it back. */
static void collect(void)
{
    owner.budget = 1; /* what is in the slot, too */
    while (mine_count < TASKS) {
        struct weft__task *t = weft__worker_take(&owner);
        if (t)
            keep(t);
        else
            wait_for_thieves(); /* a task that was lost ends here, by the alarm */
    }
    if (!weft__worker_is_empty(&owner) || owner.ready.first || owner.spawned)
        fail("a queue counts what it does not have");
}

/* ---- Thieves ----------------------------------------------------------------------------------------- */

static void *thief(void *unused)
{
    (void)unused;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        struct weft__queue list = {NULL, NULL};
        unsigned           n = weft__worker_rob(&owner, &list), seen = 0;
        for (struct weft__task *t = list.first; n && t; t = t->next)
            seen++;
        if (seen != n)
            fail("a robber said another number than it got");
        if (n == 0) {
            usleep(1); /* not a yield: whoever robbed and was preempted may need this processor */
            continue;
        }
        atomic_fetch_add_explicit(&robberies, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&robbed, n, memory_order_relaxed);
        pthread_mutex_lock(&lock);
        weft__queue_append(&back, &list);
        pthread_cond_signal(&came_back);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void alarmed(int unused)
{
    static const char line[] = "stress_worker: FAILED: a task is lost, or somebody hangs\n";
    ssize_t           ignored = write(STDOUT_FILENO, line, sizeof line - 1);

    (void)unused;
    (void)ignored;
    _exit(1);
}

int main(void)
{
    pthread_t     thread[THIEVES];
    uint64_t      random = 88172645463325252u;
    unsigned long rounds = scaled(ROUNDS);

    signal(SIGALRM, alarmed);
    alarm(LIMIT_S);
    weft__worker_prepare();
    weft__worker_reset(&owner, 0);
    for (unsigned i = 0; i < TASKS; i++)
        mine[mine_count++] = &things[i];
    for (int i = 0; i < THIEVES; i++)
        pthread_create(&thread[i], NULL, thief, NULL);
    for (unsigned long i = 0; i < rounds; i++) {
        owner.budget = 1 << 20;
        for (int n = 0; n < STEPS; n++) {
            if (i % 2)
                hop();
            else
                step(&random);
            if (n % 16 == 15)
                take_back();
        }
        collect();
    }
    atomic_store_explicit(&stop, true, memory_order_relaxed);
    for (int i = 0; i < THIEVES; i++)
        pthread_join(thread[i], NULL);
    take_back();
    if (mine_count != TASKS)
        fail("a task is left behind");
    printf("stress_worker: ok: %lu rounds, %lu robberies of %lu tasks%s\n", rounds, (unsigned long)robberies,
           (unsigned long)robbed, robberies ? "" : " (no membarrier here)");
    return 0;
}
