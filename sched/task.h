/* task.h - private to weft. What the scheduler runs: something with a place in a queue.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#ifndef WEFT__TASK_H
#define WEFT__TASK_H

#include <stddef.h>

/* Belongs to whoever queued it until it is taken from the queue. */
struct weft__task {
    struct weft__task *next;
};

/* First in, first out; one owner. Zero is empty. */
struct weft__queue {
    struct weft__task *first, *last;
};

static inline void weft__queue_push(struct weft__queue *q, struct weft__task *t)
{
    t->next = NULL;
    if (q->first)
        q->last->next = t;
    else
        q->first = t;
    q->last = t;
}

static inline struct weft__task *weft__queue_pop(struct weft__queue *q)
{
    struct weft__task *t = q->first;

    if (t)
        q->first = t->next;
    return t;
}

/* All of `list`, which is left empty, goes behind what is there. */
static inline void weft__queue_append(struct weft__queue *q, struct weft__queue *list)
{
    if (!list->first)
        return;
    if (q->first)
        q->last->next = list->first;
    else
        q->first = list->first;
    q->last = list->last;
    list->first = NULL;
}

#endif
