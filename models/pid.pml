/* pid.pml - one slot, one owner after the other, and senders that have old pids.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Models:   runtime/actor.c: weft__actor_new, weft__actor_end, generations; runtime/send.c: post; base/cells.h: the
 *           free slot goes through a lock to whoever makes the next actor.
 * Leaves out: what inbox.pml has: lists, timers, stacks. Messages in the word are counted by the generation that they
 *           were meant for.
 *
 * Two threads make actors in the slot, which receive and end; two senders send to pids that they once heard of.
 *   A message is received by the owner it was meant for, or counted as dead, once.
 *   The slot has one owner at a time. When its generations are used up it is not used again.
 *
 * mutant: NO_CHECK      the reader does not compare the pid
 * mutant: HINT_ONLY     nor the sender, at PARKED: the pid in the block, read before, is enough for it
 * mutant: FREE_EARLY    the slot is given back before the mailbox is closed
 * mutant: WRAP          a slot that is used up is used again, from the first generation
 */
#define GENERATIONS 2
#define SENDERS 2

#define EMPTY 0 /* the word: EMPTY, LIST, PARKED + generation, or CLOSED */
#define LIST 1
#define CLOSED 2
#define PARKED 3

byte word = CLOSED, generation; /* of the slot */
byte listed[GENERATIONS + 1];   /* in the word, meant for each generation */
bool free = true, owned;
byte lives, received, dead;

inline give_back()
{
    owned = false;
#ifdef WRAP
    free = true
#else
    if
    :: mine < GENERATIONS -> free = true
    :: else -> lives++ /* retired */
    fi
#endif
}

active [2] proctype maker()
{
    byte mine, i;

    do
    :: lives == GENERATIONS + 1 -> break
    :: else ->
        atomic {
            if
            :: free -> free = false; lives++
            :: else -> goto busy
            fi
        }
        atomic { assert(!owned); owned = true }
        mine = generation + 1;
#ifdef WRAP
        if
        :: mine > GENERATIONS -> mine = 1
        :: else
        fi;
#endif
        assert(lives == mine);
        generation = mine;
        word = EMPTY;
        if
        :: word == EMPTY -> /* it waits */
            atomic {
                if
                :: word == EMPTY -> word = PARKED + mine
                :: else -> goto take
                fi
            }
            if
            :: word == EMPTY || word == LIST /* woken: by a push, and maybe more came */
            :: atomic { word == PARKED + mine -> word = EMPTY } /* its time is over */
            fi
        :: skip
        fi;
take:
        atomic { /* the exchange */
            assert(word < CLOSED);
            word = EMPTY;
            i = 1;
            do
            :: i > GENERATIONS -> break
            :: else ->
                if
#ifdef NO_CHECK
                :: listed[i] -> assert(i == mine); received = received + listed[i]
#else
                :: i == mine -> received = received + listed[i]
#endif
                :: else -> dead = dead + listed[i]
                fi;
                listed[i] = 0;
                i++
            od
        }
#ifdef FREE_EARLY
        give_back();
#endif
        atomic { /* close */
            word = CLOSED;
            i = 1;
            do
            :: i > GENERATIONS -> break
            :: else -> dead = dead + listed[i]; listed[i] = 0; i++
            od
        }
#ifndef FREE_EARLY
        give_back();
#endif
busy:   mine = 0
    od
}

active [SENDERS] proctype sender()
{
    byte to, seen;

    atomic { generation > 0 -> to = generation } /* it hears of it */
    if
    :: generation != to -> dead++
    :: else ->
again:
        seen = word;
        if
        :: seen == CLOSED -> dead++
#ifdef HINT_ONLY
        :: seen >= PARKED ->
#else
        :: seen >= PARKED && seen - PARKED != to -> dead++
        :: seen >= PARKED && seen - PARKED == to ->
#endif
            atomic {
                if
                :: word == seen -> word = EMPTY; assert(seen - PARKED == to); received++ /* handed over */
                :: else -> goto again
                fi
            }
        :: seen < CLOSED ->
            atomic {
                if
                :: word < CLOSED -> word = LIST; listed[to]++
                :: else -> goto again
                fi
            }
        fi
    fi
}

active proctype last_look()
{
end:
    timeout;
    assert(received + dead == SENDERS)
}
