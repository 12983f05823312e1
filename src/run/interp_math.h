/*
 * The scalar arithmetic of the interpreter, both algebras. A word is one value of any dtype:
 * f32 as a float (ieee) or an unsigned word (ring), i32, bool as 0 or 1, f64 as a double or
 * the same unsigned word. A half is a float that lies on its grid, or a word below 2^16. In
 * the ring algebra most float operations are those of i32: wrapping arithmetic, signed order.
 *
 * Written apart from the judge's arithmetic and from the preludes of the emitter on purpose.
 */
#ifndef RUN_INTERP_MATH_H
#define RUN_INTERP_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ir/data.h"
#include "run/interp_half.h"

/* An instruction writes and reads one member. Narrow ones leave the upper half as it was;
 * whole moves of f64 alone, which have instructions of their own, go by `all`. */
union word {
    float f;
    int32_t i;
    uint32_t u;
    double d;
    uint64_t all;
};

static inline uint32_t get16(const unsigned char *p)
{
    uint16_t u;

    memcpy(&u, p, 2);
    return u;
}

static inline void put16(unsigned char *p, uint32_t v)
{
    uint16_t u = (uint16_t)v;

    memcpy(p, &u, 2);
}

static inline void put64(unsigned char *p, uint64_t u)
{
    memcpy(p, &u, 8);
}

/* mem_read_ID, mem_write_ID: a stored element as a word, and back */
#define MEM(id, ring, bytes, member, read, written)                                            \
    static inline void mem_read_##id(const unsigned char *p, union word *w)                    \
    {                                                                                          \
        read;                                                                                  \
    }                                                                                          \
    static inline void mem_write_##id(unsigned char *p, const union word *w)                   \
    {                                                                                          \
        written;                                                                               \
    }
#include "run/interp_ops.def"

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

static inline double double_max(double x, double y)
{
    return x != x || x > y ? x : y;
}

static inline double double_min(double x, double y)
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

static inline int32_t double_to_int(double x)
{
    if (x != x)
        return 0;
    if (x >= 2147483648.0)
        return INT32_MAX;
    if (x <= -2147483648.0)
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

static inline uint32_t ring_exp2(uint32_t e)
{
    return ring_pow5[0][e & 255] * ring_pow5[1][e >> 8 & 255] * ring_pow5[2][e >> 16 & 255] *
           ring_pow5[3][e >> 24];
}

static inline uint32_t ring_exp(uint32_t x)
{
    return ring_exp2(x * ring_log2e);
}

/* A literal of the program (or a pad's fill) as it is stored. */
union word word_literal(enum dtype dt, enum algebra al, double v);

#endif
