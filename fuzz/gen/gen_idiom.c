/*
 * View patterns that compilers are known to get wrong: two copies round a view, a pad that
 * is reshaped, a head split, a shift or roll by pad and slice, a pad above a cast or above
 * 1/x. Each continues from x and returns the last node.
 */
#include "fuzz/gen/build.h"

/* copy, a view that keeps the extents if two of them are equal, copy */
int idiom_copy_view_copy(struct gen *g, int x)
{
    const struct shape sh = gen_at(g, x)->sh;
    int perm[MAX_RANK], eq[2] = { -1, -1 };

    for (int i = 0; i < sh.rank; i++) {
        perm[i] = i;
        for (int j = 0; j < i; j++)
            if (sh.dim[i] == sh.dim[j] && sh.dim[i] > 1)
                eq[0] = j, eq[1] = i;
    }
    if (rng_chance(&g->rng, 1, 2) && sh.rank > 1)
        x = view_permute(g, x);
    x = gen_unary(g, OP_COPY, x);
    if (eq[0] >= 0 && rng_chance(&g->rng, 3, 4)) {
        perm[eq[0]] = eq[1];
        perm[eq[1]] = eq[0];
        x = gen_permute(g, x, perm);
    } else {
        x = view_any(g, x, shape_count(&sh) * 2 + 8);
    }
    return gen_unary(g, OP_COPY, x);
}

int idiom_pad_reshape(struct gen *g, int x)
{
    x = view_pad(g, x, shape_count(&gen_at(g, x)->sh) * 3 + 8);
    if (rng_chance(&g->rng, 1, 3)) /* another fill outside the first */
        x = view_pad(g, x, shape_count(&gen_at(g, x)->sh) * 2 + 8);
    else if (rng_chance(&g->rng, 1, 4) && gen_at(g, x)->sh.rank > 1)
        x = view_permute(g, x);
    x = view_reshape(g, x);
    return rng_chance(&g->rng, 1, 3) ? view_slice(g, x) : x;
}

/* x moved by s along one axis: what falls out is lost, what comes in is the fill */
int idiom_shift(struct gen *g, int x)
{
    const struct shape sh = gen_at(g, x)->sh;
    int64_t lo[MAX_RANK] = { 0 }, hi[MAX_RANK], by[MAX_RANK], pad[2][MAX_RANK] = { { 0 } };
    int axis = sh.rank ? (int)rng_below(&g->rng, (uint64_t)sh.rank) : -1;
    int64_t s = axis < 0 || sh.dim[axis] < 2 ? 0 : size_small(g, sh.dim[axis] / 2);
    bool left = rng_chance(&g->rng, 1, 2);

    if (s == 0)
        return view_any(g, x, shape_count(&sh) * 2 + 8);
    for (int i = 0; i < sh.rank; i++)
        hi[i] = sh.dim[i], by[i] = 1;
    if (rng_chance(&g->rng, 1, 2)) { /* pad, then a window of it: the guard is a halo */
        pad[left][axis] = s;
        pad[!left][axis] = rng_chance(&g->rng, 1, 2) ? s : 0;
        x = gen_pad(g, x, pad[0], pad[1], view_fill(g, gen_at(g, x)->dt, false));
        lo[axis] = left ? pad[0][axis] + s : 0;
        if (lo[axis] + sh.dim[axis] > gen_at(g, x)->sh.dim[axis])
            lo[axis] = gen_at(g, x)->sh.dim[axis] - sh.dim[axis];
        hi[axis] = lo[axis] + sh.dim[axis];
        return gen_slice(g, x, lo, hi, by);
    }
    lo[axis] = left ? s : 0;
    hi[axis] = sh.dim[axis] - (left ? 0 : s);
    x = gen_slice(g, x, lo, hi, by);
    pad[left][axis] = s;
    return gen_pad(g, x, pad[0], pad[1], view_fill(g, gen_at(g, x)->dt, false));
}

/* roll along one axis: two slices, each padded to full size, added */
int idiom_roll(struct gen *g, int x)
{
    const struct shape sh = gen_at(g, x)->sh;
    int64_t lo[MAX_RANK] = { 0 }, hi[MAX_RANK], by[MAX_RANK], pad[2][MAX_RANK] = { { 0 } };
    int axis = sh.rank ? (int)rng_below(&g->rng, (uint64_t)sh.rank) : -1, a, b;
    int64_t s;

    if (axis < 0 || sh.dim[axis] < 2 || gen_at(g, x)->dt == DT_BOOL)
        return idiom_shift(g, x);
    s = rng_range(&g->rng, 1, sh.dim[axis] - 1);
    for (int i = 0; i < sh.rank; i++)
        hi[i] = sh.dim[i], by[i] = 1;
    lo[axis] = s;
    pad[1][axis] = s;
    a = gen_pad(g, gen_slice(g, x, lo, hi, by), pad[0], pad[1], 0);
    lo[axis] = 0, hi[axis] = s;
    pad[0][axis] = sh.dim[axis] - s, pad[1][axis] = 0;
    b = gen_pad(g, gen_slice(g, x, lo, hi, by), pad[0], pad[1], 0);
    return gen_binary(g, OP_ADD, NODE(a), NODE(b));
}

/* A reshape that cuts across permuted axes: no single set of strides can say it. */
int idiom_cut_permuted(struct gen *g, int x)
{
    struct shape sh = gen_at(g, x)->sh;

    if (sh.rank < 2) {
        size_recut(g, shape_count(&sh), 2, &sh);
        x = gen_reshape(g, x, &sh);
    }
    x = view_permute(g, x);
    size_recut(g, shape_count(&sh), (int)rng_range(&g->rng, 1, 4), &sh);
    x = gen_reshape(g, x, &sh);
    if (sh.rank > 1 && rng_chance(&g->rng, 1, 2))
        x = view_permute(g, x);
    else if (rng_chance(&g->rng, 1, 2))
        x = view_slice(g, x);
    return x;
}

/* The same cut, and every second or third element of it backwards from an odd place. */
int idiom_cut_flip(struct gen *g, int x)
{
    int64_t lo[MAX_RANK], hi[MAX_RANK], by[MAX_RANK];
    struct shape sh = gen_at(g, x)->sh;
    int axis = 0;

    if (sh.rank < 2 || shape_count(&sh) < 6)
        return idiom_cut_permuted(g, x);
    x = view_permute(g, x);
    size_recut(g, shape_count(&sh), (int)rng_range(&g->rng, 1, 3), &sh);
    x = gen_reshape(g, x, &sh);
    for (int i = 0; i < sh.rank; i++) {
        lo[i] = 0, hi[i] = sh.dim[i], by[i] = 1;
        axis = sh.dim[i] > sh.dim[axis] ? i : axis;
    }
    if (sh.dim[axis] < 3)
        return view_slice(g, x);
    by[axis] = sh.dim[axis] > 5 && rng_chance(&g->rng, 1, 3) ? -3 : -2;
    lo[axis] = sh.dim[axis] - 1 - (int64_t)rng_below(&g->rng, 2);
    if (lo[axis] % by[axis] == 0)
        lo[axis]--;
    hi[axis] = rng_range(&g->rng, -1, lo[axis] / 2 - 1);
    return gen_slice(g, x, lo, hi, by);
}

/* bool or i32 cast to a wider dtype, then a fill that the narrow one can't hold */
int idiom_pad_behind_cast(struct gen *g, const struct shape *sh)
{
    bool narrow = rng_chance(&g->rng, 2, 3);
    enum dtype from = narrow ? DT_BOOL : DT_I32;
    enum dtype to = narrow && rng_chance(&g->rng, 1, 3) ? DT_I32 : gen_float(g);
    int64_t before[MAX_RANK] = { 0 }, after[MAX_RANK] = { 0 };
    int x = gen_cast(g, gen_make(g, from, sh, (int)rng_below(&g->rng, 2)), to);
    int axis = (int)rng_below(&g->rng, (uint64_t)(sh->rank ? sh->rank : 1));
    static const double fill[] = { -1, 2, 7, -3, 0.5, 0.25 };

    if (sh->rank == 0)
        return x;
    before[axis] = (int64_t)rng_below(&g->rng, 3);
    after[axis] = before[axis] ? (int64_t)rng_below(&g->rng, 3) : 1;
    x = gen_pad(g, x, before, after, fill[rng_below(&g->rng, to == DT_I32 ? 4 : 6)]);
    if (rng_chance(&g->rng, 1, 2))
        return elem_any(g, x);
    return rng_chance(&g->rng, 1, 2) ? elem_literal(g, x) : x;
}

/* a pad above an op that gives no 0 for 0 */
int idiom_pad_unsafe(struct gen *g, int x)
{
    if (!dtype_is_float(gen_at(g, x)->dt))
        return idiom_pad_reshape(g, x);
    if (rng_chance(&g->rng, 1, 2))
        x = gen_unary(g, OP_RECIP, elem_positive(g, x));
    else
        x = gen_unary(g, OP_EXP, elem_tame(g, x, 4));
    x = view_pad(g, x, shape_count(&gen_at(g, x)->sh) * 2 + 8);
    return rng_chance(&g->rng, 2, 3) ? elem_any(g, x) : gen_unary(g, OP_COPY, x);
}

/* producer, a permute that is not its own inverse, consumer */
int idiom_cycle(struct gen *g, int x)
{
    struct shape sh = gen_at(g, x)->sh;

    if (sh.rank < 3) {
        size_recut(g, shape_count(&sh), 3, &sh);
        x = gen_reshape(g, x, &sh);
    }
    x = view_permute(g, elem_any(g, x));
    return rng_chance(&g->rng, 1, 3) ? gen_unary(g, OP_COPY, x) : elem_any(g, x);
}

int idiom_any(struct gen *g, int x)
{
    switch (rng_below(&g->rng, 10)) {
    case 0:
    case 1:
        return idiom_copy_view_copy(g, x);
    case 2:
        return idiom_pad_reshape(g, x);
    case 3:
        return idiom_shift(g, x);
    case 4:
        return idiom_roll(g, x);
    case 5:
    case 6:
        return idiom_cut_permuted(g, x);
    case 7:
        return idiom_pad_unsafe(g, x);
    case 8:
        return idiom_cut_flip(g, x);
    default:
        return idiom_cycle(g, x);
    }
}
