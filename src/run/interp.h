/*
 * The interpreter of loop IR: the meaning of a lowered program after any rewrite, and the
 * second executor beside compiled code. Every load and store is checked against its logical
 * array, and loop iterations are counted.
 *
 * The tracer goes the same way slowly, computes nothing, and remembers which elements each
 * access of one kernel touched.
 */
#ifndef RUN_INTERP_H
#define RUN_INTERP_H

#include "run/run.h"

extern const struct backend be_interp; /* a row of backends[] */

/* Places, runs once in one algebra, collects. What it prepares lives in env->arena. */
void interp_run(struct run_env *env, const struct lprog *l, enum algebra al, struct outcome *o);

/* The loops round a statement, outermost first, and their variables' values. */
struct loops {
    int n;
    const int *var;
    const int64_t *at;
};

struct trace_rec {
    bool store;
    bool guarded; /* a guard failed: nothing was addressed, the fill was read */
    int stmt;     /* number in the kernel */
    int leaf;     /* ordinal of the access among the statement's loads; store: -1 */
    int access;
    int buffer;    /* -1 = iota or const */
    int64_t index; /* element addressed; iota: the number */
    struct loops loops;
};

struct trace {
    struct trace_rec *rec; /* in the order of execution */
    int n, cap;
    bool truncated;       /* more happened than TRACE_MAX records hold */
    struct outcome ended; /* RAN, OUT_OF_BOUNDS or HANG; no outputs */
};
enum { TRACE_MAX = 1 << 18 };
/* Tracing is slow: what runs longer than this is hung. */
enum { TRACE_STEPS = 50 * 1000 * 1000 };

/* Walks all of l and records kernel `kernel`. Results live in a. An access outside ends it at
 * the same site, with the same index and size, as it ends interp_run. */
void interp_trace(const struct lprog *l, int kernel, struct trace *out, struct arena *a);

/* The loops round the last store to an element of a buffer. False = it is never stored. */
bool interp_where(const struct lprog *l, int buffer, int64_t element, struct loops *out,
                  struct arena *a);

#endif
