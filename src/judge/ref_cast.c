/*
 * Casts from and to floats in ieee. From f64 to a half is one rounding, never two; a wider
 * float takes all that a narrower one has; integers are rounded once.
 */
#include "judge/ref.h"

#include "ir/contract.h"

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

/* Rounded or not: all between the value's own ends and the roundings of these, with the value
 * for the middle. A result that is a number of dtype dt stays exact. */
static struct val rounded_or_not(enum dtype dt, struct val x)
{
    double low, high, least, most, off;

    if (x.e < 0 || !isfinite(x.v))
        return x;
    off = x.e > 0 ? x.e * (1 + 0x1p-50) + fabs(x.v) * 0x1p-51 : 0;
    /* kept as f32, whatever it was added up in, and rounded from there */
    least = (double)(float)(x.v - off);
    most = (double)(float)(x.v + off);
    low = fmin(grid_round(dt, least), grid_round(dt, x.v - off));
    high = fmax(grid_round(dt, most), grid_round(dt, x.v + off));
    if (!isfinite(low) || !isfinite(high)) /* rounded, it is or may be infinite */
        return val_unjudged();
    off = fmax(off, fmax(fmax(high, most) - x.v, x.v - fmin(low, least)));
    x.e = off * (1 + 0x1p-50);
    return val_is_number(x) ? x : val_unjudged();
}

struct val ref_stored(const struct ref *r, int i, struct val x)
{
    enum dtype dt = r->prog->node[i].dt;

    return (r->contract & CONTRACT_MAY_EXCESS) && r->read[i] ? rounded_or_not(dt, x)
                                                             : val_stored(dt, x);
}

/* Is cast i, to a half, one that may be left out as far as its readers go? */
static bool may_be_left_out(const struct ref *r, int i)
{
    return (r->contract & CONTRACT_MAY_UNCAST) && r->read[i] &&
           grid_is_half(r->prog->node[i].dt);
}

/* One rounding of an f64: |v| SLACK more of error covers the way through double. */
static struct val val_of_wide(enum dtype dt, struct wide x)
{
    double v = (double)x.v;

    if (x.e <= 0)
        return (struct val){ x.e < 0 ? (double)NAN : grid_round(dt, v), x.e };
    return val_stored(dt, (struct val){ v, x.e + fabs(v) * 0x1p-52 });
}

/* An f64 with room for a rounding to f32. */
static struct val in_single(struct wide x)
{
    double v = (double)x.v;

    if (x.e < 0 || !isfinite(v) || (x.e == 0 && grid_round(DT_F32, v) == v))
        return (struct val){ v, x.e };
    return (struct val){ v, x.e + fabs(v) * 0x1.001p-24 + TINY };
}

static void from_word(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    bool either = may_be_left_out(r, i);
    struct words a;

    ref_words(r, &x->arg[0], DT_I32, &a);
    for (int64_t k = 0; k < w->n; k++) {
        double whole = (int32_t)a.p[k * a.step], v = grid_round(x->dt, whole);
        bool unsure = a.unsure && a.unsure[k];

        if (!unsure && either)
            w->ieee[k] = rounded_or_not(x->dt, in_single((struct wide){ whole, 0 }));
        else if (w->wide)
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
    bool either = may_be_left_out(r, i);

    for (int64_t k = 0; k < w->n; k++) {
        if (w->wide)
            w->wide[k] = (struct wide){ o->ieee[k].v, o->ieee[k].e };
        else if (either && o->wide) /* left out, it may be rounded to f32 on the way */
            w->ieee[k] = rounded_or_not(x->dt, in_single(o->wide[k]));
        else if (either)
            w->ieee[k] = rounded_or_not(x->dt, o->ieee[k]);
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
