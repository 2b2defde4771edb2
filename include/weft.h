/* weft.h - actors in C: each is a function on a small stack of its own that can really wait.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Read in order: 1 values, 2 message types, 3 actors, 4 sending, 5 receiving, 6 requests, 7 reacting, 8 behaviours,
 * 9 endings, 10 names and time, 11 the system. What a program may leave out is in weft/supervisor.h (who restarts whom),
 * weft/atom.h (labels of ten letters), weft/case.h (matching by more than types), weft/bound.h (mailboxes that can be
 * full), weft/letters.h (messages that nobody read), weft/signal.h (signals of the process as messages) and
 * weft/inspect.h (who is there and waits for what; counters).
 * A call that says WAITS suspends the actor, never its thread; every other call returns at once. Errors are
 * negative ints (enum weft_error), never errno, which after a wait may belong to another thread.
 *
 * Who may call what, unless a call says otherwise: anything, from actors, handlers and any thread of yours.
 * Signal handlers: nothing. Misuse (a body of the wrong type, state on a stack) ends the actor with the error
 * as its reason and one line on stderr that names it; in a thread that Weft did not start, and in a destroy function,
 * it aborts. A C++ exception must not leave a function that Weft calls; named fields are C++20, in order.
 */
#ifndef WEFT_H
#define WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/macros.h"

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0
#define WEFT_VERSION "0.1.0"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#define WEFT__INIT = {}
#else
#define WEFT__INIT
#endif

/* ---- 1. Values: structs of one word, so that none passes for another -------------------------------- */

typedef struct { uint64_t id; } weft_pid; /* an actor; {0} is nobody; never reused; copy it freely */
typedef struct { uint64_t id; } weft_ref; /* a timer or a monitor; {0} is none */
typedef struct { uint64_t id; } weft_pending; /* a request that waits for its response; {0} is none */
typedef struct { int64_t ns; } weft_span; /* a length of time; 0 polls, less acts as 0 */
typedef struct weft_msg weft_msg;

static inline weft_span weft_ns(int64_t n) { weft_span s = {n}; return s; }
static inline weft_span weft_us(int64_t n) { return weft_ns(n < INT64_MAX / 1000 ? n * 1000 : INT64_MAX); }
static inline weft_span weft_ms(int64_t n) { return weft_ns(n < INT64_MAX / 1000000 ? n * 1000000 : INT64_MAX); }
static inline weft_span weft_sec(int64_t n) { return weft_ns(n < INT64_MAX / 1000000000 ? n * 1000000000 : INT64_MAX); }
#define WEFT_FOREVER WEFT__VALUE(weft_span, INT64_MAX)
#define WEFT_NOBODY WEFT__VALUE(weft_pid, 0)

static inline bool weft_same(weft_pid a, weft_pid b) { return a.id == b.id; }
static inline bool weft_is_nobody(weft_pid who) { return who.id == 0; }

enum weft_error { /* returned by calls, and reasons of an end; reason 0 is normal, > 0 is your own */
    WEFT_EGONE = -1,    /* no such actor, or no longer */
    WEFT_ETIME = -2,    /* the time is over */
    WEFT_EFULL = -3,    /* the mailbox is full */
    WEFT_EMEMORY = -4,  /* out of memory or address space */
    WEFT_EUSED = -5,    /* the name is taken; or a child's id, or the child runs */
    WEFT_EDROPPED = -6, /* the request was dropped unanswered */
    WEFT_ETYPE = -7,    /* a message of another type, or none */
    WEFT_EINVALID = -8, /* an argument makes no sense */
    WEFT_EKILLED = -9,  /* ended by weft_kill */
    WEFT_ESTACK = -10,  /* no stack to be had, or it overflowed */
    WEFT_EBUSY = -11,   /* a system runs already */
    WEFT_EENDED = -12,  /* the system has ended */
    WEFT_ESIZE = -13,   /* the body is too large */
    WEFT_ESYSTEM = -14, /* the operating system refused: threads, membarrier, clocks */
    WEFT_ECYCLE = -15,  /* full mailboxes would wait for each other for ever */
    WEFT_ESTOP = -16,   /* told to stop, in an orderly way: by its supervisor, or with the system */
    WEFT_ESTUCK = -17,  /* some would not stop in time, and were left behind */
    WEFT_EDEADLOCK = -18 /* every actor waits, and nothing can wake any of them */
};
/* A sentence for an error or a reason; of your own reasons only that they are. Never NULL. */
const char *weft_strerror(int error);
/* "0.1.0": of the library that runs, WEFT_VERSION is of the header that was compiled. */
const char *weft_version(void);

/* ---- 2. Message types ------------------------------------------------------------------------------- */

typedef struct weft_type {
    const char *name;  /* with bytes: its identity, in the whole process */
    size_t      bytes; /* of the body; 0 for a signal */
    int         tag;   /* its case label; 0: none (FFI) */
    unsigned    id;    /* the runtime's: interned at first use; leave 0 */
    void      (*destroy)(void *body); /* for what a body owns, when a message is dropped unread; or NULL. It may
                                       * send and spawn, but not wait, react or end */
} weft_type;

/* One declaration a line gives the type of the body (weft_body_INCR), a case label (INCR) and a name.
 *     WEFT_MESSAGE(INCR, struct incr { int by; });    WEFT_MESSAGE(VALUE, int);    WEFT_SIGNAL(STOP);
 *     WEFT_MESSAGE_OWNING(LINE, free_line, struct line { char *text; });   a body that owns memory
 * A body is a struct, union, number, pointer or typedef; an array goes into a struct.
 * It is copied as bytes: no C++ objects with constructors. What you have already is sent by its address:
 *     struct incr i = {2};    weft_send_body(to, &weft_type_INCR, &i);
 * The same name and size is the same message in every file; the same name and another size is another. A body that
 * holds a struct needs a field for it: WEFT_MESSAGE(WHO, struct who { weft_pid pid; }); weft_send(to, WHO, .pid = p) */
#define WEFT_MESSAGE(T, ...)            \
    typedef __VA_ARGS__ weft_body_##T;  \
    WEFT__TYPE(T, sizeof(weft_body_##T), NULL)
#define WEFT_MESSAGE_OWNING(T, destroy, ...) \
    typedef __VA_ARGS__ weft_body_##T;       \
    WEFT__TYPE(T, sizeof(weft_body_##T), destroy)
/* A message without a body: its body is a pointer to nothing, so that weft_send(to, STOP, 5) warns. */
#define WEFT_SIGNAL(T)                         \
    typedef struct weft_nothing *weft_body_##T; \
    WEFT__TYPE(T, 0, NULL)

enum { WEFT_TIMEOUT = 0 };              /* the tag of no message */
WEFT__OWN_WILDCARD(WEFT_ANY, 1);        /* in a list of types: whatever the others do not match; never sent */
WEFT__OWN_MESSAGE(WEFT_FAILED, 2, int); /* instead of a response: why there is none */

/* Of a message that was received; `m` stays yours to read until the actor's next receive, or until its
 * handler returns, unless it was kept. */
int         weft_tag(const weft_msg *m);    /* of the listed type that matched; WEFT_TIMEOUT for NULL */
const char *weft_name(const weft_msg *m);   /* "INCR"; "WEFT_TIMEOUT" for NULL */
weft_pid    weft_sender(const weft_msg *m); /* nobody, if a thread that is no actor sent it */
bool        weft_is_type(const weft_msg *m, weft_type *type); /* by identity; false for NULL */
/* The body, checked: a message of another type, or NULL (time over), ends the actor with WEFT_ETYPE. */
const void *weft_body(const weft_msg *m, weft_type *type);
/* The same, to write: for messages that you made or received. What you write nobody else sees: a body that is shared
 * is copied first. NULL: no memory for the copy. */
void       *weft_body_edit(weft_msg *m, weft_type *type);
#define weft_is(m, T) weft_is_type(m, &weft_type_##T)
#define weft_get(m, T) ((const weft_body_##T *)weft_body(m, &weft_type_##T))
#define weft_edit(m, T) ((weft_body_##T *)weft_body_edit(m, &weft_type_##T))

/* ---- 3. Actors -------------------------------------------------------------------------------------- */

typedef void weft_fn(void *arg);

typedef struct weft_options { /* all zero: the defaults */
    const char *name WEFT__INIT;        /* registered (10) until it ends; copied */
    size_t      stack_bytes WEFT__INIT; /* 0: the system's; else it gets a stack of at least this size now */
    size_t      copy_bytes WEFT__INIT;  /* > 0: arg is a copy of so much of *arg, living as long as the actor */
    const struct weft_bound *bound WEFT__INIT; /* its mailbox can be full: see weft/bound.h; copied */
    bool        link WEFT__INIT;        /* linked to the caller (9) before it starts */
    weft_ref   *monitor WEFT__INIT;     /* not NULL: monitored by the caller from its start; the reference goes there */
} weft_options;

/* Makes an actor that will call fn(arg): weft_spawn(counter, &arg, .name = "counter"). It starts later, on any worker.
 * A thread that spawns becomes an actor (weft_self), so that it can be answered. A fiber whose turn is over gives way
 * here. Nobody, and weft_spawn_error() tells why: WEFT_EMEMORY, WEFT_ESTACK (the text of weft_strerror names the
 * sysctl), WEFT_EUSED (the name is taken), WEFT_EINVALID (no function, an absurd size, name or bound); in a thread of
 * yours WEFT_EENDED (the system is being taken down) and WEFT_ESYSTEM (none could start). Nothing is left behind. */
#define weft_spawn(fn, ...) weft_spawn_with(fn, WEFT__OPTIONS(weft_options, __VA_ARGS__))
weft_pid weft_spawn_with(weft_fn *fn, void *arg, const weft_options *how, size_t size);
int      weft_spawn_error(void); /* why this thread's last spawn gave nobody */

/* The calling actor. A thread that was none becomes one; it ends with its thread. Spawning and receiving make a
 * thread an actor too; sending does not. */
weft_pid weft_self(void);
/* Zeroed memory that lives as long as the calling actor: state for react. NULL: none to be had. */
void    *weft_alloc(size_t bytes);
/* WAITS until every other actor that is ready on this worker had a turn; of those that were never called yet, at
 * least one. Takes no message. */
void     weft_yield(void);
/* WAITS, never shorter than `time`. Takes no message and ends the life of none. */
void     weft_sleep(weft_span time);
/* ---- 4. Sending: from any thread, never waits ------------------------------------------------------- */

/* weft_send(to, INCR, .by = 2)   weft_send(to, VALUE, 7)   weft_send(to, STOP)   absent fields are 0: name the others
 * The body is copied. Messages of one sender to one receiver arrive in the order sent. A fiber whose turn is
 * over gives way here; a handler never does. 0, or, and then nothing was queued and nothing leaked:
 * WEFT_EGONE (counted as a dead letter), WEFT_EMEMORY, WEFT_ESIZE (over 1 GiB), WEFT_EINVALID, WEFT_EFULL (a bound).
 * 0 is no promise that it will be read: the receiver may end first, and then it is a dead letter too. Ignoring the
 * result is fine. What an OWNING body owns is taken in any case: a send that fails destroys it. */
#define weft_send(to, ...) weft_send_body(to, WEFT__TYPED(__VA_ARGS__))
int weft_send_body(weft_pid to, weft_type *type, const void *body);
/* The same to `n` actors, with one body, which they share. How many got it. A body that owns something has one owner:
 * such a type is not sent to many (0, and it is destroyed). */
#define weft_send_many(to, n, ...) weft_send_many_body(to, n, WEFT__TYPED(__VA_ARGS__))
size_t weft_send_many_body(const weft_pid *to, size_t n, weft_type *type, const void *body);
/* The same, seen before what is not urgent: it overtakes all that waits in the mailbox. */
#define weft_send_urgent(to, ...) weft_send_urgent_body(to, WEFT__TYPED(__VA_ARGS__))
int weft_send_urgent_body(weft_pid to, weft_type *type, const void *body);
/* The same, so that replies go to `from`. */
#define weft_send_as(from, to, ...) weft_send_as_body(from, to, WEFT__TYPED(__VA_ARGS__))
int weft_send_as_body(weft_pid from, weft_pid to, weft_type *type, const void *body);
/* The same, to who sent `m`; if that is a request, as its response. WEFT_EGONE, too, if it had no sender, or is a
 * request that was answered already. */
#define weft_reply(m, ...) weft_reply_body(m, WEFT__TYPED(__VA_ARGS__))
int weft_reply_body(const weft_msg *m, weft_type *type, const void *body);

/* Messages that you own: made, kept or shared. What the actor still owns when it ends is dropped. All but the first
 * three take m from you, even if they fail. NULL: no memory; from weft_share, too, if the body owns something. */
#define weft_make(...) weft_make_body(WEFT__TYPED(__VA_ARGS__))
WEFT__USED weft_msg *weft_make_body(weft_type *type, const void *body);
weft_msg *weft_keep(weft_msg *m);                           /* yours beyond the next receive; returns m */
WEFT__USED weft_msg *weft_share(weft_msg *m);               /* one more with the same body; it is no request */
int       weft_pass(weft_pid to, weft_msg *m);              /* moved, not copied, and sent by you */
int       weft_forward(weft_pid to, weft_msg *m);           /* moved, with its first sender and its request */
int       weft_reply_pass(const weft_msg *to, weft_msg *m); /* moved, as your reply to `to` */
void      weft_drop(weft_msg *m);                           /* destroys what its body owns; a request fails */

/* ---- 5. Receiving ----------------------------------------------------------------------------------- */

/* WAITS for the first message, in mailbox order, of one of the types; the others stay, in order. The message
 * received before ends here. Never NULL, but for one case: in a thread of yours, when its system has ended. What no
 * receive ever names stays until the actor ends: let a server's list end with WEFT_ANY.
 *     weft_msg *m = weft_receive(INCR, GET, LOCK);    switch (weft_tag(m)) { case INCR: ... */
#define weft_receive(...) WEFT__JOIN(WEFT__RECEIVE_, WEFT__ONE_OR_MORE(__VA_ARGS__))(__VA_ARGS__)
/* The same with a time: NULL when it is over; weft_ms(0) takes what is there or returns at once. */
#define weft_receive_within(time, ...) weft_receive_types(time, WEFT__TYPES(__VA_ARGS__)) /* 16 types at most */
weft_msg *weft_receive_types(weft_span time, weft_type *const *types, size_t n);
weft_msg *weft_receive_type(weft_type *type); /* the same for one, for ever */

/* ---- 6. Requests: only the handle sees the response -------------------------------------------------- */

/* Sends a request; whoever receives it answers by weft_reply, or hands it on by weft_forward. The response is not
 * received: only weft_await and weft_then see it, however many other messages wait. A request that can not be answered
 * any more is answered by WEFT_FAILED at once: WEFT_EGONE, its receiver has ended; WEFT_EDROPPED, it was dropped
 * unanswered, or ended by the next receive or a handler's return; WEFT_EFULL, WEFT_ESIZE (weft/bound.h); WEFT_EMEMORY.
 * A response that comes too late is a dead letter; the request itself is not withdrawn, and will be served. Each handle
 * is awaited, given to weft_then or to a case, or keeps a little memory; weft_await(r, weft_ms(0)) closes one.
 *     weft_pending order = weft_request(shop, ORDER, .item = 7);   ...   weft_await(order, weft_sec(5)) */
#define weft_request(to, ...) weft_request_body(to, WEFT__TYPED(__VA_ARGS__))
WEFT__USED weft_pending weft_request_body(weft_pid to, weft_type *type, const void *body);
/* WAITS for the response and closes the request. NULL: the time is over. What was received before lives on; the
 * response lives until the actor's next weft_await. Only who asked may await; to await a request that is not open ends
 * the actor with WEFT_EINVALID. Of a request of {0}, for which there was no memory, the response is WEFT_FAILED. */
weft_msg *weft_await(weft_pending request, weft_span time);
#define weft_ask(time, to, ...) weft_await(weft_request(to, __VA_ARGS__), time)

/* ---- 7. Reacting: waiting without a stack ----------------------------------------------------------- */

typedef void weft_handler(void *state, weft_msg *m); /* m is NULL when the time is over */

/* An arrangement: it returns at once and takes effect when the actor's function, or handler, returns, so no
 * frame is ever skipped. Then the stack goes back, and the actor waits as a closure for one message of the
 * types; run(state, m) handles it, on a stack of the worker's, as a plain call. A handler may do anything an
 * actor may: react again, receive in the middle (it then owns a stack until it returns), or return with
 * nothing arranged, which ends the actor. The last arrangement counts. `state` must not lie on the stack:
 * that ends the actor with WEFT_EINVALID, and so does calling this in a thread that merely became an actor. */
#define weft_react(run, state, ...) \
    WEFT__JOIN(WEFT__REACT_, WEFT__ONE_OR_MORE(__VA_ARGS__))(run, state, __VA_ARGS__)
#define weft_react_within(time, run, state, ...) \
    weft_react_types(time, run, state, WEFT__TYPES(__VA_ARGS__))
void weft_react_types(weft_span time, weft_handler *run, void *state, weft_type *const *types, size_t n);
void weft_react_type(weft_handler *run, void *state, weft_type *type); /* the same for one, for ever */

/* Without waiting: run(state, response), once, between the actor's other handlers; m is NULL when the time was over
 * first. Whatever else the actor waits for, it goes on waiting for. An actor with a handler that has not run yet does
 * not end by returning. Any number at once. A request that is not open, or without memory, ends the actor. */
void weft_then(weft_pending request, weft_span time, weft_handler *run, void *state);

/* In sequence: arrangements as weft_react is one. A function has run out when it, and all that it arranged, has
 * returned with nothing arranged. */
void weft_and_then(weft_fn *first, weft_fn *next, void *state); /* next(state), when first(state) has run out */
void weft_loop(weft_fn *body, void *state);                     /* body(state), each time it has run out */
void weft_loop_while(bool (*test)(void *state), weft_fn *body, void *state); /* as long as test(state) says so */

/* ---- 8. Behaviours: reactions that stay --------------------------------------------------------------- */

/* An actor whose code has returned, with nothing arranged, serves messages by the top of its stack of behaviours, one
 * after another, until it is replaced; what that does not match stays for the next. When the stack is empty the actor
 * ends. `cases` (weft/case.h) are not copied and must live as long; neither they nor `state` may lie on the stack. In
 * spawned actors only. */
struct weft_cases;
void weft_become(const struct weft_cases *cases, void *state);      /* in place of the top */
void weft_become_keep(const struct weft_cases *cases, void *state); /* above it */
int  weft_unbecome(void); /* takes the top away; WEFT_EINVALID: there was none */

/* ---- 9. Endings --------------------------------------------------------------------------------------- */

/* An actor ends with a reason: 0, normal, when its function has returned and nothing is arranged; else what weft_end
 * says. Whoever is linked to it or monitors it hears of that, after all that it had sent them. */

/* Ends the calling actor. Its frames are dropped, not unwound: what must be cleared away is for weft_defer. A thread of
 * yours that became an actor ends too (as by pthread_exit); in the main thread the process ends, by exit, with status 0
 * for reason 0 and else 1. */
WEFT__NORETURN weft_end(int reason);
/* The same, and a message goes along, as long as there is memory for it: weft_end_with(1, BAD_LINE, .number = 7). A body
 * that owns something has one owner, and is destroyed instead. */
#define weft_end_with(reason, ...) weft_end_with_body(reason, WEFT__TYPED(__VA_ARGS__))
WEFT__NORETURN weft_end_with_body(int reason, weft_type *type, const void *body);

WEFT__OWN_MESSAGE(WEFT_DOWN, 4, struct weft_down { weft_pid who; weft_ref ref; int reason; });
WEFT__OWN_MESSAGE(WEFT_EXIT, 5, struct weft_exited { weft_pid who; int reason; bool linked; /* or by weft_exit */ });
/* The message that went along with the end that a WEFT_DOWN or WEFT_EXIT tells of, as long as that lives. NULL: none. */
const weft_msg *weft_carried(const weft_msg *m);

/* A link goes both ways: when one of the two ends with any other reason than 0, the other ends with that reason at its
 * next wait or yield, unless it traps. Then, and for 0 too, it receives a WEFT_EXIT. Linking twice is linking once;
 * linking oneself nothing. To one that has ended: as if it ended now, with WEFT_EGONE. After weft_unlink nothing that
 * the other does reaches the caller; a WEFT_EXIT that was told before stays. WEFT_EMEMORY. */
int      weft_link(weft_pid other);
int      weft_unlink(weft_pid other);
/* From now on, what would end the caller comes as a WEFT_EXIT, but for weft_kill. Returns what it was. The first time it
 * may lack memory, which ends the caller. */
bool     weft_trap(bool on);
/* A WEFT_DOWN comes when `who` ends, once: at once, with WEFT_EGONE, if it has ended. Each call is a monitor of its own.
 * {0}: no memory. */
weft_ref weft_monitor(weft_pid who);
/* No WEFT_DOWN of this monitor is received from now on. 0; or WEFT_EGONE: it had come, or there is no such monitor of the
 * caller's. The first takes one that has come out of the mailbox, the second leaves it there. */
int      weft_demonitor(weft_ref monitor);
int      weft_demonitor_keep(weft_ref monitor);

/* Ends another: at a wait, when it has received what it waits for of all that was sent before; or, without that, where it
 * gives way (a yield; a send or spawn at the end of its turn). As a link would, but that a reason of 0 ends nobody but
 * the caller itself. */
int      weft_exit(weft_pid who, int reason);
/* The same with WEFT_EKILLED, whether it traps or not, and whatever is in its mailbox. An actor that never waits, or is
 * in a call that blocks its thread, goes on until it does. Both: 0, WEFT_EGONE, WEFT_EMEMORY. */
int      weft_kill(weft_pid who);

/* fn(arg) runs when the calling actor ends, however it does; what came last runs first. It may send, spawn and look who
 * it is, but not wait or react; weft_end in it ends only the function. WEFT_EMEMORY. */
int      weft_defer(weft_fn *fn, void *arg);
int      weft_undefer(weft_fn *fn, void *arg); /* forgets the last such; WEFT_EGONE: there is none */

/* ---- 10. Names and time ------------------------------------------------------------------------------- */

/* A name belongs to one actor at most, until it ends or is unregistered. An actor may have several. Any actor, any
 * thread. WEFT_EUSED: it is taken; WEFT_EGONE: no such actor, or no such name; WEFT_EINVALID: no name, or longer than
 * 255 bytes; WEFT_EMEMORY. */
int      weft_register(const char *name, weft_pid who);
int      weft_unregister(const char *name);
weft_pid weft_whereis(const char *name); /* nobody, if nobody has it */
#define weft_send_name(name, ...) weft_send_name_body(name, WEFT__TYPED(__VA_ARGS__))
int      weft_send_name_body(const char *name, weft_type *type, const void *body); /* nobody has it: WEFT_EGONE */

/* Sends later, from you; or every so often, at least 1 us apart, the first after one period. Not sooner, ever; in a
 * system with a seed by virtual time. What repeats ends with its receiver, and does not make up for beats it was too
 * late for. {0}: no memory, WEFT_EINVALID (no type; a period of 0 or less; a body that owns something can be sent once
 * only), or the system ends; what the body owns is destroyed then. */
#define weft_send_after(delay, to, ...) weft_send_after_body(delay, to, WEFT__TYPED(__VA_ARGS__))
#define weft_send_every(period, to, ...) weft_send_every_body(period, to, WEFT__TYPED(__VA_ARGS__))
weft_ref weft_send_after_body(weft_span delay, weft_pid to, weft_type *type, const void *body);
weft_ref weft_send_every_body(weft_span period, weft_pid to, weft_type *type, const void *body);
/* 0: cancelled, it was not sent, or will not be sent again. WEFT_EGONE: too late, or cancelled before. */
int      weft_cancel(weft_ref timer);

/* ---- 11. The system ---------------------------------------------------------------------------------- */

/* A fatal signal in an actor (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT) is reported on stderr: the actor, its frames,
 * of an overflow how large the stack was; then it goes on to the handler that was there before the system began, or
 * ends the process. A handler that is set later, with SA_ONSTACK, stands in place of Weft's: let it call that. An
 * overflow ends: */
enum weft_overflow {
    WEFT_OVERFLOW_FATAL,  /* the process, as any segmentation fault */
    WEFT_OVERFLOW_ISOLATE /* that actor only, with WEFT_ESTACK, if it was in its own code: in the program, linked
                           * dynamically and without a malloc of its own, or in the library of its function. The
                           * process, if it was in any other code (the C library, Weft, another library), or in a
                           * function that such code had called */
};

typedef struct weft_config { /* all zero: the defaults */
    int      workers WEFT__INIT;     /* threads that run actors; 0: WEFT_WORKERS, or as many as CPUs are allowed */
    size_t   stack_bytes WEFT__INIT; /* at least so much a stack; 0: 64 KiB with its guard; pages come when touched */
    uint64_t seed WEFT__INIT;        /* not 0, or WEFT_SEED: virtual time, and the same run of all actors each time */
    enum weft_overflow overflow WEFT__INIT; /* what the overflow of a stack ends */
    bool     wait_all WEFT__INIT;    /* ends when the last of its actors has ended, not with the first */
    bool     deadlock WEFT__INIT;    /* true, or WEFT_DEADLOCK=1: when every actor waits and nothing can wake any of them,
                                      * who waits for what is written to stderr, and the run ends with WEFT_EDEADLOCK.
                                      * A timer could, or a signal that is asked for, or any thread of the process, but
                                      * for those that wait themselves, as actors, without a time */
    bool     dump_on_quit WEFT__INIT; /* true, or WEFT_DUMP_ON_QUIT=1: on SIGQUIT a weft_dump (weft/inspect.h) to stderr */
} weft_config;

/* Runs a system whose first actor calls fn(arg) and returns that actor's reason when it has ended; the others
 * are ended then: weft_run(first, NULL, .seed = 42). Blocks the calling thread. WEFT_EBUSY: one runs
 * already; WEFT_EINVALID, WEFT_EMEMORY, WEFT_ESTACK, WEFT_ESYSTEM: it did not start.
 * Optional: any call that needs a system starts one with defaults, and that one ends with the process. */
#define weft_run(fn, ...) weft_run_with(fn, WEFT__OPTIONS(weft_config, __VA_ARGS__))
int weft_run_with(weft_fn *first, void *arg, const weft_config *how, size_t size);
/* Ends the system in an orderly way: supervisors first, which stop their children, the last one first; then all others,
 * with WEFT_ESTOP, as by weft_exit, also those that are spawned meanwhile; who is left when `time` is over is killed.
 * Threads of yours are not ended; their receives return NULL. weft_run returns `reason` then, or WEFT_ESTUCK: some did not
 * come back even so, in a second; stderr names them, their threads and memory stay, and no other system can follow.
 * From an actor it returns at once; a thread of yours waits for the end, and learns the result: 0 or WEFT_ESTUCK. Who
 * comes second waits as well, and changes nothing. WEFT_EGONE: none runs, or it is at its end anyway. WEFT_EMEMORY,
 * WEFT_ESYSTEM: nothing was done. A system that was started by need can be stopped, too; the next need starts another. */
int weft_stop(int reason, weft_span time);

/* Where Weft's heap memory comes from: malloc and free unless you say otherwise, before anything else. Called
 * from any thread, with locks of Weft's held: they must not call Weft. Stacks, messages and control blocks are mapped,
 * and do not come from here. WEFT_EBUSY: too late. WEFT_EINVALID: a function is missing. */
typedef struct weft_allocator {
    void *(*get)(size_t bytes, void *with);
    void (*put)(void *block, void *with);
    void *with;
} weft_allocator;
int weft_use_allocator(const weft_allocator *allocator);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
