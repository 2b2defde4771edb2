/* test_fault.c - stacks that run over, and fatal signals: who is named, who ends, who goes on.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * What ends the process does so in a child. What it says is then compared here.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <criterion/criterion.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/case.h>
#include <weft/supervisor.h>

#include "fibers/stack.h"
#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(fault, .fini = nothing_leaks, .timeout = 120);

WEFT_MESSAGE(N, int);
WEFT_SIGNAL(GO);

static void nothing(void *arg) { (void)arg; }

/* ---- Running over ----------------------------------------------------------------------------------------- */

static __attribute__((noinline)) int deeper(int n)
{
    volatile char room[200];

    room[0] = (char)n;
    return n ? deeper(n + 1) + room[0] : 0;
}

static void overflows(void *arg)
{
    (void)arg;
    note("%d", deeper(1));
}

/* The frames of a caller are small, and what it calls needs more: so it is that which runs over. */
static __attribute__((noinline)) int prints_deeper(int n)
{
    volatile char *room = (char[32]){0};

    room[0] = (char)snprintf((char *)(uintptr_t)room, 32, "%.3f", (double)n);
    return n ? prints_deeper(n + 1) + room[0] : 0;
}

static __attribute__((noinline)) int allocates_deeper(int n)
{
    void *p = opaque(malloc(5000));

    if (n)
        n = allocates_deeper(n + 1) + (p != NULL);
    free(p);
    return n;
}

static void overflows_in_snprintf(void *arg)
{
    (void)arg;
    note("%d", prints_deeper(1));
}

static void overflows_in_malloc(void *arg)
{
    (void)arg;
    note("%d", allocates_deeper(1));
}

static __attribute__((noinline)) int sends_deeper(int n)
{
    int error = weft_send(WEFT_NOBODY, N, n);

    return n ? sends_deeper(n + 1) + error : 0;
}

static void overflows_in_weft(void *arg)
{
    (void)arg;
    note("%d", sends_deeper(1));
}

static int compare(const void *a, const void *b) { return deeper(1) + *(const int *)a - *(const int *)b; }

static void overflows_in_a_callback_of_libc(void *arg)
{
    int list[] = {3, 2, 1};

    (void)arg;
    qsort(list, 3, sizeof *list, compare);
}

static bool is_deep(const weft_msg *m, const void *with) { return m && !with && deeper(1); }

static void overflows_in_a_guard(void *arg)
{
    const weft_case  list[] = {WEFT_ON_IF(N, NULL, is_deep, NULL)};
    const weft_cases cases = WEFT_CASES(list, NULL);

    (void)arg;
    weft_send(weft_self(), N, 1);
    weft_receive_case(WEFT_FOREVER, &cases);
}

static void overflows_in_a_deferred_function(void *arg)
{
    (void)arg;
    weft_defer(overflows, NULL);
    weft_end(1);
}

static void overflows_in_its_deferred_function_too(void *arg)
{
    weft_defer(overflows, NULL);
    overflows(arg);
}

static void destroys_deep(void *body) { (void)body, deeper(1); }
WEFT_MESSAGE_OWNING(
    OWNER, destroys_deep, struct owner { int n; });

static void overflows_in_a_destroy_function(void *arg)
{
    (void)arg;
    weft_drop(weft_make(OWNER, .n = 1));
}

/* ---- Watching --------------------------------------------------------------------------------------------- */

/* Spawns it, and waits for its end. */
static int reason_of(weft_fn *fn, const char *name)
{
    weft_ref m;
    weft_pid who = weft_spawn(fn, NULL, .name = name, .monitor = &m);

    (void)who;
    return weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason;
}

/* ---- In a child --------------------------------------------------------------------------------------------- */

static struct {
    weft_fn           *first;
    enum weft_overflow overflow;
    void (*before)(void);
} plan;

static void run_plan(void)
{
    static const struct rlimit none;

    setrlimit(RLIMIT_CORE, &none);
    if (plan.before)
        plan.before();
    weft_run(plan.first, NULL, .overflow = plan.overflow, .workers = 2);
    _exit(99);
}

/* How the child ended; what it said, in *said. */
static int dies(weft_fn *first, enum weft_overflow overflow, void (*before)(void), const char **said)
{
    plan.first = first;
    plan.overflow = overflow;
    plan.before = before;
    listen_to_stderr();
    int status = in_child(run_plan);
    *said = what_was_said();
    return status;
}

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* AddressSanitizer has handlers of its own, which report and exit. */
static bool is_death_by(int status, int signal)
{
    return (WIFSIGNALED(status) && WTERMSIG(status) == signal) ||
           (SANITIZED && WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static bool has_all(const char *said, const char *const *words)
{
    for (; *words; words++)
        if (!strstr(said, *words))
            return false;
    return true;
}
#define HAS(said, ...) cr_expect(has_all(said, (const char *[]){__VA_ARGS__, NULL}), "%s", said)

/* ---- An overflow ends the process ------------------------------------------------------------------------- */

static void spawns_one_that_overflows(void *arg)
{
    (void)arg;
    note("%d", reason_of(overflows, "glutton"));
}

Test(fault, of_a_stack_says_whose_how_large_where_and_what_helps)
{
    const char *said;
    int         status = dies(spawns_one_that_overflows, WEFT_OVERFLOW_FATAL, NULL, &said);

    cr_expect(is_death_by(status, SIGSEGV), "%x: %s", status, said);
    HAS(said, "weft: actor \"glutton\" (", " of overflows) overflowed its stack of 60 KiB",
        "60 KiB were ever used", ".stack_bytes", "#0 deeper", "#1 deeper", " times", " overflows+0x",
        "(test_fault)");
    cr_expect(!strstr(said, "only"), "%s", said);
}

static void overflows_a_large_stack(void *arg)
{
    (void)arg;
    weft_ref m;
    weft_spawn(overflows, NULL, .stack_bytes = 1 << 20, .monitor = &m);
    weft_receive(WEFT_DOWN);
}

Test(fault, of_a_stack_of_another_size_says_that)
{
    const char *said;

    dies(overflows_a_large_stack, WEFT_OVERFLOW_FATAL, NULL, &said);
    HAS(said, "weft: actor (", "overflowed its stack of 2044 KiB (2097152 bytes");
}

/* ---- An overflow ends its actor --------------------------------------------------------------------------- */

/* All that was said while the system ran. */
static const char *said_by(weft_fn *first)
{
    if (!can_isolate())
        cr_skip_test("nobody is ended alone here");
    listen_to_stderr();
    int         reason = weft_run(first, NULL, .overflow = WEFT_OVERFLOW_ISOLATE, .workers = 2);
    const char *said = what_was_said();

    cr_expect_eq(reason, 0, "%d: %s", reason, said);
    cr_expect_eq(counted().spawned, counted().ended);
    return said;
}

Test(fault, of_a_stack_ends_only_that_actor_and_is_reported_too)
{
    const char *said = said_by(spawns_one_that_overflows);

    cr_expect_str_eq(noted(), "-10");
    HAS(said, "weft: actor \"glutton\" (", "overflowed its stack", "#0 deeper", "weft: only that actor ends");
}

static void waits_and_overflows(void *arg)
{
    weft_sleep(weft_ms(1));
    weft_receive(GO);
    overflows(arg);
}

static void overflows_with_the_message(void *state, weft_msg *m)
{
    (void)state, note("%d", deeper(weft_tag(m)));
}
static void reacts_and_overflows(void *arg) { weft_react(overflows_with_the_message, arg, GO); }

static void waits_in_a_handler(void *state, weft_msg *m)
{
    (void)m;
    weft_receive(GO);
    overflows(state);
}
static void reacts_waits_and_overflows(void *arg) { weft_react(waits_in_a_handler, arg, GO); }

static void spawns_all_kinds(void *arg)
{
    static weft_fn *const kinds[] = {waits_and_overflows, reacts_and_overflows, reacts_waits_and_overflows};

    (void)arg;
    for (int i = 0; i < 6; i++) {
        weft_ref m;
        weft_pid who = weft_spawn(kinds[i / 2], NULL, .stack_bytes = i % 2 ? 200000 : 0, .monitor = &m);
        weft_send(who, GO);
        weft_send(who, GO);
        note("%d ", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
    }
}

Test(fault, of_a_stack_may_be_after_a_wait_in_a_handler_or_on_a_large_stack)
{
    said_by(spawns_all_kinds);
    cr_expect_str_eq(noted(), "-10 -10 -10 -10 -10 -10 ");
}

static void block_all(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

/* As a program does that takes signals by sigwait. */
Test(fault, of_a_stack_ends_only_that_actor_also_where_the_program_blocks_all_signals)
{
    block_all();
    said_by(spawns_one_that_overflows);
    cr_expect_str_eq(noted(), "-10");
}

static void linked(void *arg)
{
    (void)arg;
    weft_spawn(overflows, NULL, .link = true);
    weft_receive(GO);
}

static void watches_a_linked_one(void *arg)
{
    (void)arg;
    note("%d", reason_of(linked, NULL));
}

Test(fault, of_a_stack_ends_who_is_linked_to_it)
{
    said_by(watches_a_linked_one);
    cr_expect_str_eq(noted(), "-10");
}

static void reads_what_was_on_the_stack(void *words) { note("%s ", (const char *)words); }

static void defers_and_overflows(void *arg)
{
    char words[] = "still there";

    weft_defer(reads_what_was_on_the_stack, opaque(words));
    weft_defer(reads_what_was_on_the_stack, "first");
    if (arg)
        weft_sleep(weft_ms(1));
    overflows(NULL);
}

static void needs_much(void *arg)
{
    volatile char room[100000];

    (void)arg;
    memset((char *)(uintptr_t)room, 1, sizeof room);
    note("much ");
}

static void defers_much_and_overflows(void *arg)
{
    weft_defer(needs_much, NULL);
    overflows(arg);
}

static void watches_deferred_functions(void *arg)
{
    (void)arg;
    note("%d, ", reason_of(defers_and_overflows, NULL));
    for (int i = 0; i < 2; i++) {
        weft_ref m;
        weft_spawn(i ? defers_and_overflows : defers_much_and_overflows, "", .stack_bytes = 200000,
                   .monitor = &m);
        note("%d, ", weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
    }
    note("%d", reason_of(defers_and_overflows, NULL));
}

Test(fault, of_a_stack_runs_deferred_functions_while_the_stack_is_still_there)
{
    said_by(watches_deferred_functions);
    cr_expect_str_eq(noted(),
                     "first still there -10, much -10, first still there -10, first still there -10");
}

static void notes_its_stack(void *words)
{
    char *here = __builtin_frame_address(0), *low = NULL, *high = NULL;

    note("%d ", weft_stack_bounds((void **)&low, (void **)&high) && low < here && here < high);
    /* libco has a record at the low end, so it seems that all was used */
    note("%d ",
         weft_stack_used() > 0 && (weft_stack_used() < 60000 || !strcmp(weft_switch_method(), "libco")));
    note("%d ", (char *)words < low || (char *)words >= high);
}

static void defers_a_look_at_the_stack(void *arg)
{
    char words[] = "on the other";

    weft_defer(notes_its_stack, opaque(words));
    overflows(arg);
}

static void watches_a_look_at_the_stack(void *arg)
{
    (void)arg;
    note("%d", reason_of(defers_a_look_at_the_stack, NULL));
}

Test(fault, of_a_stack_leaves_deferred_functions_another_and_that_is_what_they_are_told)
{
    said_by(watches_a_look_at_the_stack);
    cr_expect_str_eq(noted(), "1 1 1 -10");
}

static size_t resident(void)
{
    size_t pages = 0, all;
    FILE  *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%zu %zu", &all, &pages) != 2)
        abort();
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void overflows_again_and_again(void *arg)
{
    size_t stacks = 0, before = 0;

    (void)arg;
    for (int i = 0; i < 1000; i++) {
        if (i == 100) {
            stacks = weft__stack_count();
            before = resident();
        }
        weft_ref m;
        weft_pid who = weft_spawn(i % 2 ? waits_and_overflows : reacts_and_overflows, NULL, .monitor = &m);
        weft_send(who, GO);
        if (weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason != WEFT_ESTACK)
            note("%d ", i);
    }
    if (weft__stack_count() != stacks)
        note("%zu stacks more ", weft__stack_count() - stacks);
    if (!SANITIZED && resident() > before + (4 << 20))
        note("%zu bytes more ", resident() - before);
}

Test(fault, of_a_stack_a_thousand_times_costs_nothing)
{
    said_by(overflows_again_and_again);
    cr_expect_str_eq(noted(), "");
}

/* ---- One of many ------------------------------------------------------------------------------------------- */

enum { MANY = 10000, ROUNDS = 20 };

WEFT_SIGNAL(HERE);

struct job {
    weft_pid boss;
    bool     is_bad; /* the first time */
};

/* It says that it is there, and gets all its messages then. */
static void worker(void *arg)
{
    static atomic_bool has_been_bad;
    const struct job  *job = arg;
    int                sum = 0;

    weft_send(job->boss, HERE);
    for (int i = 0; i < ROUNDS; i++) {
        sum += *weft_get(weft_receive(N), N);
        if (i == ROUNDS / 2 && job->is_bad && !atomic_exchange(&has_been_bad, true))
            overflows(NULL);
    }
    weft_send(job->boss, N, sum);
}

static void start_many(weft_pid supervisor)
{
    for (int i = 0; i < MANY; i++) {
        struct job job = {weft_self(), i == MANY / 2};
        weft_child child = {.arg = &job, .options.copy_bytes = sizeof job};
        if (weft_is_nobody(weft_start_child(supervisor, &child)))
            note("no child: %s ", weft_strerror(weft_spawn_error()));
    }
}

static void one_of_many(void *arg)
{
    const weft_child      pattern = {.fn = worker, .restart = WEFT_TRANSIENT};
    const weft_supervisor how = {.strategy = WEFT_SIMPLE_DYNAMIC, .children = &pattern, .count = 1};
    weft_pid              s = weft_supervise(&how);
    int                   sum = 0, were_there = 0;

    (void)arg;
    start_many(s);
    while (sum < MANY * ROUNDS) {
        weft_msg *m = weft_receive(HERE, N);
        if (weft_is(m, N)) {
            sum += *weft_get(m, N);
            continue;
        }
        were_there++;
        weft_pid from = weft_sender(m);
        for (int i = 0; i < ROUNDS; i++)
            weft_send(from, N, 1);
    }
    note("%d were there, sum %d", were_there, sum);
    weft_monitor(s);
    weft_exit(s, WEFT_ESTOP);
    weft_receive(WEFT_DOWN);
}

Test(fault, of_one_stack_of_ten_thousand_leaves_the_others_at_their_work_and_is_started_again)
{
    said_by(one_of_many);
    cr_expect_str_eq(noted(), "10001 were there, sum 200000");
}

/* ---- Supervised ---------------------------------------------------------------------------------------------- */

static atomic_int starts;

static void overflows_at_first(void *boss)
{
    weft_sleep(weft_ms(1));
    if (++starts <= 3)
        overflows(NULL);
    weft_send(*(weft_pid *)boss, N, starts);
    weft_receive(GO);
}

static void supervises(void *arg)
{
    static weft_pid  me;
    const weft_child child = {.fn = overflows_at_first, .arg = &me};

    (void)arg;
    me = weft_self();
    weft_pid s = weft_supervise(&(weft_supervisor){.max_restarts = 3, .children = &child, .count = 1});
    note("%d", *weft_get(weft_receive(N), N));
    weft_monitor(s);
    weft_exit(s, WEFT_ESTOP);
    weft_receive(WEFT_DOWN);
}

Test(fault, of_a_stack_is_for_a_supervisor_as_any_end)
{
    said_by(supervises);
    cr_expect_str_eq(noted(), "4");
}

/* ---- Where it is not safe ----------------------------------------------------------------------------------- */

static void is_not_isolated(weft_fn *fn, const char *why)
{
    const char *said;
    int         status = dies(fn, WEFT_OVERFLOW_ISOLATE, NULL, &said);

    cr_expect(is_death_by(status, SIGSEGV), "%x: %s", status, said);
    HAS(said, "overflowed its stack", "weft: the process ends, not only that actor: ", why);
}

Test(fault, of_a_stack_in_snprintf_ends_the_process) { is_not_isolated(overflows_in_snprintf, "snprintf"); }

Test(fault, of_a_stack_in_malloc_ends_the_process) { is_not_isolated(overflows_in_malloc, "may hold locks"); }

Test(fault, of_a_stack_in_weft_ends_the_process) { is_not_isolated(overflows_in_weft, "may hold locks"); }

Test(fault, of_a_stack_in_a_callback_of_libc_ends_the_process)
{
    is_not_isolated(overflows_in_a_callback_of_libc, can_isolate() ? "qsort" : "nobody can tell");
}

/* As in the builds of AddressSanitizer, by heap.c; any allocator that the program brings along is like that. */
Test(fault, of_a_stack_in_a_program_that_brings_its_own_malloc_ends_the_process)
{
    if (can_isolate())
        cr_skip_test("this program has the C library's");
    is_not_isolated(overflows, "a malloc of the program's own?");
}

Test(fault, of_a_stack_in_a_guard_ends_the_process)
{
    is_not_isolated(overflows_in_a_guard, "Weft had called");
}

Test(fault, of_a_stack_in_a_deferred_function_ends_the_process)
{
    is_not_isolated(overflows_in_a_deferred_function, "Weft had called");
}

Test(fault, of_a_stack_and_then_in_a_deferred_function_ends_the_process)
{
    if (!can_isolate())
        cr_skip_test("the first is not ended alone here");
    is_not_isolated(overflows_in_its_deferred_function_too, "Weft had called");
}

Test(fault, of_a_stack_in_a_destroy_function_ends_the_process)
{
    is_not_isolated(overflows_in_a_destroy_function, "Weft had called");
}

static atomic_bool deep_memory;

static void *get_memory(size_t bytes, void *with)
{
    (void)with;
    if (deep_memory)
        deeper(1);
    return malloc(bytes);
}

static void put_memory(void *block, void *with)
{
    (void)with;
    if (deep_memory)
        deeper(1);
    free(block);
}

static void has_an_extra(void *arg)
{
    (void)arg;
    weft_sleep(weft_ms(1));
    deep_memory = true;
}

static void use_deep_memory(void)
{
    static const weft_allocator a = {get_memory, put_memory, NULL};

    weft_use_allocator(&a);
}

static void ends_one_with_an_extra(void *arg)
{
    (void)arg;
    reason_of(has_an_extra, "named");
}

Test(fault, of_a_stack_in_an_allocator_ends_the_process)
{
    const char *said;
    int         status = dies(ends_one_with_an_extra, WEFT_OVERFLOW_ISOLATE, use_deep_memory, &said);

    cr_expect(is_death_by(status, SIGSEGV), "%x: %s", status, said);
    HAS(said, "overflowed its stack", "Weft had called");
}

/* ---- Near the guard ---------------------------------------------------------------------------------------- */

static size_t left_over;

static __attribute__((noinline)) void waits_with_little_left(void)
{
    void *low, *high;
    char  here = 0;

    weft_stack_bounds(&low, &high);
    opaque(__builtin_alloca((size_t)(&here - (char *)low) - left_over));
    weft_receive(GO);
    opaque(&here);
}

static void parks_over_its_stack(void *other)
{
    weft_receive(GO); /* so the stack is its own now */
    weft_send(*(weft_pid *)other, GO);
    waits_with_little_left();
}

static void waits_for_go(void *arg)
{
    (void)arg;
    for (;;)
        weft_receive(GO);
}

static void has_one_park_over_its_stack(void *arg)
{
    static weft_pid other;

    (void)arg;
    other = weft_spawn(waits_for_go, NULL, .name = "innocent");
    weft_pid glutton = weft_spawn(parks_over_its_stack, &other, .name = "glutton");
    weft_sleep(weft_ms(1));
    weft_send(glutton, GO);
    weft_sleep(weft_ms(1));
    weft_send(glutton, GO);
    weft_sleep(weft_ms(1));
}

static void run_it_alone(void)
{
    static const struct rlimit none;

    setrlimit(RLIMIT_CORE, &none);
    weft_run(has_one_park_over_its_stack, NULL, .overflow = WEFT_OVERFLOW_ISOLATE, .workers = 1);
}

Test(fault, of_a_stack_while_its_actor_parks_names_that_actor)
{
    int parking = 0;

    if (SANITIZED || strcmp(weft_switch_method(), "own") != 0)
        cr_skip_test("who parks by this switch is not known");
    for (left_over = 0; left_over < 400; left_over += 8) {
        listen_to_stderr();
        in_child(run_it_alone);
        const char *said = what_was_said();
        cr_expect(!strstr(said, "innocent") && !strstr(said, "weft: SIGSEGV"), "%zu: %s", left_over, said);
        parking += strstr(said, "\"glutton\" (") && strstr(said, "#0 weft__switch_park");
    }
    cr_expect(parking > 0, "%d", parking);
}

static char *guard(size_t below)
{
    void *low, *high;

    weft_stack_bounds(&low, &high);
    return (char *)low - below;
}

static void hits_its_guard(void *arg)
{
    (void)arg;
    *(volatile char *)opaque(guard(100)) = 1;
}

Test(fault, of_an_address_in_the_guard_is_no_overflow_if_the_stack_is_shallow)
{
    const char *said;
    int         status = dies(hits_its_guard, WEFT_OVERFLOW_ISOLATE, NULL, &said);

    cr_expect(is_death_by(status, SIGSEGV), "%x: %s", status, said);
    HAS(said, "weft: SIGSEGV for address 0x",
        " (in the guard of its stack, which did not overflow) in actor (");
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
/* As code does whose frames are larger than a page, if no compiler has it touch each. */
static void steps_over_its_guard(void *arg)
{
    char *at = guard(100), *below = guard(5000);

    (void)arg;
    __asm__ volatile("movq %%rsp, %%rbx\n\tmovq %1, %%rsp\n\tmovb $1, (%0)\n\tmovq %%rbx, %%rsp"
                     :
                     : "r"(at), "r"(below)
                     : "rbx", "memory");
}

Test(fault, of_a_stack_by_a_frame_that_steps_over_the_guard_ends_the_process)
{
    const char *said;
    int         status = dies(steps_over_its_guard, WEFT_OVERFLOW_ISOLATE, NULL, &said);

    cr_expect(is_death_by(status, SIGSEGV), "%x: %s", status, said);
    HAS(said, "overflowed its stack", "stepped over the guard", "-fstack-clash-protection",
        "#0 steps_over_its_guard", "the process ends, not only that actor");
}
#endif

/* ---- Other signals ------------------------------------------------------------------------------------------ */

/* UndefinedBehaviorSanitizer would be first. */
__attribute__((no_sanitize("undefined"))) static void reads_nothing(void *arg)
{
    note("%d", *(volatile int *)opaque(arg));
}

static void spawns_one_that_reads_nothing(void *arg)
{
    (void)arg;
    reason_of(reads_nothing, "reader");
}

Test(fault, of_an_address_names_the_actor_and_the_place)
{
    const char *said;
    int         status = dies(spawns_one_that_reads_nothing, WEFT_OVERFLOW_ISOLATE, NULL, &said);

    cr_expect(is_death_by(status, SIGSEGV), "%x: %s", status, said);
    HAS(said, "weft: SIGSEGV for address 0x0 in actor \"reader\" (", " of reads_nothing)",
        "#0 reads_nothing");
}

Test(fault, is_reported_also_where_the_program_blocks_all_signals)
{
    const char *said;
    int         status = dies(reads_nothing, WEFT_OVERFLOW_FATAL, block_all, &said);

    cr_expect(is_death_by(status, SIGSEGV), "%x: %s", status, said);
    HAS(said, "weft: SIGSEGV for address 0x0 in actor");
}

static int (*volatile no_function)(void);

static __attribute__((noinline)) int calls_it(void) { return no_function() + 1; }

static void calls_nothing(void *arg)
{
    (void)arg;
    note("%d", calls_it());
}

Test(fault, of_a_call_through_a_bad_pointer_names_who_calls)
{
    for (uintptr_t i = 0; i < 2; i++) {
        const char *said;
        no_function = (int (*)(void))(i * 0x1234);
        int status = dies(calls_nothing, WEFT_OVERFLOW_FATAL, NULL, &said);
        cr_expect(is_death_by(status, SIGSEGV), "%x: %s", status, said);
        HAS(said, i ? "weft: SIGSEGV for address 0x1234 in" : "weft: SIGSEGV for address 0x0 in",
            i ? "#0 0x1234\n" : "#0 0x0\n", "#1 calls_it+0x", "#2 calls_nothing+0x");
    }
}

#ifdef __x86_64__
static void reads_what_nobody_could_have(void *arg)
{
    (void)arg;
    reads_nothing((void *)0x4141414141414140);
}

Test(fault, of_an_address_that_the_kernel_does_not_tell_says_so)
{
    const char *said;

    dies(reads_what_nobody_could_have, WEFT_OVERFLOW_FATAL, NULL, &said);
    HAS(said, "weft: SIGSEGV for an address that is not known in actor (");
}
#endif

static void destroys_badly(void *body) { reads_nothing(*(void **)body); }
WEFT_MESSAGE_OWNING(
    BAD, destroys_badly, struct bad { void *nothing; });

static void has_a_bad_message(void *arg)
{
    (void)arg;
    weft_send(weft_self(), BAD, NULL);
    weft_receive(GO);
}

static void leaves_one_with_a_bad_message(void *arg)
{
    (void)arg;
    weft_spawn(has_a_bad_message, NULL);
    weft_sleep(weft_ms(1));
}

static void sends_to_the_dead_later(void *arg)
{
    weft_ref m;
    weft_pid who = weft_spawn(nothing, arg, .monitor = &m);

    weft_receive(WEFT_DOWN);
    weft_send_after(weft_ms(1), who, BAD, NULL);
    weft_sleep(weft_ms(20));
}

Test(fault, in_a_destroy_function_is_reported_also_while_no_actor_runs)
{
    weft_fn *const all[] = {leaves_one_with_a_bad_message, sends_to_the_dead_later};

    for (int i = 0; i < 2; i++) {
        const char *said;
        int         status = dies(all[i], WEFT_OVERFLOW_ISOLATE, NULL, &said);
        cr_expect(is_death_by(status, SIGSEGV), "%x: %s", status, said);
        HAS(said, "weft: SIGSEGV for address 0x0 in a destroy function, while no actor ran",
            "destroys_badly");
    }
}

static atomic_bool is_held;

static int stays(struct dl_phdr_info *info, size_t size, void *with)
{
    (void)info, (void)size, (void)with;
    for (is_held = true;;)
        pause();
    return 0;
}

static void *holds_the_loaders_lock(void *unused)
{
    dl_iterate_phdr(stays, unused);
    return unused;
}

static void reads_nothing_while_it_is_held(void *arg)
{
    pthread_t thread;

    alarm(20);
    pthread_create(&thread, NULL, holds_the_loaders_lock, arg);
    while (!is_held)
        usleep(100);
    reads_nothing(arg);
}

Test(fault, is_reported_while_another_thread_loads_a_library)
{
    const char *said;

    if (SANITIZED)
        cr_skip_test("the sanitizer's own report needs that lock");
    int status = dies(reads_nothing_while_it_is_held, WEFT_OVERFLOW_FATAL, NULL, &said);
    cr_expect(is_death_by(status, SIGSEGV), "%x: %s", status, said);
    HAS(said, "#0 reads_nothing", "weft__loop");
}

#ifdef __x86_64__
/* Where its caller is found is told by a register, as it does not know how large its frame is. */
static __attribute__((noinline)) void loses_its_caller(size_t bytes)
{
    char *room = __builtin_alloca(bytes);

    memset(opaque(room), 0, bytes);
    __asm__ volatile("movq $64, %%rbp\n\tmovl $0, 8" : : : "memory");
    memset(opaque(room), 0, bytes);
}

static void is_lost(void *arg)
{
    loses_its_caller(*(unsigned char *)opaque("a") + (size_t)(uintptr_t)arg);
    note("never");
}

Test(fault, with_frames_that_can_not_be_followed_is_reported_as_far_as_they_can)
{
    const char *said;
    int         status = dies(is_lost, WEFT_OVERFLOW_FATAL, NULL, &said);

    cr_expect(is_death_by(status, SIGSEGV), "%x: %s", status, said);
    HAS(said, "weft: SIGSEGV for address 0x8 in actor (", "#0 loses_its_caller");
    cr_expect(!strstr(said, "is_lost+0x"), "%s", said);
}
#endif

static void raises_fpe(void *arg)
{
    (void)arg;
    raise(SIGFPE);
    note("never");
}

Test(fault, of_arithmetic_names_the_actor)
{
    const char *said;
    int         status = dies(raises_fpe, WEFT_OVERFLOW_FATAL, NULL, &said);

    cr_expect(is_death_by(status, SIGFPE), "%x: %s", status, said);
    HAS(said, "weft: SIGFPE in actor (", " of raises_fpe)", "raises_fpe+0x");
}

static void illegal(void *arg)
{
    (void)arg;
    __builtin_trap();
}

Test(fault, of_an_instruction_names_the_actor)
{
    const char *said;
    int         status = dies(illegal, WEFT_OVERFLOW_FATAL, NULL, &said);

    cr_expect(!WIFEXITED(status) || SANITIZED, "%x: %s", status, said);
    HAS(said, "weft: SIGILL at 0x", " of illegal)", "#0 illegal");
}

static void aborts(void *arg)
{
    (void)arg;
    abort();
}

Test(fault, by_abort_names_the_actor)
{
    const char *said;
    int         status = dies(aborts, WEFT_OVERFLOW_FATAL, NULL, &said);

    cr_expect(is_death_by(status, SIGABRT), "%x: %s", status, said);
    HAS(said, "weft: SIGABRT in actor (", " of aborts)", "(libc.so.6)");
}

static void asserts(void *arg) { assert(arg && "something"); }

Test(fault, by_a_failed_assertion_names_the_actor)
{
    const char *said;
    int         status = dies(asserts, WEFT_OVERFLOW_FATAL, NULL, &said);

    cr_expect(is_death_by(status, SIGABRT), "%x: %s", status, said);
    HAS(said, "something", "weft: SIGABRT in actor (", " of asserts)", "asserts+0x");
}

static void *aborts_alone(void *unused)
{
    abort();
    return unused;
}

static void starts_a_thread(void *arg)
{
    pthread_t thread;

    pthread_create(&thread, NULL, aborts_alone, arg);
    pthread_join(thread, NULL);
}

Test(fault, of_a_thread_that_is_no_actor_is_not_ours)
{
    const char *said;
    int         status = dies(starts_a_thread, WEFT_OVERFLOW_FATAL, NULL, &said);

    cr_expect(is_death_by(status, SIGABRT), "%x: %s", status, said);
    cr_expect_not(strstr(said, "weft: "), "%s", said);
}

static void *aborts_as_an_actor(void *unused)
{
    weft_self();
    abort();
    return unused;
}

static void starts_a_thread_that_is_an_actor(void *arg)
{
    pthread_t thread;

    pthread_create(&thread, NULL, aborts_as_an_actor, arg);
    pthread_join(thread, NULL);
}

Test(fault, of_a_thread_that_is_an_actor_names_that)
{
    const char *said;

    dies(starts_a_thread_that_is_an_actor, WEFT_OVERFLOW_FATAL, NULL, &said);
    HAS(said, "weft: SIGABRT in thread (", "aborts_as_an_actor+0x");
}

static void spawns_one_with_a_wild_name(void *arg)
{
    (void)arg;
    reason_of(aborts, "a\nb\x1b[2J");
}

Test(fault, shows_names_as_one_line_that_moves_no_cursor)
{
    const char *said;

    dies(spawns_one_with_a_wild_name, WEFT_OVERFLOW_FATAL, NULL, &said);
    HAS(said, "weft: SIGABRT in actor \"a?b?[2J\" (");
}

/* ---- Whoever does not read --------------------------------------------------------------------------------- */

static void clog_and_wait_not_for_ever(void)
{
    clog_stderr();
    alarm(20);
}

Test(fault, ends_the_process_also_if_stderr_is_a_pipe_that_nobody_reads)
{
    const char *said;
    int         status = dies(reads_nothing, WEFT_OVERFLOW_FATAL, clog_and_wait_not_for_ever, &said);

    cr_expect(SANITIZED || is_death_by(status, SIGSEGV), "%x", status);
}

static void abort_as_an_actor_unheard(void)
{
    static const struct rlimit none;
    int                        ends[2];

    setrlimit(RLIMIT_CORE, &none);
    signal(SIGPIPE, SIG_DFL);
    if (pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0)
        close(ends[0]);
    close(ends[1]);
    weft_self();
    weft_spawn(waits_and_overflows, NULL);
    abort();
}

Test(fault, ends_a_thread_as_it_would_also_if_stderr_is_a_pipe_that_has_no_reader)
{
    int status = in_child(abort_as_an_actor_unheard);

    cr_expect(is_death_by(status, SIGABRT), "%x", status);
}

/* ---- Whoever was there before -------------------------------------------------------------------------------- */

static void ends_with_7(int number, siginfo_t *info, void *context)
{
    _exit(number == SIGSEGV && info->si_addr == NULL && context ? 7 : 8);
}

static void set_own_handler(void)
{
    struct sigaction own = {.sa_sigaction = ends_with_7, .sa_flags = SA_SIGINFO};

    sigaction(SIGSEGV, &own, NULL);
}

Test(fault, is_passed_on_to_a_handler_that_was_there_before)
{
    const char *said;
    int         status = dies(reads_nothing, WEFT_OVERFLOW_FATAL, set_own_handler, &said);

    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%x: %s", status, said);
    HAS(said, "weft: SIGSEGV");
}

static void ends_with_6(int number) { _exit(number == SIGABRT ? 6 : 8); }
static void set_plain_handler(void) { signal(SIGABRT, ends_with_6); }

Test(fault, is_passed_on_to_a_handler_of_the_old_kind)
{
    const char *said;
    int         status = dies(aborts, WEFT_OVERFLOW_FATAL, set_plain_handler, &said);

    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 6, "%x: %s", status, said);
}

static void  *closed;
static size_t page;

static void opens(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    mprotect((void *)((uintptr_t)info->si_addr & ~(page - 1)), page, PROT_READ | PROT_WRITE);
}

static void set_opening_handler(void)
{
    struct sigaction own = {.sa_sigaction = opens, .sa_flags = SA_SIGINFO};

    page = (size_t)sysconf(_SC_PAGESIZE);
    closed = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &own, NULL);
}

static void writes_closed(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < 3; i++)
        ((volatile char *)closed)[i * page] = 1;
    weft_end(55);
}

static void run_and_tell(void)
{
    set_opening_handler();
    _exit(weft_run(writes_closed, NULL));
}

Test(fault, that_another_handler_mends_is_reported_once)
{
    listen_to_stderr();
    int         status = in_child(run_and_tell);
    const char *said = what_was_said(), *first = strstr(said, "weft: SIGSEGV");

    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 55, "%x: %s", status, said);
    cr_expect(first && !strstr(first + 1, "weft: SIGSEGV"), "%s", said);
}

static void ignore_abort(void) { signal(SIGABRT, SIG_IGN); }

static void is_sent_abort(void *arg)
{
    (void)arg;
    raise(SIGABRT);
    _exit(5);
}

Test(fault, that_is_ignored_stays_ignored)
{
    const char *said;
    int         status = dies(is_sent_abort, WEFT_OVERFLOW_FATAL, ignore_abort, &said);

    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 5, "%x: %s", status, said);
    cr_expect_str_eq(said, "");
}

Test(fault, handlers_are_what_they_were_when_the_system_has_ended)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    struct sigaction before[5], after;

    set_own_handler();
    for (int i = 0; i < 5; i++)
        sigaction(numbers[i], NULL, &before[i]);
    for (int round = 0; round < 3; round++)
        cr_expect_eq(weft_run(nothing, NULL), 0);
    for (int i = 0; i < 5; i++) {
        sigaction(numbers[i], NULL, &after);
        cr_expect(before[i].sa_sigaction == after.sa_sigaction, "%d", numbers[i]);
        cr_expect_eq((before[i].sa_flags ^ after.sa_flags) & (SA_SIGINFO | SA_ONSTACK), 0);
    }
}

static struct sigaction replaced;

static void calls_the_replaced(int number, siginfo_t *info, void *context)
{
    replaced.sa_sigaction(number, info, context);
}

static void replaces(void *arg)
{
    struct sigaction own = {.sa_sigaction = calls_the_replaced, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    (void)arg;
    sigaction(SIGSEGV, &own, &replaced);
}

static void run_twice(void)
{
    static const struct rlimit none;

    setrlimit(RLIMIT_CORE, &none);
    weft_run(replaces, NULL);
    weft_run(reads_nothing, NULL);
}

Test(fault, handlers_that_call_ours_are_left_in_front)
{
    listen_to_stderr();
    int         status = in_child(run_twice);
    const char *said = what_was_said(), *first = strstr(said, "weft: SIGSEGV");

    cr_expect(is_death_by(status, SIGSEGV), "%x: %s", status, said);
    cr_expect(first && !strstr(first + 1, "weft: SIGSEGV"), "%s", said);
}

static void sets_its_own(void *arg)
{
    (void)arg;
    signal(SIGSEGV, ends_with_6);
}

static void run_again_without_it(void)
{
    weft_run(sets_its_own, NULL);
    signal(SIGSEGV, SIG_DFL);
    run_plan();
}

Test(fault, is_reported_again_when_the_program_has_taken_its_own_handler_back)
{
    static const struct rlimit none;

    setrlimit(RLIMIT_CORE, &none);
    plan.first = reads_nothing;
    listen_to_stderr();
    int         status = in_child(run_again_without_it);
    const char *said = what_was_said();

    cr_expect(is_death_by(status, SIGSEGV), "%x: %s", status, said);
    HAS(said, "weft: SIGSEGV for address 0x0 in actor");
}

static atomic_int shrugged;

static void shrugs_once(int number)
{
    (void)number;
    if (shrugged++)
        _exit(7);
}

static void set_shrugging_handler(void) { signal(SIGSEGV, shrugs_once); }

static void is_sent_one_and_reads_nothing(void *arg)
{
    kill(getpid(), SIGSEGV);
    while (!shrugged)
        usleep(100);
    reads_nothing(arg);
}

Test(fault, is_reported_also_after_another_handler_has_shrugged_off_what_was_sent)
{
    const char *said;
    int status = dies(is_sent_one_and_reads_nothing, WEFT_OVERFLOW_FATAL, set_shrugging_handler, &said);

    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%x: %s", status, said);
    HAS(said, "weft: SIGSEGV for address 0x0 in actor");
}

static void ends_with_what_is_blocked(int number)
{
    sigset_t now;

    pthread_sigmask(SIG_SETMASK, NULL, &now);
    _exit(sigismember(&now, number) | sigismember(&now, SIGBUS) << 1 | sigismember(&now, SIGUSR1) << 2);
}

static int flags;

static void set_handler_with_a_mask(void)
{
    struct sigaction own = {.sa_handler = ends_with_what_is_blocked, .sa_flags = flags};

    sigaddset(&own.sa_mask, SIGUSR1);
    sigaction(SIGSEGV, &own, NULL);
}

static void lets_all_in_and_reads_nothing(void *arg)
{
    sigset_t none;

    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    reads_nothing(arg);
}

Test(fault, is_passed_on_with_the_mask_that_the_kernel_would_have_set)
{
    for (int i = 0; i < 2; i++) {
        const char *said;
        flags = i ? SA_NODEFER : 0;
        int status = dies(lets_all_in_and_reads_nothing, WEFT_OVERFLOW_FATAL, set_handler_with_a_mask, &said);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == (i ? 4 : 5), "%x: %s", status, said);
    }
}

Test(fault, is_no_reason_for_any_other_policy)
{
    cr_expect_eq(weft_run(nothing, NULL, .overflow = (enum weft_overflow)2), WEFT_EINVALID);
}
