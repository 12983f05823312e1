/*
 * The float dtypes of a trial. Most have one, f32 in three of five; some mix all of them, with
 * casts between. i32 and bool stand beside any.
 */
#include "fuzz/gen/build.h"

static const enum dtype floats[] = { DT_F32, DT_F16, DT_BF16, DT_F64 };

void dtype_begin(struct gen *g)
{
    static const int other[] = { 0, 11, 9, 8 };

    g->flt = DT_F32;
    g->mixed = false;
    if (rng_chance(&g->rng, g->o->f32_percent, 100))
        return;
    g->mixed = rng_chance(&g->rng, 1, 3);
    g->flt = floats[rng_weighted(&g->rng, other, 4)];
}

enum dtype gen_float(struct gen *g)
{
    static const int weight[] = { 4, 3, 2, 2 };

    return g->mixed ? floats[rng_weighted(&g->rng, weight, 4)] : g->flt;
}

enum dtype gen_dtype(struct gen *g)
{
    return rng_chance(&g->rng, 1, 5) ? DT_I32 : gen_float(g);
}

enum dtype gen_other(struct gen *g, enum dtype dt)
{
    static const int weight[DT_COUNT] = {
        [DT_F32] = 5, [DT_I32] = 3, [DT_BOOL] = 3, [DT_F64] = 2, [DT_F16] = 3, [DT_BF16] = 3
    };
    int w[DT_COUNT];

    for (int i = 0; i < DT_COUNT; i++) {
        bool known = g->mixed || (enum dtype)i == g->flt || !dtype_is_float((enum dtype)i);

        w[i] = known && (enum dtype)i != dt ? weight[i] : 0;
    }
    return (enum dtype)rng_weighted(&g->rng, w, DT_COUNT);
}

double dtype_limit(enum dtype dt)
{
    return dt == DT_F16 ? 4000 : 1e5;
}
