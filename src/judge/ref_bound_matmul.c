/*
 * Matmul of f32 in ieee: sums of products (judge/sum.h), a row of the result at a time.
 */
#include <string.h>

#include "judge/sum.h"

/* One row of sums, as three arrays. */
struct sums {
    double *s, *t, *e;
};

static void add_products(struct sums to, struct val x, const struct val *y, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        double p = x.v * y[j].v;

        to.s[j] += p;
        to.t[j] += fabs(p);
    }
}

static void add_errors(struct sums to, struct val x, const struct val *y, int64_t n)
{
    double size = fabs(x.v) + x.e;

    for (int64_t j = 0; j < n; j++)
        to.e[j] += size * y[j].e + fabs(y[j].v) * x.e;
}

/* One dot product again, term by term: x[0..k) and y[0], y[n], y[2n] .. */
static struct val dot_special(const struct val *x, const struct val *y, int64_t k, int64_t n)
{
    struct sum sum = { 0 };
    int saw = 0;

    for (int64_t l = 0; l < k; l++) {
        struct val a = x[l], b = y[l * n];

        if (val_is_number(a) && val_is_number(b)) {
            sum.t += fabs(a.v * b.v);
            sum.e += (fabs(a.v) + a.e) * b.e + fabs(b.v) * a.e;
        } else {
            saw |= sum_kind(special_binary(OP_MUL, a, b));
        }
    }
    return sum_special(saw, sum);
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
    double *row = arena_array(r->arena, double, 3 * n);
    struct sums sums = { row, row + n, row + 2 * n };
    bool exact = r->grade[an] > GRADE_BOUND && r->grade[bn] > GRADE_BOUND;
    bool integer = r->grade[an] == GRADE_INTEGER && r->grade[bn] == GRADE_INTEGER;
    double gamma = sum_gamma((double)k);
    struct val *out = w->ieee = arena_array(r->arena, struct val, w->n);

    r->grade[i] = integer ? GRADE_INTEGER : GRADE_BOUND;
    for (int64_t at = 0; at < rows; at++, a += k, out += n) {
        if (at && at % m == 0)
            b += k * n; /* the next batch */
        memset(row, 0, 3 * (size_t)n * sizeof *row);
        for (int64_t l = 0; l < k; l++) {
            add_products(sums, a[l], b + l * n, n);
            if (!exact)
                add_errors(sums, a[l], b + l * n, n);
        }
        for (int64_t j = 0; j < n; j++) {
            struct sum sum = { sums.s[j], sums.t[j], sums.e[j] };

            out[j] = sum_bound(sum, gamma, (double)k * TINY, integer);
            if (out[j].e < 0)
                out[j] = dot_special(a, b + j, k, n);
            if (out[j].e != 0)
                r->grade[i] = GRADE_BOUND;
        }
    }
}
