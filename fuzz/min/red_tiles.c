/*
 * Reducer over tiles. Smaller tiles with smaller sizes of the node, so that there are as many
 * tiles as before and the last one is as ragged: what a bug needs may be the third tile, or
 * the ragged one, and shrinking a size or a tile alone would lose it. And fewer tiles.
 */
#include "fuzz/min/reduce.h"
#include "fuzz/min/size.h"

enum {
    TARGETS = 7, /* of a tile's size; of the number of tiles */
    WAYS = 3,    /* see tile_shrink */
    DIMS = 5,    /* M, N, K, M and N, all */
    TILE_HINTS = TARGETS * WAYS * DIMS
};

RED_PER_STEP(tiles, TILE_HINTS)

/* The symbol of the node's axis that dimension d of the tile cuts, -1 = not known here. */
static int tiled_symbol(const struct sizes *z, const struct step *st, int d)
{
    const struct node *n = &z->p->node[st->node[0]];
    int src = n->n_arg ? n->arg[0].node : -1;

    if (st->part[0] || op_is_composite(n->op) || n->sh.rank < 2)
        return -1;
    if (d < 2)
        return sizes_sym(z, st->node[0], n->sh.rank - 2 + d);
    if (src < 0 || !op_is_reduce(n->op))
        return -1;
    return sizes_sym(z, src,
                     n->op == OP_MATMUL ? z->p->node[src].sh.rank - 1 : __builtin_ctz(n->axes));
}

/* An axis that ends in a tile as full, or as ragged, as the one of before. */
static int64_t extent_of(int64_t tiles, int64_t tile, int64_t last, int64_t was)
{
    if (last == was || tile == 1)
        return tiles * tile;
    return (tiles - 1) * tile + at_most(last, tile - 1);
}

/*
 * One dimension. Ways: 0 a smaller tile, as many of them; 1 a smaller tile of the axis as it
 * is; 2 fewer tiles, of the same size. False = nothing gets smaller.
 */
static bool tile_shrink(struct sizes *z, struct step *st, int d, int way, int target)
{
    static const int64_t to[TARGETS] = { 1, 2, 3, 4, 8, 16, 0 };
    int sym = tiled_symbol(z, st, d);
    int64_t tile = st->tile[d], goal = to[target] ? to[target] : tile / 2, tiles, last, extent;

    if (way == 1 || sym < 0) {
        if (way == 2 || goal < 1 || goal >= tile)
            return false;
        st->tile[d] = goal;
        return true;
    }
    extent = z->extent[sym];
    tiles = (extent + tile - 1) / tile;
    last = extent - (tiles - 1) * tile;
    if (extent == 0)
        return false;
    if (way == 2) {
        goal = to[target] ? to[target] : tiles / 2;
        if (goal < 1 || goal >= tiles)
            return false;
        return sizes_ask(z, sym, (goal - 1) * tile + last);
    }
    if (goal < 1 || goal >= tile)
        return false;
    st->tile[d] = goal;
    return sizes_ask(z, sym, extent_of(tiles, goal, last, tile));
}

/* Does this number of threads cover an M by N tile evenly? */
static bool threads_fit(const struct step *st, int64_t threads)
{
    for (int64_t n = 1; n <= st->tile[1]; n++)
        if (st->tile[1] % n == 0 && threads % n == 0 && st->tile[0] % (threads / n) == 0)
            return true;
    return false;
}

static void threads_shrink(struct step *st)
{
    while (!st->mma && st->threads > 1 && !threads_fit(st, st->threads))
        st->threads--;
}

bool red_tiles_apply(struct trial *t, int from, int to, struct arena *a)
{
    static const unsigned dims[DIMS] = { 7, 3, 1, 2, 4 };
    struct step *st = &t->step[from / TILE_HINTS];
    int target = from % TARGETS, way = from / TARGETS % WAYS,
        dim = from / TARGETS / WAYS % DIMS;
    struct sizes z;
    bool any = false, asked = false;

    (void)to;
    if (from / TILE_HINTS >= t->n_step || st->kind != STEP_TILE)
        return false;
    sizes_init(&z, &t->prog, a);
    for (int d = 0; d < st->n_tile; d++)
        if (dims[dim] >> d & 1)
            any |= tile_shrink(&z, st, d, way, target);
    for (int s = 0; s < z.n_sym; s++)
        asked |= z.to[s] >= 0;
    if (!any || (asked && (!sizes_follow(&z, 0) || !sizes_apply(&z, t, 0, a))))
        return false;
    threads_shrink(st);
    return true;
}
