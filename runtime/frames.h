/* frames.h - private to weft. Who called whom where a signal came, and whose code that is.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the walk along a stack, from a signal's context to the stack's end.
 * Knows not: actors, signals, what is done about it.
 *
 * An actor can be ended in the middle of its own code, as by weft_end. It can not in the middle of anybody else's,
 * who may hold a lock, or have half done something. So what is asked here is whether all frames are its own: from the
 * innermost on, code of the program, or of the library that the actor's function is in; then Weft's, which has called that
 * function; then the stack ends. Any other order is not safe: the C library, called or calling (snprintf, qsort); Weft
 * called (weft_send), or between (a function that weft_look calls); frames that can not be followed to the end.
 */
#ifndef WEFT__FRAMES_H
#define WEFT__FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/symbols.h"

enum { WEFT__FRAMES_SHOWN = 16 };

enum weft__frames_found {
    WEFT__FRAMES_OWN,     /* all are */
    WEFT__FRAMES_FOREIGN, /* `where` is somebody else's */
    WEFT__FRAMES_CALLED,  /* `where` was called by Weft, which expects it back */
    WEFT__FRAMES_LOST     /* they can not be followed, or nobody can tell whose they are */
};

struct weft__frames {
    /* Given: where it begins, and its stack pointer there; between which addresses the stack lies; the actor's function,
     * and the one at the stack's end, beyond which nobody looks. */
    uintptr_t pc, sp, low, high, function, last;
    /* What its innermost frame had called, if that is no code: shown first. */
    bool      is_wild;
    uintptr_t wild;
    /* Found. */
    enum weft__frames_found found;
    uintptr_t               where;
    unsigned                count;
    size_t                  more; /* that are not shown */
    struct {
        uintptr_t pc;
        size_t    times; /* one after another, in a recursion */
    } shown[WEFT__FRAMES_SHOWN];
    /* The walk's own. */
    bool                begun, in_weft, in_foreign, ended, foreign;
    struct weft__module module; /* of the last frame */
    int                 whose;
    uintptr_t           home; /* where the actor's module begins */
};

/* Where the function that pc is in begins; 0: it is in none. Safe in a handler. */
uintptr_t weft__frames_function(uintptr_t pc);

/* Before the first walk, not in a handler. */
void weft__frames_prepare(void);

/* In a signal handler. What is given must be; the rest is filled in as the walk comes along, so that what was found until
 * then is there if it fails: it reads what it takes for frames. */
void weft__frames_walk(struct weft__frames *f);

#endif
