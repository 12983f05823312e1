/*
 * Sums and means of floats in ieee. Terms that are no numbers are rare: they are noticed at the
 * end, and looked at in a second pass.
 */
#include "judge/sum.h"
#include "judge/walk.h"

/* Rounded twice: sum / n, or sum * (1 / n); and perhaps n, where acc can't count so far. */
static struct val mean_of(const struct acc *a, enum dtype acc, struct val sum, int64_t n)
{
    real by = (real)n, v = sum.v / by;
    double prop = sum.e / (double)n, unit = a->unit;

    if (n == 0)
        return val_exact(NAN);
    if (sum.e < 0 || !isfinite(sum.v))
        return sum;
    if ((double)n > a->most)
        return val_unjudged();
    if (sum.e == 0 && !(n & (n - 1)) &&
        (acc == REAL_DTYPE ? real_on_grid(v) : grid_round(acc, (double)v) == v))
        return val_exact(v);
    if (a->normal * (double)n > 1) /* 1 / n has fewer digits */
        prop += a->tiny * (fabs((double)sum.v) + sum.e);
    if ((double)n > a->whole)
        prop += 2 * unit * (fabs((double)v) + prop);
    return (struct val){ v, prop + 2 * unit * (1 + unit) * (fabs((double)v) + prop) +
                                (sum.v == 0 && sum.e == 0 ? 0 : a->tiny) };
}

static void add_row(struct sum *to, const struct val *x, int64_t n)
{
    real s = 0;
    double t = 0, e = 0;

    for (int64_t k = 0; k < n; k++) {
        s += x[k].v;
        t += fabs((double)x[k].v);
        e += x[k].e;
    }
    to->s += s;
    to->t += t;
    to->e += e;
}

static void add_each(struct sum *to, const struct val *x, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        to[k].s += x[k].v;
        to[k].t += fabs((double)x[k].v);
        to[k].e += x[k].e;
    }
}

/* The terms of all results once more, sorted by kind. */
static void sort_terms(const struct val *x, struct walk w, struct sum *sum, unsigned char *saw,
                       int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        sum[k].t = sum[k].e = 0;
    for (; w.rows > 0; walk_next(&w))
        for (int64_t k = 0; k < w.inner; k++, x++) {
            int64_t at = w.at + k * w.inner_step;
            int kind = sum_kind(*x);

            saw[at] |= (unsigned char)kind;
            sum[at].t += kind ? 0 : fabs((double)x->v);
            sum[at].e += kind ? 0 : x->e;
        }
}

void ref_bound_sum(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int from = x->arg[0].node;
    const struct shape *sh = &r->prog->node[from].sh;
    struct want_node *w = &r->want->node[i];
    const struct val *src = r->want->node[from].ieee, *row = src;
    int64_t step[MAX_RANK], meet = ref_reduce_steps(x, sh, step);
    struct walk walk = walk_begin(sh, step, 0), again = walk;
    struct sum *sum = arena_array(r->arena, struct sum, w->n);
    unsigned char *saw = NULL;
    bool integer = r->grade[from] == GRADE_INTEGER, all_exact = integer;
    const struct acc acc = ref_acc(r, x->acc);
    const struct gammas gamma = sum_gammas(acc.unit, 0, (double)meet);

    for (; walk.rows > 0; walk_next(&walk), row += walk.inner)
        if (walk.inner_step == 0)
            add_row(sum + walk.at, row, walk.inner);
        else
            add_each(sum + walk.at, row, walk.inner);
    w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t k = 0; k < w->n; k++) {
        w->ieee[k] = sum_bound(&acc, sum[k], gamma, 0, integer);
        if (w->ieee[k].e < 0 && !saw) {
            saw = arena_array(r->arena, unsigned char, w->n);
            sort_terms(src, again, sum, saw, w->n);
        }
        if (saw && (saw[k] || w->ieee[k].e < 0))
            w->ieee[k] = sum_special(&acc, saw[k], sum[k]);
        if (x->op == OP_MEAN)
            w->ieee[k] = mean_of(&acc, x->acc, w->ieee[k], meet);
        if (x->dt != x->acc)
            w->ieee[k] = ref_stored(r, i, w->ieee[k]);
        all_exact &= w->ieee[k].e == 0;
    }
    r->grade[i] = all_exact && x->op == OP_SUM ? GRADE_INTEGER : GRADE_BOUND;
}
