/*
 * exact_eval: every node that an output needs, in program order; and the sources.
 */
#include "judge/exact_eval.h"

#include "base/bug.h"

static void input(struct exacts *x, int i)
{
    const struct trial *t = x->t;
    struct xnode *r = &x->node[i];

    for (int k = 0; k < t->n_values; k++) {
        if (t->values[k].node != i)
            continue;
        for (int64_t e = 0; e < r->n; e++) {
            r->p[e] = (struct xval){ t->values[k].v[e], 0 };
            if (dtype_info(t->prog.node[i].dt)->class == DTC_FLOAT &&
                exact_round(t->prog.node[i].dt, r->p[e].v) != r->p[e].v)
                BUG("%s can't hold %a", t->prog.node[i].name, r->p[e].v);
        }
        return;
    }
    BUG("input %s has no values", t->prog.node[i].name);
}

static void iota(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    struct xnode *r = &x->node[i];
    int64_t turn = n->sh.dim[n->axis], inner = 1;

    for (int a = n->axis + 1; a < n->sh.rank; a++)
        inner *= n->sh.dim[a];
    for (int64_t k = 0; k < r->n; k++) {
        double v = (double)(k / inner % turn);

        r->p[k] = (struct xval){ n->dt == DT_I32 ? v : exact_round(n->dt, v), 0 };
    }
}

/* Would 0 be out of bounds where a subnormal number is not? */
static bool flush_shows(const struct xnode *r, enum dtype dt)
{
    double normal = ldexp(xfloat(dt)->eta, xfloat(dt)->bits - 1);

    for (int64_t k = 0; k < r->n; k++) {
        double size = fabs(r->p[k].v), e = r->p[k].e;

        if (e >= 0 && size > e && size - e < normal)
            return true;
    }
    return false;
}

static void evaluate(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    struct xnode *r = &x->node[i];

    r->n = shape_count(&n->sh);
    r->p = arena_array(x->arena, struct xval, r->n + 1);
    if (n->op == OP_INPUT)
        input(x, i);
    else if (n->op == OP_IOTA)
        iota(x, i);
    else if (n->op == OP_CONST)
        r->p[0] = (struct xval){ n->value, 0 };
    else if (op_is_view(n->op) || n->op == OP_COPY)
        exact_view(x, i);
    else if (n->op == OP_MATMUL)
        exact_matmul(x, i);
    else if (op_is_reduce(n->op))
        exact_reduce(x, i);
    else if (op_is_composite(n->op))
        exact_composite(x, i);
    else
        exact_each(x, i);
    exact_sum_up(r);
    if (!x->subnormal && dtype_info(n->dt)->class == DTC_FLOAT)
        x->subnormal = flush_shows(r, n->dt);
}

struct exacts *exact_eval(const struct trial *t, struct arena *a)
{
    struct exacts *x = arena_new(a, struct exacts);
    bool *live = arena_array(a, bool, t->prog.n);

    *x = (struct exacts){ t, &t->prog, a, NULL, false, false, false };
    x->node = arena_array(a, struct xnode, t->prog.n);
    prog_live(&t->prog, live);
    for (int i = 0; i < t->prog.n; i++)
        if (live[i])
            evaluate(x, i);
    return x;
}
