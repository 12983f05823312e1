/*
 * split: "split AX N" turns the loop AX into AX.0 (ceil(extent/N)) and AX.1 (N).
 * needs: composed accesses. keeps: perfect nests stay perfect but for an IF round the body
 * where N does not divide. gives: shorter loops; one rewrite for each kernel that has AX.
 */
#include <stdio.h>

#include "lower/nest.h"
#include "lower/passes.h"

struct split {
    int var, outer, inner;
    int index; /* outer * n + inner */
    int cond;  /* index < extent, or -1 */
};

static int half(struct lprog *l, int var, int which, int64_t extent)
{
    const char *name = arena_printf(l->arena, "%s.%d", l->var[var].name, which);

    return lprog_var(l, l->var[var].node, name, extent, l->var[var].reduce);
}

static struct split split_var(struct lprog *l, int var, int64_t n)
{
    int64_t extent = l->var[var].extent;
    struct split s = { .var = var, .cond = -1 };

    s.outer = half(l, var, 0, (extent + n - 1) / n);
    s.inner = half(l, var, 1, n);
    s.index =
        ix_add(&l->ix, ix_scale(&l->ix, ix_var(&l->ix, s.outer), n), ix_var(&l->ix, s.inner));
    if (extent % n != 0)
        s.cond = ix_lt(&l->ix, s.index, ix_const(&l->ix, extent));
    return s;
}

static void split_aliases(struct lprog *l, int kernel, const struct split *s)
{
    for (int i = 0, n = l->n_alias; i < n; i++) {
        struct alias a = l->alias[i];

        for (int which = 0; which < 2 && a.kernel == kernel && a.var == s->var; which++) {
            struct alias b = { .kernel = kernel, .var = which ? s->inner : s->outer };

            if (snprintf(b.name, sizeof b.name, "%s.%d", a.name, which) < (int)sizeof b.name)
                *arena_push(l->arena, l->alias, l->n_alias, l->cap_alias) = b;
        }
    }
}

static void split_kernel(struct lprog *l, struct kernel *k, const struct split *s)
{
    struct kernel list = list_new(k);
    int *to = subst_table(l), n_to = l->n_var, *extra = arena_array(l->arena, int, k->n);
    bool guarded = s->cond >= 0;

    if (FAULT(l, split_guard_dropped) && l->var[s->var].reduce)
        guarded = false;
    to[s->var] = s->index;
    for (int i = 0; i < k->n; i++) {
        const struct stmt *st = &k->st[i];

        if (st->kind == ST_LOOP && st->var == s->var) {
            push_loop(l, &list, s->outer, st->loop);
            push_loop(l, &list, s->inner, st->loop);
            if (guarded)
                push_if(l, &list, s->cond);
            extra[stmt_end(k, i)] = guarded ? 2 : 1;
        } else {
            kernel_push(l, &list, stmt_subst(l, st, to, n_to));
            push_end(l, &list, extra[i]);
        }
        if (FAULT(l, padto_identity_element) && st->kind == ST_UPDATE && s->cond >= 0 &&
            l->var[s->var].reduce)
            l->acc[st->acc].identity = OP_SUM;
    }
    list_take(k, &list);
}

static int split_step(struct lprog *l, int step, struct err *e)
{
    const struct step *st = &l->trial->step[step];
    struct split s = { .var = -1 };
    char name[MAX_LABEL];
    bool any = false;

    if (!axis_name(l, st, &st->axis[0], name, e))
        return e->code;
    for (int k = 0; k < l->n_kernel && !l->stopped; k++) {
        int var = kernel_axis(l, k, name);

        if (var < 0)
            continue;
        any = true;
        if (var != s.var)
            s = split_var(l, var, st->n);
        if (!lprog_rewrite(l, s.cond >= 0 ? "split.ragged" : "split.even", step, k))
            return 0;
        split_kernel(l, &l->kernel[k], &s);
        split_aliases(l, k, &s);
    }
    return any ? 0 : step_error(st, e, "no kernel has a loop %s", name);
}

int pass_split(struct lprog *l, struct err *e)
{
    return steps_each(l, STEP_SPLIT, split_step, e);
}
