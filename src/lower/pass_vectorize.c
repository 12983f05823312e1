/*
 * vectorize: "vectorize AX N" runs the innermost loop AX in lanes of N, with a scalar loop
 * for the tail.
 * needs: a loop whose body is straight (stores and updates only), composed accesses.
 * keeps: what is stored. gives:
 *   vectorize.lanes    AX.0 (extent / N) round a LANES loop AX.1 (N); AX.t for the tail
 *   vectorize.address  addresses of a lane as base + lane * stride where they are affine
 */
#include "lower/bind.h"
#include "lower/nest.h"
#include "lower/passes.h"

struct lanes {
    int var, whole, lane, tail;
    int64_t n, extent, full; /* full = whole vectors */
    bool only_stores;
};

/* out[..] = out[..] op value with the same element in every lane: a reduction that accum
 * placed in memory. Lanes read before they write, so they would lose terms. */
static bool updates_one_element(const struct lprog *l, const struct kernel *k, int at, int var)
{
    const struct access *a = &l->access[k->st[at].access];
    struct kernel one = *k;

    one.st = &k->st[at];
    one.n = 1;
    return kernel_reads(l, &one, a->buffer) && !ix_uses(&l->ix, a->index, var);
}

/* Only stores and updates in the loop at..end? */
static bool straight(const struct lprog *l, const struct kernel *k, int at, int end,
                     bool *only_stores)
{
    *only_stores = true;
    if (bind_has(k, k->st[at].var))
        return false;
    for (int i = at + 1; i < end; i++) {
        if (k->st[i].kind != ST_UPDATE && k->st[i].kind != ST_STORE)
            return false;
        if (k->st[i].kind == ST_STORE && updates_one_element(l, k, i, k->st[at].var))
            return false;
        *only_stores &= k->st[i].kind == ST_STORE;
    }
    return end > at + 1;
}

static int part_var(struct lprog *l, int var, const char *suffix, int64_t extent)
{
    const char *name = arena_printf(l->arena, "%s.%s", l->var[var].name, suffix);

    return lprog_var(l, l->var[var].node, name, extent, l->var[var].reduce);
}

/* e = base + coef * var with a constant coef? */
static bool affine(const struct ixs *s, int e, int var, int64_t *coef)
{
    const struct ix *x = &s->x[e];
    int64_t a, b;

    *coef = 0;
    if (!ix_uses(s, e, var))
        return true;
    if (x->op == IX_VAR) {
        *coef = 1;
    } else if (x->op == IX_ADD) {
        if (!affine(s, x->a, var, &a) || !affine(s, x->b, var, &b))
            return false;
        *coef = a + b;
    } else {
        if (x->op != IX_MUL || !ix_is_const(s, x->b, &b) || !affine(s, x->a, var, &a))
            return false;
        *coef = a * b;
    }
    return true;
}

struct addresses {
    struct lprog *l;
    const struct lanes *v;
    int *zero; /* lane -> 0 */
    bool dry;  /* only ask if there is something to do */
    bool any;
};

static void address(void *ctx, int access)
{
    struct addresses *c = ctx;
    struct lprog *l = c->l;
    struct access *a = &l->access[access];
    int64_t coef;
    int base;

    if (a->src != SRC_BUFFER || !affine(&l->ix, a->index, c->v->lane, &coef) || coef == 0)
        return;
    c->any = true;
    if (c->dry)
        return;
    base = ix_subst(&l->ix, a->index, c->zero, c->v->lane + 1);
    if (FAULT(l, innermost_stride_assumed_one))
        coef = 1;
    a->index = ix_add(&l->ix, base, ix_scale(&l->ix, ix_var(&l->ix, c->v->lane), coef));
}

/* The copies of accesses in a lane body are its own (see value_subst), so that they may be
 * changed in place. */
static void rewrite_addresses(struct lprog *l, const struct kernel *k, const struct lanes *v,
                              int step, int kernel)
{
    struct addresses c = { .l = l, .v = v, .zero = subst_table(l), .dry = true };
    int at = 0, end;

    while (k->st[at].kind != ST_LOOP || k->st[at].var != v->lane)
        if (++at == k->n)
            return;
    end = stmt_end(k, at);
    c.zero[v->lane] = ix_const(&l->ix, 0);
    for (int pass = 0; pass < 2; pass++, c.dry = false) {
        if (pass && (!c.any || !lprog_rewrite(l, "vectorize.address", step, kernel)))
            return;
        for (int i = at + 1; i < end; i++) {
            value_accesses(l, k->st[i].val, address, &c);
            if (k->st[i].kind == ST_STORE)
                address(&c, k->st[i].access);
        }
    }
}

struct masking {
    struct lprog *l;
    int var, cond;
};

static void mask_load(void *ctx, int access)
{
    struct masking *m = ctx;
    struct access *a = &m->l->access[access];
    struct guard *g;

    if (a->src != SRC_BUFFER || !ix_uses(&m->l->ix, a->index, m->var))
        return;
    g = arena_array(m->l->arena, struct guard, a->n_guard + 1);
    g[0] = (struct guard){ m->cond, 0 };
    for (int i = 0; i < a->n_guard; i++)
        g[i + 1] = a->guard[i];
    a->guard = g;
    a->n_guard++;
}

/* x + y where one of them comes from another dtype */
static bool mixed_sum(const struct lprog *l, int val)
{
    const struct value *v = &l->value[val];

    return v->kind == V_OP && v->op == OP_ADD &&
           (l->value[v->arg[0]].op == OP_CAST || l->value[v->arg[1]].op == OP_CAST);
}

static void push_lanes(struct lprog *l, struct kernel *list, const struct kernel *k, int at,
                       int end, const struct lanes *v)
{
    int *to = subst_table(l), n_to = l->n_var;
    bool full_tail = FAULT(l, vector_tail_full_store) && v->only_stores && v->extent % v->n;
    int index = ix_add(&l->ix, ix_scale(&l->ix, ix_var(&l->ix, v->whole), v->n),
                       ix_var(&l->ix, v->lane));
    struct masking m = { l, v->lane, ix_lt(&l->ix, index, ix_const(&l->ix, v->extent)) };

    to[v->var] = index;
    l->var[v->whole].extent = v->full + full_tail;
    push_loop(l, list, v->whole, LOOP_SERIAL);
    push_loop(l, list, v->lane, LOOP_LANES);
    for (int i = at + 1; i < end; i++) {
        struct stmt s = stmt_subst(l, &k->st[i], to, n_to);

        if (full_tail)
            value_accesses(l, s.val, mask_load, &m);
        kernel_push(l, list, s);
    }
    push_end(l, list, 2);
    if (v->extent % v->n == 0 || full_tail)
        return;
    to[v->var] = ix_add(&l->ix, ix_const(&l->ix, v->full * v->n), ix_var(&l->ix, v->tail));
    push_loop(l, list, v->tail, LOOP_SERIAL);
    for (int i = at + 1; i < end; i++) {
        struct stmt s = stmt_subst(l, &k->st[i], to, n_to);

        if (FAULT(l, tail_operand_dropped) && mixed_sum(l, s.val))
            s.val = l->value[s.val].arg[0];
        kernel_push(l, list, s);
    }
    push_end(l, list, 1);
}

static void vectorize_kernel(struct lprog *l, struct kernel *k, struct lanes *v)
{
    struct kernel list = list_new(k);

    for (int i = 0; i < k->n; i++) {
        if (k->st[i].kind == ST_LOOP && k->st[i].var == v->var) {
            int end = stmt_end(k, i);

            if (straight(l, k, i, end, &v->only_stores)) {
                push_lanes(l, &list, k, i, end, v);
                i = end;
                continue;
            }
        }
        kernel_push(l, &list, k->st[i]);
    }
    list_take(k, &list);
}

static bool has_straight(const struct lprog *l, const struct kernel *k, int var)
{
    bool stores;

    for (int i = 0; i < k->n; i++)
        if (k->st[i].kind == ST_LOOP && k->st[i].var == var &&
            straight(l, k, i, stmt_end(k, i), &stores))
            return true;
    return false;
}

static int vectorize_step(struct lprog *l, int step, struct err *e)
{
    const struct step *st = &l->trial->step[step];
    struct lanes v = { .var = -1, .n = st->n };
    char name[MAX_LABEL];
    bool any = false;

    if (!axis_name(l, st, &st->axis[0], name, e))
        return e->code;
    for (int k = 0; k < l->n_kernel && !l->stopped; k++) {
        int var = kernel_axis(l, k, name);

        if (var < 0 || !has_straight(l, &l->kernel[k], var))
            continue;
        v.extent = l->var[var].extent;
        if (v.extent < v.n)
            return step_error(st, e, "%s has %lld iterations, less than %lld lanes", name,
                              (long long)v.extent, (long long)v.n);
        any = true;
        v.var = var;
        v.full = v.extent / v.n;
        v.whole = part_var(l, var, "0", v.full);
        v.lane = part_var(l, var, "1", v.n);
        v.tail = part_var(l, var, "t", v.extent % v.n);
        if (!lprog_rewrite(l, "vectorize.lanes", step, k))
            return 0;
        vectorize_kernel(l, &l->kernel[k], &v);
        rewrite_addresses(l, &l->kernel[k], &v, step, k);
    }
    return any ? 0
               : step_error(st, e, "no kernel has an innermost loop %s with a straight body",
                            name);
}

int pass_vectorize(struct lprog *l, struct err *e)
{
    return steps_each(l, STEP_VECTORIZE, vectorize_step, e);
}
