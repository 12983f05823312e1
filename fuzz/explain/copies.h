/*
 * Is a backend's answer the same with a copy on an edge? A copy is an identity, so this needs
 * no reference: of programs whose every op has one right result, and under a contract that
 * leaves it that, the bits are the same. Of others the judge says whether both are right.
 */
#ifndef FUZZ_EXPLAIN_COPIES_H
#define FUZZ_EXPLAIN_COPIES_H

#include "fuzz/check/check.h"
#include "fuzz/explain/edge.h"

enum copy_effect {
    COPY_NONE,
    COPY_NOT_RUN, /* refused with the copy, or without it */
    COPY_DIFFERS, /* other bits, both within what is right, as may be */
    COPY_REPAIRS, /* wrong without it */
    COPY_BREAKS,  /* wrong with it */
    COPY_BITS,    /* other bits where there is one right result */
    COPY_EFFECTS
};

struct copied {
    const char *backend;
    struct edge edge;
    enum copy_effect effect;
    enum algebra algebra; /* of the data that show it */
    int exact;            /* likewise, as in struct verdict */
    enum verdict_kind before, after;
    int left_out; /* steps of the schedule that the copy makes illegal */
};

struct copies {
    struct copied *row;
    int n;
};

const char *copy_effect_name(enum copy_effect e); /* "repairs" */
/* Wrong somewhere; what is merely other is no finding. */
bool copy_is_finding(enum copy_effect e);

/* Have the outputs of t but one right result in ieee, by a contract (ir/contract.h)? */
bool copies_rigid(const struct prog *p, unsigned contract, struct arena *scratch);

/* All edges on all of o's backends, each by itself. out lives in a. Non-zero = t is illegal. */
int copies_check(struct checker *ck, const struct trial *t, const struct check_opts *o,
                 struct arena *a, struct copies *out, struct err *e);

#endif
