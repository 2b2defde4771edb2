/* stress_crew.c - workers that sleep, search, share and keep watch never miss a task.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Crews of one to four workers live through rounds; each round is a few tasks that make others, and ends when all have
 * run. Many rounds begin when the whole crew is asleep, others in the middle of its falling asleep. What must not
 * happen:
 *   - a task that nobody runs: a lost wake-up, a keeper that does not look. The round does not end, and the alarm rings;
 *   - a task that runs twice, or runs after it was left over at a stop;
 *   - a worker that does not leave when the crew stops.
 * A long task ends only when others that lie behind it have run, so somebody has to come and take them.
 */
#include "sched/crew.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "help.h"
#include "sched/clock.h"
#include "sched/timers.h"

enum { CYCLES = 24, ROUNDS = 60, JOBS = 512, WORKERS = 4, LIMIT_S = 15 };

/* What a task does when it runs. */
enum kind { PLAIN, TREE, TIMED, LONG, WAITING, CUE, RELEASE };
static const char *const names[] = {"a plain one", "a tree", "a timer", "a long one",
                                    "a long one, and its end"};

struct job {
    struct weft__task  task;
    struct weft__timer timer;
    enum kind          kind;
    unsigned           depth;
    atomic_bool        queued; /* relaxed: counted, not followed */
};

static struct job   jobs[JOBS];
static atomic_uint  used;                   /* of them, in this round */
static atomic_uint  pending;                /* tasks that have still to run; the last one ends the round */
static atomic_uint  behind;                 /* of those, what a long one waits for */
static atomic_bool  cue;                    /* a task has begun that is nearly over */
static atomic_ulong run_count, stolen_from; /* relaxed: read when nobody runs */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  round_ends = PTHREAD_COND_INITIALIZER;
static enum kind       script; /* of this round; for the alarm */

static bool     can_rob; /* not on a kernel without membarrier */
static unsigned workers;

static __thread struct weft__worker *here;

static void pause_for(uint64_t spins)
{
    for (volatile uint64_t i = 0; i < spins; i++)
        ;
}

/* Awake, unless it takes very long: the answer shall come at once. */
#define wait_while(condition)                           \
    for (unsigned long looks = 0; (condition); looks++) \
        if (looks > 100000)                             \
            sched_yield();

static _Noreturn void fail(const char *what)
{
    printf("stress_crew: FAILED: %s\n", what);
    fflush(stdout);
    _exit(1);
}

static void alarmed(int unused)
{
    char line[160];
    int  n = snprintf(line, sizeof line, "stress_crew: FAILED: a round does not end (%s; %u tasks left)\n",
                      names[script], atomic_load(&pending));

    (void)unused;
    ssize_t ignored = write(STDOUT_FILENO, line, n > 0 ? (size_t)n : 0);
    (void)ignored;
    _exit(1);
}

/* ---- Tasks ------------------------------------------------------------------------------------------- */

static struct job *job(enum kind kind, unsigned depth)
{
    struct job *j = &jobs[atomic_fetch_add(&used, 1)];

    if (j >= jobs + JOBS)
        fail("the test is wrong: too few jobs");
    j->kind = kind;
    j->depth = depth;
    if (atomic_exchange(&j->queued, true))
        fail("a task of the last round is still queued");
    atomic_fetch_add(&pending, 1);
    return j;
}

static void done(void)
{
    if (atomic_fetch_sub(&pending, 1) != 1)
        return;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&round_ends);
    pthread_mutex_unlock(&lock);
}

static int64_t fire(struct weft__timer *t, int64_t now)
{
    struct job *j = (struct job *)((char *)t - offsetof(struct job, timer));

    (void)now;
    weft__crew_ready(here, &j->task);
    return WEFT__NEVER;
}

static void grow(struct job *j)
{
    if (!j->depth)
        return;
    weft__crew_ready(here, &job(TREE, j->depth - 1)->task);
    weft__crew_spawned(here, &job(TREE, j->depth - 1)->task);
}

static void set_timer(void)
{
    /* The keeper that fires it is soon busy, and somebody else must watch. */
    struct job *j = job(can_rob && workers > 1 ? LONG : PLAIN, 1);

    j->timer.fire = fire;
    if (weft__timers_set(&j->timer, weft__clock_after(50000)) < 0)
        fail("no memory");
}

/* Only another worker can end this: one task is in the slot, the others are too few to be offered. */
static void be_long(struct job *j)
{
    atomic_fetch_add(&behind, j->depth);
    for (unsigned i = 0; i < j->depth; i++)
        weft__crew_ready(here, &job(RELEASE, 0)->task);
    while (atomic_load(&behind))
        sched_yield();
    atomic_fetch_add_explicit(&stolen_from, 1, memory_order_relaxed);
}

static void run(struct job *j)
{
    if (!atomic_exchange(&j->queued, false))
        fail("a task ran twice");
    atomic_fetch_add_explicit(&run_count, 1, memory_order_relaxed);
    switch (j->kind) {
    case TREE:
        grow(j);
        break;
    case TIMED:
        set_timer();
        break;
    case LONG:
        be_long(j);
        break;
    case WAITING:
        while (atomic_load(&behind))
            sched_yield();
        break;
    case CUE:
        atomic_store(&cue, true);
        pause_for(j->depth);
        break;
    case RELEASE:
        atomic_fetch_sub(&behind, 1);
        break;
    default:
        break;
    }
    done();
}

static void *work(void *worker)
{
    struct weft__task *t;

    here = worker;
    while ((t = weft__crew_next(here))) {
        here->budget--;
        run((struct job *)t);
    }
    return NULL;
}

/* ---- Rounds ------------------------------------------------------------------------------------------ */

static void share(enum kind kind, unsigned depth) { weft__crew_share(&job(kind, depth)->task); }

/* A second foreign thread, that shares at the same time. */
static sem_t       begin;
static atomic_bool leave;

static void *neighbour(void *unused)
{
    (void)unused;
    for (;;) {
        sem_wait(&begin);
        if (atomic_load(&leave))
            return NULL;
        for (int i = 0; i < 8; i++)
            share(PLAIN, 0);
        done(); /* it counts as one until it has shared all */
    }
}

static void share_together(void)
{
    atomic_fetch_add(&pending, 1);
    sem_post(&begin);
    for (int i = 0; i < 8; i++)
        share(PLAIN, 0);
}

/* A worker that looks around, awake, gets both. */
static void share_long_and_its_end(uint64_t spins)
{
    share(PLAIN, 0);
    pause_for(spins);
    atomic_fetch_add(&behind, 1);
    share(WAITING, 0);
    share(RELEASE, 0);
}

/* Again and again, a task just when the worker that has run another is about to sleep. */
static void share_at_bedtime(uint64_t *random)
{
    for (int i = 0; i < 100; i++) {
        atomic_store(&cue, false);
        share(CUE, (unsigned)(draw(random) % 256));
        wait_while(!atomic_load(&cue));
        pause_for(draw(random) % 256);
        share(PLAIN, 0);
        wait_while(atomic_load(&pending) > 1);
        atomic_store(&used, 0);
    }
}

static void share_script(uint64_t *random)
{
    switch (script) {
    case PLAIN:
        if (draw(random) % 2)
            share_together();
        else
            share_at_bedtime(random);
        break;
    case LONG:
        share(LONG, 1 + (unsigned)(draw(random) % 5));
        break;
    case WAITING:
        share_long_and_its_end(draw(random) % 40000);
        break;
    default:
        share(script, 5);
    }
}

/* All workers are in bed: the keeper says so itself. */
static void wait_until_asleep(void)
{
    unsigned sign = workers > 1 ? WEFT__UNWATCHED : WEFT__HUNGRY;

    while (!(weft__crew_wants() & sign))
        sched_yield();
}

static void play_round(uint64_t *random)
{
    static const enum kind plays[] = {PLAIN, PLAIN, TREE, TIMED, LONG, WAITING};
    uint64_t               r = draw(random);

    script = plays[r % (sizeof plays / sizeof plays[0])];
    if ((script == LONG || script == WAITING) && (workers == 1 || !can_rob))
        script = PLAIN;
    alarm(LIMIT_S);
    atomic_store(&used, 0);
    if (r >> 32 & 1)
        wait_until_asleep();
    else
        pause_for(r >> 40 & 0x3fff);
    atomic_fetch_add(&pending, 1); /* ours: the round does not end before it has begun */
    share_script(random);
    if (atomic_fetch_sub(&pending, 1) == 1)
        return;
    pthread_mutex_lock(&lock);
    while (atomic_load(&pending))
        pthread_cond_wait(&round_ends, &lock);
    pthread_mutex_unlock(&lock);
}

/* Tasks that are shared and a stop, at once: each has run, or is left over. */
static void stop_in_the_middle(pthread_t *thread)
{
    alarm(LIMIT_S);
    atomic_store(&used, 0);
    for (int i = 0; i < 16; i++)
        share(TREE, 2);
    weft__crew_stop();
    for (unsigned i = 0; i < workers; i++)
        pthread_join(thread[i], NULL);
    for (struct weft__task *t; (t = weft__crew_left());) {
        if (!atomic_exchange(&((struct job *)t)->queued, false))
            fail("a task is left over that has run");
        atomic_fetch_sub(&pending, 1);
    }
    if (atomic_load(&pending))
        fail("a task is lost at a stop");
}

static void live(unsigned n, uint64_t *random)
{
    pthread_t thread[WORKERS];

    workers = n;
    weft__crew_reset(n, 0);
    for (unsigned i = 0; i < n; i++)
        pthread_create(&thread[i], NULL, work, weft__crew_worker(i));
    for (unsigned long i = scaled(ROUNDS); i > 0; i--)
        play_round(random);
    stop_in_the_middle(thread);
    weft__timers_end();
}

static bool robbing_works(void)
{
    static struct weft__worker w;
    struct weft__task          t;
    struct weft__queue         list;

    weft__worker_prepare();
    weft__worker_reset(&w, 0);
    weft__worker_push(&w, &t);
    return weft__worker_rob(&w, &list) == 1;
}

int main(void)
{
    uint64_t  random = 88172645463325252u;
    pthread_t other;

    signal(SIGALRM, alarmed);
    can_rob = robbing_works();
    sem_init(&begin, 0, 0);
    pthread_create(&other, NULL, neighbour, NULL);
    for (unsigned i = 0; i < CYCLES; i++)
        live(1 + i % WORKERS, &random);
    atomic_store(&leave, true);
    sem_post(&begin);
    pthread_join(other, NULL);
    printf("stress_crew: ok: %d crews, %lu tasks, %lu long ones were robbed%s\n", CYCLES,
           (unsigned long)run_count, (unsigned long)stolen_from, can_rob ? "" : " (no membarrier here)");
    return 0;
}
