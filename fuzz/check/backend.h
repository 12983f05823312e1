/*
 * One backend of a check: prepare, run as often as its row says in each algebra, judge.
 * check.c decides who runs; isolate.c runs the same thing in a child.
 */
#ifndef FUZZ_CHECK_BACKEND_H
#define FUZZ_CHECK_BACKEND_H

#include "fuzz/check/check.h"

struct check_run {
    struct checker *c;
    const struct trial *t;
    const struct check_opts *o;
    struct judge_opts judge; /* o's, complete */
    const struct backend *b;
    const struct lprog *l;
    const char *text;
    const struct emit_sites *sites;        /* of the text for a GPU, else NULL */
    const struct want *want[AL_COUNT];     /* NULL = algebra not asked for */
    const struct exact *exact[EXACT_SETS]; /* NULL = not asked for, or not applicable */
};

/* Hands each verdict to emit as soon as it is known. */
typedef void check_emit_fn(void *ctx, const struct verdict *v);
void check_backend(const struct check_run *r, check_emit_fn *emit, void *ctx);

/* The same in a child process; a death becomes CRASH, HANG or (our own fault) BUG. */
void check_backend_isolated(const struct check_run *r, check_emit_fn *emit, void *ctx);

/* The same for a backend that keeps a process of its own: a failure is looked at twice. */
void check_backend_afresh(const struct check_run *r, check_emit_fn *emit, void *ctx);

/* The same loops with the values lines of trial `data`: nodes are known by name. */
struct lprog *lprog_with_data(const struct lprog *lowered, const struct trial *data,
                              struct arena *a);

#endif
