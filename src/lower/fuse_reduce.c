/*
 * Fusing a producer that reduces. Legal if every output axis of P is read as one whole plain
 * loop of C and all reads agree. The matched loops of C go outermost; P's accumulators and
 * reduction loops are nested there; C reads the accumulator. P's reduction loops keep their
 * names, its output axes become aliases of the loops of C.
 */
#include <stdio.h>
#include <string.h>

#include "lower/fuse.h"

/* Reshape that only adds or removes axes of size 1. */
static bool walk_reshape(struct lprog *l, const struct shape *from, const struct shape *to,
                         const int *idx, int *out)
{
    int j = 0;

    for (int d = 0; d < from->rank; d++) {
        if (from->dim[d] == 1) {
            out[d] = ix_const(&l->ix, 0);
            continue;
        }
        while (j < to->rank && to->dim[j] == 1)
            j++;
        if (j == to->rank || to->dim[j] != from->dim[d])
            return false;
        out[d] = idx[j++];
    }
    while (j < to->rank && to->dim[j] == 1)
        j++;
    return j == to->rank;
}

/* Indices of view n's operand for indices of its result; false = not a plain loop. */
static bool walk_view(struct lprog *l, const struct node *n, const int *idx, int *out)
{
    const struct shape *from = &l->prog->node[n->arg[0].node].sh;

    for (int d = 0; d < n->sh.rank && n->op == OP_PERMUTE; d++)
        out[n->perm[d]] = idx[d];
    for (int d = 0; d < from->rank && n->op == OP_EXPAND; d++) {
        int lead = n->sh.rank - from->rank;

        out[d] = from->dim[d] == n->sh.dim[d + lead] ? idx[d + lead] : ix_const(&l->ix, 0);
    }
    for (int d = 0; d < from->rank && n->op == OP_SLICE; d++) {
        if (n->lo[d] != 0 || n->by[d] != 1 || n->sh.dim[d] != from->dim[d])
            return false;
        out[d] = idx[d];
    }
    for (int d = 0; d < from->rank && n->op == OP_PAD; d++) {
        if (n->lo[d] != 0 || n->hi[d] != 0)
            return false;
        out[d] = idx[d];
    }
    for (int d = 0; d < from->rank && (n->op == OP_ROLL || n->op == OP_REPEAT); d++) {
        if (n->op == OP_ROLL ? n->lo[d] % (from->dim[d] + !from->dim[d]) != 0 : n->by[d] != 1)
            return false;
        out[d] = idx[d];
    }
    return n->op != OP_RESHAPE || walk_reshape(l, from, &n->sh, idx, out);
}

/* Where access r reads P, as one expression per axis of P: a loop of C or the constant 0. */
static bool plain_axes(struct lprog *l, const struct access *r, const struct shape *sh,
                       int *axis)
{
    int idx[MAX_RANK], out[MAX_RANK];

    memcpy(idx, r->idx, sizeof idx);
    for (int i = 0; i < r->n_view; i++) {
        if (!walk_view(l, &l->prog->node[r->view[i]], idx, out))
            return false;
        memcpy(idx, out, sizeof idx);
    }
    for (int d = 0; d < sh->rank; d++) {
        const struct ix *x = &l->ix.x[idx[d]];

        axis[d] = sh->dim[d] == 1 ? ix_const(&l->ix, 0) : idx[d];
        if (sh->dim[d] == 1)
            continue;
        if (x->op != IX_VAR || l->var[x->c].extent != sh->dim[d])
            return false;
        for (int o = 0; o < d; o++)
            if (axis[o] == axis[d])
                return false;
    }
    return true;
}

/* How the loops of C stand before the fusion. */
struct chain {
    int n_out, n_red; /* leading LOOPs; LOOPs directly behind a DECL that follows them */
    bool match_red;   /* some matched loop is a reduction loop of C */
};

static bool matched(const struct lprog *l, const int *axis, int rank, int var)
{
    for (int d = 0; d < rank; d++)
        if (l->ix.x[axis[d]].op == IX_VAR && l->ix.x[axis[d]].c == var)
            return true;
    return false;
}

static bool chain_find(const struct lprog *l, const struct kernel *c, const int *axis, int rank,
                       struct chain *ch)
{
    int i = 0, hits = 0, want = 0, in_red = 0;

    *ch = (struct chain){ 0 };
    for (int d = 0; d < rank; d++)
        want += l->ix.x[axis[d]].op == IX_VAR;
    for (; i < c->n && c->st[i].kind == ST_LOOP; i++, ch->n_out++)
        hits += matched(l, axis, rank, c->st[i].var);
    if (hits == want)
        return true;
    if (i >= c->n || c->st[i].kind != ST_DECL)
        return false;
    for (i++; i < c->n && c->st[i].kind == ST_LOOP; i++, ch->n_red++)
        in_red += matched(l, axis, rank, c->st[i].var);
    ch->match_red = true;
    /* the accumulator of C must be updated in that nest and nowhere else */
    return hits + in_red == want && i < c->n && c->st[i].kind == ST_UPDATE;
}

/* P's accumulator in C: a copy, because later passes may reshape one and not the other. */
struct accmap {
    int from, to;
};

static int acc_of(struct lprog *l, struct accmap *map, int *n, int acc)
{
    for (int i = 0; i < *n; i++)
        if (map[i].from == acc)
            return map[i].to;
    map[*n] = (struct accmap){ acc, lprog_acc(l, l->acc[acc]) };
    return map[(*n)++].to;
}

static int acc_value(struct lprog *l, int val, struct accmap *map, int *n)
{
    struct value v = l->value[val];

    if (v.kind == V_ACC) {
        v.arg[0] = acc_of(l, map, n, v.arg[0]);
        return lprog_value(l, v);
    }
    if (v.kind == V_LOAD && l->access[v.arg[0]].src == SRC_BODY) {
        struct access a = l->access[v.arg[0]];

        a.body = acc_value(l, a.body, map, n);
        v.arg[0] = lprog_access(l, a);
        return lprog_value(l, v);
    }
    if (v.kind != V_OP)
        return val;
    for (int i = 0; i < 3; i++)
        if (v.arg[i] >= 0)
            v.arg[i] = acc_value(l, v.arg[i], map, n);
    return lprog_value(l, v);
}

/* The statements of P without its output loops and its store; its value goes to *value. */
static void push_block(struct lprog *l, struct kernel *list, const struct kernel *p,
                       const struct fuse *f, int n_to, int *value)
{
    struct accmap *map = arena_array(l->arena, struct accmap, p->n + 1);
    bool *drop = arena_array(l->arena, bool, p->n);
    int n_map = 0;

    for (int i = 0; i < p->n; i++) {
        struct stmt s = p->st[i];

        if (s.kind == ST_LOOP && s.var < n_to && f->to[s.var] >= 0)
            drop[i] = drop[stmt_end(p, i)] = true;
        if (drop[i])
            continue;
        s = stmt_subst(l, &s, f->to, n_to);
        if (s.kind == ST_DECL || s.kind == ST_UPDATE)
            s.acc = acc_of(l, map, &n_map, s.acc);
        if (s.kind == ST_UPDATE || s.kind == ST_STORE)
            s.val = acc_value(l, s.val, map, &n_map);
        if (s.kind == ST_STORE)
            *value = s.val;
        else
            kernel_push(l, list, s);
    }
}

static int value_of(struct lprog *l, const struct fuse *f, int access)
{
    (void)l;
    (void)access;
    return f->value;
}

static void push_loops(struct lprog *l, struct kernel *list, const struct kernel *c, int from,
                       int n, const int *axis, int rank, bool want)
{
    for (int i = from; i < from + n; i++)
        if (matched(l, axis, rank, c->st[i].var) == want)
            kernel_push(l, list, c->st[i]);
}

static void add_aliases(struct lprog *l, const struct fuse *f, const int *axis, int rank)
{
    const struct node *p = &l->prog->node[l->kernel[f->p].node];

    for (int d = 0; d < rank; d++) {
        struct alias a = { .kernel = f->c, .var = (int)l->ix.x[axis[d]].c };

        if (l->ix.x[axis[d]].op != IX_VAR)
            continue;
        snprintf(a.name, sizeof a.name, "%s.i%d", p->name, d);
        *arena_push(l->arena, l->alias, l->n_alias, l->cap_alias) = a;
    }
}

/* P's output variables -> where C reads them. */
static void output_axes(struct lprog *l, struct fuse *f, const int *axis, int *to)
{
    const struct kernel *p = &l->kernel[f->p];
    const struct access *st = &l->access[p->st[fuse_store(p)].access];

    for (int d = 0; d < st->n_idx; d++)
        if (l->ix.x[st->idx[d]].op == IX_VAR)
            to[l->ix.x[st->idx[d]].c] = axis[d];
    f->to = to;
}

/* Takes back the ENDs that close P's block; returns how many. Only a fault asks for it. */
static int reopen(struct kernel *list)
{
    int n = 0;

    for (; list->n > 0 && list->st[list->n - 1].kind == ST_END; n++)
        list->n--;
    return n;
}

int fuse_reduce(struct lprog *l, struct fuse *f, int step, struct err *e)
{
    const struct step *st = &l->trial->step[step];
    const struct shape *sh = &l->prog->node[l->kernel[f->p].node].sh;
    struct kernel *c = &l->kernel[f->c], list = list_new(c);
    int axis[MAX_RANK] = { 0 }, again[MAX_RANK], at, n_to = l->n_var, open_ends = 0;
    struct chain ch;

    for (int r = 0; r < f->n_read; r++)
        if (!plain_axes(l, &l->access[f->read[r]], sh, r ? again : axis) ||
            (r && memcmp(axis, again, (size_t)sh->rank * sizeof *axis)))
            return step_error(st, e,
                              "%s reduces, and is not read along whole plain loops of %s",
                              l->kernel[f->p].name, c->name);
    if (!chain_find(l, c, axis, sh->rank, &ch))
        return step_error(st, e, "the loops of %s that %s is read along can't go outermost",
                          c->name, l->kernel[f->p].name);
    if (ch.match_red) {
        int *none;
        struct kernel tail = *c;

        tail.st = &c->st[fuse_store(c)];
        tail.n = 1;
        if (fuse_reads(l, &tail, f->buffer, &none))
            return step_error(st, e, "%s is read outside the reduction of %s too",
                              l->kernel[f->p].name, c->name);
    }
    if (!lprog_rewrite(l, "fuse.reduce", step, f->c))
        return 0;
    output_axes(l, f, axis, subst_table(l));
    at = ch.n_out;
    push_loops(l, &list, c, 0, ch.n_out, axis, sh->rank, true);
    if (!ch.match_red) {
        push_block(l, &list, &l->kernel[f->p], f, n_to, &f->value);
        push_loops(l, &list, c, 0, ch.n_out, axis, sh->rank, false);
    } else {
        push_loops(l, &list, c, 0, ch.n_out, axis, sh->rank, false);
        kernel_push(l, &list, c->st[at++]);
        push_loops(l, &list, c, at, ch.n_red, axis, sh->rank, true);
        push_block(l, &list, &l->kernel[f->p], f, n_to, &f->value);
        push_loops(l, &list, c, at, ch.n_red, axis, sh->rank, false);
        at += ch.n_red;
    }
    f->value_of = value_of;
    if (FAULT(l, shared_range_two_depths) && ch.match_red)
        open_ends = reopen(&list);
    for (; at < c->n; at++) {
        struct stmt s = c->st[at];

        if (s.kind == ST_UPDATE || s.kind == ST_STORE)
            s.val = fuse_replace(l, s.val, f);
        kernel_push(l, &list, s);
        if (s.kind == ST_UPDATE) {
            push_end(l, &list, open_ends);
            open_ends = 0;
        }
    }
    add_aliases(l, f, axis, sh->rank);
    list_take(c, &list);
    return 0;
}
