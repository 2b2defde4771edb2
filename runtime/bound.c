/* bound.c - mailboxes that can be full: see gate.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <string.h>

#include "base/memory.h"
#include "runtime/gate.h"

static pthread_mutex_t    free_lock = PTHREAD_MUTEX_INITIALIZER;
static struct weft__gate *free_gates;

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
    /* release: who looks and finds this in what was another's gate finds that one closed. */
    atomic_store_explicit(&g->fn, atomic_load_explicit(&a->fn, memory_order_relaxed), memory_order_release);
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
struct weft__gate *weft__gate_enter(weft_pid to)
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

weft_fn *weft__bound_fn(struct weft__actor *a)
{
    /* relaxed: its owner, or who knows it to wait. */
    return atomic_load_explicit(a->unusual & WEFT__BOUNDED ? &weft__gate_of(a)->fn : &a->fn,
                                memory_order_relaxed);
}

/* ---- under the lock of a gate ------------------------------------------------------------------------------- */

bool weft__gate_has_room(const struct weft__gate *g, size_t bytes)
{
    if (g->limit.messages && g->messages >= g->limit.messages)
        return false;
    return !g->limit.bytes || (g->bytes <= g->limit.bytes && bytes <= g->limit.bytes - g->bytes);
}

void weft__gate_ring(struct weft__lane *l, struct weft__gate *g)
{
    if (g->rung)
        return;
    g->rung = true;
    weft__send_directly(l, g->actor, &g->bell); /* it is there: its gate is open */
}

static void join(struct weft__line *line, struct weft_msg *m)
{
    m->next = NULL;
    *(line->first ? &line->last->next : &line->first) = m;
    line->last = m;
}

static struct weft_msg *pop(struct weft__line *line)
{
    struct weft_msg *m = line->first;

    if (m)
        line->first = m->next;
    return m;
}

void weft__gate_admit(struct weft__gate *g, struct weft_msg *m)
{
    m->to = g->pid;
    join(m->flags & WEFT__MSG_URGENT ? &g->urgent : &g->fresh, m);
    g->messages++;
    g->bytes += weft__message_bytes(m);
}

static void dismiss(struct weft__gate *g, size_t bytes)
{
    g->messages--;
    g->bytes -= bytes;
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

/* From the front. */
static struct weft_msg *pop_fresh(struct weft__gate *g)
{
    struct weft_msg *m = pop(&g->fresh);

    if (m == g->heeded)
        g->heeded = NULL; /* all that are left came later */
    return m;
}

static struct weft_msg *find_fresh(struct weft__gate *g, bool (*fits)(void *with, struct weft_msg *m),
                                   void              *with)
{
    struct weft_msg *before = NULL, *m = g->fresh.first;

    for (; m && !fits(with, m); m = m->next)
        before = m;
    if (!m)
        return NULL;
    *(before ? &before->next : &g->fresh.first) = m->next;
    if (g->fresh.last == m)
        g->fresh.last = before;
    if (g->heeded == m)
        g->heeded = before;
    return m;
}

static bool is_message(void *with, struct weft_msg *m)
{
    (void)with;
    return m->type != WEFT__TYPE_SIGNAL && m->type != WEFT__TYPE_RESPONSE;
}

/* What waits longest; what is urgent only if there is nothing else. */
static struct weft_msg *oldest(struct weft__gate *g)
{
    uint64_t         passed = 0;
    struct weft_msg *m = weft__stash_take(&g->old, &(struct weft__sought){.any = true, .fits = is_plain},
                                          &passed);

    if (!m)
        m = find_fresh(g, is_message, NULL);
    if (!m)
        m = weft__stash_take(&g->old, &(struct weft__sought){.any = true, .fits = is_any}, &passed);
    if (!m)
        m = pop(&g->urgent);
    if (!m)
        return NULL;
    m->to = g->pid;
    dismiss(g, weft__message_bytes(m));
    return m;
}

/* Whatever changed: who can be let in is, and the actor hears of it. Returns who is to be answered. */
struct weft__guest *weft__gate_settle(struct weft__lane *l, struct weft__gate *g)
{
    struct weft__guest *lucky = weft__room_let_in(g);

    if (g->fresh.first || g->urgent.first)
        weft__gate_ring(l, g);
    return lucky;
}

/* ---- without ------------------------------------------------------------------------------------------------- */

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

/* Returns the new end of the list. */
static struct weft_msg **append(struct weft_msg **list, struct weft_msg *m)
{
    while (*list)
        list = &(*list)->next;
    m->next = NULL;
    *list = m;
    return &m->next;
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
    for (struct weft_msg *old; !weft__gate_has_room(g, weft__message_bytes(m)) && (old = oldest(g));)
        dropped = append(dropped, old);
    weft__gate_admit(g, m);
    return 0;
}

/* Under the lock. */
int weft__gate_put(struct weft__gate *g, struct weft_msg *m, int how, struct weft_msg **dropped)
{
    size_t         bytes = weft__message_bytes(m);
    enum weft_full rule = how < 0 ? g->limit.full : (enum weft_full)how;
    int            error = 0;

    if (g->limit.bytes && bytes > g->limit.bytes)
        return WEFT_ESIZE;
    /* who waits is not overtaken, but by who makes room itself */
    if (weft__gate_has_room(g, bytes) && (!g->guests || rule == WEFT_FULL_DROP_OLDEST))
        weft__gate_admit(g, m);
    else
        error = squeeze(g, m, rule, dropped);
    return error;
}

bool weft__bound_put_inner(struct weft__lane *l, weft_pid to, struct weft_msg *m)
{
    struct weft__gate *g = weft__gate_enter(to);

    if (!g)
        return false;
    m->to = g->pid;
    join(&g->fresh, m);
    g->inner++;
    weft__gate_ring(l, g);
    weft__gate_leave(g);
    return true;
}

static int put_at(struct weft__lane *l, weft_pid to, struct weft_msg *m, int how, struct weft_msg **dropped)
{
    if (m->type == WEFT__TYPE_RESPONSE)
        return weft__bound_put_inner(l, to, m) ? 0 : WEFT_EGONE;
    struct weft__gate *g = weft__gate_enter(to);
    if (!g)
        return WEFT_EGONE;
    int                 error = weft__gate_put(g, m, how, dropped);
    struct weft__guest *lucky = weft__gate_settle(l, g);
    weft__gate_leave(g);
    weft__room_answer(l, lucky, 0);
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

/* ---- the actor's own side -------------------------------------------------------------------------------------- */

/* Under the lock: the first that fits of those that it has not tested in this wait, or a response, or a signal. A guard
 * may end the actor, so a message is tested where it lies. */
static struct weft_msg *from_line(struct weft__lane *l, struct weft__actor *a, struct weft__line *line)
{
    while (line->first) {
        struct weft__gate *g = weft__gate_of(a);
        bool               fits = !is_message(NULL, line->first) || weft__match_fits(l, a, line->first);
        struct weft_msg   *m = line == &g->fresh ? pop_fresh(g) : pop(line);
        if (fits)
            return m;
        weft__stash_add(&g->old, m);
        a->extra->skipped++;
    }
    return NULL;
}

/* A new wait; or it has heard the bell; or neither, and the bell may still be in the mailbox. A message, a response,
 * a signal, or NULL. */
static struct weft_msg *look_once(struct weft__lane *l, struct weft__actor *a, bool anew, bool heard)
{
    struct weft__gate  *g = weft__gate_of(a);
    struct weft_msg    *m = NULL;
    struct weft__guest *lucky = NULL;

    pthread_mutex_lock(&g->lock);
    g->held = true;
    g->rung = g->rung && !heard;
    for (struct weft_msg *first; anew && (first = pop(&g->urgent));)
        weft__stash_add(&g->old, first); /* before all that is old; else that does not fit anyway */
    if (anew)
        m = weft__match_seek(l, a, &g->old);
    if (!m)
        m = from_line(l, a, &g->urgent);
    if (!m)
        m = from_line(l, a, &g->fresh);
    if (m && is_message(NULL, m)) {
        dismiss(g, weft__message_bytes(m));
        lucky = weft__room_let_in(g); /* they are fresh: its next wait sees them */
    } else if (m) {
        g->inner--;
    }
    if (g->inner || (m && !is_message(NULL, m) && (g->urgent.first || g->fresh.first)))
        weft__gate_ring(l, g); /* its next wait may be for no message; or it does not go on for now */
    g->held = false;
    weft__gate_leave(g);
    weft__room_answer(l, lucky, 0);
    return m;
}

/* It has become a message, which is tested next. */
static void put_back(struct weft__actor *a, struct weft_msg *m)
{
    struct weft__gate *g = weft__gate_of(a);
    struct weft__line  rest;

    pthread_mutex_lock(&g->lock);
    rest = g->fresh;
    g->fresh.first = NULL;
    weft__gate_admit(g, m); /* never refused */
    if (rest.first) {
        m->next = rest.first;
        g->fresh.last = rest.last;
    }
    weft__gate_leave(g);
}

static struct weft_msg *look(struct weft__lane *l, struct weft__actor *a, bool anew, bool heard)
{
    for (;;) {
        struct weft_msg *m = look_once(l, a, anew, heard);
        if (!m)
            return NULL;
        if (is_message(NULL, m))
            return weft__match_accept(l, a, m);
        bool signal = m->type == WEFT__TYPE_SIGNAL; /* one that has arrived may be another's already */
        if (signal && weft__bonds_arrived(l, a, m))
            put_back(a, m);
        else if (!signal && (m = weft__wait_response(l, a, m)))
            return m;
        if (weft__wait_has_answer(a))
            return NULL;
        anew = heard = false;
    }
}

struct weft_msg *weft__bound_first(struct weft__lane *l, struct weft__actor *a)
{
    return look(l, a, true, false);
}

struct weft_msg *weft__bound_again(struct weft__lane *l, struct weft__actor *a)
{
    return look(l, a, false, true);
}

struct weft_msg *weft__bound_find(struct weft__actor *a, bool (*fits)(void *with, struct weft_msg *m),
                                  void               *with)
{
    struct weft__gate  *g = weft__gate_of(a);
    struct weft__sought sought = {.any = true, .fits = fits, .with = with};
    struct weft__guest *lucky = NULL;
    uint64_t            passed = 0;

    pthread_mutex_lock(&g->lock);
    struct weft_msg *m = weft__stash_take(&g->old, &sought, &passed);
    if (!m)
        m = find_fresh(g, fits, with);
    if (m && !is_message(NULL, m)) {
        g->inner--;
    } else if (m) {
        dismiss(g, weft__message_bytes(m));
        lucky = weft__room_let_in(g);
    }
    weft__gate_leave(g);
    weft__room_answer(weft__lane(), lucky, 0);
    return m;
}

struct weft_msg *weft__bound_heed(struct weft__actor *a,
                                  bool (*fits)(struct weft__actor *a, struct weft_msg *m))
{
    struct weft__gate *g = weft__gate_of(a);
    struct weft__line  found = {NULL, NULL};

    pthread_mutex_lock(&g->lock);
    struct weft_msg **at = g->heeded ? &g->heeded->next : &g->fresh.first, *m;
    while (g->inner && (m = *at)) {
        if (fits(a, m)) {
            *at = m->next;
            join(&found, m);
            g->inner--;
        } else {
            g->heeded = m;
            at = &m->next;
        }
    }
    if (!*at)
        g->fresh.last = g->heeded; /* what was behind it may have been taken out */
    weft__gate_leave(g);
    return found.first;
}

void weft__bound_unheed(struct weft__actor *a, struct weft_msg *list)
{
    struct weft__gate *g = weft__gate_of(a);

    pthread_mutex_lock(&g->lock);
    g->heeded = NULL;
    for (struct weft_msg *m; (m = list);) {
        list = m->next;
        join(&g->fresh, m);
        g->inner++;
    }
    weft__gate_leave(g);
}

void weft__bound_let_go(struct weft__actor *a)
{
    struct weft__gate *g = weft__gate_of(a);

    if (!g->held)
        return;
    g->held = false;
    weft__gate_leave(g);
}

/* All that is there, in no order. */
static struct weft_msg *empty(struct weft__gate *g)
{
    struct weft_msg *all = weft__stash_clear(&g->old);

    for (struct weft_msg *m; (m = pop(&g->urgent)) || (m = pop(&g->fresh));) {
        m->next = all;
        all = m;
    }
    g->messages = g->bytes = g->inner = 0;
    g->heeded = NULL;
    return all;
}

struct weft_msg *weft__bound_close(struct weft__lane *l, struct weft__actor *a)
{
    struct weft__gate *g = weft__gate_of(a);

    pthread_mutex_lock(&g->lock);
    g->pid = 0;
    struct weft_msg    *all = empty(g);
    struct weft__guest *turned_away = weft__room_turn_away(g);
    for (struct weft__guest *guest = turned_away; guest; guest = guest->next) {
        guest->message->next = all;
        all = guest->message;
    }
    weft__gate_leave(g);
    weft__room_answer(l, turned_away, WEFT_EGONE);
    return all;
}

void weft__bound_end(struct weft__actor *a)
{
    struct weft__gate *g = weft__gate_of(a);

    pthread_mutex_lock(&free_lock);
    g->next_free = free_gates;
    free_gates = g;
    pthread_mutex_unlock(&free_lock);
}
