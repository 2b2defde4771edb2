/* types.c - the identity of message types: name and size, interned to a small number.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Each file that declares a type has a descriptor of its own; all with one name and size get one number. The table
 * keeps a copy, so a descriptor may go away with its library.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <weft/letters.h>
#include <weft/signal.h>
#include <weft/supervisor.h>

#include "base/memory.h"
#include "runtime/actor.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static weft_type       own[] = {
          [WEFT__TYPE_ANY] = {"WEFT_ANY", 0, WEFT_ANY, WEFT__TYPE_ANY, NULL},
          [WEFT__TYPE_RESPONSE] = {"(a response)", 0, 0, WEFT__TYPE_RESPONSE, NULL},
          [WEFT__TYPE_BELL] = {"(a bell)", 0, 0, WEFT__TYPE_BELL, NULL},
          [WEFT__TYPE_SIGNAL] = {"(a signal)", 0, 0, WEFT__TYPE_SIGNAL, NULL},
          [WEFT__TYPE_FAILED] = {"WEFT_FAILED", sizeof(weft_body_WEFT_FAILED), WEFT_FAILED, WEFT__TYPE_FAILED,
                                 NULL},
          [WEFT__TYPE_DEAD_LETTER] = {"WEFT_DEAD_LETTER", sizeof(weft_body_WEFT_DEAD_LETTER), WEFT_DEAD_LETTER,
                                      WEFT__TYPE_DEAD_LETTER, NULL},
          [WEFT__TYPE_DOWN] = {"WEFT_DOWN", sizeof(weft_body_WEFT_DOWN), WEFT_DOWN, WEFT__TYPE_DOWN, NULL},
          [WEFT__TYPE_EXIT] = {"WEFT_EXIT", sizeof(weft_body_WEFT_EXIT), WEFT_EXIT, WEFT__TYPE_EXIT, NULL},
          [WEFT__TYPE_SIGNALLED] = {"WEFT_SIGNALLED", sizeof(weft_body_WEFT_SIGNALLED), WEFT_SIGNALLED,
                                    WEFT__TYPE_SIGNALLED, NULL},
          [WEFT__TYPE_GAVE_UP] = {"WEFT_GAVE_UP", sizeof(weft_body_WEFT_GAVE_UP), WEFT_GAVE_UP, WEFT__TYPE_GAVE_UP,
                                  NULL},
};
/* An entry is written under the lock before its number is known to anybody, and never changes but for destroy. */
static _Atomic(weft_type *) table[WEFT__TYPES_MAX] = {
    [WEFT__TYPE_ANY] = &own[WEFT__TYPE_ANY],
    [WEFT__TYPE_RESPONSE] = &own[WEFT__TYPE_RESPONSE],
    [WEFT__TYPE_BELL] = &own[WEFT__TYPE_BELL],
    [WEFT__TYPE_SIGNAL] = &own[WEFT__TYPE_SIGNAL],
    [WEFT__TYPE_FAILED] = &own[WEFT__TYPE_FAILED],
    [WEFT__TYPE_DEAD_LETTER] = &own[WEFT__TYPE_DEAD_LETTER],
    [WEFT__TYPE_DOWN] = &own[WEFT__TYPE_DOWN],
    [WEFT__TYPE_EXIT] = &own[WEFT__TYPE_EXIT],
    [WEFT__TYPE_SIGNALLED] = &own[WEFT__TYPE_SIGNALLED],
    [WEFT__TYPE_GAVE_UP] = &own[WEFT__TYPE_GAVE_UP],
};
static unsigned count = WEFT__TYPE_LAST; /* under lock: the last number given */

static bool same(const weft_type *a, const weft_type *b)
{
    return a->bytes == b->bytes && strcmp(a->name, b->name) == 0;
}

static unsigned find(const weft_type *type)
{
    for (unsigned id = WEFT__TYPE_INNER + 1; id <= count; id++)
        if (same(atomic_load_explicit(&table[id], memory_order_relaxed), type)) /* relaxed: under lock */
            return id;
    return 0;
}

/* In one switch they would be one case. */
static void check_label(const weft_type *type)
{
    for (unsigned id = WEFT__TYPE_ANY + 1; type->tag && id <= count; id++) {
        const weft_type *other = atomic_load_explicit(&table[id],
                                                      memory_order_relaxed); /* relaxed: under lock */
        if (other->tag == type->tag)
            fprintf(stderr,
                    "weft: message types %s and %s have the same case label: move one declaration to another "
                    "line\n",
                    other->name, type->name);
    }
}

static unsigned add(const weft_type *type)
{
    size_t     length = strlen(type->name) + 1;
    weft_type *copy = count + 1 < WEFT__TYPES_MAX ? weft__memory_get(sizeof *copy + length) : NULL;

    if (!copy)
        return 0;
    check_label(type);
    *copy = *type;
    copy->name = memcpy(copy + 1, type->name, length);
    copy->id = ++count;
    /* release: whoever has the number, by way of `id` below, sees the entry. */
    atomic_store_explicit(&table[count], copy, memory_order_release);
    return count;
}

/* Two files that disagree on the tag of one type would send messages that match and then fall to `default`. */
static void check_tag(const weft_type *known, const weft_type *type)
{
    if (known->tag && type->tag && known->tag != type->tag)
        fprintf(stderr,
                "weft: message type %s has two case labels in this program: declare it on one line, in "
                "one header that all its users include\n",
                type->name);
}

static unsigned intern(weft_type *type)
{
    if (!type->name)
        return 0;
    if (strcmp(type->name, own[WEFT__TYPE_ANY].name) == 0)
        return WEFT__TYPE_ANY; /* of whatever size */
    pthread_mutex_lock(&lock);
    unsigned id = find(type);
    if (id) {
        weft_type *known = atomic_load_explicit(&table[id], memory_order_relaxed);
        check_tag(known, type);
        /* release, and acquire in weft__types_destroy: a file that knows how to destroy may come last. */
        if (!__atomic_load_n(&known->destroy, __ATOMIC_RELAXED) && type->destroy)
            __atomic_store_n(&known->destroy, type->destroy, __ATOMIC_RELEASE);
    } else {
        id = add(type);
    }
    pthread_mutex_unlock(&lock);
    return id;
}

unsigned weft__types_id(weft_type *type)
{
    /* acquire: pairs with the store below; who knows the number may look into the table. */
    unsigned id = __atomic_load_n(&type->id, __ATOMIC_ACQUIRE);

    if (WEFT__LIKELY(id))
        return id;
    id = intern(type);
    if (id)
        __atomic_store_n(&type->id, id, __ATOMIC_RELEASE);
    return id;
}

bool weft__types_owns(unsigned id) { return __atomic_load_n(&weft__types_of(id)->destroy, __ATOMIC_ACQUIRE); }

void weft__types_call(void (*destroy)(void *), void *body)
{
    struct weft__lane  *l = weft__lane_need();
    struct weft__actor *a = l ? l->self : NULL;
    bool                called = a && a->unusual & WEFT__CALLED;

    if (l)
        l->destroying++;
    if (a)
        a->unusual |= WEFT__CALLED;
    destroy(body);
    if (a && !called)
        a->unusual &= ~(uint32_t)WEFT__CALLED;
    if (l)
        l->destroying--;
}

void weft__types_destroy(unsigned id, void *body)
{
    void (*destroy)(void *) = __atomic_load_n(&weft__types_of(id)->destroy, __ATOMIC_ACQUIRE);

    if (destroy)
        weft__types_call(destroy, body);
}

const weft_type *weft__types_of(unsigned id)
{
    return atomic_load_explicit(&table[id], memory_order_acquire);
}
