/*
 * unroll: "unroll AX" replicates the body of loop AX for each of its values.
 * needs: a short loop that neither blocks nor threads run. keeps: order of iterations. gives:
 * straight code.
 */
#include "lower/bind.h"
#include "lower/nest.h"
#include "lower/passes.h"

enum { MAX_UNROLL = 64, MAX_STATEMENTS = 1024 };

static void unroll_loop(struct lprog *l, struct kernel *list, const struct kernel *k, int at,
                        int end)
{
    int var = k->st[at].var, *to = subst_table(l), n_to = l->n_var;
    int64_t extent = l->var[var].extent;

    for (int64_t v = 0; v < extent; v++) {
        int64_t index = v;

        if (FAULT(l, full_unroll_bookkeeping) && v > 0 && v == extent - 1)
            index = v - 1;
        to[var] = ix_const(&l->ix, index);
        for (int i = at + 1; i < end; i++)
            kernel_push(l, list, stmt_subst(l, &k->st[i], to, n_to));
    }
}

static void unroll_kernel(struct lprog *l, struct kernel *k, int var)
{
    struct kernel list = list_new(k);

    for (int i = 0; i < k->n; i++) {
        if (k->st[i].kind == ST_LOOP && k->st[i].var == var) {
            int end = stmt_end(k, i);

            unroll_loop(l, &list, k, i, end);
            i = end;
        } else {
            kernel_push(l, &list, k->st[i]);
        }
    }
    list_take(k, &list);
}

static int body_statements(const struct kernel *k, int var)
{
    int n = 0;

    for (int i = 0; i < k->n; i++)
        if (k->st[i].kind == ST_LOOP && k->st[i].var == var)
            n += stmt_end(k, i) - i - 1;
    return n;
}

static int unroll_step(struct lprog *l, int step, struct err *e)
{
    const struct step *st = &l->trial->step[step];
    char name[MAX_LABEL];
    bool any = false;

    if (!axis_name(l, st, &st->axis[0], name, e))
        return e->code;
    for (int k = 0; k < l->n_kernel && !l->stopped; k++) {
        int var = kernel_axis(l, k, name);

        if (var < 0)
            continue;
        any = true;
        if (bind_has(&l->kernel[k], var))
            return step_error(st, e, "%s is run by blocks or threads", name);
        if (l->var[var].extent > MAX_UNROLL ||
            l->var[var].extent * body_statements(&l->kernel[k], var) > MAX_STATEMENTS)
            return step_error(
                st, e, "%s has %lld iterations of %d statements; that is too much", name,
                (long long)l->var[var].extent, body_statements(&l->kernel[k], var));
        if (!lprog_rewrite(l, "unroll.full", step, k))
            return 0;
        unroll_kernel(l, &l->kernel[k], var);
    }
    return any ? 0 : step_error(st, e, "no kernel has a loop %s", name);
}

int pass_unroll(struct lprog *l, struct err *e)
{
    return steps_each(l, STEP_UNROLL, unroll_step, e);
}
