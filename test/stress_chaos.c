/* stress_chaos.c - everything at once: tens of thousands of actors that are linked, monitored, killed, and overflow.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Elders trap, and nobody ends them. Each keeps a plot of mortals, which it spawns again when it hears of their ends, and
 * links, monitors, kills, asks and writes to any mortal there is; some have a supervisor, too. Mortals are fibers or react,
 * some have a bounded mailbox, a stack of their own size, a name; they do the same to each other, set timers, have children,
 * and end: by themselves, by an overflow, or by whatever an elder, another mortal or a thread does to them. Checked, when
 * the time is over and all mortals have been ended:
 *   - each monitor of an elder has told once, or was taken back; of each mortal that it has linked last an elder has
 *     heard, of none that it has unlinked;
 *   - each question has been answered, or has failed;
 *   - whatever a mortal deferred has run; what a message owned is destroyed, or was read;
 *   - no name is taken, no timer set; each actor has ended, each message, control block and stack is free.
 *
 * WEFT_CHAOS_SEED: what is drawn; else by the clock. WEFT_CHAOS_SECONDS: how long.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <weft/bound.h>
#include <weft/supervisor.h>

#include "census.h"
#include "help.h"
#include "hunt.h"
#include "runtime/actor.h"

enum { SECONDS = 6, THREADS = 2, NAMES = 64, WARDS = 3, GUARDS = 4, LINKS = 16, WATCHES = 16, WORKERS = 4 };
#if defined(__SANITIZE_THREAD__)
enum { ELDERS = 12, PLOT = 16 };
#elif defined(__SANITIZE_ADDRESS__)
enum { ELDERS = 60, PLOT = 64 };
#else
enum { ELDERS = 320, PLOT = 64 };
#endif
enum { MORTALS = ELDERS * PLOT, PLACES = MORTALS + GUARDS * WARDS, FATHOM = 300 };

static void destroyed(void *unused);

WEFT_MESSAGE_OWNING(
    TOKEN, destroyed, struct token { char filler[40]; });
WEFT_SIGNAL(BEAT);
WEFT_SIGNAL(QUESTION);
WEFT_SIGNAL(ANSWER);
WEFT_SIGNAL(LAST_WORDS);
WEFT_SIGNAL(NEVER);
WEFT_SIGNAL(DONE);
WEFT_SIGNAL(END);

static _Atomic uint64_t place[PLACES]; /* relaxed: pids of mortals that live, or did a moment ago */
static atomic_bool      running, over, overflows;
static atomic_int       threads_left;
static atomic_long      bodies; /* of tokens that nobody has read or destroyed */
static atomic_ulong     births, begun, passed, told, taken_back, heard, unlinked, answered, kills, overflown,
    restarts;
static uint64_t seed;

static uint64_t below(uint64_t *random, uint64_t n) { return draw(random) % n; }

static uint64_t new_random(void)
{
    static atomic_ulong n;

    return (seed + atomic_fetch_add_explicit(&n, 1, memory_order_relaxed)) * 0x9E3779B97F4A7C15u | 1;
}

static void destroyed(void *unused)
{
    (void)unused;
    bodies--;
}

static weft_pid anybody(uint64_t *random)
{
    return (weft_pid){atomic_load_explicit(&place[below(random, PLACES)], memory_order_relaxed)};
}

static const char *any_name(uint64_t *random, char text[24])
{
    snprintf(text, 24, "name %d", (int)below(random, NAMES));
    return text;
}

/* ---- What anybody does --------------------------------------------------------------------------------------------- */

static void give_token(uint64_t *random, weft_pid to)
{
    char name[24];

    bodies++; /* whatever becomes of it */
    switch (below(random, 6)) {
    case 0:
        weft_send_urgent(to, TOKEN, "");
        break;
    case 1:
        weft_send_after(weft_us((int64_t)below(random, 3000)), to, TOKEN, "");
        break;
    case 2:
        weft_send_within(weft_us((int64_t)below(random, 100)), to, TOKEN, "");
        break;
    case 3:
        weft_send_name(any_name(random, name), TOKEN, "");
        break;
    default:
        weft_send(to, TOKEN, "");
    }
}

static void ask(uint64_t *random, weft_pid whom, weft_span time)
{
    weft_msg *m = weft_ask(time, whom, QUESTION);

    (void)random;
    if (m)
        hunt_count(&answered);
    if (m ? !weft_is(m, ANSWER) && !weft_is(m, WEFT_FAILED) : time.ns == INT64_MAX)
        hunt_complain("no answer", m ? (long)m->type : 0, 0);
}

static void end_one(uint64_t *random, weft_pid who)
{
    hunt_count(&kills);
    if (below(random, 2))
        weft_kill(who);
    else
        weft_exit(who, (int)below(random, 4));
}

static void name_one(uint64_t *random, weft_pid who)
{
    char text[24];

    any_name(random, text);
    if (below(random, 4))
        weft_register(text, who);
    else
        weft_unregister(text);
}

static void read_one(uint64_t *random, weft_msg *m)
{
    if (m && weft_is(m, TOKEN))
        bodies--;
    if (!m || !weft_is(m, QUESTION))
        return;
    switch (below(random, 4)) {
    case 0:
        weft_forward(anybody(random), m);
        break;
    case 1: /* its end fails it */
        break;
    default:
        weft_reply(m, ANSWER);
    }
}

/* ---- Mortals ------------------------------------------------------------------------------------------------------- */

struct mortal {
    uint64_t random;
    int      left; /* steps */
    weft_ref monitor, beats;
};

static void passes(void *unused)
{
    (void)unused;
    hunt_count(&passed);
}

static __attribute__((noinline)) int sink(int n)
{
    volatile char room[FATHOM];

    room[0] = (char)n;
    return n ? sink(n + 1) + room[0] : 0;
}

static void child(void *arg)
{
    uint64_t random = *(uint64_t *)arg;

    read_one(&random, weft_receive_within(weft_us((int64_t)below(&random, 200)), WEFT_ANY));
    weft_end((int)below(&random, 3));
}

static void have_a_child(struct mortal *m)
{
    uint64_t random = draw(&m->random);
    weft_ref unused;

    switch (below(&m->random, 3)) {
    case 0:
        weft_spawn(child, &random, .copy_bytes = sizeof random, .link = true);
        break;
    case 1:
        weft_spawn(child, &random, .copy_bytes = sizeof random, .monitor = &unused);
        break;
    case 2:
        weft_spawn(child, &random, .copy_bytes = sizeof random, .link = true, .monitor = &unused);
        break;
    }
}

static void set_a_timer(struct mortal *m, weft_pid who)
{
    weft_cancel(m->beats);
    m->beats = weft_send_every(weft_ms(2 + (int64_t)below(&m->random, 40)),
                               below(&m->random, 2) ? who : weft_self(), BEAT);
}

static void bond(struct mortal *m, weft_pid who)
{
    switch (below(&m->random, 4)) {
    case 0:
        weft_unlink(who);
        break;
    case 1:
        m->monitor = weft_monitor(who);
        break;
    case 2:
        weft_demonitor(m->monitor);
        break;
    default:
        weft_link(who);
    }
}

static void step(struct mortal *m)
{
    weft_pid who = anybody(&m->random);

    switch (below(&m->random, 12)) {
    case 0:
    case 1:
        bond(m, who);
        break;
    case 2:
    case 3:
        give_token(&m->random, who);
        break;
    case 4:
        ask(&m->random, who, weft_us((int64_t)below(&m->random, 200)));
        break;
    case 5:
        name_one(&m->random, weft_self());
        break;
    case 6:
        set_a_timer(m, who);
        break;
    case 7:
        have_a_child(m);
        break;
    case 8:
        if (below(&m->random, 8) == 0)
            weft_exit(who, (int)below(&m->random, 4));
        break;
    case 9:
        weft_yield();
        break;
    default:
        read_one(&m->random, weft_receive_within(weft_us((int64_t)below(&m->random, 500)), WEFT_ANY));
    }
}

static void depart(struct mortal *m)
{
    switch (below(&m->random, 8)) {
    case 0:
        weft_end(1 + (int)below(&m->random, 3));
    case 1:
        weft_end_with(1, LAST_WORDS);
    case 2:
        weft_kill(weft_self());
        break;
    case 3:
        if (overflows && below(&m->random, 16) == 0) {
            hunt_count(&overflown);
            weft_alloc((size_t)sink(1) % 2);
        }
        break;
    }
}

static void begin_life(struct mortal *m)
{
    m->left = (int)below(&m->random, 24);
    if (weft_defer(passes, NULL) == 0)
        hunt_count(&begun);
    weft_trap(below(&m->random, 3) == 0);
}

static void walks(void *arg)
{
    struct mortal *m = arg;

    begin_life(m);
    while (m->left--)
        step(m);
    depart(m);
}

static void on_anything(void *state, weft_msg *msg)
{
    struct mortal *m = state;

    read_one(&m->random, msg);
    step(m);
    if (m->left-- > 0)
        weft_react_within(weft_us((int64_t)below(&m->random, 500)), on_anything, m, WEFT_ANY);
    else
        depart(m);
}

static void reacts(void *arg)
{
    begin_life(arg);
    on_anything(arg, NULL);
}

/* ---- Under a supervisor -------------------------------------------------------------------------------------------- */

static void ward(void *arg)
{
    struct mortal m = {.random = new_random()};

    atomic_store_explicit((_Atomic uint64_t *)arg, weft_self().id, memory_order_relaxed);
    hunt_count(&restarts);
    walks(&m);
}

static weft_pid supervise(_Atomic uint64_t *wards, uint64_t *random)
{
    weft_child children[WARDS];

    for (int i = 0; i < WARDS; i++)
        children[i] = (weft_child){
            .fn = ward, .arg = &wards[i], .restart = (enum weft_restart)(i % 2), .shutdown = weft_ms(20)};
    return weft_supervise(&(weft_supervisor){.strategy = (enum weft_strategy)below(random, 3),
                                             .max_restarts = 20,
                                             .period = weft_ms(10),
                                             .children = children,
                                             .count = WARDS});
}

/* ---- Elders -------------------------------------------------------------------------------------------------------- */

struct watch {
    weft_ref ref;
    weft_pid who;
};

struct elder {
    uint64_t     random;
    int          me, alive;
    struct watch plot[PLOT], watches[WATCHES];
    struct {
        weft_pid who;
        bool     linked; /* or it was let go */
    } link[LINKS];
    struct watch supervisor;
};

static struct watch *any_watch(struct elder *e) { return &e->watches[below(&e->random, WATCHES)]; }

static void told_by(struct elder *e, const struct weft_down *d)
{
    struct watch *w = NULL;

    for (int i = 0; i < PLOT && !w; i++)
        if (e->plot[i].ref.id == d->ref.id)
            w = &e->plot[i], e->alive--;
    for (int i = 0; i < WATCHES && !w; i++)
        if (e->watches[i].ref.id == d->ref.id)
            w = &e->watches[i];
    if (!w && e->supervisor.ref.id == d->ref.id)
        w = &e->supervisor;
    if (!w || !weft_same(w->who, d->who))
        hunt_complain("a monitor tells twice, or of another, or was taken back", (long)d->ref.id, d->reason);
    else
        *w = (struct watch){0};
    hunt_count(&told);
}

static void hears(struct elder *e, const struct weft_exited *x)
{
    if (!x->linked)
        return;
    hunt_count(&heard);
    for (int i = 0; i < LINKS; i++)
        if (weft_same(e->link[i].who, x->who)) {
            if (!e->link[i].linked)
                hunt_complain("heard of one that was unlinked", (long)x->who.id, x->reason);
            e->link[i].who = WEFT_NOBODY;
            return;
        }
    hunt_complain("heard of one that was not linked", (long)x->who.id, x->reason);
}

static void hear_all(struct elder *e, weft_span time)
{
    for (weft_msg *m; (m = weft_receive_within(time, WEFT_DOWN, WEFT_EXIT, WEFT_ANY)); time = weft_ns(0))
        if (weft_is(m, WEFT_DOWN))
            told_by(e, weft_get(m, WEFT_DOWN));
        else if (weft_is(m, WEFT_EXIT))
            hears(e, weft_get(m, WEFT_EXIT));
        else
            read_one(&e->random, m);
}

static void plant(struct elder *e)
{
    static weft_fn *const kinds[] = {walks, reacts};
    char                  name[24];
    int                   i = (int)below(&e->random, PLOT);
    struct mortal         m = {.random = new_random()};
    uint64_t              r = draw(&e->random);
    weft_bound            bound = {.messages = 1 + r % 16, .full = (enum weft_full)(r / 16 % 3)};

    if (e->plot[i].who.id)
        return;
    weft_pid who = weft_spawn(kinds[r / 64 % 2], &m, .copy_bytes = sizeof m, .monitor = &e->plot[i].ref,
                              .stack_bytes = r / 128 % 32 ? 0 : 100000, .bound = r / 4096 % 8 ? NULL : &bound,
                              .name = r / 32768 % 16 ? NULL : any_name(&e->random, name));
    if (weft_is_nobody(who)) {
        e->plot[i].ref.id = 0; /* the name was taken */
        return;
    }
    hunt_count(&births);
    hunt_count(&hunt_progress);
    e->plot[i].who = who;
    e->alive++;
    atomic_store_explicit(&place[e->me * PLOT + i], who.id, memory_order_relaxed);
}

static void watch(struct elder *e, weft_pid who)
{
    struct watch *w = any_watch(e);

    if (w->ref.id && below(&e->random, 2)) {
        if (below(&e->random, 2))
            weft_demonitor(w->ref);
        else if (weft_demonitor_keep(w->ref))
            return; /* it has come, and will be received */
        *w = (struct watch){0};
        hunt_count(&taken_back);
    } else if (!w->ref.id) {
        *w = (struct watch){weft_monitor(who), who};
    }
}

/* What was told before is heard first. */
static void let_go(struct elder *e, int i)
{
    hear_all(e, weft_ns(0));
    if (!e->link[i].linked || !e->link[i].who.id)
        return;
    weft_unlink(e->link[i].who);
    e->link[i].linked = false;
    hunt_count(&unlinked);
}

static void hold(struct elder *e, weft_pid who)
{
    int at = (int)below(&e->random, LINKS);

    for (int i = 0; i < LINKS; i++)
        if (weft_same(e->link[i].who, who))
            at = i;
    if (e->link[at].who.id && e->link[at].linked) {
        let_go(e, at);
        return;
    }
    e->link[at].who = who;
    e->link[at].linked = true;
    weft_link(who);
}

static void tend(struct elder *e)
{
    weft_pid who = anybody(&e->random);

    if (weft_is_nobody(who))
        return;
    switch (below(&e->random, 8)) {
    case 0:
    case 1:
        hold(e, who);
        break;
    case 2:
    case 3:
        watch(e, who);
        break;
    case 4:
        if (below(&e->random, 4) == 0)
            end_one(&e->random, who);
        break;
    case 5:
        ask(&e->random, who, below(&e->random, 4) ? weft_us(100) : WEFT_FOREVER);
        break;
    case 6:
        give_token(&e->random, who);
        break;
    case 7:
        name_one(&e->random, who);
        break;
    }
}

static void guard(struct elder *e)
{
    struct watch *s = &e->supervisor;

    if (e->me >= GUARDS || s->who.id)
        return;
    s->who = supervise(&place[MORTALS + e->me * WARDS], &e->random);
    if (s->who.id)
        s->ref = weft_monitor(s->who);
}

static bool waits(const struct elder *e)
{
    for (int i = 0; i < LINKS; i++)
        if (e->link[i].who.id && e->link[i].linked)
            return true;
    for (int i = 0; i < WATCHES; i++)
        if (e->watches[i].ref.id)
            return true;
    return e->alive || e->supervisor.ref.id;
}

/* Everybody does, and all links and monitors lead to mortals. */
static void end_all(struct elder *e)
{
    for (int i = 0; i < PLOT; i++)
        if (e->plot[i].who.id)
            end_one(&e->random, e->plot[i].who), weft_kill(e->plot[i].who);
    weft_exit(e->supervisor.who, WEFT_ESTOP);
    while (waits(e))
        hear_all(e, WEFT_FOREVER); /* or this hangs */
}

static void tends(void *arg)
{
    struct elder *e = weft_alloc(sizeof *e);

    *e = (struct elder){.random = new_random(), .me = (int)((weft_pid *)arg)->id};
    weft_trap(true);
    while (!over) {
        guard(e);
        for (int i = 0; i < PLOT / 4; i++)
            plant(e);
        for (int i = 0; i < 8; i++)
            tend(e);
        hear_all(e, weft_us((int64_t)below(&e->random, 1000)));
    }
    end_all(e);
    hunt_count(&hunt_progress);
    weft_send(((weft_pid *)arg)[1], DONE);
    weft_receive(END);
}

/* ---- Threads ------------------------------------------------------------------------------------------------------- */

static void *interferes(void *unused)
{
    uint64_t random = new_random();

    while (!running) /* or a timer would start a system of its own */
        usleep(100);
    while (!over) {
        weft_pid who = anybody(&random);
        switch (below(&random, 4)) {
        case 0:
            end_one(&random, who);
            break;
        case 1:
            ask(&random, who, weft_us(100));
            break;
        case 2:
            give_token(&random, who);
            break;
        case 3:
            usleep(100);
            break;
        }
    }
    threads_left--;
    return unused;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------- */

static long from_environment(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtol(text, NULL, 0) : otherwise;
}

static void check_the_end(void)
{
    char name[24];

    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "name %d", i);
        if (weft_whereis(name).id)
            hunt_complain("a name is taken", i, (long)weft_whereis(name).id);
    }
    for (weft_counts c; c = counted(), c.spawned - c.ended > 1 + ELDERS || threads_left;)
        weft_yield(); /* children and threads; or this hangs */
    while (weft__timers_earliest() != INT64_MAX)
        weft_yield(); /* the last tokens; or this hangs */
    if (bodies)
        hunt_complain("tokens are neither read nor destroyed", bodies, 0);
    if (begun != passed)
        hunt_complain("deferred functions have not run", (long)begun, (long)passed);
}

static void begins(void *seconds)
{
    weft_pid elder[ELDERS];

    for (uint64_t i = 0; i < ELDERS; i++) {
        weft_pid arg[2] = {{i}, weft_self()};
        elder[i] = weft_spawn(tends, arg, .copy_bytes = sizeof arg);
    }
    running = true;
    weft_sleep(weft_sec(*(long *)seconds));
    over = true;
    for (int i = 0; i < ELDERS; i++)
        weft_receive(DONE);
    check_the_end();
    for (int i = 0; i < ELDERS; i++)
        weft_send(elder[i], END);
}

static size_t stacks_lost(void)
{
    static const size_t      sizes[] = {4096, WEFT__STACK_DEFAULT - 8192, 100000};
    struct weft__stack_cache cache = {0};
    size_t                   all = weft__stack_count(), got = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t now = weft__stack_count();;) {
            if (!weft__stack_get(&cache, (unsigned)weft__stack_class(sizes[i])) || weft__stack_count() != now)
                break;
            got++;
        }
    return all - got;
}

/* The reports of overflows go nowhere; what is said here, and by sanitizers, goes where it should. */
static void silence_reports(void)
{
    void __sanitizer_set_report_fd(void *fd) __attribute__((weak));
    int  real = dup(STDERR_FILENO);

    stderr = fdopen(real, "w");
    if (__sanitizer_set_report_fd)
        __sanitizer_set_report_fd((void *)(intptr_t)real);
    if (!freopen("/dev/null", "w", fdopen(STDERR_FILENO, "w")))
        hunt_complain("no /dev/null", 0, 0);
}

static void check_what_is_left(void)
{
    size_t      messages = census_messages_lost(), actors = census_actors_lost(), stacks = stacks_lost();
    weft_counts now = counted();

    if (now.spawned != now.ended)
        hunt_complain("not all have ended", (long)now.spawned, (long)now.ended);
    if (messages || actors || stacks)
        hunt_complain("messages, or actors and stacks, are lost", (long)messages, (long)(actors + stacks));
    if (!births || !told || !taken_back || !heard || !unlinked || !answered || !restarts)
        hunt_complain("something never happened", 0, 0);
}

int main(void)
{
    pthread_t thread[THREADS];
    long      seconds = from_environment("WEFT_CHAOS_SECONDS", (long)scaled(SECONDS));

    seed = (uint64_t)from_environment("WEFT_CHAOS_SEED", (long)time(NULL));
    printf("stress_chaos: WEFT_CHAOS_SEED=%llu WEFT_CHAOS_SECONDS=%ld\n", (unsigned long long)seed, seconds);
    fflush(stdout);
    silence_reports();
    hunt_begin("stress_chaos");
    census_begin();
    overflows = can_isolate();
    threads_left = THREADS;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, interferes, NULL);
    int reason = weft_run(begins, &seconds, .workers = WORKERS, .overflow = WEFT_OVERFLOW_ISOLATE);
    running = over = true; /* if it did not run */
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    if (reason)
        hunt_complain("ended otherwise", reason, 0);
    check_what_is_left();
    printf("stress_chaos: %s: seed %llu, %lu mortals, %lu wards; %lu monitors told, %lu taken back; %lu "
           "links heard, %lu "
           "undone; %lu answers, %lu kills, %lu overflows; %lu wrong\n",
           hunt_wrong ? "FAILED" : "ok", (unsigned long long)seed, births, restarts, told, taken_back, heard,
           unlinked, answered, kills, overflown, hunt_wrong);
    return hunt_wrong ? 1 : 0;
}
