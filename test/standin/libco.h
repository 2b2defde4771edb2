/* libco.h - a stand-in for libco's header: what weft uses of its interface, for the tests.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      nothing. No package carries libco; this lets fibers/raw_libco.c be compiled and run.
 */
#ifndef WEFT__STANDIN_LIBCO_H
#define WEFT__STANDIN_LIBCO_H

typedef void *cothread_t;

cothread_t co_active(void);
cothread_t co_derive(void *memory, unsigned int size, void (*entry)(void));
void       co_switch(cothread_t to);

#endif
