/* main as an actor - any thread may send and receive; here main waits for three workers, with a time limit.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>

WEFT_MESSAGE(
    RESULT, struct result {
        int  n;
        long sum;
    });

struct job {
    weft_pid boss;
    int      n;
};

static void worker(void *arg)
{
    struct job *job = arg;
    long        sum = 0;

    for (int i = 1; i <= job->n; i++)
        sum += i;
    weft_send(job->boss, RESULT, .n = job->n, .sum = sum);
}

int main(void)
{
    long total = 0;

    for (int n = 10; n <= 1000; n *= 10)
        weft_spawn(worker, (&(struct job){weft_self(), n}), .copy_bytes = sizeof(struct job));
    for (int i = 0; i < 3; i++) {
        weft_msg *m = weft_receive_within(weft_sec(10), RESULT);
        if (!m)
            return puts("a worker is missing"), 1;
        total += weft_get(m, RESULT)->sum;
    }
    printf("sums: %ld\n", total);
    if (!weft_receive_within(weft_ms(1), RESULT))
        puts("and no more");
}
