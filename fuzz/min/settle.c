/*
 * After an edit: shapes inferred from scratch, dead nodes gone, steps dropped that lost the
 * node or axis they named.
 */
#include <string.h>

#include "fuzz/min/reduce.h"

const struct reducer reducers[] = {
#define RED(id, chunks, data, help)                                                            \
    { #id, chunks, data, red_##id##_count, red_##id##_apply, help },
#include "fuzz/min/reducers.def"
#undef RED
};
const int n_reducers = sizeof reducers / sizeof reducers[0];

void steps_rename(struct trial *t, int from, int to)
{
    for (int i = 0; i < t->n_step; i++)
        for (int k = 0; k < 2; k++)
            if (t->step[i].node[k] == from)
                t->step[i].node[k] = to;
}

struct values *trial_values(struct trial *t, int node)
{
    for (int i = 0; i < t->n_values; i++)
        if (t->values[i].node == node)
            return &t->values[i];
    return NULL;
}

int settle_blamed(const struct trial *t, const struct err *e)
{
    int at = e->line - SETTLE_LINE;

    return at >= 0 && at < t->n_step ? at : -1;
}

static void steps_number(struct trial *t)
{
    for (int i = 0; i < t->n_step; i++)
        t->step[i].line = SETTLE_LINE + i;
}

bool trial_settle(struct trial *t, struct arena *a)
{
    struct prog *p = &t->prog;
    bool *keep;
    struct err e = { 0 };

    if (p->n_out == 0)
        return false;
    for (int i = 0; i < p->n; i++)
        if (node_infer(p, &p->node[i], &e))
            return false;
    keep = arena_array(a, bool, p->n);
    prog_live(p, keep);
    trial_compact(t, keep);
    for (;;) {
        int at;

        steps_number(t);
        e = (struct err){ 0 };
        if (trial_check(t, &e) == 0)
            return true;
        at = settle_blamed(t, &e);
        if (at < 0)
            return false;
        trial_drop_step(t, at);
    }
}
