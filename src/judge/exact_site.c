/*
 * Which inputs are the logits, queries and keys of a softmax? Followed up through views,
 * scales and masks, with the address of every element, so that an input can be written in
 * the softmax's own terms.
 */
#include <string.h>

#include "judge/exact_pick.h"
#include "judge/walk.h"

/* The literal that node n multiplies with, 0 = something else. */
static double factor(const struct node *n)
{
    if (n->op == OP_NEG && dtype_info(n->dt)->class == DTC_FLOAT)
        return -1;
    if (n->op == OP_MUL && n->arg[1].node < 0)
        return n->arg[1].lit;
    if (n->op == OP_MUL && n->arg[0].node < 0)
        return n->arg[0].lit;
    if (n->op == OP_DIV && n->arg[1].node < 0 && is_pow2(n->arg[1].lit))
        return 1 / n->arg[1].lit;
    return 0;
}

static bool passes(const struct node *n)
{
    return op_is_view(n->op) || n->op == OP_COPY ||
           (dtype_info(n->dt)->class == DTC_FLOAT && factor(n) != 0);
}

static int operand(const struct node *n)
{
    return n->arg[n->arg[0].node >= 0 ? 0 : 1].node;
}

/* Element numbers of node `end`, as marked values: what a pad fills is not marked. */
static void number(struct draft *d, int i, int64_t n)
{
    d->paths.node[i] = (struct xnode){ .n = n, .p = arena_array(d->arena, struct xval, n + 1) };
}

struct trace exact_trace(struct draft *d, int start)
{
    struct trace t = { .node = start, .scale = 1 };
    int chain[64], n = 0;
    int64_t *at;

    while (passes(&d->prog->node[t.node]) && n < 64) {
        const struct node *x = &d->prog->node[t.node];

        if (!op_is_view(x->op) && x->op != OP_COPY)
            t.scale *= factor(x);
        chain[n++] = t.node;
        t.node = operand(x);
    }
    number(d, t.node, shape_count(&d->prog->node[t.node].sh));
    for (int64_t k = 0; k < d->paths.node[t.node].n; k++)
        d->paths.node[t.node].p[k] = (struct xval){ (double)k, 1 };
    while (n-- > 0) {
        const struct node *x = &d->prog->node[chain[n]];

        number(d, chain[n], shape_count(&x->sh));
        if (op_is_view(x->op))
            exact_view(&d->paths, chain[n]);
        else
            memcpy(d->paths.node[chain[n]].p, d->paths.node[operand(x)].p,
                   (size_t)d->paths.node[chain[n]].n * sizeof(struct xval));
    }
    at = arena_array(d->arena, int64_t, d->paths.node[start].n + 1);
    for (int64_t k = 0; k < d->paths.node[start].n; k++) {
        struct xval v = d->paths.node[start].p[k];

        at[k] = v.e == 1 ? (int64_t)v.v : -1;
    }
    t.at = at;
    return t;
}

/* pos of the start becomes pos of what `t` traced it to */
static void advance(struct scores *s, struct draft *d, int64_t n, const struct trace *t)
{
    int64_t *pos = arena_array(d->arena, int64_t, n + 1);

    for (int64_t k = 0; k < n; k++)
        pos[k] = s->pos[k] < 0 ? -1 : t->at[s->pos[k]];
    s->pos = pos;
    s->scale *= t->scale;
}

/* Of the operands of an add, the one that is the mask: it ends at an input, while the other
 * does not. */
static int mask_operand(struct draft *d, const struct node *n)
{
    bool in[2];

    for (int j = 0; j < 2; j++) {
        if (n->arg[j].node < 0)
            return -1;
        in[j] = d->prog->node[exact_trace(d, n->arg[j].node).node].op == OP_INPUT;
    }
    return in[1] ? 1 : in[0] ? 0 : -1;
}

static void take_mask(struct scores *s, struct draft *d, int64_t n, int start, bool added)
{
    struct trace t = exact_trace(d, start);
    int64_t *at;

    if (d->prog->node[t.node].op != OP_INPUT || (added && t.scale <= 0)) {
        s->hidden = true;
        return;
    }
    at = arena_array(d->arena, int64_t, n + 1);
    for (int64_t k = 0; k < n; k++)
        at[k] = s->pos[k] < 0 ? -1 : t.at[s->pos[k]];
    s->mask = (struct mask){ t.node, at, added };
}

/* From the logits up to what they are computed from; n logits. */
static bool climb(struct draft *d, int node, int64_t n, struct scores *s)
{
    for (int turns = 0; turns < 32; turns++) {
        struct trace t = exact_trace(d, node);
        const struct node *x = &d->prog->node[t.node];
        int side;

        advance(s, d, n, &t);
        s->node = node = t.node;
        if (x->op == OP_WHERE && x->arg[1].node >= 0 && x->arg[2].node < 0) {
            take_mask(s, d, n, x->arg[0].node, false);
            node = x->arg[1].node;
        } else if (x->op == OP_ADD && (side = mask_operand(d, x)) >= 0) {
            take_mask(s, d, n, x->arg[side].node, true);
            node = x->arg[!side].node;
        } else {
            return x->op == OP_INPUT || x->op == OP_SUM ||
                   (x->op == OP_MATMUL && x->n_arg == 2 && !x->scaled);
        }
    }
    return false;
}

/* exp(x - max x): the node x, and the axes of the max */
static int spelled(struct draft *d, const struct node *n, uint32_t *axes)
{
    const struct node *sub, *max;
    int top;

    if ((n->op != OP_EXP && n->op != OP_EXP2) || n->arg[0].node < 0)
        return -1;
    sub = &d->prog->node[n->arg[0].node];
    if (sub->op != OP_SUB || sub->arg[0].node < 0 || sub->arg[1].node < 0)
        return -1;
    for (top = sub->arg[1].node;
         op_is_view(d->prog->node[top].op) || d->prog->node[top].op == OP_COPY;)
        top = d->prog->node[top].arg[0].node;
    max = &d->prog->node[top];
    if (max->op != OP_MAX || !shape_equal(&d->prog->node[max->arg[0].node].sh, &sub->sh))
        return -1;
    *axes = max->axes;
    return sub->arg[0].node;
}

static bool terms(struct draft *d, struct scores *s)
{
    const struct node *n = &d->prog->node[s->node];
    const struct shape *of = &d->prog->node[n->arg[0].node].sh;
    int a = n->arg[0].node, b = n->arg[1].node;

    if (n->op == OP_MATMUL) {
        s->form = LOGITS_MATMUL;
        s->n_c = of->dim[of->rank - 1];
    } else {
        const struct node *mul = &d->prog->node[exact_trace(d, a).node];

        if (n->arg[0].node != exact_trace(d, a).node || mul->op != OP_MUL ||
            mul->arg[0].node < 0 || mul->arg[1].node < 0)
            return false;
        s->form = LOGITS_SUM;
        s->n_c = 1;
        for (int k = 0; k < of->rank; k++)
            s->n_c *= n->axes >> k & 1 ? of->dim[k] : 1;
        a = mul->arg[0].node;
        b = mul->arg[1].node;
    }
    s->q = exact_trace(d, a);
    s->k = exact_trace(d, b);
    return true;
}

static bool attention(struct draft *d, const struct node *n, struct scores *s)
{
    const struct shape *q = &d->prog->node[n->arg[0].node].sh;
    const struct shape *k = &d->prog->node[n->arg[1].node].sh;
    int64_t rows = 1, *pos;
    struct trace m;

    for (int a = 0; a < q->rank - 1; a++)
        rows *= q->dim[a];
    s->form = LOGITS_ATTENTION;
    s->n_row = rows;
    s->last = q->dim[q->rank - 2];
    s->n_key = k->dim[k->rank - 2];
    s->n_c = q->dim[q->rank - 1];
    s->scale = n->scale;
    s->hidden = n->mask == MASK_CAUSAL || n->mask == MASK_CAUSAL_BR;
    s->shift = n->mask == MASK_CAUSAL_BR ? s->n_key - s->last : 0;
    s->q = exact_trace(d, n->arg[0].node);
    s->k = exact_trace(d, n->arg[1].node);
    if (n->mask != MASK_BOOL && n->mask != MASK_ADD)
        return true;
    m = exact_trace(d, n->arg[3].node);
    if (d->prog->node[m.node].op != OP_INPUT || m.scale <= 0)
        return n->mask == MASK_BOOL ? (s->hidden = true) : false;
    pos = arena_array(d->arena, int64_t, rows * s->n_key + 1);
    for (int64_t e = 0; e < rows * s->n_key; e++)
        pos[e] = m.at[d->prog->node[n->arg[3].node].sh.rank > 2 ? e : e % (s->last * s->n_key)];
    s->mask = (struct mask){ m.node, pos, n->mask == MASK_ADD };
    return true;
}

/* Which operand moves with the key? Exactly one does. */
static bool sides(struct draft *d, struct scores *s)
{
    int64_t q[2], k[2];
    struct trace t = s->q;

    if (s->form == LOGITS_ATTENTION)
        return true;
    for (int j = 0; j < 2; j++) {
        exact_term(d, s, 0, j, 0, &q[j], &k[j]);
        if (q[j] < 0 || k[j] < 0)
            return false;
        q[j] = s->q.at[q[j]];
        k[j] = s->k.at[k[j]];
    }
    if ((q[0] == q[1]) == (k[0] == k[1]))
        return false;
    if (q[0] == q[1])
        return true;
    s->turned = true;
    s->q = s->k;
    s->k = t;
    return true;
}

bool exact_site(struct draft *d, int i, struct scores *s)
{
    const struct node *n = &d->prog->node[i];
    uint32_t axes = 0;
    int64_t *id, count;
    int logits;

    *s = (struct scores){ .node = i, .scale = 1, .mask = { .node = -1 } };
    s->core = n->op == OP_EXP || n->op == OP_EXP2 ? exact_core(n->dt) : n->acc;
    s->cut = xfloat(s->core)->cut;
    if (n->op == OP_ATTENTION)
        return attention(d, n, s) && s->n_key > 1 && s->n_c > 0 && s->n_row > 0;
    if (n->op == OP_SOFTMAX || n->op == OP_LOGSOFTMAX) {
        logits = n->arg[0].node;
        axes = 1u << n->axis;
    } else {
        logits = spelled(d, n, &axes);
        if (logits < 0)
            return false;
    }
    n = &d->prog->node[logits];
    count = shape_count(&n->sh);
    s->row = walk_axes(&n->sh, ~axes, d->arena, &s->n_row);
    s->key = walk_axes(&n->sh, axes, d->arena, &s->n_key);
    s->last = 1;
    for (int a = n->sh.rank - 1; a >= 0 && s->last == 1; a--)
        if (!(axes >> a & 1))
            s->last = n->sh.dim[a];
    if (s->n_key < 2 || s->n_row < 1)
        return false;
    id = arena_array(d->arena, int64_t, count + 1);
    for (int64_t e = 0; e < count; e++)
        id[e] = e;
    s->pos = id;
    if (!climb(d, logits, count, s) || s->scale == 0)
        return false;
    if (d->prog->node[s->node].op == OP_INPUT)
        return true;
    return terms(d, s) && s->n_c > 0 && sides(d, s);
}

void exact_term(const struct draft *d, const struct scores *s, int64_t r, int64_t j, int64_t c,
                int64_t *q, int64_t *k)
{
    const struct node *n = &d->prog->node[s->node];
    const struct shape *of = &d->prog->node[n->arg[0].node].sh;
    int64_t at, cols, rows, swap;

    *q = *k = -1;
    if (s->form == LOGITS_ATTENTION) {
        const struct shape *ks = &d->prog->node[n->arg[1].node].sh;
        int64_t hq = of->dim[of->rank - 3], hk = ks->dim[ks->rank - 3], head = r / s->last;
        int64_t kv = head / hq * hk + head % hq / (hq / hk);

        *q = r * s->n_c + c;
        *k = (kv * s->n_key + j) * s->n_c + c;
        return;
    }
    at = s->pos[s->row[r] + s->key[j]];
    if (at < 0)
        return;
    if (s->form == LOGITS_MATMUL) {
        cols = n->sh.dim[n->sh.rank - 1];
        rows = n->sh.dim[n->sh.rank - 2];
        *q = at / cols * s->n_c + c;
        *k = (at / cols / rows * s->n_c + c) * cols + at % cols;
    } else {
        int64_t dense[MAX_RANK], rest = at, e = 0, step = c;

        walk_dense(of, dense);
        for (int a = of->rank - 1; a >= 0; a--) {
            int64_t *from = n->axes >> a & 1 ? &step : &rest;

            e += *from % of->dim[a] * dense[a];
            *from /= of->dim[a];
        }
        *q = *k = e;
    }
    if (s->turned) {
        swap = *q;
        *q = *k;
        *k = swap;
    }
}
