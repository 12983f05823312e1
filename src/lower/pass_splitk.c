/*
 * splitk: "splitk NODE N [MODE]" cuts the outer reduction loop of NODE into N slices. Each
 * slice stores its accumulator in a workspace; a combine kernel reduces the slices and runs the
 * epilogue (what the store did with the accumulator, fused consumers included).
 * needs: a kernel with one accumulator and one store, composed accesses.
 * keeps: the kernel's name for the combine kernel. gives: kernel NODE.part in front of it
 * and buffer NODE.ws, N times the size of the output's storage. Other modes than a workspace
 * are made from that by pass semaphore, as soon as slices are blocks.
 */
#include "lower/nest.h"
#include "lower/passes.h"
#include "lower/splitk.h"

struct slices {
    int64_t n, each; /* slices; iterations of the cut loop in one */
    int var;         /* the loop that is cut */
    int slice, part; /* loop over slices, loop within one */
    int ws;          /* workspace buffer */
};

/* The kernel that runs NODE's reduction, and the reduction loop that comes first in it. */
static int find_kernel(const struct lprog *l, int node, int *var)
{
    for (int k = 0; k < l->n_kernel; k++)
        for (int i = 0; i < l->kernel[k].n && !l->kernel[k].dead; i++) {
            const struct stmt *s = &l->kernel[k].st[i];

            if (s->kind == ST_LOOP && l->var[s->var].reduce && l->var[s->var].node == node) {
                *var = s->var;
                return k;
            }
        }
    return -1;
}

static int cast_to(struct lprog *l, int val, enum dtype dt)
{
    return l->value[val].dt == dt ? val : lprog_op1(l, OP_CAST, dt, val);
}

static int store_access(struct lprog *l, const struct slices *s, int out_access, int slice)
{
    struct access a = l->access[out_access];
    int64_t elems = l->buffer[a.buffer].elems;

    a.index = ix_add(&l->ix, ix_scale(&l->ix, ix_var(&l->ix, slice), elems), a.index);
    a.buffer = s->ws;
    a.dt = l->buffer[s->ws].dt;
    return lprog_access(l, a);
}

static struct kernel partial(struct lprog *l, const struct kernel *k, const struct slices *s,
                             const struct reduction *r)
{
    struct kernel list = list_new(k);
    int *to = subst_table(l), n_to = l->n_var, *extra = arena_array(l->arena, int, k->n);
    int64_t extent = l->var[s->var].extent;
    int at = ix_add(&l->ix, ix_scale(&l->ix, ix_var(&l->ix, s->slice), s->each),
                    ix_var(&l->ix, s->part));
    int tested = FAULT(l, splitk_guard_stale_vars) ? ix_var(&l->ix, s->part) : at;
    const struct stmt *up = &k->st[r->update];

    to[s->var] = at;
    push_loop(l, &list, s->slice, LOOP_SERIAL);
    for (int i = 0; i < k->n; i++) {
        struct stmt st = k->st[i];

        if (st.kind == ST_LOOP && st.var == s->var) {
            push_loop(l, &list, s->part, LOOP_SERIAL);
            if (s->n * s->each != extent) {
                push_if(l, &list, ix_lt(&l->ix, tested, ix_const(&l->ix, extent)));
                extra[stmt_end(k, i)] = 1;
            }
            continue;
        }
        if (st.kind == ST_STORE) {
            bool epilogue = FAULT(l, splitk_epilogue_per_slice) &&
                            l->value[st.val].dt == l->acc[up->acc].dt;

            if (!epilogue)
                st.val = lprog_acc_load(l, up->acc, up->acc_at);
            st.access = store_access(l, s, st.access, s->slice);
            st.val = cast_to(l, st.val, l->buffer[s->ws].dt);
        }
        kernel_push(l, &list, stmt_subst(l, &st, to, n_to));
        push_end(l, &list, extra[i]);
    }
    push_end(l, &list, 1);
    return list;
}

static struct kernel combine(struct lprog *l, const struct kernel *k, const struct slices *s,
                             const struct reduction *r)
{
    struct kernel list = list_new(k);
    int round[64], n = enclosing(k, r->store, round, 64);
    struct stmt st = k->st[r->store];
    struct acc a = l->acc[k->st[r->update].acc];
    enum dtype dt = a.dt;
    int loop = lprog_var(l, -1, l->var[s->slice].name, s->n, true), acc, load;

    a.elems = 1;
    acc = lprog_acc(l, a);
    for (int i = 0; i < n; i++)
        kernel_push(l, &list, k->st[round[i]]);
    kernel_push(l, &list, (struct stmt){ .kind = ST_DECL, .acc = acc, .acc_at = -1 });
    push_loop(l, &list, loop, LOOP_SERIAL);
    load = store_access(l, s, st.access, loop);
    kernel_push(l, &list,
                (struct stmt){ .kind = ST_UPDATE,
                               .acc = acc,
                               .acc_at = -1,
                               .val = cast_to(l, lprog_load(l, load), dt) });
    push_end(l, &list, 1);
    st.val = acc_replace(l, st.val, k->st[r->update].acc, lprog_acc_load(l, acc, -1));
    kernel_push(l, &list, st);
    push_end(l, &list, n);
    return list;
}

int splitk_buffer(struct lprog *l, const char *name, enum dtype dt, int64_t elems)
{
    struct buffer b = { .name = name,
                        .kind = BUF_TEMP,
                        .dt = dt,
                        .sh = { 1, { elems } },
                        .elems = elems,
                        .arena_at = -1,
                        .node = -1,
                        .by = l->n_log };

    b.layout = layout_of(&b.layout, &b.sh);
    return lprog_buffer(l, b);
}

void insert_kernel(struct lprog *l, int at, struct kernel k)
{
    lprog_kernel(l, k.name, k.node);
    for (int i = l->n_kernel - 1; i > at; i--)
        l->kernel[i] = l->kernel[i - 1];
    l->kernel[at] = k;
    for (int i = 0; i < l->n_alias; i++)
        l->alias[i].kernel += l->alias[i].kernel >= at;
    for (int i = 0; i < l->n_log; i++)
        l->log[i].kernel += l->log[i].kernel >= at;
    for (int i = 0; i < l->n_buffer; i++)
        l->buffer[i].kernel += l->buffer[i].kind == BUF_SHARED && l->buffer[i].kernel >= at;
}

/* Atomic addition is for sums in words. */
static bool may_be_atomic(const struct lprog *l, const struct reduction *r,
                          const struct kernel *k)
{
    const struct acc *a = &l->acc[k->st[r->update].acc];

    return a->op == OP_SUM && (a->dt == DT_F32 || a->dt == DT_I32);
}

/* Partial sums are kept in the accumulator's dtype. */
static enum dtype workspace_dtype(const struct lprog *l, const struct buffer *out, int acc)
{
    bool half = dtype_info(out->dt)->bytes == 2;

    return FAULT(l, low_precision_partial_sums) && half ? out->dt : l->acc[acc].dt;
}

static int splitk_step(struct lprog *l, int step, struct err *e)
{
    const struct step *st = &l->trial->step[step];
    const char *name = l->prog->node[st->node[0]].name;
    struct slices s = { .n = st->n };
    int kernel = find_kernel(l, st->node[0], &s.var);
    const struct buffer *out;
    struct reduction r;
    struct kernel part, whole;

    if (kernel < 0)
        return step_error(st, e, "%s has no reduction loop", name);
    if (l->kernel[kernel].node < 0)
        return step_error(st, e, "the reduction of %s is in slices already", name);
    if (!kernel_reduction(&l->kernel[kernel], &r) || r.store < r.update)
        return step_error(st, e, "the kernel of %s is not one reduction with one store", name);
    if (st->mode == SPLITK_ATOMIC && !may_be_atomic(l, &r, &l->kernel[kernel]))
        return step_error(st, e, "only sums in f32 or i32 can be added atomically");
    out = &l->buffer[l->access[l->kernel[kernel].st[r.store].access].buffer];
    if (out->elems > MAX_ELEMENTS / s.n)
        return step_error(st, e, "a workspace of %lld x %lld elements is too large",
                          (long long)s.n, (long long)out->elems);
    if (!lprog_rewrite(l, "splitk.workspace", step, kernel))
        return 0;
    s.each = (l->var[s.var].extent + s.n - 1) / s.n;
    s.slice = lprog_var(l, -1, arena_printf(l->arena, "%s.slice", name), s.n, false);
    s.part = lprog_var(l, st->node[0], l->var[s.var].name, s.each, true);
    s.ws = splitk_buffer(l, arena_printf(l->arena, "%s.ws", name),
                         workspace_dtype(l, out, l->kernel[kernel].st[r.update].acc),
                         s.n * out->elems);
    part = partial(l, &l->kernel[kernel], &s, &r);
    part.name = arena_printf(l->arena, "%s.part", name);
    whole = combine(l, &l->kernel[kernel], &s, &r);
    part.splitk = st->mode == SPLITK_NONE ? SPLITK_WORKSPACE : (int)st->mode;
    part.node = -1; /* steps that name the node mean the combine kernel */
    list_take(&l->kernel[kernel], &whole);
    insert_kernel(l, kernel, part);
    l->log[l->n_log - 1].kernel = kernel; /* the partial kernel: where the cut is */
    return 0;
}

int pass_splitk(struct lprog *l, struct err *e)
{
    return steps_each(l, STEP_SPLITK, splitk_step, e);
}
