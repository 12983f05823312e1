/*
 * Edges of a program, from a node to one of its readers, and copies inserted on them. A copy
 * is an identity that has to be stored, so what a compiler fuses over the edge is parted.
 */
#ifndef FUZZ_EXPLAIN_EDGE_H
#define FUZZ_EXPLAIN_EDGE_H

#include "ir/trial.h"

struct edge {
    int to, operand; /* node, and which of its operands */
    int from;        /* the node that this is */
};

/* The edges of all that outputs need, in the order of the program, in a. Literals have none. */
int edge_list(const struct prog *p, struct edge **list, struct arena *a);

/*
 * t with a copy on e, in a; its nodes from e.to on are one further down. With the whole
 * schedule, of which not all may be legal any more; or with what it sets alone.
 */
struct trial *edge_copied(const struct trial *t, const struct edge *e, bool schedule,
                          struct arena *a);

/* Leaves out of a trial's steps all but those that set knobs. */
void steps_keep_set(struct trial *t, struct arena *a);

#endif
