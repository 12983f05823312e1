/*
 * Casts from and to floats in ieee. From f64 to a half is one rounding, never two; a wider
 * float takes all that a narrower one has; integers are rounded once.
 */
#include "judge/ref.h"

/* All exact: as good as the operand was, for a rounded integer is one too. */
static void grade_cast(struct ref *r, int i, enum grade from)
{
    const struct want_node *w = &r->want->node[i];

    r->grade[i] = from;
    for (int64_t k = 0; k < w->n && r->grade[i] > GRADE_BOUND; k++)
        if (w->ieee ? w->ieee[k].e != 0 : w->wide[k].e != 0)
            r->grade[i] = GRADE_BOUND;
}

struct val val_stored(enum dtype dt, struct val x)
{
    double low, high, off;

    if (x.e < 0 || !isfinite(x.v))
        return x;
    if (x.e == 0)
        return val_exact(grid_round(dt, x.v));
    off = x.e * (1 + 0x1p-50) + fabs(x.v) * 0x1p-51;
    low = grid_round(dt, x.v - off);
    high = grid_round(dt, x.v + off);
    if (low == high)
        return (struct val){ low, low == 0 ? DBL_TRUE_MIN : 0 };
    off = high - x.v > x.v - low ? high - x.v : x.v - low;
    x.e = off * (1 + 0x1p-50);
    return isfinite(low) && isfinite(high) && val_is_number(x) ? x : val_unjudged();
}

/* One rounding of an f64: |v| SLACK more of error covers the way through double. */
static struct val val_of_wide(enum dtype dt, struct wide x)
{
    double v = (double)x.v;

    if (x.e <= 0)
        return (struct val){ x.e < 0 ? (double)NAN : grid_round(dt, v), x.e };
    return val_stored(dt, (struct val){ v, x.e + fabs(v) * 0x1p-52 });
}

static void from_word(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    struct words a;

    ref_words(r, &x->arg[0], DT_I32, &a);
    for (int64_t k = 0; k < w->n; k++) {
        double v = grid_round(x->dt, (double)(int32_t)a.p[k * a.step]);
        bool unsure = a.unsure && a.unsure[k];

        if (w->wide)
            w->wide[k] = unsure ? (struct wide){ NAN, -1 } : (struct wide){ v, 0 };
        else
            w->ieee[k] = unsure ? val_unjudged() : val_exact(v);
    }
    grade_cast(r, i, GRADE_INTEGER);
}

static void from_float(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    const struct want_node *o = &r->want->node[x->arg[0].node];

    for (int64_t k = 0; k < w->n; k++) {
        if (w->wide)
            w->wide[k] = (struct wide){ o->ieee[k].v, o->ieee[k].e };
        else
            w->ieee[k] =
                o->wide ? val_of_wide(x->dt, o->wide[k]) : val_stored(x->dt, o->ieee[k]);
    }
    grade_cast(r, i, r->grade[x->arg[0].node]);
}

void ref_cast(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    int from = x->arg[0].node;
    enum dtype dt = r->prog->node[from].dt;

    if (!ref_is_float(x->dt)) {
        (dt == DT_F64 ? &ref_wide : &ref_narrow)->to_word(r, i);
        return;
    }
    if (dt == x->dt || (x->dt == DT_F32 && grid_is_half(dt))) {
        *w = r->want->node[from]; /* nothing is lost */
        r->grade[i] = r->grade[from];
        return;
    }
    if (x->dt == DT_F64)
        w->wide = arena_array(r->arena, struct wide, w->n);
    else
        w->ieee = arena_array(r->arena, struct val, w->n);
    if (ref_is_float(dt))
        from_float(r, i);
    else
        from_word(r, i);
}
