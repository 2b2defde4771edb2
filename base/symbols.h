/* symbols.h - private to weft. What the code at an address is called, and which program or library it belongs to.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      nothing: it asks the loader what is loaded, and reads the symbols anew from the file each time.
 * Knows not: stacks, actors, why somebody asks.
 *
 * No memory is allocated, and no lock taken, but the loader's own with an older C library: good enough for a signal handler
 * that reports a crash.
 * It costs some system calls and a look at each symbol of the file, so it is nothing for a hot path.
 */
#ifndef WEFT__SYMBOLS_H
#define WEFT__SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The program, or a library. */
struct weft__module {
    uintptr_t   base;       /* where its file's address 0 is */
    uintptr_t   first, end; /* the part with the address in question */
    const char *path;       /* "": the program; lives as long as the module is loaded */
};

/* False: that is no code that the loader knows. */
bool weft__symbols_module(uintptr_t pc, struct weft__module *m);
/* "libc.so.6"; cut if there is no room. Returns it. */
const char *weft__symbols_file(const struct weft__module *m, char *room, size_t size);

/* "worker", if a function of that name begins at pc, "worker+0x1c" if pc is in it, static functions too. Where there is
 * no name, "program+0x1234", and outside of all modules "0x1234". Cut if there is no room. Returns it. */
const char *weft__symbols_name(const void *pc, char *room, size_t size);
/* The same for where a call will return to: the name is of who made the call, if it was its last. */
const char *weft__symbols_caller(const void *pc, char *room, size_t size);

#endif
