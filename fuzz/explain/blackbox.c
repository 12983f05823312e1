#include "fuzz/explain/blackbox.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/explain/edge.h"
#include "fuzz/explain/probe.h"
#include "ir/text.h"
#include "run/caps.h"

/* Seconds that a hang is waited for when it is asked again and again. */
enum { HANG_SECONDS = 4 };

const struct backend *blackbox_find(const char *backend)
{
    const struct backend *b = backend_find(backend);

    return b && b->caps ? b : NULL;
}

/* A copy that stays; equal texts are one. Causes hold static strings, and these few are as
 * good as that. */
static const char *stay(const char *text)
{
    static char **kept;
    static int n;

    for (int i = 0; i < n; i++)
        if (!strcmp(kept[i], text))
            return kept[i];
    kept = must(realloc(kept, (size_t)(n + 1) * sizeof *kept));
    kept[n] = must(strdup(text));
    return kept[n++];
}

struct search {
    struct checker *ck;
    struct check_opts o; /* the guilty backend alone */
    const char *group;   /* kind group that is looked for */
    struct arena a;
    struct check c;
};

/* Is this trial a finding of the same group? */
static bool fails(struct search *s, const struct trial *t)
{
    struct err e = { 0 };

    return !check_trial(s->ck, t, &s->o, &s->c, &e) && verdict_is_finding(s->c.kind) &&
           !strcmp(kind_group(s->c.kind), s->group);
}

static bool passes_now(struct search *s, const struct trial *t)
{
    struct err e = { 0 };

    return !check_trial(s->ck, t, &s->o, &s->c, &e) &&
           (s->c.kind == VK_PASS || s->c.kind == VK_SUSPECT || s->c.kind == VK_UNTRUSTED);
}

static struct node *add_copy(struct trial *t, const struct node *n, struct arena *a)
{
    struct node *x = prog_add(&t->prog, a);

    *x = *n;
    x->line = 0;
    return x;
}

/* Element k of an evaluated node as a values line has it. What the reference doesn't know is
 * any number. */
static double given(const struct want_node *w, enum dtype dt, int64_t k)
{
    struct val v;

    if (w->word)
        return dt == DT_BOOL ? (double)(w->word[k] & 1) : (double)(int32_t)w->word[k];
    v = judge_value(w, k);
    return v.e < 0 ? 1 : v.v;
}

static void give_values(struct trial *t, int node, const struct want_node *w, struct arena *a)
{
    struct values *v = arena_push(a, t->values, t->n_values, t->cap_values);
    enum dtype dt = t->prog.node[node].dt;

    *v = (struct values){ .node = node, .n = w->n, .v = arena_array(a, double, w->n + 1) };
    for (int64_t k = 0; k < w->n; k++)
        v->v[k] = given(w, dt, k);
}

/* Operand j of node i in the trial of that node alone: an input with its values, or the source
 * that it is. */
static int operand(struct trial *x, const struct trial *t, const struct want *w, int node,
                   struct arena *a)
{
    const struct node *n = &t->prog.node[node];
    int at = prog_find(&x->prog, n->name, strlen(n->name));

    if (at >= 0)
        return at;
    at = x->prog.n;
    if (op_is_source(n->op)) {
        add_copy(x, n, a);
    } else {
        struct node *in = prog_add(&x->prog, a);

        in->op = OP_INPUT;
        in->name = n->name;
        in->dt = in->acc = n->dt;
        in->sh = n->sh;
    }
    if (x->prog.node[at].op == OP_INPUT)
        give_values(x, at, &w->node[node], a);
    return at;
}

static struct trial *alone(const struct trial *t, const struct want *w, int i, struct arena *a)
{
    struct trial *x = arena_new(a, struct trial);
    struct node n = t->prog.node[i];
    struct output *out;

    x->seed = t->seed;
    x->recipe = t->recipe;
    x->step = t->step;
    x->n_step = t->n_step;
    steps_keep_set(x, a);
    for (int j = 0; j < n.n_arg; j++)
        if (n.arg[j].node >= 0)
            n.arg[j].node = operand(x, t, w, n.arg[j].node, a);
    add_copy(x, &n, a);
    out = prog_add_output(&x->prog, a);
    out->node = x->prog.n - 1;
    for (int k = 0; k < t->prog.n_out; k++)
        if (t->prog.out[k].node == i)
            out->layout = t->prog.out[k].layout;
    return x;
}

/* The first node that fails by itself, or -1. */
static int guilty_node(struct search *s, const struct trial *t)
{
    struct want *w = judge_want(t, AL_IEEE, &s->a);
    bool *live = arena_array(&s->a, bool, t->prog.n + 1);

    prog_live(&t->prog, live);
    for (int i = 0; i < t->prog.n; i++)
        if (live[i] && !op_is_source(t->prog.node[i].op) && fails(s, alone(t, w, i, &s->a)))
            return i;
    return -1;
}

/* The first edge whose copy repairs the answer: false = none does. */
static bool guilty_edge(struct search *s, const struct trial *t, struct edge *guilty)
{
    struct edge *edge;
    int n = edge_list(&t->prog, &edge, &s->a);

    for (int k = 0; k < n; k++) {
        enum op from = t->prog.node[edge[k].from].op, to = t->prog.node[edge[k].to].op;

        if (from == OP_CONST || from == OP_COPY || to == OP_COPY)
            continue;
        if (passes_now(s, edge_copied(t, &edge[k], false, &s->a))) {
            *guilty = edge[k];
            return true;
        }
    }
    return false;
}

/* The first `set` without which the answer is right, or -1. */
static int guilty_set(struct search *s, const struct trial *t)
{
    for (int k = 0; k < t->n_step; k++) {
        struct trial *x;

        if (t->step[k].kind != STEP_SET)
            continue;
        x = trial_clone(t, &s->a);
        trial_drop_step(x, k);
        if (passes_now(s, x))
            return k;
    }
    return -1;
}

static void narrow(struct search *s, const struct backend *b, const struct verdict *v)
{
    s->o.backend[0] = b;
    s->o.n_backend = 1;
    s->o.algebra[AL_RING] = false;
    s->o.algebra[AL_IEEE] = true;
    s->o.hasty = true;
    if (!v->exact)
        s->o.exact_sets = 0;
    if (v->kind == VK_HANG && s->o.deadline_s > HANG_SECONDS)
        s->o.deadline_s = HANG_SECONDS;
}

int blackbox_cause(struct checker *ck, const struct trial *t, const struct check_opts *o,
                   const struct verdict *v, struct cause *out, struct err *e)
{
    const struct backend *b = blackbox_find(v->backend);
    struct search *s = calloc(1, sizeof *s);
    const struct verdict was = *v; /* it may live in a check that we overwrite */
    struct exact *x = NULL;
    const char *why;
    char text[128];
    struct edge guilty;
    int node;

    if (!b || !s)
        BUG("no black box '%s'", was.backend);
    (void)e;
    *s = (struct search){ .ck = ck, .o = *o, .group = kind_group(was.kind) };
    arena_init(&s->a);
    narrow(s, b, &was);
    snprintf(text, sizeof text, "%s:%s", b->group, b->caps->name);
    *out = (struct cause){ .kind = was.kind,
                           .kind_group = s->group,
                           .backend = was.backend,
                           .backend_group = stay(text),
                           .pass = "program",
                           .rule = stay(was.ran),
                           .step = -1,
                           .kernel = -1,
                           .node = -1 };
    if (was.exact)
        x = exact_make(t, was.exact - 1, &s->a, &why);
    node = guilty_node(s, x ? x->t : t);
    if (node >= 0) {
        out->node = node;
        out->pass = op_info(t->prog.node[node].op)->name;
        if (s->c.first >= 0 && *s->c.verdict[s->c.first].ran)
            out->rule = stay(s->c.verdict[s->c.first].ran);
    } else if (!strcmp(s->group, "value") && guilty_edge(s, t, &guilty)) {
        const struct node *n = t->prog.node;

        out->node = guilty.to;
        snprintf(text, sizeof text, "%s>%s", op_info(n[guilty.from].op)->name,
                 op_info(n[guilty.to].op)->name);
        out->pass = stay(text);
    }
    out->step = guilty_set(s, t);
    arena_release(&s->a);
    free(s);
    return 0;
}

static bool has_empty(const struct prog *p)
{
    for (int i = 0; i < p->n; i++)
        if (shape_count(&p->node[i].sh) == 0)
            return true;
    return false;
}

static bool has_strides(const struct prog *p)
{
    for (int i = 0; i < p->n; i++)
        if (p->node[i].layout.given)
            return true;
    for (int i = 0; i < p->n_out; i++)
        if (p->out[i].layout.given)
            return true;
    return false;
}

static bool has_special(const struct trial *t)
{
    if (t->recipe == RECIPE_SPECIAL && t->n_values == 0)
        return true;
    for (int i = 0; i < t->n_values; i++)
        for (int64_t k = 0; k < t->values[i].n; k++)
            if (!isfinite(t->values[i].v[k]))
                return true;
    return false;
}

void blackbox_tags(const struct cause *c, const struct trial *t, char *buf, size_t n)
{
    const struct prog *p = &t->prog;
    const struct node *x = &p->node[c->node >= 0 && c->node < p->n ? c->node : p->out[0].node];

    snprintf(buf, n, "%s%s%s%s", dtype_info(caps_dtype(p, x))->name,
             has_empty(p) ? " empty" : "", has_strides(p) ? " strided" : "",
             has_special(t) ? " special" : "");
}

void blackbox_explain(const struct cause *c, const struct trial *t, struct arena *a,
                      struct explanation *x)
{
    struct str s = { 0 };

    if (c->node >= 0 && c->node < t->prog.n)
        node_print(&t->prog, c->node, &s);
    if (c->node < 0)
        str_puts(&s, "no node alone is wrong, and no copy on an edge repairs the answer");
    else if (strchr(c->pass, '>'))
        str_puts(&s, ": a copy of its operand, inserted on this edge, repairs the answer");
    else
        str_puts(&s, ": wrong by itself, with its operands given as inputs");
    x->note = str_keep(&s, a);
}
