/*
 * Composites of exact data. A softmax is exact where each weight is 1 or 0 before it is
 * normalised: every score either equals the largest or lies so far below it that its weight
 * is 0 in any arithmetic. Then no running maximum, rescaling or block of an online or split
 * algorithm changes a bit: what a smaller maximum has gathered is multiplied by exactly 0
 * when the largest comes.
 */
#include <string.h>

#include "base/bug.h"
#include "judge/exact_eval.h"

int64_t exact_winners(const struct xval *s, int64_t n, int64_t step, double cut, double *top)
{
    int64_t count = 0;

    *top = -INFINITY;
    for (int64_t j = 0; j < n; j++) {
        if (s[j * step].e < 0 || isnan(s[j * step].v))
            return 0;
        *top = fmax(*top, s[j * step].v);
    }
    for (int64_t j = 0; j < n; j++) {
        struct xval x = s[j * step];

        if (x.v == *top && x.e == 0)
            count++;
        else if (!(x.v + x.e <= *top - cut))
            return 0;
    }
    return isfinite(*top) ? count : 0;
}

/* Elements from one along the axis to the next. */
static int64_t inner_of(const struct shape *sh, int axis)
{
    int64_t inner = 1;

    for (int a = axis + 1; a < sh->rank; a++)
        inner *= sh->dim[a];
    return inner;
}

/* A line along the axis of a node, whose elements are `step` apart: of the operand, and of the
 * result. */
struct line {
    const struct xval *x;
    struct xval *to;
    int64_t n, step;
};

static void each_line(struct exacts *x, int i,
                      void (*f)(const struct node *n, const struct line *l))
{
    const struct node *n = &x->prog->node[i];
    const struct xval *src = x->node[n->arg[0].node].p;
    int64_t len = n->sh.dim[n->axis], inner = inner_of(&n->sh, n->axis);

    for (int64_t k = 0; len && k < x->node[i].n / len; k++) {
        int64_t at = k / inner * inner * len + k % inner;

        f(n, &(struct line){ src + at, x->node[i].p + at, len, inner });
    }
}

static void softmax(const struct node *n, const struct line *l)
{
    const struct xfloat *f = xfloat(n->acc);
    double top;
    int64_t c = exact_winners(l->x, l->n, l->step, f->cut, &top);
    struct xval p = { 1 / (double)c, is_pow2((double)c) ? 0 : 3 * f->u / (double)c };

    for (int64_t j = 0; j < l->n * l->step; j += l->step)
        l->to[j] = !c                 ? VAL_OPEN
                   : l->x[j].v == top ? exact_store(n->acc, n->dt, p)
                                      : (struct xval){ 0, 0 };
}

/* Exact where one score wins: its own is then 0, as is the logarithm of a sum of 1. */
static void logsoftmax(const struct node *n, const struct line *l)
{
    double top;
    int64_t c = exact_winners(l->x, l->n, l->step, xfloat(n->acc)->cut, &top);

    for (int64_t j = 0; j < l->n * l->step; j += l->step) {
        struct xval v = l->x[j];
        double d = v.v - top;
        bool exact = c == 1 && v.e == 0 && exact_round(n->acc, d) == d && d + top == v.v;

        l->to[j] = exact ? exact_store(n->acc, n->dt, (struct xval){ d, 0 }) : VAL_OPEN;
    }
}

static void cumsum(const struct node *n, const struct line *l)
{
    struct adder s = { 0 };
    int64_t whole = 0;

    for (int64_t j = 0; j < l->n * l->step; j += l->step) {
        adder_put(&s, l->x[j]);
        whole += l->x[j].e == 0 && n->dt == DT_I32 ? (int64_t)l->x[j].v : 0;
        if (n->dt == DT_I32)
            l->to[j] = s.open || s.e != 0 ? VAL_OPEN : (struct xval){ wrap_i32(whole), 0 };
        else
            l->to[j] = exact_store(n->acc, n->dt, adder_sum(&s, n->acc));
    }
}

static void argmax(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    const struct shape *sh = &x->prog->node[n->arg[0].node].sh;
    const struct xval *p = x->node[n->arg[0].node].p;
    int64_t len = sh->dim[n->axis], inner = inner_of(sh, n->axis);

    for (int64_t k = 0; k < x->node[i].n; k++) {
        const struct xval *row = p + k / inner * inner * len + k % inner;
        int64_t best = 0;
        bool open = false;

        for (int64_t j = 0; j < len; j++) {
            open |= row[j * inner].e < 0 || isnan(row[j * inner].v);
            if (row[j * inner].v > row[best * inner].v)
                best = j;
        }
        for (int64_t j = 0; j < len && !open; j++) {
            struct xval a = row[best * inner], b = row[j * inner];

            open = j != best && a.e + b.e > 0 && a.v - a.e <= b.v + b.e;
        }
        x->node[i].p[k] = open ? VAL_OPEN : (struct xval){ (double)best, 0 };
    }
}

static void gather(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    const struct xval *p = x->node[n->arg[0].node].p, *idx = x->node[n->arg[1].node].p;
    int64_t size = x->prog->node[n->arg[0].node].sh.dim[n->axis];
    int64_t len = n->sh.dim[n->axis], inner = inner_of(&n->sh, n->axis);

    for (int64_t k = 0; k < x->node[i].n; k++) {
        struct xval at = idx[k / inner % len];
        int64_t outer = k / inner / len;

        if (at.e != 0)
            x->node[i].p[k] = VAL_OPEN;
        else if (at.v < 0 || at.v >= (double)size)
            x->node[i].p[k] = (struct xval){ 0, 0 };
        else
            x->node[i].p[k] = p[(outer * size + (int64_t)at.v) * inner + k % inner];
    }
}

static void concat(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    int64_t na = x->prog->node[n->arg[0].node].sh.dim[n->axis], len = n->sh.dim[n->axis];
    int64_t inner = inner_of(&n->sh, n->axis);

    for (int64_t k = 0; k < x->node[i].n; k++) {
        int64_t at = k / inner % len, outer = k / inner / len;
        bool first = at < na;
        const struct xval *p = x->node[n->arg[!first].node].p;

        at = first ? outer * na + at : outer * (len - na) + at - na;
        x->node[i].p[k] = p[at * inner + k % inner];
    }
}

/* x with v where the ranges go, element by element of v. */
static void assign(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    struct xnode *r = &x->node[i];
    const struct xval *v = n->arg[1].node >= 0 ? x->node[n->arg[1].node].p : NULL;
    const struct shape taken = ranges_shape(n);
    int64_t count = shape_count(&taken);

    if (r->n)
        memcpy(r->p, x->node[n->arg[0].node].p, (size_t)r->n * sizeof *r->p);
    for (int64_t k = 0; k < count; k++) {
        int64_t rest = k, to = 0, stride = 1;

        for (int a = n->sh.rank - 1; a >= 0; a--) {
            to += (n->lo[a] + rest % taken.dim[a] * n->by[a]) * stride;
            rest /= taken.dim[a];
            stride *= n->sh.dim[a];
        }
        r->p[to] = v ? v[k] : (struct xval){ n->arg[1].lit, 0 };
    }
}

void exact_composite(struct exacts *x, int i)
{
    switch ((int)x->prog->node[i].op) {
    case OP_SOFTMAX:
        each_line(x, i, softmax);
        return;
    case OP_LOGSOFTMAX:
        each_line(x, i, logsoftmax);
        return;
    case OP_CUMSUM:
        each_line(x, i, cumsum);
        return;
    case OP_ATTENTION:
        exact_attention(x, i);
        return;
    case OP_LAYERNORM:
    case OP_RMSNORM:
        exact_norm(x, i);
        return;
    case OP_ARGMAX:
        argmax(x, i);
        return;
    case OP_GATHER:
        gather(x, i);
        return;
    case OP_CONCAT:
        concat(x, i);
        return;
    case OP_ASSIGN:
        assign(x, i);
        return;
    }
    BUG("%s has no exact evaluation", op_info(x->prog->node[i].op)->name);
}
