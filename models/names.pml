/* names.pml - who names an actor that is about to end (pair N), and the next owner of its slot.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Models:   runtime/names.c: tell_owner, add, weft__names_forget; runtime/actor.c: weft__actor_new, weft__actor_end;
 *           mailbox/inbox.h: weft__inbox_close, weft__inbox_open.
 * Leaves out: the tables, names that are given back, messages. There is one name.
 *
 * Two slots: the one has two owners, one after the other; the other's lives for ever. Two registrants want the name for
 * actors that they have heard of, some time ago or now.
 *   Nothing that ended has a name: neither when its slot is free again, nor when all is done.
 *   The name is given only while nobody has it, and is lost only by the end of its owner.
 * Stores to `named` are seen at once, as they are sequentially consistent; in RELAXED_TELL they go through a buffer. A
 * new owner's stores to its pid and `named` are relaxed: they come in any order, but before its mailbox is open.
 *
 * mutant: LOOK_FIRST      a registrant looks at the mailbox, then tells the owner
 * mutant: RELAXED_TELL    it tells, but that is not seen yet when it looks
 * mutant: PID_FIRST       it looks at the pid, then at the mailbox
 * mutant: NO_PID          it does not look at the pid
 * mutant: END_LOOKS_FIRST who ends looks at `named`, then closes its mailbox
 * mutant: OPEN_EARLY      a new owner opens its mailbox, then sets its pid
 * mutant: UNNAMED_LATE    a new owner forgets that its slot was named when others know its pid
 * mutant: NO_LOCK         a registrant looks for the name without the lock
 */
#define SLOTS 2
#define SLOT(who) ((who) % SLOTS)
#define PIDS 5 /* 2 and 4 are the first slot's, 3 is who lives for ever */

byte pid_of[SLOTS];
bool open[SLOTS], named[SLOTS];
bool heard[PIDS], ended[PIDS];
byte owner; /* of the name; 0: nobody */
bool lock;  /* the registry's */
byte given, lost;

inline begin()
{
#ifdef OPEN_EARLY
    open[0] = true;
#endif
#ifdef UNNAMED_LATE
    pid_of[0] = mine;
#else
    if
    :: pid_of[0] = mine; named[0] = false
    :: named[0] = false; pid_of[0] = mine
    fi;
#endif
    open[0] = true;
    heard[mine] = true;
#ifdef UNNAMED_LATE
    named[0] = false;
#endif
}

inline forget()
{
    atomic { !lock -> lock = true }
    d_step {
        if
        :: owner == mine -> owner = 0; lost++
        :: else
        fi;
        lock = false
    }
}

inline finish()
{
#ifdef END_LOOKS_FIRST
    was_named = named[0];
    open[0] = false;
#else
    open[0] = false;
    was_named = named[0];
#endif
    if
    :: was_named -> forget()
    :: else
    fi;
    d_step {
        assert(owner != mine);
        ended[mine] = true;
        was_named = false
    }
}

active proctype actors()
{
    byte mine = 2;
    bool was_named;

    do
    :: mine >= PIDS -> break
    :: else ->
        begin();
        if
        :: finish()
        :: break /* it lives on */
        fi;
        mine = mine + SLOTS
    od
}

inline tell(who)
{
#ifdef RELAXED_TELL
    skip /* see below */
#else
    named[SLOT(who)] = true
#endif
}

inline look(who)
{
#ifdef PID_FIRST
    is_there = pid_of[SLOT(who)] == who;
    is_there = is_there && open[SLOT(who)]
#else
    is_there = open[SLOT(who)];
#ifndef NO_PID
    is_there = is_there && pid_of[SLOT(who)] == who
#endif
#endif
}

active [2] proctype registrant()
{
    byte who, had;
    bool is_there;

    atomic {
        if
        :: heard[2] -> who = 2
        :: heard[3] -> who = 3
        :: heard[4] -> who = 4
        fi
    }
#ifdef NO_LOCK
    had = owner;
#endif
    atomic { !lock -> lock = true }
#ifndef NO_LOCK
    had = owner;
#endif
    if
    :: had -> skip /* WEFT_EUSED */
    :: else ->
#ifdef LOOK_FIRST
        look(who);
        tell(who);
#else
        tell(who);
        look(who);
#endif
        if
        :: is_there -> atomic { assert(owner == 0); owner = who; given++ }
        :: else /* WEFT_EGONE */
        fi;
#ifdef RELAXED_TELL
        named[SLOT(who)] = true; /* the buffer is empty at the latest when the lock is left */
#endif
    fi;
    lock = false
}

active proctype last_look()
{
    d_step { pid_of[1] = 3; open[1] = true; heard[3] = true }
end:
    timeout;
    assert(!lock && given == lost + (owner -> 1 : 0));
    assert(owner == 0 || !ended[owner])
}
