/* tree - supervisors of supervisors, printed as a tree before and after some failures: how far each goes is said where the
 * tree is written down, and by no code of the workers.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include <stdio.h>
#include <weft.h>
#include <weft/supervisor.h>

WEFT_SIGNAL(READY);
WEFT_MESSAGE(FAIL, int);

static void worker(void *unused)
{
    (void)unused;
    weft_send_name("main", READY);
    weft_end(*weft_get(weft_receive(FAIL), FAIL));
}

#define COUNT(list) .children = list, .count = sizeof(list) / sizeof *(list)

/* A counter that lost its state is of no use to its clerk, and neither is the clerk. */
static const weft_child      at_a_desk[] = {{.id = "counter", .fn = worker, .options.name = "counter"},
                                            {.id = "clerk", .fn = worker, .options.name = "clerk"}};
static const weft_supervisor desk = {.name = "desk", .strategy = WEFT_ONE_FOR_ALL, COUNT(at_a_desk)};

/* What comes later needs what comes before: the desk the store; nobody needs the porter. */
static const weft_child in_a_shop[] = {
    {.id = "store", .fn = worker, .options.name = "store"},
    {.id = "desk", .supervisor = &desk},
    {.id = "porter", .fn = worker, .restart = WEFT_TRANSIENT, .options.name = "porter"}};
static const weft_supervisor shop = {.name = "shop", .strategy = WEFT_REST_FOR_ONE, COUNT(in_a_shop)};

static void print(weft_pid supervisor, int depth)
{
    weft_child_view child[8];
    long            n = weft_children(supervisor, child, 8);

    for (long i = 0; i < n; i++) {
        printf("%*s%s", 4 * depth, "", child[i].id);
        if (weft_is_nobody(child[i].who))
            printf(", gone");
        if (child[i].restarts)
            printf(", started again: %u", child[i].restarts);
        puts("");
        if (child[i].supervisor)
            print(child[i].who, depth + 1);
    }
}

static void print_when(int ready, const char *why, weft_pid root)
{
    while (ready--)
        weft_receive(READY);
    printf("-- %s\n", why);
    print(root, 0);
}

int main(void)
{
    weft_register("main", weft_self());
    weft_pid root = weft_supervise(&shop);

    print_when(4, "the shop opens", root);
    weft_send_name("clerk", FAIL, 1);
    print_when(2, "the clerk failed", root); /* and the counter with it */

    weft_stop_child(root, "porter", WEFT_NOBODY);
    print_when(0, "the porter is sent home", root);

    weft_send_name("store", FAIL, 1);
    print_when(4, "the store failed", root); /* the rest begins anew, the porter too */

    weft_monitor(root);
    weft_exit(root, WEFT_ESTOP);
    printf("-- it closes: %s\n", weft_strerror(weft_get(weft_receive(WEFT_DOWN), WEFT_DOWN)->reason));
}
