/* supervise.c - the calls of weft/supervisor.h: an order goes to the supervisor, and its answer comes back.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * They wait as weft_await does, but what the caller was given by its own lives on. Whoever is ended while it waits loses
 * nothing: what is sent is copied, and belongs to the messages.
 */
#include <string.h>

#include "base/memory.h"
#include "runtime/fast.h"
#include "runtime/supervisor.h"

void weft__supervise_unbegun(void *begin) { weft__spec_put(((struct weft__begin *)begin)->spec); }
void weft__supervise_unheard(void *order) { weft__spec_put(((struct weft__order *)order)->spec); }
void weft__supervise_unread(void *answer) { weft__memory_put(((struct weft__answer *)answer)->block); }

/* The calling actor, which may wait. NULL: no memory to be one. */
static struct weft__lane *who_asks(const char *call)
{
    struct weft__lane *l = weft__lane_need();

    if (!l)
        return NULL;
    if (weft__lane_calls(l))
        weft__misuse(WEFT_EINVALID, "%s in a guard, a destroy or a deferred function", call);
    return l->self ? l : weft__thread_actor();
}

/* ---- asking --------------------------------------------------------------------------------------------- */

/* A request that has not been sent; 0: no memory, and what the body owns is destroyed. */
struct question {
    uint64_t         number;
    struct weft_msg *m;
};

static struct question question(struct weft__lane *l, weft_type *type, const void *body)
{
    struct question q = {.m = weft__message_of(l, type, body)};

    if (!q.m)
        return q;
    q.number = weft__request_open(l->self);
    q.m->from = weft__actor_pid(l->self);
    if (q.number)
        q.m->flags |= q.number << WEFT__MSG_NUMBER_SHIFT | WEFT__MSG_OPEN;
    else
        weft__message_drop(l, q.m, 0);
    return q;
}

/* WAITS. An order that was dropped: there was no memory for its answer. */
static struct weft__answer ask(struct weft__lane *l, weft_pid to, struct question q)
{
    struct weft__answer answer = {0};
    struct weft__actor *a = l->self;

    weft__send_quietly(l, to, q.m);
    struct weft_msg *m = weft__request_wait(weft__lane(), a, q.number, WEFT_FOREVER);
    weft__request_close(a, q.number);
    if (m->type == WEFT__TYPE_FAILED) {
        memcpy(&answer.error, weft__message_body(m), sizeof answer.error);
        if (answer.error == WEFT_EDROPPED)
            answer.error = WEFT_EMEMORY;
    } else {
        memcpy(&answer, weft__message_body(m), sizeof answer);
    }
    weft__message_free(weft__lane(), m);
    return answer;
}

/* ---- starting a supervisor ------------------------------------------------------------------------------ */

static weft_pid spawn_error(int error)
{
    struct weft__lane *l = weft__lane_need();

    if (l)
        l->spawn_error = error;
    return WEFT_NOBODY;
}

/* Without giving way: nobody who is ended here would clear away what is about to be sent. */
static weft_pid spawn(struct weft__lane *l, const weft_options *how)
{
    uint16_t was = l->self->unusual & WEFT__CALLED;

    l->self->unusual |= WEFT__CALLED;
    weft_pid pid = weft_spawn_with(weft__supervisor_fn(), NULL, how, sizeof *how);
    l->self->unusual = (uint16_t)((l->self->unusual & ~(uint16_t)WEFT__CALLED) | was);
    return pid;
}

/* It takes begin.spec. */
static weft_pid supervise(struct weft__lane *l, struct weft__begin begin, const weft_options *how)
{
    struct question q = question(l, &weft_type_WEFT__BEGIN, &begin);

    if (!q.number)
        return spawn_error(WEFT_EMEMORY);
    weft_pid pid = spawn(l, how);
    if (weft_is_nobody(pid)) {
        int error = weft_spawn_error();
        weft__request_close(l->self, q.number);
        q.m->flags &= WEFT__MSG_FLAGS & ~WEFT__MSG_OPEN;
        weft__message_drop(l, q.m, 0);
        return spawn_error(error);
    }
    int error = ask(l, pid, q).error;
    return error ? spawn_error(error) : pid;
}

weft_pid weft__supervise(struct weft__spec *spec, const weft_child *what)
{
    const weft_supervisor *how = what->supervisor;
    weft_options           options = {.name = how->name ? how->name : what->options.name,
                                      .stack_bytes = what->options.stack_bytes,
                                      .link = true};

    return supervise(weft__lane(), (struct weft__begin){.spec = spec, .how = how, .linked = true}, &options);
}

weft_pid weft_supervise(const weft_supervisor *how)
{
    struct weft__lane *l = who_asks("weft_supervise");
    int                error = weft__spec_check(how);

    if (!l || error)
        return spawn_error(error ? error : WEFT_EMEMORY);
    weft_options       options = {.name = how->name, .link = how->link};
    struct weft__begin begin = {.spec = weft__spec_copy(how), .linked = how->link, .root = true};
    if (!begin.spec)
        return spawn_error(WEFT_EMEMORY);
    begin.how = &begin.spec->how;
    return supervise(l, begin, &options);
}

/* ---- orders --------------------------------------------------------------------------------------------- */

/* What can not answer is not asked: it would keep the caller for ever. */
static int check_supervisor(weft_pid who)
{
    struct weft__actor *a = weft__actor_find(who);

    if (who.id & WEFT__KIND_BOUNDED)
        return WEFT_EINVALID;
    if (!a)
        return WEFT_EGONE;
    /* acquire, both: who moves in has its pid before its function (weft__actor_new). So if that was another's, then the
     * pid is another's, too. */
    weft_fn *fn = atomic_load_explicit(&a->fn, memory_order_acquire);
    if (atomic_load_explicit(&a->pid, memory_order_acquire) != who.id)
        return WEFT_EGONE;
    return fn == weft__supervisor_fn() ? 0 : WEFT_EINVALID;
}

/* `about` is copied, or NULL. */
static struct weft__answer order(const char *call, weft_pid supervisor, struct weft__order o,
                                 const weft_child *about)
{
    struct weft__lane *l = who_asks(call);
    int                error = l ? check_supervisor(supervisor) : WEFT_EMEMORY;

    if (error)
        return (struct weft__answer){.error = error};
    if (about && !(o.spec = weft__spec_copy_child(about)))
        return (struct weft__answer){.error = WEFT_EMEMORY};
    struct question q = question(l, &weft_type_WEFT__ORDER, &o);
    if (!q.number)
        return (struct weft__answer){.error = WEFT_EMEMORY};
    return ask(l, supervisor, q);
}

static weft_pid started(struct weft__answer answer)
{
    return answer.error ? spawn_error(answer.error) : (weft_pid){answer.number};
}

weft_pid weft_start_child(weft_pid supervisor, const weft_child *child)
{
    int error = child && (child->fn || child->supervisor) ? weft__spec_check_child(child) : 0;

    if (error)
        return spawn_error(error);
    return started(
        order("weft_start_child", supervisor, (struct weft__order){.kind = WEFT__ORDER_START}, child));
}

int weft_stop_child(weft_pid supervisor, const char *id, weft_pid who)
{
    struct weft__order o = {.kind = WEFT__ORDER_STOP, .number = who.id};

    return order("weft_stop_child", supervisor, o, id ? &(weft_child){.id = id} : NULL).error;
}

weft_pid weft_restart_child(weft_pid supervisor, const char *id)
{
    struct weft__order o = {.kind = WEFT__ORDER_RESTART};

    if (!id)
        return spawn_error(WEFT_EINVALID);
    return started(order("weft_restart_child", supervisor, o, &(weft_child){.id = id}));
}

int weft_delete_child(weft_pid supervisor, const char *id)
{
    struct weft__order o = {.kind = WEFT__ORDER_DELETE};

    if (!id)
        return WEFT_EINVALID;
    return order("weft_delete_child", supervisor, o, &(weft_child){.id = id}).error;
}

long weft_children(weft_pid supervisor, weft_child_view *to, size_t room)
{
    struct weft__order  o = {.kind = WEFT__ORDER_LIST, .number = to ? room : 0};
    struct weft__answer answer = order("weft_children", supervisor, o, NULL);

    if (answer.error)
        return answer.error;
    if (answer.block)
        memcpy(to, answer.block, (answer.number < o.number ? answer.number : o.number) * sizeof *to);
    weft__memory_put(answer.block);
    return (long)answer.number;
}

int weft_count_children(weft_pid supervisor, weft_child_counts *counts)
{
    struct weft__order  o = {.kind = WEFT__ORDER_COUNT};
    struct weft__answer answer = order("weft_count_children", supervisor, o, NULL);

    if (!answer.error && counts)
        memcpy(counts, answer.block, sizeof *counts);
    weft__memory_put(answer.block);
    return answer.error;
}
