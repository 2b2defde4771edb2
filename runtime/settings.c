/* settings.c - what a system is started with: as the program says, or the environment, or the machine.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#define _GNU_SOURCE /* CPU_COUNT */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/actor.h"

static unsigned cpus_allowed(void)
{
    cpu_set_t cpus;
    int       n = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;

    return n < 1 ? 1 : n > WEFT__WORKERS_MAX ? WEFT__WORKERS_MAX : (unsigned)n;
}

/* A number of the environment; `otherwise`, and a line on stderr, if it is not one from `least` to `most`. */
static uint64_t from_environment(const char *name, uint64_t least, uint64_t most, uint64_t otherwise)
{
    const char *text = getenv(name);
    char       *end;

    if (!text || !*text)
        return otherwise;
    errno = 0;
    uint64_t n = strtoull(text, &end, 0);
    if (!*end && !errno && *text != '-' && n >= least && n <= most)
        return n;
    fprintf(stderr, "weft: %s=%s is not a number from %llu to %llu, and is ignored\n", name, text,
            (unsigned long long)least, (unsigned long long)most);
    return otherwise;
}

unsigned weft__settings_workers(const weft_config *how)
{
    if (how->workers)
        return how->workers < 1 || how->workers > WEFT__WORKERS_MAX ? 0 : (unsigned)how->workers;
    return (unsigned)from_environment("WEFT_WORKERS", 1, WEFT__WORKERS_MAX, cpus_allowed());
}

uint64_t weft__settings_seed(const weft_config *how)
{
    return how->seed ? how->seed : from_environment("WEFT_SEED", 0, UINT64_MAX, 0);
}

bool weft__settings_dumps(const weft_config *how)
{
    return how->dump_on_quit || from_environment("WEFT_DUMP_ON_QUIT", 0, 1, 0);
}

bool weft__settings_deadlocks(const weft_config *how)
{
    return how->deadlock || from_environment("WEFT_DEADLOCK", 0, 1, 0);
}
