/*
 * Accesses as index and guards. View nodes are walked one by one from the reader's indices
 * to the operand's, each by its own definition and nothing else.
 */
#include "base/bug.h"
#include "run/interp_index.h"

struct walk {
    struct xtab *t;
    int idx[MAX_RANK]; /* expressions, one per axis of the tensor reached so far */
    struct place *p;
};

static void walk_reshape(struct walk *w, const struct node *v, const struct shape *sh)
{
    int64_t to[MAX_RANK], from[MAX_RANK];
    int at = x_const(w->t, 0);

    shape_strides(&v->sh, to);
    shape_strides(sh, from);
    for (int i = 0; i < v->sh.rank; i++)
        at = x_add(w->t, at, x_mulc(w->t, w->idx[i], to[i]));
    for (int i = 0; i < sh->rank; i++) {
        /* an empty tensor has no element to address: any expression will do */
        int64_t stride = from[i] > 0 ? from[i] : 1, dim = sh->dim[i] > 0 ? sh->dim[i] : 1;
        int q = x_div(w->t, at, stride);

        w->idx[i] = i == 0 ? q : x_mod(w->t, q, dim);
    }
}

/* roll and repeat: each axis round and round its operand */
static void walk_round(struct walk *w, const struct node *v, const struct shape *sh)
{
    for (int i = 0; i < sh->rank; i++) {
        int64_t n = sh->dim[i] > 0 ? sh->dim[i] : 1, back = v->op == OP_ROLL ? v->lo[i] % n : 0;

        w->idx[i] = x_mod(w->t, x_addc(w->t, w->idx[i], back > 0 ? n - back : -back), n);
    }
}

/* All axes within the operand, or the fill. */
static void walk_pad(struct walk *w, const struct node *v, const struct shape *sh)
{
    int in = x_const(w->t, 1);

    for (int i = 0; i < sh->rank; i++) {
        int e = w->idx[i] = x_addc(w->t, w->idx[i], -v->lo[i]);

        if (v->lo[i] || v->hi[i])
            in = x_and(w->t, in,
                       x_and(w->t, x_lt(w->t, x_const(w->t, -1), e),
                             x_lt(w->t, e, x_const(w->t, sh->dim[i]))));
    }
    w->p->guard[w->p->n_guard++] = (struct guard){ in, v->value };
}

/* From the indices of view v's result to those of its operand, of shape sh. */
static void walk_view(struct walk *w, const struct node *v, const struct shape *sh)
{
    int was[MAX_RANK];

    for (int i = 0; i < v->sh.rank; i++)
        was[i] = w->idx[i];
    if (v->op == OP_RESHAPE) {
        walk_reshape(w, v, sh);
    } else if (v->op == OP_PAD) {
        walk_pad(w, v, sh);
    } else if (v->op == OP_PERMUTE) {
        for (int i = 0; i < v->sh.rank; i++)
            w->idx[v->perm[i]] = was[i];
    } else if (v->op == OP_EXPAND) {
        for (int i = 0; i < sh->rank; i++)
            w->idx[i] = sh->dim[i] == 1 ? x_const(w->t, 0) : was[v->sh.rank - sh->rank + i];
    } else if (v->op == OP_SLICE) {
        for (int i = 0; i < sh->rank; i++)
            w->idx[i] = x_addc(w->t, x_mulc(w->t, was[i], v->by[i]), v->lo[i]);
    } else if (v->op == OP_ROLL || v->op == OP_REPEAT) {
        walk_round(w, v, sh);
    } else {
        BUG("%s is no view", op_info(v->op)->name);
    }
}

/*
 * Reading a tensor beyond its shape is out of bounds even where the address that comes of it
 * happens to be right. Loops that a pass matched with an axis are inside by their extents; only
 * what is not gets a test.
 */
static int inside(struct xtab *t, const struct access *ac, const struct shape *sh)
{
    int in = x_const(t, 1);

    for (int d = 0; d < sh->rank && d < ac->n_idx; d++) {
        const struct ix *x = &t->l->ix.x[ac->idx[d]];
        int e;

        if (x->op == IX_VAR ? t->l->var[x->c].extent <= sh->dim[d]
                            : x->op == IX_CONST && x->c >= 0 && x->c < sh->dim[d])
            continue;
        e = x_import(t, ac->idx[d]);
        in = x_and(t, in,
                   x_and(t, x_lt(t, x_const(t, -1), e), x_lt(t, e, x_const(t, sh->dim[d]))));
    }
    return in;
}

static void place_walked(struct xtab *t, const struct access *ac, struct place *p)
{
    const struct lprog *l = t->l;
    struct walk w = { .t = t, .p = p };
    int in;

    p->guard = arena_array(t->arena, struct guard, ac->n_view + 1);
    for (int i = 0; i < MAX_RANK; i++) /* a stack that a fault broke may want more axes */
        w.idx[i] = i < ac->n_idx ? x_import(t, ac->idx[i]) : x_const(t, 0);
    for (int i = 0; i < ac->n_view; i++) {
        const struct node *v = &l->prog->node[ac->view[i]];

        walk_view(&w, v, &l->prog->node[v->arg[0].node].sh);
    }
    if (ac->src == SRC_IOTA) {
        p->index = w.idx[ac->axis];
    } else if (ac->src == SRC_BUFFER) {
        const struct buffer *b = &l->buffer[ac->buffer];

        p->index = x_const(t, b->layout.offset);
        for (int i = 0; i < b->sh.rank; i++)
            p->index = x_add(t, p->index, x_mulc(t, w.idx[i], b->layout.stride[i]));
        in = inside(t, ac, ac->n_view > 0 ? &l->prog->node[ac->view[0]].sh : &b->sh);
        if (in != x_const(t, 1)) /* else -1 */
            p->index = x_addc(t, x_mul(t, in, x_addc(t, p->index, 1)), -1);
    }
}

static void place_composed(struct xtab *t, const struct access *ac, struct place *p)
{
    p->guard = arena_array(t->arena, struct guard, ac->n_guard + 1);
    p->n_guard = ac->n_guard;
    for (int i = 0; i < ac->n_guard; i++)
        p->guard[i] = (struct guard){ x_import(t, ac->guard[i].cond), ac->guard[i].fill };
    if (ac->index >= 0 && (ac->src == SRC_BUFFER || ac->src == SRC_IOTA))
        p->index = x_import(t, ac->index);
}

void x_place(struct xtab *t, const struct access *ac, struct place *p)
{
    *p = (struct place){ .index = -1 };
    if (ac->composed)
        place_composed(t, ac, p);
    else
        place_walked(t, ac, p);
}
