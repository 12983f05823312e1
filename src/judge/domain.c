/*
 * What the contract of a compiler that is not ours (ir/contract.h) leaves open of integers:
 * operands for which an op has no meaning everywhere, and sums and products that don't fit.
 */
#include "judge/ref.h"
#include "judge/walk.h"

/* i32 division by 0, and of the least number by -1. */
static int64_t open_division(struct ref *r, int i)
{
    const struct node *n = &r->prog->node[i];
    struct words x, y;
    int64_t opened = 0;

    ref_words(r, &n->arg[0], n->dt, &x);
    ref_words(r, &n->arg[1], n->dt, &y);
    for (int64_t k = 0; k < r->want->node[i].n; k++) {
        uint32_t a = x.p[k * x.step], b = y.p[k * y.step];

        if (b == 0 || (a == 0x80000000u && b == ~0u)) {
            ref_open(r, i, k);
            opened++;
        }
    }
    return opened;
}

static int64_t open_cast(struct ref *r, int i)
{
    const struct want_node *o = &r->want->node[r->prog->node[i].arg[0].node];
    int64_t opened = 0;

    for (int64_t k = 0; k < o->n; k++) {
        struct val x = judge_value(o, k);

        if (x.e >= 0 && fabs(x.v) + x.e < 0x1p31)
            continue;
        ref_open(r, i, k);
        opened++;
    }
    return opened;
}

static int64_t open_gather(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    const struct want_node *index = &r->want->node[x->arg[1].node];
    struct lines l = ref_lines(&r->prog->node[x->arg[0].node].sh, x->axis);
    int64_t opened = 0;

    for (int64_t k = 0; k < r->want->node[i].n; k++) {
        int64_t place = (int32_t)index->word[k / l.inner % index->n];

        if (place >= 0 && place < l.n)
            continue;
        ref_open(r, i, k);
        opened++;
    }
    return opened;
}

int64_t ref_open_domain(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];

    if (x->op == OP_DIV && x->dt == DT_I32)
        return open_division(r, i);
    if (x->op == OP_CAST && x->dt == DT_I32 && ref_is_float(r->prog->node[x->arg[0].node].dt))
        return open_cast(r, i);
    return x->op == OP_GATHER ? open_gather(r, i) : 0;
}

/* A sum or product of i32 in integers that don't end: a magnitude stops where no i32 is left
 * to come back to, other than by a factor 0. */
typedef __int128 whole;

static bool fits(whole v)
{
    return v >= INT32_MIN && v <= INT32_MAX;
}

static whole times(whole a, whole b)
{
    const whole most = (whole)1 << 62;

    a *= b; /* each below 2^63 */
    return a > most ? most : a < -most ? -most : a;
}

static whole signed_word(uint32_t w)
{
    return (int32_t)w;
}

static int64_t open_unfit(struct ref *r, int i, const whole *exact)
{
    int64_t opened = 0;

    for (int64_t k = 0; k < r->want->node[i].n; k++) {
        if (fits(exact[k]))
            continue;
        ref_open(r, i, k);
        opened++;
    }
    return opened;
}

static void reduce_exactly(const struct ref *r, const struct node *x, whole *exact, int64_t n)
{
    const uint32_t *word = r->want->node[x->arg[0].node].word;
    const struct shape *sh = &r->prog->node[x->arg[0].node].sh;
    int64_t step[MAX_RANK];

    for (int64_t k = 0; k < n; k++)
        exact[k] = x->op == OP_PROD;
    ref_reduce_steps(x, sh, step);
    for (struct walk w = walk_begin(sh, step, 0); w.rows > 0; walk_next(&w))
        for (int64_t k = 0; k < w.inner; k++, word++) {
            whole *to = &exact[w.at + k * w.inner_step];

            *to = x->op == OP_PROD ? times(*to, signed_word(*word)) : *to + signed_word(*word);
        }
}

static void scan_exactly(const struct ref *r, const struct node *x, whole *exact, int64_t n)
{
    const uint32_t *word = r->want->node[x->arg[0].node].word;
    struct lines l = ref_lines(&x->sh, x->axis);

    for (int64_t k = 0; k < n; k++)
        exact[k] = signed_word(word[k]) + (k / l.inner % l.n ? exact[k - l.inner] : (whole)0);
}

/* alpha a b + beta c; the scales are i32. */
static void multiply_exactly(const struct ref *r, const struct node *x, whole *exact, int64_t n)
{
    const struct node *a = &r->prog->node[x->arg[0].node];
    const uint32_t *p = r->want->node[x->arg[0].node].word;
    const uint32_t *q = r->want->node[x->arg[1].node].word;
    const uint32_t *c = x->n_arg > 2 ? r->want->node[x->arg[2].node].word : NULL;
    int64_t keys = a->sh.dim[a->sh.rank - 1], wide = x->sh.dim[x->sh.rank - 1];
    int64_t high = x->sh.dim[x->sh.rank - 2];

    for (int64_t k = 0; k < n; k++) {
        const uint32_t *row = p + k / wide * keys;
        const uint32_t *column = q + k / (wide * high) * keys * wide + k % wide;
        whole sum = 0;

        for (int64_t j = 0; x->alpha != 0 && j < keys; j++)
            sum += signed_word(row[j]) * signed_word(column[j * wide]);
        exact[k] = sum * (whole)x->alpha;
        if (c && x->beta != 0)
            exact[k] += signed_word(c[k]) * (whole)x->beta;
    }
}

int64_t ref_open_overflow(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int64_t n = r->want->node[i].n;
    whole *exact;

    if (x->dt != DT_I32 ||
        (x->op != OP_SUM && x->op != OP_PROD && x->op != OP_CUMSUM && x->op != OP_MATMUL))
        return 0;
    exact = arena_array(r->arena, whole, n);
    if (x->op == OP_CUMSUM)
        scan_exactly(r, x, exact, n);
    else if (x->op == OP_MATMUL)
        multiply_exactly(r, x, exact, n);
    else
        reduce_exactly(r, x, exact, n);
    return open_unfit(r, i, exact);
}
