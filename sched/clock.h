/* clock.h - private to weft. What time it is: the machine's, or the virtual one of a replayed run.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      time. Knows not: who waits for it.
 */
#ifndef WEFT__CLOCK_H
#define WEFT__CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds on the monotonic clock, or since the start of virtual time. */
int64_t weft__clock_now(void);
/* `span` from now, WEFT__NEVER if that is beyond the end of time; a negative span is none. */
int64_t weft__clock_after(int64_t span);
#define WEFT__NEVER INT64_MAX
/* The same on the monotonic clock, whatever the workers go by: for threads, which sleep in the kernel. */
int64_t weft__clock_real_after(int64_t span);

/* Virtual time stands still until weft__clock_jump moves it. Set while no worker runs. */
void weft__clock_virtual(bool on);
bool weft__clock_is_virtual(void);
void weft__clock_jump(int64_t to);

#endif
