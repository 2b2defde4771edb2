/* pipeline - three stages, each linked to the next, that live and die as one. The last meets a line that it can not
 * read and ends with it; so do the others, one after another, and whoever watches the first learns which line it was.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

WEFT_MESSAGE(
    LINE, struct line { const char *text; });
WEFT_SIGNAL(STOP);

enum { BAD_LINE = 1 }; /* a reason */

static void say(void *text) { puts(text); }

static void adder(void *arg)
{
    char *end;
    long  sum = 0;

    (void)arg;
    weft_defer(say, "the adder clears up"); /* however it ends */
    for (;;) {
        const char *text = weft_get(weft_receive(LINE), LINE)->text;

        sum += strtol(text, &end, 10);
        if (*end)
            weft_end_with(BAD_LINE, LINE, .text = text);
        printf("sum %ld\n", sum);
    }
}

static void filter(void *arg)
{
    weft_pid next = weft_spawn(adder, NULL, .link = true);

    (void)arg;
    weft_defer(say, "the filter clears up");
    for (;;) {
        weft_msg *m = weft_receive(LINE);

        if (weft_get(m, LINE)->text[0] != '#')
            weft_forward(next, m);
    }
}

static void source(void *arg)
{
    static const char *const lines[] = {"40", "# a comment", "2", "four", "8"};
    weft_pid                 next = weft_spawn(filter, NULL, .link = true);

    (void)arg;
    weft_defer(say, "the source clears up");
    for (int i = 0; i < 5; i++)
        weft_send(next, LINE, .text = lines[i]);
    weft_receive(STOP); /* which nobody sends */
}

int main(void)
{
    weft_ref watched;

    weft_spawn(source, NULL, .monitor = &watched);
    weft_msg       *down = weft_receive(WEFT_DOWN);
    const weft_msg *why = weft_carried(down);
    printf("reason %d: %s\n", weft_get(down, WEFT_DOWN)->reason, why ? weft_get(why, LINE)->text : "unknown");
}
