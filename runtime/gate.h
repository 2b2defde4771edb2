/* gate.h - private to bound.c and room.c. A mailbox that can be full: a gate beside the actor.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * The pid of a bounded actor has a bit that makes it no slot that was ever used, so a send to it leaves the plain path
 * by itself. Its messages lie in the gate, behind a lock: `fresh` and `urgent` are not tested by the present wait, `old`
 * are. The actor is told by one message, the bell, which goes through its own mailbox. Who wants to wait for room is
 * queued with its message; whoever makes room lets it in and answers it, as a request is answered.
 *
 *   I1  A gate is never freed, only used again: a sender that comes too late finds another pid under the lock.
 *   I2  The bell is in the mailbox, or its actor is about to look, whenever `rung`: so what is fresh is seen.
 *   I3  Nobody waits while there is room for the first who does.
 *   I4  waits_for is there exactly while a bounded actor is queued at that gate. A chain of them never closes: who
 *       would close it is refused. It is under `waits` and the lock of the gate it leads to. Order of locks: gate, waits.
 *   I5  Responses and signals (bonds.c) lie among what is fresh, in their place, but for signals that kill. They are never
 *       refused and not put aside, and while there are some the bell rings.
 *   I6  Guards run under the lock: they only read. Everything else of the user's (destroying, converting, what a guard
 *       that ends leaves to do) runs without.
 */
#ifndef WEFT__GATE_H
#define WEFT__GATE_H

#include <pthread.h>
#include <weft/bound.h>

#include "runtime/actor.h"

struct weft__line {
    struct weft_msg *first, *last; /* last: only while there is a first */
};

/* One who waits for room. */
struct weft__guest {
    struct weft__guest *next;
    weft_pid            who;
    uint64_t            number; /* of the request that is answered */
    struct weft_msg    *message, *answer;
    struct weft__gate  *home; /* its own gate, or NULL */
};

struct weft__gate {
    pthread_mutex_t     lock;
    uint64_t            pid; /* under lock, as all but `fn` and the last two; 0: closed */
    struct weft__actor *actor;
    weft_bound          limit;
    size_t              messages, bytes;
    size_t              inner; /* responses and signals, among what is fresh: they need no room */
    struct weft__line   fresh, urgent;
    struct weft_msg
        *heeded; /* of what is fresh: the last that was looked at for what may end the actor; or NULL */
    struct weft__stash  old;
    struct weft__guest *guests, *guests_last;
    _Atomic(weft_fn *)  fn; /* of its actor, whose own place the gate has; any thread (look.c) */
    bool                rung;
    bool                held; /* by the actor, while guards run */
    struct weft_msg     bell;
    struct weft__gate  *waits_for; /* I4 */
    struct weft__gate  *next_free; /* under free_lock */
};

/* An actor's own. */
static inline struct weft__gate *weft__gate_of(struct weft__actor *a)
{
    return atomic_load_explicit(&a->gate, memory_order_relaxed);
}

/* ---- bound.c ---------------------------------------------------------------------------- */

/* Its gate, locked; NULL: it has ended. */
struct weft__gate *weft__gate_enter(weft_pid to);
static inline void weft__gate_leave(struct weft__gate *g) { pthread_mutex_unlock(&g->lock); }

/* All under the lock. In; by that rule, or -1, the gate's own; 0: m is in, or in *dropped. */
void weft__gate_admit(struct weft__gate *g, struct weft_msg *m);
int  weft__gate_put(struct weft__gate *g, struct weft_msg *m, int how, struct weft_msg **dropped);
bool weft__gate_has_room(const struct weft__gate *g, size_t bytes);
void weft__gate_ring(struct weft__lane *l, struct weft__gate *g);
/* Whatever changed: who can be let in is, and the actor hears of it. Returns who is to be answered. */
struct weft__guest *weft__gate_settle(struct weft__lane *l, struct weft__gate *g);

/* ---- room.c ----------------------------------------------------------------------------- */

/* Under the lock. Those for whom there is room now go in; or all have to go: returns them, to be answered. */
struct weft__guest *weft__room_let_in(struct weft__gate *g);
struct weft__guest *weft__room_turn_away(struct weft__gate *g);
/* Without a lock: what they waited for has this result. */
void weft__room_answer(struct weft__lane *l, struct weft__guest *guest, int result);

#endif
