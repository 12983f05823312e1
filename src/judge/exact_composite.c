/*
 * Composites of exact data. Softmax and attention are exact where each weight is 1 or 0
 * before it is normalised: every score either equals the largest or lies so far below it
 * that its weight is 0 in any arithmetic. Then no running maximum, rescaling or block of an
 * online or split algorithm changes a bit: what a smaller maximum has gathered is multiplied
 * by exactly 0 when the largest comes.
 */
#include "base/bug.h"
#include "judge/exact_eval.h"

/* Of n scores `step` apart: how many are the largest; 0 if it isn't as said above. A score
 * of -inf (masked) is below any other. */
static int64_t winners(const struct xval *s, int64_t n, int64_t step, double cut, double *top)
{
    int64_t count = 0;

    *top = -INFINITY;
    for (int64_t j = 0; j < n; j++) {
        if (s[j * step].e < 0 || isnan(s[j * step].v))
            return 0;
        *top = fmax(*top, s[j * step].v);
    }
    for (int64_t j = 0; j < n; j++) {
        struct xval x = s[j * step];

        if (x.v == *top && x.e == 0)
            count++;
        else if (!(x.v + x.e <= *top - cut))
            return 0;
    }
    return isfinite(*top) ? count : 0;
}

static void softmax(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    const struct xval *src = x->node[n->arg[0].node].p;
    const struct xfloat *f = xfloat(n->acc);
    int64_t len = n->sh.dim[n->axis], inner = 1;

    for (int a = n->axis + 1; a < n->sh.rank; a++)
        inner *= n->sh.dim[a];
    for (int64_t k = 0; len && k < x->node[i].n / len; k++) {
        int64_t at = k / inner * inner * len + k % inner;
        double top;
        int64_t c = winners(src + at, len, inner, f->cut, &top);
        struct xval p = { 1 / (double)c, is_pow2((double)c) ? 0 : 3 * f->u / (double)c };

        for (int64_t j = 0; j < len; j++) {
            struct xval *r = &x->node[i].p[at + j * inner];

            *r = !c                             ? VAL_OPEN
                 : src[at + j * inner].v == top ? exact_store(n->acc, n->dt, p)
                                                : (struct xval){ 0, 0 };
        }
    }
}

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
    c = seen && !open ? winners(s, h->t, 1, xfloat(n->acc)->cut, &top) : 0;
    for (int64_t e = 0; e < h->e; e++) {
        if (c)
            r[e] = average(n, h, s, top, v + e, c);
        else if (seen || open)
            r[e] = VAL_OPEN;
        else
            r[e] = (struct xval){ n->empty == EMPTY_ZERO ? 0 : NAN, 0 };
    }
}

static void attention(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    struct heads h = heads_of(x, n);
    struct xval *s = arena_array(x->arena, struct xval, h.t + 1);
    int64_t rows = h.e ? x->node[i].n / h.e : 0;

    for (int64_t k = 0; k < rows; k++)
        attention_row(x, i, &h, k / h.s, k % h.s, s);
}

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

static void norm(struct exacts *x, int i)
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

static void argmax(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    const struct shape *sh = &x->prog->node[n->arg[0].node].sh;
    const struct xval *p = x->node[n->arg[0].node].p;
    int64_t len = sh->dim[n->axis], inner = 1;

    for (int a = n->axis + 1; a < sh->rank; a++)
        inner *= sh->dim[a];
    for (int64_t k = 0; k < x->node[i].n; k++) {
        const struct xval *row = p + k / inner * inner * len + k % inner;
        int64_t best = 0;
        bool open = false;

        for (int64_t j = 0; j < len; j++) {
            open |= row[j * inner].e < 0 || isnan(row[j * inner].v);
            if (row[j * inner].v > row[best * inner].v)
                best = j;
        }
        for (int64_t j = 0; j < len && !open; j++) {
            struct xval a = row[best * inner], b = row[j * inner];

            open = j != best && a.e + b.e > 0 && a.v - a.e <= b.v + b.e;
        }
        x->node[i].p[k] = open ? VAL_OPEN : (struct xval){ (double)best, 0 };
    }
}

static void gather(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    const struct xval *p = x->node[n->arg[0].node].p, *idx = x->node[n->arg[1].node].p;
    int64_t size = x->prog->node[n->arg[0].node].sh.dim[n->axis];
    int64_t len = n->sh.dim[n->axis], inner = 1;

    for (int a = n->axis + 1; a < n->sh.rank; a++)
        inner *= n->sh.dim[a];
    for (int64_t k = 0; k < x->node[i].n; k++) {
        struct xval at = idx[k / inner % len];
        int64_t outer = k / inner / len;

        if (at.e != 0)
            x->node[i].p[k] = VAL_OPEN;
        else if (at.v < 0 || at.v >= (double)size)
            x->node[i].p[k] = (struct xval){ 0, 0 };
        else
            x->node[i].p[k] = p[(outer * size + (int64_t)at.v) * inner + k % inner];
    }
}

static void concat(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    int64_t na = x->prog->node[n->arg[0].node].sh.dim[n->axis], len = n->sh.dim[n->axis];
    int64_t inner = 1;

    for (int a = n->axis + 1; a < n->sh.rank; a++)
        inner *= n->sh.dim[a];
    for (int64_t k = 0; k < x->node[i].n; k++) {
        int64_t at = k / inner % len, outer = k / inner / len;
        bool first = at < na;
        const struct xval *p = x->node[n->arg[!first].node].p;

        at = first ? outer * na + at : outer * (len - na) + at - na;
        x->node[i].p[k] = p[at * inner + k % inner];
    }
}

void exact_composite(struct exacts *x, int i)
{
    switch ((int)x->prog->node[i].op) {
    case OP_SOFTMAX:
        softmax(x, i);
        return;
    case OP_ATTENTION:
        attention(x, i);
        return;
    case OP_LAYERNORM:
    case OP_RMSNORM:
        norm(x, i);
        return;
    case OP_ARGMAX:
        argmax(x, i);
        return;
    case OP_GATHER:
        gather(x, i);
        return;
    case OP_CONCAT:
        concat(x, i);
        return;
    }
    BUG("%s has no exact evaluation", op_info(x->prog->node[i].op)->name);
}
