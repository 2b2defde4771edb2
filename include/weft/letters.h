/* weft/letters.h - dead letters: messages that nobody will read.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#ifndef WEFT_LETTERS_H
#define WEFT_LETTERS_H

#include "../weft.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* What a subscriber receives. The message is whole (weft_name, weft_sender, weft_get) and goes with the letter, its
 * body destroyed, unless you weft_keep it, weft_pass it on or the like. */
WEFT__OWN_MESSAGE(WEFT_DEAD_LETTER, 3, struct weft_dead_letter {
    weft_msg *message;
    weft_pid  to;  /* whom it was meant for */
    int       why; /* WEFT_EGONE: who has ended; WEFT_EFULL: whose mailbox was full; WEFT_ETIME: a response too late */
});

/* The calling actor gets a letter for each message that dies from now on, until it ends or says false. Those of several
 * subscribers share the message's body; a body that owns something goes to the first of them. Letters that die
 * themselves are counted and dropped. WEFT_EMEMORY. */
int weft_dead_letters(bool on);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
