#include "ir/half.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

/* One sign bit, then the exponent, then `mant` bits of the significand. */
struct format {
    int mant, bias;
    uint16_t inf;
};

static struct format format_of(enum dtype dt)
{
    if (dt == DT_F16)
        return (struct format){ 10, 15, 0x7c00 };
    if (dt == DT_BF16)
        return (struct format){ 7, 127, 0x7f80 };
    BUG("%s is no half", dtype_info(dt)->name);
}

/* On the bits of the double, as all data of a half input pass through here. */
uint16_t half_of(enum dtype dt, double v)
{
    struct format f = format_of(dt);
    uint64_t bits, sig, rest, tie;
    int e, least = 1 - f.bias, shift;
    uint16_t sign;

    memcpy(&bits, &v, sizeof bits);
    sign = bits >> 63 ? 0x8000 : 0;
    e = (int)(bits >> 52 & 0x7ff) - 1023;
    if (isnan(v))
        return (uint16_t)(f.inf | 1 << (f.mant - 1));
    if (e > f.bias)
        return sign | f.inf;
    shift = 52 - f.mant;
    if (e < least) {
        shift += least - e;
        e = least;
    }
    if (shift > 53) /* less than half of the smallest; subnormal doubles too */
        return sign;
    sig = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    tie = UINT64_C(1) << (shift - 1);
    rest = sig & (2 * tie - 1);
    sig >>= shift;
    sig += rest > tie || (rest == tie && (sig & 1));
    /* The hidden bit, or a carry, runs into the exponent. */
    return (uint16_t)(sign | (((uint64_t)(e - least) << f.mant) + sig));
}

double half_value(enum dtype dt, uint16_t bits)
{
    struct format f = format_of(dt);
    int mant = bits & ((1 << f.mant) - 1), e = (bits & 0x7fff) >> f.mant;
    double a;

    if ((bits & f.inf) == f.inf)
        a = mant ? (double)NAN : (double)INFINITY;
    else if (e == 0)
        a = ldexp(mant, 1 - f.bias - f.mant);
    else
        a = ldexp(mant + (1 << f.mant), e - f.bias - f.mant);
    return bits & 0x8000 ? -a : a;
}

double float_round(enum dtype dt, double v)
{
    switch (dt) {
    case DT_F64:
        return v;
    case DT_F32:
        return (double)(float)v;
    case DT_F16:
    case DT_BF16:
        return half_value(dt, half_of(dt, v));
    case DT_I32:
    case DT_BOOL:
    case DT_COUNT:
        break;
    }
    BUG("%s is no float", dtype_info(dt)->name);
}

void float_print(enum dtype dt, double v, struct str *s)
{
    char buf[40];

    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, v);
        if (float_round(dt, strtod(buf, NULL)) == v)
            break;
    }
    str_puts(s, buf);
}
