/*
 * The rules for a block's shared memory. A cell keeps its last writer and one reader: a later
 * access that is ordered behind those is ordered behind all before them, and readers that are
 * not ordered among themselves are lumped: a writer who is in order with one lane of a warp, or
 * with one warp of several, isn't with the rest. Where parts of a block have barriers of their
 * own this is not so, and all readers are kept, as in global.c.
 */
#include "run/simt/machine.h"

bool stamp_ordered_here(uint64_t stamp)
{
    uint64_t me = machine.hot.stamp;

    return stamp_interval(stamp) < machine.hot.floor || stamp_tid(stamp) == stamp_tid(me) ||
           stamp_met(stamp);
}

/* Common to both: an asynchronous copy that is under way is nobody's to touch, not even its
 * issuer's. True = the cell was reported. */
static bool writer_met(struct tf_cell *c, int site, int64_t index, bool store)
{
    const struct met met = { c->w & ~((uint64_t)tf_aside << 32), c->wsite, true };

    if (is_aside(c)) {
        report_access(SIMT_RACE, "async", c, site, index, store, &met);
        return true;
    }
    if (c->w && !stamp_ordered_here(c->w)) {
        report_access(SIMT_RACE, "barrier", c, site, index, store, &met);
        return true;
    }
    return false;
}

static bool muted(const struct tf_cell *c)
{
    return c->w == ~0ull;
}

static void add_reader(struct tf_cell *c, unsigned tag)
{
    const struct tf_hot *h = &machine.hot;
    uint64_t me = h->stamp, r = c->r;
    unsigned several = stamp_several(r);

    if (several == 2 && stamp_interval(r) >= h->floor)
        return;
    if (stamp_interval(r) < h->floor || (!several && stamp_tid(r) == stamp_tid(me)))
        c->r = me;
    else if (!same_warp(r, me))
        c->r = stamp_of(h->floor, 2, stamp_tid(me), stamp_clock(me));
    else if (stamp_clock(r) < stamp_clock(me))
        c->r = me;
    else
        c->r = stamp_of(h->floor, 1, stamp_tid(me), stamp_clock(me));
    c->rsite = tag;
}

void shared_read(struct tf_cell *c, int site, int64_t index)
{
    const struct tf_site *d = &machine.site[site];

    if (muted(c) || writer_met(c, site, index, false))
        return;
    if (machine.parts) {
        shared_access_exact(c, site, index, false);
        return;
    }
    if (!c->w) {
        report_access(SIMT_UNINIT, "unwritten", c, site, index, false, NULL);
        return;
    }
    if (c->wsite >> TF_SITE_BITS != d->array) {
        report_access(SIMT_STALE, "alias", c, site, index, false,
                      &(struct met){ c->w, c->wsite, true });
        return;
    }
    add_reader(c, d->tag);
}

static bool readers_over(uint64_t r)
{
    uint64_t me = machine.hot.stamp;

    switch (stamp_several(r)) {
    case 0:
        return stamp_ordered_here(r);
    case 1:
        return stamp_interval(r) < machine.hot.floor ||
               (same_warp(r, me) && stamp_clock(r) < stamp_clock(me));
    default:
        return stamp_interval(r) < machine.hot.floor;
    }
}

void shared_write(struct tf_cell *c, int site, int64_t index)
{
    if (muted(c) || writer_met(c, site, index, true))
        return;
    if (machine.parts) {
        shared_access_exact(c, site, index, true);
        return;
    }
    if (!readers_over(c->r)) {
        report_access(SIMT_RACE, "barrier", c, site, index, true,
                      &(struct met){ c->r, c->rsite, false });
        return;
    }
    c->w = machine.hot.stamp;
    c->wsite = machine.site[site].tag;
}
