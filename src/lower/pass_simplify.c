/*
 * simplify: cheaper index expressions and fewer guards, by rules that hold on the ranges of
 * the loop variables. Every (expression, rule) that changes something is one rewrite.
 * needs: composed accesses. keeps: the value of every index whose guards hold.
 * gives: fewer divisions; guards that can't fail are gone.
 */
#include "lower/simplify.h"

#include "lower/nest.h"
#include "lower/passes.h"

static const struct {
    const char *name;
    simplify_rule rule;
    bool guards_only;
} rules[] = {
    { "simplify.divmod_sum", simplify_divmod_sum, false },
    { "simplify.small", simplify_small, false },
    { "simplify.recombine", simplify_recombine, false },
    { "simplify.guard", simplify_guard, true },
};

struct simplify {
    struct lprog *l;
    const int64_t *extent;
    int kernel;
};

static int bottom_up(struct lprog *l, int e, simplify_rule rule, const int64_t *extent)
{
    struct ix x = l->ix.x[e];
    int a, b;

    if (x.op == IX_CONST || x.op == IX_VAR)
        return e;
    a = bottom_up(l, x.a, rule, extent);
    b = bottom_up(l, x.b, rule, extent);
    if (a != x.a || b != x.b) {
        int to = x.op == IX_ADD   ? ix_add(&l->ix, a, b)
                 : x.op == IX_MUL ? ix_mul(&l->ix, a, b)
                 : x.op == IX_DIV ? ix_div(&l->ix, a, l->ix.x[b].c)
                 : x.op == IX_MOD ? ix_mod(&l->ix, a, l->ix.x[b].c)
                 : x.op == IX_LT  ? ix_lt(&l->ix, a, b)
                 : x.op == IX_XOR ? ix_xor(&l->ix, a, b)
                                  : ix_and(&l->ix, a, b);

        return rule(l, to, extent);
    }
    return rule(l, e, extent);
}

static int simplify_root(struct simplify *c, int e, bool guard)
{
    for (int round = 0, before = -1; round < 4 && e != before; round++) {
        before = e;
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
            int to;

            if (rules[r].guards_only && !guard)
                continue;
            to = bottom_up(c->l, e, rules[r].rule, c->extent);
            if (to != e && lprog_rewrite(c->l, rules[r].name, -1, c->kernel))
                e = to;
            if (c->l->stopped)
                return e;
        }
    }
    return e;
}

/* Guards that are constantly true are dropped with their last rewrite. */
static void simplify_access(void *ctx, int access)
{
    struct simplify *c = ctx;
    struct lprog *l = c->l;
    int n = 0;

    if (l->access[access].index >= 0 && l->access[access].src != SRC_CONST)
        l->access[access].index = simplify_root(c, l->access[access].index, false);
    for (int i = 0; i < l->access[access].n_guard; i++) {
        struct access *a = &l->access[access];
        struct guard g = a->guard[i];
        int64_t k;

        g.cond = simplify_root(c, g.cond, true);
        if (!ix_is_const(&l->ix, g.cond, &k) || k == 0)
            a->guard[n++] = g;
    }
    l->access[access].n_guard = n;
}

static void simplify_kernel(struct simplify *c, struct kernel *k)
{
    struct kernel list = list_new(k);
    bool *drop = arena_array(c->l->arena, bool, k->n + 1);

    for (int i = 0; i < k->n; i++) {
        struct stmt *s = &k->st[i];
        int64_t known;

        if (s->kind == ST_IF) {
            s->cond = simplify_root(c, s->cond, true);
            if (ix_is_const(&c->l->ix, s->cond, &known) && known)
                drop[i] = drop[stmt_end(k, i)] = true;
        }
        stmt_loads(c->l, s, simplify_access, c);
        if (stmt_has_access(s))
            simplify_access(c, s->access);
    }
    for (int i = 0; i < k->n; i++)
        if (!drop[i])
            kernel_push(c->l, &list, k->st[i]);
    list_take(k, &list);
}

int pass_simplify(struct lprog *l, struct err *e)
{
    struct simplify c = { .l = l, .extent = lprog_extents(l) };

    (void)e;
    for (c.kernel = 0; c.kernel < l->n_kernel; c.kernel++)
        if (!l->kernel[c.kernel].dead && !l->stopped)
            simplify_kernel(&c, &l->kernel[c.kernel]);
    return 0;
}
