/* census.c - see census.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "census.h"

#include "runtime/actor.h"

/* Of each kind: how memory for it is really found, and how many there are; under its depot's lock. */
static char *(*messages_carve)(size_t bytes), *(*actors_carve)(size_t bytes);
static size_t messages, actors;

static char *carve_messages(size_t bytes)
{
    char *memory = messages_carve(bytes);

    messages += memory ? bytes / sizeof(struct weft_msg) : 0;
    return memory;
}

static char *carve_actors(size_t bytes)
{
    char *memory = actors_carve(bytes);

    actors += memory ? bytes / sizeof(struct weft__actor) : 0;
    return memory;
}

void census_begin(void)
{
    messages_carve = weft__messages.carve;
    weft__messages.carve = carve_messages;
    actors_carve = weft__actors.carve;
    weft__actors.carve = carve_actors;
}

static size_t lost(struct weft__depot *d, const size_t *made)
{
    size_t there;

    weft__lane_leave();
    pthread_mutex_lock(&d->lock);
    there = d->loose_count;
    for (struct weft__cell *m = d->full; m; m = m->magazine)
        for (struct weft__cell *c = m; c; c = c->next)
            there++;
    size_t n = *made - there;
    pthread_mutex_unlock(&d->lock);
    return n;
}

size_t census_messages_lost(void) { return lost(&weft__messages, &messages); }

size_t census_actors_lost(void) { return lost(&weft__actors, &actors); }
