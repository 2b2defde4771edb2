/* bound.c - mailboxes that can be full: a gate beside the actor.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * The pid of a bounded actor has a bit that makes it no slot that was ever used, so a send to it leaves the plain path by
 * itself, and comes here. Its messages lie in the gate, behind a lock: `fresh` are not tested by the present wait, `old`
 * are. The actor is told by one message, the bell, which goes through its own mailbox, as responses do. Who wants to wait
 * for room is queued with its message; whoever makes room lets it in and answers it, as a request is answered.
 *
 *   I1  A gate is never freed, only used again: a sender that comes too late finds another pid under the lock.
 *   I2  The bell is in the mailbox, or its actor is about to look, whenever `rung`: so what is fresh is seen.
 *   I3  Nobody waits while there is room for the first who does.
 *   I4  waits_for is there exactly while a bounded actor is queued at that gate. A chain of them never closes: who would
 *       close it is refused. It is under `waits` and the lock of the gate it leads to. Order of locks: gate, waits.
 *   I5  Guards run under the lock: they only read. Everything else of the user's (destroying, converting) runs without.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/bound.h>

#include "base/memory.h"
#include "runtime/actor.h"

/* One who waits for room. */
struct guest {
    struct guest      *next;
    weft_pid           who;
    uint64_t           number; /* of the request that is answered */
    struct weft_msg   *message, *answer;
    struct weft__gate *home; /* its own gate, or NULL */
};

struct weft__gate {
    pthread_mutex_t     lock;
    uint64_t            pid; /* under lock, as all but the last two; 0: closed */
    struct weft__actor *actor;
    weft_bound          limit;
    size_t              messages, bytes;
    struct weft_msg    *fresh, *fresh_last;
    struct weft__stash  old;
    struct guest       *guests, *guests_last;
    weft_fn            *fn; /* of its actor, whose own place the gate has */
    bool                rung;
    bool                held; /* by the actor, while guards run */
    struct weft_msg     bell;
    struct weft__gate  *waits_for; /* I4 */
    struct weft__gate  *next_free; /* under free_lock */
};

static pthread_mutex_t    waits = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t    free_lock = PTHREAD_MUTEX_INITIALIZER;
static struct weft__gate *free_gates;

static struct weft__gate *gate_of(struct weft__actor *a)
{
    return atomic_load_explicit(&a->gate, memory_order_relaxed); /* its owner's own */
}

/* ---- making and finding ----------------------------------------------------------------------------------- */

static struct weft__gate *new_gate(void)
{
    pthread_mutex_lock(&free_lock);
    struct weft__gate *g = free_gates;
    if (g)
        free_gates = g->next_free;
    pthread_mutex_unlock(&free_lock);
    if (!g && (g = weft__memory_get(sizeof *g))) {
        memset(g, 0, sizeof *g);
        pthread_mutex_init(&g->lock, NULL);
    }
    return g;
}

int weft__bound_give(struct weft__actor *a, const weft_bound *bound)
{
    if ((!bound->messages && !bound->bytes) || (unsigned)bound->full > WEFT_FULL_DROP_NEWEST)
        return WEFT_EINVALID;
    struct weft__gate *g = weft__actor_extra(a) ? new_gate() : NULL;
    if (!g)
        return WEFT_EMEMORY;
    uint64_t pid = weft__actor_pid(a) | WEFT__KIND_BOUNDED;
    pthread_mutex_lock(&g->lock); /* a late sender to its last owner may look */
    g->pid = pid;
    g->actor = a;
    g->fn = atomic_load_explicit(&a->fn, memory_order_relaxed);
    g->limit = *bound;
    g->rung = false;
    g->bell = (struct weft_msg){.type = WEFT__TYPE_BELL, .to = pid};
    pthread_mutex_unlock(&g->lock);
    /* release, both: who finds the pid finds the gate; who finds what comes after the gate finds another pid. */
    atomic_store_explicit(&a->gate, g, memory_order_release);
    atomic_store_explicit(&a->pid, pid, memory_order_release);
    a->unusual |= WEFT__BOUNDED;
    return 0;
}

/* Its gate, locked; NULL: it has ended. */
static struct weft__gate *enter(weft_pid to)
{
    weft_pid slot = {to.id & ~WEFT__KIND_BOUNDED};

    if (!(to.id & WEFT__KIND_BOUNDED) || !weft__actor_exists(slot))
        return NULL;
    struct weft__actor *a = weft__actor_block(slot);
    /* acquire, all: see weft__bound_give, and weft__actor_new, which changes the pid before what shares the place. */
    if (atomic_load_explicit(&a->pid, memory_order_acquire) != to.id)
        return NULL;
    struct weft__gate *g = atomic_load_explicit(&a->gate, memory_order_acquire);
    if (atomic_load_explicit(&a->pid, memory_order_acquire) != to.id)
        return NULL;
    pthread_mutex_lock(&g->lock);
    if (g->pid == to.id)
        return g;
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static void leave(struct weft__gate *g) { pthread_mutex_unlock(&g->lock); }

weft_fn *weft__bound_fn(struct weft__actor *a) { return gate_of(a)->fn; }

/* ---- under the lock of a gate ------------------------------------------------------------------------------- */

static bool has_room(const struct weft__gate *g, size_t bytes)
{
    if (g->limit.messages && g->messages >= g->limit.messages)
        return false;
    return !g->limit.bytes || (g->bytes <= g->limit.bytes && bytes <= g->limit.bytes - g->bytes);
}

static void ring(struct weft__lane *l, struct weft__gate *g)
{
    if (g->rung)
        return;
    g->rung = true;
    weft__send_directly(l, g->actor, &g->bell); /* it is there: its gate is open */
}

static void admit(struct weft__gate *g, struct weft_msg *m)
{
    m->to = g->pid;
    m->next = NULL;
    *(g->fresh ? &g->fresh_last->next : &g->fresh) = m;
    g->fresh_last = m;
    g->messages++;
    g->bytes += weft__message_bytes(m);
}

static void dismiss(struct weft__gate *g, size_t bytes)
{
    g->messages--;
    g->bytes -= bytes;
}

/* The first that is not urgent. */
static struct weft_msg *pop_plain(struct weft__gate *g)
{
    struct weft_msg **at = &g->fresh, *before = NULL;

    while (*at && (*at)->flags & WEFT__MSG_URGENT) {
        before = *at;
        at = &before->next;
    }
    struct weft_msg *m = *at;
    if (!m)
        return NULL;
    *at = m->next;
    if (g->fresh_last == m)
        g->fresh_last = before;
    return m;
}

static struct weft_msg *pop_fresh(struct weft__gate *g)
{
    struct weft_msg *m = g->fresh;

    if (m)
        g->fresh = m->next;
    return m;
}

static bool is_plain(void *with, struct weft_msg *m)
{
    (void)with;
    return !(m->flags & WEFT__MSG_URGENT);
}

static bool is_any(void *with, struct weft_msg *m)
{
    (void)with;
    (void)m;
    return true;
}

/* What waits longest; what is urgent only if there is nothing else. */
static struct weft_msg *oldest(struct weft__gate *g)
{
    uint64_t         passed = 0;
    struct weft_msg *m = weft__stash_take(&g->old, &(struct weft__sought){.fits = is_plain}, &passed);

    if (!m)
        m = pop_plain(g);
    if (!m)
        m = weft__stash_take(&g->old, &(struct weft__sought){.fits = is_any}, &passed);
    if (!m)
        m = pop_fresh(g);
    if (!m)
        return NULL;
    m->to = g->pid;
    dismiss(g, weft__message_bytes(m));
    return m;
}

/* Takes a guest out of the queue; its wait is over. */
static struct guest *part(struct weft__gate *g, struct guest **at)
{
    struct guest *guest = *at;

    *at = guest->next;
    if (g->guests_last == guest)
        g->guests_last = at == &g->guests ? NULL
                                          : (struct guest *)((char *)at - offsetof(struct guest, next));
    if (guest->home) {
        pthread_mutex_lock(&waits);
        guest->home->waits_for = NULL;
        pthread_mutex_unlock(&waits);
    }
    return guest;
}

/* Those for whom there is room now go in; returns them, to be answered. */
static struct guest *let_in(struct weft__gate *g)
{
    struct guest *lucky = NULL, **last = &lucky;

    while (g->guests && has_room(g, weft__message_bytes(g->guests->message))) {
        struct guest *guest = part(g, &g->guests);
        admit(g, guest->message);
        *last = guest;
        last = &guest->next;
    }
    *last = NULL;
    return lucky;
}

/* Whatever changed: who can be let in is, and the actor hears of it. Returns who is to be answered. */
static struct guest *settle(struct weft__lane *l, struct weft__gate *g)
{
    struct guest *lucky = let_in(g);

    if (g->fresh)
        ring(l, g);
    return lucky;
}

/* ---- without ------------------------------------------------------------------------------------------------- */

static void answer(struct weft__lane *l, struct guest *guest, int result)
{
    while (guest) {
        struct guest *next = guest->next;
        memcpy(guest->answer->small, &result, sizeof result);
        weft__message_address(guest->answer, WEFT__TYPE_RESPONSE, guest->number);
        guest->answer->flags |= WEFT__MSG_TIME; /* if nobody wants it any more, nobody has to know */
        weft__send_quietly(l, guest->who, guest->answer);
        weft__memory_put(guest);
        guest = next;
    }
}

static void bury(struct weft__lane *l, struct weft_msg *list)
{
    while (list) {
        struct weft_msg *m = list;
        list = m->next;
        weft__lane_count(&l->full_drops);
        weft__message_dead(l, m, WEFT_EFULL);
        l = weft__lane();
    }
}

/* ---- sending -------------------------------------------------------------------------------------------------- */

static void append(struct weft_msg **list, struct weft_msg *m)
{
    while (*list)
        list = &(*list)->next;
    m->next = NULL;
    *list = m;
}

/* Full, by the rule `how`. 0: m is in, or in *dropped. */
static int squeeze(struct weft__gate *g, struct weft_msg *m, enum weft_full how, struct weft_msg **dropped)
{
    if (how == WEFT_FULL_FAIL)
        return WEFT_EFULL;
    if (how == WEFT_FULL_DROP_NEWEST) {
        append(dropped, m);
        return 0;
    }
    for (struct weft_msg *old; !has_room(g, weft__message_bytes(m)) && (old = oldest(g));)
        append(dropped, old);
    admit(g, m);
    return 0;
}

/* Under the lock. */
static int put(struct weft__gate *g, struct weft_msg *m, int how, struct weft_msg **dropped)
{
    size_t         bytes = weft__message_bytes(m);
    enum weft_full rule = how < 0 ? g->limit.full : (enum weft_full)how;
    int            error = 0;

    if (g->limit.bytes && bytes > g->limit.bytes)
        return WEFT_ESIZE;
    /* who waits is not overtaken, but by who makes room itself */
    if (has_room(g, bytes) && (!g->guests || rule == WEFT_FULL_DROP_OLDEST))
        admit(g, m);
    else
        error = squeeze(g, m, rule, dropped);
    return error;
}

/* Responses are never refused: they go by the mailbox itself. */
static int put_response(struct weft__lane *l, weft_pid to, struct weft_msg *m)
{
    struct weft__actor *a = weft__actor_block((weft_pid){to.id & ~WEFT__KIND_BOUNDED});

    return weft__actor_pid(a) == to.id ? weft__send_directly(l, a, m) : WEFT_EGONE;
}

static int put_at(struct weft__lane *l, weft_pid to, struct weft_msg *m, int how, struct weft_msg **dropped)
{
    if (m->type == WEFT__TYPE_RESPONSE)
        return put_response(l, to, m);
    struct weft__gate *g = enter(to);
    if (!g)
        return WEFT_EGONE;
    int           error = put(g, m, how, dropped);
    struct guest *lucky = settle(l, g);
    leave(g);
    answer(l, lucky, 0);
    if (l->worker)
        l->worker->budget--;
    return error;
}

int weft__bound_put(struct weft__lane *l, weft_pid to, struct weft_msg *m, struct weft_msg **dropped)
{
    return put_at(l, to, m, -1, dropped);
}

static int send(struct weft__lane *l, weft_pid to, struct weft_msg *m, int how)
{
    struct weft_msg *dropped = NULL;
    int              error = put_at(l, to, m, how, &dropped);

    bury(l, dropped);
    if (error == WEFT_EGONE)
        weft__message_dead(weft__lane(), m, WEFT_EGONE);
    else if (error)
        weft__message_drop(weft__lane(), m, error);
    return error;
}

int weft__bound_send(struct weft__lane *l, weft_pid to, struct weft_msg *m) { return send(l, to, m, -1); }

int weft_pass_full(weft_pid to, weft_msg *m, enum weft_full how)
{
    struct weft__lane *l;
    int                error = weft__send_claim(&l, m);

    if (error)
        return error;
    if ((unsigned)how > WEFT_FULL_DROP_NEWEST) {
        weft__message_drop(l, m, WEFT_EINVALID);
        return WEFT_EINVALID;
    }
    if (!(to.id & WEFT__KIND_BOUNDED))
        return weft__send(l, to, m);
    m->to = to.id;
    error = send(l, to, m, (int)how);
    return weft__send_end(weft__lane(), error);
}

/* ---- waiting for room ------------------------------------------------------------------------------------------ */

/* What a name is made of does not change while its actor lives, and all in a circle wait. */
static void write_name(FILE *text, const char *before, const struct weft__gate *g)
{
    const char *name = g->actor->extra->name;

    if (name)
        fprintf(text, "%s\"%s\"", before, name);
    else
        fprintf(text, "%sactor %llx of the function at %p", before, (unsigned long long)g->pid,
                (void *)g->fn);
}

/* Under `waits`: "a" -> "b" -> "a", to be said when no lock is held. */
static char *name_circle(const struct weft__gate *from, const struct weft__gate *first)
{
    char  *line = NULL;
    size_t size;
    FILE  *text = open_memstream(&line, &size);

    if (!text)
        return NULL;
    write_name(text, "", from);
    for (const struct weft__gate *g = first; g != from; g = g->waits_for)
        write_name(text, " -> ", g);
    write_name(text, " -> ", from);
    fclose(text);
    return line;
}

/* Under the lock of `to`. False: that would close a circle. */
static bool may_wait(struct weft__gate *home, struct weft__gate *to, char **circle)
{
    struct weft__gate *g = to;

    if (!home)
        return true;
    pthread_mutex_lock(&waits);
    while (g && g != home)
        g = g->waits_for;
    if (g)
        *circle = name_circle(home, to);
    else
        home->waits_for = to;
    pthread_mutex_unlock(&waits);
    return !g;
}

static void queue_guest(struct weft__gate *g, struct guest *guest)
{
    guest->next = NULL;
    *(g->guests ? &g->guests_last->next : &g->guests) = guest;
    g->guests_last = guest;
}

/* Under the lock: 0, it is in; 1, it is queued; or an error. */
static int knock(struct weft__lane *l, struct weft__gate *g, struct guest *guest, weft_span time,
                 char **circle)
{
    struct weft_msg *dropped = NULL;
    int              error = put(g, guest->message, WEFT_FULL_FAIL, &dropped);

    if (!error)
        ring(l, g);
    if (error != WEFT_EFULL)
        return error;
    if (time.ns <= 0)
        return WEFT_ETIME;
    if (!may_wait(guest->home, g, circle))
        return WEFT_ECYCLE;
    queue_guest(g, guest);
    return 1;
}

/* Takes back who waits under that number; NULL: it was let in, or turned away. Not by its address, which may be
 * another's by now. */
static struct guest *go_away(struct weft__lane *l, weft_pid to, weft_pid who, uint64_t number)
{
    struct weft__gate *g = enter(to);

    if (!g)
        return NULL;
    struct guest **at = &g->guests, *guest = NULL, *lucky = NULL;
    while (*at && ((*at)->number != number || !weft_same((*at)->who, who)))
        at = &(*at)->next;
    if (*at) {
        guest = part(g, at);
        lucky = settle(l, g);
    }
    leave(g);
    answer(l, lucky, 0);
    return guest;
}

static void drop_guest(struct weft__lane *l, struct guest *guest)
{
    weft__message_free(l, guest->answer);
    weft__memory_put(guest);
}

static bool withdraw(struct weft__lane *l, weft_pid to, weft_pid who, uint64_t number)
{
    struct guest *guest = go_away(l, to, who, number);

    if (!guest)
        return false;
    struct weft_msg *m = guest->message;
    drop_guest(l, guest);
    weft__message_drop(l, m, WEFT_ETIME);
    return true;
}

void weft__bound_withdraw(struct weft__lane *l, struct weft__actor *a)
{
    withdraw(l, a->extra->knocks_at, (weft_pid){weft__actor_pid(a)}, a->extra->knock);
}

/* Queued: until it is answered, or the time is over. */
static int wait_for_room(struct weft__lane *l, weft_pid to, uint64_t number, weft_span time)
{
    struct weft__actor *a = l->self;
    int                 result = WEFT_ETIME;

    a->extra->knocks_at = to; /* should it end meanwhile */
    a->extra->knock = number;
    struct weft_msg *reply = weft__request_wait(l, a, number, time);
    if (!reply &&
        !withdraw(weft__lane(), to, (weft_pid){weft__actor_pid(a)}, number)) /* the answer is on its way */
        reply = weft__request_wait(weft__lane(), a, number, WEFT_FOREVER);
    a->extra->knocks_at = WEFT_NOBODY;
    weft__request_close(a, number);
    if (reply) {
        memcpy(&result, reply->small, sizeof result);
        weft__message_free(weft__lane(), reply);
    }
    return result;
}

static struct guest *new_guest(struct weft__lane *l, struct weft_msg *m)
{
    struct weft__actor *a = l->self;
    struct guest       *guest = weft__memory_get(sizeof *guest);

    if (!guest)
        return NULL;
    *guest = (struct guest){.who = {weft__actor_pid(a)},
                            .message = m,
                            .answer = weft__request_blank(l),
                            .home = a->unusual & WEFT__BOUNDED ? gate_of(a) : NULL};
    if (guest->answer && (guest->number = weft__request_open(a)))
        return guest;
    if (guest->answer)
        weft__message_free(l, guest->answer);
    weft__memory_put(guest);
    return NULL;
}

static int pass_and_wait(struct weft__lane *l, weft_pid to, struct weft_msg *m, weft_span time)
{
    struct guest      *guest = new_guest(l, m);
    struct weft__gate *g = guest ? enter(to) : NULL;
    int                found = !guest ? WEFT_EMEMORY : WEFT_EGONE;
    char              *circle = NULL;

    m->to = to.id;
    if (g) {
        found = knock(l, g, guest, time, &circle);
        if (found > 0) {
            uint64_t number = guest->number; /* as soon as the lock is open the guest may be gone */
            leave(g);
            return wait_for_room(l, to, number, time);
        }
        leave(g);
    }
    if (circle)
        fprintf(stderr, "weft: full mailboxes would wait for each other for ever: %s\n", circle);
    free(circle);
    if (guest) {
        weft__request_close(l->self, guest->number);
        drop_guest(l, guest);
    }
    if (found == WEFT_EGONE)
        weft__message_dead(l, m, found);
    else if (found)
        weft__message_drop(l, m, found);
    l = weft__lane();
    if (l->worker)
        l->worker->budget--;
    return weft__send_end(l, found);
}

/* The lane of an actor that may wait; NULL: no memory to be one. */
static struct weft__lane *who_waits(void)
{
    struct weft__lane *l = weft__lane();

    if (l->destroying || l->guarding)
        weft__misuse(WEFT_EINVALID, "a wait for room in a guard or a destroy function");
    return l->self ? l : weft__thread_actor();
}

static int send_within(struct weft__lane *l, weft_span time, weft_pid to, struct weft_msg *m)
{
    return to.id & WEFT__KIND_BOUNDED ? pass_and_wait(l, to, m, time) : weft__send(l, to, m);
}

int weft_pass_within(weft_span time, weft_pid to, weft_msg *m)
{
    struct weft__lane *l = who_waits();

    if (!l) {
        weft_drop(m);
        return WEFT_EMEMORY;
    }
    int error = weft__send_claim(&l, m);
    return error ? error : send_within(l, time, to, m);
}

int weft_send_within_body(weft_span time, weft_pid to, weft_type *type, const void *body)
{
    int error = WEFT_EMEMORY;

    if (!type || !type->name || (!body && type->bytes))
        return WEFT_EINVALID;
    struct weft__lane *l = who_waits();
    if (!l)
        weft__message_unsent(type, body);
    struct weft_msg *m = l ? weft__message_new(l, type, body, &error) : NULL;
    if (!m)
        return error;
    m->from = weft__actor_pid(l->self);
    return send_within(l, time, to, m);
}

/* ---- the actor's own side -------------------------------------------------------------------------------------- */

/* Under the lock: the first that fits of what it has not tested in this wait. A guard may end the actor, so a message is
 * tested where it lies. */
static struct weft_msg *from_fresh(struct weft__lane *l, struct weft__actor *a, struct weft__gate *g)
{
    while (g->fresh) {
        bool             fits = weft__match_fits(l, a, g->fresh);
        struct weft_msg *m = pop_fresh(g);
        if (fits)
            return m;
        weft__stash_add(&g->old, m);
        a->extra->skipped++;
    }
    return NULL;
}

/* Takes what is urgent out of what is fresh. */
static struct weft_msg *take_urgent(struct weft__gate *g)
{
    struct weft_msg *list = g->fresh, *last = NULL, *urgent = NULL, **end = &urgent;

    g->fresh = NULL;
    while (list) {
        struct weft_msg *m = list;
        list = m->next;
        m->next = NULL;
        if (m->flags & WEFT__MSG_URGENT) {
            *end = m;
            end = &m->next;
        } else {
            *(last ? &last->next : &g->fresh) = m;
            last = m;
        }
    }
    g->fresh_last = last;
    return urgent;
}

/* What is urgent comes first: in a new wait before all that is old; else what is old does not fit, and it is enough to
 * test it before the rest. */
static void sort_fresh(struct weft__gate *g, bool anew)
{
    struct weft_msg *urgent = take_urgent(g), *last = urgent;

    while (anew && urgent) {
        struct weft_msg *m = urgent;
        urgent = m->next;
        weft__stash_add(&g->old, m);
    }
    if (!urgent)
        return;
    while (last->next)
        last = last->next;
    last->next = g->fresh;
    if (!g->fresh)
        g->fresh_last = last;
    g->fresh = urgent;
}

static struct weft_msg *look(struct weft__lane *l, struct weft__actor *a, bool anew)
{
    struct weft__gate *g = gate_of(a);
    struct weft_msg   *m = NULL;
    struct guest      *lucky = NULL;

    pthread_mutex_lock(&g->lock);
    g->held = true;
    g->rung = g->rung && anew; /* the bell was heard; or it is still in the mailbox */
    sort_fresh(g, anew);
    if (anew)
        m = weft__match_seek(l, a, &g->old);
    if (!m)
        m = from_fresh(l, a, g);
    if (m) {
        dismiss(g, weft__message_bytes(m));
        lucky = let_in(g); /* they are fresh: its next wait sees them */
    }
    g->held = false;
    leave(g);
    answer(l, lucky, 0);
    return m ? weft__match_accept(l, a, m) : NULL;
}

struct weft_msg *weft__bound_first(struct weft__lane *l, struct weft__actor *a) { return look(l, a, true); }

struct weft_msg *weft__bound_again(struct weft__lane *l, struct weft__actor *a) { return look(l, a, false); }

/* All that is there, in no order. */
static struct weft_msg *empty(struct weft__gate *g)
{
    struct weft_msg *all = weft__stash_clear(&g->old);

    for (struct weft_msg *m; (m = pop_fresh(g));) {
        m->next = all;
        all = m;
    }
    g->messages = g->bytes = 0;
    return all;
}

struct weft_msg *weft__bound_close(struct weft__lane *l, struct weft__actor *a)
{
    struct weft__gate *g = gate_of(a);
    struct guest      *turned_away = NULL, **last = &turned_away;

    if (!g->held) /* else a guard ended it */
        pthread_mutex_lock(&g->lock);
    g->held = false;
    g->pid = 0;
    struct weft_msg *all = empty(g);
    while (g->guests) {
        struct guest *guest = part(g, &g->guests);
        guest->message->next = all;
        all = guest->message;
        *last = guest;
        last = &guest->next;
    }
    *last = NULL;
    leave(g);
    answer(l, turned_away, WEFT_EGONE);
    return all;
}

void weft__bound_end(struct weft__actor *a)
{
    struct weft__gate *g = gate_of(a);

    pthread_mutex_lock(&free_lock);
    g->next_free = free_gates;
    free_gates = g;
    pthread_mutex_unlock(&free_lock);
}
