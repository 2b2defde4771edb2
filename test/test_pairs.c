/* test_pairs.c - every kind of receiver meets every kind of sender.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A receiver is a fiber that receives, an actor that reacts, one that has a behaviour, or a thread.
 * A sender is a fiber, a handler, a thread that is an actor, or a thread that is none until it
 * asks. One script of steps, in pairs of waits and deeds, is played by all of them; each waits in
 * its own way. The receiver leads: it gives the sender a tick for each of its deeds. Where both are
 * in the system time is virtual, and in time and too late are real lengths of it. Threads go by the
 * machine's clock: there nothing is too late but what was not sent before the other side gave up.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <weft/case.h>

#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(pairs, .fini = nothing_leaks, .timeout = 60);

WEFT_MESSAGE(PLAIN, int);
WEFT_MESSAGE(ASK, int);
WEFT_MESSAGE(ANSWER, int);
WEFT_MESSAGE(ECHO, int);
WEFT_MESSAGE(
    WHO, struct who {
        bool     sends;
        weft_pid pid;
    });
WEFT_SIGNAL(GO);
WEFT_SIGNAL(TICK);
WEFT_SIGNAL(DONE);

enum receiver { RECEIVE, REACT, BECOME, THREAD };
enum sender { FIBER, HANDLER, ACTOR_THREAD, PLAIN_THREAD };
enum part { MESSAGES, REQUESTS };

static enum receiver receiver;
static enum sender   sender;
static enum part     part;
static bool          in_the_system; /* both: time is virtual */
static weft_pid      boss, to, from;
static sem_t         begin, ticks;

/* What each saw, step by step; read when both are done. */
static char received[256], answered[256];

static void __attribute__((format(printf, 2, 3))) add(char *all, const char *format, ...)
{
    va_list more;
    size_t  length = strlen(all);

    va_start(more, format);
    vsnprintf(all + length, sizeof received - length, format, more);
    va_end(more);
}

/* Of the time that the other side needs, 10 ms: more, and less. */
static weft_span enough(void) { return in_the_system ? weft_ms(20) : weft_sec(3600); }
static weft_span too_little(void) { return weft_ms(5); }
static void      take_time(void)
{
    if (in_the_system)
        weft_sleep(weft_ms(10));
}

/* ---- The receiver's script ------------------------------------------------------------------- */

/* One more deed of the sender's. */
static void tick(void)
{
    if (sender == PLAIN_THREAD)
        sem_post(&ticks);
    else
        weft_send(from, TICK);
}

/* What it waits for, after what it does before. A step without a type is the end. */
struct wait {
    weft_type *type;
    weft_span  time;
};

static void name_sender(const weft_msg *m)
{
    weft_pid who = weft_sender(m);

    add(received, "%s", weft_is_nobody(who) ? "nobody's " : weft_same(who, from) ? "" : "another's ");
}

static struct wait message_step(int step, weft_msg *m)
{
    switch (step) {
    case 0: /* the first, for ever, and a reply */
        tick();
        return (struct wait){&weft_type_PLAIN, WEFT_FOREVER};
    case 1: /* none is there */
        name_sender(m);
        add(received, "%d %d, ", *weft_get(m, PLAIN), weft_reply(m, ECHO, 1));
        return (struct wait){&weft_type_PLAIN, weft_ms(0)};
    case 2: /* one comes, and then another by which we know */
        add(received, "%s, ", weft_name(m));
        tick();
        return (struct wait){&weft_type_GO, WEFT_FOREVER};
    case 3:
        return (struct wait){&weft_type_PLAIN, weft_ms(0)};
    case 4: /* in time */
        add(received, "%d, ", *weft_get(m, PLAIN));
        tick();
        return (struct wait){&weft_type_PLAIN, enough()};
    case 5: /* too late: it is sent after 10 ms, or after this wait */
        add(received, "%d, ", *weft_get(m, PLAIN));
        if (in_the_system)
            tick();
        return (struct wait){&weft_type_PLAIN, too_little()};
    case 6:
        add(received, "%s, ", weft_name(m));
        if (!in_the_system)
            tick();
        return (struct wait){&weft_type_PLAIN, WEFT_FOREVER};
    default:
        add(received, "%d", *weft_get(m, PLAIN));
        return (struct wait){NULL, {0}};
    }
}

static struct wait request_step(int step, weft_msg *m)
{
    static weft_msg *late;

    switch (step) {
    case 0: /* plainly */
        tick();
        return (struct wait){&weft_type_ASK, WEFT_FOREVER};
    case 1: /* with no time: answered when the asker has given up */
        name_sender(m);
        add(received, "%d %d, ", *weft_get(m, ASK), weft_reply(m, ANSWER, *weft_get(m, ASK) * 10));
        tick();
        return (struct wait){&weft_type_ASK, WEFT_FOREVER};
    case 2:
        late = weft_keep(m);
        return (struct wait){&weft_type_GO, WEFT_FOREVER};
    case 3: /* with no time, when it is there: the echo tells */
        add(received, "%d %d, ", *weft_get(late, ASK), weft_reply(late, ANSWER, -1));
        weft_drop(late);
        tick();
        return (struct wait){&weft_type_ASK, WEFT_FOREVER};
    case 4: /* in time */
        add(received, "%d %d, ", *weft_get(m, ASK), weft_reply(m, ANSWER, *weft_get(m, ASK) * 10));
        weft_send(weft_sender(m), ECHO, 1);
        tick();
        return (struct wait){&weft_type_ASK, WEFT_FOREVER};
    case 5: /* too late */
        take_time();
        add(received, "%d %d, ", *weft_get(m, ASK), weft_reply(m, ANSWER, *weft_get(m, ASK) * 10));
        tick();
        return (struct wait){&weft_type_ASK, WEFT_FOREVER};
    case 6:
        late = weft_keep(m);
        return (struct wait){&weft_type_GO, WEFT_FOREVER};
    case 7: /* once more: the asker meets what was late before this, and has failed after it */
        add(received, "%d %d, ", *weft_get(late, ASK), weft_reply(late, ANSWER, -1));
        weft_drop(late);
        tick();
        return (struct wait){&weft_type_ASK, WEFT_FOREVER};
    default:
        add(received, "%d", *weft_get(m, ASK));
        weft_drop(m);
        return (struct wait){NULL, {0}};
    }
}

static struct wait receiver_step(int step, weft_msg *m)
{
    struct wait w = part == MESSAGES ? message_step(step, m) : request_step(step, m);

    if (!w.type)
        weft_send(boss, DONE);
    return w;
}

/* ---- Receivers ------------------------------------------------------------------------------- */

static void is_here(bool sends) { weft_send(boss, WHO, sends, weft_self()); }

static void receives(void *arg)
{
    weft_msg *m = NULL;

    (void)arg;
    is_here(false);
    weft_receive(TICK);
    for (int step = 0;; step++) {
        struct wait w = receiver_step(step, m);
        if (!w.type)
            return;
        m = weft_receive_types(w.time, &w.type, 1);
    }
}

static void on_step(void *state, weft_msg *m)
{
    int        *step = state;
    struct wait w = receiver_step((*step)++, m);

    if (w.type)
        weft_react_types(w.time, on_step, step, &w.type, 1);
}

static void reacts(void *arg)
{
    (void)arg;
    is_here(false);
    weft_react(on_step, weft_alloc(sizeof(int)), TICK);
}

/* A behaviour for each type that is waited for. Those have no time: a wait that has one is a
 * reaction with the same cases, after which the behaviour goes on. */
static void by_behaviour(void *state, weft_msg *m);

static const weft_case on_plain[] = {WEFT_ON(PLAIN, by_behaviour)}, on_ask[] = {WEFT_ON(ASK, by_behaviour)},
                       on_go[] = {WEFT_ON(GO, by_behaviour)}, on_tick[] = {WEFT_ON(TICK, by_behaviour)};
static const weft_cases plain = WEFT_CASES(on_plain, NULL), ask = WEFT_CASES(on_ask, NULL),
                        go = WEFT_CASES(on_go, NULL), started = WEFT_CASES(on_tick, NULL);

static void by_behaviour(void *state, weft_msg *m)
{
    int              *step = state;
    struct wait       w = receiver_step((*step)++, m);
    const weft_cases *cases = w.type == &weft_type_PLAIN ? &plain : w.type == &weft_type_ASK ? &ask : &go;

    if (!w.type)
        weft_unbecome();
    else if (w.time.ns == WEFT_FOREVER.ns)
        weft_become(cases, step);
    else
        weft_react_case_within(w.time, by_behaviour, cases, step);
}

static void becomes(void *arg)
{
    (void)arg;
    is_here(false);
    weft_become(&started, weft_alloc(sizeof(int)));
}

static void *receives_in_a_thread(void *unused)
{
    sem_wait(&begin);
    receives(NULL);
    return unused;
}

/* ---- The sender's script --------------------------------------------------------------------- */

static void tell(const weft_msg *m)
{
    if (m && weft_is(m, ANSWER))
        add(answered, "%d ", *weft_get(m, ANSWER));
    else if (m && weft_is(m, WEFT_FAILED))
        add(answered, "%s", *weft_get(m, WEFT_FAILED) == WEFT_EDROPPED ? "dropped" : "failed");
    else
        add(answered, "%s ", weft_name(m));
}

static void message_deed(int step)
{
    switch (step) {
    case 1:
        weft_send(to, PLAIN, 2);
        weft_send(to, GO);
        break;
    default:
        if (step > 1)
            take_time();
        weft_send(to, PLAIN, step + 1);
    }
}

/* How long it asks for. */
static weft_span patience(int step)
{
    switch (step) {
    case 1:
    case 2:
        return weft_ms(0);
    case 3:
        return enough();
    case 4:
        return too_little();
    default:
        return WEFT_FOREVER;
    }
}

/* What it does with what it was answered. */
static void conclude(int step, const weft_msg *m)
{
    tell(m);
    if (step == 1 || step == 4)
        weft_send(to, GO); /* too late for this one */
    if (step == 5)
        weft_send(boss, DONE);
}

enum { MESSAGE_DEEDS = 4, REQUEST_DEEDS = 6 };

/* A sender that can wait for its ticks, and for what it asks. */
static void await_tick(void)
{
    if (sender == PLAIN_THREAD)
        sem_wait(&ticks);
    else
        weft_receive(TICK);
}

static void plays_messages(void)
{
    for (int step = 0; step < MESSAGE_DEEDS; step++) {
        await_tick();
        message_deed(step);
        if (step == 0 && sender != PLAIN_THREAD)
            add(answered, "%s", weft_name(weft_receive(ECHO)));
    }
    weft_send(boss, DONE);
}

static void plays_requests(void)
{
    for (int step = 0; step < REQUEST_DEEDS; step++) {
        await_tick();
        weft_pending p = weft_request(to, ASK, step);
        if (step == 2)
            weft_receive(ECHO); /* the response came before it */
        conclude(step, weft_await(p, patience(step)));
    }
}

static void sends(void *arg)
{
    (void)arg;
    is_here(true);
    part == MESSAGES ? plays_messages() : plays_requests();
}

static void *sends_in_a_thread(void *unused)
{
    sem_wait(&begin);
    if (sender == PLAIN_THREAD)
        weft_send(boss, WHO, true, WEFT_NOBODY);
    else
        is_here(true);
    part == MESSAGES ? plays_messages() : plays_requests();
    return unused;
}

/* A sender that is all handlers: of ticks, and of responses. */
struct player {
    int          step, answers; /* a tick may be seen before the response that was sent before it */
    weft_pending asked;
};

static void on_response(void *state, weft_msg *m) { conclude(((struct player *)state)->answers++, m); }

static void on_tick_or_echo(void *state, weft_msg *m)
{
    struct player *p = state;

    if (weft_is(m, TICK) && part == MESSAGES) {
        message_deed(p->step++);
        if (p->step == MESSAGE_DEEDS) {
            weft_send(boss, DONE);
            return;
        }
    } else if (weft_is(m, TICK)) {
        int step = p->step++;
        p->asked = weft_request(to, ASK, step);
        if (step != 2)
            weft_then(p->asked, patience(step), on_response, p);
        if (step == REQUEST_DEEDS - 1)
            return;
    } else if (part == MESSAGES) {
        add(answered, "ECHO");
    } else {
        weft_then(p->asked, patience(2), on_response, p);
    }
    weft_react(on_tick_or_echo, p, TICK, ECHO);
}

static void handles(void *arg)
{
    (void)arg;
    is_here(true);
    weft_react(on_tick_or_echo, weft_alloc(sizeof(struct player)), TICK, ECHO);
}

/* ---- Both ------------------------------------------------------------------------------------ */

static void begins(void *arg)
{
    static weft_fn *const receivers[] = {receives, reacts, becomes}, *const senders[] = {sends, handles};

    (void)arg;
    boss = weft_self();
    if (receiver != THREAD)
        weft_spawn(receivers[receiver], NULL);
    if (sender < ACTOR_THREAD)
        weft_spawn(senders[sender], NULL);
    sem_post(&begin);
    sem_post(&begin);
    for (int i = 0; i < 2; i++) {
        const struct who *w = weft_get(weft_receive(WHO), WHO);
        *(w->sends ? &from : &to) = w->pid;
    }
    weft_send(to, TICK); /* both know each other now */
    weft_receive(DONE);
    weft_receive(DONE);
}

static void play(enum receiver r, enum sender s, enum part what)
{
    pthread_t   receiving, sending;
    weft_counts before = counted();

    receiver = r, sender = s, part = what;
    in_the_system = r != THREAD && s < ACTOR_THREAD;
    sem_init(&begin, 0, 0);
    sem_init(&ticks, 0, 0);
    if (r == THREAD)
        cr_assert_eq(pthread_create(&receiving, NULL, receives_in_a_thread, NULL), 0);
    if (s >= ACTOR_THREAD)
        cr_assert_eq(pthread_create(&sending, NULL, sends_in_a_thread, NULL), 0);
    cr_assert_eq(in_the_system ? weft_run(begins, NULL, .seed = 1) : weft_run(begins, NULL), 0);
    if (r == THREAD)
        pthread_join(receiving, NULL);
    if (s >= ACTOR_THREAD)
        pthread_join(sending, NULL);
    if (what == MESSAGES) {
        cr_expect_str_eq(received, s == PLAIN_THREAD ? "nobody's 1 -1, WEFT_TIMEOUT, 2, 3, WEFT_TIMEOUT, 4"
                                                     : "1 0, WEFT_TIMEOUT, 2, 3, WEFT_TIMEOUT, 4");
        cr_expect_str_eq(answered, s == PLAIN_THREAD ? "" : "ECHO");
    } else {
        cr_expect_str_eq(received, s == PLAIN_THREAD ? "another's 0 0, 1 0, 2 0, 3 0, 4 0, 5"
                                                     : "0 0, 1 0, 2 0, 3 0, 4 0, 5");
        cr_expect_str_eq(answered, "0 WEFT_TIMEOUT 20 30 WEFT_TIMEOUT dropped");
        cr_expect_eq(counted().late_responses - before.late_responses, 2);
    }
    cr_expect_eq(counted().spawned, counted().ended);
}

/* Two tests a pairing: the messages, and the requests. */
#define PAIR(receiver_name, R, sender_name, S)                                             \
    Test(pairs, receiver_name##_takes_messages_of_##sender_name) { play(R, S, MESSAGES); } \
    Test(pairs, receiver_name##_answers_requests_of_##sender_name) { play(R, S, REQUESTS); }
#define PAIRS(receiver_name, R)                                     \
    PAIR(receiver_name, R, a_fiber, FIBER)                          \
    PAIR(receiver_name, R, a_handler, HANDLER)                      \
    PAIR(receiver_name, R, a_thread_that_is_an_actor, ACTOR_THREAD) \
    PAIR(receiver_name, R, a_thread_that_is_none, PLAIN_THREAD)

PAIRS(a_fiber_that_receives, RECEIVE)
PAIRS(an_actor_that_reacts, REACT)
PAIRS(a_behaviour, BECOME)
PAIRS(a_thread, THREAD)
