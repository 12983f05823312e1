/* tilefuzz show: a trial, and what the compiler makes of it. */
#include <stdio.h>
#include <string.h>

#include "emit/emit.h"
#include "fuzz/args.h"
#include "fuzz/cmd.h"
#include "fuzz/json.h"
#include "fuzz/repro.h"
#include "ir/text.h"

enum show_form { SHOW_DEFAULT, SHOW_TRIAL, SHOW_LOOPS, SHOW_C, SHOW_REPRO_C, SHOW_JSON };
static const char *const form_name[] = { "", "trial", "loops", "c", "repro.c", "json" };

struct show_opts {
    struct cmd_common common;
    const char *arg, *after;
    enum show_form form;
};

static const struct argp_option options[] = {
    { "after", 'a', "PASS", 0, "loop IR after that pass (tilefuzz list passes)" },
    { "as", 'f', "FORM", 0, "trial (default), loops, c, repro.c or json" },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct show_opts *o = state->input;

    switch (key) {
    case 'a':
        if (pass_find(arg) < 0)
            cmd_usage(state, "--after: no pass '%s'; see tilefuzz list passes", arg);
        o->after = arg;
        return 0;
    case 'f':
        for (int i = SHOW_TRIAL; i <= SHOW_JSON; i++)
            if (!strcmp(arg, form_name[i])) {
                o->form = (enum show_form)i;
                return 0;
            }
        cmd_usage(state, "--as: no form '%s'; forms are trial, loops, c, repro.c, json", arg);
    default:
        if (key == ARGP_KEY_END && o->after && o->form != SHOW_DEFAULT && o->form != SHOW_LOOPS)
            cmd_usage(state, "--after goes with --as loops");
        return cmd_subject_arg(key, arg, state, &o->arg);
    }
}

static const struct argp argp = {
    options,
    parse,
    "FILE|ID",
    "Print a trial, its loop IR after any pass, its C text, or a standalone repro.\v"
    "A stored finding is shown with the fault under which it was found; --fault changes that.\n"
    "\n"
    "Examples:\n"
    "  tilefuzz show 3\n"
    "  tilefuzz show 3 --after fuse\n"
    "  tilefuzz show corpus/public/05-pad-then-reshape.trial --as c\n"
    "  tilefuzz show 3 --as repro.c > repro.c && cc repro.c -lm -o repro && ./repro",
    NULL,
    NULL,
    NULL
};

static int show_lowered(const struct show_opts *o, const struct subject *sub, struct arena *a,
                        struct str *s, struct err *e)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct lprog *l;

    lo.fault = sub->fault;
    if (o->after)
        lo.last_pass = pass_find(o->after);
    if (lower(sub->trial, &lo, a, &l, e))
        return e->code;
    if (o->form == SHOW_C)
        emit_c(l, s);
    else
        loop_print(l, s);
    return 0;
}

static int show_repro(const struct subject *sub, struct arena *a, struct str *s, struct err *e)
{
    struct check_opts co;
    struct checker ck;
    struct check c;
    const char *fault = fault_info(sub->fault)->id;

    check_opts_default(&co);
    co.fault = sub->fault;
    if (args_finding(&co, &sub->finding, e))
        return e->code;
    if (!checker_open(&ck))
        return err_set(e, ERR_MISSING, "no memory to run in");
    if (check_trial(&ck, sub->trial, &co, &c, e) == 0)
        repro_c(sub->trial, &c,
                arena_printf(a, "%s show %s --as repro.c --fault %s > repro.c", cmd_program,
                             sub->name, fault),
                s);
    checker_close(&ck);
    return e->code;
}

static void show_json(const struct subject *sub, struct str *s)
{
    const struct prog *p = &sub->trial->prog;
    json_t *o = json_object_schema();
    struct str text = { 0 };
    char key[32], *line;

    trial_print(sub->trial, &text);
    snprintf(key, sizeof key, "%016llx", (unsigned long long)trial_key(sub->trial));
    json_put(o, "id", sub->id ? json_integer(sub->id) : json_null());
    json_put(o, "key", json_text(key));
    json_put(o, "fault", json_text(fault_info(sub->fault)->id));
    json_put(o, "nodes", json_integer(prog_count_nodes(p)));
    json_put(o, "steps", json_integer(sub->trial->n_step));
    json_put(o, "max_size", json_integer(prog_max_size(p)));
    json_put(o, "work", json_integer(prog_work(p)));
    json_put(o, "trial", json_text(str_get(&text)));
    if (sub->id)
        json_put(o, "finding", json_finding(&sub->finding));
    line = json_to_text(o);
    str_add(s, "%s\n", line);
    free(line);
    str_release(&text);
}

static int show(const struct show_opts *o, const struct subject *sub, struct arena *a,
                struct str *s, struct err *e)
{
    switch (o->form) {
    case SHOW_JSON:
        show_json(sub, s);
        return 0;
    case SHOW_REPRO_C:
        return show_repro(sub, a, s, e);
    case SHOW_LOOPS:
    case SHOW_C:
        return show_lowered(o, sub, a, s, e);
    case SHOW_DEFAULT:
    case SHOW_TRIAL:
        break;
    }
    if (o->after)
        return show_lowered(o, sub, a, s, e);
    trial_print(sub->trial, s);
    return 0;
}

/* How a stored finding was found: talk, as the text of the trial is the answer. */
static void tell_finding(const struct finding *f)
{
    const char *tier = f->tier && *f->tier ? f->tier : "none: it did not come to an answer";

    fprintf(stderr, "bug %lld: %s by %s in %s, tier %s, fault %s\n", (long long)f->id, f->kind,
            f->backend, f->algebra, tier, f->fault);
}

int cmd_show(int argc, char **argv)
{
    struct show_opts o = { .common = CMD_COMMON_DEFAULT };
    struct subject sub;
    struct arena a;
    struct str s = { 0 };
    struct err e = { 0 };

    cmd_parse(&argp, argc, argv, CMD_DB | CMD_JSON | CMD_FAULT, &o.common, &o);
    if (o.common.json)
        o.form = SHOW_JSON;
    arena_init(&a);
    if (cmd_open(o.arg, &o.common, &a, &sub, &e) == 0 && show(&o, &sub, &a, &s, &e) == 0) {
        fputs(str_get(&s), stdout);
        if (sub.id && o.form != SHOW_JSON)
            tell_finding(&sub.finding);
    }
    if (e.code == ERR_ILLEGAL)
        snprintf(e.file, sizeof e.file, "%s", sub.name);
    str_release(&s);
    arena_release(&a);
    return e.code ? cmd_fail(&e) : CMD_CLEAN;
}
