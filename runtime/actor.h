/* actor.h - private to weft. What an actor is, and what a thread knows of the one it runs.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the control block, its life, and the lane: what each thread has of its own.
 * Knows not: policy. Only runtime/ knows mailbox, fibers and sched at once, and it meets them here.
 */
#ifndef WEFT__ACTOR_H
#define WEFT__ACTOR_H

#include <stdatomic.h>
#include <weft.h>
#include <weft/inspect.h>

#include "base/cells.h"
#include "fibers/stack.h"
#include "mailbox/inbox.h"
#include "mailbox/stash.h"
#include "runtime/exceptions.h"
#include "sched/timers.h"
#include "sched/crew.h"

/* The life of an actor. A move that is not here is a bug in weft.
 *   FREE      -> START      spawn; queued, not yet called
 *   START     -> RUNNING    the worker calls its function
 *   RUNNING   -> RECEIVING  it waits on its own stack: parked, or queued with messages to test
 *   RUNNING   -> REACTING   its function or handler returned with something arranged: as above, without a stack
 *   RUNNING   -> YIELDED    it gave way: queued
 *   RECEIVING, REACTING, YIELDED -> RUNNING   the worker goes on with it
 *   RUNNING   -> FREE       it ended; or the system did, from any state
 */
enum weft__phase { WEFT__FREE, WEFT__START, WEFT__RUNNING, WEFT__RECEIVING, WEFT__REACTING, WEFT__YIELDED };

/* Why the plain path is not enough: tested as one byte, once a receive. */
enum {
    WEFT__ARRANGED = 1,     /* a reaction is arranged for when it returns */
    WEFT__TIMED = 2,        /* the present wait has a deadline */
    WEFT__HANDLER = 4,      /* it runs a handler, and never gives way at a send */
    WEFT__THREAD = 8,       /* it is a thread of the user's */
    WEFT__MORE = 16,        /* some of what it took lies in extra->more, behind `in` */
    WEFT__BOUNDED = 32,     /* its mailbox has a gate */
    WEFT__REACT_TIMED = 64, /* what is arranged has a time */
    WEFT__CALLED = 128, /* a guard or a destroy function runs, and must come back: no wait, no arrangement */
    WEFT__NOT_PLAIN = 255,
    /* These keep no receive from the plain path. */
    WEFT__FIRST = 256,    /* the system ends with it */
    WEFT__SIZED = 512,    /* it asked for a stack of a size */
    WEFT__THENS = 1024,   /* it has requests with handlers, open or answered */
    WEFT__PLANNED = 2048, /* it has steps or behaviours, for when nothing is arranged */
    WEFT__FOLLOWS = 4096, /* a step is arranged for when it returns: extra->plan */
    WEFT__SERVING = 8192, /* it waits by a behaviour, or for responses: nothing was arranged */
    WEFT__DUE = 16384,    /* its handler is to be called with `current`, whatever comes */
    WEFT__CASES = 32768   /* what is arranged is for cases */
};

/* Where they lie in `at_once`. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define WEFT__IS_PHASE(phase) ((uint32_t)(phase))
#define WEFT__IS_URGENT ((uint32_t)0xff << 8)
#define WEFT__IS_UNUSUAL(bits) ((uint32_t)(bits) << 16)
#else
#define WEFT__IS_PHASE(phase) ((uint32_t)(phase) << 24)
#define WEFT__IS_URGENT ((uint32_t)0xff << 16)
#define WEFT__IS_UNUSUAL(bits) ((uint32_t)(bits))
#endif

/* Memory that lives as long as its actor: what fits is a cell, as of messages. */
struct weft__owned {
    struct weft__owned *next;
    size_t              bytes;
};

/* Its links and monitors: cells of messages, in chains by their keys. Zero is none. */
struct weft__bonds {
    struct weft_msg **chains; /* NULL: all are in `few` */
    struct weft_msg  *few;
    uint32_t          mask, count;
};

/* What an actor waits for: as in its control block. */
struct weft__wanted {
    void   *type;
    uint8_t type_count;
};

/* What only some actors need. */
struct weft__extra {
    struct weft__timer timer;
    _Atomic uint64_t   wait; /* the parked word the timer is for; 0: none. Owner writes, the timer reads */
    _Atomic int64_t    deadline; /* of that wait */
    union {
        struct weft__actor *actor;
        struct weft__extra *next; /* while it is nobody's */
    };
    char               *name;
    uint64_t            skipped; /* messages that its waits tested and left */
    uint32_t            none;    /* the number of a type that nothing in the stash has, or 0 */
    bool                wants_letters, wants_signals;
    weft_pid            knocks_at; /* while it waits for room there: under the number */
    uint64_t            knock;
    struct weft_msg    *more; /* taken, behind `in`, oldest first */
    struct weft_msg    *more_last;
    struct weft_msg    *answer; /* the response it awaited last, and has not kept */
    struct weft_msg    *aside;  /* while it waits for something else: what it has received */
    struct weft_msg    *held;   /* what it made or kept, and has not given away */
    struct weft__asked *asked;  /* its open requests: request.c */
    weft_handler       *run;    /* while the handler of a response runs: what the actor waits for, */
    void               *state;
    struct weft__wanted waits; /* and goes on waiting for, if that is still the same */
    bool                resumes;
    struct weft__plan  *plan;  /* its steps and behaviours: plan.c */
    _Atomic uint32_t    woken; /* a thread's futex: bit 0, a message came; above, systems that have ended */
    _Atomic uint32_t    heard; /* of `woken`, when it parked; rest.c reads it */
    unsigned            stack_class; /* if it is SIZED */
    weft_type         **list;        /* react's own copy of several types */
    size_t              list_room;
    struct weft__bonds  bonds;     /* bonds.c */
    struct weft__deferred *defers; /* the last first: ending.c */
    struct weft_msg       *why;    /* what goes along with its end */
    int                    reason; /* of an end that is under way */
    bool                   traps;
    struct weft_msg       *heeded; /* of `more`: the last that was looked at for what may end it; or NULL */
    bool                   heeded_in; /* so was all of `in`, but for what is urgent */
    bool                   unheeded;  /* what may end it was told of, and lies in what it took */
    int64_t react_time; /* of what is arranged, if it has one; -1: it has begun, and is over at */
    int64_t react_until;
};

struct weft__actor {
    /* The first line: what senders touch, and what is touched only when it parks or wakes. The first two words are
     * free while the block is (cells.h). */
    union {
        struct weft__task task;
        int64_t           since; /* while it is parked, in no queue: when it did so, by its worker's tick */
    };
    void               *sp;     /* where it goes on, while it waits on its stack */
    struct weft__inbox  box;    /* any thread */
    uint64_t            parked; /* the word of its present or last wait */
    _Atomic uint64_t    pid;    /* any thread; changes when the slot gets a new owner */
    struct weft__extra *extra;
    struct weft__owned *owned;
    /* What it was spawned with: its name, if it has no other. If its mailbox is bounded, and its pid says so: what
     * keeps the bound; read by any thread, which must then find the same pid as before. */
    union {
        _Atomic(weft_fn *)           fn;
        _Atomic(struct weft__gate *) gate;
    };

    /* The second line: its owner only (inbox.h I2), but for two bytes at its end. */
    struct weft_msg    *in;    /* messages not yet tested, oldest first */
    struct weft__stash  stash; /* those that were skipped */
    struct weft__stack *stack; /* while it keeps one */
    union {
        weft_handler *run;
        weft_fn      *start;
    };
    void *state;
    union {
        weft_type               *type;  /* what it waits for, if that is one type */
        weft_type *const        *types; /* if several; react's are its own copy, receive's lie in its frame */
        const struct weft_cases *cases; /* if type_count is 0; NULL: for no message at all */
        int                      reason; /* when it ends, and waits for nothing any more */
    };
    struct weft_msg *current; /* what it received last, and has not kept */
    union {                   /* one word, so that the plain paths test it at once */
        struct {
            uint8_t         phase;
            _Atomic uint8_t urgent; /* any thread sets it: something urgent is in the mailbox */
            uint16_t        unusual;
        };
        uint32_t at_once;
    };
    uint8_t         type_count;
    _Atomic uint8_t named; /* any thread sets it: it has a name, or had one */
} __attribute__((aligned(WEFT__LINE_BYTES)));
_Static_assert(sizeof(struct weft__actor) == 2 * WEFT__LINE_BYTES, "a plain actor is two cache lines");

/* What each thread that meets weft has of its own. */
struct weft__lane {
    struct weft__actor  *self;   /* who runs here */
    struct weft__worker *worker; /* NULL in a thread of the user's */
    struct weft__worker
                       *sender; /* the same, but NULL while a guard runs: plain sends ask no more than this */
    struct weft__stack *spare;  /* the worker's loop runs here; the next actor to block keeps it */
    struct weft__cells  messages, actors;
    struct weft__extra *extras; /* nobody's */
    unsigned            extra_count;
    struct weft__stack_cache stacks;
    struct weft__actor      *hand;       /* taken from a queue already: the loop runs it first */
    struct weft__exceptions *exceptions; /* of C++, that who runs here handles; a worker's only */
    struct weft__exceptions  no_exceptions;
    void                    *home;        /* the worker thread's own stack */
    unsigned                 stack_class; /* of actors that asked for none */
    size_t                   stack_bytes; /* of that class, guard included */
    int                      spawn_error;
    unsigned                 destroying; /* a destroy function runs here: nobody may leave */
    bool                     guarding;   /* a guard does: nobody may wait */
    void                    *deferring;  /* a deferred function does: where it ends (ending.c); or NULL */
    uint64_t                 next_ref;   /* of monitors: no other lane ever gives the same */
    const struct weft_case  *fitting;    /* match.c: what the last message that fitted did so by, */
    struct weft_msg *converted; /* and what it was converted to; behind it what is not needed after all */
    struct later    *fired;     /* later.c: done, to be cleared away */
    struct weft_msg *doomed;    /* later.c: could not be sent, to be buried */
    /* Written by this thread; read by weft_count: relaxed, a little old is fine. */
    _Atomic uint64_t    spawned, ended, dead_letters, late_responses, full_drops;
    struct weft__lane  *next_lane, *next_idle; /* lane.c */
    struct weft__stack *rescue;                /* fault.c: where an actor ends whose own ran over; or NULL */
    void               *walking;  /* fault.c: where a handler goes on that met a bad frame; or NULL */
    bool                has_said; /* why it is about to abort */
    /* Under the lanes' lock. */
    bool                      is_used; /* by a thread that there is */
    bool                      serves;  /* that thread is Weft's own, and does nothing unasked */
    const struct weft__actor *seen;    /* rest.c: who waited here when it looked last, and by which word */
    uint64_t                  seen_word;
};

extern WEFT__HIDDEN struct weft__depot weft__messages, weft__actors;

/* ---- lane.c ---------------------------------------------------------------------------- */
/* initial-exec: no call to find it, also in the shared library. */
extern WEFT__HIDDEN __thread struct weft__lane *weft__lane_here __attribute__((tls_model("initial-exec")));

/* This thread's; one where nobody runs, and no worker, if it has none yet. A fiber may go on in another thread, and a
 * compiler may keep the address of a thread-local variable over a call, so it is read by code that the compiler does
 * not look into, each time. */
static inline struct weft__lane *weft__lane(void)
{
    struct weft__lane *l;

#if defined(__x86_64__)
    __asm__ volatile("movq weft__lane_here@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(l) : : "memory");
#elif defined(__aarch64__)
    void *offset;
    __asm__ volatile("mrs %0, tpidr_el0\n\t"
                     "adrp %1, :gottprel:weft__lane_here\n\t"
                     "ldr %1, [%1, :gottprel_lo12:weft__lane_here]\n\t"
                     "ldr %0, [%0, %1]"
                     : "=&r"(l), "=&r"(offset)
                     :
                     : "memory");
#else
    struct weft__lane *weft__lane_ask(void);
    l = weft__lane_ask();
#endif
    return l;
}

struct weft__lane *weft__lane_need(void); /* makes one; NULL: no memory */
void               weft__lane_leave(void);
/* This thread is Weft's own, and does nothing unasked. */
void               weft__lane_serves(struct weft__lane *l);
struct weft__lane *weft__lane_each(struct weft__lane *before); /* under the lanes' lock */
void               weft__lane_lock(void), weft__lane_unlock(void);
static inline void weft__lane_count(_Atomic uint64_t *counter)
{
    /* relaxed: one writer; a plain add that readers may see late. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* The runtime has called the program, and expects it back: it must not wait. */
static inline bool weft__lane_calls(const struct weft__lane *l)
{
    return l->destroying || l->guarding || l->deferring;
}

/* ---- actor.c ------------------------------------------------------------------------- */
extern WEFT__HIDDEN _Atomic(char *) weft__actor_range; /* all control blocks */
extern WEFT__HIDDEN _Atomic size_t  weft__actor_count; /* slots ever used */
/* Its kind is above: such a slot there never was. */
static inline size_t weft__actor_slot(weft_pid pid)
{
    return pid.id & (((uint64_t)1 << (WEFT__SLOT_BITS + WEFT__KIND_BITS)) - 1);
}
#define WEFT__KIND_BOUNDED ((uint64_t)1 << WEFT__SLOT_BITS)
#define WEFT__GENERATION_ONE ((uint64_t)1 << (WEFT__SLOT_BITS + WEFT__KIND_BITS))
/* Whether there ever was such a slot. */
static inline bool weft__actor_exists(weft_pid pid)
{
    /* acquire: who sees the slot sees the range, also with a pid that was made up. */
    return weft__actor_slot(pid) < atomic_load_explicit(&weft__actor_count, memory_order_acquire);
}
/* Its block, whoever lives there now. */
static inline struct weft__actor *weft__actor_block(weft_pid pid)
{
    char *range = atomic_load_explicit(&weft__actor_range, memory_order_relaxed); /* see above */

    return (struct weft__actor *)range + weft__actor_slot(pid);
}
/* NULL: no memory. */
struct weft__actor *weft__actor_new(struct weft__lane *l, weft_fn *fn, void *arg, uint32_t unusual);
struct weft__extra *weft__actor_extra(struct weft__actor *a); /* NULL: no memory */
/* One for whoever has none; NULL: no memory. Then it is given, and kept for the next if that one has it already, or for
 * nobody. */
struct weft__extra *weft__actor_spare(struct weft__lane *l);
void  weft__actor_give_spare(struct weft__lane *l, struct weft__actor *a, struct weft__extra *spare);
void  weft__actor_forget_extras(struct weft__lane *l); /* those that are nobody's */
void *weft__actor_own(struct weft__lane *l, struct weft__actor *a,
                      size_t bytes); /* zeroed; NULL: no memory */
/* Who lives there now: relaxed, because the mailbox decides, and this only spares the long dead a message. */
static inline uint64_t weft__actor_pid(const struct weft__actor *a)
{
    return atomic_load_explicit(&a->pid, memory_order_relaxed);
}
/* Whose pid it is, or was; NULL: nobody ever had it. */
static inline struct weft__actor *weft__actor_find(weft_pid who)
{
    weft_pid slot = {who.id & ~WEFT__KIND_BOUNDED};

    return who.id && weft__actor_exists(slot) ? weft__actor_block(slot) : NULL;
}
/* False: it has ended. seq_cst: see names.c; the word before the pid: who opened it for a new owner had set that before. */
static inline bool weft__actor_lives(const struct weft__actor *a, weft_pid who)
{
    return atomic_load_explicit(&a->box.word, memory_order_seq_cst) != WEFT__INBOX_CLOSED &&
           atomic_load_explicit(&a->pid, memory_order_seq_cst) == who.id;
}
/* Gives back all that it has but its stack, and its slot, and tells `reason` to who is to hear of it. The caller owns
 * it. */
void                   weft__actor_end(struct weft__lane *l, struct weft__actor *a);
static inline uint32_t weft__actor_generation(uint64_t pid)
{
    return (uint32_t)(pid >> (WEFT__SLOT_BITS + WEFT__KIND_BITS)) & ((1u << WEFT__GENERATION_BITS) - 1);
}

#include "runtime/parts.h"

#endif
