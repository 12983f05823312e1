/*
 * What the files of differ share: differ.c compares loads, differ_store.c stores,
 * differ_wild.c deals with an access that left its array.
 */
#ifndef FUZZ_EXPLAIN_DIFFER_INNER_H
#define FUZZ_EXPLAIN_DIFFER_INNER_H

#include "fuzz/explain/differ.h"
#include "fuzz/explain/reads.h"

enum { POINTS_MAX = 1 << 17, VARS_MAX = 32 };

struct differ {
    struct side before, after;
    int kernel; /* that was changed */
    int kb, ka; /* the kernel that stores the buffer in question, on both sides */
    struct arena *a;
    struct index_diff *out;
    struct leaves lb, la;
    /* the first difference */
    int64_t element;
    const struct leaf *fb, *fa; /* copies; NULL = that side has no such load */
};

struct points { /* n iterations of m loop variables, and two addresses in each */
    int m, n;
    int64_t *x, *used, *wanted;
    const char *name[VARS_MAX];
    const char *wanted_buf;
    bool mixed; /* not always the same wanted buffer */
};

/* "buf[affine form of the loops]" through all points, NULL = there is none. */
const char *differ_fitted(struct differ *d, const struct points *p, const char *buf,
                          const int64_t *y);
/* "x[17]", or that a fill is read */
const char *differ_number(struct differ *d, const struct leaf *f);
/* A copy that lives as long as d->a; NULL stays NULL. */
const struct leaf *differ_keep(struct differ *d, const struct leaf *f);
/* "p[3]": the element in question */
const char *differ_stored(struct differ *d);

/* Something is stored that was not, or not any more: fills d->out. */
bool differ_stores(struct differ *d);
/* The run ended in an access outside its array: fills d->out. */
bool differ_wild(struct differ *d);
/* The access of the kernel that a site speaks of, -1 = several or none. */
int differ_access(const struct lprog *l, int kernel, const struct site *s);

#endif
