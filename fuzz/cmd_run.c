/* tilefuzz run: check trials and say what each backend did with them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/args.h"
#include "fuzz/cmd.h"
#include "fuzz/copies_print.h"
#include "fuzz/describe.h"
#include "fuzz/json.h"
#include "judge/rules.h"

struct cmd_run_opts {
    struct cmd_common common;
    struct check_opts check;
    uint64_t schedule; /* 0 = not given */
    bool recipe_given, copies;
    enum recipe recipe;
    char **arg;
    int n_arg;
};

enum { KEY_RECIPE = 1, KEY_DEADLINE, KEY_SCHEDULE, KEY_COPIES };

static const struct argp_option options[] = {
    { "recipe", KEY_RECIPE, "R", 0, "draw the data by another recipe", 0 },
    { "deadline", KEY_DEADLINE, "S", 0, "seconds before code is taken for hung (default 20)",
      0 },
    { "schedule", KEY_SCHEDULE, "N", 0,
      "backend simt: this schedule alone, judged by what it computes; races are not reported",
      0 },
    { "copies", KEY_COPIES, NULL, 0,
      "once more with a copy on each edge of the program, by itself: does it change the "
      "answer?",
      0 },
    ARGS_BACKENDS,
    ARGS_ALGEBRA,
    ARGS_JUDGE,
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cmd_run_opts *o = state->input;

    switch (key) {
    case KEY_RECIPE:
        if (!recipe_parse(arg, strlen(arg), &o->recipe))
            cmd_usage(state, "no recipe '%s'; see tilefuzz list recipes", arg);
        o->recipe_given = true;
        return 0;
    case KEY_SCHEDULE:
        o->schedule = (uint64_t)cmd_int(state, "--schedule", arg, 1, INT32_MAX);
        return 0;
    case KEY_COPIES:
        o->copies = true;
        return 0;
    case KEY_DEADLINE:
        o->check.deadline_s = (int)cmd_int(state, "--deadline", arg, 1, 3600);
        return 0;
    case ARGP_KEY_ARGS:
        o->arg = state->argv + state->next;
        o->n_arg = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        cmd_usage(state, "which trials? give FILEs or IDs of bugs");
    default:
        return args_check(key, arg, state, &o->check);
    }
}

static const struct argp argp = {
    options,
    parse,
    "FILE|ID...",
    "Run trials on every backend and judge them. Exit 0 = right, 1 = findings.\v"
    "Examples:\n"
    "  tilefuzz run corpus/public/*.trial\n"
    "  tilefuzz run 3                           the bug, under the fault it was found with\n"
    "  tilefuzz run 3 --fault none --backends tcc\n"
    "  tilefuzz run 3 --backends simt --schedule 7\n"
    "  tilefuzz run mine.trial --copies --backends 'exec:python3 mine.py'\n"
    "  tilefuzz run corpus/seed --backends cc    every configuration of gcc and clang\n"
    "  tilefuzz gen --trial 17 | tilefuzz run - --rtol 1e-5 --atol 1e-6",
};

static json_t *json_verdict(const struct verdict *v, const struct trial *t, const char *class)
{
    bool element = v->kind == VK_MISMATCH && v->out >= 0;
    json_t *j = json_object();
    struct str where = { 0 };

    json_put(j, "backend", json_text(v->backend));
    json_put(j, "algebra", json_text(algebra_name(v->algebra)));
    json_put(j, "recipe",
             json_text(v->exact ? exact_name(v->exact - 1) : recipe_name(t->recipe)));
    json_put(j, "kind", json_text(verdict_name(v->kind)));
    json_put(j, "class", json_text(class));
    verdict_where(v, &t->prog, &where);
    json_put(j, "where", json_text(where.n ? where.s : NULL));
    json_put(j, "want", element ? json_number_of(v->want) : json_null());
    json_put(j, "got", element ? json_number_of(v->got) : json_null());
    json_put(j, "bound", element ? json_number_of(v->bound) : json_null());
    json_put(j, "tier", json_text(v->tier && *v->tier ? v->tier : NULL));
    json_put(j, "wrong", json_integer(v->n_wrong));
    json_put(j, "judged", json_integer(v->n_judged));
    json_put(j, "unsure", json_integer(v->n_unsure));
    json_put(j, "detail", json_text(v->detail[0] ? v->detail : NULL));
    str_release(&where);
    return j;
}

static void print_json(const struct subject *sub, const struct check *c, const char *class,
                       const struct copies *copies)
{
    json_t *j = json_object_schema(), *list = json_array();
    char key[20];

    snprintf(key, sizeof key, "%016" PRIx64, trial_key(sub->trial));
    json_put(j, "file", json_text(sub->name));
    json_put(j, "key", json_text(key));
    json_put(j, "kind", json_text(verdict_name(c->kind)));
    json_put(j, "untrusted_by", json_text(c->untrusted_by));
    json_put(j, "exact", json_integer(c->n_exact));
    json_put(j, "exact_na", json_integer(c->n_exact_na));
    json_put(j, "exact_na_why", json_text(c->exact_na));
    for (int i = 0; i < c->n; i++)
        json_array_append_new(
            list, json_verdict(&c->verdict[i], sub->trial, i == c->first ? class : NULL));
    json_put(j, "verdicts", list);
    if (copies)
        json_put(j, "copies", copies_json(copies, &sub->trial->prog));
    json_print_line(j);
}

static void print_text(const struct subject *sub, const struct check *c)
{
    struct str s = { 0 };
    int wide = (int)strlen("interp");

    for (int i = 0; i < c->n; i++) {
        int n = (int)strlen(backend_label(c->verdict[i].backend).s);

        wide = wide < n ? n : wide;
    }
    for (int i = 0; i < c->n; i++) {
        const struct verdict *v = &c->verdict[i];

        str_add(&s, "%s: %-*s %-4s%s%s %s", sub->name, wide, backend_label(v->backend).s,
                algebra_name(v->algebra), v->exact ? " " : "",
                v->exact ? exact_name(v->exact - 1) : "", verdict_name(v->kind));
        if (v->kind == VK_PASS && v->detail[0]) {
            str_add(&s, " (%s)", v->detail);
        } else if (v->kind == VK_PASS) {
            str_add(&s, " (%" PRId64 " elements", v->n_judged);
            if (v->n_unsure)
                str_add(&s, ", %" PRId64 " not judged", v->n_unsure);
            if (v->tier && judge_rule_find(v->tier) && strcmp(v->tier, "bound") != 0)
                str_add(&s, ", by %s", v->tier);
            str_puts(&s, ")");
        } else {
            str_puts(&s, ": ");
            verdict_print(v, &sub->trial->prog, &s);
        }
        str_puts(&s, "\n");
    }
    if (c->n_exact_na)
        str_add(&s, "%s: no exact data in %d of %d sets: %s\n", sub->name, c->n_exact_na,
                c->n_exact_na + c->n_exact, c->exact_na);
    if (c->untrusted_by)
        str_add(&s, "%s: UNTRUSTED: a kernel that gives %s would pass\n", sub->name,
                c->untrusted_by);
    fputs(str_get(&s), stdout);
    str_release(&s);
}

static bool ends_in(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n >= k && !strcmp(s + n - k, end);
}

/* A repro.c or .cu carries the kernels as they were emitted: are they still emitted so? */
static void compare_text(const struct subject *sub, const struct check *c)
{
    const char *now = ends_in(sub->name, ".cu")  ? c->gpu_text
                      : ends_in(sub->name, ".c") ? c->text
                                                 : NULL;
    char *text = NULL;
    size_t n;
    FILE *f;

    if (sub->id || !now)
        return;
    f = fopen(sub->name, "r");
    if (!f)
        return;
    n = 0;
    if (getdelim(&text, &n, '\0', f) > 0 && !strstr(text, now))
        fprintf(stderr, "%s: the kernel in this file differs from what is emitted now%s\n",
                sub->name, sub->fault ? "" : " (without a fault: see --fault)");
    free(text);
    fclose(f);
}

struct job {
    const struct cmd_run_opts *o;
    struct checker ck;
    struct arena a;
    struct check c;
    int rc;
};

static void run_one(struct job *j, const char *arg)
{
    static struct check copy; /* the search for the cause overwrites the one it is given */
    struct check_opts o = j->o->check;
    struct copies copies = { 0 };
    struct cause cause = { 0 };
    struct subject sub;
    struct err e = { 0 };

    arena_reset(&j->a);
    if (cmd_open(arg, &j->o->common, &j->a, &sub, &e)) {
        j->rc = cmd_fail(&e);
        return;
    }
    if (j->o->recipe_given)
        sub.trial->recipe = j->o->recipe;
    o.fault = sub.fault;
    if (args_finding(&o, &sub.finding, &e)) {
        j->rc = cmd_fail(&e);
        return;
    }
    args_gpu(&o, sub.trial);
    if (check_trial(&j->ck, sub.trial, &o, &j->c, &e)) {
        snprintf(e.file, sizeof e.file, "%s", sub.name);
        j->rc = cmd_fail(&e);
        return;
    }
    compare_text(&sub, &j->c);
    if (!j->o->common.json)
        print_text(&sub, &j->c);
    if (verdict_is_finding(j->c.kind) && j->rc == CMD_CLEAN)
        j->rc = CMD_FINDINGS;
    if (j->o->common.json) {
        copy = j->c;
        if (verdict_is_finding(copy.kind))
            cause_find(&j->ck, sub.trial, &o, &j->c, &cause, &e);
    }
    if (j->o->copies) {
        if (copies_check(&j->ck, sub.trial, &o, &j->a, &copies, &e)) {
            j->rc = cmd_fail(&e);
            return;
        }
        for (int i = 0; i < copies.n; i++)
            if (copy_is_finding(copies.row[i].effect) && j->rc == CMD_CLEAN)
                j->rc = CMD_FINDINGS;
    }
    if (j->o->common.json)
        print_json(&sub, &copy, cause.class, j->o->copies ? &copies : NULL);
    else if (j->o->copies)
        copies_print(&copies, sub.name, &sub.trial->prog);
    fflush(stdout);
}

int cmd_run(int argc, char **argv)
{
    struct cmd_run_opts o = { .common = CMD_COMMON_DEFAULT };
    static struct job j;
    struct err e = { 0 };

    check_opts_default(&o.check);
    cmd_parse(&argp, argc, argv, CMD_DB | CMD_JSON | CMD_FAULT, &o.common, &o);
    j = (struct job){ .o = &o };
    if (checker_open(&j.ck, &e))
        return cmd_fail(&e);
    j.ck.env.schedule = o.schedule;
    arena_init(&j.a);
    for (int i = 0; i < o.n_arg; i++)
        run_one(&j, o.arg[i]);
    arena_release(&j.a);
    checker_close(&j.ck);
    return j.rc;
}
