/*
 * How large may the integers be? Magnitudes and grids of every node as functions of the
 * inputs' alphabets, before there are any values; the alphabets shrink until every node that
 * can be exact is.
 */
#ifndef JUDGE_INTERVAL_H
#define JUDGE_INTERVAL_H

#include "ir/trial.h"

enum { ALPHABET = 12 };

/* What an input's elements are drawn from. */
struct alphabet {
    int n; /* v[0 .. n): a few values that a sqrt, a quotient .. takes without rounding */
    double v[ALPHABET];
    int64_t most; /* n = 0: the integers 1 .. most and their negatives; never 0 */
    bool index;   /* the integers 0 .. most - 1 */
};

/* One per node of the trial; those of inputs are filled in. */
struct alphabet *interval_choose(const struct trial *t, struct arena *a);

#endif
