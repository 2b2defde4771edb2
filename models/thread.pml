/* thread.pml - a thread that is an actor: it parks by itself, on a futex.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Models:   runtime/thread.c: weft__thread_park, sleep_parked, weft__thread_wake, weft__thread_release_all;
 *           runtime/look.c: look_at_waiting, of a thread.
 * Leaves out: what inbox.pml has (lists, generations), memory orders. A pushed message is a count.
 *
 * Two senders of a message each, or none; one thread that receives, with a time or without; a system that ends; one
 * who looks at the thread, which is woken then, and finds nothing.
 * The futex is the kernel's: comparing and falling asleep are one step; it never returns for no reason, so that a
 * lost wake-up is seen.
 *   inbox.h I2 at OWNS: who moved PARKED away has the thread to itself until it has set MESSAGE.
 *   The thread does not sleep while a message lies there, while its time is over, or after the system has ended.
 *   The futex's word is alive when a sender sets a bit in it (it may be gone when the wake-up comes: harmless).
 *
 * mutant: NO_UNPARK        a thread whose time is over leaves PARKED behind
 * mutant: HASTY            a thread whose time is over does not wait for the sender that was first
 * mutant: NO_VALUE         the futex does not compare its word
 * mutant: CLEAR_LATE       MESSAGE is cleared when PARKED was published already
 * mutant: ENDED_LATE       what `ended` was is read after parking
 * mutant: WAKE_FIRST       the wake-up comes before the bit
 * mutant: LOOK_PARKS       who has looked parks the thread again, as it would an actor that is none
 */
#define MESSAGE 1
#define ENDED 2
#define MESSAGES 2

bool parked;          /* the mailbox's word: PARKED, or a list of `pushed` */
byte pushed, in;      /* messages */
byte woken;           /* the futex's word */
bool asleep, ended;   /* in the kernel; the system has ended */
bool owned;           /* OWNS: a sender has the thread */
bool alive = true;    /* the actor's block */
byte received, dead, unsent;

active [MESSAGES] proctype sender()
{
    if
    :: atomic { parked -> parked = false; assert(!owned && in == 0); owned = true }
        in++;
        atomic { assert(alive); owned = false
#ifdef WAKE_FIRST
            ; asleep = false }
        woken = woken | MESSAGE
#else
            ; woken = woken | MESSAGE }
        asleep = false
#endif
    :: atomic { !parked && alive -> pushed++ }
    :: atomic { !alive -> dead++ }
    :: unsent++
    fi
}

active proctype looker()
{
    if
    :: atomic { parked -> parked = false; assert(!owned && in == 0); owned = true }
#ifdef LOOK_PARKS
        atomic {
            owned = false;
            if
            :: pushed == 0 -> parked = true
            :: else -> woken = woken | MESSAGE; asleep = false
            fi
        }
#else
        atomic { assert(alive); owned = false; woken = woken | MESSAGE }
        asleep = false
#endif
    :: skip
    fi
}

active proctype system()
{
    ended = true;
    atomic {
        if
        :: alive -> woken = woken + ENDED
        :: else
        fi
    }
    asleep = false
}

/* The first message, or none: `got`. */
inline look()
{
    atomic {
        assert(!owned);
        in = in + pushed;
        pushed = 0;
        got = in > 0;
        in = in - got;
        received = received + got;
    }
}

inline take_parked() /* weft__inbox_unpark */
{
    atomic { was_parked = parked; parked = false }
}

active proctype thread()
{
    bool got, timed, over, was_parked, awake;
    byte before, now;

    do
    :: received == MESSAGES -> break
    :: else ->
        atomic { over = false; awake = true }
        if
        :: timed = true
        :: timed = false
        fi;
        do
        ::
            look();
            if
            :: got || !awake -> break
            :: else
            fi;
#ifdef CLEAR_LATE
            before = woken;
#else
            atomic { before = woken & ~MESSAGE; woken = before };
#endif
            if
            :: before >= ENDED && ended -> goto out /* weft_receive returns NULL */
            :: else
            fi;
            atomic {
                if
                :: pushed == 0 -> parked = true
                :: else -> goto refused
                fi
            }
#ifdef CLEAR_LATE
            atomic { before = before & ~MESSAGE; woken = woken & ~MESSAGE };
#endif
#ifdef ENDED_LATE
            before = woken & ~MESSAGE;
#endif
            /* sleep_parked */
            do
            ::
                now = woken;
                if
                :: now & MESSAGE -> awake = true; break
                :: else
                fi;
                if
                :: now != before || over ->
#ifdef NO_UNPARK
                    awake = false;
                    break
#else
                    take_parked();
                    if
                    :: was_parked -> awake = false; break
                    :: else
                    fi;
#ifdef HASTY
                    awake = false;
                    break
#endif
#endif
                    atomic { before = now; over = false; timed = false } /* a sender was first */
                :: else
                fi;
                atomic { /* the futex */
                    if
#ifdef NO_VALUE
                    :: true -> asleep = true
#else
                    :: woken == now -> asleep = true
                    :: else
#endif
                    fi
                }
sleeping:       if
                :: !asleep
                :: timed && asleep -> atomic { asleep = false; over = true } /* time passes */
                fi
            od;
refused:    skip
        od;
        atomic { now = 0; before = 0; got = false; was_parked = false }
    od;
out:
    atomic { assert(!owned && !parked); alive = false; dead = dead + pushed + in }
}

active proctype last_look()
{
end:
    timeout;
    assert(!alive && received + dead + unsent == MESSAGES)
}
