/* claim.pml - the lock that costs its owner no fence: a worker's own queues, and who robs them.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Models:   sched/worker.h: weft__worker_enter, weft__worker_leave, a push; sched/worker.c: weft__worker_step_out,
 *           weft__worker_rob.
 * Leaves out: what the queues look like: `queue` is how many tasks there are.
 *
 * The owner's stores go through a buffer, first in first out, as on x86: each reaches memory some time later, and its
 * own loads look there first. So its store to `inside` may come after its load of `claimed`. The membarrier empties
 * the buffer (I1). Thieves hold a mutex and make a system call, so their stores are seen at once. Weaker machines are
 * left out: there, the argument of I1 is the same, but ThreadSanitizer and arm64 have to do.
 *   I2 at BOTH: never the owner and a thief, or two thieves, at the queues.  I3: the mutex.
 *   In the end each task that was pushed was taken, or is there.
 *
 * mutant: NO_MEMBARRIER    the thief does not wait for the owner's store
 * mutant: OWNER_BLIND      the owner does not look at `claimed`
 * mutant: THIEF_HASTY      the thief does not wait until the owner is not inside
 * mutant: STEP_OUT_ONCE    an owner that stepped out does not look at `claimed` again
 * mutant: NO_MUTEX         two thieves at once: the first to go takes the claim away
 * mutant: LEAVE_EARLY      the owner leaves, then writes to its queue
 */
#define PUSHES 2
#define THIEVES 2

mtype = { INSIDE, QUEUE };

chan buffer = [4] of { mtype, byte }; /* the owner's stores that memory has not seen */
byte inside, claimed, queue;          /* memory */
bool mutex;
byte pushed, taken, at_queue; /* at_queue: who works there, really */

inline drain_one()
{
    d_step {
        buffer?what, value;
        if
        :: what == INSIDE -> inside = value
        :: else -> queue = value
        fi;
        what = 0;
        value = 0
    }
}

inline arrive() { atomic { assert(at_queue == 0); at_queue++ } } /* BOTH */
inline go_away() { at_queue-- }

active proctype memory()
{
    mtype what;
    byte  value;

end:
    do
    :: nempty(buffer) -> atomic { nempty(buffer) -> drain_one() }
    od
}

/* What the owner itself reads from its queue: its last store, if memory does not have that yet. */
inline load_queue(n)
{
    atomic {
        n = queue;
        if
        :: buffer??[QUEUE, 1] -> n = 1
        :: buffer??[QUEUE, 2] -> n = 2
        :: else
        fi
    }
}

active proctype owner()
{
    byte n;

    do
    :: pushed == PUSHES -> break
    :: else ->
        buffer!INSIDE, 1;
#ifndef OWNER_BLIND
        do
        :: !claimed -> break
        :: claimed ->
            buffer!INSIDE, 0; /* step out */
            atomic { !mutex && empty(buffer) -> mutex = true } /* a mutex is a fence */
            mutex = false;
            buffer!INSIDE, 1;
#ifdef STEP_OUT_ONCE
            break
#endif
        od;
#endif
        arrive();
        load_queue(n);
#ifdef LEAVE_EARLY
        go_away();
        buffer!INSIDE, 0;
        buffer!QUEUE, n + 1;
#else
        buffer!QUEUE, n + 1;
        go_away();
        buffer!INSIDE, 0;
#endif
        d_step { pushed++; n = 0 }
    od
}

active [THIEVES] proctype thief()
{
    byte n;

#ifndef NO_MUTEX
    atomic { !mutex -> mutex = true }
#endif
    claimed = 1;
#ifndef NO_MEMBARRIER
    empty(buffer);
#endif
#ifndef THIEF_HASTY
    !inside;
#endif
    arrive();
    n = queue;
    queue = 0;
    taken = taken + n;
    go_away();
    claimed = 0;
#ifndef NO_MUTEX
    mutex = false
#endif
}

active proctype last_look()
{
end:
    timeout;
    assert(pushed == PUSHES && taken + queue == pushed)
}
