/*
 * A tensor of a wanted dtype and shape, made backwards: draw what the last node is, derive
 * what shape its operand must have, and make that in turn. So every program is legal and
 * its sizes stay near the ones that were drawn. With nothing left to spend, an existing
 * tensor is taken (through a view, if need be) or a new input.
 */
#include "base/bug.h"
#include "fuzz/gen/build.h"

static void set_mix(struct gen *g, const int mix[MK_COUNT])
{
    for (int i = 0; i < MK_COUNT; i++)
        g->mix[i] = mix[i];
}

/*                         perm resh exp slice pad round unary bin where cast copy red mm iota
 */
void mix_views(struct gen *g)
{
    set_mix(g, (int[MK_COUNT]){ 10, 10, 6, 10, 9, 5, 4, 4, 1, 2, 6, 2, 0, 1 });
}

void mix_fused(struct gen *g)
{
    set_mix(g, (int[MK_COUNT]){ 3, 2, 6, 1, 2, 1, 10, 12, 3, 4, 2, 8, 0, 1 });
}

void mix_all(struct gen *g)
{
    set_mix(g, (int[MK_COUNT]){ 6, 6, 5, 5, 5, 3, 7, 7, 3, 4, 4, 4, 1, 1 });
}

static int leaf(struct gen *g, enum dtype dt, const struct shape *sh)
{
    int x = rng_chance(&g->rng, 2, 5) ? gen_reuse(g, dt, sh) : -1;

    if (x < 0 && g->p->n > 1 && rng_chance(&g->rng, 1, 30) && gen_may(g, OP_CONST) &&
        gen_may(g, OP_EXPAND)) {
        x = gen_const(g, dt, elem_lit(g, dt));
        return sh->rank ? gen_expand(g, x, sh) : x;
    }
    return x >= 0 ? x : gen_input(g, dt, sh);
}

static int make_permute(struct gen *g, enum dtype dt, const struct shape *sh, int budget)
{
    struct shape from = { .rank = sh->rank };
    int perm[MAX_RANK];

    view_draw_perm(g, sh->rank, perm);
    for (int i = 0; i < sh->rank; i++)
        from.dim[perm[i]] = sh->dim[i];
    return gen_permute(g, gen_make(g, dt, &from, budget), perm);
}

static int make_reshape(struct gen *g, enum dtype dt, const struct shape *sh, int budget)
{
    struct shape from;

    size_recut(g, shape_count(sh), (int)rng_range(&g->rng, 1, sh->rank < 4 ? sh->rank + 1 : 4),
               &from);
    return gen_reshape(g, gen_make(g, dt, &from, budget), sh);
}

static int make_expand(struct gen *g, enum dtype dt, const struct shape *sh, int budget)
{
    struct shape from = *sh;
    int lead = sh->rank > 1 && rng_chance(&g->rng, 1, 3)
                   ? (int)rng_range(&g->rng, 1, sh->rank - 1)
                   : 0;

    from.rank -= lead;
    for (int i = 0; i < MAX_RANK; i++)
        from.dim[i] = i < from.rank ? sh->dim[i + lead] : 0;
    for (int i = 0; i < from.rank; i++)
        if (rng_chance(&g->rng, 1, lead ? 4 : 2) || (from.rank == 1 && !lead))
            from.dim[i] = 1;
    return gen_expand(g, gen_make(g, dt, &from, budget), sh);
}

static int make_slice(struct gen *g, enum dtype dt, const struct shape *sh, int budget)
{
    struct shape from = *sh;
    int64_t lo[MAX_RANK], hi[MAX_RANK], by[MAX_RANK];

    for (int i = 0; i < sh->rank; i++) {
        int64_t d = sh->dim[i], step = 1, before = 0, after = 0, last;

        if (rng_chance(&g->rng, 1, 2)) {
            step = d > 9 || rng_chance(&g->rng, 3, 4) ? 1 : 2;
            before = (int64_t)rng_below(&g->rng, 3);
            after = (int64_t)rng_below(&g->rng, 2);
        }
        if (d == 0)
            after += 1, step = 1;
        last = before + (d ? (d - 1) * step : 0);
        from.dim[i] = last + (d ? 1 : 0) + after;
        lo[i] = before, hi[i] = d ? last + 1 : before, by[i] = step;
        if (d > 0 && rng_chance(&g->rng, 1, 4))
            lo[i] = last, hi[i] = before - 1, by[i] = -step;
    }
    return gen_slice(g, gen_make(g, dt, &from, budget), lo, hi, by);
}

static int make_pad(struct gen *g, enum dtype dt, const struct shape *sh, int budget)
{
    struct shape from = *sh;
    int64_t before[MAX_RANK] = { 0 }, after[MAX_RANK] = { 0 };

    for (int i = 0; i < sh->rank; i++) {
        int64_t room = sh->dim[i] / 2, n;

        if (room == 0 || rng_chance(&g->rng, 1, 2))
            continue;
        n = size_small(g, room < 3 ? room : 3);
        before[i] = rng_range(&g->rng, 0, n);
        after[i] = n - before[i];
        from.dim[i] -= n;
    }
    return gen_pad(g, gen_make(g, dt, &from, budget), before, after, view_fill(g, dt, false));
}

/* A repeat where some axis can be one, a roll of the same shape otherwise. */
static int make_round(struct gen *g, enum dtype dt, const struct shape *sh, int budget)
{
    struct shape from = *sh;
    int64_t times[MAX_RANK];
    bool any = false;

    for (int i = 0; i < sh->rank; i++) {
        int64_t by = rng_range(&g->rng, 2, 3);

        times[i] = sh->dim[i] > 0 && sh->dim[i] % by == 0 && rng_chance(&g->rng, 1, 2) ? by : 1;
        from.dim[i] /= times[i];
        any |= times[i] > 1;
    }
    if (any && gen_may(g, OP_REPEAT) && rng_chance(&g->rng, 2, 3))
        return gen_repeat(g, gen_make(g, dt, &from, budget), times);
    return view_roll(g, gen_make(g, dt, sh, budget));
}

static int make_cast(struct gen *g, enum dtype dt, const struct shape *sh, int budget)
{
    enum dtype from = gen_other(g, dt);
    int x = gen_make(g, from, sh, budget);

    if (!dtype_is_float(dt) && dtype_is_float(from) && !g->hint[x].exact) /* a jump */
        return dt == DT_BOOL ? elem_compare(g, x, LIT(elem_lit(g, from)))
                             : gen_cast(g, gen_input(g, DT_BOOL, sh), dt);
    return gen_cast(g, elem_tame(g, x, dtype_limit(dt)), dt);
}

static int make_reduce(struct gen *g, enum dtype dt, const struct shape *sh, int budget)
{
    struct shape from = *sh;
    int64_t count = shape_count(sh), d = size_draw(g);
    int at = (int)rng_below(&g->rng, (uint64_t)sh->rank + 1);

    if (count * d > g->want)
        d = count < g->want / 2 ? 2 + (int64_t)rng_below(&g->rng, 3) : 2;
    for (int i = from.rank++; i > at; i--)
        from.dim[i] = from.dim[i - 1];
    from.dim[at] = d;
    return reduce_op(g, gen_make(g, dt, &from, budget), 1u << at, false);
}

static int make_matmul(struct gen *g, enum dtype dt, const struct shape *sh, int budget)
{
    struct shape a = *sh, b = *sh;
    int64_t k = size_draw(g);
    int x, y;

    if (shape_count(sh) * k > g->want * 2)
        k = 2;
    a.dim[sh->rank - 1] = k;
    b.dim[sh->rank - 2] = k;
    x = gen_make(g, dt, &a, budget / 2);
    y = gen_make(g, dt, &b, budget / 2);
    return rng_chance(&g->rng, 1, 5) ? matmul_scaled(g, x, y) : gen_matmul(g, x, y);
}

static int make_binary(struct gen *g, enum dtype dt, const struct shape *sh, int budget)
{
    int x, y;

    if (dt == DT_BOOL && rng_chance(&g->rng, 1, 2)) {
        enum dtype of = gen_dtype(g);

        x = gen_make(g, of, sh, budget);
        if (rng_chance(&g->rng, 1, 2))
            return elem_compare(g, x, LIT(elem_lit(g, of)));
        return elem_compare(g, x, NODE(gen_make(g, of, sh, 0)));
    }
    x = gen_make(g, dt, sh, budget - budget / 3);
    if (dt != DT_BOOL && rng_chance(&g->rng, 1, 4))
        return elem_literal(g, x);
    y = rng_chance(&g->rng, 1, 4) ? gen_reuse(g, dt, sh) : -1;
    return elem_binary(g, x, y >= 0 ? y : gen_make(g, dt, sh, budget / 3));
}

static int make_where(struct gen *g, enum dtype dt, const struct shape *sh, int budget)
{
    int cond = gen_make(g, DT_BOOL, sh, budget / 2);
    struct arg x = NODE(gen_make(g, dt, sh, budget / 2)), y = LIT(elem_lit(g, dt));

    if (rng_chance(&g->rng, 1, 2))
        y = NODE(gen_make(g, dt, sh, 0));
    return rng_chance(&g->rng, 1, 2) ? gen_where(g, cond, x, y) : gen_where(g, cond, y, x);
}

/* The kinds that dtype, shape and the command line allow. */
static enum make_kind draw_kind(struct gen *g, enum dtype dt, const struct shape *sh)
{
    static const enum op needs[MK_COUNT] = {
        OP_PERMUTE, OP_RESHAPE, OP_EXPAND, OP_SLICE, OP_PAD, OP_ROLL,   OP_COPY,
        OP_COPY,    OP_WHERE,   OP_CAST,   OP_COPY,  OP_SUM, OP_MATMUL, OP_IOTA,
    };
    int64_t count = shape_count(sh), sum = 0;
    int weight[MK_COUNT];

    for (int i = 0; i < MK_COUNT; i++) {
        bool elem = i == MK_UNARY || i == MK_BINARY;
        bool ok = elem || gen_may(g, needs[i]);

        if (i == MK_PERMUTE || i == MK_MATMUL)
            ok = ok && sh->rank >= 2;
        if (i == MK_EXPAND || i == MK_PAD || i == MK_IOTA || i == MK_SLICE || i == MK_ROUND)
            ok = ok && sh->rank >= 1;
        if (i == MK_REDUCE)
            ok = ok && dt != DT_BOOL && sh->rank < 5 && count * 2 <= g->want;
        if (i == MK_MATMUL || i == MK_IOTA)
            ok = ok && dt != DT_BOOL;
        if (i == MK_IOTA)
            ok = ok && g->p->n > 0;
        weight[i] = ok ? g->mix[i] : 0;
        sum += weight[i];
    }
    if (sum == 0)
        gen_give_up(g);
    return (enum make_kind)rng_weighted(&g->rng, weight, MK_COUNT);
}

int gen_make(struct gen *g, enum dtype dt, const struct shape *shape, int budget)
{
    struct shape sh = *shape; /* the node it came from may move */

    if (budget <= 0 || g->depth > 10 || !gen_room(g, 1))
        return leaf(g, dt, &sh);
    budget--;
    g->depth++;
    int x = -1;
    switch (draw_kind(g, dt, &sh)) {
    case MK_PERMUTE:
        x = make_permute(g, dt, &sh, budget);
        break;
    case MK_RESHAPE:
        x = make_reshape(g, dt, &sh, budget);
        break;
    case MK_EXPAND:
        x = make_expand(g, dt, &sh, budget);
        break;
    case MK_SLICE:
        x = make_slice(g, dt, &sh, budget);
        break;
    case MK_PAD:
        x = make_pad(g, dt, &sh, budget);
        break;
    case MK_ROUND:
        x = make_round(g, dt, &sh, budget);
        break;
    case MK_UNARY:
        x = elem_unary(g, gen_make(g, dt, &sh, budget));
        break;
    case MK_BINARY:
        x = make_binary(g, dt, &sh, budget);
        break;
    case MK_WHERE:
        x = make_where(g, dt, &sh, budget);
        break;
    case MK_CAST:
        x = make_cast(g, dt, &sh, budget);
        break;
    case MK_COPY:
        x = gen_unary(g, OP_COPY, gen_make(g, dt, &sh, budget));
        break;
    case MK_REDUCE:
        x = make_reduce(g, dt, &sh, budget);
        break;
    case MK_MATMUL:
        x = make_matmul(g, dt, &sh, budget);
        break;
    case MK_IOTA:
        x = gen_iota(g, dt, &sh, (int)rng_below(&g->rng, (uint64_t)sh.rank));
        break;
    case MK_COUNT:
        BUG("no kind of node was drawn");
    }
    g->depth--;
    return x;
}
