/*
 * Sums and means of f32 in ieee. Terms that are no numbers are rare: they are noticed at the
 * end, and looked at in a second pass.
 */
#include "judge/sum.h"
#include "judge/walk.h"

/* Rounded twice: sum / n, or sum * (1 / n). */
static struct val mean_of(struct val sum, int64_t n)
{
    double by = (double)n, v = sum.v / by, prop = sum.e / by;

    if (n == 0)
        return val_exact(NAN);
    if (sum.e < 0 || !isfinite(sum.v))
        return sum;
    if (sum.e == 0 && !(n & (n - 1)) && (double)(float)v == v)
        return val_exact(v);
    return (struct val){ v, prop + 2 * UNIT * (1 + UNIT) * (fabs(v) + prop) +
                                (sum.v == 0 && sum.e == 0 ? 0 : TINY) };
}

static void add_row(struct sum *to, const struct val *x, int64_t n)
{
    double s = 0, t = 0, e = 0;

    for (int64_t k = 0; k < n; k++) {
        s += x[k].v;
        t += fabs(x[k].v);
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
        to[k].t += fabs(x[k].v);
        to[k].e += x[k].e;
    }
}

/* The terms of all results once more, sorted by kind. */
static void look_again(const struct val *x, struct walk w, struct sum *sum, unsigned char *saw,
                       int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        sum[k].t = sum[k].e = 0;
    for (; w.rows > 0; walk_next(&w))
        for (int64_t k = 0; k < w.inner; k++, x++) {
            int64_t at = w.at + k * w.inner_step;
            int kind = sum_kind(*x);

            saw[at] |= (unsigned char)kind;
            sum[at].t += kind ? 0 : fabs(x->v);
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
    double gamma = sum_gamma((double)(meet > 1 ? meet - 1 : 0));

    for (; walk.rows > 0; walk_next(&walk), row += walk.inner)
        if (walk.inner_step == 0)
            add_row(sum + walk.at, row, walk.inner);
        else
            add_each(sum + walk.at, row, walk.inner);
    w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t k = 0; k < w->n; k++) {
        w->ieee[k] = sum_bound(sum[k], gamma, 0, integer);
        if (w->ieee[k].e < 0 && !saw) {
            saw = arena_array(r->arena, unsigned char, w->n);
            look_again(src, again, sum, saw, w->n);
        }
        if (saw && (saw[k] || w->ieee[k].e < 0))
            w->ieee[k] = sum_special(saw[k], sum[k]);
        if (x->op == OP_MEAN)
            w->ieee[k] = mean_of(w->ieee[k], meet);
        all_exact &= w->ieee[k].e == 0;
    }
    r->grade[i] = all_exact && x->op == OP_SUM ? GRADE_INTEGER : GRADE_BOUND;
}
