/*
 * What a root, a quotient or an exp wishes its operand to be is carried backwards to an
 * input, through whatever can be undone.
 */
#include <string.h>

#include "judge/interval_inner.h"

/* What x must be for `op x` (or with a literal) to be one of v[0 .. n); in place. */
static bool undo(const struct node *n, double *v, int *count)
{
    bool left = n->n_arg > 1 && n->arg[0].node < 0; /* literal first */
    double lit = left ? n->arg[0].lit : n->arg[1].lit;
    bool both = n->n_arg > 1 && n->arg[0].node >= 0 && n->arg[1].node >= 0;
    int kept = 0;

    if (both && !(n->op == OP_MUL && n->arg[0].node == n->arg[1].node))
        return false;
    for (int k = 0; k < *count; k++) {
        double y = v[k];

        switch ((int)n->op) {
        case OP_NEG:
            y = -y;
            break;
        case OP_ABS:
            if (y < 0)
                continue;
            y = k & 1 ? -y : y;
            break;
        case OP_ADD:
            y -= lit;
            break;
        case OP_SUB:
            y = left ? lit - y : y + lit;
            break;
        case OP_MUL:
            if (both && (y < 0 || fma(sqrt(y), sqrt(y), -y) != 0))
                continue;
            y = both ? (k & 1 ? -1 : 1) * sqrt(y) : y / lit;
            if (!both && (lit == 0 || y * lit != v[k]))
                continue;
            break;
        case OP_DIV:
            if (left || !is_pow2(lit))
                return false;
            y *= lit;
            break;
        case OP_MAX2:
        case OP_MIN2:
            if (n->op == OP_MAX2 ? y <= lit : y >= lit)
                continue;
            break;
        case OP_CAST:
        case OP_COPY:
            break;
        default:
            if (!op_is_view(n->op))
                return false;
        }
        if (y == 0 || exact_grid(y) >= -8)
            v[kept++] = y;
    }
    *count = kept;
    return kept >= 2;
}

static void wish(struct intervals *x, int at, const double *wanted, int n)
{
    double v[ALPHABET];

    memcpy(v, wanted, (size_t)n * sizeof *v);
    while (x->prog->node[at].op != OP_INPUT) {
        const struct node *p = &x->prog->node[at];

        if (p->n_arg < 1 || op_is_reduce(p->op) || op_is_composite(p->op) || !undo(p, v, &n))
            return;
        at = p->arg[p->arg[0].node >= 0 ? 0 : 1].node;
    }
    if (x->alpha[at].n || x->alpha[at].index)
        return;
    for (int k = 0; k < n; k++)
        if (dtype_info(x->prog->node[at].dt)->class == DTC_FLOAT
                ? exact_round(x->prog->node[at].dt, v[k]) != v[k]
                : v[k] != rint(v[k]))
            return;
    memcpy(x->alpha[at].v, v, (size_t)n * sizeof *v);
    x->alpha[at].n = n;
}

void interval_wishes(struct intervals *x)
{
    static const double squares[] = { 1, 4, 9, 16, 25, 36, 49, 64 }, selects[] = { 0, -1024 };
    static const double powers[] = { 1, 2, -1, 4, -2, 8, -4, 0.5 };

    for (int i = x->prog->n - 1; i >= 0; i--) {
        const struct node *n = &x->prog->node[i];

        if (!x->live[i] || dtype_info(n->dt)->class != DTC_FLOAT)
            continue;
        if (n->op == OP_SQRT || n->op == OP_RSQRT)
            wish(x, n->arg[0].node, squares, 8);
        else if (n->op == OP_EXP || n->op == OP_EXP2)
            wish(x, n->arg[0].node, selects, 2);
        else if (n->op == OP_RECIP)
            wish(x, n->arg[0].node, powers, 8);
        else if (n->op == OP_DIV && n->arg[1].node >= 0)
            wish(x, n->arg[1].node, powers, 8);
    }
}
