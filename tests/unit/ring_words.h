/* How ring scrambles a word and inverts one, written down once more, for tests of backends. */
#ifndef TESTS_RING_WORDS_H
#define TESTS_RING_WORDS_H

#include <stdint.h>

static inline uint32_t mix(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

static inline uint32_t inverse(uint32_t x)
{
    return mix(x ^ 0x7feb352du) | 1;
}

/* What exp2 is in ring. */
static inline uint32_t power_of_5(uint32_t n)
{
    uint32_t y = 1, by = 5;

    for (; n; n >>= 1, by *= by)
        if (n & 1)
            y *= by;
    return y;
}

#endif
