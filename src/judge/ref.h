/*
 * The reference evaluator, shared by its parts: one want_node after another, every operand
 * a dense row-major array or a literal. Words (ring words, i32, bool) are one family of
 * loops, f32 values with their proven bounds (struct val) the other.
 *
 * Form of a struct val, kept by every op:
 *   a number    v finite, e >= 0, |v| + e <= FLT_MAX; e = 0: exactly this float
 *   a special   v infinite or NaN, e = 0: certainly this
 *   unjudged    v NaN, e = -1: behind a jump, or possibly not finite
 * so a sum of magnitudes that is not finite is the only alarm that a loop needs.
 */
#ifndef JUDGE_REF_H
#define JUDGE_REF_H

#include <float.h>
#include <math.h>

#include "judge/judge.h"

/* What is known of a whole f32 node: bounds only; every e is 0; and every v an integer. */
enum grade { GRADE_BOUND, GRADE_EXACT, GRADE_INTEGER };

struct ref {
    const struct prog *prog;
    struct arena *arena;
    struct want *want;
    enum grade *grade; /* one per node */
    bool ring;
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

void ref_vals(const struct ref *r, const struct arg *a, struct vals *v);
/* dt: what a literal becomes */
void ref_words(const struct ref *r, const struct arg *a, enum dtype dt, struct words *w);

/* Is node i held as words (else as values)? */
static inline bool ref_is_word(const struct ref *r, int i)
{
    return r->ring || r->prog->node[i].dt != DT_F32;
}

/* Each evaluates node i of its class into want->node[i]. */
void ref_view(struct ref *r, int i);
void ref_word_each(struct ref *r, int i);   /* elementwise, casts from words to words */
void ref_word_reduce(struct ref *r, int i); /* reductions and matmul of words */
void ref_word_matmul(struct ref *r, int i);
void ref_bound_each(struct ref *r, int i); /* f32 elementwise in ieee, casts to f32 */
void ref_bound_where(struct ref *r, int i);
void ref_bound_to_word(struct ref *r, int i); /* compares of f32, casts from f32 */
void ref_bound_sum(struct ref *r, int i);     /* and mean */
void ref_bound_max(struct ref *r, int i);     /* and min */
void ref_bound_matmul(struct ref *r, int i);

/* Steps of operand axes in the result of a reduction: 0 along reduced ones. Returns the
 * number of elements that meet in one result. */
int64_t ref_reduce_steps(const struct node *x, const struct shape *operand,
                         int64_t step[MAX_RANK]);

/* The ring algebra's own functions (ring.c). */
uint32_t ring_exp(uint32_t x);
uint32_t ring_pinv(uint32_t x);
uint32_t ring_sqrt(uint32_t x);

/* Rules for operands that are not numbers (special.c): the op's result from IEEE's rules
 * where the operands are certain, else unjudged. */
struct val special_unary(enum op op, struct val x);
struct val special_binary(enum op op, struct val x, struct val y);

static inline struct val val_exact(double v)
{
    return (struct val){ v, 0 };
}

static inline struct val val_unjudged(void)
{
    return (struct val){ NAN, -1 };
}

/* Is this a number, with its bound inside f32's range? */
static inline bool val_is_number(struct val x)
{
    return fabs(x.v) + x.e <= (double)FLT_MAX;
}

/*
 * The unit roundoff of f32, a little enlarged: the excess (2^-34) covers the roundings of
 * the reference itself and of the bound's own arithmetic (both some 2^-53).
 */
#define UNIT (0x1p-24 * (1 + 0x1p-10))
/* Twice the largest error of rounding a result below the normal range. */
#define TINY 0x1p-149

/* A result v whose operands put it off by at most `prop`, rounded once to f32. */
static inline struct val val_rounded(double v, double prop, double tiny)
{
    double e = prop + UNIT * (fabs(v) + prop);

    if (e > 0)
        e = prop == 0 && (double)(float)v == v ? 0 : e + tiny;
    return (struct val){ v, e };
}

#endif
