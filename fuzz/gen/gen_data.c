/* Data of a trial: recipe and seed, and now and then the values of a small input. */
#include <math.h>

#include "fuzz/gen/build.h"

void data_draw(struct rng *r, const struct gen_opts *o, struct trial *t)
{
    const int odd = o->special_percent + o->magnitude_percent;
    const int plain = odd < 100 ? 100 - odd : 0;
    const int weight[RECIPE_COUNT] = {
        [RECIPE_NORMAL] = 5 * plain,
        [RECIPE_UNIFORM] = 4 * plain,
        [RECIPE_POSITIVE] = 2 * plain,
        [RECIPE_INTS] = 3 * plain,
        [RECIPE_SPECIAL] = 14 * o->special_percent,
        [RECIPE_MAGNITUDE] = 14 * o->magnitude_percent,
    };

    t->recipe = (enum recipe)rng_weighted(r, weight, RECIPE_COUNT);
    t->seed = rng_below(r, 1000000);
}

static double draw_value(struct rng *r, enum dtype dt)
{
    static const double far[] = { 1000, -1000, 30, -30, 0 };

    if (dt == DT_BOOL)
        return (double)rng_below(r, 2);
    if (dt == DT_I32)
        return (double)rng_range(r, -20, 20);
    if (rng_chance(r, 1, 6)) /* lanes of very different size */
        return far[rng_below(r, 5)];
    return (double)rng_range(r, -16, 16) / 4;
}

static void give(struct gen *g, struct values *v)
{
    struct hint *h = &g->hint[v->node];

    h->lo = HUGE_VAL;
    h->hi = -HUGE_VAL;
    for (int64_t i = 0; i < v->n; i++) {
        h->lo = fmin(h->lo, v->v[i]);
        h->hi = fmax(h->hi, v->v[i]);
    }
    *arena_push(g->a, g->t->values, g->t->n_values, g->t->cap_values) = *v;
}

static bool given(const struct gen *g, int input)
{
    for (int i = 0; i < g->t->n_values; i++)
        if (g->t->values[i].node == input)
            return true;
    return false;
}

void data_values(struct gen *g, int input)
{
    int64_t n = shape_count(&gen_at(g, input)->sh);
    struct values v = { .node = input, .n = n };

    if (n < 1 || n > 24 || !rng_chance(&g->rng, 1, 12))
        return;
    v.v = arena_array(g->a, double, n);
    for (int64_t i = 0; i < n; i++)
        v.v[i] = draw_value(&g->rng, gen_at(g, input)->dt);
    give(g, &v);
}

void data_integers(struct gen *g, int input, int lo, int hi)
{
    int64_t n = shape_count(&gen_at(g, input)->sh);
    struct values v = { .node = input, .n = n };

    if (n < 1 || n > 64 || given(g, input))
        return;
    v.v = arena_array(g->a, double, n);
    for (int64_t i = 0; i < n; i++)
        v.v[i] = (double)rng_range(&g->rng, lo, hi);
    give(g, &v);
}
