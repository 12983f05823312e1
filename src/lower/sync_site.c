#include "lower/sync_site.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ELEMENT = 1 << 22 };

struct finder {
    struct sites *s;
    int unit, stmt;
    int cond[MAX_CONDS], n_cond; /* IFs that are open in the unit */
};

static bool is_met(const struct sites *s, int access)
{
    const struct access *a = &s->l->access[access];

    return a->src == SRC_BUFFER && s->meets[a->buffer];
}

static bool uses_other(const struct sites *s, int e)
{
    for (int i = 0; i < s->k->n; i++)
        if (s->k->st[i].kind == ST_LOOP && !s->uniform[s->k->st[i].var] &&
            ix_uses(&s->l->ix, e, s->k->st[i].var))
            return true;
    return false;
}

/* Terms of a sum that only walked loops change go to the base. */
static void part(struct sites *s, struct site *x, int e)
{
    struct ix i = s->l->ix.x[e];

    if (i.op == IX_ADD) {
        part(s, x, i.a);
        part(s, x, i.b);
    } else if (uses_other(s, e)) {
        x->rest = ix_add(&s->l->ix, x->rest, e);
    } else {
        x->base = ix_add(&s->l->ix, x->base, e);
    }
}

/* What there is no room for is taken to hold. */
static void add_cond(struct site *x, int cond)
{
    if (x->n_cond < MAX_CONDS)
        x->cond[x->n_cond++] = cond;
}

static void add_site(struct finder *f, int access, bool write)
{
    struct sites *s = f->s;
    struct site x = { .unit = f->unit, .access = access, .write = write };
    const struct access *a = &s->l->access[access];

    x.async = write && s->k->st[f->stmt].kind == ST_ASYNC;
    x.buffer = a->buffer;
    x.bytes = dtype_info(a->dt)->bytes;
    x.base = x.rest = ix_const(&s->l->ix, 0);
    for (int i = 0; i < f->n_cond && i < MAX_CONDS; i++)
        add_cond(&x, f->cond[i]);
    for (int i = 0; i < a->n_guard; i++)
        add_cond(&x, a->guard[i].cond);
    part(s, &x, a->index);
    *arena_push(s->l->arena, s->site, s->n, s->cap) = x;
}

static void add_read(void *ctx, int access)
{
    struct finder *f = ctx;

    if (is_met(f->s, access))
        add_site(f, access, false);
}

static void add_stmt(struct finder *f, int at)
{
    const struct stmt *st = &f->s->k->st[at];

    f->stmt = at;
    stmt_loads(f->s->l, st, add_read, f);
    if (stmt_writes(st) && is_met(f->s, st->access))
        add_site(f, st->access, true);
}

static void add_unit(struct finder *f, int from, int to)
{
    f->unit = from;
    f->n_cond = 0;
    for (int i = from; i <= to; i++) {
        const struct stmt *st = &f->s->k->st[i];

        if (st->kind == ST_IF) {
            if (f->n_cond < MAX_CONDS)
                f->cond[f->n_cond] = st->cond;
            f->n_cond++;
        }
        add_stmt(f, i);
        if (st->kind == ST_END)
            for (int j = from; j < i; j++)
                if (f->s->k->st[j].kind == ST_IF && stmt_end(f->s->k, j) == i)
                    f->n_cond--;
    }
}

struct count {
    const struct sites *s;
    int reads;
};

static void count_read(void *ctx, int access)
{
    struct count *c = ctx;

    c->reads += is_met(c->s, access);
}

/* Must a loop be walked? If only one statement writes, or all only read, nothing within can
 * be out of order. */
static bool must_walk(const struct sites *s, int from, int to)
{
    struct count c = { s, 0 };
    int writes = 0;

    for (int i = from; i <= to; i++) {
        const struct stmt *st = &s->k->st[i];

        if (st->kind == ST_SYNC || st->kind == ST_COMMIT || st->kind == ST_WAIT)
            return true;
        stmt_loads(s->l, st, count_read, &c);
        writes += stmt_writes(st) && is_met(s, st->access);
    }
    return writes > 1 || (writes && c.reads);
}

static void find(struct sites *s, int from, int to)
{
    for (int i = from; i < to; i++) {
        const struct stmt *st = &s->k->st[i];
        bool block = st->kind == ST_LOOP || st->kind == ST_IF;
        int end = block ? stmt_end(s->k, i) : i;

        if (st->kind == ST_LOOP && st->loop == LOOP_SERIAL && must_walk(s, i, end)) {
            s->walked[i] = s->uniform[st->var] = true;
            find(s, i + 1, end);
            s->uniform[st->var] = false;
        } else {
            struct finder f = { .s = s };

            add_unit(&f, i, end);
        }
        i = end;
    }
}

static void lay_out(struct sites *s)
{
    struct lprog *l = s->l;

    s->place = arena_array(l->arena, int64_t, l->n_buffer + 1);
    s->grain = 8;
    for (int shared = 1; shared >= 0; shared--)
        for (int b = 0; b < l->n_buffer; b++) {
            const struct buffer *x = &l->buffer[b];
            int bytes = dtype_info(x->dt)->bytes;
            int64_t size = shared ? x->elems * bytes : 0;

            if (!s->meets[b] || (x->kind == BUF_SHARED) != shared)
                continue;
            if (!shared)
                size = site_reach(s, b);
            s->grain = bytes < s->grain ? bytes : s->grain;
            s->place[b] = shared ? x->smem_at : -1;
            if (FAULT(l, smem_alias_unseen_by_sync) || s->place[b] < 0)
                s->place[b] = (s->pool + 15) / 16 * 16;
            if (s->place[b] + size > s->pool)
                s->pool = s->place[b] + size;
        }
}

void sites_find(struct sites *s, struct lprog *l, int kernel)
{
    const struct kernel *k = &l->kernel[kernel];
    int body = kernel_body(k);

    *s = (struct sites){ .l = l, .k = k };
    s->walked = arena_array(l->arena, bool, k->n + 1);
    s->uniform = arena_array(l->arena, bool, l->n_var + 1);
    s->at = arena_array(l->arena, int64_t, l->n_var + 1);
    s->last = arena_array(l->arena, int64_t, l->n_var + 1);
    s->to = arena_array(l->arena, int, l->n_var + 1);
    s->extent = lprog_extents(l);
    s->thread = kernel_thread_index(l, k);
    s->meets = arena_array(l->arena, bool, l->n_buffer + 1);
    sites_meet(l, kernel, s->meets);
    find(s, body, k->n - body);
    lay_out(s);
}

/* Does it hold for that thread, in the first block or in the last? */
static bool holds(const struct sites *s, const struct variant *v)
{
    for (int i = 0; i < v->n_cond; i++)
        if (!ix_eval(&s->l->ix, v->cond[i], s->at) && !ix_eval(&s->l->ix, v->cond[i], s->last))
            return false;
    return true;
}

static void set(struct sites *s, int var, int64_t to)
{
    s->at[var] = s->last[var] = to;
}

static bool depends(const struct sites *s, const struct variant *v, int var)
{
    bool uses = ix_uses(&s->l->ix, v->rest, var);

    for (int i = 0; i < v->n_cond; i++)
        uses |= ix_uses(&s->l->ix, v->cond[i], var);
    return uses;
}

/* The loops whose values matter: threads and loops of the unit. Threads that it does not
 * depend on all do the same: *many. */
static int variables(const struct sites *s, const struct variant *v, int *var, bool *many)
{
    bool *seen = arena_array(s->l->arena, bool, s->l->n_var);
    int n = 0;

    for (int i = 0; i < s->k->n; i++) {
        const struct stmt *st = &s->k->st[i];

        if (st->kind != ST_LOOP || seen[st->var])
            continue;
        seen[st->var] = true;
        if (st->loop == LOOP_BLOCK)
            s->last[st->var] = s->l->var[st->var].extent - 1;
        else if (depends(s, v, st->var))
            var[n++] = st->var;
        else
            *many |= st->loop == LOOP_THREAD && s->l->var[st->var].extent > 1;
    }
    return n;
}

static int compare(const void *x, const void *y)
{
    const struct element *a = x, *b = y;

    return a->index < b->index ? -1 : a->index > b->index;
}

/* All values of the variables that it depends on. */
static void compute(struct sites *s, struct variant *v)
{
    int *var = arena_array(s->l->arena, int, s->k->n), n_var, kept = 0;
    bool many = false;
    int64_t n = 1;

    n_var = variables(s, v, var, &many);
    for (int i = 0; i < n_var; i++)
        n *= s->l->var[var[i]].extent;
    n = n > MAX_ELEMENT ? MAX_ELEMENT : n;
    v->element = arena_array(s->l->arena, struct element, n + 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i;

        for (int d = 0; d < n_var; d++) {
            set(s, var[d], rest % s->l->var[var[d]].extent);
            rest /= s->l->var[var[d]].extent;
        }
        if (holds(s, v))
            v->element[v->n++] =
                (struct element){ ix_eval(&s->l->ix, v->rest, s->at),
                                  many ? -1 : (int)ix_eval(&s->l->ix, s->thread, s->at) };
    }
    for (int d = 0; d < n_var; d++)
        set(s, var[d], 0);
    qsort(v->element, (size_t)v->n, sizeof *v->element, compare);
    for (int i = 0; i < v->n; i++) {
        struct element e = v->element[i], *last = kept ? &v->element[kept - 1] : NULL;

        if (!last || last->index != e.index)
            v->element[kept++] = e;
        else if (last->thread != e.thread)
            last->thread = -1;
    }
    v->n = kept;
}

/* What is left of an expression where the walk stands. */
static int here(struct sites *s, int e, int *to)
{
    return ix_subst(&s->l->ix, e, to, s->l->n_var);
}

/* The site as it is where the walk stands: mostly one that came up before. */
static const struct variant *variant_of(struct sites *s, struct site *x)
{
    struct variant v = { .n = 0 };
    int *to = s->to;

    for (int i = 0; i < s->l->n_var; i++)
        to[i] = s->uniform[i] ? ix_const(&s->l->ix, s->at[i]) : -1;
    v.rest = here(s, x->rest, to);
    for (int i = 0; i < x->n_cond; i++) {
        int cond = here(s, x->cond[i], to);

        if (ix_range(&s->l->ix, cond, s->extent).lo != 1)
            v.cond[v.n_cond++] = cond;
    }
    for (int i = 0; i < x->n_variant; i++) {
        const struct variant *w = &x->variant[i];

        if (w->rest == v.rest && w->n_cond == v.n_cond &&
            memcmp(w->cond, v.cond, (size_t)v.n_cond * sizeof *v.cond) == 0)
            return w;
    }
    compute(s, &v);
    *arena_push(s->l->arena, x->variant, x->n_variant, x->cap_variant) = v;
    return &x->variant[x->n_variant - 1];
}

void site_touch(struct sites *s, int site, void (*f)(void *ctx, int64_t byte, int thread),
                void *ctx)
{
    struct site *x = &s->site[site];
    const struct variant *v = variant_of(s, x);
    int64_t at = s->place[x->buffer] + ix_eval(&s->l->ix, x->base, s->at) * x->bytes;

    for (int i = 0; i < v->n; i++)
        f(ctx, at + v->element[i].index * x->bytes, v->element[i].thread);
}
