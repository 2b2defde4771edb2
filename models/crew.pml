/* crew.pml - all workers: the shared queue, searching, sleeping, the keeper, stopping.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Models:   sched/crew.c: put_shared, rouse, ring, take_shared, search, rest, keep, sleep_soundly, wake_the_keeper,
 *           weft__crew_next, weft__crew_stop; base/futex.h.
 * Leaves out: offers (they go through put_shared), how a queue is robbed (claim.pml), how long naps and turns are: a
 *           nap ends at any time, a worker in a long task is seen as stuck at once. What happens under the lock is one
 *           step, as all that it guards is only touched there.
 *
 * One to three workers. A foreign thread shares tasks: plain ones, one that sets a timer, and a long one that ends
 * only after another task that lies behind it, in the shared queue (LONG, RELEASE) or on its own worker (PARENT).
 *   I1: when nothing moves any more, every task has run; `served` says the same of the shared queue.
 *   I2, I3: nor is there a timer left that has not fired, or a task behind a long one while a worker sleeps.
 *   After a stop, at any time, all workers leave.
 *
 * mutant: NO_SECOND_LOOK   a worker goes to sleep without looking at the shared queue under the lock
 * mutant: BELL_LATE        the bell is reset after the look at the queue, with the lock open
 * mutant: NO_ROUSE         who shares wakes only sleepers, and not the keeper when he is the last
 * mutant: BLIND_SEARCHER   the searcher does not look again before it sleeps
 * mutant: UNTOLD_READY     a worker that makes a task ready does not wake a keeper that sleeps soundly
 * mutant: UNTOLD_TAKEN     nor does one that took several shared tasks
 * mutant: UNTOLD_SECOND    nor one that took a second, when the first has not run yet
 * mutant: UNTOLD_TIMER     a worker that set a timer falls asleep without telling such a keeper
 * mutant: NO_SUCCESSOR     the keeper gets up, and the others sleep on
 * mutant: QUIET_STOP       stopping rings nobody
 */
#define WORKERS 3 /* or two; or one, where no keeper's nap heals what was missed */
#define NONE 255

mtype = { PLAIN, TIMED, LONG, RELEASE, PARENT };
mtype = { NEVER, TIMER, NAP };

chan shared = [3] of { mtype };
chan own[WORKERS] = [3] of { mtype };

bool  searching, naps, stopping;
byte  workers, idle, keeper = NONE;
mtype keeper_wakes = NEVER;
bool  asleep[WORKERS], bell[WORKERS], in_futex[WORKERS], in_long[WORKERS];
bool  timer, due; /* one is set; its time has come */
byte  made, done; /* tasks */
bool  released;

#define UNWATCHED (keeper != NONE && !naps && workers > 1)

ltl served { [] (len(shared) > 0 -> <> (len(shared) == 0 || stopping)) }

/* ---- under the lock: parts of atomic steps ---- */

inline pop_sleeper(who)
{
    who = 0;
    do
    :: who == workers -> who = NONE; break
    :: who < workers && asleep[who] -> asleep[who] = false; idle--; break
    :: else -> who++
    od
}

inline rouse(who)
{
    if
    :: searching -> who = NONE
    :: else ->
        pop_sleeper(who);
#ifndef NO_ROUSE
        if
        :: who == NONE -> who = keeper
        :: else
        fi
#endif
    fi
}

inline fall_asleep_as_keeper()
{
    naps = idle < workers;
    if
    :: naps -> keeper_wakes = NAP
    :: !naps && timer -> keeper_wakes = TIMER
    :: else -> keeper_wakes = NEVER
    fi
}

/* ---- with the lock open ---- */

inline ring(who)
{
    if
    :: who != NONE -> atomic { bell[who] = true; in_futex[who] = false; who = NONE }
    :: else
    fi
}

/* To be rung then, `other`. */
inline tell_the_keeper()
{
    if
    :: UNWATCHED -> other = keeper; naps = true
    :: else
    fi
}

inline futex_wait(may_end)
{
#ifdef BELL_LATE
    bell[me] = false;
#endif
    atomic {
        if
        :: !bell[me] -> in_futex[me] = true
        :: else
        fi
    }
    atomic {
        if
        :: !in_futex[me]
        :: in_futex[me] && may_end -> in_futex[me] = false
        fi
    }
}

/* ---- a worker ---- */

#ifdef UNTOLD_TAKEN
#define MUST_WATCH false
#else
#ifdef UNTOLD_SECOND
#define MUST_WATCH (n > 1)
#else
#define MUST_WATCH (len(own[me]) > 1)
#endif
#endif

inline take_shared()
{
    atomic {
        n = 0;
        if
        :: len(shared) > 0 ->
            n = len(shared) / workers + 1;
            if
            :: n > len(shared) -> n = len(shared)
            :: else
            fi;
            fair = n;
            do
            :: fair -> shared?t; own[me]!t; fair--
            :: else -> break
            od;
            if
            :: len(shared) > 0 -> rouse(other)
            :: else
            fi;
            if
            :: MUST_WATCH && other == NONE -> tell_the_keeper()
            :: else
            fi
        :: else
        fi
    }
    ring(other)
}

inline poll_timers()
{
    if
    :: due -> timer = false; due = false; own[me]!PLAIN
    :: else
    fi
}

inline rob_the_stuck()
{
    do
    :: in_long[0] && len(own[0]) > 0 -> own[0]?t; own[me]!t
    :: in_long[1] && len(own[1]) > 0 -> own[1]?t; own[me]!t
    :: in_long[2] && len(own[2]) > 0 -> own[2]?t; own[me]!t
    :: else -> break
    od
}

inline run_task()
{
    atomic {
        if
        :: own[me]?t
        :: len(own[me]) == 0 -> goto robbed
        fi;
        if
        :: t == PLAIN
        :: t == RELEASE -> released = true
        :: t == TIMED -> timer = true; made++ /* and a task when it fires */
        :: t == LONG -> in_long[me] = true
        :: t == PARENT ->
            own[me]!RELEASE;
            made++;
            in_long[me] = true;
#ifndef UNTOLD_READY
            tell_the_keeper()
#endif
        fi
    }
    ring(other);
    atomic {
        !in_long[me] || released || stopping;
        in_long[me] = false;
        done++
    }
robbed:
    skip
}

inline sleep_soundly()
{
    do
    ::
        futex_wait(false);
        atomic {
            bell[me] = false;
            if
            :: asleep[me] && !stopping
            :: else -> break
            fi
        }
    od
}

inline keep()
{
    do
    ::
        futex_wait((keeper_wakes == NAP || (keeper_wakes == TIMER && due)));
        atomic { bell[me] = false; poll_timers(); rob_the_stuck() }
        atomic {
            if
            :: len(own[me]) > 0 || len(shared) > 0 || stopping ->
                keeper = NONE;
                naps = false;
                idle--;
#ifndef NO_SUCCESSOR
                pop_sleeper(other);
#endif
                break
            :: else -> fall_asleep_as_keeper()
            fi
        }
    od;
    ring(other)
}

#ifdef NO_SECOND_LOOK
#define NOTHING_SHARED true
#else
#ifdef BLIND_SEARCHER
#define NOTHING_SHARED (searched || len(shared) == 0)
#else
#define NOTHING_SHARED len(shared) == 0
#endif
#endif

inline rest()
{
    atomic {
        if
        :: NOTHING_SHARED && !stopping ->
            idle++;
            if
            :: keeper != NONE ->
                asleep[me] = true;
#ifndef UNTOLD_TIMER
                if
                :: timer && keeper_wakes == NEVER -> other = keeper
                :: else
                fi;
#endif
                goto sleeps
            :: else -> keeper = me; fall_asleep_as_keeper(); goto keeps
            fi
        :: else -> goto rested
        fi
    }
sleeps:
    ring(other);
    sleep_soundly();
    goto rested;
keeps:
    keep();
rested:
    skip
}

/* Only one at a time. That its time is over, or that there is something: both are looked at afterwards. */
inline search()
{
    atomic { searched = !searching; searching = true }
    atomic {
        if
        :: searched -> searching = false
        :: else
        fi
    }
}

proctype worker(byte me)
{
    mtype t;
    byte  n, fair, other = NONE;
    bool  searched;

    do
    :: stopping -> break
    :: !stopping && len(own[me]) > 0 ->
        if
        :: take_shared() /* now and then before its own work */
        :: skip
        fi;
        run_task()
    :: !stopping && len(own[me]) == 0 ->
        atomic {
            poll_timers();
            if
            :: len(own[me]) > 0 -> tell_the_keeper()
            :: else
            fi
        }
        ring(other);
        if
        :: search()
        :: skip
        fi;
#ifdef BLIND_SEARCHER
        if
        :: !searched -> take_shared()
        :: else -> n = 0
        fi;
#else
        take_shared();
#endif
        if
        :: n == 0 && len(own[me]) == 0 -> rest()
        :: else
        fi;
        atomic { searched = false; n = 0; t = 0 }
    od
}

active proctype foreign()
{
    chan  todo = [3] of { mtype };
    mtype task;
    byte  other = NONE, i;
    bool  early;

    atomic {
        run worker(0);
        if
        :: workers = 1; todo!TIMED; todo!PLAIN
        :: workers = 2; run worker(1);
            if
            :: todo!PLAIN; todo!LONG; todo!RELEASE
            :: todo!PLAIN; todo!PARENT
            :: todo!TIMED; todo!PARENT
            :: todo!TIMED
            :: todo!PLAIN; early = true
            fi
        :: workers = 3; run worker(1); run worker(2); todo!LONG; todo!RELEASE
        fi
    }
    do
    :: todo?task ->
        atomic { shared!task; made++; rouse(other) } /* weft__crew_share */
        ring(other)
    :: len(todo) == 0 -> break
    od;
    if
    :: early -> skip
    :: else -> timeout -> assert(done == made && !timer)
    fi;
    stopping = true; /* under the lock */
#ifndef QUIET_STOP
    do
    :: i == workers -> break
    :: else -> other = i; ring(other); i++
    od
#endif
}

active proctype clock()
{
end:
    do
    :: timer && !due -> due = true
    od
}
