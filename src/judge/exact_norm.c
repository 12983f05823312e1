/*
 * Layernorm and rmsnorm of exact data: mean and variance of small integers are known but for
 * a division, so that a few ulps are left to the root and what follows.
 */
#include "judge/exact_eval.h"

/* (x - mean) / sqrt(mean of squares + eps) * g + b, or the same with mean and b 0 */
struct row {
    double mu, e_mu, var, e_var;
};

static bool moments(const struct xval *p, int64_t n, bool centred, enum dtype acc,
                    struct row *r)
{
    double u = xfloat(acc)->u, count = (double)n, e = 0;
    struct adder s = { 0 }, q = { 0 };
    struct xval sum;

    *r = (struct row){ 0, 0, 0, 0 };
    for (int64_t j = 0; j < n; j++)
        adder_put(&s, p[j]);
    if (s.open || s.e != 0)
        return false;
    if (centred) {
        sum = adder_sum(&s, acc);
        r->mu = sum.v / count;
        r->e_mu = sum.e / count + (sum.v == 0 || is_pow2(count) ? 0 : 2 * u * fabs(r->mu));
    }
    for (int64_t j = 0; j < n; j++) {
        double c = p[j].v - r->mu;
        double ec = r->e_mu + (exact_round(acc, c) == c ? 0 : u * fabs(c));

        adder_put_product(&q, (struct xval){ c, 0 }, (struct xval){ c, 0 });
        e += 2 * fabs(c) * ec + ec * ec;
    }
    sum = adder_sum(&q, acc);
    r->var = sum.v / count;
    r->e_var = (sum.e + e) / count + 3 * u * r->var;
    return sum.e >= 0;
}

static bool all_the_same(const struct xval *p, int64_t n)
{
    int64_t j = 1;

    while (j < n && p[j].v == p[0].v)
        j++;
    return j >= n;
}

void exact_norm(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    const struct xnode *src = &x->node[n->arg[0].node], *g = &x->node[n->arg[1].node];
    const struct xnode *b = n->op == OP_LAYERNORM ? &x->node[n->arg[2].node] : NULL;
    int64_t len = n->sh.dim[n->sh.rank - 1];
    double u = xfloat(n->acc)->u;
    struct row r = { 0, 0, 0, -1 };

    for (int64_t k = 0; k < x->node[i].n; k++) {
        struct xval *y = &x->node[i].p[k], w = g->p[k % len];
        struct xval add = b ? b->p[k % len] : (struct xval){ 0, 0 };
        double c, rstd, ec, rr, t;

        if (k % len == 0 && !moments(src->p + k, len, b, n->acc, &r))
            r.e_var = -1;
        if (k % len == 0 && b)
            x->running |= !all_the_same(src->p + k, len);
        *y = VAL_OPEN;
        if (r.e_var < 0 || w.e != 0 || add.e != 0 || r.var + n->eps <= 0)
            continue;
        rstd = 1 / sqrt(r.var + n->eps);
        c = src->p[k].v - r.mu;
        ec = r.e_mu + u * fabs(c);
        rr = r.e_var / (2 * (r.var + n->eps)) + 6 * u;
        t = c * rstd * w.v;
        *y = (struct xval){ t + add.v, 0 };
        y->e = fabs(w.v) * rstd * (ec + fabs(c) * rr) + 4 * u * (fabs(t) + fabs(add.v)) +
               xfloat(n->acc)->eta;
        *y = exact_store(n->acc, n->dt, *y);
    }
}
