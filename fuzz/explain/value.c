/*
 * A race as a number: under which schedule of the SIMT machine what is computed is wrong, and
 * that the same schedule gives the same bits again. Most races have one among the first few;
 * that none is found proves nothing.
 */

#include "base/str.h"
#include "fuzz/check/twin.h"
#include "fuzz/describe.h"
#include "fuzz/explain/explain.h"
#include "fuzz/explain/probe.h"
#include "fuzz/explain/race.h"

enum { SCHEDULES = 64 };

struct value_search {
    struct probe *p;
    struct prepared prep;
    const struct backend *b;
    struct verdict v;
};

/* One run under a schedule, judged. */
static struct outcome run_under(struct value_search *s, int schedule)
{
    struct run_env *env = &s->p->ck->env;
    struct outcome o = { .algebra = s->p->al };

    env->schedule = (uint64_t)schedule;
    s->b->run(env, &s->prep, s->p->al, &o);
    env->schedule = 0;
    s->v = (struct verdict){ 0 };
    judge_compare(s->p->want, &o, &s->p->judge, &s->v);
    return o;
}

/* The same bits once more? */
static bool runs_again(struct value_search *s, const struct outcome *first, int schedule,
                       struct arena *a)
{
    const void *const *copy = outputs_copy(s->p->t, first, a);
    struct verdict v = s->v;
    struct outcome o = run_under(s, schedule);
    bool same = o.status == OUT_RAN && o.n_out == first->n_out;

    for (int k = 0; same && k < o.n_out; k++)
        same = judge_same(copy[k], o.out[k], output_bytes(s->p->t, k));
    s->v = v;
    return same;
}

/* The first of schedules 1 .. n that gives wrong values, 0 = none; it is the last that ran. */
static int search(struct value_search *s, int n, struct outcome *o)
{
    for (int i = 1; i <= n; i++) {
        *o = run_under(s, i);
        if (s->v.kind == VK_MISMATCH)
            return i;
    }
    return 0;
}

/* The trial of p as the machine takes it. */
static bool open_search(struct value_search *s, struct probe *p)
{
    struct outcome o = { .algebra = p->al };
    enum target target = p->target;
    struct err e = { 0 };
    bool ok;

    *s = (struct value_search){ .p = p, .b = backend_find("simt") };
    p->target = TARGET_GPU;
    ok = s->b && probe_lower(p, INT32_MAX, INT32_MAX, &e) == 0;
    p->target = target;
    if (!ok)
        return false;
    run_begin(&p->ck->env);
    return s->b->prepare(&p->ck->env, p->l, NULL, &s->prep, &o) == 0;
}

bool probe_value(struct probe *p, int schedules)
{
    struct value_search s;
    struct outcome o;
    bool found;

    if (!open_search(&s, p))
        return false;
    found = search(&s, schedules, &o) > 0;
    s.b->release(&s.prep);
    return found;
}

static void describe(struct value_search *s, const struct outcome *o, struct arena *a,
                     struct explain_value *v)
{
    struct str text = { 0 };

    v->again = runs_again(s, o, v->schedule, a);
    v->want = s->v.want;
    v->got = s->v.got;
    verdict_where(&s->v, &s->p->t->prog, &text);
    v->element = str_keep(&text, a);
}

void explain_value(struct probe *p, struct arena *a, struct explanation *x)
{
    struct value_search s;
    struct outcome o;

    if (!race_is(x->verdict.kind) || !open_search(&s, p))
        return;
    x->value.tried = SCHEDULES;
    x->value.schedule = search(&s, SCHEDULES, &o);
    if (x->value.schedule)
        describe(&s, &o, a, &x->value);
    s.b->release(&s.prep);
}
