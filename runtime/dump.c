/* dump.c - all actors on some lines: those that are alike share one.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Alike are those with the same function and the same name, numbers in it aside, that do the same and wait for the
 * same. All are looked at once, one after the other, so this is no picture of one moment: an actor that ends or comes
 * meanwhile may be missing, and one that moves tells what it did when it was looked at. Only then anything is written,
 * when nobody is held up by it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "runtime/actor.h"

enum { FIRST_ROOM = 64 };

struct range {
    int64_t least, most;
};

struct group {
    weft_view    like; /* the first of them */
    weft_fn     *fn;
    uint64_t     hash;
    size_t       count;
    struct range waiting, left, mailbox, links, monitors, stack;
};

struct census {
    struct group **groups; /* by hash, in `room` places, a power of two; then in the order of the lines */
    size_t         room, used;
    size_t         actors, run, ready;
    size_t         lost; /* there was no memory for their group */
};

/* ---- who is alike ------------------------------------------------------------------------------------------ */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The next of a name in which any number is one '#'. */
static char next_of(const char **name)
{
    if (!is_digit(**name))
        return **name ? *(*name)++ : 0;
    while (is_digit(**name))
        ++*name;
    return '#';
}

static bool same_class(const char *a, const char *b)
{
    char c;

    while ((c = next_of(&a)) == next_of(&b))
        if (!c)
            return true;
    return false;
}

/* Of whom it waits for, after all that is not a name. */
static const char *name_in(const char *waits_for) { return waits_for + strcspn(waits_for, "\""); }

static bool same_wanted(const char *a, const char *b)
{
    size_t n = (size_t)(name_in(a) - a);

    return strncmp(a, b, n) == 0 && same_class(a + n, b + n);
}

static uint64_t mix(uint64_t h, uint64_t c) { return (h ^ c) * 1099511628211u; } /* FNV-1a, word by word */

static uint64_t hash_of(const weft_view *v, weft_fn *fn)
{
    uint64_t    h = mix(14695981039346656037u, (uintptr_t)fn);
    const char *name = v->name, *whom = name_in(v->waits_for);

    for (char c; (c = next_of(&name));)
        h = mix(h, (unsigned char)c);
    h = mix(h, (unsigned char)v->state[0] << 8 | (unsigned char)v->state[2]);
    for (const char *c = v->waits_for; c < whom; c++)
        h = mix(h, (unsigned char)*c);
    for (char c; (c = next_of(&whom));)
        h = mix(h, (unsigned char)c);
    return h ^ h >> 32;
}

static bool is_alike(const struct group *g, const weft_view *v, weft_fn *fn, uint64_t hash)
{
    return g->hash == hash && g->fn == fn && strcmp(g->like.state, v->state) == 0 &&
           same_wanted(g->like.waits_for, v->waits_for) && same_class(g->like.name, v->name);
}

/* ---- taking the census ------------------------------------------------------------------------------------- */

static struct group **place_of(struct census *c, const weft_view *v, weft_fn *fn, uint64_t hash)
{
    size_t i = hash & (c->room - 1);

    while (c->groups[i] && !is_alike(c->groups[i], v, fn, hash))
        i = (i + 1) & (c->room - 1);
    return &c->groups[i];
}

/* Twice as many places. Without memory they get fuller, but one is always free. */
static bool grow(struct census *c)
{
    struct census  more = {.room = c->room ? c->room * 2 : FIRST_ROOM};
    struct group **before = c->groups;

    more.groups = weft__memory_get(more.room * sizeof *more.groups);
    if (!more.groups)
        return c->used + 1 < c->room;
    memset(more.groups, 0, more.room * sizeof *more.groups);
    for (size_t i = 0; i < c->room; i++)
        if (before[i])
            *place_of(&more, &before[i]->like, before[i]->fn, before[i]->hash) = before[i];
    weft__memory_put(before);
    c->groups = more.groups;
    c->room = more.room;
    return true;
}

/* NULL: no memory. */
static struct group *group_of(struct census *c, const weft_view *v, weft_fn *fn)
{
    uint64_t hash = hash_of(v, fn);

    if (c->used * 2 >= c->room && !grow(c))
        return NULL;
    struct group **at = place_of(c, v, fn, hash);
    if (!*at && (*at = weft__memory_get(sizeof **at))) {
        **at = (struct group){.like = *v, .fn = fn, .hash = hash};
        c->used++;
    }
    return *at;
}

static void widen(struct range *r, size_t count, int64_t n)
{
    if (!count || n < r->least)
        r->least = n;
    if (!count || n > r->most)
        r->most = n;
}

static void add(struct group *g, const weft_view *v)
{
    widen(&g->waiting, g->count, v->waiting.ns);
    widen(&g->left, g->count, v->left.ns);
    widen(&g->mailbox, g->count, (int64_t)v->mailbox);
    widen(&g->links, g->count, (int64_t)v->links);
    widen(&g->monitors, g->count, (int64_t)v->monitors);
    widen(&g->stack, g->count, (int64_t)v->stack_used);
    if (v->stack_bytes > g->like.stack_bytes)
        g->like.stack_bytes = v->stack_bytes;
    g->count++;
}

static void take_census(struct census *c)
{
    size_t slots = weft__look_slots();

    for (size_t i = 0; i < slots; i++) {
        weft_pid  who = weft__look_into(i);
        weft_view v;
        weft_fn  *fn;
        if (!who.id || weft__look(who, &v, &fn) < 0)
            continue;
        struct group *g = group_of(c, &v, fn);
        if (g)
            add(g, &v);
        c->lost += !g;
        c->actors++;
        c->run += strcmp(v.state, "runs") == 0;
        c->ready += strcmp(v.state, "ready") == 0;
    }
}

/* ---- the order of the lines ---------------------------------------------------------------------------------- */

static int by_function(const void *a, const void *b)
{
    const struct group *const *x = a, *const *y = b;
    uintptr_t                  f = (uintptr_t)(*x)->fn, g = (uintptr_t)(*y)->fn;

    return (f > g) - (f < g);
}

/* Those that are many first. */
static int by_count(const void *a, const void *b)
{
    const struct group *x = *(const struct group *const *)a, *y = *(const struct group *const *)b;
    int                 order = (x->count < y->count) - (x->count > y->count);

    if (!order)
        order = strcmp(x->like.function, y->like.function);
    if (!order)
        order = strcmp(x->like.name, y->like.name);
    if (!order)
        order = strcmp(x->like.state, y->like.state);
    return order ? order : (x->like.who.id > y->like.who.id) - (x->like.who.id < y->like.who.id);
}

static void arrange(struct census *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->room; i++)
        if (c->groups[i])
            c->groups[n++] = c->groups[i];
    if (n)
        qsort(c->groups, n, sizeof *c->groups, by_function);
    for (size_t i = 0; i < n; i++) { /* each is named once, as that takes long */
        weft_view *v = &c->groups[i]->like;
        if (i && c->groups[i]->fn == c->groups[i - 1]->fn)
            memcpy(v->function, c->groups[i - 1]->like.function, sizeof v->function);
        else
            weft__look_function(c->groups[i]->fn, v->function, sizeof v->function);
    }
    if (n)
        qsort(c->groups, n, sizeof *c->groups, by_count);
}

/* ---- a line -------------------------------------------------------------------------------------------------- */

enum { CELL = 160 };

static void write_count(char *cell, const struct group *g) { snprintf(cell, CELL, "%zu", g->count); }

/* Its pid, if it is one. */
static void write_pid(char *cell, const struct group *g)
{
    if (g->count == 1)
        snprintf(cell, CELL, "%llx", (unsigned long long)g->like.who.id);
}

static void write_actor(char *cell, const struct group *g)
{
    const char *name = g->like.name;
    size_t      n = 0;

    if (*name) {
        cell[n++] = '"';
        while (*name)
            cell[n++] = g->count == 1 ? *name++ : next_of(&name);
        cell[n++] = '"';
        cell[n++] = ' ';
    }
    snprintf(cell + n, CELL - n, "%s", g->like.function);
}

static void write_state(char *cell, const struct group *g) { snprintf(cell, CELL, "%s", g->like.state); }

static void write_wanted(char *cell, const struct group *g)
{
    weft_view   one = g->like;
    const char *from = one.waits_for, *whom;
    size_t      n = 0;

    if (g->count == 1)
        weft__look_add_pid(&one);
    whom = name_in(from);
    while (*from)
        cell[n++] = g->count == 1 || from < whom ? *from++ : next_of(&from);
    cell[n] = 0;
}

/* Two digits or so, in the unit that they fit. */
static int write_time(char *to, size_t size, int64_t ns)
{
    static const struct {
        const char *name;
        int64_t     ns;
    } units[] = {{"us", 1000},         {"ms", 1000000},      {"s", 1000000000},
                 {"min", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000}};
    size_t i = 0;

    while (i + 1 < sizeof units / sizeof *units && ns >= units[i + 1].ns)
        i++;
    if (i && ns < 10 * units[i].ns)
        return snprintf(to, size, "%.1f %s", (double)(ns * 10 / units[i].ns) / 10, units[i].name);
    return snprintf(to, size, "%lld %s", (long long)(ns / units[i].ns), units[i].name);
}

static void write_span(char *cell, struct range r)
{
    char most[32];
    int  n = write_time(cell, CELL, r.least);

    if (r.most == INT64_MAX)
        snprintf(most, sizeof most, "for ever");
    else
        write_time(most, sizeof most, r.most);
    if (strcmp(cell, most) != 0)
        snprintf(cell + n, CELL - (size_t)n, "..%s", most);
}

static void write_waiting(char *cell, const struct group *g)
{
    if (g->like.known)
        write_span(cell, g->waiting);
}

static void write_left(char *cell, const struct group *g)
{
    if (g->like.known && g->left.least != INT64_MAX)
        write_span(cell, g->left);
}

static void write_range(char *cell, struct range r)
{
    int n = snprintf(cell, CELL, "%lld", (long long)r.least);

    if (r.most != r.least)
        snprintf(cell + n, CELL - (size_t)n, "..%lld", (long long)r.most);
}

static void write_mailbox(char *cell, const struct group *g)
{
    if (g->like.known)
        write_range(cell, g->mailbox);
}

static void write_links(char *cell, const struct group *g)
{
    if (g->links.most)
        write_range(cell, g->links);
}

static void write_monitors(char *cell, const struct group *g)
{
    if (g->monitors.most)
        write_range(cell, g->monitors);
}

static void write_stack(char *cell, const struct group *g)
{
    if (!g->like.stack_bytes)
        return;
    write_range(cell, (struct range){g->stack.least / 1024, g->stack.most / 1024});
    size_t n = strlen(cell);
    snprintf(cell + n, CELL - n, " of %zu KiB", (g->like.stack_bytes + 1023) / 1024);
}

/* ---- the table ----------------------------------------------------------------------------------------------- */

static const struct column {
    const char *head;
    void (*write)(char *cell, const struct group *g);
    bool right;
} columns[] = {{"count", write_count, true},       {"pid", write_pid, true},
               {"actor", write_actor, false},      {"state", write_state, false},
               {"waits for", write_wanted, false}, {"waiting", write_waiting, false},
               {"time left", write_left, false},   {"mailbox", write_mailbox, false},
               {"links", write_links, false},      {"monitors", write_monitors, false},
               {"stack", write_stack, false}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const char *cell_of(char *room, const struct column *c, const struct group *g)
{
    *room = 0;
    c->write(room, g);
    weft__text_clean(room);
    return *room ? room : "-";
}

/* 0: it is empty, and left out. */
static void measure(const struct census *c, int *width)
{
    char room[CELL];

    for (size_t i = 0; i < COLUMNS; i++) {
        bool empty = true;
        width[i] = (int)strlen(columns[i].head);
        for (size_t j = 0; j < c->used; j++) {
            const char *cell = cell_of(room, &columns[i], c->groups[j]);
            int         n = (int)strlen(cell);
            if (n > width[i])
                width[i] = n;
            empty = empty && strcmp(cell, "-") == 0;
        }
        if (empty)
            width[i] = 0;
    }
}

/* Of a group, or, without one, the head. Nothing hangs over the end of a line. */
static void write_line(FILE *to, const int *width, const struct group *g)
{
    char room[CELL];
    int  gap = 0;

    for (size_t i = 0; i < COLUMNS; i++) {
        if (!width[i])
            continue;
        const char *cell = g ? cell_of(room, &columns[i], g) : columns[i].head;
        int         left = width[i] - (int)strlen(cell);
        fprintf(to, "%*s%s", columns[i].right ? gap + left : gap, "", cell);
        gap = columns[i].right ? 2 : left + 2;
    }
    fputc('\n', to);
}

static void write_head(FILE *to, const struct census *c)
{
    unsigned workers = weft__system_workers();

    fprintf(to, "weft: %zu actor%s on %u worker%s: %zu run, %zu ready, %zu wait\n", c->actors,
            c->actors == 1 ? "" : "s", workers, workers == 1 ? "" : "s", c->run, c->ready,
            c->actors - c->run - c->ready);
}

void weft_dump(FILE *to)
{
    struct census c = {0};
    int           width[COLUMNS];

    take_census(&c);
    arrange(&c);
    measure(&c, width);
    flockfile(to); /* the lines stay together */
    write_head(to, &c);
    if (c.used)
        write_line(to, width, NULL);
    for (size_t i = 0; i < c.used; i++)
        write_line(to, width, c.groups[i]);
    if (c.lost)
        fprintf(to, "and %zu more: there is no memory to tell them apart\n", c.lost);
    funlockfile(to);
    for (size_t i = 0; i < c.used; i++)
        weft__memory_put(c.groups[i]);
    weft__memory_put(c.groups);
}
