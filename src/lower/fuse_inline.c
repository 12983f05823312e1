/*
 * Inlining a producer without a reduction. Every access of P is indexed by P's own axes in
 * order, so reading P through a view stack V is reading its operands through V followed by
 * their own stacks; a pad in V replaces the whole value, not the operands.
 */
#include <string.h>

#include "lower/fuse.h"

/* Reads P's axis d along the reader's index perm[d]: right only for permutations that are
 * their own inverse, silent where the extents that it confuses are equal. */
static void apply_permute(const struct lprog *l, struct access *r)
{
    const struct node *n = &l->prog->node[r->view[0]];
    const struct shape *from = &l->prog->node[n->arg[0].node].sh;
    int old[MAX_RANK];

    memcpy(old, r->idx, sizeof old);
    for (int d = 0; d < r->n_idx; d++)
        if (n->sh.dim[n->perm[d]] != from->dim[d])
            return;
    for (int d = 0; d < r->n_idx; d++)
        r->idx[d] = old[n->perm[d]];
    r->view++;
    r->n_view--;
}

static bool has_pad(const struct lprog *l, const struct access *r)
{
    for (int i = 0; i < r->n_view; i++)
        if (l->prog->node[r->view[i]].op == OP_PAD)
            return true;
    return false;
}

static int inline_value(struct lprog *l, int val, const struct access *reader);

static int inline_access(struct lprog *l, int access, const struct access *reader)
{
    struct access a = l->access[access];
    int *view = arena_array(l->arena, int, reader->n_view + a.n_view + 1);

    memcpy(view, reader->view, (size_t)reader->n_view * sizeof *view);
    memcpy(view + reader->n_view, a.view, (size_t)a.n_view * sizeof *view);
    a.view = view;
    a.n_view += reader->n_view;
    a.n_idx = reader->n_idx;
    memcpy(a.idx, reader->idx, sizeof a.idx);
    if (a.src == SRC_BODY)
        a.body = inline_value(l, a.body, reader);
    return lprog_access(l, a);
}

static int inline_value(struct lprog *l, int val, const struct access *reader)
{
    struct value v = l->value[val];

    if (v.kind == V_LOAD)
        v.arg[0] = inline_access(l, v.arg[0], reader);
    for (int i = 0; i < 3 && v.kind == V_OP; i++)
        if (v.arg[i] >= 0)
            v.arg[i] = inline_value(l, v.arg[i], reader);
    return v.kind == V_LIT ? val : lprog_value(l, v);
}

/* P and C are copies: only the views and the operand of P are left. */
static bool copy_of_copy(const struct lprog *l, const struct fuse *f)
{
    return l->prog->node[l->kernel[f->p].node].op == OP_COPY &&
           l->prog->node[l->kernel[f->c].node].op == OP_COPY;
}

/* Without the views between them, the indices of C still are as many as P has axes. */
static bool equal_ranks(const struct lprog *l, const struct fuse *f)
{
    return l->prog->node[l->kernel[f->p].node].sh.rank ==
           l->prog->node[l->kernel[f->c].node].sh.rank;
}

static int value_of(struct lprog *l, const struct fuse *f, int access)
{
    struct access r = l->access[access];
    int val;

    if (FAULT(l, copy_copy_fusion_drops_view) && copy_of_copy(l, f) && equal_ranks(l, f))
        r.n_view = 0;
    if (FAULT(l, permute_applied_not_inverted) && r.n_view > 0 &&
        l->prog->node[r.view[0]].op == OP_PERMUTE)
        apply_permute(l, &r);
    val = inline_value(l, f->value, &r);
    if (!has_pad(l, &r) || FAULT(l, pad_pushed_before_unsafe_op))
        return val;
    r.src = SRC_BODY;
    r.body = val;
    return lprog_load(l, lprog_access(l, r));
}

/* cast(cast(x)) back to the dtype of x is x: not if the type between was narrower. */
static int elide_casts(struct lprog *l, int val)
{
    struct value v = l->value[val];

    for (int i = 0; i < 3 && v.kind == V_OP; i++)
        if (v.arg[i] >= 0)
            v.arg[i] = elide_casts(l, v.arg[i]);
    if (v.kind == V_OP && v.op == OP_CAST) {
        const struct value *in = &l->value[v.arg[0]];

        if (in->kind == V_OP && in->op == OP_CAST && dtype_info(in->dt)->bytes == 2 &&
            l->value[in->arg[0]].dt == v.dt)
            return in->arg[0];
    }
    return v.kind == V_OP ? lprog_value(l, v) : val;
}

int fuse_inline(struct lprog *l, struct fuse *f, int step, struct err *e)
{
    struct kernel *c;

    (void)e;
    if (!lprog_rewrite(l, copy_of_copy(l, f) ? "fuse.copies" : "fuse.inline", step, f->c))
        return 0;
    f->value = l->kernel[f->p].st[fuse_store(&l->kernel[f->p])].val;
    f->value_of = value_of;
    c = &l->kernel[f->c];
    for (int i = 0; i < c->n; i++)
        if (c->st[i].kind == ST_UPDATE || c->st[i].kind == ST_STORE)
            c->st[i].val = fuse_replace(l, c->st[i].val, f);
    for (int i = 0; i < c->n && FAULT(l, explicit_downcast_elided); i++)
        if (c->st[i].kind == ST_UPDATE || c->st[i].kind == ST_STORE)
            c->st[i].val = elide_casts(l, c->st[i].val);
    return 0;
}
