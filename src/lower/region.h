/*
 * Which statements of a bound kernel may be done thread by thread: pieces of its body in
 * which no thread can see what another one does. What lies between two pieces is where, on a
 * GPU, the threads of a block have to meet.
 */
#ifndef LOWER_REGION_H
#define LOWER_REGION_H

#include "lower/loop.h"

enum {
    REGION_APART = 0,   /* a LOOP or IF that is taken apart, and its END */
    REGION_SHUFFLE = -1 /* a statement that reads other threads' accumulators */
};

struct regions {
    int *of;     /* by statement: the number of its piece, 1 .., or one of the above */
    int *parent; /* by statement: the LOOP or IF round it, -1 = none */
};

/* As few pieces as can be had by going through the statements once. A piece is a run of
 * neighbours under one parent, with all that is in them. */
struct regions region_find(struct lprog *l, int kernel);

/* Statements that mean nothing when threads take turns: barriers, waits, flags. */
bool region_silent(const struct stmt *s);

#endif
