/* tilefuzz min: a smaller trial that fails for the same reason, and its repro.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "fuzz/args.h"
#include "fuzz/cmd.h"
#include "fuzz/describe.h"
#include "fuzz/explain/blackbox.h"
#include "fuzz/json.h"
#include "fuzz/min/min.h"
#include "fuzz/repro.h"
#include "fuzz/store/store.h"
#include "ir/text.h"

struct cmd_min_opts {
    struct cmd_common common;
    struct check_opts check;
    const char *arg, *dir;
    int budget;
};

enum { BUDGET_MAX = 1000000 };

static const struct argp_option options[] = {
    { NULL, 'o', "DIR", 0, "where NAME.min.trial and NAME.repro.c go (default reports)" },
    { "budget", 'b', "N", 0, "evaluations at most (default 2000)" },
    ARGS_BACKENDS,
    ARGS_JUDGE,
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cmd_min_opts *o = state->input;

    switch (key) {
    case 'o':
        o->dir = arg;
        return 0;
    case 'b':
        o->budget = (int)cmd_int(state, "--budget", arg, 1, BUDGET_MAX);
        return 0;
    default:
        if (args_check(key, arg, state, &o->check) == 0)
            return 0;
        return cmd_subject_arg(key, arg, state, &o->arg);
    }
}

static const struct argp argp = {
    options,
    parse,
    "FILE|ID",
    "Make a failing trial smaller while its cause stays the same; print it, and write it and a "
    "standalone repro.c. A bug of the database keeps the smaller trial.\v"
    "Examples:\n"
    "  tilefuzz min 3\n"
    "  tilefuzz min slow.trial --fault liveness_ignores_loops -o /tmp\n"
    "  tilefuzz min 3 --budget 10000",
};

/* DIR/NAME: the file's name without .trial, or bug-ID. */
static char *out_base(const struct cmd_min_opts *o, const struct subject *sub, struct arena *a)
{
    const char *slash = strrchr(sub->name, '/'), *name = slash ? slash + 1 : sub->name;
    size_t n = strlen(name);

    if (sub->id)
        return arena_printf(a, "%s/bug-%lld", o->dir, (long long)sub->id);
    if (!strcmp(name, "-"))
        return arena_printf(a, "%s/stdin", o->dir);
    if (n > 6 && !strcmp(name + n - 6, ".trial"))
        n -= 6;
    return arena_printf(a, "%s/%.*s", o->dir, (int)n, name);
}

struct job {
    const struct cmd_min_opts *o;
    struct subject sub;
    struct arena a;
    struct checker ck;
    struct check_opts co;
    struct check c;
    struct cause cause;
    struct min_result r;
    double spent_s;
    const char *trial_file, *repro_file;
};

static int write_files(struct job *j, struct err *e)
{
    char *base = out_base(j->o, &j->sub, &j->a);
    const char *fault = fault_info(j->co.fault)->id;
    bool gpu = j->r.cause.target != TARGET_CPU;
    bool ours = !blackbox_find(j->r.cause.backend); /* else there is no code to show */
    struct str s = { 0 };

    j->trial_file = arena_printf(&j->a, "%s.min.trial", base);
    if (ours)
        j->repro_file = arena_printf(&j->a, "%s.repro.%s", base, gpu ? "cu" : "c");
    if (mkdir(j->o->dir, 0777) && errno != EEXIST)
        return err_set(e, ERR_IO, "%s: cannot create: %s", j->o->dir, strerror(errno));
    if (check_trial(&j->ck, j->r.trial, &j->co, &j->c, e))
        return e->code;
    trial_print(j->r.trial, &s);
    if (file_write(j->trial_file, str_get(&s), e) == 0 && ours) {
        str_clear(&s);
        repro_text(j->r.trial, &j->c, gpu,
                   arena_printf(&j->a, "%s run %s%s --fault %s", cmd_program, j->trial_file,
                                gpu ? " --backends simt" : "", fault),
                   &s);
        file_write(j->repro_file, str_get(&s), e);
    }
    str_release(&s);
    return e->code;
}

/* The database keeps the smaller trial of a bug of its own, under the fault it was found with.
 */
static int store_smaller(struct job *j, struct err *e)
{
    const struct finding *was = &j->sub.finding;
    struct finding f = { .id = j->sub.id, .repro = was->repro };
    struct store *s;

    if (!j->sub.id || strcmp(was->fault, fault_info(j->co.fault)->id) != 0 || j->c.first < 0)
        return 0;
    finding_describe(&f, j->r.trial, &j->c.verdict[j->c.first], &j->r.cause, &j->a);
    if (!strcmp(was->text, f.text) || store_open(j->o->common.db, STORE_WRITE, &s, e))
        return e->code;
    if (!store_begin(s, e) && !store_bug_update(s, &f, e))
        store_commit(s, e);
    store_close(s);
    return e->code;
}

static void print_json(const struct job *j, bool right)
{
    const struct trial *t = right ? j->sub.trial : j->r.trial;
    json_t *o = json_object_schema();
    struct str text = { 0 };
    char cause[256];

    trial_print(t, &text);
    json_put(o, "id", j->sub.id ? json_integer(j->sub.id) : json_null());
    json_put(o, "nodes", json_integer(prog_count_nodes(&t->prog)));
    json_put(o, "steps", json_integer(t->n_step));
    json_put(o, "max_size", json_integer(prog_max_size(&t->prog)));
    json_put(o, "evaluations", json_integer(right ? 0 : j->r.evaluations));
    json_put(o, "cpu_s", json_real(j->spent_s));
    json_put(o, "trial", json_text(str_get(&text)));
    if (!right)
        cause_print(&j->r.cause, cause, sizeof cause);
    json_put(o, "cause", json_text(right ? NULL : cause));
    json_put(o, "verdict", json_text(verdict_name(j->c.kind)));
    json_put(o, "trial_file", json_text(j->trial_file));
    json_put(o, "repro_file", json_text(j->repro_file));
    json_print_line(o);
    str_release(&text);
}

static void print_text(const struct job *j)
{
    const struct prog *p = &j->r.trial->prog;
    struct str s = { 0 };

    trial_print(j->r.trial, &s);
    fputs(str_get(&s), stdout);
    fflush(stdout);
    fprintf(stderr,
            "%d nodes, %d steps, max_size %lld after %d evaluations in %.1f s; was %d, "
            "%d, %lld\n",
            prog_count_nodes(p), j->r.trial->n_step, (long long)prog_max_size(p),
            j->r.evaluations, j->spent_s, prog_count_nodes(&j->sub.trial->prog),
            j->sub.trial->n_step, (long long)prog_max_size(&j->sub.trial->prog));
    str_release(&s);
}

static int run(struct job *j, struct err *e)
{
    const struct min_opts mo = { .check = j->co, .budget = j->o->budget };
    double start = clock_cpu_s();

    if (check_trial(&j->ck, j->sub.trial, &j->co, &j->c, e))
        return e->code;
    if (!verdict_is_finding(j->c.kind)) {
        if (j->o->common.json)
            print_json(j, true);
        else
            printf("%s: %s: there is nothing to minimize%s\n", j->sub.name,
                   verdict_name(j->c.kind), subject_hint(&j->sub, &j->co.judge));
        return 0;
    }
    if (cause_find(&j->ck, j->sub.trial, &j->co, &j->c, &j->cause, e) ||
        minimize(&j->ck, j->sub.trial, &j->cause, &mo, &j->a, &j->r, e))
        return e->code;
    j->spent_s = clock_cpu_s() - start;
    /* the trial is shown even where it can't be written */
    if (!j->o->common.json)
        print_text(j);
    if (write_files(j, e) || store_smaller(j, e))
        return e->code;
    if (j->o->common.json)
        print_json(j, false);
    else
        fprintf(stderr, "wrote %s%s%s\n", j->trial_file, j->repro_file ? " and " : "",
                j->repro_file ? j->repro_file : "");
    return 0;
}

int cmd_min(int argc, char **argv)
{
    struct cmd_min_opts o = { .common = CMD_COMMON_DEFAULT, .dir = "reports", .budget = 2000 };
    struct job j = { .o = &o };
    struct err e = { 0 };

    check_opts_default(&o.check);
    cmd_parse(&argp, argc, argv, CMD_DB | CMD_JSON | CMD_FAULT, &o.common, &o);
    arena_init(&j.a);
    j.co = o.check;
    if (cmd_open(o.arg, &o.common, &j.a, &j.sub, &e) == 0 &&
        args_finding(&j.co, &j.sub.finding, &e) == 0) {
        j.co.fault = j.sub.fault;
        args_gpu(&j.co, j.sub.trial);
        if (checker_open(&j.ck, &e) == 0) {
            if (run(&j, &e) == ERR_ILLEGAL)
                snprintf(e.file, sizeof e.file, "%s", j.sub.name);
            checker_close(&j.ck);
        }
    }
    arena_release(&j.a);
    return e.code ? cmd_fail(&e) : CMD_CLEAN;
}
