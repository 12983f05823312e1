// The one file that meets the PCG library: pcg64 behind a C face.
#include "base/rng.h"

#include <new>
#include <pcg_random.hpp>

static_assert(sizeof(pcg64) <= sizeof(rng::state), "pcg64 outgrew struct rng");

extern "C" void rng_init(struct rng *r, uint64_t seed, uint64_t stream)
{
    new (r->state) pcg64(seed, stream);
}

extern "C" uint64_t rng_u64(struct rng *r)
{
    return (*std::launder(reinterpret_cast<pcg64 *>(r->state)))();
}
