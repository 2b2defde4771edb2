/* help.h - what the tests share: a trace that actors write to, counters, and a listener on stderr.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * An assertion of Criterion's that fails jumps away, which no actor must do. So actors note what they see, and the
 * test compares the notes when they are done.
 */
#ifndef HELP_H
#define HELP_H

#include <stdint.h>
#include <sys/resource.h>
#include <weft.h>
#include <weft/inspect.h>

/* Appends to the trace; any actor, any thread. */
void        note(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *noted(void); /* all of it */
void        forget_notes(void);

weft_counts counted(void);

void        listen_to_stderr(void);
const char *what_was_said(void); /* since then; stderr is itself again */
void        clog_stderr(void);   /* a pipe that is full, and that nobody reads; until then, or for ever */
unsigned    lines(const char *text);

/* Runs it in a child, and returns what waitpid says of it. */
int in_child(void (*run)(void));

/* Whether memory was lost until now; AddressSanitizer's builds only, else false. */
bool leaks(void);

/* Whether an actor that overflows can be ended alone: not if malloc is in the program, or comes with a sanitizer's library
 * that is. */
bool can_isolate(void);

/* Leaves so much more address space than is used now, and no more. Returns the limit as it was. */
struct rlimit leave_room(size_t bytes);

/* Something to stop a compiler that knows too much: returns its argument. */
void *opaque(void *p);

/* ---- Stress ------------------------------------------------------------------------------------------- */

/* So much of `much` as WEFT_STRESS_PERCENT says, at least 1. */
unsigned long scaled(unsigned long much);
/* xorshift; the state must not be 0. */
uint64_t draw(uint64_t *state);

#endif
