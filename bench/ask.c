/* ask M - one actor asks another, M times; measures first to last.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "bench/bench.h"
#include "bench/threads.h"

WEFT_SIGNAL(QUESTION);
WEFT_SIGNAL(ANSWER);

static struct bench *bench;
static weft_pid      other;

static uint64_t asked(void) { return atomic_load_explicit(&bench->done, memory_order_relaxed); }

static void begin(void)
{
    progress_watch(&bench->done, bench->arg[0]);
    bench_start(bench);
}

static void end(void) { bench_stop(bench, bench->arg[0]); }

static void check(const weft_msg *m)
{
    if (!weft_is(m, ANSWER))
        bench_fail("no answer, but %s", weft_name(m));
    tally_up(&bench->done);
}

/* ---- Actors ------------------------------------------------------------------------------------------ */

static void fiber_answerer(void *unused)
{
    (void)unused;
    for (;;)
        weft_reply(weft_receive(QUESTION), ANSWER);
}

static void fiber_asker(void *unused)
{
    (void)unused;
    other = spawned(weft_spawn(fiber_answerer, NULL, .name = "answerer"));
    begin();
    while (asked() < bench->arg[0])
        check(weft_ask(WEFT_FOREVER, other, QUESTION));
    end();
}

static void on_question(void *unused, weft_msg *m)
{
    weft_reply(m, ANSWER);
    weft_react(on_question, unused, QUESTION);
}

static void react_answerer(void *unused) { weft_react(on_question, unused, QUESTION); }

static void ask(void);

static void on_answer(void *unused, weft_msg *m)
{
    (void)unused;
    check(m);
    if (asked() < bench->arg[0])
        ask();
    else
        end();
}

static void ask(void) { weft_then(weft_request(other, QUESTION), WEFT_FOREVER, on_answer, NULL); }

static void react_asker(void *unused)
{
    (void)unused;
    other = spawned(weft_spawn(react_answerer, NULL, .name = "answerer"));
    begin();
    ask();
}

static void as_actors(struct bench *b)
{
    bench = b;
    bench_actors(b, b->mode == FIBER ? fiber_asker : react_asker);
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

static struct box to_answerer, to_asker;

static void *answerer_thread(void *unused)
{
    for (uint64_t i = 0; i < bench->arg[0]; i++) {
        box_take(&to_answerer);
        box_put(&to_asker, (struct letter){0});
    }
    return unused;
}

static void as_threads(struct bench *b)
{
    bench = b;
    box_open(&to_answerer);
    box_open(&to_asker);
    pthread_t thread = thread_start(answerer_thread, NULL);
    begin();
    while (asked() < b->arg[0]) {
        box_put(&to_answerer, (struct letter){0});
        box_take(&to_asker);
        tally_up(&b->done);
    }
    end();
    thread_join(thread);
    box_close(&to_answerer);
    box_close(&to_asker);
}

const struct workload workload_ask = {
    .name = "ask",
    .args = "M",
    .unit = "asks",
    .what = "one actor asks another, M times",
    .run = {as_actors, as_actors, as_threads},
};
