/* Interval arithmetic on whole tensors: what every value of a node lies between (ieee). */
#include <math.h>

#include "fuzz/gen/build.h"

/* Data as the recipes draw them (ir/data.h): normal is a sum of four uniforms. */
struct hint hint_input(enum dtype dt, enum recipe recipe)
{
    struct hint h = { 0, 1, true, true };

    if (dt == DT_I32) {
        h.lo = recipe == RECIPE_INTS ? -1000 : -8;
        h.hi = -h.lo;
    } else if (dtype_is_float(dt)) {
        h.lo = recipe == RECIPE_NORMAL ? -3.5 : recipe == RECIPE_INTS ? -8 : 0;
        h.hi = recipe == RECIPE_NORMAL ? 3.5 : recipe == RECIPE_INTS ? 8 : 1;
        if (recipe == RECIPE_POSITIVE)
            h.lo = 1, h.hi = 2;
        if (recipe == RECIPE_SPECIAL) /* of the ordinary numbers among them */
            h.lo = -3.5, h.hi = 3.5;
        if (recipe == RECIPE_MAGNITUDE)
            h.lo = -1003.5, h.hi = 1003.5;
    }
    return h;
}

static struct hint arg_hint(const struct gen *g, const struct arg *a)
{
    if (a->node >= 0)
        return g->hint[a->node];
    return (struct hint){ a->lit, a->lit, false, true };
}

static struct hint span(struct hint h, double a, double b, double c, double d)
{
    h.lo = fmin(fmin(a, b), fmin(c, d));
    h.hi = fmax(fmax(a, b), fmax(c, d));
    return h;
}

static struct hint product(struct hint r, const struct hint *x, const struct hint *y)
{
    return span(r, x->lo * y->lo, x->lo * y->hi, x->hi * y->lo, x->hi * y->hi);
}

static struct hint quotient(struct hint r, const struct hint *x, const struct hint *y)
{
    if (y->lo <= 0 && y->hi >= 0)
        return span(r, -1e9, 1e9, 0, 0); /* only i32 divides so */
    return span(r, x->lo / y->lo, x->lo / y->hi, x->hi / y->lo, x->hi / y->hi);
}

static struct hint absolute(struct hint h)
{
    double top = fmax(fabs(h.lo), fabs(h.hi));

    h.lo = h.lo <= 0 && h.hi >= 0 ? 0 : fmin(fabs(h.lo), fabs(h.hi));
    h.hi = top;
    return h;
}

/* Terms of one result element of a reduction or matmul. */
static double terms(const struct gen *g, const struct node *n)
{
    const struct shape *x = &gen_at(g, n->arg[0].node)->sh;
    double k = 1;

    if (n->op == OP_MATMUL)
        return (double)x->dim[x->rank - 1];
    for (int i = 0; i < x->rank; i++)
        if (n->axes >> i & 1)
            k *= (double)x->dim[i];
    return k;
}

static struct hint reduced(const struct gen *g, const struct node *n, struct hint x)
{
    double k = terms(g, n);

    if (k == 0) { /* empty: 0, 1, -inf, inf, NaN */
        x = (struct hint){ -1e30, 1e30, false, true };
        if (n->op == OP_SUM || n->op == OP_MATMUL || n->op == OP_PROD)
            x.lo = x.hi = n->op == OP_PROD;
        return x;
    }
    if (n->op == OP_SUM || n->op == OP_MATMUL) {
        x.lo *= k;
        x.hi *= k;
    }
    if (n->op == OP_PROD) {
        double top = pow(fmax(fmax(fabs(x.lo), fabs(x.hi)), 1), k);

        x.lo = x.lo >= 1 ? 1 : x.lo >= 0 ? 0 : -top;
        x.hi = top;
    }
    if (n->op != OP_MAX && n->op != OP_MIN && k > 1)
        x.exact = !dtype_is_float(n->dt);
    return x;
}

/* alpha r, and + beta c. */
static struct hint scaled(const struct node *n, struct hint r, const struct hint *c)
{
    r = product(r, &r, &(struct hint){ n->alpha, n->alpha, false, true });
    if (n->alpha == 0)
        r = (struct hint){ 0, 0, false, true };
    if (n->n_arg == 3 && n->beta != 0) {
        r.lo += n->beta * (n->beta < 0 ? c->hi : c->lo);
        r.hi += n->beta * (n->beta < 0 ? c->lo : c->hi);
        r.varies |= c->varies;
        r.exact &= c->exact;
    }
    if (n->scaled || n->n_arg == 3)
        r.exact &= !dtype_is_float(n->dt);
    return r;
}

/* May a cast round? */
static bool narrows(const struct gen *g, const struct node *n, const struct hint *h)
{
    enum dtype from = gen_at(g, n->arg[0].node)->dt;
    int bits = dtype_info(n->dt)->bits;

    if (!dtype_is_float(n->dt) || bits >= dtype_info(from)->bits)
        return false;
    return dtype_is_float(from) || fmax(fabs(h->lo), fabs(h->hi)) > ldexp(1, bits);
}

/* A norm divides by the deviation: no more than sqrt(n) of them from the mean. */
static struct hint normed(const struct gen *g, const struct node *n, const struct hint *h)
{
    const struct shape *x = &gen_at(g, n->arg[0].node)->sh;
    double far = sqrt((double)x->dim[x->rank - 1] + 1);
    struct hint r = { -far, far, true, false };

    r = product(r, &r, &h[1]);
    if (n->op == OP_LAYERNORM)
        r.lo += h[2].lo, r.hi += h[2].hi;
    return r;
}

static struct hint composite(const struct gen *g, const struct node *n, const struct hint *h)
{
    struct hint r = { h[0].lo, h[0].hi, true, false };

    switch ((int)n->op) {
    case OP_SOFTMAX:
        r.lo = 0, r.hi = 1;
        break;
    case OP_LOGSOFTMAX:
        r.lo = h[0].lo - h[0].hi - log((double)n->sh.dim[n->axis] + 1), r.hi = 0;
        break;
    case OP_CUMSUM:
        r.lo = fmin(r.lo, r.lo * (double)n->sh.dim[n->axis]);
        r.hi = fmax(r.hi, r.hi * (double)n->sh.dim[n->axis]);
        r.varies = h[0].varies, r.exact = h[0].exact && !dtype_is_float(n->dt);
        break;
    case OP_LAYERNORM:
    case OP_RMSNORM:
        return normed(g, n, h);
    case OP_ARGMAX:
        r.lo = 0, r.hi = (double)gen_at(g, n->arg[0].node)->sh.dim[n->axis] - 1;
        r.varies = h[0].varies && r.hi > 0;
        r.exact = h[0].exact; /* else it may have picked another place */
        break;
    case OP_GATHER:
        r.lo = fmin(r.lo, 0), r.hi = fmax(r.hi, 0);
        r.varies = h[0].varies || h[1].varies, r.exact = h[0].exact && h[1].exact;
        break;
    case OP_CONCAT:
    case OP_ASSIGN:
        r.lo = fmin(r.lo, h[1].lo), r.hi = fmax(r.hi, h[1].hi);
        r.varies = h[0].varies || h[1].varies, r.exact = h[0].exact && h[1].exact;
        break;
    default: /* attention: a weighted mean of the values */
        r.lo = fmin(h[2].lo, 0), r.hi = fmax(h[2].hi, 0);
        break;
    }
    return r;
}

static struct hint infer(const struct gen *g, const struct node *n)
{
    struct hint r = { 0, 1, false, true }, h[MAX_ARGS];

    for (int i = 0; i < n->n_arg; i++) {
        h[i] = arg_hint(g, &n->arg[i]);
        r.varies |= h[i].varies;
        r.exact &= h[i].exact;
    }
    if (n->n_arg > 0)
        r.lo = h[0].lo, r.hi = h[0].hi;
    switch (n->op) {
    case OP_CONST:
        r.lo = r.hi = n->value;
        break;
    case OP_IOTA:
        r.hi = n->sh.rank ? (double)n->sh.dim[n->axis] : 0;
        break;
    case OP_PAD:
        r.lo = fmin(r.lo, n->value);
        r.hi = fmax(r.hi, n->value);
        break;
    case OP_NEG:
        r = span(r, -h[0].lo, -h[0].hi, -h[0].lo, -h[0].hi);
        break;
    case OP_ABS:
        r = absolute(r);
        break;
    case OP_EXP:
        r.lo = exp(h[0].lo), r.hi = exp(h[0].hi), r.exact = false;
        break;
    case OP_EXP2:
        r.lo = exp2(h[0].lo), r.hi = exp2(h[0].hi), r.exact = false;
        break;
    case OP_LOG:
        r.lo = log(fmax(h[0].lo, 1e-30)), r.hi = log(fmax(h[0].hi, 1e-30)), r.exact = false;
        break;
    case OP_TANH:
    case OP_ERF:
        r.lo = fmax(h[0].lo, -1), r.hi = fmin(h[0].hi, 1), r.exact = false;
        break;
    case OP_RSQRT:
        r.lo = 1 / sqrt(fmax(h[0].hi, 1e-30)), r.hi = 1 / sqrt(fmax(h[0].lo, 1e-30));
        r.exact = false;
        break;
    case OP_RECIP:
        r = quotient(r, &(struct hint){ 1, 1, false, true }, &h[0]);
        r.exact = false;
        break;
    case OP_SQRT:
        r.lo = sqrt(fmax(h[0].lo, 0)), r.hi = sqrt(fmax(h[0].hi, 0)), r.exact = false;
        break;
    case OP_ADD:
        r.lo = h[0].lo + h[1].lo, r.hi = h[0].hi + h[1].hi, r.exact &= !dtype_is_float(n->dt);
        break;
    case OP_SUB:
        r.lo = h[0].lo - h[1].hi, r.hi = h[0].hi - h[1].lo, r.exact &= !dtype_is_float(n->dt);
        break;
    case OP_MUL:
        r = product(r, &h[0], &h[1]);
        r.exact &= !dtype_is_float(n->dt);
        break;
    case OP_DIV:
        r = quotient(r, &h[0], &h[1]);
        r.exact &= !dtype_is_float(n->dt);
        break;
    case OP_MAX2:
        r.lo = fmax(h[0].lo, h[1].lo), r.hi = fmax(h[0].hi, h[1].hi);
        break;
    case OP_MIN2:
        r.lo = fmin(h[0].lo, h[1].lo), r.hi = fmin(h[0].hi, h[1].hi);
        break;
    case OP_LT:
    case OP_LE:
    case OP_EQ:
    case OP_NOT:
    case OP_AND:
    case OP_OR:
        r.lo = 0, r.hi = 1;
        break;
    case OP_WHERE:
        r.lo = fmin(h[1].lo, h[2].lo), r.hi = fmax(h[1].hi, h[2].hi);
        break;
    case OP_CAST:
        if (n->dt == DT_BOOL)
            r.lo = 0, r.hi = 1;
        r.exact &= !narrows(g, n, &h[0]);
        break;
    case OP_SUM:
    case OP_PROD:
    case OP_MAX:
    case OP_MIN:
    case OP_MEAN:
        return reduced(g, n, r);
    case OP_MATMUL:
        return scaled(n, reduced(g, n, product(r, &h[0], &h[1])), &h[2]);
    case OP_SOFTMAX:
    case OP_LOGSOFTMAX:
    case OP_CUMSUM:
    case OP_LAYERNORM:
    case OP_RMSNORM:
    case OP_ARGMAX:
    case OP_GATHER:
    case OP_CONCAT:
    case OP_ASSIGN:
    case OP_ATTENTION:
        return composite(g, n, h);
    case OP_INPUT:
    case OP_PERMUTE:
    case OP_RESHAPE:
    case OP_EXPAND:
    case OP_SLICE:
    case OP_ROLL:
    case OP_REPEAT:
    case OP_COPY:
    case OP_COUNT:
        break;
    }
    return r;
}

struct hint hint_of(const struct gen *g, const struct node *n)
{
    struct hint h = infer(g, n);

    if (n->dt == DT_I32 && (h.lo < -2147483648.0 || h.hi > 2147483647.0))
        h.lo = -2147483648.0, h.hi = 2147483647.0; /* it may have wrapped */
    return h;
}
