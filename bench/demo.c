/* demo - what Weft is for, in under a minute: the same ring of actors as fibers, as closures and as threads.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Time a hop comes from a small ring; start-up and memory from many actors that wait. Each run is in a process of its
 * own, so that none finds memory that another left behind; each is made three times, and the fastest counts.
 */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROUNDS = 3,
    RING = 1000,
    HOPS = 10000000,
    HOPS_THREADS = 100000,
    MANY = 100000,
    MANY_THREADS = 1000,
};

/* A row of the table: a mode, and what was found of it. */
struct way {
    const char  *name;
    struct bench ring, idle;
};

/* ---- Running one workload in a process of its own ---------------------------------------------------- */

static _Noreturn void run_and_tell(const struct workload *w, struct bench b, int to)
{
    static struct bench run; /* actors refer to it */

    run = b;
    w->run[run.mode](&run);
    _exit(write(to, &run, sizeof run) == (ssize_t)sizeof run ? EXIT_SUCCESS : EXIT_FAILURE);
}

static struct bench run_apart(const struct workload *w, struct bench b)
{
    int   ends[2];
    pid_t child;

    if (pipe(ends) || (child = fork()) < 0)
        bench_fail("cannot start a process for %s", w->name);
    if (child == 0)
        run_and_tell(w, b, ends[1]);
    close(ends[1]);
    ssize_t got = read(ends[0], &b, sizeof b);
    close(ends[0]);
    waitpid(child, NULL, 0);
    if (got != (ssize_t)sizeof b)
        bench_fail("%s did not come to its end", w->name);
    return b;
}

static void keep_faster(struct bench *best, struct bench found)
{
    if (best->ops == 0 || found.seconds < best->seconds)
        *best = found;
}

static void run_way(struct way *w, enum mode mode, int workers)
{
    bool         threads = mode == THREAD;
    struct bench ring = {.mode = mode, .workers = workers, .arg = {RING, 1, threads ? HOPS_THREADS : HOPS}};
    struct bench idle = {.mode = mode, .workers = workers, .arg = {threads ? MANY_THREADS : MANY}};

    keep_faster(&w->ring, run_apart(&workload_ring, ring));
    keep_faster(&w->idle, run_apart(&workload_idle, idle));
}

static void run_all(struct way *ways, int workers)
{
    bool bar = isatty(STDERR_FILENO);

    for (int i = 0; i < ROUNDS * MODES; i++) {
        if (bar)
            progress_draw(ways[i % MODES].name, (double)i / (ROUNDS * MODES));
        run_way(&ways[i % MODES], (enum mode)(i % MODES), workers);
    }
    if (bar)
        fputs("\r\033[K", stderr);
}

/* ---- Telling ----------------------------------------------------------------------------------------- */

static double hop_ns(const struct way *w) { return w->ring.seconds * 1e9 / (double)w->ring.ops; }

static double start_ns(const struct way *w) { return w->idle.seconds * 1e9 / (double)w->idle.ops; }

static double bytes(const struct way *w) { return bench_extra(&w->idle, "bytes_per_actor"); }

static void print_way(const struct way *w)
{
    char a[32], b[32], c[32], d[32];

    printf("  %-24s %14s %12s ns %13s ns %13s bytes\n", w->name, report_grouped(a, 1e9 / hop_ns(w)),
           report_grouped(b, hop_ns(w)), report_grouped(c, start_ns(w)), report_grouped(d, bytes(w)));
}

static void print_table(const struct way *ways, int workers)
{
    printf("A ring of actors, each waiting for a message: three ways to wait (Weft %s, %d CPU%s)\n\n",
           weft_version(), workers, workers == 1 ? "" : "s");
    printf("  %-24s %14s %15s %16s %19s\n", "each actor is", "hops a second", "a hop takes", "a start takes",
           "an actor takes");
    for (int i = 0; i < MODES; i++)
        print_way(&ways[i]);
    printf("\nA hop is a message to the next of 1,000 actors in a ring. Start and memory are of 100,000 "
           "actors that all\n"
           "wait (1,000 threads, without what the kernel keeps for each); memory is resident size and page "
           "tables.\n");
}

/* Ratios, as a difference of two hops may come out below nothing on a busy machine. */
static void print_verdict(const struct way *fiber, const struct way *closure)
{
    char with[32], without[32];

    printf("\nOn this machine a stack costs %.2f times the time of a closure for a hop (%.1f ns against %.1f "
           "ns)\n"
           "and %.0f times its memory for an actor (%s bytes against %s bytes).\n",
           hop_ns(fiber) / hop_ns(closure), hop_ns(fiber), hop_ns(closure), bytes(fiber) / bytes(closure),
           report_grouped(with, bytes(fiber)), report_grouped(without, bytes(closure)));
}

void demo(int workers)
{
    struct way ways[MODES] = {
        [FIBER] = {.name = "a fiber (own stack)"},
        [REACT] = {.name = "a closure (no stack)"},
        [THREAD] = {.name = "a thread"},
    };

    bench_use_cpus(workers);
    run_all(ways, workers);
    print_table(ways, workers);
    print_verdict(&ways[FIBER], &ways[REACT]);
}
