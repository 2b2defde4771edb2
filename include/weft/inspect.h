/* weft/inspect.h - what a running system tells about itself.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#ifndef WEFT_INSPECT_H
#define WEFT_INSPECT_H

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
