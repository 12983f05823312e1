/*
 * Reducers over data, last of all: drawn data written out as small integers, given values
 * made equal. Nothing is ever drawn again.
 */
#include "fuzz/min/reduce.h"

enum { DRAW_HINTS = 2, DRAW_MAX = 64 };

int red_draws_count(const struct trial *t, struct arena *scratch)
{
    (void)scratch;
    return t->prog.n * DRAW_HINTS;
}

static double plain_value(enum dtype dt, int hint, int64_t at)
{
    if (hint == 0)
        return 1;
    return dt == DT_BOOL ? (double)(at % 2) : (double)(1 + at);
}

/* Hints of one input: all ones; 1 2 3 ... */
bool red_draws_apply(struct trial *t, int from, int to, struct arena *a)
{
    int i = from / DRAW_HINTS;
    const struct node *n = &t->prog.node[i];
    int64_t count = shape_count(&n->sh);
    struct values *v;

    (void)to;
    if (n->op != OP_INPUT || count > DRAW_MAX || count == 0 || trial_values(t, i))
        return false;
    v = arena_push(a, t->values, t->n_values, t->cap_values);
    *v = (struct values){ .node = i, .n = count, .v = arena_array(a, double, count) };
    for (int64_t k = 0; k < count; k++)
        v->v[k] = plain_value(n->dt, from % DRAW_HINTS, k);
    return true;
}

int red_values_count(const struct trial *t, struct arena *scratch)
{
    int64_t n = 0;

    (void)scratch;
    for (int i = 0; i < t->n_values; i++)
        n += t->values[i].n;
    return (int)n;
}

bool red_values_apply(struct trial *t, int from, int to, struct arena *a)
{
    bool any = false;
    int at = 0;

    for (int i = 0; i < t->n_values; i++) {
        struct values *v = &t->values[i];
        double *mine = arena_array(a, double, v->n);

        for (int64_t k = 0; k < v->n; k++, at++) {
            bool in = at >= from && at < to;

            any |= in && v->v[k] != 1;
            mine[k] = in ? 1 : v->v[k];
        }
        v->v = mine;
    }
    return any;
}
