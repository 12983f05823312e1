/* The view algebra against the definition of each view, element by element. */
#include "testing.h"

#include "base/rng.h"
#include "view/view.h"

static void dims(struct node *n, int rank, const int64_t *d)
{
    n->sh.rank = rank;
    for (int i = 0; i < rank; i++)
        n->sh.dim[i] = d[i];
}

/* A random legal view of node `of`; false if the draw does not fit. */
static bool draw_view(struct rng *r, struct prog *p, struct arena *a, int of)
{
    struct shape sh = p->node[of].sh;
    struct node *n = prog_add(p, a);
    struct err e;
    int order[MAX_RANK];

    n->name = "v";
    n->n_arg = 1;
    n->arg[0].node = of;
    n->sh = sh;
    n->op = (enum op)rng_range(r, OP_PERMUTE, OP_REPEAT);
    for (int d = 0; d < sh.rank; d++)
        order[d] = d;
    rng_shuffle(r, order, sh.rank);
    for (int d = 0; d < sh.rank; d++) {
        int64_t size = sh.dim[d];

        n->perm[d] = order[d];
        n->lo[d] = n->op == OP_PAD ? rng_range(r, 0, 2) : 0;
        n->hi[d] = n->op == OP_PAD ? rng_range(r, 0, 2) : size;
        n->by[d] = n->op == OP_REPEAT ? rng_range(r, 0, 9) % 4 : 1;
        if (n->op == OP_ROLL)
            n->lo[d] = rng_range(r, -6, 6);
        if (n->op == OP_SLICE && size > 0 && rng_chance(r, 1, 2)) {
            n->by[d] = rng_range(r, 1, 3);
            n->lo[d] = rng_range(r, 0, size - 1);
            if (rng_chance(r, 1, 2)) {
                n->by[d] = -n->by[d];
                n->hi[d] = rng_range(r, -1, n->lo[d]);
            } else {
                n->hi[d] = rng_range(r, n->lo[d], size);
            }
        }
    }
    n->value = (double)rng_range(r, -1, 1);
    if (n->op == OP_EXPAND) {
        for (int d = 0; d < sh.rank; d++)
            if (sh.dim[d] == 1)
                n->sh.dim[d] = rng_range(r, 1, 3);
    }
    if (n->op == OP_RESHAPE) {
        int64_t left = shape_count(&sh);
        int64_t d[MAX_RANK];
        int rank = 0;

        while (rank < 5 && left > 0 && rng_chance(r, 3, 4)) {
            int64_t f = rng_range(r, 1, 4);

            if (left % f)
                continue;
            d[rank++] = f;
            left /= f;
        }
        d[rank++] = left;
        dims(n, rank, d);
    }
    return node_infer(p, n, &e) == 0 && shape_count(&n->sh) < 400;
}

/* The address of element idx of the last node by definition; false = padding, with fill. */
static bool walk(const struct prog *p, int node, int64_t *idx, int64_t *at, double *fill)
{
    int64_t out[MAX_RANK], lin = 0;

    for (; node > 0; node--) {
        const struct node *n = &p->node[node];
        const struct shape *from = &p->node[node - 1].sh;
        int lead = n->sh.rank - from->rank;

        for (int d = 0; d < n->sh.rank && n->op == OP_RESHAPE; d++)
            lin = (d ? lin : 0) * n->sh.dim[d] + idx[d];
        for (int d = from->rank - 1; d >= 0; d--) {
            switch ((int)n->op) {
            case OP_PERMUTE:
                out[n->perm[d]] = idx[d];
                break;
            case OP_EXPAND:
                out[d] = from->dim[d] == 1 ? 0 : idx[d + lead];
                break;
            case OP_SLICE:
                out[d] = n->lo[d] + n->by[d] * idx[d];
                break;
            case OP_PAD:
                out[d] = idx[d] - n->lo[d];
                if (out[d] < 0 || out[d] >= from->dim[d]) {
                    *fill = n->value;
                    return false;
                }
                break;
            case OP_ROLL:
                out[d] = (idx[d] - n->lo[d] + 60 * from->dim[d]) % from->dim[d];
                break;
            case OP_REPEAT:
                out[d] = idx[d] % from->dim[d];
                break;
            case OP_RESHAPE:
                out[d] = lin % from->dim[d];
                lin /= from->dim[d];
                break;
            }
        }
        for (int d = 0; d < from->rank; d++)
            idx[d] = out[d];
    }
    *at = 0;
    for (int d = 0; d < p->node[0].sh.rank; d++)
        *at += idx[d] * p->node[0].layout.stride[d];
    *at += p->node[0].layout.offset;
    return true;
}

static void compare(const struct prog *p, struct arena *a, int *wrong)
{
    const struct shape *sh = &p->node[p->n - 1].sh;
    struct vstack vs;
    struct ixs x;
    struct guard g[MAX_VIEWS];
    int idx[MAX_RANK], index, n_guard;
    int64_t var[MAX_RANK] = { 0 };

    vstack_init(&vs, &p->node[0].sh, &p->node[0].layout);
    for (int i = 1; i < p->n; i++)
        assert_true(vstack_apply(&vs, &p->node[i], VIEW_FAULT_NONE));
    ixs_init(&x, a);
    for (int d = 0; d < sh->rank; d++)
        idx[d] = ix_var(&x, d);
    vstack_index(&vs, &x, idx, &index, g, &n_guard);
    for (int64_t e = 0; e < shape_count(sh); e++) {
        int64_t rest = e, at, use[MAX_RANK];
        double fill;
        int hit = 0;

        for (int d = sh->rank - 1; d >= 0; d--) {
            var[d] = use[d] = rest % sh->dim[d];
            rest /= sh->dim[d];
        }
        while (hit < n_guard && ix_eval(&x, g[hit].cond, var))
            hit++;
        if (walk(p, p->n - 1, use, &at, &fill))
            *wrong += hit < n_guard || ix_eval(&x, index, var) != at;
        else
            *wrong += hit == n_guard || g[hit].fill != fill;
    }
}

static void stacks_equal_definitions(void **state)
{
    struct arena a;
    struct rng r;
    int wrong = 0, stacked = 0;

    (void)state;
    arena_init(&a);
    rng_init(&r, 7, 1);
    for (int trial = 0; trial < 20000; trial++) {
        struct prog p = { 0 };
        struct node *n = prog_add(&p, &a);
        int64_t d[4];
        int rank = (int)rng_range(&r, 0, 4), views = (int)rng_range(&r, 1, 6);

        n->op = OP_INPUT;
        n->name = "x";
        for (int i = 0; i < rank; i++)
            d[i] = rng_chance(&r, 1, 20) ? 0 : rng_range(&r, 1, 5);
        dims(n, rank, d);
        n->layout = layout_of(&(struct layout){ 0 }, &n->sh);
        if (rng_chance(&r, 1, 3)) {
            n->layout.offset = 3;
            for (int i = 0; i < rank; i++)
                n->layout.stride[i] += i;
        }
        for (int v = 0; v < views; v++)
            if (!draw_view(&r, &p, &a, p.n - 1))
                p.n--;
        compare(&p, &a, &wrong);
        arena_reset(&a);
        stacked++;
    }
    arena_release(&a);
    assert_int_equal(stacked, 20000);
    assert_int_equal(wrong, 0);
}

/* x[10,32,3,64] cut across permuted axes can't be said by one set of strides. */
static void head_split_stays_stacked(void **state)
{
    struct node perm = { .op = OP_PERMUTE, .perm = { 0, 2, 1 } }, cut = { .op = OP_RESHAPE };
    struct shape sh = { 3, { 4, 3, 8 } };
    struct vstack vs;

    (void)state;
    dims(&cut, 3, (int64_t[]){ 4, 3, 8 });
    vstack_init(&vs, &sh, &(struct layout){ 0 });
    assert_true(vstack_apply(&vs, &perm, VIEW_FAULT_NONE));
    assert_true(vstack_apply(&vs, &cut, VIEW_FAULT_NONE));
    assert_int_equal(vs.n, 2);
    vstack_init(&vs, &sh, &(struct layout){ 0 });
    assert_true(vstack_apply(&vs, &perm, VIEW_FAULT_FORCED_SINGLE));
    assert_true(vstack_apply(&vs, &cut, VIEW_FAULT_FORCED_SINGLE));
    assert_int_equal(vs.n, 1);
}

static int views_of(const struct node *view, int n)
{
    struct shape sh = { 2, { 4, 6 } };
    struct vstack vs;

    vstack_init(&vs, &sh, &(struct layout){ 0 });
    for (int i = 0; i < n; i++)
        assert_true(vstack_apply(&vs, &view[i], VIEW_FAULT_NONE));
    return vs.n;
}

/* Turning round and laying side by side is one view, as long as whole turns are left. */
static void wrapped_axes_compose(void **state)
{
    struct node roll = { .op = OP_ROLL, .lo = { 1, -2 }, .sh = { 2, { 4, 6 } } };
    struct node twice = { .op = OP_REPEAT, .by = { 2, 1 }, .sh = { 2, { 8, 6 } } };
    struct node turned = { .op = OP_PERMUTE, .perm = { 1, 0 }, .sh = { 2, { 6, 8 } } };
    struct node window = {
        .op = OP_SLICE, .lo = { 1, 3 }, .hi = { 5, 8 }, .by = { 1, 1 }, .sh = { 2, { 4, 5 } }
    };
    struct node odd = window;

    (void)state;
    assert_int_equal(views_of((struct node[]){ roll, roll, twice, turned, window }, 5), 1);
    odd.by[1] = 2;
    odd.sh.dim[1] = 3;
    assert_int_equal(views_of((struct node[]){ roll, roll, twice, turned, odd }, 5), 2);
    /* a window of five out of a turn of four does not turn any more */
    roll.sh = window.sh;
    assert_int_equal(views_of((struct node[]){ roll, twice, turned, window, roll }, 5), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_equal_definitions),
        cmocka_unit_test(head_split_stays_stacked),
        cmocka_unit_test(wrapped_axes_compose),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
