/*
 * Reductions and matmul on words. Order does not matter here: sums wrap, and the order of
 * max and min is the signed one.
 */
#include "base/bug.h"
#include "ir/data.h"
#include "judge/ref.h"
#include "judge/walk.h"

/* Both loops of a reduction: a row that meets in one element, a row of elements. */
#define REDUCE(T, out, src, w, join)                                                           \
    do {                                                                                       \
        const T *row_ = (src);                                                                 \
                                                                                               \
        for (; (w).rows > 0; walk_next(&(w)), row_ += (w).inner) {                             \
            T *to_ = (out) + (w).at, acc = *to_;                                               \
                                                                                               \
            if ((w).inner_step == 0) {                                                         \
                for (int64_t k_ = 0; k_ < (w).inner; k_++) {                                   \
                    T v = row_[k_];                                                            \
                                                                                               \
                    acc = (join);                                                              \
                }                                                                              \
                *to_ = acc;                                                                    \
                continue;                                                                      \
            }                                                                                  \
            for (int64_t k_ = 0; k_ < (w).inner; k_++) {                                       \
                T v = row_[k_];                                                                \
                                                                                               \
                acc = to_[k_];                                                                 \
                to_[k_] = (join);                                                              \
            }                                                                                  \
        }                                                                                      \
    } while (0)

int64_t ref_reduce_steps(const struct node *x, const struct shape *o, int64_t step[MAX_RANK])
{
    int64_t n = 1, meet = 1;

    for (int a = o->rank - 1; a >= 0; a--) {
        bool reduced = x->axes >> a & 1;

        step[a] = reduced ? 0 : n;
        if (reduced)
            meet *= o->dim[a];
        else
            n *= o->dim[a];
    }
    return meet;
}

void ref_word_reduce(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i], *o = &r->want->node[x->arg[0].node];
    const struct shape *sh = &r->prog->node[x->arg[0].node].sh;
    uint32_t identity = x->op == OP_MAX   ? 0x80000000u
                        : x->op == OP_MIN ? 0x7fffffffu
                                          : x->op == OP_PROD;
    int64_t step[MAX_RANK], meet = ref_reduce_steps(x, sh, step);
    struct walk walk = walk_begin(sh, step, 0), again = walk;

    w->word = arena_array(r->arena, uint32_t, w->n);
    for (int64_t k = 0; identity && k < w->n; k++)
        w->word[k] = identity;
    if (x->op == OP_MAX)
        REDUCE(uint32_t, w->word, o->word, walk, (int32_t)v > (int32_t)acc ? v : acc);
    else if (x->op == OP_MIN)
        REDUCE(uint32_t, w->word, o->word, walk, (int32_t)v < (int32_t)acc ? v : acc);
    else if (x->op == OP_PROD)
        REDUCE(uint32_t, w->word, o->word, walk, acc * v);
    else
        REDUCE(uint32_t, w->word, o->word, walk, acc + v);
    if (r->prog->node[i].op == OP_MEAN) {
        uint32_t by = ring_pinv((uint32_t)meet);

        for (int64_t k = 0; k < w->n; k++)
            w->word[k] *= by;
    }
    if (o->unsure) {
        w->unsure = arena_array(r->arena, unsigned char, w->n);
        REDUCE(unsigned char, w->unsure, o->unsure, again, acc | v);
    }
}

/* out[m,n] += a[m,k] * b[k,n], one batch */
static void matmul_words(uint32_t *out, const uint32_t *a, const uint32_t *b, int64_t m,
                         int64_t k, int64_t n)
{
    for (int64_t i = 0; i < m; i++, out += n)
        for (int64_t l = 0; l < k; l++) {
            uint32_t x = a[i * k + l];
            const uint32_t *row = b + l * n;

            for (int64_t j = 0; j < n; j++)
                out[j] += x * row[j];
        }
}

/* An unsure element of A spoils a row of the result, one of B a column. */
static void matmul_unsure(unsigned char *out, const unsigned char *a, const unsigned char *b,
                          int64_t m, int64_t k, int64_t n)
{
    for (int64_t i = 0; a && i < m; i++)
        for (int64_t l = 0; l < k; l++)
            for (int64_t j = 0; a[i * k + l] && j < n; j++)
                out[i * n + j] = 1;
    for (int64_t i = 0; b && i < m; i++)
        for (int64_t l = 0; l < k; l++)
            for (int64_t j = 0; j < n; j++)
                out[i * n + j] |= b[l * n + j];
}

/* A literal that scales a matmul, as a word of its accumulator. */
static uint32_t scale_word(const struct ref *r, const struct node *x, double v)
{
    if (!ref_is_float(x->dt))
        return (uint32_t)(int32_t)v;
    return ring_literal(v) & (r->ring && grid_is_half(x->acc) ? 0xffffu : ~0u);
}

/* alpha w + beta c; what is times 0 is not looked at, unsure or not. */
static void scale_words(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    uint32_t alpha = scale_word(r, x, x->alpha), beta = scale_word(r, x, x->beta);
    const struct want_node *c;

    if (x->alpha == 0)
        w->unsure = NULL;
    for (int64_t k = 0; k < w->n; k++)
        w->word[k] = x->alpha == 0 ? 0 : w->word[k] * alpha;
    if (x->n_arg < 3 || x->beta == 0)
        return;
    c = &r->want->node[x->arg[2].node];
    for (int64_t k = 0; k < w->n; k++)
        w->word[k] += beta * c->word[k];
    if (!c->unsure)
        return;
    if (!w->unsure)
        w->unsure = arena_array(r->arena, unsigned char, w->n);
    for (int64_t k = 0; k < w->n; k++)
        w->unsure[k] |= c->unsure[k];
}

static void product_words(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i], *ax = &r->prog->node[x->arg[0].node];
    struct want_node *w = &r->want->node[i];
    const struct want_node *a = &r->want->node[x->arg[0].node];
    const struct want_node *b = &r->want->node[x->arg[1].node];
    int64_t m = x->sh.dim[x->sh.rank - 2], n = x->sh.dim[x->sh.rank - 1];
    int64_t k = ax->sh.dim[ax->sh.rank - 1], batches = 0;

    if (w->n)
        batches = w->n / (m * n);
    w->word = arena_array(r->arena, uint32_t, w->n);
    for (int64_t t = 0; t < batches; t++)
        matmul_words(w->word + t * m * n, a->word + t * m * k, b->word + t * k * n, m, k, n);
    if (!a->unsure && !b->unsure)
        return;
    w->unsure = arena_array(r->arena, unsigned char, w->n);
    for (int64_t t = 0; t < batches; t++)
        matmul_unsure(w->unsure + t * m * n, a->unsure ? a->unsure + t * m * k : NULL,
                      b->unsure ? b->unsure + t * k * n : NULL, m, k, n);
}

void ref_word_matmul(struct ref *r, int i)
{
    product_words(r, i);
    scale_words(r, i);
}
