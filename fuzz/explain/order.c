#include "fuzz/explain/order.h"

#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 1 << 20 };

/* Something on the way: a barrier, commit or wait, or one of the two accesses. */
struct event {
    enum stmt_kind kind;
    int stmt;
    bool branch;
    int64_t commits; /* before it */
};

struct walk {
    const struct lprog *l;
    const struct kernel *k;
    const struct site *site[2];
    int at[2];      /* their events, -1 = not met yet */
    int64_t *value; /* of loop variables that are walked, -1 = others */
    struct event *ev;
    int n, cap;
    int64_t commits;
    struct arena *a;
};

/* Value of a loop in "s.i0=1 s.r0=7"; false = it is not told. */
static bool loop_value(const char *loops, const char *name, int64_t *value)
{
    size_t n = strlen(name);

    for (const char *p = strstr(loops, name); p; p = strstr(p + 1, name))
        if ((p == loops || p[-1] == ' ') && p[n] == '=') {
            *value = atoll(p + n + 1);
            return true;
        }
    return false;
}

/* Is this the turn of the walked loops that the access was made in? */
static bool is_here(const struct walk *w, const struct site *s)
{
    for (int v = 0; v < w->l->n_var; v++) {
        int64_t value;

        if (w->value[v] >= 0 && loop_value(s->loops, w->l->var[v].name, &value) &&
            value != w->value[v])
            return false;
    }
    return true;
}

static void add_event(struct walk *w, int stmt, bool branch)
{
    if (w->n < EVENTS_MAX)
        *arena_push(w->a, w->ev, w->n, w->cap) =
            (struct event){ w->k->st[stmt].kind, stmt, branch, w->commits };
}

static bool synchronises(enum stmt_kind k)
{
    return k == ST_SYNC || k == ST_COMMIT || k == ST_WAIT;
}

/* Only loops round a synchronisation or round both accesses have a before and after. */
static bool must_walk(const struct walk *w, int from, int to)
{
    bool both = true;

    for (int i = from; i < to; i++)
        if (synchronises(w->k->st[i].kind))
            return true;
    for (int i = 0; i < 2; i++)
        both &= w->site[i]->stmt > from && w->site[i]->stmt < to;
    return both;
}

static void walk(struct walk *w, int from, int to, bool branch)
{
    for (int i = from; i < to && w->n < EVENTS_MAX; i++) {
        const struct stmt *st = &w->k->st[i];
        int end = st->kind == ST_LOOP || st->kind == ST_IF ? stmt_end(w->k, i) : i;

        for (int s = 0; s < 2; s++)
            if (w->site[s]->stmt == i && w->at[s] < 0 && is_here(w, w->site[s])) {
                w->at[s] = w->n;
                add_event(w, i, branch);
            }
        if (synchronises(st->kind))
            add_event(w, i, branch);
        w->commits += st->kind == ST_COMMIT;
        if (st->kind == ST_IF) {
            walk(w, i + 1, end, true);
        } else if (st->kind == ST_LOOP && !must_walk(w, i, end)) {
            walk(w, i + 1, end, branch);
        } else if (st->kind == ST_LOOP) {
            for (int64_t v = 0; v < w->l->var[st->var].extent; v++) {
                w->value[st->var] = v;
                walk(w, i + 1, end, branch);
            }
            w->value[st->var] = -1;
        }
        i = end;
    }
}

/* Behind the last copies, and behind the loops that make them? */
static bool is_behind(const struct kernel *k, int stmt)
{
    for (int i = kernel_body(k); i < k->n; i++) {
        if (k->st[i].kind == ST_COMMIT && i > stmt)
            return false;
        if (k->st[i].kind != ST_LOOP || i > stmt || stmt_end(k, i) < stmt)
            continue;
        for (int c = i; c < stmt_end(k, i); c++)
            if (k->st[c].kind == ST_COMMIT)
                return false;
    }
    return true;
}

/* Both accesses are met: what lies between them. */
static void look(const struct walk *w, int first, int second, struct order *o)
{
    const struct event *f = &w->ev[w->at[first]];

    o->copy = f->kind == ST_ASYNC;
    o->landed = !o->copy;
    for (int i = w->at[first] + 1; i < w->at[second]; i++) {
        const struct event *e = &w->ev[i];

        if (e->kind == ST_WAIT && !o->landed) {
            o->wait = e->stmt;
            o->landed = f->commits < e->commits - w->k->st[e->stmt].n;
            o->barrier = o->branched = -1;
        }
        if (e->kind == ST_SYNC && o->landed)
            *(e->branch ? &o->branched : &o->barrier) = e->stmt;
    }
}

void order_find(const struct lprog *l, const struct kernel *k, const struct site *a,
                const struct site *b, struct arena *arena, struct order *out)
{
    struct walk w = { .l = l, .k = k, .site = { a, b }, .at = { -1, -1 }, .a = arena };
    int body = kernel_body(k), first;

    w.value = arena_array(arena, int64_t, l->n_var + 1);
    for (int i = 0; i < l->n_var; i++)
        w.value[i] = -1;
    walk(&w, body, k->n - body, false);
    *out = (struct order){ .first = a, .second = b, .wait = -1, .barrier = -1, .branched = -1 };
    out->same = w.at[0] < 0 || w.at[1] < 0;
    if (out->same)
        return;
    first = w.at[0] < w.at[1] ? 0 : 1;
    out->first = w.site[first];
    out->second = w.site[!first];
    out->leaves = is_behind(k, out->second->stmt);
    look(&w, first, !first, out);
    out->same = a->stmt == b->stmt && w.at[first] + 1 == w.at[!first];
}
