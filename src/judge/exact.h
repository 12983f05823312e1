/*
 * Exact data (ORACLE.md 6): inputs chosen so that every legal algorithm, order of summation
 * and contraction gives the same bits in IEEE arithmetic, and what these bits are. Small
 * integers whose partial sums all fit the accumulator; for softmax and attention logits that
 * differ by nothing or by so much that a weight is 1 or 0.
 *
 * The recipes only propose. A set counts by what the evaluation (exact_eval.h) then proves of
 * the very values, element by element; what it can't prove is not judged.
 */
#ifndef JUDGE_EXACT_H
#define JUDGE_EXACT_H

#include "judge/judge.h"

enum { EXACT_SETS = 4 }; /* as many sets as a shape can have */

struct exact {
    struct trial *t; /* a clone: recipe exact, a values line for every input */
    int set;
    /* Of all nodes that an output needs, algebra ieee. An element's e is 0: bit for bit (but
     * for the sign of a zero); > 0: within e, some ulps; < 0: nothing is proven. */
    struct want *want;
    int64_t n_exact, n_near, n_open; /* elements of outputs by these three */
    /* Somewhere on the way: a bound that comes from how well exp is computed; a number that
     * may_flush makes 0; a score that is another where attention's scale goes into q first, or
     * a mean that is rounded on the way where it runs along the row, as other compilers have
     * them; a quotient of halves that may_reciprocal makes by an inverse that is a half. */
    bool by_function, subnormal, unfolded, running, by_inverse;
};

/* NULL = not applicable, *why says why: there is no output of which half would be judged.
 * Everything lives in a. Sets differ; each is a function of the trial's seed. */
struct exact *exact_make(const struct trial *t, int set, struct arena *a, const char **why);

/* Does what is proven hold for a compiler with this contract? It lets x / y be x * (1 / y) as
 * it is, but for halves; what judge_want_by opens it knows nothing of. */
bool exact_holds(const struct exact *x, unsigned contract, struct arena *a);

const char *exact_name(int set); /* "exact0" .. "exact3" */

#endif
