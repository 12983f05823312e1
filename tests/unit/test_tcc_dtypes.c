/*
 * Backend tcc on f64, f16 and bf16 as well as f32: functions and arithmetic, words in ring,
 * accumulators, literals, lanes.
 */
#include "storage.h"

#include "ir/data.h"

#include "ring_words.h"

static double max_of(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

static double rsqrt(double a)
{
    return 1 / sqrt(a);
}

static float rsqrtf(float a)
{
    return 1 / sqrtf(a);
}

static uint32_t r_exp(uint32_t x)
{
    return power_of_5(x * ring_literal(1.4426950408889634));
}

static uint32_t r_log(uint32_t x)
{
    return mix(x ^ 0x2545f491u);
}

static uint32_t r_tanh(uint32_t x)
{
    return mix(x ^ 0x4f6cdd1du);
}

static uint32_t r_erf(uint32_t x)
{
    return mix(x ^ 0x6a09e667u);
}

static uint32_t r_sqrt(uint32_t x)
{
    return mix(x ^ 0x9e3779b9u);
}

static uint32_t r_rsqrt(uint32_t x)
{
    return inverse(r_sqrt(x));
}

static const enum dtype floats[] = { DT_F32, DT_F64, DT_F16, DT_BF16 };

/* Functions are computed in f32 or f64, a half then rounded to its grid, also when the
 * result is no more than an operand of the next op. */
static void functions_of_all_floats(void **state)
{
    static const struct {
        enum op op;
        double (*f64)(double);
        float (*f32)(float);
        uint32_t (*ring)(uint32_t);
    } row[] = {
        { OP_EXP, exp, expf, r_exp },         { OP_EXP2, exp2, exp2f, power_of_5 },
        { OP_LOG, log, logf, r_log },         { OP_TANH, tanh, tanhf, r_tanh },
        { OP_ERF, erf, erff, r_erf },         { OP_SQRT, sqrt, sqrtf, r_sqrt },
        { OP_RSQRT, rsqrt, rsqrtf, r_rsqrt },
    };
    static const double in[] = { 0.3, 1.7, 0, -0.25, 5.5, -9, INFINITY, NAN, 0.0078125, 11.1 };
    enum { N = sizeof in / sizeof *in };
    struct fix *f = *state;
    uint64_t raw[N];

    for (size_t c = 0; c < 4 * sizeof row / sizeof *row; c++) {
        enum dtype dt = floats[c % 4];
        uint32_t mask = dtype_info(dt)->bytes == 2 ? 0xffff : 0xffffffff;
        const void *got;

        begin(f, dt, dt, N);
        build(f, op2(f, OP_ADD, dt, op1(f, row[c / 4].op, dt, x_at_i(f)), lit(f, dt, 3)));
        for (int i = 0; i < N; i++)
            put(dt, raw, i, bits_of(dt, in[i]));
        got = run(f, AL_IEEE, raw);
        for (int i = 0; i < N; i++) {
            double v = number_of(dt, get(dt, raw, i));
            double y = dt == DT_F64 ? row[c / 4].f64(v) : (double)row[c / 4].f32((float)v);

            if (!same(dt, get(dt, got, i), bits_of(dt, float_round(dt, y) + 3)))
                fail_msg("%s of %s %g", op_info(row[c / 4].op)->name, dtype_info(dt)->name, v);
        }
        got = run(f, AL_RING, raw);
        for (int i = 0; i < N; i++) {
            uint32_t w = (uint32_t)get(dt, raw, i);

            if (get(dt, got, i) != (((row[c / 4].ring(w) & mask) + 3) & mask))
                fail_msg("%s of %s word 0x%x", op_info(row[c / 4].op)->name,
                         dtype_info(dt)->name, w);
        }
        done(f);
    }
}

/* Two operands: x and -2.5, whose words are what ring_literal says. */
static void arithmetic_of_all_floats(void **state)
{
    static const enum op ops[] = { OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MAX2, OP_MIN2 };
    static const double in[] = { 0.1, -2.5, 7, INFINITY, NAN, -0.0, 60000, 1e-7 };
    enum { N = sizeof in / sizeof *in };
    struct fix *f = *state;
    uint64_t raw[N];

    for (int c = 0; c < 4 * 6; c++) {
        enum dtype dt = floats[c % 4];
        uint32_t mask = dtype_info(dt)->bytes == 2 ? 0xffff : 0xffffffff;
        uint32_t b = ring_literal(-2.5) & mask;
        const void *got;

        begin(f, dt, dt, N);
        build(f, op1(f, OP_NEG, dt, op2(f, ops[c / 4], dt, x_at_i(f), lit(f, dt, -2.5))));
        for (int i = 0; i < N; i++)
            put(dt, raw, i, bits_of(dt, in[i]));
        got = run(f, AL_IEEE, raw);
        for (int i = 0; i < N; i++) {
            double v = number_of(dt, get(dt, raw, i));
            double want[] = { v - 2.5,  v + 2.5,         v * -2.5,
                              v / -2.5, max_of(v, -2.5), -max_of(-v, 2.5) };
            double y = dt == DT_F64 ? want[c / 4] : (double)(float)want[c / 4];

            if (!same(dt, get(dt, got, i), bits_of(dt, -float_round(dt, y))))
                fail_msg("%s of %s %g", op_info(ops[c / 4])->name, dtype_info(dt)->name, v);
        }
        got = run(f, AL_RING, raw);
        for (int i = 0; i < N; i++) {
            uint32_t w = (uint32_t)get(dt, raw, i);
            uint32_t want[] = { w + b,
                                w - b,
                                w * b,
                                w * inverse(b),
                                (int32_t)w > (int32_t)b ? w : b,
                                (int32_t)w < (int32_t)b ? w : b };

            if (get(dt, got, i) != ((0 - (want[c / 4] & mask)) & mask))
                fail_msg("%s of %s word 0x%x", op_info(ops[c / 4])->name, dtype_info(dt)->name,
                         w);
        }
        done(f);
    }
}

/* y[0] = x[0] op x[1] op .. in an accumulator of dtype acc. */
static const void *reduced(struct fix *f, enum dtype dt, enum dtype acc, enum op op, int n,
                           enum algebra al, const void *raw)
{
    struct acc a = { .dt = acc, .op = op, .identity = op, .elems = 1, .name = "y" };
    int at, val;

    begin(f, dt, dt, n);
    f->l.kernel[f->k].n = 0;
    at = lprog_acc(&f->l, a);
    push(f, (struct stmt){ .kind = ST_DECL, .acc = at, .acc_at = -1 });
    push(f, (struct stmt){ .kind = ST_LOOP, .var = 0 });
    push(f, (struct stmt){ .kind = ST_UPDATE,
                           .acc = at,
                           .acc_at = -1,
                           .val = op1(f, OP_CAST, acc, x_at_i(f)) });
    push(f, (struct stmt){ .kind = ST_END });
    val = lprog_acc_load(&f->l, at, -1);
    store(f, ix_const(&f->l.ix, 0), op1(f, OP_CAST, dt, val));
    prepare(f);
    done(f);
    prepare(f);
    return run(f, al, raw);
}

static void accumulators_of_any_dtype(void **state)
{
    struct fix *f = *state;
    uint16_t h[2050];
    double d[3] = { 1, 0x1p-53, 0x1p-53 };
    float s[3] = { 0x1p24f, 1, 1 };
    uint16_t words[3] = { 0xffff, 0xffff, 3 };

    for (int i = 0; i < 2050; i++)
        h[i] = half_of(DT_F16, 1);
    assert_int_equal(*(const uint16_t *)reduced(f, DT_F16, DT_F16, OP_SUM, 2050, AL_IEEE, h),
                     half_of(DT_F16, 2048)); /* where adding 1 is lost */
    done(f);
    assert_int_equal(*(const uint16_t *)reduced(f, DT_F16, DT_F32, OP_SUM, 2050, AL_IEEE, h),
                     half_of(DT_F16, 2050));
    done(f);
    assert_true(*(const double *)reduced(f, DT_F64, DT_F64, OP_SUM, 3, AL_IEEE, d) == 1);
    done(f);
    assert_true(*(const float *)reduced(f, DT_F32, DT_F64, OP_SUM, 3, AL_IEEE, s) ==
                0x1.000002p24f);
    done(f);
    assert_true(*(const float *)reduced(f, DT_F32, DT_F32, OP_SUM, 3, AL_IEEE, s) == 0x1p24f);
    done(f);
    assert_int_equal(*(const uint16_t *)reduced(f, DT_F16, DT_F32, OP_SUM, 3, AL_RING, words),
                     1);
    done(f);
    assert_int_equal(*(const uint16_t *)reduced(f, DT_F16, DT_F16, OP_PROD, 3, AL_RING, words),
                     3);
    done(f);
    assert_int_equal(*(const uint16_t *)reduced(f, DT_BF16, DT_F32, OP_MAX, 3, AL_RING, words),
                     0xffff);
    done(f);
}

static void prod_starts_at_one(void **state)
{
    struct fix *f = *state;
    int32_t i[3] = { 65536, 65537, -3 };
    double d[2] = { 1e300, 1e10 };
    uint32_t w[2] = { 0x10001, 0x10003 };

    assert_int_equal(*(const int32_t *)reduced(f, DT_I32, DT_I32, OP_PROD, 3, AL_RING, i),
                     -3 * 65536);
    done(f);
    assert_true(isinf(*(const double *)reduced(f, DT_F64, DT_F64, OP_PROD, 2, AL_IEEE, d)));
    done(f);
    assert_int_equal(*(const uint32_t *)reduced(f, DT_F32, DT_F32, OP_PROD, 2, AL_RING, w),
                     0x10001u * 0x10003u);
    done(f);
}

static void literals_keep_their_digits(void **state)
{
    static const double v[] = { 0.1, 1e300, 5e-324, 1.0 / 3, -INFINITY, 2 };
    struct fix *f = *state;
    double x[1] = { 0 };

    for (size_t k = 0; k < sizeof v / sizeof *v; k++) {
        begin(f, DT_F64, DT_F64, 1);
        build(f, lit(f, DT_F64, v[k]));
        assert_true(*(const double *)run(f, AL_IEEE, x) == v[k]);
        assert_int_equal(*(const uint64_t *)run(f, AL_RING, x), ring_literal(v[k]));
        done(f);
    }
}

static void lanes_and_locals_of_halves(void **state)
{
    static const uint16_t raw[4] = { 0x3c00, 0x3c01, 0x7bff, 0x0001 };
    struct fix *f = *state;
    const uint16_t *h;
    int v;

    begin(f, DT_F16, DT_F16, 0);
    v = op2(f, OP_ADD, DT_F16, x_at_i(f), x_at_i(f));
    for (int k = 0; k < 9; k++) /* shared and deep: bound to locals */
        v = op2(f, OP_SUB, DT_F16, op2(f, OP_ADD, DT_F16, v, v), v);
    build(f, v);
    assert_non_null(strstr(str_get(&f->text), "= TF_PUT_F16(v"));
    h = run(f, AL_IEEE, raw);
    assert_int_equal(h[0], 0x4000);
    assert_int_equal(h[1], 0x4001);
    assert_true(isnan(half_value(DT_F16, h[2])));
    assert_int_equal(h[3], 2);
    h = run(f, AL_RING, raw);
    assert_int_equal(h[2], 2 * 0x7bff);
    done(f);
}

static void counting_in_all_floats(void **state)
{
    struct fix *f = *state;
    const uint16_t *h;
    uint16_t raw[2052] = { 0 };

    begin(f, DT_F16, DT_F16, 2052);
    build(f, lprog_index(&f->l, DT_F16, f->i));
    h = run(f, AL_IEEE, raw);
    assert_int_equal(h[2049], half_of(DT_F16, 2048));
    assert_int_equal(h[2051], half_of(DT_F16, 2052));
    h = run(f, AL_RING, raw);
    assert_int_equal(h[2051], 2051);
    done(f);
    begin(f, DT_F16, DT_F64, 2052);
    build(f, lprog_index(&f->l, DT_F64, f->i));
    assert_true(((const double *)run(f, AL_IEEE, raw))[2051] == 2051);
    assert_int_equal(((const uint64_t *)run(f, AL_RING, raw))[2051], 2051);
    done(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_all_floats),
        cmocka_unit_test(arithmetic_of_all_floats),
        cmocka_unit_test(accumulators_of_any_dtype),
        cmocka_unit_test(prod_starts_at_one),
        cmocka_unit_test(literals_keep_their_digits),
        cmocka_unit_test(lanes_and_locals_of_halves),
        cmocka_unit_test(counting_in_all_floats),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
