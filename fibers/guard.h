/* guard.h - private to weft. What lies below a stack and tells that it ran over.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the choice of method (WEFT_GUARD, or what the kernel can do), made once; the words on stderr about it.
 * Knows not: arenas, pools, how large a stack is.
 *
 *   install    madvise(MADV_GUARD_INSTALL): faults; no mapping is split, so there is no limit. Linux 6.13.
 *   mprotect   faults; splits the mapping at each stack, so vm.max_map_count ends it (some 32,000 stacks).
 *   canary     a pattern, looked at when the stack is given back: late, and a large frame may step over it.
 *              Writing it touches a page of each stack: 4 KiB more of memory.
 */
#ifndef WEFT__GUARD_H
#define WEFT__GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum {
    WEFT__GUARD_BATCH =
        64 /* one system call's worth: the call's own cost is then under a tenth of the work */
};

/* A guard is one page; so are its address and this size. */
size_t weft__guard_bytes(void);

/* Guards the pages at first, first + stride, ...: `count` of them, at most WEFT__GUARD_BATCH. How many it managed,
 * from the first on without a gap; if fewer because the kernel has no more mappings, stderr has been told, once. */
size_t weft__guard_place(char *first, size_t stride, size_t count);

/* After the page was given back to the kernel: a canary is written again, the others survive that. */
void weft__guard_renew(char *page);

/* False: a canary was overwritten. Always true with the other methods. */
bool weft__guard_intact(const char *page);

#endif
