/*
 * The weights of a softmax, and what any algorithm may make of them (ORACLE.md 4.3): plain,
 * online in blocks, every block alone and then combined. Rescaling telescopes, so that it
 * costs a few roundings a block; an error that all weights share cancels.
 */
#ifndef JUDGE_SOFT_H
#define JUDGE_SOFT_H

#include "judge/sum.h"

/* What x[0..n) are together: SAW_UNJUDGED, SAW_NAN (so is the row), SAW_MINUS (all are
 * -inf, or there are none), or 0: weights can be computed. */
int soft_kind(const struct val *x, int64_t n);

struct soft {
    real *p;      /* shares: they sum to 1; 0 where x is -inf or far below the maximum */
    double *rel;  /* how far off a weight may be, relative to itself */
    double mean;  /* sum of p rel */
    bool apart;   /* a weight may be computed anew, with other roundings, at each use */
    bool foreign; /* by a compiler that is not ours */
    double loose; /* what else exp may be off by, relative to itself */
};

/* p and rel have room for n; blocks: how often weights are rescaled. */
void soft_weigh(const struct val *x, int64_t n, double blocks, struct soft *s);

/* Node i row by row along its axis: row changes x[0..n) in place, s has room for it. */
typedef void soft_row_fn(struct val *x, int64_t n, double blocks, struct soft *s);
void soft_rows(struct ref *r, int i, soft_row_fn *row);

#endif
