/* limits.h - private to weft. Every limit in one place, each with its reason.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#ifndef WEFT__LIMITS_H
#define WEFT__LIMITS_H

enum {
    WEFT__LINE_BYTES = 64, /* of a cache line, on every CPU we build for */

    /* Messages handled and sent in one turn, by all actors that hand the turn on to each other. More: warmer
     * caches. Less: fairer. 4096 is some 80 us of plain hops. */
    WEFT__TURN_MESSAGES = 4096,

    /* A message that only makes a mailbox longer counts for so many: its receiver should get to work. */
    WEFT__BACKLOG_COST = 16,
    /* A receiver may go on beyond its turn with what it took at once, or many senders would outrun it; so far. */
    WEFT__BATCH_MESSAGES = 65536,

    /* More new tasks than these go first when the one that makes them gives way: they are warm now. Fewer stay
     * where the newest is first, which walks a tree of them depth first. */
    WEFT__SPAWNED_MANY = 256,

    /* Every so many turns the worker looks at what other threads queued before its own work. */
    WEFT__GLOBAL_EVERY = 61,

    /* A worker offers half of what it has queued to an idle one, if that is so many: less is not worth the way. */
    WEFT__OFFER_MIN = 4,
    /* And at most so many: somebody has to walk along them. */
    WEFT__OFFER_MAX = 256,

    /* What a thread keeps of ended actors for the next that need it, some 350 bytes each: malloc takes as long as half
     * of the rest of such a life. */
    WEFT__EXTRAS_KEPT = 64,

    /* How long a worker that ran dry looks for work before it sleeps; waking it costs 25 us. */
    WEFT__SPIN_NS = 20000,
    /* While others run, one idle worker naps and looks at whether they are stuck: so long at first and at most. */
    WEFT__NAP_MIN_NS = 50000,
    WEFT__NAP_MAX_NS = 1000000,

    /* A worker that does not get to its next turn for so long, with something queued, is stuck in a task: longer
     * than a turn of plain messages, shorter than people notice. */
    WEFT__STUCK_NS = 500000,

    /* What stands in the way of a system's rest may go without a sound: the pause until it is looked at again, first
     * and at most. A second is soon enough to be told of a deadlock, and costs an idle process nothing one could see. */
    WEFT__ASK_MIN_NS = 1000000,
    WEFT__ASK_MAX_NS = 1000000000,

    /* How long an actor that was killed may take to its next wait, and then a worker to come back, before it is left
     * behind: longer than a system call that does return, shorter than whoever waits for the stop has patience. */
    WEFT__GRACE_NS = 500000000,

    /* How long a line for stderr waits where that is a pipe that nobody empties: longer than a reader that is at work, and
     * short enough for who waits for a core. */
    WEFT__SAY_MS = 1000,

    WEFT__WORKERS_MAX = 256,

    /* Cells that travel between threads together. The way back costs 24 ns a cell at 64, 1 ns at 256. */
    WEFT__MAGAZINE = 256,
    /* A thread keeps so many more before it gives a magazine away: one that takes and gives at the edge of a magazine
     * would else go the long way each time. */
    WEFT__MAGAZINE_SLACK = 32,

    /* So many skipped messages may be passed in a search before they are sorted by type; into so many piles at first, and
     * at most. A list needs no memory; but with two it takes a tenth longer, with four a sixth, with eight half as long again. */
    WEFT__STASH_FEW = 4,
    WEFT__STASH_PILES = 16,
    WEFT__STASH_PILES_MAX = 1024,

    /* A pid is node, generation, kind and slot. 2^28 actors at once; 2^28 lives of a slot before it is retired. The kind
     * lies beside the slot, so that an unusual one is no slot that was ever used: who looks there is on the slow way. */
    WEFT__SLOT_BITS = 28,
    WEFT__KIND_BITS = 1,
    WEFT__GENERATION_BITS = 28,

    /* A body of up to so many bytes lies in the message's own cache line. */
    WEFT__SMALL_BODY = 24,

    WEFT__STACK_DEFAULT = 64 * 1024,
    /* For handlers of fatal signals, beside what the kernel needs: ours take 8 KiB, a sanitizer's take more. */
    WEFT__FAULT_STACK = 128 * 1024,

    /* Distinct message types in a process: a mistake if there are more. A message has 16 bits for them. */
    WEFT__TYPES_MAX = 1 << 16,

    /* Supervisors within a supervisor, in one specification. It is copied by a function that calls itself, on the stack
     * of whoever starts them; and one that holds itself has no end. */
    WEFT__SUPERVISORS_DEEP = 32,
    /* What could not be told for want of memory is told again so much later. */
    WEFT__RETRY_NS = 1000000
};

/* The largest body. Larger things belong behind a pointer. */
#define WEFT__BODY_MAX ((size_t)1 << 30)

/* Of data that several files share: reached without the table that a library has for what others may replace. */
#define WEFT__HIDDEN __attribute__((visibility("hidden")))

#define WEFT__LIKELY(x) __builtin_expect(!!(x), 1)
#define WEFT__RARE(x) __builtin_expect(!!(x), 0)

#endif
