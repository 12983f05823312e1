/*
 * cumsum, as a triangle: each line is laid out once for each of its elements, what comes behind
 * that element is replaced by 0, and the rest is added up. n times the work of a scan, but any
 * order of summation is one of these.
 */
#include "lower/expand.h"

void expand_cumsum(struct expand *x)
{
    int a = x->map[x->n->arg[0].node], axis = x->n->axis, to, from;
    const struct shape sh = *expand_shape(x, a);
    struct shape wide = { .rank = sh.rank + 1 }, one;

    for (int d = 0; d <= sh.rank; d++)
        wide.dim[d] = sh.dim[d > axis ? d - 1 : d];
    one = wide;
    one.dim[axis] = 1;
    a = expand_to(x, "xb", expand_reshape(x, "xr", a, &one), &wide);
    to = expand_iota(x, "to", &wide, axis);
    from = expand_iota(x, "from", &wide, axis + 1);
    a = expand_select(x, "tri", expand_binary(x, "le", OP_LE, from, to), a, 0);
    expand_sum(x, "", a, 1u << (axis + 1));
}
