/*
 * The outputs of a run, kept; and those of a trial's twin: the same program without schedule
 * and fault, evaluated op by op in its own dtypes, which is what "eager" means elsewhere. One
 * judge (judge/rules.h) takes its tolerance from there.
 */
#ifndef FUZZ_CHECK_TWIN_H
#define FUZZ_CHECK_TWIN_H

#include "fuzz/check/check.h"

/* Of what an output's storage holds. */
size_t output_bytes(const struct trial *t, int out);
/* The outputs of a run that came to its end, copied into a. */
const void *const *outputs_copy(const struct trial *t, const struct outcome *o,
                                struct arena *a);

/* o's judge as judge_compare needs it for trial t in ieee: with the twin's outputs, if it
 * asks for them, in a. Uses c->env, whose runs are forgotten. */
struct judge_opts twin_judge(struct checker *c, const struct trial *t,
                             const struct check_opts *o, struct arena *a);

#endif
