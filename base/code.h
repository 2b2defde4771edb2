/* code.h - private to weft. Whether code is Weft's own, also where Weft is linked into the program.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Owns:      nothing: each file tells where its code is (mark.h).
 * Knows not: who else's it could be.
 */
#ifndef WEFT__CODE_H
#define WEFT__CODE_H

#include <stdbool.h>
#include <stdint.h>

bool weft__code_is_ours(uintptr_t pc);
/* False: it was compiled in a way that this file knows nothing of (-flto, -ffunction-sections), and nobody can tell. */
bool weft__code_is_known(void);

#endif
