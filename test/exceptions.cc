/* exceptions.cc - C++ exceptions stay with the actors that handle them; `make check` builds and runs it.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 *
 * Each actor throws, catches, and gives its worker away inside the catch and in a destructor that runs
 * while one is on its way. Then what it reads, and throws on, must be its own.
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <weft.h>

WEFT_MESSAGE(PLAY, int);
WEFT_SIGNAL(DONE);

enum { ACTORS = 50, ROUNDS = 200 };

static weft_pid boss, all[ACTORS];

static void fail(const char *what, const std::string &read, const std::string &own)
{
    std::fprintf(stderr, "exceptions: %s: read \"%s\" instead of \"%s\"\n", what, read.c_str(), own.c_str());
    std::abort();
}

static void give_way(int me, int round)
{
    switch (round % 4) {
    case 0:
        weft_yield();
        break;
    case 1:
        weft_sleep(weft_us(10));
        break;
    case 2:
        weft_send(all[(me + 1) % ACTORS], PLAY, round);
        break;
    default:
        weft_receive_within(weft_us(10), PLAY);
    }
}

struct waits_when_left {
    int me, round;
    ~waits_when_left() { give_way(me, round); }
};

static void throws(int me, int round)
{
    waits_when_left on_the_way = {me, round + 1};
    throw std::runtime_error("of " + std::to_string(me) + " in " + std::to_string(round));
}

static void catches(int me, int round)
{
    std::string own = "of " + std::to_string(me) + " in " + std::to_string(round);

    try {
        throws(me, round);
    } catch (const std::exception &e) {
        give_way(me, round);
        if (e.what() != own)
            fail("after a wait", e.what(), own);
        try {
            throw std::logic_error("inner " + own);
        } catch (const std::logic_error &inner) {
            give_way(me, round + 1);
            if (inner.what() != "inner " + own)
                fail("in a second catch", inner.what(), "inner " + own);
        }
        throw;
    }
}

static void player(void *arg)
{
    int me = *static_cast<int *>(arg);

    for (int round = 0; round < ROUNDS; round++) {
        std::string own = "of " + std::to_string(me) + " in " + std::to_string(round), read = "nothing";
        try {
            catches(me, round);
        } catch (const std::exception &e) {
            read = e.what();
        }
        if (read != own)
            fail("thrown on", read, own);
        if (std::uncaught_exceptions())
            fail("in the end", "some on their way", "none");
    }
    weft_send(boss, DONE);
}

static void ends_inside(void *)
{
    try {
        throw 1;
    } catch (int) {
        weft_end(0); /* what it handles is lost, and nobody else's */
    }
}

static int deeper(int n)
{
    volatile char room[200];

    room[0] = static_cast<char>(n);
    return n ? deeper(n + 1) + room[0] : 0;
}

static void is_new(void *)
{
    if (std::uncaught_exceptions() || std::current_exception())
        fail("after an overflow", "one that is handled", "none");
}

static void overflows_inside(void *)
{
    weft_defer(is_new, nullptr);
    try {
        throw 1;
    } catch (int) {
        deeper(1); /* and this is as weft_end */
    }
}

static void watches(void *)
{
    weft_ref     monitor;
    weft_options options{};

    options.monitor = &monitor;
    weft_spawn_with(overflows_inside, nullptr, &options, sizeof options);
    weft_end(weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason);
}

int main()
{
    weft_config how{};

    how.overflow = WEFT_OVERFLOW_ISOLATE;
    if (weft_run_with(watches, nullptr, &how, sizeof how) != WEFT_ESTACK)
        fail("an overflow in a catch", "another end", "WEFT_ESTACK");
    boss = weft_self();
    for (int i = 0; i < ACTORS; i++) {
        weft_options options{};
        options.copy_bytes = sizeof i;
        weft_spawn(ends_inside, nullptr);
        all[i] = weft_spawn_with(player, &i, &options, sizeof options);
    }
    for (int i = 0; i < ACTORS; i++)
        weft_receive(DONE);
    std::puts("exceptions: ok");
}
