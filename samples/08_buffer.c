/* bounded buffer - what can not be served now is not matched now, and waits in the mailbox: PUT while it is full,
 * GET while it is empty. Then a buffer that also gives two items at once, made of the first, which stays as it is.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>
#include <weft/case.h>

WEFT_MESSAGE(PUT, int);
WEFT_SIGNAL(GET);
WEFT_SIGNAL(GET2);
WEFT_MESSAGE(STORED, int);
WEFT_MESSAGE(ITEM, int);
WEFT_MESSAGE(
    PAIR, struct pair { int first, second; });

enum { ROOM = 3 };

struct buffer {
    const weft_cases *(*reaction)(const struct buffer *b); /* what it waits for */
    int in, out, used, at[ROOM];
};

/* ---- the buffer ---------------------------------------------------------------------------------------- */

static int take(struct buffer *b)
{
    int item = b->at[b->out];

    b->out = (b->out + 1) % ROOM;
    b->used--;
    return item;
}

static void put(void *state, weft_msg *m)
{
    struct buffer *b = state;

    b->at[b->in] = *weft_get(m, PUT);
    b->in = (b->in + 1) % ROOM;
    b->used++;
    weft_reply(m, STORED, *weft_get(m, PUT));
}

static void get(void *state, weft_msg *m) { weft_reply(m, ITEM, take(state)); }

static const weft_case  on_put[] = {WEFT_ON(PUT, put)};
static const weft_case  on_get[] = {WEFT_ON(GET, get)};
static const weft_cases empty = WEFT_CASES(on_put, NULL);
static const weft_cases full = WEFT_CASES(on_get, NULL);
static const weft_cases filled = WEFT_CASES(on_put, &full);

static const weft_cases *reaction(const struct buffer *b)
{
    return b->used == 0 ? &empty : b->used == ROOM ? &full : &filled;
}

static void next(void *state)
{
    const struct buffer *b = state;

    weft_react_case(b->reaction(b), state);
}

static void buffer(void *state) { weft_loop(next, state); }

/* ---- one more case, before those of the buffer --------------------------------------------------------- */

static void get2(void *state, weft_msg *m)
{
    int first = take(state);

    weft_reply(m, PAIR, .first = first, .second = take(state));
}

static const weft_case  on_get2[] = {WEFT_ON(GET2, get2)};
static const weft_cases filled2 = WEFT_CASES(on_get2, &filled);
static const weft_cases full2 = WEFT_CASES(on_get2, &full);

static const weft_cases *reaction2(const struct buffer *b)
{
    return b->used < 2 ? reaction(b) : b->used == ROOM ? &full2 : &filled2;
}

/* ---- all is sent at once; the answers come when they can ----------------------------------------------- */

int main(void)
{
    weft_pid b = weft_spawn(buffer, &(struct buffer){.reaction = reaction2},
                            .copy_bytes = sizeof(struct buffer));

    weft_send(b, GET2); /* waits until there are two */
    weft_send(b, PUT, 1);
    weft_send(b, GET); /* overtakes it: one is enough */
    for (int i = 2; i <= 7; i++)
        weft_send(b, PUT, i); /* 7 waits: 4, 5 and 6 fill the buffer */
    weft_send(b, GET2);
    weft_send(b, GET);
    weft_send(b, GET);

    for (int i = 0; i < 12; i++) {
        weft_msg *m = weft_receive(STORED, ITEM, PAIR);
        if (weft_is(m, STORED))
            printf("stored %d\n", *weft_get(m, STORED));
        else if (weft_is(m, ITEM))
            printf("got %d\n", *weft_get(m, ITEM));
        else
            printf("got %d and %d\n", weft_get(m, PAIR)->first, weft_get(m, PAIR)->second);
    }
}
