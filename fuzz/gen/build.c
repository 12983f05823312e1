/* Constructors of nodes: names, inference, hints, and the knobs that bound a trial. */
#include "fuzz/gen/build.h"

#include "base/bug.h"

/* Letters say at a glance what a line is: x input, v view, r reduction, ... */
static char letter(enum op op)
{
    switch (op_info(op)->class) {
    case OPC_SOURCE:
        return op == OP_INPUT ? 'x' : op == OP_CONST ? 'k' : 'j';
    case OPC_VIEW:
        return 'v';
    case OPC_COPY:
        return 'c';
    case OPC_REDUCE:
        return 'r';
    case OPC_MATMUL:
        return 'm';
    case OPC_CAST:
        return 't';
    case OPC_WHERE:
    case OPC_COMPARE:
        return 'w';
    case OPC_COMPOSITE:
        return 'z';
    case OPC_UNARY:
    case OPC_BINARY:
        return 'e';
    }
    return 'n';
}

void gen_give_up(struct gen *g)
{
    longjmp(g->again, 1);
}

bool gen_may(const struct gen *g, enum op op)
{
    return g->o->op[op] && gen_draws_op(op);
}

bool gen_room(const struct gen *g, int nodes)
{
    return g->n_line + nodes <= g->o->max_nodes && g->work < g->o->max_work;
}

enum { MAX_STACK = 5 };

struct node *gen_begin(struct gen *g, enum op op)
{
    struct node *n;

    if (op != OP_INPUT && !gen_may(g, op))
        gen_give_up(g);
    n = prog_add(g->p, g->a);
    n->op = op;
    n->n_arg = op_info(op)->n_arg;
    n->name = arena_printf(g->a, "%c%d", letter(op), g->p->n - 1);
    return n;
}

struct node *gen_begin_on(struct gen *g, enum op op, int x)
{
    struct node *n = gen_begin(g, op);

    n->arg[0] = NODE(x);
    return n;
}

/* Infers the node just begun; a trial that outgrows its knobs is given up. */
int gen_finish(struct gen *g, struct node *n)
{
    struct err e;
    int64_t terms;

    if (node_infer(g->p, n, &e))
        BUG("the generator made an illegal %s: %s", op_info(n->op)->name, e.msg);
    terms = node_terms(g->p, n);
    g->madds += terms;
    g->work += terms ? terms : shape_count(&n->sh);
    if (op_is_composite(n->op))
        g->work += composite_work(g, n);
    g->n_line += n->op != OP_INPUT && n->op != OP_CONST;
    if (shape_count(&n->sh) > g->o->max_elements || g->work > g->o->max_work ||
        g->n_line > 2 * g->o->max_nodes)
        gen_give_up(g);
    g->hint = arena_grow(g->a, g->hint, g->p->n - 1, &g->cap_hint, sizeof *g->hint);
    g->hint[g->p->n - 1] = hint_of(g, n);
    return g->p->n - 1;
}

int gen_input(struct gen *g, enum dtype dt, const struct shape *sh)
{
    struct node *n = gen_begin(g, OP_INPUT);
    int x;

    n->dt = dt;
    n->sh = *sh;
    if (rng_chance(&g->rng, 1, 5))
        layout_draw(&g->rng, sh, &n->layout);
    x = gen_finish(g, n);
    g->hint[x] = hint_input(dt, g->t->recipe);
    data_values(g, x);
    return x;
}

int gen_const(struct gen *g, enum dtype dt, double value)
{
    struct node *n = gen_begin(g, OP_CONST);

    n->dt = dt;
    n->value = value;
    return gen_finish(g, n);
}

int gen_iota(struct gen *g, enum dtype dt, const struct shape *sh, int axis)
{
    struct node *n = gen_begin(g, OP_IOTA);

    n->dt = dt;
    n->sh = *sh;
    n->axis = axis;
    return gen_finish(g, n);
}

int gen_unary(struct gen *g, enum op op, int x)
{
    return gen_finish(g, gen_begin_on(g, op, x));
}

int gen_binary(struct gen *g, enum op op, struct arg x, struct arg y)
{
    struct node *n = gen_begin(g, op);

    n->arg[0] = x;
    n->arg[1] = y;
    return gen_finish(g, n);
}

int gen_where(struct gen *g, int cond, struct arg x, struct arg y)
{
    struct node *n = gen_begin_on(g, OP_WHERE, cond);

    n->arg[1] = x;
    n->arg[2] = y;
    return gen_finish(g, n);
}

int gen_cast(struct gen *g, int x, enum dtype dt)
{
    struct node *n = gen_begin_on(g, OP_CAST, x);

    n->dt = dt;
    return gen_finish(g, n);
}

/* A tall stack of views that strides can't merge makes index expressions explode: it gets a
 * copy in between. */
static int grounded(struct gen *g, int x)
{
    int height = 0;

    for (int at = x; op_is_view(gen_at(g, at)->op); at = gen_at(g, at)->arg[0].node)
        height++;
    return height < MAX_STACK || !gen_may(g, OP_COPY) ? x : gen_unary(g, OP_COPY, x);
}

static struct node *begin_view(struct gen *g, enum op op, int x)
{
    return gen_begin_on(g, op, grounded(g, x));
}

int gen_permute(struct gen *g, int x, const int *perm)
{
    struct node *n = begin_view(g, OP_PERMUTE, x);

    for (int i = 0; i < gen_at(g, x)->sh.rank; i++)
        n->perm[i] = perm[i];
    return gen_finish(g, n);
}

int gen_reshape(struct gen *g, int x, const struct shape *sh)
{
    struct node *n = begin_view(g, OP_RESHAPE, x);

    n->sh = *sh;
    return gen_finish(g, n);
}

int gen_expand(struct gen *g, int x, const struct shape *sh)
{
    struct node *n = begin_view(g, OP_EXPAND, x);

    n->sh = *sh;
    return gen_finish(g, n);
}

int gen_with_axis(struct gen *g, int x)
{
    const struct shape one = { .rank = 1, .dim = { 1 } };

    return gen_at(g, x)->sh.rank ? x : gen_reshape(g, x, &one);
}

int gen_slice(struct gen *g, int x, const int64_t *lo, const int64_t *hi, const int64_t *by)
{
    struct node *n = begin_view(g, OP_SLICE, x);

    for (int i = 0; i < gen_at(g, x)->sh.rank; i++) {
        n->lo[i] = lo[i];
        n->hi[i] = hi[i];
        n->by[i] = by[i];
    }
    return gen_finish(g, n);
}

int gen_pad(struct gen *g, int x, const int64_t *before, const int64_t *after, double value)
{
    struct node *n = begin_view(g, OP_PAD, x);

    for (int i = 0; i < gen_at(g, x)->sh.rank; i++) {
        n->lo[i] = before[i];
        n->hi[i] = after[i];
    }
    n->value = value;
    return gen_finish(g, n);
}

int gen_roll(struct gen *g, int x, const int64_t *shift)
{
    struct node *n = begin_view(g, OP_ROLL, x);

    for (int i = 0; i < gen_at(g, x)->sh.rank; i++)
        n->lo[i] = shift[i];
    return gen_finish(g, n);
}

int gen_repeat(struct gen *g, int x, const int64_t *times)
{
    struct node *n = begin_view(g, OP_REPEAT, x);

    for (int i = 0; i < gen_at(g, x)->sh.rank; i++)
        n->by[i] = times[i];
    return gen_finish(g, n);
}

/* Now and then another accumulator than the dtype's own; a narrower one is not allowed. */
void gen_draw_acc(struct gen *g, struct node *n)
{
    enum dtype dt = gen_at(g, n->arg[0].node)->dt;
    bool half = dtype_info(dt)->bytes == 2;

    if (!op_takes_acc(n->op) || !dtype_is_float(dt) || dt == DT_F64 ||
        !rng_chance(&g->rng, 1, half ? 5 : 12))
        return;
    n->acc_given = true;
    n->acc = half && rng_chance(&g->rng, 1, 2) ? dt : DT_F64;
}

int gen_reduce(struct gen *g, enum op op, int x, uint32_t axes, bool keep)
{
    struct node *n = gen_begin_on(g, op, x);

    n->axes = axes;
    n->keep = keep;
    gen_draw_acc(g, n);
    return gen_finish(g, n);
}

int gen_matmul(struct gen *g, int x, int y)
{
    struct node *n = gen_begin_on(g, OP_MATMUL, x);

    n->arg[1] = NODE(y);
    gen_draw_acc(g, n);
    return gen_finish(g, n);
}

/* c < 0: without */
int gen_matmul_scaled(struct gen *g, int x, int y, int c, double alpha, double beta)
{
    struct node *n = gen_begin_on(g, OP_MATMUL, x);

    n->arg[1] = NODE(y);
    n->scaled = true;
    n->alpha = alpha;
    n->beta = c >= 0 ? beta : 1;
    if (c >= 0)
        n->arg[n->n_arg++] = NODE(c);
    gen_draw_acc(g, n);
    return gen_finish(g, n);
}

void gen_output(struct gen *g, int x)
{
    for (int i = 0; i < g->p->n_out; i++)
        if (g->p->out[i].node == x)
            return;
    prog_add_output(g->p, g->a)->node = x;
}

int gen_readers(const struct gen *g, int x)
{
    int n = 0;

    for (int i = 0; i < g->p->n; i++)
        for (int j = 0; j < g->p->node[i].n_arg; j++)
            n += g->p->node[i].arg[j].node == x;
    for (int i = 0; i < g->p->n_out; i++)
        n += g->p->out[i].node == x;
    return n;
}
