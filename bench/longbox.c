/* longbox N M - M asks by an actor with N other messages queued; measures first to last ask.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Before that it takes the queue, by receiving the first message, and then looks, three times, for
 * one that is not there: extra.take_ns, skip_ns, again_ns and later_ns are what the four take for
 * each of the N.
 */
#include "bench/bench.h"

WEFT_MESSAGE(OTHER, uint64_t);
WEFT_SIGNAL(FIRST);
WEFT_SIGNAL(NONE);
WEFT_SIGNAL(QUESTION);
WEFT_SIGNAL(ANSWER);

static struct bench *bench;
static weft_pid      other;
static double        looked; /* since then it looks */

static uint64_t asked(void) { return atomic_load_explicit(&bench->done, memory_order_relaxed); }

static const char *const looks[] = {"take_ns", "skip_ns", "again_ns", "later_ns", NULL};
static int               look; /* the present one */

static void end_look(const weft_msg *m)
{
    double ns = (bench_clock() - looked) * 1e9;

    if (!m != (look > 0))
        bench_fail(m ? "found a message that nobody sent" : "the first message is lost");
    if (bench->arg[0] > 0)
        bench_extra_number(bench, NULL, looks[look], ns / (double)bench->arg[0]);
    look++;
    looked = bench_clock();
}

static void begin(void)
{
    progress_watch(&bench->done, bench->arg[1]);
    bench_start(bench);
}

/* All of the others are still there, in order. */
static void end(void)
{
    bench_stop(bench, bench->arg[1]);
    for (uint64_t i = 0; i < bench->arg[0]; i++)
        if (*weft_get(weft_receive(OTHER), OTHER) != i)
            bench_fail("the others are not in order any more");
}

static void send_others(weft_fn *answerer)
{
    weft_pid self = weft_self();

    other = spawned(weft_spawn(answerer, NULL, .name = "answerer"));
    weft_send(self, FIRST);
    for (uint64_t i = 0; i < bench->arg[0]; i++)
        weft_send(self, OTHER, i);
    looked = bench_clock();
}

/* ---- On a stack -------------------------------------------------------------------------------------- */

static void fiber_answerer(void *unused)
{
    (void)unused;
    for (;;)
        weft_reply(weft_receive(QUESTION), ANSWER);
}

static void fiber_asker(void *unused)
{
    (void)unused;
    send_others(fiber_answerer);
    for (end_look(weft_receive(FIRST)); looks[look];)
        end_look(weft_receive_within(weft_ms(0), NONE));
    begin();
    for (; asked() < bench->arg[1]; tally_up(&bench->done))
        if (!weft_is(weft_ask(WEFT_FOREVER, other, QUESTION), ANSWER))
            bench_fail("no answer");
    end();
}

/* ---- Without ----------------------------------------------------------------------------------------- */

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
    if (!weft_is(m, ANSWER))
        bench_fail("no answer");
    tally_up(&bench->done);
    if (asked() < bench->arg[1])
        ask();
    else
        end();
}

static void ask(void) { weft_then(weft_request(other, QUESTION), WEFT_FOREVER, on_answer, NULL); }

static void on_look(void *unused, weft_msg *m)
{
    end_look(m);
    if (looks[look]) {
        weft_react_within(weft_ms(0), on_look, unused, NONE);
    } else {
        begin();
        ask();
    }
}

static void react_asker(void *unused)
{
    send_others(react_answerer);
    weft_react(on_look, unused, FIRST);
}

static void as_actors(struct bench *b)
{
    bench = b;
    bench_actors(b, b->mode == FIBER ? fiber_asker : react_asker);
}

const struct workload workload_longbox = {
    .name = "longbox",
    .args = "N M",
    .unit = "asks",
    .what = "M asks by an actor with N other messages queued",
    .run = {as_actors, as_actors},
    .from_zero = true,
};
