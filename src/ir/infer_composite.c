/*
 * Shapes of composites: softmax, logsoftmax, cumsum, layernorm, rmsnorm, argmax, gather,
 * concat, assign, attention.
 */
#include "ir/infer.h"

#include <math.h>

static int check_axis(struct infer *f, const struct shape *x)
{
    if (f->n->axis >= 0 && f->n->axis < x->rank)
        return 0;
    return infer_fault(f, PART_AXIS, "axis %d of shape %s; expected 0 to rank - 1", f->n->axis,
                       infer_shown(x).s);
}

static int infer_softmax(struct infer *f)
{
    const struct node *x = infer_operand(f, 0);

    f->n->sh = x->sh;
    return check_axis(f, &x->sh);
}

/* It is written out as a sum of what a mask leaves of each line, for every element of it. */
static int infer_cumsum(struct infer *f)
{
    const struct shape *x = &infer_operand(f, 0)->sh;
    struct shape wide = *x;

    f->n->sh = *x;
    if (check_axis(f, x))
        return f->e->code;
    if (x->rank == MAX_RANK)
        return infer_fault(f, PART_ARG, "cumsum of rank %d; expected at most %d", MAX_RANK,
                           MAX_RANK - 1);
    wide.dim[wide.rank++] = x->dim[f->n->axis];
    return infer_check_shape(f, &wide, PART_OP);
}

/* layernorm and rmsnorm: one gain, and one bias, for each place of the last axis. */
static int infer_norm(struct infer *f)
{
    struct node *n = f->n;
    const struct node *x = infer_operand(f, 0);
    const char *want = literal_fault(n->acc, &n->eps);

    if (want || !(n->eps >= 0) || isinf(n->eps))
        return infer_fault(f, PART_EPS,
                           "eps out of range; expected a finite number, 0 or more");
    if (x->sh.rank < 1)
        return infer_fault(f, PART_ARG, "%s of shape []; expected rank 1 or more",
                           op_info(n->op)->name);
    for (int k = 1; k < n->n_arg; k++) {
        const struct shape *g = &infer_operand(f, k)->sh;

        if (infer_check_same(f, k))
            return f->e->code;
        if (g->rank != 1 || g->dim[0] != x->sh.dim[x->sh.rank - 1])
            return infer_fault(f, PART_ARG + k,
                               "operand of shape %s beside %s; expected [%lld], the last axis",
                               infer_shown(g).s, infer_shown(&x->sh).s,
                               (long long)x->sh.dim[x->sh.rank - 1]);
    }
    n->sh = x->sh;
    return 0;
}

static int infer_argmax(struct infer *f)
{
    struct node *n = f->n;
    const struct shape *x = &infer_operand(f, 0)->sh;

    if (check_axis(f, x))
        return f->e->code;
    if (x->dim[n->axis] == 0)
        return infer_fault(f, PART_AXIS,
                           "argmax over axis %d of %s, which is empty; expected "
                           "an axis with elements",
                           n->axis, infer_shown(x).s);
    n->dt = DT_I32;
    n->sh.rank = 0;
    for (int a = 0; a < x->rank; a++)
        if (a != n->axis)
            n->sh.dim[n->sh.rank++] = x->dim[a];
    return 0;
}

static int infer_gather(struct infer *f)
{
    struct node *n = f->n;
    const struct node *x = infer_operand(f, 0), *i = infer_operand(f, 1);

    if (i->dt != DT_I32)
        return infer_fault(f, PART_ARG + 1, "index of dtype %s; expected i32",
                           dtype_info(i->dt)->name);
    if (i->sh.rank != 1)
        return infer_fault(f, PART_ARG + 1, "index of shape %s; expected rank 1",
                           infer_shown(&i->sh).s);
    if (check_axis(f, &x->sh))
        return f->e->code;
    n->sh = x->sh;
    n->sh.dim[n->axis] = i->sh.dim[0];
    return infer_check_shape(f, &n->sh, PART_OP);
}

static int infer_concat(struct infer *f)
{
    struct node *n = f->n;
    const struct node *x = infer_operand(f, 0), *y = infer_operand(f, 1);

    if (infer_check_same(f, 1) || check_axis(f, &x->sh))
        return f->e->code;
    if (y->sh.rank != x->sh.rank)
        return infer_fault(f, PART_ARG + 1, "concat of %s and %s; expected equal ranks",
                           infer_shown(&x->sh).s, infer_shown(&y->sh).s);
    for (int a = 0; a < x->sh.rank; a++)
        if (a != n->axis && x->sh.dim[a] != y->sh.dim[a])
            return infer_fault(f, PART_ARG + 1,
                               "concat of %s and %s; expected equal sizes but for axis %d",
                               infer_shown(&x->sh).s, infer_shown(&y->sh).s, n->axis);
    n->sh = x->sh;
    n->sh.dim[n->axis] += y->sh.dim[n->axis];
    return infer_check_shape(f, &n->sh, PART_OP);
}

/* x, and what is written to its ranges: of their shape, or one number. */
static int infer_assign(struct infer *f)
{
    struct node *n = f->n;
    const struct node *x = infer_operand(f, 0);
    struct shape taken = { 0 };

    if (infer_ranges(f, &x->sh, &taken))
        return f->e->code;
    if (n->arg[1].node < 0) {
        const char *want = literal_fault(x->dt, &n->arg[1].lit);

        if (want)
            return infer_fault(f, PART_ARG + 1, "literal out of range; expected %s", want);
    } else {
        const struct node *v = infer_operand(f, 1);

        if (infer_check_same(f, 1))
            return f->e->code;
        if (!shape_equal(&v->sh, &taken))
            return infer_fault(f, PART_ARG + 1,
                               "value of shape %s for a slice of %s; expected equal shapes",
                               infer_shown(&v->sh).s, infer_shown(&taken).s);
    }
    n->sh = x->sh;
    return 0;
}

/* The mask operand is there exactly where the mask is one, of the right dtype, and as large
 * as the scores or as their last two axes. */
static int check_mask(struct infer *f, const struct shape *scores)
{
    struct node *n = f->n;
    bool operand = n->mask == MASK_BOOL || n->mask == MASK_ADD;
    enum dtype want = n->mask == MASK_BOOL ? DT_BOOL : infer_operand(f, 0)->dt;
    const struct node *m;

    if ((unsigned)n->mask >= MASK_COUNT || (unsigned)n->empty >= EMPTY_COUNT)
        return infer_fault(f, PART_MASK,
                           "mask or empty out of range; expected one of their enum");
    if (operand != (n->n_arg == 4))
        return infer_fault(f, operand ? PART_MASK : PART_ARG + 3,
                           "mask=%s with %d operands; expected %s", mask_name(n->mask),
                           n->n_arg,
                           operand ? "a mask after q, k and v" : "mask=bool or mask=add");
    if (!operand)
        return 0;
    m = infer_operand(f, 3);
    if (m->dt != want)
        return infer_fault(f, PART_ARG + 3, "mask=%s of dtype %s; expected %s",
                           mask_name(n->mask), dtype_info(m->dt)->name, dtype_info(want)->name);
    if (!shape_equal(&m->sh, scores) &&
        (m->sh.rank != 2 || m->sh.dim[0] != scores->dim[scores->rank - 2] ||
         m->sh.dim[1] != scores->dim[scores->rank - 1]))
        return infer_fault(f, PART_ARG + 3,
                           "mask of shape %s for scores of %s; expected that shape or its last "
                           "two axes",
                           infer_shown(&m->sh).s, infer_shown(scores).s);
    return 0;
}

/* q [b..,hq,s,d], k [b..,hk,t,d], v [b..,hk,t,e]; hq a multiple of hk. */
static int check_heads(struct infer *f, const struct shape *q, const struct shape *k,
                       const struct shape *v)
{
    int r = q->rank;

    if (r < 3)
        return infer_fault(f, PART_ARG, "attention of shape %s; expected rank 3 or more",
                           infer_shown(q).s);
    if (k->rank != r || v->rank != r)
        return infer_fault(f, PART_ARG + (k->rank != r ? 1 : 2),
                           "attention of %s, %s and %s; expected equal ranks", infer_shown(q).s,
                           infer_shown(k).s, infer_shown(v).s);
    for (int a = 0; a < r - 3; a++)
        if (k->dim[a] != q->dim[a] || v->dim[a] != q->dim[a])
            return infer_fault(f, PART_ARG + (k->dim[a] != q->dim[a] ? 1 : 2),
                               "attention of %s, %s and %s; expected equal batch axes",
                               infer_shown(q).s, infer_shown(k).s, infer_shown(v).s);
    if (v->dim[r - 3] != k->dim[r - 3] || v->dim[r - 2] != k->dim[r - 2])
        return infer_fault(f, PART_ARG + 2,
                           "values of %s for keys of %s; expected equal heads and lengths",
                           infer_shown(v).s, infer_shown(k).s);
    if (k->dim[r - 1] != q->dim[r - 1])
        return infer_fault(f, PART_ARG + 1,
                           "keys of %s for queries of %s; expected equal last axes",
                           infer_shown(k).s, infer_shown(q).s);
    if (k->dim[r - 3] == 0 ? q->dim[r - 3] != 0 : q->dim[r - 3] % k->dim[r - 3] != 0)
        return infer_fault(f, PART_ARG + 1,
                           "%lld query heads on %lld key heads; expected a multiple",
                           (long long)q->dim[r - 3], (long long)k->dim[r - 3]);
    return 0;
}

static int infer_attention(struct infer *f)
{
    struct node *n = f->n;
    const struct shape *q = &infer_operand(f, 0)->sh, *k = &infer_operand(f, 1)->sh;
    const struct shape *v = &infer_operand(f, 2)->sh;
    struct shape scores = *q;
    int r = q->rank;

    if (infer_check_same(f, 1) || infer_check_same(f, 2) || check_heads(f, q, k, v))
        return f->e->code;
    if (literal_fault(n->acc, &n->scale) || !isfinite(n->scale))
        return infer_fault(f, PART_SCALE, "scale out of range; expected a finite number");
    scores.dim[r - 1] = k->dim[r - 2];
    if (check_mask(f, &scores) || infer_check_shape(f, &scores, PART_OP))
        return f->e->code;
    n->sh = *q;
    n->sh.dim[r - 1] = v->dim[r - 1];
    return infer_check_shape(f, &n->sh, PART_OP);
}

int infer_composite(struct infer *f)
{
    struct node *n = f->n;

    if (infer_check_taken(f, 0) || infer_acc(f, infer_operand(f, 0)->dt))
        return f->e->code;
    n->dt = infer_operand(f, 0)->dt;
    if (n->op == OP_SOFTMAX || n->op == OP_LOGSOFTMAX)
        return infer_softmax(f);
    if (n->op == OP_CUMSUM)
        return infer_cumsum(f);
    if (n->op == OP_LAYERNORM || n->op == OP_RMSNORM)
        return infer_norm(f);
    if (n->op == OP_ARGMAX)
        return infer_argmax(f);
    if (n->op == OP_GATHER)
        return infer_gather(f);
    if (n->op == OP_CONCAT)
        return infer_concat(f);
    if (n->op == OP_ASSIGN)
        return infer_assign(f);
    return infer_attention(f);
}
