/* stress_inbox.c - many threads push, timers unpark, one reader parks: straight on mailbox/inbox.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * The reader is a thread. It takes, and when there is nothing it parks, as a worker would do for it; whoever moves
 * PARKED away owns it, writes what only its owner may write, and lets it go on by way of a plain word. In turns the
 * reader closes, counts what is left and opens again with another generation; messages for the old one are late.
 * What must not happen:
 *   - a message lost, twice, or in another order than its sender's;
 *   - PARKED left twice, or never: the owner's plain counter is wrong (or races, says ThreadSanitizer), or it hangs;
 *   - a message handed over that was meant for another generation.
 * It runs dry on purpose: without parks there is nothing to see, so that is a failure too.
 */
#include "mailbox/inbox.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "help.h"

enum { SENDERS = 3, TIMERS = 1, MESSAGES = 400000, EVERY_LIFE = 100 };

struct letter {
    struct weft_msg msg;
    int             by;
    unsigned long   number;
};

/* Shared as in an actor: the word; and, its owner's, all the rest. Not variables of their own: under -fsanitize=thread
 * gcc 12 takes atomic operations for functions that cannot change a static whose address nobody was given. */
static struct slot {
    struct weft__inbox box;
    struct weft_msg   *in;
    uint64_t           parked;      /* the word of its present wait */
    unsigned long      woken_by[2]; /* 0 messages, 1 timers */
} slot;

static _Atomic unsigned long seen[SENDERS]; /* the number of the last that the reader saw; relaxed */
static _Atomic uint32_t      go_on;         /* the reader sleeps while it is 0 */
static _Atomic uint64_t      timed;      /* the wait that a timer may end; relaxed: a stale one is refused */
static _Atomic uint32_t      generation; /* relaxed: a sender may be late */
static atomic_ulong          refused, wrong;
static atomic_bool           done;
static unsigned long         per_sender;

static void count(atomic_ulong *n) { atomic_fetch_add_explicit(n, 1, memory_order_relaxed); }

/* ---- Who wakes ------------------------------------------------------------------------------------------- */

/* The caller owns the reader, and may write what is the reader's. */
static void wake(int why)
{
    slot.woken_by[why]++;
    /* release: the reader goes on as the owner of what was written. */
    if (atomic_exchange_explicit(&go_on, 1, memory_order_release) != 0)
        count(&wrong); /* woken twice */
    syscall(SYS_futex, &go_on, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* False: refused. */
static bool push(struct letter *l)
{
    uint32_t to = atomic_load_explicit(&generation, memory_order_relaxed);

    l->msg.to = to;
    switch (weft__inbox_push(&slot.box, &slot.in, &l->msg, to)) {
    case WEFT__MUST_WAKE:
        wake(0);
        return true;
    case WEFT__QUEUED:
        return true;
    case WEFT__REFUSED:
        break;
    }
    count(&refused);
    free(l);
    return false;
}

static void *sender(void *arg)
{
    int      me = (int)(uintptr_t)arg;
    uint64_t random = 7919 * (uint64_t)(me + 1);

    for (unsigned long i = 1; i <= per_sender; i++) {
        struct letter *l = malloc(sizeof *l);
        *l = (struct letter){.by = me, .number = i};
        bool wait = push(l) && draw(&random) % 4 == 0;
        /* A few at a time, or the reader would never run dry. */
        while (wait && atomic_load_explicit(&seen[me], memory_order_relaxed) < i)
            sched_yield();
    }
    return NULL;
}

static void *timer(void *the_slot)
{
    while (!atomic_load_explicit(&done, memory_order_relaxed)) {
        uint64_t wait = atomic_load_explicit(&timed, memory_order_relaxed);
        if (wait && weft__inbox_unpark(&slot.box, wait))
            wake(1);
        sched_yield();
    }
    return the_slot;
}

/* ---- The reader ------------------------------------------------------------------------------------------- */

static unsigned long last[SENDERS], received, left, late, parks, refusals, lives = 1;

static void read_one(struct weft_msg *m, uint32_t mine, unsigned long *counter)
{
    struct letter *l = (struct letter *)m;

    if (l->number <= last[l->by])
        count(&wrong); /* out of order, or twice */
    last[l->by] = l->number;
    atomic_store_explicit(&seen[l->by], l->number, memory_order_relaxed);
    ++*(m->to == mine ? counter : &late);
    free(l);
}

static void sleep_parked(void)
{
    /* acquire: pairs with wake. */
    while (atomic_load_explicit(&go_on, memory_order_acquire) == 0)
        syscall(SYS_futex, &go_on, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

/* Parks, and comes back when somebody let it go on. */
static void park(bool with_timer)
{
    atomic_store_explicit(&go_on, 0, memory_order_relaxed);
    slot.parked += WEFT__INBOX_NEXT_WAIT;
    if (with_timer)
        atomic_store_explicit(&timed, slot.parked, memory_order_relaxed);
    unsigned long before = slot.woken_by[0] + slot.woken_by[1];
    if (!weft__inbox_park(&slot.box, slot.parked)) {
        refusals++;
        return;
    }
    parks++;
    sleep_parked();
    if (slot.woken_by[0] + slot.woken_by[1] != before + 1)
        count(&wrong); /* I4: exactly one left PARKED */
}

/* Another owner of the slot: what was pushed for the last one, and is not yet here, is late. */
static uint32_t live_again(uint32_t mine)
{
    struct weft_msg *oldest = NULL;

    for (struct weft_msg *m = weft__inbox_close(&slot.box), *next; m; m = next) {
        next = m->next;
        m->next = oldest;
        oldest = m;
    }
    while (oldest) {
        struct weft_msg *m = oldest;
        oldest = m->next;
        read_one(m, mine, &left);
    }
    mine = mine % 1000 + 1;
    slot.parked = weft__inbox_parked(mine);
    atomic_store_explicit(&generation, mine, memory_order_relaxed);
    weft__inbox_open(&slot.box);
    lives++;
    return mine;
}

static unsigned long accounted(void)
{
    return received + left + late + atomic_load_explicit(&refused, memory_order_relaxed);
}

static void take(uint32_t mine)
{
    /* What is late was sent before. */
    struct weft_msg *old = NULL, *ours = weft__inbox_take(&slot.box, mine, &old), *lists[] = {old, ours};

    for (int i = 0; i < 2; i++)
        for (struct weft_msg *m = lists[i], *next; m; m = next) {
            next = m->next;
            if ((m->to == mine) != (i == 1))
                count(&wrong); /* I8 */
            read_one(m, mine, &received);
        }
}

static void read_all(void)
{
    uint32_t mine = 1;
    uint64_t random = 104729;

    for (unsigned long rounds = 1; accounted() < SENDERS * per_sender; rounds++) {
        take(mine);
        if (rounds % EVERY_LIFE == 0)
            mine = live_again(mine);
        /* Without a timer it could sleep for ever: the last messages may have been refused. */
        park(draw(&random) % 2 == 0 || accounted() > SENDERS * per_sender / 2);
        struct weft_msg *m = slot.in;
        if (m) {
            if (m->to != mine || m->next)
                count(&wrong); /* I8 */
            slot.in = NULL;
            read_one(m, mine, &received);
        }
    }
}

int main(void)
{
    pthread_t thread[SENDERS + TIMERS];

    per_sender = scaled(MESSAGES);
    generation = 1;
    slot.parked = weft__inbox_parked(1);
    weft__inbox_open(&slot.box);
    for (uintptr_t i = 0; i < SENDERS; i++)
        pthread_create(&thread[i], NULL, sender, (void *)i);
    for (int i = 0; i < TIMERS; i++)
        pthread_create(&thread[SENDERS + i], NULL, timer, &slot);
    read_all();
    atomic_store_explicit(&done, true, memory_order_relaxed);
    for (int i = 0; i < SENDERS + TIMERS; i++)
        pthread_join(thread[i], NULL);

    bool good = !wrong && accounted() == SENDERS * per_sender &&
                parks == slot.woken_by[0] + slot.woken_by[1] && slot.woken_by[0] > 0 &&
                slot.woken_by[1] > 0 && received > 0;
    printf("stress_inbox: %s: %lu messages (%lu refused, %lu late, %lu left), %lu parks: woken by %lu "
           "messages and %lu "
           "timers, %lu parks refused, %lu lives, %lu wrong\n",
           good ? "ok" : "FAILED", received, (unsigned long)refused, late, left, parks, slot.woken_by[0],
           slot.woken_by[1], refusals, lives, (unsigned long)wrong);
    return good ? 0 : 1;
}
