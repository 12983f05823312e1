/*
 * Operands that are infinite, NaN, or out of an op's domain. IEEE's rules give a certain
 * result where the operands are certain; where a bound leaves the sign or the kind open the
 * element is not judged. So is everything that may have overflowed on the way.
 */
#include "judge/ref.h"

/* A result that some operand being special makes certain. */
static struct val certain(double v)
{
    return val_exact(v);
}

/* Is the sign of x known? (Zeros carry theirs: e = 0 says that it is the float's own.) */
static bool sign_known(struct val x)
{
    return x.e == 0 || fabs(x.v) > x.e;
}

struct val special_unary(enum op op, struct val x)
{
    if (x.e < 0)
        return val_unjudged();
    if (op == OP_RECIP)
        return special_binary(OP_DIV, val_exact(1), x);
    if (op == OP_SQRT && x.e == 0 && !(x.v >= 0))
        return certain(NAN);
    if (isfinite(x.v)) /* exp that may overflow, sqrt that may be of a negative */
        return val_unjudged();
    if (op == OP_EXP)
        return certain(exp(x.v));
    if (op == OP_NEG)
        return certain(-x.v);
    if (op == OP_ABS)
        return certain(fabs(x.v));
    return certain(x.v); /* sqrt of +inf */
}

static double plain(enum op op, double x, double y)
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
    double v = plain(op, x.v, y.v);

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
