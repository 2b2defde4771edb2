/* model_program.c - see model_program.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A program is made and run on the model at the same time: each step is chosen by what the mailbox
 * holds then.
 *
 * Times never meet: batches come at whole milliseconds, and what step n sets goes off n
 * microseconds after a quarter (responses), a half (waits) or three quarters (handlers of
 * responses) of one.
 */
#include "model_program.h"

#include <stdio.h>
#include <string.h>

#include "help.h"

#define MS ((int64_t)1000000)
#define US ((int64_t)1000)

struct request {
    enum { UNSENT, OPEN, UNSEEN, ARRIVED, CLOSED } state; /* UNSEEN: behind messages that nobody looked at */
    int64_t at, late;                                     /* of the response; of the handler's patience */
    bool    on_its_way, fails, has_handler;
};

enum { BEHAVIOURS_MAX = 8 };

/* One program is made at a time. */
static struct {
    struct program *p;
    uint64_t        random;
    int             urgent[MODEL_MESSAGES], plain[MODEL_MESSAGES];
    int             urgents, plains;
    int64_t         now;
    int             next_batch;
    struct request  request[MODEL_REQUESTS];
    int             behaviour[BEHAVIOURS_MAX], behaviours;
    enum { SMALL, DRIP, LONG } shape;
} x;

static int roll(int sides) { return (int)(draw(&x.random) % (uint64_t)sides); }
/* So many times of a hundred. */
static bool often(int percent) { return roll(100) < percent; }
static int  between(int least, int most) { return least + roll(most - least + 1); }

/* ---- The model ------------------------------------------------------------------------------------- */

static bool fits(const struct test *t, const struct message *m)
{
    return t->of < 0 && (t->type < 0 || t->type == m->type) && (t->key < 0 || t->key == m->key) &&
           (t->from == ANYBODY || t->from == m->from) && (t->mod == 0 || m->key % t->mod == t->rem);
}

int program_match(const struct set *set, const struct message *m)
{
    int any = -1;

    for (int i = 0; set && i < set->count; i++) {
        if (!fits(&set->test[i], m))
            continue;
        if (!set->by_types || set->test[i].type >= 0)
            return i;
        any = i; /* unless a later one names its type */
    }
    return any;
}

struct found {
    int expect, test;
};

static const struct found none = {NOTHING, -1};

static struct found taken(int id, int test, const struct set *set)
{
    bool converts = test >= 0 && set->test[test].converts;

    x.p->message[id].fate = converts ? CONVERTED : TAKEN;
    return (struct found){id, test};
}

static struct found take_first(int *list, int *count, const struct set *set)
{
    for (int i = 0; i < *count; i++) {
        int id = list[i], test = program_match(set, &x.p->message[id]);
        if (test >= 0) {
            memmove(list + i, list + i + 1, (size_t)(--*count - i) * sizeof *list);
            return taken(id, test, set);
        }
    }
    return none;
}

static void put(int id)
{
    if (x.p->message[id].how == URGENTLY)
        x.urgent[x.urgents++] = id;
    else
        x.plain[x.plains++] = id;
}

/* What a reader that waits for `awaited`, or for `set`, gets of the responses that are there. */
static struct found take_response(const struct set *set, int awaited)
{
    struct request *r;

    if (awaited >= 0 && ((r = &x.request[awaited])->state == ARRIVED || r->state == UNSEEN)) {
        r->state = CLOSED;
        return (struct found){r->fails ? FAILED : ANSWERED, -1};
    }
    for (int i = 0; set && i < set->count; i++) {
        if (set->test[i].of >= 0 && (r = &x.request[set->test[i].of])->state == ARRIVED) {
            r->state = CLOSED;
            return (struct found){r->fails ? FAILED : ANSWERED, i};
        }
    }
    return none;
}

static struct found look(const struct set *set, int awaited)
{
    struct found f = take_response(set, awaited);

    if (f.expect == NOTHING && set)
        f = take_first(x.urgent, &x.urgents, set);
    if (f.expect == NOTHING && set)
        f = take_first(x.plain, &x.plains, set);
    return f;
}

/* The first of a batch meets a reader that waits: if it fits, it is received there and then, and an
 * urgent one that comes after may, or may not, be earlier. So there is none in such a batch. */
static struct found batch_comes(const struct batch *b, const struct set *set)
{
    struct found f = none;
    int          test = program_match(set, &x.p->message[b->first]);

    for (int id = b->first + 1; test >= 0 && id < b->first + b->count; id++)
        if (x.p->message[id].how == URGENTLY && x.p->message[b->first].how != URGENTLY)
            x.p->message[id].how = PLAINLY;
    if (test >= 0)
        f = taken(b->first, test, set);
    for (int id = b->first + (test >= 0); id < b->first + b->count; id++)
        put(id);
    return f;
}

static void handler_ready(struct request *r, int expect)
{
    x.p->answers[x.p->may++] = (struct answer){(int)(r - x.request), expect};
    r->state = CLOSED;
}

static void response_comes(struct request *r)
{
    r->on_its_way = false;
    if (r->state != OPEN)
        return; /* too late */
    r->state = ARRIVED;
    if (r->has_handler)
        handler_ready(r, r->fails ? FAILED : ANSWERED);
}

/* When the next thing happens, and to which request; -1: a batch comes. FOREVER: nothing does. */
static int64_t next_event(int *which)
{
    int64_t at = x.next_batch < x.p->batches ? x.p->batch[x.next_batch].at : MODEL_FOREVER;

    *which = -1;
    for (int i = 0; i < x.p->requests; i++) {
        const struct request *r = &x.request[i];
        if (r->on_its_way && r->at < at) {
            at = r->at;
            *which = i;
        }
        if (r->state == OPEN && r->has_handler && r->late < at) {
            at = r->late;
            *which = i;
        }
    }
    return at;
}

static struct found event_happens(int which, const struct set *set, int awaited)
{
    if (which < 0)
        return batch_comes(&x.p->batch[x.next_batch++], set);
    struct request *r = &x.request[which];
    if (r->on_its_way && r->at == x.now)
        response_comes(r);
    else
        handler_ready(r, NOTHING);
    return take_response(set, awaited);
}

/* Before it sleeps it has looked at everything. */
static void see_all(void)
{
    for (int i = 0; i < x.p->requests; i++)
        if (x.request[i].state == UNSEEN)
            x.request[i].state = ARRIVED;
}

static struct found wait_for(const struct set *set, int64_t deadline, bool without_stack, int awaited)
{
    for (;;) {
        int          which;
        struct found f = look(set, awaited);
        if (f.expect != NOTHING || deadline <= x.now)
            return f;
        if (without_stack)
            x.p->must = x.p->may;
        see_all();
        int64_t at = next_event(&which);
        if (at == MODEL_FOREVER && deadline == MODEL_FOREVER)
            return (struct found){STUCK, -1};
        if (deadline < at) {
            x.now = deadline;
            return none;
        }
        x.now = at;
        f = event_happens(which, set, awaited);
        if (f.expect != NOTHING)
            return f;
    }
}

static int open_handlers(void)
{
    int n = 0;

    for (int i = 0; i < x.p->requests; i++)
        n += x.request[i].state == OPEN && x.request[i].has_handler;
    return n;
}

/* No behaviour is left: it ends as soon as the last handler of a response has run. */
static struct found run_out(void)
{
    static const struct set nothing;
    int                     which;

    while (open_handlers() > 0) {
        x.now = next_event(&which);
        event_happens(which, &nothing, -1);
    }
    x.p->must = x.p->may;
    return (struct found){ENDS, -1};
}

/* What a case without a handler takes is gone, and the behaviour waits on. */
static struct found serve(const struct set *set)
{
    for (;;) {
        struct found f = wait_for(set, MODEL_FOREVER, true, -1);
        if (f.expect < 0 || set->test[f.test].run >= 0)
            return f;
        x.p->message[f.expect].fate = SWALLOWED;
    }
}

/* ---- Random messages ------------------------------------------------------------------------------- */

static bool is_owning(int type) { return type % 8 == 5; }

static enum who sender_of(enum by by)
{
    switch (by) {
    case BY_SECOND:
        return SECOND;
    case BY_FIBER:
        return FIBER;
    case BY_THREAD:
        return NOBODY;
    case BY_READER:
        return READER;
    default:
        return FIRST;
    }
}

static void make_message(enum by by)
{
    struct message *m = &x.p->message[x.p->messages++];

    *m = (struct message){roll(x.p->types), roll(MODEL_KEYS), PLAINLY, sender_of(by), DEAD};
    if (by == BY_TIMER)
        return;
    if (often(x.shape == LONG ? 3 : 20)) {
        m->how = URGENTLY;
    } else if (often(15)) {
        m->how = AS_ANOTHER;
        m->from = (enum who)roll(NOBODY);
    } else if (by != BY_THREAD && often(20)) {
        m->how = often(50) && !is_owning(m->type) ? TO_MANY : BY_PASSING;
    }
}

static bool make_messages(enum by by, int count, int *first)
{
    *first = x.p->messages;
    if (x.p->messages + count > MODEL_MESSAGES)
        return false;
    for (int i = 0; i < count; i++)
        make_message(by);
    return true;
}

static int batch_size(enum by by)
{
    if (by == BY_TIMER || by == BY_FIBER) /* a fiber may give way after each; a handler does not */
        return 1;
    if (x.shape == DRIP)
        return between(1, 3);
    return x.shape == SMALL ? between(1, 7) : between(20, 400);
}

static void make_batches(void)
{
    int64_t at = 0;

    x.p->batches = x.shape == SMALL ? between(2, 12) : x.shape == DRIP ? between(10, 40) : between(2, 7);
    for (int i = 0; i < x.p->batches; i++) {
        struct batch *b = &x.p->batch[i];
        at += often(70) ? 1 : between(1, 4);
        b->at = at * MS;
        b->by = often(75) ? (enum by)roll(BY_FIBER) : (enum by)between(BY_FIBER, BY_TIMER);
        b->count = batch_size(b->by);
        make_messages(b->by, b->count, &b->first);
    }
}

/* ---- Random waits ---------------------------------------------------------------------------------- */

/* One that is there, or will come soon; NULL: the wait is for whatever. */
static const struct message *some_target(void)
{
    int waiting = x.plains + x.urgents;

    if (waiting > 0 && often(55)) {
        int i = roll(waiting);
        return &x.p->message[i < x.urgents ? x.urgent[i] : x.plain[i - x.urgents]];
    }
    if (x.next_batch < x.p->batches && often(70)) {
        int           left = x.p->batches - x.next_batch;
        struct batch *b = &x.p->batch[x.next_batch + roll(left < 6 ? left : 6)];
        return &x.p->message[b->first + roll(b->count)];
    }
    return NULL;
}

static struct test some_type(const struct message *target)
{
    return (struct test){
        .type = target ? target->type : roll(x.p->types), .key = -1, .from = ANYBODY, .of = -1};
}

static struct test some_test(const struct message *target)
{
    struct test t = some_type(target);

    if (often(12))
        t.type = -1;
    if (often(35)) {
        t.mod = between(2, MODEL_KEYS);
        t.rem = target ? target->key % t.mod : roll(t.mod);
        t.converts = often(15);
    } else if (often(30)) {
        t.key = target ? target->key : roll(MODEL_KEYS);
    }
    if (often(20))
        t.from = target && target->from != NOBODY ? target->from : (enum who)roll(NOBODY);
    t.run = roll(2);
    return t;
}

static void make_types(struct set *s)
{
    const struct message *target = some_target();

    s->by_types = true;
    s->count = often(60) ? 1 : between(2, 4);
    if (often(x.shape == LONG ? 10 : 2))
        s->count = between(15, MODEL_TESTS);
    for (int i = 0; i < s->count; i++)
        s->test[i] = some_type(i == 0 ? target : NULL);
    if (often(12))
        s->test[roll(s->count)].type = -1;
}

static void make_cases(struct set *s)
{
    const struct message *target = some_target();

    s->by_types = false;
    s->count = between(1, MODEL_CASES);
    if (x.shape == DRIP && often(60))
        s->count = 1;
    for (int i = 0; i < s->count; i++)
        s->test[i] = some_test(i == 0 ? target : NULL);
}

/* The response to a request that is open, in place of one of the cases. */
static void add_response(struct set *s)
{
    int slot = x.p->requests ? roll(x.p->requests) : -1;

    if (slot < 0 || x.request[slot].has_handler || x.request[slot].state == CLOSED ||
        x.request[slot].state == UNSEEN)
        return;
    struct test *t = &s->test[roll(s->count)];
    *t = some_type(NULL);
    t->type = -1;
    t->of = slot;
    t->run = roll(2);
}

static void make_set(struct set *s)
{
    if (often(50)) {
        make_types(s);
    } else {
        make_cases(s);
        if (often(60))
            add_response(s);
    }
    s->rest = often(30) ? roll(s->count + 1) : s->count;
}

/* A time, from now, that ends at a time of this step's own. */
static int64_t some_time(int64_t part)
{
    int64_t at = (x.now / MS + roll(x.shape == DRIP ? 10 : 4)) * MS + part * MS / 4 + x.p->steps * US;

    return at > x.now ? at - x.now : at + MS - x.now;
}

static int64_t some_patience(void) { return often(15) ? 0 : often(45) ? MODEL_FOREVER : some_time(2); }

static int64_t after(int64_t time) { return time == MODEL_FOREVER ? time : x.now + time; }

/* ---- Random steps ---------------------------------------------------------------------------------- */

/* It would wait for ever: it gives up some time after the last that happens. */
static void give_up(struct step *s, int64_t began)
{
    s->time = (x.now / MS + 1) * MS + MS / 2 + x.p->steps * US - began;
    x.now = began + s->time;
    s->expect = NOTHING;
}

static void expect(struct step *s, struct found f)
{
    s->expect = f.expect;
    s->expect_test = f.test;
}

/* Each returns whether the step makes sense now. */

static bool make_wait(struct step *s)
{
    int64_t began = x.now;

    make_set(&s->set);
    s->time = some_patience();
    expect(s, wait_for(&s->set, after(s->time), s->kind == REACT, -1));
    if (s->expect == STUCK && often(90))
        give_up(s, began);
    return true;
}

static bool make_serve(struct step *s)
{
    if (x.behaviours == 0) {
        if (often(95))
            return false;
        expect(s, run_out());
        return true;
    }
    s->behaviour = x.behaviour[x.behaviours - 1];
    expect(s, serve(&x.p->step[s->behaviour].set));
    return true;
}

static bool make_become(struct step *s)
{
    s->keep = often(60);
    if (s->keep && x.behaviours == BEHAVIOURS_MAX)
        return false;
    make_cases(&s->set);
    s->set.rest = often(30) ? roll(s->set.count + 1) : s->set.count;
    if (often(25))
        s->set.test[roll(s->set.count)].run = -1;
    if (!s->keep && x.behaviours > 0)
        x.behaviours--;
    x.behaviour[x.behaviours++] = x.p->steps;
    return true;
}

static bool make_unbecome(struct step *s)
{
    s->expect = x.behaviours > 0 ? ANSWERED : FAILED;
    x.behaviours -= x.behaviours > 0;
    return true;
}

static bool make_send(struct step *s)
{
    s->count = x.shape == LONG && often(30) ? between(20, 150) : between(1, 5);
    if (!make_messages(BY_READER, s->count, &s->first))
        return false;
    for (int id = s->first; id < s->first + s->count; id++)
        put(id);
    return true;
}

static bool make_request(struct step *s)
{
    if (x.p->requests == MODEL_REQUESTS)
        return false;
    struct request *r = &x.request[s->slot = x.p->requests++];
    s->delay = some_time(1);
    s->fails = often(25);
    if (often(25)) { /* to somebody who is gone: it is answered at once */
        s->fails = true;
        s->delay = 0;
        *r = (struct request){.state = UNSEEN, .fails = true};
        return true;
    }
    *r = (struct request){.state = OPEN, .at = x.now + s->delay, .on_its_way = true, .fails = s->fails};
    return true;
}

static bool pick_request(struct step *s)
{
    if (x.p->requests == 0)
        return false;
    s->slot = roll(x.p->requests);
    return x.request[s->slot].state != CLOSED && !x.request[s->slot].has_handler;
}

static bool make_await(struct step *s)
{
    if (!pick_request(s))
        return false;
    s->time = some_patience();
    expect(s, wait_for(NULL, after(s->time), false, s->slot));
    x.request[s->slot].state = CLOSED;
    return true;
}

static bool make_then(struct step *s)
{
    if (!pick_request(s) || x.request[s->slot].state == UNSEEN)
        return false;
    struct request *r = &x.request[s->slot];
    s->time = often(50) ? MODEL_FOREVER : some_time(3);
    r->has_handler = true;
    r->late = after(s->time);
    if (r->state == ARRIVED)
        handler_ready(r, r->fails ? FAILED : ANSWERED);
    return true;
}

static bool make_ask(struct step *s)
{
    s->fails = often(30);
    s->time = often(50) ? MODEL_FOREVER : some_time(2);
    s->expect = s->fails ? FAILED : ANSWERED;
    return true;
}

static bool make_sleep(struct step *s)
{
    s->time = some_time(2);
    wait_for(NULL, after(s->time), false, -1);
    return true;
}

static bool make_end(struct step *s)
{
    (void)s;
    return x.p->steps > 8 && often(20);
}

static const struct {
    int weight;
    bool (*make)(struct step *s);
} kinds[] = {
    [RECEIVE] = {34, make_wait},   [REACT] = {20, make_wait},       [SERVE] = {14, make_serve},
    [BECOME] = {5, make_become},   [UNBECOME] = {3, make_unbecome}, [SEND] = {14, make_send},
    [REQUEST] = {8, make_request}, [AWAIT] = {4, make_await},       [THEN] = {4, make_then},
    [ASK] = {3, make_ask},         [SLEEP] = {4, make_sleep},       [END] = {1, make_end},
};

static enum kind some_kind(void)
{
    int at = roll(114), k = 0;

    while (k < END && (at -= kinds[k].weight) >= 0)
        k++;
    return (enum kind)k;
}

/* False: that was the last. */
static bool make_step(void)
{
    struct step *s = &x.p->step[x.p->steps];

    memset(s, 0, sizeof *s);
    s->kind = some_kind();
    s->expect_test = -1;
    if (!kinds[s->kind].make(s))
        return true;
    x.p->steps++;
    return s->kind != END && s->expect != STUCK && s->expect != ENDS;
}

static void make_steps(int most)
{
    while (x.p->steps < most)
        if (!make_step())
            return;
    x.p->step[x.p->steps++] = (struct step){.kind = END};
}

void program_make(struct program *p, uint64_t seed)
{
    memset(&x, 0, sizeof x);
    memset(p, 0, sizeof *p);
    x.p = p;
    p->seed = seed;
    x.random = (seed + 1) * 0x9E3779B97F4A7C15u | 1;
    for (int i = 0; i < 8; i++)
        roll(2); /* neighbours part */
    x.shape = often(72) ? SMALL : often(70) ? DRIP : LONG;
    p->types = x.shape == LONG ? between(40, MODEL_TYPES) : between(2, 9);
    make_batches();
    make_steps(x.shape == DRIP ? between(5, 25) : between(10, MODEL_STEPS - 1));
    const struct step *last = &p->step[p->steps - 1];
    p->ends = last->expect != STUCK || last->kind == END;
    p->end = x.now;
    for (int i = 0; i < p->batches; i++)
        if (p->batch[i].at > p->end)
            p->end = p->batch[i].at;
    for (int i = 0; i < p->requests; i++)
        if (x.request[i].at > p->end)
            p->end = x.request[i].at;
    p->end += 20 * MS;
}

/* ---- In words -------------------------------------------------------------------------------------- */

static const char *const names[] = {"first", "second", "fiber", "the reader", "nobody", "anybody"};

static void tell_messages(const struct program *p, int first, int count)
{
    static const char *const hows[] = {"", " urgent", " as another", " passed", " to many"};

    for (int id = first; id < first + count; id++) {
        const struct message *m = &p->message[id];
        fprintf(stderr, "%s#%d T%d key %d from %s%s",
                id == first ? "  "
                : id % 4    ? ", "
                            : ",\n              ",
                id, m->type, m->key, names[m->from], hows[m->how]);
    }
    fputc('\n', stderr);
}

static void tell_time(int64_t ns)
{
    if (ns == MODEL_FOREVER)
        fputs(" for ever", stderr);
    else
        fprintf(stderr, " within %lld us", (long long)(ns / US));
}

static void tell_set(const struct set *s)
{
    for (int i = 0; i < s->count; i++) {
        const struct test *t = &s->test[i];
        fprintf(stderr, "%s", i == 0 ? " " : i == s->rest ? " or else " : " | ");
        if (t->of >= 0)
            fprintf(stderr, "the response %d", t->of);
        else if (t->type < 0)
            fputs("any", stderr);
        else
            fprintf(stderr, "T%d", t->type);
        if (t->mod)
            fprintf(stderr, "%s(key %% %d == %d)", t->converts ? " as P " : "", t->mod, t->rem);
        if (t->key >= 0)
            fprintf(stderr, "(.key == %d)", t->key);
        if (t->from != ANYBODY)
            fprintf(stderr, " from %s", names[t->from]);
        if (!s->by_types && t->run < 0)
            fputs(" without a handler", stderr);
    }
}

static void tell_expected(int expect)
{
    static const char *const words[] = {"", "nothing", "the response", "a failure", "to be stuck", "to end"};

    if (expect >= 0)
        fprintf(stderr, "  -> #%d\n", expect);
    else
        fprintf(stderr, "  -> %s\n", words[-expect]);
}

static void tell_step(const struct program *p, const struct step *s)
{
    static const char *const kind[] = {"receive", "react to", "serve",
                                       "become",  "unbecome", "send itself",
                                       "request", "await",    "handle the response",
                                       "ask",     "sleep",    "end"};

    fprintf(stderr, "  step %-3d %s", (int)(s - p->step), kind[s->kind]);
    if (s->kind == SEND) {
        tell_messages(p, s->first, s->count);
        return;
    }
    if (s->kind == BECOME)
        fputs(s->keep ? " (above)" : " (in place)", stderr);
    if (s->kind == SERVE)
        tell_set(&p->step[s->behaviour].set);
    else
        tell_set(&s->set);
    if (s->kind == REQUEST)
        fprintf(stderr, " %d, %s after %lld us", s->slot, s->fails ? "dropped" : "answered",
                (long long)(s->delay / US));
    if (s->kind == AWAIT || s->kind == THEN)
        fprintf(stderr, " %d", s->slot);
    if (s->kind == RECEIVE || s->kind == REACT || s->kind == AWAIT || s->kind == THEN || s->kind == SLEEP)
        tell_time(s->time);
    if (s->kind <= SERVE || s->kind == UNBECOME || s->kind == AWAIT || s->kind == ASK)
        tell_expected(s->expect);
    else
        fputc('\n', stderr);
}

void program_tell(const struct program *p, int until_step)
{
    static const char *const by[] = {"first", "second", "fiber", "a thread", "a timer", "the reader"};

    fprintf(stderr, "what is sent to the reader:\n");
    for (int i = 0; i < p->batches; i++) {
        fprintf(stderr, "  at %lld us by %s:", (long long)(p->batch[i].at / US), by[p->batch[i].by]);
        tell_messages(p, p->batch[i].first, p->batch[i].count);
    }
    fprintf(stderr, "what the reader does, and must get:\n");
    for (int i = 0; i < p->steps && i <= until_step; i++)
        tell_step(p, &p->step[i]);
}
