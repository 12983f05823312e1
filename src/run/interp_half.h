/*
 * The 2-byte floats of the interpreter. In a register such a value is an f32 that lies on
 * the grid of its dtype; numbers are rounded to the grid from double, to which every source
 * (float, double, integer) converts exactly, so that there is only one rounding.
 *
 * Written apart from the judge's, the emitter's and ir's conversions on purpose.
 */
#ifndef RUN_INTERP_HALF_H
#define RUN_INTERP_HALF_H

#include <math.h>
#include <stdint.h>

/* To the nearest number of the grid, ties to even. `drop` bits of a double's significand
 * are too many; below `normal` the grid is that of the doubles from `magic` on, so that
 * adding it rounds; from `top` on there is infinity. */
static inline float half_grid(double x, int drop, double normal, double magic, double top)
{
    union {
        double d;
        uint64_t u;
    } w = { fabs(x) };

    if (x != x)
        return (float)x;
    if (w.d < normal)
        w.d = w.d + magic - magic;
    else
        w.u = (w.u + (UINT64_C(1) << (drop - 1)) - 1 + (w.u >> drop & 1)) >> drop << drop;
    if (w.d >= top)
        w.d = HUGE_VAL;
    return (float)copysign(w.d, x);
}

static inline float f16_grid(double x)
{
    return half_grid(x, 42, 0x1p-14, 0x1p28, 0x1p16);
}

static inline float bf16_grid(double x)
{
    return half_grid(x, 45, 0x1p-126, 0x1p-81, 0x1p128);
}

union half_float {
    float f;
    uint32_t u;
};

/* A number of the grid as its 16 bits. */
static inline uint16_t f16_bits(float x)
{
    union half_float w = { x };
    uint32_t sign = w.u >> 16 & 0x8000, u = w.u & 0x7fffffff;

    if (u > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | (u >> 13 & 0x1ff));
    if (u == 0x7f800000)
        return (uint16_t)(sign | 0x7c00);
    if (u < 113u << 23) /* subnormal */
        return (uint16_t)(sign | (uint32_t)(fabsf(x) * 0x1p24f));
    return (uint16_t)(sign | ((u >> 13) - (112u << 10)));
}

static inline float f16_value(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, u = bits & 0x7fff;
    union half_float w = { .u = sign | ((u << 13) + (112u << 23)) };

    if (u >= 0x7c00)
        w.u = sign | 0x7f800000 | (u & 0x3ff) << 13;
    else if (u < 0x400)
        w.f = copysignf((float)u * 0x1p-24f, w.f);
    return w.f;
}

static inline uint16_t bf16_bits(float x)
{
    union half_float w = { x };

    return (uint16_t)(x != x ? w.u >> 16 | 0x40 : w.u >> 16);
}

static inline float bf16_value(uint16_t bits)
{
    return (union half_float){ .u = (uint32_t)bits << 16 }.f;
}

#endif
