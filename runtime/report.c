/* report.c - what is said of a fatal signal, line by line, in its handler.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Safe there: base/say.h.
 */
#define _GNU_SOURCE /* ucontext.h: REG_RIP */
#include <string.h>

#include "base/say.h"
#include "fibers/guard.h"
#include "runtime/fault.h"

/* ---- What, and to whom ------------------------------------------------------------------------------- */

static void add_name(struct weft__text *t, const struct weft__actor *a)
{
    if (!a->extra || !a->extra->name)
        return;
    weft__text_add(t, "\"");
    weft__text_add(t, a->extra->name);
    weft__text_add(t, "\" ");
}

/* actor "adder" (1a of add); thread (3) */
static void add_actor(struct weft__text *t, struct weft__actor *a)
{
    bool thread = a->unusual & WEFT__THREAD;
    char function[64];

    weft__text_add(t, thread ? "thread " : "actor ");
    add_name(t, a);
    weft__text_add(t, "(");
    weft__text_number(t, weft__actor_pid(a), 16);
    if (!thread) {
        weft__text_add(t, " of ");
        weft__text_add(t, weft__symbols_name((void *)weft__bound_fn(a), function, sizeof function));
    }
    weft__text_add(t, ")");
}

static void add_who(struct weft__text *t, const struct weft__fault *f)
{
    if (f->actor) {
        add_actor(t, f->actor);
        return;
    }
    weft__text_add(t, f->lane->destroying ? "a destroy function" : "a worker's thread");
    weft__text_add(t, ", while no actor ran");
}

static void add_kib(struct weft__text *t, size_t bytes)
{
    weft__text_number(t, bytes / 1024, 10);
    weft__text_add(t, " KiB");
}

static void say_overflow(const struct weft__fault *f)
{
    struct weft__say   line;
    struct weft__text *t = weft__say_begin(&line);

    weft__text_add(t, "weft: ");
    add_who(t, f);
    weft__text_add(t, " overflowed its stack of ");
    add_kib(t, weft__stack_room(f->stack));
    weft__text_add(t, " (");
    weft__text_number(t, weft__stack_bytes(f->stack), 10);
    weft__text_add(t, " bytes with its guard), of which ");
    add_kib(t, weft__stack_used(f->stack));
    weft__text_add(t, " were ever used; .stack_bytes of weft_spawn raises it, that of weft_run for all");
    weft__say_end(&line);
}

static void say_stepped(void)
{
    struct weft__say line;

    weft__text_add(weft__say_begin(&line),
                   "weft: a frame stepped over the guard, perhaps onto the stack of another actor; "
                   "compile with -fstack-clash-protection");
    weft__say_end(&line);
}

/* Of an instruction, or what it meant. */
static void add_address(struct weft__text *t, const struct weft__fault *f)
{
    if (f->info->si_code == SI_KERNEL) {
        weft__text_add(t, " for an address that is not known");
        return;
    }
    weft__text_add(t, weft__fault_has_address(f) ? " for address " : " at ");
    weft__text_hex(t, (uintptr_t)f->info->si_addr);
    if (f->stray)
        weft__text_add(t, " (in the guard of its stack, which did not overflow)");
}

static void say_signal(const struct weft__fault *f)
{
    struct weft__say   line;
    struct weft__text *t = weft__say_begin(&line);

    weft__text_add(t, "weft: ");
    weft__text_add(t, f->name);
    if (f->signal != SIGABRT && weft__fault_is_raised(f->info))
        add_address(t, f);
    weft__text_add(t, " in ");
    add_who(t, f);
    weft__say_end(&line);
}

void weft__report_what(const struct weft__fault *f)
{
    if (f->overflow)
        say_overflow(f);
    else
        say_signal(f);
    if (f->stepped)
        say_stepped();
}

/* ---- Where --------------------------------------------------------------------------------------------- */

static void add_place(struct weft__text *t, uintptr_t pc, bool exact)
{
    struct weft__module m;
    char                name[128], file[128];
    const char         *where = exact ? weft__symbols_name((void *)pc, name, sizeof name)
                                      : weft__symbols_caller((void *)pc, name, sizeof name);

    weft__text_add(t, where);
    if (!weft__symbols_module(pc, &m))
        return;
    weft__symbols_file(&m, file, sizeof file);
    if (strncmp(where, file, strlen(file)) == 0)
        return; /* it has no other name than that */
    weft__text_add(t, " (");
    weft__text_add(t, file);
    weft__text_add(t, ")");
}

static void say_frame(const struct weft__frames *f, unsigned i)
{
    struct weft__say   line;
    struct weft__text *t = weft__say_begin(&line);

    weft__text_add(t, "  #");
    weft__text_number(t, i, 10);
    weft__text_add(t, " ");
    add_place(t, f->shown[i].pc, i == 0);
    if (f->shown[i].times > 1) {
        weft__text_add(t, ", ");
        weft__text_number(t, f->shown[i].times, 10);
        weft__text_add(t, " times");
    }
    weft__say_end(&line);
}

void weft__report_where(const struct weft__fault *f)
{
    struct weft__say line;

    for (unsigned i = 0; i < f->frames.count; i++)
        say_frame(&f->frames, i);
    if (!f->frames.more)
        return;
    weft__text_add(weft__say_begin(&line), "  and ");
    weft__text_number(&line.text, f->frames.more, 10);
    weft__text_add(&line.text, " more");
    weft__say_end(&line);
}

/* ---- And then ------------------------------------------------------------------------------------------ */

static void add_why(struct weft__text *t, const struct weft__fault *f)
{
    if (f->stepped) {
        weft__text_add(t, "what lies below its stack may be changed");
    } else if (weft__fault_is_called(f)) {
        weft__text_add(t, "it was in a function that Weft had called, and expects back");
    } else if (f->frames.found == WEFT__FRAMES_FOREIGN) {
        add_place(t, f->frames.where, f->frames.where == f->frames.pc);
        weft__text_add(t, " is not its own code, and may hold locks");
    } else {
        weft__text_add(
            t,
            "nobody can tell whose code it was in (linked statically? a malloc of the program's own? -flto? "
            "no tables to unwind by?)");
    }
}

void weft__report_end(const struct weft__fault *f, bool alone)
{
    struct weft__say   line;
    struct weft__text *t = weft__say_begin(&line);

    if (alone) {
        weft__text_add(t, "weft: only that actor ends, with WEFT_ESTACK");
    } else {
        weft__text_add(t, "weft: the process ends, not only that actor: ");
        add_why(t, f);
    }
    weft__say_end(&line);
}
