/*
 * Jumps: where a bound decides a discrete thing (compare, where, float -> i32, float -> bool).
 * If the whole interval decides it alike the result is certain; if not, the element is
 * unsure, and what depends on it is not judged by the bound.
 */
#include "base/bug.h"
#include "judge/ref.h"

enum answer { NO, YES, UNSURE };

/* x < y, or x <= y */
static enum answer less(struct val x, struct val y, bool or_equal)
{
    double far = (double)(y.v - x.v), near = (x.e + y.e) * (1 + 0x1p-40);

    if (near == 0)
        return or_equal ? x.v <= y.v : x.v < y.v;
    if (or_equal ? far >= near : far > near)
        return YES;
    return (or_equal ? far < -near : far <= -near) ? NO : UNSURE;
}

static enum answer same(struct val x, struct val y)
{
    if (x.e + y.e == 0)
        return x.v == y.v;
    return fabs((double)(x.v - y.v)) > (x.e + y.e) * (1 + 0x1p-40) ? NO : UNSURE;
}

static enum answer compare(enum op op, struct val x, struct val y)
{
    if (x.e < 0 || y.e < 0)
        return UNSURE;
    if (isnan(x.v) || isnan(y.v))
        return NO;
    return op == OP_EQ ? same(x, y) : less(x, y, op == OP_LE);
}

/* Truncation, saturating; NaN gives 0. */
static int32_t truncated(real v)
{
    if (isnan(v))
        return 0;
    if (v >= 0x1p31)
        return INT32_MAX;
    if (v <= -0x1p31)
        return INT32_MIN;
    return (int32_t)v;
}

static bool to_i32(struct val x, uint32_t *out)
{
    double slack = x.e > 0 ? x.e * (1 + 0x1p-50) + fabs((double)x.v) * SLACK : 0;

    *out = (uint32_t)truncated(x.v);
    return x.e >= 0 && truncated(x.v - slack) == truncated(x.v + slack);
}

static bool to_bool(struct val x, uint32_t *out)
{
    *out = x.v != 0;
    return x.e == 0 || (x.e > 0 && fabs((double)x.v) > x.e * (1 + 0x1p-40));
}

void ref_bound_to_word(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    enum dtype dt = REAL_DTYPE; /* of a literal: its neighbour's */
    struct vals a, b;

    for (int j = 0; j < x->n_arg; j++)
        if (x->arg[j].node >= 0)
            dt = r->prog->node[x->arg[j].node].dt;
    ref_vals(r, &x->arg[0], dt, &a);
    if (x->n_arg == 2)
        ref_vals(r, &x->arg[1], dt, &b);
    w->word = arena_array(r->arena, uint32_t, w->n);
    for (int64_t k = 0; k < w->n; k++) {
        struct val v = a.p[k * a.step];
        bool sure;

        if (x->op == OP_CAST) {
            sure = x->dt == DT_BOOL ? to_bool(v, &w->word[k]) : to_i32(v, &w->word[k]);
        } else {
            enum answer is = compare(x->op, v, b.p[k * b.step]);

            w->word[k] = is == YES;
            sure = is != UNSURE;
        }
        if (!sure) {
            if (!w->unsure)
                w->unsure = arena_array(r->arena, unsigned char, w->n);
            w->unsure[k] = 1;
        }
    }
}

/* Either may be taken: judged if they agree within their bounds. */
static struct val either(struct val x, struct val y)
{
    double apart = fabs((double)(x.v - y.v));

    if (x.e < 0 || y.e < 0)
        return val_unjudged();
    if (x.e == 0 && y.e == 0 && (x.v == y.v || (isnan(x.v) && isnan(y.v))))
        return signbit(x.v) == signbit(y.v) ? x : (struct val){ x.v, DBL_TRUE_MIN };
    if (!(apart <= x.e + y.e))
        return val_unjudged();
    apart = apart * (1 + 0x1p-40) + y.e;
    x.e = x.e > apart ? x.e : apart;
    return val_is_number(x) ? x : val_unjudged();
}

void ref_bound_where(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    struct words c;
    struct vals a, b;

    ref_words(r, &x->arg[0], DT_BOOL, &c);
    ref_vals(r, &x->arg[1], x->dt, &a);
    ref_vals(r, &x->arg[2], x->dt, &b);
    w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t k = 0; k < w->n; k++)
        w->ieee[k] = c.p[k * c.step] ? a.p[k * a.step] : b.p[k * b.step];
    r->grade[i] = a.grade < b.grade ? a.grade : b.grade;
    if (!c.unsure)
        return;
    for (int64_t k = 0; k < w->n; k++)
        if (c.unsure[k])
            w->ieee[k] = either(a.p[k * a.step], b.p[k * b.step]);
    r->grade[i] = GRADE_BOUND;
}
