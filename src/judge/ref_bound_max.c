/*
 * max and min of floats in ieee: v is the largest v, and the true one lies between the largest
 * lower end and the largest upper end. min is -max(-x). NaN wins.
 */
#include "judge/ref.h"
#include "judge/walk.h"

/* Of the terms that meet in one result (negated for min). */
struct most {
    real v, low, high;
};

/* Comparisons with NaN are false: a NaN, once in v, stays there. */
static void join(struct most *m, real v, double e)
{
    m->v = v > m->v || v != v ? v : m->v;
    m->low = v - e > m->low ? v - e : m->low;
    m->high = v + e > m->high ? v + e : m->high;
}

enum { MET_UNJUDGED = 1, MET_PLUS_ZERO = 2, MET_MINUS_ZERO = 4 };

static void find_zeros(const struct val *x, struct walk w, unsigned char *saw)
{
    for (; w.rows > 0; walk_next(&w))
        for (int64_t k = 0; k < w.inner; k++, x++) {
            unsigned char *s = &saw[w.at + k * w.inner_step];

            if (x->e < 0)
                *s |= MET_UNJUDGED;
            else if (x->v == 0)
                *s |= signbit(x->v) ? MET_MINUS_ZERO : MET_PLUS_ZERO;
        }
}

static struct val most_bound(struct most m, unsigned char saw)
{
    double e, above = (double)(m.high - m.v), below = (double)(m.v - m.low);

    if (isnan(m.v))
        return saw & MET_UNJUDGED ? val_unjudged() : val_exact(NAN);
    if (isinf(m.v))
        return val_exact(m.v);
    e = above > below ? above : below;
    if (e > 0)
        e += fabs((double)m.v) * SLACK + e * 0x1p-50;
    /* max(+0, -0) may be either: not an exact zero, so that 1/x is not judged */
    if (e == 0 && m.v == 0 && saw & MET_PLUS_ZERO && saw & MET_MINUS_ZERO)
        e = DBL_TRUE_MIN;
    return val_is_number((struct val){ m.v, e }) ? (struct val){ m.v, e } : val_unjudged();
}

void ref_bound_max(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int from = x->arg[0].node;
    const struct shape *sh = &r->prog->node[from].sh;
    struct want_node *w = &r->want->node[i];
    const struct val *src = r->want->node[from].ieee, *row = src;
    int64_t step[MAX_RANK];
    real sign = x->op == OP_MIN ? -1 : 1;
    struct most *most = arena_array(r->arena, struct most, w->n);
    unsigned char *saw = NULL;
    struct walk walk, again;
    bool all_exact = true;

    ref_reduce_steps(x, sh, step);
    again = walk = walk_begin(sh, step, 0);
    for (int64_t k = 0; k < w->n; k++)
        most[k] = (struct most){ -HUGE_VAL, -HUGE_VAL, -HUGE_VAL };
    for (; walk.rows > 0; walk_next(&walk), row += walk.inner)
        if (walk.inner_step == 0) {
            struct most m = most[walk.at];

            for (int64_t k = 0; k < walk.inner; k++)
                join(&m, sign * row[k].v, row[k].e);
            most[walk.at] = m;
        } else {
            for (int64_t k = 0; k < walk.inner; k++)
                join(&most[walk.at + k], sign * row[k].v, row[k].e);
        }
    w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t k = 0; k < w->n; k++) {
        if (!saw && (isnan(most[k].v) || most[k].v == 0)) {
            saw = arena_array(r->arena, unsigned char, w->n);
            find_zeros(src, again, saw);
        }
        w->ieee[k] = most_bound(most[k], saw ? saw[k] : 0);
        w->ieee[k].v *= sign;
        all_exact &= w->ieee[k].e == 0;
    }
    r->grade[i] = all_exact ? r->grade[from] : GRADE_BOUND;
}
