/* census.h - whether each message and control block that was ever made is free again.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * A leak checker does not see them: they lie in slabs that stay.
 */
#ifndef CENSUS_H
#define CENSUS_H

#include <stddef.h>

/* Before anything else. */
void census_begin(void);
/* How many are not free; when no other thread that met weft is left. The caller's thread is no actor afterwards. */
size_t census_messages_lost(void);
size_t census_actors_lost(void);

#endif
