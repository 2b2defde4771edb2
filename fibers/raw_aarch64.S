/* raw_aarch64.S - raw.h for arm64, AAPCS64.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the layout of a saved context.
 * Knows not: anything but registers.
 *
 * A context is the stack pointer of a stack that was left:
 *
 *   sp -> x29 x30  x19 x20  x21 x22  x23 x24  x25 x26  x27 x28  d8 ... d15  fpcr  -
 *         0        16       32       48       64       80       96          160   168
 *
 * It has the same shape on each stack, so that the CFI stays true while sp moves from one to the other. The
 * end is a br: a ret would be predicted to go back to the caller on the old stack. br to a place without a
 * landing pad is why this object does not claim BTI.
 */
    .text

/* void weft__raw_jump(void **save, void *to) */
    .globl  weft__raw_jump
    .hidden weft__raw_jump
    .type   weft__raw_jump, %function
    .p2align 4
weft__raw_jump:
    .cfi_startproc
    stp     x29, x30, [sp, #-176]!
    .cfi_adjust_cfa_offset 176
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    stp     x19, x20, [sp, #16]
    .cfi_rel_offset x19, 16
    .cfi_rel_offset x20, 24
    stp     x21, x22, [sp, #32]
    .cfi_rel_offset x21, 32
    .cfi_rel_offset x22, 40
    stp     x23, x24, [sp, #48]
    .cfi_rel_offset x23, 48
    .cfi_rel_offset x24, 56
    stp     x25, x26, [sp, #64]
    .cfi_rel_offset x25, 64
    .cfi_rel_offset x26, 72
    stp     x27, x28, [sp, #80]
    .cfi_rel_offset x27, 80
    .cfi_rel_offset x28, 88
    stp     d8, d9, [sp, #96]
    .cfi_rel_offset d8, 96
    .cfi_rel_offset d9, 104
    stp     d10, d11, [sp, #112]
    .cfi_rel_offset d10, 112
    .cfi_rel_offset d11, 120
    stp     d12, d13, [sp, #128]
    .cfi_rel_offset d12, 128
    .cfi_rel_offset d13, 136
    stp     d14, d15, [sp, #144]
    .cfi_rel_offset d14, 144
    .cfi_rel_offset d15, 152
    mrs     x9, fpcr
    str     x9, [sp, #160]

    mov     x10, sp
    str     x10, [x0]                   /* --- the old stack is complete --- */
    mov     sp, x1                      /* --- from here on, the new one --- */

    ldr     x10, [sp, #160]
    cmp     x9, x10                     /* writing fpcr is slow, and it seldom differs */
    b.eq    1f
    msr     fpcr, x10
1:  ldp     d14, d15, [sp, #144]
    ldp     d12, d13, [sp, #128]
    ldp     d10, d11, [sp, #112]
    ldp     d8, d9, [sp, #96]
    ldp     x27, x28, [sp, #80]
    ldp     x25, x26, [sp, #64]
    ldp     x23, x24, [sp, #48]
    ldp     x21, x22, [sp, #32]
    ldp     x19, x20, [sp, #16]
    ldp     x29, x30, [sp], #176
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
    .cfi_endproc
    .size   weft__raw_jump, . - weft__raw_jump

/* void *weft__raw_fresh(char *low, char *top, void (*entry)(void))
 * entry waits in x19. x29 is 0: there ends the chain of frame pointers. The other registers of a fresh
 * context are whatever lies there: nobody reads them. */
    .globl  weft__raw_fresh
    .hidden weft__raw_fresh
    .type   weft__raw_fresh, %function
    .p2align 4
weft__raw_fresh:
    .cfi_startproc
    sub     x0, x1, #176
    adr     x9, begin
    stp     xzr, x9, [x0]
    str     x2, [x0, #16]
    mrs     x9, fpcr
    str     x9, [x0, #160]
    ret
    .cfi_endproc
    .size   weft__raw_fresh, . - weft__raw_fresh

/* The outermost frame: it has no caller, and unwinders stop here. They look up the byte before a return
 * address; the nop makes that byte ours while begin is still only an address on the stack. */
    .type   raw_begin, %function
    .p2align 4
raw_begin:
    .cfi_startproc
    .cfi_undefined x30
    nop
begin:
    blr     x19
    brk     #0
    .cfi_endproc
    .size   raw_begin, . - raw_begin

    .section .rodata
    .globl  weft__raw_name
    .hidden weft__raw_name
    .type   weft__raw_name, %object
weft__raw_name:
    .asciz  "own"
    .size   weft__raw_name, . - weft__raw_name

    .section .note.GNU-stack, "", %progbits
