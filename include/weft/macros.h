/* weft/macros.h - what the macros of weft.h are made of. Included by weft.h; nothing here is for you.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Every public macro is one expression, evaluates each argument once and calls one exported function.
 * Argument lists are counted by hand, to 16, because __VA_OPT__ is not C11 and an empty `...` is refused
 * by -Wpedantic; hence the trailing 0 in each count.
 */
#ifndef WEFT_MACROS_H
#define WEFT_MACROS_H

/* Who does not use the result loses it. */
#define WEFT__USED __attribute__((warn_unused_result))

#define WEFT__JOIN(a, b) WEFT__JOIN_(a, b)
#define WEFT__JOIN_(a, b) a##b
#define WEFT__COUNT(...) \
    WEFT__COUNT_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define WEFT__COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, count, ...) count
/* ONE for one argument, MORE for two to sixteen */
#define WEFT__ONE_OR_MORE(...)                                                                              \
    WEFT__COUNT_(__VA_ARGS__, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, \
                 MORE, MORE, ONE, 0)

/* ---- declaring a message type --------------------------------------------------------------------- */

/* The tag tells types apart in a `switch`: from the line, the length of the name and the size of the body.
 * It is a label for people's code only; the runtime matches by identity (name and size). */
#define WEFT__TAG(T, size) ((int)(__LINE__ % 4096 + sizeof #T % 64 * 4096 + (size) % 4096 * 262144))
#define WEFT__TYPE(T, size, destroy)   \
    enum { T = WEFT__TAG(T, size) };   \
    __attribute__((unused)) static weft_type weft_type_##T = {#T, size, T, 0, destroy}

/* Weft's own types: labels below 4096, which no other type has, and which are the same in every version. */
#define WEFT__OWN_WILDCARD(T, label)                   \
    typedef struct weft_nothing *weft_body_##T;        \
    enum { T = label };                                \
    __attribute__((unused)) static weft_type weft_type_##T = {#T, (size_t)-1, T, 0, NULL}
#define WEFT__OWN_MESSAGE(T, label, ...)               \
    typedef __VA_ARGS__ weft_body_##T;                 \
    enum { T = label };                                \
    __attribute__((unused)) static weft_type weft_type_##T = {#T, sizeof(weft_body_##T), T, 0, NULL}

/* ---- a type and a body: `INCR, .by = 2` becomes `&weft_type_INCR, &(weft_body_INCR){.by = 2}` ----- */

#define WEFT__TYPED(...) WEFT__JOIN(WEFT__TYPED_, WEFT__ONE_OR_MORE(__VA_ARGS__))(__VA_ARGS__)
#define WEFT__TYPED_ONE(T) &weft_type_##T, WEFT__ZERO(weft_body_##T)
#define WEFT__TYPED_MORE(T, ...) &weft_type_##T, WEFT__LITERAL(weft_body_##T, __VA_ARGS__)

/* ---- an argument and options: `&x, .name = "n"` becomes `&x, &(weft_options){.name = "n"}, size` --- */

#define WEFT__OPTIONS(S, ...) WEFT__JOIN(WEFT__OPTIONS_, WEFT__ONE_OR_MORE(__VA_ARGS__))(S, __VA_ARGS__)
#define WEFT__OPTIONS_ONE(S, arg) arg, NULL, 0
#define WEFT__OPTIONS_MORE(S, arg, ...) arg, WEFT__LITERAL(S, __VA_ARGS__), sizeof(S)

/* ---- a list of types: `INCR, GET` becomes `(weft_type *const[]){&weft_type_INCR, ...}, 2` ---------- */

#define WEFT__TYPES(...) \
    WEFT__ARRAY(WEFT__COUNT(__VA_ARGS__), WEFT__JOIN(WEFT__EACH_, WEFT__COUNT(__VA_ARGS__))(__VA_ARGS__))
#define WEFT__EACH_1(T) &weft_type_##T
#define WEFT__EACH_2(T, ...) &weft_type_##T, WEFT__EACH_1(__VA_ARGS__)
#define WEFT__EACH_3(T, ...) &weft_type_##T, WEFT__EACH_2(__VA_ARGS__)
#define WEFT__EACH_4(T, ...) &weft_type_##T, WEFT__EACH_3(__VA_ARGS__)
#define WEFT__EACH_5(T, ...) &weft_type_##T, WEFT__EACH_4(__VA_ARGS__)
#define WEFT__EACH_6(T, ...) &weft_type_##T, WEFT__EACH_5(__VA_ARGS__)
#define WEFT__EACH_7(T, ...) &weft_type_##T, WEFT__EACH_6(__VA_ARGS__)
#define WEFT__EACH_8(T, ...) &weft_type_##T, WEFT__EACH_7(__VA_ARGS__)
#define WEFT__EACH_9(T, ...) &weft_type_##T, WEFT__EACH_8(__VA_ARGS__)
#define WEFT__EACH_10(T, ...) &weft_type_##T, WEFT__EACH_9(__VA_ARGS__)
#define WEFT__EACH_11(T, ...) &weft_type_##T, WEFT__EACH_10(__VA_ARGS__)
#define WEFT__EACH_12(T, ...) &weft_type_##T, WEFT__EACH_11(__VA_ARGS__)
#define WEFT__EACH_13(T, ...) &weft_type_##T, WEFT__EACH_12(__VA_ARGS__)
#define WEFT__EACH_14(T, ...) &weft_type_##T, WEFT__EACH_13(__VA_ARGS__)
#define WEFT__EACH_15(T, ...) &weft_type_##T, WEFT__EACH_14(__VA_ARGS__)
#define WEFT__EACH_16(T, ...) &weft_type_##T, WEFT__EACH_15(__VA_ARGS__)

/* ---- waiting for one type is the usual case, and has a function of its own -------------------------- */

#define WEFT__RECEIVE_ONE(T) weft_receive_type(&weft_type_##T)
#define WEFT__RECEIVE_MORE(...) weft_receive_types(WEFT_FOREVER, WEFT__TYPES(__VA_ARGS__))
#define WEFT__REACT_ONE(run, state, T) weft_react_type(run, state, &weft_type_##T)
#define WEFT__REACT_MORE(run, state, ...) weft_react_types(WEFT_FOREVER, run, state, WEFT__TYPES(__VA_ARGS__))

/* ---- where C and C++ differ ------------------------------------------------------------------------ */

#ifdef __cplusplus
/* C++ has no compound literals; a temporary lives as long, to the end of the full expression. */
#define WEFT__NORETURN [[noreturn]] void
#define WEFT__VALUE(S, v) (S{v})
#define WEFT__ZERO(S) weft__address(S{})
#define WEFT__LITERAL(S, ...) weft__address(S{__VA_ARGS__})
#define WEFT__ARRAY(n, ...) weft__list<n>{{__VA_ARGS__}}.at, n
template <class S> const S *weft__address(const S &value) { return &value; }
struct weft_type;
template <int n> struct weft__list { weft_type *at[n]; };
#else
/* Not `&(const S)`: clang then answers an unknown type with "expected ')'" instead of its name. */
#define WEFT__NORETURN _Noreturn void
#define WEFT__VALUE(S, v) ((S){v})
#define WEFT__ZERO(S) &(S){0}
#define WEFT__LITERAL(S, ...) &(S){__VA_ARGS__}
#define WEFT__ARRAY(n, ...) (weft_type *const[]){__VA_ARGS__}, n
#endif

#endif
