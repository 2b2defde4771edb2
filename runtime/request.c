/* request.c - requests and their responses.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A request is a message with a number of the asker's. Its response is a message with the same number and, while it is
 * on its way, the type WEFT__TYPE_RESPONSE, for which no receive waits: so it is met where messages are looked at, put
 * beside its request here, and never skipped. Waiting for it is waiting for that type.
 *
 * Open requests lie in a table at their number: a number whose place is taken is not given out, so finding one is one
 * look. An actor's numbers come round after 2^39 requests; until then a late response meets nobody.
 */
#include <string.h>

#include "base/memory.h"
#include "fibers/switch.h"
#include "runtime/fast.h"
#include "sched/clock.h"

#define WEFT__REQUESTS_MAX (((uint64_t)1 << WEFT__MSG_NUMBER_BITS) - 1)

struct entry {
    uint64_t         number; /* 0: free */
    weft_pid         to;     /* nobody: a wait of the runtime's own */
    struct weft_msg *response;
    weft_handler    *run; /* of weft_then */
    void            *state;
    weft_ref         timer;
};

struct weft__asked {
    uint64_t         next; /* the next number */
    unsigned         mask, open, thens;
    struct weft_msg *ready; /* responses whose handlers are to run: the last; its next is the first */
    struct entry     at[];
};

static weft_type failed = {"WEFT_FAILED", sizeof(int), WEFT_FAILED, WEFT__TYPE_FAILED, NULL};
weft_type        weft__request_type = {"(a response)", 0, 0, WEFT__TYPE_RESPONSE, NULL};

/* Given when a request could not be made: nobody's, and the same for all. */
static struct weft_msg no_memory = {.type = WEFT__TYPE_FAILED, .tag = WEFT_FAILED, .flags = WEFT__MSG_FIXED};

static __attribute__((constructor)) void fill_no_memory(void)
{
    memcpy(no_memory.small, &(int){WEFT_EMEMORY}, sizeof(int));
}

/* ---- the table ---------------------------------------------------------------------------------------- */

static struct entry *find(const struct weft__actor *a, uint64_t number)
{
    struct weft__asked *t = a->extra ? a->extra->asked : NULL;
    struct entry       *e = t ? &t->at[number & t->mask] : NULL;

    return e && number && e->number == number ? e : NULL;
}

/* Twice as large; distinct places stay distinct. */
static struct weft__asked *grow(struct weft__extra *x)
{
    struct weft__asked *old = x->asked;
    unsigned            places = old ? (old->mask + 1) * 2 : 4;
    size_t              bytes = sizeof *old + places * sizeof(struct entry);
    struct weft__asked *t = weft__memory_get(bytes);

    if (!t)
        return NULL;
    memset(t, 0, bytes);
    t->next = 1;
    if (old) {
        *t = *old;
        for (unsigned i = 0; i <= old->mask; i++)
            if (old->at[i].number)
                t->at[old->at[i].number & (places - 1)] = old->at[i];
        weft__memory_put(old);
    }
    t->mask = places - 1;
    x->asked = t;
    return t;
}

/* The next one, if the table has it. */
static inline struct entry *next_entry(const struct weft__actor *a)
{
    struct weft__asked *t = WEFT__LIKELY(a->extra) ? a->extra->asked : NULL;

    if (WEFT__RARE(!t) || WEFT__RARE(!t->next) || WEFT__RARE(t->open * 2 > t->mask))
        return NULL;
    struct entry *e = &t->at[t->next & t->mask];
    return WEFT__LIKELY(!e->number) ? e : NULL;
}

static inline uint64_t take_entry(struct weft__asked *t, struct entry *e, weft_pid to)
{
    uint64_t number = t->next;

    e->number = number;
    e->to = to;
    t->next = (number + 1) & WEFT__REQUESTS_MAX;
    t->open++;
    return number;
}

static void close_entry(struct weft__actor *a, struct entry *e)
{
    struct weft__asked *t = a->extra->asked;

    if (e->run)
        t->thens--;
    t->open--;
    *e = (struct entry){0};
    if (!t->thens)
        a->unusual &= ~(uint32_t)WEFT__THENS;
}

static uint64_t open_entry(struct weft__actor *a, weft_pid to)
{
    struct weft__extra *x = weft__actor_extra(a);
    struct weft__asked *t = x ? x->asked : NULL;

    if (!t || t->open * 2 > t->mask)
        t = x ? grow(x) : NULL;
    if (!t)
        return 0;
    while (!t->next || t->at[t->next & t->mask].number) /* at most half are taken */
        t->next = (t->next + 1) & WEFT__REQUESTS_MAX;
    return take_entry(t, &t->at[t->next & t->mask], to);
}

uint64_t weft__request_open(struct weft__actor *a) { return open_entry(a, WEFT_NOBODY); }

weft_pid weft__request_whom(const struct weft__actor *a)
{
    enum { FEW = 64 };
    const struct weft__asked *t = a->extra ? a->extra->asked : NULL;

    if (!t || t->open != 1 || t->mask >= FEW)
        return WEFT_NOBODY;
    for (unsigned i = 0; i <= t->mask; i++)
        if (t->at[i].number)
            return t->at[i].to;
    return WEFT_NOBODY;
}

/* ---- asking ------------------------------------------------------------------------------------------- */

static inline weft_pending post(struct weft__lane *l, weft_pid to, struct weft_msg *m, uint64_t number)
{
    m->flags |= number << WEFT__MSG_NUMBER_SHIFT | WEFT__MSG_OPEN;
    m->from = weft__actor_pid(l->self);
    weft__send(l, to, m);
    return (weft_pending){number};
}

/* A thread, or its first, or many are open, or the next number's place is taken; what weft_send_body does not do. */
static __attribute__((noinline)) weft_pending request_slowly(weft_pid to, weft_type *type, const void *body)
{
    struct weft__lane *l = weft__lane();
    struct weft_msg   *m = NULL;
    int                error;

    weft__send_check(l);
    if (!l->self)
        l = weft__thread_actor();
    if (!l || !type || (!body && type->bytes)) {
        if (type)
            weft__message_unsent(type, body);
        return (weft_pending){0};
    }
    m = weft__message_new(l, type, body, &error);
    uint64_t number = m ? open_entry(l->self, to) : 0;
    if (number)
        return post(l, to, m, number);
    if (m)
        weft__message_drop(l, m, 0);
    return (weft_pending){0};
}

weft_pending weft_request_body(weft_pid to, weft_type *type, const void *body)
{
    struct weft__lane *l = weft__lane();

    if (WEFT__RARE(!l->sender) || WEFT__RARE(!type) || WEFT__RARE(!body))
        return request_slowly(to, type, body);
    struct entry    *e = next_entry(l->self);
    struct weft_msg *m = WEFT__LIKELY(e) ? weft__fast_message(l, type, body) : NULL;
    if (WEFT__RARE(!m))
        return request_slowly(to, type, body);
    return post(l, to, m, take_entry(l->self->extra->asked, e, to));
}

/* ---- answering ---------------------------------------------------------------------------------------- */

static void address(struct weft_msg *m, uint64_t number)
{
    weft__message_address(m, WEFT__TYPE_RESPONSE, number);
}

static inline void name(struct weft_msg *m)
{
    weft__message_arrive(m);
    m->tag = weft__types_of(m->type)->tag; /* whoever awaits it lists no types */
}

void weft__request_name(struct weft_msg *m)
{
    if (m->type == WEFT__TYPE_RESPONSE) /* else it has it already */
        name(m);
}

struct weft_msg *weft__request_blank(struct weft__lane *l)
{
    struct weft_msg *answer = weft__message_of(l, &failed, &(int){0});

    if (answer)
        answer->from = 0;
    return answer;
}

int weft__request_fail(struct weft__lane *l, const struct weft_msg *m, int why)
{
    struct weft_msg *answer = weft__request_blank(l);

    if (!answer)
        return WEFT_EMEMORY;
    memcpy(answer->small, &why, sizeof why);
    address(answer, weft__message_request(m));
    weft__send_quietly(l, (weft_pid){m->from}, answer);
    return 0;
}

void weft__request_abandon(struct weft__lane *l, struct weft_msg *m)
{
    if (!weft__message_request(m))
        return;
    if (m->flags & WEFT__MSG_OPEN && weft__request_fail(l, m, WEFT_EDROPPED) < 0)
        return; /* no memory to say so: then it goes along, and may still be answered */
    m->flags &= WEFT__MSG_FLAGS & ~WEFT__MSG_OPEN;
}

/* ---- what comes back ---------------------------------------------------------------------------------- */

static void make_ready(struct weft__asked *t, struct weft_msg *m)
{
    m->next = t->ready ? t->ready->next : m;
    if (t->ready)
        t->ready->next = m;
    t->ready = m;
}

static void late(struct weft__lane *l, struct weft_msg *m)
{
    if (!(m->flags & WEFT__MSG_TIME))
        weft__lane_count(&l->late_responses);
    weft__message_dead(l, m, WEFT_ETIME);
}

void weft__request_arrived(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    struct entry *e = find(a, weft__message_request(m));

    if (!e || e->response) {
        late(l, m);
        return;
    }
    e->response = m;
    if (!e->run)
        return;
    if (!(m->flags & WEFT__MSG_TIME) && e->timer.id)
        weft_cancel(e->timer);
    make_ready(a->extra->asked, m);
}

struct weft_msg *weft__request_peek(const struct weft__actor *a, uint64_t number)
{
    struct entry *e = find(a, number);

    if (!e || e->run || !e->response)
        return NULL;
    weft__request_name(e->response);
    return e->response;
}

struct weft_msg *weft__request_take(struct weft__actor *a, uint64_t number)
{
    struct weft_msg *m = weft__request_peek(a, number);

    if (m)
        close_entry(a, find(a, number));
    return m;
}

/* ---- waiting for it on a stack ------------------------------------------------------------------------ */

static int64_t now_for(const struct weft__actor *a)
{
    return a->unusual & WEFT__THREAD ? weft__clock_real_after(0) : weft__clock_now();
}

/* The next response, whosever; NULL: the time is over. */
static struct weft_msg *next_response(struct weft__lane *l, struct weft__actor *a, weft_span time)
{
    struct weft_msg *m;

    a->parked += WEFT__INBOX_NEXT_WAIT;
    if (!weft__fast_is_empty(a) || a->unusual & WEFT__MORE || time.ns <= 0) {
        if (WEFT__RARE(weft__fast_is_urgent(a)))
            weft__wait_urgent(l, a, false);
        m = weft__wait_again(l, a);
        if (m || time.ns <= 0)
            return m;
    }
    return weft__wait_block(l, a, time);
}

static struct weft_msg *await(struct weft__lane *l, struct weft__actor *a, uint64_t number, weft_span time)
{
    bool    timed = time.ns > 0 && time.ns != INT64_MAX;
    int64_t until = timed ? now_for(a) + (time.ns < INT64_MAX / 2 ? time.ns : INT64_MAX / 2) : 0;

    for (;;) {
        struct weft_msg *m = next_response(l, a, time);
        if (!m || weft__message_request(m) == number)
            return m;
        a->current = NULL; /* it is another's, or late */
        weft__request_arrived(weft__lane(), a, m);
        l = weft__lane();
        if (timed)
            time.ns = until > now_for(a) ? until - now_for(a) : 0;
    }
}

static void end_answer(struct weft__lane *l, struct weft__extra *x)
{
    if (x->answer)
        weft__message_free(l, x->answer);
    x->answer = NULL;
}

struct weft_msg *weft__request_wait(struct weft__lane *l, struct weft__actor *a, uint64_t number,
                                    weft_span time)
{
    struct entry    *e = find(a, number);
    struct weft_msg *m = e->response;

    if (!m) {
        struct weft__wanted kept = weft__wait_for(a, &weft__request_type, 1);
        weft__wait_aside(a);
        m = await(l, a, number, time);
        weft__wait_restore(a, kept);
        weft__wait_back(a);
    }
    if (m)
        weft__request_name(m);
    return m;
}

void weft__request_close(struct weft__actor *a, uint64_t number) { close_entry(a, find(a, number)); }

/* A time, an arrangement, a response that is there, a mistake. */
static __attribute__((noinline)) weft_msg *await_slowly(weft_pending request, weft_span time)
{
    struct weft__lane  *l = weft__lane();
    struct weft__actor *a = l->self;
    struct entry       *e = a ? find(a, request.id) : NULL;

    if (!request.id)
        return &no_memory;
    if (!e || e->run)
        weft__misuse(WEFT_EINVALID,
                     "weft_await of a request that is not open: it was awaited already, or is another "
                     "actor's, or has a handler");
    if (a->unusual & WEFT__CALLED)
        weft__misuse(WEFT_EINVALID, "weft_await in a guard, a destroy or a deferred function");
    end_answer(l, a->extra);
    a->extra->answer = weft__request_wait(l, a, request.id, time);
    weft__request_close(a, request.id);
    return a->extra->answer;
}

/* Another's response came, or a late one. */
static __attribute__((noinline)) struct weft_msg *await_on(struct weft__actor *a, struct weft_msg *m,
                                                           uint64_t number)
{
    a->current = NULL; /* it is not what is awaited */
    weft__request_arrived(weft__lane(), a, m);
    return await(weft__lane(), a, number, WEFT_FOREVER);
}

/* Whether the plain path will do: nothing is arranged, nothing came yet, and the last response is plain. */
static inline bool is_plain(const struct weft__lane *l, struct weft__actor *a, uint64_t number)
{
    if (WEFT__RARE(!a) || WEFT__RARE(weft__fast_at_once(a) & WEFT__IS_UNUSUAL(WEFT__NOT_PLAIN)) ||
        WEFT__RARE(!weft__fast_is_empty(a)) || WEFT__RARE(!a->extra))
        return false;
    struct entry *e = find(a, number);
    return WEFT__LIKELY(e) && WEFT__LIKELY(!e->run) && WEFT__LIKELY(!e->response) &&
           WEFT__LIKELY(weft__fast_can_end(l, a->extra->answer));
}

/* One frame: each that is left in the middle of a wait is a mispredicted return. */
weft_msg *weft_await(weft_pending request, weft_span time)
{
    struct weft__lane  *l = weft__lane();
    struct weft__actor *a = l->self;

    if (WEFT__RARE(time.ns != INT64_MAX) || !is_plain(l, a, request.id))
        return await_slowly(request, time);
    struct weft_msg *current = a->current;
    a->current = a->extra->answer;
    weft__fast_end_current(l, a);
    a->extra->answer = NULL;
    a->extra->aside = current;
    a->type = &weft__request_type;
    a->type_count = 1;
    a->parked += WEFT__INBOX_NEXT_WAIT;
    struct weft_msg *m = weft__loop_park(l, a);
    if (WEFT__RARE(weft__message_request(m) != request.id))
        m = await_on(a, m, request.id);
    weft__wait_back(a);
    struct weft__asked *t = a->extra->asked;
    t->at[request.id & t->mask].number = 0; /* it has nothing else */
    t->open--;
    name(m);
    a->extra->answer = m;
    return weft__switch_return(m);
}

/* ---- handling it without -------------------------------------------------------------------------------- */

/* A message to itself, in place of the response. */
static weft_ref set_timer(struct weft__lane *l, struct weft__actor *a, uint64_t number, weft_span time)
{
    struct weft_msg *m = weft__message_of(l, &weft__request_type, NULL);

    if (!m)
        return (weft_ref){0};
    m->from = 0;
    address(m, number);
    m->flags |= WEFT__MSG_TIME;
    return weft__later_send(l, time.ns, 0, (weft_pid){weft__actor_pid(a)}, m);
}

void weft_then(weft_pending request, weft_span time, weft_handler *run, void *state)
{
    struct weft__lane  *l = weft__lane();
    struct weft__actor *a = l->self;
    struct entry       *e = a ? find(a, request.id) : NULL;

    weft__react_check(l, "weft_then", state);
    if (!request.id)
        weft__misuse(WEFT_EMEMORY, "weft_then: there was no memory for the request");
    if (!e || e->run || !run)
        weft__misuse(WEFT_EINVALID, "weft_then needs a handler, and a request that is open");
    if (time.ns != INT64_MAX && !e->response) {
        e->timer = set_timer(l, a, request.id, time);
        if (!e->timer.id)
            weft__misuse(WEFT_EMEMORY, "no memory for a timer");
    }
    e->run = run;
    e->state = state;
    a->extra->asked->thens++;
    a->unusual |= WEFT__THENS;
    if (e->response)
        make_ready(a->extra->asked, e->response);
}

bool weft__request_is_ready(const struct weft__actor *a)
{
    return a->unusual & WEFT__THENS && a->extra->asked->ready;
}

void weft__request_run(struct weft__actor *a)
{
    struct weft__asked *t = a->extra->asked;
    struct weft_msg    *m = t->ready->next;

    if (m == t->ready)
        t->ready = NULL;
    else
        t->ready->next = m->next;
    struct entry *e = find(a, weft__message_request(m)), was = *e;
    close_entry(a, e);
    a->current = m;
    bool over = m->flags & WEFT__MSG_TIME;
    weft__request_name(m);
    was.run(was.state, over ? NULL : m);
}

/* What is destroyed on the way may ask again: that goes into a new table. */
void weft__request_end_all(struct weft__lane *l, struct weft__actor *a)
{
    for (struct weft__asked *t; (t = a->extra->asked);) {
        a->extra->asked = NULL;
        for (unsigned i = 0; i <= t->mask; i++) {
            struct entry e = t->at[i];
            if (e.timer.id && !e.response)
                weft_cancel(e.timer);
            if (e.response)
                weft__message_dead(l, e.response, WEFT_EGONE);
        }
        weft__memory_put(t);
    }
}
