/*
 * algo steps, and what they open: the program as it is once composites are written out. The
 * steps behind are drawn for that program, whose part nodes are called "z.sc"; in the trial
 * they name the composite z and its part sc.
 */
#include <string.h>

#include "base/bug.h"
#include "fuzz/gen/sched.h"
#include "lower/lower.h"

/* How many keys or lanes the blocks are cut from. */
static int64_t keys_of(const struct prog *p, const struct node *n)
{
    const struct shape *x;

    if (n->op == OP_SOFTMAX)
        return n->sh.dim[n->axis];
    x = &p->node[n->arg[1].node].sh;
    return x->dim[x->rank - 2];
}

/* A block that gives 2 to max_blocks blocks, the last of them mostly short. */
static int64_t draw_block(struct sched *s, int64_t keys)
{
    int64_t most = s->o->max_blocks < keys ? s->o->max_blocks : keys, n, block;

    if (most < 2)
        return 1 + (int64_t)rng_below(s->r, 4);
    n = rng_chance(s->r, 2, 3) ? 2 : rng_range(s->r, 2, most);
    block = (keys + n - 1) / n;
    if (keys % block == 0 && block + 1 < keys && rng_chance(s->r, 3, 4))
        block++;
    return block;
}

void sched_algo(struct sched *s)
{
    static const int weights[2][ALGO_COUNT] = { { 1, 6, 5, 0 }, { 1, 2, 2, 9 } };
    const int *weight = weights[s->gpu];

    for (int i = 0; i < s->t->prog.n; i++) {
        const struct node *n = &s->t->prog.node[i];
        int w[ALGO_COUNT];
        struct step *st;

        if (!op_is_composite(n->op) || !s->o->step[STEP_ALGO] ||
            s->t->n_step >= s->o->max_steps ||
            !rng_chance(s->r, algo_takes(ALGO_ONLINE, n->op) ? 5 : 1, 10))
            continue;
        for (int a = 0; a < ALGO_COUNT; a++)
            w[a] = algo_takes((enum algo)a, n->op) ? weight[a] : 0;
        st = trial_add_step(s->t, s->a);
        st->kind = STEP_ALGO;
        st->node[0] = i;
        st->algo = (enum algo)rng_weighted(s->r, w, ALGO_COUNT);
        if (st->algo != ALGO_DECOMPOSED)
            st->n = draw_block(s, keys_of(&s->t->prog, n));
        if (st->algo == ALGO_FLASH)
            st->splits = rng_chance(s->r, 1, 2) ? 1 : rng_range(s->r, 2, 4);
    }
}

bool sched_expand(struct sched *s, struct arena *scratch)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct lprog *l;
    struct err e;
    bool any = false;

    s->p = &s->t->prog;
    for (int i = 0; i < s->p->n; i++)
        any |= op_is_composite(s->p->node[i].op);
    if (!any)
        return true;
    o.last_pass = pass_find("expand");
    arena_reset(scratch);
    if (lower(s->t, &o, scratch, &l, &e))
        return false;
    s->p = l->prog;
    return true;
}

int sched_original(const struct sched *s, int node, const char **part)
{
    const char *name = s->p->node[node].name, *dot = strchr(name, '.');
    int at = prog_find(&s->t->prog, name, dot ? (size_t)(dot - name) : strlen(name));

    if (at < 0)
        BUG("no node for %s", name);
    *part = dot ? dot + 1 : NULL;
    return at;
}

static void name_part(struct sched *s, int *node, const char **part)
{
    *node = sched_original(s, *node, part);
    if (*part)
        *part = arena_strdup(s->a, *part);
}

void sched_name_step(struct sched *s, struct step *st)
{
    for (int k = 0; k < 2; k++)
        if (st->node[k] >= 0)
            name_part(s, &st->node[k], &st->part[k]);
    for (int k = 0; k < st->n_axis; k++)
        name_part(s, &st->axis[k].node, &st->axis[k].part);
}

void sched_name_parts(struct sched *s)
{
    if (s->p == &s->t->prog)
        return;
    for (int i = 0; i < s->t->n_step; i++)
        if (s->t->step[i].kind != STEP_ALGO)
            sched_name_step(s, &s->t->step[i]);
}
