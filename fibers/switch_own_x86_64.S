/* switch_own_x86_64.S - switch.h for x86-64, in the shape that is measured to be fastest.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A context is the stack pointer of a stack that holds, from there on:
 *
 *      0    x87 control word (2 bytes), at 4 the mxcsr (4 bytes)
 *      8    r15   r14   r13   r12   rbx   rbp
 *      56   where to go on
 *
 * It ends in `pop; jmp`, not in `ret`: the return stack of the processor does not know the new stack, and would
 * mispredict. The user's frame is left by a tail call and entered by that jump; no C function stands between.
 * The control words are compared and loaded only if they differ: loading them costs more than all the rest.
 */
        .text

/* In: rsi (to). Leaves the new stack's frame at rsp. Clobbers r9, r10. The old control words are read before
 * the old stack is published, because from then on it is somebody else's. */
        .macro  save_frame
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r15, 0
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        fnstcw  (%rsp)
        stmxcsr 4(%rsp)
        movzwl  (%rsp), %r9d                    /* one load of both would wait for both stores to land */
        movl    4(%rsp), %r10d
        movq    %rsp, (%rdi)                    /* --- the old stack is complete ---------- */
        movq    %rsi, %rsp                      /* --- from here on, the new one ---------- */
        .endm

/* Control bits only: the status bits of mxcsr belong to whoever runs. */
        .macro  match_control_words
        cmpw    (%rsp), %r9w
        jne     8f
        xorl    4(%rsp), %r10d
        testl   $0xffc0, %r10d
        jne     8f
7:
        .subsection 1
8:      fldcw   (%rsp)
        ldmxcsr 4(%rsp)
        jmp     7b
        .previous
        .endm

/* In: rdx (pass). */
        .macro  go_on
        movq    %rdx, %rax
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbp
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register rip, rcx
        jmp     *%rcx
        .endm

/* void *weft__switch_park(void **save, void *to, void *pass, _Atomic uint64_t *word, uint64_t parked) */
        .globl  weft__switch_park
        .hidden weft__switch_park
        .type   weft__switch_park, @function
        .p2align 5
weft__switch_park:
        .cfi_startproc
        save_frame
        match_control_words
        xorl    %eax, %eax
        lock cmpxchgq %r8, (%rcx)               /* parked, unless a message came first */
        jne     refused
1:      go_on
        .cfi_endproc
        .size   weft__switch_park, . - weft__switch_park

refused:
        .cfi_startproc
        .cfi_def_cfa_offset 64
        subq    $16, %rsp
        .cfi_adjust_cfa_offset 16
        movq    %rdx, (%rsp)
        movq    %rcx, %rdi
        call    weft__switch_refused
        movq    (%rsp), %rdx
        addq    $16, %rsp
        .cfi_adjust_cfa_offset -16
        jmp     1b
        .cfi_endproc

/* void *weft__switch_away(void **save, void *to, void *pass, void (*then)(void *), void *with) */
        .globl  weft__switch_away
        .hidden weft__switch_away
        .type   weft__switch_away, @function
        .p2align 5
weft__switch_away:
        .cfi_startproc
        save_frame
        match_control_words
        testq   %rcx, %rcx
        je      1f
        subq    $16, %rsp
        .cfi_adjust_cfa_offset 16
        movq    %rdx, (%rsp)
        movq    %r8, %rdi
        call    *%rcx
        movq    (%rsp), %rdx
        addq    $16, %rsp
        .cfi_adjust_cfa_offset -16
1:      go_on
        .cfi_endproc
        .size   weft__switch_away, . - weft__switch_away

/* void weft__switch_leave(void *to, void *pass) */
        .globl  weft__switch_leave
        .hidden weft__switch_leave
        .type   weft__switch_leave, @function
        .p2align 4
weft__switch_leave:
        .cfi_startproc
        fnstcw  -8(%rsp)
        stmxcsr -4(%rsp)
        movzwl  -8(%rsp), %r9d
        movl    -4(%rsp), %r10d
        movq    %rsi, %rdx
        movq    %rdi, %rsp
        .cfi_def_cfa_offset 64
        match_control_words
        go_on
        .cfi_endproc
        .size   weft__switch_leave, . - weft__switch_leave

/* void *weft__switch_return(void *pass) */
        .globl  weft__switch_return
        .hidden weft__switch_return
        .type   weft__switch_return, @function
        .p2align 4
weft__switch_return:
        .cfi_startproc
        movq    %rdi, %rax
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register rip, rcx
        jmp     *%rcx
        .cfi_endproc
        .size   weft__switch_return, . - weft__switch_return

/* void *weft__switch_fresh(struct weft__stack *s, void (*entry)(void)); 16 is the offset of `top` */
        .globl  weft__switch_fresh
        .hidden weft__switch_fresh
        .type   weft__switch_fresh, @function
        .p2align 4
weft__switch_fresh:
        .cfi_startproc
        movq    16(%rdi), %rax
        leaq    first_frame(%rip), %rcx
        subq    $64, %rax
        movq    %rcx, 56(%rax)
        movq    %rsi, 32(%rax)                  /* becomes r12 */
        movabsq $0x00001f800000037f, %rcx       /* the control words a process starts with */
        movq    %rcx, (%rax)
        ret
        .cfi_endproc
        .size   weft__switch_fresh, . - weft__switch_fresh

/* The outermost frame of every stack: unwinding ends here. */
        .type   first_frame, @function
        .p2align 4
        nop                                     /* so that the return address belongs to this function */
first_frame:
        .cfi_startproc
        .cfi_undefined rip
        xorl    %ebp, %ebp
        call    *%r12
        ud2
        .cfi_endproc
        .size   first_frame, . - first_frame

/* const char *weft__switch_name(void) */
        .globl  weft__switch_name
        .hidden weft__switch_name
        .type   weft__switch_name, @function
weft__switch_name:
        .cfi_startproc
        leaq    name(%rip), %rax
        ret
        .cfi_endproc
        .size   weft__switch_name, . - weft__switch_name

        .section .rodata
name:   .string "own"
        .section .note.GNU-stack, "", @progbits
