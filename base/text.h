/* text.h - private to weft. A line of text, put together without stdio: also in a signal handler, on a small stack.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      nothing: the room is the caller's. What does not fit is left out; there is always a 0 at the end.
 * Knows not: where the text goes.
 */
#ifndef WEFT__TEXT_H
#define WEFT__TEXT_H

#include <stddef.h>
#include <stdint.h>

struct weft__text {
    char *at, *end; /* the next character goes there; the last place that may be written */
};

static inline struct weft__text weft__text_in(char *room, size_t size)
{
    *room = 0;
    return (struct weft__text){room, room + size - 1};
}

static inline void weft__text_add(struct weft__text *t, const char *words)
{
    while (*words && t->at < t->end)
        *t->at++ = *words++;
    *t->at = 0;
}

static inline void weft__text_number(struct weft__text *t, uint64_t n, unsigned base)
{
    char  digits[24];
    char *first = digits + sizeof digits - 1;

    *first = 0;
    do
        *--first = "0123456789abcdef"[n % base];
    while (n /= base);
    weft__text_add(t, first);
}

static inline void weft__text_hex(struct weft__text *t, uint64_t n)
{
    weft__text_add(t, "0x");
    weft__text_number(t, n, 16);
}

/* Names are the program's: none may move the cursor of whoever reads them, or begin a line. */
static inline void weft__text_clean(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

#endif
