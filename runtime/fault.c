/* fault.c - see fault.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A handler here says on stderr in which actor the signal came, and where, and passes it on to whoever had it before:
 * another handler, which is called; or the system's default, which is put back, and then the instruction is run again, so
 * that a core shows the place itself. All of it is safe in a handler: lines (base/say.h), the walk and the names allocate
 * nothing (frames.c, base/symbols.h).
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
#include "fibers/guard.h"
#include "fibers/switch.h"
#include "runtime/machine.h"

enum { SIGNALS = 5 };

/* `before`, `ours` and `displaced` change only under the lock of system.c, while no actor runs. */
static struct fatal {
    int              number;
    const char      *name;
    bool             ours;      /* the handler is set */
    bool             displaced; /* the program has set another, which may call ours: it stays in front */
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

/* ---- Only that actor ------------------------------------------------------------------------------------- */

/* On the rescue stack, in its lower half, after the handler: so the stack is left for itself, by the front door. */
static void go_to_rescue(void)
{
    struct weft__lane *l = weft__lane();

    weft__machine_clean();
    weft__switch_leave(weft__switch_fresh(l->rescue, weft__loop_overflowed), NULL);
}

bool weft__fault_is_called(const struct weft__fault *f)
{
    return weft__lane_calls(f->lane) || weft__memory_is_calling() || f->frames.found == WEFT__FRAMES_CALLED;
}

static bool may_end_alone(const struct weft__fault *f)
{
    return f->actor && f->lane->rescue && f->stack != f->lane->rescue && !f->stepped &&
           !weft__fault_is_called(f) && f->frames.found == WEFT__FRAMES_OWN && WEFT__MACHINE_LEAVES;
}

static void end_alone(struct weft__fault *f)
{
    struct weft__stack *s = f->lane->rescue;

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
static bool report(struct weft__fault *f)
{
    begin_report();
    weft__report_what(f);
    weft__scene_walk(f);
    weft__report_where(f);
    bool alone = f->overflow && may_end_alone(f);
    if (f->overflow && policy == WEFT_OVERFLOW_ISOLATE)
        weft__report_end(f, alone);
    end_report();
    if (alone)
        end_alone(f);
    return alone;
}

/* ---- Others ------------------------------------------------------------------------------------------- */

/* As the kernel would have called it. It may not come back. */
static void call(struct fatal *which, siginfo_t *info, void *context)
{
    struct sigaction before = which->before;
    sigset_t         mask = before.sa_mask, itself, now;

    if (before.sa_flags & (int)SA_RESETHAND)
        which->before = (struct sigaction){.sa_handler = SIG_DFL};
    sigemptyset(&itself);
    if (before.sa_flags & SA_NODEFER)
        sigaddset(&itself, which->number);
    pthread_sigmask(SIG_UNBLOCK, &itself, &now);
    pthread_sigmask(SIG_BLOCK, &mask, NULL);
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(which->number, info, context);
    else
        before.sa_handler(which->number);
    pthread_sigmask(SIG_SETMASK, &now, NULL);
    if (weft__fault_is_raised(info)) /* or it shrugs off what somebody sent */
        atomic_store_explicit(&which->handled, true, memory_order_relaxed);
}

static bool is_ignored(const struct fatal *which, const siginfo_t *info)
{
    return !weft__fault_is_raised(info) && !(which->before.sa_flags & SA_SIGINFO) &&
           which->before.sa_handler == SIG_IGN;
}

/* The signal is blocked until the handler returns: then it comes again, and finds what there was before. A fault comes
 * by itself, and the kernel lets nobody ignore it. */
static void pass_on(struct fatal *which, siginfo_t *info, void *context)
{
    if (is_ignored(which, info))
        return;
    if (which->before.sa_flags & SA_SIGINFO ||
        (which->before.sa_handler != SIG_IGN && which->before.sa_handler != SIG_DFL)) {
        call(which, info, context);
        return;
    }
    sigaction(which->number, &which->before, NULL);
    if (!weft__fault_is_raised(info))
        raise(which->number);
}

bool weft__fault_is_raised(const siginfo_t *info) { return info->si_code > 0; }

/* The kernel has none to tell of an address that no program could have. */
bool weft__fault_has_address(const struct weft__fault *f)
{
    return weft__fault_is_raised(f->info) && f->info->si_code != SI_KERNEL &&
           (f->signal == SIGSEGV || f->signal == SIGBUS);
}

/* By what runs here: an instruction, abort, raise. Not by another process, which means no actor. */
static bool is_from_here(const siginfo_t *info)
{
    return weft__fault_is_raised(info) || (info->si_code == SI_TKILL && info->si_pid == getpid());
}

/* In other threads it is nobody's of Weft's. */
static bool is_ours_to_say(const struct weft__fault *f)
{
    return f->actor || f->lane->worker || f->lane->destroying;
}

/* It is this actor's doing, and news. */
static bool concerns(const struct fatal *which, struct weft__fault *f)
{
    if (!is_ours_to_say(f) || f->lane->has_said || !is_from_here(f->info) || is_ignored(which, f->info))
        return false;
    weft__scene_look(f);
    return f->overflow || !atomic_load_explicit(&which->handled, memory_order_relaxed);
}

static void handle(int signal, siginfo_t *info, void *context)
{
    struct weft__lane *l = weft__lane();
    int                error = errno;
    struct fatal      *which = fatal;
    struct weft__fault f = {.signal = signal, .info = info, .context = context, .lane = l};

    if (l->walking)
        siglongjmp(*(sigjmp_buf *)l->walking, 1);
    f.actor = weft__scene_actor(l, context);
    while (which->number != signal)
        which++;
    f.name = which->name;
    if (!concerns(which, &f) || !report(&f))
        pass_on(which, info, context);
    errno = error;
}

/* ---- fault.h ------------------------------------------------------------------------------------------- */

static struct sigaction present(const struct fatal *which)
{
    struct sigaction now = {.sa_handler = SIG_DFL};

    sigaction(which->number, NULL, &now);
    return now;
}

static bool is_ours(struct sigaction a) { return a.sa_flags & SA_SIGINFO && a.sa_sigaction == handle; }

/* It calls nobody. */
static bool is_none(struct sigaction a)
{
    return !(a.sa_flags & SA_SIGINFO) && (a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN);
}

static void take(struct fatal *which)
{
    struct sigaction mine = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction now = present(which);

    if (!is_ours(now) && (!which->displaced || is_none(now))) {
        which->displaced = false;
        which->before = now; /* before a handler can come to read it */
        sigaction(which->number, &mine, NULL);
    }
    which->ours = true;
}

void weft__fault_begin(enum weft_overflow chosen)
{
    policy = chosen;
    weft__frames_prepare();
    for (struct fatal *which = fatal; which < fatal + SIGNALS; which++) {
        atomic_store_explicit(&which->handled, false, memory_order_relaxed);
        take(which);
    }
}

void weft__fault_end(void)
{
    for (struct fatal *which = fatal; which < fatal + SIGNALS; which++) {
        if (is_ours(present(which)))
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

/* Whoever calls weft_run may have blocked all signals, to wait for some; a fault that is blocked ends the process without a
 * word. */
static void let_in(void)
{
    sigset_t ours;

    sigemptyset(&ours);
    for (const struct fatal *which = fatal; which < fatal + SIGNALS; which++)
        sigaddset(&ours, which->number);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
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
    let_in();
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
