#include "fuzz/explain/race.h"

#include <string.h>

#include "fuzz/explain/order.h"

bool race_is(enum verdict_kind k)
{
    return k == VK_RACE || k == VK_UNINITIALISED || k == VK_STALE_ALIAS || k == VK_DIVERGENCE ||
           k == VK_DEADLOCK;
}

struct pair {
    const struct lprog *l;
    const struct kernel *k;
    int kernel;
    const struct verdict *v;
    int late, early; /* statements: what was met, and what had been there; early -1 = none */
    struct arena *a;
};

static void blame_pass(const char *pass, const char *rule, struct cause *out)
{
    out->number = 0;
    out->pass = pass;
    out->rule = rule;
}

/* The rewrite that made a statement or buffer; false if it has been there since build. */
static bool blame(const struct lprog *l, int by, struct cause *out)
{
    if (by < 1 || by > l->n_log)
        return false;
    blame_pass(passes[l->log[by - 1].pass].name, l->log[by - 1].rule, out);
    out->step = l->log[by - 1].step;
    return true;
}

static int step_of(const struct lprog *l, int by)
{
    return by >= 1 && by <= l->n_log ? l->log[by - 1].step : -1;
}

static bool is_sync_of_blocks(const struct stmt *s)
{
    return s->kind == ST_ACQUIRE || s->kind == ST_RELEASE || s->kind == ST_ATOMIC;
}

/* Number of the innermost serial loop round both statements; -1 = none. */
static int common_loop(const struct kernel *k, int x, int y)
{
    int best = -1, lo = x < y ? x : y, hi = x < y ? y : x;

    for (int i = kernel_body(k); i < lo; i++)
        if (k->st[i].kind == ST_LOOP && stmt_end(k, i) > hi)
            best = i;
    return best;
}

static const char *what(const struct pair *p, const struct site *s)
{
    return arena_printf(p->a, "%s of %s", s->store ? "a store" : "a load", s->buffer);
}

static int buffer_at(const struct pair *p, const char *name)
{
    for (int b = 0; b < p->l->n_buffer; b++)
        if (!strcmp(p->l->buffer[b].name, name))
            return b;
    return -1;
}

/* First and last statement that names buffer b; first > last = none. */
struct touch {
    const struct lprog *l;
    int buffer;
    bool here;
};

static void touch_access(void *ctx, int access)
{
    struct touch *t = ctx;

    t->here |=
        t->l->access[access].src == SRC_BUFFER && t->l->access[access].buffer == t->buffer;
}

static void life(const struct pair *p, int buffer, int *first, int *last)
{
    *first = p->k->n;
    *last = -1;
    for (int i = 0; i < p->k->n; i++) {
        struct touch t = { p->l, buffer, false };

        if (stmt_has_access(&p->k->st[i]))
            touch_access(&t, p->k->st[i].access);
        stmt_loads(p->l, &p->k->st[i], touch_access, &t);
        if (!t.here)
            continue;
        if (*first > i)
            *first = i;
        *last = i;
    }
}

/* Do both live at once, so that they should not share storage? */
static bool lives_meet(const struct pair *p, int x, int y)
{
    int x0, x1, y0, y1;

    life(p, x, &x0, &x1);
    life(p, y, &y0, &y1);
    return common_loop(p->k, x1, y0) >= 0 || common_loop(p->k, y1, x0) >= 0 ||
           (x0 <= y1 && y0 <= x1);
}

static void cause_overlay(const struct pair *p, int x, int y, struct cause *out,
                          const char **note)
{
    blame_pass("smem", "smem.place", out);
    for (int i = 0; i < p->l->n_log; i++)
        if (!strcmp(passes[p->l->log[i].pass].name, "smem")) {
            out->rule = p->l->log[i].rule;
            out->step = p->l->log[i].step;
        }
    *note = arena_printf(p->a, "%s and %s share shared memory while both are in use",
                         p->l->buffer[x].name, p->l->buffer[y].name);
}

static void cause_emit(struct cause *out, const char **note)
{
    blame_pass("emit", "", out);
    out->class = "emit";
    *note = "the loops synchronise it; the emitted text does not";
}

/* A copy still under way: the last wait lets too many be, or there is none. */
static void cause_copy(const struct pair *p, const struct order *o, struct cause *out,
                       const char **note)
{
    const struct site *copy = o->first, *other = o->second;

    out->step = step_of(p->l, p->k->st[copy->stmt].by);
    /* the wait of the loop leaves some under way on purpose; what comes behind it must drain */
    if (o->wait >= 0 && !o->leaves) {
        blame(p->l, p->k->st[o->wait].by, out);
        *note = arena_printf(p->a,
                             "the wait between them leaves %lld groups of copies under way: an "
                             "asynchronous copy to %s has not landed when %s comes",
                             (long long)p->k->st[o->wait].n, copy->buffer, what(p, other));
        return;
    }
    blame_pass("ring", o->leaves ? "ring.drain" : "ring.async", out);
    *note =
        o->leaves
            ? arena_printf(p->a,
                           "no wait for all of them (wait 0) stands between the asynchronous "
                           "copies to %s and %s behind the loop: what is under way when the "
                           "loop ends lands later, and a copy past the end writes zeros",
                           copy->buffer, what(p, other))
            : arena_printf(p->a, "no wait stands between the asynchronous copy to %s and %s",
                           copy->buffer, what(p, other));
}

static int step_of_buffer(const struct pair *p, const char *name)
{
    int b = buffer_at(p, name);

    return b < 0 ? -1 : step_of(p->l, p->l->buffer[b].by);
}

/* No barrier that all threads meet. */
static void cause_barrier(const struct pair *p, const struct order *o, struct cause *out,
                          const char **note)
{
    const struct site *f = o->first, *s = o->second;

    blame_pass("sync",
               f->store && s->store ? "sync.waw"
               : f->store           ? "sync.raw"
                                    : "sync.war",
               out);
    out->step = step_of_buffer(p, f->buffer);
    *note = arena_printf(p->a, "no barrier %s %s and %s of another thread",
                         o->copy ? "stands behind the wait, between" : "stands between",
                         what(p, f), what(p, s));
    if (o->branched < 0)
        return;
    blame(p->l, p->k->st[o->branched].by, out);
    *note = arena_printf(p->a,
                         "the barrier between %s and %s of another thread stands in a branch "
                         "that not all threads take",
                         what(p, f), what(p, s));
}

/* One statement, and nothing can stand between its threads. */
static void cause_statement(const struct pair *p, struct cause *out, const char **note)
{
    *note = arena_printf(p->a, "threads of one statement meet at %s", p->v->site.buffer);
    if (!blame(p->l, p->k->st[p->late].by, out))
        blame_pass("build", "", out);
}

/* Two threads of one block, or a thread and its own copy. */
static void cause_threads(const struct pair *p, const struct site *other, struct cause *out,
                          const char **note)
{
    int x = buffer_at(p, p->v->site.buffer), y = buffer_at(p, other->buffer);
    struct order o;

    if (x >= 0 && y >= 0 && x != y && lives_meet(p, x, y)) {
        cause_overlay(p, x, y, out, note);
        return;
    }
    order_find(p->l, p->k, &p->v->site, other, p->a, &o);
    if (o.same)
        cause_statement(p, out, note);
    else if (!o.landed)
        cause_copy(p, &o, out, note);
    else if (o.barrier < 0)
        cause_barrier(p, &o, out, note);
    else
        cause_emit(out, note);
}

/* Between blocks: who lets slices meet, or who cut dependent work into blocks. */
static void cause_blocks(const struct pair *p, struct cause *out, const char **note)
{
    *note = arena_printf(p->a, "nothing orders %s in block %lld and %s in block %lld",
                         what(p, &p->v->other), (long long)p->v->other.block,
                         what(p, &p->v->site), (long long)p->v->site.block);
    for (int i = 0; i < p->k->n; i++)
        if (is_sync_of_blocks(&p->k->st[i]) && blame(p->l, p->k->st[i].by, out))
            return;
    if (!blame(p->l, p->k->st[0].by, out))
        blame_pass("bind", "bind.default", out);
}

/* The semaphore's order is whole in the loops: acquire, barrier, .., barrier, release. Then it
 * is the text that is wrong. */
static bool semaphore_whole(const struct pair *p)
{
    int acquire = -1, release = -1;

    for (int i = 0; i < p->k->n; i++) {
        acquire = p->k->st[i].kind == ST_ACQUIRE ? i : acquire;
        release = p->k->st[i].kind == ST_RELEASE ? i : release;
    }
    return acquire >= 0 && release > acquire + 1 && p->k->st[acquire + 1].kind == ST_SYNC &&
           p->k->st[release - 1].kind == ST_SYNC;
}

/* What the kernel itself stores before it loads it, and another thread has not stored yet: the
 * race came out the other way round. */
static bool cause_early(const struct pair *p, int buffer, struct cause *out, const char **note)
{
    for (int i = p->late - 1; i >= kernel_body(p->k) && buffer >= 0; i--) {
        struct site store = p->v->site;
        struct order o;

        if (!stmt_writes(&p->k->st[i]) || p->l->access[p->k->st[i].access].buffer != buffer)
            continue;
        store.stmt = i;
        store.store = true;
        order_find(p->l, p->k, &p->v->site, &store, p->a, &o);
        if (o.same || (o.landed && o.barrier >= 0))
            return false;
        cause_threads(p, &store, out, note);
        return true;
    }
    return false;
}

static void cause_unwritten(const struct pair *p, struct cause *out, const char **note)
{
    int b = buffer_at(p, p->v->site.buffer);

    if (cause_early(p, b, out, note))
        return;
    *note = arena_printf(p->a, "%s was never written before", p->v->site.buffer);
    if (blame(p->l, p->k->st[p->late].by, out))
        return;
    if (b >= 0 && blame(p->l, p->l->buffer[b].by, out))
        return;
    blame_pass("build", "", out);
}

bool race_cause(const struct lprog *l, const struct verdict *v, struct cause *out,
                struct arena *a, const char **note)
{
    struct pair p = { l, NULL, v->site.kernel_no, v, v->site.stmt, -1, a };
    const char *dropped;

    if (!note)
        note = &dropped;
    if (!v->site.kernel[0] || p.kernel < 0 || p.kernel >= l->n_kernel)
        return false;
    p.k = &l->kernel[p.kernel];
    if (p.late < 0 || p.late >= p.k->n)
        return false;
    if (v->other.kernel[0] && v->other.stmt >= 0 && v->other.stmt < p.k->n)
        p.early = v->other.stmt;
    out->kernel = p.kernel;
    out->class = v->kind == VK_STALE_ALIAS ? "alias" : "race";
    if (v->kind == VK_RACE && p.early >= 0 && v->site.block != v->other.block)
        semaphore_whole(&p) ? cause_emit(out, note) : cause_blocks(&p, out, note);
    else if ((v->kind == VK_RACE || v->kind == VK_STALE_ALIAS) && p.early >= 0)
        cause_threads(&p, &v->other, out, note);
    else if (v->kind == VK_UNINITIALISED)
        cause_unwritten(&p, out, note);
    else if (!blame(l, p.k->st[p.late].by, out))
        cause_emit(out, note);
    return true;
}
