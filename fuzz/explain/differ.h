/*
 * The loops just before and just after the guilty rewrite, side by side: the first place
 * where a kernel addresses something else than it did, as an index expression where one
 * fits, else as numbers.
 */
#ifndef FUZZ_EXPLAIN_DIFFER_H
#define FUZZ_EXPLAIN_DIFFER_H

#include "ir/dtype.h"
#include "run/run.h"

struct index_diff {
    bool changed;           /* an address or a guard differs */
    const char *want, *got; /* "x[8*c.i0 + c.i1]", NULL = not known */
    const char *loops;      /* "c.i0=0 c.i1=1": where it differs first */
    const char *note;       /* a sentence, NULL = none */
};

/* kernel: in `after`. Traces both; strings live in a. */
void index_differ(const struct lprog *before, const struct lprog *after, int kernel,
                  struct arena *a, struct index_diff *out);

#endif
