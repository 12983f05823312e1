/*
 * What composites are by definition: in ring they agree bit for bit with their expansions;
 * masks, rows that see nothing, NaN and infinities; argmax, gather, concat.
 */
#include <math.h>

#include "judging.h"

static const char *const floats[] = { "f32", "f64", "f16", "bf16" };

/* x is widened first and the result cast: intermediate values of halves are f32. */
static void composites_are_their_expansions(void **state)
{
    (void)state;
    for (int d = 0; d < 4; d++) {
        const char *dt = floats[d], *wide = d == 1 ? "f64" : "f32";
        const struct want *w = ring(trial_of(
            "input x %s [6,9]\ninput g %s [9]\ninput b %s [9]\nx4 = cast x %s\n"
            "gc = cast g %s\nge = expand gc [6,9]\nbc = cast b %s\nbe = expand bc [6,9]\n"
            /* softmax */
            "p = softmax x axis=1\nmx = max x4 axes=[1] keep=1\nmb = expand mx [6,9]\n"
            "df = sub x4 mb\nex = exp df\nsm = sum ex axes=[1] keep=1\nsb = expand sm [6,9]\n"
            "pd = div ex sb\npw = cast pd %s\n"
            /* layernorm */
            "l = layernorm x g b eps=0.001\nmn = mean x4 axes=[1] keep=1\nnb = expand mn "
            "[6,9]\n"
            "dv = sub x4 nb\nsq = mul dv dv\nvr = mean sq axes=[1] keep=1\nve = add vr 0.001\n"
            "rs = rsqrt ve\nrb = expand rs [6,9]\nu = mul dv rb\nug = mul u ge\nlb = add ug "
            "be\n"
            "lw = cast lb %s\n"
            /* rmsnorm */
            "r = rmsnorm x g eps=0.001\nrq = mul x4 x4\nrm = mean rq axes=[1] keep=1\n"
            "re = add rm 0.001\nrr = sqrt re\nrp = recip rr\nre4 = expand rp [6,9]\n"
            "ru = mul x4 re4\nrg = mul ru ge\nrw = cast rg %s\n"
            "output p\noutput pw\noutput l\noutput lw\noutput r\noutput rw\n",
            dt, dt, dt, wide, wide, wide, dt, dt, dt));

        assert_same(w, "p", "pw");
        assert_same(w, "l", "lw");
        assert_same(w, "r", "rw");
    }
}

/* Grouped heads, causal from the end: by matmul, where and a late division. */
static void attention_is_its_expansion(void **state)
{
    static const char *const mask[] = { "none", "causal", "causal_br", "bool", "add" };

    (void)state;
    for (int d = 0; d < 4; d++)
        for (int m = 0; m < 5; m++) {
            const char *dt = floats[d], *wide = d == 1 ? "f64" : "f32";
            const struct want *w = ring(trial_of(
                "input q %s [2,4,5,3]\ninput k %s [2,2,7,3]\ninput v %s [2,2,7,6]\n"
                "input see bool [5,7]\ninput more %s [5,7]\n"
                "z = attention q k v%s scale=0.7 mask=%s\n"
                "qc = cast q %s\nkc = cast k %s\nvc = cast v %s\n"
                "kr = reshape kc [2,2,1,7,3]\nke = expand kr [2,2,2,7,3]\n"
                "kk = reshape ke [2,4,7,3]\nkt = permute kk [0,1,3,2]\n"
                "vr = reshape vc [2,2,1,7,6]\nve = expand vr [2,2,2,7,6]\n"
                "vv = reshape ve [2,4,7,6]\ns0 = matmul qc kt\ns1 = mul s0 0.7\n"
                "i = iota i32 [5,7] axis=0\nj = iota i32 [5,7] axis=1\ni2 = add i 2\n"
                "c1 = le j i\nc2 = le j i2\nc0 = le i i\nmc = cast more %s\n"
                "cb = expand %s [2,4,5,7]\nme = expand mc [2,4,5,7]\nsa = add s1 me\n"
                "s = copy %s\nsh = where cb s -inf\nmx = max sh axes=[3] keep=1\n"
                "mb = expand mx [2,4,5,7]\ndf = sub s mb\ne0 = exp df\nex = where cb e0 0\n"
                "sm = sum ex axes=[3] keep=1\nse = expand sm [2,4,5,6]\no = matmul ex vv\n"
                "y = div o se\nzw = cast y %s\n"
                "sb = expand sm [2,4,5,7]\np = div ex sb\nyp = matmul p vv\nzp = cast yp %s\n"
                "output z\noutput zw\noutput zp\n",
                dt, dt, dt, dt,
                m == 3   ? " see"
                : m == 4 ? " more"
                         : "",
                mask[m], wide, wide, wide, wide,
                m == 1   ? "c1"
                : m == 2 ? "c2"
                : m == 3 ? "see"
                         : "c0",
                m == 4 ? "sa" : "s1", dt, dt));

            assert_same(w, "z", "zw");
            assert_same(w, "z", "zp");
        }
}

static void assert_value(const struct want *w, const char *name, int k, double v)
{
    struct val x = judge_value(wanted(w, name), k);

    assert_true(x.e >= 0);
    assert_true(isnan(v)   ? isnan(x.v)
                : isinf(v) ? x.v == v
                           : fabs(x.v - v) <= 1e-3 * fabs(v) + 1e-30);
}

static void rows_that_see_little(void **state)
{
    (void)state;
    for (int d = 0; d < 4; d++) {
        const char *dt = floats[d];
        const struct want *w = ieee(trial_of(
            "input q %s [1,4,2]\ninput k %s [1,3,2]\ninput v %s [1,3,1]\ninput m bool [4,3]\n"
            "a = attention q k v m scale=1 mask=bool\n"
            "b = attention q k v m scale=1 mask=bool empty=zero\n"
            "c = attention q k v scale=1 mask=causal_br empty=zero\n"
            "input f %s [4,3]\ne = attention q k v f scale=1 mask=add\n"
            "output a\noutput b\noutput c\noutput e\n"
            "values v [2,4,8]\nvalues m [0,0,0, 0,1,0, 0,0,1, 1,0,0]\n"
            "values f [-inf,-inf,-inf, -inf,0,-inf, -inf,-inf,3, 0,-inf,-inf]\n",
            dt, dt, dt, dt));

        assert_value(w, "a", 0, (double)NAN);
        assert_value(w, "b", 0, 0);
        assert_value(w, "c", 0, 0); /* query 0 of 4 before 3 keys */
        assert_value(w, "c", 1, 2);
        assert_value(w, "e", 0, (double)NAN);
        for (int i = 1; i < 4; i++) {
            static const double v[] = { 0, 4, 8, 2 };

            assert_value(w, "a", i, v[i]);
            assert_value(w, "b", i, v[i]);
            assert_value(w, "e", i, v[i]);
        }
    }
}

static void special_logits(void **state)
{
    const struct want *w = ieee(trial_of("input x f32 [6,3]\np = softmax x axis=1\noutput p\n"
                                         "values x [0,-inf,0, nan,1,2, inf,0,0, "
                                         "-inf,-inf,-inf, 1000,1000,-1000, 3e38,-3e38,0]\n"));
    static const double want[] = {
        0.5,         0,           0.5,         (double)NAN, (double)NAN, (double)NAN,
        (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN,
        0.5,         0.5,         0,           1,           0,           0
    };

    (void)state;
    for (int k = 0; k < 18; k++)
        assert_value(w, "p", k, want[k]);
    assert_true(judge_value(wanted(w, "p"), 1).e == 0);
}

static void argmax_gather_concat(void **state)
{
    const struct want *w = ieee(trial_of(
        "input x f32 [4,3]\na = argmax x axis=1\nc = argmax x axis=0\nt = div x 3\ny = mul t "
        "3\n"
        "u = argmax y axis=1\ninput i i32 [5]\ng = gather x i axis=0\nh = gather x i axis=1\n"
        "n = concat x x axis=1\ng2 = gather t u axis=0\nb = lt x 3\ngb = gather b i axis=0\n"
        "output a\noutput c\noutput u\noutput g\noutput h\noutput n\noutput g2\noutput gb\n"
        "values x [1,5,5, nan,2,nan, -inf,-inf,-inf, 7,7.5,0]\nvalues i [3,-1,0,4,2]\n"));
    static const uint32_t a[] = { 1, 0, 0, 1 }, c[] = { 1, 3, 1 };
    static const double g[] = { 7, 7.5, 0, 0, 0, 0, 1, 5, 5, 0, 0, 0 };
    const struct want_node *u = wanted(w, "u");

    (void)state;
    assert_memory_equal(wanted(w, "a")->word, a, sizeof a);
    assert_memory_equal(wanted(w, "c")->word, c, sizeof c);
    assert_true(u->unsure[0] && !u->unsure[1] && !u->unsure[2] && !u->unsure[3]);
    for (int k = 0; k < 12; k++)
        assert_value(w, "g", k, g[k]);
    assert_value(w, "h", 2, 1); /* x[0][0] behind two indices outside */
    assert_value(w, "h", 4, 5);
    assert_value(w, "n", 4, 5);
    assert_value(w, "n", 23, 0);
    assert_true(judge_value(wanted(w, "g2"), 0).e < 0); /* an index that is not sure */
    assert_int_equal(wanted(w, "gb")->word[6], 1);
    assert_int_equal(wanted(w, "gb")->word[4], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composites_are_their_expansions),
        cmocka_unit_test(attention_is_its_expansion),
        cmocka_unit_test(rows_that_see_little),
        cmocka_unit_test(special_logits),
        cmocka_unit_test(argmax_gather_concat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
