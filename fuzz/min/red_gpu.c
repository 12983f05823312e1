/*
 * Reducer over the steps for GPUs: less depth, no asynchrony, no vectors, no tensor cores,
 * fewer threads, the plainer of two ways. Stages at one loop go together, as their depths and
 * ways must be the same. Sizes of tiles are red_tiles.c's.
 */
#include "fuzz/min/reduce.h"

enum gpu_hint {
    HINT_DEPTH, /* to 1, 2, 3, 4: of all stages of the loop */
    HINT_SYNC = HINT_DEPTH + 4,
    HINT_SYNC_PLAIN, /* and of one element at a time */
    HINT_PLAIN,
    HINT_PLAIN_ALONE, /* this stage only */
    HINT_NO_MMA,
    HINT_WORKSPACE,
    HINT_SPLITS, /* to 1, 2, 3, half */
    HINT_ONLINE = HINT_SPLITS + 4,
    HINT_OWN,
    HINT_BLOCK,
    HINT_THREADS, /* to 1, 2, 4, 8, 16, 32, half */
    GPU_HINTS = HINT_THREADS + 7
};

RED_PER_STEP(gpu, GPU_HINTS)

static bool lower_to(int64_t *n, int64_t to)
{
    if (to < 1 || to >= *n)
        return false;
    *n = to;
    return true;
}

static bool stage_shrink(struct step *st, int hint)
{
    bool any = false;

    if (hint < HINT_SYNC)
        return lower_to(&st->depth, hint - HINT_DEPTH + 1);
    if (hint == HINT_SYNC || hint == HINT_SYNC_PLAIN) {
        any = st->async;
        st->async = false;
    }
    if (hint != HINT_SYNC) {
        any |= st->vec > 0;
        st->vec = 0;
    }
    return any;
}

/* All stages of one loop, but for a vector's width, which is each one's own. */
static bool stages_shrink(struct trial *t, int step, int hint)
{
    const struct step *first = &t->step[step];
    bool any = false;

    if (hint == HINT_PLAIN_ALONE)
        return stage_shrink(&t->step[step], hint);
    for (int i = t->n_step - 1; i >= 0; i--) {
        struct axis a, b;

        if (t->step[i].kind != STEP_STAGE)
            continue;
        if (!axis_resolve(&t->prog, &t->step[i].axis[0], &a))
            a = t->step[i].axis[0];
        if (!axis_resolve(&t->prog, &first->axis[0], &b))
            b = first->axis[0];
        if (axis_equal(&a, &b))
            any |= stage_shrink(&t->step[i], hint);
    }
    return any;
}

static bool tile_shrink(struct step *st, int hint)
{
    static const int64_t to[] = { 1, 2, 4, 8, 16, 32 };

    if (hint == HINT_NO_MMA) {
        bool was = st->mma;

        st->mma = false;
        return was;
    }
    if (hint < HINT_THREADS)
        return false;
    hint -= HINT_THREADS;
    return lower_to(&st->threads, hint < 6 ? to[hint] : st->threads / 2);
}

static bool algo_shrink(struct step *st, int hint)
{
    if (st->algo != ALGO_FLASH)
        return false;
    if (hint == HINT_ONLINE) {
        st->algo = ALGO_ONLINE;
        return true;
    }
    hint -= HINT_SPLITS;
    return hint >= 0 && hint < 4 && lower_to(&st->splits, hint < 3 ? hint + 1 : st->splits / 2);
}

static bool set(bool *on, bool to)
{
    bool changed = *on != to;

    *on = to;
    return changed;
}

static bool exchange_own(struct step *st)
{
    bool changed = st->exchange != EXCHANGE_OWN;

    st->exchange = EXCHANGE_OWN;
    return changed;
}

bool red_gpu_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct step *st = &t->step[from / GPU_HINTS];
    int hint = from % GPU_HINTS;

    (void)to, (void)a;
    if (from / GPU_HINTS >= t->n_step)
        return false;
    if (st->kind == STEP_STAGE)
        return hint <= HINT_PLAIN_ALONE && stages_shrink(t, from / GPU_HINTS, hint);
    if (st->kind == STEP_TILE)
        return tile_shrink(st, hint);
    if (st->kind == STEP_ALGO)
        return algo_shrink(st, hint);
    if (st->kind == STEP_EPILOGUE)
        return hint == HINT_OWN && exchange_own(st);
    if (st->kind == STEP_BIND)
        return hint == HINT_BLOCK && set(&st->to_thread, false);
    if (st->kind != STEP_SPLITK || hint != HINT_WORKSPACE || st->mode == SPLITK_WORKSPACE)
        return false;
    st->mode = SPLITK_WORKSPACE;
    return true;
}
