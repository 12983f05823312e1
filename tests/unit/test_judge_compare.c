/* judge_compare, round the elements: layouts, gaps, margins, statuses; and null kernels. */
#include "judging.h"

#include <math.h>

#include "judge/rules.h"

static bool untrusted(const struct trial *t, const char **which)
{
    const struct want *w[] = { ring(t), ieee(t) };

    return judge_untrusted(w, 2, which);
}

static void assert_untrusted(const char *text, const char *by)
{
    const char *which;

    assert_true(untrusted(trial_of("%s", text), &which));
    assert_string_equal(which, by);
}

static void assert_trusted(const char *text)
{
    const char *which;

    assert_false(untrusted(trial_of("%s", text), &which));
    assert_null(which);
}

static void gaps_must_stay_poison(void **state)
{
    struct trial *t =
        trial_of("input x f32 [2,3]\ny = neg x\noutput y strides=[1,4] offset=2\n");
    const struct want *w = ieee(t);
    float *x = floats_of(t, "x"), y;
    unsigned char storage[12 * 4];
    struct verdict v;

    (void)state;
    memset(storage, POISON_BYTE, sizeof storage);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) {
            y = -x[i * 3 + j];
            memcpy(storage + (2 + i + 4 * j) * 4, &y, 4);
        }
    v = verdict_on_one(w, storage);
    assert_int_equal(v.kind, VK_PASS);
    assert_int_equal(v.n_judged, 6);
    assert_string_equal(v.tier, "bound");
    storage[5 * 4 + 1] = 0;
    v = verdict_on_one(w, storage);
    assert_int_equal(v.kind, VK_OUT_OF_BOUNDS);
    assert_non_null(strstr(v.detail, "element 5 of output y"));
    storage[5 * 4 + 1] = POISON_BYTE;
    memset(storage + (2 + 1 + 4 * 2) * 4, POISON_BYTE, 4); /* y[1,2] was never written */
    v = verdict_on_one(w, storage);
    assert_int_equal(v.kind, VK_MISMATCH);
    assert_true(v.at[0] == 1 && v.at[1] == 2 && v.want == (double)-x[5] && v.n_wrong == 1);
}

static void margins_inputs_and_statuses(void **state)
{
    struct trial *t = trial_of("input x i32 [2]\ny = neg x\noutput y\nvalues x [1,2]\n");
    const struct want *w = ring(t);
    static const int32_t y[] = { -1, -2 };
    const void *out[] = { y };
    struct outcome o = { .algebra = AL_RING, .n_out = 1, .out = out, .where = "x" };
    struct judge_opts jo = { 0 };
    struct verdict v;
    static const enum verdict_kind kind[] = { VK_PASS,          VK_UNSUPPORTED, VK_BUILD_FAILED,
                                              VK_OUT_OF_BOUNDS, VK_HANG,        VK_CRASH };

    (void)state;
    o.input_changed = true;
    judge_compare(w, &o, &jo, &v);
    assert_int_equal(v.kind, VK_MISMATCH);
    assert_string_equal(v.detail, "input x was written");
    o.margin_broken = true;
    judge_compare(w, &o, &jo, &v);
    assert_int_equal(v.kind, VK_OUT_OF_BOUNDS);
    assert_int_equal(v.out, -1);
    o.input_changed = o.margin_broken = false;
    strcpy(o.detail, "why");
    o.site = (struct site){ .kernel = "y", .index = 7, .size = 2 };
    for (int s = 0; s < 6; s++) {
        o.status = (enum outcome_status)s;
        judge_compare(w, &o, &jo, &v);
        assert_int_equal(v.kind, kind[s]);
        assert_string_equal(v.detail, s ? "why" : "");
        assert_int_equal(v.site.index, s ? 7 : 0);
    }
}

static void words_are_compared_bit_for_bit(void **state)
{
    struct trial *t = trial_of("input x i32 [3]\nb = lt x 0\nn = neg x\noutput b\noutput n\n"
                               "values x [1,-2,2147483647]\n");
    const struct want *w = ieee(t);
    unsigned char b[] = { 0, 1, 0 };
    int32_t n[] = { -1, 2, -2147483647 };
    const void *out[] = { b, n };
    struct verdict v;

    (void)state;
    assert_int_equal(verdict_on(w, out).kind, VK_PASS);
    b[1] = 2; /* true, but not as a bool is stored */
    v = verdict_on(w, out);
    assert_true(v.kind == VK_MISMATCH && v.out == 0 && v.at[0] == 1 && v.got == 2);
    b[1] = 1;
    n[2]--;
    v = verdict_on(w, out);
    assert_true(v.kind == VK_MISMATCH && v.out == 1 && v.want == -2147483647.0);
}

static void tolerance_on_request(void **state)
{
    struct trial *t = trial_of("input x f32 [2]\ny = neg x\noutput y\nvalues x [1,100]\n");
    const struct want *w = ieee(t);
    static const float y[] = { -1.001f, -100.1f };
    const void *out[] = { y };
    struct outcome o = { .algebra = AL_IEEE, .n_out = 1, .out = out };
    struct judge_opts jo = { .tolerance = true, .rtol = 2e-3 };
    struct verdict v;

    (void)state;
    judge_compare(w, &o, &jo, &v);
    assert_int_equal(v.kind, VK_PASS);
    assert_string_equal(v.tier, "tolerance");
    jo.rtol = 0;
    jo.atol = 2e-3;
    judge_compare(w, &o, &jo, &v);
    assert_true(v.kind == VK_MISMATCH && v.at[0] == 1 && v.bound == 2e-3);
    assert_int_equal(verdict_on_one(w, y).n_wrong, 2);
}

/* Tolerances by dtype; what is infinite must be so. */
static void rules_of_others(void **state)
{
    struct trial *t =
        trial_of("input x f16 [3]\ny = mul x 1.5\noutput y\nvalues x [1,64,inf]\n");
    const struct want *w = ieee(t);
    uint16_t y[] = { 0x3e00, 0x5600, 0x7c00 }; /* 1.5, 96, inf */
    const void *out[] = { y };
    struct outcome o = { .algebra = AL_IEEE, .n_out = 1, .out = out };
    struct judge_opts jo = { .peer = judge_rule_find("torch") };
    struct verdict v;

    (void)state;
    assert_non_null(jo.peer);
    assert_ptr_equal(judge_rule_of(&jo), jo.peer);
    assert_false(judge_is_proven(&jo));
    assert_null(judge_rule_find("eye"));
    y[0]++; /* 2^-10 off: within 1e-3 * 1.5 + 1e-5 */
    judge_compare(w, &o, &jo, &v);
    assert_int_equal(v.kind, VK_PASS);
    assert_string_equal(v.tier, "torch");
    jo.peer = judge_rule_find("rtol1e-5");
    judge_compare(w, &o, &jo, &v);
    assert_true(v.kind == VK_MISMATCH && v.n_wrong == 1 && v.want == 1.5);
    assert_true(fabs(v.bound - (1e-6 + 1.5e-5)) < 1e-12);
    y[0]--;
    y[2] = 0x7bff; /* the largest number in place of inf */
    judge_compare(w, &o, &jo, &v);
    assert_true(v.kind == VK_MISMATCH && v.at[0] == 2);
}

/* Twice the twin's largest error, wherever that is, and two roundings of x + 0.3 - 0.3. */
static void a_rule_with_a_twin(void **state)
{
    struct trial *t = trial_of("input x f32 [2]\ny = neg x\noutput y\nvalues x [1,0]\n");
    const struct want *w = ieee(t);
    float twin[] = { -1, 0.125f }, y[] = { -1.25f, 0 };
    const void *out[] = { y }, *twins[] = { twin };
    struct outcome o = { .algebra = AL_IEEE, .n_out = 1, .out = out };
    struct judge_opts jo = { .peer = judge_rule_find("flash"), .twin = twins };
    struct verdict v;

    (void)state;
    assert_true(judge_needs_twin(&jo));
    judge_compare(w, &o, &jo, &v);
    assert_int_equal(v.kind, VK_PASS);
    y[0] = -1.2501f;
    judge_compare(w, &o, &jo, &v);
    assert_true(v.kind == VK_MISMATCH && v.at[0] == 0 && v.bound >= 0.25 && v.bound < 0.2501);
    twin[1] = 0;
    y[0] = -1 + 0x1p-22f;
    judge_compare(w, &o, &jo, &v);
    assert_int_equal(v.kind, VK_MISMATCH);
    y[0] = NAN;
    twin[1] = NAN; /* a twin that says nothing lets every number pass, but no NaN */
    judge_compare(w, &o, &jo, &v);
    assert_true(v.kind == VK_MISMATCH && v.n_wrong == 1);
}

static void two_runs_are_compared_as_bytes(void **state)
{
    static const float a[] = { 0, NAN }, b[] = { -0.0f, NAN };

    (void)state;
    assert_true(judge_same(a, a, sizeof a));
    assert_false(judge_same(a, b, sizeof a));
    assert_true(judge_same(NULL, NULL, 0));
}

/* Which NaN it is says nothing; that it is one, does. In ring all bits are the word's. */
static void two_runs_may_differ_in_the_nan(void **state)
{
    static const float a[] = { 1, NAN, 2 }, b[] = { 1, -NAN, 2 }, c[] = { 1, NAN, 3 };
    static const uint16_t h[] = { 0x7e00, 0xfc00 }, k[] = { 0xfe01, 0x7e00 };

    (void)state;
    assert_int_equal(judge_differs(DT_F32, AL_IEEE, a, b, sizeof a), -1);
    assert_int_equal(judge_differs(DT_F32, AL_RING, a, b, sizeof a), 4);
    assert_int_equal(judge_differs(DT_I32, AL_IEEE, a, b, sizeof a), 4);
    assert_int_equal(judge_differs(DT_F32, AL_IEEE, b, c, sizeof a), 8);
    assert_int_equal(judge_differs(DT_F16, AL_IEEE, h, k, sizeof h), 2); /* -inf is none */
    assert_int_equal(judge_differs(DT_F32, AL_IEEE, NULL, NULL, 0), -1);
}

static void null_kernels_are_caught(void **state)
{
    (void)state;
    assert_trusted("input x f32 [4,5]\ny = exp x\ns = sum y axes=[1]\noutput s\n");
    assert_trusted("input x f32 [4,5]\ny = permute x [1,0]\noutput y\n");
    assert_trusted("input x f32 [4,5]\nb = lt x 0\noutput b\n");
    assert_trusted("input x f32 [7]\ny = slice x [6:-1:-1]\noutput y\n");
    assert_trusted("input x f32 [7]\ny = pad x [1:0]\noutput y\n");
}

static void an_identity_may_copy(void **state)
{
    (void)state;
    assert_trusted("input x f32 [4,5]\ny = copy x\noutput y\n");
    assert_trusted("input x f32 [4,1,5]\na = permute x [1,0,2]\nb = reshape a [2,10]\n"
                   "c = slice b [0:2:1,0:10:1]\nd = expand c [1,2,10]\noutput d\n");
    assert_trusted("input x f32 [6]\noutput x\n");
}

static void what_judges_nothing_is_untrusted(void **state)
{
    (void)state;
    assert_untrusted("input x f32 [0,5]\ny = exp x\noutput y\n", "nothing to judge");
    assert_untrusted("input x f32 [5]\ny = mul x 0\noutput y\n", "zeros");
    assert_untrusted("input x f32 [5]\nb = eq x x\noutput b\n", "ones");
    assert_untrusted("input x f32 [5]\ny = sub x x\nz = exp y\nc = cast z bool\noutput c\n",
                     "ones");
    assert_untrusted("input x f32 [2,2]\ny = permute x [1,0]\noutput y\nvalues x [7,7,7,7]\n",
                     "a copy of an input");
    assert_untrusted("input x f32 [5]\ny = maximum x x\noutput y\n", "a copy of an input");
}

static void one_tier_is_enough(void **state)
{
    struct trial *t = trial_of("input x f32 [5]\ny = mul x inf\nz = sub y y\noutput z\n");
    const struct want *w = ieee(t);
    const char *which;

    (void)state;
    assert_int_equal(wanted(w, "z")->n, 5);
    assert_false(judge_untrusted(&w, 1, &which)); /* NaN is wanted, no null kernel gives it */
    t = trial_of("input x f32 [5]\ny = mul x 3e38\nz = mul y 3e38\noutput z\n");
    w = ieee(t);
    assert_true(judge_untrusted(&w, 1, &which)); /* all may overflow */
    assert_string_equal(which, "zeros");
    assert_false(untrusted(t, &which)); /* ring judges them */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_must_stay_poison),
        cmocka_unit_test(margins_inputs_and_statuses),
        cmocka_unit_test(words_are_compared_bit_for_bit),
        cmocka_unit_test(tolerance_on_request),
        cmocka_unit_test(rules_of_others),
        cmocka_unit_test(a_rule_with_a_twin),
        cmocka_unit_test(two_runs_are_compared_as_bytes),
        cmocka_unit_test(two_runs_may_differ_in_the_nan),
        cmocka_unit_test(null_kernels_are_caught),
        cmocka_unit_test(an_identity_may_copy),
        cmocka_unit_test(what_judges_nothing_is_untrusted),
        cmocka_unit_test(one_tier_is_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
