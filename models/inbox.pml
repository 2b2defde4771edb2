/* inbox.pml - the mailbox's one word: push, take, park, the wait's timer, close, and the next owner of the slot.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Models:   mailbox/inbox.h; runtime/wait.c: take, fire, weft__wait_until, weft__wait_done; runtime/loop.c: parking off
 *           the stack, a refused park; runtime/actor.c: weft__actor_new, weft__actor_end.
 * Leaves out: memory orders (ThreadSanitizer sees those), selective receive, workers (crew.pml), threads (thread.pml).
 *
 * Two senders, one reader, which has two lives in its slot, and one timer. Each message has one fate in the end: it
 * was received by the one it was meant for (I8), in the sender's order, or it is a dead letter.
 *   I1 at PUBLISH.  I2, I3, I4 at WAKE: nobody else has the reader.  I7: the word is compared, never followed.
 *   Each wake has a reason: a message, or a time that is over. A wait whose time is over does not last.
 *
 * mutant: ON_STACK          PARKED is published before the stack is left
 * mutant: NO_GENERATION     take() keeps what was meant for the last owner
 * mutant: ANY_PARKED        a push does not look whose PARKED it is
 * mutant: ANY_WAIT          the timer does not compare the wait
 * mutant: NO_RETRY          a timer that is early gives up
 * mutant: NO_UNSET          the timer is not unset when its actor ends
 * mutant: IN_BEFORE_CAS     a push writes `in`, then tries to own the reader
 * mutant: PARK_STORE        park stores, and does not look for a message that came
 * mutant: CLOSE_STORE       close stores, and does not look for messages that came
 */
#define MESSAGES 3 /* 1 and 2 from the one sender, 3 from the other */
#define LIVES 2
#define WAITS 2 /* of each life */

#define EMPTY 0 /* the word: EMPTY, the newest message, CLOSED, or PARKED */
#define CLOSED 7
#define PARKED(life, wait) (8 + 4 * (life) + (wait))
#define IS_PARKED(w) ((w) > CLOSED)
#ifdef ANY_PARKED
#define MEANT(w, life) true
#else
#define MEANT(w, life) (((w) - 8) / 4 == (life))
#endif

byte word = CLOSED;
byte in;       /* the oldest message that was not looked at; next[] links them */
byte next[MESSAGES + 1], to[MESSAGES + 1];
byte life;     /* the generation of the slot's pid */
byte last[2];  /* the last that was received, from each sender */
bool received[MESSAGES + 1], dead[MESSAGES + 1];
bool on_stack = true, queued, woken;

byte parked;           /* the word of the present wait */
byte wait;             /* what the timer is for; 0: none */
bool over;             /* the deadline has passed */
bool armed, lock;      /* the timer is in the heap; the heap's lock */
bool extra;            /* the memory that holds the timer is there */
byte senders_left = 2;

inline bury(m)
{
    assert(!received[m] && !dead[m]);
    dead[m] = true
}

inline wake() /* WAKE: by whoever moved PARKED to EMPTY */
{
    atomic {
        assert(!queued && !on_stack);
        queued = true;
        woken = true
    }
}

proctype sender(byte m; byte most)
{
    byte seen;

    do
    :: m > most -> break
    :: else ->
        atomic { /* a pid that it heard of some time ago, or now */
            life > 0;
            if
            :: to[m] = life
            :: to[m] = 1
            fi
        }
again:
        seen = word;
        if
        :: seen == CLOSED -> bury(m)
        :: IS_PARKED(seen) && !MEANT(seen, to[m]) -> bury(m)
        :: IS_PARKED(seen) && MEANT(seen, to[m]) ->
#ifdef IN_BEFORE_CAS
            atomic { next[m] = 0; in = m };
#endif
            atomic {
                if
                :: word == seen -> word = EMPTY
                :: else -> goto again
                fi
            }
#ifndef IN_BEFORE_CAS
            atomic { next[m] = 0; in = m };
#endif
            wake()
        :: seen < CLOSED ->
            atomic {
                if
                :: word == seen -> next[m] = seen; word = m /* its own until then */
                :: else -> goto again
                fi
            }
        fi;
        d_step { m++; seen = 0 }
    od;
    senders_left--
}

/* The first message for this life, or 0: all private, but for the exchange. */
inline look()
{
    if
    :: in == 0 ->
        if
        :: word == EMPTY -> list = 0
        :: else -> atomic { list = word; word = EMPTY } /* the exchange */
        fi;
        d_step {
            assert(list < CLOSED);
            do
            :: list ->
                m = next[list];
                if
#ifndef NO_GENERATION
                :: to[list] != life -> bury(list)
#endif
                :: else -> next[list] = in; in = list
                fi;
                list = m
            :: else -> break
            od
        }
    :: else
    fi;
    d_step {
        m = in;
        if
        :: m ->
            in = next[m];
            assert(to[m] == life && !received[m] && !dead[m]);
            received[m] = true;
            assert(last[(m - 1) / 2] < m);
            last[(m - 1) / 2] = m
        :: else
        fi
    }
}

inline publish() /* PUBLISH */
{
    atomic {
        assert(in == 0);
#ifdef PARK_STORE
        word = parked
#else
        if
        :: word == EMPTY -> word = parked
        :: else -> queued = true /* refused: still ours */
        fi
#endif
    }
}

active proctype reader()
{
    byte m, list, waits;
    bool timed;

    do
    :: life == LIVES -> break
    :: else ->
        d_step { /* weft__actor_new */
            assert(word == CLOSED && in == 0);
            life++;
            waits = 0;
            timed = false
        }
        word = EMPTY;
        do
        :: break /* ends */
        :: waits < WAITS ->
            d_step { waits++; parked = PARKED(life, waits) }
            look();
            if
            :: m -> goto got
            :: else
            fi;
            if
            :: d_step { timed = true; extra = true; over = false } /* weft__wait_until */
               wait = parked;
               atomic { !lock -> armed = true }
            :: timed = false
            fi;
            do
            ::
#ifdef ON_STACK
                publish();
                on_stack = false;
#else
                on_stack = false;
                publish();
#endif
end_parked:     atomic { queued -> queued = false }
                look();
                d_step {
                    assert(!woken || m || (timed && over));
                    woken = false
                }
                if
                :: m || (timed && over) -> break
                :: else
                fi
            od;
            on_stack = true;
got:        atomic { wait = 0; timed = false; m = 0 }
        od;
        /* weft__actor_end */
#ifdef CLOSE_STORE
        word = CLOSED;
        list = 0;
#else
        atomic { list = word; word = CLOSED }
#endif
        d_step {
            assert(list < CLOSED);
            do
            :: list -> bury(list); list = next[list]
            :: else -> break
            od;
            do
            :: in -> bury(in); in = next[in]
            :: else -> break
            od
        }
#ifndef NO_UNSET
        atomic { !lock -> armed = false }
#endif
        d_step { extra = false; over = false; parked = 0 }
    od
}

active proctype timer()
{
    byte w;

end:
    do
    :: armed && !over -> over = true /* time passes */
    :: atomic { armed && over && !lock -> lock = true; armed = false }
        atomic { assert(extra); w = wait }
        if
        :: w == 0 -> skip
        :: w && !over -> armed = true
        :: w && over ->
            atomic {
                if
#ifdef ANY_WAIT
                :: IS_PARKED(word) -> word = EMPTY
#else
                :: word == w -> word = EMPTY
#endif
                :: else -> goto early
                fi
            }
            wake()
        fi;
        goto done;
early:
#ifndef NO_RETRY
        armed = true;
#endif
done:
        atomic { lock = false; w = 0 }
    od
}

/* When nothing moves any more: nobody waits whose time is over, and each message has its fate. */
active proctype last_look()
{
    byte m = 1;

    run sender(1, 2);
    run sender(3, 3);
end:
    timeout;
    assert(senders_left == 0 && wait == 0);
    assert(word == CLOSED || (IS_PARKED(word) && word == parked && in == 0));
    do
    :: m > MESSAGES -> break
    :: else -> assert(received[m] || dead[m]); m++
    od
}
