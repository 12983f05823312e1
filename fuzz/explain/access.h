/* Accesses and loops as text, view stacks turned into index expressions. */
#ifndef FUZZ_EXPLAIN_ACCESS_H
#define FUZZ_EXPLAIN_ACCESS_H

#include "run/interp.h"

/* "x[8*c.i0 + c.i1]", with its guards: "(c.i0 < 3 ? x[..] : 0)". l's expression table grows;
 * its program does not change. */
const char *access_text(const struct lprog *l, int access, struct arena *a);
/* Is that text what the access did in every iteration that was traced? */
bool access_true(const struct lprog *l, int access, const struct trace *t);
/* "c.i0=0 c.i1=3" */
const char *loops_text(const struct lprog *l, const struct loops *loops, struct arena *a);
/* How a buffer is called where an input and an output may share a name: "x", "iota". */
const char *buffer_text(const struct buffer *b);

#endif
