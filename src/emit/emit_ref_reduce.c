/*
 * Reductions and matmul of a repro's reference: an accumulator inside the loops of the
 * result, round the loops of the reduced axes.
 */
#include <inttypes.h>
#include <math.h>

#include "emit/refgen.h"

static double identity(enum op op, enum dtype dt)
{
    if (op == OP_MAX)
        return dtype_is_float(dt) ? -HUGE_VAL : INT32_MIN;
    if (op == OP_MIN)
        return dtype_is_float(dt) ? HUGE_VAL : INT32_MAX;
    return op == OP_PROD ? 1 : 0;
}

/* How ieee keeps what a bound needs, all terms in one struct; everything else is joined in
 * pairs. */
struct keeper {
    const char *type, *term, *total;
};

static const struct keeper sum_keeper = { "struct r_sum", "r_term", "r_total(&a)" };
static const struct keeper prod_keeper = { "struct r_prod", "r_factor", "r_multiplied(&a)" };

static const struct keeper *keeper_of(const struct refgen *g, const struct node *n)
{
    if (g->al == AL_RING || !dtype_is_float(n->dt) || n->op == OP_MAX || n->op == OP_MIN)
        return NULL;
    return n->op == OP_PROD ? &prod_keeper : &sum_keeper;
}

static void open_accumulator(struct refgen *g, const struct node *n)
{
    const struct keeper *k = keeper_of(g, n);

    str_puts(g->s, n->sh.rank ? " {" : "");
    if (!n->sh.rank) {
        ref_line(g);
        str_puts(g->s, "{");
        g->depth++;
    }
    ref_line(g);
    if (k) {
        str_add(g->s, "%s a = { 0 };\n", k->type);
    } else {
        str_puts(g->s, "val a = ");
        ref_put_literal(g, n->acc, identity(n->op, n->acc));
        str_puts(g->s, ";\n");
    }
}

/* "r_add(r_mul(alpha, total), r_mul(beta, c))", and less where less is asked for */
static void put_scaled(struct refgen *g, const struct node *n, const struct coord *at,
                       const char *total)
{
    bool is_real = dtype_is_float(n->dt), adds = n->n_arg == 3 && n->beta != 0;
    const char *add = is_real ? "r_add(" : "r_iadd(", *mul = is_real ? "r_mul(" : "r_imul(";

    if (adds && n->alpha != 0)
        str_puts(g->s, add);
    if (n->alpha != 1 && n->alpha != 0) {
        str_puts(g->s, mul);
        ref_put_literal(g, n->acc, n->alpha);
        str_add(g->s, ", %s)", total);
    } else if (n->alpha != 0 || !adds) {
        str_puts(g->s, n->alpha == 0 ? "r_num(0)" : total);
    }
    if (!adds)
        return;
    str_puts(g->s, n->alpha != 0 ? ", " : "");
    if (n->beta != 1) {
        str_puts(g->s, mul);
        ref_put_literal(g, n->acc, n->beta);
        str_puts(g->s, ", ");
    }
    ref_put_node(g, n->arg[2].node, at);
    str_puts(g->s, n->beta != 1 ? ")" : "");
    str_puts(g->s, n->alpha != 0 ? ")" : "");
}

static void close_accumulator(struct refgen *g, int node, const struct coord *at, int64_t terms)
{
    const struct node *n = &g->p->node[node];
    const struct keeper *k = keeper_of(g, n);
    const char *total = k ? k->total : "a",
               *to = dtype_is_float(n->dt) && (k || g->al == AL_RING) ? ref_to(g, n->acc, n->dt)
                                                                      : "";

    g->depth = n->sh.rank ? n->sh.rank : 1;
    ref_assign(g, node, at);
    str_puts(g->s, to);
    if (n->op == OP_MEAN)
        str_add(g->s, "r_mean(%s, %" PRId64 ")", total, terms);
    else if (n->op == OP_MATMUL)
        put_scaled(g, n, at, total);
    else
        str_puts(g->s, total);
    str_puts(g->s, *to ? ");" : ";");
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

    if (dtype_is_float(n->dt))
        ref_compute_in(g, n->acc);
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
    if (keeper_of(g, n))
        str_add(g->s, "%s(&a, ", keeper_of(g, n)->term);
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
    bool kept = keeper_of(g, n) != NULL;
    int k = in->rank - 1;

    if (dtype_is_float(n->dt))
        ref_compute_in(g, n->acc);
    ref_open_result(g, n, at);
    for (int a = 0; a <= k; a++)
        x[a] = y[a] = at[a];
    x[k] = y[k - 1] = coord_var('r', 0);
    open_accumulator(g, n);
    ref_open_loop(g, 'r', 0, in->dim[k]);
    ref_line(g);
    if (kept)
        str_puts(g->s, "r_product(&a, ");
    else
        str_puts(g->s, dtype_is_float(n->dt) ? "a = r_add(a, r_mul(" : "a = r_iadd(a, r_imul(");
    ref_put_node(g, n->arg[0].node, x);
    str_puts(g->s, ", ");
    ref_put_node(g, n->arg[1].node, y);
    str_puts(g->s, kept ? ");" : "));");
    close_accumulator(g, node, at, 0);
}
