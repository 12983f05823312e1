/*
 * Tiles: sizes round those of the tensor, so that the last one is full, ragged or nearly
 * empty; as many steps of K as the stages want to be full and one more; blocks of mostly one or
 * two warps, since the machine that runs them counts every thread.
 */
#include "fuzz/gen/gpu.h"

void gpu_splitk(struct sched *s, struct gpu_plan *g)
{
    static const int mode[] = {
        [SPLITK_WORKSPACE] = 2, [SPLITK_SERIAL] = 4, [SPLITK_ATOMIC] = 3
    };
    struct step st = { .kind = STEP_SPLITK, .node = { g->node, -1 } };

    if (g->k < 4 || !rng_chance(s->r, 1, 5))
        return;
    st.n = rng_range(s->r, 2, g->k < 16 ? 2 : 3);
    st.mode = (enum splitk_mode)rng_weighted(s->r, mode, 4);
    if (!gpu_try(s, &st)) {
        st.mode = SPLITK_WORKSPACE;
        if (!gpu_try(s, &st))
            return;
    }
    g->k = (g->k + st.n - 1) / st.n;
}

/* A side: a power of two, or at or one beside the extent or half of it. */
static int64_t draw_side(struct sched *s, int64_t extent)
{
    static const int64_t plain[] = { 4, 8, 16, 32 };
    int64_t e = rng_chance(s->r, 1, 2) ? extent : (extent + 1) / 2;

    for (int attempt = 0; attempt < 8 && rng_chance(s->r, 4, 5); attempt++) {
        int64_t side = plain[rng_below(s->r, 4)];

        if (side < 2 * extent && side * 5 > extent)
            return side;
    }
    e += rng_range(s->r, -1, 1);
    return e < 1 ? 1 : e > 40 ? 16 : e;
}

/* K, so that the reduction takes depth + 1 steps or a few more. */
static int64_t draw_step(struct sched *s, int64_t extent, int64_t depth)
{
    static const int64_t step[] = { 1, 2, 3, 4, 5, 6, 7, 8, 12, 16 };
    int weight[10], sum = 0;

    for (int i = 0; i < 10; i++) {
        int64_t tiles = (extent + step[i] - 1) / step[i];

        weight[i] = tiles > depth && tiles <= depth + 5 ? 2 : 0;
        weight[i] *= extent % step[i] ? 2 : 1;
        weight[i] *= step[i] % 4 == 0 ? 2 : 1;
        sum += weight[i];
    }
    if (sum == 0 || rng_chance(s->r, 1, 8))
        return step[rng_below(s->r, 10)];
    return step[rng_weighted(s->r, weight, 10)];
}

/* Threads that share the tile evenly: rows by columns, each a divisor of its side. */
static int64_t draw_threads(struct sched *s, int64_t m, int64_t n)
{
    int64_t most = rng_chance(s->r, 1, 10) ? 256 : 64, best = 1;

    for (int attempt = 0; attempt < 12; attempt++) {
        int64_t rows = 1 + (int64_t)rng_below(s->r, (uint64_t)m);
        int64_t columns = 1 + (int64_t)rng_below(s->r, (uint64_t)n), t = rows * columns;

        if (m % rows || n % columns || t > most || m / rows * (n / columns) > 64)
            continue;
        if (best < 8 || (t >= 8 && rng_chance(s->r, 1, 2)))
            best = t > best || best > 8 ? t : best;
    }
    return best;
}

/* Fragments of 16x8x16, shared by warps. */
static bool tile_mma(struct sched *s, struct gpu_plan *g)
{
    const struct node *n = &s->p->node[g->node];
    struct step st = { .kind = STEP_TILE, .node = { g->node, -1 }, .n_tile = 3, .mma = true };
    int64_t warps, rows;

    if (n->op != OP_MATMUL || dtype_info(s->p->node[n->arg[0].node].dt)->bytes != 2 ||
        !rng_chance(s->r, 4, 5))
        return false;
    st.tile[0] = g->m > 17 && rng_chance(s->r, 1, 2) ? 32 : 16;
    st.tile[1] = 8 * rng_range(s->r, 1, g->n > 16 ? 4 : g->n > 8 ? 2 : 1);
    st.tile[2] = g->k > 40 && rng_chance(s->r, 1, 3) ? 32 : 16;
    rows = rng_chance(s->r, 1, 2) ? st.tile[0] / 16 : 1;
    warps = rng_chance(s->r, 1, 2) ? st.tile[1] / 8 : 1;
    st.threads = 32 * rows * warps;
    if (!gpu_try(s, &st))
        return false;
    g->tile = st;
    if (g->depth > 3)
        g->depth = 3;
    return true;
}

void gpu_tile(struct sched *s, struct gpu_plan *g, bool mma)
{
    struct step st = { .kind = STEP_TILE, .node = { g->node, -1 } };

    if (mma && tile_mma(s, g))
        return;
    for (int attempt = 0; attempt < 3; attempt++) {
        st.tile[0] = draw_side(s, g->m);
        st.tile[1] = draw_side(s, g->n);
        st.tile[2] = g->k ? draw_step(s, g->k, g->depth) : 0;
        st.n_tile = g->k && rng_chance(s->r, 9, 10) ? 3 : 2;
        st.threads = draw_threads(s, st.tile[0], st.tile[1]);
        if (gpu_try(s, &st)) {
            g->tile = st;
            return;
        }
    }
}

void gpu_unroll(struct sched *s, struct gpu_plan *g)
{
    int last = s->p->node[g->node].sh.rank - 1;
    bool k = g->tile.n_tile == 3 && g->tile.tile[2] <= 4;
    struct step st = { .kind = STEP_UNROLL, .node = { -1, -1 }, .n_axis = 1 };

    if (!g->tile.n_tile || g->tile.mma || last < 1 || !rng_chance(s->r, 1, 6))
        return;
    st.axis[0] = gpu_axis(g->node, 'i', last, "11");
    if (k && rng_chance(s->r, 1, 2))
        st.axis[0] = gpu_axis(g->node, 'r', 0, "1");
    gpu_try(s, &st);
}
