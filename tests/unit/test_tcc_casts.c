/*
 * Backend tcc between dtypes: every half both ways, numbers that are rounded once, casts from
 * each dtype to each other.
 */
#include "storage.h"

static const enum dtype halves[] = { DT_F16, DT_BF16 };

#ifdef __FLT16_MANT_DIG__
/* half_of and half_value are what the tests below compare with: they against the compiler's. */
static void the_yardstick_is_straight(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 0x10000; h++) {
        uint16_t bits = (uint16_t)h;
        _Float16 x;

        memcpy(&x, &bits, 2);
        if (!same(DT_F64, bits_of(DT_F64, (double)x),
                  bits_of(DT_F64, half_value(DT_F16, bits))))
            fail_msg("0x%04x is %a", h, (double)x);
    }
    for (uint32_t u = 1; u < 0xfff00000u; u += 12345) {
        double d = number_of(DT_F32, u) * (1 + 0x1p-40);
        _Float16 x = (_Float16)d;
        uint16_t bits;

        memcpy(&bits, &x, 2);
        if (!same(DT_F16, half_of(DT_F16, d), bits))
            fail_msg("%a is 0x%04x", d, bits);
    }
}
#endif

static void every_half_is_read_and_written(void **state)
{
    static uint16_t raw[0x10000];
    struct fix *f = *state;

    for (unsigned h = 0; h < 0x10000; h++)
        raw[h] = (uint16_t)h;
    for (int d = 0; d < 2; d++) {
        enum dtype dt = halves[d];
        const uint16_t *h;
        const float *s;
        const double *w;

        begin(f, dt, DT_F32, 0x10000);
        build(f, op1(f, OP_CAST, DT_F32, x_at_i(f)));
        s = run(f, AL_IEEE, raw);
        for (unsigned i = 0; i < 0x10000; i++)
            if (!same(DT_F32, bits_of(DT_F32, (double)s[i]),
                      bits_of(DT_F32, half_value(dt, (uint16_t)i))))
                fail_msg("%s 0x%04x: got %a", dtype_info(dt)->name, i, (double)s[i]);
        done(f);
        begin(f, dt, DT_F64, 0x10000);
        build(f, op1(f, OP_CAST, DT_F64, x_at_i(f)));
        w = run(f, AL_IEEE, raw);
        for (unsigned i = 0; i < 0x10000; i++)
            if (!same(DT_F64, bits_of(DT_F64, w[i]),
                      bits_of(DT_F64, half_value(dt, (uint16_t)i))))
                fail_msg("%s 0x%04x: got %a", dtype_info(dt)->name, i, w[i]);
        done(f);
        begin(f, dt, dt, 0x10000);
        build(f, x_at_i(f));
        for (int al = 0; al < AL_COUNT; al++) {
            h = run(f, (enum algebra)al, raw);
            for (unsigned i = 0; i < 0x10000; i++)
                if (h[i] != i && (al == AL_RING || !same(dt, h[i], i)))
                    fail_msg("%s 0x%04x: got 0x%04x", dtype_info(dt)->name, i, h[i]);
        }
        done(f);
    }
}

/* From every half towards the next: itself, the middle and what is just off it. Where f64 is
 * rounded to f32 first, what is just off the middle falls onto it. */
static void narrowing_rounds_once(void **state)
{
    enum { EACH = 6, N = 0x10000 * EACH };
    static const enum dtype wide[] = { DT_F32, DT_F64 };
    struct fix *f = *state;
    char *raw = malloc((size_t)N * 8);

    for (int c = 0; c < 4; c++) {
        enum dtype from = wide[c & 1], to = halves[c >> 1];
        const uint16_t *h;

        for (int i = 0; i < 0x10000; i++) {
            double v = half_value(to, (uint16_t)i), next = half_value(to, (uint16_t)(i + 1));
            double mid = v + (next - v) / 2, off = from == DT_F32 ? 0x1p-23 : 0x1p-52;

            if (isinf(next) && isfinite(v)) /* as if there were a next one */
                mid = v + (v - half_value(to, (uint16_t)(i - 1))) / 2;
            put(from, raw, i * EACH, bits_of(from, v));
            put(from, raw, i * EACH + 1, bits_of(from, mid));
            put(from, raw, i * EACH + 2, bits_of(from, mid * (1 + off)));
            put(from, raw, i * EACH + 3, bits_of(from, mid * (1 - off)));
            put(from, raw, i * EACH + 4, bits_of(from, mid * (1 + 0x1p-30)));
            put(from, raw, i * EACH + 5, (uint64_t)i * 0x9e3779b97f4a7c15u >> (i & 3));
        }
        begin(f, from, to, N);
        build(f, op1(f, OP_CAST, to, x_at_i(f)));
        h = run(f, AL_IEEE, raw);
        for (int i = 0; i < N; i++) {
            double v = number_of(from, get(from, raw, i));

            if (!same(to, h[i], half_of(to, v)))
                fail_msg("%a to %s: got 0x%04x", v, dtype_info(to)->name, h[i]);
        }
        done(f);
    }
    free(raw);
}

static double cast_want(enum dtype from, enum dtype to, double v)
{
    switch (dtype_info(to)->class) {
    case DTC_INT:
        return isnan(v)                 ? 0
               : v >= (double)INT32_MAX ? INT32_MAX
               : v <= (double)INT32_MIN ? INT32_MIN
                                        : trunc(v);
    case DTC_BOOL:
        return v != 0;
    case DTC_FLOAT:
        break;
    }
    (void)from;
    return float_round(to, v);
}

/* In ring: i32 and floats keep the word, a half its low 16 bits; bool is != 0. */
static uint64_t ring_want(enum dtype to, uint32_t word)
{
    return to == DT_BOOL ? word != 0 : to == DT_F16 || to == DT_BF16 ? word & 0xffff : word;
}

static void casts_between_all(void **state)
{
    static const double edge[] = {
        0.0,           -0.0,          1,          -1.5,         0.49,
        65504,         65519.99,      65520,      -65520,       65536,
        3.3e38,        -3.4028235e38, 1e300,      -1e300,       INFINITY,
        -INFINITY,     NAN,           2147483647, 2147483646.5, 2147483648.0,
        -2147483648.0, -2147483649.0, 16777217,   16842753,     -16842753,
        2049,          2051,          0x1p-24,    0x1.8p-25,    0x1p-25,
        0x1p-133,      0x1.8p-134,    0x1p-149,   0x1.8p-150,   5e-324,
        1.0009765625
    };
    static const uint64_t word[] = { 0,          1,          0x7fff,      0x8000,
                                     0xffff,     0x10000,    0xdeadbeef,  0xffffffff,
                                     0x80000000, 0x7fffffff, 0x123456789, 0xffffffff00000000 };
    enum { N = sizeof edge / sizeof *edge, M = sizeof word / sizeof *word };
    struct fix *f = *state;
    uint64_t raw[N];

    for (int c = 0; c < DT_COUNT * DT_COUNT; c++) {
        enum dtype from = (enum dtype)(c / DT_COUNT), to = (enum dtype)(c % DT_COUNT);
        const void *got;

        begin(f, from, to, N);
        build(f, op1(f, OP_CAST, to, x_at_i(f)));
        for (int i = 0; i < N; i++)
            put(from, raw, i, bits_of(from, cast_want(DT_F64, from, edge[i])));
        got = run(f, AL_IEEE, raw);
        for (int i = 0; i < N; i++) {
            double v = number_of(from, get(from, raw, i));

            if (!same(to, get(to, got, i), bits_of(to, cast_want(from, to, v))))
                fail_msg("%s %a to %s: got 0x%llx", dtype_info(from)->name, v,
                         dtype_info(to)->name, (unsigned long long)get(to, got, i));
        }
        for (int i = 0; i < N; i++)
            put(from, raw, i, from == DT_BOOL ? (uint64_t)i & 1 : word[i % M]);
        got = run(f, AL_RING, raw);
        for (int i = 0; i < N; i++) {
            uint32_t w = (uint32_t)get(from, raw, i);

            if (get(to, got, i) != ring_want(to, w))
                fail_msg("%s word 0x%x to %s: got 0x%llx", dtype_info(from)->name, w,
                         dtype_info(to)->name, (unsigned long long)get(to, got, i));
        }
        done(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef __FLT16_MANT_DIG__
        cmocka_unit_test(the_yardstick_is_straight),
#endif
        cmocka_unit_test(every_half_is_read_and_written),
        cmocka_unit_test(narrowing_rounds_once),
        cmocka_unit_test(casts_between_all),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
