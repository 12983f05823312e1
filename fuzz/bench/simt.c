/*
 * bench speed, the SIMT machine: what it makes of a tiled 64x64x64 matmul with all its checks,
 * built by tcc and by gcc with the hooks inlined, and how many trials with steps for GPUs it
 * takes. scripts/bench/oclgrind has Oclgrind run the same kernel.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/bench/simt.h"
#include "ir/text.h"
#include "run/simt/program.h"

enum { SIDE = 64, RUNS = 25, TRIALS = 150 };

static const char matmul[] = "tilefuzz 1\n"
                             "input a f32 [64,64]\n"
                             "input b f32 [64,64]\n"
                             "m = matmul a b\n"
                             "output m\n"
                             "schedule\n"
                             "tile m 64x64x16 threads=256\n"
                             "stage m.a m.r0.0\n"
                             "stage m.b m.r0.0\n"
                             "data seed=1 recipe=normal\n";

static struct lprog *lowered(struct arena *a)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct err e = { 0 };
    struct trial *t;
    struct lprog *l;

    o.target = TARGET_GPU;
    if (trial_parse(matmul, sizeof matmul - 1, a, &t, &e) || trial_check(t, &e) ||
        lower(t, &o, a, &l, &e))
        BUG("the matmul of bench speed: %s", e.msg);
    return l;
}

/* Seconds of the fastest of RUNS under one schedule. */
static double fastest(struct simt_work *w, struct run_env *env, void (*call)(int kernel),
                      int turn, struct simt_result *r)
{
    struct simt_opts so = simt_opts_of(1, turn);
    double best = 0;

    for (int i = 0; i < RUNS; i++) {
        struct err e = { 0 };
        struct simt_program p;
        const char *why;
        double start;

        if (run_place(env, w->l, AL_IEEE, &e))
            BUG("the matmul of bench speed: %s", e.msg);
        p = simt_work_program(w, env, call);
        start = clock_cpu_s();
        if (!simt_run(&p, &so, r, &why) || r->first.class)
            BUG("the matmul of bench speed: %s", r->first.class ? r->first.detail : why);
        start = clock_cpu_s() - start;
        if (!i || start < best)
            best = start;
    }
    return best;
}

/* Under the schedules that a trial is run under. */
static void measure(struct simt_work *w, struct run_env *env, const struct simt_built *b,
                    struct simt_rate *rate)
{
    void (*call)(int) = simt_built_entry(b, simt_work_entry(AL_IEEE));
    double ops = 0, s = 0;
    int runs = backend_find("simt")->runs;

    for (int turn = 0; turn < runs; turn++) {
        struct simt_result r;

        s += fastest(w, env, call, turn, &r);
        ops += (double)r.accesses + (double)SIDE * SIDE * SIDE;
    }
    rate->ms = 1e3 * s / runs;
    rate->ops_per_cpu_s = s > 0 ? ops / s : 0;
}

static void measure_builds(struct checker *c, struct simt_speed *out)
{
    struct simt_built *b;
    struct str log = { 0 };
    struct simt_work w;
    struct arena a;

    arena_init(&a);
    run_begin(&c->env);
    simt_work_make(&w, lowered(&a), NULL, NULL);
    b = simt_build_tcc(str_get(&w.text), false, &log);
    if (!b)
        BUG("the matmul of bench speed: %s", str_get(&log));
    measure(&w, &c->env, b, &out->tcc);
    simt_built_free(b);
    b = simt_build_gcc(str_get(&w.text), c->tick, &log);
    if (b)
        measure(&w, &c->env, b, &out->gcc);
    simt_built_free(b);
    simt_work_free(&w);
    str_release(&log);
    arena_release(&a);
    run_begin(&c->env);
}

/* All of a hunt, but on simt alone. */
static int hunt(const struct bench_opts *o, struct checker *c, struct simt_speed *out,
                struct err *e)
{
    static struct check result;
    struct check_opts check = o->check;
    struct gen_opts gen = o->gen;
    struct arena a, scratch;
    double start = clock_cpu_s();
    int bad = 0;

    check.backend[0] = backend_find("simt");
    check.n_backend = 1;
    gen.gpu_percent = 100;
    arena_init(&a);
    arena_init(&scratch);
    for (uint64_t i = 0; i < TRIALS && !bad; i++) {
        snprintf(bug_context, sizeof bug_context, "%" PRIu64 " of seed %" PRIu64 ", for simt",
                 i, o->seed);
        arena_reset(&a);
        bad = check_trial(c, gen_trial(o->seed, i, &gen, &a, &scratch), &check, &result, e);
        if (!bad && verdict_is_finding(result.kind))
            out->findings++;
    }
    out->trials_per_cpu_s = TRIALS / (clock_cpu_s() - start);
    arena_release(&a);
    arena_release(&scratch);
    return bad;
}

int bench_simt(const struct bench_opts *o, struct checker *c, struct simt_speed *out,
               struct err *e)
{
    int64_t phases[PH_COUNT];
    int bad;

    *out = (struct simt_speed){ 0 };
    memcpy(phases, c->phase_ns, sizeof phases);
    measure_builds(c, out);
    bad = hunt(o, c, out, e);
    memcpy(c->phase_ns, phases, sizeof phases); /* those are of the hunt before */
    return bad;
}
