/*
 * The scalar arithmetic of the interpreter, both algebras. A word is one value of any dtype:
 * f32 as a float (ieee) or an unsigned word (ring), i32, bool as 0 or 1. In the ring algebra
 * most f32 operations are those of i32: wrapping arithmetic, signed order.
 *
 * Written apart from the judge's arithmetic and from the preludes of the emitter on purpose.
 */
#ifndef RUN_INTERP_MATH_H
#define RUN_INTERP_MATH_H

#include <math.h>
#include <stdint.h>

#include "ir/data.h"

union word {
    float f;
    int32_t i;
    uint32_t u;
};

static inline int32_t int_abs(int32_t x)
{
    return x < 0 ? (int32_t)(0u - (uint32_t)x) : x;
}

static inline int32_t int_div(int32_t x, int32_t y)
{
    if (y == 0)
        return 0;
    if (y == -1) /* the smallest number wraps */
        return (int32_t)(0u - (uint32_t)x);
    return x / y;
}

/* NaN wins on either side */
static inline float float_max(float x, float y)
{
    return x != x || x > y ? x : y;
}

static inline float float_min(float x, float y)
{
    return x != x || x < y ? x : y;
}

static inline int32_t float_to_int(float x)
{
    if (x != x)
        return 0;
    if (x >= 2147483648.0f)
        return INT32_MAX;
    if (x < -2147483648.0f)
        return INT32_MIN;
    return (int32_t)x;
}

static inline uint32_t ring_mix(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
    return h;
}

static inline uint32_t ring_pinv(uint32_t x)
{
    return ring_mix(x ^ 0x7feb352du) | 1;
}

static inline uint32_t ring_sqrt(uint32_t x)
{
    return ring_mix(x ^ 0x9e3779b9u);
}

/* powers of 5^(256^j), filled by interp_math_init */
extern uint32_t ring_pow5[4][256];
extern uint32_t ring_log2e; /* the payload of log2(e) */
void interp_math_init(void);

static inline uint32_t ring_exp(uint32_t x)
{
    uint32_t e = x * ring_log2e;

    return ring_pow5[0][e & 255] * ring_pow5[1][e >> 8 & 255] * ring_pow5[2][e >> 16 & 255] *
           ring_pow5[3][e >> 24];
}

/* A literal of the program (or a pad's fill) as it is stored. */
union word word_literal(enum dtype dt, enum algebra al, double v);
/* An index as a value: iota, loop indices. */
union word word_index(enum dtype dt, enum algebra al, int64_t i);
/* A value as a number: what a message prints. */
double word_number(enum dtype dt, enum algebra al, union word w);

#endif
