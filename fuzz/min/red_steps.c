/*
 * Reducers over the schedule and over layouts: fewer steps, smaller numbers in them, dense
 * inputs and outputs.
 */
#include "fuzz/min/reduce.h"

RED_PER_STEP(steps, 1)

bool red_steps_apply(struct trial *t, int from, int to, struct arena *a)
{
    (void)a;
    if (from >= t->n_step)
        return false;
    for (int i = (to < t->n_step ? to : t->n_step) - 1; i >= from; i--)
        trial_drop_step(t, i);
    return true;
}

enum { ARG_NUMBERS = 4, ARG_HINTS = MAX_STEP_AXES + ARG_NUMBERS + 2 };

RED_PER_STEP(stepargs, ARG_HINTS)

static bool step_shrink_number(struct step *st, int hint)
{
    const int64_t to[ARG_NUMBERS] = { 2, 3, 4, st->n / 2 };

    if (st->kind == STEP_REORDER || st->n <= to[hint] || to[hint] < 2)
        return false;
    if (hint == 3 && to[3] <= 4)
        return false;
    st->n = to[hint];
    return true;
}

static bool step_simplify_algo(struct step *st, bool block)
{
    if (st->kind != STEP_ALGO || (block ? st->n <= 1 : st->algo != ALGO_SPLIT))
        return false;
    if (block)
        st->n = 1;
    else
        st->algo = ALGO_ONLINE;
    return true;
}

/* Hints of one step: numbers 2, 3, 4, half; blocks of 1; the simpler of two algorithms; then
 * each axis of a reorder left out. */
bool red_stepargs_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct step *st = &t->step[from / ARG_HINTS];
    int hint = from % ARG_HINTS;

    (void)to, (void)a;
    if (from / ARG_HINTS >= t->n_step)
        return false;
    if (hint < ARG_NUMBERS)
        return step_shrink_number(st, hint);
    hint -= ARG_NUMBERS;
    if (hint < 2)
        return step_simplify_algo(st, hint == 0);
    hint -= 2;
    if (st->kind != STEP_REORDER || hint >= st->n_axis || st->n_axis <= 2)
        return false;
    for (int i = hint; i + 1 < st->n_axis; i++)
        st->axis[i] = st->axis[i + 1];
    st->n_axis--;
    return true;
}

/* Hints: nodes (inputs with a layout), then outputs. */
int red_layouts_count(const struct trial *t, struct arena *scratch)
{
    (void)scratch;
    return t->prog.n + t->prog.n_out;
}

bool red_layouts_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct prog *p = &t->prog;
    bool any = false;

    (void)a;
    for (int i = from; i < to && i < p->n + p->n_out; i++) {
        struct layout *l = i < p->n ? &p->node[i].layout : &p->out[i - p->n].layout;

        any |= l->given;
        *l = (struct layout){ 0 };
    }
    return any;
}
