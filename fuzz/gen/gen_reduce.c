/*
 * Reductions: several axes, all axes, axes that the body doesn't use, a reduction of a
 * reduction, the same reduction at two depths, generalised matrix products, and the
 * idioms that people fuse (softmax, normalisation).
 */
#include <math.h>

#include "fuzz/gen/build.h"

/* x + y and the like of two tensors that agree; kept apart from elem_binary, which tames */
static int plain(struct gen *g, enum op op, int x, int y)
{
    return gen_binary(g, op, NODE(x), NODE(y));
}

int reduce_op(struct gen *g, int x, uint32_t axes, bool keep)
{
    static const enum op op[] = { OP_SUM, OP_MAX, OP_MIN, OP_MEAN, OP_PROD };
    static const int base[] = { 8, 4, 3, 3, 3 };
    enum dtype dt = gen_at(g, x)->dt;
    const struct shape sh = gen_at(g, x)->sh;
    double top = fmax(fabs(g->hint[x].lo), fabs(g->hint[x].hi));
    int64_t terms = 1;
    int weight[5], sum = 0;

    for (int i = 0; i < sh.rank; i++)
        terms *= axes >> i & 1 ? sh.dim[i] : 1;
    for (int i = 0; i < 5; i++) {
        bool ok = gen_may(g, op[i]) && op_takes(op[i], dt);

        if (op[i] == OP_MEAN)
            ok = ok && terms > 0;
        if (op[i] == OP_MAX || op[i] == OP_MIN) /* halves can't hold the ring's extremes */
            ok = ok && (terms > 0 || !dtype_is_half(dt));
        if (op[i] == OP_PROD)
            ok = ok && terms <= 9 && (dt == DT_I32 || pow(top, (double)terms) < 30000);
        weight[i] = ok ? base[i] : 0;
        sum += weight[i];
    }
    if (sum == 0)
        gen_give_up(g);
    if (top > 1e6 || top > dtype_limit(dt))
        x = elem_tame(g, x, 100);
    return gen_reduce(g, op[rng_weighted(&g->rng, weight, 5)], x, axes, keep);
}

static uint32_t draw_axes(struct gen *g, int rank)
{
    uint32_t axes = 0;

    if (rank == 0)
        return 0;
    if (rng_chance(&g->rng, 1, 5))
        return (1u << rank) - 1;
    axes = 1u << (rng_chance(&g->rng, 1, 2) ? (uint64_t)rank - 1
                                            : rng_below(&g->rng, (uint64_t)rank));
    for (int i = 0; i < rank; i++)
        if (rng_chance(&g->rng, 1, 5))
            axes |= 1u << i;
    return axes;
}

int reduce_any(struct gen *g, int x)
{
    uint32_t axes;

    x = gen_with_axis(g, elem_numeric(g, x));
    axes = draw_axes(g, gen_at(g, x)->sh.rank);
    return reduce_op(g, x, axes, rng_chance(&g->rng, 1, 4));
}

/* The axis that is reduced was made by an expand: the body doesn't use it. */
int reduce_dead(struct gen *g, int x)
{
    struct shape sh;
    int64_t d = size_draw(g);
    int at;

    x = elem_numeric(g, x);
    sh = gen_at(g, x)->sh;
    if (sh.rank > 5 || shape_count(&sh) * d > g->want * 2)
        return reduce_any(g, x);
    at = (int)rng_below(&g->rng, (uint64_t)sh.rank + 1);
    for (int i = sh.rank++; i > at; i--)
        sh.dim[i] = sh.dim[i - 1];
    sh.dim[at] = 1;
    if (at > 0)
        x = gen_reshape(g, x, &sh);
    sh.dim[at] = d;
    x = gen_expand(g, x, &sh);
    if (rng_chance(&g->rng, 1, 3))
        x = elem_any(g, x);
    if (gen_at(g, x)->dt == DT_BOOL)
        return reduce_any(g, x);
    return reduce_op(g, x, 1u << at | (rng_chance(&g->rng, 1, 3) ? draw_axes(g, sh.rank) : 0),
                     false);
}

/* r = reduce x; t = reduce r; r + t */
int reduce_two_depths(struct gen *g, int x)
{
    struct shape sh;
    uint32_t first, rest;
    enum op op;
    int r, t;

    x = elem_numeric(g, x);
    sh = gen_at(g, x)->sh;
    if (sh.rank < 2)
        return reduce_any(g, x);
    first = 1u << (rng_chance(&g->rng, 2, 3) ? sh.rank - 1 : 0);
    r = reduce_op(g, x, first, false);
    sh = gen_at(g, r)->sh;
    rest = (1u << sh.rank) - 1;
    op = gen_at(g, r)->op; /* the same reduction again */
    if (op == OP_PROD || (shape_count(&sh) == 0 && dtype_is_half(gen_at(g, r)->dt)))
        op = OP_SUM;
    t = gen_reduce(g, op, r, rest, rng_chance(&g->rng, 1, 2));
    return plain(g, rng_chance(&g->rng, 2, 3) ? OP_ADD : OP_MUL, r,
                 view_broadcast(g, t, rest, &sh));
}

/* x [.., m, k] against some y [.., n, k]: expand both to [.., m, n, k], combine, reduce k.
 * With mul and sum a matrix product; with sub, abs and max a distance. */
int reduce_outer(struct gen *g, int x, int64_t terms)
{
    static const enum op join[] = { OP_MUL, OP_ADD, OP_SUB, OP_MAX2, OP_MIN2 };
    static const int weight[] = { 6, 2, 3, 1, 1 };
    struct shape big, one;
    int64_t n;
    int y, z, k;

    x = elem_tame(g, elem_numeric(g, x), 64);
    big = gen_at(g, x)->sh;
    if (big.rank < 1 || big.rank > 4 || shape_count(&big) == 0)
        return reduce_dead(g, x);
    n = size_near(terms / shape_count(&big));
    k = big.rank++;
    big.dim[k] = big.dim[k - 1];
    big.dim[k - 1] = 1;
    one = big;
    big.dim[k - 1] = n;
    x = gen_expand(g, gen_reshape(g, x, &one), &big);
    one = big;
    for (int i = 0; i < k - 1; i++)
        if (i == k - 2 || rng_chance(&g->rng, 1, 2))
            one.dim[i] = 1;
    y = gen_make(g, gen_at(g, x)->dt, &one, 1);
    y = gen_expand(g, elem_tame(g, y, 64), &big);
    z = plain(g, join[rng_weighted(&g->rng, weight, 5)], x, y);
    if (rng_chance(&g->rng, 1, 4))
        z = elem_unary(g, z);
    return reduce_op(g, z, 1u << k, false);
}

int reduce_softmax(struct gen *g, int x, int axis)
{
    const struct shape sh = gen_at(g, x)->sh;
    uint32_t axes = 1u << axis;
    double spread;
    int m, d, e, s;

    if (sh.dim[axis] == 0 && dtype_is_half(gen_at(g, x)->dt))
        return elem_any(g, x);
    if (g->t->recipe != RECIPE_MAGNITUDE) /* which is for this */
        x = elem_tame(g, x, 16);
    m = view_broadcast(g, gen_reduce(g, OP_MAX, x, axes, true), axes, &sh);
    d = plain(g, OP_SUB, x, m);
    spread = g->hint[x].hi - g->hint[x].lo;
    g->hint[d].lo = -spread, g->hint[d].hi = 0;
    e = gen_unary(g, OP_EXP, d);
    s = gen_reduce(g, OP_SUM, e, axes, true);
    g->hint[s].lo = 1;
    d = plain(g, OP_DIV, e, view_broadcast(g, s, axes, &sh));
    g->hint[d].lo = 0, g->hint[d].hi = 1;
    return d;
}

/* (x - mean) / sqrt(mean of squares + eps), over the last axis or the last two */
int reduce_norm(struct gen *g, int x)
{
    const struct shape sh = gen_at(g, x)->sh;
    uint32_t axes = 1u << (sh.rank - 1);
    int d, v;

    if (sh.rank > 1 && rng_chance(&g->rng, 1, 4))
        axes |= 1u << (sh.rank - 2);
    x = elem_tame(g, x, 64);
    d = plain(g, OP_SUB, x,
              view_broadcast(g, gen_reduce(g, OP_MEAN, x, axes, true), axes, &sh));
    v = gen_reduce(g, OP_MEAN, plain(g, OP_MUL, d, d), axes, true);
    g->hint[v].lo = 0;
    v = gen_binary(g, OP_ADD, NODE(v), LIT(0.125));
    if (rng_chance(&g->rng, 2, 3)) {
        v = gen_unary(g, OP_SQRT, v);
        return plain(g, OP_DIV, d, view_broadcast(g, v, axes, &sh));
    }
    v = gen_unary(g, OP_RECIP, gen_unary(g, OP_SQRT, v));
    return plain(g, OP_MUL, d, view_broadcast(g, v, axes, &sh));
}

/* Nothing is added up, and the result has elements all the same. */
int reduce_nothing(struct gen *g)
{
    struct shape sh;
    int at, x;

    size_shape(g, (int)rng_range(&g->rng, 1, 3), 2, 40, &sh);
    at = (int)rng_below(&g->rng, (uint64_t)sh.rank);
    sh.dim[at] = 0;
    if (sh.rank > 1 && gen_may(g, OP_MATMUL) && rng_chance(&g->rng, 1, 3)) {
        struct shape b = sh;

        sh.dim[sh.rank - 2] = b.dim[b.rank - 1] = 2 + (int64_t)rng_below(&g->rng, 4);
        sh.dim[sh.rank - 1] = b.dim[b.rank - 2] = 0;
        x = gen_input(g, gen_dtype(g), &sh);
        return gen_matmul(g, x, gen_input(g, gen_at(g, x)->dt, &b));
    }
    x = gen_input(g, gen_dtype(g), &sh);
    return reduce_op(g, x, 1u << at, rng_chance(&g->rng, 1, 4));
}

int reduce_big(struct gen *g, int64_t terms)
{
    struct shape sh;
    int x;

    size_shape(g, (int)rng_range(&g->rng, 1, 4), terms, terms * 5 / 4, &sh);
    x = gen_input(g, gen_dtype(g), &sh);
    if (rng_chance(&g->rng, 1, 3) && sh.rank > 1)
        x = view_permute(g, x);
    return reduce_any(g, x);
}
