/*
 * Lowering: trial -> loop IR, through the table of passes, checked after each.
 */
#ifndef LOWER_LOWER_H
#define LOWER_LOWER_H

#include <stdint.h>

#include "lower/loop.h"

struct pass {
    const char *name;
    int (*run)(struct lprog *l, struct err *e);
    const char *help;
};

extern const struct pass passes[];
extern const int n_passes;
int pass_find(const char *name); /* -1 = none */

struct lower_opts {
    enum fault fault;
    int stop_after; /* rewrite number; 0 = build only .. INT32_MAX = everything */
    int last_pass;  /* index of the last pass to run; n_passes - 1 = all */
    enum target target;
    bool bound; /* TARGET_CPU: leave bound kernels as they are, to be shown */
};
#define LOWER_OPTS_DEFAULT                                                                     \
    {                                                                                          \
        FAULT_none, INT32_MAX, INT32_MAX, TARGET_CPU, false                                    \
    }

/* The result lives in `a` and refers to the trial. An illegal step gives ERR_ILLEGAL with
 * the step's line. */
int lower(const struct trial *t, const struct lower_opts *o, struct arena *a,
          struct lprog **out, struct err *e);

#endif
