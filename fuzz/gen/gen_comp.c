/*
 * Composites other than attention on top of a tensor: softmax, norms, argmax (ties where the
 * data are integers), gather and concat. An index of a gather comes from integers that are
 * given or counted, never from rounded floats.
 */
#include <math.h>

#include "fuzz/gen/build.h"

/* A float of rank 1 or more that a softmax or a norm may take. */
static int normal_operand(struct gen *g, int x)
{
    if (!dtype_is_float(gen_at(g, x)->dt))
        x = gen_cast(g, x, gen_float(g));
    return gen_with_axis(g, x);
}

static int some_axis(struct gen *g, int x)
{
    int rank = gen_at(g, x)->sh.rank;

    return rng_chance(&g->rng, 1, 2) ? rank - 1 : (int)rng_below(&g->rng, (uint64_t)rank);
}

int comp_softmax(struct gen *g, int x)
{
    x = normal_operand(g, x);
    if (g->t->recipe != RECIPE_MAGNITUDE)
        x = elem_tame(g, x, 16);
    return gen_along(g, OP_SOFTMAX, x, some_axis(g, x));
}

int comp_logsoftmax(struct gen *g, int x)
{
    x = normal_operand(g, x);
    if (g->t->recipe != RECIPE_MAGNITUDE)
        x = elem_tame(g, x, 64);
    return gen_along(g, OP_LOGSOFTMAX, x, some_axis(g, x));
}

/* A line of it is looked at once for each of its elements. */
int comp_cumsum(struct gen *g, int x)
{
    const struct shape sh = gen_at(g, x)->sh;
    int axis;

    if (sh.rank == 0 || sh.rank > 6)
        return elem_any(g, x);
    axis = some_axis(g, x);
    if (shape_count(&sh) * sh.dim[axis] > 3 * g->want)
        return elem_any(g, x);
    return gen_cumsum(g, elem_tame(g, elem_numeric(g, x), 1000), axis);
}

int comp_norm(struct gen *g, int x)
{
    static const double eps[] = { 1e-5, 1e-3, 0.125, 1 };
    struct shape row = { .rank = 1 };
    enum dtype dt;
    double e = eps[rng_below(&g->rng, 4)];
    int gain, bias;

    x = elem_tame(g, normal_operand(g, x), 64);
    dt = gen_at(g, x)->dt;
    row.dim[0] = gen_at(g, x)->sh.dim[gen_at(g, x)->sh.rank - 1];
    gain = gen_make(g, dt, &row, 0);
    if (gen_may(g, OP_LAYERNORM) && rng_chance(&g->rng, 1, 2)) {
        bias = rng_chance(&g->rng, 1, 6) ? gain : gen_input(g, dt, &row);
        return gen_layernorm(g, x, gain, bias, e);
    }
    return gen_rmsnorm(g, x, gain, e);
}

int comp_argmax(struct gen *g, int x)
{
    struct shape sh = gen_at(g, x)->sh;

    if (rng_chance(&g->rng, 1, 2)) /* few different values: the maximum is there twice */
        x = gen_make(g, DT_I32, &sh, (int)rng_below(&g->rng, 2));
    else
        x = elem_numeric(g, x);
    if (sh.rank == 0 || shape_count(&sh) < 4)
        return elem_any(g, x);
    return gen_along(g, OP_ARGMAX, x, some_axis(g, x));
}

/* n places of an axis of the given size; now and then one outside */
static int index_of(struct gen *g, int64_t n, int64_t size)
{
    struct shape sh = { .rank = 1, .dim = { n } };
    int kind = (int)rng_below(&g->rng, 5), x;

    if (kind < 3 || !gen_may(g, OP_IOTA)) {
        x = gen_input(g, DT_I32, &sh);
        if (kind == 0 && g->t->recipe != RECIPE_INTS && gen_may(g, OP_ABS))
            return gen_unary(g, OP_ABS, x);
        data_integers(g, x, rng_chance(&g->rng, 1, 3) ? -1 : 0,
                      (int)size - rng_chance(&g->rng, 2, 3));
        return x;
    }
    x = gen_iota(g, DT_I32, &sh, 0);
    if (kind == 3)
        return gen_binary(g, OP_SUB, LIT((double)size - 1), NODE(x)); /* backwards */
    return gen_binary(g, OP_DIV, NODE(x), LIT(2));                    /* each twice */
}

/* A pad whose fill is infinite stands beside what is picked, as behind a mask. */
static int beside_infinity(struct gen *g, int x, int axis)
{
    int64_t before[MAX_RANK] = { 0 }, after[MAX_RANK] = { 0 };

    after[axis] = 1;
    return gen_pad(g, x, before, after,
                   rng_chance(&g->rng, 1, 2) ? (double)INFINITY : -(double)INFINITY);
}

int comp_gather(struct gen *g, int x)
{
    const struct shape sh = gen_at(g, x)->sh;
    int64_t n, size, each;
    int axis;

    if (sh.rank == 0 || sh.rank > 5)
        return elem_any(g, x);
    axis = some_axis(g, x);
    size = sh.dim[axis];
    each = size > 0 ? shape_count(&sh) / size : 1;
    if (each * size > g->want || size == 0)
        return elem_any(g, x);
    n = size_small(g, 8);
    while (n > 1 && each * n * (size + 1) > g->want)
        n--;
    if (dtype_is_float(gen_at(g, x)->dt) && rng_chance(&g->rng, 2, 5) && gen_may(g, OP_PAD))
        x = beside_infinity(g, x, axis);
    return gen_two_along(g, OP_GATHER, x, index_of(g, n, size), axis);
}

int comp_concat(struct gen *g, int x)
{
    struct shape sh = gen_at(g, x)->sh;
    enum dtype dt = gen_at(g, x)->dt;
    int axis, y = x;

    if (sh.rank == 0)
        return elem_any(g, x);
    axis = (int)rng_below(&g->rng, (uint64_t)sh.rank);
    if (rng_chance(&g->rng, 1, 3) && gen_may(g, OP_SLICE)) { /* two slices of one tensor */
        int64_t lo[MAX_RANK] = { 0 }, hi[MAX_RANK], by[MAX_RANK];

        for (int i = 0; i < sh.rank; i++)
            hi[i] = sh.dim[i], by[i] = 1;
        view_slice_axis(g, sh.dim[axis], &lo[axis], &hi[axis], &by[axis]);
        y = gen_slice(g, x, lo, hi, by);
    } else if (!rng_chance(&g->rng, 1, 6)) {
        sh.dim[axis] = rng_chance(&g->rng, 1, 2) ? size_small(g, 5) : sh.dim[axis];
        y = gen_make(g, dt, &sh, (int)rng_below(&g->rng, 2));
    }
    return rng_chance(&g->rng, 1, 2) ? gen_two_along(g, OP_CONCAT, x, y, axis)
                                     : gen_two_along(g, OP_CONCAT, y, x, axis);
}

int comp_any(struct gen *g, int x)
{
    static const enum op op[] = { OP_SOFTMAX, OP_RMSNORM,    OP_ARGMAX, OP_GATHER,
                                  OP_CONCAT,  OP_LOGSOFTMAX, OP_CUMSUM };
    static int (*const make[])(
        struct gen * g, int x) = { comp_softmax, comp_norm,       comp_argmax, comp_gather,
                                   comp_concat,  comp_logsoftmax, comp_cumsum };
    int weight[] = { 4, 5, 4, 6, 4, 2, 4 }, sum = 0;

    for (int i = 0; i < 7; i++) {
        bool ok = gen_may(g, op[i]) || (op[i] == OP_RMSNORM && gen_may(g, OP_LAYERNORM));

        sum += weight[i] = ok ? weight[i] : 0;
    }
    return sum ? make[rng_weighted(&g->rng, weight, 7)](g, x) : elem_any(g, x);
}
