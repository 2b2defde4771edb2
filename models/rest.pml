/* rest.pml - whether a system rests for good, found while all may still move.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Models:   runtime/rest.c: look; sched/crew.c: ask, heed, rest; runtime/system.c: weft__system_rests.
 * Leaves out: how a worker or a thread sleeps and is woken (crew.pml, thread.pml); which actor it is that a worker runs;
 *           virtual time. The workers are one: it runs, or all of them sleep.
 *
 * Two threads that are actors, a thread that never called Weft, the workers, a timer: whoever is awake may wake a thread,
 * rouse the workers, set the timer or make such a stranger, a few times in all; in the end it parks, sleeps or ends.
 *   I1: what is found is true: then nobody is awake, and nothing is set that could wake anybody.
 *   No end without it: when nobody is awake, that is found.
 *
 * mutant: ONE_LOOK         threads are not looked at again
 * mutant: SAME_WORD        a thread parks by the word that it had before
 * mutant: COUNT_LAST       the kernel is asked for threads after the second look
 * mutant: COUNT_FIRST      or before the first
 * mutant: TIMERS_FIRST     timers are looked at before the threads are counted
 * mutant: NOT_ROUSED       whether the workers sleep is looked at, but not whether they were roused since
 * mutant: BLIND            neither
 * mutant: NO_RING          the last worker that falls asleep does not have the keeper ask
 * mutant: NO_AGAIN         who was in the way of an answer goes, and nobody asks again
 */
#define THREADS 2

byte deeds = 4;             /* what may still be done, by all */
byte word[THREADS] = 1;     /* 0: awake; else what it parked with */
byte parks[THREADS] = 1;
byte roused;
bool runs = true, timer, stranger, rung, found;

#define NOBODY_IS_AWAKE (word[0] && word[1] && !runs && !stranger && !timer)

/* Of whoever is awake. */
inline do_something()
{
    deeds--;
    if
    :: word[0] = 0
    :: word[1] = 0
    :: !runs -> runs = true; roused++
    :: timer = true
    :: stranger = true
    fi
}

active [THREADS] proctype thread()
{
    byte me = _pid;

end:
    do
    :: atomic { !word[me] && deeds -> do_something() }
    :: atomic {
        !word[me] ->
#ifdef SAME_WORD
        word[me] = 1
#else
        parks[me]++;
        word[me] = parks[me]
#endif
    }
    od
}

active proctype workers()
{
end:
    do
    :: atomic { runs && deeds -> do_something() }
    :: atomic {
        runs -> runs = false
#ifndef NO_RING
        ; rung = true
#endif
    }
    :: atomic { !runs && timer -> timer = false; runs = true; roused++ } /* the keeper polls */
    od
}

active proctype unknown()
{
end:
    do
    :: atomic { stranger && deeds -> do_something() }
    :: stranger -> stranger = false
    od
}

inline look_at(i)
{
    seen[i] = word[i];
    if
    :: !seen[i] -> goto perhaps
    :: else
    fi
}

inline look_again_at(i)
{
    if
#ifndef ONE_LOOK
    :: word[i] != seen[i] -> goto perhaps
#endif
    :: else
    fi
}

inline count()
{
    if
    :: stranger -> goto perhaps
    :: else
    fi
}

inline look_at_timers()
{
    if
    :: timer -> goto not /* it rouses the workers, who ask when they sleep again */
    :: else
    fi
}

active proctype keeper()
{
    byte seen[THREADS], asked_at;
    bool again;

    do
    :: found -> break
    :: else ->
        atomic { (rung || again) && !runs -> rung = false; again = false; asked_at = roused }
#ifdef COUNT_FIRST
        count();
#endif
        look_at(0);
        look_at(1);
#ifdef TIMERS_FIRST
        look_at_timers();
#endif
#ifndef COUNT_FIRST
#ifndef COUNT_LAST
        count();
#endif
#endif
#ifndef TIMERS_FIRST
        look_at_timers();
#endif
        look_again_at(0);
        look_again_at(1);
#ifdef COUNT_LAST
        count();
#endif
        atomic {
            if
#ifndef BLIND
            :: runs -> goto not
#ifndef NOT_ROUSED
            :: !runs && roused != asked_at -> goto not
#endif
#endif
            :: else
            fi;
            found = true;
            assert(NOBODY_IS_AWAKE)
        }
        goto not;
perhaps:
#ifndef NO_AGAIN
        again = true;
#endif
not:
        atomic { seen[0] = 0; seen[1] = 0; asked_at = 0 }
    od
}
