/* Input data are a function of seed, name and coordinates; values lines and layouts. */
#include "judging.h"

#include <math.h>

static void smaller_sizes_keep_the_rest(void **state)
{
    struct trial *big = trial_of("input x f32 [3,200,5]\ny = copy x\noutput y\ndata seed=9 "
                                 "recipe=normal\n");
    struct trial *small = trial_of("input x f32 [2,7,3]\ny = copy x\noutput y\ndata seed=9 "
                                   "recipe=normal\n");
    float *b = floats_of(big, "x"), *s = floats_of(small, "x");

    (void)state;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 7; j++)
            for (int k = 0; k < 3; k++)
                assert_true(s[(i * 7 + j) * 3 + k] == b[(i * 200 + j) * 5 + k]);
}

static void one_element_is_that_of_the_whole(void **state)
{
    (void)state;
    for (int d = 0; d < DT_COUNT; d++)
        for (int r = 0; r < RECIPE_EXACT; r++)
            for (int al = 0; al < AL_COUNT; al++) {
                struct trial *t = trial_of("input x %s [3,150]\ny = copy x\noutput y\n"
                                           "data seed=%d recipe=%s\n",
                                           dtype_info((enum dtype)d)->name, 40 + r,
                                           recipe_name((enum recipe)r));
                int bytes = dtype_info(t->prog.node[0].dt)->bytes;
                unsigned char all[3 * 150 * 8], one[8];

                data_dense(t, 0, (enum algebra)al, all);
                for (int k = 0; k < 3 * 150; k++) {
                    data_element(t, 0, k, (enum algebra)al, one);
                    assert_memory_equal(one, all + k * bytes, bytes);
                }
            }
}

static void recipes_have_their_ranges(void **state)
{
    struct trial *t = trial_of("input x f32 [10000]\ny = copy x\noutput y\n");
    double sum = 0, squares = 0;
    float *f;
    int seen[17] = { 0 };

    (void)state;
    t->recipe = RECIPE_NORMAL;
    f = floats_of(t, "x");
    for (int i = 0; i < 10000; i++) {
        sum += (double)f[i];
        squares += (double)f[i] * (double)f[i];
        assert_true((double)f[i] == data_number(t, 0, i));
    }
    assert_true(fabs(sum / 10000) < 0.05);
    assert_true(squares / 10000 > 1.2 && squares / 10000 < 1.5);
    t->recipe = RECIPE_UNIFORM;
    f = floats_of(t, "x");
    for (int i = 0; i < 10000; i++)
        assert_true(f[i] > 0 && f[i] < 1);
    t->recipe = RECIPE_POSITIVE;
    f = floats_of(t, "x");
    for (int i = 0; i < 10000; i++)
        assert_true(f[i] >= 1 && f[i] < 2);
    t->recipe = RECIPE_INTS;
    f = floats_of(t, "x");
    for (int i = 0; i < 10000; i++)
        seen[(int)f[i] + 8]++;
    for (int i = 0; i < 17; i++)
        assert_true(seen[i] > 400);
}

/* Sizes in bytes, and what a number reads back as, for every float dtype. */
static void float_dtypes_are_stored_in_their_width(void **state)
{
    struct trial *t = trial_of("input h f16 [3]\ninput t bf16 [3]\ninput d f64 [3]\n"
                               "output h\noutput t\noutput d\nvalues h [0.1,-inf,nan]\n"
                               "values t [0.1,-inf,nan]\nvalues d [0.1,-inf,nan]\n");
    uint16_t h[3];
    uint64_t w[3];
    double d[3];

    (void)state;
    data_dense(t, 0, AL_IEEE, h);
    assert_int_equal(h[0], 0x2e66);
    assert_int_equal(h[1], 0xfc00);
    assert_int_equal(h[2], 0x7e00);
    assert_true(data_number(t, 0, 0) == 0x1.998p-4);
    data_dense(t, 1, AL_IEEE, h);
    assert_int_equal(h[0], 0x3dcd);
    assert_int_equal(h[1], 0xff80);
    assert_int_equal(h[2], 0x7fc0);
    assert_true(data_number(t, 1, 0) == 0x1.9ap-4);
    data_dense(t, 2, AL_IEEE, d);
    assert_true(d[0] == 0.1 && isinf(d[1]) && isnan(d[2]) && data_number(t, 2, 0) == 0.1);
    data_dense(t, 0, AL_RING, h);
    assert_int_equal(h[0], (uint16_t)ring_literal(0x1.998p-4));
    assert_int_equal(h[1], 0);
    data_dense(t, 2, AL_RING, w);
    assert_true(w[0] == ring_literal(0.1) && w[1] == 0x80000000u && w[0] >> 32 == 0);
}

/* In ring the words of all float dtypes are the same but for what storing them drops. */
static void ring_words_are_cut_to_storage(void **state)
{
    static const char text[] = "input x %s [40]\noutput x\ndata seed=3\n";
    uint32_t w[40];
    uint16_t h[40];
    uint64_t d[40];

    (void)state;
    data_dense(trial_of(text, "f32"), 0, AL_RING, w);
    data_dense(trial_of(text, "bf16"), 0, AL_RING, h);
    data_dense(trial_of(text, "f64"), 0, AL_RING, d);
    for (int i = 0; i < 40; i++)
        assert_true(h[i] == (w[i] & 0xffff) && d[i] == w[i]);
}

/* Wide draws fill the significand, so that an accumulator in f32 shows. */
static void f64_is_drawn_wide(void **state)
{
    static const char *const recipe[] = { "normal", "uniform", "positive" };
    double d[100];

    (void)state;
    for (int r = 0; r < 3; r++) {
        int wide = 0;

        data_dense(trial_of("input x f64 [100]\noutput x\ndata recipe=%s\n", recipe[r]), 0,
                   AL_IEEE, d);
        for (int i = 0; i < 100; i++)
            wide += (double)(float)d[i] != d[i];
        assert_true(wide > 95);
    }
}

/* What the inputs of 200 seeds hold between them. */
static void special_has_every_kind(void **state)
{
    static const enum dtype dt[] = { DT_F32, DT_F64, DT_F16, DT_BF16 };
    static const double least[] = { 0x1p-126, 0x1p-1022, 0x1p-14, 0x1p-126 };
    static const double most[] = { 0x1p127, 0x1p1023, 0x1p15, 0x1p127 };

    (void)state;
    for (int d = 0; d < 4; d++) {
        int nan = 0, inf = 0, minus = 0, zero = 0, tiny = 0, huge = 0, plain = 0;

        for (int seed = 0; seed < 200; seed++) {
            struct trial *t = trial_of("input x %s [50]\noutput x\n"
                                       "data seed=%d recipe=special\n",
                                       dtype_info(dt[d])->name, seed);

            for (int i = 0; i < 50; i++) {
                double v = data_number(t, 0, i);

                nan += isnan(v);
                inf += isinf(v) && v > 0;
                minus += isinf(v) && v < 0;
                zero += v == 0 && signbit(v);
                tiny += v != 0 && fabs(v) < least[d];
                huge += fabs(v) >= most[d] && !isinf(v);
                plain += fabs(v) > 0.001 && fabs(v) < 5;
            }
        }
        assert_true(nan > 50 && inf > 50 && minus > 50 && zero > 50 && tiny > 50 && huge > 20);
        assert_true(plain > 5000);
    }
}

/* One magnitude along each line of the last axis. */
static void magnitude_differs_by_line(void **state)
{
    struct trial *t = trial_of("input x f32 [60,5]\noutput x\ndata recipe=magnitude\n");
    float *f = floats_of(t, "x");
    int seen[3] = { 0 };

    (void)state;
    for (int i = 0; i < 60; i++) {
        int at = f[5 * i] < -500 ? 0 : f[5 * i] > 500 ? 2 : 1;

        seen[at]++;
        for (int k = 0; k < 5; k++)
            assert_true(fabs((double)f[5 * i + k] - 1000 * (at - 1)) < 5);
    }
    assert_true(seen[0] > 5 && seen[1] > 15 && seen[2] > 5);
}

static void names_seeds_and_coordinates_matter(void **state)
{
    struct trial *t = trial_of("input x f32 [64,64]\ninput y f32 [64,64]\nz = add x y\n"
                               "output z\n");
    static uint32_t x[64 * 64], y[64 * 64], again[64 * 64];
    int same = 0;

    (void)state;
    data_dense(t, 0, AL_RING, x);
    data_dense(t, 1, AL_RING, y);
    t->seed++;
    data_dense(t, 0, AL_RING, again);
    for (int i = 0; i < 64 * 64; i++)
        same += (x[i] == y[i]) + (x[i] == again[i]);
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < i; j++)
            same += x[i * 64 + j] == x[j * 64 + i];
    assert_int_equal(same, 0);
}

static void layouts_leave_poison_in_their_gaps(void **state)
{
    struct trial *t =
        trial_of("input x f32 [2,3] strides=[1,4] offset=2\ny = copy x\noutput y\n");
    float *dense = floats_of(t, "x");
    unsigned char storage[12 * 4], poison[12];
    float got;

    (void)state;
    assert_int_equal(layout_storage(&t->prog.node[0].layout, &t->prog.node[0].sh), 12);
    data_fill(t, 0, AL_IEEE, storage);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) {
            memcpy(&got, storage + (2 + i + 4 * j) * 4, 4);
            assert_true(got == dense[i * 3 + j]);
        }
    memset(poison, POISON_BYTE, sizeof poison);
    assert_memory_equal(storage, poison, 8);
    assert_memory_equal(storage + 4 * 4, poison, 8);
    assert_memory_equal(storage + 8 * 4, poison, 8);
}

static void values_override_the_recipe(void **state)
{
    struct trial *t =
        trial_of("input x f32 [4]\ninput i i32 [2]\ninput b bool [2]\ny = copy x\n"
                 "output y\nvalues x [1.5,-inf,nan,0.1]\nvalues i [-3,7]\n"
                 "values b [1,0]\n");
    float *f = floats_of(t, "x");
    uint32_t word[4];
    int32_t i32[2];
    unsigned char b[2];

    (void)state;
    assert_true(f[0] == 1.5f && isinf(f[1]) && f[1] < 0 && isnan(f[2]) && f[3] == 0.1f);
    data_dense(t, 0, AL_RING, word);
    for (int k = 0; k < 4; k++)
        assert_true(word[k] == ring_literal((double)f[k]));
    data_dense(t, 1, AL_RING, i32);
    data_dense(t, 2, AL_IEEE, b);
    assert_true(i32[0] == -3 && i32[1] == 7 && b[0] == 1 && b[1] == 0);
    assert_true(data_number(t, 1, 0) == -3 && data_number(t, 2, 0) == 1);
}

static void literals_in_the_ring(void **state)
{
    (void)state;
    assert_int_equal(ring_literal(0), 0);
    assert_int_equal(ring_literal(-0.0), 0);
    assert_int_equal(ring_literal(1), 1);
    assert_int_equal(ring_literal(-1), 0xffffffffu);
    assert_int_equal(ring_literal(0x1p32 + 5), 5);
    assert_int_equal(ring_literal(-HUGE_VAL), 0x80000000u);
    assert_int_equal(ring_literal(HUGE_VAL), 0x7fffffffu);
    for (int i = 1; i < 100; i++) {
        assert_int_equal(ring_literal(i + 0.5) & 1, 1);
        assert_int_not_equal(ring_literal(i + 0.5), ring_literal(-(i + 0.5)));
    }
    assert_int_equal(ring_literal((double)NAN), ring_literal(-(double)NAN));
}

static void empty_and_rank_0(void **state)
{
    struct trial *t = trial_of("input x f32 [3,0,2]\ninput s f32 []\ny = copy x\noutput y\n"
                               "z = copy s\noutput z\n");
    float f = 0, again = 0;

    (void)state;
    data_fill(t, 0, AL_IEEE, &f);
    assert_true(f == 0);
    data_fill(t, 1, AL_IEEE, &f);
    data_element(t, 1, 0, AL_IEEE, &again);
    assert_true(f != 0 && f == again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smaller_sizes_keep_the_rest),
        cmocka_unit_test(one_element_is_that_of_the_whole),
        cmocka_unit_test(recipes_have_their_ranges),
        cmocka_unit_test(float_dtypes_are_stored_in_their_width),
        cmocka_unit_test(ring_words_are_cut_to_storage),
        cmocka_unit_test(f64_is_drawn_wide),
        cmocka_unit_test(special_has_every_kind),
        cmocka_unit_test(magnitude_differs_by_line),
        cmocka_unit_test(names_seeds_and_coordinates_matter),
        cmocka_unit_test(layouts_leave_poison_in_their_gaps),
        cmocka_unit_test(values_override_the_recipe),
        cmocka_unit_test(literals_in_the_ring),
        cmocka_unit_test(empty_and_rank_0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
