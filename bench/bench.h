/* bench.h - what a workload is, and what its file may use.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A workload is one question. Its file defines a `struct workload`, main.c lists it, and one function a mode fills
 * in `seconds` and `ops`, by bench_start and bench_stop, and whatever else it found, by bench_extra_...
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft.h>

enum mode { FIBER, REACT, THREAD, MODES };

enum { BENCH_ARGS = 3, BENCH_EXTRAS = 16 };

/* Something found besides the time: `key` is its name in JSON and says its unit. Of the same `group`: one object. */
struct extra {
    const char *group; /* or NULL */
    const char *key;
    char        value[32];
    bool        quoted; /* in JSON */
};

/* A count that one actor or thread writes and anybody may read: in the machine, plain loads and stores. */
typedef _Atomic uint64_t tally;

static inline void tally_up(tally *t)
{
    /* relaxed: its writer knows it; others only look, or were told by a message that it is final. */
    atomic_store_explicit(t, atomic_load_explicit(t, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* One run: what was asked, then what was found. */
struct bench {
    enum mode    mode;
    int          workers;
    uint64_t     arg[BENCH_ARGS];
    double       seconds;
    uint64_t     ops;
    struct extra extra[BENCH_EXTRAS];
    int          extras;
    double       started;
    tally        done; /* for who counts in one place only; else progress_watch another */
};

typedef void bench_fn(struct bench *b);

struct workload {
    const char *name;
    const char *args; /* their names, a space between: "N K M" */
    const char *unit; /* of its ops: "hops"; NULL: nothing is counted */
    const char *what;
    bench_fn   *run[MODES]; /* NULL: makes no sense in this mode */
    bool        from_zero;  /* its first argument may be 0 */
};

extern const struct workload workload_limits, workload_switch, workload_pingpong, workload_stream,
    workload_ring, workload_queuering, workload_counting, workload_fanin, workload_fjthroughput,
    workload_fjcreate, workload_fjpark, workload_sbe, workload_fib, workload_big, workload_idle, workload_ask,
    workload_longbox, workload_faults;

int workload_args(const struct workload *w); /* how many */

extern const char *const mode_names[MODES];

void demo(int workers);

/* Into the run's extras: switch_ns by back end. Bare switches: without a scheduler. */
void switch_compare(struct bench *b);

/* Runs `first`, with the run as its argument, in a system with the workers that were asked for. */
void bench_actors(struct bench *b, weft_fn *first);

void bench_start(struct bench *b);
void bench_stop(struct bench *b, uint64_t ops);

void bench_extra_number(struct bench *b, const char *group, const char *key, double value);
void bench_extra_text(struct bench *b, const char *key, const char *word);
void bench_extra_truth(struct bench *b, const char *key, bool value);
/* The value of a number found before; 0 if there is none. */
double bench_extra(const struct bench *b, const char *key);

/* One line on stderr, and the end of the process. From anywhere: an actor, a thread, main. */
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void bench_fail_spawn(void);

/* The actor that was just spawned; nobody is the end of the run. */
static inline weft_pid spawned(weft_pid who)
{
    if (weft_is_nobody(who))
        bench_fail_spawn();
    return who;
}

/* Zeroed and touched, so that it does not count as what actors need. */
void *bench_alloc(size_t count, size_t bytes);

uint64_t bench_ended(void); /* actors, so far */

double bench_clock(void);        /* seconds, from some start */
double bench_memory(void);       /* resident bytes of this process, and of its page tables */
int    bench_cpus(void);         /* that this process may use */
void   bench_use_cpus(int most); /* that many of them from now on, threads made later too */

/* Where actors, or threads, say that they are about to wait. A message each would do, but a million of them is
 * memory that would be counted as the actors'. */
struct gathering {
    _Atomic uint64_t here;
    uint64_t         ended; /* actors, when it opened */
};
void               gather_open(struct gathering *g);
static inline void gather_arrive(struct gathering *g)
{
    atomic_fetch_add_explicit(&g->here, 1, memory_order_relaxed); /* relaxed: nothing is handed over */
}
void gather_await(struct gathering *g, uint64_t all); /* WAITS; then as gather_check */
void gather_check(struct gathering *g);               /* fails if an actor has ended since it opened */
void gather_await_threads(struct gathering *g, uint64_t all); /* blocks */

/* A bar on a terminal that shows `done` of `total` until bench_stop; elsewhere, nothing. */
void progress_wanted(const char *label);
void progress_watch(const tally *done, uint64_t total);
void progress_end(void);
void progress_draw(const char *label, double part); /* once, now; for who has no tally */

void report_json(const struct bench *b, const struct workload *w);
void report_table(const struct bench *b, const struct workload *w);
/* "1,234,567" in `text`, which it returns. */
char *report_grouped(char text[32], double number);

#endif
