/*
 * The command line's side of the generator: --preset, --ops, --no-ops, --steps and one
 * --gen.NAME per knob, for every command that draws trials. A command names gen_argp as a
 * child and hands it a struct gen_opts:
 *
 *     static const struct argp_child children[] = { { &gen_argp, 0, "What is drawn:", 3 },
 *                                                   { 0 } };
 *     case ARGP_KEY_INIT:
 *         gen_opts_default(&o->gen);
 *         state->child_inputs[0] = &o->gen;
 */
#ifndef FUZZ_GEN_ARGS_H
#define FUZZ_GEN_ARGS_H

#include <argp.h>

#include "base/str.h"
#include "fuzz/gen/gen.h"

extern const struct argp gen_argp;

/* The options that differ from the defaults, as they would be typed (" --preset mha
 * --gen.max_nodes 8"), for lines that are meant to be pasted. "" if none does. */
void gen_opts_print(const struct gen_opts *o, struct str *s);

#endif
