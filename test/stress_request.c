/* stress_request.c - requests that are answered, forwarded, dropped, forgotten or outlived, while
 * time is short.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Fibers, reactors with weft_then, and foreign threads ask servers that live for a few requests and
 * are born again in a slot. A server answers, answers twice, forwards to another slot, drops, keeps
 * one for later, goes on to the next, or ends. Many requests have a time of microseconds, so that
 * responses meet timers. Askers send each other noise. Checked:
 *   - each request gets one of a response, WEFT_FAILED and NULL, and a handler of weft_then runs
 *     once;
 *   - a response carries the number that was asked with; a failure has a reason that weft.h names;
 *   - receive sees noise and nothing else;
 *   - in the end every request was answered once: as many late responses as timeouts, and every
 *     dead letter is accounted for;
 *   - each actor that was spawned has ended.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "help.h"

enum {
    SERVERS = 16,
    FIBERS = 32,
    REACTORS = 16,
    THREADS = 2,
    ASKERS = FIBERS + REACTORS + THREADS,
    REQUESTS = 6000
};
enum { OPEN = 4 }; /* requests at once, of one asker */

struct question {
    int           by;
    unsigned long number;
};

WEFT_MESSAGE(ASK, struct question);
WEFT_MESSAGE(
    ASK_LONG, struct {
        struct question question;
        char            filler[80];
    });
WEFT_MESSAGE(ANSWER, struct question);
WEFT_MESSAGE(
    ANSWER_LONG, struct {
        struct question question;
        char            filler[80];
    });
WEFT_SIGNAL(NOISE);
WEFT_SIGNAL(FLUSH);
WEFT_SIGNAL(STOP);
WEFT_SIGNAL(DONE);

static weft_pid         boss, asker[ASKERS];
static _Atomic uint64_t server[SERVERS]; /* the pid that lives there now, or did a moment ago */
static atomic_int       serving;         /* slots where one still does */
static atomic_bool      over;            /* who is born now is stopped at once */
static sem_t            begin;
static unsigned long    requests;

/* relaxed, all: read when all is over */
static atomic_ulong asked, read_, forwarded, replied_again, responses, gone, dropped, timeouts, lives,
    noise_sent, noise_read, stops_sent, stops_read, wrong;

static void count(atomic_ulong *n) { atomic_fetch_add_explicit(n, 1, memory_order_relaxed); }

static void complain(const char *what, int a, int b)
{
    count(&wrong);
    fprintf(stderr, "stress_request: %s (%d, %d)\n", what, a, b);
}

static void stop(uint64_t who)
{
    count(&stops_sent);
    weft_send((weft_pid){who}, STOP);
}

static weft_pid somewhere(uint64_t *random)
{
    return (weft_pid){atomic_load_explicit(&server[draw(random) % SERVERS], memory_order_relaxed)};
}

/* ---- Servers --------------------------------------------------------------------------------- */

struct soul {
    int       me, left;
    uint64_t  random;
    weft_msg *kept; /* a request for later */
    bool      stopped;
};

static struct question question_of(const weft_msg *m)
{
    return weft_is(m, ASK) ? *weft_get(m, ASK) : weft_get(m, ASK_LONG)->question;
}

static void answer(struct soul *s, const weft_msg *m)
{
    struct question q = question_of(m);
    int             error;

    if (draw(&s->random) % 8)
        error = weft_reply_body(m, &weft_type_ANSWER, &q);
    else if (draw(&s->random) % 2)
        error = weft_reply(m, ANSWER_LONG, q, "");
    else
        error = weft_reply_pass(m, weft_make(ANSWER_LONG, q, ""));
    if (error)
        complain("not answered", error, q.by); /* askers live to the end */
}

static void answer_again(struct soul *s, const weft_msg *m)
{
    struct question wrong_one = {-1, 0};

    answer(s, m);
    if (weft_reply_body(m, &weft_type_ANSWER, &wrong_one) != WEFT_EGONE)
        complain("answered twice", question_of(m).by, s->me);
    count(&replied_again);
}

static void answer_kept(struct soul *s)
{
    if (!s->kept)
        return;
    answer(s, s->kept);
    weft_drop(s->kept);
    s->kept = NULL;
}

/* For later, when it has waited long enough for the next. */
static void keep(struct soul *s, weft_msg *m)
{
    answer_kept(s);
    s->kept = weft_keep(m);
}

static weft_span until_later(const struct soul *s) { return s->kept ? weft_us(100) : WEFT_FOREVER; }

/* True: it lives on. */
static bool serve(struct soul *s, weft_msg *m)
{
    if (!m) {
        answer_kept(s);
        return true;
    }
    if (weft_is(m, STOP)) {
        count(&stops_read);
        s->stopped = true;
        return false;
    }
    count(&read_);
    switch (draw(&s->random) % 16) {
    case 0:
        weft_drop(m);
        break;
    case 1: /* the next receive ends it, or our own end */
        break;
    case 2:
    case 3:
    case 4:
        count(&forwarded);
        weft_forward(somewhere(&s->random), m);
        break;
    case 5:
        answer_again(s, m);
        break;
    case 6:
        weft_sleep(weft_us((int64_t)(draw(&s->random) % 50)));
        answer(s, m);
        break;
    case 7:
    case 8:
        keep(s, m);
        break;
    default:
        answer(s, m);
    }
    return --s->left > 0;
}

static void live(void *arg);

/* What it kept fails with it. */
static void pass_away(struct soul *s)
{
    struct soul next = {.me = s->me, .random = draw(&s->random)};

    count(&lives);
    if (s->stopped) {
        serving--;
        weft_send(boss, DONE);
        return;
    }
    weft_pid born = weft_spawn(live, &next, .copy_bytes = sizeof next);
    if (weft_is_nobody(born))
        complain("no next life", s->me, weft_spawn_error());
    /* seq_cst, as `over`: whoever stops us finds the new one, or we see that it is over. */
    server[s->me] = born.id;
    if (over)
        stop(born.id);
}

static void on_request(void *state, weft_msg *m)
{
    struct soul *s = state;

    if (serve(s, m))
        weft_react_within(until_later(s), on_request, s, ASK, ASK_LONG, STOP);
    else
        pass_away(s);
}

static void live(void *arg)
{
    struct soul *s = arg;

    s->left = 1 + (int)(draw(&s->random) % 30);
    if (draw(&s->random) % 2) {
        weft_react(on_request, s, ASK, ASK_LONG, STOP);
        return;
    }
    while (serve(s, weft_receive_within(until_later(s), ASK, ASK_LONG, STOP)))
        ;
    pass_away(s);
    if (draw(&s->random) % 2)
        weft_end(0); /* from the middle, or by returning */
}

/* ---- Askers ---------------------------------------------------------------------------------- */

struct inquirer {
    int           me, open;
    bool          told;
    uint64_t      random;
    unsigned long next; /* the number of its next question */
};

struct open_question {
    struct inquirer *by;
    unsigned long    number;
    int              runs;
};

static weft_span patience(struct inquirer *q)
{
    uint64_t n = draw(&q->random);

    return n % 4 == 0 ? WEFT_FOREVER : n % 16 == 1 ? weft_ns(0) : weft_us((int64_t)(n / 16 % 60));
}

static weft_pending ask(struct inquirer *q, unsigned long number)
{
    struct question what = {q->me, number};
    weft_pid        whom = somewhere(&q->random);

    count(&asked);
    weft_pending p = draw(&q->random) % 16 ? weft_request_body(whom, &weft_type_ASK, &what)
                                           : weft_request(whom, ASK_LONG, what, "");
    if (!p.id)
        complain("no handle", q->me, (int)number);
    return p;
}

/* One of the three, and the right one. */
static void check(struct inquirer *q, unsigned long number, const weft_msg *m)
{
    const struct question *a;

    if (!m) {
        count(&timeouts);
        return;
    }
    if (weft_is(m, WEFT_FAILED)) {
        int why = *weft_get(m, WEFT_FAILED);
        count(why == WEFT_EGONE ? &gone : &dropped);
        if (why != WEFT_EGONE && why != WEFT_EDROPPED)
            complain("failed for no good reason", why, q->me);
        return;
    }
    if (!weft_is(m, ANSWER) && !weft_is(m, ANSWER_LONG)) {
        complain(weft_name(m), q->me, (int)number);
        return;
    }
    a = weft_is(m, ANSWER) ? weft_get(m, ANSWER) : &weft_get(m, ANSWER_LONG)->question;
    count(&responses);
    if (a->by != q->me || a->number != number)
        complain("the response to another", a->by, (int)a->number);
}

static void make_noise(struct inquirer *q)
{
    if (draw(&q->random) % 4)
        return;
    count(&noise_sent);
    if (weft_send(asker[draw(&q->random) % ASKERS], NOISE))
        complain("noise refused", q->me, 0);
}

/* Anything but noise has no business here. */
static void hear(struct inquirer *q, const weft_msg *m)
{
    if (!m)
        return;
    if (weft_is(m, NOISE))
        count(&noise_read);
    else if (weft_is(m, FLUSH))
        q->told = true;
    else
        complain(weft_name(m), q->me, -1);
}

/* Some at once, awaited in another order; sometimes it hears noise first. */
static void ask_some(struct inquirer *q)
{
    weft_pending  p[OPEN];
    unsigned long number[OPEN];
    int           n = 1 + (int)(draw(&q->random) % OPEN), first = (int)(draw(&q->random) % (uint64_t)n);

    for (int i = 0; i < n; i++) {
        number[i] = ++q->next;
        p[i] = ask(q, number[i]);
        make_noise(q);
    }
    if (draw(&q->random) % 4 == 0)
        hear(q, weft_receive_within(weft_us((int64_t)(draw(&q->random) % 20)), WEFT_ANY));
    for (int i = 0; i < n; i++) {
        int which = (first + i) % n;
        check(q, number[which], weft_await(p[which], patience(q)));
    }
}

static void ask_all(struct inquirer *q)
{
    while (q->next < requests)
        ask_some(q);
    weft_send(boss, DONE);
    while (!q->told) /* what is late has come before that */
        hear(q, weft_receive(WEFT_ANY));
    weft_send(boss, DONE);
}

static void ask_as_fiber(void *arg)
{
    struct inquirer *q = arg;

    weft_receive(STOP); /* all are there */
    ask_all(q);
}

static void *ask_as_thread(void *me)
{
    struct inquirer q = {.me = (int)(intptr_t)me, .random = 15485863 * (uint64_t)((intptr_t)me + 1)};

    sem_wait(&begin);
    asker[q.me] = weft_self();
    weft_send(boss, DONE);
    weft_receive(STOP);
    ask_all(&q);
    return NULL;
}

/* ---- Reactors -------------------------------------------------------------------------------- */

static void ask_more(struct inquirer *q);

static void on_response(void *state, weft_msg *m)
{
    struct open_question *o = state;
    struct inquirer      *q = o->by;

    if (++o->runs != 1)
        complain("a handler ran again", q->me, o->runs);
    check(q, o->number, m);
    o->number = 0; /* its place is free */
    q->open--;
    make_noise(q);
    ask_more(q);
}

/* Behind the inquirer in its memory lie the places. */
static void ask_more(struct inquirer *q)
{
    struct open_question *place = (struct open_question *)(q + 1);

    for (int i = 0; i < OPEN && q->next < requests; i++) {
        if (place[i].number)
            continue;
        place[i] = (struct open_question){q, ++q->next, 0};
        q->open++;
        weft_then(ask(q, q->next), patience(q), on_response, &place[i]);
    }
    if (!q->open && q->next >= requests) {
        q->next = requests + 1; /* once */
        q->open = -1;
        weft_send(boss, DONE);
    }
}

static void on_noise(void *state, weft_msg *m)
{
    struct inquirer *q = state;

    if (weft_is(m, STOP))
        ask_more(q);
    else
        hear(q, m);
    if (q->told)
        weft_send(boss, DONE);
    else
        weft_react(on_noise, q, WEFT_ANY, STOP);
}

static void ask_as_reactor(void *arg)
{
    struct inquirer *q = weft_alloc(sizeof *q + OPEN * sizeof(struct open_question));

    *q = *(struct inquirer *)arg;
    weft_react(on_noise, q, STOP);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void wait_for(int n)
{
    for (int i = 0; i < n; i++)
        weft_receive(DONE);
}

static void begin_all(void *arg)
{
    (void)arg;
    boss = weft_self();
    over = false;
    for (int i = 0; i < SERVERS; i++) {
        struct soul s = {.me = i, .random = 6700417 * (uint64_t)(i + 1)};
        serving++;
        server[i] = weft_spawn(live, &s, .copy_bytes = sizeof s).id;
    }
    for (int i = 0; i < FIBERS + REACTORS; i++) {
        struct inquirer q = {.me = i, .random = 104729 * (uint64_t)(i + 1)};
        asker[i] = weft_spawn(i < FIBERS ? ask_as_fiber : ask_as_reactor, &q, .copy_bytes = sizeof q);
    }
    for (int i = 0; i < THREADS; i++)
        sem_post(&begin);
    wait_for(THREADS);
    for (int i = 0; i < ASKERS; i++)
        weft_send(asker[i], STOP); /* begin */
    wait_for(ASKERS);
    /* Every server ends, and with it every request that was not answered. */
    over = true;
    for (int i = 0; i < SERVERS; i++)
        stop(server[i]);
    wait_for(SERVERS);
    if (serving)
        complain("servers left", serving, 0);
    for (weft_counts c; c = counted(), c.spawned - c.ended > 1 + ASKERS;)
        weft_sleep(weft_us(100)); /* they have said that they end; now they have */
    for (int i = 0; i < ASKERS; i++)
        weft_send(asker[i], FLUSH);
    wait_for(ASKERS);
}

/* How much each has grown since the last look. */
struct sums {
    unsigned long asked, read, forwarded, again, responses, failures, timeouts, noise, stops;
};

static struct sums sums_now(void)
{
    return (struct sums){asked,
                         read_,
                         forwarded,
                         replied_again,
                         responses,
                         gone + dropped,
                         timeouts,
                         noise_sent - noise_read,
                         stops_sent - stops_read};
}

static void stress(int workers)
{
    pthread_t   thread[THREADS];
    weft_counts before = counted();
    struct sums was = sums_now();

    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, ask_as_thread, (void *)(intptr_t)(FIBERS + REACTORS + i));
    int reason = weft_run(begin_all, NULL, .workers = workers);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    weft_counts   now = counted();
    struct sums   is = sums_now();
    unsigned long late = is.timeouts - was.timeouts, dead = now.dead_letters - before.dead_letters;
    unsigned long unread = is.asked - was.asked + is.forwarded - was.forwarded - (is.read - was.read);

    if (reason)
        complain("did not run", reason, workers);
    if (now.spawned != now.ended)
        complain("not all have ended", (int)now.spawned, (int)now.ended);
    if (is.asked != is.responses + is.failures + is.timeouts)
        complain("not one answer to each request", (int)is.asked,
                 (int)(is.responses + is.failures + is.timeouts));
    if (now.late_responses - before.late_responses != late)
        complain("late responses miscounted", (int)(now.late_responses - before.late_responses), (int)late);
    if (dead != unread + late + is.again - was.again + is.noise - was.noise + is.stops - was.stops)
        complain("dead letters miscounted", (int)dead, (int)(unread + late));
}

int main(void)
{
    static const int workers[] = {1, 2, 8};

    sem_init(&begin, 0, 0);
    requests = scaled(REQUESTS);
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++)
        stress(workers[i]);

    /* Each asker asks `requests`, or some more with its last round. */
    bool good = !wrong && asked >= 3 * ASKERS * requests && responses && gone && dropped && timeouts &&
                forwarded && replied_again && noise_read && lives > 3 * SERVERS;
    printf("stress_request: %s: %lu requests, %lu responses, %lu gone, %lu dropped, %lu timeouts; %lu "
           "forwarded, %lu "
           "answered again, %lu lives, %lu noises; %lu wrong\n",
           good ? "ok" : "FAILED", (unsigned long)asked, (unsigned long)responses, (unsigned long)gone,
           (unsigned long)dropped, (unsigned long)timeouts, (unsigned long)forwarded,
           (unsigned long)replied_again, (unsigned long)lives, (unsigned long)noise_read,
           (unsigned long)wrong);
    return good ? 0 : 1;
}
