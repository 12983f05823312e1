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

/* kernel: in `after`. Runs both with tracing in env; strings live in a. */
void index_differ(struct run_env *env, const struct lprog *before, const struct lprog *after,
                  enum algebra al, int kernel, struct arena *a, struct index_diff *out);

#endif
