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

/* From now on the calling actor receives a WEFT_SIGNALLED for each SIGINT, SIGTERM, or whichever it asks for, until it
 * ends or says false; several may ask for the same. Meanwhile that is all the signal does. When nobody asks any more it
 * does what it did before, unless the program has set another handler; so it does in a forked child. Signals that come
 * faster than they are told may be told once. A full mailbox does not keep them out. Some thread of yours must not
 * block the signal: the one in weft_run will do. While weft_stop ends the system, what was asked for until then stays
 * caught, also when the askers have ended: a second SIGTERM does not cut short what the first began. WEFT_EINVALID: no such signal, or one that a fault raises (SIGSEGV,
 * SIGABRT and the like), or that nobody can catch; WEFT_EMEMORY; WEFT_ESYSTEM.
 *     weft_signals(SIGTERM, true);   weft_receive(WEFT_SIGNALLED);   weft_stop(0, weft_sec(5)); */
int weft_signals(int signal, bool on);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
