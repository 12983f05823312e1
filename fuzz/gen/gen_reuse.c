/*
 * One tensor through two views: an existing node seen in a wanted shape, by a permute, a
 * reshape, an expand or a slice, whichever fits.
 */
#include "fuzz/gen/build.h"

/* perm with x.dim[perm[i]] == sh.dim[i]; several fit when extents are equal */
static bool find_perm(struct gen *g, const struct shape *x, const struct shape *sh, int *perm)
{
    int order[MAX_RANK], used = 0;
    bool moved = false;

    if (x->rank != sh->rank || x->rank < 2)
        return false;
    for (int i = 0; i < x->rank; i++)
        order[i] = i;
    rng_shuffle(&g->rng, order, x->rank);
    for (int i = 0; i < sh->rank; i++) {
        int at = -1;

        for (int j = 0; j < x->rank && at < 0; j++)
            if (!(used >> order[j] & 1) && x->dim[order[j]] == sh->dim[i])
                at = order[j];
        if (at < 0)
            return false;
        used |= 1 << at;
        perm[i] = at;
        moved |= at != i;
    }
    return moved || rng_chance(&g->rng, 1, 16);
}

static bool expandable(const struct shape *x, const struct shape *sh)
{
    int lead = sh->rank - x->rank;

    for (int i = 0; lead >= 0 && i < x->rank; i++)
        if (x->dim[i] != 1 && x->dim[i] != sh->dim[lead + i])
            return false;
    return lead >= 0;
}

/* A window of x with the extents of sh, if x is large enough but not much larger. */
static bool find_window(struct gen *g, const struct shape *x, const struct shape *sh,
                        int64_t *lo, int64_t *hi, int64_t *by)
{
    bool all = true;

    if (x->rank != sh->rank)
        return false;
    for (int i = 0; i < x->rank; i++) {
        int64_t slack = x->dim[i] - sh->dim[i];

        if (slack < 0 || sh->dim[i] == 0)
            return false;
        lo[i] = slack ? (int64_t)rng_below(&g->rng, (uint64_t)slack + 1) : 0;
        hi[i] = lo[i] + sh->dim[i], by[i] = 1;
        if (rng_chance(&g->rng, 1, 4)) { /* the same window backwards */
            int64_t first = lo[i];

            lo[i] = hi[i] - 1, hi[i] = first - 1, by[i] = -1;
        }
        all = all && slack == 0 && by[i] == 1;
    }
    return !all || rng_chance(&g->rng, 1, 8);
}

static int reuse_node(struct gen *g, int x, const struct shape *sh)
{
    const struct shape have = gen_at(g, x)->sh;
    int64_t lo[MAX_RANK], hi[MAX_RANK], by[MAX_RANK];
    int perm[MAX_RANK];

    if (shape_equal(&have, sh) && rng_chance(&g->rng, 1, 3))
        return x;
    if (gen_may(g, OP_PERMUTE) && find_perm(g, &have, sh, perm))
        return gen_permute(g, x, perm);
    if (gen_may(g, OP_RESHAPE) && shape_count(&have) == shape_count(sh) &&
        !shape_equal(&have, sh))
        return gen_reshape(g, x, sh);
    if (gen_may(g, OP_EXPAND) && expandable(&have, sh) && !shape_equal(&have, sh))
        return gen_expand(g, x, sh);
    if (gen_may(g, OP_SLICE) && find_window(g, &have, sh, lo, hi, by))
        return gen_slice(g, x, lo, hi, by);
    return shape_equal(&have, sh) ? x : -1;
}

int gen_reuse(struct gen *g, enum dtype dt, const struct shape *sh)
{
    int n = g->p->n, start = n ? (int)rng_below(&g->rng, (uint64_t)n) : 0;

    for (int k = 0; k < n; k++) {
        int x = (start + k) % n, y;

        if (gen_at(g, x)->dt != dt || gen_at(g, x)->op == OP_CONST)
            continue;
        y = reuse_node(g, x, sh);
        if (y >= 0)
            return y;
    }
    return -1;
}
