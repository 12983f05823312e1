/*
 * Backends that are wrong on purpose, for the selftest: what a tester passes when it is
 * handed these, it does not test. None is in the table of backends.
 */
#ifndef FUZZ_CHECK_FAKE_H
#define FUZZ_CHECK_FAKE_H

#include "run/run.h"

/* zeros, ones, the first input that fits, memory as it was, what the last trial left */
extern const struct backend *const null_backends[];
extern const int n_null_backends;

/* The interpreter with one bit of its first output element turned over. */
extern const struct backend be_flip;

#endif
