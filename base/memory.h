/* memory.h - private to weft. The one door to the heap and to mapped memory.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the user's allocator, and the hook by which tests make any allocation fail.
 * Knows not: what the memory is for.
 */
#ifndef WEFT__MEMORY_H
#define WEFT__MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void *weft__memory_get(size_t bytes); /* not zeroed; NULL: none */
void  weft__memory_put(void *block);

/* The user's allocator runs in this thread; in a signal handler too. */
bool weft__memory_is_calling(void);

/* Reserves address space, readable and writable, backed by zeroed pages when touched. NULL: none. */
void *weft__memory_reserve(size_t bytes);

/* Tells a leak checker that mapped memory may hold the only pointer to something. */
void weft__memory_root(void *memory, size_t bytes);

/* Tests only: the n-th allocation from now fails (1 is the next); 0 turns it off. Returns how many were made
 * since it was last set. */
long weft__memory_fail(long n);

#endif
