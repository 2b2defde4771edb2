/* look.pml - one who looks at an actor that waits: takes it from PARKED, reads it, and parks it again.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Models:   runtime/look.c: look_at_waiting, of an actor that is no thread (thread.pml has those).
 * Leaves out: what inbox.pml has: lists, the order of messages, the number of a wait; and memory orders. Messages in the
 *           word are counted by the life that they were meant for.
 *
 * One reader, which has two lives in its slot and waits with a time or without, its timer, two senders of a message each,
 * and one who looks three times.
 *   Who looks has the reader that was asked for, and to itself, as long as the look takes.
 *   Each message is received by the life it was meant for, or dead. A wait whose time is over does not last.
 *   Whatever has the reader: I2 of inbox.h, at OWN.
 *
 * mutant: STORE         who has looked stores PARKED, and does not see that something came
 * mutant: QUIET         who could not park the reader again does not wake it
 * mutant: AWAY          who has looked does not park the reader again
 * mutant: ANY           who looks does not compare whose PARKED it is
 * mutant: THROUGH       who looks leaves PARKED where it is
 * mutant: EARLY         who looks parks the reader again before the last of what is read
 * mutant: NO_RETRY      a timer that finds the reader looked at gives up
 */
#define LIVES 2
#define LOOKS 3
#define SENDERS 2

#define EMPTY 0 /* the word: EMPTY, LIST, CLOSED, or PARKED and the life */
#define LIST 1
#define CLOSED 2
#define PARKED 3

byte word = CLOSED, life;
byte listed[LIVES + 1]; /* in the word, meant for each life */
bool in;                /* a message that was handed over */
bool queued;
bool at_rest, owned;    /* off its stack, and nobody's; somebody has it */
bool timed, over;       /* its wait has a time; that is over */
byte received, dead;

inline own() /* OWN: with the step that moves PARKED away */
{
    assert(at_rest && !owned && !queued);
    owned = true
}

inline queue()
{
    atomic { assert(owned && !queued); owned = false; at_rest = false; queued = true }
}

active [SENDERS] proctype sender()
{
    byte to, seen;

    atomic {
        life > 0;
        if
        :: to = life
        :: to = 1 /* it heard of it some time ago */
        fi
    }
again:
    seen = word;
    if
    :: seen == CLOSED || (seen >= PARKED && seen != PARKED + to) -> dead++
    :: seen == PARKED + to ->
        atomic {
            if
            :: word == seen -> word = EMPTY; own()
            :: else -> goto again
            fi
        }
        in = true;
        queue()
    :: seen < CLOSED ->
        atomic {
            if
            :: word < CLOSED -> word = LIST; listed[to]++
            :: else -> goto again
            fi
        }
    fi
}

inline take()
{
    atomic { /* the exchange, and what is private */
        assert(word < CLOSED && !owned);
        got = (in -> 1 : 0);
        in = false;
        got = got + listed[life];
        received = received + got;
        if
        :: life == 2 -> dead = dead + listed[1]
        :: else -> assert(listed[2] == 0)
        fi;
        listed[1] = 0;
        listed[2] = 0;
        word = EMPTY
    }
}

active proctype reader()
{
    byte got;

    do
    :: life == LIVES -> break
    :: else ->
        atomic { assert(word == CLOSED && !owned && !queued); life++; word = EMPTY }
        do
        :: break /* it ends */
        ::  take();
            if
            :: got -> break
            :: else
            fi;
            if
            :: timed = true
            :: timed = false
            fi;
            do
            ::  atomic {
                    if
                    :: word == EMPTY -> word = PARKED + life; at_rest = true
                    :: else -> queued = true /* refused: still ours */
                    fi
                }
end_parked:     atomic { queued -> queued = false };
                take();
                if
                :: got || (timed && over) -> break
                :: else
                fi
            od;
            atomic { timed = false; over = false }
        od;
        atomic { /* closes */
            assert(!owned && !queued);
            dead = dead + listed[1] + listed[2];
            listed[1] = 0;
            listed[2] = 0;
            word = CLOSED;
            got = 0
        }
    od
}

active proctype timer()
{
    byte seen;

end:
    do
    :: atomic { timed && !over && word >= PARKED -> over = true; seen = word } /* time passes; it knows the wait */
        do
        :: atomic { word == seen && timed -> word = EMPTY; own() }
            queue();
            break
        :: atomic { word != seen || !timed ->
#ifdef NO_RETRY
            break
#else
            if
            :: !timed -> break
            :: timed /* again, a little later */
            fi
#endif
            }
        od
    od
}

inline read() { atomic { assert(at_rest && owned && life == whom && !queued && !in) } }

active proctype looker()
{
    byte whom, seen, looks;

end:
    do
    :: looks == LOOKS -> break
    :: else ->
        atomic { life > 0 -> whom = life; looks++ }
        seen = word;
        if
#ifdef ANY
        :: seen >= PARKED ->
#else
        :: seen == PARKED + whom ->
#endif
            atomic {
                if
#ifdef THROUGH
                :: word == seen -> owned = true
#else
                :: word == seen -> word = EMPTY; own()
#endif
                :: else -> goto missed
                fi
            }
            read();
#ifndef EARLY
            read();
#endif
#ifndef AWAY
            atomic {
                if
#ifdef STORE
                :: word = seen; owned = false
#else
                :: word == EMPTY -> word = seen; owned = false
                :: word != EMPTY ->
#ifdef QUIET
                    owned = false
#else
                    assert(owned && !queued);
                    owned = false;
                    at_rest = false;
                    queued = true
#endif
#endif
                fi
            }
#endif
#ifdef EARLY
            read();
#endif
        :: else
        fi;
missed: atomic { seen = 0; whom = 0 }
    od
}

/* When nothing moves any more. */
active proctype last_look()
{
end:
    timeout;
    assert(!owned && !queued);
    assert(word == CLOSED || (word == PARKED + life && !(timed && over)));
    assert(received + dead == SENDERS)
}
