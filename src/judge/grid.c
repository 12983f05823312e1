#include "judge/grid.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/bug.h"

/* precision, exponents of the smallest and the largest normal number, largest number */
struct half {
    int p, least, most;
    double max;
};

static struct half half_of_dtype(enum dtype dt)
{
    if (dt == DT_F16)
        return (struct half){ 11, -14, 15, 65504 };
    return (struct half){ 8, -126, 127, 0x1.fep127 };
}

static double power_of_two(int e)
{
    uint64_t bits = (uint64_t)(1023 + e) << 52;
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

static double half_round(struct half h, double v)
{
    double a = fabs(v), big;
    uint64_t bits;
    int e;

    if (!isfinite(v))
        return v;
    memcpy(&bits, &a, sizeof bits);
    e = (int)(bits >> 52) - 1023;
    if (e > h.most)
        return copysign(HUGE_VAL, v);
    if (e < h.least)
        e = h.least;
    /* beside this number, doubles are as far apart as the half's are beside a */
    big = 0x1.8p52 * power_of_two(e - h.p + 1);
    a = (a + big) - big;
    return copysign(a > h.max ? HUGE_VAL : a, v);
}

double grid_round(enum dtype dt, double v)
{
    if (dt == DT_F32)
        return (double)(float)v;
    return dt == DT_F64 ? v : half_round(half_of_dtype(dt), v);
}

static double half_load(struct half h, uint16_t bits)
{
    int mant = bits & ((1 << (h.p - 1)) - 1), e = (bits & 0x7fff) >> (h.p - 1);
    double a = mant * power_of_two(h.least - h.p + 1);

    if (e > h.most - h.least + 1)
        a = mant ? (double)NAN : HUGE_VAL;
    else if (e > 0)
        a = (mant + (1 << (h.p - 1))) * power_of_two(e - 1 + h.least - h.p + 1);
    return bits & 0x8000 ? -a : a;
}

double grid_load(enum dtype dt, const void *stored)
{
    uint16_t bits;
    double d;
    float f;

    if (dt == DT_F64) {
        memcpy(&d, stored, sizeof d);
        return d;
    }
    if (dt == DT_F32) {
        memcpy(&f, stored, sizeof f);
        return (double)f;
    }
    memcpy(&bits, stored, sizeof bits);
    return half_load(half_of_dtype(dt), bits);
}

static uint16_t half_bits(struct half h, double v)
{
    unsigned sign = signbit(v) ? 0x8000 : 0, top = 1u << (h.p - 1), mant;
    unsigned inf = (unsigned)(h.most - h.least + 2) << (h.p - 1);
    double a = fabs(v);
    int e = 0;

    if (isnan(v))
        return (uint16_t)(inf | top >> 1);
    if (isinf(v))
        return (uint16_t)(sign | inf);
    if (a >= power_of_two(h.least))
        e = ilogb(a) - h.least;
    mant = (unsigned)(a * power_of_two(h.p - 1 - h.least - e)); /* with the leading bit */
    return (uint16_t)(sign | (((unsigned)e << (h.p - 1)) + mant));
}

void grid_store(enum dtype dt, double v, void *dst)
{
    uint16_t bits;
    float f = (float)v;

    if (dt == DT_F64)
        memcpy(dst, &v, sizeof v);
    else if (dt == DT_F32)
        memcpy(dst, &f, sizeof f);
    else if (grid_is_half(dt))
        memcpy(dst, (bits = half_bits(half_of_dtype(dt), v), &bits), sizeof bits);
    else
        BUG("%s is no float", dtype_info(dt)->name);
}

double grid_unit(enum dtype dt)
{
    return dt == DT_F64 ? 0x1p-53 : dt == DT_F16 ? 0x1p-11 : dt == DT_BF16 ? 0x1p-8 : 0x1p-24;
}

double grid_least_normal(enum dtype dt)
{
    return dt == DT_F64 ? DBL_MIN : dt == DT_F16 ? 0x1p-14 : 0x1p-126;
}

double grid_most(enum dtype dt)
{
    return dt == DT_F64 ? DBL_MAX : grid_is_half(dt) ? half_of_dtype(dt).max : (double)FLT_MAX;
}
