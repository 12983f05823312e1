/*
 * reduce: reductions over threads by shuffles.
 * needs: the form that reduce_threads wrote (reduce.h): each thread's partial result goes to
 * shared memory, everybody adds up a row of them.
 * keeps: who stores. gives, where the threads of a row are so many that warps hold whole rows
 * or rows whole warps:
 *   reduce.shuffle  up to 32 threads, a power of two: shuffles alone
 *   reduce.warps    a multiple of 32: shuffles within warps, one partial per warp in memory
 */
#include "lower/reduce.h"

#include "lower/passes.h"

/* acc op= what the thread has whose number differs in one bit, bit after bit. */
static void shuffles(struct lprog *l, struct kernel *list, int acc, int width)
{
    struct value v = { .kind = V_SHFL, .dt = l->acc[acc].dt, .arg = { acc, -1, 0 } };

    for (int d = 1; d < width; d *= 2) {
        v.arg[2] = d;
        kernel_push(
            l, list,
            (struct stmt){
                .kind = ST_UPDATE, .acc = acc, .acc_at = -1, .val = lprog_value(l, v) });
    }
}

/* The accumulator that the threads bring along: what the STORE of the form stores. */
static int partial_acc(const struct lprog *l, const struct kernel *k, const struct meeting *m)
{
    return l->value[k->st[m->store].val].arg[0];
}

static void shrink(struct lprog *l, int buffer, int64_t elems)
{
    struct buffer *b = &l->buffer[buffer];

    b->elems = elems;
    b->sh = (struct shape){ 1, { elems } };
}

static void without_memory(struct lprog *l, struct kernel *k, const struct meeting *m)
{
    struct kernel list = list_new(k);
    int acc = partial_acc(l, k, m), whole = k->st[m->store + 1].acc;
    int own = lprog_acc_load(l, acc, -1);

    for (int i = 0; i < k->n; i++) {
        struct stmt s = k->st[i];

        if (i == m->store)
            shuffles(l, &list, acc, m->extent);
        if (i >= m->store && i < m->store + 5)
            continue;
        if (i > m->store && stmt_has_value(&s))
            s.val = acc_replace(l, s.val, whole, own);
        kernel_push(l, &list, s);
    }
    shrink(l, m->buffer, 0);
    list_take(k, &list);
}

/* The same statement with another index into the scratch memory. */
static int moved(struct lprog *l, int access, int index)
{
    struct access a = l->access[access];

    a.index = index;
    return lprog_access(l, a);
}

static void store_partial(struct lprog *l, struct kernel *list, const struct stmt *st)
{
    int thread = l->access[st->access].index;
    int lane = ix_mod(&l->ix, thread, WARP);
    struct stmt s = { .kind = ST_STORE,
                      .val = st->val,
                      .access = moved(l, st->access, ix_div(&l->ix, thread, WARP)) };

    push_if(l, list, ix_lt(&l->ix, lane, ix_const(&l->ix, 1)));
    kernel_push(l, list, s);
    push_end(l, list, 1);
}

static void by_warps(struct lprog *l, struct kernel *k, const struct meeting *m)
{
    struct kernel list = list_new(k);
    int warps = m->extent / WARP;
    const struct stmt *loop = &k->st[m->store + 2], *up = &k->st[m->store + 3];
    int j = lprog_var(l, l->var[loop->var].node, l->var[loop->var].name, warps, true);
    int load = l->value[up->val].arg[0], *to = subst_table(l), first;
    struct value v = l->value[up->val];

    /* its index is row * extent + j */
    to[loop->var] = ix_const(&l->ix, 0);
    first = ix_div(&l->ix, ix_subst(&l->ix, l->access[load].index, to, l->n_var), WARP);
    if (FAULT(l, multiwarp_allreduce))
        first = ix_const(&l->ix, 0);
    v.arg[0] = moved(l, load, ix_add(&l->ix, first, ix_var(&l->ix, j)));
    for (int i = 0; i < k->n; i++) {
        struct stmt s = k->st[i];

        if (i == m->store) {
            shuffles(l, &list, partial_acc(l, k, m), WARP);
            store_partial(l, &list, &s);
            continue;
        }
        if (i == m->store + 2) {
            push_loop(l, &list, j, LOOP_SERIAL);
            continue;
        }
        if (i == m->store + 3) {
            s.val = lprog_value(l, v);
            s.by = 0;
        }
        kernel_push(l, &list, s);
    }
    shrink(l, m->buffer, l->buffer[m->buffer].elems / WARP);
    list_take(k, &list);
}

int pass_reduce(struct lprog *l, struct err *e)
{
    (void)e;
    for (int i = 0; i < l->n_kernel && !l->stopped; i++) {
        struct kernel *k = &l->kernel[i];
        struct meeting m;
        int step;

        if (k->dead || !reduce_meeting(l, i, &m))
            continue;
        step = l->log[l->buffer[m.buffer].by - 1].step;
        if (m.extent <= WARP && (m.extent & (m.extent - 1)) == 0) {
            if (lprog_rewrite(l, "reduce.shuffle", step, i))
                without_memory(l, k, &m);
        } else if (m.extent % WARP == 0) {
            if (lprog_rewrite(l, "reduce.warps", step, i))
                by_warps(l, k, &m);
        }
    }
    return 0;
}
