/*
 * Kernels that go about their work in many ways, as people write them: any order of terms, with
 * and without fma, online and split; and on demand one term is dropped or one element misread.
 */
#ifndef TESTS_FAULTY_H
#define TESTS_FAULTY_H

#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "ir/half.h"
#include "ir/text.h"

enum kernel { K_MATMUL, K_SUM, K_SOFTMAX, K_ATTENTION, K_COUNT };
static const char *const kernel_name[K_COUNT] = { "matmul", "sum", "softmax", "attention" };

enum fault { NONE, DROP, WRONG };

/* b batches of an m x n result over k terms; attention: n queries see k keys of m numbers */
struct shape_of {
    enum kernel kernel;
    enum dtype dt;
    int b, m, n, k;
    bool causal;
    float scale;
};

/* Where the fault is, and how a clean kernel goes about its work. */
struct way {
    enum fault fault;
    int b, i, j, at, other; /* at term `at` of result (b,i,j): `other` is read instead */
    bool values;            /* attention: it is the value, not the key, that is the wrong one */
    bool fma, exp2, recip, late;
    int block; /* 0 = all keys at once; online; split if negative */
    int order[128];
};

static inline int below(struct rng *r, int n)
{
    return (int)rng_below(r, (uint64_t)n);
}

static inline struct shape_of draw_shape(struct rng *r, enum kernel kernel, enum dtype dt)
{
    static const float scales[] = { 0.35355338f, 0.125f, 1, 0.5f };
    struct shape_of s = { .kernel = kernel, .dt = dt, .b = 1 + below(r, 2) };

    s.m = 2 + below(r, 7);
    s.n = 2 + below(r, 7);
    s.k = 2 + below(r, kernel == K_SOFTMAX || kernel == K_ATTENTION ? 30 : 100);
    if (kernel == K_ATTENTION) {
        s.m = 6 + below(r, 11);
        s.causal = rng_chance(r, 1, 4);
        s.scale = scales[below(r, 4)];
    }
    return s;
}

static inline struct trial *make_trial(const struct shape_of *s, uint64_t seed, struct arena *a)
{
    const char *dt = dtype_info(s->dt)->name;
    struct trial *t = NULL;
    struct err e = { 0 };
    char *text = NULL;

    switch (s->kernel) {
    case K_MATMUL:
        text = arena_printf(a, "input x %s [%d,%d,%d]\ninput y %s [%d,%d,%d]\nz = matmul x y\n",
                            dt, s->b, s->m, s->k, dt, s->b, s->k, s->n);
        break;
    case K_SUM:
        text = arena_printf(a, "input x %s [%d,%d,%d]\nz = sum x axes=[2]\n", dt, s->b, s->m,
                            s->k);
        break;
    case K_SOFTMAX:
        text = arena_printf(a, "input x %s [%d,%d,%d]\nz = softmax x axis=2\n", dt, s->b, s->m,
                            s->k);
        break;
    case K_ATTENTION:
        text = arena_printf(a,
                            "input x %s [%d,%d,%d]\ninput y %s [%d,%d,%d]\n"
                            "input w %s [%d,%d,%d]\nz = attention x y w scale=%.9g%s\n",
                            dt, s->b, s->n, s->m, dt, s->b, s->k, s->m, dt, s->b, s->k, s->m,
                            (double)s->scale, s->causal ? " mask=causal" : "");
        break;
    case K_COUNT:
        break;
    }
    text = arena_printf(a, "tilefuzz 1\n%soutput z\nschedule\ndata seed=%llu recipe=normal\n",
                        text, (unsigned long long)seed);
    if (trial_parse(text, strlen(text), a, &t, &e))
        fail_msg("%s in\n%s", e.msg, text);
    return t;
}

static inline void shuffle(struct rng *r, int *order, int n)
{
    for (int k = 0; k < n; k++)
        order[k] = k;
    rng_shuffle(r, order, n);
}

static inline struct way draw_way(struct rng *r, const struct shape_of *s, enum fault fault)
{
    struct way w = { .fault = fault };

    w.fma = rng_chance(r, 1, 2);
    w.exp2 = rng_chance(r, 1, 2);
    w.recip = rng_chance(r, 1, 2);
    w.late = rng_chance(r, 1, 2);
    w.block = below(r, 3) * (1 + below(r, s->k)) * (rng_chance(r, 1, 2) ? 1 : -1);
    w.values = rng_chance(r, 1, 2);
    w.b = below(r, s->b);
    w.i = below(r, s->kernel == K_ATTENTION ? s->n : s->m);
    w.j = below(r, s->n);
    w.at = below(r, s->k);
    if (s->causal) /* of the keys that query i sees, and that can be mistaken for each other */
        w.at = below(r, w.i + 1 < s->k ? w.i + 1 : s->k);
    w.other = (w.at + 1) % s->k;
    shuffle(r, w.order, s->k);
    return w;
}

static inline float add_product(const struct way *w, float acc, float x, float y)
{
    float p = x * y;

    return w->fma ? fmaf(x, y, acc) : acc + p;
}

/* Is (b,i,j) where the fault is, and at term k? */
static inline bool hit(const struct way *w, enum fault f, int b, int i, int k)
{
    return w->fault == f && w->b == b && w->i == i && w->at == k;
}

static inline void run_matmul(const struct shape_of *s, const struct way *w, const double *x,
                              const double *y, double *z)
{
    for (int e = 0; e < s->b * s->m * s->n; e++) {
        int j = e % s->n, i = e / s->n % s->m, b = e / s->n / s->m;
        float acc = 0;

        for (int o = 0; o < s->k; o++) {
            int k = w->order[o], l = k;

            if (j == w->j && hit(w, DROP, b, i, k))
                continue;
            if (j == w->j && hit(w, WRONG, b, i, k))
                l = w->other;
            acc = add_product(w, acc, (float)x[(b * s->m + i) * s->k + k],
                              (float)y[(b * s->k + l) * s->n + j]);
        }
        z[e] = float_round(s->dt, (double)acc);
    }
}

static inline void run_sum(const struct shape_of *s, const struct way *w, const double *x,
                           double *z)
{
    for (int e = 0; e < s->b * s->m; e++) {
        int i = e % s->m, b = e / s->m, n = w->block ? abs(w->block) : s->k;
        float acc = 0;

        for (int o = 0; o < s->k;) {
            float part = 0;

            for (int c = 0; c < n && o < s->k; c++, o++) {
                int k = w->order[o];

                if (hit(w, DROP, b, i, k))
                    continue;
                part += (float)x[e * s->k + (hit(w, WRONG, b, i, k) ? w->other : k)];
            }
            acc += part;
        }
        z[e] = float_round(s->dt, (double)acc);
    }
}

static inline float weight(const struct way *w, float s, float m)
{
    const float log2e = 1.44269504f;

    if (!w->exp2)
        return expf(s - m);
    return exp2f(fmaf(s, log2e, -(m * log2e)));
}

/* Running maximum, sum and result of some keys. */
struct run {
    float m, l, o[16];
};

static inline void run_start(struct run *r)
{
    *r = (struct run){ .m = -HUGE_VALF };
}

/* Both seen by one maximum; what was gathered by a smaller one is scaled down. */
static inline void run_merge(const struct way *w, struct run *a, const struct run *b, int n)
{
    float m = fmaxf(a->m, b->m), x, y;

    if (isinf(m))
        return;
    x = weight(w, a->m, m);
    y = weight(w, b->m, m);
    if (isinf(a->m))
        x = 0;
    if (isinf(b->m))
        y = 0;
    a->l = a->l * x + b->l * y;
    for (int e = 0; e < n; e++)
        a->o[e] = a->o[e] * x + b->o[e] * y;
    a->m = m;
}

static inline void run_key(const struct way *w, struct run *r, float s, const double *v, int n)
{
    struct run one = { .m = s, .l = 1 };

    for (int e = 0; e < n; e++)
        one.o[e] = (float)v[e];
    run_merge(w, r, &one, n);
}

/* keys order[from .. to) of a row of scores; -inf where hidden or dropped */
static inline void run_block(const struct way *w, struct run *r, const float *score,
                             const double *const *v, int from, int to, int n)
{
    run_start(r);
    if (w->block > 0) { /* one after the other */
        for (int o = from; o < to; o++)
            if (!isinf(score[w->order[o]]))
                run_key(w, r, score[w->order[o]], v ? v[w->order[o]] : NULL, n);
        return;
    }
    for (int o = from; o < to; o++)
        r->m = fmaxf(r->m, score[w->order[o]]);
    for (int o = from; o < to; o++) {
        int k = w->order[o];
        float p = isinf(score[k]) ? 0 : weight(w, score[k], r->m);

        r->l += p;
        for (int e = 0; e < n; e++)
            r->o[e] = add_product(w, r->o[e], p, (float)v[k][e]);
    }
}

static inline void run_keys(const struct way *w, struct run *all, const float *score,
                            const double *const *v, int keys, int n)
{
    int step = w->block ? abs(w->block) : keys;
    struct run part;

    run_start(all);
    for (int from = 0; from < keys; from += step) {
        run_block(w, &part, score, v, from, from + step < keys ? from + step : keys, n);
        run_merge(w, all, &part, n);
    }
}

static inline double divide(const struct way *w, const struct shape_of *s, float x, float l)
{
    float r = 1 / l;

    return float_round(s->dt, (double)(w->recip ? x * r : x / l));
}

static inline void run_softmax(const struct shape_of *s, const struct way *w, const double *x,
                               double *z)
{
    for (int row = 0; row < s->b * s->m; row++) {
        float score[128], sums[128];
        struct run all;

        for (int k = 0; k < s->k; k++) {
            bool wrong = hit(w, WRONG, row / s->m, row % s->m, k);

            score[k] = sums[k] = (float)x[row * s->k + (wrong ? w->other : k)];
            if (hit(w, DROP, row / s->m, row % s->m, k))
                sums[k] = -HUGE_VALF;
        }
        run_keys(w, &all, sums, NULL, s->k, 0);
        for (int k = 0; k < s->k; k++)
            z[row * s->k + k] = divide(w, s, weight(w, score[k], all.m), all.l);
    }
}

static inline void run_attention(const struct shape_of *s, const struct way *w, const double *q,
                                 const double *key, const double *v, double *z)
{
    int d = s->m;

    for (int row = 0; row < s->b * s->n; row++) {
        int b = row / s->n, i = row % s->n;
        const double *read[128];
        float score[128];
        struct run all;

        for (int k = 0; k < s->k; k++) {
            bool wrong = hit(w, WRONG, b, i, k);
            const double *kk = key + (b * s->k + (wrong && !w->values ? w->other : k)) * d;
            float acc = 0;

            for (int c = 0; c < d; c++)
                acc = add_product(w, acc, (float)q[row * d + c], (float)kk[c]);
            score[k] = acc * s->scale;
            read[k] = v + (b * s->k + (wrong && w->values ? w->other : k)) * d;
            if ((s->causal && k > i) || hit(w, DROP, b, i, k))
                score[k] = -HUGE_VALF;
        }
        run_keys(w, &all, score, read, s->k, d);
        for (int e = 0; e < d; e++)
            z[row * d + e] = divide(w, s, all.o[e], all.l);
    }
}

#endif
