/*
 * Trials made of elementwise chains, broadcasts and reductions (fused), of view chains
 * (views), and of anything (mixed); and what all families end with: going on from a
 * tensor, and making up the multiply-adds that the trial aims at.
 */
#include "fuzz/gen/build.h"

int gen_onwards(struct gen *g, int x)
{
    static const int weight[] = { 5, 4, 6, 3, 2, 1, 1, 6, 2, 2 };
    const struct shape sh = gen_at(g, x)->sh;
    int64_t count = shape_count(&sh), cap = count * 3 / 2 + 16;

    switch (rng_weighted(&g->rng, weight, 10)) {
    case 0:
        return view_any(g, x, cap < g->want ? cap : g->want);
    case 1:
        return idiom_any(g, x);
    case 2:
        return elem_any(g, x);
    case 3:
        return count > 8 ? reduce_any(g, x) : elem_any(g, x);
    case 4:
        return count * 2 < g->want ? reduce_dead(g, x) : elem_any(g, x);
    case 5:
        return sh.rank > 1 ? reduce_two_depths(g, x) : elem_any(g, x);
    case 6:
        return idiom_pad_behind_cast(g, &sh);
    case 7:
        return count * 2 < g->want ? comp_any(g, x) : elem_any(g, x);
    case 8:
        return act_any(g, x);
    default:
        return act_idiom(g, x);
    }
}

/* An independent product or reduction, output beside x. */
static void beside(struct gen *g, int64_t terms)
{
    struct shape sh;

    if (gen_may(g, OP_MATMUL) && rng_chance(&g->rng, 1, 2)) {
        size_shape(g, 2, terms / 12, terms / 8, &sh);
        gen_output(g, matmul_on(g, gen_make(g, gen_dtype(g), &sh, 1), terms));
    } else {
        gen_output(g, reduce_big(g, terms));
    }
}

int gen_amplify(struct gen *g, int x)
{
    int64_t terms = g->want - g->madds, count = shape_count(&gen_at(g, x)->sh);
    int kind = (int)rng_below(&g->rng, 10);

    if (terms < g->want / 12)
        return x;
    if (count * 48 < terms || count > terms) { /* too small or large to be multiplied up */
        beside(g, terms);
        return x;
    }
    if (kind < 6 && gen_may(g, OP_MATMUL))
        return matmul_on(g, x, terms);
    if (kind < 8)
        return reduce_outer(g, x, terms);
    beside(g, terms);
    return x;
}

static int fused_body(struct gen *g)
{
    struct shape sh;
    int x, kind = (int)rng_below(&g->rng, 19);
    enum dtype dt = kind < 3 || kind > 11 ? gen_float(g) : gen_dtype(g);

    size_shape(g, (int)rng_range(&g->rng, 1, 4), 40, 260, &sh);
    x = gen_make(g, dt, &sh, (int)rng_range(&g->rng, 1, 3));
    if (kind < 2 && sh.rank > 0)
        return reduce_softmax(g, x, sh.rank - 1);
    if (kind < 3 && sh.rank > 0 && shape_count(&sh) > 0)
        return reduce_norm(g, x);
    if (kind < 5 && sh.rank > 1)
        return reduce_two_depths(g, x);
    if (kind < 6)
        return reduce_outer(g, x, g->want / 2);
    if (kind < 7)
        return reduce_dead(g, elem_any(g, x));
    if (kind < 9 && sh.rank > 1)
        return reduce_any(g, reduce_any(g, elem_any(g, x)));
    if (kind > 14)
        return comp_any(g, x);
    if (kind > 13)
        return act_any(g, x);
    return kind > 11 ? act_idiom(g, x) : elem_any(g, x);
}

/* Columns and rows: r = reduce x, then x and r together. */
static int with_reduction(struct gen *g, int x)
{
    const struct shape sh = gen_at(g, x)->sh;
    uint32_t axes;
    int r;

    if (sh.rank < 1 || gen_at(g, x)->dt == DT_BOOL)
        return elem_any(g, x);
    axes = 1u << rng_below(&g->rng, (uint64_t)sh.rank);
    r = reduce_op(g, x, axes, rng_chance(&g->rng, 2, 3));
    if (gen_at(g, r)->op == OP_MEAN || rng_chance(&g->rng, 1, 2))
        r = elem_any(g, r);
    if (gen_at(g, r)->dt != gen_at(g, x)->dt ||
        shape_count(&gen_at(g, r)->sh) * sh.dim[__builtin_ctz(axes)] != shape_count(&sh))
        return r;
    return elem_binary(g, x, view_broadcast(g, r, axes, &sh));
}

void family_fused(struct gen *g)
{
    int x;

    mix_fused(g);
    x = fused_body(g);
    if (rng_chance(&g->rng, 1, 25))
        gen_output(g, reduce_nothing(g));
    for (int n = (int)rng_range(&g->rng, 0, 2); n > 0 && gen_room(g, 3); n--)
        x = rng_chance(&g->rng, 1, 4) ? with_reduction(g, x) : elem_any(g, x);
    x = gen_amplify(g, x);
    for (int n = (int)rng_range(&g->rng, 0, 2); n > 0 && gen_room(g, 2); n--)
        x = elem_any(g, x);
    gen_output(g, x);
}

void family_views(struct gen *g)
{
    enum dtype dt = rng_chance(&g->rng, 1, 12) ? DT_BOOL : gen_dtype(g);
    struct shape sh;
    int x, y;

    mix_views(g);
    size_shape(g, (int)rng_range(&g->rng, 1, 4), 36, 200, &sh);
    if (rng_chance(&g->rng, 1, 8))
        x = idiom_pad_behind_cast(g, &sh);
    else
        x = gen_make(g, dt, &sh, (int)rng_range(&g->rng, 0, 3));
    for (int n = (int)rng_range(&g->rng, 1, 3); n > 0 && gen_room(g, 3); n--)
        x = rng_chance(&g->rng, 2, 5) ? idiom_any(g, x)
                                      : view_chain(g, x, (int)rng_range(&g->rng, 1, 2), 320);
    if (rng_chance(&g->rng, 1, 3) && gen_room(g, 3)) { /* one tensor through two views */
        sh = gen_at(g, x)->sh;
        y = gen_reuse(g, gen_at(g, x)->dt, &sh);
        if (y >= 0)
            x = elem_binary(g, x, y);
    }
    if (rng_chance(&g->rng, 1, 2))
        x = elem_any(g, x);
    gen_output(g, gen_amplify(g, x));
}

void family_mixed(struct gen *g)
{
    struct shape sh;
    int x;

    mix_all(g);
    size_shape(g, (int)rng_range(&g->rng, 1, 4), 36, 200, &sh);
    x = gen_make(g, gen_dtype(g), &sh, (int)rng_range(&g->rng, 1, 5));
    for (int n = (int)rng_range(&g->rng, 0, 2); n > 0 && gen_room(g, 2); n--)
        x = gen_onwards(g, x);
    x = gen_amplify(g, x);
    if (gen_room(g, 2) && rng_chance(&g->rng, 1, 2))
        x = gen_onwards(g, x);
    gen_output(g, x);
}
