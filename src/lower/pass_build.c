/*
 * build: one naive kernel per node that is no view; views, consts and iotas fold into their
 * readers; an output that is a view or a source gets a copy kernel.
 * needs: a checked trial. keeps: nothing. gives: kernels with uncomposed accesses, whose
 * loops are NODE.i0 .. (axes of the result) and NODE.r0 .. (reduced axes).
 * Build's rewrites are numbered, but lowering can't stop before them: without them there is
 * nothing to run.
 */
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "lower/build.h"
#include "lower/passes.h"

static int buffer_new(struct lprog *l, int node, enum buffer_kind kind, int slot,
                      const struct layout *layout)
{
    const struct node *n = &l->prog->node[node];
    bool ignored = FAULT(l, dst_layout_ignored) && n->op == OP_CAST;

    return lprog_buffer(
        l,
        (struct buffer){ .name = n->name,
                         .kind = kind,
                         .slot = slot,
                         .dt = n->dt,
                         .sh = n->sh,
                         .layout = layout_of(ignored ? &(struct layout){ 0 } : layout, &n->sh),
                         .elems = layout_storage(layout, &n->sh),
                         .arena_at = -1,
                         .node = node });
}

int build_read(struct lprog *l, int node, const int *idx)
{
    const struct prog *p = l->prog;
    struct access a = { .dt = p->node[node].dt, .n_idx = p->node[node].sh.rank };
    const struct node *n;
    int n_view = 0, at = node;

    for (; op_is_view(p->node[at].op); at = p->node[at].arg[0].node)
        n_view++;
    n = &p->node[at];
    if (n->op == OP_CONST && n_view == 0)
        return lprog_lit(l, n->dt, n->value);
    a.view = arena_array(l->arena, int, n_view + 1);
    for (at = node; op_is_view(p->node[at].op); at = p->node[at].arg[0].node)
        a.view[a.n_view++] = at;
    for (int d = 0; d < a.n_idx; d++)
        a.idx[d] = idx[d];
    if (n->op == OP_CONST) {
        a.src = SRC_CONST;
        a.lit = n->value;
    } else if (n->op == OP_IOTA) {
        a.src = SRC_IOTA;
        a.axis = n->axis;
    } else {
        a.src = SRC_BUFFER;
        a.buffer = l->node_buffer[at];
    }
    return lprog_value(
        l, (struct value){ .kind = V_LOAD, .dt = a.dt, .arg = { lprog_access(l, a), -1, -1 } });
}

static int read_arg(struct lprog *l, const struct node *n, int arg, const int *idx)
{
    const struct arg *g = &n->arg[arg];
    enum dtype dt = n->dt;

    if (g->node >= 0)
        return build_read(l, g->node, idx);
    /* a literal has the dtype of a tensor operand (where: of the result) */
    for (int i = 0; i < n->n_arg && n->op != OP_WHERE; i++)
        if (n->arg[i].node >= 0)
            dt = l->prog->node[n->arg[i].node].dt;
    return lprog_lit(l, dt, g->lit);
}

void build_store(struct lprog *l, struct kernel *k, int buffer, const int *idx, int val)
{
    const struct buffer *b = &l->buffer[buffer];
    struct access a = { .src = SRC_BUFFER, .dt = b->dt, .buffer = buffer, .n_idx = b->sh.rank };

    for (int d = 0; d < a.n_idx; d++)
        a.idx[d] = idx[d];
    kernel_push(l, k,
                (struct stmt){ .kind = ST_STORE, .val = val, .access = lprog_access(l, a) });
}

int build_axis(struct lprog *l, int node, char role, int num, int64_t extent)
{
    char name[MAX_LABEL];

    snprintf(name, sizeof name, "%s.%c%d", l->prog->node[node].name, role, num);
    return lprog_var(l, node, name, extent, role == 'r');
}

static void build_elementwise(struct lprog *l, struct kernel *k, int node, const int *idx)
{
    const struct node *n = &l->prog->node[node];
    struct value v = { .kind = V_OP, .dt = n->dt, .op = n->op, .arg = { -1, -1, -1 } };

    for (int i = 0; i < n->n_arg; i++) {
        v.arg[i] = read_arg(l, n, i, idx);
        for (int j = 0; j < i && FAULT(l, duplicate_operand_rename); j++) {
            const struct value *x = &l->value[v.arg[i]], *y = &l->value[v.arg[j]];

            if (x->kind == V_LOAD && y->kind == V_LOAD &&
                l->access[x->arg[0]].src == SRC_BUFFER &&
                l->access[y->arg[0]].src == SRC_BUFFER &&
                l->access[x->arg[0]].buffer == l->access[y->arg[0]].buffer)
                v.arg[i] = v.arg[j];
        }
    }
    build_store(l, k, l->node_buffer[node], idx,
                n->op == OP_COPY ? v.arg[0] : lprog_value(l, v));
}

/* Indices of the operand(s) of a reduction: rdx[0] for all, rdx[1] for matmul's second. */
static int reduce_indices(struct lprog *l, int node, const int *idx, int rdx[2][MAX_RANK],
                          int *rvar)
{
    const struct node *n = &l->prog->node[node];
    const struct shape *in = &l->prog->node[n->arg[0].node].sh;
    int n_red = 0, o = 0;

    if (n->op == OP_MATMUL) {
        int k = in->rank - 1, r;

        rvar[0] = build_axis(l, node, 'r', 0, in->dim[k]);
        r = ix_var(&l->ix, rvar[0]);
        for (int d = 0; d <= k; d++)
            rdx[0][d] = rdx[1][d] = idx[d];
        rdx[0][k] = r;
        rdx[1][k - 1] = r;
        return 1;
    }
    for (int d = 0; d < in->rank; d++) {
        if (n->axes >> d & 1) {
            rvar[n_red] = build_axis(l, node, 'r', n_red, in->dim[d]);
            rdx[0][d] = ix_var(&l->ix, rvar[n_red++]);
            o += n->keep;
        } else {
            rdx[0][d] = idx[o++];
        }
    }
    return n_red;
}

int build_widen(struct lprog *l, int val, enum dtype dt)
{
    return l->value[val].dt == dt ? val : lprog_op1(l, OP_CAST, dt, val);
}

/* sum for the mean and the matmul as well */
static enum op reduce_op(enum op op)
{
    return op == OP_MAX || op == OP_MIN || op == OP_PROD ? op : OP_SUM;
}

/* What the node's own buffer happens to hold; only a fault asks for it. */
static int own_value(struct lprog *l, int node, const int *idx)
{
    const struct node *n = &l->prog->node[node];
    struct access a = { .dt = n->dt, .buffer = l->node_buffer[node], .n_idx = n->sh.rank };

    for (int d = 0; d < a.n_idx; d++)
        a.idx[d] = idx[d];
    return lprog_value(
        l, (struct value){ .kind = V_LOAD, .dt = a.dt, .arg = { lprog_access(l, a), -1, -1 } });
}

/* Is it that part of a composite? Only a fault asks. */
static bool is_part(const struct node *n, const char *suffix)
{
    size_t a = strlen(n->name), b = strlen(suffix);

    return a > b && strcmp(n->name + a - b, suffix) == 0;
}

/* alpha val, and + beta c. What is times 0 is not read. */
static int build_scaled(struct lprog *l, int node, const int *idx, int val)
{
    const struct node *n = &l->prog->node[node];
    enum dtype dt = l->value[val].dt;
    int c;

    if (n->alpha != 1 && n->alpha != 0)
        val = lprog_op2(l, OP_MUL, dt, val, lprog_lit(l, dt, n->alpha));
    if (n->n_arg < 3 || (n->beta == 0 && !FAULT(l, beta_zero_reads_c)))
        return val;
    c = build_widen(l, build_read(l, n->arg[2].node, idx), dt);
    if (n->beta != 1)
        c = lprog_op2(l, OP_MUL, dt, c, lprog_lit(l, dt, n->beta));
    return n->alpha == 0 ? c : lprog_op2(l, OP_ADD, dt, val, c);
}

/* A matmul whose product is times 0: beta c, or 0. */
static void build_unmultiplied(struct lprog *l, struct kernel *k, int node, const int *idx)
{
    const struct node *n = &l->prog->node[node];
    int val = build_scaled(l, node, idx, lprog_lit(l, n->acc, 0));

    build_store(l, k, l->node_buffer[node], idx, build_widen(l, val, n->dt));
}

static void build_reduction(struct lprog *l, struct kernel *k, int node, const int *idx)
{
    const struct node *n = &l->prog->node[node];
    enum op op = reduce_op(n->op);
    enum dtype dt = FAULT(l, half_accumulate_or_mean) && op == OP_SUM ? n->dt : n->acc;
    int rdx[2][MAX_RANK], rvar[MAX_RANK], n_red, acc, val;
    struct acc a = { .dt = dt, .op = op, .identity = op, .elems = 1 };
    int64_t terms = 1;

    snprintf(a.name, sizeof a.name, "%s", n->name);
    n_red = reduce_indices(l, node, idx, rdx, rvar);
    acc = lprog_acc(l, a);
    kernel_push(l, k, (struct stmt){ .kind = ST_DECL, .acc = acc, .acc_at = -1 });
    for (int r = 0; r < n_red; r++) {
        push_loop(l, k, rvar[r], LOOP_SERIAL);
        terms *= l->var[rvar[r]].extent;
    }
    val = build_widen(l, build_read(l, n->arg[0].node, rdx[0]), dt);
    if (n->op == OP_MATMUL)
        val = lprog_op2(l, OP_MUL, dt, val,
                        build_widen(l, build_read(l, n->arg[1].node, rdx[1]), dt));
    kernel_push(l, k, (struct stmt){ .kind = ST_UPDATE, .acc = acc, .acc_at = -1, .val = val });
    push_end(l, k, n_red);
    val = lprog_value(l, (struct value){ .kind = V_ACC, .dt = dt, .arg = { acc, -1, -1 } });
    if (n->op == OP_MEAN) {
        /* a half can't hold every count: what it adds up in is not what it divides in */
        enum dtype wide = dtype_acc(dt);

        if (FAULT(l, variance_n_minus_one) && terms > 1 && is_part(n, ".va"))
            terms--;
        val = lprog_op2(l, OP_DIV, wide, build_widen(l, val, wide),
                        lprog_lit(l, wide, (double)terms));
    }
    if (n->op == OP_MATMUL)
        val = build_scaled(l, node, idx, val);
    val = build_widen(l, val, n->dt);
    if (FAULT(l, k_zero_leaves_output) && terms == 0)
        val = own_value(l, node, idx);
    build_store(l, k, l->node_buffer[node], idx, val);
}

static void build_kernel(struct lprog *l, int node, bool copy)
{
    const struct node *n = &l->prog->node[node];
    int at = lprog_kernel(l, n->name, node), idx[MAX_RANK];
    struct kernel k = l->kernel[at];

    lprog_rewrite(l, "build.kernel", -1, at);
    for (int d = 0; d < n->sh.rank; d++) {
        int var = build_axis(l, node, 'i', d, n->sh.dim[d]);

        idx[d] = ix_var(&l->ix, var);
        push_loop(l, &k, var, LOOP_SERIAL);
    }
    if (copy) {
        int to = -1;

        for (int b = 0; b < l->n_buffer; b++)
            if (l->buffer[b].kind == BUF_OUTPUT && l->buffer[b].node == node)
                to = b;
        build_store(l, &k, to, idx, build_read(l, node, idx));
    } else if (n->op == OP_MATMUL && n->alpha == 0) {
        build_unmultiplied(l, &k, node, idx);
    } else if (op_is_reduce(n->op)) {
        build_reduction(l, &k, node, idx);
    } else {
        build_elementwise(l, &k, node, idx);
    }
    push_end(l, &k, n->sh.rank);
    l->kernel[at] = k;
}

int pass_build(struct lprog *l, struct err *e)
{
    const struct prog *p = l->prog;
    bool *live = arena_array(l->arena, bool, p->n);
    int *out_of = arena_array(l->arena, int, p->n);
    int n_in = 0, stop = l->stop_after;

    l->stop_after = INT32_MAX;
    prog_live(p, live);
    l->node_buffer = arena_array(l->arena, int, p->n);
    for (int i = 0; i < p->n; i++)
        l->node_buffer[i] = out_of[i] = -1;
    for (int o = 0; o < p->n_out; o++)
        out_of[p->out[o].node] =
            buffer_new(l, p->out[o].node, BUF_OUTPUT, o, &p->out[o].layout);
    for (int i = 0; i < p->n; i++) {
        const struct node *n = &p->node[i];
        bool folds = op_is_view(n->op) || op_is_source(n->op);

        if (n->op == OP_INPUT)
            l->node_buffer[i] = buffer_new(l, i, BUF_INPUT, n_in++, &n->layout);
        if (!live[i])
            continue;
        if (!folds)
            l->node_buffer[i] = out_of[i] >= 0
                                    ? out_of[i]
                                    : buffer_new(l, i, BUF_TEMP, 0, &(struct layout){ 0 });
        if (n->op == OP_ATTENTION) {
            if (build_flash(l, i, e))
                return e->code;
        } else if (!folds || out_of[i] >= 0)
            build_kernel(l, i, folds);
    }
    l->stop_after = stop;
    return 0;
}
