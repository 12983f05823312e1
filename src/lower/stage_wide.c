/*
 * May w elements that follow each other in a tile be copied as one? Sums of multiples of
 * variables are decided by their coefficients; what is not of that form is tried out, for all
 * values of the variables, if they are not too many.
 */
#include "lower/stage.h"

/* Values of an expression tried out. */
enum { TRIALS = 1 << 15, MAX_CONDS = 64 };

struct fit {
    struct lprog *l;
    const struct tile *t;
    const struct access *a;
    int64_t w;
    int64_t *coef, *more; /* of the index, of a condition */
    bool *row;            /* variables within a row */
    int cond[MAX_CONDS];
    int n_cond;
};

/* The variables that make up a row: the last ones, up to row elements. */
static void mark_row(struct fit *f)
{
    int64_t n = 1;

    for (int i = f->t->n - 1; i >= 0 && n < f->t->row; i--) {
        f->row[f->t->var[i]] = true;
        n *= f->t->extent[i];
    }
}

static bool multiple(int64_t a, int64_t w)
{
    return a % w == 0;
}

/* Do all other variables go in multiples of w? */
static bool rest_divides(const struct fit *f, const int64_t *coef)
{
    for (int v = 0; v < f->l->n_var; v++)
        if (!f->row[v] && f->l->var[v].extent > 1 && !multiple(coef[v], f->w))
            return false;
    return true;
}

/* rest + sign * column: all lanes agree if the rest is right modulo w. */
static bool test_agrees(struct fit *f, int cond)
{
    const struct ix x = f->l->ix.x[cond];
    int64_t constant, c0, sign = 0;

    if (x.op != IX_LT)
        return false;
    if (!index_affine(f->l, x.a, f->more, &constant))
        return false;
    for (int v = 0; v < f->l->n_var; v++)
        f->coef[v] = -f->more[v];
    c0 = -constant;
    if (!index_affine(f->l, x.b, f->more, &constant))
        return false;
    c0 += constant;
    for (int v = 0; v < f->l->n_var; v++)
        f->more[v] += f->coef[v];
    for (int i = 0; i < f->t->n; i++) {
        int v = f->t->var[i];

        if (!f->row[v] || f->t->extent[i] == 1)
            continue;
        if (sign == 0)
            sign = f->more[v] == f->t->coef[i] ? 1 : -1;
        if (f->more[v] != sign * f->t->coef[i])
            return false;
    }
    return rest_divides(f, f->more) && multiple(sign > 0 ? c0 - 1 : c0, f->w);
}

static bool uses_row(const struct fit *f, int cond)
{
    bool *used = arena_array(f->l->arena, bool, f->l->n_var + 1);

    index_vars(&f->l->ix, cond, used);
    for (int v = 0; v < f->l->n_var; v++)
        if (used[v] && f->row[v])
            return true;
    return false;
}

static bool by_coefficients(struct fit *f)
{
    int64_t constant;

    if (!multiple(f->t->row, f->w) || !index_affine(f->l, f->a->index, f->coef, &constant) ||
        !multiple(constant, f->w))
        return false;
    if (!rest_divides(f, f->coef))
        return false;
    for (int i = f->t->n - 1; i >= 0; i--)
        if (f->t->extent[i] > 1) {
            if (f->t->coef[i] != 1)
                return false;
            break;
        }
    for (int i = 0; i < f->n_cond; i++)
        if (uses_row(f, f->cond[i]) && !test_agrees(f, f->cond[i]))
            return false;
    return true;
}

/* -1 = guarded away, else the element addressed */
static int64_t address(const struct fit *f, const int64_t *at)
{
    for (int g = 0; g < f->a->n_guard; g++)
        if (!ix_eval(&f->l->ix, f->a->guard[g].cond, at))
            return -1 - g;
    return ix_eval(&f->l->ix, f->a->index, at);
}

static int64_t at_element(const struct fit *f, int64_t e, int64_t *at)
{
    for (int i = f->t->n - 1; i >= 0; i--) {
        at[f->t->var[i]] = e % f->t->extent[i];
        e /= f->t->extent[i];
    }
    return address(f, at);
}

static bool elements_follow(const struct fit *f, int64_t *at)
{
    for (int64_t e = 0; e < f->t->elems; e += f->w) {
        int64_t first = at_element(f, e, at);

        if (first >= 0 && !multiple(first, f->w))
            return false;
        for (int64_t lane = 1; lane < f->w; lane++)
            if (at_element(f, e + lane, at) != (first < 0 ? first : first + lane))
                return false;
    }
    return true;
}

static bool by_trial(const struct fit *f)
{
    struct lprog *l = f->l;
    bool *used = arena_array(l->arena, bool, l->n_var + 1);
    int64_t *at = arena_array(l->arena, int64_t, l->n_var + 1), n = f->t->elems;

    index_vars(&l->ix, f->a->index, used);
    for (int g = 0; g < f->a->n_guard; g++)
        index_vars(&l->ix, f->a->guard[g].cond, used);
    for (int i = 0; i < f->t->n; i++)
        used[f->t->var[i]] = false;
    for (int v = 0; v < l->n_var && n <= TRIALS; v++)
        n *= used[v] ? l->var[v].extent : 1;
    if (n > TRIALS)
        return false;
    for (;;) { /* counts the other variables up */
        int v = 0;

        if (!elements_follow(f, at))
            return false;
        for (; v < l->n_var; v++) {
            if (!used[v])
                continue;
            if (++at[v] < l->var[v].extent)
                break;
            at[v] = 0;
        }
        if (v == l->n_var)
            return true;
    }
}

bool wide_fits(struct lprog *l, const struct tile *t, int access, int64_t w)
{
    struct fit f = { .l = l, .t = t, .a = &l->access[access], .w = w };

    if (w == 1)
        return true;
    if (t->elems % w)
        return false;
    f.coef = arena_array(l->arena, int64_t, l->n_var + 1);
    f.more = arena_array(l->arena, int64_t, l->n_var + 1);
    f.row = arena_array(l->arena, bool, l->n_var + 1);
    mark_row(&f);
    for (int g = 0; g < f.a->n_guard && f.n_cond <= MAX_CONDS; g++)
        f.n_cond +=
            conjuncts(&l->ix, f.a->guard[g].cond, f.cond + f.n_cond, MAX_CONDS - f.n_cond);
    return (f.n_cond <= MAX_CONDS && by_coefficients(&f)) || by_trial(&f);
}
