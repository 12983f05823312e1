#include "fuzz/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/cmd.h"
#include "ir/half.h"
#include "judge/rules.h"

/* Calls each for every name of "a,b,c". */
static void each_name(const char *list, void (*each)(void *ctx, const char *name), void *ctx)
{
    char name[4096];

    while (*list) {
        size_t n = strcspn(list, ",");

        snprintf(name, sizeof name, "%.*s", (int)n, list);
        if (n)
            each(ctx, name);
        list += n + (list[n] == ',');
    }
}

struct names {
    const struct argp_state *state;
    struct check_opts *o;
};

static bool has_backend(const struct check_opts *o, const struct backend *b)
{
    for (int i = 0; i < o->n_backend; i++)
        if (o->backend[i] == b)
            return true;
    return false;
}

static void add_one(const struct names *n, const struct backend *b)
{
    if (has_backend(n->o, b))
        return;
    if (n->o->n_backend == CHECK_MAX_BACKENDS)
        cmd_usage(n->state, "more than %d backends", CHECK_MAX_BACKENDS);
    n->o->backend[n->o->n_backend++] = b;
}

static bool is_foreign(const char *name)
{
    return !strncmp(name, "plugin:", 7) || !strncmp(name, "exec:", 5);
}

/* Runs the user's own code: only names of the command line come here. */
static void add_foreign(const struct names *n, const char *name)
{
    struct err why = { 0 };
    const struct backend *b = backend_open(name, &why);

    if (b) {
        add_one(n, b);
        return;
    }
    if (why.code == ERR_USAGE)
        cmd_usage(n->state, "%s", why.msg);
    fprintf(stderr, "%s: backend %s is not here: %s\n", n->state->name, name, why.msg);
    exit(CMD_CANNOT);
}

/* The rows that a name means: the one that is called so, else all of a group that are here. */
static void add_backend(void *ctx, const char *name)
{
    const struct names *n = ctx;
    const struct backend *exact = backend_find(name);
    struct err why = { 0 };
    int meant = 0, here = 0;

    if (is_foreign(name)) {
        add_foreign(n, name);
        return;
    }
    for (int i = 0; i < n_backends; i++) {
        if (exact ? backends[i] != exact : !backend_named(backends[i], name))
            continue;
        meant++;
        if (!backend_available(backends[i], &why))
            continue;
        here++;
        add_one(n, backends[i]);
    }
    if (!meant)
        cmd_usage(n->state, "no backend '%s'; see tilefuzz list backends", name);
    if (!here) {
        fprintf(stderr, "%s: backend %s is not here: %s\n", n->state->name, name, why.msg);
        exit(CMD_CANNOT);
    }
}

int args_finding(struct check_opts *o, const struct finding *f, struct err *e)
{
    const struct backend *b = f->backend ? backend_find(f->backend) : NULL;
    struct err why = { 0 };

    if (!b && f->backend && !o->chosen && is_foreign(f->backend))
        return err_set(e, ERR_MISSING,
                       "it was found on %s, which is code of others: name it with --backends",
                       f->backend);
    if (!b || o->chosen || has_backend(o, b) || o->n_backend == CHECK_MAX_BACKENDS)
        return 0;
    if (!backend_available(b, &why))
        return err_set(e, ERR_MISSING, "it was found on %s, which is not here: %s", b->name,
                       why.msg);
    o->backend[o->n_backend++] = b;
    return 0;
}

void args_gpu(struct check_opts *o, const struct trial *t)
{
    const struct backend *b = backend_find("simt");
    bool gpu = false;

    for (int i = 0; i < t->n_step; i++)
        gpu |= step_is_gpu(&t->step[i]);
    if (gpu && b && !o->chosen && !has_backend(o, b) && o->n_backend < CHECK_MAX_BACKENDS)
        o->backend[o->n_backend++] = b;
}

static void add_algebra(void *ctx, const char *name)
{
    const struct names *n = ctx;
    int al = 0;

    while (al < AL_COUNT && strcmp(name, algebra_name((enum algebra)al)) != 0)
        al++;
    if (al == AL_COUNT)
        cmd_usage(n->state, "no algebra '%s'; there are ring and ieee", name);
    n->o->algebra[al] = true;
}

/* The rule of others looks at ieee only. */
static void narrow(const struct argp_state *state, struct check_opts *o)
{
    if (!o->judge.peer)
        return;
    if (!o->algebra[AL_IEEE])
        cmd_usage(state, "judge %s looks at algebra ieee only", o->judge.peer->name);
    o->algebra[AL_RING] = false;
}

static void set_judge(const struct argp_state *state, struct check_opts *o, const char *name)
{
    const struct judge_rule *r = judge_rule_find(name);

    if (!r)
        cmd_usage(state, "no judge '%s'; see tilefuzz list judges", name);
    o->judge.tolerance = r->kind == JUDGE_GIVEN;
    o->judge.peer = r->kind == JUDGE_PEER ? r : NULL;
    narrow(state, o);
}

static void by_tolerance(const struct argp_state *state, struct check_opts *o)
{
    if (o->judge.peer)
        cmd_usage(state, "judge %s has its own rtol and atol", o->judge.peer->name);
    o->judge.tolerance = true;
}

error_t args_check(int key, char *arg, struct argp_state *state, struct check_opts *o)
{
    struct names n = { .state = state, .o = o };

    switch (key) {
    case ARG_BACKENDS:
        o->n_backend = 0;
        o->chosen = true;
        each_name(arg, add_backend, &n);
        if (!o->n_backend)
            cmd_usage(state, "--backends: which? see tilefuzz list backends");
        return 0;
    case ARG_ALGEBRA:
        memset(o->algebra, 0, sizeof o->algebra);
        each_name(arg, add_algebra, &n);
        if (!o->algebra[AL_RING] && !o->algebra[AL_IEEE])
            cmd_usage(state, "--algebra: ring, ieee or both");
        narrow(state, o);
        return 0;
    case ARG_JUDGE:
        set_judge(state, o, arg);
        return 0;
    case ARG_RTOL:
        o->judge.rtol = cmd_real(state, "--rtol", arg);
        by_tolerance(state, o);
        return 0;
    case ARG_ATOL:
        o->judge.atol = cmd_real(state, "--atol", arg);
        by_tolerance(state, o);
        return 0;
    case ARG_EXACT:
        o->exact_sets = (int)cmd_int(state, "--exact-sets", arg, 0, EXACT_SETS);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void args_word(struct str *s, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./=,:+%@";

    if (*word && word[strspn(word, plain)] == '\0') {
        str_add(s, " %s", word);
        return;
    }
    str_puts(s, " '");
    for (; *word; word++)
        str_add(s, *word == '\'' ? "'\\''" : "%c", *word);
    str_puts(s, "'");
}

void args_check_print(const struct check_opts *o, struct str *s)
{
    struct check_opts def;
    struct str list = { 0 };
    bool same;

    check_opts_default(&def);
    same = o->n_backend == def.n_backend;
    for (int i = 0; same && i < o->n_backend; i++)
        same = o->backend[i] == def.backend[i];
    for (int i = 0; !same && i < o->n_backend; i++)
        str_add(&list, "%s%s", i ? "," : "", o->backend[i]->name);
    if (list.n) {
        str_puts(s, " --backends");
        args_word(s, str_get(&list));
    }
    str_release(&list);
    if (o->exact_sets != def.exact_sets)
        str_add(s, " --exact-sets %d", o->exact_sets);
    if (o->judge.peer)
        str_add(s, " --judge %s", o->judge.peer->name);
    if (!o->judge.tolerance)
        return;
    str_puts(s, " --rtol ");
    float_print(DT_F64, o->judge.rtol, s);
    str_puts(s, " --atol ");
    float_print(DT_F64, o->judge.atol, s);
}
