/* frames.c - see frames.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * The walk is that of the compiler's own library, by the tables that exceptions need. It allocates nothing. To find a
 * table it takes no lock with a C library of today (_dl_find_object), with older ones the loader's, which the same
 * thread may take again.
 */
#define _GNU_SOURCE /* dladdr1 */
#include "runtime/frames.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "base/code.h"

enum { OWN = 1, WEFT, FOREIGN, UNKNOWN };

static bool is_program(const struct weft__module *m) { return !*m->path; }

static bool is_c_library(const struct weft__module *m)
{
    const char *slash = strrchr(m->path, '/');

    return strncmp(slash ? slash + 1 : m->path, "libc.", 5) == 0;
}

static bool is_within(const struct weft__module *m, uintptr_t pc)
{
    struct weft__module other;

    return weft__symbols_module(pc, &other) && other.base == m->base;
}

/* Where malloc and free are; 0: not where their address says. A program that is linked to a fixed place and takes the
 * address of a library's function has a stub for it, whose address that is everywhere. */
static uintptr_t heap[2];

static uintptr_t place_of(uintptr_t function)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;

    if (!dladdr1((void *)function, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
        return function;
    return symbol->st_shndx == SHN_UNDEF ? 0 : function;
}

/* Then it has locks that everybody needs, and nobody can tell its frames from others: another allocator in place of the C
 * library's, or, without a loader, the C library itself. */
static bool has_the_heap(const struct weft__module *m)
{
    return is_within(m, heap[0]) || is_within(m, heap[1]);
}

static int whose(struct weft__frames *f, uintptr_t pc)
{
    if (weft__code_is_ours(pc))
        return WEFT;
    if (f->whose && pc - f->module.first < f->module.end - f->module.first)
        return f->whose;
    if (!weft__symbols_module(pc, &f->module))
        return f->whose = 0, FOREIGN;
    if (!is_program(&f->module) && (f->module.base != f->home || is_c_library(&f->module)))
        return f->whose = FOREIGN;
    return f->whose = has_the_heap(&f->module) ? UNKNOWN : OWN;
}

static void object(struct weft__frames *f, enum weft__frames_found found, uintptr_t pc)
{
    if (f->foreign && !(f->found == found && f->in_foreign))
        return; /* the first says enough; of somebody else's, the one that was called */
    f->foreign = true;
    f->found = found;
    f->where = pc;
}

/* `code` lies in the call that will return to pc; or, in the innermost frame, both are the same. */
static void judge(struct weft__frames *f, uintptr_t pc, uintptr_t code)
{
    int who = whose(f, code);

    if (who == WEFT && !f->begun)
        object(f, WEFT__FRAMES_FOREIGN, pc);
    else if (who == OWN && f->in_weft)
        object(f, WEFT__FRAMES_CALLED, pc);
    else if (who == FOREIGN)
        object(f, WEFT__FRAMES_FOREIGN, pc);
    else if (who == UNKNOWN)
        object(f, WEFT__FRAMES_LOST, pc);
    f->in_foreign = who == FOREIGN;
    f->in_weft |= who == WEFT;
    f->ended = who == WEFT && weft__frames_function(code) == f->last;
}

static void show(struct weft__frames *f, uintptr_t pc)
{
    if (f->count && !f->more && f->shown[f->count - 1].pc == pc) {
        f->shown[f->count - 1].times++;
    } else if (f->count < WEFT__FRAMES_SHOWN) {
        f->shown[f->count].pc = pc;
        f->shown[f->count++].times = 1;
    } else {
        f->more++;
    }
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *c, void *frames)
{
    struct weft__frames *f = frames;
    int                  exact = 0;
    uintptr_t            pc = _Unwind_GetIPInfo(c, &exact);
    uintptr_t            sp = f->begun ? _Unwind_GetCFA(c) : f->sp; /* it knows not that of the first */

    if (!f->begun && pc != f->pc)
        return _URC_NO_REASON; /* the handler's own */
    if (!pc || (f->begun && sp < f->low) || sp > f->high || sp < f->sp)
        return _URC_NORMAL_STOP;
    judge(f, pc, exact ? pc : pc - 1);
    show(f, pc);
    f->begun = true;
    f->sp = sp;
    return f->ended ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

uintptr_t weft__frames_function(uintptr_t pc) { return (uintptr_t)_Unwind_FindEnclosingFunction((void *)pc); }

/* Without a loader the unwinder sorts its tables when it is first asked, in memory from malloc. */
void weft__frames_prepare(void)
{
    weft__frames_function((uintptr_t)weft__frames_prepare);
    heap[0] = place_of((uintptr_t)malloc);
    heap[1] = place_of((uintptr_t)free);
}

void weft__frames_walk(struct weft__frames *f)
{
    f->found = WEFT__FRAMES_LOST;
    f->foreign = !weft__code_is_known();
    if (f->function && weft__symbols_module(f->function, &f->module))
        f->home = f->module.base;
    if (f->is_wild) {
        object(f, WEFT__FRAMES_LOST, f->wild);
        show(f, f->wild);
    }
    _Unwind_Backtrace(visit, f);
    if (!f->foreign && f->ended)
        f->found = WEFT__FRAMES_OWN;
}
