/*
 * Matrix products: the node, the way in which small-op compilers spell it (reshape, expand,
 * copy, permute, copy, mul, sum), chains of them, operands behind views, epilogues, and the
 * copies round them that exercise a memory planner.
 */
#include <math.h>

#include "base/bug.h"
#include "fuzz/gen/build.h"

static int transpose(struct gen *g, int x)
{
    int perm[MAX_RANK], rank = gen_at(g, x)->sh.rank;

    for (int i = 0; i < rank; i++)
        perm[i] = i;
    perm[rank - 1] = rank - 2;
    perm[rank - 2] = rank - 1;
    return gen_permute(g, x, perm);
}

/* x [b..,m,k] times y [b..,k,n]: x is broadcast to [b..,m,k,n], copied, permuted to
 * [b..,m,n,k], copied again; y transposed and broadcast; mul; sum of the last axis. */
int matmul_spelled(struct gen *g, int x, int y, bool copies)
{
    struct shape sx = gen_at(g, x)->sh, sy, one;
    int r = sx.rank, z;
    int64_t n = gen_at(g, y)->sh.dim[r - 1];

    if (r > 6)
        return gen_matmul(g, x, y);
    sx.dim[sx.rank++] = 1;
    x = gen_reshape(g, x, &sx);
    sx.dim[r] = n;
    x = gen_expand(g, x, &sx);
    if (copies)
        x = gen_unary(g, OP_COPY, x);
    x = transpose(g, x);
    if (copies)
        x = gen_unary(g, OP_COPY, x);
    y = transpose(g, y);
    sy = gen_at(g, y)->sh;
    one = sy;
    one.rank = r + 1;
    one.dim[r] = sy.dim[r - 1];
    one.dim[r - 1] = sy.dim[r - 2];
    one.dim[r - 2] = 1;
    y = gen_reshape(g, y, &one);
    one.dim[r - 2] = sx.dim[r - 2];
    y = gen_expand(g, y, &one);
    z = gen_binary(g, OP_MUL, NODE(x), NODE(y));
    return gen_reduce(g, OP_SUM, z, 1u << r, false);
}

/* x [..,m,k] times a made [..,k,n] with about that many terms. */
int matmul_on(struct gen *g, int x, int64_t terms)
{
    struct shape sh;
    int64_t count, n;
    int y;

    x = elem_tame(g, elem_numeric(g, x), 32);
    sh = gen_at(g, x)->sh;
    count = shape_count(&sh);
    if (sh.rank < 2 || sh.rank > 5) {
        size_recut(g, count, 2, &sh);
        x = gen_reshape(g, x, &sh);
    }
    n = count > 0 ? (terms + count - 1) / count : 2;
    if (g->group == SZ_EQUAL && n <= g->base && g->base * count <= terms * 2)
        n = g->base;
    n = size_near(n);
    sh.dim[sh.rank - 2] = sh.dim[sh.rank - 1];
    sh.dim[sh.rank - 1] = n;
    y = elem_tame(g, gen_make(g, gen_at(g, x)->dt, &sh, (int)rng_below(&g->rng, 2)), 32);
    return rng_chance(&g->rng, 1, 12) && terms < 1200 ? matmul_spelled(g, x, y, true)
                                                      : gen_matmul(g, x, y);
}

/* Batch, m, k, n whose product lies in lo .. hi; the operand shapes. */
static void draw_operands(struct gen *g, int64_t lo, int64_t hi, struct shape *a,
                          struct shape *b)
{
    static const int weight[] = { 10, 5, 3 };
    int batch = rng_weighted(&g->rng, weight, 3);
    int64_t d[5];

    if (g->group == SZ_EQUAL) { /* as many axes as the common extent wants */
        int64_t p = g->base * g->base * g->base;

        for (batch = 0; batch < 2 && p * g->base <= hi; batch++)
            p *= g->base;
    }
    size_product(g, batch + 3, lo, hi, d);
    *a = *b = (struct shape){ .rank = batch + 2 };
    for (int i = 0; i < batch; i++)
        a->dim[i] = b->dim[i] = d[i];
    a->dim[batch] = d[batch];
    a->dim[batch + 1] = b->dim[batch] = d[batch + 1];
    b->dim[batch + 1] = d[batch + 2];
}

/* What beta is going to take; what 0 is going to hide may be no number at all. */
static int addend(struct gen *g, enum dtype dt, const struct shape *sh, double beta)
{
    if (beta == 0 && dtype_is_float(dt) && sh->rank > 0 && gen_may(g, OP_CONST) &&
        gen_may(g, OP_EXPAND) && rng_chance(&g->rng, 1, 2))
        return gen_expand(g, gen_const(g, dt, (double)NAN), sh);
    return elem_tame(g, gen_make(g, dt, sh, (int)rng_below(&g->rng, 2)), 32);
}

/* The scales that libraries have cases for: 0, 1, -1 and another. */
int matmul_scaled(struct gen *g, int x, int y)
{
    static const double alphas[] = { 1, 1, 2, -1, 0.5, 0.35355338, 0 };
    static const double betas[] = { 1, 1, 2, -1, 0.5, 0 };
    enum dtype dt = gen_at(g, x)->dt;
    struct shape sh = gen_at(g, x)->sh;
    bool whole = !dtype_is_float(dt);
    double alpha = alphas[rng_below(&g->rng, 7)], beta = betas[rng_below(&g->rng, 6)];

    if (whole && (alpha != rint(alpha) || beta != rint(beta)))
        alpha = 3, beta = -2;
    sh.dim[sh.rank - 1] = gen_at(g, y)->sh.dim[sh.rank - 1];
    if (!gen_room(g, 2) || rng_chance(&g->rng, 1, 4))
        return gen_matmul_scaled(g, x, y, -1, alpha != 0 ? alpha : 2, 1);
    return gen_matmul_scaled(g, x, y, addend(g, dt, &sh, beta), alpha, beta);
}

static int product_of(struct gen *g, enum dtype dt, int64_t terms, int budget)
{
    bool spelled = gen_may(g, OP_MATMUL) ? rng_chance(&g->rng, 1, 6) : true;
    struct shape sa, sb;
    int a, b;

    if (spelled)
        terms = terms < 900 ? terms : terms / 3; /* five tensors of that many elements */
    draw_operands(g, terms, terms * 3 / 2, &sa, &sb);
    a = elem_tame(g, gen_make(g, dt, &sa, budget / 2), 32);
    b = elem_tame(g, gen_make(g, dt, &sb, budget - budget / 2), 32);
    if (spelled)
        return matmul_spelled(g, a, b, rng_chance(&g->rng, 4, 5));
    return rng_chance(&g->rng, 1, 4) ? matmul_scaled(g, a, b) : gen_matmul(g, a, b);
}

/* a = copy x; c = matmul a y; d = copy c: whose storage may d, or c, take? */
static int product_between_copies(struct gen *g, enum dtype dt)
{
    struct shape sa, sb;
    int a, b, c;

    draw_operands(g, g->want, g->want * 3 / 2, &sa, &sb);
    a = gen_make(g, dt, &sa, (int)rng_below(&g->rng, 2));
    a = rng_chance(&g->rng, 2, 3) ? gen_unary(g, OP_COPY, a) : elem_any(g, a);
    a = elem_tame(g, elem_numeric(g, a), 32);
    b = gen_make(g, gen_at(g, a)->dt, &sb, (int)rng_below(&g->rng, 2));
    if (rng_chance(&g->rng, 1, 4))
        b = gen_unary(g, OP_COPY, b);
    c = gen_matmul(g, a, elem_tame(g, b, 32));
    if (rng_chance(&g->rng, 1, 3))
        c = elem_any(g, c);
    return rng_chance(&g->rng, 1, 2) ? gen_unary(g, OP_COPY, c) : elem_any(g, c);
}

/* What people put behind a product: a scale, a bias, an activation. */
int matmul_epilogue(struct gen *g, int x)
{
    static const double scale[] = { 0.5, 2, -1, 0.35355338 };
    struct shape row;
    enum dtype dt;

    x = elem_numeric(g, x);
    dt = gen_at(g, x)->dt;
    row = gen_at(g, x)->sh;
    switch (rng_below(&g->rng, 7)) {
    case 0:
    case 1:
        return gen_binary(g, OP_MUL, NODE(x),
                          LIT(!dtype_is_float(dt) ? 3 : scale[rng_below(&g->rng, 4)]));
    case 2:
        return gen_binary(g, OP_ADD, NODE(x), LIT(elem_lit(g, dt)));
    case 3: {
        struct shape all = row;
        int b;

        row = (struct shape){ .rank = 1, .dim = { all.dim[all.rank - 1] } };
        b = gen_expand(g, gen_make(g, dt, &row, 0), &all);
        return gen_binary(g, OP_ADD, NODE(x), NODE(b));
    }
    case 4:
        return gen_binary(g, OP_MAX2, NODE(x), LIT(0));
    case 5:
        return act_any(g, x);
    default:
        return elem_any(g, x);
    }
}

/* (x a) b with both results of like size: what does a planner do with three of them? */
static int chained(struct gen *g, int x, int64_t terms)
{
    x = elem_tame(g, x, 16);
    return matmul_on(g, x, terms);
}

void family_matmul(struct gen *g)
{
    enum dtype dt = gen_dtype(g);
    int x, kind = (int)rng_below(&g->rng, 10);

    mix_all(g);
    if (kind < 2) {
        x = product_between_copies(g, dt);
    } else if (kind < 4) {
        x = product_of(g, dt, g->want / 2, 1);
        x = chained(g, rng_chance(&g->rng, 1, 2) ? matmul_epilogue(g, x) : x, g->want / 2);
    } else {
        x = product_of(g, dt, g->want, (int)rng_range(&g->rng, 0, 4));
    }
    for (int n = (int)rng_below(&g->rng, 3); n > 0 && gen_room(g, 2); n--)
        x = matmul_epilogue(g, x);
    for (int n = (int)rng_below(&g->rng, 3); n > 0 && gen_room(g, 2); n--)
        x = gen_onwards(g, x);
    if (g->madds < g->want * 9 / 10)
        x = gen_amplify(g, x);
    gen_output(g, x);
}
