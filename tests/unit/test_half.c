/* f16 and bf16 as bits: every pattern, every tie, and one rounding from double. */
#include "ir/half.h"

#include "testing.h"

#include <math.h>
#include <stdlib.h>

static const enum dtype halves[] = { DT_F16, DT_BF16 };

/* The pattern of the next larger number, from -inf up; patterns of one sign are in order. */
static uint16_t next(uint16_t bits)
{
    if (bits == 0x8000)
        return 0;
    return bits & 0x8000 ? bits - 1 : bits + 1;
}

static void every_pattern_comes_back(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int bits = 0; bits <= 0xffff; bits++) {
            double v = half_value(halves[k], (uint16_t)bits);

            if (isnan(v))
                assert_int_equal(half_of(halves[k], v), k == 0 ? 0x7e00 : 0x7fc0);
            else
                assert_int_equal(half_of(halves[k], v), bits);
        }
}

static void known_numbers(void **state)
{
    (void)state;
    assert_true(half_value(DT_F16, 0x3c00) == 1);
    assert_true(half_value(DT_F16, 0x7bff) == 65504);
    assert_true(half_value(DT_F16, 0x0001) == 0x1p-24);
    assert_true(half_value(DT_F16, 0xc000) == -2);
    assert_true(half_value(DT_BF16, 0x3f80) == 1);
    assert_true(half_value(DT_BF16, 0x7f7f) == 0x1.fep127);
    assert_true(half_value(DT_BF16, 0x0001) == 0x1p-133);
    assert_int_equal(half_of(DT_F16, 65519.999), 0x7bff);
    assert_int_equal(half_of(DT_F16, 65520), 0x7c00);
    assert_int_equal(half_of(DT_F16, -1e300), 0xfc00);
    assert_int_equal(half_of(DT_F16, 0x1p-25), 0);
    assert_int_equal(half_of(DT_F16, -0x1.0000000000001p-25), 0x8001);
    assert_int_equal(half_of(DT_F16, 5e-324), 0);
    assert_int_equal(half_of(DT_BF16, 0x1.ffp127), 0x7f80);
    assert_int_equal(half_of(DT_BF16, 0x1.fefffffffffffp127), 0x7f7f);
    /* by way of f32 this would be a tie, and become even */
    assert_int_equal(half_of(DT_F16, 1 + 0x1p-11 + 0x1p-40), 0x3c01);
    assert_int_equal(half_of(DT_BF16, 1 + 0x1p-8 + 0x1p-40), 0x3f81);
}

/* Between each pair of neighbours: the middle goes to the even one, all else to the nearer. */
static void ties_go_to_even(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        enum dtype dt = halves[k];
        uint16_t inf = half_of(dt, (double)INFINITY);

        for (uint16_t bits = inf | 0x8000; bits != inf; bits = next(bits)) {
            uint16_t up = next(bits), even = bits & 1 ? up : bits;
            double low = half_value(dt, bits), high = half_value(dt, up),
                   mid = (low + high) / 2;

            if (isinf(low) || isinf(high) || low == high)
                continue;
            if (mid == 0) /* of -smallest and 0: the sum is exact */
                continue;
            assert_int_equal(half_of(dt, mid), even);
            assert_int_equal(half_of(dt, nextafter(mid, low)), bits);
            assert_int_equal(half_of(dt, nextafter(mid, high)), up);
        }
    }
}

static void rounding_to_any_float(void **state)
{
    (void)state;
    assert_true(float_round(DT_F64, 0.1) == 0.1);
    assert_true(float_round(DT_F32, 0.1) == (double)0.1f);
    assert_true(float_round(DT_F16, 0.1) == 0x1.998p-4);
    assert_true(float_round(DT_BF16, 0.1) == 0x1.9ap-4);
    assert_true(isinf(float_round(DT_F16, 1e5)) && isnan(float_round(DT_BF16, (double)NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern_comes_back),
        cmocka_unit_test(known_numbers),
        cmocka_unit_test(ties_go_to_even),
        cmocka_unit_test(rounding_to_any_float),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
