/* names.c - the registry: at most one actor a name.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Two hash tables over the same entries, behind one lock: by name, to look up, and by owner, to let go when it ends.
 *
 * An actor that ends looks whether it was ever named, and only then comes here. Who names it sets `named` and then
 * looks whether it has closed its mailbox; it closes, and then looks at `named`. All four are sequentially
 * consistent, so at least one sees the other (pair N): no name outlives its owner.
 */
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "runtime/actor.h"

enum { NAME_MAX = 255, FIRST_ROOM = 64 };

struct entry {
    struct entry *next_name, *next_owner,
        **owner_at; /* what points to it there: an actor may have many names */
    uint64_t hash;
    weft_pid who;
    char     name[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry  **by_name, **by_owner; /* under lock, as all below; `room` chains each, a power of two */
static size_t          room, used;

static uint64_t hash_name(const char *name) /* FNV-1a */
{
    uint64_t h = 14695981039346656037u;

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 1099511628211u;
    return h ^ h >> 32;
}

static size_t hash_owner(weft_pid who) { return (who.id * 0x9E3779B97F4A7C15u) >> 32; }

static void link_entry(struct entry *e)
{
    struct entry **n = &by_name[e->hash & (room - 1)], **o = &by_owner[hash_owner(e->who) & (room - 1)];

    e->next_name = *n;
    *n = e;
    e->next_owner = *o;
    e->owner_at = o;
    if (*o)
        (*o)->owner_at = &e->next_owner;
    *o = e;
}

/* Twice as many chains; without memory they get longer instead. */
static void grow(void)
{
    size_t         before = room, more = room ? room * 2 : FIRST_ROOM;
    struct entry **all = by_name, **names = weft__memory_get(more * sizeof *names),
                 **owners = names ? weft__memory_get(more * sizeof *owners) : NULL;

    if (!owners) {
        weft__memory_put(names);
        return;
    }
    memset(names, 0, more * sizeof *names);
    memset(owners, 0, more * sizeof *owners);
    weft__memory_put(by_owner);
    by_name = names;
    by_owner = owners;
    room = more;
    for (size_t i = 0; i < before; i++)
        for (struct entry *e = all[i], *next; e; e = next) {
            next = e->next_name;
            link_entry(e);
        }
    weft__memory_put(all);
}

static struct entry *find(const char *name)
{
    uint64_t      hash = hash_name(name);
    struct entry *e = room ? by_name[hash & (room - 1)] : NULL;

    while (e && (e->hash != hash || strcmp(e->name, name) != 0))
        e = e->next_name;
    return e;
}

static void unlink_name(struct entry *e)
{
    struct entry **at = &by_name[e->hash & (room - 1)];

    while (*at != e)
        at = &(*at)->next_name;
    *at = e->next_name;
}

static void unlink_owner(struct entry *e)
{
    *e->owner_at = e->next_owner;
    if (e->next_owner)
        e->next_owner->owner_at = e->owner_at;
}

static void drop(struct entry *e)
{
    unlink_name(e);
    unlink_owner(e);
    used--;
    weft__memory_put(e);
}

/* With the last name the tables go, too. */
static void shrink(void)
{
    if (used)
        return;
    weft__memory_put(by_name);
    weft__memory_put(by_owner);
    by_name = by_owner = NULL;
    room = 0;
}

/* N: told, so that it comes here when it ends. False: it has ended. */
static bool tell_owner(weft_pid who)
{
    struct weft__actor *a = weft__actor_find(who);

    if (!a)
        return false;
    atomic_store_explicit(&a->named, 1, memory_order_seq_cst); /* a wrong one only looks in vain */
    return weft__actor_lives(a, who);
}

/* Whose owner lives. One that has ended is about to come here: whoever heard of its end finds the name free already. */
static struct entry *find_owned(const char *name)
{
    struct entry *e = find(name);

    if (!e || weft__actor_lives(weft__actor_find(e->who), e->who))
        return e;
    drop(e);
    return NULL;
}

static int add(const char *name, size_t size, weft_pid who)
{
    if (find_owned(name))
        return WEFT_EUSED;
    if (used >= room)
        grow();
    struct entry *e = room ? weft__memory_get(sizeof *e + size) : NULL;
    if (!e)
        return WEFT_EMEMORY;
    if (!tell_owner(who)) {
        weft__memory_put(e);
        return WEFT_EGONE;
    }
    *e = (struct entry){.hash = hash_name(name), .who = who};
    memcpy(e->name, name, size);
    link_entry(e);
    used++;
    return 0;
}

/* 0: it is none. */
static size_t length_of(const char *name)
{
    size_t length = name ? strnlen(name, NAME_MAX + 1) : 0;

    return length > NAME_MAX ? 0 : length;
}

int weft_register(const char *name, weft_pid who)
{
    size_t length = length_of(name);

    if (length == 0)
        return WEFT_EINVALID;
    pthread_mutex_lock(&lock);
    int error = add(name, length + 1, who);
    shrink();
    pthread_mutex_unlock(&lock);
    return error;
}

int weft_unregister(const char *name)
{
    if (!length_of(name))
        return WEFT_EINVALID;
    pthread_mutex_lock(&lock);
    struct entry *e = find_owned(name);
    if (e)
        drop(e);
    shrink();
    pthread_mutex_unlock(&lock);
    return e ? 0 : WEFT_EGONE;
}

weft_pid weft_whereis(const char *name)
{
    weft_pid who = WEFT_NOBODY;

    if (!name)
        return who;
    pthread_mutex_lock(&lock);
    struct entry *e = find_owned(name);
    if (e)
        who = e->who;
    shrink();
    pthread_mutex_unlock(&lock);
    return who;
}

void weft__names_forget(weft_pid who)
{
    pthread_mutex_lock(&lock);
    struct entry *e = room ? by_owner[hash_owner(who) & (room - 1)] : NULL;
    while (e) {
        struct entry *next = e->next_owner;
        if (weft_same(e->who, who))
            drop(e);
        e = next;
    }
    shrink();
    pthread_mutex_unlock(&lock);
}

/* Of several the first by the alphabet, so that it is the same each time. */
bool weft__names_of(weft_pid who, char *to, size_t size)
{
    const struct entry *found = NULL;

    pthread_mutex_lock(&lock);
    for (struct entry *e = room ? by_owner[hash_owner(who) & (room - 1)] : NULL; e; e = e->next_owner)
        if (weft_same(e->who, who) && (!found || strcmp(e->name, found->name) < 0))
            found = e;
    if (found) {
        struct weft__text t = weft__text_in(to, size);
        weft__text_add(&t, found->name);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

int weft_send_name_body(const char *name, weft_type *type, const void *body)
{
    if (length_of(name))
        return weft_send_body(weft_whereis(name), type, body);
    if (type)
        weft__message_unsent(type, body);
    return WEFT_EINVALID;
}
