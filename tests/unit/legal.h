/*
 * A machine that computes a program in ways that the judge calls right: sums in random trees
 * and orders, fused multiply-adds, flushed subnormals, reciprocals, running maxima, functions
 * off by what their contract allows. Its arithmetic is its own: double, rounded to the dtype.
 */
#ifndef TESTS_LEGAL_H
#define TESTS_LEGAL_H

#include "judging.h"

#include <float.h>
#include <math.h>

#include "ir/contract.h"
#include "ir/half.h"

/* Of a node that a compiler may compute anew for every reader. */
enum { VERSIONS = 3 };

struct legal {
    const struct trial *t;
    unsigned contract;
    bool foreign, exact; /* exact: exp(0) is 1, and what underflows in any arithmetic is 0 */
    int versions;
    uint64_t state;
    double **v[VERSIONS]; /* by version and node */
};

static inline uint64_t legal_draw(struct legal *l)
{
    l->state += 0x9e3779b97f4a7c15u;
    uint64_t z = l->state;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline int legal_below(struct legal *l, int n)
{
    return (int)(legal_draw(l) >> 33) % n;
}

static inline bool legal_may(struct legal *l, unsigned what)
{
    return (l->contract & what) && legal_below(l, 2);
}

static inline enum dtype core_of(enum dtype dt)
{
    return dt == DT_F16 || dt == DT_BF16 ? DT_F32 : dt;
}

static inline double least_of(enum dtype dt)
{
    return dt == DT_F64 ? DBL_MIN : dt == DT_F16 ? 0x1p-14 : (double)FLT_MIN;
}

static inline double flushed(struct legal *l, enum dtype dt, double x)
{
    if (fabs(x) < least_of(dt) && x != 0 && legal_may(l, CONTRACT_MAY_FLUSH))
        return copysign(0, x);
    return x;
}

/* x, exact or rounded to odd bits far below, as dt holds it. */
static inline double fit(struct legal *l, enum dtype dt, double x)
{
    if (dt == DT_F32)
        x = (double)(float)x;
    else if (dt != DT_F64)
        x = float_round(dt, legal_below(l, 2) ? (double)(float)x : x);
    return flushed(l, dt, x);
}

static inline double add(struct legal *l, enum dtype acc, double a, double b)
{
    return fit(l, acc, flushed(l, acc, a) + flushed(l, acc, b));
}

static inline double mul(struct legal *l, enum dtype acc, double a, double b)
{
    return fit(l, acc, flushed(l, acc, a) * flushed(l, acc, b));
}

static inline double quotient(struct legal *l, enum dtype acc, double a, double b)
{
    a = flushed(l, acc, a);
    b = flushed(l, acc, b);
    if (legal_may(l, CONTRACT_MAY_RECIPROCAL))
        return mul(l, acc, a, fit(l, acc, 1 / b));
    return fit(l, acc, a / b);
}

/* a * b + c, in one rounding where that is allowed. */
static inline double mad(struct legal *l, enum dtype acc, double a, double b, double c)
{
    if (!legal_may(l, CONTRACT_MAY_CONTRACT))
        return add(l, acc, mul(l, acc, a, b), c);
    if (acc == DT_F32)
        return flushed(l, acc, (double)fmaf((float)a, (float)b, (float)c));
    if (acc == DT_F64)
        return flushed(l, acc, fma(a, b, c));
    return fit(l, acc, a * b + c);
}

/* A function whose value is x and whose error may be so many ulps. */
static inline double fun(struct legal *l, enum dtype core, long double x, double ulps)
{
    int digits = core == DT_F64 ? 52 : 23, least = core == DT_F64 ? -1074 : -149, e;
    static const double part[] = { -1, -0.999, -0.3, 0, 0, 0.7, 0.999, 1 };
    long double ulp;
    double y;

    if (x == 0 || !isfinite((double)x))
        return (double)x;
    e = ilogbl(x) - digits;
    ulp = ldexpl(1, e > least ? e : least);
    y = (double)(x + part[legal_below(l, 8)] * ulps * ulp);
    if (core == DT_F32)
        y = (double)(float)y;
    while (isfinite(y) && fabsl(y - x) > ulps * ulp)
        y = core == DT_F32 ? (double)nextafterf((float)y, (float)x) : nextafter(y, (double)x);
    return flushed(l, core, y);
}

/* x, a function's value, made by a short polynomial that may be off by `off` besides: the same
 * for the same x, unless what is computed twice may differ anyhow. */
static inline long double poly(struct legal *l, long double x, double off)
{
    static const double part[] = { -1, -0.999, -0.3, 0, 0.7, 1 };
    double bits = (double)x;
    uint64_t h;

    if (x == 0 || x == 1 || !(l->contract & CONTRACT_MAY_APPROXIMATE))
        return x;
    memcpy(&h, &bits, sizeof h);
    h = l->contract & CONTRACT_MAY_CONTRACT ? legal_draw(l) : h * 0x9e3779b97f4a7c15u;
    return x * (1 + part[(h >> 33) % 6] * 0x1p-15) + part[(h >> 43) % 6] * off;
}

/* How exp is made, by everybody in one kernel. */
enum { EXP_PLAIN, EXP_SCALED, EXP_METHODS };

static inline double exp_by(struct legal *l, enum dtype core, int method, double a)
{
    if (isinf(a))
        return a > 0 ? a : 0;
    if (l->exact && (a == 0 || a < -200))
        return a == 0 ? 1 : fit(l, core, exp(a));
    if (method == EXP_PLAIN)
        return fun(l, core, poly(l, expl(a), 0), 1);
    a = fit(l, core, a * fit(l, core, 1.4426950408889634));
    return fun(l, core, poly(l, exp2l(a), 0), 1);
}

/* n terms (times by[], if given) in a random order */
struct terms {
    int n, at[1024];
    const double *x, *by;
};

static inline double term_of(const struct terms *t, int k)
{
    return t->x[k] * (t->by ? t->by[k] : 1);
}

static inline void order(struct legal *l, struct terms *t)
{
    int style = legal_below(l, 6);

    for (int k = 0; k < t->n; k++)
        t->at[k] = style == 1 ? t->n - 1 - k : k;
    for (int k = t->n - 1; style >= 2 && k > 0; k--) {
        int j = legal_below(l, k + 1), swap = t->at[k];

        t->at[k] = t->at[j];
        t->at[j] = swap;
    }
    if (style < 3)
        return;
    for (int k = 1; k < t->n; k++) /* large first, small first, positive first */
        for (int j = k; j > 0; j--) {
            double a = term_of(t, t->at[j - 1]), b = term_of(t, t->at[j]);
            int swap = t->at[j];

            if (style == 3 ? fabs(a) >= fabs(b) : style == 4 ? fabs(a) <= fabs(b) : a >= b)
                break;
            t->at[j] = t->at[j - 1];
            t->at[j - 1] = swap;
        }
}

static inline double leaf(struct legal *l, enum dtype acc, const struct terms *t, int k)
{
    k = t->at[k];
    return t->by ? mul(l, acc, t->x[k], t->by[k]) : flushed(l, acc, t->x[k]);
}

static inline double tree(struct legal *l, enum dtype acc, const struct terms *t, int from,
                          int to, int style)
{
    int n = to - from, at;

    if (n == 1)
        return leaf(l, acc, t, from);
    at = style == 0 ? 1 : style == 1 ? n / 2 : style == 2 ? n - 1 : 1 + legal_below(l, n - 1);
    return add(l, acc, tree(l, acc, t, from, from + at, style),
               tree(l, acc, t, from + at, to, style));
}

static inline double total(struct legal *l, enum dtype acc, int n, const double *x,
                           const double *by)
{
    struct terms t = { .n = n, .x = x, .by = by };
    int style = legal_below(l, 5);
    double s = 0;

    if (n == 0)
        return 0;
    order(l, &t);
    if (style < 4) {
        s = tree(l, acc, &t, 0, n, style);
        return l->foreign && legal_below(l, 2) ? s : add(l, acc, 0, s);
    }
    for (int k = 0; k < n; k++)
        s = by ? mad(l, acc, x[t.at[k]], by[t.at[k]], s) : add(l, acc, s, x[t.at[k]]);
    return s;
}

/* element k of node i, as somebody reads it */
static inline double read(struct legal *l, int i, int64_t k)
{
    return l->v[legal_below(l, l->versions)][i][k];
}

static inline double operand(struct legal *l, const struct node *x, int a, int64_t k)
{
    return x->arg[a].node < 0 ? x->arg[a].lit : read(l, x->arg[a].node, k);
}

void legal_composite(struct legal *l, int i, double *out);
void legal_run(struct legal *l);

#endif
