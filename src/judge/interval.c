/*
 * interval_choose: integers as large as they may be. Those of an input are made smaller
 * until every node that could be exact is, and until halves hold their results.
 */
#include <string.h>

#include "judge/interval_inner.h"

enum { LARGEST = 100 }; /* integers beyond that don't see more */

/* The first node that could do better with smaller integers; -1 = none */
static int too_large(struct intervals *x)
{
    int first = -1;

    for (int i = 0; i < x->prog->n; i++) {
        if (!x->live[i])
            continue;
        x->r[i] = interval_of(x, i);
        if (first < 0 &&
            ((!x->r[i].ok && !x->hopeless[i]) || (x->r[i].blurred && !x->blurry[i])))
            first = i;
    }
    return first;
}

/* Of the inputs that node i depends on, the one with the largest integers; -1 = none */
static int largest_below(const struct intervals *x, int i, bool *seen)
{
    int best = -1;

    memset(seen, 0, (size_t)x->prog->n * sizeof *seen);
    seen[i] = true;
    for (; i >= 0; i--) {
        const struct node *n = &x->prog->node[i];
        const struct alphabet *l = &x->alpha[i];

        if (!seen[i])
            continue;
        for (int j = 0; j < n->n_arg; j++)
            if (n->arg[j].node >= 0)
                seen[n->arg[j].node] = true;
        if (n->op == OP_INPUT && !l->n && !l->index && l->most > 1 &&
            (best < 0 || l->most > x->alpha[best].most))
            best = i;
    }
    return best;
}

static void shrink(struct intervals *x, struct arena *a)
{
    bool *seen = arena_array(a, bool, x->prog->n);
    int at;

    while ((at = too_large(x)) >= 0) {
        int in = largest_below(x, at, seen);

        if (in < 0) {
            x->hopeless[at] = x->blurry[at] = true;
            continue;
        }
        x->alpha[in].most -= (x->alpha[in].most + 4) / 5;
    }
}

/* An input that is read as an index stays in range. */
static void indices(struct intervals *x)
{
    for (int i = 0; i < x->prog->n; i++) {
        const struct node *n = &x->prog->node[i];
        int at;

        if (n->op != OP_GATHER)
            continue;
        for (at = n->arg[1].node;
             op_is_view(x->prog->node[at].op) || x->prog->node[at].op == OP_COPY;)
            at = x->prog->node[at].arg[0].node;
        if (x->prog->node[at].op == OP_INPUT) {
            x->alpha[at].most = x->prog->node[n->arg[0].node].sh.dim[n->axis];
            x->alpha[at].index = true;
        }
    }
}

struct alphabet *interval_choose(const struct trial *t, struct arena *a)
{
    int n = t->prog.n;
    struct intervals x = { .prog = &t->prog };

    x.alpha = arena_array(a, struct alphabet, n);
    x.r = arena_array(a, struct range, n);
    x.hopeless = arena_array(a, bool, n);
    x.blurry = arena_array(a, bool, n);
    x.live = arena_array(a, bool, n);
    prog_live(&t->prog, x.live);
    for (int i = 0; i < n; i++)
        x.alpha[i].most = 1;
    indices(&x);
    interval_wishes(&x);
    too_large(&x);
    for (int i = 0; i < n; i++) {
        x.hopeless[i] = !x.r[i].ok;
        x.blurry[i] = x.r[i].blurred;
        if (!x.alpha[i].index)
            x.alpha[i].most = LARGEST;
    }
    shrink(&x, a);
    return x.alpha;
}
