/*
 * Names of nodes: which are legal, a table that finds one among thousands, and the nearest
 * spelling for messages. Private to src/ir.
 */
#ifndef IR_NAMES_H
#define IR_NAMES_H

#include "ir/trial.h"

/* NULL if the n bytes at s may name a node, else what was expected instead. */
const char *name_fault(const char *s, size_t n);

/* May the n bytes at s name a part of a composite: NULL or what was expected? */
const char *part_fault(const char *s, size_t n);
/* name_fault, but a part may follow after a point: a node that expansion has made. */
const char *full_name_fault(const char *name);

/* An open-addressing table of node numbers + 1. Big enough for MAX_NODES and lives on the
 * stack; only the part in use is cleared. */
struct names {
    const struct prog *prog;
    int n;
    unsigned mask;
    int16_t slot[2 * MAX_NODES];
};

void names_init(struct names *t, const struct prog *p);
int names_find(const struct names *t, const char *s, size_t n); /* node number or -1 */
void names_add(struct names *t, int node);                      /* not in there yet */

/* Is `word` a slip for `name`: few enough letters changed, added, lost or swapped?
 * Gives the number of edits, or 99. */
int name_distance(const char *word, size_t n, const char *name);

#endif
