/* Views of exact data: each from its definition, one walk over both tensors. */
#include <string.h>

#include "judge/exact_eval.h"
#include "judge/walk.h"

/* Where the elements of view n lie in its operand: base + sum i*step. */
static int64_t view_steps(const struct node *n, const struct shape *of, int64_t *step)
{
    int64_t dense[MAX_RANK], base = 0;
    int lead = n->sh.rank - of->rank;

    walk_dense(of, dense);
    for (int a = 0; a < n->sh.rank; a++) {
        if (n->op == OP_PERMUTE) {
            step[a] = dense[n->perm[a]];
        } else if (n->op == OP_SLICE) {
            step[a] = dense[a] * n->by[a];
            base += dense[a] * n->lo[a];
        } else { /* expand */
            step[a] = a < lead || of->dim[a - lead] == 1 ? 0 : dense[a - lead];
        }
    }
    return base;
}

static void pad(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    const struct shape *of = &x->prog->node[n->arg[0].node].sh;
    const struct xval *src = x->node[n->arg[0].node].p;
    int64_t step[MAX_RANK], base = 0, k = 0;
    struct walk w;

    for (int64_t e = 0; e < x->node[i].n; e++)
        x->node[i].p[e] = (struct xval){ n->value, 0 };
    walk_dense(&n->sh, step);
    for (int a = 0; a < n->sh.rank; a++)
        base += step[a] * n->lo[a];
    for (w = walk_begin(of, step, base); w.rows > 0; walk_next(&w))
        for (int64_t e = 0; e < w.inner; e++)
            x->node[i].p[w.at + e * w.inner_step] = src[k++];
}

/* roll and repeat */
static void round_about(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    const struct xval *src = x->node[n->arg[0].node].p;
    int64_t *place = arena_array(x->arena, int64_t, x->node[i].n + 1);

    walk_places(n, &x->prog->node[n->arg[0].node].sh, place);
    for (int64_t k = 0; k < x->node[i].n; k++)
        x->node[i].p[k] = src[place[k]];
}

void exact_view(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    const struct xval *src = x->node[n->arg[0].node].p;
    int64_t step[MAX_RANK], base, k = 0;
    struct walk w;

    if (n->op == OP_PAD) {
        pad(x, i);
        return;
    }
    if (n->op == OP_ROLL || n->op == OP_REPEAT) {
        round_about(x, i);
        return;
    }
    if (n->op == OP_RESHAPE || n->op == OP_COPY) {
        if (x->node[i].n)
            memcpy(x->node[i].p, src, (size_t)x->node[i].n * sizeof *src);
        return;
    }
    base = view_steps(n, &x->prog->node[n->arg[0].node].sh, step);
    for (w = walk_begin(&n->sh, step, base); w.rows > 0; walk_next(&w))
        for (int64_t e = 0; e < w.inner; e++)
            x->node[i].p[k++] = src[w.at + e * w.inner_step];
}
