/* signals.c - signals of the process: as messages for actors that ask, and as the wish for a dump.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A handler may do next to nothing: it sets a bit and rings. A thread of Weft's own sleeps on that bell and tells
 * whoever has asked. It starts with the first wish, and ends with a weft_run that leaves none. A dump for SIGQUIT is
 * the wish of nobody. So is that signals stay caught while a system is stopped: those that had asked may have ended when
 * the next one comes, and others are still at work.
 *
 *   I1  Our handler is there exactly while there is a wish for that signal, unless the program has put another in its
 *       place, which stays. It may still be called later, by one that remembers it: a bit that nobody wants is nothing.
 *   I2  A wish is forgotten before its actor's pid is: whoever has asked is there, or the mailbox refuses.
 *   I3  What can not be told, for want of memory, stays due, and is tried again.
 *
 * `life` is held while the thread is started and ended, `lock` while wishes are looked at; in this order.
 */
#define _GNU_SOURCE /* pthread_setname_np, memrchr */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/signal.h>

#include "base/futex.h"
#include "base/memory.h"
#include "base/say.h"
#include "runtime/actor.h"
#include "sched/clock.h"

enum { LAST_PLAIN = 31, SIGNALS = 65, RETRY_NS = 10000000 };

/* Those that an instruction raises: nobody blocks them, and nobody can ask for them. */
static const int raised[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

struct wish {
    weft_pid who;
    int      signal;
    bool     due;
    enum { TELLS, DUMPS, HOLDS } what; /* the last two are nobody's */
};

static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  said = PTHREAD_COND_INITIALIZER;
static pthread_t       thread; /* under life, as the next */
static bool            lives;
static int             found;  /* under lock: 1 until the thread says what it found, 0 or an error */
static struct wish    *wishes; /* under lock, as all that follow */
static size_t          count, room;
static struct sigaction
    before[SIGNALS];          /* of those that somebody wants; whoever has forked reads it in the child */
static _Atomic size_t askers; /* wishes of actors; relaxed: read on its own */

static _Atomic uint64_t pending; /* a bit each; handlers set them, the thread takes them */
static _Atomic uint32_t bell;    /* a futex: it grows with each ring */
static atomic_bool      ends;    /* the thread is to end */
static _Atomic pid_t    process; /* whose handlers they are; relaxed: it was written before they were there */

static uint64_t bit(int signal) { return (uint64_t)1 << (signal - 1); }

/* ---- the handler ---------------------------------------------------------------------------------------- */

static void ring(void)
{
    /* release = B: who sees the bell sees what was set before. */
    atomic_fetch_add_explicit(&bell, 1, memory_order_release);
    weft__futex_wake(&bell);
}

/* In a child there is no thread of ours. There it does what it did before; but if that was a handler which has called ours,
 * as it took our place for a while, what the system does. */
static void hand_back(int signal)
{
    static _Atomic uint64_t handed; /* relaxed: a bit each, of one process */
    struct sigaction        none = {.sa_handler = SIG_DFL};
    bool again = atomic_fetch_or_explicit(&handed, bit(signal), memory_order_relaxed) & bit(signal);

    sigaction(signal, again ? &none : &before[signal], NULL);
    raise(signal); /* when this handler has returned: until then it is blocked */
}

static void on_signal(int signal)
{
    int error = errno;

    if (getpid() == atomic_load_explicit(&process, memory_order_relaxed)) {
        atomic_fetch_or_explicit(&pending, bit(signal), memory_order_relaxed); /* B */
        ring();
    } else {
        hand_back(signal);
    }
    errno = error;
}

/* 0 or an error. */
static int put_handler(int signal)
{
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK};

    sigfillset(&ours.sa_mask);
    atomic_store_explicit(&process, getpid(), memory_order_relaxed);
    if (sigaction(signal, NULL, &before[signal]) || sigaction(signal, &ours, NULL))
        return WEFT_ESYSTEM;
    return 0;
}

static bool has_our_handler(int signal)
{
    struct sigaction now;

    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == on_signal;
}

static void take_handler_back(int signal)
{
    if (has_our_handler(signal))
        sigaction(signal, &before[signal], NULL);
}

/* ---- wishes, under the lock ------------------------------------------------------------------------------ */

static bool is_wanted(int signal)
{
    for (size_t i = 0; i < count; i++)
        if (wishes[i].signal == signal)
            return true;
    return false;
}

static bool make_room(void)
{
    if (count < room)
        return true;
    struct wish *more = weft__memory_get((count * 2 + 4) * sizeof *more);
    if (!more)
        return false;
    if (count)
        memcpy(more, wishes, count * sizeof *more);
    weft__memory_put(wishes);
    wishes = more;
    room = count * 2 + 4;
    return true;
}

static void drop_room(void)
{
    if (count)
        return;
    weft__memory_put(wishes);
    wishes = NULL;
    room = 0;
}

static void count_asker(weft_pid who, size_t by)
{
    if (!weft_is_nobody(who))
        atomic_fetch_add_explicit(&askers, by, memory_order_relaxed);
}

static bool has_wish(weft_pid who, int signal)
{
    for (size_t i = 0; i < count; i++)
        if (weft_same(wishes[i].who, who) && wishes[i].signal == signal)
            return true;
    return false;
}

/* Who asks is told, also if the program has put another handler in the place of ours since others asked. */
static int take_over(int signal)
{
    if (!is_wanted(
            signal)) /* relaxed: one that came when nobody had asked any more; what comes now is later */
        atomic_fetch_and_explicit(&pending, ~bit(signal), memory_order_relaxed);
    return has_our_handler(signal) ? 0 : put_handler(signal);
}

static int add(weft_pid who, int signal, int what)
{
    bool known = has_wish(who, signal);
    int  error = !known && !make_room() ? WEFT_EMEMORY : take_over(signal);

    if (!error && !known) {
        wishes[count++] = (struct wish){.who = who, .signal = signal, .what = what};
        count_asker(who, 1);
    }
    drop_room();
    return error;
}

/* For one signal, or, 0, all. */
static void forget(weft_pid who, int signal)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count;) {
        struct wish w = wishes[i];
        if (!weft_same(w.who, who) || (signal && w.signal != signal)) {
            i++;
            continue;
        }
        wishes[i] = wishes[--count];
        count_asker(who, (size_t)-1);
        if (!is_wanted(w.signal))
            take_handler_back(w.signal);
    }
    drop_room();
    pthread_mutex_unlock(&lock);
    weft__crew_ask(); /* rest.c I3 */
}

/* These signals have come. False: no memory for some messages, which stay due. */
static bool tell(struct weft__lane *l, uint64_t signals, bool *dumps)
{
    bool all = true;

    for (size_t i = 0; i < count; i++) {
        struct wish *w = &wishes[i];
        w->due = w->due || signals & bit(w->signal);
        if (!w->due)
            continue;
        *dumps = *dumps || w->what == DUMPS;
        w->due = w->what == TELLS && !weft__bonds_signalled(l, w->who, w->signal);
        all = all && !w->due;
    }
    return all;
}

/* ---- the thread ------------------------------------------------------------------------------------------ */

static struct weft__lane *begin(void)
{
    struct weft__lane *l = weft__lane_need();

    if (l)
        weft__lane_serves(l);
    pthread_setname_np(pthread_self(), "weft-signals");
    pthread_mutex_lock(&lock);
    found = l ? 0 : WEFT_EMEMORY;
    pthread_cond_signal(&said);
    pthread_mutex_unlock(&lock);
    return l;
}

/* So many bytes as a pipe takes at once, in whole lines if there are any. */
static size_t piece_of(const char *text, size_t left)
{
    size_t      most = left < PIPE_BUF ? left : PIPE_BUF;
    const char *end = memrchr(text, '\n', most);

    return end ? (size_t)(end + 1 - text) : most;
}

/* False: nobody reads, and neither who waits for the end of this thread, nor whom it is to tell of the next signal, must
 * wait for that. */
static bool say_piece(const char *text, size_t size)
{
    enum { LOOK_MS = 100 };

    while (!weft__say_within(text, size, LOOK_MS)) /* relaxed, both: looked at again */
        if (atomic_load_explicit(&ends, memory_order_relaxed) ||
            atomic_load_explicit(&pending, memory_order_relaxed))
            return false;
    return true;
}

static void say_dump(void)
{
    struct weft__say line;
    char            *text = NULL;
    size_t           size = 0, n;
    FILE            *to = open_memstream(&text, &size);

    if (to)
        weft_dump(to);
    if (!to || fclose(to) || !text) {
        weft__text_add(weft__say_begin(&line), "weft: there is no memory for a dump");
        weft__say_end(&line);
    } else {
        for (size_t at = 0; at < size && say_piece(text + at, n = piece_of(text + at, size - at));)
            at += n;
    }
    free(text);
}

static void *listen(void *unused)
{
    struct weft__lane *l = begin();

    while (l && !atomic_load_explicit(&ends, memory_order_relaxed)) {       /* B: it is set before the bell */
        uint32_t heard = atomic_load_explicit(&bell, memory_order_acquire); /* = B */
        uint64_t signals = atomic_exchange_explicit(&pending, 0, memory_order_relaxed);
        bool     dumps = false;

        pthread_mutex_lock(&lock);
        bool all = tell(l, signals, &dumps);
        pthread_mutex_unlock(&lock);
        if (dumps)
            say_dump();
        if (!atomic_load_explicit(&ends, memory_order_relaxed))
            weft__futex_wait(&bell, heard, all ? WEFT__NEVER : weft__clock_real_after(RETRY_NS));
    }
    return unused;
}

void weft__signals_block(sigset_t *was)
{
    sigset_t all;

    sigfillset(&all);
    for (size_t i = 0; i < sizeof raised / sizeof *raised; i++)
        sigdelset(&all, raised[i]);
    pthread_sigmask(SIG_BLOCK, &all, was);
}

/* Under `life`. */
static int start(void)
{
    sigset_t was;

    found = 1;
    weft__signals_block(&was);
    int refused = pthread_create(&thread, NULL, listen, NULL);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    if (refused)
        return WEFT_ESYSTEM;
    pthread_mutex_lock(&lock);
    while (found == 1)
        pthread_cond_wait(&said, &lock);
    pthread_mutex_unlock(&lock);
    lives = found == 0;
    if (!lives)
        pthread_join(thread, NULL);
    return found;
}

static int ask(weft_pid who, int signal, int what)
{
    pthread_mutex_lock(&life);
    int error = lives ? 0 : start();
    if (!error) {
        pthread_mutex_lock(&lock);
        error = add(who, signal, what);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(&life);
    return error;
}

/* ---- who asks -------------------------------------------------------------------------------------------- */

static bool can_be_told(int signal)
{
    for (size_t i = 0; i < sizeof raised / sizeof *raised; i++)
        if (signal == raised[i])
            return false;
    if (signal == SIGKILL || signal == SIGSTOP)
        return false;
    /* between the two are those that the C library keeps for itself */
    return (signal >= 1 && signal <= LAST_PLAIN) || (signal >= SIGRTMIN && signal <= SIGRTMAX);
}

int weft_signals(int signal, bool on)
{
    struct weft__lane *l = weft__lane();

    weft__send_check(l);
    if (!can_be_told(signal))
        return WEFT_EINVALID;
    if (!on && (!l->self || !l->self->extra))
        return 0;
    if (!l->self)
        l = weft__thread_actor();
    struct weft__extra *x = l ? weft__actor_extra(l->self) : NULL;
    if (!x)
        return WEFT_EMEMORY;
    weft_pid self = {weft__actor_pid(l->self)};
    if (on) {
        x->wants_signals = true;
        return ask(self, signal, TELLS);
    }
    forget(self, signal);
    return 0;
}

void weft__signals_forget(weft_pid who) { forget(who, 0); }

bool weft__signals_wanted(void) { return atomic_load_explicit(&askers, memory_order_relaxed); }

int weft__signals_dump(void) { return ask(WEFT_NOBODY, SIGQUIT, DUMPS); }

void weft__signals_hold(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0, n = count; i < n; i++)
        if (wishes[i].what == TELLS && has_our_handler(wishes[i].signal))
            add(WEFT_NOBODY, wishes[i].signal, HOLDS); /* without memory it is not held */
    pthread_mutex_unlock(&lock);
}

void weft__signals_end(void)
{
    forget(WEFT_NOBODY, 0);
    pthread_mutex_lock(&life);
    pthread_mutex_lock(&lock);
    bool idle = count == 0; /* and stays so: new ones need `life` */
    pthread_mutex_unlock(&lock);
    if (lives && idle) {
        atomic_store_explicit(&ends, true, memory_order_relaxed); /* B */
        ring();
        pthread_join(thread, NULL);
        atomic_store_explicit(&ends, false, memory_order_relaxed);
        lives = false;
    }
    pthread_mutex_unlock(&life);
}
