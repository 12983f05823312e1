/*
 * Layouts of inputs and outputs: another nesting order, per level dense, padded or doubled,
 * an offset, any stride on a size-1 axis. Levels are stacked from the inside outwards, so
 * no two elements share an address.
 */
#include "fuzz/gen/build.h"

void layout_draw(struct rng *r, const struct shape *sh, struct layout *l)
{
    int order[MAX_RANK];
    int64_t span = 1; /* storage that the levels so far take */

    *l = (struct layout){ .given = true };
    for (int i = 0; i < sh->rank; i++)
        order[i] = sh->rank - 1 - i; /* innermost first */
    if (rng_chance(r, 1, 3))
        rng_shuffle(r, order, sh->rank);
    if (rng_chance(r, 1, 6))
        span = 2;
    for (int i = 0; i < sh->rank; i++) {
        int64_t d = sh->dim[order[i]];

        if (d == 1 && rng_chance(r, 1, 2)) {
            l->stride[order[i]] = (int64_t)rng_below(r, 40);
            continue;
        }
        l->stride[order[i]] = span;
        span *= d > 0 ? d : 1;
        if (rng_chance(r, 1, 2))
            span += rng_range(r, 1, 3);
        else if (rng_chance(r, 1, 12))
            span *= 2;
    }
    if (rng_chance(r, 1, 3))
        l->offset = rng_range(r, 1, 9);
}

void layout_outputs(struct gen *g)
{
    for (int i = 0; i < g->p->n_out; i++) {
        const struct node *n = gen_at(g, g->p->out[i].node);
        bool cast = n->op == OP_CAST;

        if (n->sh.rank > 0 && rng_chance(&g->rng, cast ? 3 : 1, 4))
            layout_draw(&g->rng, &n->sh, &g->p->out[i].layout);
    }
}
