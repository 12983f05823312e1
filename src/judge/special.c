/*
 * Operands that are infinite, NaN, or out of an op's domain. IEEE's rules give a certain
 * result where the operands are certain; where a bound leaves the sign or the kind open the
 * element is not judged. So is everything that may have overflowed on the way.
 */
#include "judge/ref.h"

/* A result that some operand being special makes certain. */
static struct val certain(real v)
{
    return val_exact(v);
}

/* Is the sign of x known? (Zeros carry theirs: e = 0 says that it is the float's own.) */
static bool sign_known(struct val x)
{
    return x.e == 0 || fabs((double)x.v) > x.e;
}

/* Roots and logarithms: out of their domain, or at its end. */
static struct val special_domain(enum op op, struct val x)
{
    if (x.e == 0 && isnan(x.v))
        return certain(NAN);
    if (x.v < -x.e)
        return certain(NAN);
    if (x.v == HUGE_VAL)
        return certain(op == OP_RSQRT ? 0 : HUGE_VAL);
    if (op == OP_LOG && x.v == 0 && x.e == 0)
        return certain(-HUGE_VAL);
    if (op == OP_RSQRT && x.v == 0 && x.e == 0 && !signbit(x.v))
        return certain(HUGE_VAL);
    return val_unjudged();
}

struct val special_unary(enum op op, struct val x)
{
    if (x.e < 0)
        return val_unjudged();
    if (op == OP_RECIP)
        return special_binary(OP_DIV, val_exact(1), x);
    if (op == OP_SQRT || op == OP_RSQRT || op == OP_LOG)
        return special_domain(op, x);
    if (isfinite(x.v)) /* exp that may overflow */
        return val_unjudged();
    if (op == OP_EXP || op == OP_EXP2)
        return certain(x.v < 0 ? 0 : x.v);
    if (op == OP_TANH || op == OP_ERF)
        return certain(x.v > 0 ? 1 : x.v < 0 ? -1 : x.v);
    if (op == OP_NEG)
        return certain(-x.v);
    return certain(real_abs(x.v)); /* abs */
}

static real plain(enum op op, real x, real y)
{
    if (op == OP_ADD)
        return x + y;
    if (op == OP_SUB)
        return x - y;
    if (op == OP_MUL)
        return x * y;
    if (op == OP_DIV)
        return x / y;
    if (isnan(x) || isnan(y))
        return NAN;
    if (op == OP_MAX2)
        return x > y ? x : y;
    return x < y ? x : y;
}

/* One operand is infinite, neither is NaN, both are judged. */
static struct val with_infinity(enum op op, struct val x, struct val y)
{
    real v = plain(op, x.v, y.v);

    /* infinity times or over a number, or a number over it: its sign must be known; a
     * factor that may be 0 but need not would make the difference between inf and NaN */
    if (op == OP_MUL || op == OP_DIV)
        return sign_known(x) && sign_known(y) ? certain(v) : val_unjudged();
    if ((op == OP_MAX2 || op == OP_MIN2) && isfinite(v)) /* the other one, with its bound */
        return isinf(x.v) ? y : x;
    return certain(v);
}

struct val special_binary(enum op op, struct val x, struct val y)
{
    if (x.e < 0 || y.e < 0)
        return val_unjudged();
    if (isnan(x.v) || isnan(y.v))
        return certain(NAN);
    if (isinf(x.v) || isinf(y.v))
        return with_infinity(op, x, y);
    /* division by an exact zero: the sign of a zero is that of the float */
    if (op == OP_DIV && y.v == 0 && y.e == 0 && sign_known(x))
        return certain(x.v / y.v);
    return val_unjudged();
}
