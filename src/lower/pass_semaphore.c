/*
 * semaphore: how the slices of split-K come together other than through a workspace of all of
 * them ("splitk NODE N serial|atomic").
 * needs: a kernel of slices whose slice loop is the first BLOCK loop.
 * keeps: the order of the slices, if they are serial.
 * gives: a workspace of one slice that all of them add to, one rewrite each:
 *   semaphore.serial  a block waits until the slice before it has stored: flags NODE.sem
 *   semaphore.atomic  by atomic addition
 * and kernel NODE.zero in front, which clears the flags or the workspace. The combine kernel
 * reads the one slice.
 */
#include <string.h>

#include "lower/bind.h"
#include "lower/nest.h"
#include "lower/passes.h"
#include "lower/splitk.h"

struct meet {
    struct lprog *l;
    int kernel; /* of the slices */
    int slices; /* their loop */
    int ws;     /* workspace */
    enum op op; /* that combines, and its identity */
    enum op identity;
    const char *name; /* of the node */
};

/* The workspace: what the kernel stores to, and never reads, that no program node is. */
static int find_workspace(const struct lprog *l, const struct kernel *k)
{
    for (int i = 0; i < k->n; i++)
        if (stmt_writes(&k->st[i])) {
            int b = l->access[k->st[i].access].buffer;

            if (l->buffer[b].kind == BUF_TEMP && l->buffer[b].node < 0 &&
                !kernel_reads(l, k, b))
                return b;
        }
    return -1;
}

static bool stores_to(const struct lprog *l, const struct stmt *s, int buffer)
{
    return s->kind == ST_STORE && l->access[s->access].buffer == buffer;
}

/* Loop `reduce` over as many slices in the kernel that reads the workspace: now there is one.
 */
static void combine_one(struct meet *m)
{
    struct lprog *l = m->l;

    for (int k = 0; k < l->n_kernel; k++) {
        const struct kernel *kn = &l->kernel[k];

        if (kn->dead || k == m->kernel || !kernel_reads(l, kn, m->ws))
            continue;
        for (int i = 0; i < kn->n; i++) {
            struct lvar *v = &l->var[kn->st[i].var];

            if (kn->st[i].kind == ST_LOOP && v->node < 0 && v->reduce)
                v->extent = 1;
        }
    }
}

/* A kernel in front that stores zeros to all of a buffer. */
static void insert_zeros(struct meet *m, int buffer)
{
    struct lprog *l = m->l;
    struct kernel k = { .name = arena_printf(l->arena, "%s.zero", m->name), .node = -1 };
    int var = lprog_var(l, -1, arena_printf(l->arena, "%s.i0", k.name), l->buffer[buffer].elems,
                        false);

    push_loop(l, &k, var, LOOP_SERIAL);
    kernel_push(l, &k,
                (struct stmt){ .kind = ST_STORE,
                               .access = lprog_place(l, buffer, ix_var(&l->ix, var)),
                               .val = lprog_lit(l, l->buffer[buffer].dt, 0) });
    push_end(l, &k, 1);
    if (l->target != TARGET_CPU)
        bind_default(l, &k);
    insert_kernel(l, m->kernel, k);
    l->log[l->n_log - 1].kernel = ++m->kernel;
}

/* Number of the block among those of one slice: the slice loop is the first. */
static int number_in_slice(struct lprog *l, const struct kernel *k)
{
    int e = ix_const(&l->ix, 0);

    for (int i = 1; i < kernel_body(k) && k->st[i].loop == LOOP_BLOCK; i++)
        e = ix_add(&l->ix, ix_scale(&l->ix, e, l->var[k->st[i].var].extent),
                   ix_var(&l->ix, k->st[i].var));
    return e;
}

static void push_flag(struct meet *m, struct kernel *list, enum stmt_kind kind, int access,
                      int index)
{
    kernel_push(m->l, list,
                (struct stmt){
                    .kind = kind, .access = access, .val = lprog_index(m->l, DT_I32, index) });
}

/* The value with what the slices before have stored. */
static int with_others(struct meet *m, const struct stmt *s)
{
    struct lprog *l = m->l;
    struct access a = l->access[s->access];

    a.n_guard = 1;
    a.guard = arena_array(l->arena, struct guard, 1);
    a.guard[0] = (struct guard){
        ix_lt(&l->ix, ix_const(&l->ix, 0), ix_var(&l->ix, m->slices)),
        reduce_identity(m->identity, a.dt),
    };
    return lprog_op2(l, m->op, a.dt, lprog_load(l, lprog_access(l, a)), s->val);
}

/* A store to the workspace, which has one slice now. */
static struct stmt meet_store(struct meet *m, const struct stmt *s, enum splitk_mode mode)
{
    struct lprog *l = m->l;
    struct stmt t = *s;
    int *to = subst_table(l);

    to[m->slices] = ix_const(&l->ix, 0);
    t.access = access_subst(l, t.access, to, l->n_var);
    t.by = 0;
    if (mode == SPLITK_ATOMIC)
        t.kind = ST_ATOMIC;
    else
        t.val = with_others(m, &t);
    return t;
}

/* The pieces of the body that hold stores to the workspace: from the first one's start to
 * the last one's end. */
static void find_pieces(const struct meet *m, const struct kernel *k, int *first, int *last)
{
    *first = *last = -1;
    for (int i = kernel_body(k); i < k->n - kernel_body(k); i++) {
        int end = k->st[i].kind == ST_LOOP || k->st[i].kind == ST_IF ? stmt_end(k, i) : i;

        for (int j = i; j <= end; j++)
            if (stores_to(m->l, &k->st[j], m->ws)) {
                *first = *first < 0 ? i : *first;
                *last = end;
            }
        i = end;
    }
}

static void push_release(struct meet *m, struct kernel *list, int flag)
{
    struct lprog *l = m->l;
    int next = ix_add(&l->ix, ix_var(&l->ix, m->slices), ix_const(&l->ix, 1));
    bool early = FAULT(l, semaphore_release_before_barrier);

    if (!early)
        kernel_push(l, list, (struct stmt){ .kind = ST_SYNC });
    push_flag(m, list, ST_RELEASE, flag, next);
    if (early)
        kernel_push(l, list, (struct stmt){ .kind = ST_SYNC });
}

static void rewrite(struct meet *m, enum splitk_mode mode)
{
    struct lprog *l = m->l;
    struct kernel list = list_new(&l->kernel[m->kernel]);
    const struct kernel *k = &l->kernel[m->kernel];
    struct buffer *ws = &l->buffer[m->ws];
    int64_t slices = l->var[m->slices].extent;
    int first, last, flags = -1, flag = -1;

    ws->elems = ws->sh.dim[0] = slices > 0 ? ws->elems / slices : 0;
    ws->layout = layout_of(&(struct layout){ 0 }, &ws->sh);
    ws->by = l->n_log;
    find_pieces(m, k, &first, &last);
    if (mode == SPLITK_SERIAL) {
        flags = splitk_buffer(l, arena_printf(l->arena, "%s.sem", m->name), DT_I32,
                              slices > 0 ? kernel_blocks(l, k) / slices : 0);
        flag = lprog_place(l, flags, number_in_slice(l, k));
    }
    for (int i = 0; i < k->n; i++) {
        if (i == first && flags >= 0) {
            push_flag(m, &list, ST_ACQUIRE, flag, ix_var(&l->ix, m->slices));
            kernel_push(l, &list, (struct stmt){ .kind = ST_SYNC });
        }
        kernel_push(l, &list,
                    stores_to(l, &k->st[i], m->ws) ? meet_store(m, &k->st[i], mode) : k->st[i]);
        if (i == last && flags >= 0)
            push_release(m, &list, flag);
    }
    list_take(&l->kernel[m->kernel], &list);
    combine_one(m);
    if (mode == SPLITK_SERIAL)
        insert_zeros(m, flags);
    else if (!FAULT(l, splitk_workspace_skipped))
        insert_zeros(m, m->ws);
    l->unordered |=
        mode == SPLITK_ATOMIC && dtype_info(l->buffer[m->ws].dt)->class == DTC_FLOAT;
}

/* What the slices reduce by, from the kernel's accumulator of the node. */
static bool find_reduction(struct meet *m, const struct kernel *k)
{
    for (int i = 0; i < k->n; i++)
        if (k->st[i].kind == ST_DECL) {
            m->identity = m->l->acc[k->st[i].acc].op;
            m->op = reduce_combine(m->identity);
            return true;
        }
    return false;
}

/* The step that cut kernel `part`. */
static int find_step(const struct lprog *l, const struct kernel *part, const char **name)
{
    for (int i = 0; i < l->trial->n_step; i++) {
        const struct step *st = &l->trial->step[i];

        if (st->kind != STEP_SPLITK)
            continue;
        *name = l->prog->node[st->node[0]].name;
        if (strcmp(part->name, arena_printf(l->arena, "%s.part", *name)) == 0)
            return i;
    }
    return -1;
}

int pass_semaphore(struct lprog *l, struct err *e)
{
    (void)e;
    for (int i = 0; i < l->n_kernel && !l->stopped; i++) {
        struct meet m = { .l = l, .kernel = i };
        const struct kernel *k = &l->kernel[i];
        enum splitk_mode mode = (enum splitk_mode)k->splitk;
        int step;

        if (k->dead || (mode != SPLITK_SERIAL && mode != SPLITK_ATOMIC))
            continue;
        m.slices = bind_slices(l, k);
        m.ws = find_workspace(l, k);
        step = find_step(l, k, &m.name);
        if (m.slices < 0 || m.ws < 0 || step < 0 || k->st[0].loop != LOOP_BLOCK ||
            k->st[0].var != m.slices || !find_reduction(&m, k))
            continue;
        if (lprog_rewrite(l, mode == SPLITK_SERIAL ? "semaphore.serial" : "semaphore.atomic",
                          step, i)) {
            rewrite(&m, mode);
            i = m.kernel;
        }
    }
    return 0;
}
