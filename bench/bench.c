/* bench.c - what every workload needs: time, memory, the end of a run.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#define _GNU_SOURCE /* CPU sets */
#include "bench/bench.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <weft/inspect.h>

/* ---- A run ------------------------------------------------------------------------------------------- */

void bench_actors(struct bench *b, weft_fn *first)
{
    int reason = weft_run(first, b, .workers = b->workers);

    if (reason)
        bench_fail("the run ended with: %s", weft_strerror(reason));
}

void bench_start(struct bench *b) { b->started = bench_clock(); }

void bench_stop(struct bench *b, uint64_t ops)
{
    b->seconds = bench_clock() - b->started;
    b->ops = ops;
    progress_end();
}

_Noreturn void bench_fail(const char *format, ...)
{
    va_list args;

    progress_end();
    va_start(args, format);
    fputs("weft-bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    _exit(EXIT_FAILURE); /* other threads may be anywhere: nothing of theirs is run down */
}

_Noreturn void bench_fail_spawn(void) { bench_fail("cannot spawn: %s", weft_strerror(weft_spawn_error())); }

/* ---- What else was found ----------------------------------------------------------------------------- */

static struct extra *add_extra(struct bench *b, const char *group, const char *key)
{
    if (b->extras == BENCH_EXTRAS)
        bench_fail("no room for %s: raise BENCH_EXTRAS", key);
    struct extra *e = &b->extra[b->extras++];
    *e = (struct extra){.group = group, .key = key};
    return e;
}

void bench_extra_number(struct bench *b, const char *group, const char *key, double value)
{
    struct extra *e = add_extra(b, group, key);

    snprintf(e->value, sizeof e->value, "%.6g", value);
}

void bench_extra_text(struct bench *b, const char *key, const char *word)
{
    struct extra *e = add_extra(b, NULL, key);

    snprintf(e->value, sizeof e->value, "%s", word);
    e->quoted = true;
}

void bench_extra_truth(struct bench *b, const char *key, bool value)
{
    struct extra *e = add_extra(b, NULL, key);

    snprintf(e->value, sizeof e->value, "%s", value ? "true" : "false");
}

double bench_extra(const struct bench *b, const char *key)
{
    for (int i = 0; i < b->extras; i++)
        if (strcmp(b->extra[i].key, key) == 0)
            return strtod(b->extra[i].value, NULL);
    return 0;
}

/* ---- Time, memory, CPUs ------------------------------------------------------------------------------ */

double bench_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void *bench_alloc(size_t count, size_t bytes)
{
    size_t all;
    void  *block = __builtin_mul_overflow(count, bytes, &all) ? NULL : malloc(all);

    if (!block)
        bench_fail("no memory for %zu things of %zu bytes", count, bytes);
    return memset(block, 0, all);
}

double bench_memory(void)
{
    FILE         *status = fopen("/proc/self/status", "r");
    char          line[256];
    unsigned long kib, sum = 0;

    if (!status)
        bench_fail("cannot read /proc/self/status");
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "VmRSS: %lu kB", &kib) == 1 || sscanf(line, "VmPTE: %lu kB", &kib) == 1)
            sum += kib;
    fclose(status);
    return (double)sum * 1024;
}

int bench_cpus(void)
{
    cpu_set_t allowed;

    return sched_getaffinity(0, sizeof allowed, &allowed) ? 1 : CPU_COUNT(&allowed);
}

void bench_use_cpus(int most)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return;
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && CPU_COUNT(&allowed) > most; cpu--)
        CPU_CLR(cpu, &allowed);
    sched_setaffinity(0, sizeof allowed, &allowed);
}

/* ---- Gathering --------------------------------------------------------------------------------------- */

uint64_t bench_ended(void)
{
    weft_counts counts;

    weft_count(&counts, sizeof counts);
    return counts.ended;
}

/* relaxed, all of it: see gather_arrive. */
void gather_open(struct gathering *g)
{
    atomic_store_explicit(&g->here, 0, memory_order_relaxed);
    g->ended = bench_ended();
}

static bool all_here(struct gathering *g, uint64_t all)
{
    return atomic_load_explicit(&g->here, memory_order_relaxed) >= all;
}

void gather_check(struct gathering *g)
{
    uint64_t gone = bench_ended() - g->ended;

    if (gone)
        bench_fail("%llu actors ended instead of waiting", (unsigned long long)gone);
}

void gather_await(struct gathering *g, uint64_t all)
{
    while (!all_here(g, all))
        weft_yield();
    gather_check(g);
}

void gather_await_threads(struct gathering *g, uint64_t all)
{
    while (!all_here(g, all))
        sched_yield();
}
