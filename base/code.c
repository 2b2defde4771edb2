/* code.c - see code.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "base/code.h"

#include "base/limits.h"
#include "base/memory.h"

/* How far it is from here. */
struct range {
    int32_t begin, end;
};

/* The linker's: where the section begins and ends. */
extern const struct range __start_weft_code[] WEFT__HIDDEN, __stop_weft_code[] WEFT__HIDDEN;

static const struct range *range_of(uintptr_t pc)
{
    for (const struct range *r = __start_weft_code; r < __stop_weft_code; r++) {
        uintptr_t begin = (uintptr_t)&r->begin + (uintptr_t)(intptr_t)r->begin;
        uintptr_t end = (uintptr_t)&r->end + (uintptr_t)(intptr_t)r->end;
        if (pc - begin < end - begin)
            return r;
    }
    return NULL;
}

bool weft__code_is_ours(uintptr_t pc) { return range_of(pc); }

/* Two files: each must have its own. */
bool weft__code_is_known(void)
{
    const struct range *mine = range_of((uintptr_t)range_of), *other = range_of((uintptr_t)weft__memory_get);

    return mine && other && mine != other;
}
