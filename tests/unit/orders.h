/*
 * f32 dot products as different compilers do them: the orders that a bound must allow.
 */
#ifndef TESTS_ORDERS_H
#define TESTS_ORDERS_H

#include <math.h>

enum order { ORDER_SEQ, ORDER_REVERSE, ORDER_PAIRWISE, ORDER_LANES, ORDER_FMA, ORDER_COUNT };

static inline float dot_pairwise(const float *a, const float *b, int bs, int n)
{
    int half = n / 2;

    if (n == 0)
        return 0;
    if (n == 1)
        return a[0] * b[0];
    return dot_pairwise(a, b, bs, half) + dot_pairwise(a + half, b + half * bs, bs, n - half);
}

/* a[0..n) times b[0], b[bs], b[2bs] .. (bs may be 0: a sum times b[0]) */
static inline float dot_f32(enum order o, const float *a, const float *b, int bs, int n)
{
    float s = 0, lane[32] = { 0 };

    switch (o) {
    case ORDER_SEQ:
        for (int k = 0; k < n; k++)
            s += a[k] * b[k * bs];
        return s;
    case ORDER_REVERSE:
        for (int k = n - 1; k >= 0; k--)
            s += a[k] * b[k * bs];
        return s;
    case ORDER_PAIRWISE:
        return dot_pairwise(a, b, bs, n);
    case ORDER_LANES:
        for (int k = 0; k < n; k++)
            lane[k % 32] += a[k] * b[k * bs];
        for (int half = 16; half; half /= 2)
            for (int k = 0; k < half; k++)
                lane[k] += lane[k + half];
        return lane[0];
    case ORDER_FMA:
        for (int k = 0; k < n; k++)
            s = fmaf(a[k], b[k * bs], s);
        return s;
    case ORDER_COUNT:
        break;
    }
    return s;
}

#endif
