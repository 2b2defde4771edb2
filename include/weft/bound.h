/* weft/bound.h - mailboxes that can be full.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 *     weft_spawn(logger, NULL, .bound = &(weft_bound){.messages = 1000, .full = WEFT_FULL_DROP_OLDEST})
 *
 * A bound counts what waits in the mailbox, skipped or not seen yet; what was received has left it. Responses are never
 * refused, and count for nothing. A plain weft_send to a full mailbox does what the receiver chose and returns at once;
 * a request that is refused or dropped is answered by WEFT_FAILED, WEFT_EFULL. So never wait for one type while the
 * mailbox can fill with others: what must get through comes as a response, or goes to another actor.
 */
#ifndef WEFT_BOUND_H
#define WEFT_BOUND_H

#include "../weft.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

enum weft_full {
    WEFT_FULL_FAIL,        /* the send returns WEFT_EFULL; what its body owns is destroyed */
    WEFT_FULL_DROP_OLDEST, /* what waits longest makes room, urgent ones last; a dead letter (WEFT_EFULL) */
    WEFT_FULL_DROP_NEWEST  /* what is sent is a dead letter (WEFT_EFULL); the send returns 0 */
};

typedef struct weft_bound { /* at least one of the first two; both 0 is WEFT_EINVALID */
    size_t         messages WEFT__INIT; /* so many; 0: any number */
    size_t         bytes WEFT__INIT;    /* so much of bodies in all; 0: any. A body larger than this is WEFT_ESIZE */
    enum weft_full full WEFT__INIT;
} weft_bound;

/* weft_pass, and `how` instead of what the receiver chose. To an unbounded mailbox: weft_pass. */
int weft_pass_full(weft_pid to, weft_msg *m, enum weft_full how);

/* WAITS, the actor or the thread, until there is room; first come, first served. Takes m, and what its body owns, in
 * any case. WEFT_ETIME: there was none in time (a time of 0: there is none now), WEFT_EGONE: the receiver has ended
 * meanwhile; WEFT_ECYCLE: the receiver, or one it waits for in its turn, waits for room in the caller's own mailbox:
 * all would wait for ever, and one line on stderr names them. Receive something, and try again. */
int weft_pass_within(weft_span time, weft_pid to, weft_msg *m);
#define weft_send_within(time, to, ...) weft_send_within_body(time, to, WEFT__TYPED(__VA_ARGS__))
int weft_send_within_body(weft_span time, weft_pid to, weft_type *type, const void *body);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
