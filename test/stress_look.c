/* stress_look.c - lookers that look all the time at actors that send, receive, react, time out and end.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Players throw balls to each other: fibers that take any ball, or now one kind and now the other with a time, handlers,
 * fibers with bounded mailboxes, and threads. A player that has had enough ends, and the next one has its place; so many
 * balls are lost, and new ones come until enough were thrown. Meanwhile fibers and threads look at the players, at those
 * that have just ended, and at some who rest: who wait for ever for something that does not come, with messages that they
 * have skipped; and at a thread that waits for that with a time, again and again. Checked:
 *   - each ball is caught or lost, once, and the game comes to an end: nobody sleeps on a ball, or over its time;
 *   - who rests is seen to rest, by every look, with as many messages as it has, and longer each time;
 *   - what is told of one that waits is what it may wait for; nobody is there who has ended;
 *   - a list has all who rest in it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/bound.h>

#include "help.h"
#include "hunt.h"
#include "runtime/actor.h"

enum {
    THREADS = 3, /* the last places are theirs */
    RESTING = 5,
    LOOKERS = 2, /* of each kind */
};
#ifdef __SANITIZE_THREAD__
enum { PLACES = 60, BALLS = 50, ENOUGH = 8, THROWS = 20000, LOOKS = 20000 };
#else
enum { PLACES = 300, BALLS = 200, ENOUGH = 40, THROWS = 1500000, LOOKS = 400000 };
#endif
/* BALLS: in the air at once. ENOUGH: a player catches so many before it ends, some more or less. */

static void lost(void *body);
WEFT_MESSAGE_OWNING(RED, lost, unsigned);
WEFT_MESSAGE_OWNING(BLUE, lost, unsigned);
WEFT_SIGNAL(STOP);
WEFT_SIGNAL(HOME);
WEFT_SIGNAL(NOISE);

static _Atomic uint64_t place[PLACES], resting[RESTING];
static atomic_ulong     thrown, caught, dropped, ends, late;
static atomic_ulong     looks, known, gone, moving, dumps;
static atomic_bool      over; /* nothing is thrown any more */
static unsigned long    throws, looks_wanted;
static weft_pid         umpire;
static uint64_t         luck = 7; /* the umpire's */

static void lost(void *body)
{
    (void)body;
    hunt_count(&dropped);
}

/* ---- Players --------------------------------------------------------------------------------------------- */

struct player {
    unsigned place, catches;
    uint64_t random;
};

/* Balls are in the air until enough were thrown, and enough looked at. */
static bool goes_on(void)
{
    return atomic_load(&thrown) < throws || atomic_load(&looks) < looks_wanted || !gone || !moving;
}

static void throw_ball(struct player *p)
{
    uint64_t r = draw(&p->random);
    weft_pid to = {place[(r >> 8) % PLACES]};

    if (weft_is_nobody(to))
        to = umpire; /* who takes no balls */
    hunt_count(&thrown);
    if (r % 16 == 0)
        weft_send_urgent(to, RED, (unsigned)p->place);
    else if (r % 2)
        weft_send(to, RED, (unsigned)p->place);
    else
        weft_send(to, BLUE, (unsigned)p->place);
}

/* False: it has had enough. */
static bool catch (struct player *p, weft_msg *m)
{
    hunt_count(&hunt_progress);
    if (!m) {
        hunt_count(&late);
    } else if (weft_tag(m) == RED || weft_tag(m) == BLUE) {
        hunt_count(&caught);
        p->catches++;
    } else {
        return weft_tag(m) != STOP;
    }
    if (goes_on() && (m || atomic_load(&thrown) - caught - dropped < BALLS))
        throw_ball(p);
    return p->catches < ENOUGH || draw(&p->random) % 4;
}

static weft_msg *next_ball(struct player *p)
{
    uint64_t r = draw(&p->random);

    switch (r % 4) {
    case 0:
        return weft_receive_within(weft_us((int64_t)(r >> 8) % 100), RED, STOP);
    case 1:
        return weft_receive_within(weft_us((int64_t)(r >> 8) % 100), BLUE, STOP);
    case 2:
        return weft_receive_within(weft_us((int64_t)(r >> 8) % 1000), RED, BLUE, STOP);
    default:
        return weft_receive(RED, BLUE, STOP);
    }
}

static void begin(unsigned at, uint64_t random);

static void leave(struct player *p, bool stopped)
{
    if (stopped)
        place[p->place] = 0;
    else
        begin(p->place, draw(&p->random));
    hunt_count(&ends);
}

static void plays(void *arg)
{
    struct player *p = arg;
    weft_msg      *m = NULL;

    while (catch (p, m))
        m = next_ball(p);
    leave(p, m && weft_tag(m) == STOP);
}

static void on_ball(void *arg, weft_msg *m)
{
    struct player *p = arg;
    uint64_t       r = draw(&p->random);

    if (!catch (p, m))
        leave(p, m && weft_tag(m) == STOP);
    else if (r % 2)
        weft_react(on_ball, p, RED, BLUE, STOP);
    else
        weft_react_within(weft_us((int64_t)(r >> 8) % 200), on_ball, p, RED, BLUE, STOP);
}

static void reacts(void *arg) { on_ball(arg, NULL); }

static void begin(unsigned at, uint64_t random)
{
    struct player p = {at, 0, random | 1};
    weft_pid      who;

    if (at % 3 == 0)
        who = weft_spawn(plays, &p, .copy_bytes = sizeof p);
    else if (at % 3 == 1)
        who = weft_spawn(reacts, &p, .copy_bytes = sizeof p);
    else
        who = weft_spawn(plays, &p, .copy_bytes = sizeof p, .bound = &(weft_bound){.messages = 4});
    if (weft_is_nobody(who))
        hunt_complain("no player", weft_spawn_error(), (long)at);
    place[at] = who.id;
}

static void *plays_as_thread(void *arg)
{
    struct player p = {(unsigned)(uintptr_t)arg, 0, (uintptr_t)arg};
    weft_msg     *m = NULL;

    place[p.place] = weft_self().id;
    do {
        p.catches = 0;
        catch (&p, m);
        m = next_ball(&p);
    } while (!m || weft_tag(m) != STOP);
    place[p.place] = 0;
    return NULL;
}

/* ---- Who rests ------------------------------------------------------------------------------------------- */

/* Its number is that of the messages that it has skipped. */
static void rests(void *arg)
{
    unsigned n = (unsigned)(uintptr_t)arg;

    for (unsigned i = 0; i < n; i++)
        weft_send(weft_self(), NOISE);
    weft_receive_within(weft_ms(0), HOME);
    weft_send(umpire, HOME); /* about to */
    weft_receive(HOME);
}

static _Atomic uint64_t watcher;

/* Nothing but its time ever wakes it. */
static void *watches_the_clock(void *unused)
{
    watcher = weft_self().id;
    while (!over)
        if (weft_receive_within(weft_us(20), HOME))
            hunt_complain("a message for nobody", 0, 0);
    return unused;
}

/* ---- Lookers --------------------------------------------------------------------------------------------- */

struct looker {
    uint64_t  random;
    weft_span waited[RESTING];
    weft_pid  list[2 * PLACES];
    weft_pid  before[PLACES]; /* who had the place some time ago */
};

static bool has(const char *text, const char *part) { return strstr(text, part) != NULL; }

static void look_at_rest(struct looker *l, unsigned i)
{
    weft_pid  who = {resting[i]};
    weft_view v;
    int       error = weft_look(who, &v, sizeof v);

    if (error || !v.known || strcmp(v.state, "receives") != 0 || strcmp(v.waits_for, "HOME") != 0)
        hunt_complain("who rests is not seen to", error, v.known);
    else if (v.mailbox != i)
        hunt_complain("a mailbox is not what it is", (long)v.mailbox, i);
    else if (v.waiting.ns < l->waited[i].ns)
        hunt_complain("who rests has moved", (long)v.waiting.ns, (long)l->waited[i].ns);
    l->waited[i] = v.waiting;
}

/* Those that are no threads: of one that moves, no more than that it does. */
static void check(const weft_view *v, unsigned at, weft_fn *fn)
{
    bool     known_state = !strcmp(v->state, "receives") || !strcmp(v->state, "reacts");
    weft_fn *right = at >= PLACES - THREADS ? NULL : at % 3 == 1 ? reacts : plays;

    if (fn != right)
        hunt_complain("another function", fn == NULL, at);

    if (!v->known) {
        hunt_count(&moving);
        if (strcmp(v->state, "runs") != 0 && strcmp(v->state, "ready") != 0)
            hunt_complain("neither runs nor is ready", v->state[0], at);
        return;
    }
    hunt_count(&known);
    if (!known_state || !has(v->waits_for, "STOP") || has(v->waits_for, "HOME"))
        hunt_complain("it can not wait so", v->state[0], at);
    if (at < PLACES - THREADS && at % 3 == 1 && (v->stack_bytes || v->state[2] != 'a'))
        hunt_complain("it reacts", (long)v->stack_bytes, at);
    if (at < PLACES - THREADS && at % 3 != 1 && (!v->stack_bytes || v->state[2] != 'c'))
        hunt_complain("it waits on a stack", (long)v->stack_bytes, at);
    if (v->mailbox > 4 && at < PLACES - THREADS && at % 3 == 2)
        hunt_complain("over its bound", (long)v->mailbox, at);
}

static void look_at_player(struct looker *l)
{
    unsigned  at = (unsigned)(draw(&l->random) % PLACES);
    weft_pid  who = {place[at]};
    weft_view v;
    weft_fn  *fn; /* its name takes long to find */

    if (draw(&l->random) % 4 == 0)
        who = l->before[at];
    if (weft_is_nobody(who))
        return;
    l->before[at] = who;
    if (weft__look(who, &v, &fn) < 0)
        hunt_count(&gone);
    else
        check(&v, at, fn);
}

static void look_at_all(struct looker *l)
{
    size_t n = weft_list(l->list, sizeof l->list / sizeof *l->list), found = 0;

    for (size_t i = 0; i < n; i++)
        for (unsigned j = 0; j < RESTING; j++)
            found += l->list[i].id == resting[j];
    if (found != RESTING)
        hunt_complain("not all who rest are listed", (long)found, (long)n);
    FILE *nowhere = fopen("/dev/null", "w");
    weft_dump(nowhere);
    fclose(nowhere);
    hunt_count(&dumps);
}

static void look_around(struct looker *l)
{
    weft_view v;
    weft_fn  *fn;

    for (int i = 0; i < 20; i++) {
        look_at_player(l);
        weft__look((weft_pid){watcher}, &v, &fn);
    }
    look_at_rest(l, (unsigned)(draw(&l->random) % RESTING));
    if (draw(&l->random) % 64 == 0)
        look_at_all(l);
    atomic_fetch_add(&looks, 21); /* no progress: whoever hangs can still be looked at */
}

static struct looker lookers[2 * LOOKERS];

static void looks_around(void *arg)
{
    while (!over) {
        look_around(arg);
        weft_yield();
    }
    weft_send(umpire, HOME);
}

static void *looks_as_thread(void *arg)
{
    while (!over) {
        look_around(arg);
        sched_yield();
    }
    return NULL;
}

/* ---- The game -------------------------------------------------------------------------------------------- */

static pthread_t threads[THREADS + LOOKERS + 1];

static void begin_all(void)
{
    umpire = weft_self();
    for (unsigned i = 0; i < RESTING; i++) {
        resting[i] = weft_spawn(rests, (void *)(uintptr_t)i).id;
        weft_receive(HOME);
    }
    for (unsigned i = 0; i < RESTING; i++) /* now it does */
        for (weft_view v = {0}; !v.known; weft_yield())
            weft_look((weft_pid){resting[i]}, &v, sizeof v);
    for (unsigned i = 0; i < PLACES - THREADS; i++)
        begin(i, i);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, plays_as_thread, (void *)(uintptr_t)(PLACES - THREADS + i));
    pthread_create(&threads[THREADS + LOOKERS], NULL, watches_the_clock, NULL);
    for (unsigned i = 0; i < 2 * LOOKERS; i++)
        lookers[i].random = i + 1;
    for (unsigned i = 0; i < LOOKERS; i++) {
        weft_spawn(looks_around, &lookers[i]);
        pthread_create(&threads[THREADS + i], NULL, looks_as_thread, &lookers[LOOKERS + i]);
    }
}

static void end_all(void)
{
    for (unsigned i = 0; i < PLACES; i++) /* a player may end just now, and another begin */
        for (uint64_t who; (who = place[i]); weft_receive_within(weft_us(100), STOP))
            weft_send_within(weft_ms(1), (weft_pid){who}, STOP);
    over = true;
    for (unsigned i = 0; i < LOOKERS; i++)
        weft_receive(HOME);
    for (unsigned i = 0; i <= THREADS + LOOKERS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < RESTING; i++)
        weft_send((weft_pid){resting[i]}, HOME);
}

static void plays_all(void *arg)
{
    (void)arg;
    begin_all();
    while (goes_on()) {
        weft_receive_within(weft_ms(1), STOP);
        for (struct player p = {0, 0, draw(&luck) | 1}; thrown - caught - dropped < BALLS;)
            throw_ball(&p);
    }
    end_all();
}

int main(void)
{
    hunt_begin("stress_look");
    throws = scaled(THROWS);
    looks_wanted = scaled(LOOKS);
    int result = weft_run(plays_all, NULL, .workers = 4);
    if (result)
        hunt_complain("the end", result, 0);
    if (caught + dropped != thrown)
        hunt_complain("balls", (long)thrown, (long)(caught + dropped));
    printf(
        "%lu balls, %lu caught; %lu players, %lu times over; %lu looks, %lu at one who waits, %lu at one who "
        "moves, %lu gone; %lu dumps\n",
        thrown, caught, ends, late, looks, known, moving, gone, dumps);
    return hunt_wrong != 0;
}
