/*
 * Is one stored element right? The one rule by which outputs are judged, and by which null
 * kernels are tried.
 */
#ifndef JUDGE_ELEMENT_H
#define JUDGE_ELEMENT_H

#include <math.h>
#include <string.h>

#include "judge/judge.h"

enum judged { IS_RIGHT, IS_WRONG, NOT_JUDGED };

/* What an output is compared with: one of the forms of a want_node. */
struct rule {
    const struct want_node *w;
    int bytes; /* of a stored element */
    const struct judge_opts *opts;
};

static inline struct rule rule_of(const struct want *w, int node, const struct judge_opts *opts)
{
    return (struct rule){ &w->node[node], dtype_info(w->trial->prog.node[node].dt)->bytes,
                          opts };
}

static inline double rule_bound(const struct judge_opts *o, struct val want)
{
    return o->tolerance ? o->atol + o->rtol * fabs(want.v) : want.e;
}

static inline enum judged judge_float(const struct judge_opts *o, struct val want, float got)
{
    if (want.e < 0)
        return NOT_JUDGED;
    if (fabs((double)got - want.v) <= rule_bound(o, want))
        return IS_RIGHT;
    if (isnan(want.v))
        return isnan(got) ? IS_RIGHT : IS_WRONG;
    return isinf(want.v) && (double)got == want.v ? IS_RIGHT : IS_WRONG;
}

/* Element k of the want, stored at got. */
static inline enum judged judge_element(const struct rule *r, int64_t k,
                                        const unsigned char *got)
{
    uint32_t word = *got;
    float f;

    if (r->w->ieee) {
        memcpy(&f, got, sizeof f);
        return judge_float(r->opts, r->w->ieee[k], f);
    }
    if (r->w->unsure && r->w->unsure[k])
        return NOT_JUDGED;
    if (r->bytes == 4)
        memcpy(&word, got, sizeof word);
    return word == r->w->word[k] ? IS_RIGHT : IS_WRONG;
}

#endif
