/*
 * Cumulative sums of floats in ieee: element k is a sum of k + 1 terms (judge/sum.h), in
 * whatever order each of them is formed.
 */
#include "judge/sum.h"

/* One line, its elements `step` apart. Returns whether all of it is exact. */
static bool line(const struct ref *r, int i, const struct acc *acc, const struct val *src,
                 struct val *out, int64_t n, int64_t step, bool integer)
{
    const struct node *x = &r->prog->node[i];
    struct sum sum = { 0 };
    bool exact = true;
    int saw = 0;

    for (int64_t k = 0; k < n; k++) {
        struct val v = src[k * step], *to = &out[k * step];
        int kind = sum_kind(v);

        saw |= kind;
        if (!kind) {
            sum.s += v.v;
            sum.t += fabs((double)v.v);
            sum.e += v.e;
        }
        *to = saw ? sum_special(acc, saw, sum)
                  : sum_bound(acc, sum, sum_gammas(acc->unit, 0, (double)k + 1), 0, integer);
        if (x->dt != x->acc)
            *to = ref_stored(r, i, *to);
        exact &= to->e == 0;
    }
    return exact;
}

void ref_bound_cumsum(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int from = x->arg[0].node;
    struct want_node *w = &r->want->node[i];
    struct lines l = ref_lines(&x->sh, x->axis);
    const struct acc acc = acc_of(x->acc);
    bool integer = r->grade[from] == GRADE_INTEGER, all_exact = integer;

    w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t k = 0; w->n && k < l.outer * l.inner; k++) {
        int64_t at = k / l.inner * l.n * l.inner + k % l.inner;

        all_exact &= line(r, i, &acc, r->want->node[from].ieee + at, w->ieee + at, l.n, l.inner,
                          integer);
    }
    r->grade[i] = all_exact ? GRADE_INTEGER : GRADE_BOUND;
}
