/* The minimizer's driver on the founding pair: small, of the same cause, and twice the same. */
#include "reducing.h"

static void minimal(const char *text, enum fault fault, int nodes, const char *pass,
                    const char *class)
{
    struct checker ck;
    struct check_opts o;
    static struct check c;
    struct cause cause;
    struct min_result r, again;
    struct min_opts mo;
    struct trial *t = parse(text);
    struct err e = { 0 };

    assert_int_equal(checker_open(&ck, &e), 0);
    check_opts_default(&o);
    o.fault = fault;
    assert_int_equal(check_trial(&ck, t, &o, &c, &e), 0);
    assert_true(verdict_is_finding(c.kind));
    assert_int_equal(cause_find(&ck, t, &o, &c, &cause, &e), 0);
    mo = (struct min_opts){ .check = o, .budget = 2000 };
    assert_int_equal(minimize(&ck, t, &cause, &mo, &arena, &r, &e), 0);
    assert_true(prog_count_nodes(&r.trial->prog) <= nodes);
    assert_true(prog_max_size(&r.trial->prog) <= 4);
    assert_string_equal(r.cause.pass, pass);
    assert_string_equal(r.cause.class, class);
    assert_true(cause_same(&cause, &r.cause));
    /* deterministic */
    assert_int_equal(minimize(&ck, t, &cause, &mo, &arena, &again, &e), 0);
    assert_true(trial_key(again.trial) == trial_key(r.trial));
    assert_int_equal(again.evaluations, r.evaluations);
    checker_close(&ck);
}

static void test_founding_copies(void **state)
{
    (void)state;
    minimal("tilefuzz 1\ninput x f32 [4,8]\ninput y f32 [4,8,8]\nr = reshape x [4,8,1]\n"
            "e = expand r [4,8,8]\nc1 = copy e\np = permute c1 [0,2,1]\nc2 = copy p\n"
            "m = mul c2 y\ns = sum m axes=[2]\nz = exp s\noutput z\noutput m\nschedule\n"
            "fuse c1 c2\nfuse s z\nsplit z.i0 2\ndata seed=1 recipe=uniform\n",
            FAULT_copy_copy_fusion_drops_view, 4, "fuse", "index");
}

static void test_founding_plan(void **state)
{
    (void)state;
    minimal("tilefuzz 1\ninput x f32 [5,7]\ninput y f32 [7,5]\nn = neg x\na = copy n\n"
            "c = matmul a y\nd = copy c\ng = exp d\noutput g\ndata seed=1 recipe=normal\n",
            FAULT_liveness_ignores_loops, 3, "plan", "alias");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_founding_copies),
        cmocka_unit_test(test_founding_plan),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
