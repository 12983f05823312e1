/*
 * attention: scores, masks, softmax over the keys, weighted sum of the values. Masked
 * weights are 0 selected after exp, so that they are 0 in the ring as well.
 */
#include <math.h>

#include "lower/expand.h"

struct attention {
    int q, k, v;         /* [b.., hq, s, d], [b.., hq, t, d], [b.., hq, t, e] */
    int mask;            /* operand spread over the scores, -1 = none */
    struct shape scores; /* [b.., hq, s, t] */
    int row, col;        /* axes of the scores */
};

/* Head h of the queries reads head h / group of keys and values. */
static int spread_heads(struct expand *x, int a, int64_t heads, const char *one,
                        const char *wide, const char *flat)
{
    struct shape sh = *expand_shape(x, a), full;
    int h = sh.rank - 3;
    int64_t group = sh.dim[h] > 0 ? heads / sh.dim[h] : 1;

    if (group == 1)
        return a;
    if (sh.rank == MAX_RANK) {
        x->failed = true;
        err_set(&x->e, ERR_UNSUPPORTED, "grouped heads of rank %d", MAX_RANK);
        return a;
    }
    for (int d = sh.rank++; d > h + 1; d--)
        sh.dim[d] = sh.dim[d - 1];
    sh.dim[h + 1] = 1;
    full = sh;
    full.dim[h + 1] = group;
    if (FAULT(x->l, grouped_head_modulo)) {
        sh.dim[h + 1] = sh.dim[h];
        sh.dim[h] = 1;
        full.dim[h] = group;
        full.dim[h + 1] = sh.dim[h + 1];
    }
    a = expand_to(x, wide, expand_reshape(x, one, a, &sh), &full);
    full.dim[h] = heads;
    for (int d = h + 1; d < full.rank - 1; d++)
        full.dim[d] = full.dim[d + 1];
    full.rank--;
    return expand_reshape(x, flat, a, &full);
}

static struct attention operands(struct expand *x)
{
    struct attention a = { .mask = -1 };
    const struct shape *q;

    a.q = expand_operand(x, 0, "qw");
    q = expand_shape(x, a.q);
    a.scores = *q;
    a.row = q->rank - 2;
    a.col = q->rank - 1;
    a.k = spread_heads(x, expand_operand(x, 1, "kw"), q->dim[a.row - 1], "kg", "kb", "kh");
    a.v =
        spread_heads(x, expand_operand(x, 2, "vw"), a.scores.dim[a.row - 1], "vg", "vb", "vh");
    a.scores.dim[a.col] = expand_shape(x, a.k)->dim[a.row];
    if (x->n->mask == MASK_ADD)
        a.mask = expand_to(x, "ma", expand_operand(x, 3, "mw"), &a.scores);
    else if (x->n->mask == MASK_BOOL)
        a.mask = expand_to(x, "ma", x->map[x->n->arg[3].node], &a.scores);
    return a;
}

/* part of the keys along an axis; all of them = the node itself */
static int keys_of(struct expand *x, const char *part, int a, int axis, int64_t at, int64_t n)
{
    return expand_shape(x, a)->dim[axis] == n ? a : expand_slice(x, part, a, axis, at, n);
}

static int scores_of(struct expand *x, const struct attention *a, int64_t at, int64_t n)
{
    int perm[MAX_RANK] = { 0 }, s;

    for (int d = 0; d < a->scores.rank; d++)
        perm[d] = d == a->row ? a->col : d == a->col ? a->row : d;
    s = expand_permute(x, "kt", keys_of(x, "ks", a->k, a->row, at, n), perm);
    s = expand_matmul(x, "sc", a->q, s);
    s = expand_literal(x, "ss", OP_MUL, s, x->n->scale);
    if (x->n->mask == MASK_ADD)
        s = expand_binary(x, "sa", OP_ADD, s, keys_of(x, "ms", a->mask, a->col, at, n));
    return s;
}

/* Key at + j is visible to query i iff it is at most i (+ keys - queries). */
static int causal(struct expand *x, const struct attention *a, int64_t at, int64_t n)
{
    struct shape flat = { 2, { a->scores.dim[a->row], n } }, sh = a->scores;
    int64_t shift = x->n->mask == MASK_CAUSAL_BR ? a->scores.dim[a->col] - flat.dim[0] : 0;
    int i = expand_iota(x, "ii", &flat, 0), j = expand_iota(x, "jj", &flat, 1), c;

    if (at != shift) {
        if (FAULT(x->l, causal_alignment_offset))
            shift = 0;
        j = expand_literal(x, "js", OP_ADD, j, (double)(at - shift));
    }
    c = expand_binary(x, "vc", OP_LE, j, i);
    sh.dim[a->col] = n;
    return expand_to(x, "vs", c, &sh);
}

/* the bool that says which scores of the block are visible, -1 = all */
static int visible_of(struct expand *x, const struct attention *a, int64_t at, int64_t n)
{
    if (x->n->mask == MASK_BOOL)
        return keys_of(x, "ms", a->mask, a->col, at, n);
    if (x->n->mask == MASK_CAUSAL || x->n->mask == MASK_CAUSAL_BR)
        return causal(x, a, at, n);
    return -1;
}

/* Must rows that see no key give 0 (and not 0/0)? Additive masks hide nothing. */
static bool zero_rows(const struct expand *x)
{
    const struct node *k = &x->from->prog.node[x->n->arg[1].node];
    bool hides = x->n->mask != MASK_NONE && x->n->mask != MASK_ADD;

    return x->n->empty == EMPTY_ZERO && (hides || k->sh.dim[k->sh.rank - 2] == 0);
}

/* Rows that see nothing have sum 0; every other sum is at least exp(0). */
static void finish(struct expand *x, int out, int sum)
{
    const struct shape sh = x->n->sh;

    x->block_at = -1;
    if (zero_rows(x)) {
        double of_none = FAULT(x->l, masked_row_nan) ? -1 : 0;
        int none = expand_literal(x, "es", OP_EQ, sum, of_none);

        out = expand_unless(x, expand_last(x), expand_to(x, "eb", none, &sh), 0, out);
    }
    expand_narrow(x, out);
}

static void decomposed(struct expand *x, const struct attention *a)
{
    int64_t keys = a->scores.dim[a->col];
    int s = scores_of(x, a, 0, keys), vis = visible_of(x, a, 0, keys), mx, w, sum;
    uint32_t axes = 1u << a->col;

    if (vis >= 0)
        s = expand_select(x, "mk", vis, s,
                          FAULT(x->l, finite_mask_sentinel) ? -50000 : -(double)INFINITY);
    mx = expand_reduce(x, "mx", OP_MAX, s, axes, true);
    w = expand_binary(x, "df", OP_SUB, s, expand_to(x, "mb", mx, &a->scores));
    w = expand_unary(x, vis >= 0 ? "ev" : "ex", OP_EXP, w);
    if (vis >= 0)
        w = expand_select(x, "ex", vis, w, 0);
    sum = expand_reduce(x, "sm", OP_SUM, w, axes, true);
    if (keys > 0) {
        w = expand_binary(x, "pr", OP_DIV, w, expand_to(x, "sb", sum, &a->scores));
        w = expand_matmul(x, zero_rows(x) ? "ov" : expand_last(x), w, a->v);
    } else { /* normalised late: 0/0, where an empty sum of weights would be 0 */
        w = expand_matmul(x, "ov", w, a->v);
        w = expand_binary(x, zero_rows(x) ? "dv" : expand_last(x), OP_DIV, w,
                          expand_to(x, "sb", sum, &x->n->sh));
    }
    finish(x, w, sum);
}

static void in_blocks(struct expand *x, const struct attention *a, int blocks)
{
    int64_t keys = a->scores.dim[a->col];
    const struct shape sh = x->n->sh;
    struct running r = { 0 }, s;

    for (int b = 0; b < blocks; b++) {
        int64_t at = b * x->block, n = keys - at < x->block ? keys - at : x->block;
        struct running before = r, alone;
        int sc, vis;

        x->block_at = b;
        sc = scores_of(x, a, at, n);
        vis = visible_of(x, a, at, n);
        alone = expand_block(x, b && x->algo == ALGO_ONLINE ? &before : NULL, sc, vis,
                             keys_of(x, "vk", a->v, a->row, at, n));
        r = b && x->algo == ALGO_SPLIT ? expand_merge(x, &before, &alone) : alone;
    }
    s = expand_settle(x, &r);
    finish(x,
           expand_binary(x, zero_rows(x) ? "dv" : expand_last(x), OP_DIV, s.out,
                         expand_to(x, "sb", s.sum, &sh)),
           r.sum);
}

void expand_attention(struct expand *x)
{
    struct attention a = operands(x);
    int blocks = expand_blocks(x, a.scores.dim[a.col]);

    if (blocks > 1)
        in_blocks(x, &a, blocks);
    else
        decomposed(x, &a);
}
