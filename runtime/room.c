/* room.c - waiting for room in a mailbox that is full: see gate.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/symbols.h"
#include "runtime/gate.h"

static pthread_mutex_t waits = PTHREAD_MUTEX_INITIALIZER;

/* ---- who waits, under the lock of the gate --------------------------------------------------------------------- */

/* Takes a guest out of the queue; its wait is over. */
static struct weft__guest *part(struct weft__gate *g, struct weft__guest **at)
{
    struct weft__guest *guest = *at;

    *at = guest->next;
    if (g->guests_last == guest)
        g->guests_last = at == &g->guests
                             ? NULL
                             : (struct weft__guest *)((char *)at - offsetof(struct weft__guest, next));
    if (guest->home) {
        pthread_mutex_lock(&waits);
        guest->home->waits_for = NULL;
        pthread_mutex_unlock(&waits);
    }
    return guest;
}

struct weft__guest *weft__room_let_in(struct weft__gate *g)
{
    struct weft__guest *lucky = NULL, **last = &lucky;

    while (g->guests && weft__gate_has_room(g, weft__message_bytes(g->guests->message))) {
        struct weft__guest *guest = part(g, &g->guests);
        weft__gate_admit(g, guest->message);
        *last = guest;
        last = &guest->next;
    }
    *last = NULL;
    return lucky;
}

struct weft__guest *weft__room_turn_away(struct weft__gate *g)
{
    struct weft__guest *all = NULL, **last = &all;

    while (g->guests) {
        *last = part(g, &g->guests);
        last = &(*last)->next;
    }
    *last = NULL;
    return all;
}

void weft__room_answer(struct weft__lane *l, struct weft__guest *guest, int result)
{
    while (guest) {
        struct weft__guest *next = guest->next;
        memcpy(guest->answer->small, &result, sizeof result);
        weft__message_address(guest->answer, WEFT__TYPE_RESPONSE, guest->number);
        guest->answer->flags |= WEFT__MSG_TIME; /* if nobody wants it any more, nobody has to know */
        weft__send_quietly(l, guest->who, guest->answer);
        weft__memory_put(guest);
        guest = next;
    }
}

/* ---- waiting for room ------------------------------------------------------------------------------------------ */

/* What a name is made of does not change while its actor lives, and all in a circle wait. */
static void write_name(FILE *text, const char *before, const struct weft__gate *g)
{
    const char *name = g->actor->extra->name;
    char        fn[64];

    if (name)
        fprintf(text, "%s\"%s\"", before, name);
    else
        fprintf(text, "%sactor %llx of %s", before, (unsigned long long)g->pid,
                weft__symbols_name((void *)g->fn, fn, sizeof fn));
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

static void queue_guest(struct weft__gate *g, struct weft__guest *guest)
{
    guest->next = NULL;
    *(g->guests ? &g->guests_last->next : &g->guests) = guest;
    g->guests_last = guest;
}

/* Under the lock: 0, it is in; 1, it is queued; or an error. */
static int knock(struct weft__lane *l, struct weft__gate *g, struct weft__guest *guest, weft_span time,
                 char **circle)
{
    struct weft_msg *dropped = NULL;
    int              error = weft__gate_put(g, guest->message, WEFT_FULL_FAIL, &dropped);

    if (!error)
        weft__gate_ring(l, g);
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
static struct weft__guest *go_away(struct weft__lane *l, weft_pid to, weft_pid who, uint64_t number)
{
    struct weft__gate *g = weft__gate_enter(to);

    if (!g)
        return NULL;
    struct weft__guest **at = &g->guests, *guest = NULL, *lucky = NULL;
    while (*at && ((*at)->number != number || !weft_same((*at)->who, who)))
        at = &(*at)->next;
    if (*at) {
        guest = part(g, at);
        lucky = weft__gate_settle(l, g);
    }
    weft__gate_leave(g);
    weft__room_answer(l, lucky, 0);
    return guest;
}

static void drop_guest(struct weft__lane *l, struct weft__guest *guest)
{
    weft__message_free(l, guest->answer);
    weft__memory_put(guest);
}

static bool withdraw(struct weft__lane *l, weft_pid to, weft_pid who, uint64_t number)
{
    struct weft__guest *guest = go_away(l, to, who, number);

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

static struct weft__guest *new_guest(struct weft__lane *l, struct weft_msg *m)
{
    struct weft__actor *a = l->self;
    struct weft__guest *guest = weft__memory_get(sizeof *guest);

    if (!guest)
        return NULL;
    *guest = (struct weft__guest){.who = {weft__actor_pid(a)},
                                  .message = m,
                                  .answer = weft__request_blank(l),
                                  .home = a->unusual & WEFT__BOUNDED ? weft__gate_of(a) : NULL};
    if (guest->answer && (guest->number = weft__request_open(a)))
        return guest;
    if (guest->answer)
        weft__message_free(l, guest->answer);
    weft__memory_put(guest);
    return NULL;
}

static int pass_and_wait(struct weft__lane *l, weft_pid to, struct weft_msg *m, weft_span time)
{
    struct weft__guest *guest = new_guest(l, m);
    struct weft__gate  *g = guest ? weft__gate_enter(to) : NULL;
    int                 found = !guest ? WEFT_EMEMORY : WEFT_EGONE;
    char               *circle = NULL;

    m->to = to.id;
    if (g) {
        found = knock(l, g, guest, time, &circle);
        if (found > 0) {
            uint64_t number = guest->number; /* as soon as the lock is open the guest may be gone */
            weft__gate_leave(g);
            return wait_for_room(l, to, number, time);
        }
        weft__gate_leave(g);
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

    if (weft__lane_calls(l))
        weft__misuse(WEFT_EINVALID, "a wait for room in a guard, a destroy or a deferred function");
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
