/*
 * Proposals of fuse steps. A producer without a reduction may always be inlined; one with a
 * reduction only where its axes are read as whole loops. What would multiply the work (an
 * expensive producer read again and again) is left alone.
 */
#include "fuzz/gen/sched.h"

/* Only views that a fused reduction can be read through? */
static bool plain_views(const struct prog *p, int at)
{
    for (; op_is_view(p->node[at].op); at = p->node[at].arg[0].node) {
        const struct node *n = &p->node[at];
        const struct shape *from = &p->node[n->arg[0].node].sh;
        int j = 0;

        if (n->op == OP_SLICE || n->op == OP_PAD || n->op == OP_ROLL || n->op == OP_REPEAT)
            return false;
        for (int i = 0; i < n->sh.rank && n->op == OP_RESHAPE; i++) {
            if (n->sh.dim[i] == 1)
                continue;
            while (j < from->rank && from->dim[j] == 1)
                j++;
            if (j == from->rank || from->dim[j++] != n->sh.dim[i])
                return false;
        }
    }
    return true;
}

/* Would lowering take "fuse p c" where p reduces? A guess. */
static bool reads_plainly(const struct sched *s, int p, int c)
{
    const struct node *n = &s->p->node[c];
    bool direct = false;

    for (int j = 0; j < n->n_arg; j++) {
        int at = n->arg[j].node;

        while (at >= 0 && op_is_view(s->p->node[at].op))
            at = s->p->node[at].arg[0].node;
        if (at != p)
            continue;
        direct = true;
        if (!plain_views(s->p, n->arg[j].node))
            return false;
    }
    if (n->op == OP_MATMUL) /* both operands' loops can't go outermost: mostly refused */
        return direct && rng_chance(s->r, 1, 4);
    return direct || rng_chance(s->r, 1, 3);
}

/* How much we want "fuse p c", in percent. */
static int fuse_wish(const struct sched *s, int p, int c)
{
    const struct skern *kp = &s->k[p], *kc = &s->k[c];
    enum op op = s->p->node[p].op, oc = s->p->node[c].op;

    if (kc->picks && !kp->picks)
        return 0;
    if (kp->n_acc + kc->n_acc > 3 || kp->n_loop + kc->n_loop > MAX_LOOPS)
        return 0;
    if (kp->n_acc == 0 && kc->evals * (kp->cost + kc->cost) > 12000)
        return 0; /* computed once for each read */
    if (op == oc && (op == OP_COPY || op == OP_CAST))
        return 92;
    if (kp->n_acc > 0)
        return kc->n_acc > 0 ? 45 : 75;
    return op == OP_CAST || op == OP_RECIP || op == OP_EXP ? 80 : 65;
}

static void merge(struct sched *s, int p, int c)
{
    struct skern *kp = &s->k[p], *kc = &s->k[c];
    bool others = false;

    s->reads[c * s->n + p] = false;
    for (int i = 0; i < s->n; i++)
        s->reads[c * s->n + i] |= s->reads[p * s->n + i];
    for (int i = 0; i < kp->n_loop; i++)
        if (kp->loop[i].reduce)
            kc->loop[kc->n_loop++] = kp->loop[i];
    if (kp->n_acc > 0) {
        kc->reduction = kp->reduction;
        kc->evals = kp->evals > kc->evals ? kp->evals : kc->evals;
    }
    kc->n_acc += kp->n_acc;
    kc->mixed = s->p->node[p].op == OP_CAST && s->p->node[c].op == OP_ADD;
    kc->cost += kp->cost;
    for (int i = 0; i < s->n; i++)
        others |= s->k[i].alive && s->reads[i * s->n + p];
    for (int i = 0; i < s->p->n_out; i++)
        others |= s->p->out[i].node == p;
    /* an output that is a view of p reads it too */
    for (int i = 0; i < s->p->n_out; i++) {
        int at = s->p->out[i].node;

        while (op_is_view(s->p->node[at].op))
            at = s->p->node[at].arg[0].node;
        others |= at == p;
    }
    kp->alive = others;
}

void sched_fuse(struct sched *s)
{
    int left = s->budget > 1 ? (s->budget + 1) / 2 : s->budget, *order, n = 0;

    order = arena_array(s->a, int, s->n * s->n + 1);
    for (int c = 0; c < s->n; c++)
        for (int p = 0; p < c; p++)
            if (s->reads[c * s->n + p])
                order[n++] = c * s->n + p;
    /* from the front or in any order: then chains grow from their middle */
    if (rng_chance(s->r, 1, 3))
        rng_shuffle(s->r, order, n);
    for (int i = 0; i < n && left > 0 && sched_may(s, STEP_FUSE); i++) {
        int p = order[i] % s->n, c = order[i] / s->n;
        struct step *st;

        if (!s->k[p].alive || !s->k[c].alive || !s->reads[order[i]] ||
            !rng_chance(s->r, fuse_wish(s, p, c), 100) ||
            (s->k[p].n_acc > 0 && !reads_plainly(s, p, c)))
            continue;
        st = sched_step(s, STEP_FUSE);
        st->node[0] = p;
        st->node[1] = c;
        merge(s, p, c);
        left--;
    }
}
