/*
 * The rules for global memory, where blocks meet: nothing is lumped, a cell that several
 * unordered accesses since its last plain write have met keeps them all in a set. Such cells
 * are few: results of atomics, flags, what one block hands to the next. Shared memory comes
 * here in kernels where parts of a block have barriers of their own.
 */
#include <stdlib.h>

#include "base/bug.h"
#include "run/simt/machine.h"

enum { SET_FIRST = 4, SET_MOST = 4096 };

struct seen {
    uint64_t stamp;
    unsigned tag;
    enum access_kind kind;
};

struct set {
    struct seen *e;
    int n, cap;
};

/* Sets of a launch are forgotten in the next: numbers below floor are stale. */
static struct set *sets;
static uint32_t n_set, cap_set, floor_set;

void global_begin(bool launch)
{
    if (launch) {
        floor_set = n_set;
        return;
    }
    for (uint32_t i = 0; i < n_set; i++)
        free(sets[i].e);
    n_set = floor_set = 0;
}

static struct set *set_of(const struct tf_cell *c)
{
    uint32_t at = (uint32_t)c->r;

    return c->r >> 63 && at >= floor_set ? &sets[at] : NULL;
}

static struct set *set_new(struct tf_cell *c)
{
    if (n_set == cap_set) {
        cap_set = cap_set ? 2 * cap_set : 256;
        sets = must(realloc(sets, cap_set * sizeof *sets));
    }
    sets[n_set] = (struct set){ 0 };
    c->r = (uint64_t)tf_aside << 32 | n_set;
    return &sets[n_set++];
}

bool stamp_ordered(uint64_t stamp)
{
    const struct machine *m = &machine;
    uint32_t number = stamp_interval(stamp);
    const struct block *b = m->now->block;
    const struct interval *of;

    if (number < m->hot.launch)
        return true;
    of = interval_info(number);
    if (of->block == (uint32_t)b->id) {
        if (of->epoch < b->epoch || stamp_tid(stamp) == m->now->tid || stamp_met(stamp))
            return true;
    }
    return know_has(&b->know, stamp, of) || know_has(&m->now->own, stamp, of);
}

/* The cell at work is a block's own: flags say nothing of it. */
static bool here;

static bool ordered(uint64_t stamp)
{
    return here ? stamp_ordered_here(stamp) : stamp_ordered(stamp);
}

static bool is_load(enum access_kind k)
{
    return k == PLAIN_READ || k == ATOMIC_LOAD;
}

static bool is_atomic(enum access_kind k)
{
    return k != PLAIN_READ && k != PLAIN_WRITE;
}

static bool conflict(enum access_kind a, enum access_kind b)
{
    return !(is_load(a) && is_load(b)) && !(is_atomic(a) && is_atomic(b));
}

static const char *race_rule(uint64_t met, bool atomic)
{
    const struct interval *of = interval_info(stamp_interval(met));

    if (of->block != (uint32_t)machine.now->block->id)
        return "blocks";
    return atomic ? "atomic" : "barrier";
}

/* The accesses since the last plain write. True = reported. */
static bool others_met(struct tf_cell *c, int site, int64_t index, enum access_kind kind,
                       bool *stored)
{
    const struct set *s = set_of(c);
    struct seen one = { c->r, c->rsite, PLAIN_READ };
    const struct seen *e = s ? s->e : &one;
    int n = s ? s->n : c->r && !(c->r >> 63);

    for (int i = 0; i < n; i++) {
        *stored |= !is_load(e[i].kind);
        if (conflict(kind, e[i].kind) && !ordered(e[i].stamp)) {
            report_access(SIMT_RACE,
                          race_rule(e[i].stamp, is_atomic(kind) || is_atomic(e[i].kind)), c,
                          site, index, !is_load(kind),
                          &(struct met){ e[i].stamp, e[i].tag, !is_load(e[i].kind) });
            return true;
        }
    }
    return false;
}

/* What conflicts with `old` conflicts with `new` too, which comes behind it. */
static bool replaces(enum access_kind new, enum access_kind old)
{
    if (new == old || old == ATOMIC_LOAD)
        return true;
    return !is_load(new) && !is_load(old) && is_atomic(new) && is_atomic(old);
}

static void set_add(struct set *s, struct seen x)
{
    if (s->n == s->cap) {
        int n = 0;

        for (int i = 0; i < s->n; i++)
            if (!replaces(x.kind, s->e[i].kind) || !ordered(s->e[i].stamp))
                s->e[n++] = s->e[i];
        s->n = n;
        if (2 * n >= s->cap && s->cap < SET_MOST) {
            s->cap = s->cap ? 2 * s->cap : SET_FIRST;
            s->e = must(realloc(s->e, (size_t)s->cap * sizeof *s->e));
        }
        if (s->n == s->cap) /* so many at once: whoever is in order with the rest? */
            return;
    }
    s->e[s->n++] = x;
}

static void record(struct tf_cell *c, unsigned tag, enum access_kind kind)
{
    const struct seen x = { machine.hot.stamp, tag, kind };
    struct set *s = set_of(c);
    bool one = c->r && !(c->r >> 63) && stamp_interval(c->r) >= machine.hot.launch;

    if (!s && kind == PLAIN_READ && (!one || ordered(c->r))) {
        c->r = x.stamp;
        c->rsite = tag;
        return;
    }
    if (!s) {
        const struct seen before = { c->r, c->rsite, PLAIN_READ };

        s = set_new(c);
        if (one)
            set_add(s, before);
    }
    if (s->n && s->e[s->n - 1].stamp == x.stamp && s->e[s->n - 1].kind == kind)
        s->e[s->n - 1].tag = tag;
    else
        set_add(s, x);
}

void global_access(struct tf_cell *c, int site, int64_t index, enum access_kind kind)
{
    const struct tf_site *d = &machine.site[site];
    bool stored = false, reads = kind != PLAIN_WRITE && kind != ATOMIC_STORE;
    const struct met writer = { c->w, c->wsite, true };

    if (c->w == ~0ull)
        return;
    if (c->w && !ordered(c->w)) {
        report_access(SIMT_RACE, race_rule(c->w, is_atomic(kind)), c, site, index,
                      !is_load(kind), &writer);
        return;
    }
    if (others_met(c, site, index, kind, &stored))
        return;
    if (reads && !c->w && !stored) {
        report_access(SIMT_UNINIT, "unwritten", c, site, index, false, NULL);
        return;
    }
    if (reads && c->w && c->wsite >> TF_SITE_BITS != d->array) {
        report_access(SIMT_STALE, "alias", c, site, index, false, &writer);
        return;
    }
    if (kind == PLAIN_WRITE) {
        c->w = machine.hot.stamp;
        c->wsite = d->tag;
        c->r = 0;
        return;
    }
    if (!is_load(kind) && (!c->w || c->wsite >> TF_SITE_BITS != d->array)) {
        c->w = (uint64_t)TF_HOST << 32; /* it holds something from now on */
        c->wsite = d->tag;
    }
    if (!d->frozen)
        record(c, d->tag, kind);
}

void shared_access_exact(struct tf_cell *c, int site, int64_t index, bool store)
{
    here = true;
    global_access(c, site, index, store ? PLAIN_WRITE : PLAIN_READ);
    here = false;
}
