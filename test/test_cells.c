/* test_cells.c - what base/cells.h promises, with one thread; stress_cells.c has the others.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "base/cells.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAGAZINE = WEFT__MAGAZINE, ROOM = 8 * MAGAZINE };

struct thing {
    struct weft__cell cell;
    long              value; /* outlives being free: only the first two words are the cell's */
};

static struct thing memory[ROOM];
static size_t       carved;

static char *carve(size_t bytes)
{
    size_t n = bytes / sizeof(struct thing);

    if (carved + n > ROOM)
        return NULL;
    carved += n;
    return (char *)(memory + carved - n);
}

static struct weft__depot depot = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .cell_bytes = sizeof(struct thing), .carve = carve};
static struct weft__cells mine, theirs;

TestSuite(cells, .timeout = 10);

static struct thing *get(struct weft__cells *c) { return weft__cells_get(c, &depot); }
static void          put(struct weft__cells *c, struct thing *t) { weft__cells_put(c, &depot, t); }

/* Takes n, each of which must not be in use. */
static void get_all(struct weft__cells *c, struct thing **to, int n)
{
    for (int i = 0; i < n; i++) {
        to[i] = get(c);
        cr_assert_not_null(to[i], "%d", i);
        cr_assert_neq(to[i]->value, -1, "given twice");
        to[i]->value = -1;
    }
}

static void put_all(struct weft__cells *c, struct thing **from, int n)
{
    for (int i = 0; i < n; i++) {
        from[i]->value = 1;
        put(c, from[i]);
    }
}

static struct thing *held[ROOM];

Test(cells, are_each_given_once)
{
    get_all(&mine, held, ROOM);
    cr_expect_null(get(&mine), "there are no more");
}

Test(cells, are_carved_a_magazine_at_a_time)
{
    get(&mine);
    cr_expect_eq(carved, MAGAZINE);
    get_all(&mine, held, MAGAZINE - 1);
    cr_expect_eq(carved, MAGAZINE);
    get(&mine);
    cr_expect_eq(carved, 2 * MAGAZINE);
}

Test(cells, come_back_last_in_first_out)
{
    struct thing *a = get(&mine), *b = get(&mine);

    put(&mine, a);
    put(&mine, b);
    cr_expect_eq(get(&mine), b);
    cr_expect_eq(get(&mine), a);
}

Test(cells, keep_what_lies_behind_their_first_two_words)
{
    get_all(&mine, held, ROOM);
    put_all(&mine, held, ROOM);
    for (int i = 0; i < ROOM; i++)
        cr_assert_eq(held[i]->value, 1);
}

Test(cells, are_used_again_before_more_are_carved)
{
    for (int round = 0; round < 5; round++) {
        get_all(&mine, held, 3 * MAGAZINE);
        put_all(&mine, held, 3 * MAGAZINE);
    }
    cr_expect_leq(carved, 3 * MAGAZINE + MAGAZINE);
}

Test(cells, go_from_one_who_only_gives_to_one_who_only_takes)
{
    for (int round = 0; round < 20; round++) {
        get_all(&mine, held, 2 * MAGAZINE);
        put_all(&theirs, held, 2 * MAGAZINE);
    }
    cr_expect_leq(carved, 6 * MAGAZINE, "at most two magazines stay with each");
}

Test(cells, stay_at_most_two_magazines_with_a_thread)
{
    get_all(&mine, held, ROOM);
    put_all(&mine, held, ROOM);
    get_all(&theirs, held, ROOM - 2 * MAGAZINE);
}

Test(cells, are_all_found_again_after_a_flush)
{
    get_all(&mine, held, ROOM);
    put_all(&mine, held, ROOM / 2 + 100);
    put_all(&theirs, held + ROOM / 2 + 100, ROOM / 2 - 100);
    weft__cells_flush(&mine, &depot);
    weft__cells_flush(&theirs, &depot);
    cr_expect_null(mine.loaded);
    cr_expect_eq(mine.count, 0);
    get_all(&theirs, held, ROOM);
}

Test(cells, left_by_many_who_had_few_are_found_again)
{
    get_all(&mine, held, ROOM);
    for (int i = 0; i < ROOM; i += 64) {
        struct weft__cells few = {0};
        put_all(&few, held + i, 64);
        weft__cells_flush(&few, &depot);
    }
    get_all(&mine, held, ROOM);
}

Test(cells, may_be_flushed_when_there_are_none)
{
    weft__cells_flush(&mine, &depot);
    cr_expect_not_null(get(&mine));
    cr_expect_eq(carved, MAGAZINE);
}
