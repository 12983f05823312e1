/*
 * What a bound is not for: special values, exact integers, jumps.
 */
#include "judging.h"

#include <math.h>

static struct val value_of(const struct want *w, const char *name, int k)
{
    return wanted(w, name)->ieee[k];
}

static void assert_unjudged(const struct want *w, const char *name, int k)
{
    assert_true(value_of(w, name, k).e < 0);
}

static void assert_certain(const struct want *w, const char *name, int k, double v)
{
    struct val x = value_of(w, name, k);

    assert_true(x.e == 0);
    assert_true(isnan(v) ? isnan(x.v) : x.v == v);
}

static void small_integers_are_exact(void **state)
{
    const struct want *w = ieee(trial_of(
        "input a f32 [9,300]\ninput b f32 [300,5]\ni = iota i32 [9,5] axis=1\nc = matmul a b\n"
        "f = cast i f32\nd = mul c f\ns = sum d axes=[0]\nm = max d axes=[1]\n"
        "z = sub s s\nl = lt d 3\nt = cast d i32\n"
        "output s\noutput m\noutput z\noutput l\noutput t\ndata seed=3 recipe=ints\n"));

    (void)state;
    for (int k = 0; k < 5; k++) {
        assert_true(value_of(w, "s", k).e == 0 && (value_of(w, "s", k).v != 0) == (k > 0));
        assert_certain(w, "z", k, 0);
    }
    assert_null(wanted(w, "l")->unsure);
    assert_null(wanted(w, "t")->unsure);
}

static void gather_through_one_hot(void **state)
{
    static const float right[] = { 3, 2, -HUGE_VALF, 2, 3 }, masked[] = { 3, 2, NAN, 2, 3 };
    const struct want *w = ieee(trial_of(
        "input x f32 [3]\ninput idx i32 [5]\nxe = expand x [5,3]\nir = reshape idx [5,1]\n"
        "ie = expand ir [5,3]\nj = iota i32 [5,3] axis=1\nc = eq ie j\nw = where c xe 0\n"
        "s = sum w axes=[1]\noutput s\nvalues x [-inf,2,3]\nvalues idx [2,1,0,1,2]\n"));

    (void)state;
    assert_int_equal(verdict_on_one(w, right).kind, VK_PASS);
    assert_int_equal(verdict_on_one(w, right).n_judged, 5);
    assert_int_equal(verdict_on_one(w, masked).kind, VK_MISMATCH);
    assert_int_equal(verdict_on_one(w, masked).at[0], 2);
}

static void special_values_follow_ieee(void **state)
{
    const struct want *w = ieee(trial_of(
        "input x f32 [6]\nr = recip x\ne = exp x\ns = sub x x\nq = sqrt x\nz = mul x 0\n"
        "m = maximum x 2\nl = lt x 2\nt = cast x i32\nb = cast x bool\nd = div 3 x\n"
        "top = max x axes=[0]\np = slice x [0:3:1]\nps = sum p axes=[0]\n"
        "both = slice x [0:2:1]\nboth2 = sum both axes=[0]\n"
        "output r\noutput e\noutput s\noutput q\noutput z\noutput m\noutput l\noutput t\n"
        "output b\noutput d\noutput top\noutput ps\noutput both2\n"
        "values x [inf,-inf,0,-4,nan,9]\n"));
    static const double r[] = { 0, -0.0, HUGE_VAL }, e[] = { HUGE_VAL, 0 };
    static const double m[] = { HUGE_VAL, 2, 2, 2, (double)NAN, 9 };
    static const uint32_t l[] = { 0, 1, 1, 1, 0, 0 }, b[] = { 1, 1, 0, 1, 1, 1 };
    static const uint32_t i32[] = { 0x7fffffff, 0x80000000u, 0, -4u, 0, 9 };

    (void)state;
    for (int k = 0; k < 3; k++)
        assert_certain(w, "r", k, r[k]);
    for (int k = 0; k < 2; k++) {
        assert_certain(w, "e", k, e[k]);
        assert_certain(w, "s", k, (double)NAN);
        assert_certain(w, "z", k, (double)NAN);
    }
    for (int k = 0; k < 6; k++)
        assert_certain(w, "m", k, m[k]);
    assert_certain(w, "q", 0, HUGE_VAL);
    assert_certain(w, "q", 1, (double)NAN);
    assert_certain(w, "q", 3, (double)NAN);
    assert_certain(w, "d", 2, HUGE_VAL);
    assert_certain(w, "top", 0, (double)NAN);
    assert_certain(w, "both2", 0, (double)NAN);
    assert_certain(w, "ps", 0, (double)NAN);
    assert_memory_equal(wanted(w, "l")->word, l, sizeof l);
    assert_memory_equal(wanted(w, "b")->word, b, sizeof b);
    assert_memory_equal(wanted(w, "t")->word, i32, sizeof i32);
}

static void empty_reductions_have_identities(void **state)
{
    const struct want *w = ieee(trial_of(
        "input x f32 [2,0]\ninput y f32 [0,3]\ns = sum x axes=[1]\nm = mean x axes=[1]\n"
        "a = max x axes=[1]\ni = min x axes=[1]\nc = matmul x y\nz = copy x\n"
        "output s\noutput m\noutput a\noutput i\noutput c\noutput z\n"));

    (void)state;
    assert_certain(w, "s", 1, 0);
    assert_certain(w, "m", 1, (double)NAN);
    assert_certain(w, "a", 1, -HUGE_VAL);
    assert_certain(w, "i", 1, HUGE_VAL);
    assert_certain(w, "c", 5, 0);
    assert_int_equal(wanted(w, "z")->n, 0);
}

/* A masked logit gives exactly 0; a row without any other gives NaN. */
static void masked_softmax_rows(void **state)
{
    const struct want *w = ieee(trial_of(
        "input x f32 [2,4]\ninput k bool [2,4]\nt = where k x -inf\nm = max t axes=[1] keep=1\n"
        "mb = expand m [2,4]\nd = sub t mb\ne = exp d\nz = sum e axes=[1] keep=1\n"
        "zb = expand z [2,4]\np = div e zb\noutput p\nvalues k [1,0,1,0,0,0,0,0]\n"));

    (void)state;
    assert_certain(w, "p", 1, 0);
    assert_certain(w, "p", 3, 0);
    assert_true(value_of(w, "p", 0).v > 0 && value_of(w, "p", 0).e < 1e-5);
    for (int k = 4; k < 8; k++)
        assert_certain(w, "p", k, (double)NAN);
}

static void what_may_overflow_is_not_judged(void **state)
{
    const struct want *w = ieee(trial_of(
        "input x f32 [4]\nm = mul x x\ns = sum x axes=[0]\ne = exp x\nr = sub m m\n"
        "h = slice x [2:4:1]\nhs = sum h axes=[0]\nc = lt m 5\nn = not c\nw = where n 1 x\n"
        "output s\noutput e\noutput r\noutput hs\noutput w\noutput n\n"
        "values x [3e38,3e38,-3e38,2]\n"));

    (void)state;
    assert_unjudged(w, "m", 0);
    assert_unjudged(w, "r", 0);
    assert_unjudged(w, "s", 0);
    assert_unjudged(w, "e", 0);
    assert_certain(w, "m", 3, 4);
    assert_true(value_of(w, "hs", 0).e > 0);
    assert_int_equal(wanted(w, "n")->unsure[0], 1);
    assert_int_equal(wanted(w, "n")->unsure[3], 0);
    assert_unjudged(w, "w", 0);
    assert_certain(w, "w", 3, 2);
}

/* x/3*3 may be x or its neighbours: what hangs on which is unsure. */
static void jumps_are_unsure(void **state)
{
    const struct want *w = ieee(trial_of(
        "input x f32 [4]\nt = div x 3\ny = mul t 3\nl = lt y x\nn0 = le y x\nq = eq y x\n"
        "i = cast y i32\nd = sub y x\nb = cast d bool\nw = where l 100 x\nrelu = where l x y\n"
        "f = cast i f32\nn = sum i axes=[0]\nr = recip d\ng = max f axes=[0]\n"
        "far = lt y 100\nh = mul y 0.3\nhi = cast h i32\n"
        "output w\noutput n0\noutput q\noutput b\noutput relu\noutput n\noutput r\noutput g\n"
        "output far\noutput hi\nvalues x [1,2,4,5]\n"));

    (void)state;
    for (int k = 0; k < 4; k++) {
        assert_int_equal(wanted(w, "l")->unsure[k], 1);
        assert_int_equal(wanted(w, "n0")->unsure[k], 1);
        assert_int_equal(wanted(w, "q")->unsure[k], 1);
        assert_int_equal(wanted(w, "b")->unsure[k], 1);
        assert_unjudged(w, "w", k);
        assert_unjudged(w, "f", k);
        assert_unjudged(w, "r", k);
        /* both branches agree within their bounds */
        assert_true(value_of(w, "relu", k).e > 0 && value_of(w, "relu", k).e < 1e-5);
    }
    assert_int_equal(wanted(w, "n")->unsure[0], 1);
    assert_unjudged(w, "g", 0);
    assert_null(wanted(w, "far")->unsure);
    assert_null(wanted(w, "hi")->unsure);
    assert_int_equal(wanted(w, "hi")->word[3], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_integers_are_exact),
        cmocka_unit_test(gather_through_one_hot),
        cmocka_unit_test(special_values_follow_ieee),
        cmocka_unit_test(empty_reductions_have_identities),
        cmocka_unit_test(masked_softmax_rows),
        cmocka_unit_test(what_may_overflow_is_not_judged),
        cmocka_unit_test(jumps_are_unsure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
