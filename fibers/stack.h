/* stack.h - private to weft. Stacks: where they come from, what guards them, who keeps the free ones.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the address space of stacks, their guards, the pool and each thread's cache of free ones.
 * Knows not: actors, workers, how one switches between stacks.
 */
#ifndef WEFT__STACK_H
#define WEFT__STACK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Describes one stack. Lives apart from its memory, so that the pages of an idle stack can be given back. */
struct weft__stack {
    struct weft__stack *next;       /* whoever holds the free stack */
    char               *low;        /* lowest usable byte; the guard ends here */
    char               *top;        /* where the first frame goes: coloured, 16-byte aligned */
    unsigned            size_class; /* WEFT__STACK_SMALLEST << size_class bytes, guard included */
    unsigned            valgrind;   /* its number there */
    void               *tsan;       /* its ThreadSanitizer fiber, or NULL */
    /* of the first of a batch in the pool */
    struct weft__stack *newer, *older;
    int64_t             since; /* when it came there */
    unsigned            batch; /* how many */
};

enum {
    WEFT__STACK_SMALLEST = 16 * 1024, /* AT_MINSIGSTKSZ (under 4 KiB here, 11 KiB with AMX) plus a reserve */
    WEFT__STACK_CLASSES = 17          /* to 1 GiB */
};

/* A thread's own free stacks. Zero is empty. Touched by that thread only. */
struct weft__stack_cache {
    struct weft__stack *free[WEFT__STACK_CLASSES]; /* the warmest first */
    unsigned            count[WEFT__STACK_CLASSES];
};

static inline size_t weft__stack_bytes(const struct weft__stack *s) /* its guard included */
{
    return (size_t)WEFT__STACK_SMALLEST << s->size_class;
}

/* Without its guard: as much as weft__stack_used can tell. */
size_t weft__stack_room(const struct weft__stack *s);

/* The size class for a stack of at least `bytes` usable bytes, or -1: too large. */
int weft__stack_class(size_t bytes);

/* A guarded stack, the warmest first, or NULL: no such class, no memory, or no more guards to be had (the last is
 * said once on stderr). Nothing is changed by a failure. Its bytes from low to top are the caller's; what is in
 * them is left over from the last user. */
struct weft__stack *weft__stack_get(struct weft__stack_cache *cache, unsigned size_class);
/* Gives it back. Nobody may be on it, except the caller on its way off: only the caller's thread may get it
 * again before the next weft__stack_put or weft__stack_flush. With canaries, a stack that ran over ends the
 * process here with a line on stderr. */
void weft__stack_put(struct weft__stack_cache *cache, struct weft__stack *s);
/* Gives all free stacks of a cache to the pool: a thread's last act. */
void weft__stack_flush(struct weft__stack_cache *cache);

/* Gives the pages of stacks that have been free for a second back to the kernel, some at a time. `now` is of
 * CLOCK_MONOTONIC. Returns when to call it again; INT64_MAX: when stacks have been given back. Any thread. */
int64_t weft__stack_cool(int64_t now);

/* True from the first weft__stack_get of that class that failed until one of it is given back. Any thread; a hint. */
static inline bool weft__stack_short(unsigned size_class)
{
    extern __attribute__((visibility("hidden"))) _Atomic unsigned weft__stack_shortage; /* a bit a class */

    /* relaxed: it promises nothing about other memory. */
    return atomic_load_explicit(&weft__stack_shortage, memory_order_relaxed) >> size_class & 1;
}
/* How deep it ever was since its pages were last given to the kernel: bytes from its lowest touched page to its
 * end, in whole pages. 0: untouched. */
size_t weft__stack_used(const struct weft__stack *s);
/* Gives its pages back: all of it was used, for once. Nobody needs what is in them. */
void weft__stack_clear(struct weft__stack *s);
/* How many stacks there are, in use or free. */
size_t weft__stack_count(void);

/* "install", "mprotect" or "canary": chosen at the first call, WEFT_GUARD forces one. */
const char *weft__guard_name(void);
/* Canary method only: whether the stack ran over. Always true with the others, which fault instead. */
bool weft__stack_intact(const struct weft__stack *s);

#endif
