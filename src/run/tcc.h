/*
 * What backend tcc hands to libtcc, for measuring the bare compiler on the same texts.
 */
#ifndef RUN_TCC_H
#define RUN_TCC_H

#include "base/str.h"
#include "lower/loop.h"

/* Preludes, kernels and entries of both algebras; text is of emit_c. */
void tcc_text(const struct lprog *l, const char *text, struct str *s);
/* A state, compiled, relocated, thrown away. False = it did not compile. */
bool tcc_compile_only(const char *text);

#endif
