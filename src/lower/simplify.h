/* The rules of pass simplify: each gives a cheaper equal expression, or e itself. */
#ifndef LOWER_SIMPLIFY_H
#define LOWER_SIMPLIFY_H

#include "lower/loop.h"

typedef int (*simplify_rule)(struct lprog *l, int e, const int64_t *extent);

/* (n*a + b) / n = a + b / n;  (n*a + b) % n = b % n */
int simplify_divmod_sum(struct lprog *l, int e, const int64_t *extent);
/* x / n = 0 and x % n = x for 0 <= x < n */
int simplify_small(struct lprog *l, int e, const int64_t *extent);
/* (x / n) * (n * m) + (x % n) * m = x * m */
int simplify_recombine(struct lprog *l, int e, const int64_t *extent);
/* a comparison that can't fail on the ranges of its variables is 1 */
int simplify_guard(struct lprog *l, int e, const int64_t *extent);

#endif
