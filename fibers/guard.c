/* guard.c - the three ways to guard a stack, and which one it is.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the method, chosen at the first call that needs it and never changed.
 * Knows not: arenas, pools, how large a stack is.
 */
#define _GNU_SOURCE
#include "fibers/guard.h"
#include "fibers/stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The kernel's numbers, for C libraries that are older than the kernel. Those two system calls have the same
 * number on every CPU. */
enum { GUARD_INSTALL = 102, PIDFD_OPEN = 434, PROCESS_MADVISE = 440 };

enum method { INSTALL, MPROTECT, CANARY, METHODS };

static const char *const names[METHODS] = {"install", "mprotect", "canary"};

/* The canary is the top of the guard page, where an overrun arrives first; the rest of that page is a cushion for
 * the neighbour below. */
enum { CANARY_WORDS = 32 };
static const uint64_t canary_word = 0x7765667463616e61;

/* Written once, under `chosen`. Whoever has a guarded page has it from somebody who went through `chosen`. */
static enum method    method;
static pthread_once_t chosen = PTHREAD_ONCE_INIT;

/* Not stdio: it takes 8 KiB of stack for an unbuffered stream, and this may run on a small one. */
static void say(const char *before, const char *word, const char *after)
{
    struct iovec line[] = {
        {(char *)before, strlen(before)}, {(char *)word, strlen(word)}, {(char *)after, strlen(after)}};
    ssize_t ignored = writev(STDERR_FILENO, line, 3);

    (void)ignored; /* nobody left to tell */
}

size_t weft__guard_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* ---- The choice -------------------------------------------------------------------------------------- */

/* On a real page, as the kernel may know the advice and still refuse it: to locked memory, or under seccomp. And tried,
 * as an emulator (qemu) may take any advice and do nothing: a system call that writes there must fail. */
static bool kernel_installs(void)
{
    size_t page = weft__guard_bytes();
    char  *probe = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (probe == MAP_FAILED)
        return true; /* no room for a page: not the kernel's age. place_one() falls back by itself */
    bool works = madvise(probe, page, GUARD_INSTALL) == 0 && uname((struct utsname *)(void *)probe) != 0 &&
                 errno == EFAULT;
    munmap(probe, page);
    return works;
}

static enum method forced(void)
{
    const char *wish = getenv("WEFT_GUARD");

    if (!wish || !*wish)
        return METHODS;
    for (int m = 0; m < METHODS; m++)
        if (strcmp(wish, names[m]) == 0)
            return (enum method)m;
    say("weft: WEFT_GUARD=", wish, " is not install, mprotect or canary; choosing by myself\n");
    return METHODS;
}

static void choose(void)
{
    enum method wish = forced();

    if (wish == MPROTECT || wish == CANARY) {
        method = wish;
        return;
    }
    method = kernel_installs() ? INSTALL : MPROTECT;
    if (wish == INSTALL && method != INSTALL)
        say("weft: WEFT_GUARD=install: the kernel refuses MADV_GUARD_INSTALL (Linux 6.13 has it); ",
            "using mprotect", "\n");
}

const char *weft__guard_name(void)
{
    pthread_once(&chosen, choose);
    return names[method];
}

/* ---- Placing ----------------------------------------------------------------------------------------- */

static void say_no_more_mappings(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    /* relaxed: it only picks who prints. */
    if (!atomic_flag_test_and_set_explicit(&said, memory_order_relaxed))
        say("weft: no more stack guards: mprotect needs two mappings a stack and the kernel has no more. ",
            "Raise them with `sysctl -w vm.max_map_count=1000000`, ",
            "or set WEFT_GUARD=canary, which needs none\n");
}

static bool place_protected(char *page, size_t bytes)
{
    if (mprotect(page, bytes, PROT_NONE) == 0)
        return true;
    if (errno == ENOMEM)
        say_no_more_mappings();
    return false;
}

static bool place_one(char *page, size_t bytes)
{
    if (method == CANARY)
        return weft__guard_renew(page), true;
    if (method == INSTALL && madvise(page, bytes, GUARD_INSTALL) == 0)
        return true;
    return place_protected(page, bytes); /* also for a page that was locked since the probe */
}

/* All in one call; how many of them the kernel did. The descriptor of ourselves is opened each time: kept, it would
 * be the parent's after a fork. */
static size_t place_vector(char *first, size_t stride, size_t count, size_t bytes)
{
    struct iovec pages[WEFT__GUARD_BATCH];
    int          self = (int)syscall(PIDFD_OPEN, getpid(), 0);

    if (self < 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        pages[i] = (struct iovec){first + i * stride, bytes};
    ssize_t done = syscall(PROCESS_MADVISE, self, pages, count, GUARD_INSTALL, 0);
    close(self);
    return done < 0 ? 0 : (size_t)done / bytes;
}

size_t weft__guard_place(char *first, size_t stride, size_t count)
{
    size_t bytes = weft__guard_bytes();
    size_t done = 0;

    pthread_once(&chosen, choose);
    if (method == INSTALL && count > 1)
        done = place_vector(first, stride, count, bytes);
    while (done < count && place_one(first + done * stride, bytes))
        done++;
    return done;
}

/* ---- Canaries ---------------------------------------------------------------------------------------- */

static uint64_t *canary(const char *page) { return (uint64_t *)(page + weft__guard_bytes()) - CANARY_WORDS; }

void weft__guard_renew(char *page)
{
    if (method == CANARY)
        for (int i = 0; i < CANARY_WORDS; i++)
            canary(page)[i] = canary_word;
}

bool weft__guard_intact(const char *page)
{
    if (method != CANARY)
        return true;
    const uint64_t *word = canary(page);
    uint64_t        wrong = 0;
    for (int i = 0; i < CANARY_WORDS; i++)
        wrong |= word[i] ^ canary_word; /* no way out in the middle: it is nearly always intact */
    return wrong == 0;
}
