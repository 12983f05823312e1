/*
 * Schedules. Steps are proposed in pass order from an estimate of the kernels (sched.h),
 * then the whole schedule is lowered: a step that the passes refuse is dropped, until they
 * take all of them. One lowering is the rule.
 */
#include "base/bug.h"
#include "fuzz/gen/sched.h"
#include "lower/lower.h"

bool sched_may(const struct sched *s, enum step_kind kind)
{
    return s->o->step[kind] && s->t->n_step < s->o->max_steps && s->budget > 0;
}

struct step *sched_step(struct sched *s, enum step_kind kind)
{
    struct step *st = trial_add_step(s->t, s->a);

    st->kind = kind;
    s->budget--;
    return st;
}

int sched_kernel(struct sched *s)
{
    int *weight = arena_array(s->a, int, s->n), sum = 0;

    for (int i = 0; i < s->n; i++) {
        enum op op = s->p->node[i].op;

        if (!s->k[i].alive || s->k[i].n_loop == 0)
            continue;
        weight[i] = s->k[i].n_acc ? 4 : 2;
        if (s->k[i].evals > 400 || op == OP_MAX || op == OP_MIN)
            weight[i] *= 2;
        sum += weight[i];
    }
    return sum ? rng_weighted(s->r, weight, s->n) : -1;
}

static void loops_of(struct sched *s, int node)
{
    const struct node *n = &s->p->node[node];
    struct skern *k = &s->k[node];
    struct axis ax = { .node = node, .role = 'i' }, real;

    for (ax.num = 0; ax.num < n->sh.rank; ax.num++)
        k->loop[k->n_loop++] = (struct sloop){ .ax = ax, .extent = n->sh.dim[ax.num] };
    ax.role = 'r';
    for (ax.num = 0; op_is_reduce(n->op) && axis_resolve(s->p, &ax, &real); ax.num++)
        k->loop[k->n_loop++] =
            (struct sloop){ .ax = ax, .extent = axis_extent(s->p, &real), .reduce = true };
    k->evals = 1;
    for (int i = 0; i < k->n_loop; i++)
        k->evals *= (double)k->loop[i].extent;
}

/* An argmax that computes its operand twice, in two kernels, may not find the maximum of the
 * one among the elements of the other. */
static bool picks(const struct sched *s, int node)
{
    const char *part;

    return s->p != &s->t->prog &&
           s->t->prog.node[sched_original(s, node, &part)].op == OP_ARGMAX;
}

/* The kernels as build makes them. */
void sched_kernels(struct sched *s)
{
    bool *live = arena_array(s->a, bool, s->n);

    s->k = arena_array(s->a, struct skern, s->n);
    s->reads = arena_array(s->a, bool, s->n * s->n);
    prog_live(s->p, live);
    for (int i = 0; i < s->n; i++) {
        const struct node *n = &s->p->node[i];

        s->k[i] = (struct skern){ .reduction = -1, .cost = 1 };
        if (!live[i] || op_is_view(n->op) || op_is_source(n->op))
            continue;
        s->k[i].alive = true;
        s->k[i].picks = picks(s, i);
        loops_of(s, i);
        if (op_is_reduce(n->op))
            s->k[i].n_acc = 1, s->k[i].reduction = i;
        for (int j = 0; j < n->n_arg; j++) {
            int at = n->arg[j].node;

            while (at >= 0 && op_is_view(s->p->node[at].op))
                at = s->p->node[at].arg[0].node;
            if (at >= 0 && !op_is_source(s->p->node[at].op))
                s->reads[i * s->n + at] = true;
        }
    }
}

/* Which step to drop: the one that is named; else a fusion, which may make expressions grow
 * beyond what lowering takes; else the last. */
static int refused(const struct trial *t, const struct err *e)
{
    if (e->line >= 1 && e->line <= t->n_step)
        return e->line - 1;
    for (int i = t->n_step - 1; i >= 0; i--)
        if (t->step[i].kind == STEP_FUSE)
            return i;
    return t->n_step - 1;
}

static int lower_all(struct sched *s, struct err *e)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct lprog *l;
    int rc;

    arena_reset(s->scratch);
    rc = lower(s->t, &o, s->scratch, &l, e);
    if (rc || !s->gpu)
        return rc;
    o.target = TARGET_GPU;
    arena_reset(s->scratch);
    return lower(s->t, &o, s->scratch, &l, e);
}

/* Lowers, and drops what is refused, until nothing is. Lines name the steps meanwhile. */
bool sched_settle(struct sched *s)
{
    struct trial *t = s->t;

    for (;;) {
        struct err e = { 0 };

        for (int i = 0; i < t->n_step; i++)
            t->step[i].line = i + 1;
        if (!trial_check(t, &e) && !lower_all(s, &e))
            break;
        if (t->n_step == 0)
            return false;
        trial_drop_step(t, refused(t, &e));
    }
    for (int i = 0; i < t->n_step; i++)
        t->step[i].line = 0;
    return true;
}

bool sched_draw(struct rng *r, const struct gen_opts *o, struct trial *t, struct arena *a,
                struct arena *scratch)
{
    static const int weight[] = { 2, 3, 5, 8, 9, 8, 6, 4, 3 }; /* steps to propose */
    struct sched s = { .r = r, .o = o, .t = t, .a = a, .scratch = scratch };

    sched_algo(&s);
    if (!sched_expand(&s, scratch))
        return false;
    s.n = s.p->n;
    s.budget = rng_weighted(r, weight, 9);
    sched_kernels(&s);
    sched_fuse(&s);
    sched_split(&s);
    sched_reorder(&s);
    sched_splitk(&s);
    sched_unroll(&s);
    sched_vectorize(&s);
    sched_plan(&s);
    sched_name_parts(&s);
    return sched_settle(&s);
}
