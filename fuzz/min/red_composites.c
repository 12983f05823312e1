/*
 * Reducers over composites: masks, conventions and operands that the trial can do without, a
 * norm that does less. Their sizes are size.c's.
 */
#include "fuzz/min/reduce.h"

enum composite_hint {
    HINT_NO_MASK,
    HINT_CAUSAL,
    HINT_CAUSAL_BR,
    HINT_EMPTY,
    HINT_ONE_KEY_VALUE, /* v is k */
    HINT_RMSNORM,
    HINT_SOFTMAX,
    HINT_LAST_AXIS,
    COMPOSITE_HINTS
};

RED_PER_NODE(composites, COMPOSITE_HINTS)

static bool mask_set(struct node *n, enum mask_kind to)
{
    static const int complexity[MASK_COUNT] = { [MASK_NONE] = 0,
                                                [MASK_CAUSAL] = 1,
                                                [MASK_CAUSAL_BR] = 2,
                                                [MASK_BOOL] = 3,
                                                [MASK_ADD] = 4 };

    if (n->op != OP_ATTENTION || complexity[to] >= complexity[n->mask])
        return false;
    n->mask = to;
    n->n_arg = 3;
    return true;
}

static bool layernorm_to_rmsnorm(struct node *n)
{
    if (n->op != OP_LAYERNORM)
        return false;
    n->op = OP_RMSNORM;
    n->n_arg = 2;
    return true;
}

static bool logsoftmax_to_softmax(struct node *n)
{
    if (n->op != OP_LOGSOFTMAX)
        return false;
    n->op = OP_SOFTMAX;
    return true;
}

/* softmax and its like along the last axis: another axis asks for views that move it. */
static bool last_axis(struct prog *p, struct node *n)
{
    int last = p->node[n->arg[0].node].sh.rank - 1;

    if ((n->op != OP_SOFTMAX && n->op != OP_LOGSOFTMAX && n->op != OP_CUMSUM &&
         n->op != OP_ARGMAX) ||
        n->axis == last)
        return false;
    n->axis = last;
    return true;
}

bool red_composites_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct node *n = &t->prog.node[from / COMPOSITE_HINTS];

    (void)to, (void)a;
    if (!op_is_composite(n->op))
        return false;
    switch ((enum composite_hint)(from % COMPOSITE_HINTS)) {
    case HINT_NO_MASK:
        return mask_set(n, MASK_NONE);
    case HINT_CAUSAL:
        return mask_set(n, MASK_CAUSAL);
    case HINT_CAUSAL_BR:
        return mask_set(n, MASK_CAUSAL_BR);
    case HINT_EMPTY:
        if (n->op != OP_ATTENTION || n->empty == EMPTY_NAN)
            return false;
        n->empty = EMPTY_NAN;
        return true;
    case HINT_ONE_KEY_VALUE:
        if (n->op != OP_ATTENTION || n->arg[2].node == n->arg[1].node)
            return false;
        n->arg[2] = n->arg[1];
        return true;
    case HINT_RMSNORM:
        return layernorm_to_rmsnorm(n);
    case HINT_SOFTMAX:
        return logsoftmax_to_softmax(n);
    case HINT_LAST_AXIS:
        return last_axis(&t->prog, n);
    case COMPOSITE_HINTS:
        break;
    }
    return false;
}
