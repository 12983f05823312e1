/*
 * bench judge: the same clean trials and the same faults before every judge. A trial in which
 * a fault changes no bit of an output, with any of its data, is nobody's to find.
 *
 * Ours sees what a hunt sees: ring, the proven bound, sets of exact data. The others see the
 * trial's own data in ieee. Margins, gaps and inputs are checked for all of them.
 */

#include "fuzz/bench/judge.h"
#include "fuzz/bench/act.h"
#include "fuzz/check/twin.h"

struct bench {
    const struct bench_opts *o;
    struct act act;
    struct head_to_head h;
};

static bool wrong(const struct want *w, const struct outcome *o, const struct judge_opts *jo)
{
    struct verdict v = { 0 };

    judge_compare(w, o, jo, &v);
    return verdict_is_finding(v.kind);
}

static bool we_find(const struct act *a, const struct act_runs *r)
{
    static const struct judge_opts proven = { 0 };

    if (wrong(a->want[AL_RING], &r->o[ACT_RING], &proven) ||
        wrong(a->want[AL_IEEE], &r->o[ACT_IEEE], &proven))
        return true;
    for (int set = 0; set < EXACT_SETS; set++)
        if (a->exact[set] && wrong(a->exact[set]->want, &r->o[ACT_EXACT + set], &proven))
            return true;
    return false;
}

/* Does judge j find the runs wrong? */
static bool finds(struct bench *b, const struct judge_rule *j, const struct act_runs *r)
{
    struct act *a = &b->act;
    struct judge_opts jo = { .peer = j };
    struct check_opts co = b->o->check;

    if (j->kind == JUDGE_PROVEN)
        return we_find(a, r);
    if (judge_needs_twin(&jo) && !a->twin) {
        co.judge = jo;
        a->twin = twin_judge(&a->ck, a->t, &co, &a->keep).twin;
    }
    jo.twin = a->twin;
    return wrong(a->want[AL_IEEE], &r->o[ACT_IEEE], &jo);
}

static void try_clean(struct bench *b)
{
    b->h.clean_trials++;
    for (int j = 0; j < b->h.n_judge; j++)
        b->h.false_alarms[j] += finds(b, b->h.judge[j], &b->act.clean);
}

static void try_fault(struct bench *b, enum fault f)
{
    struct tally *t = &b->h.fault[f];
    bool ieee;

    if (!act_run_fault(&b->act, f))
        return;
    if (b->act.bad.stopped) {
        t->stopped++;
        return;
    }
    ieee = act_differs(&b->act, ACT_IEEE);
    t->activated++;
    t->ieee += ieee;
    for (int j = 0; j < b->h.n_judge; j++) {
        bool found = finds(b, b->h.judge[j], &b->act.bad);

        t->found[j] += found;
        t->found_ieee[j] += found && ieee;
    }
}

int bench_judge(const struct bench_opts *o, struct err *e)
{
    static struct bench b;
    double start = clock_cpu_s();

    b = (struct bench){ .o = o };
    for (int j = 0; j < n_judge_rules && b.h.n_judge < JUDGES_MAX; j++)
        if (judge_rules[j].kind != JUDGE_GIVEN)
            b.h.judge[b.h.n_judge++] = &judge_rules[j];
    if (act_open(&b.act, e))
        return 0;
    for (uint64_t seed = o->seed; seed < o->seed + o->seeds; seed++)
        for (uint64_t i = 0; i < o->trials; i++) {
            act_draw(&b.act, o, seed, i);
            if (!act_run_clean(&b.act))
                continue;
            try_clean(&b);
            for (int f = FAULT_none + 1; f < FAULT_COUNT; f++)
                if (bench_wants(o, (enum fault)f))
                    try_fault(&b, (enum fault)f);
        }
    act_close(&b.act);
    b.h.cpu_s = clock_cpu_s() - start;
    if (o->json)
        head_to_head_json(&b.h, o);
    else
        head_to_head_print(&b.h, o);
    return (int)b.h.false_alarms[0];
}
