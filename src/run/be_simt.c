/*
 * simt: the CUDA text on a machine that is simulated thread by thread, under another schedule
 * each time: first in order, then in reverse with copies that take their time, then as drawn
 * from the trial's seed. One run tells most of what is wrong, whatever its order; the others
 * are for values, and for ways that only another order takes.
 */
#include <libtcc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/clock.h"
#include "run/run.h"
#include "run/simt/program.h"

enum { DRAWN = 2 }; /* from this turn on everything is drawn */

struct state {
    struct simt_work work;
    struct simt_built *built, *traced; /* traced: made when there is something to explain */
    int turn[AL_COUNT];
    bool tried;    /* to build for many runs */
    int64_t spent; /* CPU time of runs so far, ns */
};

/* What gcc takes for a text: who has run it for as long will go on, by the rule of those who
 * rent skis. */
static const int64_t gcc_ns = 150000000;

static void build_better(struct run_env *env, struct state *s)
{
    struct str log = { 0 };
    struct simt_built *b;

    s->tried = true;
    b = simt_build_gcc(str_get(&s->work.text), env->tick, &log);
    str_release(&log);
    if (!b)
        return; /* no gcc here: what there is will do */
    simt_built_free(s->built);
    s->built = b;
}

static int simt_prepare(struct run_env *env, const struct lprog *l, const char *text,
                        struct prepared *p, struct outcome *o)
{
    struct state *s = must(calloc(1, sizeof *s));
    struct str log = { 0 };

    (void)env;
    simt_work_make(&s->work, l, text, p->sites);
    s->built = simt_build_tcc(str_get(&s->work.text), false, &log);
    *p = (struct prepared){ .l = l, .text = text, .state = s };
    if (!s->built) {
        *o = (struct outcome){ 0 };
        outcome_say(o, OUT_BUILD_FAILED, str_get(&log));
        simt_work_free(&s->work);
        free(s);
        p->state = NULL;
    }
    str_release(&log);
    return !p->state;
}

/* The same run once more, for the loops round the accesses of its report. */
static bool explain(struct run_env *env, struct state *s, enum algebra al,
                    const struct simt_opts *so, struct simt_result *r, struct simt_trace *trace)
{
    struct str log = { 0 };
    struct simt_program p;
    struct outcome o;
    const char *why;

    if (!s->traced)
        s->traced = simt_build_tcc(str_get(&s->work.text), true, &log);
    str_release(&log);
    if (!s->traced || !run_placed(env, s->work.l, al, &o))
        return false;
    p = simt_work_program(&s->work, env, simt_built_entry(s->traced, simt_work_entry(al)));
    return simt_run_traced(&p, so, r, trace, &why);
}

/* A schedule that lets wrong values come of a race: every other one interrupts threads at every
 * access, and copies take from a few accesses to a thousand times as long. */
static struct simt_opts for_values(uint64_t schedule)
{
    struct simt_opts so = simt_opts_of(schedule, DRAWN);

    so.report = false;
    so.latency = 3 + (int)(schedule / 2 % 12);
    if (schedule % 2)
        so.policy = SIMT_TURNS;
    return so;
}

static void simt_run_prepared(struct run_env *env, struct prepared *prepared, enum algebra al,
                              struct outcome *o)
{
    struct state *s = prepared->state;
    struct simt_opts so = simt_opts_of(prepared->l->trial->seed, s->turn[al]++);
    struct simt_trace trace;
    struct simt_result r;
    struct simt_program p;
    const char *why;
    bool explained, ran;
    int64_t start;

    if (env->schedule)
        so = for_values(env->schedule);
    if (!run_placed(env, prepared->l, al, o))
        return;
    if (s->spent > gcc_ns && !s->tried)
        build_better(env, s);
    p = simt_work_program(&s->work, env, simt_built_entry(s->built, simt_work_entry(al)));
    start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    ran = simt_run(&p, &so, &r, &why);
    s->spent += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
    if (!ran) {
        outcome_say(o, OUT_UNSUPPORTED, why);
        return;
    }
    explained = r.first.class && explain(env, s, al, &so, &r, &trace);
    run_collect(env, prepared->l, al, o);
    simt_work_outcome(&s->work, &r, explained ? &trace : NULL, o);
}

static void simt_release(struct prepared *p)
{
    struct state *s = p->state;

    if (!s)
        return;
    simt_built_free(s->built);
    simt_built_free(s->traced);
    simt_work_free(&s->work);
    free(s);
    p->state = NULL;
}

static const char *simt_version(void)
{
    return "1";
}

const struct backend be_simt = {
    .name = "simt",
    .help =
        "runs the emitted CUDA thread by thread and reports races, stale and unwritten reads",
    .group = "simt",
    .runs = 3,
    .version = simt_version,
    .prepare = simt_prepare,
    .run = simt_run_prepared,
    .release = simt_release,
    .gpu = true,
};
