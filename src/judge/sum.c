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

struct val sum_bound(const struct acc *a, struct sum x, struct gammas g, double tiny,
                     bool integer)
{
    double most = x.t + x.e, terms = x.e + g.term * most;
    double e = terms + g.add * ((x.t + fabs((double)x.s)) / 2 + terms);

    if (!(most + e <= a->most)) /* some order may overflow; or a special is among */
        return val_unjudged();
    if (integer && x.t <= a->whole)
        return val_exact(x.s);
    /* (magnitudes of products of f64 may be below what a double says) */
    if ((most == 0 && !(DUST > 0 && tiny > 0)) || (g.term + g.add == 0 && x.e == 0))
        return val_exact(x.s);
    return (struct val){ x.s, e + tiny + DUST };
}

struct val sum_special(const struct acc *a, int saw, struct sum x)
{
    if (saw & SAW_NAN || (saw & SAW_PLUS && saw & SAW_MINUS))
        return saw & SAW_UNJUDGED ? val_unjudged() : val_exact(NAN);
    if (saw & SAW_UNJUDGED)
        return val_unjudged();
    if (!saw || !(x.t + x.e <= a->most / 2))
        return val_unjudged();
    return val_exact(saw & SAW_PLUS ? HUGE_VAL : -HUGE_VAL);
}

int sum_dot_kinds(const struct val *x, const struct val *y, int64_t k, int64_t n,
                  struct sum *sum)
{
    int saw = 0;

    for (int64_t l = 0; l < k; l++) {
        struct val a = x[l], b = y[l * n];

        if (val_is_number(a) && val_is_number(b)) {
            sum->t += fabs((double)(a.v * b.v));
            sum->e += (fabs((double)a.v) + a.e) * b.e + fabs((double)b.v) * a.e;
        } else {
            saw |= sum_kind(special_binary(OP_MUL, a, b));
        }
    }
    return saw;
}

struct val sum_dot_special(const struct acc *a, const struct val *x, const struct val *y,
                           int64_t k, int64_t n)
{
    struct sum sum = { 0 };
    int saw = sum_dot_kinds(x, y, k, n, &sum);

    return sum_special(a, saw, sum);
}
