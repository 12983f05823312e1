/*
 * Reducers over what nodes compute: simpler ops, simpler views, literals in place of
 * operands, plain numbers in place of odd ones.
 */
#include "fuzz/min/reduce.h"

/* Simpler ops of one kind, in the order in which they are tried; OP_COUNT ends. */
static const enum op *simpler(const struct node *n)
{
    static const enum op unary[] = { OP_NEG, OP_COUNT };
    static const enum op binary[] = { OP_ADD, OP_COUNT };
    static const enum op logic[] = { OP_AND, OP_COUNT };
    static const enum op compare[] = { OP_LT, OP_COUNT };
    static const enum op reduce[] = { OP_SUM, OP_MAX, OP_COUNT };
    static const enum op none[] = { OP_COUNT };

    switch (op_info(n->op)->class) {
    case OPC_UNARY:
        return unary;
    case OPC_BINARY:
        return n->dt == DT_BOOL ? logic : binary;
    case OPC_COMPARE:
        return n->op == OP_EQ ? none : compare;
    case OPC_REDUCE:
        return reduce;
    case OPC_SOURCE:
    case OPC_VIEW:
    case OPC_WHERE:
    case OPC_CAST:
    case OPC_COPY:
    case OPC_MATMUL:
    case OPC_COMPOSITE:
        break;
    }
    return none;
}

/* Hints of one node: a copy of each operand, two ops; a matmul without its addend, with alpha
 * or beta 1; a reduction without the axes it keeps, the plain accumulator. */
enum { OP_HINTS = MAX_ARGS + 7 };

RED_PER_NODE(ops, OP_HINTS)

/* Only where an operand has the result's shape and dtype already. */
static bool copy_of_operand(const struct prog *p, struct node *n, int k)
{
    const struct node *x;

    if (n->op == OP_COPY || k >= n->n_arg || n->arg[k].node < 0)
        return false;
    x = &p->node[n->arg[k].node];
    if (x->dt != n->dt || !shape_equal(&x->sh, &n->sh))
        return false;
    n->op = OP_COPY;
    n->acc_given = false;
    n->arg[0] = n->arg[k];
    n->n_arg = 1;
    return true;
}

static bool matmul_plain(struct node *n, int hint)
{
    double *v = hint == 1 ? &n->alpha : &n->beta;

    if (n->op != OP_MATMUL || (hint != 1 && n->n_arg < 3))
        return false;
    if (hint == 0) {
        n->n_arg = 2;
        n->beta = 1;
        return true;
    }
    if (*v == 1)
        return false;
    *v = 1;
    return true;
}

bool red_ops_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct node *n = &t->prog.node[from / OP_HINTS];
    int hint = from % OP_HINTS;
    const enum op *list = simpler(n);
    bool kept = n->keep, acc = n->acc_given;

    (void)to, (void)a;
    if (hint < MAX_ARGS)
        return copy_of_operand(&t->prog, n, hint);
    if (hint >= MAX_ARGS + 2 && hint < MAX_ARGS + 5)
        return matmul_plain(n, hint - MAX_ARGS - 2);
    if (hint == OP_HINTS - 2) {
        n->keep = false;
        return kept;
    }
    if (hint == OP_HINTS - 1) {
        n->acc_given = false;
        return acc;
    }
    for (int i = 0; list[i] != OP_COUNT && list[i] != n->op; i++)
        if (i == hint - MAX_ARGS) {
            n->op = list[i];
            n->acc_given = acc && op_takes_acc(n->op);
            return true;
        }
    return false;
}

/* Hints of one view: as a permute, merged with the permute below; per axis: step 1 (shift
 * 1), start 0 (shift 0). */
enum { VIEW_HINTS = 1 + 2 * MAX_RANK };

RED_PER_NODE(views, VIEW_HINTS)

static bool permute_merge(struct prog *p, struct node *n)
{
    const struct node *below = &p->node[n->arg[0].node];

    if (n->op != OP_PERMUTE || below->op != OP_PERMUTE)
        return false;
    for (int a = 0; a < n->sh.rank; a++)
        n->perm[a] = below->perm[n->perm[a]];
    n->arg[0] = below->arg[0];
    return true;
}

/* keeps the number of elements */
static bool slice_plain(struct node *n, int a, bool start)
{
    int64_t count, sign = n->by[a] < 0 ? -1 : 1;

    if ((n->op != OP_SLICE && n->op != OP_ASSIGN) || a >= n->sh.rank)
        return false;
    count = range_count(n->lo[a], n->hi[a], n->by[a]);
    if (count == 0)
        return false;
    if (start) {
        int64_t lo = sign > 0 ? 0 : -n->by[a] * (count - 1);

        if (n->lo[a] == lo)
            return false;
        n->lo[a] = lo;
    } else if (n->by[a] == sign) {
        return false;
    } else {
        n->by[a] = sign;
    }
    n->hi[a] = n->lo[a] + n->by[a] * (count - 1) + sign;
    return true;
}

static bool roll_plain(struct node *n, int a, int64_t shift)
{
    if (a >= n->sh.rank || n->lo[a] == 0 || n->lo[a] == shift)
        return false;
    n->lo[a] = shift;
    return true;
}

bool red_views_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct node *n = &t->prog.node[from / VIEW_HINTS];
    int hint = from % VIEW_HINTS;

    (void)to, (void)a;
    if (!op_is_view(n->op) && n->op != OP_ASSIGN)
        return false;
    if (hint == 0)
        return permute_merge(&t->prog, n);
    if (n->op == OP_ROLL)
        return roll_plain(n, (hint - 1) / 2, hint % 2);
    return slice_plain(n, (hint - 1) / 2, hint % 2 == 0);
}

/* Hints of one operand: the literal 1, then each earlier input of its shape and dtype. */
enum { OPERAND_HINTS = 4 };

RED_PER_NODE(operands, (MAX_ARGS * OPERAND_HINTS))

static bool operand_literal(struct node *n, int k)
{
    int tensors = 0;

    for (int i = 0; i < n->n_arg; i++)
        tensors += n->arg[i].node >= 0 && !(n->op == OP_WHERE && i == 0);
    if (tensors < 2 || n->op == OP_MATMUL ||
        (op_is_composite(n->op) && (n->op != OP_ASSIGN || k == 0)) ||
        (n->op == OP_WHERE && k == 0))
        return false;
    n->arg[k] = (struct arg){ .node = -1, .lit = 1 };
    return true;
}

static bool operand_equal(struct prog *p, struct node *n, int k, int hint)
{
    int old = n->arg[k].node;

    for (int i = 0; i < old; i++) {
        const struct node *by = &p->node[i];

        if (by->op != OP_INPUT || by->dt != p->node[old].dt ||
            !shape_equal(&by->sh, &p->node[old].sh) || hint-- > 0)
            continue;
        n->arg[k].node = i;
        return true;
    }
    return false;
}

bool red_operands_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct node *n = &t->prog.node[from / OPERAND_HINTS / MAX_ARGS];
    int k = from / OPERAND_HINTS % MAX_ARGS, hint = from % OPERAND_HINTS;

    (void)to, (void)a;
    if (k >= n->n_arg || n->arg[k].node < 0)
        return false;
    if (hint == 0)
        return operand_literal(n, k);
    return operand_equal(&t->prog, n, k, hint - 1);
}

/* The number that stands on the node's own line, NULL = none. */
static double *own_number(struct node *n)
{
    if (n->op == OP_CONST || n->op == OP_PAD)
        return &n->value;
    if (n->op == OP_ATTENTION)
        return &n->scale;
    return n->op == OP_LAYERNORM || n->op == OP_RMSNORM ? &n->eps : NULL;
}

/* Hints of one node: its own number and its literals, each 1, then 0. */
enum { LITERAL_HINTS = 2 * (1 + MAX_ARGS) };

RED_PER_NODE(literals, LITERAL_HINTS)

bool red_literals_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct node *n = &t->prog.node[from / LITERAL_HINTS];
    int which = from % LITERAL_HINTS / 2;
    double *v = NULL, by = from % 2 == 0 ? 1 : 0;

    (void)to, (void)a;
    if (which == 0)
        v = own_number(n);
    else if (which > 0 && which <= n->n_arg && n->arg[which - 1].node < 0)
        v = &n->arg[which - 1].lit;
    if (!v || *v == 0 || *v == by || (by == 0 && *v == 1))
        return false;
    *v = by;
    return true;
}
