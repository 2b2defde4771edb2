/* switch_portable.c - switch.h for every back end of raw.h, and for the sanitizers.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the landing record of each thread; all that sanitizers are told about a switch.
 * Knows not: registers (raw.h does), actors, workers, who owns a stack.
 *
 * A switch has two halves, and the stack changes between them:
 *
 *      depart   old stack   fills the thread's landing record
 *      go       both        tells TSan, jumps
 *      arrive   new stack   reads the record, tells ASan, runs then(with), returns pass
 *
 * Who arrives left this frame on perhaps another thread. The compiler does not know that, and may keep the
 * address of a thread-local variable over the jump; so only functions that are never inlined touch one.
 */
#include "fibers/switch.h"

#include <stddef.h>
#include <stdlib.h>

#include "fibers/raw.h"
#include "fibers/stack.h"

#define NOINLINE __attribute__((noinline))
#define INLINE inline __attribute__((always_inline))

/* What a context points to. Lies on the stack that was left, or at the top of a fresh one. */
struct place {
    void *raw;
    void (*entry)(void); /* fresh only */
    const void *bottom;  /* ASan: the stack it lies on */
    size_t      size;
    void       *fake;  /* ASan: the frames it moved to the heap */
    void       *tsan;  /* TSan: the fiber to go on as */
    void       *stale; /* TSan: fresh only, the fiber that this one replaces */
};

/* From the side that leaves to the side that arrives, on one thread. */
struct landing {
    struct place *left; /* NULL: left for good */
    struct place *at;
    void         *pass;
    void (*then)(void *with);
    void *with;
};

static _Thread_local struct landing landing;

/* ---- Sanitizers ---------------------------------------------------------------------------------------- */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#endif

#if defined(WITH_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

/* The frames that were abandoned on it left their red zones behind. */
static void asan_fresh(struct place *p, struct weft__stack *s)
{
    __asan_unpoison_memory_region(s->low, (size_t)(s->top - s->low));
    p->bottom = s->low;
    p->size = (size_t)(s->top - s->low);
    p->fake = NULL;
}

static INLINE void asan_depart(struct place *left, struct place *to)
{
    __sanitizer_start_switch_fiber(left ? &left->fake : NULL, to->bottom, to->size);
}

/* Only here does one learn where the stack lies that was left: it may be a thread's own. */
static INLINE void asan_arrive(struct place *left, struct place *at)
{
    const void *bottom;
    size_t      size;

    __sanitizer_finish_switch_fiber(at->fake, &bottom, &size);
    if (left) {
        left->bottom = bottom;
        left->size = size;
    }
}
#else
static void        asan_fresh(struct place *p, struct weft__stack *s) { (void)p, (void)s; }
static INLINE void asan_depart(struct place *left, struct place *to) { (void)left, (void)to; }
static INLINE void asan_arrive(struct place *left, struct place *at) { (void)left, (void)at; }
#endif

#if defined(WITH_TSAN)
#include <sanitizer/tsan_interface.h>

/* TSan counts calls and returns per fiber. Frames that were abandoned never return, so that a stack used
 * afresh needs a new fiber. The old one may be the caller's, who is about to leave: then it has to wait. */
static void tsan_fresh(struct place *p, struct weft__stack *s)
{
    p->stale = s->tsan;
    if (p->stale && p->stale != __tsan_get_current_fiber()) {
        __tsan_destroy_fiber(p->stale);
        p->stale = NULL;
    }
    p->tsan = s->tsan = __tsan_create_fiber(0);
}

static INLINE void tsan_depart(struct place *left)
{
    if (left)
        left->tsan = __tsan_get_current_fiber();
}

/* Inlined, so that no return is counted between this and the jump. Flag 0: what was done before the switch
 * happened before what comes after it, which is true as both are one thread. */
static INLINE void tsan_go(struct place *to) { __tsan_switch_to_fiber(to->tsan, 0); }

static void tsan_begin(struct place *p)
{
    if (p->stale)
        __tsan_destroy_fiber(p->stale);
}
#else
static void        tsan_fresh(struct place *p, struct weft__stack *s) { (void)p, (void)s; }
static INLINE void tsan_depart(struct place *left) { (void)left; }
static INLINE void tsan_go(struct place *to) { (void)to; }
static void        tsan_begin(struct place *p) { (void)p; }
#endif

/* ---- The two halves ------------------------------------------------------------------------------------ */

static NOINLINE void depart(struct place *left, struct place *to, void *pass, void (*then)(void *),
                            void *with)
{
    landing = (struct landing){left, to, pass, then, with};
    tsan_depart(left);
    asan_depart(left, to);
}

static INLINE void go(void **raw, struct place *to)
{
    tsan_go(to);
    weft__raw_jump(raw, to->raw);
}

static NOINLINE void *arrive(void)
{
    struct landing l = landing;

    asan_arrive(l.left, l.at);
    if (l.then)
        l.then(l.with);
    return l.pass;
}

static NOINLINE struct place *landed_at(void) { return landing.at; }

/* Where every fresh stack begins. */
static void begin(void)
{
    struct place *p = landed_at();
    void (*entry)(void) = p->entry;

    arrive();
    tsan_begin(p);
    entry();
    abort();
}

/* ---- switch.h ------------------------------------------------------------------------------------------ */

void *weft__switch_fresh(struct weft__stack *s, void (*entry)(void))
{
    enum { ROOM = (sizeof(struct place) + 15) / 16 * 16 }; /* keeps the top aligned */
    char         *top = s->top - ROOM;
    struct place *p = (struct place *)(void *)top;

    asan_fresh(p, s);
    tsan_fresh(p, s);
    p->entry = entry;
    p->raw = weft__raw_fresh(s->low, top, begin);
    return p;
}

void *weft__switch_away(void **save, void *to, void *pass, void (*then)(void *with), void *with)
{
    struct place here;

    *save = &here;
    depart(&here, to, pass, then, with);
    go(&here.raw, to);
    return arrive();
}

struct parking {
    _Atomic uint64_t *word;
    uint64_t          parked;
};

/* `with` lies on the stack that was left. Once the word is out, that stack may run elsewhere. */
static void publish(void *with)
{
    struct parking p = *(struct parking *)with;
    uint64_t       empty = 0;

    /* release: whoever takes the word away sees the stack complete. relaxed: refused() looks again. */
    if (!atomic_compare_exchange_strong_explicit(p.word, &empty, p.parked, memory_order_release,
                                                 memory_order_relaxed))
        weft__switch_refused(p.word);
}

void *weft__switch_park(void **save, void *to, void *pass, _Atomic uint64_t *word, uint64_t parked)
{
    struct parking p = {word, parked};

    return weft__switch_away(save, to, pass, publish, &p);
}

void weft__switch_leave(void *to, void *pass)
{
    struct place *there = to;

    depart(NULL, there, pass, NULL, NULL);
    /* What is saved is of no use. It goes where nobody looks again: `there` is used once, and a local may be
     * gone already, when AddressSanitizer keeps it on the heap. */
    go(&there->raw, there);
    abort();
}

void *weft__switch_return(void *pass) { return pass; }

const char *weft__switch_name(void) { return weft__raw_name; }
