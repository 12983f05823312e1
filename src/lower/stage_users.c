/*
 * What guards the users of an operand, for the copy that is made ahead of them. Conditions
 * about the operand's own variables are the copy's too; those about others say nothing to it.
 */
#include "lower/stage.h"

#include <string.h>

bool stage_may_use(const struct lprog *l, const struct stmt *s)
{
    return stmt_has_value(s) &&
           !(stmt_has_access(s) && l->buffer[l->access[s->access].buffer].kind == BUF_SHARED);
}

void users_init(struct lprog *l, struct users *u, int kernel, int at, int access)
{
    const struct kernel *k = &l->kernel[kernel];
    const struct access *a = &l->access[access];
    int round[64], n = enclosing(k, at, round, 64);

    *u = (struct users){ .kernel = kernel, .at = at, .access = access };
    u->uniform = arena_array(l->arena, bool, l->n_var + 1);
    u->used = arena_array(l->arena, bool, l->n_var + 1);
    for (int i = 0; i < n; i++)
        u->uniform[k->st[round[i]].var] = k->st[round[i]].loop != LOOP_THREAD;
    u->uniform[k->st[at].var] = true;
    index_vars(&l->ix, a->index, u->used);
    for (int i = 0; i < a->n_guard; i++)
        index_vars(&l->ix, a->guard[i].cond, u->used);
}

/* The weakest form of a < b that does without the variables of others: for them the values
 * that make it true if any do. False = can't be said. */
static bool project(struct lprog *l, const struct users *u, int cond, const bool *vars,
                    int *out)
{
    const struct ix x = l->ix.x[cond];
    int64_t *low = arena_array(l->arena, int64_t, l->n_var + 1), ca;
    int64_t *high = arena_array(l->arena, int64_t, l->n_var + 1), cb;
    int *to = subst_table(l);

    if (x.op != IX_LT || !index_affine(l, x.a, low, &ca) || !index_affine(l, x.b, high, &cb))
        return false;
    for (int v = 0; v < l->n_var; v++)
        if (vars[v] && !u->uniform[v] && !u->used[v])
            to[v] = ix_const(&l->ix, high[v] > low[v] ? l->var[v].extent - 1 : 0);
    *out = ix_subst(&l->ix, cond, to, l->n_var);
    return true;
}

/* A condition round a user: the copy's own too (1, in *out), nothing to the copy (0), or of
 * the operand's variables and of others at once (-1). */
static int take_over(struct lprog *l, const struct users *u, int cond, int *out)
{
    bool *vars = arena_array(l->arena, bool, l->n_var + 1);
    bool others = false, tile = false, shared = false;

    index_vars(&l->ix, cond, vars);
    for (int v = 0; v < l->n_var; v++) {
        if (!vars[v])
            continue;
        others |= !u->uniform[v] && !u->used[v];
        tile |= !u->uniform[v] && u->used[v];
        shared |= u->uniform[v] && u->used[v];
    }
    *out = cond;
    if (!tile && !shared)
        return 0;
    if (others && (tile || !project(l, u, cond, vars, out)))
        return -1;
    return !others || ix_range(&l->ix, *out, lprog_extents(l)).lo < 1;
}

/* The conditions round the user at statement at; -1 = one can't be taken over. */
static int round_user(struct lprog *l, const struct users *u, int at, int guard[MAX_GUARDS])
{
    const struct kernel *k = &l->kernel[u->kernel];
    int round[64], m = enclosing(k, at, round, 64), n = 0;

    for (int i = 0; i < m; i++) {
        int cond[MAX_GUARDS], n_cond;

        if (round[i] <= u->at || k->st[round[i]].kind != ST_IF)
            continue;
        n_cond = conjuncts(&l->ix, k->st[round[i]].cond, cond, MAX_GUARDS);
        if (n_cond > MAX_GUARDS)
            return -1;
        for (int c = 0; c < n_cond; c++) {
            int out, how = take_over(l, u, cond[c], &out);

            if (how < 0 || (how > 0 && n == MAX_GUARDS))
                return -1;
            if (how > 0)
                guard[n++] = out;
        }
    }
    return n;
}

struct seek {
    const struct lprog *l;
    int access;
    bool found;
};

static void seek_operand(void *ctx, int access)
{
    struct seek *s = ctx;

    s->found |= access_equal(s->l, s->access, access);
}

const char *users_guards(struct lprog *l, struct users *u)
{
    const struct kernel *k = &l->kernel[u->kernel];
    int end = stmt_end(k, u->at);
    bool first = true;

    for (int i = u->at + 1; i < end; i++) {
        struct seek s = { l, u->access, false };
        int guard[MAX_GUARDS], n;

        if (!stage_may_use(l, &k->st[i]))
            continue;
        value_accesses(l, k->st[i].val, seek_operand, &s);
        if (!s.found)
            continue;
        n = round_user(l, u, i, guard);
        if (n < 0)
            return "a condition round it is about other loops too";
        if (!first && (n != u->n_guard || memcmp(guard, u->guard, (size_t)n * sizeof *guard)))
            return "its users stand under different conditions";
        memcpy(u->guard, guard, (size_t)n * sizeof *guard);
        u->n_guard = n;
        first = false;
    }
    return NULL;
}
