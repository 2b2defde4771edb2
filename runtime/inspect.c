/* inspect.c - see weft/inspect.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <string.h>

#include "fibers/switch.h"
#include "runtime/fast.h"

static uint64_t read_counter(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed); /* a little old is fine */
}

void weft_count(weft_counts *counts, size_t size)
{
    weft_counts sum = {.stacks = weft__stack_count()};

    weft__lane_lock();
    for (struct weft__lane *l = NULL; (l = weft__lane_each(l));) {
        sum.spawned += read_counter(&l->spawned);
        sum.ended += read_counter(&l->ended);
        sum.dead_letters += read_counter(&l->dead_letters);
        sum.late_responses += read_counter(&l->late_responses);
        sum.full_drops += read_counter(&l->full_drops);
    }
    weft__lane_unlock();
    if (counts)
        memcpy(counts, &sum, size < sizeof sum ? size : sizeof sum);
}

uint64_t weft_skipped(void)
{
    struct weft__actor *a = weft__lane()->self;

    return a && a->extra ? a->extra->skipped : 0;
}

const char *weft_guard_method(void) { return weft__guard_name(); }

const char *weft_switch_method(void) { return weft__switch_name(); }

/* Not always its own: a deferred function may run on the loop's, or, after an overflow, on the one for rescue. */
static const struct weft__stack *present_stack(void)
{
    struct weft__lane *l = weft__lane();
    char              *here = weft__fast_stack_pointer();

    if (!l->worker || !l->self)
        return NULL;
    const struct weft__stack *all[] = {l->self->stack, l->spare, l->rescue};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && here >= all[i]->low && here < all[i]->top)
            return all[i];
    return NULL;
}

size_t weft_stack_used(void)
{
    const struct weft__stack *s = present_stack();

    return s ? weft__stack_used(s) : 0;
}

bool weft_stack_bounds(void **low, void **high)
{
    const struct weft__stack *s = present_stack();

    if (!s)
        return false;
    *low = s->low;
    *high = s->top;
    return true;
}
