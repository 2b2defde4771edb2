/* producer - a walk through a tree sends each value from deep inside its recursion, and a coordinator hands them
 * out one by one: first by receive, then by react, which gives its stack back while nobody asks.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>

WEFT_MESSAGE(SOME, int);
WEFT_SIGNAL(NONE);
WEFT_SIGNAL(NEXT);

struct tree {
    const struct tree *left;
    int                value;
    const struct tree *right;
};

static const struct tree one = {NULL, 1, NULL}, three = {NULL, 3, NULL}, five = {NULL, 5, NULL};
static const struct tree two = {&one, 2, &three}, six = {&five, 6, NULL};
static const struct tree four = {&two, 4, &six};

static void walk(const struct tree *t, weft_pid to)
{
    if (t) {
        walk(t->left, to);
        weft_send(to, SOME, t->value);
        walk(t->right, to);
    }
}

static void producer(void *coordinator)
{
    weft_pid to = *(weft_pid *)coordinator;

    walk(&four, to);
    weft_send(to, NONE);
}

/* The answer to a NEXT is the next message of the producer, which may still have to come. */
static void serve(weft_msg *next)
{
    weft_keep(next); /* else the receive would end it */
    weft_reply_pass(next, weft_receive(SOME, NONE));
    weft_drop(next);
}

static void coordinator(void *arg)
{
    for ((void)arg;;)
        serve(weft_receive(NEXT));
}

/* The same: receive becomes react, and the loop weft_loop. There is a stack only while serve waits. */
static void on_next(void *state, weft_msg *m)
{
    (void)state;
    serve(m);
}
static void wait_for_next(void *arg) { weft_react(on_next, arg, NEXT); }
static void light_coordinator(void *arg) { weft_loop(wait_for_next, arg); }

static void print_all(const char *how, weft_fn *fn)
{
    weft_pid  c = weft_spawn(fn, NULL);
    weft_msg *m;

    weft_spawn(producer, &c, .copy_bytes = sizeof c);
    printf("%s:", how);
    while (weft_is(m = weft_ask(weft_sec(10), c, NEXT), SOME))
        printf(" %d", *weft_get(m, SOME));
    puts("");
}

int main(void)
{
    print_all("receive", coordinator);
    print_all("react", light_coordinator);
}
