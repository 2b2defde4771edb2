/* weft/supervisor.h - actors that start others, and start them again when they fail.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 *     static const weft_child three[] = {{.fn = worker}, {.fn = worker}, {.id = "log", .fn = logger}};
 *     weft_supervise(&(weft_supervisor){.strategy = WEFT_ONE_FOR_ONE, .children = three, .count = 3});
 *
 * A supervisor is an actor. It starts its children in order, linked to itself, and stops them in the opposite order.
 * It traps exits, so nothing that a child does ends it; but when it has to restart too often it gives up: it says so on
 * stderr, stops all children and ends with WEFT_ESTOP. A child may be a supervisor in its turn, so they form trees. The
 * rules are those of Erlang/OTP. A child is started when it is spawned and has its name; when its code first runs nobody
 * waits for. One that is a supervisor is started when all of its children are.
 */
#ifndef WEFT_SUPERVISOR_H
#define WEFT_SUPERVISOR_H

#include "../weft.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

enum weft_strategy {
    WEFT_ONE_FOR_ONE,   /* only the child that has ended is started again */
    WEFT_ONE_FOR_ALL,   /* all others are stopped, and then all are started again */
    WEFT_REST_FOR_ONE,  /* the same for those that were started after it */
    WEFT_SIMPLE_DYNAMIC /* one child specification, for any number of children, which weft_start_child adds */
};

enum weft_restart { /* of a child that has ended by itself */
    WEFT_PERMANENT, /* always started again */
    WEFT_TRANSIENT, /* unless it ended with 0 or WEFT_ESTOP; and with all others, of ONE_FOR_ALL and REST_FOR_ONE */
    WEFT_TEMPORARY  /* never, and forgotten when it has ended */
};

struct weft_supervisor;

typedef struct weft_child { /* all zero but fn, or supervisor: the defaults */
    const char *id WEFT__INIT;       /* to speak of it by; unique in its supervisor; copied; NULL: none */
    weft_fn    *fn WEFT__INIT;       /* called as fn(arg), each time it is started */
    void       *arg WEFT__INIT;      /* must live as long as the supervisor, unless copy_bytes says that it is copied */
    weft_options options WEFT__INIT; /* as for weft_spawn; link and monitor are the supervisor's own affair. Of a child
                                      * that is a supervisor: its stack, and its name if it has none itself */
    enum weft_restart restart WEFT__INIT;
    /* How long it may take to stop when it is told to (WEFT_ESTOP) before it is killed; 0: 5 s, and for a supervisor
     * for ever; less than 0: it is killed at once; WEFT_FOREVER. Dynamic ones are stopped all at once. */
    weft_span   shutdown WEFT__INIT;
    const struct weft_supervisor *supervisor WEFT__INIT; /* instead of fn: the child is such a supervisor; copied */
} weft_child;

typedef struct weft_supervisor { /* copied with all that it points to, but for what `arg` of a child is */
    const char        *name WEFT__INIT; /* registered; or NULL */
    enum weft_strategy strategy WEFT__INIT;
    int                max_restarts WEFT__INIT; /* more than so many within `period`, and it gives up; 0: 1; -1: none */
    weft_span          period WEFT__INIT;       /* 0: 5 s */
    /* > 0: it waits so long before a restart, and twice as long before the next, if the child (of ONE_FOR_ALL and
     * REST_FOR_ONE: all of them) had not lived for a `period`; at most backoff_max (0: a minute). Those that stop with
     * another do so before. Who is stopped by a call meanwhile is not started. */
    weft_span          backoff WEFT__INIT;
    weft_span          backoff_max WEFT__INIT;
    const weft_child  *children WEFT__INIT; /* for WEFT_SIMPLE_DYNAMIC one, which is only a pattern */
    size_t             count WEFT__INIT;
    /* Linked to the caller: it ends with the caller, whatever the reason, even 0; and the caller with it, as by any
     * link. A child that is a supervisor always is, to its own. */
    bool               link WEFT__INIT;
} weft_supervisor;

/* WAITS until its children are started. Nobody, and weft_spawn_error() tells why: a child could not be started (then
 * those before it are stopped again), WEFT_EINVALID (a child without a function, two with one id, not one child for
 * WEFT_SIMPLE_DYNAMIC, an unknown strategy, over 32 supervisors in each other), WEFT_EMEMORY, WEFT_EUSED (a name).
 *
 * To stop it: weft_exit(s, WEFT_ESTOP), from whoever, or weft_stop for all there are. It ends with that reason, when
 * its children have ended. Other reasons it heeds only from the caller that it is linked to. weft_kill ends it at once;
 * its children hear WEFT_EKILLED by their links. So of one that is a child itself they may still have their names while
 * it is started again: that fails with WEFT_EUSED then, and each time counts as a restart; `backoff` gives them time. */
weft_pid weft_supervise(const weft_supervisor *how);

/* Goes along with the end of one that gives up: weft_carried(m) of the WEFT_DOWN or WEFT_EXIT that tells of it, as long as
 * there is memory for it. Of the child whose end, or start, was one too many. */
WEFT__OWN_MESSAGE(WEFT_GAVE_UP, 7, struct weft_gave_up {
    weft_pid supervisor;
    char     id[64];   /* the child's, cut if it is longer; or "" */
    weft_pid child;    /* as which it ran last; or nobody */
    int      reason;   /* of its last end; or why it could not be started */
    unsigned restarts; /* before, within the period */
});

/* WAIT, all that follow, until the supervisor has done it, or it has ended: WEFT_EGONE. WEFT_EINVALID: that is no
 * supervisor; WEFT_EMEMORY: for the order or its answer, and nothing was done. A supervisor that stops a child does
 * nothing else until then: a child that traps, and is told to stop, should not call these. */

/* Adds a child, behind all others, and starts it. For WEFT_SIMPLE_DYNAMIC `child` may be NULL: the pattern; or gives
 * only arg, and options.copy_bytes, instead of the pattern's. Nobody: see weft_spawn_error; WEFT_EUSED: the id. */
weft_pid weft_start_child(weft_pid supervisor, const weft_child *child);
/* By id, or, if that is NULL, by the pid that it has, or had last. Stops it, or calls off its restart. Its
 * specification stays, unless it is temporary or dynamic, for weft_restart_child and weft_delete_child, which need one
 * that neither runs nor waits (WEFT_EUSED). WEFT_EGONE: no such child. WEFT_EINVALID: dynamic ones have no ids. */
int      weft_stop_child(weft_pid supervisor, const char *id, weft_pid who);
weft_pid weft_restart_child(weft_pid supervisor, const char *id);
int      weft_delete_child(weft_pid supervisor, const char *id);

typedef struct weft_child_view {
    char     id[64];      /* cut if it is longer; or "" */
    weft_pid who;         /* nobody: it does not run */
    enum weft_restart restart;
    bool     supervisor;
    bool     restarting;  /* it waits for its restart */
    unsigned restarts;    /* how often it was started again, but by a call */
    int      reason;      /* of its last end; 0, too, if it has not ended yet */
} weft_child_view;

/* Its children, in the order in which they are started, as far as they fit into `room`. How many there are; or an
 * error. */
long     weft_children(weft_pid supervisor, weft_child_view *to, size_t room);
/* Specifications, of WEFT_SIMPLE_DYNAMIC one; children that run; all children, by their kind. */
typedef struct weft_child_counts { size_t specs, active, supervisors, workers; } weft_child_counts;
int      weft_count_children(weft_pid supervisor, weft_child_counts *counts);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
