/* supervisor.c - what a supervisor does: starts its children, hears of their ends, stops them.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A supervisor is an actor like any other, and uses what every actor may: it is linked to its children and traps exits.
 * What must not be lost when it is killed hangs on its state, which a deferred function clears away.
 *
 *   I1  A child is in the table before it is started, so whenever the supervisor is ended its link tells the child.
 *   I2  While one thing is done, as a stop that takes long, what is heard of other children is only noted; nothing but
 *       the loop thinks about it, and nothing else removes children that have not been asked for.
 *   I3  Pids are never used again, so news of one that is not in the table, or does not run, is old.
 */
#include <pthread.h>

#include "base/limits.h"
#include "base/memory.h"
#include "runtime/parts.h"
#include "runtime/supervisor.h"
#include "sched/clock.h"

enum { WATCHED = 1, ASKED = 2, KILLED = 4 }; /* what a child was told */

/* ---- the roots ------------------------------------------------------------------------------------------ */

static pthread_mutex_t          lock = PTHREAD_MUTEX_INITIALIZER;
static struct weft__supervisor *roots; /* under lock */

static void be_root(struct weft__supervisor *s)
{
    pthread_mutex_lock(&lock);
    s->next_root = roots;
    s->root_at = &roots;
    if (roots)
        roots->root_at = &s->next_root;
    roots = s;
    pthread_mutex_unlock(&lock);
}

static void be_root_no_more(struct weft__supervisor *s)
{
    pthread_mutex_lock(&lock);
    if (s->root_at) {
        *s->root_at = s->next_root;
        if (s->next_root)
            s->next_root->root_at = s->root_at;
    }
    pthread_mutex_unlock(&lock);
}

size_t weft__supervisor_roots(weft_pid *to, size_t room)
{
    size_t n = 0;

    pthread_mutex_lock(&lock);
    for (struct weft__supervisor *s = roots; s; s = s->next_root, n++)
        if (n < room)
            to[n] = s->self;
    pthread_mutex_unlock(&lock);
    return n;
}

/* ---- what it hears -------------------------------------------------------------------------------------- */

static void end_with(struct weft__supervisor *s, int reason)
{
    if (!s->over)
        s->reason = reason;
    s->over = true;
}

/* False: it is no child of ours that runs. */
static bool child_ended(struct weft__supervisor *s, weft_pid who, int reason)
{
    struct weft__child *c = weft__children_of_pid(&s->table, who);

    if (!c || c->state != WEFT__CHILD_RUNS)
        return false;
    c->reason = reason;
    weft__children_set(&s->table, c, WEFT__CHILD_ENDED);
    return true;
}

/* Only a link tells of an end: what a child says by weft_exit is said by a stranger. */
static void hear(struct weft__supervisor *s, const struct weft_exited *e)
{
    if (e->linked && child_ended(s, e->who, e->reason))
        return;
    if (s->parent.id && weft_same(e->who, s->parent))
        end_with(s, e->reason);
    else if (!e->linked && e->reason == WEFT_ESTOP)
        end_with(s, WEFT_ESTOP);
}

static weft_span until(int64_t when)
{
    int64_t now = weft__clock_now();

    return when == WEFT__NEVER ? WEFT_FOREVER : weft_ns(when > now ? when - now : 0);
}

static int64_t later(int64_t span) { return weft__clock_after(span < 0 ? 0 : span); }

/* Until something is heard of a child, or it is time. */
static void listen(struct weft__supervisor *s, int64_t time)
{
    weft_msg *m = weft_receive_within(until(time), WEFT_EXIT, WEFT_DOWN);

    if (m && weft_is(m, WEFT_EXIT))
        hear(s, weft_get(m, WEFT_EXIT));
    else if (m)
        child_ended(s, weft_get(m, WEFT_DOWN)->who, weft_get(m, WEFT_DOWN)->reason);
}

/* ---- stopping ------------------------------------------------------------------------------------------- */

/* A child may have broken its link, so it is monitored, too. False: there was no memory for all of it. */
static bool tell(struct weft__child *c, bool kill)
{
    if (!(c->told & WATCHED) && weft_monitor(c->who).id)
        c->told |= WATCHED;
    if (kill && !(c->told & KILLED) && weft_kill(c->who) != WEFT_EMEMORY)
        c->told |= KILLED;
    if (!kill && !(c->told & ASKED) && weft_exit(c->who, WEFT_ESTOP) != WEFT_EMEMORY)
        c->told |= ASKED;
    return c->told & WATCHED && c->told & (kill ? KILLED : ASKED);
}

static bool tell_all(struct weft__supervisor *s, bool kill)
{
    bool told = true;

    for (struct weft__child *c = weft__children_first(&s->table); c; c = weft__children_next(&s->table, c))
        if (c->state == WEFT__CHILD_RUNS && !tell(c, kill))
            told = false;
    return told;
}

/* One child, or, if that is NULL, all at once, which are as `what` says. */
static void stop(struct weft__supervisor *s, struct weft__child *c, const weft_child *what)
{
    int64_t span = weft__rules_shutdown(what), deadline = later(span);
    bool    kill = span < 0, told = false;

    while (c ? c->state == WEFT__CHILD_RUNS : s->table.running > 0) {
        if (!kill && weft__clock_now() >= deadline) {
            kill = true;
            told = false;
        }
        if (!told)
            told = c ? tell(c, kill) : tell_all(s, kill);
        listen(s, !told ? later(WEFT__RETRY_NS) : kill ? WEFT__NEVER : deadline);
    }
    if (c)
        weft__children_set(&s->table, c, WEFT__CHILD_STOPPED);
}

void weft__supervisor_stop(struct weft__supervisor *s, struct weft__child *c) { stop(s, c, c->what); }

/* In reverse order, down to `first`; those that are to be started again wait for it. */
static void stop_from(struct weft__supervisor *s, struct weft__child *first, bool again)
{
    struct weft__child *c = weft__children_last(&s->table), *before;
    bool                done = !c;

    for (; !done; c = before) {
        before = weft__children_before(&s->table, c);
        done = c == first || !before;
        if (c->state == WEFT__CHILD_RUNS)
            weft__supervisor_stop(s, c);
        if (weft__rules_forgets(s->how, c->what))
            weft__children_remove(&s->table, c);
        else
            weft__children_set(&s->table, c, again ? WEFT__CHILD_WAITS : WEFT__CHILD_STOPPED);
    }
}

static void stop_all(struct weft__supervisor *s)
{
    if (s->how->strategy == WEFT_SIMPLE_DYNAMIC)
        stop(s, NULL, s->how->children);
    else
        stop_from(s, NULL, false);
}

/* ---- starting ------------------------------------------------------------------------------------------- */

static weft_pid spawn(struct weft__spec *spec, const weft_child *what)
{
    weft_options o = what->options;

    if (what->supervisor)
        return weft__supervise(weft__spec_share(spec), what);
    o.link = true;
    return weft_spawn_with(what->fn, what->arg, &o, sizeof o);
}

int weft__supervisor_start(struct weft__supervisor *s, struct weft__child *c, const weft_child *what)
{
    weft_pid who = spawn(c->spec, what);

    if (weft_is_nobody(who))
        return weft_spawn_error();
    weft__children_runs(&s->table, c, who);
    return 0;
}

static int start(struct weft__supervisor *s, struct weft__child *c)
{
    return weft__supervisor_start(s, c, c->what);
}

/* All are in the table. An error: none runs. */
static int start_all(struct weft__supervisor *s)
{
    int error = 0;

    if (s->how->strategy == WEFT_SIMPLE_DYNAMIC)
        return 0;
    for (size_t i = 0; i < s->how->count; i++) {
        struct weft__child *c = weft__children_add(&s->table, s->spec, &s->how->children[i]);
        if (!c)
            return WEFT_EMEMORY;
        weft__spec_share(s->spec);
    }
    for (struct weft__child *c = weft__children_first(&s->table); c && !error;
         c = weft__children_next(&s->table, c))
        error = start(s, c);
    if (error)
        stop_all(s);
    return error;
}

/* ---- starting again ------------------------------------------------------------------------------------- */

static void again_together(struct weft__supervisor *s);
static void again_alone(struct weft__supervisor *s, struct weft__child *c);

/* It has ended, or could not be started, for that reason: once more, unless that is too often. What could not be started
 * is tried again from the loop, so that others are heard in between. */
static void fail(struct weft__supervisor *s, struct weft__child *c, int reason)
{
    bool    group = weft__rules_is_group(s->how), has_ended = c->state == WEFT__CHILD_ENDED;
    int64_t now = weft__clock_now();

    weft__children_set(&s->table, c, WEFT__CHILD_STOPPED);
    if (weft__rules_too_often(s->how, &s->past, now)) {
        weft__quit_because(s, c, reason, has_ended);
        end_with(s, WEFT_ESTOP);
        return;
    }
    int64_t delay = weft__rules_delay(s->how, group ? &s->delay : &c->delay, now);
    if (group) {
        stop_from(s, s->how->strategy == WEFT_ONE_FOR_ALL ? NULL : c, true);
        s->due = later(delay);
    } else {
        weft__children_wait(&s->table, c, later(delay));
    }
    if (!has_ended)
        weft_yield();
    else if (!delay && group)
        again_together(s);
    else if (!delay)
        again_alone(s, c);
}

static void again_together(struct weft__supervisor *s)
{
    s->due = WEFT__NEVER;
    for (struct weft__child *c = weft__children_first(&s->table); c && !s->over;
         c = weft__children_next(&s->table, c)) {
        if (c->state != WEFT__CHILD_WAITS)
            continue;
        int error = start(s, c);
        if (error) {
            fail(s, c, error);
            return;
        }
        c->restarts++;
    }
}

static void again_alone(struct weft__supervisor *s, struct weft__child *c)
{
    int error = start(s, c);

    if (error)
        fail(s, c, error);
    else
        c->restarts++;
}

static void think_of(struct weft__supervisor *s, struct weft__child *c)
{
    if (weft__rules_restarts(c->what->restart, c->reason))
        fail(s, c, c->reason);
    else if (weft__rules_forgets(s->how, c->what))
        weft__children_remove(&s->table, c);
    else
        weft__children_set(&s->table, c, WEFT__CHILD_STOPPED);
}

static int64_t next_due(const struct weft__supervisor *s)
{
    int64_t alone = s->table.first_due ? s->table.first_due->due : WEFT__NEVER;

    return alone < s->due ? alone : s->due;
}

static void start_due(struct weft__supervisor *s)
{
    if (next_due(s) == WEFT__NEVER || weft__clock_now() < next_due(s))
        return;
    if (s->due == next_due(s))
        again_together(s);
    else
        again_alone(s, s->table.first_due);
}

/* ---- its life ------------------------------------------------------------------------------------------- */

static void clear_away(void *supervisor)
{
    struct weft__supervisor *s = supervisor;

    be_root_no_more(s);
    weft__children_free(&s->table);
    weft__memory_put(s->past.at);
    weft__spec_put(s->spec);
}

/* From here on nothing that others do ends it but weft_kill. NULL: no memory. */
static struct weft__supervisor *make(weft_pid parent, const struct weft__begin *begin)
{
    struct weft__supervisor *s = weft_alloc(sizeof *s);

    if (!s)
        return NULL;
    *s = (struct weft__supervisor){.how = begin->how,
                                   .self = weft_self(),
                                   .parent = begin->linked ? parent : WEFT_NOBODY,
                                   .due = WEFT__NEVER};
    weft__children_make(&s->table);
    if (weft__wait_reserve(weft__lane()->self) || weft_defer(clear_away, s))
        return NULL;
    s->spec = weft__spec_share(begin->spec);
    weft_trap(true);
    if (begin->root)
        be_root(s);
    return s;
}

/* Answers whoever began it. An error: its parent is not to end with it, but to hear of it by the answer. */
static struct weft__supervisor *begin(weft_msg *m)
{
    weft_msg                *answer = weft_make(WEFT__ANSWER);
    struct weft__supervisor *s = answer ? make(weft_sender(m), weft_get(m, WEFT__BEGIN)) : NULL;
    int                      error = s ? start_all(s) : WEFT_EMEMORY;

    if (error)
        weft_unlink(weft_sender(m));
    if (answer) {
        ((struct weft__answer *)weft_edit(answer, WEFT__ANSWER))->error = error;
        weft_reply_pass(m, answer);
    }
    weft_drop(m);
    return error ? NULL : s;
}

static void serve(struct weft__supervisor *s)
{
    while (!s->over) {
        struct weft__child *c = weft__children_news(&s->table);
        if (c) {
            think_of(s, c);
            continue;
        }
        weft_msg *m = weft_receive_within(until(next_due(s)), WEFT_EXIT, WEFT__ORDER, WEFT_ANY);
        if (m && weft_is(m, WEFT_EXIT))
            hear(s, weft_get(m, WEFT_EXIT));
        else if (m && weft_is(m, WEFT__ORDER))
            weft__orders_take(s, m);
        if (!s->over)
            start_due(s);
    }
}

static void supervisor(void *unused)
{
    struct weft__supervisor *s = begin(weft_keep(weft_receive(WEFT__BEGIN)));

    (void)unused;
    if (!s)
        return;
    serve(s);
    stop_all(s);
    weft__quit(s);
}

weft_fn *weft__supervisor_fn(void) { return supervisor; }
