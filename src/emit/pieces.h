/*
 * Pieces of C text that are written only if used: the rows of prelude.def and ref.def.
 * In a piece's text $ is the algebra's name and @ the ring word of log2 e.
 */
#ifndef EMIT_PIECES_H
#define EMIT_PIECES_H

#include "base/str.h"
#include "ir/dtype.h"

struct piece {
    const char *name;
    size_t n;                   /* bytes of the name */
    const char *text[AL_COUNT]; /* NULL = as in ieee, "" = nothing in this algebra */
};

struct pieces {
    const struct piece *row;
    int n;
};

/* used[i] = text names row i, or a used row does */
void pieces_mark(const struct pieces *p, const char *text, enum algebra al, bool *used);
void pieces_put(const struct pieces *p, const bool *used, enum algebra al, struct str *s);

#endif
