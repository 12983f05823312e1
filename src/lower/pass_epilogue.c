/*
 * epilogue: "epilogue NODE own|alias|global" lets the results of a tiled kernel pass through
 * memory: every thread puts its accumulators there, then the threads take the elements of the
 * tile in the order of the output, which makes neighbours of what lies side by side.
 * needs: a kernel that step tile has made: one accumulator, one store of it at the end.
 * keeps: what is stored. gives: buffer KERNEL.e of the accumulator's dtype, one rewrite:
 *   epilogue.shared  in shared memory; alias lets it lie over the stages, which are dead by
 * then epilogue.global  a temporary, a tile for each block
 */
#include <string.h>

#include "lower/passes.h"
#include "lower/splitk.h"
#include "lower/stage.h"

static const char *const rules[] = { [EXCHANGE_OWN] = "epilogue.shared",
                                     [EXCHANGE_ALIAS] = "epilogue.shared",
                                     [EXCHANGE_GLOBAL] = "epilogue.global" };

struct epilogue {
    struct lprog *l;
    const struct step *st;
    int kernel;
    struct reduction r;
    int from, to; /* statements: the nest round the store */
    struct tile tile;
    int acc_at; /* which element of the accumulator is stored */
};

/* The one statement that stores to a tensor, and the one accumulator's first DECL. */
static bool find_store(struct epilogue *p, const struct kernel *k)
{
    p->r = (struct reduction){ -1, -1, -1 };
    for (int i = 0; i < k->n; i++) {
        const struct stmt *s = &k->st[i];
        int *slot = s->kind == ST_DECL ? &p->r.decl : s->kind == ST_STORE ? &p->r.store : NULL;

        if (s->kind == ST_UPDATE)
            p->r.update = i;
        if (!slot || (s->kind == ST_STORE &&
                      p->l->buffer[p->l->access[s->access].buffer].kind == BUF_SHARED))
            continue;
        if (*slot >= 0)
            return false;
        *slot = i;
    }
    return p->r.decl >= 0 && p->r.update > p->r.decl && p->r.store > p->r.update;
}

/* The element of the accumulator that a value reads: -1 = none, -2 = several. */
static int acc_element(struct lprog *l, int val)
{
    const struct value *v = &l->value[val];
    int at = -1;

    if (v->kind == V_ACC)
        return v->arg[1] < 0 ? ix_const(&l->ix, 0) : v->arg[1];
    if (v->kind == V_LOAD && l->access[v->arg[0]].src == SRC_BODY)
        return acc_element(l, l->access[v->arg[0]].body);
    for (int i = 0; i < 3 && v->kind == V_OP; i++) {
        int a = v->arg[i] >= 0 ? acc_element(l, v->arg[i]) : -1;

        if (a != -1)
            at = at == -1 || at == a ? a : -2;
    }
    return at;
}

/* All threads, and the loops round the store. */
static bool find_tile(struct epilogue *p, const struct kernel *k)
{
    int round[64], n = enclosing(k, p->r.store, round, 64), body = kernel_body(k);

    p->from = p->r.store;
    for (int i = n - 1; i >= 0; i--) {
        const struct stmt *s = &k->st[round[i]];

        if (s->kind == ST_LOOP && s->loop == LOOP_BLOCK)
            continue;
        if (s->kind == ST_LOOP && !tile_add(p->l, &p->tile, s->var))
            return false;
        if (round[i] >= body)
            p->from = round[i];
    }
    p->to = p->from == p->r.store ? p->from : stmt_end(k, p->from);
    tile_order(p->l, &p->tile, p->l->access[k->st[p->r.store].access].index);
    for (int i = p->from; i <= p->to; i++)
        if (i != p->r.store && k->st[i].kind != ST_LOOP && k->st[i].kind != ST_IF &&
            k->st[i].kind != ST_END)
            return false;
    return true;
}

static bool has_one(const struct lprog *l, const struct kernel *k)
{
    for (int i = 0; i < l->n_buffer; i++) {
        int by = l->buffer[i].by;

        if (by > 0 && strncmp(l->log[by - 1].rule, "epilogue.", 9) == 0 &&
            kernel_writes(l, k, i))
            return true;
    }
    return false;
}

/* Is there room for the tile, in elements and in bytes of shared memory? */
static int check_room(const struct epilogue *p, const struct kernel *k, struct err *e)
{
    struct lprog *l = p->l;
    int64_t bytes = p->tile.elems * dtype_info(l->acc[k->st[p->r.decl].acc].dt)->bytes;

    if (p->tile.elems > MAX_SMEM || (p->st->exchange == EXCHANGE_GLOBAL &&
                                     p->tile.elems * kernel_blocks(l, k) > MAX_ELEMENTS))
        return step_error(p->st, e, "kernel %s has too many elements", k->name);
    if (p->st->exchange == EXCHANGE_GLOBAL)
        return 0;
    if (p->st->exchange == EXCHANGE_OWN)
        bytes += smem_wanted(l, p->kernel);
    if (bytes > MAX_SMEM)
        return step_error(p->st, e, "kernel %s would take more than %d bytes of shared memory",
                          k->name, MAX_SMEM);
    return 0;
}

static int epilogue_check(struct epilogue *p, struct err *e)
{
    struct lprog *l = p->l;
    const struct kernel *k = &l->kernel[p->kernel];

    if (!k->tiled)
        return step_error(p->st, e, "kernel %s is not tiled", k->name);
    if (has_one(l, k))
        return step_error(p->st, e, "kernel %s has one already", k->name);
    if (!find_store(p, k) || !find_tile(p, k) ||
        (p->acc_at = acc_element(l, k->st[p->r.store].val)) < 0)
        return step_error(p->st, e, "kernel %s is not one reduction with one store at its end",
                          k->name);
    return check_room(p, k, e);
}

/* Element e of the block's tile, as an index of the buffer. */
static int in_tile(struct epilogue *p, const struct kernel *k, int e)
{
    struct lprog *l = p->l;

    if (p->st->exchange != EXCHANGE_GLOBAL)
        return e;
    return ix_add(&l->ix, ix_scale(&l->ix, kernel_block_index(l, k), p->tile.elems), e);
}

/* Accumulators to their places in the buffer. */
static void push_put(struct epilogue *p, struct kernel *list, const struct kernel *k,
                     int buffer)
{
    struct lprog *l = p->l;
    const struct stmt *decl = &k->st[p->r.decl];
    int loops = 0, at = l->acc[decl->acc].elems > 1 ? p->acc_at : -1;

    for (int i = p->from; i < p->r.store; i++)
        if (k->st[i].kind == ST_LOOP) {
            kernel_push(l, list, k->st[i]);
            loops++;
        }
    kernel_push(l, list,
                (struct stmt){
                    .kind = ST_STORE,
                    .access = lprog_place(l, buffer, in_tile(p, k, tile_linear(l, &p->tile))),
                    .val = lprog_acc_load(l, decl->acc, at) });
    push_end(l, list, loops);
}

/* The store, by whoever comes to its element. */
static void push_take(struct epilogue *p, struct kernel *list, const struct kernel *k,
                      int buffer)
{
    struct lprog *l = p->l;
    struct stmt s = k->st[p->r.store];
    const char *name = arena_printf(l->arena, "%s.c", l->buffer[buffer].name);
    int64_t granule = WIDEST / dtype_info(l->buffer[l->access[s.access].buffer].dt)->bytes;
    int *to = subst_table(l), *seen = subst_table(l), n_to = l->n_var, e, tested;
    struct walk w;

    e = walk_begin(l, list, k, name, p->tile.elems, &w);
    tested = e;
    if (FAULT(l, store_granule_not_dividing))
        tested = ix_scale(&l->ix, ix_div(&l->ix, e, granule), granule);
    tile_digits(l, &p->tile, e, to);
    tile_digits(l, &p->tile, tested, seen);
    for (int i = p->from; i < p->r.store; i++)
        if (k->st[i].kind == ST_IF) {
            push_if(l, list, ix_subst(&l->ix, k->st[i].cond, seen, n_to));
            w.ends++;
        }
    s.val = value_subst(l, s.val, to, n_to);
    s.val = acc_replace(l, s.val, k->st[p->r.decl].acc,
                        lprog_load(l, lprog_place(l, buffer, in_tile(p, k, e))));
    s.access = access_subst(l, s.access, to, n_to);
    kernel_push(l, list, s);
    walk_end(l, list, &w);
}

static int make_buffer(struct epilogue *p, const struct kernel *k)
{
    struct lprog *l = p->l;
    enum dtype dt = l->acc[k->st[p->r.decl].acc].dt;
    int buffer;

    if (p->st->exchange == EXCHANGE_GLOBAL)
        return splitk_buffer(l, arena_printf(l->arena, "%s.e", k->name), dt,
                             kernel_blocks(l, k) * p->tile.elems);
    buffer = shared_buffer(l, p->kernel, "e", dt, p->tile.elems, p->tile.row);
    l->buffer[buffer].overlay = p->st->exchange == EXCHANGE_ALIAS;
    return buffer;
}

static int epilogue_step(struct lprog *l, int step, struct err *e)
{
    struct epilogue p = { .l = l, .st = &l->trial->step[step] };
    struct kernel *k, list;
    int buffer, err;

    p.kernel = main_kernel(l, p.st->node[0]);
    if (p.kernel < 0)
        return step_error(p.st, e, "%s has no kernel", l->prog->node[p.st->node[0]].name);
    err = epilogue_check(&p, e);
    if (err || !lprog_rewrite(l, rules[p.st->exchange], step, p.kernel))
        return err;
    k = &l->kernel[p.kernel];
    buffer = make_buffer(&p, k);
    list = list_new(k);
    for (int i = 0; i < k->n; i++) {
        if (i == p.from) {
            push_put(&p, &list, k, buffer);
            push_take(&p, &list, k, buffer);
        }
        if (i < p.from || i > p.to)
            kernel_push(l, &list, k->st[i]);
    }
    list_take(k, &list);
    return 0;
}

int pass_epilogue(struct lprog *l, struct err *e)
{
    return steps_each(l, STEP_EPILOGUE, epilogue_step, e);
}
