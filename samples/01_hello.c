/* hello - an actor waits for a message and answers it; main is an actor because it receives.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>

WEFT_MESSAGE(
    GREET, struct greet { char who[16]; });
WEFT_SIGNAL(THANKS);

static void greeter(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(GREET); /* sleeps; its thread does not */
    printf("hello, %s\n", weft_get(m, GREET)->who);
    weft_reply(m, THANKS);
}

int main(void)
{
    weft_send(weft_spawn(greeter, NULL), GREET, "weft");
    weft_receive(THANKS);
}
