/* softmax of floats in ieee; see soft.h. */
#include "judge/soft.h"

int soft_kind(const struct val *x, int64_t n)
{
    int saw = 0;
    bool any = false;

    for (int64_t k = 0; k < n; k++) {
        int kind = sum_kind(x[k]);

        saw |= kind;
        any |= !kind;
    }
    if (saw & (SAW_NAN | SAW_PLUS)) /* inf - inf */
        return SAW_NAN;
    if (saw & SAW_UNJUDGED)
        return SAW_UNJUDGED;
    return any ? 0 : SAW_MINUS;
}

/* e to the a, less 1; a >= 0 */
static double grown(double a)
{
    return a <= 0.5 ? a * (1 + a) : expm1(a) * (1 + 0x1p-40);
}

void soft_weigh(const struct val *x, int64_t n, double blocks, struct soft *s)
{
    double shift = 0; /* how far off the maximum may be */
    double loose;
    real most = -HUGE_VAL, sum = 0;

    for (int64_t k = 0; k < n; k++) {
        most = x[k].v > most ? x[k].v : most;
        shift = x[k].e > shift ? x[k].e : shift;
    }
    /* a weight is an exp, and one more for its block and each later one; (1 + loose)^.. */
    loose = s->loose * (1 + s->loose) * (blocks > 0 ? 2 + blocks : 1);
    for (int64_t k = 0; k < n; k++) {
        real d = most - x[k].v;
        double far = (double)d + x[k].e + shift;

        s->p[k] = 0;
        s->rel[k] = 0;
        if (!((double)d - x[k].e - shift <= DEEP))
            continue;
        s->p[k] = real_exp(-d);
        sum += s->p[k];
        /* whoever computes a weight anew has a maximum of his own too */
        s->rel[k] = grown(x[k].e + (s->apart ? shift : 0) +
                          UNIT * (4 * far + 2.5 + 5 * blocks) + loose);
    }
    s->mean = 0;
    for (int64_t k = 0; k < n; k++) {
        s->p[k] /= sum;
        if (s->p[k] > 0)
            s->mean += (double)s->p[k] * s->rel[k];
    }
}

/* One line, in place. */
static void softmax(struct val *x, int64_t n, double blocks, struct soft *s)
{
    double sums = ((double)n + 2 * blocks) * UNIT, room;
    int kind = soft_kind(x, n);

    if (!kind)
        soft_weigh(x, n, blocks, s);
    room = 1 - s->mean - sums;
    for (int64_t k = 0; k < n; k++) {
        double r = s->rel[k], e;

        if (kind == SAW_UNJUDGED || (!kind && !(room > 0.25)))
            x[k] = val_unjudged();
        else if (kind)
            x[k] = val_exact(NAN);
        else if (isinf(x[k].v))
            x[k] = val_exact(0);
        else {
            e = (double)s->p[k] * (r + s->mean + sums + 4 * UNIT * (1 + r)) / room;
            x[k] = (struct val){ s->p[k], e + 4 * REAL_LEAST_NORMAL };
            if (!val_is_number(x[k]))
                x[k] = val_unjudged();
        }
    }
}

void soft_rows(struct ref *r, int i, soft_row_fn *row)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    struct lines l = ref_lines(&x->sh, x->axis);
    const struct val *src = r->want->node[x->arg[0].node].ieee;
    struct val *line = arena_array(r->arena, struct val, l.n);
    struct soft s = { arena_array(r->arena, real, l.n),
                      arena_array(r->arena, double, l.n),
                      0,
                      r->apart,
                      r->foreign,
                      ref_loose(r) };
    double blocks = (double)ref_blocks(r, i, l.n);

    w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t k = 0; w->n && k < l.outer * l.inner; k++) {
        int64_t at = k / l.inner * l.n * l.inner + k % l.inner;

        for (int64_t j = 0; j < l.n; j++)
            line[j] = src[at + j * l.inner];
        row(line, l.n, blocks, &s);
        for (int64_t j = 0; j < l.n; j++)
            w->ieee[at + j * l.inner] = line[j];
    }
    ref_store(r, i);
    r->grade[i] = GRADE_BOUND;
}

void ref_bound_softmax(struct ref *r, int i)
{
    soft_rows(r, i, softmax);
}
