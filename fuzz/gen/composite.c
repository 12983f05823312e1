/* Constructors of composites (see build.h), and what they cost. */
#include "fuzz/gen/build.h"

int gen_along(struct gen *g, enum op op, int x, int axis)
{
    struct node *n = gen_begin_on(g, op, x);

    n->axis = axis;
    return gen_finish(g, n);
}

int gen_two_along(struct gen *g, enum op op, int x, int y, int axis)
{
    struct node *n = gen_begin_on(g, op, x);

    n->arg[1] = NODE(y);
    n->axis = axis;
    return gen_finish(g, n);
}

int gen_cumsum(struct gen *g, int x, int axis)
{
    struct node *n = gen_begin_on(g, OP_CUMSUM, x);

    n->axis = axis;
    gen_draw_acc(g, n);
    return gen_finish(g, n);
}

int gen_layernorm(struct gen *g, int x, int gain, int bias, double eps)
{
    struct node *n = gen_begin_on(g, OP_LAYERNORM, x);

    n->arg[1] = NODE(gain);
    n->arg[2] = NODE(bias);
    n->eps = eps;
    return gen_finish(g, n);
}

int gen_rmsnorm(struct gen *g, int x, int gain, double eps)
{
    struct node *n = gen_begin_on(g, OP_RMSNORM, x);

    n->arg[1] = NODE(gain);
    n->eps = eps;
    return gen_finish(g, n);
}

int gen_attention(struct gen *g, const struct attend *at)
{
    struct node *n = gen_begin_on(g, OP_ATTENTION, at->q);

    n->arg[1] = NODE(at->k);
    n->arg[2] = NODE(at->v);
    n->scale = at->scale;
    n->mask = at->kind;
    n->empty = at->empty;
    if (at->mask >= 0)
        n->arg[n->n_arg++] = NODE(at->mask);
    return gen_finish(g, n);
}

int64_t composite_work(const struct gen *g, const struct node *n)
{
    const struct shape *x = &gen_at(g, n->arg[0].node)->sh;

    if (n->op == OP_GATHER) /* a select over the whole axis for each element */
        return shape_count(&n->sh) * 2 * x->dim[n->axis];
    return composite_inner(g->p, n);
}
