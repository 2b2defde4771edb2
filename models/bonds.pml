/* bonds.pml - the link of two actors that both make and break it, and end.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Models:   runtime/bonds.c: weft_link, weft_unlink, believe, told, asked_to_link, asked_to_unlink, broken, is_fatal,
 *           weft__bonds_refuse, weft__bonds_end; runtime/actor.c: refuse_all, weft__actor_end.
 * Leaves out: memory orders and mailboxes (inbox.pml): signals arrive in order; monitors, which are one-sided; more than two
 *           actors, as each pair has a link of its own; where a bond is kept; want of memory for it, which looks to the
 *           other like an end.
 *
 * The one that decides has the link, or not; the one that asks believes. Each changes its mind a few times, hears of what
 * the other has sent, and may end. What one does between two signals it does alone, so that is one step; but an end is
 * many, as the other goes on meanwhile.
 *   I1  No signal on its way, and nobody has ended: both have the link, or neither, and no answer is outstanding.
 *   I2  Who has a link with one that has ended hears of it: none is left when all is quiet, and all have heard who linked
 *       last, unless the other undid it while it lived. Who has unlinked hears nothing, unless the other links, too; and
 *       nobody hears more often than was linked.
 *   I3  Nobody is answered who has not asked: an answer finds one outstanding, unless the other has ended.
 *
 * mutant: LAST_ANSWER     an answer is believed although others are outstanding
 * mutant: UNASKED_WINS    what comes unasked is believed although an answer is outstanding
 * mutant: UNCOUNTED_LINK  the answer to LINK is not counted
 * mutant: UNCOUNTED_UNLINK  nor the one to UNLINK
 * mutant: LATE_ANSWER     an answer is believed although none is outstanding
 * mutant: FORGETS         who asks forgets its bond when it unlinks, as who decides does
 * mutant: BOTH_DECIDE     who asks links without asking
 * mutant: REFUSED_LINK    a LINK that meets an end is dropped
 * mutant: REFUSED_TOLD    the same, where the one that decides has sent it
 * mutant: NO_BROKEN       an end tells nobody
 * mutant: STAYS           BROKEN leaves the bond
 * mutant: INACTIVE_HEARS  BROKEN is heard of by who has unlinked
 * mutant: ASKS_THE_DEAD  a link to one that has ended is as any other: an answer from before undoes it
 * mutant: TOLD_THE_DEAD  the same, of the one that decides
 */
#ifndef CHANGES
#define CHANGES 3 /* of mind, of each */
#endif

#define LINK 1          /* asked, or told by the one that decides */
#define UNLINK 2
#define LINK_ANSWER 3
#define UNLINK_ANSWER 4
#define BROKEN 5

#define A 0 /* asks */
#define D 1 /* decides */

chan to[2] = [14] of { byte }; /* the mailboxes */
bool alive[2] = true, dead[2]; /* it takes signals; it has told its end */
bool has[2], on[2];        /* its bond; of D's, on is always true */
byte outstanding;              /* A's */
bool ended[2];                 /* its bond's: the other had, and BROKEN is on its way */
bool wants[2], ever[2], undid[2]; /* it linked, and was not told of an end; it ever linked, unlinked */
bool owed[2];                  /* it linked one that had ended */
byte links[2], heard[2];

#define quiet (len(to[A]) == 0 && len(to[D]) == 0)
#define bound(x) (has[x] && on[x])

/* Behind each step. */
inline check()
{
    if
    :: quiet && alive[A] && alive[D] ->
        assert(bound(A) == has[D]);
        assert(has[A] == bound(A));
        assert(outstanding == 0)
    :: else
    fi
}

inline hears(x)
{
    heard[x]++;
    assert(!alive[1 - x]);
    assert(wants[x] || ever[1 - x]);
    assert(heard[x] <= links[x] + ever[1 - x]);
    wants[x] = false;
    owed[x] = false
}

/* What `x` has sent met the end of the other. */
inline refuse(kind, x)
{
    if
#ifndef REFUSED_LINK
    :: kind == LINK && x == A -> if :: alive[A] -> to[A]!BROKEN :: else fi
#endif
#ifndef REFUSED_TOLD
    :: kind == LINK && x == D -> if :: alive[D] -> to[D]!BROKEN :: else fi
#endif
    :: kind == UNLINK && x == A -> if :: alive[A] -> to[A]!UNLINK_ANSWER :: else fi
    :: else
    fi
}

inline link_asks()
{
    if
    :: bound(A) -> skip
    :: else ->
        has[A] = true;
        on[A] = true;
        links[A]++;
        if
        :: alive[D] ->
            to[D]!LINK;
#if !defined(UNCOUNTED_LINK) && !defined(BOTH_DECIDE)
            outstanding++
#endif
        :: else ->
            owed[A] = true;
#ifndef ASKS_THE_DEAD
            ended[A] = true;
#endif
            refuse(LINK, A)
        fi
    fi;
    wants[A] = true;
    ever[A] = true
}

inline unlink_asks()
{
    if
    :: !bound(A) -> skip
    :: else ->
        on[A] = false;
        if
        :: alive[D] ->
            to[D]!UNLINK;
#ifdef FORGETS
            has[A] = false;
            outstanding = 0
#else
#ifndef UNCOUNTED_UNLINK
            outstanding++
#endif
#endif
        :: else -> has[A] = false; outstanding = 0; ended[A] = false
        fi
    fi;
    wants[A] = false;
    owed[A] = false;
    undid[A] = true
}

inline link_decides()
{
    if
    :: has[D] -> skip
    :: else ->
        has[D] = true;
        links[D]++;
        if
        :: alive[A] -> to[A]!LINK
        :: else ->
            owed[D] = true;
#ifndef TOLD_THE_DEAD
            ended[D] = true;
#endif
            refuse(LINK, D)
        fi
    fi;
    wants[D] = true;
    ever[D] = true
}

inline unlink_decides()
{
    if
    :: !has[D] -> skip
    :: else ->
        has[D] = false;
        ended[D] = false;
        if
        :: alive[A] -> to[A]!UNLINK
        :: else
        fi
    fi;
    wants[D] = false;
    owed[D] = false;
    undid[D] = true
}

inline answer(kind)
{
    if
    :: alive[A] -> to[A]!kind
    :: else
    fi
}

/* A hears what there is, as an answer or not. */
inline told(linked, answers)
{
    if
    :: has[A] ->
        if
#ifndef LATE_ANSWER
        :: !ended[A] && answers && outstanding == 0 -> assert(!alive[D])
#endif
        :: ended[A] -> skip
        :: else ->
#ifdef LATE_ANSWER
            assert(!answers || outstanding > 0);
#endif
            outstanding = outstanding - answers;
            if
#ifdef LAST_ANSWER
            :: outstanding && !answers
#else
#ifdef UNASKED_WINS
            :: outstanding && answers
#else
            :: outstanding
#endif
#endif
            :: else ->
                on[A] = linked;
                has[A] = linked
            fi
        fi
    :: !has[A] && linked && !answers ->
        has[A] = true;
        on[A] = true
    :: else
    fi
}

inline broken(x)
{
    if
    :: has[x] ->
        if
#ifdef INACTIVE_HEARS
        :: true -> hears(x)
#else
        :: on[x] -> hears(x)
        :: else
#endif
        fi;
#ifndef STAYS
        has[x] = false;
        ended[x] = false;
        if
        :: x == A -> on[A] = false; outstanding = 0
        :: else
        fi
#endif
    :: else
    fi
}

inline arrives_at_D()
{
    if
    :: kind == LINK ->
        if
        :: has[D] -> answer(LINK_ANSWER)
        :: else -> has[D] = true; answer(LINK_ANSWER)
        fi
    :: kind == UNLINK -> has[D] = has[D] && ended[D]; answer(UNLINK_ANSWER)
    :: else -> broken(D)
    fi
}

inline arrives_at_A()
{
    if
    :: kind == LINK -> told(true, 0)
    :: kind == UNLINK -> told(false, 0)
    :: kind == LINK_ANSWER -> told(true, 1)
    :: kind == UNLINK_ANSWER -> told(false, 1)
    :: else -> broken(A)
    fi
}

/* Its mailbox is closed; it tells, and then what is there is refused. */
inline finish(x)
{
    atomic {
        alive[x] = false;
#ifndef NO_BROKEN
        if
        :: bound(x) && alive[1 - x] -> to[1 - x]!BROKEN
        :: else
        fi
#endif
    }
    do
    :: atomic { to[x]?kind -> refuse(kind, 1 - x) }
    :: atomic { empty(to[x]) -> break }
    od;
    atomic {
        kind = 0;
        dead[x] = true
    }
}

active proctype asks()
{
    byte kind, changes;

end_waits:
    do
    :: atomic { changes < CHANGES -> changes++; link_asks(); check() }
    :: atomic { changes < CHANGES -> changes++; unlink_asks(); check() }
    :: atomic { to[A]?kind -> arrives_at_A(); kind = 0; check() }
    :: finish(A); break
    od
}

active proctype decides()
{
    byte kind, changes;

    on[D] = true;
end_waits:
    do
    :: atomic { changes < CHANGES -> changes++; link_decides(); check() }
    :: atomic { changes < CHANGES -> changes++; unlink_decides(); check() }
    :: atomic { to[D]?kind -> arrives_at_D(); kind = 0; check() }
    :: finish(D); break
    od
}

/* When all is quiet: no link with one that has ended. */
active proctype last_look()
{
end_look:
    atomic {
        (quiet && dead[A] && alive[D]) || (quiet && dead[D] && alive[A]);
        assert(!(alive[D] && has[D]));
        assert(!(alive[A] && bound(A)));
        assert(!(alive[A] && (owed[A] || (wants[A] && !undid[D]))));
        assert(!(alive[D] && (owed[D] || (wants[D] && !undid[A]))))
    }
}
