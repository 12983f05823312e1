/* tilefuzz show: a trial, and what the compiler makes of it. */
#include <stdio.h>
#include <string.h>

#include "emit/emit.h"
#include "fuzz/args.h"
#include "fuzz/cmd.h"
#include "fuzz/describe.h"
#include "fuzz/json.h"
#include "fuzz/python/python.h"
#include "fuzz/repro.h"
#include "ir/text.h"

enum show_form {
    SHOW_DEFAULT,
    SHOW_TRIAL,
    SHOW_LOOPS,
    SHOW_C,
    SHOW_CUDA,
    SHOW_REPRO_C,
    SHOW_REPRO_CU,
    SHOW_JSON,
    SHOW_PYTHON /* the first of python_form() */
};
static const char *const form_name[] = { "",     "trial",   "loops",    "c",
                                         "cuda", "repro.c", "repro.cu", "json" };

struct show_opts {
    struct cmd_common common;
    const char *arg, *after;
    enum show_form form;
    const char *python; /* SHOW_PYTHON: which */
    bool gpu;           /* --target gpu */
};

static const struct argp_option options[] = {
    { "after", 'a', "PASS", 0, "loop IR after that pass (tilefuzz list passes)" },
    { "as", 'f', "FORM", 0,
      "trial (default), loops, c, cuda, repro.c, repro.cu, json; or a script for another "
      "compiler: numpy.py, tinygrad.py, torch.py, jax.py, onnx" },
    { "target", 't', "cpu|gpu", 0,
      "loops: kernels that no step binds as loops (default), or as blocks and threads too" },
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
        for (int i = 0; python_form(i); i++)
            if (!strcmp(arg, python_form(i))) {
                o->form = SHOW_PYTHON;
                o->python = python_form(i);
                return 0;
            }
        cmd_usage(state,
                  "--as: no form '%s'; forms are trial, loops, c, cuda, repro.c, repro.cu, "
                  "json, numpy.py, tinygrad.py, torch.py, jax.py, onnx",
                  arg);
    case 't':
        if (strcmp(arg, "cpu") && strcmp(arg, "gpu"))
            cmd_usage(state, "--target: no target '%s'; targets are cpu and gpu", arg);
        o->gpu = !strcmp(arg, "gpu");
        return 0;
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
    "Print a trial, its loop IR after any pass, its C text, a standalone repro, or a script "
    "for "
    "another compiler.\v"
    "A stored finding is shown with the fault under which it was found; --fault changes that.\n"
    "\n"
    "Examples:\n"
    "  tilefuzz show 3\n"
    "  tilefuzz show 3 --after fuse\n"
    "  tilefuzz show corpus/public/05-pad-then-reshape.trial --as c\n"
    "  tilefuzz show 3 --as repro.c > repro.c && cc repro.c -lm -o repro && ./repro\n"
    "  tilefuzz show 3 --as tinygrad.py > x.py && python3 x.py",
};

static int show_lowered(const struct show_opts *o, const struct subject *sub, struct arena *a,
                        struct str *s, struct err *e)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct emit_sites sites = { 0 };
    struct lprog *l;

    lo.fault = sub->fault;
    lo.target = o->gpu || o->form == SHOW_CUDA ? TARGET_GPU : TARGET_CPU;
    lo.bound = o->form != SHOW_C;
    if (o->after)
        lo.last_pass = pass_find(o->after);
    if (lower(sub->trial, &lo, a, &l, e))
        return e->code;
    if (o->form == SHOW_C)
        emit_c(l, s);
    else if (o->form == SHOW_CUDA)
        emit_cuda(l, s, &sites);
    else
        loop_print(l, s);
    return 0;
}

/* A GPU's repro needs its text even if the backends that found it are not here. */
static void take_gpu(struct check_opts *o)
{
    for (int i = 0; i < o->n_backend; i++)
        if (o->backend[i]->gpu)
            return;
    o->backend[o->n_backend++] = backend_find("simt");
}

static int show_repro(const struct show_opts *o, const struct subject *sub, struct arena *a,
                      struct str *s, struct err *e)
{
    bool cuda = o->form == SHOW_REPRO_CU;
    struct check_opts co;
    struct checker ck;
    struct check c;
    const char *fault = fault_info(sub->fault)->id;

    check_opts_default(&co);
    co.fault = sub->fault;
    if (args_finding(&co, &sub->finding, e))
        return e->code;
    args_gpu(&co, sub->trial);
    if (cuda)
        take_gpu(&co);
    if (checker_open(&ck, e))
        return e->code;
    if (check_trial(&ck, sub->trial, &co, &c, e) == 0)
        repro_text(sub->trial, &c, cuda,
                   arena_printf(a, "%s show %s --as %s --fault %s > %s", cmd_program, sub->name,
                                form_name[o->form], fault, form_name[o->form]),
                   s);
    checker_close(&ck);
    return e->code;
}

static int show_python(const struct show_opts *o, const struct subject *sub, struct arena *a,
                       struct str *s, struct err *e)
{
    struct str title = { 0 };
    int code;

    if (sub->id)
        str_add(&title, "%s of bug %lld (%s), ", o->python, (long long)sub->id,
                sub->finding.kind);
    else
        str_add(&title, "%s of ", o->python);
    str_add(&title, "%s", sub->id ? sub->finding.backend : sub->name);
    code = python_script(sub->trial, o->python, str_get(&title),
                         arena_printf(a, "%s show %s --as %s > x.py && python3 x.py",
                                      cmd_program, sub->name, o->python),
                         s, e);
    str_release(&title);
    return code;
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
    case SHOW_REPRO_CU:
        return show_repro(o, sub, a, s, e);
    case SHOW_PYTHON:
        return show_python(o, sub, a, s, e);
    case SHOW_CUDA:
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
            backend_label(f->backend).s, f->algebra, tier, f->fault);
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
