#include "ir/recipe.h"

#include <math.h>

#include "base/bug.h"

/* -span .. span */
static int32_t draw_int(uint64_t h, uint32_t span)
{
    return (int32_t)((h >> 32) * (2 * span + 1) >> 32) - (int32_t)span;
}

/* Four 16-bit draws summed, centred, in steps of 2^-15: close to normal, deviation 1.15. */
static float draw_normal(uint64_t h)
{
    int32_t sum = (int32_t)((h & 0xffff) + (h >> 16 & 0xffff) + (h >> 32 & 0xffff) + (h >> 48));

    return (float)(sum - 131070) * 0x1p-15f;
}

/* The same with a full significand of f64. */
static double draw_normal_wide(uint64_t h)
{
    return (double)draw_normal(h) + (double)(mix64(h) >> 29) * 0x1p-50;
}

/* What `special` strews among normal numbers. An input has one mixture and one density, so
 * that most inputs leave something to judge. */
enum { SP_NAN = 1, SP_INF = 2, SP_MINUS_INF = 4, SP_ZERO = 8, SP_TINY = 16, SP_HUGE = 32 };
static const unsigned char mixtures[] = {
    SP_NAN,
    SP_INF,
    SP_MINUS_INF,
    SP_INF | SP_MINUS_INF,
    SP_ZERO,
    SP_TINY,
    SP_HUGE,
    SP_ZERO | SP_TINY,
    SP_TINY | SP_HUGE,
    SP_NAN | SP_INF | SP_MINUS_INF | SP_ZERO | SP_TINY | SP_HUGE,
};

/* Largest exponent of a float dtype. */
static int max_exponent(enum dtype dt)
{
    return dt == DT_F64 ? 1023 : dt == DT_F16 ? 15 : 127;
}

/* A subnormal: the smallest, any, or the smallest normal number. */
static double tiny(enum dtype dt, uint64_t h)
{
    int bits = dtype_info(dt)->bits;
    uint64_t most = UINT64_C(1) << (bits - 1), n = h % 3 == 0 ? 1 : h % 3 == 1 ? most : 0;

    if (n == 0)
        n = 1 + (h >> 8) % most;
    return ldexp((double)n, 2 - max_exponent(dt) - bits);
}

/* The largest number, or that over a small power of 2. */
static double huge(enum dtype dt, uint64_t h)
{
    return ldexp(2 - ldexp(1, 1 - dtype_info(dt)->bits), max_exponent(dt) - (int)(h % 4));
}

static double special(enum dtype dt, unsigned mixture, uint64_t h)
{
    int kinds = __builtin_popcount(mixture), nth = (int)(h % (unsigned)kinds);
    bool minus = h >> 63;
    double v = 0;

    for (; nth > 0; nth--)
        mixture &= mixture - 1;
    h = mix64(h);
    switch (mixture & (0 - mixture)) {
    case SP_NAN:
        return (double)NAN;
    case SP_INF:
        return (double)INFINITY;
    case SP_MINUS_INF:
        return -(double)INFINITY;
    case SP_ZERO:
        break;
    case SP_TINY:
        v = tiny(dt, h);
        break;
    default:
        v = huge(dt, h);
        break;
    }
    return minus ? -v : v;
}

static bool is_special(const struct draw *d, uint64_t h)
{
    static const unsigned density[] = { 2, 8, 32 };

    return mix64(h ^ 0x5bd1e995) % density[(d->input >> 32) % ARRAY_LEN(density)] == 0;
}

/* 0, or a thousand off it, for the whole line. */
static double line_offset(const struct draw *d)
{
    static const double offset[] = { 0, 0, -1000, 1000 };

    return offset[mix64(d->line) >> 62];
}

static double draw_special(const struct draw *d, enum dtype dt, uint64_t h)
{
    unsigned mixture = mixtures[d->input % ARRAY_LEN(mixtures)];

    return is_special(d, h) ? special(dt, mixture, mix64(~h)) : (double)draw_normal(h);
}

static float one_f32(const struct draw *d, uint64_t h)
{
    switch (d->recipe) {
    case RECIPE_NORMAL:
        return draw_normal(h);
    case RECIPE_UNIFORM: /* odd multiples of 2^-24: never 0, so that 1/x is a number */
        return (float)((h >> 41) * 2 + 1) * 0x1p-24f;
    case RECIPE_POSITIVE:
        return 1.0f + (float)(h >> 41) * 0x1p-23f;
    case RECIPE_SPECIAL:
        return (float)draw_special(d, DT_F32, h);
    case RECIPE_MAGNITUDE:
        return (float)(line_offset(d) + (double)draw_normal(h));
    case RECIPE_INTS:
    case RECIPE_EXACT:
    case RECIPE_COUNT:
        break;
    }
    return (float)draw_int(h, 8);
}

static double one_wide(const struct draw *d, enum dtype dt, uint64_t h)
{
    switch (d->recipe) {
    case RECIPE_NORMAL:
        return draw_normal_wide(h);
    case RECIPE_UNIFORM:
        return (double)((h >> 12) * 2 + 1) * 0x1p-53;
    case RECIPE_POSITIVE:
        return 1 + (double)(h >> 12) * 0x1p-52;
    case RECIPE_SPECIAL:
        return draw_special(d, dt, h);
    case RECIPE_MAGNITUDE:
        return line_offset(d) + draw_normal_wide(h);
    case RECIPE_INTS:
    case RECIPE_EXACT:
    case RECIPE_COUNT:
        break;
    }
    return draw_int(h, 8);
}

void draw_f32(const struct draw *d, int64_t at, int n, float *out)
{
    for (int i = 0; i < n; i++)
        out[i] = one_f32(d, element_hash(d->line, at + i));
}

void draw_wide(const struct draw *d, enum dtype dt, int64_t at, int n, double *out)
{
    for (int i = 0; i < n; i++)
        out[i] = one_wide(d, dt, element_hash(d->line, at + i));
}

static int32_t one_i32(const struct draw *d, uint64_t h)
{
    static const int32_t edges[] = { INT32_MIN, INT32_MAX, INT32_MIN + 1, 0, -1, 1 };

    if (d->recipe == RECIPE_SPECIAL && is_special(d, h))
        return edges[mix64(~h) % ARRAY_LEN(edges)];
    return draw_int(h, d->recipe == RECIPE_INTS ? 1000 : 8);
}

void draw_i32(const struct draw *d, int64_t at, int n, int32_t *out)
{
    for (int i = 0; i < n; i++)
        out[i] = one_i32(d, element_hash(d->line, at + i));
}
