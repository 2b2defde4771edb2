/* stress_share.c - bodies that many have, of whom some write; and what is urgent overtakes the rest.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Part 1: fibers, handlers and threads get pages, each sent to all of them at once. They read them, keep some for later,
 * share them, pass them on, and edit some. Checked:
 *   - a page is whole: every word follows from its seed; and what came from the first sender was edited by nobody;
 *   - what was kept is what it was, however long others had the same body and edited theirs;
 *   - who edits finds what it had read, and then what it wrote;
 *   - all that was sent is seen by somebody, once; every body is given back.
 *
 * Part 2: fibers and threads send to a fiber, a handler, a thread and a bounded actor, whose mailboxes are long, now and
 * then urgently. Checked:
 *   - what is urgent, and was sent before a receive began, comes before what is not;
 *   - urgent or not, what one sends comes in the order sent, all of it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/bound.h>

#include "help.h"
#include "hunt.h"
#include "mailbox/message.h"

enum {
    WORDS = 150,
    FIBERS = 8,
    HANDLERS = 6,
    THREADS = 2,
    READERS = FIBERS + HANDLERS + THREADS,
    POCKETS = 3,
    MOST_PAGES = 400, /* at once */
    CALLERS = 5,      /* of them threads: */
    CALLING_THREADS = 2,
    RECEIVERS = 4,
    SHORT = 100, /* a mailbox is made longer before it is read */
    LONG = 400,
    ROW = 2000
};
#ifdef __SANITIZE_THREAD__
enum { PAGES = 4000, CALLS = 20000 };
#else
enum { PAGES = 40000, CALLS = 50000 };
#endif

#define EDITED ((uint64_t)1 << 63)

WEFT_MESSAGE(
    PAGE, struct page { uint64_t seed, word[WORDS]; });
WEFT_SIGNAL(FLUSH);
WEFT_SIGNAL(STOP);

struct call {
    uint32_t by, number;
    bool     urgent;
};
WEFT_MESSAGE(
    CALL, struct heard { struct call call; });
WEFT_MESSAGE(
    CRY, struct cried { struct call call; });
WEFT_MESSAGE(
    SHOUT, struct shouted { struct call call; });

static weft_pid     boss;
static atomic_ulong reader[READERS]; /* pids */
static atomic_int   ready, left;
static atomic_bool  closing; /* nobody keeps any more */
static atomic_ulong
    pages; /* that are somewhere; relaxed, as all that counts, or it would hide what is not ordered */
static atomic_ulong bodies; /* blocks of memory for them */
static atomic_ulong read_, edits, in_place, kept, shared, passed, forwarded;

/* ---- Memory, with its size before it ------------------------------------------------------------------------------- */

enum { HEAD = 16 };

static bool is_body(size_t bytes) { return bytes == sizeof(struct weft__body) + sizeof(struct page); }

static void *get(size_t bytes, void *unused)
{
    size_t *block = malloc(HEAD + bytes);

    (void)unused;
    if (!block)
        return NULL;
    *block = bytes;
    if (is_body(bytes))
        hunt_count(&bodies);
    return (char *)block + HEAD;
}

static void put(void *memory, void *unused)
{
    size_t *block = memory ? (size_t *)((char *)memory - HEAD) : NULL;

    (void)unused;
    if (block && is_body(*block))
        atomic_fetch_sub_explicit(&bodies, 1, memory_order_relaxed);
    free(block);
}

/* ---- Part 1: pages ------------------------------------------------------------------------------------------------- */

struct person {
    int       me;
    uint64_t  random;
    bool      handles;
    weft_msg *pocket[POCKETS];
    uint64_t  seed[POCKETS];
};

static uint64_t word_of(uint64_t seed, int i) { return (seed ^ (uint64_t)i) * 0x9e3779b97f4a7c15u; }

static void write_page(struct page *p, uint64_t seed)
{
    p->seed = seed;
    for (int i = 0; i < WORDS; i++)
        p->word[i] = word_of(seed, i);
}

/* Whether it is whole, and its seed. */
static uint64_t read_page(const struct page *p)
{
    int bad = 0;

    for (int i = 0; i < WORDS; i++)
        bad += p->word[i] != word_of(p->seed, i);
    if (bad)
        hunt_complain("a page is not whole", bad, (long)p->seed);
    return p->seed;
}

static void check_page(const weft_msg *m, uint64_t seed)
{
    uint64_t is = read_page(weft_get(m, PAGE));

    if (is != seed)
        hunt_complain("a page is another than before", (long)is, (long)seed);
}

static weft_pid anybody(struct person *p) { return (weft_pid){reader[draw(&p->random) % READERS]}; }

static void done_with(weft_msg *m)
{
    weft_drop(m);
    atomic_fetch_sub_explicit(&pages, 1, memory_order_relaxed);
}

static void pass(struct person *p, weft_msg *m)
{
    hunt_count(&passed);
    if (weft_pass(anybody(p), m))
        hunt_complain("not passed", p->me, 0);
}

static void let_others(struct person *p)
{
    if (p->me >= FIBERS + HANDLERS)
        sched_yield();
    else
        weft_yield();
}

static void edit(struct person *p, weft_msg *m, uint64_t seed)
{
    const void  *before = weft_get(m, PAGE);
    struct page *page = weft_edit(m, PAGE);
    uint64_t     mine = draw(&p->random) | EDITED;

    if (!page) {
        hunt_complain("no memory to edit", p->me, 0);
        return;
    }
    hunt_count(page == before ? &in_place : &edits);
    check_page(m, seed);
    write_page(page, mine);
    if (draw(&p->random) % 4 == 0)
        let_others(p);
    check_page(m, mine);
}

/* Shared; one of the two is edited, and the other still what it was. */
static void share(struct person *p, weft_msg *m, uint64_t seed)
{
    weft_msg *other = weft_share(m);

    if (!other) {
        hunt_complain("not shared", p->me, 0);
        return;
    }
    hunt_count(&shared);
    atomic_fetch_add_explicit(&pages, 1, memory_order_relaxed);
    edit(p, draw(&p->random) % 2 ? m : other, seed);
    if (read_page(weft_get(m, PAGE)) != seed && read_page(weft_get(other, PAGE)) != seed)
        hunt_complain("both were edited", p->me, 0);
    pass(p, other);
}

static void empty_pocket(struct person *p, int i)
{
    weft_msg *m = p->pocket[i];

    p->pocket[i] = NULL;
    if (!m)
        return;
    check_page(m, p->seed[i]);
    if (draw(&p->random) % 2)
        edit(p, m, p->seed[i]);
    if (draw(&p->random) % 4 || closing)
        done_with(m);
    else
        pass(p, m);
}

static void keep(struct person *p, weft_msg *m, uint64_t seed)
{
    int i = (int)(draw(&p->random) % POCKETS);

    hunt_count(&kept);
    weft_keep(m);
    empty_pocket(p, i);
    p->pocket[i] = m;
    p->seed[i] = seed;
}

static void take_page(struct person *p, weft_msg *m)
{
    uint64_t seed = read_page(weft_get(m, PAGE));

    if (weft_same(weft_sender(m), boss) && seed & EDITED)
        hunt_complain("an edit of another's is seen", p->me, 0);
    hunt_count(&read_);
    hunt_count(&hunt_progress);
    switch (draw(&p->random) % 8) {
    case 0:
        edit(p, m, seed);
        break;
    case 1:
        edit(p, m, seed);
        pass(p, m);
        return;
    case 2:
        share(p, m, seed);
        break;
    case 3:
        hunt_count(&forwarded);
        if (!weft_same(weft_sender(m), boss))
            break;
        weft_forward(anybody(p), m);
        return;
    case 4:
    case 5:
        if (closing)
            break;
        keep(p, m, seed);
        return;
    case 6:
        let_others(p); /* and then the next receive ends it */
        check_page(m, seed);
        atomic_fetch_sub_explicit(&pages, 1, memory_order_relaxed);
        return;
    }
    done_with(m);
}

/* True: it goes on. */
static bool hear(struct person *p, weft_msg *m)
{
    bool stops = weft_is(m, STOP);

    if (weft_is(m, PAGE)) {
        take_page(p, m);
        return true;
    }
    for (int i = 0; i < POCKETS; i++)
        empty_pocket(p, i);
    return !stops;
}

static void leave(void)
{
    left--;
    hunt_count(&hunt_progress);
}

static void read_as_fiber(void *person)
{
    while (hear(person, weft_receive(PAGE, FLUSH, STOP)))
        ;
    leave();
}

static void *read_as_thread(void *me)
{
    struct person p = {.me = (int)(intptr_t)me, .random = 15485863 * (uint64_t)((intptr_t)me + 1)};

    reader[p.me] = weft_self().id;
    ready++;
    read_as_fiber(&p);
    return NULL;
}

static void on_page(void *person, weft_msg *m)
{
    if (hear(person, m))
        weft_react(on_page, person, PAGE, FLUSH, STOP);
    else
        leave();
}

static void read_as_handler(void *person) { weft_react(on_page, person, PAGE, FLUSH, STOP); }

static void send_to_all(weft_type *type, const void *body)
{
    weft_pid all[READERS];

    for (int i = 0; i < READERS; i++)
        all[i].id = reader[i];
    size_t sent = weft_send_many_body(all, READERS, type, body);
    if (sent != READERS)
        hunt_complain("not sent to all", (long)sent, READERS);
}

static void wait_until_fewer(unsigned long most)
{
    while (pages > most)
        weft_sleep(weft_us(50));
}

static void send_pages(void *unused)
{
    static struct page page;

    (void)unused;
    boss = weft_self();
    for (int i = 0; i < FIBERS + HANDLERS; i++) {
        struct person p = {.me = i, .random = 104729 * (uint64_t)(i + 1)};
        reader[i] = weft_spawn(i < FIBERS ? read_as_fiber : read_as_handler, &p, .copy_bytes = sizeof p).id;
    }
    while (ready < THREADS)
        weft_sleep(weft_us(100));
    for (unsigned long n = scaled(PAGES) / READERS + 1; n > 0; n--) {
        write_page(&page, n);
        atomic_fetch_add_explicit(&pages, READERS, memory_order_relaxed);
        send_to_all(&weft_type_PAGE, &page);
        wait_until_fewer(MOST_PAGES);
    }
    closing = true;
    send_to_all(&weft_type_FLUSH, NULL);
    wait_until_fewer(0);
    send_to_all(&weft_type_STOP, NULL);
    while (left)
        weft_sleep(weft_us(100));
}

static void run(weft_fn *first, int workers)
{
    int reason = weft_run(first, NULL, .workers = workers);

    if (reason)
        hunt_complain("did not run", reason, workers);
}

static void share_pages(int workers)
{
    pthread_t thread[THREADS];

    closing = false;
    ready = 0;
    left = READERS;
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, read_as_thread, (void *)(FIBERS + HANDLERS + i));
    run(send_pages, workers);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    if (bodies || pages)
        hunt_complain("bodies or pages are left", (long)bodies, (long)pages);
}

/* ---- Part 2: what is urgent ---------------------------------------------------------------------------------------- */

enum { FIBER, HANDLER, THREAD, BOUNDED };

struct box {
    int           me;
    unsigned long got, urgent_got, want;
    uint64_t      random;
    uint32_t      next[CALLERS][2];
    bool          must; /* what is urgent is there */
};

static atomic_ulong  box_of[RECEIVERS]; /* pids */
static atomic_ulong  urgent_sent[RECEIVERS][CALLERS];
static atomic_ulong  sent[RECEIVERS], taken[RECEIVERS];
static atomic_int    calling;
static atomic_ulong  urgent_read, overtook;
static unsigned long calls;

/* Before a receive: whether something urgent has certainly been sent, and not been read. */
static void look_ahead(struct box *b)
{
    unsigned long n = 0;

    for (int i = 0; i < CALLERS; i++)
        n += atomic_load(&urgent_sent[b->me][i]);
    b->must = n > b->urgent_got;
}

/* Now and then it waits until there is more to overtake. */
static bool is_long(struct box *b)
{
    return !calling || sent[b->me] - b->got >= (draw(&b->random) % 8 ? 1 : SHORT);
}

static const struct call *call_of(const weft_msg *m)
{
    return weft_is(m, CALL)  ? &weft_get(m, CALL)->call
           : weft_is(m, CRY) ? &weft_get(m, CRY)->call
                             : &weft_get(m, SHOUT)->call;
}

static void take_call(struct box *b, const weft_msg *m)
{
    const struct call *c = call_of(m);
    uint32_t          *next = &b->next[c->by][c->urgent];

    if (c->number != *next)
        hunt_complain("not in the order sent", c->number, *next);
    *next = c->number + 1;
    if (b->must && !c->urgent)
        hunt_complain("what is urgent waits", b->me, c->by);
    if (b->must)
        hunt_count(&overtook);
    if (c->urgent) {
        b->urgent_got++;
        hunt_count(&urgent_read);
    }
    b->got++;
    taken[b->me]++;
    hunt_count(&hunt_progress);
}

/* Parked, with much that is skipped: what is urgent comes the short way, and its mark after it. */
static void hear_shouts(struct box *b)
{
    for (weft_msg *m; b->got < b->want;) {
        look_ahead(b);
        m = weft_receive_within(weft_us(50), SHOUT);
        if (!m && b->must)
            hunt_complain("what is urgent is not found", b->me, 0);
        if (!m)
            return;
        take_call(b, m);
        if (draw(&b->random) % 4 == 0)
            return;
    }
}

static void hear_calls(struct box *b)
{
    while (b->got < b->want) {
        while (!is_long(b))
            if (b->me == THREAD)
                sched_yield();
            else
                weft_yield();
        if (draw(&b->random) % 4 == 0)
            hear_shouts(b);
        if (b->got == b->want)
            break;
        look_ahead(b);
        if (draw(&b->random) % 2)
            take_call(b, weft_receive(WEFT_ANY));
        else
            take_call(b, weft_receive(CALL, CRY, SHOUT));
    }
    leave();
}

static struct box new_box(int me)
{
    return (struct box){.me = me, .want = calls * CALLERS, .random = 7919 * (uint64_t)(me + 1)};
}

static void hear_as_fiber(void *me)
{
    struct box b = new_box(*(int *)me);

    hear_calls(&b);
}

static void *hear_as_thread(void *unused)
{
    struct box b = new_box(THREAD);

    box_of[THREAD] = weft_self().id;
    ready++;
    hear_calls(&b);
    return unused;
}

static void on_call(void *box, weft_msg *m)
{
    struct box *b = box;

    take_call(b, m);
    if (b->got == b->want) {
        leave();
        return;
    }
    for (int i = 0; i < 20 && !is_long(b); i++)
        weft_yield();
    look_ahead(b);
    weft_react(on_call, b, CALL, CRY, SHOUT);
}

static void hear_as_handler(void *unused)
{
    struct box *b = weft_alloc(sizeof *b);

    (void)unused;
    *b = new_box(HANDLER);
    weft_react(on_call, b, CALL, CRY, SHOUT);
}

struct caller {
    int      me;
    uint64_t random;
    uint32_t next[RECEIVERS][2];
};

static void call(struct caller *c, int whom)
{
    weft_pid    to = {box_of[whom]};
    bool        urgent = draw(&c->random) % 4 == 0;
    struct call body = {(uint32_t)c->me, c->next[whom][urgent]++, urgent};
    weft_type  *type = urgent ? &weft_type_SHOUT : draw(&c->random) % 2 ? &weft_type_CALL : &weft_type_CRY;
    int         error = urgent ? weft_send_urgent_body(to, type, &body) : weft_send_body(to, type, &body);

    if (error)
        hunt_complain("not called", error, whom);
    if (urgent)
        atomic_fetch_add(&urgent_sent[whom][c->me], 1);
    sent[whom]++;
}

static void wait_for_room(int whom, bool thread)
{
    while (sent[whom] - taken[whom] > LONG)
        if (thread)
            sched_yield();
        else
            weft_yield();
}

/* Many in a row to the same, so that they meet there. */
static void call_all(int me, bool thread)
{
    struct caller c = {.me = me, .random = 6700417 * (uint64_t)(me + 1)};

    for (unsigned long done = 0, n; done < calls; done += n) {
        n = calls - done < ROW ? calls - done : ROW;
        for (int whom = 0; whom < RECEIVERS; whom++)
            for (unsigned long i = 0; i < n; i++) {
                wait_for_room(whom, thread);
                call(&c, whom);
            }
    }
    calling--;
    leave();
}

static void call_as_fiber(void *me) { call_all(*(int *)me, false); }

static void *call_as_thread(void *me)
{
    while (ready < 1 + CALLING_THREADS)
        sched_yield();
    call_all((int)(intptr_t)me, true);
    return NULL;
}

static void begin_calls(void *unused)
{
    weft_bound bound = {.messages = LONG + CALLERS + 1};

    (void)unused;
    while (!ready)
        weft_sleep(weft_us(100));
    box_of[FIBER] = weft_spawn(hear_as_fiber, &(int){FIBER}, .copy_bytes = sizeof(int)).id;
    box_of[HANDLER] = weft_spawn(hear_as_handler, NULL).id;
    box_of[BOUNDED] =
        weft_spawn(hear_as_fiber, &(int){BOUNDED}, .copy_bytes = sizeof(int), .bound = &bound).id;
    for (int i = CALLING_THREADS; i < CALLERS; i++)
        weft_spawn(call_as_fiber, &i, .copy_bytes = sizeof i);
    ready += CALLING_THREADS;
    while (left)
        weft_sleep(weft_us(100));
}

static void cry_and_call(int workers)
{
    pthread_t thread[CALLING_THREADS + 1];

    calls = scaled(CALLS) / RECEIVERS + 1;
    calling = CALLERS;
    ready = 0;
    left = CALLERS + RECEIVERS;
    for (int i = 0; i < RECEIVERS; i++) {
        sent[i] = taken[i] = 0;
        for (int j = 0; j < CALLERS; j++)
            urgent_sent[i][j] = 0;
    }
    for (intptr_t i = 0; i < CALLING_THREADS; i++)
        pthread_create(&thread[i], NULL, call_as_thread, (void *)i);
    pthread_create(&thread[CALLING_THREADS], NULL, hear_as_thread, NULL);
    run(begin_calls, workers);
    for (int i = 0; i <= CALLING_THREADS; i++)
        pthread_join(thread[i], NULL);
}

int main(void)
{
    weft_allocator allocator = {get, put, NULL};

    hunt_begin("stress_share");
    if (weft_use_allocator(&allocator))
        hunt_complain("no allocator", 0, 0);
    for (int workers = 1; workers <= 4; workers *= 2) {
        share_pages(workers);
        cry_and_call(workers);
    }
    bool good = !hunt_wrong && edits && in_place && kept && shared && passed && forwarded && urgent_read &&
                overtook;
    printf(
        "stress_share: %s: %lu pages read, %lu edited, %lu in place, %lu kept, %lu shared, %lu passed, %lu "
        "forwarded; %lu urgent, %lu of them known to be there; %lu wrong\n",
        good ? "ok" : "FAILED", (unsigned long)read_, (unsigned long)edits, (unsigned long)in_place,
        (unsigned long)kept, (unsigned long)shared, (unsigned long)passed, (unsigned long)forwarded,
        (unsigned long)urgent_read, (unsigned long)overtook, (unsigned long)hunt_wrong);
    return good ? 0 : 1;
}
