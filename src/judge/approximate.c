/*
 * Functions of compilers that are not ours, by may_approximate (ir/contract.h): how far off exp
 * and its like may be besides what the judge expects of everybody. tilefuzz/plugin.h has the
 * same in words.
 */
#include "judge/ref.h"

#include <math.h>

#include "ir/contract.h"
#include "judge/grid.h"

static bool is_function(enum op op)
{
    return op == OP_EXP || op == OP_EXP2 || op == OP_LOG || op == OP_TANH || op == OP_ERF;
}

bool ref_uses_function(enum op op)
{
    return is_function(op) || op == OP_SOFTMAX || op == OP_LOGSOFTMAX || op == OP_ATTENTION;
}

double ref_loose(const struct ref *r)
{
    return r->contract & CONTRACT_MAY_APPROXIMATE ? 0x1p-15 : 0;
}

/* exp(0), log(1), tanh(0), erf(0): right in any case. */
static bool is_given(enum op op, struct val of)
{
    return of.e == 0 && of.v == (op == OP_LOG ? 1 : 0);
}

/*
 * Vector libraries take a few ulps; exp by exp2 of a rounded product loses |x| of them, tanh by
 * exp and log by log2 are right to an absolute error. All of them keep within this by far, and
 * what is read at a wrong place, or in part, does not. Halves: the same, computed in the half.
 */
void ref_approximate(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    bool is_exp = x->op == OP_EXP || x->op == OP_EXP2;
    double units = grid_is_half(x->dt) ? 8 * grid_unit(x->dt) : 0;
    double least = grid_least_normal(x->dt == DT_F64 ? DT_F64 : DT_F32);
    double tiny = grid_unit(x->dt == DT_F64 ? DT_F64 : DT_F32);

    if (!is_function(x->op))
        return;
    for (int64_t k = 0; k < w->n; k++) {
        struct val v = judge_value(w, k), of = judge_value(&r->want->node[x->arg[0].node], k);
        double rel = ref_loose(r) + units, size, more;

        if (v.e < 0 || !isfinite(v.v) || is_given(x->op, of))
            continue;
        if (is_exp && units > 0 && isfinite(of.v)) /* of a product that the half has rounded */
            rel += units / 4 * (fabs(of.v) + of.e);
        size = fabs(v.v) + v.e;
        more = rel * size + (is_exp ? 0 : 0x1p-20 + units);
        if (is_exp && size < least && size > 8 * least * tiny)
            more += 2 * least;            /* some give up below it; what rounds to 0 is 0 */
        more *= 1 + 8 * grid_unit(x->dt); /* the last rounding is of what came out */
        if (!(size + more <= grid_most(x->dt))) {
            ref_open(r, i, k);
            continue;
        }
        ref_widen(r, i, k, more);
    }
}
