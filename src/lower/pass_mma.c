/*
 * mma: "tile .. mma": the innermost loops of a tiled kernel become products of tensor cores.
 * needs: UPDATEs inside loops h (2), p (2) and 16 of the reduction, as tile_mma made them, with
 * both operands in shared memory. keeps: the loops; their order is that of the serial form.
 * gives: mma.fragment: h is a LOOP_MMA. The IFs inside are gone: where they would not hold the
 * stages have zeros, or the result is not stored.
 */
#include "lower/nest.h"
#include "lower/passes.h"

struct fragment {
    int h, p, kk; /* statement numbers of the loops */
    int end;      /* of h */
};

static bool is_loop(const struct lprog *l, const struct stmt *s, int64_t extent, bool reduce)
{
    return s->kind == ST_LOOP && s->loop == LOOP_SERIAL && l->var[s->var].extent == extent &&
           l->var[s->var].reduce == reduce;
}

/* A cast of a load from shared memory? */
static bool is_staged(const struct lprog *l, int val)
{
    const struct value *v = &l->value[val];
    const struct access *a;

    if (v->kind != V_OP || v->op != OP_CAST || l->value[v->arg[0]].kind != V_LOAD)
        return false;
    a = &l->access[l->value[v->arg[0]].arg[0]];
    return a->src == SRC_BUFFER && l->buffer[a->buffer].kind == BUF_SHARED && a->n_guard == 0;
}

/* The three loops round the UPDATE; between them and it are IFs only. */
static bool find_fragment(const struct lprog *l, const struct kernel *k, int update,
                          struct fragment *f)
{
    const struct value *v = &l->value[k->st[update].val];
    int round[64], n = enclosing(k, update, round, 64);

    while (n > 0 && k->st[round[n - 1]].kind == ST_IF)
        n--;
    if (n < 3 || v->kind != V_OP || v->op != OP_MUL)
        return false;
    *f = (struct fragment){ round[n - 3], round[n - 2], round[n - 1], 0 };
    f->end = stmt_end(k, f->h);
    if (f->p != f->h + 1 || f->kk != f->p + 1 || stmt_end(k, f->p) != f->end - 1 ||
        stmt_end(k, f->kk) != f->end - 2)
        return false;
    for (int i = f->kk + 1; i < f->end - 2; i++)
        if (k->st[i].kind != ST_IF && k->st[i].kind != ST_END && i != update)
            return false;
    return is_loop(l, &k->st[f->h], 2, false) && is_loop(l, &k->st[f->p], 2, false) &&
           is_loop(l, &k->st[f->kk], 16, true);
}

/* Does a staged operand change along the reduction? One that does not has no zeros where the
 * reduction is over, and there the other's zeros times infinity would be no zeros. */
static bool along_reduction(const struct lprog *l, const struct kernel *k,
                            const struct fragment *f, int val)
{
    int load = l->value[val].arg[0];

    return ix_uses(&l->ix, l->access[l->value[load].arg[0]].index, k->st[f->kk].var);
}

static int check_kernel(const struct lprog *l, const struct kernel *k, const struct step *st,
                        struct err *e)
{
    for (int i = 0; i < k->n; i++) {
        struct fragment f;

        if (k->st[i].kind != ST_UPDATE)
            continue;
        if (!find_fragment(l, k, i, &f))
            return step_error(st, e, "the loops of a fragment of mma are no longer whole");
        if (!is_staged(l, l->value[k->st[i].val].arg[0]) ||
            !is_staged(l, l->value[k->st[i].val].arg[1]))
            return step_error(st, e,
                              "mma needs both operands of kernel %s in shared memory "
                              "(step stage)",
                              k->name);
        for (int op = 0; op < 2; op++)
            if (!along_reduction(l, k, &f, l->value[k->st[i].val].arg[op]))
                return step_error(st, e,
                                  "operand %c of kernel %s is the same all along the "
                                  "reduction",
                                  'a' + op, k->name);
    }
    return 0;
}

/* The store as two bugs have it: h and p of the fragment swapped, as if the accumulator were
 * an operand; or the column of the warp forgotten, as if there were one. */
static struct stmt store_of(struct lprog *l, const struct kernel *k, const struct fragment *f,
                            const struct stmt *s)
{
    int *to = subst_table(l), h = k->st[f->h].var, p = k->st[f->p].var;
    struct stmt t = *s;

    if (FAULT(l, mma_acc_to_operand_layout)) {
        to[h] = ix_var(&l->ix, p);
        to[p] = ix_var(&l->ix, h);
        t.val = value_subst(l, t.val, to, l->n_var);
    } else if (FAULT(l, reduce_over_mma_layout)) {
        to[k->st[kernel_body(k) - 3].var] = ix_const(&l->ix, 0); /* wm, wn, g, t */
        t.access = access_subst(l, t.access, to, l->n_var);
    }
    return t;
}

static void rewrite(struct lprog *l, struct kernel *k)
{
    struct kernel list = list_new(k);
    bool *drop = arena_array(l->arena, bool, k->n);
    struct fragment f = { 0 };

    for (int i = 0; i < k->n; i++)
        if (k->st[i].kind == ST_UPDATE && find_fragment(l, k, i, &f)) {
            k->st[f.h].loop = LOOP_MMA;
            k->st[f.h].by = l->n_log;
            for (int j = f.kk + 1; j < f.end - 2; j++)
                drop[j] = j != i;
        }
    for (int i = 0; i < k->n; i++)
        if (k->st[i].kind == ST_STORE && f.end > 0 &&
            l->buffer[l->access[k->st[i].access].buffer].kind != BUF_SHARED)
            kernel_push(l, &list, store_of(l, k, &f, &k->st[i]));
        else if (!drop[i])
            kernel_push(l, &list, k->st[i]);
    list_take(k, &list);
}

int pass_mma(struct lprog *l, struct err *e)
{
    for (int i = 0; i < l->trial->n_step && !l->stopped; i++) {
        const struct step *st = &l->trial->step[i];
        int k = st->kind == STEP_TILE && st->mma ? reduction_kernel(l, st->node[0], true) : -1;

        if (k < 0)
            continue;
        if (check_kernel(l, &l->kernel[k], st, e))
            return e->code;
        if (lprog_rewrite(l, "mma.fragment", i, k))
            rewrite(l, &l->kernel[k]);
    }
    return 0;
}
