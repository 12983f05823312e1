/* interval_choose's parts. */
#ifndef JUDGE_INTERVAL_INNER_H
#define JUDGE_INTERVAL_INNER_H

#include "judge/exact_eval.h"
#include "judge/interval.h"

struct range {
    bool ok;          /* every value is exact */
    bool blurred;     /* half: values are large enough to be rounded at the store */
    bool one_sided;   /* magnitudes add up coherently */
    double mag, mean; /* the largest magnitude, and about the usual one */
    int grid;
    int n; /* v[0 .. n): the only values; 0 = not known */
    double v[ALPHABET];
};

struct intervals {
    const struct prog *prog;
    struct alphabet *alpha;
    struct range *r;
    bool *hopeless, *blurry; /* not ok, blurred with even the smallest integers */
    bool *live;
};

/* Gives inputs the alphabets that roots, quotients and the like wish for. */
void interval_wishes(struct intervals *x);
/* The range of node i, from those of its operands. */
struct range interval_of(const struct intervals *x, int i);

#endif
