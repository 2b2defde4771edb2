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
    WEFT__GUARDING = 128,   /* a guard of its cases runs: it may not wait, nor give way */
    WEFT__NOT_PLAIN = 255,
    /* These keep no receive from the plain path. */
    WEFT__FIRST = 256,    /* the system ends with it */
    WEFT__SIZED = 512,    /* it asked for a stack of a size */
    WEFT__THENS = 1024,   /* it has requests with handlers, open or answered */
    WEFT__PLANNED = 2048, /* it has steps or behaviours, for when nothing is arranged */
    WEFT__FOLLOWS = 4096, /* a step is arranged for when it returns: extra->plan */
    WEFT__SERVING = 8192, /* it waits by a behaviour, or for responses: nothing was arranged */
    WEFT__CASES = 32768,  /* what is arranged is for cases */
    WEFT__DUE = 16384     /* its handler is to be called with `current`, whatever comes */
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

/* What only some actors need. */
struct weft__extra {
    struct weft__timer  timer;
    _Atomic uint64_t    wait; /* the parked word the timer is for; 0: none. Owner writes, the timer reads */
    _Atomic int64_t     deadline; /* of that wait */
    struct weft__actor *actor;
    char               *name;
    uint64_t            skipped; /* messages that its waits tested and left */
    uint32_t            none;    /* the number of a type that nothing in the stash has, or 0 */
    bool                wants_letters;
    weft_pid            knocks_at; /* while it waits for room there: under the number */
    uint64_t            knock;
    struct weft_msg    *more; /* taken, behind `in`, oldest first */
    struct weft_msg    *more_last;
    struct weft_msg    *answer; /* the response it awaited last, and has not kept */
    struct weft_msg    *held;   /* what it made or kept, and has not given away */
    struct weft__asked *asked;  /* its open requests: request.c */
    weft_handler       *run;    /* while the handler of a response runs: what the actor waits for */
    void               *state;
    struct weft__plan  *plan;  /* its steps and behaviours: plan.c */
    _Atomic uint32_t    woken; /* a thread's futex: bit 0, a message came; above, systems that have ended */
    unsigned            stack_class; /* if it is SIZED */
    weft_type         **list;        /* react's own copy of several types */
    size_t              list_room;
    int64_t             react_time; /* of what is arranged, if it has one; -1: it has begun, and is over at */
    int64_t             react_until;
};

struct weft__actor {
    /* The first line: what senders touch, and what is touched only when it parks or wakes. The first two words are
     * free while the block is (cells.h). */
    _Alignas(WEFT__LINE_BYTES) struct weft__task task;
    void               *sp;     /* where it goes on, while it waits on its stack */
    struct weft__inbox  box;    /* any thread */
    uint64_t            parked; /* the word of its present or last wait */
    _Atomic uint64_t    pid;    /* any thread; changes when the slot gets a new owner */
    struct weft__extra *extra;
    struct weft__owned *owned;
    /* What it was spawned with: its name, if it has no other. If its mailbox is bounded, and its pid says so: what keeps
     * the bound; read by any thread, which must then find the same pid as before. */
    union {
        _Atomic(weft_fn *)           fn;
        _Atomic(struct weft__gate *) gate;
    };

    /* The second line: its owner only (inbox.h I2). */
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
};
_Static_assert(sizeof(struct weft__actor) == 2 * WEFT__LINE_BYTES, "a plain actor is two cache lines");

/* What each thread that meets weft has of its own. */
struct weft__lane {
    struct weft__actor  *self;   /* who runs here */
    struct weft__worker *worker; /* NULL in a thread of the user's */
    struct weft__worker
                       *sender; /* the same, but NULL while a guard runs: plain sends ask no more than this */
    struct weft__stack *spare;  /* the worker's loop runs here; the next actor to block keeps it */
    struct weft__cells  messages, actors;
    struct weft__stack_cache stacks;
    struct weft__actor      *hand;        /* taken from a queue already: the loop runs it first */
    void                    *home;        /* the worker thread's own stack */
    unsigned                 stack_class; /* of actors that asked for none */
    size_t                   stack_bytes; /* of that class, guard included */
    int                      spawn_error;
    unsigned                 destroying; /* a destroy function runs here: nobody may leave */
    bool                     guarding;   /* a guard does: nobody may wait */
    const struct weft_case  *fitting;    /* match.c: what the last message that fitted did so by, */
    struct weft_msg *converted; /* and what it was converted to; behind it what is not needed after all */
    struct later    *fired;     /* later.c: done, to be cleared away */
    struct weft_msg *doomed;    /* later.c: could not be sent, to be buried */
    /* Written by this thread; read by weft_count: relaxed, a little old is fine. */
    _Atomic uint64_t   spawned, ended, dead_letters, late_responses, full_drops;
    struct weft__lane *next_lane, *next_idle; /* lane.c */
};

extern WEFT__HIDDEN struct weft__depot weft__messages, weft__actors;

/* ---- lane.c ---------------------------------------------------------------------------- */
/* initial-exec: no call to find it, also in the shared library. */
extern WEFT__HIDDEN __thread struct weft__lane *weft__lane_here __attribute__((tls_model("initial-exec")));

/* This thread's; one where nobody runs, and no worker, if it has none yet. A fiber may go on in another thread, and a compiler may keep the address of a
 * thread-local variable over a call, so it is read by code that the compiler does not look into, each time. */
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
struct weft__lane *weft__lane_each(struct weft__lane *before); /* under the lanes' lock */
void               weft__lane_lock(void), weft__lane_unlock(void);
static inline void weft__lane_count(_Atomic uint64_t *counter)
{
    /* relaxed: one writer; a plain add that readers may see late. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
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
void               *weft__actor_own(struct weft__lane *l, struct weft__actor *a,
                                    size_t bytes); /* zeroed; NULL: no memory */
/* Who lives there now: relaxed, because the mailbox decides, and this only spares the long dead a message. */
static inline uint64_t weft__actor_pid(const struct weft__actor *a)
{
    return atomic_load_explicit(&a->pid, memory_order_relaxed);
}
/* Gives back all that it has but its stack, and its slot. The caller owns it. */
void                   weft__actor_end(struct weft__lane *l, struct weft__actor *a);
static inline uint32_t weft__actor_generation(uint64_t pid)
{
    return (uint32_t)(pid >> (WEFT__SLOT_BITS + WEFT__KIND_BITS)) & ((1u << WEFT__GENERATION_BITS) - 1);
}

/* ---- misuse.c --------------------------------------------------------------------------- */
_Noreturn void weft__misuse(int reason, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char    *weft__actor_name(const struct weft__actor *a, char *room, size_t size);

/* ---- message.c, types.c -------------------------------------------------------------- */
struct weft_msg *weft__message_new(struct weft__lane *l, weft_type *type, const void *body, int *error);
/* The same for the runtime's own use; without a body it is zero. */
struct weft_msg *weft__message_of(struct weft__lane *l, weft_type *type, const void *body);
size_t           weft__message_bytes(const struct weft_msg *m);    /* of its body */
void weft__message_free(struct weft__lane *l, struct weft_msg *m); /* it was read: a request is dropped */
void weft__message_end(struct weft__lane *l, struct weft_msg *m,
                       int why); /* the same, and a request fails so */
void weft__message_drop(struct weft__lane *l, struct weft_msg *m,
                        int why); /* destroys its body; a request fails */
void weft__message_dead(struct weft__lane *l, struct weft_msg *m,
                        int why);                                   /* the same, and it is a dead letter */
void weft__message_unsent(const weft_type *type, const void *body); /* destroys what the body owns */
void weft__message_hold(struct weft__actor *a, struct weft_msg *m); /* it is the user's: listed */
void weft__message_unhold(struct weft_msg *m);
void weft__message_claim(struct weft__lane *l, struct weft_msg *m); /* whoever had it has it no more */
/* One more with the same body, and nothing else of it but type, label and sender. NULL: no memory. */
struct weft_msg *weft__message_copy(struct weft__lane *l, const struct weft_msg *m);
bool             weft__message_is_sharable(const struct weft_msg *m); /* its body owns nothing */
enum {
    WEFT__TYPE_ANY = 1,
    WEFT__TYPE_RESPONSE,                /* a response on its way */
    WEFT__TYPE_BELL,                    /* no message: a gate has some (bound.c) */
    WEFT__TYPE_INNER = WEFT__TYPE_BELL, /* up to here: never seen by the user */
    WEFT__TYPE_FAILED,
    WEFT__TYPE_DEAD_LETTER
};
unsigned         weft__types_id(weft_type *type); /* interned at need; 0: no memory, or it has no name */
const weft_type *weft__types_of(unsigned id);
bool             weft__types_owns(unsigned id);                /* a body of that type owns something */
void             weft__types_destroy(unsigned id, void *body); /* what a body of that type owns */

/* ---- send.c ------------------------------------------------------------------------------ */
/* To a mailbox, from wherever: no turn ends here. m is gone afterwards. 0, or an error and a dead letter. */
int weft__send_quietly(struct weft__lane *l, weft_pid to, struct weft_msg *m);
int weft__send(struct weft__lane *l, weft_pid to, struct weft_msg *m); /* as the user's: it may give way */
/* To who lives there, whatever the kind; m->to and the rest are set. WEFT_EGONE: m is still the caller's. */
int weft__send_directly(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m);
/* To a mailbox, and nothing else: no code of the user's runs. An error: m is still the caller's. What had to make room
 * is added to *dropped, and for the caller to bury. */
int weft__send_put(struct weft__lane *l, weft_pid to, struct weft_msg *m, struct weft_msg **dropped);
int weft__send_end(struct weft__lane *l,
                   int                error); /* returns the error; a fiber whose turn is over gives way */
/* Ends the actor if a guard calls. */
static inline void weft__send_check(const struct weft__lane *l)
{
    if (WEFT__RARE(l->guarding))
        weft__misuse(WEFT_EINVALID, "a guard sends: it may only read");
}
/* The user's message is the runtime's now, to be sent by the calling actor. Not 0: it is gone. */
int weft__send_claim(struct weft__lane **l, weft_msg *m);
/* ---- react.c ----------------------------------------------------------------------------- */
/* Ends the actor if `call` may not be made here, or not with something on this stack. */
void weft__react_check(struct weft__lane *l, const char *call, const void *state);
bool weft__react_on_stack(struct weft__lane *l, struct weft__actor *a, const void *state);

/* ---- match.c ----------------------------------------------------------------------------- */
bool weft__match_fits(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m);
/* What was the last to fit is received: its label, its handler, what it is converted to. */
struct weft_msg *weft__match_accept(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m);
struct weft_msg *weft__match_stash(struct weft__lane *l, struct weft__actor *a); /* from what was skipped */
struct weft_msg *weft__match_seek(struct weft__lane *l, struct weft__actor *a,
                                  struct weft__stash *stash); /* what fits; not accepted yet */
void             weft__match_forget(struct weft__lane *l);    /* a guard ended its actor */
struct weft_msg *weft__match_response(struct weft__actor *a); /* from what was answered, if it waits so */

/* ---- request.c --------------------------------------------------------------------------- */
extern weft_type weft__request_type; /* of every response, on its way */
void             weft__request_arrived(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m);
/* The response, if it is there: the request is closed then. */
struct weft_msg *weft__request_take(struct weft__actor *a, uint64_t number);
/* The same, left there, as it came. */
const struct weft_msg *weft__request_peek(const struct weft__actor *a, uint64_t number);
bool weft__request_is_ready(const struct weft__actor *a); /* some handler's response is there */
void weft__request_run(struct weft__actor *a);            /* runs one such */
int  weft__request_fail(struct weft__lane *l, const struct weft_msg *m, int why); /* leaves m; or no memory */
void weft__request_abandon(struct weft__lane *l, struct weft_msg *m); /* m goes on without its request */
void weft__request_end_all(struct weft__lane *l, struct weft__actor *a);
int  weft__request_respond(struct weft__lane *l, const struct weft_msg *to, struct weft_msg *m);
/* For waits of the runtime's own that end with an answer. 0, NULL: no memory. */
uint64_t weft__request_open(struct weft__actor *a);
struct weft_msg *
weft__request_blank(struct weft__lane *l); /* an answer: WEFT_FAILED, with an int to be filled in */
struct weft_msg *weft__request_wait(struct weft__lane *l, struct weft__actor *a, uint64_t number,
                                    weft_span time); /* leaves it open; NULL: the time is over */
void             weft__request_close(struct weft__actor *a, uint64_t number);
void weft__request_name(struct weft_msg *m); /* the response has arrived: it has its own type again */

/* ---- plan.c ------------------------------------------------------------------------------ */
/* Nothing was arranged. True: something goes on, or is waited for (then type_count is 0). */
enum weft__next { WEFT__ENDS, WEFT__WAITS, WEFT__STEPS };
enum weft__next weft__plan_next(struct weft__actor *a);
void            weft__plan_end(struct weft__actor *a);

/* ---- later.c, names.c, letters.c, bound.c -------------------------------------------------- */
weft_ref weft__later_send(struct weft__lane *l, int64_t delay, int64_t period, weft_pid to,
                          struct weft_msg *m);
void     weft__later_prepare(void);                 /* before the first start */
void     weft__later_end_all(struct weft__lane *l); /* while no worker runs */
void     weft__names_forget(weft_pid who);          /* all of its names */
void     weft__letters_forget(weft_pid who);
bool     weft__letters_send(struct weft__lane *l, struct weft_msg *m, int why); /* false: nobody wants it */
int      weft__bound_give(struct weft__actor *a, const struct weft_bound *bound);
int      weft__bound_send(struct weft__lane *l, weft_pid to, struct weft_msg *m);
/* As weft__send_put. */
int weft__bound_put(struct weft__lane *l, weft_pid to, struct weft_msg *m, struct weft_msg **dropped);
struct weft_msg *weft__bound_first(struct weft__lane *l, struct weft__actor *a); /* as in wait.c */
struct weft_msg *weft__bound_again(struct weft__lane *l, struct weft__actor *a); /* its bell rang */
struct weft_msg *weft__bound_close(struct weft__lane  *l,
                                   struct weft__actor *a); /* all that it held, in no order */
void             weft__bound_end(struct weft__actor *a);
void     weft__bound_withdraw(struct weft__lane *l, struct weft__actor *a); /* it waits for room, and ends */
weft_fn *weft__bound_fn(struct weft__actor *a);

/* ---- wait.c: parking --------------------------------------------------------------------- ----------------------------------------------------- */
struct weft_msg *weft__wait_first(struct weft__lane  *l,
                                  struct weft__actor *a); /* a new wait: from the oldest on */
struct weft_msg *weft__wait_again(struct weft__lane  *l,
                                  struct weft__actor *a);            /* the same wait: what is new */
void weft__wait_urgent(struct weft__lane *l, struct weft__actor *a); /* what is urgent is stashed */
bool weft__wait_is_over(struct weft__actor *a);                      /* TIMED, and its deadline has passed */
int  weft__wait_until(struct weft__actor *a, int64_t deadline);      /* before it parks; -1: no memory */
void weft__wait_done(struct weft__actor *a);

/* What it waits for, while a wait in its middle waits for something else: that wait's frame keeps it. */
struct weft__wanted {
    void   *type;
    uint8_t type_count;
};
static inline struct weft__wanted weft__wait_for(struct weft__actor *a, void *type, uint8_t count)
{
    struct weft__wanted kept = {a->type, a->type_count};

    a->type = type;
    a->type_count = count;
    a->parked += WEFT__INBOX_NEXT_WAIT;
    return kept;
}
static inline void weft__wait_restore(struct weft__actor *a, struct weft__wanted kept)
{
    a->type = kept.type;
    a->type_count = kept.type_count;
}
/* Waits on its stack until a message comes, or the time is over: NULL. `current` is what was received, afterwards. */
struct weft_msg *weft__wait_block(struct weft__lane *l, struct weft__actor *a, weft_span time);

/* ---- loop.c ----------------------------------------------------------------------------- */
void             weft__loop(void);
struct weft_msg *weft__loop_park(struct weft__lane *l, struct weft__actor *a);
void             weft__loop_yield(struct weft__lane *l, struct weft__actor *a);
_Noreturn void   weft__loop_end(struct weft__lane *l, struct weft__actor *a, int reason);
void             weft__loop_wake(struct weft__lane *l, struct weft__actor *a);

/* ---- thread.c, system.c ----------------------------------------------------------------- */
struct weft__lane *weft__thread_actor(void); /* this thread's lane, and it is an actor; NULL: impossible */
struct weft_msg   *weft__thread_park(struct weft__lane *l, struct weft__actor *a, weft_span time);
void               weft__thread_wake(struct weft__actor *a);
void               weft__thread_end(struct weft__lane *l, struct weft__actor *a); /* with its thread */
void               weft__thread_sleep(weft_span time);
void               weft__thread_release_all(void); /* the system has ended: nobody will write to them */
void               weft__system_ended(int reason); /* the first actor has */
/* A foreign thread makes an actor: between these two a system runs, and goes on running. 0 or an error. */
int  weft__system_hold(void);
void weft__system_release(void);
bool weft__system_runs(void);

#endif
