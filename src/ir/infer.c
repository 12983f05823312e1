/*
 * Shapes and dtypes of nodes, and everything about one line that the grammar can't say.
 * One function per op class; the first fault found is reported with the part of the line
 * where it stands.
 */
#include "ir/infer.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/bug.h"

int infer_fault(struct infer *f, int part, const char *fmt, ...)
{
    char msg[sizeof f->e->msg];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    f->part = part;
    return err_at(f->e, ERR_INPUT, f->n->line, 0, "%s", msg);
}

const struct node *infer_operand(const struct infer *f, int k)
{
    return &f->p->node[f->n->arg[k].node];
}

static const char *op_name(const struct infer *f)
{
    return op_info(f->n->op)->name;
}

struct shown infer_shown(const struct shape *s)
{
    struct shown t;

    shape_print(s, t.s, sizeof t.s);
    return t;
}

struct shown dtypes_list(void)
{
    struct shown t = { "" };
    int at = 0;

    for (int d = 0; d < DT_COUNT; d++)
        if (dtype_info((enum dtype)d)->ready)
            at += snprintf(t.s + at, sizeof t.s - (size_t)at, "%s%s", at ? ", " : "",
                           dtype_info((enum dtype)d)->name);
    return t;
}

static struct shown dtypes_shown(enum op op)
{
    struct shown t = { "" };
    int at = 0;

    for (int d = 0; d < DT_COUNT; d++)
        if (dtype_info((enum dtype)d)->ready && op_takes(op, (enum dtype)d))
            at += snprintf(t.s + at, sizeof t.s - (size_t)at, "%s%s", at ? ", " : "",
                           dtype_info((enum dtype)d)->name);
    return t;
}

static int check_ready(struct infer *f, enum dtype dt)
{
    if ((unsigned)dt >= DT_COUNT)
        return infer_fault(f, PART_DTYPE, "unknown dtype; expected one of %s", dtypes_list().s);
    if (!dtype_info(dt)->ready)
        return infer_fault(f, PART_DTYPE, "dtype %s is not taken; expected one of %s",
                           dtype_info(dt)->name, dtypes_list().s);
    return 0;
}

/* The operand's dtype is one that the op takes. */
int infer_check_taken(struct infer *f, int k)
{
    enum dtype dt = infer_operand(f, k)->dt;

    if (op_takes(f->n->op, dt))
        return 0;
    return infer_fault(f, PART_ARG + k, "%s of %s; expected %s", op_name(f),
                       dtype_info(dt)->name, dtypes_shown(f->n->op).s);
}

/* Operand k has the dtype of operand 0. */
int infer_check_same(struct infer *f, int k)
{
    const struct node *x = infer_operand(f, 0), *y = infer_operand(f, k);

    if (y->dt == x->dt)
        return 0;
    return infer_fault(f, PART_ARG + k, "operand of dtype %s beside %s; expected equal dtypes",
                       dtype_info(y->dt)->name, dtype_info(x->dt)->name);
}

int infer_check_shape(struct infer *f, const struct shape *s, int part)
{
    int64_t n = 1;

    if (s->rank < 0 || s->rank > MAX_RANK)
        return infer_fault(f, part, "rank %d; expected at most %d", s->rank, MAX_RANK);
    for (int i = 0; i < s->rank; i++) {
        int64_t d = s->dim[i];

        if (d < 0 || d > MAX_ELEMENTS)
            return infer_fault(f, part == PART_LIST ? PART_ITEM + i : part,
                               "size %lld; expected 0 to %lld", (long long)d,
                               (long long)MAX_ELEMENTS);
        n *= d > 1 ? d : 1;
        if (n > MAX_ELEMENTS)
            return infer_fault(f, part, "%s has too many elements; expected at most %lld",
                               infer_shown(s).s, (long long)MAX_ELEMENTS);
    }
    return 0;
}

static int check_layout(struct infer *f)
{
    const struct shape *sh = &f->n->sh;
    const struct layout *l = &f->n->layout;

    if (!l->given)
        return 0;
    if (l->offset < 0 || l->offset > MAX_ELEMENTS)
        return infer_fault(f, PART_OFFSET, "offset %lld; expected 0 to %lld",
                           (long long)l->offset, (long long)MAX_ELEMENTS);
    for (int i = 0; i < sh->rank; i++)
        if (l->stride[i] < 0 || l->stride[i] > MAX_ELEMENTS)
            return infer_fault(f, PART_STRIDES, "stride %lld; expected 0 to %lld",
                               (long long)l->stride[i], (long long)MAX_ELEMENTS);
    if (layout_storage(l, sh) > MAX_ELEMENTS)
        return infer_fault(f, PART_STRIDES,
                           "the layout spans %lld elements of storage; expected at most %lld",
                           (long long)layout_storage(l, sh), (long long)MAX_ELEMENTS);
    return 0;
}

static int infer_source(struct infer *f)
{
    struct node *n = f->n;
    const char *want;

    if (check_ready(f, n->dt))
        return f->e->code;
    if (n->op == OP_CONST) {
        n->sh.rank = 0;
        want = literal_fault(n->dt, &n->value);
        return want ? infer_fault(f, PART_VALUE, "value out of range; expected %s", want) : 0;
    }
    if (infer_check_shape(f, &n->sh, PART_LIST))
        return f->e->code;
    if (n->op == OP_INPUT)
        return check_layout(f);
    if (!op_takes(OP_IOTA, n->dt))
        return infer_fault(f, PART_DTYPE, "iota of %s; expected %s", dtype_info(n->dt)->name,
                           dtypes_shown(OP_IOTA).s);
    if (n->axis < 0 || n->axis >= n->sh.rank)
        return infer_fault(f, PART_AXIS, "axis %d of shape %s; expected 0 to rank - 1", n->axis,
                           infer_shown(&n->sh).s);
    return 0;
}

/* Unary, binary, compare, where, cast, copy: equal shapes, equal dtypes, literals fit in. */
static int infer_elementwise(struct infer *f)
{
    struct node *n = f->n;
    int first = n->op == OP_WHERE ? 1 : 0, lead = -1;
    const struct node *x;

    for (int k = n->n_arg - 1; k >= first; k--)
        if (n->arg[k].node >= 0)
            lead = k;
    if (lead < 0)
        return infer_fault(f, PART_ARG + first,
                           "%s of literals only; expected at least one tensor", op_name(f));
    if (first && n->arg[0].node < 0)
        return infer_fault(f, PART_ARG, "a literal condition; expected a bool tensor");
    if (first && infer_operand(f, 0)->dt != DT_BOOL)
        return infer_fault(f, PART_ARG, "condition of dtype %s; expected bool",
                           dtype_info(infer_operand(f, 0)->dt)->name);
    x = infer_operand(f, lead);
    if (infer_check_taken(f, lead))
        return f->e->code;
    for (int k = 0; k < n->n_arg; k++) {
        struct arg *a = &n->arg[k];
        const char *want;

        if (a->node < 0) {
            want = literal_fault(x->dt, &a->lit);
            if (want)
                return infer_fault(f, PART_ARG + k, "literal out of range; expected %s", want);
            continue;
        }
        if (k >= first && infer_operand(f, k)->dt != x->dt)
            return infer_fault(f, PART_ARG + k,
                               "operand of dtype %s beside %s; expected equal "
                               "dtypes",
                               dtype_info(infer_operand(f, k)->dt)->name,
                               dtype_info(x->dt)->name);
        if (!shape_equal(&infer_operand(f, k)->sh, &x->sh))
            return infer_fault(f, PART_ARG + k,
                               "operand of shape %s beside %s; expected equal "
                               "shapes (expand the smaller one)",
                               infer_shown(&infer_operand(f, k)->sh).s, infer_shown(&x->sh).s);
    }
    n->sh = x->sh;
    if (n->op == OP_CAST)
        return check_ready(f, n->dt);
    n->dt = op_info(n->op)->out[0] == 'B' ? DT_BOOL : x->dt;
    return 0;
}

/* Operands exist, stand before the node, and are tensors where they have to be. */
static int check_operands(struct infer *f)
{
    struct node *n = f->n;
    enum op_class class = op_info(n->op)->class;
    bool literals = class == OPC_BINARY || class == OPC_COMPARE || class == OPC_WHERE;
    int before = f->p->n;

    if (n >= f->p->node && n < f->p->node + f->p->n)
        before = (int)(n - f->p->node);
    if (n->n_arg != op_info(n->op)->n_arg && !(n->op == OP_ATTENTION && n->n_arg == 4) &&
        !(n->op == OP_MATMUL && n->n_arg == 3))
        return infer_fault(f, PART_OP, "%d operands of %s; expected %d", n->n_arg, op_name(f),
                           op_info(n->op)->n_arg);
    for (int k = 0; k < n->n_arg; k++) {
        if (n->arg[k].node >= before)
            return infer_fault(f, PART_ARG + k,
                               "operand %d of %s stands after it; expected an "
                               "earlier node",
                               k, n->name);
        if (n->arg[k].node < 0 && !literals && !(n->op == OP_ASSIGN && k == 1))
            return infer_fault(f, PART_ARG + k, "%s of a literal; expected a tensor",
                               op_name(f));
    }
    return 0;
}

/* Ops whose inference has set acc. */
static bool has_acc(enum op op)
{
    return op_is_reduce(op) || op_is_composite(op);
}

int node_check(const struct prog *p, struct node *n, enum part *part, struct err *e)
{
    struct infer f = { .p = p, .n = n, .part = PART_OP, .e = e };
    int rc;

    if ((unsigned)n->op >= OP_COUNT)
        BUG("op %d", (int)n->op);
    rc = check_operands(&f);
    if (rc == 0) {
        switch (op_info(n->op)->class) {
        case OPC_SOURCE:
            rc = infer_source(&f);
            break;
        case OPC_VIEW:
            rc = infer_view(&f);
            break;
        case OPC_UNARY:
        case OPC_BINARY:
        case OPC_COMPARE:
        case OPC_WHERE:
        case OPC_CAST:
        case OPC_COPY:
            rc = infer_elementwise(&f);
            break;
        case OPC_REDUCE:
            rc = infer_reduce(&f);
            break;
        case OPC_MATMUL:
            rc = infer_matmul(&f);
            break;
        case OPC_COMPOSITE:
            rc = infer_composite(&f);
            break;
        }
        if (rc == 0 && n->op != OP_MATMUL)
            n->scaled = false;
        if (rc == 0 && !has_acc(n->op)) {
            n->acc_given = false;
            n->acc = n->dt;
        }
    }
    *part = (enum part)f.part;
    return rc;
}

int node_infer(const struct prog *p, struct node *n, struct err *e)
{
    enum part part;

    return node_check(p, n, &part, e);
}
