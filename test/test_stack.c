/* test_stack.c - what fibers/stack.h and fibers/guard.h promise.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Run it with WEFT_GUARD=install, mprotect and canary: the tests ask which it is. Each test is a process of its own,
 * so it may spend the address space, and choose another method before the first call.
 */
#define _GNU_SOURCE
#include "fibers/stack.h"
#include "fibers/guard.h"
#include "fibers/notes.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "help.h"

TestSuite(stack, .timeout = 30);

enum { SMALL = 0, USUAL = 2, MANY = 100000 };

static struct weft__stack_cache mine, theirs;

#ifdef WEFT__NOTES_ASAN
static const bool asan = true;
#else
static const bool asan = false;
#endif

static bool   method_is(const char *name) { return strcmp(weft__guard_name(), name) == 0; }
static size_t bytes_of(const struct weft__stack *s) { return (size_t)WEFT__STACK_SMALLEST << s->size_class; }
static char  *end_of(const struct weft__stack *s) { return s->low - weft__guard_bytes() + bytes_of(s); }

/* ---- Faults ------------------------------------------------------------------------------------------ */

static sigjmp_buf after_fault;
static void *volatile fault_at;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    fault_at = info->si_addr;
    siglongjmp(after_fault, 1);
}

/* Writes a byte there. True: it faulted, at exactly that address. */
static bool faults(char *at)
{
    static char      room[64 * 1024];
    stack_t          alternate = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &act, NULL);
    fault_at = NULL;
    if (sigsetjmp(after_fault, 1) == 0) {
        *(volatile char *)at = 1;
        return false;
    }
    return fault_at == at;
}

static bool guarded(const struct weft__stack *s)
{
    return faults(s->low - 1) && faults(s->low - weft__guard_bytes()) && !faults(s->low) &&
           !faults(s->top - 1);
}

/* ---- Surroundings ------------------------------------------------------------------------------------ */

/* From now on madvise(.., 102) and process_madvise are what they are on an old kernel. */
static bool pretend_an_old_kernel(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 440, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 102, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool kernel_installs(void)
{
    char *page = mmap(NULL, weft__guard_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return page != MAP_FAILED && madvise(page, weft__guard_bytes(), 102) == 0;
}

/* Chained through `next`, which is its holder's. */
static struct weft__stack *get_chain(unsigned size_class, size_t most, size_t *got)
{
    struct weft__stack *chain = NULL, *s;

    for (*got = 0; *got < most && (s = weft__stack_get(&mine, size_class)); ++*got) {
        s->next = chain;
        chain = s;
    }
    return chain;
}

static void put_chain(struct weft__stack *chain)
{
    while (chain) {
        struct weft__stack *next = chain->next;
        weft__stack_put(&mine, chain);
        chain = next;
    }
}

/* ---- Shape ------------------------------------------------------------------------------------------- */

Test(stack, has_the_room_that_its_class_was_asked_for)
{
    size_t asked[] = {0, 1, 4096, 11264, 11265, 60000, 65536, 1 << 20, (size_t)1 << 29};

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        int c = weft__stack_class(asked[i]);
        cr_assert_geq(c, 0);
        struct weft__stack *s = weft__stack_get(&mine, (unsigned)c);
        cr_assert_not_null(s);
        cr_expect_eq(s->size_class, (unsigned)c);
        cr_expect_geq((size_t)(s->top - s->low), asked[i]);
        if (c > weft__stack_class(0))
            cr_expect_lt(bytes_of(s) / 2 - weft__guard_bytes() - 1024, asked[i], "a smaller class would do");
    }
}

Test(stack, has_no_class_for_absurd_sizes)
{
    cr_expect_eq(weft__stack_class((size_t)1 << 30), -1);
    cr_expect_eq(weft__stack_class(SIZE_MAX), -1);
    cr_expect_null(weft__stack_get(&mine, WEFT__STACK_CLASSES));
    cr_expect_null(weft__stack_get(&mine, (unsigned)-1));
    cr_expect_not(weft__stack_short(USUAL));
}

Test(stack, has_a_top_in_one_of_sixteen_colours)
{
    unsigned seen = 0;

    for (int i = 0; i < 32; i++) {
        struct weft__stack *s = weft__stack_get(&mine, USUAL);
        cr_assert_not_null(s);
        size_t above = (size_t)(end_of(s) - s->top);
        cr_expect_eq((uintptr_t)s->top % 16, 0);
        cr_expect(above >= 64 && above <= 1024 && above % 64 == 0, "%zu", above);
        seen |= 1u << (above / 64 - 1);
    }
    cr_expect_eq(seen, 0xffff);
}

Test(stack, is_aligned_to_its_size)
{
    for (unsigned c = 0; c < WEFT__STACK_CLASSES; c++) {
        struct weft__stack *s = weft__stack_get(&mine, c);
        cr_assert_not_null(s);
        cr_expect_eq((uintptr_t)end_of(s) % bytes_of(s), 0);
    }
}

/* ---- Guards ------------------------------------------------------------------------------------------ */

Test(stack, faults_exactly_below_its_lowest_byte)
{
    if (method_is("canary"))
        cr_skip_test("canaries do not fault");
    for (int i = 0; i < 200; i++)
        cr_assert(guarded(weft__stack_get(&mine, USUAL)), "stack %d", i);
}

Test(stack, with_a_canary_knows_that_it_ran_over)
{
    setenv("WEFT_GUARD", "canary", 1);
    struct weft__stack *s = weft__stack_get(&mine, USUAL);
    struct weft__stack *other = weft__stack_get(&mine, USUAL);

    cr_assert(weft__stack_intact(s));
    memset(s->low, 0xff, (size_t)(s->top - s->low));
    cr_expect(weft__stack_intact(s), "its own bytes are no overrun");
    s->low[-1] ^= 1;
    cr_expect_not(weft__stack_intact(s));
    cr_expect(weft__stack_intact(other));
}

Test(stack, with_a_broken_canary_ends_the_process, .signal = SIGABRT)
{
    setenv("WEFT_GUARD", "canary", 1);
    struct weft__stack *s = weft__stack_get(&mine, USUAL);

    s->low[-8] ^= 1;
    listen_to_stderr();
    weft__stack_put(&mine, s);
}

Test(stack, is_guarded_as_the_environment_says)
{
    const char *wish = getenv("WEFT_GUARD");

    if (!wish || !*wish)
        cr_expect_str_eq(weft__guard_name(), kernel_installs() ? "install" : "mprotect");
    else if (strcmp(wish, "install") != 0 || kernel_installs())
        cr_expect_str_eq(weft__guard_name(), wish);
}

Test(stack, is_guarded_by_the_best_method_when_the_wish_is_unknown)
{
    setenv("WEFT_GUARD", "moat", 1);
    listen_to_stderr();
    const char *name = weft__guard_name();
    weft__guard_name();
    const char *said = what_was_said();

    cr_expect_str_eq(name, kernel_installs() ? "install" : "mprotect");
    cr_expect(strstr(said, "WEFT_GUARD=moat"), "%s", said);
    cr_expect_eq(lines(said), 1);
}

Test(stack, is_guarded_by_mprotect_on_an_old_kernel)
{
    unsetenv("WEFT_GUARD");
    if (!pretend_an_old_kernel())
        cr_skip_test("no seccomp here");
    listen_to_stderr();
    const char *name = weft__guard_name();
    const char *said = what_was_said();

    cr_expect_str_eq(name, "mprotect");
    cr_expect_str_eq(said, "");
    cr_expect(guarded(weft__stack_get(&mine, USUAL)));
}

Test(stack, says_so_when_an_old_kernel_cannot_install)
{
    setenv("WEFT_GUARD", "install", 1);
    if (!pretend_an_old_kernel())
        cr_skip_test("no seccomp here");
    listen_to_stderr();
    const char *name = weft__guard_name();
    const char *said = what_was_said();

    cr_expect_str_eq(name, "mprotect");
    cr_expect(strstr(said, "MADV_GUARD_INSTALL"), "%s", said);
    cr_expect_eq(lines(said), 1);
}

Test(stack, is_guarded_when_install_ceases_to_work)
{
    if (!method_is("install"))
        cr_skip_test("install only");
    struct weft__stack *first = weft__stack_get(&mine, USUAL);
    if (!pretend_an_old_kernel())
        cr_skip_test("no seccomp here");
    struct weft__stack *later = weft__stack_get(&mine, SMALL); /* another class: newly carved */

    cr_expect(guarded(first));
    cr_assert_not_null(later);
    cr_expect(guarded(later));
}

Test(stack, exists_a_hundred_thousand_times)
{
    size_t got;

    if (!method_is("install"))
        cr_skip_test("mprotect ends before, canaries take a page each");
    struct weft__stack *last = get_chain(USUAL, MANY, &got), *s = last;
    cr_assert_eq(got, MANY);
    cr_expect_geq(weft__stack_count(), MANY);
    cr_expect(guarded(last));
    for (size_t i = 0; i < MANY - 1; i++, s = s->next)
        if (i % 997 == 0)
            cr_assert(guarded(s), "stack %zu", i);
    cr_expect(guarded(s));
}

Test(stack, names_the_sysctl_when_mappings_run_out)
{
    size_t got, more;

    if (asan)
        cr_skip_test("AddressSanitizer itself dies when there are no more mappings");
    setenv("WEFT_GUARD", "mprotect", 1);
    listen_to_stderr();
    struct weft__stack *last = get_chain(SMALL, 3 * MANY, &got);
    struct weft__stack *none = weft__stack_get(&mine, SMALL);
    const char         *said = what_was_said();
    if (got == 3 * MANY)
        cr_skip_test("vm.max_map_count is too high to reach");

    cr_expect_null(none);
    cr_expect(weft__stack_short(SMALL));
    cr_expect_not(weft__stack_short(USUAL), "others may still do");
    cr_expect_eq(weft__stack_count(), got, "%zu of %zu are lost", weft__stack_count() - got,
                 weft__stack_count());
    cr_expect(strstr(said, "vm.max_map_count") && strstr(said, "WEFT_GUARD=canary"), "%s", said);
    cr_expect_eq(lines(said), 1);
    cr_expect(guarded(last), "the last that had a guard");
    put_chain(last);
    cr_expect_not(weft__stack_short(SMALL));
    get_chain(SMALL, 3 * MANY, &more);
    cr_expect_eq(more, got, "all of them come back");
}

/* ---- The pool ---------------------------------------------------------------------------------------- */

Test(stack, comes_back_last_in_first_out)
{
    struct weft__stack *a = weft__stack_get(&mine, USUAL);
    struct weft__stack *b = weft__stack_get(&mine, USUAL);

    weft__stack_put(&mine, a);
    weft__stack_put(&mine, b);
    cr_expect_eq(weft__stack_get(&mine, USUAL), b);
    cr_expect_eq(weft__stack_get(&mine, USUAL), a);
}

Test(stack, is_not_mixed_up_with_other_classes)
{
    struct weft__stack *small = weft__stack_get(&mine, SMALL);

    weft__stack_put(&mine, small);
    cr_expect_neq(weft__stack_get(&mine, USUAL), small);
    cr_expect_eq(weft__stack_get(&mine, SMALL), small);
}

Test(stack, reaches_other_threads_when_the_cache_is_flushed)
{
    struct weft__stack *s = weft__stack_get(&mine, USUAL);
    size_t              before = weft__stack_count();

    weft__stack_put(&mine, s);
    weft__stack_flush(&mine);
    cr_expect_null(mine.free[USUAL]);
    cr_expect_eq(mine.count[USUAL], 0);
    for (size_t i = 0; i < before; i++)
        cr_assert_not_null(weft__stack_get(&theirs, USUAL));
    cr_expect_eq(weft__stack_count(), before, "nothing new was carved");
}

Test(stack, just_put_stays_with_its_thread_while_the_cache_spills)
{
    size_t              got, spilled = 0;
    struct weft__stack *chain = get_chain(USUAL, 1000, &got);

    while (chain) {
        struct weft__stack *s = chain;
        chain = s->next;
        unsigned before = mine.count[USUAL];
        weft__stack_put(&mine, s);
        spilled += mine.count[USUAL] < before;
        cr_assert_eq(mine.free[USUAL], s);
    }
    cr_expect_gt(spilled, 0);
    cr_expect_leq(mine.count[USUAL], 128);
}

Test(stack, is_neither_lost_nor_given_twice)
{
    size_t got, again;

    struct weft__stack *chain = get_chain(USUAL, 5000, &got);
    size_t              all = weft__stack_count();
    cr_assert_eq(got, 5000);
    put_chain(chain);
    weft__stack_flush(&mine);
    chain = get_chain(USUAL, all, &again);
    cr_expect_eq(again, all);
    cr_expect_eq(weft__stack_count(), all);
    for (struct weft__stack *s = chain; s; s = s->next) {
        cr_assert_null(s->tsan, "given twice");
        s->tsan = s;
    }
}

Test(stack, gives_its_pages_back_when_long_idle)
{
    size_t              got, cold = 0;
    struct weft__stack *chain = get_chain(USUAL, 3000, &got);

    for (struct weft__stack *s = chain; s; s = s->next)
        s->top[-1] = 1;
    put_chain(chain);
    weft__stack_flush(&mine);
    while (weft__stack_cool(INT64_MAX - 1) != INT64_MAX)
        ;
    chain = get_chain(USUAL, 3000, &got);
    for (struct weft__stack *s = chain; s; s = s->next) {
        cold += weft__stack_used(s) == 0;
        cr_assert(weft__stack_intact(s));
    }
    cr_expect_eq(cold, 3000);
    if (!method_is("canary"))
        for (struct weft__stack *s = chain; s; s = s->next)
            cr_assert(guarded(s), "the guard went with the pages");
}

Test(stack, keeps_its_pages_for_a_second)
{
    size_t              got;
    struct weft__stack *chain = get_chain(USUAL, 3008, &got); /* whole batches: none is left untouched */

    for (struct weft__stack *s = chain; s; s = s->next)
        s->top[-1] = 1;
    put_chain(chain);
    weft__stack_flush(&mine);
    cr_expect_gt(weft__stack_cool(0), 1000000000, "the first is due a second after it came");
    cr_expect_lt(weft__stack_cool(0), INT64_MAX);
    chain = get_chain(USUAL, 3008, &got);
    for (struct weft__stack *s = chain; s; s = s->next)
        cr_assert_neq(weft__stack_used(s), 0);
}

/* ---- Use --------------------------------------------------------------------------------------------- */

Test(stack, counts_the_pages_it_touched)
{
    struct weft__stack *s = weft__stack_get(&mine, USUAL);
    size_t              page = weft__guard_bytes();

    cr_expect_eq(weft__stack_used(s), 0);
    s->top[-1] = 1;
    cr_expect_eq(weft__stack_used(s), page);
    s->top[-(ptrdiff_t)(2 * page)] = 1;
    cr_expect_eq(weft__stack_used(s), 3 * page, "with the hole in the middle");
    s->low[0] = 1;
    cr_expect_eq(weft__stack_used(s), bytes_of(s) - page);
}

Test(stack, counts_the_pages_of_a_large_one)
{
    struct weft__stack *s = weft__stack_get(&mine, WEFT__STACK_CLASSES - 1);

    cr_assert_not_null(s);
    cr_expect_eq(weft__stack_used(s), 0);
    s->top[-(700 << 20)] = 1;
    cr_expect_geq(weft__stack_used(s), (size_t)700 << 20);
    cr_expect_leq(weft__stack_used(s), ((size_t)700 << 20) + 2 * weft__guard_bytes());
}

/* ---- Bad luck ---------------------------------------------------------------------------------------- */

Test(stack, runs_out_with_null_and_recovers_after_a_put)
{
    size_t        got, most = 100000;
    struct rlimit before = leave_room(40 << 20);

    struct weft__stack *chain = get_chain(USUAL, most, &got);
    bool                was_short = weft__stack_short(USUAL);
    struct weft__stack *s = chain ? chain : NULL;
    if (s) {
        chain = s->next;
        weft__stack_put(&mine, s);
    }
    bool                still_short = weft__stack_short(USUAL);
    struct weft__stack *again = weft__stack_get(&mine, USUAL);
    struct weft__stack *none = weft__stack_get(&mine, USUAL);
    setrlimit(RLIMIT_AS, &before);

    cr_expect_geq(got, 100, "%zu: arenas shrink to what there is room for", got);
    cr_expect_lt(got, most);
    cr_expect(was_short);
    cr_expect_not(still_short);
    cr_expect_eq(again, s);
    cr_expect_null(none);
    cr_expect_eq(weft__stack_count(), got);
    cr_expect_not_null(weft__stack_get(&mine, USUAL), "there is room again");
}

Test(stack, runs_out_with_nothing_mapped_at_all)
{
    weft__guard_name();
    struct rlimit       before = leave_room(0);
    struct weft__stack *s = weft__stack_get(&mine, WEFT__STACK_CLASSES - 1);
    size_t              count = weft__stack_count();
    setrlimit(RLIMIT_AS, &before);

    cr_expect_null(s);
    cr_expect_eq(count, 0);
    cr_expect(weft__stack_short(WEFT__STACK_CLASSES - 1));
    cr_expect_not(weft__stack_short(USUAL));
    cr_expect_not_null(weft__stack_get(&mine, WEFT__STACK_CLASSES - 1));
}
