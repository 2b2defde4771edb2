/* actor.c - control blocks: where they live, what a pid says, what an actor owns.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * All blocks lie in one reserved range that is never unmapped, so a slot's address is arithmetic, and a pid of the
 * dead leads to a block that is closed or somebody else's: never to nothing. A pid holds the slot's generation,
 * which grows with each owner; a slot whose generations are used up is not used again.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "fibers/notes.h"
#include "runtime/fast.h"

static char *message_slab(size_t bytes);
static char *carve_blocks(size_t bytes);

struct weft__depot weft__messages = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .cell_bytes = sizeof(struct weft_msg), .carve = message_slab};
struct weft__depot weft__actors = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .cell_bytes = sizeof(struct weft__actor), .carve = carve_blocks};

/* Written under the depot's lock; the range before the count that says that it is there. */
_Atomic(char *) weft__actor_range;
_Atomic size_t  weft__actor_count;
static size_t   slots_max;

static char *message_slab(size_t bytes)
{
    enum { SLAB = 1 << 20 };
    static char  *slab; /* under the depot's lock */
    static size_t left;

    if (left < bytes) {
        slab = weft__memory_reserve(SLAB);
        left = slab ? SLAB : 0;
        if (!slab)
            return NULL;
        weft__memory_root(slab, SLAB);
    }
    left -= bytes;
    return slab + left;
}

/* The largest range that the process may have: a limit on address space makes it smaller, not impossible. */
static char *reserve_range(void)
{
    slots_max = (size_t)1 << (weft__notes_on_valgrind() ? 18 : WEFT__SLOT_BITS);
    for (; slots_max >= 1 << 16; slots_max /= 2) {
        char *p = weft__memory_reserve(slots_max * sizeof(struct weft__actor));
        if (p)
            return p;
    }
    return NULL;
}

static char *carve_blocks(size_t bytes)
{
    char  *base = atomic_load_explicit(&weft__actor_range, memory_order_relaxed);
    size_t first = atomic_load_explicit(&weft__actor_count, memory_order_relaxed);
    size_t n = bytes / sizeof(struct weft__actor);

    if (!base) {
        base = reserve_range();
        if (!base)
            return NULL;
        atomic_store_explicit(&weft__actor_range, base, memory_order_relaxed);
    }
    if (first + n > slots_max)
        return NULL;
    struct weft__actor *a = (struct weft__actor *)base + first;
    weft__memory_root(a, bytes);
    for (size_t i = 0; i < n; i++) {
        /* relaxed: nobody has a pid of it yet */
        atomic_store_explicit(&a[i].box.word, WEFT__INBOX_CLOSED, memory_order_relaxed);
        atomic_store_explicit(&a[i].pid, first + i,
                              memory_order_relaxed); /* generation 0, which no actor has */
    }
    atomic_store_explicit(&weft__actor_count, first + n, memory_order_release); /* see weft__actor_exists */
    return (char *)a;
}

struct weft__actor *weft__actor_new(struct weft__lane *l, weft_fn *fn, void *arg, uint32_t unusual)
{
    struct weft__actor *a = weft__cells_get(&l->actors, &weft__actors);

    if (!a)
        return NULL;
    uint64_t pid = (weft__actor_pid(a) & ~WEFT__KIND_BOUNDED) + WEFT__GENERATION_ONE;
    atomic_store_explicit(&a->pid, pid, memory_order_relaxed);
    a->parked = weft__inbox_parked(weft__actor_generation(pid));
    a->extra = NULL;
    a->owned = NULL;
    a->start = fn;
    /* release: a sender to the last owner that takes this for its gate finds another pid (bound.c). */
    atomic_store_explicit(&a->fn, fn, memory_order_release);
    /* relaxed: who may set them has no pid of it yet */
    __atomic_store_n(&a->at_once,
                     WEFT__IS_PHASE(unusual & WEFT__THREAD ? WEFT__RUNNING : WEFT__START) |
                         WEFT__IS_UNUSUAL(unusual),
                     __ATOMIC_RELAXED);
    atomic_store_explicit(&a->named, 0, memory_order_relaxed);
    a->state = arg;
    a->in = a->current = NULL;
    a->stash.word = 0;
    a->stack = NULL;
    a->type_count = 0;
    weft__inbox_open(&a->box);
    weft__lane_count(&l->spawned);
    return a;
}

/* Some are kept for the next, by the thread: actors that are linked or monitored come and go. */
struct weft__extra *weft__actor_spare(struct weft__lane *l)
{
    struct weft__extra *x = l->extras;

    if (!x)
        return weft__memory_get(sizeof *x);
    l->extras = x->next;
    l->extra_count--;
    return x;
}

static void put_extra(struct weft__lane *l, struct weft__extra *x)
{
    if (l->extra_count == WEFT__EXTRAS_KEPT) {
        weft__memory_put(x);
        return;
    }
    x->next = l->extras;
    l->extras = x;
    l->extra_count++;
}

void weft__actor_forget_extras(struct weft__lane *l)
{
    while (l->extras) {
        struct weft__extra *x = l->extras;
        l->extras = x->next;
        weft__memory_put(x);
    }
    l->extra_count = 0;
}

/* Line by line: for all at once compilers use an instruction that takes longer. */
static void clear_extra(struct weft__extra *x)
{
    size_t i = 0;

#pragma GCC unroll 8
    for (; i + WEFT__LINE_BYTES <= sizeof *x; i += WEFT__LINE_BYTES)
        memset((char *)x + i, 0, WEFT__LINE_BYTES);
    memset((char *)x + i, 0, sizeof *x - i);
}

static void begin_extra(struct weft__actor *a, struct weft__extra *x)
{
    clear_extra(x);
    x->actor = a;
    a->extra = x;
}

struct weft__extra *weft__actor_extra(struct weft__actor *a)
{
    struct weft__extra *x = a->extra;

    if (!x && (x = weft__actor_spare(weft__lane())))
        begin_extra(a, x);
    return x;
}

void weft__actor_give_spare(struct weft__lane *l, struct weft__actor *a, struct weft__extra *spare)
{
    if (a && !a->extra)
        begin_extra(a, spare);
    else
        put_extra(l, spare);
}

static bool is_cell(size_t bytes) { return bytes <= sizeof(struct weft_msg) - sizeof(struct weft__owned); }

void *weft__actor_own(struct weft__lane *l, struct weft__actor *a, size_t bytes)
{
    struct weft__owned *o = NULL;

    if (is_cell(bytes))
        o = weft__cells_get(&l->messages, &weft__messages);
    else if (bytes <= PTRDIFF_MAX - sizeof *o)
        o = weft__memory_get(sizeof *o + bytes);
    if (!o)
        return NULL;
    o->next = a->owned;
    o->bytes = bytes;
    a->owned = o;
    return memset(o + 1, 0, bytes);
}

static void disown(struct weft__lane *l, struct weft__owned *o)
{
    if (is_cell(o->bytes))
        weft__cells_put(&l->messages, &weft__messages, o);
    else
        weft__memory_put(o);
}

/* A signal may have been meant for the slot's last owner. */
static void refuse(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    bool mine = (m->to & ~WEFT__INBOX_URGENT) == weft__actor_pid(a);

    weft__bonds_refuse(l, m, mine ? a->reason : WEFT_EGONE, mine && a->extra ? a->extra->why : NULL);
}

/* Those hear of its end, too, whose signals it has not read: bury_all has left them in `in`. */
static __attribute__((noinline)) void refuse_all(struct weft__lane *l, struct weft__actor *a)
{
    for (struct weft_msg *m; (m = a->in);) {
        a->in = m->next;
        refuse(l, a, m);
    }
}

/* Signals are for later: what is destroyed here may still send, and that comes before the news of the end. */
static void bury(struct weft__lane *l, struct weft__actor *a, struct weft_msg *list,
                 struct weft_msg **signals)
{
    while (list) {
        struct weft_msg *m = list;
        list = m->next;
        if (m->type == WEFT__TYPE_SIGNAL) {
            m->next = *signals;
            *signals = m;
            continue;
        }
        m->to = weft__actor_pid(a); /* what was skipped has an order there */
        weft__message_dead(l, m, WEFT_EGONE);
    }
}

static struct weft_msg *oldest_first(struct weft_msg *list)
{
    struct weft_msg *reversed = NULL;

    while (list) {
        struct weft_msg *m = list;
        list = m->next;
        m->next = reversed;
        reversed = m;
    }
    return reversed;
}

static void end_message(struct weft__lane *l, struct weft_msg *m)
{
    if (m)
        weft__message_end(l, m, WEFT_EGONE);
}

static void forget_signals(struct weft__actor *a)
{
    if (!a->extra->wants_signals)
        return;
    a->extra->wants_signals = false;
    weft__signals_forget((weft_pid){weft__actor_pid(a)});
}

static __attribute__((noinline)) void forget_rarely(struct weft__lane *l, struct weft__actor *a)
{
    struct weft__extra *x = a->extra;

    if (x->knocks_at.id)
        weft__bound_withdraw(l, a);
    if (x->timer.fire) /* it was ever set, or has a place */
        weft__timers_drop(&x->timer);
    forget_signals(a); /* before anybody hears of its end */
    end_message(l, x->aside);
    end_message(l, x->answer);
    while (x->held || x->asked || x->defers || x->bonds.count) { /* what is destroyed may do all that again */
        struct weft_msg *m = x->held;
        if (!m && !x->asked && x->defers) {
            weft__ending_run(l, a);
            continue;
        }
        if (!m && !x->asked) {
            weft__bonds_end(l, a, a->reason);
            continue;
        }
        if (!m) {
            weft__request_end_all(l, a);
            continue;
        }
        weft__message_unhold(m);
        weft__message_drop(l, m, WEFT_EGONE);
    }
    if (WEFT__RARE(a->in))
        refuse_all(l, a);
    if (x->wants_letters)
        weft__letters_forget((weft_pid){weft__actor_pid(a)});
    forget_signals(a);
    if (x->plan)
        weft__plan_end(a);
    if (x->why)
        weft__message_drop(l, x->why, 0);
    if (x->name)
        weft__memory_put(x->name);
    if (x->list)
        weft__memory_put(x->list);
}

/* It has links and monitors, and that is all. */
static bool has_only_bonds(const struct weft__actor *a)
{
    const struct weft__extra *x = a->extra;
    uintptr_t                 pointers = (uintptr_t)x->aside | (uintptr_t)x->answer | (uintptr_t)x->held |
                         (uintptr_t)x->asked | (uintptr_t)x->defers | (uintptr_t)x->plan | (uintptr_t)x->why |
                         (uintptr_t)x->name | (uintptr_t)x->list | (uintptr_t)x->timer.fire |
                         (uintptr_t)a->in | x->knocks_at.id;

    return !pointers && !x->wants_letters && !x->wants_signals;
}

static void forget_extra(struct weft__lane *l, struct weft__actor *a)
{
    if (WEFT__LIKELY(has_only_bonds(a)))
        weft__bonds_end(l, a, a->reason);
    else
        forget_rarely(l, a);
    put_extra(l, a->extra);
    a->extra = NULL;
}

/* What it has not read, in mailbox order; of what it skipped only if that was little. Signals stay in `in`. */
static __attribute__((noinline)) void bury_all(struct weft__lane *l, struct weft__actor *a,
                                               struct weft_msg *pushed, struct weft_msg *gated)
{
    struct weft_msg *current = a->unusual & WEFT__DUE ? a->current : NULL, *signals = NULL;

    if (current) {
        a->current = current->next = NULL;
        bury(l, a, current, &signals);
    }
    bury(l, a, weft__stash_clear(&a->stash), &signals);
    bury(l, a, a->in, &signals);
    if (a->unusual & WEFT__MORE)
        bury(l, a, a->extra->more, &signals);
    bury(l, a, oldest_first(pushed), &signals);
    bury(l, a, gated, &signals);
    a->in = oldest_first(signals);
}

static void count_end(struct weft__lane *l)
{
    uint64_t ended = atomic_load_explicit(&l->ended, memory_order_relaxed); /* one writer */

    /* release = E (rest.c): who sees that it has ended sees all that it had spawned. */
    atomic_store_explicit(&l->ended, ended + 1, memory_order_release);
}

void weft__actor_end(struct weft__lane *l, struct weft__actor *a)
{
    bool             bounded = a->unusual & WEFT__BOUNDED;
    struct weft_msg *gated = WEFT__RARE(bounded) ? weft__bound_close(l, a) : NULL;
    struct weft_msg *pushed = weft__inbox_close(&a->box);

    /* seq_cst: after the close, see names.c. */
    if (WEFT__RARE(atomic_load_explicit(&a->named, memory_order_seq_cst)))
        weft__names_forget((weft_pid){weft__actor_pid(a)});
    if (WEFT__RARE(pushed || a->in || !weft__stash_is_empty(&a->stash) ||
                   a->unusual & (WEFT__DUE | WEFT__MORE | WEFT__BOUNDED)))
        bury_all(l, a, pushed, gated);
    if (WEFT__LIKELY(weft__fast_can_end(l, a->current)))
        weft__fast_end_current(l, a);
    else
        end_message(l, a->current);
    count_end(l); /* before anybody hears of it */
    if (a->extra)
        forget_extra(l, a);
    else if (WEFT__RARE(a->in))
        refuse_all(l, a);
    while (a->owned) {
        struct weft__owned *o = a->owned;
        a->owned = o->next;
        disown(l, o);
    }
    if (WEFT__RARE(bounded))
        weft__bound_end(a);
    if (a->phase != WEFT__FREE) /* a thread's is set under the lanes' lock, by weft__thread_end */
        a->phase = WEFT__FREE;
    if (weft__actor_generation(weft__actor_pid(a)) != (1u << WEFT__GENERATION_BITS) - 1)
        weft__cells_put(&l->actors, &weft__actors, a);
}
