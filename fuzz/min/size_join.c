/*
 * Which axes share a size whatever it is: they are joined to one symbol.
 */
#include "fuzz/min/size.h"

int sizes_root(int *up, int x)
{
    while (up[x] != x)
        x = up[x] = up[up[x]];
    return x;
}

static void join(int *up, int node_a, int axis_a, int node_b, int axis_b)
{
    int a = sizes_root(up, node_a * MAX_RANK + axis_a);
    int b = sizes_root(up, node_b * MAX_RANK + axis_b);

    if (a < b)
        up[b] = a;
    else
        up[a] = b;
}

/* A slice that keeps a whole axis, flipped or not; an assign that writes to all of it. */
static bool slice_whole(const struct node *n, int axis, int64_t size)
{
    return range_count(n->lo[axis], n->hi[axis], n->by[axis]) == size &&
           (n->by[axis] == 1 || n->by[axis] == -1);
}

static void join_same(const struct prog *p, int *up, int node)
{
    const struct node *n = &p->node[node];

    for (int k = 0; k < n->n_arg; k++)
        for (int a = 0; a < n->sh.rank && n->arg[k].node >= 0; a++)
            join(up, node, a, n->arg[k].node, a);
}

static void join_view(const struct prog *p, int *up, int node)
{
    const struct node *n = &p->node[node];
    int src = n->arg[0].node, shift;
    const struct shape *s = &p->node[src].sh;

    for (int a = 0; a < n->sh.rank; a++) {
        if (n->op == OP_PERMUTE)
            join(up, node, a, src, n->perm[a]);
        else if (n->op == OP_SLICE && slice_whole(n, a, s->dim[a]))
            join(up, node, a, src, a);
        else if (n->op == OP_PAD && n->lo[a] == 0 && n->hi[a] == 0)
            join(up, node, a, src, a);
        else if (n->op == OP_ROLL || (n->op == OP_REPEAT && n->by[a] == 1))
            join(up, node, a, src, a);
    }
    shift = n->sh.rank - s->rank;
    for (int a = 0; n->op == OP_EXPAND && a < s->rank; a++)
        if (s->dim[a] == n->sh.dim[a + shift])
            join(up, node, a + shift, src, a);
}

static void join_reduce(const struct prog *p, int *up, int node)
{
    const struct node *n = &p->node[node];
    int src = n->arg[0].node, out = 0;

    for (int a = 0; a < p->node[src].sh.rank; a++) {
        bool reduced = n->axes >> a & 1;

        if (!reduced || (n->keep && p->node[src].sh.dim[a] == 1))
            join(up, node, out, src, a);
        out += !reduced || n->keep;
    }
}

static void join_matmul(const struct prog *p, int *up, int node)
{
    const struct node *n = &p->node[node];
    int x = n->arg[0].node, y = n->arg[1].node, r = n->sh.rank;

    for (int a = 0; a < r - 2; a++) {
        join(up, node, a, x, a);
        join(up, node, a, y, a);
    }
    join(up, node, r - 2, x, r - 2);
    join(up, node, r - 1, y, r - 1);
    join(up, x, r - 1, y, r - 2);
    for (int a = 0; n->n_arg == 3 && a < r; a++)
        join(up, node, a, n->arg[2].node, a);
}

/* Axis by axis, but for the one that the line names. */
static void join_but_axis(const struct prog *p, int *up, int node, int arg)
{
    const struct node *n = &p->node[node];

    for (int a = 0; a < n->sh.rank; a++)
        if (a != n->axis)
            join(up, node, a, n->arg[arg].node, a);
}

static void join_norm(const struct prog *p, int *up, int node)
{
    const struct node *n = &p->node[node];

    for (int a = 0; a < n->sh.rank; a++)
        join(up, node, a, n->arg[0].node, a);
    for (int k = 1; k < n->n_arg; k++)
        join(up, node, n->sh.rank - 1, n->arg[k].node, 0);
}

static void join_argmax(const struct prog *p, int *up, int node)
{
    const struct node *n = &p->node[node];

    for (int a = 0; a < n->sh.rank; a++)
        join(up, node, a, n->arg[0].node, a + (a >= n->axis));
}

/* The mask has the scores' shape [b.., hq, s, t], or the end of it. */
static void join_mask(const struct prog *p, int *up, int node)
{
    const struct node *n = &p->node[node];
    int mask = n->arg[3].node, r = n->sh.rank, m = p->node[mask].sh.rank;

    for (int a = 0; a < m - 1; a++)
        join(up, node, r - m + a, mask, a);
    join(up, n->arg[1].node, r - 2, mask, m - 1);
}

/* As many heads of keys as of queries stay as many. */
static void join_attention(const struct prog *p, int *up, int node)
{
    const struct node *n = &p->node[node];
    int q = n->arg[0].node, k = n->arg[1].node, v = n->arg[2].node, r = n->sh.rank;

    for (int a = 0; a < r - 1; a++) {
        join(up, node, a, q, a);
        join(up, k, a, v, a);
        if (a < r - 3 || (a == r - 3 && n->sh.dim[a] == p->node[k].sh.dim[a]))
            join(up, node, a, k, a);
    }
    join(up, q, r - 1, k, r - 1);
    join(up, node, r - 1, v, r - 1);
    if (n->n_arg == 4)
        join_mask(p, up, node);
}

static void join_assign(const struct prog *p, int *up, int node)
{
    const struct node *n = &p->node[node];

    for (int a = 0; a < n->sh.rank; a++) {
        join(up, node, a, n->arg[0].node, a);
        if (n->arg[1].node >= 0 && slice_whole(n, a, n->sh.dim[a]))
            join(up, node, a, n->arg[1].node, a);
    }
}

static void join_composite(const struct prog *p, int *up, int node)
{
    const struct node *n = &p->node[node];

    if (n->op == OP_SOFTMAX || n->op == OP_LOGSOFTMAX || n->op == OP_CUMSUM) {
        join_same(p, up, node);
    } else if (n->op == OP_LAYERNORM || n->op == OP_RMSNORM) {
        join_norm(p, up, node);
    } else if (n->op == OP_ARGMAX) {
        join_argmax(p, up, node);
    } else if (n->op == OP_GATHER) {
        join_but_axis(p, up, node, 0);
        join(up, node, n->axis, n->arg[1].node, 0);
    } else if (n->op == OP_CONCAT) {
        join_but_axis(p, up, node, 0);
        join_but_axis(p, up, node, 1);
    } else if (n->op == OP_ASSIGN) {
        join_assign(p, up, node);
    } else if (n->op == OP_ATTENTION) {
        join_attention(p, up, node);
    }
}

static void join_node(const struct prog *p, int *up, int node)
{
    const struct node *n = &p->node[node];

    switch (op_info(n->op)->class) {
    case OPC_SOURCE:
        break;
    case OPC_COMPOSITE:
        join_composite(p, up, node);
        break;
    case OPC_VIEW:
        join_view(p, up, node);
        break;
    case OPC_REDUCE:
        join_reduce(p, up, node);
        break;
    case OPC_MATMUL:
        join_matmul(p, up, node);
        break;
    case OPC_UNARY:
    case OPC_BINARY:
    case OPC_COMPARE:
    case OPC_WHERE:
    case OPC_CAST:
    case OPC_COPY:
        join_same(p, up, node);
        break;
    }
}

void sizes_join(const struct prog *p, int *up)
{
    for (int i = 0; i < p->n; i++)
        join_node(p, up, i);
}
