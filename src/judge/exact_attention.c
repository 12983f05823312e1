/*
 * Attention of exact data: scores that are exact or known to be far below the largest,
 * weights 1 or 0, so that a row is the mean of the values of the keys that it selects.
 */
#include "judge/exact_eval.h"

/* Where the operands of an attention lie, by (batch, head). */
struct heads {
    int64_t hq, group, s, t, d, e;
    const struct xval *q, *k, *v, *mask;
    bool mask_whole; /* of the scores' shape */
};

static struct heads heads_of(const struct exacts *x, const struct node *n)
{
    const struct shape *q = &x->prog->node[n->arg[0].node].sh;
    const struct shape *k = &x->prog->node[n->arg[1].node].sh;
    const struct shape *v = &x->prog->node[n->arg[2].node].sh;
    int r = q->rank;
    struct heads h = { .hq = q->dim[r - 3], .s = q->dim[r - 2], .t = k->dim[r - 2] };

    h.group = k->dim[r - 3] ? h.hq / k->dim[r - 3] : 1;
    h.d = q->dim[r - 1];
    h.e = v->dim[r - 1];
    h.q = x->node[n->arg[0].node].p;
    h.k = x->node[n->arg[1].node].p;
    h.v = x->node[n->arg[2].node].p;
    if (n->mask == MASK_BOOL || n->mask == MASK_ADD) {
        h.mask = x->node[n->arg[3].node].p;
        h.mask_whole = x->prog->node[n->arg[3].node].sh.rank > 2;
    }
    return h;
}

/* scale * q.k (+ mask), exact only if each of these steps is */
static struct xval score(const struct node *n, const struct heads *h, const struct xval *q,
                         const struct xval *k, const struct xval *mask)
{
    const struct xfloat *f = xfloat(n->acc);
    struct adder a = { 0 };
    struct xval s;
    double v;

    for (int64_t c = 0; c < h->d; c++)
        adder_put_product(&a, q[c], k[c]);
    s = adder_sum(&a, n->acc);
    if (s.e < 0)
        return s;
    v = s.v * n->scale;
    s.e = s.e * fabs(n->scale) + fabs(fma(s.v, n->scale, -v));
    s.v = v;
    if (mask) {
        double sum = v + mask->v, b = sum - v;

        if (mask->e < 0)
            return VAL_OPEN;
        if (isinf(mask->v))
            return mask->v < 0 ? *mask : VAL_OPEN;
        s.e += mask->e + fabs((v - (sum - b)) + (mask->v - b));
        s.v = sum;
    }
    if (s.e > 0 || exact_round(n->acc, s.v) != s.v)
        s.e += 4 * f->u * (fabs(s.v) + fabs(v) + s.e) + f->eta;
    return isfinite(s.v) ? s : VAL_OPEN;
}

/* Is the score the same where the scale goes into q first? Not where rounded terms cancel. */
static bool scale_folds(const struct node *n, const struct heads *h, const struct xval *q,
                        const struct xval *k)
{
    struct adder a = { 0 };

    for (int64_t c = 0; c < h->d && !is_pow2(n->scale); c++) {
        double v = n->scale * q[c].v;

        adder_put_product(&a, (struct xval){ v, fabs(fma(n->scale, q[c].v, -v)) }, k[c]);
    }
    return adder_fits(&a, n->acc);
}

static bool visible(const struct node *n, const struct heads *h, int64_t i, int64_t j,
                    const struct xval *mask)
{
    if (n->mask == MASK_CAUSAL)
        return j <= i;
    if (n->mask == MASK_CAUSAL_BR)
        return j <= i + h->t - h->s;
    return n->mask != MASK_BOOL || mask->v != 0;
}

/* The mean of the values of the winning keys. */
static struct xval average(const struct node *n, const struct heads *h, const struct xval *s,
                           double top, const struct xval *v, int64_t count)
{
    const struct xfloat *f = xfloat(n->acc);
    struct adder a = { 0 };
    struct xval r;

    for (int64_t j = 0; j < h->t; j++) {
        /* times a weight of 0: any number, but a number */
        if (s[j].v == top)
            adder_put(&a, v[j * h->e]);
        else if (v[j * h->e].e < 0 || !isfinite(v[j * h->e].v))
            return VAL_OPEN;
    }
    r = adder_sum(&a, n->acc);
    if (r.e < 0)
        return r;
    r.v /= (double)count;
    r.e /= (double)count;
    if (r.e > 0 || !is_pow2((double)count))
        r.e += 6 * f->u * (a.t / (double)count + r.e) +
               (double)count * f->u * a.t / (double)count + f->eta;
    return exact_store(n->acc, n->dt, r);
}

static void attention_row(struct exacts *x, int node, const struct heads *h, int64_t head,
                          int64_t i, struct xval *s)
{
    const struct node *n = &x->prog->node[node];
    int64_t kv = head / h->hq * (h->hq / h->group) + head % h->hq / h->group, seen = 0, c;
    const struct xval *q = h->q + (head * h->s + i) * h->d, *k = h->k + kv * h->t * h->d;
    const struct xval *v = h->v + kv * h->t * h->e;
    struct xval *r = x->node[node].p + (head * h->s + i) * h->e;
    bool open = false;
    double top;

    for (int64_t j = 0; j < h->t; j++) {
        const struct xval *m =
            h->mask ? h->mask + (h->mask_whole ? head * h->s * h->t : 0) + i * h->t + j : NULL;

        open |= m && m->e < 0;
        s[j] = (struct xval){ -INFINITY, 0 };
        if (!visible(n, h, i, j, m))
            continue;
        seen++;
        s[j] = score(n, h, q, k + j * h->d, n->mask == MASK_ADD ? m : NULL);
    }
    c = seen && !open ? exact_winners(s, h->t, 1, xfloat(n->acc)->cut, &top) : 0;
    for (int64_t j = 0; c && j < h->t && !x->unfolded; j++)
        x->unfolded = s[j].v == top && !scale_folds(n, h, q, k + j * h->d);
    for (int64_t e = 0; e < h->e; e++) {
        if (c)
            r[e] = average(n, h, s, top, v + e, c);
        else if (seen || open)
            r[e] = VAL_OPEN;
        else
            r[e] = (struct xval){ n->empty == EMPTY_ZERO ? 0 : NAN, 0 };
    }
}

void exact_attention(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    struct heads h = heads_of(x, n);
    struct xval *s = arena_array(x->arena, struct xval, h.t + 1);
    int64_t rows = h.e ? x->node[i].n / h.e : 0;

    for (int64_t k = 0; k < rows; k++)
        attention_row(x, i, &h, k / h.s, k % h.s, s);
}
