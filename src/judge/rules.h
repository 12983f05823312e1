/*
 * Judges by name (rules.def). The rules of others look at one thing: the outputs of the
 * trial's own data in ieee, against the reference rounded to the dtype of the output; what is
 * infinite or NaN must be so on both sides, and integers must be equal. Elements that have no
 * reference (val.e < 0) are not judged by them either.
 *
 * One of them sets its tolerance by a twin: the same program, evaluated op by op in its own
 * dtypes without schedule or fault. Whoever runs things hands in what the twin gave.
 */
#ifndef JUDGE_RULES_H
#define JUDGE_RULES_H

#include "judge/judge.h"

enum judge_kind {
    JUDGE_PROVEN, /* the bound, ring, exact data */
    JUDGE_GIVEN,  /* rtol and atol of judge_opts */
    JUDGE_PEER
};

struct judge_rule {
    const char *name, *help;
    enum judge_kind kind;
    double rtol[DT_COUNT], atol[DT_COUNT]; /* PEER */
    double factor; /* > 0: times the largest error of the twin, instead of rtol and atol */
};
extern const struct judge_rule judge_rules[];
extern const int n_judge_rules;

const struct judge_rule *judge_rule_find(const char *name); /* NULL = none */

/* Which rule o asks for: never NULL. */
const struct judge_rule *judge_rule_of(const struct judge_opts *o);
/* Is it ours? Then exact data may be judged as well, and a tier is named by what judged. */
static inline bool judge_is_proven(const struct judge_opts *o)
{
    return !o->tolerance && !o->peer;
}
static inline bool judge_needs_twin(const struct judge_opts *o)
{
    return o->peer && o->peer->factor > 0;
}

/* How far off output `out` may be by a rule with a twin, o->twin being its outputs. Without
 * them (it was too large to run) the rule has no limit, and every number passes. */
double judge_twin_limit(const struct want *w, int out, const struct judge_opts *o);

#endif
