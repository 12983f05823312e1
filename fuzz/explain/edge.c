#include "fuzz/explain/edge.h"

#include <stdio.h>
#include <string.h>

int edge_list(const struct prog *p, struct edge **list, struct arena *a)
{
    bool *live = arena_array(a, bool, p->n + 1);
    int n = 0;

    prog_live(p, live);
    *list = arena_array(a, struct edge, p->n * MAX_ARGS + 1);
    for (int i = 0; i < p->n; i++)
        for (int j = 0; live[i] && j < p->node[i].n_arg; j++)
            if (p->node[i].arg[j].node >= 0)
                (*list)[n++] = (struct edge){ i, j, p->node[i].arg[j].node };
    return n;
}

static void unique_name(const struct prog *p, char *name, size_t n)
{
    int k = 0;

    do
        snprintf(name, n, "copied%d", k++);
    while (prog_find(p, name, strlen(name)) >= 0);
}

void steps_keep_set(struct trial *t, struct arena *a)
{
    struct step *all = t->step;
    int n = t->n_step;

    t->n_step = t->cap_step = 0;
    t->step = NULL;
    for (int k = 0; k < n; k++)
        if (all[k].kind == STEP_SET)
            *trial_add_step(t, a) = all[k];
}

/* Whatever speaks of node i or a later one now means the next. */
static void move_down(struct trial *t, int i)
{
    for (int k = 0; k < t->prog.n_out; k++)
        t->prog.out[k].node += t->prog.out[k].node >= i;
    for (int k = 0; k < t->n_values; k++)
        t->values[k].node += t->values[k].node >= i;
    for (int k = 0; k < t->n_step; k++) {
        struct step *s = &t->step[k];

        for (int m = 0; m < 2; m++)
            s->node[m] += s->node[m] >= i;
        for (int m = 0; m < s->n_axis; m++)
            s->axis[m].node += s->axis[m].node >= i;
    }
}

struct trial *edge_copied(const struct trial *t, const struct edge *e, bool schedule,
                          struct arena *a)
{
    struct trial *x = trial_clone(t, a);
    const struct node *from = &t->prog.node[e->from];
    struct node c = {
        .op = OP_COPY, .dt = from->dt, .acc = from->dt, .sh = from->sh, .n_arg = 1
    };
    char name[MAX_NAME];

    unique_name(&t->prog, name, sizeof name);
    c.name = arena_strdup(a, name);
    for (int k = 0; k < MAX_ARGS; k++)
        c.arg[k].node = -1;
    c.arg[0].node = e->from;
    if (!schedule)
        steps_keep_set(x, a);
    prog_add(&x->prog, a);
    for (int k = x->prog.n - 1; k > e->to; k--) {
        x->prog.node[k] = x->prog.node[k - 1];
        for (int m = 0; m < x->prog.node[k].n_arg; m++)
            if (x->prog.node[k].arg[m].node >= e->to)
                x->prog.node[k].arg[m].node++;
    }
    x->prog.node[e->to] = c;
    x->prog.node[e->to + 1].arg[e->operand].node = e->to;
    move_down(x, e->to);
    return x;
}
