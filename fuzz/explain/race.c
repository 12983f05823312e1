#include "fuzz/explain/race.h"

#include <string.h>

#include "base/str.h"

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

/* A WAIT on the way from the copy at `from` to `to`, around the loop of both if there is one
 * and `to` stands in front; the last of them. -1 = none. */
static int wait_between(const struct kernel *k, int from, int to)
{
    int loop = common_loop(k, from, to), found = -1;

    for (int i = from; i < k->n && (to < from || i < to); i++) {
        if (loop >= 0 && i >= stmt_end(k, loop))
            break;
        if (k->st[i].kind == ST_WAIT)
            found = i;
    }
    for (int i = loop >= 0 ? loop : to; i < to && to < from; i++)
        if (k->st[i].kind == ST_WAIT)
            found = i;
    return found;
}

static const char *what(const struct pair *p, const struct site *s)
{
    return arena_printf(p->a, "%s of %s", s->store ? "a store" : "a load", s->buffer);
}

/* A copy still under way: the nearest WAIT lets too many be, or there is none. */
static void cause_async(const struct pair *p, struct cause *out, const char **note)
{
    bool copies = p->early >= 0 && p->k->st[p->early].kind == ST_ASYNC;
    int copy = copies ? p->early : p->late, other = copies ? p->late : p->early;
    const struct site *at = copies ? &p->v->other : &p->v->site;
    int wait = other >= 0 ? wait_between(p->k, copy, other) : -1;
    bool leaves = other >= 0 && common_loop(p->k, copy, other) < 0;

    out->step = step_of(p->l, p->k->st[copy].by);
    /* the wait of the loop leaves some under way on purpose; what reads behind it must drain */
    if (wait >= 0 && !(leaves && p->k->st[wait].n > 0 && common_loop(p->k, copy, wait) >= 0)) {
        blame(p->l, p->k->st[wait].by, out);
        *note = arena_printf(p->a,
                             "the wait between them leaves %lld groups of copies under way: an "
                             "asynchronous copy to %s has not landed when %s comes",
                             (long long)p->k->st[wait].n, at->buffer, what(p, &p->v->site));
        return;
    }
    blame_pass("ring", "ring.drain", out);
    if (other < 0) {
        *note = arena_printf(p->a,
                             "the block ends while asynchronous copies to %s are under way: no "
                             "wait for all of them (wait 0) stands behind the loop",
                             p->v->site.buffer);
        return;
    }
    *note = arena_printf(p->a,
                         "no wait stands between the asynchronous copies to %s and %s: a copy "
                         "that is under way when the loop ends lands later, and one past the "
                         "end writes zeros; wait for all of them (wait 0) behind the loop",
                         at->buffer, what(p, copies ? &p->v->site : &p->v->other));
}

static int buffer_at(const struct pair *p, int stmt, const char *name)
{
    (void)stmt;
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

    t->here |= t->l->access[access].src == SRC_BUFFER &&
               t->l->access[access].buffer == t->buffer;
}

static void life(const struct pair *p, int buffer, int *first, int *last)
{
    *first = p->k->n;
    *last = -1;
    for (int i = 0; i < p->k->n; i++) {
        struct touch t = { p->l, buffer, false };

        if (stmt_has_access(&p->k->st[i]))
            touch_access(&t, p->k->st[i].access);
        if (stmt_has_value(&p->k->st[i]))
            value_accesses(p->l, p->k->st[i].val, touch_access, &t);
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

/* Is there a barrier that every thread meets between the two, as the loops stand? */
static bool sync_between(const struct pair *p)
{
    int loop = common_loop(p->k, p->early, p->late);
    int from = p->early, to = p->late;

    if (from < to) {
        for (int i = from; i < to; i++)
            if (p->k->st[i].kind == ST_SYNC && common_loop(p->k, i, to) <= loop)
                return true;
        return false;
    }
    if (loop < 0)
        return false;
    for (int i = loop; i < stmt_end(p->k, loop); i++)
        if ((i > from || i < to) && p->k->st[i].kind == ST_SYNC)
            return true;
    return false;
}

static void cause_barrier(const struct pair *p, struct cause *out, const char **note)
{
    int x = buffer_at(p, p->late, p->v->site.buffer), y = -1;
    const struct site *s = &p->v->site, *o = &p->v->other;

    if (p->early >= 0)
        y = buffer_at(p, p->early, o->buffer);
    if (x >= 0 && y >= 0 && x != y && lives_meet(p, x, y)) {
        cause_overlay(p, x, y, out, note);
        return;
    }
    blame_pass("sync",
               s->store && o->store ? "sync.waw"
               : s->store           ? "sync.war"
                                    : "sync.raw",
               out);
    out->step = step_of(p->l, p->k->st[p->late].by);
    *note = arena_printf(p->a, "no barrier orders %s before %s of another thread", what(p, o),
                         what(p, s));
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

/* The semaphore's order is whole in the loops: acquire, barrier, .., barrier, release. Then it is
 * the text that is wrong. */
static bool semaphore_whole(const struct pair *p)
{
    int acquire = -1, release = -1;

    for (int i = 0; i < p->k->n; i++) {
        acquire = p->k->st[i].kind == ST_ACQUIRE ? i : acquire;
        release = p->k->st[i].kind == ST_RELEASE ? i : release;
    }
    return acquire >= 0 && release > acquire + 1 &&
           p->k->st[acquire + 1].kind == ST_SYNC && p->k->st[release - 1].kind == ST_SYNC;
}

static void cause_emit(struct cause *out, const char **note)
{
    blame_pass("emit", "", out);
    *note = "the loops synchronise it; the emitted text does not";
}

static void cause_unwritten(const struct pair *p, struct cause *out, const char **note)
{
    int b = buffer_at(p, p->late, p->v->site.buffer);

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
    bool async;

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
    async = !strcmp(v->rule, "async");
    if (v->kind == VK_RACE && async)
        cause_async(&p, out, note);
    else if (v->kind == VK_RACE && p.early >= 0 && v->site.block != v->other.block)
        semaphore_whole(&p) ? cause_emit(out, note) : cause_blocks(&p, out, note);
    else if (v->kind == VK_RACE && p.early >= 0)
        sync_between(&p) ? cause_emit(out, note) : cause_barrier(&p, out, note);
    else if (v->kind == VK_STALE_ALIAS && p.early >= 0)
        cause_overlay(&p, buffer_at(&p, p.late, v->site.buffer),
                      buffer_at(&p, p.early, v->other.buffer), out, note);
    else if (v->kind == VK_UNINITIALISED)
        cause_unwritten(&p, out, note);
    else if (!blame(l, p.k->st[p.late].by, out))
        cause_emit(out, note);
    return true;
}
