/*
 * Options that several commands take: what a trial runs on and how it is judged. A command
 * puts the rows into its own table and hands keys that it does not know to the parser.
 */
#ifndef FUZZ_ARGS_H
#define FUZZ_ARGS_H

#include <argp.h>

#include "base/str.h"
#include "fuzz/check/check.h"
#include "fuzz/finding.h"

enum { ARG_BACKENDS = 0x4000, ARG_ALGEBRA, ARG_JUDGE, ARG_RTOL, ARG_ATOL, ARG_EXACT };

// clang-format off
#define ARGS_BACKENDS                                                                          \
    { "backends", ARG_BACKENDS, "LIST", 0,                                                      \
      "run on these (default interp,tcc; cc = all of it; plugin:FILE.so, exec:COMMAND)", 2 }
#define ARGS_ALGEBRA                                                                           \
    { "algebra", ARG_ALGEBRA, "LIST", 0, "ring, ieee (default both)", 2 }
#define ARGS_JUDGE                                                                             \
    { "judge", ARG_JUDGE, "NAME", 0, "bound (default, proven), or see list judges", 3 },              \
    { "rtol", ARG_RTOL, "X", 0, "judge by tolerance: atol + rtol * |want|", 3 },                          \
    { "atol", ARG_ATOL, "X", 0, "see --rtol", 3 },                                              \
    { "exact-sets", ARG_EXACT, "N", 0, "sets of exact data per trial, 0 to 4 (default 2)", 3 }
// clang-format on

/* A trial with GPU steps goes to the SIMT machine too, unless the user named the backends. */
void args_gpu(struct check_opts *o, const struct trial *t);
/* The backend that showed a stored finding is added to the default ones where it is another;
 * ERR_MISSING if it is not here. f may be of no bug. */
int args_finding(struct check_opts *o, const struct finding *f, struct err *e);

/* A blank and the word, quoted if a shell would take it apart. */
void args_word(struct str *s, const char *word);

/* 0 or ARGP_ERR_UNKNOWN; bad values exit 2. */
error_t args_check(int key, char *arg, struct argp_state *state, struct check_opts *o);
/* What o differs in from the defaults, as options: " --backends tcc --rtol 1e-05 --atol 0". */
void args_check_print(const struct check_opts *o, struct str *s);

#endif
