/* memory.c - see memory.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <weft.h>

/* There if the program was built with AddressSanitizer, whether or not this library was. */
void __lsan_register_root_region(const void *memory, size_t bytes) __attribute__((weak));

static weft_allocator user;       /* written before `used` is set, read only afterwards */
static atomic_bool    used;       /* relaxed: a misordered set-up is the user's error, reported, not mended */
static atomic_long    fail_after; /* relaxed: a counter that only tests set, while nothing else runs */
static atomic_long    made;

/* Nobody leaves a thread in the middle of an allocator: so it is no matter that its address may be kept. */
static _Thread_local volatile bool calling;

static bool must_fail(void)
{
    atomic_fetch_add_explicit(&made, 1, memory_order_relaxed);
    return atomic_load_explicit(&fail_after, memory_order_relaxed) > 0 &&
           atomic_fetch_sub_explicit(&fail_after, 1, memory_order_relaxed) == 1;
}

void *weft__memory_get(size_t bytes)
{
    atomic_store_explicit(&used, true, memory_order_relaxed);
    if (must_fail())
        return NULL;
    if (!user.get)
        return malloc(bytes);
    calling = true;
    void *block = user.get(bytes, user.with);
    calling = false;
    return block;
}

void weft__memory_put(void *block)
{
    if (!block)
        return;
    if (!user.put) {
        free(block);
        return;
    }
    calling = true;
    user.put(block, user.with);
    calling = false;
}

bool weft__memory_is_calling(void) { return calling; }

void *weft__memory_reserve(size_t bytes)
{
    if (must_fail())
        return NULL;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void weft__memory_root(void *memory, size_t bytes)
{
    if (__lsan_register_root_region)
        __lsan_register_root_region(memory, bytes);
}

long weft__memory_fail(long n)
{
    atomic_store_explicit(&fail_after, n, memory_order_relaxed);
    return atomic_exchange_explicit(&made, 0, memory_order_relaxed);
}

int weft_use_allocator(const weft_allocator *allocator)
{
    if (!allocator || !allocator->get || !allocator->put)
        return WEFT_EINVALID;
    if (atomic_load_explicit(&used, memory_order_relaxed))
        return WEFT_EBUSY;
    user = *allocator;
    return 0;
}
