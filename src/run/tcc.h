/*
 * What backend tcc hands to libtcc, for measuring the bare compiler on the same texts; and how
 * it makes a state, for others who compile in memory.
 */
#ifndef RUN_TCC_H
#define RUN_TCC_H

#include "base/str.h"
#include "lower/loop.h"

struct TCCState;
/* To compile into memory, libm's functions known; messages go to the log. */
struct TCCState *tcc_state_new(struct str *log);

/* Preludes, kernels and entries of both algebras; text is of emit_c. */
void tcc_text(const struct lprog *l, const char *text, struct str *s);
/* A state, compiled, relocated, thrown away. False = it did not compile. */
bool tcc_compile_only(const char *text);

#endif
