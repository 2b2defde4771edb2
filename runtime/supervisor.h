/* supervisor.h - private to weft. A supervisor from within, and what it is told and asked.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      what one supervisor has, and the messages between supervise.c, which the callers run, and supervisor.c and
 *            orders.c, which it runs itself.
 * Knows not: which children are started again, and when; how the table finds them: see children.h.
 */
#ifndef WEFT__SUPERVISOR_H
#define WEFT__SUPERVISOR_H

#include "runtime/children.h"

struct weft__supervisor {
    struct weft__spec       *spec;
    const weft_supervisor   *how; /* in spec */
    weft_pid                 self;
    weft_pid                 parent; /* if it is linked to it */
    struct weft__children    table;
    struct weft__past        past;
    struct weft__delay       delay; /* of a group; else each child has its own */
    int64_t                  due;   /* when the group that WAITS is started */
    bool                     over;  /* it stops, and ends with `reason` */
    int                      reason;
    struct weft_gave_up      gave_up;              /* if it did; else by nobody */
    struct weft__supervisor *next_root, **root_at; /* if no supervisor started it */
};

/* ---- supervise.c ------------------------------------------------------------------------ */

/* What a supervisor is asked: by weft__supervise, and by the public calls. */
struct weft__begin {
    struct weft__spec     *spec;
    const weft_supervisor *how;    /* in spec */
    bool                   linked; /* to who asks */
    bool                   root;   /* who asks is no supervisor */
};
enum weft__order_kind {
    WEFT__ORDER_START,
    WEFT__ORDER_STOP,
    WEFT__ORDER_RESTART,
    WEFT__ORDER_DELETE,
    WEFT__ORDER_LIST,
    WEFT__ORDER_COUNT
};
struct weft__order {
    enum weft__order_kind kind;
    struct weft__spec    *spec;   /* what to start; of others, the id; or NULL */
    uint64_t              number; /* a pid, or for how many there is room */
};
struct weft__answer {
    int      error;
    uint64_t number; /* a pid, or how many there are */
    void    *block;  /* views, or counts */
};
void weft__supervise_unbegun(void *begin);
void weft__supervise_unheard(void *order);
void weft__supervise_unread(void *answer);
WEFT_MESSAGE_OWNING(WEFT__BEGIN, weft__supervise_unbegun, struct weft__begin);
WEFT_MESSAGE_OWNING(WEFT__ORDER, weft__supervise_unheard, struct weft__order);
WEFT_MESSAGE_OWNING(WEFT__ANSWER, weft__supervise_unread, struct weft__answer);

/* A supervisor, linked to the calling one; it takes `spec`. WAITS until its children are started. Nobody: see
 * weft_spawn_error. */
weft_pid weft__supervise(struct weft__spec *spec, const weft_child *what);
/* ---- supervisor.c ----------------------------------------------------------------------- */

/* What it is spawned with. */
weft_fn *weft__supervisor_fn(void);
/* It is in the table. 0 or the error. `what` may be another than there, where what is not needed again is missing. */
int weft__supervisor_start(struct weft__supervisor *s, struct weft__child *c, const weft_child *what);
/* WAITS until it has ended. */
void weft__supervisor_stop(struct weft__supervisor *s, struct weft__child *c);

/* ---- quit.c ----------------------------------------------------------------------------- */

/* It gives up: that child has ended with that reason; or it could not be started for that. */
void weft__quit_because(struct weft__supervisor *s, const struct weft__child *c, int reason, bool has_ended);
/* The calling supervisor ends. */
_Noreturn void weft__quit(const struct weft__supervisor *s);

/* ---- orders.c --------------------------------------------------------------------------- */

/* Does what it says, and answers. */
void weft__orders_take(struct weft__supervisor *s, weft_msg *m);

#endif
