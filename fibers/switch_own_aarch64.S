/* switch_own_aarch64.S - switch.h for arm64, whole: nothing is called between a parking actor and the next.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the layout of a saved context.
 * Knows not: actors, workers, who owns a stack; sanitizers, which need switch_portable.c.
 *
 * A context is the stack pointer of a stack that was left:
 *
 *   sp -> x29 x30  x19 x20  x21 x22  x23 x24  x25 x26  x27 x28  d8 ... d15  fpcr  -
 *         0        16       32       48       64       80       96          160   168
 *
 * It has the same shape on each stack, so that the CFI stays true while sp moves from one to the other. The
 * end is a br: a ret would be predicted to go back to the caller on the old stack. br to a place without a
 * landing pad is why this object does not claim BTI.
 *
 * In all of them x2 is `pass`, from entry to the end. While C code runs on the new stack it waits in x19,
 * which is free there: the x19 of that stack is still in its frame.
 */
#define FRAME     176
#define STACK_TOP 16 /* offsetof(struct weft__stack, top) */

    .macro  function name
    .globl  \name
    .hidden \name
    .type   \name, %function
    .p2align 4
\name:
    .cfi_startproc
    .endm

    .macro  end_function name
    .cfi_endproc
    .size   \name, . - \name
    .endm

/* The same frame as `save` makes, for code that starts on a stack where it lies. */
    .macro  frame_is_here
    .cfi_def_cfa_offset FRAME
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    .cfi_rel_offset x19, 16
    .cfi_rel_offset x20, 24
    .cfi_rel_offset x21, 32
    .cfi_rel_offset x22, 40
    .cfi_rel_offset x23, 48
    .cfi_rel_offset x24, 56
    .cfi_rel_offset x25, 64
    .cfi_rel_offset x26, 72
    .cfi_rel_offset x27, 80
    .cfi_rel_offset x28, 88
    .cfi_rel_offset d8, 96
    .cfi_rel_offset d9, 104
    .cfi_rel_offset d10, 112
    .cfi_rel_offset d11, 120
    .cfi_rel_offset d12, 128
    .cfi_rel_offset d13, 136
    .cfi_rel_offset d14, 144
    .cfi_rel_offset d15, 152
    .endm

/* Until all are stored, the registers still hold what the frame will: the CFI may wait for the end. */
    .macro  save to
    sub     sp, sp, #FRAME
    .cfi_def_cfa_offset FRAME
    stp     x29, x30, [sp]
    stp     x19, x20, [sp, #16]
    stp     x21, x22, [sp, #32]
    stp     x23, x24, [sp, #48]
    stp     x25, x26, [sp, #64]
    stp     x27, x28, [sp, #80]
    stp     d8, d9, [sp, #96]
    stp     d10, d11, [sp, #112]
    stp     d12, d13, [sp, #128]
    stp     d14, d15, [sp, #144]
    mrs     x9, fpcr
    str     x9, [sp, #160]
    frame_is_here
    mov     x10, sp
    str     x10, [\to]                  /* --- the old stack is complete --- */
    .endm

/* Goes on from the frame at sp, returning x2. Writing fpcr is slow, and it seldom differs. */
    .macro  resume
    mrs     x9, fpcr
    ldr     x10, [sp, #160]
    mov     x0, x2
    cmp     x9, x10
    b.eq    9f
    msr     fpcr, x10
9:  ldp     d14, d15, [sp, #144]
    ldp     d12, d13, [sp, #128]
    ldp     d10, d11, [sp, #112]
    ldp     d8, d9, [sp, #96]
    ldp     x27, x28, [sp, #80]
    ldp     x25, x26, [sp, #64]
    ldp     x23, x24, [sp, #48]
    ldp     x21, x22, [sp, #32]
    ldp     x19, x20, [sp, #16]
    ldp     x29, x30, [sp], #FRAME
    .cfi_remember_state
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    .cfi_restore x19
    .cfi_restore x20
    .cfi_restore x21
    .cfi_restore x22
    .cfi_restore x23
    .cfi_restore x24
    .cfi_restore x25
    .cfi_restore x26
    .cfi_restore x27
    .cfi_restore x28
    .cfi_restore d8
    .cfi_restore d9
    .cfi_restore d10
    .cfi_restore d11
    .cfi_restore d12
    .cfi_restore d13
    .cfi_restore d14
    .cfi_restore d15
    br      x30
    .cfi_restore_state
    .endm

    .text

/* void *weft__switch_away(void **save, void *to, void *pass, void (*then)(void *with), void *with) */
function weft__switch_away
    save    x0
    mov     sp, x1                      /* --- from here on, the new one --- */
    cbnz    x3, 1f
    resume
1:  mov     x19, x2
    mov     x0, x4
    blr     x3
    mov     x2, x19
    resume
end_function weft__switch_away

/* void *weft__switch_park(void **save, void *to, void *pass, _Atomic uint64_t *word, uint64_t parked)
 * stlxr is the release: whoever takes the word away sees the stack complete. */
function weft__switch_park
    save    x0
    mov     sp, x1                      /* --- from here on, the new one --- */
1:  ldxr    x9, [x3]
    cbnz    x9, 2f
    stlxr   w10, x4, [x3]
    cbnz    w10, 1b
    resume
2:  clrex
    mov     x19, x2
    mov     x0, x3
    bl      weft__switch_refused
    mov     x2, x19
    resume
end_function weft__switch_park

/* _Noreturn void weft__switch_leave(void *to, void *pass) */
function weft__switch_leave
    mov     x2, x1
    mov     sp, x0                      /* --- from here on, the new one --- */
    frame_is_here
    resume
end_function weft__switch_leave

/* void *weft__switch_return(void *pass) */
function weft__switch_return
    br      x30
end_function weft__switch_return

/* void *weft__switch_fresh(struct weft__stack *s, void (*entry)(void))
 * entry waits in x19. x29 is 0: there ends the chain of frame pointers. The other registers of a fresh
 * context are whatever lies there: nobody reads them. */
function weft__switch_fresh
    ldr     x9, [x0, #STACK_TOP]
    sub     x0, x9, #FRAME
    adr     x9, begin
    stp     xzr, x9, [x0]
    str     x1, [x0, #16]
    mrs     x9, fpcr
    str     x9, [x0, #160]
    ret
end_function weft__switch_fresh

/* The outermost frame: it has no caller, and unwinders stop here. They look up the byte before a return
 * address; the nop makes that byte ours while begin is still only an address on the stack. */
    .type   switch_begin, %function
    .p2align 4
switch_begin:
    .cfi_startproc
    .cfi_undefined x30
    nop
begin:
    blr     x19
    brk     #0
    .cfi_endproc
    .size   switch_begin, . - switch_begin

/* const char *weft__switch_name(void) */
function weft__switch_name
    adrp    x0, own
    add     x0, x0, :lo12:own
    ret
end_function weft__switch_name

    .section .rodata
own:
    .asciz  "own"

    .section .note.GNU-stack, "", %progbits
