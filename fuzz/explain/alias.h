/* Two buffers in the same bytes of the arena: what a wrong memory plan did. */
#ifndef FUZZ_EXPLAIN_ALIAS_H
#define FUZZ_EXPLAIN_ALIAS_H

#include "fuzz/explain/explain.h"

/* The buffer that the last rewrite placed, and the one whose bytes it took although they are
 * still read: fills site[], note and loops of x. */
void alias_explain(const struct lprog *before, const struct lprog *after, struct arena *a,
                   struct explanation *x);

#endif
