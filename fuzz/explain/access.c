#include "fuzz/explain/access.h"

#include <inttypes.h>

#include "lower/loop.h"
#include "view/view.h"

const char *buffer_text(const struct buffer *b)
{
    return b ? b->name : "iota";
}

const char *loops_text(const struct lprog *l, const struct loops *loops, struct arena *a)
{
    struct str s = { 0 };

    for (int i = 0; i < loops->n; i++)
        str_add(&s, "%s%s=%" PRId64, i ? " " : "", l->var[loops->var[i]].name, loops->at[i]);
    return str_keep(&s, a);
}

/* What pass compose would make of it, for the eye. */
static bool compose(struct lprog *l, struct access *ac)
{
    const struct buffer *b = &l->buffer[ac->buffer];
    struct guard *guard = arena_array(l->arena, struct guard, MAX_VIEWS);
    struct vstack v;

    vstack_init(&v, &b->sh, &b->layout);
    for (int i = ac->n_view - 1; i >= 0; i--)
        if (!vstack_apply(&v, &l->prog->node[ac->view[i]], VIEW_FAULT_NONE))
            return false;
    ac->guard = guard;
    vstack_index(&v, &l->ix, ac->idx, &ac->index, guard, &ac->n_guard);
    ac->composed = true;
    return true;
}

const char *access_text(const struct lprog *l, int access, struct arena *a)
{
    struct lprog *work = (struct lprog *)l;
    struct access ac = l->access[access];
    struct str s = { 0 };

    if (!ac.composed && ac.src == SRC_BUFFER && compose(work, &ac))
        access = lprog_access(work, ac);
    loop_print_access(work, access, &s);
    return str_keep(&s, a);
}

static bool record_true(const struct lprog *l, const struct access *ac,
                        const struct trace_rec *r, int64_t *var)
{
    for (int i = 0; i < r->loops.n; i++)
        var[r->loops.var[i]] = r->loops.at[i];
    for (int g = 0; g < ac->n_guard; g++)
        if (!ix_eval(&l->ix, ac->guard[g].cond, var))
            return r->guarded;
    return !r->guarded && ix_eval(&l->ix, ac->index, var) == r->index;
}

bool access_true(const struct lprog *l, int access, const struct trace *t)
{
    struct access ac = l->access[access];
    int64_t *var = arena_array(l->arena, int64_t, l->n_var + 1);

    if (ac.src != SRC_BUFFER || (!ac.composed && !compose((struct lprog *)l, &ac)))
        return false;
    for (int i = 0; i < t->n; i++)
        if (t->rec[i].access == access && !record_true(l, &ac, &t->rec[i], var))
            return false;
    return true;
}
