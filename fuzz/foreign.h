/*
 * What a hunt on compilers that are not ours needs beside: only what they take is drawn, and
 * what they cost is told.
 */
#ifndef FUZZ_FOREIGN_H
#define FUZZ_FOREIGN_H

#include <jansson.h>

#include "fuzz/check/check.h"
#include "fuzz/gen/gen.h"

/* Tries what the adapters of o can do, says so on stderr, and leaves in g what at least one of
 * them takes; without a backend of ours, no schedule steps. ERR_USAGE: nothing is left. */
int foreign_narrow(struct check_opts *o, struct gen_opts *g, struct err *e);
/* Nobody runs anything on them any more. */
void foreign_close(const struct check_opts *o);
/* A line for each backend that runs in processes of its own: its time, and the framework's. */
void foreign_print(const struct check_opts *o);
json_t *foreign_json(const struct check_opts *o);

#endif
