/* look.c - what one actor does and waits for, seen from outside while all runs on.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * What an actor is at belongs to whoever runs it, and nothing is written down for others to read. But one that waits is
 * in nobody's hands, and can be taken from PARKED as a sender would take it (inbox.h I2). Who looks does so, reads, and
 * parks it again under the same word, as if nothing had been: its wait, its time and since when it waits are as before.
 * If something came meanwhile it can not be parked, and is woken instead, as that sender would have done. A timer that
 * goes off meanwhile comes again. A thread is woken in any case, as its time may be over, which it tells by PARKED too:
 * it finds nothing, and waits on.
 *
 * One looks at a time, or one who looks would hide an actor that waits from the other.
 *
 * Of one that runs, or is about to, this tells what never changes, and a guess at which of both it is.
 */
#include <pthread.h>
#include <string.h>
#include <weft/case.h>

#include "base/symbols.h"
#include "base/text.h"
#include "runtime/gate.h"
#include "sched/clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- what it waits for ---------------------------------------------------------------------------------- */

static const char *type_name(const weft_type *type)
{
    return type == &weft__request_type ? "a response" : type->name;
}

/* One more of a list. What is no longer readable is told by dots. */
static void add_item(struct weft__text *t, char *room, const char *item)
{
    size_t left = (size_t)(t->end - t->at), need = strlen(item) + (*room ? 2 : 0);

    if (left < 5) /* dots are there already, or as good as */
        return;
    if (need + 5 > left) { /* room for the dots, whatever comes next */
        weft__text_add(t, *room ? ", ..." : "...");
        t->end = t->at;
        return;
    }
    weft__text_add(t, *room ? ", " : "");
    weft__text_add(t, item);
}

static const char *case_name(const weft_case *c) { return c->of.id ? "a response" : type_name(c->type); }

/* Each name once: a type has many cases where its guards differ. */
static bool was_before(const weft_cases *set, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(case_name(&set->list[j]), case_name(&set->list[i])) == 0)
            return true;
    return false;
}

static void add_cases(struct weft__text *t, char *room, const weft_cases *set)
{
    for (; set; set = set->or_else)
        for (size_t i = 0; i < set->count && t->at < t->end; i++)
            if (!was_before(set, i))
                add_item(t, room, case_name(&set->list[i]));
}

static void name_wanted(const struct weft__actor *a, char *room, size_t size)
{
    struct weft__text t = weft__text_in(room, size);

    if (a->type_count == 1)
        add_item(&t, room, type_name(a->type));
    else if (!a->type_count)
        add_cases(&t, room, a->cases);
    for (unsigned i = 0; a->type_count > 1 && i < a->type_count; i++)
        add_item(&t, room, type_name(a->types[i]));
    if (a->phase == WEFT__REACTING && a->unusual & WEFT__THENS) /* their handlers run in between */
        add_item(&t, room, "a response");
}

/* Whose room, or whose response, if it waits for nothing else. */
static weft_pid waits_at(const struct weft__actor *a)
{
    bool knocks = a->extra && a->extra->knocks_at.id;

    if (a->type_count != 1 || a->type != &weft__request_type || a->phase == WEFT__REACTING)
        return WEFT_NOBODY;
    return knocks ? a->extra->knocks_at : weft__request_whom(a);
}

/* ---- one that waits: it is ours -------------------------------------------------------------------------- */

static const char *state_of(const struct weft__actor *a)
{
    if (a->phase == WEFT__REACTING)
        return "reacts";
    if (a->type_count == 1 && a->type == &weft__request_type)
        return a->extra->knocks_at.id ? "knocks" : "awaits";
    return a->type_count || a->cases ? "receives" : "sleeps";
}

static size_t length(const struct weft_msg *m)
{
    size_t n = 0;

    for (; m; m = m->next)
        n++;
    return n;
}

static size_t messages(struct weft__actor *a)
{
    size_t n = weft__stash_count(&a->stash) + length(a->in);

    if (a->unusual & WEFT__MORE)
        n += length(a->extra->more);
    if (a->unusual & WEFT__BOUNDED) {
        struct weft__gate *g = weft__gate_of(a);
        pthread_mutex_lock(&g->lock); /* nobody who has it waits for us */
        n += g->messages;
        weft__gate_leave(g);
    }
    return n;
}

static weft_span span(int64_t ns) { return (weft_span){ns > 0 ? ns : 0}; }

static void read_times(const struct weft__actor *a, weft_view *view)
{
    bool    thread = a->unusual & WEFT__THREAD;
    int64_t now = thread ? weft__clock_real_after(0) : weft__clock_now(), until = WEFT__NEVER;

    /* relaxed: it was its owner's, who is us. */
    if (thread || a->unusual & WEFT__TIMED)
        until = atomic_load_explicit(&a->extra->deadline, memory_order_relaxed);
    view->waiting = span(now - a->since);
    view->left = until == WEFT__NEVER ? WEFT_FOREVER : span(until - now);
}

static void copy_text(char *to, size_t size, const char *from)
{
    struct weft__text t = weft__text_in(to, size);

    weft__text_add(&t, from);
}

/* For whom it waits is told later, as that needs a name. */
static void read_all(struct weft__actor *a, weft_view *view)
{
    view->known = true;
    copy_text(view->state, sizeof view->state, state_of(a));
    name_wanted(a, view->waits_for, sizeof view->waits_for);
    view->waits_at = waits_at(a);
    read_times(a, view);
    view->mailbox = messages(a);
    if (a->extra) {
        weft__bonds_count(a, &view->links, &view->monitors);
        if (a->extra->name)
            copy_text(view->name, sizeof view->name, a->extra->name);
    }
    if (a->stack) {
        view->stack_used = weft__stack_used(a->stack);
        view->stack_bytes = weft__stack_room(a->stack);
    }
}

/* False: it does not wait. */
static bool look_at_waiting(struct weft__actor *a, uint64_t pid, weft_view *view)
{
    pthread_mutex_lock(&lock);
    /* relaxed: it is only compared, until the exchange holds. */
    uint64_t word = atomic_load_explicit(&a->box.word, memory_order_relaxed);
    bool ours = weft__inbox_is_parked(word, weft__actor_generation(pid)) && weft__inbox_unpark(&a->box, word);
    if (ours) {
        read_all(a, view);
        if (a->unusual & WEFT__THREAD || !weft__inbox_park(&a->box, word))
            weft__loop_wake(weft__lane(), a);
    }
    pthread_mutex_unlock(&lock);
    return ours;
}

/* ---- one that does not ----------------------------------------------------------------------------------- */

/* A guess: the byte is its owner's, who writes it plainly, and nothing is made of it but a word for people. */
__attribute__((noinline, no_sanitize("thread"))) static bool seems_to_run(const struct weft__actor *a)
{
    return *(const volatile uint8_t *)&a->phase == WEFT__RUNNING;
}

/* acquire, all: see weft__gate_enter; what is read of a gate is checked by who asks, as it may be another's by now. */
static weft_fn *function_of(struct weft__actor *a, uint64_t pid)
{
    if (!(pid & WEFT__KIND_BOUNDED))
        return atomic_load_explicit(&a->fn, memory_order_acquire);
    struct weft__gate *g = atomic_load_explicit(&a->gate, memory_order_acquire);
    if (atomic_load_explicit(&a->pid, memory_order_acquire) != pid)
        return NULL;
    return atomic_load_explicit(&g->fn, memory_order_acquire);
}

/* ---- all together ---------------------------------------------------------------------------------------- */

static bool knocks(const weft_view *view) { return strcmp(view->state, "knocks") == 0; }

static const char *what_of(const weft_view *view) { return knocks(view) ? "room at " : "a response of "; }

/* "a response" is as good, if that has no name. */
static void name_whom(weft_view *view)
{
    struct weft__text t = weft__text_in(view->waits_for, sizeof view->waits_for);
    char              name[44];

    if (!weft__names_of(view->waits_at, name, sizeof name)) {
        weft__text_add(&t, knocks(view) ? "room" : "a response");
        return;
    }
    weft__text_add(&t, what_of(view));
    weft__text_add(&t, "\"");
    weft__text_add(&t, name);
    weft__text_add(&t, "\"");
}

void weft__look_add_pid(weft_view *view)
{
    if (!view->waits_at.id || strchr(view->waits_for, '"'))
        return;
    struct weft__text t = weft__text_in(view->waits_for, sizeof view->waits_for);
    weft__text_add(&t, what_of(view));
    weft__text_number(&t, view->waits_at.id, 16);
}

int weft__look(weft_pid who, weft_view *view, weft_fn **fn)
{
    struct weft__actor *a = weft__actor_find(who);

    *view = (weft_view){.who = who};
    if (!a || weft__actor_pid(a) != who.id)
        return WEFT_EGONE;
    *fn = function_of(a, who.id); /* before the last look at whether it lives */
    bool waits = look_at_waiting(a, who.id, view);
    if (!waits && seems_to_run(a))
        copy_text(view->state, sizeof view->state, "runs");
    else if (!waits)
        copy_text(view->state, sizeof view->state, "ready");
    if (!waits && !weft__actor_lives(a, who))
        return WEFT_EGONE;
    if (view->waits_at.id)
        name_whom(view);
    /* relaxed: one that is named just now may have had no name. */
    if (!*view->name && atomic_load_explicit(&a->named, memory_order_relaxed))
        weft__names_of(who, view->name, sizeof view->name);
    return 0;
}

void weft__look_function(weft_fn *fn, char *room, size_t size)
{
    if (fn)
        weft__symbols_name((void *)fn, room, size);
    else
        copy_text(room, size, "thread");
}

int weft_look(weft_pid who, weft_view *view, size_t size)
{
    weft_view whole;
    weft_fn  *fn;
    int       error = weft__look(who, &whole, &fn);

    if (error)
        return error;
    weft__look_add_pid(&whole);
    if (size > offsetof(weft_view, function))
        weft__look_function(fn, whole.function, sizeof whole.function);
    if (view)
        memcpy(view, &whole, size < sizeof whole ? size : sizeof whole);
    return 0;
}

/* ---- who there is ----------------------------------------------------------------------------------------- */

size_t weft__look_slots(void) { return atomic_load_explicit(&weft__actor_count, memory_order_acquire); }

weft_pid weft__look_into(size_t slot)
{
    struct weft__actor *a = weft__actor_block((weft_pid){slot});

    /* acquire: who opened it has set its pid before; if it was another's since, that is as good. */
    if (atomic_load_explicit(&a->box.word, memory_order_acquire) == WEFT__INBOX_CLOSED)
        return WEFT_NOBODY;
    return (weft_pid){weft__actor_pid(a)};
}

size_t weft_list(weft_pid *to, size_t room)
{
    size_t slots = weft__look_slots(), n = 0;

    for (size_t i = 0; i < slots; i++) {
        weft_pid who = weft__look_into(i);
        if (who.id && to && n < room)
            to[n] = who;
        n += who.id != 0;
    }
    return n;
}
