/*
 * An assignment on top of a finished program: y is a computed node with a slice of it set to
 * something that mostly is a view of that very node, shifted, flipped or transposed. A compiler
 * that works in place has to see that they overlap. It draws from a stream of its own, so that
 * the program below, and every program without it, is what it was.
 */
#include "fuzz/gen/build.h"

enum { WIDE_LOW = 8, WIDE_HIGH = 40 }; /* past the lanes of a vector: small ones pass by luck */

/* What the value is taken from, and where it goes, axis by axis. */
struct cut {
    int64_t lo[MAX_RANK], hi[MAX_RANK], by[MAX_RANK];
};

static void set_range(struct cut *c, int a, int64_t lo, int64_t by, int64_t count)
{
    int64_t sign = by < 0 ? -1 : 1;

    c->lo[a] = lo;
    c->by[a] = by;
    c->hi[a] = count > 0 ? lo + by * (count - 1) + sign : lo;
}

/* count elements of an axis of extent d, anywhere, at any step that they can have. */
static void place_range(struct gen *g, struct cut *c, int a, int64_t d, int64_t count)
{
    static const int64_t step[] = { 1, 1, 1, 1, -1, -1, 2, 3, -2 };
    int64_t by = step[rng_below(&g->rng, 9)], span;

    if (count == 1) /* a step that leads nowhere */
        by = rng_range(&g->rng, -1, 4);
    if (by == 0 || (count > 1 && (count - 1) * (by < 0 ? -by : by) >= d))
        by = by < 0 ? -1 : 1;
    span = count > 0 ? (count - 1) * (by < 0 ? -by : by) : 0;
    set_range(c, a, rng_range(&g->rng, 0, d > span ? d - 1 - span : 0) + (by < 0 ? span : 0),
              by, count);
}

/* Along axis a by k places: what is read and what is written overlap. */
static void shift_range(struct gen *g, struct cut *from, struct cut *to, int a, int64_t d)
{
    int64_t k = d > 1 ? size_small(g, d - 1) : 0;
    bool up = rng_chance(&g->rng, 1, 2);

    set_range(from, a, up ? 0 : k, 1, d - k);
    set_range(to, a, up ? k : 0, 1, d - k);
    if (rng_chance(&g->rng, 1, 4)) /* and turned round */
        set_range(from, a, (up ? 0 : k) + d - k - 1, -1, d - k);
}

/* Ranges of equal counts in `src` and in x: over some axes at odds, over the others the same.
 */
static void draw_cuts(struct gen *g, const struct shape *src, const struct shape *x,
                      struct cut *from, struct cut *to)
{
    int at =
        rng_chance(&g->rng, 2, 3) ? x->rank - 1 : (int)rng_below(&g->rng, (uint64_t)x->rank);
    bool shift = rng_chance(&g->rng, 1, 2), empty = rng_chance(&g->rng, 1, 40);

    for (int a = 0; a < x->rank; a++) {
        int64_t d = src->dim[a] < x->dim[a] ? src->dim[a] : x->dim[a], lo, hi, by, count;

        if (a != at && !rng_chance(&g->rng, 1, 4)) {
            set_range(from, a, 0, 1, d);
            set_range(to, a, 0, 1, d);
        } else if (shift && src->dim[a] == x->dim[a]) {
            shift_range(g, from, to, a, d);
        } else {
            view_slice_axis(g, d, &lo, &hi, &by);
            count = empty ? 0 : range_count(lo, hi, by);
            set_range(from, a, lo, by, count);
            place_range(g, to, a, x->dim[a], count);
        }
    }
}

/* The node that is assigned to: computed, of rank 1 or more; wide rows are preferred. */
static int pick_node(struct gen *g)
{
    int *weight = arena_array(g->a, int, g->p->n), sum = 0;

    for (int i = 0; i < g->p->n; i++) {
        const struct shape *sh = &gen_at(g, i)->sh;
        int64_t row = sh->rank ? sh->dim[sh->rank - 1] : 0;

        if (op_is_source(gen_at(g, i)->op) || sh->rank == 0 || gen_readers(g, i) == 0)
            continue;
        weight[i] = row >= WIDE_LOW && row <= WIDE_HIGH ? 20 : row > 2 ? 4 : 1;
        sum += weight[i];
    }
    return sum ? rng_weighted(&g->rng, weight, g->p->n) : -1;
}

/* Another node that a value can be cut out of; x itself if there is none. */
static int pick_other(struct gen *g, int x)
{
    const struct node *n = gen_at(g, x);

    for (int tries = 0; tries < 8; tries++) {
        int i = (int)rng_below(&g->rng, (uint64_t)g->p->n);

        if (gen_at(g, i)->dt == n->dt && gen_at(g, i)->sh.rank == n->sh.rank)
            return i;
    }
    return x;
}

/* Something of the same shape that computes; nothing is rounded. */
static int onto(struct gen *g, int x)
{
    enum op op = gen_at(g, x)->dt == DT_BOOL ? OP_NOT : OP_NEG;

    if (!gen_may(g, op) || (gen_may(g, OP_COPY) && rng_chance(&g->rng, 1, 3)))
        op = OP_COPY;
    return gen_unary(g, op, x);
}

/* A view of all of x in its own shape: rolled, or two equal axes exchanged; -1 = neither. */
static int whole_view(struct gen *g, int x)
{
    const struct shape *sh = &gen_at(g, x)->sh;
    int perm[MAX_RANK], r = sh->rank;

    for (int a = 0; a < r; a++)
        perm[a] = a;
    if (r > 1 && sh->dim[r - 1] == sh->dim[r - 2] && gen_may(g, OP_PERMUTE)) {
        perm[r - 1] = r - 2;
        perm[r - 2] = r - 1;
        return gen_permute(g, x, perm);
    }
    return gen_may(g, OP_ROLL) ? view_roll(g, x) : -1;
}

static int finish_assign(struct gen *g, int x, struct arg v, const struct cut *to)
{
    struct node *n = gen_begin(g, OP_ASSIGN);

    n->arg[0] = NODE(x);
    n->arg[1] = v;
    for (int a = 0; a < gen_at(g, x)->sh.rank; a++) {
        n->lo[a] = to->lo[a];
        n->hi[a] = to->hi[a];
        n->by[a] = to->by[a];
    }
    return gen_finish(g, n);
}

static int draw_assign(struct gen *g, int x)
{
    struct shape sh = gen_at(g, x)->sh;
    struct cut from = { 0 }, to = { 0 };
    int kind = (int)rng_below(&g->rng, 20), src = x, v;

    if (kind < 3 && (v = whole_view(g, x)) >= 0) {
        for (int a = 0; a < sh.rank; a++)
            set_range(&to, a, 0, 1, sh.dim[a]);
        return finish_assign(g, x, NODE(v), &to);
    }
    if (kind >= 18)
        src = pick_other(g, x);
    draw_cuts(g, &gen_at(g, src)->sh, &sh, &from, &to);
    if (kind == 3 || !gen_may(g, OP_SLICE))
        return finish_assign(g, x, LIT(elem_lit(g, gen_at(g, x)->dt)), &to);
    v = gen_slice(g, src, from.lo, from.hi, from.by);
    if (kind < 7)
        v = onto(g, v);
    return finish_assign(g, x, NODE(v), &to);
}

/* The result is an output, or something reads it: then its storage is the compiler's own. */
static void hand_on(struct gen *g, int x, int y)
{
    const struct node *n = gen_at(g, y);
    int kind = (int)rng_below(&g->rng, 12);
    struct output *o;

    if (kind < 7)
        y = onto(g, y);
    else if (kind == 7 && n->dt != DT_BOOL && gen_may(g, OP_MAX2))
        y = gen_binary(g, OP_MAX2, NODE(y), NODE(x)); /* what was there before is read later */
    o = prog_add_output(g->p, g->a);
    o->node = y;
    if (rng_chance(&g->rng, 1, 6))
        layout_draw(&g->rng, &gen_at(g, y)->sh, &o->layout);
}

void assign_append(struct gen *g, struct rng *r)
{
    const struct prog had = *g->p;
    const struct rng graph = g->rng;
    const int n_line = g->n_line, n_values = g->t->n_values;
    const int64_t work = g->work, madds = g->madds;
    int x;

    if (!gen_room(g, 2))
        return;
    g->rng = *r;
    if (setjmp(g->again) == 0) {
        x = pick_node(g);
        if (x >= 0) {
            if (rng_chance(&g->rng, 1, 2)) /* one that nobody else reads */
                x = onto(g, x);
            hand_on(g, x, draw_assign(g, x));
        }
    } else { /* it outgrew the knobs: the program stays as it was */
        g->p->n = had.n;
        g->p->n_out = had.n_out;
        g->t->n_values = n_values;
        g->n_line = n_line;
        g->work = work;
        g->madds = madds;
    }
    *r = g->rng;
    g->rng = graph;
}
