/* stress_switch.c [SECONDS] - threads hand stacks to each other in every way that switch.h offers.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Each fiber makes a random move, again and again: back to its thread, on to another fiber, parked until
 * somebody takes its word (perhaps before it is there), away for good, abandoned and begun afresh. It checks
 * that its locals are as it left them and that it is passed itself. Clean under -fsanitize=thread.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "fibers/stack.h"
#include "fibers/switch.h"

enum { THREADS = 3, FIBERS = 60, STACK_BYTES = 64 * 1024, PARKED = 1, TAKEN = 2 };

enum move { YIELD, HAND_OVER, PARK, LEAVE, ABANDON, MOVES };

struct fiber {
    struct weft__stack stack;
    void              *context;
    struct fiber      *next; /* under the lock */
    _Atomic uint64_t   word; /* 0, PARKED, or TAKEN before it could park */
    uint64_t           seed;
    uint64_t           moved[MOVES];
    uint64_t           strayed; /* came back on another thread */
};

struct list {
    struct fiber *first, **end;
};

static pthread_mutex_t  lock = PTHREAD_MUTEX_INITIALIZER;
static struct list      ready = {NULL, &ready.first};   /* can be run by anybody */
static struct list      sleepy = {NULL, &sleepy.first}; /* parked, or about to be */
static struct fiber     fibers[FIBERS];
static char            *stacks;
static _Atomic int      alive = FIBERS;
static _Atomic bool     stop;
static _Atomic uint64_t refusals, wakes;

static _Thread_local void *home_context;

/* The thread may be another one after each switch, so this is never inlined; and the asm hides what it
 * returns: gcc would call it once for all, clang would put the variable in its place. */
__attribute__((noinline)) static void **home(void)
{
    void **mine = &home_context;

    __asm__ volatile("" : "+r"(mine) : : "memory");
    return mine;
}

static void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "stress_switch: %s\n", what);
    abort();
}

static void put(struct list *l, struct fiber *f)
{
    pthread_mutex_lock(&lock);
    f->next = NULL;
    *l->end = f;
    l->end = &f->next;
    pthread_mutex_unlock(&lock);
}

static struct fiber *take(struct list *l)
{
    pthread_mutex_lock(&lock);
    struct fiber *f = l->first;
    if (f && !(l->first = f->next))
        l->end = &l->first;
    pthread_mutex_unlock(&lock);
    return f;
}

static uint64_t random_of(struct fiber *f)
{
    f->seed ^= f->seed << 13;
    f->seed ^= f->seed >> 7;
    f->seed ^= f->seed << 17;
    return f->seed;
}

/* ---- Waking -------------------------------------------------------------------------------------------- */

void weft__switch_refused(_Atomic uint64_t *word)
{
    struct fiber *f = (struct fiber *)(void *)((char *)word - offsetof(struct fiber, word));

    check(atomic_exchange(word, 0) == TAKEN, "refused without reason");
    refusals++;
    put(&ready, f);
}

static void wake(struct fiber *f)
{
    if (atomic_exchange(&f->word, TAKEN) != PARKED)
        return; /* it will be refused */
    atomic_store(&f->word, 0);
    wakes++;
    put(&ready, f);
}

/* ---- Fibers -------------------------------------------------------------------------------------------- */

static void begin(void);

static void make_ready(void *f) { put(&ready, f); }

static void begin_afresh(void *with)
{
    struct fiber *f = with;

    f->context = weft__switch_fresh(&f->stack, begin);
    put(&ready, f);
}

/* Now and then, so that refusals do not wait for luck: takes the word of one that may still be awake. */
static void wake_early(struct fiber *f)
{
    struct fiber *g;

    if (random_of(f) % 8 == 0 && (g = take(&sleepy)))
        wake(g);
}

/* Where to go from here: another fiber if one is ready, else this thread's own stack. `pass` is what is
 * expected there: the fiber itself, or nothing. */
static void *next_context(void **pass)
{
    struct fiber *g = take(&ready);

    *pass = g;
    return g ? g->context : *home();
}

static void *move(struct fiber *f, enum move m)
{
    void *pass, *to;

    f->moved[m]++;
    switch (m) {
    case YIELD:
        return weft__switch_away(&f->context, *home(), NULL, make_ready, f);
    case HAND_OVER:
        to = next_context(&pass);
        return weft__switch_away(&f->context, to, pass, make_ready, f);
    case PARK:
        put(&sleepy, f);
        wake_early(f);
        to = next_context(&pass);
        return weft__switch_park(&f->context, to, pass, &f->word, PARKED);
    case LEAVE:
        weft__switch_leave(*home(), f); /* the thread begins it afresh */
    case ABANDON:
        to = next_context(&pass);
        return weft__switch_away(&f->context, to, pass, begin_afresh, f);
    default:
        abort();
    }
}

static enum move choice(struct fiber *f)
{
    uint64_t r = random_of(f) >> 20;

    if (r % 64 == 0)
        return LEAVE;
    if (r % 64 == 1)
        return ABANDON;
    return (enum move)(r / 64 % 3);
}

/* Some frames between the entry and the switch, each with something to keep. */
__attribute__((noinline)) static void act(struct fiber *f, unsigned depth)
{
    volatile uint64_t kept[4] = {f->seed, depth, (uintptr_t)f, 0};
    uint64_t          seed = f->seed;
    void            **thread = home();

    if (depth > 0)
        act(f, depth - 1);
    else
        check(move(f, choice(f)) == f, "wrong value passed");
    f->strayed += thread != home();
    check(kept[0] == seed && kept[1] == depth && kept[2] == (uintptr_t)f, "locals changed");
}

static void begin(void)
{
    char         *here = __builtin_frame_address(0);
    struct fiber *f = &fibers[(here - stacks) / STACK_BYTES];

    while (!stop)
        act(f, (unsigned)(random_of(f) % 5));
    alive--;
    weft__switch_leave(*home(), NULL);
}

/* ---- Threads ------------------------------------------------------------------------------------------- */

static void *run(void *unused)
{
    struct fiber *f;

    (void)unused;
    while (alive > 0) {
        if ((f = take(&sleepy)))
            wake(f);
        if ((f = take(&ready)))
            f = weft__switch_away(home(), f->context, f, NULL, NULL);
        else
            sched_yield();
        if (f)
            begin_afresh(f);
    }
    return NULL;
}

static void make_fibers(void)
{
    stacks = mmap(NULL, (size_t)FIBERS * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                  0);
    check(stacks != MAP_FAILED, "no memory");
    for (int i = 0; i < FIBERS; i++) {
        fibers[i].stack.low = stacks + (size_t)i * STACK_BYTES;
        fibers[i].stack.top = fibers[i].stack.low + STACK_BYTES - 64 * (i % 16);
        fibers[i].seed = 88172645463325252u + (unsigned)i * 7919u;
        begin_afresh(&fibers[i]);
    }
}

/* A run that missed one of the ways would prove nothing about it. */
static void report(void)
{
    static const char *const names[MOVES] = {"yields", "hand-overs", "parks", "leaves", "abandoned"};
    uint64_t                 moved[MOVES] = {0}, strayed = 0;

    for (int i = 0; i < FIBERS; i++) {
        strayed += fibers[i].strayed;
        for (int m = 0; m < MOVES; m++)
            moved[m] += fibers[i].moved[m];
    }
    printf("stress_switch (%s):", weft__switch_name());
    for (int m = 0; m < MOVES; m++) {
        printf(" %llu %s,", (unsigned long long)moved[m], names[m]);
        check(moved[m] > 0, "a kind of move was never made");
    }
    printf(" %llu woken, %llu refused, %llu strayed\n", (unsigned long long)wakes,
           (unsigned long long)refusals, (unsigned long long)strayed);
    check(wakes > 0 && refusals > 0 && strayed > 0, "never woken, refused or on another thread");
}

int main(int argc, char **argv)
{
    double          seconds = argc > 1 ? atof(argv[1]) : 1;
    struct timespec pause = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    pthread_t       thread[THREADS];

    make_fibers();
    for (int i = 0; i < THREADS; i++)
        check(pthread_create(&thread[i], NULL, run, NULL) == 0, "no thread");
    nanosleep(&pause, NULL);
    stop = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    report();
    return 0;
}
