/* raw_x86_64.S - raw.h for x86-64, System V ABI.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the layout of a saved context.
 * Knows not: anything but registers.
 *
 * A context is the stack pointer of a stack that was left:
 *
 *   rsp -> [ mxcsr | x87 cw ] r15 r14 r13 r12 rbx rbp [ return address ]
 *            0       4        8   16  24  32  40  48    56
 *
 * It has the same shape on each stack, so that the CFI stays true while rsp moves from one to the other.
 * The end is a jmp: a ret would be predicted to go back to the caller on the old stack.
 */
    .text

/* void weft__raw_jump(void **save, void *to) */
    .globl  weft__raw_jump
    .hidden weft__raw_jump
    .type   weft__raw_jump, @function
    .p2align 4
weft__raw_jump:
    .cfi_startproc
    pushq   %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    pushq   %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbx, 0
    pushq   %r12
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r12, 0
    pushq   %r13
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r13, 0
    pushq   %r14
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r14, 0
    pushq   %r15
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r15, 0
    subq    $8, %rsp
    .cfi_adjust_cfa_offset 8
    stmxcsr (%rsp)
    fnstcw  4(%rsp)

    movq    %rsp, (%rdi)                /* --- the old stack is complete --- */
    movq    %rsi, %rsp                  /* --- from here on, the new one --- */

    ldmxcsr (%rsp)
    fldcw   4(%rsp)
    addq    $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq    %r15
    .cfi_adjust_cfa_offset -8
    .cfi_restore %r15
    popq    %r14
    .cfi_adjust_cfa_offset -8
    .cfi_restore %r14
    popq    %r13
    .cfi_adjust_cfa_offset -8
    .cfi_restore %r13
    popq    %r12
    .cfi_adjust_cfa_offset -8
    .cfi_restore %r12
    popq    %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbx
    popq    %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbp
    popq    %rcx
    .cfi_adjust_cfa_offset -8
    .cfi_register %rip, %rcx
    jmp     *%rcx
    .cfi_endproc
    .size   weft__raw_jump, . - weft__raw_jump

/* void *weft__raw_fresh(char *low, char *top, void (*entry)(void))
 * entry waits in rbx. rbp is 0: there ends the chain of frame pointers. */
    .globl  weft__raw_fresh
    .hidden weft__raw_fresh
    .type   weft__raw_fresh, @function
    .p2align 4
weft__raw_fresh:
    .cfi_startproc
    leaq    -64(%rsi), %rax
    stmxcsr (%rax)
    fnstcw  4(%rax)
    xorl    %ecx, %ecx
    movq    %rcx, 8(%rax)
    movq    %rcx, 16(%rax)
    movq    %rcx, 24(%rax)
    movq    %rcx, 32(%rax)
    movq    %rdx, 40(%rax)
    movq    %rcx, 48(%rax)
    leaq    begin(%rip), %rcx
    movq    %rcx, 56(%rax)
    ret
    .cfi_endproc
    .size   weft__raw_fresh, . - weft__raw_fresh

/* The outermost frame: it has no caller, and unwinders stop here. They look up the byte before a return
 * address; the nop makes that byte ours while begin is still only an address on the stack. */
    .type   raw_begin, @function
    .p2align 4
raw_begin:
    .cfi_startproc
    .cfi_undefined %rip
    nop
begin:
    call    *%rbx
    ud2
    .cfi_endproc
    .size   raw_begin, . - raw_begin

    .section .rodata
    .globl  weft__raw_name
    .hidden weft__raw_name
    .type   weft__raw_name, @object
weft__raw_name:
    .asciz  "own"
    .size   weft__raw_name, . - weft__raw_name

    .section .note.GNU-stack, "", @progbits
