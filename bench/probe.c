/* probe.c - costs of the CPU and of the thread library; see probe.h. The kernel's are in probe_stack.c.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#define _GNU_SOURCE /* syscall */
#include "bench/bench.h"
#include "bench/probe.h"
#include "bench/threads.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "fibers/stack.h"
#include "fibers/switch.h"

enum { BATCHES = 31, STACK_BYTES = 64 * 1024 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

/* The median of some batches; a batch does its thing `times` times. */
static double median_ns(void (*batch)(uint64_t times), uint64_t times)
{
    double ns[BATCHES];

    batch(times); /* warms up */
    for (int i = 0; i < BATCHES; i++) {
        double start = bench_clock();
        batch(times);
        ns[i] = (bench_clock() - start) * 1e9 / (double)times;
    }
    return median(ns, BATCHES);
}

/* ---- Atomic operations ------------------------------------------------------------------------------- */

static _Alignas(64) _Atomic uint64_t word;

static void exchange(uint64_t times)
{
    uint64_t value = 1;

    for (uint64_t i = 0; i < times; i++)
        value = atomic_exchange_explicit(&word, value + 1, memory_order_acq_rel);
}

static void compare_and_swap(uint64_t times)
{
    uint64_t value = atomic_load(&word);

    for (uint64_t i = 0; i < times; i++)
        if (atomic_compare_exchange_strong_explicit(&word, &value, value + 1, memory_order_acq_rel,
                                                    memory_order_acquire))
            value++;
}

double probe_xchg(void) { return median_ns(exchange, 200000); }
double probe_cas(void) { return median_ns(compare_and_swap, 200000); }

/* ---- Switches: a batch goes there and back, so a switch is half of one -------------------------------- */

static ucontext_t here, there;

static void bounce_ucontext(void)
{
    for (;;)
        swapcontext(&there, &here);
}

static void swap(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++)
        swapcontext(&here, &there);
}

double probe_ucontext(void)
{
    void *stack = bench_alloc(1, STACK_BYTES);

    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = STACK_BYTES;
    makecontext(&there, bounce_ucontext, 0);
    double ns = median_ns(swap, 10000) / 2;
    free(stack);
    return ns;
}

/* Boost's interface, as <boost/context/detail/fcontext.hpp> has it for C++. Looked for when we run, so that a bench that
 * does not switch by it needs no Boost. */
struct transfer {
    void *left;
    void *data;
};
static struct transfer (*jump_fcontext)(void *to, void *data);
static void *(*make_fcontext)(void *top, size_t size, void (*entry)(struct transfer));
static void *other_side;

static void bounce_fcontext(struct transfer from)
{
    for (;;)
        from = jump_fcontext(from.left, NULL);
}

static void jump(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++)
        other_side = jump_fcontext(other_side, NULL).left;
}

double probe_fcontext(void)
{
    void *boost = dlopen("libboost_context.so", RTLD_NOW);

    if (!boost)
        return -1;
    make_fcontext = dlsym(boost, "make_fcontext");
    jump_fcontext = dlsym(boost, "jump_fcontext");
    if (!make_fcontext || !jump_fcontext)
        return -1;
    char *stack = bench_alloc(1, STACK_BYTES);
    /* It loads the floating-point status with the rest. Where the two sides' differ, that takes 60 ns instead of 4: so
     * neither is the first to round a result. */
    volatile double one = 1, rounded = one / 3;
    (void)rounded;
    other_side = make_fcontext(stack + STACK_BYTES, STACK_BYTES, bounce_fcontext);
    double ns = median_ns(jump, 200000) / 2;
    free(stack);
    return ns;
}

/* Weft's own door, whatever is behind it in this build; the one private header that a benchmark opens. */
static struct weft__stack fiber_stack;
static void              *thread_side, *fiber_side;

static void bounce_weft(void)
{
    for (;;)
        weft__switch_away(&fiber_side, thread_side, NULL, NULL, NULL);
}

static void hop_over(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++)
        weft__switch_away(&thread_side, fiber_side, NULL, NULL, NULL);
}

double probe_weft(void)
{
    fiber_stack.low = bench_alloc(1, STACK_BYTES);
    fiber_stack.top = fiber_stack.low + STACK_BYTES;
    fiber_side = weft__switch_fresh(&fiber_stack, bounce_weft);
    double ns = median_ns(hop_over, 200000) / 2;
    free(fiber_stack.low);
    return ns;
}

/* ---- A futex ----------------------------------------------------------------------------------------- */

/* Long enough for a CPU with nothing to do to go to sleep too, as a worker's would. */
enum { WAKES = 101, FALL_ASLEEP_US = 1000 };

static struct {
    _Atomic uint32_t rounds; /* the futex */
    _Atomic uint32_t asleep; /* about to be, for the round after so many */
    double           woken[WAKES];
} bed;

static void *sleeper(void *unused)
{
    for (uint32_t round = 0; round < WAKES; round++) {
        atomic_store(&bed.asleep, round + 1);
        while (atomic_load(&bed.rounds) == round)
            syscall(SYS_futex, &bed.rounds, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
        bed.woken[round] = bench_clock();
    }
    return unused;
}

struct wake_cost probe_wake(void)
{
    double    in_caller[WAKES], until_run[WAKES], start[WAKES];
    pthread_t thread = thread_start(sleeper, NULL);

    for (uint32_t round = 0; round < WAKES; round++) {
        while (atomic_load(&bed.asleep) != round + 1)
            usleep(FALL_ASLEEP_US);
        usleep(FALL_ASLEEP_US);
        start[round] = bench_clock();
        atomic_store(&bed.rounds, round + 1);
        syscall(SYS_futex, &bed.rounds, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        in_caller[round] = bench_clock() - start[round];
    }
    thread_join(thread);
    for (int i = 0; i < WAKES; i++)
        until_run[i] = bed.woken[i] - start[i];
    return (struct wake_cost){median(in_caller, WAKES) * 1e9, median(until_run, WAKES) * 1e9};
}
