/*
 * A backend that runs in a process of its own, and keeps it from trial to trial. What fails
 * there may be the doing of an earlier trial: it counts if a fresh process fails as well.
 */
#include "base/bug.h"
#include "fuzz/check/backend.h"
#include "run/foreign.h"

enum { AT_MOST = AL_COUNT + EXACT_SETS + 1 };

struct heard {
    struct verdict v[AT_MOST];
    int n;
    bool failed;
};

static void hear(void *ctx, const struct verdict *v)
{
    struct heard *h = ctx;

    if (h->n == AT_MOST)
        BUG("more than %d verdicts of one backend", AT_MOST);
    h->v[h->n++] = *v;
    h->failed |= verdict_is_finding(v->kind);
}

void check_backend_afresh(const struct check_run *r, check_emit_fn *emit, void *ctx)
{
    struct heard h = { 0 };

    check_backend(r, hear, &h);
    /* who died over it is gone already: its successor is fresh */
    if (h.failed && !r->o->hasty && exec_refresh(r->b)) {
        h = (struct heard){ 0 };
        check_backend(r, hear, &h);
        if (!h.failed)
            exec_stale(r->b);
    }
    for (int i = 0; i < h.n; i++)
        emit(ctx, &h.v[i]);
}
