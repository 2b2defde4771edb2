/* hunt.h - what race hunts share: counting, complaining, and an end when nothing moves any more.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#ifndef HUNT_H
#define HUNT_H

#include <stdatomic.h>

extern atomic_ulong hunt_wrong;    /* complaints */
extern atomic_ulong hunt_progress; /* must grow until the end */

/* From now on the program fails if there is no progress for half a minute. */
void hunt_begin(const char *program);
void hunt_count(atomic_ulong *n);
/* The first of them are printed. */
void hunt_complain(const char *what, long a, long b);

#endif
