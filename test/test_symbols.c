/* test_symbols.c - what code is called: base/symbols.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/symbols.h"
#include "help.h"

TestSuite(symbols, .timeout = 20);

static char room[64];

static const char *name(const void *pc) { return weft__symbols_name(pc, room, sizeof room); }
static const char *after(const void *code, size_t bytes) { return name((const char *)code + bytes); }

static __attribute__((noinline)) int nobody_else_knows(int n) { return n + *(int *)opaque(&n); }
int                                  everybody_knows(int n);
__attribute__((noinline)) int        everybody_knows(int n) { return nobody_else_knows(n) + 1; }

Test(symbols, name_a_static_function_of_the_program)
{
    cr_expect_str_eq(name((void *)nobody_else_knows), "nobody_else_knows");
}

Test(symbols, name_any_function_of_the_program)
{
    cr_expect_str_eq(name((void *)everybody_knows), "everybody_knows");
}

Test(symbols, tell_how_far_into_a_function_code_is)
{
    cr_expect_str_eq(after((void *)nobody_else_knows, 1), "nobody_else_knows+0x1");
}

static const void *my_caller;

static __attribute__((noinline)) void looks_who_calls(void) { my_caller = __builtin_return_address(0); }

static __attribute__((noinline)) void never_returns(void)
{
    looks_who_calls();
    *(volatile int *)opaque(&(int){0}) = 1; /* or the call would be a jump */
}

Test(symbols, name_who_has_called_by_where_the_call_returns_to)
{
    never_returns();
    cr_expect(strstr(weft__symbols_caller(my_caller, room, sizeof room), "never_returns+0x") == room, "%s",
              room);
}

Test(symbols, name_functions_of_libraries)
{
    cr_expect_str_eq(name((void *)lfind), "lfind");
    after((void *)lfind, 2);
    cr_expect(strstr(room, "+0x2"), "%s", room);
}

/* Between its headers and its code there is nothing with a name. */
Test(symbols, give_the_file_where_nothing_has_a_name)
{
    struct weft__module m;

    cr_assert(weft__symbols_module((uintptr_t)everybody_knows, &m));
    cr_expect_str_eq(name((const char *)m.base + 4), "test_symbols+0x4");
    cr_assert(weft__symbols_module((uintptr_t)lfind, &m));
    cr_expect_str_eq(name((const char *)m.base + 0x10), "libc.so.6+0x10");
}

Test(symbols, give_the_address_where_there_is_no_code)
{
    int here = 0;

    cr_expect(strncmp(name(&here), "0x", 2) == 0, "%s", room);
    cr_expect_str_eq(name(NULL), "0x0");
    cr_expect_str_eq(name((void *)UINTPTR_MAX), "0xffffffffffffffff");
}

Test(symbols, are_cut_where_there_is_no_room)
{
    char small[8];

    cr_expect_str_eq(weft__symbols_name((void *)everybody_knows, small, sizeof small), "everybo");
    cr_expect_str_eq(weft__symbols_name((void *)everybody_knows, small, 1), "");
    weft__symbols_name((char *)everybody_knows + 1, small, sizeof small);
    cr_expect_str_eq(small, "everybo");
}

Test(symbols, do_without_the_file_if_it_can_not_be_opened)
{
    struct rlimit before, none;

    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    name((void *)everybody_knows);
    setrlimit(RLIMIT_NOFILE, &before);
    cr_expect(strncmp(room, "test_symbols+0x", 15) == 0, "%s", room);
}

Test(symbols, leave_no_file_open)
{
    int before = open("/dev/null", O_RDONLY);

    for (int i = 0; i < 100; i++)
        after((void *)everybody_knows, (size_t)i);
    cr_expect_eq(open("/dev/null", O_RDONLY), before + 1);
}

Test(symbols, tell_the_program_from_libraries)
{
    struct weft__module program, library;

    cr_assert(weft__symbols_module((uintptr_t)everybody_knows, &program));
    cr_assert(weft__symbols_module((uintptr_t)lfind, &library));
    cr_expect_str_eq(program.path, "");
    cr_expect_str_eq(weft__symbols_file(&program, room, sizeof room), "test_symbols");
    cr_expect_str_eq(weft__symbols_file(&library, room, sizeof room), "libc.so.6");
    cr_expect_neq(program.base, library.base);
    cr_expect_not(weft__symbols_module((uintptr_t)&program, &library));
}
