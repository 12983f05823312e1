/*
 * Composites on words: in the ring algebra softmax, norms and attention are what judge.h
 * says, in any order of summation and by any algorithm; argmax is of integers too.
 */
#include "ir/data.h"
#include "judge/ref.h"

#define S(x) ((int32_t)(x))

static uint32_t larger(uint32_t x, uint32_t y)
{
    return S(x) > S(y) ? x : y;
}

void ref_word_argmax(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int from = x->arg[0].node;
    struct want_node *w = &r->want->node[i];
    const struct want_node *o = &r->want->node[from];
    struct lines l = ref_lines(&r->prog->node[from].sh, x->axis);

    w->word = arena_array(r->arena, uint32_t, w->n);
    if (o->unsure)
        w->unsure = arena_array(r->arena, unsigned char, w->n);
    for (int64_t k = 0; k < w->n; k++) {
        int64_t at = k / l.inner * l.n * l.inner + k % l.inner, best = 0;

        for (int64_t j = 0; j < l.n; j++) {
            if (S(o->word[at + j * l.inner]) > S(o->word[at + best * l.inner]))
                best = j;
            if (o->unsure)
                w->unsure[k] |= o->unsure[at + j * l.inner];
        }
        w->word[k] = (uint32_t)best;
    }
}

void ref_word_softmax(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    struct lines l = ref_lines(&x->sh, x->axis);
    const uint32_t *src = r->want->node[x->arg[0].node].word;

    w->word = arena_array(r->arena, uint32_t, w->n);
    for (int64_t k = 0; w->n && k < l.outer * l.inner; k++) {
        int64_t at = k / l.inner * l.n * l.inner + k % l.inner, end = at + l.n * l.inner;
        uint32_t most = 0x80000000u, sum = 0, by;

        for (int64_t j = at; j < end; j += l.inner)
            most = larger(most, src[j]);
        for (int64_t j = at; j < end; j += l.inner)
            sum += w->word[j] = ring_exp(src[j] - most);
        by = ring_pinv(sum);
        for (int64_t j = at; j < end; j += l.inner)
            w->word[j] *= by;
    }
}

void ref_word_logsoftmax(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    struct lines l = ref_lines(&x->sh, x->axis);
    const uint32_t *src = r->want->node[x->arg[0].node].word;

    w->word = arena_array(r->arena, uint32_t, w->n);
    for (int64_t k = 0; w->n && k < l.outer * l.inner; k++) {
        int64_t at = k / l.inner * l.n * l.inner + k % l.inner, end = at + l.n * l.inner;
        uint32_t most = 0x80000000u, sum = 0;

        for (int64_t j = at; j < end; j += l.inner)
            most = larger(most, src[j]);
        for (int64_t j = at; j < end; j += l.inner)
            sum += ring_exp(src[j] - most);
        for (int64_t j = at; j < end; j += l.inner)
            w->word[j] = src[j] - most - ring_log(sum);
    }
}

void ref_word_cumsum(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    const struct want_node *o = &r->want->node[x->arg[0].node];
    struct want_node *w = &r->want->node[i];
    int64_t inner = ref_lines(&x->sh, x->axis).inner, n = x->sh.dim[x->axis];

    w->word = arena_array(r->arena, uint32_t, w->n);
    if (o->unsure)
        w->unsure = arena_array(r->arena, unsigned char, w->n);
    for (int64_t k = 0; k < w->n; k++) {
        bool first = k / inner % n == 0;

        w->word[k] = o->word[k] + (first ? 0 : w->word[k - inner]);
        if (o->unsure)
            w->unsure[k] = o->unsure[k] | (first ? 0 : w->unsure[k - inner]);
    }
}

void ref_word_norm(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    bool centred = x->op == OP_LAYERNORM;
    const uint32_t *src = r->want->node[x->arg[0].node].word;
    const uint32_t *g = r->want->node[x->arg[1].node].word;
    const uint32_t *b = centred ? r->want->node[x->arg[2].node].word : NULL;
    int64_t n = x->sh.dim[x->sh.rank - 1];
    uint32_t over_n = ring_pinv((uint32_t)n), eps = ring_literal(x->eps);

    w->word = arena_array(r->arena, uint32_t, w->n);
    for (int64_t at = 0; at < w->n; at += n) {
        uint32_t mean = 0, square = 0, by;

        for (int64_t k = 0; centred && k < n; k++)
            mean += src[at + k];
        mean *= over_n;
        for (int64_t k = 0; k < n; k++)
            square += (src[at + k] - mean) * (src[at + k] - mean);
        by = ring_pinv(ring_sqrt(square * over_n + eps));
        for (int64_t k = 0; k < n; k++)
            w->word[at + k] = (src[at + k] - mean) * by * g[k] + (b ? b[k] : 0);
    }
}

/* One query: weights into `weight`, their sum returned. see, add: its row of the mask. */
static uint32_t weigh(const struct node *x, const struct heads *h, int64_t query,
                      const uint32_t *q, const uint32_t *keys, const uint32_t *mask,
                      uint32_t *weight)
{
    uint32_t scale = ring_literal(x->scale), most = 0x80000000u, sum = 0;

    for (int64_t j = 0; j < h->t; j++) {
        uint32_t s = 0;

        for (int64_t l = 0; l < h->d; l++)
            s += q[l] * keys[j * h->d + l];
        weight[j] = s * scale + (x->mask == MASK_ADD ? mask[j] : 0);
        if (x->mask == MASK_BOOL ? mask[j] : ref_visible(x->mask, h, query, j))
            most = larger(most, weight[j]);
    }
    for (int64_t j = 0; j < h->t; j++) {
        bool seen = x->mask == MASK_BOOL ? mask[j] : ref_visible(x->mask, h, query, j);

        weight[j] = seen ? ring_exp(weight[j] - most) : 0;
        sum += weight[j];
    }
    return sum;
}

void ref_word_attention(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    const uint32_t *q = r->want->node[x->arg[0].node].word;
    const uint32_t *k = r->want->node[x->arg[1].node].word;
    const uint32_t *v = r->want->node[x->arg[2].node].word;
    const uint32_t *mask = x->n_arg == 4 ? r->want->node[x->arg[3].node].word : NULL;
    const struct heads h = ref_heads(r, i);
    uint32_t *weight = arena_array(r->arena, uint32_t, h.t);

    w->word = arena_array(r->arena, uint32_t, w->n);
    for (int64_t n = 0; w->n && n < h.batches * h.hq * h.s; n++) {
        int64_t head = n / h.s, kv = head / h.hq * h.hk + head % h.hq / (h.hq / h.hk);
        int64_t row = (h.flat_mask ? n % h.s : n) * h.t;
        const uint32_t *values = v + kv * h.t * h.e;
        uint32_t *out = w->word + n * h.e, by;

        by = ring_pinv(weigh(x, &h, n % h.s, q + n * h.d, k + kv * h.t * h.d,
                             mask ? mask + row : NULL, weight));
        for (int64_t j = 0; j < h.t; j++)
            for (int64_t c = 0; c < h.e; c++)
                out[c] += weight[j] * values[j * h.e + c];
        for (int64_t c = 0; c < h.e; c++)
            out[c] *= by;
    }
}
