/* say.h - private to weft. Lines on stderr, from anywhere: a signal handler, a small stack, beside who does not read.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      how long a line waits for whoever reads stderr.
 * Knows not: what is said.
 *
 * A line is put together in a buffer and written by one write. It waits for room in a pipe, but not for ever: what reports
 * a crash must not hang. After one that had to be left out, no other waits until one gets through.
 */
#ifndef WEFT__SAY_H
#define WEFT__SAY_H

#include <stdbool.h>

#include "base/text.h"

struct weft__say {
    struct weft__text text;
    char              room[512];
};

/* A line is added to what this returns, and then written. Names of the program's may be in it: what is no character is
 * shown as one. */
struct weft__text *weft__say_begin(struct weft__say *line);
void               weft__say_end(struct weft__say *line);

/* At most PIPE_BUF bytes, as soon as there is room. False: not in so many milliseconds. */
bool weft__say_within(const char *bytes, size_t size, int ms);

#endif
