/*
 * Views, from the definition of each node: where each element of the result comes from in
 * the dense operand (for pad: where each element of the operand goes). Nothing is composed.
 */
#include <string.h>

#include "judge/ref.h"
#include "judge/walk.h"

/* dst in row-major order of the walk from src */
#define GATHER(T, src, dst, w)                                                                 \
    do {                                                                                       \
        const T *from_ = (src);                                                                \
        T *to_ = (dst);                                                                        \
                                                                                               \
        for (; (w).rows > 0; walk_next(&(w)), to_ += (w).inner) {                              \
            const T *row_ = from_ + (w).at;                                                    \
                                                                                               \
            if ((w).inner_step == 1)                                                           \
                memcpy(to_, row_, (size_t)(w).inner * sizeof(T));                              \
            else                                                                               \
                for (int64_t k_ = 0; k_ < (w).inner; k_++)                                     \
                    to_[k_] = row_[k_ * (w).inner_step];                                       \
        }                                                                                      \
    } while (0)

/* src in row-major order to the addresses of the walk in dst */
#define SCATTER(T, src, dst, w)                                                                \
    do {                                                                                       \
        const T *from_ = (src);                                                                \
        T *to_ = (dst);                                                                        \
                                                                                               \
        for (; (w).rows > 0; walk_next(&(w)), from_ += (w).inner)                              \
            for (int64_t k_ = 0; k_ < (w).inner; k_++)                                         \
                to_[(w).at + k_ * (w).inner_step] = from_[k_];                                 \
    } while (0)

/* The walk over the result of x (no pad): addresses in the operand, shape o. */
static struct walk walk_view(const struct node *x, const struct shape *o)
{
    int64_t dense[MAX_RANK] = { 0 }, step[MAX_RANK] = { 0 }, at = 0;
    int lead = x->sh.rank - o->rank;

    walk_dense(o, dense);
    for (int a = 0; a < x->sh.rank; a++) {
        if (x->op == OP_PERMUTE)
            step[a] = dense[x->perm[a]];
        if (x->op == OP_EXPAND)
            step[a] = a < lead || o->dim[a - lead] == 1 ? 0 : dense[a - lead];
        if (x->op == OP_SLICE) {
            step[a] = dense[a] * x->by[a];
            at += dense[a] * x->lo[a];
        }
    }
    return walk_begin(&x->sh, step, at);
}

/* The walk over the operand of a pad: addresses in the result. */
static struct walk walk_pad(const struct node *x, const struct shape *o)
{
    int64_t dense[MAX_RANK] = { 0 }, at = 0;

    walk_dense(&x->sh, dense);
    for (int a = 0; a < x->sh.rank; a++)
        at += dense[a] * x->lo[a];
    return walk_begin(o, dense, at);
}

static void pad_words(struct ref *r, const struct node *x, const struct want_node *o,
                      struct want_node *w, struct walk walk)
{
    struct words fill;
    struct walk again = walk;

    ref_words(r, &(struct arg){ -1, x->value }, x->dt, &fill);
    w->word = arena_array(r->arena, uint32_t, w->n);
    for (int64_t k = 0; fill.lit && k < w->n; k++)
        w->word[k] = fill.lit;
    SCATTER(uint32_t, o->word, w->word, walk);
    if (o->unsure) {
        w->unsure = arena_array(r->arena, unsigned char, w->n);
        SCATTER(unsigned char, o->unsure, w->unsure, again);
    }
}

static void pad_vals(struct ref *r, const struct node *x, const struct want_node *o,
                     struct want_node *w, struct walk walk)
{
    double fill = grid_round(x->dt, x->value);

    if (o->wide) {
        w->wide = arena_array(r->arena, struct wide, w->n);
        for (int64_t k = 0; k < w->n; k++)
            w->wide[k] = (struct wide){ fill, 0 };
        SCATTER(struct wide, o->wide, w->wide, walk);
        return;
    }
    w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t k = 0; k < w->n; k++)
        w->ieee[k] = val_exact(fill);
    SCATTER(struct val, o->ieee, w->ieee, walk);
}

static void take(struct ref *r, const struct want_node *o, struct want_node *w,
                 struct walk walk)
{
    struct walk again = walk;

    if (o->ieee) {
        w->ieee = arena_array(r->arena, struct val, w->n);
        GATHER(struct val, o->ieee, w->ieee, walk);
        return;
    }
    if (o->wide) {
        w->wide = arena_array(r->arena, struct wide, w->n);
        GATHER(struct wide, o->wide, w->wide, walk);
        return;
    }
    w->word = arena_array(r->arena, uint32_t, w->n);
    GATHER(uint32_t, o->word, w->word, walk);
    if (o->unsure) {
        w->unsure = arena_array(r->arena, unsigned char, w->n);
        GATHER(unsigned char, o->unsure, w->unsure, again);
    }
}

#define PICK(src, dst, place, n)                                                               \
    do {                                                                                       \
        for (int64_t k_ = 0; k_ < (n); k_++)                                                   \
            (dst)[k_] = (src)[(place)[k_]];                                                    \
    } while (0)

/* roll and repeat */
static void take_round(struct ref *r, const struct node *x, const struct shape *o,
                       const struct want_node *on, struct want_node *w)
{
    int64_t *place = arena_array(r->arena, int64_t, w->n + 1);

    walk_places(x, o, place);
    if (on->ieee) {
        w->ieee = arena_array(r->arena, struct val, w->n);
        PICK(on->ieee, w->ieee, place, w->n);
    } else if (on->wide) {
        w->wide = arena_array(r->arena, struct wide, w->n);
        PICK(on->wide, w->wide, place, w->n);
    } else {
        w->word = arena_array(r->arena, uint32_t, w->n);
        PICK(on->word, w->word, place, w->n);
    }
    if (on->word && on->unsure) {
        w->unsure = arena_array(r->arena, unsigned char, w->n);
        PICK(on->unsure, w->unsure, place, w->n);
    }
}

void ref_view(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int from = x->arg[0].node;
    const struct shape *o = &r->prog->node[from].sh;
    const struct want_node *on = &r->want->node[from];
    struct want_node *w = &r->want->node[i];

    r->grade[i] = r->grade[from];
    if (x->op == OP_RESHAPE || x->op == OP_COPY) {
        *w = *on; /* the same elements in the same order */
        return;
    }
    if (x->op == OP_ROLL || x->op == OP_REPEAT) {
        take_round(r, x, o, on, w);
        return;
    }
    if (x->op != OP_PAD) {
        take(r, on, w, walk_view(x, o));
        return;
    }
    if (x->value != rint(x->value) && r->grade[i] == GRADE_INTEGER)
        r->grade[i] = GRADE_EXACT;
    if (on->ieee || on->wide)
        pad_vals(r, x, on, w, walk_pad(x, o));
    else
        pad_words(r, x, on, w, walk_pad(x, o));
}
