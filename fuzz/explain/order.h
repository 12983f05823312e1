/*
 * What the loops of a bound kernel place between two accesses of threads of one block: the
 * way from the one to the other, with the loops that all threads agree on run through number
 * by number. It looks at the statements only, not at how they were run.
 */
#ifndef FUZZ_EXPLAIN_ORDER_H
#define FUZZ_EXPLAIN_ORDER_H

#include "ir/outcome.h"
#include "lower/loop.h"

struct order {
    const struct site *first, *second; /* by the program, not by who came first */
    bool same;                         /* one and the same time: nothing can stand between */
    bool copy;                         /* first is an asynchronous copy */
    bool landed;                       /* .. that was waited for; true if it is none */
    int wait;     /* the last wait on the way: lets too many be, or is the one; -1 = none */
    int barrier;  /* that all threads meet behind all this; -1 = none */
    int branched; /* the same, in a branch that not all threads take; -1 = none */
    bool leaves;  /* the second stands behind all loops that copy */
};

/* a and b are of kernel k. */
void order_find(const struct lprog *l, const struct kernel *k, const struct site *a,
                const struct site *b, struct arena *arena, struct order *out);

#endif
