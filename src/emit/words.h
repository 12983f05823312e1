/*
 * What emit_value.c puts together: words of the vocabulary, see emit_words.c. An "open" text
 * is a macro with its bracket, "" = none; cgen_close closes it.
 */
#ifndef EMIT_WORDS_H
#define EMIT_WORDS_H

#include "emit/cgen.h"

/* "TF_I2F(": from one dtype to another; NULL = nothing to do */
const char *cgen_cast_open(enum dtype from, enum dtype to);
void cgen_close(struct cgen *g, const char *open);
/* "TF_TO_F16(": rounds to the grid of a half */
const char *cgen_round_open(enum dtype dt);
/* "TF_ADD"; dt is that of the operand that decides (for where the last) */
const char *cgen_word(const struct lprog *l, enum op op, enum dtype dt);
/* cgen_round_open, unless the result needs no rounding or a store rounds it */
const char *cgen_round(enum op op, enum dtype result, bool stored);

#endif
