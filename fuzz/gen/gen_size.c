/*
 * Extents. Bugs sit at equal extents (a transposed access stays in bounds), at unequal
 * primes (nothing divides), and one beside a vector width or tile; so these are drawn,
 * never a uniform range. 1 is drawn for about a tenth, 0 once in some sixty trials.
 */
#include <math.h>

#include "fuzz/gen/build.h"

static const int64_t prime[] = { 5, 3, 7, 2, 11, 13, 17, 19, 23 };
static const int64_t edge[] = { 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33 };
static const int edge_weight[] = { 6, 9, 8, 9, 4, 9, 9, 8, 7, 8, 7, 2, 2, 2 };
static const int64_t equal[] = { 2, 3, 4, 5, 6, 7, 8, 9, 13, 16 };
static const int equal_weight[] = { 1, 3, 6, 4, 3, 3, 6, 3, 1, 2 };

void size_begin(struct gen *g)
{
    static const int weight[] = { 34, 22, 44 };
    int64_t aim = g->o->mul_adds;

    g->group = (enum size_group)rng_weighted(&g->rng, weight, 3);
    g->base = equal[rng_weighted(&g->rng, equal_weight, 10)];
    g->primes = (int)rng_below(&g->rng, 9);
    g->zero_due = rng_chance(&g->rng, 1, 60);
    if (rng_chance(&g->rng, 3, 4))
        g->want = aim + (int64_t)rng_below(&g->rng, (uint64_t)(aim / 2 + 1));
    else
        g->want = aim / 16 + (int64_t)rng_below(&g->rng, (uint64_t)(aim * 3 / 4 + 1));
}

int64_t size_draw(struct gen *g)
{
    if (rng_chance(&g->rng, 1, 11))
        return 1;
    if (g->group == SZ_EQUAL && rng_chance(&g->rng, 7, 8))
        return g->base;
    if (g->group == SZ_PRIMES && rng_chance(&g->rng, 7, 8))
        return prime[g->primes++ % 9];
    return edge[rng_weighted(&g->rng, edge_weight, 14)];
}

int64_t size_small(struct gen *g, int64_t hi)
{
    int64_t a = rng_range(&g->rng, 1, hi), b = rng_range(&g->rng, 1, hi);

    return a < b ? a : b;
}

/* The extents worth having, in order: what steps of force() and size_near() land on. */
static const int64_t ladder[] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 13,  15,  16,
                                  17, 23, 31, 32, 33, 47, 63, 64, 65, 97, 127, 128, 129 };
enum { LADDER = sizeof ladder / sizeof ladder[0] };

/* The first rung at or above d; beyond the ladder d itself. */
int64_t size_near(int64_t d)
{
    for (int i = 0; i < LADDER; i++)
        if (ladder[i] >= d)
            return ladder[i];
    return d;
}

static int64_t below(int64_t d)
{
    int i = LADDER - 1;

    if (d > ladder[i])
        return d / 2;
    while (i > 0 && ladder[i] >= d)
        i--;
    return ladder[i];
}

/* Brings a product into range by moving single extents: the last resort. */
static void force(int n, int64_t lo, int64_t hi, int64_t *dim)
{
    for (int round = 0; round < 64; round++) {
        int64_t count = 1;
        int small = 0, big = 0;

        for (int i = 0; i < n; i++) {
            count *= dim[i];
            small = dim[i] < dim[small] ? i : small;
            big = dim[i] > dim[big] ? i : big;
        }
        if (count > hi && dim[big] > 1)
            dim[big] = below(dim[big]);
        else if (count < lo && count > 0)
            dim[small] = size_near(dim[small] + 1);
        else
            return;
    }
}

void size_product(struct gen *g, int n, int64_t lo, int64_t hi, int64_t *dim)
{
    double best = HUGE_VAL;
    int64_t got[MAX_RANK + 2] = { 0 };

    for (int attempt = 0; attempt < 24 && best > 0; attempt++) {
        double count = 1, off;

        for (int i = 0; i < n; i++)
            count *= (double)(got[i] = size_draw(g));
        off = count < (double)lo   ? (double)lo / count
              : count > (double)hi ? count / (double)hi
                                   : 0;
        if (off < best) {
            best = off;
            for (int i = 0; i < n; i++)
                dim[i] = got[i];
        }
    }
    force(n, lo, hi, dim);
    if (g->zero_due && n > 0) {
        dim[rng_below(&g->rng, (uint64_t)n)] = 0;
        g->zero_due = false;
    }
}

void size_shape(struct gen *g, int rank, int64_t lo, int64_t hi, struct shape *sh)
{
    *sh = (struct shape){ .rank = rank };
    size_product(g, rank, lo, hi, sh->dim);
}

static int64_t random_divisor(struct gen *g, int64_t n)
{
    int64_t div[64];
    int k = 0;

    for (int64_t d = 1; d * d <= n && k < 62; d++)
        if (n % d == 0) {
            div[k++] = d;
            if (d * d != n)
                div[k++] = n / d;
        }
    /* 1 and n are dull: take them only when there is nothing else, or now and then */
    if (k > 2 && !rng_chance(&g->rng, 1, 6))
        return div[2 + rng_below(&g->rng, (uint64_t)(k - 2))];
    return div[rng_below(&g->rng, (uint64_t)k)];
}

void size_recut(struct gen *g, int64_t count, int rank, struct shape *sh)
{
    int order[MAX_RANK];

    *sh = (struct shape){ .rank = rank };
    for (int i = 0; i < rank; i++)
        order[i] = i;
    rng_shuffle(&g->rng, order, rank);
    for (int i = 0; i < rank; i++) {
        int64_t d = i == rank - 1 ? count : count ? random_divisor(g, count) : 1;

        sh->dim[order[i]] = d;
        if (count)
            count /= d;
    }
}
