/*
 * An access that left its array ended the trace before it was recorded: what the same
 * iteration did before the rewrite tells what it should have done.
 */
#include "fuzz/explain/differ_inner.h"

#include <inttypes.h>
#include <string.h>

#include "fuzz/explain/access.h"

struct find {
    const struct lprog *l;
    const char *buffer;
    int access, n;
};

static void match_access(void *ctx, int access)
{
    struct find *f = ctx;
    const struct access *ac = &f->l->access[access];

    if (ac->src == SRC_BUFFER && !strcmp(f->l->buffer[ac->buffer].name, f->buffer) &&
        access != f->access) {
        f->access = access;
        f->n++;
    }
}

int differ_access(const struct lprog *l, int kernel, const struct site *s)
{
    const struct kernel *k = &l->kernel[kernel];
    struct find f = { l, s->buffer, -1, 0 };

    for (int i = 0; i < k->n; i++) {
        if (stmt_writes(&k->st[i]) && s->store)
            match_access(&f, k->st[i].access);
        if (stmt_has_value(&k->st[i]) && !s->store)
            value_accesses(l, k->st[i].val, match_access, &f);
    }
    return f.n == 1 ? f.access : -1;
}

/* What the same iteration did before the rewrite, if there was such an iteration. */
static const struct leaf *partner_load(struct differ *d, const struct site *s)
{
    int64_t elems = d->before.l->buffer[d->before.k[d->kb].buffer].elems;

    for (int64_t e = 0; e < elems; e++) {
        side_leaves(&d->before, d->kb, e, &d->lb);
        for (int i = 0; i < d->lb.n; i++) {
            const struct leaf *f = &d->lb.v[i];

            if (!strcmp(buffer_text(f->buf), s->buffer) &&
                !strcmp(loops_text(d->before.l, &f->root->loops, d->a), s->loops))
                return differ_keep(d, f);
        }
    }
    return NULL;
}

/* All iterations of that load before the rewrite, by that kernel's loops. */
static const char *wanted_before(struct differ *d, const struct leaf *like)
{
    int64_t elems = d->before.l->buffer[d->before.k[d->kb].buffer].elems;
    struct points p = { .m = like->root->loops.n };

    if (p.m > VARS_MAX)
        return NULL;
    p.x = arena_array(d->a, int64_t, (int64_t)POINTS_MAX * p.m + 1);
    p.wanted = arena_array(d->a, int64_t, POINTS_MAX);
    for (int j = 0; j < p.m; j++)
        p.name[j] = d->before.l->var[like->root->loops.var[j]].name;
    for (int64_t e = 0; e < elems; e++) {
        side_leaves(&d->before, d->kb, e, &d->lb);
        for (int i = 0; i < d->lb.n && p.n < POINTS_MAX; i++) {
            const struct leaf *f = &d->lb.v[i];

            if (f->guarded || f->buf != like->buf || f->root->stmt != like->root->stmt ||
                f->root->leaf != like->root->leaf)
                continue;
            memcpy(&p.x[(int64_t)p.n * p.m], f->root->loops.at, (size_t)p.m * sizeof *p.x);
            p.wanted[p.n++] = f->index;
        }
    }
    return differ_fitted(d, &p, buffer_text(like->buf), p.wanted);
}

static const struct trace_rec *partner_store(struct differ *d, const struct site *s)
{
    const struct ktrace *k = &d->before.k[d->kb];

    for (int i = 0; i < k->tr.n; i++)
        if (k->tr.rec[i].store &&
            !strcmp(loops_text(d->before.l, &k->tr.rec[i].loops, d->a), s->loops))
            return &k->tr.rec[i];
    return NULL;
}

static const char *wild_store(struct differ *d, const struct site *s)
{
    const struct trace_rec *r = partner_store(d, s);

    if (!r)
        return "before the rewrite nothing was stored there: a guard is missing";
    d->out->want = access_text(d->before.l, r->access, d->a);
    return arena_printf(d->a, "it should store to %s[%" PRId64 "]", s->buffer, r->index);
}

static const char *wild_load(struct differ *d, const struct site *s)
{
    const struct leaf *f = partner_load(d, s);

    if (!f)
        return "before the rewrite nothing was read there: a guard is missing";
    d->out->want = f->guarded ? NULL : wanted_before(d, f);
    if (!d->out->want)
        d->out->want = access_text(d->before.l, f->rec->access, d->a);
    return arena_printf(d->a, "it should read %s", differ_number(d, f));
}

bool differ_wild(struct differ *d)
{
    const struct outcome *o = &side_kernel(&d->after, d->ka)->tr.ended;
    const struct site *s = &o->site;
    const char *should;
    int access;

    if (o->status != OUT_OUT_OF_BOUNDS || strcmp(s->kernel, d->after.l->kernel[d->kernel].name))
        return false;
    access = differ_access(d->after.l, d->kernel, s);
    if (access >= 0)
        d->out->got = access_text(d->after.l, access, d->a);
    should = s->store ? wild_store(d, s) : wild_load(d, s);
    d->out->loops = arena_strdup(d->a, s->loops);
    d->out->note =
        arena_printf(d->a, "it %s %s[%" PRId64 "] there, in an array of %" PRId64 "; %s",
                     s->store ? "stores to" : "reads", s->buffer, s->index, s->size, should);
    return true;
}
