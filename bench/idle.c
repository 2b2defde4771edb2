/* idle N - N actors wait; measures what memory they take, all of it: resident size and page tables.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * As fibers it also proves the guards: the last actor reads one byte below its stack, and that read must fault, at
 * that address.
 */
#include "bench/bench.h"
#include "bench/threads.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <weft/inspect.h>

WEFT_SIGNAL(CHECK);
WEFT_MESSAGE(FAULTED, bool);

static struct bench    *bench;
static struct gathering here;

/* ---- The guard --------------------------------------------------------------------------------------- */

static sigjmp_buf before_touch;
static void *volatile fault_at;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    fault_at = info->si_addr;
    siglongjmp(before_touch, 1);
}

/* Reads the byte at `guard`, with a handler in place: where the handler was told that it faulted, or NULL. */
static void *touch(const volatile char *guard)
{
    struct sigaction handler = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK}, former;
    sigset_t         faults, blocked;

    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigaction(SIGSEGV, &handler, &former);
    pthread_sigmask(SIG_UNBLOCK, &faults, &blocked);
    fault_at = NULL;
    if (sigsetjmp(before_touch, 1) == 0)
        (void)*guard;
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
    sigaction(SIGSEGV, &former, NULL);
    return fault_at;
}

/* The handler gets a stack of its own, as after a real overflow. Nothing in here waits, so the thread stays. */
static bool guard_faults(void)
{
    void *low, *high;

    if (!weft_stack_bounds(&low, &high))
        return false;
    size_t  bytes = (size_t)SIGSTKSZ * 2;
    stack_t aside = {.ss_sp = bench_alloc(1, bytes), .ss_size = bytes}, former;
    sigaltstack(&aside, &former);
    char *guard = (char *)low - 1;
    bool  exact = touch(guard) == guard;
    sigaltstack(&former, NULL);
    free(aside.ss_sp);
    return exact;
}

/* ---- Actors ------------------------------------------------------------------------------------------ */

static void fiber_idler(void *unused)
{
    (void)unused;
    gather_arrive(&here);
    weft_msg *m = weft_receive(CHECK);
    weft_reply(m, FAULTED, guard_faults());
}

static void on_check(void *unused, weft_msg *m)
{
    (void)unused;
    (void)m;
}

static void react_idler(void *unused)
{
    gather_arrive(&here);
    weft_react(on_check, unused, CHECK);
}

static void report_memory(double before)
{
    bench_extra_number(bench, NULL, "bytes_per_actor", (bench_memory() - before) / (double)bench->arg[0]);
}

static void first(void *unused)
{
    weft_fn *idler = bench->mode == FIBER ? fiber_idler : react_idler;
    weft_pid last = WEFT_NOBODY;
    double   memory = bench_memory();

    (void)unused;
    gather_open(&here);
    progress_watch(&here.here, bench->arg[0]);
    bench_start(bench);
    for (uint64_t i = 0; i < bench->arg[0]; i++)
        last = spawned(weft_spawn(idler, NULL));
    gather_await(&here, bench->arg[0]);
    bench_stop(bench, bench->arg[0]);
    weft_sleep(weft_ms(10)); /* the last to arrive waits by now, on whatever worker */
    gather_check(&here);
    report_memory(memory);
    bench_extra_text(bench, "guard", weft_guard_method());
    if (bench->mode != FIBER)
        return;
    weft_send(last, CHECK);
    bench_extra_truth(bench, "guard_faults", *weft_get(weft_receive(FAULTED), FAULTED));
}

static void as_actors(struct bench *b)
{
    bench = b;
    bench_actors(b, first);
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

struct seat {
    struct box box;
    pthread_t  thread;
};

static void *idler_thread(void *arg)
{
    struct seat *seat = arg;

    gather_arrive(&here);
    box_take(&seat->box);
    return NULL;
}

static void end_threads(struct seat *seats, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        box_put(&seats[i].box, (struct letter){0});
        thread_join(seats[i].thread);
        box_close(&seats[i].box);
    }
    free(seats);
}

static void as_threads(struct bench *b)
{
    uint64_t count = b->arg[0];
    double   memory = bench_memory();

    bench = b;
    threads_check("idle", count);
    struct seat *seats = bench_alloc(count, sizeof *seats);
    progress_watch(&here.here, count);
    bench_start(b);
    for (uint64_t i = 0; i < count; i++) {
        box_open(&seats[i].box);
        seats[i].thread = thread_start(idler_thread, &seats[i]);
    }
    gather_await_threads(&here, count);
    bench_stop(b, count);
    report_memory(memory);
    end_threads(seats, count);
}

const struct workload workload_idle = {
    .name = "idle",
    .args = "N",
    .unit = "actors",
    .what = "N actors wait; what memory they take is in bytes_per_actor",
    .run = {as_actors, as_actors, as_threads},
};
