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
        cmocka_unit_test(flushing_widens_by_the_least_normal),
        cmocka_unit_test(a_schedule_means_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
