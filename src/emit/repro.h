/* Inside of emit: what the two kinds of a standalone repro have in common (emit_repro.c). */
#ifndef EMIT_REPRO_H
#define EMIT_REPRO_H

#include "emit/emit.h"

/* The comment with the trial; how: "cc repro.c && ./a.out", told to the reader */
void repro_opening(const struct repro *r, const char *how, struct str *s);
/* reference(), memory[], output[] */
void repro_reference(const struct repro *r, struct str *s);
/* in_NAME[], the pieces that the tail uses, and the tail, which is given back. */
void repro_end(const struct repro *r, struct arena *a, struct str *tail, struct str *s);

#endif
