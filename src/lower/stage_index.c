/* Accesses and index expressions as the passes for shared memory look at them. */
#include <string.h>

#include "lower/stage.h"

int value_map(struct lprog *l, int val, int (*f)(void *ctx, int access), void *ctx)
{
    struct value v = l->value[val];

    if (v.kind == V_LOAD) {
        v.arg[0] = f(ctx, v.arg[0]);
        if (l->access[v.arg[0]].src == SRC_BODY) {
            struct access a = l->access[v.arg[0]];
            int body = value_map(l, a.body, f, ctx);

            if (body != a.body) {
                a.body = body;
                v.arg[0] = lprog_access(l, a);
            }
        }
    }
    for (int i = 0; i < 3 && v.kind == V_OP; i++)
        if (v.arg[i] >= 0)
            v.arg[i] = value_map(l, v.arg[i], f, ctx);
    return memcmp(v.arg, l->value[val].arg, sizeof v.arg) == 0 ? val : lprog_value(l, v);
}

bool access_equal(const struct lprog *l, int a, int b)
{
    const struct access *x = &l->access[a], *y = &l->access[b];

    if (x->src != SRC_BUFFER || y->src != SRC_BUFFER || x->buffer != y->buffer ||
        x->index != y->index || x->n_guard != y->n_guard)
        return false;
    for (int i = 0; i < x->n_guard; i++)
        if (x->guard[i].cond != y->guard[i].cond ||
            memcmp(&x->guard[i].fill, &y->guard[i].fill, sizeof x->guard[i].fill) != 0)
            return false;
    return true;
}

int access_guard(struct lprog *l, int access, int cond)
{
    struct access a = l->access[access];
    struct guard *g = arena_array(l->arena, struct guard, a.n_guard + 1);

    g[0] = (struct guard){ cond, 0 };
    for (int i = 0; i < a.n_guard; i++)
        g[i + 1] = a.guard[i];
    a.guard = g;
    a.n_guard++;
    return lprog_access(l, a);
}

static bool affine_add(const struct ixs *s, int e, int64_t by, int64_t *coef, int64_t *constant)
{
    const struct ix *x = &s->x[e];
    int64_t c;

    if (x->op == IX_ADD)
        return affine_add(s, x->a, by, coef, constant) &&
               affine_add(s, x->b, by, coef, constant);
    if (x->op == IX_MUL && ix_is_const(s, x->b, &c))
        return affine_add(s, x->a, by * c, coef, constant);
    if (x->op == IX_MUL)
        return ix_is_const(s, x->a, &c) && affine_add(s, x->b, by * c, coef, constant);
    if (x->op == IX_CONST)
        *constant += by * x->c;
    else if (x->op == IX_VAR)
        coef[x->c] += by;
    else
        return false;
    return true;
}

bool index_affine(const struct lprog *l, int e, int64_t *coef, int64_t *constant)
{
    for (int v = 0; v < l->n_var; v++)
        coef[v] = 0;
    *constant = 0;
    return affine_add(&l->ix, e, 1, coef, constant);
}

void index_vars(const struct ixs *s, int e, bool *used)
{
    const struct ix *x = &s->x[e];

    if (x->op == IX_VAR) {
        used[x->c] = true;
    } else if (x->op != IX_CONST) {
        index_vars(s, x->a, used);
        index_vars(s, x->b, used);
    }
}

int conjuncts(const struct ixs *s, int cond, int *out, int max)
{
    const struct ix *x = &s->x[cond];
    int n;

    if (x->op != IX_AND) {
        if (max > 0)
            out[0] = cond;
        return 1;
    }
    n = conjuncts(s, x->a, out, max);
    return n + conjuncts(s, x->b, out + (n < max ? n : max), n < max ? max - n : 0);
}
