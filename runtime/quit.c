/* quit.c - how a supervisor that gives up says so: a line on stderr, and a message that goes along with its end.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Its reason is WEFT_ESTOP, as of any that stops, so that those above do what the rules say; and which child it was, and
 * why, nobody knows when all have been stopped. So it is noted before, where no memory is needed.
 */
#include <string.h>

#include "base/say.h"
#include "runtime/parts.h"
#include "runtime/supervisor.h"

static void add_quoted(struct weft__text *t, const char *name)
{
    weft__text_add(t, "\"");
    weft__text_add(t, name);
    weft__text_add(t, "\"");
}

static void add_who(struct weft__text *t, const char *name, weft_pid who)
{
    if (*name)
        add_quoted(t, name);
    else
        weft__text_number(t, who.id, 16);
}

static void add_reason(struct weft__text *t, int reason)
{
    weft__text_add(t, reason < 0 ? "-" : "");
    weft__text_number(t, reason < 0 ? -(uint64_t)reason : (uint64_t)reason, 10);
    weft__text_add(t, " (");
    weft__text_add(t, weft_strerror(reason));
    weft__text_add(t, ")");
}

/* In the largest unit that needs no fraction. */
static void add_span(struct weft__text *t, int64_t ns)
{
    static const struct {
        int64_t     ns;
        const char *name;
    } units[] = {{1000000000, " s"}, {1000000, " ms"}, {1000, " us"}, {1, " ns"}};
    size_t i = 0;

    while (ns % units[i].ns)
        i++;
    weft__text_number(t, (uint64_t)(ns / units[i].ns), 10);
    weft__text_add(t, units[i].name);
}

static void say(const struct weft__supervisor *s, bool has_ended)
{
    const struct weft_gave_up *g = &s->gave_up;
    struct weft__say           line;
    struct weft__text         *t = weft__say_begin(&line);
    char                       name[256];

    weft__text_add(t, "weft: supervisor ");
    add_who(t, weft__names_of(s->self, name, sizeof name) ? name : "", s->self);
    weft__text_add(t, " gives up: child ");
    add_who(t, g->id, g->child);
    weft__text_add(t, has_ended ? " ended with " : " could not be started: ");
    add_reason(t, g->reason);
    weft__text_add(t, ", ");
    weft__text_number(t, g->restarts, 10);
    weft__text_add(t, g->restarts == 1 ? " restart within " : " restarts within ");
    add_span(t, weft__rules_period(s->how));
    weft__say_end(&line);
}

void weft__quit_because(struct weft__supervisor *s, const struct weft__child *c, int reason, bool has_ended)
{
    s->gave_up = (struct weft_gave_up){
        .supervisor = s->self, .child = c->who, .reason = reason, .restarts = (unsigned)s->past.count};
    if (c->what->id)
        memcpy(s->gave_up.id, c->what->id, strnlen(c->what->id, sizeof s->gave_up.id - 1));
    say(s, has_ended);
}

_Noreturn void weft__quit(const struct weft__supervisor *s)
{
    if (s->gave_up.supervisor.id)
        weft_end_with_body(s->reason, &weft_type_WEFT_GAVE_UP, &s->gave_up);
    weft_end(s->reason);
}
