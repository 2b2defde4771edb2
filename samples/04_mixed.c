/* mixed - one actor, both ways to wait: it reacts while idle, and receives in the middle of a conversation.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>

WEFT_MESSAGE(DEPOSIT, int);
WEFT_MESSAGE(BALANCE, int);
WEFT_SIGNAL(OPEN);
WEFT_SIGNAL(CLOSE);

/* Waits as a closure: no stack. Between OPEN and CLOSE it is a loop that blocks, and has one. */
static void on_open(void *balance, weft_msg *m)
{
    weft_pid customer = weft_sender(m);
    int     *sum = balance;

    for (;;) {
        m = weft_receive(DEPOSIT, CLOSE);
        if (weft_is(m, CLOSE))
            break;
        *sum += *weft_get(m, DEPOSIT);
    }
    weft_send(customer, BALANCE, *sum);
    weft_react(on_open, balance, OPEN); /* the stack goes back when this handler returns */
}

static void account(void *arg)
{
    (void)arg;
    weft_react(on_open, weft_alloc(sizeof(int)), OPEN);
}

int main(void)
{
    weft_pid a = weft_spawn(account, NULL, .name = "account");

    for (int day = 1; day <= 2; day++) {
        weft_send(a, OPEN);
        weft_send(a, DEPOSIT, 10 * day);
        weft_send(a, DEPOSIT, day);
        weft_send(a, CLOSE);
        printf("day %d: %d\n", day, *weft_get(weft_receive(BALANCE), BALANCE));
    }
}
