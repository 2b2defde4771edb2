/* weft/inspect.h - what a running system tells about itself.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#ifndef WEFT_INSPECT_H
#define WEFT_INSPECT_H

#include <stdio.h>

#include "../weft.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Counters of the process since its start. Each is exact once the actors that count it rest; while they run a
 * reading may be a little old. */
typedef struct weft_counts {
    uint64_t spawned;      /* actors made */
    uint64_t ended;        /* actors that have ended */
    uint64_t dead_letters; /* messages to actors that were gone, or that ended before reading them */
    uint64_t stacks;       /* stacks there are: in use, cached or waiting in the pool */
    uint64_t late_responses; /* among the dead letters: responses to requests that nobody awaited any more */
    uint64_t full_drops;     /* among the dead letters: messages that a full mailbox dropped */
} weft_counts;

/* Fills the first `size` bytes of `counts`: pass sizeof(weft_counts). Any thread, any time. */
void weft_count(weft_counts *counts, size_t size);

/* What is known of an actor. Of one that waits all is exact; one that runs, or is about to, is not disturbed, and tells
 * little: what can not be known then is 0, or "". */
typedef struct weft_view {
    weft_pid who;
    char     name[64];      /* its name, cut if it is longer, or ""; of several, what it was spawned with */
    char     state[16];     /* "receives", "reacts", "sleeps", "awaits", "knocks" (waits for room), "ready", "runs" */
    char     waits_for[64]; /* the types, as "INCR, GET"; "a response of ..."; "room at ..."; or "" */
    weft_pid waits_at;      /* of whom: who was asked, if it has asked only one; whose room it is; or nobody */
    weft_span waiting;      /* since it last looked for that, some 100 us more or less */
    weft_span left;         /* until its time is over; WEFT_FOREVER: it has none */
    size_t   mailbox;       /* messages in it */
    size_t   links, monitors; /* to others; monitors that it has set */
    size_t   stack_used, stack_bytes; /* high-water mark, in pages; 0: it has none now */
    bool     known;         /* it waits, so all of this is exact */
    char     function[64];  /* what it was spawned with: as "worker", or "program+0x1234"; "thread". To find that takes
                             * some 40 us, so it is last: leave it out by the size */
} weft_view;

/* All actors there are now, in no order, as far as they fit: pass room for `room`. How many there are, then. */
size_t weft_list(weft_pid *to, size_t room);
/* Fills the first `size` bytes of *view: pass sizeof(weft_view). 0, or WEFT_EGONE: it has ended, and *view is as it
 * was. Any thread; not from signal handlers. All three are safe while the system runs at full speed: an actor that
 * waits is taken from its wait for a moment, and then waits on as before; a thread is woken, and waits on. */
int weft_look(weft_pid who, weft_view *view, size_t size);
/* Writes a table: a line for each actor; those that are alike (the same function and name, but for numbers, the same
 * state, waiting for the same) share one, with their number, and with the least and the most where they differ. */
void weft_dump(FILE *to);

/* How many messages the calling actor's waits have tested and left, each once a wait; 0 if it is none. */
uint64_t weft_skipped(void);

/* How stacks are guarded: "install" (MADV_GUARD_INSTALL), "mprotect" or "canary"; WEFT_GUARD forces one. A canary is
 * looked at when a stack is given back, late or never; if it is gone the process aborts with one line. */
const char *weft_guard_method(void);

/* The most stack that the calling actor's present stack ever used, in bytes, counted in pages. Actors share
 * stacks one after another, so a former owner may have used it. 0 in a thread of yours. */
size_t weft_stack_used(void);

/* The lowest and one past the highest usable address of the calling actor's stack; false in a thread of yours.
 * The guard lies directly below. */
bool weft_stack_bounds(void **low, void **high);

/* The name of how actors are switched: "own", "fcontext", "ucontext" or "libco". */
const char *weft_switch_method(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
