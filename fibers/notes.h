/* notes.h - private to weft. What Valgrind and AddressSanitizer want to be told about a stack.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the test for each tool, so that no function body has an #ifdef.
 * Knows not: stacks' owners, switching (each switch back end tells the tools itself).
 */
#ifndef WEFT__NOTES_H
#define WEFT__NOTES_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT__NOTES_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WEFT__NOTES_ASAN 1
#endif

/* Threads that a tool adds to the process. */
#define WEFT__NOTES_THREADS 0
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef WEFT__NOTES_THREADS
#define WEFT__NOTES_THREADS 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#undef WEFT__NOTES_THREADS
#define WEFT__NOTES_THREADS 1
#endif

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#define WEFT__NOTES_VALGRIND 1
#endif
#endif

#ifdef WEFT__NOTES_VALGRIND
#include <valgrind/valgrind.h>
/* A new stack. Its number with Valgrind, 0 elsewhere: the address space is never unmapped, so the registration
 * is never taken back. */
static inline unsigned weft__notes_carved(char *low, char *end)
{
    return RUNNING_ON_VALGRIND ? (unsigned)VALGRIND_STACK_REGISTER(low, end - 1) : 0;
}
/* Whether Valgrind runs this: it looks for leaks in all that is mapped, so that should not be much. */
static inline int weft__notes_on_valgrind(void) { return RUNNING_ON_VALGRIND; }
#else
static inline unsigned weft__notes_carved(char *low, char *end) { return (void)low, (void)end, 0; }
static inline int      weft__notes_on_valgrind(void) { return 0; }
#endif

#ifdef WEFT__NOTES_ASAN
#include <sanitizer/asan_interface.h>
/* Frames that were abandoned on it left their red zones poisoned. */
static inline void weft__notes_reused(char *low, char *end)
{
    __asan_unpoison_memory_region(low, (size_t)(end - low));
}
#else
static inline void     weft__notes_reused(char *low, char *end) { (void)low, (void)end; }
#endif

#endif
