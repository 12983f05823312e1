/*
 * The bound of a sum of f32 terms, for reductions and matmul. For n terms t with errors e,
 * in any order and any tree, fused multiply-add or not (ORACLE.md 4.1, 4.2):
 *
 *     |got - sum t| <= sum e + gamma_h (sum |t| + sum e),     gamma_h = h u / (1 - h u)
 *
 * h = n - 1 additions that round (0 + t does not), one more where terms are products.
 * Integers whose magnitudes sum to at most 2^24 are exact in every order: e = 0.
 */
#ifndef JUDGE_SUM_H
#define JUDGE_SUM_H

#include "judge/ref.h"

/* What a sum needs to know of its terms. */
struct sum {
    double s, t, e; /* sums of the terms, of their magnitudes, of their errors */
};

/* Kinds of terms that are no numbers: a set of these bits. */
enum { SAW_UNJUDGED = 1, SAW_NAN = 2, SAW_PLUS = 4, SAW_MINUS = 8 };

int sum_kind(struct val term); /* its bit, 0 for a number */

double sum_gamma(double h);

/* tiny: the most that roundings of terms below the normal range add up to. Unjudged if an
 * order may overflow or a term is no number: then ask sum_special. */
struct val sum_bound(struct sum x, double gamma, double tiny, bool integer);

/* When not all terms are numbers: saw their kinds; t and e are those of the numbers. */
struct val sum_special(int saw, struct sum x);

#endif
