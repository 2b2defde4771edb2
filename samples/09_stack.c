/* fixed stack - a state is a table: what each message does in it. To change the state is to become another table.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>
#include <weft/case.h>

WEFT_MESSAGE(PUSH, int);
WEFT_SIGNAL(POP);
WEFT_MESSAGE(OK, int);
WEFT_SIGNAL(FAILURE);

enum { ROOM = 3 };

struct stack {
    int used, at[ROOM];
};

static weft_handler push, pop, refuse;

static const weft_case on_empty[] = {WEFT_ON(PUSH, push), WEFT_ON(POP, refuse)};
static const weft_case on_filled[] = {WEFT_ON(PUSH, push), WEFT_ON(POP, pop)};
static const weft_case on_full[] = {WEFT_ON(PUSH, NULL), WEFT_ON(POP, pop)}; /* NULL: it is taken, and lost */

static const weft_cases empty = WEFT_CASES(on_empty, NULL);
static const weft_cases filled = WEFT_CASES(on_filled, NULL);
static const weft_cases full = WEFT_CASES(on_full, NULL);

static void push(void *state, weft_msg *m)
{
    struct stack *s = state;

    s->at[s->used++] = *weft_get(m, PUSH);
    weft_become(s->used == ROOM ? &full : &filled, s);
}

static void pop(void *state, weft_msg *m)
{
    struct stack *s = state;

    weft_reply(m, OK, s->at[--s->used]);
    weft_become(s->used == 0 ? &empty : &filled, s);
}

static void refuse(void *state, weft_msg *m)
{
    (void)state;
    weft_reply(m, FAILURE);
}

static void stack(void *arg)
{
    (void)arg;
    weft_become(&empty, weft_alloc(sizeof(struct stack)));
}

int main(void)
{
    weft_pid s = weft_spawn(stack, NULL);

    for (int i = 1; i <= ROOM + 1; i++)
        weft_send(s, PUSH, i); /* the last finds no room */
    for (int i = 1; i <= ROOM + 1; i++) {
        weft_msg *m = weft_ask(weft_sec(10), s, POP);
        if (weft_is(m, OK))
            printf("pop: %d\n", *weft_get(m, OK));
        else
            puts("pop: nothing there");
    }
}
