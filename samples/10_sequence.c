/* sequence - an int, then a float, without a nested receive: the behaviour for the float is put on top of the one
 * for the int, and taken away when it has done its work. An actor ends when its last behaviour is taken away.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>
#include <weft/case.h>

WEFT_MESSAGE(INT, int);
WEFT_MESSAGE(FLOAT, float);
WEFT_SIGNAL(STOP);

static void on_float(void *number, weft_msg *m)
{
    printf("%d => %g\n", *(int *)number, (double)*weft_get(m, FLOAT));
    weft_unbecome(); /* back to the int */
}

static const weft_case  float_only[] = {WEFT_ON(FLOAT, on_float)};
static const weft_cases second = WEFT_CASES(float_only, NULL);

static void on_int(void *number, weft_msg *m)
{
    *(int *)number = *weft_get(m, INT);
    weft_become_keep(&second, number); /* until it has come, all but a float waits in the mailbox */
}

static void on_stop(void *number, weft_msg *m)
{
    (void)number;
    (void)m;
    weft_unbecome(); /* there is none below */
}

static const weft_case  int_or_stop[] = {WEFT_ON(INT, on_int), WEFT_ON(STOP, on_stop)};
static const weft_cases first = WEFT_CASES(int_or_stop, NULL);

static void feed(void *to)
{
    weft_pid pairs = *(weft_pid *)to;

    weft_send(pairs, INT, 1);
    weft_send(pairs, INT, 2); /* too early */
    weft_send(pairs, STOP);   /* and this */
    weft_send(pairs, FLOAT, 0.5f);
    weft_send(pairs, FLOAT, 1.5f);
}

static void pairs(void *arg)
{
    weft_pid self = weft_self();

    (void)arg;
    weft_spawn(feed, &self, .copy_bytes = sizeof self);
    weft_become(&first, weft_alloc(sizeof(int)));
}

int main(void) { printf("ended: %d\n", weft_run(pairs, NULL)); }
