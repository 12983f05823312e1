/*
 * Exact data against kernels of its own: clean ones in any order, with and without fma,
 * online and split, must never differ; ones that drop a term or read a wrong element once
 * must be seen. An argument multiplies the numbers of runs.
 */
#include "faulty.h"

#include "judge/exact.h"
#include "judge/exact_eval.h"

static int scale = 1;

/* Do the results differ from what the set wants? */
static bool differs(const struct shape_of *s, const struct way *w, const struct exact *x)
{
    const struct want_node *want = &x->want->node[x->t->prog.out[0].node];
    const struct values *v = x->t->values;
    static double z[1 << 14];

    if (s->kernel == K_MATMUL)
        run_matmul(s, w, v[0].v, v[1].v, z);
    else if (s->kernel == K_SUM)
        run_sum(s, w, v[0].v, z);
    else if (s->kernel == K_SOFTMAX)
        run_softmax(s, w, v[0].v, z);
    else
        run_attention(s, w, v[0].v, v[1].v, v[2].v, z);
    for (int64_t e = 0; e < want->n; e++) {
        struct val y = want->ieee[e];

        if (y.e >= 0 && !(fabs(z[e] - y.v) <= y.e) && !(isnan(y.v) && isnan(z[e])))
            return true;
    }
    return false;
}

static const enum dtype dtypes[] = { DT_F32, DT_F16, DT_BF16 };

static void clean_runs_never_differ(void **state)
{
    struct arena a;
    struct rng r;
    int shapes = 500 * scale, runs = 0, missing = 0;

    (void)state;
    arena_init(&a);
    rng_init_named(&r, 1, 0, "clean");
    for (int n = 0; n < shapes; n++) {
        struct shape_of s = draw_shape(&r, (enum kernel)(n % K_COUNT), dtypes[n / 4 % 3]);
        struct trial *t;

        arena_reset(&a);
        t = make_trial(&s, (uint64_t)n, &a);
        for (int set = 0; set < EXACT_SETS; set++) {
            const char *why;
            struct exact *x = exact_make(t, set, &a, &why);

            missing += !x;
            for (int k = 0; x && k < 50; k++, runs++) {
                struct way w = draw_way(&r, &s, NONE);

                if (differs(&s, &w, x))
                    fail_msg("%s %s b=%d m=%d n=%d k=%d scale=%g causal=%d: set %d, seed %d, "
                             "block %d, fma %d, exp2 %d: a clean kernel differs",
                             kernel_name[s.kernel], dtype_info(s.dt)->name, s.b, s.m, s.n, s.k,
                             (double)s.scale, s.causal, set, n, w.block, w.fma, w.exp2);
            }
        }
    }
    print_message("%d clean runs on exact data, 0 differ; %d sets not applicable\n", runs,
                  missing);
    assert_true(missing * 20 < shapes * EXACT_SETS);
    arena_release(&a);
}

static void faults_are_seen(void **state)
{
    int total = 2000 * scale, seen_by[EXACT_SETS + 1] = { 0 }, seen = 0;
    int of[K_COUNT][3] = { { 0 } }, got[K_COUNT][3] = { { 0 } };
    struct arena a;
    struct rng r;

    (void)state;
    arena_init(&a);
    rng_init_named(&r, 2, 0, "faults");
    for (int n = 0; n < total; n++) {
        enum kernel kernel = (enum kernel)(n % K_COUNT);
        enum fault fault = n / K_COUNT % 2 ? WRONG : DROP;
        struct shape_of s = draw_shape(&r, kernel, dtypes[n / 8 % 3]);
        struct way w;
        struct trial *t;
        int set;

        arena_reset(&a);
        t = make_trial(&s, (uint64_t)n, &a);
        w = draw_way(&r, &s, fault);
        /* a sum of all terms but one read twice is what it is called: a wrong index */
        if (s.causal && fault == WRONG && w.other > w.i)
            w.other = w.at ? w.at - 1 : w.at, w.fault = w.at ? WRONG : DROP;
        for (set = 0; set < EXACT_SETS; set++) {
            const char *why;
            struct exact *x = exact_make(t, set, &a, &why);

            if (x && differs(&s, &w, x))
                break;
        }
        seen_by[set]++;
        seen += set < EXACT_SETS;
        of[kernel][fault]++;
        got[kernel][fault] += set < EXACT_SETS;
    }
    for (int k = 0; k < K_COUNT; k++)
        print_message("%-9s dropped terms seen %d of %d, wrong indices %d of %d\n",
                      kernel_name[k], got[k][DROP], of[k][DROP], got[k][WRONG], of[k][WRONG]);
    print_message("%d of %d seen; by set %d %d %d %d\n", seen, total, seen_by[0], seen_by[1],
                  seen_by[2], seen_by[3]);
    assert_true(seen * 100 >= total * 99);
    arena_release(&a);
}

/* The second opinion: what is proven exact lies within the judge's own bounds. */
static void agrees_with_the_judge(void **state)
{
    struct arena a;
    struct rng r;

    (void)state;
    arena_init(&a);
    rng_init_named(&r, 3, 0, "judge");
    for (int n = 0; n < 200 * scale; n++) {
        struct shape_of s = draw_shape(&r, n & 1 ? K_SUM : K_MATMUL, DT_F32);
        struct trial *t = make_trial(&s, (uint64_t)n, &a);
        const char *why;
        struct exact *x = exact_make(t, n % EXACT_SETS, &a, &why);
        const struct want_node *w, *j;

        assert_non_null(x);
        w = &x->want->node[t->prog.out[0].node];
        j = &judge_want(x->t, AL_IEEE, &a)->node[t->prog.out[0].node];
        for (int64_t e = 0; e < w->n; e++)
            assert_true(j->ieee[e].e < 0 || w->ieee[e].e < 0 ||
                        fabs((double)(w->ieee[e].v - j->ieee[e].v)) <=
                            (double)(w->ieee[e].e + j->ieee[e].e));
        arena_reset(&a);
    }
    arena_release(&a);
}

/* However small the first term is, a finer one behind it counts: 2^-64 + 2^-104 has 41 bits. */
static void finer_terms_are_seen(void **state)
{
    struct adder fits = { 0 }, sum = { 0 }, dot = { 0 };
    const struct xval one = { 1, 0 }, big = { 0x1p-64, 0 }, small = { 0x1p-104, 0 };

    (void)state;
    adder_put(&fits, big);
    adder_put(&fits, (struct xval){ 0x1p-84, 0 });
    assert_true(adder_fits(&fits, DT_F32));
    adder_put(&sum, big);
    adder_put(&sum, small);
    assert_false(adder_fits(&sum, DT_F32));
    assert_true(adder_fits(&sum, DT_F64));
    adder_put_product(&dot, big, one);
    adder_put_product(&dot, small, one);
    assert_false(adder_fits(&dot, DT_F32));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_runs_never_differ),
        cmocka_unit_test(faults_are_seen),
        cmocka_unit_test(agrees_with_the_judge),
        cmocka_unit_test(finer_terms_are_seen),
    };

    if (argc > 1)
        scale = atoi(argv[1]) > 0 ? atoi(argv[1]) : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
