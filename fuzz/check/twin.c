#include "fuzz/check/twin.h"

#include <string.h>

#include "base/bug.h"
#include "judge/rules.h"
#include "run/interp.h"

size_t output_bytes(const struct trial *t, int out)
{
    const struct output *o = &t->prog.out[out];
    const struct node *n = &t->prog.node[o->node];

    return (size_t)layout_storage(&o->layout, &n->sh) * (size_t)dtype_info(n->dt)->bytes;
}

const void *const *outputs_copy(const struct trial *t, const struct outcome *o, struct arena *a)
{
    const void **copy = arena_array(a, const void *, o->n_out + 1);

    for (int k = 0; k < o->n_out; k++) {
        size_t bytes = output_bytes(t, k);
        void *p = arena_alloc(a, bytes + 1, 16);

        memcpy(p, o->out[k], bytes);
        copy[k] = p;
    }
    return copy;
}

static const void *const *run_twin(struct checker *c, const struct trial *t, struct arena *a)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct outcome o = { .algebra = AL_IEEE };
    struct trial *plain = trial_clone(t, a);
    struct err e = { 0 };
    struct lprog *l;

    plain->n_step = 0;
    if (lower(plain, &lo, a, &l, &e))
        BUG("a program without a schedule is illegal: %s", e.msg);
    run_begin(&c->env);
    interp_run(&c->env, l, AL_IEEE, &o);
    return o.status == OUT_RAN ? outputs_copy(t, &o, a) : NULL;
}

struct judge_opts twin_judge(struct checker *c, const struct trial *t,
                             const struct check_opts *o, struct arena *a)
{
    struct judge_opts judge = o->judge;

    if (judge_needs_twin(&judge) && o->algebra[AL_IEEE])
        judge.twin = run_twin(c, t, a);
    return judge;
}
