/* exceptions.h - private to weft. The exceptions of C++ that an actor handles stay with it.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      what the C++ runtime keeps for each thread: which exceptions are being handled, and how many are on their
 *            way. Two words, as the Itanium C++ ABI lays them down.
 * Knows not: exceptions. An actor that gives its worker away inside a catch takes the words along.
 */
#ifndef WEFT__EXCEPTIONS_H
#define WEFT__EXCEPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft__exceptions {
    void    *caught;
    unsigned uncaught;
};

/* There if the program has a C++ runtime. */
extern void *__cxa_get_globals(void) __attribute__((weak));

/* The calling thread's; without a C++ runtime `none`, which stays empty. */
static inline struct weft__exceptions *weft__exceptions_here(struct weft__exceptions *none)
{
    return __cxa_get_globals ? __cxa_get_globals() : none;
}

static inline bool weft__exceptions_any(const struct weft__exceptions *e) { return e->caught || e->uncaught; }

static inline struct weft__exceptions weft__exceptions_take(struct weft__exceptions *e)
{
    struct weft__exceptions mine = *e;

    *e = (struct weft__exceptions){NULL, 0};
    return mine;
}

#endif
