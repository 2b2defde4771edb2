/* weft/case.h - matching by more than types: sets of cases, as values.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 *     static const weft_case  on_empty[] = {WEFT_ON(PUT, put), WEFT_ON_IF(GET, wait, is_patient, NULL)};
 *     static const weft_cases empty = WEFT_CASES(on_empty, &always);
 *
 * A set can be stored, passed, joined with another, and used in receive, react and become alike. The message that is
 * taken is the first in mailbox order that any case matches; of several cases that match, the first counts (so WEFT_ANY
 * comes last), and those of or_else come after. Types alone are found in constant time, however long the mailbox; all
 * else is tested message by message, each once a wait. A response that is there comes before all messages.
 */
#ifndef WEFT_CASE_H
#define WEFT_CASE_H

#include "../weft.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Whether the case takes the message. It runs on a worker, before the actor goes on, so it only reads: it neither waits
 * nor sends nor arranges, and sees the receiver's variables through `with` alone: fill a table for each actor, in
 * weft_alloc, if it needs its state. */
typedef bool weft_guard(const weft_msg *m, const void *with);
/* The same, and converts: fills `value`, a body of the case's type `as`, zeroed before. The receiver gets a message of
 * that type, with the sender and the request of the first; what the first owned is destroyed: copy what you need. */
typedef bool weft_project(const weft_msg *m, const void *with, void *value);

typedef struct weft_case { /* a message matches if all that is given does */
    weft_type    *type;    /* WEFT_ANY: every type */
    weft_handler *run;     /* in react and become; NULL: it is taken, and that is all */
    weft_guard   *when;    /* or NULL */
    const void   *with;    /* for when and project; or what the field must be equal to */
    weft_pid      from;    /* its sender; nobody: whoever, so look at what weft_whereis gave */
    size_t        at, bytes; /* the field, if bytes > 0 */
    weft_project *project; /* or NULL */
    weft_type    *as;      /* what it converts to */
    weft_pending  of;      /* if not {0}: no message, but the response to this request */
} weft_case;

typedef struct weft_cases {
    const weft_case         *list;
    size_t                   count;
    const struct weft_cases *or_else; /* what else matches, or NULL */
} weft_cases;

#define WEFT_ON(T, run) {&weft_type_##T, run, NULL, NULL, {0}, 0, 0, NULL, NULL, {0}}
#define WEFT_ON_IF(T, run, when, with) {&weft_type_##T, run, when, with, {0}, 0, 0, NULL, NULL, {0}}
#define WEFT_ON_FROM(T, run, pid) {&weft_type_##T, run, NULL, NULL, pid, 0, 0, NULL, NULL, {0}}
/* body.field equals *value, byte by byte: for numbers, enums, pids, atoms; not for structs with holes. */
#define WEFT_ON_FIELD(T, run, field, value)                                                          \
    {&weft_type_##T, run, NULL, value, {0}, offsetof(weft_body_##T, field),                          \
     sizeof(((weft_body_##T *)0)->field), NULL, NULL, {0}}
/* The whole body does: for bodies that are a number themselves. */
#define WEFT_ON_VALUE(T, run, value) \
    {&weft_type_##T, run, NULL, value, {0}, 0, sizeof(weft_body_##T), NULL, NULL, {0}}
#define WEFT_ON_AS(T, run, project, with, AS) \
    {&weft_type_##T, run, NULL, with, {0}, 0, 0, project, &weft_type_##AS, {0}}
/* The response to an open request, if it is of that type: list WEFT_FAILED with the same handle, too, or WEFT_ANY. */
#define WEFT_ON_RESPONSE(T, run, request) {&weft_type_##T, run, NULL, NULL, {0}, 0, 0, NULL, NULL, request}
#define WEFT_CASES(array, or_else) {array, sizeof(array) / sizeof *(array), or_else}

/* WAITS for the first message that a case matches, and returns it; runs no handler. weft_tag is that of the case that
 * matched. NULL: the time is over. */
weft_msg *weft_receive_case(weft_span time, const weft_cases *cases);

/* An arrangement as weft_react: the case that matches says what runs. `cases` is not copied: it, and what its guards
 * look at, must live until then, and not on this stack. */
void weft_react_case(const weft_cases *cases, void *state);
/* The same with a time, from when it takes effect: when it is over, late(state, NULL). */
void weft_react_case_within(weft_span time, weft_handler *late, const weft_cases *cases, void *state);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
