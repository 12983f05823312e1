/*
 * Attribution: which pass, rewrite and schedule step made a failing trial wrong. Found by
 * stopping the lowering after every rewrite and running the interpreter, never by looking
 * at the fault that is switched on.
 */
#ifndef FUZZ_EXPLAIN_CAUSE_H
#define FUZZ_EXPLAIN_CAUSE_H

#include "fuzz/check/check.h"

struct cause {
    enum verdict_kind kind;    /* of the finding */
    const char *kind_group;    /* "value" (MISMATCH, OUT_OF_BOUNDS, NONDETERMINISTIC...),
                                  "crash", "hang", "build" */
    const char *backend;       /* the backend that decided */
    const char *backend_group; /* "interp", "compiled", "simt", .. */
    const char *pass;          /* "build" .. "plan", or "emit"; see blackbox.h */
    const char *rule;          /* rewrite rule, "" for build and emit */
    const char *class;         /* "index", "alias", "emit" or NULL, see HOUSE.md 6 */
    enum target target;        /* of the lowering that fails */
    int number;                /* of the guilty rewrite; 0 = none */
    int step;                  /* index in the schedule, -1 = none asked for it */
    int kernel;                /* index in the lprog lowered up to `number`, -1 = unknown */
    int node;                  /* of a compiler that is not ours: the guilty one, -1 = none */
};

/* c was given by check_trial for the same trial and options; it is overwritten. */
int cause_find(struct checker *ck, const struct trial *t, const struct check_opts *o,
               struct check *c, struct cause *out, struct err *e);
/* What the interpreter is to run to say why this backend failed. */
enum target cause_target(const char *backend);
/* same kind group, backend group, pass and rule */
bool cause_same(const struct cause *a, const struct cause *b);
/* "value interp fuse fuse.inline", the text form that is stored and compared */
void cause_print(const struct cause *c, char *buf, size_t n);
/* cause + class + step kind: the key of a bug, computed on the minimized trial */
void cause_signature(const struct cause *c, const struct trial *t, char *buf, size_t n);

#endif
