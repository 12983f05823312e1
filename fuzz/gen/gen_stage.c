/*
 * Stages of shared memory, and what goes with them: rings of several stages, asynchronous
 * copies, wide ones, swizzles, results through shared memory.
 */
#include "fuzz/gen/gpu.h"

/* The loop that stages stand in: steps of K; where nothing is reduced, a thread's rows. */
static struct axis stage_axis(const struct gpu_plan *g, const struct sched *s)
{
    if (g->k && g->tile.n_tile == 3)
        return gpu_axis(g->node, 'r', 0, "0");
    if (g->k)
        return gpu_axis(g->node, 'r', 0, "");
    return gpu_axis(g->node, 'i', s->p->node[g->node].sh.rank - 2, "11");
}

/* The bytes of one copy: what asynchronous ones take, and what hardware likes. */
static int64_t draw_vec(struct sched *s, int64_t bytes, bool async)
{
    static const int weight[] = { 0, 2, 4, 5, 4 };
    int64_t vec = 1 << rng_weighted(s->r, weight, 5);

    if (vec < bytes || rng_chance(s->r, 1, 2))
        vec = 0;
    if (async && bytes == 2 && vec < 4)
        vec = 4 << rng_below(s->r, 3);
    return vec;
}

/* As drawn; else in smaller pieces, down to what one copy must have. */
static bool stage_one(struct sched *s, struct step *st, int64_t bytes)
{
    int64_t least = st->async && bytes == 2 ? 4 : bytes;

    for (;; st->vec /= 2) {
        if (st->vec <= least)
            st->vec = least > bytes ? least : 0;
        if (gpu_try(s, st))
            return true;
        if (st->vec <= least)
            return false;
    }
}

/* Stages of both operands, or of one, all in the same way. */
static void stage_operands(struct sched *s, struct gpu_plan *g, struct step *st, int only)
{
    const struct node *n = &s->p->node[g->node];
    int from = n->arg[0].node >= 0 || n->n_arg == 1 ? n->arg[0].node : n->arg[1].node;
    enum dtype dt = from >= 0 ? s->p->node[from].dt : n->dt; /* a literal has its partner's */

    for (int k = 0; k < (g->k ? 2 : 1); k++) {
        if (only >= 0 && k != only)
            continue;
        st->operand = (char)('a' + k);
        st->vec = draw_vec(s, dtype_info(dt)->bytes, st->async);
        if (stage_one(s, st, dtype_info(dt)->bytes))
            g->stage[g->n_stage++] = *st;
    }
}

static void stage_plain(struct sched *s, struct gpu_plan *g)
{
    struct step st = { .kind = STEP_STAGE, .node = { g->node, -1 }, .n_axis = 1 };
    int only = rng_chance(s->r, 4, 5) ? -1 : (int)rng_below(s->r, 2);

    if (rng_chance(s->r, 1, 8))
        return;
    st.axis[0] = stage_axis(g, s);
    st.depth = g->depth;
    st.async = rng_chance(s->r, 2, 3);
    stage_operands(s, g, &st, only);
    if (g->n_stage > 0 || (!st.async && st.depth == 1))
        return;
    if (!st.async || rng_chance(s->r, 1, 2))
        st.depth = 1;
    st.async = false;
    stage_operands(s, g, &st, only);
}

/* Tensor cores take both operands from shared memory: legal together only. */
static void stage_mma(struct sched *s, struct gpu_plan *g)
{
    struct step st[2];

    for (int attempt = 0; attempt < 4 && g->n_stage == 0; attempt++) {
        bool async = attempt < 2 && rng_chance(s->r, 3, 4);

        for (int k = 0; k < 2; k++) {
            st[k] = (struct step){ .kind = STEP_STAGE, .node = { g->node, -1 }, .n_axis = 1 };
            st[k].axis[0] = stage_axis(g, s);
            st[k].operand = (char)('a' + k);
            st[k].async = async;
            st[k].depth = attempt < 3 ? g->depth : 1;
            st[k].vec = attempt == 0 ? draw_vec(s, 2, async) : async ? 4 : 0;
        }
        if (!gpu_try_pair(s, &st[0], &st[1]))
            continue;
        g->stage[g->n_stage++] = st[0];
        g->stage[g->n_stage++] = st[1];
    }
    if (g->n_stage == 0) { /* then without */
        gpu_drop_mma(s);
        g->tile.mma = false;
        stage_plain(s, g);
    }
}

void gpu_stage(struct sched *s, struct gpu_plan *g)
{
    if (g->tile.mma)
        stage_mma(s, g);
    else if (g->tile.n_tile)
        stage_plain(s, g);
}

void gpu_epilogue(struct sched *s, struct gpu_plan *g)
{
    struct step st = { .kind = STEP_EPILOGUE, .node = { g->node, -1 } };

    if (!g->tile.n_tile || !g->k || !rng_chance(s->r, 2, 3))
        return;
    if (rng_chance(s->r, 1, 6))
        st.exchange = EXCHANGE_GLOBAL;
    else if (rng_chance(s->r, 3, 4))
        st.exchange = EXCHANGE_ALIAS;
    gpu_try(s, &st);
}

void gpu_swizzle(struct sched *s, const struct gpu_plan *g)
{
    for (int k = 0; k < g->n_stage; k++) {
        struct step st = { .kind = STEP_SWIZZLE, .node = { g->node, -1 } };

        st.operand = g->stage[k].operand;
        if (rng_chance(s->r, 1, 4))
            gpu_try(s, &st);
    }
}
