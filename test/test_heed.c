/* test_heed.c - who is ended, and never receives: in a sleep, or where it yields.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

/* pthread_exit loads a library, and a leak checker does not see who has it: so it is loaded before, unseen. */
#ifdef __SANITIZE_ADDRESS__
void        __lsan_disable(void), __lsan_enable(void);
static void load_unseen(void)
{
    __lsan_disable();
    dlopen("libgcc_s.so.1", RTLD_NOW);
    __lsan_enable();
}
#else
static void load_unseen(void) {}
#endif

TestSuite(heed, .init = load_unseen, .fini = nothing_leaks, .timeout = 60);

static _Atomic uint64_t spinner;

static void spins(void *arg)
{
    for (;;) {
        weft_yield();
        spinner = weft_self().id;
    }
    (void)arg;
}

static void links_and_ends(void *reason)
{
    weft_link((weft_pid){spinner});
    weft_end(*(int *)reason);
}

static void links_takes_back_and_ends(void *reason)
{
    weft_link((weft_pid){spinner});
    weft_unlink((weft_pid){spinner});
    weft_end(*(int *)reason);
}

/* Its monitor tells with what. */
static int end_of(weft_ref ref)
{
    const struct weft_down *down = weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN);

    return down->ref.id == ref.id ? down->reason : -1000;
}

static void another_links(void *arg)
{
    weft_ref spun, ended;
    int      reason = 5, other = 6, normal = 0;

    (void)arg;
    weft_spawn(spins, NULL, .monitor = &spun);
    while (!spinner)
        weft_yield();
    weft_spawn(links_and_ends, &normal, .copy_bytes = sizeof normal, .monitor = &ended);
    note("%d ", end_of(ended));
    weft_spawn(links_takes_back_and_ends, &other, .copy_bytes = sizeof other, .monitor = &ended);
    note("%d ", end_of(ended));
    weft_spawn(links_and_ends, &reason, .copy_bytes = sizeof reason);
    note("%d", end_of(spun));
}

Test(heed, a_link_that_it_has_not_heard_of_yet_ends_who_only_yields)
{
    cr_assert_eq(weft_run(another_links, NULL, .workers = 2), 0);
    cr_assert_str_eq(noted(), "0 6 5");
}

Test(heed, so_it_does_in_virtual_time)
{
    cr_assert_eq(weft_run(another_links, NULL, .seed = 3), 0);
    cr_assert_str_eq(noted(), "0 6 5");
}

/* ---- Threads -------------------------------------------------------------------------------------------- */

static _Atomic uint64_t thread_id;

static void *sleeps(void *arg)
{
    thread_id = weft_self().id;
    weft_sleep(weft_sec(3600));
    return arg;
}

static void *yields(void *arg)
{
    thread_id = weft_self().id;
    for (;;)
        weft_yield();
    return arg;
}

static void kills(void *arg)
{
    weft_pid who;

    (void)arg;
    while (!(who.id = thread_id))
        weft_yield();
    weft_ref ref = weft_monitor(who);
    weft_kill(who);
    note("%d", end_of(ref) == WEFT_EKILLED);
}

static void kill_it(void *(*thread_of)(void *))
{
    pthread_t thread;

    pthread_create(&thread, NULL, thread_of, NULL);
    cr_assert_eq(weft_run(kills, NULL, .workers = 2), 0);
    pthread_join(thread, NULL);
    cr_assert_str_eq(noted(), "1");
}

Test(heed, a_thread_is_ended_in_its_sleep) { kill_it(sleeps); }

Test(heed, a_thread_is_ended_where_it_yields) { kill_it(yields); }

static void nothing(void *arg) { (void)arg; }

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *sleeps_a_little(void *arg)
{
    thread_id = weft_self().id;
    int64_t before = now();
    weft_sleep(weft_ms(30));
    *(bool *)arg = now() - before >= 30000000;
    return NULL;
}

Test(heed, the_end_of_a_system_shortens_no_sleep)
{
    pthread_t thread;
    bool      long_enough = false;

    pthread_create(&thread, NULL, sleeps_a_little, &long_enough);
    while (!thread_id)
        ;
    cr_assert_eq(weft_run(nothing, NULL), 0);
    pthread_join(thread, NULL);
    cr_assert(long_enough);
}
