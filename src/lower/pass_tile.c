/*
 * tile: "tile NODE MxNxK threads=T [mma]" computes NODE in tiles: a block has M x N elements of
 * the last two output axes, each of its threads has a share in registers, and the reduction
 * goes on in steps of K.
 * needs: a kernel in naive order (struct naive), composed accesses.
 * keeps: the order in which the terms of an element are added.
 * gives: BLOCK slices, other output axes, i0.0, i1.0; THREAD loops; DECL of an array; r0.0,
 * r0.1, other reductions, the share: UPDATE; the share: STORE. Where an axis is ragged an IF
 * round each of the two, one for each condition. One rewrite, tile.threads or tile.warps.
 */
#include "lower/tile.h"

#include "lower/bind.h"
#include "lower/passes.h"

/* Loops and IFs round a statement before; 64 are allowed in the end. */
enum { MAX_ROUND = 40 };

/* Adds the loop to its list; false = it does not belong where it stands. */
static bool add_loop(const struct lprog *l, const struct kernel *k, const struct stmt *s,
                     struct naive *n)
{
    bool reduce = l->var[s->var].reduce;

    if (s->loop != LOOP_SERIAL || n->r.update >= 0 || n->r.store >= 0 ||
        reduce != (n->r.decl >= 0) || n->n_out == TILE_LOOPS || n->n_red == TILE_LOOPS - 8)
        return false;
    if (reduce)
        n->red[n->n_red++] = s->var;
    else if (s->var == bind_slices(l, k))
        n->slices = s->var;
    else
        n->out[n->n_out++] = s->var;
    return true;
}

static bool find_naive(const struct lprog *l, const struct kernel *k, struct naive *n)
{
    int round[64];

    *n = (struct naive){ .slices = -1, .r = { -1, -1, -1 } };
    for (int i = 0; i < k->n; i++) {
        const struct stmt *s = &k->st[i];
        int *slot = s->kind == ST_DECL     ? &n->r.decl
                    : s->kind == ST_UPDATE ? &n->r.update
                    : s->kind == ST_STORE  ? &n->r.store
                                           : NULL;

        if (s->kind == ST_LOOP && !add_loop(l, k, s, n))
            return false;
        if (!slot && s->kind != ST_LOOP && s->kind != ST_IF && s->kind != ST_END)
            return false;
        if (slot && (*slot >= 0 || n->r.store >= 0))
            return false;
        if (slot)
            *slot = i;
    }
    if (n->r.store < 0 || (n->r.decl < 0) != (n->r.update < 0))
        return false;
    return n->r.decl < 0 ||
           (n->r.decl < n->r.update && k->st[n->r.update].acc_at < 0 &&
            l->acc[k->st[n->r.update].acc].elems == 1 &&
            enclosing(k, n->r.decl, round, 64) == enclosing(k, n->r.store, round, 64));
}

/* One IF for each condition that is ragged, and those that stood round statement `at` of the
 * kernel before. How many. */
static int push_guards(struct tiling *t, struct kernel *list, const struct kernel *k, int at,
                       const int *to, int n_to)
{
    const int axis[] = { t->i0, t->i1, t->r0 }, is[] = { t->at0, t->at1, t->atr };
    const struct lprog *l = t->l;
    int round[64], n = enclosing(k, at, round, 64), pushed = 0;

    for (int i = 0; i < n; i++)
        if (k->st[round[i]].kind == ST_IF) {
            push_if(t->l, list, ix_subst(&t->l->ix, k->st[round[i]].cond, to, n_to));
            pushed++;
        }
    for (int i = 0; i < 3; i++) {
        int64_t extent = axis[i] >= 0 ? l->var[axis[i]].extent : 0;
        bool update = k->st[at].kind == ST_UPDATE;

        if (axis[i] < 0 || (i == 2 && !update) || extent % t->st->tile[i] == 0)
            continue;
        if (FAULT(l, thread_bound_guard_lost) && i < 2 && extent < t->st->tile[i])
            continue;
        push_if(t->l, list, ix_lt(&t->l->ix, is[i], ix_const(&t->l->ix, extent)));
        pushed++;
    }
    return pushed;
}

static void push_update(struct tiling *t, struct kernel *list, const struct kernel *k,
                        const struct naive *n, const int *to, int n_to)
{
    struct stmt s = stmt_subst(t->l, &k->st[n->r.update], to, n_to);
    int guards;

    s.acc_at = t->acc_at;
    s.by = 0;
    for (int i = 0; i < t->n_update; i++)
        push_loop(t->l, list, t->update[i], LOOP_SERIAL);
    guards = push_guards(t, list, k, n->r.update, to, n_to);
    kernel_push(t->l, list, s);
    push_end(t->l, list, guards + t->n_update);
}

static void push_store(struct tiling *t, struct kernel *list, const struct kernel *k,
                       const struct naive *n, const int *to, int n_to)
{
    struct lprog *l = t->l;
    struct stmt s = stmt_subst(l, &k->st[n->r.store], to, n_to);
    int guards;

    if (n->r.update >= 0) {
        int acc = k->st[n->r.update].acc;

        s.val = acc_replace(l, s.val, acc, lprog_acc_load(l, acc, t->acc_at));
    }
    s.by = 0;
    for (int i = 0; i < t->n_store; i++)
        push_loop(l, list, t->store[i], LOOP_SERIAL);
    guards = push_guards(t, list, k, n->r.store, to, n_to);
    kernel_push(l, list, s);
    push_end(l, list, guards + t->n_store);
}

static void rewrite(struct tiling *t, const struct naive *n)
{
    struct lprog *l = t->l;
    struct kernel *k = &l->kernel[t->kernel], list = list_new(k);
    int *to = subst_table(l), n_to = l->n_var, depth = 0;

    to[t->i0] = t->at0;
    to[t->i1] = t->at1;
    if (t->r0 >= 0)
        to[t->r0] = t->atr;
    if (n->slices >= 0)
        push_loop(l, &list, n->slices, LOOP_BLOCK);
    for (int i = 0; i < n->n_out - 2; i++)
        push_loop(l, &list, n->out[i], LOOP_BLOCK);
    for (int i = 0; i < 2; i++)
        push_loop(l, &list, t->block[i], LOOP_BLOCK);
    for (int i = 0; i < t->n_thread; i++)
        push_loop(l, &list, t->thread[i], LOOP_THREAD);
    depth = list.n;
    if (n->r.update >= 0) {
        l->acc[k->st[n->r.update].acc].elems = t->elems;
        kernel_push(l, &list, k->st[n->r.decl]);
        push_update(t, &list, k, n, to, n_to);
    }
    push_store(t, &list, k, n, to, n_to);
    push_end(l, &list, depth);
    list_take(k, &list);
    k->tiled = true;
}

static int check_tile(const struct lprog *l, const struct step *st, struct naive *n, int kernel,
                      struct err *e)
{
    const struct kernel *k = &l->kernel[kernel];
    int round[64];

    if (kernel_bound(k))
        return step_error(st, e, "kernel %s is tiled already", k->name);
    if (!find_naive(l, k, n))
        return step_error(st, e, "kernel %s is not one reduction, or none, in naive order",
                          k->name);
    if (enclosing(k, n->r.update < 0 ? n->r.store : n->r.update, round, 64) > MAX_ROUND)
        return step_error(st, e, "kernel %s is nested deeper than %d", k->name, MAX_ROUND);
    if (n->n_out < 2)
        return step_error(st, e, "kernel %s has less than two output axes", k->name);
    if (st->n_tile > 2 && n->n_red == 0)
        return step_error(st, e, "kernel %s has no reduction that steps of K could cut",
                          k->name);
    return 0;
}

static int tile_step(struct lprog *l, int step, struct err *e)
{
    const struct step *st = &l->trial->step[step];
    struct tiling t = { .l = l, .st = st, .r0 = -1, .kernel = main_kernel(l, st->node[0]) };
    int n_var = l->n_var, n_alias = l->n_alias;
    struct naive n;

    if (t.kernel < 0)
        return step_error(st, e, "%s has no kernel", l->prog->node[st->node[0]].name);
    if (check_tile(l, st, &n, t.kernel, e))
        return e->code;
    t.i0 = n.out[n.n_out - 2];
    t.i1 = n.out[n.n_out - 1];
    if (st->n_tile > 2)
        t.r0 = n.red[0];
    if (st->mma ? tile_mma(&t, &n, e) : tile_plain(&t, &n, e))
        return e->code;
    if (lprog_rewrite(l, st->mma ? "tile.warps" : "tile.threads", step, t.kernel)) {
        rewrite(&t, &n);
    } else {
        l->n_var = n_var;
        l->n_alias = n_alias;
    }
    return 0;
}

int pass_tile(struct lprog *l, struct err *e)
{
    return steps_each(l, STEP_TILE, tile_step, e);
}
