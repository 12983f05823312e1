/* The interpreter on f64 and the halves: their grids, casts, operations, accumulators. */
#include "interp_fix.h"

#include <math.h>
#include <stdio.h>

#include "ir/data.h"

#include "ring_words.h"

/* --- grids --- */

struct half {
    const char *name;
    float (*grid)(double);
    float (*value)(uint16_t);
    uint16_t (*bits)(float);
    int mant, bias;
};

static const struct half halves[] = {
    { "f16", f16_grid, f16_value, f16_bits, 10, 15 },
    { "bf16", bf16_grid, bf16_value, bf16_bits, 7, 127 },
};

/* A pattern below infinity, by the definition of the format. */
static double defined(const struct half *h, int bits)
{
    int m = bits & ((1 << h->mant) - 1), e = bits >> h->mant;

    return e ? ldexp(m + (1 << h->mant), e - h->bias - h->mant)
             : ldexp(m, 1 - h->bias - h->mant);
}

static void every_pattern_keeps_its_value(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct half *h = &halves[i];
        int inf = 0x8000 - (1 << h->mant);

        for (int b = 0; b < 0x10000; b++) {
            float x = h->value((uint16_t)b);
            double want = (b & 0x7fff) < inf ? defined(h, b & 0x7fff) : HUGE_VAL;

            if ((b & 0x7fff) > inf) {
                assert_true(isnan(x) && isnan(h->grid((double)x)));
                assert_true((h->bits(x) & 0x7fff) > inf);
                continue;
            }
            if ((double)x != (b & 0x8000 ? -want : want) || h->bits(x) != b ||
                h->bits(h->grid((double)x)) != b)
                fail_msg("%s %#x is %a, then %#x", h->name, b, (double)x, h->bits(x));
        }
    }
}

static void rounded(const struct half *h, double x, int want)
{
    if (h->bits(h->grid(x)) != want || h->bits(h->grid(-x)) != (want | 0x8000))
        fail_msg("%s of %a: got %#x, want %#x", h->name, x, h->bits(h->grid(x)), want);
}

/* Between any two neighbours, and at the upper end: nearest, ties to even. */
static void every_gap_is_rounded_once(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct half *h = &halves[i];
        int inf = 0x8000 - (1 << h->mant);

        for (int b = 0; b < inf; b++) {
            double low = defined(h, b), mid = (low + defined(h, b + 1)) / 2;

            rounded(h, mid, b + (b & 1));
            rounded(h, nextafter(mid, 0), b);
            rounded(h, nextafter(mid, HUGE_VAL), b + 1);
            rounded(h, nextafter(low, HUGE_VAL), b);
        }
        rounded(h, HUGE_VAL, inf);
        rounded(h, 1e300, inf);
        rounded(h, 5e-324, 0);
    }
}

/* --- programs of text --- */

/* The first element of output 0 of a program on inputs a and b, zero-extended. */
static uint64_t compute(struct fix *f, enum algebra al, const char *node, const char *dt,
                        const char *a, const char *b)
{
    const struct prog *p;
    char text[600];
    uint64_t w = 0;
    int n = 1;

    for (const char *s = a; *s; s++)
        n += *s == ',';
    snprintf(text, sizeof text,
             "tilefuzz 1\ninput a %s [%d]\ninput b %s [%d]\n%s\noutput z\n"
             "schedule\ndata seed=1 recipe=normal\nvalues a [%s]\nvalues b [%s]\n",
             dt, n, dt, n, node, a, b);
    build(f, text);
    p = f->l.prog;
    memcpy(&w, run(f, al), (size_t)dtype_info(p->node[p->out[0].node].dt)->bytes);
    return w;
}

struct row {
    const char *node, *dt, *a, *b;
    double want;
};

static void check_rows(struct fix *f, const struct row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t w = compute(f, AL_IEEE, row[i].node, row[i].dt, row[i].a, row[i].b);
        double got = number(f->l.prog->node[f->l.prog->out[0].node].dt, w);

        if (isnan(row[i].want) ? !isnan(got) : got != row[i].want)
            fail_msg("%s of %s %s, %s: got %.17g, want %.17g", row[i].node, row[i].dt, row[i].a,
                     row[i].b, got, row[i].want);
    }
}

static void ieee_casts(void **state)
{
    static const struct row row[] = {
        /* one rounding: by way of f32 these two would end on a tie */
        { "z = cast a f16", "f64", "1.00048828130820766091", "0", 1.0009765625 },
        { "z = cast a bf16", "f64", "1.00390625000000088818", "0", 1.0078125 },
        { "z = cast a f16", "f64", "65519.99", "0", 65504 },
        { "z = cast a f16", "f64", "65520", "0", HUGE_VAL },
        { "z = cast a f16", "f32", "2.98023223876953125e-8", "0", 0 },
        { "z = cast a f16", "f32", "-4e-8", "0", -0x1p-24 },
        { "z = cast a f16", "bf16", "1e30", "0", HUGE_VAL },
        { "z = cast a bf16", "f16", "1.005859375", "0", 1.0078125 },
        { "z = cast a f32", "f64", "1e300", "0", HUGE_VAL },
        { "z = cast a f32", "f64", "1.0000000596046450", "0", 1.00000011920928955078 },
        { "z = cast a f64", "f32", "0.1", "0", (double)0.1f },
        { "z = cast a f64", "f16", "0.1", "0", 0.0999755859375 },
        { "z = cast a f32", "bf16", "0.1", "0", 0.10009765625 },
        { "z = cast a f16", "i32", "2049", "0", 2048 },
        { "z = cast a f16", "i32", "2051", "0", 2052 },
        { "z = cast a f16", "i32", "-65520", "0", -HUGE_VAL },
        /* 2^24 + 2^16 + 1: f32 would drop the last bit, and leave a tie */
        { "z = cast a bf16", "i32", "16842753", "0", 16908288 },
        { "z = cast a f64", "i32", "-2147483647", "0", -2147483647 },
        { "z = cast a f16", "bool", "1", "0", 1 },
        { "z = cast a f64", "bool", "1", "0", 1 },
        { "z = cast a i32", "f64", "2147483647.9", "0", 2147483647 },
        { "z = cast a i32", "f64", "2147483648", "0", 2147483647 },
        { "z = cast a i32", "f64", "-2147483648.9", "0", -2147483648.0 },
        { "z = cast a i32", "f64", "-1e300", "0", -2147483648.0 },
        { "z = cast a i32", "f64", "nan", "0", 0 },
        { "z = cast a i32", "f16", "-2.5", "0", -2 },
        { "z = cast a i32", "bf16", "inf", "0", 2147483647 },
        { "z = cast a bool", "f64", "5e-324", "0", 1 },
        { "z = cast a bool", "f16", "-0", "0", 0 },
        { "z = cast a bool", "bf16", "nan", "0", 1 },
        { "z = cast a f64", "f16", "nan", "0", NAN },
        { "z = cast a f16", "f64", "-inf", "0", -HUGE_VAL },
    };

    check_rows(*state, row, sizeof row / sizeof row[0]);
}

static void ieee_operations(void **state)
{
    const struct row row[] = {
        { "z = add a b", "f64", "1", "1.11022302462515654e-16", 1 },
        { "z = add a b", "f64", "1", "1.5e-16", 1 + 0x1p-52 },
        { "z = mul a b", "f64", "1e200", "1e200", HUGE_VAL },
        { "z = maximum a b", "f64", "1", "nan", NAN },
        { "z = minimum a b", "f64", "nan", "1", NAN },
        { "z = abs a", "f64", "-0.1", "0", 0.1 },
        { "z = neg a", "f64", "-0.1", "0", 0.1 },
        { "z = exp a", "f64", "1", "0", exp(1.0) },
        { "z = exp2 a", "f64", "-1074", "0", 5e-324 },
        { "z = exp2 a", "f32", "3", "0", 8 },
        { "z = log a", "f64", "3", "0", log(3.0) },
        { "z = log a", "f32", "0", "0", -HUGE_VAL },
        { "z = log a", "f16", "-1", "0", NAN },
        { "z = tanh a", "f32", "-100", "0", -1 },
        { "z = tanh a", "f64", "0.5", "0", tanh(0.5) },
        { "z = erf a", "f64", "0.5", "0", erf(0.5) },
        { "z = erf a", "f32", "0.5", "0", (double)erff(0.5f) },
        { "z = rsqrt a", "f32", "4", "0", 0.5 },
        { "z = rsqrt a", "f64", "0", "0", HUGE_VAL },
        { "z = rsqrt a", "f16", "-1", "0", NAN },
        { "z = recip a", "f64", "3", "0", 1.0 / 3.0 },
        { "z = sqrt a", "f64", "2", "0", sqrt(2.0) },
        { "z = eq a b", "f64", "0.1", "0.1", 1 },
        { "z = lt a b", "f64", "1", "1.0000000000000002", 1 },
        { "z = le a b", "f16", "nan", "1", 0 },
        { "c = lt a b\nz = where c a b", "f64", "0.1", "0.2", 0.1 },
        /* computed in f32, then rounded */
        { "z = add a b", "f16", "2048", "1", 2048 },
        { "z = add a b", "f16", "2048", "3", 2052 },
        { "z = add a b", "f16", "65504", "16", HUGE_VAL },
        { "z = mul a b", "bf16", "3", "85.5", 256 },
        { "z = div a b", "f16", "1", "3", 0.333251953125 },
        { "z = exp a", "f16", "11", "0", 59872 },
        { "z = exp a", "f16", "12", "0", HUGE_VAL },
        { "z = exp a", "bf16", "1", "0", 2.71875 },
        { "i = iota f16 [2] axis=0\ns = slice i [1:2:1]\nz = add s 2048", "f16", "0", "0",
          2048 },
        { "i = iota f64 [2] axis=0\nz = add i 0.1", "f16", "0", "0", 0.1 },
        { "i = iota bf16 [514] axis=0\nz = max i axes=[0]", "f16", "0", "0", 512 },
        { "p = pad a [1:0] value=0.1\nz = slice p [0:1:1]", "f64", "2", "0", 0.1 },
        { "p = pad a [1:0] value=0.1\nz = slice p [0:1:1]", "f16", "2", "0", 0.0999755859375 },
        { "z = add a 0.1", "f64", "0", "0", 0.1 },
    };

    check_rows(*state, row, sizeof row / sizeof row[0]);
}

static void ieee_accumulators(void **state)
{
    static const struct row row[] = {
        { "z = sum a axes=[0]", "f16", "2048,1,1,1", "0,0,0,0", 2052 },
        { "z = sum a axes=[0] acc=f16", "f16", "2048,1,1,1", "0,0,0,0", 2048 },
        { "z = sum a axes=[0] acc=bf16", "bf16", "256,1,1", "0,0,0", 256 },
        { "z = sum a axes=[0]", "f32", "16777216,1,1", "0,0,0", 16777216 },
        { "z = sum a axes=[0] acc=f64", "f32", "16777216,1,1", "0,0,0", 16777218 },
        { "z = sum a axes=[0]", "f64", "1e16,1,-1e16", "0,0,0", 0 },
        { "z = sum a axes=[0]", "f64", "1e15,0.5,-1e15", "0,0,0", 0.5 },
        { "z = mean a axes=[0]", "f16", "65504,65504", "0,0", 65504 },
        { "z = mean a axes=[0] acc=f16", "f16", "65504,65504", "0,0", HUGE_VAL },
        { "z = prod a axes=[0]", "f16", "256,256,0.5", "0,0,0", 32768 },
        { "z = prod a axes=[0] acc=f16", "f16", "256,256,0.5", "0,0,0", HUGE_VAL },
        { "z = prod a axes=[0]", "f64", "1.5,-2,0.1", "0,0,0", 1.5 * -2 * 0.1 },
        { "z = prod a axes=[0]", "i32", "65536,65535,3", "0,0,0", -196608 },
        { "s = slice a [0:0:1]\nz = prod s axes=[0]", "bf16", "2", "0", 1 },
        { "z = max a axes=[0]", "f16", "-3,-2,-5", "0,0,0", -2 },
        { "z = min a axes=[0]", "f64", "0.5,0.1,nan", "0,0,0", NAN },
        { "x = reshape a [1,3]\ny = reshape b [3,1]\nz = matmul x y", "f16", "200,1,-200",
          "200,0.5,200", 0.5 },
        { "x = reshape a [1,3]\ny = reshape b [3,1]\nz = matmul x y acc=f16", "f16",
          "200,1,-200", "200,0.5,200", 0 },
        /* a half product is rounded before it is added: 1.0009765625^2 - 1 */
        { "x = reshape a [1,2]\ny = reshape b [2,1]\nz = matmul x y acc=f16", "f16",
          "-1,1.0009765625", "1,1.0009765625", 0.001953125 },
        { "x = reshape a [1,3]\ny = reshape b [3,1]\nz = matmul x y acc=f64", "f32",
          "1e30,1,-1e30", "1e-20,0.5,1e-20", 0.5 },
        { "x = reshape a [1,2]\ny = reshape b [2,1]\nz = matmul x y", "f64", "0.1,3", "10,-1",
          0.1 * 10 - 3 },
        { "x = reshape a [1,2]\ny = reshape b [2,1]\nz = matmul x y", "bf16", "0.5,3", "3,2",
          7.5 },
    };

    check_rows(*state, row, sizeof row / sizeof row[0]);
}

static void ring_operations(void **state)
{
    uint32_t inv9 = inverse(mix(9 ^ 0x9e3779b9u)), c = ring_literal(0.5);
    const struct {
        const char *node, *dt, *a;
        uint64_t want;
    } row[] = {
        { "z = add a -1", "f64", "3", 2 },
        { "z = sub a 4", "f64", "3", 0xffffffff },
        { "z = mul a a", "f64", "65537", 131073 },
        { "z = exp2 a", "f32", "-3", power_of_5(0u - 3) },
        { "z = exp2 a", "f64", "7", power_of_5(7) },
        { "z = exp2 a", "f16", "7", power_of_5(7) & 0xffff },
        { "z = log a", "f32", "9", mix(9 ^ 0x2545f491u) },
        { "z = tanh a", "f64", "9", mix(9 ^ 0x4f6cdd1du) },
        { "z = erf a", "f32", "9", mix(9 ^ 0x6a09e667u) },
        { "z = erf a", "bf16", "9", mix(9 ^ 0x6a09e667u) & 0xffff },
        { "z = rsqrt a", "f64", "9", inv9 },
        { "z = rsqrt a", "f16", "9", inv9 & 0xffff },
        /* a half word is zero-extended: minus one is the largest number there is */
        { "z = neg a", "f16", "1", 0xffff },
        { "z = abs a", "f16", "-1", 0xffff },
        { "z = sub a 2", "bf16", "1", 0xffff },
        { "z = lt a 1", "f16", "-1", 0 },
        { "z = lt a 1", "f64", "-1", 1 },
        { "z = maximum a 1", "bf16", "-1", 0xffff },
        { "z = maximum a 1", "f64", "-1", 1 },
        { "z = add a 0.5", "f16", "1", (c + 1) & 0xffff },
        { "z = add a 0.5", "f64", "1", (uint32_t)(c + 1) },
        { "z = cast a f32", "f16", "-1", 0xffff },
        { "z = cast a f64", "bf16", "-1", 0xffff },
        { "z = cast a f64", "f32", "-1", 0xffffffff },
        { "z = cast a f32", "f64", "-1", 0xffffffff },
        { "z = cast a f16", "f64", "65538", 2 },
        { "z = cast a f16", "i32", "-2", 0xfffe },
        { "z = cast a f64", "i32", "-2", 0xfffffffe },
        { "z = cast a i32", "f16", "-2", 0xfffe },
        { "z = cast a i32", "f64", "-2", 0xfffffffe },
        { "z = cast a bool", "f64", "4", 1 },
        { "b1 = mul a 256\nz = cast b1 bool", "f16", "256", 0 },
        { "z = cast a bf16", "bool", "1", 1 },
        { "z = cast a f64", "bool", "1", 1 },
        { "z = sum a axes=[0]", "f16", "40000,40000", 80000 & 0xffff },
        { "s = sum a axes=[0] acc=f64\nz = cast s f64", "f16", "40000,40000", 80000 & 0xffff },
        { "z = prod a axes=[0]", "f64", "65536,65535,3", (uint32_t)-196608 },
        { "z = prod a axes=[0] acc=bf16", "bf16", "300,300", 300 * 300 & 0xffff },
        { "s = slice a [0:0:1]\nz = prod s axes=[0]", "f64", "2", 1 },
        { "s = slice a [0:0:1]\nz = max s axes=[0]", "f64", "2", 0x80000000u },
        { "z = max a axes=[0]", "f16", "-3,2", 0xfffd },
        { "x = reshape a [1,2]\ny = reshape a [2,1]\nz = matmul x y", "f16", "300,-1",
          (300u * 300 + 0xffffu * 0xffffu) & 0xffff },
        { "x = reshape a [1,2]\ny = reshape a [2,1]\nz = matmul x y", "f64", "300,-1", 90001 },
        { "i = iota f16 [70000] axis=0\nz = slice i [65537:65538:1]", "f32", "0", 1 },
        { "p = pad a [1:0] value=-2\nz = slice p [0:1:1]", "bf16", "0", 0xfffe },
        { "p = pad a [1:0] value=-2\nz = slice p [0:1:1]", "f64", "0", 0xfffffffe },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        uint64_t got = compute(*state, AL_RING, row[i].node, row[i].dt, row[i].a, row[i].a);

        if (got != row[i].want)
            fail_msg("%s of %s %s: got %#llx, want %#llx", row[i].node, row[i].dt, row[i].a,
                     (unsigned long long)got, (unsigned long long)row[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern_keeps_its_value),
        cmocka_unit_test(every_gap_is_rounded_once),
        cmocka_unit_test(ieee_casts),
        cmocka_unit_test(ieee_operations),
        cmocka_unit_test(ieee_accumulators),
        cmocka_unit_test(ring_operations),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
