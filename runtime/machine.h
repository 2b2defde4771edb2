/* machine.h - private to weft. What a signal's context says, and how a thread is made to go on elsewhere after it.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the names of registers.
 * Knows not: why. On other machines than these two no actor is saved from an overflow.
 */
#ifndef WEFT__MACHINE_H
#define WEFT__MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h> /* with _GNU_SOURCE */

#if defined(__x86_64__)
enum { WEFT__MACHINE_LEAVES = true };

static inline uintptr_t weft__machine_pc(const ucontext_t *u)
{
    return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
}

static inline uintptr_t weft__machine_sp(const ucontext_t *u)
{
    return (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
}

/* The first that a function was called with. */
static inline uintptr_t weft__machine_argument(const ucontext_t *u)
{
    return (uintptr_t)u->uc_mcontext.gregs[REG_RDI];
}

static inline void weft__machine_put(ucontext_t *u, uintptr_t pc, uintptr_t sp)
{
    u->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    u->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
}

/* As if what was just called had returned already. False: its stack is not between these. */
static inline bool weft__machine_return(ucontext_t *u, uintptr_t low, uintptr_t high)
{
    uintptr_t sp = weft__machine_sp(u);

    if (sp % 8 || sp < low || sp > high - 8)
        return false;
    weft__machine_put(u, *(uintptr_t *)sp, sp + 8);
    return true;
}

/* When the handler returns, entry() is called; it must not return. `top` is aligned to 16. */
static inline void weft__machine_go(ucontext_t *u, char *top, void (*entry)(void))
{
    enum { DIRECTION = 0x400 }; /* which the ABI wants clear in a call */

    *(uint64_t *)(void *)(top - 8) = 0; /* where it would return to: nowhere, so unwinding ends there */
    u->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)(top - 8);
    u->uc_mcontext.gregs[REG_RBP] = 0;
    u->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)entry;
    u->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)DIRECTION;
}

/* What was half done there is dropped: the registers of the x87 are a stack, which calls expect to be empty. */
static inline void weft__machine_clean(void)
{
    uint16_t control;

    __asm__ volatile("fnstcw %0\n\tfninit\n\tfldcw %0" : "=m"(control));
}
#elif defined(__aarch64__)
enum { WEFT__MACHINE_LEAVES = true };

static inline uintptr_t weft__machine_pc(const ucontext_t *u) { return u->uc_mcontext.pc; }
static inline uintptr_t weft__machine_sp(const ucontext_t *u) { return u->uc_mcontext.sp; }
static inline uintptr_t weft__machine_argument(const ucontext_t *u) { return u->uc_mcontext.regs[0]; }

static inline void weft__machine_put(ucontext_t *u, uintptr_t pc, uintptr_t sp)
{
    u->uc_mcontext.pc = pc;
    u->uc_mcontext.sp = sp;
}

static inline bool weft__machine_return(ucontext_t *u, uintptr_t low, uintptr_t high)
{
    (void)low, (void)high; /* it is told by a register */
    u->uc_mcontext.pc = u->uc_mcontext.regs[30];
    return true;
}

static inline void weft__machine_go(ucontext_t *u, char *top, void (*entry)(void))
{
    u->uc_mcontext.sp = (uintptr_t)top;
    u->uc_mcontext.regs[29] = 0;
    u->uc_mcontext.regs[30] = 0; /* where it would return to: nowhere, so unwinding ends there */
    u->uc_mcontext.pc = (uintptr_t)entry;
}

static inline void weft__machine_clean(void) {}
#else
enum { WEFT__MACHINE_LEAVES = false };

static inline uintptr_t weft__machine_pc(const ucontext_t *u) { return (void)u, 0; }
static inline uintptr_t weft__machine_sp(const ucontext_t *u) { return (void)u, 0; }
static inline uintptr_t weft__machine_argument(const ucontext_t *u) { return (void)u, 0; }
static inline void      weft__machine_put(ucontext_t *u, uintptr_t pc, uintptr_t sp)
{
    (void)u, (void)pc, (void)sp;
}
static inline bool weft__machine_return(ucontext_t *u, uintptr_t low, uintptr_t high)
{
    return (void)u, (void)low, (void)high, false;
}
static inline void weft__machine_go(ucontext_t *u, char *top, void (*entry)(void))
{
    (void)u, (void)top, (void)entry;
}
static inline void weft__machine_clean(void) {}
#endif

#endif
