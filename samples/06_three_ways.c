/* three ways - one server as a thread, as a fiber, as a closure: it adds up numbers until it is asked for the sum.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <pthread.h>
#include <stdio.h>
#include <weft.h>

/* ---- as a thread: 8 MiB of address space, a kernel stack, a mailbox to write ------------------------------ */

enum kind { NUMBER, QUESTION };
struct box {
    pthread_mutex_t lock;
    pthread_cond_t  filled;
    int             used, answer;
    struct mail {
        enum kind kind;
        int       n;
    } mail[16];
};

static void put(struct box *b, enum kind kind, int n)
{
    pthread_mutex_lock(&b->lock);
    b->mail[b->used++] = (struct mail){kind, n};
    pthread_cond_signal(&b->filled);
    pthread_mutex_unlock(&b->lock);
}

static void *adder_thread(void *arg)
{
    struct box *b = arg;
    int         sum = 0;

    pthread_mutex_lock(&b->lock);
    for (int i = 0;; i++) {
        while (i == b->used)
            pthread_cond_wait(&b->filled, &b->lock);
        if (b->mail[i].kind == QUESTION)
            break;
        sum += b->mail[i].n;
    }
    b->answer = sum;
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

static void with_a_thread(void)
{
    struct box b = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};
    pthread_t  t;

    pthread_create(&t, NULL, adder_thread, &b);
    for (int n = 1; n <= 10; n++)
        put(&b, NUMBER, n);
    put(&b, QUESTION, 0);
    pthread_join(t, NULL);
    printf("thread: %d\n", b.answer);
}

/* ---- as a fiber: the same loop, and it really waits; one page ---------------------------------------------- */

WEFT_MESSAGE(ADD, int);
WEFT_MESSAGE(SUM, int);
WEFT_SIGNAL(ASK);

static void adder(void *arg)
{
    int sum = 0;

    (void)arg;
    for (;;) {
        weft_msg *m = weft_receive(ADD, ASK);
        if (weft_is(m, ADD))
            sum += *weft_get(m, ADD);
        else
            weft_reply(m, SUM, sum);
    }
}

/* ---- as a closure: between two messages it has no stack, and what it remembers is in the open --------------- */

static void on_message(void *state, weft_msg *m)
{
    int *sum = state;

    if (weft_is(m, ADD))
        *sum += *weft_get(m, ADD);
    else
        weft_reply(m, SUM, *sum);
    weft_react(on_message, sum, ADD, ASK);
}

static void light_adder(void *arg)
{
    (void)arg;
    weft_react(on_message, weft_alloc(sizeof(int)), ADD, ASK);
}

static void with_an_actor(weft_fn *fn, const char *name)
{
    weft_pid a = weft_spawn(fn, NULL);

    for (int n = 1; n <= 10; n++)
        weft_send(a, ADD, n);
    weft_send(a, ASK);
    printf("%s: %d\n", name, *weft_get(weft_receive(SUM), SUM));
}

int main(void)
{
    with_a_thread();
    with_an_actor(adder, "fiber");
    with_an_actor(light_adder, "closure");
}
