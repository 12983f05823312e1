/* Inside of emit: what the two kinds of a standalone repro have in common (emit_repro.c). */
#ifndef EMIT_REPRO_H
#define EMIT_REPRO_H

#include "emit/emit.h"

/* The comment with the trial; how: "cc repro.c && ./a.out", told to the reader */
void repro_opening(const struct repro *r, const char *how, struct str *s);
void repro_inputs(const struct repro *r, struct arena *a, struct str *s); /* in_NAME[] */
void repro_memory(const struct repro *r, struct str *s);                  /* memory[] */
void repro_outputs(const struct repro *r, struct str *s);                 /* output[] */

#endif
