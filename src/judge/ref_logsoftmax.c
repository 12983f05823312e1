/*
 * logsoftmax of floats in ieee: d - log(sum of exp(d)), d = x - max. An error of the maximum
 * moves both terms alike and cancels; the sum is 1 or more, so that its logarithm is off by
 * what the sum is off relatively, and by roundings of its own.
 */
#include "judge/soft.h"

/* One line, in place. */
static void logsoftmax(struct val *x, int64_t n, double blocks, struct soft *s)
{
    double sums = ((double)n + 2 * blocks) * UNIT, shift = 0, off;
    real most = -HUGE_VAL, share = 0, log_sum;
    int kind = soft_kind(x, n);

    if (!kind)
        soft_weigh(x, n, blocks, s);
    for (int64_t k = 0; k < n && !kind; k++) {
        most = x[k].v > most ? x[k].v : most;
        share = s->p[k] > share ? s->p[k] : share; /* of the largest: 1 / sum */
        shift = fmax(shift, x[k].e);
    }
    off = (s->mean + sums) * 1.5;
    log_sum = kind ? 0 : -real_log(share);
    off += 4 * UNIT * (fabs((double)log_sum) + off) + (s->apart ? 2 * shift : 0);
    off += s->loose > 0 ? s->loose * (fabs((double)log_sum) + off) + 0x1p-20 : 0;
    for (int64_t k = 0; k < n; k++) {
        real d = x[k].v - most, y = d - log_sum;
        double e = x[k].e + UNIT * (fabs((double)d) + x[k].e + shift) + off;

        if (s->foreign) /* x - (max + log(sum)) is the same to many */
            e += 2 * UNIT * (fabs((double)most) + shift + fabs((double)log_sum));
        e += UNIT * (fabs((double)y) + e) + 2 * TINY;
        if (kind == SAW_UNJUDGED || (!kind && !(s->mean + sums <= 0.25)))
            x[k] = val_unjudged();
        else if (kind)
            x[k] = val_exact(NAN);
        else if (isinf(x[k].v))
            x[k] = val_exact(-HUGE_VAL);
        else
            x[k] = fabs((double)d) + e <= REAL_MAX && fabs((double)y) + e <= REAL_MAX
                       ? (struct val){ y, e }
                       : val_unjudged();
    }
}

void ref_bound_logsoftmax(struct ref *r, int i)
{
    soft_rows(r, i, logsoftmax);
}
