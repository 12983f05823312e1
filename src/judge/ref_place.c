/*
 * gather, concat and assign: elements at other places, whatever they are held as. And the lines
 * and heads that composites run along.
 */
#include <string.h>

#include "judge/ref.h"
#include "judge/walk.h"

#include "ir/contract.h"

struct lines ref_lines(const struct shape *sh, int axis)
{
    struct lines l = { 1, sh->dim[axis], 1 };

    for (int a = 0; a < sh->rank; a++) {
        if (a < axis)
            l.outer *= sh->dim[a];
        if (a > axis)
            l.inner *= sh->dim[a];
    }
    return l;
}

int64_t ref_blocks(const struct ref *r, int i, int64_t n)
{
    const struct trial *t = r->want->trial;

    if (r->foreign)
        return r->contract & CONTRACT_MAY_RESCALE ? n : 0;
    for (int k = 0; k < t->n_step; k++) {
        const struct step *s = &t->step[k];

        if (s->kind == STEP_ALGO && s->node[0] == i && s->algo != ALGO_DECOMPOSED)
            return s->n > 0 ? (n + s->n - 1) / s->n : n;
    }
    return 0;
}

struct heads ref_heads(const struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    const struct shape *q = &r->prog->node[x->arg[0].node].sh;
    const struct shape *k = &r->prog->node[x->arg[1].node].sh;
    int top = q->rank - 1;
    struct heads h = { .batches = 1, .hq = q->dim[top - 2], .hk = k->dim[top - 2] };

    for (int a = 0; a < top - 2; a++)
        h.batches *= q->dim[a];
    h.s = q->dim[top - 1];
    h.d = q->dim[top];
    h.t = k->dim[top - 1];
    h.e = x->sh.dim[top];
    h.flat_mask = x->n_arg == 4 && r->prog->node[x->arg[3].node].sh.rank == 2;
    return h;
}

/* The array that an evaluated node is held in, and the size of its elements. */
static void *held(const struct want_node *w, size_t *size)
{
    *size = w->ieee ? sizeof *w->ieee : w->wide ? sizeof *w->wide : sizeof *w->word;
    return w->ieee ? (void *)w->ieee : w->wide ? (void *)w->wide : (void *)w->word;
}

/* Makes w be held as `like` is. */
static char *hold(struct ref *r, struct want_node *w, const struct want_node *like,
                  size_t *size)
{
    if (like->ieee)
        w->ieee = arena_array(r->arena, struct val, w->n);
    else if (like->wide)
        w->wide = arena_array(r->arena, struct wide, w->n);
    else
        w->word = arena_array(r->arena, uint32_t, w->n);
    return held(w, size);
}

static void spoil(struct ref *r, struct want_node *w, int64_t at, int64_t n)
{
    if (w->word && !w->unsure)
        w->unsure = arena_array(r->arena, unsigned char, w->n);
    for (int64_t k = at; k < at + n; k++) {
        if (w->ieee)
            w->ieee[k] = val_unjudged();
        else if (w->wide)
            w->wide[k] = (struct wide){ NAN, -1 };
        else
            w->unsure[k] = 1;
    }
}

/* n elements from `from` on of o; what was unsure stays it. */
static void copy(struct ref *r, struct want_node *w, int64_t at, const struct want_node *o,
                 int64_t from, int64_t n)
{
    size_t size;
    char *dst = held(w, &size), *src = held(o, &size);

    memcpy(dst + (size_t)at * size, src + (size_t)from * size, (size_t)n * size);
    if (!o->unsure)
        return;
    if (!w->unsure)
        w->unsure = arena_array(r->arena, unsigned char, w->n);
    memcpy(w->unsure + at, o->unsure + from, (size_t)n);
}

void ref_gather(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int from = x->arg[0].node;
    const struct want_node *o = &r->want->node[from], *index = &r->want->node[x->arg[1].node];
    struct want_node *w = &r->want->node[i];
    struct lines l = ref_lines(&r->prog->node[from].sh, x->axis);
    size_t size;

    hold(r, w, o, &size); /* zeros: what lies outside gives 0 */
    r->grade[i] = index->unsure ? GRADE_BOUND : r->grade[from];
    for (int64_t k = 0; w->n && k < l.outer; k++)
        for (int64_t j = 0; j < index->n; j++) {
            int64_t at = (k * index->n + j) * l.inner, place = (int32_t)index->word[j];

            if (index->unsure && index->unsure[j])
                spoil(r, w, at, l.inner);
            else if (place >= 0 && place < l.n)
                copy(r, w, at, o, (k * l.n + place) * l.inner, l.inner);
        }
}

void ref_concat(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    struct lines l = ref_lines(&x->sh, x->axis);
    int64_t at = 0;
    size_t size;

    hold(r, w, &r->want->node[x->arg[0].node], &size);
    r->grade[i] = GRADE_INTEGER;
    for (int j = 0; j < x->n_arg; j++) {
        int from = x->arg[j].node;
        const struct want_node *o = &r->want->node[from];
        int64_t row = r->prog->node[from].sh.dim[x->axis] * l.inner;

        if (r->grade[from] < r->grade[i])
            r->grade[i] = r->grade[from];
        for (int64_t k = 0; row && k < l.outer; k++)
            copy(r, w, k * l.n * l.inner + at, o, k * row, row);
        at += row;
    }
}

/* An operand of an assign that is a number, as one element. */
static struct want_node one_number(struct ref *r, const struct node *x, const struct arg *a,
                                   enum grade *grade)
{
    const double number = grid_round(x->dt, a->lit);
    struct want_node one = { .n = 1 };
    struct words word;

    *grade = number == rint(number) ? GRADE_INTEGER : GRADE_EXACT;
    if (r->ring || !ref_is_float(x->dt)) {
        ref_words(r, a, x->dt, &word);
        one.word = arena_array(r->arena, uint32_t, 1);
        one.word[0] = word.lit;
    } else if (x->dt == DT_F64) {
        one.wide = arena_array(r->arena, struct wide, 1);
        one.wide[0] = (struct wide){ number, 0 };
    } else {
        one.ieee = arena_array(r->arena, struct val, 1);
        one.ieee[0] = val_exact(number);
    }
    return one;
}

/* All of x; then one element of the value after the other goes where the ranges say. */
void ref_overwrite(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int from = x->arg[0].node, value = x->arg[1].node;
    const struct shape taken = ranges_shape(x);
    const struct want_node *o = &r->want->node[from],
                           one = value < 0 ? one_number(r, x, &x->arg[1], &r->grade[i])
                                           : r->want->node[value];
    struct want_node *w = &r->want->node[i];
    int64_t step[MAX_RANK], at = 0, k = 0;
    size_t size;

    hold(r, w, o, &size);
    if (w->n)
        copy(r, w, 0, o, 0, w->n);
    if (value >= 0)
        r->grade[i] = r->grade[value];
    if (r->grade[from] < r->grade[i])
        r->grade[i] = r->grade[from];
    walk_dense(&x->sh, step);
    for (int a = 0; a < x->sh.rank; a++) {
        at += step[a] * x->lo[a];
        step[a] *= x->by[a];
    }
    for (struct walk walk = walk_begin(&taken, step, at); walk.rows > 0; walk_next(&walk))
        for (int64_t e = 0; e < walk.inner; e++, k++) {
            int64_t to = walk.at + e * walk.inner_step;

            copy(r, w, to, &one, value < 0 ? 0 : k, 1);
            if (w->unsure && !one.unsure)
                w->unsure[to] = 0;
        }
}
