/*
 * Reducers over nodes and outputs: fewer outputs, an inner node as the output, nodes turned
 * into inputs, nodes passed by.
 */
#include "fuzz/min/reduce.h"

int red_outputs_count(const struct trial *t, struct arena *scratch)
{
    (void)scratch;
    return t->prog.n_out > 1 ? t->prog.n_out : 0;
}

bool red_outputs_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct prog *p = &t->prog;
    int n = 0;

    (void)a;
    for (int i = 0; i < p->n_out; i++)
        if (i < from || i >= to)
            p->out[n++] = p->out[i];
    p->n_out = n;
    return n > 0;
}

/* How many nodes node `top` needs, itself included; the smallest are tried first. */
static int cone_size(const struct prog *p, int top, bool *in)
{
    int n = 0;

    for (int i = 0; i < p->n; i++)
        in[i] = i == top;
    for (int i = top; i >= 0; i--) {
        if (!in[i])
            continue;
        n += p->node[i].op != OP_INPUT && p->node[i].op != OP_CONST;
        for (int k = 0; k < p->node[i].n_arg; k++)
            if (p->node[i].arg[k].node >= 0)
                in[p->node[i].arg[k].node] = true;
    }
    return n;
}

/* The node that hint `at` makes the only output: computed nodes, smallest cone first. */
static int top_of(const struct prog *p, int at, struct arena *a, int *n_top)
{
    bool *in = arena_array(a, bool, p->n);
    int *cone = arena_array(a, int, p->n), *list = arena_array(a, int, p->n), n = 0;

    for (int i = 0; i < p->n; i++) {
        int k = n;

        if (op_is_source(p->node[i].op))
            continue;
        cone[i] = cone_size(p, i, in);
        for (; k > 0 && cone[list[k - 1]] > cone[i]; k--)
            list[k] = list[k - 1];
        list[k] = i;
        n++;
    }
    *n_top = n;
    return at < n ? list[at] : -1;
}

int red_tops_count(const struct trial *t, struct arena *scratch)
{
    int n = 0;

    top_of(&t->prog, 0, scratch, &n);
    return n;
}

bool red_tops_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct prog *p = &t->prog;
    int n, top = top_of(p, from, a, &n);

    (void)to;
    if (top < 0 || (p->n_out == 1 && p->out[0].node == top))
        return false;
    p->out[0] = (struct output){ .node = top };
    p->n_out = 1;
    return true;
}

RED_PER_NODE(cut, 1)

bool red_cut_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct prog *p = &t->prog;
    bool any = false;

    (void)a;
    for (int i = from; i < to && i < p->n; i++) {
        struct node *n = &p->node[i];
        bool is_output = false;

        for (int k = 0; k < p->n_out; k++)
            is_output |= p->out[k].node == i;
        if (n->op == OP_INPUT || n->op == OP_CONST || is_output)
            continue;
        *n = (struct node){ .op = OP_INPUT, .dt = n->dt, .sh = n->sh, .name = n->name };
        any = true;
    }
    return any;
}

RED_PER_NODE(absorb, 1)

/* An expand that repeats nothing is a stride of 0 on its axes of size 1, and so can an input
 * have it. */
bool red_absorb_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct node *n = &t->prog.node[from];
    struct layout l = { .given = true };

    (void)to, (void)a;
    if (n->op != OP_EXPAND || shape_count(&n->sh) == 0 ||
        shape_count(&n->sh) != shape_count(&t->prog.node[n->arg[0].node].sh))
        return false;
    shape_strides(&n->sh, l.stride);
    for (int k = 0; k < n->sh.rank; k++)
        if (n->sh.dim[k] == 1)
            l.stride[k] = 0;
    *n =
        (struct node){ .op = OP_INPUT, .dt = n->dt, .sh = n->sh, .name = n->name, .layout = l };
    return true;
}

/* Hints: node x operand x whether steps that named the node pass on to its reader. */
enum { BYPASS_HINTS = 2 * MAX_ARGS };

RED_PER_NODE(bypass, BYPASS_HINTS)

static void bypass_node(struct prog *p, int node, int by)
{
    for (int i = node + 1; i < p->n; i++)
        for (int k = 0; k < p->node[i].n_arg; k++)
            if (p->node[i].arg[k].node == node)
                p->node[i].arg[k].node = by;
    for (int k = 0; k < p->n_out; k++) {
        bool twice = false;

        if (p->out[k].node != node)
            continue;
        for (int j = 0; j < p->n_out; j++)
            twice |= p->out[j].node == by;
        if (!twice)
            p->out[k] = (struct output){ .node = by };
    }
}

/* The node in whose kernel this one is computed, or which reads it through views. */
static int reader_of(const struct trial *t, int node)
{
    const struct prog *p = &t->prog;

    for (int i = 0; i < t->n_step; i++)
        if (t->step[i].kind == STEP_FUSE && t->step[i].node[0] == node)
            return t->step[i].node[1];
    for (int i = node + 1; i < p->n; i++)
        for (int k = 0; k < p->node[i].n_arg; k++)
            if (p->node[i].arg[k].node == node) {
                if (!op_is_view(p->node[i].op))
                    return i;
                node = i;
            }
    return -1;
}

/* fuse P NODE and fuse NODE C become fuse P C; other steps go on to C. */
static void steps_pass_on(struct trial *t, int node, int reader)
{
    for (int i = t->n_step - 1; i >= 0; i--) {
        struct step *st = &t->step[i];

        if (st->kind == STEP_FUSE && st->node[0] == node) {
            trial_drop_step(t, i);
            continue;
        }
        for (int k = 0; k < 2; k++)
            if (st->node[k] == node)
                st->node[k] = reader;
        for (int k = 0; k < st->n_axis; k++)
            if (st->axis[k].node == node)
                st->axis[k].node = reader;
    }
}

bool red_bypass_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct prog *p = &t->prog;
    int node = p->n - 1 - from / BYPASS_HINTS, k = from % BYPASS_HINTS / 2, by, reader;

    (void)to, (void)a;
    if (node < 0 || k >= p->node[node].n_arg)
        return false;
    by = p->node[node].arg[k].node;
    if (by < 0)
        return false;
    reader = reader_of(t, node);
    if (from % 2 == 0 && reader < 0)
        return false;
    if (from % 2 == 0)
        steps_pass_on(t, node, reader);
    bypass_node(p, node, by);
    return true;
}
