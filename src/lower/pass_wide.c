/*
 * wide: copies of "stage .. vec=B" move B bytes at once.
 * needs: pass stage's copies, which were proven to have such pieces. keeps: what is copied.
 * gives: wide.lanes: the threads of a copy walk over pieces, with a WIDE loop over the lanes
 * of one inside: lane 0 says where the piece lies and whether it is guarded away.
 */
#include "lower/passes.h"
#include "lower/stage.h"

struct wide {
    struct lprog *l;
    const struct kernel *k;
    int buffer;
    int64_t w, elems; /* lanes; elements of one copy */
    int lane;
};

/* The index of lane 0 of a piece, plus the lane. */
static int lane_index(const struct wide *v, int first)
{
    return ix_add(&v->l->ix, first, ix_var(&v->l->ix, v->lane));
}

static int lane_access(const struct wide *v, int access, int from, int to, bool source)
{
    struct lprog *l = v->l;
    struct access a = l->access[access];
    struct guard *g = arena_array(l->arena, struct guard, a.n_guard + 1);

    a.index = ix_replace(&l->ix, a.index, from, to);
    if (source && FAULT(l, alignment_from_shape_not_stride))
        a.index = ix_scale(&l->ix, ix_div(&l->ix, a.index, v->w), v->w);
    a.index = lane_index(v, a.index);
    for (int i = 0; i < a.n_guard; i++) {
        g[i] = a.guard[i];
        g[i].cond = ix_replace(&l->ix, g[i].cond, from, to);
    }
    a.guard = g;
    return lprog_access(l, a);
}

/* The copy loop at..end, in pieces. */
static void push_pieces(const struct wide *v, struct kernel *list, int at, int end)
{
    struct lprog *l = v->l;
    int from = walk_element(l, v->k, v->k->st[at].var), e;
    struct walk walk;

    e = walk_over(l, list, v->k, v->k->st[at].var, v->elems / v->w, &walk);
    e = ix_scale(&l->ix, e, v->w);
    push_loop(l, list, v->lane, LOOP_WIDE);
    for (int i = at + 1; i < end; i++) {
        struct stmt s = v->k->st[i];
        struct value load;

        if (!stmt_has_access(&s))
            continue;
        load = l->value[s.val];
        load.arg[0] = lane_access(v, load.arg[0], from, e, true);
        s.val = lprog_value(l, load);
        s.access = lane_access(v, s.access, from, e, false);
        s.by = 0;
        kernel_push(l, list, s);
    }
    push_end(l, list, 1);
    walk_end(l, list, &walk);
}

static void widen(struct wide *v, struct kernel *k)
{
    struct lprog *l = v->l;
    struct kernel list = list_new(k);

    v->k = k;
    v->lane = lprog_var(l, -1, arena_printf(l->arena, "%s.lane", l->buffer[v->buffer].name),
                        v->w, false);
    for (int i = 0; i < k->n; i++) {
        if (copy_loop(l, k, i) == v->buffer) {
            push_pieces(v, &list, i, stmt_end(k, i));
            i = stmt_end(k, i);
        } else {
            kernel_push(l, &list, k->st[i]);
        }
    }
    list_take(k, &list);
}

static int first_copy(const struct lprog *l, const struct kernel *k, int buffer)
{
    for (int i = kernel_body(k); i < k->n; i++)
        if (copy_loop(l, k, i) == buffer)
            return i;
    return -1;
}

/* The bug: as wide as the rows of the tile allow, if they are dense at all. */
static int64_t lanes_by_shape(struct lprog *l, const struct staged *s, int64_t lanes)
{
    const struct kernel *k = &l->kernel[s->kernel];
    const struct buffer *b = &l->buffer[s->buffer];
    int64_t w = WIDEST / dtype_info(b->dt)->bytes, row = b->sh.dim[b->sh.rank - 1];
    int at = first_copy(l, k, s->buffer), load = -1, e;
    int64_t *zero = arena_array(l->arena, int64_t, l->n_var + 1);

    for (int i = at; at >= 0 && load < 0; i++)
        if (stmt_has_access(&k->st[i]))
            load = l->access[l->value[k->st[i].val].arg[0]].index;
    if (load < 0 || row % w)
        return lanes;
    e = walk_element(l, k, k->st[at].var);
    if (ix_eval(&l->ix, ix_replace(&l->ix, load, e, ix_const(&l->ix, 1)), zero) !=
        ix_eval(&l->ix, ix_replace(&l->ix, load, e, ix_const(&l->ix, 0)), zero) + 1)
        return lanes;
    return w > lanes ? w : lanes;
}

static void wide_step(struct lprog *l, int step)
{
    struct wide v = { .l = l };
    struct staged s;

    if (!staged_find(l, step, &s))
        return;
    v.buffer = s.buffer;
    v.w = staged_lanes(l, &s);
    v.elems = l->buffer[s.buffer].elems;
    if (l->buffer[s.buffer].sh.rank == 3)
        v.elems /= l->buffer[s.buffer].sh.dim[0];
    if (FAULT(l, alignment_from_shape_not_stride))
        v.w = lanes_by_shape(l, &s, v.w);
    if (v.w > 1 && lprog_rewrite(l, "wide.lanes", step, s.kernel))
        widen(&v, &l->kernel[s.kernel]);
}

int pass_wide(struct lprog *l, struct err *e)
{
    (void)e; /* what is illegal about wide copies pass stage has said */
    for (int i = 0; i < l->trial->n_step && !l->stopped; i++)
        wide_step(l, i);
    return 0;
}
