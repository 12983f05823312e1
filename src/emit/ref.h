/* The reference of a repro (emit_ref.c), and what its frame needs of it (emit_repro.c). */
#ifndef EMIT_REF_H
#define EMIT_REF_H

#include "emit/pieces.h"
#include "ir/trial.h"

extern const struct pieces ref_pieces; /* rows of ref.def */

/* Arrays w_NAME for every live node and `static void reference(void)` that fills them from
 * the data arrays in_NAME: one loop nest a node, from the definition of its op. */
void emit_ref(const struct trial *t, enum algebra al, struct str *s);

#endif
