/* Rebuilding values and accesses with loop variables replaced; what stays is shared. */
#include "lower/nest.h"

#include <string.h>

int access_subst(struct lprog *l, int access, const int *to, int n_to)
{
    struct access a = l->access[access];
    bool changed = false;

    if (a.src == SRC_BODY) {
        a.body = value_subst(l, a.body, to, n_to);
        changed |= a.body != l->access[access].body;
    }
    for (int d = 0; !a.composed && d < a.n_idx; d++) {
        int idx = ix_subst(&l->ix, a.idx[d], to, n_to);

        changed |= idx != a.idx[d];
        a.idx[d] = idx;
    }
    if (a.composed) {
        struct guard *g = arena_array(l->arena, struct guard, a.n_guard);

        if (a.index >= 0) {
            a.index = ix_subst(&l->ix, a.index, to, n_to);
            changed |= a.index != l->access[access].index;
        }
        for (int i = 0; i < a.n_guard; i++) {
            g[i] = a.guard[i];
            g[i].cond = ix_subst(&l->ix, g[i].cond, to, n_to);
            changed |= g[i].cond != a.guard[i].cond;
        }
        a.guard = g;
    }
    return changed ? lprog_access(l, a) : access;
}

int value_subst(struct lprog *l, int val, const int *to, int n_to)
{
    struct value v = l->value[val];

    switch (v.kind) {
    case V_LIT:
        return val;
    case V_LOAD:
        v.arg[0] = access_subst(l, v.arg[0], to, n_to);
        break;
    case V_ACC:
    case V_SHFL:
        if (v.arg[1] >= 0)
            v.arg[1] = ix_subst(&l->ix, v.arg[1], to, n_to);
        break;
    case V_INDEX:
        v.arg[0] = ix_subst(&l->ix, v.arg[0], to, n_to);
        break;
    case V_OP:
        for (int i = 0; i < 3; i++)
            if (v.arg[i] >= 0)
                v.arg[i] = value_subst(l, v.arg[i], to, n_to);
        break;
    }
    if (memcmp(v.arg, l->value[val].arg, sizeof v.arg) == 0)
        return val;
    return lprog_value(l, v);
}

void value_accesses(const struct lprog *l, int val, void (*f)(void *ctx, int access), void *ctx)
{
    const struct value *v = &l->value[val];

    if (v->kind == V_LOAD) {
        const struct access *a = &l->access[v->arg[0]];

        f(ctx, v->arg[0]);
        if (a->src == SRC_BODY)
            value_accesses(l, a->body, f, ctx);
    } else if (v->kind == V_OP) {
        for (int i = 0; i < 3; i++)
            if (v->arg[i] >= 0)
                value_accesses(l, v->arg[i], f, ctx);
    }
}

int acc_replace(struct lprog *l, int val, int acc, int by)
{
    struct value v = l->value[val];

    if (v.kind == V_ACC && v.arg[0] == acc)
        return by;
    if (v.kind == V_LOAD && l->access[v.arg[0]].src == SRC_BODY) {
        struct access a = l->access[v.arg[0]];
        int body = acc_replace(l, a.body, acc, by);

        if (body == a.body)
            return val;
        a.body = body;
        v.arg[0] = lprog_access(l, a);
        return lprog_value(l, v);
    }
    for (int i = 0; i < 3 && v.kind == V_OP; i++)
        if (v.arg[i] >= 0)
            v.arg[i] = acc_replace(l, v.arg[i], acc, by);
    return v.kind == V_OP ? lprog_value(l, v) : val;
}

void stmt_loads(const struct lprog *l, const struct stmt *s, void (*f)(void *ctx, int access),
                void *ctx)
{
    if (stmt_has_value(s))
        value_accesses(l, s->val, f, ctx);
}
