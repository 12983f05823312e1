/*
 * Reducers that move views past what they view, or replace a chain of them: by themselves
 * they may change nothing in size, but what they leave can be dropped by others.
 */
#include "fuzz/min/reduce.h"

/*
 * sum then expand becomes expand then sum: where a fused reduction runs again for every
 * element of its reader, the plain program that does the same needs fewer nodes.
 */
RED_PER_NODE(hoist, 1)

static bool only_reader(const struct prog *p, int node, int reader)
{
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < p->node[i].n_arg; k++)
            if (p->node[i].arg[k].node == node && i != reader)
                return false;
    for (int k = 0; k < p->n_out; k++)
        if (p->out[k].node == node)
            return false;
    return true;
}

bool red_hoist_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct prog *p = &t->prog;
    struct node *v = &p->node[from], *r, node;
    int at, lead;

    (void)to, (void)a;
    if (v->op != OP_EXPAND)
        return false;
    at = v->arg[0].node;
    r = &p->node[at];
    lead = v->sh.rank - r->sh.rank;
    if (op_info(r->op)->class != OPC_REDUCE || r->keep || !only_reader(p, at, from) ||
        lead == 0 || lead + p->node[r->arg[0].node].sh.rank > MAX_RANK)
        return false;
    for (int k = 0; k < r->sh.rank; k++)
        if (v->sh.dim[lead + k] != r->sh.dim[k])
            return false;
    node = *v;
    node.arg[0] = r->arg[0];
    node.sh.rank = lead;
    for (int k = 0; k < p->node[r->arg[0].node].sh.rank; k++)
        node.sh.dim[node.sh.rank++] = p->node[r->arg[0].node].sh.dim[k];
    *v = *r;
    v->arg[0].node = at;
    v->axes <<= lead;
    *r = node;
    steps_rename(t, at, from);
    return true;
}

/* v reads p alone, and p reads tensors: p's place becomes an input of v's shape, v's place
 * computes p's op on it. */
RED_PER_NODE(lift, 1)

static bool elementwise(enum op op)
{
    enum op_class c = op_info(op)->class;

    return c == OPC_UNARY || c == OPC_COPY || c == OPC_CAST || c == OPC_BINARY;
}

bool red_lift_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct prog *p = &t->prog;
    struct node *v = &p->node[from], *n, old;
    int at;

    (void)to, (void)a;
    if (!op_is_view(v->op))
        return false;
    at = v->arg[0].node;
    n = &p->node[at];
    if (!elementwise(n->op) || !only_reader(p, at, from))
        return false;
    old = *n;
    for (int k = 0; k < old.n_arg; k++)
        if (old.arg[k].node >= 0) {
            n->dt = p->node[old.arg[k].node].dt;
            old.arg[k].node = at;
        }
    *n = (struct node){ .op = OP_INPUT, .dt = n->dt, .sh = v->sh, .name = v->name };
    old.sh = v->sh;
    *v = old;
    steps_rename(t, at, from);
    return true;
}

/* Hints: view x axis. */
RED_PER_NODE(flips, MAX_RANK)

bool red_flips_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct prog *p = &t->prog;
    struct node *v = &p->node[from / MAX_RANK];
    int axis = from % MAX_RANK, src, depth = 0;

    (void)to, (void)a;
    if (!op_is_view(v->op) || axis >= v->sh.rank || v->sh.dim[axis] < 2)
        return false;
    for (src = v->arg[0].node; op_is_view(p->node[src].op); src = p->node[src].arg[0].node)
        if (depth++ > 0 && shape_equal(&p->node[src].sh, &v->sh))
            break;
    if (depth == 0 || !shape_equal(&p->node[src].sh, &v->sh))
        return false;
    v->op = OP_SLICE;
    v->arg[0].node = src;
    for (int k = 0; k < v->sh.rank; k++) {
        int64_t size = v->sh.dim[k];

        v->lo[k] = k == axis ? size - 1 : 0;
        v->hi[k] = k == axis ? -1 : size;
        v->by[k] = k == axis ? -1 : 1;
    }
    return true;
}
