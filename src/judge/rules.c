#include "judge/rules.h"

#include <string.h>

#include "base/bug.h"
#include "judge/element.h"
#include "judge/walk.h"

const struct judge_rule judge_rules[] = {
#define JUDGE(name, kind, h_rtol, h_atol, b_rtol, b_atol, f_rtol, f_atol, d_rtol, d_atol,      \
              factor, help)                                                                    \
    {                                                                                          \
        name,                                                                                  \
        help,                                                                                  \
        JUDGE_##kind,                                                                          \
        { [DT_F16] = h_rtol, [DT_BF16] = b_rtol, [DT_F32] = f_rtol, [DT_F64] = d_rtol },       \
        { [DT_F16] = h_atol, [DT_BF16] = b_atol, [DT_F32] = f_atol, [DT_F64] = d_atol },       \
        factor,                                                                                \
    },
#include "judge/rules.def"
#undef JUDGE
};
const int n_judge_rules = ARRAY_LEN(judge_rules);

const struct judge_rule *judge_rule_find(const char *name)
{
    for (int i = 0; i < n_judge_rules; i++)
        if (!strcmp(judge_rules[i].name, name))
            return &judge_rules[i];
    return NULL;
}

const struct judge_rule *judge_rule_of(const struct judge_opts *o)
{
    enum judge_kind kind = o->tolerance ? JUDGE_GIVEN : JUDGE_PROVEN;

    if (o->peer)
        return o->peer;
    for (int i = 0; i < n_judge_rules; i++)
        if (judge_rules[i].kind == kind)
            return &judge_rules[i];
    BUG("no judge of kind %d", (int)kind);
}

/* Two roundings of v beside numbers around it, as the rule's authors measure them. */
static double two_roundings(enum dtype dt, double v)
{
    double moved = grid_round(dt, grid_round(dt, v + 0.3) - 0.3);

    return 2 * fabs(moved - v);
}

double judge_twin_limit(const struct want *w, int out, const struct judge_opts *o)
{
    const struct output *p = &w->trial->prog.out[out];
    const struct node *x = &w->trial->prog.node[p->node];
    const struct want_node *n = &w->node[p->node];
    struct layout l = layout_of(&p->layout, &x->sh);
    struct walk walk = walk_begin(&x->sh, l.stride, l.offset);
    const unsigned char *storage;
    double most = 0, dust = 0;
    int bytes = dtype_info(x->dt)->bytes;

    if (!n->ieee && !n->wide)
        return 0;
    if (!o->twin)
        return HUGE_VAL;
    storage = o->twin[out];
    for (int64_t k = 0; walk.rows > 0; walk_next(&walk))
        for (int64_t i = 0; i < walk.inner; i++, k++) {
            struct val want = judge_value(n, k);
            double v = grid_round(x->dt, want.v), off;

            if (want.e < 0 || !isfinite(v))
                continue;
            off = fabs(grid_load(x->dt, storage + (walk.at + i * walk.inner_step) * bytes) - v);
            most = off > most || isnan(off) ? off : most;
            dust = fmax(dust, two_roundings(x->dt, v));
        }
    return isnan(most) ? HUGE_VAL : o->peer->factor * most + dust;
}
