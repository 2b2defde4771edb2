/* stress_mailbox.c - everything that sends meets everything that waits, through the public interface.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Receivers mix receive, timed receive, sleep, react, and blocking five calls deep in a handler. Actors and foreign threads
 * send them numbered messages, small and large, a few at a time, so that mailboxes run dry and everybody parks.
 * Mortals live for a few messages and are born again in a slot that late messages still know. Checked:
 *   - messages of one sender arrive in order, none lost, none twice, none at another receiver;
 *   - no mortal gets what was meant for one before it; what it did not get is a dead letter, each counted once;
 *   - each actor that was spawned has ended.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

enum {
    RECEIVERS = 8,
    ACTORS = 32,
    THREADS = 2,
    SENDERS = ACTORS + THREADS,
    MORTALS = 16,
    NAPPERS = 4,
    MESSAGES = 30000
};

struct data {
    int           by, to;
    unsigned long number;
};

WEFT_MESSAGE(DATA, struct data);
WEFT_MESSAGE(
    LONG, struct {
        struct data data;
        char        filler[80];
    });
WEFT_MESSAGE(
    LETTER, struct letter { weft_pid to; });
WEFT_MESSAGE(LAST, struct data); /* its number is how many there were */
WEFT_SIGNAL(PING);
WEFT_SIGNAL(PONG);
WEFT_SIGNAL(DONE);
WEFT_SIGNAL(STOP);

static weft_pid         boss, receiver[RECEIVERS];
static _Atomic uint64_t mortal[MORTALS]; /* the pid that lives there now, or did a moment ago; relaxed */
static sem_t            begin;
static unsigned long    messages;

/* relaxed, all: read when all is over */
static atomic_ulong received, timeouts, reactions, depths, lives, letters, read_letters, wrong;

static void count(atomic_ulong *n) { atomic_fetch_add_explicit(n, 1, memory_order_relaxed); }

static void complain(const char *what, int a, int b)
{
    count(&wrong);
    fprintf(stderr, "stress_mailbox: %s (%d, %d)\n", what, a, b);
}

/* ---- Receivers ----------------------------------------------------------------------------------------------- */

struct reader {
    int           me, finished;
    bool          stopped;
    uint64_t      random;
    unsigned long last[SENDERS];
};

static weft_span moment(struct reader *r) { return weft_us((int64_t)(draw(&r->random) % 40)); }

static void check(struct reader *r, const struct data *d)
{
    if (draw(&r->random) % 64 == 0)
        weft_sleep(moment(r)); /* ends no message, and loses none */
    if (d->to != r->me)
        complain("at another receiver", d->to, r->me);
    else if (d->number != ++r->last[d->by])
        complain("out of order", d->by, r->me);
    count(&received);
}

static void handle(struct reader *r, weft_msg *m)
{
    switch (weft_tag(m)) {
    case WEFT_TIMEOUT:
        count(&timeouts);
        break;
    case DATA:
        check(r, weft_get(m, DATA));
        break;
    case LONG:
        check(r, &weft_get(m, LONG)->data);
        break;
    case LAST:
        if (weft_get(m, LAST)->number != r->last[weft_get(m, LAST)->by])
            complain("lost", weft_get(m, LAST)->by, r->me);
        r->finished++;
        break;
    case PING:
        weft_reply(m, PONG);
        break;
    case STOP:
        r->stopped = true;
        weft_reply(m, DONE);
        break;
    default:
        complain("of no known type", weft_tag(m), r->me);
    }
}

static __attribute__((noinline)) int block_deep(struct reader *r, int depth)
{
    volatile int kept = depth;

    if (depth > 0)
        block_deep(r, depth - 1);
    else
        handle(r, weft_receive_within(moment(r), DATA, LONG, PING));
    if (kept != depth)
        complain("locals changed", kept, depth);
    return kept;
}

static void on_message(void *state, weft_msg *m);

/* On a stack for some messages, then without one. */
static void some_way(struct reader *r)
{
    for (uint64_t n = draw(&r->random) % 6; n > 0 && !r->stopped; n--) {
        if (draw(&r->random) % 2)
            handle(r, weft_receive(DATA, LONG, PING, LAST, STOP));
        else
            handle(r, weft_receive_within(moment(r), DATA, LONG, PING, LAST, STOP));
    }
    if (r->stopped) {
        if (r->finished != SENDERS)
            complain("senders missing", r->finished, r->me);
    } else if (draw(&r->random) % 2) {
        weft_react(on_message, r, DATA, LONG, PING, LAST, STOP);
    } else {
        weft_react_within(moment(r), on_message, r, DATA, LONG, PING, LAST, STOP);
    }
}

static void on_message(void *state, weft_msg *m)
{
    struct reader *r = state;

    count(&reactions);
    handle(r, m);
    if (!r->stopped && draw(&r->random) % 4 == 0) {
        count(&depths);
        block_deep(r, 5);
    }
    if (!r->stopped && draw(&r->random) % 2)
        weft_react(on_message, r, DATA, LONG, PING, LAST, STOP);
    else
        some_way(r);
}

static void read_all(void *arg)
{
    struct reader *r = weft_alloc(sizeof *r);

    r->me = *(int *)arg;
    r->random = 7919 * (uint64_t)(r->me + 1);
    some_way(r);
}

/* ---- Mortals --------------------------------------------------------------------------------------------------- */

struct soul {
    int      me, left;
    uint64_t random;
};

static void live(void *arg);

static void pass_away(struct soul *s)
{
    count(&lives);
    weft_pid next = weft_spawn(live, s, .copy_bytes = sizeof *s);
    atomic_store_explicit(&mortal[s->me], next.id, memory_order_relaxed);
    if (weft_is_nobody(next))
        complain("no next life", s->me, weft_spawn_error());
}

static void read_letter(const weft_msg *m)
{
    if (!weft_same(weft_get(m, LETTER)->to, weft_self()))
        complain("a letter for another", 0, 0);
    count(&read_letters);
}

static void on_letter(void *state, weft_msg *m)
{
    struct soul *s = state;

    if (m)
        read_letter(m);
    if (s->left-- > 0)
        weft_react_within(weft_ms(1), on_letter, s, LETTER);
    else
        pass_away(s);
}

static void live(void *arg)
{
    struct soul *s = arg;

    s->left = (int)(draw(&s->random) % 8);
    if (draw(&s->random) % 2) {
        weft_react_within(weft_ms(1), on_letter, s, LETTER);
        return;
    }
    for (weft_msg *m; s->left-- > 0;)
        if ((m = weft_receive_within(weft_ms(1), LETTER)))
            read_letter(m);
    pass_away(s);
}

/* To one who lives now, or to one who lived when `known` was last looked at. */
static void write_letter(uint64_t *random, uint64_t *known)
{
    uint64_t which = draw(random) % MORTALS;
    uint64_t now = atomic_load_explicit(&mortal[which], memory_order_relaxed);
    weft_pid to = {draw(random) % 2 && known[which] ? known[which] : now};

    known[which] = now;
    count(&letters);
    int error = weft_send(to, LETTER, .to = to);
    if (error && error != WEFT_EGONE)
        complain("a letter refused", error, 0);
}

/* ---- Senders ---------------------------------------------------------------------------------------------------- */

static void send_one(int me, int to, unsigned long number, bool large)
{
    int error = large ? weft_send(receiver[to], LONG, {me, to, number}, "")
                      : weft_send(receiver[to], DATA, me, to, number);

    if (error)
        complain("not sent", error, to);
}

static void send_all(int me)
{
    unsigned long sent[RECEIVERS] = {0};
    uint64_t      random = 104729 * (uint64_t)(me + 1), known[MORTALS] = {0};

    for (unsigned long i = 0; i < messages; i++) {
        int to = (int)(draw(&random) % RECEIVERS);
        send_one(me, to, ++sent[to], draw(&random) % 16 == 0);
        if (draw(&random) % 8 == 0)
            write_letter(&random, known);
        if (draw(&random) % 64 == 0)
            weft_yield();
        if (draw(&random) % 16 == 0) {
            weft_send(receiver[to], PING);
            weft_receive(PONG);
        }
    }
    for (int to = 0; to < RECEIVERS; to++)
        weft_send(receiver[to], LAST, me, to, sent[to]);
    weft_send(boss, DONE);
}

static void send_as_actor(void *me) { send_all(*(int *)me); }

static void *send_as_thread(void *me)
{
    sem_wait(&begin);
    weft_self(); /* so that it can be answered */
    send_all((int)(intptr_t)me);
    return NULL;
}

/* ---- Nappers ------------------------------------------------------------------------------------------------- */

/* Nobody sends to them. A timer that goes off while its actor is still on the way to sleep, and then never again, leaves
 * one asleep for ever. */
static void nap(void *me)
{
    uint64_t random = 15485863 * (uint64_t)(*(int *)me + 1);

    for (unsigned long i = 0; i < messages / 8; i++)
        weft_sleep(weft_ns((int64_t)(draw(&random) % 400)));
    weft_send(boss, DONE);
}

/* ---- All of them -------------------------------------------------------------------------------------------------- */

static void begin_all(void *arg)
{
    (void)arg;
    boss = weft_self();
    for (int i = 0; i < RECEIVERS; i++)
        receiver[i] = weft_spawn(read_all, &i, .copy_bytes = sizeof i);
    for (int i = 0; i < MORTALS; i++) {
        struct soul s = {.me = i, .random = 6700417 * (uint64_t)(i + 1)};
        mortal[i] = weft_spawn(live, &s, .copy_bytes = sizeof s).id;
    }
    for (int i = 0; i < ACTORS; i++)
        weft_spawn(send_as_actor, &i, .copy_bytes = sizeof i);
    for (int i = 0; i < NAPPERS; i++)
        weft_spawn(nap, &i, .copy_bytes = sizeof i);
    for (int i = 0; i < THREADS; i++)
        sem_post(&begin);
    for (int i = 0; i < SENDERS + NAPPERS; i++)
        weft_receive(DONE);
    for (int i = 0; i < RECEIVERS; i++) {
        weft_send(receiver[i], STOP);
        weft_receive(DONE);
    }
}

static void stress(int workers)
{
    pthread_t   thread[THREADS];
    weft_counts before = counted();
    uint64_t    letters_before = letters, read_before = read_letters;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, send_as_thread, (void *)(intptr_t)(ACTORS + i));
    int reason = weft_run(begin_all, NULL, .workers = workers);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    weft_counts now = counted();
    if (reason)
        complain("did not run", reason, workers);
    if (now.spawned != now.ended)
        complain("not all have ended", (int)now.spawned, (int)now.ended);
    if (now.dead_letters - before.dead_letters != letters - letters_before - (read_letters - read_before))
        complain("dead letters miscounted", (int)(now.dead_letters - before.dead_letters),
                 (int)(letters - letters_before - (read_letters - read_before)));
}

int main(void)
{
    static const int workers[] = {1, 2, 8};

    sem_init(&begin, 0, 0);
    messages = scaled(MESSAGES);
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++)
        stress(workers[i]);

    bool good = !wrong && received == 3 * SENDERS * messages && timeouts && reactions && depths && lives &&
                read_letters && letters > read_letters;
    printf("stress_mailbox: %s: %lu messages, %lu timeouts, %lu reactions, %lu deep; %lu lives, %lu of %lu "
           "letters read; "
           "%lu wrong\n",
           good ? "ok" : "FAILED", (unsigned long)received, (unsigned long)timeouts, (unsigned long)reactions,
           (unsigned long)depths, (unsigned long)lives, (unsigned long)read_letters, (unsigned long)letters,
           (unsigned long)wrong);
    return good ? 0 : 1;
}
