/*
 * The proven bound: never exceeded by a right kernel in any order of summation, fused or
 * not; exceeded by a wrong one.
 */
#include "judging.h"
#include "orders.h"

static void sums_in_any_order_are_right(void **state)
{
    static const char *const recipe[] = { "normal", "uniform", "positive" };
    static const float one = 1;
    int seen = 0, tried = 0;

    (void)state;
    for (int seed = 0; seed < 300; seed++) {
        int n = 1 + seed * 7 % 400;
        struct trial *t = trial_of("input x f32 [%d]\ns = sum x axes=[0]\nm = mean x axes=[0]\n"
                                   "output s\noutput m\ndata seed=%d recipe=%s\n",
                                   n, seed, recipe[seed % 3]);
        const struct want *w = ieee(t);
        float *x = floats_of(t, "x"), s, m;
        const void *out[] = { &s, &m };

        for (int o = 0; o < ORDER_COUNT; o++) {
            s = dot_f32((enum order)o, x, &one, 0, n);
            m = o % 2 ? s / (float)n : s * (1 / (float)n);
            assert_int_equal(verdict_on(w, out).kind, VK_PASS);
        }
        s -= x[n / 2]; /* a term dropped */
        tried++;
        seen += verdict_on(w, out).kind == VK_MISMATCH;
    }
    assert_true(seen > tried * 97 / 100);
}

static void matmul_in_any_order_is_right(void **state)
{
    int seen = 0, tried = 0;

    (void)state;
    for (int seed = 0; seed < 60; seed++) {
        int m = 1 + seed % 7, k = 1 + seed * 5 % 130, n = 1 + seed % 9;
        struct trial *t = trial_of("input a f32 [%d,%d]\ninput b f32 [%d,%d]\nc = matmul a b\n"
                                   "output c\ndata seed=%d recipe=normal\n",
                                   m, k, k, n, seed);
        const struct want *w = ieee(t);
        float *a = floats_of(t, "a"), *b = floats_of(t, "b"), c[7 * 9];
        struct verdict v;

        for (int o = 0; o < ORDER_COUNT; o++) {
            for (int i = 0; i < m * n; i++)
                c[i] = dot_f32((enum order)o, a + i / n * k, b + i % n, n, k);
            assert_int_equal(verdict_on_one(w, c).kind, VK_PASS);
        }
        if (k == 1)
            continue;
        /* the last element reads the row before for its last term */
        c[m * n - 1] += a[m * k - 1] * (b[(k - 2) * n + n - 1] - b[k * n - 1]);
        v = verdict_on_one(w, c);
        tried++;
        seen += v.kind == VK_MISMATCH && v.at[0] == m - 1 && v.at[1] == n - 1 && v.n_wrong == 1;
    }
    assert_true(seen > tried * 95 / 100);
}

enum { ROWS = 9, KEYS = 17, DIM = 8 };

/* softmax(q k' c) v in f32; wrong_key: its last row takes another row of v for key 3 */
static void attend(enum order o, const float *q, const float *k, const float *v, float *out,
                   bool wrong_key)
{
    float one = 1, kt[DIM * KEYS], s[KEYS], sum, most;

    for (int j = 0; j < KEYS; j++)
        for (int d = 0; d < DIM; d++)
            kt[d * KEYS + j] = k[j * DIM + d];
    for (int i = 0; i < ROWS; i++) {
        most = -HUGE_VALF;
        for (int j = 0; j < KEYS; j++) {
            s[j] = dot_f32(o, q + i * DIM, kt + j, KEYS, DIM) * 0.35355338f;
            most = fmaxf(most, s[j]);
        }
        for (int j = 0; j < KEYS; j++)
            s[j] = expf(s[j] - most);
        sum = dot_f32(o, s, &one, 0, KEYS);
        for (int j = 0; j < KEYS; j++)
            s[j] = s[j] / sum;
        for (int d = 0; d < DIM; d++) {
            out[i * DIM + d] = dot_f32(o, s, v + d, DIM, KEYS);
            if (wrong_key && i == ROWS - 1)
                out[i * DIM + d] += s[3] * (v[4 * DIM + d] - v[3 * DIM + d]);
        }
    }
}

static struct trial *attention(int seed)
{
    return trial_of("input q f32 [%d,%d]\ninput k f32 [%d,%d]\ninput v f32 [%d,%d]\n"
                    "kt = permute k [1,0]\ns = matmul q kt\nt = mul s 0.35355338\n"
                    "m = max t axes=[1] keep=1\nmb = expand m [%d,%d]\nd = sub t mb\n"
                    "e = exp d\nz = sum e axes=[1] keep=1\nzb = expand z [%d,%d]\n"
                    "p = div e zb\ny = matmul p v\noutput y\ndata seed=%d recipe=normal\n",
                    ROWS, DIM, KEYS, DIM, KEYS, DIM, ROWS, KEYS, ROWS, KEYS, seed);
}

static void attention_in_any_order_is_right(void **state)
{
    int seen = 0;

    (void)state;
    for (int seed = 0; seed < 100; seed++) {
        struct trial *t = attention(seed);
        const struct want *w = ieee(t);
        float *q = floats_of(t, "q"), *k = floats_of(t, "k"), *v = floats_of(t, "v");
        float y[ROWS * DIM];
        struct verdict d;

        for (int o = 0; o < ORDER_COUNT; o++) {
            attend((enum order)o, q, k, v, y, false);
            d = verdict_on_one(w, y);
            assert_int_equal(d.kind, VK_PASS);
            assert_int_equal(d.n_judged, ROWS * DIM);
        }
        attend(ORDER_SEQ, q, k, v, y, true);
        d = verdict_on_one(w, y);
        seen += d.kind == VK_MISMATCH && d.at[0] == ROWS - 1;
    }
    assert_true(seen >= 98);
}

/* A multiply-add may be fused or not; both are within, a wrong sign of the last bits isn't. */
static void contraction_is_allowed(void **state)
{
    struct trial *t = trial_of("input x f32 [1000]\ninput y f32 [1000]\nm = mul x y\n"
                               "s = sub m x\nr = recip s\na = abs s\nq = sqrt a\nd = div q y\n"
                               "output s\noutput r\noutput q\noutput d\n");
    const struct want *w = ieee(t);
    float *x = floats_of(t, "x"), *y = floats_of(t, "y");
    static float s[1000], r[1000], q[1000], d[1000];
    const void *out[] = { s, r, q, d };

    (void)state;
    for (int fused = 0; fused < 2; fused++) {
        for (int k = 0; k < 1000; k++) {
            volatile float m = x[k] * y[k];

            s[k] = fused ? fmaf(x[k], y[k], -x[k]) : m - x[k];
            r[k] = 1 / s[k];
            q[k] = sqrtf(fabsf(s[k]));
            d[k] = q[k] / y[k];
        }
        assert_int_equal(verdict_on(w, out).kind, VK_PASS);
    }
    q[77] *= 1.001f;
    assert_int_equal(verdict_on(w, out).kind, VK_MISMATCH);
    assert_int_equal(verdict_on(w, out).out, 2);
    assert_int_equal(verdict_on(w, out).at[0], 77);
}

/* Probabilities below 1e-6 are judged too: an absolute tolerance would hide every one. */
static void small_values_are_judged(void **state)
{
    struct trial *t = trial_of("input x f32 [8]\ny = exp x\noutput y\n"
                               "values x [-14,-15,-16,-17,-18,-19,-20,-100]\n");
    const struct want *w = ieee(t);
    float y[8], swap;

    (void)state;
    for (int k = 0; k < 8; k++)
        y[k] = expf(floats_of(t, "x")[k]);
    assert_int_equal(verdict_on_one(w, y).kind, VK_PASS);
    swap = y[4];
    y[4] = y[5];
    y[5] = swap;
    assert_int_equal(verdict_on_one(w, y).n_wrong, 2);
    assert_int_equal(verdict_on_one(w, y).at[0], 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_in_any_order_are_right),
        cmocka_unit_test(matmul_in_any_order_is_right),
        cmocka_unit_test(attention_in_any_order_is_right),
        cmocka_unit_test(contraction_is_allowed),
        cmocka_unit_test(small_values_are_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
