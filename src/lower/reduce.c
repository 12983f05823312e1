#include "lower/reduce.h"

#include <string.h>

#include "lower/bind.h"

static const char *const rule = "bind.reduce";

struct plan {
    struct lprog *l;
    int kernel, var;
    struct reduction r;
    int loop, end;      /* the loop of var and its END */
    int nest, nest_end; /* what stands round the UPDATE behind the DECL */
    int guard[64];      /* conditions of IFs round the whole reduction */
    int n_guard;
    bool *skip; /* statements that are left out: IFs that sink, the loop */
    int64_t extent;
    int row;   /* number of the reduction among those of the block */
    int whole; /* accumulator of what all threads have together */
};

static int refuse(const struct plan *p, int step, struct err *e, const char *why)
{
    return step_error(&p->l->trial->step[step], e, "%s in kernel %s: %s",
                      p->l->var[p->var].name, p->l->kernel[p->kernel].name, why);
}

/* What stands round statement at, without BLOCK and THREAD loops: LOOPs and IFs in order. */
static int in_body(const struct kernel *k, int at, int *round)
{
    int n = enclosing(k, at, round, 64), kept = 0;

    for (int i = 0; i < n; i++)
        if (round[i] >= kernel_body(k))
            round[kept++] = round[i];
    return kept;
}

static const char *find_loops(struct plan *p)
{
    const struct lprog *l = p->l;
    const struct kernel *k = &l->kernel[p->kernel];
    int outer[64], round[64], n_outer = in_body(k, p->r.decl, outer);
    int n = in_body(k, p->r.update, round);

    p->loop = -1;
    for (int i = 0; i < n; i++)
        if (k->st[round[i]].kind == ST_LOOP) {
            if (k->st[round[i]].loop != LOOP_SERIAL)
                return "it is vectorized";
            if (k->st[round[i]].var == p->var)
                p->loop = i < n_outer ? -1 : round[i];
        }
    if (p->loop < 0)
        return "it is no loop of the reduction";
    for (int i = 0; i < n_outer; i++)
        if (k->st[outer[i]].kind == ST_LOOP && l->var[k->st[outer[i]].var].reduce)
            return "another reduction stands round it";
    p->end = stmt_end(k, p->loop);
    p->nest = round[n_outer];
    p->nest_end = stmt_end(k, p->nest);
    if (p->r.store < p->nest_end)
        return "the result is stored within the reduction";
    for (int i = 0; i < n_outer; i++)
        if (k->st[outer[i]].kind == ST_IF) {
            p->guard[p->n_guard++] = k->st[outer[i]].cond;
            p->skip[outer[i]] = p->skip[stmt_end(k, outer[i])] = true;
        }
    p->skip[p->loop] = p->skip[p->end] = true;
    return NULL;
}

static const char *why_not(struct plan *p)
{
    const struct lprog *l = p->l;
    const struct kernel *k = &l->kernel[p->kernel];
    const struct stmt *up;
    const struct value *st;

    if (!l->var[p->var].reduce)
        return "it is no reduction loop";
    if (!kernel_reduction(k, &p->r) || p->r.decl > p->r.update || p->r.update > p->r.store)
        return "the kernel is not one reduction with one store";
    up = &k->st[p->r.update];
    st = &l->value[k->st[p->r.store].val];
    if (l->acc[up->acc].elems != 1 || up->acc_at >= 0)
        return "it has more than one accumulator element";
    if (st->kind == V_ACC && st->arg[1] >= 0)
        return "it has more than one accumulator element";
    if (p->extent < 1)
        return "it has no iterations";
    if (kernel_threads(l, k) * p->extent > MAX_THREADS)
        return "more than 1024 threads";
    return find_loops(p);
}

static int scratch(struct plan *p, enum dtype dt, int64_t threads)
{
    struct lprog *l = p->l;
    struct buffer b = { .name = arena_printf(l->arena, "%s.w", l->kernel[p->kernel].name),
                        .kind = BUF_SHARED,
                        .dt = dt,
                        .sh = { 1, { threads } },
                        .elems = threads,
                        .arena_at = -1,
                        .node = -1,
                        .kernel = p->kernel,
                        .smem_at = -1,
                        .by = l->n_log };

    b.layout = layout_of(&b.layout, &b.sh);
    return lprog_buffer(l, b);
}

/* Partial results to shared memory, then all of a row are added up by everybody. */
static void meet(struct plan *p, struct kernel *list)
{
    struct lprog *l = p->l;
    const struct kernel *k = &l->kernel[p->kernel];
    int acc = k->st[p->r.update].acc, access;
    int w = scratch(p, l->acc[acc].dt, kernel_threads(l, k) * p->extent);
    int first = ix_scale(&l->ix, p->row, p->extent);
    int j = lprog_var(l, l->var[p->var].node,
                      arena_printf(l->arena, "%s.w", l->var[p->var].name), p->extent, true);

    kernel_push(l, list,
                (struct stmt){
                    .kind = ST_STORE,
                    .access = lprog_place(l, w, ix_add(&l->ix, first, ix_var(&l->ix, p->var))),
                    .val = lprog_acc_load(l, acc, -1) });
    p->whole = lprog_acc(l, l->acc[acc]);
    kernel_push(l, list, (struct stmt){ .kind = ST_DECL, .acc = p->whole, .acc_at = -1 });
    push_loop(l, list, j, LOOP_SERIAL);
    access = lprog_place(l, w, ix_add(&l->ix, first, ix_var(&l->ix, j)));
    kernel_push(
        l, list,
        (struct stmt){
            .kind = ST_UPDATE, .acc = p->whole, .acc_at = -1, .val = lprog_load(l, access) });
    push_end(l, list, 1);
}

/* The IFs that stood round everything: within a reduction over threads all must go along. */
static int push_guards(struct plan *p, struct kernel *list)
{
    for (int i = 0; i < p->n_guard; i++)
        push_if(p->l, list, p->guard[i]);
    return p->n_guard;
}

static void rebuild(struct plan *p)
{
    struct lprog *l = p->l;
    struct kernel *k = &l->kernel[p->kernel];
    struct kernel list = list_new(k);
    int body = kernel_body(k), acc = k->st[p->r.update].acc;

    for (int i = 0; i < k->n; i++) {
        struct stmt s = k->st[i];
        int n = 0;

        if (i == body)
            push_loop(l, &list, p->var, LOOP_THREAD);
        if (i == p->r.update)
            n = push_guards(p, &list);
        if (i == p->r.store) {
            n = push_guards(p, &list) + 1;
            push_if(l, &list, ix_lt(&l->ix, ix_var(&l->ix, p->var), ix_const(&l->ix, 1)));
            s.val = acc_replace(l, s.val, acc, lprog_acc_load(l, p->whole, -1));
        }
        if (!p->skip[i])
            kernel_push(l, &list, s);
        push_end(l, &list, n);
        if (i == p->nest_end)
            meet(p, &list);
    }
    push_end(l, &list, 1);
    list_take(&l->kernel[p->kernel], &list);
}

int reduce_threads(struct lprog *l, int kernel, int var, int step, struct err *e)
{
    struct plan p = { .l = l, .kernel = kernel, .var = var, .extent = l->var[var].extent };
    const char *why;

    p.skip = arena_array(l->arena, bool, l->kernel[kernel].n + 1);
    why = why_not(&p);
    if (why)
        return refuse(&p, step, e, why);
    if (!lprog_rewrite(l, rule, step, kernel))
        return 0;
    p.row = kernel_thread_index(l, &l->kernel[kernel]);
    rebuild(&p);
    return 0;
}

int reduce_scratch(const struct lprog *l, int kernel)
{
    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];

        if (b->kind == BUF_SHARED && b->kernel == kernel && b->by > 0 &&
            strcmp(l->log[b->by - 1].rule, rule) == 0)
            return i;
    }
    return -1;
}

bool reduce_meeting(const struct lprog *l, int kernel, struct meeting *m)
{
    static const enum stmt_kind form[] = { ST_STORE, ST_DECL, ST_LOOP, ST_UPDATE, ST_END };
    const struct kernel *k = &l->kernel[kernel];

    m->buffer = reduce_scratch(l, kernel);
    for (int i = 0; i + 5 <= k->n && m->buffer >= 0; i++) {
        bool fits = true;

        for (int j = 0; j < 5; j++)
            fits &= k->st[i + j].kind == form[j];
        if (!fits || l->access[k->st[i].access].buffer != m->buffer)
            continue;
        m->store = i;
        m->extent = (int)l->var[k->st[i + 2].var].extent;
        return true;
    }
    return false;
}
