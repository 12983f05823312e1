/*
 * expand: rewrites composites (softmax, attention, ..) to primitive nodes, as their step
 * "algo" asks, decomposed by default. A trial without composites passes unchanged.
 * needs: the trial as written. keeps: inputs, outputs, data, the numbering of the schedule.
 * gives: a trial of primitive nodes that lprog owns; one rewrite per composite. Like build,
 * lowering can't stop before them: without them there is nothing to run.
 */
#include <string.h>

#include "lower/expand.h"
#include "lower/passes.h"

static const struct {
    enum op op;
    void (*run)(struct expand *x);
    const char *rule;
} rows[] = {
    { OP_SOFTMAX, expand_softmax, "expand.softmax" },
    { OP_LOGSOFTMAX, expand_logsoftmax, "expand.logsoftmax" },
    { OP_CUMSUM, expand_cumsum, "expand.cumsum" },
    { OP_LAYERNORM, expand_layernorm, "expand.layernorm" },
    { OP_RMSNORM, expand_rmsnorm, "expand.rmsnorm" },
    { OP_ARGMAX, expand_argmax, "expand.argmax" },
    { OP_GATHER, expand_gather, "expand.gather" },
    { OP_CONCAT, expand_concat, "expand.concat" },
    { OP_ASSIGN, expand_assign, "expand.assign" },
    { OP_ATTENTION, expand_attention, "expand.attention" },
};

/* The step that chooses the algorithm of a node, -1 = none. */
static int algo_step(const struct trial *t, int node)
{
    for (int i = 0; i < t->n_step; i++)
        if (t->step[i].kind == STEP_ALGO && t->step[i].node[0] == node)
            return i;
    return -1;
}

/* Flash attention is one kernel: pass build writes its loops. */
static bool stays_whole(const struct trial *t, int node)
{
    int step = algo_step(t, node);

    return step >= 0 && t->step[step].algo == ALGO_FLASH;
}

static void expand_node(struct expand *x, int node)
{
    int step = algo_step(x->from, node);

    x->n = &x->from->prog.node[node];
    x->algo = step >= 0 ? x->from->step[step].algo : ALGO_DECOMPOSED;
    x->block = step >= 0 ? x->from->step[step].n : 0;
    x->dt = dtype_acc(x->n->dt);
    x->block_at = -1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].op == x->n->op) {
            lprog_rewrite(x->l, rows[i].rule, step, -1);
            rows[i].run(x);
        }
    x->map[node] = x->to->prog.n - 1;
}

static void copy_node(struct expand *x, int node)
{
    struct node n = x->from->prog.node[node];

    for (int i = 0; i < n.n_arg; i++)
        if (n.arg[i].node >= 0)
            n.arg[i].node = x->map[n.arg[i].node];
    *prog_add(&x->to->prog, x->l->arena) = n;
    x->map[node] = x->to->prog.n - 1;
}

/* A node, or a part of one, in the expanded program. */
static int map_name(struct expand *x, const struct step *st, int node, const char *part,
                    struct err *e)
{
    const char *name = x->from->prog.node[node].name, *full;
    int at;

    if (!part)
        return x->map[node];
    full = arena_printf(x->l->arena, "%s.%s", name, part);
    at = prog_find(&x->to->prog, full, strlen(full));
    if (at < 0)
        step_error(st, e, "%s has no part %s as it is computed here", name, part);
    return at;
}

static int map_steps(struct expand *x, struct err *e)
{
    const struct trial *f = x->from;
    struct trial *t = x->to;

    t->step = arena_array(x->l->arena, struct step, f->n_step + 1);
    t->n_step = f->n_step;
    for (int i = 0; i < f->n_step; i++) {
        struct step *st = &t->step[i];

        *st = f->step[i];
        for (int k = 0; k < 2; k++) {
            if (st->node[k] >= 0 &&
                (st->node[k] = map_name(x, st, st->node[k], st->part[k], e)) < 0)
                return e->code;
            st->part[k] = NULL;
        }
        for (int k = 0; k < st->n_axis; k++) {
            struct axis *ax = &st->axis[k];

            if ((ax->node = map_name(x, st, ax->node, ax->part, e)) < 0)
                return e->code;
            ax->part = NULL;
        }
    }
    return 0;
}

static void map_rest(struct expand *x)
{
    const struct trial *f = x->from;
    struct trial *t = x->to;

    for (int i = 0; i < f->prog.n_out; i++) {
        struct output *o = prog_add_output(&t->prog, x->l->arena);

        *o = f->prog.out[i];
        o->node = x->map[o->node];
    }
    t->seed = f->seed;
    t->recipe = f->recipe;
    t->n_values = f->n_values;
    t->values = arena_array(x->l->arena, struct values, f->n_values + 1);
    for (int i = 0; i < f->n_values; i++) {
        t->values[i] = f->values[i];
        t->values[i].node = x->map[t->values[i].node];
    }
}

int pass_expand(struct lprog *l, struct err *e)
{
    struct expand x = { .l = l, .from = l->trial };
    const struct prog *p = l->prog;
    int stop = l->stop_after;
    bool any = false;

    for (int i = 0; i < p->n; i++)
        any |= op_is_composite(p->node[i].op);
    if (!any)
        return 0;
    l->stop_after = INT32_MAX;
    x.to = arena_new(l->arena, struct trial);
    x.map = arena_array(l->arena, int, p->n);
    for (int i = 0; i < p->n; i++) {
        if (op_is_composite(p->node[i].op) && !stays_whole(x.from, i))
            expand_node(&x, i);
        else
            copy_node(&x, i);
    }
    l->stop_after = stop;
    if (x.failed)
        return err_set(e, ERR_UNSUPPORTED, "written out in primitive nodes: %s", x.e.msg);
    map_rest(&x);
    if (map_steps(&x, e))
        return e->code;
    l->trial = x.to;
    l->prog = &x.to->prog;
    return 0;
}
