/*
 * max and min of f32 in ieee: v is the largest v, and the true one lies between the largest
 * lower end and the largest upper end. min is -max(-x). NaN wins.
 */
#include "judge/ref.h"
#include "judge/walk.h"

/* Of the terms that meet in one result (negated for min). */
struct most {
    double v, low, high;
};

/* Comparisons with NaN are false: a NaN, once in v, stays there. */
static void join(struct most *m, double v, double e)
{
    m->v = v > m->v || v != v ? v : m->v;
    m->low = v - e > m->low ? v - e : m->low;
    m->high = v + e > m->high ? v + e : m->high;
}

enum { SAW_UNJUDGED = 1, SAW_PLUS_ZERO = 2, SAW_MINUS_ZERO = 4 };

static void look_again(const struct val *x, struct walk w, unsigned char *saw)
{
    for (; w.rows > 0; walk_next(&w))
        for (int64_t k = 0; k < w.inner; k++, x++) {
            unsigned char *s = &saw[w.at + k * w.inner_step];

            if (x->e < 0)
                *s |= SAW_UNJUDGED;
            else if (x->v == 0)
                *s |= signbit(x->v) ? SAW_MINUS_ZERO : SAW_PLUS_ZERO;
        }
}

static struct val most_bound(struct most m, unsigned char saw)
{
    double e, above = m.high - m.v, below = m.v - m.low;

    if (isnan(m.v))
        return saw & SAW_UNJUDGED ? val_unjudged() : val_exact(NAN);
    if (isinf(m.v))
        return val_exact(m.v);
    e = above > below ? above : below;
    if (e > 0)
        e += fabs(m.v) * 0x1p-50;
    /* max(+0, -0) may be either: not an exact zero, so that 1/x is not judged */
    if (e == 0 && m.v == 0 && saw & SAW_PLUS_ZERO && saw & SAW_MINUS_ZERO)
        e = DBL_TRUE_MIN;
    if (!(fabs(m.v) + e <= (double)FLT_MAX))
        return val_unjudged();
    return (struct val){ m.v, e };
}

void ref_bound_max(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int from = x->arg[0].node;
    const struct shape *sh = &r->prog->node[from].sh;
    struct want_node *w = &r->want->node[i];
    const struct val *src = r->want->node[from].ieee, *row = src;
    int64_t step[MAX_RANK];
    double sign = x->op == OP_MIN ? -1 : 1;
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
            look_again(src, again, saw);
        }
        w->ieee[k] = most_bound(most[k], saw ? saw[k] : 0);
        w->ieee[k].v *= sign;
        all_exact &= w->ieee[k].e == 0;
    }
    r->grade[i] = all_exact ? r->grade[from] : GRADE_BOUND;
}
