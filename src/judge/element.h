/*
 * Is one stored element right? The one rule by which outputs are judged, and by which null
 * kernels are tried.
 */
#ifndef JUDGE_ELEMENT_H
#define JUDGE_ELEMENT_H

#include <math.h>
#include <string.h>

#include "judge/grid.h"
#include "judge/rules.h"

enum judged { IS_RIGHT, IS_WRONG, NOT_JUDGED };

enum { MAX_BYTES = 8 }; /* of a stored element */

/* What an output is compared with: one of the forms of a want_node. */
struct rule {
    const struct want_node *w;
    enum dtype dt;
    int bytes;    /* of a stored element */
    bool proven;  /* by the element's own bound, else by these: */
    bool rounded; /* the reference is rounded to the dtype first */
    double rtol, atol;
};

static inline struct rule rule_of(const struct want *w, int node, const struct judge_opts *o)
{
    enum dtype dt = w->trial->prog.node[node].dt;
    struct rule r = { &w->node[node], dt, dtype_info(dt)->bytes, .proven = true };

    if (o->peer) {
        r.proven = false;
        r.rounded = true;
        r.rtol = o->peer->rtol[dt];
        r.atol = o->peer->atol[dt];
    } else if (o->tolerance) {
        r.proven = false;
        r.rtol = o->rtol;
        r.atol = o->atol;
    }
    return r;
}

static inline double rule_bound(const struct rule *r, struct val want)
{
    if (r->proven)
        return want.e;
    return isfinite(want.v) ? r->atol + r->rtol * fabs(want.v) : 0;
}

/* want is exactly infinite or NaN, or got lies too far off */
static inline enum judged judge_special(double want, double got)
{
    if (isnan(want))
        return isnan(got) ? IS_RIGHT : IS_WRONG;
    return isinf(want) && got == want ? IS_RIGHT : IS_WRONG;
}

static inline enum judged judge_float(const struct rule *r, struct val want, double got)
{
    if (want.e < 0)
        return NOT_JUDGED;
    if (r->rounded)
        want.v = grid_round(r->dt, want.v);
    if (fabs(got - want.v) <= rule_bound(r, want))
        return IS_RIGHT;
    return judge_special(want.v, got);
}

static inline enum judged judge_wide(const struct rule *r, struct wide want, double got)
{
    if (want.e < 0)
        return NOT_JUDGED;
    if (r->rounded)
        want.v = (double)want.v;
    if (fabs((double)(got - want.v)) <= rule_bound(r, (struct val){ (double)want.v, want.e }))
        return IS_RIGHT;
    return judge_special((double)want.v, got);
}

/* Element k of the want, stored at got. */
static inline enum judged judge_element(const struct rule *r, int64_t k,
                                        const unsigned char *got)
{
    uint32_t word = *got, high = 0;
    uint16_t half;
    float f;

    if (r->w->ieee && r->dt == DT_F32) {
        memcpy(&f, got, sizeof f);
        return judge_float(r, r->w->ieee[k], (double)f);
    }
    if (r->w->ieee)
        return judge_float(r, r->w->ieee[k], grid_load(r->dt, got));
    if (r->w->wide)
        return judge_wide(r, r->w->wide[k], grid_load(r->dt, got));
    if (r->w->unsure && r->w->unsure[k])
        return NOT_JUDGED;
    if (r->bytes >= 4)
        memcpy(&word, got, sizeof word);
    if (r->bytes == 8) /* of a stored f64 word */
        memcpy(&high, got + 4, sizeof high);
    if (r->bytes == 2) {
        memcpy(&half, got, sizeof half);
        word = half;
    }
    return word == r->w->word[k] && !high ? IS_RIGHT : IS_WRONG;
}

#endif
