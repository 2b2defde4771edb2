/* cells.c - see cells.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "base/cells.h"

static void depot_put(struct weft__depot *d, struct weft__cell *magazine)
{
    pthread_mutex_lock(&d->lock);
    magazine->magazine = d->full;
    d->full = magazine;
    pthread_mutex_unlock(&d->lock);
}

/* A full magazine from the depot, or one of fresh cells; under the lock. */
static struct weft__cell *depot_get(struct weft__depot *d)
{
    struct weft__cell *first = d->full;

    if (first) {
        d->full = first->magazine;
        return first;
    }
    char *memory = d->carve(d->cell_bytes * WEFT__MAGAZINE);
    if (!memory)
        return NULL;
    for (int i = WEFT__MAGAZINE - 1; i >= 0; i--) {
        struct weft__cell *cell = (struct weft__cell *)(memory + (size_t)i * d->cell_bytes);
        cell->next = first;
        first = cell;
    }
    return first;
}

struct weft__cell *weft__cells_refill(struct weft__cells *c, struct weft__depot *d)
{
    struct weft__cell *first = c->spare;

    c->spare = NULL;
    if (!first) {
        pthread_mutex_lock(&d->lock);
        first = depot_get(d);
        pthread_mutex_unlock(&d->lock);
        if (!first)
            return NULL;
    }
    c->loaded = first->next;
    c->count = WEFT__MAGAZINE - 1;
    return first;
}

void weft__cells_spill(struct weft__cells *c, struct weft__depot *d)
{
    struct weft__cell *last = c->loaded; /* of those that stay: the warmest */

    for (int i = 1; i < WEFT__MAGAZINE_SLACK; i++)
        last = last->next;
    if (c->spare)
        depot_put(d, c->spare);
    c->spare = last->next;
    last->next = NULL;
    c->count = WEFT__MAGAZINE_SLACK;
}

void weft__cells_flush(struct weft__cells *c, struct weft__depot *d)
{
    pthread_mutex_lock(&d->lock);
    if (c->spare) {
        c->spare->magazine = d->full;
        d->full = c->spare;
    }
    while (c->loaded) {
        struct weft__cell *cell = c->loaded;
        c->loaded = cell->next;
        cell->next = d->loose;
        d->loose = cell;
        if (++d->loose_count == WEFT__MAGAZINE) {
            cell->magazine = d->full;
            d->full = cell;
            d->loose = NULL;
            d->loose_count = 0;
        }
    }
    pthread_mutex_unlock(&d->lock);
    *c = (struct weft__cells){0};
}
