/*
 * Reductions and matmul of a repro's reference: an accumulator inside the loops of the
 * result, round the loops of the reduced axes.
 */
#include <inttypes.h>
#include <math.h>

#include "emit/refgen.h"

static double identity(enum op op, enum dtype dt)
{
    bool f32 = dt == DT_F32;

    if (op == OP_MAX)
        return f32 ? -HUGE_VAL : INT32_MIN;
    return op != OP_MIN ? 0 : f32 ? HUGE_VAL : INT32_MAX;
}

/* In ieee a sum of f32 keeps what its bound needs; everything else is joined in pairs. */
static bool keeps_sum(const struct refgen *g, const struct node *n)
{
    return g->al == AL_IEEE && n->dt == DT_F32 && n->op != OP_MAX && n->op != OP_MIN;
}

static void open_accumulator(struct refgen *g, const struct node *n)
{
    str_puts(g->s, n->sh.rank ? " {" : "");
    if (!n->sh.rank) {
        ref_line(g);
        str_puts(g->s, "{");
        g->depth++;
    }
    ref_line(g);
    if (keeps_sum(g, n)) {
        str_puts(g->s, "struct r_sum a = { 0 };\n");
    } else {
        str_puts(g->s, "val a = ");
        ref_put_literal(g, n->dt, identity(n->op, n->dt));
        str_puts(g->s, ";\n");
    }
}

static void close_accumulator(struct refgen *g, int node, const struct coord *at, int64_t terms)
{
    const struct node *n = &g->p->node[node];
    const char *sum = keeps_sum(g, n) ? "r_total(&a)" : "a";

    g->depth = n->sh.rank ? n->sh.rank : 1;
    ref_assign(g, node, at);
    if (n->op == OP_MEAN)
        str_add(g->s, "r_mean(%s, %" PRId64 ");", sum, terms);
    else
        str_add(g->s, "%s;", sum);
    g->depth--;
    ref_line(g);
    str_puts(g->s, "}");
}

void ref_reduction(struct refgen *g, int node)
{
    const struct node *n = &g->p->node[node];
    const struct shape *in = &g->p->node[n->arg[0].node].sh;
    struct coord at[MAX_RANK], from[MAX_RANK];
    int64_t terms = 1;
    int red = 0, out = 0;

    ref_open_result(g, n, at);
    open_accumulator(g, n);
    for (int a = 0; a < in->rank; a++) {
        if (!(n->axes >> a & 1)) {
            from[a] = coord_var('i', out++);
            continue;
        }
        ref_open_loop(g, 'r', red, in->dim[a]);
        from[a] = coord_var('r', red++);
        terms *= in->dim[a];
        out += n->keep;
    }
    ref_line(g);
    if (keeps_sum(g, n))
        str_puts(g->s, "r_term(&a, ");
    else
        str_add(g->s, "a = %s(a, ", ref_function(n->op, n->dt));
    ref_put_node(g, n->arg[0].node, from);
    str_puts(g->s, ");");
    close_accumulator(g, node, at, terms);
}

void ref_matmul(struct refgen *g, int node)
{
    const struct node *n = &g->p->node[node];
    const struct shape *in = &g->p->node[n->arg[0].node].sh;
    struct coord at[MAX_RANK], x[MAX_RANK], y[MAX_RANK];
    int k = in->rank - 1;

    ref_open_result(g, n, at);
    for (int a = 0; a <= k; a++)
        x[a] = y[a] = at[a];
    x[k] = y[k - 1] = coord_var('r', 0);
    open_accumulator(g, n);
    ref_open_loop(g, 'r', 0, in->dim[k]);
    ref_line(g);
    if (keeps_sum(g, n))
        str_puts(g->s, "r_product(&a, ");
    else
        str_puts(g->s, n->dt == DT_F32 ? "a = r_add(a, r_mul(" : "a = r_iadd(a, r_imul(");
    ref_put_node(g, n->arg[0].node, x);
    str_puts(g->s, ", ");
    ref_put_node(g, n->arg[1].node, y);
    str_puts(g->s, keeps_sum(g, n) ? ");" : "));");
    close_accumulator(g, node, at, 0);
}
