/* loop.c - the worker's loop, and how actors leave their stacks for it and for each other.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * The loop is entered, never resumed: it has no state worth saving. It runs on a spare stack, and calls actors on
 * it. One that blocks keeps that very stack; the loop is entered anew on another. One that blocked before is
 * resumed by leaving the loop's frame for good. When an actor returns into the loop that once called it, the stack
 * below is its own, and becomes the spare. So reacting costs a call, and blocking a switch.
 *
 * Nothing that a thread knows (its lane) is kept over a call into an actor: it may come back in another thread.
 */
#include "fibers/switch.h"
#include "runtime/fast.h"
#include "sched/clock.h"

static struct weft__actor *actor_of(struct weft__task *t)
{
    return (struct weft__actor *)t; /* its first field */
}

void weft__loop_wake(struct weft__lane *l, struct weft__actor *a)
{
    if (WEFT__RARE(a->unusual & WEFT__THREAD))
        weft__thread_wake(a);
    else if (WEFT__LIKELY(l->worker))
        weft__crew_ready(l->worker, &a->task);
    else
        weft__crew_share(&a->task);
}

/* A message came between the last look and the parking: the actor is still ours. */
void weft__switch_refused(_Atomic uint64_t *word)
{
    struct weft__actor *a = (struct weft__actor *)((char *)word - offsetof(struct weft__actor, box.word));

    weft__crew_ready(weft__lane()->worker, &a->task);
}

/* Right before it parks, each time: what is queued has no room for it (actor.h). */
static inline void stamp(const struct weft__lane *l, struct weft__actor *a) { a->since = l->worker->tick; }

/* It waits on, off its stack. */
static void wait_on(struct weft__lane *l, struct weft__actor *a)
{
    stamp(l, a);
    if (!weft__inbox_park(&a->box, a->parked))
        weft__crew_ready(l->worker, &a->task);
}

/* An actor that blocks keeps the stack it is on. False: there is no other for the loop; stack.c has said so. */
static bool keep_stack(struct weft__lane *l, struct weft__actor *a)
{
    struct weft__stack *s = a->stack ? NULL : weft__stack_get(&l->stacks, l->stack_class);

    if (s) {
        a->stack = l->spare;
        l->spare = s;
    }
    return a->stack;
}

static void run_answer(void *actor, weft_msg *m)
{
    struct weft__actor *a = actor;

    (void)m;
    a->run = a->extra->run;
    a->state = a->extra->state;
    weft__request_run(a);
}

/* It reacts, and a response is there that has a handler of its own. Then that runs, and what the actor waits for stays
 * arranged meanwhile, as if the handler had done it. If it has looked at all there is, it need not look again unless
 * the handler waits, or arranges something. */
static bool answers(struct weft__actor *a, bool looked)
{
    if (WEFT__LIKELY(a->phase != WEFT__REACTING || !weft__request_is_ready(a)))
        return false;
    a->extra->resumes = looked;
    a->extra->waits = (struct weft__wanted){a->type, a->type_count};
    a->extra->run = a->run;
    a->extra->state = a->state;
    if (a->unusual & WEFT__TIMED) {
        weft__wait_done(a);
        a->unusual |= WEFT__REACT_TIMED;
    }
    if (!(a->unusual & WEFT__SERVING))
        a->unusual |= a->type_count ? WEFT__ARRANGED : WEFT__ARRANGED | WEFT__CASES;
    a->run = run_answer;
    a->state = a;
    return true;
}

/* Its message, after a look at all there is; or none, because its time is over. False: it waits on. */
static bool look_again(struct weft__lane *l, struct weft__actor *a, struct weft_msg **m)
{
    if (WEFT__RARE(weft__fast_is_urgent(a)))
        weft__wait_urgent(l, a, false);
    *m = weft__wait_again(l, a);
    if (!*m && answers(a, true))
        return true;
    if (!*m && !weft__fast_over(a)) {
        wait_on(l, a);
        return false;
    }
    if (a->unusual & WEFT__TIMED)
        weft__wait_done(a);
    return true;
}

/* For the loop, which goes on with what is in the worker's hand, or looks for something. */
static __attribute__((noinline)) struct weft_msg *park_to_loop(struct weft__lane *l, struct weft__actor *a)
{
    if (!keep_stack(l, a))
        weft_end(WEFT_ESTACK); /* it has to wait, and cannot */
    a->phase = WEFT__RECEIVING;
    stamp(l, a);
    return weft__switch_park(&a->sp, weft__switch_fresh(l->spare, weft__loop), NULL, &a->box.word, a->parked);
}

/* Its exceptions lie in its frame meanwhile. */
static __attribute__((noinline)) struct weft_msg *park_handling(struct weft__lane *l, struct weft__actor *a)
{
    struct weft__exceptions mine = weft__exceptions_take(l->exceptions);
    struct weft_msg        *m = weft__loop_park(l, a);

    *weft__lane()->exceptions = mine;
    return m;
}

/* The usual next one is in the slot, on its stack, with its message; else the loop has to look. */
struct weft_msg *weft__loop_park(struct weft__lane *l, struct weft__actor *a)
{
    if (WEFT__RARE(weft__exceptions_any(l->exceptions)))
        return park_handling(l, a);
    struct weft__task *t = WEFT__LIKELY(a->stack) ? weft__worker_slot_fast(l->worker) : NULL;

    if (WEFT__RARE(!t))
        return park_to_loop(l, a);
    struct weft__actor *next = actor_of(t);
    struct weft_msg    *m = NULL;
    /* it waits on its stack, for ever, and nothing urgent came */
    if (WEFT__LIKELY((weft__fast_at_once(next) &
                      (WEFT__IS_PHASE(0xff) | WEFT__IS_URGENT | WEFT__IS_UNUSUAL(WEFT__TIMED))) ==
                     WEFT__IS_PHASE(WEFT__RECEIVING)))
        m = weft__fast_next(next);
    if (WEFT__RARE(!m)) {
        l->hand = next; /* the loop knows more */
        return park_to_loop(l, a);
    }
    a->phase = WEFT__RECEIVING;
    stamp(l, a);
    weft__fast_deliver(l, next, m);
    return weft__switch_park(&a->sp, next->sp, m, &a->box.word, a->parked);
}

static void requeue(void *actor)
{
    struct weft__actor *a = actor;

    weft__worker_yielded(weft__lane()->worker, &a->task);
}

void weft__loop_yield(struct weft__lane *l, struct weft__actor *a)
{
    if (!weft__crew_has_others(l->worker) || !keep_stack(l, a)) {
        weft__worker_renew(l->worker); /* it need not */
        return;
    }
    a->phase = WEFT__YIELDED;
    struct weft__exceptions mine = weft__exceptions_take(l->exceptions);
    weft__switch_away(&a->sp, weft__switch_fresh(l->spare, weft__loop), NULL, requeue, a);
    *weft__lane()->exceptions = mine;
}

static inline bool must_heed(const struct weft__actor *a)
{
    return WEFT__RARE(weft__fast_is_urgent(a)) || (WEFT__RARE(a->extra) && a->extra->unheeded);
}

void weft__loop_give_way(struct weft__lane *l, struct weft__actor *a)
{
    weft__loop_yield(l, a);
    if (WEFT__RARE(must_heed(a)))
        weft__bonds_heed(weft__lane(), a);
}

void weft__loop_heed(struct weft__lane *l, struct weft__actor *a)
{
    if (must_heed(a))
        weft__bonds_heed(l, a);
}

static inline void finish_at_once(struct weft__lane *l, struct weft__actor *a, int reason)
{
    bool first = a->unusual & WEFT__FIRST;

    a->reason = reason;
    weft__actor_end(l, a);
    l->self = NULL;
    if (first)
        weft__system_ended(reason);
}

static __attribute__((noinline)) void finish_rarely(struct weft__lane *l, struct weft__actor *a, int reason)
{
    if (weft__ending_has_functions(a))
        weft__ending_run(l, a);
    finish_at_once(l, a, reason);
}

static __attribute__((noinline)) void finish(struct weft__lane *l, struct weft__actor *a, int reason)
{
    if (WEFT__RARE(a->extra))
        finish_rarely(l, a, reason);
    else
        finish_at_once(l, a, reason);
}

static unsigned wanted_class(const struct weft__lane *l, const struct weft__actor *a)
{
    return WEFT__RARE(a->unusual & WEFT__SIZED) ? a->extra->stack_class : l->stack_class;
}

static void end_here(void)
{
    struct weft__lane *l = weft__lane();

    weft__loop_end(l, l->self, l->self->extra->reason);
}

/* While it waits. Its deferred functions need a stack of the size that it asked for, and this is the loop's. */
static void end_on(struct weft__lane *l, struct weft__actor *a, unsigned size_class, int reason)
{
    struct weft__stack *s = weft__stack_get(&l->stacks, size_class);

    if (!s)
        return; /* then this one has to do */
    a->extra->reason = reason;
    l->self = a;
    weft__stack_put(&l->stacks, l->spare);
    l->spare = s;
    weft__switch_leave(weft__switch_fresh(s, end_here), NULL);
}

/* As others are most of the time. It is left, and nobody else can get it before: this worker's cache has it. */
static __attribute__((noinline)) void usual_spare(struct weft__lane *l)
{
    struct weft__stack *other = weft__stack_get(&l->stacks, l->stack_class);

    if (!other)
        return;
    weft__stack_put(&l->stacks, l->spare);
    l->spare = other;
}

/* From the middle of its frames, or of a guard's, or from the loop's because somebody ended it while it waits: they are
 * dropped. If that is on the spare, the loop begins anew on it, above them. */
_Noreturn void weft__loop_end(struct weft__lane *l, struct weft__actor *a, int reason)
{
    bool elsewhere = a->stack && a->phase != WEFT__RUNNING; /* on the loop's stack */

    weft__exceptions_take(l->exceptions); /* those that it handled are lost */
    if (elsewhere && weft__ending_has_functions(a) && l->spare->size_class != wanted_class(l, a))
        end_on(l, a, wanted_class(l, a), reason);
    if (weft__ending_has_functions(a))
        weft__ending_run(l, a);
    struct weft__stack *mine = a->stack;
    a->stack = NULL;
    finish_at_once(l, a, reason);
    if (mine)
        weft__stack_put(&l->stacks, mine);
    else if (WEFT__RARE(l->spare->size_class != l->stack_class))
        usual_spare(l);
    weft__switch_leave(weft__switch_fresh(l->spare, weft__loop), NULL);
}

static _Noreturn void end_overflowed(void)
{
    struct weft__lane  *l = weft__lane();
    struct weft__actor *a = l->self;

    weft__exceptions_take(l->exceptions); /* as in weft__loop_end, before anything of the program runs */
    weft__ending_run(l, a);
    weft__stack_clear(a->stack ? a->stack : l->spare);
    weft__loop_end(l, a, WEFT_ESTACK);
}

/* Its deferred functions may need more than this: then the rescue stack is changed for a larger one. */
void weft__loop_overflowed(void)
{
    struct weft__lane  *l = weft__lane();
    unsigned            want = wanted_class(l, l->self);
    struct weft__stack *s = NULL;

    if (weft__ending_has_functions(l->self) && l->rescue->size_class != want)
        s = weft__stack_get(&l->stacks, want);
    if (!s)
        end_overflowed();
    weft__stack_put(&l->stacks, l->rescue);
    l->rescue = s;
    weft__switch_leave(weft__switch_fresh(s, end_overflowed), NULL);
}

/* Goes on with the loop on a stack of the size that `a` asked for, and runs it there. */
static __attribute__((noinline)) void run_on(struct weft__lane *l, struct weft__actor *a, unsigned size_class)
{
    struct weft__stack *s = a->stack ? a->stack : weft__stack_get(&l->stacks, size_class);

    l->self = a;
    a->stack = NULL;
    if (!s)
        weft_end(WEFT_ESTACK);
    weft__stack_put(&l->stacks, l->spare);
    l->spare = s;
    l->hand = a;
    weft__switch_leave(weft__switch_fresh(s, weft__loop), NULL);
}

static inline void fit_stack(struct weft__lane *l, struct weft__actor *a)
{
    unsigned want = wanted_class(l, a);

    if (WEFT__RARE(l->spare->size_class != want))
        run_on(l, a, want);
    if (WEFT__RARE(a->stack)) { /* given when it was spawned; the spare happens to do as well */
        weft__stack_put(&l->stacks, a->stack);
        a->stack = NULL;
    }
}

/* It blocked since it was called: the stack below is its own, and becomes the spare. */
static struct weft__lane *give_stack_back(struct weft__actor *a)
{
    struct weft__lane *l = weft__lane();

    weft__stack_put(&l->stacks, l->spare);
    l->spare = a->stack;
    a->stack = NULL;
    return l;
}

/* Its handler is to be called with m: now, or, if this turn is over, in the next. */
static bool call_or_put_off(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m)
{
    if (l->worker->budget > 0)
        return true;
    a->phase = WEFT__REACTING;
    a->current = m;
    a->unusual |= WEFT__DUE;
    weft__worker_yielded(l->worker, &a->task);
    return false;
}

/* Unless it has begun before, and was only interrupted by the handler of a response. */
static void begin_time(struct weft__actor *a)
{
    struct weft__extra *x = a->extra;

    if (x->react_time >= 0)
        x->react_until = weft__clock_after(x->react_time);
    x->react_time = -1;
    if (weft__wait_until(a, x->react_until) < 0)
        weft__misuse(WEFT_EMEMORY, "no memory for a timer");
}

/* It was interrupted by the handler of a response, and waits for the same still. */
static bool resumes(struct weft__actor *a)
{
    struct weft__extra *x = a->extra;
    bool same = x && x->resumes && x->waits.type == a->type && x->waits.type_count == a->type_count;

    if (x)
        x->resumes = false;
    return same;
}

/* What settle does not do: a time, other messages, the end of a turn, large bodies, full magazines. */
static __attribute__((noinline)) bool settle_slowly(struct weft__lane *l, struct weft__actor *a,
                                                    struct weft_msg **m)
{
    uint32_t was = a->unusual;
    bool     looked = resumes(a);

    a->phase = WEFT__REACTING;
    a->parked += WEFT__INBOX_NEXT_WAIT;
    a->unusual = was & ~(uint32_t)(WEFT__ARRANGED | WEFT__HANDLER | WEFT__REACT_TIMED | WEFT__CASES);
    if (was & WEFT__REACT_TIMED)
        begin_time(a);
    *m = NULL;
    if (WEFT__RARE(weft__fast_is_urgent(a))) /* a kill comes before all handlers */
        weft__wait_urgent(l, a, !looked);
    if (answers(a, looked)) /* it came before what is still to be looked at */
        return call_or_put_off(l, a, NULL);
    *m = looked ? weft__wait_again(l, a) : weft__wait_first(l, a);
    if (!*m && answers(a, true))
        return call_or_put_off(l, a, NULL);
    if (!*m && !weft__fast_over(a)) {
        wait_on(l, a);
        return false;
    }
    if (a->unusual & WEFT__TIMED)
        weft__wait_done(a);
    return call_or_put_off(l, a, *m);
}

/* Something came before it could park. */
static __attribute__((noinline)) bool look_now(struct weft__lane *l, struct weft__actor *a,
                                               struct weft_msg **m)
{
    return look_again(l, a, m) && call_or_put_off(l, a, *m);
}

static void end_current(struct weft__lane *l, struct weft__actor *a)
{
    if (a->current)
        weft__message_free(l, a->current);
    a->current = NULL;
}

/* It did not arrange just one more reaction. */
static __attribute__((noinline)) bool settle_rarely(struct weft__lane *l, struct weft__actor *a,
                                                    struct weft_msg **m)
{
    end_current(l, a);
    a->unusual &= ~(uint32_t)WEFT__SERVING;
    if (a->unusual & WEFT__ARRANGED)
        return settle_slowly(l, a, m);
    switch (weft__plan_next(a)) {
    case WEFT__STEPS: /* the next is called like a handler */
        *m = NULL;
        return call_or_put_off(l, a, NULL);
    case WEFT__WAITS:
        a->unusual |= WEFT__SERVING;
        return settle_slowly(l, a, m);
    default:
        finish(l, a, 0);
        return false;
    }
}

/* It has more of what it took at once. */
static inline bool go_on_with_batch(struct weft__lane *l, struct weft__actor *a, struct weft_msg **m)
{
    if (WEFT__RARE(weft__fast_is_urgent(a)))
        return look_now(l, a, m);
    if (WEFT__RARE(l->worker->budget <= -WEFT__BATCH_MESSAGES)) {
        weft__worker_yielded(l->worker, &a->task); /* it goes on with them in the next turn */
        return false;
    }
    return WEFT__LIKELY((*m = weft__fast_next(a))) ? true : look_now(l, a, m);
}

/* Its function or handler has returned. True: it goes on, reacting, with *m. */
static inline __attribute__((always_inline)) bool settle(struct weft__lane *l, struct weft__actor *a,
                                                         struct weft_msg **m)
{
    if (WEFT__RARE(a->unusual != (WEFT__ARRANGED | WEFT__HANDLER))) {
        if (a->unusual & (WEFT__ARRANGED | WEFT__FOLLOWS | WEFT__PLANNED | WEFT__THENS))
            return settle_rarely(l, a, m);
        finish(l, a, 0);
        return false;
    }
    if (WEFT__RARE(!weft__stash_is_empty(&a->stash)) || WEFT__RARE(!weft__fast_can_end(l, a->current)))
        return settle_rarely(l, a, m);
    weft__fast_end_current(l, a);
    a->phase = WEFT__REACTING;
    a->unusual = 0;
    a->parked += WEFT__INBOX_NEXT_WAIT;
    if (WEFT__RARE(a->in))
        return go_on_with_batch(l, a, m);
    stamp(l, a);
    /* relaxed: the exchange decides; this spares it where it would fail. */
    if (WEFT__LIKELY(atomic_load_explicit(&a->box.word, memory_order_relaxed) == WEFT__INBOX_EMPTY) &&
        WEFT__LIKELY(weft__inbox_park(&a->box, a->parked)))
        return false;
    return look_now(l, a, m);
}

static inline __attribute__((always_inline)) void react(struct weft__lane *l, struct weft__actor *a,
                                                        struct weft_msg *m)
{
    for (;;) {
        struct weft_msg *next; /* not m itself: what has an address is not kept in a register */

        weft__fast_deliver(l, a, m);
        a->unusual |= WEFT__HANDLER;
        a->run(a->state, m);
        if (WEFT__RARE(a->stack)) /* then this may be another thread than before */
            l = give_stack_back(a);
        if (!settle(l, a, &next))
            return;
        m = next;
    }
}

/* Not in the middle of the loop. */
static __attribute__((noinline)) void react_rarely(struct weft__lane *l, struct weft__actor *a,
                                                   struct weft_msg *m)
{
    react(l, a, m);
}

static void start(struct weft__lane *l, struct weft__actor *a)
{
    struct weft_msg *m;

    fit_stack(l, a);
    a->phase = WEFT__RUNNING;
    l->self = a;
    a->start(a->state);
    if (a->stack)
        l = give_stack_back(a);
    a->unusual |= WEFT__HANDLER; /* as after a handler; nothing of it runs any more */
    if (settle(l, a, &m))
        react_rarely(l, a, m);
}

/* Not by the next of its messages alone. False: it waits on. */
static __attribute__((noinline)) bool go_on_rarely(struct weft__lane *l, struct weft__actor *a,
                                                   struct weft_msg **m)
{
    bool due = a->unusual & WEFT__DUE;

    if (due && must_heed(a) && weft__plan_is_due(a)) /* it may never look at its mailbox */
        weft__bonds_heed(l, a);
    a->unusual &= ~(uint32_t)WEFT__DUE;
    *m = a->current; /* as it was put off */
    return due || look_again(l, a, m);
}

/* A waiting actor was made ready: by a message, or by its timer. */
static void go_on(struct weft__lane *l, struct weft__actor *a)
{
    struct weft_msg *m = NULL;

    if (a->phase == WEFT__REACTING)
        fit_stack(l, a); /* before the look: what that finds is not kept on the way to another stack */
    l->self = a;         /* while late messages are destroyed */
    if (WEFT__LIKELY(!(a->unusual & (WEFT__DUE | WEFT__TIMED))) && WEFT__LIKELY(!(weft__fast_is_urgent(a))))
        m = weft__fast_next(a);
    if (WEFT__RARE(!m) && !go_on_rarely(l, a, &m)) {
        l->self = NULL;
        return;
    }
    if (a->phase == WEFT__RECEIVING) {
        weft__fast_deliver(l, a, m);
        weft__switch_leave(a->sp, m);
    }
    react_rarely(l, a, m);
}

static void turn(struct weft__lane *l, struct weft__actor *a)
{
    if (a->phase == WEFT__START) {
        start(l, a);
    } else if (a->phase == WEFT__YIELDED) {
        a->phase = WEFT__RUNNING;
        l->self = a;
        weft__switch_leave(a->sp, NULL);
    } else {
        go_on(l, a);
    }
}

/* What the loop runs next: what it was handed, or what is queued. */
static __attribute__((noinline)) struct weft__actor *next_actor(struct weft__lane *l)
{
    struct weft__actor *a = l->hand;

    l->self = NULL;
    l->hand = NULL;
    if (!a)
        a = actor_of(weft__crew_next(l->worker));
    if (!a)
        weft__switch_leave(l->home, NULL);
    return a;
}

/* The usual one is in the slot, waits without a stack, and has its message: it is called here and now. */
void weft__loop(void)
{
    for (;;) {
        struct weft__lane  *l = weft__lane();
        struct weft__actor *a = WEFT__LIKELY(!l->hand) ? actor_of(weft__worker_slot_fast(l->worker)) : NULL;
        struct weft_msg    *m = NULL;

        if (WEFT__RARE(!a))
            a = next_actor(l);
        if (WEFT__LIKELY(weft__fast_at_once(a) == WEFT__IS_PHASE(WEFT__REACTING)) &&
            WEFT__LIKELY(l->spare->size_class == l->stack_class))
            m = weft__fast_next(a);
        if (WEFT__LIKELY(m))
            react(l, a, m);
        else
            turn(l, a);
    }
}
