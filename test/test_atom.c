/* test_atom.c - what weft/atom.h promises; that wrong ones are compile errors is in test/refused.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <weft/atom.h>

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

TestSuite(atom, .timeout = 20);

static const char alphabet[] = " _0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

enum { LETTERS = sizeof alphabet - 1 };
_Static_assert(LETTERS == 64, "six bits");

static const char *text_of(weft_atom atom)
{
    static char texts[4][WEFT_ATOM_MAX + 1];
    static int  turn;

    return weft_atom_text(atom, texts[turn++ % 4]);
}

static void comes_back(const char *text)
{
    weft_atom a = weft_atom_from(text);

    cr_expect_neq(a, 0, "\"%s\" is none", text);
    cr_expect_str_eq(text_of(a), text);
}

/* ---- Both ways ------------------------------------------------------------------------------- */

Test(atom, of_each_character_comes_back)
{
    for (int i = 0; i < LETTERS; i++)
        comes_back((char[]){alphabet[i], 0});
}

Test(atom, with_each_character_in_each_place_comes_back)
{
    for (int at = 0; at < WEFT_ATOM_MAX; at++)
        for (int i = 0; i < LETTERS; i++) {
            char text[] = "qwertyuiop";
            text[at] = alphabet[i];
            comes_back(text);
        }
}

Test(atom, of_each_length_comes_back)
{
    for (int length = 1; length <= WEFT_ATOM_MAX; length++)
        for (int i = 0; i < LETTERS; i++) {
            char text[WEFT_ATOM_MAX + 1] = "";
            memset(text, alphabet[i], (size_t)length);
            comes_back(text);
        }
}

Test(atom, has_its_blanks_wherever_they_are)
{
    static const char *const words[] = {" ",   "  ",   "          ", "a",    " a",      "  a", "a ", "a  ",
                                        "a b", "a  b", " a ",        "ab c", "one two", " 9",  "_ _"};
    enum { WORDS = sizeof words / sizeof *words };

    for (int i = 0; i < WORDS; i++) {
        comes_back(words[i]);
        for (int k = 0; k < i; k++)
            cr_expect_neq(weft_atom_from(words[i]), weft_atom_from(words[k]), "\"%s\" and \"%s\"", words[i],
                          words[k]);
    }
}

Test(atom, distinguishes_upper_and_lower_case)
{
    cr_expect_neq(weft_atom_from("ok"), weft_atom_from("OK"));
    cr_expect_neq(weft_atom_from("ok"), weft_atom_from("oK"));
}

struct word {
    weft_atom atom;
    char      text[WEFT_ATOM_MAX + 1];
};

static int by_number(const void *a, const void *b)
{
    weft_atom one = ((const struct word *)a)->atom, other = ((const struct word *)b)->atom;

    return (one > other) - (one < other);
}

Test(atom, of_another_word_is_another_number)
{
    enum { WORDS = 100000 };
    static struct word words[WORDS];
    uint64_t           state = 20261118;
    unsigned           distinct = 1;

    for (int i = 0; i < WORDS; i++) {
        int length = 1 + (int)(draw(&state) % WEFT_ATOM_MAX);
        for (int k = 0; k < length; k++)
            words[i].text[k] = alphabet[draw(&state) % LETTERS];
        words[i].atom = weft_atom_from(words[i].text);
        cr_assert_neq(words[i].atom, 0);
        cr_assert_str_eq(text_of(words[i].atom), words[i].text);
    }
    qsort(words, WORDS, sizeof *words, by_number);
    for (int i = 1; i < WORDS; i++) {
        bool same = words[i].atom == words[i - 1].atom;
        cr_assert_eq(same, strcmp(words[i].text, words[i - 1].text) == 0, "\"%s\" and \"%s\"", words[i].text,
                     words[i - 1].text);
        distinct += !same;
    }
    cr_expect_gt(distinct, WORDS / 2);
}

/* ---- What is none ---------------------------------------------------------------------------- */

Test(atom, of_an_empty_text_is_none) { cr_expect_eq(weft_atom_from(""), 0); }

Test(atom, of_more_than_ten_characters_is_none)
{
    static char long_text[1001];

    memset(long_text, 'a', sizeof long_text - 1);
    cr_expect_neq(weft_atom_from("abcdefghij"), 0);
    cr_expect_eq(weft_atom_from("abcdefghijk"), 0);
    cr_expect_eq(weft_atom_from("          a"), 0);
    cr_expect_eq(weft_atom_from("abcdefghij "), 0);
    cr_expect_eq(weft_atom_from(long_text), 0);
}

Test(atom, with_any_other_character_is_none)
{
    for (int c = 1; c < 256; c++)
        for (int at = 0; at < WEFT_ATOM_MAX; at++) {
            char text[] = "qwertyuiop";
            if (strchr(alphabet, c))
                continue;
            text[at] = (char)c;
            cr_expect_eq(weft_atom_from(text), 0, "character %d at %d", c, at);
            text[at + 1] = 0;
            cr_expect_eq(weft_atom_from(text), 0, "character %d at the end, %d", c, at);
        }
}

Test(atom, that_is_none_has_no_text)
{
    static const weft_atom none[] = {0, 1, 2, 63, (weft_atom)1 << 61, (weft_atom)1 << 63, UINT64_MAX};

    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char room[WEFT_ATOM_MAX + 1] = "before";
        cr_expect_eq(weft_atom_text(none[i], room), room);
        cr_expect_str_eq(room, "", "%llu", (unsigned long long)none[i]);
    }
}

Test(atom, that_has_a_text_is_the_atom_of_that_text)
{
    uint64_t state = 4711;
    unsigned atoms = 0;

    for (int i = 0; i < 100000; i++) {
        weft_atom   number = draw(&state) >> draw(&state) % 64;
        const char *text = text_of(number);
        if (*text) {
            cr_assert_eq(weft_atom_from(text), number, "\"%s\"", text);
            atoms++;
        }
    }
    cr_expect_gt(atoms, 1000);
}

Test(atom, is_written_within_its_room)
{
    struct {
        char before, room[WEFT_ATOM_MAX + 1], after;
    } at = {'<', "", '>'};

    cr_expect_eq(weft_atom_text(weft_atom_from("zzzzzzzzzz"), at.room), at.room);
    cr_expect_str_eq(at.room, "zzzzzzzzzz");
    cr_expect_eq(at.before, '<');
    cr_expect_eq(at.after, '>');
}

/* ---- Constants ------------------------------------------------------------------------------- */

/* In the order of `alphabet`. */
static const weft_atom constants[] = {
    WEFT_ATOM_OF(' '), WEFT_ATOM_OF('_'), WEFT_ATOM_OF('0'), WEFT_ATOM_OF('1'), WEFT_ATOM_OF('2'),
    WEFT_ATOM_OF('3'), WEFT_ATOM_OF('4'), WEFT_ATOM_OF('5'), WEFT_ATOM_OF('6'), WEFT_ATOM_OF('7'),
    WEFT_ATOM_OF('8'), WEFT_ATOM_OF('9'), WEFT_ATOM_OF('A'), WEFT_ATOM_OF('B'), WEFT_ATOM_OF('C'),
    WEFT_ATOM_OF('D'), WEFT_ATOM_OF('E'), WEFT_ATOM_OF('F'), WEFT_ATOM_OF('G'), WEFT_ATOM_OF('H'),
    WEFT_ATOM_OF('I'), WEFT_ATOM_OF('J'), WEFT_ATOM_OF('K'), WEFT_ATOM_OF('L'), WEFT_ATOM_OF('M'),
    WEFT_ATOM_OF('N'), WEFT_ATOM_OF('O'), WEFT_ATOM_OF('P'), WEFT_ATOM_OF('Q'), WEFT_ATOM_OF('R'),
    WEFT_ATOM_OF('S'), WEFT_ATOM_OF('T'), WEFT_ATOM_OF('U'), WEFT_ATOM_OF('V'), WEFT_ATOM_OF('W'),
    WEFT_ATOM_OF('X'), WEFT_ATOM_OF('Y'), WEFT_ATOM_OF('Z'), WEFT_ATOM_OF('a'), WEFT_ATOM_OF('b'),
    WEFT_ATOM_OF('c'), WEFT_ATOM_OF('d'), WEFT_ATOM_OF('e'), WEFT_ATOM_OF('f'), WEFT_ATOM_OF('g'),
    WEFT_ATOM_OF('h'), WEFT_ATOM_OF('i'), WEFT_ATOM_OF('j'), WEFT_ATOM_OF('k'), WEFT_ATOM_OF('l'),
    WEFT_ATOM_OF('m'), WEFT_ATOM_OF('n'), WEFT_ATOM_OF('o'), WEFT_ATOM_OF('p'), WEFT_ATOM_OF('q'),
    WEFT_ATOM_OF('r'), WEFT_ATOM_OF('s'), WEFT_ATOM_OF('t'), WEFT_ATOM_OF('u'), WEFT_ATOM_OF('v'),
    WEFT_ATOM_OF('w'), WEFT_ATOM_OF('x'), WEFT_ATOM_OF('y'), WEFT_ATOM_OF('z'),
};
_Static_assert(sizeof constants / sizeof *constants == LETTERS, "one a character");

Test(atom, of_a_character_constant_is_that_of_the_text)
{
    for (int i = 0; i < LETTERS; i++)
        cr_expect_eq(constants[i], weft_atom_from((char[]){alphabet[i], 0}), "'%c'", alphabet[i]);
}

WEFT_ATOM(one, 'a');
WEFT_ATOM(two, 'a', 'b');
WEFT_ATOM(three, 'a', 'b', 'c');
WEFT_ATOM(four, 'a', 'b', 'c', 'd');
WEFT_ATOM(five, 'a', 'b', 'c', 'd', 'e');
WEFT_ATOM(six, 'a', 'b', 'c', 'd', 'e', 'f');
WEFT_ATOM(seven, 'a', 'b', 'c', 'd', 'e', 'f', 'g');
WEFT_ATOM(eight, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
WEFT_ATOM(nine, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i');
WEFT_ATOM(ten, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j');
WEFT_ATOM(highest, 'z', 'z', 'z', 'z', 'z', 'z', 'z', 'z', 'z', 'z');
WEFT_ATOM(lowest, ' ');
_Static_assert(WEFT_ATOM_OF('a', 'b') != WEFT_ATOM_OF('b', 'a'), "constants while compiling");

Test(atom, declared_is_that_of_the_text)
{
    cr_expect_eq((weft_atom)one, weft_atom_from("a"));
    cr_expect_eq((weft_atom)two, weft_atom_from("ab"));
    cr_expect_eq((weft_atom)three, weft_atom_from("abc"));
    cr_expect_eq((weft_atom)four, weft_atom_from("abcd"));
    cr_expect_eq((weft_atom)five, weft_atom_from("abcde"));
    cr_expect_eq((weft_atom)six, weft_atom_from("abcdef"));
    cr_expect_eq((weft_atom)seven, weft_atom_from("abcdefg"));
    cr_expect_eq((weft_atom)eight, weft_atom_from("abcdefgh"));
    cr_expect_eq((weft_atom)nine, weft_atom_from("abcdefghi"));
    cr_expect_eq((weft_atom)ten, weft_atom_from("abcdefghij"));
    cr_expect_eq((weft_atom)highest, weft_atom_from("zzzzzzzzzz"));
    cr_expect_eq((weft_atom)lowest, weft_atom_from(" "));
    cr_expect_neq((weft_atom)lowest, 0);
}

static int rank(weft_atom a)
{
    switch (a) {
    case one:
        return 1;
    case WEFT_ATOM_OF('a', 'b'):
        return 2;
    case ten:
        return 10;
    case highest:
        return 11;
    case WEFT_ATOM_OF(' ', 'a'):
        return 12;
    default:
        return 0;
    }
}

Test(atom, is_a_case_label)
{
    cr_expect_eq(rank(weft_atom_from("a")), 1);
    cr_expect_eq(rank(weft_atom_from("ab")), 2);
    cr_expect_eq(rank(weft_atom_from("abcdefghij")), 10);
    cr_expect_eq(rank(weft_atom_from("zzzzzzzzzz")), 11);
    cr_expect_eq(rank(weft_atom_from(" a")), 12);
    cr_expect_eq(rank(weft_atom_from("abc")), 0);
    cr_expect_eq(rank(0), 0);
}

static const struct {
    weft_atom word;
    int       value;
} table[] = {{one, 1}, {WEFT_ATOM_OF('t', 'w', 'o'), 2}, {ten, 10}};

Test(atom, is_a_static_initialiser)
{
    cr_expect_str_eq(text_of(table[0].word), "a");
    cr_expect_str_eq(text_of(table[1].word), "two");
    cr_expect_str_eq(text_of(table[2].word), "abcdefghij");
}
