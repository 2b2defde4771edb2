/* stress_bonds.c - links and monitors that are made and undone from both sides at once, by actors that end at random.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Part 1, I1 and I2 of bonds.c: a few actors link and unlink each other, all at once. Then they cease, wait until no
 * signal is on its way, and end one after another. Checked: whoever ends is heard of by as many as it had links, once by
 * each, and each that hears had one; so none is one-sided, and the last has none left.
 *
 * Part 2, ends: keepers, which trap, link and unlink mortals, which come and go, while some of those do the same to
 * keepers and to each other; they end by themselves, with the other, or are ended. Checked: whom a keeper has linked last
 * it hears of, once a link; whom it has unlinked it does not, unless that one links, too; at the end of a keeper all who
 * cling to it end, with its reason, and nobody who let go.
 *
 * Part 3, gates: two with bounded mailboxes, of whom one links and unlinks the other for ever, while others ask it: the cells
 * of signals that have been handled are used for answers at once. Checked: each asker gets its own answer.
 *
 * All: a monitor tells once; not after it was taken back. Nothing is left: each message and actor is free in the end.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/bound.h>

#include "census.h"
#include "help.h"
#include "hunt.h"
#include "runtime/actor.h"

enum {
    GROUPS = 6,
    MEMBERS = 5,
    STEPS = 60,
    REFS = 24,
    KEEPERS = 2,
    MORTALS = 4,
    LIVES = 60,
    CLINGERS = 6,
    ASKERS = 4
};
#ifdef __SANITIZE_THREAD__
enum { ROUNDS = 6, QUESTIONS = 15000 };
#else
enum { ROUNDS = 500, QUESTIONS = 500000 };
#endif

WEFT_SIGNAL(GO);
WEFT_SIGNAL(FLUSH_1);
WEFT_SIGNAL(FLUSH_2);
WEFT_SIGNAL(FLUSH_3);
WEFT_SIGNAL(SETTLED);
WEFT_SIGNAL(END);
WEFT_MESSAGE(ENDING, size_t); /* how many links it has */
WEFT_MESSAGE(
    HEARD, struct heard { weft_pid of; });
WEFT_SIGNAL(FINISHED);
WEFT_SIGNAL(NEVER);

static atomic_ulong links, unlinks, exits, downs, taken_back, ended_by_others, clung, let_go, answers;

static uint64_t below(uint64_t *random, uint64_t n) { return draw(random) % n; }

/* ---- monitors: the same in both parts ------------------------------------------------------------------------------ */

struct watch {
    weft_ref ref;
    weft_pid who;
};

/* Those that it has set, and that have not told. */
struct watches {
    struct watch open[REFS];
    int          count;
};

static void watch(struct watches *w, weft_pid who)
{
    if (w->count == REFS)
        return;
    weft_ref ref = weft_monitor(who);
    if (!ref.id)
        hunt_complain("no memory for a monitor", 0, 0);
    w->open[w->count++] = (struct watch){ref, who};
}

static void told_by(struct watches *w, const struct weft_down *d)
{
    for (int i = 0; i < w->count; i++)
        if (w->open[i].ref.id == d->ref.id && weft_same(w->open[i].who, d->who)) {
            w->open[i] = w->open[--w->count];
            hunt_count(&downs);
            if (weft_demonitor(d->ref) != WEFT_EGONE)
                hunt_complain("a monitor that has told can be taken back", 0, 0);
            return;
        }
    hunt_complain("a monitor tells twice, or was taken back", (long)d->ref.id, d->reason);
}

/* Either no WEFT_DOWN is received from now on; or one that has come stays, and will be. */
static void take_back(struct watches *w, uint64_t *random)
{
    if (!w->count)
        return;
    int  n = (int)below(random, (uint64_t)w->count);
    bool keep = below(random, 2);
    int  error = keep ? weft_demonitor_keep(w->open[n].ref) : weft_demonitor(w->open[n].ref);
    if (error && error != WEFT_EGONE)
        hunt_complain("not taken back", error, keep);
    if (keep && error)
        return;
    w->open[n] = w->open[--w->count];
    hunt_count(&taken_back);
}

static bool watches(const struct watches *w, weft_pid who)
{
    for (int i = 0; i < w->count; i++)
        if (weft_same(w->open[i].who, who))
            return true;
    return false;
}

/* ---- Part 1 -------------------------------------------------------------------------------------------------------- */

struct group {
    weft_pid leader, member[MEMBERS];
    int      count;
};

struct member {
    struct group  *group;
    int            me;
    uint64_t       random;
    struct watches watches;
};

static size_t links_now(void)
{
    size_t n, monitors;

    weft__bonds_count(weft__lane()->self, &n, &monitors);
    return n;
}

static weft_pid another(struct member *m)
{
    int n = (m->me + 1 + (int)below(&m->random, (uint64_t)m->group->count - 1)) % m->group->count;

    return m->group->member[n];
}

static void step(struct member *m)
{
    switch (below(&m->random, 10)) {
    case 0:
    case 1:
    case 2:
    case 3:
        hunt_count(&links);
        if (weft_link(another(m)))
            hunt_complain("not linked", m->me, 0);
        break;
    case 4:
    case 5:
    case 6:
        hunt_count(&unlinks);
        if (weft_unlink(another(m)))
            hunt_complain("not unlinked", m->me, 0);
        break;
    case 7:
        watch(&m->watches, another(m));
        break;
    case 8:
        take_back(&m->watches, &m->random);
        break;
    case 9:
        weft_receive_within(weft_ns((int64_t)below(&m->random, 2) * 1000), NEVER); /* signals are looked at */
        break;
    }
}

/* When all have told all others, thrice, what was asked is answered, and what was answered has arrived. */
static void settle(struct member *m)
{
    weft_type *const flush[] = {&weft_type_FLUSH_1, &weft_type_FLUSH_2, &weft_type_FLUSH_3};

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < m->group->count; i++)
            if (i != m->me)
                weft_send_body(m->group->member[i], flush[round], flush);
        for (int i = 1; i < m->group->count; i++)
            weft_receive_type(flush[round]);
    }
}

static void hear(struct member *m, const struct weft_exited *e, size_t *had)
{
    size_t have = links_now();

    hunt_count(&exits);
    if (!e->linked || have + 1 != *had)
        hunt_complain("heard, but had no link", (long)*had, (long)have);
    *had = have;
    weft_send(m->group->leader, HEARD, .of = e->who);
}

static void lives(void *arg)
{
    struct member *m = arg;

    weft_trap(true);
    weft_receive(GO);
    for (int i = 0; i < STEPS; i++)
        step(m);
    settle(m);
    size_t had = links_now();
    weft_send(m->group->leader, SETTLED);
    for (weft_msg *msg; !weft_is(msg = weft_receive(END, WEFT_EXIT, WEFT_DOWN), END);)
        if (weft_is(msg, WEFT_EXIT))
            hear(m, weft_get(msg, WEFT_EXIT), &had);
        else
            told_by(&m->watches, weft_get(msg, WEFT_DOWN));
    for (int i = 0; i < m->me; i++) /* those have ended */
        while (watches(&m->watches, m->group->member[i]))
            told_by(&m->watches, weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN));
    if (links_now() != had)
        hunt_complain("a link went without a word", (long)had, (long)links_now());
    weft_send(m->group->leader, ENDING, had);
    weft_end(100 + m->me);
}

static void end_members(struct group *g)
{
    for (int i = 0; i < g->count; i++) {
        weft_send(g->member[i], END);
        size_t had = *weft_get(weft_receive(ENDING), ENDING);
        if (weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason != 100 + i)
            hunt_complain("ended otherwise", i, 0);
        if (i == g->count - 1 && had)
            hunt_complain("the last has links", i, (long)had);
        for (; had; had--)
            if (!weft_same(weft_get(weft_receive(HEARD), HEARD)->of, g->member[i]))
                hunt_complain("heard of another", i, (long)had);
    }
}

static void runs_a_group(struct group *g, uint64_t *random)
{
    weft_ref unused;

    *g = (struct group){.leader = weft_self(), .count = 2 + (int)below(random, MEMBERS - 1)};
    for (int i = 0; i < g->count; i++) {
        struct member m = {.group = g, .me = i, .random = draw(random)};
        g->member[i] = weft_spawn(lives, &m, .copy_bytes = sizeof m, .monitor = &unused);
    }
    for (int i = 0; i < g->count; i++)
        weft_send(g->member[i], GO);
    for (int i = 0; i < g->count; i++)
        weft_receive(SETTLED);
    end_members(g);
}

/* ---- Part 2 -------------------------------------------------------------------------------------------------------- */

struct town {
    weft_pid         leader;
    _Atomic uint64_t keeper[KEEPERS], mortal[LIVES]; /* 0: not born yet */
    bool             passive[LIVES];                 /* never links a keeper */
};

struct mortal {
    struct town   *town;
    int            me;
    uint64_t       random;
    struct watches watches;
};

struct keeper {
    struct town   *town;
    int            me;
    uint64_t       random;
    struct watches watches;
    bool           linked[LIVES], let_go[LIVES]; /* by what it did, or heard, last */
    unsigned       asked[LIVES], heard[LIVES];
};

static weft_pid any_mortal(struct town *t, uint64_t *random)
{
    /* relaxed: a pid is a number. */
    return (weft_pid){atomic_load_explicit(&t->mortal[below(random, LIVES)], memory_order_relaxed)};
}

static weft_pid anybody(struct town *t, uint64_t *random)
{
    if (below(random, 3))
        return any_mortal(t, random);
    return (weft_pid){atomic_load_explicit(&t->keeper[below(random, KEEPERS)], memory_order_relaxed)};
}

static void act(struct mortal *m)
{
    bool     passive = m->town->passive[m->me];
    weft_pid who = anybody(m->town, &m->random);
    bool     may = !weft_is_nobody(who) && !passive;

    switch (below(&m->random, 8)) {
    case 0:
    case 1:
        if (may)
            weft_link(who);
        break;
    case 2:
        if (may)
            weft_unlink(who);
        break;
    case 3:
        if (!weft_is_nobody(who))
            watch(&m->watches, who);
        break;
    case 4:
        take_back(&m->watches, &m->random);
        break;
    case 5:
        weft_yield();
        break;
    case 6:
        weft_receive_within(weft_ns(0), NEVER);
        break;
    case 7:
        if (below(&m->random, 4) == 0)
            weft_exit(any_mortal(m->town, &m->random), 50);
        break;
    }
}

static void passes_by(void *arg)
{
    struct mortal *m = arg;

    m->town->mortal[m->me] = weft_self().id; /* before anybody hears of it */
    weft_trap(below(&m->random, 2));
    for (uint64_t n = below(&m->random, 40); n; n--)
        act(m);
    if (below(&m->random, 4) == 0)
        weft_receive_within(weft_us(50), NEVER);
    weft_end((int)below(&m->random, 3));
}

static void hears(struct keeper *k, const struct weft_exited *e)
{
    int who = 0;

    if (!e->linked)
        return; /* a mortal's weft_exit */
    while (who < LIVES && k->town->mortal[who] != e->who.id)
        who++;
    if (who == LIVES) {
        hunt_complain("an exit of nobody", (long)e->who.id, e->reason);
        return;
    }
    hunt_count(&exits);
    k->heard[who]++;
    if (k->let_go[who] && k->town->passive[who])
        hunt_complain("heard of one that was unlinked", who, e->reason);
    if (k->heard[who] > k->asked[who] + !k->town->passive[who])
        hunt_complain("heard too often", who, k->heard[who]);
    k->linked[who] = false;
}

static void hear_all(struct keeper *k, weft_span time)
{
    for (weft_msg *m; (m = weft_receive_within(time, WEFT_EXIT, WEFT_DOWN)); time = weft_ns(0))
        if (weft_is(m, WEFT_EXIT))
            hears(k, weft_get(m, WEFT_EXIT));
        else
            told_by(&k->watches, weft_get(m, WEFT_DOWN));
}

static void keep(struct keeper *k)
{
    int      who = (int)below(&k->random, LIVES);
    weft_pid pid = {k->town->mortal[who]};

    if (weft_is_nobody(pid))
        return;
    switch (below(&k->random, 6)) {
    case 0:
    case 1:
        hunt_count(&links);
        k->asked[who]++;
        if (weft_link(pid))
            hunt_complain("not linked", who, 0);
        k->linked[who] = true;
        k->let_go[who] = false;
        break;
    case 2:
    case 3: /* all that was told before is known */
        hear_all(k, weft_ns(0));
        hunt_count(&unlinks);
        if (weft_unlink(pid))
            hunt_complain("not unlinked", who, 0);
        k->linked[who] = false;
        k->let_go[who] = true;
        break;
    case 4:
        watch(&k->watches, pid);
        break;
    case 5:
        take_back(&k->watches, &k->random);
        break;
    }
}

static bool waits(const struct keeper *k)
{
    for (int i = 0; i < LIVES; i++)
        if (k->linked[i] && k->town->passive[i]) /* the others may have unlinked it */
            return true;
    return k->watches.count;
}

static void keeps(void *arg)
{
    struct keeper *k = arg;

    weft_trap(true);
    while (!weft_receive_within(weft_ns(0), FINISHED)) {
        for (int i = 0; i < 10; i++)
            keep(k);
        hear_all(k, weft_us(1));
        weft_yield();
    }
    while (waits(k)) /* all mortals have ended: each is heard of, or this hangs */
        hear_all(k, weft_sec(1));
    weft_send(k->town->leader, FINISHED);
    weft_receive(END);
    weft_end(9);
}

/* Links and unlinks the first keeper, which may do so, too; and in the end is linked, or is not. */
static void clings(void *arg)
{
    struct mortal *m = arg;
    weft_pid       keeper = {m->town->keeper[0]};

    for (uint64_t n = below(&m->random, 10); n; n--) {
        weft_link(keeper);
        weft_unlink(keeper);
        if (below(&m->random, 4) == 0)
            weft_yield();
    }
    if (m->me % 2)
        weft_link(keeper);
    weft_send(m->town->leader, SETTLED);
    while (m->me == 1) /* it never waits, and is ended all the same */
        weft_yield();
    weft_receive(END);
    weft_end(3);
}

static weft_pid spawn_mortal(struct town *t, int me, uint64_t *random, weft_fn *fn)
{
    struct mortal m = {.town = t, .me = me, .random = draw(random)};
    weft_ref      unused;

    return weft_spawn(fn, &m, .copy_bytes = sizeof m, .monitor = &unused);
}

static void live_and_die(struct town *t, uint64_t *random)
{
    int born = 0, dead = 0;

    while (dead < LIVES) {
        if (born < LIVES && born - dead < MORTALS) {
            t->passive[born] = below(random, 2);
            spawn_mortal(t, born++, random, passes_by);
            continue;
        }
        int reason = weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason;
        dead++;
        if (reason == 50 || reason == WEFT_EGONE)
            hunt_count(&ended_by_others);
        else if (reason < 0 || reason > 2)
            hunt_complain("ended with a reason that nobody gave", reason, dead);
    }
}

static void cling(struct town *t, uint64_t *random)
{
    weft_pid clinger[CLINGERS];
    int      reason[CLINGERS] = {0};

    for (int i = 0; i < CLINGERS; i++)
        clinger[i] = spawn_mortal(t, i, random, clings);
    for (int i = 0; i < CLINGERS; i++)
        weft_receive(SETTLED);
    for (int i = 0; i < KEEPERS; i++)
        weft_send((weft_pid){t->keeper[i]}, END);
    for (int i = 0; i < CLINGERS / 2 + KEEPERS; i++) /* who clings ends, or this hangs */
        if (weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason != 9)
            hunt_complain("ended with another reason than the keeper's", i, 0);
    hunt_count(&clung);
    for (int i = 0; i < CLINGERS; i += 2)
        if (weft_send(clinger[i], END))
            hunt_complain("one that let go has ended", i, reason[i]);
    for (int i = 0; i < CLINGERS / 2; i++)
        if (weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason != 3)
            hunt_complain("one that let go was ended", i, 0);
        else
            hunt_count(&let_go);
}

static void runs_a_town(struct town *t, uint64_t *random)
{
    weft_ref unused;

    memset(t, 0, sizeof *t);
    t->leader = weft_self();
    for (int i = 0; i < KEEPERS; i++) {
        struct keeper k = {.town = t, .me = i, .random = draw(random)};
        t->keeper[i] = weft_spawn(keeps, &k, .copy_bytes = sizeof k, .monitor = &unused).id;
    }
    live_and_die(t, random);
    for (int i = 0; i < KEEPERS; i++)
        weft_send((weft_pid){t->keeper[i]}, FINISHED);
    for (int i = 0; i < KEEPERS; i++)
        weft_receive(FINISHED);
    cling(t, random);
}

/* ---- Part 3 -------------------------------------------------------------------------------------------------------- */

WEFT_MESSAGE(QUESTION, long);
WEFT_MESSAGE(ANSWER, long);

static weft_bound narrow = {.messages = 1000};

static void only_hears(void *unused)
{
    (void)unused;
    weft_trap(true);
    weft_receive(END);
}

static void binds_and_answers(void *other)
{
    weft_trap(true);
    for (;;) {
        weft_link(*(weft_pid *)other);
        weft_unlink(*(weft_pid *)other);
        weft_msg *m = weft_receive(QUESTION, END);
        if (weft_is(m, END))
            return;
        weft_reply(m, ANSWER, *weft_get(m, QUESTION));
    }
}

static void asks(void *whom)
{
    for (long i = (long)scaled(QUESTIONS); i > 0; i--) {
        long            q = i * ASKERS + (long)(weft_self().id % ASKERS);
        const weft_msg *m = weft_ask(WEFT_FOREVER, *(weft_pid *)whom, QUESTION, q);
        if (!weft_is(m, ANSWER) || *weft_get(m, ANSWER) != q)
            hunt_complain("another's answer, or none", q, weft_is(m, ANSWER) ? *weft_get(m, ANSWER) : 0);
        hunt_count(&answers);
        hunt_count(&hunt_progress);
    }
}

static void runs_two_gates(void)
{
    weft_ref unused;
    weft_pid one = weft_spawn(only_hears, NULL, .bound = &narrow, .monitor = &unused);
    weft_pid two = weft_spawn(binds_and_answers, &one, .copy_bytes = sizeof one, .bound = &narrow,
                              .monitor = &unused);

    for (int i = 0; i < ASKERS; i++)
        weft_spawn(asks, &two, .copy_bytes = sizeof two, .monitor = &unused);
    for (int i = 0; i < ASKERS; i++)
        weft_receive(WEFT_DOWN);
    weft_send(one, END);
    weft_send(two, END);
    for (int i = 0; i < 2; i++)
        if (weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason)
            hunt_complain("one behind a gate was ended", i, 0);
}

/* ---- All ----------------------------------------------------------------------------------------------------------- */

static unsigned long rounds;

static void leads(void *arg)
{
    uint64_t      random = 6364136223846793005u * (uint64_t)((intptr_t)arg + 1);
    struct group *g = weft_alloc(sizeof *g);
    struct town  *t = weft_alloc(sizeof *t);

    for (unsigned long i = 0; i < rounds; i++) {
        runs_a_group(g, &random);
        runs_a_town(t, &random);
        hunt_count(&hunt_progress);
    }
}

static void begins(void *unused)
{
    weft_ref ref;

    (void)unused;
    for (intptr_t i = 0; i < GROUPS; i++)
        weft_spawn(leads, (void *)i, .monitor = &ref);
    for (int i = 0; i < GROUPS; i++)
        weft_receive(WEFT_DOWN);
    runs_two_gates();
}

int main(void)
{
    static const int workers[] = {1, 2, 4};

    hunt_begin("stress_bonds");
    census_begin();
    rounds = scaled(ROUNDS);
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++)
        if (weft_run(begins, NULL, .workers = workers[i]))
            hunt_complain("did not run", workers[i], 0);
    weft_counts now = counted();
    size_t      lost = census_messages_lost() + census_actors_lost();
    if (now.spawned != now.ended)
        hunt_complain("not all have ended", (long)now.spawned, (long)now.ended);
    if (lost)
        hunt_complain("messages or actors are lost", (long)lost, 0);
    bool good = !hunt_wrong && exits && downs && taken_back && ended_by_others && clung && let_go && answers;
    printf("stress_bonds: %s: %lu links, %lu unlinks, %lu exits; %lu monitors told, %lu taken back; %lu "
           "ended by "
           "others, %lu actors; %lu wrong\n",
           good ? "ok" : "FAILED", links, unlinks, exits, downs, taken_back, ended_by_others,
           (unsigned long)now.spawned, hunt_wrong);
    return good ? 0 : 1;
}
