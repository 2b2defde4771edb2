/* cells.pml - cells go from thread to thread in magazines, through the depot.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Models:   base/cells.h: weft__cells_get, weft__cells_put; base/cells.c: all of it. Links and counts as there;
 *           magazines of two cells.
 * Leaves out: memory orders: the lock has them (I3).
 *
 * Two threads take and give; what one took the other may give back. Both leave in the end, and then all cells that
 * are not used are in the depot.
 *   I1 at TAKEN: what is taken was free.  I2 at FULL: a magazine is two cells long.
 *
 * mutant: NO_LOCK       the depot is used without its lock
 * mutant: WRONG_COUNT   a refill forgets the cell that it hands out
 * mutant: FLUSH_KEEPS   a thread that leaves keeps its spare magazine
 */
#define MAGAZINE 2
#define CELLS 4
#define THREADS 2
#define TURNS 5 /* of each thread: takes or gives */

byte next[CELLS + 1], magazine[CELLS + 1];  /* 0 is nothing */
byte carved, magazines, loose, loose_count; /* the depot */
bool lock, used[CELLS + 1];
chan post = [CELLS] of { byte }; /* what is used: anybody may give it back */
byte left = THREADS;

inline check_full(m) /* FULL */
{
    assert(m && next[m] && next[next[m]] == 0)
}

#ifdef NO_LOCK
#define LOCK skip
#define UNLOCK skip
#else
#define LOCK atomic { !lock -> lock = true }
#define UNLOCK lock = false
#endif

inline depot_put(m)
{
    check_full(m);
    magazine[m] = magazines;
    magazines = m
}

inline take()
{
    if
    :: loaded -> d_step { c = loaded; loaded = next[c]; count-- }
    :: else -> /* weft__cells_refill */
        c = spare;
        spare = 0;
        if
        :: c == 0 ->
            LOCK;
            c = magazines;
            if
            :: c -> magazines = magazine[c]
            :: c == 0 && carved < CELLS ->
                d_step { c = carved + 1; next[c] = c + 1; next[c + 1] = 0; carved = carved + 2 }
            :: else
            fi;
            UNLOCK
        :: else
        fi;
        if
        :: c -> d_step {
                loaded = next[c];
#ifdef WRONG_COUNT
                count = MAGAZINE
#else
                count = MAGAZINE - 1
#endif
            }
        :: else /* no memory */
        fi
    fi;
    if
    :: c -> atomic { assert(!used[c]); used[c] = true; post!c } /* TAKEN */
    :: else
    fi
}

inline give()
{
    atomic { used[c] = false; next[c] = loaded; loaded = c; count++ }
    if
    :: count >= MAGAZINE -> /* weft__cells_spill */
        if
        :: spare -> LOCK; depot_put(spare); UNLOCK
        :: else
        fi;
        d_step { spare = loaded; loaded = 0; count = 0 }
    :: else
    fi
}

inline flush()
{
    LOCK;
#ifndef FLUSH_KEEPS
    if
    :: spare -> depot_put(spare)
    :: else
    fi;
#endif
    do
    :: loaded ->
        c = loaded;
        loaded = next[c];
        next[c] = loose;
        loose = c;
        loose_count++;
        if
        :: loose_count == MAGAZINE -> depot_put(c); loose = 0; loose_count = 0
        :: else
        fi
    :: else -> break
    od;
    UNLOCK
}

active [THREADS] proctype thread()
{
    byte loaded, spare, count, c, turns;

    do
    :: turns < TURNS -> take(); d_step { turns++; c = 0 }
    :: turns < TURNS && len(post) > 0 ->
        atomic {
            if
            :: post?c
            :: len(post) == 0 -> goto none
            fi
        }
        give();
none:   atomic { turns++; c = 0 }
    :: turns == TURNS -> break
    od;
    flush();
    left--
}

active proctype last_look()
{
    byte n, m, c;

    left == 0;
    d_step {
        m = magazines;
        do
        :: m -> check_full(m); n = n + MAGAZINE; m = magazine[m]
        :: else -> break
        od;
        c = loose;
        do
        :: c -> n++; c = next[c]
        :: else -> break
        od;
        assert(n + len(post) == carved)
    }
}
