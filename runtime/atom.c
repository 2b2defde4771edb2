/* atom.c - see weft/atom.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * An atom is a 1 and then six bits a character, the first on top: so the length is where the 1 is, and 0 is none.
 */
#include <string.h>
#include <weft/atom.h>

static const char letters[] = " _0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

weft_atom weft_atom_from(const char *text)
{
    weft_atom atom = 1;

    if (!text || !*text)
        return 0;
    for (size_t i = 0; text[i]; i++) {
        const char *at = strchr(letters, text[i]);
        if (i == WEFT_ATOM_MAX || !at)
            return 0;
        atom = atom << 6 | (weft_atom)(at - letters);
    }
    return atom;
}

/* How many characters; 0: it is no atom. */
static unsigned length_of(weft_atom atom)
{
    unsigned bits = atom ? 63 - (unsigned)__builtin_clzll(atom) : 0;

    return bits % 6 == 0 ? bits / 6 : 0;
}

char *weft_atom_text(weft_atom atom, char room[WEFT_ATOM_MAX + 1])
{
    unsigned n = length_of(atom);

    room[n] = 0;
    for (; n > 0; atom >>= 6)
        room[--n] = letters[atom & 63];
    return room;
}
