/*
 * Accumulators of a bound kernel that is written out. One that a single piece has to do with
 * stays what it is, each thread's turn begins with its own; else all threads' stand in one
 * array, thread after thread.
 */
#include "lower/serial_inner.h"

#include <stdio.h>

static void use(struct writer *w, int acc)
{
    struct own *o = &w->own[acc];
    int region = w->r.of[w->at];

    if (!o->used)
        o->region = region;
    o->used = true;
    o->apart |= region != o->region || region == REGION_SHUFFLE;
    o->last = w->at;
}

static void use_value(struct writer *w, int val)
{
    const struct value *v = &w->l->value[val];

    if (v->kind == V_ACC || v->kind == V_SHFL)
        use(w, v->arg[0]);
    else if (v->kind == V_LOAD && w->l->access[v->arg[0]].src == SRC_BODY)
        use_value(w, w->l->access[v->arg[0]].body);
    for (int i = 0; i < 3 && v->kind == V_OP; i++)
        if (v->arg[i] >= 0)
            use_value(w, v->arg[i]);
}

/* A DECL stays where it is if nothing but loops that are taken apart stands round it, and
 * what it declares is used in the innermost of them only. */
static bool decl_stays(const struct writer *w, const struct own *o)
{
    int up = w->r.parent[o->decl], body = kernel_body(w->k);

    if (o->n_decl != 1 || (up >= body && o->last > stmt_end(w->k, up)))
        return false;
    for (; up >= body; up = w->r.parent[up])
        if (w->k->st[up].kind != ST_LOOP || w->r.of[up] != REGION_APART)
            return false;
    return true;
}

int serial_array(struct writer *w, int like, int64_t elems, const char *tail)
{
    struct acc a = w->l->acc[like];

    a.elems = elems;
    snprintf(a.name, sizeof a.name, "%.*s%s", MAX_LABEL - 8, w->l->acc[like].name, tail);
    return lprog_acc(w->l, a);
}

void serial_owners(struct writer *w)
{
    struct lprog *l = w->l;
    int n = w->n_own = l->n_acc;

    w->own = arena_array(l->arena, struct own, n + 1);
    for (w->at = kernel_body(w->k); w->at < w->k->n; w->at++) {
        const struct stmt *s = &w->k->st[w->at];

        if (region_silent(s))
            continue;
        if (s->kind == ST_DECL) {
            w->own[s->acc].n_decl++;
            w->own[s->acc].decl = w->at;
        }
        if (s->kind == ST_DECL || s->kind == ST_UPDATE || s->kind == ST_SET)
            use(w, s->acc);
        if (stmt_has_value(s))
            use_value(w, s->val);
    }
    for (int i = 0; i < n; i++) {
        struct own *o = &w->own[i];

        if (!o->apart)
            continue;
        o->to = serial_array(w, i, l->acc[i].elems * w->threads, "");
        o->stays = decl_stays(w, o);
    }
}

/* Where thread tid finds its element `at` of an accumulator that is apart. */
static int own_place(struct writer *w, int acc, int at)
{
    struct ixs *ix = &w->l->ix;
    int base = ix_scale(ix, w->tid, w->l->acc[acc].elems);

    if (w->threads == 1)
        return at; /* a scalar stays one */
    return at < 0 ? base : ix_add(ix, base, at);
}

int serial_value(struct writer *w, int val)
{
    struct lprog *l = w->l;
    struct value v = l->value[val];
    int to = val;

    if (val < w->n_memo && w->memo[val])
        return w->memo[val] - 1;
    if (v.kind == V_ACC && w->own[v.arg[0]].apart) {
        v.arg[1] = own_place(w, v.arg[0], v.arg[1]);
        v.arg[0] = w->own[v.arg[0]].to;
        to = lprog_value(l, v);
    } else if (v.kind == V_LOAD && l->access[v.arg[0]].src == SRC_BODY) {
        struct access a = l->access[v.arg[0]];
        int body = serial_value(w, a.body);

        if (body != a.body) {
            a.body = body;
            v.arg[0] = lprog_access(l, a);
            to = lprog_value(l, v);
        }
    } else if (v.kind == V_OP) {
        bool changed = false;

        for (int i = 0; i < 3; i++) {
            int arg = v.arg[i] < 0 ? v.arg[i] : serial_value(w, v.arg[i]);

            changed |= arg != v.arg[i];
            v.arg[i] = arg;
        }
        if (changed)
            to = lprog_value(l, v);
    }
    if (val < w->n_memo)
        w->memo[val] = to + 1;
    return to;
}

struct stmt serial_acc(struct writer *w, struct stmt s)
{
    if (w->own[s.acc].apart) {
        s.acc_at = own_place(w, s.acc, s.acc_at);
        s.acc = w->own[s.acc].to;
    }
    return s;
}
