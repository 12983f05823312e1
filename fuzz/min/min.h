/*
 * The minimizer: a smaller trial with the same cause. Reducers are rows (reducers.def);
 * each proposes candidates, every candidate is checked for legality before it runs, and
 * the budget counts evaluations, never time.
 */
#ifndef FUZZ_MIN_MIN_H
#define FUZZ_MIN_MIN_H

#include "fuzz/explain/cause.h"

struct min_opts {
    struct check_opts check;
    int budget; /* evaluations; default 2000 */
};

struct min_result {
    struct trial *trial;
    struct cause cause;
    int evaluations;
};

/* t must fail with `cause` under o->check. The result lives in a. */
int minimize(struct checker *ck, const struct trial *t, const struct cause *cause,
             const struct min_opts *o, struct arena *a, struct min_result *r, struct err *e);
#endif
