/*
 * layernorm (two passes) and rmsnorm of floats in ieee, along the last axis (ORACLE.md 4.5).
 * An error that all deviations from the mean share has no effect of first order on the
 * variance, because the deviations sum to 0.
 */
#include "judge/sum.h"

/* A line and what is known of it. */
struct norm {
    const struct val *x;
    int64_t n;
    struct val mean;   /* 0 for rmsnorm */
    struct val square; /* mean of squared deviations, plus eps */
    real scale;        /* 1 / sqrt(square) */
    double off;        /* its relative error */
    double tiny;       /* what rounding, or becoming 0, below the normal range costs */
};

/* The kinds of terms of a line. */
static int line_kind(const struct val *x, int64_t n)
{
    int saw = 0;

    for (int64_t k = 0; k < n; k++)
        saw |= sum_kind(x[k]);
    return saw;
}

static struct val line_mean(const struct acc *acc, const struct val *x, int64_t n)
{
    struct sum s = { 0 };
    struct val m;

    for (int64_t k = 0; k < n; k++) {
        s.s += x[k].v;
        s.t += fabs((double)x[k].v);
        s.e += x[k].e;
    }
    m = sum_bound(acc, s, sum_gammas(UNIT, 0, (double)n), 0, false);
    if (m.e < 0)
        return m;
    m.v /= (real)n;
    m.e /= (double)n;
    m.e += 2 * UNIT * (1 + UNIT) * (fabs((double)m.v) + m.e) + 2 * acc->tiny;
    return m;
}

/* The deviation of one element: c, and what is its own of the error. */
static real deviation(const struct norm *l, int64_t k, bool centred, double *own)
{
    real c = centred ? l->x[k].v - l->mean.v : l->x[k].v;

    *own = l->x[k].e;
    if (centred)
        *own += UNIT * (fabs((double)c) + l->x[k].e + l->mean.e) + l->tiny - TINY;
    return c;
}

/* mean of squares + eps; false: some order may overflow, or nothing of it is certain */
static bool line_scale(struct norm *l, bool centred, double eps)
{
    double n = (double)l->n, own_sum = 0, e = 0, size, own, gamma = sum_gamma(UNIT, n + 1);
    real s = 0;

    for (int64_t k = 0; k < l->n; k++) {
        real c = deviation(l, k, centred, &own);

        s += c * c;
        e += 2 * fabs((double)c) * own + own * own;
        own_sum += own;
    }
    e += 2 * l->mean.e * own_sum + n * l->mean.e * l->mean.e;
    size = (double)s + e;
    if (!(size * (1 + gamma) + eps <= REAL_MAX / 2))
        return false;
    e += gamma * size + n * l->tiny;
    s /= (real)l->n;
    e = e / n + 2 * UNIT * (1 + UNIT) * ((double)s + e / n) + l->tiny;
    l->square = val_rounded(s + (real)eps, e, l->tiny);
    size = l->square.e / (double)l->square.v;
    if (!(size < 0.5))
        return false;
    l->scale = 1 / real_sqrt(l->square.v);
    l->off = 1 / sqrt(1 - size) - 1;
    if (size < 1e-6) /* the difference would cancel */
        l->off = size / 2 * (1 + size);
    l->off += 5 * UNIT * (1 + l->off);
    return true;
}

static struct val normalised(const struct norm *l, int64_t k, bool centred)
{
    double own, size, e;
    real c = deviation(l, k, centred, &own), v = c * l->scale;
    struct val y;

    size = fabs((double)v);
    e = (own + l->mean.e) * (double)l->scale * (1 + l->off) + size * l->off;
    y = (struct val){ v, e + 2 * UNIT * (size + e) + l->tiny };
    return val_is_number(y) ? y : val_unjudged();
}

/* x, unless it may have overflowed */
static struct val in_range(struct val x)
{
    return isfinite(x.v) && !val_is_number(x) ? val_unjudged() : x;
}

/* y * g + b, each rounded or fused. */
static struct val affine(struct val y, struct val g, const struct val *b, double tiny)
{
    double prop = fabs((double)y.v) * g.e + (fabs((double)g.v) + g.e) * y.e;
    struct val z;

    if (val_is_number(y) && val_is_number(g))
        z = in_range(val_rounded(y.v * g.v, prop, tiny));
    else
        z = special_binary(OP_MUL, y, g);
    /* times a gain of 0 it is a zero, but of which sign? */
    if (z.v == 0 && z.e == 0 && !(fabs((double)y.v) > y.e))
        z.e = DBL_TRUE_MIN;
    if (!b)
        return z;
    if (val_is_number(z) && val_is_number(*b))
        return in_range(val_rounded(z.v + b->v, z.e + b->e, tiny - TINY));
    return special_binary(OP_ADD, z, *b);
}

/* Element k of a line that is not all numbers (kind) or may have overflowed (0). */
static struct val norm_special(const struct val *x, int64_t k, int kind, bool centred)
{
    if (kind & SAW_NAN || (centred && kind & (SAW_PLUS | SAW_MINUS)))
        return val_exact(NAN); /* all of the line reads it; inf - inf */
    if (!kind || kind & SAW_UNJUDGED)
        return val_unjudged();
    /* the sum of squares is inf: 0 times inf, and 0 times a number, of whatever sign */
    return isinf(x[k].v) ? val_exact(NAN) : (struct val){ 0, DBL_TRUE_MIN };
}

void ref_bound_norm(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    bool centred = x->op == OP_LAYERNORM;
    const struct val *src = r->want->node[x->arg[0].node].ieee;
    const struct val *g = r->want->node[x->arg[1].node].ieee;
    const struct val *b = centred ? r->want->node[x->arg[2].node].ieee : NULL;
    int64_t n = x->sh.dim[x->sh.rank - 1];
    const struct acc acc = ref_acc(r, REAL_DTYPE);

    w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t at = 0; at < w->n; at += n) {
        struct norm l = { .x = src + at, .n = n, .tiny = acc.tiny };
        int kind = line_kind(l.x, n);
        bool known = !kind;

        if (known && centred) {
            l.mean = line_mean(&acc, l.x, n);
            known = l.mean.e >= 0;
        }
        known = known && line_scale(&l, centred, x->eps);
        for (int64_t k = 0; k < n; k++) {
            struct val y =
                known ? normalised(&l, k, centred) : norm_special(l.x, k, kind, centred);

            w->ieee[at + k] = affine(y, g[k], b ? &b[k] : NULL, acc.tiny);
        }
    }
    ref_store(r, i);
    r->grade[i] = GRADE_BOUND;
}
