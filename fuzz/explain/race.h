/*
 * Attribution of what the SIMT machine reports: two sites of a bound kernel that nothing
 * orders, or a barrier that not all came to. The interpreter runs the statements one after the
 * other for all threads and is right, so no bisection helps: the loops themselves say which
 * synchronisation stands between the two sites, and the statements and buffers say which
 * rewrite placed them.
 */
#ifndef FUZZ_EXPLAIN_RACE_H
#define FUZZ_EXPLAIN_RACE_H

#include "fuzz/explain/cause.h"

bool race_is(enum verdict_kind k); /* a kind that only the SIMT machine reports */

/* l: lowered for a GPU to the end. Fills pass, rule, class, step, kernel. note, if not NULL,
 * gets a sentence that says what is missing; it lives in a. False = the sites are unknown. */
bool race_cause(const struct lprog *l, const struct verdict *v, struct cause *out,
                struct arena *a, const char **note);

#endif
