#include "fuzz/explain/alias.h"

#include <inttypes.h>

#include "fuzz/explain/access.h"
#include "fuzz/explain/reads.h"

static bool overlap(const struct buffer *x, const struct buffer *y)
{
    return x->arena_at >= 0 && y->arena_at >= 0 &&
           x->arena_at < y->arena_at + buffer_bytes(y) &&
           y->arena_at < x->arena_at + buffer_bytes(x);
}

/* The kernel that stores `taker` while it loads `owner`; *stmt = the load's statement. */
static int kernel_of_both(const struct lprog *l, int taker, int owner, int *stmt, int *access)
{
    int k = buffer_writer(l, taker);

    for (int i = 0; k >= 0 && i < l->kernel[k].n; i++) {
        *stmt = i;
        *access = stmt_load_of(l, &l->kernel[k].st[i], owner);
        if (*access >= 0)
            return k;
    }
    return -1;
}

/* A loop round both statements whose variable the load does not depend on reads again. */
static const char *rereading_loop(const struct lprog *l, int kernel, int stmt, int access)
{
    const struct kernel *k = &l->kernel[kernel];
    const struct access *ac = &l->access[access];
    int open[64], n = 0;

    for (int i = 0; i < stmt; i++) {
        if (k->st[i].kind == ST_LOOP || k->st[i].kind == ST_IF)
            open[n++ % 64] = i;
        else if (k->st[i].kind == ST_END)
            n--;
    }
    for (int i = 0; i < n && i < 64 && ac->composed; i++) {
        const struct stmt *s = &k->st[open[i]];
        bool has_store = false;

        for (int j = open[i]; j < stmt_end(k, open[i]); j++)
            has_store |= k->st[j].kind == ST_STORE;
        if (s->kind == ST_LOOP && has_store && !ix_uses(&l->ix, ac->index, s->var))
            return l->var[s->var].name;
    }
    return NULL;
}

static struct explain_site site(const struct lprog *l, int buffer)
{
    const struct buffer *b = &l->buffer[buffer];
    int k = buffer_writer(l, buffer);

    return (struct explain_site){ .kernel = k >= 0 ? l->kernel[k].name : NULL,
                                  .buffer = b->name,
                                  .index = b->arena_at,
                                  .size = buffer_bytes(b),
                                  .what = "arena bytes" };
}

static void describe(const struct lprog *l, int taker, int owner, struct arena *a,
                     struct explanation *x)
{
    int stmt = -1, access = -1, k = kernel_of_both(l, taker, owner, &stmt, &access);
    const struct buffer *t = &l->buffer[taker], *o = &l->buffer[owner];
    const char *again = k >= 0 ? rereading_loop(l, k, stmt, access) : NULL, *head;

    x->site[0] = site(l, taker);
    x->site[1] = site(l, owner);
    x->n_site = 2;
    head = arena_printf(a,
                        "%s (arena bytes %" PRId64 "..%" PRId64 ") is placed over %s (%" PRId64
                        "..%" PRId64 ")",
                        t->name, t->arena_at, t->arena_at + buffer_bytes(t) - 1, o->name,
                        o->arena_at, o->arena_at + buffer_bytes(o) - 1);
    if (k < 0)
        x->note = arena_printf(a, "%s, which is still read later", head);
    else if (again)
        x->note =
            arena_printf(a,
                         "%s; kernel %s stores %s inside loop %s, which runs again and "
                         "reads %s once more",
                         head, l->kernel[k].name, t->name, again, access_text(l, access, a));
    else
        x->note =
            arena_printf(a,
                         "%s; kernel %s stores %s while it still reads %s at other "
                         "indices: %s",
                         head, l->kernel[k].name, t->name, o->name, access_text(l, access, a));
}

void alias_explain(const struct lprog *before, const struct lprog *after, struct arena *a,
                   struct explanation *x)
{
    int best = -1, taker = -1, owner = -1, stmt, access;

    for (int t = 0; t < after->n_buffer; t++) {
        if (after->buffer[t].arena_at == before->buffer[t].arena_at)
            continue;
        for (int o = 0; o < after->n_buffer; o++) {
            int rank = kernel_of_both(after, t, o, &stmt, &access) >= 0;

            if (o == t || !overlap(&after->buffer[t], &after->buffer[o]) || rank <= best)
                continue;
            best = rank;
            taker = t;
            owner = o;
        }
    }
    if (taker >= 0)
        describe(after, taker, owner, a, x);
}
