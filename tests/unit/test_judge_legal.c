/*
 * No legal way of computing is called wrong: random small programs on nasty data, run by the
 * machine of legal.h in every contract, and the exact data of the same programs; and the cases
 * that this found. An argument multiplies the number of programs.
 */
#include "legal_draw.h"

#include "judge/exact.h"

static int times = 1;

static const struct mode {
    const char *name;
    unsigned contract;
    bool foreign;
} modes[] = {
    { "ours", 0, false },
    { "ours, contracted", CONTRACT_MAY_CONTRACT, false },
    { "nothing allowed", 0, true },
    { "contracted", CONTRACT_MAY_CONTRACT, true },
    { "flushed", CONTRACT_MAY_FLUSH | CONTRACT_MAY_CONTRACT, true },
    { "rescaled", CONTRACT_MAY_RESCALE | CONTRACT_MAY_CONTRACT, true },
    { "reciprocals", CONTRACT_MAY_RECIPROCAL, true },
    { "all of it",
      CONTRACT_MAY_RECIPROCAL | CONTRACT_MAY_RESCALE | CONTRACT_MAY_CONTRACT |
          CONTRACT_MAY_FLUSH,
      true },
    { "approximated", CONTRACT_MAY_APPROXIMATE, true },
    { "all of it, approximated",
      CONTRACT_MAY_RECIPROCAL | CONTRACT_MAY_RESCALE | CONTRACT_MAY_CONTRACT |
          CONTRACT_MAY_FLUSH | CONTRACT_MAY_APPROXIMATE,
      true },
};

static void right(const struct legal *l, const struct want *w, int i, const char *what)
{
    const struct node *p = &l->t->prog.node[i];

    for (int64_t k = 0; k < w->node[i].n * l->versions; k++) {
        double got = l->v[k % l->versions][i][k / l->versions];
        int32_t word = dtype_info(p->dt)->class == DTC_FLOAT ? 0 : (int32_t)got;
        unsigned char bits[8] = { 0 };
        struct str text = { 0 };

        memcpy(bits, &word, sizeof word);
        if (dtype_info(p->dt)->class == DTC_FLOAT)
            grid_store(p->dt, grid_round(p->dt, got), bits); /* a half may be in excess */
        if (judge_right(w, i, k / l->versions, bits))
            continue;
        trial_print(l->t, &text);
        fail_msg("%s: %s[%lld] is %.17g\n%s", what, p->name, (long long)(k / l->versions), got,
                 str_get(&text));
    }
}

/* Every node, computed in some legal way, is right. Returns how many elements. */
static int64_t run(struct legal *l, const struct want *w, const char *what)
{
    int64_t n = 0;

    for (int again = 0; again < 3; again++) {
        legal_all(l);
        for (int i = 0; i < l->t->prog.n; i++) {
            right(l, w, i, what);
            n += w->node[i].n * l->versions;
        }
    }
    return n;
}

static const struct want *want_of(const struct trial *t, const struct mode *m)
{
    if (m->foreign)
        return judge_want_by(t, m->contract, &arena);
    return m->contract ? judge_want_apart(t, &arena) : judge_want(t, AL_IEEE, &arena);
}

static void blocks(struct legal *l, struct trial *t)
{
    for (int i = 0; i < t->prog.n; i++) {
        struct step *s;

        if (!algo_takes(ALGO_ONLINE, t->prog.node[i].op) || legal_below(l, 2))
            continue;
        s = trial_add_step(t, &arena);
        s->kind = STEP_ALGO;
        s->node[0] = i;
        s->algo = ALGO_ONLINE;
        s->n = 1 + legal_below(l, 8);
    }
}

static void nothing_legal_is_wrong(void **state)
{
    static const char *const dtypes[] = { "f32", "f64", "f16", "bf16" };
    int64_t bounds = 0, exacts = 0;
    int sets = 0;

    (void)state;
    for (int n = 0; n < 5000 * times; n++) {
        struct legal l = { .state = (uint64_t)n };
        const struct mode *m = &modes[n % 10];
        struct trial *t = draw_trial(&l, dtypes[n / 10 % 4], n / 40 % DRAWN_OPS,
                                     legal_below(&l, 3), legal_below(&l, 2));
        struct exact *x;
        const char *why;

        if (!m->foreign)
            blocks(&l, t);
        l.t = t;
        l.contract = m->contract;
        l.foreign = m->foreign;
        l.versions = m->contract & CONTRACT_MAY_CONTRACT ? VERSIONS : 1;
        bounds += run(&l, want_of(t, m), m->name);
        x = exact_make(t, n % EXACT_SETS, &arena, &why);
        if (x && (!m->foreign || exact_holds(x, m->contract, &arena))) {
            l.t = x->t;
            l.exact = true;
            exacts += run(&l, x->want, "exact data");
            sets++;
        }
        arena_reset(&arena);
    }
    print_message("%lld elements within bounds, %lld of %d exact sets\n", (long long)bounds,
                  (long long)exacts, sets);
    assert_true(sets > 2000 * times);
}

/* Halves that readers see rounded or not, results of ops or of casts too. */
static void nothing_in_excess_is_wrong(void **state)
{
    static const struct mode excess[] = {
        { "excess", CONTRACT_MAY_EXCESS, true },
        { "uncast", CONTRACT_MAY_UNCAST, true },
        { "excess, all of it",
          CONTRACT_MAY_EXCESS | CONTRACT_MAY_UNCAST | CONTRACT_MAY_CONTRACT |
              CONTRACT_MAY_RESCALE | CONTRACT_MAY_FLUSH,
          true },
    };
    int64_t n_in = 0, exacts = 0;

    (void)state;
    for (int n = 0; n < 3000 * times; n++) {
        struct legal l = { .state = (uint64_t)n + 77777,
                           .foreign = true,
                           .versions = VERSIONS };
        const struct mode *m = &excess[n % 3];
        struct trial *t = draw_trial(&l, n & 1 ? "f16" : "bf16", n / 6 % DRAWN_OPS,
                                     legal_below(&l, 3), legal_below(&l, 2));
        struct exact *x;
        const char *why;

        l.t = t;
        l.contract = m->contract;
        n_in += run(&l, want_of(t, m), m->name);
        x = exact_make(t, n % EXACT_SETS, &arena, &why);
        if (x && exact_holds(x, m->contract, &arena)) {
            l.t = x->t;
            l.exact = true;
            exacts += run(&l, x->want, "exact data");
        }
        arena_reset(&arena);
    }
    print_message("%lld elements within bounds, %lld exact\n", (long long)n_in,
                  (long long)exacts);
    assert_true(exacts > 10000 * times);
}

static enum verdict_kind by(unsigned contract, const struct trial *t, const double *got)
{
    return verdict_on_numbers(judge_want_by(t, contract, &arena), got).kind;
}

/* Each case as it was found: legal, and called wrong. */
static void zeros_and_their_signs(void **state)
{
    const double minus[] = { -HUGE_VAL }, plus[] = { HUGE_VAL };
    const struct trial *sum = trial_of("input x f32 [2]\ns = sum x axes=[0] keep=1\n"
                                       "r = recip s\noutput r\nvalues x [-0,-0]\n");
    const struct trial *c = trial_of(
        "input a f32 [1,1]\ninput c f32 [1,1]\nm = matmul a a c alpha=0 beta=-1\nr = recip m\n"
        "output r\nvalues a [1]\nvalues c [0]\n");

    const struct trial *gain = trial_of(
        "input x f32 [1,2]\ninput g f32 [2]\nh = cumsum x axis=1\ny = rmsnorm h g eps=1\n"
        "r = recip y\noutput r\nvalues x [1.1,-1.1]\n"
        "values g [0,0]\n");

    (void)state;
    /* begun with the first term the sum is -0 */
    assert_int_equal(by(0, sum, minus), VK_PASS);
    assert_int_equal(by(0, sum, plus), VK_PASS);
    assert_int_equal(verdict_on_numbers(ieee(sum), plus).kind, VK_PASS);
    assert_int_equal(verdict_on_numbers(ieee(sum), minus).kind, VK_MISMATCH);
    assert_int_equal(verdict_on_numbers(ieee(c), minus).kind, VK_PASS); /* beta c alone */
    /* what is a little more or less than 0, times a gain of 0 */
    assert_int_equal(verdict_on_numbers(ieee(gain), (double[]){ HUGE_VAL, -HUGE_VAL }).kind,
                     VK_PASS);
}

static void far_from_one(void **state)
{
    const struct trial *count =
        trial_of("input x f64 [4]\ns = sum x axes=[0] keep=1\noutput s\n"
                 "values x [9007199254740992,1,1,1]\n");
    const struct trial *tiny =
        trial_of("input x f32 [1]\ny = tanh x\noutput y\nvalues x [1e-42]\n");
    const struct trial *fold =
        trial_of("input a f32 [1,1]\ninput b f32 [1,1]\nc = matmul a b alpha=0.3\noutput c\n"
                 "values a [7e-45]\nvalues b [1e38]\n");
    const struct trial *half =
        trial_of("input x f16 [3]\np = prod x axes=[0] keep=1 acc=f16\noutput p\n"
                 "values x [inf,6e-5,6e-5]\n");
    const struct trial *below = trial_of("input x f32 [1]\ny = exp2 x\nz = tanh y\noutput z\n"
                                         "values x [-2000]\n");
    const double first[] = { 0x1p53 }, off[] = { 1e-42 + 2 * 0x1p-149 }, nan[] = { NAN };
    const double into_a[] = { (double)(7e-45f * 0.3f) * 1e38 };

    (void)state;
    assert_int_equal(verdict_on_numbers(ieee(count), first).kind, VK_PASS);
    assert_int_equal(verdict_on_numbers(ieee(tiny), off).kind, VK_PASS);
    assert_int_equal(verdict_on_numbers(ieee(below), (double[]){ 3 * 0x1p-149 }).kind, VK_PASS);
    assert_int_equal(by(0, fold, into_a), VK_PASS);
    assert_int_equal(verdict_on_numbers(ieee(fold), into_a).kind, VK_MISMATCH);
    assert_int_equal(verdict_on_numbers(ieee(half), nan).kind, VK_PASS);
}

static void what_flushing_makes_large(void **state)
{
    const struct trial *p = trial_of("input x f32 [4]\np = prod x axes=[0] keep=1\noutput p\n"
                                     "values x [1e-30,1e-10,1e28,1e10]\n");
    const struct trial *n =
        trial_of("input x f32 [1,2]\ninput g f32 [2]\ny = rmsnorm x g eps=0\n"
                 "output y\nvalues x [1e-21,1e-21]\nvalues g [1,1]\n");
    const double zero[] = { 0 }, infinite[] = { HUGE_VAL, HUGE_VAL };

    (void)state;
    assert_int_equal(by(CONTRACT_MAY_FLUSH, p, zero), VK_PASS);
    assert_int_equal(by(0, p, zero), VK_MISMATCH);
    assert_int_equal(by(CONTRACT_MAY_FLUSH, n, infinite), VK_PASS);
    assert_int_equal(by(0, n, infinite), VK_MISMATCH);
}

static double bound_of(const struct trial *t, unsigned contract)
{
    const struct want *w = judge_want_by(t, contract, &arena);

    return judge_value(&w->node[t->prog.out[0].node], 0).e;
}

/* What a contract allows must not cost more than it does. */
static void no_looser_than_need_be(void **state)
{
    const struct trial *cancels = trial_of("input x f32 [4]\ns = sum x axes=[0] keep=1\n"
                                           "output s\nvalues x [1.1,-1.1,1.3,-1.3]\n");
    const struct trial *norm = trial_of("input x f16 [1,3]\ninput g f16 [3]\n"
                                        "y = rmsnorm x g eps=1e-5\noutput y\n");
    const struct trial *small = trial_of("input x f16 [1]\ny = mul x 0.1\nz = mul y 0.3\n"
                                         "output z\nvalues x [0.123]\n");

    (void)state;
    assert_true(bound_of(cancels, 0) < 3 * 0x1p-24 * 2.5);
    assert_true(bound_of(norm, CONTRACT_MAY_RECIPROCAL) == bound_of(norm, 0));
    assert_true(bound_of(norm, CONTRACT_MAY_FLUSH) <= bound_of(norm, 0) * (1 + 0x1p-20));
    assert_true(bound_of(small, CONTRACT_MAY_FLUSH) == bound_of(small, 0));
}

static struct exact *exact_of(const struct trial *t)
{
    const char *why;
    struct exact *x = exact_make(t, 0, &arena, &why);

    assert_non_null(x);
    return x;
}

static void exact_data_keep_to_the_contract(void **state)
{
    const struct trial *root = trial_of("input x f32 [8]\ny = rsqrt x\noutput y\n");
    const struct trial *tiny = trial_of("input x f64 [8]\ny = exp2 x\noutput y\n");
    const struct trial *mean = trial_of("input x f32 [2,3]\nm = mean x axes=[1]\noutput m\n");
    const struct trial *norm =
        trial_of("input x f32 [2,6]\ninput g f32 [6]\ny = layernorm x g g eps=1\noutput y\n");
    const struct trial *alike =
        trial_of("input x f32 [2,1]\ninput g f32 [1]\ny = layernorm x g g eps=1\noutput y\n");
    const struct trial *half = trial_of("input x f16 [8]\ny = div x 1.5\noutput y\n");
    struct exact *x = exact_of(root);

    (void)state;
    for (int64_t k = 0; k < 8; k++) /* not even of 4: right to 2 ulps */
        assert_true(x->want->node[1].ieee[k].e > 2 * 0x1p-24 * x->want->node[1].ieee[k].v);
    x = exact_of(tiny); /* 2 to the -1024 */
    assert_true(exact_holds(x, CONTRACT_MAY_CONTRACT, &arena));
    assert_false(exact_holds(x, CONTRACT_MAY_FLUSH, &arena));
    assert_false(exact_holds(x, CONTRACT_OPEN_FUNCTIONS, &arena));
    x = exact_of(norm); /* rounded on the way if it runs along the row */
    assert_true(x->n_exact + x->n_near > 0);
    assert_false(exact_holds(x, 0, &arena));
    assert_true(exact_holds(exact_of(alike), 0, &arena));
    assert_true(exact_holds(exact_of(half), 0, &arena));
    assert_false(exact_holds(exact_of(half), CONTRACT_MAY_RECIPROCAL, &arena));
    x = exact_of(mean); /* by 3: near, and for no function's sake */
    assert_true(x->n_near > 0);
    assert_true(exact_holds(x, CONTRACT_OPEN_FUNCTIONS | CONTRACT_MAY_RECIPROCAL, &arena));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_legal_is_wrong),
        cmocka_unit_test(nothing_in_excess_is_wrong),
        cmocka_unit_test(zeros_and_their_signs),
        cmocka_unit_test(far_from_one),
        cmocka_unit_test(what_flushing_makes_large),
        cmocka_unit_test(no_looser_than_need_be),
        cmocka_unit_test(exact_data_keep_to_the_contract),
    };

    times = argc > 1 ? atoi(argv[1]) : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
