/*
 * Products of many floats in ieee: gamma_(n-1) of the product and the errors of the terms
 * carried through, for every order and tree. What some order may overflow is not judged;
 * where one may come below the normal range, each rounding there counts by itself, times
 * what the other factors can make of it.
 */
#include "judge/sum.h"
#include "judge/walk.h"

struct product {
    real v;
    double off;      /* what errors of the terms make of it */
    double top, low; /* products of the factors above 1, and of those below 1 */
    unsigned char saw;
    bool zero, vague; /* an exact zero was among; a term whose sign is open */
};

static void multiply(struct product *p, struct val x)
{
    double size = fabs((double)x.v), most = size + x.e, least = size - x.e;

    if (!val_is_number(x)) {
        p->saw |= (unsigned char)sum_kind(x);
        if (isinf(x.v))
            p->v = signbit(x.v) ? -p->v : p->v;
        return;
    }
    p->off = p->off * most + fabs((double)p->v) * x.e;
    p->v *= x.v;
    p->vague |= x.e > 0 && !(least > 0);
    if (x.e == 0 && x.v == 0) {
        p->zero = true;
        return;
    }
    p->top *= most > 1 ? most : 1;
    p->low *= least > 0 ? (least < 1 ? least : 1) : 0;
}

/* Some factors are no numbers. Infinite if none of the others can become 0 on the way. */
static struct val product_special(const struct acc *a, const struct product *p)
{
    bool sure = !p->vague && p->low >= 2 * a->normal && p->top <= a->most / 2;

    if (p->saw & SAW_UNJUDGED)
        return val_unjudged();
    if (p->saw & SAW_NAN)
        return val_exact(NAN);
    if (p->zero && !p->vague)
        return val_exact(NAN);
    return sure ? val_exact(signbit(p->v) ? -HUGE_VAL : HUGE_VAL) : val_unjudged();
}

static struct val product_bound(const struct acc *a, const struct product *p, double n,
                                bool integer)
{
    double gamma = sum_gamma(a->unit, n > 1 ? n - 1 : 0), size = fabs((double)p->v), e;

    if (p->saw)
        return product_special(a, p);
    if (!(p->top * (1 + gamma) <= a->most))
        return val_unjudged();
    if (integer && p->top <= a->whole)
        return val_exact(p->v);
    if (p->zero) /* a zero whose sign the others decide */
        return (struct val){ 0, DBL_TRUE_MIN };
    e = p->off + gamma * (size + p->off);
    if (!(p->low >= a->normal * (1 + 2 * gamma))) /* on the way it may come below the normal */
        e += (n + 1) * a->tiny * p->top * (1 + gamma);
    return (struct val){ p->v, n > 1 || e > 0 ? e : 0 };
}

void ref_bound_prod(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int from = x->arg[0].node;
    const struct shape *sh = &r->prog->node[from].sh;
    struct want_node *w = &r->want->node[i];
    const struct val *row = r->want->node[from].ieee;
    int64_t step[MAX_RANK], meet = ref_reduce_steps(x, sh, step);
    struct walk walk = walk_begin(sh, step, 0);
    struct product *p = arena_array(r->arena, struct product, w->n);
    bool integer = r->grade[from] == GRADE_INTEGER, all_exact = integer;
    const struct acc acc = ref_acc(r, x->acc);

    for (int64_t k = 0; k < w->n; k++)
        p[k] = (struct product){ .v = 1, .top = 1, .low = 1 };
    for (; walk.rows > 0; walk_next(&walk), row += walk.inner)
        for (int64_t k = 0; k < walk.inner; k++)
            multiply(&p[walk.at + k * walk.inner_step], row[k]);
    w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t k = 0; k < w->n; k++) {
        w->ieee[k] = product_bound(&acc, &p[k], (double)meet, integer);
        if (x->dt != x->acc)
            w->ieee[k] = ref_stored(r, i, w->ieee[k]);
        all_exact &= w->ieee[k].e == 0;
    }
    r->grade[i] = all_exact ? GRADE_INTEGER : GRADE_BOUND;
}
