/* Elementwise ops, views, and a whole program on the machine of legal.h. */
#ifndef TESTS_LEGAL_RUN_H
#define TESTS_LEGAL_RUN_H

#include "legal_ops.h"

static inline double unary_of(struct legal *l, enum op op, enum dtype core, double x)
{
    switch ((int)op) {
    case OP_NEG:
        return -x;
    case OP_ABS:
        return fabs(x);
    case OP_COPY:
        return x;
    }
    x = flushed(l, core, x);
    switch ((int)op) {
    case OP_EXP:
        return l->exact ? exp_by(l, core, EXP_PLAIN, x) : fun(l, core, poly(l, expl(x), 0), 1);
    case OP_EXP2:
        if (l->exact && (x == 0 || x < -200))
            return x == 0 ? 1 : fit(l, core, exp2(x));
        return fun(l, core, poly(l, exp2l(x), 0), 1);
    case OP_LOG:
        return fun(l, core, poly(l, logl(x), 0x1p-20), 1);
    case OP_TANH:
        return fun(l, core, poly(l, tanhl(x), 0x1p-20), 2.5);
    case OP_ERF:
        return fun(l, core, poly(l, erfl(x), 0x1p-20), 1);
    case OP_RECIP:
        return fit(l, core, 1 / x);
    case OP_SQRT:
        return fit(l, core, sqrt(x));
    default:
        return fun(l, core, 1 / sqrtl(x), 2);
    }
}

static inline double extreme(struct legal *l, bool most, double a, double b)
{
    if (isnan(a) || isnan(b))
        return (double)NAN;
    if (a == b)
        return legal_below(l, 2) ? a : b;
    return (a > b) == most ? a : b;
}

static inline double binary_of(struct legal *l, const struct node *p, int64_t k)
{
    enum dtype core = core_of(p->dt);
    const struct node *m;

    /* a product of this kernel may be fused with the sum */
    for (int j = 0; j < 2 && (p->op == OP_ADD || p->op == OP_SUB) && core == p->dt; j++) {
        double a, b, c, sa, sc;

        if (p->arg[j].node < 0 || l->t->prog.node[p->arg[j].node].op != OP_MUL ||
            !legal_may(l, CONTRACT_MAY_CONTRACT))
            continue;
        m = &l->t->prog.node[p->arg[j].node];
        a = operand(l, m, 0, k);
        b = operand(l, m, 1, k);
        c = operand(l, p, !j, k);
        sa = p->op == OP_SUB && j == 1 ? -1 : 1;
        sc = p->op == OP_SUB && j == 0 ? -1 : 1;
        return core == DT_F32 ? (double)fmaf((float)(sa * a), (float)b, (float)(sc * c))
                              : fma(sa * a, b, sc * c);
    }
    double a = operand(l, p, 0, k), b = operand(l, p, 1, k);

    switch ((int)p->op) {
    case OP_ADD:
        return add(l, core, a, b);
    case OP_SUB:
        return add(l, core, a, -b);
    case OP_MUL:
        return mul(l, core, a, b);
    case OP_DIV: /* the inverse as a half, too */
        if (core != p->dt && legal_may(l, CONTRACT_MAY_RECIPROCAL))
            return mul(l, core, a, fit(l, p->dt, 1 / b));
        return quotient(l, core, a, b);
    }
    return extreme(l, p->op == OP_MAX2, a, b);
}

static inline double cast_of(enum dtype to, double x)
{
    if (to == DT_BOOL)
        return x != 0;
    if (to != DT_I32)
        return x; /* rounded as every result is */
    if (isnan(x))
        return 0;
    return x >= 0x1p31 ? INT32_MAX : x <= -0x1p31 ? INT32_MIN : trunc(x);
}

/* The element of the operand that element k of a view is. */
static inline int64_t seen_by(const struct node *p, const struct shape *o, int64_t k)
{
    int64_t i[MAX_RANK], at = 0, stride = 1;

    if (p->op == OP_RESHAPE)
        return k;
    for (int a = p->sh.rank - 1; a >= 0; a--) {
        i[a] = k % p->sh.dim[a];
        k /= p->sh.dim[a];
    }
    for (int a = o->rank - 1; a >= 0; a--) {
        int64_t c = 0;

        if (p->op == OP_PERMUTE) {
            for (int b = 0; b < p->sh.rank; b++)
                c = p->perm[b] == a ? i[b] : c;
        } else {
            c = o->dim[a] == 1 ? 0 : i[a + p->sh.rank - o->rank];
        }
        at += c * stride;
        stride *= o->dim[a];
    }
    return at;
}

static inline double one_of(struct legal *l, int i, int64_t k)
{
    const struct node *p = &l->t->prog.node[i];
    const struct prog *g = &l->t->prog;
    double a, b;

    switch ((int)op_info(p->op)->class) {
    case OPC_VIEW:
        return read(l, p->arg[0].node, seen_by(p, &g->node[p->arg[0].node].sh, k));
    case OPC_UNARY:
    case OPC_COPY:
        return unary_of(l, p->op, core_of(p->dt), operand(l, p, 0, k));
    case OPC_BINARY:
        return binary_of(l, p, k);
    case OPC_COMPARE:
        a = operand(l, p, 0, k);
        b = operand(l, p, 1, k);
        return p->op == OP_LT ? a < b : p->op == OP_LE ? a <= b : a == b;
    case OPC_WHERE:
        return operand(l, p, operand(l, p, 0, k) != 0 ? 1 : 2, k);
    case OPC_CAST:
        return cast_of(p->dt, operand(l, p, 0, k));
    }
    fail_msg("%s is not the machine's", op_info(p->op)->name);
    return 0;
}

/* Does a reader get the half p in more precision? */
static inline bool is_unrounded(struct legal *l, const struct node *p)
{
    return core_of(p->dt) != p->dt &&
           legal_may(l, p->op == OP_CAST ? CONTRACT_MAY_UNCAST : CONTRACT_MAY_EXCESS);
}

static inline void compute(struct legal *l, int i, double *out)
{
    const struct node *p = &l->t->prog.node[i];
    int64_t n = shape_count(&p->sh);

    if (p->op == OP_INPUT)
        for (int64_t k = 0; k < n; k++)
            out[k] = data_number(l->t, i, k);
    else if (p->op == OP_MATMUL)
        matmul(l, i, out);
    else if (op_is_reduce(p->op))
        reduce(l, i, out);
    else if (p->op == OP_ATTENTION)
        attention(l, i, out);
    else if (op_is_composite(p->op))
        lines(l, i, out);
    else
        for (int64_t k = 0; k < n; k++)
            out[k] = one_of(l, i, k);
    for (int64_t k = 0; k < n && dtype_info(p->dt)->class == DTC_FLOAT; k++)
        if (!op_is_view(p->op) && p->op != OP_COPY && p->op != OP_INPUT)
            out[k] = p->dt == DT_F64      ? out[k]
                     : is_unrounded(l, p) ? (double)(float)out[k]
                                          : flushed(l, p->dt, float_round(p->dt, out[k]));
}

/* All nodes, every version. */
static inline void legal_all(struct legal *l)
{
    int n = l->t->prog.n;

    for (int v = 0; v < l->versions; v++)
        l->v[v] = arena_array(&arena, double *, n);
    for (int i = 0; i < n; i++) {
        bool same = op_is_source(l->t->prog.node[i].op);

        for (int v = 0; v < l->versions; v++) {
            l->v[v][i] = arena_array(&arena, double, shape_count(&l->t->prog.node[i].sh) + 1);
            if (v == 0 || !same)
                compute(l, i, l->v[v][i]);
            else
                l->v[v][i] = l->v[0][i];
        }
    }
}

#endif
