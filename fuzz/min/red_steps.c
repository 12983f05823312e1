/*
 * Reducers over the schedule and over layouts: fewer steps, smaller numbers in them, dense
 * inputs and outputs.
 */
#include "fuzz/min/reduce.h"

int red_steps_count(const struct trial *t, struct arena *scratch)
{
    (void)scratch;
    return t->n_step;
}

bool red_steps_apply(struct trial *t, int from, int to, struct arena *a)
{
    (void)a;
    if (from >= t->n_step)
        return false;
    for (int i = (to < t->n_step ? to : t->n_step) - 1; i >= from; i--)
        trial_drop_step(t, i);
    return true;
}

enum { ARG_HINTS = MAX_STEP_AXES + 4 };

int red_stepargs_count(const struct trial *t, struct arena *scratch)
{
    (void)scratch;
    return t->n_step * ARG_HINTS;
}

static bool step_shrink_number(struct step *st, int hint)
{
    const int64_t to[4] = { 2, 3, 4, st->n / 2 };

    if (st->kind == STEP_REORDER || st->n <= to[hint] || to[hint] < 2)
        return false;
    if (hint == 3 && to[3] <= 4)
        return false;
    st->n = to[hint];
    return true;
}

/* Hints of one step: numbers 2, 3, 4, half; then each axis of a reorder left out. */
bool red_stepargs_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct step *st = &t->step[from / ARG_HINTS];
    int hint = from % ARG_HINTS;

    (void)to, (void)a;
    if (from / ARG_HINTS >= t->n_step)
        return false;
    if (hint < 4)
        return step_shrink_number(st, hint);
    hint -= 4;
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
