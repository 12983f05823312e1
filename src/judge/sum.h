/*
 * The bound of a sum of terms, for reductions, matmul and attention. For n terms t with
 * errors e, in any order and any tree, fused multiply-add or not (ORACLE.md 4.1, 4.2):
 *
 *     |got - sum t| <= e' + gamma_h (m + e'),     e' = sum e + gamma_r (sum |t| + sum e)
 *
 * gamma_h = h u / (1 - h u); h = n - 1 additions that round (0 + t does not); r roundings of
 * each term before it is added, one where terms are products. m is the most that a sum of some
 * of the terms can be: that of the positive ones or of the negative ones, so
 * (sum |t| + |sum t|) / 2. Each addition errs by u times the sum that it gives, and that is one
 * of some of the terms, but for errors made before: E <= e' + h u (m + E). By induction over
 * the tree E <= e' + ((1+u)^h - 1) (m + e'), which gamma_h is not below; with it, a term or a
 * sum may be rounded once more where it counts in r.
 * Integers whose magnitudes sum to no more than the accumulator counts are exact in every
 * order: e = 0.
 */
#ifndef JUDGE_SUM_H
#define JUDGE_SUM_H

#include "judge/ref.h"

#include "ir/contract.h"

/* An accumulator, as the bound needs to know it. */
struct acc {
    double unit, tiny, most; /* roundoff; smallest and largest number */
    double normal;           /* smallest normal number */
    double whole;            /* integers up to this are exact: less than what f64 counts to,
                                as magnitudes are added up in double */
};

static inline struct acc acc_of(enum dtype dt)
{
    if (dt == DT_F16)
        return (struct acc){ 0x1p-11 * ENLARGED, 0x1p-24, 65504, 0x1p-14, 0x1p11 };
    if (dt == DT_BF16)
        return (struct acc){ 0x1p-8 * ENLARGED, 0x1p-133, 0x1.fep127, 0x1p-126, 0x1p8 };
#ifndef JUDGE_WIDE
    if (dt == DT_F64) /* beside a reference in double: what rounds, rounds twice */
        return (struct acc){ 0x1p-52 * ENLARGED, 0x1p-1073, DBL_MAX / 4, DBL_MIN, 0x1p53 - 1 };
#endif
    return (struct acc){ UNIT, TINY, REAL_MAX, REAL_LEAST_NORMAL,
                         dt == DT_F64 ? 0x1p53 - 1 : 0x1p24 };
}

/* The same where the contract may let subnormals become 0: an operation then loses what a
 * normal number is not, of an operand and of its result. */
static inline struct acc ref_acc(const struct ref *r, enum dtype dt)
{
    struct acc a = acc_of(dt);

    a.tiny += r->contract & CONTRACT_MAY_FLUSH ? 2 * a.normal : 0;
    return a;
}

/* What a sum needs to know of its terms. */
struct sum {
    real s;      /* of the terms */
    double t, e; /* of their magnitudes, of their errors */
};

/* Kinds of terms that are no numbers: a set of these bits. */
enum { SAW_UNJUDGED = 1, SAW_NAN = 2, SAW_PLUS = 4, SAW_MINUS = 8 };

int sum_kind(struct val term); /* its bit, 0 for a number */

static inline double sum_gamma(double unit, double h)
{
    double hu = h * unit;

    /* (1 + u)^h - 1 from above: the second form for halves that add up halves */
    return hu < 0.5 ? hu / (1 - hu) : expm1(hu) * (1 + 0x1p-40);
}

/* gamma_r and gamma_h */
struct gammas {
    double term, add;
};

/* n terms of r roundings each */
static inline struct gammas sum_gammas(double unit, double r, double n)
{
    return (struct gammas){ sum_gamma(unit, r), sum_gamma(unit, n > 1 ? n - 1 : 0) };
}

/* tiny: the most that roundings of terms below the normal range add up to. Unjudged if an
 * order may overflow or a term is no number: then ask sum_special. */
struct val sum_bound(const struct acc *a, struct sum x, struct gammas g, double tiny,
                     bool integer);

/* When not all terms are numbers: saw their kinds; t and e are those of the numbers. */
struct val sum_special(const struct acc *a, int saw, struct sum x);

/* A dot product term by term, when not all are numbers: x[0..k) and y[0], y[n], y[2n] ..
 * Returns the kinds of terms; t and e of those that are numbers go to *sum. */
int sum_dot_kinds(const struct val *x, const struct val *y, int64_t k, int64_t n,
                  struct sum *sum);
struct val sum_dot_special(const struct acc *a, const struct val *x, const struct val *y,
                           int64_t k, int64_t n);

#endif
