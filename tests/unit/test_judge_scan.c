/*
 * The judge on what was added for other people's libraries: roll and repeat by definition,
 * alpha and beta of a matmul (what is times 0 is not looked at), cumsum, logsoftmax. Right
 * answers in any order are right, wrong ones are not.
 */
#include <math.h>

#include "judging.h"

static void views_go_round(void **state)
{
    const struct trial *t = trial_of("input x i32 [2,3]\na = roll x shift=[1,-1]\n"
                                     "b = roll x shift=[-4,5]\nc = repeat x times=[2,2]\n"
                                     "output a\noutput b\noutput c\n"
                                     "values x [0,1,2,10,11,12]\n");
    static const uint32_t a[] = { 11, 12, 10, 1, 2, 0 }, b[] = { 1, 2, 0, 11, 12, 10 };
    static const uint32_t c[] = { 0, 1, 2, 0, 1, 2, 10, 11, 12, 10, 11, 12,
                                  0, 1, 2, 0, 1, 2, 10, 11, 12, 10, 11, 12 };

    (void)state;
    for (int al = 0; al < 2; al++) {
        const struct want *w = al ? ring(t) : ieee(t);

        assert_memory_equal(wanted(w, "a")->word, a, sizeof a);
        assert_memory_equal(wanted(w, "b")->word, b, sizeof b);
        assert_memory_equal(wanted(w, "c")->word, c, sizeof c);
    }
}

#define PRODUCT                                                                                \
    "input a f32 [1,2]\ninput b f32 [2,2]\ninput c f32 [1,2]\nm = matmul a b%s\noutput m\n"    \
    "values a [%s]\nvalues b [1,2,3,4]\nvalues c [%s]\n"

static struct val product(const char *how, const char *a, const char *c, int at)
{
    return wanted(ieee(trial_of(PRODUCT, how, a, c)), "m")->ieee[at];
}

static void scales_and_what_they_hide(void **state)
{
    struct val v;

    (void)state;
    v = product(" c alpha=2 beta=-3", "1,1", "10,20", 0); /* 2 * 4 - 30 */
    assert_true(v.v == -22 && v.e == 0);
    v = product(" c alpha=2 beta=0", "1,1", "nan,nan", 1);
    assert_true(v.v == 12 && v.e == 0);
    v = product(" c alpha=0 beta=2", "nan,inf", "10,20", 1);
    assert_true(v.v == 40 && v.e == 0);
    v = product(" c alpha=0 beta=0", "nan,inf", "nan,nan", 0);
    assert_true(v.v == 0 && v.e == 0);
    v = product(" alpha=-1", "inf,1", "0,0", 0);
    assert_true(v.v == -HUGE_VAL && v.e == 0);
    v = product(" c alpha=-1", "inf,1", "inf,0", 0);
    assert_true(isnan(v.v) && v.e == 0);
    v = product(" c beta=0.1", "1,1", "10,20", 0);
    assert_true(fabs(v.v - 5) < 1e-6 && v.e > 0 && v.e < 1e-5);
    v = product(" c beta=2", "1,1", "3e38,0", 0); /* overflows, or may */
    assert_true(v.e < 0);
}

static void scales_of_words(void **state)
{
    const struct trial *t = trial_of("input a i32 [1,2]\ninput b i32 [2,1]\ninput c i32 [1,1]\n"
                                     "m = matmul a b c alpha=65536 beta=-1\noutput m\n"
                                     "values a [3,70000]\nvalues b [5,1]\nvalues c [7]\n");

    (void)state;
    assert_int_equal(wanted(ieee(t), "m")->word[0], 65536u * 70015u - 7u);
    assert_int_equal(wanted(ring(t), "m")->word[0], 65536u * 70015u - 7u);
}

/* Any order of alpha, beta and the terms; and an answer that forgot one of them. */
static void scaled_products_in_any_order(void **state)
{
    struct trial *t = trial_of("input a f32 [1,64]\ninput b f32 [64,1]\ninput c f32 [1,1]\n"
                               "m = matmul a b c alpha=0.3 beta=1.7\noutput m\n"
                               "data seed=5 recipe=normal\n");
    const float *a = floats_of(t, "a"), *b = floats_of(t, "b"), *c = floats_of(t, "c");
    float late = 0, early = 1.7f * c[0], got;

    (void)state;
    for (int k = 0; k < 64; k++) {
        late += a[k] * b[k];
        early = fmaf(0.3f * a[63 - k], b[63 - k], early);
    }
    got = 0.3f * late + 1.7f * c[0];
    assert_int_equal(verdict_on_one(ieee(t), &got).kind, VK_PASS);
    assert_int_equal(verdict_on_one(ieee(t), &early).kind, VK_PASS);
    got = 0.3f * late;
    assert_int_not_equal(verdict_on_one(ieee(t), &got).kind, VK_PASS);
    got = late + 1.7f * c[0];
    assert_int_not_equal(verdict_on_one(ieee(t), &got).kind, VK_PASS);
}

static void prefixes(void **state)
{
    struct trial *t = trial_of("input x f32 [3,50]\ny = cumsum x axis=1\noutput y\n"
                               "data seed=9 recipe=normal\n");
    const float *x = floats_of(t, "x");
    double y[150];
    float s = 0;

    (void)state;
    for (int k = 0; k < 150; k++)
        y[k] = s = (k % 50 ? s : 0) + x[k];
    assert_int_equal(verdict_on_numbers(ieee(t), y).kind, VK_PASS);
    y[77] -= (double)x[77]; /* exclusive */
    assert_int_not_equal(verdict_on_numbers(ieee(t), y).kind, VK_PASS);
}

/* What is no number spoils what comes behind it, and nothing before. */
static void prefixes_with_specials(void **state)
{
    const struct want_node *w =
        wanted(ieee(trial_of("input x f32 [5]\ny = cumsum x axis=0\noutput y\n"
                             "values x [1,2,inf,4,-inf]\n")),
               "y");

    (void)state;
    assert_true(w->ieee[0].v == 1 && w->ieee[1].v == 3 && w->ieee[1].e == 0);
    assert_true(w->ieee[2].v == HUGE_VAL && w->ieee[3].v == HUGE_VAL && w->ieee[3].e == 0);
    assert_true(isnan(w->ieee[4].v) && w->ieee[4].e == 0);
}

static void prefixes_of_words(void **state)
{
    const struct want *w = ring(trial_of("input x f16 [4,3]\ny = cumsum x axis=0\noutput y\n"));
    const uint32_t *x = wanted(w, "x")->word, *y = wanted(w, "y")->word;

    (void)state;
    for (int k = 0; k < 12; k++)
        assert_int_equal(y[k], (x[k] + (k < 3 ? 0 : y[k - 3])) & 0xffff);
}

/* Along lines far from 0 too, and of all dtypes. */
static void logsoftmax_is_in_bounds(void **state)
{
    static const char *const dtypes[] = { "f32", "f64", "f16", "bf16" };

    (void)state;
    for (int d = 0; d < 4; d++) {
        struct trial *t = trial_of("input x %s [20,37]\ny = logsoftmax x axis=1\noutput y\n"
                                   "data seed=3 recipe=magnitude\n",
                                   dtypes[d]);
        const double *x = numbers_of(t, "x");
        double y[20 * 37];

        for (int r = 0; r < 20; r++) {
            double top = -HUGE_VAL, sum = 0;

            for (int k = 0; k < 37; k++)
                top = fmax(top, x[37 * r + k]);
            for (int k = 0; k < 37; k++)
                sum += d == 1 ? exp(x[37 * r + k] - top)
                              : (double)expf((float)(x[37 * r + k] - top));
            for (int k = 0; k < 37; k++) {
                y[37 * r + k] = x[37 * r + k] - top - log(sum);
                if (d != 1) /* computed in f32, rounded once more */
                    y[37 * r + k] = (float)x[37 * r + k] - (float)top - logf((float)sum);
            }
        }
        assert_int_equal(verdict_on_numbers(ieee(t), y).kind, VK_PASS);
        for (int k = 37; k < 74; k++)
            y[k] += 0.25; /* the sum of another row */
        assert_int_not_equal(verdict_on_numbers(ieee(t), y).kind, VK_PASS);
    }
}

static void logsoftmax_with_specials(void **state)
{
    const struct want_node *w =
        wanted(ieee(trial_of("input x f32 [4,2]\ny = logsoftmax x axis=1\noutput y\n"
                             "values x [-inf,3,-inf,-inf,inf,0,nan,1]\n")),
               "y");

    (void)state;
    assert_true(w->ieee[0].v == -HUGE_VAL && w->ieee[0].e == 0);
    assert_true(fabs(w->ieee[1].v) <= w->ieee[1].e && w->ieee[1].e < 1e-5);
    for (int k = 2; k < 8; k++)
        assert_true(isnan(w->ieee[k].v) && w->ieee[k].e == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_go_round),
        cmocka_unit_test(scales_and_what_they_hide),
        cmocka_unit_test(scales_of_words),
        cmocka_unit_test(scaled_products_in_any_order),
        cmocka_unit_test(prefixes),
        cmocka_unit_test(prefixes_with_specials),
        cmocka_unit_test(prefixes_of_words),
        cmocka_unit_test(logsoftmax_is_in_bounds),
        cmocka_unit_test(logsoftmax_with_specials),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
