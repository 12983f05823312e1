#include "fuzz/check/backend.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/check/digest.h"
#include "fuzz/check/twin.h"
#include "ir/contract.h"
#include "run/caps.h"

/* ring first: it has no tolerance, and names the guilty rewrite most sharply */
static const enum algebra order[] = { AL_RING, AL_IEEE };

static void differs(struct verdict *v, int k, int64_t at, size_t bytes)
{
    v->kind = VK_NONDETERMINISTIC;
    v->out = k;
    snprintf(v->detail, sizeof v->detail,
             "two runs with the same data differ: output %d, byte %lld of %zu", k,
             (long long)at, bytes);
}

/* Floats that are added atomically, or by somebody who says that his runs differ, are judged
 * again instead of being compared. */
static bool may_vary(const struct check_run *r, const struct prepared *p)
{
    return p->l->unordered || (r->b->caps && (r->b->caps->contract & CONTRACT_MAY_VARY));
}

/* The runs after the first: the same bits, and as well-behaved. */
static void run_again(const struct check_run *r, struct prepared *p, enum algebra al,
                      struct outcome *o, struct verdict *v, int64_t *clock)
{
    const void *const *copy = outputs_copy(r->t, o, &r->c->arena);

    for (int i = 1; i < r->b->runs && !verdict_is_finding(v->kind); i++) {
        checker_phase(r->c, PH_COMPARE, clock);
        r->c->stage->phase = PH_RUN;
        r->b->run(&r->c->env, p, al, o);
        r->c->stage->phase = PH_COMPARE;
        checker_phase(r->c, PH_RUN, clock);
        if (o->status != OUT_RAN || o->input_changed || o->margin_broken) {
            judge_compare(r->want[al], o, &r->judge, v);
            continue;
        }
        if (al == AL_IEEE && may_vary(r, p)) {
            judge_compare(r->want[al], o, &r->judge, v);
            continue;
        }
        for (int k = 0; k < o->n_out && !verdict_is_finding(v->kind); k++) {
            size_t bytes = output_bytes(r->t, k);

            int64_t at = judge_differs(r->t->prog.node[r->t->prog.out[k].node].dt, al, copy[k],
                                       o->out[k], bytes);

            if (at >= 0)
                differs(v, k, at, bytes);
        }
    }
}

static void run_algebra(const struct check_run *r, struct prepared *p, enum algebra al,
                        struct verdict *v)
{
    bool interp = !strcmp(r->b->group, "interp");
    struct outcome o = { .algebra = al };
    int64_t clock = checker_now();

    r->c->stage->algebra = (int)al;
    r->c->stage->phase = PH_RUN;
    r->b->run(&r->c->env, p, al, &o);
    r->c->stage->phase = PH_COMPARE;
    checker_phase(r->c, interp ? PH_INTERP : PH_RUN, &clock);
    judge_compare(r->want[al], &o, &r->judge, v);
    if (r->o->digest && o.status == OUT_RAN)
        v->digest = outputs_digest(r->t, &o);
    if (r->b->runs > 1 && o.status == OUT_RAN && !verdict_is_finding(v->kind))
        run_again(r, p, al, &o, v, &clock);
    v->algebra = al;
    v->backend = r->b->name;
    checker_phase(r->c, PH_COMPARE, &clock);
}

struct lprog *lprog_with_data(const struct lprog *lowered, const struct trial *data,
                              struct arena *a)
{
    struct lprog *l = arena_new(a, struct lprog);
    struct trial *t = arena_new(a, struct trial);

    *l = *lowered;
    *t = *lowered->trial;
    t->recipe = data->recipe;
    t->n_values = t->cap_values = data->n_values;
    t->values = arena_array(a, struct values, data->n_values + 1);
    for (int k = 0; k < data->n_values; k++) {
        const char *name = data->prog.node[data->values[k].node].name;

        t->values[k] = data->values[k];
        t->values[k].node = prog_find(&t->prog, name, strlen(name));
        if (t->values[k].node < 0)
            BUG("lowering lost input %s", name);
    }
    l->trial = t;
    return l;
}

/* The same code again, in ieee with a set of exact data. */
static void run_exact(const struct check_run *r, struct prepared *p, int set, struct verdict *v)
{
    static const struct judge_opts as_proven = { 0 };
    bool interp = !strcmp(r->b->group, "interp");
    struct outcome o = { .algebra = AL_IEEE };
    const struct lprog *l = p->l;
    int64_t clock = checker_now();

    p->l = lprog_with_data(r->l, r->exact[set]->t, &r->c->arena);
    r->c->stage->algebra = AL_IEEE;
    r->c->stage->phase = PH_RUN;
    r->b->run(&r->c->env, p, AL_IEEE, &o);
    p->l = l;
    r->c->stage->phase = PH_COMPARE;
    checker_phase(r->c, interp ? PH_INTERP : PH_RUN, &clock);
    judge_compare(r->exact[set]->want, &o, &as_proven, v);
    if (o.status == OUT_RAN)
        v->tier = "exact";
    if (r->o->digest && o.status == OUT_RAN)
        v->digest = outputs_digest(r->t, &o);
    v->exact = 1 + set;
    v->backend = r->b->name;
    checker_phase(r->c, PH_COMPARE, &clock);
}

static void run_exact_sets(const struct check_run *r, struct prepared *p, check_emit_fn *emit,
                           void *ctx)
{
    int sets = strcmp(r->b->group, "interp") != 0 ? EXACT_SETS : 1;
    struct verdict v;

    for (int set = 0; set < sets; set++) {
        if (!r->exact[set])
            continue;
        v = (struct verdict){ 0 };
        run_exact(r, p, set, &v);
        emit(ctx, &v);
        if (verdict_is_finding(v.kind))
            return;
    }
}

/* The backend did not get as far as running: one verdict, in the first algebra asked for. */
static void refused(const struct check_run *r, struct outcome *o, struct verdict *v)
{
    enum algebra al = r->want[AL_RING] ? AL_RING : AL_IEEE;

    o->algebra = al;
    judge_compare(r->want[al], o, &r->judge, v);
    v->algebra = al;
    v->backend = r->b->name;
}

/* Of a backend that compiles and runs nothing. */
static void built(const struct check_run *r, struct verdict *v)
{
    *v = (struct verdict){ .kind = VK_PASS,
                           .algebra = r->want[AL_RING] ? AL_RING : AL_IEEE,
                           .backend = r->b->name,
                           .tier = "",
                           .out = -1,
                           .detail = "compiled, not run" };
}

void check_backend(const struct check_run *r, check_emit_fn *emit, void *ctx)
{
    bool interp = !strcmp(r->b->group, "interp");
    struct prepared p = { .b = r->b, .sites = r->sites };
    struct outcome o = { 0 };
    struct verdict v = { 0 };
    int64_t clock = checker_now();
    bool failed = false;
    int bad;

    r->c->stage->algebra = r->want[AL_RING] ? AL_RING : AL_IEEE;
    r->c->stage->phase = PH_BUILD;
    bad = r->b->prepare(&r->c->env, r->l, r->text, &p, &o);
    checker_phase(r->c, interp ? PH_INTERP : PH_BUILD, &clock);
    if (bad) {
        refused(r, &o, &v);
        emit(ctx, &v);
        return;
    }
    if (r->b->builds_only) {
        built(r, &v);
        emit(ctx, &v);
        r->b->release(&p);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        enum algebra al = order[i];

        if (!r->want[al])
            continue;
        v = (struct verdict){ 0 };
        run_algebra(r, &p, al, &v);
        emit(ctx, &v);
        failed |= verdict_is_finding(v.kind);
        /* after an out-of-bounds access or a hang the other algebra only repeats it */
        if (verdict_is_finding(v.kind) && v.kind != VK_MISMATCH)
            break;
    }
    if (!failed)
        run_exact_sets(r, &p, emit, ctx);
    clock = checker_now();
    r->c->stage->phase = PH_BUILD;
    r->b->release(&p);
    checker_phase(r->c, interp ? PH_INTERP : PH_BUILD, &clock);
}
