/*
 * Which memory of its blocks a bound kernel touches, and where threads would come into
 * conflict: a walk through the body of one block in the order of its statements, all threads at
 * once.
 *
 * Loops in which something may have to be ordered are walked iteration by iteration. What
 * lies below them, down to the single access, is a unit: no barrier can stand in it. Every
 * thread's addresses are computed, so that a thread that reads only what it wrote itself
 * needs nobody's consent.
 */
#ifndef LOWER_SYNC_H
#define LOWER_SYNC_H

#include "lower/nest.h"

enum hazard { HAZARD_RAW, HAZARD_WAR, HAZARD_WAW };

/* A place for a barrier: in front of statement `at`. */
struct conflict {
    int at;
    enum hazard hazard;
    int buffer; /* that the later access is of */
};

struct sync;

struct sync *sync_open(struct lprog *l, int kernel);
/*
 * The first two accesses in order of time that are not ordered, although barriers stand in
 * front of the statements with before[at] true; the place is between them, as late as
 * possible: just before the later one, or at the end of the loop that comes round to it.
 */
bool sync_conflict(struct sync *s, const bool *before, struct conflict *c);

#endif
