/* The ops of the machine in legal.h. */
#ifndef TESTS_LEGAL_OPS_H
#define TESTS_LEGAL_OPS_H

#include "legal.h"

enum { LONGEST = 256 };

static inline double largest(int n, const double *x)
{
    double m = -HUGE_VAL;

    for (int k = 0; k < n; k++)
        m = isnan(x[k]) || x[k] > m ? x[k] : m;
    return m;
}

/* One query: n scores, n values (NULL: none); sums over keys from .. to - 1 */
struct row {
    const double *s, *v;
    int n, method;
};

static inline void part(struct legal *l, enum dtype acc, const struct row *r, int from, int to,
                        double m, double *sum, double *o)
{
    double w[LONGEST];

    for (int j = from; j < to; j++)
        w[j - from] = isinf(r->s[j]) && r->s[j] < 0
                          ? 0
                          : exp_by(l, acc, r->method, add(l, acc, r->s[j], -m));
    *sum = total(l, acc, to - from, w, NULL);
    if (r->v)
        *o = total(l, acc, to - from, w, r->v + from);
}

/* The largest, the sum of weights under it, and the sum of values: in one go or in blocks. */
static inline double gathered(struct legal *l, enum dtype acc, const struct row *r, int block,
                              double *sum, double *o)
{
    double m = -HUGE_VAL;

    if (block <= 0 || block >= r->n) {
        m = largest(r->n, r->s);
        part(l, acc, r, 0, r->n, m, sum, o);
        return m;
    }
    *sum = *o = 0;
    for (int from = 0; from < r->n; from += block) {
        int to = from + block < r->n ? from + block : r->n;
        double mine = largest(to - from, r->s + from), top = mine > m || isnan(mine) ? mine : m,
               s, p = 0, f, g;
        bool alone = legal_below(l, 2);

        if (isinf(top) && top < 0)
            continue;
        part(l, acc, r, from, to, alone && !isinf(mine) ? mine : top, &s, &p);
        f = isinf(m) ? 0 : exp_by(l, acc, r->method, add(l, acc, m, -top));
        g = alone && !isinf(mine) ? exp_by(l, acc, r->method, add(l, acc, mine, -top)) : 1;
        *sum = mad(l, acc, *sum, f, mul(l, acc, s, g));
        *o = mad(l, acc, *o, f, mul(l, acc, p, g));
        m = top;
    }
    return m;
}

/* Which block a softmax or attention of n keys may be cut into; 0 = none. */
static inline int block_of(struct legal *l, int i, int n)
{
    const struct trial *t = l->t;

    if (l->foreign)
        return l->contract & CONTRACT_MAY_RESCALE ? legal_below(l, n + 1) : 0;
    for (int k = 0; k < t->n_step; k++)
        if (t->step[k].kind == STEP_ALGO && t->step[k].node[0] == i &&
            t->step[k].algo != ALGO_DECOMPOSED)
            return (int)t->step[k].n;
    return 0;
}

static inline void softmax(struct legal *l, int i, double *x, double *again, int n)
{
    const struct node *p = &l->t->prog.node[i];
    struct row r = { x, NULL, n, legal_below(l, EXP_METHODS) };
    int block = block_of(l, i, n);
    double sum, none, m = gathered(l, p->acc, &r, block, &sum, &none), lg = 0, both = 0;
    bool together = l->foreign && legal_below(l, 2);

    if (p->op == OP_LOGSOFTMAX) {
        lg = l->exact && sum == 1 ? 0 : fun(l, p->acc, poly(l, logl(sum), 0x1p-20), 1);
        both = add(l, p->acc, m, lg);
    }
    for (int k = 0; k < n; k++) {
        double d = add(l, p->acc, again[k], -m);

        if (p->op == OP_SOFTMAX)
            x[k] = quotient(l, p->acc, exp_by(l, p->acc, r.method, d), sum);
        else
            x[k] = together ? add(l, p->acc, again[k], -both) : add(l, p->acc, d, -lg);
    }
}

/* The mean along the row, as many others have it. */
static inline double running_mean(struct legal *l, enum dtype acc, const double *x, int n)
{
    double mean = 0;

    for (int k = 0; k < n; k++)
        mean = add(l, acc, mean, quotient(l, acc, add(l, acc, x[k], -mean), k + 1));
    return mean;
}

/* x, gain, bias of one line; twice the operand for those who read it twice */
static inline void norm(struct legal *l, const struct node *p, double *x, double *again,
                        const double *g, const double *b, int n)
{
    enum dtype acc = p->acc;
    double c[LONGEST], mean = 0, v, rs, root;
    int how = legal_below(l, 3);

    if (b)
        mean = l->foreign && legal_below(l, 2) ? running_mean(l, acc, x, n)
                                               : quotient(l, acc, total(l, acc, n, x, NULL), n);
    for (int k = 0; k < n; k++)
        c[k] = b ? add(l, acc, again[k], -mean) : again[k];
    v = add(l, acc, quotient(l, acc, total(l, acc, n, c, c), n), p->eps);
    root = fit(l, acc, sqrt(v));
    rs = how == 1 ? fun(l, acc, 1 / sqrtl(v), 2) : fit(l, acc, 1 / root);
    for (int k = 0; k < n; k++) {
        double d = b ? add(l, acc, x[k], -mean) : x[k];
        double y = how == 2 ? quotient(l, acc, d, root) : mul(l, acc, d, rs);

        x[k] = b ? mad(l, acc, y, g[k], b[k]) : mul(l, acc, y, g[k]);
    }
}

static inline void attention(struct legal *l, int i, double *out)
{
    const struct node *p = &l->t->prog.node[i];
    const struct shape *q = &l->t->prog.node[p->arg[0].node].sh;
    int s = (int)q->dim[1], d = (int)q->dim[2], e = (int)p->sh.dim[2];
    int t = (int)l->t->prog.node[p->arg[1].node].sh.dim[1], method = legal_below(l, 2);
    bool into_q = (l->foreign || !l->exact) && legal_below(l, 2), early = legal_below(l, 2);
    enum dtype acc = p->acc;

    for (int k = 0; k < s; k++) {
        int block = block_of(l, i, t);

        for (int c = 0; c < e; c++) {
            double score[LONGEST], a[LONGEST], b[LONGEST], v[LONGEST], sum, o, m;
            struct row r = { score, v, t, method };

            for (int j = 0; j < t; j++) {
                for (int x = 0; x < d; x++) {
                    a[x] = operand(l, p, 0, k * d + x);
                    b[x] = operand(l, p, 1, j * d + x);
                    if (into_q)
                        a[x] = mul(l, acc, a[x], p->scale);
                }
                score[j] = total(l, acc, d, a, b);
                if (!into_q)
                    score[j] = mul(l, acc, score[j], p->scale);
                if (p->mask == MASK_ADD)
                    score[j] = add(l, acc, score[j], operand(l, p, 3, k * t + j));
                if (p->mask == MASK_CAUSAL && j > k)
                    score[j] = -HUGE_VAL;
                v[j] = operand(l, p, 2, j * e + c);
            }
            m = gathered(l, acc, &r, block, &sum, &o);
            if (early && block == 0) {
                for (int j = 0; j < t; j++)
                    a[j] =
                        isinf(score[j]) && score[j] < 0
                            ? 0 / sum
                            : quotient(l, acc,
                                       exp_by(l, acc, method, add(l, acc, score[j], -m)), sum);
                out[k * e + c] = total(l, acc, t, a, v);
            } else {
                out[k * e + c] = quotient(l, acc, o, sum);
            }
        }
    }
}

static inline void matmul(struct legal *l, int i, double *out)
{
    const struct node *p = &l->t->prog.node[i];
    const struct shape *as = &l->t->prog.node[p->arg[0].node].sh;
    int rank = p->sh.rank, m = (int)p->sh.dim[rank - 2], n = (int)p->sh.dim[rank - 1];
    int k = (int)as->dim[rank - 1], folded = legal_below(l, l->foreign ? 4 : 1);
    bool with = p->n_arg == 3 && p->beta != 0;
    double a[LONGEST + 1], b[LONGEST + 1];
    enum dtype acc = p->acc;

    for (int64_t at = 0; at < shape_count(&p->sh); at++) {
        int64_t batch = at / n / m, row = at / n % m, col = at % n;
        double c = with ? operand(l, p, 2, at) : 0;

        for (int x = 0; x < k; x++) {
            a[x] = operand(l, p, 0, (batch * m + row) * k + x);
            b[x] = operand(l, p, 1, (batch * k + x) * n + col);
            if (folded == 1)
                a[x] = mul(l, acc, a[x], p->alpha);
            if (folded == 2)
                b[x] = mul(l, acc, b[x], p->alpha);
        }
        if (folded == 3 && with && p->alpha == 1) { /* begins with c */
            a[k] = c;
            b[k] = p->beta;
            out[at] = total(l, acc, k + 1, a, b);
            continue;
        }
        out[at] = p->alpha == 0 ? 0 : total(l, acc, k, a, b);
        if (p->alpha != 0 && folded != 1 && folded != 2 && p->alpha != 1) {
            if (with && legal_below(l, 2)) {
                out[at] = mad(l, acc, out[at], p->alpha, mul(l, acc, c, p->beta));
                continue;
            }
            out[at] = mul(l, acc, out[at], p->alpha);
        }
        if (with && p->alpha == 0)
            out[at] = p->beta == 1 ? c : mul(l, acc, c, p->beta);
        else if (with)
            out[at] = mad(l, acc, c, p->beta, out[at]);
    }
}

/* All along an axis. */
static inline void lines(struct legal *l, int i, double *out)
{
    const struct node *p = &l->t->prog.node[i];
    bool is_norm = p->op == OP_LAYERNORM || p->op == OP_RMSNORM;
    int axis = is_norm ? p->sh.rank - 1 : p->axis, n = (int)p->sh.dim[axis];
    int64_t inner = 1, all = shape_count(&p->sh);
    double x[LONGEST], again[LONGEST], g[LONGEST], b[LONGEST];

    for (int a = axis + 1; a < p->sh.rank; a++)
        inner *= p->sh.dim[a];
    for (int64_t at = 0; n && at < all / n; at++) {
        int64_t from = at / inner * inner * n + at % inner;

        for (int k = 0; k < n; k++) {
            x[k] = operand(l, p, 0, from + k * inner);
            again[k] = operand(l, p, 0, from + k * inner);
            g[k] = is_norm ? operand(l, p, 1, k) : 0;
            b[k] = p->op == OP_LAYERNORM ? operand(l, p, 2, k) : 0;
        }
        if (p->op == OP_CUMSUM)
            for (int k = n - 1; k >= 0; k--)
                x[k] = total(l, p->acc, k + 1, x, NULL);
        else if (is_norm)
            norm(l, p, x, again, g, p->op == OP_LAYERNORM ? b : NULL, n);
        else
            softmax(l, i, x, again, n);
        for (int k = 0; k < n; k++)
            out[from + k * inner] = x[k];
    }
}

static inline double product(struct legal *l, enum dtype acc, const double *x, int n)
{
    double t[LONGEST];

    for (int k = 0; k < n; k++)
        t[k] = x[k];
    while (n > 1) {
        int a = legal_below(l, n), b = legal_below(l, n - 1);
        double u = t[a], v;

        t[a] = t[n - 1];
        v = t[b];
        t[b] = mul(l, acc, u, v);
        n--;
    }
    return n ? t[0] : 1;
}

static inline void reduce(struct legal *l, int i, double *out)
{
    const struct node *p = &l->t->prog.node[i];
    const struct shape *o = &l->t->prog.node[p->arg[0].node].sh;
    int64_t all = shape_count(o), n_out = shape_count(&p->sh);
    double *x = malloc(sizeof *x * LONGEST * (size_t)(n_out + 1));
    int *n = calloc((size_t)n_out + 1, sizeof *n);

    for (int64_t k = 0; k < all; k++) {
        int64_t rest = k, to = 0, stride = 1;

        for (int a = o->rank - 1; a >= 0; a--) {
            int64_t d = rest % o->dim[a];

            rest /= o->dim[a];
            if (p->axes >> a & 1)
                continue;
            to += d * stride;
            stride *= o->dim[a];
        }
        x[to * LONGEST + n[to]++] = operand(l, p, 0, k);
    }
    for (int64_t k = 0; k < n_out; k++) {
        const double *t = x + k * LONGEST;
        double m = p->op == OP_MIN ? HUGE_VAL : -HUGE_VAL;

        if (p->op == OP_PROD)
            m = product(l, p->acc, t, n[k]);
        else if (p->op == OP_SUM || p->op == OP_MEAN)
            m = total(l, p->acc, n[k], t, NULL);
        else
            for (int j = 0; j < n[k]; j++)
                m = isnan(m) || isnan(t[j]) ? (double)NAN
                    : p->op == OP_MAX       ? fmax(m, t[j])
                                            : fmin(m, t[j]);
        if (p->op == OP_MEAN)
            m = quotient(l, p->acc, m, n[k]);
        out[k] = m;
    }
    free(x);
    free(n);
}

#endif
