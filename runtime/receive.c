/* receive.c - waiting on a stack: receive and sleep.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <weft/case.h>

#include "runtime/fast.h"

static inline void set_types(struct weft__actor *a, weft_type *const *types, size_t n)
{
    a->type_count = (uint8_t)n;
    if (WEFT__LIKELY(n == 1))
        a->type = types[0];
    else
        a->types = types;
}

/* Its turn is over, and so is what it took at once. */
static inline bool must_give_way(const struct weft__lane *l, const struct weft__actor *a)
{
    int left = l->worker->budget;

    return left <= 0 && (!a->in || left <= -WEFT__BATCH_MESSAGES);
}

/* Nobody waits where the runtime has called the program and expects it back. */
static void refuse_inside(const struct weft__lane *l, const char *call)
{
    if (weft__lane_calls(l)) /* whoever runs here, or nobody */
        weft__misuse(WEFT_EINVALID, "%s in a guard, a destroy or a deferred function", call);
}

/* For `n` types at `what`, for one type there, or, if n is 0, for cases. */
static weft_msg *receive_any_way(struct weft__lane *l, struct weft__actor *a, weft_span time, void *what,
                                 size_t n)
{
    struct weft_msg *m;

    if (a->current)
        weft__message_free(l, a->current);
    a->current = NULL;
    if (l->worker && must_give_way(l, a)) {
        weft__loop_yield(l, a);
        l = weft__lane();
    }
    struct weft__wanted kept = weft__wait_for(a, what, (uint8_t)n);
    m = weft__wait_first(l, a);
    if (l->worker && (m || time.ns <= 0))
        l->worker->budget--; /* else it waits, and whoever goes on with it counts */
    if (m)
        a->current = m;
    else if (time.ns > 0)
        m = weft__wait_block(l, a, time);
    weft__wait_restore(a, kept);
    return m;
}

/* A thread's first, several types, a time, skipped messages, the end of a turn, a mistake. */
static __attribute__((noinline)) weft_msg *receive_slowly(weft_span time, weft_type *const *types, size_t n)
{
    struct weft__lane *l = weft__lane();

    refuse_inside(l, "weft_receive");
    if (!l->self)
        l = weft__thread_actor();
    if (!l)
        return NULL;
    if (!types || n == 0 || n > UINT8_MAX)
        weft__misuse(WEFT_EINVALID, "weft_receive needs at least one type");
    for (size_t i = 0; i < n; i++)
        if (!types[i])
            weft__misuse(WEFT_EINVALID, "weft_receive: a type is missing");
    return receive_any_way(l, l->self, time, n == 1 ? (void *)types[0] : (void *)types, n);
}

weft_msg *weft_receive_case(weft_span time, const struct weft_cases *cases)
{
    struct weft__lane *l = weft__lane();

    refuse_inside(l, "weft_receive_case");
    if (!l->self)
        l = weft__thread_actor();
    if (!l)
        return NULL;
    weft__match_check("weft_receive_case", cases);
    return receive_any_way(l, l->self, time, (void *)cases, 0);
}

/* Something came since the last look. */
static __attribute__((noinline)) weft_msg *receive_next(struct weft__lane *l, struct weft__actor *a)
{
    struct weft_msg *m = weft__wait_again(l, a);

    if (!m)
        return weft__loop_park(l, a);
    a->current = m;
    l->worker->budget--;
    return m;
}

/* Whether the plain path will not do: a thread, an arrangement, skipped messages, the end of a turn, a large body. */
static inline bool is_unusual(const struct weft__lane *l, const struct weft__actor *a)
{
    return WEFT__RARE(!a) ||
           WEFT__RARE(weft__fast_at_once(a) & (WEFT__IS_URGENT | WEFT__IS_UNUSUAL(WEFT__NOT_PLAIN))) ||
           WEFT__RARE(!weft__stash_is_empty(&a->stash)) || WEFT__RARE(must_give_way(l, a)) ||
           WEFT__RARE(!weft__fast_can_end(l, a->current));
}

/* A function of its own: what takes an argument's address has a frame, and weft_receive_type would not be left by tail
 * calls any more (a third of a hop: see switch_own_x86_64.S on `ret`). */
static __attribute__((noinline)) weft_msg *receive_type_slowly(weft_type *type)
{
    return receive_slowly(WEFT_FOREVER, type ? &type : NULL, 1);
}

/* What it waits for is set. */
static inline __attribute__((always_inline)) weft_msg *receive(struct weft__lane *l, struct weft__actor *a)
{
    weft__fast_end_current(l, a);
    struct weft_msg *m = weft__fast_next(a);
    if (m) {
        a->current = m;
        l->worker->budget--;
        return m;
    }
    a->parked += WEFT__INBOX_NEXT_WAIT;
    return WEFT__LIKELY(weft__fast_is_empty(a)) ? weft__loop_park(l, a) : receive_next(l, a);
}

weft_msg *weft_receive_type(weft_type *type)
{
    struct weft__lane  *l = weft__lane();
    struct weft__actor *a = l->self;

    if (is_unusual(l, a) || WEFT__RARE(!type))
        return receive_type_slowly(type);
    a->type = type;
    a->type_count = 1;
    return receive(l, a);
}

weft_msg *weft_receive_types(weft_span time, weft_type *const *types, size_t n)
{
    struct weft__lane  *l = weft__lane();
    struct weft__actor *a = l->self;

    if (is_unusual(l, a) || WEFT__RARE(time.ns != INT64_MAX) || WEFT__RARE(n - 1 >= UINT8_MAX) ||
        WEFT__RARE(!types))
        return receive_slowly(time, types, n);
    for (size_t i = 0; i < n; i++)
        if (WEFT__RARE(!types[i]))
            return receive_slowly(time, types, n);
    set_types(a, types, n);
    return receive(l, a);
}

void weft_sleep(weft_span time)
{
    struct weft__lane *l = weft__lane();

    refuse_inside(l, "weft_sleep");
    if (time.ns <= 0) {
        weft_yield();
        return;
    }
    struct weft__actor *a = l->self;
    if (!a) {
        weft__thread_sleep(time);
        return;
    }
    if (!weft__actor_extra(a))
        weft__misuse(WEFT_EMEMORY, "no memory for a timer");
    struct weft__wanted kept = weft__wait_for(a, NULL, 0);
    weft__wait_aside(a);
    /* Matches nothing: all is stashed, for `in` must be empty when it parks (inbox.h I1). */
    weft__wait_again(l, a);
    weft__wait_block(l, a, time);
    weft__wait_back(a);
    weft__wait_restore(a, kept);
}
