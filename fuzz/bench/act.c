#include "fuzz/bench/act.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "emit/emit.h"
#include "fuzz/check/backend.h"
#include "fuzz/check/twin.h"

int act_open(struct act *a, struct err *e)
{
    *a = (struct act){ 0 };
    if (checker_open(&a->ck, e))
        return e->code;
    arena_init(&a->trial);
    arena_init(&a->scratch);
    arena_init(&a->keep);
    arena_init(&a->fault);
    return 0;
}

void act_close(struct act *a)
{
    arena_release(&a->trial);
    arena_release(&a->scratch);
    arena_release(&a->keep);
    arena_release(&a->fault);
    checker_close(&a->ck);
}

static void make(struct act_runs *r, const struct trial *t, enum fault f, struct arena *a)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct str s = { 0 };
    struct lprog *l;
    struct err e = { 0 };

    *r = (struct act_runs){ 0 };
    lo.fault = f;
    if (lower(t, &lo, a, &l, &e))
        BUG("a generated trial is illegal: line %d: %s", e.line, e.msg);
    emit_c(l, &s);
    r->l = l;
    r->text = str_keep(&s, a);
}

static const char *loops_of(struct act_runs *r, struct arena *a)
{
    struct str s = { 0 };

    if (!r->loops) {
        loop_print(r->l, &s);
        r->loops = str_keep(&s, a);
    }
    return r->loops;
}

static bool has_data(const struct act *a, int data)
{
    return data < ACT_EXACT || a->exact[data - ACT_EXACT];
}

/* All data of the trial through one program. */
static void run_all(struct act *a, const struct backend *b, struct act_runs *r,
                    struct arena *arena)
{
    struct prepared p = { 0 };
    struct outcome o = { 0 };

    run_begin(&a->ck.env);
    r->stopped = b->prepare(&a->ck.env, r->l, r->text, &p, &o) != 0;
    if (r->stopped)
        return;
    for (int data = 0; data < ACT_DATA && !r->stopped; data++) {
        if (!has_data(a, data))
            continue;
        p.l = data < ACT_EXACT ? r->l
                               : lprog_with_data(r->l, a->exact[data - ACT_EXACT]->t, arena);
        b->run(&a->ck.env, &p, data == ACT_RING ? AL_RING : AL_IEEE, &o);
        r->stopped = o.status != OUT_RAN;
        if (r->stopped)
            break;
        r->o[data] = o;
        r->o[data].out = outputs_copy(a->t, &o, arena);
    }
    p.l = r->l;
    b->release(&p);
}

void act_draw(struct act *a, const struct bench_opts *o, uint64_t seed, uint64_t number)
{
    snprintf(bug_context, sizeof bug_context, "%" PRIu64 " of seed %" PRIu64, number, seed);
    arena_reset(&a->trial);
    arena_reset(&a->keep);
    a->t = gen_trial(seed, number, &o->gen, &a->trial, &a->scratch);
    a->ran = a->ran_tcc = false;
    a->twin = NULL;
    make(&a->clean, a->t, FAULT_none, &a->keep);
}

bool act_run_clean(struct act *a)
{
    const char *why;

    if (!a->ran) {
        for (int al = 0; al < AL_COUNT; al++)
            a->want[al] = judge_want(a->t, (enum algebra)al, &a->keep);
        for (int set = 0; set < EXACT_SETS; set++)
            a->exact[set] =
                set < CHECK_EXACT_SETS ? exact_make(a->t, set, &a->keep, &why) : NULL;
        run_all(a, backend_find("interp"), &a->clean, &a->keep);
        a->ran = true;
    }
    return !a->clean.stopped;
}

static bool same_outputs(const struct act *a, const struct outcome *x, const struct outcome *y)
{
    if (x->input_changed != y->input_changed || x->margin_broken != y->margin_broken)
        return false;
    for (int k = 0; k < x->n_out; k++)
        if (!judge_same(x->out[k], y->out[k], output_bytes(a->t, k)))
            return false;
    return true;
}

bool act_differs(const struct act *a, int data)
{
    return has_data(a, data) && !same_outputs(a, &a->healthy->o[data], &a->bad.o[data]);
}

/* Only the text differs: what runs must be compiled from it. */
static bool run_text(struct act *a)
{
    const struct backend *tcc = backend_find("tcc");

    if (!a->ran_tcc) {
        a->clean_tcc = a->clean;
        run_all(a, tcc, &a->clean_tcc, &a->keep);
        a->ran_tcc = true;
    }
    run_all(a, tcc, &a->bad, &a->fault);
    return !a->clean_tcc.stopped;
}

bool act_run_fault(struct act *a, enum fault f)
{
    bool text_only;

    arena_reset(&a->fault);
    make(&a->bad, a->t, f, &a->fault);
    if (!strcmp(a->bad.text, a->clean.text) || !act_run_clean(a))
        return false;
    text_only = !strcmp(loops_of(&a->bad, &a->fault), loops_of(&a->clean, &a->keep));
    a->healthy = text_only ? &a->clean_tcc : &a->clean;
    if (!text_only) {
        run_all(a, backend_find("interp"), &a->bad, &a->fault);
    } else if (!run_text(a)) {
        return false;
    }
    if (a->bad.stopped)
        return true;
    for (int data = 0; data < ACT_DATA; data++)
        if (act_differs(a, data))
            return true;
    return false;
}

static const char *cuda_of(const struct act *a, enum fault f, struct arena *arena)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct emit_sites sites = { 0 };
    struct str s = { 0 };
    struct lprog *l;
    struct err e = { 0 };

    lo.fault = f;
    lo.target = TARGET_GPU;
    if (lower(a->t, &lo, arena, &l, &e))
        BUG("a generated trial is illegal: line %d: %s", e.line, e.msg);
    emit_cuda(l, &s, &sites);
    return str_keep(&s, arena);
}

bool act_text_differs(struct act *a, enum fault f)
{
    arena_reset(&a->fault);
    return strcmp(cuda_of(a, f, &a->fault), cuda_of(a, FAULT_none, &a->fault)) != 0;
}
