/* orders - one order manager in two forms, by receive and by react; its customer can not tell them apart.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>

WEFT_MESSAGE(
    ORDER, struct order { int item; });
WEFT_MESSAGE(
    CANCEL, struct cancel { int number; });
WEFT_MESSAGE(
    ACK, struct ack { int number; });
WEFT_SIGNAL(NO_ACK);
WEFT_SIGNAL(GOSSIP);

enum { MOST = 9 };

struct book {
    int last;
    int item[MOST + 1]; /* by its number; 0 if it is no longer pending */
};

static void cancel(struct book *b, const weft_msg *m)
{
    int number = weft_get(m, CANCEL)->number;

    if (number < 1 || number > b->last || !b->item[number]) {
        weft_reply(m, NO_ACK);
        return;
    }
    b->item[number] = 0;
    weft_reply(m, ACK, .number = number);
}

static void serve(struct book *b, const weft_msg *m)
{
    switch (weft_tag(m)) {
    case ORDER:
        if (b->last == MOST) {
            weft_reply(m, NO_ACK);
            break;
        }
        b->item[++b->last] = weft_get(m, ORDER)->item;
        weft_reply(m, ACK, .number = b->last);
        break;
    case CANCEL:
        cancel(b, m);
        break;
    case WEFT_ANY: /* else it would stay in the mailbox for ever */
        printf("  junk: %s\n", weft_name(m));
        break;
    }
}

/* ---- by receive: a loop, and the book is a local variable ---------------------------------------------- */

static void manager(void *arg)
{
    struct book book = {0};

    (void)arg;
    for (;;)
        serve(&book, weft_receive(ORDER, CANCEL, WEFT_ANY));
}

/* ---- by react: no stack while nobody orders, so the book lives in the actor's memory ------------------- */

static void on_message(void *book, weft_msg *m)
{
    serve(book, m);
    weft_react(on_message, book, ORDER, CANCEL, WEFT_ANY);
}

static void light_manager(void *arg)
{
    (void)arg;
    weft_react(on_message, weft_alloc(sizeof(struct book)), ORDER, CANCEL, WEFT_ANY);
}

/* ---- the customer of both ------------------------------------------------------------------------------ */

static void customer(weft_pid shop)
{
    weft_pending first = weft_request(shop, ORDER, .item = 7);
    weft_pending second = weft_request(shop, ORDER, .item = 8);
    int          b = weft_get(weft_await(second, weft_sec(10)), ACK)->number; /* in any order */
    int          a = weft_get(weft_await(first, weft_sec(10)), ACK)->number;

    printf("  ordered: %d and %d\n", a, b);
    weft_send(shop, GOSSIP);
    for (int i = 0; i < 2; i++)
        printf("  cancel %d: %s\n", a, weft_name(weft_ask(weft_sec(10), shop, CANCEL, .number = a)));
}

int main(void)
{
    puts("by receive");
    customer(weft_spawn(manager, NULL));
    puts("by react");
    customer(weft_spawn(light_manager, NULL));
}
