/* rules.c - what a supervisor decides: the rules of Erlang/OTP, and the delays that are our own.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <string.h>

#include "base/memory.h"
#include "runtime/children.h"

enum { SECOND = 1000000000 };

static int64_t or_else(weft_span given, int64_t otherwise) { return given.ns ? given.ns : otherwise; }

bool weft__rules_restarts(enum weft_restart restart, int reason)
{
    if (restart == WEFT_TRANSIENT)
        return reason != 0 && reason != WEFT_ESTOP;
    return restart == WEFT_PERMANENT;
}

bool weft__rules_forgets(const weft_supervisor *how, const weft_child *what)
{
    return how->strategy == WEFT_SIMPLE_DYNAMIC || what->restart == WEFT_TEMPORARY;
}

int64_t weft__rules_shutdown(const weft_child *what)
{
    return or_else(what->shutdown, what->supervisor ? INT64_MAX : 5 * (int64_t)SECOND);
}

int64_t weft__rules_period(const weft_supervisor *how) { return or_else(how->period, 5 * (int64_t)SECOND); }

static void forget_old(struct weft__past *past, int64_t now, int64_t period)
{
    while (past->count && now - past->at[past->first] > period) {
        past->first = (past->first + 1) % past->room;
        past->count--;
    }
}

/* Twice as many. The ring is full, so it is taken apart at its first. */
static bool grow(struct weft__past *past)
{
    enum { FEW = 4 };
    size_t   more = past->room ? past->room * 2 : FEW;
    int64_t *at = weft__memory_get(more * sizeof *at);

    if (!at)
        return false;
    for (size_t i = 0; i < past->count; i++)
        at[i] = past->at[(past->first + i) % past->room];
    weft__memory_put(past->at);
    *past = (struct weft__past){.at = at, .room = more, .count = past->count};
    return true;
}

bool weft__rules_too_often(const weft_supervisor *how, struct weft__past *past, int64_t now)
{
    size_t most = how->max_restarts < 0 ? 0 : how->max_restarts ? (size_t)how->max_restarts : 1;

    forget_old(past, now, weft__rules_period(how));
    if (past->count >= most || (past->count == past->room && !grow(past)))
        return true;
    past->at[(past->first + past->count++) % past->room] = now;
    return false;
}

int64_t weft__rules_delay(const weft_supervisor *how, struct weft__delay *delay, int64_t now)
{
    int64_t most = or_else(how->backoff_max, 60 * (int64_t)SECOND), span = how->backoff.ns;

    if (span <= 0)
        return 0;
    if (most < span)
        most = span;
    if (delay->span && now - delay->over <= weft__rules_period(how))
        span = delay->span < most / 2 ? delay->span * 2 : most;
    *delay = (struct weft__delay){.span = span, .over = now < INT64_MAX - span ? now + span : INT64_MAX};
    return span;
}
