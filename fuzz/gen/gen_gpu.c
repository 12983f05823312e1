/*
 * Programs for GPU steps: matrix products of a few tiles, rows long enough for several warps,
 * tensors to be copied in tiles. Sizes lie at and one beside tile sizes; the other families
 * fill in the rest.
 */
#include "fuzz/gen/build.h"

/* At and one beside what a tile's side may be. */
static const int64_t side[] = { 4, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33 };
static const int side_weight[] = { 3, 3, 8, 8, 3, 6, 9, 9, 3, 2, 4, 3 };
static const int64_t depth[] = { 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 33, 40, 48 };
static const int64_t lane[] = { 7,  16, 31, 32,  33,  48,  63,  64, 64,
                                65, 96, 96, 100, 127, 128, 129, 256 };
enum {
    SIDES = sizeof side / sizeof side[0],
    DEPTHS = sizeof depth / sizeof depth[0],
    LANES = sizeof lane / sizeof lane[0]
};

struct product {
    int64_t batch, m, n, k;
};

/* About as many terms as other trials have; fragments of tensor cores need more. */
static struct product draw_sizes(struct gen *g, bool fragments)
{
    int64_t aim = g->o->mul_adds, most = fragments ? 6 * aim : 2 * aim;
    struct product d = { .batch = 1 };

    for (int attempt = 0; attempt < 40; attempt++) {
        int64_t terms;

        d.m = side[rng_weighted(&g->rng, side_weight, SIDES)];
        d.n = side[rng_weighted(&g->rng, side_weight, SIDES)];
        d.k = depth[rng_below(&g->rng, DEPTHS)];
        terms = d.m * d.n * d.k;
        if (terms <= most && terms >= aim / 3 && (!fragments || (d.m > 8 && d.k > 12)))
            break;
    }
    if (rng_chance(&g->rng, 1, 6) && d.m * d.n * d.k * 2 <= most)
        d.batch = 2;
    return d;
}

/* [batch,] rows, columns: an input, a transposed one, or anything */
static int operand(struct gen *g, enum dtype dt, int64_t batch, int64_t rows, int64_t columns)
{
    struct shape sh = { 2, { rows, columns } };
    int perm[] = { 1, 0, 2 };

    if (batch > 1)
        sh = (struct shape){ 3, { batch, rows, columns } };
    if (rng_chance(&g->rng, 1, 3))
        return elem_tame(g, gen_make(g, dt, &sh, (int)rng_range(&g->rng, 1, 2)), 32);
    if (!gen_may(g, OP_PERMUTE) || !rng_chance(&g->rng, 1, 3))
        return elem_tame(g, gen_input(g, dt, &sh), 32);
    sh.dim[sh.rank - 2] = columns;
    sh.dim[sh.rank - 1] = rows;
    if (batch > 1)
        perm[0] = 0, perm[1] = 2, perm[2] = 1;
    return gen_permute(g, elem_tame(g, gen_input(g, dt, &sh), 32), perm);
}

static void gpu_matmul(struct gen *g)
{
    bool half = g->o->f32_percent < 100 && rng_chance(&g->rng, 1, 4);
    enum dtype dt = gen_dtype(g);
    struct product d;
    int x, y;

    if (half)
        dt = rng_chance(&g->rng, 3, 5) ? DT_F16 : DT_BF16;
    if (half)
        g->flt = dt, g->mixed = false;
    d = draw_sizes(g, dtype_is_half(dt));
    x = operand(g, dt, d.batch, d.m, d.k);
    y = operand(g, dt, d.batch, d.k, d.n);
    x = rng_chance(&g->rng, 1, 5) ? matmul_scaled(g, x, y) : gen_matmul(g, x, y);
    if (rng_chance(&g->rng, 2, 5) && gen_room(g, 2))
        x = matmul_epilogue(g, x);
    if (rng_chance(&g->rng, 1, 6) && gen_room(g, 3))
        x = matmul_on(g, x, g->o->mul_adds / 2);
    gen_output(g, x);
}

/* A few rows, each of some lanes: what warps and blocks reduce together. */
static void gpu_rows(struct gen *g)
{
    enum dtype dt = gen_dtype(g);
    struct shape sh = { .rank = rng_chance(&g->rng, 1, 4) ? 3 : 2 };
    int64_t n = lane[rng_below(&g->rng, LANES)], rows = g->o->mul_adds / n + 1;
    int x, axis = sh.rank - 1;

    sh.dim[0] = size_small(g, rows < 9 ? rows : 9);
    sh.dim[1] = size_small(g, 3);
    if (rng_chance(&g->rng, 1, 6))
        axis = 0;
    sh.dim[axis] = n;
    x = elem_tame(g, gen_make(g, dt, &sh, (int)rng_below(&g->rng, 3)), 30);
    switch (rng_below(&g->rng, 6)) {
    case 0:
        x = gen_may(g, OP_SOFTMAX) && dtype_is_float(dt) ? gen_along(g, OP_SOFTMAX, x, axis)
                                                         : reduce_op(g, x, 1u << axis, true);
        break;
    case 1:
        x = dtype_is_float(dt) ? comp_norm(g, x) : reduce_op(g, x, 1u << axis, false);
        break;
    default:
        x = reduce_op(g, x, 1u << axis, rng_chance(&g->rng, 1, 3));
    }
    for (int k = (int)rng_below(&g->rng, 3); k > 0 && gen_room(g, 2); k--)
        x = gen_onwards(g, x);
    gen_output(g, x);
}

/* Copies, transposed or not, and elementwise ops: no reduction. */
static void gpu_flat(struct gen *g)
{
    enum dtype dt = gen_dtype(g);
    int64_t n = side[rng_below(&g->rng, SIDES)], m = side[rng_below(&g->rng, SIDES)];
    int x = operand(g, dt, rng_chance(&g->rng, 1, 3) ? 2 : 1, m, n);

    for (int k = (int)rng_range(&g->rng, 1, 3); k > 0 && gen_room(g, 2); k--)
        x = rng_chance(&g->rng, 1, 3) ? view_permute(g, x) : elem_any(g, x);
    gen_output(g,
               gen_may(g, OP_COPY) && rng_chance(&g->rng, 1, 2) ? gen_unary(g, OP_COPY, x) : x);
}

bool family_gpu(struct gen *g)
{
    static const int weight[PRESET_COUNT][4] = {
        /* matmul, rows, flat, what the preset draws anyway */
        [PRESET_ALL] = { 45, 20, 8, 27 },  [PRESET_MATMUL] = { 88, 0, 0, 12 },
        [PRESET_MHA] = { 0, 0, 0, 100 },   [PRESET_FUSED] = { 0, 60, 10, 30 },
        [PRESET_VIEWS] = { 0, 0, 40, 60 },
    };
    int kind = rng_weighted(&g->rng, weight[g->o->preset], 4);

    if (kind == 3 || (kind == 0 && !gen_may(g, OP_MATMUL)))
        return false;
    mix_all(g);
    if (kind == 0)
        gpu_matmul(g);
    else if (kind == 1)
        gpu_rows(g);
    else
        gpu_flat(g);
    return true;
}
