/* priority - who decides what comes first? The receiver, by a receive that does not wait before one that does; or
 * the sender, by an urgent message, and then the receiver is as simple as ever.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>

WEFT_MESSAGE(ROUTINE, int);
WEFT_MESSAGE(ALARM, int);
WEFT_SIGNAL(START);
WEFT_SIGNAL(DONE);

enum { JOBS = 5 };

static void work(const weft_msg *m)
{
    if (weft_is(m, ALARM))
        printf("  alarm %d\n", *weft_get(m, ALARM));
    else
        printf("  routine %d\n", *weft_get(m, ROUTINE));
}

static void chooses(void *arg)
{
    weft_pid boss = weft_sender(weft_receive(START)); /* all the jobs are there by now */

    (void)arg;
    for (int i = 0; i < JOBS; i++) {
        weft_msg *m = weft_receive_within(weft_ms(0), ALARM); /* if there is one, wherever it is */
        work(m ? m : weft_receive(ALARM, ROUTINE));
    }
    weft_send(boss, DONE);
}

static void takes_what_comes(void *arg)
{
    weft_pid boss = weft_sender(weft_receive(START));

    (void)arg;
    for (int i = 0; i < JOBS; i++)
        work(weft_receive(ALARM, ROUTINE));
    weft_send(boss, DONE);
}

int main(void)
{
    weft_pid a = weft_spawn(chooses, NULL), b = weft_spawn(takes_what_comes, NULL);

    puts("the receiver decides");
    for (int i = 1; i < JOBS; i++)
        weft_send(a, ROUTINE, i);
    weft_send(a, ALARM, JOBS);
    weft_send(a, START);
    weft_receive(DONE);

    puts("the sender decides");
    for (int i = 1; i < JOBS; i++)
        weft_send(b, ROUTINE, i);
    weft_send_urgent(b, ALARM, JOBS);
    weft_send(b, START);
    weft_receive(DONE);
}
