/*
 * The functions of the ring algebra (unsigned integers mod 2^32 in place of floats) that
 * i32 does not have. Written here a second time on purpose: the text that is judged has its
 * own. exp(x) = 5^(x*L), so exp(a+b) = exp(a) exp(b) and rescaling telescopes; the others
 * are hashes, of which only that everyone gets the same is asked.
 */
#include "ir/data.h"
#include "judge/ref.h"

static uint32_t scramble(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

uint32_t ring_pinv(uint32_t x)
{
    return scramble(x ^ 0x7feb352du) | 1;
}

uint32_t ring_sqrt(uint32_t x)
{
    return scramble(x ^ 0x9e3779b9u);
}

/* power[b][d] = (5^L)^(d * 256^b): an exponent is looked up byte by byte. */
static uint32_t power[4][256];

static void power_fill(void)
{
    uint32_t log2e = ring_literal(1.4426950408889634), base = 1, five = 5;

    for (; log2e; log2e >>= 1, five *= five)
        if (log2e & 1)
            base *= five;
    for (int b = 0; b < 4; b++) {
        power[b][0] = 1;
        for (int d = 1; d < 256; d++)
            power[b][d] = power[b][d - 1] * base;
        base *= power[b][255];
    }
}

uint32_t ring_exp(uint32_t x)
{
    if (!power[0][0])
        power_fill();
    return power[0][x & 255] * power[1][x >> 8 & 255] * power[2][x >> 16 & 255] *
           power[3][x >> 24];
}
