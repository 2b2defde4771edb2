/* stress_signals.c - signals by the thousand while actors come, ask, take it back, and end.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Mayflies are fibers and threads. Each asks for a few signals, sends one of them to the process and waits until it is
 * told, takes some wishes back, and ends with the others. Threads raise all of them all the time; but every fourth run
 * has one mayfly at a time, so that nobody else rings the bell when a ring is lost. A run ends while some actors wait
 * for what nobody sends. Checked:
 *   - who has asked is told what is sent afterwards, or the hunt stands still;
 *   - nobody is told what it never asked for;
 *   - what nobody asks for is ignored, as it was before, or the process ends;
 *   - after a run, every signal is ignored again.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <weft/signal.h>

#include "help.h"
#include "hunt.h"

enum { KINDS = 6, PLACES = 6, STORMS = 2, RUNS = 12, MAYFLIES = 20000, DAYS = 1500 };

static const int    kind[KINDS] = {SIGUSR1, SIGUSR2, SIGHUP, SIGTERM, SIGINT, SIGWINCH};
static atomic_ulong told, raised, born, threads;
static atomic_bool  calm, over;
static unsigned     places;
static atomic_int   living;
static atomic_long  left; /* mayflies to be born in this run */

WEFT_SIGNAL(NEVER);

struct soul {
    uint64_t random;
    bool     is_thread;
};

static int number_of(int signal)
{
    for (int i = 0; i < KINDS; i++)
        if (kind[i] == signal)
            return i;
    return KINDS;
}

static void is_told(unsigned asked)
{
    int signal = *weft_get(weft_receive(WEFT_SIGNALLED), WEFT_SIGNALLED), i = number_of(signal);

    hunt_count(&told);
    if (i == KINDS || !(asked >> i & 1))
        hunt_complain("told what it never asked for", signal, (long)asked);
}

/* Returns those it has asked for. */
static unsigned ask(uint64_t r)
{
    unsigned asked = 0;

    for (int n = (int)(r % 3); n >= 0; n--, r >>= 8) {
        int i = (int)((r >> 8) % KINDS);
        int error = weft_signals(kind[i], true);
        if (error)
            hunt_complain("not asked", error, kind[i]);
        asked |= 1u << i;
    }
    return asked;
}

static void live(struct soul *s)
{
    unsigned asked = ask(draw(&s->random));
    int      mine = __builtin_ctz(asked);

    hunt_count(&hunt_progress);
    hunt_count(&born);
    if (s->is_thread)
        raise(kind[mine]); /* a fiber's thread lets none in */
    else
        kill(getpid(), kind[mine]);
    is_told(asked);
    for (uint64_t r = draw(&s->random); r % 4; r >>= 2)
        weft_signals(kind[(r >> 16) % KINDS], r % 4 == 1);
    asked = (1u << KINDS) - 1;
    while (weft_receive_within(weft_ms(0), WEFT_SIGNALLED))
        hunt_count(&told);
}

static void mayfly(void *soul)
{
    struct soul s = *(struct soul *)soul;

    live(&s);
    if (atomic_fetch_sub(&left, 1) > 0)
        weft_spawn(mayfly, &s, .copy_bytes = sizeof s);
    else
        living--;
}

static void *day(void *soul)
{
    struct soul s = *(struct soul *)soul;

    live(&s);
    hunt_count(&threads);
    return NULL;
}

static void *days(void *unused)
{
    struct soul s = {.random = 6700417, .is_thread = true};
    pthread_t   thread;

    for (unsigned long n = scaled(DAYS) / RUNS + 1; n > 0; n--) {
        draw(&s.random);
        if (pthread_create(&thread, NULL, day, &s))
            hunt_complain("no thread to be had", 0, 0);
        pthread_join(thread, NULL);
    }
    living--;
    return unused;
}

static void *storm(void *unused)
{
    uint64_t random = 15485863;

    for (; !over; usleep(20)) {
        if (calm)
            continue;
        raise(kind[draw(&random) % KINDS]);
        hunt_count(&raised);
    }
    return unused;
}

static void waits_for_ever(void *unused)
{
    (void)unused;
    ask(0x0102030405060702);
    weft_receive(NEVER);
}

static void begin(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 4; i++)
        weft_spawn(waits_for_ever, NULL);
    for (unsigned i = 0; i < places; i++) {
        struct soul s = {.random = 15485863 * (uint64_t)(i + 1)};
        weft_spawn(mayfly, &s, .copy_bytes = sizeof s);
    }
    while (living)
        weft_sleep(weft_us(200));
}

static void be_born_and_die(int workers, bool alone)
{
    pthread_t        thread;
    struct sigaction now;

    calm = alone;
    left = (long)scaled(MAYFLIES) / RUNS;
    places = alone ? 1 : PLACES;
    living = (int)places + !alone;
    if (!alone)
        pthread_create(&thread, NULL, days, NULL);
    int reason = weft_run(begin, NULL, .workers = workers);
    if (!alone)
        pthread_join(thread, NULL);
    if (reason)
        hunt_complain("did not run", reason, workers);
    for (int i = 0; i < KINDS; i++)
        if (sigaction(kind[i], NULL, &now) || now.sa_handler != SIG_IGN)
            hunt_complain("not as it was", kind[i], 0);
}

int main(void)
{
    pthread_t storms[STORMS];

    hunt_begin("stress_signals");
    for (int i = 0; i < KINDS; i++)
        signal(kind[i], SIG_IGN);
    for (int i = 0; i < STORMS; i++)
        pthread_create(&storms[i], NULL, storm, NULL);
    for (int i = 0; i < RUNS; i++)
        be_born_and_die(i % 3 + 1, i % 4 == 3);
    over = true;
    for (int i = 0; i < STORMS; i++)
        pthread_join(storms[i], NULL);
    bool good = !hunt_wrong && told && raised && threads;
    printf("stress_signals: %s: %lu mayflies, %lu of them threads; %lu signals raised, %lu told; %lu wrong\n",
           good ? "ok" : "FAILED", (unsigned long)born, (unsigned long)threads, (unsigned long)raised,
           (unsigned long)told, (unsigned long)hunt_wrong);
    return good ? 0 : 1;
}
