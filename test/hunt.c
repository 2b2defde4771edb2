/* hunt.c - see hunt.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hunt.h"

enum { TICK_S = 5, TICKS = 6, PRINTED = 20 };

atomic_ulong hunt_wrong, hunt_progress;

static const char *name = "hunt";

void hunt_count(atomic_ulong *n) { atomic_fetch_add_explicit(n, 1, memory_order_relaxed); }

void hunt_complain(const char *what, long a, long b)
{
    if (atomic_fetch_add(&hunt_wrong, 1) < PRINTED)
        fprintf(stderr, "%s: %s (%ld, %ld)\n", name, what, a, b);
}

static void print(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(2);
}

static void tick(int unused)
{
    static unsigned long was;
    static int           idle;
    unsigned long        is = atomic_load_explicit(&hunt_progress, memory_order_relaxed);

    (void)unused;
    idle = is == was ? idle + 1 : 0;
    was = is;
    if (idle >= TICKS) {
        print(name);
        print(": FAILED: somebody hangs\n");
        _exit(1);
    }
    alarm(TICK_S);
}

void hunt_begin(const char *program)
{
    name = program;
    signal(SIGALRM, tick);
    alarm(TICK_S);
}
