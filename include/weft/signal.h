/* weft/signal.h - signals of the process as messages.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#ifndef WEFT_SIGNAL_H
#define WEFT_SIGNAL_H

#include "../weft.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

WEFT__OWN_MESSAGE(WEFT_SIGNALLED, 6, int); /* the number of the signal */

/* From now on the calling actor receives a WEFT_SIGNALLED for each SIGINT, SIGTERM, or whichever it asks for, until it ends
 * or says false; several may ask for the same. What the process did with the signal before it does again when nobody
 * asks any more. Signals that come faster than they are told may be told once. WEFT_EINVALID: no such signal, or one that a
 * fault raises (SIGSEGV and the like), or that nobody can catch; WEFT_EMEMORY; WEFT_ESYSTEM. */
int weft_signals(int signal, bool on);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
