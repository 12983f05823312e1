/*
 * Schedules for GPUs: which kernels get which steps, in the order of the passes. What no step
 * binds is bound by pass bind where the target asks for it.
 */
#include "base/bug.h"
#include "fuzz/gen/gpu.h"
#include "lower/lower.h"

enum { MAX_PLANS = 3 };

struct axis gpu_axis(int node, char role, int num, const char *path)
{
    struct axis ax = { .node = node, .role = role, .num = num };

    while (*path && ax.depth < MAX_SPLITS)
        ax.path[ax.depth++] = (unsigned char)(*path++ - '0');
    return ax;
}

/* Copies are written out by pass wide, which is not that of their step. */
static int last_pass(enum step_kind kind)
{
    return pass_find(kind == STEP_STAGE ? "wide" : step_info(kind)->pass);
}

static bool try_steps(struct sched *s, const struct step *const *st, int n)
{
    struct trial *t = s->t;
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct lprog *l;
    struct err e = { 0 };
    int before = t->n_step;

    if (!s->o->step[st[0]->kind] || before + n > s->o->max_steps)
        return false;
    for (int i = 0; i < n; i++) {
        struct step *mine = trial_add_step(t, s->a);

        *mine = *st[i];
        sched_name_step(s, mine);
    }
    o.last_pass = last_pass(st[0]->kind);
    arena_reset(s->scratch);
    if (trial_check(t, &e) == 0 && lower(t, &o, s->scratch, &l, &e) == 0)
        return true;
    t->n_step = before;
    return false;
}

bool gpu_try(struct sched *s, const struct step *st)
{
    return try_steps(s, &st, 1);
}

bool gpu_try_pair(struct sched *s, const struct step *one, const struct step *two)
{
    const struct step *st[] = { one, two };

    return try_steps(s, st, 2);
}

void gpu_drop_mma(struct sched *s)
{
    for (int i = 0; i < s->t->n_step; i++)
        s->t->step[i].mma = false;
}

/* Kernels with most work first. */
static int plan_kernels(struct sched *s, struct gpu_plan *g)
{
    int n = 0;

    for (; n < MAX_PLANS; n++) {
        int best = -1;

        for (int c = 0; c < s->n; c++) {
            bool taken = false;

            for (int i = 0; i < n; i++)
                taken |= g[i].kernel == c;
            if (s->k[c].alive && s->k[c].n_loop > 0 && !taken &&
                (best < 0 || s->k[c].evals > s->k[best].evals))
                best = c;
        }
        if (best < 0)
            break;
        g[n] = (struct gpu_plan){ .kernel = best };
    }
    return n;
}

static void plan_sizes(struct sched *s, struct gpu_plan *g)
{
    const struct skern *k = &s->k[g->kernel];
    const struct node *n;

    g->node = k->reduction >= 0 ? k->reduction : g->kernel;
    n = &s->p->node[g->node];
    if (n->sh.rank >= 2) {
        g->m = n->sh.dim[n->sh.rank - 2];
        g->n = n->sh.dim[n->sh.rank - 1];
    }
    for (int i = k->n_loop - 1; i >= 0; i--)
        if (k->loop[i].reduce)
            g->k = k->loop[i].extent;
}

static void plan_draw(struct sched *s, struct gpu_plan *g, bool first)
{
    enum { PRODUCT, REDUCTION, FLAT, BESIDE }; /* the last: flat, and there are others */
    static const int weight[][4] = { [PRODUCT] = { 1, 14, 1, 1 },
                                     [REDUCTION] = { 2, 1, 8, 3 },
                                     [FLAT] = { 3, 4, 0, 5 },
                                     [BESIDE] = { 6, 1, 0, 2 } };
    static const int depth[] = { 0, 2, 3, 5, 3, 2 };
    const struct skern *k = &s->k[g->kernel];
    enum op op;
    int row = first ? FLAT : BESIDE;

    plan_sizes(s, g);
    op = s->p->node[g->node].op;
    if (k->n_acc)
        row = op == OP_MATMUL || (op == OP_SUM && g->m >= 4 && g->n >= 4) ? PRODUCT : REDUCTION;
    g->kind = k->n_acc > 1 ? GPU_DEFAULT : (enum gpu_kind)rng_weighted(s->r, weight[row], 4);
    if (g->kind == GPU_TILE && g->m * g->n == 0)
        g->kind = k->n_acc ? GPU_ROWS : GPU_EACH;
    g->depth = rng_weighted(s->r, depth, 6);
}

/* Several warps, which reduce by shuffles and then among themselves. */
static bool whole_warps(int64_t k)
{
    return k > 32 && k % 32 == 0;
}

/* The reduction in two, the inner of which is bound to threads: a warp's, or another size. */
static void split_rows(struct sched *s, struct gpu_plan *g)
{
    static const int64_t by[] = { 32, 64, 16, 8, 4, 5 };
    static const int weight[] = { 6, 4, 3, 2, 1, 1 };
    struct step st = { .kind = STEP_SPLIT, .node = { -1, -1 }, .n_axis = 1 };

    if (g->kind != GPU_ROWS || !rng_chance(s->r, whole_warps(g->k) ? 1 : 3, 5))
        return;
    st.axis[0] = gpu_axis(g->node, 'r', 0, "");
    st.n = by[rng_weighted(s->r, weight, 6)];
    if (st.n < g->k && gpu_try(s, &st))
        g->k = -st.n; /* the loop that is bound has this many */
}

/* The innermost loop in lanes, of a kernel whose outer ones get bound. */
static void lanes_each(struct sched *s, const struct gpu_plan *g)
{
    const struct skern *k = &s->k[g->kernel];
    struct step st = { .kind = STEP_VECTORIZE, .node = { -1, -1 }, .n_axis = 1 };

    if (g->kind != GPU_EACH || k->n_loop < 2 || !rng_chance(s->r, 1, 4))
        return;
    st.n = 2 << rng_below(s->r, 2);
    st.axis[0] = k->loop[k->n_loop - 1].ax;
    gpu_try(s, &st);
}

static bool try_bind(struct sched *s, const struct axis *ax, bool thread)
{
    struct step st = { .kind = STEP_BIND, .node = { -1, -1 }, .n_axis = 1 };

    st.axis[0] = *ax;
    st.to_thread = thread;
    return gpu_try(s, &st);
}

/* Loops of the result outermost first: blocks, then threads. */
static int64_t bind_outer(struct sched *s, const struct gpu_plan *g, int blocks)
{
    const struct skern *k = &s->k[g->kernel];
    int64_t threads = 1;

    for (int i = 0; i < k->n_loop; i++) {
        bool thread = i >= blocks;

        if (k->loop[i].reduce || (thread && threads * k->loop[i].extent > 256))
            break;
        if (!try_bind(s, &k->loop[i].ax, thread))
            break;
        threads *= thread ? k->loop[i].extent : 1;
    }
    return threads;
}

static void bind_rows(struct sched *s, const struct gpu_plan *g)
{
    int64_t each = g->k < 0 ? -g->k : g->k, threads;
    struct axis ax = gpu_axis(g->node, 'r', 0, g->k < 0 ? "1" : "");

    /* all rows in blocks, or the last one of them in threads beside those that reduce, or one
     * after the other in one block */
    threads = 1;
    if (!rng_chance(s->r, 1, 5))
        threads = bind_outer(s, g,
                             s->p->node[g->kernel].sh.rank -
                                 rng_chance(s->r, whole_warps(each) ? 2 : 1, 3));
    if (threads * each <= 1024)
        try_bind(s, &ax, true);
}

static void bind_each(struct sched *s, const struct gpu_plan *g)
{
    int rank = s->p->node[g->kernel].sh.rank;

    bind_outer(s, g, rank > 0 ? (int)rng_below(s->r, (uint64_t)rank + 1) : 0);
}

static void draw_steps(struct sched *s, struct gpu_plan *g, int n)
{
    bool mma = false; /* one in a trial: nothing lowers before it has its stages */

    for (int i = 0; i < n; i++)
        if (g[i].kind == GPU_TILE)
            gpu_splitk(s, &g[i]);
    for (int i = 0; i < n; i++)
        if (g[i].kind == GPU_TILE) {
            gpu_tile(s, &g[i], !mma);
            mma |= g[i].tile.mma;
        }
    for (int i = 0; i < n; i++)
        gpu_unroll(s, &g[i]);
    for (int i = 0; i < n; i++)
        lanes_each(s, &g[i]);
    for (int i = 0; i < n; i++) {
        if (g[i].kind == GPU_ROWS)
            bind_rows(s, &g[i]);
        if (g[i].kind == GPU_EACH)
            bind_each(s, &g[i]);
    }
    for (int i = 0; i < n; i++)
        if (g[i].tile.mma)
            gpu_stage(s, &g[i]);
    for (int i = 0; i < n; i++)
        if (g[i].n_stage == 0)
            gpu_stage(s, &g[i]);
    for (int i = 0; i < n; i++)
        gpu_epilogue(s, &g[i]);
    for (int i = 0; i < n; i++)
        gpu_swizzle(s, &g[i]);
}

/* Composites written out, in memory that lasts. */
static bool expand(struct sched *s)
{
    struct prog *mine;

    if (!sched_expand(s, s->scratch))
        return false;
    if (s->p != &s->t->prog) {
        mine = arena_new(s->a, struct prog);
        prog_clone(mine, s->p, s->a);
        s->p = mine;
    }
    s->n = s->p->n;
    return true;
}

bool sched_draw_gpu(struct rng *r, const struct gen_opts *o, struct trial *t, struct arena *a,
                    struct arena *scratch)
{
    static const int weight[] = { 5, 4, 2, 1 }; /* ordinary steps in front */
    struct sched s = { .r = r, .o = o, .t = t, .a = a, .gpu = true, .scratch = scratch };
    struct gpu_plan plan[MAX_PLANS];
    int n;

    sched_algo(&s);
    if (!expand(&s))
        return false;
    sched_kernels(&s);
    s.budget = rng_weighted(r, weight, 4);
    sched_fuse(&s);
    if (rng_chance(r, 1, 8)) {
        sched_split(&s);
        sched_reorder(&s);
    }
    sched_name_parts(&s);
    if (!sched_settle(&s))
        return false;
    n = plan_kernels(&s, plan);
    for (int i = 0; i < n; i++)
        plan_draw(&s, &plan[i], i == 0);
    for (int i = 0; i < n && t->n_step < o->max_steps; i++)
        split_rows(&s, &plan[i]);
    draw_steps(&s, plan, n);
    sched_plan(&s);
    return sched_settle(&s);
}
