/*
 * Nodes and axes that steps name: do they exist, as far as can be said without lowering?
 */
#include "ir/schedule.h"

#include <stdio.h>
#include <string.h>

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

bool schedule_hides(const struct trial *t, const struct axis *ax)
{
    return op_is_composite(t->prog.node[ax->node].op) && (ax->part || ax->role != 'i');
}

int schedule_node(const struct trial *t, const struct step *s, int k, struct err *e)
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

/* What step k splits into .0 and .1, resolved: one axis, or a tile's, whose M and N are split
 * twice. */
static int step_splits(const struct trial *t, const struct step *s, struct axis out[5])
{
    const struct prog *p = &t->prog;
    int n = 0;

    if (s->kind == STEP_SPLIT)
        return axis_resolve(p, &s->axis[0], &out[0]);
    if (s->kind != STEP_TILE || s->part[0])
        return 0;
    for (int a = 0; a < 2; a++) {
        struct axis ax = { .node = s->node[0], .role = 'i' };

        ax.num = p->node[ax.node].sh.rank - 2 + a;
        if (ax.num < 0)
            continue;
        out[n++] = ax;
        ax.path[ax.depth++] = 1;
        out[n++] = ax;
    }
    if (s->n_tile == 3)
        out[n++] = (struct axis){ .node = s->node[0], .role = 'r' };
    return n;
}

/* Does a tile name the axes of a node as only lowering can tell: for tensor cores, or on top
 * of other splits? */
static bool is_tiled_oddly(const struct trial *t, int i, int node)
{
    bool split = false;

    for (int k = 0; k < i; k++) {
        const struct step *s = &t->step[k];

        split |= s->kind == STEP_SPLIT && s->axis[0].node == node;
        if (s->kind == STEP_TILE && s->node[0] == node && (s->mma || split))
            return true;
    }
    return false;
}

int schedule_axis(const struct trial *t, int i, const struct axis *ax, struct err *e)
{
    const struct step *s = &t->step[i];
    char name[3 * MAX_NAME], have[240];
    struct axis want, split[5];
    bool born;

    if (!node_exists(t, ax->node))
        return err_at(e, ERR_INPUT, s->line, 0, "axis of node %d; expected 0 to %d", ax->node,
                      t->prog.n - 1);
    if (schedule_hides(t, ax))
        return 0;
    axis_print(&t->prog, ax, name, sizeof name);
    if (!axis_resolve(&t->prog, ax, &want)) {
        axes_print(&t->prog, ax->node, have, sizeof have);
        return err_at(e, ERR_INPUT, s->line, 0, "no axis %s; expected %s", name, have);
    }
    if (is_fused(t, ax->node) || is_tiled_oddly(t, i, ax->node))
        return 0;
    born = want.depth == 0;
    for (int k = 0; k < i; k++) {
        int n = step_splits(t, &t->step[k], split);

        for (int j = 0; j < n; j++) {
            if (!axis_begins(&split[j], &want))
                continue;
            if (split[j].depth == want.depth)
                return err_at(e, ERR_INPUT, s->line, 0,
                              "axis %s was split before; expected %s.0 or %s.1", name, name,
                              name);
            born = born || split[j].depth + 1 == want.depth;
        }
    }
    if (!born) {
        want.depth--;
        axis_print(&t->prog, &want, have, sizeof have);
        return err_at(e, ERR_INPUT, s->line, 0, "no axis %s; expected a split of %s before it",
                      name, have);
    }
    return 0;
}
