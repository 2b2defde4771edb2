/* stress_bound.c - mailboxes that are full, whose owners end and whose gates are used again.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Part 1: a few places, in each a bounded actor that receives selectively, by fiber or by handler, writes letters
 * itself, and ends after a few; the next one has another bound. Fibers, handlers, threads and the bounded actors write
 * to who lives there now, or lived there long ago: plainly, urgently, by another rule, and waiting for room: not at all,
 * for microseconds, for ever. A letter owns something. Checked:
 *   - it is read or destroyed, once: by whom it was meant for, or before the send that fails returns (or, where that
 *     has waited and its receiver has ended, soon after);
 *   - what a send returns is possible: nobody has gone who has not begun to end, or is back who has; no time is over too
 *     early; of WEFT_ECYCLE, somebody waits for the caller;
 *   - letters of one sender and one type are read in the order sent;
 *   - no mailbox has more than its bound, as far as its owner knows between two receives;
 *   - what was sent is what was read and what was counted as dead;
 *   - all this comes to an end.
 * It goes on until everything that is hunted has happened.
 *
 * Part 2: one that waits for much room gives up; who waits behind it needs little, and must be let in at once, as nobody
 * else makes room.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <weft/bound.h>

#include "help.h"
#include "hunt.h"

enum {
    PLACES = 8,
    QUIET = 2, /* of them: bounded actors do not wait for room there */
    FIBERS = 6,
    REACTORS = 4,
    THREADS = 3,
    OUTSIDE = FIBERS + REACTORS + THREADS,
    WRITERS = OUTSIDE + PLACES,
    KINDS = 3,       /* of letters */
    TURN = 10,       /* letters of a writer before it lets others */
    ROOM = 1 << 18,  /* letters of a writer at most */
    LIVES = 1 << 18, /* at most */
    NARROW = 3
};
#ifdef __SANITIZE_THREAD__
enum { LETTERS = 6000, ROUNDS = 4000 };
#else
enum { LETTERS = 30000, ROUNDS = 10000 };
#endif

struct letter {
    uint32_t who, number, life;
    uint16_t bytes;
    bool     urgent;
};

static void burn(void *body);

WEFT_MESSAGE_OWNING(
    NOTE, burn, struct note { struct letter letter; });
WEFT_MESSAGE_OWNING(
    PARCEL, burn, struct parcel { struct letter letter; });
WEFT_MESSAGE_OWNING(
    CRATE, burn, struct crate {
        struct letter letter;
        char          filler[184];
    });
WEFT_SIGNAL(STOP);
WEFT_SIGNAL(WRITE);
WEFT_SIGNAL(PING);
WEFT_SIGNAL(PONG);
WEFT_SIGNAL(GO);
WEFT_SIGNAL(DONE);
WEFT_MESSAGE(
    BULK, struct bulk { char filler[200]; });
WEFT_MESSAGE(CHIP, unsigned long);

enum { UNSENT, MADE, READ, BURNT };

struct life {
    _Atomic uint64_t pid; /* 0: not born yet */
    weft_bound       bound;
    atomic_bool      ending, gone; /* it is about to; somebody was told so */
    atomic_ulong     returned, burnt, returned_bytes, burnt_bytes;
    atomic_ulong     begun, finished; /* waits of bounded actors for room here */
};

/* Whoever writes; of a bounded actor, home is its own life. */
struct pen {
    unsigned     who;
    uint64_t     random;
    struct life *home;
};

static struct life  *life;
static atomic_uint   lives;
static atomic_uint   board[PLACES];
static atomic_uchar *fate[WRITERS];
static uint32_t      next_number[WRITERS]; /* its writer's */
static unsigned long letters;
static atomic_int    serving, writing;
static atomic_bool   over;
static weft_pid      echo;
static atomic_ulong  stops_sent, stops_read;
static atomic_ulong  full, too_large, gone, late, cycles, let_in, taken, destroyed, gave_up; /* letters */

/* Everything has happened that is hunted. */
static bool is_enough(void) { return full && too_large && gone && late && cycles && let_in && taken; }

static void settle_fate(const struct letter *l, int is)
{
    int was = atomic_exchange(&fate[l->who][l->number], (unsigned char)is);

    if (was != MADE)
        hunt_complain("read or destroyed twice, or never sent", was, is);
}

static void burn(void *body)
{
    struct letter *l = body;
    struct life   *to = &life[l->life];

    settle_fate(l, BURNT);
    hunt_count(&destroyed);
    atomic_fetch_add(&to->burnt_bytes, l->bytes);
    atomic_fetch_add(&to->burnt, 1);
}

/* ---- Writing ------------------------------------------------------------------------------------------------------- */

enum way { PLAIN, URGENT, BY_RULE, AT_ONCE, SHORT, FOREVER, WAYS };

struct sending {
    struct pen    *by;
    struct life   *to;
    enum way       way;
    enum weft_full rule;
    weft_span      time;
    weft_type     *type;
    struct crate   body; /* or the beginning of one */
    bool           was_gone;
    unsigned long  finished;
    int64_t        began;
};

static weft_type *const kinds[KINDS] = {&weft_type_NOTE, &weft_type_PARCEL, &weft_type_CRATE};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static struct life *somebody(struct pen *p)
{
    uint64_t r = draw(&p->random);
    unsigned all = lives;

    if (r % 16 == 0)
        return &life[r / 16 % all];
    return &life[atomic_load(&board[r / 16 % PLACES])];
}

static bool is_quiet(const struct life *l)
{
    for (int i = 0; i < QUIET; i++)
        if (l == &life[atomic_load(&board[i])])
            return true;
    return false;
}

static void choose_way(struct sending *s, struct pen *p)
{
    uint64_t r = draw(&p->random);

    s->way = (enum way)(r % WAYS);
    r /= WAYS;
    s->rule = s->to->bound.full;
    if (s->way == BY_RULE) /* the owner could not check a bound of bytes */
        s->rule = s->to->bound.bytes && r % 3 == WEFT_FULL_DROP_OLDEST ? WEFT_FULL_FAIL
                                                                       : (enum weft_full)(r % 3);
    s->time = s->way == AT_ONCE ? weft_ns(0)
              : s->way == SHORT ? weft_us(1 + (int64_t)(r % 100))
                                : WEFT_FOREVER;
}

static void begin_sending(struct sending *s, struct pen *p)
{
    s->by = p;
    s->type = kinds[draw(&p->random) % KINDS];
    s->body.letter = (struct letter){.who = p->who,
                                     .number = next_number[p->who]++,
                                     .life = (uint32_t)(s->to - life),
                                     .bytes = (uint16_t)s->type->bytes,
                                     .urgent = s->way == URGENT};
    atomic_store(&fate[p->who][s->body.letter.number], MADE);
    s->was_gone = s->to->gone;
    s->finished = p->home ? p->home->finished : 0;
    s->began = now_ns();
}

static int send_it(struct sending *s)
{
    weft_pid to = {s->to->pid};

    if (s->way == PLAIN)
        return weft_send_body(to, s->type, &s->body);
    if (s->way == URGENT)
        return weft_send_urgent_body(to, s->type, &s->body);
    if (s->way == BY_RULE)
        return weft_pass_full(to, weft_make_body(s->type, &s->body), s->rule);
    if (s->began % 2)
        return weft_pass_within(s->time, to, weft_make_body(s->type, &s->body));
    return weft_send_within_body(s->time, to, s->type, &s->body);
}

static bool waits(const struct sending *s) { return s->way == SHORT || s->way == FOREVER; }

static bool is_possible(const struct sending *s, int result)
{
    switch (result) {
    case 0:
        return true;
    case WEFT_EGONE:
        return s->to->ending;
    case WEFT_ESIZE:
        return s->to->bound.bytes && s->type->bytes > s->to->bound.bytes;
    case WEFT_EFULL:
        return s->way < AT_ONCE && s->rule == WEFT_FULL_FAIL;
    case WEFT_ETIME:
        return s->way == AT_ONCE || (s->way == SHORT && now_ns() - s->began >= s->time.ns);
    case WEFT_ECYCLE: /* somebody began to wait for us before this, and had not finished when it began */
        return waits(s) && s->by->home && s->by->home->begun > s->finished;
    default:
        return false;
    }
}

static void count_result(int result)
{
    switch (result) {
    case WEFT_EGONE:
        hunt_count(&gone);
        break;
    case WEFT_ESIZE:
        hunt_count(&too_large);
        break;
    case WEFT_EFULL:
        hunt_count(&full);
        break;
    case WEFT_ETIME:
        hunt_count(&late);
        break;
    case WEFT_ECYCLE:
        hunt_count(&cycles);
        break;
    }
}

static void end_sending(struct sending *s, int result)
{
    int now = atomic_load(&fate[s->by->who][s->body.letter.number]);

    if (!is_possible(s, result))
        hunt_complain("an impossible result", result, s->way);
    /* whom a mailbox that closes turns away is told so before its letter is buried with the others */
    if (result && now != BURNT && !(result == WEFT_EGONE && waits(s)))
        hunt_complain("not sent, and not destroyed", result, s->way);
    if (s->was_gone && result != WEFT_EGONE)
        hunt_complain("sent to who has gone", result, s->way);
    if (result == WEFT_EGONE)
        s->to->gone = true;
    count_result(result);
    hunt_count(&hunt_progress);
    atomic_fetch_add(&s->to->returned_bytes, s->body.letter.bytes);
    atomic_fetch_add(&s->to->returned, 1);
}

static int write_letter(struct sending *s, struct pen *p)
{
    bool counts = p->home && waits(s);

    begin_sending(s, p);
    if (counts)
        atomic_fetch_add(&s->to->begun, 1);
    int result = send_it(s);
    if (counts)
        atomic_fetch_add(&s->to->finished, 1);
    end_sending(s, result);
    return result;
}

/* False: there is no room for its fate. */
static bool write_some(struct pen *p)
{
    struct sending s = {.to = somebody(p)};

    if (next_number[p->who] > ROOM - 2)
        return false;
    if (!s.to->pid)
        return true;
    choose_way(&s, p);
    if (p->home && waits(&s) && is_quiet(s.to))
        s.way = PLAIN;
    if (s.way == FOREVER) { /* only where there was no room a moment ago */
        s.way = AT_ONCE;
        s.time = weft_ns(0);
        if (write_letter(&s, p) != WEFT_ETIME)
            return true;
        s.way = FOREVER;
        s.time = WEFT_FOREVER;
    }
    if (write_letter(&s, p) == 0 && s.way == FOREVER)
        hunt_count(&let_in);
    return true;
}

/* ---- Bounded actors ------------------------------------------------------------------------------------------------ */

struct soul {
    unsigned      place, life;
    uint64_t      random;
    int           left;
    bool          stopped;
    struct pen    pen;
    unsigned long read, read_bytes;
    uint32_t      last[WRITERS][KINDS][2]; /* the number after; urgent ones apart */
};

static void live(void *arg);

static weft_bound choose_bound(uint64_t r)
{
    static const size_t messages[] = {1, 1, 2, 3, 8}, bytes[] = {100, 250, 500};
    weft_bound          b = {.full = r % 2 ? WEFT_FULL_FAIL : (enum weft_full)(r / 2 % 3)};

    r /= 6;
    if (r % 3)
        b.messages = messages[r / 3 % 5];
    if (r % 3 != 1)
        b.bytes = bytes[r / 15 % 3];
    return b;
}

static void be_born(unsigned place, uint64_t random)
{
    struct soul  s = {.place = place, .life = atomic_fetch_add(&lives, 1), .random = random};
    struct life *l = &life[s.life];

    l->bound = choose_bound(draw(&s.random));
    weft_pid who = weft_spawn(live, &s, .copy_bytes = sizeof s, .bound = &l->bound);
    if (weft_is_nobody(who))
        hunt_complain("not born", weft_spawn_error(), (long)place);
    l->pid = who.id;
    board[place] = s.life;
}

static void pass_away(struct soul *s)
{
    life[s->life].ending = true;
    if (s->stopped)
        serving--;
    else
        be_born(s->place, draw(&s->random));
}

/* What has been sent for good and is neither destroyed nor read is in the mailbox: at least so much. */
static void check_bound(const struct soul *s)
{
    struct life  *l = &life[s->life];
    unsigned long sent = l->returned, sent_bytes = l->returned_bytes; /* before the others */
    long          in = (long)(sent - l->burnt - s->read);
    long          bytes = (long)(sent_bytes - l->burnt_bytes - s->read_bytes);

    if (l->bound.bytes && l->bound.full == WEFT_FULL_DROP_OLDEST)
        return; /* one that drops several may be about to count them */
    if (l->bound.messages && in > (long)l->bound.messages)
        hunt_complain("more messages than its bound", in, (long)l->bound.messages);
    if (l->bound.bytes && bytes > (long)l->bound.bytes)
        hunt_complain("more bytes than its bound", bytes, (long)l->bound.bytes);
}

static int kind_of(const weft_msg *m) { return weft_is(m, NOTE) ? 0 : weft_is(m, PARCEL) ? 1 : 2; }

static void read_letter(struct soul *s, const weft_msg *m)
{
    int                  kind = kind_of(m);
    const struct letter *l = weft_body(m, kinds[kind]);
    uint32_t            *last = &s->last[l->who][kind][l->urgent];

    settle_fate(l, READ);
    if (l->life != s->life)
        hunt_complain("a letter to another life", l->life, s->life);
    if (l->number < *last)
        hunt_complain("not in the order sent", l->number, *last);
    *last = l->number + 1;
    s->read++;
    s->read_bytes += l->bytes;
    hunt_count(&taken);
    hunt_count(&hunt_progress);
}

static bool may_end(const struct soul *s) { return s->left <= 0 && lives < LIVES && !over; }

/* True: it lives on. */
static bool serve(struct soul *s, weft_msg *m)
{
    if (!m)
        return true;
    if (weft_is(m, STOP)) {
        hunt_count(&stops_read);
        s->stopped = over;
        return !over;
    }
    read_letter(s, m);
    uint64_t r = draw(&s->random);
    if (r % 4 == 0)
        write_some(&s->pen);
    else if (r % 32 == 1)
        weft_sleep(weft_us((int64_t)(r / 32 % 50)));
    else if (r % 32 == 2)
        weft_ask(WEFT_FOREVER, echo, PING);
    check_bound(s);
    s->left--;
    return !may_end(s);
}

/* Never for ever for some of them: nobody makes room for the others. */
static weft_msg *receive_one(struct soul *s)
{
    uint64_t  r = draw(&s->random);
    weft_span time = weft_us((int64_t)(r / 8 % 40));
    weft_msg *m = NULL;

    switch (r % 8) {
    case 0:
        m = weft_receive_within(time, CRATE);
        break;
    case 1:
        m = weft_receive_within(time, PARCEL);
        break;
    case 2:
        m = weft_receive_within(time, NOTE, CRATE);
        break;
    case 3:
        weft_yield();
        break;
    }
    return m ? m : weft_receive(NOTE, PARCEL, CRATE, STOP);
}

static void on_letter(void *state, weft_msg *m)
{
    struct soul *s = state;

    if (!serve(s, m)) {
        pass_away(s);
        return;
    }
    uint64_t r = draw(&s->random);
    if (m && r % 4 == 0)
        weft_react_within(weft_us((int64_t)(r / 4 % 40)), on_letter, s, PARCEL, CRATE);
    else
        weft_react(on_letter, s, NOTE, PARCEL, CRATE, STOP);
}

static void live(void *arg)
{
    struct soul *s = arg;

    s->left = (int)(draw(&s->random) % 60);
    s->pen = (struct pen){OUTSIDE + s->place, draw(&s->random), &life[s->life]};
    if (draw(&s->random) % 2) {
        weft_react(on_letter, s, NOTE, PARCEL, CRATE, STOP);
        return;
    }
    while (serve(s, receive_one(s)))
        ;
    pass_away(s);
    if (draw(&s->random) % 2)
        weft_end(0);
}

/* ---- Writers ------------------------------------------------------------------------------------------------------- */

static bool has_more(const struct pen *p, unsigned long first)
{
    return next_number[p->who] < ROOM - TURN * 2 && (next_number[p->who] - first < letters || !is_enough());
}

static void write_all(struct pen *p, bool thread)
{
    for (unsigned long first = next_number[p->who]; has_more(p, first);) {
        for (int i = 0; i < TURN; i++)
            write_some(p);
        if (thread)
            sched_yield();
        else
            weft_yield();
    }
    writing--;
}

static void write_as_fiber(void *pen) { write_all(pen, false); }

static void *write_as_thread(void *who)
{
    struct pen p = {(unsigned)(uintptr_t)who, 15485863 * (uint64_t)((uintptr_t)who + 1), NULL};

    while (!serving)
        sched_yield();
    write_all(&p, true);
    return NULL;
}

struct handler {
    struct pen    pen;
    unsigned long first;
};

static void on_write(void *state, weft_msg *m)
{
    struct handler *h = state;

    (void)m;
    for (int i = 0; i < TURN; i++)
        write_some(&h->pen);
    if (!has_more(&h->pen, h->first)) {
        writing--;
        return;
    }
    weft_send(weft_self(), WRITE);
    weft_react(on_write, h, WRITE);
}

static void write_as_handler(void *arg)
{
    struct handler *h = weft_alloc(sizeof *h);

    h->pen = *(struct pen *)arg;
    h->first = next_number[h->pen.who];
    on_write(h, NULL);
}

static void echoes(void *unused)
{
    (void)unused;
    for (weft_msg *m; (m = weft_receive(PING, STOP)), weft_is(m, PING);)
        weft_reply(m, PONG);
}

static void stop_all(void)
{
    over = true;
    while (serving) {
        for (int i = 0; i < PLACES; i++) {
            int result = weft_send_within(weft_ms(100), (weft_pid){life[atomic_load(&board[i])].pid}, STOP);
            if (result != WEFT_ETIME)
                hunt_count(&stops_sent);
            if (result && result != WEFT_EGONE && result != WEFT_ETIME)
                hunt_complain("not stopped", result, i);
        }
        weft_sleep(weft_us(100));
    }
}

static void begin(void *unused)
{
    (void)unused;
    over = false;
    echo = weft_spawn(echoes, NULL);
    for (unsigned i = 0; i < PLACES; i++)
        be_born(i, 6700417 * (uint64_t)(i + 1));
    for (unsigned i = 0; i < FIBERS + REACTORS; i++) {
        struct pen p = {i, 104729 * (uint64_t)(i + 1), NULL};
        weft_spawn(i < FIBERS ? write_as_fiber : write_as_handler, &p, .copy_bytes = sizeof p);
    }
    serving = PLACES; /* threads, too, begin */
    while (writing)
        weft_sleep(weft_us(200));
    stop_all();
    weft_send(echo, STOP);
    for (weft_counts c; c = counted(), c.spawned - c.ended > 1 + THREADS;)
        weft_sleep(weft_us(100));
}

static unsigned long dead_letters(void)
{
    return destroyed - full - too_large - late - cycles + stops_sent - stops_read;
}

static void fill_up(int workers)
{
    pthread_t     thread[THREADS];
    unsigned long dead = counted().dead_letters, before = dead_letters();

    writing = OUTSIDE;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, write_as_thread, (void *)(FIBERS + REACTORS + i));
    int reason = weft_run(begin, NULL, .workers = workers);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    if (reason)
        hunt_complain("did not run", reason, workers);
    dead = counted().dead_letters - dead;
    if (dead != dead_letters() - before)
        hunt_complain("dead letters miscounted", (long)dead, (long)(dead_letters() - before));
}

static unsigned long check_fates(void)
{
    unsigned long all = 0;

    for (unsigned who = 0; who < WRITERS; who++) {
        for (uint32_t i = 0; i < next_number[who]; i++)
            if (fate[who][i] != READ && fate[who][i] != BURNT)
                hunt_complain("neither read nor destroyed", (long)who, (long)i);
        all += next_number[who];
    }
    return all;
}

/* ---- Part 2: giving way --------------------------------------------------------------------------------------------- */

struct pair {
    weft_pid narrow, conductor;
    uint64_t random;
};

/* One BULK is as much as there is room for. */
static void narrow(void *conductor)
{
    for (unsigned long round = 0;; round++) {
        weft_msg *m = weft_receive(CHIP, STOP);
        if (weft_is(m, STOP))
            return;
        if (*weft_get(m, CHIP) != round)
            hunt_complain("another chip", (long)*weft_get(m, CHIP), (long)round);
        while (weft_receive_within(weft_ns(0), BULK))
            ;
        weft_send(*(weft_pid *)conductor, DONE);
    }
}

static void send_bulk(void *arg)
{
    struct pair *p = arg;

    while (weft_is(weft_receive(GO, STOP), GO)) {
        int result = weft_send_within(weft_us(1 + (int64_t)(draw(&p->random) % 60)), p->narrow, BULK);
        if (result == WEFT_ETIME)
            hunt_count(&gave_up);
        else if (result)
            hunt_complain("bulk not sent", result, 0);
        weft_send(p->conductor, DONE);
    }
}

static void send_chip(void *arg)
{
    struct pair *p = arg;

    for (unsigned long round = 0; weft_is(weft_receive(GO, STOP), GO); round++) {
        if (draw(&p->random) % 2) /* behind who waits for more */
            weft_sleep(weft_us((int64_t)(draw(&p->random) % 60)));
        int result = weft_send_within(WEFT_FOREVER, p->narrow, CHIP, round);
        if (result)
            hunt_complain("chip not sent", result, 0);
        weft_send(p->conductor, DONE);
    }
}

static void conduct(void *arg)
{
    struct pair p = {.conductor = weft_self(), .random = *(uint64_t *)arg};
    weft_bound  bound = {.bytes = 256};

    p.narrow = weft_spawn(narrow, &p.conductor, .copy_bytes = sizeof p.conductor, .bound = &bound);
    weft_pid bulk = weft_spawn(send_bulk, &p, .copy_bytes = sizeof p);
    weft_pid chip = weft_spawn(send_chip, &p, .copy_bytes = sizeof p);
    for (unsigned long round = scaled(ROUNDS); round > 0; round--) {
        int result = weft_send(p.narrow, BULK);
        if (result && result != WEFT_EFULL)
            hunt_complain("neither sent nor full", result, 0);
        weft_send(round % 4 ? bulk : chip, GO);
        weft_send(round % 4 ? chip : bulk, GO);
        for (int i = 0; i < 3; i++)
            weft_receive(DONE);
        hunt_count(&hunt_progress);
    }
    weft_send(bulk, STOP);
    weft_send(chip, STOP);
    weft_send(p.narrow, STOP);
    writing--;
}

static void give_way(void *unused)
{
    (void)unused;
    writing = NARROW;
    for (uint64_t i = 1; i <= NARROW; i++)
        weft_spawn(conduct, &(uint64_t){7919 * i}, .copy_bytes = sizeof i);
    while (writing)
        weft_sleep(weft_us(200));
}

/* ---- All of it ------------------------------------------------------------------------------------------------------ */

static int hunt(void)
{
    hunt_begin("stress_bound");
    letters = scaled(LETTERS);
    life = calloc(LIVES + PLACES, sizeof *life);
    for (int i = 0; i < WRITERS; i++)
        fate[i] = calloc(ROOM, 1);
    for (int workers = 1; workers <= 4; workers *= 2)
        fill_up(workers);
    unsigned long all = check_fates();
    int           reason = weft_run(give_way, NULL, .workers = 3);
    bool          good = !hunt_wrong && !reason && is_enough() && gave_up > 0;
    printf("stress_bound: %s: %lu letters, %lu read, %lu destroyed: %lu full, %lu too large, %lu gone, %lu "
           "too late, "
           "%lu cycles; %lu let in after a wait, %u lives, %lu gave up; %lu wrong\n",
           good ? "ok" : "FAILED", all, (unsigned long)taken, (unsigned long)destroyed, (unsigned long)full,
           (unsigned long)too_large, (unsigned long)gone, (unsigned long)late, (unsigned long)cycles,
           (unsigned long)let_in, (unsigned)lives, (unsigned long)gave_up, (unsigned long)hunt_wrong);
    return good ? 0 : 1;
}

/* What the child says on stderr, without the lines that cycles are expected to give. */
static void listen_to(int heard)
{
    FILE  *text = fdopen(heard, "r");
    char  *line = NULL;
    size_t size;

    while (text && getline(&line, &size, text) > 0)
        if (strncmp(line, "weft: full mailboxes would wait", 31) != 0)
            fputs(line, stderr);
    free(line);
}

int main(void)
{
    int said[2], status = -1;

    if (pipe(said))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        dup2(said[1], STDERR_FILENO);
        close(said[0]);
        close(said[1]);
        exit(hunt());
    }
    close(said[1]);
    listen_to(said[0]);
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("stress_bound: FAILED: signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
