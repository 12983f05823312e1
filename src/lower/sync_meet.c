/* Where threads of a block may meet: shared memory, and what they exchange through global. */
#include "lower/sync_site.h"

struct exchange_finder {
    const struct lprog *l;
    int buffer;
    const int *stored; /* by index: the last buffer + 1 that is stored to there */
    bool found;
};

static void other_load(void *ctx, int access)
{
    struct exchange_finder *f = ctx;
    const struct access *a = &f->l->access[access];

    f->found |=
        a->src == SRC_BUFFER && a->buffer == f->buffer && f->stored[a->index] != f->buffer + 1;
}

/* Does the kernel load elsewhere from the buffer than it stores? Where it doesn't, each thread
 * has elements of its own: sums in an output, workspaces that slices share. */
static bool exchanged(const struct lprog *l, const struct kernel *k, int buffer, int *stored)
{
    struct exchange_finder f = { l, buffer, stored, false };

    for (int i = 0; i < k->n; i++)
        if (stmt_writes(&k->st[i]) && l->access[k->st[i].access].buffer == buffer)
            stored[l->access[k->st[i].access].index] = buffer + 1;
    for (int i = 0; i < k->n && !f.found; i++)
        stmt_loads(l, &k->st[i], other_load, &f);
    return f.found;
}

void sites_meet(struct lprog *l, int kernel, bool *meets)
{
    const struct kernel *k = &l->kernel[kernel];
    int *stored = arena_array(l->arena, int, l->ix.n + 1);
    bool *written = arena_array(l->arena, bool, l->n_buffer + 1);

    for (int i = 0; i < k->n; i++)
        if (stmt_writes(&k->st[i]))
            written[l->access[k->st[i].access].buffer] = true;
    for (int b = 0; b < l->n_buffer; b++) {
        const struct buffer *x = &l->buffer[b];

        if (x->kind == BUF_SHARED)
            meets[b] = x->kernel == kernel && x->elems > 0;
        else if (x->kind == BUF_TEMP && !FAULT(l, block_exchange_via_global))
            meets[b] = x->elems > 0 && written[b] && exchanged(l, k, b, stored);
    }
}

/* No index goes beyond. */
int64_t site_reach(struct sites *s, int buffer)
{
    struct lprog *l = s->l;
    int64_t *extent = arena_array(l->arena, int64_t, l->n_var + 1), elems = 0;

    for (int v = 0; v < l->n_var; v++)
        extent[v] = l->var[v].extent;
    for (int i = 0; i < s->k->n; i++)
        if (s->k->st[i].kind == ST_LOOP && s->k->st[i].loop == LOOP_BLOCK)
            extent[s->k->st[i].var] = 1;
    for (int i = 0; i < s->n; i++) {
        int64_t hi = ix_range(&l->ix, l->access[s->site[i].access].index, extent).hi;

        if (s->site[i].buffer == buffer && hi >= elems)
            elems = hi + 1;
    }
    return (elems < l->buffer[buffer].elems ? elems : l->buffer[buffer].elems) *
           dtype_info(l->buffer[buffer].dt)->bytes;
}
