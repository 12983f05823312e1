/* argmax, gather and concat: selections, written with iota, compare and where. */
#include "lower/expand.h"

/* The first place whose element equals the maximum; a NaN equals nothing and wins. */
void expand_argmax(struct expand *x)
{
    int a = x->map[x->n->arg[0].node], axis = x->n->axis, hit, at;
    const struct shape sh = *expand_shape(x, a);
    bool is_float = dtype_info(x->to->prog.node[a].dt)->class == DTC_FLOAT;
    int mx = expand_reduce(x, "mx", OP_MAX, a, 1u << axis, true);

    hit = expand_binary(x, "hit", OP_EQ, a, expand_to(x, "mb", mx, &sh));
    if (is_float) {
        int same = expand_binary(x, "self", OP_EQ, a, a);

        hit = expand_binary(x, "any", OP_OR, hit, expand_unary(x, "nan", OP_NOT, same));
    }
    at = expand_iota(x, "at", &sh, axis);
    if (FAULT(x->l, argmax_last_wins)) {
        at = expand_select(x, "cand", hit, at, -1);
        expand_reduce(x, "", OP_MAX, at, 1u << axis, false);
        return;
    }
    at = expand_select(x, "cand", hit, at, (double)sh.dim[axis]);
    expand_reduce(x, "", OP_MIN, at, 1u << axis, false);
}

/* x with the gathered axis last, spread over the places of idx. */
static int lanes_of(struct expand *x, int a, int axis, const struct shape *wide)
{
    const struct shape sh = *expand_shape(x, a);
    struct shape one = sh;
    int perm[MAX_RANK] = { 0 }, n = 0;

    for (int d = 0; d < sh.rank; d++)
        if (d != axis)
            perm[n++] = d;
    perm[n] = axis;
    a = expand_permute(x, "xp", a, perm);
    one.rank = sh.rank + 1;
    for (int d = 0; d < sh.rank; d++)
        one.dim[d] = d == axis ? 1 : sh.dim[d];
    one.dim[sh.rank] = sh.dim[axis];
    return expand_to(x, "xb", expand_reshape(x, "xr", a, &one), wide);
}

/* A select over the one lane whose number is asked for, added up: exact, and 0 outside. */
void expand_gather(struct expand *x)
{
    int a = x->map[x->n->arg[0].node], idx = x->map[x->n->arg[1].node], axis = x->n->axis;
    enum dtype dt = x->to->prog.node[a].dt;
    struct shape wide = x->n->sh, one = x->n->sh;
    int hit, lane, w;

    if (wide.rank == MAX_RANK) {
        x->failed = true;
        err_set(&x->e, ERR_UNSUPPORTED, "gather of rank %d", MAX_RANK);
        return;
    }
    if (dt == DT_BOOL)
        a = expand_cast(x, "xi", a, DT_I32);
    wide.dim[wide.rank++] = expand_shape(x, a)->dim[axis];
    one.rank = wide.rank;
    for (int d = 0; d < one.rank; d++)
        one.dim[d] = d == axis ? x->n->sh.dim[axis] : 1;
    idx = expand_to(x, "ib", expand_reshape(x, "ir", idx, &one), &wide);
    lane = expand_iota(x, "at", &wide, wide.rank - 1);
    hit = expand_binary(x, "hit", OP_EQ, idx, lane);
    w = lanes_of(x, a, axis, &wide);
    if (FAULT(x->l, mask_by_multiply) && dt != DT_BOOL)
        w = expand_where(x, "sel", hit, w, expand_literal(x, "zero", OP_MUL, w, 0));
    else
        w = expand_select(x, "sel", hit, w, 0);
    w = expand_reduce(x, dt == DT_BOOL ? "sum" : "", OP_SUM, w, 1u << (wide.rank - 1), false);
    if (dt == DT_BOOL)
        expand_cast(x, "", w, DT_BOOL);
}

void expand_concat(struct expand *x)
{
    int a = x->map[x->n->arg[0].node], b = x->map[x->n->arg[1].node], axis = x->n->axis;
    int64_t na = expand_shape(x, a)->dim[axis], nb = expand_shape(x, b)->dim[axis];
    int at = expand_iota(x, "at", &x->n->sh, axis), first;

    a = expand_pad(x, "pa", a, axis, 0, nb);
    b = expand_pad(x, "pb", b, axis, na, 0);
    first = expand_literal(x, "lt", OP_LT, at, (double)na);
    expand_where(x, "", first, a, b);
}
