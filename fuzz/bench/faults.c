/*
 * bench faults: every fault that can be switched on, seed after seed: after how many trials
 * it is found, how small the trial gets, and whether the right pass is blamed; and the alarms
 * over clean trials of the same seeds. Like the test of the faults, it compares with faults.def
 * and learns nothing from it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/bench/act.h"
#include "fuzz/json.h"
#include "fuzz/min/min.h"

enum { BUDGET = 2000, SEEDS_MAX = 1000, CLEAN_TRIALS = 1000 };

/* What was seen of one fault; counts of seeds but for the first four. */
struct score {
    int64_t activated; /* trials up to the findings in which outputs change */
    int nodes;         /* of the largest minimized trial */
    double trials[SEEDS_MAX], cpu_s[SEEDS_MAX]; /* of the seeds that found it */
    int found, minimized, class_ok, pass_ok, step_ok;
};

struct bench {
    const struct bench_opts *o;
    struct bench_opts now; /* the same for the fault at hand */
    struct act act;
    struct checker ck;
    struct check c;
    struct arena trial, scratch, out;
    int64_t clean_trials, false_alarms;
    struct score score[FAULT_COUNT];
};

/* The class that a fault of a stage must be given; NULL = no stage says it. */
static const char *class_of(const char *stage)
{
    if (!strcmp(stage, "plan"))
        return "alias";
    if (!strcmp(stage, "sync"))
        return "race";
    return strcmp(stage, "emit") ? NULL : "emit";
}

static const struct trial *draw(struct bench *b, const struct gen_opts *gen, uint64_t seed,
                                uint64_t number)
{
    snprintf(bug_context, sizeof bug_context, "%" PRIu64 " of seed %" PRIu64, number, seed);
    arena_reset(&b->trial);
    return gen_trial(seed, number, gen, &b->trial, &b->scratch);
}

static bool fails(struct bench *b, const struct trial *t, const struct check_opts *o)
{
    struct err e = { 0 };

    if (check_trial(&b->ck, t, o, &b->c, &e))
        BUG("a generated trial is illegal: line %d: %s", e.line, e.msg);
    return verdict_is_finding(b->c.kind);
}

static void hunt_clean(struct bench *b, uint64_t seed)
{
    struct check_opts o = b->o->check;
    uint64_t n = b->o->trials < CLEAN_TRIALS ? b->o->trials : CLEAN_TRIALS;

    o.fault = FAULT_none;
    for (uint64_t i = 0; i < n; i++) {
        b->clean_trials++;
        b->false_alarms += fails(b, draw(b, &b->o->gen, seed, i), &o);
    }
}

/* The first trial of the seed that fails under the fault; NULL = none. */
static const struct trial *hunt(struct bench *b, uint64_t seed, const struct check_opts *o,
                                struct score *s)
{
    double cpu_s = 0;

    for (uint64_t i = 0; i < b->o->trials; i++) {
        double start;
        const struct trial *t;
        bool found;

        act_draw(&b->act, &b->now, seed, i);
        s->activated += b->now.gen.gpu_percent ? act_text_differs(&b->act, o->fault)
                                               : act_run_fault(&b->act, o->fault);
        start = clock_cpu_s();
        t = draw(b, &b->now.gen, seed, i);
        found = fails(b, t, o);
        cpu_s += clock_cpu_s() - start;
        if (!found)
            continue;
        s->trials[s->found] = (double)(i + 1);
        s->cpu_s[s->found++] = cpu_s;
        return t;
    }
    return NULL;
}

/* Does such a step ask for this pass, or for what the pass works on? */
static bool step_asks(enum step_kind kind, const char *pass)
{
    static const struct {
        enum step_kind kind;
        const char *pass[4];
    } more[] = {
        { STEP_STAGE, { "ring", "wide", "smem", "sync" } },
        { STEP_TILE, { "mma", "sync" } },
        { STEP_BIND, { "reduce", "smem", "sync" } },
        { STEP_EPILOGUE, { "smem", "sync" } },
        { STEP_SPLITK, { "semaphore", "sync" } },
    };

    if (!strcmp(step_info(kind)->pass, pass))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        for (int k = 0; k < 4 && more[i].kind == kind && more[i].pass[k]; k++)
            if (!strcmp(more[i].pass[k], pass))
                return true;
    return false;
}

/* Did the schedule line that is blamed ask for this pass? Not all rewrites have one. */
static bool step_fits(const struct trial *t, const struct cause *c)
{
    return c->step < 0 || (c->step < t->n_step && step_asks(t->step[c->step].kind, c->pass));
}

static void try_seed(struct bench *b, uint64_t seed, enum fault f)
{
    const struct fault_info *info = fault_info(f);
    const char *class = class_of(info->stage);
    struct min_opts mo = { .check = b->now.check, .budget = BUDGET };
    struct score *s = &b->score[f];
    struct min_result r = { 0 };
    struct cause cause;
    struct err e = { 0 };
    const struct trial *t;
    int nodes;

    mo.check.fault = f;
    t = hunt(b, seed, &mo.check, s);
    if (!t)
        return;
    arena_reset(&b->out);
    mo.check.isolate = strcmp(b->c.verdict[b->c.first].backend, "interp") != 0;
    if (cause_find(&b->ck, t, &mo.check, &b->c, &cause, &e) ||
        minimize(&b->ck, t, &cause, &mo, &b->out, &r, &e))
        return;
    nodes = prog_count_nodes(&r.trial->prog);
    s->minimized++;
    s->nodes = s->nodes < nodes ? nodes : s->nodes;
    s->pass_ok += !strcmp(r.cause.pass, info->stage);
    s->step_ok += step_fits(r.trial, &r.cause);
    s->class_ok += class && r.cause.class && !strcmp(r.cause.class, class);
}

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_size);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static json_t *json_score(struct bench *b, enum fault f)
{
    const struct fault_info *info = fault_info(f);
    struct score *s = &b->score[f];
    json_t *j = json_object();

    json_put(j, "id", json_text(info->id));
    json_put(j, "stage", json_text(info->stage));
    json_put(j, "found", json_integer(s->found));
    json_put(j, "seeds", json_integer((json_int_t)b->o->seeds));
    json_put(j, "trials_median",
             s->found ? json_real(median(s->trials, s->found)) : json_null());
    json_put(j, "cpu_s_median", s->found ? json_real(median(s->cpu_s, s->found)) : json_null());
    json_put(j, "nodes", s->minimized ? json_integer(s->nodes) : json_null());
    json_put(j, "class_ok", class_of(info->stage) ? json_integer(s->class_ok) : json_null());
    json_put(j, "pass_ok", json_integer(s->pass_ok));
    json_put(j, "step_ok", json_integer(s->step_ok));
    json_put(j, "activated", json_integer(s->activated));
    return j;
}

static void print_json(struct bench *b)
{
    json_t *j = json_object_schema(), *faults = json_array();

    json_put(j, "clean_trials", json_integer(b->clean_trials));
    json_put(j, "false_alarms", json_integer(b->false_alarms));
    for (int f = FAULT_none + 1; f < FAULT_COUNT; f++)
        if (bench_wants(b->o, (enum fault)f))
            json_array_append_new(faults, json_score(b, (enum fault)f));
    json_put(j, "faults", faults);
    json_print_line(j);
}

static void print_score(struct bench *b, enum fault f)
{
    const struct fault_info *info = fault_info(f);
    struct score *s = &b->score[f];
    char class[16] = "-";

    if (class_of(info->stage))
        snprintf(class, sizeof class, "%d", s->class_ok);
    if (s->found)
        printf("%-30s %-9s %5d %6.0f %6.2f %5d %5s %4d %4d %9" PRId64 "\n", info->id,
               info->stage, s->found, median(s->trials, s->found), median(s->cpu_s, s->found),
               s->nodes, class, s->pass_ok, s->step_ok, s->activated);
    else
        printf("%-30s %-9s %5d %6s %6s %5s %5s %4s %4s %9" PRId64 "\n", info->id, info->stage,
               0, "-", "-", "-", "-", "-", "-", s->activated);
    fflush(stdout);
}

/* Options that the user gave stay. */
static void one_fault(struct bench *b, enum fault f)
{
    b->now = *b->o;
    if (!b->o->check.chosen && !b->o->gen.gpu_percent)
        bench_hunt_for(f, &b->now.gen, &b->now.check);
    for (uint64_t i = 0; i < b->o->seeds; i++)
        try_seed(b, b->o->seed + i, f);
    if (!b->o->json)
        print_score(b, f);
}

int bench_faults(const struct bench_opts *o, struct err *e)
{
    static struct bench b;

    b.o = o;
    if (checker_open(&b.ck, e) || act_open(&b.act, e))
        return 0;
    arena_init(&b.trial);
    arena_init(&b.scratch);
    arena_init(&b.out);
    for (uint64_t i = 0; i < o->seeds; i++)
        hunt_clean(&b, o->seed + i);
    if (!o->json)
        printf("%" PRId64 " clean trials, %" PRId64 " false alarms; %" PRIu64
               " seeds, up to %" PRIu64
               " trials each\n\n%-30s %-9s %5s %6s %6s %5s %5s %4s %4s %9s\n",
               b.clean_trials, b.false_alarms, o->seeds, o->trials, "fault", "stage", "found",
               "trials", "cpu s", "nodes", "class", "pass", "step", "activated");
    for (int f = FAULT_none + 1; f < FAULT_COUNT; f++)
        if (bench_wants(o, (enum fault)f))
            one_fault(&b, (enum fault)f);
    if (o->json)
        print_json(&b);
    arena_release(&b.trial);
    arena_release(&b.scratch);
    arena_release(&b.out);
    act_close(&b.act);
    checker_close(&b.ck);
    return (int)b.false_alarms;
}
