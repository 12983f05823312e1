/*
 * compose: turns every access - a buffer seen through a stack of view nodes - into an index
 * and guards, by the view algebra of src/view.
 * needs: uncomposed accesses. keeps: what is read and written. gives: composed accesses;
 * one rewrite each.
 */
#include "lower/nest.h"
#include "lower/passes.h"

enum { MAX_INDEX = 1000 };

struct compose {
    struct lprog *l;
    int kernel;
    struct err *e;
    int err;
};

static enum view_fault view_fault(const struct lprog *l)
{
    if (FAULT(l, view_compose_forced_single))
        return VIEW_FAULT_FORCED_SINGLE;
    if (FAULT(l, pad_mask_reshape_nondivisible))
        return VIEW_FAULT_MASK_NONDIVISIBLE;
    if (FAULT(l, negative_slice_over_two_views))
        return VIEW_FAULT_NEGATIVE_SLICE;
    return VIEW_FAULT_NONE;
}

/* Shape and layout of what lies at the end of the stack. */
static void base_of(const struct lprog *l, const struct access *a, struct shape *sh,
                    struct layout *lay)
{
    *sh = (struct shape){ 0 };
    *lay = (struct layout){ 0 };
    if (a->n_view > 0)
        *sh = l->prog->node[l->prog->node[a->view[a->n_view - 1]].arg[0].node].sh;
    if (a->src == SRC_BUFFER) {
        const struct buffer *b = &l->buffer[a->buffer];

        *sh = b->sh;
        *lay = b->layout;
        if (FAULT(l, padded_stride_taken_dense) && b->kind == BUF_INPUT)
            shape_strides(sh, lay->stride);
    } else if (a->src == SRC_IOTA) {
        if (a->n_view == 0)
            sh->rank = a->n_idx;
        for (int d = 0; d < sh->rank; d++)
            sh->dim[d] = a->n_view == 0 ? 1 : sh->dim[d];
        lay->given = true;
        lay->stride[a->axis] = 1; /* the "address" is the number itself */
    }
}

/* Stacked div/mod chains multiply; nobody would compile such an index. */
static bool too_big(const struct lprog *l, const struct access *a, const struct guard *guard)
{
    for (int i = 0; i < a->n_guard; i++)
        if (ix_size(&l->ix, guard[i].cond, MAX_INDEX) >= MAX_INDEX)
            return true;
    return ix_size(&l->ix, a->index, MAX_INDEX) >= MAX_INDEX;
}

static void compose_access(void *ctx, int access)
{
    struct compose *c = ctx;
    struct lprog *l = c->l;
    struct access a = l->access[access];
    struct guard guard[MAX_VIEWS];
    struct vstack *vs;
    struct shape sh;
    struct layout lay;

    if (a.composed || c->err || l->stopped ||
        !lprog_rewrite(l, "compose.access", -1, c->kernel))
        return;
    base_of(l, &a, &sh, &lay);
    vs = arena_new(l->arena, struct vstack);
    vstack_init(vs, &sh, &lay);
    for (int i = a.n_view - 1; i >= 0; i--)
        if (!vstack_apply(vs, &l->prog->node[a.view[i]], view_fault(l))) {
            c->err = err_set(c->e, ERR_UNSUPPORTED,
                             "more than %d stacked views that strides can't merge", MAX_VIEWS);
            return;
        }
    vstack_index(vs, &l->ix, a.idx, &a.index, guard, &a.n_guard);
    if (too_big(l, &a, guard)) {
        c->err = err_set(c->e, ERR_UNSUPPORTED,
                         "an index of more than %d operations: too many views that strides "
                         "can't merge",
                         MAX_INDEX);
        return;
    }
    if (a.src == SRC_CONST || a.src == SRC_BODY)
        a.index = -1;
    a.guard = arena_array(l->arena, struct guard, a.n_guard + 1);
    for (int i = 0; i < a.n_guard; i++)
        a.guard[i] = guard[i];
    a.composed = true;
    l->access[access] = a;
}

int pass_compose(struct lprog *l, struct err *e)
{
    struct compose c = { .l = l, .e = e };

    for (c.kernel = 0; c.kernel < l->n_kernel; c.kernel++) {
        const struct kernel *k = &l->kernel[c.kernel];

        for (int i = 0; i < k->n && !k->dead && !c.err && !l->stopped; i++) {
            stmt_loads(l, &k->st[i], compose_access, &c);
            if (k->st[i].kind == ST_STORE)
                compose_access(&c, k->st[i].access);
        }
    }
    return c.err;
}
