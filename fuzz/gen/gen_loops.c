/*
 * Proposals of the steps that change loops: split, reorder, splitk, unroll, vectorize; and
 * of the memory plan.
 */
#include "fuzz/gen/sched.h"

/* Axes of a matmul are spelled m, n, k, b now and then. */
static struct axis spelled(struct sched *s, struct axis ax)
{
    const struct node *n = &s->p->node[ax.node];
    int rank = n->sh.rank;

    if (n->op != OP_MATMUL || rng_chance(s->r, 1, 3))
        return ax;
    if (ax.role == 'r')
        ax.role = 'k', ax.num = -1;
    else if (ax.num == rank - 1)
        ax.role = 'n', ax.num = -1;
    else if (ax.num == rank - 2)
        ax.role = 'm', ax.num = -1;
    else
        ax.role = 'b';
    return ax;
}

static void add_axis(struct sched *s, struct step *st, const struct sloop *l)
{
    st->axis[st->n_axis++] = spelled(s, l->ax);
}

static void split_loop(struct skern *k, int at, int64_t n)
{
    struct sloop half = k->loop[at];

    half.ragged = half.extent % n != 0;
    half.ax.path[half.ax.depth++] = 1;
    for (int i = k->n_loop++; i > at + 1; i--)
        k->loop[i] = k->loop[i - 1];
    k->loop[at + 1] = half;
    k->loop[at + 1].extent = n;
    half.ax.path[half.ax.depth - 1] = 0;
    half.extent = (half.extent + n - 1) / n;
    half.ragged = false;
    k->loop[at] = half;
}

static void split_one(struct sched *s)
{
    static const int64_t factor[] = { 2, 3, 4, 5, 8, 16 };
    static const int weight[] = { 4, 4, 6, 4, 4, 2 };
    int c = sched_kernel(s), at;
    struct skern *k = c < 0 ? NULL : &s->k[c];
    int64_t n = factor[rng_weighted(s->r, weight, 6)];
    struct step *st;

    if (!k || k->n_loop >= MAX_LOOPS - 1)
        return;
    at = (int)rng_below(s->r, (uint64_t)k->n_loop);
    for (int i = 0; i < k->n_loop && rng_chance(s->r, 1, 2); i++) /* rather a reduction */
        if (k->loop[i].reduce)
            at = i;
    if (k->loop[at].extent < 2 || k->loop[at].ax.depth >= 2)
        return;
    while (n > 2 && n >= k->loop[at].extent)
        n = n > 8 ? 5 : n - 1;
    st = sched_step(s, STEP_SPLIT);
    add_axis(s, st, &k->loop[at]);
    st->n = n;
    for (int i = 0; i < s->n; i++) /* another kernel may run the same fused reduction */
        for (int j = 0; j < s->k[i].n_loop && &s->k[i] != k; j++)
            if (s->k[i].alive && axis_equal(&s->k[i].loop[j].ax, &k->loop[at].ax) &&
                s->k[i].n_loop < MAX_LOOPS)
                split_loop(&s->k[i], j, n);
    split_loop(k, at, n);
}

void sched_split(struct sched *s)
{
    int n = (int)rng_below(s->r, 3);

    for (int i = 0; i < n && sched_may(s, STEP_SPLIT); i++)
        split_one(s);
}

/* The loops named, shuffled, as one step; the estimate follows. */
static void reorder_loops(struct sched *s, int c, const int *at, int n)
{
    struct skern *k = &s->k[c];
    struct sloop old[MAX_LOOPS];
    int order[MAX_LOOPS], fixed = 0;
    struct step *st;

    for (int i = 0; i < n; i++) {
        order[i] = i;
        old[i] = k->loop[at[i]];
    }
    rng_shuffle(s->r, order, n);
    for (int i = 0; i < n; i++)
        fixed += order[i] == i;
    if (fixed == n)
        return;
    st = sched_step(s, STEP_REORDER);
    st->node[0] = c;
    for (int i = 0; i < n; i++) {
        k->loop[at[i]] = old[order[i]];
        add_axis(s, st, &old[order[i]]);
    }
    for (int i = 0; i + 1 < k->n_loop; i++)
        k->moved |= k->loop[i].reduce && !k->loop[i + 1].reduce;
}

static void reorder_one(struct sched *s)
{
    int c = sched_kernel(s), at[MAX_LOOPS], n = 0;
    struct skern *k = c < 0 ? NULL : &s->k[c];
    int kind = (int)rng_below(s->r, 3);

    if (!k || k->n_loop < 2 || k->n_acc > 1 || k->moved)
        return;
    for (int i = 0; i < k->n_loop; i++)
        if (k->n_acc == 0 || kind > 0 || !k->loop[i].reduce)
            at[n++] = i;
    if (n >= 2)
        reorder_loops(s, c, at, n);
}

void sched_reorder(struct sched *s)
{
    for (int n = (int)rng_below(s->r, 3); n > 0 && sched_may(s, STEP_REORDER); n--)
        reorder_one(s);
}

void sched_splitk(struct sched *s)
{
    int c = sched_kernel(s);
    struct skern *k = c < 0 ? NULL : &s->k[c];
    int64_t extent = 0;
    struct step *st;

    if (!k || !sched_may(s, STEP_SPLITK) || k->n_acc != 1 || !rng_chance(s->r, 1, 2))
        return;
    for (int i = k->n_loop - 1; i >= 0; i--)
        extent = k->loop[i].reduce ? k->loop[i].extent : extent;
    if (extent < 2)
        return;
    st = sched_step(s, STEP_SPLITK);
    st->node[0] = k->reduction;
    st->n = rng_range(s->r, 2, extent < 5 ? extent : 5);
    st->mode = SPLITK_WORKSPACE;
    for (int i = 0; i < k->n_loop; i++) /* runs in the partial kernel now */
        if (k->loop[i].reduce && extent > 0) {
            k->loop[i].extent = (k->loop[i].extent + st->n - 1) / st->n;
            k->loop[i].ragged = true;
            extent = 0;
        }
}

void sched_unroll(struct sched *s)
{
    int c = sched_kernel(s), at = -1;
    struct skern *k = c < 0 ? NULL : &s->k[c];

    if (!k || !sched_may(s, STEP_UNROLL) || !rng_chance(s->r, 2, 5))
        return;
    for (int i = 0; i < k->n_loop; i++)
        if (k->loop[i].extent >= 2 && k->loop[i].extent <= 5 &&
            (at < 0 || rng_chance(s->r, 1, 2)))
            at = i;
    if (at < 0)
        return;
    add_axis(s, sched_step(s, STEP_UNROLL), &k->loop[at]);
    for (int i = at + 1; i < k->n_loop; i++)
        k->loop[i - 1] = k->loop[i];
    k->n_loop--;
}

/* The loop whose body is stores or updates only, -1 = none that we know of. */
static int straight_loop(const struct skern *k)
{
    int at = k->n_loop - 1;

    if (k->n_acc > 0 && !k->moved) /* the update's; the store stands outside it */
        while (at >= 0 && !k->loop[at].reduce)
            at--;
    return at >= 0 && !k->loop[at].ragged ? at : -1;
}

static void vectorize_one(struct sched *s)
{
    static const int64_t lanes[] = { 2, 4, 8 };
    int c = sched_kernel(s), at;
    struct skern *k;
    int64_t n = lanes[rng_below(s->r, 3)];
    struct step *st;

    for (int i = 0; i < s->n; i++)
        if (s->k[i].alive && s->k[i].mixed && rng_chance(s->r, 2, 3))
            c = i;
    k = c < 0 ? NULL : &s->k[c];
    at = k ? straight_loop(k) : -1;
    if (at < 0 || k->loop[at].extent < 2)
        return;
    while (n > k->loop[at].extent)
        n /= 2;
    st = sched_step(s, STEP_VECTORIZE);
    add_axis(s, st, &k->loop[at]);
    st->n = n;
    k->loop[at].ragged = true; /* once is enough */
}

void sched_vectorize(struct sched *s)
{
    int n = (int)rng_below(s->r, 3);

    for (int i = 0; i < s->n && n == 0; i++)
        n = s->k[i].alive && s->k[i].mixed;
    for (; n > 0 && sched_may(s, STEP_VECTORIZE); n--)
        vectorize_one(s);
}

void sched_plan(struct sched *s)
{
    static const int policy[] = { [PLAN_OFF] = 1, [PLAN_LINEAR] = 2, [PLAN_BEST] = 5 };

    s->budget = 1;
    if (rng_chance(s->r, 3, 8) && sched_may(s, STEP_PLAN))
        sched_step(s, STEP_PLAN)->policy = (enum plan_policy)rng_weighted(s->r, policy, 3);
    s->budget = 1;
    if (rng_chance(s->r, 1, 4) && sched_may(s, STEP_INPLACE))
        sched_step(s, STEP_INPLACE)->on = rng_chance(s->r, 4, 5);
}
