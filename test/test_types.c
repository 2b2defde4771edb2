/* test_types.c - what parts 1 and 2 of weft.h promise: values, errors, and the identity of messages.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <criterion/criterion.h>
#include <string.h>

#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(types, .fini = nothing_leaks, .timeout = 20);

WEFT_MESSAGE(
    INCR, struct incr { int by; });
WEFT_MESSAGE(VALUE, int);
WEFT_SIGNAL(STOP);

static void run(weft_fn *first) { cr_assert_eq(weft_run(first, NULL), 0); }

/* ---- Values ---------------------------------------------------------------------------------------------- */

Test(types, of_time_count_nanoseconds)
{
    cr_expect_eq(weft_ns(7).ns, 7);
    cr_expect_eq(weft_us(7).ns, 7000);
    cr_expect_eq(weft_ms(7).ns, 7000000);
    cr_expect_eq(weft_sec(7).ns, 7000000000);
    cr_expect_eq(WEFT_FOREVER.ns, INT64_MAX);
}

Test(types, of_actors_are_compared)
{
    weft_pid a = {1}, b = {2};

    cr_expect(weft_same(a, a));
    cr_expect_not(weft_same(a, b));
    cr_expect(weft_is_nobody(WEFT_NOBODY));
    cr_expect_not(weft_is_nobody(a));
}

Test(types, of_errors_have_a_sentence_each)
{
    for (int e = WEFT_ESYSTEM; e <= 0; e++) {
        cr_assert_not_null(weft_strerror(e));
        cr_expect_str_neq(weft_strerror(e), weft_strerror(-1000), "%d is unknown", e);
        for (int other = e + 1; other <= 0; other++)
            cr_expect_str_neq(weft_strerror(e), weft_strerror(other));
    }
}

Test(types, of_reasons_of_ones_own_have_a_sentence_too)
{
    cr_assert_not_null(weft_strerror(1));
    cr_expect_str_eq(weft_strerror(1), weft_strerror(INT32_MAX));
    cr_expect_not_null(weft_strerror(INT32_MIN));
}

Test(types, of_the_stack_error_name_the_sysctl)
{
    cr_expect(strstr(weft_strerror(WEFT_ESTACK), "vm.max_map_count"), "%s", weft_strerror(WEFT_ESTACK));
}

Test(types, of_header_and_library_are_one_version) { cr_expect_str_eq(weft_version(), WEFT_VERSION); }

/* ---- Messages -------------------------------------------------------------------------------------------- */

Test(types, have_the_size_of_their_body)
{
    cr_expect_eq(weft_type_INCR.bytes, sizeof(struct incr));
    cr_expect_eq(weft_type_VALUE.bytes, sizeof(int));
    cr_expect_eq(weft_type_STOP.bytes, 0);
    cr_expect_str_eq(weft_type_INCR.name, "INCR");
}

Test(types, have_case_labels_of_their_own)
{
    cr_expect_neq(INCR, VALUE);
    cr_expect_neq(INCR, STOP);
    cr_expect_neq(VALUE, STOP);
    cr_expect_neq(STOP, WEFT_TIMEOUT);
}

Test(types, of_no_message_are_none)
{
    cr_expect_eq(weft_tag(NULL), WEFT_TIMEOUT);
    cr_expect_str_eq(weft_name(NULL), "WEFT_TIMEOUT");
    cr_expect_not(weft_is(NULL, STOP));
}

Test(types, of_a_made_message_can_be_asked)
{
    weft_msg *m = weft_make(INCR, .by = 3);

    cr_assert_not_null(m);
    cr_expect_eq(weft_tag(m), INCR);
    cr_expect_str_eq(weft_name(m), "INCR");
    cr_expect(weft_is(m, INCR));
    cr_expect_not(weft_is(m, VALUE));
    cr_expect_eq(weft_get(m, INCR)->by, 3);
    cr_expect(weft_is_nobody(weft_sender(m)));
    weft_drop(m);
}

Test(types, of_the_largest_body_are_not_to_be_had)
{
    static weft_type  huge = {.name = "HUGE", .bytes = ((size_t)1 << 30) + 1};
    static const char body[1];

    cr_expect_null(weft_make_body(&huge, body), "refused before anything is read");
    cr_expect_eq(weft_send_body(weft_self(), &huge, body), WEFT_ESIZE);
    huge.bytes = SIZE_MAX;
    huge.id = 0;
    cr_expect_eq(weft_send_body(weft_self(), &huge, body), WEFT_ESIZE);
}

Test(types, that_are_missing_are_errors)
{
    cr_expect_eq(weft_send_body(weft_self(), NULL, NULL), WEFT_EINVALID);
    cr_expect_eq(weft_send_body(weft_self(), &weft_type_INCR, NULL), WEFT_EINVALID, "no body");
    cr_expect_eq(weft_send_body(weft_self(), &weft_type_STOP, NULL), 0, "a signal has none");
    cr_expect_null(weft_make_body(NULL, NULL));
    cr_expect_null(weft_make_body(&weft_type_INCR, NULL));
}

/* The descriptors that other files of a program would have. */
static weft_type same_elsewhere = {.name = "INCR", .bytes = sizeof(struct incr), .tag = INCR};
static weft_type other_size = {.name = "INCR", .bytes = sizeof(struct incr) + 4, .tag = 4711};
static weft_type no_label = {.name = "INCR", .bytes = sizeof(struct incr)};
static char      name_made_at_run_time[] = "?NCR";
static weft_type made_at_run_time = {.name = name_made_at_run_time, .bytes = sizeof(struct incr)};

static void meets_another_file(void *arg)
{
    (void)arg;
    name_made_at_run_time[0] = 'I';
    weft_send_body(weft_self(), &same_elsewhere, &(struct incr){5});
    note("%d ", weft_get(weft_receive(INCR), INCR)->by);
    weft_send(weft_self(), INCR, .by = 6);
    weft_msg *m = weft_receive_types(WEFT_FOREVER, (weft_type *const[]){&same_elsewhere}, 1);
    note("%d ", ((const struct incr *)weft_body(m, &same_elsewhere))->by);
    weft_send_body(weft_self(), &made_at_run_time, &(struct incr){7});
    note("%d ", weft_get(weft_receive(INCR), INCR)->by);
}

Test(types, of_one_name_and_size_are_one_in_every_file)
{
    run(meets_another_file);
    cr_expect_str_eq(noted(), "5 6 7 ");
}

static void meets_a_namesake(void *arg)
{
    int big[2] = {1, 2};

    (void)arg;
    weft_send_body(weft_self(), &other_size, big);
    weft_send(weft_self(), INCR, .by = 3);
    note("%d ", weft_get(weft_receive(INCR), INCR)->by);
    weft_msg *m = weft_receive(WEFT_ANY);
    note("%d %d %s", weft_is(m, INCR), weft_is_type(m, &other_size), weft_name(m));
}

Test(types, of_one_name_and_two_sizes_are_two)
{
    run(meets_a_namesake);
    cr_expect_str_eq(noted(), "3 0 1 INCR");
}

static void lists_without_a_label(void *arg)
{
    (void)arg;
    weft_send(weft_self(), INCR, .by = 1);
    note("%d ", weft_tag(weft_receive_types(WEFT_FOREVER, (weft_type *const[]){&no_label}, 1)));
    weft_send_body(weft_self(), &no_label, &(struct incr){1});
    note("%d", weft_tag(weft_receive(INCR)) == INCR);
}

Test(types, give_the_label_of_the_receiver_not_of_the_sender)
{
    run(lists_without_a_label);
    cr_expect_str_eq(noted(), "0 1");
}

static void uses_a_thousand(void *arg)
{
    static char      name[1000][8];
    static weft_type type[1000];

    (void)arg;
    for (int i = 0; i < 1000; i++) {
        name[i][0] = 'X';
        for (int d = 0, n = i; d < 4; d++, n /= 10)
            name[i][1 + d] = (char)('0' + n % 10);
        type[i] = (weft_type){.name = name[i], .bytes = sizeof(int), .tag = i + 1};
        weft_send_body(weft_self(), &type[i], &i);
    }
    for (int i = 999; i >= 0; i--) {
        weft_type *wanted = &type[i];
        if (*(const int *)weft_body(weft_receive_types(WEFT_FOREVER, &wanted, 1), wanted) != i)
            note("%d ", i);
    }
    note("done");
}

Test(types, may_be_a_thousand)
{
    run(uses_a_thousand);
    cr_expect_str_eq(noted(), "done");
}

Test(types, that_share_a_case_label_are_told_of)
{
    static weft_type one = {"ONE_OF_TWO", 0, 77, 0, NULL}, two = {"TWO_OF_TWO", 0, 77, 0, NULL};

    listen_to_stderr();
    weft_send_body(weft_self(), &one, "");
    weft_send_body(weft_self(), &two, "");
    weft_send_body(weft_self(), &two, "");
    const char *said = what_was_said();
    cr_expect(strstr(said, "ONE_OF_TWO") && strstr(said, "TWO_OF_TWO"), "%s", said);
    cr_expect_eq(lines(said), 1, "%s", said);
}

/* ---- The wildcard ------------------------------------------------------------------------------------- */

static void sends_any(void *arg)
{
    weft_pid me = weft_self();

    (void)arg;
    note("%d ", weft_send(me, WEFT_ANY));
    note("%d ", weft_send_urgent(me, WEFT_ANY));
    note("%d ", weft_send_as(me, me, WEFT_ANY));
    note("%d ", weft_send_name("nobody has it", WEFT_ANY) < 0);
    note("%d ", (int)weft_send_many(&me, 1, WEFT_ANY));
    note("%d ", weft_make(WEFT_ANY) == NULL);
    note("%d ", (int)weft_send_after(weft_ms(0), me, WEFT_ANY).id);
    note("%d ", (int)weft_send_every(weft_ms(1), me, WEFT_ANY).id);
    weft_pending none = weft_request(me, WEFT_ANY);
    note("%d %s ", (int)none.id, weft_name(weft_await(none, weft_ms(0))));
    note("%s ", weft_name(weft_receive_within(weft_ms(0), WEFT_ANY)));
    weft_send(me, VALUE, 1);
    weft_msg *m = weft_receive(WEFT_ANY);
    note("%d ", weft_reply(m, WEFT_ANY));
    note("%d ", weft_reply(m, STOP));
    note("%s ", weft_name(weft_receive(STOP, VALUE)));
    note("%s ", weft_name(weft_receive_within(weft_ms(10), WEFT_ANY)));
}

Test(types, of_any_message_are_none_to_send)
{
    cr_assert_eq(weft_run(sends_any, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "-8 -8 -8 1 0 1 0 0 0 WEFT_FAILED WEFT_TIMEOUT -8 0 STOP WEFT_TIMEOUT ");
}

static void answers_with_any(void *arg)
{
    (void)arg;
    weft_msg *m = weft_receive(VALUE);
    note("%d ", weft_reply(m, WEFT_ANY));
    note("%d ", weft_reply(m, VALUE, 2)); /* it is open still */
}

static void asks_who_answers_with_any(void *arg)
{
    (void)arg;
    weft_msg *m = weft_ask(weft_sec(1), weft_spawn(answers_with_any, NULL), VALUE, 1);
    note("%d", *weft_get(m, VALUE));
}

Test(types, of_any_message_are_no_answer)
{
    cr_assert_eq(weft_run(asks_who_answers_with_any, NULL, .seed = 1), 0);
    cr_expect_str_eq(noted(), "-8 0 2");
}
