#include "lower/simplify.h"

enum { MAX_TERMS = 32 };

/* An expression as a sum: terms[i] * coef[i], all added, plus constant. */
struct sum {
    int term[MAX_TERMS];
    int64_t coef[MAX_TERMS];
    int n;
    int64_t constant;
};

static bool sum_add(const struct ixs *s, struct sum *t, int e, int64_t by)
{
    const struct ix *x = &s->x[e];
    int64_t c;

    if (ix_is_const(s, e, &c)) {
        t->constant += by * c;
        return true;
    }
    if (x->op == IX_ADD)
        return sum_add(s, t, x->a, by) && sum_add(s, t, x->b, by);
    if (x->op == IX_MUL && ix_is_const(s, x->b, &c))
        return sum_add(s, t, x->a, by * c);
    if (t->n == MAX_TERMS)
        return false;
    t->term[t->n] = e;
    t->coef[t->n++] = by;
    return true;
}

static int sum_build(struct ixs *s, const struct sum *t)
{
    int e = ix_const(s, 0);

    for (int i = 0; i < t->n; i++)
        e = ix_add(s, e, ix_scale(s, t->term[i], t->coef[i]));
    return ix_add(s, e, ix_const(s, t->constant));
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int simplify_divmod_sum(struct lprog *l, int e, const int64_t *extent)
{
    struct ixs *s = &l->ix;
    struct ix x = s->x[e];
    struct sum all = { .n = 0 }, whole = { .n = 0 }, rest = { .n = 0 };
    int64_t n;
    int r;

    (void)extent;
    if ((x.op != IX_DIV && x.op != IX_MOD) || !sum_add(s, &all, x.a, 1))
        return e;
    n = s->x[x.b].c;
    for (int i = 0; i < all.n; i++) {
        bool divides = all.coef[i] % n == 0;
        struct sum *to = divides ? &whole : &rest;

        to->term[to->n] = all.term[i];
        to->coef[to->n++] = divides ? all.coef[i] / n : all.coef[i];
    }
    whole.constant = floor_div(all.constant, n);
    rest.constant = all.constant - whole.constant * n;
    if (whole.n == 0 && whole.constant == 0)
        return e;
    r = sum_build(s, &rest);
    return x.op == IX_MOD ? ix_mod(s, r, n) : ix_add(s, sum_build(s, &whole), ix_div(s, r, n));
}

int simplify_small(struct lprog *l, int e, const int64_t *extent)
{
    struct ix x = l->ix.x[e];
    struct ix_range r;

    if (x.op != IX_DIV && x.op != IX_MOD)
        return e;
    r = ix_range(&l->ix, x.a, extent);
    if (r.lo > r.hi || r.lo < 0 || r.hi >= l->ix.x[x.b].c)
        return e;
    return x.op == IX_DIV ? ix_const(&l->ix, 0) : x.a;
}

int simplify_recombine(struct lprog *l, int e, const int64_t *extent)
{
    struct ixs *s = &l->ix;
    struct sum t = { .n = 0 };

    (void)extent;
    if (s->x[e].op != IX_ADD || !sum_add(s, &t, e, 1))
        return e;
    for (int i = 0; i < t.n; i++)
        for (int j = 0; j < t.n; j++) {
            struct ix d = s->x[t.term[i]], m = s->x[t.term[j]];

            if (d.op != IX_DIV || m.op != IX_MOD || d.a != m.a || d.b != m.b)
                continue;
            if (!FAULT(l, divmod_recombine_unsound) && t.coef[i] != t.coef[j] * s->x[d.b].c)
                continue;
            t.term[j] = d.a;
            t.coef[i] = 0;
            return sum_build(s, &t);
        }
    return e;
}

/* How many different variables stand in e, at most 2 are counted. */
static int variables(const struct lprog *l, int e)
{
    int n = 0;

    for (int v = 0; v < l->n_var && n < 2; v++)
        n += ix_uses(&l->ix, e, v);
    return n;
}

int simplify_guard(struct lprog *l, int e, const int64_t *extent)
{
    struct ix x = l->ix.x[e];
    struct ix_range r;
    int64_t bound;

    if (x.op != IX_LT)
        return e;
    if (FAULT(l, predicate_simplex_bound) && ix_is_const(&l->ix, x.a, &bound) &&
        variables(l, x.b) > 1 && ix_range(&l->ix, x.b, extent).hi > bound)
        return ix_const(&l->ix, 1);
    r = ix_range(&l->ix, e, extent);
    return r.lo == 1 && r.hi == 1 ? ix_const(&l->ix, 1) : e;
}
