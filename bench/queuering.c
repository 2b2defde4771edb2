/* queuering N K M - N processes in a ring with a queue actor between each two; K tokens, M hops in all.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * The experiment of "Event-Based Programming without Inversion of Control", part 5: each process takes an item from
 * the queue before it and puts it into the queue behind it. A queue is its mailbox: it waits for somebody who wants
 * an item, then for an item. Measured as ring. As threads a queue is no actor but a mailbox: that is ring itself.
 */
#include "bench/bench.h"
#include "bench/tokens.h"

#include <stdlib.h>

WEFT_SIGNAL(GET); /* answered by a TOKEN */

struct process {
    struct stop stop; /* puts into stop.next */
    weft_pid    before;
};

static struct bench    *bench;
static struct gathering here;

/* ---- Fibers ------------------------------------------------------------------------------------------ */

static void fiber_queue(void *unused)
{
    (void)unused;
    gather_arrive(&here);
    for (;;) {
        weft_pid taker = weft_sender(weft_receive(GET));
        weft_pass(taker, weft_keep(weft_receive(TOKEN)));
    }
}

static void fiber_process(void *arg)
{
    struct process *p = arg;

    gather_arrive(&here);
    do
        weft_send(p->before, GET);
    while (tokens_hop(&p->stop, weft_get(weft_receive(TOKEN), TOKEN)));
}

/* ---- Closures ---------------------------------------------------------------------------------------- */

static void on_get(void *taker, weft_msg *m);

static void on_put(void *taker, weft_msg *m)
{
    weft_pass(*(weft_pid *)taker, weft_keep(m));
    weft_react(on_get, taker, GET);
}

static void on_get(void *taker, weft_msg *m)
{
    *(weft_pid *)taker = weft_sender(m);
    weft_react(on_put, taker, TOKEN);
}

static void react_queue(void *unused)
{
    (void)unused;
    gather_arrive(&here);
    weft_react(on_get, weft_alloc(sizeof(weft_pid)), GET);
}

static void on_item(void *arg, weft_msg *m)
{
    struct process *p = arg;

    if (!tokens_hop(&p->stop, weft_get(m, TOKEN)))
        return;
    weft_send(p->before, GET);
    weft_react(on_item, p, TOKEN);
}

static void react_process(void *arg)
{
    struct process *p = arg;

    gather_arrive(&here);
    weft_send(p->before, GET);
    weft_react(on_item, p, TOKEN);
}

/* ---- The ring ---------------------------------------------------------------------------------------- */

static weft_fn *const queue_fns[] = {[FIBER] = fiber_queue, [REACT] = react_queue};
static weft_fn *const process_fns[] = {[FIBER] = fiber_process, [REACT] = react_process};

static void first_process(void *arg)
{
    struct process *p = arg;

    progress_watch(&p->stop.hops, bench->arg[2] / bench->arg[0]);
    process_fns[bench->mode](p);
}

static void spawn_ring(weft_pid *queues)
{
    uint64_t count = bench->arg[0];

    gather_open(&here);
    for (uint64_t i = 0; i < count; i++)
        queues[i] = spawned(weft_spawn(queue_fns[bench->mode], NULL));
    for (uint64_t i = 0; i < count; i++) {
        struct process p = {.stop.next = queues[(i + 1) % count], .before = queues[i]};
        spawned(weft_spawn(i ? process_fns[bench->mode] : first_process, &p, .copy_bytes = sizeof p));
    }
    gather_await(&here, 2 * count);
}

static void first(void *unused)
{
    weft_pid *queues = bench_alloc(bench->arg[0], sizeof *queues);
    double    start = bench_clock();

    (void)unused;
    tokens_expect(bench);
    spawn_ring(queues);
    bench_extra_number(bench, NULL, "setup_s", bench_clock() - start);
    tokens_run(bench, queues);
    free(queues);
}

static void as_actors(struct bench *b)
{
    bench = b;
    bench_actors(b, first);
}

const struct workload workload_queuering = {
    .name = "queuering",
    .args = "N K M",
    .unit = "hops",
    .what = "N processes with N queue actors between them, K tokens, M hops in all",
    .run = {as_actors, as_actors, ring_as_threads},
};
