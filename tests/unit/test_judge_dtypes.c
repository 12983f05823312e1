/*
 * Every dtype under the bound: what right kernels may do is right, in any order and with any
 * accumulator that was declared; what rounds once too often, too early or too late is found.
 */
#include "base/bug.h"
#include "judging.h"
#include "orders.h"

static const char *const floats[] = { "f32", "f64", "f16", "bf16" };
static const enum dtype dtypes[] = { DT_F32, DT_F64, DT_F16, DT_BF16 };

/* By the definition of rounding: the nearer neighbour, the even one if both are as near. */
static void grids_round_to_nearest(void **state)
{
    (void)state;
    for (int d = 2; d < 4; d++) {
        uint16_t inf = dtypes[d] == DT_F16 ? 0x7c00 : 0x7f80, back;

        for (uint16_t k = 0; k < inf; k++) {
            uint16_t next = (uint16_t)(k + 1);
            double a = grid_load(dtypes[d], &k), b = grid_load(dtypes[d], &next), mid;

            grid_store(dtypes[d], -a, &back);
            assert_int_equal(back, k | 0x8000);
            if (next == inf)
                b = a + (a - grid_load(dtypes[d], &(uint16_t){ (uint16_t)(k - 1) }));
            assert_true(b > a);
            mid = (a + b) / 2;
            if (next == inf)
                b = HUGE_VAL;
            assert_true(grid_round(dtypes[d], a) == a);
            assert_true(grid_round(dtypes[d], mid) == (k & 1 ? b : a));
            assert_true(grid_round(dtypes[d], nextafter(mid, 0)) == a);
            assert_true(grid_round(dtypes[d], -nextafter(mid, HUGE_VAL)) == -b);
        }
        assert_true(isinf(grid_load(dtypes[d], &inf)));
        assert_true(isnan(grid_load(dtypes[d], &(uint16_t){ (uint16_t)(inf + 1) })));
        grid_store(dtypes[d], (double)NAN, &back);
        assert_true(isnan(grid_load(dtypes[d], &back)));
    }
    assert_true(isinf(grid_round(DT_F16, 65520)) && grid_round(DT_F16, 65519.99) == 65504);
}

struct function {
    const char *name, *recipe;
    double (*d)(double);
    float (*f)(float);
};

static double rsqrt_d(double x)
{
    return 1 / sqrt(x);
}
static float rsqrt_f(float x)
{
    return 1 / sqrtf(x);
}

static const struct function functions[] = {
    { "exp", "normal", exp, expf },
    { "exp2", "normal", exp2, exp2f },
    { "log", "uniform", log, logf },
    { "tanh", "normal", tanh, tanhf },
    { "erf", "normal", erf, erff },
    { "sqrt", "uniform", sqrt, sqrtf },
    { "rsqrt", "positive", rsqrt_d, rsqrt_f },
};

/* As a backend computes it, x being of dtype d already. */
static double apply(const struct function *f, enum dtype dt, double x)
{
    return dt == DT_F64 ? f->d(x) : grid_round(dt, (double)f->f((float)x));
}

static double multiply(enum dtype dt, double x, double y)
{
    return grid_round(dt, dt == DT_F64 ? x * y : (double)((float)x * (float)y));
}

/* f(x * 1.7) times x; then the first in f32 inside a kernel of f64, or not rounded. */
static void functions_keep_their_contract(void **state)
{
    enum { N = 4000 };
    static double y[N];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        for (int d = 0; d < 4; d++) {
            const struct function *f = &functions[i];
            enum dtype dt = dtypes[d];
            struct trial *t =
                trial_of("input x %s [%d]\ns = mul x 1.7\ng = %s s\ny = mul g x\noutput y\n"
                         "data seed=%zu recipe=%s\n",
                         floats[d], N, f->name, i, f->recipe);
            const struct want *w = ieee(t);
            double *x = numbers_of(t, "x"), scale = grid_round(dt, 1.7);
            struct verdict v;

            for (int k = 0; k < N; k++)
                y[k] = multiply(dt, apply(f, dt, multiply(dt, x[k], scale)), x[k]);
            v = verdict_on_numbers(w, y);
            assert_int_equal(v.kind, VK_PASS);
            assert_int_equal(v.n_judged, N);
            for (int k = 0; dt == DT_F64 && k < N; k++)
                y[k] = (double)f->f((float)(x[k] * scale)) * x[k];
            if (dt == DT_F64)
                assert_true(verdict_on_numbers(w, y).n_wrong > N * 99 / 100);
            y[17] = 1.1 * y[17] + 1;
            assert_int_equal(verdict_on_numbers(w, y).kind, VK_MISMATCH);
        }
}

/* a . b with an accumulator of dtype acc, in one of the orders */
static double dot(enum dtype acc, enum order o, const double *a, const double *b, int bs, int n)
{
    float fa[512], fb[512];
    double s = 0, lane[32] = { 0 };

    if (acc == DT_F32) {
        for (int k = 0; k < n; k++) {
            fa[k] = (float)a[k];
            fb[k] = (float)b[k * bs];
        }
        return (double)dot_f32(o, fa, fb, 1, n);
    }
    for (int i = 0; i < n; i++) {
        int k = o == ORDER_REVERSE ? n - 1 - i : i;
        double p = grid_round(acc, a[k] * b[k * bs]),
               *to = o == ORDER_LANES ? lane + k % 32 : &s;

        if (o == ORDER_FMA) /* one rounding; to double that of fma */
            *to = acc == DT_F64 ? fma(a[k], b[k * bs], *to)
                                : grid_round(acc, *to + a[k] * b[k * bs]);
        else
            *to = grid_round(acc, *to + p);
    }
    for (int k = 0; o == ORDER_LANES && k < 32; k++)
        s = grid_round(acc, s + lane[k]);
    return s;
}

struct pair {
    enum dtype dt, acc;
};

static const struct pair pairs[] = {
    { DT_F32, DT_F32 },   { DT_F32, DT_F64 },  { DT_F64, DT_F64 },
    { DT_F16, DT_F16 },   { DT_F16, DT_F32 },  { DT_F16, DT_F64 },
    { DT_BF16, DT_BF16 }, { DT_BF16, DT_F32 }, { DT_BF16, DT_F64 },
};

static void accumulators_in_any_order(void **state)
{
    static const double one[1] = { 1 };
    int seen = 0, tried = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        for (int seed = 0; seed < 40; seed++) {
            int n = 1 + seed * 11 % 300;
            enum dtype dt = pairs[i].dt, acc = pairs[i].acc;
            struct trial *t =
                trial_of("input a %s [1,%d]\ninput b %s [%d,1]\ns = sum a axes=[1] acc=%s\n"
                         "m = mean a axes=[1] acc=%s\nc = matmul a b acc=%s\n"
                         "f = reshape c [1]\nsm = concat s m axis=0\nz = concat sm f axis=0\n"
                         "output z\ndata seed=%d recipe=%s\n",
                         dtype_info(dt)->name, n, dtype_info(dt)->name, n,
                         dtype_info(acc)->name, dtype_info(acc)->name, dtype_info(acc)->name,
                         seed, seed % 2 ? "normal" : "uniform");
            const struct want *w = ieee(t);
            double *a = numbers_of(t, "a"), *b = numbers_of(t, "b"), z[3];

            for (int o = 0; o < ORDER_COUNT; o++) {
                struct verdict v;

                z[0] = dot(acc, (enum order)o, a, one, 0, n);
                z[1] = grid_round(acc, z[0] / grid_round(acc, n));
                z[2] = dot(acc, (enum order)o, a, b, 1, n);
                v = verdict_on_numbers(w, z);
                assert_int_equal(v.kind, VK_PASS);
                assert_int_equal(v.n_judged, 3);
            }
            z[2] -= a[n / 2] * b[n / 2];
            tried++;
            seen += verdict_on_numbers(w, z).kind == VK_MISMATCH;
        }
    assert_true(seen > tried * 70 / 100);
}

/* An accumulator of f32 in place of f64, of a half in place of f32. */
static void narrow_accumulators_are_found(void **state)
{
    int seen[3] = { 0 };

    (void)state;
    for (int seed = 0; seed < 200; seed++) {
        static const enum dtype acc[] = { DT_F64, DT_F32, DT_F32 },
                                got[] = { DT_F32, DT_F16, DT_BF16 };
        static const enum dtype dt[] = { DT_F64, DT_F16, DT_BF16 };

        for (int i = 0; i < 3; i++) {
            struct trial *t = trial_of("input a %s [4,200]\ninput b %s [200,4]\n"
                                       "c = matmul a b acc=%s\noutput c\n"
                                       "data seed=%d recipe=uniform\n",
                                       dtype_info(dt[i])->name, dtype_info(dt[i])->name,
                                       dtype_info(acc[i])->name, seed);
            double *a = numbers_of(t, "a"), *b = numbers_of(t, "b"), c[16];

            for (int k = 0; k < 16; k++)
                c[k] = dot(got[i], ORDER_SEQ, a + k / 4 * 200, b + k % 4, 4, 200);
            seen[i] += verdict_on_numbers(ieee(t), c).kind == VK_MISMATCH;
        }
    }
    assert_int_equal(seen[0], 200);
    assert_int_equal(seen[1], 200);
    assert_int_equal(seen[2], 200);
}

static void products_in_any_order(void **state)
{
    (void)state;
    for (int d = 0; d < 4; d++)
        for (int seed = 0; seed < 50; seed++) {
            enum dtype dt = dtypes[d], acc = dt == DT_F64 ? DT_F64 : DT_F32;
            int n = 1 + seed % 13;
            struct trial *t = trial_of("input x %s [%d]\ny = prod x axes=[0]\noutput y\n"
                                       "data seed=%d recipe=%s\n",
                                       floats[d], n, seed, seed % 2 ? "positive" : "ints");
            const struct want *w = ieee(t);
            double *x = numbers_of(t, "x"), up = 1, down = 1;

            for (int k = 0; k < n; k++) {
                up = multiply(acc, up, x[k]);
                down = multiply(acc, down, x[n - 1 - k]);
            }
            assert_int_equal(verdict_on_numbers(w, &up).kind, VK_PASS);
            assert_int_equal(verdict_on_numbers(w, &down).kind, VK_PASS);
            if (isfinite(grid_round(dt, up)) && up != 0) {
                up *= -1;
                assert_int_equal(verdict_on_numbers(w, &up).kind, VK_MISMATCH);
            }
        }
}

/* From f64 to a half over f32 is two roundings: found where it makes a difference. */
static void casts_round_once(void **state)
{
    static const double x[] = { 1 + 0x1p-11 + 0x1p-40,
                                1 + 0x1p-8 + 0x1p-40,
                                65519.9999999,
                                1 + 0x1p-24 + 0x1p-50,
                                3,
                                -0.1 };
    static const char *const to[] = { "f16", "bf16", "f32" };
    static const enum dtype dt[] = { DT_F16, DT_BF16, DT_F32 };
    double y[6];

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct trial *t = trial_of("input x f64 [6]\nz = sub x 0\ny = cast z %s\noutput y\n"
                                   "values x [%.17g,%.17g,%.17g,%.17g,%.17g,%.17g]\n",
                                   to[i], x[0], x[1], x[2], x[3], x[4], x[5]);
        const struct want *w = ieee(t);

        assert_true(numbers_of(t, "x")[0] == x[0]);
        for (int k = 0; k < 6; k++) {
            y[k] = grid_round(dt[i], x[k]);
            assert_true(wanted(w, "y")->ieee[k].v == y[k] && wanted(w, "y")->ieee[k].e == 0);
        }
        assert_int_equal(verdict_on_numbers(w, y).kind, VK_PASS);
        for (int k = 0; k < 6; k++)
            y[k] = grid_round(dt[i], (double)(float)x[k]);
        assert_int_equal(verdict_on_numbers(w, y).kind, i == 2 ? VK_PASS : VK_MISMATCH);
    }
}

static void casts_between_all(void **state)
{
    const struct want *w = ieee(trial_of(
        "input i i32 [4]\nh = cast i f16\nb = cast i bf16\nd = cast i f64\nhd = cast h f64\n"
        "bi = cast b i32\nhb = cast b f16\ndi = cast d i32\nt = cast h bool\nq = lt h 3\n"
        "e = eq hd d\noutput h\noutput b\noutput d\noutput hd\noutput bi\noutput hb\n"
        "output di\noutput t\noutput q\noutput e\nvalues i [0,2049,100003,-257]\n"));
    static const double h[] = { 0, 2048, HUGE_VAL, -257 }, b[] = { 0, 2048, 99840, -256 };

    (void)state;
    for (int k = 0; k < 4; k++) {
        assert_true(wanted(w, "h")->ieee[k].v == h[k] && wanted(w, "h")->ieee[k].e == 0);
        assert_true(wanted(w, "b")->ieee[k].v == b[k] && wanted(w, "b")->ieee[k].e == 0);
        assert_true(wanted(w, "hd")->wide[k].v == h[k] && wanted(w, "hd")->wide[k].e == 0);
        assert_true((int32_t)wanted(w, "bi")->word[k] == (int32_t)b[k]);
        assert_int_equal(wanted(w, "t")->word[k], k > 0);
        assert_int_equal(wanted(w, "q")->word[k], k % 3 == 0);
        assert_int_equal(wanted(w, "e")->word[k], k % 3 == 0);
    }
    assert_int_equal(wanted(w, "di")->word[2], 100003);
    assert_true(wanted(w, "hb")->ieee[2].v == HUGE_VAL);
}

/* A half is rounded at every node, and is known where the bound lies between two ties. */
static void halves_are_rounded_at_every_node(void **state)
{
    struct trial *t = trial_of("input x f16 [1000]\ninput y f16 [1000]\na = mul x y\n"
                               "z = add a x\noutput z\n");
    const struct want *w = ieee(t);
    double *x = numbers_of(t, "x"), *y = numbers_of(t, "y"), z[1000];

    (void)state;
    for (int k = 0; k < 1000; k++)
        z[k] = grid_round(DT_F16, grid_round(DT_F16, x[k] * y[k]) + x[k]);
    assert_int_equal(verdict_on_numbers(w, z).kind, VK_PASS);
    for (int k = 0; k < 1000; k++)
        z[k] = grid_round(DT_F16, x[k] * y[k] + x[k]);
    assert_int_equal(verdict_on_numbers(w, z).kind, VK_MISMATCH);
}

static void halves_overflow_at_the_store(void **state)
{
    const struct want *w =
        ieee(trial_of("input x f16 [4]\ny = mul x 2\ne = exp x\ns = sum x axes=[0]\n"
                      "n = sum x axes=[0] acc=f16\noutput y\noutput e\noutput s\noutput n\n"
                      "values x [60000,10,-40000,5]\n"));

    (void)state;
    assert_true(wanted(w, "y")->ieee[0].v == HUGE_VAL && wanted(w, "y")->ieee[0].e == 0);
    assert_true(wanted(w, "y")->ieee[2].v == -HUGE_VAL && wanted(w, "y")->ieee[2].e == 0);
    assert_true(wanted(w, "y")->ieee[1].v == 20);
    assert_true(wanted(w, "e")->ieee[0].e < 0);
    assert_true(wanted(w, "s")->ieee[0].e >= 0);
    assert_true(wanted(w, "n")->ieee[0].e < 0); /* some orders overflow */
}

/* Ring: halves are cut off at every node, an f64 is a word with nothing in its high half. */
static void words_of_other_sizes(void **state)
{
    struct trial *t = trial_of(
        "input x f16 [40]\ninput d f64 [40]\na = mul x x\nn = neg a\nl = lt n 0\n"
        "j = iota bf16 [300] axis=0\ne = cast d bf16\ni = cast x i32\nm = mul d d\ns = sum x "
        "axes=[0]\n"
        "output a\noutput n\noutput l\noutput e\noutput i\noutput m\noutput s\noutput j\n");
    const struct want *w = ring(t);
    const uint32_t *x = wanted(w, "x")->word, *d = wanted(w, "d")->word;
    uint16_t a[40], n[40], e[40], s = 0;
    unsigned char l[40] = { 0 };
    uint16_t j[300];
    uint64_t m[40];
    const void *out[] = { a, n, l, e, x, m, &s, j };

    (void)state;
    for (int k = 0; k < 300; k++)
        j[k] = (uint16_t)k;
    for (int k = 0; k < 40; k++) {
        assert_true(x[k] < 0x10000);
        a[k] = (uint16_t)(x[k] * x[k]);
        n[k] = (uint16_t)-a[k];
        e[k] = (uint16_t)d[k];
        m[k] = d[k] * d[k];
        s = (uint16_t)(s + x[k]);
    }
    assert_int_equal(verdict_on(w, out).kind, VK_PASS);
    assert_int_equal(wanted(w, "j")->word[299], 299); /* no rounding in ring */
    m[39] |= (uint64_t)1 << 32;
    assert_int_equal(verdict_on(w, out).n_wrong, 1);
    assert_int_equal(verdict_on(w, out).out, 5);
    m[39] = (uint32_t)m[39];
    n[3] ^= 0x8000;
    assert_int_equal(verdict_on(w, out).out, 1);
    assert_int_equal(verdict_on(w, out).at[0], 3);
}

static void null_kernels_of_every_dtype(void **state)
{
    (void)state;
    for (int d = 0; d < 4; d++) {
        const char *which = NULL;
        const struct want *w[] = {
            ieee(trial_of("input x %s [3]\ny = sub x x\noutput y\n", floats[d])),
            ring(trial_of("input x %s [3]\ny = sub x x\noutput y\n", floats[d])),
        };
        const struct want *ones =
            ieee(trial_of("input x %s [3]\na = mul x 0\ny = add a 1\noutput y\n", floats[d]));
        const struct want *good =
            ieee(trial_of("input x %s [3]\ny = mul x 3\noutput y\n", floats[d]));

        assert_true(judge_untrusted(w, 2, &which));
        assert_string_equal(which, "zeros");
        assert_true(judge_untrusted(&ones, 1, &which));
        assert_string_equal(which, "ones");
        assert_false(judge_untrusted(&good, 1, &which));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_round_to_nearest),
        cmocka_unit_test(functions_keep_their_contract),
        cmocka_unit_test(accumulators_in_any_order),
        cmocka_unit_test(narrow_accumulators_are_found),
        cmocka_unit_test(products_in_any_order),
        cmocka_unit_test(casts_round_once),
        cmocka_unit_test(casts_between_all),
        cmocka_unit_test(halves_are_rounded_at_every_node),
        cmocka_unit_test(halves_overflow_at_the_store),
        cmocka_unit_test(words_of_other_sizes),
        cmocka_unit_test(null_kernels_of_every_dtype),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
