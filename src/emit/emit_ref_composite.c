/*
 * Composites of a repro's reference: loops over what a composite leaves apart, and inside
 * them one call of a function of ref_composite.def for a row.
 */
#include <inttypes.h>

#include "emit/refgen.h"

/* How many blocks the schedule's algorithm goes through along an axis of n; 0 = it is
 * decomposed. */
static int64_t blocks_of(const struct refgen *g, int node, int64_t n)
{
    for (int i = 0; i < g->t->n_step; i++) {
        const struct step *s = &g->t->step[i];

        if (s->kind == STEP_ALGO && s->node[0] == node && s->algo != ALGO_DECOMPOSED &&
            s->n > 0)
            return (n + s->n - 1) / s->n;
    }
    return 0;
}

static int64_t stride_of(const struct shape *sh, int axis)
{
    int64_t stride[MAX_RANK];

    shape_strides(sh, stride);
    return stride[axis];
}

/* Loops over all axes of sh but those from `first` on, and but axis `but`; the coordinates of
 * what is left out are 0. */
static void open_rows(struct refgen *g, const struct shape *sh, int first, int but,
                      struct coord *at)
{
    for (int a = 0; a < sh->rank; a++) {
        at[a] = (struct coord){ 'i', a, 0, 0, 0 };
        if (a >= first || a == but)
            continue;
        ref_open_loop(g, 'i', a, sh->dim[a]);
        at[a] = coord_var('i', a);
    }
}

/* The result in its own dtype, where it was computed in a wider one. */
static void round_all(struct refgen *g, const struct node *n)
{
    const char *to = ref_to(g, n->acc, n->dt);

    if (!*to)
        return;
    g->depth = 0;
    ref_line(g);
    str_add(g->s, "for (long i = 0; i < %" PRId64 "; i++)", shape_count(&n->sh));
    g->depth = 1;
    ref_line(g);
    str_add(g->s, "w_%s[i] = %sw_%s[i]);", n->name, to, n->name);
}

/* softmax, logsoftmax, cumsum */
static void lines(struct refgen *g, int node)
{
    const struct node *n = &g->p->node[node];
    int64_t size = n->sh.dim[n->axis];
    struct coord at[MAX_RANK];

    open_rows(g, &n->sh, n->sh.rank, n->axis, at);
    ref_line(g);
    str_add(g->s, "r_%s%s(&", n->op == OP_CUMSUM && n->dt == DT_I32 ? "i" : "",
            op_info(n->op)->name);
    ref_put_node(g, node, at);
    str_puts(g->s, ", &");
    ref_put_node(g, n->arg[0].node, at);
    str_add(g->s, ", %" PRId64 ", %" PRId64, size, stride_of(&n->sh, n->axis));
    if (n->op == OP_SOFTMAX)
        str_add(g->s, ", %" PRId64, blocks_of(g, node, size));
    str_puts(g->s, ");");
}

static void norm(struct refgen *g, int node)
{
    const struct node *n = &g->p->node[node];
    int last = n->sh.rank - 1;
    struct coord at[MAX_RANK];

    open_rows(g, &n->sh, last, -1, at);
    ref_line(g);
    str_puts(g->s, "r_norm(&");
    ref_put_node(g, node, at);
    str_puts(g->s, ", &");
    ref_put_node(g, n->arg[0].node, at);
    str_add(g->s, ", w_%s, ", g->p->node[n->arg[1].node].name);
    if (n->op == OP_LAYERNORM)
        str_add(g->s, "w_%s", g->p->node[n->arg[2].node].name);
    else
        str_puts(g->s, "NULL");
    str_add(g->s, ", %" PRId64 ", ", n->sh.dim[last]);
    ref_put_literal(g, n->acc, n->eps);
    str_puts(g->s, n->op == OP_LAYERNORM ? ", 1);" : ", 0);");
}

static void argmax(struct refgen *g, int node)
{
    const struct node *n = &g->p->node[node];
    const struct shape *in = &g->p->node[n->arg[0].node].sh;
    struct coord at[MAX_RANK], from[MAX_RANK];
    int out = 0;

    ref_open_result(g, n, at);
    for (int a = 0; a < in->rank; a++)
        from[a] = a == n->axis ? (struct coord){ 'i', 0, 0, 0, 0 } : at[out++];
    ref_assign(g, node, at);
    str_puts(g->s, "r_argmax(&");
    ref_put_node(g, n->arg[0].node, from);
    str_add(g->s, ", %" PRId64 ", %" PRId64 ");", in->dim[n->axis], stride_of(in, n->axis));
}

static void gather(struct refgen *g, int node)
{
    const struct node *n = &g->p->node[node];
    const struct shape *in = &g->p->node[n->arg[0].node].sh;
    struct coord at[MAX_RANK], from[MAX_RANK];

    ref_open_result(g, n, at);
    for (int a = 0; a < in->rank; a++)
        from[a] = a == n->axis ? (struct coord){ 'i', 0, 0, 0, 0 } : at[a];
    ref_assign(g, node, at);
    str_puts(g->s, "r_gather(&");
    ref_put_node(g, n->arg[0].node, from);
    str_add(g->s, ", w_%s[i%d], %" PRId64 ", %" PRId64 ");", g->p->node[n->arg[1].node].name,
            n->axis, in->dim[n->axis], stride_of(in, n->axis));
}

static void concat(struct refgen *g, int node)
{
    const struct node *n = &g->p->node[node];
    int64_t size = g->p->node[n->arg[0].node].sh.dim[n->axis];
    struct coord at[MAX_RANK], second[MAX_RANK];

    ref_open_result(g, n, at);
    for (int a = 0; a < n->sh.rank; a++)
        second[a] = at[a];
    second[n->axis].add = -size;
    ref_assign(g, node, at);
    str_add(g->s, "i%d < %" PRId64 " ? ", n->axis, size);
    ref_put_node(g, n->arg[0].node, at);
    str_puts(g->s, " : ");
    ref_put_node(g, n->arg[1].node, second);
    str_puts(g->s, ";");
}

/* All of x, then what is written over it. */
static void assign(struct refgen *g, int node)
{
    const struct node *n = &g->p->node[node];
    struct node taken = { .sh = ranges_shape(n) };
    struct coord at[MAX_RANK], to[MAX_RANK];

    ref_open_result(g, n, at);
    ref_assign(g, node, at);
    ref_put_node(g, n->arg[0].node, at);
    str_puts(g->s, ";");
    g->depth = 0;
    ref_open_result(g, &taken, at);
    for (int a = 0; a < n->sh.rank; a++)
        to[a] = (struct coord){ 'i', a, n->by[a], n->lo[a], 0 };
    ref_assign(g, node, to);
    if (n->arg[1].node >= 0)
        ref_put_node(g, n->arg[1].node, at);
    else
        ref_put_literal(g, n->dt, n->arg[1].lit);
    str_puts(g->s, ";");
}

/* "&w_k[16*i0 + i1/2*8], ": what all queries of query head i1 read; heads are grouped. */
static void put_keys(struct refgen *g, const struct node *n, int operand, int head)
{
    const struct node *k = &g->p->node[n->arg[operand].node];
    int64_t stride[MAX_RANK], of = k->sh.dim[head] > 0 ? n->sh.dim[head] / k->sh.dim[head] : 1;

    shape_strides(&k->sh, stride);
    str_add(g->s, "&w_%s[", k->name);
    for (int a = 0; a < head; a++)
        str_add(g->s, "%" PRId64 "*i%d + ", stride[a], a);
    str_add(g->s, "i%d/%" PRId64 "*%" PRId64 "], ", head, of > 0 ? of : 1, stride[head]);
}

static void put_mask(struct refgen *g, const struct node *n, const struct coord *at)
{
    const struct node *m;
    int skip;

    if (n->mask != MASK_BOOL && n->mask != MASK_ADD) {
        str_puts(g->s, "NULL, ");
        return;
    }
    m = &g->p->node[n->arg[3].node];
    skip = n->sh.rank - m->sh.rank;
    str_puts(g->s, "&");
    ref_put_node(g, n->arg[3].node, at + skip);
    str_puts(g->s, ", ");
}

static void attention(struct refgen *g, int node)
{
    const struct node *n = &g->p->node[node];
    const struct shape *q = &g->p->node[n->arg[0].node].sh, *v = &g->p->node[n->arg[2].node].sh;
    int last = n->sh.rank - 1, row = last - 1;
    int64_t s = q->dim[row], t = v->dim[row];
    struct coord at[MAX_RANK];

    open_rows(g, &n->sh, last, -1, at);
    ref_line(g);
    str_puts(g->s, "r_attention(&");
    ref_put_node(g, node, at);
    str_puts(g->s, ", &");
    ref_put_node(g, n->arg[0].node, at);
    str_puts(g->s, ", ");
    put_keys(g, n, 1, row - 1);
    put_keys(g, n, 2, row - 1);
    put_mask(g, n, at);
    g->depth++;
    ref_line(g);
    str_add(g->s, "(struct r_heads){ %" PRId64 ", %" PRId64 ", %" PRId64 ", ", t, q->dim[last],
            v->dim[last]);
    if (n->mask == MASK_CAUSAL)
        str_add(g->s, "i%d + 1", row);
    else if (n->mask == MASK_CAUSAL_BR)
        str_add(g->s, "i%d + 1 + %" PRId64 " - %" PRId64, row, t, s);
    else
        str_add(g->s, "%" PRId64, t);
    str_add(g->s, ", %" PRId64 ", %d, %d }, ", blocks_of(g, node, t), n->mask == MASK_ADD,
            n->empty == EMPTY_ZERO);
    ref_put_literal(g, n->acc, n->scale);
    str_puts(g->s, ");");
}

void ref_composite(struct refgen *g, int node)
{
    const struct node *n = &g->p->node[node];

    if (dtype_info(n->acc)->class == DTC_FLOAT)
        ref_compute_in(g, n->acc);
    if (n->op == OP_ARGMAX) {
        argmax(g, node);
    } else if (n->op == OP_GATHER) {
        gather(g, node);
    } else if (n->op == OP_CONCAT) {
        concat(g, node);
    } else if (n->op == OP_ASSIGN) {
        assign(g, node);
    } else {
        if (n->op == OP_SOFTMAX || n->op == OP_LOGSOFTMAX || n->op == OP_CUMSUM)
            lines(g, node);
        else if (n->op == OP_ATTENTION)
            attention(g, node);
        else
            norm(g, node);
        round_all(g, n);
    }
}
