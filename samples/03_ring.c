/* ring - a token goes round a thousand actors; every second one waits without a stack.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>

WEFT_MESSAGE(TOKEN, int);

static void node(void *next)
{
    for (;;)
        weft_send(*(weft_pid *)next, TOKEN, *weft_get(weft_receive(TOKEN), TOKEN) - 1);
}

static void hop(void *next, weft_msg *m)
{
    weft_send(*(weft_pid *)next, TOKEN, *weft_get(m, TOKEN) - 1);
    weft_react(hop, next, TOKEN);
}

static void light_node(void *next) { weft_react(hop, next, TOKEN); }

int main(void)
{
    weft_pid next = weft_self();
    int      rounds = 0;

    for (int i = 0; i < 1000; i++)
        next = weft_spawn(i % 2 ? light_node : node, &next, .copy_bytes = sizeof next);
    for (int hops = 100000; hops > 0; hops = *weft_get(weft_receive(TOKEN), TOKEN), rounds++)
        weft_send(next, TOKEN, hops);
    printf("100000 hops in %d rounds\n", rounds);
}
