/* bounded - the mailbox of a slow consumer holds two messages. A plain send to it fails while they are there; one
 * that may wait slows the producer down to the speed of the consumer, and nothing is lost.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>
#include <weft/bound.h>

WEFT_MESSAGE(ITEM, int);
WEFT_SIGNAL(READY);
WEFT_SIGNAL(GO);
WEFT_SIGNAL(DONE);

enum { ITEMS = 6 };

static void consumer(void *boss)
{
    weft_ask(WEFT_FOREVER, *(weft_pid *)boss, READY); /* the response needs no room in the mailbox */
    for (int i = 0; i < ITEMS; i++) {
        printf("consumed %d\n", *weft_get(weft_receive(ITEM), ITEM));
        weft_sleep(weft_ms(2));
    }
    weft_send(*(weft_pid *)boss, DONE);
}

int main(void)
{
    weft_pid  self = weft_self();
    weft_pid  c = weft_spawn(consumer, &self, .copy_bytes = sizeof self,
                             .bound = &(weft_bound){.messages = 2});
    weft_msg *ready = weft_receive(READY);
    int       item = 0, error;

    do
        error = weft_send(c, ITEM, ++item);
    while (error == 0);
    printf("no room for %d: %s\n", item, error == WEFT_EFULL ? "WEFT_EFULL" : "why?");
    weft_reply(ready, GO);

    for (; item <= ITEMS; item++)
        weft_send_within(weft_sec(10), c, ITEM, item); /* waits */
    weft_receive(DONE);
}
