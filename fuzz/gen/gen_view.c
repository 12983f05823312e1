/*
 * One legal view node on top of a tensor. Permutes are rarely involutions, reshapes cut
 * across permuted axes, slices run backwards over a part of an axis, pads fill with values
 * that a narrower dtype below could not hold.
 */
#include "fuzz/gen/build.h"

/* A permutation that is not the identity; from rank 3 on mostly one that is not its own
 * inverse either. */
void view_draw_perm(struct gen *g, int rank, int *perm)
{
    int axis[MAX_RANK], k = rank;

    for (int i = 0; i < rank; i++)
        perm[i] = axis[i] = i;
    if (rank < 2)
        return;
    rng_shuffle(&g->rng, axis, rank);
    if (rank == 2 || rng_chance(&g->rng, 1, 3))
        k = 2;
    else if (rank > 3 && rng_chance(&g->rng, 1, 2))
        k = 3;
    for (int i = 0; i < k; i++) /* one cycle over k axes */
        perm[axis[i]] = axis[(i + 1) % k];
}

int view_permute(struct gen *g, int x)
{
    int perm[MAX_RANK];

    view_draw_perm(g, gen_at(g, x)->sh.rank, perm);
    return gen_permute(g, x, perm);
}

/* Merges axes i and i+1. */
static void merge_axes(struct shape *sh, int i)
{
    sh->dim[i] *= sh->dim[i + 1];
    sh->rank--;
    for (int j = i + 1; j < sh->rank; j++)
        sh->dim[j] = sh->dim[j + 1];
    sh->dim[sh->rank] = 0;
}

static void insert_one(struct shape *sh, int at)
{
    for (int j = sh->rank; j > at; j--)
        sh->dim[j] = sh->dim[j - 1];
    sh->dim[at] = 1;
    sh->rank++;
}

int view_reshape(struct gen *g, int x)
{
    struct shape sh = gen_at(g, x)->sh;
    int64_t count = shape_count(&sh);
    int kind = (int)rng_below(&g->rng, 10);

    if (kind < 3 && sh.rank >= 2)
        merge_axes(&sh, (int)rng_below(&g->rng, (uint64_t)(sh.rank - 1)));
    else if (kind < 5 && sh.rank < 5)
        insert_one(&sh, (int)rng_below(&g->rng, (uint64_t)(sh.rank + 1)));
    else if (kind < 6)
        sh = (struct shape){ .rank = 1, .dim = { count } };
    else /* another cut of the whole, often of higher rank */
        size_recut(g, count,
                   (int)rng_range(&g->rng, sh.rank ? 2 : 1, sh.rank < 4 ? sh.rank + 1 : 4),
                   &sh);
    return gen_reshape(g, x, &sh);
}

int view_expand(struct gen *g, int x, int64_t cap)
{
    struct shape sh = gen_at(g, x)->sh;
    int64_t room = shape_count(&sh) > 0 ? cap / shape_count(&sh) : 1;
    int one[MAX_RANK], n = 0, at;
    int64_t d = size_draw(g);

    if (d > room)
        d = room < 1 ? 1 : room > 4 ? size_small(g, room) : room;
    for (int i = 0; i < sh.rank; i++)
        if (sh.dim[i] == 1)
            one[n++] = i;
    if (n > 0 && rng_chance(&g->rng, 2, 3)) {
        sh.dim[one[rng_below(&g->rng, (uint64_t)n)]] = d;
        return gen_expand(g, x, &sh);
    }
    at = rng_chance(&g->rng, 1, 3) ? 0 : (int)rng_below(&g->rng, (uint64_t)(sh.rank + 1));
    if (sh.rank >= 6)
        return view_permute(g, x);
    insert_one(&sh, at);
    if (at != 0) /* only leading axes come for nothing */
        x = gen_reshape(g, x, &sh);
    sh.dim[at] = d;
    return gen_expand(g, x, &sh);
}

/* A slice of an axis of extent d that keeps at least one element (none if d is 0). */
void view_slice_axis(struct gen *g, int64_t d, int64_t *lo, int64_t *hi, int64_t *by)
{
    int kind = (int)rng_below(&g->rng, 10);

    *lo = 0, *hi = d, *by = 1;
    if (d == 0)
        return;
    if (d == 1) { /* steps over a single element are no steps at all */
        if (kind < 3)
            *hi = -1, *by = -1 - (int64_t)rng_below(&g->rng, 2);
        else if (kind < 7)
            *by = rng_range(&g->rng, 2, 4);
    } else if (kind < 3) { /* a window */
        *lo = (int64_t)rng_below(&g->rng, (uint64_t)(d + 1) / 2);
        *hi = rng_range(&g->rng, *lo + (d - *lo + 1) / 2, d);
    } else if (kind < 5) { /* every second or third */
        *by = rng_range(&g->rng, 2, 3);
        *lo = (int64_t)rng_below(&g->rng, (uint64_t)(*by < d ? *by : d));
    } else if (kind < 6) { /* all of it backwards */
        *lo = d - 1, *hi = -1, *by = -1;
    } else { /* a part of it backwards */
        *lo = rng_range(&g->rng, d / 2, d - 1);
        *hi = rng_range(&g->rng, -1, *lo / 2 - (*lo < 2));
        *by = rng_chance(&g->rng, 1, 3) ? -2 : -1;
    }
}

int view_slice(struct gen *g, int x)
{
    const struct shape sh = gen_at(g, x)->sh;
    int64_t lo[MAX_RANK], hi[MAX_RANK], by[MAX_RANK];
    int at = sh.rank ? (int)rng_below(&g->rng, (uint64_t)sh.rank) : 0;

    for (int i = 0; i < sh.rank; i++) {
        lo[i] = 0, hi[i] = sh.dim[i], by[i] = 1;
        if (i == at || rng_chance(&g->rng, 1, 3))
            view_slice_axis(g, sh.dim[i], &lo[i], &hi[i], &by[i]);
    }
    return gen_slice(g, x, lo, hi, by);
}

double view_fill(struct gen *g, enum dtype dt, bool nonzero)
{
    static const double real[] = { -1, 1, 0.5, 2, -3, 7, 0.1, -0.75, 11 };
    static const double whole[] = { -1, 1, 2, -7, 300, 1000, -100000, 70000 };

    if (!nonzero && rng_chance(&g->rng, 2, 5))
        return 0;
    if (dt == DT_BOOL)
        return 1;
    if (dt == DT_I32)
        return whole[rng_below(&g->rng, 8)];
    return real[rng_below(&g->rng, 9)];
}

int view_pad(struct gen *g, int x, int64_t cap)
{
    const struct shape sh = gen_at(g, x)->sh;
    int64_t before[MAX_RANK] = { 0 }, after[MAX_RANK] = { 0 }, count = shape_count(&sh);
    int tries = rng_chance(&g->rng, 1, 3) ? 2 : 1;

    for (int t = 0; t < tries && sh.rank > 0; t++) {
        int i = (int)rng_below(&g->rng, (uint64_t)sh.rank);
        int64_t b = (int64_t)rng_below(&g->rng, 3), a = (int64_t)rng_below(&g->rng, 3);
        int64_t now = sh.dim[i] + before[i] + after[i];

        if (a + b == 0)
            a = 1;
        if (now > 0 && count / now * (now + a + b) > cap)
            continue;
        count = now > 0 ? count / now * (now + a + b) : 0;
        before[i] += b;
        after[i] += a;
    }
    return gen_pad(g, x, before, after, view_fill(g, gen_at(g, x)->dt, false));
}

/* Shifts of one axis, or of a few; further round than once, now and then, and both ways. */
int view_roll(struct gen *g, int x)
{
    const struct shape sh = gen_at(g, x)->sh;
    int64_t shift[MAX_RANK] = { 0 };
    int at = sh.rank ? (int)rng_below(&g->rng, (uint64_t)sh.rank) : 0;

    for (int i = 0; i < sh.rank; i++) {
        int64_t d = sh.dim[i];

        if (i != at && !rng_chance(&g->rng, 1, 4))
            continue;
        shift[i] = d > 1 ? rng_range(&g->rng, 1, d - 1) : rng_range(&g->rng, -1, 1);
        shift[i] -= rng_chance(&g->rng, 1, 3) ? d : 0;
        shift[i] += rng_chance(&g->rng, 1, 8) ? 2 * d : 0;
    }
    return gen_roll(g, x, shift);
}

int view_repeat(struct gen *g, int x, int64_t cap)
{
    const struct shape sh = gen_at(g, x)->sh;
    int64_t times[MAX_RANK] = { 0 }, count = shape_count(&sh);
    int at = sh.rank ? (int)rng_below(&g->rng, (uint64_t)sh.rank) : 0;

    for (int i = 0; i < sh.rank; i++) {
        times[i] = i == at || rng_chance(&g->rng, 1, 5) ? rng_range(&g->rng, 2, 3) : 1;
        if (count * times[i] > cap)
            times[i] = count * 2 > cap ? 1 : 2;
        count *= times[i];
    }
    return gen_repeat(g, x, times);
}

enum { VIEWS = 7 };

int view_any(struct gen *g, int x, int64_t cap)
{
    static const enum op op[VIEWS] = { OP_PERMUTE, OP_RESHAPE, OP_EXPAND, OP_SLICE,
                                       OP_PAD,     OP_ROLL,    OP_REPEAT };
    int weight[VIEWS] = { 10, 10, 5, 9, 7, 4, 3 }, sum = 0;
    int64_t count = shape_count(&gen_at(g, x)->sh);

    if (gen_at(g, x)->sh.rank < 2)
        weight[0] = 0;
    if (gen_at(g, x)->sh.rank == 0)
        weight[3] = weight[4] = weight[5] = weight[6] = 0;
    if (count * 2 > cap)
        weight[2] = weight[6] = 0;
    for (int i = 0; i < VIEWS; i++)
        sum += weight[i] = gen_may(g, op[i]) ? weight[i] : 0;
    if (sum == 0)
        gen_give_up(g);
    switch (rng_weighted(&g->rng, weight, VIEWS)) {
    case 0:
        return view_permute(g, x);
    case 1:
        return view_reshape(g, x);
    case 2:
        return view_expand(g, x, cap);
    case 3:
        return view_slice(g, x);
    case 4:
        return view_pad(g, x, cap);
    case 5:
        return view_roll(g, x);
    default:
        return view_repeat(g, x, cap);
    }
}

int view_chain(struct gen *g, int x, int n, int64_t cap)
{
    for (int i = 0; i < n; i++)
        x = view_any(g, x, cap);
    return x;
}

/* r was reduced from shape sh over axes (kept or not): seen again in that shape. */
int view_broadcast(struct gen *g, int r, uint32_t axes, const struct shape *sh)
{
    struct shape one = *sh;

    for (int i = 0; i < sh->rank; i++)
        if (axes >> i & 1)
            one.dim[i] = 1;
    if (!shape_equal(&gen_at(g, r)->sh, &one))
        r = gen_reshape(g, r, &one);
    return shape_equal(&one, sh) ? r : gen_expand(g, r, sh);
}
