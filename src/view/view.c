#include "view/view.h"

#include <string.h>

#include "base/bug.h"
#include "view/view_inner.h"

static bool axis_masked(const struct view *v, int d)
{
    return v->lo[d] > 0 || v->hi[d] < v->size[d];
}

static void mask_all(struct view *v)
{
    for (int d = 0; d < v->rank; d++) {
        v->lo[d] = 0;
        v->hi[d] = v->size[d];
    }
}

struct view view_dense(const int64_t *size, int rank)
{
    struct view v = { .rank = rank };
    int64_t stride = 1;

    for (int d = rank - 1; d >= 0; d--) {
        v.size[d] = size[d];
        v.stride[d] = stride;
        stride *= size[d];
    }
    mask_all(&v);
    return v;
}

void vstack_init(struct vstack *s, const struct shape *sh, const struct layout *l)
{
    struct layout at = layout_of(l, sh);

    s->n = 1;
    s->v[0] = view_dense(sh->dim, sh->rank);
    s->v[0].offset = at.offset;
    for (int d = 0; d < sh->rank; d++)
        s->v[0].stride[d] = at.stride[d];
}

/* A fresh view of these sizes over the row-major space of the top one. */
static struct view *push(struct vstack *s, const int64_t *size, int rank)
{
    if (s->n == MAX_VIEWS)
        return NULL;
    s->v[s->n] = view_dense(size, rank);
    return &s->v[s->n++];
}

static void permute(struct view *v, const int *perm)
{
    struct view old = *v;

    for (int d = 0; d < v->rank; d++) {
        v->wrap[d] = old.wrap[perm[d]];
        v->turn[d] = old.turn[perm[d]];
        v->size[d] = old.size[perm[d]];
        v->stride[d] = old.stride[perm[d]];
        v->lo[d] = old.lo[perm[d]];
        v->hi[d] = old.hi[perm[d]];
    }
}

static void expand(struct view *v, const struct shape *to)
{
    struct view old = *v;
    int lead = to->rank - old.rank;

    v->rank = to->rank;
    for (int d = 0; d < to->rank; d++) {
        int o = d - lead;
        bool same = o >= 0 && old.size[o] == to->dim[d];

        v->size[d] = to->dim[d];
        v->stride[d] = same ? old.stride[o] : 0;
        v->wrap[d] = same ? old.wrap[o] : 0; /* an axis of size 1 never wraps */
        v->turn[d] = same ? old.turn[o] : 0;
        v->lo[d] = same ? old.lo[o] : 0;
        v->hi[d] = same ? old.hi[o] : to->dim[d];
        if (!same && o >= 0 && old.hi[o] <= old.lo[o])
            v->hi[d] = 0; /* the one element was padding: all of them are */
    }
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t clamp(int64_t x, int64_t lo, int64_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* The positions i in 0..count-1 with lo <= start + i*step < hi. */
static void slice_mask(struct view *v, int d, int64_t start, int64_t step, int64_t count)
{
    int64_t lo = v->lo[d], hi = v->hi[d];

    if (step > 0) {
        v->lo[d] = -floor_div(start - lo, step);
        v->hi[d] = -floor_div(start - hi, step);
    } else {
        v->lo[d] = floor_div(start - hi, -step) + 1;
        v->hi[d] = floor_div(start - lo, -step) + 1;
    }
    v->lo[d] = clamp(v->lo[d], 0, count);
    v->hi[d] = clamp(v->hi[d], v->lo[d], count);
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    return a - floor_div(a, b) * b;
}

/* A wrapped axis takes another start, but no other step; and one element needs no wrapping. */
static void slice_wrapped(struct view *v, int d, int64_t start, int64_t count)
{
    v->turn[d] = floor_mod(v->turn[d] + start, v->wrap[d]);
    if (count > 1)
        return;
    v->offset += v->turn[d] * v->stride[d];
    v->wrap[d] = v->turn[d] = 0;
}

static void slice(struct view *v, const struct node *n, bool drop_remainder)
{
    for (int d = 0; d < v->rank; d++) {
        int64_t count = n->sh.dim[d], start = n->lo[d];

        if (drop_remainder && n->by[d] < 0)
            start -= start % -n->by[d];
        if (axis_masked(v, d)) {
            slice_mask(v, d, start, n->by[d], count);
        } else {
            v->lo[d] = 0;
            v->hi[d] = count;
        }
        if (v->wrap[d] > 0)
            slice_wrapped(v, d, start, count);
        else if (count > 0)
            v->offset += start * v->stride[d];
        v->stride[d] *= n->by[d];
        v->size[d] = count;
    }
}

/* Every second element of a wrapped axis wraps elsewhere. */
static bool slice_stacked(struct vstack *s, const struct node *n, bool drop_remainder)
{
    struct view *v = &s->v[s->n - 1];

    for (int d = 0; d < v->rank; d++)
        if (v->wrap[d] > 0 && n->by[d] != 1 && n->sh.dim[d] > 1) {
            v = push(s, v->size, v->rank);
            break;
        }
    if (!v)
        return false;
    slice(v, n, drop_remainder);
    return true;
}

/* Can axis d, all of it, be turned round or laid side by side? */
static bool wraps(const struct view *v, int d)
{
    return !(v->masked && axis_masked(v, d)) &&
           (v->wrap[d] == 0 || v->size[d] % v->wrap[d] == 0);
}

static bool roll(struct vstack *s, const struct node *n)
{
    struct view *v = &s->v[s->n - 1];
    bool moves[MAX_RANK], fits = true;

    for (int d = 0; d < v->rank; d++) {
        moves[d] = v->size[d] > 1 && n->lo[d] % v->size[d] != 0;
        fits &= !moves[d] || wraps(v, d);
    }
    if (!fits && !(v = push(s, v->size, v->rank)))
        return false;
    for (int d = 0; d < v->rank; d++) {
        if (!moves[d])
            continue;
        v->wrap[d] = v->wrap[d] > 0 ? v->wrap[d] : v->size[d];
        v->turn[d] = floor_mod(v->turn[d] - n->lo[d], v->wrap[d]);
    }
    return true;
}

static bool repeat(struct vstack *s, const struct node *n)
{
    struct view *v = &s->v[s->n - 1];
    bool fits = true;

    for (int d = 0; d < v->rank; d++)
        fits &= v->size[d] <= 1 || n->by[d] == 1 || wraps(v, d);
    if (!fits && !(v = push(s, v->size, v->rank)))
        return false;
    for (int d = 0; d < v->rank; d++) {
        int64_t size = v->size[d] * n->by[d];
        bool gone = v->hi[d] <= v->lo[d]; /* all of it is padding */

        if (n->by[d] == 1)
            continue;
        if (v->size[d] == 1)
            v->stride[d] = 0;
        else if (size == 0)
            v->wrap[d] = v->turn[d] = 0;
        else if (v->wrap[d] == 0 && v->stride[d] != 0)
            v->wrap[d] = v->size[d];
        v->size[d] = size;
        v->lo[d] = 0;
        v->hi[d] = gone ? 0 : size;
    }
    return true;
}

static bool pad(struct vstack *s, const struct node *n)
{
    struct view *v = &s->v[s->n - 1];
    bool any = false;

    for (int d = 0; d < v->rank; d++)
        any |= n->lo[d] > 0 || n->hi[d] > 0;
    if (!any)
        return true;
    if (v->masked && memcmp(&v->fill, &n->value, sizeof v->fill) != 0 &&
        !(v = push(s, v->size, v->rank)))
        return false;
    v->masked = true;
    v->fill = n->value;
    for (int d = 0; d < v->rank; d++) {
        v->lo[d] += n->lo[d];
        v->hi[d] += n->lo[d];
        if (v->wrap[d] > 0)
            v->turn[d] = floor_mod(v->turn[d] - n->lo[d], v->wrap[d]);
        else
            v->offset -= n->lo[d] * v->stride[d];
        v->size[d] += n->lo[d] + n->hi[d];
    }
    return true;
}

static bool reshape(struct vstack *s, const struct shape *sh, enum view_fault fault)
{
    struct view *v = &s->v[s->n - 1];

    if (shape_count(sh) == 0) {
        /* nothing is read, so any address will do */
        *v = view_dense(sh->dim, sh->rank);
        return true;
    }
    return reshape_merge(v, sh, fault) || push(s, sh->dim, sh->rank);
}

bool vstack_apply(struct vstack *s, const struct node *view, enum view_fault fault)
{
    struct view *v = &s->v[s->n - 1];

    switch ((int)view->op) {
    case OP_PERMUTE:
        permute(v, view->perm);
        return true;
    case OP_EXPAND:
        expand(v, &view->sh);
        return true;
    case OP_SLICE:
        return slice_stacked(s, view, fault == VIEW_FAULT_NEGATIVE_SLICE && s->n > 1);
    case OP_PAD:
        return pad(s, view);
    case OP_RESHAPE:
        return reshape(s, &view->sh, fault);
    case OP_ROLL:
        return roll(s, view);
    case OP_REPEAT:
        return repeat(s, view);
    }
    BUG("op %d is no view", (int)view->op);
}

/* The indices of v that address row-major position `at` of its space. */
static void unravel(const struct view *v, struct ixs *x, int at, int *idx)
{
    int64_t inner = 1;
    int first = 0;

    while (first < v->rank && v->size[first] <= 1)
        first++;
    for (int d = v->rank - 1; d >= 0; d--) {
        if (v->size[d] <= 1) {
            idx[d] = ix_const(x, 0);
            continue;
        }
        idx[d] = ix_div(x, at, inner);
        if (d != first)
            idx[d] = ix_mod(x, idx[d], v->size[d]);
        inner *= v->size[d];
    }
}

static int wrapped(const struct view *v, struct ixs *x, int d, int e)
{
    return v->wrap[d] > 0 ? ix_mod(x, ix_add(x, e, ix_const(x, v->turn[d])), v->wrap[d]) : e;
}

void vstack_index(const struct vstack *s, struct ixs *x, const int *idx, int *index,
                  struct guard *guard, int *n_guard)
{
    int cur[MAX_RANK], at = -1;

    *n_guard = 0;
    for (int d = 0; d < s->v[s->n - 1].rank; d++)
        cur[d] = idx[d];
    for (int i = s->n - 1; i >= 0; i--) {
        const struct view *v = &s->v[i];
        int cond = ix_const(x, 1);

        if (at >= 0)
            unravel(v, x, at, cur);
        at = ix_const(x, 0);
        for (int d = 0; d < v->rank; d++) {
            at = ix_add(x, at, ix_scale(x, wrapped(v, x, d, cur[d]), v->stride[d]));
            if (v->masked && v->lo[d] > 0)
                cond = ix_and(x, cond, ix_lt(x, ix_const(x, v->lo[d] - 1), cur[d]));
            if (v->masked && v->hi[d] < v->size[d])
                cond = ix_and(x, cond, ix_lt(x, cur[d], ix_const(x, v->hi[d])));
        }
        at = ix_add(x, at, ix_const(x, v->offset));
        if (cond != ix_const(x, 1))
            guard[(*n_guard)++] = (struct guard){ cond, v->fill };
    }
    *index = at;
}
