/* parts.h - private to weft. What each file of runtime/ offers to the others. Included by actor.h.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#ifndef WEFT__PARTS_H
#define WEFT__PARTS_H

#include <signal.h>

#include "runtime/actor.h"

/* ---- misuse.c --------------------------------------------------------------------------- */

/* Ends the actor, after one line; its words are taken for each %s. */
_Noreturn void weft__misuse(int reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- types.c ---------------------------------------------------------------------------- */

enum {
    WEFT__TYPE_ANY = 1,
    WEFT__TYPE_RESPONSE,                  /* a response on its way */
    WEFT__TYPE_BELL,                      /* no message: a gate has some (gate.h) */
    WEFT__TYPE_SIGNAL,                    /* no message: somebody links, monitors, ends (bonds.c) */
    WEFT__TYPE_INNER = WEFT__TYPE_SIGNAL, /* up to here: never seen by the user */
    WEFT__TYPE_FAILED,
    WEFT__TYPE_DEAD_LETTER,
    WEFT__TYPE_DOWN,
    WEFT__TYPE_EXIT,
    WEFT__TYPE_SIGNALLED,
    WEFT__TYPE_GAVE_UP,
    WEFT__TYPE_LAST = WEFT__TYPE_GAVE_UP /* of Weft's own */
};

/* Interned at need; 0: no memory, or it has no name. */
unsigned         weft__types_id(weft_type *type);
const weft_type *weft__types_of(unsigned id);
/* A body of that type owns something. */
bool weft__types_owns(unsigned id);
/* What a body of that type owns. */
void weft__types_destroy(unsigned id, void *body);
/* Calls the program, which may send and spawn, but must come back. */
void weft__types_call(void (*destroy)(void *body), void *body);

/* ---- message.c -------------------------------------------------------------------------- */

struct weft_msg *weft__message_new(struct weft__lane *l, weft_type *type, const void *body, int *error);
/* The same for the runtime's own use; without a body it is zero. */
struct weft_msg *weft__message_of(struct weft__lane *l, weft_type *type, const void *body);
/* One more with the same body, and nothing else of it but type, label and sender. NULL: no memory. */
struct weft_msg *weft__message_copy(struct weft__lane *l, const struct weft_msg *m);
/* Its body owns nothing. */
bool weft__message_is_sharable(const struct weft_msg *m);
/* Of its body. */
size_t weft__message_bytes(const struct weft_msg *m);

/* Four ends. It was read: a request is dropped; or fails for that reason; its body is destroyed, too; and it is a dead
 * letter, too. */
void weft__message_free(struct weft__lane *l, struct weft_msg *m);
void weft__message_end(struct weft__lane *l, struct weft_msg *m, int why);
void weft__message_drop(struct weft__lane *l, struct weft_msg *m, int why);
void weft__message_dead(struct weft__lane *l, struct weft_msg *m, int why);
/* Destroys what the body of a message owns that could not be made. */
void weft__message_unsent(const weft_type *type, const void *body);

/* The user still uses it. */
static inline void weft__message_must_live(const weft_msg *m)
{
    if (WEFT__RARE(m->type == WEFT__MSG_FREE))
        weft__misuse(WEFT_EINVALID,
                     "a message was used that is gone: the next receive ended it (weft_keep it before), or "
                     "it was dropped, or passed on");
}

/* It is the user's, and in its actor's list of such; or no longer; or whoever had it has it no more. */
void weft__message_hold(struct weft__actor *a, struct weft_msg *m);
void weft__message_unhold(struct weft_msg *m);
void weft__message_claim(struct weft__lane *l, struct weft_msg *m);

/* ---- send.c ----------------------------------------------------------------------------- */

/* As the user's: it may give way. */
int weft__send(struct weft__lane *l, weft_pid to, struct weft_msg *m);
/* From wherever: no turn ends here. m is gone afterwards. 0, or an error and a dead letter. */
int weft__send_quietly(struct weft__lane *l, weft_pid to, struct weft_msg *m);
/* To who lives there, whatever the kind; m->to and the rest are set. WEFT_EGONE: m is still the caller's. */
int weft__send_directly(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m);
/* To a mailbox, and nothing else: no code of the user's runs. An error: m is still the caller's. What had to make room
 * is added to *dropped, and for the caller to bury. */
int weft__send_put(struct weft__lane *l, weft_pid to, struct weft_msg *m, struct weft_msg **dropped);
/* Returns the error; a fiber whose turn is over gives way. */
int weft__send_end(struct weft__lane *l, int error);
/* The user's message is the runtime's now, to be sent by the calling actor. Not 0: it is gone. */
int weft__send_claim(struct weft__lane **l, weft_msg *m);

/* Ends the actor if a guard calls. */
static inline void weft__send_check(const struct weft__lane *l)
{
    if (WEFT__RARE(l->guarding))
        weft__misuse(WEFT_EINVALID, "a guard sends: it may only read");
}

/* ---- react.c ---------------------------------------------------------------------------- */

/* Ends the actor if `call` may not be made here, or not with something on this stack. */
void weft__react_check(struct weft__lane *l, const char *call, const void *state);

/* ---- match.c ---------------------------------------------------------------------------- */

bool weft__match_fits(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m);
/* What was the last to fit is received: its label, its handler, what it is converted to. */
struct weft_msg *weft__match_accept(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m);
/* From what was skipped, accepted; from any stash, not accepted yet. */
struct weft_msg *weft__match_stash(struct weft__lane *l, struct weft__actor *a);
struct weft_msg *weft__match_seek(struct weft__lane *l, struct weft__actor *a, struct weft__stash *stash);
/* From what was answered, if it waits for that: the response with that number, or, 0, any. */
struct weft_msg *weft__match_response(struct weft__lane *l, struct weft__actor *a, uint64_t number);
/* Ends the actor if `call` was given cases that make no sense. */
void weft__match_check(const char *call, const struct weft_cases *cases);
/* A guard ended its actor. */
void weft__match_forget(struct weft__lane *l);

/* ---- request.c -------------------------------------------------------------------------- */

/* Of every response, on its way. */
extern weft_type weft__request_type;

void weft__request_arrived(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m);
/* The response has its own type again. */
void weft__request_name(struct weft_msg *m);
/* The response, if it is there, with its own type; the first closes the request. */
struct weft_msg *weft__request_take(struct weft__actor *a, uint64_t number);
struct weft_msg *weft__request_peek(const struct weft__actor *a, uint64_t number);
/* Some handler's response is there; runs one such. */
bool weft__request_is_ready(const struct weft__actor *a);
void weft__request_run(struct weft__actor *a);
/* Answers for m, and leaves it; or no memory. */
int weft__request_fail(struct weft__lane *l, const struct weft_msg *m, int why);
/* m goes on without its request. */
void weft__request_abandon(struct weft__lane *l, struct weft_msg *m);
void weft__request_end_all(struct weft__lane *l, struct weft__actor *a);

/* For waits of the runtime's own that end with an answer. 0, NULL: no memory. */
uint64_t weft__request_open(struct weft__actor *a);
void     weft__request_close(struct weft__actor *a, uint64_t number);
/* Whom it has asked; nobody: several, or there are too many places to look for one. Its owner only. */
weft_pid weft__request_whom(const struct weft__actor *a);
/* An answer: WEFT_FAILED, with an int to be filled in. */
struct weft_msg *weft__request_blank(struct weft__lane *l);
/* Leaves it open; NULL: the time is over. */
struct weft_msg *weft__request_wait(struct weft__lane *l, struct weft__actor *a, uint64_t number,
                                    weft_span time);

/* ---- plan.c ----------------------------------------------------------------------------- */

/* Nothing was arranged: what is next. WAITS: for a behaviour, or for responses alone; type_count is 0 then. */
enum weft__next { WEFT__ENDS, WEFT__WAITS, WEFT__STEPS };
enum weft__next weft__plan_next(struct weft__actor *a);
/* What is to be called is a step. */
bool weft__plan_is_due(const struct weft__actor *a);
void weft__plan_end(struct weft__actor *a);

/* ---- later.c, names.c, letters.c -------------------------------------------------------- */

weft_ref weft__later_send(struct weft__lane *l, int64_t delay, int64_t period, weft_pid to,
                          struct weft_msg *m);
/* Before the first start; while no worker runs. */
void weft__later_prepare(void);
void weft__later_end_all(struct weft__lane *l);
/* All of its names. */
void weft__names_forget(weft_pid who);
/* One of its names, cut if there is no room; false: it has none. */
bool weft__names_of(weft_pid who, char *to, size_t size);
void weft__letters_forget(weft_pid who);
/* False: nobody wants it. */
bool weft__letters_send(struct weft__lane *l, struct weft_msg *m, int why);

/* ---- bound.c ---------------------------------------------------------------------------- */

int weft__bound_give(struct weft__actor *a, const struct weft_bound *bound);
int weft__bound_send(struct weft__lane *l, weft_pid to, struct weft_msg *m);
/* As weft__send_put. */
int weft__bound_put(struct weft__lane *l, weft_pid to, struct weft_msg *m, struct weft_msg **dropped);
/* A new wait; the same, because its bell rang: as in wait.c. */
struct weft_msg *weft__bound_first(struct weft__lane *l, struct weft__actor *a);
struct weft_msg *weft__bound_again(struct weft__lane *l, struct weft__actor *a);
/* All that it held, in no order; then, when its mailbox is closed as well, the gate is free. */
struct weft_msg *weft__bound_close(struct weft__lane *l, struct weft__actor *a);
void             weft__bound_end(struct weft__actor *a);
/* It waits for room, and ends. */
void weft__bound_withdraw(struct weft__lane *l, struct weft__actor *a);
/* What it was spawned with, bounded or not; NULL: it is a thread. */
weft_fn *weft__bound_fn(struct weft__actor *a);

/* A response or a signal, in its place among the messages. False: it has ended, and m is still the caller's. */
bool weft__bound_put_inner(struct weft__lane *l, weft_pid to, struct weft_msg *m);
/* A guard that ran under its lock does not come back. */
void weft__bound_let_go(struct weft__actor *a);
/* Takes out the first that is as `fits` says, of what has come; or NULL. */
struct weft_msg *weft__bound_find(struct weft__actor *a, bool (*fits)(void *with, struct weft_msg *m),
                                  void               *with);
/* Takes out all such signals, in their order, of what it has not looked at for them yet. Then: these go back, and all is to be
 * looked at again. */
struct weft_msg *weft__bound_heed(struct weft__actor *a,
                                  bool (*fits)(struct weft__actor *a, struct weft_msg *m));
void             weft__bound_unheed(struct weft__actor *a, struct weft_msg *list);

/* ---- bonds.c, ending.c ------------------------------------------------------------------ */

/* One that a spawned actor has with its parent from its start: 0, or no memory, and nothing is changed. */
int weft__bonds_give(struct weft__lane *l, struct weft__actor *parent, struct weft__actor *child, bool link,
                     weft_ref *monitor);
/* A signal, taken from the mailbox. True: it is a message now, to be received. It may end the actor. */
bool weft__bonds_arrived(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m);
/* What is in the mailbox ends the actor, if it would, although it does not wait. */
void weft__bonds_heed(struct weft__lane *l, struct weft__actor *a);
/* A signal that met an actor's end, with that reason: its sender hears of it, and of why, if that is not NULL. */
void weft__bonds_refuse(struct weft__lane *l, struct weft_msg *m, int reason, const struct weft_msg *why);
/* All others hear of its end. */
void weft__bonds_end(struct weft__lane *l, struct weft__actor *a, int reason);
/* How many links, and monitors that it has set. Its owner only. */
void weft__bonds_count(struct weft__actor *a, size_t *links, size_t *monitors);

/* A signal of the process, to be received as a message; it needs no room in a mailbox. False: no memory. */
bool weft__bonds_signalled(struct weft__lane *l, weft_pid to, int signal);

/* The body of a signal, and of the message that it becomes, when another message goes along. */
struct weft__carrier {
    struct weft_down bond;
    struct weft_msg *carried;
};
/* Where a message keeps the one that goes along with an end; NULL: it has none. */
struct weft_msg **weft__message_carried(struct weft_msg *m);

/* As weft_defer, for an actor that has not run yet, or the calling one. */
int weft__ending_defer(struct weft__lane *l, struct weft__actor *a, weft_fn *fn, void *arg);
/* Runs its deferred functions, the last first. */
void weft__ending_run(struct weft__lane *l, struct weft__actor *a);
/* Somebody ends it; what is carried goes along with its end. */
_Noreturn void     weft__ending_obey(struct weft__lane *l, struct weft__actor *a, int reason,
                                     struct weft_msg *carried);
static inline bool weft__ending_has_functions(const struct weft__actor *a)
{
    return a->extra && a->extra->defers;
}

/* ---- signals.c -------------------------------------------------------------------------- */

/* All of its wishes. */
void weft__signals_forget(weft_pid who);
/* Some actor waits for signals of the process, or could. */
bool weft__signals_wanted(void);
/* From now on SIGQUIT writes a dump. 0 or an error. */
int weft__signals_dump(void);
/* The system is being stopped: what is caught now stays so until it has ended. */
void weft__signals_hold(void);
/* A system has ended. Not under its lock: a dump may be under way, and is waited for. */
void weft__signals_end(void);
/* In this thread: all but those that an instruction raises. For threads of Weft's own, which inherit it. */
void weft__signals_block(sigset_t *was);

/* ---- supervisor.c ----------------------------------------------------------------------- */

/* Supervisors that no supervisor started, as weft_list; the one that began last comes first. */
size_t weft__supervisor_roots(weft_pid *to, size_t room);

/* ---- wait.c ----------------------------------------------------------------------------- */

/* A new wait: from the oldest on; the same wait: what is new. */
struct weft_msg *weft__wait_first(struct weft__lane *l, struct weft__actor *a);
struct weft_msg *weft__wait_again(struct weft__lane *l, struct weft__actor *a);
/* A response was met: returns it, or what it becomes, if that is what the actor waits for. */
struct weft_msg *weft__wait_response(struct weft__lane *l, struct weft__actor *a, struct weft_msg *m);
/* It reacts, and the handler of a response is to run before what came later is looked at. */
bool weft__wait_has_answer(const struct weft__actor *a);
/* What is urgent is put first, in a new wait before all that was skipped. */
void weft__wait_urgent(struct weft__lane *l, struct weft__actor *a, bool anew);
/* Its waits with a time take no memory from now on, as the runtime's own must not; -1: no memory for that. Once, before it
 * has ever waited so. */
int weft__wait_reserve(struct weft__actor *a);
/* Before it parks; -1: no memory. */
int weft__wait_until(struct weft__actor *a, int64_t deadline);
/* TIMED, and its deadline has passed. */
bool weft__wait_is_over(struct weft__actor *a);
void weft__wait_done(struct weft__actor *a);
/* False: it is of a wait that is done, and wakes nobody. */
bool weft__wait_timer_counts(const struct weft__timer *t);
/* Waits on its stack until a message comes, or the time is over: NULL. `current` is what was received, afterwards. */
struct weft_msg *weft__wait_block(struct weft__lane *l, struct weft__actor *a, weft_span time);

/* What it waits for, while a wait in its middle waits for something else: that wait's frame keeps it. */
static inline struct weft__wanted weft__wait_for(struct weft__actor *a, void *type, uint8_t count)
{
    struct weft__wanted kept = {a->type, a->type_count};

    if (a->extra)
        a->extra->resumes = false;
    a->type = type;
    a->type_count = count;
    a->parked += WEFT__INBOX_NEXT_WAIT;
    return kept;
}
static inline void weft__wait_restore(struct weft__actor *a, struct weft__wanted kept)
{
    a->type = kept.type;
    a->type_count = kept.type_count;
}

/* What it has received lives on meanwhile; and is ended with it, should it end. The actor has an extra. */
static inline void weft__wait_aside(struct weft__actor *a)
{
    a->extra->aside = a->current;
    a->current = NULL;
}
static inline void weft__wait_back(struct weft__actor *a)
{
    a->current = a->extra->aside;
    a->extra->aside = NULL;
}

/* ---- loop.c ----------------------------------------------------------------------------- */
void             weft__loop(void);
struct weft_msg *weft__loop_park(struct weft__lane *l, struct weft__actor *a);
void             weft__loop_yield(struct weft__lane *l, struct weft__actor *a);
/* The same where it may be ended. */
void weft__loop_give_way(struct weft__lane *l, struct weft__actor *a);
/* A thread has no turn to give away, but may be ended there, too. */
void           weft__loop_heed(struct weft__lane *l, struct weft__actor *a);
_Noreturn void weft__loop_end(struct weft__lane *l, struct weft__actor *a, int reason);
/* On the rescue stack: the calling actor's own ran over, and it ends. */
void weft__loop_overflowed(void);
void weft__loop_wake(struct weft__lane *l, struct weft__actor *a);

/* ---- look.c ----------------------------------------------------------------------------- */

/* As weft_look, but for the name of its function, which takes long to find: what it was spawned with; NULL: a thread. And
 * for the pid of whom it waits for, if that has no name: so those are alike who wait for different ones. */
int  weft__look(weft_pid who, weft_view *view, weft_fn **fn);
void weft__look_add_pid(weft_view *view);
void weft__look_function(weft_fn *fn, char *room, size_t size);
/* How many slots were ever used, and who lives in one now, or WEFT_NOBODY. */
size_t   weft__look_slots(void);
weft_pid weft__look_into(size_t slot);

/* ---- settings.c ------------------------------------------------------------------------- */

/* As asked for, or WEFT_WORKERS, or one for each CPU that is allowed. 0: that makes no sense. */
unsigned weft__settings_workers(const weft_config *how);
/* The same, each with its variable. */
uint64_t weft__settings_seed(const weft_config *how);
bool     weft__settings_dumps(const weft_config *how);
bool     weft__settings_deadlocks(const weft_config *how);

/* ---- down.c ----------------------------------------------------------------------------- */

/* Ends all that is left, while no worker runs; or, if some were abandoned, what can be had, and names the others. */
void weft__down(struct weft__lane *l, bool all);

/* ---- stop.c ----------------------------------------------------------------------------- */

/* One that stops all others within that time, not queued yet; NULL: no memory. */
struct weft__actor *weft__stop_actor(struct weft__lane *l, int64_t time);
/* Who lives in that slot; nobody, too, if it is a thread. */
weft_pid weft__stop_spawned(size_t slot);

/* ---- rest.c ----------------------------------------------------------------------------- */

/* Before the workers start: what is to be noticed. `conductor` is the lane of the thread that waits in weft_run. */
void weft__rest_watch(unsigned workers, const struct weft__lane *conductor, bool wait_all, bool deadlock);
void weft__rest_unwatch(void); /* from now on nothing is noticed; any thread */
/* How many actors live but threads: so many at least, while others move; exact while no worker runs, and no thread becomes
 * an actor or ceases to be one. */
uint64_t weft__rest_living(void);
bool     weft__rest_nobody_lives(void);

/* ---- thread.c, system.c ----------------------------------------------------------------- */
struct weft__lane *weft__thread_actor(void); /* this thread's lane, and it is an actor; NULL: impossible */
struct weft_msg   *weft__thread_park(struct weft__lane *l, struct weft__actor *a, weft_span time);
void               weft__thread_wake(struct weft__actor *a);
void               weft__thread_end(struct weft__lane *l, struct weft__actor *a); /* with its thread */
void               weft__thread_sleep(weft_span time);
void               weft__thread_release_all(void); /* the system has ended: nobody will write to them */
void               weft__system_ended(int reason); /* the first actor has */
void               weft__system_stopped(void);     /* all others have, or were killed */
void               weft__system_rests(bool dead);  /* all wait for ever; or, false, none lives */
int                weft__system_stop(struct weft__lane *l, int reason, int64_t time);
/* A foreign thread makes an actor: between these two a system runs, and goes on running. 0 or an error. */
int  weft__system_hold(void);
void weft__system_release(void);
bool weft__system_runs(void);
/* How many workers there are; 0: no system runs. */
unsigned weft__system_workers(void);

#endif
