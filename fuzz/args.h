/*
 * Options that several commands take: what a trial runs on and how it is judged. A command
 * puts the rows into its own table and hands keys that it does not know to the parser.
 */
#ifndef FUZZ_ARGS_H
#define FUZZ_ARGS_H

#include <argp.h>

#include "fuzz/check/check.h"

enum { ARG_BACKENDS = 0x4000, ARG_ALGEBRA, ARG_JUDGE, ARG_RTOL, ARG_ATOL };

// clang-format off
#define ARGS_BACKENDS                                                                          \
    { "backends", ARG_BACKENDS, "LIST", 0, "run on these (default interp,tcc)", 2 }
#define ARGS_ALGEBRA                                                                           \
    { "algebra", ARG_ALGEBRA, "LIST", 0, "ring, ieee (default both)", 2 }
#define ARGS_JUDGE                                                                             \
    { "judge", ARG_JUDGE, "NAME", 0, "bound (default, proven) or tolerance", 3 },              \
    { "rtol", ARG_RTOL, "X", 0, "judge by atol + rtol * |want|", 3 },                          \
    { "atol", ARG_ATOL, "X", 0, "likewise", 3 }
// clang-format on

/* 0 or ARGP_ERR_UNKNOWN; bad values exit 2. */
error_t args_check(int key, char *arg, struct argp_state *state, struct check_opts *o);

#endif
