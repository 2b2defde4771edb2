/* switch.h - private to weft. One door to the machine: leaving one stack for another.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      saving and restoring what the C ABI says a callee must keep.
 * Knows not: actors, workers, who owns a stack.
 * To port:   write fibers/raw_<name>.c or .S (raw.h); the rest is common.
 *
 * A context is a `void *`: a place to go on from, used once. A stack that is left by weft__switch_away or
 * weft__switch_park has its context written to *save before anybody else can know that it was left:
 * `then(with)`, and the publication of the parked word, happen ON THE NEW STACK, after the old one is complete.
 */
#ifndef WEFT__SWITCH_H
#define WEFT__SWITCH_H

#include <stdatomic.h>
#include <stdint.h>

struct weft__stack;

/* A context that will call entry(), which must not return, at the top of a stack that nobody uses. */
void *weft__switch_fresh(struct weft__stack *s, void (*entry)(void));

/* Leaves this stack for `to`. On the new stack then(with) runs first, if given; then `to` goes on, and its own
 * weft__switch_* returns `pass`. Returns what whoever comes back passes. */
void *weft__switch_away(void **save, void *to, void *pass, void (*then)(void *with), void *with);

/* The same, and instead of `then`: word moves from 0 to `parked` (release); if it was not 0,
 * weft__switch_refused(word) is called on the new stack. */
void *weft__switch_park(void **save, void *to, void *pass, _Atomic uint64_t *word, uint64_t parked);

/* To be defined by the user of this file. */
void weft__switch_refused(_Atomic uint64_t *word);

/* Leaves this stack for good: nothing is saved. */
_Noreturn void weft__switch_leave(void *to, void *pass);

/* Returns `pass`. Called last by a function that was left and gone on with: its own return would be mispredicted, because
 * the processor remembers the calls of another stack. */
void *weft__switch_return(void *pass);

/* "own", "fcontext", "ucontext" or "libco". */
const char *weft__switch_name(void);

#endif
