/*
 * What an assign may write over: the storage of its operand, if nobody looks there any more.
 * The operand is computed into storage of its own (form `fresh`). Which nodes lie there too,
 * perhaps: views, casts and copies of it, as some of these do nothing. Where a framework is
 * lazy, whatever is computed from it counts, as it may be computed late; and all of that has to
 * go into the assign. The same as Source.own in scripts/adapters/ops.py.
 */
#include <string.h>

#include "fuzz/python/inner.h"

static bool is_output(const struct prog *p, int node)
{
    for (int k = 0; k < p->n_out; k++)
        if (p->out[k].node == node)
            return true;
    return false;
}

static bool may_alias(const struct node *n)
{
    return op_is_view(n->op) || n->op == OP_CAST || n->op == OP_COPY || n->op == OP_ASSIGN;
}

static bool reads(const struct node *n, const bool *set, int n_arg)
{
    for (int k = 0; k < n->n_arg && k < n_arg; k++)
        if (n->arg[k].node >= 0 && set[n->arg[k].node])
            return true;
    return false;
}

/* Does what `node` is computed from include all of the set? */
static bool needs_all(const struct prog *p, int node, const bool *set, struct arena *a)
{
    bool *need = arena_array(a, bool, p->n);

    need[node] = true;
    for (int i = node; i >= 0; i--) {
        for (int k = 0; need[i] && k < p->node[i].n_arg; k++)
            if (p->node[i].arg[k].node >= 0)
                need[p->node[i].arg[k].node] = true;
        if (set[i] && !need[i])
            return false;
    }
    return true;
}

static bool may_own(const struct prog *p, int node, bool lazy, struct arena *a)
{
    int x = p->node[node].arg[0].node;
    bool *there = arena_array(a, bool, p->n);

    if (op_is_source(p->node[x].op))
        return false;
    there[x] = true;
    for (int i = x + 1; i < node; i++)
        there[i] = lazy ? reads(&p->node[i], there, MAX_ARGS)
                        : may_alias(&p->node[i]) && reads(&p->node[i], there, 1);
    for (int i = x; i < node; i++)
        if (there[i] && is_output(p, i))
            return false;
    for (int i = node + 1; i < p->n; i++)
        if (reads(&p->node[i], there, MAX_ARGS))
            return false;
    return !lazy || needs_all(p, node, there, a);
}

void storage_plan(struct script *x)
{
    const struct prog *p = &x->trial->prog;
    struct piece how;
    bool any = table_form(x->table, "forms", "in_place", &how);

    x->own = arena_array(x->a, bool, p->n);
    x->fresh = arena_array(x->a, bool, p->n);
    for (int i = 0; i < p->n && any; i++)
        if (p->node[i].op == OP_ASSIGN && may_own(p, i, how.s[0] == 'l', x->a)) {
            int to = p->node[i].arg[0].node;

            x->own[i] = true;
            x->fresh[to] = p->node[to].op != OP_ASSIGN; /* whose result is its own anyhow */
        }
}
