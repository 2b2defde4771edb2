/* fault.c - see fault.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A handler here says on stderr in which actor the signal came, and where, and passes it on to whoever had it before:
 * another handler, which is called; or the system's default, which is put back, and then the instruction is run again, so
 * that a core shows the place itself. All of it is safe in a handler: texts are put together in a buffer and written by
 * one write; the walk and the names allocate nothing (frames.c, base/symbols.h).
 *
 * An overflow is a fault in the guard of the actor's stack. To end only the actor, the handler returns to another place:
 * the worker's rescue stack, where the actor ends as by weft_end, after the handler, with the mask of signals as before
 * it. Its own stack is left as it is until its deferred functions have run, as they may have been given what lies there.
 */
#define _GNU_SOURCE /* REG_RIP, gettid */
#include "runtime/fault.h"

#include <errno.h>
#include <setjmp.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "fibers/guard.h"
#include "fibers/switch.h"
#include "runtime/frames.h"
#include "runtime/machine.h"

enum { SIGNALS = 5 };

/* `before`, `ours` and `displaced` change only under the lock of system.c, while no actor runs. */
static struct fatal {
    int              number;
    const char      *name;
    bool             ours;      /* the handler is set */
    bool             displaced; /* the program has set another, which may call ours: it is not set again */
    struct sigaction before;
    /* Whoever had it before has come back from one: such are his business, and not worth a report each. relaxed: it
     * orders nothing. */
    atomic_bool handled;
} fatal[SIGNALS] = {{.number = SIGSEGV, .name = "SIGSEGV"},
                    {.number = SIGBUS, .name = "SIGBUS"},
                    {.number = SIGILL, .name = "SIGILL"},
                    {.number = SIGFPE, .name = "SIGFPE"},
                    {.number = SIGABRT, .name = "SIGABRT"}};

/* Before any handler is set. */
static enum weft_overflow policy;
/* Held by who reports. */
static atomic_flag reporting = ATOMIC_FLAG_INIT;

/* One signal, while it is handled. */
struct fault {
    struct fatal       *which;
    siginfo_t          *info;
    ucontext_t         *context;
    struct weft__lane  *lane;
    struct weft__actor *actor;
    struct weft__stack *stack; /* that it came on; NULL: a thread's own */
    bool                overflow;
    struct weft__frames frames;
};

/* ---- Words -------------------------------------------------------------------------------------------- */

struct line {
    struct weft__text text;
    char              room[512];
};

static struct weft__text *begin(struct line *line)
{
    line->text = weft__text_in(line->room, sizeof line->room - 1); /* the line's end has room */
    return &line->text;
}

static void say(struct line *line)
{
    *line->text.at++ = '\n';
    ssize_t ignored = write(STDERR_FILENO, line->room, (size_t)(line->text.at - line->room));
    (void)ignored; /* nobody left to tell */
}

static void add_name(struct weft__text *t, const struct weft__actor *a)
{
    if (!a->extra || !a->extra->name)
        return;
    weft__text_add(t, "\"");
    weft__text_add(t, a->extra->name);
    weft__text_add(t, "\" ");
}

/* actor "adder" (1a of add); thread 3 */
static void add_who(struct weft__text *t, struct weft__actor *a)
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

static size_t whole_bytes(const struct weft__stack *s)
{
    return (size_t)WEFT__STACK_SMALLEST << s->size_class;
}

static void say_overflow(struct fault *f)
{
    struct line        line;
    struct weft__text *t = begin(&line);
    size_t             all = whole_bytes(f->stack), guard = weft__guard_bytes();

    weft__text_add(t, "weft: ");
    add_who(t, f->actor);
    weft__text_add(t, " overflowed its stack of ");
    weft__text_number(t, (all - guard) / 1024, 10);
    weft__text_add(t, " KiB (");
    weft__text_number(t, all, 10);
    weft__text_add(t, " bytes with its guard), of which ");
    weft__text_number(t, weft__stack_used(f->stack) / 1024, 10);
    weft__text_add(t, " KiB were ever used; .stack_bytes of weft_spawn raises it, that of weft_run for all");
    say(&line);
}

static void say_signal(struct fault *f)
{
    struct line        line;
    struct weft__text *t = begin(&line);

    weft__text_add(t, "weft: ");
    weft__text_add(t, f->which->name);
    if (f->which->number != SIGABRT && f->info->si_code > 0) {
        weft__text_add(t,
                       f->which->number == SIGSEGV || f->which->number == SIGBUS ? " for address " : " at ");
        weft__text_hex(t, (uintptr_t)f->info->si_addr);
    }
    weft__text_add(t, " in ");
    add_who(t, f->actor);
    say(&line);
}

static void say_frames(const struct weft__frames *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        struct line        line;
        struct weft__text *t = begin(&line);
        weft__text_add(t, "  #");
        weft__text_number(t, i, 10);
        weft__text_add(t, " ");
        add_place(t, f->shown[i].pc, i == 0);
        if (f->shown[i].times > 1) {
            weft__text_add(t, ", ");
            weft__text_number(t, f->shown[i].times, 10);
            weft__text_add(t, " times");
        }
        say(&line);
    }
    if (f->more) {
        struct line line;
        weft__text_add(begin(&line), "  and ");
        weft__text_number(&line.text, f->more, 10);
        weft__text_add(&line.text, " more");
        say(&line);
    }
}

/* ---- Who, and where ------------------------------------------------------------------------------------- */

static bool is_in(const struct weft__stack *s, uintptr_t address)
{
    uintptr_t low = (uintptr_t)s->low - weft__guard_bytes();

    return address - low < whole_bytes(s);
}

static bool is_in_guard(const struct weft__stack *s, uintptr_t address)
{
    return (uintptr_t)s->low - address - 1 < weft__guard_bytes();
}

/* The stack that an address is in or just below. A worker runs on the actor's own, or the loop's, or the one for
 * rescue. */
static struct weft__stack *stack_of(const struct weft__lane *l, uintptr_t address)
{
    struct weft__stack *all[] = {l->self->stack, l->spare, l->rescue};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && is_in(all[i], address))
            return all[i];
    return NULL;
}

static bool is_raised(const siginfo_t *info) { return info->si_code > 0; }

/* By what runs here: an instruction, abort, raise. Not by another process, which means no actor. */
static bool is_from_here(const siginfo_t *info)
{
    return is_raised(info) || (info->si_code == SI_TKILL && info->si_pid == getpid());
}

static void look(struct fault *f)
{
    uintptr_t address = (uintptr_t)f->info->si_addr, sp = weft__machine_sp(f->context);
    bool      memory = is_raised(f->info) && (f->which->number == SIGSEGV || f->which->number == SIGBUS);

    f->stack = memory && f->lane->worker ? stack_of(f->lane, address) : NULL;
    f->overflow = f->stack && is_in_guard(f->stack, address);
    if (!f->overflow && f->lane->worker)
        f->stack = stack_of(f->lane, sp);
}

/* A thing that looked like a frame was none: back to where the walk began. */
static void set_blocked(int how)
{
    sigset_t faults;

    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigaddset(&faults, SIGBUS);
    pthread_sigmask(how, &faults, NULL);
}

static void walk(struct fault *f)
{
    sigjmp_buf here;

    f->frames.pc = weft__machine_pc(f->context);
    f->frames.sp = weft__machine_sp(f->context);
    f->frames.low = f->stack ? (uintptr_t)f->stack->low : 0;
    f->frames.high = f->stack ? (uintptr_t)f->stack->low + whole_bytes(f->stack) : UINTPTR_MAX;
    f->frames.function = f->actor->unusual & WEFT__THREAD ? 0 : (uintptr_t)weft__bound_fn(f->actor);
    f->frames.last = (uintptr_t)weft__loop;
    set_blocked(SIG_UNBLOCK);
    if (sigsetjmp(here, 1) == 0) {
        f->lane->walking = &here;
        weft__frames_walk(&f->frames);
    }
    f->lane->walking = NULL;
    set_blocked(SIG_BLOCK);
}

/* ---- Only that actor ------------------------------------------------------------------------------------- */

/* On the rescue stack, in its lower half, after the handler: so the stack is left for itself, by the front door. */
static void go_to_rescue(void)
{
    struct weft__lane *l = weft__lane();

    weft__machine_clean();
    weft__switch_leave(weft__switch_fresh(l->rescue, weft__loop_overflowed), NULL);
}

static bool is_called(const struct fault *f)
{
    return weft__lane_calls(f->lane) || weft__memory_is_calling() || f->frames.found == WEFT__FRAMES_CALLED;
}

static void say_why_not(const struct fault *f)
{
    struct line        line;
    struct weft__text *t = begin(&line);

    weft__text_add(t, "weft: the process ends, not only that actor: ");
    if (is_called(f)) {
        weft__text_add(t, "it was in a function that Weft had called, and expects back");
    } else if (f->frames.found == WEFT__FRAMES_FOREIGN) {
        add_place(t, f->frames.where, f->frames.where == f->frames.pc);
        weft__text_add(t, " is not its own code, and may hold locks");
    } else {
        weft__text_add(t, "nobody can tell whose code it was in (linked statically, or without tables)");
    }
    say(&line);
}

static bool may_end_alone(const struct fault *f)
{
    return f->lane->rescue && f->stack != f->lane->rescue && !is_called(f) &&
           f->frames.found == WEFT__FRAMES_OWN && WEFT__MACHINE_LEAVES;
}

static void end_alone(struct fault *f)
{
    struct weft__stack *s = f->lane->rescue;
    struct line         line;

    weft__text_add(begin(&line), "weft: only that actor ends, with WEFT_ESTACK");
    say(&line);
    weft__machine_go(f->context, s->low + ((s->top - s->low) / 2 & ~(ptrdiff_t)63), go_to_rescue);
}

/* ---- Reports ------------------------------------------------------------------------------------------- */

/* Lines of two reports must not mix. Whoever holds it may end the process; but not wait for ever, should it not. */
static void begin_report(void)
{
    struct timespec moment = {0, 1000000};

    /* acquire, release: a matter of form; the lines are the kernel's. */
    for (int i = 0; i < 1000 && atomic_flag_test_and_set_explicit(&reporting, memory_order_acquire); i++)
        nanosleep(&moment, NULL);
}

static void end_report(void) { atomic_flag_clear_explicit(&reporting, memory_order_release); }

/* True: the actor ends, and nobody else need hear of it. */
static bool report(struct fault *f)
{
    bool alone = false;

    look(f);
    if (!f->overflow && atomic_load_explicit(&f->which->handled, memory_order_relaxed))
        return false;
    begin_report();
    if (f->overflow)
        say_overflow(f);
    else
        say_signal(f);
    walk(f);
    say_frames(&f->frames);
    if (f->overflow && (alone = may_end_alone(f)))
        end_alone(f);
    else if (f->overflow && policy == WEFT_OVERFLOW_ISOLATE)
        say_why_not(f);
    end_report();
    return alone;
}

/* ---- Others ------------------------------------------------------------------------------------------- */

/* As the kernel would have called it. It may not come back. */
static void call(struct fatal *which, siginfo_t *info, void *context)
{
    struct sigaction before = which->before;
    sigset_t         mask = before.sa_mask, now;

    if (before.sa_flags & (int)SA_RESETHAND)
        which->before = (struct sigaction){.sa_handler = SIG_DFL};
    pthread_sigmask(SIG_BLOCK, &mask, &now);
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(which->number, info, context);
    else
        before.sa_handler(which->number);
    pthread_sigmask(SIG_SETMASK, &now, NULL);
    atomic_store_explicit(&which->handled, true, memory_order_relaxed);
}

/* The signal is blocked until the handler returns: then it comes again, and finds what there was before. A fault comes
 * by itself, and the kernel lets nobody ignore it. */
static void pass_on(struct fatal *which, siginfo_t *info, void *context)
{
    bool ignored = !(which->before.sa_flags & SA_SIGINFO) && which->before.sa_handler == SIG_IGN;
    bool none = !(which->before.sa_flags & SA_SIGINFO) && which->before.sa_handler == SIG_DFL;

    if (ignored && !is_raised(info))
        return;
    if (!ignored && !none) {
        call(which, info, context);
        return;
    }
    sigaction(which->number, &which->before, NULL);
    if (!is_raised(info))
        raise(which->number);
}

static bool is_ignored(const struct fatal *which, const siginfo_t *info)
{
    return !is_raised(info) && !(which->before.sa_flags & SA_SIGINFO) && which->before.sa_handler == SIG_IGN;
}

static void handle(int signal, siginfo_t *info, void *context)
{
    struct weft__lane *l = weft__lane();
    int                error = errno;
    struct fault       f = {.which = fatal, .info = info, .context = context, .lane = l, .actor = l->self};

    if (l->walking)
        siglongjmp(*(sigjmp_buf *)l->walking, 1);
    while (f.which->number != signal)
        f.which++;
    bool alone = f.actor && is_from_here(info) && !is_ignored(f.which, info) && report(&f);
    if (!alone)
        pass_on(f.which, info, context);
    errno = error;
}

/* ---- fault.h ------------------------------------------------------------------------------------------- */

static bool is_ours(const struct fatal *which)
{
    struct sigaction now;

    return sigaction(which->number, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
           now.sa_sigaction == handle;
}

void weft__fault_begin(enum weft_overflow chosen)
{
    struct sigaction mine = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    policy = chosen;
    for (struct fatal *which = fatal; which < fatal + SIGNALS; which++) {
        atomic_store_explicit(&which->handled, false, memory_order_relaxed);
        if (!is_ours(which) && !which->displaced) {
            sigaction(which->number, NULL, &which->before); /* before a handler can come to read it */
            sigaction(which->number, &mine, NULL);
        }
        which->ours = true;
    }
}

void weft__fault_end(void)
{
    for (struct fatal *which = fatal; which < fatal + SIGNALS; which++) {
        if (is_ours(which))
            sigaction(which->number, &which->before, NULL);
        else if (which->ours)
            which->displaced = true;
        which->ours = false;
    }
}

/* Room for the kernel's frame, and for other handlers, which are called on it; only pages that are touched cost. */
static size_t handlers_room(void)
{
    size_t page = weft__guard_bytes();

    return (getauxval(AT_MINSIGSTKSZ) + WEFT__FAULT_STACK + page - 1) & ~(page - 1);
}

int weft__fault_enter(struct weft__lane *l, struct weft__fault_stack *s, unsigned stack_class)
{
    size_t guard = weft__guard_bytes();

    s->bytes = guard + handlers_room();
    s->memory = weft__memory_reserve(s->bytes);
    if (!s->memory)
        return WEFT_EMEMORY;
    if (policy == WEFT_OVERFLOW_ISOLATE && !(l->rescue = weft__stack_get(&l->stacks, stack_class))) {
        munmap(s->memory, s->bytes);
        return WEFT_ESTACK;
    }
    mprotect(s->memory, guard, PROT_NONE); /* refused: then there is none */
    stack_t mine = {.ss_sp = (char *)s->memory + guard, .ss_size = s->bytes - guard};
    sigaltstack(&mine, &s->before);
    return 0;
}

void weft__fault_leave(struct weft__lane *l, struct weft__fault_stack *s)
{
    sigaltstack(&s->before, NULL);
    munmap(s->memory, s->bytes);
    if (l->rescue)
        weft__stack_put(&l->stacks, l->rescue);
    l->rescue = NULL;
}
