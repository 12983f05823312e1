/*
 * The reference evaluator, shared by its parts: one want_node after another, every operand
 * a dense row-major array or a literal. Words (ring words, i32, bool) are one family of
 * loops, floats with their proven bounds (struct val) the other.
 *
 * Form of a struct val, kept by every op:
 *   a number    v finite, e >= 0, |v| + e <= REAL_MAX; e = 0: exactly this float
 *   a special   v infinite or NaN, e = 0: certainly this
 *   unjudged    v NaN, e = -1: behind a jump, or possibly not finite
 * so a sum of magnitudes that is not finite is the only alarm that a loop needs.
 *
 * The text of the second family is compiled twice: as it stands for f32 and the halves,
 * whose values are doubles, and with JUDGE_WIDE (ref_wide.c) for f64, whose values are
 * __float128. Errors are doubles in both: of them the first digits do.
 */
#ifndef JUDGE_REF_H
#define JUDGE_REF_H

#include <float.h>
#include <math.h>

#include "judge/grid.h"
#include "judge/judge.h"
#include "judge/real.h"

/* What is known of a whole float node: bounds only; every e is 0; and every v an integer. */
enum grade { GRADE_BOUND, GRADE_EXACT, GRADE_INTEGER };

struct ref {
    const struct prog *prog;
    struct arena *arena;
    struct want *want;
    enum grade *grade; /* one per node */
    bool ring;
    bool apart;   /* see judge_want_apart */
    bool foreign; /* see judge_want_by: steps mean nothing */
    unsigned contract;
    bool *read;     /* has node i a reader? NULL if nobody asks */
    int64_t opened; /* elements that exact data can't be judged by either */
};

/* An operand that is read in order: a literal has step 0. */
struct vals {
    const struct val *p;
    int64_t step;
    enum grade grade;
    struct val lit;
};
struct words {
    const uint32_t *p;
    int64_t step;
    const unsigned char *unsure; /* NULL = none */
    uint32_t lit;
};

/* dt: what a literal becomes */
void ref_vals(const struct ref *r, const struct arg *a, enum dtype dt, struct vals *v);
void ref_words(const struct ref *r, const struct arg *a, enum dtype dt, struct words *w);

static inline bool ref_is_float(enum dtype dt)
{
    return dtype_info(dt)->class == DTC_FLOAT;
}

/* Is node i held as words (else as values)? */
static inline bool ref_is_word(const struct ref *r, int i)
{
    return r->ring || !ref_is_float(r->prog->node[i].dt);
}

/* Each evaluates node i of its class into want->node[i]. */
void ref_view(struct ref *r, int i);
void ref_gather(struct ref *r, int i);
void ref_concat(struct ref *r, int i);
void ref_overwrite(struct ref *r, int i);
void ref_cast(struct ref *r, int i);        /* casts from or to floats in ieee */
void ref_word_each(struct ref *r, int i);   /* elementwise, casts from words to words */
void ref_word_reduce(struct ref *r, int i); /* reductions and matmul of words */
void ref_word_matmul(struct ref *r, int i);
void ref_word_argmax(struct ref *r, int i);
void ref_word_softmax(struct ref *r, int i);
void ref_word_logsoftmax(struct ref *r, int i);
void ref_word_cumsum(struct ref *r, int i);
void ref_word_norm(struct ref *r, int i);
void ref_word_attention(struct ref *r, int i);

/* The families of floats; wide: of f64. */
struct ref_floats {
    void (*each)(struct ref *r, int i); /* elementwise */
    void (*where)(struct ref *r, int i);
    void (*to_word)(struct ref *r, int i); /* compares, casts to i32 and bool */
    void (*sum)(struct ref *r, int i);     /* and mean */
    void (*prod)(struct ref *r, int i);
    void (*max)(struct ref *r, int i); /* and min */
    void (*argmax)(struct ref *r, int i);
    void (*matmul)(struct ref *r, int i);
    void (*softmax)(struct ref *r, int i);
    void (*logsoftmax)(struct ref *r, int i);
    void (*cumsum)(struct ref *r, int i);
    void (*norm)(struct ref *r, int i); /* layernorm and rmsnorm */
    void (*attention)(struct ref *r, int i);
};
extern const struct ref_floats ref_narrow, ref_wide;

void ref_bound_each(struct ref *r, int i);
void ref_bound_where(struct ref *r, int i);
void ref_bound_to_word(struct ref *r, int i);
void ref_bound_sum(struct ref *r, int i);
void ref_bound_prod(struct ref *r, int i);
void ref_bound_max(struct ref *r, int i);
void ref_bound_argmax(struct ref *r, int i);
void ref_bound_matmul(struct ref *r, int i);
void ref_bound_softmax(struct ref *r, int i);
void ref_bound_logsoftmax(struct ref *r, int i);
void ref_bound_cumsum(struct ref *r, int i);
void ref_bound_norm(struct ref *r, int i);
void ref_bound_attention(struct ref *r, int i);

/* Applies the contract to node i, which has been evaluated (promise.c). */
void ref_promise(struct ref *r, int i);
/* approximate.c: by may_approximate widens node i, if it is a function; what exp and its like
 * may be off by, relative to the result. */
void ref_approximate(struct ref *r, int i);
double ref_loose(const struct ref *r);
bool ref_uses_function(enum op op);             /* is one, or a composite that has one inside */
void ref_open(struct ref *r, int i, int64_t k); /* element k is not judged */
void ref_widen(struct ref *r, int i, int64_t k, double more); /* it may be off by more */
/* Integers, and what becomes one (domain.c). Each returns how many elements it has opened. */
int64_t ref_open_domain(struct ref *r, int i);
int64_t ref_open_overflow(struct ref *r, int i);

/* Steps of operand axes in the result of a reduction: 0 along reduced ones. Returns the
 * number of elements that meet in one result. */
int64_t ref_reduce_steps(const struct node *x, const struct shape *operand,
                         int64_t step[MAX_RANK]);

/* The lines of shape sh along axis: n elements each, inner apart. */
struct lines {
    int64_t outer, n, inner;
};
struct lines ref_lines(const struct shape *sh, int axis);

/* How often composite i is rescaled: the blocks that its step `algo` cuts n keys into. */
int64_t ref_blocks(const struct ref *r, int i, int64_t n);

/* Attention i: sizes, and which keys are there for a query. */
struct heads {
    int64_t batches, hq, hk, s, d, t, e;
    bool flat_mask; /* the mask is [s,t], the same for all heads */
};
struct heads ref_heads(const struct ref *r, int i);
/* may key j be seen by query q as far as mask=none|causal|causal_br say */
static inline bool ref_visible(enum mask_kind mask, const struct heads *h, int64_t q, int64_t j)
{
    if (mask == MASK_CAUSAL)
        return j <= q;
    return mask != MASK_CAUSAL_BR || j <= q + h->t - h->s;
}

/* The ring algebra's own functions (ring.c). */
uint32_t ring_exp(uint32_t x);
uint32_t ring_exp2(uint32_t x);
uint32_t ring_pinv(uint32_t x);
uint32_t ring_sqrt(uint32_t x);
uint32_t ring_log(uint32_t x);
uint32_t ring_tanh(uint32_t x);
uint32_t ring_erf(uint32_t x);

/* Rules for operands that are not numbers (special.c): the op's result from IEEE's rules
 * where the operands are certain, else unjudged. */
struct val special_unary(enum op op, struct val x);
struct val special_binary(enum op op, struct val x, struct val y);

/* x, a value on its way to dtype dt: rounded once. As rounding is monotone, what comes out
 * lies between the roundings of both ends; where these are one, it is known. */
#ifndef JUDGE_WIDE
struct val val_stored(enum dtype dt, struct val x);
/* The same for the result of op i as those who read it see it: where the contract lets halves
 * keep more precision, each of them may see it rounded or not. */
struct val ref_stored(const struct ref *r, int i, struct val x);
#else
static inline struct val ref_stored(const struct ref *r, int i, struct val x)
{
    (void)r;
    (void)i; /* f64 has no wider accumulator */
    return x;
}
#endif

static inline struct val val_exact(real v)
{
    return (struct val){ v, 0 };
}

static inline struct val val_unjudged(void)
{
    return (struct val){ NAN, -1 };
}

/* Is this a number, with its bound inside the dtype's range? */
static inline bool val_is_number(struct val x)
{
    return fabs((double)x.v) + x.e <= REAL_MAX;
}

/* A result v whose operands put it off by at most `prop`, rounded once. */
static inline struct val val_rounded(real v, double prop, double tiny)
{
    double e = prop + UNIT * (fabs((double)v) + prop);

    return (struct val){ v, prop == 0 && real_on_grid(v) ? 0 : e + tiny };
}

/* Rounds all of node i once more, to its grid, if it is a half. */
void ref_store(struct ref *r, int i);

#endif
