/*
 * Elementwise f32 ops in ieee: the value in double and a proven bound on what any legal f32
 * evaluation may differ from it by (ORACLE.md 4.5): errors of the operands carried through,
 * plus one rounding. With exact operands and a result that is a float there is no rounding,
 * fused multiply-add or not, so small integers stay exact. Loops compute as if everything
 * were a number, then look again at what did not come out as one.
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
    bool known = (x.e == 0 || fabs(x.v) > x.e) && (y.e == 0 || fabs(y.v) > y.e);

    return (struct val){ z.v, z.e == 0 && !known ? DBL_TRUE_MIN : z.e };
}

static struct val bound_mul(struct val x, struct val y)
{
    double prop = fabs(x.v) * y.e + (fabs(y.v) + y.e) * x.e;
    struct val z = val_rounded(x.v * y.v, prop, TINY);

    return z.v == 0 ? sign_of_zero(z, x, y) : z;
}

/* 1 ulp by contract, times 1.25 because vendors test and do not prove; ulp <= 2 units. */
static struct val bound_exp(struct val x)
{
    double v = exp(x.v), prop;

    if (x.v == -HUGE_VAL) /* unjudged elements are NaN */
        return val_exact(0);
    prop = x.e <= 1 ? v * x.e * (1 + x.e) : exp(x.v + x.e) - v;
    return (struct val){ v, prop + 2.5 * UNIT * (v + prop) + 2 * TINY };
}

static struct val bound_sqrt(struct val x)
{
    double v = sqrt(x.v), prop = x.e > 0 ? x.e / (v + sqrt(x.v - x.e)) : 0;

    return val_rounded(v, prop, 0);
}

static struct val bound_div(struct val x, struct val y)
{
    double q = x.v / y.v, room = fabs(y.v) - y.e;
    struct val v;

    if (!(room > 0)) /* the divisor may be 0 */
        return val_unjudged();
    v = val_rounded(q, (x.e + fabs(q) * y.e) / room, TINY);
    return q == 0 ? sign_of_zero(v, x, y) : v;
}

/* The larger one; where the intervals are apart it is known which. */
static struct val bound_max(struct val x, struct val y)
{
    double v = x.v > y.v ? x.v : y.v, e = x.e > y.e ? x.e : y.e;
    double near = (x.e + y.e) * (1 + 0x1p-40);

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
        EACH(OP_ABS, out[k] = (struct val){ fabs(x.v), x.e });
    }
    if (op == OP_EXP) {
        EACH(OP_EXP, out[k] = bound_exp(x));
    }
    if (op == OP_RECIP) {
        EACH(OP_RECIP, out[k] = bound_div(val_exact(1), x));
    }
    if (op == OP_SQRT) {
        EACH(OP_SQRT, out[k] = bound_sqrt(x));
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

/* i32 and bool to f32: correctly rounded, so the float is known. */
static void cast_from_word(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    struct words a;

    ref_words(r, &x->arg[0], DT_I32, &a);
    for (int64_t k = 0; k < w->n; k++)
        w->ieee[k] = val_exact((double)(float)(int32_t)a.p[k * a.step]);
    r->grade[i] = GRADE_INTEGER;
    for (int64_t k = 0; a.unsure && k < w->n; k++)
        if (a.unsure[k]) {
            w->ieee[k] = val_unjudged();
            r->grade[i] = GRADE_BOUND;
        }
}

void ref_bound_each(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    struct vals a, b;

    if (x->op == OP_CAST && r->prog->node[x->arg[0].node].dt == DT_F32) {
        *w = r->want->node[x->arg[0].node];
        r->grade[i] = r->grade[x->arg[0].node];
        return;
    }
    w->ieee = arena_array(r->arena, struct val, w->n);
    if (x->op == OP_CAST) {
        cast_from_word(r, i);
        return;
    }
    ref_vals(r, &x->arg[0], &a);
    b = a;
    if (x->n_arg == 1) {
        unary(x->op, w->ieee, a, w->n);
    } else {
        ref_vals(r, &x->arg[1], &b);
        binary(x->op, w->ieee, a, b, w->n);
    }
    r->grade[i] = grade_each(x->op, w, a.grade < b.grade ? a.grade : b.grade);
}
