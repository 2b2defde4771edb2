/* fib n - the n-th Fibonacci number, every call an actor; measures start to result.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "bench/bench.h"
#include "bench/threads.h"

WEFT_MESSAGE(RESULT, uint64_t);

enum { LARGEST = 60 }; /* 10^12 calls; none will wait for more */

static struct bench *bench;

static uint64_t fib(uint64_t n)
{
    uint64_t a = 0, b = 1;

    for (; n > 0; n--) {
        uint64_t sum = a + b;
        a = b;
        b = sum;
    }
    return a;
}

/* Of fib(n), itself included. */
static uint64_t calls(uint64_t n) { return 2 * fib(n + 1) - 1; }

static void finish(uint64_t result)
{
    bench_stop(bench, calls(bench->arg[0]));
    if (result != fib(bench->arg[0]))
        bench_fail("fib(%llu) is not %llu", (unsigned long long)bench->arg[0], (unsigned long long)result);
}

/* ---- Actors ------------------------------------------------------------------------------------------ */

struct call {
    weft_pid caller;
    uint64_t n;
    uint64_t sum, missing; /* react: what the frame of a fiber holds */
};

static void call(weft_fn *fn, uint64_t n)
{
    struct call c = {.caller = weft_self(), .n = n};

    spawned(weft_spawn(fn, &c, .copy_bytes = sizeof c));
}

static void fiber_fib(void *arg)
{
    struct call *c = arg;
    uint64_t     sum = c->n;

    if (c->n >= 2) {
        call(fiber_fib, c->n - 1);
        call(fiber_fib, c->n - 2);
        sum = *weft_get(weft_receive(RESULT), RESULT);
        sum += *weft_get(weft_receive(RESULT), RESULT);
    }
    weft_send(c->caller, RESULT, sum);
}

static void on_result(void *arg, weft_msg *m)
{
    struct call *c = arg;

    c->sum += *weft_get(m, RESULT);
    if (--c->missing)
        weft_react(on_result, c, RESULT);
    else
        weft_send(c->caller, RESULT, c->sum);
}

static void react_fib(void *arg)
{
    struct call *c = arg;

    if (c->n < 2) {
        weft_send(c->caller, RESULT, c->n);
        return;
    }
    call(react_fib, c->n - 1);
    call(react_fib, c->n - 2);
    c->missing = 2;
    weft_react(on_result, c, RESULT);
}

static void on_last(void *unused, weft_msg *m)
{
    (void)unused;
    finish(*weft_get(m, RESULT));
}

static void first(void *unused)
{
    bench_start(bench);
    call(bench->mode == FIBER ? fiber_fib : react_fib, bench->arg[0]);
    weft_react(on_last, unused, RESULT);
}

static void as_actors(struct bench *b)
{
    if (b->arg[0] > LARGEST)
        bench_fail("fib: n is %d at most", LARGEST);
    bench = b;
    bench_actors(b, first);
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

struct thread_call {
    struct box *caller;
    uint64_t    n;
};

static void *fib_thread(void *arg)
{
    struct thread_call *c = arg;
    uint64_t            sum = c->n;

    if (c->n >= 2) {
        struct box         box;
        struct thread_call left = {&box, c->n - 1}, right = {&box, c->n - 2};
        box_open(&box);
        pthread_t one = thread_start(fib_thread, &left), two = thread_start(fib_thread, &right);
        sum = box_take(&box).value;
        sum += box_take(&box).value;
        thread_join(one);
        thread_join(two);
        box_close(&box);
    }
    box_put(c->caller, (struct letter){.value = sum});
    return NULL;
}

static void as_threads(struct bench *b)
{
    struct box         to_main;
    struct thread_call root = {&to_main, b->arg[0]};

    if (b->arg[0] > LARGEST)
        bench_fail("fib: n is %d at most", LARGEST);
    threads_check("fib", calls(b->arg[0]));
    bench = b;
    box_open(&to_main);
    bench_start(b);
    pthread_t thread = thread_start(fib_thread, &root);
    finish(box_take(&to_main).value);
    thread_join(thread);
    box_close(&to_main);
}

const struct workload workload_fib = {
    .name = "fib",
    .args = "n",
    .unit = "actors",
    .what = "the n-th Fibonacci number, every call an actor",
    .run = {as_actors, as_actors, as_threads},
};
