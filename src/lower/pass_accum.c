/*
 * accum: places accumulators. A scalar or a small array stays what it is; a larger array
 * whose elements are stored as they are becomes the output itself, but for those of a tiled
 * kernel, which are registers.
 * needs: reductions as DECL / UPDATE / STORE. keeps: order of updates.
 * gives: accum.output: STORE out = identity | out = out op value, no accumulator.
 */
#include "lower/nest.h"
#include "lower/passes.h"

enum { SMALL = 4 };

/* The nest that closes round statement `at` inside the same outer loops as the DECL. */
static int nest_start(const struct kernel *k, int decl, int at)
{
    int round[64], outer = enclosing(k, decl, round, 64), n = enclosing(k, at, round, 64);

    return n > outer ? round[outer] : at;
}

/* Loads what a store to the same access would overwrite. */
static int load_of(struct lprog *l, int access, enum dtype dt)
{
    struct value v = { .kind = V_LOAD, .dt = dt, .arg = { -1, -1, -1 } };

    v.arg[0] = lprog_access(l, l->access[access]);
    return lprog_value(l, v);
}

static void identity_store(struct lprog *l, const struct kernel *k, const struct reduction *r,
                           struct kernel *list)
{
    const struct acc *a = &l->acc[k->st[r->update].acc];
    int from = nest_start(k, r->decl, r->store), to = r->store;
    struct stmt st = k->st[r->store];

    if (k->st[from].kind == ST_LOOP || k->st[from].kind == ST_IF)
        to = stmt_end(k, from);
    for (int i = from; i <= to; i++) {
        if (i == r->store) {
            st.val = lprog_lit(l, a->dt, reduce_identity(a->identity, a->dt));
            if (FAULT(l, accumulate_into_dirty_output))
                st.val = load_of(l, st.access, a->dt); /* what happens to be there */
            kernel_push(l, list, st);
        } else {
            kernel_push(l, list, k->st[i]);
        }
    }
}

static void into_output(struct lprog *l, struct kernel *k, const struct reduction *r)
{
    struct kernel list = list_new(k);
    const struct acc *a = &l->acc[k->st[r->update].acc];
    int from = nest_start(k, r->decl, r->store), to = stmt_end(k, from);

    for (int i = 0; i < k->n; i++) {
        struct stmt s = k->st[i];

        if (i == r->decl) {
            identity_store(l, k, r, &list);
            continue;
        }
        if (i >= from && i <= to)
            continue;
        if (i == r->update) {
            int load = load_of(l, k->st[r->store].access, a->dt);

            s = (struct stmt){ .kind = ST_STORE,
                               .access = k->st[r->store].access,
                               .val = lprog_op2(l, reduce_combine(a->op), a->dt, load, s.val) };
        }
        kernel_push(l, &list, s);
    }
    list_take(k, &list);
}

static bool fits_output(const struct lprog *l, const struct kernel *k,
                        const struct reduction *r)
{
    const struct stmt *up = &k->st[r->update], *st = &k->st[r->store];
    const struct value *v = &l->value[st->val];

    return l->acc[up->acc].elems > SMALL && v->kind == V_ACC && v->arg[0] == up->acc &&
           v->arg[1] == up->acc_at && r->decl < r->update && r->update < r->store &&
           k->st[nest_start(k, r->decl, r->store)].kind != ST_STORE;
}

int pass_accum(struct lprog *l, struct err *e)
{
    (void)e;
    for (int i = 0; i < l->n_kernel && !l->stopped; i++) {
        struct kernel *k = &l->kernel[i];
        struct reduction r;

        if (k->dead || k->tiled || !kernel_reduction(k, &r) || !fits_output(l, k, &r))
            continue;
        if (lprog_rewrite(l, "accum.output", -1, i))
            into_output(l, k, &r);
    }
    return 0;
}
