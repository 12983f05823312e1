/*
 * stage: "stage NODE.X AX" copies operand X into shared memory at the start of every step of
 * loop AX. Operands are the different loads of tensors inside that loop, in the order in which
 * they are met: a, b ..
 * needs: a bound kernel, AX a serial loop of its body that no IF stands round.
 * keeps: what is computed. gives: stage.copy: buffer KERNEL.X; a loop in which all threads
 * copy the elements of the tile; loads of it in place of the operand. What guards the users
 * guards the copy; elements that nobody may use are 0.
 */
#include "lower/passes.h"
#include "lower/stage.h"

enum { MAX_OPERANDS = 26 };

struct staging {
    struct lprog *l;
    const struct step *st;
    int step, kernel;
    int at, end; /* statements of the loop */
    int access[MAX_OPERANDS + 1];
    int n_access;
    int x;              /* the operand's access */
    struct users users; /* what stands round them */
    struct tile tile;
    int load; /* what replaces the operand */
};

static void collect(void *ctx, int access)
{
    struct staging *g = ctx;
    const struct access *a = &g->l->access[access];

    if (a->src != SRC_BUFFER || g->n_access > MAX_OPERANDS ||
        (g->l->buffer[a->buffer].kind == BUF_SHARED && !is_staged(g->l, a->buffer)))
        return;
    for (int i = 0; i < g->n_access; i++)
        if (access_equal(g->l, g->access[i], access))
            return;
    g->access[g->n_access++] = access;
}

static int find_loop(struct staging *g, struct err *e)
{
    struct lprog *l = g->l;
    char name[MAX_LABEL];
    struct kernel *k;
    int var = -1;

    if (!axis_name(l, g->st, &g->st->axis[0], name, e))
        return e->code;
    for (g->kernel = 0; g->kernel < l->n_kernel; g->kernel++)
        if ((var = kernel_axis(l, g->kernel, name)) >= 0)
            break;
    if (var < 0)
        return step_error(g->st, e, "no kernel has a loop %s", name);
    k = &l->kernel[g->kernel];
    if (!kernel_bound(k))
        return step_error(g->st, e, "kernel %s has no threads: tile or bind it", k->name);
    g->at = body_loop(k, var);
    if (g->at < 0 || k->st[g->at].loop != LOOP_SERIAL)
        return step_error(g->st, e, "%s is no serial loop that all threads run", name);
    g->end = stmt_end(k, g->at);
    for (int i = g->at + 1; i < g->end; i++)
        if (stage_may_use(l, &k->st[i]))
            value_accesses(l, k->st[i].val, collect, g);
    if (g->st->operand - 'a' >= g->n_access)
        return step_error(g->st, e, "loop %s of kernel %s has %d operands, no %c", name,
                          k->name, g->n_access, g->st->operand);
    g->x = g->access[g->st->operand - 'a'];
    if (l->buffer[l->access[g->x].buffer].kind == BUF_SHARED)
        return step_error(g->st, e, "operand %c is in shared memory already", g->st->operand);
    if (kernel_writes(l, k, l->access[g->x].buffer))
        return step_error(g->st, e, "kernel %s writes %s itself", k->name,
                          l->buffer[l->access[g->x].buffer].name);
    return 0;
}

/* The operand's tile: threads, and loops inside; everything else is the same for all. */
static bool find_tile(struct staging *g)
{
    struct lprog *l = g->l;

    users_init(l, &g->users, g->kernel, g->at, g->x);
    for (int v = 0; v < l->n_var; v++)
        if (g->users.used[v] && !g->users.uniform[v] && !tile_add(l, &g->tile, v))
            return false;
    tile_order(l, &g->tile, l->access[g->x].index);
    return true;
}

static int add_guards(struct staging *g)
{
    int access = g->x;

    for (int c = g->users.n_guard - 1; c >= 0; c--)
        access = access_guard(g->l, access, g->users.guard[c]);
    return access;
}

static int check_copy(struct staging *g, struct err *e)
{
    struct lprog *l = g->l;
    const struct step *st = g->st;
    const struct access *a = &l->access[g->x];
    int64_t bytes = dtype_info(a->dt)->bytes, each = st->vec ? st->vec : bytes;

    if (g->tile.elems < 1)
        return step_error(st, e, "operand %c is empty", st->operand);
    if (each < bytes)
        return step_error(st, e, "vec=%lld is less than an element of %s", (long long)each,
                          dtype_info(a->dt)->name);
    if (st->async && each < 4)
        return step_error(st, e, "asynchronous copies are of 4, 8 or 16 bytes, not %lld",
                          (long long)each);
    for (int i = 0; i < a->n_guard && st->async; i++)
        if (a->guard[i].fill != 0)
            return step_error(st, e, "asynchronous copies fill with 0 only");
    if (!wide_fits(l, &g->tile, add_guards(g), each / bytes))
        return step_error(st, e, "operand %c is not in pieces of %lld aligned bytes",
                          st->operand, (long long)each);
    if (g->tile.elems > MAX_SMEM ||
        smem_wanted(l, g->kernel) + (g->tile.elems * bytes + 15) / 16 * 16 * st->depth >
            MAX_SMEM)
        return step_error(st, e, "kernel %s would take more than %d bytes of shared memory",
                          l->kernel[g->kernel].name, MAX_SMEM);
    return 0;
}

/* Operands that are staged at one loop go round one ring. */
static int check_ring(struct staging *g, struct err *e)
{
    for (int i = 0; i < g->step; i++) {
        struct staged s;

        if (!staged_find(g->l, i, &s) || s.kernel != g->kernel ||
            s.var != g->l->kernel[g->kernel].st[g->at].var)
            continue;
        if (s.st->depth != g->st->depth || s.st->async != g->st->async)
            return step_error(g->st, e, "operand %c of the same loop has depth=%lld%s",
                              s.st->operand, (long long)s.st->depth,
                              s.st->async ? " async" : "");
    }
    return 0;
}

static int use_shared(void *ctx, int access)
{
    struct staging *g = ctx;

    return access_equal(g->l, g->x, access) ? g->load : access;
}

static void push_copy(struct staging *g, struct kernel *list, const struct kernel *k,
                      int buffer)
{
    struct lprog *l = g->l;
    const char *name = arena_printf(l->arena, "%s.c", l->buffer[buffer].name);
    int *to = subst_table(l), n_to = l->n_var, access = add_guards(g), e;
    struct walk w;

    e = walk_begin(l, list, k, name, g->tile.elems, &w);
    if (FAULT(l, guard_elided_smem_or_init) && w.ends == 2) {
        list->n--;
        w.ends--;
    }
    tile_digits(l, &g->tile, e, to);
    access = access_subst(l, access, to, n_to);
    kernel_push(l, list,
                (struct stmt){ .kind = ST_STORE,
                               .access = lprog_place(l, buffer, e),
                               .val = lprog_load(l, access) });
    walk_end(l, list, &w);
}

static void stage_kernel(struct staging *g)
{
    struct lprog *l = g->l;
    struct kernel *k = &l->kernel[g->kernel], list = list_new(k);
    const char letter[2] = { g->st->operand, '\0' };
    int buffer =
        shared_buffer(l, g->kernel, letter, l->access[g->x].dt, g->tile.elems, g->tile.row);
    int behind = g->at + 1;

    g->load = lprog_place(l, buffer, tile_linear(l, &g->tile));
    while (copy_loop(l, k, behind) >= 0)
        behind = stmt_end(k, behind) + 1;
    for (int i = 0; i < k->n; i++) {
        struct stmt s = k->st[i];

        if (i == behind)
            push_copy(g, &list, k, buffer);
        if (i > g->at && i < g->end && stage_may_use(l, &s))
            s.val = value_map(l, s.val, use_shared, g);
        kernel_push(l, &list, s);
    }
    list_take(k, &list);
}

static int stage_step(struct lprog *l, int step, struct err *e)
{
    struct staging g = { .l = l, .st = &l->trial->step[step], .step = step };
    int err = find_loop(&g, e);
    const char *wrong;

    if (err)
        return err;
    if (!find_tile(&g))
        return step_error(g.st, e, "operand %c depends on more than %d loops", g.st->operand,
                          MAX_TILE);
    wrong = users_guards(l, &g.users);
    if (wrong)
        return step_error(g.st, e, "operand %c: %s", g.st->operand, wrong);
    if ((err = check_copy(&g, e)) || (err = check_ring(&g, e)))
        return err;
    if (lprog_rewrite(l, "stage.copy", step, g.kernel))
        stage_kernel(&g);
    return 0;
}

int pass_stage(struct lprog *l, struct err *e)
{
    return steps_each(l, STEP_STAGE, stage_step, e);
}
