/*
 * What can be said of a schedule without lowering: nodes and axes exist, counts are in range,
 * steps stand in pass order. Whether a step is legal where it stands is for the passes to say.
 */
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "ir/check.h"

/* Passes that have steps, in the order in which they run. */
static const char *const pass_order[] = { "expand", "fuse",   "split",     "reorder",
                                          "splitk", "unroll", "vectorize", "plan" };

static int pass_rank(enum step_kind kind)
{
    for (size_t i = 0; i < ARRAY_LEN(pass_order); i++)
        if (strcmp(pass_order[i], step_info(kind)->pass) == 0)
            return (int)i;
    BUG("step %s is of pass %s, which has no place", step_info(kind)->name,
        step_info(kind)->pass);
}

static bool node_exists(const struct trial *t, int node)
{
    return node >= 0 && node < t->prog.n;
}

/* Fused kernels know an axis under several names, so there only lowering can tell which
 * splits an axis has seen. */
static bool is_fused(const struct trial *t, int node)
{
    for (int i = 0; i < t->n_step && t->step[i].kind <= STEP_FUSE; i++)
        if (t->step[i].kind == STEP_FUSE &&
            (t->step[i].node[0] == node || t->step[i].node[1] == node))
            return true;
    return false;
}

/* Which parts a composite has, and what its last one reduces, only lowering can tell. */
static bool is_hidden(const struct trial *t, const struct axis *ax)
{
    return op_is_composite(t->prog.node[ax->node].op) && (ax->part || ax->role != 'i');
}

/* Nodes of a step: node k exists, and only a composite has parts. */
static int check_node(const struct trial *t, const struct step *s, int k, struct err *e)
{
    const char *name = step_info(s->kind)->name;
    const struct node *n;

    if (!node_exists(t, s->node[k]))
        return err_at(e, ERR_INPUT, s->line, 0, "%s of node %d; expected 0 to %d", name,
                      s->node[k], t->prog.n - 1);
    n = &t->prog.node[s->node[k]];
    if (s->part[k] && !op_is_composite(n->op))
        return err_at(e, ERR_INPUT, s->line, 0,
                      "%s of part %s.%s; expected a composite, as %s "
                      "has no parts",
                      name, n->name, s->part[k], op_info(n->op)->name);
    return 0;
}

/* "s.i0 to s.i1, s.r0 and s.m s.n s.k" */
static void axes_print(const struct prog *p, int node, char *buf, size_t n)
{
    const struct node *nd = &p->node[node];
    struct axis ax = { .node = node, .role = 'r' }, out;
    int r = 0;
    size_t at;

    for (ax.num = 0; axis_resolve(p, &ax, &out); ax.num++)
        r++;
    if (nd->sh.rank == 0 && r == 0) {
        snprintf(buf, n, "an axis of a node with axes (%s has none)", nd->name);
        return;
    }
    at = (size_t)snprintf(buf, n, "one of");
    for (int i = 0; i < nd->sh.rank && at < n; i++)
        at += (size_t)snprintf(buf + at, n - at, " %s.i%d", nd->name, i);
    for (int i = 0; i < r && at < n; i++)
        at += (size_t)snprintf(buf + at, n - at, " %s.r%d", nd->name, i);
    if (nd->op == OP_MATMUL && at < n)
        snprintf(buf + at, n - at, " %s.m %s.n %s.k", nd->name, nd->name, nd->name);
}

/* Is b the axis a, or what a became part of after splits? Both resolved. */
static bool axis_begins(const struct axis *a, const struct axis *b)
{
    return a->node == b->node && a->role == b->role && a->num == b->num &&
           a->depth <= b->depth && memcmp(a->path, b->path, (size_t)a->depth) == 0;
}

static int check_axis(const struct trial *t, int i, const struct axis *ax, struct err *e)
{
    const struct step *s = &t->step[i];
    char name[3 * MAX_NAME], have[240];
    struct axis want, split;
    bool born;

    if (!node_exists(t, ax->node))
        return err_at(e, ERR_INPUT, s->line, 0, "axis of node %d; expected 0 to %d", ax->node,
                      t->prog.n - 1);
    if (is_hidden(t, ax))
        return 0;
    axis_print(&t->prog, ax, name, sizeof name);
    if (!axis_resolve(&t->prog, ax, &want)) {
        axes_print(&t->prog, ax->node, have, sizeof have);
        return err_at(e, ERR_INPUT, s->line, 0, "no axis %s; expected %s", name, have);
    }
    if (is_fused(t, ax->node))
        return 0;
    born = want.depth == 0;
    for (int k = 0; k < i; k++) {
        if (t->step[k].kind != STEP_SPLIT || t->step[k].axis[0].node != want.node ||
            !axis_resolve(&t->prog, &t->step[k].axis[0], &split) || !axis_begins(&split, &want))
            continue;
        if (split.depth == want.depth)
            return err_at(e, ERR_INPUT, s->line, 0,
                          "axis %s was split before; expected %s.0 or %s.1", name, name, name);
        born = born || split.depth + 1 == want.depth;
    }
    if (!born) {
        want.depth--;
        axis_print(&t->prog, &want, have, sizeof have);
        return err_at(e, ERR_INPUT, s->line, 0, "no axis %s; expected a split of %s before it",
                      name, have);
    }
    return 0;
}

static int check_count(const struct step *s, int64_t low, int64_t high, struct err *e)
{
    if (s->n >= low && s->n <= high)
        return 0;
    return err_at(e, ERR_INPUT, s->line, 0, "%s by %lld; expected %lld to %lld",
                  step_info(s->kind)->name, (long long)s->n, (long long)low, (long long)high);
}

static int check_fuse(const struct trial *t, const struct step *s, int *word, struct err *e)
{
    for (*word = 1; *word <= 2; ++*word)
        if (check_node(t, s, *word - 1, e))
            return e->code;
    if (s->node[0] != s->node[1] || !part_equal(s->part[0], s->part[1]))
        return 0;
    *word = 2;
    return err_at(e, ERR_INPUT, s->line, 0, "fuse of %s with itself; expected another node",
                  t->prog.node[s->node[0]].name);
}

static int check_reorder(const struct trial *t, int i, int *word, struct err *e)
{
    const struct step *s = &t->step[i];
    char name[3 * MAX_NAME];

    *word = 1;
    if (check_node(t, s, 0, e))
        return e->code;
    if (s->n_axis < 1 || s->n_axis > MAX_STEP_AXES)
        return err_at(e, ERR_INPUT, s->line, 0, "reorder of %d axes; expected 1 to %d",
                      s->n_axis, MAX_STEP_AXES);
    for (int k = 0; k < s->n_axis; k++) {
        struct axis a, b;

        *word = 2 + k;
        if (check_axis(t, i, &s->axis[k], e))
            return e->code;
        if (!axis_resolve(&t->prog, &s->axis[k], &a))
            a = s->axis[k];
        for (int j = 0; j < k; j++) {
            if (!axis_resolve(&t->prog, &s->axis[j], &b))
                b = s->axis[j];
            if (!axis_equal(&a, &b))
                continue;
            axis_print(&t->prog, &s->axis[k], name, sizeof name);
            return err_at(e, ERR_INPUT, s->line, 0, "axis %s stands twice; expected each once",
                          name);
        }
    }
    return 0;
}

/* Steps of the plan are settings: one line each. */
static int check_once(const struct trial *t, int i, struct err *e)
{
    const struct step *s = &t->step[i];

    for (int k = 0; k < i; k++)
        if (t->step[k].kind == s->kind)
            return err_at(e, ERR_INPUT, s->line, 0, "second %s step; expected at most one",
                          step_info(s->kind)->name);
    return 0;
}

static int check_splitk(const struct trial *t, const struct step *s, int *word, struct err *e)
{
    struct axis ax = { .node = s->node[0], .role = 'r' }, out;

    *word = 1;
    if (check_node(t, s, 0, e))
        return e->code;
    if (!is_hidden(t, &ax) && !axis_resolve(&t->prog, &ax, &out))
        return err_at(e, ERR_INPUT, s->line, 0,
                      "splitk of %s, which reduces nothing; expected a reduction or matmul",
                      t->prog.node[s->node[0]].name);
    *word = 2;
    return check_count(s, 1, 4096, e);
}

/* The algorithm of a composite: one line each, none of a part. */
static int check_algo(const struct trial *t, int i, int *word, struct err *e)
{
    const struct step *s = &t->step[i];
    const struct node *n;

    *word = 1;
    if (check_node(t, s, 0, e))
        return e->code;
    n = &t->prog.node[s->node[0]];
    if (!op_is_composite(n->op))
        return err_at(e, ERR_INPUT, s->line, 0, "algo of %s; expected a composite",
                      op_info(n->op)->name);
    if (s->part[0])
        return err_at(e, ERR_INPUT, s->line, 0,
                      "algo of part %s.%s; expected a whole composite", n->name, s->part[0]);
    for (int k = 0; k < i; k++)
        if (t->step[k].kind == STEP_ALGO && t->step[k].node[0] == s->node[0])
            return err_at(e, ERR_INPUT, s->line, 0,
                          "second algo step of %s; expected at most one", n->name);
    *word = 2;
    if (!algo_takes(s->algo, n->op))
        return err_at(e, ERR_INPUT, s->line, 0, "%s %s; expected decomposed%s",
                      algo_name(s->algo), op_info(n->op)->name,
                      algo_takes(ALGO_ONLINE, n->op) ? " or online" : "");
    *word = 3;
    return s->algo == ALGO_DECOMPOSED ? 0 : check_count(s, 1, 4096, e);
}

int step_check(const struct trial *t, int i, int *word, struct err *e)
{
    const struct step *s = &t->step[i];

    *word = 0;
    if (i >= MAX_STEPS)
        return err_at(e, ERR_INPUT, s->line, 0, "too many steps; expected at most %d",
                      MAX_STEPS);
    if (i > 0 && pass_rank(t->step[i - 1].kind) > pass_rank(s->kind))
        return err_at(
            e, ERR_INPUT, s->line, 0,
            "%s after %s; expected steps in pass order: algo fuse split reorder splitk "
            "unroll vectorize plan",
            step_info(s->kind)->name, step_info(t->step[i - 1].kind)->name);
    *word = 1;
    switch (s->kind) {
    case STEP_ALGO:
        return check_algo(t, i, word, e);
    case STEP_FUSE:
        return check_fuse(t, s, word, e);
    case STEP_REORDER:
        return check_reorder(t, i, word, e);
    case STEP_SPLITK:
        return check_splitk(t, s, word, e);
    case STEP_SPLIT:
    case STEP_UNROLL:
    case STEP_VECTORIZE:
        if (check_axis(t, i, &s->axis[0], e))
            return e->code;
        *word = 2;
        if (s->kind == STEP_SPLIT)
            return check_count(s, 1, 4096, e);
        return s->kind == STEP_VECTORIZE ? check_count(s, 2, 64, e) : 0;
    case STEP_PLAN:
    case STEP_INPLACE:
        *word = 0;
        return check_once(t, i, e);
    case STEP_COUNT:
        break;
    }
    BUG("step kind %d", (int)s->kind);
}

int trial_check(const struct trial *t, struct err *e)
{
    int word, missing;
    int64_t value;

    if (prog_check(&t->prog, e))
        return e->code;
    for (int i = 0; i < t->n_step; i++)
        if (step_check(t, i, &word, e))
            return e->code;
    for (int i = 0; i < t->n_values; i++)
        if (values_check(t, i, &value, e))
            return e->code;
    if ((unsigned)t->recipe >= RECIPE_COUNT)
        return err_set(e, ERR_INPUT, "recipe %d; expected 0 to %d", (int)t->recipe,
                       RECIPE_COUNT - 1);
    if ((missing = values_missing(t)) >= 0)
        return err_at(e, ERR_INPUT, t->prog.node[missing].line, 0,
                      "no values of %s; expected a values line for every input, as the recipe "
                      "is exact",
                      t->prog.node[missing].name);
    return 0;
}
