/* report.c - what a run found: one line of JSON, or a table for a person.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double per_second(const struct bench *b) { return b->seconds > 0 ? (double)b->ops / b->seconds : 0; }

/* ---- JSON -------------------------------------------------------------------------------------------- */

static bool same_group(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static void print_extras(const struct bench *b)
{
    const char *group = NULL;

    for (int i = 0; i < b->extras; i++) {
        const struct extra *e = &b->extra[i];
        bool                opens = !same_group(group, e->group);
        if (group && opens)
            putchar('}');
        if (i)
            putchar(',');
        if (e->group && opens)
            printf("\"%s\":{", e->group);
        printf(e->quoted ? "\"%s\":\"%s\"" : "\"%s\":%s", e->key, e->value);
        group = e->group;
    }
    if (group)
        putchar('}');
}

void report_json(const struct bench *b, const struct workload *w)
{
    printf("{\"peer\":\"weft\",\"version\":\"%s\",\"workload\":\"%s\",\"mode\":\"%s\",\"args\":[",
           weft_version(), w->name, mode_names[b->mode]);
    for (int i = 0; i < workload_args(w); i++)
        printf("%s%llu", i ? "," : "", (unsigned long long)b->arg[i]);
    printf("],\"seconds\":%.9g,\"ops\":%llu,\"ops_per_s\":%.6g,\"extra\":{", b->seconds,
           (unsigned long long)b->ops, per_second(b));
    print_extras(b);
    puts("}}");
}

/* ---- A table ----------------------------------------------------------------------------------------- */

char *report_grouped(char text[32], double number)
{
    char  digits[24];
    int   length = snprintf(digits, sizeof digits, "%.0f", number);
    char *out = text;

    for (int i = 0; i < length; i++) {
        *out++ = digits[i];
        if (digits[i] != '-' && i + 1 < length && (length - i - 1) % 3 == 0)
            *out++ = ',';
    }
    *out = '\0';
    return text;
}

static void print_row(const char *group, const char *key, const char *value)
{
    char label[64];

    snprintf(label, sizeof label, "%s%s%s", group ? group : "", group ? " " : "", key);
    printf("  %-28s %16s\n", label, value);
}

static void print_number(const char *key, double value)
{
    char text[32];

    if (fabs(value) >= 1000)
        report_grouped(text, value);
    else
        snprintf(text, sizeof text, "%.4g", value);
    print_row(NULL, key, text);
}

static void print_extra(const struct extra *e)
{
    char   text[32], *end;
    double number = strtod(e->value, &end);

    if (*end == '\0' && fabs(number) >= 1000)
        print_row(e->group, e->key, report_grouped(text, number));
    else
        print_row(e->group, e->key, e->value);
}

static void print_speed(const struct bench *b, const struct workload *w)
{
    char a_second[48];

    snprintf(a_second, sizeof a_second, "%s a second", w->unit);
    print_number(w->unit, (double)b->ops);
    print_number("seconds", b->seconds);
    print_number(a_second, per_second(b));
    print_number("ns each", b->seconds * 1e9 / (double)b->ops);
}

void report_table(const struct bench *b, const struct workload *w)
{
    printf("%s", w->name);
    for (int i = 0; i < workload_args(w); i++)
        printf(" %llu", (unsigned long long)b->arg[i]);
    printf(", mode %s: %s\n\n", mode_names[b->mode], w->what);
    if (w->unit)
        print_speed(b, w);
    for (int i = 0; i < b->extras; i++)
        print_extra(&b->extra[i]);
}
