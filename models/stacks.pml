/* stacks.pml - free stacks: a thread's cache, warm in the pool, cold in the pool.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Models:   fibers/stack.c: weft__stack_get, weft__stack_put, refill, spill, the pool, cool; runtime/loop.c: an actor
 *           that blocks and keeps its stack, weft__loop_end, which puts back the stack that it is on.
 * Leaves out: classes, carving, guards, flush. Batches are of one stack.
 *
 * Two threads, each on a spare stack. Actors block, go on in any thread, and end; somebody cools what is warm.
 *   At TAKEN: nobody is on a stack that is taken, but its last user on the way off, if that is the one who takes it.
 *   At PAGES: nobody is on a stack whose pages are given back, nor has it an owner.
 *
 * mutant: NEWEST_SPILLS   a full cache gives the newest to the pool
 * mutant: COLD_TOO_EARLY  a stack is listed as cold before its pages are given back
 * mutant: WARM_STAYS      a warm stack that cools may still be taken as warm
 */
#define STACKS 4
#define TURNS 3 /* of each thread */
#define NONE 255

byte on[STACKS];    /* who is on it: the thread's number, from 1 */
bool owned[STACKS]; /* somebody was given it */
chan warm = [STACKS] of { byte };
chan cold = [STACKS] of { byte };
chan ready = [STACKS] of { byte }; /* of actors that can go on */

/* One stack is kept in the cache; the one before it goes. */
inline put(s)
{
    owned[s] = false;
#ifdef NEWEST_SPILLS
    if
    :: newest != NONE -> warm!s
    :: else -> newest = s
    fi
#else
    if
    :: newest != NONE -> warm!newest
    :: else
    fi;
    newest = s
#endif
}

inline get(s)
{
    atomic {
        if
        :: newest != NONE -> s = newest; newest = NONE
        :: newest == NONE && len(warm) > 0 -> warm?s
        :: newest == NONE && len(warm) == 0 && len(cold) > 0 -> cold?s
        :: else -> goto none
        fi;
        assert((on[s] == 0 || on[s] == me) && !owned[s]); /* TAKEN */
        owned[s] = true
    }
}

proctype thread(byte me; byte spare)
{
    byte newest = NONE, other = NONE, turns;

    do
    :: turns == TURNS -> break
    :: turns < TURNS -> /* an actor blocks: it keeps the stack, and the loop goes on with another */
        get(other);
        on[spare] = 0; /* one step behind: the switch */
        atomic { on[other] = me; ready!spare; spare = other; other = NONE }
none:   turns++
    :: turns < TURNS && len(ready) > 0 -> /* one goes on, and ends: weft__loop_end */
        atomic {
            if
            :: ready?other -> on[spare] = 0; assert(on[other] == 0); on[other] = me
            :: len(ready) == 0 -> goto none
            fi
        }
        put(other);
        atomic { on[other] = 0; on[spare] = me; other = NONE; turns++ }
    od
}

active proctype cooler()
{
    byte s;

end:
    do
    :: atomic { len(warm) > 0 ->
#ifdef WARM_STAYS
            warm?<s>
#else
            warm?s
#endif
        }
#ifdef COLD_TOO_EARLY
        cold!s;
        assert(on[s] == 0 && !owned[s]) /* PAGES */
#else
        assert(on[s] == 0 && !owned[s]); /* PAGES */
#ifdef WARM_STAYS
        warm??eval(s);
#endif
        cold!s
#endif
    od
}

init
{
    atomic {
        on[0] = 1;
        on[1] = 2;
        owned[0] = true;
        owned[1] = true;
        cold!2;
        cold!3;
        run thread(1, 0);
        run thread(2, 1)
    }
}
