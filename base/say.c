/* say.c - see say.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "base/say.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"

/* Nobody read the last one. relaxed: it orders nothing. */
static atomic_bool is_deaf;

/* A signal that comes meanwhile costs a step, and no more. */
static bool has_room(int ms)
{
    enum { STEP = 10 };
    struct pollfd to = {STDERR_FILENO, POLLOUT, 0};

    while (poll(&to, 1, ms < STEP ? ms : STEP) <= 0)
        if ((ms -= STEP) <= 0)
            return false;
    return true;
}

/* Where nobody reads any more, the signal for that is not for who happens to say something here. */
static void write_quietly(const char *bytes, size_t size)
{
    static const struct timespec now;
    sigset_t                     pipe, due, before;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&due);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    ssize_t ignored = write(STDERR_FILENO, bytes, size);
    (void)ignored; /* nobody left to tell */
    if (!sigismember(&due, SIGPIPE))
        sigtimedwait(&pipe, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool weft__say_within(const char *bytes, size_t size, int ms)
{
    bool there_is = has_room(ms);

    if (there_is)
        write_quietly(bytes, size);
    return there_is;
}

struct weft__text *weft__say_begin(struct weft__say *line)
{
    line->text = weft__text_in(line->room, sizeof line->room - 1); /* the line's end has room */
    return &line->text;
}

void weft__say_end(struct weft__say *line)
{
    int patience = atomic_load_explicit(&is_deaf, memory_order_relaxed) ? 0 : WEFT__SAY_MS;

    weft__text_clean(line->room);
    *line->text.at++ = '\n';
    bool heard = weft__say_within(line->room, (size_t)(line->text.at - line->room), patience);
    atomic_store_explicit(&is_deaf, !heard, memory_order_relaxed);
}
