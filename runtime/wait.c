/* wait.c - which message a waiting actor gets, and when its time is over.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Mailbox order is: `saved` (skipped by this wait or an earlier one), then `in`, then the shared word. A new wait
 * looks at all of it once; after that only at what is new, so each message is tested once a wait.
 *
 * A wait with a deadline sets the actor's one timer before it parks, with the word it will park with. A timer that
 * goes off before the word is published tries again a little later; one whose wait is done finds `wait` empty.
 */
#include <stddef.h>

#include "runtime/fast.h"
#include "sched/clock.h"

enum { RETRY_NS = 20000 };

static bool wants(struct weft__actor *a, struct weft_msg *m)
{
    weft_type *const *list = a->type_count == 1 ? &a->type : a->types;
    weft_type        *match = NULL;

    for (unsigned i = 0; i < a->type_count; i++) {
        unsigned id = weft__types_id(list[i]);
        if (id == m->type) {
            match = list[i];
            break;
        }
        if (id == WEFT__TYPE_ANY)
            match = list[i]; /* unless a later one names it */
    }
    if (match)
        m->tag = match->tag;
    return match;
}

static void save(struct weft__actor *a, struct weft_msg *m)
{
    if (a->saved) {
        m->next = a->saved->next;
        a->saved->next = m;
    } else {
        m->next = m;
    }
    a->saved = m;
}

static struct weft_msg *from_saved(struct weft__actor *a)
{
    struct weft_msg *before = a->saved, *m;

    if (!before)
        return NULL;
    do {
        m = before->next;
        if (wants(a, m)) {
            before->next = m->next;
            if (m == a->saved)
                a->saved = m == before ? NULL : before;
            return m;
        }
        before = m;
    } while (m != a->saved);
    return NULL;
}

/* What was pushed goes to `in`, which is empty. False: there was nothing for it. */
static bool take(struct weft__lane *l, struct weft__actor *a)
{
    struct weft_msg *late = NULL;

    a->in = weft__inbox_take(&a->box, weft__actor_pid(a), &late);
    while (WEFT__RARE(late)) {
        struct weft_msg *m = late;
        late = m->next;
        weft__message_dead(l, m);
    }
    return a->in;
}

struct weft_msg *weft__wait_again(struct weft__lane *l, struct weft__actor *a)
{
    do {
        for (struct weft_msg *m; a->in;) {
            if (WEFT__LIKELY(m = weft__fast_next(a)))
                return m;
            m = a->in;
            a->in = m->next;
            if (wants(a, m))
                return m;
            save(a, m);
        }
    } while (take(l, a));
    return NULL;
}

struct weft_msg *weft__wait_first(struct weft__lane *l, struct weft__actor *a)
{
    struct weft_msg *m = from_saved(a);

    return m ? m : weft__wait_again(l, a);
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
    a->unusual &= (uint8_t)~WEFT__TIMED;
    atomic_store_explicit(&a->extra->wait, 0, memory_order_relaxed);
}
