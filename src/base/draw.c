/* Draws on the raw stream of base/rng.h. Changing one changes every trial: bump gen_version. */
#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "base/rng.h"

void rng_init_named(struct rng *r, uint64_t seed, uint64_t trial, const char *name)
{
    uint64_t tag = hash64(name, strlen(name), trial);

    rng_init(r, seed ^ (tag * 0x9e3779b97f4a7c15u), trial);
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    uint64_t limit, x;

    if (n == 0)
        BUG("rng_below(0)");
    limit = UINT64_MAX - UINT64_MAX % n;
    do
        x = rng_u64(r);
    while (x >= limit);
    return x % n;
}

int64_t rng_range(struct rng *r, int64_t lo, int64_t hi)
{
    return lo + (int64_t)rng_below(r, (uint64_t)(hi - lo) + 1);
}

bool rng_chance(struct rng *r, int num, int den)
{
    return rng_below(r, (uint64_t)den) < (uint64_t)num;
}

int rng_weighted(struct rng *r, const int *weight, int n)
{
    uint64_t sum = 0, at;

    for (int i = 0; i < n; i++)
        sum += (uint64_t)weight[i];
    at = rng_below(r, sum);
    for (int i = 0; i < n; i++) {
        if (at < (uint64_t)weight[i])
            return i;
        at -= (uint64_t)weight[i];
    }
    BUG("rng_weighted ran past its weights");
}

void rng_shuffle(struct rng *r, int *a, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)rng_below(r, (uint64_t)i + 1), t = a[i];

        a[i] = a[j];
        a[j] = t;
    }
}
