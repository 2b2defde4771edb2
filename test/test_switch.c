/* test_switch.c - what switch.h promises, for whichever back end is linked.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Brings its own stacks, so that only the switch is under test. Link with -lm.
 */
#include "fibers/switch.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "fibers/stack.h"

enum { STACK_BYTES = 256 * 1024 };

static struct weft__stack stack;
static void              *home;  /* the test's own stack */
static void              *fiber; /* the stack under test */
static _Atomic uint64_t   word;
static int                steps;

/* Entries have no argument and must not return; so the tests talk over these variables. */

static void fresh_stack(void)
{
    stack.low = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq((void *)stack.low, MAP_FAILED);
    stack.top = stack.low + STACK_BYTES;
}

static void drop_stack(void) { munmap(stack.low, STACK_BYTES); }

TestSuite(switch, .init = fresh_stack, .fini = drop_stack, .timeout = 20);

static void *go(void *pass) { return weft__switch_away(&home, fiber, pass, NULL, NULL); }
static void *back(void *pass) { return weft__switch_away(&fiber, home, pass, NULL, NULL); }
static void *number(uintptr_t n) { return (void *)n; }

/* Not the address of a local: AddressSanitizer may keep those elsewhere. */
__attribute__((noinline)) static bool on_fiber_stack(void)
{
    char *here = __builtin_frame_address(0);

    return here >= stack.low && here < stack.top;
}

/* ---- Passing ------------------------------------------------------------------------------------------- */

static void adds_one(void)
{
    void *got = back(number(100));

    for (;;)
        got = back(number((uintptr_t)got + 1));
}

Test(switch, passes_values_both_ways)
{
    fiber = weft__switch_fresh(&stack, adds_one);
    cr_assert_eq(go(NULL), number(100));
    for (uintptr_t n = 0; n < 1000; n++)
        cr_assert_eq(go(number(n)), number(n + 1));
}

static void says_where(void)
{
    for (;;)
        back(number(on_fiber_stack()));
}

Test(switch, runs_the_entry_on_its_stack)
{
    fiber = weft__switch_fresh(&stack, says_where);
    cr_expect_not(on_fiber_stack());
    cr_expect_eq(go(NULL), number(true));
    cr_expect_not(on_fiber_stack());
}

static void says_alignment(void)
{
    for (;;)
        back(number((uintptr_t)__builtin_frame_address(0) % 16));
}

Test(switch, aligns_the_first_frame)
{
    fiber = weft__switch_fresh(&stack, says_alignment);
    cr_expect_eq(go(NULL), number(0));
}

Test(switch, has_a_name)
{
    const char *names[] = {"own", "fcontext", "ucontext", "libco"};
    int         known = 0;

    for (int i = 0; i < 4; i++)
        known += strcmp(weft__switch_name(), names[i]) == 0;
    cr_expect_eq(known, 1);
}

/* ---- then ---------------------------------------------------------------------------------------------- */

static bool  then_on_fiber;
static int   then_at;
static void *then_with;
static void *then_saw;

static void note_then(void *with)
{
    then_on_fiber = on_fiber_stack();
    then_at = ++steps;
    then_with = with;
    then_saw = with == &home ? home : fiber;
}

static void counts_steps(void)
{
    for (;;) {
        int at = ++steps;
        back(number((uintptr_t)at));
    }
}

Test(switch, runs_then_on_the_fresh_stack_before_its_entry)
{
    fiber = weft__switch_fresh(&stack, counts_steps);
    cr_expect_eq(weft__switch_away(&home, fiber, NULL, note_then, &home), number(2));
    cr_expect(then_on_fiber);
    cr_expect_eq(then_at, 1);
    cr_expect_eq(then_with, &home);
    cr_expect_eq(then_saw, home, "the context left was saved before then() ran");
}

Test(switch, runs_then_on_the_resumed_stack_before_it_goes_on)
{
    fiber = weft__switch_fresh(&stack, counts_steps);
    cr_assert_eq(go(NULL), number(1));
    cr_expect_eq(weft__switch_away(&home, fiber, NULL, note_then, &home), number(3));
    cr_expect(then_on_fiber);
    cr_expect_eq(then_at, 2);
}

static void returns_with_then(void)
{
    for (;;)
        weft__switch_away(&fiber, home, number(7), note_then, &fiber);
}

Test(switch, runs_then_on_the_threads_own_stack)
{
    fiber = weft__switch_fresh(&stack, returns_with_then);
    cr_expect_eq(go(NULL), number(7), "then() does not disturb what is passed");
    cr_expect_not(then_on_fiber);
    cr_expect_eq(then_saw, fiber);
    cr_expect_eq(go(NULL), number(7));
    cr_expect_eq(then_at, 2);
}

/* ---- park ---------------------------------------------------------------------------------------------- */

static _Atomic uint64_t *refused_word;
static bool              refused_on_fiber;
static int               refusals;

void weft__switch_refused(_Atomic uint64_t *w)
{
    refused_word = w;
    refused_on_fiber = on_fiber_stack();
    refusals++;
}

static void parks(void)
{
    for (;;)
        weft__switch_park(&fiber, home, number(5), &word, 77);
}

Test(switch, parks_the_word)
{
    fiber = weft__switch_fresh(&stack, parks);
    cr_expect_eq(go(NULL), number(5));
    cr_expect_eq(word, 77);
    cr_expect_eq(refusals, 0);
    word = 0;
    cr_expect_eq(go(NULL), number(5));
    cr_expect_eq(word, 77);
}

Test(switch, refuses_to_park_on_the_new_stack)
{
    fiber = weft__switch_fresh(&stack, parks);
    word = 3;
    cr_expect_eq(go(NULL), number(5), "a refusal does not disturb what is passed");
    cr_expect_eq(word, 3);
    cr_expect_eq(refusals, 1);
    cr_expect_eq(refused_word, &word);
    cr_expect_not(refused_on_fiber);
}

static void reports_the_word(void)
{
    uint64_t seen = word;

    back(number((uintptr_t)seen));
    abort();
}

Test(switch, parks_before_a_fresh_entry_starts)
{
    fiber = weft__switch_fresh(&stack, reports_the_word);
    cr_expect_eq(weft__switch_park(&home, fiber, NULL, &word, 9), number(9));
}

Test(switch, refuses_before_a_fresh_entry_starts)
{
    fiber = weft__switch_fresh(&stack, reports_the_word);
    word = 4;
    cr_expect_eq(weft__switch_park(&home, fiber, NULL, &word, 9), number(4));
    cr_expect(refused_on_fiber);
}

/* A second thread takes each parked word at once and goes on with that stack. If the word were published
 * before its stack was left and its context saved, the two threads would run on one stack. */
enum { ROUNDS = 20000 };
static _Atomic int         round_trips;
static _Thread_local void *thread_home;

/* The thread may change: never inlined, and the asm hides what it returns, or gcc would call it once for all
 * and clang put the variable in its place. */
__attribute__((noinline)) static void **my_home(void)
{
    void **mine = &thread_home;

    __asm__ volatile("" : "+r"(mine) : : "memory");
    return mine;
}

static void parks_forever(void)
{
    for (;;) {
        round_trips++;
        weft__switch_park(&fiber, *my_home(), NULL, &word, 1);
    }
}

static void *takes_parked(void *unused)
{
    (void)unused;
    while (round_trips < ROUNDS) {
        uint64_t parked = 1;
        if (atomic_compare_exchange_strong(&word, &parked, 0))
            weft__switch_away(my_home(), fiber, NULL, NULL, NULL);
    }
    return NULL;
}

Test(switch, publishes_only_after_leaving)
{
    pthread_t thread[2];

    fiber = weft__switch_fresh(&stack, parks_forever);
    word = 1;
    for (int i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&thread[i], NULL, takes_parked, NULL), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    cr_expect_geq(round_trips, ROUNDS);
    cr_expect_eq(refusals, 0);
}

/* ---- What a callee must keep --------------------------------------------------------------------------- */

/* More values than a CPU has callee-saved registers, live over a switch: optimized, some sit in each. */

#if defined(__aarch64__)
#define FLOATING "+w"
#elif defined(__x86_64__)
#define FLOATING "+x"
#else
#define FLOATING "+m"
#endif

/* The compiler must believe that these ten and eight are in registers now, and may have changed. */
#define TOUCH()                                                                    \
    do {                                                                           \
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));        \
        __asm__ volatile("" : "+r"(f), "+r"(g), "+r"(h), "+r"(i), "+r"(j));        \
        __asm__ volatile("" : FLOATING(p), FLOATING(q), FLOATING(r), FLOATING(s)); \
        __asm__ volatile("" : FLOATING(t), FLOATING(u), FLOATING(v), FLOATING(w)); \
    } while (0)

__attribute__((noinline)) static bool keeps_values(uint64_t seed, void *(*away)(void *))
{
    uint64_t a = seed, b = seed * 3, c = seed * 5, d = seed * 7, e = seed * 9;
    uint64_t f = seed * 11, g = seed * 13, h = seed * 15, i = seed * 17, j = seed * 19;
    double   p = (double)seed, q = p * 3, r = p * 5, s = p * 7, t = p * 9, u = p * 11, v = p * 13, w = p * 15;

    TOUCH();
    away(NULL);
    TOUCH();
    return a == seed && b == seed * 3 && c == seed * 5 && d == seed * 7 && e == seed * 9 && f == seed * 11 &&
           g == seed * 13 && h == seed * 15 && i == seed * 17 && j == seed * 19 && p == (double)seed &&
           q == p * 3 && r == p * 5 && s == p * 7 && t == p * 9 && u == p * 11 && v == p * 13 && w == p * 15;
}

static bool fiber_kept = true;

static void uses_registers(void)
{
    for (uint64_t n = 1000;; n++)
        fiber_kept &= keeps_values(n, back);
}

Test(switch, keeps_callee_saved_registers)
{
    fiber = weft__switch_fresh(&stack, uses_registers);
    for (uint64_t n = 1; n < 100; n++)
        cr_assert(keeps_values(n, go));
    cr_expect(fiber_kept);
}

static double third(void)
{
    volatile double one = 1, three = 3;

    return one / three;
}

static double fiber_thirds[2];
static int    fiber_modes[2];

static void rounds_down(void)
{
    fesetround(FE_DOWNWARD);
    for (int i = 0;; i = 1) {
        fiber_thirds[i] = third();
        fiber_modes[i] = fegetround();
        back(NULL);
    }
}

Test(switch, keeps_the_rounding_mode)
{
    fiber = weft__switch_fresh(&stack, rounds_down);
    fesetround(FE_UPWARD);
    double before = third();
    go(NULL);
    cr_expect_eq(fegetround(), FE_UPWARD);
    cr_expect_eq(third(), before);
    go(NULL);
    cr_expect_eq(fiber_modes[0], FE_DOWNWARD);
    cr_expect_eq(fiber_modes[1], FE_DOWNWARD);
    cr_expect_eq(fiber_thirds[0], fiber_thirds[1]);
    cr_expect_lt(fiber_thirds[1], before);
}

/* ---- Stacks -------------------------------------------------------------------------------------------- */

static uint64_t sum_to(volatile uint64_t n)
{
    volatile char frame[64];

    frame[n % 64] = (char)n;
    if (n == 0) {
        back(NULL);
        return 0;
    }
    return sum_to(n - 1) + n + (frame[n % 64] != (char)n);
}

static void recurses(void)
{
    uint64_t sum = sum_to(500);

    back(number((uintptr_t)sum));
    abort();
}

Test(switch, leaves_from_deep_inside)
{
    fiber = weft__switch_fresh(&stack, recurses);
    cr_expect_eq(go(NULL), NULL);
    cr_expect_eq(go(NULL), number(500 * 501 / 2));
}

static void leaves(void)
{
    volatile char litter[1000];

    memset((void *)litter, 0xA5, sizeof litter);
    steps++;
    weft__switch_leave(home, number(42));
}

Test(switch, leaves_for_good)
{
    fiber = weft__switch_fresh(&stack, leaves);
    cr_expect_eq(go(NULL), number(42));
    cr_expect_eq(steps, 1);
}

Test(switch, uses_a_stack_afresh)
{
    for (int i = 1; i <= 100; i++) {
        fiber = weft__switch_fresh(&stack, i % 2 ? leaves : recurses); /* recurses is abandoned */
        cr_expect_eq(go(NULL), i % 2 ? number(42) : NULL);
    }
    cr_expect_eq(steps, 50);
}

Test(switch, works_at_any_coloured_top)
{
    char *top = stack.top;

    for (int colour = 0; colour < 64; colour++) {
        stack.top = top - 16 * colour;
        fiber = weft__switch_fresh(&stack, says_alignment);
        cr_expect_eq(go(NULL), number(0));
    }
}

/* ---- Threads ------------------------------------------------------------------------------------------- */

static void tells_its_thread(void)
{
    for (;;)
        weft__switch_away(&fiber, *my_home(), my_home(), NULL, NULL);
}

static void *resumes(void *unused)
{
    (void)unused;
    return number(weft__switch_away(my_home(), fiber, NULL, NULL, NULL) == my_home());
}

Test(switch, goes_on_on_another_thread)
{
    fiber = weft__switch_fresh(&stack, tells_its_thread);
    cr_expect_eq(resumes(NULL), number(true));
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        void     *same = NULL;

        cr_assert_eq(pthread_create(&thread, NULL, resumes, NULL), 0);
        pthread_join(thread, &same);
        cr_expect_eq(same, number(true));
    }
    cr_expect_eq(resumes(NULL), number(true));
}
