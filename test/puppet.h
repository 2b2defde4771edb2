/* puppet.h - an actor that does what it is told, in each form that an actor can have.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * What holds for one form has to hold for all: a test says what its puppets do, and is run with each form, by one worker
 * and by several. A puppet notes each WEFT_EXIT and WEFT_DOWN it receives, as "exit 3 " and "down 3 ".
 */
#ifndef PUPPET_H
#define PUPPET_H

#include "help.h"

enum form { FIBER, REACTS, BECOMES, BOUNDED, THREAD, FORMS };

/* What the present run is with: see in_each_form. */
extern enum form form;

/* Runs it as the first actor of a system, in each form, by one worker and by four; it must note `expected` each time. */
void in_each_form(weft_fn *scenario, const char *expected);

/* Of that form; the second with something to do first. */
weft_pid puppet(enum form how);
weft_pid puppet_with(enum form how, const weft_options *options);

/* It calls what(with), and this waits for the result. All signals of the caller's arrive before. */
int order(weft_pid puppet, int (*what)(weft_pid with), weft_pid with);
/* The same without waiting. */
void order_later(weft_pid puppet, int (*what)(weft_pid with), weft_pid with);
/* Orders. */
int nothing(weft_pid unused);
int traps(weft_pid unused);
int traps_no_more(weft_pid unused);
int monitors(weft_pid who); /* as weft_monitor; 0, or WEFT_EMEMORY */

/* It ends with that reason, by itself: 0 by returning. */
void ends(weft_pid puppet, int reason);
/* Waits for the end that the caller's monitor is for. */
int reason_of(weft_ref monitor);
/* Waits until so many actors have ended, as weft_count says, without looking at the caller's mailbox. */
void wait_for_ends(uint64_t ended);
/* Whether it answers still. */
bool lives(weft_pid puppet);

/* ---- memory ----------------------------------------------------------------------------------------------- */

/* Resident, in bytes; 0 with AddressSanitizer. */
size_t resident(void);
/* In a system of one worker: until memory_is_back there are `left` cells for messages and signals, and the next that asks
 * for other memory, or for more cells, gets none. */
void memory_is_gone(int left);
void memory_is_back(void);
/* What an actor with bonds has is kept of one that has ended: the next such needs no memory. Seen by a fiber. */
void keep_for_the_next(void);

#endif
