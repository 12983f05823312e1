/*
 * The meaning of bound kernels as ordinary loops: each statement, or the largest piece in
 * which no thread can see what another does, stands inside loops over all threads; each
 * thread's accumulators become one array; shared buffers become temps at the same distances
 * from each other, so that what lies over each other still does.
 */
#ifndef LOWER_SERIAL_H
#define LOWER_SERIAL_H

#include "lower/loop.h"

/* In place; afterwards no loop is BLOCK, THREAD, WIDE or MMA, and no statement is of the
 * kinds of bound kernels. No rewrite: it can't be withheld, and it is never at fault. */
void lower_serial(struct lprog *l);

#endif
