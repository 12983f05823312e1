/*
 * A reduction over the threads of a block: every thread sums up what is its own, then the
 * partial results meet in shared memory, in "KERNEL.w":
 *
 *   w[thread] = partial                     one element per thread
 *   whole = identity                        every thread adds up its row of them
 *   loop j: whole op= w[row * extent + j]
 *
 * Pass bind writes this form, pass reduce makes it cheaper by shuffles within warps.
 */
#ifndef LOWER_REDUCE_H
#define LOWER_REDUCE_H

#include "lower/nest.h"

enum { WARP = 32 };

/*
 * Makes the reduction loop `var` of the kernel its last THREAD loop, in one rewrite that it
 * asks for itself ("bind.reduce"). The kernel is a nest of BLOCK, THREAD and serial loops round
 * one reduction with one accumulator element. ERR_ILLEGAL, with the step's line, where that
 * does not hold; 0 too if the rewrite is withheld.
 */
int reduce_threads(struct lprog *l, int kernel, int var, int step, struct err *e);

/* The shared buffer in which the threads of that kernel meet, -1 = they don't. Its THREAD
 * loops are final then: another one would not be known to the reduction. */
int reduce_scratch(const struct lprog *l, int kernel);

/* Where the form above stands in a kernel. */
struct meeting {
    int buffer;
    int store;  /* statements: STORE, DECL, LOOP, UPDATE, END follow each other from here */
    int extent; /* threads that meet */
};
bool reduce_meeting(const struct lprog *l, int kernel, struct meeting *m);

#endif
