/* watch CASE N - does one thing N times, for tools/watch to count Weft's instructions.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * One worker, no time, no thread but its own: the same instructions each run. It leaves by _exit, so that taking the
 * system down is not counted; whatever came before the N things is the same for every N.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft.h>

WEFT_MESSAGE(TOKEN, uint64_t); /* hops left */
WEFT_SIGNAL(GO);

enum { STOPS = 64, STAYING = 16 };

static uint64_t count; /* of things still to do */

static void enough(void) { _exit(0); }

/* ---- hops: a token goes round a ring ------------------------------------------------------------------ */

static void hop(const weft_pid *next, weft_msg *m)
{
    uint64_t left = *weft_get(m, TOKEN);

    if (left == 0)
        enough();
    weft_send(*next, TOKEN, left - 1);
}

static void fiber_stop(void *next)
{
    for (;;)
        hop(next, weft_receive(TOKEN));
}

static void on_token(void *next, weft_msg *m)
{
    hop(next, m);
    weft_react(on_token, next, TOKEN);
}

static void react_stop(void *next) { weft_react(on_token, next, TOKEN); }

/* The caller is the last stop. */
static void ring(weft_fn *stop)
{
    static weft_pid next;

    next = weft_self();
    for (int i = 1; i < STOPS; i++)
        next = weft_spawn(stop, &next, .copy_bytes = sizeof next);
    weft_send(next, TOKEN, count);
    stop(&next);
}

static void fiber_hop(void *unused) { (void)unused, ring(fiber_stop); }
static void react_hop(void *unused) { (void)unused, ring(react_stop); }

/* ---- messages: to oneself, so that nobody reads meanwhile --------------------------------------------- */

static void send_all(void)
{
    weft_pid me = weft_self();

    for (uint64_t i = 0; i < count; i++)
        weft_send(me, TOKEN, i);
}

static void send_only(void *unused)
{
    (void)unused;
    send_all();
    enough();
}

static void send_and_receive(void *unused)
{
    (void)unused;
    send_all();
    for (uint64_t i = 0; i < count; i++)
        weft_receive(TOKEN);
    enough();
}

/* ---- lives: each actor lets the one before it end, spawns the next and waits -------------------------- */

/* What each does first; `before` spawned it, and waits. */
static void pass_on(weft_fn *again, void *before)
{
    weft_pid to = {(uintptr_t)before};

    weft_send(to, GO);
    if (count-- == 0)
        enough();
    weft_spawn(again, (void *)(uintptr_t)weft_self().id);
}

static void fiber_life(void *before)
{
    pass_on(fiber_life, before);
    weft_receive(GO);
}

static void on_go(void *unused, weft_msg *m) { (void)unused, (void)m; }

static void react_life(void *before)
{
    pass_on(react_life, before);
    weft_react(on_go, NULL, GO);
}

static void idler(void *unused)
{
    (void)unused;
    weft_receive(GO);
}

/* Some actors and messages that stay: at the edge of a magazine each get and each put would be a rare one. The first
 * actor stays, too, as the system would end with it. */
static void lives(weft_fn *life)
{
    for (int i = 0; i < STAYING; i++) {
        weft_send(weft_self(), TOKEN, 0);
        weft_spawn(idler, NULL);
        weft_yield(); /* it starts, and waits */
    }
    weft_spawn(life, (void *)(uintptr_t)weft_self().id);
    for (;;)
        weft_receive(GO);
}

static void fiber_spawn(void *unused) { (void)unused, lives(fiber_life); }
static void react_spawn(void *unused) { (void)unused, lives(react_life); }

/* ---- failures: a child that is monitored fails, and its parent is told -------------------------------- */

static void fails(void *unused)
{
    (void)unused;
    weft_end(1);
}

static void failure(void *unused)
{
    weft_ref monitor;

    (void)unused;
    while (count-- > 0) {
        weft_spawn(fails, NULL, .monitor = &monitor);
        weft_receive(WEFT_DOWN);
    }
    enough();
}

/* -------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    weft_fn    *run;
} cases[] = {{"fiber-hop", fiber_hop},   {"react-hop", react_hop},     {"send", send_only},
             {"both", send_and_receive}, {"fiber-spawn", fiber_spawn}, {"react-spawn", react_spawn},
             {"failure", failure}};

int main(int argc, char **argv)
{
    count = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    for (size_t i = 0; count && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, argv[1]) == 0)
            weft_run(cases[i].run, NULL, .workers = 1);
    fprintf(stderr, "usage: watch fiber-hop|react-hop|send|both|fiber-spawn|react-spawn N\n");
    return 2;
}
