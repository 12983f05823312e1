/*
 * The reference of a repro as C text: the program node by node, every view copied element
 * by element from its definition, no view algebra, no fusion. What the functions r_..
 * compute, values with bounds or ring words, is in ref.def.
 */
#include "emit/ref.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"
#include "emit/cgen.h"
#include "emit/refgen.h"
#include "ir/data.h"
#include "ir/text.h"

#define SAME NULL
static const struct piece rows[] = {
#define PIECE(name, ieee, ring) { name, sizeof name - 1, { ieee, ring } },
#include "emit/ref.def"
#include "emit/ref_composite.def"
#undef PIECE
};
const struct pieces ref_pieces = { rows, ARRAY_LEN(rows) };

static const struct coord coord_zero = { 'i', 0, 0, 0, 0 };

/* ARRAY[sum of stride * coordinate + offset] */
static void put_at(struct refgen *g, const char *prefix, const char *name, int rank,
                   const struct coord *at, const int64_t *stride, int64_t offset)
{
    bool any = false;

    str_add(g->s, "%s_%s[", prefix, name);
    for (int a = 0; a < rank; a++) {
        int64_t by = at[a].mod ? stride[a] : at[a].by * stride[a];

        offset += at[a].mod ? 0 : at[a].add * stride[a];
        if (by == 0)
            continue;
        str_puts(g->s, any ? (by < 0 ? " - " : " + ") : by < 0 ? "-" : "");
        if (by != 1 && by != -1)
            str_add(g->s, "%" PRId64 "*", by < 0 ? -by : by);
        if (at[a].mod)
            str_add(g->s, "((%c%d + %" PRId64 ") %% %" PRId64 ")", at[a].role, at[a].num,
                    at[a].add, at[a].mod);
        else
            str_add(g->s, "%c%d", at[a].role, at[a].num);
        any = true;
    }
    if (!any)
        str_add(g->s, "%" PRId64, offset);
    else if (offset)
        str_add(g->s, " %c %" PRId64, offset < 0 ? '-' : '+', offset < 0 ? -offset : offset);
    str_puts(g->s, "]");
}

/* Element at[] of node `node`, stored densely. */
void ref_put_node(struct refgen *g, int node, const struct coord *at)
{
    const struct node *n = &g->p->node[node];
    int64_t stride[MAX_RANK];

    shape_strides(&n->sh, stride);
    put_at(g, "w", n->name, n->sh.rank, at, stride, 0);
}

void ref_put_literal(struct refgen *g, enum dtype dt, double v)
{
    str_puts(g->s, "r_num(");
    if (!dtype_is_float(dt))
        str_add(g->s, "%" PRId64, dt == DT_BOOL ? (int64_t)(v != 0) : (int64_t)v);
    else if (g->al == AL_RING)
        str_add(g->s, "0x%x", (unsigned)(ring_literal(v) & (dtype_is_half(dt) ? 0xffff : ~0u)));
    else
        cgen_real(g->s, dt, v, "INFINITY", "NAN");
    str_puts(g->s, ")");
}

void ref_compute_in(struct refgen *g, enum dtype dt)
{
    if (g->al == AL_RING || dt == g->as)
        return;
    g->as = dt;
    ref_line(g);
    str_add(g->s, "r_as = &R_%s;",
            dt == DT_F64    ? "F64"
            : dt == DT_F16  ? "F16"
            : dt == DT_BF16 ? "BF16"
                            : "F32");
}

/* Widening changes nothing; in ring nothing does but cutting off the high half. */
const char *ref_to(const struct refgen *g, enum dtype from, enum dtype dt)
{
    static const char *const to[DT_COUNT] = { [DT_F32] = "r_to_f32(",
                                              [DT_F64] = "r_to_f64(",
                                              [DT_F16] = "r_to_f16(",
                                              [DT_BF16] = "r_to_bf16(" };

    if (g->al == AL_RING)
        return dtype_is_half(dt) ? to[dt] : "";
    if (from == dt || dt == DT_F64 || (dt == DT_F32 && dtype_is_half(from)))
        return "";
    return to[dt];
}

void ref_line(struct refgen *g)
{
    str_puts(g->s, "\n");
    for (int i = 0; i <= g->depth; i++)
        str_puts(g->s, "    ");
}

void ref_open_loop(struct refgen *g, char role, int num, int64_t extent)
{
    ref_line(g);
    str_add(g->s, "for (long %c%d = 0; %c%d < %" PRId64 "; %c%d++)", role, num, role, num,
            extent, role, num);
    g->depth++;
}

/* One loop an axis of the result; its element is then at i0, i1, .. */
void ref_open_result(struct refgen *g, const struct node *n, struct coord *at)
{
    for (int a = 0; a < n->sh.rank; a++) {
        ref_open_loop(g, 'i', a, n->sh.dim[a]);
        at[a] = coord_var('i', a);
    }
}

/* The functions for floats and for i32 and bool, NULL = none. */
static const struct {
    const char *real, *word;
} function[OP_COUNT] = {
    [OP_NEG] = { "r_neg", "r_ineg" },
    [OP_ABS] = { "r_abs", "r_iabs" },
    [OP_EXP] = { "r_exp", NULL },
    [OP_EXP2] = { "r_exp2", NULL },
    [OP_LOG] = { "r_log", NULL },
    [OP_TANH] = { "r_tanh", NULL },
    [OP_ERF] = { "r_erf", NULL },
    [OP_RECIP] = { "r_recip", NULL },
    [OP_SQRT] = { "r_sqrt", NULL },
    [OP_RSQRT] = { "r_rsqrt", NULL },
    [OP_NOT] = { NULL, "r_not" },
    [OP_ADD] = { "r_add", "r_iadd" },
    [OP_SUB] = { "r_sub", "r_isub" },
    [OP_MUL] = { "r_mul", "r_imul" },
    [OP_DIV] = { "r_div", "r_idiv" },
    [OP_MAX2] = { "r_max", "r_imax" },
    [OP_MIN2] = { "r_min", "r_imin" },
    [OP_AND] = { NULL, "r_and" },
    [OP_OR] = { NULL, "r_or" },
    [OP_LT] = { "r_lt", "r_lt" },
    [OP_LE] = { "r_le", "r_le" },
    [OP_EQ] = { "r_eq", "r_eq" },
    [OP_WHERE] = { "r_where", "r_where" },
    [OP_SUM] = { "r_add", "r_iadd" },
    [OP_PROD] = { "r_mul", "r_imul" },
    [OP_MEAN] = { "r_add", NULL },
    [OP_MAX] = { "r_max", "r_imax" },
    [OP_MIN] = { "r_min", "r_imin" },
    [OP_COPY] = { "", "" },
};

const char *ref_function(enum op op, enum dtype dt)
{
    return dtype_is_float(dt) ? function[op].real : function[op].word;
}

/* What opens a cast, "" where the value stays as it is: a bool is a number already. */
static const char *cast_open(const struct refgen *g, enum dtype from, enum dtype to)
{
    if (from == to || from == DT_BOOL)
        return "";
    if (dtype_is_float(to))
        return ref_to(g, from, to);
    if (dtype_is_float(from))
        return to == DT_I32 ? "r_f2i(" : "r_f2b(";
    return "r_i2b(";
}

/* Elementwise: elements in row-major order are all that matters. */
static void each(struct refgen *g, const struct node *n, const char *f, int n_arg)
{
    ref_line(g);
    str_add(g->s, "for (long i = 0; i < %" PRId64 "; i++)", shape_count(&n->sh));
    g->depth++;
    ref_line(g);
    str_add(g->s, "w_%s[i] = %s", n->name, f);
    for (int i = 0; i < n_arg; i++) {
        str_puts(g->s, i ? ", " : "");
        if (n->arg[i].node >= 0)
            str_add(g->s, "w_%s[i]", g->p->node[n->arg[i].node].name);
        else
            ref_put_literal(g, node_takes(g->p, n), n->arg[i].lit);
    }
    for (; *f; f++)
        if (*f == '(')
            str_puts(g->s, ")");
    str_puts(g->s, ";");
}

/* Is a result of half dtype on the grid already? In ring -x is not. */
static bool on_grid(const struct refgen *g, enum op op)
{
    return op == OP_COPY || op == OP_WHERE || op == OP_ABS || op == OP_MAX2 || op == OP_MIN2 ||
           (op == OP_NEG && g->al == AL_IEEE);
}

static void elementwise(struct refgen *g, const struct node *n)
{
    enum dtype from = node_takes(g->p, n);
    const char *f = ref_function(n->op, from);
    char open[48];

    if (dtype_is_float(from) || dtype_is_float(n->dt))
        ref_compute_in(g, from == DT_F64 ? DT_F64 : DT_F32);
    if (n->op == OP_CAST) {
        each(g, n, cast_open(g, from, n->dt), 1);
        return;
    }
    if (!f)
        BUG("repro: no %s of %s", op_info(n->op)->name, dtype_info(from)->name);
    snprintf(open, sizeof open, "%s%s%s",
             dtype_is_half(n->dt) && !on_grid(g, n->op) ? ref_to(g, DT_F32, n->dt) : "", f,
             *f ? "(" : "");
    each(g, n, open, n->n_arg);
}

void ref_assign(struct refgen *g, int node, const struct coord *at)
{
    ref_line(g);
    ref_put_node(g, node, at);
    str_puts(g->s, " = ");
}

static void source(struct refgen *g, int node)
{
    const struct node *n = &g->p->node[node];
    struct coord at[MAX_RANK];
    struct layout l = layout_of(&n->layout, &n->sh);

    ref_open_result(g, n, at);
    ref_assign(g, node, at);
    if (n->op == OP_CONST) {
        ref_put_literal(g, n->dt, n->value);
    } else if (n->op == OP_IOTA) {
        const char *to = dtype_is_float(n->dt) ? ref_to(g, DT_F64, n->dt) : "";

        str_add(g->s, "%sr_num(i%d)%s", to, n->axis, *to ? ")" : "");
    } else {
        str_puts(g->s, n->dt == DT_F16    ? "r_num(r_get_f16("
                       : n->dt == DT_BF16 ? "r_num(r_get_bf16("
                                          : "r_num(");
        put_at(g, "in", n->name, n->sh.rank, at, l.stride, l.offset);
        str_puts(g->s, dtype_is_half(n->dt) ? "))" : ")");
    }
    str_puts(g->s, ";");
}

/* "i0 >= 1 && i0 < 5 ? ": the axes that a pad makes longer */
static void pad_condition(struct refgen *g, const struct node *n)
{
    bool any = false;

    for (int a = 0; a < n->sh.rank; a++) {
        if (n->lo[a]) {
            str_add(g->s, "%si%d >= %" PRId64, any ? " && " : "", a, n->lo[a]);
            any = true;
        }
        if (n->hi[a]) {
            str_add(g->s, "%si%d < %" PRId64, any ? " && " : "", a, n->sh.dim[a] - n->hi[a]);
            any = true;
        }
    }
    str_puts(g->s, any ? " ? " : "");
}

static bool pads(const struct node *n)
{
    for (int a = 0; a < n->sh.rank; a++)
        if (n->lo[a] || n->hi[a])
            return true;
    return false;
}

/* roll and repeat: round and round an axis of n elements */
static struct coord round_coord(const struct node *x, int a, int64_t n)
{
    int64_t back = x->op == OP_ROLL && n > 0 ? x->lo[a] % n : 0;

    return n <= 1 ? coord_zero : (struct coord){ 'i', a, 1, back > 0 ? n - back : -back, n };
}

/* The operand's element that element i0, i1, .. of a view is, by the view's definition. */
static void view_coords(const struct node *n, const struct shape *in, struct coord *at)
{
    int lead = n->sh.rank - in->rank;

    for (int a = 0; a < n->sh.rank; a++) {
        if (n->op == OP_PERMUTE)
            at[n->perm[a]] = coord_var('i', a);
        else if (n->op == OP_EXPAND && a >= lead)
            at[a - lead] = in->dim[a - lead] == n->sh.dim[a] ? coord_var('i', a) : coord_zero;
        else if (n->op == OP_SLICE)
            at[a] = (struct coord){ 'i', a, n->by[a], n->lo[a], 0 };
        else if (n->op == OP_PAD)
            at[a] = (struct coord){ 'i', a, 1, -n->lo[a], 0 };
        else if (n->op == OP_ROLL || n->op == OP_REPEAT)
            at[a] = round_coord(n, a, in->dim[a]);
    }
}

static void view(struct refgen *g, int node)
{
    const struct node *n = &g->p->node[node];
    const struct shape *in = &g->p->node[n->arg[0].node].sh;
    struct coord at[MAX_RANK], from[MAX_RANK];

    if (n->op == OP_RESHAPE) {
        each(g, n, "", 1);
        return;
    }
    ref_open_result(g, n, at);
    ref_assign(g, node, at);
    if (n->op == OP_PAD)
        pad_condition(g, n);
    view_coords(n, in, from);
    ref_put_node(g, n->arg[0].node, from);
    if (n->op == OP_PAD && pads(n)) {
        str_puts(g->s, " : ");
        ref_put_literal(g, n->dt, n->value);
    }
    str_puts(g->s, ";");
}

static void put_reference(struct refgen *g, int node)
{
    const struct node *n = &g->p->node[node];
    struct str text = { 0 };

    node_print(g->p, node, &text);
    str_add(g->s, "    /* %s */", str_get(&text));
    str_release(&text);
    g->depth = 0;
    if (op_is_source(n->op))
        source(g, node);
    else if (op_is_view(n->op))
        view(g, node);
    else if (n->op == OP_MATMUL)
        ref_matmul(g, node);
    else if (op_is_reduce(n->op))
        ref_reduction(g, node);
    else if (op_is_composite(n->op))
        ref_composite(g, node);
    else
        elementwise(g, n);
    str_puts(g->s, "\n");
}

void emit_ref(const struct trial *t, enum algebra al, struct str *s)
{
    struct refgen g = { &t->prog, al, s, 0, t, DT_F32 };
    bool *live = must(calloc((size_t)t->prog.n + 1, sizeof *live));

    prog_live(&t->prog, live);
    for (int i = 0; i < t->prog.n; i++) {
        const struct shape *sh = &t->prog.node[i].sh;
        int64_t n = 1;

        /* empty tensors too have addresses that a composite may be given */
        for (int d = 0; d < sh->rank; d++)
            n *= sh->dim[d] > 0 ? sh->dim[d] : 1;

        if (live[i])
            str_add(s, "static val w_%s[%" PRId64 "];\n", t->prog.node[i].name, n);
    }
    str_puts(s, "\nstatic void reference(void)\n{\n");
    for (int i = 0; i < t->prog.n; i++)
        if (live[i])
            put_reference(&g, i);
    str_puts(s, "}\n");
    free(live);
}
