/* test_inbox.c - what mailbox/inbox.h promises, with one thread; stress_inbox.c has the others.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "mailbox/inbox.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct weft__inbox box;
static struct weft_msg   *in, m[8];

enum { MINE = 5, OTHER = 6 };

/* The word of the n-th wait. */
static uint64_t wait(unsigned n) { return weft__inbox_parked(MINE) + n * WEFT__INBOX_NEXT_WAIT; }

static enum weft__push push(int n) { return weft__inbox_push(&box, &in, &m[n], MINE); }
static uint64_t        word(void) { return atomic_load(&box.word); }

static struct weft_msg *take(void)
{
    struct weft_msg *late = NULL, *taken = weft__inbox_take(&box, 0, &late); /* to nobody in particular */

    cr_expect_null(late);
    return taken;
}

static void fresh(void) { weft__inbox_open(&box); }

TestSuite(inbox, .init = fresh, .timeout = 10);

Test(inbox, is_empty_when_opened)
{
    cr_expect_null(take());
    cr_expect_eq(word(), WEFT__INBOX_EMPTY);
}

Test(inbox, gives_all_that_was_pushed_oldest_first)
{
    for (int i = 0; i < 5; i++)
        cr_expect_eq(push(i), WEFT__QUEUED);
    struct weft_msg *taken = take();
    for (int i = 0; i < 5; i++, taken = taken->next)
        cr_assert_eq(taken, &m[i], "%d", i);
    cr_expect_null(taken);
    cr_expect_null(take());
    cr_expect_null(in, "nobody was parked");
}

Test(inbox, sorts_out_what_was_meant_for_the_last_owner)
{
    struct weft_msg *late = NULL;

    for (int i = 0; i < 5; i++) {
        m[i].to = i % 2 ? MINE : OTHER;
        push(i);
    }
    struct weft_msg *taken = weft__inbox_take(&box, MINE, &late);
    cr_assert_eq(taken, &m[1]);
    cr_assert_eq(taken->next, &m[3]);
    cr_expect_null(taken->next->next);
    cr_assert_eq(late, &m[0]);
    cr_assert_eq(late->next, &m[2]);
    cr_assert_eq(late->next->next, &m[4]);
    cr_expect_null(late->next->next->next);
}

Test(inbox, hands_the_message_over_when_its_reader_is_parked)
{
    m[0].next = &m[1]; /* left from its last use */
    cr_assert(weft__inbox_park(&box, wait(1)));
    cr_expect_eq(push(0), WEFT__MUST_WAKE);
    cr_expect_eq(in, &m[0]);
    cr_expect_null(m[0].next);
    cr_expect_eq(word(), WEFT__INBOX_EMPTY);
}

Test(inbox, asks_for_one_wake_per_park)
{
    cr_assert(weft__inbox_park(&box, wait(1)));
    cr_expect_eq(push(0), WEFT__MUST_WAKE);
    cr_expect_eq(push(1), WEFT__QUEUED);
    cr_expect_eq(push(2), WEFT__QUEUED);
    cr_expect_eq(in, &m[0], "the others come by take");
    cr_expect_eq(take(), &m[1]);
}

Test(inbox, refuses_to_park_when_a_message_came_first)
{
    push(0);
    cr_expect_not(weft__inbox_park(&box, wait(1)));
    cr_expect_eq(take(), &m[0]);
    cr_expect(weft__inbox_park(&box, wait(1)));
}

Test(inbox, is_unparked_by_the_timer_of_its_wait)
{
    cr_assert(weft__inbox_park(&box, wait(1)));
    cr_expect(weft__inbox_unpark(&box, wait(1)));
    cr_expect_eq(word(), WEFT__INBOX_EMPTY);
    cr_expect_not(weft__inbox_unpark(&box, wait(1)), "once");
    cr_expect_eq(push(0), WEFT__QUEUED, "it is awake already");
}

Test(inbox, is_not_unparked_by_the_timer_of_another_wait)
{
    cr_assert(weft__inbox_park(&box, wait(2)));
    cr_expect_not(weft__inbox_unpark(&box, wait(1)));
    cr_expect_not(weft__inbox_unpark(&box, wait(3)));
    cr_expect_eq(push(0), WEFT__MUST_WAKE);
    cr_expect_not(weft__inbox_unpark(&box, wait(2)), "a push was first");
}

Test(inbox, is_not_unparked_when_it_is_not_parked)
{
    cr_expect_not(weft__inbox_unpark(&box, wait(1)));
    push(0);
    cr_expect_not(weft__inbox_unpark(&box, wait(1)));
    cr_expect_eq(take(), &m[0]);
}

Test(inbox, refuses_a_message_for_another_generation_while_parked)
{
    cr_assert(weft__inbox_park(&box, wait(1)));
    cr_expect_eq(weft__inbox_push(&box, &in, &m[0], OTHER), WEFT__REFUSED);
    cr_expect_eq(weft__inbox_push(&box, &in, &m[0], MINE - 1), WEFT__REFUSED);
    cr_expect_null(in);
    cr_expect_eq(word(), wait(1), "and sleeps on");
}

Test(inbox, refuses_everything_when_closed)
{
    cr_expect_null(weft__inbox_close(&box));
    cr_expect_eq(push(0), WEFT__REFUSED);
    cr_expect_eq(weft__inbox_push(&box, &in, &m[0], OTHER), WEFT__REFUSED);
    cr_expect_eq(word(), WEFT__INBOX_CLOSED);
}

Test(inbox, gives_what_was_left_when_closed)
{
    push(0);
    push(1);
    struct weft_msg *left = weft__inbox_close(&box);
    cr_assert_eq(left, &m[1], "newest first");
    cr_assert_eq(left->next, &m[0]);
    cr_expect_null(left->next->next);
}

Test(inbox, may_be_opened_again)
{
    weft__inbox_close(&box);
    weft__inbox_open(&box);
    cr_expect_eq(push(0), WEFT__QUEUED);
    cr_expect_eq(take(), &m[0]);
}

Test(inbox, has_words_for_every_generation_and_wait)
{
    uint32_t last = (1u << WEFT__GENERATION_BITS) - 1;
    uint64_t far = weft__inbox_parked(last) + 12345 * WEFT__INBOX_NEXT_WAIT;

    cr_expect(weft__inbox_is_parked(far, last));
    cr_expect_not(weft__inbox_is_parked(far, last - 1));
    cr_expect_not(weft__inbox_is_parked(WEFT__INBOX_EMPTY, 0));
    cr_expect_not(weft__inbox_is_parked(WEFT__INBOX_CLOSED, 0));
    cr_expect(far & 1, "odd, as no message's address is");
}

Test(inbox, has_waits_that_do_not_touch_the_generation_when_they_wrap)
{
    uint64_t w = weft__inbox_parked(MINE);

    for (int i = 0; i < 40; i++) /* by doubling: past the last wait number */
        w += WEFT__INBOX_NEXT_WAIT << i;
    cr_expect(weft__inbox_is_parked(w, MINE));
}
