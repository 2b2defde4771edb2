/* stress_pid.c - slots change owners all the time, and nobody gets what was meant for the last one.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Mayflies are actors that write their pid on a board, receive a little, in one way or another, and end; another one
 * takes the place on the board, and soon the slot. Some are threads. Senders, actors and threads, send to what they
 * find on the board, and to what they found there some time ago. What must not happen:
 *   - a message that somebody receives for whom it was not meant;
 *   - one that is lost: what was sent is what was received and what was counted as dead, exactly;
 *   - a pid that two actors had.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "help.h"

enum { PLACES = 24, SENDERS = 4, THREADS = 2, OLD = 16, SLOTS = 1 << 16, LIMIT_S = 120 };
#ifdef __SANITIZE_THREAD__
enum { SENDS = 6000, DAYS = 500 }; /* each new use of a stack costs ThreadSanitizer most of a millisecond */
#else
enum { SENDS = 400000, DAYS = 10000 };
#endif

WEFT_MESSAGE(LETTER, uint64_t); /* whom it is meant for */
WEFT_SIGNAL(NOTHING);           /* never sent */

static _Atomic uint64_t board[PLACES];
static _Atomic uint64_t last[SLOTS]; /* the last owner of a slot, the lower 28 bits of a pid */
static atomic_bool      stop;
static atomic_int       senders_left;
static atomic_ulong     sent, refused, received, mayflies, threads; /* relaxed: read when all is over */

static void count(atomic_ulong *n) { atomic_fetch_add_explicit(n, 1, memory_order_relaxed); }

static _Noreturn void fail(const char *what, uint64_t a, uint64_t b)
{
    printf("stress_pid: FAILED: %s (%llx, %llx)\n", what, (unsigned long long)a, (unsigned long long)b);
    fflush(stdout);
    _exit(1);
}

static void alarmed(int unused)
{
    static const char line[] = "stress_pid: FAILED: somebody hangs\n";
    ssize_t           ignored = write(STDOUT_FILENO, line, sizeof line - 1);

    (void)unused;
    (void)ignored;
    _exit(1);
}

/* ---- Mayflies ---------------------------------------------------------------------------------------- */

static void check(const weft_msg *m)
{
    uint64_t to = *weft_get(m, LETTER), me = weft_self().id;

    if (to != me)
        fail("a letter came to another than it was meant for", to, me);
    count(&received);
}

/* Writes its pid on the board. Returns some random bits of its own. */
static uint64_t appear(unsigned place)
{
    uint64_t me = weft_self().id, random = me * 0x9e3779b97f4a7c15u | 1;
    /* Who had the slot before wrote here before it ended, and had a smaller pid. */
    uint64_t before = atomic_exchange_explicit(&last[me % SLOTS], me, memory_order_relaxed);

    if (before % (1u << 28) == me % (1u << 28) && before >= me)
        fail("a pid was used twice", me, before);
    atomic_store(&board[place], me);
    return draw(&random);
}

static void receive_some(uint64_t random)
{
    weft_msg *m;

    if (random % 4 == 0) /* leaves what comes to be found later, or never */
        weft_receive_within(weft_us((int64_t)(random >> 8 & 7)), NOTHING);
    for (uint64_t n = random >> 16 & 7; n > 0; n--)
        if ((m = weft_receive_within(weft_us((int64_t)(random >> 24 & 15)), LETTER)))
            check(m);
}

static void mayfly(void *place);

static void next_one(unsigned place)
{
    if (!atomic_load_explicit(&stop, memory_order_relaxed))
        weft_spawn(mayfly, &place, .copy_bytes = sizeof place);
}

static void on_letter(void *state, weft_msg *m)
{
    if (m)
        check(m);
    next_one(*(unsigned *)state);
}

static void mayfly(void *place)
{
    uint64_t random = appear(*(unsigned *)place);

    count(&mayflies);
    if (random % 3 == 0) {
        weft_react_within(weft_us((int64_t)(random >> 8 & 15)), on_letter, place, LETTER);
        return;
    }
    receive_some(random);
    next_one(*(unsigned *)place);
}

/* A thread that is an actor for a while. */
static void *day(void *place)
{
    receive_some(appear(*(unsigned *)place));
    count(&threads);
    return NULL;
}

static void *days(void *unused)
{
    static unsigned place = 0;
    pthread_t       thread;

    (void)unused;
    for (unsigned long i = scaled(DAYS); i > 0 && !atomic_load_explicit(&stop, memory_order_relaxed); i--) {
        if (pthread_create(&thread, NULL, day, &place))
            fail("no thread to be had", 0, 0);
        pthread_join(thread, NULL);
    }
    return NULL;
}

/* ---- Senders ----------------------------------------------------------------------------------------- */

static void send_one(uint64_t to)
{
    int error = weft_send(((weft_pid){to}), LETTER, to);

    if (error && error != WEFT_EGONE)
        fail("a letter could not be sent", to, (uint64_t)-error);
    count(&sent);
    if (error)
        count(&refused);
}

static void send_many(uint64_t random)
{
    uint64_t old[OLD] = {0};

    for (unsigned long i = scaled(SENDS); i > 0; i--) {
        uint64_t r = draw(&random), to = atomic_load(&board[r % PLACES]);
        if (r >> 20 & 1) {
            uint64_t before = old[r >> 32 & (OLD - 1)];
            old[r >> 32 & (OLD - 1)] = to;
            to = before;
        }
        if (to)
            send_one(to);
        if (r >> 40 & 1) { /* or it would all be over before anybody had lived */
            weft_yield();
            sched_yield();
        }
    }
    atomic_fetch_sub(&senders_left, 1);
}

static void send_as_actor(void *number) { send_many(*(unsigned *)number * 7919 + 1); }

static void *send_as_thread(void *number)
{
    send_many((uintptr_t)number * 104729 + 1);
    return NULL;
}

static void first(void *unused)
{
    (void)unused;
    for (unsigned i = 1; i < PLACES; i++)
        weft_spawn(mayfly, &i, .copy_bytes = sizeof i);
    for (unsigned i = 0; i < SENDERS; i++)
        weft_spawn(send_as_actor, &i, .copy_bytes = sizeof i);
    while (atomic_load(&senders_left))
        weft_sleep(weft_us(200));
    atomic_store(&stop, true);
}

/* ---- A system, and its sums -------------------------------------------------------------------------- */

static void live(int workers)
{
    pthread_t     thread[THREADS + 1];
    unsigned long dead = counted().dead_letters, sent_before = sent, received_before = received;

    atomic_store(&stop, false);
    atomic_store(&senders_left, SENDERS + THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, send_as_thread, (void *)i);
    pthread_create(&thread[THREADS], NULL, days, NULL);
    int reason = weft_run(first, NULL, .workers = workers);
    for (int i = 0; i <= THREADS; i++)
        pthread_join(thread[i], NULL);
    if (reason)
        fail("the system ended with a reason", (uint64_t)-reason, 0);
    dead = counted().dead_letters - dead;
    if (sent - sent_before != received - received_before + dead)
        fail("sent, and received or dead, do not add up", sent - sent_before,
             received - received_before + dead);
}

int main(void)
{
    signal(SIGALRM, alarmed);
    alarm(LIMIT_S);
    for (int workers = 1; workers <= 4; workers *= 2)
        live(workers);
    printf("stress_pid: ok: %lu mayflies and %lu threads; %lu letters, %lu received, %lu refused, %lu dead "
           "later\n",
           (unsigned long)mayflies, (unsigned long)threads, (unsigned long)sent, (unsigned long)received,
           (unsigned long)refused, (unsigned long)(sent - received - refused));
    return 0;
}
