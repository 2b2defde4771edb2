/* atoms - a mathematical service: two numbers do not say what to do with them, so a word goes along. To the compiler
 * it is a number, and so a case label; to people it is a word again.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>
#include <weft/atom.h>

WEFT_ATOM(add, 'a', 'd', 'd');
WEFT_ATOM(multiply, 'm', 'u', 'l', 't', 'i', 'p', 'l', 'y');

WEFT_MESSAGE(
    COMPUTE, struct compute {
        weft_atom what;
        int       a, b;
    });
WEFT_MESSAGE(RESULT, int);
WEFT_MESSAGE(UNKNOWN, weft_atom);

static void service(void *arg)
{
    for ((void)arg;;) {
        weft_msg             *m = weft_receive(COMPUTE);
        const struct compute *c = weft_get(m, COMPUTE);

        switch (c->what) {
        case add:
            weft_reply(m, RESULT, c->a + c->b);
            break;
        case multiply:
            weft_reply(m, RESULT, c->a * c->b);
            break;
        default:
            weft_reply(m, UNKNOWN, c->what);
        }
    }
}

int main(void)
{
    weft_pid    s = weft_spawn(service, NULL);
    const char *words[] = {"add", "multiply", "divide"}; /* as a user would type them */
    char        text[WEFT_ATOM_MAX + 1];

    for (int i = 0; i < 3; i++) {
        weft_msg *m = weft_ask(weft_sec(10), s, COMPUTE, .what = weft_atom_from(words[i]), .a = 6, .b = 7);
        if (weft_is(m, RESULT))
            printf("%s 6 7: %d\n", words[i], *weft_get(m, RESULT));
        else
            printf("what is \"%s\"?\n", weft_atom_text(*weft_get(m, UNKNOWN), text));
    }
}
