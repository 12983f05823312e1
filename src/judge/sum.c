/* See sum.h: the bound of a sum, and the sum of terms that are no numbers. */
#include "judge/sum.h"

int sum_kind(struct val x)
{
    if (x.e < 0)
        return SAW_UNJUDGED;
    if (isnan(x.v))
        return SAW_NAN;
    return isfinite(x.v) ? 0 : x.v > 0 ? SAW_PLUS : SAW_MINUS;
}

double sum_gamma(double h)
{
    double hu = h * UNIT;

    return hu < 0.5 ? hu / (1 - hu) : HUGE_VAL;
}

struct val sum_bound(struct sum x, double gamma, double tiny, bool integer)
{
    double most = x.t + x.e, e = x.e + gamma * most;

    if (!(most + e <= (double)FLT_MAX)) /* some order may overflow; or a special is among */
        return val_unjudged();
    if (integer && x.t <= 0x1p24)
        return val_exact(x.s);
    return (struct val){ x.s, e > 0 ? e + tiny : 0 };
}

struct val sum_special(int saw, struct sum x)
{
    if (saw & SAW_UNJUDGED)
        return val_unjudged();
    if (saw & SAW_NAN || (saw & SAW_PLUS && saw & SAW_MINUS))
        return val_exact(NAN);
    if (!saw || !(x.t + x.e <= (double)FLT_MAX / 2))
        return val_unjudged();
    return val_exact(saw & SAW_PLUS ? HUGE_VAL : -HUGE_VAL);
}
