/* test_stash.c - what mailbox/stash.h promises.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "mailbox/stash.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/memory.h"
#include "help.h"

static void nothing_leaks(void) { cr_expect_not(leaks()); }

TestSuite(stash, .fini = nothing_leaks, .timeout = 20);

enum { ROOM = 110000, FEW = WEFT__STASH_FEW, PILES = WEFT__STASH_PILES, SOUGHT_MAX = 100, NONE = -1 };

static struct weft__stash s;
static struct weft_msg    room[ROOM]; /* a message is known by its place here */
static int                made;
static uint64_t           passed; /* by the last take */

static bool has_piles(void) { return s.word & 1; }

static int add_one(uint32_t type, uint64_t flags)
{
    room[made] = (struct weft_msg){.type = type, .flags = flags};
    weft__stash_add(&s, &room[made]);
    return made++;
}

static int add(uint32_t type) { return add_one(type, 0); }
static int add_urgent(uint32_t type) { return add_one(type, WEFT__MSG_URGENT); }

static void add_many(int n, uint32_t type)
{
    for (int i = 0; i < n; i++)
        add(type);
}

/* ---- Searches -------------------------------------------------------------------------------- */

struct wish {
    unsigned count; /* of types; 0: any */
    uint32_t types[SOUGHT_MAX];
    int      every; /* and its place is a multiple of this, if it is not 0; */
    uint32_t sure;  /* but not if it has this type, which is one of them; 0: none */
};

static bool fits(void *with, struct weft_msg *m)
{
    const struct wish *w = with;
    bool               right = w->count == 0;

    for (unsigned i = 0; i < w->count; i++)
        right |= w->types[i] == m->type;
    return right && (!w->every || m->type == w->sure || (m - room) % w->every == 0);
}

static int take_wish(struct wish w)
{
    struct weft__sought sought = {.any = !w.count, .all = w.count && !w.every, .fits = fits, .with = &w};

    for (unsigned i = 0; i < w.count; i++)
        weft__stash_seek(sought.types, w.types[i]);
    if (w.sure)
        weft__stash_seek(sought.sure, w.sure);
    sought.mixed = w.sure;
    passed = 0;
    struct weft_msg *m = weft__stash_take(&s, &sought, &passed);
    return m ? (int)(m - room) : NONE;
}

static int take(uint32_t type) { return take_wish((struct wish){1, {type}, 0, 0}); }
static int take_two(uint32_t one, uint32_t other) { return take_wish((struct wish){2, {one, other}, 0, 0}); }
static int take_any(void) { return take_wish((struct wish){0, {0}, 0, 0}); }

static void takes_in_order(int n, const int *expected)
{
    for (int i = 0; i < n; i++)
        cr_expect_eq(take_any(), expected[i], "at %d", i);
    cr_expect(weft__stash_is_empty(&s));
}

/* Passes one more than a few of the type. */
static void make_piles(uint32_t type)
{
    cr_assert_not(has_piles());
    add_many(FEW + 1, type);
    cr_assert_eq(take(type + 1), NONE);
    cr_assert(has_piles());
}

/* ---- One list -------------------------------------------------------------------------------- */

Test(stash, is_empty_at_first)
{
    cr_expect(weft__stash_is_empty(&s));
    cr_expect_eq(take_any(), NONE);
    cr_expect_eq(passed, 0);
    cr_expect_null(weft__stash_clear(&s));
}

Test(stash, of_one_is_empty_when_that_is_taken)
{
    add(9);
    cr_expect_not(weft__stash_is_empty(&s));
    cr_expect_eq(take(9), 0);
    cr_expect(weft__stash_is_empty(&s));
    cr_expect_eq(take(9), NONE);
}

Test(stash, keeps_the_order)
{
    for (uint32_t i = 0; i < 10; i++)
        add(9 + i % 3);
    for (int i = 0; i < 10; i++) {
        cr_expect_eq(weft__stash_count(&s), 10 - i);
        cr_expect_eq(take_any(), i);
    }
    cr_expect_eq(weft__stash_count(&s), 0);
    cr_expect(weft__stash_is_empty(&s));
}

Test(stash, gives_the_first_last_and_middle_and_keeps_the_order_of_the_rest)
{
    for (uint32_t i = 0; i < 6; i++)
        add(10 + i);
    cr_expect_eq(take(10), 0);
    cr_expect_eq(take(15), 5);
    cr_expect_eq(take(13), 3);
    add(16);
    takes_in_order(4, (int[]){1, 2, 4, 6});
}

Test(stash, gives_the_first_in_order_of_several_types)
{
    add(9), add(8), add(7), add(8);
    cr_expect_eq(take_two(7, 8), 1);
    cr_expect_eq(take_two(7, 8), 2);
    cr_expect_eq(take_two(7, 8), 3);
    cr_expect_eq(take_two(7, 8), NONE);
    cr_expect_eq(take(9), 0);
}

Test(stash, leaves_all_as_it_is_when_nothing_fits)
{
    add(9), add(8), add(7);
    cr_expect_eq(take(6), NONE);
    takes_in_order(3, (int[]){0, 1, 2});
}

Test(stash, counts_what_was_passed)
{
    add(9), add(9), add(8), add(9);
    cr_expect_eq(take(8), 2);
    cr_expect_eq(passed, 2);
    cr_expect_eq(take(7), NONE);
    cr_expect_eq(passed, 3);
    cr_expect_eq(take(9), 0);
    cr_expect_eq(passed, 0);
    take_any(), take_any();
}

Test(stash, adds_to_the_count_of_what_was_passed)
{
    struct wish         w = {1, {8}, 0, 0};
    struct weft__sought sought = {.all = true, .fits = fits, .with = &w};
    uint64_t            count = 100;

    weft__stash_seek(sought.types, 8);
    add(9), add(8);
    cr_expect_eq(weft__stash_take(&s, &sought, &count), &room[1]);
    cr_expect_eq(count, 101);
    take_any();
}

Test(stash, asks_what_fits_beyond_the_type)
{
    for (int i = 0; i < 8; i++)
        add(9);
    cr_expect_eq(take_any(), 0);
    cr_expect_eq(take_wish((struct wish){1, {9}, 4, 0}), 4);
    cr_expect_eq(take_wish((struct wish){1, {9}, 4, 0}), NONE);
    takes_in_order(6, (int[]){1, 2, 3, 5, 6, 7});
}

/* ---- What is urgent -------------------------------------------------------------------------- */

Test(stash, has_urgent_ones_first_and_in_order)
{
    add(9), add_urgent(9), add(9), add_urgent(8), add_urgent(9);
    takes_in_order(5, (int[]){1, 3, 4, 0, 2});
}

Test(stash, of_urgent_ones_alone_keeps_the_order)
{
    add_urgent(9), add_urgent(8), add_urgent(7);
    cr_expect_eq(take(8), 1);
    add_urgent(6);
    add(5);
    takes_in_order(4, (int[]){0, 2, 3, 4});
}

Test(stash, puts_an_urgent_one_before_the_only_other)
{
    add(9), add_urgent(9);
    takes_in_order(2, (int[]){1, 0});
}

Test(stash, has_urgent_ones_first_over_piles)
{
    int early = add_urgent(3);

    make_piles(40); /* 1 to 17 */
    int late[] = {add_urgent(40), add_urgent(3), add_urgent(41)};
    int plain = add(3);

    cr_expect_eq(take_two(40, 3), early);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(take_any(), late[i]);
    for (int i = 1; i <= FEW + 1; i++)
        cr_expect_eq(take_any(), i);
    cr_expect_eq(take_any(), plain);
    cr_expect(weft__stash_is_empty(&s));
}

/* All of them with plain ones of their type before and between; another plain one is before them all. */
static void keeps_the_order_of_many_urgent_ones_before(int other)
{
    enum { MANY = 500 };
    int urgent[MANY], plain[MANY];

    for (int i = 0; i < MANY; i++) {
        plain[i] = add(9);
        urgent[i] = add_urgent(i % 3 ? 9 : 25);
    }
    for (int i = 0; i < MANY; i++)
        cr_assert_eq(take_any(), urgent[i], "at %d", i);
    for (int i = 0; i < MANY; i++)
        cr_assert_eq(take(9), plain[i], "at %d", i);
    cr_expect_eq(take_any(), other);
    cr_expect(weft__stash_is_empty(&s));
}

Test(stash, keeps_the_order_of_many_urgent_ones) { keeps_the_order_of_many_urgent_ones_before(add(40)); }

Test(stash, keeps_the_order_of_many_urgent_ones_without_memory)
{
    enum { MANY = 100 };

    for (int i = 0; i < MANY; i++) {
        weft__memory_fail(1);
        i % 2 ? add_urgent(9) : add(9);
        weft__memory_fail(0);
    }
    for (int i = 0; i < MANY; i++)
        cr_assert_eq(take_any(), i < MANY / 2 ? 2 * i + 1 : 2 * (i - MANY / 2));
    cr_expect(weft__stash_is_empty(&s));
}

Test(stash, keeps_the_order_of_many_urgent_ones_over_piles)
{
    make_piles(40);
    for (int i = 0; i < FEW; i++)
        take(40);
    cr_assert(has_piles());
    int first = add_urgent(3);
    cr_expect_eq(take_any(), first);
    keeps_the_order_of_many_urgent_ones_before(FEW);
}

/* ---- Piles ----------------------------------------------------------------------------------- */

Test(stash, is_one_list_when_a_few_were_passed_and_piles_when_one_more_was)
{
    add_many(FEW, 9);
    cr_expect_eq(take(8), NONE);
    cr_expect_eq(passed, FEW);
    cr_expect_not(has_piles());
    add(9);
    cr_expect_eq(take(8), NONE);
    cr_expect_eq(passed, FEW + 1);
    cr_expect(has_piles());
    for (int i = 0; i <= FEW; i++)
        cr_expect_eq(take(9), i);
}

Test(stash, of_piles_passes_none_of_the_others)
{
    make_piles(9);
    int wanted = add(8);

    cr_expect_eq(take(8), wanted);
    cr_expect_eq(passed, 0);
    cr_expect_eq(take(8), NONE);
    cr_expect_eq(passed, 0);
    weft__stash_clear(&s);
}

Test(stash, of_piles_keeps_the_order_over_all_of_them)
{
    make_piles(9);
    for (uint32_t i = 0; i < 100; i++)
        add(5 + i % 23);
    for (int i = 0; i < made; i++)
        cr_expect_eq(take_any(), i);
    cr_expect(weft__stash_is_empty(&s));
}

Test(stash, of_piles_gives_the_first_of_several_types_in_any_pile)
{
    make_piles(9);
    int next = made;
    add(7), add(8), add(7), add(8 + PILES), add(8);
    cr_expect_eq(take_two(8, 7), next);
    cr_expect_eq(take_two(7, 8), next + 1);
    cr_expect_eq(take_two(8, 7), next + 2);
    cr_expect_eq(take_two(8, 8 + PILES), next + 3, "both in one pile");
    cr_expect_eq(take_two(8 + PILES, 8), next + 4, "both in one pile");
    weft__stash_clear(&s);
}

Test(stash, of_piles_finds_any_number_of_types_without_passing_others)
{
    struct wish w = {SOUGHT_MAX, {0}, 0, 0};

    make_piles(9);
    for (unsigned i = 0; i < SOUGHT_MAX; i++)
        w.types[i] = 1000 + 7 * i;
    add_many(1000, 8);
    int first = made;
    for (unsigned i = 0; i < SOUGHT_MAX; i++)
        add(1000 + 7 * (SOUGHT_MAX - 1 - i));
    uint64_t all = 0;
    for (unsigned i = 0; i < SOUGHT_MAX; i++, all += passed)
        cr_expect_eq(take_wish(w), first + (int)i);
    cr_expect_lt(all, 4 * 1000, "a few times, until they share no pile with the others");
    weft__stash_clear(&s);
}

Test(stash, of_piles_tests_no_further_than_where_something_fits_in_any_case)
{
    make_piles(9);
    int first = made;
    add_many(10, 8), add(7), add_many(1000, 8), add(7);
    cr_expect_eq(take_wish((struct wish){2, {8, 7}, 1 << 20, 7}), first + 10);
    cr_expect_leq(passed, 20);
    cr_expect_eq(take_wish((struct wish){2, {8, 7}, 1 << 20, 7}), first + 1011);
    cr_expect_leq(passed, 1020, "each once");
    add(7);
    cr_expect_eq(take_wish((struct wish){2, {8, 7}, first + 5, 7}), first + 5);
    weft__stash_clear(&s);
}

Test(stash, of_piles_tests_nothing_twice_where_types_share_a_pile)
{
    make_piles(9);
    add_many(50, 8);
    int last = add(8 + PILES);
    cr_expect_eq(take_wish((struct wish){2, {8, 8 + PILES}, 1 << 20, 8 + PILES}), last);
    cr_expect_eq(passed, 50);
    weft__stash_clear(&s);
}

Test(stash, of_piles_gives_what_fits_of_any_type)
{
    make_piles(9);
    while (made < 37)
        add(30 + (uint32_t)made);
    cr_expect_eq(take_any(), 0);
    cr_expect_eq(take_wish((struct wish){0, {0}, 25, 0}), 25);
    cr_expect_eq(take_wish((struct wish){0, {0}, 12, 0}), 12);
    cr_expect_eq(take_wish((struct wish){0, {0}, 12, 0}), 24);
    cr_expect_eq(take_wish((struct wish){0, {0}, 12, 0}), 36);
    cr_expect_eq(take_wish((struct wish){0, {0}, 12, 0}), NONE);
    weft__stash_clear(&s);
}

Test(stash, of_piles_is_empty_when_the_last_is_taken_and_one_list_after_that)
{
    make_piles(9);
    for (int i = 0; i <= FEW; i++) {
        cr_expect_not(weft__stash_is_empty(&s));
        cr_expect_eq(take(9), i);
    }
    cr_expect(weft__stash_is_empty(&s));
    int next = add(9);
    cr_expect_not(has_piles());
    cr_expect_eq(take(9), next);
}

/* So many types fall into one pile at first, and into piles of their own when there are more. */
Test(stash, with_many_types_in_one_pile_deals_them_into_more)
{
    enum { TYPES = 32, EACH = 100 };

    for (int i = 0; i < EACH; i++)
        for (uint32_t t = 1; t <= TYPES; t++)
            add(t * PILES + 3);
    for (int i = 0; i < EACH; i++)
        for (uint32_t t = TYPES; t > 0; t--) {
            cr_assert_eq(take(t * PILES + 3), i * TYPES + (int)t - 1);
            if (i)
                cr_assert_leq(passed, FEW, "type %u, time %d", t, i);
        }
    cr_expect(weft__stash_is_empty(&s));
}

Test(stash, dealt_into_more_piles_keeps_the_order)
{
    enum { TYPES = 32 };

    for (int i = 0; i < 1000; i++)
        i % 50 ? add((uint32_t)(i * 7 % TYPES + 1) * PILES + 3) : add(9);
    for (int i = 0; i < 10; i++)
        cr_expect_eq(take(3), NONE); /* passes all of that pile, until there are enough */
    cr_expect_leq(passed, FEW);
    add_urgent(9);
    cr_expect_eq(take_any(), 1000);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(take_any(), i);
    cr_expect(weft__stash_is_empty(&s));
}

/* ---- Many ------------------------------------------------------------------------------------ */

/* Whatever the others are: each of these takes passes a few of them at most, once the piles are made. */
static void takes_three_types(uint32_t others, uint32_t apart)
{
    struct wish w = {3, {3, 4, 5}, 0, 0};

    for (int i = 0; i < 100000; i++)
        add(6 + (uint32_t)i % others * apart);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(take_wish(w), NONE);
    for (int i = 0; i < 3000; i += 3) {
        int one = add(4), two = add(3), three = add(5);
        cr_assert_eq(take_wish(w), one);
        cr_assert_leq(passed, 3 * FEW);
        cr_assert_eq(take_wish(w), two);
        cr_assert_leq(passed, 3 * FEW);
        cr_assert_eq(take_wish(w), three);
        cr_assert_leq(passed, 3 * FEW);
        cr_assert_eq(take_wish(w), NONE);
        cr_assert_leq(passed, 3 * FEW);
    }
    for (int i = 0; i < 100; i++)
        cr_assert_eq(take_any(), i);
    weft__stash_clear(&s);
}

Test(stash, of_a_hundred_thousand_of_one_type_is_no_obstacle) { takes_three_types(1, 1); }
Test(stash, of_a_hundred_thousand_of_many_types_is_no_obstacle) { takes_three_types(1000, 1); }
Test(stash, of_a_hundred_thousand_in_the_same_pile_is_no_obstacle)
{
    takes_three_types(63, PILES); /* all in the pile beside */
}

Test(stash, of_a_hundred_thousand_in_the_pile_that_is_searched_is_no_obstacle)
{
    for (int i = 0; i < 100000; i++)
        add(3 + (uint32_t)(i % 60 + 1) * PILES);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(take(3), NONE);
    for (int i = 0; i < 1000; i++) {
        int wanted = add(3);
        cr_assert_eq(take(3), wanted);
        cr_assert_leq(passed, FEW);
    }
    weft__stash_clear(&s);
}

Test(stash, is_emptied_front_to_back_at_no_cost)
{
    for (int i = 0; i < 100000; i++)
        add(7);
    cr_assert_eq(take(6), NONE);
    for (int i = 0; i < 100000; i++) {
        cr_assert_eq(take(7), i);
        cr_assert_eq(passed, 0);
    }
    cr_expect(weft__stash_is_empty(&s));
}

/* ---- No memory ------------------------------------------------------------------------------- */

Test(stash, without_memory_for_piles_stays_one_list)
{
    add_many(FEW + 5, 9);
    add(8), add(7), add(9);
    weft__memory_fail(1);
    cr_expect_eq(take(8), FEW + 5);
    cr_expect_eq(weft__memory_fail(0), 1, "it asked");
    cr_expect_not(has_piles());
    weft__memory_fail(1);
    cr_expect_eq(take(6), NONE);
    weft__memory_fail(0);
    cr_expect_not(has_piles());
    cr_expect_eq(take(7), FEW + 6);
    cr_expect(has_piles(), "there is memory again");
    for (int i = 0; i < FEW + 5; i++)
        cr_expect_eq(take_any(), i);
    cr_expect_eq(take_any(), FEW + 7);
    cr_expect(weft__stash_is_empty(&s));
}

Test(stash, without_memory_for_more_piles_stays_with_what_it_has)
{
    make_piles(3 + PILES);
    for (int i = 0; i < 50; i++)
        add(3 + (uint32_t)(i % 5 + 1) * PILES);
    uintptr_t before = s.word;
    weft__memory_fail(1);
    cr_expect_eq(take(3), NONE);
    cr_expect_eq(weft__memory_fail(0), 1, "it asked");
    cr_expect_eq(s.word, before);
    for (int i = 0; i < made; i++)
        cr_expect_eq(take_any(), i);
    cr_expect(weft__stash_is_empty(&s));
}

/* ---- All at once ----------------------------------------------------------------------------- */

static void clear_gives_each_once(void)
{
    static int seen[ROOM];
    int        n = 0;

    for (struct weft_msg *m = weft__stash_clear(&s), *next; m && n <= made; m = next, n++) {
        next = m->next;
        cr_assert_eq(seen[m - room]++, 0, "%d twice", (int)(m - room));
    }
    cr_expect_eq(n, made);
    cr_expect(weft__stash_is_empty(&s));
    cr_expect_eq(take_any(), NONE);
}

Test(stash, cleared_gives_each_once)
{
    add(9), add_urgent(8), add(7);
    clear_gives_each_once();
}

Test(stash, cleared_of_one_gives_it_once)
{
    add(9);
    clear_gives_each_once();
}

Test(stash, cleared_of_piles_gives_each_once)
{
    make_piles(9);
    for (uint32_t i = 0; i < 1000; i++)
        i % 7 ? add(i % 40) : add_urgent(i % 40);
    clear_gives_each_once();
}

/* ---- Against a model ------------------------------------------------------------------------- */

/* All that is stashed, in mailbox order. */
static int    model[ROOM];
static size_t stashed;

static bool is_urgent(int i) { return room[i].flags & WEFT__MSG_URGENT; }

static void model_add(int one)
{
    size_t at = stashed;

    while (is_urgent(one) && at > 0 && !is_urgent(model[at - 1]))
        at--;
    memmove(model + at + 1, model + at, (stashed++ - at) * sizeof *model);
    model[at] = one;
}

static int model_take(struct wish w)
{
    for (size_t i = 0; i < stashed; i++)
        if (fits(&w, &room[model[i]])) {
            int one = model[i];
            memmove(model + i, model + i + 1, (--stashed - i) * sizeof *model);
            return one;
        }
    return NONE;
}

static uint32_t some_type(uint64_t *state)
{
    uint32_t near = (uint32_t)(draw(state) % 6);

    return draw(state) % 2 ? 4 + near : 5 + near * PILES * 2; /* half of them in one pile */
}

static struct wish some_wish(uint64_t *state)
{
    struct wish w = {(unsigned)(draw(state) % 5), {0}, 0, 0};

    for (unsigned i = 0; i < w.count; i++)
        w.types[i] = some_type(state);
    if (draw(state) % 4 == 0)
        w.every = 1 + (int)(draw(state) % 50);
    if (w.count && w.every && draw(state) % 2)
        w.sure = w.types[0];
    return w;
}

/* A run of several that are linked, as a wait skips them. */
static void add_run(uint64_t *state)
{
    int first = made, n = 1 + (int)(draw(state) % 6);

    for (int i = 0; i < n; i++) {
        room[made] = (struct weft_msg){.type = some_type(state), .next = &room[made + 1]};
        model_add(made++);
    }
    room[made - 1].next = NULL;
    weft__stash_add_run(&s, &room[first], &room[made - 1], (size_t)n);
}

static void compares(uint64_t seed)
{
    uint64_t state = seed;
    unsigned piled = 0, emptied = 0;

    for (int i = 0; i < 8000; i++) {
        unsigned growing = i / 500 % 2 ? 3 : 14; /* of 20: it fills and empties in turn */
        unsigned urgent = i / 1000 % 2 ? 1 : 5;  /* of 10 */
        if (draw(&state) % 20 < growing) {
            uint32_t type = some_type(&state);
            weft__memory_fail(draw(&state) % 8 == 0);
            if (i % 16 == 0)
                add_run(&state);
            else
                model_add(draw(&state) % 10 < urgent ? add_urgent(type) : add(type));
            weft__memory_fail(0);
            cr_assert_eq(weft__stash_count(&s), stashed);
            continue;
        }
        struct wish w = some_wish(&state);
        weft__memory_fail(draw(&state) % 8 == 0);
        int got = take_wish(w);
        weft__memory_fail(0);
        cr_assert_eq(got, model_take(w), "seed %llu, step %d", (unsigned long long)seed, i);
        cr_assert_eq(weft__stash_is_empty(&s), stashed == 0);
        cr_assert_eq(weft__stash_count(&s), stashed);
        piled += has_piles();
        emptied += stashed == 0;
    }
    cr_expect_gt(piled, 100);
    cr_expect_gt(emptied, 0);
    while (stashed)
        cr_assert_eq(take_any(), model_take((struct wish){0, {0}, 0, 0}));
    cr_expect(weft__stash_is_empty(&s));
}

Test(stash, does_what_an_array_does_1) { compares(1); }
Test(stash, does_what_an_array_does_2) { compares(88172645463325252); }
Test(stash, does_what_an_array_does_3) { compares(0xfeedbeefcafe); }
