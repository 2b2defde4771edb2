/* stress_model.c - random programs for one mailbox, on Weft and on a plain model: both must say the same.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Each case is a system of its own, with a seed: one worker and virtual time. See model_program.h
 * for what a program is. Checked, step by step: which message came, its tag, sender, body and
 * handler; that none came when the time was over; that a guard is asked once a wait. In the end:
 * which messages are dead letters, each once, and that what they owned was destroyed.
 *
 * WEFT_CASES: how many; WEFT_MODEL_SEED: the first one's number.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/case.h>
#include <weft/letters.h>

#include "help.h"
#include "model_program.h"

enum { CASES = 3000, SECONDS_A_CASE = 60, FILLER = 90 };

struct body {
    int id, key;
};

struct large {
    struct body   body;
    unsigned char filler[FILLER];
};

WEFT_MESSAGE(CONVERSION, struct body);
WEFT_MESSAGE(
    QUESTION, struct question {
        int64_t delay;
        int     slot;
        bool    fails, at_once;
    });
WEFT_MESSAGE(RESPONSE, int); /* its slot */
WEFT_SIGNAL(NEVER);

/* A step's set, as Weft wants it. */
struct look {
    const struct set  *set;
    const struct test *test;
};

struct ready {
    weft_type  *type[MODEL_TESTS];
    weft_case   list[MODEL_CASES];
    weft_cases  set, rest;
    struct look look[MODEL_CASES];
};

/* How often a guard was asked of a message, in which wait. */
struct asked {
    unsigned wait, times;
};

static struct program program;
static weft_type      out[MODEL_TYPES], in[MODEL_TYPES]; /* the senders', the reader's */
static char           type_name[MODEL_TYPES][16];

/* All begin then, when each knows the others. */
static const weft_span beginning = {1000000};

/* Of the present case. */
static weft_pid        who[ANYBODY], answerer, gone;
static struct ready    ready[MODEL_STEPS];
static weft_pending    pending[MODEL_REQUESTS];
static int             at; /* the reader's step */
static const weft_msg *held;
static int             held_id;
static int             answers; /* handlers of responses that have run */
static unsigned        wait_number;
static unsigned        surprises; /* what makes Weft look at all again: urgent messages, such handlers */
static struct asked    asked[MODEL_MESSAGES][MODEL_CASES];
static int             destroyed[MODEL_MESSAGES], letters[MODEL_MESSAGES];
static bool            failed;
static char            difference[256];

static void __attribute__((format(printf, 1, 2))) differ(const char *format, ...)
{
    va_list more;

    if (failed)
        return;
    failed = true;
    int n = snprintf(difference, sizeof difference, "step %d: ", at);
    va_start(more, format);
    vsnprintf(difference + n, sizeof difference - (size_t)n, format, more);
    va_end(more);
}

/* ---- Types ----------------------------------------------------------------------------------------- */

static bool is_owning(int type) { return type % 8 == 5; }
static bool is_large(int type) { return type % 8 == 7; }

static void destroy(void *body) { destroyed[((struct body *)body)->id]++; }

static void make_types(void)
{
    for (int i = 0; i < MODEL_TYPES; i++) {
        snprintf(type_name[i], sizeof type_name[i], "T%d", i);
        out[i].name = in[i].name = type_name[i];
        out[i].bytes = in[i].bytes = is_large(i) ? sizeof(struct large) : sizeof(struct body);
        out[i].tag = in[i].tag = 5000 + i;
        out[i].destroy = in[i].destroy = is_owning(i) ? destroy : NULL;
    }
}

static int type_of(const weft_msg *m)
{
    const char *name = weft_name(m);

    return name[0] == 'T' ? atoi(name + 1) : -1;
}

/* NULL: it is none of a batch. */
static const struct body *body_of(const weft_msg *m)
{
    int type = type_of(m);

    if (type >= 0)
        return weft_body(m, &in[type]);
    return weft_is(m, CONVERSION) ? weft_get(m, CONVERSION) : NULL;
}

/* ---- Sending --------------------------------------------------------------------------------------- */

static void fill(struct large *l, int id)
{
    l->body = (struct body){id, program.message[id].key};
    memset(l->filler, id % 251, FILLER);
}

static void send_one(int id)
{
    const struct message *m = &program.message[id];
    weft_type            *type = &out[m->type];
    weft_pid              to = who[READER];
    struct large          body;
    int                   error = 0;

    fill(&body, id);
    switch (m->how) {
    case PLAINLY:
        error = weft_send_body(to, type, &body);
        break;
    case URGENTLY:
        surprises++;
        error = weft_send_urgent_body(to, type, &body);
        break;
    case AS_ANOTHER:
        error = weft_send_as_body(who[m->from], to, type, &body);
        break;
    case BY_PASSING:
        error = weft_pass(to, weft_make_body(type, &body));
        break;
    case TO_MANY:
        weft_send_many_body(&to, 1, type, &body);
        break;
    }
    if (error && error != WEFT_EGONE)
        differ("message #%d was not sent: %s", id, weft_strerror(error));
}

static void send_batch(int first, int count)
{
    for (int id = first; id < first + count; id++)
        send_one(id);
}

/* A thread that is no actor sends what it is told to, and the worker waits for it meanwhile. */
static sem_t               thread_begins, thread_is_done;
static const struct batch *thread_batch;

static void *send_as_thread(void *unused)
{
    for (;;) {
        sem_wait(&thread_begins);
        if (!thread_batch)
            return unused;
        send_batch(thread_batch->first, thread_batch->count);
        sem_post(&thread_is_done);
    }
}

static void send_by_thread(const struct batch *b)
{
    thread_batch = b;
    sem_post(&thread_begins);
    sem_wait(&thread_is_done);
}

/* ---- Those who send by the clock ------------------------------------------------------------------- */

struct sender {
    enum by by;
    int     next; /* batch */
    int64_t now;
};

static bool is_mine(const struct sender *s, const struct batch *b)
{
    return b->by == s->by || (b->by == BY_THREAD && s->by == BY_FIRST);
}

/* The time until its next batch; negative: there is none. */
static int64_t until_next(struct sender *s)
{
    while (s->next < program.batches && !is_mine(s, &program.batch[s->next]))
        s->next++;
    return s->next < program.batches ? program.batch[s->next].at - s->now : -1;
}

static void send_next(struct sender *s)
{
    const struct batch *b = &program.batch[s->next++];

    s->now = b->at;
    if (b->by == BY_THREAD)
        send_by_thread(b);
    else
        send_batch(b->first, b->count);
}

static void on_tick(void *state, weft_msg *m)
{
    struct sender *s = state;

    (void)m;
    send_next(s);
    if (until_next(s) >= 0)
        weft_react_within(weft_ns(until_next(s)), on_tick, s, NEVER);
}

static void send_later(const struct batch *b)
{
    struct large body;

    fill(&body, b->first);
    weft_send_after_body(weft_ns(b->at), who[READER], &out[program.message[b->first].type], &body);
}

static void react_sender(void *arg)
{
    struct sender *s = weft_alloc(sizeof *s);

    weft_sleep(beginning);
    s->by = *(enum by *)arg;
    for (int i = 0; s->by == BY_FIRST && i < program.batches; i++)
        if (program.batch[i].by == BY_TIMER)
            send_later(&program.batch[i]);
    if (until_next(s) >= 0)
        weft_react_within(weft_ns(until_next(s)), on_tick, s, NEVER);
}

static void fiber_sender(void *unused)
{
    struct sender s = {.by = BY_FIBER};

    (void)unused;
    weft_sleep(beginning);
    while (until_next(&s) >= 0) {
        weft_sleep(weft_ns(until_next(&s)));
        send_next(&s);
    }
}

/* ---- Those who answer ------------------------------------------------------------------------------ */

static void answer_later(void *unused)
{
    weft_msg              *m = weft_receive(QUESTION);
    const struct question *q = weft_get(m, QUESTION);

    (void)unused;
    weft_sleep(weft_ns(q->delay));
    if (!q->fails)
        weft_reply(m, RESPONSE, q->slot);
}

static void answer(void *unused)
{
    (void)unused;
    for (;;) {
        weft_msg              *m = weft_receive(QUESTION);
        const struct question *q = weft_get(m, QUESTION);
        if (q->at_once)
            weft_reply(m, RESPONSE, q->slot);
        else
            weft_forward(weft_spawn(answer_later, NULL), m);
    }
}

static void be_gone(void *unused) { (void)unused; }

static void read_letters(void *unused)
{
    (void)unused;
    weft_dead_letters(true);
    for (;;) {
        const struct weft_dead_letter *l = weft_get(weft_receive(WEFT_DEAD_LETTER), WEFT_DEAD_LETTER);
        const struct body             *b = body_of(l->message);
        if (!b)
            continue; /* a response that came too late */
        letters[b->id]++;
        if (l->why != WEFT_EGONE || !weft_same(l->to, who[READER]))
            differ("the letter of message #%d says: %s", b->id, weft_strerror(l->why));
    }
}

/* ---- The reader: its sets -------------------------------------------------------------------------- */

/* Of each message once a wait; and once more when Weft has looked at all again, which it may. */
static bool may_pass(const weft_msg *m, const struct look *look)
{
    const struct body *b = body_of(m);
    struct asked      *a = b ? &asked[b->id][look->test - look->set->test] : NULL;

    if (!b)
        return false;
    if (a->wait != wait_number)
        *a = (struct asked){.wait = wait_number};
    if (++a->times > 1 + surprises)
        differ("a guard was asked %u times of message #%d by one wait", a->times, b->id);
    return b->key % look->test->mod == look->test->rem;
}

static bool guard(const weft_msg *m, const void *with) { return may_pass(m, with); }

static bool convert(const weft_msg *m, const void *with, void *value)
{
    if (!may_pass(m, with))
        return false;
    *(struct body *)value = *body_of(m);
    return true;
}

static void on_zero(void *unused, weft_msg *m);
static void on_one(void *unused, weft_msg *m);

static weft_case case_of(const struct test *t, struct look *look)
{
    weft_case c = {.type = t->type < 0 ? &weft_type_WEFT_ANY : &in[t->type]};

    c.run = t->run < 0 ? NULL : t->run == 0 ? on_zero : on_one;
    if (t->of >= 0) {
        c.of = pending[t->of];
        return c;
    }
    c.with = look;
    if (t->converts) {
        c.project = convert;
        c.as = &weft_type_CONVERSION;
    } else if (t->mod) {
        c.when = guard;
    } else if (t->key >= 0) {
        c.with = &t->key;
        c.at = offsetof(struct body, key);
        c.bytes = sizeof t->key;
    }
    if (t->from != ANYBODY)
        c.from = who[t->from];
    return c;
}

static struct ready *make_ready(const struct step *s)
{
    struct ready     *r = &ready[s - program.step];
    const struct set *set = &s->set;

    wait_number++;
    surprises = 0;
    for (int i = 0; i < set->count; i++) {
        r->type[i] = set->test[i].type < 0 ? &weft_type_WEFT_ANY : &in[set->test[i].type];
        if (set->by_types)
            continue;
        r->look[i] = (struct look){set, &set->test[i]};
        r->list[i] = case_of(&set->test[i], &r->look[i]);
    }
    r->rest = (weft_cases){r->list + set->rest, (size_t)(set->count - set->rest), NULL};
    r->set = (weft_cases){r->list, (size_t)set->rest, set->rest < set->count ? &r->rest : NULL};
    return r;
}

/* ---- The reader: what came ------------------------------------------------------------------------- */

static const char *describe(const weft_msg *m)
{
    static char        text[64];
    const struct body *b = m ? body_of(m) : NULL;

    if (b)
        snprintf(text, sizeof text, "message #%d, %s", b->id, weft_name(m));
    else
        snprintf(text, sizeof text, "%s", m ? weft_name(m) : "nothing");
    return text;
}

static bool is_expected(const weft_msg *m, int expect)
{
    if (expect == NOTHING || !m)
        return expect == NOTHING && !m;
    if (expect == ANSWERED || expect == FAILED)
        return expect == ANSWERED ? weft_is(m, RESPONSE) : weft_is(m, WEFT_FAILED);
    return body_of(m) && body_of(m)->id == expect;
}

static int expected_tag(const struct test *t)
{
    if (t->converts)
        return CONVERSION;
    return t->type < 0 ? WEFT_ANY : in[t->type].tag;
}

static void check_message(const weft_msg *m, int id, const struct test *t)
{
    const struct message *sent = &program.message[id];

    if (!t->converts && type_of(m) != sent->type)
        differ("message #%d has the type %s", id, weft_name(m));
    if (body_of(m)->key != sent->key)
        differ("message #%d has another body", id);
    if (!t->converts && is_large(sent->type) &&
        ((const struct large *)body_of(m))->filler[FILLER - 1] != id % 251)
        differ("message #%d has another end of its body", id);
    if (!weft_same(weft_sender(m), who[sent->from]))
        differ("message #%d has another sender", id);
    if (weft_tag(m) != expected_tag(t))
        differ("message #%d has the tag %d, not %d", id, weft_tag(m), expected_tag(t));
}

/* handler: which of the two was called; -1: it does not matter. */
static void check(const struct step *s, const weft_msg *m, int handler)
{
    const struct set  *set = s->kind == SERVE ? &program.step[s->behaviour].set : &s->set;
    const struct test *t = s->expect_test < 0 ? NULL : &set->test[s->expect_test];

    if (!is_expected(m, s->expect))
        differ("there came %s", describe(m));
    else if (t && handler >= 0 && handler != t->run)
        differ("%s came to the wrong handler", describe(m));
    else if (s->expect >= 0)
        check_message(m, s->expect, t);
}

/* What was received lives on while it sleeps and asks. */
static void hold(const weft_msg *m)
{
    const struct body *b = m ? body_of(m) : NULL;

    held = b ? m : NULL;
    held_id = b ? b->id : -1;
}

static void check_held(void)
{
    if (held && (!body_of(held) || body_of(held)->id != held_id))
        differ("message #%d did not live until the next receive", held_id);
}

/* ---- The reader: its steps ------------------------------------------------------------------------- */

static weft_span span_of(int64_t time) { return time == MODEL_FOREVER ? WEFT_FOREVER : weft_ns(time); }

static void receive(const struct step *s)
{
    struct ready *r = make_ready(s);
    weft_msg     *m;

    held = NULL;
    if (!s->set.by_types)
        m = weft_receive_case(span_of(s->time), &r->set);
    else if (s->set.count == 1 && s->time == MODEL_FOREVER)
        m = weft_receive_type(r->type[0]);
    else
        m = weft_receive_types(span_of(s->time), r->type, (size_t)s->set.count);
    check(s, m, -1);
    if (!failed)
        hold(m);
}

static void proceed(void);

static void came(const weft_msg *m, int handler)
{
    check(&program.step[at], m, handler);
    if (!failed)
        hold(m);
    at += !failed;
    proceed();
}

static void on_zero(void *unused, weft_msg *m)
{
    (void)unused;
    came(m, 0);
}

static void on_one(void *unused, weft_msg *m)
{
    (void)unused;
    came(m, 1);
}

static void on_any(void *unused, weft_msg *m)
{
    (void)unused;
    came(m, -1);
}

static void arrange(const struct step *s)
{
    struct ready *r = make_ready(s);

    if (!s->set.by_types && s->time == MODEL_FOREVER)
        weft_react_case(&r->set, NULL);
    else if (!s->set.by_types)
        weft_react_case_within(span_of(s->time), on_any, &r->set, NULL);
    else if (s->set.count == 1 && s->time == MODEL_FOREVER)
        weft_react_type(on_any, NULL, r->type[0]);
    else
        weft_react_types(span_of(s->time), on_any, NULL, r->type, (size_t)s->set.count);
}

static void on_answer(void *slot, weft_msg *m)
{
    surprises++;
    if (answers >= program.may)
        differ("one handler of a response too many: %s", describe(m));
    else if ((int)(intptr_t)slot != program.answers[answers].slot)
        differ("the handler of request %d ran too early", (int)(intptr_t)slot);
    else if (!is_expected(m, program.answers[answers].expect))
        differ("to the handler of request %d came %s", (int)(intptr_t)slot, describe(m));
    answers++;
}

static void ask(const struct step *s)
{
    weft_msg *m = s->kind == AWAIT
                      ? weft_await(pending[s->slot], span_of(s->time))
                      : weft_ask(span_of(s->time), s->fails ? gone : answerer, QUESTION, .at_once = true);

    check(s, m, -1);
    if (m && weft_is(m, RESPONSE) && *weft_get(m, RESPONSE) != s->slot)
        differ("the response is that of request %d", *weft_get(m, RESPONSE));
}

static void change_behaviour(const struct step *s)
{
    struct ready *r;

    if (s->kind == UNBECOME) {
        if (weft_unbecome() != (s->expect == FAILED ? WEFT_EINVALID : 0))
            differ("weft_unbecome said something else");
        return;
    }
    r = make_ready(s);
    (s->keep ? weft_become_keep : weft_become)(&r->set, NULL);
}

/* A behaviour of which some cases have no handler goes from wait to wait unseen. */
static void begin_to_serve(const struct step *s)
{
    const struct set *set = &program.step[s->behaviour].set;

    wait_number++;
    surprises = 0;
    for (int i = 0; i < set->count && s->expect != ENDS; i++)
        if (set->test[i].run < 0)
            surprises = MODEL_MESSAGES;
}

/* False: it is left by a return, to go on in a handler. */
static bool take_step(const struct step *s)
{
    switch (s->kind) {
    case RECEIVE:
        receive(s);
        break;
    case REACT:
        arrange(s);
        return false;
    case SERVE:
        begin_to_serve(s);
        return false;
    case BECOME:
    case UNBECOME:
        change_behaviour(s);
        break;
    case SEND:
        send_batch(s->first, s->count);
        break;
    case REQUEST:
        pending[s->slot] = weft_request(s->delay ? answerer : gone, QUESTION, .slot = s->slot,
                                        .delay = s->delay, .fails = s->fails);
        break;
    case THEN:
        weft_then(pending[s->slot], span_of(s->time), on_answer, (void *)(intptr_t)s->slot);
        break;
    case AWAIT:
    case ASK:
        ask(s);
        break;
    case SLEEP:
        weft_sleep(weft_ns(s->time));
        break;
    case END:
        weft_end(0);
    }
    check_held();
    return true;
}

static void proceed(void)
{
    for (; !failed && take_step(&program.step[at]); at++)
        ;
    held = NULL;
    if (failed)
        weft_end(1);
}

static void reader(void *unused)
{
    (void)unused;
    weft_sleep(beginning);
    proceed();
}

/* ---- A case ---------------------------------------------------------------------------------------- */

static void first(void *unused)
{
    enum by by[] = {BY_FIRST, BY_SECOND};

    (void)unused;
    if (program.ends)
        weft_spawn(read_letters, NULL);
    answerer = weft_spawn(answer, NULL);
    gone = weft_spawn(be_gone, NULL);
    who[FIRST] = weft_spawn(react_sender, &by[0], .copy_bytes = sizeof by[0]);
    who[SECOND] = weft_spawn(react_sender, &by[1], .copy_bytes = sizeof by[1]);
    who[FIBER] = weft_spawn(fiber_sender, NULL);
    who[READER] = weft_spawn(reader, NULL);
    weft_sleep(weft_ns(beginning.ns + program.end));
}

static void check_message_end(int id)
{
    const struct message *m = &program.message[id];
    bool                  dead = m->fate == DEAD;

    if (program.ends && letters[id] != dead)
        differ("message #%d was a dead letter %d times, not %d", id, letters[id], dead);
    if (is_owning(m->type) && m->fate != SWALLOWED && destroyed[id] != (dead || m->fate == CONVERTED))
        differ("what message #%d owned was destroyed %d times", id, destroyed[id]);
}

static void check_end(const weft_counts *before)
{
    uint64_t dead = 0, counted_dead = counted().dead_letters - before->dead_letters;
    bool     asks = false;

    if (!failed && at != program.steps - 1)
        differ("the reader came no further");
    for (int id = 0; id < program.messages; id++) {
        check_message_end(id);
        dead += program.message[id].fate == DEAD;
    }
    for (int i = 0; i < program.steps; i++)
        asks |= program.step[i].kind == REQUEST || program.step[i].kind == ASK;
    if (!asks && counted_dead != dead)
        differ("%llu dead letters were counted, not %llu", (unsigned long long)counted_dead,
               (unsigned long long)dead);
    if (answers < program.must)
        differ("%d handlers of responses have run, not %d", answers, program.must);
}

/* Whether Weft and the model said the same. */
static bool try_case(uint64_t seed)
{
    weft_counts before = counted();

    program_make(&program, seed);
    at = answers = 0;
    surprises = 0;
    held = NULL;
    failed = false;
    memset(destroyed, 0, sizeof destroyed);
    memset(letters, 0, sizeof letters);
    memset(who, 0, sizeof who);
    int reason = weft_run(first, NULL, .seed = seed ? seed : 1);
    if (reason)
        differ("the system ended with: %s", weft_strerror(reason));
    check_end(&before);
    return !failed;
}

/* ---- All of them ----------------------------------------------------------------------------------- */

static uint64_t    number;
static const char *self;

static void tell_how_to_repeat(void)
{
    fprintf(stderr, "again: WEFT_MODEL_SEED=%llu WEFT_CASES=1 %s\n", (unsigned long long)number, self);
}

static void on_alarm(int unused)
{
    (void)unused;
    fprintf(stderr, "stress_model: case %llu hangs at step %d\n", (unsigned long long)number, at);
    program_tell(&program, at);
    tell_how_to_repeat();
    _exit(1);
}

static uint64_t wished(const char *variable, uint64_t usual)
{
    const char *text = getenv(variable);

    return text && *text ? strtoull(text, NULL, 10) : usual;
}

int main(int argc, char **argv)
{
    uint64_t  seed = wished("WEFT_MODEL_SEED", 1), cases = wished("WEFT_CASES", scaled(CASES));
    pthread_t thread;

    (void)argc;
    self = argv[0];
    signal(SIGALRM, on_alarm);
    make_types();
    sem_init(&thread_begins, 0, 0);
    sem_init(&thread_is_done, 0, 0);
    pthread_create(&thread, NULL, send_as_thread, NULL);
    for (number = seed; number < seed + cases; number++) {
        alarm(SECONDS_A_CASE);
        if (!try_case(number)) {
            fprintf(stderr, "stress_model: case %llu: %s\n", (unsigned long long)number, difference);
            program_tell(&program, at);
            tell_how_to_repeat();
            return 1;
        }
    }
    alarm(0);
    thread_batch = NULL;
    sem_post(&thread_begins);
    pthread_join(thread, NULL);
    printf("stress_model: %llu cases from seed %llu\n", (unsigned long long)cases, (unsigned long long)seed);
    return 0;
}
