/* cells.h - private to weft. Small fixed-size memory, taken and given back by different threads.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      free cells: a magazine or two in each thread, the others in the depot of their kind.
 * Knows not: what a cell is used for, only that its first two words are free while the cell is.
 *
 *   I1  A cell is in one place: used, in one thread's magazines, or in the depot.
 *   I2  A magazine in the depot holds exactly WEFT__MAGAZINE cells, linked by `next`.
 *   I3  The depot's lock is the only way for a cell from thread to thread, so its contents are ordered by it.
 */
#ifndef WEFT__CELLS_H
#define WEFT__CELLS_H

#include <pthread.h>
#include <stddef.h>

#include "base/limits.h"

struct weft__cell {
    struct weft__cell *next;     /* within a magazine */
    struct weft__cell *magazine; /* the next magazine of the depot; only in the first cell of one */
};

/* One a kind of cell. */
struct weft__depot {
    pthread_mutex_t    lock;
    struct weft__cell *full;        /* under lock: magazines */
    struct weft__cell *loose;       /* under lock: what threads left that had less than a magazine */
    unsigned           loose_count; /* under lock: below WEFT__MAGAZINE */
    size_t             cell_bytes;  /* at least two words */
    char *(*carve)(size_t bytes);   /* under lock: fresh zeroed memory, or NULL */
};

/* A thread's own. Zero is empty. */
struct weft__cells {
    struct weft__cell *loaded; /* `count` of them */
    struct weft__cell *spare;  /* a full magazine, or NULL */
    unsigned           count;
};

struct weft__cell *weft__cells_refill(struct weft__cells *c, struct weft__depot *d); /* one cell, or NULL */
void               weft__cells_spill(struct weft__cells *c,
                                     struct weft__depot *d); /* a magazine and the slack are loaded */
/* Gives all of a thread's cells back: its last act. */
void weft__cells_flush(struct weft__cells *c, struct weft__depot *d);

/* A cell, or NULL: no memory. */
static inline void *weft__cells_get(struct weft__cells *c, struct weft__depot *d)
{
    struct weft__cell *cell = c->loaded;

    if (WEFT__RARE(!cell))
        return weft__cells_refill(c, d);
    c->loaded = cell->next;
    c->count--;
    return cell;
}

static inline void weft__cells_put(struct weft__cells *c, struct weft__depot *d, void *used)
{
    struct weft__cell *cell = used;

    cell->next = c->loaded;
    c->loaded = cell;
    if (WEFT__RARE(++c->count >= WEFT__MAGAZINE + WEFT__MAGAZINE_SLACK))
        weft__cells_spill(c, d);
}

#endif
