/*
 * assign: y = where(written, v, x), with v laid out over x by views: turned round where the
 * ranges go backwards, elements of other rows put between its own where they step, padded to
 * the size of x. What is written are the places that `true`, laid out the same way, is at.
 */
#include "lower/expand.h"

/* The axis with `by` elements for each of its own, the first of them: by - 1 zeros behind
 * every element, and nothing behind the last. A tensor of the highest rank has its outer axes
 * merged meanwhile. */
static int spread(struct expand *x, const char *const part[4], int a, int axis, int64_t by)
{
    const struct shape sh = *expand_shape(x, a);
    struct shape cut = { .rank = 0 }, back = sh;
    int64_t before[MAX_RANK] = { 0 }, after[MAX_RANK] = { 0 };
    bool merged = sh.rank == MAX_RANK;
    int at = 0;

    for (int d = 0; d < sh.rank; d++) {
        if (merged && cut.rank > 0 && d != axis && d != axis + 1)
            cut.dim[cut.rank - 1] *= sh.dim[d];
        else
            cut.dim[cut.rank++] = sh.dim[d];
        if (d == axis) {
            at = cut.rank;
            cut.dim[cut.rank++] = 1;
        }
    }
    after[at] = by - 1;
    x->block_at = axis;
    a = expand_pads(x, part[1], expand_reshape(x, part[0], a, &cut), before, after);
    back.dim[axis] *= by;
    a = expand_reshape(x, part[2], a, &back);
    a = expand_slice(x, part[3], a, axis, 0, (sh.dim[axis] - 1) * by + 1);
    x->block_at = -1;
    return a;
}

/* a, of the shape of the ranges, over the whole of x; the rest are zeros. */
static int lay_out(struct expand *x, const char *const part[6], int a)
{
    const struct node *n = x->n;
    const struct shape taken = *expand_shape(x, a);
    int64_t lo[MAX_RANK] = { 0 }, hi[MAX_RANK] = { 0 }, by[MAX_RANK] = { 0 };
    int64_t before[MAX_RANK] = { 0 }, after[MAX_RANK] = { 0 };
    bool turns = false, pads = false;

    for (int d = 0; d < taken.rank; d++) {
        int64_t last = n->lo[d] + (taken.dim[d] - 1) * n->by[d];
        bool back = n->by[d] < 0 && taken.dim[d] > 1;

        lo[d] = back ? taken.dim[d] - 1 : 0;
        hi[d] = back ? -1 : taken.dim[d];
        by[d] = back ? -1 : 1;
        before[d] = back ? last : n->lo[d];
        after[d] = n->sh.dim[d] - 1 - (back ? n->lo[d] : last);
        turns |= back;
        pads |= before[d] || after[d];
    }
    if (turns)
        a = expand_ranges(x, part[0], a, lo, hi, by);
    for (int d = 0; d < taken.rank; d++) {
        int64_t step = n->by[d] < 0 ? -n->by[d] : n->by[d];

        if (step > 1 && taken.dim[d] > 1)
            a = spread(x, part + 1, a, d, step);
    }
    return pads ? expand_pads(x, part[5], a, before, after) : a;
}

void expand_assign(struct expand *x)
{
    static const char *const value[] = { "vf", "vr", "vg", "vm", "vc", "vp" };
    static const char *const place[] = { "tf", "tr", "tg", "tm", "tc", "tp" };
    const struct node *n = x->n;
    const struct shape taken = ranges_shape(n);
    int to = x->map[n->arg[0].node], written;

    if (shape_count(&taken) == 0) {
        expand_unary(x, "", OP_COPY, to);
        return;
    }
    written = expand_to(x, "tb", expand_one(x, "true", DT_BOOL), &taken);
    written = lay_out(x, place, written);
    if (n->arg[1].node < 0)
        expand_unless(x, "", written, n->arg[1].lit, to);
    else
        expand_where(x, "", written, lay_out(x, value, x->map[n->arg[1].node]), to);
}
