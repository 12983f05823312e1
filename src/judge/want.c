/*
 * judge_want: every node that an output depends on, in program order, each from its
 * definition and from nothing but the values of its operands.
 */
#include "base/bug.h"
#include "ir/data.h"
#include "judge/ref.h"

void ref_vals(const struct ref *r, const struct arg *a, struct vals *v)
{
    if (a->node >= 0) {
        v->p = r->want->node[a->node].ieee;
        v->step = 1;
        v->grade = r->grade[a->node];
        return;
    }
    *v = (struct vals){ .lit = val_exact((double)(float)a->lit) };
    v->grade = v->lit.v == rint(v->lit.v) ? GRADE_INTEGER : GRADE_EXACT;
    v->p = &v->lit;
}

void ref_words(const struct ref *r, const struct arg *a, enum dtype dt, struct words *w)
{
    const struct want_node *n;

    if (a->node >= 0) {
        n = &r->want->node[a->node];
        *w = (struct words){ n->word, 1, n->unsure, 0 };
        return;
    }
    *w = (struct words){ .lit = (uint32_t)(int64_t)a->lit };
    if (dt == DT_BOOL)
        w->lit = a->lit != 0;
    if (dt == DT_F32)
        w->lit = ring_literal((double)(float)a->lit);
    w->p = &w->lit;
}

static void input(struct ref *r, int i)
{
    struct want_node *w = &r->want->node[i];
    enum dtype dt = r->prog->node[i].dt;
    void *bits = arena_alloc_array(r->arena, (size_t)w->n, (size_t)dtype_info(dt)->bytes, 4);

    data_dense(r->want->trial, i, r->want->algebra, bits);
    if (!ref_is_word(r, i)) {
        const float *f = bits;
        bool integer = true;

        w->ieee = arena_array(r->arena, struct val, w->n);
        for (int64_t k = 0; k < w->n; k++)
            w->ieee[k] = val_exact((double)f[k]);
        for (int64_t k = 0; integer && k < w->n; k++)
            integer = w->ieee[k].v == rint(w->ieee[k].v);
        r->grade[i] = integer ? GRADE_INTEGER : GRADE_EXACT;
        return;
    }
    if (dt != DT_BOOL) {
        w->word = bits;
        return;
    }
    w->word = arena_array(r->arena, uint32_t, w->n);
    for (int64_t k = 0; k < w->n; k++)
        w->word[k] = ((const unsigned char *)bits)[k];
}

/* const and iota, as numbers first */
static void source(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    int64_t inner = 1, turn = 1;
    struct vals v;
    struct words u;

    if (x->op == OP_IOTA) {
        turn = x->sh.dim[x->axis];
        for (int a = x->axis + 1; a < x->sh.rank; a++)
            inner *= x->sh.dim[a];
    }
    r->grade[i] = GRADE_INTEGER;
    if (ref_is_word(r, i))
        w->word = arena_array(r->arena, uint32_t, w->n);
    else
        w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t k = 0; k < w->n; k++) {
        double number = x->op == OP_IOTA ? (double)(k / inner % turn) : x->value;

        if (w->word) {
            ref_words(r, &(struct arg){ -1, number }, x->dt, &u);
            w->word[k] = u.lit;
        } else {
            ref_vals(r, &(struct arg){ -1, number }, &v);
            w->ieee[k] = v.lit;
            r->grade[i] = v.grade;
        }
    }
}

/* f32 results in ieee, and what is decided by f32 operands there. */
static void bound_node(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];

    if (x->dt != DT_F32)
        ref_bound_to_word(r, i);
    else if (x->op == OP_WHERE)
        ref_bound_where(r, i);
    else if (x->op == OP_MATMUL)
        ref_bound_matmul(r, i);
    else if (x->op == OP_MAX || x->op == OP_MIN)
        ref_bound_max(r, i);
    else if (op_is_reduce(x->op))
        ref_bound_sum(r, i);
    else
        ref_bound_each(r, i);
}

static void word_node(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];

    if (x->op == OP_MATMUL)
        ref_word_matmul(r, i);
    else if (op_is_reduce(x->op))
        ref_word_reduce(r, i);
    else
        ref_word_each(r, i);
}

/* Does node i compute with f32 values: its result or an operand is one? */
static bool is_bound(const struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];

    if (!ref_is_word(r, i))
        return true;
    for (int j = 0; j < x->n_arg; j++)
        if (x->arg[j].node >= 0 && !ref_is_word(r, x->arg[j].node))
            return true;
    return false;
}

static void evaluate(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];

    r->want->node[i].n = shape_count(&x->sh);
    if (x->op == OP_INPUT)
        input(r, i);
    else if (op_is_source(x->op))
        source(r, i);
    else if (op_is_view(x->op) || x->op == OP_COPY)
        ref_view(r, i);
    else if (is_bound(r, i))
        bound_node(r, i);
    else
        word_node(r, i);
}

struct want *judge_want(const struct trial *t, enum algebra al, struct arena *a)
{
    struct want *w = arena_new(a, struct want);
    struct ref r = { &t->prog, a, w, NULL, al == AL_RING };
    bool *live = arena_array(a, bool, t->prog.n);

    w->trial = t;
    w->algebra = al;
    w->node = arena_array(a, struct want_node, t->prog.n);
    r.grade = arena_array(a, enum grade, t->prog.n);
    prog_live(&t->prog, live);
    for (int i = 0; i < t->prog.n; i++)
        if (live[i])
            evaluate(&r, i);
    return w;
}
