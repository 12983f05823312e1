/*
 * Reducer over ranks: an axis of size 1, and every axis that shares its size, is taken out
 * of all nodes, layouts and steps.
 */

#include "fuzz/min/reduce.h"
#include "fuzz/min/size.h"

/* Symbols of extent 1: hint k is the k-th of them. */
static int unit_symbol(const struct sizes *z, int at)
{
    for (int s = 0; s < z->n_sym; s++)
        if (z->extent[s] == 1 && at-- == 0)
            return s;
    return -1;
}

int red_ranks_count(const struct trial *t, struct arena *scratch)
{
    struct sizes z;
    int n = 0;

    sizes_init(&z, &t->prog, scratch);
    while (unit_symbol(&z, n) >= 0)
        n++;
    return n;
}

static void take_out(int64_t *v, uint32_t gone, int rank)
{
    int n = 0;

    for (int a = 0; a < rank; a++)
        if (!(gone >> a & 1))
            v[n++] = v[a];
}

/* new number of an axis that stays */
static int moved(int axis, uint32_t gone)
{
    return axis - __builtin_popcount(gone & ((1u << axis) - 1));
}

static uint32_t bits_moved(uint32_t bits, uint32_t gone)
{
    uint32_t out = 0;

    for (int a = 0; a < MAX_RANK; a++)
        if ((bits & ~gone) >> a & 1)
            out |= 1u << moved(a, gone);
    return out;
}

static void permute_drop(struct node *n, uint32_t out, uint32_t in)
{
    int k = 0;

    for (int a = 0; a < n->sh.rank; a++)
        if (!(out >> a & 1))
            n->perm[k++] = moved(n->perm[a], in);
}

/* Axes of the operand that are reduced and gone need not be reduced; a reduction over
 * nothing is a copy. */
static bool reduce_drop(struct node *n, uint32_t out, uint32_t in)
{
    uint32_t kept = n->keep ? n->axes & ~in : 0;

    if (n->keep && (out & kept)) {
        if ((out & n->axes) != n->axes)
            return false;
        n->keep = false;
    }
    n->axes = bits_moved(n->axes, in);
    if (n->axes == 0) {
        n->op = OP_COPY;
        n->acc_given = false;
    }
    return true;
}

/* out, in: as in node_drop. Only axes that the composite does not work along may go. */
static bool composite_drop(struct node *n, uint32_t out, uint32_t in)
{
    int r = n->sh.rank;

    if (n->op == OP_ATTENTION)
        return !(out >> (r - 3)) && in == out;
    if (n->op == OP_LAYERNORM || n->op == OP_RMSNORM)
        return !(out >> (r - 1));
    if (in >> n->axis & 1)
        return false;
    n->axis = moved(n->axis, in);
    return n->op != OP_GATHER || out == in;
}

/* out, in: the axes that the node and its first operand lose. */
static bool node_drop(struct node *n, uint32_t out, uint32_t in)
{
    int r = n->sh.rank;

    if (n->op == OP_IOTA) {
        if (out >> n->axis & 1)
            return false;
        n->axis = moved(n->axis, out);
    } else if (n->op == OP_PERMUTE) {
        permute_drop(n, out, in);
    } else if (n->op == OP_SLICE || n->op == OP_PAD || n->op == OP_ROLL || n->op == OP_REPEAT ||
               n->op == OP_ASSIGN) {
        if (in != out)
            return false;
        take_out(n->lo, out, r);
        take_out(n->hi, out, r);
        take_out(n->by, out, r);
    } else if (n->op == OP_MATMUL) {
        if (out >> (r - 2))
            return false;
    } else if (op_is_composite(n->op)) {
        if (!composite_drop(n, out, in))
            return false;
    } else if (op_info(n->op)->class == OPC_REDUCE && !reduce_drop(n, out, in)) {
        return false;
    }
    if (n->layout.given)
        take_out(n->layout.stride, out, r);
    take_out(n->sh.dim, out, r);
    n->sh.rank = r - __builtin_popcount(out);
    return true;
}

/* The axis of the result or of the operand that a step's axis means, and its new number. */
static bool axis_drop(const struct prog *old, const uint32_t *gone, struct axis *ax)
{
    const struct node *n = &old->node[ax->node];
    uint32_t mask = gone[ax->node], seen = 0;

    if (ax->num < 0)
        return true;
    if (ax->role == 'r' && op_info(n->op)->class == OPC_REDUCE) {
        int k = ax->num;

        mask = gone[n->arg[0].node];
        for (int a = 0; a < MAX_RANK; a++) {
            if (!(n->axes >> a & 1))
                continue;
            if (k-- == 0) {
                ax->num = __builtin_popcount(seen & ~mask);
                return !(mask >> a & 1);
            }
            seen |= 1u << a;
        }
        return true;
    }
    if (ax->role == 'r' || ax->num >= MAX_RANK)
        return true;
    if (mask >> ax->num & 1)
        return false;
    ax->num = moved(ax->num, mask);
    return true;
}

static void step_drop_axes(const struct prog *old, const uint32_t *gone, struct step *st)
{
    int n = 0;

    for (int i = 0; i < st->n_axis; i++)
        if (axis_drop(old, gone, &st->axis[i]))
            st->axis[n++] = st->axis[i];
    st->n_axis = n;
}

bool red_ranks_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct prog *p = &t->prog, old;
    uint32_t *gone = arena_array(a, uint32_t, p->n);
    struct sizes z;
    int sym;

    (void)to;
    sizes_init(&z, p, a);
    sym = unit_symbol(&z, from);
    if (sym < 0)
        return false;
    prog_clone(&old, p, a);
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < p->node[i].sh.rank; k++)
            gone[i] |= (uint32_t)(sizes_sym(&z, i, k) == sym) << k;
    for (int k = 0; k < p->n_out; k++)
        if (p->out[k].layout.given)
            take_out(p->out[k].layout.stride, gone[p->out[k].node],
                     p->node[p->out[k].node].sh.rank);
    for (int i = 0; i < p->n; i++) {
        int src = p->node[i].n_arg ? p->node[i].arg[0].node : -1;

        if (!node_drop(&p->node[i], gone[i], src >= 0 ? gone[src] : 0))
            return false;
    }
    for (int i = t->n_step - 1; i >= 0; i--) {
        bool had = t->step[i].n_axis > 0;

        step_drop_axes(&old, gone, &t->step[i]);
        if (had && t->step[i].n_axis == 0)
            trial_drop_step(t, i);
    }
    return true;
}
