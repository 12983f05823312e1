/*
 * Attention composites: grouped heads, queries and keys of unequal number, every mask, rows
 * that see nothing, logits from flat to one that outweighs all others.
 */
#include <math.h>

#include "fuzz/gen/build.h"

struct dims {
    int64_t b, hq, hk, s, t, d, e;
    int rank; /* of q; 3 has no batch axis */
};

/* Sizes for about that many terms. */
static struct dims draw_dims(struct gen *g, int64_t terms)
{
    struct dims n = { .b = 1, .rank = rng_chance(&g->rng, 2, 3) ? 4 : 3 };
    int64_t room;

    n.s = n.t = n.d = n.e = g->group == SZ_EQUAL && g->base >= 2 && g->base <= 8
                                ? g->base
                                : rng_range(&g->rng, 3, 8);
    if (rng_chance(&g->rng, 2, 3))
        n.s = rng_range(&g->rng, 1, 8);
    if (rng_chance(&g->rng, 1, 3))
        n.t = rng_range(&g->rng, 2, 9);
    if (rng_chance(&g->rng, 1, 40))
        n.t = 0;
    if (rng_chance(&g->rng, 1, 3))
        n.d = rng_range(&g->rng, 1, 8);
    if (rng_chance(&g->rng, 1, 3))
        n.e = rng_range(&g->rng, 1, 8);
    room = terms / (n.s * (n.t + 1) * (n.d + n.e + 2)) + 1;
    if (n.rank == 4)
        n.b = size_small(g, room < 3 ? room : 3);
    room /= n.b;
    n.hk = room < 2 ? 1 : size_small(g, room < 3 ? room : 3);
    n.hq = n.hk;
    if (rng_chance(&g->rng, 1, 3)) {
        n.hk = rng_chance(&g->rng, 1, 4) ? 1 : 2;
        n.hq = n.hk * rng_range(&g->rng, 2, 3);
    }
    return n;
}

static struct shape shape_of(const struct dims *n, int64_t h, int64_t rows, int64_t cols)
{
    if (n->rank == 3)
        return (struct shape){ 3, { h, rows, cols } };
    return (struct shape){ 4, { n->b, h, rows, cols } };
}

/* [b,h,rows,cols]: an input, or heads split off [b,rows,h*cols], or anything */
static int source(struct gen *g, const struct dims *n, enum dtype dt, int64_t h, int64_t rows,
                  int64_t cols)
{
    struct shape sh = shape_of(n, h, rows, cols), flat = sh;
    int perm[] = { 0, 2, 1, 3 }, x;

    if (!rng_chance(&g->rng, 1, 2))
        return elem_tame(g, gen_make(g, dt, &sh, (int)rng_below(&g->rng, 3)),
                         g->t->recipe == RECIPE_MAGNITUDE ? 2000 : 8);
    flat.rank--;
    flat.dim[n->rank - 3] = rows;
    flat.dim[n->rank - 2] = h * cols;
    x = gen_make(g, dt, &flat, 0);
    sh.dim[n->rank - 3] = rows;
    sh.dim[n->rank - 2] = h;
    x = gen_reshape(g, elem_tame(g, x, g->t->recipe == RECIPE_MAGNITUDE ? 2000 : 8), &sh);
    if (n->rank == 3)
        perm[0] = 1, perm[1] = 0, perm[2] = 2;
    return gen_permute(g, x, perm);
}

/* Queries along axis 0, keys along axis 1: which of them see each other? */
static int counted_mask(struct gen *g, const struct shape *sh)
{
    int i = gen_iota(g, DT_I32, sh, 0), j = gen_iota(g, DT_I32, sh, 1), m;

    if (rng_chance(&g->rng, 1, 2))
        j = gen_binary(g, OP_ADD, NODE(j), LIT((double)rng_range(&g->rng, -2, 2)));
    m = gen_binary(g, rng_chance(&g->rng, 2, 3) ? OP_LE : OP_LT, NODE(j), NODE(i));
    if (rng_chance(&g->rng, 1, 3)) { /* a window of the last few keys */
        int w = gen_binary(g, OP_SUB, NODE(i), NODE(j));

        m = gen_binary(
            g, OP_AND, NODE(m),
            NODE(gen_binary(g, OP_LT, NODE(w), LIT((double)rng_range(&g->rng, 1, 3)))));
    }
    return m;
}

/* bool [s,t]: given, counted, or rows or columns that are masked as a whole */
static int bool_mask(struct gen *g, const struct shape *sh)
{
    struct shape part = *sh;
    int m;

    switch (rng_below(&g->rng, 5)) {
    case 0:
    case 1:
        return gen_input(g, DT_BOOL, sh);
    case 2:
        return counted_mask(g, sh);
    default:
        part.dim[rng_below(&g->rng, 2)] = 1;
        m = gen_input(g, DT_I32, &part);
        m = gen_binary(g, OP_LE, NODE(m), LIT((double)rng_range(&g->rng, -2, 5)));
        return gen_expand(g, m, sh);
    }
}

/* numbers [s,t] that are added: given, or where a bool says so far below 0 */
static int add_mask(struct gen *g, enum dtype dt, const struct shape *sh)
{
    static const double far[] = { -30, -1000, -10000, -(double)INFINITY };
    struct shape one = { 0 };
    int zero, m;

    if (rng_chance(&g->rng, 1, 2) || !gen_may(g, OP_CONST))
        return gen_input(g, dt, sh);
    m = bool_mask(g, sh);
    zero = gen_const(g, dt, 0);
    one.rank = sh->rank;
    for (int i = 0; i < one.rank; i++)
        one.dim[i] = 1;
    zero = gen_expand(g, gen_reshape(g, zero, &one), sh);
    return gen_where(g, m, NODE(zero), LIT(far[rng_below(&g->rng, 4)]));
}

static void draw_mask(struct gen *g, const struct dims *n, struct attend *at)
{
    static const int weight[MASK_COUNT] = { 5, 3, 5, 6, 3 };
    struct shape sh = { 2, { n->s, n->t } };

    at->mask = -1;
    at->kind = (enum mask_kind)rng_weighted(&g->rng, weight, MASK_COUNT);
    /* without keys the formula has no sum that could be NaN */
    at->empty = n->t == 0 || rng_chance(&g->rng, 1, 2) ? EMPTY_ZERO : EMPTY_NAN;
    if (at->kind == MASK_BOOL)
        at->mask = bool_mask(g, &sh);
    else if (at->kind == MASK_ADD)
        at->mask = add_mask(g, gen_at(g, at->q)->dt, &sh);
    if (at->mask >= 0 && rng_chance(&g->rng, 1, 4)) {
        sh = shape_of(n, n->hq, n->s, n->t);
        at->mask = gen_expand(g, at->mask, &sh);
    }
}

/* root of the mean of squares, a guess */
static double deviation(const struct gen *g, int x)
{
    double top = fmax(fabs(g->hint[x].lo), fabs(g->hint[x].hi));

    return top > 0 ? top / (g->t->recipe == RECIPE_NORMAL ? 3 : 1.7) : 1;
}

/* The scale that gives logits a deviation of 1, 4 or 16, with few digits. */
static double draw_scale(struct gen *g, const struct attend *at, int64_t d)
{
    static const double sigma[] = { 1, 4, 16 };
    static const int weight[] = { 6, 3, 2 };
    double all = deviation(g, at->q) * deviation(g, at->k) * sqrt((double)(d ? d : 1));
    double s = sigma[rng_weighted(&g->rng, weight, 3)] / all, unit;

    if (rng_chance(&g->rng, 1, 5))
        return rng_chance(&g->rng, 1, 2) ? 1 : 0.35355338;
    unit = pow(10, floor(log10(s)) - 1);
    return round(s / unit) * unit;
}

static int attend_dims(struct gen *g, const struct dims *n, enum dtype dt)
{
    struct attend at;

    at.q = source(g, n, dt, n->hq, n->s, n->d);
    at.k = source(g, n, dt, n->hk, n->t, n->d);
    if (n->d == n->e && rng_chance(&g->rng, 1, 5))
        at.v = at.k;
    else
        at.v = source(g, n, dt, n->hk, n->t, n->e);
    draw_mask(g, n, &at);
    at.scale = draw_scale(g, &at, n->d);
    return gen_attention(g, &at);
}

/* [b,h,s,e] -> [b,s,h*e] */
static int merge_heads(struct gen *g, int x)
{
    struct shape sh = gen_at(g, x)->sh;
    int r = sh.rank, perm[] = { 0, 2, 1, 3 };

    if (r == 3)
        perm[0] = 1, perm[1] = 0, perm[2] = 2;
    x = gen_permute(g, x, perm);
    sh = gen_at(g, x)->sh;
    sh.dim[r - 2] *= sh.dim[r - 1];
    sh.dim[--sh.rank] = 0;
    return gen_reshape(g, x, &sh);
}

void family_attention(struct gen *g)
{
    enum dtype dt = gen_float(g);
    bool twice = rng_chance(&g->rng, 1, 12);
    struct dims n = draw_dims(g, twice ? g->want / 2 : g->want);
    int y;

    mix_views(g);
    y = attend_dims(g, &n, dt);
    if (twice) { /* attention of the result */
        struct attend at = { .q = y, .scale = 0.5, .mask = -1 };

        n.d = n.e;
        n.t = rng_chance(&g->rng, 1, 2) ? n.s : rng_range(&g->rng, 2, 6);
        at.k = at.v = source(g, &n, dt, n.hk, n.t, n.d);
        at.kind = rng_chance(&g->rng, 1, 2) ? MASK_CAUSAL_BR : MASK_NONE;
        y = gen_attention(g, &at);
    }
    if (rng_chance(&g->rng, 1, 2))
        y = merge_heads(g, y);
    for (int k = (int)rng_below(&g->rng, 2); k > 0 && gen_room(g, 3); k--)
        y = rng_chance(&g->rng, 1, 3) ? act_any(g, y) : elem_any(g, y);
    if (g->madds < g->want / 2)
        y = gen_amplify(g, y);
    gen_output(g, y);
}
