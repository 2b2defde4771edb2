/* letters.c - dead letters: who wants to know of messages that nobody will read.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Subscribers are few and seldom change: an array behind a lock, and their number beside it, so that nobody who drops a
 * message takes the lock for nothing. The letters are sent without the lock, as a letter that dies in its turn may run
 * the user's code.
 */
#include <pthread.h>
#include <string.h>
#include <weft/letters.h>

#include "base/memory.h"
#include "runtime/actor.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static weft_pid       *subscribers; /* under lock */
static size_t          room;        /* under lock */
static _Atomic size_t  count; /* written under lock; relaxed: who drops a message meanwhile may miss it */

static size_t counted(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

static void set_count(size_t n)
{
    atomic_store_explicit(&count, n, memory_order_relaxed);
    if (n)
        return;
    weft__memory_put(subscribers);
    subscribers = NULL;
    room = 0;
}

static size_t place_of(weft_pid who)
{
    size_t i = 0;

    while (i < counted() && !weft_same(subscribers[i], who))
        i++;
    return i;
}

static int add(weft_pid who)
{
    size_t n = counted();

    if (place_of(who) < n)
        return 0;
    if (n == room) {
        weft_pid *more = weft__memory_get((n * 2 + 4) * sizeof *more);
        if (!more)
            return WEFT_EMEMORY;
        if (n)
            memcpy(more, subscribers, n * sizeof *more);
        weft__memory_put(subscribers);
        subscribers = more;
        room = n * 2 + 4;
    }
    subscribers[n] = who;
    set_count(n + 1);
    return 0;
}

void weft__letters_forget(weft_pid who)
{
    pthread_mutex_lock(&lock);
    size_t n = counted(), i = place_of(who);
    if (i < n) {
        memmove(subscribers + i, subscribers + i + 1, (n - i - 1) * sizeof *subscribers);
        set_count(n - 1);
    }
    pthread_mutex_unlock(&lock);
}

int weft_dead_letters(bool on)
{
    struct weft__lane *l = weft__lane();

    if (!l->self)
        l = weft__thread_actor();
    struct weft__extra *x = l ? weft__actor_extra(l->self) : NULL;
    if (!x)
        return WEFT_EMEMORY;
    weft_pid self = {weft__actor_pid(l->self)};
    x->wants_letters = on;
    if (!on) {
        weft__letters_forget(self);
        return 0;
    }
    pthread_mutex_lock(&lock);
    int error = add(self);
    pthread_mutex_unlock(&lock);
    return error;
}

/* Puts m into an envelope, and that into the mailbox. */
static void send(struct weft__lane *l, weft_pid subscriber, struct weft_msg *letter, struct weft_msg *m,
                 int why)
{
    struct weft_dead_letter about = {m, {m->to}, why};

    letter->type = WEFT__TYPE_DEAD_LETTER;
    letter->flags = WEFT__MSG_LETTER;
    letter->from = 0;
    memcpy(letter->small, &about, sizeof about);
    m->flags |= WEFT__MSG_ENCLOSED;
    m->next = letter;
    weft__send_quietly(l, subscriber, letter);
}

_Static_assert(sizeof(struct weft_dead_letter) <= WEFT__SMALL_BODY, "a letter is one cell");

static weft_pid *copy_subscribers(size_t *n)
{
    pthread_mutex_lock(&lock);
    *n = counted();
    weft_pid *all = *n ? weft__memory_get(*n * sizeof *all) : NULL;
    if (all)
        memcpy(all, subscribers, *n * sizeof *all);
    pthread_mutex_unlock(&lock);
    return all;
}

bool weft__letters_send(struct weft__lane *l, struct weft_msg *m, int why)
{
    size_t n;

    if (WEFT__LIKELY(!counted()) || m->type == WEFT__TYPE_DEAD_LETTER)
        return false;
    if (m->flags & WEFT__MSG_OPEN && weft__request_fail(l, m, why) < 0)
        return false; /* who drops m answers its request by m itself */
    m->flags &= WEFT__MSG_LARGE;
    m->tag = weft__types_of(m->type)->tag;
    weft_pid *all = copy_subscribers(&n);
    if (!all)
        return false;
    for (size_t i = 1; i < n && weft__message_is_sharable(m); i++) {
        struct weft_msg *copy = weft__message_copy(l, m);
        struct weft_msg *letter = copy ? weft__cells_get(&l->messages, &weft__messages) : NULL;
        if (letter) {
            copy->to = m->to;
            send(l, all[i], letter, copy, why);
        } else if (copy) {
            weft__message_free(l, copy);
        }
    }
    struct weft_msg *letter = weft__cells_get(&l->messages, &weft__messages);
    if (letter)
        send(l, all[0], letter, m, why);
    weft__memory_put(all);
    return letter;
}
