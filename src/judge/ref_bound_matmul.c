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

/* alpha and beta, and what is known of the addend. */
struct scales {
    double alpha, beta;
    const struct val *c; /* NULL = none that is read */
    double term, more;   /* roundings of a term; how many terms more */
    bool whole;          /* alpha and beta are integers */
    bool plain;          /* neither scaled nor added to */
};

static struct scales scales_of(const struct ref *r, const struct node *x)
{
    struct scales s = { x->alpha, x->beta, NULL, 1, 0, false, false };

    if (x->n_arg == 3 && x->beta != 0)
        s.c = r->want->node[x->arg[2].node].ieee;
    s.plain = x->alpha == 1 && !s.c;
    s.more = s.c != NULL;
    s.term = 1 + (fabs(x->alpha) != 1);
    if (x->alpha == 0)
        s.term = s.c && fabs(x->beta) != 1;
    s.whole = x->alpha == rint(x->alpha) && (!s.c || x->beta == rint(x->beta));
    return s;
}

/* alpha times the product, and beta times c[at], as one sum: whoever computes it may scale the
 * terms or the sum, and begin or end with c. */
static struct sum scaled(const struct scales *s, struct sum x, int64_t at)
{
    double a = fabs(s->alpha), b = fabs(s->beta);

    x.s *= s->alpha;
    x.t *= a;
    x.e *= a;
    if (s->c) {
        x.s = s->alpha == 0 ? s->beta * s->c[at].v : x.s + s->beta * s->c[at].v; /* -0 stays */
        x.t += b * fabs((double)s->c[at].v);
        x.e += b * s->c[at].e;
    }
    return x;
}

/*
 * Alpha may also go into an operand first. That is one rounding of each term, which is counted,
 * but alpha a[l] may leave the range of normal numbers where alpha a[l] b[l] does not: then it
 * is off by `tiny`, and the term by that times b[l].
 */
struct fold {
    double least, most; /* magnitudes of the numbers of a row or column; not 0 the former */
};

static struct fold fold_of(const struct val *x, int64_t n, int64_t step)
{
    struct fold f = { HUGE_VAL, 0 };

    for (int64_t k = 0; k < n; k++) {
        double size = fabs((double)x[k * step].v), e = x[k * step].e;

        if (!val_is_number(x[k * step]))
            continue;
        f.most = fmax(f.most, size + e);
        if (size + e > 0)
            f.least = fmin(f.least, fmax(size - e, 0));
    }
    return f;
}

/* x with alpha in an operand */
static struct val folded(const struct acc *a, double alpha, struct fold row, struct fold column,
                         int64_t k, struct val x)
{
    alpha = fabs(alpha);
    if (!(alpha * row.most <= a->most / 2 && alpha * column.most <= a->most / 2))
        return val_unjudged();
    if (!val_is_number(x)) /* infinity times what may have become 0 */
        return alpha * fmin(row.least, column.least) < a->normal ? val_unjudged() : x;
    if (alpha * row.least < a->normal)
        x.e += (double)k * a->tiny * column.most;
    if (alpha * column.least < a->normal)
        x.e += (double)k * a->tiny * row.most;
    return val_is_number(x) ? x : val_unjudged();
}

/* Do neither the product as it is nor c leave the accumulator's range, in any order? */
static bool has_room(const struct acc *a, const struct scales *s, struct sum x, int64_t at)
{
    return x.t + x.e <= a->most / 4 &&
           (!s->c || fabs((double)s->c[at].v) + s->c[at].e <= a->most / 4);
}

/* The same where something is no number. */
static struct val scaled_special(const struct acc *a, const struct scales *s, int saw,
                                 struct sum x, int64_t at)
{
    int kind = 0;

    if (s->alpha < 0)
        saw = (saw & ~(SAW_PLUS | SAW_MINUS)) | (saw & SAW_PLUS ? SAW_MINUS : 0) |
              (saw & SAW_MINUS ? SAW_PLUS : 0);
    x.t *= fmax(1, fabs(s->alpha));
    x.e *= fmax(1, fabs(s->alpha));
    if (s->c && val_is_number(s->c[at])) {
        x.t += fmax(1, fabs(s->beta)) * fabs((double)s->c[at].v);
        x.e += fmax(1, fabs(s->beta)) * s->c[at].e;
    } else if (s->c) {
        kind = sum_kind(special_binary(OP_MUL, val_exact(s->beta), s->c[at]));
    }
    return sum_special(a, saw | kind, x);
}

void ref_bound_matmul(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int an = x->arg[0].node, bn = x->arg[1].node;
    const struct shape *ash = &r->prog->node[an].sh;
    struct want_node *w = &r->want->node[i];
    const struct val *a = r->want->node[an].ieee, *b = r->want->node[bn].ieee;
    int64_t m = x->sh.dim[x->sh.rank - 2], n = x->sh.dim[x->sh.rank - 1];
    int64_t k = ash->dim[ash->rank - 1], rows = n ? w->n / n : 0, all = x->alpha != 0 ? k : 0;
    double *row = arena_array(r->arena, double, 2 * n);
    struct sums sums = { arena_array(r->arena, real, n), row, row + n };
    const struct acc acc = ref_acc(r, x->acc);
    const struct scales scales = scales_of(r, x);
    bool exact = r->grade[an] > GRADE_BOUND && r->grade[bn] > GRADE_BOUND;
    bool integer =
        scales.whole &&
        (all == 0 || (r->grade[an] == GRADE_INTEGER && r->grade[bn] == GRADE_INTEGER)) &&
        (!scales.c || r->grade[x->arg[2].node] == GRADE_INTEGER);
    const struct gammas gamma = sum_gammas(acc.unit, scales.term, (double)all + scales.more);
    double tiny =
        ((double)all * fmax(1, fabs(x->alpha)) + scales.term + scales.more) * acc.tiny;
    bool store = x->dt != x->acc, fold = r->foreign && all && fabs(x->alpha) != 1;
    struct fold *column = arena_array(r->arena, struct fold, fold ? n : 0), of_row = { 0 };
    struct val *out = w->ieee = arena_array(r->arena, struct val, w->n);

    r->grade[i] = integer ? GRADE_INTEGER : GRADE_BOUND;
    for (int64_t at = 0; at < rows; at++, a += k, out += n) {
        if (at && at % m == 0)
            b += k * n; /* the next batch */
        for (int64_t j = 0; fold && at % m == 0 && j < n; j++)
            column[j] = fold_of(b + j, k, n);
        if (fold)
            of_row = fold_of(a, k, 1);
        memset(row, 0, 2 * (size_t)n * sizeof *row);
        memset(sums.s, 0, (size_t)n * sizeof *sums.s);
        for (int64_t l = 0; l < all; l++) {
            add_products(sums, a[l], b + l * n, n);
            if (!exact)
                add_errors(sums, a[l], b + l * n, n);
        }
        for (int64_t j = 0; j < n; j++) {
            struct sum sum = { sums.s[j], sums.t[j], sums.e[j] };

            out[j] = val_unjudged();
            if (scales.plain)
                out[j] = sum_bound(&acc, sum, gamma, tiny, integer);
            else if (has_room(&acc, &scales, sum, at * n + j))
                out[j] =
                    sum_bound(&acc, scaled(&scales, sum, at * n + j), gamma, tiny, integer);
            if (out[j].e < 0) {
                sum = (struct sum){ 0 };
                out[j] = scaled_special(&acc, &scales, sum_dot_kinds(a, b + j, all, n, &sum),
                                        sum, at * n + j);
            }
            if (fold)
                out[j] = folded(&acc, x->alpha, of_row, column[j], k, out[j]);
            if (store)
                out[j] = ref_stored(r, i, out[j]);
            if (out[j].e != 0)
                r->grade[i] = GRADE_BOUND;
        }
    }
}
