/* The ring algebra: its identities (what a schedule may rely on), and views by definition. */
#include "judging.h"

static void exp_turns_sums_into_products(void **state)
{
    const struct want *w = ring(trial_of("input a f32 [999]\ninput b f32 [999]\n"
                                         "s = add a b\nes = exp s\n"
                                         "ea = exp a\neb = exp b\np = mul ea eb\n"
                                         "na = neg a\nen = exp na\none = mul ea en\n"
                                         "output es\noutput p\noutput one\n"));

    (void)state;
    assert_same(w, "es", "p");
    for (int k = 0; k < 999; k++)
        assert_int_equal(wanted(w, "one")->word[k], 1);
}

static void exp_is_a_power_of_five(void **state)
{
    const struct want *w = ring(trial_of("input x f32 [500]\ny = exp x\noutput y\n"));
    const uint32_t *x = wanted(w, "x")->word, *y = wanted(w, "y")->word;
    uint32_t log2e = ring_literal(1.4426950408889634);

    (void)state;
    assert_int_equal(log2e & 1, 1);
    for (int k = 0; k < 500; k++) {
        uint32_t want = 1, base = 5;

        for (uint32_t e = x[k] * log2e; e; e >>= 1, base *= base)
            if (e & 1)
                want *= base;
        assert_int_equal(y[k], want);
    }
}

/* Attention row by row; `blocks` columns of logits are rescaled by their own maximum. */
static void online_softmax_is_plain(void **state)
{
    const struct want *w = ring(trial_of(
        "input s f32 [40,6,8]\ninput v f32 [40,6,8]\n"
        /* plain: one maximum over both axes */
        "m = max s axes=[1,2] keep=1\nmb = expand m [40,6,8]\nd = sub s mb\nw = exp d\n"
        "l = sum w axes=[1,2]\nwv = mul w v\no = sum wv axes=[1,2]\ny = div o l\n"
        /* six blocks, each with its own maximum, then merged */
        "bm = max s axes=[2] keep=1\nbb = expand bm [40,6,8]\nbd = sub s bb\nbw = exp bd\n"
        "bl = sum bw axes=[2] keep=1\nbwv = mul bw v\nbo = sum bwv axes=[2] keep=1\n"
        "mm = expand m [40,6,1]\nshift = sub bm mm\nscale = exp shift\n"
        "sl = mul bl scale\nso = mul bo scale\n"
        "ml = sum sl axes=[1,2]\nmo = sum so axes=[1,2]\nmy = div mo ml\n"
        /* normalised early */
        "l1 = sum w axes=[1,2] keep=1\nlb = expand l1 [40,6,8]\np = div w lb\n"
        "pv = mul p v\nearly = sum pv axes=[1,2]\n"
        "output y\noutput my\noutput early\noutput ml\noutput l\n"));

    (void)state;
    assert_same(w, "l", "ml");
    assert_same(w, "y", "my");
    assert_same(w, "y", "early");
}

static void sums_have_no_order(void **state)
{
    const struct want *w = ring(trial_of(
        "input a f32 [9,35]\ninput b f32 [35,7]\nc = matmul a b\n"
        "ar = slice a [0:9:1,34:-1:-1]\nbr = slice b [34:-1:-1,0:7:1]\nr = matmul ar br\n"
        /* split-K by 5 as a batched matmul */
        "a5 = reshape a [9,5,7]\nap = permute a5 [1,0,2]\nb5 = reshape b [5,7,7]\n"
        "part = matmul ap b5\nk = sum part axes=[0]\n"
        /* as small-op compilers spell it */
        "ae = reshape a [9,35,1]\nax = expand ae [9,35,7]\nbx = expand b [9,35,7]\n"
        "ab = mul ax bx\nspelled = sum ab axes=[1]\n"
        "output c\noutput r\noutput k\noutput spelled\n"));

    (void)state;
    assert_same(w, "c", "r");
    assert_same(w, "c", "k");
    assert_same(w, "c", "spelled");
}

static void one_rule_for_division(void **state)
{
    const struct want *w = ring(trial_of(
        "input x f32 [300]\ninput y f32 [300]\nq = div x y\nr = recip y\np = mul x r\n"
        "m2 = reshape x [100,3]\nm = mean m2 axes=[1]\ns = sum m2 axes=[1]\nd = div s 3\n"
        "output q\noutput p\noutput m\noutput d\n"));

    (void)state;
    assert_same(w, "q", "p");
    assert_same(w, "m", "d");
}

static void order_is_signed(void **state)
{
    const struct want *w = ring(
        trial_of("input x f32 [2,3]\np = pad x [0:0,0:1] value=0\nm = max p axes=[1]\n"
                 "lo = max x axes=[1]\na = abs x\nis = lt x 0\nn = neg x\nalso = where is n x\n"
                 "c = cast x i32\nb = cast x bool\n"
                 "output m\noutput lo\noutput also\noutput a\noutput c\noutput b\n"
                 "values x [-5,-2,-9,0,3,-inf]\n"));
    static const uint32_t cast[] = { -5u, -2u, -9u, 0, 3, 0x80000000u };
    static const uint32_t b[] = { 1, 1, 1, 0, 1, 1 };

    (void)state;
    assert_int_equal(wanted(w, "lo")->word[0], -2u); /* signed: a pad of 0 under max shows */
    assert_int_equal(wanted(w, "m")->word[0], 0);
    assert_int_equal(wanted(w, "m")->word[1], 3);
    assert_memory_equal(wanted(w, "a")->word, wanted(w, "also")->word, 6 * 4);
    assert_memory_equal(wanted(w, "c")->word, cast, sizeof cast);
    assert_memory_equal(wanted(w, "b")->word, b, sizeof b);
}

static void integers_wrap_and_divide(void **state)
{
    const struct want *w = ring(trial_of(
        "input x i32 [5]\ninput y i32 [5]\nq = div x y\ns = add x y\na = abs x\n"
        "z = slice x [0:0:1]\nzs = sum z axes=[0]\nzx = max z axes=[0]\nzn = min z axes=[0]\n"
        "output q\noutput s\noutput a\noutput zs\noutput zx\noutput zn\n"
        "values x [7,-7,-2147483648,5,2147483647]\nvalues y [2,2,-1,0,1]\n"));
    static const uint32_t q[] = { 3, -3u, 0x80000000u, 0, 2147483647 };
    static const uint32_t s[] = { 9, -5u, 0x7fffffffu, 5, 0x80000000u };

    (void)state;
    assert_memory_equal(wanted(w, "q")->word, q, sizeof q);
    assert_memory_equal(wanted(w, "s")->word, s, sizeof s);
    assert_int_equal(wanted(w, "a")->word[2], 0x80000000u);
    assert_int_equal(wanted(w, "zs")->word[0], 0);
    assert_int_equal(wanted(w, "zx")->word[0], 0x80000000u);
    assert_int_equal(wanted(w, "zn")->word[0], 0x7fffffffu);
}

/* Every view by its definition, one element at a time. */
static void views_by_definition(void **state)
{
    const struct want *w = ring(trial_of(
        "x = iota i32 [60] axis=0\nt = reshape x [3,4,5]\np = permute t [2,0,1]\n"
        "s = slice t [2:-1:-2,1:4:1,4:0:-1]\ng = pad t [1:0,0:2,1:1] value=-7\n"
        "h = slice t [1:2:1,0:4:1,0:5:1]\ne = expand h [2,6,4,5]\n"
        "big = pad s [0:0,0:0,0:0]\nf = reshape p [4,15]\nfs = slice f [3:0:-1,14:1:-3]\n"
        "output p\noutput s\noutput g\noutput fs\noutput big\n"
        "u = slice t [0:3:1,0:1:1,0:5:1]\nv = expand u [2,3,4,5]\noutput v\n"
        "er = slice h [0:1:1,0:4:1,0:5:1]\nex = expand er [2,1,4,5]\noutput ex\n"));
    const uint32_t *p = wanted(w, "p")->word, *s = wanted(w, "s")->word;
    const uint32_t *g = wanted(w, "g")->word, *fs = wanted(w, "fs")->word;
    const uint32_t *v = wanted(w, "v")->word;
    int at = 0;

    (void)state;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                assert_int_equal(*p++, j * 20 + k * 5 + i);
    for (int i = 2; i > -1; i -= 2)
        for (int j = 1; j < 4; j++)
            for (int k = 4; k > 0; k--)
                assert_int_equal(*s++, i * 20 + j * 5 + k);
    for (int i = -1; i < 3; i++)
        for (int j = 0; j < 6; j++)
            for (int k = -1; k < 6; k++) {
                bool in = i >= 0 && j < 4 && k >= 0 && k < 5;

                assert_int_equal(*g++, in ? (uint32_t)(i * 20 + j * 5 + k) : (uint32_t)-7);
            }
    for (int i = 3; i > 0; i--)
        for (int j = 14; j > 1; j -= 3) {
            at = i * 15 + j; /* in p, row-major */
            assert_int_equal(*fs++, at / 4 % 3 * 20 + at % 4 * 5 + at / 12);
        }
    for (int l = 0; l < 2; l++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++)
                for (int k = 0; k < 5; k++)
                    assert_int_equal(*v++, i * 20 + k);
}

/* Pads that a reshape cuts across: the public case 05. */
static void pad_then_reshape(void **state)
{
    const struct want *w = ring(trial_of(
        "input x f32 [1,2]\na = pad x [1:0,0:1]\nb = reshape a [3,2]\n"
        "c = pad x [1:1,0:2]\nd = reshape c [4,3]\noutput b\noutput d\nvalues x [1,2]\n"));
    static const uint32_t b[] = { 0, 0, 0, 1, 2, 0 };
    static const uint32_t d[] = { 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0 };

    (void)state;
    assert_memory_equal(wanted(w, "b")->word, b, sizeof b);
    assert_memory_equal(wanted(w, "d")->word, d, sizeof d);
}

static void what_no_output_needs_is_skipped(void **state)
{
    const struct want *w =
        ring(trial_of("input x f32 [4]\ndead = exp x\ny = neg x\noutput y\n"));

    (void)state;
    assert_null(wanted(w, "dead")->word);
    assert_int_equal(wanted(w, "dead")->n, 0);
    assert_int_equal(wanted(w, "y")->n, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_turns_sums_into_products),
        cmocka_unit_test(exp_is_a_power_of_five),
        cmocka_unit_test(online_softmax_is_plain),
        cmocka_unit_test(sums_have_no_order),
        cmocka_unit_test(one_rule_for_division),
        cmocka_unit_test(order_is_signed),
        cmocka_unit_test(integers_wrap_and_divide),
        cmocka_unit_test(views_by_definition),
        cmocka_unit_test(pad_then_reshape),
        cmocka_unit_test(what_no_output_needs_is_skipped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
