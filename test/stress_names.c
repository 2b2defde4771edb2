/* stress_names.c - names for actors that are just ending, or ended a moment ago, or long ago.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Mayflies are fibers and threads that name themselves, or are spawned with a name, give some back, and end. Registrants,
 * fibers and threads, name them, too: by few names that all want, and by names that only one registrant uses; above all
 * those that have just begun to end. A mayfly keeps a message of its own until its end; what destroys that says that it
 * has ended. By then it has no name any more. Checked:
 *   - of two who got the same name, one had let it go, or had begun to end;
 *   - who has ended gets no name; WEFT_EGONE is said only of who has begun to end;
 *   - a look-up does not find whoever had ended before it began;
 *   - a name that nobody else wants is free when its owner has ended;
 *   - in the end every name is free.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "help.h"
#include "hunt.h"

enum {
    NAMES = 5, /* that all want */
    OWN = 16,  /* of each registrant */
    PLACES = 8,
    FIBERS = 3, /* registrants */
    THREADS = 2,
    REGISTRANTS = FIBERS + THREADS,
    LIVES = 1 << 19, /* at most */
    SLOTS = 1 << 16
};
#ifdef __SANITIZE_THREAD__
enum { MAYFLIES = 30000, DAYS = 1500 };
#else
enum { MAYFLIES = 150000, DAYS = 6000 };
#endif

static void has_ended(void *life);
WEFT_MESSAGE_OWNING(TOKEN, has_ended, uint32_t);
WEFT_SIGNAL(NUDGE);

struct life {
    _Atomic uint64_t pid;
    atomic_bool      ending;
    atomic_uint      given_back;     /* names that all want, by bits */
    atomic_ulong     born_at, ended; /* by the clock; 0: not yet */
};

static struct life  *life;
static atomic_uint   lives, holder[NAMES];        /* the life that got it last, as far as is known */
static atomic_uint   board[PLACES + 1], last_one; /* who is about to end */
static atomic_uint   life_of[SLOTS];
static atomic_ulong  now = 1, tried, got, used, gone, found, not_found, nudges, threads;
static atomic_int    living; /* places where somebody does, and threads that make mayflies */
static unsigned long first_life, mayflies;

static char name[NAMES][16], own_name[REGISTRANTS][OWN][24];

static void has_ended(void *which) { life[*(uint32_t *)which].ended = atomic_fetch_add(&now, 1); }

/* ---- What is true of names ----------------------------------------------------------------------------------------- */

static bool lets_go(unsigned who, int which) { return life[who].ending || life[who].given_back >> which & 1; }

static void won(unsigned who, int which)
{
    unsigned before = atomic_exchange(&holder[which], who);

    hunt_count(&got);
    if (before && before != who && !lets_go(before, which) && !lets_go(who, which))
        hunt_complain("two have a name", (long)before, (long)who);
}

/* Returns the result. */
static int name_it(const char *what, unsigned who)
{
    weft_pid pid = {life[who].pid};
    bool     ended = life[who].ended;
    int      result = weft_register(what, pid);

    hunt_count(&tried);
    if (result == WEFT_EGONE) {
        hunt_count(&gone);
        if (!life[who].ending)
            hunt_complain("gone too early", (long)who, 0);
    } else if (result == WEFT_EUSED) {
        hunt_count(&used);
    } else if (result) {
        hunt_complain("not named", result, (long)who);
    } else if (ended) {
        hunt_complain("named after its end", (long)who, 0);
    }
    return result;
}

static void look_up(const char *what)
{
    unsigned long began = atomic_fetch_add(&now, 1);
    weft_pid      who = weft_whereis(what);

    if (weft_is_nobody(who)) {
        hunt_count(&not_found);
        return;
    }
    hunt_count(&found);
    struct life  *l = &life[atomic_load(&life_of[who.id % SLOTS])];
    unsigned long at = l->pid == who.id ? l->ended : l->pid > who.id ? l->born_at : 0;
    if (at && at < began)
        hunt_complain("a name leads to who has ended", (long)at, (long)began);
}

/* ---- Mayflies ------------------------------------------------------------------------------------------------------ */

struct soul {
    unsigned place, life;
    uint64_t random;
};

static void mayfly(void *soul);

static void appear(const struct soul *s)
{
    uint64_t me = weft_self().id;

    life[s->life].pid = me;
    life[s->life].born_at = atomic_fetch_add(&now, 1);
    life_of[me % SLOTS] = s->life;
    board[s->place] = s->life;
    if (!weft_make(TOKEN, s->life)) /* its own until it ends */
        hunt_complain("no token", (long)s->life, 0);
}

static void wait_a_little(uint64_t r)
{
    switch (r % 8) {
    case 0:
        weft_yield();
        break;
    case 1:
        if (weft_receive_within(weft_us((int64_t)(r >> 8 & 7)), NUDGE))
            hunt_count(&nudges);
        break;
    }
}

static void name_oneself(struct soul *s)
{
    int which = (int)(draw(&s->random) % NAMES);

    if (name_it(name[which], s->life))
        return;
    won(s->life, which);
    wait_a_little(draw(&s->random));
    if (draw(&s->random) % 2)
        return;
    atomic_fetch_or(&life[s->life].given_back, 1u << which);
    if (weft_unregister(name[which]))
        hunt_complain("its own name was not its own", (long)s->life, which);
}

/* In the end it spins a little, so that who names it comes early or late. */
static void live(struct soul *s)
{
    appear(s);
    if (draw(&s->random) % 2)
        name_oneself(s);
    wait_a_little(draw(&s->random));
    life[s->life].ending = true;
    last_one = s->life;
}

static void linger(struct soul *s)
{
    for (uint64_t n = draw(&s->random) % 64; n > 0; n--)
        opaque(s);
}

/* False: enough have lived. */
static bool conceive(struct soul *s)
{
    s->random = draw(&s->random);
    s->life = atomic_fetch_add(&lives, 1);
    hunt_count(&hunt_progress);
    return s->life - first_life < mayflies && s->life < LIVES;
}

static void next_one(struct soul *s)
{
    if (!conceive(s)) {
        living--;
        return;
    }
    int which = (int)(draw(&s->random) % NAMES);
    if (draw(&s->random) % 2) {
        weft_pid who = weft_spawn(mayfly, s, .copy_bytes = sizeof *s, .name = name[which]);
        if (!weft_is_nobody(who)) {
            won(s->life, which);
            return;
        }
        if (weft_spawn_error() != WEFT_EUSED)
            hunt_complain("not spawned", weft_spawn_error(), (long)s->life);
    }
    weft_spawn(mayfly, s, .copy_bytes = sizeof *s);
}

static void mayfly(void *soul)
{
    struct soul *s = soul, next = *s;

    live(s);
    next_one(&next);
    linger(s);
}

static void *day(void *soul)
{
    live(soul);
    linger(soul);
    hunt_count(&threads);
    return NULL;
}

static void *days(void *unused)
{
    struct soul s = {.place = PLACES, .random = 6700417};
    pthread_t   thread;

    for (unsigned long n = scaled(DAYS); n > 0 && conceive(&s); n--) {
        if (pthread_create(&thread, NULL, day, &s))
            hunt_complain("no thread to be had", 0, 0);
        pthread_join(thread, NULL);
    }
    living--;
    return unused;
}

/* ---- Registrants --------------------------------------------------------------------------------------------------- */

struct registrant {
    unsigned me, next;
    uint64_t random;
    unsigned owner[OWN]; /* who got its own names */
};

static unsigned somebody(uint64_t r)
{
    if (r % 16 == 0)
        return (unsigned)(r / 16 % lives % LIVES);
    return r % 4 ? last_one : atomic_load(&board[r / 16 % (PLACES + 1)]);
}

static void name_by_own(struct registrant *r, unsigned who)
{
    unsigned i = r->next++ % OWN, owner = r->owner[i];
    bool     is_free = !owner || life[owner].ended;
    int      result = name_it(own_name[r->me][i], who);

    if (result == 0)
        r->owner[i] = who;
    if (result == WEFT_EUSED && is_free)
        hunt_complain("the name of who has ended is used", (long)owner, (long)who);
}

static void name_by_any(unsigned who, int which)
{
    if (name_it(name[which], who) == 0)
        won(who, which);
}

static void register_one(struct registrant *r)
{
    uint64_t random = draw(&r->random);
    unsigned who = somebody(random / 64);
    int      which = (int)(draw(&r->random) % NAMES);

    if (!life[who].pid)
        return;
    switch (random % 8) {
    case 0:
        look_up(name[which]);
        break;
    case 1:
        look_up(own_name[r->me][r->next % OWN]);
        break;
    case 2:
        if (weft_send_name(name[which], NUDGE) == 0)
            hunt_count(&nudges);
        break;
    case 3:
        name_by_any(who, which);
        break;
    default:
        name_by_own(r, who);
    }
}

static void register_all(unsigned me, bool thread)
{
    struct registrant r = {.me = me, .random = 104729 * (uint64_t)(me + 1)};

    while (living)
        for (int i = 0; i < 50; i++) {
            register_one(&r);
            if (i == 49 && thread)
                sched_yield();
            else if (i == 49)
                weft_yield();
        }
}

static void register_as_fiber(void *me) { register_all(*(unsigned *)me, false); }

static void *register_as_thread(void *me)
{
    register_all((unsigned)(uintptr_t)me, true);
    return NULL;
}

/* ---- All of them --------------------------------------------------------------------------------------------------- */

static void all_are_free(void)
{
    for (int i = 0; i < NAMES + REGISTRANTS * OWN; i++) {
        const char *what = i < NAMES ? name[i] : own_name[(i - NAMES) / OWN][(i - NAMES) % OWN];
        if (!weft_is_nobody(weft_whereis(what)))
            hunt_complain("a name outlives all", i, 0);
        if (weft_register(what, weft_self()) || weft_unregister(what) || weft_unregister(what) != WEFT_EGONE)
            hunt_complain("a name is not free", i, 0);
    }
}

static void begin(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < PLACES; i++)
        next_one(&(struct soul){.place = i, .random = 15485863 * (uint64_t)(i + 1)});
    for (unsigned i = 0; i < FIBERS; i++)
        weft_spawn(register_as_fiber, &i, .copy_bytes = sizeof i);
    while (living)
        weft_sleep(weft_us(200));
    for (weft_counts c;
         c = counted(), c.spawned - c.ended > 1;) /* threads are no actors when they are done */
        weft_sleep(weft_us(100));
    all_are_free();
}

static void be_born_and_die(int workers)
{
    pthread_t thread[THREADS + 1];

    first_life = lives;
    living = PLACES + 1;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, register_as_thread, (void *)(FIBERS + i));
    pthread_create(&thread[THREADS], NULL, days, NULL);
    int reason = weft_run(begin, NULL, .workers = workers);
    for (int i = 0; i <= THREADS; i++)
        pthread_join(thread[i], NULL);
    if (reason)
        hunt_complain("did not run", reason, workers);
}

int main(void)
{
    hunt_begin("stress_names");
    mayflies = scaled(MAYFLIES);
    life = calloc(LIVES, sizeof *life);
    for (int i = 0; i < NAMES; i++)
        snprintf(name[i], sizeof name[i], "name %d", i);
    for (int i = 0; i < REGISTRANTS * OWN; i++)
        snprintf(own_name[i / OWN][i % OWN], sizeof own_name[0][0], "of %d: %d", i / OWN, i % OWN);
    lives = 1; /* 0 is nobody's */
    for (int workers = 1; workers <= 3; workers++)
        be_born_and_die(workers);
    bool good = !hunt_wrong && got && used && gone && found && not_found && nudges && threads;
    printf("stress_names: %s: %u mayflies, %lu threads; %lu times named: %lu won, %lu used, %lu gone; %lu "
           "found, "
           "%lu not; %lu nudges; %lu wrong\n",
           good ? "ok" : "FAILED", (unsigned)lives, (unsigned long)threads, (unsigned long)tried,
           (unsigned long)got, (unsigned long)used, (unsigned long)gone, (unsigned long)found,
           (unsigned long)not_found, (unsigned long)nudges, (unsigned long)hunt_wrong);
    return good ? 0 : 1;
}
