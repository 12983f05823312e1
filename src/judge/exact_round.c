/* Numbers of exact data: how float dtypes round, on which grid a number lies. */
#include <float.h>
#include <string.h>

#include "base/bug.h"
#include "judge/exact_eval.h"

const struct xfloat *xfloat(enum dtype dt)
{
    static const struct xfloat f[DT_COUNT] = {
        [DT_F32] = { 24, 0x1p-24, 0x1p-149, 0x1.fffffep127, 256, 256 },
        [DT_F64] = { 53, 0x1p-53, 0x1p-1074, 0x1.fffffffffffffp1023, 800, 1100 },
        [DT_F16] = { 11, 0x1p-11, 0x1p-24, 65504, 256, 256 },
        [DT_BF16] = { 8, 0x1p-8, 0x1p-133, 0x1.fep127, 256, 256 },
    };

    if (!f[dt].bits)
        BUG("%s is no float", dtype_info(dt)->name);
    return &f[dt];
}

double exact_round(enum dtype dt, double v)
{
    const struct xfloat *f = xfloat(dt);
    int e, least = (int)lrint(log2(f->eta));

    if (dt == DT_F64 || v == 0 || !isfinite(v))
        return v;
    if (dt == DT_F32)
        return (double)(float)v;
    frexp(v, &e);
    e = e - f->bits > least ? e - f->bits : least;
    v = ldexp(rint(ldexp(v, -e)), e);
    return fabs(v) > f->most ? copysign(INFINITY, v) : v;
}

int exact_grid(double v)
{
    uint64_t bits, m;
    int e;

    memcpy(&bits, &v, sizeof bits);
    e = (int)(bits >> 52 & 0x7ff);
    m = bits & ((UINT64_C(1) << 52) - 1);
    if (e)
        m |= UINT64_C(1) << 52;
    else
        e = 1;
    return e - 1075 + __builtin_ctzll(m);
}

void exact_sum_up(struct xnode *n)
{
    uint64_t held = 0; /* all magnitudes or-ed, while they are small integers */
    int64_t k;

    n->sound = true;
    n->top = 0;
    n->grid = 0;
    for (k = 0; k < n->n; k++) {
        double v = fabs(n->p[k].v);

        if (n->p[k].e != 0 || !(v <= DBL_MAX)) {
            n->sound = false;
            return;
        }
        if (v > n->top)
            n->top = v;
        if (v < 0x1p50 && v == (double)(int64_t)v)
            held |= (uint64_t)v;
        else if (exact_grid(v) < n->grid)
            n->grid = exact_grid(v);
    }
    if (n->grid == 0 && held && n->top < 0x1p50)
        n->grid = __builtin_ctzll(held);
}

struct xval exact_finish(enum dtype core, enum dtype dt, struct xval x)
{
    const struct xfloat *c = xfloat(core), *f = xfloat(dt);
    double v = x.v;

    if (x.e < 0 || !isfinite(v))
        return VAL_OPEN;
    if (x.e == 0 && exact_round(core, v) != v)
        x.e = c->u * fabs(v) + c->eta;
    else if (x.e > 0)
        x.e += c->u * (fabs(v) + x.e) + c->eta;
    if (x.e == 0)
        x.v = core == dt ? v : exact_round(dt, v);
    else if (core != dt)
        x.e += f->u * (fabs(v) + x.e) + f->eta;
    if (!(fabs(x.v) + x.e <= f->most))
        return VAL_OPEN;
    return x;
}
