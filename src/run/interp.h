/*
 * The interpreter of loop IR: the meaning of a lowered program after any rewrite, and the
 * second executor beside compiled code. Every load and store is checked against its logical
 * array, and loop iterations are counted.
 *
 * The tracer does the same slowly and remembers: which elements each access of one kernel
 * touched, and where the values that it moved came from.
 */
#ifndef RUN_INTERP_H
#define RUN_INTERP_H

#include "run/run.h"

extern const struct backend be_interp; /* a row of backends[] */

/* Places, runs once in one algebra, collects. What it prepares lives in env->arena. */
void interp_run(struct run_env *env, const struct lprog *l, enum algebra al, struct outcome *o);

/* Where a value comes from. One that was only moved (loaded, copied, picked by where, stored
 * and loaded again, whatever storage it went through) keeps the tag of its origin; one that
 * was computed gets the tag of the element that it is stored to first. */
struct tag {
    int buffer; /* TAG_NONE: literal, fill, index or never written; TAG_COMPUTED */
    int64_t element;
};
enum { TAG_NONE = -1, TAG_COMPUTED = -2 };

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
    struct tag tag;
    double value; /* read or stored; a ring word as an unsigned number */
    struct loops loops;
};

struct trace {
    struct trace_rec *rec; /* in the order of execution */
    int n, cap;
    bool truncated;       /* more happened than TRACE_MAX records hold */
    struct outcome ended; /* RAN, OUT_OF_BOUNDS or HANG; no outputs */
};
enum { TRACE_MAX = 1 << 18 };
/* Tracing is slow: what runs longer than this is hung, whatever env->step_limit is. */
enum { TRACE_STEPS = 50 * 1000 * 1000 };

/* Runs all of l on fresh data and records kernel `kernel`. Results live in a. 0, or
 * ERR_UNSUPPORTED if the buffers don't fit. An access outside ends it at the same site, with
 * the same index and size, as it ends interp_run. */
int interp_trace(struct run_env *env, const struct lprog *l, enum algebra al, int kernel,
                 struct trace *out, struct arena *a, struct err *e);

/* The loops round the last store of kernel `kernel` (-1 = any) to an element of a buffer.
 * False = it is never stored. */
bool interp_where(struct run_env *env, const struct lprog *l, enum algebra al, int kernel,
                  int buffer, int64_t element, struct loops *out, struct arena *a);

#endif
