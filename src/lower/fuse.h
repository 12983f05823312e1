/* The two ways to fuse a producer into a consumer; see pass_fuse.c. */
#ifndef LOWER_FUSE_H
#define LOWER_FUSE_H

#include "lower/nest.h"

struct fuse {
    int p, c;          /* kernels */
    int buffer;        /* that P stores */
    int *read, n_read; /* accesses of C to it */
    /* the value that takes the place of a read */
    int (*value_of)(struct lprog *l, const struct fuse *f, int access);
    int value;     /* of P's store */
    const int *to; /* reduce: P's output variables -> index expressions in C */
};

int fuse_inline(struct lprog *l, struct fuse *f, int step, struct err *e);
int fuse_reduce(struct lprog *l, struct fuse *f, int step, struct err *e);

/* accesses in k that load the buffer; returns how many */
int fuse_reads(struct lprog *l, const struct kernel *k, int buffer, int **access);
/* statement number of the kernel's store */
int fuse_store(const struct kernel *k);
/* val with every read of f->buffer replaced */
int fuse_replace(struct lprog *l, int val, const struct fuse *f);

#endif
