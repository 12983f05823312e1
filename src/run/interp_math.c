#include "run/interp_math.h"

uint32_t ring_pow5[4][256];
uint32_t ring_log2e;

void interp_math_init(void)
{
    uint32_t base = 5;

    if (ring_log2e)
        return;
    for (int j = 0; j < 4; j++) {
        ring_pow5[j][0] = 1;
        for (int i = 1; i < 256; i++)
            ring_pow5[j][i] = ring_pow5[j][i - 1] * base;
        base *= ring_pow5[j][255];
    }
    ring_log2e = ring_literal((double)1.4426950408889634f);
}

/* A double as an i32: integers wrap, the rest is truncated. */
static int32_t literal_int(double v)
{
    return fabs(v) < 0x1p62 ? (int32_t)(uint32_t)(int64_t)v : 0;
}

/* A number in the float dtype dt, rounded once. */
static union word float_word(enum dtype dt, double v)
{
    union word w = { .all = 0 };

    if (dt == DT_F64)
        w.d = v;
    else if (dt == DT_F16)
        w.f = f16_grid(v);
    else if (dt == DT_BF16)
        w.f = bf16_grid(v);
    else
        w.f = (float)v;
    return w;
}

/* A ring word as a value of dt holds it. */
static uint32_t ring_cut(enum dtype dt, uint32_t w)
{
    return dt == DT_F16 || dt == DT_BF16 ? w & 0xffff : w;
}

union word word_literal(enum dtype dt, enum algebra al, double v)
{
    enum dtype_class class = dtype_info(dt)->class;
    union word w = { .all = 0 };

    if (class == DTC_FLOAT && al == AL_IEEE)
        return float_word(dt, v);
    if (class == DTC_FLOAT)
        w.u = ring_cut(dt, ring_literal(v));
    else if (class == DTC_INT)
        w.i = literal_int(v);
    else
        w.u = v != 0;
    return w;
}
