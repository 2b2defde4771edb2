/* stack.c - arenas of stacks, the pool of free ones, each thread's cache.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the address space of stacks; which stack is free and who keeps it.
 * Knows not: actors, workers, how one switches between stacks, how a guard works.
 *
 * A free stack is in exactly one place:
 *
 *      arena --carve--> cache --spill--> warm --cool--> cold
 *                         ^---------refill-+--------------+
 *
 *   cache  a thread's own, no lock, last in first out: the warmest first
 *   warm   the pool's, whole batches; the newest is taken, the oldest cools when it was free for a second
 *   cold   the pool's; its pages were given back to the kernel
 *
 * Address space is never unmapped: descriptors and stacks are there for good, at most as many as were ever in
 * use at once, and some batches.
 */
#define _GNU_SOURCE
#include "fibers/stack.h"
#include "fibers/guard.h"
#include "fibers/notes.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    /* Address space of an arena. Large: few mappings for a million stacks. Small: it fits under a ulimit -v; if
     * not, reserve() halves it. */
    ARENA_BYTES = 64 << 20,
    ARENA_STACKS_MIN = 16,
    /* What moves between cache and pool at once, and is carved at once. Fewer of the large ones, which may have
     * much memory in them. */
    BATCH_BYTES = 4 << 20,
    BATCH_MAX = WEFT__GUARD_BATCH,
    /* Free stacks keep their pages so long: a burst that comes again finds them, and memory is not held for ever. */
    WARM_NS = 1000000000,
    COOL_BATCHES = 4, /* at a time: some 100 us each */
    /* Colours of a top: offsets of one cache line each, against conflicts in the cache's sets (a ring of 1000 is 2 to 5 times slower without).
     * One line above the topmost stays free: who looks just above a top shall not meet the next one's guard. */
    COLOURS = 16,
    COLOUR_BYTES = 64,
    LOOK_PAGES = 512 /* pages that one mincore looks at; a byte each, on the caller's stack */
};

/* A stretch of stacks of one class. Stacks below `carved` are guarded and described, the others untouched. */
struct arena {
    struct arena      *older;
    char              *base;
    size_t             carved, total;
    struct weft__stack stacks[];
};

struct batch {
    struct weft__stack *first;
    unsigned            count;
};

/* One a class. `lock` is held for a few stores; `carving` over system calls, so that who gives back never waits for
 * who carves. They are never held together. */
struct pool {
    _Alignas(64) pthread_mutex_t lock;
    struct weft__stack *newest, *oldest; /* lock: the first ones of warm batches */
    struct weft__stack *cold;            /* lock */
    pthread_mutex_t     carving;
    struct arena       *arena; /* carving */
};

static struct pool pools[WEFT__STACK_CLASSES] = {
    [0 ... WEFT__STACK_CLASSES - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                       .carving = PTHREAD_MUTEX_INITIALIZER}};

/* Both are read alone and promise nothing about other memory: relaxed everywhere. */
static atomic_size_t carved_in_all;
_Atomic unsigned     weft__stack_shortage;

/* ---- Sizes ------------------------------------------------------------------------------------------- */

static size_t size_of(unsigned size_class) { return (size_t)WEFT__STACK_SMALLEST << size_class; }

static unsigned batch_of(unsigned size_class)
{
    unsigned n = (unsigned)(BATCH_BYTES / WEFT__STACK_SMALLEST) >> size_class;

    return n > BATCH_MAX ? BATCH_MAX : n > 0 ? n : 1;
}

/* A stack is aligned to its size: no need to ask for the page's. */
static char *base_of(const struct weft__stack *s)
{
    return s->low - ((uintptr_t)s->low & (size_of(s->size_class) - 1));
}

static char *end_of(const struct weft__stack *s) { return base_of(s) + size_of(s->size_class); }

int weft__stack_class(size_t bytes)
{
    size_t lost = weft__guard_bytes() + COLOURS * COLOUR_BYTES;

    for (unsigned c = 0; c < WEFT__STACK_CLASSES; c++)
        if (size_of(c) > lost && size_of(c) - lost >= bytes)
            return (int)c;
    return -1;
}

/* ---- Arenas ------------------------------------------------------------------------------------------ */

/* Maps `size` more than is wanted and cuts off what is not aligned. */
static char *map_aligned(size_t bytes, size_t size)
{
    char *raw = weft__memory_reserve(bytes + size);

    if (!raw)
        return NULL;
    size_t before = (size_t)(-(uintptr_t)raw & (size - 1));
    if (before)
        munmap(raw, before);
    munmap(raw + before + bytes, size - before);
    /* One touched page must not become 2 MiB. Refused where the kernel has no huge pages: as good. */
    madvise(raw + before, bytes, MADV_NOHUGEPAGE);
    return raw + before;
}

static struct arena *reserve_stacks(size_t size, size_t total)
{
    char *base = map_aligned(size * total, size);

    if (!base)
        return NULL;
    struct arena *a = weft__memory_reserve(sizeof *a + total * sizeof a->stacks[0]);
    if (!a) {
        munmap(base, size * total);
        return NULL;
    }
    a->base = base;
    a->total = total;
    return a;
}

/* As large as there is room for. */
static struct arena *reserve(unsigned size_class)
{
    size_t        size = size_of(size_class);
    size_t        total = ARENA_BYTES / size;
    struct arena *a = NULL;

    if (size < 2 * weft__guard_bytes())
        return NULL; /* pages of 64 KiB: weft__stack_class never says such a class */
    if (total < ARENA_STACKS_MIN)
        total = ARENA_STACKS_MIN;
    for (; total && !a; total /= 2)
        a = reserve_stacks(size, total);
    return a;
}

static void describe(struct arena *a, size_t i, unsigned size_class)
{
    struct weft__stack *s = &a->stacks[i];
    char               *end = a->base + (i + 1) * size_of(size_class);

    s->low = a->base + i * size_of(size_class) + weft__guard_bytes();
    s->top = end - (i % COLOURS + 1) * COLOUR_BYTES;
    s->size_class = size_class;
    s->valgrind = weft__notes_carved(s->low, end);
}

/* New stacks, linked in the order of their addresses. Guards may end part-way: what has one is used, the rest stays
 * in the arena for another try. */
static struct batch carve_from(struct arena *a, unsigned size_class)
{
    size_t       size = size_of(size_class);
    size_t       left = a->total - a->carved;
    size_t       want = left < batch_of(size_class) ? left : batch_of(size_class);
    size_t       got = weft__guard_place(a->base + a->carved * size, size, want);
    struct batch b = {got ? &a->stacks[a->carved] : NULL, (unsigned)got};

    for (size_t i = 0; i < got; i++) {
        describe(a, a->carved + i, size_class);
        b.first[i].next = i + 1 < got ? &b.first[i + 1] : NULL;
    }
    a->carved += got;
    return b;
}

static struct batch carve(struct pool *p, unsigned size_class)
{
    struct batch b = {NULL, 0};

    pthread_mutex_lock(&p->carving);
    if (!p->arena || p->arena->carved == p->arena->total) {
        struct arena *a = reserve(size_class);
        if (a) {
            a->older = p->arena;
            p->arena = a;
        }
    }
    if (p->arena && p->arena->carved < p->arena->total)
        b = carve_from(p->arena, size_class);
    pthread_mutex_unlock(&p->carving);
    atomic_fetch_add_explicit(&carved_in_all, b.count, memory_order_relaxed);
    return b;
}

/* ---- The pool ---------------------------------------------------------------------------------------- */

/* Gives the pages back, without the lock. Meanwhile nobody finds these stacks: somebody may carve others, or find
 * that there are none, just as when they lie in another thread's cache. */
static void cool(struct pool *p, struct batch b)
{
    struct weft__stack *last = NULL;

    for (struct weft__stack *s = b.first; s; s = s->next) {
        madvise(base_of(s), size_of(s->size_class), MADV_DONTNEED); /* refused to locked memory: it stays */
        last = s;
    }
    pthread_mutex_lock(&p->lock);
    last->next = p->cold;
    p->cold = b.first;
    pthread_mutex_unlock(&p->lock);
}

static void link_warm(struct pool *p, struct batch b, int64_t now)
{
    *(p->newest ? &p->newest->newer : &p->oldest) = b.first;
    b.first->older = p->newest;
    b.first->newer = NULL;
    b.first->since = now;
    b.first->batch = b.count;
    p->newest = b.first;
}

static struct batch unlink_warm(struct pool *p, struct weft__stack *first)
{
    *(first->newer ? &first->newer->older : &p->newest) = first->older;
    *(first->older ? &first->older->newer : &p->oldest) = first->newer;
    return (struct batch){first, first->batch};
}

/* Cools the oldest warm batch if its time has come. Returns when that is, or INT64_MAX; 0: it is done. */
static int64_t cool_one(struct pool *p, int64_t now)
{
    struct batch b = {NULL, 0};
    int64_t      when = INT64_MAX;

    pthread_mutex_lock(&p->lock);
    if (p->oldest) {
        when = p->oldest->since + WARM_NS;
        if (when <= now)
            b = unlink_warm(p, p->oldest);
    }
    pthread_mutex_unlock(&p->lock);
    if (!b.first)
        return when;
    cool(p, b);
    return 0;
}

static void pool_give(struct pool *p, struct batch b)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    pthread_mutex_lock(&p->lock);
    link_warm(p, b, now);
    pthread_mutex_unlock(&p->lock);
    cool_one(p, now);
}

int64_t weft__stack_cool(int64_t now)
{
    int64_t again = INT64_MAX;
    int     done = 0;

    for (struct pool *p = pools; p < pools + WEFT__STACK_CLASSES; p++)
        for (int64_t when = 0; when == 0;) {
            if (done == COOL_BATCHES)
                return now;
            when = cool_one(p, now);
            done += when == 0;
            again = when && when < again ? when : again;
        }
    return again;
}

static struct batch pool_take_warm(struct pool *p)
{
    struct batch b = {NULL, 0};

    pthread_mutex_lock(&p->lock);
    if (p->newest)
        b = unlink_warm(p, p->newest);
    pthread_mutex_unlock(&p->lock);
    return b;
}

static struct batch pool_take_cold(struct pool *p, unsigned most)
{
    struct batch         b = {NULL, 0};
    struct weft__stack **end = &b.first;

    pthread_mutex_lock(&p->lock);
    for (b.first = p->cold; *end && b.count < most; b.count++)
        end = &(*end)->next;
    p->cold = *end;
    pthread_mutex_unlock(&p->lock);
    *end = NULL;
    for (struct weft__stack *s = b.first; s; s = s->next)
        weft__guard_renew(base_of(s));
    return b;
}

/* ---- A thread's cache -------------------------------------------------------------------------------- */

static bool refill(struct weft__stack_cache *cache, unsigned size_class)
{
    struct pool *p = &pools[size_class];
    struct batch b = pool_take_warm(p);

    if (!b.first)
        b = pool_take_cold(p, batch_of(size_class));
    if (!b.first)
        b = carve(p, size_class);
    cache->free[size_class] = b.first;
    cache->count[size_class] = b.count;
    return b.first != NULL;
}

/* Gives all but the `keep` newest to the pool, as one batch. */
static void spill(struct weft__stack_cache *cache, unsigned size_class, unsigned keep)
{
    struct weft__stack **end = &cache->free[size_class];

    for (unsigned i = 0; i < keep; i++)
        end = &(*end)->next;
    struct batch b = {*end, cache->count[size_class] - keep};
    *end = NULL;
    cache->count[size_class] = keep;
    pool_give(&pools[size_class], b);
}

struct weft__stack *weft__stack_get(struct weft__stack_cache *cache, unsigned size_class)
{
    if (size_class >= WEFT__STACK_CLASSES)
        return NULL;
    if (!cache->free[size_class] && !refill(cache, size_class)) {
        atomic_fetch_or_explicit(&weft__stack_shortage, 1u << size_class, memory_order_relaxed);
        return NULL;
    }
    struct weft__stack *s = cache->free[size_class];
    cache->free[size_class] = s->next;
    cache->count[size_class]--;
    s->next = NULL;
    weft__notes_reused(s->low, end_of(s));
    return s;
}

static _Noreturn void ran_over(void)
{
    static const char line[] = "weft: a stack ran over: its canary is gone, and perhaps its neighbour's "
                               "frames. An actor that is named "
                               "next need not be the culprit; WEFT_GUARD=install or mprotect stops at it. A "
                               "larger stack may cure it\n";
    ssize_t           ignored = write(STDERR_FILENO, line, sizeof line - 1);

    (void)ignored;
    abort();
}

void weft__stack_put(struct weft__stack_cache *cache, struct weft__stack *s)
{
    unsigned c = s->size_class;

    if (!weft__stack_intact(s))
        ran_over();
    s->next = cache->free[c];
    cache->free[c] = s;
    /* `s` is the newest and stays, as the caller may still be on it. */
    if (++cache->count[c] > 2 * batch_of(c))
        spill(cache, c, batch_of(c));
    if (weft__stack_short(s->size_class))
        atomic_fetch_and_explicit(&weft__stack_shortage, ~(1u << s->size_class), memory_order_relaxed);
}

void weft__stack_flush(struct weft__stack_cache *cache)
{
    for (unsigned c = 0; c < WEFT__STACK_CLASSES; c++) {
        if (cache->count[c] > batch_of(c))
            spill(cache, c, batch_of(c));
        if (cache->count[c])
            spill(cache, c, 0);
    }
}

/* ---- Questions --------------------------------------------------------------------------------------- */

size_t weft__stack_count(void) { return atomic_load_explicit(&carved_in_all, memory_order_relaxed); }

void weft__stack_clear(struct weft__stack *s)
{
    madvise(base_of(s), size_of(s->size_class), MADV_DONTNEED); /* refused to locked memory: it stays */
    weft__guard_renew(base_of(s));
}

bool weft__stack_intact(const struct weft__stack *s) { return weft__guard_intact(base_of(s)); }

size_t weft__stack_room(const struct weft__stack *s) { return (size_t)(end_of(s) - s->low); }

/* From below, as a frame with a large array may leave pages in the middle untouched. A page that is swapped out
 * counts as untouched. */
size_t weft__stack_used(const struct weft__stack *s)
{
    unsigned char here[LOOK_PAGES];
    size_t        page = weft__guard_bytes();
    char         *end = end_of(s);

    for (char *at = s->low; at < end; at += LOOK_PAGES * page) {
        size_t left = (size_t)(end - at) / page;
        size_t pages = left < LOOK_PAGES ? left : LOOK_PAGES;
        if (mincore(at, pages * page, here) != 0)
            continue;
        for (size_t i = 0; i < pages; i++)
            if (here[i] & 1)
                return (size_t)(end - at) - i * page;
    }
    return 0;
}
