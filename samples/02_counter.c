/* counter with lock - the nested receive makes all other messages wait in the mailbox, in order.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>

WEFT_MESSAGE(
    INCR, struct incr { int by; });
WEFT_MESSAGE(VALUE, int);
WEFT_MESSAGE(UNLOCK, int);
WEFT_SIGNAL(GET);
WEFT_SIGNAL(LOCK);

static void counter(void *arg)
{
    for (int value = *(const int *)arg;;) {
        weft_msg *m = weft_receive(INCR, GET, LOCK);
        switch (weft_tag(m)) {
        case INCR:
            value += weft_get(m, INCR)->by;
            break;
        case GET:
            weft_reply(m, VALUE, value);
            break;
        case LOCK:
            weft_reply(m, VALUE, value);
            value = *weft_get(weft_receive(UNLOCK), UNLOCK);
            break;
        }
    }
}

static int ask(weft_pid c)
{
    weft_send(c, GET);
    return *weft_get(weft_receive(VALUE), VALUE);
}

int main(void)
{
    weft_pid c = weft_spawn(counter, &(int){40}, .name = "counter", .copy_bytes = sizeof(int));

    weft_send(c, INCR, .by = 2);
    printf("counted: %d\n", ask(c));

    weft_send(c, LOCK);
    int held = *weft_get(weft_receive(VALUE), VALUE);
    weft_send(c, INCR, .by = 1); /* waits until it is unlocked */
    weft_send(c, UNLOCK, held * 10);
    printf("unlocked: %d\n", ask(c));
}
