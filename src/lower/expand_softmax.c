/* softmax along one axis, and the running softmax over blocks of keys that attention shares:
 * both work on the last axis but softmax itself may be along any. */
#include <float.h>
#include <math.h>

#include "lower/expand.h"

enum { MAX_BLOCKS = 32 };

static double lowest(enum dtype dt)
{
    return dt == DT_F64 ? -DBL_MAX : -(double)FLT_MAX;
}

static int soft_axis(const struct expand *x)
{
    return x->n->op == OP_SOFTMAX ? x->n->axis : x->n->sh.rank - 1;
}

int expand_blocks(struct expand *x, int64_t keys)
{
    int64_t n = x->algo == ALGO_DECOMPOSED || keys == 0 ? 1 : (keys + x->block - 1) / x->block;

    if (n > MAX_BLOCKS) {
        x->failed = true;
        err_set(&x->e, ERR_UNSUPPORTED, "%lld blocks of keys; at most %d are written out",
                (long long)n, MAX_BLOCKS);
        return 1;
    }
    return (int)n;
}

/* v op s, where s has size 1 along the axis of keys */
static int rescale(struct expand *x, const char *spread, const char *part, enum op op, int v,
                   int s)
{
    const struct shape sh = *expand_shape(x, v);

    return expand_binary(x, part, op, v, expand_to(x, spread, s, &sh));
}

static void shift_to(struct expand *x, struct running *r)
{
    int none = expand_literal(x, "no", OP_EQ, r->max, -(double)INFINITY);

    r->shift = expand_unless(x, "sh", none, lowest(x->dt), r->max);
}

/* A fault adds 0 where it should multiply by the scale: the same nodes read the same nodes. */
static void carry(struct expand *x, struct running *r, const struct running *before)
{
    bool forget = FAULT(x->l, online_rescale_missing);
    enum op op = forget ? OP_ADD : OP_MUL;
    int al = expand_binary(x, "da", OP_SUB, before->shift, r->shift);

    al = forget ? expand_literal(x, "al", OP_MUL, al, 0) : expand_unary(x, "al", OP_EXP, al);
    r->sum =
        expand_binary(x, "ls", OP_ADD, expand_binary(x, "as", op, before->sum, al), r->sum);
    if (before->out >= 0)
        r->out =
            expand_binary(x, "lo", OP_ADD, rescale(x, "ab", "ao", op, before->out, al), r->out);
}

struct running expand_block(struct expand *x, const struct running *before, int scores,
                            int visible, int values)
{
    const struct shape sh = *expand_shape(x, scores);
    uint32_t axes = 1u << soft_axis(x);
    struct running r = { .out = -1 };
    int s = scores, w;

    if (visible >= 0)
        s = expand_select(x, "mk", visible, s, -(double)INFINITY);
    r.max = expand_reduce(x, "mx", OP_MAX, s, axes, true);
    if (before)
        r.max = expand_binary(x, "mm", OP_MAX2, before->max, r.max);
    shift_to(x, &r);
    w = expand_binary(x, "df", OP_SUB, s, expand_to(x, "mb", r.shift, &sh));
    w = expand_unary(x, visible >= 0 ? "ev" : "ex", OP_EXP, w);
    if (visible >= 0)
        w = expand_select(x, "ex", visible, w, 0);
    r.sum = expand_reduce(x, "sm", OP_SUM, w, axes, true);
    if (values >= 0)
        r.out = expand_matmul(x, "ov", w, values);
    if (before)
        carry(x, &r, before);
    return r;
}

struct running expand_merge(struct expand *x, const struct running *a, const struct running *b)
{
    struct running r = { .out = -1 };
    int wa, wb;

    r.max = expand_binary(x, "mc", OP_MAX2, a->max, b->max);
    shift_to(x, &r);
    wa = expand_unary(x, "wa", OP_EXP, expand_binary(x, "sa", OP_SUB, a->shift, r.shift));
    wb = expand_unary(x, "wb", OP_EXP, expand_binary(x, "sb", OP_SUB, b->shift, r.shift));
    r.sum = expand_binary(x, "lc", OP_ADD, expand_binary(x, "la", OP_MUL, a->sum, wa),
                          expand_binary(x, "lb", OP_MUL, b->sum, wb));
    if (a->out >= 0)
        r.out = expand_binary(x, "oc", OP_ADD, rescale(x, "wc", "oa", OP_MUL, a->out, wa),
                              rescale(x, "wd", "ob", OP_MUL, b->out, wb));
    return r;
}

struct running expand_settle(struct expand *x, const struct running *r)
{
    struct running s = *r;
    int f;

    x->block_at = -1;
    f = expand_unary(x, "fx", OP_EXP, expand_binary(x, "fd", OP_SUB, r->shift, r->max));
    s.sum = expand_binary(x, "fs", OP_MUL, r->sum, f);
    if (r->out >= 0)
        s.out = rescale(x, "fb", "fo", OP_MUL, r->out, f);
    return s;
}

static int softmax_plain(struct expand *x, int a, int *less, int *sum)
{
    const struct shape sh = *expand_shape(x, a);
    uint32_t axes = 1u << x->n->axis;
    int mx = expand_reduce(x, "mx", OP_MAX, a, axes, true);
    int df = expand_binary(x, "df", OP_SUB, a, expand_to(x, "mb", mx, &sh));
    int ex = expand_unary(x, "ex", OP_EXP, df);

    *less = df;
    *sum = expand_reduce(x, "sm", OP_SUM, ex, axes, true);
    return ex;
}

/* Maximum and sum come from the blocks, the weights are then formed once more. */
static int softmax_online(struct expand *x, int a, int blocks, int *sum)
{
    const struct shape sh = *expand_shape(x, a);
    int axis = x->n->axis, df;
    struct running r = { 0 };

    for (int b = 0; b < blocks; b++) {
        int64_t at = b * x->block, n = sh.dim[axis] - at;
        struct running before = r;

        x->block_at = b;
        r = expand_block(x, b ? &before : NULL,
                         expand_slice(x, "xs", a, axis, at, n < x->block ? n : x->block), -1,
                         -1);
    }
    r = expand_settle(x, &r);
    *sum = r.sum;
    df = expand_binary(x, "df", OP_SUB, a, expand_to(x, "mb", r.max, &sh));
    return expand_unary(x, "ex", OP_EXP, df);
}

void expand_softmax(struct expand *x)
{
    int a = expand_operand(x, 0, "xw"), sum, ex, df;
    const struct shape sh = *expand_shape(x, a);
    int blocks = expand_blocks(x, sh.dim[x->n->axis]);

    ex = blocks > 1 ? softmax_online(x, a, blocks, &sum) : softmax_plain(x, a, &df, &sum);
    expand_final(x, OP_DIV, ex, expand_to(x, "sb", sum, &sh));
}

/* What softmax_plain takes the exponential of, less the logarithm of the sum. */
void expand_logsoftmax(struct expand *x)
{
    int a = expand_operand(x, 0, "xw"), sum, df;
    const struct shape sh = *expand_shape(x, a);

    softmax_plain(x, a, &df, &sum);
    expand_final(x, OP_SUB, df, expand_to(x, "lb", expand_unary(x, "lg", OP_LOG, sum), &sh));
}
