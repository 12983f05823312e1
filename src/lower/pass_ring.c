/*
 * ring: stages that "stage .. depth=D" or "async" asked for. All operands that are copied at
 * one loop go round together.
 * needs: pass stage's form. keeps: what is computed. gives:
 *   ring.stages  D slots instead of one: D-1 tiles are copied before the loop; step i copies
 *                tile i+D-1 into slot (i+D-1) % D and computes on slot i % D
 *   ring.async   the same with asynchronous copies: every step commits its copies as one
 *                group, after computing, and waits until at most D-2 are under way. Past the
 *                last tile nothing is left out: such copies write zeros, as the hardware does
 *   ring.drain   nothing may be under way behind the loop: whoever takes the slots next would
 *                meet those zeros
 */
#include "lower/passes.h"
#include "lower/stage.h"

struct ring {
    struct lprog *l;
    int kernel, step;
    int at, end, compute; /* statements: the loop, behind its copies */
    int var;
    int64_t depth;
    bool async;
    int slot; /* of loads, in the loop */
};

static int64_t slot_elems(const struct lprog *l, const struct ring *r, int buffer)
{
    return l->buffer[buffer].elems / (r->depth > 1 ? r->depth : 1);
}

static bool find_ring(struct lprog *l, int step, struct ring *r)
{
    const struct kernel *k;
    struct staged s;

    if (!staged_find(l, step, &s) || (s.st->depth < 2 && !s.st->async))
        return false;
    for (int i = 0; i < step; i++) { /* the first step speaks for all */
        struct staged before;

        if (staged_find(l, i, &before) && before.kernel == s.kernel && before.var == s.var)
            return false;
    }
    k = &l->kernel[s.kernel];
    *r = (struct ring){ .l = l,
                        .kernel = s.kernel,
                        .step = step,
                        .var = s.var,
                        .depth = s.st->depth,
                        .async = s.st->async };
    r->at = body_loop(k, s.var);
    r->end = stmt_end(k, r->at);
    r->compute = r->at + 1;
    while (copy_loop(l, k, r->compute) >= 0)
        r->compute = stmt_end(k, r->compute) + 1;
    return true;
}

/* The copy of tile number `tile` into slot `slot`; unless `pred` holds there is no such tile
 * (-1: there always is). */
static struct stmt copy(const struct ring *r, const struct stmt *s, int tile, int slot,
                        int pred)
{
    struct lprog *l = r->l;
    struct stmt t = *s;
    struct value load = l->value[s->val];
    int buffer = l->access[s->access].buffer, *to = subst_table(l), n_to = l->n_var;
    int base = ix_scale(&l->ix, slot, slot_elems(l, r, buffer));

    to[r->var] = tile;
    load.arg[0] = access_subst(l, load.arg[0], to, n_to);
    if (r->async && pred >= 0)
        load.arg[0] = access_guard(l, load.arg[0], pred);
    t.kind = r->async ? ST_ASYNC : ST_STORE;
    t.val = lprog_value(l, load);
    t.access = lprog_place(l, buffer, ix_add(&l->ix, base, l->access[s->access].index));
    t.by = 0;
    return t;
}

static void push_copies(const struct ring *r, struct kernel *list, const struct kernel *k,
                        int tile, int slot, int pred)
{
    struct lprog *l = r->l;

    if (!r->async && pred >= 0)
        push_if(l, list, pred);
    for (int i = r->at + 1; i < r->compute; i++) {
        bool is_copy = k->st[i].kind == ST_STORE;

        kernel_push(l, list, is_copy ? copy(r, &k->st[i], tile, slot, pred) : k->st[i]);
    }
    if (!r->async && pred >= 0)
        push_end(l, list, 1);
}

static void push_commit(const struct ring *r, struct kernel *list)
{
    if (r->async)
        kernel_push(r->l, list, (struct stmt){ .kind = ST_COMMIT });
}

static void push_wait(const struct ring *r, struct kernel *list, int64_t n)
{
    if (FAULT(r->l, prefetch_hoisted_over_wait))
        n++;
    if (r->async)
        kernel_push(r->l, list, (struct stmt){ .kind = ST_WAIT, .n = n });
}

static int in_slot(void *ctx, int access)
{
    const struct ring *r = ctx;
    struct lprog *l = r->l;
    struct access a = l->access[access];
    const struct kernel *k = &l->kernel[r->kernel];
    bool ours = false;

    for (int i = r->at + 1; i < r->compute; i++)
        ours |= k->st[i].kind == ST_STORE && a.src == SRC_BUFFER &&
                l->access[k->st[i].access].buffer == a.buffer;
    if (!ours)
        return access;
    a.index = ix_add(&l->ix, ix_scale(&l->ix, r->slot, slot_elems(l, r, a.buffer)), a.index);
    return lprog_access(l, a);
}

static void push_compute(struct ring *r, struct kernel *list, const struct kernel *k)
{
    for (int i = r->compute; i < r->end; i++) {
        struct stmt s = k->st[i];

        if (stmt_has_value(&s) && r->depth > 1)
            s.val = value_map(r->l, s.val, in_slot, r);
        kernel_push(r->l, list, s);
    }
}

static void grow(const struct ring *r, const struct kernel *k)
{
    for (int i = r->at + 1; i < r->compute; i++) {
        struct buffer *b;

        if (k->st[i].kind != ST_STORE)
            continue;
        b = &r->l->buffer[r->l->access[k->st[i].access].buffer];
        b->elems *= r->depth;
        b->sh = (struct shape){ 3, { r->depth, b->sh.dim[0], b->sh.dim[1] } };
        b->layout = (struct layout){ 0 };
        b->layout = layout_of(&b->layout, &b->sh);
    }
}

/* Tiles 0 .. D-2, before the loop. */
static void push_prologue(const struct ring *r, struct kernel *list, const struct kernel *k)
{
    struct lprog *l = r->l;
    const char *name = arena_printf(l->arena, "%s.ahead", l->var[r->var].name);
    int s = lprog_var(l, -1, name, r->depth - 1, false), at = ix_var(&l->ix, s);
    int64_t extent = l->var[r->var].extent;
    int pred = r->depth - 1 > extent ? ix_lt(&l->ix, at, ix_const(&l->ix, extent)) : -1;

    push_loop(l, list, s, LOOP_SERIAL);
    push_copies(r, list, k, at, at, pred);
    push_commit(r, list);
    push_end(l, list, 1);
    push_wait(r, list, r->depth - 2);
}

static void push_ring(struct ring *r, struct kernel *list, const struct kernel *k)
{
    struct lprog *l = r->l;
    int i = ix_var(&l->ix, r->var), ahead, free;

    push_prologue(r, list, k);
    ahead = ix_add(&l->ix, i, ix_const(&l->ix, r->depth - 1));
    free = ix_mod(&l->ix, ahead, r->depth);
    if (FAULT(l, ring_stage_overwritten))
        free = ix_mod(&l->ix, ix_add(&l->ix, i, ix_const(&l->ix, r->depth - 2)), r->depth);
    r->slot = ix_mod(&l->ix, i, r->depth);
    kernel_push(l, list, k->st[r->at]);
    push_copies(r, list, k, ahead, free,
                ix_lt(&l->ix, ahead, ix_const(&l->ix, l->var[r->var].extent)));
    push_compute(r, list, k);
    push_commit(r, list);
    push_wait(r, list, r->depth - 2);
    kernel_push(l, list, k->st[r->end]);
}

/* One slot: the copies are waited for at once. */
static void push_single(struct ring *r, struct kernel *list, const struct kernel *k)
{
    kernel_push(r->l, list, k->st[r->at]);
    push_copies(r, list, k, ix_var(&r->l->ix, r->var), ix_const(&r->l->ix, 0), -1);
    push_commit(r, list);
    push_wait(r, list, 0);
    push_compute(r, list, k);
    kernel_push(r->l, list, k->st[r->end]);
}

static void ring_kernel(struct ring *r)
{
    struct lprog *l = r->l;
    struct kernel *k = &l->kernel[r->kernel], list = list_new(k);

    if (r->depth > 1)
        grow(r, k);
    for (int i = 0; i < k->n; i++) {
        if (i < r->at || i > r->end)
            kernel_push(l, &list, k->st[i]);
        else if (i == r->at && r->depth > 1)
            push_ring(r, &list, k);
        else if (i == r->at)
            push_single(r, &list, k);
    }
    list_take(k, &list);
}

/* With two slots every step waits for all there is. */
static void drain(const struct ring *r)
{
    struct lprog *l = r->l;
    struct kernel *k = &l->kernel[r->kernel], list = list_new(k);
    int end = stmt_end(k, body_loop(k, r->var));

    if (r->depth < 3 || FAULT(l, async_zero_fill_after_loop) ||
        !lprog_rewrite(l, "ring.drain", r->step, r->kernel))
        return;
    for (int i = 0; i < k->n; i++) {
        kernel_push(l, &list, k->st[i]);
        if (i == end)
            kernel_push(l, &list, (struct stmt){ .kind = ST_WAIT, .n = 0 });
    }
    list_take(k, &list);
}

int pass_ring(struct lprog *l, struct err *e)
{
    (void)e; /* what is illegal about a ring pass stage has said */
    for (int i = 0; i < l->trial->n_step && !l->stopped; i++) {
        struct ring r;

        if (!find_ring(l, i, &r) ||
            !lprog_rewrite(l, r.async ? "ring.async" : "ring.stages", i, r.kernel))
            continue;
        ring_kernel(&r);
        if (r.async)
            drain(&r);
    }
    return 0;
}
