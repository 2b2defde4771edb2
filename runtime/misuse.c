/* misuse.c - what happens when a program breaks a rule, and the words for errors.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdarg.h>
#include <stdlib.h>

#include "base/say.h"
#include "base/symbols.h"
#include "runtime/actor.h"

static void add_who(struct weft__text *t, struct weft__actor *a)
{
    char fn[64];

    if (!a || a->unusual & WEFT__THREAD) {
        weft__text_add(t, "thread");
    } else if (a->extra && a->extra->name) {
        weft__text_add(t, "actor \"");
        weft__text_add(t, a->extra->name);
        weft__text_add(t, "\"");
    } else {
        weft__text_add(t, "actor ");
        weft__text_number(t, weft__actor_pid(a), 16);
        weft__text_add(t, " of ");
        weft__text_add(t, weft__symbols_name((void *)weft__bound_fn(a), fn, sizeof fn));
    }
}

/* It knows %s, and nothing else. */
static void add_words(struct weft__text *t, const char *format, va_list more)
{
    char one[2] = "";

    for (; *format; format++) {
        if (*format == '%' && format[1] == 's') {
            weft__text_add(t, va_arg(more, const char *));
            format++;
        } else {
            *one = *format;
            weft__text_add(t, one);
        }
    }
}

/* Without stdio: it takes 8 KiB of stack for a stream without a buffer, and this is called anywhere. */
static __attribute__((noinline)) void say(struct weft__actor *a, const char *format, va_list more)
{
    struct weft__say   line;
    struct weft__text *t = weft__say_begin(&line);

    weft__text_add(t, "weft: ");
    add_who(t, a);
    weft__text_add(t, ": ");
    add_words(t, format, more);
    weft__say_end(&line);
}

_Noreturn void weft__misuse(int reason, const char *format, ...)
{
    struct weft__lane *l = weft__lane();
    va_list            more;

    va_start(more, format);
    say(l->self, format, more);
    va_end(more);
    if (!l->destroying && (l->deferring || (l->worker && l->self)))
        weft_end(reason);
    if (l->self || l->worker || l->destroying)
        l->has_said = true;
    abort();
}

const char *weft_strerror(int error)
{
    switch (error) {
    case 0:
        return "normal";
    case WEFT_EGONE:
        return "no such actor, or no longer";
    case WEFT_ETIME:
        return "the time is over";
    case WEFT_EFULL:
        return "the mailbox is full";
    case WEFT_EMEMORY:
        return "out of memory or address space";
    case WEFT_EUSED:
        return "the name, or id, is in use";
    case WEFT_EDROPPED:
        return "the request was dropped unanswered";
    case WEFT_ETYPE:
        return "a message of another type, or none";
    case WEFT_EINVALID:
        return "an argument makes no sense";
    case WEFT_EKILLED:
        return "killed";
    case WEFT_ESTACK:
        return "its stack overflowed; or there was none to be had (raise vm.max_map_count)";
    case WEFT_EBUSY:
        return "a system runs already";
    case WEFT_EENDED:
        return "the system has ended";
    case WEFT_ESIZE:
        return "the body is too large";
    case WEFT_ESYSTEM:
        return "the operating system refused";
    case WEFT_ESTOP:
        return "told to stop";
    case WEFT_ESTUCK:
        return "some would not stop in time";
    case WEFT_EDEADLOCK:
        return "every actor waits, and nothing can wake any of them";
    case WEFT_ECYCLE:
        return "full mailboxes would wait for each other for ever";
    default:
        return error > 0 ? "a reason of the program's own" : "unknown error";
    }
}

const char *weft_version(void) { return WEFT_VERSION; }
