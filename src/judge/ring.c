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

uint32_t ring_log(uint32_t x)
{
    return scramble(x ^ 0x2545f491u);
}

uint32_t ring_tanh(uint32_t x)
{
    return scramble(x ^ 0x4f6cdd1du);
}

uint32_t ring_erf(uint32_t x)
{
    return scramble(x ^ 0x6a09e667u);
}

/* [b][d] = base^(d * 256^b): an exponent is looked up byte by byte. */
struct powers {
    uint32_t of[4][256];
};

static void powers_fill(struct powers *p, uint32_t base)
{
    for (int b = 0; b < 4; b++) {
        p->of[b][0] = 1;
        for (int d = 1; d < 256; d++)
            p->of[b][d] = p->of[b][d - 1] * base;
        base *= p->of[b][255];
    }
}

static uint32_t power(const struct powers *p, uint32_t x)
{
    return p->of[0][x & 255] * p->of[1][x >> 8 & 255] * p->of[2][x >> 16 & 255] *
           p->of[3][x >> 24];
}

uint32_t ring_exp2(uint32_t x)
{
    static struct powers of_5;

    if (!of_5.of[0][0])
        powers_fill(&of_5, 5);
    return power(&of_5, x);
}

uint32_t ring_exp(uint32_t x)
{
    static struct powers of_e;

    if (!of_e.of[0][0])
        powers_fill(&of_e, ring_exp2(ring_literal(1.4426950408889634)));
    return power(&of_e, x);
}
