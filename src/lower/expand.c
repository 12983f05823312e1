#include "lower/expand.h"

#include <string.h>

#include "base/bug.h"

static struct node *add(struct expand *x, const char *part, enum op op, enum dtype dt)
{
    struct node *n = prog_add(&x->to->prog, x->l->arena);

    n->op = op;
    n->dt = dt;
    n->line = x->n->line;
    if (part[0] == '\0')
        n->name = x->n->name;
    else if (x->block_at >= 0)
        n->name = arena_printf(x->l->arena, "%s.%s%d", x->n->name, part, x->block_at);
    else
        n->name = arena_printf(x->l->arena, "%s.%s", x->n->name, part);
    return n;
}

static int done(struct expand *x, struct node *n)
{
    if (!x->failed && node_infer(&x->to->prog, n, &x->e))
        x->failed = true;
    return (int)(n - x->to->prog.node);
}

static void operand(struct node *n, int node)
{
    n->arg[n->n_arg].node = node;
    n->n_arg++;
}

static void literal(struct node *n, double lit)
{
    n->arg[n->n_arg].node = -1;
    n->arg[n->n_arg].lit = lit;
    n->n_arg++;
}

static enum dtype dtype_of(const struct expand *x, int node)
{
    return x->to->prog.node[node].dt;
}

const struct shape *expand_shape(const struct expand *x, int node)
{
    return &x->to->prog.node[node].sh;
}

int expand_operand(struct expand *x, int arg, const char *part)
{
    int node = x->map[x->n->arg[arg].node];

    return dtype_of(x, node) == x->dt ? node : expand_cast(x, part, node, x->dt);
}

int expand_unary(struct expand *x, const char *part, enum op op, int a)
{
    struct node *n = add(x, part, op, dtype_of(x, a));

    operand(n, a);
    return done(x, n);
}

int expand_binary(struct expand *x, const char *part, enum op op, int a, int b)
{
    struct node *n = add(x, part, op, dtype_of(x, a));

    operand(n, a);
    operand(n, b);
    return done(x, n);
}

int expand_literal(struct expand *x, const char *part, enum op op, int a, double lit)
{
    struct node *n = add(x, part, op, dtype_of(x, a));

    operand(n, a);
    literal(n, lit);
    return done(x, n);
}

int expand_where(struct expand *x, const char *part, int cond, int a, int b)
{
    struct node *n = add(x, part, OP_WHERE, dtype_of(x, a));

    operand(n, cond);
    operand(n, a);
    operand(n, b);
    return done(x, n);
}

int expand_unless(struct expand *x, const char *part, int cond, double lit, int b)
{
    struct node *n = add(x, part, OP_WHERE, dtype_of(x, b));

    operand(n, cond);
    literal(n, lit);
    operand(n, b);
    return done(x, n);
}

int expand_select(struct expand *x, const char *part, int cond, int a, double lit)
{
    struct node *n = add(x, part, OP_WHERE, dtype_of(x, a));

    operand(n, cond);
    operand(n, a);
    literal(n, lit);
    return done(x, n);
}

int expand_cast(struct expand *x, const char *part, int a, enum dtype dt)
{
    struct node *n = add(x, part, OP_CAST, dt);

    operand(n, a);
    return done(x, n);
}

int expand_reduce(struct expand *x, const char *part, enum op op, int a, uint32_t axes,
                  bool keep)
{
    struct node *n = add(x, part, op, dtype_of(x, a));

    operand(n, a);
    n->axes = axes;
    n->keep = keep;
    return done(x, n);
}

int expand_sum(struct expand *x, const char *part, int a, uint32_t axes)
{
    struct node *n = add(x, part, OP_SUM, dtype_of(x, a));

    operand(n, a);
    n->axes = axes;
    n->acc_given = true;
    n->acc = x->n->acc;
    return done(x, n);
}

int expand_matmul(struct expand *x, const char *part, int a, int b)
{
    return expand_binary(x, part, OP_MATMUL, a, b);
}

int expand_iota(struct expand *x, const char *part, const struct shape *sh, int axis)
{
    struct node *n = add(x, part, OP_IOTA, DT_I32);

    n->sh = *sh;
    n->axis = axis;
    return done(x, n);
}

int expand_to(struct expand *x, const char *part, int a, const struct shape *sh)
{
    struct node *n;

    if (part[0] && shape_equal(expand_shape(x, a), sh))
        return a;
    n = add(x, part, OP_EXPAND, dtype_of(x, a));
    operand(n, a);
    n->sh = *sh;
    return done(x, n);
}

int expand_reshape(struct expand *x, const char *part, int a, const struct shape *sh)
{
    struct node *n = add(x, part, OP_RESHAPE, dtype_of(x, a));

    operand(n, a);
    n->sh = *sh;
    return done(x, n);
}

int expand_permute(struct expand *x, const char *part, int a, const int *perm)
{
    struct node *n = add(x, part, OP_PERMUTE, dtype_of(x, a));

    operand(n, a);
    memcpy(n->perm, perm, sizeof n->perm);
    return done(x, n);
}

int expand_slice(struct expand *x, const char *part, int a, int axis, int64_t start, int64_t n)
{
    struct node *s = add(x, part, OP_SLICE, dtype_of(x, a));
    const struct shape *sh = expand_shape(x, a);

    operand(s, a);
    for (int d = 0; d < sh->rank; d++) {
        s->lo[d] = d == axis ? start : 0;
        s->hi[d] = d == axis ? start + n : sh->dim[d];
        s->by[d] = 1;
    }
    return done(x, s);
}

int expand_pad(struct expand *x, const char *part, int a, int axis, int64_t before,
               int64_t after)
{
    struct node *n = add(x, part, OP_PAD, dtype_of(x, a));

    operand(n, a);
    n->lo[axis] = before;
    n->hi[axis] = after;
    return done(x, n);
}

int expand_ranges(struct expand *x, const char *part, int a, const int64_t *lo,
                  const int64_t *hi, const int64_t *by)
{
    struct node *n = add(x, part, OP_SLICE, dtype_of(x, a));

    operand(n, a);
    memcpy(n->lo, lo, sizeof n->lo);
    memcpy(n->hi, hi, sizeof n->hi);
    memcpy(n->by, by, sizeof n->by);
    return done(x, n);
}

int expand_pads(struct expand *x, const char *part, int a, const int64_t *before,
                const int64_t *after)
{
    struct node *n = add(x, part, OP_PAD, dtype_of(x, a));

    operand(n, a);
    memcpy(n->lo, before, sizeof n->lo);
    memcpy(n->hi, after, sizeof n->hi);
    return done(x, n);
}

int expand_one(struct expand *x, const char *part, enum dtype dt)
{
    struct node *n = add(x, part, OP_CONST, dt);

    n->value = 1;
    return done(x, n);
}

const char *expand_last(const struct expand *x)
{
    return x->dt == x->n->dt ? "" : "wide";
}

void expand_narrow(struct expand *x, int a)
{
    x->block_at = -1;
    if (x->dt != x->n->dt)
        expand_cast(x, "", a, x->n->dt);
}

void expand_final(struct expand *x, enum op op, int a, int b)
{
    const char *last = expand_last(x);

    expand_narrow(x, b < 0 ? expand_unary(x, last, op, a) : expand_binary(x, last, op, a, b));
}
