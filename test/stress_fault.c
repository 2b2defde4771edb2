/* stress_fault.c - actors overflow on all workers at once, with links, monitors and deferred functions, while others work.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Each spawner keeps some children that overflow, some after a wait, and for each end must hear of exactly one, with the
 * right reason; a pair passes a number to and fro all the time, and must end with the right one.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "help.h"

enum { SPAWNERS = 8, EACH = 100, AT_ONCE = 8 };

WEFT_SIGNAL(GO);
WEFT_SIGNAL(DONE);
WEFT_MESSAGE(BALL, int);

static atomic_uint deferred, wrong;

static __attribute__((noinline)) int deeper(int n)
{
    volatile char room[300];

    room[0] = (char)n;
    return n ? deeper(n + 1) + room[0] : 0;
}

static void counts(void *on_stack)
{
    if (*(int *)on_stack == 77)
        atomic_fetch_add(&deferred, 1);
}

static void overflows(void *arg)
{
    int here = 77;

    weft_defer(counts, opaque(&here));
    if (arg)
        weft_receive(GO);
    atomic_fetch_add(&wrong, (unsigned)deeper(1));
}

static void overflows_in_a_handler(void *state, weft_msg *m)
{
    static int there = 77;

    (void)state, (void)m;
    weft_defer(counts, &there);
    atomic_fetch_add(&wrong, (unsigned)deeper(1));
}

static void reacts(void *arg) { weft_react(overflows_in_a_handler, arg, GO); }

static void spawn_one(uint64_t *random)
{
    static weft_fn *const kinds[] = {overflows, overflows, reacts};
    uint64_t              r = draw(random);
    weft_ref              monitor;

    weft_pid who = weft_spawn(kinds[r % 3], r % 3 == 1 ? "" : NULL, .monitor = &monitor,
                              .stack_bytes = r % 16 == 5 ? 100000 : 0);
    weft_send(who, GO);
}

static void spawner(void *arg)
{
    uint64_t random = (uintptr_t)arg | 1;
    int      each = (int)scaled(EACH), made = 0;

    for (int ended = 0; ended < each; ended++) {
        while (made < each && made - ended < AT_ONCE) {
            spawn_one(&random);
            made++;
        }
        if (weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason != WEFT_ESTACK)
            atomic_fetch_add(&wrong, 1);
    }
}

static void plays(void *arg)
{
    (void)arg;
    for (;;) {
        weft_msg *m = weft_receive(BALL);
        weft_reply(m, BALL, *weft_get(m, BALL) + 1);
    }
}

static void first(void *arg)
{
    weft_pid other = weft_spawn(plays, NULL);
    int      ended = 0, ball = 0, beats = 0;

    for (int i = 0; i < SPAWNERS; i++) {
        weft_ref monitor;
        weft_spawn(spawner, (char *)arg + 1000 * i, .monitor = &monitor);
    }
    weft_send(other, BALL, 0);
    while (ended < SPAWNERS) {
        weft_msg *m = weft_receive(BALL, WEFT_DOWN);
        if (weft_is(m, BALL)) {
            ball = *weft_get(m, BALL);
            beats++;
            weft_send(other, BALL, ball);
        } else {
            ended++;
        }
    }
    if (ball != beats)
        atomic_fetch_add(&wrong, 1);
}

int main(void)
{
    int real = dup(STDERR_FILENO), none = open("/dev/null", O_WRONLY);

    if (!can_isolate())
        return 0;
    dup2(none, STDERR_FILENO); /* thousands of reports */
    int reason = weft_run(first, (void *)0x1234, .workers = 4, .overflow = WEFT_OVERFLOW_ISOLATE);
    dup2(real, STDERR_FILENO);
    weft_counts now = counted();
    unsigned    all = SPAWNERS * (unsigned)scaled(EACH);

    if (reason != 0 || wrong || deferred != all || now.spawned != now.ended) {
        fprintf(stderr, "reason %d, %u wrong, %u of %u deferred, %d spawned, %d ended\n", reason, wrong,
                deferred, all, (int)now.spawned, (int)now.ended);
        return 1;
    }
    return 0;
}
