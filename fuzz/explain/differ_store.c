/* Elements that one side of a rewrite stores and the other does not. */
#include "fuzz/explain/differ_inner.h"

#include <inttypes.h>

#include "fuzz/explain/access.h"

static const char *stores_fitted(struct differ *d, const struct side *by, int kernel)
{
    const struct ktrace *x = &d->after.k[d->ka], *y = &by->k[kernel];
    struct points p = { 0 };
    int *stores = arena_array(d->a, int, y->tr.n + 1), n = 0, at = 0;

    for (int i = 0; i < y->tr.n; i++)
        if (y->tr.rec[i].store)
            stores[n++] = i;
    p.x = arena_array(d->a, int64_t, (int64_t)x->tr.n * VARS_MAX + 1);
    p.used = arena_array(d->a, int64_t, x->tr.n + 1);
    for (int i = 0; i < x->tr.n; i++) {
        const struct trace_rec *r = &x->tr.rec[i];

        if (!r->store)
            continue;
        if (p.n == 0)
            p.m = r->loops.n < VARS_MAX ? r->loops.n : VARS_MAX;
        if (r->loops.n != p.m || at == n)
            return NULL;
        for (int j = 0; j < p.m; j++) {
            p.name[j] = d->after.l->var[r->loops.var[j]].name;
            p.x[p.n * p.m + j] = r->loops.at[j];
        }
        p.used[p.n++] = y->tr.rec[stores[at++]].index;
    }
    if (at != n)
        return NULL;
    return differ_fitted(d, &p, d->after.l->buffer[x->buffer].name, p.used);
}

static const struct trace_rec *nth_store(const struct ktrace *k, int n)
{
    for (int i = 0; i < k->tr.n; i++)
        if (k->tr.rec[i].store && n-- == 0)
            return &k->tr.rec[i];
    return NULL;
}

/* The first store in order of execution that goes elsewhere. */
static void stores_numbers(struct differ *d)
{
    const struct ktrace *ka = &d->after.k[d->ka], *kb = &d->before.k[d->kb];
    const char *name = d->after.l->buffer[ka->buffer].name;

    for (int i = 0;; i++) {
        const struct trace_rec *a = nth_store(ka, i), *b = nth_store(kb, i);

        if (!a || !b)
            return;
        if (a->index == b->index)
            continue;
        d->out->got = arena_printf(d->a, "%s[%" PRId64 "]", name, a->index);
        d->out->want = arena_printf(d->a, "%s[%" PRId64 "]", name, b->index);
        d->out->loops = a->loops.n ? loops_text(d->after.l, &a->loops, d->a) : NULL;
        return;
    }
}

/* An element that one side stores and the other does not. */
bool differ_stores(struct differ *d)
{
    struct ktrace *ka = side_kernel(&d->after, d->ka), *kb = side_kernel(&d->before, d->kb);
    const struct buffer *buf = &d->after.l->buffer[ka->buffer];
    bool cut = ka->tr.ended.status != OUT_RAN;

    for (int64_t e = 0; e < buf->elems; e++) {
        bool a = ka->first[e] >= 0, b = kb->first[e] >= 0;

        if (a == b || (cut && !a))
            continue;
        d->element = e;
        if (a)
            d->out->loops = loops_text(d->after.l, &ka->tr.rec[ka->first[e]].loops, d->a);
        d->out->got = stores_fitted(d, &d->after, d->ka);
        d->out->want = stores_fitted(d, &d->before, d->kb);
        if (!d->out->got || !d->out->want)
            stores_numbers(d);
        d->out->note =
            arena_printf(d->a, a ? "it stores %s, which it must not" : "it does not store %s",
                         differ_stored(d));
        return true;
    }
    return false;
}
