/*
 * Matmul of floats in ieee: sums of products (judge/sum.h), a row of the result at a time.
 */
#include <string.h>

#include "judge/sum.h"

/* One row of sums, as three arrays. */
struct sums {
    real *s;
    double *t, *e;
};

static void add_products(struct sums to, struct val x, const struct val *y, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        real p = x.v * y[j].v;

        to.s[j] += p;
        to.t[j] += fabs((double)p);
    }
}

static void add_errors(struct sums to, struct val x, const struct val *y, int64_t n)
{
    double size = fabs((double)x.v) + x.e;

    for (int64_t j = 0; j < n; j++)
        to.e[j] += size * y[j].e + fabs((double)y[j].v) * x.e;
}

void ref_bound_matmul(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int an = x->arg[0].node, bn = x->arg[1].node;
    const struct shape *ash = &r->prog->node[an].sh;
    struct want_node *w = &r->want->node[i];
    const struct val *a = r->want->node[an].ieee, *b = r->want->node[bn].ieee;
    int64_t m = x->sh.dim[x->sh.rank - 2], n = x->sh.dim[x->sh.rank - 1];
    int64_t k = ash->dim[ash->rank - 1], rows = n ? w->n / n : 0;
    double *row = arena_array(r->arena, double, 2 * n);
    struct sums sums = { arena_array(r->arena, real, n), row, row + n };
    const struct acc acc = acc_of(x->acc);
    bool exact = r->grade[an] > GRADE_BOUND && r->grade[bn] > GRADE_BOUND;
    bool integer = r->grade[an] == GRADE_INTEGER && r->grade[bn] == GRADE_INTEGER;
    double gamma = sum_gamma(acc.unit, (double)k), tiny = (double)k * acc.tiny;
    bool store = x->dt != x->acc;
    struct val *out = w->ieee = arena_array(r->arena, struct val, w->n);

    r->grade[i] = integer ? GRADE_INTEGER : GRADE_BOUND;
    for (int64_t at = 0; at < rows; at++, a += k, out += n) {
        if (at && at % m == 0)
            b += k * n; /* the next batch */
        memset(row, 0, 2 * (size_t)n * sizeof *row);
        memset(sums.s, 0, (size_t)n * sizeof *sums.s);
        for (int64_t l = 0; l < k; l++) {
            add_products(sums, a[l], b + l * n, n);
            if (!exact)
                add_errors(sums, a[l], b + l * n, n);
        }
        for (int64_t j = 0; j < n; j++) {
            struct sum sum = { sums.s[j], sums.t[j], sums.e[j] };

            out[j] = sum_bound(&acc, sum, gamma, tiny, integer);
            if (out[j].e < 0)
                out[j] = sum_dot_special(&acc, a, b + j, k, n);
            if (store)
                out[j] = val_stored(x->dt, out[j]);
            if (out[j].e != 0)
                r->grade[i] = GRADE_BOUND;
        }
    }
}
