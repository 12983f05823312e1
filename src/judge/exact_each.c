/*
 * Elementwise nodes of exact data. A sum's or product's rounding residue is computed beside
 * it (two-sum, fma), so that nothing rounds unnoticed.
 */
#include <float.h>

#include "base/bug.h"
#include "judge/exact_eval.h"
#include "judge/grid.h"

/* v rounded from a number that differs from it by `rest` */
static struct xval real(double v, double rest, double e)
{
    return (struct xval){ v, rest == 0 ? e : e + fabs(rest) * 1.001 };
}

static struct xval add(struct xval a, struct xval b)
{
    double v = a.v + b.v, t = v - a.v;

    return real(v, (a.v - (v - t)) + (b.v - t), a.e + b.e);
}

static struct xval mul(struct xval a, struct xval b)
{
    double v = a.v * b.v, e = fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e;

    return real(v, v == 0 ? 0 : fma(a.v, b.v, -v), e);
}

/* Only by a power of two is x / y the same as x * (1 / y). */
static struct xval quotient(struct xval a, struct xval b, double u)
{
    double v = a.v / b.v, e;

    if (fabs(b.v) <= b.e || b.v == 0)
        return VAL_OPEN;
    if (a.e == 0 && b.e == 0 && (a.v == 0 || (is_pow2(b.v) && fabs(v) >= 0x1p-100)))
        return (struct xval){ v, 0 };
    e = (a.e + fabs(v) * b.e) / (fabs(b.v) - b.e);
    return (struct xval){ v, e + 2 * u * (fabs(v) + e) + DBL_MIN };
}

static struct xval exponential(struct xval x, double cut, const struct xfloat *f, bool two)
{
    double v, e;

    if (x.e == 0 && x.v == 0)
        return (struct xval){ 1, 0 };
    if (x.v + x.e <= -cut)
        return (struct xval){ 0, 0 };
    if (x.e > 1 || x.v > -20) /* how well exp does is not what exact data are for */
        return VAL_OPEN;
    v = two ? exp2(x.v) : exp(x.v);
    e = v * 1.5 * expm1(x.e) + 8 * f->u * (1 + fabs(x.v)) * v;
    return (struct xval){ v, e + 2 * f->eta };
}

static struct xval root(struct xval x, double u)
{
    double r = sqrt(x.v);

    if (x.e != 0 || x.v < 0)
        return VAL_OPEN;
    if (fma(r, r, -x.v) == 0)
        return (struct xval){ r, 0 };
    return (struct xval){ r, 2 * u * r };
}

static struct xval unary(enum op op, enum dtype core, struct xval x)
{
    const struct xfloat *f = xfloat(core);

    switch ((int)op) {
    case OP_NEG:
        return (struct xval){ -x.v, x.e };
    case OP_ABS:
        return (struct xval){ fabs(x.v), x.e };
    case OP_EXP:
        return exponential(x, f->cut, f, false);
    case OP_EXP2:
        return exponential(x, f->cut2, f, true);
    case OP_RECIP:
        return quotient((struct xval){ 1, 0 }, x, f->u);
    case OP_SQRT:
        return root(x, f->u);
    case OP_RSQRT: /* a function of its own, right to some ulps and no better */
        x = root(x, f->u);
        x = x.e < 0 ? x : quotient((struct xval){ 1, 0 }, x, 4 * f->u);
        return x.e == 0 ? (struct xval){ x.v, 6 * f->u * x.v } : x;
    case OP_LOG:
        return x.e == 0 && x.v == 1 ? (struct xval){ 0, 0 } : VAL_OPEN;
    case OP_TANH:
    case OP_ERF:
        return x.e == 0 && x.v == 0 ? x : VAL_OPEN;
    }
    return VAL_OPEN;
}

static struct xval binary(enum op op, enum dtype core, struct xval a, struct xval b)
{
    switch ((int)op) {
    case OP_ADD:
        return add(a, b);
    case OP_SUB:
        b.v = -b.v;
        return add(a, b);
    case OP_MUL:
        return mul(a, b);
    case OP_DIV:
        return quotient(a, b, xfloat(core)->u);
    case OP_MAX2:
        if (a.v - a.e >= b.v + b.e || b.v - b.e >= a.v + a.e)
            return a.v >= b.v ? a : b;
        return (struct xval){ fmax(a.v, b.v), fmax(a.e, b.e) };
    case OP_MIN2:
        if (a.v - a.e >= b.v + b.e || b.v - b.e >= a.v + a.e)
            return a.v <= b.v ? a : b;
        return (struct xval){ fmin(a.v, b.v), fmax(a.e, b.e) };
    }
    return VAL_OPEN;
}

static double integer(enum op op, int64_t a, int64_t b)
{
    switch ((int)op) {
    case OP_NEG:
        return wrap_i32(-a);
    case OP_ABS:
        return wrap_i32(a < 0 ? -a : a);
    case OP_ADD:
        return wrap_i32(a + b);
    case OP_SUB:
        return wrap_i32(a - b);
    case OP_MUL:
        return wrap_i32(a * b);
    case OP_DIV:
        return b ? wrap_i32(a / b) : 0;
    case OP_MAX2:
    case OP_OR:
        return (double)(a > b ? a : b);
    case OP_MIN2:
    case OP_AND:
        return (double)(a < b ? a : b);
    case OP_NOT:
        return a == 0;
    }
    BUG("%s of integers", op_info(op)->name);
}

static struct xval compare(enum op op, struct xval a, struct xval b)
{
    bool is;

    if (a.e + b.e > 0 && fabs(a.v - b.v) <= a.e + b.e)
        return VAL_OPEN;
    is = op == OP_LT ? a.v < b.v : op == OP_LE ? a.v <= b.v : a.v == b.v;
    return (struct xval){ is, 0 };
}

static struct xval where(struct xval c, struct xval a, struct xval b)
{
    if (c.e == 0)
        return c.v != 0 ? a : b;
    return a.e == 0 && b.e == 0 && a.v == b.v ? a : VAL_OPEN;
}

static struct xval cast(enum dtype from, enum dtype to, struct xval x)
{
    if (to == from)
        return x;
    if (dtype_info(to)->class == DTC_FLOAT) {
        if (x.e == 0) { /* one rounding, whoever does it */
            x.v = exact_round(to, x.v);
            return isfinite(x.v) ? x : VAL_OPEN;
        }
        return exact_finish(exact_core(from), to, x);
    }
    if (to == DT_BOOL)
        return x.e < fabs(x.v) || x.e == 0 ? (struct xval){ x.v != 0, 0 } : VAL_OPEN;
    if (trunc(x.v - x.e) != trunc(x.v + x.e))
        return VAL_OPEN;
    x.v = trunc(x.v);
    x.v = x.v > INT32_MAX ? INT32_MAX : x.v < INT32_MIN ? INT32_MIN : x.v;
    return (struct xval){ x.v, 0 };
}

static struct xval each(const struct node *n, enum dtype of, const struct xval *a)
{
    enum op_class class = op_info(n->op)->class;
    enum dtype core;
    struct xval r;

    for (int j = 0; j < n->n_arg; j++)
        if (class != OPC_WHERE && (a[j].e < 0 || !isfinite(a[j].v)))
            return VAL_OPEN;
    if (class == OPC_WHERE)
        return where(a[0], a[1], a[2]);
    if (class == OPC_COMPARE)
        return compare(n->op, a[0], a[1]);
    if (class == OPC_CAST)
        return cast(of, n->dt, a[0]);
    if (dtype_info(n->dt)->class != DTC_FLOAT)
        return (struct xval){ integer(n->op, (int64_t)a[0].v, (int64_t)a[1].v), 0 };
    core = exact_core(n->dt);
    r = class == OPC_UNARY ? unary(n->op, core, a[0]) : binary(n->op, core, a[0], a[1]);
    if (r.e == 0 &&
        (n->op == OP_NEG || n->op == OP_ABS || n->op == OP_MAX2 || n->op == OP_MIN2))
        return r;
    return exact_finish(core, n->dt, r);
}

void exact_each(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    struct xnode *r = &x->node[i];
    struct xval a[MAX_ARGS] = { { 0, 0 } };
    const struct xval *p[MAX_ARGS] = { NULL };
    enum dtype of = n->dt;

    for (int j = 0; j < n->n_arg; j++) {
        if (n->arg[j].node >= 0) {
            p[j] = x->node[n->arg[j].node].p;
            of = x->prog->node[n->arg[j].node].dt;
        } else {
            a[j] = (struct xval){ n->arg[j].lit, 0 };
        }
    }
    for (int64_t k = 0; k < r->n; k++) {
        for (int j = 0; j < n->n_arg; j++)
            if (p[j])
                a[j] = p[j][k];
        r->p[k] = each(n, of, a);
        x->by_function |= (n->op == OP_EXP || n->op == OP_EXP2) && r->p[k].e > 0;
        x->by_inverse |= n->op == OP_DIV && grid_is_half(n->dt) && !is_pow2(a[1].v);
    }
}
