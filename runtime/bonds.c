/* bonds.c - links and monitors: who hears of whose end.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Nobody touches what another actor knows. Each has the bonds of its own, and whoever changes something tells the other
 * by a signal: a cell that goes through the mailbox as a message does, so it keeps its place among the messages of its
 * sender, and that is closed with it, so none is lost: an actor that ends answers all that it finds there. The cell of
 * a signal is the bond that it makes, and the cell of a bond is the signal that it sends at the end; so an end needs
 * no memory.
 *
 * A monitor is set and taken back by one side only:
 *
 *      watcher  WATCHING  --WATCH-->    WATCHED  target
 *                         --UNWATCH->   forgets it
 *      receives it        <--DOWN--     ends, or had ended
 *
 * A link can be made and broken by both at once. Of the two the one with the smaller pid decides: its bond is the link.
 * The other, which asks, believes what it asked for last as long as an answer is outstanding, and then what it was told
 * last:
 *
 *      asks     LINKED    --LINK, UNLINK-->               LINKED   decides
 *                         <--LINK, UNLINK, each answered--         and the same, unasked, when it changes its mind
 *      both               <--BROKEN-->                             ends
 *
 *   I1  When no signal is on its way, both have the bond, or neither. Signals are handled in order, so the last answer,
 *       or what came after it, tells what the one who decides has now.
 *   I2  Each who was linked hears of the other's end once: by the first BROKEN that finds its bond.
 *   I3  A request finds in it what it needs: LINK brings the cell for the answer, UNLINK is the cell; LINK and WATCH bring
 *       what an actor has that has bonds, should the other have none. So only who begins something may lack memory.
 */
#include <string.h>

#include "base/memory.h"
#include "runtime/fast.h"

/* In a cell's label; above, what is no signal but kept. */
enum kind { LINK, UNLINK, WATCH, UNWATCH, DOWN, SIGNALLED, BROKEN, ENDS, KILLS, LINKED, WATCHING, WATCHED };

/* The body of a cell, laid out as a WEFT_DOWN is. */
struct bond {
    union {
        weft_pid            who;   /* the other */
        struct weft__extra *spare; /* LINK, WATCH: for who has no bonds yet; an answer brings none */
    };
    union {
        weft_ref         ref;    /* of a monitor */
        struct weft_msg *answer; /* LINK: to be sent back; NULL: nothing is asked */
    };
    int32_t  reason;     /* DOWN, BROKEN, ENDS; UNLINK: not 0, it asks for an answer */
    uint32_t active : 1; /* LINKED: as far as this side knows or wants; LINK, UNLINK: it is an answer */
    uint32_t told : 1;   /* LINKED, of the one who asks: as it was told last */
    uint32_t ended : 1;  /* LINKED: the other had, and BROKEN is on its way; what it said before is void */
    uint32_t outstanding : 29; /* answers */
};
_Static_assert(sizeof(struct bond) == sizeof(struct weft_down), "a signal becomes a message where it lies");
_Static_assert(offsetof(struct bond, reason) == offsetof(struct weft_down, reason), "and so do its fields");

static struct bond *of(struct weft_msg *m) { return weft__message_body(m); }

static weft_pid self_of(const struct weft__actor *a) { return (weft_pid){weft__actor_pid(a)}; }

static bool decides(const struct weft__actor *a, weft_pid other) { return weft__actor_pid(a) < other.id; }

/* ---- cells ---------------------------------------------------------------------------------------------- */

static struct weft_msg *cell(struct weft__lane *l, enum kind kind, weft_pid who)
{
    struct weft_msg *m = weft__cells_get(&l->messages, &weft__messages);

    if (!m)
        return NULL;
    m->type = WEFT__TYPE_SIGNAL;
    m->tag = kind;
    m->flags = 0;
    *of(m) = (struct bond){.who = who};
    return m;
}

static void put(struct weft__lane *l, struct weft_msg *m)
{
    if (!m)
        return;
    if (WEFT__LIKELY(weft__fast_can_end(l, m)))
        weft__fast_free(l, m);
    else
        weft__message_free(l, m);
}

/* ---- the bonds of one actor: a hash table of cells ------------------------------------------------------ */

static uint64_t key_of(struct weft_msg *m) { return m->tag == LINKED ? of(m)->who.id : of(m)->ref.id; }

static struct weft_msg **chain(struct weft__bonds *b, uint64_t key)
{
    return b->chains ? &b->chains[(key * 0x9E3779B97F4A7C15u) >> 32 & b->mask] : &b->few;
}

/* Where it is, or NULL is. A pid is never a ref: those have their highest bit. */
static struct weft_msg **place(struct weft__actor *a, uint64_t key)
{
    static struct weft_msg *none;
    struct weft_msg       **at = a->extra ? chain(&a->extra->bonds, key) : &none;

    while (*at && key_of(*at) != key)
        at = &(*at)->next;
    return at;
}

/* Any of them, taken out; from that chain on. */
static struct weft_msg *pop(struct weft__bonds *b, uint32_t *i)
{
    for (; *i <= b->mask; ++*i) {
        struct weft_msg **at = b->chains ? &b->chains[*i] : &b->few, *m = *at;
        if (m) {
            *at = m->next;
            b->count--;
            return m;
        }
    }
    return NULL;
}

/* Into that many chains; without memory they stay as they are, and get longer. */
static void spread(struct weft__bonds *b, uint32_t chains)
{
    struct weft__bonds more = {.mask = chains - 1, .count = b->count};
    uint32_t           i = 0;

    if (!(more.chains = weft__memory_get(chains * sizeof *more.chains)))
        return;
    memset(more.chains, 0, chains * sizeof *more.chains);
    for (struct weft_msg *m; (m = pop(b, &i));) {
        struct weft_msg **at = chain(&more, key_of(m));
        m->next = *at;
        *at = m;
    }
    weft__memory_put(b->chains);
    *b = more;
}

enum { LONG = 4, MORE = 8 };

static __attribute__((noinline)) void add_to_many(struct weft__bonds *b, struct weft_msg *m)
{
    if (b->count++ / LONG > b->mask && b->mask < UINT32_MAX / MORE)
        spread(b, (b->mask + 1) * MORE);
    struct weft_msg **at = chain(b, key_of(m));
    m->next = *at;
    *at = m;
}

static inline void add(struct weft__actor *a, struct weft_msg *m)
{
    struct weft__bonds *b = &a->extra->bonds;

    if (WEFT__RARE(b->count >= LONG || b->chains)) {
        add_to_many(b, m);
        return;
    }
    m->next = b->few;
    b->few = m;
    b->count++;
}

static struct weft_msg *take_out(struct weft__actor *a, struct weft_msg **at)
{
    struct weft__bonds *b = &a->extra->bonds;
    struct weft_msg    *m = *at;

    *at = m->next;
    if (--b->count == 0 && b->chains) {
        weft__memory_put(b->chains);
        *b = (struct weft__bonds){0};
    }
    return m;
}

static struct weft_msg *find(struct weft__actor *a, uint64_t key) { return *place(a, key); }

static void forget(struct weft__lane *l, struct weft__actor *a, uint64_t key)
{
    struct weft_msg **at = place(a, key);

    if (*at)
        put(l, take_out(a, at));
}

void weft__bonds_count(struct weft__actor *a, size_t *links, size_t *monitors)
{
    struct weft__bonds *b = &a->extra->bonds;

    *links = *monitors = 0;
    for (uint32_t i = 0; b->count && i <= b->mask; i++)
        for (struct weft_msg *m = b->chains ? b->chains[i] : b->few; m; m = m->next) {
            *links += m->tag == LINKED && of(m)->active;
            *monitors += m->tag == WATCHING;
        }
}

/* ---- telling ---------------------------------------------------------------------------------------------- */

/* False: that one has ended; m is still the caller's. */
static bool tell(struct weft__lane *l, weft_pid from, weft_pid to, enum kind kind, struct weft_msg *m)
{
    struct weft__actor *a = weft__actor_find(to);

    m->tag = (int)kind;
    m->from = from.id;
    m->to = to.id;
    if (kind == KILLS) {
        m->flags |= WEFT__MSG_URGENT;
        m->to |= WEFT__INBOX_URGENT;
    }
    bool gated = a && to.id & WEFT__KIND_BOUNDED && kind != KILLS;
    if (gated ? weft__bound_put_inner(l, to, m)
              : a && weft__actor_pid(a) == to.id && weft__send_directly(l, a, m) == 0) {
        /* release = U (wait.c): so that it looks, also where it does not wait. */
        if (kind >= BROKEN)
            atomic_exchange_explicit(&a->urgent, 1, memory_order_release);
        return true;
    }
    m->flags &= ~(uint64_t)WEFT__MSG_URGENT;
    m->to = to.id;
    return false;
}

static void tell_or_refuse(struct weft__lane *l, weft_pid from, weft_pid to, enum kind kind,
                           struct weft_msg *m)
{
    if (!tell(l, from, to, kind, m))
        weft__bonds_refuse(l, m, WEFT_EGONE, NULL);
}

/* One more of the message that goes along with an end. Where there is no memory, none does. */
static void carry(struct weft__lane *l, struct weft_msg *m, const struct weft_msg *why)
{
    struct weft__carrier carrier = {.carried = weft__message_copy(l, why)};
    struct weft__body   *body = carrier.carried ? weft__memory_get(sizeof *body + sizeof carrier) : NULL;

    if (!body) {
        put(l, carrier.carried);
        return;
    }
    memcpy(&carrier.bond, of(m), sizeof carrier.bond);
    memcpy(body + 1, &carrier, sizeof carrier);
    body->bytes = sizeof carrier;
    atomic_init(&body->shares, 1);
    m->large = body;
    m->flags |= WEFT__MSG_LARGE;
}

void weft__bonds_refuse(struct weft__lane *l, struct weft_msg *m, int reason, const struct weft_msg *why)
{
    weft_pid gone = {m->to & ~WEFT__INBOX_URGENT}, from = {m->from};

    switch (m->tag) {
    case LINK:
        if (of(m)->active) { /* an answer */
            put(l, m);
            break;
        }
        weft__actor_give_spare(l, NULL, of(m)->spare);
        put(l, of(m)->answer);
        *of(m) = (struct bond){.who = gone, .reason = reason};
        if (why)
            carry(l, m, why);
        tell_or_refuse(l, gone, from, BROKEN, m);
        break;
    case WATCH:
        weft__actor_give_spare(l, NULL, of(m)->spare);
        of(m)->who = gone;
        of(m)->reason = reason;
        if (why)
            carry(l, m, why);
        tell_or_refuse(l, gone, from, DOWN, m);
        break;
    case UNLINK:
        if (of(m)->reason) { /* it waits for the answer */
            *of(m) = (struct bond){.active = 1};
            tell_or_refuse(l, gone, from, UNLINK, m);
            break;
        }
        put(l, m);
        break;
    default:
        put(l, m);
    }
}

static void tell_end(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m, int reason)
{
    weft_pid self = self_of(a), other = of(m)->who;

    switch (m->tag) {
    case LINKED:
        if (!of(m)->active)
            break;
        *of(m) = (struct bond){.who = self, .reason = reason};
        if (WEFT__RARE(a->extra->why))
            carry(l, m, a->extra->why);
        tell_or_refuse(l, self, other, BROKEN, m);
        return;
    case WATCHED:
        of(m)->who = self;
        of(m)->reason = reason;
        if (WEFT__RARE(a->extra->why))
            carry(l, m, a->extra->why);
        tell_or_refuse(l, self, other, DOWN, m);
        return;
    case WATCHING:
        tell_or_refuse(l, self, other, UNWATCH, m);
        return;
    }
    put(l, m);
}

static __attribute__((noinline)) void end_many(struct weft__lane *l, struct weft__actor *a, int reason)
{
    struct weft__bonds all = a->extra->bonds;
    uint32_t           i = 0;

    a->extra->bonds = (struct weft__bonds){0};
    for (struct weft_msg *m; (m = pop(&all, &i));)
        tell_end(l, a, m, reason);
    weft__memory_put(all.chains);
}

void weft__bonds_end(struct weft__lane *l, struct weft__actor *a, int reason)
{
    struct weft__bonds *b = &a->extra->bonds;
    struct weft_msg    *few = b->few;

    if (WEFT__RARE(b->chains)) {
        end_many(l, a, reason);
        return;
    }
    b->few = NULL;
    b->count = 0;
    while (few) {
        struct weft_msg *m = few;
        few = m->next;
        tell_end(l, a, m, reason);
    }
}

/* ---- links ------------------------------------------------------------------------------------------------ */

/* One who asks is told what there is now. What it has asked for since outweighs that, until it is answered too. */
static void believe(struct weft__lane *l, struct weft__actor *a, struct weft_msg **at, bool link, bool answer)
{
    struct bond *b = of(*at);

    if (b->ended || (answer && !b->outstanding))
        return; /* said before it ended; or to what was asked before that */
    b->told = link;
    b->outstanding -= answer;
    if (b->outstanding)
        return;
    b->active = link;
    if (!link)
        put(l, take_out(a, at));
}

static void told(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m, bool link)
{
    weft_pid          other = {m->from};
    bool              answer = of(m)->active;
    struct weft_msg **at = place(a, other.id);

    if (*at) {
        believe(l, a, at, link, answer);
        put(l, m);
    } else if (!link || answer) { /* to what was undone when the other had ended */
        put(l, m);
    } else {
        m->tag = LINKED;
        *of(m) = (struct bond){.who = other, .active = 1, .told = 1};
        add(a, m);
    }
}

/* It decides, and another asks for a link. */
static void asked_to_link(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    weft_pid         other = {m->from};
    struct weft_msg *answer = of(m)->answer;

    if (find(a, other.id)) {
        put(l, m);
    } else {
        m->tag = LINKED;
        *of(m) = (struct bond){.who = other, .active = 1};
        add(a, m);
    }
    *of(answer) = (struct bond){.active = 1};
    tell_or_refuse(l, self_of(a), other, LINK, answer);
}

static void asked_to_unlink(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    weft_pid          other = {m->from};
    struct weft_msg **at = place(a, other.id);

    if (*at && !of(*at)->ended)
        put(l, take_out(a, at));
    *of(m) = (struct bond){.active = 1};
    tell_or_refuse(l, self_of(a), other, UNLINK, m);
}

/* The caller, who may have bonds. NULL: no memory. */
static struct weft__lane *who_binds(void)
{
    struct weft__lane *l = weft__lane();

    weft__send_check(l);
    if (!l->self)
        l = weft__thread_actor();
    return l && weft__actor_extra(l->self) ? l : NULL;
}

/* All that a link needs, before anything is changed. */
struct kit {
    struct weft_msg    *bond, *signal, *answer;
    struct weft__extra *spare;
};

static bool has_kit(struct weft__lane *l, struct kit *k, bool decides, weft_pid self, weft_pid other)
{
    k->bond = cell(l, LINKED, other);
    k->signal = k->bond ? cell(l, LINK, self) : NULL;
    k->answer = k->signal && !decides ? cell(l, LINK, self) : NULL;
    k->spare = k->signal && (decides || k->answer) ? weft__actor_spare(l) : NULL;
    if (k->spare)
        return true;
    put(l, k->bond);
    put(l, k->signal);
    put(l, k->answer);
    return false;
}

int weft_link(weft_pid other)
{
    struct weft__lane *l = who_binds();

    if (!l)
        return WEFT_EMEMORY;
    struct weft__actor *a = l->self;
    struct weft_msg    *known = find(a, other.id);
    struct kit          kit;
    if (weft_same(other, self_of(a)) || (known && of(known)->active))
        return 0;
    if (!has_kit(l, &kit, decides(a, other), self_of(a), other))
        return WEFT_EMEMORY;
    if (known)
        put(l, kit.bond);
    else
        add(a, known = kit.bond);
    of(known)->active = 1;
    of(kit.signal)->answer = kit.answer;
    of(kit.signal)->spare = kit.spare;
    if (tell(l, self_of(a), other, LINK, kit.signal)) {
        of(known)->outstanding += kit.answer != NULL;
    } else {
        of(known)->ended = 1;
        weft__bonds_refuse(l, kit.signal, WEFT_EGONE, NULL);
    }
    return 0;
}

int weft_unlink(weft_pid other)
{
    struct weft__lane *l = who_binds();

    if (!l)
        return WEFT_EMEMORY;
    struct weft__actor *a = l->self;
    struct weft_msg   **at = place(a, other.id);
    if (!*at || !of(*at)->active)
        return 0;
    struct weft_msg *m = cell(l, UNLINK, self_of(a));
    if (!m)
        return WEFT_EMEMORY;
    bool asks = !decides(a, other);
    of(m)->reason = asks;
    of(*at)->active = 0;
    bool lives = tell(l, self_of(a), other, UNLINK, m);
    if (!lives)
        put(l, m);
    if (asks && lives)
        of(*at)->outstanding++;
    else
        put(l, take_out(a, at));
    return 0;
}

/* ---- monitors --------------------------------------------------------------------------------------------- */

/* WATCHING, of the caller's. */
static struct weft_msg *monitor_cell(struct weft__lane *l, weft_pid who)
{
    struct weft_msg *m = cell(l, WATCHING, who);

    if (m)
        of(m)->ref.id = l->next_ref++;
    return m;
}

weft_ref weft_monitor(weft_pid who)
{
    struct weft__lane  *l = who_binds();
    struct weft_msg    *mine = l ? monitor_cell(l, who) : NULL;
    struct weft_msg    *signal = mine ? cell(l, WATCH, who) : NULL;
    struct weft__extra *spare = signal ? weft__actor_spare(l) : NULL;

    if (!spare) {
        put(l, signal);
        put(l, mine);
        return (weft_ref){0};
    }
    weft_ref ref = of(mine)->ref;
    of(signal)->ref = ref;
    of(signal)->spare = spare;
    if (weft_same(who, self_of(l->self))) { /* nobody hears of its own end */
        weft__actor_give_spare(l, NULL, spare);
        put(l, signal);
        put(l, mine);
        return ref;
    }
    add(l->self, mine);
    tell_or_refuse(l, self_of(l->self), who, WATCH, signal);
    return ref;
}

int weft_demonitor_keep(weft_ref monitor)
{
    struct weft__lane *l = weft__lane();

    weft__send_check(l);
    struct weft_msg **at = l->self ? place(l->self, monitor.id) : NULL;
    if (!at || !*at || (*at)->tag != WATCHING)
        return WEFT_EGONE;
    struct weft_msg *m = take_out(l->self, at);
    tell_or_refuse(l, self_of(l->self), of(m)->who, UNWATCH, m);
    return 0;
}

static bool is_down(void *with, struct weft_msg *m)
{
    const struct weft_down *down = weft__message_body(m);

    return m->type == WEFT__TYPE_DOWN && down->ref.id == *(uint64_t *)with;
}

int weft_demonitor(weft_ref monitor)
{
    struct weft__actor *a = weft__lane()->self;
    int                 result = weft_demonitor_keep(monitor);
    uint64_t            passed = 0;

    if (!result || !a)
        return result;
    struct weft__sought sought = {.fits = is_down, .with = &monitor.id};
    weft__stash_seek(sought.types, WEFT__TYPE_DOWN);
    struct weft_msg *m = weft__stash_take(&a->stash, &sought, &passed);
    if (!m && a->unusual & WEFT__BOUNDED)
        m = weft__bound_find(a, is_down, &monitor.id);
    put(weft__lane(), m);
    return result;
}

/* ---- what comes ------------------------------------------------------------------------------------------- */

/* It ends an actor that does not trap, which is linked if it needs to be. */
static bool is_fatal(struct weft__actor *a, struct weft_msg *m)
{
    struct weft_msg *link = m->tag == BROKEN ? find(a, of(m)->who.id) : NULL;

    if (m->tag == KILLS)
        return true;
    if (m->tag != ENDS && !(link && of(link)->active))
        return false;
    return of(m)->reason && !(a->extra && a->extra->traps);
}

static _Noreturn void obey(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    struct weft_msg **carried = weft__message_carried(m), *why = carried ? *carried : NULL;
    int               reason = of(m)->reason;

    if (carried)
        *carried = NULL;
    put(l, m);
    weft__ending_obey(l, a, reason, why);
}

static bool become_down(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    struct weft_msg **at = place(a, of(m)->ref.id);

    if (!*at) { /* it is not wanted any more */
        put(l, m);
        return false;
    }
    put(l, take_out(a, at));
    m->type = WEFT__TYPE_DOWN;
    m->from = 0;
    return true;
}

/* It traps, or the reason is 0. */
static bool become_exit(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    struct bond bond = *of(m);
    bool        linked = m->tag == BROKEN;

    if (!a->extra || !a->extra->traps) {
        put(l, m);
        return false;
    }
    memset(of(m), 0, sizeof bond);
    *(struct weft_exited *)weft__message_body(m) = (struct weft_exited){
        .who = bond.who, .reason = bond.reason, .linked = linked};
    m->type = WEFT__TYPE_EXIT;
    m->from = 0;
    return true;
}

static bool broken(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    struct weft_msg **at = place(a, of(m)->who.id);
    bool              active = *at && of(*at)->active;

    if (*at) /* whatever is outstanding: it will not be answered, or too late */
        put(l, take_out(a, at));
    if (active)
        return become_exit(l, a, m);
    put(l, m);
    return false;
}

static void watched(struct weft__actor *a, struct weft_msg *m)
{
    m->tag = WATCHED;
    of(m)->who.id = m->from;
    add(a, m);
}

bool weft__bonds_arrived(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    if (WEFT__LIKELY(m->tag == DOWN))
        return become_down(l, a, m);
    if (is_fatal(a, m))
        obey(l, a, m);
    switch (m->tag) {
    case LINK:
        if (!of(m)->active)
            weft__actor_give_spare(l, a, of(m)->spare);
        if (of(m)->answer)
            asked_to_link(l, a, m);
        else
            told(l, a, m, true);
        break;
    case UNLINK:
        if (of(m)->reason)
            asked_to_unlink(l, a, m);
        else
            told(l, a, m, false);
        break;
    case WATCH:
        weft__actor_give_spare(l, a, of(m)->spare);
        watched(a, m);
        break;
    case UNWATCH:
        forget(l, a, of(m)->ref.id);
        put(l, m);
        break;
    case SIGNALLED:
        m->type = WEFT__TYPE_SIGNALLED;
        return true;
    case BROKEN:
        return broken(l, a, m);
    case ENDS:
        return become_exit(l, a, m);
    }
    return false;
}

/* It changes only what the actor knows of others, or ends it: no message is made of it. */
static bool matters_now(struct weft__actor *a, struct weft_msg *m)
{
    return m->type == WEFT__TYPE_SIGNAL && (m->tag <= UNWATCH || is_fatal(a, m));
}

/* Returns the last that is left. */
static struct weft_msg *heed(struct weft__lane *l, struct weft__actor *a, struct weft_msg **at)
{
    struct weft_msg *last = NULL;

    for (struct weft_msg *m; (m = *at);) {
        if (!matters_now(a, m)) {
            last = m;
            at = &m->next;
            continue;
        }
        *at = m->next;
        weft__bonds_arrived(l, a, m);
    }
    return last;
}

/* Whether it ends the actor may depend on what lies before it. Where it does not, it is of no more use. */
static bool may_matter(struct weft__actor *a, struct weft_msg *m)
{
    bool traps = a->extra && a->extra->traps;

    return matters_now(a, m) || (m->type == WEFT__TYPE_SIGNAL && m->tag == BROKEN && of(m)->reason && !traps);
}

/* What lies behind a gate. Who is ended takes nothing along that is in nobody's hands. */
static void heed_gate(struct weft__lane *l, struct weft__actor *a)
{
    struct weft_msg *list = weft__bound_heed(a, may_matter);

    for (struct weft_msg *m; (m = list);) {
        list = m->next;
        if (is_fatal(a, m))
            weft__bound_unheed(a, list);
        weft__bonds_arrived(l, a, m);
    }
}

/* However long its mailbox is, and however often it is told something urgent, it looks at each once. */
void weft__bonds_heed(struct weft__lane *l, struct weft__actor *a)
{
    weft__wait_urgent(l, a, false);
    if (!a->extra || !a->extra->heeded_in)
        heed(l, a, &a->in);
    if (a->unusual & WEFT__BOUNDED)
        heed_gate(l, a);
    struct weft__extra *x = a->extra;
    if (!x)
        return;
    if (a->unusual & WEFT__MORE) {
        struct weft_msg *last = heed(l, a, x->heeded ? &x->heeded->next : &x->more);
        x->more_last = last ? last : x->heeded;
        x->heeded = x->more_last;
    }
    x->heeded_in = true;
    x->unheeded = false;
}

/* ---- from outside ------------------------------------------------------------------------------------------ */

static int end_other(weft_pid who, enum kind kind, int reason)
{
    struct weft__lane *l = weft__lane_need();
    struct weft_msg   *m;

    if (!l)
        return WEFT_EMEMORY;
    weft__send_check(l);
    weft_pid self = l->self ? self_of(l->self) : WEFT_NOBODY;
    bool     traps = l->self && l->self->extra && l->self->extra->traps;
    if (who.id && weft_same(who, self) && (kind == KILLS || !traps))
        weft_end(reason);
    if (!(m = cell(l, kind, self)))
        return WEFT_EMEMORY;
    of(m)->reason = reason;
    if (tell(l, self, who, kind, m))
        return 0;
    put(l, m);
    return WEFT_EGONE;
}

int weft_exit(weft_pid who, int reason) { return end_other(who, ENDS, reason); }

int weft_kill(weft_pid who) { return end_other(who, KILLS, WEFT_EKILLED); }

bool weft__bonds_signalled(struct weft__lane *l, weft_pid to, int signal)
{
    struct weft_msg *m = cell(l, SIGNALLED, WEFT_NOBODY);

    if (!m)
        return false;
    *(int *)weft__message_body(m) = signal;
    if (!tell(l, WEFT_NOBODY, to, SIGNALLED, m))
        put(l, m);
    return true;
}

bool weft_trap(bool on)
{
    struct weft__lane *l = who_binds();

    if (!l)
        weft__misuse(WEFT_EMEMORY, "no memory for weft_trap");
    struct weft__extra *x = l->self->extra;
    bool                was = x->traps;
    x->traps = on;
    if (was && !on) { /* what did not matter may end it now */
        x->unheeded = true;
        x->heeded_in = false;
        x->heeded = NULL;
        if (l->self->unusual & WEFT__BOUNDED)
            weft__bound_unheed(l->self, NULL);
    }
    return was;
}

/* ---- from the start ---------------------------------------------------------------------------------------- */

/* False, both: no memory, and nothing is changed. */
static inline bool give_link(struct weft__lane *l, struct weft__actor *parent, struct weft__actor *child)
{
    struct weft_msg *up = cell(l, LINKED, self_of(parent));
    struct weft_msg *down = up ? cell(l, LINKED, self_of(child)) : NULL;

    if (WEFT__RARE(!down)) {
        put(l, up);
        return false;
    }
    of(up)->active = of(up)->told = of(down)->active = of(down)->told = 1;
    add(child, up);
    add(parent, down);
    return true;
}

static inline bool give_monitor(struct weft__lane *l, struct weft__actor *parent, struct weft__actor *child,
                                weft_ref *monitor)
{
    struct weft_msg *watching = monitor_cell(l, self_of(child));
    struct weft_msg *watched = watching ? cell(l, WATCHED, self_of(parent)) : NULL;

    if (WEFT__RARE(!watched)) {
        put(l, watching);
        return false;
    }
    *monitor = of(watched)->ref = of(watching)->ref;
    add(child, watched);
    add(parent, watching);
    return true;
}

int weft__bonds_give(struct weft__lane *l, struct weft__actor *parent, struct weft__actor *child, bool link,
                     weft_ref *monitor)
{
    if (!parent) /* a destroy function spawns where no actor runs */
        return WEFT_EINVALID;
    if ((!parent->extra && !weft__actor_extra(parent)) || (!child->extra && !weft__actor_extra(child)))
        return WEFT_EMEMORY;
    if (link && !give_link(l, parent, child))
        return WEFT_EMEMORY;
    if (!monitor || give_monitor(l, parent, child, monitor))
        return 0;
    if (link) {
        forget(l, parent, self_of(child).id);
        forget(l, child, self_of(parent).id);
    }
    return WEFT_EMEMORY;
}
