/* wait.c - in which order a waiting actor looks at its messages, and when its time is over.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Mailbox order is: the stash (skipped by this wait or an earlier one), then `in`, urgent ones first, then `more` (rare),
 * then the shared word. A new wait looks at all of it once; after that only at what is new, so each message is tested
 * once a wait. Responses are no messages: they are put beside their requests as they are met.
 *
 * A wait with a deadline sets the actor's one timer before it parks, with the word it will park with. A timer that
 * goes off before the word is published tries again a little later; one whose wait is done finds `wait` empty.
 */
#include <stddef.h>

#include "runtime/fast.h"
#include "sched/clock.h"

enum { RETRY_NS = 20000 };

/* The first of `in` does not fit. Of a wait for one type all that follow and do not fit either go with it, as they are
 * linked: a long mailbox is read once, and not written. */
static void skip(struct weft__actor *a)
{
    struct weft__extra *x = weft__actor_extra(a);
    struct weft_msg    *first = a->in, *last = first, *next;
    uint64_t            n = 1;
    uint32_t            id = a->type_count == 1 ? weft__types_id(a->type) : 0;

    if (x)
        x->none = x->none == id || weft__stash_is_empty(&a->stash) ? id : 0;
    if (WEFT__RARE(first->flags & WEFT__MSG_URGENT)) {
        a->in = first->next;
        weft__stash_add(&a->stash, first);
    } else {
        for (; id && (next = last->next) && next->type != id && next->type > WEFT__TYPE_INNER; n++)
            last = next; /* none of them is urgent: those come first */
        a->in = last->next;
        weft__stash_add_run(&a->stash, first, last, n);
    }
    if (x)
        x->skipped += n;
}

/* What was pushed, oldest first. What is urgent goes to the end of another list. */
static struct weft_msg *pushed(struct weft__lane *l, struct weft__actor *a, struct weft_msg ***urgent)
{
    struct weft_msg *others = NULL, *list = weft__inbox_take(&a->box, weft__actor_pid(a), &others);

    while (WEFT__RARE(others)) {
        struct weft_msg *m = others;
        others = m->next;
        m->to &= ~WEFT__INBOX_URGENT;
        if (m->to == weft__actor_pid(a)) {
            m->next = NULL;
            **urgent = m;
            *urgent = &m->next;
        } else {
            weft__message_dead(l, m, WEFT_EGONE); /* it was meant for the slot's last owner */
        }
    }
    return list;
}

/* `in` is empty. What was pushed goes there, urgent ones first. False: there was nothing. */
static bool take(struct weft__lane *l, struct weft__actor *a)
{
    struct weft_msg *urgent = NULL, **end = &urgent;

    if (a->unusual & WEFT__MORE) {
        struct weft__extra *x = a->extra;
        a->unusual &= ~(uint32_t)WEFT__MORE;
        a->in = x->more;
        x->more = NULL;
        x->heeded_in = x->heeded == x->more_last;
        x->heeded = NULL;
        return true;
    }
    if (a->extra)
        a->extra->heeded_in = false;
    struct weft_msg *list = pushed(l, a, &end);
    *end = list;
    a->in = WEFT__RARE(urgent) ? urgent : list;
    return a->in;
}

/* Behind all that was taken. */
static void add_more(struct weft__extra *x, struct weft_msg *list)
{
    *(x->more ? &x->more_last->next : &x->more) = list;
    while (list->next)
        list = list->next;
    x->more_last = list;
    x->actor->unusual |= WEFT__MORE;
}

/* A kill among what is urgent comes first, whatever else there is. It does not come back then. */
static void obey_kill(struct weft__lane *l, struct weft__actor *a, struct weft_msg *urgent)
{
    struct weft_msg **at = &urgent, **end;

    while (*at && (*at)->type != WEFT__TYPE_SIGNAL)
        at = &(*at)->next;
    struct weft_msg *m = *at;
    if (WEFT__LIKELY(!m))
        return;
    *at = m->next;
    for (end = &urgent; *end; end = &(*end)->next)
        ;
    *end = a->in;
    a->in = urgent; /* to be buried */
    weft__bonds_arrived(l, a, m);
}

void weft__wait_urgent(struct weft__lane *l, struct weft__actor *a, bool anew)
{
    struct weft__extra *x = weft__actor_extra(a);
    struct weft_msg    *urgent = a->in, **end = &urgent;

    /* acquire = U: what was pushed by those who have told us is seen below. Who tells us after this exchange does so
     * again: a plain store could come after its word, and after the look at an empty mailbox. */
    atomic_exchange_explicit(&a->urgent, 0, memory_order_acquire);
    while (*end && (*end)->flags & WEFT__MSG_URGENT)
        end = &(*end)->next;
    struct weft_msg *rest = *end, **last = &rest;
    *end = NULL;
    struct weft_msg *list = pushed(l, a, &end);
    if (x)
        x->unheeded = true; /* by a wait that finds its message before it */
    if (list && x) {
        add_more(x, list);
    } else if (list) {
        while (*last) /* a long way, but no memory */
            last = &(*last)->next;
        *last = list;
    }
    a->in = rest;
    obey_kill(l, a, urgent);
    if (!anew) { /* what was skipped does not fit, so it is enough to test them before the rest */
        *end = rest;
        a->in = urgent;
        return;
    }
    if (x)
        x->none = 0;
    for (struct weft_msg *m; (m = urgent);) {
        urgent = m->next;
        weft__stash_add(&a->stash, m);
    }
}

struct weft_msg *weft__wait_response(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    uint64_t number = weft__message_request(m);

    if (a->type_count == 1 && weft__types_id(a->type) == WEFT__TYPE_RESPONSE)
        return m;
    weft__request_arrived(l, a, m);
    return weft__match_response(weft__lane(), a, number);
}

bool weft__wait_has_answer(const struct weft__actor *a)
{
    return a->phase == WEFT__REACTING && weft__request_is_ready(a);
}

/* No message of its own, but news. */
static struct weft_msg *inner(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    if (m->type == WEFT__TYPE_BELL)
        return weft__bound_again(l, a);
    if (m->type == WEFT__TYPE_SIGNAL) {
        if (!weft__bonds_arrived(l, a, m))
            return NULL;
        m->next = a->in; /* a message: it is tested next */
        a->in = m;
        return NULL;
    }
    if (m->type == WEFT__TYPE_RESPONSE)
        return weft__wait_response(l, a, m);
    weft__message_drop(l, m, WEFT_EINVALID); /* a wildcard, of a type that somebody wrote by hand */
    return NULL;
}

struct weft_msg *weft__wait_again(struct weft__lane *l, struct weft__actor *a)
{
    do {
        for (struct weft_msg *m; (m = a->in);) {
            struct weft_msg *found = weft__fast_next(a);
            if (WEFT__LIKELY(found))
                return found;
            if (WEFT__RARE(m->type <= WEFT__TYPE_INNER)) {
                a->in = m->next;
                found = inner(l, a, m);
                if (!found && weft__wait_has_answer(a))
                    return NULL;
            } else if (weft__match_fits(l, a, m)) {
                a->in = m->next;
                found = weft__match_accept(l, a, m);
            } else {
                skip(a);
            }
            if (found)
                return found;
        }
    } while (take(l, a));
    return NULL;
}

struct weft_msg *weft__wait_first(struct weft__lane *l, struct weft__actor *a)
{
    struct weft_msg *m = a->type_count ? NULL : weft__match_response(l, a, 0);

    if (m)
        return m;
    if (WEFT__RARE(weft__fast_is_urgent(a)) || (a->in && WEFT__RARE(a->in->flags & WEFT__MSG_URGENT)))
        weft__wait_urgent(l, a, true); /* some may be left of those that the last wait was told of */
    if (!weft__stash_is_empty(&a->stash) && (m = weft__match_stash(l, a)))
        return m;
    if (WEFT__RARE(a->unusual & WEFT__BOUNDED) && ((m = weft__bound_first(l, a)) || weft__wait_has_answer(a)))
        return m;
    return weft__wait_again(l, a);
}

struct weft_msg *weft__wait_block(struct weft__lane *l, struct weft__actor *a, weft_span time)
{
    if (a->unusual & WEFT__THREAD)
        return weft__thread_park(l, a, time);
    if (time.ns != INT64_MAX && weft__wait_until(a, weft__clock_after(time.ns)) < 0)
        weft__misuse(WEFT_EMEMORY, "no memory for a timer");
    return weft__loop_park(l, a);
}

/* Called under the timers' lock, by the worker. */
static int64_t fire(struct weft__timer *t, int64_t now)
{
    struct weft__extra *x = (struct weft__extra *)((char *)t - offsetof(struct weft__extra, timer));
    /* relaxed, both: a stale pair names a wait that is over, and the word then refuses it. */
    uint64_t wait = atomic_load_explicit(&x->wait, memory_order_relaxed);
    int64_t  deadline = atomic_load_explicit(&x->deadline, memory_order_relaxed);

    if (!wait)
        return WEFT__NEVER;
    if (deadline > now)
        return deadline;
    if (weft__inbox_unpark(&x->actor->box, wait)) {
        weft__loop_wake(weft__lane(), x->actor);
        return WEFT__NEVER;
    }
    return now + RETRY_NS;
}

bool weft__wait_timer_counts(const struct weft__timer *t)
{
    const struct weft__extra *x = (const struct weft__extra *)((const char *)t -
                                                               offsetof(struct weft__extra, timer));

    /* relaxed: its owner rests. */
    return t->fire != fire || atomic_load_explicit(&x->wait, memory_order_relaxed);
}

int weft__wait_reserve(struct weft__actor *a)
{
    struct weft__extra *x = weft__actor_extra(a);

    if (!x || weft__timers_reserve(&x->timer) < 0)
        return -1;
    x->timer.fire = fire;
    return 0;
}

int weft__wait_until(struct weft__actor *a, int64_t deadline)
{
    struct weft__extra *x = weft__actor_extra(a);

    if (!x)
        return -1;
    if (!x->timer.fire) /* once: whoever polls reads it */
        x->timer.fire = fire;
    atomic_store_explicit(&x->deadline, deadline, memory_order_relaxed);
    atomic_store_explicit(&x->wait, a->parked, memory_order_relaxed);
    a->unusual |= WEFT__TIMED;
    return deadline == WEFT__NEVER ? 0 : weft__timers_set(&x->timer, deadline);
}

bool weft__wait_is_over(struct weft__actor *a)
{
    return weft__clock_now() >= atomic_load_explicit(&a->extra->deadline, memory_order_relaxed);
}

void weft__wait_done(struct weft__actor *a)
{
    a->unusual &= ~(uint32_t)WEFT__TIMED;
    atomic_store_explicit(&a->extra->wait, 0, memory_order_relaxed);
}
