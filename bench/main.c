/* main.c - weft-bench: the list of workloads, and what was asked on the command line.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "bench/bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const mode_names[MODES] = {"fiber", "react", "thread"};

static const struct workload *const workloads[] = {
    &workload_limits,    &workload_switch,   &workload_pingpong, &workload_stream,       &workload_ring,
    &workload_queuering, &workload_counting, &workload_fanin,    &workload_fjthroughput, &workload_fjcreate,
    &workload_fjpark,    &workload_sbe,      &workload_fib,      &workload_big,          &workload_idle,
    &workload_ask,       &workload_longbox,  &workload_faults,
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads, WORKERS_MAX = 256 /* the library's */ };

/* Twice the product of two arguments is still a number. */
enum { ARGUMENT_MAX = 2000000000 };

/* What was asked. The words that are no option: the workload's name and its arguments. */
struct request {
    const char *words[1 + BENCH_ARGS];
    int         count;
    const char *mode;
    const char *workers;
    bool        json, help, version;
};

int workload_args(const struct workload *w)
{
    int count = *w->args ? 1 : 0;

    for (const char *c = w->args; *c; c++)
        count += *c == ' ';
    return count;
}

/* ---- Telling ----------------------------------------------------------------------------------------- */

static const char *modes_of(const struct workload *w, char text[32])
{
    *text = '\0';
    for (int m = 0; m < MODES; m++)
        if (w->run[m])
            strcat(strcat(text, *text ? " " : ""), mode_names[m]);
    return text;
}

static void list_workloads(FILE *to)
{
    char modes[32];

    fprintf(to, "  %-13s%-7s %-19s %s\n", "WORKLOAD", "ARGS", "MODES", "what it does");
    for (int i = 0; i < WORKLOADS; i++)
        fprintf(to, "  %-13s%-7s %-19s %s\n", workloads[i]->name, workloads[i]->args,
                modes_of(workloads[i], modes), workloads[i]->what);
}

static void help(void)
{
    puts(
        "weft-bench WORKLOAD ARGS... [--mode=fiber|react|thread] [--workers=N] [--json]\n"
        "weft-bench demo [--workers=N]\n\n"
        "Runs one workload and prints what it cost.\n\n"
        "  --mode=fiber   actors that wait on a stack of their own (default)\n"
        "  --mode=react   actors that wait as closures, without a stack\n"
        "  --mode=thread  no Weft: a thread an actor, mailboxes of mutex and condition; up to 10000 threads\n"
        "  --workers=N    threads that run actors, or CPUs that threads may use; default: all CPUs allowed\n"
        "  --json         one line of JSON\n"
        "  --version      of Weft\n"
        "  demo           a ring of actors in the three modes, side by side, in under a minute\n");
    list_workloads(stdout);
}

/* A mistake on the command line: what is wrong, then what would be right. */
static _Noreturn void __attribute__((format(printf, 1, 2))) refuse(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("weft-bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    exit(2);
}

/* ---- Understanding ----------------------------------------------------------------------------------- */

static uint64_t number(const char *what, const char *text, uint64_t least, uint64_t most)
{
    char *end;

    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n < least || n > most)
        refuse("%s: '%s' is not a whole number from %llu to %llu", what, text, (unsigned long long)least,
               (unsigned long long)most);
    return n;
}

static const char *after(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static struct request read_request(int argc, char **argv)
{
    struct request r = {0};

    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value;
        if ((value = after(word, "--mode=")))
            r.mode = value;
        else if ((value = after(word, "--workers=")))
            r.workers = value;
        else if (strcmp(word, "--json") == 0)
            r.json = true;
        else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
            r.help = true;
        else if (strcmp(word, "--version") == 0)
            r.version = true;
        else if (*word == '-')
            refuse("no option %s; --help lists them", word);
        else if (r.count == 1 + BENCH_ARGS)
            refuse("'%s' is one argument too many; --help lists the workloads", word);
        else
            r.words[r.count++] = word;
    }
    return r;
}

static int chosen_workers(const struct request *r)
{
    const char *wish = getenv("WEFT_WORKERS");

    if (r->workers)
        return (int)number("--workers", r->workers, 1, WORKERS_MAX);
    return wish && *wish ? (int)number("WEFT_WORKERS", wish, 1, WORKERS_MAX) : bench_cpus();
}

static const struct workload *find(const char *name)
{
    for (int i = 0; i < WORKLOADS; i++)
        if (strcmp(workloads[i]->name, name) == 0)
            return workloads[i];
    fprintf(stderr, "weft-bench: no workload '%s'. There are:\n\n", name);
    list_workloads(stderr);
    exit(2);
}

static enum mode chosen_mode(const struct request *r, const struct workload *w)
{
    const char *wish = r->mode ? r->mode : mode_names[FIBER];
    char        modes[32];

    for (int m = 0; m < MODES; m++)
        if (strcmp(wish, mode_names[m]) == 0 && w->run[m])
            return (enum mode)m;
    refuse("%s has no mode '%s'; it has: %s", w->name, wish, modes_of(w, modes));
}

static void read_args(struct bench *b, const struct request *r, const struct workload *w)
{
    int count = workload_args(w);

    if (r->count - 1 != count)
        refuse("%s takes %d argument%s, not %d\nusage: weft-bench %s %s\n%s", w->name, count,
               count == 1 ? "" : "s", r->count - 1, w->name, w->args, w->what);
    for (int i = 0; i < count; i++)
        b->arg[i] = number((const char[]){w->args[2 * i], '\0'}, r->words[1 + i],
                           i == 0 && w->from_zero ? 0 : 1, ARGUMENT_MAX);
}

/* ---- Running ----------------------------------------------------------------------------------------- */

static void run(const struct request *r)
{
    static struct bench    b; /* actors refer to it: not on a stack */
    const struct workload *w = find(r->words[0]);

    b.mode = chosen_mode(r, w);
    read_args(&b, r, w);
    b.workers = chosen_workers(r);
    if (b.mode == THREAD)
        bench_use_cpus(b.workers);
    progress_wanted(r->json ? NULL : w->name);
    w->run[b.mode](&b);
    bench_extra_number(&b, NULL, "workers", b.workers);
    (r->json ? report_json : report_table)(&b, w);
}

int main(int argc, char **argv)
{
    struct request r = read_request(argc, argv);

    if (r.version) {
        printf("weft-bench %s\n", weft_version());
        return EXIT_SUCCESS;
    }
    if (r.help) {
        help();
        return EXIT_SUCCESS;
    }
    if (r.count == 0)
        refuse("which workload? --help lists them");
    if (strcmp(r.words[0], "demo") == 0) {
        if (r.count > 1 || r.mode || r.json)
            refuse("demo takes no argument and no option but --workers=N");
        demo(chosen_workers(&r));
    } else {
        run(&r);
    }
    return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
