/* Constructors of composites (see build.h), and what they cost. */
#include "fuzz/gen/build.h"

static struct node *begin(struct gen *g, enum op op, int x)
{
    struct node *n = gen_begin(g, op);

    n->arg[0] = NODE(x);
    return n;
}

int gen_softmax(struct gen *g, int x, int axis)
{
    struct node *n = begin(g, OP_SOFTMAX, x);

    n->axis = axis;
    return gen_finish(g, n);
}

int gen_logsoftmax(struct gen *g, int x, int axis)
{
    struct node *n = begin(g, OP_LOGSOFTMAX, x);

    n->axis = axis;
    return gen_finish(g, n);
}

int gen_cumsum(struct gen *g, int x, int axis)
{
    struct node *n = begin(g, OP_CUMSUM, x);

    n->axis = axis;
    gen_draw_acc(g, n);
    return gen_finish(g, n);
}

int gen_layernorm(struct gen *g, int x, int gain, int bias, double eps)
{
    struct node *n = begin(g, OP_LAYERNORM, x);

    n->arg[1] = NODE(gain);
    n->arg[2] = NODE(bias);
    n->eps = eps;
    return gen_finish(g, n);
}

int gen_rmsnorm(struct gen *g, int x, int gain, double eps)
{
    struct node *n = begin(g, OP_RMSNORM, x);

    n->arg[1] = NODE(gain);
    n->eps = eps;
    return gen_finish(g, n);
}

int gen_argmax(struct gen *g, int x, int axis)
{
    struct node *n = begin(g, OP_ARGMAX, x);

    n->axis = axis;
    return gen_finish(g, n);
}

int gen_gather(struct gen *g, int x, int idx, int axis)
{
    struct node *n = begin(g, OP_GATHER, x);

    n->arg[1] = NODE(idx);
    n->axis = axis;
    return gen_finish(g, n);
}

int gen_concat(struct gen *g, int x, int y, int axis)
{
    struct node *n = begin(g, OP_CONCAT, x);

    n->arg[1] = NODE(y);
    n->axis = axis;
    return gen_finish(g, n);
}

int gen_attention(struct gen *g, const struct attend *at)
{
    struct node *n = begin(g, OP_ATTENTION, at->q);

    n->arg[1] = NODE(at->k);
    n->arg[2] = NODE(at->v);
    n->scale = at->scale;
    n->mask = at->kind;
    n->empty = at->empty;
    if (at->mask >= 0)
        n->arg[n->n_arg++] = NODE(at->mask);
    return gen_finish(g, n);
}

static int64_t scores_of(const struct gen *g, const struct node *n)
{
    struct shape sh = gen_at(g, n->arg[0].node)->sh;
    const struct shape *k = &gen_at(g, n->arg[1].node)->sh;

    sh.dim[sh.rank - 1] = k->dim[sh.rank - 2];
    return shape_count(&sh);
}

int64_t composite_terms(const struct gen *g, const struct node *n)
{
    const struct shape *x = &gen_at(g, n->arg[0].node)->sh;

    if (n->op == OP_GATHER || n->op == OP_CONCAT || n->op == OP_ASSIGN)
        return 0;
    if (n->op == OP_ATTENTION)
        return scores_of(g, n) * (x->dim[x->rank - 1] + n->sh.dim[n->sh.rank - 1] + 2);
    if (n->op == OP_CUMSUM)
        return shape_count(x) * x->dim[n->axis];
    return n->op == OP_RMSNORM ? shape_count(x) : 2 * shape_count(x);
}

int64_t composite_inner(const struct gen *g, const struct node *n)
{
    const struct shape *x = &gen_at(g, n->arg[0].node)->sh;

    if (n->op == OP_ATTENTION)
        return 8 * scores_of(g, n);
    if (n->op == OP_CUMSUM)
        return 3 * shape_count(x) * x->dim[n->axis];
    if (n->op == OP_GATHER) /* a select over the whole axis for each element */
        return shape_count(&n->sh) * 2 * x->dim[n->axis];
    return 5 * (shape_count(x) + shape_count(&n->sh));
}
