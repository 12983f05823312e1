/*
 * Special values in any place: kernels that do as IEEE says are never wrong, and most of
 * what they give is judged.
 */
#include <math.h>

#include "judging.h"

/* Something special in one place of four. */
static double odd_number(unsigned *seed)
{
    static const double odd[] = { (double)NAN, HUGE_VAL, -HUGE_VAL, 3e38,  -3e38, 1e30,
                                  1e-40,       -1e-40,   -0.0,      0,     1e-20, 60000,
                                  -90,         100,      6e-8,      1e-310 };
    unsigned h = *seed = *seed * 1664525u + 1013904223u;

    return h >> 30 ? (double)(int)(h >> 16 & 1023) / 256 - 2 : odd[h >> 20 & 15];
}

static char *odd_numbers(const char *name, int n, unsigned *seed, double *v, enum dtype dt)
{
    char *s = arena_printf(&arena, "values %s [", name);

    for (int k = 0; k < n; k++) {
        v[k] = grid_round(dt, odd_number(seed));
        s = arena_printf(&arena, "%s%s%.17g", s, k ? "," : "", v[k]);
    }
    return arena_printf(&arena, "%s]\n", s);
}

static float max_of(float a, float b)
{
    return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
}

/* Softmax of s[n] without the hidden, times v[n]: plain, or with a running maximum. */
static float attended(const float *s, const char *hidden, const float *v, int n, bool online)
{
    float m = -INFINITY, l = 0, o = 0;

    if (!online) {
        for (int j = 0; j < n; j++)
            m = hidden[j] ? m : max_of(m, s[j]);
        for (int j = 0; j < n; j++)
            l += hidden[j] ? 0 : expf(s[j] - m);
        for (int j = 0; j < n; j++)
            o += (hidden[j] ? 0 : expf(s[j] - m)) / l * v[j];
        return o;
    }
    for (int j = 0; j < n; j++) {
        float top = hidden[j] ? m : max_of(m, s[j]), by = top == -INFINITY ? 0 : expf(m - top);
        float w = hidden[j] || top == -INFINITY ? 0 : expf(s[j] - top);

        l = l * by + w;
        o = o * by + w * v[j];
        m = top;
    }
    return o / l;
}

enum { N = 6, ROUNDS = 4000 };

/* Composites on special values: nothing that IEEE makes of the definition is wrong. */
static void composites_raise_no_alarm(void **state)
{
    unsigned seed = 1;
    int64_t judged = 0, all = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        enum dtype dt = round % 3 == 2 ? DT_F16 : DT_F32;
        double xs[N], vs[N], q[1], gs[N], bs[N];
        unsigned see = seed >> 9 & 63;
        const char *name = dtype_info(dt)->name;
        bool online = round & 1;
        char hidden[N];
        float s[N], v[N], x[N], mean = 0, square = 0;
        double out[4 * N + 1];
        struct trial *t = trial_of(
            "input x %s [1,%d,1]\ninput v %s [1,%d,1]\ninput q %s [1,1,1]\ninput g %s [%d]\n"
            "input b %s [%d]\ninput m bool [1,%d]\nr = reshape x [%d]\n"
            "p = softmax r axis=0\nz0 = attention q x v m scale=1 mask=bool\nz = reshape z0 "
            "[1]\n"
            "l = layernorm r g b eps=1e-5\ny = rmsnorm r g eps=1e-5\n"
            "a = concat p z axis=0\nc = concat l y axis=0\no = concat a c axis=0\n"
            "e = exp r\nall = concat o e axis=0\noutput all\nschedule\n"
            "algo z0 online block=1\ndata seed=1 recipe=normal\n%s%s%s%s%svalues m "
            "[%u,%u,%u,%u,%u,%u]\n",
            name, N, name, N, name, name, N, name, N, N, N, odd_numbers("x", N, &seed, xs, dt),
            odd_numbers("v", N, &seed, vs, dt), odd_numbers("q", 1, &seed, q, dt),
            odd_numbers("g", N, &seed, gs, dt), odd_numbers("b", N, &seed, bs, dt), see & 1,
            see >> 1 & 1, see >> 2 & 1, see >> 3 & 1, see >> 4 & 1, see >> 5 & 1);
        struct verdict d;

        for (int k = 0; k < N; k++) {
            x[k] = (float)xs[k];
            v[k] = (float)vs[k];
            s[k] = (float)q[0] * x[k] * 1.0f;
            hidden[k] = !(see >> k & 1);
        }
        for (int k = 0; k < N; k++) {
            float m = -INFINITY, l = 0;

            for (int j = 0; j < N; j++)
                m = max_of(m, x[j]);
            for (int j = 0; j < N; j++)
                l += expf(x[j] - m);
            out[k] = (double)(expf(x[k] - m) / l);
            out[3 * N + 1 + k] = (double)expf(x[k]);
        }
        out[N] = (double)attended(s, hidden, v, N, online);
        for (int k = 0; k < N; k++)
            mean += x[k];
        mean /= N;
        for (int k = 0; k < N; k++)
            square += (x[k] - mean) * (x[k] - mean);
        for (int k = 0; k < N; k++)
            out[N + 1 + k] = (double)((x[k] - mean) / sqrtf(square / N + 1e-5f) * (float)gs[k] +
                                      (float)bs[k]);
        square = 0;
        for (int k = 0; k < N; k++)
            square += x[k] * x[k];
        for (int k = 0; k < N; k++)
            out[2 * N + 1 + k] =
                (double)(x[k] * (1 / sqrtf(square / N + 1e-5f)) * (float)gs[k]);
        d = verdict_on_numbers(ieee(t), out);
        if (d.kind != VK_PASS)
            fail_msg("round %d, element %d: got %g, want %g within %g", round, (int)d.at[0],
                     d.got, d.want, d.bound);
        judged += d.n_judged;
        all += d.n_judged + d.n_unsure;
    }
    print_message("%d%% of special elements judged\n", (int)(judged * 100 / all));
    assert_true(judged > all / 2);
}

/* In the dtype's own arithmetic: f64, or f32 and then the grid. */
static double stored(enum dtype dt, double v)
{
    return grid_round(dt, dt == DT_F64 ? v : (double)(float)v);
}

static double function(enum dtype dt, int f, double x)
{
    static double (*const d[])(double) = { exp, exp2, log, tanh, erf, sqrt };
    static float (*const s[])(float) = { expf, exp2f, logf, tanhf, erff, sqrtf };

    return dt == DT_F64 ? d[f](x) : grid_round(dt, (double)s[f]((float)x));
}

static double binary(enum dtype dt, int f, double x, double y)
{
    if (f == 0)
        return stored(dt, x + y);
    if (f == 1)
        return stored(dt, x * y);
    if (f == 2)
        return stored(dt, x / y);
    return isnan(x) || isnan(y) ? (double)NAN : f == 3 ? fmax(x, y) : fmin(x, y);
}

/* sums and products one by one; halves in f32 */
static double folded(enum dtype dt, bool product, const double *x, int n)
{
    enum dtype acc = dt == DT_F64 ? DT_F64 : DT_F32;
    double a = product;

    for (int k = 0; k < n; k++)
        a = grid_round(acc, product ? a * x[k] : a + x[k]);
    return grid_round(dt, a);
}

static void primitives_raise_no_alarm(void **state)
{
    static const char *const unary[] = { "exp", "exp2", "log", "tanh", "erf", "sqrt" };
    static const char *const two[] = { "add", "mul", "div", "maximum", "minimum" };
    static const enum dtype dtypes[] = { DT_F32, DT_F64, DT_F16, DT_BF16 };
    unsigned seed = 77;
    int64_t judged = 0, all = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        enum dtype dt = dtypes[round % 4];
        const char *name = dtype_info(dt)->name;
        double x[N], y[N], out[3 * N + 4], mid[N];
        int f = round / 4 % 6, g = round / 24 % 5, h = round / 120 % 5;
        struct trial *t = trial_of(
            "input x %s [%d]\ninput y %s [%d]\na = %s x\nb = %s a y\nc = %s b x\n"
            "s = sum x axes=[0] keep=1\np = prod x axes=[0] keep=1\nr = sum b axes=[0] keep=1\n"
            "q = prod a axes=[0] keep=1\na1 = concat a b axis=0\na2 = concat a1 c axis=0\n"
            "a3 = concat a2 s axis=0\na4 = concat a3 p axis=0\na5 = concat a4 r axis=0\n"
            "a6 = concat a5 q axis=0\noutput a6\n%s%s",
            name, N, name, N, unary[f], two[g], two[h], odd_numbers("x", N, &seed, x, dt),
            odd_numbers("y", N, &seed, y, dt));
        struct verdict d;

        for (int k = 0; k < N; k++) {
            out[k] = function(dt, f, x[k]);
            mid[k] = out[N + k] = binary(dt, g, out[k], y[k]);
            out[2 * N + k] = binary(dt, h, mid[k], x[k]);
        }
        out[3 * N] = folded(dt, false, x, N);
        out[3 * N + 1] = folded(dt, true, x, N);
        out[3 * N + 2] = folded(dt, false, mid, N);
        out[3 * N + 3] = folded(dt, true, out, N);
        d = verdict_on_numbers(ieee(t), out);
        if (d.kind != VK_PASS)
            fail_msg("round %d, %s %s %s of %s, element %d: got %g, want %g within %g", round,
                     unary[f], two[g], two[h], name, (int)d.at[0], d.got, d.want, d.bound);
        judged += d.n_judged;
        all += d.n_judged + d.n_unsure;
    }
    print_message("%d%% of special elements judged\n", (int)(judged * 100 / all));
    assert_true(judged > all / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composites_raise_no_alarm),
        cmocka_unit_test(primitives_raise_no_alarm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
