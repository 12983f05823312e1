/*
 * Multi-head attention as a graph of primitive nodes: head-split view chains, scores (as a
 * matmul node or spelled by small ops), scale, mask, max, sub, exp, sum, div, matmul, the
 * heads merged again, and attention chained on its own result. Extents are often equal:
 * a transposed read of such a tensor stays in bounds and is silently wrong.
 */
#include "fuzz/gen/build.h"

struct heads {
    int64_t b, h, s, d; /* batch, heads, sequence, head dim */
    int calls;          /* attentions to come */
    enum dtype dt;
};

static void draw_heads(struct gen *g, struct heads *n)
{
    int64_t room, e = g->group == SZ_EQUAL && g->base >= 2 && g->base <= 8
                          ? g->base
                          : rng_range(&g->rng, 4, 8);

    n->calls = rng_chance(&g->rng, 1, 3) ? 2 : 1;
    n->s = n->d = e;
    if (g->group != SZ_EQUAL && rng_chance(&g->rng, 1, 2)) {
        n->s = rng_range(&g->rng, 3, 9);
        n->d = rng_range(&g->rng, 2, 8);
    }
    room = g->want / (2 * n->calls * n->s * n->s * (n->d + 1)) + 1;
    n->b = rng_chance(&g->rng, 1, 3) ? 1 : size_small(g, room < 4 ? room : 4);
    n->h = room / n->b < 1 ? 1 : room / n->b;
    if (n->h > 4)
        n->h = 4;
}

/* [b,h,s,d], or with `turned` [b,h,d,s], cut out of a [b,s,h*d] tensor. */
static int split_heads(struct gen *g, int x, const struct heads *n, bool turned)
{
    struct shape sh = { .rank = 4, .dim = { n->b, n->s, n->h, n->d } };

    x = gen_reshape(g, x, &sh);
    return gen_permute(g, x, turned ? (int[]){ 0, 2, 3, 1 } : (int[]){ 0, 2, 1, 3 });
}

static int merge_heads(struct gen *g, int x, const struct heads *n)
{
    struct shape sh = { .rank = 3, .dim = { n->b, n->s, n->h * n->d } };

    x = gen_permute(g, x, (int[]){ 0, 2, 1, 3 });
    if (rng_chance(&g->rng, 1, 3))
        x = gen_unary(g, OP_COPY, x);
    return gen_reshape(g, x, &sh);
}

/* t where j <= i, else a large negative number; with iotas or an input mask */
static int mask(struct gen *g, int t, const struct heads *n)
{
    struct shape one = { .rank = 2, .dim = { n->s, n->s } }, all = gen_at(g, t)->sh;
    double off = rng_chance(&g->rng, 1, 2) ? -30 : -1000;
    int i, j, m;

    if (rng_chance(&g->rng, 1, 4)) { /* additive */
        m = gen_expand(g, gen_input(g, n->dt, &one), &all);
        return gen_binary(g, OP_ADD, NODE(t), NODE(m));
    }
    i = gen_iota(g, DT_I32, &one, 0);
    j = gen_iota(g, DT_I32, &one, 1);
    m = gen_binary(g, OP_LE, NODE(j), NODE(i));
    return gen_where(g, gen_expand(g, m, &all), NODE(t), LIT(off));
}

static int scores(struct gen *g, int q, int kt, const struct heads *n)
{
    int64_t terms = n->b * n->h * n->s * n->s * n->d;

    if (!gen_may(g, OP_MATMUL) || (rng_chance(&g->rng, 1, 2) && terms <= 1100))
        return matmul_spelled(g, q, kt, rng_chance(&g->rng, 5, 6));
    return gen_matmul(g, q, kt);
}

/* q [b,h,s,d], kt [b,h,d,s], v [b,h,s,d] */
static int attention(struct gen *g, int q, int kt, int v, const struct heads *n)
{
    int t = scores(g, elem_tame(g, q, 8), elem_tame(g, kt, 8), n);

    if (rng_chance(&g->rng, 4, 5))
        t = gen_binary(g, OP_MUL, NODE(t), LIT(0.35355338));
    if (rng_chance(&g->rng, 1, 5))
        t = mask(g, t, n);
    if (rng_chance(&g->rng, 1, 8)) /* linear attention: no softmax */
        t = elem_tame(g, t, 8);
    else
        t = reduce_softmax(g, t, 3);
    if (!gen_may(g, OP_MATMUL))
        return matmul_spelled(g, t, v, false);
    return gen_matmul(g, t, v);
}

/* Where q, k or v come from: an input, or heads split off [b,s,e], projected or not. */
static int source(struct gen *g, int x, const struct heads *n, bool turned)
{
    struct shape sh = { .rank = 4, .dim = { n->b, n->h, n->s, n->d } };

    if (x >= 0)
        return split_heads(g, x, n, turned);
    if (turned && rng_chance(&g->rng, 1, 2)) {
        sh.dim[2] = n->d, sh.dim[3] = n->s;
        return gen_input(g, n->dt, &sh);
    }
    x = gen_input(g, n->dt, &sh);
    return turned ? gen_permute(g, x, (int[]){ 0, 1, 3, 2 }) : x;
}

/* [b,s,e] times a weight [e,e], as one [b*s,e] product */
static int project(struct gen *g, int x, const struct heads *n)
{
    int64_t e = n->h * n->d;
    struct shape flat = { .rank = 2, .dim = { n->b * n->s, e } };
    struct shape w = { .rank = 2, .dim = { e, e } }, back = gen_at(g, x)->sh;

    x = gen_reshape(g, x, &flat);
    x = gen_matmul(g, elem_tame(g, x, 8), gen_input(g, n->dt, &w));
    return gen_reshape(g, x, &back);
}

/* A whole trial of primitive nodes. */
void family_spelled(struct gen *g)
{
    struct heads n;
    struct shape flat;
    int x = -1, kv = -1, q, kt, v, y;
    bool one, project_it;

    mix_views(g);
    draw_heads(g, &n);
    n.dt = gen_float(g);
    flat = (struct shape){ .rank = 3, .dim = { n.b, n.s, n.h * n.d } };
    one = rng_chance(&g->rng, 1, 2); /* heads split off one or two [b,s,e] tensors */
    project_it = one && gen_may(g, OP_MATMUL) && rng_chance(&g->rng, 1, 6);
    if (one) {
        x = gen_input(g, n.dt, &flat);
        kv = rng_chance(&g->rng, 2, 3) ? x : gen_input(g, n.dt, &flat);
        if (project_it)
            x = project(g, x, &n);
    }
    q = source(g, x, &n, false);
    kt = source(g, kv, &n, true);
    v = source(g, kv, &n, false);
    y = attention(g, q, kt, v, &n);
    if (n.calls == 2) /* attention of the result: y q k for k v */
        y = attention(g, y, kt, v, &n);
    if (rng_chance(&g->rng, 1, 2))
        y = merge_heads(g, y, &n);
    if (gen_room(g, 2) && rng_chance(&g->rng, 1, 3))
        y = elem_any(g, y);
    if (g->madds < g->want * 3 / 4)
        y = gen_amplify(g, y);
    gen_output(g, y);
}

void family_mha(struct gen *g)
{
    if (gen_may(g, OP_ATTENTION) && rng_chance(&g->rng, 1, 2))
        family_attention(g);
    else
        family_spelled(g);
}
