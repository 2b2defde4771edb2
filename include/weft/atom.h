/* weft/atom.h - atoms: words of up to ten characters that are numbers.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 *     WEFT_ATOM(add, 'a', 'd', 'd');           declares the constant `add`
 *     case WEFT_ATOM_OF('m', 'u', 'l'): ...    an integer constant expression: a case label, an initialiser
 *     weft_atom op = weft_atom_from("add");    at run time; 0 if it is no atom
 *     weft_atom_text(op, room)                 "add" again
 *
 * The characters are _ 0-9 A-Z a-z and the blank, six bits each; any other is a compile error, and so is an eleventh.
 * No two words have the same number, and the number gives back the word. 0 is no atom.
 */
#ifndef WEFT_ATOM_H
#define WEFT_ATOM_H

#include <stdint.h>
#include <stddef.h>

#include "macros.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t weft_atom;

enum { WEFT_ATOM_MAX = 10 };

/* 1 to 10 character constants. */
#define WEFT_ATOM_OF(...) WEFT__JOIN(WEFT__ATOM_, WEFT__COUNT(__VA_ARGS__))((uint64_t)1, __VA_ARGS__)
/* WEFT_ATOM(name, 'n', 'a', 'm', 'e'): the constant `name`. */
#define WEFT_ATOM(name, ...) __extension__ enum { name = WEFT_ATOM_OF(__VA_ARGS__) }

/* 0: empty, longer than ten characters, or with a character that no atom has. */
weft_atom weft_atom_from(const char *text);
/* Into `room`, with its ending 0; returns it. Of a number that is no atom: "". */
char *weft_atom_text(weft_atom atom, char room[WEFT_ATOM_MAX + 1]);

/* ---- what these are made of ------------------------------------------------------------------------- */

/* Six bits: the blank 0, _ 1, then digits, upper and lower case. A field of negative width for what is none of them:
 * its name is in the compiler's message. C++ declares no type there, so it is an array. */
#define WEFT__ATOM_IS(c, low, high) ((c) >= (low) && (c) <= (high))
#define WEFT__ATOM_FITS(c)                                                                         \
    ((c) == ' ' || (c) == '_' || WEFT__ATOM_IS(c, '0', '9') || WEFT__ATOM_IS(c, 'A', 'Z') || \
     WEFT__ATOM_IS(c, 'a', 'z'))
#define WEFT__ATOM_CODE(c)                                                                              \
    ((uint64_t)((c) == ' '                  ? 0                                                         \
                : (c) == '_'                ? 1                                                         \
                : WEFT__ATOM_IS(c, '0', '9') ? (c) - '0' + 2                                            \
                : WEFT__ATOM_IS(c, 'A', 'Z') ? (c) - 'A' + 12                                           \
                                             : (c) - 'a' + 38) +                                        \
     0 * WEFT__ATOM_CHECK(c))
#ifdef __cplusplus
#define WEFT__ATOM_CHECK(c) sizeof(char[WEFT__ATOM_FITS(c) ? 1 : -1])
#else
#define WEFT__ATOM_CHECK(c) sizeof(struct { int an_atom_has_no_such_character : WEFT__ATOM_FITS(c) ? 1 : -1; })
#endif
#define WEFT__ATOM_ADD(word, c) ((word) << 6 | WEFT__ATOM_CODE(c))
#define WEFT__ATOM_1(w, c) WEFT__ATOM_ADD(w, c)
#define WEFT__ATOM_2(w, c, ...) WEFT__ATOM_1(WEFT__ATOM_ADD(w, c), __VA_ARGS__)
#define WEFT__ATOM_3(w, c, ...) WEFT__ATOM_2(WEFT__ATOM_ADD(w, c), __VA_ARGS__)
#define WEFT__ATOM_4(w, c, ...) WEFT__ATOM_3(WEFT__ATOM_ADD(w, c), __VA_ARGS__)
#define WEFT__ATOM_5(w, c, ...) WEFT__ATOM_4(WEFT__ATOM_ADD(w, c), __VA_ARGS__)
#define WEFT__ATOM_6(w, c, ...) WEFT__ATOM_5(WEFT__ATOM_ADD(w, c), __VA_ARGS__)
#define WEFT__ATOM_7(w, c, ...) WEFT__ATOM_6(WEFT__ATOM_ADD(w, c), __VA_ARGS__)
#define WEFT__ATOM_8(w, c, ...) WEFT__ATOM_7(WEFT__ATOM_ADD(w, c), __VA_ARGS__)
#define WEFT__ATOM_9(w, c, ...) WEFT__ATOM_8(WEFT__ATOM_ADD(w, c), __VA_ARGS__)
#define WEFT__ATOM_10(w, c, ...) WEFT__ATOM_9(WEFT__ATOM_ADD(w, c), __VA_ARGS__)
#define WEFT__ATOM_11(...) an_atom_has_at_most_ten_characters
#define WEFT__ATOM_12(...) an_atom_has_at_most_ten_characters
#define WEFT__ATOM_13(...) an_atom_has_at_most_ten_characters
#define WEFT__ATOM_14(...) an_atom_has_at_most_ten_characters
#define WEFT__ATOM_15(...) an_atom_has_at_most_ten_characters
#define WEFT__ATOM_16(...) an_atom_has_at_most_ten_characters

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
