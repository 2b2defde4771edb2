/* chat - a room, a host and guests that know each other by name. One guest has left, and the room does not know;
 * what it still sends him becomes a dead letter, for whoever asked for those.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <string.h>
#include <weft.h>
#include <weft/letters.h>

WEFT_MESSAGE(
    LINE, struct line { char who[8], text[24]; });

/* Whoever speaks is a member; what is said goes to all the others. */
static void room(void *arg)
{
    weft_pid member[8] = {weft_whereis("host")};
    int      members = 1;

    for ((void)arg;;) {
        weft_msg *m = weft_receive(LINE);
        bool      known = false;

        for (int i = 0; i < members; i++) {
            if (weft_same(member[i], weft_sender(m)))
                known = true;
            else
                weft_send_body(member[i], &weft_type_LINE, weft_get(m, LINE));
        }
        if (!known && members < 8)
            member[members++] = weft_sender(m);
    }
}

static void anne(void *arg)
{
    (void)arg;
    weft_send_name("room", LINE, "anne", "good morning");
    for (;;)
        if (strcmp(weft_get(weft_receive(LINE), LINE)->text, "who is here?") == 0)
            weft_send_name("host", LINE, "anne", "I am"); /* to the host, not to the room */
}

static void bob(void *arg)
{
    (void)arg;
    weft_send_name("room", LINE, "bob", "hello all");
    weft_receive(LINE);
    weft_send_name("room", LINE, "bob", "must go");
}

static void hear(void)
{
    const struct line *line = weft_get(weft_receive(LINE), LINE);

    printf("%s: %s\n", line->who, line->text);
}

int main(void)
{
    weft_register("host", weft_self());
    weft_dead_letters(true);
    weft_spawn(room, NULL, .name = "room");
    weft_spawn(anne, NULL, .name = "anne");
    hear();
    weft_spawn(bob, NULL, .name = "bob");
    hear();
    weft_pid b = weft_whereis("bob");
    weft_send_name("room", LINE, "host", "welcome");
    hear(); /* bob's last */

    weft_send_name("room", LINE, "host", "who is here?");
    hear();
    weft_msg                      *m = weft_receive(WEFT_DEAD_LETTER);
    const struct weft_dead_letter *letter = weft_get(m, WEFT_DEAD_LETTER);
    printf("\"%s\" did not reach %s\n", weft_get(letter->message, LINE)->text,
           weft_same(letter->to, b) ? "bob" : "somebody else");
}
