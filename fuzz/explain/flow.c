/*
 * How values move within one kernel: from stores to loads of what it keeps in shared memory,
 * and from the statements that fill accumulators to those that store them.
 */
#include "fuzz/explain/reads.h"

void flow_stores(struct side *s, struct ktrace *k)
{
    int **last = arena_array(s->a, int *, s->l->n_buffer + 1);

    k->from = arena_array(s->a, int, k->tr.n + 1);
    for (int i = 0; i < k->tr.n; i++) {
        const struct trace_rec *r = &k->tr.rec[i];

        k->from[i] = -1;
        if (r->buffer < 0 || r->guarded || r->index < 0 ||
            r->index >= s->l->buffer[r->buffer].elems)
            continue;
        if (r->store && !last[r->buffer]) {
            int64_t elems = s->l->buffer[r->buffer].elems;

            last[r->buffer] = arena_array(s->a, int, elems + 1);
            for (int64_t e = 0; e < elems; e++)
                last[r->buffer][e] = -1;
        }
        if (r->store)
            last[r->buffer][r->index] = i;
        else if (last[r->buffer])
            k->from[i] = last[r->buffer][r->index];
    }
}

/* Marks the accumulators that a value reads. */
static void mark_accs(const struct lprog *l, int val, bool *acc)
{
    const struct value *v = &l->value[val];

    if (v->kind == V_ACC || v->kind == V_SHFL)
        acc[v->arg[0]] = true;
    if (v->kind == V_LOAD && l->access[v->arg[0]].src == SRC_BODY)
        mark_accs(l, l->access[v->arg[0]].body, acc);
    for (int i = 0; v->kind == V_OP && i < 3; i++)
        if (v->arg[i] >= 0)
            mark_accs(l, v->arg[i], acc);
}

const bool *flow_behind(struct side *s, int kernel, int store)
{
    const struct kernel *code = &s->l->kernel[kernel];
    struct ktrace *k = &s->k[kernel];
    bool *acc, again = true;

    if (k->behind[store])
        return k->behind[store];
    k->behind[store] = arena_array(s->a, bool, code->n);
    acc = arena_array(s->a, bool, s->l->n_acc + 1);
    k->behind[store][store] = true;
    mark_accs(s->l, code->st[store].val, acc);
    while (again) {
        again = false;
        for (int i = 0; i < code->n; i++) {
            const struct stmt *st = &code->st[i];

            if ((st->kind != ST_UPDATE && st->kind != ST_SET) || !acc[st->acc] ||
                k->behind[store][i])
                continue;
            k->behind[store][i] = again = true;
            mark_accs(s->l, st->val, acc);
        }
    }
    return k->behind[store];
}
