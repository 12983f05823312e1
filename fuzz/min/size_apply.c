/*
 * Writing new sizes into a program: what a slice, assign, pad, roll or repeat becomes, and
 * which of the given values stay.
 */
#include "fuzz/min/reduce.h"
#include "fuzz/min/size.h"

static bool goes_down(int choice)
{
    return choice == CHOICES - 1;
}

/* A range goes down by what is gone, if there is room: where the last elements are kept
 * (values_slice), it still holds what it held, and others beside it do too. */
static void range_down(struct node *n, int a, int64_t gone)
{
    int64_t first = n->lo[a] < n->hi[a] ? n->lo[a] : n->hi[a] + 1;

    if (gone <= 0 || first < gone)
        return;
    n->lo[a] -= gone;
    n->hi[a] -= gone;
}

/* in elements in, out of them out: start and step stay as near to the old ones as they can. */
static bool slice_set(struct node *n, int a, int64_t in, int64_t out)
{
    int64_t step = n->by[a] < 0 ? -n->by[a] : n->by[a], span;

    if (out > in)
        return false;
    if (out > 1 && (out - 1) * step > in - 1)
        step = (in - 1) / (out - 1);
    span = out > 1 ? (out - 1) * step : 0;
    if (out == 0) {
        n->lo[a] = n->hi[a] = 0;
        n->by[a] = 1;
    } else if (n->by[a] > 0) {
        n->lo[a] = at_most(n->lo[a], in - 1 - span);
        n->by[a] = step;
        n->hi[a] = n->lo[a] + span + 1;
    } else {
        int64_t lo = at_most(n->lo[a], in - 1);

        n->lo[a] = lo < span ? span : lo;
        n->by[a] = -step;
        n->hi[a] = n->lo[a] - span - 1;
    }
    return true;
}

/* The sum of both pads is out - in; a side that had none stays without. */
static bool pad_set(struct node *n, int a, int64_t in, int64_t out, int choice)
{
    int64_t sum = out - in;

    if (sum < 0)
        return false;
    if (sum == n->lo[a] + n->hi[a])
        return true;
    if (n->hi[a] == 0)
        n->lo[a] = sum;
    else if (n->lo[a] == 0)
        n->hi[a] = sum;
    else if (choice / 2 % 2) {
        n->hi[a] = at_most(n->hi[a], sum > 0 ? sum - 1 : 0);
        n->lo[a] = sum - n->hi[a];
    } else {
        n->lo[a] = at_most(n->lo[a], sum > 0 ? sum - 1 : 0);
        n->hi[a] = sum - n->lo[a];
    }
    return true;
}

/* A shift that was one stays one. */
static bool round_set(struct node *n, int a, int64_t in, int64_t out)
{
    if (n->op == OP_ROLL) {
        if (in > 1 && n->lo[a] % n->sh.dim[a] != 0 && n->lo[a] % in == 0)
            n->lo[a] = 1;
        return true;
    }
    if (in == 0)
        return out == 0;
    n->by[a] = out / in;
    return out % in == 0;
}

/* Given values keep those elements whose coordinates are still there, counted from the first
 * or from the last of each axis. */
static void values_slice(struct values *v, const struct shape *old, const struct shape *new,
                         bool last, struct arena *a)
{
    int64_t n = shape_count(new), *stride = arena_array(a, int64_t, MAX_RANK);
    double *out = arena_array(a, double, n + 1);

    shape_strides(old, stride);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, at = 0;

        for (int k = new->rank - 1; k >= 0; k--) {
            at += (rest % new->dim[k] + (last ? old->dim[k] - new->dim[k] : 0)) * stride[k];
            rest /= new->dim[k];
        }
        out[i] = v->v[at];
    }
    v->v = out;
    v->n = n;
}

/* Storage of a given layout shrinks with the tensor: what lies between rows stays as it is. */
static void layout_shrink(struct layout *l, const struct shape *old, const struct shape *new)
{
    int64_t span = 1, was = 1;
    bool done[MAX_RANK] = { false };

    if (!l->given)
        return;
    for (int n = 0; n < old->rank; n++) {
        int k = -1;
        int64_t stride;

        for (int i = 0; i < old->rank; i++)
            if (!done[i] && (k < 0 || l->stride[i] < l->stride[k]))
                k = i;
        done[k] = true;
        stride = l->stride[k];
        if (stride >= was)
            l->stride[k] = span + stride - was;
        was += (old->dim[k] > 0 ? old->dim[k] - 1 : 0) * stride;
        span += (new->dim[k] > 0 ? new->dim[k] - 1 : 0) * l->stride[k];
    }
}

static void layouts_shrink(struct trial *t, int node, const struct shape *old,
                           const struct shape *new)
{
    layout_shrink(&t->prog.node[node].layout, old, new);
    for (int k = 0; k < t->prog.n_out; k++)
        if (t->prog.out[k].node == node)
            layout_shrink(&t->prog.out[k].layout, old, new);
}

/* An assign to an axis of in elements writes as many as its value has; a number goes to as many
 * as before, if there still are. */
static bool assign_set(const struct sizes *z, struct node *n, int a, int64_t in, bool down)
{
    int64_t count = range_count(n->lo[a], n->hi[a], n->by[a]), out = at_most(count, in);

    if (down)
        range_down(n, a, n->sh.dim[a] - in);
    if (n->arg[1].node >= 0)
        out = sizes_new(z, sizes_sym(z, n->arg[1].node, a));
    return (in == n->sh.dim[a] && out == count) || slice_set(n, a, in, out);
}

static bool node_resize(const struct sizes *z, struct node *n, int i, const struct shape *sh,
                        int choice)
{
    int src = n->n_arg ? n->arg[0].node : -1;

    for (int k = 0; k < sh->rank && src >= 0; k++) {
        int64_t in, out = sh->dim[k];

        if (n->op == OP_ASSIGN && !assign_set(z, n, k, out, goes_down(choice)))
            return false;
        if (n->op != OP_SLICE && n->op != OP_PAD && n->op != OP_ROLL && n->op != OP_REPEAT)
            continue;
        in = sizes_new(z, sizes_sym(z, src, k));
        if (z->to[sizes_sym(z, src, k)] < 0 && z->to[sizes_sym(z, i, k)] < 0)
            continue;
        if (n->op == OP_SLICE && goes_down(choice))
            range_down(n, k, z->extent[sizes_sym(z, src, k)] - in);
        if (n->op == OP_SLICE && !slice_set(n, k, in, out))
            return false;
        if (n->op == OP_PAD && !pad_set(n, k, in, out, choice))
            return false;
        if ((n->op == OP_ROLL || n->op == OP_REPEAT) && !round_set(n, k, in, out))
            return false;
    }
    n->sh = *sh;
    return true;
}

bool sizes_apply(const struct sizes *z, struct trial *t, int choice, struct arena *a)
{
    bool any = false;

    for (int s = 0; s < z->n_sym; s++) {
        if (z->to[s] > z->extent[s])
            return false;
        any |= z->to[s] >= 0;
    }
    for (int i = 0; i < t->prog.n && any; i++) {
        struct node *n = &t->prog.node[i];
        struct shape old = n->sh, sh = n->sh;
        struct values *v = trial_values(t, i);

        for (int k = 0; k < sh.rank; k++)
            sh.dim[k] = sizes_new(z, sizes_sym(z, i, k));
        if (!node_resize(z, n, i, &sh, choice))
            return false;
        if (v && !shape_equal(&old, &sh))
            values_slice(v, &old, &sh, choice % 2 == 1, a);
        if (choice % 2 == 1 && !shape_equal(&old, &sh))
            layouts_shrink(t, i, &old, &sh);
    }
    return any;
}
