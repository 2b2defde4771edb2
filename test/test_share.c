/* test_share.c - messages are values: what one does with its own, no other sees; and yet bodies are
 * seldom copied.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Whether a body was copied is told by where it lies. Receivers wait in a row of their own, tell
 * what they see, and do what they are told, so that the order of things is the test's.
 */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(share, .fini = nothing_leaks, .timeout = 60);

struct page {
    int  n;
    char text[4000];
};

WEFT_MESSAGE(PAGE, struct page);
WEFT_MESSAGE(
    SMALL, struct small { char text[24]; });
WEFT_MESSAGE(
    BARELY, struct barely { char text[25]; });
WEFT_SIGNAL(GO);
WEFT_SIGNAL(EDIT);
WEFT_SIGNAL(LOOK);
WEFT_SIGNAL(STOP);
WEFT_SIGNAL(DONE);

static atomic_int destroyed;

struct thing {
    void *memory;
    char  more[100];
};
static void destroy_thing(void *body)
{
    destroyed++;
    free(((struct thing *)body)->memory);
}
WEFT_MESSAGE_OWNING(THING, destroy_thing, struct thing);

enum { READERS = 5 };

/* What a reader sees. */
struct reader {
    const void *read, *edited, *read_after; /* where the body lies */
    char        text[24];                   /* what is in it, when it looks */
    bool        starves, no_memory;         /* its next edit must; did */
};

static struct reader seen[READERS];
static weft_pid      readers[READERS], me;

static void run(weft_fn *first) { cr_assert_eq(weft_run(first, NULL, .seed = 1), 0); }

static const char *text_of(const weft_msg *m)
{
    return weft_is(m, PAGE)    ? weft_get(m, PAGE)->text
           : weft_is(m, SMALL) ? weft_get(m, SMALL)->text
                               : weft_get(m, BARELY)->text;
}

static char *edit(weft_msg *m)
{
    if (weft_is(m, PAGE)) {
        struct page *p = weft_edit(m, PAGE);
        return p ? p->text : NULL;
    }
    return weft_is(m, SMALL) ? weft_edit(m, SMALL)->text : weft_edit(m, BARELY)->text;
}

/* Keeps a message, and looks at it or edits it, each time it is told. */
static void reads(void *arg)
{
    int            i = *(int *)arg;
    struct reader *r = &seen[i];
    weft_msg      *m = weft_keep(weft_receive(PAGE, SMALL, BARELY));

    r->read = text_of(m);
    for (weft_msg *what; weft_send(me, DONE), what = weft_receive(EDIT, LOOK, STOP), !weft_is(what, STOP);) {
        if (weft_is(what, EDIT)) {
            weft__memory_fail(r->starves); /* the next, or none */
            char *text = edit(m);
            weft__memory_fail(0);
            r->edited = text;
            r->no_memory = !text;
            if (text)
                snprintf(text, 24, "edited by %d", i);
        }
        strncpy(r->text, text_of(m), sizeof r->text - 1);
        r->read_after = text_of(m);
    }
    weft_drop(m);
    weft_send(me, DONE);
}

static void spawn_readers(int n)
{
    me = weft_self();
    for (int i = 0; i < n; i++)
        readers[i] = weft_spawn(reads, &i, .copy_bytes = sizeof i);
}

static void wait_for(int n)
{
    for (int i = 0; i < n; i++)
        weft_receive(DONE);
}

/* To one, which has done it then. */
#define TELL(i, what) (weft_send(readers[i], what), wait_for(1))

static bool all_read_at(const void *where, int n)
{
    for (int i = 0; i < n; i++)
        if (seen[i].read != where)
            return false;
    return true;
}

/* ---- One body, many messages ----------------------------------------------------------------- */

static void sends_to_many(void *arg)
{
    (void)arg;
    spawn_readers(READERS);
    note("%d", (int)weft_send_many(readers, READERS, PAGE, 1, "one"));
    wait_for(READERS);
    for (int i = 0; i < READERS; i++)
        TELL(i, LOOK);
}

Test(share, of_one_body_is_what_send_many_gives_to_all)
{
    run(sends_to_many);
    cr_expect_str_eq(noted(), "5");
    cr_expect_not_null(seen[0].read);
    cr_expect(all_read_at(seen[0].read, READERS));
    for (int i = 0; i < READERS; i++)
        cr_expect_str_eq(seen[i].text, "one");
}

static const void *mine;

static void shares_with_many(void *arg)
{
    (void)arg;
    spawn_readers(READERS);
    weft_msg *m = weft_make(PAGE, 1, "one");
    mine = text_of(m);
    for (int i = 0; i < READERS; i++)
        weft_pass(readers[i], weft_share(m));
    wait_for(READERS);
    note("%s", text_of(m));
    weft_drop(m);
}

Test(share, of_one_body_is_what_weft_share_gives)
{
    run(shares_with_many);
    cr_expect_str_eq(noted(), "one", "and m stays as it is");
    cr_expect(all_read_at(mine, READERS));
}

static void shares_what_it_received(void *arg)
{
    (void)arg;
    spawn_readers(2);
    weft_send(me, PAGE, 1, "one");
    weft_msg *m = weft_receive(PAGE), *also = weft_share(m);
    mine = text_of(m);
    weft_pass(readers[0], weft_share(also));
    weft_pass(readers[1], also);
    weft_receive(DONE); /* ends m */
    weft_receive(DONE);
    TELL(0, LOOK);
    TELL(1, LOOK);
}

Test(share, of_a_received_body_outlives_the_message)
{
    run(shares_what_it_received);
    cr_expect(all_read_at(mine, 2));
    cr_expect_str_eq(seen[0].text, "one");
    cr_expect_str_eq(seen[1].text, "one");
}

static void sends_bodies_of_either_size(void *arg)
{
    (void)arg;
    spawn_readers(4);
    weft_send_many(readers, 2, SMALL, "24 bytes");
    weft_send_many(readers + 2, 2, BARELY, "25 bytes");
    wait_for(4);
    for (int i = 0; i < 4; i++)
        TELL(i, LOOK);
    TELL(0, EDIT);
    TELL(1, LOOK);
}

Test(share, of_a_body_of_24_bytes_is_a_copy_and_of_25_is_none)
{
    run(sends_bodies_of_either_size);
    cr_expect_neq(seen[0].read, seen[1].read);
    cr_expect_eq(seen[2].read, seen[3].read);
    cr_expect_str_eq(seen[0].text, "edited by 0");
    cr_expect_eq(seen[0].edited, seen[0].read, "its own already");
    cr_expect_str_eq(seen[1].text, "24 bytes");
    cr_expect_str_eq(seen[2].text, "25 bytes");
}

static void sends_to_some(void *arg)
{
    (void)arg;
    spawn_readers(2);
    weft_pid    list[] = {readers[0], WEFT_NOBODY, readers[1], WEFT_NOBODY};
    weft_counts before = counted();
    note("%d ", (int)weft_send_many(list, 4, PAGE, 1, "one"));
    note("%d letters ", (int)(counted().dead_letters - before.dead_letters));
    note("%d", (int)weft_send_many(list, 0, PAGE, 1, "one"));
    wait_for(2);
}

Test(share, counts_those_who_got_it)
{
    run(sends_to_some);
    cr_expect_str_eq(noted(), "2 2 letters 0");
    cr_expect_eq(seen[0].read, seen[1].read);
}

static void tells_who_sent_it(void *arg)
{
    (void)arg;
    note("%s ", weft_same(weft_sender(weft_receive(PAGE)), me) ? "mine" : "?");
    weft_send(me, DONE);
}

static void sends_to_many_as_itself(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_pid list[] = {weft_spawn(tells_who_sent_it, NULL), weft_spawn(tells_who_sent_it, NULL)};
    weft_send_many(list, 2, PAGE, 1, "one");
    wait_for(2);
}

Test(share, by_send_many_has_the_sender)
{
    run(sends_to_many_as_itself);
    cr_expect_str_eq(noted(), "mine mine ");
}

/* ---- Editing --------------------------------------------------------------------------------- */

static void lets_one_edit(void *arg)
{
    (void)arg;
    spawn_readers(3);
    weft_send_many(readers, 3, PAGE, 1, "one");
    wait_for(3);
    TELL(1, EDIT);
    TELL(0, LOOK);
    TELL(2, LOOK);
}

Test(share, is_copied_for_who_edits_and_the_others_do_not_see_it)
{
    run(lets_one_edit);
    cr_expect_neq(seen[1].edited, seen[1].read);
    cr_expect_eq(seen[1].read_after, seen[1].edited, "and reads what it wrote");
    cr_expect_str_eq(seen[1].text, "edited by 1");
    for (int i = 0; i < 3; i += 2) {
        cr_expect_eq(seen[i].read_after, seen[i].read);
        cr_expect_str_eq(seen[i].text, "one");
    }
}

static void lets_one_edit_twice(void *arg)
{
    (void)arg;
    spawn_readers(2);
    weft_send_many(readers, 2, PAGE, 1, "one");
    wait_for(2);
    TELL(0, EDIT);
    mine = seen[0].edited;
    TELL(0, EDIT);
}

Test(share, is_copied_once_for_who_edits_often)
{
    run(lets_one_edit_twice);
    cr_expect_eq(seen[0].edited, mine);
}

static void lets_all_edit(void *arg)
{
    (void)arg;
    spawn_readers(READERS);
    weft_send_many(readers, READERS, PAGE, 1, "one");
    wait_for(READERS);
    for (int i = 0; i < READERS; i++)
        TELL(i, EDIT);
    for (int i = 0; i < READERS; i++)
        TELL(i, LOOK);
}

Test(share, is_edited_in_place_by_the_last_who_has_it)
{
    run(lets_all_edit);
    for (int i = 0; i < READERS - 1; i++)
        cr_expect_neq(seen[i].edited, seen[i].read, "%d", i);
    cr_expect_eq(seen[READERS - 1].edited, seen[READERS - 1].read);
    for (int i = 0; i < READERS; i++) {
        char own[24];
        snprintf(own, sizeof own, "edited by %d", i);
        cr_expect_str_eq(seen[i].text, own);
    }
}

static void lets_the_last_edit(void *arg)
{
    (void)arg;
    spawn_readers(3);
    weft_send_many(readers, 3, PAGE, 1, "one");
    wait_for(3);
    TELL(0, STOP);
    TELL(2, STOP);
    TELL(1, EDIT);
}

Test(share, is_edited_in_place_when_the_others_have_dropped_it)
{
    run(lets_the_last_edit);
    cr_expect_eq(seen[1].edited, seen[1].read);
    cr_expect_str_eq(seen[1].text, "edited by 1");
}

static void reads_and_goes_on(void *arg)
{
    (void)arg;
    weft_receive(PAGE);
    weft_send(me, DONE);
    weft_receive(STOP); /* ends the message */
}

static void reads_and_ends(void *arg)
{
    (void)arg;
    weft_receive(PAGE);
}

static void never_reads(void *arg)
{
    (void)arg;
    weft_receive(STOP);
}

/* Each of them has a share, and loses it in its own way. */
static void lets_others_lose_it(void *arg)
{
    (void)arg;
    spawn_readers(1);
    weft_pid stays = weft_spawn(reads_and_goes_on, NULL), ends = weft_spawn(reads_and_ends, NULL),
             unread = weft_spawn(never_reads, NULL);
    weft_pid list[] = {stays, ends, unread, readers[0]};
    note("%d ", (int)weft_send_many(list, 4, PAGE, 1, "one"));
    wait_for(2);
    TELL(0, LOOK);
    weft_send(unread, STOP);
    while (weft_send(unread, GO) == 0 || weft_send(ends, GO) == 0)
        weft_yield();
    TELL(0, EDIT);
}

Test(share, ends_with_the_message_or_its_actor_and_the_last_edits_in_place)
{
    run(lets_others_lose_it);
    cr_expect_str_eq(noted(), "4 ");
    cr_expect_eq(seen[0].edited, seen[0].read);
}

static void edits_what_it_shared(void *arg)
{
    (void)arg;
    spawn_readers(1);
    weft_msg *m = weft_make(PAGE, 1, "one");
    weft_pass(readers[0], weft_share(m));
    wait_for(1);
    strcpy(weft_edit(m, PAGE)->text, "mine");
    TELL(0, LOOK);
    note("%s %s", weft_get(m, PAGE)->text, text_of(m) == seen[0].read ? "shared" : "apart");
    weft_drop(m);
}

Test(share, is_not_seen_to_change_by_who_got_it)
{
    run(edits_what_it_shared);
    cr_expect_str_eq(noted(), "mine apart");
    cr_expect_str_eq(seen[0].text, "one");
}

static void edits_without_memory(void *arg)
{
    (void)arg;
    spawn_readers(2);
    weft_send_many(readers, 2, PAGE, 1, "one");
    wait_for(2);
    seen[0].starves = true;
    TELL(0, EDIT);
    seen[0].starves = false;
    note("%s %s ", seen[0].no_memory ? "null" : "copied", seen[0].text);
    note("%s ", seen[0].read_after == seen[0].read ? "as it was" : "moved");
    TELL(0, EDIT);
    TELL(1, LOOK);
}

Test(share, without_memory_for_the_copy_is_left_as_it_is)
{
    run(edits_without_memory);
    cr_expect_str_eq(noted(), "null one as it was ");
    cr_expect_not(seen[0].no_memory, "and later there is");
    cr_expect_str_eq(seen[0].text, "edited by 0");
    cr_expect_str_eq(seen[1].text, "one");
}

static void edits_alone_without_memory(void *arg)
{
    (void)arg;
    weft_msg *m = weft_make(PAGE, 1, "one");
    mine = text_of(m);
    weft__memory_fail(1);
    struct page *p = weft_edit(m, PAGE);
    weft__memory_fail(0);
    note("%s", p && p->text == mine ? "in place" : "?");
    weft_drop(m);
}

Test(share, of_none_is_edited_without_memory)
{
    run(edits_alone_without_memory);
    cr_expect_str_eq(noted(), "in place");
}

/* ---- Moving, and copies that are asked for --------------------------------------------------- */

static void passes(void *arg)
{
    (void)arg;
    spawn_readers(1);
    weft_msg *m = weft_make(PAGE, .n = 1);
    mine = strcpy(weft_edit(m, PAGE)->text, "moved");
    note("%d", weft_pass(readers[0], m));
    wait_for(1);
    TELL(0, LOOK);
}

Test(share, is_not_needed_to_move_a_body)
{
    run(passes);
    cr_expect_str_eq(noted(), "0");
    cr_expect_eq(seen[0].read, mine);
    cr_expect_str_eq(seen[0].text, "moved");
}

static void hands_on(void *to)
{
    weft_msg *m = weft_receive(PAGE);
    note("%s ", text_of(m) == mine ? "moved" : "copied");
    weft_forward(*(weft_pid *)to, m);
}

static void passes_on_and_on(void *arg)
{
    (void)arg;
    spawn_readers(1);
    weft_pid  second = weft_spawn(hands_on, &readers[0], .copy_bytes = sizeof readers[0]);
    weft_pid  first = weft_spawn(hands_on, &second, .copy_bytes = sizeof second);
    weft_msg *m = weft_make(PAGE, 1, "far");
    mine = text_of(m);
    weft_pass(first, m);
    wait_for(1);
}

Test(share, is_not_needed_to_hand_a_body_on)
{
    run(passes_on_and_on);
    cr_expect_str_eq(noted(), "moved moved ");
    cr_expect_eq(seen[0].read, mine);
}

static void changes_its_own_struct(void *arg)
{
    static struct page p = {1, "sent"};
    struct small       s = {"sent"};

    (void)arg;
    spawn_readers(4);
    weft_send_body(readers[0], &weft_type_PAGE, &p);
    weft_send_many_body(readers + 1, 2, &weft_type_PAGE, &p);
    weft_send_body(readers[3], &weft_type_SMALL, &s);
    strcpy(p.text, "changed");
    strcpy(s.text, "changed");
    wait_for(4);
    for (int i = 0; i < 4; i++)
        TELL(i, LOOK);
    mine = p.text;
}

Test(share, of_the_senders_own_struct_there_is_none)
{
    run(changes_its_own_struct);
    for (int i = 0; i < 4; i++) {
        cr_expect_str_eq(seen[i].text, "sent", "%d", i);
        cr_expect_neq(seen[i].read, mine);
    }
}

/* ---- What owns something --------------------------------------------------------------------- */

static void shares_a_thing(void *arg)
{
    (void)arg;
    weft_msg *m = weft_make(THING, .memory = malloc(8));
    note("%s ", weft_share(m) ? "shared" : "null");
    note("%d ", destroyed);
    note("%s ", weft_get(m, THING)->memory ? "as it was" : "?");
    weft_drop(m);
    note("%d ", destroyed);
    note("%s", weft_share(NULL) ? "?" : "null");
}

Test(share, of_a_body_that_owns_something_is_refused)
{
    run(shares_a_thing);
    cr_expect_str_eq(noted(), "null 0 as it was 1 null");
}

static void waits_for_a_thing(void *arg)
{
    (void)arg;
    note("%s", weft_name(weft_receive(THING, STOP)));
    weft_send(me, DONE);
}

static void sends_a_thing_to_many(void *arg)
{
    (void)arg;
    me = weft_self();
    weft_pid list[] = {weft_spawn(waits_for_a_thing, NULL)};
    size_t   sent = weft_send_many(list, 1, THING, .memory = malloc(8));
    note("%zu sent, %d destroyed, ", sent, destroyed);
    sent = weft_send_many(list, 0, THING, .memory = malloc(8));
    note("%zu sent, %d destroyed, ", sent, destroyed);
    weft_send(list[0], STOP);
    weft_receive(DONE);
}

Test(share, of_a_body_that_owns_something_is_not_sent_to_many_and_destroyed_once)
{
    run(sends_a_thing_to_many);
    cr_expect_str_eq(noted(), "0 sent, 1 destroyed, 0 sent, 2 destroyed, STOP");
    cr_expect_eq(destroyed, 2);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static long        in_use;
static atomic_long blocks; /* that could hold a page, and little more */

static void *get(size_t bytes, void *with)
{
    (void)with;
    blocks += bytes >= sizeof(struct page) && bytes < sizeof(struct page) + 64;
    return malloc(bytes);
}

static void put(void *block, void *with)
{
    (void)with;
    free(block);
}

static void uses_many_pages(void *arg)
{
    (void)arg;
    spawn_readers(READERS);
    long before = blocks;
    weft_send_many(readers, READERS, PAGE, 1, "one");
    wait_for(READERS);
    in_use = blocks - before;
    TELL(0, EDIT);
    TELL(3, EDIT);
    note("%ld", blocks - before - in_use);
}

Test(share, takes_one_block_for_all_and_one_for_each_edit)
{
    cr_assert_eq(weft_use_allocator(&(weft_allocator){get, put, NULL}), 0);
    run(uses_many_pages);
    cr_expect_eq(in_use, 1, "%ld", in_use);
    cr_expect_str_eq(noted(), "2");
}

static void shares_and_ends(void *arg)
{
    (void)arg;
    spawn_readers(2);
    weft_msg *m = weft_make(PAGE, 1, "one");
    for (int i = 0; i < 100; i++)
        note(weft_share(m) ? "" : "no memory"); /* dropped when it ends */
    weft_pass(readers[0], weft_share(m));
    weft_pass(readers[1], m);
    wait_for(2);
    TELL(1, EDIT); /* leaves both at the end of the system, with a page each */
}

Test(share, is_given_back_when_all_who_have_it_end)
{
    run(shares_and_ends);
    cr_expect_str_eq(seen[1].text, "edited by 1");
    cr_expect_not(leaks());
}

/* ---- The end of the system ------------------------------------------------------------------- */

enum { MANY = 100 };
static weft_pid sinks[MANY];
static long     all_blocks;

static void *get_any(size_t bytes, void *with)
{
    void *block = malloc(bytes);

    (void)with;
    if (block)
        __atomic_add_fetch(&all_blocks, 1, __ATOMIC_SEQ_CST);
    return block;
}

static void put_any(void *block, void *with)
{
    (void)with;
    __atomic_sub_fetch(&all_blocks, 1, __ATOMIC_SEQ_CST);
    free(block);
}

static void reads_pages(void *arg)
{
    (void)arg;
    for (;;)
        weft_receive(PAGE);
}

static void sends_without_end(void *arg)
{
    (void)arg;
    for (;;)
        weft_send_many(sinks, MANY, PAGE, 1, "one");
}

/* They have given way in the middle of sending when it ends. */
static void ends_while_others_send(void *arg)
{
    (void)arg;
    for (int i = 0; i < MANY; i++)
        sinks[i] = weft_spawn(reads_pages, NULL);
    for (int i = 0; i < 20; i++)
        weft_spawn(sends_without_end, NULL);
    for (int i = 0; i < 10; i++)
        weft_yield();
}

Test(share, is_given_back_when_the_system_ends_while_it_is_sent_to_many)
{
    long before = 0;

    cr_assert_eq(weft_use_allocator(&(weft_allocator){get_any, put_any, NULL}), 0);
    for (int i = 0; i < 6; i++) {
        run(ends_while_others_send);
        if (i == 1) /* the process has what it keeps */
            before = all_blocks;
    }
    cr_expect_eq(all_blocks, before, "%ld more", all_blocks - before);
}
