/*
 * judge_untrusted: a tester that would also pass a kernel which computes nothing has tested
 * nothing. Every null kernel is tried on every output, in every algebra, by the rule that
 * judges real ones (judge/element.h); it is caught if one element is wrong.
 */
#include "base/bug.h"
#include "ir/data.h"
#include "judge/element.h"

enum { NULL_ZEROS, NULL_ONES, NULL_POISON, NULL_COPY };

/* An element that is stored the same everywhere. */
static void constant_element(int kernel, enum dtype dt, enum algebra al, unsigned char *dst)
{
    memset(dst, kernel == NULL_POISON ? POISON_BYTE : 0, MAX_BYTES);
    if (kernel != NULL_ONES)
        return;
    if (al == AL_IEEE && dtype_info(dt)->class == DTC_FLOAT)
        grid_store(dt, 1, dst);
    else
        *dst = 1; /* little-endian */
}

static bool constant_caught(const struct want *w, int kernel)
{
    const struct prog *p = &w->trial->prog;
    const struct judge_opts bound = { 0 };
    unsigned char got[MAX_BYTES];

    for (int i = 0; i < p->n_out; i++) {
        int node = p->out[i].node;
        struct rule r = rule_of(w, node, &bound);

        constant_element(kernel, p->node[node].dt, w->algebra, got);
        for (int64_t k = 0; k < r.w->n; k++)
            if (judge_element(&r, k, got) == IS_WRONG)
                return true;
    }
    return false;
}

/* Element k of an evaluated node as it is stored. */
static void stored(const struct want_node *x, enum dtype dt, int64_t k, unsigned char *dst)
{
    memset(dst, 0, MAX_BYTES);
    if (x->ieee || x->wide)
        grid_store(dt, judge_value(x, k).v, dst);
    else
        memcpy(dst, &x->word[k], 4); /* little-endian: a bool is the first byte */
}

/* The outputs get the elements of an input, where dtype and size allow it; others nothing. */
static bool copy_caught(const struct want *w, int input)
{
    const struct prog *p = &w->trial->prog;
    const struct judge_opts bound = { 0 };
    const struct want_node *x = &w->node[input];
    unsigned char got[MAX_BYTES];

    for (int i = 0; i < p->n_out; i++) {
        int node = p->out[i].node;
        struct rule r = rule_of(w, node, &bound);
        bool fits = p->node[node].dt == p->node[input].dt && x->n >= r.w->n;

        memset(got, POISON_BYTE, sizeof got);
        for (int64_t k = 0; k < r.w->n; k++) {
            if (fits)
                stored(x, p->node[input].dt, k, got);
            if (judge_element(&r, k, got) == IS_WRONG)
                return true;
        }
    }
    return false;
}

/* Does a view or copy hand on its operand's elements, all of them in their order? */
static bool keeps_order(const struct prog *p, const struct node *x)
{
    const struct shape *o = &p->node[x->arg[0].node].sh;
    int last = -1;

    if (x->op == OP_EXPAND)
        return shape_count(&x->sh) == shape_count(o);
    if (x->op == OP_REPEAT) /* once each, or nothing at all */
        return shape_count(&x->sh) == shape_count(o);
    if (x->op == OP_PAD || x->op == OP_SLICE)
        if (!shape_equal(&x->sh, o))
            return false;
    for (int a = 0; a < x->sh.rank; a++) {
        if (x->sh.dim[a] == 1)
            continue;
        if (x->op == OP_SLICE && x->by[a] < 0)
            return false;
        if (x->op == OP_ROLL && x->sh.dim[a] > 0 && x->lo[a] % x->sh.dim[a] != 0)
            return false;
        if (x->op == OP_PERMUTE && x->perm[a] < last)
            return false;
        last = x->perm[a];
    }
    return true; /* a reshape or copy always does */
}

/* Is every output just this input? Then copying it is right, and no null kernel. */
static bool is_identity(const struct prog *p, int input)
{
    for (int i = 0; i < p->n_out; i++) {
        int node = p->out[i].node;

        while (op_is_view(p->node[node].op) || p->node[node].op == OP_COPY) {
            if (!keeps_order(p, &p->node[node]))
                return false;
            node = p->node[node].arg[0].node;
        }
        if (node != input)
            return false;
    }
    return true;
}

static bool nothing_judged(const struct want *const *w, int n_want)
{
    for (int j = 0; j < n_want; j++)
        for (int i = 0; i < w[j]->trial->prog.n_out; i++)
            if (w[j]->node[w[j]->trial->prog.out[i].node].n)
                return false;
    return true;
}

bool judge_untrusted(const struct want *const *w, int n_want, const char **which)
{
    static const char *const name[] = { "zeros", "ones", "untouched memory" };
    const struct prog *p = &w[0]->trial->prog;
    bool caught;

    *which = "nothing to judge";
    if (nothing_judged(w, n_want))
        return true;
    for (int kernel = NULL_ZEROS; kernel < NULL_COPY; kernel++) {
        caught = false;
        for (int j = 0; j < n_want && !caught; j++)
            caught = constant_caught(w[j], kernel);
        *which = name[kernel];
        if (!caught)
            return true;
    }
    *which = "a copy of an input";
    for (int i = 0; i < p->n; i++) {
        if (p->node[i].op != OP_INPUT || !w[0]->node[i].n || is_identity(p, i))
            continue;
        caught = false;
        for (int j = 0; j < n_want && !caught; j++)
            caught = copy_caught(w[j], i);
        if (!caught)
            return true;
    }
    *which = NULL;
    return false;
}
