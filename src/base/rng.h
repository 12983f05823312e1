/*
 * Random numbers: pcg64 (Debian's libpcg-cpp-dev, met in rng.cc only). A generator is named
 * by (seed, stream); every range, chance and shuffle is defined here on the raw 64-bit
 * stream, so that trial i of seed s is the same on every machine.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rng {
    unsigned char state[32] __attribute__((aligned(16))); /* a pcg64 lives here */
};

void rng_init(struct rng *r, uint64_t seed, uint64_t stream);
uint64_t rng_u64(struct rng *r);

#ifdef __cplusplus
}
#endif

/* A named substream: trial "graph", "schedule", "data" ... of trial number i of seed. */
void rng_init_named(struct rng *r, uint64_t seed, uint64_t trial, const char *name);

uint64_t rng_below(struct rng *r, uint64_t n);             /* 0 .. n-1, n > 0, unbiased */
int64_t rng_range(struct rng *r, int64_t lo, int64_t hi);  /* lo .. hi, both included */
bool rng_chance(struct rng *r, int num, int den);          /* true with num / den */
int rng_weighted(struct rng *r, const int *weight, int n); /* index by weight; sum > 0 */
void rng_shuffle(struct rng *r, int *a, int n);

#endif
