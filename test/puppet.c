/* puppet.c - see puppet.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "puppet.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft/bound.h>
#include <weft/case.h>

#include "base/memory.h"

WEFT_MESSAGE(
    ORDER, struct order {
        int (*what)(weft_pid with);
        weft_pid with;
    });
WEFT_MESSAGE(RESULT, int);
WEFT_MESSAGE(END, int);

enum form form;

/* False: it is to return. */
static bool obeys(weft_msg *m)
{
    if (weft_is(m, ORDER)) {
        const struct order o = *weft_get(m, ORDER);
        weft_keep(m); /* it may receive */
        weft_reply(m, RESULT, o.what(o.with));
        weft_drop(m);
    } else if (weft_is(m, END)) {
        int reason = *weft_get(m, END);
        if (!reason)
            return false;
        weft_end(reason);
    } else if (weft_is(m, WEFT_EXIT)) {
        note("exit %d ", weft_get(m, WEFT_EXIT)->reason);
    } else if (weft_is(m, WEFT_DOWN)) {
        note("down %d ", weft_get(m, WEFT_DOWN)->reason);
    }
    return true;
}

/* ---- in each form ----------------------------------------------------------------------------------------- */

static void as_fiber(void *arg)
{
    weft_msg *m;

    (void)arg;
    do
        m = weft_receive(WEFT_ANY);
    while (m && obeys(m)); /* none: a thread's system has ended */
}

static void on_any(void *state, weft_msg *m)
{
    if (obeys(m))
        weft_react(on_any, state, WEFT_ANY);
}

static void reacts(void *arg) { weft_react(on_any, arg, WEFT_ANY); }

static void serve(void *state, weft_msg *m)
{
    (void)state;
    if (!obeys(m))
        weft_unbecome();
}

static const weft_case  serves[] = {WEFT_ON(WEFT_ANY, serve)};
static const weft_cases behaviour = WEFT_CASES(serves, NULL);

static void becomes(void *arg) { weft_become(&behaviour, arg); }

enum { MOST = 16 };

static struct {
    pthread_t thread;
    sem_t     is_actor;
    weft_pid  pid;
} threads[MOST];         /* written by one, before it posts */
static int thread_count; /* the scenario's only */

static void *as_thread(void *arg)
{
    int i = *(int *)arg;

    threads[i].pid = weft_self();
    sem_post(&threads[i].is_actor);
    as_fiber(NULL);
    return NULL;
}

static weft_pid thread(void)
{
    static int numbers[MOST];
    int        i = thread_count++;

    if (i >= MOST)
        return WEFT_NOBODY;
    numbers[i] = i;
    sem_init(&threads[i].is_actor, 0, 0);
    pthread_create(&threads[i].thread, NULL, as_thread, &numbers[i]);
    sem_wait(&threads[i].is_actor);
    return threads[i].pid;
}

weft_pid puppet_with(enum form how, const weft_options *options)
{
    static weft_fn *const   functions[FORMS] = {as_fiber, reacts, becomes, as_fiber, NULL};
    static const weft_bound bound = {.messages = 1000};
    weft_options            all = options ? *options : (weft_options){0};

    if (how == THREAD)
        return thread();
    if (how == BOUNDED)
        all.bound = &bound;
    return weft_spawn_with(functions[how], NULL, &all, sizeof all);
}

weft_pid puppet(enum form how) { return puppet_with(how, NULL); }

static void run(weft_fn *scenario, int workers, const char *expected)
{
    static const char *const names[] = {"a fiber", "one that reacts", "a behaviour", "a bounded mailbox",
                                        "a thread"};

    forget_notes();
    thread_count = 0;
    int reason = weft_run(scenario, NULL, .workers = workers);
    while (thread_count)
        pthread_join(threads[--thread_count].thread, NULL);
    cr_expect_eq(reason, 0, "%s, %d workers: %d", names[form], workers, reason);
    cr_expect_str_eq(noted(), expected, "%s, %d workers: %s", names[form], workers, noted());
    cr_expect_eq(counted().spawned, counted().ended, "%s, %d workers", names[form], workers);
}

void in_each_form(weft_fn *scenario, const char *expected)
{
    for (form = FIBER; form < FORMS; form++) {
        run(scenario, 1, expected);
        run(scenario, 4, expected);
    }
}

/* ---- orders ------------------------------------------------------------------------------------------------- */

int order(weft_pid puppet, int (*what)(weft_pid with), weft_pid with)
{
    weft_msg *m = weft_ask(WEFT_FOREVER, puppet, ORDER, .what = what, .with = with);

    return weft_is(m, RESULT) ? *weft_get(m, RESULT) : -1000;
}

void order_later(weft_pid puppet, int (*what)(weft_pid with), weft_pid with)
{
    weft_send(puppet, ORDER, .what = what, .with = with);
}

int nothing(weft_pid unused)
{
    (void)unused;
    return 0;
}

int traps(weft_pid unused)
{
    (void)unused;
    return weft_trap(true);
}

int traps_no_more(weft_pid unused)
{
    (void)unused;
    return weft_trap(false);
}

int monitors(weft_pid who) { return weft_monitor(who).id ? 0 : WEFT_EMEMORY; }

void ends(weft_pid puppet, int reason) { weft_send(puppet, END, reason); }

static bool is_of(const weft_msg *m, const void *ref)
{
    return weft_get(m, WEFT_DOWN)->ref.id == *(const uint64_t *)ref;
}

int reason_of(weft_ref monitor)
{
    const weft_case  list[] = {WEFT_ON_IF(WEFT_DOWN, NULL, is_of, &monitor.id)};
    const weft_cases down = WEFT_CASES(list, NULL);

    return weft_get(weft_receive_case(WEFT_FOREVER, &down), WEFT_DOWN)->reason;
}

void wait_for_ends(uint64_t ended)
{
    while (counted().ended < ended)
        weft_yield();
}

bool lives(weft_pid puppet) { return order(puppet, nothing, WEFT_NOBODY) == 0; }

/* ---- memory ----------------------------------------------------------------------------------------------- */

#ifdef __SANITIZE_ADDRESS__
size_t resident(void) { return 0; } /* it keeps what was freed */
#else
size_t resident(void)
{
    size_t all = 0, here = 0;
    FILE  *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%zu %zu", &all, &here) != 2)
        abort();
    fclose(f);
    return here * (size_t)sysconf(_SC_PAGESIZE);
}
#endif

WEFT_SIGNAL(FILLER);

static weft_msg *fillers[1 << 18];
static int       filler_count;

void memory_is_gone(int left)
{
    weft_drop(weft_make(FILLER)); /* its type is known then */
    weft__memory_fail(1);
    while (filler_count < 1 << 18 && (fillers[filler_count] = weft_make(FILLER)))
        filler_count++;
    while (left-- > 0)
        weft_drop(fillers[--filler_count]);
    weft__memory_fail(1);
}

void memory_is_back(void)
{
    weft__memory_fail(0);
    while (filler_count)
        weft_drop(fillers[--filler_count]);
}

static void returns(void *arg) { (void)arg; }

void keep_for_the_next(void)
{
    weft_ref ref;

    weft_spawn(returns, NULL, .monitor = &ref);
    reason_of(ref);
}
