/*
 * The contract of a compiler that is not ours: what is not promised is not judged, nor is what
 * is computed from it; all else is judged as ever.
 */
#include "judging.h"

#include <math.h>

#include "ir/contract.h"

static const struct want *by(const struct trial *t, unsigned contract)
{
    return judge_want_by(t, contract, &arena);
}

/* Elements of a node that are not judged. */
static int open_of(const struct want *w, const char *name)
{
    const struct want_node *x = wanted(w, name);
    int n = 0;

    for (int64_t k = 0; k < x->n; k++)
        n += x->word ? x->unsure && x->unsure[k] : judge_value(x, k).e < 0;
    return n;
}

static void nan_in_a_maximum(void **state)
{
    const struct trial *t =
        trial_of("input x f32 [4]\ninput z f32 [4]\nm = maximum x z\nr = max x axes=[0]\n"
                 "a = argmax x axis=0\nd = add m 1\ns = add x z\noutput m\noutput r\noutput a\n"
                 "output d\noutput s\nvalues x [1,nan,3,4]\nvalues z [0,0,0,0]\n");
    const struct want *w = by(t, CONTRACT_OPEN_NAN_MAX), *strict = by(t, 0);

    (void)state;
    assert_int_equal(open_of(strict, "m") + open_of(strict, "r") + open_of(strict, "a"), 0);
    assert_int_equal(strict->opened, 0);
    assert_int_equal(open_of(w, "m"), 1);
    assert_int_equal(open_of(w, "d"), 1);
    assert_int_equal(open_of(w, "r"), 1);
    assert_int_equal(open_of(w, "a"), 1);
    assert_int_equal(open_of(w, "s"), 0); /* a sum of NaN is promised */
    assert_int_equal(w->opened, 3);
    w = by(t, CONTRACT_OPEN_SPECIAL);
    assert_int_equal(open_of(w, "s"), 1);
    assert_int_equal(open_of(w, "x"), 1);
}

static void out_of_the_domain(void **state)
{
    const struct want *w =
        by(trial_of("input i i32 [4]\ninput j i32 [4]\ninput x f32 [4]\nd = div i j\n"
                    "c = cast x i32\ng = gather x j axis=0\noutput d\noutput c\noutput g\n"
                    "values i [7,-2147483648,5,6]\nvalues j [0,-1,2,3]\n"
                    "values x [1.5,nan,3e9,-2147483648]\n"),
           CONTRACT_OPEN_DOMAIN);

    (void)state;
    assert_int_equal(open_of(w, "d"), 2);
    assert_int_equal(open_of(w, "c"), 3);
    assert_int_equal(open_of(w, "g"), 1);
    assert_int_equal(w->opened, 6);
}

static void of_nothing_and_ties(void **state)
{
    const struct trial *t = trial_of(
        "input e f32 [3,0]\ninput x f32 [2,3]\nm = max e axes=[1]\nn = mean e axes=[1]\n"
        "s = sum e axes=[1]\na = argmax x axis=1\noutput m\noutput n\noutput s\n"
        "output a\nvalues x [1,2,2,3,2,1]\n");
    const struct want *w = by(t, CONTRACT_OPEN_EMPTY | CONTRACT_OPEN_TIES);

    (void)state;
    assert_int_equal(open_of(w, "m"), 3);
    assert_int_equal(open_of(w, "n"), 3);
    assert_int_equal(open_of(w, "s"), 0);
    assert_int_equal(open_of(w, "a"), 1);
}

static void accuracy(void **state)
{
    const struct trial *t =
        trial_of("input x f16 [2,8]\ninput y f32 [4]\ns = sum x axes=[1]\nn = neg x\n"
                 "e = exp y\nt = mul y y\noutput s\noutput n\noutput e\noutput t\n");
    const struct want *w = by(t, CONTRACT_OPEN_HALF_SUMS);

    (void)state;
    assert_int_equal(open_of(w, "s"), 2);
    assert_int_equal(open_of(w, "n"), 0);
    w = by(t, CONTRACT_OPEN_FUNCTIONS);
    assert_int_equal(open_of(w, "e"), 4);
    assert_int_equal(open_of(w, "t"), 0);
    assert_int_equal(w->opened, 0); /* exact data that give exact numbers stay */
}

/* Are results right that are `off`, relative to the true ones? All judged. */
static enum verdict_kind off_by(const struct want *w, const char *name, double off)
{
    const struct want_node *x = wanted(w, name);
    float got[16];

    assert_true(x->n <= 16);
    for (int64_t k = 0; k < x->n; k++) {
        assert_true(judge_value(x, k).e >= 0);
        got[k] = (float)(judge_value(x, k).v * (1 + off));
    }
    return verdict_on_one(w, got).kind;
}

/* Short polynomials are right; a row of the operand that is taken for another is not. */
static void functions_may_be_approximate(void **state)
{
    static const char *const function[] = {
        "exp x",
        "exp2 x",
        "log x",
        "tanh x",
        "erf x",
        "softmax x axis=2",
        "logsoftmax x axis=2",
        "attention x x x scale=0.1",
    };
    static const float zero[16];

    (void)state;
    for (size_t f = 0; f < sizeof function / sizeof *function; f++) {
        const struct trial *t = trial_of("input x f32 [1,3,4]\ny = %s\noutput y\n"
                                         "values x [0.5,1.5,2,0.75,3,0.5,4,1,0.7,2,2.5,5]\n",
                                         function[f]);
        const struct want *w = by(t, CONTRACT_MAY_APPROXIMATE), *strict = by(t, 0);
        /* weights sum to 1: what all are off by cancels, and x - max is no function */
        double off = f < 6 ? 0x1p-16 : 0x1p-18;

        assert_int_equal(off_by(w, "y", 0), VK_PASS);
        assert_int_equal(off_by(w, "y", off), VK_PASS);
        assert_int_equal(off_by(strict, "y", off), VK_MISMATCH);
        assert_int_equal(off_by(w, "y", 0x1p-10), VK_MISMATCH);
        assert_int_equal(verdict_on_one(w, zero).kind, VK_MISMATCH);
    }
}

/* An approximation that is too large is no number; below the least normal one some give up, but
 * what rounds to 0 is 0. */
static void approximations_at_the_ends(void **state)
{
    float got[] = { 0, 0x1p-126f, INFINITY, INFINITY, 1, 0, 1 };
    const struct trial *t = trial_of("input x f32 [7]\ny = exp x\noutput y\n"
                                     "values x [-200,-90,88.72283,100,0,-inf,-1e-9]\n");
    const struct want *w = by(t, CONTRACT_MAY_APPROXIMATE);

    (void)state;
    assert_int_equal(open_of(w, "y"), 2); /* next to the largest float, and beyond */
    assert_int_equal(verdict_on_one(w, got).kind, VK_PASS);
    assert_int_equal(verdict_on_one(by(t, 0), got).kind, VK_MISMATCH);
    got[0] = 0x1p-126f;
    assert_int_equal(verdict_on_one(w, got).kind, VK_MISMATCH);
    got[0] = 0;
    got[4] = 1.00001f; /* of 0 it is 1, whatever the polynomial */
    assert_int_equal(verdict_on_one(w, got).kind, VK_MISMATCH);
    got[4] = 1;
    got[5] = 777; /* of an infinity it is judged */
    assert_int_equal(verdict_on_one(w, got).kind, VK_MISMATCH);
}

/* As much as is lost where a half computes it: some units, of exp some |x|. */
static void approximations_of_halves(void **state)
{
    const double one = 0x1p-11, none[4] = { 0 };
    const struct trial *l = trial_of("input x f16 [4]\ny = log x\noutput y\n"
                                     "values x [60000,1000,400,600]\n");
    const struct trial *e =
        trial_of("input x f16 [2]\ny = exp x\noutput y\nvalues x [10,-8]\n");
    const struct want *wl = by(l, CONTRACT_MAY_APPROXIMATE),
                      *we = by(e, CONTRACT_MAY_APPROXIMATE);
    double near[4], far[2] = { exp(10) * (1 + 16 * one), exp(-8) }, scaled[2];

    (void)state;
    for (int k = 0; k < 4; k++)
        near[k] = judge_value(wanted(wl, "y"), k).v * (1 + 4 * one);
    assert_int_equal(verdict_on_numbers(wl, near).kind, VK_PASS);
    assert_int_equal(verdict_on_numbers(wl, none).kind, VK_MISMATCH);
    for (int k = 0; k < 2; k++)
        scaled[k] = judge_value(wanted(we, "y"), k).v * (1 + 20 * one);
    assert_int_equal(verdict_on_numbers(we, scaled).kind, VK_PASS);
    assert_int_equal(verdict_on_numbers(by(e, 0), far).kind, VK_MISMATCH);
    far[1] *= 1 + 64 * one;
    assert_int_equal(verdict_on_numbers(we, far).kind, VK_MISMATCH);
}

static void flushing_widens_by_the_least_normal(void **state)
{
    const float kept[] = { 3e-39f, 2 }, flushed[] = { 0, 2 }, wrong[] = { 1e-30f, 2 };
    const struct trial *t = trial_of("input x f32 [2]\ny = mul x 0.5\noutput y\n"
                                     "values x [6e-39,4]\n");
    const struct want *w = by(t, CONTRACT_MAY_FLUSH), *strict = by(t, 0);

    (void)state;
    assert_int_equal(verdict_on_one(strict, kept).kind, VK_PASS);
    assert_int_equal(verdict_on_one(w, kept).kind, VK_PASS);
    assert_int_equal(verdict_on_one(w, flushed).kind, VK_PASS);
    assert_int_equal(verdict_on_one(w, flushed).n_judged, 2);
    assert_int_equal(verdict_on_one(w, wrong).kind, VK_MISMATCH);
}

/* (x + y) * z / w in halves, each of the first two rounded or not. */
static float in_halves(enum dtype dt, const float *in, int choice)
{
    float v = in[0] + in[1];

    v = choice & 1 ? (float)grid_round(dt, (double)v) : v;
    v *= in[2];
    v = choice & 2 ? (float)grid_round(dt, (double)v) : v;
    return (float)grid_round(dt, (double)(v / in[3]));
}

static void halves_in_excess(void **state)
{
    static const char text[] =
        "input x %s []\ninput y %s []\ninput z %s []\ninput w %s []\n"
        "a = add x y\nm = mul a z\nd = div m w\noutput d\n"
        "values x [%.17g]\nvalues y [%.17g]\nvalues z [%.17g]\nvalues w [%.17g]\n";
    int differ = 0;

    (void)state;
    for (int n = 0; n < 2000; n++) {
        enum dtype dt = n & 1 ? DT_F16 : DT_BF16;
        const char *name = dtype_info(dt)->name;
        double in[4];
        float f[4];

        for (int k = 0; k < 4; k++) {
            in[k] = grid_round(dt, 1 + (n * 37 + k * 991) % 1009 / 1009.0);
            f[k] = (float)in[k];
        }
        const struct trial *t =
            trial_of(text, name, name, name, name, in[0], in[1], in[2], in[3]);
        const struct want *w = by(t, CONTRACT_MAY_EXCESS), *strict = by(t, 0);

        for (int choice = 0; choice < 4; choice++) {
            float got = in_halves(dt, f, choice), far = got * (choice & 1 ? 1.02f : 0.98f);
            unsigned char half[2];

            grid_store(dt, (double)got, half);
            assert_int_equal(verdict_on_one(w, half).kind, VK_PASS);
            assert_int_equal(verdict_on_one(w, half).n_judged, 1);
            differ += verdict_on_one(strict, half).kind == VK_MISMATCH;
            if (choice == 3)
                assert_int_equal(verdict_on_one(strict, half).kind, VK_PASS);
            grid_store(dt, grid_round(dt, (double)far), half);
            assert_int_equal(verdict_on_one(w, half).kind, VK_MISMATCH);
        }
    }
    assert_true(differ > 1000);
}

static void what_excess_leaves_alone(void **state)
{
    const struct trial *t = trial_of(
        "input x f16 [3]\ninput y f32 [3]\na = add x 0.1\nb = add x 1\nc = cast y f16\n"
        "d = cast c f32\ne = cast a f32\nf = mul b 2\ng = mul x 2\nh = sub g g\noutput d\n"
        "output e\noutput f\noutput a\noutput h\n"
        "values x [1,2,40000]\nvalues y [0.1,1.5,1000.3]\n");
    const struct want *w = by(t, CONTRACT_MAY_EXCESS), *also = by(t, CONTRACT_MAY_UNCAST);
    const struct val *e = wanted(w, "e")->ieee, *f = wanted(w, "f")->ieee;
    const struct val *d = wanted(w, "d")->ieee;

    (void)state;
    assert_true(e[0].e > 0 && e[1].e > 0);                  /* x + 0.1 is rounded */
    assert_true(f[0].e == 0 && f[1].e == 0 && f[0].v == 4); /* 2 and 3 are halves */
    assert_int_equal(open_of(w, "h"), 1); /* 80000 is infinite if it is rounded */
    for (int k = 0; k < 3; k++)
        assert_true(d[k].e == 0); /* a cast rounds */
    assert_true(w->opened > 0);
    d = wanted(also, "d")->ieee;
    assert_true(d[0].e > 0 && d[1].e == 0 && d[2].e > 0);
    assert_true(fabs(d[0].v - (double)0.1f) <= d[0].e && d[0].e < 0x1p-14);
    assert_true(wanted(also, "e")->ieee[0].e == 0);
    t = trial_of("input x f16 [2]\na = add x 2048\nb = neg a\noutput b\nvalues x [1,2]\n");
    assert_int_equal(by(t, CONTRACT_MAY_EXCESS)->opened, 1); /* no exact data: 2049 */
}

static void integers_that_overflow(void **state)
{
    const struct trial *t = trial_of(
        "input x i32 [5,3]\ninput y i32 [3,1]\ns = sum x axes=[1]\np = prod x axes=[1]\n"
        "c = cumsum x axis=1\nm = matmul x y alpha=2\nd = add s 1\ne = add x x\noutput s\n"
        "output p\noutput c\noutput m\noutput d\noutput e\n"
        "values x [2147483647,1,-1, 16777217,16777216,1, 65536,65536,65536, "
        "2147483647,2147483647,0, -2147483648,-1,1]\nvalues y [1,1,1]\n");
    const int32_t sum[] = { INT32_MAX, 33554434, 196608, INT32_MAX, INT32_MIN };
    const struct want *w = by(t, CONTRACT_OPEN_OVERFLOW), *strict = by(t, 0);
    const struct want_node *s = wanted(w, "s"), *p = wanted(w, "p"), *c = wanted(w, "c");

    (void)state;
    assert_int_equal(open_of(strict, "s") + open_of(strict, "p") + open_of(strict, "c"), 0);
    assert_int_equal(s->word[0], sum[0]); /* it comes back */
    assert_int_equal(s->word[1], sum[1]); /* more than a float holds, and judged */
    assert_int_equal(open_of(w, "s"), 1);
    assert_true(s->unsure[3]);
    assert_true(!p->unsure[3] && p->word[3] == 0); /* whatever order, true is 0 */
    assert_int_equal(open_of(w, "p"), 3);
    assert_true(c->unsure[1] && !c->unsure[2] && c->unsure[10]);
    assert_int_equal(open_of(w, "c"), 4);
    assert_int_equal(open_of(w, "m"), 3);
    assert_int_equal(open_of(w, "d"), 1); /* what is computed from it */
    assert_int_equal(open_of(w, "e"), 0);
}

static void a_schedule_means_nothing(void **state)
{
    static const char text[] = "input x f32 [1,64]\ns = softmax x axis=1\noutput s\n";
    const struct trial *plain = trial_of("%s", text);
    const struct trial *online = trial_of("%sschedule\nalgo s online block=4\n", text);
    double e = wanted(by(plain, 0), "s")->ieee[5].e;

    (void)state;
    assert_true(wanted(by(online, 0), "s")->ieee[5].e == e);
    assert_true(wanted(by(plain, CONTRACT_MAY_RESCALE), "s")->ieee[5].e > e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nan_in_a_maximum),
        cmocka_unit_test(out_of_the_domain),
        cmocka_unit_test(of_nothing_and_ties),
        cmocka_unit_test(accuracy),
        cmocka_unit_test(functions_may_be_approximate),
        cmocka_unit_test(approximations_at_the_ends),
        cmocka_unit_test(approximations_of_halves),
        cmocka_unit_test(flushing_widens_by_the_least_normal),
        cmocka_unit_test(halves_in_excess),
        cmocka_unit_test(what_excess_leaves_alone),
        cmocka_unit_test(integers_that_overflow),
        cmocka_unit_test(a_schedule_means_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
