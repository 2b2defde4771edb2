/* mark.h - private to weft. Marks the code of a file as Weft's own: included before all else in each (Makefile).
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      the section weft_code: two pairs of addresses a file, where its code begins and ends, that which is seldom
 *            run apart. Each is told by how far it is from the place that tells it.
 * Knows not: who asks (code.h).
 *
 * An assembler puts the numbered parts of a section in the order of their numbers, whatever comes first in the file; so
 * a label in the last part, which is empty, is at the end. What a compiler is told outside of functions comes first.
 *
 * A linker that drops what no symbol refers to (lld does) is told to keep it, where the assembler knows the word for that:
 * gas since 2.36, clang's since 13.
 */
/* clang-format off */
#ifdef __ASSEMBLER__
        .pushsection .text, 0
771:
        .popsection
        .pushsection .text, 8191
772:
        .popsection
#ifdef __clang__
        .pushsection weft_code, "aR"
#else
        .if .gasversion. >= 23600
        .pushsection weft_code, "aR"
        .else
        .pushsection weft_code, "a"
        .endif
#endif
        .balign 4
        .long   771b - ., 772b - .
        .popsection
        .text
#else
#if __has_attribute(retain)
#define WEFT__KEPT "aR"
#else
#define WEFT__KEPT "a"
#endif
__asm__(".pushsection .text, 0\n771:\n\t.popsection\n\t"
        ".pushsection .text, 8191\n772:\n\t.popsection\n\t"
        ".pushsection .text.unlikely, 0, \"ax\", %progbits\n773:\n\t.popsection\n\t"
        ".pushsection .text.unlikely, 8191\n774:\n\t.popsection\n\t"
        ".pushsection weft_code, \"" WEFT__KEPT "\"\n\t.balign 4\n\t"
        ".long 771b - ., 772b - ., 773b - ., 774b - .\n\t.popsection");
#endif
