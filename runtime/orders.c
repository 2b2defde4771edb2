/* orders.c - what a supervisor is asked by the calls of weft/supervisor.h, and what it answers.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <string.h>

#include "base/memory.h"
#include "runtime/supervisor.h"

/* It is in the table. */
static int start_new(struct weft__supervisor *s, struct weft__child *c, const weft_child *what,
                     struct weft__answer *answer)
{
    int error = weft__supervisor_start(s, c, what);

    if (error)
        weft__children_remove(&s->table, c);
    else
        answer->number = c->who.id;
    return error;
}

/* What only needs its argument to be started has it in the order, and not in the table. */
static int start_dynamic(struct weft__supervisor *s, const struct weft__order *o, struct weft__answer *answer)
{
    const weft_child   *pattern = s->how->children, *given = o->spec ? o->spec->how.children : NULL;
    weft_child          what = *pattern;
    bool                own = given && pattern->restart != WEFT_TEMPORARY;
    struct weft__child *c;

    if (given && (given->fn || given->supervisor || given->id || pattern->supervisor))
        return WEFT_EINVALID;
    if (given) {
        what.arg = given->arg;
        what.options.copy_bytes = given->options.copy_bytes;
    }
    struct weft__spec *spec = own ? weft__spec_copy_child(&what) : weft__spec_share(s->spec);
    if (!spec)
        return WEFT_EMEMORY;
    if (!(c = weft__children_add(&s->table, spec, own ? spec->how.children : pattern))) {
        weft__spec_put(spec);
        return WEFT_EMEMORY;
    }
    return start_new(s, c, &what, answer);
}

static int start_child(struct weft__supervisor *s, const struct weft__order *o, struct weft__answer *answer)
{
    const weft_child   *what = o->spec ? o->spec->how.children : NULL;
    struct weft__child *c;

    if (s->how->strategy == WEFT_SIMPLE_DYNAMIC)
        return start_dynamic(s, o, answer);
    int error = weft__spec_check_child(what);
    if (error)
        return error;
    if (what->id && weft__children_of_id(&s->table, what->id))
        return WEFT_EUSED;
    if (!(c = weft__children_add(&s->table, o->spec, what)))
        return WEFT_EMEMORY;
    weft__spec_share(o->spec);
    return start_new(s, c, what, answer);
}

static struct weft__child *meant(struct weft__supervisor *s, const struct weft__order *o)
{
    if (o->spec)
        return weft__children_of_id(&s->table, o->spec->how.children->id);
    return weft__children_of_pid(&s->table, (weft_pid){o->number});
}

static int stop_child(struct weft__supervisor *s, const struct weft__order *o)
{
    struct weft__child *c = meant(s, o);

    if (!c)
        return WEFT_EGONE;
    if (c->state == WEFT__CHILD_RUNS)
        weft__supervisor_stop(s, c);
    if (weft__rules_forgets(s->how, c->what))
        weft__children_remove(&s->table, c);
    else
        weft__children_set(&s->table, c, WEFT__CHILD_STOPPED);
    return 0;
}

static int restart_child(struct weft__supervisor *s, const struct weft__order *o, struct weft__answer *answer)
{
    struct weft__child *c = meant(s, o);

    if (!c)
        return WEFT_EGONE;
    if (c->state != WEFT__CHILD_STOPPED)
        return WEFT_EUSED;
    int error = weft__supervisor_start(s, c, c->what);
    answer->number = error ? 0 : c->who.id;
    return error;
}

static int delete_child(struct weft__supervisor *s, const struct weft__order *o)
{
    struct weft__child *c = meant(s, o);

    if (!c)
        return WEFT_EGONE;
    if (c->state != WEFT__CHILD_STOPPED)
        return WEFT_EUSED;
    weft__children_remove(&s->table, c);
    return 0;
}

static weft_child_view view_of(const struct weft__child *c)
{
    weft_child_view view = {.who = c->state == WEFT__CHILD_RUNS ? c->who : WEFT_NOBODY,
                            .restart = c->what->restart,
                            .supervisor = c->what->supervisor,
                            .restarting = c->state == WEFT__CHILD_WAITS,
                            .restarts = c->restarts,
                            .reason = c->reason};

    if (c->what->id)
        memcpy(view.id, c->what->id, strnlen(c->what->id, sizeof view.id - 1));
    return view;
}

static int list(struct weft__supervisor *s, const struct weft__order *o, struct weft__answer *answer)
{
    size_t           n = 0, room = o->number < s->table.count ? o->number : s->table.count;
    weft_child_view *views = room ? weft__memory_get(room * sizeof *views) : NULL;

    if (room && !views)
        return WEFT_EMEMORY;
    for (struct weft__child *c = weft__children_first(&s->table); n < room;
         c = weft__children_next(&s->table, c))
        views[n++] = view_of(c);
    answer->block = views;
    answer->number = s->table.count;
    return 0;
}

static int count(struct weft__supervisor *s, struct weft__answer *answer)
{
    weft_child_counts  *counts = weft__memory_get(sizeof *counts);
    struct weft__child *c = weft__children_first(&s->table);

    if (!counts)
        return WEFT_EMEMORY;
    *counts = (weft_child_counts){.specs = s->table.count, .active = s->table.running};
    if (s->how->strategy == WEFT_SIMPLE_DYNAMIC) {
        counts->specs = 1;
        *(s->how->children->supervisor ? &counts->supervisors : &counts->workers) = s->table.count;
    } else {
        for (; c; c = weft__children_next(&s->table, c))
            ++*(c->what->supervisor ? &counts->supervisors : &counts->workers);
    }
    answer->block = counts;
    return 0;
}

static int obey(struct weft__supervisor *s, const struct weft__order *o, struct weft__answer *answer)
{
    if (s->how->strategy == WEFT_SIMPLE_DYNAMIC &&
        (o->kind == WEFT__ORDER_RESTART || o->kind == WEFT__ORDER_DELETE ||
         (o->kind == WEFT__ORDER_STOP && o->spec)))
        return WEFT_EINVALID; /* its children have no names */
    switch (o->kind) {
    case WEFT__ORDER_START:
        return start_child(s, o, answer);
    case WEFT__ORDER_STOP:
        return stop_child(s, o);
    case WEFT__ORDER_RESTART:
        return restart_child(s, o, answer);
    case WEFT__ORDER_DELETE:
        return delete_child(s, o);
    case WEFT__ORDER_LIST:
        return list(s, o, answer);
    case WEFT__ORDER_COUNT:
        return count(s, answer);
    }
    return WEFT_EINVALID;
}

/* The answer is made first: what was done, and could not be told, would be done twice. Without memory for it the request
 * is dropped, which tells that. */
void weft__orders_take(struct weft__supervisor *s, weft_msg *m)
{
    weft_msg *answer = weft_make(WEFT__ANSWER);

    weft_keep(m);
    if (answer) {
        struct weft__answer *body = weft_edit(answer, WEFT__ANSWER);
        body->error = obey(s, weft_get(m, WEFT__ORDER), body);
        weft_reply_pass(m, answer);
    }
    weft_drop(m);
}
