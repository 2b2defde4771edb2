/* counting M - a producer sends M messages, then asks the counter for its count; measures first send to report.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "bench/bench.h"
#include "bench/threads.h"

WEFT_SIGNAL(INCR);
WEFT_SIGNAL(GET);
WEFT_MESSAGE(VALUE, uint64_t);

static struct bench *bench;

static void report(uint64_t value)
{
    bench_stop(bench, bench->arg[0]);
    if (value != bench->arg[0])
        bench_fail("counted %llu, not %llu", (unsigned long long)value, (unsigned long long)bench->arg[0]);
}

/* ---- Actors ------------------------------------------------------------------------------------------ */

/* False: it was asked, and has answered. */
static bool count(weft_msg *m)
{
    if (weft_is(m, INCR)) {
        tally_up(&bench->done);
        return true;
    }
    weft_reply(m, VALUE, atomic_load_explicit(&bench->done, memory_order_relaxed));
    return false;
}

static void fiber_counter(void *unused)
{
    (void)unused;
    while (count(weft_receive(INCR, GET)))
        ;
}

static void on_message(void *unused, weft_msg *m)
{
    if (count(m))
        weft_react(on_message, unused, INCR, GET);
}

static void react_counter(void *unused) { weft_react(on_message, unused, INCR, GET); }

static void on_value(void *unused, weft_msg *m)
{
    (void)unused;
    report(*weft_get(m, VALUE));
}

static void producer(void *unused)
{
    weft_pid counter = spawned(weft_spawn(bench->mode == FIBER ? fiber_counter : react_counter, NULL));

    progress_watch(&bench->done, bench->arg[0]);
    bench_start(bench);
    for (uint64_t i = 0; i < bench->arg[0]; i++)
        weft_send(counter, INCR);
    weft_send(counter, GET);
    weft_react(on_value, unused, VALUE);
}

static void as_actors(struct bench *b)
{
    bench = b;
    bench_actors(b, producer);
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

static struct box to_counter, to_main;

enum { LETTER_INCR, LETTER_GET };

static void *counter_thread(void *unused)
{
    (void)unused;
    while (box_take(&to_counter).what == LETTER_INCR)
        tally_up(&bench->done);
    box_put(&to_main, (struct letter){.value = bench->done});
    return NULL;
}

static void as_threads(struct bench *b)
{
    bench = b;
    box_open(&to_counter);
    box_open(&to_main);
    pthread_t counter = thread_start(counter_thread, NULL);
    progress_watch(&b->done, b->arg[0]);
    bench_start(b);
    for (uint64_t i = 0; i < b->arg[0]; i++)
        box_put(&to_counter, (struct letter){.what = LETTER_INCR});
    box_put(&to_counter, (struct letter){.what = LETTER_GET});
    report(box_take(&to_main).value);
    thread_join(counter);
    box_close(&to_counter);
    box_close(&to_main);
}

const struct workload workload_counting = {
    .name = "counting",
    .args = "M",
    .unit = "messages",
    .what = "one producer sends M messages to one counter",
    .run = {as_actors, as_actors, as_threads},
};
