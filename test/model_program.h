/* model_program.h - a random program for one mailbox, and what a plain model of a mailbox says comes of it.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Others send batches to a reader, each at a virtual time of its own, all of a batch at once. The
 * reader goes through a list of steps: it waits, on a stack or without, by types or cases, sends to
 * itself, asks, sleeps, changes its behaviour. Nothing else happens at the time of a batch, a
 * response or a deadline, so what the reader must get is known.
 *
 * The model knows nothing of Weft: two arrays of messages in the order of arrival, one of them of
 * urgent ones, and the first that fits is taken.
 */
#ifndef MODEL_PROGRAM_H
#define MODEL_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MODEL_TYPES = 160,
    MODEL_MESSAGES = 4096,
    MODEL_BATCHES = 64,
    MODEL_STEPS = 80,
    MODEL_TESTS = 24,
    MODEL_CASES = 5, /* more tests than these are by type */
    MODEL_REQUESTS = 8,
    MODEL_KEYS = 8
};

#define MODEL_FOREVER INT64_MAX

enum who { FIRST, SECOND, FIBER, READER, NOBODY, ANYBODY };
enum by { BY_FIRST, BY_SECOND, BY_FIBER, BY_THREAD, BY_TIMER, BY_READER };
enum how { PLAINLY, URGENTLY, AS_ANOTHER, BY_PASSING, TO_MANY };
enum fate { DEAD, TAKEN, SWALLOWED, CONVERTED };

struct message {
    int       type, key;
    enum how  how;
    enum who  from; /* as the reader sees it */
    enum fate fate;
};

struct batch {
    int64_t at;
    enum by by;
    int     first, count;
};

/* A message fits if all that is given does. */
struct test {
    int      type;     /* -1: any */
    int      mod, rem; /* mod > 0: a guard on the key */
    int      key;      /* the field; -1: any */
    enum who from;     /* ANYBODY: whoever */
    bool     converts; /* the guard is a projection */
    int      of;       /* >= 0: the response to this request instead */
    int      run;      /* which of two handlers; -1: none */
};

struct set {
    bool        by_types;
    int         count, rest; /* from `rest` on it is an or_else */
    struct test test[MODEL_TESTS];
};

enum kind {
    RECEIVE, /* set, time */
    REACT,   /* set, time */
    SERVE,   /* return, and let the behaviour take the next */
    BECOME,  /* set, keep */
    UNBECOME,
    SEND,    /* first, count: to itself */
    REQUEST, /* slot, delay (0: of somebody who is gone), fails */
    AWAIT,   /* slot, time */
    THEN,    /* slot, time */
    ASK,     /* who answers at once, or, if it fails, is gone */
    SLEEP,   /* time */
    END
};

/* What a step must give, if not the number of a message. */
enum { NOTHING = -1, ANSWERED = -2, FAILED = -3, STUCK = -4, ENDS = -5 };

struct step {
    enum kind  kind;
    struct set set;
    int64_t    time, delay;
    int        first, count, slot;
    bool       keep, fails;
    int        expect;      /* a message, or one of the above */
    int        expect_test; /* of its set, that of its behaviour for SERVE */
    int        behaviour;   /* for SERVE: the step that it comes from */
};

/* How a handler of a response was called. */
struct answer {
    int slot, expect;
};

struct program {
    uint64_t       seed;
    int            types, messages, batches, steps, requests;
    struct message message[MODEL_MESSAGES];
    struct batch   batch[MODEL_BATCHES];
    struct step    step[MODEL_STEPS];
    int64_t        end;                     /* of all that happens */
    bool           ends;                    /* the reader, by itself */
    struct answer  answers[MODEL_REQUESTS]; /* handlers of responses, in order: */
    int            must, may;               /* so many must run, so many may */
};

/* The program with that number; always the same. */
void program_make(struct program *p, uint64_t seed);
/* Which of the tests takes the message, or -1. */
int program_match(const struct set *set, const struct message *m);
/* In words, on stderr. */
void program_tell(const struct program *p, int until_step);

#endif
