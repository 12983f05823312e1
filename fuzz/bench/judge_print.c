/* The head-to-head as a table, faults by stage, and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "fuzz/bench/judge.h"
#include "fuzz/json.h"
#include "lower/lower.h"

static void add(struct tally *sum, const struct tally *t)
{
    sum->activated += t->activated;
    sum->ieee += t->ieee;
    sum->stopped += t->stopped;
    for (int j = 0; j < JUDGES_MAX; j++) {
        sum->found[j] += t->found[j];
        sum->found_ieee[j] += t->found_ieee[j];
    }
}

static void print_shares(const struct head_to_head *h, const char *name, int64_t of,
                         const int64_t *found, struct str *s)
{
    str_add(s, "%-31s %9" PRId64, name, of);
    for (int j = 0; j < h->n_judge; j++)
        if (of)
            str_add(s, " %8.1f%%", 100.0 * (double)found[j] / (double)of);
        else
            str_add(s, " %9s", "-");
    str_puts(s, "\n");
}

static void print_row(const struct head_to_head *h, const char *name, const struct tally *t,
                      struct str *s)
{
    print_shares(h, name, t->activated, t->found, s);
}

/* Every fault that was activated counts the same, however often it was. */
static void print_mean(const struct head_to_head *h, struct str *s)
{
    int n = 0;

    for (int f = FAULT_none + 1; f < FAULT_COUNT; f++)
        n += h->fault[f].activated > 0;
    str_add(s, "mean of %2d faults               %9s", n, "");
    for (int j = 0; j < h->n_judge && n; j++) {
        double sum = 0;

        for (int f = FAULT_none + 1; f < FAULT_COUNT; f++)
            if (h->fault[f].activated)
                sum += (double)h->fault[f].found[j] / (double)h->fault[f].activated;
        str_add(s, " %8.1f%%", 100 * sum / n);
    }
    str_puts(s, "\n");
}

static void print_stage(const struct head_to_head *h, const struct bench_opts *o,
                        const char *stage, struct tally *all, struct str *s)
{
    struct tally sum = { 0 };
    char line[64];
    int n = 0;

    for (int f = FAULT_none + 1; f < FAULT_COUNT; f++) {
        const struct fault_info *i = fault_info((enum fault)f);

        if (strcmp(i->stage, stage) != 0 || !bench_wants(o, (enum fault)f))
            continue;
        snprintf(line, sizeof line, "  %s", i->id);
        print_row(h, line, &h->fault[f], s);
        add(&sum, &h->fault[f]);
        n++;
    }
    if (n)
        print_row(h, stage, &sum, s);
    add(all, &sum);
}

void head_to_head_print(const struct head_to_head *h, const struct bench_opts *o)
{
    struct str s = { 0 };
    struct tally all = { 0 };

    str_add(&s,
            "%" PRId64 " clean trials, each with every fault, in %.1f s of CPU\n"
            "found: percent of the trials in which a fault changes a bit of an output\n\n"
            "%-31s %9s",
            h->clean_trials, h->cpu_s, "", "activated");
    for (int j = 0; j < h->n_judge; j++)
        str_add(&s, " %9s", h->judge[j]->name);
    str_puts(&s, "\n");
    for (int p = 0; p < n_passes; p++)
        print_stage(h, o, passes[p].name, &all, &s);
    print_stage(h, o, "emit", &all, &s);
    print_row(h, "all faults", &all, &s);
    print_shares(h, "  seen in own data, ieee", all.ieee, all.found_ieee, &s);
    print_mean(h, &s);
    str_add(&s, "%-31s %9" PRId64, "false alarms, clean trials", h->clean_trials);
    for (int j = 0; j < h->n_judge; j++)
        str_add(&s, " %9" PRId64, h->false_alarms[j]);
    str_add(
        &s,
        "\n\nseen in own data: a bit changes with the trial's own data in ieee, not only in "
        "ring or with exact data\nnot counted: %" PRId64
        " that left their arrays, which the interpreter stops\n",
        all.stopped);
    fputs(str_get(&s), stdout);
    str_release(&s);
}

/* One object a judge. */
void head_to_head_json(const struct head_to_head *h, const struct bench_opts *o)
{
    for (int j = 0; j < h->n_judge; j++) {
        json_t *v = json_object_schema(), *faults = json_array();

        json_put(v, "judge", json_text(h->judge[j]->name));
        json_put(v, "clean_trials", json_integer(h->clean_trials));
        json_put(v, "false_alarms", json_integer(h->false_alarms[j]));
        for (int f = FAULT_none + 1; f < FAULT_COUNT; f++) {
            const struct tally *t = &h->fault[f];
            json_t *row = json_object();

            if (!bench_wants(o, (enum fault)f)) {
                json_decref(row);
                continue;
            }
            json_put(row, "id", json_text(fault_info((enum fault)f)->id));
            json_put(row, "stage", json_text(fault_info((enum fault)f)->stage));
            json_put(row, "activated", json_integer(t->activated));
            json_put(row, "found", json_integer(t->found[j]));
            json_put(row, "activated_ieee", json_integer(t->ieee));
            json_put(row, "found_ieee", json_integer(t->found_ieee[j]));
            json_put(row, "stopped", json_integer(t->stopped));
            json_array_append_new(faults, row);
        }
        json_put(v, "faults", faults);
        json_print_line(v);
    }
}
