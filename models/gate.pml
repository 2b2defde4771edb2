/* gate.pml - the gate of a bounded actor: how a sender finds it, however late it is, and how the bell is rung.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Models:   runtime/bound.c: weft__bound_give, enter, put_at, ring, look, weft__bound_close, weft__bound_end;
 *           runtime/actor.c: weft__actor_new, weft__actor_end; runtime/wait.c: weft__wait_first, weft__wait_again.
 * Leaves out: limits and who waits for room, urgent messages, responses, all else in the mailbox (inbox.pml).
 *
 * Two slots. The one has a bounded actor, and then another, bounded or plain; the other has a bounded one. There is one
 * gate, so each gets the one that was used before. Two senders send to pids that they heard of some time ago, or now:
 * as soon as the block has them. The gate and a plain actor's function lie in the same place of the block.
 *   A sender locks only what is a gate, and what it puts there is for the gate's owner.
 *   The bell is in one mailbox at a time, once. Nobody is parked with something fresh in its gate.
 *   Each message is received, skipped by one who lives, or dead.
 * What `enter` reads, and what is written for it, is acquired and released: so all is seen in the order of the program,
 * as here. What is under the lock and nowhere else is done in one step.
 *
 * mutant: NO_SECOND_LOOK  the pid is not read again after the gate
 * mutant: NO_CHECK        the pid in the gate is not compared under the lock
 * mutant: GATE_LATE       the gate is published after the pid
 * mutant: FN_EARLY        a new owner writes its function, then its pid
 * mutant: END_EARLY       the gate is free before its bell is out of the mailbox
 * mutant: CLOSE_LATE      the mailbox is closed before the gate
 * mutant: CLEARED_LATE    `rung` is cleared when the look that the bell was for is over
 * mutant: NEVER_CLEARED   `rung` is not cleared
 * mutant: CLEARED_ANEW    `rung` is cleared by a look that the bell was not for
 */
#define SENDERS 2
#define FN 0 /* in the place of the gate */
#define GATE 1
#define BOUNDED 4 /* in a pid, beside the actor: 1 and 2 have slot 0, 3 has slot 1 */
#define SLOT(to) ((to) == 3 + BOUNDED -> 1 : 0)

#define EMPTY 0 /* the mailbox */
#define BELL 1
#define PARKED 2
#define CLOSED 3

byte pid_of[2], place[2], mailbox[2]; /* of the slots */
byte gate_pid, fresh, old;            /* of the gate */
bool lock, rung, used;
bool belled; /* its bell is in a mailbox */
bool heard[4];
byte settled; /* received, or dead */

inline give()
{
    atomic {
        !lock;
        assert(!belled && !fresh && !old);
        gate_pid = me + BOUNDED;
        rung = false
    }
#ifndef GATE_LATE
    place[slot] = GATE;
#endif
    atomic { pid_of[slot] = me + BOUNDED; heard[me] = true }
#ifdef GATE_LATE
    place[slot] = GATE;
#endif
}

inline begin()
{
#ifdef FN_EARLY
    place[slot] = FN;
    pid_of[slot] = me;
#else
    pid_of[slot] = me;
    place[slot] = FN;
#endif
    mailbox[slot] = EMPTY
}

/* Tests what is fresh until one fits; if `anew`, what is old, too. */
inline look(anew)
{
    atomic {
        !lock;
#ifdef CLEARED_ANEW
        rung = false;
#else
#if !defined(CLEARED_LATE) && !defined(NEVER_CLEARED)
        rung = rung && anew;
#endif
#endif
        if
        :: anew && old -> old--; got = true
        :: got = false;
            do
            :: fresh -> fresh--; got = true; break
            :: fresh -> fresh--; old++
            :: !fresh -> break
            od
        fi;
        settled = settled + got
    }
#ifdef CLEARED_LATE
    atomic { !lock -> rung = rung && anew }
#endif
}

/* Until a message fits, or the time is over: at most one wait of each actor has one. */
inline wait()
{
    look(true);
    do
    :: got -> break
    :: !got && mailbox[slot] == BELL ->
        atomic { mailbox[slot] = EMPTY; belled = false }
        look(false)
    :: !got && mailbox[slot] == EMPTY ->
        atomic {
            if
            :: mailbox[slot] == EMPTY -> mailbox[slot] = PARKED
            :: else -> goto refused
            fi
        }
        if
        :: !timed ->
            timed = true;
            if
            :: mailbox[slot] == BELL
            :: atomic { mailbox[slot] == PARKED -> mailbox[slot] = EMPTY }
               break
            fi
        :: skip ->
end_parked: mailbox[slot] == BELL
        fi;
refused: skip
    od;
    got = false
}

inline close_gate()
{
    atomic {
        !lock;
        gate_pid = 0;
        settled = settled + fresh + old;
        fresh = 0;
        old = 0
    }
}

inline close_mailbox()
{
    atomic {
        if
        :: mailbox[slot] == BELL -> belled = false
        :: else
        fi;
        mailbox[slot] = CLOSED
    }
}

inline finish()
{
#ifdef CLOSE_LATE
    close_mailbox();
    close_gate();
#else
    close_gate();
#ifdef END_EARLY
    used = false;
#endif
    close_mailbox();
#endif
#ifndef END_EARLY
    used = false
#endif
}

proctype actors(byte slot; byte me; byte last)
{
    bool got, timed;

    do
    :: begin();
        if
        :: me == 2 -> break /* plain: it only lives */
        :: skip ->
end_waits:  atomic { !used -> used = true } /* new_gate */
            give()
        fi;
        do
        :: wait()
        :: break
        od;
        finish();
        if
        :: me == last -> break
        :: else -> atomic { me++; timed = false }
        fi
    od
}

inline ring()
{
    if
    :: rung
    :: else ->
        rung = true;
        atomic {
            assert(!belled && mailbox[SLOT(to)] != CLOSED && mailbox[SLOT(to)] != BELL);
            belled = true;
            mailbox[SLOT(to)] = BELL /* and who was parked is awake */
        }
    fi
}

active [SENDERS] proctype sender()
{
    byte to, found;

    atomic {
        if
        :: heard[1] -> to = 1 + BOUNDED
        :: heard[2] -> to = 2 + BOUNDED
        :: heard[3] -> to = 3 + BOUNDED
        fi
    }
    if
    :: pid_of[SLOT(to)] != to -> goto gone
    :: else
    fi;
    found = place[SLOT(to)];
#ifndef NO_SECOND_LOOK
    if
    :: pid_of[SLOT(to)] != to -> goto gone
    :: else
    fi;
#endif
    atomic { assert(found == GATE); found = 0; !lock -> lock = true }
#ifndef NO_CHECK
    if
    :: gate_pid != to -> lock = false; goto gone
    :: else
    fi;
#endif
    atomic { assert(gate_pid == to); fresh++ }
    ring();
    lock = false;
    goto done;
gone:
    settled++;
done:
    to = 0
}

active proctype last_look()
{
    d_step { mailbox[0] = CLOSED; mailbox[1] = CLOSED }
    run actors(0, 1, 2);
    run actors(1, 3, 3);
end:
    timeout;
    assert(!lock && !fresh);
    assert(settled + old == SENDERS)
}
