/* supervised - a pool of workers that survives what ends them: each division by zero ends one; who asked for it hears so at
 * once, and the supervisor starts another in its place.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>
#include <weft/supervisor.h>

WEFT_MESSAGE(
    DIVIDE, struct divide { int a, b; });
WEFT_MESSAGE(RESULT, int);
WEFT_SIGNAL(READY);

enum { WORKERS = 3 };

/* It does not look whether it can: what can not be done ends it, and that is all. */
static void worker(void *boss)
{
    for (;;) {
        weft_send(*(weft_pid *)boss, READY);
        weft_msg            *m = weft_receive(DIVIDE);
        const struct divide *job = weft_get(m, DIVIDE);
        if (job->b == 0)
            weft_end(1);
        weft_reply(m, RESULT, job->a / job->b);
    }
}

static weft_pid idle_worker(void) { return weft_sender(weft_receive(READY)); }

static void divide(int a, int b)
{
    weft_msg *m = weft_ask(weft_sec(10), idle_worker(), DIVIDE, .a = a, .b = b);

    if (weft_is(m, RESULT))
        printf("%d / %d = %d\n", a, b, *weft_get(m, RESULT));
    else
        printf("%d / %d: %s\n", a, b, weft_strerror(*weft_get(m, WEFT_FAILED)));
}

int main(void)
{
    weft_pid         self = weft_self();
    const weft_child same = {.fn = worker, .arg = &self}, pool[WORKERS] = {same, same, same};
    weft_child_view  seen[WORKERS];
    unsigned         restarts = 0;

    /* More than five failures in ten seconds would be no bad luck: then it gives up, and with .link so would we. */
    weft_pid s = weft_supervise(&(weft_supervisor){.strategy = WEFT_ONE_FOR_ONE,
                                                   .max_restarts = 5,
                                                   .period = weft_sec(10),
                                                   .link = true,
                                                   .children = pool,
                                                   .count = WORKERS});
    for (int b = 3; b >= -1; b--)
        divide(12, b);
    divide(7, 0);
    divide(7, 2);

    for (int i = 0; i < WORKERS; i++)
        idle_worker();
    weft_children(s, seen, WORKERS);
    for (int i = 0; i < WORKERS; i++)
        restarts += seen[i].restarts;
    printf("%d workers are ready, after %u restarts\n", WORKERS, restarts);
}
