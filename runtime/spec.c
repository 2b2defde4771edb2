/* spec.c - specifications of supervisors and children: whether they make sense, and copies of them.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A copy is one block, however deep the tree: it is laid out twice, first without memory, to learn its size.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <weft/bound.h>

#include "base/limits.h"
#include "base/memory.h"
#include "runtime/children.h"

/* ---- does it make sense? -------------------------------------------------------------------------------- */

static int check(const weft_supervisor *how, unsigned depth);

/* The argument of a pattern may come later. */
static int check_child(const weft_child *child, bool is_pattern, unsigned depth)
{
    if (!child->fn == !child->supervisor || (unsigned)child->restart > WEFT_TEMPORARY)
        return WEFT_EINVALID;
    if (child->supervisor)
        return check(child->supervisor, depth + 1);
    return child->options.copy_bytes && !child->arg && !is_pattern ? WEFT_EINVALID : 0;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In order equal ones are neighbours. */
static int check_sorted(const char **ids, size_t n)
{
    qsort(ids, n, sizeof *ids, compare_ids);
    for (size_t i = 1; i < n; i++)
        if (strcmp(ids[i - 1], ids[i]) == 0)
            return WEFT_EINVALID;
    return 0;
}

/* Each id is there once. A function of its own: in its caller, which calls itself, its room would be there many times. */
static __attribute__((noinline)) int check_ids(const weft_supervisor *how)
{
    enum { FEW = 32 };
    const char  *few[FEW];
    const char **ids = few;
    size_t       n = 0;

    if (how->count > FEW)
        ids = how->count < SIZE_MAX / sizeof *ids ? weft__memory_get(how->count * sizeof *ids) : NULL;
    if (!ids)
        return WEFT_EMEMORY;
    for (size_t i = 0; i < how->count; i++)
        if (how->children[i].id)
            ids[n++] = how->children[i].id;
    int error = check_sorted(ids, n);
    if (ids != few)
        weft__memory_put(ids);
    return error;
}

static int check(const weft_supervisor *how, unsigned depth)
{
    if (depth > WEFT__SUPERVISORS_DEEP || (unsigned)how->strategy > WEFT_SIMPLE_DYNAMIC)
        return WEFT_EINVALID;
    if (how->max_restarts < -1 || how->period.ns < 0 || how->backoff.ns < 0 || how->backoff_max.ns < 0)
        return WEFT_EINVALID;
    if ((how->count && !how->children) || (how->strategy == WEFT_SIMPLE_DYNAMIC && how->count != 1))
        return WEFT_EINVALID;
    int error = check_ids(how);
    for (size_t i = 0; !error && i < how->count; i++)
        error = check_child(&how->children[i], how->strategy == WEFT_SIMPLE_DYNAMIC, depth);
    return error;
}

int weft__spec_check(const weft_supervisor *how) { return how ? check(how, 0) : WEFT_EINVALID; }

int weft__spec_check_child(const weft_child *child)
{
    return child ? check_child(child, false, 0) : WEFT_EINVALID;
}

/* ---- a copy --------------------------------------------------------------------------------------------- */

struct block {
    char  *at; /* NULL: it is only measured */
    size_t used;
};

static void *put(struct block *b, const void *from, size_t bytes)
{
    enum { ALIGN = _Alignof(max_align_t) };
    size_t here = b->used, most = PTRDIFF_MAX - ALIGN;

    b->used = bytes > most - here ? most : here + (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return b->at && from ? memcpy(b->at + here, from, bytes) : NULL;
}

static const char *put_text(struct block *b, const char *from)
{
    return from ? put(b, from, strlen(from) + 1) : NULL;
}

static weft_supervisor put_how(struct block *b, const weft_supervisor *from);

static weft_child put_child(struct block *b, const weft_child *from)
{
    weft_child child = *from;

    child.id = put_text(b, from->id);
    child.options.name = put_text(b, from->options.name);
    child.options.bound = from->options.bound ? put(b, from->options.bound, sizeof(weft_bound)) : NULL;
    child.options.link = false;
    child.options.monitor = NULL;
    if (from->options.copy_bytes && from->arg)
        child.arg = put(b, from->arg, from->options.copy_bytes);
    if (from->supervisor) {
        weft_supervisor how = put_how(b, from->supervisor);
        child.supervisor = put(b, &how, sizeof how);
    }
    return child;
}

static weft_supervisor put_how(struct block *b, const weft_supervisor *from)
{
    weft_supervisor how = *from;
    weft_child     *children = put(b, from->children, from->count * sizeof *children);

    how.name = put_text(b, from->name);
    how.children = children;
    for (size_t i = 0; i < from->count; i++) {
        weft_child child = put_child(b, &from->children[i]);
        if (how.strategy == WEFT_SIMPLE_DYNAMIC)
            child.id = NULL; /* they would all have it */
        if (children)
            children[i] = child;
    }
    return how;
}

struct weft__spec *weft__spec_copy(const weft_supervisor *how)
{
    struct block block = {0};

    put(&block, NULL, sizeof(struct weft__spec));
    put_how(&block, how);
    struct weft__spec *spec = weft__memory_get(block.used);
    if (!spec)
        return NULL;
    block = (struct block){.at = (char *)spec};
    put(&block, NULL, sizeof *spec);
    spec->how = put_how(&block, how);
    atomic_init(&spec->users, 1);
    return spec;
}

struct weft__spec *weft__spec_copy_child(const weft_child *child)
{
    return weft__spec_copy(&(weft_supervisor){.children = child, .count = 1});
}

struct weft__spec *weft__spec_share(struct weft__spec *spec)
{
    /* relaxed: who shares it has it. */
    atomic_fetch_add_explicit(&spec->users, 1, memory_order_relaxed);
    return spec;
}

void weft__spec_put(struct weft__spec *spec)
{
    /* release, and acquire: who frees it does so after all that others read there. */
    if (spec && atomic_fetch_sub_explicit(&spec->users, 1, memory_order_acq_rel) == 1)
        weft__memory_put(spec);
}
