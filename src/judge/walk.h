/*
 * A walk: the elements of one tensor in row-major order, together with the address that
 * each has in another one. Goes by rows: `inner` elements whose addresses are inner_step
 * apart, the first at `at`. Views, reductions and layouts are all walked this way; which
 * steps an axis takes is read off the definition of the node.
 */
#ifndef JUDGE_WALK_H
#define JUDGE_WALK_H

#include "ir/prog.h"

struct walk {
    int64_t rows; /* still to do, this one included */
    int64_t at, inner, inner_step;
    int rank; /* of what lies outside a row */
    int64_t dim[MAX_RANK], step[MAX_RANK], i[MAX_RANK];
};

/* Element (i0,i1,..) of shape sh has the address at + sum i*step. */
static inline struct walk walk_begin(const struct shape *sh, const int64_t *step, int64_t at)
{
    struct walk w = { .at = at, .inner = 1 };
    int64_t n = 1;

    for (int a = 0; a < sh->rank; a++) {
        n *= sh->dim[a];
        if (sh->dim[a] == 1)
            continue;
        /* an axis whose step is just what the next one spans goes on where that one ends */
        if (w.rank && w.step[w.rank - 1] == step[a] * sh->dim[a]) {
            w.dim[w.rank - 1] *= sh->dim[a];
            w.step[w.rank - 1] = step[a];
            continue;
        }
        w.dim[w.rank] = sh->dim[a];
        w.step[w.rank] = step[a];
        w.rank++;
    }
    if (w.rank) {
        w.rank--;
        w.inner = w.dim[w.rank];
        w.inner_step = w.step[w.rank];
    }
    w.rows = n ? n / w.inner : 0;
    return w;
}

static inline void walk_next(struct walk *w)
{
    w->rows--;
    for (int a = w->rank - 1; a >= 0; a--) {
        w->at += w->step[a];
        if (++w->i[a] < w->dim[a])
            return;
        w->at -= w->step[a] * w->dim[a];
        w->i[a] = 0;
    }
}

/* Where element i of axis a of a roll or repeat is along that axis of its operand, of extent n:
 * turned round by a shift, or laid side by side. */
static inline int64_t walk_round(const struct node *x, int a, int64_t i, int64_t n)
{
    int64_t at = x->op == OP_ROLL ? (i - x->lo[a]) % n : i % n;

    return at < 0 ? at + n : at;
}

/* The row-major steps of a shape. */
static inline void walk_dense(const struct shape *sh, int64_t step[MAX_RANK])
{
    int64_t n = 1;

    for (int a = sh->rank - 1; a >= 0; a--) {
        step[a] = n;
        n *= sh->dim[a];
    }
}

/* The dense addresses, in row-major order, of the *n elements of sh where only the axes in
 * `axes` run. */
static inline int64_t *walk_axes(const struct shape *sh, uint32_t axes, struct arena *arena,
                                 int64_t *n)
{
    int64_t dense[MAX_RANK], step[MAX_RANK], *at, k = 0;
    struct shape sub = { 0 };

    walk_dense(sh, dense);
    for (int a = 0; a < sh->rank; a++)
        if (axes >> a & 1) {
            sub.dim[sub.rank] = sh->dim[a];
            step[sub.rank++] = dense[a];
        }
    *n = shape_count(&sub);
    at = arena_array(arena, int64_t, *n + 1);
    for (struct walk w = walk_begin(&sub, step, 0); w.rows > 0; walk_next(&w))
        for (int64_t e = 0; e < w.inner; e++)
            at[k++] = w.at + e * w.inner_step;
    return at;
}

/* The places in the dense operand (shape o) of the elements of a roll or repeat x, in row-major
 * order. No single step says them: one at a time. */
static inline void walk_places(const struct node *x, const struct shape *o, int64_t *place)
{
    int64_t i[MAX_RANK] = { 0 }, dense[MAX_RANK] = { 0 }, n = shape_count(&x->sh);

    walk_dense(o, dense);
    for (int64_t k = 0; k < n; k++) {
        place[k] = 0;
        for (int a = 0; a < o->rank; a++)
            place[k] += dense[a] * walk_round(x, a, i[a], o->dim[a]);
        for (int a = o->rank - 1; a >= 0 && ++i[a] == x->sh.dim[a]; a--)
            i[a] = 0;
    }
}

#endif
