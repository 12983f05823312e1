#include "fuzz/check/digest.h"

#include <string.h>

#include "base/hash.h"
#include "fuzz/check/twin.h"

/* Bits below the sign, and the infinity among them. */
static uint64_t least_nan(enum dtype dt)
{
    switch (dt) {
    case DT_F64:
        return UINT64_C(0x7ff0000000000001);
    case DT_F32:
        return 0x7f800001;
    case DT_F16:
        return 0x7c01;
    case DT_BF16:
        return 0x7f81;
    case DT_I32:
    case DT_BOOL:
    case DT_COUNT:
        break;
    }
    return UINT64_MAX;
}

static uint64_t plain(enum dtype dt, uint64_t bits)
{
    uint64_t sign = UINT64_C(1) << (8 * dtype_info(dt)->bytes - 1), size = bits & (sign - 1);

    if (dtype_info(dt)->class != DTC_FLOAT)
        return bits;
    if (size >= least_nan(dt))
        return least_nan(dt);
    return size ? bits : 0;
}

uint64_t outputs_digest(const struct trial *t, const struct outcome *o)
{
    uint64_t h = 0;

    for (int k = 0; k < t->prog.n_out; k++) {
        enum dtype dt = t->prog.node[t->prog.out[k].node].dt;
        const unsigned char *p = o->out[k];
        size_t bytes = output_bytes(t, k), size = (size_t)dtype_info(dt)->bytes;

        if (o->algebra == AL_RING) { /* words, whatever the dtype */
            h = hash64(p, bytes, h);
            continue;
        }
        for (size_t at = 0; at < bytes; at += size) {
            uint64_t bits = 0;

            memcpy(&bits, p + at, size);
            bits = plain(dt, bits);
            h = hash64(&bits, sizeof bits, h);
        }
    }
    return h;
}
