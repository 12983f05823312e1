/*
 * logsoftmax of floats in ieee: d - log(sum of exp(d)), d = x - max. An error of the maximum
 * moves both terms alike and cancels; the sum is 1 or more, so that its logarithm is off by
 * what the sum is off relatively, and by roundings of its own.
 */
#include "judge/soft.h"

/* One line, in place. */
static void logsoftmax(struct val *x, int64_t n, double blocks, bool foreign, struct soft *s)
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
    for (int64_t k = 0; k < n; k++) {
        real d = x[k].v - most, y = d - log_sum;
        double e = x[k].e + UNIT * (fabs((double)d) + x[k].e + shift) + off;

        if (foreign) /* x - (max + log(sum)) is the same to many */
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
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    struct lines l = ref_lines(&x->sh, x->axis);
    const struct val *src = r->want->node[x->arg[0].node].ieee;
    struct val *line = arena_array(r->arena, struct val, l.n);
    struct soft s = { arena_array(r->arena, real, l.n), arena_array(r->arena, double, l.n), 0,
                      r->apart };
    double blocks = (double)ref_blocks(r, i, l.n);

    w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t k = 0; w->n && k < l.outer * l.inner; k++) {
        int64_t at = k / l.inner * l.n * l.inner + k % l.inner;

        for (int64_t j = 0; j < l.n; j++)
            line[j] = src[at + j * l.inner];
        logsoftmax(line, l.n, blocks, r->foreign, &s);
        for (int64_t j = 0; j < l.n; j++)
            w->ieee[at + j * l.inner] = line[j];
    }
    ref_store(r, i);
    r->grade[i] = GRADE_BOUND;
}
