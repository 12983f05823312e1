/*
 * What the outputs of a run hold, as one number: equal for two runs of which each element
 * holds the same. In ieee a NaN is a NaN, and a zero has no sign, as these are free.
 */
#ifndef FUZZ_CHECK_DIGEST_H
#define FUZZ_CHECK_DIGEST_H

#include "ir/outcome.h"
#include "ir/trial.h"

/* o has run to its end. */
uint64_t outputs_digest(const struct trial *t, const struct outcome *o);

#endif
