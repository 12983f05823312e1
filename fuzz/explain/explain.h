/*
 * What to tell a person about a failing trial: the guilty pass, rewrite and schedule step,
 * the first wrong element with its loops, the index that was used and the right one.
 */
#ifndef FUZZ_EXPLAIN_EXPLAIN_H
#define FUZZ_EXPLAIN_EXPLAIN_H

#include "base/str.h"
#include "fuzz/explain/cause.h"

struct probe;

/* Two places that meet: a wild access, or two buffers in one piece of memory. */
struct explain_site {
    const char *kernel, *buffer, *loops; /* NULL = not known */
    int64_t index, size;                 /* element and elements; bytes when in the arena */
    int64_t block, thread;               /* of a GPU */
    const char *what;
};

/* A wrong number that a race leads to. */
struct explain_value {
    int tried;    /* schedules of the SIMT machine, 0 = not looked for */
    int schedule; /* the first that gives wrong values, 0 = none of them */
    bool again;   /* it does so bit for bit when it is run again */
    const char *element;
    double want, got;
};

/* Strings live in the arena given to explain_find; NULL = not known or not applicable. */
struct explanation {
    struct cause cause;
    struct verdict verdict;
    const char *step;           /* the schedule line's text */
    const char *kernel;         /* name of the guilty kernel */
    const char *before, *after; /* its loops, before and after the rewrite */
    const char *element;        /* "p[0,1]" */
    const char *loops;          /* of the guilty kernel where the index is wrong first, or where
                                   the wrong element is stored */
    const char *index_want, *index_got;
    const char *note; /* one or two sentences that a glance at the loops would not give */
    struct explain_site site[2];
    int n_site;
    struct explain_value value;
};

/* c and the cause as check_trial and cause_find gave them; v is the deciding verdict. */
int explain_find(struct checker *ck, const struct trial *t, const struct check_opts *o,
                 const struct verdict *v, const struct cause *cause, struct arena *a,
                 struct explanation *x, struct err *e);
void explain_print(const struct explanation *x, struct str *s);

/* Looks for a schedule under which the race shows as a value. */
void explain_value(struct probe *p, struct arena *a, struct explanation *x);

/* Does the guilty rewrite change an address or a guard? Used for the class. */
bool explain_index_changed(struct probe *p, const struct cause *cause);

#endif
