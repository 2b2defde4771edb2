/* raw.h - private to weft. What a back end of the portable switch (switch.c) has to provide.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      nothing. Knows not: anything but registers.
 */
#ifndef WEFT__RAW_H
#define WEFT__RAW_H

/* A context on the empty stack [low, top) that calls entry(), which never returns. It is first entered by
 * weft__raw_jump, and a debugger's unwinding ends at entry. */
void *weft__raw_fresh(char *low, char *top, void (*entry)(void));

/* Saves the present context to *save (complete when `to` runs on, not necessarily before) and goes to `to`. */
void weft__raw_jump(void **save, void *to);

extern const char weft__raw_name[];

#endif
