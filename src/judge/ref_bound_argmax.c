/*
 * argmax of floats in ieee: which element is the largest is known if every other one lies
 * below it by more than both bounds, or is exactly as large and stands behind it. The first
 * NaN wins over all.
 */
#include "judge/ref.h"

/* The place of the largest of n values `step` apart; false: not sure. */
static bool find_largest(const struct val *x, int64_t n, int64_t step, uint32_t *place)
{
    int64_t at = 0;
    bool unjudged = false;

    for (int64_t k = 0; k < n; k++) {
        if (x[k * step].e < 0) {
            unjudged = true;
        } else if (isnan(x[k * step].v)) {
            *place = (uint32_t)k;
            return !unjudged;
        }
    }
    if (unjudged)
        return false;
    for (int64_t k = 1; k < n; k++)
        if (x[k * step].v > x[at * step].v)
            at = k;
    *place = (uint32_t)at;
    for (int64_t k = 0; k < n; k++) {
        double near = x[k * step].e + x[at * step].e;

        if (k != at && near > 0 &&
            !((double)(x[at * step].v - x[k * step].v) > near * (1 + 0x1p-40)))
            return false;
    }
    return true;
}

void ref_bound_argmax(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int from = x->arg[0].node;
    struct want_node *w = &r->want->node[i];
    struct lines l = ref_lines(&r->prog->node[from].sh, x->axis);
    const struct val *src = r->want->node[from].ieee;

    w->word = arena_array(r->arena, uint32_t, w->n);
    for (int64_t k = 0; k < w->n; k++) {
        const struct val *line = src + k / l.inner * l.n * l.inner + k % l.inner;

        if (find_largest(line, l.n, l.inner, &w->word[k]))
            continue;
        if (!w->unsure)
            w->unsure = arena_array(r->arena, unsigned char, w->n);
        w->unsure[k] = 1;
    }
}
