/* help.c - see help.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#define _GNU_SOURCE
#include "help.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/symbols.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char            trace[1 << 16]; /* under lock */
static size_t          length;

void note(const char *format, ...)
{
    va_list more;

    pthread_mutex_lock(&lock);
    va_start(more, format);
    int n = vsnprintf(trace + length, sizeof trace - length, format, more);
    va_end(more);
    if (n > 0 && length + (size_t)n < sizeof trace)
        length += (size_t)n;
    pthread_mutex_unlock(&lock);
}

const char *noted(void) { return trace; }

void forget_notes(void)
{
    pthread_mutex_lock(&lock);
    length = 0;
    trace[0] = 0;
    pthread_mutex_unlock(&lock);
}

weft_counts counted(void)
{
    weft_counts c;

    weft_count(&c, sizeof c);
    return c;
}

/* ---- Surroundings ------------------------------------------------------------------------------------- */

static int real_stderr, heard;

void listen_to_stderr(void)
{
    heard = memfd_create("stderr", 0);
    real_stderr = dup(STDERR_FILENO);
    dup2(heard, STDERR_FILENO);
}

const char *what_was_said(void)
{
    static char text[4096];
    ssize_t     n = pread(heard, text, sizeof text - 1, 0);

    dup2(real_stderr, STDERR_FILENO);
    text[n > 0 ? n : 0] = 0;
    return text;
}

void clog_stderr(void)
{
    char rubbish[512] = {0};
    int  ends[2];

    if (pipe2(ends, O_NONBLOCK))
        abort();
    while (write(ends[1], rubbish, sizeof rubbish) > 0)
        ;
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], STDERR_FILENO);
}

unsigned lines(const char *text)
{
    unsigned n = 0;

    for (; (text = strchr(text, '\n')); text++)
        n++;
    return n;
}

int in_child(void (*run)(void))
{
    int   status = -1;
    pid_t child = fork();

    if (child == 0) {
        run();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status;
}

#ifdef __SANITIZE_ADDRESS__
int  __lsan_do_recoverable_leak_check(void);
void __lsan_disable(void), __lsan_enable(void);
bool leaks(void) { return __lsan_do_recoverable_leak_check(); }

/* The first pthread_exit loads it, and the checker takes what the loader keeps for lost, because of heap.c. */
__attribute__((constructor)) static void load_the_unwinder(void)
{
    __lsan_disable();
    dlopen("libgcc_s.so.1", RTLD_NOW);
    __lsan_enable();
}
#else
bool leaks(void) { return false; }
#endif

bool can_isolate(void)
{
    struct weft__module mine, heap;

    return weft__symbols_module((uintptr_t)can_isolate, &mine) &&
           weft__symbols_module((uintptr_t)malloc, &heap) && mine.base != heap.base;
}

struct rlimit leave_room(size_t bytes)
{
    struct rlimit before, now;
    size_t        pages = 0;
    FILE         *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%zu", &pages) != 1)
        abort();
    fclose(f);
    getrlimit(RLIMIT_AS, &before);
    now = before;
    now.rlim_cur = pages * (size_t)sysconf(_SC_PAGESIZE) + bytes;
    setrlimit(RLIMIT_AS, &now);
    return before;
}

void *opaque(void *p)
{
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

/* ---- Stress ------------------------------------------------------------------------------------------- */

unsigned long scaled(unsigned long much)
{
    const char   *text = getenv("WEFT_STRESS_PERCENT");
    unsigned long percent = text && *text ? strtoul(text, NULL, 10) : 100, n = much * percent / 100;

    return n ? n : 1;
}

uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}
