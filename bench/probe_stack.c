/* probe_stack.c - what the kernel asks for a fresh guarded stack; see probe.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Stacks of 64 KiB side by side, in batches: guards first, then the topmost page of each is touched.
 */
#define _GNU_SOURCE
#include "bench/bench.h"
#include "bench/probe.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel's numbers, for C libraries that are older than the kernel. */
enum { GUARD_INSTALL = 102, PIDFD_OPEN = 434, PROCESS_MADVISE = 440 };
enum { BATCH = 64, STRIDE = 64 * 1024, ALONE = 1024, STACKS_MAX = 100000 };

static size_t page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static char *map_stacks(uint64_t count)
{
    char *base = mmap(NULL, count * STRIDE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

    if (base == MAP_FAILED)
        bench_fail("no address space for %llu stacks", (unsigned long long)count);
    madvise(base, count * STRIDE, MADV_NOHUGEPAGE);
    return base;
}

static bool guard_batch(char *base)
{
    struct iovec guards[BATCH];
    int          self = (int)syscall(PIDFD_OPEN, getpid(), 0);

    if (self < 0)
        return false;
    for (int i = 0; i < BATCH; i++)
        guards[i] = (struct iovec){base + (size_t)i * STRIDE, page()};
    long done = syscall(PROCESS_MADVISE, self, guards, BATCH, GUARD_INSTALL, 0);
    close(self);
    return done == (long)(BATCH * page());
}

static void touch_batch(char *base)
{
    for (int i = 1; i <= BATCH; i++)
        *(volatile char *)(base + (size_t)i * STRIDE - 1) = 1;
}

/* -1: the kernel cannot. */
static double guard_alone(void)
{
    char  *base = map_stacks(ALONE);
    double start = bench_clock();
    int    failed = 0;

    for (size_t i = 0; i < ALONE; i++)
        failed |= madvise(base + i * STRIDE, page(), GUARD_INSTALL);
    double ns = (bench_clock() - start) * 1e9 / ALONE;
    munmap(base, (size_t)ALONE * STRIDE);
    return failed ? -1 : ns;
}

static struct stack_cost guard_and_touch(uint64_t batches)
{
    char  *base = map_stacks(batches * BATCH);
    double guarding = 0, touching = 0, per_stack = 1e9 / (double)(batches * BATCH);
    bool   guarded = true;

    for (uint64_t i = 0; i < batches; i++) {
        char  *first = base + i * BATCH * STRIDE;
        double start = bench_clock();
        guarded = guarded && guard_batch(first);
        double middle = bench_clock();
        touch_batch(first);
        guarding += middle - start;
        touching += bench_clock() - middle;
    }
    munmap(base, batches * BATCH * STRIDE);
    return (struct stack_cost){touching * per_stack, guarded ? guarding * per_stack : -1, -1};
}

/* Twice, and the second counts: in a virtual machine memory that was never used costs the host's faults too. */
struct stack_cost probe_stack(uint64_t stacks)
{
    uint64_t batches = ((stacks < STACKS_MAX ? stacks : STACKS_MAX) + BATCH - 1) / BATCH;

    guard_and_touch(batches);
    struct stack_cost cost = guard_and_touch(batches);
    cost.guard_alone_ns = guard_alone();
    if (cost.guard_ns < 0)
        cost.guard_ns = cost.guard_alone_ns;
    return cost;
}
