/*
 * Attention as one looping kernel (algo flash): for every query the keys come block by block;
 * the running maximum, the sum of weights and the sums of weighted values are accumulators,
 * rescaled when the maximum grows.
 *
 *   m = -inf; l = 0; o[..] = 0
 *   loop blocks: s[j] = score of query and key j, -inf where hidden
 *                n = max(m, all s); a = exp(m - n); s[j] = exp(s[j] - n), 0 where hidden
 *                l = l*a + all s; o[e] = o[e]*a + all s[j] * v[j][e]; m = n
 *   z[e] = o[e] / l
 *
 * What exp is shifted by is the maximum, or the lowest finite number where nothing is visible,
 * so that no -inf - -inf is formed; in the end all is rescaled to the plain maximum, which
 * every algorithm must reach for the ring to agree. With splits, slices of the blocks leave
 * m, l and o in workspaces, and a second kernel combines them in the same way.
 */
#include "lower/flash.h"

#include <math.h>

enum { MAX_WIDTH = 4096 };

/* The loop over the keys of a block, those that there are; returns how many ENDs it takes. */
static int keys_loop(struct flash *f, struct kernel *k)
{
    flash_loop(f, k, f->j);
    if (f->seen < 0)
        return 1;
    push_if(f->l, k, f->seen);
    return 2;
}

static int operand(struct flash *f, int arg, const int *idx)
{
    return build_widen(f->l, build_read(f->l, f->n->arg[arg].node, idx), f->dt);
}

/* Keys (operand 1) or values (2) of the query's head at (key, at). */
static int of_key(struct flash *f, int arg, int at)
{
    const struct shape *sh = &f->l->prog->node[f->n->arg[arg].node].sh;
    int64_t heads = sh->dim[f->head], group = heads ? f->n->sh.dim[f->head] / heads : 1;
    int idx[MAX_RANK];

    for (int d = 0; d < f->head; d++)
        idx[d] = f->idx[d];
    idx[f->head] = ix_div(&f->l->ix, f->idx[f->head], group > 0 ? group : 1);
    idx[f->row] = f->key;
    idx[f->row + 1] = at;
    return operand(f, arg, idx);
}

/* The mask's element for query and key, in its own dtype. */
static int mask(struct flash *f)
{
    int node = f->n->arg[3].node, idx[MAX_RANK];

    if (f->l->prog->node[node].sh.rank == 2) {
        idx[0] = f->idx[f->row];
        idx[1] = f->key;
    } else {
        for (int d = 0; d <= f->row; d++)
            idx[d] = f->idx[d];
        idx[f->row + 1] = f->key;
    }
    return build_read(f->l, node, idx);
}

static int index_value(struct flash *f, int ix)
{
    return lprog_value(f->l,
                       (struct value){ .kind = V_INDEX, .dt = DT_I32, .arg = { ix, -1, -1 } });
}

/* bool: is the key visible to the query; -1 = all are */
static int visible(struct flash *f)
{
    int64_t shift = f->keys - f->n->sh.dim[f->row];
    int last = f->idx[f->row];

    if (f->n->mask == MASK_BOOL)
        return mask(f);
    if (f->n->mask != MASK_CAUSAL && f->n->mask != MASK_CAUSAL_BR)
        return -1;
    if (f->n->mask == MASK_CAUSAL_BR)
        last = ix_add(&f->l->ix, last, ix_const(&f->l->ix, shift));
    return lprog_op2(f->l, OP_LE, DT_BOOL, index_value(f, f->key), index_value(f, last));
}

/* s[j] = q . k, for all keys of the block */
static int dots(struct flash *f, struct kernel *k)
{
    int s = flash_decl(f, k, "s", OP_SUM, f->block), idx[MAX_RANK];
    int n = keys_loop(f, k), j = ix_var(&f->l->ix, f->j);

    for (int d = 0; d <= f->row; d++)
        idx[d] = f->idx[d];
    idx[f->row + 1] = flash_loop(f, k, f->d);
    flash_update(f, k, s, j,
                 flash_op2(f, OP_MUL, operand(f, 0, idx), of_key(f, 1, idx[f->row + 1])));
    push_end(f->l, k, n + 1);
    return s;
}

/* s[j] = the score as the mask leaves it; the maximum of all and of m is returned. */
static int scores(struct flash *f, struct kernel *k, int s)
{
    int n = flash_decl(f, k, "n", OP_MAX, 1), j = ix_var(&f->l->ix, f->j), vis, val, ends;

    flash_update(f, k, n, -1, flash_acc(f, f->m, -1));
    ends = keys_loop(f, k);
    val = flash_op2(f, OP_MUL, flash_acc(f, s, j), flash_lit(f, f->n->scale));
    if (f->n->mask == MASK_ADD)
        val = flash_op2(f, OP_ADD, val, build_widen(f->l, mask(f), f->dt));
    vis = visible(f);
    if (vis >= 0)
        val = flash_pick(f, vis, val, flash_lit(f, -(double)INFINITY));
    flash_set(f, k, s, j, val);
    flash_update(f, k, n, -1, flash_acc(f, s, j));
    push_end(f->l, k, ends);
    return n;
}

/* What there is of sum and out counts `factor` times. */
static void rescale(struct flash *f, struct kernel *k, int factor)
{
    int e;

    flash_set(f, k, f->sum, -1,
              flash_op2(f, OP_MUL, flash_acc(f, f->sum, -1), flash_acc(f, factor, -1)));
    if (FAULT(f->l, flash_missing_rescale))
        return;
    e = flash_loop(f, k, f->e);
    flash_set(f, k, f->out, e,
              flash_op2(f, OP_MUL, flash_acc(f, f->out, e), flash_acc(f, factor, -1)));
    push_end(f->l, k, 1);
}

static void weigh(struct flash *f, struct kernel *k, int s, int shift)
{
    int j = ix_var(&f->l->ix, f->j), ends = keys_loop(f, k), vis = visible(f);
    int w = flash_op1(f, OP_EXP,
                      flash_op2(f, OP_SUB, flash_acc(f, s, j), flash_acc(f, shift, -1))),
        e;

    if (vis >= 0)
        w = flash_pick(f, vis, w, flash_lit(f, 0));
    flash_set(f, k, s, j, w);
    flash_update(f, k, f->sum, -1, flash_acc(f, s, j));
    push_end(f->l, k, ends);
    ends = keys_loop(f, k);
    e = flash_loop(f, k, f->e);
    flash_update(f, k, f->out, e, flash_op2(f, OP_MUL, flash_acc(f, s, j), of_key(f, 2, e)));
    push_end(f->l, k, ends + 1);
}

/* All blocks of the keys, or those of one slice. */
static void online(struct flash *f, struct kernel *k)
{
    int64_t each = (f->blocks + f->slices - 1) / f->slices;
    int b = build_axis(f->l, f->node, 'r', 0, each), s, n, shift, at;

    at = ix_var(&f->l->ix, b);
    if (f->slices > 1)
        at = ix_add(&f->l->ix, ix_scale(&f->l->ix, ix_var(&f->l->ix, f->slice), each), at);
    f->key = ix_add(&f->l->ix, ix_scale(&f->l->ix, at, f->block), ix_var(&f->l->ix, f->j));
    f->seen = each * f->slices * f->block != f->keys
                  ? ix_lt(&f->l->ix, f->key, ix_const(&f->l->ix, f->keys))
                  : -1;
    flash_loop(f, k, b);
    s = dots(f, k);
    n = scores(f, k, s);
    shift = flash_holder(f, k, "h", flash_shift_of(f, flash_acc(f, n, -1)));
    rescale(
        f, k,
        flash_holder(f, k, "a",
                     flash_op1(f, OP_EXP,
                               flash_op2(f, OP_SUB, flash_shift_of(f, flash_acc(f, f->m, -1)),
                                         flash_acc(f, shift, -1)))));
    weigh(f, k, s, shift);
    flash_set(f, k, f->m, -1, flash_acc(f, n, -1));
    push_end(f->l, k, 1);
}

/* Must rows that see no key give 0 (and not 0/0)? Additive masks hide nothing. */
static bool zero_rows(const struct flash *f)
{
    bool hides = f->n->mask != MASK_NONE && f->n->mask != MASK_ADD;

    return f->n->empty == EMPTY_ZERO && (hides || f->keys == 0);
}

void flash_finish(struct flash *f, struct kernel *k)
{
    int m = flash_acc(f, f->m, -1), sum, val;
    int last = flash_holder(
        f, k, "f", flash_op1(f, OP_EXP, flash_op2(f, OP_SUB, flash_shift_of(f, m), m)));
    int to[MAX_RANK];

    for (int d = 0; d <= f->row; d++)
        to[d] = f->idx[d];
    to[f->row + 1] = flash_loop(f, k, f->e);
    last = flash_acc(f, last, -1);
    sum = flash_acc(f, f->sum, -1);
    val = flash_op2(f, OP_DIV, flash_op2(f, OP_MUL, flash_acc(f, f->out, to[f->row + 1]), last),
                    flash_op2(f, OP_MUL, sum, last));
    if (zero_rows(f))
        val = flash_pick(f, lprog_op2(f->l, OP_EQ, DT_BOOL, sum, flash_lit(f, 0)),
                         flash_lit(f, 0), val);
    build_store(f->l, k, f->l->node_buffer[f->node], to, build_widen(f->l, val, f->n->dt));
    push_end(f->l, k, 1);
}

/* A kernel for each element of the result but for its last axis. */
static int open_kernel(struct flash *f, const char *name, int node, struct kernel *k)
{
    int at = lprog_kernel(f->l, name, node);

    *k = f->l->kernel[at];
    lprog_rewrite(f->l, f->slices > 1 && node < 0 ? "build.flash_part" : "build.flash", f->step,
                  at);
    if (node < 0)
        flash_loop(f, k, f->slice);
    f->flat = ix_const(&f->l->ix, 0);
    for (int d = 0; d <= f->row; d++) {
        int64_t extent = f->n->sh.dim[d];

        f->idx[d] = flash_loop(f, k, build_axis(f->l, f->node, 'i', d, extent));
        f->flat = ix_add(&f->l->ix, ix_scale(&f->l->ix, f->flat, extent), f->idx[d]);
    }
    f->e = build_axis(f->l, f->node, 'i', f->row + 1, f->n->sh.dim[f->row + 1]);
    f->j = build_axis(f->l, f->node, 'r', 1, f->block);
    f->d = build_axis(f->l, f->node, 'r', 2,
                      f->l->prog->node[f->n->arg[0].node].sh.dim[f->row + 1]);
    return at;
}

static void close_kernel(struct flash *f, int at, struct kernel *k, int loops)
{
    push_end(f->l, k, loops);
    f->l->kernel[at] = *k;
}

static struct flash of_node(struct lprog *l, int node)
{
    struct flash f = { .l = l, .node = node, .step = -1, .n = &l->prog->node[node] };
    const struct shape *k = &l->prog->node[f.n->arg[1].node].sh;

    for (int i = 0; i < l->trial->n_step; i++)
        if (l->trial->step[i].kind == STEP_ALGO && l->trial->step[i].node[0] == node)
            f.step = i;
    f.dt = dtype_acc(f.n->dt);
    f.rank = f.n->sh.rank;
    f.head = f.rank - 3;
    f.row = f.rank - 2;
    f.keys = k->dim[f.row];
    f.block = l->trial->step[f.step].n;
    if (f.block > f.keys)
        f.block = f.keys > 0 ? f.keys : 1;
    f.blocks = (f.keys + f.block - 1) / f.block;
    f.slices = l->trial->step[f.step].splits;
    if (f.slices < 1)
        f.slices = 1;
    return f;
}

/* Accumulators and workspaces of some size only. */
static int too_large(const struct flash *f, struct err *e)
{
    const struct step *st = &f->l->trial->step[f->step];
    int64_t width = f->n->sh.dim[f->row + 1];

    if (width > MAX_WIDTH)
        return step_error(st, e, "results of %lld values; at most %d are summed up at a time",
                          (long long)width, MAX_WIDTH);
    if (f->slices > 1 && shape_count(&f->n->sh) > MAX_ELEMENTS / f->slices)
        return step_error(st, e, "a workspace of %lld x %lld elements is too large",
                          (long long)f->slices, (long long)shape_count(&f->n->sh));
    return 0;
}

int build_flash(struct lprog *l, int node, struct err *e)
{
    struct flash f = of_node(l, node);
    struct kernel k;
    int at;

    if (too_large(&f, e))
        return e->code;
    if (f.slices > 1) {
        flash_workspaces(&f);
        at = open_kernel(&f, arena_printf(l->arena, "%s.part", f.n->name), -1, &k);
        flash_declare(&f, &k);
        online(&f, &k);
        flash_leave(&f, &k);
        close_kernel(&f, at, &k, f.row + 2);
    }
    at = open_kernel(&f, f.n->name, node, &k);
    if (f.slices > 1) {
        flash_combine(&f, &k);
    } else {
        flash_declare(&f, &k);
        online(&f, &k);
        flash_finish(&f, &k);
    }
    close_kernel(&f, at, &k, f.row + 1);
    return 0;
}
