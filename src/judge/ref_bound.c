/*
 * Elementwise float ops in ieee: the value and a proven bound on what any legal evaluation
 * may differ from it by (ORACLE.md 4.5): errors of the operands carried through, plus one
 * rounding; functions by their contract. Halves are computed as f32 and rounded once more. With
 * exact operands and a result that is a float there is no rounding, fused multiply-add or not,
 * so small integers stay exact. Loops compute as if everything were a number, then look again
 * at what did not come out as one.
 */
#include "base/bug.h"
#include "judge/ref.h"

#define EACH(op, ...)                                                                          \
    for (int64_t k = 0; k < n; k++) {                                                          \
        struct val x = a.p[k * a.step];                                                        \
                                                                                               \
        __VA_ARGS__;                                                                           \
        if (__builtin_expect(!val_is_number(out[k]), 0))                                       \
            out[k] = special_unary(op, x);                                                     \
    }                                                                                          \
    return

#define EACH2(op, ...)                                                                         \
    for (int64_t k = 0; k < n; k++) {                                                          \
        struct val x = a.p[k * a.step], y = b.p[k * b.step];                                   \
                                                                                               \
        __VA_ARGS__;                                                                           \
        if (__builtin_expect(!val_is_number(out[k]), 0))                                       \
            out[k] = special_binary(op, x, y);                                                 \
    }                                                                                          \
    return

/* An exact zero whose sign hangs on an operand's bound is no longer an exact one, so that
 * 1/x is not judged. */
static struct val sign_of_zero(struct val z, struct val x, struct val y)
{
    bool known = (x.e == 0 || fabs((double)x.v) > x.e) && (y.e == 0 || fabs((double)y.v) > y.e);

    return (struct val){ z.v, z.e == 0 && !known ? DBL_TRUE_MIN : z.e };
}

static struct val bound_mul(struct val x, struct val y)
{
    double prop = fabs((double)x.v) * y.e + (fabs((double)y.v) + y.e) * x.e;
    struct val z = val_rounded(x.v * y.v, prop, TINY);

    return z.v == 0 ? sign_of_zero(z, x, y) : z;
}

/*
 * Functions keep within so many ulps by contract, times 1.25 because vendors test and do not
 * prove; an ulp is 2 units at most. tiny: twice what the ulp of a subnormal result is more.
 */
static struct val bound_function(real v, double prop, double ulps, double tiny)
{
    double size = fabs((double)v) + prop;

    return (struct val){ v, prop + (2.5 * ulps * UNIT + FUNCTION_SLACK) * size + tiny };
}

/* Of exp and exp2 both: the latter grows more slowly. */
static struct val bound_exp(struct val x, bool base_2)
{
    real v = base_2 ? real_exp2(x.v) : real_exp(x.v);
    double off = x.e + (x.e > 0 ? real_cut(x.v) : 0), prop;

    if (x.v == -HUGE_VAL) /* unjudged elements are NaN */
        return val_exact(0);
    if (off <= 1)
        prop = (double)v * off * (1 + off);
    else
        prop = (double)((base_2 ? real_exp2(x.v + off) : real_exp(x.v + off)) - v);
    return bound_function(v, prop, 1, 2 * TINY);
}

static struct val bound_log(struct val x)
{
    double off = x.e + (x.e > 0 ? real_cut(x.v) : 0), room = (double)x.v - off;

    if (!(room > 0))
        return val_unjudged();
    return bound_function(real_log(x.v), off / room, 1, 0);
}

/* The slope is steepest at the end that is nearer to 0. */
static double least_size(struct val x)
{
    double a = fabs((double)x.v) - x.e;

    return a > 0 ? a : 0;
}

static struct val bound_tanh(struct val x)
{
    double off = x.e + (x.e > 0 ? real_cut(x.v) : 0), t = x.e > 0 ? tanh(least_size(x)) : 0;

    return bound_function(real_tanh(x.v), off * (1 - t * t + 0x1p-40), 2.5,
                          x.v != 0 || x.e > 0 ? 4 * TINY : 0);
}

static struct val bound_erf(struct val x)
{
    double off = x.e + (x.e > 0 ? real_cut(x.v) : 0), a = least_size(x);
    double slope = x.e > 0 ? 1.1283791671 * (exp(-a * a) + 0x1p-40) : 0;

    return bound_function(real_erf(x.v), off * slope, ERF_ULPS,
                          x.v != 0 || x.e > 0 ? 2 * TINY : 0);
}

static struct val bound_sqrt(struct val x)
{
    real v = real_sqrt(x.v);
    double prop = x.e > 0 ? x.e / ((double)v + sqrt((double)x.v - x.e)) : 0;

    return val_rounded(v, prop, 0);
}

static struct val bound_rsqrt(struct val x)
{
    double room = (double)x.v - x.e;
    real v = 1 / real_sqrt(x.v);

    if (!(room > 0))
        return val_unjudged();
    return bound_function(v, x.e > 0 ? x.e / room * (double)v : 0, 2, 0);
}

static struct val bound_div(struct val x, struct val y)
{
    real q = x.v / y.v;
    double room = fabs((double)y.v) - y.e;
    struct val v;

    if (!(room > 0)) /* the divisor may be 0 */
        return val_unjudged();
    v = val_rounded(q, (x.e + fabs((double)q) * y.e) / room, TINY);
    return q == 0 ? sign_of_zero(v, x, y) : v;
}

/* The larger one; where the intervals are apart it is known which. */
static struct val bound_max(struct val x, struct val y)
{
    real v = x.v > y.v ? x.v : y.v;
    double e = x.e > y.e ? x.e : y.e, near = (x.e + y.e) * (1 + 0x1p-40);

    if (x.v != x.v || y.v != y.v)
        return val_unjudged();
    if (x.v - y.v > near)
        e = x.e;
    else if (y.v - x.v > near)
        e = y.e;
    /* max(+0, -0) may be either: no longer an exact zero, so that 1/x is not judged */
    if (v == 0 && e == 0 && x.v == y.v && signbit(x.v) != signbit(y.v))
        e = DBL_TRUE_MIN;
    return (struct val){ v, e };
}

static struct val negated(struct val x)
{
    return (struct val){ -x.v, x.e };
}

static void unary(enum op op, struct val *out, struct vals a, int64_t n)
{
    if (op == OP_NEG) {
        EACH(OP_NEG, out[k] = negated(x));
    }
    if (op == OP_ABS) {
        EACH(OP_ABS, out[k] = (struct val){ real_abs(x.v), x.e });
    }
    if (op == OP_EXP) {
        EACH(OP_EXP, out[k] = bound_exp(x, false));
    }
    if (op == OP_EXP2) {
        EACH(OP_EXP2, out[k] = bound_exp(x, true));
    }
    if (op == OP_LOG) {
        EACH(OP_LOG, out[k] = bound_log(x));
    }
    if (op == OP_TANH) {
        EACH(OP_TANH, out[k] = bound_tanh(x));
    }
    if (op == OP_ERF) {
        EACH(OP_ERF, out[k] = bound_erf(x));
    }
    if (op == OP_RECIP) {
        EACH(OP_RECIP, out[k] = bound_div(val_exact(1), x));
    }
    if (op == OP_SQRT) {
        EACH(OP_SQRT, out[k] = bound_sqrt(x));
    }
    if (op == OP_RSQRT) {
        EACH(OP_RSQRT, out[k] = bound_rsqrt(x));
    }
    BUG("judge: no bound for %s", op_info(op)->name);
}

static void binary(enum op op, struct val *out, struct vals a, struct vals b, int64_t n)
{
    if (op == OP_ADD) {
        EACH2(OP_ADD, out[k] = val_rounded(x.v + y.v, x.e + y.e, 0));
    }
    if (op == OP_SUB) {
        EACH2(OP_SUB, out[k] = val_rounded(x.v - y.v, x.e + y.e, 0));
    }
    if (op == OP_MUL) {
        EACH2(OP_MUL, out[k] = bound_mul(x, y));
    }
    if (op == OP_DIV) {
        EACH2(OP_DIV, out[k] = bound_div(x, y));
    }
    if (op == OP_MAX2) {
        EACH2(OP_MAX2, out[k] = bound_max(x, y));
    }
    if (op == OP_MIN2) {
        EACH2(OP_MIN2, out[k] = negated(bound_max(negated(x), negated(y))));
    }
    BUG("judge: no bound for %s", op_info(op)->name);
}

/* Integers in, all results exact: integers out (for ops that make nothing else of them). */
static enum grade grade_each(enum op op, const struct want_node *w, enum grade lowest)
{
    if (op == OP_NEG || op == OP_ABS || op == OP_MAX2 || op == OP_MIN2) {
        for (int64_t k = 0; k < w->n && lowest > GRADE_BOUND; k++)
            if (w->ieee[k].e != 0)
                return GRADE_BOUND;
        return lowest;
    }
    if (lowest != GRADE_INTEGER || (op != OP_ADD && op != OP_SUB && op != OP_MUL))
        return GRADE_BOUND;
    for (int64_t k = 0; k < w->n; k++)
        if (w->ieee[k].e != 0)
            return GRADE_BOUND;
    return GRADE_INTEGER;
}

void ref_vals(const struct ref *r, const struct arg *a, enum dtype dt, struct vals *v)
{
    if (a->node >= 0) {
        v->p = r->want->node[a->node].ieee;
        v->step = 1;
        v->grade = r->grade[a->node];
        return;
    }
    *v = (struct vals){ .lit = val_exact(grid_round(dt, a->lit)) };
    v->grade = v->lit.v == rint((double)v->lit.v) ? GRADE_INTEGER : GRADE_EXACT;
    v->p = &v->lit;
}

void ref_store(struct ref *r, int i)
{
#ifndef JUDGE_WIDE
    struct want_node *w = &r->want->node[i];
    enum dtype dt = r->prog->node[i].dt;

    if (!grid_is_half(dt))
        return;
    for (int64_t k = 0; k < w->n; k++)
        w->ieee[k] = ref_stored(r, i, w->ieee[k]);
#else
    (void)r;
    (void)i;
#endif
}

void ref_bound_each(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    struct vals a, b;

    w->ieee = arena_array(r->arena, struct val, w->n);
    ref_vals(r, &x->arg[0], x->dt, &a);
    b = a;
    if (x->n_arg == 1) {
        unary(x->op, w->ieee, a, w->n);
    } else {
        ref_vals(r, &x->arg[1], x->dt, &b);
        binary(x->op, w->ieee, a, b, w->n);
    }
    ref_store(r, i);
    r->grade[i] = grade_each(x->op, w, a.grade < b.grade ? a.grade : b.grade);
}

const struct ref_floats ref_narrow = {
    ref_bound_each,      ref_bound_where,      ref_bound_to_word, ref_bound_sum,
    ref_bound_prod,      ref_bound_max,        ref_bound_argmax,  ref_bound_matmul,
    ref_bound_softmax,   ref_bound_logsoftmax, ref_bound_cumsum,  ref_bound_norm,
    ref_bound_attention,
};
