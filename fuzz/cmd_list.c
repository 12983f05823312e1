/*
 * tilefuzz list WHAT: the rows of our tables. A table is one function that hands its rows to
 * `row`, and one row of kinds[].
 */
#include "fuzz/cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/gen/gen.h"
#include "fuzz/json.h"
#include "fuzz/min/reduce.h"
#include "judge/rules.h"
#include "lower/lower.h"
#include "run/run.h"

struct list_opts {
    struct cmd_common common;
    const char *what;
};

/* Further columns: key and text by turns, ended by NULL. */
static void row(const struct list_opts *o, const char *id, const char *help,
                const char *const *more)
{
    if (o->common.json) {
        json_t *v = json_object_schema();

        json_put(v, "id", json_text(id));
        json_put(v, "help", json_text(help));
        for (; more && *more; more += 2)
            json_put(v, more[0], json_text(more[1]));
        json_print_line(v);
        return;
    }
    printf("%-29s %s", id, help);
    for (const char *sep = "  ("; more && *more; more += 2) {
        if (more[1])
            printf("%s%s %s", sep, more[0], more[1]), sep = ", ";
        if (!more[2] && sep[0] == ',')
            putchar(')');
    }
    putchar('\n');
}
#define MORE(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void list_ops(const struct list_opts *o)
{
    static const char *const class_name[] = {
        "source", "view", "unary",  "binary", "compare",   "where",
        "cast",   "copy", "reduce", "matmul", "composite",
    };

    for (enum op op = 0; op < OP_COUNT; op++) {
        const struct op_info *i = op_info(op);

        row(o, i->name, i->help, MORE("class", class_name[i->class]));
    }
}

static void list_steps(const struct list_opts *o)
{
    for (enum step_kind k = 0; k < STEP_COUNT; k++) {
        const struct step_info *i = step_info(k);

        row(o, i->name, i->help, MORE("form", i->form, "pass", i->pass));
    }
}

static void list_passes(const struct list_opts *o)
{
    for (int i = 0; i < n_passes; i++)
        row(o, passes[i].name, passes[i].help, NULL);
}

static void list_backends(const struct list_opts *o)
{
    for (int i = 0; i < n_backends; i++) {
        struct err why = { .code = ERR_NONE };
        bool there = backend_available(backends[i], &why);

        row(o, backends[i]->name, backends[i]->help,
            MORE("available", there ? "yes" : "no", there ? "version" : "why",
                 there ? backends[i]->version() : why.msg));
    }
    row(o, "plugin:FILE.so", "a shared object of yours (include/tilefuzz/plugin.h)",
        MORE("available", "yes"));
    row(o, "exec:COMMAND", "a program of yours (docs/exec-protocol.md)",
        MORE("available", "yes"));
}

static void list_faults(const struct list_opts *o)
{
    for (enum fault f = FAULT_none + 1; f < FAULT_COUNT; f++) {
        const struct fault_info *i = fault_info(f);
        char threshold[24];

        snprintf(threshold, sizeof threshold, "%d", i->threshold);
        row(o, i->id, i->help,
            MORE("stage", i->stage, "threshold", i->threshold ? threshold : NULL, "url",
                 i->url));
    }
}

static void list_reducers(const struct list_opts *o)
{
    for (int i = 0; i < n_reducers; i++)
        row(o, reducers[i].id, reducers[i].help, NULL);
}

static void list_judges(const struct list_opts *o)
{
    for (int i = 0; i < n_judge_rules; i++)
        row(o, judge_rules[i].name, judge_rules[i].help, NULL);
}

static void list_recipes(const struct list_opts *o)
{
    for (enum recipe r = 0; r < RECIPE_COUNT; r++)
        row(o, recipe_name(r), recipe_help(r), NULL);
}

static void list_presets(const struct list_opts *o)
{
    for (enum preset p = 0; p < PRESET_COUNT; p++)
        row(o, preset_name(p), preset_help(p), NULL);
}

static void list_knobs(const struct list_opts *o)
{
#define KNOB(name, type, dflt, low, high, help)                                                \
    row(o, #name, help, MORE("default", #dflt, "low", #low, "high", #high));
#include "fuzz/gen/knobs.def"
#undef KNOB
}

static const struct kind {
    const char *name;
    void (*list)(const struct list_opts *o);
} kinds[] = {
    { "ops", list_ops },           { "steps", list_steps },     { "passes", list_passes },
    { "backends", list_backends }, { "faults", list_faults },   { "reducers", list_reducers },
    { "judges", list_judges },     { "recipes", list_recipes }, { "presets", list_presets },
    { "knobs", list_knobs },
};
#define KIND_NAMES                                                                             \
    "ops, steps, passes, backends, faults, reducers, judges, recipes, presets, knobs"

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct list_opts *o = state->input;

    if (key != ARGP_KEY_ARG || o->what)
        return ARGP_ERR_UNKNOWN;
    o->what = arg;
    return 0;
}

static const struct argp argp = {
    NULL,
    parse,
    "WHAT",
    "List what there is, one row each: " KIND_NAMES ".\v"
    "Examples:\n"
    "  tilefuzz list faults\n"
    "  tilefuzz list ops --json",
};

int cmd_list(int argc, char **argv)
{
    struct list_opts o = { .common = CMD_COMMON_DEFAULT };

    cmd_parse(&argp, argc, argv, CMD_JSON, &o.common, &o);
    for (size_t i = 0; o.what && i < ARRAY_LEN(kinds); i++)
        if (strcmp(o.what, kinds[i].name) == 0) {
            kinds[i].list(&o);
            return CMD_CLEAN;
        }
    if (o.what)
        fprintf(stderr, "tilefuzz list: nothing is called '%s'; " KIND_NAMES " expected\n",
                o.what);
    else
        fprintf(stderr, "tilefuzz list: what? " KIND_NAMES "\n");
    return CMD_USAGE;
}
